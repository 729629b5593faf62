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

use crate::beyond::{Beyond, part_beyond, taken_at_once};
use crate::claim::{Printed, Tasks};
use crate::levels::{LevelPrices, Levels, relative_gap};
use crate::max_min;
use crate::proof::SolutionProof;
use crate::rounding::{Sum, at_least_nothing, down, up};
use crate::task_limits::has_task_row;
use crate::tolerance;
use crate::used::Used;
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
    used: &Used<'_>,
    floors: &[Bounds],
) -> SolutionProof {
    let Subject { instance, usable_classes, .. } = subject;
    let tree = tree_of(instance, floors);
    let members = Members::of(subject, claim, &tree);
    let mut reasons = Worst::of("limited-by", tolerance::STATED);
    members.judge_reasons(&mut reasons);
    for user in instance.users() {
        match (used.limits, claim.limited_by[user.index().0]) {
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
        let stage = Stage { subject, tree: &tree, members: &members, claim, used, k, level };
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
    SolutionProof { primal, dual, relative_gap: gap, level_gaps, unseen: 0, verdicts }
}

/// One level of the claim, with what comes before it.
struct Stage<'a> {
    subject: Subject<'a>,
    tree: &'a Tree,
    members: &'a Members<'a>,
    claim: Levels<'a>,
    used: &'a Used<'a>,
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
        let at_beyond = tree.at(beyond, &ceilings);
        let needed = paid(&costs, &at_beyond);
        let moved = Moved { tree, costs: &costs, ceilings: &ceilings };
        let least = moved.at_least(worth, (beyond, &at_beyond), tolerance::LOOSE);
        verdicts.bounds.see(at_least_nothing(up(least - needed)), || {
            format!("level {k}: all capacity is worth {worth}, of which level {beyond} would cost {needed}")
        });
        // A bound is never below what is reached.
        let above = if level.value > beyond { (level.value - beyond) / level.value } else { 0.0 };
        verdicts.bounds.see(above, || format!("level {k}: {} is stated, and at most {beyond}", level.value));
        let gap = relative_gap(level.value, beyond);
        verdicts.gaps.see(gap, || format!("level {k} has {}, up to {beyond} is not ruled out", level.value));

        // What is stated of the level may be a little more than what users have: that would hide what is left.
        let kept =
            |(cost, (filled, has)): (&f64, (&Filled, &Bounds))| down(cost * filled.share.low.min(has.low));
        let mut all = Sum::new();
        costs.iter().zip(at.iter().zip(&members.shares)).for_each(|terms| all.add(kept(terms)));
        let slack = at_least_nothing(up(worth - all.below()));
        if !(0..costs.len()).any(|i| self.is_held(i)) {
            verdicts.levels.fail(|| format!("level {k} freezes no user"));
        }
        if self.judge_freezing(&costs, (&prices, worth), slack, verdicts) > tolerance::TAKEN {
            self.judge_taking(&at, verdicts);
        }

        let slopes = moved.slopes(level.value, &at);
        verdicts.scales.see(outside(slopes).max(0.0), || {
            let [less, more] = slopes;
            format!("level {k}: one level costs between {less} and {more} at its prices, not 1")
        });
        gap
    }

    /// Nobody is held here who could gain, given what the prices leave when everybody has what the level gives; the largest gain that they
    /// do not rule out.
    fn judge_freezing(
        &self,
        costs: &[f64],
        (prices, worth): (&LevelPrices, f64),
        slack: f64,
        verdicts: &mut Verdicts,
    ) -> f64 {
        let Subject { instance, usable_classes, shares } = self.subject;
        let is_rounding = slack <= tolerance::ROUNDED * worth;
        let (members, k) = (self.members, self.k);
        let usual = usual_share(shares);
        let mut largest = 0.0f64;
        for i in (0..costs.len()).filter(|i| self.is_held(*i)) {
            // Who has all its tasks is held by them, unless prices say that capacity holds it as well.
            // Of the share, as much as gains are measured by; of who has nothing because its siblings are guaranteed more than its
            // group's part, the share that half of the users have.
            let again = match shares[i].work {
                0.0 => down(costs[i] * members.share_of(i, usual.min(tolerance::MEASURED))),
                work => down(costs[i] * down(members.shares[i].low * (shares[i].measure() / work))),
            };
            let gain = up(slack / again);
            largest = largest.max(gain);
            let is_small = gain <= tolerance::FREEZING;
            let may_hide = is_rounding && shares[i].share <= tolerance::HIDDEN;
            if !is_small && may_hide && prices.hold_clearly(instance.user(UserId(i)), usable_classes) {
                continue;
            }
            verdicts.freezing.see(gain, || {
                let id = instance.user(UserId(i)).id();
                format!("user {id} is frozen on level {k}, but could gain {gain:e} of what such users have")
            });
        }
        largest
    }

    /// Nobody is held here who could take at once of what is idle, and of what others have beyond what the level gives them.
    fn judge_taking(&self, at: &[Filled], verdicts: &mut Verdicts) {
        let Self { subject, members, claim, k, .. } = *self;
        let part = |i: usize| part_beyond(members.shares[i].low, at[i].share.high);
        let beyond = Beyond::level(subject, claim.tasks, self.used, part);
        if let Some((taken, i)) = beyond.taken_by(|i| self.is_held(i)) {
            verdicts.freezing.fail(|| taken_at_once(subject.instance.user(UserId(i)).id(), k, taken));
        }
    }

    /// Whether this level holds the user.
    fn is_held(&self, user: usize) -> bool {
        self.members.is_held(user) && self.claim.level_of[user] as usize == self.k
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
    // By what part floors are rounded.
    let loose = if tree.has_floors() { tolerance::LOOSE + 2.0 * tolerance::QUOTIENTS } else { 0.0 };
    let moved = Moved { tree, costs: &costs, ceilings: &caps };
    let at = tree.at(bound, &caps);
    let least = moved.at_least(worth, (bound, &at), loose);
    if beyond < least {
        return Err(format!("all capacity is worth {worth}, and more than {bound} would cost {beyond}"));
    }
    // What is guaranteed may be all there is: then nothing is left for anybody else.
    let from_nothing = bound == 0.0 && tree.has_floors();
    if below > worth && !from_nothing {
        return Err(format!("the prices prove less than {bound}"));
    }
    let slopes @ [less, more] = moved.slopes(bound, &at);
    // Who begins to rise within the step does so where its floor ends.
    match outside(slopes) > tolerance::SLOPE + loose / tolerance::SLOPE {
        true => Err(format!("one level costs between {less} and {more} at the prices, not 1")),
        false => Ok(()),
    }
}

/// A level that is moved a little, to see what that costs.
struct Moved<'a> {
    tree: &'a Tree,
    costs: &'a [f64],
    ceilings: &'a [Bounds],
}

/// How often a step is doubled to find a level at which somebody rises.
const DOUBLED: i32 = 60;

impl Moved<'_> {
    /// What all is worth, less what of that may be rounding of floors, by this part of it: a level that rises little beside them does not outweigh it. No
    /// more counts than makes that level, which gives the users so much, uncertain by next to nothing of the cluster, whatever the prices of what is
    /// guaranteed.
    fn at_least(&self, worth: f64, (level, here): (f64, &[Filled]), loose: f64) -> f64 {
        if !self.tree.has_floors() {
            return worth;
        }
        // Where all are at their floors nobody rises until somebody's part is more.
        for doubled in 0..DOUBLED {
            let step = self.step_at(level) * 2f64.powi(doubled);
            let above = self.tree.at(level + step, self.ceilings);
            let rise = |(here, above): (&Filled, &Filled)| at_least_nothing(above.share.low - here.share.low);
            let in_shares: f64 = here.iter().zip(&above).map(rise).sum::<f64>() / step;
            if in_shares > 0.0 {
                let uncertain = (tolerance::HIDDEN / in_shares).max(tolerance::ROUNDING * level);
                let rounding = (loose * worth).min(uncertain * risen(self.costs, here, &above) / step);
                return down(worth - rounding);
            }
        }
        down(worth)
    }

    /// What one level less saves and one more costs, beside what it gives `here`: prices are the derivative of a level.
    fn slopes(&self, level: f64, here: &[Filled]) -> [f64; 2] {
        let step = self.step_at(level);
        let more = risen(self.costs, here, &self.tree.at(level + step, self.ceilings)) / step;
        let less = match level - step >= 0.0 {
            true => risen(self.costs, &self.tree.at(level - step, self.ceilings), here) / step,
            false => more,
        };
        [less, more]
    }

    /// By how much a level is moved: where it is nothing, so that all rise by a small part of the cluster.
    fn step_at(&self, level: f64) -> f64 {
        match level > 0.0 {
            true => tolerance::SLOPE * level,
            false => tolerance::SLOPE / self.tree.weight_at_the_root(),
        }
    }
}

/// By how much both of these are on one side of 1.
fn outside([less, more]: [f64; 2]) -> f64 {
    (less.min(more) - 1.0).max(1.0 - less.max(more))
}

/// What it costs to rise from some shares to others. Who has the same, as at a floor, costs nothing, whatever the price.
fn risen(costs: &[f64], from: &[Filled], to: &[Filled]) -> f64 {
    let rise = |(from, to): (&Filled, &Filled)| to.share.low - from.share.low;
    costs.iter().zip(from.iter().zip(to).map(rise)).map(|(cost, rise)| cost * rise).sum()
}

/// What shares cost, at least.
pub(crate) fn paid(costs: &[f64], filled: &[Filled]) -> f64 {
    let mut sum = Sum::new();
    costs.iter().zip(filled).for_each(|(cost, filled)| sum.add(down(cost * filled.share.low)));
    sum.below()
}
