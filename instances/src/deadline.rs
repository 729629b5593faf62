//! A moment by which work has to end. Whoever works long carries one and asks it in every loop that can be long.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// When work has to end: never, unless a time is stated or it can be asked to. Without either nothing that is computed depends
/// on time.
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
    asked: Option<Arc<AtomicBool>>,
    /// Set once somebody who asks is told that it is over, for each who watches it or what it is a part of.
    told: Vec<Arc<AtomicBool>>,
}

impl Deadline {
    /// No end.
    pub fn never() -> Self {
        Self::default()
    }

    /// So long after now. A time too long for a clock is never over.
    pub fn after(limit: Duration) -> Self {
        Self { end: Instant::now().checked_add(limit), ..Self::never() }
    }

    /// The same, or as soon as `asked` is true, whichever is first.
    pub fn or_when(self, asked: Arc<AtomicBool>) -> Self {
        Self { asked: Some(asked), ..self }
    }

    /// After this part, or multiple, of the time that is left now.
    pub fn after_part(&self, part: f64) -> Self {
        // Nothing of no time is no number.
        let of = |left: Duration| match left.as_secs_f64() * part {
            seconds if seconds.is_nan() || seconds < 0.0 => Duration::ZERO,
            seconds => Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX),
        };
        let end = self.time_left().and_then(|left| Instant::now().checked_add(of(left)));
        Self { end, ..self.clone() }
    }

    /// The same, which remembers whether it [cut work short](Self::has_cut).
    pub fn watched(&self) -> Self {
        let told = self.told.iter().cloned().chain([Arc::default()]).collect();
        Self { told, ..self.clone() }
    }

    /// Whether somebody has asked this one, or a part of it, when it was over: what was found may not be all that there is. Only one that is
    /// [watched](Self::watched) remembers it.
    ///
    /// ```
    /// use fairplan_instances::Deadline;
    ///
    /// let deadline = Deadline::never().watched();
    /// assert!(!deadline.after_part(0.5).is_over() && !deadline.has_cut());
    /// ```
    pub fn has_cut(&self) -> bool {
        self.told.last().is_some_and(|told| told.load(Ordering::Relaxed))
    }

    /// Whether work has to end now.
    pub fn is_over(&self) -> bool {
        let is_over = self.is_asked() || self.end.is_some_and(|end| Instant::now() >= end);
        if is_over {
            self.told.iter().for_each(|told| told.store(true, Ordering::Relaxed));
        }
        is_over
    }

    fn is_asked(&self) -> bool {
        self.asked.as_ref().is_some_and(|asked| asked.load(Ordering::Relaxed))
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

    #[test]
    fn any_multiple_of_no_time_is_over_and_the_largest_multiple_of_some_never() {
        let over = Deadline::after(Duration::ZERO);
        assert!(over.after_part(f64::INFINITY).is_over() && over.after_part(f64::NAN).is_over());
        assert!(!Deadline::after(Duration::from_secs(100)).after_part(f64::MAX).is_over());
    }

    #[test]
    fn one_that_is_watched_remembers_that_a_part_of_it_was_over_when_it_was_asked() {
        let whole = Deadline::after(Duration::from_secs(100));
        let watched = whole.watched();
        let part = watched.after_part(0.0);
        assert!(!watched.is_over() && !watched.has_cut());
        assert!(part.is_over() && watched.has_cut());
        let inner = whole.watched();
        assert!(inner.watched().after_part(0.0).is_over() && inner.has_cut());
        // Another one knows nothing of it, nor does one that nobody watches.
        assert!(!whole.watched().has_cut() && !whole.has_cut());
    }

    #[test]
    fn work_that_is_asked_to_end_ends_and_so_do_its_parts() {
        let asked = Arc::new(AtomicBool::new(false));
        let deadlines = [Deadline::never(), Deadline::after(Duration::from_secs(100))];
        let whole = deadlines.map(|deadline| deadline.or_when(asked.clone()));
        let parts = whole.each_ref().map(|deadline| deadline.after_part(0.5));
        let are_over = || whole.iter().chain(&parts).filter(|deadline| deadline.is_over()).count();
        assert_eq!(are_over(), 0);
        asked.store(true, Ordering::Relaxed);
        assert_eq!(are_over(), 4);
    }
}
