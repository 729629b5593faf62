//! The level problem in whole numbers: what a unit of work takes of each row.
//!
//! A *line* is a user, or one kind of a user's tasks: its work is divided over the classes that it can use. A *row* is what a class
//! has of a resource, a limit, or the tasks of a user who does different work on different classes.

use super::number::Rational;
use fairplan_instances::{
    ClassId, Instance, Kind, KindId, Objective, OfflineMeasure, ResourceId, TaskDemands, User, UserId,
};
use hashbrown::HashMap;
use num_bigint::BigInt;

/// An instance as rows and lines.
pub(crate) struct Program<'a> {
    pub instance: &'a Instance,
    pub objective: Objective,
    /// What there is of each row: capacities, class by class; then limits; then tasks.
    pub amounts: Vec<Rational>,
    pub lines: Vec<Line>,
    /// The same as doubles, one where there is nothing of a row.
    rough_amounts: Vec<f64>,
    /// Smallest units in one unit of each resource, as doubles.
    rough_units: Vec<f64>,
    /// Where lines can run, and the work that a task does there.
    patterns: Vec<Vec<UsableClass>>,
    first_limit: usize,
    first_task_row: usize,
    /// The user of each task row.
    pub users_of_task_rows: Vec<UserId>,
    pooled: bool,
    /// What every line is, where lines are users over several quanta (`over_time.rs`).
    over_time: Option<Vec<OverTime>>,
}

/// A user over several quanta.
struct OverTime {
    /// The work that is worth a level of one.
    per_level: Rational,
    /// The work of all its tasks where they do most.
    most: Rational,
}

/// A user who can have something, or a kind of it.
#[derive(Clone, Copy)]
pub(crate) struct Line {
    pub user: u32,
    /// The kind, or the user where all servers are one.
    pub kind: u32,
    pattern: u32,
    /// Its row of tasks.
    pub task_row: Option<u32>,
}

/// A class that can be used.
#[derive(Clone)]
pub(crate) struct UsableClass {
    pub class: usize,
    /// The work a task does there; `None` for one.
    rate: Option<Rational>,
    /// The same as a double.
    pub rough_rate: f64,
    /// The row of the tasks of its quantum, where there are several.
    demand_row: Option<u32>,
}

impl UsableClass {
    /// Work in tasks.
    pub fn tasks(&self, work: &Rational) -> Rational {
        self.rate.as_ref().map_or_else(|| work.clone(), |rate| work / rate)
    }

    /// The work that a task does there.
    pub fn work_of_a_task(&self) -> Rational {
        self.rate.clone().unwrap_or_else(Rational::one)
    }

    /// The row of the tasks of its quantum, where there are several.
    pub fn demand_row(&self) -> Option<usize> {
        self.demand_row.map(|row| row as usize)
    }
}

impl<'a> Program<'a> {
    pub fn new(instance: &'a Instance, objective: Objective) -> Self {
        let mut program = Self::new_without_lines(instance, objective);
        program.add_lines();
        program.round_amounts();
        program
    }

    fn new_without_lines(instance: &'a Instance, objective: Objective) -> Self {
        let (m, pooled) = (instance.resources().len(), objective.is_pooled());
        let classes = if pooled { 1 } else { instance.classes().len() };
        let resources = || (0..m).map(ResourceId);
        let mut amounts = Vec::with_capacity(classes * m);
        for class in 0..classes {
            amounts.extend(resources().map(|r| match pooled {
                true => Rational::whole(instance.total_units(r)),
                false => Rational::whole(
                    BigInt::from(instance.capacity_units(ClassId(class), r))
                        * instance.classes()[class].count,
                ),
            }));
        }
        let first_limit = amounts.len();
        amounts.extend(instance.limit_rows().iter().map(|row| Rational::whole(instance.limit_units(row))));
        let first_task_row = amounts.len();
        Self {
            instance,
            objective,
            amounts,
            lines: Vec::new(),
            rough_amounts: Vec::new(),
            rough_units: resources().map(|r| 10f64.powi(-i32::from(instance.unit_exponent(r)))).collect(),
            patterns: Vec::new(),
            first_limit,
            first_task_row,
            users_of_task_rows: Vec::new(),
            pooled,
            over_time: None,
        }
    }

    fn round_amounts(&mut self) {
        let rough = |amount: &Rational| if amount.is_zero() { 1.0 } else { amount.to_f64() };
        self.rough_amounts = self.amounts.iter().map(rough).collect();
    }

    /// Users over several quanta, every one of which has all servers: the classes of the second come after those of the first, and
    /// so on; a line is a user of `demands` that demands something and can use some class. Returned beside are the users of the
    /// lines, by position in `demands`.
    pub fn over_time(demands: &TaskDemands<'a>) -> (Self, Vec<usize>) {
        let (instance, series) = (demands.instance(), demands.series());
        let quanta = series.quantum_count();
        let mut program = Self::new_without_lines(instance, Objective::Drfh);
        let of_quantum = std::mem::take(&mut program.amounts);
        program.amounts = std::iter::repeat_n(of_quantum, quanta).flatten().collect();
        (program.first_limit, program.first_task_row) = (program.amounts.len(), program.amounts.len());
        let mut places_of: Vec<Vec<UsableClass>> = vec![Vec::new(); series.user_count()];
        for quantum in 0..quanta {
            for (position, wanted) in series.demands(quantum).0.iter().zip(series.demands(quantum).1) {
                let user = instance.user(demands.users()[*position as usize]);
                let row = program.amounts.len() as u32;
                let at = user.kinds().flat_map(places).map(|place| UsableClass {
                    class: quantum * instance.classes().len() + place.class,
                    demand_row: Some(row),
                    ..place
                });
                let before = places_of[*position as usize].len();
                places_of[*position as usize].extend(at);
                if places_of[*position as usize].len() > before {
                    program.amounts.push(Rational::whole(*wanted));
                }
            }
        }
        let (mut lines, mut positions) = (Vec::new(), Vec::new());
        for (position, places) in places_of.into_iter().enumerate().filter(|(_, places)| !places.is_empty()) {
            let user = instance.user(demands.users()[position]);
            let best = places.iter().map(UsableClass::work_of_a_task).max().unwrap_or_else(Rational::one);
            let most = &best * &Rational::whole(series.totals()[position]);
            let per_level = match demands.measure() {
                OfflineMeasure::Totals => &Rational::decimal(user.weight()) / &task_share(user),
                OfflineMeasure::Welfare => most.clone(),
            };
            lines.push(OverTime { per_level, most });
            positions.push(position);
            let kind = user.kinds().next().map_or(user.index().0, |kind| kind.index().0);
            program.lines.push(Line {
                user: user.index().0 as u32,
                kind: kind as u32,
                pattern: program.patterns.len() as u32,
                task_row: None,
            });
            program.patterns.push(places);
        }
        program.over_time = Some(lines);
        program.round_amounts();
        (program, positions)
    }

    fn add_lines(&mut self) {
        let (instance, pooled) = (self.instance, self.pooled);
        let mut known: HashMap<(usize, Vec<bool>), u32> = HashMap::new();
        for user in instance.users().filter(|user| user.tasks() != Some(0)) {
            let first = self.lines.len();
            let mut add =
                |kind: usize, rule: usize, needed: Vec<bool>, places: &dyn Fn() -> Vec<UsableClass>| {
                    let pattern = *known.entry((rule, needed)).or_insert_with(|| {
                        self.patterns.push(places());
                        (self.patterns.len() - 1) as u32
                    });
                    self.lines.push(Line {
                        user: user.index().0 as u32,
                        kind: kind as u32,
                        pattern,
                        task_row: None,
                    });
                };
            if pooled {
                let needed: Vec<bool> = user.demand().iter().map(|demand| !demand.is_zero()).collect();
                let is_there =
                    |(r, needed): (usize, &bool)| !needed || instance.total_units(ResourceId(r)) > 0;
                let usable = needed.iter().enumerate().all(is_there);
                let places = || {
                    if usable {
                        vec![UsableClass { class: 0, rate: None, rough_rate: 1.0, demand_row: None }]
                    } else {
                        Vec::new()
                    }
                };
                add(user.index().0, 0, needed.clone(), &places);
            } else {
                for kind in user.kinds() {
                    let needed = kind.piece().iter().map(|demand| !demand.is_zero()).collect();
                    add(kind.index().0, kind.rule_id().0, needed, &|| places(kind));
                }
            }
            if self.lines[first..].iter().any(|line| self.patterns[line.pattern as usize].is_empty()) {
                self.lines.truncate(first);
            } else if let (Some(tasks), Some(line)) = (user.tasks(), self.lines.get_mut(first))
                && self.patterns[line.pattern as usize].windows(2).any(|pair| pair[0].rate != pair[1].rate)
            {
                line.task_row = Some(self.amounts.len() as u32);
                self.amounts.push(Rational::whole(tasks));
                self.users_of_task_rows.push(user.index());
            }
        }
    }

    pub fn rows(&self) -> usize {
        self.amounts.len()
    }

    /// The rows of limits.
    pub fn limits(&self) -> std::ops::Range<usize> {
        self.first_limit..self.first_task_row
    }

    /// The first of the rows of tasks.
    pub fn first_task_row(&self) -> usize {
        self.first_task_row
    }

    pub fn places(&self, line: usize) -> &[UsableClass] {
        &self.patterns[self.lines[line].pattern as usize]
    }

    pub fn user(&self, line: usize) -> User<'a> {
        self.instance.user(UserId(self.lines[line].user as usize))
    }

    fn demand_units(&self, line: usize, r: ResourceId) -> u128 {
        match self.pooled {
            true => self.user(line).demand_units(r),
            false => self.instance.kind(KindId(self.lines[line].kind as usize)).demand_units(r),
        }
    }

    /// What a unit of a line's work takes of each row when it is done at a place.
    pub fn column(&self, line: usize, place: usize) -> Vec<(usize, Rational)> {
        let mut column = self.task_column(line, place);
        let place = &self.places(line)[place];
        if place.rate.is_some() {
            column.iter_mut().for_each(|(_, entry)| *entry = place.tasks(entry));
        }
        column
    }

    /// The same of one task.
    pub fn task_column(&self, line: usize, place: usize) -> Vec<(usize, Rational)> {
        let place = &self.places(line)[place];
        let m = self.instance.resources().len();
        let mut column = Vec::with_capacity(m);
        for r in (0..m).map(ResourceId) {
            let units = self.demand_units(line, r);
            if units > 0 {
                column.push((place.class * m + r.0, Rational::whole(units)));
            }
        }
        if !self.limits().is_empty() {
            for j in self.instance.limits_above(self.user(line)) {
                let row = &self.instance.limit_rows()[j];
                let units = self.demand_units(line, row.resource);
                if units > 0 && (self.pooled || row.covers(ClassId(place.class))) {
                    column.push((self.first_limit + j, Rational::whole(units)));
                }
            }
        }
        for row in self.lines[line].task_row.into_iter().chain(place.demand_row) {
            column.push((row as usize, Rational::one()));
        }
        column
    }

    /// The same in doubles.
    pub fn rough_column(&self, line: usize, place: usize) -> Vec<(usize, f64)> {
        let place = &self.places(line)[place];
        let m = self.instance.resources().len();
        let rate = place.rough_rate;
        let demand = match self.pooled {
            true => self.user(line).demand_doubles(),
            false => self.instance.kind(KindId(self.lines[line].kind as usize)).demand_doubles(),
        };
        let units = |r: usize| demand[r] * self.rough_units[r] / rate;
        let mut column: Vec<(usize, f64)> =
            (0..m).map(|r| (place.class * m + r, units(r))).filter(|(_, entry)| *entry > 0.0).collect();
        if !self.limits().is_empty() {
            for j in self.instance.limits_above(self.user(line)) {
                let row = &self.instance.limit_rows()[j];
                if self.pooled || row.covers(ClassId(place.class)) {
                    column.push((self.first_limit + j, units(row.resource.0)));
                }
            }
        }
        let task_rows = self.lines[line].task_row.into_iter().chain(place.demand_row);
        column.extend(task_rows.map(|row| (row as usize, 1.0 / rate)));
        column
    }

    /// What there is of a row as a double; one where there is nothing.
    pub fn rough_amount(&self, row: usize) -> f64 {
        self.rough_amounts[row]
    }

    /// For each class the first at which all resources have the same prices; empty where limits have prices.
    pub fn alike(&self, prices: &[Rational]) -> Vec<usize> {
        let m = self.instance.resources().len();
        if self.limits().any(|row| !prices[row].is_zero()) {
            return Vec::new();
        }
        let classes: Vec<&[Rational]> = prices[..self.first_limit].chunks(m).collect();
        let first =
            |class: usize| (0..class).find(|other| classes[*other] == classes[class]).unwrap_or(class);
        (0..classes.len()).map(first).collect()
    }

    /// Whether a line's work costs the same at two places because the classes have the same prices.
    pub fn are_alike(&self, alike: &[usize], line: usize, place: usize, other: usize) -> bool {
        let (one, other) = (&self.places(line)[place], &self.places(line)[other]);
        let is_same = |class: usize| alike.get(class);
        is_same(one.class).is_some()
            && is_same(one.class) == is_same(other.class)
            && (&one.rate, one.demand_row) == (&other.rate, other.demand_row)
    }

    /// The most work that a user's tasks do, where each does as much on every class or there are several quanta; `None` where there is
    /// no such number.
    pub fn most_work(&self, line: usize) -> Option<Rational> {
        if let Some(lines) = &self.over_time {
            return Some(lines[line].most.clone());
        }
        let tasks = self.user(line).tasks().filter(|_| self.lines[line].task_row.is_none())?;
        let rate = self.places(line)[0].rate.as_ref();
        let tasks = Rational::whole(tasks);
        Some(rate.map_or_else(|| tasks.clone(), |rate| &tasks * rate))
    }

    /// The work of each line that is worth a weighted dominant share of one, `w_i / δ_i`, or a level of one over several quanta.
    pub fn works_per_level(&self) -> Vec<Rational> {
        match &self.over_time {
            Some(lines) => lines.iter().map(|line| line.per_level.clone()).collect(),
            None => (0..self.lines.len())
                .map(|line| &Rational::decimal(self.user(line).weight()) / &task_share(self.user(line)))
                .collect(),
        }
    }
}

/// Where a kind can run.
fn places(kind: Kind<'_>) -> Vec<UsableClass> {
    let rule = kind.rule();
    let place = |class: ClassId| {
        let rate = rule.rate(class);
        let rough_rate = rate.to_f64();
        let rate = (rate != fairplan_instances::Decimal::ONE).then(|| Rational::decimal(rate));
        UsableClass { class: class.0, rate, rough_rate, demand_row: None }
    };
    let classes = (0..kind.user().instance().classes().len()).map(ClassId);
    classes.filter(|class| kind.can_use(*class)).map(place).collect()
}

/// One task's dominant share.
pub(crate) fn task_share(user: User<'_>) -> Rational {
    let (taken, of_all) = user.exact_task_share();
    Rational::new(taken.into(), of_all.into())
}
