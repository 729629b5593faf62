//! Prices against finite differences: `value` is concave in every capacity, so a price must be at least every
//! difference quotient upward and at most every one downward. The values are the exact oracle's, or for sums, proved.

use crate::solving::{shares_of, solve_for, value_of};
use fairplan_instances::{Certificate, Decimal, LimitedBy, Objective, ServerClass, User};
use fairplan_solver::backend;
use fairplan_tests::{
    Draft, draft, exact_max_min, random_draft, random_draft_with_task_rows, sum_of_utilities, takes_part,
    with_capacity,
};

/// Slack for doubles, relative to the value at hand.
const ROUNDING: f64 = 1e-8;

/// The price of every capacity, row-major `classes × resources`: the derivative of the smallest weighted share, which is
/// that of `weighted` under DRFH and that of the first level here. And whether it is the derivative downward too: not
/// where the tasks of some user run out at that very level, whose share counts as settled.
fn prices(draft: &Draft, objective: Objective, weighted: &Draft) -> (Vec<f64>, bool) {
    let instance = draft.build().unwrap();
    // Prices are those of the first level; a steep later level may be left uncertified.
    let solution = backend("auto").unwrap().solve(&instance, objective).unwrap();
    assert!(
        solution.certificate.levels().first().is_none_or(|level| level.value >= level.bound * (1.0 - 1e-9)),
        "{draft}"
    );
    let measure = weighted.build().unwrap();
    let value = value_of(&measure, &solution);
    let runs_out = |user: User<'_>| {
        let share = solution.allocation.dominant_share(&measure, user.index()) / user.weight().to_f64();
        solution.limited_by[user.index().0] == LimitedBy::Tasks && share <= value * (1.0 + ROUNDING)
    };
    match solution.certificate.levels().first() {
        // Below the first capacity level only tasks or eligibility hold the smallest share down.
        Some(level) if value >= level.value * (1.0 - ROUNDING) => {
            (level.prices.clone(), !measure.users().any(runs_out))
        }
        _ => (vec![0.0; draft.classes.len() * draft.resources.len()], true),
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

/// Compares prices of the smallest weighted share with how it changes, by the exact oracle.
fn compare_with_differences(
    draft: &Draft,
    (prices, downward): (&[f64], bool),
    context: &str,
    compared: &mut Compared,
) {
    let value = exact_max_min(&draft.build().unwrap()).value().to_f64();
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
            let falls = fall >= change - slack || !downward;
            assert!(rise <= change + slack && falls, "{numbers}\n{draft}");
            if (rise - fall).abs() <= slack {
                compared.exactly += 1;
                compared.positive += usize::from(rise > slack);
            }
        }
    }
}

/// All prices of random instances, with what they are the prices of as DRFH.
fn all_lie_between_the_quotients(objective: Objective, drafts: impl Iterator<Item = (u64, Draft, Draft)>) {
    let mut compared = Compared::default();
    for (seed, draft, weighted) in drafts {
        let (prices, downward) = prices(&draft, objective, &weighted);
        let context = format!("{objective}, seed {seed}");
        compare_with_differences(&weighted, (&prices, downward), &context, &mut compared);
    }
    let Compared { exactly, positive } = compared;
    assert!(positive > 200 && exactly > positive, "only {exactly} and {positive} prices are determined");
}

#[test]
fn every_price_lies_between_the_difference_quotients() {
    let drafts = (900_000..900_600).map(|seed| (seed, random_draft(seed)));
    all_lie_between_the_quotients(Objective::Drfh, drafts.map(|(seed, draft)| (seed, draft.clone(), draft)));
}

#[test]
#[ignore = "half a minute"]
fn every_price_lies_between_the_quotients_where_tasks_are_few_and_faster_on_some_classes() {
    let drafts = (901_000..901_600).map(|seed| (seed, random_draft_with_task_rows(seed)));
    all_lie_between_the_quotients(Objective::Drfh, drafts.map(|(seed, draft)| (seed, draft.clone(), draft)));
}

/// Task share fairness is DRFH with the shares that users would have alone as weights; its prices count them as they are.
#[test]
fn every_price_of_task_shares_lies_between_the_difference_quotients() {
    let weighted = |draft: &Draft| {
        let (instance, mut weighted) = (draft.build().unwrap(), draft.clone());
        for (user, view) in weighted.users.iter_mut().zip(instance.users()) {
            let share = Objective::TaskShareFairness.share_per_level(view);
            if share > 0.0 {
                user.weight = Decimal::from_f64(share).unwrap();
            }
        }
        weighted
    };
    let drafts = (902_000..902_400).map(|seed| (seed, random_draft(seed)));
    let drafts = drafts.map(|(seed, draft)| (seed, draft.clone(), weighted(&draft)));
    all_lie_between_the_quotients(Objective::TaskShareFairness, drafts);
}

/// Under pooled DRF all servers are one, whose prices every class has.
#[test]
fn every_price_of_the_pool_lies_between_the_difference_quotients() {
    let mut compared = Compared::default();
    for seed in 903_000..903_400 {
        let mut draft = random_draft(seed);
        draft.users.iter_mut().for_each(|user| (user.eligible, user.rates) = (None, Vec::new()));
        let mut pool = draft.clone();
        let units = |r: usize| -> u128 {
            let of_class =
                |class: &ServerClass| class.capacity[r].scaled(0).unwrap() * u128::from(class.count);
            draft.classes.iter().map(of_class).sum()
        };
        let capacity =
            (0..draft.resources.len()).map(|r| Decimal::new(units(r) as u64, 0).unwrap()).collect();
        pool.classes = vec![ServerClass::new("pool", 1, capacity)];
        if draft.build().is_err() || pool.build().is_err() {
            continue;
        }
        let (prices, downward) = prices(&draft, Objective::DrfPooled, &pool);
        let m = draft.resources.len();
        assert!(prices.chunks(m).all(|row| row == &prices[..m]), "seed {seed}: {prices:?}\n{draft}");
        let context = format!("pool, seed {seed}");
        compare_with_differences(&pool, (&prices[..m], downward), &context, &mut compared);
    }
    let Compared { exactly, positive } = compared;
    assert!(positive > 200 && exactly > positive, "only {exactly} and {positive} prices are determined");
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
    for (seed, alpha) in (920_000..920_400).zip([0.0, 0.5, 1.0, 2.0, 8.0].into_iter().cycle()) {
        let draft = if seed % 3 == 0 { random_draft_with_task_rows(seed) } else { random_draft(seed) };
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
    let (prices, downward) = prices(&draft, Objective::Drfh, &draft);
    compare_with_differences(&draft, (&prices, downward), "Fig. 1", &mut Compared::default());
}
