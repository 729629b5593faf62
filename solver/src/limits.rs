//! Limits of users and groups as rows of the problem: what the users below one take of a resource, on the classes that it covers.
//!
//! Limits over all classes are none of these in a max-min, where what they count follows from shares alone (`tree/told_limits.rs`).
//!
//! A limit is a capacity row of its own. Wherever capacities and prices of classes stand (`classes × resources`), those of the limits
//! follow, one number a limit: worth is a plain product, and a price is dual to a row of either kind. Users below the same limits
//! see the same prices on a class, those of the class and of the limits that cover it.

use fairplan_instances::{ClassId, Instance, Owner, PlacementRule, ResourceId, UserId};
use hashbrown::{HashMap, HashSet};
use std::borrow::Cow;

/// The limits of an instance over its merged classes; none is the usual case.
#[derive(Clone, Default)]
pub(crate) struct Limits {
    resources: usize,
    classes: usize,
    /// How many limits the instance states, those that are told from shares among them.
    stated: usize,
    rows: Vec<LimitRow>,
    /// Sets of limits that some user is below, as positions among the rows; the first is empty.
    sets: Vec<Vec<usize>>,
}

#[derive(Clone)]
struct LimitRow {
    /// Its position among the limits of the instance.
    stated: usize,
    resource: usize,
    /// Of each merged class whether the limit covers it.
    covers: Vec<bool>,
}

impl Limits {
    /// The limits, their amounts in parts of what a share of one is, and the set of each user (empty without limits); `every` one, or
    /// only those that are not told from shares.
    pub fn of(instance: &Instance, members: &[Vec<ClassId>], every: bool) -> (Self, Vec<f64>, Vec<u32>) {
        let all = instance.limit_rows();
        let is_row = |row: &fairplan_instances::LimitRow| every || !is_told_from_shares(instance, row);
        let (positions, stated): (Vec<usize>, Vec<&fairplan_instances::LimitRow>) =
            all.iter().enumerate().filter(|(_, row)| is_row(row)).unzip();
        let covers = |row: &fairplan_instances::LimitRow| {
            members.iter().map(|members| members.first().is_some_and(|class| row.covers(*class))).collect()
        };
        let mut limits = Self {
            resources: instance.resources().len(),
            classes: members.len(),
            stated: all.len(),
            rows: (positions.into_iter().zip(&stated))
                .map(|(stated, row)| LimitRow { stated, resource: row.resource.0, covers: covers(row) })
                .collect(),
            sets: vec![Vec::new()],
        };
        if stated.is_empty() {
            return (limits, Vec::new(), Vec::new());
        }
        let amount = |row: &fairplan_instances::LimitRow| match instance.measure_units(row.resource) {
            // Nobody has any of it, and nobody asks for any.
            0 => 0.0,
            measure => instance.limit_units(row) as f64 / measure as f64,
        };
        let amounts: Vec<f64> = stated.iter().map(|row| amount(row)).collect();
        let says_nothing = limits.told_by_others(&stated, &amounts);
        let mut known: HashMap<Vec<usize>, u32> = HashMap::new();
        known.insert(Vec::new(), 0);
        let set_of = |i: usize| {
            let above = instance.limits_above(instance.user(UserId(i)));
            let row = |j: usize| limits.rows.binary_search_by_key(&j, |row| row.stated).ok();
            let above: Vec<usize> = above.into_iter().filter_map(row).filter(|j| !says_nothing[*j]).collect();
            *known.entry(above).or_insert_with_key(|above| {
                limits.sets.push(above.clone());
                limits.sets.len() as u32 - 1
            })
        };
        let set_of: Vec<u32> = (0..instance.user_count()).map(set_of).collect();
        (limits, amounts, set_of)
    }

    /// Of each row whether another of the same owner, resource and classes leaves no more: two rows over the same would share a
    /// price in any parts, and rows that hang on each other cost an interior point its digits.
    fn told_by_others(&self, stated: &[&fairplan_instances::LimitRow], amounts: &[f64]) -> Vec<bool> {
        let over_the_same = |j: usize, k: usize| {
            (stated[j].is_reserve(), stated[j].within) == (stated[k].is_reserve(), stated[k].within)
                && stated[j].resource == stated[k].resource
                && self.rows[j].covers == self.rows[k].covers
        };
        let mut told = vec![false; stated.len()];
        let mut first = 0;
        for of_owner in stated.chunk_by(|one, next| one.owner == next.owner) {
            let rows = first..first + of_owner.len();
            first = rows.end;
            for j in rows.clone() {
                let is_less = |k: usize| amounts[k] < amounts[j] || amounts[k] == amounts[j] && k < j;
                told[j] = rows.clone().any(|k| k != j && over_the_same(j, k) && is_less(k));
            }
        }
        // Reserves that are kept together are one row, whoever's it is.
        let mut together = HashSet::new();
        for (j, row) in stated.iter().enumerate().filter(|(_, row)| row.beside.contains(&row.owner)) {
            told[j] |= !together.insert((&row.beside, row.within, row.resource, &self.rows[j].covers));
        }
        told
    }

    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// How many limits there are.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Where the rows of the limits begin: after those of the classes.
    pub fn first_row(&self) -> usize {
        self.classes * self.resources
    }

    /// The limits of a set, each as its row, its resource and whether it covers each class.
    pub fn of_set(&self, set: u32) -> impl Iterator<Item = (usize, usize, &[bool])> {
        let first = self.first_row();
        let limits = self.sets.get(set as usize).into_iter().flatten();
        limits.map(move |j| (first + j, self.rows[*j].resource, self.rows[*j].covers.as_slice()))
    }

    /// The rows of the limits of a set that cover a class, each with its resource.
    pub fn covering(&self, set: u32, class: usize) -> impl Iterator<Item = (usize, usize)> {
        self.of_set(set).filter(move |(.., covers)| covers[class]).map(|(row, resource, _)| (row, resource))
    }

    /// Whether every limit covers both of two classes, or none of them.
    pub fn treat_alike(&self, one: usize, other: usize) -> bool {
        self.rows.iter().all(|row| row.covers[one] == row.covers[other])
    }

    /// The prices of the classes as users of a set see them, with those of the limits that they are below.
    pub fn seen<'p>(&self, set: u32, prices: &'p [f64]) -> Cow<'p, [f64]> {
        if self.is_empty() {
            return Cow::Borrowed(prices);
        }
        let mut seen = prices[..self.first_row()].to_vec();
        for (row, resource, covers) in self.of_set(set) {
            for class in (0..self.classes).filter(|class| covers[*class]) {
                seen[class * self.resources + resource] += prices[row];
            }
        }
        Cow::Owned(seen)
    }

    /// Prices of all limits of the instance in its units, `scale` times those of the rows.
    pub fn prices(&self, instance: &Instance, prices: &[f64], scale: f64) -> Vec<f64> {
        let mut all = vec![0.0; self.stated];
        for (row, price) in self.rows.iter().zip(prices.get(self.first_row()..).unwrap_or_default()) {
            let measure = instance.measure(ResourceId(row.resource));
            all[row.stated] = if *price > 0.0 { scale * price / measure } else { 0.0 };
        }
        all
    }
}

/// Whether what counts in a limit follows from the users' shares, wherever they run: over all classes, of users whose tasks do the same
/// work everywhere.
pub(crate) fn is_told_from_shares(instance: &Instance, row: &fairplan_instances::LimitRow) -> bool {
    let is_steady = |rule: &PlacementRule| rule.rates().is_empty();
    let are_steady = || match row.owner {
        Owner::User(user) if !row.is_reserve() => is_steady(instance.user(user).rule()),
        _ => instance.rules().iter().all(is_steady),
    };
    (0..instance.classes().len()).all(|class| row.covers(ClassId(class))) && are_steady()
}

/// The limits as the groups of a level problem meet them: users of a pattern are below the same ones.
#[derive(Clone, Copy)]
pub(crate) struct LimitsOfPatterns<'a> {
    pub limits: &'a Limits,
    pub set_of_pattern: &'a [u32],
}

impl<'a> LimitsOfPatterns<'a> {
    /// As [`Limits::of_set`].
    pub fn of_pattern(self, pattern: u32) -> impl Iterator<Item = (usize, usize, &'a [bool])> {
        self.limits.of_set(self.set_of_pattern[pattern as usize])
    }

    /// As [`Limits::covering`].
    pub fn covering(self, pattern: u32, class: usize) -> impl Iterator<Item = (usize, usize)> + 'a {
        self.limits.covering(self.set_of_pattern[pattern as usize], class)
    }
}
