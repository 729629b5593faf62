//! Results are written whole or not at all: to a temporary file beside the target, flushed, synced, renamed.

use std::fs;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// Where bytes of a result go; buffered, so that rows may be written in small pieces.
pub type Sink = BufWriter<Box<dyn Write + Send>>;

/// Where a result goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Destination {
    /// Standard output. A reader that closes the pipe early has what it wants: that is no error.
    StandardOutput,
    /// A file. Its old content stays until the new one is complete and on the disk.
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
        write!(f, "{}: {}", self.file.escape_debug(), self.source)
    }
}

impl std::error::Error for OutputError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.source)
    }
}

/// The temporary file that is being written, for [`remove_unfinished`].
static UNFINISHED: Mutex<Option<PathBuf>> = Mutex::new(None);

/// Removes the temporary file of a result that is being written, and lets no other one begin: for use just before
/// the process ends because it was told to stop.
pub fn remove_unfinished() {
    if let Ok(mut unfinished) = UNFINISHED.lock() {
        if let Some(path) = unfinished.take() {
            let _ = fs::remove_file(path);
        }
        // Never unlocked: a file begun between here and the end of the process would stay behind.
        std::mem::forget(unfinished);
    }
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
        match fs::metadata(directory_of(path)) {
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
        match self {
            Self::StandardOutput => {
                let outcome = pour(Box::new(io::stdout()), body);
                closed_pipe_is_fine(outcome).map_err(|source| OutputError { file: self.name(), source })
            }
            Self::File(path) => {
                write_file(path, body).map_err(|source| OutputError { file: self.name(), source })
            }
        }
    }
}

fn directory_of(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if parent != Path::new("") => parent,
        _ => Path::new("."),
    }
}

fn pour(out: Box<dyn Write + Send>, body: impl FnOnce(&mut Sink) -> io::Result<()>) -> io::Result<()> {
    let mut sink = BufWriter::with_capacity(1 << 17, out);
    let outcome = body(&mut sink).and_then(|()| sink.flush());
    if outcome.is_err() {
        // What is still buffered must not go out when the writer is dropped.
        let _ = sink.into_parts();
    }
    outcome
}

fn closed_pipe_is_fine(outcome: io::Result<()>) -> io::Result<()> {
    match outcome {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        other => other,
    }
}

fn write_file(path: &Path, body: impl FnOnce(&mut Sink) -> io::Result<()>) -> io::Result<()> {
    // A link is kept and its target replaced; a device or a pipe cannot be replaced, only written to.
    let target = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let old = fs::metadata(&target).ok();
    if old.as_ref().is_some_and(|old| !old.is_file()) {
        let device = fs::OpenOptions::new().write(true).open(&target)?;
        return closed_pipe_is_fine(pour(Box::new(device), body));
    }
    let name = target.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let mut builder = tempfile::Builder::new();
    let (prefix, suffix) = (format!(".{name}."), ".tmp");
    builder.prefix(&prefix).suffix(suffix);
    #[cfg(unix)]
    {
        // Not only for the owner, as temporary files are: what a newly created file gets.
        use std::os::unix::fs::PermissionsExt;
        builder.permissions(fs::Permissions::from_mode(0o666));
    }
    let temporary = {
        let mut unfinished = UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner);
        let temporary = builder.tempfile_in(directory_of(&target))?;
        *unfinished = Some(temporary.path().to_owned());
        temporary
    };
    let outcome = (|| {
        pour(Box::new(temporary.as_file().try_clone()?), body)?;
        if let Some(old) = old {
            temporary.as_file().set_permissions(old.permissions())?;
        }
        temporary.as_file().sync_all()?;
        temporary.persist(&target).map_err(|error| error.error)?;
        Ok(())
    })();
    *UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner) = None;
    outcome
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
        let outcome = closed_pipe_is_fine(pour(Box::new(writer), |out| out.write_all(&[0; 1 << 20])));
        assert!(outcome.is_ok());
    }
}
