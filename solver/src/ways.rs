//! The ways to an answer: what each needs, and the order in which a backend tries them until one is certified.
//!
//! No single way closes everything: bins of users may disagree on more classes than rounds can split, and an interior
//! point may lose its last digits where numbers are far apart. Each way proves what it finds over the users themselves, so
//! which of them was right needs no trust: the first certified answer is the answer, and its method says which way that
//! was. Where none is, the one with the smallest gap is returned, `uncertified`.

use crate::aggregation::work;
use crate::bins::Bins;
use crate::highs::{Highs, HighsAlgorithm};
use crate::interior_point::InteriorPoint;
use crate::reduction::Reduction;
use crate::{lexicographic, smooth};
use fairplan_instances::{
    Certificate, Deadline, Instance, Objective, Solution, SolverError, Statistics, Status,
};
use std::cell::OnceCell;

/// An instance with what is asked of it.
pub(crate) struct Question<'a> {
    pub instance: &'a Instance,
    pub objective: Objective,
    /// Which backend was asked for.
    pub backend: &'static str,
    /// When to end.
    pub deadline: &'a Deadline,
    reduction: OnceCell<Reduction>,
}

impl<'a> Question<'a> {
    pub fn new(
        instance: &'a Instance,
        objective: Objective,
        backend: &'static str,
        deadline: &'a Deadline,
    ) -> Self {
        Self { instance, objective, backend, deadline, reduction: OnceCell::new() }
    }

    /// α of a sum; 0 where the objective is none.
    pub fn alpha(&self) -> f64 {
        self.objective.alpha().unwrap_or(0.0)
    }

    /// The instance in the solver's terms, made when it is first needed.
    pub fn reduction(&self) -> &Reduction {
        self.reduction.get_or_init(|| Reduction::new(self.instance, self.objective))
    }

    pub fn users(&self) -> usize {
        self.instance.user_count()
    }

    /// Pairs of a user and a class, with proportional classes merged.
    fn pairs(&self) -> usize {
        self.users() * self.reduction().classes()
    }

    /// About what solving for all users takes; see [`work_of_a_step`](crate::aggregation::work_of_a_step).
    fn work_in_full(&self) -> f64 {
        let rows = self.reduction().capacities.len();
        USUAL_STEPS * work(self.pairs(), self.users(), rows, self.reduction().resources)
    }

    /// How many bins by direction to begin with.
    fn bins(&self) -> usize {
        FIRST_BINS.most.min(FIRST_BINS.pairs / self.reduction().classes().max(1)).max(FIRST_BINS.least)
    }

    /// Whether there are more users than bins to put them in.
    fn shares_bins(&self) -> bool {
        self.users() > self.bins()
    }
}

/// A way to solve an instance.
pub(crate) struct Way {
    /// What results call it.
    method: &'static str,
    /// Whether it is worth trying.
    applies: fn(&Question<'_>) -> bool,
    solve: fn(&Question<'_>, &'static str) -> Result<Solution, SolverError>,
}

/// Bins that aggregation starts with: so many, and fewer where each of them would meet so many classes that there were
/// more than `pairs`, but not below `least`.
struct FirstBins {
    most: usize,
    least: usize,
    pairs: usize,
}

const FIRST_BINS: FirstBins = FirstBins { most: 128, least: 32, pairs: 100_000 };

/// Pairs of a user and a class up to which an interior point over all users is worth trying after aggregation (about a
/// hundred bytes each), and up to which HiGHS is.
const IN_FULL: usize = 20_000_000;
const FOR_HIGHS: usize = 20_000;

/// Steps that an interior point over all users usually takes.
const USUAL_STEPS: f64 = 40.0;

/// Users share bins, which are split until the certificate closes; first for no longer than solving in full would take.
const LEVELS_BY_AGGREGATION: Way = Way {
    method: "aggregation",
    applies: |question| question.shares_bins(),
    solve: |question, method| levels_by_aggregation(question, method, question.work_in_full()),
};

/// The same, however long it takes.
const LEVELS_BY_PATIENT_AGGREGATION: Way = Way {
    solve: |question, method| levels_by_aggregation(question, method, f64::INFINITY),
    ..LEVELS_BY_AGGREGATION
};

fn levels_by_aggregation(
    question: &Question<'_>,
    method: &'static str,
    budget: f64,
) -> Result<Solution, SolverError> {
    let bins = Bins::by_direction(question.reduction(), question.bins());
    lexicographic::solve(question, method, bins, &InteriorPoint(question.deadline.clone()), budget)
}

/// Only users that are alike share bins.
const LEVELS_IN_FULL: Way = Way {
    method: "interior-point",
    applies: |question| !question.shares_bins() || question.pairs() <= IN_FULL,
    solve: |question, method| {
        lexicographic::solve(
            question,
            method,
            Bins::exact(question.reduction()),
            &InteriorPoint(question.deadline.clone()),
            f64::INFINITY,
        )
    },
};

const LEVELS_BY_SIMPLEX: Way = Way {
    method: "simplex",
    applies: |question| question.pairs() <= FOR_HIGHS,
    solve: |question, method| levels_by_highs(question, method, HighsAlgorithm::Simplex),
};

const LEVELS_BY_HIGHS_INTERIOR_POINT: Way = Way {
    method: "highs-interior-point",
    solve: |question, method| levels_by_highs(question, method, HighsAlgorithm::InteriorPoint),
    ..LEVELS_BY_SIMPLEX
};

fn levels_by_highs(
    question: &Question<'_>,
    method: &'static str,
    algorithm: HighsAlgorithm,
) -> Result<Solution, SolverError> {
    lexicographic::solve(
        question,
        method,
        Bins::exact(question.reduction()),
        &Highs(algorithm, question.deadline.clone()),
        f64::INFINITY,
    )
}

/// Below this α users of a bin would have shares too far apart for fixed proportions to be of use.
const AGGREGATED_FROM: f64 = 0.2;

/// Prices alone, where users have too many rates of their own to share bins.
const SUM_BY_PRICES_FIRST: Way = Way {
    method: "price-discovery",
    applies: |question| smooth::market::suits(question.instance, question.alpha()),
    solve: smooth::market::solve,
};

const SUM_BY_AGGREGATION: Way = Way {
    method: "aggregation",
    applies: |question| question.alpha() >= AGGREGATED_FROM && question.shares_bins(),
    solve: |question, method| sum_by_aggregation(question, method, question.work_in_full()),
};

const SUM_BY_PATIENT_AGGREGATION: Way = Way {
    solve: |question, method| sum_by_aggregation(question, method, f64::INFINITY),
    ..SUM_BY_AGGREGATION
};

fn sum_by_aggregation(
    question: &Question<'_>,
    method: &'static str,
    budget: f64,
) -> Result<Solution, SolverError> {
    let bins = Bins::by_direction(question.reduction(), question.bins());
    let solver = smooth::InteriorPoint(question.deadline.clone());
    smooth::solve_over(question, method, bins, false, &solver, budget)
}

const SUM_IN_FULL: Way = Way {
    method: "interior-point",
    applies: LEVELS_IN_FULL.applies,
    solve: |question, method| {
        sum_in_full(question, method, &smooth::InteriorPoint(question.deadline.clone()))
    },
};

/// The same where it was not tried first.
const SUM_BY_PRICES: Way = Way {
    applies: |question| {
        let (instance, alpha) = (question.instance, question.alpha());
        smooth::market::can_solve(instance, alpha) && !smooth::market::suits(instance, alpha)
    },
    ..SUM_BY_PRICES_FIRST
};

const SUM_BY_SIMPLEX: Way = Way {
    method: "simplex",
    applies: |question| question.alpha() == 0.0 && question.pairs() <= FOR_HIGHS,
    solve: |question, method| {
        sum_in_full(question, method, &Highs(HighsAlgorithm::Simplex, question.deadline.clone()))
    },
};

const SUM_BY_HIGHS_INTERIOR_POINT: Way = Way {
    method: "highs-interior-point",
    solve: |question, method| {
        sum_in_full(question, method, &Highs(HighsAlgorithm::InteriorPoint, question.deadline.clone()))
    },
    ..SUM_BY_SIMPLEX
};

fn sum_in_full(
    question: &Question<'_>,
    method: &'static str,
    solver: &dyn smooth::SumSolver,
) -> Result<Solution, SolverError> {
    let bins = Bins::alike(question.reduction(), question.alpha());
    smooth::solve_over(question, method, bins, true, solver, f64::INFINITY)
}

/// The ways of a backend: those to the levels of a max-min, and those to a sum.
pub(crate) struct Ways {
    pub levels: &'static [Way],
    pub sums: &'static [Way],
}

/// Whatever there is, the fastest first.
pub(crate) const ALL: Ways = Ways {
    levels: &[
        LEVELS_BY_AGGREGATION,
        LEVELS_IN_FULL,
        LEVELS_BY_PATIENT_AGGREGATION,
        LEVELS_BY_SIMPLEX,
        LEVELS_BY_HIGHS_INTERIOR_POINT,
    ],
    sums: &[
        SUM_BY_PRICES_FIRST,
        SUM_BY_AGGREGATION,
        SUM_IN_FULL,
        SUM_BY_PATIENT_AGGREGATION,
        SUM_BY_PRICES,
        SUM_BY_SIMPLEX,
        SUM_BY_HIGHS_INTERIOR_POINT,
    ],
};

/// An interior point over all users, whatever their number.
pub(crate) const INTERIOR_POINT: Ways = Ways {
    levels: &[Way { applies: |_| true, ..LEVELS_IN_FULL }],
    sums: &[Way { applies: |_| true, ..SUM_IN_FULL }],
};

/// HiGHS alone, with either of its algorithms.
pub(crate) const SIMPLEX: Ways = Ways {
    levels: &[Way { applies: |_| true, ..LEVELS_BY_SIMPLEX }],
    sums: &[Way { applies: |_| true, ..SUM_BY_SIMPLEX }],
};
pub(crate) const HIGHS_INTERIOR_POINT: Ways = Ways {
    levels: &[Way { applies: |_| true, ..LEVELS_BY_HIGHS_INTERIOR_POINT }],
    sums: &[Way { applies: |_| true, ..SUM_BY_HIGHS_INTERIOR_POINT }],
};

/// Tries the ways that apply, in order, until one is certified or the time is over; then the answer with the
/// smallest gap.
///
/// # Errors
/// What the first of them said, when none gave an answer.
pub(crate) fn solve(question: &Question<'_>, ways: &[Way]) -> Result<Solution, SolverError> {
    let (mut best, mut failure) = (None::<Solution>, None);
    let (mut iterations, mut rounds) = (0, 0);
    for way in ways.iter().filter(|way| (way.applies)(question)) {
        match (way.solve)(question, way.method) {
            Ok(solution) => {
                let Statistics { iterations: spent, rounds: more, .. } = solution.statistics;
                (iterations, rounds) = (iterations + spent, rounds + more);
                let certified = solution.status == Status::Optimal;
                if certified || best.as_ref().is_none_or(|best| gap(&solution) < gap(best)) {
                    best = Some(solution);
                }
                if certified {
                    break;
                }
            }
            Err(error) => failure = failure.or(Some(error)),
        }
        if question.deadline.is_over() {
            break;
        }
    }
    let nothing = || {
        let problem = format!("no method applies to {}", question.objective);
        failure.unwrap_or(SolverError::Unsupported(problem))
    };
    let mut solution = best.ok_or_else(nothing)?;
    (solution.statistics.iterations, solution.statistics.rounds) = (iterations, rounds);
    Ok(solution)
}

/// How far an answer is from being proved, as the widest relative gap of what it states.
fn gap(solution: &Solution) -> f64 {
    let gap = match &solution.certificate {
        Certificate::Levels { levels, .. } => {
            let of_level = levels.iter().map(|level| 1.0 - level.value / level.bound);
            // `max` would pass over what is no number.
            of_level.fold(0.0, |widest, gap| if gap <= widest { widest } else { gap })
        }
        Certificate::Total(total) => total.relative_gap,
        Certificate::Bottlenecks => 0.0,
    };
    if gap.is_nan() { f64::INFINITY } else { gap }
}
