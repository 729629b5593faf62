//! The Markov chain of MRF Sec. 4.1: Poisson arrivals, exponential work, the rates of every state from the sharing rule.
//! Its truncation grows until hardly any mass lies on the border.

mod lattice;
mod multilevel;
mod truncation;

use crate::SimulationError;
use crate::tolerance::{FINE, ROUGH};
use fairplan_instances::{
    ClassPerformance, Evidence, InstanceError, Sharing, SharingRule, Traffic, TrafficOutcome, Violation,
    WorkDistribution,
};
use lattice::{Lattice, Masses, Plane, advance};
use rayon::prelude::*;
use truncation::Border;
pub use truncation::MarkovSettings;

/// Cycles after which it gives up.
const CYCLES: u64 = 300;

/// Transactions of each class that the first truncation lets in.
const FIRST: usize = 8;

/// What every class gets in the long run, from the stationary distribution.
///
/// # Errors
/// Traffic that is not stable or whose work is not exponential; a truncation that does not fit in memory.
pub fn markov(
    traffic: &Traffic,
    rule: &SharingRule<'_>,
    settings: MarkovSettings,
) -> Result<TrafficOutcome, SimulationError> {
    check(traffic, settings)?;
    let mut truncation = vec![FIRST; traffic.classes().len()];
    let mut start: Option<(Vec<usize>, Masses, Border)> = None;
    loop {
        let chain = chain(traffic, rule, &truncation)?;
        let mut masses = match &start {
            None => uniform(chain.shape()),
            Some((shape, masses, border)) => border.extend(shape, masses, chain.shape()),
        };
        solve(&chain, &mut masses, ROUGH)?;
        let border = Border::new(chain.shape(), &masses, traffic.classes().len());
        if border.largest_mass() <= settings.border_mass {
            let (cycles, change) = solve(&chain, &mut masses, FINE)?;
            let border = Border::new(chain.shape(), &masses, traffic.classes().len());
            if border.largest_mass() <= settings.border_mass {
                return Ok(outcome(traffic, &truncation, &border, cycles, change));
            }
        }
        let next = border.next(&truncation, settings)?;
        start = Some((chain.shape().to_vec(), masses, border));
        truncation = next;
    }
}

fn check(traffic: &Traffic, settings: MarkovSettings) -> Result<(), SimulationError> {
    traffic.check_stable()?;
    traffic.check_fluid()?;
    for (k, class) in traffic.classes().iter().enumerate() {
        if class.work.distribution != WorkDistribution::Exponential {
            let place = format!("classes[{k}].work.distribution");
            let problem = "a Markov chain needs exponential work; simulate at the flow level";
            return Err(Violation::new(place, class.work.distribution.name(), problem).into());
        }
    }
    if !(settings.border_mass > 0.0 && settings.border_mass < 1.0) {
        return Err(Violation::new("border_mass", settings.border_mass, "must be > 0 and < 1").into());
    }
    Ok(())
}

/// The shape of a chain with at most so many of each class: at least two dimensions.
fn shape(truncation: &[usize]) -> Vec<usize> {
    let sizes = truncation.iter().map(|most| most + 1);
    if truncation.len() == 1 { std::iter::once(1).chain(sizes).collect() } else { sizes.collect() }
}

/// The chain with at most `truncation[k]` transactions of class `k`.
fn chain(traffic: &Traffic, rule: &SharingRule<'_>, truncation: &[usize]) -> Result<Lattice, InstanceError> {
    let shape = shape(truncation);
    let planes = (0..shape[0])
        .into_par_iter()
        .map(|position| plane(traffic, rule().as_mut(), &shape, position))
        .collect::<Result<_, _>>()?;
    Ok(Lattice::new(shape, planes))
}

fn plane(
    traffic: &Traffic,
    sharing: &mut dyn Sharing,
    shape: &[usize],
    position: usize,
) -> Result<Plane, InstanceError> {
    let states = shape[1..].iter().product();
    let classes = traffic.classes();
    let missing = shape.len() - classes.len();
    let mut up = vec![vec![0.0; states]; shape.len()];
    let mut down = up.clone();
    let mut at = vec![0; shape.len()];
    at[0] = position;
    let mut counts = vec![0; classes.len()];
    let mut rates = vec![0.0; classes.len()];
    for state in 0..states {
        counts.iter_mut().zip(&at[missing..]).for_each(|(count, at)| *count = *at as u32);
        sharing.rates(&counts, &mut rates)?;
        for (k, class) in classes.iter().enumerate() {
            let d = k + missing;
            if at[d] + 1 < shape[d] {
                up[d][state] = class.arrival_rate;
            }
            down[d][state] = f64::from(counts[k]) * rates[k] / class.work.mean;
        }
        advance(&mut at[1..], &shape[1..]);
    }
    Ok(Plane::new(up, down, shape))
}

fn uniform(shape: &[usize]) -> Masses {
    let states: usize = shape[1..].iter().product();
    let mut masses = Masses::new(vec![vec![1.0; states]; shape[0]]);
    masses.normalise();
    masses
}

/// Cycles until the mean numbers are known to `precision`: how many, and what they may still change by.
fn solve(chain: &Lattice, masses: &mut Masses, precision: f64) -> Result<(u64, f64), SimulationError> {
    let (mut means, mut last_change) = (truncation::means(chain.shape(), masses), f64::INFINITY);
    let mut left = f64::INFINITY;
    for cycle in 1..=CYCLES {
        multilevel::cycle(chain, masses);
        let next = truncation::means(chain.shape(), masses);
        let changes =
            next.iter().zip(&means).map(|(next, mean)| (next - mean).abs() / next.max(f64::MIN_POSITIVE));
        let change = changes.fold(0.0, f64::max);
        // Changes that shrink by a factor each cycle come to a geometric series. No factor below one half is believed.
        let factor = if change > 0.0 { (change / last_change).clamp(0.5, 0.99) } else { 0.0 };
        left = change * factor / (1.0 - factor);
        if cycle > 2 && left <= precision {
            return Ok((cycle, left));
        }
        (means, last_change) = (next, change);
    }
    Err(SimulationError::Stalled { reached: left, cycles: CYCLES })
}

fn outcome(
    traffic: &Traffic,
    truncation: &[usize],
    border: &Border,
    cycles: u64,
    change: f64,
) -> TrafficOutcome {
    let classes = traffic.classes().iter().enumerate().map(|(k, class)| {
        let in_progress = border.mean(k);
        let completion_time = in_progress / class.arrival_rate;
        let service_rate = class.work.mean / completion_time;
        let service_rate_error = service_rate * (change + border.missing(k) / in_progress);
        ClassPerformance { service_rate, service_rate_error, completion_time, in_progress }
    });
    TrafficOutcome {
        classes: classes.collect(),
        evidence: Evidence::Chain {
            truncation: truncation.iter().map(|most| *most as u32).collect(),
            states: truncation.iter().map(|most| *most as u64 + 1).product(),
            border_mass: border.largest_mass(),
            cycles,
        },
    }
}
