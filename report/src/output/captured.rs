//! Standard output, or memory while somebody wants to have what would go there.

use super::visible::Visible;
use std::cell::RefCell;
use std::io::{self, IsTerminal, Write};

thread_local! {
    static CAPTURED: RefCell<Option<Vec<u8>>> = const { RefCell::new(None) };
}

/// Does `work`, and keeps what it writes to standard output on this thread instead of writing it there.
pub fn captured<T>(work: impl FnOnce() -> T) -> (T, Vec<u8>) {
    /// Puts back what was there, however the work ends.
    struct Restored(Option<Vec<u8>>);
    impl Drop for Restored {
        fn drop(&mut self) {
            CAPTURED.set(self.0.take());
        }
    }
    let before = Restored(CAPTURED.replace(Some(Vec::new())));
    let done = work();
    let bytes = CAPTURED.take().unwrap_or_default();
    drop(before);
    (done, bytes)
}

/// Where bytes for standard output go.
pub(super) fn standard_output() -> Box<dyn Write + Send> {
    match CAPTURED.with_borrow(Option::is_some) {
        true => Box::new(Memory),
        false if io::stdout().is_terminal() => Box::new(Visible::new(io::stdout())),
        false => Box::new(io::stdout()),
    }
}

/// What is written to it is kept for whoever captures on this thread.
struct Memory;

impl Write for Memory {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        CAPTURED.with_borrow_mut(|captured| match captured {
            Some(captured) => {
                captured.extend_from_slice(bytes);
                Ok(bytes.len())
            }
            None => Err(io::Error::other("written on another thread than it is captured on")),
        })
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::Destination;

    #[test]
    fn what_would_go_to_standard_output_is_kept_by_the_innermost_who_asks() {
        let write =
            |text: &'static str| Destination::StandardOutput.write(move |out| out.write_all(text.as_bytes()));
        let (inner, outer) = captured(|| {
            write("a").unwrap();
            let ((), inner) = captured(|| write("b").unwrap());
            write("c").unwrap();
            inner
        });
        assert_eq!((&*inner, &*outer), (&b"b"[..], &b"ac"[..]));
        assert!(std::panic::catch_unwind(|| captured(|| panic!("broke"))).is_err());
        assert!(CAPTURED.with_borrow(Option::is_none), "a panic does not leave standard output captured");
    }
}
