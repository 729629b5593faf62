//! Cells of columns in memory as the text that CSV would have.

use arrow_array::cast::AsArray;
use arrow_array::types::{self, ArrowPrimitiveType};
use arrow_array::{Array, ArrayRef, OffsetSizeTrait};
use arrow_schema::DataType;
use std::io::Write;

/// Whether columns of this type are read: numbers and texts.
pub(super) fn is_readable(kind: &DataType) -> bool {
    kind.is_integer()
        || is_text(kind)
        || matches!(kind, DataType::Float32 | DataType::Float64 | DataType::Decimal128(..))
}

/// Whether it is one of the types of texts.
pub(super) fn is_text(kind: &DataType) -> bool {
    matches!(kind, DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View)
}

/// A text of a column of texts.
pub(super) fn text(column: &ArrayRef, row: usize) -> &str {
    match column.data_type() {
        DataType::Utf8 => column.as_string::<i32>().value(row),
        DataType::LargeUtf8 => column.as_string::<i64>().value(row),
        _ => column.as_string_view().value(row),
    }
}

/// The letters of all texts of a column, if it is one of texts.
pub(super) fn letters_of(column: &ArrayRef) -> Option<usize> {
    fn between<T: OffsetSizeTrait>(ends: &[T]) -> usize {
        let at = |end: Option<&T>| end.map_or(0, |end| end.as_usize());
        at(ends.last()) - at(ends.first())
    }
    match column.data_type() {
        DataType::Utf8 => Some(between(column.as_string::<i32>().value_offsets())),
        DataType::LargeUtf8 => Some(between(column.as_string::<i64>().value_offsets())),
        DataType::Utf8View => {
            // The first four bytes of a view are how long its text is.
            let lengths = column.as_string_view().views().iter().map(|view| *view as u32 as usize);
            Some(lengths.sum())
        }
        _ => None,
    }
}

/// Hands over every text of a column of texts that has one in every row.
pub(super) fn for_each_text(column: &ArrayRef, mut take: impl FnMut(&str)) {
    match column.data_type() {
        DataType::Utf8 => column.as_string::<i32>().iter().flatten().for_each(&mut take),
        DataType::LargeUtf8 => column.as_string::<i64>().iter().flatten().for_each(&mut take),
        _ => column.as_string_view().iter().flatten().for_each(&mut take),
    }
}

/// Appends a text of a column of texts.
pub(super) fn push_text(bytes: &mut Vec<u8>, column: &ArrayRef, row: usize) {
    bytes.extend_from_slice(text(column, row).as_bytes());
}

/// Appends the value, which is not null; a double's text is the shortest that reads back as it.
pub(super) fn push_cell(bytes: &mut Vec<u8>, column: &ArrayRef, row: usize) {
    fn push<T: ArrowPrimitiveType<Native: std::fmt::Display>>(
        bytes: &mut Vec<u8>,
        column: &ArrayRef,
        row: usize,
    ) {
        // Writing to memory cannot fail.
        let _ = write!(bytes, "{}", column.as_primitive::<T>().value(row));
    }
    match column.data_type() {
        kind if is_text(kind) => push_text(bytes, column, row),
        DataType::Float64 => push::<types::Float64Type>(bytes, column, row),
        DataType::Float32 => push::<types::Float32Type>(bytes, column, row),
        DataType::Int8 => push::<types::Int8Type>(bytes, column, row),
        DataType::Int16 => push::<types::Int16Type>(bytes, column, row),
        DataType::Int32 => push::<types::Int32Type>(bytes, column, row),
        DataType::Int64 => push::<types::Int64Type>(bytes, column, row),
        DataType::UInt8 => push::<types::UInt8Type>(bytes, column, row),
        DataType::UInt16 => push::<types::UInt16Type>(bytes, column, row),
        DataType::UInt32 => push::<types::UInt32Type>(bytes, column, row),
        DataType::UInt64 => push::<types::UInt64Type>(bytes, column, row),
        DataType::Decimal128(_, scale) => {
            push::<types::Decimal128Type>(bytes, column, row);
            let _ = write!(bytes, "e{}", -i32::from(*scale));
        }
        other => debug_assert!(!is_readable(other), "{other} is refused when the file is opened"),
    }
}
