//! What is read: a target has a name, valid files and a reader of their paths.

use std::path::{Path, PathBuf};

/// A reader with a valid input.
pub struct Target {
    /// What is read.
    pub name: String,
    /// The files of the valid input.
    pub files: Vec<File>,
    /// Reads the files at these paths, in the order of `files`, and uses what they hold.
    pub read: Reader,
}

type Reader = Box<dyn Fn(&[String]) -> Result<(), String> + Send + Sync>;

/// A file of an input.
pub struct File {
    /// Its name, of which the ending may matter.
    pub name: String,
    /// What is in it.
    pub content: Vec<u8>,
    /// Whether it is one of those that are damaged.
    pub damaged: bool,
}

impl Target {
    /// A target whose files are all damaged in turn.
    pub fn new(
        name: &str,
        files: impl IntoIterator<Item = (&'static str, Vec<u8>)>,
        read: impl Fn(&[String]) -> Result<(), String> + Send + Sync + 'static,
    ) -> Self {
        let file = |(name, content): (&str, Vec<u8>)| File { name: name.into(), content, damaged: true };
        Self { name: name.into(), files: files.into_iter().map(file).collect(), read: Box::new(read) }
    }

    /// The same, with another file at the end that stays as it is.
    pub fn beside(mut self, name: &str, content: Vec<u8>) -> Self {
        self.files.push(File { name: name.into(), content, damaged: false });
        self
    }

    /// What the files hold.
    pub(super) fn contents(&self) -> Vec<Vec<u8>> {
        self.files.iter().map(|file| file.content.clone()).collect()
    }
}

/// Where the files of an input are.
pub(super) struct Paths {
    pub(super) names: Vec<String>,
}

impl Paths {
    /// Files in this folder, which is made.
    pub(super) fn new(target: &Target, folder: &Path) -> Self {
        std::fs::create_dir_all(folder).expect("a folder for inputs");
        let path = |file: &super::File| -> PathBuf { folder.join(&file.name) };
        Self { names: target.files.iter().map(|file| path(file).to_string_lossy().into_owned()).collect() }
    }

    pub(super) fn write(&self, contents: &[Vec<u8>]) {
        for (name, content) in self.names.iter().zip(contents) {
            std::fs::write(name, content).expect("an input is written");
        }
    }
}
