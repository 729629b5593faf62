//! DRF inside each server (DRFH Sec. III-D) that is stated in fractions, proved by its definition without any tolerance: in every
//! server that it can use, every user has the largest weighted dominant share, of that server, among those that need some resource that
//! is used up there. That is what max-min fairness inside a server comes to. A server has whole tasks of a user, with all their kinds.

use super::fraction::{self, Fraction};
use super::stated::{Holding, Stated, Work, task_share};
use super::{UsedRows, doubles, printed_value, refused, texts};
use crate::claim::SolutionClaim;
use crate::proof::SolutionProof;
use crate::verdict::{Verdict, Worst};
use fairplan_instances::{ClassId, LimitedBy, ResourceId, User};

/// Proves the fractions of such a claim.
pub(super) fn prove(stated: &Stated<'_>, claim: &SolutionClaim<'_>) -> SolutionProof {
    let mut form = Worst::of("exact-form", 0.0);
    let holdings: Result<Vec<Holding>, String> =
        stated.instance.users().map(|user| holding(stated, user)).collect();
    let holdings = match holdings {
        Ok(holdings) => holdings,
        Err(problem) => {
            form.fail(|| problem);
            return refused(form.verdict());
        }
    };
    let rows = UsedRows::of(stated, &holdings);
    let mut verdicts = vec![form.verdict(), rows.kept(stated), reasons(stated)];
    verdicts.push(texts(stated, &holdings));
    verdicts.push(bottlenecks(stated, &holdings, &rows));
    verdicts.push(doubles(stated, &holdings, claim));
    let (value, value_verdict) = value(stated, &holdings);
    verdicts.push(value_verdict);
    verdicts.extend(claim.printed.as_ref().map(|printed| printed_value(printed, value)));
    SolutionProof::of(value, verdicts)
}

/// What a user has: all of it is stated, and of every kind as much on every class.
fn holding(stated: &Stated<'_>, user: User<'_>) -> Result<Holding, String> {
    let parts = stated.parts(user)?;
    let of_kind = |kind: usize| parts.iter().filter(move |part| part.kind == kind);
    let stated_of = |kind: usize| of_kind(kind).map(|part| (part.class, part.tasks.as_ref()));
    let first = user.kind_range().start;
    if !user.kind_range().all(|kind| stated_of(kind).eq(stated_of(first))) {
        return Err(format!("user {}: its pieces on some class make no whole tasks", user.id()));
    }
    let mut work = Fraction::zero();
    for part in of_kind(first) {
        let tasks = part.tasks.as_ref();
        let tasks = tasks.ok_or_else(|| format!("user {}: its tasks on a class are left out", user.id()))?;
        work = work.plus(&tasks.times(&Fraction::decimal(user.rule().rate(ClassId(part.class)))));
    }
    Ok(Holding { work: Work::Of(work), parts })
}

/// `exact-reasons`: capacity, for all that have a class they can use.
fn reasons(stated: &Stated<'_>) -> Verdict {
    let mut worst = Worst::of("exact-reasons", 0.0);
    for user in stated.instance.users() {
        let i = user.index().0;
        let has_class = stated.usable.of_whole_tasks(i).next().is_some();
        let expected = if has_class { LimitedBy::Capacity } else { LimitedBy::NoUsableClass };
        if stated.limited_by[i] != expected {
            let said = stated.limited_by[i].name();
            worst.fail(|| format!("user {} is limited by {}, not by {said}", user.id(), expected.name()));
        }
    }
    worst.verdict()
}

/// `exact-bottlenecks`: the definition.
fn bottlenecks(stated: &Stated<'_>, holdings: &[Holding], rows: &UsedRows) -> Verdict {
    let mut worst = Worst::of("exact-bottlenecks", 0.0);
    let instance = stated.instance;
    let m = instance.resources().len();
    let needs = |user: User<'_>, r: usize| user.demand_units(ResourceId(r)) > 0;
    // Of all servers of the class together, which are alike.
    let share = |user: User<'_>, holding: &Holding, class: usize| {
        let part = holding.parts.iter().find(|part| part.class == class)?;
        let of_task = (0..m).filter(|r| needs(user, *r)).map(|r| {
            let capacity = instance.capacity_units(ClassId(class), ResourceId(r));
            Fraction::of(user.demand_units(ResourceId(r)), capacity.max(1))
        });
        let weight = Fraction::decimal(user.weight());
        Some(part.tasks.as_ref()?.times(&of_task.max()?).over(&weight))
    };
    let mut largest = vec![Fraction::zero(); instance.classes().len() * m];
    for (user, holding) in instance.users().zip(holdings) {
        for class in stated.usable.of_whole_tasks(user.index().0) {
            let Some(own) = share(user, holding, class) else { continue };
            for r in (0..m).filter(|r| needs(user, *r)) {
                let known = &mut largest[class * m + r];
                if own > *known {
                    *known = own.clone();
                }
            }
        }
    }
    for (user, holding) in instance.users().zip(holdings) {
        for class in stated.usable.of_whole_tasks(user.index().0) {
            let own = share(user, holding, class).unwrap_or_else(Fraction::zero);
            let holds = |r: usize| {
                let row = class * m + r;
                needs(user, r) && rows.is_full(row) && own == largest[row]
            };
            if !(0..m).any(holds) {
                let class = &instance.classes()[class].id;
                worst.fail(|| format!("nothing holds user {} on the servers of class {class}", user.id()));
            }
        }
    }
    worst.verdict()
}

/// `exact-value`: the smallest dominant share.
fn value(stated: &Stated<'_>, holdings: &[Holding]) -> (f64, Verdict) {
    let mut worst = Worst::of("exact-value", 0.0);
    let users = stated.instance.users().zip(holdings);
    let shares = users.map(|(user, holding)| stated.work(user, &holding.work).times(&task_share(user)));
    let truth = shares.min().unwrap_or_else(Fraction::zero);
    if truth != stated.value {
        let text = fraction::shown(&stated.exact.value);
        worst.fail(|| format!("{text} is stated, {} is the smallest dominant share", truth.near()));
    }
    (truth.near(), worst.verdict())
}
