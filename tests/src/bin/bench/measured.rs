//! What a process cost that was run to its end.

use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// What a run cost.
pub struct Cost {
    /// By the clock.
    pub seconds: f64,
    /// Of all its threads.
    pub processor: f64,
    /// The most memory it had at a time, in MiB; zero where the system does not tell.
    pub peak: f64,
}

/// Runs a command that has to succeed.
pub fn measured(command: &mut Command) -> Result<Cost, Box<dyn std::error::Error>> {
    let before = of_children();
    let start = Instant::now();
    let mut child = command.stdout(Stdio::null()).spawn()?;
    let mut peak = 0.0;
    let status = loop {
        peak = f64::max(peak, high_water(&child));
        if let Some(status) = child.try_wait()? {
            break status;
        }
        std::thread::sleep(Duration::from_millis(2));
    };
    let seconds = start.elapsed().as_secs_f64();
    if !status.success() {
        return Err(format!("{command:?}: {status}").into());
    }
    Ok(Cost { seconds, processor: of_children() - before, peak })
}

/// The most memory that a process has had, in MiB.
fn high_water(child: &Child) -> f64 {
    let status = std::fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("VmHWM")).unwrap_or_default();
    line.split_whitespace().nth(1).and_then(|number| number.parse::<f64>().ok()).unwrap_or(0.0) / 1024.0
}

/// Processor seconds of all processes that this one has waited for.
fn of_children() -> f64 {
    /// Ticks of Linux in a second.
    const TICKS: f64 = 100.0;
    let told = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    // The name in brackets may have blanks; behind it, user and system time of children are the 14th and 15th.
    let fields = told.rsplit(')').next().unwrap_or_default().split_whitespace();
    fields.skip(13).take(2).filter_map(|number| number.parse::<f64>().ok()).sum::<f64>() / TICKS
}
