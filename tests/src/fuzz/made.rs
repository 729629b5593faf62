//! Valid files that the `fairplan` command makes.

use std::path::{Path, PathBuf};
use std::process::Command;

/// A folder in which the command works.
pub(super) struct Made {
    folder: tempfile::TempDir,
    binary: PathBuf,
}

impl Made {
    pub(super) fn new(binary: &Path) -> Self {
        Self { folder: tempfile::tempdir().expect("a folder"), binary: binary.to_owned() }
    }

    /// A file of our own.
    pub(super) fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        std::fs::write(self.folder.path().join(name), content).expect("a file is written");
    }

    /// Runs the command with these words; its answer may be no.
    pub(super) fn run(&self, words: &str) {
        let mut command = Command::new(&self.binary);
        let output = command.args(words.split(' ')).arg("--quiet").current_dir(self.folder.path()).output();
        let output = output.expect("the fairplan command runs");
        let told = String::from_utf8_lossy(&output.stderr);
        assert!(matches!(output.status.code(), Some(0 | 1)), "fairplan {words}: {told}");
    }

    /// What is in a file now.
    pub(super) fn read(&self, name: &str) -> Vec<u8> {
        std::fs::read(self.folder.path().join(name)).expect("the command has written it")
    }
}
