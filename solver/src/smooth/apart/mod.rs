//! Sums in which some users are next to nothing: who has what it would take by its own measure is settled, and the others are solved for
//! again, with what is left.
//!
//! With a large α a sum is nearly all that of the smallest shares. Once it is known to the last digit, what users with larger shares have,
//! on servers that the others do not need, may still be anything: by less than rounding they add to it. Among themselves they are a sum like
//! any other. So prices come from several sums, those of a row from the first in which somebody settled pays for it. They prove the whole
//! sum, and what each user has besides.

mod in_bins;
mod keeping;
mod offers;
mod settled;

use super::LinearSum;
use super::bundles::{Finding, Found, Paid, User, find, find_beside_paid};
use super::utility::Utility;
use crate::interior_point::InteriorPoint;
use crate::level::{Groups, LevelProblem};
use crate::reduction::Reduction;
use crate::tolerance::sum::STAGES;
use fairplan_instances::{Deadline, InstanceError};
use in_bins::find_in_bins;
pub(super) use keeping::keeping;
use offers::Offers;
use settled::{Counting, Sum};
use std::ops::Range;

/// Sums one after the other, at most: each settles somebody, or changes by how much somebody counts.
const MOST_SUMS: usize = 100;
const MOST_CHANGES: usize = 30;
/// Steps of interior points over all of them after which no further sum is begun: what closes takes some two thousand, and what takes these seldom
/// closes.
const MOST_STEPS: u64 = 5_000;

/// The users of a problem in a reduction, where they have no kinds.
pub(super) struct Plain<'a> {
    pub reduction: &'a Reduction,
    /// The position of each, rising.
    pub positions: Vec<u32>,
}

/// Shares of kinds on classes and prices, sum by sum; users with task rows must be `plain`.
///
/// # Errors
/// Where the first sum has no answer, or somebody has nothing in the end.
pub(super) fn apart(
    problem: &LevelProblem<'_>,
    users: &[User],
    plain: Option<&Plain<'_>>,
    alpha: f64,
    deadline: &Deadline,
) -> Result<Found, InstanceError> {
    let ways = Ways { problem, plain, alpha, deadline };
    let mut known = Known::nothing(problem);
    let mut left = problem.capacities.to_vec();
    let mut others: Vec<usize> = (0..users.len()).collect();
    // Who has all its tasks whatever they cost counts by no more than makes it want them.
    let mut counting: Vec<Counting> = users.iter().map(|user| Counting::fully(user.weight)).collect();
    let mut changes = MOST_CHANGES;
    for _ in 0..MOST_SUMS {
        let offers = known.sell(problem, users, &mut others, &mut left);
        if others.is_empty() || known.iterations > MOST_STEPS {
            break;
        }
        let part = Part::of(problem, users, &others, &counting, &offers, None);
        let Some(sum) = ways.best(&part, &others, &mut known)? else { break };
        // Who would rather have something of what is paid for is offered that.
        let dearer = offers.dearer(problem, users, &others, &sum);
        let beside = dearer.map(|most| Part::of(problem, users, &others, &counting, &offers, Some(&most)));
        let sum = match &beside {
            Some(part) => ways.best(part, &others, &mut known)?.filter(|other| other.told().0).unwrap_or(sum),
            None => sum,
        };
        if changes > 0 && !deadline.is_over() && sum.temper(&others, &mut counting) {
            changes -= 1;
            continue;
        }
        let settled = sum.settled();
        // Where nobody is settled the checker has the last word.
        let is_last = !settled.contains(&true) || !settled.contains(&false);
        let kept: Vec<usize> = (0..others.len()).filter(|u| is_last || settled[*u]).collect();
        known.keep(&sum, &kept, is_last, &mut left);
        others = (0..others.len()).filter(|u| !is_last && !settled[*u]).map(|u| others[u]).collect();
        if is_last || deadline.is_over() {
            break;
        }
    }
    let Known { splits, prices, utility, iterations, .. } = known;
    match utility {
        Some(utility) if others.is_empty() => Ok(Found { splits, prices, utility, iterations }),
        _ if deadline.is_over() => Err(InstanceError::OutOfTime),
        _ => Err(InstanceError::Unsupported(format!(
            "{} users add nothing to the sum by numbers too far apart to tell what they should have",
            others.len()
        ))),
    }
}

/// How each of the sums is solved.
struct Ways<'a> {
    problem: &'a LevelProblem<'a>,
    plain: Option<&'a Plain<'a>>,
    alpha: f64,
    deadline: &'a Deadline,
}

/// A way to one of the sums.
enum Way<'a> {
    Together(Finding),
    /// The same where some of what is paid for may be taken.
    BesidePaid(&'a Paid),
    /// In bins, linear ones by the simplex method.
    InBins {
        plain: &'a Plain<'a>,
        is_linear: bool,
    },
}

impl<'a> Ways<'a> {
    /// The sum over a part by the first way that tells what those have who pay most, or the one that tells it of most.
    ///
    /// # Errors
    /// Where it is the first sum and no way has an answer.
    fn best<'p>(
        &self,
        part: &'p Part,
        users: &[usize],
        known: &mut Known,
    ) -> Result<Option<Sum<'p>>, InstanceError>
    where
        'a: 'p,
    {
        let mut best: Option<(Sum<'p>, (bool, usize))> = None;
        for way in self.of(part) {
            let found = match self.find(&way, part, users) {
                Ok(found) => found,
                Err(error) if known.utility.is_none() && best.is_none() => return Err(error),
                Err(_) => continue,
            };
            known.iterations += found.iterations;
            let sum = Sum::new(part, part.problem(self.problem), found);
            let told = sum.told();
            let is_enough = told.0;
            if best.as_ref().is_none_or(|(_, most)| told > *most) {
                best = Some((sum, told));
            }
            if is_enough || self.deadline.is_over() || known.iterations > MOST_STEPS {
                break;
            }
        }
        Ok(best.map(|(sum, _)| sum))
    }

    /// The fastest first.
    fn of<'p>(&self, part: &'p Part) -> Vec<Way<'p>>
    where
        'a: 'p,
    {
        if let Some(paid) = &part.paid {
            return vec![Way::BesidePaid(paid)];
        }
        let mut ways = Vec::new();
        ways.extend((self.alpha > 0.0).then_some(Way::Together(Finding::AtOnce)));
        ways.extend((self.alpha > STAGES.0).then_some(Way::Together(Finding::InStages)));
        if !part.has_task_rows() {
            ways.push(Way::Together(Finding::InPieces));
        }
        if let Some(plain) = self.plain {
            ways.extend((self.alpha == 0.0).then_some(Way::InBins { plain, is_linear: true }));
            ways.push(Way::InBins { plain, is_linear: false });
        }
        ways
    }

    fn find(&self, way: &Way<'_>, part: &Part, users: &[usize]) -> Result<Found, InstanceError> {
        let &Self { problem, alpha, deadline, .. } = self;
        let left = &part.capacities;
        match way {
            Way::Together(finding) => find(&part.problem(problem), &part.users, alpha, *finding, deadline),
            Way::BesidePaid(paid) => {
                Ok(find_beside_paid(&part.problem(problem), &part.users, alpha, paid, deadline))
            }
            Way::InBins { plain, is_linear: true } => {
                let solver = LinearSum { deadline: deadline.clone(), in_whole_numbers: false };
                find_in_bins(plain, (part, users), left, alpha, &solver)
            }
            Way::InBins { plain, is_linear: false } => {
                find_in_bins(plain, (part, users), left, alpha, &InteriorPoint(deadline.clone()))
            }
        }
    }
}

/// Between which numbers prices are kept, with room for sums of them and for parts.
const PRICES: Range<f64> = 1e-290..1e210;

/// A price in a unit that is as much smaller, as a logarithm, of which the number itself may be none.
fn in_unit(price: f64, log_unit: f64) -> f64 {
    let half = (0.5 * log_unit).exp();
    price * half * half
}

/// What is known so far.
struct Known {
    splits: Vec<f64>,
    /// In a unit that all sums so far leave numbers in, and which of them are known.
    prices: Vec<f64>,
    is_priced: Vec<bool>,
    utility: Option<Utility>,
    iterations: u64,
}

impl Known {
    fn nothing(problem: &LevelProblem<'_>) -> Self {
        Self {
            splits: vec![0.0; problem.groups.class.len()],
            prices: vec![0.0; problem.capacities.len()],
            is_priced: vec![false; problem.capacities.len()],
            utility: None,
            iterations: 0,
        }
    }

    /// Keeps the prices that some users of a sum pay; all of them if it is the last.
    fn pay(&mut self, sum: &Sum<'_>, users: &[usize], is_last: bool) {
        let utility = sum.found.utility;
        let holds = sum.rows_that_hold(users);
        let paid: Vec<usize> =
            (0..self.prices.len()).filter(|row| !self.is_priced[*row] && (is_last || holds[*row])).collect();
        let log_unit = self.make_room_for(utility, paid.iter().map(|row| sum.found.prices[*row]));
        for row in paid {
            (self.prices[row], self.is_priced[row]) = (in_unit(sum.found.prices[row], log_unit), true);
        }
    }

    /// By how much, as a logarithm, prices of a sum with this utility are larger in the unit of those that are known. Where these would be too small
    /// for numbers there, the unit is made smaller, as far as the largest price allows.
    fn make_room_for(&mut self, utility: Utility, prices: impl Iterator<Item = f64>) -> f64 {
        let Some(known) = self.utility else {
            self.utility = Some(utility);
            return 0.0;
        };
        let log_unit = known.log_scale() - utility.log_scale();
        let least = prices.filter(|price| *price > 0.0).fold(f64::INFINITY, f64::min);
        let largest = self.prices.iter().copied().fold(0.0, f64::max);
        let lacking = PRICES.start.ln() - (least.ln() + log_unit);
        let more = lacking.min(PRICES.end.ln() - largest.ln());
        if !(more.is_finite() && more > 0.0) {
            return log_unit;
        }
        self.prices.iter_mut().for_each(|price| *price = in_unit(*price, more));
        self.utility = Some(known.scaled(more));
        log_unit + more
    }

    /// Puts everybody where a sum does.
    fn place(&mut self, sum: &Sum<'_>) {
        sum.part.pairs.iter().zip(&sum.splits).for_each(|(pair, split)| self.splits[*pair] = *split);
    }

    /// What some users have of a sum, and the prices that they pay. Takes what they use from what is left.
    fn keep(&mut self, sum: &Sum<'_>, users: &[usize], is_last: bool, left: &mut [f64]) {
        self.pay(sum, users, is_last);
        for line in users.iter().flat_map(|user| sum.part.users[*user].lines.clone()) {
            for pair in sum.part.groups.pairs(line) {
                let split = sum.splits[pair];
                self.splits[sum.part.pairs[pair]] = split;
                sum.problem
                    .needs(line, pair)
                    .for_each(|(row, d)| left[row] = (left[row] - d * split).max(0.0));
            }
        }
        // What is paid for is used up, and dear to the others.
        left.iter_mut().zip(&self.is_priced).filter(|(_, is)| **is).for_each(|(left, _)| *left = 0.0);
    }
}

impl Known {
    /// Who needs what others have paid for pays as much, and takes next to nothing of it; but what is left may be less than that. What the others are
    /// offered then.
    fn sell(
        &mut self,
        problem: &LevelProblem<'_>,
        users: &[User],
        others: &mut Vec<usize>,
        left: &mut [f64],
    ) -> Offers {
        loop {
            let offers = Offers::to(self, problem, users, others, left);
            let is_free =
                |user: &usize| users[*user].lines.clone().all(|line| offers.has_some_left(problem, line));
            let (free, stuck): (Vec<usize>, Vec<usize>) = others.iter().copied().partition(is_free);
            if stuck.is_empty() {
                return offers;
            }
            *others = free;
            stuck.iter().for_each(|user| self.buy(problem, &users[*user], left));
        }
    }

    /// Gives a user what it would take at the prices that are known, where that costs least.
    fn buy(&mut self, problem: &LevelProblem<'_>, user: &User, left: &mut [f64]) {
        let Some(utility) = self.utility else { return };
        let cost_on = |line: usize, pair: usize| -> f64 {
            problem.needs(line, pair).map(|(row, d)| d * self.prices[row]).sum::<f64>()
                / problem.groups.rate[pair]
        };
        let cheapest = |line: usize| {
            let pairs = problem.groups.pairs(line).map(|pair| (pair, cost_on(line, pair)));
            pairs.min_by(|a, b| a.1.total_cmp(&b.1))
        };
        let Some(chosen) = user.lines.clone().map(cheapest).collect::<Option<Vec<_>>>() else { return };
        let cost: f64 = chosen.iter().zip(&user.parts).map(|((_, cost), part)| part * cost).sum();
        let share = if utility.alpha == 0.0 { 0.0 } else { utility.demand(user.weight, cost) };
        let share = share.min(user.cap).max(user.floor);
        if !share.is_finite() {
            return;
        }
        for ((line, (pair, _)), part) in user.lines.clone().zip(chosen).zip(&user.parts) {
            let tasks = (share * part / problem.groups.rate[pair]).min(problem.groups.limit[line]);
            self.splits[pair] = tasks;
            problem.needs(line, pair).for_each(|(row, d)| left[row] = (left[row] - d * tasks).max(0.0));
        }
    }
}

/// Some of the users, on what is left; and behind them, on all there is, those who keep what they have.
struct Part {
    /// What rows hold: what is left, or without an end where others have paid for them and these users may take some.
    capacities: Vec<f64>,
    /// What pairs cost of what others have paid for.
    paid: Option<Paid>,
    groups: Groups,
    /// By the weights with which they count now, and those that the ones have who do not keep what they have.
    users: Vec<User>,
    own_weights: Vec<f64>,
    /// Of each pair here the pair of the whole problem.
    pairs: Vec<usize>,
}

impl Part {
    /// Of users who may all have something of what is left; and of what is paid for, where that costs less than this for a unit of work of each kind.
    fn of(
        problem: &LevelProblem<'_>,
        users: &[User],
        of: &[usize],
        counting: &[Counting],
        offers: &Offers,
        most: Option<&[f64]>,
    ) -> Self {
        let own_weights = of.iter().map(|u| users[*u].weight).collect();
        let mut part = Self {
            capacities: offers.left.clone(),
            paid: None,
            groups: Groups::new(),
            users: Vec::new(),
            own_weights,
            pairs: Vec::new(),
        };
        let mut of_pairs = Vec::new();
        for (user, weight) in of.iter().map(|u| (&users[*u], counting[*u].weight)) {
            let (first, mut cap) = (part.groups.len(), user.cap);
            for line in user.lines.clone() {
                // Unless one has nothing else, or would rather have it, nothing of what is paid for.
                let is_left = |pair: usize| offers.is_left(problem, line, pair);
                let most = match most {
                    _ if !problem.groups.pairs(line).any(is_left) => f64::INFINITY,
                    Some(most) => most[part.groups.len()],
                    None => 0.0,
                };
                let (pairs, prices): (Vec<usize>, Vec<f64>) =
                    offers.pairs(problem, line, most).into_iter().unzip();
                of_pairs.extend(prices);
                let of_pair =
                    |pair: &usize| (problem.groups.class[*pair] as usize, problem.groups.rate[*pair]);
                let pattern = problem.groups.pattern[line];
                part.groups.push(problem.load(line), pattern, true, pairs.iter().map(of_pair));
                let rate = |pair: &usize| problem.groups.rate[*pair];
                let fastest = pairs.iter().map(rate).fold(0.0, f64::max);
                cap = cap.min(problem.groups.limit[line] * fastest);
                // A task row says as much, and more.
                if pairs.iter().any(|pair| rate(pair) < fastest) && problem.groups.limit[line] < f64::INFINITY
                {
                    (part.groups.limit[first], cap) = (problem.groups.limit[line], f64::INFINITY);
                }
                part.pairs.extend(pairs);
            }
            let floor = user.floor;
            let lines = first..part.groups.len();
            part.users.push(User { weight, cap, floor, lines, parts: user.parts.clone() });
        }
        if let Some(log_scale) = offers.log_scale().filter(|_| of_pairs.iter().any(|price| *price > 0.0)) {
            part.capacities = offers.with_paid();
            part.paid = Some(Paid { of_pairs, log_scale });
        }
        part
    }

    fn problem<'a>(&'a self, whole: &LevelProblem<'a>) -> LevelProblem<'a> {
        LevelProblem { capacities: &self.capacities, groups: &self.groups, ..*whole }
    }

    /// The tasks of a user without kinds that has a task row.
    fn limit_of(&self, user: usize) -> f64 {
        self.groups.limit[self.users[user].lines.start]
    }

    fn has_task_rows(&self) -> bool {
        self.groups.limit.iter().any(|limit| *limit < f64::INFINITY)
    }

    fn pairs_of(&self, user: usize) -> impl Iterator<Item = usize> + '_ {
        self.users[user].lines.clone().flat_map(|line| self.groups.pairs(line))
    }
}

#[cfg(test)]
mod tests {
    use crate::question::Question;
    use crate::ways::{Way, solve};
    use approx::assert_relative_eq;
    use fairplan_instances::{
        ClassId, Deadline, Decimal, Instance, InstanceBuilder, NewUser, Objective, PlacementRule,
        ServerClass, Status, UserId,
    };

    /// Servers of one resource, and users with a weight who can run on some of them.
    fn instance(servers: &[u32], users: &[(&[usize], u32)]) -> Instance {
        let mut builder = InstanceBuilder::new("", vec!["cpu".into()]).unwrap();
        for (l, cores) in servers.iter().enumerate() {
            builder.class(ServerClass::new(format!("c{l}"), 1, vec![Decimal::from(*cores)])).unwrap();
        }
        for (i, (eligible, weight)) in users.iter().enumerate() {
            let eligible = eligible.iter().map(|l| ClassId(*l)).collect();
            let rule = builder.rule(PlacementRule::new(Some(eligible), Vec::new()));
            let (id, weight) = (format!("u{i}"), Decimal::from(*weight));
            builder.user(NewUser { weight, rule, ..NewUser::new(&id, &[Decimal::ONE]) }).unwrap();
        }
        builder.build().unwrap()
    }

    #[test]
    fn who_adds_nothing_to_a_sum_has_what_is_best_by_its_own_measure() {
        for servers in [[1, 5], [1, 10], [1, 30], [2, 1_000]] {
            let instance = instance(&servers, &[(&[0], 1), (&[1], 1), (&[1], 2)]);
            for alpha in [8.0f64, 20.0, 32.0, 64.0] {
                let objective = Objective::alpha_fair(alpha).unwrap();
                let deadline = Deadline::never();
                let question = Question::new(&instance, objective, "auto", &deadline);
                let solution = solve(&question, &[Way::Apart], &mut |_| true).unwrap();
                assert_eq!(solution.status, Status::Optimal, "{servers:?}, alpha {alpha}");
                let tasks = |i: usize| solution.allocation.tasks(UserId(i));
                let [small, large] = servers.map(f64::from);
                assert_relative_eq!(tasks(0), small, max_relative = 1e-9);
                assert_relative_eq!(tasks(1) + tasks(2), large, max_relative = 1e-4);
                assert_relative_eq!(tasks(2) / tasks(1), 2f64.powf(1.0 / alpha), max_relative = 1e-4);
            }
        }
    }

    /// A user that could run where another is alone, and would have next to nothing there.
    #[test]
    fn who_could_run_where_tasks_are_dear_runs_them_where_they_are_not() {
        let instance = instance(&[1, 100], &[(&[0], 1), (&[0, 1], 1), (&[1], 1)]);
        let deadline = Deadline::never();
        let question = Question::new(&instance, Objective::alpha_fair(32.0).unwrap(), "auto", &deadline);
        let solution = solve(&question, &[Way::Apart], &mut |_| true).unwrap();
        assert_eq!(solution.status, Status::Optimal);
        for (user, tasks) in [1.0, 50.0, 50.0].into_iter().enumerate() {
            assert_relative_eq!(solution.allocation.tasks(UserId(user)), tasks, max_relative = 1e-4);
        }
    }

    /// Where its tasks run makes no difference to the first, whose worth is all of the sum: they run where the others miss them least. Three
    /// times as fast on one class, it runs what fits there.
    #[test]
    fn who_has_all_its_tasks_leaves_the_others_what_they_need() {
        let tasks = |rates: &[(usize, u32)]| {
            let mut builder = InstanceBuilder::new("", vec!["cpu".into()]).unwrap();
            for (id, cores) in [("large", 80), ("small", 20)] {
                builder.class(ServerClass::new(id, 1, vec![Decimal::from(cores)])).unwrap();
            }
            for (id, classes, tasks) in [("few", &[0, 1][..], Some(8)), ("a", &[0], None), ("b", &[1], None)]
            {
                let eligible = classes.iter().map(|l| ClassId(*l)).collect();
                let rates = rates.iter().filter(|_| tasks.is_some());
                let rates = rates.map(|(l, rate)| (ClassId(*l), Decimal::from(*rate))).collect();
                let rule = builder.rule(PlacementRule::new(Some(eligible), rates));
                builder.user(NewUser { tasks, rule, ..NewUser::new(id, &[Decimal::ONE]) }).unwrap();
            }
            let (instance, deadline) = (builder.build().unwrap(), Deadline::never());
            let question = Question::new(&instance, Objective::alpha_fair(64.0).unwrap(), "auto", &deadline);
            let solution = solve(&question, &[Way::Apart], &mut |_| true).unwrap();
            assert_eq!(solution.status, Status::Optimal);
            [0, 1, 2].map(|user| solution.allocation.tasks(UserId(user)))
        };
        for (found, known) in tasks(&[]).into_iter().zip([8.0, 72.0, 20.0]) {
            assert_relative_eq!(found, known, max_relative = 1e-4);
        }
        for (found, known) in tasks(&[(0, 3)]).into_iter().zip([8.0, 72.0, 20.0]) {
            assert_relative_eq!(found, known, max_relative = 1e-4);
        }
    }

    /// Two users need what the first two pay for, but next to nothing of it beside what is left to them: they take as much as that costs.
    #[test]
    fn who_needs_next_to_nothing_of_what_is_paid_for_takes_what_is_left_at_its_price() {
        let mut builder = InstanceBuilder::new("", vec!["cpu".into(), "memory".into()]).unwrap();
        let amounts = |cpu: u32, memory: u32| [Decimal::from(cpu), Decimal::from(memory)];
        builder.class(ServerClass::new("c", 2, amounts(2_620_000, 588).to_vec())).unwrap();
        for (id, cpu, memory, rate) in [
            ("memory", 0, 420, "1"),
            ("both", 5_050_000, 353, "1"),
            ("slow", 4_220_000, 0, "0.00992"),
            ("fast", 9_070_000, 871, "8590"),
            ("less", 1_260_000, 967, "676"),
        ] {
            let rule = builder.rule(PlacementRule::new(None, vec![(ClassId(0), rate.parse().unwrap())]));
            builder.user(NewUser { rule, ..NewUser::new(id, &amounts(cpu, memory)) }).unwrap();
        }
        let (instance, deadline) = (builder.build().unwrap(), Deadline::never());
        let question = Question::new(&instance, Objective::alpha_fair(64.0).unwrap(), "auto", &deadline);
        let solution = solve(&question, &[Way::Apart], &mut |_| true).unwrap();
        assert_eq!(solution.status, Status::Optimal);
        let share = |user: usize| solution.allocation.dominant_share(&instance, UserId(user));
        // Where (w / cost)^(1/64) is the same, at the price of what the second user has.
        let cost = |cpu: f64, rate: f64, part: f64| cpu / rate / part;
        let second = cost(5_050_000.0, 1.0, 5_050_000.0 / 5_240_000.0);
        for (user, cpu, rate, memory) in [(3, 9_070_000.0, 8590.0, 871.0), (4, 1_260_000.0, 676.0, 967.0)] {
            let part = f64::max(cpu / 5_240_000.0, memory / 1_176.0);
            let expected = share(1) * (second / cost(cpu, rate, part)).powf(1.0 / 64.0);
            assert_relative_eq!(share(user), expected, max_relative = 1e-3);
        }
        assert!(share(0) > 0.9 && share(0) < 1.0);
    }
}
