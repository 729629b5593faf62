//! Quotas while servers are filled: limits and reserves are kept, and who is below what it is guaranteed is served first.
//!
//! Servers are filled several times over. At first only users are served who are guaranteed something themselves, each as long as one
//! more task is within that; then also those within what their groups are guaranteed, from the innermost groups out, so that nobody's
//! siblings take what it is sure of; and at last everybody. Whole tasks may leave a part of a guarantee open that is less than one of
//! them.

use crate::packing::Packing;
use crate::told_apart::{is_sure, owners};
use fairplan_instances::{ClassId, Instance, KindId, Owner, QuotaAmount, ResourceId};

/// What is left of all limits and guarantees.
pub(crate) struct Accounts {
    rows: Vec<Account>,
    /// By shape: pieces of a shape are below the same rows.
    shapes: Vec<Below>,
    /// What rows had left before each piece of the task that is being placed, in this order.
    before: Vec<(usize, u128)>,
    /// How many groups those owners are in whose guarantees are still to come, rising: those of the last, and further inside, count now.
    still: Vec<usize>,
}

/// What is left of one amount, in whole units of its resource.
struct Account {
    resource: ResourceId,
    /// The classes that it is over; `None`: all.
    classes: Option<Vec<ClassId>>,
    left: u128,
    /// The most that one piece of any shape takes of it.
    largest: u128,
}

/// The rows that tasks of a shape count in, each with what one of them takes.
#[derive(Default)]
struct Below {
    limits: Vec<(usize, u128)>,
    /// Of each owner that is guaranteed something of what they need, with how far inside it is.
    guarantees: Vec<Sure>,
    /// How many of its rows had no room for a task when it was last asked, and where it may run since.
    exhausted: Option<usize>,
}

impl Below {
    /// All of them, limits first.
    fn rows(&self) -> impl Iterator<Item = (usize, u128)> + '_ {
        self.limits.iter().chain(self.guarantees.iter().flat_map(|sure| &sure.rows)).copied()
    }
}

/// What is guaranteed to one owner.
struct Sure {
    /// How many groups the owner is in; of a user more than of any group.
    inside: usize,
    rows: Vec<(usize, u128)>,
}

impl Account {
    fn of(instance: &Instance, amount: QuotaAmount<'_>) -> Self {
        Self {
            resource: amount.resource,
            classes: amount.classes.map(<[ClassId]>::to_vec),
            left: amount.amount.scaled(instance.unit_exponent(amount.resource)).unwrap_or(u128::MAX),
            largest: 0,
        }
    }

    fn covers(&self, class: usize) -> bool {
        self.classes.as_ref().is_none_or(|classes| classes.binary_search(&ClassId(class)).is_ok())
    }
}

/// How many groups an owner is in; a user is further inside than all groups.
fn inside(instance: &Instance, owner: Owner) -> usize {
    match owner {
        Owner::User(_) => usize::MAX,
        Owner::Group(group) => std::iter::successors(instance.groups()[group.0].parent, |above| {
            instance.groups()[above.0].parent
        })
        .count(),
    }
}

impl Accounts {
    /// What there is before anything is placed; `None` where there are no quotas.
    pub fn new(instance: &Instance, packing: &Packing) -> Option<Self> {
        if instance.quotas().is_empty() {
            return None;
        }
        let limit = |row: &fairplan_instances::LimitRow| Account {
            resource: row.resource,
            classes: row.classes.clone(),
            left: instance.limit_units(row),
            largest: 0,
        };
        let mut rows: Vec<Account> = instance.limit_rows().iter().map(limit).collect();
        let mut of_owner: std::collections::HashMap<Owner, std::ops::Range<usize>> = Default::default();
        for (owner, quota) in instance.quotas().iter().filter(|(_, quota)| quota.has_guarantee()) {
            let first = rows.len();
            rows.extend(quota.guaranteed().map(|amount| Account::of(instance, amount)));
            of_owner.insert(*owner, first..rows.len());
        }
        let mut shapes: Vec<Below> = packing.shapes.iter().map(|_| Below::default()).collect();
        let mut is_done = vec![false; shapes.len()];
        for kind in (0..instance.kind_count()).map(|k| instance.kind(KindId(k))) {
            let user = kind.user();
            let shape = packing.shape_of[kind.index().0] as usize;
            if std::mem::replace(&mut is_done[shape], true) {
                continue;
            }
            let taken = |row: usize| (row, kind.piece_units(rows[row].resource));
            let needed = |(_, units): &(usize, u128)| *units > 0;
            shapes[shape].limits =
                instance.limits_above(user).into_iter().map(taken).filter(needed).collect();
            let sure = owners(user).filter(|owner| is_sure(instance, user, *owner));
            let of = |owner: Owner| Sure {
                inside: inside(instance, owner),
                rows: of_owner.get(&owner).cloned().unwrap_or(0..0).map(taken).filter(needed).collect(),
            };
            shapes[shape].guarantees = sure.map(of).collect();
        }
        let mut still: Vec<usize> =
            shapes.iter().flat_map(|below| below.guarantees.iter().map(|sure| sure.inside)).collect();
        still.sort_unstable();
        still.dedup();
        for (row, units) in shapes.iter().flat_map(Below::rows) {
            rows[row].largest = rows[row].largest.max(units);
        }
        Some(Self { rows, shapes, before: Vec::new(), still })
    }

    /// A task begins, of one piece or more.
    pub fn begin(&mut self) {
        self.before.clear();
    }

    /// Gives back what all pieces have taken since then; shapes of the task must be asked anew.
    pub fn take_back(&mut self) {
        for (row, left) in self.before.drain(..).rev() {
            self.rows[row].left = left;
        }
    }

    /// Pieces of a shape are asked where they may run as if they had not been asked before.
    pub fn ask_anew(&mut self, shape: usize) {
        self.shapes[shape].exhausted = None;
    }

    /// Whether only those are served who are below what they are guaranteed.
    pub fn has_guarantees(&self) -> bool {
        !self.still.is_empty()
    }

    /// The guarantees of the owners further out count too, or none any more; everybody is asked anew.
    pub fn go_on(&mut self) {
        self.still.pop();
        for below in &mut self.shapes {
            below.exhausted = None;
            if self.still.is_empty() {
                below.guarantees.clear();
            }
        }
    }

    /// Whether tasks of a shape are guaranteed anything that counts now.
    pub fn is_sure(&self, shape: usize) -> bool {
        self.still
            .last()
            .is_some_and(|now| self.shapes[shape].guarantees.iter().any(|sure| sure.inside >= *now))
    }

    /// The classes of these on which one more task of a shape is within its limits, and, as long as guarantees count, within one of its
    /// guarantees; `None` where that is as it was when the shape was last asked.
    pub fn classes(&mut self, shape: usize, among: &[usize]) -> Option<Vec<usize>> {
        let Self { rows, shapes, still, .. } = self;
        let now = still.last().copied();
        let below = &mut shapes[shape];
        let has_room = |(row, units): &(usize, u128)| rows[*row].left >= *units;
        let exhausted = below.rows().filter(|one| !has_room(one)).count();
        if below.exhausted == Some(exhausted) {
            return None;
        }
        below.exhausted = Some(exhausted);
        let within = |list: &[(usize, u128)], class: usize| {
            list.iter().all(|one| has_room(one) || !rows[one.0].covers(class))
        };
        // Of what is guaranteed on some classes only nothing is on the others.
        let is_there = |list: &[(usize, u128)], class: usize| {
            let same = |one: usize, other: usize| rows[one].resource == rows[other].resource;
            let covered =
                |one: usize| list.iter().any(|(other, _)| same(one, *other) && rows[*other].covers(class));
            list.iter().all(|(one, _)| covered(*one))
        };
        let is_open = |class: usize| {
            let sure = |sure: &Sure| {
                now.is_some_and(|now| sure.inside >= now)
                    && is_there(&sure.rows, class)
                    && within(&sure.rows, class)
            };
            within(&below.limits, class) && (now.is_none() || below.guarantees.iter().any(sure))
        };
        Some(among.iter().copied().filter(|class| is_open(*class)).collect())
    }

    /// The rows that a task of a shape on a class counts in, each with what it takes.
    pub fn rows_of(&self, shape: usize, class: usize) -> impl Iterator<Item = (usize, u128)> + '_ {
        self.shapes[shape].rows().filter(move |(row, _)| self.rows[*row].covers(class))
    }

    /// What is left of a row.
    pub fn left(&self, row: usize) -> u128 {
        self.rows[row].left
    }

    /// The most that one task of anybody takes of a row.
    pub fn largest(&self, row: usize) -> u128 {
        self.rows[row].largest
    }

    /// Counts so many tasks of one piece at once.
    pub fn take_many(&mut self, shape: usize, class: usize, count: u64) {
        let Self { rows, shapes, .. } = self;
        for (row, units) in
            shapes[shape].rows().filter(|(row, _)| rows[*row].covers(class)).collect::<Vec<_>>()
        {
            let taken = units.saturating_mul(u128::from(count));
            rows[row].left = rows[row].left.saturating_sub(taken);
        }
    }

    /// Counts a piece.
    pub fn take(&mut self, shape: usize, class: usize) {
        let Self { rows, shapes, before, .. } = self;
        for (row, units) in shapes[shape].rows() {
            if rows[row].covers(class) {
                before.push((row, rows[row].left));
                rows[row].left = rows[row].left.saturating_sub(units);
            }
        }
    }
}
