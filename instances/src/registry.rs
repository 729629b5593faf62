//! What can be asked for by name: one list a kind, which look-ups, help and errors read.

use crate::wording::unknown;

/// Something that has a name.
#[derive(Clone, Copy, Debug)]
pub struct Entry<T> {
    /// How the command line and results spell it. What follows `=` stands for a number: `slots=N`.
    pub name: &'static str,
    /// What it does, in one line.
    pub line: &'static str,
    /// What it is, or what makes it.
    pub make: T,
}

/// Everything of one kind, in the order in which it is listed.
///
/// ```
/// use fairplan_instances::{Entry, Registry};
///
/// const SHAPES: Registry<u32> = Registry::new(
///     "shape",
///     &[
///         Entry { name: "round", line: "no corner", make: 0 },
///         Entry { name: "corners=N", line: "as many corners", make: 1 },
///     ],
/// );
/// assert_eq!(SHAPES.find("round").unwrap().0.make, 0);
/// assert_eq!(SHAPES.find("corners=5").unwrap().1, Some("5"));
/// assert_eq!(SHAPES.listed(), "round: no corner; corners=N: as many corners");
/// let told = SHAPES.find("rund").unwrap_err().to_string();
/// assert_eq!(told, "unknown shape rund (did you mean round?): use round, corners=N");
/// ```
#[derive(Debug)]
pub struct Registry<T: 'static> {
    kind: &'static str,
    entries: &'static [Entry<T>],
}

impl<T> Registry<T> {
    /// Things of a kind, as errors call it.
    pub const fn new(kind: &'static str, entries: &'static [Entry<T>]) -> Self {
        Self { kind, entries }
    }

    /// All of them.
    pub fn entries(&self) -> &'static [Entry<T>] {
        self.entries
    }

    /// Their names.
    pub fn names(&self) -> impl Iterator<Item = &'static str> + Clone + use<T> {
        self.entries.iter().map(|entry| entry.name)
    }

    /// Every name with its line, for help.
    pub fn listed(&self) -> String {
        let lines = self.entries.iter().map(|Entry { name, line, .. }| format!("{name}: {line}"));
        lines.collect::<Vec<_>>().join("; ")
    }

    /// What is called `name`, and what follows the `=`.
    pub fn find<'a>(&self, name: &'a str) -> Result<(&'static Entry<T>, Option<&'a str>), UnknownName> {
        let (stem, number) = name.split_once('=').map_or((name, None), |(stem, number)| (stem, Some(number)));
        let is_meant = |entry: &&Entry<T>| match entry.name.split_once('=') {
            Some((known, _)) => known == stem,
            None => entry.name == name,
        };
        let found = self.entries.iter().find(is_meant).map(|entry| (entry, number));
        found.ok_or_else(|| self.unknown(name))
    }

    /// What is said to a name that is none of these.
    pub fn unknown(&self, name: &str) -> UnknownName {
        UnknownName { kind: self.kind, name: name.into(), known: self.names().collect() }
    }
}

/// A name that nobody knows. Its text has the nearest that is known, and all.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}", unknown(.kind, .name, .known.iter().copied()))]
pub struct UnknownName {
    kind: &'static str,
    name: String,
    known: Vec<&'static str>,
}

impl UnknownName {
    /// The same where more names would do.
    pub fn among<T>(mut self, others: &Registry<T>) -> Self {
        self.known.extend(others.names());
        self
    }
}
