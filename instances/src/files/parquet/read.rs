//! Reading Parquet as rows of text cells, uncompressed or with snappy, gzip, LZ4 or zstd.

use crate::InstanceError;
use arrow_array::{Array, RecordBatch};
use arrow_schema::{DataType, Schema};
use parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReader, ParquetRecordBatchReaderBuilder,
};
use parquet::file::metadata::{KeyValue, ParquetMetaData};
use std::cell::Cell;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook, take_hook};
use std::sync::{Arc, Once};

use super::BATCH;
use crate::files::cells::{is_readable, push_cell};
use crate::files::rows::{RowBuffer, Rows, Table};

/// When Parquet is taken for a decompression bomb: more than so many bytes of text or cells come out **and** more than
/// [`RATIO`] times what the file has. (A run of equal cells takes a few bytes however long it is.)
const TEXT: u64 = 64 << 20;

/// See [`TEXT`].
const RATIO: u64 = 100;

/// A Parquet table read row by row.
pub(in crate::files) struct ParquetRows {
    table: Table,
    batches: ParquetRecordBatchReader,
    batch: RecordBatch,
    /// Texts by name, as the file's writer left them.
    metadata: Vec<KeyValue>,
    /// Next row inside `batch`.
    next: usize,
    /// Rows read so far.
    count: u64,
    /// Bytes of text that may still come out.
    room: u64,
}

impl ParquetRows {
    pub(in crate::files) fn new(path: &str) -> Result<Self, InstanceError> {
        let failed = |source| InstanceError::Io { file: path.to_owned(), source };
        let file = File::open(path).map_err(failed)?;
        let length = file.metadata().map_err(failed)?.len();
        let room = length.saturating_mul(RATIO).max(TEXT);
        // Without the writer's own schema, its dictionaries and large texts are plain texts.
        let options = ArrowReaderOptions::new().with_skip_arrow_metadata(true);
        let known =
            guarded(|| ArrowReaderMetadata::load(&file, options.clone())).map_err(
                |problem| match is_whole(&file).unwrap_or(true) {
                    true => malformed(path, "metadata", problem),
                    false => malformed(
                        path,
                        "its end",
                        "is not that of a Parquet file: the file is truncated".into(),
                    ),
                },
            )?;
        if largest(known.metadata()).is_none_or(|size| size > room) {
            return Err(malformed(path, "metadata", bomb()));
        }
        // Texts that occur again and again share their letters.
        let shared = known.schema().fields().iter().map(|field| match field.data_type() {
            DataType::Utf8 => Arc::new(field.as_ref().clone().with_data_type(DataType::Utf8View)),
            _ => field.clone(),
        });
        let schema = Arc::new(Schema::new(shared.collect::<Vec<_>>()));
        if let Some(field) = schema.fields().iter().find(|field| !is_readable(field.data_type())) {
            let place = format!("column {}", field.name());
            let problem = format!("has type {}; numbers and texts are read", field.data_type());
            return Err(malformed(path, &place, problem));
        }
        let known = guarded(|| {
            ArrowReaderMetadata::try_new(known.metadata().clone(), options.with_schema(schema.clone()))
        })
        .map_err(|problem| malformed(path, "metadata", problem))?;
        let builder = ParquetRecordBatchReaderBuilder::new_with_metadata(file, known);
        let header = schema.fields().iter().map(|field| field.name().clone()).collect();
        let metadata = builder.metadata().file_metadata().key_value_metadata();
        let metadata = metadata.cloned().unwrap_or_default();
        let batches = guarded(|| builder.with_batch_size(BATCH).build())
            .map_err(|problem| malformed(path, "metadata", problem))?;
        let batch = RecordBatch::new_empty(schema);
        let (file, header_place) = (path.to_owned(), "schema".to_owned());
        let table = Table { file, header, header_place, unit: "row" };
        Ok(Self { table, batches, batch, metadata, next: 0, count: 0, room })
    }

    /// What the file's metadata has under `name`.
    pub(in crate::files) fn metadata(&self, name: &str) -> Option<&str> {
        self.metadata.iter().find(|entry| entry.key == name)?.value.as_deref()
    }

    /// The last row read, or the schema before the first.
    fn place(&self) -> String {
        if self.count == 0 {
            self.table.header_place.clone()
        } else {
            format!("{} {}", self.table.unit, self.count)
        }
    }
}

/// Whether a file ends as Parquet does.
fn is_whole(mut file: &File) -> std::io::Result<bool> {
    let mut end = [0; 4];
    file.seek(SeekFrom::End(-4))?;
    file.read_exact(&mut end)?;
    Ok(&end == b"PAR1")
}

/// Runs a step of the parquet crate, which panics on some damaged files instead of returning an error.
fn guarded<T, E: std::fmt::Display>(step: impl FnOnce() -> Result<T, E>) -> Result<T, String> {
    thread_local! {
        static GUARDED: Cell<bool> = const { Cell::new(false) };
    }
    static QUIET: Once = Once::new();
    QUIET.call_once(|| {
        // A panic that is caught here is no news for the terminal; all others are reported as before.
        let report = take_hook();
        set_hook(Box::new(move |panic| {
            if !GUARDED.get() {
                report(panic);
            }
        }));
    });
    GUARDED.set(true);
    // What a panic leaves half-changed is not used again: the caller gives up on the file.
    let outcome = catch_unwind(AssertUnwindSafe(step));
    GUARDED.set(false);
    match outcome {
        Ok(result) => result.map_err(|error| unread_codec(&error.to_string()).unwrap_or(error.to_string())),
        Err(_) => Err("the Parquet file is damaged".to_owned()),
    }
}

/// What to say where the parquet crate names a codec that is not read.
fn unread_codec(error: &str) -> Option<String> {
    let (_, codec) = error.split_once("Disabled feature at compile time: ")?;
    Some(format!(
        "is compressed by {codec}, which is not read; write it uncompressed or with snappy, gzip, LZ4 or zstd, or as CSV"
    ))
}

fn malformed(file: &str, place: &str, problem: String) -> InstanceError {
    InstanceError::Malformed { file: file.to_owned(), place: place.to_owned(), problem }
}

impl Rows for ParquetRows {
    fn table(&self) -> &Table {
        &self.table
    }

    fn next(&mut self, row: &mut RowBuffer) -> Result<bool, InstanceError> {
        while self.next == self.batch.num_rows() {
            let batch = guarded(|| self.batches.next().transpose())
                .map_err(|problem| malformed(&self.table.file, &self.place(), problem))?;
            let Some(batch) = batch else { return Ok(false) };
            self.batch = batch;
            self.next = 0;
        }
        row.clear();
        for column in self.batch.columns() {
            if !column.is_null(self.next) {
                push_cell(&mut row.bytes, column, self.next);
            }
            row.end_cell();
        }
        self.next += 1;
        self.count += 1;
        row.number = self.count;
        let size = row.bytes.len() as u64;
        if size > self.room {
            return Err(malformed(&self.table.file, &self.place(), bomb()));
        }
        self.room -= size;
        Ok(true)
    }

    /// What the metadata says is not believed before it is read.
    fn expected(&self, rows: usize, _bytes: usize) -> usize {
        rows
    }
}

/// The largest of what the metadata announces: cells, and uncompressed bytes; `None` where it is impossible.
fn largest(metadata: &ParquetMetaData) -> Option<u64> {
    let columns = metadata.file_metadata().schema_descr().num_columns();
    let rows = u64::try_from(metadata.file_metadata().num_rows()).ok()?;
    let cells = rows.checked_mul(u64::try_from(columns).ok()?)?;
    let chunks = metadata.row_groups().iter().flat_map(|group| group.columns());
    chunks
        .map(|chunk| u64::try_from(chunk.uncompressed_size()).ok())
        .try_fold(cells, |largest, size| Some(largest.max(size?)))
}

fn bomb() -> String {
    format!("expands more than {RATIO} times, beyond {} MiB; write it as CSV if it is meant so", TEXT >> 20)
}

#[cfg(test)]
mod tests {
    /// The crate's own words for a column chunk of brotli.
    #[test]
    fn a_codec_that_is_not_read_is_named_with_those_that_are() {
        let told = super::unread_codec(
            "Parquet argument error: Parquet error: Disabled feature at compile time: brotli",
        );
        assert!(
            told.is_some_and(|told| told.starts_with("is compressed by brotli, which is not read; write it"))
        );
        assert_eq!(super::unread_codec("EOF: file too short"), None);
    }
}
