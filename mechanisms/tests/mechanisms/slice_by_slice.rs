//! Karma as the paper writes it down, one slice after another, against Karma all at once.

use crate::{allocations, outcome, series, settings};
use fairplan_instances::{FairShares, GuaranteedFraction, Random};
use fairplan_mechanisms::{Settings, Ties};

/// Karma Alg. 2 (Alg. 1 where fair shares are equal), line by line. Credits are counted in parts of `n` times the
/// product of all fair shares, so that whatever is added to them is whole.
struct Reference {
    fair_shares: Vec<i128>,
    guaranteed: Vec<u64>,
    shared: u64,
    part: i128,
    credits: Vec<i128>,
    ties: Ties,
}

impl Reference {
    /// `alpha` in hundredths.
    fn new(fair_shares: &[u64], alpha: u64, initial_credits: u64, ties: Ties) -> Self {
        let guaranteed: Vec<u64> = fair_shares.iter().map(|share| share * alpha / 100).collect();
        let shared = fair_shares.iter().sum::<u64>() - guaranteed.iter().sum::<u64>();
        let part =
            fair_shares.iter().map(|share| i128::from(*share)).product::<i128>() * fair_shares.len() as i128;
        Self {
            fair_shares: fair_shares.iter().map(|share| i128::from(*share)).collect(),
            guaranteed,
            shared,
            part,
            credits: vec![i128::from(initial_credits) * part; fair_shares.len()],
            ties,
        }
    }

    /// The user with the most of something; ties by the rule.
    fn most(&self, users: impl Iterator<Item = usize>, of: impl Fn(usize) -> i128) -> Option<usize> {
        let mut best = None;
        for user in users {
            let better = match best {
                None => true,
                Some(best) if of(user) == of(best) => self.ties == Ties::Highest,
                Some(best) => of(user) > of(best),
            };
            if better {
                best = Some(user);
            }
        }
        best
    }

    fn quantum(&mut self, demands: &[u64]) -> Vec<u64> {
        let n = demands.len();
        let total: i128 = self.fair_shares.iter().sum();
        let mut shared = self.shared;
        for credits in &mut self.credits {
            *credits += self.part / n as i128 * i128::from(self.shared);
        }
        let mut donated: Vec<u64> = (0..n).map(|u| self.guaranteed[u].saturating_sub(demands[u])).collect();
        let mut allocated: Vec<u64> = (0..n).map(|u| demands[u].min(self.guaranteed[u])).collect();
        loop {
            let borrowers = (0..n).filter(|u| allocated[*u] < demands[*u] && self.credits[*u] > 0);
            let Some(borrower) = self.most(borrowers, |u| self.credits[u]) else { break };
            if let Some(donor) = self.most((0..n).filter(|u| donated[*u] > 0), |u| -self.credits[u]) {
                self.credits[donor] += self.part;
                donated[donor] -= 1;
            } else if shared > 0 {
                shared -= 1;
            } else {
                break;
            }
            allocated[borrower] += 1;
            // 1 / (n w) with w = f / Σ f.
            self.credits[borrower] -= self.part / (n as i128 * self.fair_shares[borrower]) * total;
        }
        allocated
    }
}

#[test]
fn all_at_once_is_slice_by_slice_on_ten_thousand_random_cases() {
    let mut random = Random::new(20230710, 0);
    let mut starved = 0;
    for case in 0..10_000 {
        let users = random.between(1, 7) as usize;
        let quanta = random.between(1, 12) as usize;
        let weighted = random.below(2) == 1;
        let most = random.between(1, 9);
        let fair_shares: Vec<u64> =
            (0..users).map(|_| if weighted { random.between(1, most) } else { most }).collect();
        let hundredths = [0, 10, 33, 50, 77, 100][random.below(6) as usize];
        let initial_credits = [0, 1, random.below(30), 1_000_000][random.below(4) as usize];
        let ties = [Ties::Lowest, Ties::Highest][random.below(2) as usize];
        let largest = [1, 3, 12, 40][random.below(4) as usize];
        let rows: Vec<Vec<u64>> = (0..users)
            .map(|_| {
                (0..quanta)
                    .map(|_| if random.below(4) == 0 { 0 } else { random.below(largest + 1) })
                    .collect()
            })
            .collect();
        let settings =
            Settings { ..settings(&format!("{}", hundredths as f64 / 100.0), initial_credits, ties) };
        let shares = FairShares::Each(fair_shares.clone());
        let outcome = outcome("karma", &settings, &shares, &series(&rows));
        let ours = allocations(&outcome);
        let mut reference = Reference::new(&fair_shares, hundredths, initial_credits, ties);
        let told = || {
            format!(
                "case {case}: {rows:?}, fair shares {fair_shares:?}, alpha {hundredths}%, {initial_credits} credits, {ties:?}"
            )
        };
        for quantum in 0..quanta {
            let demands: Vec<u64> = rows.iter().map(|row| row[quantum]).collect();
            let theirs = reference.quantum(&demands);
            let mine: Vec<u64> = ours.iter().map(|row| row[quantum]).collect();
            assert_eq!(mine, theirs, "quantum {quantum} of {}", told());
            let free: u64 = fair_shares.iter().sum::<u64>() - mine.iter().sum::<u64>();
            starved += usize::from(free > 0 && mine != demands);
            for user in 0..users {
                let credits = reference.credits[user] as f64 / reference.part as f64;
                let kept = outcome.quanta.as_ref().unwrap()[quantum].credits[user];
                assert!(
                    (kept - credits).abs() <= 1e-12 * credits.abs().max(1.0),
                    "{kept} {credits}: {}",
                    told()
                );
            }
        }
    }
    assert!(starved > 500, "only {starved} quanta in which credits ran out");
}

/// Shared between equal members, a capacity that is no multiple of their number loses no slice.
#[test]
fn a_capacity_that_cannot_be_divided_evenly_is_used_to_the_last_slice() {
    let rows = vec![vec![9; 4]; 3];
    for (alpha, name) in
        [("0", "karma"), ("0.5", "karma"), ("1", "karma"), ("0", "max-min"), ("0", "strict"), ("0", "las")]
    {
        let settings = settings(alpha, 1_000, Ties::Lowest);
        let outcome = outcome(name, &settings, &FairShares::Capacity(8), &series(&rows));
        let total: u64 = outcome.users.iter().map(|user| user.allocated).sum();
        assert_eq!(total, 4 * 8, "{name} {alpha}");
    }
    let fraction = GuaranteedFraction::new("0.5".parse().unwrap()).unwrap();
    assert_eq!(FairShares::Capacity(8).entitlement(&series(&rows), 0).guaranteed_share(0, fraction), 1);
}

#[test]
fn the_largest_numbers_of_slices_are_divided_to_the_last() {
    // A fair share of ten billion slices, and demands that no loop over slices could serve.
    let share = 10_000_000_000;
    let rows = vec![vec![7 * share / 3, 0, share], vec![share + 1, 2 * share, 0], vec![0, share, 5 * share]];
    let settings = settings("0.5", 1_000_000_000_000, Ties::Lowest);
    let big = outcome("karma", &settings, &FairShares::PerUser(share), &series(&rows));
    for quantum in 0..3 {
        let demand: u64 = rows.iter().map(|row| row[quantum]).sum();
        let allocated: u64 = big.quanta.as_ref().unwrap()[quantum].allocated.iter().sum();
        assert_eq!(allocated, demand.min(3 * share));
    }
}
