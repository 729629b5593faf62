//! Birth and death in several dimensions: the number of transactions of one class goes up or down by one.
//!
//! States lie in planes along the first dimension, each plane in lines along the last. That gives the smoother its
//! parallel parts (planes of the same parity do not touch) and its exact solves (along lines), whatever the number of
//! dimensions.

use crate::tolerance::LEAST_PROBABILITY;
use rayon::prelude::*;

/// Planes of one task have at least this many states in all.
const STATES_A_TASK: usize = 1 << 12;

/// The rates of a chain. Rates that lead out of the lattice are zero.
pub(super) struct Lattice {
    /// States along each dimension, at least two dimensions.
    shape: Vec<usize>,
    planes: Vec<Plane>,
}

/// The rates of the states of one plane, by dimension.
pub(super) struct Plane {
    up: Vec<Vec<f64>>,
    down: Vec<Vec<f64>>,
    /// One over the pivots of the lines, each eliminated from its start.
    inverse_pivots: Vec<f64>,
}

/// A number for each state, even planes apart from odd ones.
#[derive(Clone)]
pub(super) struct Masses {
    halves: [Vec<Vec<f64>>; 2],
}

impl Masses {
    pub fn plane(&self, position: usize) -> &[f64] {
        &self.halves[position % 2][position / 2]
    }

    fn plane_mut(&mut self, position: usize) -> &mut Vec<f64> {
        &mut self.halves[position % 2][position / 2]
    }

    pub fn planes(&self) -> impl Iterator<Item = &[f64]> {
        (0..self.halves[0].len() + self.halves[1].len()).map(|position| self.plane(position))
    }

    pub fn new(planes: Vec<Vec<f64>>) -> Self {
        let mut halves = [Vec::new(), Vec::new()];
        for (position, plane) in planes.into_iter().enumerate() {
            halves[position % 2].push(plane);
        }
        Self { halves }
    }

    /// Scales the masses such that they sum to one.
    pub fn normalise(&mut self) {
        // Added plane by plane in their order, so that the number of threads does not matter.
        let sums: Vec<f64> = self.planes().map(|plane| plane.iter().sum()).collect();
        let scale = 1.0 / sums.iter().sum::<f64>();
        self.halves.iter_mut().flatten().flatten().for_each(|mass| *mass *= scale);
    }
}

/// Steps through the positions of an array of this shape, the last dimension fastest.
pub(super) fn advance(position: &mut [usize], shape: &[usize]) {
    for (at, size) in position.iter_mut().zip(shape).rev() {
        *at += 1;
        if *at < *size {
            return;
        }
        *at = 0;
    }
}

impl Plane {
    /// A plane of these rates; `shape` is that of the lattice.
    pub fn new(up: Vec<Vec<f64>>, down: Vec<Vec<f64>>, shape: &[usize]) -> Self {
        let last = shape.len() - 1;
        let (states, line) = (up[0].len(), shape[last]);
        let mut inverse_pivots = vec![0.0; states];
        for start in (0..states).step_by(line) {
            // The part of the last pivot that does not lead up the line. Without subtractions, as in the method of
            // Grassmann, Taksar and Heyman.
            let mut kept = 0.0;
            let mut inverse = 0.0;
            for s in start..start + line {
                let aside: f64 = (0..last).map(|d| up[d][s] + down[d][s]).sum();
                kept = aside + down[last][s] * kept * inverse;
                inverse = 1.0 / (kept + up[last][s]).max(LEAST_PROBABILITY);
                inverse_pivots[s] = inverse;
            }
        }
        Self { up, down, inverse_pivots }
    }
}

impl Lattice {
    pub fn new(shape: Vec<usize>, planes: Vec<Plane>) -> Self {
        Self { shape, planes }
    }

    pub fn shape(&self) -> &[usize] {
        &self.shape
    }

    fn states_a_plane(&self) -> usize {
        self.shape[1..].iter().product()
    }

    fn planes_a_task(&self) -> usize {
        STATES_A_TASK.div_ceil(self.states_a_plane())
    }

    /// Whether only the last dimension has more than one state.
    pub fn is_line(&self) -> bool {
        self.shape[..self.shape.len() - 1].iter().all(|size| *size == 1)
    }

    /// The stationary distribution of a lattice that is a line.
    pub fn solve_line(&self, masses: &mut Masses) {
        let Plane { up, down, .. } = &self.planes[0];
        let (up, down) = (&up[self.shape.len() - 1], &down[self.shape.len() - 1]);
        let line = masses.plane_mut(0);
        line[0] = 1.0;
        for s in 1..line.len() {
            line[s] = (line[s - 1] * up[s - 1] / down[s]).max(LEAST_PROBABILITY);
            if line[s] > 1e200 {
                let scale = 1.0 / line[s];
                line[..=s].iter_mut().for_each(|mass| *mass = (*mass * scale).max(LEAST_PROBABILITY));
            }
        }
        masses.normalise();
    }

    /// Balances every line given the others: first all planes of one parity, then all of the other.
    pub fn smooth(&self, masses: &mut Masses) {
        for parity in [0, 1] {
            let (even, odd) = masses.halves.split_at_mut(1);
            let (these, others) = if parity == 0 { (&mut even[0], &odd[0]) } else { (&mut odd[0], &even[0]) };
            these.par_iter_mut().with_min_len(self.planes_a_task()).enumerate().for_each(|(half, plane)| {
                let position = 2 * half + parity;
                let below =
                    position.checked_sub(1).map(|below| (&self.planes[below], &others[below / 2][..]));
                let above =
                    self.planes.get(position + 1).map(|above| (above, &others[position.div_ceil(2)][..]));
                self.smooth_plane(position, plane, below, above);
            });
        }
    }

    fn smooth_plane(
        &self,
        position: usize,
        masses: &mut [f64],
        below: Option<(&Plane, &[f64])>,
        above: Option<(&Plane, &[f64])>,
    ) {
        let last = self.shape.len() - 1;
        let line = self.shape[last];
        let plane = &self.planes[position];
        let mut inflow = vec![0.0; line];
        let mut at = vec![0; last - 1];
        for start in (0..masses.len()).step_by(line) {
            let range = start..start + line;
            inflow.fill(0.0);
            if let Some((below, others)) = below {
                add_products(&mut inflow, &others[range.clone()], &below.up[0][range.clone()]);
            }
            if let Some((above, others)) = above {
                add_products(&mut inflow, &others[range.clone()], &above.down[0][range.clone()]);
            }
            let mut stride = line;
            for d in (1..last).rev() {
                if at[d - 1] > 0 {
                    let before = start - stride..start - stride + line;
                    add_products(&mut inflow, &masses[before.clone()], &plane.up[d][before]);
                }
                if at[d - 1] + 1 < self.shape[d] {
                    let after = start + stride..start + stride + line;
                    add_products(&mut inflow, &masses[after.clone()], &plane.down[d][after]);
                }
                stride *= self.shape[d];
            }
            let (up, down) = (&plane.up[last][range.clone()], &plane.down[last][range.clone()]);
            let inverse = &plane.inverse_pivots[range.clone()];
            balance_line(&mut masses[range], &inflow, up, down, inverse);
            advance(&mut at, &self.shape[1..last]);
        }
    }

    /// The dimensions in which two neighbours become one in the next coarser chain: those along which the chain moves
    /// fastest, and those about as fast.
    pub fn coarsening(&self, masses: &Masses) -> Vec<usize> {
        /// Half as fast is about as fast.
        const ABOUT: f64 = 0.5;
        let speeds: Vec<Vec<f64>> = self
            .planes
            .par_iter()
            .with_min_len(self.planes_a_task())
            .enumerate()
            .map(|(position, plane)| {
                let masses = masses.plane(position);
                let speed = |up: &Vec<f64>| masses.iter().zip(up).map(|(mass, rate)| mass * rate).sum();
                plane.up.iter().map(speed).collect()
            })
            .collect();
        let speed =
            |d: usize| if self.shape[d] > 1 { speeds.iter().map(|of| of[d]).sum::<f64>() } else { 0.0 };
        let speeds: Vec<f64> = (0..self.shape.len()).map(speed).collect();
        let fastest = speeds.iter().copied().fold(0.0, f64::max);
        let is_fast = |d: usize| self.shape[d] > 1 && speeds[d] >= ABOUT * fastest;
        (0..self.shape.len()).map(|d| if is_fast(d) { 2 } else { 1 }).collect()
    }

    /// The chain whose states are groups of neighbours, exact if `masses` is stationary; and the masses of the groups.
    pub fn aggregate(&self, masses: &Masses, factors: &[usize]) -> (Self, Masses) {
        let shape: Vec<usize> = self.shape.iter().zip(factors).map(|(size, by)| size.div_ceil(*by)).collect();
        let states: usize = shape[1..].iter().product();
        let coarse: Vec<(Plane, Vec<f64>)> = (0..shape[0])
            .into_par_iter()
            .with_min_len(self.planes_a_task().div_ceil(factors[0]))
            .map(|position| self.aggregate_plane(masses, factors, &shape, position, states))
            .collect();
        let (planes, masses) = coarse.into_iter().unzip();
        (Self { shape, planes }, Masses::new(masses))
    }

    fn aggregate_plane(
        &self,
        masses: &Masses,
        factors: &[usize],
        shape: &[usize],
        position: usize,
        states: usize,
    ) -> (Plane, Vec<f64>) {
        let dimensions = shape.len();
        let rates = vec![vec![0.0; states]; dimensions];
        let mut groups = Groups { sums: vec![0.0; states], up: rates.clone(), down: rates };
        let line = self.shape[dimensions - 1];
        for fine in position * factors[0]..((position + 1) * factors[0]).min(self.shape[0]) {
            let (plane, masses) = (&self.planes[fine], masses.plane(fine));
            let mut at = vec![0; dimensions];
            at[0] = fine;
            for (number, masses) in masses.chunks(line).enumerate() {
                groups.add_line(plane, number * line, masses, &at, factors, shape);
                advance(&mut at[1..dimensions - 1], &self.shape[1..dimensions - 1]);
            }
        }
        let Groups { sums, mut up, mut down } = groups;
        for rates in up.iter_mut().chain(&mut down) {
            rates.iter_mut().zip(&sums).for_each(|(rate, sum)| *rate /= sum);
        }
        (Plane::new(up, down, shape), sums)
    }

    /// Gives every group the mass that the coarser chain found for it, its states keeping their proportions.
    pub fn prolong(
        &self,
        masses: &mut Masses,
        factors: &[usize],
        shape: &[usize],
        before: &Masses,
        after: &Masses,
    ) {
        let last = shape.len() - 1;
        for (parity, half) in masses.halves.iter_mut().enumerate() {
            half.par_iter_mut().with_min_len(self.planes_a_task()).enumerate().for_each(
                |(position, plane)| {
                    let group_plane = (2 * position + parity) / factors[0];
                    let (before, after) = (before.plane(group_plane), after.plane(group_plane));
                    let mut at = vec![0; last - 1];
                    for line in plane.chunks_mut(self.shape[last]) {
                        let first = (1..last).fold(0, |group, d| group * shape[d] + at[d - 1] / factors[d])
                            * shape[last];
                        for (g, states) in line.chunks_mut(factors[last]).enumerate() {
                            let scale = after[first + g] / before[first + g];
                            states.iter_mut().for_each(|mass| *mass = (*mass * scale).max(LEAST_PROBABILITY));
                        }
                        advance(&mut at, &self.shape[1..last]);
                    }
                },
            );
        }
    }
}

fn add_products(sums: &mut [f64], masses: &[f64], rates: &[f64]) {
    sums.iter_mut().zip(masses).zip(rates).for_each(|((sum, mass), rate)| *sum += mass * rate);
}

/// Masses along a line that are in balance with what flows into it from other lines.
fn balance_line(masses: &mut [f64], inflow: &[f64], up: &[f64], down: &[f64], inverse_pivots: &[f64]) {
    let mut carried = 0.0;
    for (((mass, inflow), up), inverse) in masses.iter_mut().zip(inflow).zip(up).zip(inverse_pivots) {
        *mass = (inflow + carried) * inverse;
        carried = *mass * up;
    }
    let mut returned = 0.0;
    for ((mass, down), inverse) in masses.iter_mut().zip(down).zip(inverse_pivots).rev() {
        *mass = (*mass + returned * inverse).max(LEAST_PROBABILITY);
        returned = *mass * down;
    }
}

/// The groups of a plane while they are summed up: their masses, and what flows out of them along each dimension.
struct Groups {
    sums: Vec<f64>,
    up: Vec<Vec<f64>>,
    down: Vec<Vec<f64>>,
}

impl Groups {
    /// Adds the line that starts at state `start` of its plane, at position `at` of the lattice.
    fn add_line(
        &mut self,
        plane: &Plane,
        start: usize,
        masses: &[f64],
        at: &[usize],
        factors: &[usize],
        shape: &[usize],
    ) {
        let last = shape.len() - 1;
        let first = (1..last).fold(0, |group, d| group * shape[d] + at[d] / factors[d]) * shape[last];
        let group = |j: usize| first + j / factors[last];
        for (j, mass) in masses.iter().enumerate() {
            self.sums[group(j)] += mass;
        }
        for d in 0..last {
            let add = |flows: &mut [f64], rates: &[f64]| {
                let terms = masses.iter().zip(&rates[start..start + masses.len()]).enumerate();
                terms.for_each(|(j, (mass, rate))| flows[group(j)] += mass * rate);
            };
            // Only the outer states of a group lead out of it.
            if at[d] % factors[d] == factors[d] - 1 {
                add(&mut self.up[d], &plane.up[d]);
            }
            if at[d].is_multiple_of(factors[d]) {
                add(&mut self.down[d], &plane.down[d]);
            }
        }
        for j in (factors[last] - 1..masses.len()).step_by(factors[last]) {
            self.up[last][group(j)] += masses[j] * plane.up[last][start + j];
        }
        for j in (0..masses.len()).step_by(factors[last]) {
            self.down[last][group(j)] += masses[j] * plane.down[last][start + j];
        }
    }
}
