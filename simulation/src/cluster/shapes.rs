//! Numbers for shapes of tasks: what they need and which rules they meet.
//!
//! Where a rule counts tasks (`per_server`, `spread`), those that were submitted together are counted apart from all others and have a
//! number of their own, which others can have when all of them are done.

use fairplan_instances::trace::{RulesNumber, ShapeNumber};
use hashbrown::HashMap;

/// What tasks need, and the rules that they meet.
pub(super) type Key = (ShapeNumber, Option<RulesNumber>);

/// All numbers that were given.
#[derive(Default)]
pub(super) struct ShapeNumbers {
    given: u32,
    /// Of tasks that meet no rules, by the number of what they need.
    without_rules: Vec<Option<u32>>,
    /// Of tasks that meet rules and are not counted.
    shared: HashMap<Key, u32>,
    /// Of tasks that are counted: numbers that are free, and those in use with the tasks that are not done.
    vacant: HashMap<Key, Vec<u32>>,
    in_use: HashMap<u32, (Key, u32)>,
}

impl ShapeNumbers {
    /// The number of a shape, and whether it is a new one; `counted` says how many tasks are counted apart from others.
    pub fn find(&mut self, key: Key, counted: Option<u32>) -> (u32, bool) {
        let known = match (key.1, counted) {
            (_, Some(_)) => self.vacant.get_mut(&key).and_then(Vec::pop),
            (None, None) => self.without_rules.get(key.0.index()).copied().flatten(),
            (Some(_), None) => self.shared.get(&key).copied(),
        };
        let number = known.unwrap_or(self.given);
        self.given += u32::from(known.is_none());
        match (key.1, counted) {
            (_, Some(tasks)) => _ = self.in_use.insert(number, (key, tasks)),
            (None, None) => {
                let length = self.without_rules.len().max(key.0.index() + 1);
                self.without_rules.resize(length, None);
                self.without_rules[key.0.index()] = Some(number);
            }
            (Some(_), None) => _ = self.shared.insert(key, number),
        }
        (number, known.is_none())
    }

    /// A task of a shape is done, and will not run again.
    pub fn ended(&mut self, number: u32) {
        let Some((key, left)) = self.in_use.get_mut(&number) else { return };
        *left = left.saturating_sub(1);
        if *left == 0 {
            let key = *key;
            self.in_use.remove(&number);
            self.vacant.entry(key).or_default().push(number);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tasks_that_are_counted_have_numbers_of_their_own_until_all_are_done() {
        let mut numbers = ShapeNumbers::default();
        let (need, rules) = (ShapeNumber(4), Some(RulesNumber(1)));
        assert_eq!(numbers.find((need, None), None), (0, true));
        assert_eq!(numbers.find((need, None), None), (0, false));
        assert_eq!(numbers.find((need, rules), None), (1, true));
        assert_eq!(numbers.find((need, rules), None), (1, false));
        let counted = Some(RulesNumber(2));
        assert_eq!(numbers.find((need, counted), Some(2)), (2, true));
        assert_eq!(numbers.find((need, counted), Some(1)), (3, true));
        numbers.ended(2);
        assert_eq!(numbers.find((need, counted), Some(1)), (4, true));
        numbers.ended(2);
        assert_eq!(numbers.find((need, counted), Some(5)), (2, false));
        numbers.ended(0);
        assert_eq!(numbers.find((need, None), None), (0, false));
    }
}
