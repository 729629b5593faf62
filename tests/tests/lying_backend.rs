//! A backend that lies: whatever the checker accepts must be true, and plain lies must be refused.

use crate::solving::solve;
use fairplan_instances::{
    Allocation, Certificate, ClassId, Instance, InstanceError, Level, LimitedBy, Objective, Solution, Solver,
    Status, UserId,
};
use fairplan_tests::{Fraction, exact_max_min, random_draft};
use fairplan_verify::{SolutionClaim, verify_solution};

type Lie = fn(&Instance, &mut Solution);

/// Solves in truth, then tells a lie and says "optimal".
struct Liar(Lie);

impl Solver for Liar {
    fn name(&self) -> &'static str {
        "liar"
    }

    fn solve(&self, instance: &Instance, _: Objective) -> Result<Solution, InstanceError> {
        let mut solution = solve(instance);
        (self.0)(instance, &mut solution);
        solution.status = Status::Optimal;
        Ok(solution)
    }
}

/// Changes the matrix of tasks, row-major `users × classes`.
fn reallocate(instance: &Instance, solution: &mut Solution, change: impl FnOnce(&mut [f64])) {
    let classes = instance.classes().len();
    let mut tasks: Vec<f64> = (0..instance.user_count() * classes)
        .map(|k| solution.allocation.tasks_on(UserId(k / classes), ClassId(k % classes)))
        .collect();
    change(&mut tasks);
    solution.allocation = Allocation::from_matrix(classes, &tasks);
}

fn levels(solution: &mut Solution) -> &mut Vec<Level> {
    match &mut solution.certificate {
        Certificate::Levels { levels, .. } => levels,
        Certificate::Total(_) | Certificate::Bottlenecks => panic!("a max-min has levels"),
    }
}

fn level_of(solution: &mut Solution) -> &mut Vec<u32> {
    match &mut solution.certificate {
        Certificate::Levels { level_of, .. } => level_of,
        Certificate::Total(_) | Certificate::Bottlenecks => panic!("a max-min has levels"),
    }
}

const LIES: [(&str, Lie); 22] = [
    ("all tasks doubled", |instance, s| reallocate(instance, s, |x| x.iter_mut().for_each(|x| *x *= 2.0))),
    ("all tasks halved", |instance, s| reallocate(instance, s, |x| x.iter_mut().for_each(|x| *x /= 2.0))),
    ("a millionth more", |instance, s| {
        reallocate(instance, s, |x| x.iter_mut().for_each(|x| *x *= 1.000001))
    }),
    ("a millionth less", |instance, s| {
        reallocate(instance, s, |x| x.iter_mut().for_each(|x| *x *= 0.999999))
    }),
    ("nothing for the first user", |instance, s| {
        let classes = instance.classes().len();
        reallocate(instance, s, |x| x[..classes].fill(0.0));
    }),
    ("everything moved by one class", |instance, s| {
        let classes = instance.classes().len();
        reallocate(instance, s, |x| x.chunks_mut(classes).for_each(|row| row.rotate_left(1)));
    }),
    ("users exchanged", |instance, s| {
        let classes = instance.classes().len();
        reallocate(instance, s, |x| x.rotate_left(classes));
    }),
    ("NaN tasks", |instance, s| reallocate(instance, s, |x| x[0] = f64::NAN)),
    ("infinite tasks", |instance, s| reallocate(instance, s, |x| x[0] = f64::INFINITY)),
    ("negative tasks", |instance, s| reallocate(instance, s, |x| x[0] = -1.0)),
    ("prices of zero", |_, s| levels(s).iter_mut().for_each(|level| level.prices.fill(0.0))),
    ("a price of NaN", |_, s| levels(s).iter_mut().for_each(|level| level.prices[0] = f64::NAN)),
    ("a negative price", |_, s| levels(s).iter_mut().for_each(|level| level.prices[0] = -1e-3)),
    ("prices of the wrong sign", |_, s| {
        levels(s).iter_mut().flat_map(|level| &mut level.prices).for_each(|price| *price = -*price);
    }),
    ("other prices", |_, s| levels(s).iter_mut().for_each(|level| level.prices[0] += 1.0)),
    ("a bound too good", |_, s| levels(s).iter_mut().for_each(|level| level.bound *= 0.99)),
    ("a bound of NaN", |_, s| levels(s).iter_mut().for_each(|level| level.bound = f64::NAN)),
    ("a value too good", |_, s| levels(s).iter_mut().for_each(|level| level.value *= 1.01)),
    ("all levels but the first forgotten", |_, s| {
        levels(s).truncate(1);
        level_of(s).iter_mut().for_each(|level| *level = (*level).min(1));
    }),
    ("everyone frozen at once", |_, s| level_of(s).fill(0)),
    ("everyone said to have all tasks", |_, s| s.limited_by.fill(LimitedBy::Tasks)),
    ("a user fewer", |_, s| {
        level_of(s).pop();
        s.limited_by.pop();
    }),
];

/// Whether the claim is true as far as its tolerances go: the exact value inside the proved bracket, that
/// bracket closed, and no share more than a millionth of the pool away.
fn is_true(instance: &Instance, solution: &Solution, (primal, dual): (f64, f64)) -> bool {
    let exact = exact_max_min(instance);
    let near = |share: f64, exact: &Fraction| (share - exact.to_f64()).abs() <= 2e-6;
    Fraction::from_f64(primal) <= *exact.value()
        && *exact.value() <= Fraction::from_f64(dual)
        && primal >= dual * (1.0 - 1e-9)
        && exact
            .shares
            .iter()
            .enumerate()
            .all(|(i, exact)| near(solution.allocation.dominant_share(instance, UserId(i)), exact))
}

#[test]
fn what_the_checker_accepts_is_true_whatever_the_backend_does() {
    for (name, lie) in LIES {
        let mut refused = 0;
        for seed in 0..200 {
            let draft = random_draft(1_000_000 + seed);
            let instance = draft.build().unwrap();
            let solution = Liar(lie).solve(&instance, Objective::Drfh).unwrap();
            let proof = verify_solution(&instance, &SolutionClaim::from(&solution));
            if proof.holds() {
                let bracket = (proof.primal, proof.dual);
                assert!(is_true(&instance, &solution, bracket), "{name}, seed {seed} is accepted\n{draft}");
            } else {
                refused += 1;
            }
        }
        assert!(refused >= 40, "{name}: only {refused} of 200 are refused");
    }
}

#[test]
fn every_lie_about_a_cluster_of_servers_is_refused() {
    let google = fairplan_instances::generate::GoogleOptions { users: Some(40), ..Default::default() };
    let mut instances = vec![fairplan_instances::generate::google(&google).unwrap()];
    instances.push(fairplan_instances::generate::drfh_fig4(&[1, 2, 3]).unwrap());
    for instance in &instances {
        assert!(verify_solution(instance, &SolutionClaim::from(&solve(instance))).holds());
        for (name, lie) in LIES {
            let solution = Liar(lie).solve(instance, Objective::Drfh).unwrap();
            if solution == (Solution { statistics: solution.statistics.clone(), ..solve(instance) }) {
                // Said of one level, some lies are true.
                assert!(["all levels but the first forgotten", "everyone frozen at once"].contains(&name));
                continue;
            }
            let proof = verify_solution(instance, &SolutionClaim::from(&solution));
            assert!(!proof.holds(), "{name} is accepted of {instance:?}");
        }
    }
}
