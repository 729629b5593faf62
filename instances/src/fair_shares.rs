//! What is due to whom: the slices that a quantum has, and the part of them that each member can call its own.

use crate::{Decimal, DemandSeries, MAX_SLICES, Violation};

/// Fair shares in lowest terms are at most this, so that shares of all users can be compared exactly.
const MAX_WEIGHT: u64 = (1 << 31) - 1;

/// How fair shares are stated (Karma Sec. 3.1, and Sec. 3.4 for users who join and leave).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FairShares {
    /// Every member is due so many slices a quantum; the capacity grows and shrinks with the members.
    PerUser(u64),
    /// So many slices a quantum, shared equally by however many members there are.
    Capacity(u64),
    /// Each user is due its own number of slices; the capacity grows and shrinks with the members.
    Each(Vec<u64>),
}

/// What is due in a quantum: its slices, its members, and their weights.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entitlement {
    capacity: u64,
    members: Vec<u32>,
    weights: Vec<u64>,
    total_weight: u64,
}

impl FairShares {
    /// Checks the shares against the users of a series; `capacity`, where it is stated too, must be their sum.
    pub fn check(&self, series: &DemandSeries, capacity: Option<u64>) -> Result<(), Violation> {
        let users = series.user_count();
        let total = match self {
            Self::PerUser(share) => u128::from(*share) * users as u128,
            Self::Capacity(capacity) => u128::from(*capacity),
            Self::Each(shares) => shares.iter().map(|share| u128::from(*share)).sum(),
        };
        if total == 0 {
            return Err(Violation::new("capacity", total, "must be at least 1 slice"));
        }
        if total > u128::from(MAX_SLICES) {
            let problem = format!("at most {MAX_SLICES} slices are supported; choose larger slices");
            return Err(Violation::new("capacity", total, problem));
        }
        if let Some(stated) = capacity
            && u128::from(stated) != total
        {
            let problem = format!("the fair shares of the {users} users come to {total} slices");
            return Err(Violation::new("capacity", stated, problem));
        }
        if let Self::Each(shares) = self {
            let common = self.common_divisor();
            if let Some(user) = shares.iter().position(|share| share / common > MAX_WEIGHT) {
                let problem =
                    format!("is over {MAX_WEIGHT} times the common divisor {common} of all; round it");
                let place = format!("fair_share of {}", series.user_id(user));
                return Err(Violation::new(place, shares[user], problem));
            }
        }
        Ok(())
    }

    /// Each user's fair share in lowest terms; every one 1 where they are equal.
    pub fn weights(&self, users: usize) -> Vec<u64> {
        match self {
            Self::Each(shares) => {
                let common = self.common_divisor();
                shares.iter().map(|share| share / common).collect()
            }
            _ => vec![1; users],
        }
    }

    fn common_divisor(&self) -> u64 {
        match self {
            Self::Each(shares) => shares.iter().copied().fold(0, greatest_common_divisor).max(1),
            _ => 1,
        }
    }

    /// What is due in `quantum`.
    pub fn entitlement(&self, series: &DemandSeries, quantum: usize) -> Entitlement {
        let is_member = |user: &usize| series.membership(*user).contains(&quantum);
        let members: Vec<u32> = (0..series.user_count()).filter(is_member).map(|user| user as u32).collect();
        let count = members.len() as u64;
        // Of all users, so that a user's weight is the same whoever else is a member.
        let all = self.weights(series.user_count());
        let mut weights = vec![0; series.user_count()];
        for user in members.iter().map(|user| *user as usize) {
            weights[user] = all[user];
        }
        let total_weight = weights.iter().sum();
        let capacity = match self {
            Self::PerUser(share) => share * count,
            Self::Capacity(capacity) => *capacity,
            Self::Each(_) => self.common_divisor() * total_weight,
        };
        Entitlement { capacity, members, weights, total_weight }
    }
}

impl Entitlement {
    /// Slices to be divided in every quantum.
    pub fn capacity(&self) -> u64 {
        self.capacity
    }

    /// Positions of the members, ascending.
    pub fn members(&self) -> &[u32] {
        &self.members
    }

    /// A user's fair share in lowest terms: users are due slices in the proportion of their weights. 0 for who is
    /// no member.
    pub fn weight(&self, user: usize) -> u64 {
        self.weights[user]
    }

    /// The weights of all members.
    pub fn total_weight(&self) -> u64 {
        self.total_weight
    }

    /// The whole slices of a user's fair share, and what is left of it in parts of [`Self::total_weight`].
    pub fn fair_share(&self, user: usize) -> (u64, u64) {
        let (due, total) = self.due(user);
        // At most the capacity, and at most the total weight.
        ((due / total) as u64, (due % total) as u64)
    }

    /// The whole slices of `fraction` of a user's fair share: what the user is guaranteed.
    pub fn guaranteed_share(&self, user: usize, fraction: GuaranteedFraction) -> u64 {
        let (due, total) = self.due(user);
        (due * u128::from(fraction.numerator) / (total * u128::from(fraction.denominator))) as u64
    }

    /// The fair share as a fraction.
    fn due(&self, user: usize) -> (u128, u128) {
        (u128::from(self.capacity) * u128::from(self.weights[user]), u128::from(self.total_weight))
    }
}

/// The fraction of its fair share that every user is guaranteed in every quantum: Karma's alpha, 0 to 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GuaranteedFraction {
    numerator: u64,
    denominator: u64,
}

impl GuaranteedFraction {
    /// Most digits after the point.
    const DECIMALS: i8 = 9;

    /// The fraction that a decimal between 0 and 1 with at most nine decimals is.
    pub fn new(alpha: Decimal) -> Result<Self, Violation> {
        let denominator = 10u64.pow(Self::DECIMALS as u32);
        let numerator = alpha.scaled(-Self::DECIMALS).ok_or_else(|| {
            Violation::new("alpha", alpha, format!("at most {} decimals are supported", Self::DECIMALS))
        })?;
        match u64::try_from(numerator) {
            Ok(numerator) if numerator <= denominator => Ok(Self { numerator, denominator }),
            _ => Err(Violation::new("alpha", alpha, "must be at least 0 and at most 1")),
        }
    }

    /// The nearest double.
    pub fn to_f64(self) -> f64 {
        self.numerator as f64 / self.denominator as f64
    }
}

/// One half, as in Karma's evaluation.
impl Default for GuaranteedFraction {
    fn default() -> Self {
        let denominator = 10u64.pow(Self::DECIMALS as u32);
        Self { numerator: denominator / 2, denominator }
    }
}

/// The largest number that divides both; 0 divides into any.
pub fn greatest_common_divisor(mut a: u64, mut b: u64) -> u64 {
    while b > 0 {
        (a, b) = (b, a % b);
    }
    a
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{DemandSeriesBuilder, QuantumLabel};

    /// Three users, three quanta; the third user joins in the second quantum and the first leaves before the third.
    fn series() -> DemandSeries {
        let mut builder = DemandSeriesBuilder::default();
        for id in ["a", "b", "c"] {
            builder.user(id).unwrap();
        }
        for quantum in 0..3 {
            builder.quantum(QuantumLabel::Number(quantum)).unwrap();
        }
        builder.build().unwrap().with_members(vec![0..2, 0..3, 1..3]).unwrap()
    }

    fn alpha(text: &str) -> GuaranteedFraction {
        GuaranteedFraction::new(text.parse().unwrap()).unwrap()
    }

    #[test]
    fn members_share_a_fixed_capacity_or_bring_their_own() {
        let series = series();
        let due = |shares: &FairShares, quantum| {
            let due = shares.entitlement(&series, quantum);
            let shares: Vec<_> = due.members().iter().map(|user| due.fair_share(*user as usize)).collect();
            (due.capacity(), due.members().to_vec(), shares)
        };
        assert_eq!(due(&FairShares::PerUser(7), 0), (14, vec![0, 1], vec![(7, 0), (7, 0)]));
        assert_eq!(due(&FairShares::Capacity(7), 1), (7, vec![0, 1, 2], vec![(2, 1), (2, 1), (2, 1)]));
        let each = FairShares::Each(vec![4, 6, 8]);
        assert_eq!(due(&each, 2), (14, vec![1, 2], vec![(6, 0), (8, 0)]));
        let due = each.entitlement(&series, 1);
        assert_eq!([0, 1, 2].map(|user| due.weight(user)), [2, 3, 4]);
        assert_eq!((due.total_weight(), due.capacity()), (9, 18));
        assert_eq!([0, 1, 2].map(|user| due.guaranteed_share(user, alpha("0.5"))), [2, 3, 4]);
        assert_eq!([0, 1, 2].map(|user| due.guaranteed_share(user, alpha("0.4"))), [1, 2, 3]);
        assert_eq!(FairShares::Capacity(7).entitlement(&series, 1).guaranteed_share(0, alpha("0.9")), 2);
    }

    #[test]
    fn shares_that_do_not_match_the_capacity_and_fractions_outside_0_to_1_are_refused() {
        let series = series();
        let told = |shares: FairShares, capacity| shares.check(&series, capacity).unwrap_err().to_string();
        let each = FairShares::Each(vec![4, 6, 8]);
        assert_eq!(each.check(&series, Some(18)), Ok(()));
        assert_eq!(told(each, Some(17)), "capacity = 17: the fair shares of the 3 users come to 18 slices");
        assert_eq!(told(FairShares::PerUser(0), None), "capacity = 0: must be at least 1 slice");
        assert!(told(FairShares::PerUser(MAX_SLICES / 2), None).contains("at most 100000000000 slices"));
        let fine = told(FairShares::Each(vec![1, MAX_WEIGHT + 1, 2]), None);
        assert_eq!(
            fine,
            "fair_share of b = 2147483648: is over 2147483647 times the common divisor 1 of all; round it"
        );
        assert_eq!(FairShares::Each(vec![2, 2 * MAX_WEIGHT, 4]).check(&series, None), Ok(()));
        let told = |text: &str| GuaranteedFraction::new(text.parse().unwrap()).unwrap_err().to_string();
        assert_eq!(told("1.000000001"), "alpha = 1.000000001: must be at least 0 and at most 1");
        assert_eq!(told("0.0000000001"), "alpha = 1e-10: at most 9 decimals are supported");
        assert_eq!(told("1e20"), "alpha = 100000000000000000000: must be at least 0 and at most 1");
    }
}
