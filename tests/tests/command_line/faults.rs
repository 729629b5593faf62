//! Full disks, closed pipes and signals: the old output file or the whole new one, never half, never a panic.

use super::{Folder, one_line, text};
use fairplan_instances::generate::{Cluster, PopulationKind, PopulationOptions, population};
use std::io::Read;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// An instance whose result takes a while to find and to write.
fn long_work() -> Folder {
    let folder = Folder::new();
    let options =
        PopulationOptions { kind: PopulationKind::Spread, users: 30_000, cluster: Cluster::Google, seed: 1 };
    folder.instance("instance.json", &population(&options).unwrap());
    folder
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_one_line_and_status_2() {
    let folder = Folder::new();
    folder.write("fig1.json", folder.done(&["generate", "drfh-fig1", "--quiet"]));
    for command in ["solve", "place", "compare"] {
        let line = folder.refused(&[command, "fig1.json", "-o", "/dev/full"]);
        assert!(line.contains("/dev/full: No space left on device"), "{line}");
        let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
        let output = folder.command(&[command, "fig1.json"]).stdout(full).output().unwrap();
        let line = one_line(&output);
        assert_eq!(output.status.code(), Some(2), "{line}");
        assert!(line.contains("standard output: No space left on device"), "{line}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn help_that_a_full_disk_does_not_take_is_one_line_and_status_2() {
    let folder = Folder::new();
    for words in [&["--help"][..], &["--version"], &["solve", "-h"], &["help", "plan", "worth"]] {
        let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
        let output = folder.command(words).stdout(full).output().unwrap();
        let line = one_line(&output);
        assert_eq!(output.status.code(), Some(2), "{line}");
        assert!(line.contains("standard output: No space left on device"), "{line}");
    }
}

#[cfg(unix)]
#[test]
fn a_file_that_may_not_grow_keeps_its_old_content() {
    let folder = long_work();
    folder.write("out.json", "old");
    // Files of at most 64 blocks, and the error instead of the signal.
    let script = "trap '' XFSZ; ulimit -f 64; exec \"$0\" solve instance.json -o out.json";
    let output = Command::new("sh")
        .args(["-c", script])
        .arg(super::binary())
        .current_dir(folder.path(""))
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(2), "{}", text(&output.stderr));
    assert!(one_line(&output).contains("out.json"), "{}", text(&output.stderr));
    assert_eq!(folder.read("out.json"), "old");
    assert_eq!(folder.names(), ["instance.json", "out.json"]);
}

/// Runs `script` where it may mount file systems, with the command as `$0`; `None` where that is not allowed.
#[cfg(target_os = "linux")]
fn with_mounts(folder: &Folder, script: &str) -> Option<std::process::Output> {
    let allowed = Command::new("unshare").args(["-rm", "true"]).status().is_ok_and(|status| status.success());
    if !allowed {
        println!("skipped: this machine does not let tests mount a file system");
        return None;
    }
    let words = ["-rm", "sh", "-c", script];
    Command::new("unshare").args(words).arg(super::binary()).current_dir(folder.path("")).output().ok()
}

#[cfg(target_os = "linux")]
#[test]
fn a_file_system_of_64_kilobytes_or_a_read_only_one_keeps_the_old_content() {
    for (kind, reason) in [("rw", "No space left on device"), ("ro", "Read-only file system")] {
        let folder = long_work();
        let script = format!(
            "mkdir small && mount -t tmpfs -o size=64k tmpfs small && echo old > small/out.json \
             && mount -o remount,{kind} small && {{ \"$0\" solve instance.json -q -o small/out.json; status=$?; \
             ls -A small; cat small/out.json; exit $status; }}"
        );
        let Some(output) = with_mounts(&folder, &script) else { return };
        let told = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{told}");
        let line = one_line(&output);
        assert!(line.contains("small/out.json") && line.contains(reason), "{line}");
        assert_eq!(text(&output.stdout), "out.json\nold\n");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn whatever_the_limit_on_memory_the_old_file_stays_or_the_new_one_is_whole() {
    let folder = long_work();
    let words = "solve instance.json --quiet --no-timing --threads 1 -o out.json";
    folder.done(&words.split(' ').collect::<Vec<_>>());
    let new = folder.read("out.json");
    let mut kept = 0;
    for kilobytes in (10_000..110_000).step_by(5_000) {
        folder.write("out.json", "old");
        let script = format!("ulimit -c 0; ulimit -v {kilobytes}; exec \"$0\" {words}");
        let mut shell = Command::new("sh");
        let output =
            shell.args(["-c", &script]).arg(super::binary()).current_dir(folder.path("")).output().unwrap();
        let content = folder.read("out.json");
        if output.status.success() {
            assert_eq!(content, new, "a whole result within {kilobytes} kB");
        } else {
            assert!(content == "old", "half a file within {kilobytes} kB");
            kept += 1;
        }
    }
    assert!(kept > 0, "every limit was large enough");
}

#[test]
fn a_closed_pipe_ends_quietly() {
    let folder = long_work();
    for words in [&["solve", "instance.json"][..], &["generate", "google"], &["schema"]] {
        let mut command = folder.command(words);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut first = [0];
        let mut pipe = child.stdout.take().unwrap();
        pipe.read_exact(&mut first).unwrap();
        drop(pipe);
        let output = child.wait_with_output().unwrap();
        let told = text(&output.stderr);
        assert_eq!(output.status.code(), Some(0), "{words:?}: {told}");
        assert!(!told.contains("error") && !told.contains("panic"), "{words:?}: {told}");
    }
}

#[cfg(unix)]
#[test]
fn signals_at_any_moment_leave_the_old_file_or_the_whole_new_one() {
    let folder = long_work();
    let words = ["solve", "instance.json", "-o", "out.json", "--quiet", "--no-timing"];
    let start = Instant::now();
    folder.done(&words);
    let whole = start.elapsed();
    let new = folder.read("out.json");
    let (mut kept, mut replaced, mut hidden) = (0, 0, 0);
    for (name, moments) in [("INT", 20), ("TERM", 20), ("KILL", 20)] {
        for moment in 0..moments {
            folder.write("out.json", "old");
            let mut child = folder.command(&words).spawn().unwrap();
            // Spread over the whole run and a little beyond, denser towards the end, where the file is written.
            let part = (moment as f64 / moments as f64).sqrt() * 1.1;
            std::thread::sleep(whole.mul_f64(part).max(Duration::from_millis(1)));
            let killed = Command::new("kill").args(["-s", name, &child.id().to_string()]).status();
            assert!(killed.is_ok());
            let status = child.wait().unwrap();
            let content = folder.read("out.json");
            assert!(content == "old" || content == new, "SIG{name} at {part:.2} leaves half a file");
            assert!(!status.success() || content == new);
            if content == "old" {
                kept += 1
            } else {
                replaced += 1
            }
            if name == "KILL" {
                hidden += tidied(&folder);
            }
            assert_eq!(folder.names(), ["instance.json", "out.json"], "after SIG{name} at {part:.2}");
        }
    }
    assert!(kept > 0, "every one of {replaced} signals came too late");
    assert!(hidden <= MOST_HIDDEN, "{hidden} of 20 killed processes left a file behind");
}

/// Files that killed processes may leave behind, of all in a test: nobody can tidy up after a kill just between a name that
/// is hidden and the right one, some microseconds. Where files cannot be without a name, none can be promised.
const MOST_HIDDEN: usize = if cfg!(target_os = "linux") { 1 } else { usize::MAX };

/// Removes what killed processes left behind, which is hidden and named so that everybody knows whose it is; how many.
#[cfg(unix)]
fn tidied(folder: &Folder) -> usize {
    let left: Vec<String> = folder
        .names()
        .into_iter()
        .filter(|name| name.starts_with(".fairplan-") && name.ends_with(".tmp"))
        .collect();
    left.iter().for_each(|name| std::fs::remove_file(folder.path(name)).unwrap());
    left.len()
}

#[cfg(unix)]
#[test]
fn a_process_killed_while_it_writes_leaves_nothing_behind() {
    // Hardly any work but writing.
    let folder = Folder::new();
    let options =
        PopulationOptions { kind: PopulationKind::Spread, users: 200_000, cluster: Cluster::Google, seed: 1 };
    folder.instance("i.json", &population(&options).unwrap());
    folder.done(&["convert", "i.json", "-o", "whole.json", "--quiet"]);
    let whole = std::fs::read(folder.path("whole.json")).unwrap();
    let words = ["convert", "i.json", "-o", "out.json", "--quiet"];
    let start = Instant::now();
    folder.done(&words);
    let time = start.elapsed();
    let mut hidden = 0;
    for moment in 0..40 {
        folder.write("out.json", "old");
        let mut child = folder.command(&words).spawn().unwrap();
        std::thread::sleep(time.mul_f64(f64::from(moment) / 40.0));
        child.kill().unwrap();
        child.wait().unwrap();
        let content = std::fs::read(folder.path("out.json")).unwrap();
        assert!(content == b"old" || content == whole, "half a file after {moment} fortieths");
        hidden += tidied(&folder);
        assert_eq!(folder.names(), ["i.json", "out.json", "whole.json"]);
    }
    assert!(hidden <= MOST_HIDDEN, "{hidden} of 40 killed processes left a file behind");
}

#[cfg(target_os = "linux")]
#[test]
fn of_two_tables_on_a_full_disk_both_are_old() {
    let folder = Folder::new();
    // Servers are few and users many: the first table has room, the second has not.
    let options =
        PopulationOptions { kind: PopulationKind::Spread, users: 10_000, cluster: Cluster::Google, seed: 1 };
    folder.instance("i.json", &population(&options).unwrap());
    for (to, names) in [
        ("--to-servers small/s.csv --to-users small/u.csv", "s.csv\nu.csv\n"),
        ("--to-servers small/s.parquet --to-users small/u.csv.gz", "s.parquet\nu.csv.gz\n"),
    ] {
        let [first, second] = [names.lines().next().unwrap(), names.lines().nth(1).unwrap()];
        let script = format!(
            "mkdir -p small && mount -t tmpfs -o size=64k tmpfs small && echo old > small/{first} && \
             echo old > small/{second} && {{ \"$0\" convert i.json {to}; status=$?; ls -A small; cat small/*; exit $status; }}"
        );
        let Some(output) = with_mounts(&folder, &script) else { return };
        let line = one_line(&output);
        assert_eq!(output.status.code(), Some(2), "{line}");
        assert!(line.contains("No space left on device"), "{line}");
        assert_eq!(text(&output.stdout), format!("{names}old\nold\n"));
    }
}

#[cfg(target_os = "linux")]
#[test]
fn where_files_must_have_names_they_are_hidden_and_short() {
    // Without /proc no file without a name could ever get one.
    let folder = Folder::new();
    folder.done(&["generate", "drfh-fig1", "-o", "i.json", "--quiet"]);
    let name = "x".repeat(250) + ".json";
    let script = format!("mount -t tmpfs tmpfs /proc && \"$0\" solve i.json -q -o {name} && ls -A");
    let Some(output) = with_mounts(&folder, &script) else { return };
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    assert_eq!(text(&output.stdout), format!("i.json\n{name}\n"));
}

#[cfg(unix)]
#[test]
fn a_link_to_nothing_yet_stays_a_link_and_a_folder_that_may_not_be_written_is_told() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let folder = Folder::new();
    folder.done(&["generate", "drfh-fig1", "-o", "i.json", "--quiet"]);
    std::fs::create_dir(folder.path("there")).unwrap();
    symlink("there/real.json", folder.path("link.json")).unwrap();
    folder.done(&["solve", "i.json", "-o", "link.json", "--quiet"]);
    assert!(std::fs::symlink_metadata(folder.path("link.json")).unwrap().is_symlink());
    assert!(folder.read("there/real.json").starts_with('{'));
    symlink("missing/real.json", folder.path("nowhere.json")).unwrap();
    let line = folder.refused(&["solve", "i.json", "-o", "nowhere.json"]);
    assert!(line.contains("nowhere.json: No such file or directory"), "{line}");
    std::fs::set_permissions(folder.path("there"), std::fs::Permissions::from_mode(0o555)).unwrap();
    let probe = std::fs::write(folder.path("there/probe"), "");
    if probe.is_err() {
        // Not for the superuser, who may write everywhere.
        let line = folder.refused(&["solve", "i.json", "-o", "there/new.json"]);
        assert!(line.contains("there/new.json: Permission denied"), "{line}");
    }
    std::fs::set_permissions(folder.path("there"), std::fs::Permissions::from_mode(0o755)).unwrap();
}

#[test]
fn more_threads_than_any_machine_has_are_bad_usage() {
    let folder = Folder::new();
    for threads in ["0", "1025", "1000000", "99999999999999999999"] {
        let line = folder.refused(&["generate", "drfh-fig1", "--threads", threads]);
        assert!(line.contains("--threads"), "{line}");
    }
    folder.done(&["generate", "drfh-fig1", "--threads", "64", "--quiet"]);
}
