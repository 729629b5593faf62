//! A lexicographic max-min: its levels proved one by one, nobody frozen too early, the value bounded by the first.
//!
//! What the verdicts prove together: no user could get more, but for the stated tolerances, without taking from
//! one whose weighted share is no larger; that is the lexicographic max-min of DRFH eq. 7. Each user either has
//! all its tasks, or no class it can use, or is held by prices (see `levels`): any feasible allocation has
//! `Σ_j y_j G_j <= C·p`, so when all others keep what they have up to this level, a user with `y_i > 0` gains at most
//! `(bound − value) Σ_A w_j y_j / y_i`.

use crate::claim::Printed;
use crate::levels::{LevelProof, Levels, prove_level, relative_gap};
use crate::limits;
use crate::proof::SolutionProof;
use crate::tolerance;
use crate::used::Used;
use crate::users::{Subject, UserShares};
use crate::verdict::{Verdict, Worst};
use fairplan_instances::{FEW_USERS, Instance, Level, LimitedBy};
use rayon::prelude::*;

/// Proves the levels of a claim, and the value that follows from them: the smallest weighted dominant share.
pub(crate) fn prove(
    subject: Subject<'_>,
    claim: Levels<'_>,
    printed: Option<&Printed<'_>>,
    used: &Used<'_>,
) -> SolutionProof {
    let Subject { instance, shares, .. } = subject;
    let prove = |k| prove_level(subject, claim, k);
    let levels: Vec<LevelProof> = (0..claim.levels.len()).map(prove).collect();
    let (primal, dual) = value_bracket(shares, &levels);
    let relative_gap = relative_gap(primal, dual);
    let mut optimality = Worst::of("optimality", tolerance::GAP);
    optimality.see(relative_gap, || {
        format!("the value is {primal}, and nothing better than {dual} is proved to be out of reach")
    });

    let mut verdicts = vec![limits::reasons(subject, claim, &levels)];
    verdicts.extend(limits::levels(subject, claim, &levels, used));
    verdicts.push(optimality.verdict());
    if let Some(stated) = printed {
        verdicts.push(value(stated, primal, dual, relative_gap));
        let not_held = (shares.par_iter().zip(claim.limited_by))
            .with_min_len(FEW_USERS)
            .filter(|(_, reason)| **reason != LimitedBy::Capacity)
            .map(|(user, _)| user.weighted)
            .reduce(|| f64::INFINITY, f64::min);
        verdicts.push(prices(instance, claim.levels.first(), not_held, stated));
    }
    let level_gaps = levels.iter().map(LevelProof::relative_gap).collect();
    SolutionProof { primal, dual, relative_gap, level_gaps, unseen: 0, verdicts }
}

/// The smallest weighted share, and the least of all proved upper bounds on it: the smallest cap, and the first
/// level's bound where that bounds every user. (Users frozen on the first level have shares below it, and then
/// the smallest cap is the bound.)
fn value_bracket(shares: &[UserShares], levels: &[LevelProof]) -> (f64, f64) {
    let least = |figure: fn(&UserShares) -> f64| {
        shares.par_iter().with_min_len(FEW_USERS).map(figure).reduce(|| f64::INFINITY, f64::min)
    };
    let (primal, caps) = (least(|user| user.weighted), least(|user| user.cap));
    let first = levels.first().filter(|level| level.none_frozen).map_or(f64::INFINITY, |level| level.bound);
    (primal, caps.min(first))
}

/// `value`: the stated value and its bracket.
pub(crate) fn value(stated: &Printed<'_>, primal: f64, dual: f64, relative_gap: f64) -> Verdict {
    let mut worst = Worst::of("value", tolerance::ROUNDING);
    worst.compare(stated.value, primal, || "value".into());
    worst.compare(stated.primal, primal, || "primal".into());
    worst.compare(stated.dual, dual, || "dual".into());
    worst.see((stated.relative_gap - relative_gap).abs(), || {
        format!("relative gap: {} is stated, {relative_gap} is computed", stated.relative_gap)
    });
    worst.verdict()
}

/// `prices`, of classes and limits: those of the first level when it is the value; else 0, since no capacity raises the value. Where somebody
/// with all its tasks is just at the first level, either may be stated. `not_held` is the least that anybody has whom capacity does
/// not hold.
pub(crate) fn prices(
    instance: &Instance,
    first: Option<&Level>,
    not_held: f64,
    stated: &Printed<'_>,
) -> Verdict {
    let m = instance.resources().len();
    let level = first.map_or(f64::INFINITY, |level| level.value);
    let may_be_zero = not_held <= level * (1.0 + tolerance::STATED);
    let may_be_first = not_held >= level * (1.0 - tolerance::STATED);
    let mut worst = Worst::of("prices", tolerance::STATED);
    let of_limits = stated.limits.iter().map(|limit| &limit.price);
    if may_be_zero && stated.prices.iter().chain(of_limits).all(|price| *price == 0.0) {
        return worst.verdict();
    }
    let first = first.filter(|_| may_be_first);
    for (position, stated) in stated.prices.iter().enumerate() {
        let price = first.map_or(0.0, |level| level.prices[position]);
        worst.compare(*stated, price, || {
            let (class, r) = (&instance.classes()[position / m].id, &instance.resources()[position % m]);
            format!("price of {r} in class {class}")
        });
    }
    for (j, limit) in stated.limits.iter().enumerate() {
        let price = first.map_or(0.0, |level| level.limit_prices[j]);
        worst.compare(limit.price, price, || {
            format!("price of limit {j}, of {}", instance.name_of(instance.limit_rows()[j].owner))
        });
    }
    worst.verdict()
}
