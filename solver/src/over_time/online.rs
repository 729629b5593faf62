//! Tasks over server classes without foresight: what rules make of the demands, one quantum after the other.
//!
//! - `cumulative-max-min` raises whoever has least so far: each quantum the lexicographic max-min of the weighted
//!   dominant shares summed up to now. Given the past nobody can do better by the user with least (what Karma Thm. 4
//!   says of one resource).
//! - `drfh` is the max-min of the quantum's own shares and remembers nothing.
//! - `strict` gives every user its weight's part of every class, and nothing of what others leave.
//! - `karma` carries Karma's credits over. A user is guaranteed the tasks that `α` times its part of every class holds;
//!   where they run is left open, so that nothing is lost to packing. The rest of the servers, donated and shared, goes
//!   to whoever has most credits. Credits are weighted dominant shares: each quantum mints `(1−α)` over the sum of the
//!   weights to everybody, what is had beyond the guaranteed share costs as much, and as much of it as was donated is
//!   paid to the donors, the poorest first. With `α = 0` it is `cumulative-max-min`, as long as nobody is out of credits.
//!
//! Parts are those of the members of a quantum; who joins starts at the mean of the others' credits, or of their shares so
//! far. The guide's page on guarantees says which of Karma's (Sec. 3.3) are left over several resources and servers, and
//! why; `tests/tests/guarantees.rs` tries each.

use super::levels::{Asked, Outcome, lexicographic};
use super::problem::{Problem, Quantum};
use crate::tolerance::over_time::{BISECTED, LEFT_OPEN, MARGIN, NO_DONATION, UNPAID};
use fairplan_instances::{Deadline, Entry, Registry, TaskAllocation, TaskDemands, UnknownName};

/// Every rule.
pub const TASK_MECHANISMS: Registry<TaskRule> = Registry::new(
    "mechanism over an instance",
    &[
        Entry {
            name: "karma",
            line: "credits for the servers that others use, who has most credits is served first",
            make: TaskRule::Karma,
        },
        Entry {
            name: "cumulative-max-min",
            line: "whoever has the least dominant share so far, by weight, is served first",
            make: TaskRule::Cumulative,
        },
        Entry {
            name: "drfh",
            line: "every quantum on its own: the max-min of dominant shares",
            make: TaskRule::Memoryless,
        },
        Entry {
            name: "strict",
            line: "everyone its part of every class, whatever the demands",
            make: TaskRule::Strict,
        },
    ],
);

/// A rule for tasks over server classes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TaskRule {
    /// Credits.
    Karma,
    /// The least so far.
    Cumulative,
    /// The least in a quantum.
    Memoryless,
    /// Parts.
    Strict,
}

/// What decides the outcome of `karma`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TaskSettings {
    /// The guaranteed fraction of a user's part, 0 to 1.
    pub alpha: f64,
    /// Everybody's credits at the start: weighted dominant shares over all quanta.
    pub initial_credits: f64,
}

/// Runs the rule called `name` over all quanta.
pub fn divide_tasks(
    name: &str,
    demands: &TaskDemands<'_>,
    settings: TaskSettings,
) -> Result<TaskAllocation, UnknownName> {
    divide_tasks_within(name, demands, settings, &Deadline::never())
}

/// The same, to end by a deadline: quanta that are not done by then have an infinite gap.
pub fn divide_tasks_within(
    name: &str,
    demands: &TaskDemands<'_>,
    settings: TaskSettings,
    deadline: &Deadline,
) -> Result<TaskAllocation, UnknownName> {
    let rule = TASK_MECHANISMS.find(name)?.0.make;
    let mut run = Run::new(demands, settings);
    let mut changes = demands.series().member_changes().into_iter().peekable();
    for quantum in 0..demands.series().quantum_count() {
        if changes.next_if_eq(&quantum).is_some() {
            run.admit(quantum);
        }
        run.quantum(rule, quantum, deadline);
    }
    Ok(TaskAllocation {
        tasks: run.tasks,
        credits: (rule == TaskRule::Karma).then_some(run.kept),
        gaps: run.gaps,
    })
}

/// What is known on the way through the quanta.
struct Run<'a> {
    demands: &'a TaskDemands<'a>,
    settings: TaskSettings,
    problem: Problem,
    /// By user its part of every class, and its weight; 0 for who is no member.
    parts: Vec<f64>,
    weights: Vec<f64>,
    /// Credits spent, or shares so far.
    account: Vec<f64>,
    tasks: Vec<f64>,
    kept: Vec<f64>,
    gaps: Vec<f64>,
}

impl<'a> Run<'a> {
    fn new(demands: &'a TaskDemands<'a>, settings: TaskSettings) -> Self {
        let users = demands.users().len();
        Self {
            problem: Problem::without_quanta(demands),
            parts: vec![0.0; users],
            weights: vec![0.0; users],
            account: vec![0.0; users],
            demands,
            settings,
            tasks: Vec::new(),
            kept: Vec::new(),
            gaps: Vec::new(),
        }
    }

    /// Lets users join and leave. Who is new starts with the mean of the accounts of those who were there (Karma Sec. 3.4).
    fn admit(&mut self, t: usize) {
        let demands = self.demands;
        let before = self.weights.iter().zip(&self.account).filter(|(weight, _)| **weight > 0.0);
        let (count, sum) = before.fold((0.0, 0.0), |(count, sum), (_, account)| (count + 1.0, sum + account));
        let mean = if count > 0.0 { sum / count } else { 0.0 };
        for (user, id) in demands.users().iter().enumerate() {
            let was_member = self.weights[user] > 0.0;
            let is_member = demands.series().membership(user).contains(&t);
            self.weights[user] = if is_member { demands.instance().user(*id).weight().to_f64() } else { 0.0 };
            if !was_member {
                self.account[user] = mean;
            }
        }
        let all: f64 = self.weights.iter().sum();
        self.parts = self.weights.iter().map(|weight| weight / all).collect();
    }

    fn quantum(&mut self, rule: TaskRule, t: usize, deadline: &Deadline) {
        let quantum = self.problem.quantum(self.demands, t);
        let users = self.parts.len();
        let mut most = vec![0.0; users];
        for (user, limit) in quantum.users.iter().zip(&quantum.limit) {
            most[*user] = limit * self.problem.users[*user].best_gain();
        }
        let mut least = vec![0.0; users];
        let base = match rule {
            TaskRule::Strict => {
                let rows = quantum.users.iter().zip(&quantum.limit);
                let rows: Vec<f64> =
                    rows.flat_map(|(user, limit)| self.own(*user, self.parts[*user], *limit)).collect();
                self.keep(&quantum, t, &rows);
                self.gaps.push(0.0);
                return;
            }
            TaskRule::Memoryless => vec![0.0; users],
            TaskRule::Cumulative => above_lowest(&quantum, &self.account),
            TaskRule::Karma => {
                let minted = (1.0 - self.settings.alpha) / self.weights.iter().sum::<f64>();
                self.account.iter_mut().for_each(|spent| *spent -= minted);
                let before: Vec<f64> =
                    self.account.iter().map(|spent| self.settings.initial_credits - spent).collect();
                for (user, limit) in quantum.users.iter().zip(&quantum.limit) {
                    let part = self.settings.alpha * self.parts[*user];
                    let whole = self.problem.users[*user].share(&self.own(*user, part, *limit));
                    // All guaranteed tasks fit; a millionth of them is left open, for whoever has no other tasks to rise in.
                    least[*user] = (1.0 - LEFT_OPEN) * whole;
                    most[*user] = most[*user].min(whole + before[*user].max(0.0));
                }
                let spent = self.account.iter().zip(&least).map(|(spent, least)| spent - least);
                above_lowest(&quantum, &spent.collect::<Vec<f64>>())
            }
        };
        let asked = Asked { base, least, most, proved: false };
        self.problem.quanta = vec![quantum];
        let Outcome { mut tasks, gap, .. } = lexicographic(&self.problem, &asked, deadline);
        let quantum = self.problem.quanta.pop().unwrap_or_default();
        let mut rows = tasks.pop().unwrap_or_default();
        self.gaps.push(gap);
        let mut gained = vec![0.0; users];
        for (user, row) in quantum.users.iter().zip(rows.chunks_exact_mut(self.classes())) {
            let (share, most) = (self.problem.users[*user].share(row), asked.most[*user]);
            // A level says what users have at least. What is left over does not go to who cannot pay for it.
            let part = if share > most * (1.0 + UNPAID) { most / share } else { 1.0 };
            row.iter_mut().for_each(|tasks| *tasks *= part);
            gained[*user] = share * part;
        }
        if rule == TaskRule::Karma {
            self.settle(&gained, &asked.least);
            let kept = self.account.iter().zip(&self.weights);
            let initial = self.settings.initial_credits;
            self.kept.extend(kept.map(|(spent, weight)| if *weight > 0.0 { initial - spent } else { 0.0 }));
        } else {
            self.account.iter_mut().zip(&gained).for_each(|(sum, gained)| *sum += gained);
        }
        self.keep(&quantum, t, &rows);
    }

    fn classes(&self) -> usize {
        self.problem.rows / self.problem.resources
    }

    /// Borrowers pay, donors are paid: the poorest first, as much as was borrowed, but no more than they donated.
    fn settle(&mut self, gained: &[f64], least: &[f64]) {
        let lent: Vec<f64> =
            gained.iter().zip(least).map(|(gained, least)| (gained - least).max(0.0)).collect();
        let mut due: f64 = lent.iter().zip(&self.weights).map(|(lent, weight)| lent * weight).sum();
        self.account.iter_mut().zip(&lent).for_each(|(spent, lent)| *spent += lent);
        let donated: Vec<f64> = (0..least.len())
            .map(|user| {
                let whole = self.own(user, self.settings.alpha * self.parts[user], f64::INFINITY);
                (self.problem.users[user].share(&whole) - least[user] - NO_DONATION).max(0.0)
            })
            .collect();
        let all: f64 = donated.iter().zip(&self.weights).map(|(donated, weight)| donated * weight).sum();
        due = due.min(all);
        // The level to which the accounts of donors fall: bisection, every donor from its own down by what it donated.
        let paid = |level: f64, user: usize| (self.account[user] - level).clamp(0.0, donated[user]);
        let sum =
            |level: f64| -> f64 { (0..least.len()).map(|user| paid(level, user) * self.weights[user]).sum() };
        let mut high = self.account.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let mut low = high - 1.0;
        while sum(low) < due * (1.0 - BISECTED) {
            low = high - 2.0 * (high - low);
        }
        for _ in 0..100 {
            let middle = 0.5 * (low + high);
            if sum(middle) >= due { low = middle } else { high = middle }
        }
        let paid: Vec<f64> = (0..least.len()).map(|user| paid(low, user)).collect();
        self.account.iter_mut().zip(paid).for_each(|(spent, paid)| *spent -= paid);
    }

    /// Up to `limit` tasks of a user on its own part of every class, where they give most, as a row over the classes.
    fn own(&self, user: usize, part: f64, limit: f64) -> Vec<f64> {
        let member = &self.problem.users[user];
        let mut slots: Vec<usize> = (0..member.classes.len()).collect();
        slots.sort_by(|a, b| member.gain[*b].total_cmp(&member.gain[*a]));
        let mut row = vec![0.0; self.classes()];
        let mut left = limit;
        for slot in slots {
            let tasks = (part * member.alone[slot] * (1.0 - MARGIN)).min(left);
            row[member.classes[slot]] = tasks;
            left -= tasks;
        }
        row
    }

    /// Adds the quantum's tasks in the order of the series.
    fn keep(&mut self, quantum: &Quantum, t: usize, rows: &[f64]) {
        let classes = self.classes();
        super::in_order(self.demands.series().demands(t).0, quantum, rows, classes, &mut self.tasks);
    }
}

/// How far everybody's account is above the lowest of those who demand something.
fn above_lowest(quantum: &Quantum, account: &[f64]) -> Vec<f64> {
    let lowest = quantum.users.iter().map(|user| account[*user]).fold(f64::INFINITY, f64::min);
    account.iter().map(|account| (account - lowest).max(0.0)).collect()
}
