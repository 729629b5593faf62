//! Tasks that are alike, and the users that they become.

use fairplan_instances::{Decimal, Gang, Violation};

/// Tasks that are alike.
pub(super) struct Tasks {
    pub(super) owner: String,
    pub(super) demand: Vec<Decimal>,
    pub(super) count: u64,
    /// Which condition they put on servers.
    pub(super) condition: usize,
    /// Where some of them run: which server, and how many of them.
    pub(super) on: Vec<(usize, u64)>,
    pub(super) rules: Rules,
}

/// The rules of tasks among themselves: tasks of different rules are of different users.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Rules {
    /// What tells these tasks from others of the same rules, such as `app=web`; empty where nothing needs to.
    pub(super) of: String,
    /// The most of them on one server.
    pub(super) per_server: Option<u64>,
    /// By how many they differ between two domains at most.
    pub(super) spread: Option<u64>,
    /// How many of them run at once or not at all.
    pub(super) gang: Option<Gang>,
    /// The set of unlike tasks that run at once or not at all, of which they are, such as `shop/train`; the other rules do not go with it.
    pub(super) set: Option<String>,
}

impl Rules {
    /// What is added to the name of their user.
    pub(super) fn name(&self) -> String {
        let gang = self.gang.map(|gang| format!("gang{}", gang.tasks));
        let parts = Some(self.of.clone()).filter(|of| !of.is_empty()).into_iter().chain(gang);
        parts.map(|part| format!("+{part}")).collect()
    }
}

/// Tasks that become one user.
pub(super) struct User<'a> {
    pub(super) owner: &'a str,
    pub(super) may_run: &'a [usize],
    pub(super) rules: &'a Rules,
    pub(super) tasks: Vec<&'a Tasks>,
    /// Where they are sets of unlike tasks: what each consists of; `tasks` has one set after the other, each in this order. A set is one
    /// task of the user.
    pub(super) pieces: Vec<Piece<'a>>,
}

/// Tasks of a set that are alike.
#[derive(PartialEq, Eq)]
pub(super) struct Piece<'a> {
    pub(super) demand: &'a [Decimal],
    pub(super) may_run: &'a [usize],
    /// How many of them are in one set.
    pub(super) each: u64,
}

impl<'a> Piece<'a> {
    /// Whether a task is one of these.
    pub(super) fn is_like(&self, demand: &[Decimal], may_run: &[usize]) -> bool {
        self.demand == demand && self.may_run == may_run
    }
}

impl User<'_> {
    /// How many there are of whole sets, or of tasks.
    pub(super) fn count(&self) -> u64 {
        let all = self.tasks.iter().fold(0u64, |sum, tasks| sum.saturating_add(tasks.count));
        all / self.size_of_set()
    }

    fn size_of_set(&self) -> u64 {
        self.pieces.iter().map(|piece| piece.each).sum::<u64>().max(1)
    }

    /// Which piece of its set the task is before which so many come.
    pub(super) fn piece_after(&self, before: u64) -> usize {
        let at = before % self.size_of_set();
        let ends = self.pieces.iter().scan(0, |end, piece| {
            *end += piece.each;
            Some(*end)
        });
        ends.take_while(|end| *end <= at).count()
    }

    /// Whether not all its tasks ask for the same.
    pub(super) fn asks_differently(&self) -> bool {
        self.tasks.windows(2).any(|pair| pair[0].demand != pair[1].demand)
    }

    /// The mean demand and how many tasks there are.
    pub(super) fn mean(&self, resources: &[String]) -> Result<(Vec<Decimal>, u64), Violation> {
        let count = self.tasks.iter().fold(0u64, |sum, tasks| sum.saturating_add(tasks.count));
        let mean = |r: usize| {
            let demands = || self.tasks.iter().map(|tasks| (tasks.demand[r], tasks.count));
            mean(demands, count).ok_or_else(|| {
                let place = format!("{}: {}", self.owner, resources[r]);
                Violation::new(
                    place,
                    "",
                    "the requests are too far apart to average exactly; choose --group shape",
                )
            })
        };
        Ok(((0..resources.len()).map(mean).collect::<Result<_, _>>()?, count))
    }
}

/// Significant digits of a mean that is not exact.
const DIGITS: u32 = 12;

/// The mean of amounts, each with how often it occurs, `count` in all: exact where they are all alike, else rounded
/// to [`DIGITS`] significant digits, halves up.
fn mean<I: Iterator<Item = (Decimal, u64)>>(amounts: impl Fn() -> I, count: u64) -> Option<Decimal> {
    let (first, _) = amounts().next()?;
    if amounts().all(|(amount, _)| amount == first) {
        return Some(first);
    }
    let unit = amounts().map(|(amount, _)| amount.exponent()).min()?;
    let sum = amounts().try_fold(0u128, |sum, (amount, times)| {
        sum.checked_add(amount.scaled(unit)?.checked_mul(u128::from(times))?)
    })?;
    let (mut sum, mut divisor, mut exponent) = (sum, u128::from(count), i32::from(unit));
    let (least, most) = (10u128.pow(DIGITS - 1), 10u128.pow(DIGITS));
    while sum / divisor >= most {
        divisor = divisor.checked_mul(10)?;
        exponent += 1;
    }
    while sum / divisor < least && !sum.is_multiple_of(divisor) {
        sum = sum.checked_mul(10)?;
        exponent -= 1;
    }
    let rounded = sum.checked_add(divisor / 2)? / divisor;
    Decimal::from_units(rounded, exponent).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mean_is_exact_or_has_twelve_digits() {
        let mean = |amounts: &[(&str, u64)]| {
            let count = amounts.iter().map(|(_, times)| times).sum();
            let text = super::mean(
                || amounts.iter().map(|(text, times)| (text.parse::<Decimal>().unwrap(), *times)),
                count,
            );
            text.unwrap().to_string()
        };
        assert_eq!(mean(&[("0.1", 1), ("0.2", 1)]), "0.15");
        assert_eq!(mean(&[("1", 1), ("0", 2)]), "0.333333333333");
        assert_eq!(mean(&[("2", 1), ("0", 2)]), "0.666666666667");
        assert_eq!(mean(&[("12345678901234567", 3)]), "12345678901234567");
        assert_eq!(mean(&[("12345678901234567", 1), ("12345678901234568", 1)]), "12345678901200000");
        assert_eq!(mean(&[("0.000000001", 1), ("0", 999_999)]), "1e-15");
    }
}
