//! Progressive filling, the loop that all policies share.

use crate::at_once::{Filling, SINGLY};
use crate::journal::Journal;
use crate::packing::Packing;
use crate::quotas::Accounts;
use crate::rule::Rule;
use crate::shares::Shares;
use crate::{PlacementError, Turn};
use fairplan_instances::{ClassId, Deadline, Instance, Placement, User};
use std::collections::BTreeMap;

/// Tasks placed between two looks at the clock.
const BETWEEN_STOPS: usize = 1 << 14;

/// Serves users in this order, one task at a time, until nobody is left: at first who is below what it is guaranteed, then all.
pub(crate) fn fill(
    instance: &Instance,
    packing: &Packing,
    mut rule: impl Rule,
    turn: Turn,
    deadline: &Deadline,
) -> Result<Placement, PlacementError> {
    let mut accounts = Accounts::new(instance, packing);
    let mut filling = Filling {
        packing,
        shares: Shares::new(instance, turn)?,
        tasks: vec![0u64; instance.user_count()],
        limits: instance.users().map(most_tasks).collect(),
        gangs: instance
            .users()
            .map(|user| user.gang())
            .filter(|_| instance.has_rules_between_servers())
            .collect(),
        turned_down: vec![false; packing.shapes.len()],
        journal: Journal::new(packing.servers()),
    };
    let mut placed = PlacedOn::new();
    while let Some(accounts) = accounts.as_mut().filter(|accounts| accounts.has_guarantees()) {
        for (user, shape) in packing.shape_of.iter().enumerate() {
            if !accounts.is_sure(*shape as usize) {
                filling.shares.leave(user);
            }
        }
        for (place, count) in filling.serve(&mut rule, Some(&mut *accounts), deadline)? {
            *placed.entry(place).or_default() += count;
        }
        // Where there was no room beside other guarantees there may be some.
        accounts.go_on();
        filling.turned_down.fill(false);
        filling.shares = Shares::new(instance, turn)?;
        for ((user, class), count) in &placed {
            filling.shares.add_tasks(*user, *count, || *class);
        }
    }
    filling.serve(&mut rule, accounts.as_mut(), deadline)?;
    Ok(Placement { tasks: filling.tasks, servers: filling.journal.finish() })
}

/// The most tasks of a user that can run: whole gangs.
fn most_tasks(user: User<'_>) -> Option<u64> {
    user.tasks().map(|tasks| user.gang().map_or(tasks, |gang| tasks - tasks % gang.tasks))
}

/// How many tasks of whom were placed on the servers of which class.
type PlacedOn = BTreeMap<(usize, ClassId), u64>;

impl Filling<'_> {
    /// Serves users until nobody is left; where there are accounts it tells what was placed.
    fn serve(
        &mut self,
        rule: &mut impl Rule,
        mut accounts: Option<&mut Accounts>,
        deadline: &Deadline,
    ) -> Result<PlacedOn, PlacementError> {
        let (packing, users) = (self.packing, self.tasks.len());
        let (mut since_stop, mut singly) = (0, 0);
        let (mut placed, mut on) = (PlacedOn::new(), Vec::new());
        while let Some(user) = self.shares.lowest() {
            since_stop += 1;
            if since_stop >= BETWEEN_STOPS {
                since_stop = 0;
                if deadline.is_over() {
                    let placed = self.tasks.iter().sum();
                    return Err(PlacementError::OutOfTime { placed });
                }
            }
            singly += 1;
            if singly > SINGLY * users && accounts.is_none() {
                singly = 0;
                self.advance(rule);
                continue;
            }
            let shape = packing.shape_of[user] as usize;
            let may_have_more = self.may_have_more(user);
            if let (Some(accounts), true) = (&mut accounts, may_have_more)
                && let Some(classes) = accounts.classes(shape, &packing.shapes[shape].classes)
            {
                rule.allow(packing, shape, &classes);
            }
            on.clear();
            match self.gangs.get(user).copied().flatten() {
                _ if !may_have_more => {}
                None => on.extend(rule.take(shape)),
                Some(gang) => rule.take_gang(shape, gang, &mut on),
            }
            for &server in &on {
                self.tasks[user] += 1;
                self.journal.add(server as u32, user as u32);
                self.shares.add_tasks(user, 1, || packing.class_of(server));
                if let Some(accounts) = &mut accounts {
                    let class = packing.class_of(server);
                    accounts.take(shape, class.0);
                    *placed.entry((user, class)).or_default() += 1;
                }
            }
            since_stop += on.len().saturating_sub(1);
            if on.is_empty() {
                self.turned_down[shape] |= may_have_more;
                self.shares.leave(user);
            }
        }
        Ok(placed)
    }
}
