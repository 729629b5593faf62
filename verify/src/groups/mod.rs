//! A max-min over a tree of groups, proved stage by stage.
//!
//! At a stage everybody who is held has what it has as ceiling, the others what their tasks are worth; a level `t` at the root
//! then comes to shares `S_i(t)` for all users (see `filling`), none below what it is guaranteed, which rise with `t`. Any feasible allocation has
//! `Σ_i c_i S_i <= Σ_lr C_lr p_lr`, where `c_i` is the least that a share can cost. So no level is possible at which the
//! shares would cost more: that is the stage's bound. At its level the shares are what the users held there have, and what
//! the prices leave beyond is all that one of them could gain. So by induction every user has what filling the tree gives it.

mod filling;
mod guarantees;
mod held_up;
mod members;
mod sure;

use crate::claim::{Printed, Tasks};
use crate::levels::{LevelPrices, Levels, relative_gap};
use crate::limit_rows::LimitUse;
use crate::max_min;
use crate::proof::SolutionProof;
use crate::rounding::{Sum, at_least_nothing, down, up};
use crate::task_limits::has_task_row;
use crate::tolerance;
use crate::users::{Subject, UserShares, usual_share};
use crate::verdict::{Verdict, Worst};
use fairplan_instances::{Instance, Level, LimitedBy, UserId};
use filling::Filled;
pub(crate) use filling::{Bounds, Divided, Tree, divided, divided_in, smallest};
pub(crate) use guarantees::{divided_so, floors_of, tree_of};
use members::Members;
pub(crate) use members::{cap, work_of_share};
pub(crate) use sure::guaranteed_tasks;

/// `guarantees` where there are no stages: everybody has what it is guaranteed, and what is stated of that is so.
pub(crate) fn guarantees_kept(
    subject: Subject<'_>,
    limited_by: &[LimitedBy],
    tasks: &Tasks<'_>,
    floors: &[Bounds],
    printed: Option<&Printed<'_>>,
) -> Verdict {
    let tree = tree_of(subject.instance, floors);
    let claim = Levels { levels: &[], level_of: &[], limited_by, tasks };
    guarantees::kept(subject, &tree, &Members::of(subject, claim, &tree), printed)
}

/// The verdicts on stages, as they are collected.
struct Verdicts {
    levels: Worst,
    bounds: Worst,
    scales: Worst,
    gaps: Worst,
    freezing: Worst,
}

/// Proves the stages of a claim, and the value that follows from them: the smallest weighted share of the root's children, a
/// group's as far as its members divide it by their weights.
pub(crate) fn prove(
    subject: Subject<'_>,
    claim: Levels<'_>,
    printed: Option<&Printed<'_>>,
    limits: Option<&LimitUse>,
    floors: &[Bounds],
) -> SolutionProof {
    let Subject { instance, usable_classes, .. } = subject;
    let tree = tree_of(instance, floors);
    let members = Members::of(subject, claim, &tree);
    let mut reasons = Worst::of("limited-by", tolerance::STATED);
    members.judge_reasons(&mut reasons);
    for user in instance.users() {
        match (limits, claim.limited_by[user.index().0]) {
            (Some(limits), reason) => limits.judge_reason(user, usable_classes, reason, &mut reasons),
            (None, LimitedBy::Limit) => {
                reasons.fail(|| format!("user {} is limited by a limit, and there is none", user.id()));
            }
            (None, _) => {}
        }
    }
    let has_row =
        |user: &fairplan_instances::User<'_>| has_task_row(*user, usable_classes.of_user(user.index().0));
    if let Some(user) = instance.users().find(has_row) {
        reasons.fail(|| {
            let problem = "tasks are limited and do different work on different classes: beside quotas only fractions prove that";
            format!("user {}: {problem}", user.id())
        });
    }
    let mut verdicts = Verdicts {
        levels: Worst::of("levels", tolerance::STATED),
        bounds: Worst::of("level-bounds", 0.0),
        scales: Worst::of("price-scale", tolerance::SLOPE),
        gaps: Worst::of("level-gaps", tolerance::GAP),
        freezing: Worst::of("freezing", tolerance::FREEZING),
    };
    let mut level_gaps = Vec::new();
    let mut before: Option<Vec<Filled>> = None;
    for (k, level) in claim.levels.iter().enumerate() {
        if k > 0 && level.value < claim.levels[k - 1].value {
            verdicts.levels.fail(|| format!("level {k} is below level {}", k - 1));
        }
        let stage = Stage { subject, tree: &tree, members: &members, claim, k, level };
        level_gaps.push(stage.prove(before.as_deref(), &mut verdicts));
        before = Some(tree.at(level.value * (1.0 - tolerance::SOONER), &members.ceilings(k)));
    }
    members.judge_last(before.as_deref(), &mut verdicts.levels);
    let [primal, _] =
        smallest(&divided_in(instance, &tree, |i| members.shares[i].low, |i| members.is_held(i)));
    let caps: Vec<Bounds> = tree.at_the_root(members.caps()).collect();
    let cap = caps.iter().map(|cap| cap.high).fold(f64::INFINITY, f64::min);
    let dual = claim.levels.first().map_or(cap, |level| level.bound.min(cap));
    let gap = relative_gap(primal, dual);
    let mut optimality = Worst::of("optimality", tolerance::GAP);
    optimality.see(gap, || format!("the value is {primal}, but only {dual} is proved to be out of reach"));
    let Verdicts { levels, bounds, scales, gaps, freezing } = verdicts;
    let mut verdicts: Vec<_> =
        [reasons, levels, bounds, scales, gaps, freezing, optimality].map(Worst::verdict).into();
    if instance.has_guarantees() {
        verdicts.push(guarantees::kept(subject, &tree, &members, printed));
    }
    if let Some(stated) = printed {
        verdicts.push(max_min::value(stated, primal, dual, gap));
        let out_of_tasks = caps.iter().map(|cap| cap.low).fold(f64::INFINITY, f64::min);
        verdicts.push(max_min::prices(instance, claim.levels.first(), out_of_tasks, stated));
    }
    SolutionProof { primal, dual, relative_gap: gap, level_gaps, verdicts }
}

/// One level of the claim, with what comes before it.
struct Stage<'a> {
    subject: Subject<'a>,
    tree: &'a Tree,
    members: &'a Members<'a>,
    claim: Levels<'a>,
    k: usize,
    level: &'a Level,
}

impl Stage<'_> {
    /// Judges the level, given what everybody has just below the one before; returns how far its bound is above it.
    fn prove(&self, before: Option<&[Filled]>, verdicts: &mut Verdicts) -> f64 {
        let Self { tree, members, k, level, .. } = *self;
        let Subject { instance, usable_classes, .. } = self.subject;
        let ceilings = members.ceilings(k);
        let at = tree.at(level.value, &ceilings);
        members.judge_level(k, &at, before, &mut verdicts.levels);
        let prices = LevelPrices::of(instance, usable_classes, level);
        let costs = members.costs(&prices);
        let worth = prices.worth(instance);

        let has_floors = tree.has_floors();
        let beyond = match level.bound {
            // What is guaranteed may be all there is.
            0.0 if has_floors => 0.0,
            bound => up(bound * (1.0 + tolerance::ROUNDING)),
        };
        let needed = paid(&costs, &tree.at(beyond, &ceilings));
        // Floors come with roundings of their own, which a level that rises little beside them does not outweigh.
        let least = if has_floors { down(worth * (1.0 - tolerance::LOOSE)) } else { worth };
        verdicts.bounds.see(at_least_nothing(up(least - needed)), || {
            format!("level {k}: all capacity is worth {worth}, of which level {beyond} would cost {needed}")
        });
        // A bound is never below what is reached.
        let above = if level.value > beyond { (level.value - beyond) / level.value } else { 0.0 };
        verdicts.bounds.see(above, || format!("level {k}: {} is stated, and at most {beyond}", level.value));
        let gap = relative_gap(level.value, beyond);
        verdicts.gaps.see(gap, || format!("level {k} has {}, up to {beyond} is not ruled out", level.value));

        let here = paid(&costs, &at);
        // What is stated of the level may be a little more than what users have: that would hide what is left.
        let kept =
            |(cost, (filled, has)): (&f64, (&Filled, &Bounds))| down(cost * filled.share.low.min(has.low));
        let mut all = Sum::new();
        costs.iter().zip(at.iter().zip(&members.shares)).for_each(|terms| all.add(kept(terms)));
        let slack = at_least_nothing(up(worth - all.below()));
        self.judge_freezing(&costs, (&prices, worth), slack, verdicts);

        // Prices are the derivative of the level: one level more costs 1 by what a little less saves or a little more costs.
        let from_nothing = level.value == 0.0 && has_floors;
        let step = tolerance::SLOPE * if from_nothing { worth } else { level.value };
        let at_cost = |value: f64| paid(&costs, &tree.at(value, &ceilings));
        let more = (at_cost(level.value + step) - here) / step;
        let less = if from_nothing { more } else { (here - at_cost(level.value - step)) / step };
        let outside = (less.min(more) - 1.0).max(1.0 - less.max(more)).max(0.0);
        // Beside what is guaranteed a level may be next to nothing: then what it costs is less than the rounding of what all pay.
        let rounding = if has_floors { tolerance::PAID * worth / step } else { 0.0 };
        verdicts.scales.see(at_least_nothing(outside - rounding), || {
            format!("level {k}: one level costs between {less} and {more} at its prices, not 1")
        });
        gap
    }

    /// Nobody is held here who could gain, given what the prices leave when everybody has what the level gives.
    fn judge_freezing(
        &self,
        costs: &[f64],
        (prices, worth): (&LevelPrices, f64),
        slack: f64,
        verdicts: &mut Verdicts,
    ) {
        let Subject { instance, usable_classes, shares } = self.subject;
        let is_rounding = slack <= tolerance::ROUNDED * worth;
        let (members, k) = (self.members, self.k);
        let usual = usual_share(shares);
        let mut anybody = false;
        for i in (0..costs.len()).filter(|i| members.is_held(*i) && self.claim.level_of[*i] as usize == k) {
            // Who has all its tasks is held by them, unless prices say that capacity holds it as well.
            anybody = true;
            // Of the share, as much as gains are measured by; of who has nothing because its siblings are guaranteed more than its
            // group's part, the share that half of the users have.
            let again = match shares[i].work {
                0.0 => down(costs[i] * members.share_of(i, usual.min(tolerance::MEASURED))),
                work => down(costs[i] * down(members.shares[i].low * (shares[i].measure() / work))),
            };
            let gain = up(slack / again);
            let is_small = gain <= tolerance::FREEZING;
            if !is_small && is_rounding && prices.hold_clearly(instance.user(UserId(i)), usable_classes) {
                continue;
            }
            verdicts.freezing.see(gain, || {
                let id = instance.user(UserId(i)).id();
                format!("user {id} is frozen on level {k}, but could gain {gain:e} of what such users have")
            });
        }
        if !anybody {
            verdicts.levels.fail(|| format!("level {k} freezes no user"));
        }
    }
}

/// Whether prices prove a bound on the first level of divisible tasks, and no tighter one, and are in its unit.
pub(crate) fn prove_bound(
    instance: &Instance,
    tree: &Tree,
    users: &[UserShares],
    cost_of_work: impl Fn(usize) -> f64,
    worth: f64,
    bound: f64,
) -> Result<(), String> {
    let caps: Vec<Bounds> = users.iter().enumerate().map(|(i, user)| members::cap(user, i, tree)).collect();
    let cost = |i: usize| down(cost_of_work(i) * members::work_of_share(instance, &users[i], i));
    let costs: Vec<f64> = (0..users.len()).map(|i| if caps[i].high == 0.0 { 0.0 } else { cost(i) }).collect();
    let at_cost = |level: f64| paid(&costs, &tree.at(level, &caps));
    let [below, beyond] =
        [1.0 - tolerance::STATED, 1.0 + tolerance::STATED].map(|part| at_cost(bound * part));
    // Floors come with roundings of their own.
    let rounding = tolerance::LOOSE + 2.0 * tolerance::QUOTIENTS;
    let least = if tree.has_floors() { down(worth * (1.0 - rounding)) } else { worth };
    if beyond < least {
        return Err(format!("all capacity is worth {worth}, and more than {bound} would cost {beyond}"));
    }
    // What is guaranteed may be all there is: then nothing is left for anybody else.
    let from_nothing = bound == 0.0 && tree.has_floors();
    if below > worth && !from_nothing {
        return Err(format!("the prices prove less than {bound}"));
    }
    let step = tolerance::SLOPE * if from_nothing { worth } else { bound };
    let here = at_cost(bound);
    let more = (at_cost(bound + step) - here) / step;
    let less = if from_nothing { more } else { (here - at_cost(bound - step)) / step };
    let outside = (less.min(more) - 1.0).max(1.0 - less.max(more));
    // A step beside floors may be next to nothing: then it costs about as much as they are rounded by.
    let of_floors = if tree.has_floors() { rounding * worth / step } else { 0.0 };
    match outside > tolerance::SLOPE + of_floors {
        true => Err(format!("one level costs between {less} and {more} at the prices, not 1")),
        false => Ok(()),
    }
}

/// What shares cost, at least.
pub(crate) fn paid(costs: &[f64], filled: &[Filled]) -> f64 {
    let mut sum = Sum::new();
    costs.iter().zip(filled).for_each(|(cost, filled)| sum.add(down(cost * filled.share.low)));
    sum.below()
}
