//! What is wrong with the columns of a table.

use super::rows::Table;
use crate::InstanceError;

/// The error of a table whose column `column` is missing, there twice, or not to be there.
pub fn bad_header(table: &Table, column: &str, problem: &str) -> InstanceError {
    let (file, place) = (table.file.clone(), format!("{}, column {column}", table.header_place));
    let separator = match table.header.as_slice() {
        [only] if only.contains(';') => "semicolons",
        [only] if only.contains('\t') => "tabs",
        names
            if column.trim() != column
                || names.iter().any(|name| name != column && name.trim() == column) =>
        {
            let problem = format!("{problem}; there are spaces around it: write the commas without any");
            return InstanceError::Malformed { file, place, problem };
        }
        names if names.iter().any(|name| name != column && name.eq_ignore_ascii_case(column)) => {
            let problem = format!("{problem}; columns are named in small letters");
            return InstanceError::Malformed { file, place, problem };
        }
        _ => return InstanceError::Malformed { file, place, problem: problem.to_owned() },
    };
    let problem = format!("{problem}; the columns are separated by {separator}: write commas");
    InstanceError::Malformed { file, place, problem }
}
