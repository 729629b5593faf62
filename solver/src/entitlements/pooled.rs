//! Quotas as schedulers see them who know no servers: amounts of one pool.

use fairplan_instances::{ClassId, GroupId, Instance, Owner, QuotaAmount, User};

/// What an owner is guaranteed of each resource and the most it may have, whatever the classes.
#[derive(Clone, Debug, PartialEq)]
pub struct PooledQuota {
    /// What it is guaranteed on all classes together; 0 where nothing is.
    pub guarantee: Vec<f64>,
    /// The most that it may have of it; `None` where it may have all. Limits over some classes count where those below can run on no
    /// others: together they may have the sum.
    pub limit: Vec<Option<f64>>,
}

impl PooledQuota {
    /// That of a user or a group, by what is stated of itself.
    pub fn of(instance: &Instance, owner: Owner) -> Self {
        let resources = instance.resources().len();
        let (mut guarantee, mut limit) = (vec![0.0; resources], vec![None; resources]);
        let Some(quota) = instance.quota_of(owner) else { return Self { guarantee, limit } };
        for (r, (guarantee, limit)) in guarantee.iter_mut().zip(&mut limit).enumerate() {
            let is_of = |amount: &QuotaAmount<'_>| amount.resource.0 == r;
            let sure: Vec<QuotaAmount<'_>> = quota.guaranteed().filter(is_of).collect();
            let over_all = sure.iter().find(|sure| sure.classes.is_none()).map(|sure| sure.amount.to_f64());
            *guarantee = over_all.unwrap_or_else(|| sure.iter().map(|sure| sure.amount.to_f64()).sum());
            let (all, some): (Vec<QuotaAmount<'_>>, Vec<_>) =
                quota.limited().filter(is_of).partition(|most| most.classes.is_none());
            let covers = |class: ClassId| some.iter().any(|most| most.covers(class));
            let sum = || some.iter().map(|most| most.amount.to_f64()).sum::<f64>();
            let of_some = (!some.is_empty() && used_by(instance, owner).all(covers)).then(sum);
            *limit = all.iter().map(|most| most.amount.to_f64()).chain(of_some).reduce(f64::min);
        }
        Self { guarantee, limit }
    }
}

/// The classes that somebody below an owner can use.
fn used_by(instance: &Instance, owner: Owner) -> impl Iterator<Item = ClassId> + '_ {
    let inside = match owner {
        Owner::Group(group) => instance.groups_inside(group),
        Owner::User(_) => Vec::new(),
    };
    let is_below = move |user: User<'_>| match owner {
        Owner::User(other) => user.index() == other,
        Owner::Group(_) => user.group().is_some_and(|GroupId(group)| inside[group]),
    };
    let classes = (0..instance.classes().len()).map(ClassId);
    classes.filter(move |class| instance.users().any(|user| is_below(user) && user.can_use(*class)))
}
