//! Files by pattern: `*` is any letters of a name, `?` one letter, `**` any folders. In the order of their names.

use fairplan_instances::is_like;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// Folders below each other that `**` goes down at most, so that links in a circle end.
const DEEPEST: usize = 40;

/// The files whose paths match. A path without a pattern is itself, if it is there.
///
/// # Errors
/// What the system says of a folder that cannot be read, with that folder.
pub(crate) fn files(pattern: &str) -> Result<Vec<String>, (PathBuf, io::Error)> {
    let (mut found, parts): (_, Vec<&str>) = match pattern.strip_prefix('/') {
        Some(rest) => (vec![PathBuf::from("/")], rest.split('/').collect()),
        None => (vec![PathBuf::new()], pattern.split('/').collect()),
    };
    let parts: Vec<&str> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    for part in &parts {
        let mut next = Vec::new();
        for folder in found {
            match *part {
                "**" => descend(&folder, 0, &mut next)?,
                part if is_pattern(part) => {
                    for name in names(&folder)? {
                        // As in a shell, what is hidden must be asked for.
                        let asked = !name.starts_with('.') || part.starts_with('.');
                        if asked && is_like(&name, part) {
                            next.push(folder.join(name));
                        }
                    }
                }
                part => {
                    let path = folder.join(part);
                    if path.exists() {
                        next.push(path);
                    }
                }
            }
        }
        found = next;
    }
    let files = found.into_iter().filter(|path| path.is_file());
    let mut files: Vec<String> = files.map(|path| path.to_string_lossy().into_owned()).collect();
    files.sort();
    files.dedup();
    Ok(files)
}

fn is_pattern(part: &str) -> bool {
    part.contains(['*', '?'])
}

/// The folder and all below it.
fn descend(folder: &Path, depth: usize, into: &mut Vec<PathBuf>) -> Result<(), (PathBuf, io::Error)> {
    into.push(folder.to_owned());
    if depth == DEEPEST {
        return Ok(());
    }
    for name in names(folder)? {
        let path = folder.join(&name);
        if !name.starts_with('.') && path.is_dir() {
            descend(&path, depth + 1, into)?;
        }
    }
    Ok(())
}

/// The names in a folder; none where it is no folder. Names that are not UTF-8 cannot be said in a task.
fn names(folder: &Path) -> Result<Vec<String>, (PathBuf, io::Error)> {
    let here = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    if !here.is_dir() {
        return Ok(Vec::new());
    }
    let failed = |error| (here.to_owned(), error);
    let mut names = Vec::new();
    for entry in fs::read_dir(here).map_err(failed)? {
        if let Ok(name) = entry.map_err(failed)?.file_name().into_string() {
            names.push(name);
        }
    }
    Ok(names)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_found_in_the_order_of_their_names() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().to_str().unwrap();
        fs::create_dir_all(folder.path().join("b/deep")).unwrap();
        for name in ["z.json", "a.json", ".hidden.json", "b/c.json", "b/deep/d.json", "b/e.csv"] {
            fs::write(folder.path().join(name), "x").unwrap();
        }
        let found = |pattern: &str| -> Vec<String> {
            let all = files(&format!("{root}/{pattern}")).unwrap();
            all.iter().map(|path| path[root.len() + 1..].to_owned()).collect()
        };
        assert_eq!(found("*.json"), ["a.json", "z.json"]);
        assert_eq!(found("*/?.json"), ["b/c.json"]);
        assert_eq!(found("**/*.json"), ["a.json", "b/c.json", "b/deep/d.json", "z.json"]);
        assert_eq!(found("a.json"), ["a.json"]);
        assert_eq!(found("b"), [""; 0], "a folder is no file");
        assert_eq!(found("missing/*.json"), [""; 0]);
    }
}
