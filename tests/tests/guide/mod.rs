//! The guide: every example gives what it shows, everything has its page, every link leads somewhere.
//!
//! `FAIRPLAN_UPDATE_GUIDE=1` writes what examples give now into the pages.

mod contents;
mod examples;
mod page;
mod prose;
mod python;

use crate::command_line::root;
use page::Page;
use std::path::{Path, PathBuf};

/// The folder of the guide's pages.
fn source() -> PathBuf {
    root().join("guide/src")
}

/// All pages, in the order of their paths.
fn pages() -> Vec<Page> {
    fn collect(folder: &Path, paths: &mut Vec<PathBuf>) {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                collect(&path, paths);
            } else if path.extension().is_some_and(|ending| ending == "md") {
                paths.push(path);
            }
        }
    }
    let mut paths = Vec::new();
    collect(&source(), &mut paths);
    paths.sort();
    paths.into_iter().map(Page::read).collect()
}
