//! A short run of the fuzzing of every reader; `make fuzz` reads many more inputs.

use crate::command_line::binary;
use fairplan_tests::fuzz::{folder_of, run, targets};
use std::time::Duration;

/// Inputs of each target.
const ROUNDS: u64 = 60;

#[test]
fn damaged_files_are_refused_in_time_by_name_or_read_as_what_they_say() {
    let folder = tempfile::tempdir().unwrap();
    let (mut inputs, mut accepted, mut failures) = (0, 0, Vec::new());
    for target in targets(binary()) {
        let counts = run(&target, 1, 0..ROUNDS, &folder_of(folder.path(), &target));
        inputs += counts.inputs;
        accepted += counts.accepted;
        failures.extend(counts.failures);
        assert!(counts.slowest < Duration::from_secs(60), "{}: {:?}", target.name, counts.slowest);
    }
    assert!(failures.is_empty(), "{failures:#?}");
    assert!(inputs >= 3000, "{inputs} inputs");
    // Neither is all damage seen, nor does it go unseen.
    assert!((inputs / 50..inputs * 3 / 4).contains(&accepted), "{accepted} of {inputs} accepted");
}
