//! Prices against finite differences: `value` is concave in every capacity, so a price must be at least every
//! difference quotient upward and at most every one downward. The values are the exact oracle's, or for sums, proved.

use crate::solving::{shares_of, solve_for, value_of};
use fairplan_instances::{Certificate, Decimal, Objective};
use fairplan_solver::backend;
use fairplan_tests::{
    Draft, draft, exact_max_min, random_draft, sum_of_utilities, takes_part, with_capacity,
};

/// Slack for doubles, relative to the value at hand.
const ROUNDING: f64 = 1e-8;

/// The price of every capacity, row-major `classes × resources`: the derivative of the smallest weighted share.
fn prices(draft: &Draft) -> Vec<f64> {
    let instance = draft.build().unwrap();
    // Prices are those of the first level; a steep later level may be left uncertified.
    let solution = backend("auto").unwrap().solve(&instance, Objective::Drfh).unwrap();
    assert!(
        solution.certificate.levels().first().is_none_or(|level| level.value >= level.bound * (1.0 - 1e-9)),
        "{draft}"
    );
    let value = value_of(&instance, &solution);
    match solution.certificate.levels().first() {
        // Below the first capacity level only tasks or eligibility hold the smallest share down.
        Some(level) if value >= level.value * (1.0 - ROUNDING) => level.prices.clone(),
        _ => vec![0.0; draft.classes.len() * draft.resources.len()],
    }
}

fn value_with(draft: &Draft, l: usize, r: usize, capacity: Decimal) -> f64 {
    exact_max_min(&with_capacity(draft, (l, r), capacity, 1.0).build().unwrap()).value().to_f64()
}

/// How many prices were compared with a quotient that leaves no choice, and how many of those are positive.
#[derive(Default)]
struct Compared {
    exactly: usize,
    positive: usize,
}

fn compare_with_differences(draft: &Draft, context: &str, compared: &mut Compared) {
    let value = exact_max_min(&draft.build().unwrap()).value().to_f64();
    let prices = prices(draft);
    for (l, class) in draft.classes.iter().enumerate() {
        for (r, capacity) in class.capacity.iter().enumerate().filter(|(_, capacity)| !capacity.is_zero()) {
            let price = prices[l * draft.resources.len() + r];
            // A thousandth more and less of each server's capacity.
            let step = capacity.to_f64() / 1000.0;
            let whole = capacity.scaled(-1).unwrap() as u64;
            let less = value_with(draft, l, r, Decimal::new(whole * 999, -4).unwrap());
            let more = value_with(draft, l, r, Decimal::new(whole * 1001, -4).unwrap());
            let change = price * step * class.count as f64;
            let slack = ROUNDING * value.max(change);
            let (rise, fall) = (more - value, value - less);
            let numbers = format!(
                "{context}: {} of {} is priced {price}: {rise} more, {fall} less, {change} expected",
                draft.resources[r], class.id
            );
            assert!(price >= 0.0, "{numbers}");
            assert!(rise <= change + slack && fall >= change - slack, "{numbers}\n{draft}");
            if (rise - fall).abs() <= slack {
                compared.exactly += 1;
                compared.positive += usize::from(rise > slack);
            }
        }
    }
}

#[test]
fn every_price_lies_between_the_difference_quotients() {
    let mut compared = Compared::default();
    for seed in 900_000..900_600 {
        compare_with_differences(&random_draft(seed), &format!("seed {seed}"), &mut compared);
    }
    let Compared { exactly, positive } = compared;
    assert!(positive > 300 && exactly > 2 * positive, "only {exactly} and {positive} prices are determined");
}

/// The value of a sum with another capacity, shares measured against the totals of `draft`; and the worth of all shares.
fn sum_with(draft: &Draft, alpha: f64, (l, r): (usize, usize), capacity: Decimal) -> f64 {
    let changed = with_capacity(draft, (l, r), capacity, alpha - 1.0).build().unwrap();
    let before = draft.build().unwrap();
    let objective = Objective::alpha_fair(alpha).unwrap();
    let shares = shares_of(&changed, &solve_for(&changed, objective));
    let users = before.users().zip(changed.users());
    let as_before: Vec<f64> = users
        .zip(&shares)
        .map(|((before, after), share)| share * before.task_share() / after.task_share())
        .collect();
    sum_of_utilities(&before, alpha, &as_before)
}

#[test]
fn every_price_of_a_sum_lies_between_the_difference_quotients() {
    let (mut compared, mut positive) = (0, 0);
    for (seed, alpha) in (920_000..920_250).zip([0.0, 0.5, 1.0, 2.0, 8.0].into_iter().cycle()) {
        let draft = random_draft(seed);
        let instance = draft.build().unwrap();
        let solution = solve_for(&instance, Objective::alpha_fair(alpha).unwrap());
        let Certificate::Total(total) = &solution.certificate else { panic!("a sum has one set of prices") };
        let shares = shares_of(&instance, &solution);
        let value = sum_of_utilities(&instance, alpha, &shares);
        let worth: f64 = instance
            .users()
            .zip(&shares)
            .filter(|(user, _)| takes_part(&instance, *user))
            .map(|(user, share)| user.weight().to_f64() * share.powf(1.0 - alpha))
            .sum();
        for (l, class) in draft.classes.iter().enumerate() {
            for (r, capacity) in class.capacity.iter().enumerate().filter(|(_, c)| !c.is_zero()) {
                let price = total.prices[l * draft.resources.len() + r];
                let whole = capacity.scaled(-1).unwrap() as u64;
                let [less, more] = [999, 1001]
                    .map(|parts| sum_with(&draft, alpha, (l, r), Decimal::new(whole * parts, -4).unwrap()));
                let change = price * capacity.to_f64() / 1000.0 * class.count as f64;
                // Each value is proved to 1e-9 of the worth.
                let slack = 4e-9 * worth;
                let (rise, fall) = (more - value, value - less);
                let numbers =
                    format!("seed {seed}, alpha {alpha}: {rise} more, {fall} less, {change} expected");
                assert!(
                    price >= 0.0 && rise <= change + slack && fall >= change - slack,
                    "{numbers}\n{draft}"
                );
                compared += 1;
                positive += usize::from(rise > 100.0 * slack);
            }
        }
    }
    assert!(
        positive > 200 && compared > positive,
        "only {positive} of {compared} prices are clearly positive"
    );
}

#[test]
fn the_prices_of_fig_1_are_those_of_the_documentation() {
    let draft = draft(&[(1, "2 12"), (1, "12 2")], &["0.2 1", "1 0.2"]);
    compare_with_differences(&draft, "Fig. 1", &mut Compared::default());
}
