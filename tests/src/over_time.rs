//! The lexicographic max-min of shares summed over quanta, in exact arithmetic: one row a capacity, a demand, a user.

use crate::Fraction;
use crate::max_min::{class_units, raise, share_row, task_share};
use crate::simplex::Tableau;
use fairplan_instances::{ClassId, DemandSeries, OfflineMeasure, ResourceId, TaskDemands};
use num_bigint::BigInt;

/// What a user demands in a quantum, both by position.
pub fn demanded(series: &DemandSeries, user: usize, quantum: usize) -> u64 {
    let (users, demands) = series.demands(quantum);
    users.binary_search(&(user as u32)).map_or(0, |entry| demands[entry])
}

/// Every user's standing over all quanta, as `demands` measures it; meant for a handful of users, classes and quanta.
pub fn exact_over_time(demands: &TaskDemands<'_>) -> Vec<Fraction> {
    let (instance, series) = (demands.instance(), demands.series());
    let (users, classes) = (series.user_count(), instance.classes().len());
    let quanta = series.quantum_count();
    let variables = quanta * users * classes;
    let at = |quantum: usize, user: usize, class: usize| (quantum * users + user) * classes + class;
    let row = || vec![BigInt::ZERO; variables];
    let of = |user: usize| instance.user(demands.users()[user]);
    let mut constraints = capacities_and_demands(demands, variables);
    let first_share_row = constraints.len();
    let mut level_coefficients = Vec::new();
    for user in 0..users {
        let per_level = match demands.measure() {
            OfflineMeasure::Totals => &Fraction::from(of(user).weight()) / &task_share(instance, of(user)),
            OfflineMeasure::Welfare => all_work(demands, user),
        };
        let (of_level, of_classes) = share_row(instance, &per_level, of(user));
        let mut work = row();
        for quantum in 0..quanta {
            work[at(quantum, user, 0)..][..classes].clone_from_slice(&of_classes);
        }
        constraints.push((work, BigInt::ZERO));
        level_coefficients.push(of_level);
    }
    raise(Tableau::new(variables, constraints), first_share_row, &level_coefficients)
}

/// The work of all tasks of a user where they do most, of the classes that have all they need; 1 where that is nothing,
/// since its standing is 0 in any unit.
fn all_work(demands: &TaskDemands<'_>, user: usize) -> Fraction {
    let (instance, series) = (demands.instance(), demands.series());
    let of = instance.user(demands.users()[user]);
    let resources = || (0..instance.resources().len()).map(ResourceId);
    let holds = |class: ClassId| {
        resources().all(|r| of.demand_units(r) == 0 || instance.capacity_units(class, r) > 0)
    };
    let classes = (0..instance.classes().len()).map(ClassId);
    let classes = classes.filter(|class| of.rule().allows(*class) && holds(*class));
    let best =
        classes.map(|class| Fraction::from(of.rule().rate(class))).max().unwrap_or_else(Fraction::zero);
    let all = &best * &Fraction::new(series.totals()[user], 1);
    if all.is_zero() { Fraction::one() } else { all }
}

/// What each user could have of its weighted dominant share in the only quantum of `demands`, beyond what `standings` give
/// it, while nobody has less than in them; their last digits do not count.
pub fn exact_gains(demands: &TaskDemands<'_>, standings: &[f64]) -> Vec<f64> {
    let (instance, series) = (demands.instance(), demands.series());
    assert_eq!(series.quantum_count(), 1, "gains are those of a quantum");
    let (users, classes) = (series.user_count(), instance.classes().len());
    let variables = users * classes + 1;
    let kept = variables - 1;
    let row = || vec![BigInt::ZERO; variables];
    let of = |user: usize| instance.user(demands.users()[user]);
    let mut constraints = capacities_and_demands(demands, variables);
    let mut all = row();
    all[kept] = BigInt::from(1);
    constraints.push((all, BigInt::from(1)));
    let first_share_row = constraints.len();
    let mut units = Vec::new();
    for (user, standing) in standings.iter().enumerate() {
        let per_level = &Fraction::from(of(user).weight()) / &task_share(instance, of(user));
        let has = &per_level * &Fraction::from_f64(standing * (1.0 - 1e-6));
        let (of_level, of_classes) = share_row(instance, &has, of(user));
        let rate = Fraction::from(of(user).rule().rate(ClassId(0)));
        units.push(&(&Fraction::new(-of_classes[0].clone(), 1) / &rate) * &per_level);
        let mut work = row();
        work[user * classes..][..classes].clone_from_slice(&of_classes);
        work[kept] = of_level;
        constraints.push((work, BigInt::ZERO));
    }
    let mut tableau = Tableau::new(variables, constraints);
    assert_eq!(tableau.maximise(kept), Fraction::one(), "the shares cannot be had at all");
    tableau.keep_maxima_of(kept);
    let gain = |user: usize| {
        let slack = tableau.slack(first_share_row + user);
        (&tableau.clone().maximise(slack) / &units[user]).to_f64()
    };
    (0..users).map(gain).collect()
}

/// The rows of all capacities and demands, over `variables` of which the first are tasks by quantum, user and class.
fn capacities_and_demands(demands: &TaskDemands<'_>, variables: usize) -> Vec<(Vec<BigInt>, BigInt)> {
    let (instance, series) = (demands.instance(), demands.series());
    let (users, classes) = (series.user_count(), instance.classes().len());
    let at = |quantum: usize, user: usize, class: usize| (quantum * users + user) * classes + class;
    let row = || vec![BigInt::ZERO; variables];
    let of = |user: usize| instance.user(demands.users()[user]);
    let mut constraints = Vec::new();
    for quantum in 0..series.quantum_count() {
        for class in 0..classes {
            for resource in (0..instance.resources().len()).map(ResourceId) {
                let mut usage = row();
                for user in 0..users {
                    usage[at(quantum, user, class)] = of(user).demand_units(resource).into();
                }
                constraints.push((usage, class_units(instance, ClassId(class), resource)));
            }
        }
        for user in 0..users {
            let (mut everywhere, mut not_allowed) = (row(), row());
            for class in 0..classes {
                everywhere[at(quantum, user, class)] = BigInt::from(1);
                let allowed = of(user).rule().allows(ClassId(class));
                not_allowed[at(quantum, user, class)] = BigInt::from(u8::from(!allowed));
            }
            constraints.push((not_allowed, BigInt::ZERO));
            constraints.push((everywhere, BigInt::from(demanded(series, user, quantum))));
        }
    }
    constraints
}
