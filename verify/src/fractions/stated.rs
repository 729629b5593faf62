//! The fractions of a claim, read and held against its form: who has how much work, and where.

use super::alone::work_alone;
use super::filling::{End, Filling, OfLevels};
use super::fraction::Fraction;
use crate::claim::SolutionClaim;
use crate::users::UsableClasses;
use fairplan_instances::{
    ClassId, ExactPart, ExactSolution, Instance, LimitedBy, Objective, ResourceId, User, UserId,
};
use std::cell::OnceCell;

/// Work, and how it is known.
#[derive(Clone, Debug)]
pub(crate) enum Work {
    /// As much as the level at this position gives the user.
    OfLevel(usize),
    /// The same in a group, where other levels count too.
    OfLevels(Box<OfLevels>),
    /// So much.
    Of(Fraction),
}

/// Tasks of a kind on a class.
#[derive(Clone, Debug)]
pub(crate) struct Part {
    pub kind: usize,
    pub class: usize,
    /// `None`: all tasks of the user, whose work is that of its level.
    pub tasks: Option<Fraction>,
}

/// What one user has.
pub(crate) struct Holding {
    pub work: Work,
    pub parts: Vec<Part>,
}

/// The level's numbers.
pub(crate) struct StatedLevel {
    pub value: Fraction,
    /// Row-major `classes × resources`, per unit of the resource.
    pub prices: Vec<Fraction>,
    pub limit_prices: Vec<Fraction>,
    /// The price of a task of each user that has one.
    pub task_prices: Vec<(usize, Fraction)>,
}

/// Everything that is stated in fractions, by users only as far as asked.
pub(crate) struct Stated<'a> {
    pub instance: &'a Instance,
    pub objective: Objective,
    pub usable: &'a UsableClasses,
    pub exact: &'a ExactSolution,
    pub limited_by: &'a [LimitedBy],
    pub level_of: &'a [u32],
    pub value: Fraction,
    pub levels: Vec<StatedLevel>,
    /// What levels come to, where there are groups.
    pub filling: Option<Filling>,
    /// Where each user's parts begin, and at last where all end.
    starts: Vec<usize>,
    /// What each user could do alone, once that is asked: of kinds it is a linear program.
    alone: Vec<OnceCell<Fraction>>,
}

impl<'a> Stated<'a> {
    /// Reads all but what users have.
    pub fn read(
        instance: &'a Instance,
        usable: &'a UsableClasses,
        claim: &SolutionClaim<'a>,
        exact: &'a ExactSolution,
    ) -> Result<Self, String> {
        // Servers that are filled apart have no levels together.
        let level_of = match claim.objective {
            Objective::DrfPerServer => claim.certificate.level_of().unwrap_or_default(),
            _ => claim.certificate.level_of().ok_or("fractions are stated of what has no levels")?,
        };
        let (users, classes, m) =
            (instance.user_count(), instance.classes().len(), instance.resources().len());
        if exact.users.len() != users {
            return Err(format!("fractions of {} users are stated, there are {users}", exact.users.len()));
        }
        if exact.groups.len() != instance.groups().len() {
            return Err("the groups are not as many in fractions as in the instance".into());
        }
        if exact.levels.len() != claim.certificate.levels().len() {
            return Err("the levels are not as many in fractions as in doubles".into());
        }
        let mut levels = Vec::new();
        for (k, level) in exact.levels.iter().enumerate() {
            let read = |what: &str, texts: &[String], count: usize| -> Result<Vec<Fraction>, String> {
                if texts.len() != count {
                    return Err(format!("level {k}: {} {what} are stated, there are {count}", texts.len()));
                }
                let read = texts.iter().map(|text| Fraction::read(text));
                read.collect::<Result<_, _>>().map_err(|problem| format!("level {k}: {problem}"))
            };
            let mut task_prices = Vec::new();
            for (user, price) in &level.task_prices {
                let user = *user as usize;
                let rises = task_prices.last().is_none_or(|(before, _)| *before < user);
                let is_limited = |user: User<'_>| user.tasks().is_some() && !user.has_kinds();
                if user >= users || !rises || !is_limited(instance.user(UserId(user))) {
                    return Err(format!(
                        "level {k}: task prices are of users with a number of tasks, each once, in order"
                    ));
                }
                task_prices
                    .push((user, Fraction::read(price).map_err(|problem| format!("level {k}: {problem}"))?));
            }
            levels.push(StatedLevel {
                value: Fraction::read(&level.value).map_err(|problem| format!("level {k}: {problem}"))?,
                prices: read("prices", &level.prices, classes * m)?,
                limit_prices: read("limit prices", &level.limit_prices, instance.limit_rows().len())?,
                task_prices,
            });
        }
        if claim.objective.is_pooled() {
            let of_pool = |level: &StatedLevel| level.prices.chunks(m).all(|row| row == &level.prices[..m]);
            if !levels.iter().all(of_pool) {
                return Err("a pool has the same prices in every class".into());
            }
            if !exact.parts.is_empty() {
                return Err("tasks of a pool are on no class".into());
            }
        }
        if let Some(k) = (1..levels.len()).find(|&k| levels[k].value <= levels[k - 1].value) {
            return Err(format!("level {k} is not above the one before"));
        }
        let value = Fraction::read(&exact.value).map_err(|problem| format!("value: {problem}"))?;
        let mut stated = Self {
            instance,
            objective: claim.objective,
            usable,
            exact,
            limited_by: claim.limited_by,
            level_of,
            value,
            levels,
            filling: None,
            starts: Vec::new(),
            alone: vec![OnceCell::new(); users],
        };
        if instance.has_groups() {
            stated.filling = Some(Filling::of(instance, stated.ends()?, &stated.values())?);
        }
        stated.starts = stated.starts()?;
        Ok(stated)
    }

    /// The value of each level.
    pub fn values(&self) -> Vec<&Fraction> {
        self.levels.iter().map(|level| &level.value).collect()
    }

    /// Where each user ends.
    fn ends(&self) -> Result<Vec<End>, String> {
        let end = |user: User<'_>| {
            let i = user.index().0;
            let (reason, level) = (self.limited_by[i], self.level_of[i] as usize);
            let tasks = match reason {
                LimitedBy::NoUsableClass => Some(Fraction::zero()),
                _ => self.worth_of_tasks(user)?,
            };
            Ok(End { reason, level, tasks })
        };
        self.instance.users().map(end).collect()
    }

    /// What all tasks of a user are worth as a share; `None` for no end of them.
    fn worth_of_tasks(&self, user: User<'_>) -> Result<Option<Fraction>, String> {
        let Some(tasks) = user.tasks() else { return Ok(None) };
        let per_share = self.work_per_level(user).over(&Fraction::decimal(user.weight()));
        if self.objective.is_pooled() || user.has_kinds() {
            return Ok(Some(Fraction::whole(tasks).over(&per_share)));
        }
        let usable = self.usable.of_user(user.index().0);
        if usable.rates_differ() {
            let problem = "its tasks are limited and do different work on different classes: in groups nothing is proved of that";
            return Err(format!("user {}: {problem}", user.id()));
        }
        let rate = usable.classes.first().map(|class| Fraction::decimal(usable.rate(*class)));
        Ok(rate.map(|rate| Fraction::whole(tasks).times(&rate).over(&per_share)))
    }

    /// Finds each user's parts: kind by kind, the classes of each in order, each once.
    fn starts(&self) -> Result<Vec<usize>, String> {
        let parts = &self.exact.parts;
        let place = |part: &ExactPart| (part.kind, part.class);
        if let Some(pair) = parts.windows(2).find(|pair| place(&pair[0]) >= place(&pair[1])) {
            return Err(format!("kind {} and class {} are not in order", pair[1].kind, pair[1].class));
        }
        if let Some(part) = parts.last().filter(|part| part.kind as usize >= self.instance.kind_count()) {
            return Err(format!("there is no kind {}", part.kind));
        }
        let mut starts = vec![0];
        for user in self.instance.users() {
            let end = user.kind_range().end as u32;
            let from = starts[starts.len() - 1];
            starts.push(from + parts[from..].iter().take_while(|part| part.kind < end).count());
        }
        Ok(starts)
    }

    /// What a user has on each class, as far as it is stated there.
    pub fn parts(&self, user: User<'_>) -> Result<Vec<Part>, String> {
        let i = user.index().0;
        let named = |problem: &str| format!("user {}: {problem}", user.id());
        let own = &self.exact.parts[self.starts[i]..self.starts[i + 1]];
        let mut parts = Vec::with_capacity(own.len());
        for part in own {
            if !self.usable.of_kind(part.kind as usize).contains(part.class as usize) {
                return Err(named("tasks are stated on a class that it cannot use"));
            }
            let tasks =
                part.tasks.as_deref().map(Fraction::read).transpose().map_err(|problem| named(&problem))?;
            if tasks.as_ref().is_some_and(|tasks| !tasks.is_positive()) {
                return Err(named("a part of no tasks is stated"));
            }
            parts.push(Part { kind: part.kind as usize, class: part.class as usize, tasks });
        }
        Ok(parts)
    }

    /// What a user has; an error if it is not what holds it says.
    pub fn holding(&self, user: User<'_>) -> Result<Holding, String> {
        let i = user.index().0;
        let named = |problem: &str| format!("user {}: {problem}", user.id());
        let level = self.level_of[i] as usize;
        let per_level = || self.work_per_level(user);
        let mut parts = self.parts(user)?;
        let all = user.tasks().map(Fraction::whole);
        let by_tasks = self.limited_by[i] == LimitedBy::Tasks;
        let work = match self.limited_by[i] {
            LimitedBy::NoUsableClass => Work::Of(Fraction::zero()),
            LimitedBy::Capacity | LimitedBy::Limit if level < self.levels.len() => match &self.filling {
                None => Work::OfLevel(level),
                Some(filling) => {
                    let per_share = per_level().over(&Fraction::decimal(user.weight()));
                    Work::OfLevels(Box::new(filling.shares[i].times(&per_share)))
                }
            },
            LimitedBy::Capacity | LimitedBy::Limit => return Err(named("no level holds it")),
            LimitedBy::Tasks => {
                let all = all.clone().ok_or_else(|| named("it has no number of tasks"))?;
                if self.objective.is_pooled() {
                    Work::Of(all)
                } else {
                    // Kinds have no rates.
                    let first = user.kind_range().start;
                    let of_first = parts.iter_mut().filter(|part| part.kind == first);
                    let mut work = Fraction::zero();
                    for part in of_first {
                        let tasks = part.tasks.get_or_insert_with(|| all.clone());
                        work = work
                            .plus(&tasks.times(&Fraction::decimal(user.rule().rate(ClassId(part.class)))));
                    }
                    Work::Of(work)
                }
            }
        };
        if by_tasks {
            let all = all.unwrap_or_else(Fraction::zero);
            parts
                .iter_mut()
                .filter(|part| part.tasks.is_none())
                .for_each(|part| part.tasks = Some(all.clone()));
        }
        if self.limited_by[i] == LimitedBy::NoUsableClass && !parts.is_empty() {
            return Err(named("it has tasks and no class"));
        }
        // Every kind runs as many tasks, and so much work is done.
        if !self.objective.is_pooled() && self.limited_by[i] != LimitedBy::NoUsableClass {
            for kind in user.kind_range() {
                let of_kind: Vec<&Part> = parts.iter().filter(|part| part.kind == kind).collect();
                let tasks = match &of_kind[..] {
                    [Part { tasks: None, .. }] => None,
                    all if all.iter().any(|part| part.tasks.is_none()) => {
                        return Err(named("only tasks on one class can be left out"));
                    }
                    all => Some(all.iter().fold(Fraction::zero(), |sum, part| match &part.tasks {
                        Some(tasks) => sum.plus(tasks),
                        None => sum,
                    })),
                };
                match (&work, &tasks) {
                    (Work::OfLevel(_) | Work::OfLevels(_), Some(_)) => {
                        // The work of the parts is that of the level.
                        let done = of_kind.iter().fold(Fraction::zero(), |sum, part| match &part.tasks {
                            Some(tasks) => {
                                let rate = Fraction::decimal(user.rule().rate(ClassId(part.class)));
                                sum.plus(&tasks.times(&rate))
                            }
                            None => sum,
                        });
                        if done != self.work(user, &work) {
                            return Err(named("its tasks are not what its level gives it"));
                        }
                    }
                    (Work::Of(_), Some(tasks))
                        if by_tasks && user.tasks().is_none_or(|all| *tasks != Fraction::whole(all)) =>
                    {
                        return Err(named("not all its tasks run"));
                    }
                    _ => {}
                }
            }
        }
        Ok(Holding { work, parts })
    }

    /// All work of a user in a fraction.
    pub fn work(&self, user: User<'_>, work: &Work) -> Fraction {
        match work {
            Work::Of(work) => work.clone(),
            Work::OfLevel(level) => self.work_per_level(user).times(&self.levels[*level].value),
            Work::OfLevels(sum) => sum.at(|level| &self.levels[level].value),
        }
    }

    /// The work that is worth a weighted share of one.
    pub fn work_per_level(&self, user: User<'_>) -> Fraction {
        let weight = Fraction::decimal(user.weight());
        match self.objective {
            Objective::TaskShareFairness => {
                weight.times(self.alone[user.index().0].get_or_init(|| work_alone(user)))
            }
            _ => weight.over(&task_share(user)),
        }
    }
}

/// One task's dominant share.
pub(crate) fn task_share(user: User<'_>) -> Fraction {
    let instance = user.instance();
    let shares = (0..instance.resources().len()).map(ResourceId).filter(|r| user.demand_units(*r) > 0);
    let shares = shares.map(|r| Fraction::of(user.demand_units(r), instance.measure_units(r).max(1)));
    shares.max().unwrap_or_else(|| Fraction::whole(1))
}
