//! A moment by which work has to end. Whoever works long carries one and asks it in every loop that can be long.

use std::time::{Duration, Instant};

/// When work has to end: never, unless a time is stated. Without one nothing that is computed depends on time.
///
/// ```
/// use fairplan_instances::Deadline;
/// use std::time::Duration;
///
/// assert!(!Deadline::never().is_over());
/// assert!(Deadline::after(Duration::ZERO).is_over());
/// ```
#[derive(Clone, Debug, Default)]
pub struct Deadline {
    end: Option<Instant>,
}

impl Deadline {
    /// No end.
    pub fn never() -> Self {
        Self::default()
    }

    /// So long after now. A time too long for a clock is never over.
    pub fn after(limit: Duration) -> Self {
        Self { end: Instant::now().checked_add(limit) }
    }

    /// After this part, 0 to 1, of the time that is left now.
    pub fn after_part(&self, part: f64) -> Self {
        self.time_left().map_or_else(Self::never, |left| Self::after(left.mul_f64(part)))
    }

    /// Whether work has to end now.
    pub fn is_over(&self) -> bool {
        self.end.is_some_and(|end| Instant::now() >= end)
    }

    /// The time that is left; none without an end.
    pub fn time_left(&self) -> Option<Duration> {
        self.end.map(|end| end.saturating_duration_since(Instant::now()))
    }

    /// The seconds that are left; infinite without an end.
    pub fn seconds_left(&self) -> f64 {
        self.time_left().map_or(f64::INFINITY, |left| left.as_secs_f64())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_of_a_deadline_ends_before_it_and_a_part_of_none_never() {
        let whole = Deadline::after(Duration::from_secs(100));
        let half = whole.after_part(0.5);
        assert!((45.0..=50.0).contains(&half.seconds_left()) && whole.seconds_left() > 99.0);
        assert_eq!(Deadline::never().after_part(0.5).time_left(), None);
        assert!(!Deadline::after(Duration::MAX).is_over());
    }
}
