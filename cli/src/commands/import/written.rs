//! What was read is told, with what was left out, and written.

use crate::arguments::{CommonOptions, OutputArguments};
use crate::commands::generate::write_instance;
use crate::failure::Answer;
use crate::output::document;
use crate::progress::{self, tell};
use fairplan::imports::{ImportFailure, PresentCluster};
use fairplan::instances::Instance;
use fairplan::instances::wording::counted;
use fairplan::report::output::commit;
use fairplan::report::{summary, write_json};
use fairplan::{Error, Placed, files};
use std::fmt::Display;
use std::path::Path;

/// Says what was read and what was left out, also where that makes no instance, and writes the instance.
pub(super) fn write_import<R: Display>(
    import: impl FnOnce() -> Result<(Instance, R), ImportFailure<R>>,
    output: &OutputArguments,
    common: CommonOptions,
) -> Result<Answer, Error> {
    let destination = output.destination()?;
    let imported = progress::during(common, "reading the files", import);
    let (instance, report) = imported.inspect_err(|failure| tell(common, || failure.report.to_string()))?;
    tell(common, || report.to_string());
    write_instance(&instance, &destination, common)
}

/// The same with where tasks run now, in a file of its own; both are written, or neither.
pub(super) fn write_present<R: Display>(
    import: impl FnOnce() -> Result<(PresentCluster, R), ImportFailure<R>>,
    system: &str,
    placement_out: &Path,
    output: &OutputArguments,
    common: CommonOptions,
) -> Result<Answer, Error> {
    let destinations = (output.destination()?, document(placement_out)?);
    let imported = progress::during(common, "reading the files", import);
    let (cluster, report) = imported.inspect_err(|failure| tell(common, || failure.report.to_string()))?;
    tell(common, || report.to_string());
    let PresentCluster { instance, placement } = cluster;
    let present = Placed::present(&instance, placement, system);
    commit([
        destinations.0.prepare(|out| files::write_json(&instance, out))?,
        destinations.1.prepare(|out| write_json(out, &present.document(&instance, true)))?,
    ])?;
    tell(common, || summary::heading(&instance));
    let waiting = counted(present.figures.unplaced, "waits", "wait");
    tell(common, || format!("{}, {waiting}\n", counted(present.figures.tasks, "task runs", "tasks run")));
    Ok(Answer::Yes)
}
