//! Files that nobody sees until they take their name. Where the system can, they have no name before, so that nothing is left
//! of them however the process ends; elsewhere a hidden one beside their target.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use tempfile::{Builder, TempPath};

/// How hidden names begin and end: short, whatever the length of the name to come.
const HIDDEN: [&str; 2] = [".fairplan-", ".tmp"];

/// Hidden files that may be there, for [`remove_unfinished`]. Held while files take their names.
static UNFINISHED: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// Removes the hidden files of results that are being written, and lets no other one begin: for use just before
/// the process ends because it was told to stop. Waits for results that are just taking their names.
pub fn remove_unfinished() {
    if let Ok(mut unfinished) = UNFINISHED.lock() {
        for path in unfinished.drain(..) {
            let _ = fs::remove_file(path);
        }
        // Never unlocked: a file begun between here and the end of the process would stay behind.
        std::mem::forget(unfinished);
    }
}

/// A file that nobody sees.
pub(super) enum Unseen {
    /// Without a name.
    Nameless(File),
    /// With a hidden name, removed when this is dropped.
    Hidden(File, TempPath),
}

impl Unseen {
    /// A new file on the file system of `target`.
    pub(super) fn beside(target: &Path) -> io::Result<Self> {
        let directory = directory_of(target);
        if let Some(file) = nameless(directory)? {
            return Ok(Self::Nameless(file));
        }
        let mut unfinished = UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner);
        let mut builder = hidden();
        #[cfg(unix)]
        {
            // Not only for the owner, as temporary files are: what a newly created file gets.
            use std::os::unix::fs::PermissionsExt;
            builder.permissions(fs::Permissions::from_mode(0o666));
        }
        let (file, path) = builder.tempfile_in(directory)?.into_parts();
        unfinished.push(path.to_path_buf());
        Ok(Self::Hidden(file, path))
    }

    /// The open file.
    pub(super) fn file(&self) -> &File {
        match self {
            Self::Nameless(file) | Self::Hidden(file, _) => file,
        }
    }

    /// Under a hidden name in `directory`, from where it can be moved.
    fn named(self, directory: &Path) -> io::Result<TempPath> {
        match self {
            Self::Nameless(file) => link(&file, directory),
            Self::Hidden(_, path) => Ok(path),
        }
    }
}

fn hidden() -> Builder<'static, 'static> {
    let mut builder = Builder::new();
    builder.prefix(HIDDEN[0]).suffix(HIDDEN[1]).rand_bytes(12);
    builder
}

/// Moves each file to its target, all of them or none as far as that can be told beforehand; otherwise says which name
/// stands against it, and why.
pub(super) fn take_names(files: Vec<(Unseen, PathBuf, String)>) -> Result<(), (String, io::Error)> {
    // A signal waits: no file may stay under its hidden name, nor some be old and others new.
    let _names = UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner);
    let named = files.into_iter().map(|(unseen, target, file)| match unseen.named(directory_of(&target)) {
        Ok(path) => Ok((path, target, file)),
        Err(error) => Err((file, error)),
    });
    let named: Vec<_> = named.collect::<Result<_, _>>()?;
    for (path, target, file) in named {
        path.persist(target).map_err(|error| (file, error.error))?;
    }
    Ok(())
}

/// Gives a file its name if no other has it: in one step, so that a signal need not wait. Otherwise, and where the system cannot
/// do it, the file comes back.
pub(super) fn take_free_name(unseen: Unseen, target: &Path) -> io::Result<Option<Unseen>> {
    let Unseen::Nameless(file) = &unseen else { return Ok(Some(unseen)) };
    match link_as(file, target) {
        Ok(()) => Ok(None),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(Some(unseen)),
        Err(error) => Err(error),
    }
}

/// Where an open file stands among those of the process.
#[cfg(target_os = "linux")]
const OPEN_FILES: &str = "/proc/self/fd";

/// A file without a name in `directory`, if the system and the file system know such files.
#[cfg(target_os = "linux")]
fn nameless(directory: &Path) -> io::Result<Option<File>> {
    use rustix::fs::{CWD, Mode, OFlags};
    use rustix::io::Errno;
    if !Path::new(OPEN_FILES).is_dir() {
        return Ok(None); // It could never be given a name.
    }
    let flags = OFlags::TMPFILE | OFlags::RDWR | OFlags::CLOEXEC;
    match rustix::fs::openat(CWD, directory, flags, Mode::from_raw_mode(0o666)) {
        Ok(file) => Ok(Some(file.into())),
        Err(Errno::OPNOTSUPP | Errno::ISDIR | Errno::INVAL | Errno::NOENT | Errno::NOSYS) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// Gives a file without a name a hidden one.
#[cfg(target_os = "linux")]
fn link(file: &File, directory: &Path) -> io::Result<TempPath> {
    Ok(hidden().make_in(directory, |path| link_as(file, path))?.into_temp_path())
}

/// Gives a file without a name this one, which no other may have.
#[cfg(target_os = "linux")]
fn link_as(file: &File, path: &Path) -> io::Result<()> {
    use rustix::fs::{AtFlags, CWD, linkat};
    use std::os::fd::AsRawFd;
    let open = format!("{OPEN_FILES}/{}", file.as_raw_fd());
    linkat(CWD, open.as_str(), CWD, path, AtFlags::SYMLINK_FOLLOW).map_err(io::Error::from)
}

#[cfg(not(target_os = "linux"))]
fn nameless(_: &Path) -> io::Result<Option<File>> {
    Ok(None)
}

#[cfg(not(target_os = "linux"))]
fn link(_: &File, _: &Path) -> io::Result<TempPath> {
    Err(io::ErrorKind::Unsupported.into())
}

#[cfg(not(target_os = "linux"))]
fn link_as(_: &File, _: &Path) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

pub(super) fn directory_of(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if parent != Path::new("") => parent,
        _ => Path::new("."),
    }
}
