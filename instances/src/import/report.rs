//! What an importer read and what it left out, as counts that people can check against their files.

use crate::wording::{agreeing, printable};
use std::borrow::Cow;
use std::fmt;

/// Counts, each with what it counts, in the order in which the file gave reason for them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ImportReport {
    counts: Vec<(u64, Cow<'static, str>)>,
}

impl ImportReport {
    /// Counts one more.
    pub(super) fn one(&mut self, what: impl Into<Cow<'static, str>>) {
        self.add(1, what);
    }

    /// Counts `count` more; nothing is noted of none.
    pub(super) fn add(&mut self, count: u64, what: impl Into<Cow<'static, str>>) {
        let what = what.into();
        match self.counts.iter_mut().find(|(_, known)| *known == what) {
            Some((total, _)) => *total += count,
            None if count == 0 => {}
            None => self.counts.push((count, what)),
        }
    }

    /// How many there are of what; 0 when none was met.
    pub fn count(&self, what: &str) -> u64 {
        self.counts.iter().find(|(_, known)| known == what).map_or(0, |(count, _)| *count)
    }

    /// All counts.
    pub fn counts(&self) -> impl Iterator<Item = (u64, &str)> {
        self.counts.iter().map(|(count, what)| (*count, what.as_ref()))
    }
}

impl fmt::Display for ImportReport {
    /// One line a count, aligned.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let width = self.counts.iter().map(|(count, _)| count.to_string().len()).max().unwrap_or(0);
        self.counts.iter().try_for_each(|(count, what)| {
            writeln!(f, "{count:>width$} {}", printable(&agreeing(*count, what), 300))
        })
    }
}
