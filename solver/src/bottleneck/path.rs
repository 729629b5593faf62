//! The path to a bottleneck max fair allocation: caps on shares rise from nothing until everybody is held by a used-up
//! resource.
//!
//! Points of the path are levels `M` and a cap `β` with `load_r(M) <= 1` and `M_r <= κ_r β`, one of the two an equality:
//! resources are *used up* or *at the cap*. It starts where all are at the cap, with nothing used up. As long as the same
//! resource holds each user, loads are linear in the levels, and so is the path; it turns where a user becomes held by
//! another resource, a resource is used up, or a used-up one comes back to the cap. (This is Lemke's method, for a
//! complementarity problem that is piecewise linear instead of linear.) It cannot come back to its start, where it is the
//! only path, nor run away, since loads bound levels: so it ends.
//!
//! `κ_r` and the capacities differ from 1 by a little, another little each attempt, so that no two turns coincide. That
//! moves no end by more, and `newton::polish` takes it back.

use super::demands::Demands;
use crate::tolerance::bottleneck::{PERTURBATION, SAME_RATIO};
use nalgebra::DMatrix;

/// How many paths to try at most, each with another perturbation.
pub(super) const ATTEMPTS: usize = 4;

/// Most turns a user and resource of a path; rarely more than one.
const TURNS: u64 = 50;

/// Where the path turns.
#[derive(Clone, Copy, Debug)]
enum Turn {
    /// A user, held by the first resource, becomes held by the second.
    Held { user: usize, from: usize, to: usize },
    /// A resource is used up.
    UsedUp(usize),
    /// A used-up resource comes back to the cap.
    AtCap(usize),
}

struct Path<'a> {
    demands: &'a Demands,
    /// Perturbed capacities, about 1.
    capacity: Vec<f64>,
    /// Perturbed `κ`, about 1.
    kappa: Vec<f64>,
    beta: f64,
    levels: Vec<f64>,
    used_up: Vec<bool>,
    held_by: Vec<usize>,
}

/// Follows the path to its end: the levels there, infinite for resources that hold nobody, and the turns taken. `None`
/// where rounding led astray.
pub(super) fn follow(demands: &Demands, attempt: usize) -> (Option<Vec<f64>>, u64) {
    let m = demands.resources;
    // Multiples of the golden ratio are spread evenly, whatever their number.
    let spread = |k: usize| (k as f64 * 0.618_033_988_749_895).fract();
    let perturbation = PERTURBATION * 10f64.powi(attempt as i32);
    let near_one = |k: usize| 1.0 + perturbation * spread(k);
    let kappa: Vec<f64> = (0..m).map(|r| near_one(2 * r + 1 + attempt)).collect();
    let mut path = Path {
        demands,
        capacity: (0..m).map(|r| near_one(2 * r + 2 + attempt)).collect(),
        beta: 0.0,
        levels: vec![0.0; m],
        used_up: vec![false; m],
        held_by: (0..demands.len()).map(|user| demands.held(user, &kappa).0).collect(),
        kappa,
    };
    let mut entered = None;
    let most = TURNS * (demands.len() * m) as u64;
    for turn in 0..most {
        if path.held_by.iter().all(|&r| path.used_up[r]) {
            return (Some(path.end()), turn);
        }
        let loads = path.load_matrix();
        let next = path.direction(&loads, entered).and_then(|direction| {
            let (length, next) = path.next_turn(&loads, &direction)?;
            path.advance(&direction, length, next);
            Some(next)
        });
        if next.is_none() {
            return (None, turn);
        }
        entered = next;
    }
    (None, most)
}

/// How levels and cap change along a piece of the path.
struct Direction {
    levels: Vec<f64>,
    beta: f64,
}

impl Path<'_> {
    /// `∂ load_q / ∂ M_r`, row by row.
    fn load_matrix(&self) -> DMatrix<f64> {
        let m = self.demands.resources;
        let mut matrix = DMatrix::zeros(m, m);
        for (user, &r) in self.held_by.iter().enumerate() {
            let direction = self.demands.direction(user);
            let weight = self.demands.weights[user] / direction[r];
            for (q, d) in direction.iter().enumerate() {
                matrix[(q, r)] += weight * d;
            }
        }
        matrix
    }

    /// The direction that keeps the loads of used-up resources and leads away from the turn just taken.
    fn direction(&self, loads: &DMatrix<f64>, entered: Option<Turn>) -> Option<Direction> {
        let m = self.demands.resources;
        let used_up: Vec<usize> = (0..m).filter(|&r| self.used_up[r]).collect();
        // The null vector of the used-up rows, in the levels of used-up resources and the cap.
        let size = used_up.len() + 1;
        let mut rows = DMatrix::zeros(size, size);
        for (i, &q) in used_up.iter().enumerate() {
            for r in 0..m {
                match used_up.binary_search(&r) {
                    Ok(j) => rows[(i, j)] = loads[(q, r)],
                    Err(_) => rows[(i, size - 1)] += loads[(q, r)] * self.kappa[r],
                }
            }
        }
        let null = rows.svd(false, true).v_t?.row(size - 1).transpose();
        let beta = null[size - 1];
        let of_level = |r| used_up.binary_search(&r).map_or(self.kappa[r] * beta, |j| null[j]);
        let mut direction = Direction { levels: (0..m).map(of_level).collect(), beta };
        let away = match entered {
            None => beta,
            Some(Turn::Held { user, from, to }) => {
                let d = self.demands.direction(user);
                direction.levels[from] / d[from] - direction.levels[to] / d[to]
            }
            Some(Turn::UsedUp(r)) => self.kappa[r] * beta - direction.levels[r],
            Some(Turn::AtCap(r)) => -change(loads, r, &direction),
        };
        if away < 0.0 {
            direction.beta = -direction.beta;
            direction.levels.iter_mut().for_each(|level| *level = -*level);
        }
        (away != 0.0).then_some(direction)
    }

    /// The first turn in this direction, and how far it is.
    fn next_turn(&self, loads: &DMatrix<f64>, direction: &Direction) -> Option<(f64, Turn)> {
        let mut nearest: Option<(f64, Turn)> = None;
        // Something that is `room` above zero and `falls`.
        let mut see = |room: f64, change: f64, turn: Turn| {
            if change < 0.0 {
                let length = (room / -change).max(0.0);
                if nearest.is_none_or(|(least, _)| length < least) {
                    nearest = Some((length, turn));
                }
            }
        };
        for r in 0..self.demands.resources {
            if self.used_up[r] {
                let change = self.kappa[r] * direction.beta - direction.levels[r];
                see(self.kappa[r] * self.beta - self.levels[r], change, Turn::AtCap(r));
            } else {
                let load: f64 = loads.row(r).iter().zip(&self.levels).map(|(a, level)| a * level).sum();
                see(self.capacity[r] - load, -change(loads, r, direction), Turn::UsedUp(r));
            }
        }
        for (user, &from) in self.held_by.iter().enumerate() {
            let d = self.demands.direction(user);
            for to in (0..d.len()).filter(|&to| to != from && d[to] > 0.0) {
                let over = |levels: &[f64]| levels[to] / d[to] - levels[from] / d[from];
                see(over(&self.levels), over(&direction.levels), Turn::Held { user, from, to });
            }
        }
        nearest
    }

    fn advance(&mut self, direction: &Direction, length: f64, turn: Turn) {
        self.beta += length * direction.beta;
        self.levels.iter_mut().zip(&direction.levels).for_each(|(level, change)| *level += length * change);
        match turn {
            Turn::UsedUp(r) => self.used_up[r] = true,
            Turn::AtCap(r) => self.used_up[r] = false,
            Turn::Held { user, from, to } => {
                let ratio =
                    |user: usize| self.demands.direction(user)[to] / self.demands.direction(user)[from];
                let here = ratio(user);
                for other in 0..self.held_by.len() {
                    if self.held_by[other] == from && (ratio(other) - here).abs() <= SAME_RATIO * here {
                        self.held_by[other] = to;
                    }
                }
            }
        }
    }

    /// The levels of the resources that hold somebody; the others' are infinite.
    fn end(&self) -> Vec<f64> {
        let mut levels = vec![f64::INFINITY; self.levels.len()];
        self.held_by.iter().for_each(|&r| levels[r] = self.levels[r]);
        levels
    }
}

/// How the load of `resource` changes.
fn change(loads: &DMatrix<f64>, resource: usize, direction: &Direction) -> f64 {
    loads.row(resource).iter().zip(&direction.levels).map(|(a, level)| a * level).sum()
}
