//! Whole numbers by branch and bound: the program without them, then twice, below and above a fraction, the best bound first.
//!
//! A. H. Land and A. G. Doig, An automatic method of solving discrete programming problems, Econometrica 28, 1960.

use super::basis::Simplex;
use crate::linear_program::{Branching, Ended, Outcome, Program, Settings};
use crate::tolerance::simplex::{PRIMAL, SAME};
use fairplan_instances::Deadline;

/// A part of the program: bounds of its whole columns, and what it can be worth at best, lower being better.
struct Part {
    bounds: Vec<(f64, f64)>,
    best: f64,
}

/// The optimum in whole numbers, or the best after the most nodes.
pub(crate) fn solve_whole(program: &Program, settings: Settings, deadline: &Deadline) -> Outcome {
    let branching = settings.branching.unwrap_or(Branching { whole: PRIMAL, most_nodes: i32::MAX });
    let whole: Vec<usize> = (0..program.columns.len()).filter(|c| program.columns[*c].is_whole).collect();
    let mut simplex = Simplex::new(program, settings);
    let sign = simplex.sign;
    let bounds = whole.iter().map(|column| (0.0, program.columns[*column].most.floor())).collect();
    let mut open = vec![Part { bounds, best: f64::NEG_INFINITY }];
    let mut found: Option<Outcome> = None;
    let mut nodes = 0;
    let mut first = None;
    let worth = |found: &Option<Outcome>| found.as_ref().map_or(f64::INFINITY, |found| sign * found.value);
    while let Some(at) = best(&open, found.is_some()) {
        if nodes >= branching.most_nodes || deadline.is_over() {
            break;
        }
        let part = open.swap_remove(at);
        if part.best >= worth(&found) - SAME * part.best.abs() {
            continue;
        }
        nodes += 1;
        for (column, bounds) in whole.iter().zip(&part.bounds) {
            simplex.bound(*column, *bounds);
        }
        let mut solved = simplex.solve(deadline);
        match solved.ended {
            Ended::Optimal => {}
            Ended::Infeasible if nodes > 1 => continue,
            _ => {
                let is_known = first.is_some();
                if !is_known || solved.ended == Ended::OutOfTime {
                    return solved;
                }
                // What is not decided stays open: it bounds, and is not looked at again.
                return stopped(found, first, sign, part.best, Ended::Undecided);
            }
        }
        let value = sign * solved.value;
        first.get_or_insert_with(|| solved.clone());
        if value >= worth(&found) - SAME * value.abs() {
            continue;
        }
        // Bounds may be broken by a rounding.
        for (column, (least, most)) in whole.iter().zip(&part.bounds) {
            solved.columns[*column] = solved.columns[*column].clamp(*least, *most);
        }
        let fraction = |column: &usize| (solved.columns[*column] - solved.columns[*column].round()).abs();
        let split = whole.iter().enumerate().max_by(|a, b| fraction(a.1).total_cmp(&fraction(b.1)));
        match split.filter(|(_, column)| fraction(column) > branching.whole) {
            None => {
                whole.iter().for_each(|column| solved.columns[*column] = solved.columns[*column].round());
                found = Some(solved);
            }
            Some((at, column)) => {
                let number = solved.columns[*column].floor();
                let (least, most) = part.bounds[at];
                for (least, most) in [(least, number), (number + 1.0, most)] {
                    if least <= most {
                        let mut bounds = part.bounds.clone();
                        bounds[at] = (least, most);
                        open.push(Part { bounds, best: value });
                    }
                }
            }
        }
    }
    let bound = open.iter().map(|part| part.best).fold(worth(&found), f64::min);
    let ended = if deadline.is_over() && !open.is_empty() {
        Ended::OutOfTime
    } else if open.is_empty() {
        if found.is_some() { Ended::Optimal } else { Ended::Infeasible }
    } else {
        Ended::MostNodes
    };
    stopped(found, first, sign, bound, ended)
}

/// What was found, and that nothing is better than `best`.
fn stopped(found: Option<Outcome>, first: Option<Outcome>, sign: f64, best: f64, ended: Ended) -> Outcome {
    let nothing = || Outcome {
        ended: Ended::Infeasible,
        columns: Vec::new(),
        multipliers: Vec::new(),
        value: f64::NAN,
        bound: f64::NAN,
    };
    let is_found = found.is_some();
    let outcome = found.or(first).unwrap_or_else(nothing);
    let value = if is_found { outcome.value } else { f64::NAN };
    Outcome { ended, bound: sign * best, value, ..outcome }
}

/// The part to look at next: the last until something is found, then the one with the best bound.
fn best(open: &[Part], is_found: bool) -> Option<usize> {
    if !is_found {
        return open.len().checked_sub(1);
    }
    (0..open.len()).min_by(|a, b| open[*a].best.total_cmp(&open[*b].best))
}
