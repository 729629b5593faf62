//! A sign of life for long work: on a terminal only, and only when it takes longer than a moment.

use indicatif::{ProgressBar, ProgressStyle};
use std::time::Duration;

/// Runs `work` under a spinner with `message` and the elapsed time; silent in a pipe or with `quiet`.
pub fn during<T>(quiet: bool, message: &'static str, work: impl FnOnce() -> T) -> T {
    telling(quiet, message, |_| work())
}

/// The same with work that tells how far it is.
pub fn telling<T>(quiet: bool, message: &'static str, work: impl FnOnce(&(dyn Fn(String) + Sync)) -> T) -> T {
    if quiet {
        return work(&|_| {});
    }
    let spinner = ProgressBar::new_spinner();
    if let Ok(style) = ProgressStyle::with_template("{spinner} {msg} {elapsed}") {
        spinner.set_style(style);
    }
    spinner.set_message(message);
    spinner.enable_steady_tick(Duration::from_millis(300));
    let outcome = work(&|told| spinner.set_message(told));
    spinner.finish_and_clear();
    outcome
}
