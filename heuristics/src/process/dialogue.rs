//! Asking another process, and what its answers come to.

use super::command::OutsidePolicy;
use super::messages::{Answer, answer};
use super::pipes::{Conversation, Silence};
use crate::ProcessFailure;
use fairplan_instances::wording::printable;
use std::time::Duration;

/// A policy that is being asked.
pub(super) struct Dialogue {
    policy: OutsidePolicy,
    process: Conversation,
}

/// Why there is no answer.
pub(super) enum Unanswered {
    /// It takes too long.
    Late(ProcessFailure),
    /// It ended, or says what is no answer.
    Failed(ProcessFailure),
}

impl From<Unanswered> for ProcessFailure {
    fn from(unanswered: Unanswered) -> Self {
        match unanswered {
            Unanswered::Late(failure) | Unanswered::Failed(failure) => failure,
        }
    }
}

impl Dialogue {
    /// Starts the process.
    pub fn begin(policy: &OutsidePolicy) -> Result<Self, ProcessFailure> {
        let failed = |error| ProcessFailure {
            command: policy.text.clone(),
            problem: format!("cannot be started: {error}"),
            last_words: String::new(),
        };
        let process = Conversation::begin(&policy.words).map_err(failed)?;
        Ok(Self { policy: policy.clone(), process })
    }

    /// What is asked is appended here.
    pub fn outgoing(&mut self) -> &mut Vec<u8> {
        self.process.outgoing()
    }

    /// How long an answer may take.
    pub fn timeout(&self) -> Duration {
        self.policy.timeout
    }

    /// Something went wrong with what `what` says.
    pub fn failure(&mut self, problem: String) -> ProcessFailure {
        ProcessFailure { command: self.policy.text.clone(), problem, last_words: self.process.last_words() }
    }

    /// The next answer, within `limit`: a server, found by its name, or none. `what` is asked for.
    pub fn answer(
        &mut self,
        limit: Duration,
        what: impl Fn() -> String,
        server: impl Fn(&str) -> Option<u32>,
    ) -> Result<Option<u32>, Unanswered> {
        let line = match self.process.line(limit) {
            Ok(line) => line,
            Err(Silence::Late) => {
                let seconds = limit.as_secs_f64();
                let problem =
                    format!("no answer within {seconds} s for {}; allow more with --policy-timeout", what());
                return Err(Unanswered::Late(self.failure(problem)));
            }
            Err(Silence::Ended(how)) => {
                let problem = format!("{how} before it answered for {}", what());
                return Err(Unanswered::Failed(self.failure(problem)));
            }
        };
        let problem = match answer(&line) {
            Answer::Nowhere => return Ok(None),
            Answer::Server(name) => match server(&name) {
                Some(server) => return Ok(Some(server)),
                None => format!("there is no server {}", printable(&name, 200)),
            },
            Answer::Nonsense => {
                let line = String::from_utf8_lossy(&line).into_owned();
                format!(
                    "answers {}, where {{\"server\": \"ID\"}} or {{\"server\": null}} is expected",
                    printable(line.trim_end(), 200)
                )
            }
        };
        Err(Unanswered::Failed(self.failure(format!("{}: {problem}", what()))))
    }

    /// Nothing is asked any more: nothing must be said any more, and the process may end.
    pub fn end(&mut self) -> Result<(), ProcessFailure> {
        if self.process.has_more() {
            return Err(self.failure("answers more often than it is asked".into()));
        }
        self.process.end();
        Ok(())
    }
}
