//! A conversation with another process over its standard input and output, never waiting longer than it may: all three pipes
//! are watched at once, so that neither side can hold the other up.

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use rustix::io::Errno;
use std::io::{ErrorKind, Read, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

/// Bytes read at once.
const BLOCK: usize = 1 << 13;

/// An answer is no longer than this; what goes on and on is none.
const LONGEST_LINE: usize = 1 << 20;

/// Bytes of standard error that are kept.
const LAST_WORDS: usize = 2000;

/// Nobody waits longer, whatever may be waited.
const LONGEST_WAIT: Duration = Duration::from_secs(1 << 30);

/// How long a process that was told that nothing more comes may take to end.
const GRACE: Duration = Duration::from_secs(1);

/// Why there is no line.
pub(super) enum Silence {
    /// It takes too long.
    Late,
    /// The process closed its output: how it ended.
    Ended(String),
}

/// Another process, its pipes, and what is on its way.
pub(super) struct Conversation {
    child: Child,
    /// `None` when it is closed, or the process reads no more.
    input: Option<ChildStdin>,
    output: ChildStdout,
    errors: Option<ChildStderr>,
    /// What is to be written, from `written` on.
    outgoing: Vec<u8>,
    written: usize,
    /// What was read, from `taken` on; up to `searched` there is no end of a line.
    incoming: Vec<u8>,
    taken: usize,
    searched: usize,
    is_closed: bool,
    last_words: Vec<u8>,
}

impl Conversation {
    /// Starts a process; `words` are its command and arguments.
    pub(super) fn begin(words: &[String]) -> std::io::Result<Self> {
        let Some((command, arguments)) = words.split_first() else {
            return Err(ErrorKind::InvalidInput.into());
        };
        let piped = Stdio::piped;
        let mut child =
            Command::new(command).args(arguments).stdin(piped()).stdout(piped()).stderr(piped()).spawn()?;
        let (Some(input), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(ErrorKind::BrokenPipe.into());
        };
        let errors = child.stderr.take();
        let pipes = [Some(input.as_fd()), Some(output.as_fd()), errors.as_ref().map(AsFd::as_fd)];
        for pipe in pipes.into_iter().flatten() {
            fcntl_setfl(pipe, fcntl_getfl(pipe)? | OFlags::NONBLOCK)?;
        }
        Ok(Self {
            child,
            input: Some(input),
            output,
            errors,
            outgoing: Vec::new(),
            written: 0,
            incoming: Vec::new(),
            taken: 0,
            searched: 0,
            is_closed: false,
            last_words: Vec::new(),
        })
    }

    /// What is to be written is appended here; it is on its way when a line is waited for.
    pub(super) fn outgoing(&mut self) -> &mut Vec<u8> {
        &mut self.outgoing
    }

    /// The next line, with its end.
    pub(super) fn line(&mut self, limit: Duration) -> Result<Vec<u8>, Silence> {
        let mut until = None;
        loop {
            if let Some(line) = self.buffered() {
                return Ok(line);
            }
            if self.is_closed || self.incoming.len() - self.taken > LONGEST_LINE {
                return Err(Silence::Ended(self.ending()));
            }
            self.write();
            // A clock is looked at only where there is something to wait for.
            let until = *until.get_or_insert_with(|| Instant::now() + limit.min(LONGEST_WAIT));
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Err(Silence::Late);
            }
            self.watch(left);
        }
    }

    /// Whether something was said that nobody asked for.
    pub(super) fn has_more(&mut self) -> bool {
        self.read_output();
        self.taken < self.incoming.len()
    }

    /// A line that was read already.
    fn buffered(&mut self) -> Option<Vec<u8>> {
        match self.incoming[self.searched..].iter().position(|byte| *byte == b'\n') {
            Some(end) => {
                let line = self.incoming[self.taken..self.searched + end + 1].to_vec();
                self.taken = self.searched + end + 1;
                self.searched = self.taken;
                Some(line)
            }
            None => {
                self.incoming.drain(..self.taken);
                (self.taken, self.searched) = (0, self.incoming.len());
                None
            }
        }
    }

    /// Writes as much as the pipe takes.
    fn write(&mut self) {
        while let Some(input) = self.input.as_mut().filter(|_| self.written < self.outgoing.len()) {
            match input.write(&self.outgoing[self.written..]) {
                Ok(count) if count > 0 => self.written += count,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => return,
                // It reads no more: what it still says is read all the same.
                _ => self.input = None,
            }
        }
        self.outgoing.clear();
        self.written = 0;
    }

    /// Waits until one of the pipes is ready, and reads.
    fn watch(&mut self, limit: Duration) {
        let limit = Timespec { tv_sec: limit.as_secs() as i64, tv_nsec: limit.subsec_nanos().into() };
        let writes = self.written < self.outgoing.len();
        let input = self.input.as_ref().filter(|_| writes).map(AsFd::as_fd);
        let pipes: [(Option<BorrowedFd<'_>>, PollFlags); 3] = [
            (Some(self.output.as_fd()), PollFlags::IN),
            (self.errors.as_ref().map(AsFd::as_fd), PollFlags::IN),
            (input, PollFlags::OUT),
        ];
        let pipes =
            pipes.into_iter().filter_map(|(pipe, flags)| Some(PollFd::from_borrowed_fd(pipe?, flags)));
        let mut pipes: Vec<PollFd<'_>> = pipes.collect();
        match poll(&mut pipes, Some(&limit)) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(_) => self.is_closed = true,
        }
        self.read_output();
        self.read_errors();
    }

    fn read_output(&mut self) {
        let before = self.incoming.len();
        self.incoming.resize(before + BLOCK, 0);
        let count = match self.output.read(&mut self.incoming[before..]) {
            Ok(0) => {
                self.is_closed = true;
                0
            }
            Ok(count) => count,
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) => 0,
            Err(_) => {
                self.is_closed = true;
                0
            }
        };
        self.incoming.truncate(before + count);
    }

    fn read_errors(&mut self) {
        let mut block = [0; 4096];
        while let Some(errors) = &mut self.errors {
            match errors.read(&mut block) {
                Ok(count) if count > 0 => {
                    self.last_words.extend_from_slice(&block[..count]);
                    let before = self.last_words.len().saturating_sub(LAST_WORDS);
                    self.last_words.drain(..before);
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => return,
                _ => self.errors = None,
            }
        }
    }

    /// How the process ended, or that it only fell silent.
    fn ending(&mut self) -> String {
        if !self.is_closed {
            return "writes a line without an end".into();
        }
        match self.wait(GRACE) {
            Some(status) => format!("ended ({status})"),
            None => "closed its output".into(),
        }
    }

    fn wait(&mut self, limit: Duration) -> Option<std::process::ExitStatus> {
        let until = Instant::now() + limit;
        loop {
            self.read_errors();
            match self.child.try_wait() {
                Ok(Some(status)) => return Some(status),
                Ok(None) if Instant::now() < until => std::thread::sleep(Duration::from_millis(2)),
                _ => return None,
            }
        }
    }

    /// The end of what it wrote to its standard error, in whole lines where it wrote several.
    pub(super) fn last_words(&mut self) -> String {
        self.read_errors();
        let words = String::from_utf8_lossy(&self.last_words).into_owned();
        let lines: Vec<&str> = words.lines().filter(|line| !line.trim().is_empty()).collect();
        lines[lines.len().saturating_sub(3)..].join(" ")
    }

    /// Tells it that nothing more comes, and gives it a moment to end.
    pub(super) fn end(&mut self) {
        self.write();
        self.input = None;
        self.wait(GRACE);
    }
}

impl Drop for Conversation {
    /// Nobody talks with it any more.
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
