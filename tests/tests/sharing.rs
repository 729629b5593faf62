//! How transactions share a pool: against the solver's objectives, against Clarabel, and what the paper works out.

use crate::solving::close;
use ::clarabel::algebra::CscMatrix;
use ::clarabel::solver::{
    DefaultSettingsBuilder, DefaultSolver, ExponentialConeT, IPSolver, NonnegativeConeT, SolverStatus,
};
use fairplan_instances::{
    Decimal, Instance, InstanceBuilder, NewUser, Objective, ServerClass, Status, Traffic, TrafficClass,
};
use fairplan_solver::{SHARED, backend, sharing_rule};
use fairplan_tests::Dice;

/// A random mix and state: entries from 0 to 9, many of them equal or zero.
fn random_state(seed: u64) -> (Traffic, Vec<u32>) {
    let mut dice = Dice::new(seed);
    let resources = 1 + dice.below(4) as usize;
    let classes = 1 + dice.below(5) as usize;
    let top = 1 + dice.below(9);
    let mut demand = || -> Vec<f64> {
        loop {
            let drawn: Vec<f64> = (0..resources).map(|_| dice.below(top + 1) as f64).collect();
            if drawn.iter().any(|amount| *amount > 0.0) {
                return drawn;
            }
        }
    };
    let class = |k: usize, demand| TrafficClass::new(&format!("c{k}"), demand, 1.0);
    let classes: Vec<TrafficClass> = (0..classes).map(|k| class(k, demand())).collect();
    let capacity = (0..resources).map(|_| 1.0 + dice.below(20) as f64).collect();
    let mut counts: Vec<u32> = (0..classes.len()).map(|_| dice.below(30) as u32).collect();
    counts[0] += 1;
    let names = (0..resources).map(|r| format!("r{r}")).collect();
    (Traffic::new("", names, capacity, classes).unwrap(), counts)
}

fn rates(traffic: &Traffic, counts: &[u32], objective: Objective) -> Vec<f64> {
    let mut rates = vec![f64::NAN; counts.len()];
    sharing_rule(traffic, objective).unwrap()().rates(counts, &mut rates).unwrap();
    rates
}

/// The classes that are present as users of one server, as heavy as they are many.
fn instance(traffic: &Traffic, counts: &[u32]) -> Instance {
    let decimal = |number: f64| Decimal::from_f64(number).unwrap();
    let decimals = |numbers: &[f64]| numbers.iter().map(|number| decimal(*number)).collect::<Vec<_>>();
    let mut builder = InstanceBuilder::new("", traffic.resources().to_vec()).unwrap();
    let capacity = decimals(traffic.capacity());
    builder.class(ServerClass::new("s", 1, capacity)).unwrap();
    for (class, count) in traffic.classes().iter().zip(counts).filter(|(_, count)| **count > 0) {
        let demand = decimals(&class.demand);
        let weight = (*count).into();
        builder.user(NewUser { weight, ..NewUser::new(&class.id, &demand) }).unwrap();
    }
    builder.build().unwrap()
}

#[test]
fn transactions_share_as_users_do() {
    for objective in [Objective::DrfPooled, Objective::BottleneckMaxFairness] {
        for seed in 7_000..7_400 {
            let (traffic, counts) = random_state(seed);
            let instance = instance(&traffic, &counts);
            let solution = backend("auto").unwrap().solve(&instance, objective).unwrap();
            assert_eq!(solution.status, Status::Optimal);
            let present: Vec<usize> = (0..counts.len()).filter(|k| counts[*k] > 0).collect();
            let ours = rates(&traffic, &counts, objective);
            let ours: Vec<f64> = present.iter().map(|k| ours[*k]).collect();
            let one = |user: fairplan_instances::User<'_>| {
                solution.allocation.tasks(user.index()) / f64::from(counts[present[user.index().0]])
            };
            let theirs: Vec<f64> = instance.users().map(one).collect();
            assert!(close(&ours, &theirs, 1e-9), "seed {seed}, {objective}: {ours:?}, solved {theirs:?}");
        }
    }
}

/// The largest `Σ n_k ln x_k`: maximise `Σ n_k t_k` with `(t_k, 1, x_k)` in the exponential cone.
fn largest_sum_of_logarithms(traffic: &Traffic, counts: &[u32]) -> Option<Vec<f64>> {
    let (classes, resources) = (counts.len(), traffic.resources().len());
    let mut entries = Vec::new();
    let mut limits = vec![1.0; resources];
    for k in 0..classes {
        for r in 0..resources {
            entries.push((r, classes + k, f64::from(counts[k]) * traffic.part(k, r)));
        }
    }
    let mut cones = vec![NonnegativeConeT(resources)];
    for k in 0..classes {
        entries.push((limits.len(), k, -1.0));
        entries.push((limits.len() + 2, classes + k, -1.0));
        limits.extend([0.0, 1.0, 0.0]);
        cones.push(ExponentialConeT());
    }
    let (rows, columns): (Vec<_>, Vec<_>) = entries.iter().map(|&(row, column, _)| (row, column)).unzip();
    let values = entries.iter().map(|&(_, _, value)| value).collect();
    let matrix = CscMatrix::new_from_triplets(limits.len(), 2 * classes, rows, columns, values);
    let costs: Vec<f64> = counts.iter().map(|n| -f64::from(*n)).chain(vec![0.0; classes]).collect();
    let settings = DefaultSettingsBuilder::default()
        .verbose(false)
        .tol_gap_abs(1e-10)
        .tol_gap_rel(1e-10)
        .tol_feas(1e-10)
        .build()
        .unwrap();
    let nothing = CscMatrix::zeros((2 * classes, 2 * classes));
    let mut solver = DefaultSolver::new(&nothing, &costs, &matrix, &limits, &cones, settings).unwrap();
    solver.solve();
    (solver.solution.status == SolverStatus::Solved).then(|| solver.solution.x[classes..].to_vec())
}

#[test]
fn proportional_fairness_is_what_clarabel_finds() {
    let mut compared = 0;
    for seed in 8_000..8_300 {
        let (traffic, mut counts) = random_state(seed);
        counts.iter_mut().for_each(|count| *count += 1);
        let Some(theirs) = largest_sum_of_logarithms(&traffic, &counts) else { continue };
        let ours = rates(&traffic, &counts, Objective::ProportionalFairness);
        let value = |rates: &[f64]| -> f64 {
            counts.iter().zip(rates).map(|(n, rate)| f64::from(*n) * rate.ln()).sum()
        };
        let all: f64 = counts.iter().map(|n| f64::from(*n)).sum();
        // Theirs may overload a resource by its tolerance, ours does not.
        let (ours_is, theirs_is) = (value(&ours), value(&theirs));
        assert!((ours_is - theirs_is).abs() <= 1e-7 * all, "seed {seed}: {ours_is}, Clarabel {theirs_is}");
        assert!(close(&ours, &theirs, 1e-3), "seed {seed}: {ours:?}, Clarabel {theirs:?}");
        compared += 1;
    }
    assert!(compared > 250, "Clarabel solved only {compared} of 300");
}

#[test]
fn no_resource_is_overloaded_and_one_is_used_up() {
    for objective in SHARED {
        for seed in 9_000..12_000 {
            let (traffic, counts) = random_state(seed);
            let rates = rates(&traffic, &counts, objective);
            let load = |r: usize| -> f64 {
                (0..counts.len()).map(|k| f64::from(counts[k]) * rates[k] * traffic.part(k, r)).sum()
            };
            let fullest = (0..traffic.resources().len()).map(load).fold(0.0, f64::max);
            assert!((fullest - 1.0).abs() < 1e-9, "seed {seed}, {objective}: {fullest}");
            for (count, rate) in counts.iter().zip(&rates) {
                assert_eq!(*count > 0, *rate > 0.0, "seed {seed}, {objective}: {rates:?}");
            }
        }
    }
}

#[test]
fn the_papers_two_transactions() {
    let two = |claim: f64| {
        let classes =
            vec![TrafficClass::new("1", vec![claim, 1.0], 1.0), TrafficClass::new("2", vec![1.0, 0.5], 1.0)];
        Traffic::new("MRF Sec. 2.3", vec!["a".into(), "b".into()], vec![1.0; 2], classes).unwrap()
    };
    let pf = Objective::ProportionalFairness;
    // One like the second: a claim of 2/3 pays; two of them: it does not (MRF Sec. 4.2).
    assert!(close(&rates(&two(0.5), &[1, 1], pf), &[2.0 / 3.0, 2.0 / 3.0], 1e-10));
    assert!(close(&rates(&two(2.0 / 3.0), &[1, 1], pf), &[0.75, 0.5], 1e-10));
    assert!(close(&rates(&two(0.5), &[1, 2], pf)[..1], &[2.0 / 3.0], 1e-10));
    assert!(close(&rates(&two(2.0 / 3.0), &[1, 2], pf)[..1], &[0.5], 1e-10));
}
