//! The levels, each exact on the exact former ones: raise all who still rise, freeze those who pay, go on with the rest.

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
}

/// Raises the levels from the start, or from where a guide points to.
pub(crate) fn raise<'p>(
    program: &'p Program<'p>,
    guide: Option<&Guide>,
    is_over: &dyn Fn() -> bool,
) -> Result<Raised<'p>, Stuck> {
    let vertex = Vertex::start(program)?;
    let mut raised = Raised { vertex, prices: Vec::new(), scales: Vec::new() };
    let caps = caps(&raised.vertex);
    raised.go_on(&caps, guide, is_over)?;
    Ok(raised)
}

/// The lines whose tasks last for so high a level only, the lowest first.
fn caps(vertex: &Vertex<'_>) -> Vec<(Rational, usize)> {
    let program = vertex.program;
    let cap = |line: usize| Some((&program.most_work(line)? / vertex.per_level(line), line));
    let mut caps: Vec<_> = (0..program.lines.len()).filter_map(cap).collect();
    caps.sort();
    caps
}

impl Raised<'_> {
    fn go_on(
        &mut self,
        mut caps: &[(Rational, usize)],
        guide: Option<&Guide>,
        is_over: &dyn Fn() -> bool,
    ) -> Result<(), Stuck> {
        let mut is_new = true;
        while self.vertex.any_rises() {
            if let Some(guide) = guide.filter(|_| is_new) {
                guide.lead(&mut self.vertex, caps);
            }
            is_new = false;
            // Those held by prices at a lower level have tasks left.
            while let Some(((_, line), rest)) = caps.split_first()
                && !self.vertex.is_rising(*line)
            {
                caps = rest;
            }
            match self.vertex.raise(caps.first().map(|(cap, _)| cap), is_over)? {
                End::Bound => {
                    let level = self.vertex.level.clone();
                    while let Some(((cap, line), rest)) = caps.split_first()
                        && *cap <= level
                    {
                        if self.vertex.is_rising(*line) {
                            self.vertex.amounts[*line] = Amount::Settled(self.vertex.work(*line));
                        }
                        caps = rest;
                    }
                    self.vertex.add_up_rising()?;
                }
                End::Prices(prices) => {
                    self.freeze(prices)?;
                    is_new = true;
                }
            }
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
        let scale = vertex.cost_of_level(&prices);
        let is_same = vertex.levels.last() == Some(&vertex.level);
        match (self.prices.last_mut(), self.scales.last_mut()) {
            // Who is held at the same level by other prices is held by the sum of both.
            (Some(known), Some(known_scale)) if is_same => {
                known.iter_mut().zip(&prices).for_each(|(sum, price)| *sum = &*sum + price);
                // Those held at the level before pay the new prices too.
                let level = vertex.levels.len() as u32 - 1;
                *known_scale = &(&*known_scale + &scale) + &vertex.cost_of_frozen(&prices, level);
            }
            _ => {
                vertex.levels.push(vertex.level.clone());
                self.prices.push(prices);
                self.scales.push(scale);
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
        vertex.add_up_rising()?;
        Ok(())
    }
}
