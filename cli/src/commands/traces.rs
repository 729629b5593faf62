//! What commands that make traces have in common.

use super::{prepare_refusing, tell};
use crate::arguments::CommonOptions;
use crate::failure::Answer;
use fairplan::Error;
use fairplan::instances::files;
use fairplan::instances::trace::{EventSource, Tallied};
use fairplan::report::output::{Destination, commit};
use fairplan::report::summary;

/// Writes a trace in the format that the destination's name asks for and says what it is.
pub fn write(
    source: &mut dyn EventSource,
    destination: &Destination,
    common: CommonOptions,
) -> Result<Answer, Error> {
    let mut passed = Tallied::new(source);
    let path = destination.name();
    let prepared = prepare_refusing(destination, |out| files::write_trace(&mut passed, &path, out))?;
    commit([prepared])?;
    tell(common, || summary::trace(passed.register(), passed.tally()));
    Ok(Answer::Yes)
}
