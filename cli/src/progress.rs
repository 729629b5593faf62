//! What people are told on standard error: how far long work is, on a terminal only and only when it takes longer than a
//! moment, and summaries.

use crate::arguments::CommonOptions;
use fairplan::instances::wording::printable_lines;
use fairplan::instances::{Instance, lint, lint_of_whole_tasks};
use fairplan::report::summary;
use fairplan::{Control, Deadline, Progress};
use indicatif::{ProgressBar, ProgressStyle};
use std::io::Write;
use std::time::Duration;

/// Calls a function of the library under a spinner with what it says it is doing and the elapsed time, and tells what it
/// notes; silent in a pipe, or if it shall be quiet.
pub fn under<T>(common: CommonOptions, deadline: Deadline, call: impl FnOnce(&Control<'_>) -> T) -> T {
    let spinner = if common.quiet { ProgressBar::hidden() } else { ProgressBar::new_spinner() };
    if let Ok(style) = ProgressStyle::with_template("{spinner} {msg} {elapsed}") {
        spinner.set_style(style);
    }
    if !common.quiet {
        spinner.enable_steady_tick(Duration::from_millis(300));
    }
    let progress = |progress: Progress<'_>| match progress {
        Progress::Stage(stage) => {
            spinner.reset_elapsed();
            spinner.set_message(stage.to_owned());
        }
        Progress::Step(step) => spinner.set_message(step.to_owned()),
        Progress::Note(note) => spinner.suspend(|| tell(common, || format!("{note}\n"))),
    };
    let outcome = call(&Control { deadline, progress: &progress });
    spinner.finish_and_clear();
    outcome
}

/// Reads under a spinner with `message`.
pub fn during<T>(common: CommonOptions, message: &'static str, work: impl FnOnce() -> T) -> T {
    under(common, Deadline::never(), |control| {
        (control.progress)(Progress::Stage(message));
        work()
    })
}

/// Shows what the author of an instance may want to look at, unless it shall be quiet.
pub fn warn(common: CommonOptions, instance: &Instance) {
    tell(common, || summary::warnings(&lint(instance)));
}

/// The same of an answer in whole tasks alone, which leaves out no rules.
pub fn warn_of_whole_tasks(common: CommonOptions, instance: &Instance) {
    tell(common, || summary::warnings(&lint_of_whole_tasks(instance)));
}

/// Shows a summary, unless it shall be quiet. Every summary goes this way, so that nothing in it that comes from a file reaches
/// a terminal as a command.
pub fn tell(common: CommonOptions, summary: impl FnOnce() -> String) {
    if !common.quiet {
        // Nobody may be listening, and that is no reason to fail.
        let _ = std::io::stderr().write_all(printable_lines(&summary()).as_bytes());
    }
}
