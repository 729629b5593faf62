//! The instance in the solver's own terms, and the way back.
//!
//! Resources are measured in parts of the cluster's total, users by the direction of their demand, and classes
//! with proportional capacities become one: a mix of them is as good as any other of the same size. Undoing
//! this gives each class of a merged one its part by size, and each user its tasks from its share.

use crate::limits::Limits;
use crate::tolerance::level::OUT_OF_REACH;
use fairplan_instances::{ClassId, Instance, KindId, Objective, PlacementRule, ResourceId, RuleId, UserId};
use hashbrown::HashMap;
use rayon::prelude::*;

use crate::level::Rates;
use crate::sums::column;

/// Users handled together in one streaming step. Sums inside are sequential, so this bounds their rounding.
pub(crate) const CHUNK: usize = 1 << 14;

/// An instance, normalised. Users are listed rule by rule; `order` tells which is which.
pub(crate) struct Reduction {
    /// Resources of the instance.
    pub resources: usize,
    /// Merged classes, in the order of their first member.
    pub members: Vec<Vec<ClassId>>,
    /// Capacity of the merged classes in parts of the cluster's total, row-major `classes × resources`; after them the amounts of
    /// the limits, one each.
    pub capacities: Vec<f64>,
    /// For each class of the instance its part of the merged class (0 for classes without any capacity; without
    /// meaning where all servers are one).
    pub part_of_merged: Vec<f64>,
    /// Patterns of users: a placement rule with the resources that are needed. Users of a pattern are frozen together,
    /// except where they have task rows.
    pub patterns: Vec<Rates>,
    /// For each pattern whether its users have task rows: their tasks are limited and do different work on different
    /// classes.
    pub has_task_rows: Vec<bool>,
    /// For each kind the set of limits that its users are below.
    pub limits_of_pattern: Vec<u32>,
    pub users: Population,
}

/// The users, column by column, in the order `order`. Where users have kinds of tasks each kind is one of them here, a line of
/// its user's, all of which rise and are frozen together: so a level does not know the difference.
pub(crate) struct Population {
    /// Position in the instance of each user here (of each kind, where there are `lines`); `None` when that is the same.
    pub order: Option<Vec<u32>>,
    /// Whose kinds these are; `None` where everybody is one user.
    pub lines: Option<Lines>,
    /// `d_ir = D_ir / (δ_i Σ_l C_lr)`, one column a resource; the largest entry of a user is 1.
    pub directions: Vec<Vec<f64>>,
    /// Weights (of a kind its part of its user's), as the objective has them (see [`Objective::share_per_level`]); `None` when all are 1.
    pub weights: Option<Vec<f64>>,
    /// What each user's tasks are worth at rate 1, `δ_i T_i` (infinite when unlimited); `None` when no user is limited.
    pub tasks: Option<Vec<f64>>,
    /// Pattern of each user, or [`NO_PATTERN`] for one that can run nowhere.
    pub pattern: Vec<u32>,
    /// Ranges of users with the same placement rule, with the rates that rule gives on the merged classes
    /// (whatever the zero demands). They are below the same limits, too.
    pub by_rule: Vec<(std::ops::Range<usize>, Rates)>,
    /// For each of these ranges the set of limits.
    pub limits_of_rule: Vec<u32>,
    pub limits: Limits,
}

/// The pattern of users that can run on no class.
pub(crate) const NO_PATTERN: u32 = u32::MAX;

/// Which kinds belong to which user.
pub(crate) struct Lines {
    /// Position in the instance of the user of each kind here.
    user: Vec<u32>,
    /// The dominant share of a kind in parts of its user's.
    part: Vec<f64>,
    /// The kinds here of each user of the instance, those of user `i` from `starts[i]` on.
    starts: Vec<u32>,
    members: Vec<u32>,
}

impl Population {
    pub fn len(&self) -> usize {
        self.pattern.len()
    }

    pub fn weight(&self, user: usize) -> f64 {
        self.weights.as_ref().map_or(1.0, |weights| weights[user])
    }

    pub fn tasks(&self, user: usize) -> f64 {
        self.tasks.as_ref().map_or(f64::INFINITY, |tasks| tasks[user])
    }

    /// How many users there are, however many kinds they have.
    pub fn users(&self) -> usize {
        self.lines.as_ref().map_or(self.len(), |lines| lines.starts.len() - 1)
    }

    /// The user that this is, or whose kind it is: a number below [`Self::users`].
    pub fn user_of(&self, line: usize) -> usize {
        self.lines.as_ref().map_or(line, |lines| lines.user[line] as usize)
    }

    /// That user in the instance.
    pub fn user_id(&self, user: usize) -> UserId {
        UserId(if self.lines.is_some() { user } else { self.position(user) })
    }

    /// The dominant share of a kind in parts of its user's.
    pub fn part(&self, line: usize) -> f64 {
        self.lines.as_ref().map_or(1.0, |lines| lines.part[line])
    }

    /// The kinds of a user, by its number below [`Self::users`].
    pub fn lines_of(&self, user: usize) -> impl Iterator<Item = usize> + '_ {
        let (own, members) = match &self.lines {
            None => (Some(user), &[][..]),
            Some(Lines { starts, members, .. }) => {
                (None, &members[starts[user] as usize..starts[user + 1] as usize])
            }
        };
        own.into_iter().chain(members.iter().map(|line| *line as usize))
    }

    /// The dominant share of one task, as far as it is of this kind.
    pub fn task_share(&self, instance: &Instance, line: usize) -> f64 {
        match self.lines {
            None => instance.user(self.user_id(line)).task_share(),
            Some(_) => instance.kind(KindId(self.position(line))).task_share(),
        }
    }

    /// Something about every user, in the order of the instance: what `choose` takes of two of its kinds.
    pub fn by_user<T: Copy>(&self, here: Vec<T>, choose: impl Fn(T, T) -> T) -> Vec<T> {
        let Some(lines) = &self.lines else { return self.by_position(here) };
        let of_user = |lines: &[u32]| lines.iter().map(|line| here[*line as usize]).reduce(&choose);
        let ranges = lines.starts.windows(2).map(|pair| pair[0] as usize..pair[1] as usize);
        ranges.filter_map(|range| of_user(&lines.members[range])).collect()
    }

    /// What a unit of its user's dominant share costs for each kind here, given what one of its own does; all the user's kinds
    /// together.
    pub fn costs_of_users(&self, costs: &[f64]) -> Option<Vec<f64>> {
        let lines = self.lines.as_ref()?;
        let mut of_users = vec![0.0; lines.starts.len() - 1];
        for (line, cost) in costs.iter().enumerate() {
            of_users[lines.user[line] as usize] += cost * lines.part[line];
        }
        Some(lines.user.iter().map(|user| of_users[*user as usize]).collect())
    }

    /// Something about every user, in the order of the instance (about every kind, where there are `lines`).
    pub fn by_position<T: Copy>(&self, here: Vec<T>) -> Vec<T> {
        let Some(order) = &self.order else { return here };
        let mut there = here.clone();
        order.iter().zip(here).for_each(|(position, x)| there[*position as usize] = x);
        there
    }

    /// Position in the instance.
    pub fn position(&self, user: usize) -> usize {
        self.order.as_ref().map_or(user, |order| order[user] as usize)
    }

    /// Every so many-th user of each rule; positions are those here.
    fn sample(&self, stride: usize) -> Self {
        let taken: Vec<u32> = self
            .by_rule
            .iter()
            .flat_map(|(range, _)| range.clone().step_by(stride))
            .map(|i| i as u32)
            .collect();
        let pick = |column: &Vec<f64>| taken.iter().map(|i| column[*i as usize]).collect();
        let mut by_rule = Vec::new();
        let mut start = 0;
        for (range, rates) in &self.by_rule {
            let end = start + range.len().div_ceil(stride);
            by_rule.push((start..end, rates.clone()));
            start = end;
        }
        Self {
            directions: self.directions.iter().map(pick).collect(),
            weights: self.weights.as_ref().map(pick),
            tasks: self.tasks.as_ref().map(pick),
            pattern: taken.iter().map(|i| self.pattern[*i as usize]).collect(),
            // Only sums are sampled, and they have no lines.
            lines: None,
            by_rule,
            limits_of_rule: self.limits_of_rule.clone(),
            limits: self.limits.clone(),
            order: Some(taken),
        }
    }
}

impl Reduction {
    /// The instance as `objective` sees it: with its weighted shares, and all servers as one where it pools them.
    pub fn new(instance: &Instance, objective: Objective) -> Self {
        let m = instance.resources().len();
        let MergedClasses { members, mut capacities, part_of_merged } =
            MergedClasses::new(instance, objective.is_pooled());
        let (limits, amounts, limits_of_user) = Limits::of(instance, &members);
        capacities.extend(amounts);
        let measures: Vec<f64> = (0..m).map(|r| instance.measure(ResourceId(r))).collect();
        let rates_of_rule: Vec<Rates> = instance
            .rules()
            .iter()
            .map(|rule| {
                if objective.is_pooled() {
                    return vec![1.0];
                }
                let rate = |l: &ClassId| if rule.allows(*l) { rule.rate(*l).to_f64() } else { 0.0 };
                members.iter().map(|members| rate(&members[0])).collect()
            })
            .collect();
        let mut reduction = Self {
            resources: m,
            members,
            capacities,
            part_of_merged,
            patterns: Vec::new(),
            has_task_rows: Vec::new(),
            limits_of_pattern: Vec::new(),
            users: normalise_users(instance, objective, &measures, rates_of_rule, (limits, &limits_of_user)),
        };
        reduction.forget_limits_out_of_reach();
        reduction.tell_patterns_apart();
        reduction
    }

    pub fn classes(&self) -> usize {
        self.members.len()
    }

    /// The same with only every so many-th user, and as much less capacity.
    pub fn sample(&self, stride: usize) -> Self {
        let users = self.users.sample(stride);
        let part = users.len() as f64 / self.users.len() as f64;
        Self {
            resources: self.resources,
            members: self.members.clone(),
            capacities: self.capacities.iter().map(|capacity| capacity * part).collect(),
            part_of_merged: self.part_of_merged.clone(),
            patterns: self.patterns.clone(),
            has_task_rows: self.has_task_rows.clone(),
            limits_of_pattern: self.limits_of_pattern.clone(),
            users,
        }
    }

    /// Users with more tasks than could run if they had the cluster to themselves count as having any number: such a limit
    /// holds nobody back, and many orders above what runs it would drown every number next to it.
    fn forget_limits_out_of_reach(&mut self) {
        let (users, m, capacities) = (&mut self.users, self.resources, &self.capacities);
        let Population { directions, by_rule, lines, tasks: limits, .. } = users;
        let Some(tasks) = limits else { return };
        let mut rest = tasks.as_mut_slice();
        for (range, rates) in by_rule.iter() {
            let (here, later) = rest.split_at_mut(range.len());
            rest = later;
            // What a task that is worth one takes of a class is a direction; so that many fit there.
            let alone = |i: usize| -> f64 {
                let fit = |row: &[f64]| {
                    let parts = row.iter().zip(directions.iter()).filter(|(_, column)| column[i] > 0.0);
                    parts.map(|(capacity, column)| capacity / column[i]).fold(f64::INFINITY, f64::min)
                };
                let usable = capacities.chunks(m).zip(rates).filter(|(_, rate)| **rate > 0.0);
                usable.map(|(row, _)| fit(row)).sum()
            };
            here.par_iter_mut().enumerate().with_min_len(CHUNK).for_each(|(offset, tasks)| {
                if *tasks < f64::INFINITY && *tasks > alone(range.start + offset) * OUT_OF_REACH {
                    *tasks = f64::INFINITY;
                }
            });
        }
        if let Some(Lines { starts, members, .. }) = lines {
            // As few tasks as run of one kind run of all.
            for range in starts.windows(2).map(|pair| pair[0] as usize..pair[1] as usize) {
                let own = &members[range];
                if own.iter().any(|line| tasks[*line as usize] == f64::INFINITY) {
                    own.iter().for_each(|line| tasks[*line as usize] = f64::INFINITY);
                }
            }
        }
        if tasks.iter().all(|tasks| *tasks == f64::INFINITY) {
            *limits = None;
        }
    }

    /// Sets the pattern of every user.
    fn tell_patterns_apart(&mut self) {
        let (users, m) = (&mut self.users, self.resources);
        let mut known: HashMap<(usize, Vec<bool>, bool), u32> = HashMap::new();
        for (rule, (range, rates)) in users.by_rule.iter().enumerate() {
            let tasks = users.tasks.as_ref().filter(|_| differ(rates));
            let is_limited = |i: usize| tasks.is_some_and(|tasks| tasks[i] < f64::INFINITY);
            let mut pattern_of = |i: usize| {
                let pattern: Vec<bool> = users.directions.iter().map(|column| column[i] > 0.0).collect();
                let (patterns, has_task_rows) = (&mut self.patterns, &mut self.has_task_rows);
                let limits_of_pattern = &mut self.limits_of_pattern;
                *known.entry((rule, pattern, is_limited(i))).or_insert_with_key(|(_, pattern, is_limited)| {
                    let has_all =
                        |row: &[f64]| row.iter().zip(pattern).all(|(c, needed)| !needed || *c > 0.0);
                    let usable = |(row, rate): (&[f64], &f64)| if has_all(row) { *rate } else { 0.0 };
                    let usable: Rates = self.capacities.chunks(m).zip(rates).map(usable).collect();
                    if usable.iter().all(|rate| *rate == 0.0) {
                        return NO_PATTERN;
                    }
                    has_task_rows.push(*is_limited && differ(&usable));
                    limits_of_pattern.push(users.limits_of_rule[rule]);
                    patterns.push(usable);
                    (patterns.len() - 1) as u32
                })
            };
            let columns = || users.directions.iter().map(|column| &column[range.clone()]);
            let is_positive =
                |column: &[f64]| column.par_chunks(CHUNK).all(|part| part.iter().all(|d| *d > 0.0));
            if tasks.is_none() && columns().all(is_positive) {
                let pattern = pattern_of(range.start);
                users.pattern[range.clone()].par_chunks_mut(CHUNK).for_each(|part| part.fill(pattern));
            } else {
                for i in range.clone() {
                    // Neighbours are mostly alike: ask only when the pattern of zeros changes.
                    let alike = i > range.start
                        && is_limited(i) == is_limited(i - 1)
                        && users.directions.iter().all(|column| (column[i] > 0.0) == (column[i - 1] > 0.0));
                    users.pattern[i] = if alike { users.pattern[i - 1] } else { pattern_of(i) };
                }
            }
        }
    }
}

/// Whether two of the positive rates differ.
fn differ(rates: &Rates) -> bool {
    let mut positive = rates.iter().filter(|rate| **rate > 0.0);
    positive.next().is_some_and(|first| positive.any(|rate| rate != first))
}

/// The classes of an instance, those that are as good as one merged.
pub(crate) struct MergedClasses {
    /// The members of each, in the order of the first.
    pub members: Vec<Vec<ClassId>>,
    /// In parts of what a share of one is, row-major `classes × resources`.
    pub capacities: Vec<f64>,
    /// For each class of the instance its part of the merged one (0 for classes without any capacity; 1 where all servers
    /// are one).
    pub part_of_merged: Vec<f64>,
}

impl MergedClasses {
    /// Classes with proportional capacities that every placement rule treats alike become one; all do if `pooled`.
    pub fn new(instance: &Instance, pooled: bool) -> Self {
        let (m, classes) = (instance.resources().len(), instance.classes());
        let (members, part_of_merged) = if pooled {
            (vec![(0..classes.len()).map(ClassId).collect()], vec![1.0; classes.len()])
        } else {
            merge_proportional_classes(instance)
        };
        let mut capacities = vec![0.0; members.len() * m];
        for (row, members) in capacities.chunks_mut(m).zip(&members) {
            for (r, capacity) in row.iter_mut().enumerate() {
                let units =
                    |l: &ClassId| instance.capacity_units(*l, ResourceId(r)) * u128::from(classes[l.0].count);
                let units: u128 = members.iter().map(units).sum();
                if units > 0 {
                    *capacity = units as f64 / instance.measure_units(ResourceId(r)) as f64;
                }
            }
        }
        Self { members, capacities, part_of_merged }
    }
}

/// Groups the classes whose capacities are proportional and that every placement rule treats alike. Returns the
/// groups and each class's part of its group.
fn merge_proportional_classes(instance: &Instance) -> (Vec<Vec<ClassId>>, Vec<f64>) {
    let m = instance.resources().len();
    let mut of_shape: HashMap<Vec<u128>, Vec<usize>> = HashMap::new();
    let mut members: Vec<Vec<ClassId>> = Vec::new();
    for (l, class) in instance.classes().iter().enumerate() {
        let units: Vec<u128> = (0..m).map(|r| instance.capacity_units(ClassId(l), ResourceId(r))).collect();
        let divisor = units.iter().copied().fold(0, greatest_common_divisor);
        if divisor == 0 || class.count == 0 {
            continue;
        }
        let shape = units.iter().map(|units| units / divisor).collect();
        let groups = of_shape.entry(shape).or_default();
        let treatment = |rule: &PlacementRule, l: ClassId| (rule.allows(l), rule.rate(l));
        let limits = instance.limit_rows();
        // There may be as many rules as users; mostly the first tells two classes apart.
        let alike = |group: &&usize| {
            let first = members[**group][0];
            limits.iter().all(|limit| limit.covers(first) == limit.covers(ClassId(l)))
                && instance
                    .rules()
                    .iter()
                    .skip(1)
                    .all(|rule| treatment(rule, first) == treatment(rule, ClassId(l)))
        };
        match groups.iter().find(alike) {
            Some(group) => members[*group].push(ClassId(l)),
            None => {
                groups.push(members.len());
                members.push(vec![ClassId(l)]);
            }
        }
    }
    let mut part_of_merged = vec![0.0; instance.classes().len()];
    for group in &members {
        // Proportional capacities have the same zeros, so any resource they have measures their sizes.
        let r = (0..m).find(|&r| instance.capacity_units(group[0], ResourceId(r)) > 0).unwrap_or(0);
        let size = |l: &ClassId| {
            (instance.capacity_units(*l, ResourceId(r)) * u128::from(instance.classes()[l.0].count)) as f64
        };
        let total: f64 = group.iter().map(size).sum();
        group.iter().for_each(|l| part_of_merged[l.0] = size(l) / total);
    }
    (members, part_of_merged)
}

pub(crate) fn greatest_common_divisor(mut a: u128, mut b: u128) -> u128 {
    while b > 0 {
        (a, b) = (b, a % b);
    }
    a
}

fn normalise_users(
    instance: &Instance,
    objective: Objective,
    measures: &[f64],
    rates_of_rule: Vec<Rates>,
    (limits, limits_of_user): (Limits, &[u32]),
) -> Population {
    let has_lines = instance.has_kinds() && !objective.is_pooled();
    let m = instance.resources().len();
    let n = if has_lines { instance.kind_count() } else { instance.user_count() };
    let set_of = |i: &u32| limits_of_user.get(*i as usize).copied().unwrap_or(0);
    let (order, by_rule, limits_of_rule) = if rates_of_rule.len() == 1 && limits.is_empty() {
        (None, rates_of_rule.into_iter().map(|rates| (0..n, rates)).collect(), vec![0])
    } else {
        let rule = |i: &u32| {
            let RuleId(rule) = match has_lines {
                true => instance.kind(KindId(*i as usize)).rule_id(),
                false => instance.user(UserId(*i as usize)).rule_id(),
            };
            rule
        };
        let mut order: Vec<u32> = (0..n as u32).collect();
        let seen = |i: &u32| (rule(i), set_of(i));
        order.sort_by_key(seen);
        let (mut by_rule, mut limits_of_rule) = (Vec::new(), Vec::new());
        let mut start = 0;
        while start < n {
            let here = seen(&order[start]);
            let end = start + order[start..].partition_point(|i| seen(i) == here);
            by_rule.push((start..end, rates_of_rule[here.0].clone()));
            limits_of_rule.push(here.1);
            start = end;
        }
        (Some(order), by_rule, limits_of_rule)
    };
    let position = |i: usize| order.as_ref().map_or(i, |order| order[i] as usize);
    let lines = has_lines.then(|| Lines::new(instance, n, position));
    let view = |i: usize| match &lines {
        Some(lines) => instance.user(UserId(lines.user[i] as usize)),
        None => instance.user(UserId(position(i))),
    };
    let demand = |i: usize| match has_lines {
        true => instance.kind(KindId(position(i))).demand_doubles(),
        false => instance.user(UserId(position(i))).demand_doubles(),
    };
    let part = |i: usize| lines.as_ref().map_or(1.0, |lines| lines.part[i]);
    let inverse = |measure: &f64| if *measure > 0.0 { 1.0 / measure } else { 0.0 };
    let inverse: Vec<f64> = measures.iter().map(inverse).collect();
    let mut directions = vec![vec![0.0; n]; m];
    let mut columns: Vec<_> = directions.iter_mut().map(|column| column.chunks_mut(CHUNK)).collect();
    let mut pieces: Vec<(usize, Vec<&mut [f64]>)> = Vec::new();
    for start in (0..n).step_by(CHUNK) {
        pieces.push((start, columns.iter_mut().filter_map(Iterator::next).collect()));
    }
    pieces.into_par_iter().for_each(|(start, mut columns)| {
        let length = columns.first().map_or(0, |column| column.len());
        for i in 0..length {
            let demand = demand(start + i);
            let mut largest: f64 = 0.0;
            for r in 0..m {
                let part = demand[r] * inverse[r];
                columns[r][i] = part;
                largest = largest.max(part);
            }
            let scale = 1.0 / largest;
            columns.iter_mut().for_each(|column| column[i] *= scale);
        }
    });
    let weights = (objective == Objective::TaskShareFairness || instance.is_weighted() || has_lines)
        .then(|| (0..n).into_par_iter().map(|i| objective.share_per_level(view(i)) * part(i)).collect());
    let limit = |i: usize| view(i).tasks().map(|tasks| view(i).task_share() * part(i) * tasks as f64);
    let tasks =
        instance.has_task_limits().then(|| (0..n).map(|i| limit(i).unwrap_or(f64::INFINITY)).collect());
    let pattern = vec![NO_PATTERN; n];
    Population { order, directions, weights, tasks, pattern, by_rule, limits_of_rule, limits, lines }
}

impl Lines {
    /// The kinds of an instance in an order, in which this one is at `position`.
    fn new(instance: &Instance, kinds: usize, position: impl Fn(usize) -> usize + Sync) -> Self {
        let kind = |line: usize| instance.kind(KindId(position(line)));
        let user: Vec<u32> = column(kinds, |line| kind(line).user().index().0 as u32);
        let starts: Vec<u32> =
            instance.users().map(|user| user.kind_range().start as u32).chain([kinds as u32]).collect();
        let mut members = vec![0; kinds];
        (0..kinds).for_each(|line| members[position(line)] = line as u32);
        let of_users: Vec<f64> = column(starts.len() - 1, |i| instance.user(UserId(i)).task_share());
        let part = column(kinds, |line| kind(line).task_share() / of_users[user[line] as usize]);
        Self { user, part, starts, members }
    }
}
