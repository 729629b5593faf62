//! Optima are proved by their multipliers, whole ones by trying all.

use super::{Simplex, solve_whole};
use crate::linear_program::{Branching, Col, Column, Ended, Outcome, Program, Row, Sense, Settings};
use crate::test_stream::stream;
use fairplan_instances::Deadline;

struct Stream(Box<dyn FnMut() -> f64>);

impl Stream {
    fn new(seed: u64) -> Self {
        Self(Box::new(stream(seed)))
    }

    fn below(&mut self, end: usize) -> usize {
        ((self.0)() * end as f64) as usize
    }
}

/// A random program with zeros, equal numbers and rows on both sides.
fn drawn(stream: &mut Stream, whole: bool) -> Program {
    let mut program = Program::new(if stream.below(2) == 0 { Sense::Maximise } else { Sense::Minimise });
    let (rows, columns) = (1 + stream.below(7), 1 + stream.below(7));
    let small = |stream: &mut Stream| stream.below(9) as f64 - 3.0;
    for _ in 0..columns {
        let most = if whole || stream.below(2) == 0 { stream.below(5) as f64 } else { f64::INFINITY };
        let cost = small(stream);
        program.column(cost, most, whole, []);
    }
    for _ in 0..rows {
        let entries: Vec<(Col, f64)> = (0..columns).map(|column| (Col(column), small(stream))).collect();
        let entries = entries.into_iter().filter(|(_, entry)| *entry != 0.0);
        let (least, width) = (small(stream), stream.below(6) as f64);
        match stream.below(3) {
            0 => program.at_least(least, entries),
            1 => program.at_most(least, entries),
            _ => {
                let row = program.at_least(least, entries);
                program.rows[row.0].1 = least + width;
                row
            }
        };
    }
    program
}

fn row_values(program: &Program, columns: &[f64]) -> Vec<f64> {
    let mut values = vec![0.0; program.rows.len()];
    for (column, value) in program.columns.iter().zip(columns) {
        column.entries.iter().for_each(|(Row(row), entry)| values[*row] += entry * value);
    }
    values
}

fn is_feasible(program: &Program, columns: &[f64]) -> bool {
    let rows = row_values(program, columns);
    let within = |value: f64, least: f64, most: f64| value >= least - 1e-7 && value <= most + 1e-7;
    rows.iter().zip(&program.rows).all(|(value, (least, most))| within(*value, *least, *most))
        && columns.iter().zip(&program.columns).all(|(value, column)| within(*value, 0.0, column.most))
}

/// What no columns within all bounds can be better than, by the multipliers; infinite where they prove nothing.
fn dual_bound(program: &Program, outcome: &Outcome) -> f64 {
    let sign = if program.sense == Sense::Maximise { -1.0 } else { 1.0 };
    let at_best = |times: f64, least: f64, most: f64| match times {
        times if times.abs() < 1e-8 => 0.0,
        times if times > 0.0 => times * least,
        times => times * most,
    };
    let multipliers = outcome.multipliers.iter().map(|multiplier| sign * multiplier);
    let mut bound: f64 = multipliers
        .clone()
        .zip(&program.rows)
        .map(|(times, (least, most))| at_best(times, *least, *most))
        .sum();
    let multipliers: Vec<f64> = multipliers.collect();
    for column in &program.columns {
        let paid: f64 = column.entries.iter().map(|(Row(row), entry)| entry * multipliers[*row]).sum();
        bound += at_best(sign * column.cost - paid, 0.0, column.most);
    }
    sign * bound
}

fn assert_proved(program: &Program, outcome: &Outcome, what: &str) {
    assert_eq!(outcome.ended, Ended::Optimal, "{what}");
    assert!(is_feasible(program, &outcome.columns), "{what}: {:?}", outcome.columns);
    let bound = dual_bound(program, outcome);
    assert!(
        (bound - outcome.value).abs() <= 1e-6 * outcome.value.abs().max(1.0),
        "{what}: {bound} {}",
        outcome.value
    );
}

#[test]
fn optima_of_random_programs_are_proved_by_their_multipliers() {
    let mut ended = [0; 3];
    for seed in 0..4_000 {
        let program = drawn(&mut Stream::new(seed), false);
        let outcome = Simplex::new(&program, Settings::default()).solve(&Deadline::never());
        match outcome.ended {
            Ended::Optimal => {
                ended[0] += 1;
                assert_proved(&program, &outcome, &format!("seed {seed}"));
            }
            Ended::Infeasible => ended[1] += 1,
            Ended::Otherwise(_) => ended[2] += 1,
            other => panic!("seed {seed}: {other:?}"),
        }
    }
    assert!(ended.iter().all(|count| *count > 200), "{ended:?}");
}

#[test]
fn columns_added_to_a_solved_program_are_used_as_if_they_had_been_there() {
    for seed in 0..300 {
        let mut stream = Stream::new(seed);
        let mut program = Program::maximise();
        let rows: Vec<Row> = (0..12)
            .map(|row| program.at_most(if row < 8 { 0.0 } else { 1.0 + (row % 3) as f64 }, []))
            .collect();
        let wanted = (0..8).map(|row| (rows[row], 1.0 + stream.below(3) as f64));
        program.column(1.0, 1.0, false, wanted.collect::<Vec<_>>());
        let mut simplex = Simplex::new(&program, Settings::default());
        for _ in 0..12 {
            for _ in 0..4 {
                let class = rows[8 + stream.below(4)];
                let mut entries = vec![(class, 1.0)];
                entries.extend((0..3).map(|_| (rows[stream.below(8)], -(1.0 + stream.below(4) as f64))));
                entries.sort_by_key(|(row, _)| row.0);
                entries.dedup_by_key(|(row, _)| row.0);
                let column = Column { cost: 0.0, most: f64::INFINITY, is_whole: false, entries };
                simplex.add(&column);
                program.columns.push(column);
            }
            assert_proved(&program, &simplex.solve(&Deadline::never()), &format!("seed {seed}"));
        }
    }
}

#[test]
fn whole_numbers_are_the_best_of_all() {
    let settings =
        Settings { branching: Some(Branching { whole: 1e-9, most_nodes: 100_000 }), ..Settings::default() };
    let mut found = 0;
    for seed in 0..600 {
        let program = drawn(&mut Stream::new(seed), true);
        let mut best: Option<f64> = None;
        let mut columns = vec![0.0; program.columns.len()];
        loop {
            if is_feasible(&program, &columns) {
                let value: f64 =
                    program.columns.iter().zip(&columns).map(|(column, x)| column.cost * x).sum();
                let better =
                    |known: f64| if program.sense == Sense::Maximise { value > known } else { value < known };
                best = if best.is_none_or(better) { Some(value) } else { best };
            }
            let Some(next) = (0..columns.len()).find(|at| columns[*at] < program.columns[*at].most) else {
                break;
            };
            columns[next] += 1.0;
            columns[..next].fill(0.0);
        }
        let outcome = solve_whole(&program, settings, &Deadline::never());
        match best {
            None => assert_eq!(outcome.ended, Ended::Infeasible, "seed {seed}"),
            Some(best) => {
                found += 1;
                assert_eq!(outcome.ended, Ended::Optimal, "seed {seed}");
                assert!(is_feasible(&program, &outcome.columns), "seed {seed}");
                assert!((outcome.value - best).abs() < 1e-6, "seed {seed}: {} {best}", outcome.value);
            }
        }
    }
    assert!(found > 100, "{found}");
}

#[test]
fn numbers_far_apart_are_solved_as_if_they_were_near() {
    let (large, little) = (1e12, 1e-12);
    let mut program = Program::maximise();
    let (row, other) = (program.at_most(2.0 * large, []), program.at_most(little, []));
    program.column(1.0, f64::INFINITY, false, [(row, large)]);
    program.column(2.0, f64::INFINITY, false, [(row, large), (other, little)]);
    let outcome = Simplex::new(&program, Settings::default()).solve(&Deadline::never());
    assert_eq!((outcome.ended, outcome.value), (Ended::Optimal, 3.0));
}

/// As much as possible of what is needed of divisible tasks of many shapes on ten classes of servers, most of which are alike: many columns
/// are as good as each other.
fn divided(stream: &mut Stream, shapes: usize) -> Program {
    let classes = [
        (6732, [0.5, 0.4995]),
        (3863, [0.5, 0.2493]),
        (1001, [0.5, 0.749]),
        (795, [1.0, 1.0]),
        (126, [0.25, 0.2498]),
        (52, [0.5, 0.1241]),
        (5, [0.5, 0.03085]),
        (5, [0.5, 0.9678]),
        (3, [1.0, 0.5]),
        (1, [0.5, 0.06158]),
    ];
    let mut program = Program::maximise();
    let needed: Vec<Row> = (0..shapes).map(|_| program.at_least(0.0, [])).collect();
    let mut rows = |count: u32| [0, 1].map(|_| program.at_most(f64::from(count), []));
    let rows: Vec<[Row; 2]> = classes.iter().map(|(count, _)| rows(*count)).collect();
    let mut demand = || [0, 1].map(|_| (0.02 + 0.48 * (stream.0)()) * 1e5).map(f64::round);
    let demands: Vec<[f64; 2]> = (0..shapes).map(|_| demand()).collect();
    let tasks = demands.iter().map(|demand| (16.0e5 / demand[0].max(demand[1])).ceil());
    program.column(
        16384.0,
        1.0,
        false,
        needed.iter().zip(tasks).map(|(row, tasks)| (*row, -tasks)).collect::<Vec<_>>(),
    );
    for (row, demand) in needed.iter().zip(&demands) {
        for ((_, capacity), rows) in classes.iter().zip(&rows) {
            let parts = [0, 1].map(|r| capacity[r] * 1e5 / demand[r]);
            let copies = parts[0].min(parts[1]).floor();
            if copies > 0.0 {
                let takes = [0, 1].map(|r| (rows[r], copies / parts[r]));
                program.column(0.0, f64::INFINITY, false, takes.into_iter().chain([(*row, copies)]));
            }
        }
    }
    program
}

#[test]
fn bounds_that_rounding_oversteps_again_and_again_end_no_program_undecided() {
    for seed in 0..12 {
        let program = divided(&mut Stream::new(seed), 500);
        let settings = Settings { dual: Some(1e-10), ..Settings::default() };
        let outcome = Simplex::new(&program, settings).solve(&Deadline::never());
        assert_proved(&program, &outcome, &format!("seed {seed}"));
    }
}

#[test]
fn time_that_is_over_is_told() {
    let program = drawn(&mut Stream::new(1), false);
    let outcome =
        Simplex::new(&program, Settings::default()).solve(&Deadline::after(std::time::Duration::ZERO));
    assert_eq!(outcome.ended, Ended::OutOfTime);
}
