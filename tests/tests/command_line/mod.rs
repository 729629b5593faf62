//! The real binary: what is typed, what comes out, how it ends.

mod bad_input;
mod changes;
mod deadlines;
mod devices;
mod dynamic;
mod elsewhere;
mod endings;
mod exports;
mod faults;
mod flows;
mod groups;
mod imports;
mod kept;
mod kinds;
mod kinds_under_quotas;
mod outputs;
mod outside;
mod over_instance;
mod pages;
mod pictures;
mod planning;
mod python_checker;
mod quotas;
mod renderings;
mod simulation;
mod sweeps;
mod terminal;
mod traces;
mod whole_purchases;
mod whole_tasks;

use fairplan_instances::files::write_json;
use fairplan_instances::{Instance, generate};
use fairplan_tests::random_draft;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;

/// The binary, built once from the sources at hand.
pub(crate) fn binary() -> &'static Path {
    static BINARY: OnceLock<PathBuf> = OnceLock::new();
    BINARY.get_or_init(|| {
        let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        // This test is target/PROFILE/deps/fairplan-….
        let test = std::env::current_exe().unwrap();
        let folder = test.ancestors().nth(2).unwrap();
        let profile = folder.file_name().unwrap().to_str().unwrap();
        let profile = if profile == "debug" { "dev" } else { profile };
        let build = Command::new(cargo)
            .args(["build", "--locked", "--profile", profile])
            .current_dir(root())
            .status();
        assert!(build.unwrap().success(), "the fairplan command does not build");
        folder.join("fairplan")
    })
}

/// The workspace's root.
pub(crate) fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap()
}

/// A folder of its own for one test.
struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn write(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        std::fs::write(self.path(name), content).unwrap();
        self.path(name)
    }

    fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).unwrap()
    }

    fn instance(&self, name: &str, instance: &Instance) -> PathBuf {
        let mut json = Vec::new();
        write_json(instance, &mut json).unwrap();
        self.write(name, json)
    }

    fn names(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.0.path()).unwrap();
        let mut names: Vec<_> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    /// The command with these words, run here.
    fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(binary());
        command.args(words).current_dir(self.0.path());
        command
    }

    fn run(&self, words: &[&str]) -> Output {
        self.command(words).output().unwrap()
    }

    /// Runs what must succeed; returns standard output.
    fn done(&self, words: &[&str]) -> String {
        let output = self.run(words);
        assert_eq!(output.status.code(), Some(0), "{words:?}: {}", text(&output.stderr));
        text(&output.stdout)
    }

    /// Runs what must be refused with status 2 and one line, leaving no output; returns the line.
    fn refused(&self, words: &[&str]) -> String {
        let before = self.names();
        let output = self.run(words);
        let line = one_line(&output);
        assert_eq!(output.status.code(), Some(2), "{words:?}: {line}");
        assert!(output.stdout.is_empty(), "{words:?} writes {}", text(&output.stdout));
        assert_eq!(self.names(), before, "{words:?} leaves files behind");
        line
    }
}

/// The error message, which must be a single line.
fn one_line(output: &Output) -> String {
    let line = text(&output.stderr);
    assert!(line.starts_with("error: ") && line.lines().count() == 1, "not one line of error: {line:?}");
    line.trim_end().to_owned()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Twenty instances of every kind, small enough to be quick.
fn fixtures() -> Vec<Instance> {
    let google = |options| generate::google(&options).unwrap();
    let mut fixtures = vec![
        generate::drfh_fig1().unwrap(),
        generate::drfh_fig4(&[1, 2, 3]).unwrap(),
        google(generate::GoogleOptions { servers: Some(100), users: Some(30), ..Default::default() }),
        google(generate::GoogleOptions { users: Some(20), finite: true, ..Default::default() }),
    ];
    for kind in [generate::PopulationKind::Weighted, generate::PopulationKind::Zeros] {
        let cluster = generate::Cluster::Distinct { servers: 12 };
        let options = generate::PopulationOptions { kind, users: 40, cluster, seed: 5 };
        fixtures.push(generate::population(&options).unwrap());
    }
    fixtures.extend((0..14).map(|seed| random_draft(1_200_000 + seed).build().unwrap()));
    fixtures
}
