//! What is wrong with the columns of a table.

use super::rows::Table;
use crate::InstanceError;

/// The error of a table whose column `column` is missing, there twice, or not to be there.
pub fn bad_header(table: &Table, column: &str, problem: &str) -> InstanceError {
    let others = || table.header.iter().filter(|name| *name != column);
    let advice = match table.header.as_slice() {
        [only] if only.contains(';') => "; the columns are separated by semicolons: write commas",
        [only] if only.contains('\t') => "; the columns are separated by tabs: write commas",
        _ if column.trim() != column || others().any(|name| name.trim() == column) => {
            "; there are spaces around it: write the commas without any"
        }
        _ if others().any(|name| name.eq_ignore_ascii_case(column)) => "; columns are named in small letters",
        _ => "",
    };
    InstanceError::Malformed {
        file: table.file.clone(),
        place: format!("{}, column {column}", table.header_place),
        problem: format!("{problem}{advice}"),
    }
}
