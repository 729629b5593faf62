//! Ctrl-C and termination: the unfinished output file goes, then the process ends as if it had not looked. A command that
//! can end early with what it has is asked first to do so; who insists is not kept waiting.

use fairplan::report::output::remove_unfinished;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use signal_hook::low_level::emulate_default_handler;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, LazyLock};

/// Whether the command listens, and whether it has been asked to end.
static LISTENS: AtomicBool = AtomicBool::new(false);
static ASKED: LazyLock<Arc<AtomicBool>> = LazyLock::new(Arc::default);

/// Starts to listen. Without it a stopped process would leave its temporary file behind, nothing worse.
pub fn watch() {
    if let Ok(mut signals) = Signals::new([SIGHUP, SIGINT, SIGTERM]) {
        std::thread::spawn(move || {
            for signal in signals.forever() {
                if LISTENS.load(Ordering::Relaxed) && !ASKED.swap(true, Ordering::Relaxed) {
                    continue;
                }
                remove_unfinished();
                let _ = emulate_default_handler(signal);
            }
        });
    }
}

/// From now on the first signal only makes what is returned true.
pub fn ask() -> Arc<AtomicBool> {
    LISTENS.store(true, Ordering::Relaxed);
    ASKED.clone()
}
