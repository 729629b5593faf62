//! How long bounding and placing may take. Without a limit nothing depends on time.

use std::time::{Duration, Instant};

/// When a search has to end: never, unless a time is stated.
#[derive(Clone, Copy, Debug, Default)]
pub struct TimeLimit(Option<(Instant, Duration)>);

impl TimeLimit {
    /// Ends so long after now, if a time is stated.
    pub fn from_now(limit: Option<Duration>) -> Self {
        Self(limit.map(|limit| (Instant::now(), limit)))
    }

    /// Ends after this part of the time, 0 to 1.
    pub(super) fn after(self, part: f64) -> Stop {
        Stop(self.0.and_then(|(start, limit)| start.checked_add(limit.mul_f64(part))))
    }
}

/// A moment after which no more is searched for.
#[derive(Clone, Copy)]
pub(super) struct Stop(Option<Instant>);

impl Stop {
    pub fn is_over(self) -> bool {
        self.0.is_some_and(|end| Instant::now() >= end)
    }

    /// Without an end infinity.
    pub fn seconds_left(self) -> f64 {
        self.0.map_or(f64::INFINITY, |end| end.saturating_duration_since(Instant::now()).as_secs_f64())
    }
}
