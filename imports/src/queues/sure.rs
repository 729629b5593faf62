//! What queues are sure of: amounts hold so many tasks, and none that needs something of which they have 0.

use super::{Part, Queue, Tree, User};
use crate::report::ImportReport;
use fairplan_instances::Decimal;

/// Tasks of a user, with the parts of their queue that they may run at.
struct Tasks<'a> {
    at: Vec<&'a Part>,
    demand: &'a [Decimal],
}

impl Tasks<'_> {
    /// Whether what a queue is given at a place counts for them.
    fn count_at(&self, place: usize) -> bool {
        self.at.iter().any(|part| part.place == place || part.within.contains(&place))
    }
}

impl<'q> Tree<'q> {
    /// The queues, each without those of its guarantees of which every task below it that asks for them needs something else too, of
    /// which the queue is given 0.
    pub(super) fn sure_of_tasks(&self, users: &[Vec<User>], report: &mut ImportReport) -> Vec<Queue> {
        let mut queues = self.queues.to_vec();
        for (queue, tasks) in queues.iter_mut().zip(self.tasks_below(users)) {
            let sure =
                (0..queue.parts.len()).map(|part| sure_of(&queue.parts, part, &tasks)).collect::<Vec<_>>();
            for (part, sure) in queue.parts.iter_mut().zip(sure) {
                for (r, amount) in part.guarantee.iter_mut().enumerate().filter(|(r, _)| !sure[*r]) {
                    report.named(
                        "guarantees left out: their queue is given 0 of something that its tasks need beside",
                        &format!("{} ({})", queue.name, self.resources[r]),
                    );
                    *amount = None;
                }
            }
        }
        queues
    }

    /// The tasks at or below each queue that is given 0 of something; nothing of other queues.
    fn tasks_below<'u>(&self, users: &'u [Vec<User>]) -> Vec<Vec<Tasks<'u>>>
    where
        'q: 'u,
    {
        let is_zero = |amount: &Decimal| amount.is_zero();
        let is_given_none =
            |queue: &Queue| queue.parts.iter().flat_map(|part| part.guarantee.iter().flatten()).any(is_zero);
        let asked: Vec<bool> = self.queues.iter().map(is_given_none).collect();
        let mut below: Vec<Vec<Tasks<'u>>> = self.queues.iter().map(|_| Vec::new()).collect();
        for (leaf, users) in users.iter().enumerate() {
            let mut at = Some(leaf);
            while let Some(queue) = at {
                if asked[queue] {
                    let parts: &'q [Part] = &self.queues[leaf].parts;
                    let at = |user: &'u User| user.parts.iter().map(|part| &parts[*part]).collect();
                    below[queue]
                        .extend(users.iter().map(|user| Tasks { at: at(user), demand: &user.demand }));
                }
                at = self.queues[queue].parent;
            }
        }
        below
    }
}

/// Of each resource whether what one of these parts is guaranteed holds a task there that asks for it, if there are such tasks.
fn sure_of(parts: &[Part], here: usize, tasks: &[Tasks<'_>]) -> Vec<bool> {
    let stated = |part: &Part, r: usize| part.guarantee.get(r).copied().flatten();
    // What one place says nothing of is given at others.
    let is_none = |r: usize| match stated(&parts[here], r) {
        Some(amount) => amount.is_zero(),
        None => {
            let mut elsewhere = parts.iter().filter_map(|part| stated(part, r)).peekable();
            elsewhere.peek().is_some() && elsewhere.all(|amount| amount.is_zero())
        }
    };
    let resources = parts[here].guarantee.len();
    let none_of: Vec<usize> = (0..resources).filter(|r| is_none(*r)).collect();
    let holds = |demand: &[Decimal]| none_of.iter().all(|none| demand[*none].is_zero());
    let is_sure = |r: usize| {
        let mut asking = tasks
            .iter()
            .filter(|tasks| tasks.count_at(parts[here].place))
            .map(|tasks| tasks.demand)
            .filter(|demand| !demand[r].is_zero())
            .peekable();
        none_of.contains(&r) || asking.peek().is_none() || asking.any(holds)
    };
    (0..resources).map(|r| stated(&parts[here], r).is_none() || is_sure(r)).collect()
}
