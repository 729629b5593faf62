//! Opening: a path or `-` becomes a stream of bytes, gzip and UTF-16 undone, without a byte order mark, and every failure one clear line.

use super::packed::{HEAD, packed};
use super::utf16::{self, ByteOrder};
use crate::InstanceError;
use flate2::bufread::MultiGzDecoder;
use std::cell::RefCell;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Cursor, Read};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

/// Bytes read at a time.
const BUFFER: usize = 1 << 17;

/// When gzip is taken for a decompression bomb: more than `bytes` come out **and** more than `ratio` times
/// what went in. (Deflate can reach 1032:1; tables and JSON of distinct users stay below 20:1.)
#[derive(Clone, Copy)]
struct GzipLimit {
    bytes: u64,
    ratio: u64,
}

const GZIP_LIMIT: GzipLimit = GzipLimit { bytes: 256 << 20, ratio: 100 };

/// What a file of gzip begins with.
const GZIP: &[u8] = &[0x1f, 0x8b];

/// The byte order mark of UTF-8, which some editors write before a text and no reader has to know.
const MARK: &[u8] = b"\xef\xbb\xbf";

/// So many blanks in the beginning are looked past for something else.
const MOST_BLANK: usize = 1 << 20;

/// An opened input: its content as a stream, gzip already undone and text in UTF-16 made UTF-8, and its name for messages.
pub struct Source {
    name: String,
    reader: Box<dyn BufRead + Send>,
    parquet: bool,
    /// Whether the file holds other bytes than these: it is compressed, in UTF-16, or has a byte order mark.
    recoded: bool,
    length: Option<u64>,
}

/// Opens `path` (`-`: standard input). Gzip is recognised by its first bytes; all its members are read. So is text in UTF-16,
/// by its byte order mark: it is read as UTF-8. The mark of UTF-8 itself is no part of the content.
///
/// Refused, with the reason: what is no regular file (a directory, a named pipe, a device; redirect those to
/// `-`), an empty file (nothing but white space is nothing, whatever reads the file), a file named `.gz` that is not gzip. Damaged gzip (truncated, wrong checksum, trailing
/// garbage) and a decompression bomb (over 256 MiB and over 100 times the compressed size) are errors of the
/// read that meets them.
pub fn open(path: &str) -> Result<Source, InstanceError> {
    if path == "-" {
        return match FED.with_borrow_mut(|fed| fed.as_mut().map(Option::take)) {
            Some(Some(bytes)) => in_memory(STANDARD_INPUT, bytes),
            None if !IS_READ.swap(true, Ordering::Relaxed) => {
                Source::new(STANDARD_INPUT, io::stdin(), GZIP_LIMIT)
            }
            _ => {
                let source = io::Error::new(io::ErrorKind::UnexpectedEof, READ_ONCE);
                Err(InstanceError::Io { file: STANDARD_INPUT.to_owned(), source })
            }
        };
    }
    let failed = |source| InstanceError::Io { file: path.to_owned(), source };
    let metadata = std::fs::metadata(path).map_err(failed)?;
    let kind = metadata.file_type();
    // A shell hands over `<(command)` and redirections under these names: pipes, but with someone writing.
    let redirected =
        ["/dev/fd/", "/proc/self/fd/", "/dev/stdin"].iter().any(|prefix| path.starts_with(prefix));
    if kind.is_dir() {
        return Err(failed(io::Error::new(io::ErrorKind::IsADirectory, "is a directory; name a file")));
    }
    if !kind.is_file() && !redirected {
        let reason = "is not a regular file; redirect it to standard input and name it -";
        return Err(failed(io::Error::new(io::ErrorKind::InvalidInput, reason)));
    }
    let source = Source::new(path, File::open(path).map_err(failed)?, GZIP_LIMIT)?;
    let length = (kind.is_file() && !source.recoded).then_some(metadata.len());
    Ok(Source { length, ..source })
}

const STANDARD_INPUT: &str = "standard input";

const READ_ONCE: &str = "was read already, and can be read only once; name a file for one of the two";

/// Whether somebody has read standard input.
static IS_READ: AtomicBool = AtomicBool::new(false);

/// What stands for standard input, until it is read.
type Fed = Option<Vec<u8>>;

thread_local! {
    static FED: RefCell<Option<Fed>> = const { RefCell::new(None) };
}

/// Does `work`; what it opens on this thread as standard input are these bytes.
pub fn fed<T>(bytes: Vec<u8>, work: impl FnOnce() -> T) -> T {
    /// Puts back what was there, however the work ends.
    struct Restored(Option<Fed>);
    impl Drop for Restored {
        fn drop(&mut self) {
            FED.set(self.0.take());
        }
    }
    let _before = Restored(FED.replace(Some(Some(bytes))));
    work()
}

/// The content of a file that is in memory already, called `name` in messages; else as [`open`].
pub fn in_memory(name: &str, bytes: Vec<u8>) -> Result<Source, InstanceError> {
    let length = bytes.len() as u64;
    let source = Source::new(name, Cursor::new(bytes), GZIP_LIMIT)?;
    Ok(Source { length: (!source.recoded).then_some(length), ..source })
}

impl Source {
    fn new(
        name: &str,
        mut file: impl Read + Send + 'static,
        limit: GzipLimit,
    ) -> Result<Self, InstanceError> {
        let failed = |source| InstanceError::Io { file: name.to_owned(), source };
        let refused = |kind, reason| Err(failed(io::Error::new(kind, reason)));
        let mut head = Vec::new();
        file.by_ref().take(HEAD).read_to_end(&mut head).map_err(failed)?;
        let (gzip, parquet) = (head.starts_with(GZIP), head.starts_with(b"PAR1"));
        let named = |ending| Path::new(name).extension().is_some_and(|end| end == ending);
        if let Some(problem) = packed(&head) {
            return refused(io::ErrorKind::InvalidData, problem);
        }
        let has_content = !is_blank(&head) || head.len() as u64 == HEAD;
        if has_content && !gzip && named("gz") {
            return refused(io::ErrorKind::InvalidData, "is named .gz but is not gzip");
        }
        if has_content && !parquet && named("parquet") {
            return refused(io::ErrorKind::InvalidData, "is named .parquet but is not Parquet");
        }
        if named("arrow") {
            return refused(io::ErrorKind::InvalidData, "Arrow files are not read; write Parquet or CSV");
        }
        let whole = BufReader::with_capacity(BUFFER, Cursor::new(head).chain(file));
        let mut reader: Box<dyn BufRead + Send> = if gzip {
            Box::new(BufReader::with_capacity(BUFFER, Gunzip::new(whole, limit)))
        } else {
            Box::new(whole)
        };
        if gzip && let Some(problem) = packed(reader.fill_buf().map_err(failed)?) {
            return refused(io::ErrorKind::InvalidData, problem);
        }
        if gzip && reader.fill_buf().map_err(failed)?.starts_with(GZIP) {
            let problem = "is compressed by gzip twice; unpack it once (`gzip -d FILE`)";
            return refused(io::ErrorKind::InvalidData, problem);
        }
        let order = ByteOrder::marked(reader.fill_buf().map_err(failed)?);
        if let Some(order) = order {
            reader = Box::new(Cursor::new(utf16::decoded(reader, order).map_err(failed)?));
        }
        let is_marked = reader.fill_buf().map_err(failed)?.starts_with(MARK);
        if is_marked {
            reader.consume(MARK.len());
        }
        let Some(read) = beginning(&mut reader).map_err(failed)? else {
            let problem = match is_pipe(name) {
                true => {
                    "there is nothing in the pipe, or it was read before: a pipe is read once; write it to a file"
                }
                false => "the file is empty",
            };
            return refused(io::ErrorKind::UnexpectedEof, problem);
        };
        if !read.is_empty() {
            reader = Box::new(Cursor::new(read).chain(reader));
        }
        Ok(Self {
            name: name.to_owned(),
            reader,
            parquet,
            recoded: gzip || order.is_some() || is_marked,
            length: None,
        })
    }

    /// Whether the file is a Parquet file, by its first bytes.
    pub fn is_parquet(&self) -> bool {
        self.parquet
    }

    /// How many bytes there are, where the file tells: not of a stream, nor of what was compressed or in UTF-16.
    pub(super) fn length(&self) -> Option<u64> {
        self.length
    }

    /// The path as the user gave it, or `standard input`.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Reads the next line into `buffer`, without its end; false at the end of the file. `line` is its number, for the
    /// message when it is longer than `longest` bytes.
    pub fn read_line(
        &mut self,
        buffer: &mut Vec<u8>,
        longest: usize,
        line: u64,
    ) -> Result<bool, InstanceError> {
        buffer.clear();
        match self.reader.by_ref().take(longest as u64 + 1).read_until(b'\n', buffer) {
            Err(source) => return Err(InstanceError::Io { file: self.name.clone(), source }),
            Ok(0) => return Ok(false),
            Ok(_) if buffer.last() == Some(&b'\n') => {
                buffer.pop();
            }
            Ok(count) if count > longest => {
                let (file, place) = (self.name.clone(), format!("line {line}"));
                let problem = format!("is longer than {longest} bytes; no line of such a file is");
                return Err(InstanceError::Malformed { file, place, problem });
            }
            Ok(_) => {}
        }
        Ok(true)
    }

    /// The whole content.
    pub fn read_all(mut self) -> Result<Vec<u8>, InstanceError> {
        let mut content = Vec::new();
        match self.reader.read_to_end(&mut content) {
            Ok(_) => Ok(content),
            Err(source) => Err(InstanceError::Io { file: self.name, source }),
        }
    }
}

impl Read for Source {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.reader.read(buffer)
    }
}

impl BufRead for Source {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        self.reader.fill_buf()
    }
    fn consume(&mut self, count: usize) {
        self.reader.consume(count);
    }
}

/// What was read to find something else than blanks: nothing where that stands in the reader's buffer first. `None` where there is
/// nothing else.
fn beginning(reader: &mut dyn BufRead) -> io::Result<Option<Vec<u8>>> {
    let mut read = Vec::new();
    loop {
        let more = reader.fill_buf()?;
        if more.is_empty() {
            return Ok(None);
        }
        if read.is_empty() && !is_blank(more) {
            return Ok(Some(read));
        }
        let count = more.len();
        read.extend_from_slice(more);
        reader.consume(count);
        if !is_blank(&read) || read.len() >= MOST_BLANK {
            return Ok(Some(read));
        }
    }
}

/// Whether there is nothing but white space, perhaps behind a byte order mark.
fn is_blank(bytes: &[u8]) -> bool {
    bytes.strip_prefix(MARK).unwrap_or(bytes).trim_ascii().is_empty()
}

/// Decompresses all members and holds the result against the limit.
struct Gunzip<R> {
    decoder: MultiGzDecoder<Counted<R>>,
    produced: u64,
    limit: GzipLimit,
}

impl<R: BufRead> Gunzip<R> {
    fn new(compressed: R, limit: GzipLimit) -> Self {
        let decoder = MultiGzDecoder::new(Counted { reader: compressed, consumed: 0 });
        Self { decoder, produced: 0, limit }
    }
}

impl<R: BufRead> Read for Gunzip<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.decoder.read(buffer).map_err(|error| match error.kind() {
            io::ErrorKind::UnexpectedEof => io::Error::new(
                error.kind(),
                "truncated gzip: the data ends early, or what follows it is not gzip",
            ),
            io::ErrorKind::InvalidInput | io::ErrorKind::InvalidData => {
                io::Error::new(error.kind(), format!("damaged gzip: {error}"))
            }
            _ => error,
        })?;
        self.produced += count as u64;
        let GzipLimit { bytes, ratio } = self.limit;
        let consumed = self.decoder.get_ref().consumed;
        if self.produced > bytes && self.produced > consumed.saturating_mul(ratio) {
            let reason = format!(
                "gzip expands more than {ratio} times, beyond {} MiB; decompress it first if it is meant so",
                bytes >> 20
            );
            return Err(io::Error::new(io::ErrorKind::InvalidData, reason));
        }
        Ok(count)
    }
}

/// Counts what passes.
struct Counted<R> {
    reader: R,
    consumed: u64,
}

impl<R: BufRead> Read for Counted<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.reader.read(buffer)?;
        self.consumed += count as u64;
        Ok(count)
    }
}

impl<R: BufRead> BufRead for Counted<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        self.reader.fill_buf()
    }
    fn consume(&mut self, count: usize) {
        self.consumed += count as u64;
        self.reader.consume(count);
    }
}

/// Whether the name of a file ends this way, in letters of either case.
pub(super) fn has_ending(path: &str, ending: &str) -> bool {
    Path::new(path).extension().is_some_and(|end| end.eq_ignore_ascii_case(ending))
}

/// Whether a file is a pipe, of which nothing is left once it is read.
#[cfg(unix)]
fn is_pipe(name: &str) -> bool {
    use std::os::unix::fs::FileTypeExt;
    std::fs::metadata(name).is_ok_and(|file| file.file_type().is_fifo())
}

#[cfg(not(unix))]
fn is_pipe(_: &str) -> bool {
    false
}

#[cfg(test)]
mod tests {
    use super::*;
    use flate2::{Compression, write::GzEncoder};
    use std::io::Write;

    #[test]
    fn who_is_fed_reads_that_as_standard_input_once() {
        let read = || open("-").and_then(Source::read_all).map_err(|error| error.to_string());
        let (first, second) = fed(b"text".to_vec(), || (read(), read()));
        assert_eq!(first, Ok(b"text".to_vec()));
        assert_eq!(
            second,
            Err(
                "standard input: was read already, and can be read only once; name a file for one of the two"
                    .into()
            )
        );
        assert!(std::panic::catch_unwind(|| fed(Vec::new(), || panic!("broke"))).is_err());
        assert!(FED.with_borrow(Option::is_none), "a panic does not leave anybody fed");
    }

    #[test]
    fn white_space_is_nothing_and_what_follows_it_is_all_there() {
        let read = |name: &str, bytes: Vec<u8>| {
            in_memory(name, bytes).and_then(Source::read_all).map_err(|error| error.to_string())
        };
        let blanks =
            [b"".to_vec(), b" \r\n\t".to_vec(), MARK.to_vec(), [MARK, b"\n"].concat(), vec![b' '; 300_000]];
        for bytes in &blanks {
            for name in ["it.json", "it.csv.gz", "it.parquet"] {
                let long = bytes.len() as u64 >= HEAD && name != "it.json";
                let refused = read(name, bytes.clone()).unwrap_err();
                assert!(long || refused == format!("{name}: the file is empty"), "{refused}");
            }
            let before: Vec<u8> = [bytes, b"a, 1\n".as_slice()].concat();
            // A byte order mark is no part of the content.
            let content = before.strip_prefix(MARK).unwrap_or(&before).to_vec();
            assert_eq!(read("it.csv", before), Ok(content));
        }
    }

    #[test]
    fn the_gzip_limit_needs_both_the_size_and_the_ratio_to_be_passed() {
        let mut compressor = GzEncoder::new(Vec::new(), Compression::default());
        compressor.write_all(&[b'x'; 100_000]).unwrap();
        let bomb = compressor.finish().unwrap();
        let ratio = 100_000 / bomb.len() as u64;
        let read =
            |limit| Source::new("bomb.gz", Cursor::new(bomb.clone()), limit).and_then(Source::read_all);
        for limit in [
            GzipLimit { bytes: 100_000, ratio: 10 },
            // Deflate's own bound.
            GzipLimit { bytes: 10, ratio: 1032 },
            GzipLimit { bytes: u64::MAX, ratio: 0 },
        ] {
            assert_eq!(read(limit).unwrap().len(), 100_000);
        }
        let text = read(GzipLimit { bytes: 99_999, ratio: ratio - 1 }).unwrap_err().to_string();
        assert!(text.starts_with("bomb.gz: gzip expands more than"), "{text}");
    }
}
