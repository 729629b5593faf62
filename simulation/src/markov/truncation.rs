//! Where a truncated chain ends: how much mass lies on its border, what is missing beyond it, and how far it must go.

use super::lattice::{Masses, advance};
use crate::SimulationError;

/// Settings of [`markov`](super::markov).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MarkovSettings {
    /// The largest probability, for each class, of the states in which no more of it are let in.
    pub border_mass: f64,
    /// Bytes that the chain may take.
    pub memory: u64,
}

impl Default for MarkovSettings {
    fn default() -> Self {
        Self { border_mass: 1e-9, memory: 4 << 30 }
    }
}

/// A truncation grows by this factor at most, from what a smaller one tells.
const GROWTH: usize = 2;

/// Doubles that a state takes, beside two for each dimension; a part more for the coarser chains.
const DOUBLES: usize = 4;
const COARSER: f64 = 1.5;

/// Marginal distributions of the classes, and the means of all classes on the border of each.
pub(super) struct Border {
    /// By class.
    marginals: Vec<Vec<f64>>,
    /// Mean number of each class over the states on the border of a class; row-major.
    means: Vec<f64>,
}

/// The mean number of each class, by dimension.
pub(super) fn means(shape: &[usize], masses: &Masses) -> Vec<f64> {
    let marginals = marginals(shape, masses);
    marginals.iter().map(|marginal| mean(marginal)).collect()
}

fn mean(marginal: &[f64]) -> f64 {
    marginal.iter().enumerate().map(|(count, mass)| count as f64 * mass).sum()
}

/// The distribution along each dimension.
fn marginals(shape: &[usize], masses: &Masses) -> Vec<Vec<f64>> {
    let mut marginals: Vec<Vec<f64>> = shape.iter().map(|size| vec![0.0; *size]).collect();
    let last = shape.len() - 1;
    let mut at = vec![0; shape.len()];
    for plane in masses.planes() {
        for line in plane.chunks(shape[last]) {
            let mass: f64 = line.iter().sum();
            for d in 0..last {
                marginals[d][at[d]] += mass;
            }
            marginals[last].iter_mut().zip(line).for_each(|(sum, mass)| *sum += mass);
            advance(&mut at[..last], &shape[..last]);
        }
    }
    marginals
}

impl Border {
    pub fn new(shape: &[usize], masses: &Masses, classes: usize) -> Self {
        let missing = shape.len() - classes;
        let marginals = marginals(shape, masses).split_off(missing);
        let mut means = vec![0.0; classes * classes];
        let mut at = vec![0; shape.len()];
        for plane in masses.planes() {
            for mass in plane {
                for k in (0..classes).filter(|k| at[k + missing] + 1 == shape[k + missing]) {
                    let row = &mut means[k * classes..(k + 1) * classes];
                    row.iter_mut()
                        .zip(&at[missing..])
                        .for_each(|(mean, count)| *mean += *count as f64 * mass);
                }
                advance(&mut at, shape);
            }
        }
        for (k, marginal) in marginals.iter().enumerate() {
            means[k * classes..(k + 1) * classes]
                .iter_mut()
                .for_each(|mean| *mean /= marginal[marginal.len() - 1]);
        }
        Self { marginals, means }
    }

    fn mass(&self, k: usize) -> f64 {
        self.marginals[k][self.marginals[k].len() - 1]
    }

    /// The largest mass on the border of a class.
    pub fn largest_mass(&self) -> f64 {
        (0..self.marginals.len()).map(|k| self.mass(k)).fold(0.0, f64::max)
    }

    /// The mean number of class `k`.
    pub fn mean(&self, k: usize) -> f64 {
        mean(&self.marginals[k])
    }

    /// By what factor the mass falls with each further transaction of class `k`: the slowest of its last quarter, where
    /// it is not yet distorted by the border.
    fn decay(&self, k: usize) -> f64 {
        let marginal = &self.marginals[k];
        let end = marginal.len() - 1;
        let factors = marginal[end * 5 / 8..].windows(2).map(|pair| pair[1] / pair[0]);
        factors.take((end / 4).max(1)).fold(0.0, f64::max)
    }

    /// About what is missing in the mean number of class `k` because of all borders, doubled: whom the border keeps out
    /// would also have slowed the others down.
    pub fn missing(&self, k: usize) -> f64 {
        let classes = self.marginals.len();
        let beyond = |border: usize| {
            let decay = self.decay(border).min(0.999);
            let mass = self.mass(border) * decay / (1.0 - decay);
            let further = if border == k { 1.0 / (1.0 - decay) } else { 0.0 };
            mass * (self.means[border * classes + k] + further)
        };
        2.0 * (0..classes).map(beyond).sum::<f64>()
    }

    /// A larger truncation, for which the mass on the border is as small as it shall be, or a step towards it.
    pub fn next(
        &self,
        truncation: &[usize],
        settings: MarkovSettings,
    ) -> Result<Vec<usize>, SimulationError> {
        let needed: Vec<usize> =
            (0..truncation.len()).map(|k| self.needed(k, truncation[k], settings)).collect();
        let dimensions = truncation.len().max(2);
        let bytes = |of: &[usize]| {
            let states: f64 = of.iter().map(|most| *most as f64 + 1.0).product();
            (states, states * COARSER * (8 * (2 * dimensions + DOUBLES)) as f64)
        };
        let next: Vec<usize> =
            needed.iter().zip(truncation).map(|(needed, most)| (*needed).min(GROWTH * most)).collect();
        if bytes(&next).1 > settings.memory as f64 {
            let (states, bytes) = bytes(&needed);
            let gib = (1u64 << 30) as f64;
            return Err(SimulationError::Memory {
                allowed: settings.memory as f64 / gib,
                border_mass: settings.border_mass,
                needed: bytes / gib,
                states,
                truncation: needed.iter().map(usize::to_string).collect::<Vec<_>>().join(" × "),
            });
        }
        Ok(next)
    }

    fn needed(&self, k: usize, most: usize, settings: MarkovSettings) -> usize {
        if self.mass(k) <= settings.border_mass {
            return most;
        }
        let decay = self.decay(k);
        if decay >= 1.0 {
            return GROWTH * most;
        }
        let further = (settings.border_mass / self.mass(k)).ln() / decay.ln();
        // A little more, so that one step suffices.
        most + (1.02 * further).ceil() as usize + 2
    }

    /// The masses of a larger chain: beyond the border they fall as they did before it.
    pub fn extend(&self, shape: &[usize], masses: &Masses, larger: &[usize]) -> Masses {
        let missing = shape.len() - self.marginals.len();
        let decay = |d: usize| if d < missing { 1.0 } else { self.decay(d - missing).min(0.999) };
        let decays: Vec<f64> = (0..shape.len()).map(decay).collect();
        let states: usize = larger[1..].iter().product();
        let mut at = vec![0; shape.len()];
        let planes = (0..larger[0]).map(|_| {
            let mut plane = Vec::with_capacity(states);
            for _ in 0..states {
                let mut state = 0;
                let mut scale = 1.0;
                for d in 0..shape.len() {
                    let inside = at[d].min(shape[d] - 1);
                    scale *= decays[d].powi((at[d] - inside) as i32);
                    if d > 0 {
                        state = state * shape[d] + inside;
                    }
                }
                plane.push(scale * masses.plane(at[0].min(shape[0] - 1))[state]);
                advance(&mut at, larger);
            }
            plane
        });
        let mut extended = Masses::new(planes.collect());
        extended.normalise();
        extended
    }
}
