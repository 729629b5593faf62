//! A rule that somebody else has: asked for the server of every task, and checked at every answer.

use crate::asked_choice::AskedChoice;
use crate::chooser::{Ahead, Chooser};
use crate::filling::fill;
use crate::first_with_room::FirstFitting;
use crate::packing::{Packing, fits};
use crate::rule::Rule;
use crate::{ClusterNames, FailureNote, PlacementError, PlacementPolicy};
use fairplan_instances::wording::printable;
use fairplan_instances::{Deadline, Instance, KindId, Placement, ResourceId, ServerChoice};
use std::cell::RefCell;
use std::ops::Range;

/// What a rule is told before it is asked.
pub struct Cluster<'a> {
    /// The instance.
    pub instance: &'a Instance,
    /// The servers of each class; servers are numbered class by class.
    pub servers: Vec<Range<usize>>,
    /// What one unit of each resource is: amounts are whole numbers of these.
    pub units: Vec<f64>,
}

/// Begins a rule.
pub type Begin = dyn Fn(&Cluster<'_>) -> Result<Box<dyn Chooser>, String> + Send + Sync;

/// Begins a rule where tasks come and go, told of the resources: it is told of servers and users as they come.
pub type BeginLive = dyn Fn(&ClusterNames) -> Result<Box<dyn Chooser>, String> + Send + Sync;

/// A policy that asks such a rule.
pub struct Asked {
    /// What results call it.
    pub name: String,
    /// Begins the rule.
    pub begin: Box<Begin>,
    /// Begins it where tasks come and go.
    pub begin_live: Box<BeginLive>,
}

impl Asked {
    /// The choice among servers whose tasks come and go. Why it broke off is noted.
    pub fn live_choice(&self, names: ClusterNames, note: FailureNote) -> Box<dyn ServerChoice> {
        Box::new(AskedChoice::new(self.name.clone(), (self.begin_live)(&names), names, note))
    }
}

impl PlacementPolicy for Asked {
    fn name(&self) -> String {
        self.name.clone()
    }

    fn place_within(&self, instance: &Instance, deadline: &Deadline) -> Result<Placement, PlacementError> {
        let failed = |problem| PlacementError::Asked { policy: self.name.clone(), problem };
        let what = "a rule of others";
        let known = instance.without_server_rules(what).and_then(|()| instance.without_quotas(what));
        known.map_err(|violation| failed(violation.to_string()))?;
        let packing = Packing::in_resources(instance)?.apart();
        let resources = (0..instance.resources().len()).map(ResourceId);
        let cluster = Cluster {
            instance,
            servers: packing.classes.iter().map(|class| class.servers.clone()).collect(),
            units: resources.map(|r| 10f64.powi(instance.unit_exponent(r).into())).collect(),
        };
        let chooser = (self.begin)(&cluster).map_err(failed)?;
        let failure = RefCell::new(None);
        let rule = Asking {
            instance,
            packing: &packing,
            free: packing.free(),
            chooser,
            ahead: Ahead::default(),
            failure: &failure,
            deadline,
        };
        let placement = fill(instance, &packing, rule, self.turn(), deadline)?;
        match failure.into_inner() {
            None => Ok(placement),
            Some(_) if deadline.is_over() => {
                Err(PlacementError::OutOfTime { placed: placement.tasks.iter().sum() })
            }
            Some(problem) => Err(failed(problem)),
        }
    }

    /// Without the names of the cluster nothing is asked, see [`Asked::live_choice`]: the first server with room has the task.
    fn choice(&self, totals: &[u128], _largest: &[u128]) -> Box<dyn ServerChoice> {
        Box::new(FirstFitting::new(totals.len()))
    }
}

struct Asking<'a> {
    instance: &'a Instance,
    packing: &'a Packing,
    /// What each server has, row-major `servers × width`.
    free: Vec<u128>,
    chooser: Box<dyn Chooser>,
    ahead: Ahead,
    /// Why nothing is asked any more.
    failure: &'a RefCell<Option<String>>,
    deadline: &'a Deadline,
}

impl Asking<'_> {
    fn answer(&mut self, kind: usize) -> Result<Option<usize>, String> {
        if self.deadline.is_over() {
            return Err("time is over".into());
        }
        let shape = &self.packing.shapes[kind];
        let (width, free, servers) = (self.packing.width, &self.free, self.packing.servers());
        let is_full = |server: usize| {
            server < servers && !fits(&shape.demand, &free[server * width..(server + 1) * width])
        };
        let Some(server) = self.ahead.next(kind, &mut *self.chooser, is_full)? else { return Ok(None) };
        let task = || printable(self.instance.kind(KindId(kind)).user().id(), 60);
        if server >= self.packing.servers() {
            let last = self.packing.servers().saturating_sub(1);
            return Err(format!("a task of {}: there is no server {server}; they are 0 to {last}", task()));
        }
        let class = self.packing.class_of(server);
        if !shape.classes.contains(&class.0) {
            let class = printable(&self.instance.classes()[class.0].id, 60);
            return Err(format!(
                "a task of {}: server {server} is of class {class}, where it may not run",
                task()
            ));
        }
        let free = &mut self.free[server * width..(server + 1) * width];
        if !fits(&shape.demand, free) {
            let lacking = (0..width).find(|r| shape.demand[*r] > free[*r]).unwrap_or_default();
            let resource = printable(&self.instance.resources()[lacking], 60);
            return Err(format!(
                "a task of {} does not fit server {server}: too little {resource} is free",
                task()
            ));
        }
        free.iter_mut().zip(&shape.demand).for_each(|(free, demand)| *free -= demand);
        self.chooser.left(server, free);
        Ok(Some(server))
    }
}

impl Rule for Asking<'_> {
    fn take(&mut self, shape: usize) -> Option<usize> {
        if self.failure.borrow().is_some() {
            return None;
        }
        self.answer(shape).unwrap_or_else(|problem| {
            *self.failure.borrow_mut() = Some(problem);
            None
        })
    }

    fn take_back(&mut self, server: usize, shape: usize, count: u64) {
        let width = self.packing.width;
        let free = &mut self.free[server * width..(server + 1) * width];
        let demand = &self.packing.shapes[shape].demand;
        free.iter_mut().zip(demand).for_each(|(free, demand)| *free += demand * u128::from(count));
        self.chooser.left(server, free);
    }

    /// Instances with quotas are refused before.
    fn allow(&mut self, _packing: &Packing, _shape: usize, _classes: &[usize]) {}

    /// Nothing is sure of a rule that is not known.
    fn sure(&mut self, _shape: usize) -> Option<usize> {
        None
    }

    fn free(&self, server: usize) -> &[u128] {
        &self.free[server * self.packing.width..(server + 1) * self.packing.width]
    }

    fn take_many(&mut self, _server: usize, _shape: usize, _count: u64) {}
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::FirstFit;
    use fairplan_instances::generate;
    use std::collections::VecDeque;

    /// First-Fit once more, in doubles of units.
    struct First {
        free: Vec<Vec<u128>>,
        demands: Vec<Vec<u128>>,
        /// Added to every answer.
        off: usize,
        /// So many tasks are decided at once.
        at_once: usize,
    }

    impl Chooser for First {
        fn choose(&mut self, kind: KindId, servers: &mut VecDeque<usize>) -> Result<(), String> {
            let fits = |free: &Vec<u128>| crate::packing::fits(&self.demands[kind.0], free);
            // As often as it fits, where several are named at once.
            let found = self.free.iter().position(fits).map(|server| server + self.off);
            servers.extend(found.into_iter().flat_map(|server| std::iter::repeat_n(server, self.at_once)));
            Ok(())
        }
        fn left(&mut self, server: usize, free: &[u128]) {
            self.free[server] = free.to_vec();
        }
    }

    fn asked(
        name: &str,
        begin: impl Fn(&Cluster<'_>) -> Result<Box<dyn Chooser>, String> + Send + Sync + 'static,
    ) -> Asked {
        let begin_live = |_: &ClusterNames| Err("asked of a cluster that stands still".to_owned());
        Asked { name: name.into(), begin: Box::new(begin), begin_live: Box::new(begin_live) }
    }

    fn first(off: usize, at_once: usize) -> Asked {
        let begin = move |cluster: &Cluster<'_>| -> Result<Box<dyn Chooser>, String> {
            let packing = Packing::in_resources(cluster.instance).map_err(|error| error.to_string())?.apart();
            let free = packing.free().chunks(packing.width).map(<[u128]>::to_vec).collect();
            let demands = packing.shapes.iter().map(|shape| shape.demand.clone()).collect();
            Ok(Box::new(First { free, demands, off, at_once }))
        };
        asked("mine", begin)
    }

    #[test]
    fn a_rule_of_others_places_as_the_same_rule_of_ours() {
        let instance = generate::drfh_fig4(&[1, 2, 3]).unwrap();
        for at_once in [1, 2, 7] {
            assert_eq!(first(0, at_once).place(&instance).unwrap(), FirstFit.place(&instance).unwrap());
        }
    }

    #[test]
    fn an_answer_that_cannot_be_names_policy_task_server_and_resource() {
        let instance = generate::drfh_fig4(&[1, 2, 3]).unwrap();
        let told = |off| first(off, 1).place(&instance).unwrap_err().to_string();
        assert_eq!(told(100), "policy mine: a task of user-1: there is no server 100; they are 0 to 99");
        let gone = asked("gone", |_| Err("no such thing".into()));
        assert_eq!(gone.place(&instance).unwrap_err().to_string(), "policy gone: no such thing");
    }

    #[test]
    fn a_task_that_does_not_fit_is_refused_with_the_resource() {
        struct Always;
        impl Chooser for Always {
            fn choose(&mut self, _: KindId, servers: &mut VecDeque<usize>) -> Result<(), String> {
                servers.push_back(0);
                Ok(())
            }
            fn left(&mut self, _: usize, _: &[u128]) {}
        }
        let always = asked("always", |_| Ok(Box::new(Always)));
        let told = always.place(&generate::drfh_fig1().unwrap()).unwrap_err().to_string();
        assert!(
            told.starts_with("policy always: a task of user-")
                && told.contains("does not fit server 0: too little"),
            "{told}"
        );
    }
}
