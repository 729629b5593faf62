//! Files by pattern: `*` is any letters of a name, `?` one letter, `**` any folders. In the order of their names.

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
                        if asked && matches(part.as_bytes(), name.as_bytes()) {
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

/// Whether a name matches, by going back to the last `*` whenever a letter does not.
fn matches(pattern: &[u8], name: &[u8]) -> bool {
    let (mut at, mut letter, mut star) = (0, 0, None);
    while letter < name.len() {
        match pattern.get(at) {
            Some(b'*') => {
                star = Some((at, letter));
                at += 1;
            }
            Some(wanted) if *wanted == b'?' || *wanted == name[letter] => {
                at += 1;
                letter += 1;
            }
            _ => match star {
                None => return false,
                Some((last, taken)) => {
                    star = Some((last, taken + 1));
                    at = last + 1;
                    letter = taken + 1;
                }
            },
        }
    }
    pattern[at..].iter().all(|rest| *rest == b'*')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_match_as_in_a_shell() {
        for (pattern, name, is_match) in [
            ("*.json", "a.json", true),
            ("*.json", "a.json.gz", false),
            ("a*b*c", "aXbYbZc", true),
            ("a*b*c", "aXbYbZ", false),
            ("?.csv", "a.csv", true),
            ("?.csv", "ab.csv", false),
            ("*", "", true),
        ] {
            assert_eq!(matches(pattern.as_bytes(), name.as_bytes()), is_match, "{pattern} {name}");
        }
    }

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
