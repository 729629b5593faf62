//! Benders decomposition: in turn, what to buy by the rows known so far, and whether that is enough.

use super::candidates::{Candidates, Coverage, PARTS};
use super::cuts::Cut;
use super::master::{Master, Proposal};
use crate::tolerance::planning::{NEAR, SLACK, WHOLE, WHOLE_PARTS};
use fairplan_instances::{Catalog, Deadline, Instance, InstanceError, Purchase, Solver, Violation};

/// Allocations computed before a search is given up with what it has.
const MOST_ROUNDS: u64 = 400;

/// A purchase that is being planned: what is learned for one question helps with the next.
pub struct Planner<'a> {
    pub(super) candidates: Candidates,
    pub(super) master: Master,
    pub(super) cuts: Vec<Cut>,
    /// What is asked for in the place of what the candidates say, each at a time of its own.
    in_turn: Vec<Vec<f64>>,
    pub(super) solver: &'a dyn Solver,
    pub(super) catalog: &'a Catalog,
    rounds: u64,
    deadline: Deadline,
}

/// Whether servers are enough, as far as was asked.
struct Verdict {
    part: f64,
    /// Whether a row was added that the servers break.
    is_excluded: bool,
}

impl<'a> Planner<'a> {
    /// For work `required` of each user of `instance` (tasks of rate 1), and at most `budget` to spend. With `whole`, tasks
    /// run only where a whole one fits on a server.
    ///
    /// # Errors
    /// Users with rates whose tasks may run out.
    pub fn new(
        instance: &Instance,
        catalog: &'a Catalog,
        required: Vec<f64>,
        whole: bool,
        budget: Option<f64>,
        solver: &'a dyn Solver,
    ) -> Result<Self, Violation> {
        let candidates = Candidates::new(instance, catalog, required, whole)?;
        let cuts = in_total(&candidates);
        let master = Master::new(catalog, budget);
        let deadline = Deadline::never();
        Ok(Self { candidates, master, cuts, in_turn: Vec::new(), solver, catalog, rounds: 0, deadline })
    }

    /// The same where other work is asked for at other times, as long as each of these vectors: what is bought must be enough at all of
    /// them.
    pub fn and_in_turn(mut self, others: Vec<Vec<f64>>) -> Self {
        self.in_turn = others;
        for at in 0..self.in_turn.len() {
            let cuts = self.asked_in_turn(at, |planner| in_total(&planner.candidates));
            self.cuts.extend(cuts);
        }
        self
    }

    /// What holds where the work of another time is asked for.
    fn asked_in_turn<T>(&mut self, at: usize, ask: impl FnOnce(&mut Self) -> T) -> T {
        std::mem::swap(&mut self.candidates.required, &mut self.in_turn[at]);
        let answer = ask(self);
        std::mem::swap(&mut self.candidates.required, &mut self.in_turn[at]);
        answer
    }

    /// The same, to end by a deadline, which the solver is held to already: then with an error.
    pub fn within(mut self, deadline: &Deadline) -> Self {
        (self.master.deadline, self.deadline) = (deadline.clone(), deadline.clone());
        self
    }

    /// The same where the users are the kinds of `bundles`, of which `required` tasks are asked for: DRFH divides servers among these.
    pub fn with_kinds_of(mut self, bundles: &Instance, required: &[f64]) -> Self {
        self.candidates.are_kinds_of(bundles, self.catalog, required);
        self
    }

    /// An error when time is over: what a solver returns then need not be the most that servers allow.
    pub(super) fn in_time(&self) -> Result<(), InstanceError> {
        if self.deadline.is_over() { Err(InstanceError::OutOfTime) } else { Ok(()) }
    }

    /// The first user of whom something is asked and who can run on nothing that there is or can be bought.
    pub(super) fn without_servers(&self) -> Option<usize> {
        let others = (0..self.candidates.required.len())
            .filter(|i| self.in_turn.iter().any(|required| required[*i] > 0.0));
        self.candidates
            .asking()
            .chain(others)
            .find(|i| self.candidates.rates(*i).iter().all(|rate| *rate == 0.0))
    }

    /// The part of what is asked for that every user reaches with so many servers of each type more.
    pub fn part_with(&mut self, bought: &[u64]) -> Result<f64, InstanceError> {
        Ok(self.examine(bought, 1, f64::INFINITY)?.part)
    }

    /// The cheapest purchase with which every user reaches `part` of what is asked for; `None` if there is none.
    pub fn cheapest(&mut self, part: f64) -> Result<Option<Purchase>, InstanceError> {
        self.rounds = 0;
        if self.without_servers().is_some() {
            return Ok(None);
        }
        let Some(fractions) = self.fractions(part)? else { return Ok(None) };
        let mut bound = 0.0f64;
        while self.rounds < MOST_ROUNDS {
            let Some(proposal) = self.master.cheapest(&self.cuts, part, true)? else { return Ok(None) };
            bound = bound.max(proposal.bound);
            let counts = whole(&proposal);
            let verdict = self.examine(&counts, 1, part)?;
            if verdict.part >= part * (1.0 - SLACK) {
                return Ok(Some(self.purchase(counts, bound, verdict.part)));
            }
            if !verdict.is_excluded {
                break;
            }
        }
        self.rounded_up(&fractions, part, bound).map(Some)
    }

    /// Prices that prove what the target costs at least where fractions of servers can be bought: one row a class of the
    /// cluster, then one a type that is a class of its own, one number a resource. All that `cheapest` learned counts.
    pub fn prices(&self) -> Result<Vec<Vec<f64>>, InstanceError> {
        let mut prices = vec![0.0; self.candidates.len() * self.candidates.resources];
        for (cut, multiplier) in self.cuts.iter().zip(self.master.multipliers(&self.cuts, 1.0)?) {
            prices.iter_mut().zip(&cut.prices).for_each(|(price, part)| *price += multiplier * part);
        }
        Ok(prices.chunks(self.candidates.resources).map(<[f64]>::to_vec).collect())
    }

    /// The purchase within the budget and the limits with which every user reaches the largest part of what is asked for,
    /// up to `most`; beside it the largest part that is not excluded.
    pub fn largest_part(&mut self, most: f64) -> Result<(Purchase, f64), InstanceError> {
        self.rounds = 0;
        let none = vec![0; self.catalog.types.len()];
        let mut best = (self.examine(&none, 1, most)?.part.min(most), none);
        let mut bound = if self.without_servers().is_some() { 0.0 } else { most };
        for whole_counts in [false, true] {
            while self.rounds < MOST_ROUNDS && best.0 < bound * (1.0 - SLACK) {
                let Some(proposal) = self.master.largest_part(&self.cuts, most, whole_counts)? else {
                    break;
                };
                bound = bound.min(proposal.bound);
                let (counts, parts) =
                    if whole_counts { (whole(&proposal), 1) } else { (fine(&proposal), PARTS) };
                let verdict = self.examine(&counts, parts, bound)?;
                let reached = verdict.part.min(most);
                if whole_counts && reached > best.0 {
                    best = (reached, counts);
                }
                if !verdict.is_excluded || reached >= bound * (1.0 - if whole_counts { SLACK } else { NEAR })
                {
                    break;
                }
            }
        }
        let cost = self.catalog.cost(&best.1);
        Ok((
            Purchase { counts: best.1, cost, bound: 0.0, part: best.0, rounds: self.rounds },
            bound.max(best.0),
        ))
    }

    /// Fractions of servers that are nearly enough, and with them most of the rows that matter.
    fn fractions(&mut self, part: f64) -> Result<Option<Proposal>, InstanceError> {
        loop {
            let Some(proposal) = self.master.cheapest(&self.cuts, part, false)? else { return Ok(None) };
            if self.rounds >= MOST_ROUNDS / 2 {
                return Ok(Some(proposal));
            }
            let verdict = self.examine(&fine(&proposal), PARTS, part)?;
            if verdict.part >= part * (1.0 - NEAR) || !verdict.is_excluded {
                return Ok(Some(proposal));
            }
        }
    }

    /// What these servers, counted in parts of one over `parts`, allow at all times; if that is less than `part`, what it teaches.
    fn examine(&mut self, bought: &[u64], parts: u64, part: f64) -> Result<Verdict, InstanceError> {
        let mut verdict = self.examine_one(bought, parts, part)?;
        for at in 0..self.in_turn.len() {
            let other = self.asked_in_turn(at, |planner| planner.examine_one(bought, parts, part))?;
            verdict.part = verdict.part.min(other.part);
            verdict.is_excluded |= other.is_excluded;
        }
        Ok(verdict)
    }

    fn examine_one(&mut self, bought: &[u64], parts: u64, part: f64) -> Result<Verdict, InstanceError> {
        self.rounds += 1;
        let servers = self.candidates.servers(bought, parts);
        let coverage = self.candidates.coverage(self.solver, &servers, parts)?;
        self.in_time()?;
        let (reached, cut) = match coverage {
            Coverage::Stranded(user) => (0.0, self.candidates.cut_of_user(user)),
            Coverage::Part(reached, _) if reached >= part * (1.0 - SLACK) => (reached, None),
            Coverage::Part(reached, mut prices) => {
                self.candidates.complete(&mut prices, &servers, &self.deadline)?;
                (reached, self.candidates.cut(&prices))
            }
        };
        let counts: Vec<f64> = bought.iter().map(|count| *count as f64 / parts as f64).collect();
        let is_excluded = cut.is_some_and(|cut| {
            let breaks = !part.is_finite() || cut.is_broken_by(&counts, part);
            self.cuts.push(cut);
            breaks
        });
        Ok(Verdict { part: reached, is_excluded })
    }

    /// A purchase without proof: fractions rounded up, then servers left out as long as the rest is enough, the dearest
    /// first.
    fn rounded_up(&mut self, fractions: &Proposal, part: f64, bound: f64) -> Result<Purchase, InstanceError> {
        let mut counts: Vec<u64> =
            fractions.counts.iter().map(|count| (count - WHOLE).ceil().max(0.0) as u64).collect();
        let is_enough = |planner: &mut Self, counts: &[u64]| -> Result<bool, InstanceError> {
            Ok(planner.examine(counts, 1, part)?.part >= part * (1.0 - SLACK))
        };
        if !is_enough(self, &counts)? {
            for (count, kind) in counts.iter_mut().zip(&self.catalog.types) {
                *count = (*count + 1).min(kind.limit.unwrap_or(u64::MAX));
            }
            if !is_enough(self, &counts)? {
                let problem = format!("no purchase was found in {} rounds", self.rounds);
                return Err(InstanceError::Backend { backend: "simplex", problem });
            }
        }
        for at in self.dearest_first() {
            while counts[at] > 0 {
                counts[at] -= 1;
                if !is_enough(self, &counts)? {
                    counts[at] += 1;
                    break;
                }
            }
        }
        let part = self.examine(&counts, 1, part)?.part;
        Ok(self.purchase(counts, bound, part))
    }

    /// Positions of the types, by price.
    pub(super) fn dearest_first(&self) -> Vec<usize> {
        let price = |at: &usize| self.catalog.types[*at].price.to_f64();
        let mut order: Vec<usize> = (0..self.catalog.types.len()).collect();
        order.sort_by(|a, b| price(b).total_cmp(&price(a)));
        order
    }

    pub(super) fn purchase(&self, counts: Vec<u64>, bound: f64, part: f64) -> Purchase {
        let cost = self.catalog.cost(&counts);
        // The program may be off in the last digits.
        Purchase { cost, bound: bound.min(cost), counts, part, rounds: self.rounds }
    }
}

/// The rows of a resource that has the same price everywhere: what is asked for must be there in total.
fn in_total(candidates: &Candidates) -> Vec<Cut> {
    let m = candidates.resources;
    let everywhere = |r: usize| -> Vec<f64> {
        (0..candidates.len() * m).map(|at| if at % m == r { 1.0 } else { 0.0 }).collect()
    };
    (0..m).filter_map(|r| candidates.cut(&everywhere(r))).collect()
}

fn whole(proposal: &Proposal) -> Vec<u64> {
    proposal.counts.iter().map(|count| count.round().max(0.0) as u64).collect()
}

/// In parts of one over [`PARTS`], rounded up.
fn fine(proposal: &Proposal) -> Vec<u64> {
    proposal.counts.iter().map(|count| (count * PARTS as f64 - WHOLE_PARTS).ceil().max(0.0) as u64).collect()
}
