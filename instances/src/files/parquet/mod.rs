//! Tables as Parquet: read as rows of text cells like any other table, written column by column.
//!
//! A double stands for the shortest decimal that reads back as it; a null is an empty cell. Numbers are
//! written as doubles, and only when that loses nothing.

mod read;
mod write;

pub(super) use super::columnar::io_error;
pub(super) use read::ParquetRows;
pub(super) use write::{write_groups, write_servers, write_users};

/// Rows read or written at a time.
pub(super) const BATCH: usize = 1 << 14;
