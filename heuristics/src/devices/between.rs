//! Rules between servers while they are filled: which domains one more task of a shape may go to, and whether a whole gang has room
//! before its first task is placed, so that only quotas, which know nothing of it, can make anything to be undone.
//!
//! Tasks of a gang are alike. So each server holds a number of them that depends on nothing but what it has free, and whether a gang
//! has room is a matter of these numbers. With a spread of `s`, tasks placed one at a time where no domain gets more than `s` above
//! another reach, in a domain with `c` tasks and room for `k` more, the lesser of `c + k` and `m + s`, where `m` is the least
//! `c + k` of all domains; no placement within the spread has more.

use crate::packing::Packing;
use fairplan_instances::{ClassId, Gang, Instance, KindId};

/// Where the domains are, and what tasks of each shape, which are kinds, may do there.
pub(crate) struct Between {
    /// The domain of each class; all are one where there are none.
    of_class: Vec<usize>,
    /// How many there are.
    domains: usize,
    of_shape: Vec<Option<Spread>>,
    /// How many servers of each domain are there, where these come and go.
    servers: Vec<u64>,
    /// The domains that the tasks of the gang that is being placed may go to.
    open: Option<Vec<bool>>,
}

/// How the tasks of a shape are spread.
struct Spread {
    /// By how many two domains differ at most.
    most: u64,
    /// The tasks in each domain; `None` where they may not run.
    there: Vec<Option<u64>>,
}

impl Spread {
    fn least(&self) -> u64 {
        self.there.iter().flatten().min().copied().unwrap_or(0)
    }

    /// Whether a domain may have so many tasks more.
    fn allows(&self, domain: usize, more: u64) -> bool {
        let after = self.there[domain].map(|count| count.saturating_add(more));
        after.is_some_and(|after| after - self.least() <= self.most)
    }

    /// How many more tasks have room in all domains, if each has room for so many.
    fn most_more(&self, room: &[u64]) -> u64 {
        let reached = || {
            let domains = self.there.iter().zip(room);
            domains.filter_map(|(there, room)| there.map(|there| (there, there.saturating_add(*room))))
        };
        let Some(least) = reached().map(|(_, reached)| reached).min() else { return 0 };
        let highest = least.saturating_add(self.most);
        reached().fold(0, |sum: u64, (there, reached)| {
            sum.saturating_add(reached.min(highest).saturating_sub(there))
        })
    }
}

impl Between {
    pub fn new(instance: &Instance, packing: &Packing) -> Self {
        let of_class = (0..packing.classes.len()).map(|l| instance.domain_of(ClassId(l)).map_or(0, |d| d.0));
        let domains = instance.domains().len().max(1);
        let of_kind = |kind: usize| {
            let kind = instance.kind(KindId(kind));
            let most = kind.user().spread()?;
            let mut there = vec![None; domains];
            kind.domains().iter().for_each(|domain| there[domain.0] = Some(0));
            Some(Spread { most, there })
        };
        let of_shape = match instance.has_rules_between_servers() {
            true => (0..packing.shapes.len()).map(of_kind).collect(),
            false => Vec::new(),
        };
        Self { of_class: of_class.collect(), domains, of_shape, servers: Vec::new(), open: None }
    }

    /// No classes and no shapes yet, where servers come and go.
    pub fn none() -> Self {
        Self { of_class: Vec::new(), domains: 1, of_shape: Vec::new(), servers: vec![0], open: None }
    }

    /// The next class is in this domain.
    pub fn add_class(&mut self, domain: usize) {
        self.of_class.push(domain);
        self.domains = self.domains.max(domain + 1);
        self.servers.resize(self.domains, 0);
        self.of_shape.iter_mut().flatten().for_each(|spread| spread.there.resize(self.domains, None));
    }

    /// The next shape, of which two domains differ by at most so many tasks.
    pub fn add_shape(&mut self, spread: Option<u64>) {
        let there = || self.servers.iter().map(|servers| (*servers > 0).then_some(0)).collect();
        self.of_shape.push(spread.map(|most| Spread { most, there: there() }));
    }

    /// A server of a class is there from now on; its domain counts.
    pub fn server_comes(&mut self, class: usize) {
        let domain = self.of_class[class];
        self.servers[domain] += 1;
        self.of_shape.iter_mut().flatten().for_each(|spread| _ = spread.there[domain].get_or_insert(0));
    }

    /// A server of a class is there no more, and has no tasks; without any other its domain does not count.
    pub fn server_leaves(&mut self, class: usize) {
        let domain = self.of_class[class];
        self.servers[domain] = self.servers[domain].saturating_sub(1);
        if self.servers[domain] == 0 {
            self.of_shape.iter_mut().flatten().for_each(|spread| spread.there[domain] = None);
        }
    }

    fn spread(&self, shape: usize) -> Option<&Spread> {
        self.of_shape.get(shape)?.as_ref()
    }

    /// Whether the gang that is being placed, if any is, may go to a class.
    pub fn is_open(&self, class: usize) -> bool {
        let domain = self.of_class.get(class).copied().unwrap_or(0);
        self.open.as_ref().is_none_or(|open| open[domain])
    }

    /// Whether one more task of a shape may go to a class.
    pub fn allows(&self, class: usize, shape: usize) -> bool {
        let domain = self.of_class.get(class).copied().unwrap_or(0);
        self.is_open(class) && self.spread(shape).is_none_or(|spread| spread.allows(domain, 1))
    }

    /// Counts a task of a shape on a class.
    pub fn take(&mut self, class: usize, shape: usize) {
        let spread = self.of_shape.get_mut(shape).and_then(Option::as_mut);
        if let Some(there) = spread.and_then(|spread| spread.there[self.of_class[class]].as_mut()) {
            *there += 1;
        }
    }

    /// So many tasks of a shape on a class have ended, or are taken back.
    pub fn give_back(&mut self, class: usize, shape: usize, count: u64) {
        let spread = self.of_shape.get_mut(shape).and_then(Option::as_mut);
        if let Some(there) = spread.and_then(|spread| spread.there[self.of_class[class]].as_mut()) {
            *there = there.saturating_sub(count);
        }
    }

    /// The domains in which a gang may begin: of one domain those that take it whole, otherwise all if they do together. `room`:
    /// servers with the class of each and how many tasks of the shape it has room for.
    pub fn open_to(
        &self,
        gang: Gang,
        shape: usize,
        room: impl Iterator<Item = (usize, u64)>,
    ) -> Option<Vec<bool>> {
        let mut of_domain = vec![0u64; self.domains];
        for (class, room) in room {
            let sum = &mut of_domain[self.of_class[class]];
            *sum = sum.saturating_add(room);
        }
        let spread = self.spread(shape);
        let open: Vec<bool> = if gang.in_one_domain {
            let takes = |domain: usize| {
                of_domain[domain] >= gang.tasks
                    && spread.is_none_or(|spread| spread.allows(domain, gang.tasks))
            };
            (0..self.domains).map(takes).collect()
        } else {
            let all = of_domain.iter().fold(0, |sum: u64, room| sum.saturating_add(*room));
            let together = spread.map_or(all, |spread| spread.most_more(&of_domain));
            vec![together >= gang.tasks; self.domains]
        };
        open.contains(&true).then_some(open)
    }

    /// From now on tasks of a gang may go to these domains only; `None`: to all again.
    pub fn open(&mut self, domains: Option<Vec<bool>>) {
        self.open = domains;
    }

    /// From now on tasks of a gang may go to the domain of a class only.
    pub fn open_only(&mut self, class: usize) {
        let here = self.of_class[class];
        self.open = Some((0..self.domains).map(|domain| domain == here).collect());
    }
}
