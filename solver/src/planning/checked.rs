//! Purchases that must pass a check of their own: a placement of whole tasks that fits, or DRFH on the bought cluster. More
//! is asked for until the check passes, then what is not needed is left out.

use super::cuts::Cut;
use super::planner::Planner;
use crate::tolerance::planning::{CHEAPEST, SLACK};
use fairplan_instances::{Decimal, Instance, InstanceError, KeptOut, Obstacle, Placement, Purchase, UserId};

/// Places the tasks of an instance, all of which shall run, serving the lowest weighted share first.
pub type PlaceAll<'a> = dyn FnMut(&Instance, ServingOrder) -> Result<Placement, InstanceError> + 'a;

/// Which users the weights of an instance put first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ServingOrder {
    /// Those with the largest tasks, as bin packing does: small ones fill what large ones leave over.
    LargestFirst,
    /// All at the same pace, each near its last task at the end: what placements that share fairly are made for.
    Evenly,
}

/// Sizes of tasks that are told apart where the largest come first, each half of the one before.
const SIZES: f64 = 9.0;

/// How many times the share of the next smaller size is too little to be served before it.
const AHEAD: f64 = 1000.0;

/// Checks a purchase: what there is to know of one that passes, `None` for one that does not.
type Check<'c, T> = dyn FnMut(&Planner<'_>, &[u64]) -> Result<Option<T>, InstanceError> + 'c;

/// What came of looking for a purchase that passes.
enum Checked<T> {
    Found(Purchase, T),
    /// Not even divided tasks have room.
    Unreachable,
    /// There is room, and nothing was found that passes.
    Failed,
}

/// A user whose tasks were not all placed, on which purchase.
struct Short {
    bought: Vec<u64>,
    user: usize,
    placed: u64,
    required: u64,
}

impl Short {
    /// The part of its tasks that were placed.
    fn part(&self) -> f64 {
        self.placed as f64 / self.required.max(1) as f64
    }
}

/// What is asked for beyond what is needed, at first and at most.
const EXCESS: (f64, f64) = (0.002, 4.0);

/// Halvings between an excess that passes and one that does not.
const HALVINGS: usize = 5;

/// Servers that are tried to be left out, at most.
const TRIALS: usize = 16;

/// Digits of the weights by which whole tasks are served.
const DIGITS: usize = 6;

impl Planner<'_> {
    /// A purchase on whose cluster `place` finds room for all required tasks, and that placement; otherwise what stands against it: there is
    /// no room even for divided tasks, rules keep tasks out, or they were all placed by no purchase tried. Its bound is that of divided tasks. The
    /// planner must be one for whole tasks.
    pub fn cheapest_of_whole_tasks(
        &mut self,
        place: &mut PlaceAll<'_>,
    ) -> Result<Result<(Purchase, Placement), Obstacle>, InstanceError> {
        let mut short = None;
        let rows = self.rows_of_rules()?;
        let found = self.cheapest_checked(rows, &mut |planner, bought| {
            let placed = planner.placed(bought, true, place)?;
            Ok(placed.map_err(|left_out| short = Some(left_out)).ok())
        })?;
        match (found, short) {
            (Checked::Found(purchase, placement), _) => Ok(Ok((purchase, placement))),
            (Checked::Failed, Some(short)) => {
                let has_rules = !self.rules_of(short.user).is_empty();
                if has_rules && self.placed(&short.bought, false, place)?.is_ok() {
                    let short = self.most_under_rules(short, place)?;
                    let kept_out = self.by_rules(&short);
                    return Ok(Err(self.kept_out(short.user, &short.bought, kept_out)));
                }
                let kept_out = self.not_placed(&short);
                Ok(Err(Obstacle { user: UserId(short.user), kept_out: Some(kept_out), ..self.obstacle()? }))
            }
            _ => self.obstacle().map(Err),
        }
    }

    /// A purchase on whose cluster DRFH by itself, with nobody held to what is asked for, gives every user as much; `None`
    /// where there is no room for it at all. Its bound is that of having room.
    pub fn cheapest_under_drfh(&mut self) -> Result<Option<Purchase>, InstanceError> {
        let found = self.cheapest_checked(Vec::new(), &mut |planner, bought| {
            let least = planner.parts_under_drfh(bought)?.into_iter().fold(f64::INFINITY, f64::min);
            Ok((least >= 1.0 - SLACK).then_some(()))
        })?;
        match found {
            Checked::Found(purchase, ()) => Ok(Some(purchase)),
            Checked::Unreachable => Ok(None),
            Checked::Failed => Err(InstanceError::Unsupported(format!(
                "there is room for what is asked for, but with nothing that may be bought was DRFH by itself found to give it \
                 to everybody{}",
                self.more_to_allow()
            ))),
        }
    }

    /// The part of what is asked for of each user (with all kinds of its tasks) that DRFH by itself gives it with so many servers of
    /// each type more; infinite where nothing is asked for.
    ///
    /// # Errors
    /// What the solver says, or that the time is over.
    pub fn parts_under_drfh(&self, bought: &[u64]) -> Result<Vec<f64>, InstanceError> {
        let servers = self.candidates.servers(bought, 1);
        let parts = self.candidates.parts_under_drfh(self.solver, &servers)?;
        self.in_time().map(|()| parts)
    }

    /// The cheapest purchase that passes, as far as one is found. All that pass keep `rows`, which are forgotten in the end: no bound
    /// is made of them.
    fn cheapest_checked<T>(
        &mut self,
        rows: Vec<Cut>,
        check: &mut Check<'_, T>,
    ) -> Result<Checked<T>, InstanceError> {
        let checked = self.cheapest_kept(rows, check);
        self.cuts.retain(|cut| !cut.prices.is_empty());
        checked
    }

    fn cheapest_kept<T>(
        &mut self,
        mut rows: Vec<Cut>,
        check: &mut Check<'_, T>,
    ) -> Result<Checked<T>, InstanceError> {
        let Some(divided) = self.cheapest(1.0)? else { return Ok(Checked::Unreachable) };
        let bound = divided.bound;
        let mut rounds = divided.rounds;
        let mut best = check(self, &divided.counts)?.map(|known| (divided, known));
        let (mut short, mut excess) = (0.0, if rows.is_empty() { EXCESS.0 } else { 0.0 });
        while best.is_none() && excess <= EXCESS.1 {
            let Some(more) = self.cheapest_with(&mut rows, 1.0 + excess)? else { break };
            rounds += more.rounds;
            match check(self, &more.counts)? {
                Some(known) => best = Some((more, known)),
                None => (short, excess) = (excess, f64::max(2.0 * excess, EXCESS.0)),
            }
        }
        let Some((mut purchase, mut known)) = best else { return Ok(Checked::Failed) };
        if purchase.cost > bound * (1.0 + CHEAPEST) {
            for _ in 0..if excess > short { HALVINGS } else { 0 } {
                let middle = 0.5 * (short + excess);
                let Some(less) = self.cheapest_with(&mut rows, 1.0 + middle)? else { break };
                rounds += less.rounds;
                match check(self, &less.counts)? {
                    Some(found) if less.cost <= purchase.cost => {
                        (purchase, known, excess) = (less, found, middle)
                    }
                    Some(_) => excess = middle,
                    None => short = middle,
                }
            }
            let mut trials = 0;
            for at in self.dearest_first() {
                while purchase.counts[at] > 0 && trials < TRIALS {
                    trials += 1;
                    let mut fewer = purchase.counts.clone();
                    fewer[at] -= 1;
                    let Some(found) = check(self, &fewer)? else { break };
                    (purchase, known) = (self.purchase(fewer, bound, purchase.part), found);
                }
            }
        }
        let part = self.part_with(&purchase.counts)?;
        let purchase = Purchase { rounds, ..self.purchase(purchase.counts, bound, part) };
        Ok(Checked::Found(purchase, known))
    }

    /// The cheapest purchase with which every user reaches `part` of what is asked for, and that keeps the rows as far; those that it
    /// would break are taken out of `rows` and count from then on.
    fn cheapest_with(&mut self, rows: &mut Vec<Cut>, part: f64) -> Result<Option<Purchase>, InstanceError> {
        loop {
            let Some(purchase) = self.cheapest(part)? else { return Ok(None) };
            let counts: Vec<f64> = purchase.counts.iter().map(|count| *count as f64).collect();
            let known = self.cuts.len();
            self.cuts.extend(rows.extract_if(.., |row| row.is_broken_by(&counts, part)));
            if self.cuts.len() == known {
                return Ok(Some(purchase));
            }
        }
    }

    /// The placement, under the rules of whole tasks or without them, if it has all that is required; otherwise who is short of most.
    fn placed(
        &self,
        bought: &[u64],
        with_rules: bool,
        place: &mut PlaceAll<'_>,
    ) -> Result<Result<Placement, Short>, InstanceError> {
        self.in_time()?;
        let candidates = &self.candidates;
        let servers = candidates.servers(bought, 1);
        let asking: Vec<usize> = candidates.asking().collect();
        let sizes: Vec<f64> =
            (0..candidates.required.len()).map(|i| self.size_of_task(i, &servers)).collect();
        let largest = asking.iter().map(|i| sizes[*i]).fold(0.0, f64::max);
        let mut short = None;
        for order in [ServingOrder::LargestFirst, ServingOrder::Evenly] {
            // As many tasks as are required, and weights that make all users near their last at the same time, or all whose
            // tasks are about as large.
            let variant = candidates.whole(&servers, with_rules, |user, i, totals| {
                let demand = candidates.demand_of(i).iter().zip(totals);
                let share = demand.filter(|(d, _)| **d > 0.0).map(|(d, total)| d / total).fold(0.0, f64::max);
                let turn = match order {
                    // Around 0: weights have a range.
                    ServingOrder::LargestFirst => {
                        (SIZES - 1.0) / 2.0 - (largest / sizes[i]).log2().floor().min(SIZES - 1.0)
                    }
                    ServingOrder::Evenly => 0.0,
                };
                user.tasks = Some(candidates.required[i] as u64);
                // Beside demands in bytes a policy compares shares exactly, and more digits are more than it can.
                user.weight =
                    Decimal::rounded(candidates.required[i] * share * AHEAD.powf(turn), DIGITS).ok()?;
                Some(())
            })?;
            let placement = place(&variant, order)?;
            let has_all = |(i, tasks): (&usize, &u64)| *tasks as f64 >= candidates.required[*i];
            if asking.iter().zip(&placement.tasks).all(has_all) {
                return Ok(Ok(self.of_all_users(&asking, placement)));
            }
            let missing = |(i, tasks): (&usize, &u64)| Short {
                bought: bought.to_vec(),
                user: *i,
                placed: *tasks,
                required: candidates.required[*i] as u64,
            };
            let all = asking.iter().zip(&placement.tasks).map(missing);
            short = all.min_by(|a, b| a.part().total_cmp(&b.part()));
        }
        // Whom nothing is asked of is short of nothing.
        let nobody = || InstanceError::Unsupported("nothing is asked for of any user".into());
        short.map(Err).ok_or_else(nobody)
    }

    /// The purchase with which most of a user's tasks are placed that was found by asking for parts of what its rules need.
    fn most_under_rules(&mut self, short: Short, place: &mut PlaceAll<'_>) -> Result<Short, InstanceError> {
        let rows = self.rows_of_rules()?;
        let (mut best, mut low, mut high) = (short, 0.0, 1.0);
        for _ in 0..HALVINGS {
            let middle = 0.5 * (low + high);
            match self.cheapest_with(&mut rows.clone(), middle)? {
                None => high = middle,
                Some(purchase) => {
                    low = middle;
                    let placed = self.placed(&purchase.counts, true, place)?;
                    let more =
                        placed.err().filter(|other| other.user == best.user && other.placed > best.placed);
                    best = more.unwrap_or(best);
                }
            }
        }
        self.cuts.retain(|cut| !cut.prices.is_empty());
        Ok(best)
    }

    /// Tasks of a user that only its rules keep out, and what to do.
    fn by_rules(&self, short: &Short) -> KeptOut {
        let advice = match self.is_offered_to(short.user) {
            true => self.more_to_allow(),
            false => "; offer servers on which it may run, or ask for less".into(),
        };
        let spread = match self.candidates.ruled().users[short.user].spread {
            Some(_) => "; a spread needs servers in each of the domains that the user may run in",
            None => "",
        };
        let Short { placed, required, .. } = *short;
        let advice = format!("{spread}{advice}").trim_start_matches("; ").to_owned();
        KeptOut { rules: self.rules_of(short.user), placed, required, advice }
    }

    /// Whether anything that may be bought takes tasks of a user.
    pub fn is_offered_to(&self, user: usize) -> bool {
        let rates = self.candidates.rates(user);
        (0..self.candidates.len()).any(|s| rates[s] > 0.0 && self.is_offered(s))
    }

    /// Whole tasks that were not all placed, and what to do.
    fn not_placed(&self, short: &Short) -> KeptOut {
        let advice = match self.is_offered_to(short.user) {
            true => self.more_to_allow(),
            false => "; it fits on no server that may be bought, and those that there are have no more room; offer one that takes it".into(),
        };
        let advice = format!("a task is {}{advice}", self.candidates.task_of(short.user));
        KeptOut { rules: Vec::new(), placed: short.placed, required: short.required, advice }
    }

    /// What could be allowed, if anything is not.
    fn more_to_allow(&self) -> String {
        let is_limited = self.catalog.types.iter().any(|kind| kind.limit.is_some());
        match (is_limited, self.master.budget.is_some()) {
            (true, true) => "; raise limits or the budget, or ask for less",
            (true, false) => "; raise limits, or ask for less",
            (false, true) => "; raise the budget, or ask for less",
            (false, false) => "; ask for less, or offer other servers",
        }
        .into()
    }

    /// The part of a server that one task of a user takes, of the servers that hold the fewest; where few may run on one, these are
    /// large.
    fn size_of_task(&self, user: usize, servers: &[u64]) -> f64 {
        let candidates = &self.candidates;
        let usable = (0..candidates.len()).filter(|s| servers[*s] > 0 && candidates.rates(user)[*s] > 0.0);
        let part = |s: usize| {
            let parts =
                candidates.demand_of(user).iter().zip(candidates.capacity_of(s)).filter(|(d, _)| **d > 0.0);
            parts.map(|(demand, capacity)| demand / capacity).fold(0.0, f64::max)
        };
        let most = candidates.ruled().users[user].per_server;
        usable.map(part).fold(most.map_or(0.0, |most| 1.0 / most as f64), f64::max)
    }

    /// A placement of the users of whom something is asked, at the positions of all users.
    fn of_all_users(&self, asking: &[usize], placement: Placement) -> Placement {
        let mut tasks = vec![0; self.candidates.required.len()];
        asking.iter().zip(&placement.tasks).for_each(|(i, placed)| tasks[*i] = *placed);
        let on = |server: Vec<(u32, u64)>| {
            server.into_iter().map(|(user, tasks)| (asking[user as usize] as u32, tasks)).collect()
        };
        let servers = placement.servers.into_iter().map(on).collect();
        Placement { tasks, servers }
    }
}
