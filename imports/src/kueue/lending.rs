//! What members of cohorts keep for themselves is out of reach of all others, however much more nodes have than the quotas.

use super::found::Found;
use super::objects::Amount;
use super::tree::Tree;
use fairplan_instances::quantity::Quantity;

/// A ClusterQueue or a cohort, by its position.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Member {
    Queue(usize),
    Cohort(usize),
}

/// A flavor and a resource.
type Key = (String, String);

impl Tree<'_> {
    /// The most that a member of a cohort may have of a resource at a place, of these flavors: all quotas of its pool but for what those do not
    /// lend that are beside it, or beside a cohort that it is in. `None` where all lend all they have, or where there is no more at the
    /// place than the quotas: there it is enough that what is kept is left.
    pub(super) fn within_reach(
        &self,
        member: Member,
        (place, r): (usize, usize),
        flavors: impl Iterator<Item = Key>,
    ) -> Option<Quantity> {
        if !self.places.shared[place][r] {
            return None;
        }
        let keys: Vec<Key> = flavors.collect();
        let (mut kept, mut below) = (Quantity::default(), member);
        while let Some(cohort) = self.above(below) {
            for other in self.inside(cohort).filter(|other| *other != below) {
                kept = keys.iter().map(|key| self.kept_by(other, key)).fold(kept, Quantity::plus);
            }
            below = Member::Cohort(cohort);
        }
        // Nearly nobody keeps anything: then all that quotas add up to is not asked for.
        let Member::Cohort(root) = below else { return None };
        (!kept.is_zero()).then(|| {
            let sums = self.sums(root);
            keys.iter()
                .filter_map(|key| sums.get(key))
                .copied()
                .fold(Quantity::default(), Quantity::plus)
                .minus(kept)
        })
    }

    /// What a member of a cohort, with all below it, does not lend.
    fn kept_by(&self, member: Member, key: &Key) -> Quantity {
        match member {
            Member::Queue(queue) => {
                let own = named(&self.found.queues[queue].amounts, key);
                own.and_then(Amount::kept).unwrap_or_default()
            }
            Member::Cohort(cohort) => {
                let inside = self.inside(cohort).map(|other| self.kept_by(other, key));
                let inside = inside.fold(Quantity::default(), Quantity::plus);
                let lent = named(&self.found.cohorts[cohort].amounts, key).and_then(|own| own.lending);
                let sum = || self.sums(cohort).get(key).copied().unwrap_or_default();
                lent.map_or(inside, |lent| inside.max(sum().minus(lent)))
            }
        }
    }

    /// What the members of a cohort do not lend and have no tasks for: it is nobody's, so the cohort is not sure of it.
    pub(super) fn left_idle_in(&self, cohort: usize, key: &Key) -> Quantity {
        self.inside(cohort)
            .map(|member| self.left_idle(member, key))
            .fold(Quantity::default(), Quantity::plus)
    }

    /// The same of a member, with all below it.
    fn left_idle(&self, member: Member, key: &Key) -> Quantity {
        let kept = self.kept_by(member, key);
        // Nearly nobody keeps anything: then tasks are not asked for.
        let asked = if kept.is_zero() { None } else { self.asked_by(member, &key.1) };
        let own = asked.map(|asked| kept.minus(asked)).unwrap_or_default();
        match member {
            Member::Cohort(cohort) if asked.is_some() => own.max(self.left_idle_in(cohort, key)),
            _ => own,
        }
    }

    /// What the tasks of a member, with all below it, ask for of a resource; `None` where tasks are not known.
    fn asked_by(&self, member: Member, resource: &str) -> Option<Quantity> {
        let Found { locals, workloads, states_workloads, .. } = self.found;
        let asks = |queue: usize| {
            let own = workloads.iter().filter(move |work| locals[work.local].of == queue);
            let asked = own.filter_map(|work| Some(work.requests.get(resource)?.repeated(work.count)));
            asked.fold(Quantity::default(), Quantity::plus)
        };
        states_workloads.then(|| match member {
            Member::Queue(queue) => asks(queue),
            Member::Cohort(cohort) => self
                .inside(cohort)
                .filter_map(|inside| self.asked_by(inside, resource))
                .fold(Quantity::default(), Quantity::plus),
        })
    }

    /// The cohort that a member is in.
    fn above(&self, member: Member) -> Option<usize> {
        match member {
            Member::Queue(queue) => self.found.queues[queue].cohort,
            Member::Cohort(cohort) => self.found.cohorts[cohort].parent,
        }
    }

    /// The members of a cohort.
    fn inside(&self, cohort: usize) -> impl Iterator<Item = Member> + '_ {
        let queues = (0..self.found.queues.len()).map(Member::Queue);
        let cohorts = (0..self.found.cohorts.len()).map(Member::Cohort);
        queues.chain(cohorts).filter(move |member| self.above(*member) == Some(cohort))
    }
}

fn named<'a>(amounts: &'a [Amount], key: &Key) -> Option<&'a Amount> {
    amounts.iter().find(|amount| amount.flavor == key.0 && amount.resource == key.1)
}
