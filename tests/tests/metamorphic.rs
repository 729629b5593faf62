//! Changes of an instance that must not change its shares, or only in a known way: 10,000 cases for DRFH, and some for proportional
//! fairness.

use crate::solving::{close, shares, shares_for};
use fairplan_instances::{Decimal, Objective, ServerClass};
use fairplan_tests::{Draft, decimal, random_draft, with_capacity};

/// Cases of each relation.
const CASES: u64 = 1_250;

/// Cases of each relation for proportional fairness, and how far shares may differ there: a sum is flat near its optimum,
/// so a value that is proved to 1e-9 tells shares to the root of that.
const SUMS: (u64, f64) = (200, 1e-4);

/// Solves a changed instance.
type Shares<'a> = &'a dyn Fn(&Draft) -> Vec<f64>;

/// Runs a relation on random instances; it returns the two lists that must agree, or nothing where the
/// instance does not lend itself to it.
fn holds(first_seed: u64, relation: impl Fn(Shares<'_>, u64, Draft) -> Option<(Vec<f64>, Vec<f64>)>) {
    for (objective, cases, tolerance) in
        [(Objective::Drfh, CASES, 1e-8), (Objective::ProportionalFairness, SUMS.0, SUMS.1)]
    {
        let shares = |draft: &Draft| shares_for(draft, objective);
        let mut seed = first_seed;
        for _ in 0..cases {
            // The next instance that the relation applies to.
            let (draft, (before, after)) = loop {
                seed += 1;
                let draft = random_draft(seed);
                if let Some(lists) = relation(&shares, seed, draft.clone()) {
                    break (draft, lists);
                }
            };
            let agree = close(&before, &after, tolerance);
            assert!(agree, "{objective}, seed {seed}: {before:?} became {after:?}\n{draft}");
        }
    }
}

/// `0, 1, … n-1` in another order.
fn order(n: usize, seed: u64) -> Vec<usize> {
    let mut order: Vec<usize> = (0..n).collect();
    order.rotate_left(seed as usize % n);
    if seed.is_multiple_of(3) {
        order.reverse();
    }
    order
}

/// A whole number times a power of two.
fn times_two_to_the(power: i32, value: Decimal) -> Decimal {
    let whole = value.scaled(0).unwrap() as u64;
    if power >= 0 {
        Decimal::new(whole << power, 0).unwrap()
    } else {
        Decimal::new(whole * 5u64.pow(power.unsigned_abs()), power).unwrap()
    }
}

#[test]
fn units_larger_by_powers_of_two_leave_every_bit_of_every_share() {
    holds(100_000, |shares, seed, mut draft| {
        let before = shares(&draft);
        for r in 0..draft.resources.len() {
            let power = (seed.wrapping_mul(r as u64 + 7) % 41) as i32 - 20;
            let scale = |value: &mut Decimal| *value = times_two_to_the(power, *value);
            draft.classes.iter_mut().for_each(|class| scale(&mut class.capacity[r]));
            draft.users.iter_mut().for_each(|user| scale(&mut user.demand[r]));
        }
        let after = shares(&draft);
        let bits = |shares: &[f64]| shares.iter().map(|share| share.to_bits()).collect::<Vec<_>>();
        assert_eq!(bits(&before), bits(&after), "seed {seed}: {before:?} became {after:?}\n{draft}");
        Some((before, after))
    });
}

#[test]
fn the_order_of_users_does_not_matter() {
    holds(200_000, |shares, seed, mut draft| {
        let before = shares(&draft);
        let order = order(draft.users.len(), seed);
        draft.users = order.iter().map(|&i| draft.users[i].clone()).collect();
        Some((order.iter().map(|&i| before[i]).collect(), shares(&draft)))
    });
}

#[test]
fn the_order_of_classes_and_of_resources_does_not_matter() {
    holds(300_000, |shares, seed, mut draft| {
        let before = shares(&draft);
        let classes = order(draft.classes.len(), seed);
        let place = |l: usize| classes.iter().position(|&from| from == l).unwrap();
        draft.classes = classes.iter().map(|&l| draft.classes[l].clone()).collect();
        for user in &mut draft.users {
            user.eligible.iter_mut().flatten().for_each(|l| *l = place(*l));
            user.rates.iter_mut().for_each(|(l, _)| *l = place(*l));
        }
        let resources = order(draft.resources.len(), seed / 2);
        let permute = |values: &mut Vec<Decimal>| *values = resources.iter().map(|&r| values[r]).collect();
        draft.classes.iter_mut().for_each(|class| permute(&mut class.capacity));
        draft.users.iter_mut().for_each(|user| permute(&mut user.demand));
        Some((before, shares(&draft)))
    });
}

#[test]
fn a_class_may_be_split_in_two_or_two_merged() {
    holds(400_000, |shares, seed, mut draft| {
        let l = seed as usize % draft.classes.len();
        let class = draft.classes[l].clone();
        let (first, rest) = (seed % class.count, class.count - seed % class.count);
        if first == 0 {
            return None;
        }
        let merged = shares(&draft);
        draft.classes[l].set_count(first);
        draft.classes.push(ServerClass::new("rest", rest, class.capacity));
        let position = draft.classes.len() - 1;
        for user in &mut draft.users {
            if let Some(eligible) = user.eligible.as_mut().filter(|all| all.contains(&l)) {
                eligible.push(position);
            }
            let rate = user.rates.iter().find(|(class, _)| *class == l).map(|(_, rate)| *rate);
            user.rates.extend(rate.map(|rate| (position, rate)));
        }
        Some((merged, shares(&draft)))
    });
}

#[test]
fn two_users_of_half_the_weight_get_together_what_one_got() {
    holds(500_000, |shares, seed, mut draft| {
        let i = seed as usize % draft.users.len();
        if draft.users[i].tasks.is_some() {
            return None;
        }
        let before = shares(&draft);
        let half = |weight: &str| decimal(weight);
        draft.users[i].weight = match draft.users[i].weight.to_string().as_str() {
            "0.1" => half("0.05"),
            "0.5" => half("0.25"),
            "1" => half("0.5"),
            "2" => half("1"),
            "3" => half("1.5"),
            "7" => half("3.5"),
            other => panic!("the weight {other} has no half here"),
        };
        let mut twin = draft.users[i].clone();
        twin.id = "twin".into();
        draft.users.push(twin);
        let mut after = shares(&draft);
        let second = after.pop().unwrap();
        assert!(close(&[after[i]], &[second], SUMS.1), "seed {seed}: twins have {} and {second}", after[i]);
        after[i] += second;
        Some((before, after))
    });
}

#[test]
fn a_server_without_any_capacity_changes_nothing() {
    holds(600_000, |shares, _, mut draft| {
        let before = shares(&draft);
        let capacity = vec![Decimal::ZERO; draft.resources.len()];
        draft.classes.insert(0, ServerClass::new("useless", 5, capacity));
        for user in &mut draft.users {
            user.eligible.iter_mut().flatten().for_each(|l| *l += 1);
            user.rates.iter_mut().for_each(|(l, _)| *l += 1);
        }
        Some((before, shares(&draft)))
    });
}

#[test]
fn weights_count_only_in_proportion() {
    holds(700_000, |shares, _, mut draft| {
        let before = shares(&draft);
        for user in &mut draft.users {
            // All by 3/4.
            let whole = user.weight.scaled(-1).unwrap() as u64;
            user.weight = Decimal::new(whole * 75, -3).unwrap();
        }
        Some((before, shares(&draft)))
    });
}

#[test]
fn more_capacity_never_lowers_the_smallest_share() {
    // Shares measured against the totals of before: the weights make up for the new ones.
    let smallest = |draft: &Draft| {
        shares(draft)
            .iter()
            .zip(&draft.users)
            .map(|(share, user)| share / user.weight.to_f64())
            .fold(f64::INFINITY, f64::min)
    };
    for seed in 800_000..800_000 + CASES {
        let draft = random_draft(seed);
        let (l, r) = (seed as usize % draft.classes.len(), seed as usize % draft.resources.len());
        let more = draft.classes[l].capacity[r].scaled(0).unwrap() as u64 + 1 + seed % 3;
        let larger = with_capacity(&draft, (l, r), Decimal::new(more, 0).unwrap(), 1.0);
        let (before, after) = (smallest(&draft), smallest(&larger));
        assert!(after >= before * (1.0 - 2e-9), "seed {seed}: {before} fell to {after}\n{draft}");
    }
}
