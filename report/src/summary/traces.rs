//! The summary of a trace: what is in it, and what was counted when it was made.

use super::{number, shortened, thousands};
use fairplan_instances::trace::{MICROSECONDS, Register, Tally};
use std::fmt::Write;

/// Columns that a line has.
const WIDTH: usize = 100;

/// What is in a trace that has been read to the end.
pub fn trace(register: &Register, tally: Tally) -> String {
    let header = register.header();
    let name = if header.name.is_empty() { "Unnamed trace" } else { &header.name };
    let mut text = shortened(name, WIDTH) + "\n";
    let seconds = |microseconds: f64| number(microseconds / MICROSECONDS as f64);
    let mean = seconds(tally.work as f64 / tally.tasks.max(1) as f64);
    let _ = writeln!(
        text,
        "{} tasks in {} jobs of {} users within {} s; a task runs {mean} s on average",
        thousands(tally.tasks),
        thousands(tally.jobs),
        thousands(register.users().len() as u64),
        seconds(tally.latest as f64),
    );
    let servers = register.servers().len() as u64;
    let later = match tally.server_events - tally.servers_at_first {
        0 => String::new(),
        1 => "; once one comes, changes or goes later".into(),
        times => format!("; {} times one comes, changes or goes later", thousands(times)),
    };
    let _ =
        writeln!(text, "{} {}{later}", thousands(servers), if servers == 1 { "server" } else { "servers" });
    let counts = || header.counts.iter().map(|(what, count)| (thousands(*count), what));
    let width = counts().map(|(count, _)| count.len()).max().unwrap_or(0);
    for (count, what) in counts() {
        let _ = writeln!(text, "{count:>width$} {}", shortened(what, WIDTH - width - 1));
    }
    text
}
