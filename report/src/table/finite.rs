//! Numbers that files can hold.

use std::io;

/// The number, unless it is none.
pub(super) fn finite(number: f64) -> io::Result<f64> {
    if number.is_finite() {
        Ok(number)
    } else {
        Err(io::Error::new(io::ErrorKind::InvalidData, "a number of the result is not finite"))
    }
}
