//! From the last vertex to a solution: fractions as texts, and the doubles next to them.

use super::filling::least_at_the_root;
use super::fit::overloads;
use super::levels::Raised;
use super::number::{Rational, common_divisor};
use super::of_levels::OfLevels;
use super::program::{Program, task_share};
use super::sums::LONGEST;
use super::too_long;
use super::vertex::Amount;
use crate::tolerance::exact::ROUNDED_DOWN;
use fairplan_instances::{
    Allocation, Certificate, ClassId, ExactLevel, ExactPart, ExactSolution, ExactUser, InstanceError, Level,
    LimitedBy, ResourceId, Solution, Statistics, Status, User, UserId,
};
use num_bigint::{BigInt, BigUint, Sign};
use rayon::prelude::*;

/// What results call the method.
pub(crate) const METHOD: &str = "exact-simplex";

/// Fractions that follow from others are written where both parts together have so few bits: about a hundred digits.
const SHORT: u64 = 330;

/// What a user has.
pub(super) struct Held {
    pub work: Rational,
    /// Tasks over all classes.
    pub tasks: Rational,
    /// `(kind, class, tasks)`.
    pub parts: Vec<(u32, u32, Rational)>,
    pub limited_by: LimitedBy,
    pub level: u32,
}

impl Held {
    /// For this reason.
    pub fn nothing(limited_by: LimitedBy) -> Self {
        Self { work: Rational::zero(), tasks: Rational::zero(), parts: Vec::new(), limited_by, level: 0 }
    }
}

/// A fraction as results write it: left out where it is long and not needed.
pub(super) fn text(number: &Rational, needed: bool) -> Option<Box<str>> {
    (needed || number.bits() <= SHORT).then(|| number.clone().in_lowest_terms().to_string().into_boxed_str())
}

impl Raised<'_> {
    /// The solution.
    pub fn solution(self, backend: &'static str) -> Result<Solution, InstanceError> {
        let program = self.vertex.program;
        let (instance, objective) = (program.instance, program.objective);
        let bits = self.vertex.levels.iter().map(Rational::bits).max().unwrap_or(0);
        if bits > 2 * LONGEST {
            return Err(too_long(bits));
        }
        let held = self.of_users();
        let mut parts = Vec::new();
        let mut users = Vec::with_capacity(held.len());
        for (user, held) in instance.users().zip(&held) {
            let share = &held.work * &task_share(user);
            users.push(ExactUser { dominant_share: text(&share, false), tasks: text(&held.tasks, false) });
            if !objective.is_pooled() {
                parts.extend(held.parts.iter().map(|(kind, class, tasks)| {
                    let is_split = held.parts.iter().filter(|(other, ..)| other == kind).count() > 1;
                    ExactPart { kind: *kind, class: *class, tasks: text(tasks, is_split) }
                }));
            }
        }
        let shares = self.objective_shares();
        let groups = shares.as_deref().map_or_else(Vec::new, |shares| self.of_groups(shares));
        let value = match &shares {
            Some(shares) => least_at_the_root(&self.vertex, shares, &|i| held[i].limited_by.is_by_prices()),
            None => {
                let least = held.iter().enumerate().map(|(i, held)| self.weighted(i, held)).min();
                least.unwrap_or_else(Rational::zero)
            }
        };
        let levels = self.vertex.levels.iter().zip(&self.prices);
        let exact = ExactSolution {
            value: value.clone().in_lowest_terms().to_string(),
            levels: levels.map(|(level, prices)| self.exact_level(level, prices)).collect(),
            users,
            parts,
            groups: groups.iter().map(|share| text(share, false)).collect(),
        };
        Ok(Solution {
            objective,
            backend,
            method: METHOD,
            status: Status::Optimal,
            allocation: allocation(program, &held),
            certificate: Certificate::Levels {
                levels: self.levels(),
                level_of: held.iter().map(|held| held.level).collect(),
            },
            limited_by: held.iter().map(|held| held.limited_by).collect(),
            statistics: Statistics {
                iterations: self.vertex.steps,
                users_merged: program.lines.len(),
                classes_merged: if objective.is_pooled() { 1 } else { instance.classes().len() },
                ..Statistics::default()
            },
            exact: Some(Box::new(exact)),
            guaranteed: Vec::new(),
        })
    }

    /// What users have where there are groups, as the objective counts it and without their weights.
    fn objective_shares(&self) -> Option<Vec<OfLevels>> {
        let instance = self.vertex.program.instance;
        let share = |user: User<'_>| {
            let Some(line) = self.line_of(user.index().0) else { return OfLevels::nothing() };
            let per_work = &Rational::decimal(user.weight()) / self.vertex.per_level(line);
            self.vertex.work_at_end(line).times(&per_work)
        };
        (!instance.groups().is_empty()).then(|| instance.users().map(share).collect())
    }

    /// What all members of each group have.
    fn of_groups(&self, shares: &[OfLevels]) -> Vec<Rational> {
        let instance = self.vertex.program.instance;
        let mut sums = vec![OfLevels::nothing(); instance.groups().len()];
        for (user, share) in instance.users().zip(shares) {
            if let Some(group) = user.group() {
                sums[group.0].add(share);
            }
        }
        for group in instance.groups_upwards() {
            if let Some(parent) = instance.groups()[group.0].parent {
                let of_group = sums[group.0].clone();
                sums[parent.0].add(&of_group);
            }
        }
        sums.iter().map(|sum| sum.at(&self.vertex.levels)).collect()
    }

    /// Weighted share of a user.
    fn weighted(&self, user: usize, held: &Held) -> Rational {
        match self.line_of(user) {
            Some(line) => &held.work / self.vertex.per_level(line),
            None => Rational::zero(),
        }
    }

    /// The first line of a user.
    fn line_of(&self, user: usize) -> Option<usize> {
        let lines = &self.vertex.program.lines;
        let first = lines.partition_point(|line| (line.user as usize) < user);
        (first < lines.len() && lines[first].user as usize == user).then_some(first)
    }

    fn of_users(&self) -> Vec<Held> {
        let program = self.vertex.program;
        let instance = program.instance;
        (0..instance.user_count())
            .into_par_iter()
            .map(|i| {
                let user = instance.user(UserId(i));
                let Some(first) = self.line_of(i) else {
                    let limited_by = match user.tasks() {
                        Some(0) if self.can_run(i) => LimitedBy::Tasks,
                        _ => LimitedBy::NoUsableClass,
                    };
                    return Held::nothing(limited_by);
                };
                let mut parts = Vec::new();
                let lines = (first..program.lines.len()).take_while(|l| program.lines[*l].user as usize == i);
                for line in lines {
                    let places = program.places(line);
                    let key = self.vertex.keys[line] as usize;
                    let mut own: Vec<(usize, Rational)> = vec![(key, self.vertex.key_work(line))];
                    let splits = self.vertex.splits.iter().filter(|split| split.line == line);
                    own.extend(splits.map(|split| (split.place, split.work.clone())));
                    own.retain(|(_, work)| work.is_positive());
                    own.sort_by_key(|(place, _)| *place);
                    parts.extend(own.into_iter().map(|(place, work)| {
                        let place = &places[place];
                        (program.lines[line].kind, place.class as u32, place.tasks(&work))
                    }));
                }
                let of_first = parts.iter().filter(|(kind, ..)| *kind == program.lines[first].kind);
                let tasks = of_first.fold(Rational::zero(), |sum, (_, _, tasks)| &sum + tasks);
                let (limited_by, level) = self.held_by(i, first, &tasks);
                Held { work: self.vertex.work(first), tasks, parts, limited_by, level }
            })
            .collect()
    }

    /// Whether a user without a line has a class for each of its kinds.
    fn can_run(&self, user: usize) -> bool {
        let instance = self.vertex.program.instance;
        let user = instance.user(UserId(user));
        if self.vertex.program.objective.is_pooled() {
            let resources = (0..instance.resources().len()).map(ResourceId);
            return resources.into_iter().all(|r| user.demand_units(r) == 0 || instance.total_units(r) > 0);
        }
        user.kinds().all(|kind| (0..instance.classes().len()).any(|class| kind.can_use(ClassId(class))))
    }

    /// What limits a user, and its level.
    fn held_by(&self, user: usize, line: usize, tasks: &Rational) -> (LimitedBy, u32) {
        let program = self.vertex.program;
        let all = program.instance.user(UserId(user)).tasks();
        let runs_all = all.is_some_and(|all| *tasks == Rational::whole(all));
        match &self.vertex.amounts[line] {
            Amount::Frozen(level) if runs_all => (LimitedBy::Tasks, *level),
            Amount::Frozen(level) if self.is_limited(user) => (LimitedBy::Limit, *level),
            Amount::Frozen(level) => (LimitedBy::Capacity, *level),
            Amount::Settled { stage, .. } => (LimitedBy::Tasks, *stage),
            // There is always somebody whom the last level ends.
            Amount::Rising => (LimitedBy::Tasks, self.vertex.levels.len() as u32),
        }
    }

    /// Whether some limit above a user is used up wherever it, or one of its kinds, can run. What others reserve is capacity that it
    /// lacks, not a limit of its own.
    fn is_limited(&self, user: usize) -> bool {
        let program = self.vertex.program;
        let limits = program.limits();
        if limits.is_empty() {
            return false;
        }
        let rows = program.instance.limit_rows();
        let is_met = |row: usize| {
            limits.contains(&row)
                && !rows[row - limits.start].is_reserve()
                && self.vertex.slack[row].is_zero()
        };
        let first = self.line_of(user).unwrap_or(program.lines.len());
        let mut lines =
            (first..program.lines.len()).take_while(|line| program.lines[*line].user as usize == user);
        lines.any(|line| {
            (0..program.places(line).len()).all(|place| {
                let column = program.column(line, place);
                column.iter().any(|(row, _)| is_met(*row))
            })
        })
    }

    /// The price of one unit of a resource, of one of its smallest units.
    pub(super) fn per_unit(&self, price: &Rational, r: ResourceId) -> Rational {
        let exponent = self.vertex.program.instance.unit_exponent(r);
        let power = Rational::whole(BigInt::from(10).pow(u32::from(exponent.unsigned_abs())));
        if exponent < 0 { price * &power } else { price / &power }
    }

    /// Prices in units of the instance: those of the capacities, of the limits and of tasks.
    fn in_units(&self, prices: &[Rational]) -> [Vec<Rational>; 3] {
        let program = self.vertex.program;
        let instance = program.instance;
        let m = instance.resources().len();
        let capacities = (0..instance.classes().len() * m).map(|position| {
            let row = if program.objective.is_pooled() { position % m } else { position };
            // What a class has none of has no price.
            match program.amounts[row].is_zero() {
                true => Rational::zero(),
                false => self.per_unit(&prices[row], ResourceId(position % m)),
            }
        });
        let limits = program.limits().zip(instance.limit_rows());
        let limits = limits.map(|(row, limit)| self.per_unit(&prices[row], limit.resource));
        [capacities.collect(), limits.collect(), prices[program.first_task_row()..].to_vec()]
    }

    fn exact_level(&self, level: &Rational, prices: &[Rational]) -> ExactLevel {
        let [capacities, limits, tasks] = self.in_units(prices);
        let whole = in_whole_numbers(&[&capacities[..], &limits, &tasks].concat());
        let mut texts = whole.iter().map(BigInt::to_string);
        let mut next = |count: usize| -> Vec<String> { texts.by_ref().take(count).collect() };
        let (prices, limit_prices) = (next(capacities.len()), next(limits.len()));
        let users = self.vertex.program.users_of_task_rows.iter().map(|user| user.0 as u32);
        let task_prices = users.zip(next(tasks.len())).filter(|(_, price)| price != "0").collect();
        let value = level.clone().in_lowest_terms().to_string();
        ExactLevel { value, prices, limit_prices, task_prices }
    }

    /// The levels in doubles.
    fn levels(&self) -> Vec<Level> {
        let levels = self.vertex.levels.iter().zip(&self.prices).zip(&self.scales);
        levels
            .map(|((level, prices), scale)| {
                let [capacities, limits, _] = self.in_units(prices);
                let doubles =
                    |prices: &[Rational]| prices.iter().map(|price| (price / scale).to_f64()).collect();
                let value = level.to_f64();
                Level { value, bound: value, prices: doubles(&capacities), limit_prices: doubles(&limits) }
            })
            .collect()
    }
}

/// The allocation in doubles: the nearest, or where those would overload something hardly less.
pub(super) fn allocation(program: &Program<'_>, held: &[Held]) -> Allocation {
    let exactly = rounded(program, held, 1.0);
    match overloads(program, &exactly) {
        false => exactly,
        true => rounded(program, held, ROUNDED_DOWN),
    }
}

fn rounded(program: &Program<'_>, held: &[Held], part: f64) -> Allocation {
    let instance = program.instance;
    let tasks: Vec<f64> = held.iter().map(|held| held.tasks.to_f64() * part).collect();
    if program.objective.is_pooled() {
        return Allocation::pooled(tasks);
    }
    let classes = instance.classes().len();
    // A row for each class, one for nothing, and those of who is on several classes.
    let mut rows = vec![0.0; (classes + 1) * classes];
    (0..classes).for_each(|class| rows[class * classes + class] = 1.0);
    let mut split_of = vec![classes as u32; instance.kind_count()];
    for held in held {
        for own in held.parts.chunk_by(|a, b| a.0 == b.0) {
            let split = &mut split_of[own[0].0 as usize];
            if let [(_, class, _)] = own {
                *split = *class;
                continue;
            }
            *split = (rows.len() / classes) as u32;
            let start = rows.len();
            rows.resize(start + classes, 0.0);
            for (_, class, tasks) in own {
                rows[start + *class as usize] = (tasks / &held.tasks).to_f64();
            }
        }
    }
    Allocation::of_kinds(instance, classes, tasks, split_of, rows)
}

/// The same numbers, all as many times as large, as whole numbers without a common divisor.
pub(super) fn in_whole_numbers(numbers: &[Rational]) -> Vec<BigInt> {
    let mut multiple = BigUint::from(1u8);
    for number in numbers {
        let denominator = number.denominator().magnitude();
        let common = common_divisor(&multiple, denominator);
        multiple *= denominator / common;
    }
    let multiple = BigInt::from(multiple);
    let whole: Vec<BigInt> =
        numbers.iter().map(|number| number.numerator() * (&multiple / number.denominator())).collect();
    let common =
        whole.iter().fold(BigUint::ZERO, |common, number| common_divisor(&common, number.magnitude()));
    if common == BigUint::ZERO {
        return whole;
    }
    let common = BigInt::from_biguint(Sign::Plus, common);
    whole.into_iter().map(|number| number / &common).collect()
}
