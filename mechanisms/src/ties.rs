//! Who comes first among equals.

use fairplan_instances::wording::choose;
use std::cmp::Ordering;
use std::str::FromStr;

/// The rule among users of equal standing, for one slice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Ties {
    /// The user that stands first in the input.
    #[default]
    Lowest,
    /// The user that stands last in the input.
    Highest,
    /// The user with the largest demand in this quantum, of these the first in the input.
    Demand,
}

impl Ties {
    /// Its name in settings.
    pub fn name(self) -> &'static str {
        match self {
            Self::Lowest => "lowest",
            Self::Highest => "highest",
            Self::Demand => "demand",
        }
    }

    /// `Less` when user `a` comes before user `b`.
    pub(crate) fn order(self, a: u32, b: u32, demands: &[u64]) -> Ordering {
        match self {
            Self::Lowest => a.cmp(&b),
            Self::Highest => b.cmp(&a),
            Self::Demand => demands[b as usize].cmp(&demands[a as usize]).then(a.cmp(&b)),
        }
    }

    /// Puts users who are in ascending order into the order of the rule.
    pub(crate) fn sort(self, users: &mut [u32], demands: &[u64]) {
        match self {
            Self::Lowest => {}
            Self::Highest => users.reverse(),
            Self::Demand => users.sort_unstable_by(|a, b| self.order(*a, *b, demands)),
        }
    }
}

impl FromStr for Ties {
    type Err = String;
    fn from_str(name: &str) -> Result<Self, String> {
        let all = [Self::Lowest, Self::Highest, Self::Demand];
        all.into_iter().find(|ties| ties.name() == name).ok_or_else(|| choose(name, &all.map(Self::name)))
    }
}
