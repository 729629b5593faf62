//! The offline optimum re-proved: an allocation that fits, and nested cuts that nobody can get past.
//!
//! The users of a set `Z` get at most `ρ(Z) = Σ_t min(S_t, Σ_{i∈Z} d_it)` together, whatever is decided (with
//! guaranteed shares: that much beyond them). So once the users of the lower levels have theirs, the smallest of a
//! level is at most what is left of `ρ` for it, over its weight; and if nobody is below that, the levels are the
//! lexicographic optimum. Of whole slices every cut must be full to the last one, and within a level no slice may
//! be better off with somebody else. Slices are counted in whole numbers, divided ones in parts of 2^60.

use crate::fractions::offline::ExactSlices;
use crate::tolerance::{OFFLINE_TOLERANCE, WHOLE_SLICES};
use crate::verdict::{Verdict, Worst};
use fairplan_instances::{ExactOffline, OfflineLevel, OfflineOptimum, OfflineProblem, compare_ratios};
use std::cmp::Ordering;

/// Parts of a slice.
const PARTS: f64 = (1u64 << 60) as f64;

/// An allocation over all quanta and its levels, as claimed.
#[derive(Clone, Copy, Debug)]
pub struct OfflineClaim<'a> {
    /// Slices allocated to each demand above zero, in the order of the series.
    pub allocated: &'a [f64],
    /// The levels, lowest first.
    pub levels: &'a [OfflineLevel],
    /// The same as fractions, where they are stated: then they are what is proved, without tolerance.
    pub exact: Option<&'a ExactOffline>,
}

impl<'a> From<&'a OfflineOptimum> for OfflineClaim<'a> {
    fn from(optimum: &'a OfflineOptimum) -> Self {
        Self { allocated: &optimum.allocated, levels: &optimum.levels, exact: optimum.exact.as_ref() }
    }
}

/// What was found of a claim.
#[derive(Clone, Debug)]
pub struct OfflineProof {
    /// Every property.
    pub verdicts: Vec<Verdict>,
    /// The largest part of its level that a user lacks.
    pub relative_gap: f64,
}

impl OfflineProof {
    /// Whether every property holds.
    pub fn holds(&self) -> bool {
        self.verdicts.iter().all(|verdict| verdict.holds)
    }
}

/// Checks everything that a claim states.
pub fn verify_offline(problem: &OfflineProblem<'_>, claim: OfflineClaim<'_>) -> OfflineProof {
    let series = problem.series;
    if claim.allocated.len() != series.entry_count() {
        let mut entries = Worst::of("allocation", 0.0);
        entries.fail(|| {
            format!("{} amounts are stated for {} demands", claim.allocated.len(), series.entry_count())
        });
        return OfflineProof { verdicts: vec![entries.verdict()], relative_gap: f64::INFINITY };
    }
    if let Some(exact) = claim.exact {
        return verify_fractions(problem, claim, exact);
    }
    let (allocation, capacity, totals) = fits(problem, claim.allocated);
    let mut members = Worst::of("levels", 0.0);
    let level_of = level_of(problem, claim.levels, &mut members);
    let mut verdicts = vec![allocation, capacity, members.verdict()];
    let mut relative_gap = f64::INFINITY;
    if verdicts.iter().all(|verdict| verdict.holds) {
        let cuts = cuts(problem, claim.levels.len(), &level_of);
        let gaps = gaps(problem, claim.levels, &totals, &cuts);
        relative_gap = gaps.residual;
        verdicts.push(gaps);
        if problem.whole_slices {
            verdicts.push(whole(problem, claim.levels, &totals, &cuts));
        }
    }
    OfflineProof { verdicts, relative_gap }
}

/// Checks everything that a claim states in fractions.
fn verify_fractions(
    problem: &OfflineProblem<'_>,
    claim: OfflineClaim<'_>,
    exact: &ExactOffline,
) -> OfflineProof {
    let refused = |verdicts: Vec<Verdict>| OfflineProof { verdicts, relative_gap: f64::INFINITY };
    if problem.whole_slices {
        let mut form = Worst::of("exact-form", 0.0);
        form.fail(|| "whole slices have no fractions".into());
        return refused(vec![form.verdict()]);
    }
    let slices = match ExactSlices::read(problem, exact, claim.levels.len()) {
        Ok(slices) => slices,
        Err(form) => return refused(vec![form]),
    };
    let (mut verdicts, totals) = slices.fits(problem, claim.allocated);
    let mut members = Worst::of("levels", 0.0);
    let level_of = level_of(problem, claim.levels, &mut members);
    verdicts.push(members.verdict());
    if !verdicts.iter().all(|verdict| verdict.holds) {
        return refused(verdicts);
    }
    let cuts = cuts(problem, claim.levels.len(), &level_of);
    verdicts.extend(slices.levels(problem, claim.levels, &totals, &cuts));
    let relative_gap = if verdicts.iter().all(|verdict| verdict.holds) { 0.0 } else { f64::INFINITY };
    OfflineProof { verdicts, relative_gap }
}

/// Whether every demand gets no more than it is, no less than is guaranteed, and every quantum holds; and what each
/// user gets in total, in parts of a slice, rounded down.
fn fits(problem: &OfflineProblem<'_>, allocated: &[f64]) -> (Verdict, Verdict, Vec<u128>) {
    let series = problem.series;
    let mut within = Worst::of("allocation", 0.0);
    let mut capacity = Worst::of("capacity", 0.0);
    let mut totals = vec![0u128; series.user_count()];
    let mut start = 0;
    problem.for_each_quantum(|quantum, due, guaranteed| {
        let (users, slices) = series.demands(quantum);
        let amounts = &allocated[start..start + users.len()];
        start += users.len();
        let mut used = 0u128;
        for (((user, slices), sure), amount) in users.iter().zip(slices).zip(guaranteed).zip(amounts) {
            // Both are at most 10^11 and exact as doubles.
            let (least, most) = (*sure as f64, *slices as f64);
            let whole = !problem.whole_slices || amount.fract() == 0.0;
            if !(*amount >= least && *amount <= most && whole) {
                within.fail(|| {
                    let (id, label) = (series.user_id(*user as usize).escape_debug(), series.label(quantum));
                    format!(
                        "user {id} gets {amount} in quantum {label}, where {sure} to {slices} can be given"
                    )
                });
                continue;
            }
            used += (amount * PARTS).ceil() as u128;
            totals[*user as usize] += (amount * PARTS).floor() as u128;
        }
        let all = u128::from(due.capacity()) << 60;
        if used > all {
            capacity.see((used - all) as f64 / PARTS, || {
                format!("quantum {} has {} slices", series.label(quantum), due.capacity())
            });
        }
    });
    (within.verdict(), capacity.verdict(), totals)
}

/// The level of each user that counts, who must all be named once.
fn level_of(problem: &OfflineProblem<'_>, levels: &[OfflineLevel], members: &mut Worst) -> Vec<Option<u32>> {
    let series = problem.series;
    let weights = problem.weights();
    let mut level_of = vec![None; series.user_count()];
    for (position, level) in levels.iter().enumerate() {
        for user in &level.users {
            match level_of.get_mut(*user as usize) {
                Some(of @ None) if weights[*user as usize] > 0 => *of = Some(position as u32),
                _ => members.fail(|| format!("user {user} of level {position} does not belong there")),
            }
        }
        if level.users.is_empty() {
            members.fail(|| format!("level {position} has no users"));
        }
        if !level.users.is_sorted_by(|a, b| a < b) {
            members.fail(|| format!("the users of level {position} are not in their order"));
        }
    }
    for user in (0..series.user_count()).filter(|user| weights[*user] > 0 && level_of[*user].is_none()) {
        members.fail(|| format!("user {} has no level", series.user_id(user).escape_debug()));
    }
    level_of
}

/// `ρ` of the users of the first levels, one more level at a time, in slices.
fn cuts(problem: &OfflineProblem<'_>, levels: usize, level_of: &[Option<u32>]) -> Vec<u128> {
    let series = problem.series;
    let mut cuts = vec![0u128; levels];
    let mut demanded: Vec<(u32, u64, u64)> = Vec::new();
    problem.for_each_quantum(|quantum, due, guaranteed| {
        let (users, slices) = series.demands(quantum);
        demanded.clear();
        let entries = users.iter().zip(slices).zip(guaranteed);
        demanded
            .extend(entries.filter_map(|((user, slices), sure)| {
                Some((level_of[*user as usize]?, *sure, slices - sure))
            }));
        demanded.sort_unstable();
        let mut free = due.capacity() - guaranteed.iter().sum::<u64>();
        for (level, sure, room) in &demanded {
            let part = free.min(*room);
            free -= part;
            cuts[*level as usize] += u128::from(sure + part);
        }
    });
    for level in 1..levels {
        cuts[level] += cuts[level - 1];
    }
    cuts
}

/// What each level can get at most, held against what its users get and what is stated.
fn gaps(problem: &OfflineProblem<'_>, levels: &[OfflineLevel], totals: &[u128], cuts: &[u128]) -> Verdict {
    let weights = problem.weights();
    let mut worst = Worst::of("level-gaps", OFFLINE_TOLERANCE);
    let mut given = 0u128;
    let mut before = 0.0;
    for (level, cut) in levels.iter().zip(cuts) {
        let users = || level.users.iter().map(|user| *user as usize);
        let weight: u128 = users().map(|user| u128::from(weights[user])).sum();
        let left = (cut << 60).saturating_sub(given);
        let bound = left as f64 / PARTS / weight as f64;
        if problem.whole_slices {
            // A level of whole slices is at most its cut, but need not usable it; `whole` decides.
            given += users().map(|user| totals[user]).sum::<u128>();
            continue;
        }
        worst.see((before - bound) / before.max(f64::MIN_POSITIVE), || {
            format!("a level of {bound} follows one of {before}")
        });
        worst.see((level.value - bound).abs() / bound.max(f64::MIN_POSITIVE), || {
            format!("a level of {} is stated where {bound} can be reached", level.value)
        });
        for user in users() {
            let reached = totals[user] as f64 / PARTS / weights[user] as f64;
            worst.see((bound - reached) / bound.max(f64::MIN_POSITIVE), || {
                let id = problem.series.user_id(user).escape_debug();
                format!("user {id} gets {reached} by weight, and its level can be {bound}")
            });
            given += totals[user];
        }
        before = bound;
    }
    worst.verdict()
}

/// Whether every cut is full, and no slice would be better off with another user of the same level.
fn whole(problem: &OfflineProblem<'_>, levels: &[OfflineLevel], totals: &[u128], cuts: &[u128]) -> Verdict {
    let weights = problem.weights();
    let mut worst = Worst::of("whole-slices", WHOLE_SLICES);
    let mut given = 0;
    let mut before = (0, 1);
    for (position, (level, cut)) in levels.iter().zip(cuts).enumerate() {
        let users = || level.users.iter().map(|user| *user as usize);
        given += users().map(|user| totals[user] >> 60).sum::<u128>();
        if given != *cut {
            worst.fail(|| {
                format!("the users of the first {} levels get {given} of {cut} slices", position + 1)
            });
        }
        // The highest once it has given a slice away; the lowest before it takes one.
        let standing = |user: usize, slices: u128| (slices, u128::from(weights[user]));
        let order = |a: (u128, u128), b: (u128, u128)| compare_ratios(a, b);
        let after = |user: &usize| standing(*user, (totals[*user] >> 60).saturating_sub(1));
        let now = |user: &usize| standing(*user, totals[*user] >> 60);
        let gives = users()
            .filter(|user| totals[*user] > 0)
            .max_by(|a, b| order(after(a), after(b)).then(weights[*a].cmp(&weights[*b])));
        let takes = users().min_by(|a, b| order(now(a), now(b)).then(weights[*a].cmp(&weights[*b])));
        if let Some(takes) = takes {
            let (slices, weight) = now(&takes);
            if order((slices, weight), before).is_lt() {
                worst.fail(|| format!("level {position} is lower than the one before"));
            }
            before = (slices, weight);
            worst.compare(level.value, slices as f64 / weight as f64, || format!("levels[{position}].value"));
        }
        if let (Some(gives), Some(takes)) = (gives, takes) {
            let better = match order(after(&gives), now(&takes)) {
                Ordering::Greater => true,
                Ordering::Equal => weights[takes] < weights[gives],
                Ordering::Less => false,
            };
            if better && gives != takes {
                worst.fail(|| {
                    let id = |user: usize| problem.series.user_id(user).escape_debug().to_string();
                    format!("level {position}: a slice of user {} should be user {}'s", id(gives), id(takes))
                });
            }
        }
    }
    worst.verdict()
}
