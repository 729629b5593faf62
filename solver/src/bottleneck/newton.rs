//! From levels near a solution to the solution: Newton's method on the loads, which are piecewise linear in the levels.

use super::demands::Demands;
use crate::sums::Compensated;
use crate::tolerance::bottleneck::{LAST_DIGITS, OVERLOADED, SINGULAR};
use hashbrown::HashMap;
use nalgebra::{DMatrix, DVector};

/// Most steps; it ends when a step changes nothing but the last digits.
const STEPS: u64 = 50;

/// Steps for finer bins, in parts of an octave, from the finest to the coarsest tried.
const PER_OCTAVE: [f64; 12] = [64.0, 32.0, 16.0, 8.0, 4.0, 3.0, 2.0, 1.5, 1.0, 0.5, 0.25, 0.125];

/// Entries of a direction below two to the minus this are alike.
const OCTAVES: f64 = 30.0;

/// Levels at which the loads are those of a solution, from levels near one; and the steps taken.
pub(super) fn polish(demands: &Demands, mut levels: Vec<f64>) -> (Vec<f64>, u64) {
    for step in 1..=STEPS {
        let (matrix, loads) = linearised(demands, &levels);
        let finite: Vec<usize> = (0..levels.len()).filter(|&r| levels[r].is_finite()).collect();
        let short = DVector::from_iterator(finite.len(), finite.iter().map(|&r| 1.0 - loads[r]));
        let part = DMatrix::from_fn(finite.len(), finite.len(), |i, j| matrix[(finite[i], finite[j])]);
        let svd = part.svd(true, true);
        let least = SINGULAR * svd.singular_values.max();
        let Ok(change) = svd.solve(&short, least) else { return (levels, step) };
        // Never past half of the way to zero.
        let scale =
            finite.iter().zip(&change).map(|(&r, c)| if *c < 0.0 { -0.5 * levels[r] / c } else { 1.0 });
        let scale = scale.fold(1.0, f64::min);
        let mut moved = 0.0f64;
        for (&r, change) in finite.iter().zip(&change) {
            moved = moved.max((change / levels[r]).abs());
            levels[r] += scale * change;
        }
        let settled = give_and_take(demands, &mut levels);
        if settled && moved <= LAST_DIGITS {
            return (levels, step);
        }
    }
    (levels, STEPS)
}

/// Takes the level of resources that hold nobody, gives one to those that are overloaded. True when there were none.
fn give_and_take(demands: &Demands, levels: &mut [f64]) -> bool {
    let mut holds = vec![false; levels.len()];
    let mut largest = vec![0.0f64; levels.len()];
    for user in 0..demands.len() {
        let (r, share) = demands.held(user, levels);
        holds[r] = true;
        for (largest, d) in largest.iter_mut().zip(demands.direction(user)) {
            *largest = largest.max(share * d);
        }
    }
    let loads = demands.loads(levels);
    let mut none = true;
    for r in 0..levels.len() {
        if levels[r].is_finite() && !holds[r] {
            levels[r] = f64::INFINITY;
            none = false;
        } else if levels[r].is_infinite() && loads[r] > 1.0 + OVERLOADED {
            levels[r] = largest[r];
            none = false;
        }
    }
    none
}

/// `∂ load_q / ∂ M_r` at these levels, and the loads.
fn linearised(demands: &Demands, levels: &[f64]) -> (DMatrix<f64>, Vec<f64>) {
    let m = levels.len();
    let mut sums = vec![Compensated::default(); m * m];
    for user in 0..demands.len() {
        let (r, _) = demands.held(user, levels);
        let direction = demands.direction(user);
        for (q, d) in direction.iter().enumerate() {
            sums[q * m + r].add(demands.weights[user] * d / direction[r]);
        }
    }
    let entries: Vec<f64> = sums.into_iter().map(Compensated::value).collect();
    (DMatrix::from_row_slice(m, m, &entries), demands.loads(levels))
}

/// At most `target` bins of users in similar directions, needing the same resources; if there are that few kinds.
pub(super) fn bins(demands: &Demands, target: usize) -> Demands {
    let mut bins = Demands { resources: demands.resources, directions: Vec::new(), weights: Vec::new() };
    for per_octave in PER_OCTAVE {
        let cell = |d: &f64| {
            if *d == 0.0 { i32::MIN } else { (d.log2().max(-OCTAVES) * per_octave).round() as i32 }
        };
        let mut known: HashMap<Vec<i32>, usize> = HashMap::new();
        bins.directions.clear();
        bins.weights.clear();
        for user in 0..demands.len() {
            let (direction, weight) = (demands.direction(user), demands.weights[user]);
            let bin = *known.entry(direction.iter().map(cell).collect()).or_insert(bins.weights.len());
            if bin == bins.weights.len() {
                bins.weights.push(0.0);
                bins.directions.resize(bins.directions.len() + direction.len(), 0.0);
            }
            bins.weights[bin] += weight;
            let sums = &mut bins.directions[bin * direction.len()..(bin + 1) * direction.len()];
            sums.iter_mut().zip(direction).for_each(|(sum, d)| *sum += weight * d);
            if bins.weights.len() > target {
                break;
            }
        }
        if bins.weights.len() <= target {
            break;
        }
    }
    for (direction, weight) in bins.directions.chunks_mut(demands.resources).zip(&bins.weights) {
        direction.iter_mut().for_each(|d| *d /= weight);
    }
    bins
}
