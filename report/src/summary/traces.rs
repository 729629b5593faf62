//! The summary of a trace: what is in it, and what was counted when it was made.

use super::grid;
use crate::names::beginning;
use crate::units::{counted, duration, thousands};
use fairplan_instances::trace::{MICROSECONDS, Register, Tally};
use fairplan_instances::wording::agreeing;
use std::fmt::Write;

/// What is in a trace that has been read to the end.
pub fn trace(register: &Register, tally: Tally) -> String {
    let header = register.header();
    let name = if header.name.is_empty() { "Unnamed trace" } else { &header.name };
    let width = grid::width();
    let mut text = beginning(name, width) + "\n";
    let span = |microseconds: f64| duration(microseconds / MICROSECONDS as f64);
    let mean = span(tally.work as f64 / tally.tasks.max(1) as f64);
    let _ = writeln!(
        text,
        "{} in {} of {} within {} from time 0; a task runs {mean} on average",
        counted(tally.tasks, "task", "tasks"),
        counted(tally.jobs, "job", "jobs"),
        counted(register.users().len() as u64, "user", "users"),
        span(tally.latest as f64),
    );
    let servers = counted(register.servers().len() as u64, "server", "servers");
    let later = match tally.server_events - tally.servers_at_first {
        0 => String::new(),
        1 => "; once one comes, changes or goes later".into(),
        times => format!("; {} times one comes, changes or goes later", thousands(times)),
    };
    let _ = writeln!(text, "{servers}{later}");
    let counts = || header.counts.iter().map(|(what, count)| (thousands(*count), what, *count));
    let digits = counts().map(|(count, ..)| count.len()).max().unwrap_or(0);
    for (count, what, one) in counts() {
        let _ = writeln!(
            text,
            "{count:>digits$} {}",
            beginning(&agreeing(one, what), width.saturating_sub(digits + 1))
        );
    }
    text
}
