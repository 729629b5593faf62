//! What every user shall reach.

use crate::solve::Solved;
use crate::{Control, Error, Progress, user_named};
use fairplan_instances::wording::{did_you_mean, printable};
use fairplan_instances::{
    Decimal, Draft, DraftUser, FilledTree, GroupId, Instance, MoreUsers, Objective, QuotaPart, Solver,
    StatedTarget, Target, User, guaranteed_shares, with_more_users,
};

/// Targets; of several, the largest counts for each user. By default there is none, which is refused.
#[derive(Clone, Debug, Default)]
pub struct TargetOptions {
    /// Every user shall reach this weighted dominant share of the cluster as it is now, or have all its tasks. In groups every user without a
    /// group and every group without a parent shall, and what a group has its members divide by their weights.
    pub share: Option<Decimal>,
    /// Users and groups, by id, that shall have this dominant share, whatever their weights; of a group its members together, who divide it.
    pub share_of: Vec<(String, Decimal)>,
    /// Every user shall be able to run so many tasks, or all it has.
    pub tasks: Option<Decimal>,
    /// Users, by id, that shall be able to run so many tasks; of a group each of those below it that are not named, or all it has.
    pub tasks_of: Vec<(String, Decimal)>,
    /// Every user shall keep what DRFH gives it today; where guarantees cannot be kept today, at least what it is guaranteed.
    pub as_today: bool,
    /// Every user shall be able to run so many times what it asks for today: all its tasks so many times, rounded up, or,
    /// without a number of tasks, so many times what DRFH gives it.
    pub scale: Option<Decimal>,
    /// The same for users and groups, by id; a group's is for all below it that have none of their own. The others keep what
    /// they ask for, if `scale` is not stated.
    pub scale_of: Vec<(String, Decimal)>,
    /// So many users come, like a user of this id, or each like one of the instance's in turn. They have the targets of those
    /// they are like; without another target, what those have today.
    pub more_users: Vec<(Option<String>, u64)>,
}

/// What is asked for, of whom.
pub(super) struct Asked {
    /// The instance with the users that come, without quotas: what is asked for takes their place.
    pub extended: Instance,
    /// The same with them, where there are any: what DRFH gives today is under these.
    pub under_quotas: Option<Instance>,
    /// The work asked for of each user.
    pub required: Vec<f64>,
    /// The tasks that users have who grow by a part of one, exactly: the instance has them rounded up.
    grown: Vec<Option<Decimal>>,
    /// What is echoed.
    pub target: StatedTarget,
    /// The factor of its own that each group has for what it asks for today.
    pub scale_of_groups: Vec<Option<f64>>,
}

impl TargetOptions {
    /// The work asked for of each user of `instance` and of those that come. What users have today is solved for if it is
    /// asked for.
    pub(super) fn asked(
        &self,
        instance: &Instance,
        solver: &dyn Solver,
        control: &Control<'_>,
    ) -> Result<Asked, Error> {
        let shares = self.share.iter().chain(self.share_of.iter().map(|(_, share)| share));
        if shares.into_iter().any(|share| share.is_zero()) {
            return Err(Error::Setting("share 0: must be > 0".into()));
        }
        let scaling = Scaling::new(self, instance)?;
        let due = self.due(instance)?;
        let users_with_own_share = due.as_ref().map_or(0, |due| due.own);
        let share = self.share.filter(|_| !instance.has_groups());
        let due = due.map(|due| due.works);
        let mut target = Target { share, due, tasks: self.tasks, ..Target::default() };
        let tasks_of = of_users_and_groups(instance, "tasks", &self.tasks_of)?.of_users;
        for (user, tasks) in instance.users().zip(tasks_of) {
            let Some(tasks) = tasks else { continue };
            let is_named = self.tasks_of.iter().any(|(id, _)| id == user.id());
            // Who is asked by its group shall have them, or all that it has.
            let all = user.tasks().filter(|all| !is_named && (*all as f64) < tasks.to_f64());
            let tasks = all.map_or(Ok(tasks), |all| Decimal::from_units(all.into(), 0));
            target.tasks_of.push((user.index(), tasks.map_err(Error::input)?));
        }
        let mut more = Vec::new();
        for (id, count) in &self.more_users {
            let like = id.as_ref().map(|id| user_named(instance, "more-users", id)).transpose()?;
            more.push(MoreUsers { like, count: *count });
        }
        let as_today = self.as_today || target.is_empty() && !more.is_empty() && !scaling.is_asked();
        let today: Option<Vec<f64>> = if as_today || scaling.needs_today(instance) {
            Some(works_today(instance, solver, control)?)
        } else {
            None
        };
        let scaled = scaling.of(instance, today.as_deref())?;
        let grown = scaled.instance.as_ref().unwrap_or(instance);
        target.scaled = scaled.works;
        target.today = today.filter(|_| as_today);
        if target.is_empty() {
            return Err(Error::input(
                "say what every user shall reach: --share, --tasks, --scale, --as-today or --more-users",
            ));
        }
        let known = target.required(grown).map_err(|violation| Error::Setting(violation.to_string()))?;
        if known.iter().all(|work| *work == 0.0) {
            return Err(Error::input("nothing is asked for of any user; state a target above 0"));
        }
        let (extended, models) = with_more_users(grown, &more)?;
        let (extended, under_quotas) = without_quotas(extended, as_today, control)?;
        Ok(Asked {
            under_quotas,
            required: models.iter().map(|model| known[model.0]).collect(),
            grown: models.iter().map(|model| scaled.parts.get(model.0).copied().flatten()).collect(),
            target: StatedTarget {
                share: self.share.map(Decimal::to_f64),
                share_in_groups: self.share.is_some() && instance.has_groups(),
                users_with_own_share,
                tasks: target.tasks.map(Decimal::to_f64),
                users_with_own_target: target.tasks_of.len(),
                as_today,
                scale: self.scale.map(Decimal::to_f64),
                users_with_own_scale: scaling.own,
                more_users: (extended.user_count() - instance.user_count()) as u64,
            },
            scale_of_groups: scaling.of_groups.iter().map(|own| own.map(Decimal::to_f64)).collect(),
            extended,
        })
    }
}

impl Asked {
    /// An instance of these users as divided tasks have it, and what is asked for of each: who grew to 10.1 tasks has 101 of a tenth, since
    /// an instance counts whole ones. `None` where nobody grew so.
    pub(super) fn in_parts(&self, instance: &Instance) -> Result<Option<(Instance, Vec<f64>)>, Error> {
        if self.grown.iter().all(Option::is_none) {
            return Ok(None);
        }
        let mut draft = Draft::from(&*instance.divided()?);
        let mut required = self.required.clone();
        for ((user, required), tasks) in draft.users.iter_mut().zip(&mut required).zip(&self.grown) {
            let Some(tasks) = tasks else { continue };
            let Some(parts) = parts_of(user, *tasks) else { continue };
            *required *= parts as f64 / tasks.to_f64();
        }
        Ok(Some((draft.build()?, required)))
    }
}

/// Makes so many tasks of a user a whole number of smaller ones, if numbers have so many digits; how many they are.
fn parts_of(user: &mut DraftUser, tasks: Decimal) -> Option<u64> {
    let exponent = tasks.exponent();
    let parts = u64::try_from(tasks.scaled(exponent)?).ok()?;
    let part = |amount: &Decimal| {
        Decimal::from_units(
            amount.scaled(amount.exponent())?,
            i32::from(amount.exponent()) + i32::from(exponent),
        )
        .ok()
    };
    let all = |demand: &[Decimal]| demand.iter().map(part).collect::<Option<Vec<Decimal>>>();
    let (demand, kinds) =
        (all(&user.demand)?, user.kinds.iter().map(|kind| all(&kind.demand)).collect::<Option<Vec<_>>>()?);
    user.demand = demand;
    user.kinds.iter_mut().zip(kinds).for_each(|(kind, demand)| kind.demand = demand);
    user.tasks = Some(parts);
    Some(parts)
}

/// What is due to users by shares of groups, and by shares of their own.
struct Due {
    works: Vec<f64>,
    /// How many users have a share of their own, or as members of a group that has one.
    own: usize,
}

impl TargetOptions {
    /// The work of the shares that are due to users in groups, and of those that are asked for by name; `None` where there is neither.
    fn due(&self, instance: &Instance) -> Result<Option<Due>, Error> {
        let of_all = self.share.filter(|_| instance.has_groups());
        if of_all.is_none() && self.share_of.is_empty() {
            return Ok(None);
        }
        let tree = FilledTree::new(instance, |id| {
            let user = instance.user(id);
            let best = user.rule().rates().iter().map(|(_, rate)| rate.to_f64()).fold(1.0, f64::max);
            user.tasks().map_or(f64::INFINITY, |tasks| tasks as f64 * best * user.task_share())
        });
        let nothing = || vec![0.0; instance.user_count()];
        let mut shares = of_all.map_or_else(nothing, |share| tree.shares(share.to_f64()));
        let named = of_users_and_groups(instance, "share", &self.share_of)?;
        for (id, share) in &self.share_of {
            let share = share.to_f64();
            let own = match (instance.user_named(id), instance.group_named(id)) {
                (_, Some(group)) => tree.shares_below(group, share),
                (user, None) => {
                    let is_it = |i: usize| user.is_some_and(|user| user.0 == i);
                    (0..shares.len()).map(|i| if is_it(i) { share } else { 0.0 }).collect()
                }
            };
            shares.iter_mut().zip(own).for_each(|(share, own)| *share = share.max(own));
        }
        let work = |(user, share): (User<'_>, f64)| share / user.task_share();
        let works = instance.users().zip(shares).map(work).collect();
        Ok(Some(Due { works, own: named.of_users.iter().flatten().count() }))
    }
}

/// The work that DRFH gives every user today. Where guarantees cannot be kept, that is what it gives without them, and at least what
/// is guaranteed: to keep that is something to buy for.
fn works_today(instance: &Instance, solver: &dyn Solver, control: &Control<'_>) -> Result<Vec<f64>, Error> {
    let works = |instance: &Instance| -> Result<Vec<f64>, Error> {
        let solved = Solved::new(instance, solver, Objective::Drfh, control)?.certified()?;
        let allocation = &solved.solution.allocation;
        let work = |user: User<'_>| allocation.dominant_share(instance, user.index()) / user.task_share();
        Ok(instance.users().map(work).collect())
    };
    let shortfall = match works(instance) {
        // What is guaranteed inside such a group is not known.
        Err(Error::Guarantees(shortfall)) if shortfall.inside.is_empty() => shortfall,
        other => return other,
    };
    let floors = guaranteed_shares(instance, Objective::Drfh, &shortfall.guaranteed);
    let floors = instance.users().zip(floors).map(|(user, floor)| floor / user.task_share());
    let without = works(&instance.without_parts(&[QuotaPart::Guarantees])?)?;
    let note = format!(
        "Today not all guarantees can be kept, {}: what every user is guaranteed is counted as what it has today.",
        shortfall.part_in_words()
    );
    (control.progress)(Progress::Note(&note));
    Ok(without.into_iter().zip(floors).map(|(work, floor)| work.max(floor)).collect())
}

/// The same without quotas, and with them if there are any, and a word of it: what is asked for may be more than users are guaranteed, or
/// can have today.
fn without_quotas(
    instance: Instance,
    as_today: bool,
    control: &Control<'_>,
) -> Result<(Instance, Option<Instance>), Error> {
    if instance.quotas().is_empty() {
        return Ok((instance, None));
    }
    let note = if as_today {
        "What users have today, with what they are guaranteed, takes the place of guarantees, limits and reserves in what to buy."
    } else {
        "What is asked for takes the place of guarantees, limits and reserves: they are not counted in what to buy."
    };
    (control.progress)(Progress::Note(note));
    let free = instance.without_parts(&[QuotaPart::Guarantees, QuotaPart::Limits, QuotaPart::Reserves])?;
    Ok((free, Some(instance)))
}

/// What is stated of users and groups.
struct Own {
    /// Of each user: its own, or that of the nearest group above it.
    of_users: Vec<Option<Decimal>>,
    of_groups: Vec<Option<Decimal>>,
}

/// What is stated by `id` for users and groups; a group's is for all below it that have none of their own.
fn of_users_and_groups(
    instance: &Instance,
    option: &str,
    stated: &[(String, Decimal)],
) -> Result<Own, Error> {
    let mut of_user = vec![None; instance.user_count()];
    let mut of_groups = vec![None; instance.groups().len()];
    for (id, amount) in stated {
        match (instance.user_named(id), instance.group_named(id)) {
            (Some(_), Some(_)) => {
                let id = printable(id, 60);
                let problem = format!(
                    "{option} {id}: the instance has a user and a group of this id; rename one of them in the file, or name the users of the group"
                );
                return Err(Error::Setting(problem));
            }
            (Some(user), None) => of_user[user.0] = Some(*amount),
            (None, Some(group)) => of_groups[group.0] = Some(*amount),
            (None, None) => {
                let names = instance.users().map(|user| user.id());
                let meant = did_you_mean(id, names.chain(instance.groups().iter().map(|group| &*group.id)));
                let id = printable(id, 60);
                let problem = format!("{option} {id}: the instance has no user or group of this id{meant}");
                return Err(Error::Setting(problem));
            }
        }
    }
    let nearest = |group: Option<GroupId>| {
        let mut above = std::iter::successors(group, |group| instance.groups()[group.0].parent);
        above.find_map(|group| of_groups[group.0])
    };
    let of_users = instance.users().map(|user| of_user[user.index().0].or_else(|| nearest(user.group())));
    Ok(Own { of_users: of_users.collect(), of_groups })
}

/// By how much what users ask for grows.
struct Scaling {
    factors: Vec<Option<Decimal>>,
    /// The factors that groups have of their own.
    of_groups: Vec<Option<Decimal>>,
    /// How many users have a factor of their own, or their group's.
    own: usize,
}

impl Scaling {
    fn new(options: &TargetOptions, instance: &Instance) -> Result<Self, Error> {
        let of_zero = options.scale_of.iter().map(|(_, factor)| factor).chain(&options.scale);
        if of_zero.into_iter().any(|factor| factor.is_zero()) {
            return Err(Error::Setting("scale 0: must be > 0".into()));
        }
        let own = of_users_and_groups(instance, "scale", &options.scale_of)?;
        let count = own.of_users.iter().flatten().count();
        // Where some grow, the others keep what they ask for.
        let others = options.scale.or((!options.scale_of.is_empty()).then_some(Decimal::ONE));
        let factors = own.of_users.into_iter().map(|own| own.or(others)).collect();
        Ok(Self { factors, of_groups: own.of_groups, own: count })
    }

    fn is_asked(&self) -> bool {
        self.factors.iter().any(Option::is_some)
    }

    /// Whether a user grows that has no number of tasks.
    fn needs_today(&self, instance: &Instance) -> bool {
        instance.users().any(|user| user.tasks().is_none() && self.factors[user.index().0].is_some())
    }

    /// What becomes of the users where `today` is what they have.
    fn of(&self, instance: &Instance, today: Option<&[f64]>) -> Result<Scaled, Error> {
        if !self.is_asked() {
            return Ok(Scaled::default());
        }
        let mut draft = Draft::from(instance);
        let mut works = vec![0.0; self.factors.len()];
        let mut parts = vec![None; self.factors.len()];
        for (i, factor) in self.factors.iter().enumerate() {
            let Some(factor) = factor else { continue };
            let user = &mut draft.users[i];
            match user.tasks {
                Some(tasks) => {
                    let grown = times(tasks, *factor).ok_or_else(|| {
                        Error::Setting(format!(
                            "scale {factor}: {tasks} tasks become more than can be counted"
                        ))
                    })?;
                    works[i] = grown.to_f64();
                    parts[i] = (grown.exponent() < 0 && tasks as f64 <= works[i]).then_some(grown);
                    user.tasks = Some(tasks.max(works[i].ceil() as u64));
                }
                None => works[i] = today.map_or(0.0, |today| today[i]) * factor.to_f64(),
            }
        }
        Ok(Scaled { instance: Some(draft.build()?), works: Some(works), parts })
    }
}

/// Users that have grown; nothing where nobody does.
#[derive(Default)]
struct Scaled {
    /// The instance in which whoever grows has so many tasks more, in whole ones.
    instance: Option<Instance>,
    /// The work that is asked for of each user.
    works: Option<Vec<f64>>,
    /// The tasks of those that grow to no whole number of them.
    parts: Vec<Option<Decimal>>,
}

/// So many times a number of tasks, with a part of one if need be: who is asked for whole tasks rounds up. `None` beyond 2^64.
fn times(tasks: u64, factor: Decimal) -> Option<Decimal> {
    let exponent = factor.exponent().min(0);
    let product = factor.scaled(exponent)?.checked_mul(tasks.into())?;
    let unit = 10u128.checked_pow(exponent.unsigned_abs().into())?;
    u64::try_from(product.div_ceil(unit)).ok()?;
    Decimal::from_units(product, exponent.into()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_stated_of_a_group_is_of_all_below_it_that_are_not_named_and_a_name_of_both_is_refused() {
        let mut draft = Draft::from(&fairplan_instances::generate::drfh_fig1().unwrap());
        let group =
            |id: &str| fairplan_instances::NewGroup { id: id.into(), weight: Decimal::ONE, parent: None };
        draft.groups = vec![group("team"), group("user-2")];
        draft.users.iter_mut().for_each(|user| user.group = Some(0));
        let instance = draft.build().unwrap();
        let (one, two) = (Some(Decimal::ONE), Some(Decimal::from(2)));
        let stated = |all: &[(&str, Option<Decimal>)]| {
            let stated = all.iter().map(|(id, amount)| ((*id).to_owned(), amount.unwrap()));
            of_users_and_groups(&instance, "tasks", &stated.collect::<Vec<_>>())
        };
        assert_eq!(stated(&[("team", two), ("user-1", one)]).unwrap().of_users, [one, two]);
        let refused = stated(&[("user-2", one)]).err().unwrap().to_string();
        assert!(refused.contains("a user and a group of this id"), "{refused}");
    }

    #[test]
    fn tasks_grow_by_a_factor_exactly_whole_or_not() {
        let times = |tasks, factor: &str| times(tasks, factor.parse().unwrap()).map(Decimal::to_f64);
        assert_eq!(times(10, "1.2"), Some(12.0));
        assert_eq!(times(11, "1.2"), Some(13.2));
        assert_eq!((times(3, "0.5"), times(0, "7"), times(7, "1e2")), (Some(1.5), Some(0.0), Some(700.0)));
        assert_eq!(times(u64::MAX, "2"), None);
    }
}
