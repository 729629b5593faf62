//! The cluster as a purchase may make it: every class that there is or that can be bought, who can use it, and what is
//! asked for.

use fairplan_instances::{
    Catalog, Decimal, Draft, DraftUser, Instance, InstanceError, KindId, Objective, Solver, UserId, Violation,
};

/// Servers are counted in this many parts where fractions of them are considered.
pub(super) const PARTS: u64 = 1000;

/// Classes and types that may become classes, in one list.
pub(super) struct Candidates {
    /// The cluster with every type as a class, as divided tasks see it; counts are those of what there is.
    draft: Draft,
    /// The same with the rules that only whole tasks meet, where tasks are whole.
    ruled: Option<Draft>,
    /// Whose kinds the users here are, where they are kinds.
    bundles: Option<Bundles>,
    /// Where each type of the catalog is.
    pub of_type: Vec<usize>,
    /// Servers that there are.
    pub owned: Vec<u64>,
    /// One server's capacity, row-major `candidates × resources`.
    pub capacity: Vec<f64>,
    /// One task's demand, row-major `users × resources`.
    pub demand: Vec<f64>,
    /// Work of a task, row-major `users × candidates`; 0 where it cannot run.
    pub rate: Vec<f64>,
    /// The work asked for, by user.
    pub required: Vec<f64>,
    pub resources: usize,
}

/// Users whose tasks are of several kinds, of which each is a candidate's user.
struct Bundles {
    draft: Draft,
    /// The work asked for of each.
    required: Vec<f64>,
    /// Whose each kind is.
    user_of: Vec<usize>,
}

/// What a cluster makes of the requirements.
pub(super) enum Coverage {
    /// Every user reaches this part of what is asked for and none can exceed it for all; the prices say why, row-major
    /// `candidates × resources`.
    Part(f64, Vec<f64>),
    /// This user can run nowhere.
    Stranded(usize),
}

impl Candidates {
    /// With `whole`, tasks run only where a whole one fits on a server.
    ///
    /// # Errors
    /// Users with rates whose tasks may run out: how much work their tasks do is then no matter of capacity alone.
    pub fn new(
        instance: &Instance,
        catalog: &Catalog,
        required: Vec<f64>,
        whole: bool,
    ) -> Result<Self, Violation> {
        let mut draft = catalog.added_to(instance, &vec![0; catalog.types.len()], true);
        let ruled = whole.then(|| draft.clone());
        draft.divide();
        let mut next = instance.classes().len();
        let mut of_type = Vec::new();
        for kind in &catalog.types {
            of_type.push(kind.more_of.map_or(next, |class| class.0));
            next += usize::from(kind.more_of.is_none());
        }
        let candidates = draft.classes.len();
        let mut rate = vec![0.0; draft.users.len() * candidates];
        for (i, user) in draft.users.iter().enumerate() {
            let row = &mut rate[i * candidates..(i + 1) * candidates];
            for (s, class) in draft.classes.iter().enumerate() {
                // Types like no class are open to users that are not restricted, which `eligible` says.
                let allowed = user.eligible.as_ref().is_none_or(|eligible| eligible.contains(&s));
                let available = class.count > 0 || of_type.contains(&s);
                let fits = user.demand.iter().zip(&class.capacity).all(|(demand, capacity)| {
                    let (one, server) = (demand.to_f64(), capacity.to_f64());
                    demand.is_zero() || if whole { one <= server } else { server > 0.0 }
                });
                if allowed && available && fits {
                    row[s] = 1.0;
                }
            }
            for (class, work) in &user.rates {
                row[*class] *= work.to_f64();
            }
            let slowest = row.iter().copied().filter(|work| *work > 0.0).fold(f64::INFINITY, f64::min);
            let has_rates = row.iter().any(|work| *work > 0.0 && *work != slowest);
            if has_rates && user.tasks.is_some_and(|tasks| required[i] > tasks as f64 * slowest) {
                let problem = "may run out, and do different work on different classes: leave out the limit or the \
                               rates, or ask for less";
                return Err(Violation::new(format!("users[{i}].tasks"), "", problem));
            }
        }
        let doubles = |numbers: &Vec<Decimal>| numbers.iter().map(|x| x.to_f64()).collect::<Vec<f64>>();
        Ok(Self {
            of_type,
            owned: draft.classes.iter().map(|class| class.count).collect(),
            capacity: draft.classes.iter().flat_map(|class| doubles(&class.capacity)).collect(),
            demand: draft.users.iter().flat_map(|user| doubles(&user.demand)).collect(),
            rate,
            required,
            resources: draft.resources.len(),
            draft,
            ruled,
            bundles: None,
        })
    }

    /// The users here are the kinds of `bundles`: DRFH divides the servers among these.
    pub fn are_kinds_of(&mut self, bundles: &Instance, catalog: &Catalog, required: &[f64]) {
        let mut draft = catalog.added_to(bundles, &vec![0; catalog.types.len()], true);
        draft.divide();
        let kinds = (0..bundles.kind_count()).map(|k| bundles.kind(KindId(k)));
        let user_of = kinds.map(|kind| kind.user().index().0).collect();
        self.bundles = Some(Bundles { draft, required: required.to_vec(), user_of });
    }

    /// The user, or all kinds of the user that it is a kind of.
    pub fn together_with(&self, user: usize) -> Vec<usize> {
        match &self.bundles {
            None => vec![user],
            Some(Bundles { user_of, .. }) => {
                (0..user_of.len()).filter(|other| user_of[*other] == user_of[user]).collect()
            }
        }
    }

    pub fn len(&self) -> usize {
        self.owned.len()
    }

    pub fn rates(&self, user: usize) -> &[f64] {
        &self.rate[user * self.len()..(user + 1) * self.len()]
    }

    /// Whether a user may run on these servers, if only they held its task, and whether there are any or can be.
    pub fn is_open_to(&self, candidate: usize, user: usize) -> bool {
        let class = &self.draft.classes[candidate];
        let is_available = class.count > 0 || self.of_type.contains(&candidate);
        is_available
            && self.draft.users[user].eligible.as_ref().is_none_or(|eligible| eligible.contains(&candidate))
    }

    /// What a class or type is called.
    pub fn id_of(&self, candidate: usize) -> &str {
        &self.draft.classes[candidate].id
    }

    /// What one task of a user needs, to be told.
    pub fn task_of(&self, user: usize) -> String {
        let user = &self.draft.users[user];
        let amounts = self.draft.resources.iter().zip(&user.demand).filter(|(_, amount)| !amount.is_zero());
        let amounts: Vec<String> = amounts.map(|(name, amount)| format!("{amount} {name}")).collect();
        amounts.join(", ")
    }

    pub fn demand_of(&self, user: usize) -> &[f64] {
        &self.demand[user * self.resources..(user + 1) * self.resources]
    }

    pub fn capacity_of(&self, candidate: usize) -> &[f64] {
        &self.capacity[candidate * self.resources..(candidate + 1) * self.resources]
    }

    /// Users of whom something is asked.
    pub fn asking(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.required.len()).filter(|i| self.required[*i] > 0.0)
    }

    /// Servers in every candidate once so many of each type are bought, both in parts of one over `parts`.
    pub fn servers(&self, bought: &[u64], parts: u64) -> Vec<u64> {
        let mut servers: Vec<u64> = self.owned.iter().map(|count| count.saturating_mul(parts)).collect();
        for (candidate, count) in self.of_type.iter().zip(bought) {
            servers[*candidate] = servers[*candidate].saturating_add(*count);
        }
        servers
    }

    /// The part of what is asked for that these servers, counted in parts of one over `parts`, allow every user; and the
    /// prices that prove it.
    ///
    /// It is the first level of a max-min: with the required share of each user as its weight, an equal weighted share is
    /// an equal part of what is asked for.
    pub fn coverage(
        &self,
        solver: &dyn Solver,
        servers: &[u64],
        parts: u64,
    ) -> Result<Coverage, InstanceError> {
        let (m, candidates) = (self.resources, self.len());
        let usable = |i: usize, s: usize| self.rates(i)[s] > 0.0 && servers[s] > 0;
        let asking: Vec<usize> = self.asking().collect();
        if let Some(stranded) = asking.iter().find(|i| !(0..candidates).any(|s| usable(**i, s))) {
            return Ok(Coverage::Stranded(*stranded));
        }
        if asking.is_empty() {
            return Ok(Coverage::Part(f64::INFINITY, vec![0.0; candidates * m]));
        }
        let variant = self.instance(servers, parts, |draft, i, totals| {
            let demand = self.demand_of(i).iter().zip(totals);
            let share = demand.filter(|(d, _)| **d > 0.0).map(|(d, total)| d / total).fold(0.0, f64::max);
            draft.tasks = None;
            draft.weight = Decimal::from_f64(self.required[i] * share).ok()?;
            Some(())
        })?;
        let solution = solver.solve(&variant, Objective::Drfh)?;
        let part = |(k, i): (usize, &usize)| {
            let user = variant.user(UserId(k));
            solution.allocation.dominant_share(&variant, user.index()) / user.task_share() / self.required[*i]
        };
        let part = asking.iter().enumerate().map(part).fold(f64::INFINITY, f64::min);
        let prices = solution.certificate.levels().first().map(|level| level.prices.clone());
        Ok(Coverage::Part(part, prices.unwrap_or_else(|| vec![0.0; candidates * m])))
    }

    /// The part of what is asked for of each user that it has where DRFH divides these servers among all users as they are; infinite
    /// where nothing is asked for.
    pub fn parts_under_drfh(&self, solver: &dyn Solver, servers: &[u64]) -> Result<Vec<f64>, InstanceError> {
        let own = (&self.draft, &self.required);
        let (draft, required) = self.bundles.as_ref().map_or(own, |all| (&all.draft, &all.required));
        let mut draft = draft.clone();
        draft.classes.iter_mut().zip(servers).for_each(|(class, count)| class.set_count(*count));
        let cluster = draft.build().map_err(InstanceError::Inapplicable)?;
        let solution = solver.solve(&cluster, Objective::Drfh)?;
        let part = |i: usize| {
            let user = cluster.user(UserId(i));
            let work = solution.allocation.dominant_share(&cluster, user.index()) / user.task_share();
            if required[i] > 0.0 { work / required[i] } else { f64::INFINITY }
        };
        Ok((0..required.len()).map(part).collect())
    }

    /// Whether tasks are whole.
    pub fn are_whole(&self) -> bool {
        self.ruled.is_some()
    }

    /// The cluster with the rules that only whole tasks meet, if tasks are whole.
    pub fn ruled(&self) -> &Draft {
        self.ruled.as_ref().unwrap_or(&self.draft)
    }

    /// The instance of these servers and the users of whom something is asked, each as `shape` makes it from what it is
    /// and the totals; as divided tasks see it.
    pub fn instance(
        &self,
        servers: &[u64],
        parts: u64,
        shape: impl Fn(&mut DraftUser, usize, &[f64]) -> Option<()>,
    ) -> Result<Instance, InstanceError> {
        self.variant(&self.draft, servers, parts, shape)
    }

    /// The same of whole servers, with the rules that only whole tasks meet or without them.
    pub fn whole(
        &self,
        servers: &[u64],
        with_rules: bool,
        shape: impl Fn(&mut DraftUser, usize, &[f64]) -> Option<()>,
    ) -> Result<Instance, InstanceError> {
        self.variant(if with_rules { self.ruled() } else { &self.draft }, servers, 1, shape)
    }

    fn variant(
        &self,
        of: &Draft,
        servers: &[u64],
        parts: u64,
        shape: impl Fn(&mut DraftUser, usize, &[f64]) -> Option<()>,
    ) -> Result<Instance, InstanceError> {
        let refused = |problem: &str| InstanceError::Unsupported(problem.into());
        // What is asked for of each is a fixed amount of work, whoever belongs together.
        let mut draft = Draft { users: Vec::new(), groups: Vec::new(), ..of.clone() };
        let digits = parts.ilog10() as i32;
        let mut totals = vec![0.0; self.resources];
        for (s, class) in draft.classes.iter_mut().enumerate() {
            class.set_count(servers[s]);
            if digits > 0 {
                let part = |x: &Decimal| {
                    let coefficient = u64::try_from(x.scaled(x.exponent())?).ok()?;
                    Decimal::new(coefficient, i32::from(x.exponent()) - digits).ok()
                };
                let capacity: Option<Vec<Decimal>> = class.capacity.iter().map(part).collect();
                class.capacity = capacity.ok_or_else(|| refused("a capacity is too small to be divided"))?;
            }
            for (total, amount) in totals.iter_mut().zip(self.capacity_of(s)) {
                *total += amount * servers[s] as f64 / parts as f64;
            }
        }
        for i in self.asking() {
            let mut user = of.users[i].clone();
            let usable: Vec<usize> = (0..self.len()).filter(|s| self.rates(i)[*s] > 0.0).collect();
            user.group = None;
            user.rates.retain(|(class, _)| self.rates(i)[*class] > 0.0);
            // Domains count for tasks that are spread even where none fits.
            if user.spread.is_none() {
                user.eligible = (usable.len() < self.len()).then_some(usable);
            }
            shape(&mut user, i, &totals)
                .ok_or_else(|| refused("what is asked for is beyond 1e-30 .. 1e30; choose another unit"))?;
            draft.users.push(user);
        }
        draft.build().map_err(InstanceError::Inapplicable)
    }

    /// The least that one unit of work costs a user at these prices, over the candidates that `offered` has.
    pub fn cheapest(&self, user: usize, prices: &[f64], offered: impl Fn(usize) -> bool) -> f64 {
        let rates = self.rates(user).iter().enumerate();
        let cost = |(s, rate): (usize, &f64)| {
            let row = prices[s * self.resources..(s + 1) * self.resources].iter();
            row.zip(self.demand_of(user)).map(|(price, demand)| price * demand).sum::<f64>() / rate
        };
        rates.filter(|(s, rate)| **rate > 0.0 && offered(*s)).map(cost).fold(f64::INFINITY, f64::min)
    }
}
