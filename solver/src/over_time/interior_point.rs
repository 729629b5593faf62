//! The level over all quanta: `max θ` so that every rising user has at least `θ` and the others what they hold.
//!
//! A primal-dual interior point with predictor and corrector. What is missing from the shares that are held is paid for,
//! which gives every problem an interior.

mod step;

use super::block::Block;
use super::problem::Problem;
use rayon::prelude::*;

/// What is asked for a user.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Role {
    /// At least the level, what it has from elsewhere included.
    Rising {
        /// What it has from elsewhere.
        base: f64,
    },
    /// At least this much from here.
    Held(f64),
    /// All its tasks, which come to this much. What one of them is worth is the penalty: a row that asks for the share
    /// would say the same as those of its demands, and multipliers of both would rise without end.
    Full(f64),
    /// Nothing.
    Idle,
}

impl Role {
    /// What is asked from here at a level.
    pub fn due(self, level: f64) -> f64 {
        match self {
            Self::Rising { base } => level - base,
            Self::Held(share) | Self::Full(share) => share,
            Self::Idle => 0.0,
        }
    }
}

/// A point of the method. Sums over quanta are taken in parts of fixed size, so that they do not depend on threads.
pub(super) struct Point<'a> {
    problem: &'a Problem,
    roles: Vec<Role>,
    /// What a held user's missing share costs.
    penalty: f64,
    pub level: f64,
    pub blocks: Vec<Block<'a>>,
    /// What each user has from here.
    pub work: Vec<f64>,
    /// By user: what it has beyond what is asked for, the multiplier of that; what is missing of a held share, and what
    /// the multiplier lacks of the penalty.
    pub over: Vec<f64>,
    pub y: Vec<f64>,
    pub missing: Vec<f64>,
    slack: Vec<f64>,
    /// What the equations have of the sum of the multipliers of those who rise.
    of_sum: f64,
}

/// Parts that the quanta are divided into.
const PARTS: usize = 16;

/// Users who rise.
struct Rising {
    lowest: f64,
    count: f64,
}

/// What results are made of.
pub(super) struct Snapshot {
    pub level: f64,
    /// By quantum tasks of pairs, what they cost more than they are worth, and prices.
    pub blocks: Vec<(Vec<f64>, Vec<f64>, Vec<f64>)>,
    pub work: Vec<f64>,
    pub over: Vec<f64>,
    pub y: Vec<f64>,
    pub missing: Vec<f64>,
}

impl<'a> Point<'a> {
    /// A point at which all products are alike, for a level that is about `guess`.
    pub fn new(problem: &'a Problem, roles: Vec<Role>, guess: f64, penalty: f64) -> Self {
        let mu = guess / (problem.quanta.len() * problem.rows) as f64;
        let worth = |role: &Role| if matches!(role, Role::Full(_)) { penalty } else { 0.0 };
        let worths: Vec<f64> = roles.iter().map(worth).collect();
        let block = |quantum| Block::new(problem, quantum, mu, &worths);
        let blocks = problem.quanta.par_iter().with_min_len(problem.quanta_together()).map(block).collect();
        let users = roles.len();
        let mut point = Self {
            problem,
            roles,
            penalty,
            level: 0.0,
            blocks,
            work: Vec::new(),
            over: vec![1.0; users],
            y: vec![0.0; users],
            missing: vec![0.0; users],
            slack: vec![1.0; users],
            of_sum: 0.0,
        };
        point.sum_work();
        let rising = point.rising();
        point.level = rising.lowest - 0.5 * guess;
        let y = 1.0 / rising.count;
        for user in 0..users {
            point.join(user, y, mu);
        }
        point
    }

    /// Goes on with other roles from here.
    pub fn go_on(&mut self, roles: Vec<Role>) {
        if roles == self.roles {
            return;
        }
        let counting = self.counts();
        let before = std::mem::replace(&mut self.roles, roles);
        let rising = self.rising();
        let products: f64 = self.over.iter().zip(&self.y).map(|(over, y)| over * y).sum();
        let mu = products / counting.iter().filter(|counts| **counts).count() as f64;
        let mut fallen = vec![0.0; before.len()];
        for user in 0..before.len() {
            if before[user] == self.roles[user] {
                continue;
            }
            let y = if counting[user] { self.y[user] } else { 1.0 / rising.count };
            if let Role::Full(_) = before[user] {
                fallen[user] = self.penalty - y;
            }
            self.join(user, y, mu);
            if let Role::Rising { base } = self.roles[user] {
                self.over[user] = self.over[user].max(base + self.work[user] - self.level);
            }
        }
        let problem = self.problem;
        self.blocks
            .par_iter_mut()
            .with_min_len(self.problem.quanta_together())
            .for_each(|block| block.devalue(problem, &fallen));
    }

    /// Puts a user's own numbers where their products are `mu`.
    fn join(&mut self, user: usize, y: f64, mu: f64) {
        (self.over[user], self.y[user], self.missing[user], self.slack[user]) = match self.roles[user] {
            Role::Rising { .. } => (mu / y, y, 0.0, 1.0),
            Role::Held(_) => {
                let y = y.min(0.5 * self.penalty);
                (mu / y, y, mu / (self.penalty - y), self.penalty - y)
            }
            Role::Full(_) => (0.0, self.penalty, 0.0, 1.0),
            Role::Idle => (1.0, 0.0, 0.0, 1.0),
        };
    }

    /// The lowest standing of those who rise, and how many there are.
    fn rising(&self) -> Rising {
        let standings = self.roles.iter().zip(&self.work).filter_map(|(role, work)| match role {
            Role::Rising { base } => Some(base + work),
            _ => None,
        });
        standings.fold(Rising { lowest: f64::INFINITY, count: 0.0 }, |rising, standing| Rising {
            lowest: rising.lowest.min(standing),
            count: rising.count + 1.0,
        })
    }

    /// What is asked for a user.
    pub fn role(&self, user: usize) -> Role {
        self.roles[user]
    }

    fn counts(&self) -> Vec<bool> {
        self.roles.iter().map(|role| matches!(role, Role::Rising { .. } | Role::Held(_))).collect()
    }

    fn sum_work(&mut self) {
        let problem = self.problem;
        self.work = self.sum_of(|block, work| block.add_work(problem, work));
    }

    /// The multipliers of the users' shares, of those who run all their tasks no more than what makes them do so.
    pub fn multipliers(&self) -> Vec<f64> {
        let full = |user: usize| matches!(self.roles[user], Role::Full(_));
        let mut y: Vec<f64> =
            (0..self.y.len()).map(|user| if full(user) { 0.0 } else { self.y[user] }).collect();
        for block in &self.blocks {
            block.raise_to_cost(self.problem, full, &mut y);
        }
        (0..y.len()).filter(|user| full(*user)).for_each(|user| y[user] = y[user].min(self.penalty));
        y
    }

    /// The most that the users' shares from here, weighed by multipliers, can come to.
    pub fn bound(&self, y: &[f64]) -> f64 {
        let parts: Vec<f64> = self
            .blocks
            .par_chunks(part_size(self.problem))
            .with_min_len(self.problem.quanta_together())
            .map(|blocks| blocks.iter().map(|block| block.bound(self.problem, y)).sum())
            .collect();
        parts.iter().sum()
    }

    /// The point's own numbers, to come back to.
    pub fn snapshot(&self) -> Snapshot {
        Snapshot {
            level: self.level,
            blocks: self
                .blocks
                .iter()
                .map(|block| (block.x.clone(), block.z.clone(), block.p.clone()))
                .collect(),
            work: self.work.clone(),
            over: self.over.clone(),
            y: self.y.clone(),
            missing: self.missing.clone(),
        }
    }

    /// Back to a snapshot. There are no more iterations from there.
    pub fn restore(&mut self, snapshot: Snapshot) {
        let Snapshot { level, blocks, work, over, y, missing } = snapshot;
        for (block, (x, z, p)) in self.blocks.iter_mut().zip(blocks) {
            (block.x, block.z, block.p) = (x, z, p);
        }
        (self.level, self.work, self.over, self.y, self.missing) = (level, work, over, y, missing);
    }

    /// A sum over all quanta, one number a user.
    fn sum_of(&self, add_to: impl Fn(&Block<'_>, &mut [f64]) + Sync) -> Vec<f64> {
        let users = self.roles.len();
        let parts: Vec<Vec<f64>> = self
            .blocks
            .par_chunks(part_size(self.problem))
            .with_min_len(self.problem.quanta_together())
            .map(|blocks| {
                let mut sum = vec![0.0; users];
                blocks.iter().for_each(|block| add_to(block, &mut sum));
                sum
            })
            .collect();
        let mut sum = vec![0.0; users];
        parts.iter().for_each(|part| add(&mut sum, part));
        sum
    }
}

fn part_size(problem: &Problem) -> usize {
    problem.quanta.len().div_ceil(PARTS).max(1)
}

fn add(sum: &mut [f64], part: &[f64]) {
    sum.iter_mut().zip(part).for_each(|(sum, part)| *sum += part);
}
