//! What a queue is given at several places, as amounts over the classes of these: flavors and labels may be of the same servers.

use super::amounts::added;
use fairplan_instances::{ClassAmounts, ClassId, Decimal, ResourceId, Violation};

/// Amounts of a resource at the places of a queue, which may share servers: several quotas on the same servers are one there.
pub(super) struct Spread<'a> {
    /// The queue.
    pub(super) name: &'a str,
    /// The resource.
    pub(super) resource: &'a str,
    /// Whether they are the most there may be: then a place without one has no bound.
    pub(super) is_cap: bool,
}

impl Spread<'_> {
    /// Notes them over sets of classes; tells whether places share any. Of those that do their sum is noted over all their classes, and
    /// the amount of each over those that no other has.
    pub(super) fn over(
        &self,
        sets: &[Vec<ClassId>],
        amounts: &[Option<Decimal>],
        resource: ResourceId,
        to: &mut Vec<ClassAmounts>,
    ) -> Result<bool, Violation> {
        let counts = |place: &usize| amounts[*place].is_some() || self.is_cap;
        let mut left: Vec<usize> = (0..sets.len()).filter(counts).collect();
        let mut shared = false;
        let mut note =
            |classes: Vec<ClassId>, amount: Decimal| match to.iter_mut().find(|over| over.classes == classes)
            {
                _ if classes.is_empty() => {}
                Some(over) => over.amounts.push((resource, amount)),
                None => to.push(ClassAmounts { classes, amounts: vec![(resource, amount)] }),
            };
        while !left.is_empty() {
            let mut together = vec![left.remove(0)];
            let meet = |one: usize, other: usize| sets[one].iter().any(|class| sets[other].contains(class));
            while let Some(at) = left.iter().position(|place| together.iter().any(|one| meet(*one, *place))) {
                together.push(left.remove(at));
            }
            if let [place] = together[..] {
                amounts[place].into_iter().for_each(|amount| note(sets[place].clone(), amount));
                continue;
            }
            shared |= together.iter().any(|place| amounts[*place].is_some());
            for place in &together {
                let others = || together.iter().filter(|other| *other != place);
                let is_own = |class: &&ClassId| !others().any(|other| sets[*other].contains(class));
                let own = sets[*place].iter().filter(is_own).copied().collect();
                if let Some(amount) = amounts[*place] {
                    note(own, amount);
                }
            }
            let here: Vec<Option<Decimal>> = together.iter().map(|place| amounts[*place]).collect();
            if here.iter().all(Option::is_some) || !self.is_cap {
                let mut all: Vec<ClassId> =
                    together.iter().flat_map(|place| sets[*place].iter().copied()).collect();
                all.sort();
                all.dedup();
                note(all, sum(self.name, self.resource, &here)?);
            }
        }
        Ok(shared)
    }
}

/// The sum of what is stated.
pub(super) fn sum(name: &str, resource: &str, amounts: &[Option<Decimal>]) -> Result<Decimal, Violation> {
    let sum = amounts.iter().flatten().copied().try_fold(Decimal::ZERO, added);
    let place = || format!("queue {name}: {resource}");
    sum.ok_or_else(|| Violation::new(place(), "", "has amounts too far apart to add up"))
}
