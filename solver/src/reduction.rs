//! The instance in the solver's own terms, and the way back.
//!
//! Resources are measured in parts of the cluster's total, users by the direction of their demand, and classes
//! with proportional capacities become one: a mix of them is as good as any other of the same size. Undoing
//! this gives each class of a merged one its part by size, and each user its tasks from its share.

use crate::limits::Limits;
use crate::sums::column;
use crate::tolerance::level::OUT_OF_REACH;
use fairplan_instances::{ClassId, Instance, KindId, Objective, ResourceId, RuleId, UserId};
use hashbrown::HashMap;
use rayon::prelude::*;

use crate::level::Rates;
use crate::merged_classes::MergedClasses;
use crate::pools::Pools;
use crate::population::{CHUNK, Lines, NO_PATTERN, Population};

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

impl Reduction {
    /// The instance as `objective` sees it: with its weighted shares, and all servers as one where it pools them.
    pub fn new(instance: &Instance, objective: Objective) -> Self {
        let m = instance.resources().len();
        let MergedClasses { members, mut capacities, part_of_merged } =
            MergedClasses::new(instance, objective.is_pooled());
        let (limits, amounts, limits_of_user) = Limits::of(instance, &members, objective.alpha().is_some());
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

    /// Only these users, which have no kinds, in rising order, and what is left of the capacities.
    pub fn part(&self, users: Vec<u32>, left: &[f64]) -> Self {
        let mut part = Self {
            resources: self.resources,
            members: self.members.clone(),
            capacities: left.to_vec(),
            part_of_merged: self.part_of_merged.clone(),
            patterns: Vec::new(),
            has_task_rows: Vec::new(),
            limits_of_pattern: Vec::new(),
            users: self.users.of_those(users),
        };
        part.tell_patterns_apart();
        part
    }

    /// The same with all kinds of a user as one demand, in which they are as they are in its task. `None` where there are no kinds, or where
    /// not all have the same placement rule and any number of tasks, without limits.
    pub fn of_whole_users(&self) -> Option<Self> {
        let all = &self.users;
        let (Some(lines), [(_, rates)], None, true) =
            (&all.lines, all.by_rule.as_slice(), &all.tasks, all.limits.is_empty())
        else {
            return None;
        };
        let n = all.users();
        let of_user = |direction: &Vec<f64>, i: usize| -> f64 {
            all.lines_of(i).map(|line| lines.part[line] * direction[line]).sum()
        };
        let mut whole = Self {
            resources: self.resources,
            members: self.members.clone(),
            capacities: self.capacities.clone(),
            part_of_merged: self.part_of_merged.clone(),
            patterns: Vec::new(),
            has_task_rows: Vec::new(),
            limits_of_pattern: Vec::new(),
            users: Population {
                order: None,
                lines: None,
                directions: all
                    .directions
                    .iter()
                    .map(|column| self::column(n, |i| of_user(column, i)))
                    .collect(),
                weights: Some(column(n, |i| all.weight_of_user(i))),
                tasks: None,
                pattern: vec![NO_PATTERN; n],
                by_rule: vec![(0..n, rates.clone())],
                limits_of_rule: all.limits_of_rule.clone(),
                limits: all.limits.clone(),
            },
        };
        whole.tell_patterns_apart();
        Some(whole)
    }

    /// The same with the classes of each pool as one: of its users nothing is known but where they can run and their directions.
    pub fn pooled(&self, pools: &Pools) -> Self {
        let (m, firsts) = (self.resources, || pools.members.iter().map(|members| members[0]));
        let mut capacities = vec![0.0; pools.members.len() * m];
        for (row, pool) in self.capacities.chunks(m).zip(&pools.of_class) {
            capacities[pool * m..(pool + 1) * m].iter_mut().zip(row).for_each(|(sum, c)| *sum += c);
        }
        let of_pools = |rates: &Rates| -> Rates { firsts().map(|l| rates[l]).collect() };
        let Population { directions, pattern, by_rule, limits_of_rule, limits, .. } = &self.users;
        Self {
            resources: m,
            members: vec![Vec::new(); pools.members.len()],
            capacities,
            part_of_merged: Vec::new(),
            patterns: self.patterns.iter().map(of_pools).collect(),
            has_task_rows: self.has_task_rows.clone(),
            limits_of_pattern: self.limits_of_pattern.clone(),
            users: Population {
                order: None,
                lines: None,
                directions: directions.clone(),
                weights: None,
                tasks: None,
                pattern: pattern.clone(),
                by_rule: by_rule.iter().map(|(range, rates)| (range.clone(), of_pools(rates))).collect(),
                limits_of_rule: limits_of_rule.clone(),
                limits: limits.clone(),
            },
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
    let user_of = |i: usize| if has_lines { instance.kind(KindId(i)).user().index().0 } else { i };
    let set_of = |i: &u32| match limits_of_user.is_empty() {
        true => 0,
        false => limits_of_user[user_of(*i as usize)],
    };
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
    let is_weighted = !objective.counts_by_weight() || instance.is_weighted() || has_lines;
    let weights = is_weighted.then(|| match &lines {
        None => column(n, |i| objective.share_per_level(view(i))),
        // Of a user once, however many kinds it has: what it could run alone is a program of its own.
        Some(lines) => {
            let of_user =
                column(instance.user_count(), |user| objective.share_per_level(instance.user(UserId(user))));
            column(n, |i| of_user[lines.user[i] as usize] * lines.part[i])
        }
    });
    let limit = |i: usize| view(i).tasks().map(|tasks| view(i).task_share() * part(i) * tasks as f64);
    let tasks =
        instance.has_task_limits().then(|| (0..n).map(|i| limit(i).unwrap_or(f64::INFINITY)).collect());
    let pattern = vec![NO_PATTERN; n];
    Population { order, directions, weights, tasks, pattern, by_rule, limits_of_rule, limits, lines }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fairplan_instances::{InstanceBuilder, NewUser, ServerClass};

    #[test]
    fn a_number_of_tasks_just_above_what_could_run_is_a_limit_and_one_clearly_above_is_none() {
        let tasks = |cores: &str| {
            let mut builder = InstanceBuilder::new("", vec!["cpu".into()]).unwrap();
            builder.class(ServerClass::new("c", 1, vec![cores.parse().unwrap()])).unwrap();
            let task = ["1".parse().unwrap()];
            builder.user(NewUser { tasks: Some(1_000_000_000), ..NewUser::new("a", &task) }).unwrap();
            let reduction = Reduction::new(&builder.build().unwrap(), Objective::Drfh);
            reduction.users.tasks.map(|tasks| tasks[0])
        };
        // A billion of them, where 0.9 or 1.1 fewer could run.
        assert!(tasks("999999999.1").is_some_and(f64::is_finite));
        assert!(tasks("999999998.9").is_none_or(f64::is_infinite));
    }
}
