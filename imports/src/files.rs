//! What every importer says of the files that it reads.

use fairplan_instances::{InstanceError, Violation};

/// Refuses files in which there is none of what they are read for: the check of every importer.
pub(super) fn some(files: &str, what: &str, count: usize) -> Result<(), InstanceError> {
    if count > 0 {
        return Ok(());
    }
    let violation = Violation::new("", "", format!("there are no {what}"));
    Err(InstanceError::Invalid { file: files.to_owned(), violation })
}

/// Several files in a message about what they say together.
pub(super) fn together<'a>(files: impl IntoIterator<Item = &'a String>) -> String {
    files.into_iter().map(String::as_str).collect::<Vec<_>>().join(", ")
}
