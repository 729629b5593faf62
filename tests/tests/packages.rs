//! The packages: each is installed into an empty folder and run there in an empty environment.
//!
//! `make packages` makes them and says where they are; without that these tests have nothing to try.

use std::path::{Path, PathBuf};
use std::process::Command;

/// The one package of this kind, or nothing where none were made.
fn package(ending: &str) -> Option<PathBuf> {
    let Some(folder) = std::env::var_os("FAIRPLAN_PACKAGES") else {
        eprintln!("skipped: make packages");
        return None;
    };
    let folder = crate::command_line::root().join(folder);
    let files = std::fs::read_dir(&folder).unwrap().map(|file| file.unwrap().path());
    let mut packages: Vec<PathBuf> = files.filter(|file| file.to_string_lossy().ends_with(ending)).collect();
    assert_eq!(packages.len(), 1, "{}: {packages:?} end in {ending}", folder.display());
    packages.pop()
}

/// What people are willing to wait for.
const MOST_BYTES_OF_A_WHEEL: u64 = 25_000_000;

/// Runs a command that must succeed; returns standard output.
fn done(command: &mut Command) -> String {
    let output = command.output().unwrap();
    assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// Runs the command that lies in `bin` of this folder, with nothing in its environment: it knows its version, solves, and has
/// HiGHS.
fn answers(prefix: &Path) {
    let fairplan = |words: &[&str]| {
        done(Command::new(prefix.join("bin/fairplan")).args(words).current_dir(prefix).env_clear())
    };
    let version = fairplan(&["--version"]);
    let expected = format!("fairplan {} (with HiGHS ", env!("CARGO_PKG_VERSION"));
    assert!(version.starts_with(&expected), "{version}");
    fairplan(&["-q", "generate", "drfh-fig1", "-o", "i.json"]);
    for backend in ["auto", "highs"] {
        fairplan(&["-q", "solve", "i.json", "--backend", backend, "-o", "s.json"]);
        fairplan(&["-q", "verify", "i.json", "s.json"]);
    }
}

/// Files that every package has, under its prefix.
fn has_manual_and_completions(prefix: &Path) {
    for file in ["share/man/man1/fairplan-solve.1", "share/bash-completion/completions/fairplan"] {
        let there = [file.to_owned(), format!("{file}.gz")];
        assert!(there.iter().any(|file| prefix.join(file).is_file()), "{file} is missing");
    }
}

/// All that a registry asks for is there; whether each crate builds from its package alone, `cargo package` says.
#[test]
fn every_crate_can_be_packaged_for_a_registry() {
    let folder = tempfile::tempdir().unwrap();
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let words = "package --workspace --exclude fairplan-tests --exclude fairplan-python --no-verify --allow-dirty --locked --offline --target-dir";
    done(
        Command::new(cargo)
            .args(words.split(' '))
            .arg(folder.path())
            .current_dir(crate::command_line::root()),
    );
    let packages = std::fs::read_dir(folder.path().join("package")).unwrap();
    let names = packages.map(|file| file.unwrap().file_name().into_string().unwrap());
    assert_eq!(names.filter(|name| name.ends_with(".crate")).count(), 14);
}

#[test]
fn the_tarball_runs_where_it_is_unpacked() {
    let Some(tarball) = package(".tar.gz") else { return };
    let folder = tempfile::tempdir().unwrap();
    done(Command::new("tar").arg("-xzf").arg(tarball).arg("-C").arg(folder.path()));
    let prefix = folder.path().join(format!("fairplan-{}", env!("CARGO_PKG_VERSION")));
    has_manual_and_completions(&prefix);
    answers(&prefix);
}

#[test]
fn the_debian_package_installs_a_command_that_runs() {
    let Some(package) = package(".deb") else { return };
    let folder = tempfile::tempdir().unwrap();
    done(Command::new("dpkg-deb").arg("-x").arg(&package).arg(folder.path()));
    has_manual_and_completions(&folder.path().join("usr"));
    answers(&folder.path().join("usr"));
    let needs = done(Command::new("dpkg-deb").arg("-f").arg(&package).arg("Depends"));
    assert!(needs.contains("libc6") && needs.contains("libstdc++6"), "{needs}");
}

#[test]
fn the_wheel_installs_command_and_package_into_an_empty_environment_of_python() {
    let Some(wheel) = package(".whl") else { return };
    assert!(std::fs::metadata(&wheel).unwrap().len() <= MOST_BYTES_OF_A_WHEEL);
    let folder = tempfile::tempdir().unwrap();
    let prefix = folder.path().join("environment");
    done(Command::new("python3").args(["-m", "venv"]).arg(&prefix));
    let mut pip = Command::new(prefix.join("bin/python"));
    done(pip.args(["-m", "pip", "install", "--quiet", "--no-index", "--no-deps"]).arg(wheel));
    assert!(prefix.join("share/man/man1/fairplan.1").is_file());
    answers(&prefix);
    let solved = "import fairplan as fp; print(fp.solve(fp.generate.drfh_fig1(), backend='highs'))";
    let told = done(Command::new(prefix.join("bin/python")).args(["-c", solved]).env_clear());
    assert_eq!(told, "<fairplan.Solution: drfh 0.714286, optimal>\n");
}
