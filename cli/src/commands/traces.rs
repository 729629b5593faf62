//! What commands that make traces have in common.

use crate::arguments::CommonOptions;
use crate::failure::Answer;
use crate::progress::tell;
use fairplan::instances::trace::{EventSource, Tallied};
use fairplan::report::output::Destination;
use fairplan::report::summary;
use fairplan::{Error, write as written};

/// Writes a trace in the format that the destination's name asks for and says what it is.
pub fn write(
    source: &mut dyn EventSource,
    destination: &Destination,
    common: CommonOptions,
) -> Result<Answer, Error> {
    let mut passed = Tallied::new(source);
    written::trace(&mut passed, destination)?;
    tell(common, || summary::trace(passed.register(), passed.tally()));
    Ok(Answer::Yes)
}
