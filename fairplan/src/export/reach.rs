//! What queues of Kueue may have of a quota, whatever they state: a borrowing limit above what is potentially available says nothing.
//!
//! Source: Kueue's cache of quotas (`resource_node.go`).

use fairplan_imports::{Deployed, DeployedQueue};
use std::collections::{BTreeMap, BTreeSet};

type Key = (String, String);

/// The two configurations with limits as they hold: where one of them states one both have it, each what is potentially available.
pub(super) fn as_they_hold([before, after]: [&Deployed; 2]) -> [Deployed; 2] {
    let limits = |found: &Deployed| {
        let of_queue = |(name, queue): (&String, &DeployedQueue)| {
            queue.limits.keys().map(|key| (name.clone(), key.clone())).collect::<Vec<_>>()
        };
        found.iter().flat_map(of_queue).collect::<BTreeSet<(String, Key)>>()
    };
    let stated: BTreeSet<(String, Key)> = limits(before).union(&limits(after)).cloned().collect();
    [before, after].map(|found| {
        let pools = Pools::of(found);
        let mut held = found.clone();
        for (name, key) in &stated {
            if let (Some(queue), Some(most)) = (held.get_mut(name), pools.most(name, key)) {
                queue.limits.insert(key.clone(), most);
            }
        }
        held
    })
}

/// Queues and cohorts with what is in which.
struct Pools<'a> {
    found: &'a Deployed,
    /// The names of what is in each cohort.
    inside: BTreeMap<String, Vec<&'a str>>,
}

impl<'a> Pools<'a> {
    fn of(found: &'a Deployed) -> Self {
        let mut inside: BTreeMap<String, Vec<&str>> = BTreeMap::new();
        for (name, queue) in found.iter().filter(|(_, queue)| !queue.parent.is_empty()) {
            inside.entry(format!("cohort {}", queue.parent)).or_default().push(name);
        }
        Self { found, inside }
    }

    /// What is potentially available to a queue or cohort that has a quota; nothing where the files put a cohort below itself.
    fn most(&self, name: &str, key: &Key) -> Option<f64> {
        let mut above = vec![name.to_owned()];
        while let Some(queue) = above.last().and_then(|last| self.found.get(last)) {
            if queue.parent.is_empty() {
                break;
            }
            let cohort = format!("cohort {}", queue.parent);
            if above.contains(&cohort) {
                return None;
            }
            above.push(cohort);
        }
        let mut most = f64::INFINITY;
        for (depth, name) in above.iter().rev().enumerate() {
            let subtree = self.subtree(name, key)?;
            let queue = self.found.get(name);
            let own = queue.and_then(|queue| queue.amounts.get(key)).copied().unwrap_or(0.0);
            let borrowing = queue.and_then(|queue| queue.limits.get(key)).map(|limit| limit - own);
            let kept =
                queue.and_then(|queue| queue.lends.get(key)).map_or(0.0, |lent| (subtree - lent).max(0.0));
            most = match depth {
                0 => subtree,
                _ => (most + kept).min(subtree + borrowing.unwrap_or(f64::INFINITY)),
            };
        }
        Some(most)
    }

    /// What a queue or cohort has itself and what those in it lend.
    fn subtree(&self, name: &str, key: &Key) -> Option<f64> {
        self.subtree_within(name, key, self.found.len())
    }

    fn subtree_within(&self, name: &str, key: &Key, depth: usize) -> Option<f64> {
        let depth = depth.checked_sub(1)?;
        let own = self.found.get(name).and_then(|queue| queue.amounts.get(key)).copied().unwrap_or(0.0);
        self.inside.get(name).into_iter().flatten().try_fold(own, |sum, inside| {
            let has = self.subtree_within(inside, key, depth)?;
            let lent = self.found.get(*inside).and_then(|queue| queue.lends.get(key));
            Some(sum + lent.map_or(has, |lent| has.min(*lent)))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A queue, or a cohort by `cohort NAME`: its name, where it is, its quota, what it may borrow and what it lends.
    type Stated<'a> = (&'a str, &'a str, f64, Option<f64>, Option<f64>);

    fn deployed(queues: &[Stated<'_>]) -> Deployed {
        let key = || ("f".to_owned(), "cpu".to_owned());
        let queue = |(name, parent, nominal, borrowing, lends): &Stated<'_>| {
            let queue = DeployedQueue {
                parent: (*parent).to_owned(),
                amounts: [(key(), *nominal)].into(),
                limits: borrowing.map(|borrowing| (key(), nominal + borrowing)).into_iter().collect(),
                lends: lends.map(|lends| (key(), lends)).into_iter().collect(),
                ..DeployedQueue::default()
            };
            ((*name).to_owned(), queue)
        };
        queues.iter().map(queue).collect()
    }

    fn most(found: &Deployed, name: &str) -> Option<f64> {
        found[name].limits.values().next().copied()
    }

    #[test]
    fn a_borrowing_limit_above_what_others_lend_is_what_they_lend() {
        let pool = |borrowing| {
            deployed(&[
                ("cohort p", "", 0.0, None, None),
                ("a", "p", 4.0, borrowing, None),
                ("b", "p", 20.0, None, Some(6.0)),
            ])
        };
        // Of twenty b lends six.
        let [before, after] = as_they_hold([&pool(Some(28.0)), &pool(None)]);
        assert_eq!([most(&before, "a"), most(&after, "a")], [Some(10.0); 2]);
        let [before, after] = as_they_hold([&pool(Some(28.0)), &pool(Some(3.0))]);
        assert_eq!([most(&before, "a"), most(&after, "a")], [Some(10.0), Some(7.0)]);
        // What neither states is not told.
        assert_eq!(most(&before, "b"), None);
    }

    #[test]
    fn what_a_cohort_borrows_holds_those_in_it_but_for_what_they_keep() {
        let nested = deployed(&[
            ("cohort p", "", 10.0, None, None),
            ("cohort q", "p", 5.0, Some(2.0), None),
            ("a", "q", 4.0, Some(90.0), None),
            ("b", "q", 6.0, Some(90.0), Some(1.0)),
        ]);
        let [found, _] = as_they_hold([&nested, &nested]);
        assert_eq!(
            [most(&found, "cohort q"), most(&found, "a"), most(&found, "b")],
            [Some(12.0), Some(12.0), Some(17.0)]
        );
    }

    #[test]
    fn cohorts_below_themselves_keep_what_they_state() {
        let circle = deployed(&[
            ("cohort p", "q", 1.0, None, None),
            ("cohort q", "p", 1.0, None, None),
            ("a", "p", 1.0, Some(1.0), None),
        ]);
        let [found, _] = as_they_hold([&circle, &circle]);
        assert_eq!(most(&found, "a"), Some(2.0));
    }
}
