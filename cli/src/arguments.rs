//! What is typed: the options that commands share.

pub use crate::output::{OutputArguments, ResultFormat, ResultOutput};
use fairplan::instances::Deadline;
use fairplan::{BACKENDS, Error, OutsidePolicy};
use std::time::Duration;

/// Options of every command.
#[derive(Clone, Copy, Debug, clap::Args)]
pub struct CommonOptions {
    /// Print no summary and no progress
    #[arg(long, short, global = true, display_order = 900)]
    pub quiet: bool,
    /// Use at most this many threads, 1 to 1024 (default: one per core); the result does not depend on it
    #[arg(long, global = true, value_name = "N", display_order = 900, value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub threads: Option<u16>,
}

/// How long a command may take.
#[derive(Clone, Copy, Debug, clap::Args)]
pub struct TimeLimit {
    /// End after this time, reading not counted, with the best answer so far or with exit status 3 if there is none; without
    /// a limit the same input gives the same bytes
    #[arg(long = "time-limit", value_name = "SECONDS", value_parser = seconds, allow_negative_numbers = true)]
    limit: Option<Duration>,
}

impl TimeLimit {
    /// The deadline of work that begins now.
    pub fn deadline(self) -> Deadline {
        self.limit.map_or_else(Deadline::never, Deadline::after)
    }
}

/// A time in seconds, above 0.
pub fn seconds(text: &str) -> Result<Duration, String> {
    let seconds = text.parse().ok().filter(|seconds: &f64| *seconds > 0.0);
    let limit = seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    limit.ok_or_else(|| "state seconds, more than 0".into())
}

/// How long a policy in another process may take for an answer.
#[derive(Clone, Debug, clap::Args)]
pub struct PolicyTimeout {
    /// Give a policy of --policy-command up when it takes longer than this for an answer
    #[arg(long, value_name = "SECONDS", value_parser = seconds, default_value = "60", allow_negative_numbers = true)]
    policy_timeout: Duration,
}

impl PolicyTimeout {
    /// The policy of a command line.
    pub fn policy(&self, command: &str) -> Result<OutsidePolicy, Error> {
        OutsidePolicy::new(command, self.policy_timeout)
            .map_err(|problem| Error::Setting(format!("policy-command {command:?}: {problem}")))
    }
}

/// The name, if it is a backend's.
pub fn backend_name(name: &str) -> Result<String, String> {
    BACKENDS.find(name).map(|_| name.into()).map_err(|unknown| unknown.to_string())
}
