//! The levels, each exact on the exact former ones: raise all who still rise, freeze those who pay, go on with the rest.

use super::filling::Filling;
use super::guide::Guide;
use super::number::Rational;
use super::program::Program;
use super::vertex::{Amount, End, Stuck, Vertex};

/// The last vertex, and what held whom.
pub(crate) struct Raised<'p> {
    pub vertex: Vertex<'p>,
    /// Prices of the rows at every level, of any scale.
    pub prices: Vec<Vec<Rational>>,
    /// What a unit of each level costs at its prices, over all who rise or are frozen at it.
    pub scales: Vec<Rational>,
    /// How all rose when somebody was first frozen at the last level, where there are groups.
    rates: Vec<Rational>,
}

/// Raises the levels from the start, or from where a guide points to; given is the work of each line that is worth a level of one.
pub(crate) fn raise<'p>(
    program: &'p Program<'p>,
    per_level: Vec<Rational>,
    guide: Option<&Guide>,
    is_over: &dyn Fn() -> bool,
) -> Result<Raised<'p>, Stuck> {
    let mut vertex = Vertex::start(program, per_level);
    let filling = Filling::of(&vertex);
    filling.settle(&mut vertex, &Rational::zero());
    vertex.add_up_rising()?;
    let mut raised = Raised { vertex, prices: Vec::new(), scales: Vec::new(), rates: Vec::new() };
    raised.go_on(&filling, guide, is_over)?;
    Ok(raised)
}

impl Raised<'_> {
    fn go_on(
        &mut self,
        filling: &Filling,
        guide: Option<&Guide>,
        is_over: &dyn Fn() -> bool,
    ) -> Result<(), Stuck> {
        let mut is_new = true;
        while self.vertex.any_rises() {
            if let Some(guide) = guide.filter(|_| is_new) {
                guide.lead(&mut self.vertex, filling, is_over);
            }
            let next = filling.next(&self.vertex);
            let end = self.vertex.raise(next.as_ref(), is_over)?;
            is_new = matches!(end, End::Prices(_));
            if let End::Prices(prices) = end {
                self.freeze(prices)?;
            }
            let level = self.vertex.level.clone();
            filling.settle(&mut self.vertex, &level);
            self.vertex.add_up_rising()?;
        }
        Ok(())
    }

    /// Freezes all who pay, all kinds of a user together.
    fn freeze(&mut self, prices: Vec<Rational>) -> Result<(), Stuck> {
        let vertex = &mut self.vertex;
        let lines = &vertex.program.lines;
        let mut held = vec![false; vertex.program.instance.user_count()];
        for line in (0..lines.len()).filter(|line| vertex.is_rising(*line)) {
            held[lines[line].user as usize] |= vertex.pays(&prices, line);
        }
        let is_same = vertex.levels.last() == Some(&vertex.level);
        match (self.prices.last_mut(), self.scales.last_mut()) {
            // Who is held at the same level by other prices is held by the sum of both.
            (Some(known), Some(known_scale)) if is_same => {
                known.iter_mut().zip(&prices).for_each(|(sum, price)| *sum = &*sum + price);
                // Those held by the former ones pay the new prices too.
                *known_scale = &*known_scale + &vertex.cost_of_last_level(&prices, &self.rates);
            }
            _ => {
                self.rates = vertex.rates();
                self.scales.push(vertex.cost_of_level(&prices));
                vertex.levels.push(vertex.level.clone());
                self.prices.push(prices);
            }
        }
        let level = vertex.levels.len() as u32 - 1;
        let mut any = false;
        for line in 0..lines.len() {
            if vertex.is_rising(line) && held[lines[line].user as usize] {
                vertex.amounts[line] = Amount::Frozen(level);
                any = true;
            }
        }
        if !any {
            return Err(Stuck::Contradiction("prices hold nobody"));
        }
        Ok(())
    }
}
