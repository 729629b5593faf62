//! Demands over time: what a quantum of Karma costs, and a day of every mechanism.

use super::Outcome;
use fairplan_instances::generate::{Workload, WorkloadOptions, demands};
use fairplan_instances::{
    Decimal, DemandSeries, DemandSeriesBuilder, FairShares, GuaranteedFraction, QuantumLabel, Random,
};
use fairplan_instances::{OfflineMeasure, OfflineProblem};
use fairplan_mechanisms::{Conduct, MECHANISMS, Mechanism, Reports, Run, Settings, Ties, mechanism};
use fairplan_solver::{HighsAlgorithm, offline_levels_by_highs};
use fairplan_verify::{OfflineClaim, verify_offline};
use std::time::Instant;

/// What the Karma paper's C++ library took for a quantum, in seconds, on a machine like this.
const PUBLISHED: [(u64, f64); 3] = [(1_000, 0.21e-3), (10_000, 4.1e-3), (100_000, 187e-3)];

/// Quanta that are run before one is measured, and quanta that are measured.
const WARM_UP: usize = 20;
const MEASURED: usize = 50;

fn settings(alpha: &str) -> Result<Settings, Box<dyn std::error::Error>> {
    let alpha = GuaranteedFraction::new(alpha.parse()?)?;
    let initial_credits = 1_000_000_000_000;
    Ok(Settings { alpha, initial_credits, ties: Ties::Lowest, oversubscription: 2, term: 2, seed: 1 })
}

/// Users whose demands are uniform between nothing and twice the fair share.
fn uniform(users: u64, fair_share: u64, quanta: usize) -> Result<DemandSeries, Box<dyn std::error::Error>> {
    let mut random = Random::new(1, 0);
    let mut builder = DemandSeriesBuilder::default();
    for user in 0..users {
        builder.user(&format!("u{user}"))?;
    }
    for quantum in 0..quanta {
        builder.quantum(QuantumLabel::Number(quantum as u64))?;
        for user in 0..users {
            builder.demand(user as usize, random.between(0, 2 * fair_share))?;
        }
    }
    Ok(builder.build()?)
}

/// Seconds of the fastest and the median quantum of Karma.
fn karma_quantum(
    users: u64,
    fair_share: u64,
    shares: &FairShares,
) -> Result<[f64; 2], Box<dyn std::error::Error>> {
    let series = uniform(users, fair_share, WARM_UP + MEASURED)?;
    let honest = vec![false; users as usize];
    let mut karma = mechanism("karma", &settings("0.5")?, &honest, series.quantum_count())?;
    karma.admit(&shares.entitlement(&series, 0))?;
    let mut wanted = vec![0; users as usize];
    let mut allocated = vec![0; users as usize];
    let mut seconds = Vec::new();
    for quantum in 0..series.quantum_count() {
        wanted.fill(0);
        let (demanders, slices) = series.demands(quantum);
        demanders.iter().zip(slices).for_each(|(user, slices)| wanted[*user as usize] = *slices);
        let start = Instant::now();
        karma.allocate(&wanted, &mut allocated);
        if quantum >= WARM_UP {
            seconds.push(start.elapsed().as_secs_f64());
        }
    }
    seconds.sort_by(f64::total_cmp);
    Ok([seconds[0], seconds[MEASURED / 2]])
}

pub(super) fn karma_quanta(scale: u64) -> Outcome {
    println!("## A quantum of Karma\n");
    println!(
        "Demand uniform between 0 and twice the fair share, alpha 1/2; the fastest and the median of {MEASURED} quanta."
    );
    println!("The published time is that of the Karma paper's C++ library on a machine like this.\n");
    println!(
        "| users | fair share | fastest | median | published | ratio (median) |\n|---|---|---|---|---|---|"
    );
    for (users, published) in PUBLISHED {
        let users = users / scale;
        for share in [10, 100_000] {
            let [fastest, median] = karma_quantum(users, share, &FairShares::PerUser(share))?;
            let (published, ratio) = match (scale, share) {
                (1, 10) => (format!("{:.2} ms", published * 1e3), format!("{:.0}", published / median)),
                _ => (String::new(), String::new()),
            };
            println!(
                "| {users} | {share} | {:.3} ms | {:.3} ms | {published} | {ratio} |",
                fastest * 1e3,
                median * 1e3
            );
        }
        let mut random = Random::new(2, 0);
        let shares = FairShares::Each((0..users).map(|_| random.between(5, 15)).collect());
        let [fastest, median] = karma_quantum(users, 10, &shares)?;
        println!("| {users} | 5 to 15 | {:.3} ms | {:.3} ms | | |", fastest * 1e3, median * 1e3);
    }
    println!();
    Ok(())
}

pub(super) fn a_day_of_every_mechanism(scale: u64) -> Outcome {
    let (users, quanta) = (200, 86_400 / scale);
    println!("## {users} users over {quanta} quanta\n");
    println!("With all metrics.\n\n| mechanism | workload | seconds | utilization |\n|---|---|---|---|");
    for (workload, mean) in [(Workload::Queries, 1u32), (Workload::Bursts, 10)] {
        let options = WorkloadOptions {
            workload,
            users,
            quanta,
            mean: Decimal::from(mean),
            together: Decimal::ZERO,
            seed: 1,
        };
        let series = demands(&options)?;
        let honest = vec![false; users as usize];
        for name in MECHANISMS.names() {
            let settings = settings("0.5")?;
            let conduct = Conduct { non_conformant: &honest, reports: Reports::Truthful };
            let shares = FairShares::PerUser(mean.into());
            let run = Run { shares: &shares, conduct, cache: None, per_quantum: false };
            let (seconds, outcome) = super::fastest(2, || {
                let mut mechanism = mechanism(name, &settings, &honest, series.quantum_count()).ok()?;
                run.outcome(mechanism.as_mut() as &mut dyn Mechanism, &series).ok()
            });
            let outcome = outcome.ok_or("the mechanism does not run")?;
            println!(
                "| {name} | {workload}, mean {mean} | {seconds:.3} | {:.4} |",
                outcome.metrics.utilization
            );
        }
    }
    println!();
    Ok(())
}

/// Users of whom each demands 1 to 20 slices now and then, some ten times as often as others.
fn now_and_then(users: u64, quanta: u64, entries: u64) -> Result<DemandSeries, Box<dyn std::error::Error>> {
    let mut random = Random::new(3, 0);
    let mut builder = DemandSeriesBuilder::default();
    for user in 0..users {
        builder.user(&format!("u{user}"))?;
    }
    // Chances in parts of 2^32, from a tenth to all of what gives that many demands.
    let most = (entries << 32) / (users * quanta) * 20 / 11;
    let chances: Vec<u64> = (0..users).map(|_| random.between(most / 10, most)).collect();
    for quantum in 0..quanta {
        builder.quantum(QuantumLabel::Number(quantum))?;
        for user in 0..users {
            if random.below(1 << 32) < chances[user as usize] {
                builder.demand(user as usize, random.between(1, 20))?;
            }
        }
    }
    Ok(builder.build()?)
}

pub(super) fn offline(scale: u64) -> Outcome {
    let quanta = 86_400 / scale;
    println!("## The offline optimum over {quanta} quanta\n");
    println!(
        "| demands of | users | above zero | slices | levels | seconds | rounds | gap | certificate | peak memory beyond the series |"
    );
    println!("|---|---|---|---|---|---|---|---|---|---|");
    let workload = |workload, users, mean: u32| {
        demands(&WorkloadOptions {
            workload,
            users,
            quanta,
            mean: mean.into(),
            together: Decimal::ZERO,
            seed: 1,
        })
    };
    for (name, series, capacity) in [
        ("now and then", &now_and_then(2_600, quanta, 10_000_000 / scale)?, 1_000),
        ("queries", &workload(Workload::Queries, 2_600, 1)?, 2_600),
        ("bursts", &workload(Workload::Bursts, 200, 10)?, 2_000),
    ] {
        row(name, series, capacity, false)?;
        row(name, series, capacity, true)?;
    }
    println!();
    Ok(())
}

/// Sizes that grow until HiGHS needs more than a minute.
pub(super) fn offline_against_highs(scale: u64) -> Outcome {
    println!("## The offline optimum against HiGHS, the same series in the same run\n");
    println!(
        "Both find all levels. HiGHS solves one linear program a level, each from scratch, and holds who has a multiplier.\n"
    );
    println!(
        "| users | quanta | above zero | ours | HiGHS simplex | HiGHS interior point | programs | ratio to the faster | apart |"
    );
    println!("|---|---|---|---|---|---|---|---|---|");
    for (users, quanta) in [(50, 100), (100, 200), (150, 300), (200, 400), (250, 500), (300, 600)] {
        let quanta = quanta / scale;
        let options = WorkloadOptions {
            workload: Workload::Queries,
            users,
            quanta,
            mean: Decimal::from(10u32),
            together: Decimal::ZERO,
            seed: 1,
        };
        let series = demands(&options)?;
        let shares = FairShares::PerUser(10);
        let problem = OfflineProblem {
            series: &series,
            shares: &shares,
            guaranteed: None,
            measure: OfflineMeasure::Totals,
            whole_slices: false,
        };
        let (seconds, optimum) = super::fastest(9, || fairplan_solver::offline_optimum(&problem));
        let by = |algorithm| super::fastest(1, || offline_levels_by_highs(&problem, algorithm));
        let (simplex, levels) = by(HighsAlgorithm::Simplex);
        let (interior, by_interior) = by(HighsAlgorithm::InteriorPoint);
        let (levels, by_interior) = (levels?, by_interior?);
        let (totals, weights) = (optimum.totals(&series), problem.weights());
        let apart = |standings: &[f64]| {
            let counting = (0..weights.len()).filter(|user| weights[*user] > 0);
            let apart = counting.map(|user| {
                let ours = totals[user] / weights[user] as f64;
                (standings[user] - ours).abs() / ours
            });
            apart.fold(0.0, f64::max)
        };
        let faster = simplex.min(interior);
        println!(
            "| {users} | {quanta} | {} | {:.2} ms | {simplex:.2} s | {interior:.2} s | {}, {} | {:.0} | {:.1e}, {:.1e} |",
            series.entry_count(),
            seconds * 1e3,
            levels.programs,
            by_interior.programs,
            faster / seconds,
            apart(&levels.standings),
            apart(&by_interior.standings)
        );
        if faster > 60.0 {
            break;
        }
    }
    println!();
    Ok(())
}

fn row(name: &str, series: &DemandSeries, capacity: u64, whole_slices: bool) -> Outcome {
    let shares = FairShares::Capacity(capacity);
    let problem = OfflineProblem {
        series,
        shares: &shares,
        guaranteed: None,
        measure: OfflineMeasure::Totals,
        whole_slices,
    };
    let before = super::memory("VmRSS");
    let _ = std::fs::write("/proc/self/clear_refs", "5");
    let (seconds, optimum) = super::fastest(1, || fairplan_solver::offline_optimum(&problem));
    let peak = (super::memory("VmHWM") - before) / 1024.0;
    let claim = OfflineClaim::from(&optimum);
    let (proving, proof) = super::fastest(1, || verify_offline(&problem, claim));
    let proved = if proof.holds() { "proved" } else { "NOT PROVED" };
    let (kind, gap) = (if whole_slices { "whole" } else { "divided" }, proof.relative_gap);
    println!(
        "| {name} | {} | {} | {capacity}, {kind} | {} | {seconds:.2} | {} | {gap:.1e} | {proved}, {proving:.2} s | {peak:.0} MiB |",
        series.user_count(),
        series.entry_count(),
        optimum.levels.len(),
        optimum.rounds
    );
    Ok(())
}
