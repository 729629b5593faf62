//! Results are written whole or not at all: to a file that nobody sees, flushed and synced, which then takes the name.

mod captured;
mod format;
mod unseen;
mod visible;

pub use captured::captured;
pub use format::{FileFormat, is_gzipped};
pub use unseen::remove_unfinished;

use fairplan_instances::wording::printable;
use flate2::{Compression, write::GzEncoder};
use std::fs;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use unseen::{Unseen, directory_of};

/// Where bytes of a result go; buffered, so that rows may be written in small pieces.
pub type Sink = BufWriter<Stream>;

/// Bytes on their way into a file, compressed or not.
pub struct Stream(Bytes);

enum Bytes {
    Plain(Box<dyn Write + Send>),
    Gzip(Box<GzEncoder<Box<dyn Write + Send>>>),
}

impl Stream {
    fn new(out: Box<dyn Write + Send>, gzip: bool) -> Self {
        Self(match gzip {
            true => Bytes::Gzip(Box::new(GzEncoder::new(out, Compression::default()))),
            false => Bytes::Plain(out),
        })
    }

    /// Writes what belongs at the end.
    fn finish(self) -> io::Result<()> {
        match self.0 {
            Bytes::Plain(mut out) => out.flush(),
            Bytes::Gzip(compressor) => compressor.finish()?.flush(),
        }
    }
}

impl Write for Stream {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut self.0 {
            Bytes::Plain(out) => out.write(bytes),
            Bytes::Gzip(out) => out.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match &mut self.0 {
            Bytes::Plain(out) => out.flush(),
            // Flushing would cut the compressed blocks short; `finish` lets everything out.
            Bytes::Gzip(_) => Ok(()),
        }
    }
}

/// Where a result goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Destination {
    /// Standard output. A reader that closes the pipe early has what it wants: that is no error.
    StandardOutput,
    /// A file. Its old content stays until the new one is complete and on the disk. Under a name that ends in `.gz` it is
    /// compressed.
    File(PathBuf),
}

/// A result that could not be written: `out.json: No space left on device (os error 28)`.
#[derive(Debug)]
pub struct OutputError {
    /// The path as the user gave it, or `standard output`.
    pub file: String,
    /// The operating system's reason.
    pub source: io::Error,
}

impl std::fmt::Display for OutputError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {}", printable(&self.file, 400), self.source)
    }
}

impl std::error::Error for OutputError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.source)
    }
}

/// A result that is complete, and on the disk where it is a file, but does not have its name yet: [`commit`] gives it.
/// Dropped without, it is gone and the old file stays.
#[must_use]
pub struct Prepared {
    destination: Destination,
    /// The file and the place that it takes; none where the bytes are out already, on standard output or a device.
    file: Option<(Unseen, PathBuf)>,
}

/// Gives prepared results their names, all of them or, as far as a file system allows, none: what can fail for lack of room
/// is done for all before the first takes its name.
pub fn commit(prepared: impl IntoIterator<Item = Prepared>) -> Result<(), OutputError> {
    let files = prepared.into_iter().filter_map(|Prepared { destination, file }| {
        file.map(|(unseen, target)| (unseen, target, destination.name()))
    });
    let files: Vec<_> = files.collect();
    for (position, (_, target, file)) in files.iter().enumerate() {
        if files[..position].iter().any(|(_, other, _)| other == target) {
            let source = io::Error::other("two results cannot go to one file; name two");
            return Err(OutputError { file: file.clone(), source });
        }
    }
    unseen::take_names(files).map_err(|(file, source)| OutputError { file, source })
}

impl Destination {
    /// The destination that an argument means: `-` or none is standard output. Fails at once, before any long
    /// work, when the path is a directory or its directory does not exist.
    pub fn new(argument: Option<&Path>) -> Result<Self, OutputError> {
        let path = match argument {
            None => return Ok(Self::StandardOutput),
            Some(path) if path == Path::new("-") => return Ok(Self::StandardOutput),
            Some(path) => path,
        };
        let failed = |source| OutputError { file: path.display().to_string(), source };
        if path.is_dir() {
            return Err(failed(io::ErrorKind::IsADirectory.into()));
        }
        let target = target(path).map_err(failed)?;
        match fs::metadata(directory_of(&target)) {
            Ok(directory) if !directory.is_dir() => Err(failed(io::ErrorKind::NotADirectory.into())),
            Ok(_) => Ok(Self::File(path.to_owned())),
            Err(source) => Err(failed(source)),
        }
    }

    /// The path, or `standard output`.
    pub fn name(&self) -> String {
        match self {
            Self::StandardOutput => "standard output".into(),
            Self::File(path) => path.display().to_string(),
        }
    }

    /// Writes what `body` writes. When anything fails, a file stays as it was.
    pub fn write(&self, body: impl FnOnce(&mut Sink) -> io::Result<()>) -> Result<(), OutputError> {
        commit([self.prepare(body)?])
    }

    /// Writes what `body` writes, but for the name of the file, which [`commit`] gives.
    pub fn prepare(&self, body: impl FnOnce(&mut Sink) -> io::Result<()>) -> Result<Prepared, OutputError> {
        let file = match self {
            Self::StandardOutput => {
                let out = Stream::new(captured::standard_output(), false);
                closed_pipe_is_fine(pour(out, body)).map(|()| None)
            }
            Self::File(path) => prepare_file(path, body),
        };
        match file {
            Ok(file) => Ok(Prepared { destination: self.clone(), file }),
            Err(source) => Err(OutputError { file: self.name(), source }),
        }
    }
}

/// Gives a file with these bytes its name, in the place of any that has it: whole, or not at all. Unlike a
/// [`Destination`] it does not wait for the disk, which would take most of the time of a small file: when the power fails, the
/// file may be there and lack bytes.
///
/// # Errors
/// What the system says; then nothing of the new file is left.
pub fn place_file(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let unseen = Unseen::beside(path)?;
    let mut file = unseen.file();
    file.write_all(bytes)?;
    match unseen::take_free_name(unseen, path)? {
        None => Ok(()),
        Some(unseen) => {
            unseen::take_names(vec![(unseen, path.to_owned(), String::new())]).map_err(|(_, error)| error)
        }
    }
}

fn pour(out: Stream, body: impl FnOnce(&mut Sink) -> io::Result<()>) -> io::Result<()> {
    let mut sink = BufWriter::with_capacity(1 << 17, out);
    let outcome = body(&mut sink).and_then(|()| sink.flush());
    // What is still buffered after an error must not go out when the writer is dropped.
    let (out, _) = sink.into_parts();
    outcome.and_then(|()| out.finish())
}

/// What came of a text that others wrote to standard output, told as of a [`Destination`].
///
/// # Errors
/// What the system says. Whoever reads a pipe may stop.
pub fn to_standard_output(outcome: io::Result<()>) -> Result<(), OutputError> {
    closed_pipe_is_fine(outcome)
        .map_err(|source| OutputError { file: Destination::StandardOutput.name(), source })
}

fn closed_pipe_is_fine(outcome: io::Result<()>) -> io::Result<()> {
    match outcome {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        other => other,
    }
}

/// Links that lead on from each other before a path counts as a circle, as in the kernel.
const LINKS: usize = 40;

/// The file that `path` means: behind links, also where nothing is there yet. Standard output under a name such as
/// `/dev/stdout` and other files without one of their own stay as they are.
fn target(path: &Path) -> io::Result<PathBuf> {
    match fs::metadata(path) {
        Ok(file) if file.is_file() => return Ok(fs::canonicalize(path).unwrap_or_else(|_| path.to_owned())),
        Ok(_) => return Ok(path.to_owned()),
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        Err(_) => {}
    }
    let mut target = path.to_owned();
    for _ in 0..LINKS {
        match fs::read_link(&target) {
            Ok(link) => target = directory_of(&target).join(link),
            Err(_) => return Ok(target),
        }
    }
    Err(io::Error::other("links lead round in a circle"))
}

fn prepare_file(
    path: &Path,
    body: impl FnOnce(&mut Sink) -> io::Result<()>,
) -> io::Result<Option<(Unseen, PathBuf)>> {
    let target = target(path)?;
    let old = fs::metadata(&target).ok();
    let gzip = is_gzipped(path);
    if old.as_ref().is_some_and(|old| !old.is_file()) {
        // A device or a pipe cannot be replaced, only written to.
        let device = fs::OpenOptions::new().write(true).open(&target)?;
        closed_pipe_is_fine(pour(Stream::new(Box::new(device), gzip), body))?;
        return Ok(None);
    }
    let unseen = Unseen::beside(&target)?;
    pour(Stream::new(Box::new(unseen.file().try_clone()?), gzip), body)?;
    if let Some(old) = old {
        unseen.file().set_permissions(old.permissions())?;
    }
    unseen.file().sync_all()?;
    Ok(Some((unseen, target)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(text: &'static str) -> impl FnOnce(&mut Sink) -> io::Result<()> {
        move |out| out.write_all(text.as_bytes())
    }

    fn names(directory: &Path) -> Vec<String> {
        let entries = fs::read_dir(directory).unwrap();
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
    }

    #[test]
    fn a_file_is_replaced_whole_and_nothing_else_is_left_behind() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("out.json");
        let destination = Destination::new(Some(&path)).unwrap();
        destination.write(text("old")).unwrap();
        destination.write(text("new")).unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "new");
        assert_eq!(names(directory.path()), ["out.json"]);
    }

    #[test]
    fn an_error_on_the_way_keeps_the_old_file_and_leaves_no_other() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("out.json");
        fs::write(&path, "old").unwrap();
        let error = Destination::File(path.clone())
            .write(|out| {
                out.write_all(&vec![b'x'; 1 << 20])?;
                Err(io::Error::other("broke"))
            })
            .unwrap_err();
        assert_eq!(error.to_string(), format!("{}: broke", path.display()));
        assert_eq!(fs::read_to_string(&path).unwrap(), "old");
        assert_eq!(names(directory.path()), ["out.json"]);
    }

    #[test]
    fn an_error_before_there_was_a_file_leaves_none() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("out.json");
        Destination::File(path).write(|_| Err(io::Error::other("broke"))).unwrap_err();
        assert!(names(directory.path()).is_empty());
    }

    #[test]
    fn a_file_takes_a_name_that_is_free_and_the_place_of_who_has_it() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("out.json");
        for content in ["one", "another"] {
            place_file(&path, content.as_bytes()).unwrap();
            assert_eq!(fs::read_to_string(&path).unwrap(), content);
            assert_eq!(names(directory.path()), ["out.json"]);
        }
        let missing = place_file(&directory.path().join("missing/out.json"), b"x").unwrap_err();
        assert_eq!(missing.kind(), io::ErrorKind::NotFound, "who makes folders at need relies on this");
    }

    #[test]
    fn directories_and_missing_directories_are_refused_before_any_work() {
        let directory = tempfile::tempdir().unwrap();
        assert!(Destination::new(Some(directory.path())).is_err());
        assert!(Destination::new(Some(&directory.path().join("missing/out.json"))).is_err());
        assert_eq!(Destination::new(Some(Path::new("-"))).unwrap(), Destination::StandardOutput);
        assert!(Destination::new(Some(Path::new("out.json"))).is_ok(), "a bare name is in this directory");
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_full_disk_is_an_error_and_the_device_stays_a_device() {
        let path = Path::new("/dev/full");
        let error = Destination::new(Some(path)).unwrap().write(text("x")).unwrap_err();
        assert_eq!(error.source.kind(), io::ErrorKind::StorageFull);
        assert!(!fs::metadata(path).unwrap().is_file());
    }

    #[cfg(unix)]
    #[test]
    fn links_and_permissions_outlive_the_replacement() {
        use std::os::unix::fs::PermissionsExt;
        let directory = tempfile::tempdir().unwrap();
        let (real, link) = (directory.path().join("real"), directory.path().join("link"));
        fs::write(&real, "old").unwrap();
        fs::set_permissions(&real, fs::Permissions::from_mode(0o640)).unwrap();
        std::os::unix::fs::symlink(&real, &link).unwrap();
        Destination::File(link.clone()).write(text("new")).unwrap();
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(fs::read_to_string(&real).unwrap(), "new");
        assert_eq!(fs::metadata(&real).unwrap().permissions().mode() & 0o777, 0o640);
    }

    #[cfg(unix)]
    #[test]
    fn a_pipe_whose_reader_has_gone_ends_quietly() {
        let (reader, writer) = io::pipe().unwrap();
        drop(reader);
        let out = Stream::new(Box::new(writer), false);
        let outcome = closed_pipe_is_fine(pour(out, |out| out.write_all(&[0; 1 << 20])));
        assert!(outcome.is_ok());
    }

    #[cfg(unix)]
    #[test]
    fn a_link_to_nothing_yet_is_kept_and_what_it_names_is_made() {
        use std::os::unix::fs::symlink;
        let directory = tempfile::tempdir().unwrap();
        let path = |name: &str| directory.path().join(name);
        fs::create_dir(path("there")).unwrap();
        symlink("there/real", path("second")).unwrap();
        symlink("second", path("first")).unwrap();
        Destination::new(Some(&path("first"))).unwrap().write(text("new")).unwrap();
        assert!(fs::symlink_metadata(path("first")).unwrap().is_symlink());
        assert!(fs::symlink_metadata(path("second")).unwrap().is_symlink());
        assert_eq!(fs::read_to_string(path("there/real")).unwrap(), "new");
        // Into a directory that is not there, and round in a circle: refused before any work.
        symlink("missing/real", path("nowhere")).unwrap();
        symlink("b", path("a")).unwrap();
        symlink("a", path("b")).unwrap();
        assert!(Destination::new(Some(&path("nowhere"))).is_err());
        assert!(Destination::new(Some(&path("a"))).is_err());
    }

    #[test]
    fn a_name_of_255_letters_is_a_name() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("x".repeat(250) + ".json");
        Destination::new(Some(&path)).unwrap().write(text("new")).unwrap();
        Destination::new(Some(&path)).unwrap().write(text("newer")).unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "newer");
        assert_eq!(names(directory.path()).len(), 1);
    }

    #[test]
    fn what_is_named_gz_is_gzip_and_the_same_bytes_each_time() {
        use std::io::Read;
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("out.json.GZ");
        let mut last = None;
        for _ in 0..2 {
            Destination::File(path.clone()).write(|out| out.write_all(&[b'a'; 1 << 20])).unwrap();
            let bytes = fs::read(&path).unwrap();
            assert!(bytes.len() < 10_000 && last.is_none_or(|last| last == bytes));
            last = Some(bytes);
        }
        let mut content = Vec::new();
        flate2::read::MultiGzDecoder::new(fs::File::open(&path).unwrap()).read_to_end(&mut content).unwrap();
        assert_eq!(content, [b'a'; 1 << 20]);
    }

    #[test]
    fn of_several_results_all_are_replaced_or_none() {
        let directory = tempfile::tempdir().unwrap();
        let file = |name: &str| Destination::File(directory.path().join(name));
        let read = |name: &str| fs::read_to_string(directory.path().join(name)).unwrap();
        file("a").write(text("old a")).unwrap();
        file("b").write(text("old b")).unwrap();
        let first = file("a").prepare(text("new a")).unwrap();
        assert!(file("b").prepare(|_| Err(io::Error::other("broke"))).is_err());
        drop(first);
        assert_eq!(
            (read("a"), read("b"), names(directory.path()).len()),
            ("old a".into(), "old b".into(), 2)
        );
        let both = [file("a").prepare(text("new a")).unwrap(), file("b").prepare(text("new b")).unwrap()];
        assert_eq!(read("a"), "old a", "a prepared result is not seen");
        commit(both).unwrap();
        assert_eq!(
            (read("a"), read("b"), names(directory.path()).len()),
            ("new a".into(), "new b".into(), 2)
        );
        let twice = [file("a").prepare(text("1")).unwrap(), file("a").prepare(text("2")).unwrap()];
        assert!(commit(twice).unwrap_err().to_string().contains("name two"));
        assert_eq!(read("a"), "new a");
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn until_it_has_its_name_a_result_has_none_or_a_hidden_one() {
        let directory = tempfile::tempdir().unwrap();
        Destination::File(directory.path().join("out.json"))
            .write(|_| {
                assert!(names(directory.path()).iter().all(|name| name.starts_with(".fairplan-")));
                Ok(())
            })
            .unwrap();
        assert_eq!(names(directory.path()), ["out.json"]);
    }
}
