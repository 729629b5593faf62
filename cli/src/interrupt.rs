//! Ctrl-C and termination: the unfinished output file goes, then the process ends as if it had not looked.

use fairplan_report::output::remove_unfinished;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use signal_hook::low_level::emulate_default_handler;

/// Starts to listen. Without it a stopped process would leave its temporary file behind, nothing worse.
pub fn watch() {
    if let Ok(mut signals) = Signals::new([SIGHUP, SIGINT, SIGTERM]) {
        std::thread::spawn(move || {
            for signal in signals.forever() {
                remove_unfinished();
                let _ = emulate_default_handler(signal);
            }
        });
    }
}
