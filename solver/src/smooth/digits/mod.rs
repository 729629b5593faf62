//! The interior point of a sum in as many digits as its users are worth apart.
//!
//! ```text
//! max Σ w U(v)    Σ_l ρ z_kl = π_k v  (y_k)    Σ d z + q = c  (p)    v + h = T  (λ)    v − a = F  (ν)
//! path  z s = μ, q p = μ, h λ = μ, a ν = μ,  s_kl = d·p_l − ρ y_k,  ψ = Σ π_k y_k + λ − ν,  ψ = w U'(v)
//! ```
//! Symbols are those of `bundles`. A kind of limited tasks that do different work on different classes has a row of its own, of all these tasks.
//!
//! With a large α one user may be worth 10^40 times as much as another. Where the first runs makes a difference of that part to it, and all the
//! difference to the other. In doubles that is nothing; with a hundred digits it is as good as any number, and the path leads to what everybody has
//! and to all prices, however small. That takes a thousand times as long, so it is for what is small and was not proved otherwise.

mod number;
mod path;
mod step;

use super::bundles::{Found, User};
use super::utility::Utility;
use crate::level::LevelProblem;
use crate::tolerance::digits::{DIGITS, ENOUGH};
use fairplan_instances::{Deadline, InstanceError};
use number::Number;
use path::Path;

/// Steps at most; forty to a hundred are usual.
const MOST_STEPS: u64 = 400;

/// A user, with the most that its tasks allow and what it is guaranteed.
struct Party {
    log_weight: Number,
    cap: Option<Number>,
    floor: Option<Number>,
    kinds: Vec<Kind>,
}

/// A kind of its tasks: the part of its share that this is, and the work of a task and what it needs, as rows and amounts, on each class.
struct Kind {
    part: Number,
    rates: Vec<Number>,
    needs: Vec<Vec<(usize, Number)>>,
}

/// The exponent of a sum, and the logarithm of the unit in which it is worth something.
#[derive(Clone, Copy)]
struct Sum {
    alpha: f64,
    log_unit: f64,
}

/// Shares of kinds on classes and prices, from shares that are thought to be near (of whoever is worth most).
///
/// # Errors
/// Users who are worth too far apart; where steps come to no end.
pub(super) fn find(
    problem: &LevelProblem<'_>,
    users: &[User],
    alpha: f64,
    near: &Found,
    deadline: &Deadline,
) -> Result<Found, InstanceError> {
    let groups = problem.groups;
    let had = |line: usize| groups.pairs(line).map(|pair| groups.rate[pair] * near.splits[pair]).sum::<f64>();
    let shares: Vec<f64> = users.iter().map(|user| user.lines.clone().map(had).sum()).collect();
    let logs: Vec<f64> = users
        .iter()
        .zip(&shares)
        .map(|(user, share)| user.weight.ln() + (1.0 - alpha) * share.max(f64::MIN_POSITIVE).ln())
        .collect();
    let most = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let least = logs.iter().copied().fold(f64::INFINITY, f64::min);
    let range = ((most - least) / std::f64::consts::LN_2).max(0.0);
    if !range.is_finite() || range > DIGITS.1 {
        return Err(InstanceError::Unsupported("users are worth too far apart".into()));
    }
    let have_kinds = users.iter().any(|user| user.lines.len() > 1);
    let bits = (DIGITS.0 + (if have_kinds { 4.0 } else { 3.0 }) * range) as usize;
    let utility = Utility::new(alpha, 0.0).scaled(-most);
    let mut path = Path::start(problem, users, Sum { alpha, log_unit: most }, &near.splits, bits)?;
    let mut iterations = 0;
    while !path.is_done(ENOUGH) {
        if iterations == MOST_STEPS || !path.advance() {
            return Err(InstanceError::Unsupported("steps in many digits came to no end".into()));
        }
        if deadline.is_over() {
            return Err(InstanceError::OutOfTime);
        }
        iterations += 1;
    }
    let (splits, prices) = path.found(problem);
    Ok(Found { splits, prices, utility, iterations })
}
