//! What users would choose at given prices: the cheapest market, the runner-up, and how clear the choice is.

use crate::reduction::Reduction;

/// Users that choose at once, so that their costs are computed in vectors.
const LANES: usize = 64;

/// Which classes have the same prices, and so are one market to every user.
pub(crate) struct Markets {
    /// For each class the first class of its market.
    representative: Vec<u32>,
    /// Whether the market of this first class has no other class.
    is_single: Vec<bool>,
}

/// The market a user would choose, the runner-up, both by their first class, and by which part of its cost the
/// runner-up is dearer.
pub(crate) struct Choice {
    pub first: u32,
    pub second: u32,
    pub distance: f64,
}

/// Users, or groups, waiting to choose at the same prices.
pub(crate) struct Chooser<'a> {
    prices: &'a [f64],
    markets: &'a Markets,
    waiting: Vec<usize>,
    /// Directions, or loads, of those waiting: one row a resource.
    directions: Vec<[f64; LANES]>,
}

impl Markets {
    /// Classes whose prices differ by less than the part `same_price` of the highest, and which limits treat alike, are one market.
    pub fn of(prices: &[f64], reduction: &Reduction, same_price: f64) -> Self {
        let (m, limits) = (reduction.resources, &reduction.users.limits);
        let prices = &prices[..reduction.classes() * m];
        let mut highest = vec![0.0f64; m];
        for row in prices.chunks(m) {
            highest.iter_mut().zip(row).for_each(|(high, p)| *high = high.max(*p));
        }
        let rows: Vec<&[f64]> = prices.chunks(m).collect();
        let mut representative: Vec<u32> = Vec::with_capacity(rows.len());
        let mut distinct: Vec<usize> = Vec::new();
        for (l, row) in rows.iter().enumerate() {
            let same = |other: &usize| {
                let pairs = row.iter().zip(rows[*other]).zip(&highest);
                pairs.into_iter().all(|((a, b), high)| (a - b).abs() <= same_price * high)
                    && reduction.patterns.iter().all(|rates| rates[l] == rates[*other])
                    && limits.treat_alike(l, *other)
            };
            match distinct.iter().find(|other| same(other)) {
                Some(other) => representative.push(*other as u32),
                None => {
                    distinct.push(l);
                    representative.push(l as u32);
                }
            }
        }
        let mut is_single = vec![false; rows.len()];
        for (l, market) in representative.iter().enumerate() {
            is_single[*market as usize] = *market as usize == l;
        }
        Self { representative, is_single }
    }

    /// The first class of the market of this one.
    pub fn first_of(&self, class: usize) -> usize {
        self.representative[class] as usize
    }

    /// Whether the market of this first class has no other class.
    pub fn is_single(&self, first: u32) -> bool {
        self.is_single[first as usize]
    }
}

impl<'a> Chooser<'a> {
    /// Nobody waits yet. `prices` are per unit of work, row-major `classes × resources`.
    pub fn new(prices: &'a [f64], markets: &'a Markets) -> Self {
        let resources = prices.len() / markets.representative.len().max(1);
        Self {
            prices,
            markets,
            waiting: Vec::with_capacity(LANES),
            directions: vec![[0.0; LANES]; resources],
        }
    }

    /// One more user waits, if there is room for one.
    pub fn push(&mut self, user: usize, direction: impl Iterator<Item = f64>) {
        for (row, entry) in self.directions.iter_mut().zip(direction) {
            row[self.waiting.len()] = entry;
        }
        self.waiting.push(user);
    }

    /// Whether as many wait as can choose at once.
    pub fn is_full(&self) -> bool {
        self.waiting.len() == LANES
    }

    /// Those who wait choose, one by one.
    pub fn choose(&mut self, mut each: impl FnMut(usize, Choice)) {
        let n = self.waiting.len();
        let (mut least, mut next) = ([f64::INFINITY; LANES], [f64::INFINITY; LANES]);
        // Classes as doubles, so that all rows are of one width.
        let (mut first, mut second) = ([0.0; LANES], [0.0; LANES]);
        for (price, market) in
            self.prices.chunks_exact(self.directions.len()).zip(&self.markets.representative)
        {
            let mut costs = [0.0; LANES];
            for (price, row) in price.iter().zip(&self.directions) {
                costs[..n].iter_mut().zip(row).for_each(|(cost, entry)| *cost += price * entry);
            }
            let market = f64::from(*market);
            for i in 0..n {
                let closer = costs[i] < least[i];
                let (winner, loser) = if closer { (market, first[i]) } else { (first[i], market) };
                let (low, high) = if closer { (costs[i], least[i]) } else { (least[i], costs[i]) };
                let runs_up = high <= next[i] && winner != loser;
                (least[i], first[i]) = (low, winner);
                next[i] = if runs_up { high } else { next[i] };
                second[i] = if runs_up { loser } else { second[i] };
            }
        }
        for (i, user) in self.waiting.drain(..).enumerate() {
            let distance = (next[i] - least[i]) / least[i];
            each(
                user,
                Choice {
                    first: first[i] as u32,
                    second: second[i] as u32,
                    distance: if distance.is_nan() { 0.0 } else { distance },
                },
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn rows_of_users_choose_as_each_alone_would(
            prices in proptest::collection::vec(0u8..6, 12),
            directions in proptest::collection::vec([0u8..4, 0u8..4, 0u8..4], 1..150),
            representative in prop_oneof![Just(vec![0, 1, 2, 3]), Just(vec![0, 1, 0, 1]), Just(vec![0, 0, 2, 0])],
        ) {
            let prices: Vec<f64> = prices.into_iter().map(f64::from).collect();
            let markets = Markets { is_single: vec![false; 4], representative };
            let mut chooser = Chooser::new(&prices, &markets);
            let mut seen = 0;
            let mut check = |user: usize, choice: Choice| {
                assert_eq!(user, seen, "in their order");
                seen += 1;
                let cost = |price: &[f64]| price.iter().zip(directions[user]).map(|(p, d)| p * f64::from(d)).sum();
                let costs: Vec<f64> = prices.chunks(3).map(cost).collect();
                let least_of = |market: &dyn Fn(u32) -> bool| {
                    let there = costs.iter().zip(&markets.representative).filter(|(_, of)| market(**of));
                    there.map(|(cost, _)| *cost).fold(f64::INFINITY, f64::min)
                };
                let least = least_of(&|_| true);
                assert_eq!(least_of(&|market| market == choice.first), least);
                let next = least_of(&|market| market != choice.first);
                let distance = (next - least) / least;
                assert_eq!(choice.distance, if distance.is_nan() { 0.0 } else { distance });
                if next.is_finite() {
                    assert_eq!(least_of(&|market| market == choice.second), next);
                    assert_ne!(choice.first, choice.second);
                }
            };
            for (user, direction) in directions.iter().enumerate() {
                if chooser.is_full() {
                    chooser.choose(&mut check);
                }
                chooser.push(user, direction.iter().map(|d| f64::from(*d)));
            }
            chooser.choose(&mut check);
            prop_assert_eq!(seen, directions.len());
        }
    }
}
