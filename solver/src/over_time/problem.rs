//! The problem in the solver's terms: what a task takes of each class and is worth to its user, quantum by quantum.

use fairplan_instances::{ClassId, ResourceId, TaskDemands, pieces_together};

/// Tasks of several users over the same classes in every quantum. A class has 1 of each resource.
pub(crate) struct Problem {
    pub resources: usize,
    /// Classes times resources.
    pub rows: usize,
    /// By row the part that a class has of a resource of the cluster.
    pub part: Vec<f64>,
    pub users: Vec<Member>,
    pub quanta: Vec<Quantum>,
}

/// A user: where its tasks can run, and what they take and give there.
pub(crate) struct Member {
    /// The classes that it can use.
    pub classes: Vec<usize>,
    /// For each of them the parts of its resources that one task takes.
    pub load: Vec<f64>,
    /// For each of them what one task adds to the user's standing: its weighted dominant share or its part of the welfare.
    pub gain: Vec<f64>,
    /// For each of them the tasks that fill it.
    pub alone: Vec<f64>,
}

/// The demands of a quantum.
#[derive(Clone, Default)]
pub(crate) struct Quantum {
    /// Who demands something and can use some class.
    pub users: Vec<usize>,
    /// How many tasks.
    pub limit: Vec<f64>,
}

impl Member {
    /// The most that one task gives.
    pub fn best_gain(&self) -> f64 {
        self.gain.iter().copied().fold(0.0, f64::max)
    }

    /// What a row of tasks over the classes gives.
    pub fn share(&self, row: &[f64]) -> f64 {
        self.classes.iter().zip(&self.gain).map(|(class, gain)| gain * row[*class]).sum()
    }
}

impl Problem {
    /// Quanta, or parts of them, that a thread works through at least: all of a small problem.
    pub fn quanta_together(&self) -> usize {
        let demands: usize = self.quanta.iter().map(|quantum| quantum.users.len()).sum();
        pieces_together(demands * self.rows)
    }

    /// Users and classes of `demands`, with the quanta still to be filled in.
    pub fn without_quanta(demands: &TaskDemands<'_>) -> Self {
        let instance = demands.instance();
        let resources = instance.resources().len();
        let capacity = |class: usize, r: usize| {
            let class = &instance.classes()[class];
            class.count as f64 * class.capacity[r].to_f64()
        };
        let member = |position: usize| {
            let user = instance.user(demands.users()[position]);
            let mut member =
                Member { classes: Vec::new(), load: Vec::new(), gain: Vec::new(), alone: Vec::new() };
            let worth = demands.worth()[position];
            for class in (0..instance.classes().len()).filter(|class| user.can_use(ClassId(*class))) {
                let rate = user.rule().rate(ClassId(class)).to_f64();
                let loads = user.demand_doubles().iter().enumerate();
                let loads: Vec<f64> = loads
                    .map(|(r, demand)| if *demand > 0.0 { demand / capacity(class, r) } else { 0.0 })
                    .collect();
                member.classes.push(class);
                member.gain.push(worth * rate);
                member.alone.push(1.0 / loads.iter().copied().fold(0.0, f64::max));
                member.load.extend(loads);
            }
            member
        };
        let users = (0..demands.users().len()).map(member).collect();
        let rows = resources * instance.classes().len();
        let totals: Vec<f64> = (0..resources).map(|r| instance.total(ResourceId(r))).collect();
        let part = |row: usize| match totals[row % resources] {
            0.0 => 0.0,
            total => capacity(row / resources, row % resources) / total,
        };
        Self { resources, rows, part: (0..rows).map(part).collect(), users, quanta: Vec::new() }
    }

    /// The demands of quantum `t` of `demands`.
    pub fn quantum(&self, demands: &TaskDemands<'_>, t: usize) -> Quantum {
        let (users, tasks) = demands.series().demands(t);
        let counting = users.iter().zip(tasks).map(|(user, tasks)| (*user as usize, *tasks as f64));
        let (users, limit) = counting.filter(|(user, _)| !self.users[*user].classes.is_empty()).unzip();
        Quantum { users, limit }
    }

    /// All quanta of `demands`.
    pub fn new(demands: &TaskDemands<'_>) -> Self {
        let mut problem = Self::without_quanta(demands);
        problem.quanta = (0..demands.series().quantum_count()).map(|t| problem.quantum(demands, t)).collect();
        problem
    }

    /// How many pairs there are of a demand and a class that it can use.
    pub fn pairs(&self) -> usize {
        let users = self.quanta.iter().flat_map(|quantum| &quantum.users);
        users.map(|user| self.users[*user].classes.len()).sum()
    }

    /// What each user would have if all its tasks ran where they give most.
    pub fn most(&self) -> Vec<f64> {
        let mut most = vec![0.0; self.users.len()];
        for quantum in &self.quanta {
            for (user, limit) in quantum.users.iter().zip(&quantum.limit) {
                most[*user] += limit * self.users[*user].best_gain();
            }
        }
        most
    }

    /// What each user has when so many tasks run, by quantum, entry and class.
    pub fn work(&self, tasks: &[Vec<f64>]) -> Vec<f64> {
        let mut work = vec![0.0; self.users.len()];
        for (quantum, tasks) in self.quanta.iter().zip(tasks) {
            for (user, row) in quantum.users.iter().zip(tasks.chunks_exact(self.rows / self.resources)) {
                work[*user] += self.users[*user].share(row);
            }
        }
        work
    }

    /// No tasks, by quantum, entry and class.
    pub fn nothing(&self) -> Vec<Vec<f64>> {
        let classes = self.rows / self.resources;
        self.quanta.iter().map(|quantum| vec![0.0; quantum.users.len() * classes]).collect()
    }
}
