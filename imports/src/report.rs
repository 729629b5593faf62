//! What an importer read and what it left out, as counts that people can check against their files.

use fairplan_instances::InstanceError;
use fairplan_instances::wording::{agreeing, printable, thousands};
use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt;

/// Why an importer made nothing.
#[derive(Debug, thiserror::Error)]
#[error("{error}")]
pub struct ImportFailure<R = ImportReport> {
    /// What went wrong.
    #[source]
    pub error: InstanceError,
    /// Where all files could be read, but make no instance: what was read and left out, which mostly says why. Else
    /// nothing.
    pub report: Box<R>,
}

/// At which point an import stopped.
pub(super) enum Stopped {
    /// A file cannot be read or is not of its format.
    Reading(InstanceError),
    /// What was read makes no instance.
    Building(InstanceError),
}

impl From<InstanceError> for Stopped {
    fn from(error: InstanceError) -> Self {
        Self::Reading(error)
    }
}

/// Does an import that counts as it goes.
pub(super) fn counted<T, R: Default>(
    import: impl FnOnce(&mut R) -> Result<T, Stopped>,
) -> Result<(T, R), ImportFailure<R>> {
    let mut report = R::default();
    match import(&mut report) {
        Ok(imported) => Ok((imported, report)),
        Err(Stopped::Reading(error)) => Err(ImportFailure { error, report: Box::default() }),
        Err(Stopped::Building(error)) => Err(ImportFailure { error, report: Box::new(report) }),
    }
}

/// Counts, each with what it counts, in the order in which the file gave reason for them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ImportReport {
    counts: Vec<(u64, Cow<'static, str>)>,
    /// Where each is.
    positions: HashMap<Cow<'static, str>, usize>,
    /// Names of the first that were counted, where that helps to find them.
    names: HashMap<Cow<'static, str>, Vec<String>>,
}

/// So many names are told of what is counted.
const NAMED: usize = 5;

/// A name as it is shown: of a long one its beginning and, since paths differ there, more of its end.
fn short(name: &str) -> String {
    const BEGINNING: usize = 20;
    const END: usize = 39;
    let letters: Vec<char> = name.chars().collect();
    if letters.len() <= BEGINNING + 1 + END {
        return printable(name, usize::MAX);
    }
    let cut = letters[..BEGINNING].iter().chain(&['…']).chain(&letters[letters.len() - END..]);
    printable(&cut.collect::<String>(), usize::MAX)
}

impl ImportReport {
    /// Counts one more.
    pub(super) fn one(&mut self, what: impl Into<Cow<'static, str>>) {
        self.add(1, what);
    }

    /// Counts `count` more; nothing is noted of none.
    pub(super) fn add(&mut self, count: u64, what: impl Into<Cow<'static, str>>) {
        let what = what.into();
        match self.positions.get(&what) {
            Some(known) => self.counts[*known].0 = self.counts[*known].0.saturating_add(count),
            None if count == 0 => {}
            None => {
                self.positions.insert(what.clone(), self.counts.len());
                self.counts.push((count, what));
            }
        }
    }

    /// Counts one more and says its name, of the first few.
    pub(super) fn named(&mut self, what: impl Into<Cow<'static, str>>, name: &str) {
        self.named_times(1, what, name);
    }

    /// Counts `count` more of one name; nothing is noted of none.
    pub(super) fn named_times(&mut self, count: u64, what: impl Into<Cow<'static, str>>, name: &str) {
        if count == 0 {
            return;
        }
        let what = what.into();
        self.note(what.clone(), name);
        self.add(count, what);
    }

    /// Remembers a name of what is counted.
    fn note(&mut self, what: Cow<'static, str>, name: &str) {
        let names = self.names.entry(what).or_default();
        if names.len() <= NAMED && !names.iter().any(|known| known == name) {
            names.push(name.to_owned());
        }
    }

    /// Counts all that another counted as well.
    pub(super) fn join(&mut self, Self { counts, mut names, .. }: Self) {
        for (count, what) in counts {
            for name in names.remove(&what).unwrap_or_default() {
                self.note(what.clone(), &name);
            }
            self.add(count, what);
        }
    }

    /// What is counted, with the names that were said.
    fn told(&self, count: u64, what: &str) -> String {
        let agreeing = agreeing(count, what);
        let text = match self.names.get(what) {
            None => agreeing,
            Some(names) => {
                let first = names.iter().take(NAMED).map(|name| short(name)).collect::<Vec<_>>().join(", ");
                let more = if names.len() > NAMED { ", …" } else { "" };
                format!("{agreeing}: {first}{more}")
            }
        };
        printable(&text, 400)
    }

    /// How many there are of what; 0 when none was met.
    pub fn count(&self, what: &str) -> u64 {
        self.positions.get(what).map_or(0, |known| self.counts[*known].0)
    }

    /// What is left out, a line each: importers say so in these words.
    pub fn left_out(&self) -> impl Iterator<Item = String> + '_ {
        let lines = self.counts.iter().filter(|(_, what)| what.contains("left out"));
        lines.map(|(count, what)| format!("{count} {}", self.told(*count, what)))
    }

    /// All counts.
    pub fn counts(&self) -> impl Iterator<Item = (u64, &str)> {
        self.counts.iter().map(|(count, what)| (*count, what.as_ref()))
    }
}

impl From<&Self> for ImportReport {
    fn from(report: &Self) -> Self {
        report.clone()
    }
}

impl fmt::Display for ImportReport {
    /// One line a count, aligned.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let width = self.counts.iter().map(|(count, _)| thousands(*count).len()).max().unwrap_or(0);
        self.counts.iter().try_for_each(|(count, what)| {
            writeln!(f, "{:>width$} {}", thousands(*count), self.told(*count, what))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_names_that_differ_at_their_ends_are_told_apart() {
        let above = "root.departments.engineering.platform.compute.batch.nightly";
        let mut report = ImportReport::default();
        for queue in ["a", "b"] {
            report.named("queues left out", &format!("{above}.{queue}"));
        }
        let told = report.to_string();
        assert_eq!(
            told,
            "2 queues left out: root.departments.eng…eering.platform.compute.batch.nightly.a, root.departments.eng…eering.platform.compute.batch.nightly.b\n"
        );
        let mut report = ImportReport::default();
        report.named("queues left out", &"n".repeat(60));
        assert_eq!(report.to_string(), format!("1 queue left out: {}\n", "n".repeat(60)));
    }
}
