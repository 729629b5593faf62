//! Tickets and claims: what users hold, what they redeem, what is drawn.

use crate::{outcome, series, settings};
use fairplan_instances::{FairShares, Random};
use fairplan_mechanisms::{Mechanism, Settings, Sharp, SharpSettings, Ties};

struct Table {
    sharp: Sharp,
    allocated: Vec<u64>,
}

impl Table {
    fn new(capacity: u64, strategic: &[bool], oversubscription: u64, term: usize, seed: u64) -> Self {
        let due = FairShares::Capacity(capacity).entitlement(&series(&vec![vec![0]; strategic.len()]), 0);
        let strategic = strategic.to_vec();
        let allocated = vec![0; strategic.len()];
        let mut sharp =
            Sharp::new(SharpSettings { oversubscription, term, ties: Ties::Lowest, strategic, seed });
        sharp.admit(&due).unwrap();
        Self { sharp, allocated }
    }

    /// What is allocated, and the tickets held meanwhile.
    fn quantum(&mut self, demands: &[u64]) -> (Vec<u64>, Vec<f64>) {
        self.sharp.allocate(demands, &mut self.allocated);
        let held = (0..demands.len()).map(|user| self.sharp.balance(user)).collect();
        (self.allocated.clone(), held)
    }
}

#[test]
fn tickets_are_granted_by_max_min_and_redeemed_at_once_where_slices_suffice() {
    let mut table = Table::new(10, &[false; 3], 2, 2, 0);
    assert_eq!(table.quantum(&[2, 0, 3]), (vec![2, 0, 3], vec![2.0, 0.0, 3.0]));
}

#[test]
fn unredeemed_tickets_last_for_the_term_of_their_claim() {
    // B asks for tickets for its fair share of the 4 there are, needs none, and keeps them for two quanta.
    let mut table = Table::new(2, &[false, true], 2, 2, 0);
    assert_eq!(table.quantum(&[0, 0]), (vec![0, 0], vec![0.0, 2.0]));
    // Two tickets are free, B's share of them is one.
    assert_eq!(table.quantum(&[0, 0]), (vec![0, 0], vec![0.0, 3.0]));
    // Its first claim has ended: of the three free tickets one more is its share.
    assert_eq!(table.quantum(&[0, 0]).1, [0.0, 2.0]);
    // Without demand, what ends soonest is redeemed first when there is demand again.
    assert_eq!(table.quantum(&[0, 1]).0, [0, 1]);
}

#[test]
fn slices_are_drawn_by_tickets_and_nobody_draws_more_than_it_may() {
    let mut counts = [0u64; 3];
    let quanta = 6_000;
    for seed in 0..quanta {
        // 8 tickets for 4 slices; 2, 2 and 4 of them are granted.
        let mut table = Table::new(4, &[false; 3], 2, 1, seed);
        let (won, held) = table.quantum(&[2, 2, 9]);
        assert_eq!(held, [2.0, 2.0, 4.0]);
        assert!(won.iter().sum::<u64>() == 4 && won[0] <= 2 && won[1] <= 2);
        won.iter().zip(&mut counts).for_each(|(won, count)| *count += won);
    }
    // C draws each slice with half of the tickets, and with more as the others are done: 4 draws by 2, 2 and 4
    // tickets, worked out by hand, give it 181/84 slices on the mean.
    let mean = counts[2] as f64 / quanta as f64;
    let expected = exact_mean();
    assert!((mean - expected).abs() < 0.04, "{mean}, expected {expected}");
    assert!((counts[0] as f64 / counts[1] as f64 - 1.0).abs() < 0.05, "{counts:?}");
}

/// The mean number of slices of C above, over all orders of drawing.
fn exact_mean() -> f64 {
    fn draw(left: [u64; 3], slices: u64) -> f64 {
        if slices == 0 {
            return 0.0;
        }
        let tickets = [2.0, 2.0, 4.0];
        let total: f64 = (0..3).filter(|user| left[*user] > 0).map(|user| tickets[user]).sum();
        let of = |user: usize| {
            let mut after = left;
            after[user] -= 1;
            tickets[user] / total * (f64::from(u8::from(user == 2)) + draw(after, slices - 1))
        };
        (0..3).filter(|user| left[*user] > 0).map(of).sum()
    }
    draw([2, 2, 4], 4)
}

#[test]
fn never_more_slices_than_there_are_and_never_more_than_demanded() {
    let mut random = Random::new(9, 0);
    for _ in 0..300 {
        let users = random.between(1, 6) as usize;
        let rows: Vec<Vec<u64>> = (0..users).map(|_| (0..20).map(|_| random.below(9)).collect()).collect();
        let capacity = random.between(1, 12);
        let settings = Settings {
            oversubscription: random.between(1, 3),
            term: random.between(1, 4) as usize,
            ..settings("0", 0, Ties::Lowest)
        };
        let outcome = outcome("sharp", &settings, &FairShares::Capacity(capacity), &series(&rows));
        for (quantum, kept) in outcome.quanta.unwrap().iter().enumerate() {
            assert!(kept.allocated.iter().sum::<u64>() <= capacity);
            assert!((0..users).all(|user| kept.allocated[user] <= rows[user][quantum]));
        }
    }
}
