//! Amounts that are so much, and so much of each of some levels: levels are long fractions, and what sums have of them is not.

use super::number::Rational;

/// So much, and so much of each of some levels.
#[derive(Clone)]
pub(crate) struct OfLevels {
    constant: Rational,
    /// `(level, times)`, by level.
    levels: Vec<(u32, Rational)>,
}

impl OfLevels {
    pub fn nothing() -> Self {
        Self::so_much(Rational::zero())
    }

    pub fn so_much(constant: Rational) -> Self {
        Self { constant, levels: Vec::new() }
    }

    pub fn is_nothing(&self) -> bool {
        self.constant.is_zero() && self.levels.is_empty()
    }

    /// The constant.
    pub fn constant(&self) -> &Rational {
        &self.constant
    }

    /// How often each level is in it.
    pub fn levels(&self) -> &[(u32, Rational)] {
        &self.levels
    }

    /// What it comes to.
    pub fn at(&self, levels: &[Rational]) -> Rational {
        let term = |(level, times): &(u32, Rational)| times * &levels[*level as usize];
        self.levels.iter().map(term).fold(self.constant.clone(), |sum, term| &sum + &term)
    }

    pub fn times(&self, by: &Rational) -> Self {
        let levels = self.levels.iter().map(|(level, times)| (*level, times * by)).collect();
        Self { constant: &self.constant * by, levels }
    }

    pub fn over(&self, by: &Rational) -> Self {
        self.times(&(&Rational::one() / by))
    }

    /// The one that comes to less. Levels are long and differences of their parts are not: so only these are worked out.
    pub fn lesser(self, other: Self, levels: &[Rational]) -> Self {
        let mut difference = self.clone();
        difference.add(&other.times(&-&Rational::one()));
        if difference.at(levels).is_positive() { other } else { self }
    }

    pub fn add(&mut self, other: &Self) {
        self.constant = &self.constant + &other.constant;
        other.levels.iter().for_each(|(level, times)| self.add_level(*level, times));
    }

    pub fn add_level(&mut self, level: u32, times: &Rational) {
        match self.levels.binary_search_by_key(&level, |(level, _)| *level) {
            Ok(at) => self.levels[at].1 = &self.levels[at].1 + times,
            Err(at) => self.levels.insert(at, (level, times.clone())),
        }
        self.levels.retain(|(_, times)| !times.is_zero());
    }
}

/// What a line in a group has while it rises, or at the level it is held at: so much, and so much of that level.
#[derive(Clone)]
pub(crate) struct Rise {
    pub above: OfLevels,
    pub rate: Rational,
}
