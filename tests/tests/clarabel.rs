//! The first level against an interior point method from elsewhere, Clarabel, called directly: value and prices.

use crate::solving::{close, solve, value_of};
use ::clarabel::algebra::CscMatrix;
use ::clarabel::solver::{DefaultSettingsBuilder, DefaultSolver, IPSolver, NonnegativeConeT, SolverStatus};
use fairplan_instances::generate::{
    Cluster, GoogleOptions, PopulationKind, PopulationOptions, drfh_fig1, google, population,
};
use fairplan_instances::{ClassId, Instance};
use fairplan_tests::random_draft;

/// The largest smallest weighted share, and the multiplier of every capacity row: maximise `t` subject to
/// `Σ_i D_ir x_il <= C_lr`, `Σ_l x_il <= T_i`, `w_i t <= δ_i Σ_l ρ_il x_il` and `x >= 0`.
///
/// Each capacity row is divided by the pool's total and each user's variables are dominant shares, so that
/// all numbers are near one.
fn by_clarabel(instance: &Instance) -> Option<(f64, Vec<f64>)> {
    let (classes, m) = (instance.classes().len(), instance.resources().len());
    let total = |r: usize| instance.total(fairplan_instances::ResourceId(r)).max(f64::MIN_POSITIVE);
    let variables = instance.user_count() * classes + 1;
    let level = variables - 1;
    let mut entries = Vec::new();
    let mut limits = Vec::new();
    for (l, class) in instance.classes().iter().enumerate() {
        for r in 0..m {
            limits.push(class.count as f64 * class.capacity[r].to_f64() / total(r));
            for user in instance.users() {
                let per_share = user.demand_doubles()[r] / total(r) / user.task_share();
                if per_share > 0.0 {
                    entries.push((limits.len() - 1, user.index().0 * classes + l, per_share));
                }
            }
        }
    }
    for user in instance.users() {
        let row = limits.len();
        limits.push(0.0);
        entries.push((row, level, user.weight().to_f64()));
        for l in 0..classes {
            let variable = user.index().0 * classes + l;
            entries.push((row, variable, -user.rule().rate(ClassId(l)).to_f64()));
            if !user.rule().allows(ClassId(l)) {
                entries.push((limits.len(), variable, 1.0));
                limits.push(0.0);
            }
        }
        if let Some(tasks) = user.tasks() {
            entries.extend((0..classes).map(|l| (limits.len(), user.index().0 * classes + l, 1.0)));
            limits.push(tasks as f64 * user.task_share());
        }
    }
    for variable in 0..variables {
        entries.push((limits.len(), variable, -1.0));
        limits.push(0.0);
    }

    let (rows, columns): (Vec<_>, Vec<_>) = entries.iter().map(|&(row, column, _)| (row, column)).unzip();
    let values = entries.iter().map(|&(_, _, value)| value).collect();
    let matrix = CscMatrix::new_from_triplets(limits.len(), variables, rows, columns, values);
    let mut costs = vec![0.0; variables];
    costs[level] = -1.0;
    let settings = DefaultSettingsBuilder::default()
        .verbose(false)
        .max_iter(200)
        .tol_gap_abs(1e-11)
        .tol_gap_rel(1e-11)
        .tol_feas(1e-11)
        .build()
        .unwrap();
    let nothing = CscMatrix::zeros((variables, variables));
    let cones = [NonnegativeConeT(limits.len())];
    let mut solver = DefaultSolver::new(&nothing, &costs, &matrix, &limits, &cones, settings).unwrap();
    solver.solve();
    (solver.solution.status == SolverStatus::Solved).then(|| {
        let multipliers = (0..classes * m).map(|k| solver.solution.z[k] / total(k % m)).collect();
        (solver.solution.x[level], multipliers)
    })
}

#[test]
fn values_of_random_instances_agree() {
    let mut compared = 0;
    for seed in 1_100_000..1_100_300 {
        let draft = random_draft(seed);
        let instance = draft.build().unwrap();
        if let Some((theirs, _)) = by_clarabel(&instance) {
            let ours = value_of(&instance, &solve(&instance));
            assert!((ours - theirs).abs() <= 1e-8, "seed {seed}: {ours}, by Clarabel {theirs}\n{draft}");
            compared += 1;
        }
    }
    assert!(compared > 250, "Clarabel solved only {compared} of 300");
}

#[test]
fn values_and_prices_of_clusters_agree() {
    let mut instances = vec![
        drfh_fig1().unwrap(),
        google(&GoogleOptions { users: Some(60), ..GoogleOptions::default() }).unwrap(),
    ];
    for (kind, resources) in
        [(PopulationKind::Spread, 2), (PopulationKind::Alike, 3), (PopulationKind::Weighted, 4)]
    {
        let cluster = Cluster::Random { classes: 5, resources };
        instances.push(population(&PopulationOptions { kind, users: 80, cluster, seed: 8 }).unwrap());
    }
    for instance in &instances {
        let (value, prices) = by_clarabel(instance).expect("Clarabel solves clusters");
        let solution = solve(instance);
        assert!(close(&[value_of(instance, &solution)], &[value], 1e-8), "{instance:?}");
        let largest = prices.iter().copied().fold(0.0, f64::max);
        for (ours, theirs) in solution.certificate.levels()[0].prices.iter().zip(&prices) {
            assert!(
                (ours - theirs).abs() <= 1e-6 * largest,
                "{instance:?}: price {ours}, by Clarabel {theirs}"
            );
        }
    }
}
