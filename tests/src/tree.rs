//! The exact division over a tree of groups: from what each is guaranteed everybody rises at the rate that weights give it, from the
//! root down over those who can still rise and whose part is no less than what they have, until somebody cannot; and so on.

use crate::max_min::ExactRows;
use crate::simplex::Tableau;
use crate::{Draft, Fraction};
use fairplan_instances::{
    ClassId, GroupId, Instance, Kind, Objective, Owner, Quota, QuotaAmount, ResourceId, User, UserId,
};
use num_bigint::BigInt;

/// The share of each user, as the objective counts it and without its weight, by exact arithmetic.
///
/// # Panics
/// If guarantees cannot be kept together.
pub fn exact_tree(instance: &Instance, objective: Objective) -> Vec<Fraction> {
    exact_filling(instance, objective)
        .unwrap_or_else(|unkept| panic!("of the guarantees can be kept: {unkept:?}"))
}

/// Why guarantees cannot be kept together.
#[derive(Clone, Debug, PartialEq)]
pub enum Unkept {
    /// The largest part of all of them that can be.
    Part(Fraction),
    /// What is guaranteed inside a group is more than the group is.
    Inside,
}

/// The same, or why guarantees cannot be kept together.
pub fn exact_filling(instance: &Instance, objective: Objective) -> Result<Vec<Fraction>, Unkept> {
    let of_groups = shares_alone(instance, objective)?;
    let mut rows = ExactRows::of(instance);
    let first_share_row = rows.constraints.len();
    let (mut of_share, mut floors) = (Vec::new(), Vec::new());
    for user in instance.users() {
        let work =
            &crate::max_min::work_per_level(instance, objective, user) / &Fraction::from(user.weight());
        let (coefficient, row) = rows.work_row(instance, &work, user);
        rows.constraints.push((row, BigInt::ZERO));
        let alone = of_groups[user.index().0].clone();
        let own = || guaranteed_tasks(instance, user).map_or(Fraction::zero(), |tasks| &tasks / &work);
        floors.push(alone.unwrap_or_else(own));
        of_share.push(coefficient);
    }
    // Rows that hold a rise back before capacity does: for what is guaranteed, and until the part of a node is more than that.
    let first_stop = rows.constraints.len();
    let stops =
        if instance.has_guarantees() { 1 + 2 * instance.user_count() + instance.groups().len() } else { 0 };
    rows.constraints.extend((0..stops).map(|_| (vec![BigInt::ZERO; rows.variables], BigInt::from(1))));
    let mut stops = first_stop..first_stop + stops;
    let mut tableau = Tableau::new(rows.variables, rows.constraints);
    // Raises shares at these rates, at most so far; returns how far.
    let mut rise = |tableau: &mut Tableau, rates: &[Fraction], most: Option<&Fraction>| {
        // In units in which all rates are whole, and the farthest is one over a whole number.
        let unit = rates.iter().fold(BigInt::from(1), |unit, rate| unit * rate.denominator());
        let (times, over) = match most {
            None => (BigInt::from(1), None),
            Some(most) => {
                let most = most / &Fraction::new(unit.clone(), 1);
                (most.numerator().clone(), Some(most.denominator().clone()))
            }
        };
        let coefficient = |rate: &Fraction| rate.numerator() * &unit / rate.denominator() * &times;
        let mut column: Vec<_> = (rates.iter().enumerate().filter(|(_, rate)| !rate.is_zero()))
            .map(|(i, rate)| (first_share_row + i, coefficient(rate) * &of_share[i]))
            .collect();
        if let Some(over) = over {
            column.push((stops.next().expect("everybody rises from its floor once, and is held once"), over));
        }
        let variable = tableau.add_variable(&column);
        let risen = tableau.maximise(variable);
        tableau.keep_maxima_of(variable);
        &risen * &Fraction::new(unit * times, 1)
    };
    if floors.iter().any(|floor| !floor.is_zero()) {
        let part = rise(&mut tableau, &floors, Some(&Fraction::one()));
        if part < Fraction::one() {
            return Err(Unkept::Part(part));
        }
    }
    let mut filling = Filling::new(instance, floors);
    while filling.active.contains(&true) {
        let Rates { users, nodes, until } = filling.rates();
        let risen = match users.iter().all(Fraction::is_zero) {
            true => until.clone().expect("somebody rises, or will"),
            false => rise(&mut tableau, &users, until.as_ref()),
        };
        filling.rise(&users, &nodes, &risen);
        let before = filling.active.clone();
        for i in (0..before.len()).filter(|i| before[*i]) {
            filling.active[i] = !tableau.maximise(tableau.slack(first_share_row + i)).is_zero();
        }
        assert!(filling.active != before || until == Some(risen), "somebody comes to its end at every stage");
    }
    Ok(filling.shares)
}

/// What members of groups that are guaranteed something have when these are alone, with that as their limit; of a group inside
/// another of which a user needs the guarantee the outer one.
fn shares_alone(instance: &Instance, objective: Objective) -> Result<Vec<Option<Fraction>>, Unkept> {
    let mut shares = vec![None; instance.user_count()];
    let guarantee =
        |group: GroupId| instance.quota_of(Owner::Group(group)).filter(|quota| quota.has_guarantee());
    let needs = |i: usize, group: GroupId| {
        let user = instance.user(UserId(i));
        let needs_some = |quota: &Quota| quota.guaranteed().any(|sure| user.demand_units(sure.resource) > 0);
        let is_all_over = |quota: &Quota| quota.guarantees.is_empty();
        guarantee(group).is_some_and(|quota| {
            let has_classes = |kind: Kind<'_>| !sure_on(instance, kind, quota).is_empty();
            needs_some(quota) && (is_all_over(quota) || user.kinds().all(has_classes))
        })
    };
    let above = |i: usize| {
        let next = |group: &GroupId| instance.groups()[group.0].parent;
        std::iter::successors(instance.user(UserId(i)).group(), next)
    };
    for group in (0..instance.groups().len()).map(GroupId) {
        let Some(sure) = guarantee(group) else { continue };
        let outermost = |i: usize| above(i).filter(|above| needs(i, *above)).last();
        let members: Vec<usize> = (0..shares.len()).filter(|i| outermost(*i) == Some(group)).collect();
        if members.is_empty() {
            continue;
        }
        let whole = Draft::from(instance);
        let mut alone = whole.clone();
        alone.users = members.iter().map(|i| whole.users[*i].clone()).collect();
        for (user, i) in alone.users.iter_mut().zip(&members) {
            if sure.guarantees.is_empty() {
                continue;
            }
            for (k, kind) in instance.user(UserId(*i)).kinds().enumerate() {
                let on = sure_on(instance, kind, sure).into_iter().map(|class| class.0).collect();
                match user.kinds.get_mut(k) {
                    Some(kind) => kind.eligible = Some(on),
                    None => user.eligible = Some(on),
                }
            }
        }
        let is_inside = |mut at: GroupId| loop {
            if at == group {
                return true;
            }
            match instance.groups()[at.0].parent {
                Some(parent) => at = parent,
                None => return false,
            }
        };
        alone.quotas.retain(|quota| match quota.is_group {
            true => {
                let at = instance.groups().iter().position(|group| group.id == quota.owner);
                at.is_some_and(|at| is_inside(GroupId(at)))
            }
            false => alone.users.iter().any(|user| user.id == quota.owner),
        });
        for quota in &mut alone.quotas {
            quota.quota.reserve.clear();
            quota.quota.reserves.clear();
            if quota.is_group && quota.owner == instance.groups()[group.0].id {
                quota.quota.guarantee.clear();
                quota.quota.guarantees.clear();
                let guaranteed = |resource| sure.guarantee.iter().any(|(other, _)| *other == resource);
                quota.quota.limit.retain(|(resource, _)| !guaranteed(*resource));
                quota.quota.limit.extend(sure.guarantee.clone());
                quota.quota.limits.extend(sure.guarantees.clone());
            }
        }
        let has = exact_filling(&alone.build().expect("a part of an instance is one"), objective);
        let has = has.map_err(|_| Unkept::Inside)?;
        members.into_iter().zip(has).for_each(|(i, share)| shares[i] = Some(share));
    }
    Ok(shares)
}

/// The classes that pieces of a kind can run on where whatever they need of what is guaranteed anywhere is guaranteed too.
fn sure_on(instance: &Instance, kind: Kind<'_>, quota: &Quota) -> Vec<ClassId> {
    let needs = |sure: &QuotaAmount<'_>| kind.piece_units(sure.resource) > 0;
    let resources: Vec<ResourceId> = quota.guaranteed().filter(needs).map(|sure| sure.resource).collect();
    let is_over = |sure: &QuotaAmount<'_>, class: ClassId| match sure.classes {
        Some(classes) => classes.contains(&class),
        None => true,
    };
    let is_sure = |class: &ClassId| {
        let there =
            |r: &ResourceId| quota.guaranteed().any(|sure| sure.resource == *r && is_over(&sure, *class));
        kind.can_use(*class) && resources.iter().all(there)
    };
    (0..instance.classes().len()).map(ClassId).filter(is_sure).collect()
}

/// What a user is guaranteed in tasks, at most its own; nothing if it can run none: a linear program over the pieces of each kind on each
/// class.
fn guaranteed_tasks(instance: &Instance, user: User<'_>) -> Option<Fraction> {
    let quota = instance.quota_of(Owner::User(user.index()))?;
    if !user.kinds().all(|kind| kind.can_run()) || !quota.has_guarantee() {
        return None;
    }
    let pieces: Vec<(Kind<'_>, ClassId)> = user
        .kinds()
        .flat_map(|kind| sure_on(instance, kind, quota).into_iter().map(move |class| (kind, class)))
        .collect();
    let tasks = pieces.len();
    let mut rows: Vec<(Vec<BigInt>, BigInt)> = Vec::new();
    for kind in user.kinds() {
        let of_kind = |(of, _): &(Kind<'_>, ClassId)| BigInt::from(-i64::from(of.index() == kind.index()));
        let mut row: Vec<BigInt> = pieces.iter().map(of_kind).collect();
        row.push(BigInt::from(kind.each()));
        rows.push((row, BigInt::ZERO));
    }
    for sure in quota.guaranteed() {
        let counts = |class: &ClassId| sure.classes.is_none_or(|classes| classes.contains(class));
        let taken = |(kind, class): &(Kind<'_>, ClassId)| match counts(class) {
            true => BigInt::from(kind.piece_units(sure.resource)),
            false => BigInt::ZERO,
        };
        let mut row: Vec<BigInt> = pieces.iter().map(taken).collect();
        row.push(BigInt::ZERO);
        let amount = sure.amount.scaled(instance.unit_exponent(sure.resource)).expect("it fits the unit");
        rows.push((row, BigInt::from(amount)));
    }
    let tasks = Tableau::new(tasks + 1, rows).maximise(tasks);
    Some(user.tasks().map_or(tasks.clone(), |all| tasks.min(Fraction::from(all))))
}

/// How far a level at the root has filled the tree. Nodes are numbered: the root, the groups, the users.
struct Filling {
    weight: Vec<Fraction>,
    children: Vec<Vec<usize>>,
    first_user: usize,
    shares: Vec<Fraction>,
    /// Which users can still rise.
    active: Vec<bool>,
    /// What a child of each inner node has for its weight, unless it has more already.
    each: Vec<Fraction>,
}

/// How fast things rise with the level at the root.
struct Rates {
    users: Vec<Fraction>,
    /// What the children of each inner node have for their weights.
    nodes: Vec<Fraction>,
    /// How far the level may rise until the part of some node is what it has, and it rises, too.
    until: Option<Fraction>,
}

impl Filling {
    fn new(instance: &Instance, shares: Vec<Fraction>) -> Self {
        let first_user = 1 + instance.groups().len();
        let mut children = vec![Vec::new(); first_user];
        let mut weight = vec![Fraction::one()];
        for (g, group) in instance.groups().iter().enumerate() {
            weight.push(Fraction::from(group.weight));
            children[group.parent.map_or(0, |parent| parent.0 + 1)].push(g + 1);
        }
        for i in 0..instance.user_count() {
            let user = instance.user(UserId(i));
            weight.push(Fraction::from(user.weight()));
            children[user.group().map_or(0, |group| group.0 + 1)].push(first_user + i);
        }
        let (active, each) = (vec![true; shares.len()], vec![Fraction::zero(); first_user]);
        Self { weight, children, first_user, shares, active, each }
    }

    fn share(&self, node: usize) -> Fraction {
        match node.checked_sub(self.first_user) {
            Some(user) => self.shares[user].clone(),
            None => self.children[node].iter().map(|child| self.share(*child)).sum(),
        }
    }

    fn is_active(&self, node: usize) -> bool {
        match node.checked_sub(self.first_user) {
            Some(user) => self.active[user],
            None => self.children[node].iter().any(|child| self.is_active(*child)),
        }
    }

    /// What a node has for its weight.
    fn level(&self, node: usize) -> Fraction {
        &self.share(node) / &self.weight[node]
    }

    fn rates(&mut self) -> Rates {
        let zeros = |n: usize| vec![Fraction::zero(); n];
        let mut rates = Rates { users: zeros(self.shares.len()), nodes: zeros(self.each.len()), until: None };
        rates.nodes[0] = Fraction::one();
        self.below(0, &mut rates);
        rates
    }

    /// The rates below a node, given its own.
    fn below(&mut self, node: usize, rates: &mut Rates) {
        let rate = rates.nodes[node].clone();
        let active: Vec<usize> =
            self.children[node].iter().copied().filter(|child| self.is_active(*child)).collect();
        for child in active {
            let level = self.level(child);
            if level > self.each[node] {
                let far = &(&level - &self.each[node]) / &rate;
                rates.until = Some(rates.until.take().map_or(far.clone(), |until| until.min(far)));
                continue;
            }
            let rises = &rate * &self.weight[child];
            if let Some(user) = child.checked_sub(self.first_user) {
                rates.users[user] = rises;
                continue;
            }
            let inside: Vec<usize> =
                self.children[child].iter().copied().filter(|one| self.is_active(*one)).collect();
            // Where all have more than their parts, more is divided from the first on whose part it is.
            let least = inside.iter().map(|one| self.level(*one)).min().expect("somebody inside is active");
            self.each[child] = self.each[child].clone().max(least);
            let rising = inside.iter().filter(|one| self.level(**one) <= self.each[child]);
            let weights: Fraction = rising.map(|one| self.weight[*one].clone()).sum();
            rates.nodes[child] = &rises / &weights;
            self.below(child, rates);
        }
    }

    fn rise(&mut self, users: &[Fraction], nodes: &[Fraction], far: &Fraction) {
        let more = |all: &mut Vec<Fraction>, rates: &[Fraction]| {
            all.iter_mut().zip(rates).for_each(|(one, rate)| *one = &*one + &(rate * far));
        };
        more(&mut self.shares, users);
        more(&mut self.each, nodes);
    }
}
