//! A rule that somebody else has, on servers whose tasks come and go.
//!
//! Tasks that ask for the same are one user to it, called `shape-1`, `shape-2` and so on in the order in which they first come.

use crate::chooser::{Ahead, Chooser};
use crate::packing::{fits, resized};
use crate::{ClusterNames, FailureNote, PlacementError};
use fairplan_instances::ServerChoice;
use fairplan_instances::wording::printable;

/// The choice of such a rule.
pub(crate) struct AskedChoice {
    policy: String,
    /// `None` after a failure.
    chooser: Option<Box<dyn Chooser>>,
    ahead: Ahead,
    names: ClusterNames,
    note: FailureNote,
    free: Vec<Vec<u128>>,
    demands: Vec<Vec<u128>>,
}

impl AskedChoice {
    /// One by a rule that has begun, or could not.
    pub fn new(
        policy: String,
        begun: Result<Box<dyn Chooser>, String>,
        names: ClusterNames,
        note: FailureNote,
    ) -> Self {
        let (free, demands) = (Vec::new(), Vec::new());
        let mut choice = Self { policy, chooser: None, ahead: Ahead::default(), names, note, free, demands };
        match begun {
            Ok(chooser) => choice.chooser = Some(chooser),
            Err(problem) => choice.give_up(problem),
        }
        choice
    }

    fn give_up(&mut self, problem: String) {
        self.chooser = None;
        self.note.note(PlacementError::Asked { policy: self.policy.clone(), problem });
    }

    fn tell(&mut self, server: usize) {
        if let Some(chooser) = &mut self.chooser {
            chooser.left(server, &self.free[server]);
        }
    }

    fn asked(&mut self, shape: usize) -> Result<Option<usize>, String> {
        let Some(chooser) = &mut self.chooser else { return Ok(None) };
        let (free, demand) = (&self.free, &self.demands[shape]);
        let is_full = |server: usize| free.get(server).is_some_and(|free| !fits(demand, free));
        let Some(server) = self.ahead.next(shape, &mut **chooser, is_full)? else { return Ok(None) };
        let task = format!("a task of shape-{}", shape + 1);
        let Some(room) = free.get(server) else {
            let last = free.len().saturating_sub(1);
            return Err(format!("{task}: there is no server {server}; they are 0 to {last}"));
        };
        match (0..demand.len()).find(|r| demand[*r] > room[*r]) {
            None => Ok(Some(server)),
            Some(r) => {
                let resource = self.names.resources.get(r).map_or("a resource", |(name, _)| name);
                let resource = printable(resource, 60);
                Err(format!("{task} does not fit server {server}: too little {resource} is free"))
            }
        }
    }
}

impl ServerChoice for AskedChoice {
    fn add_server(&mut self, capacity: &[u128]) {
        self.free.push(capacity.to_vec());
        self.tell(self.free.len() - 1);
    }

    fn resize(&mut self, server: usize, from: &[u128], to: &[u128]) -> bool {
        let Some(left) = resized(&self.free[server], from, to) else { return false };
        self.free[server] = left;
        self.tell(server);
        true
    }

    fn add_shape(&mut self, demand: &[u128]) {
        self.demands.push(demand.to_vec());
        if let Some(chooser) = &mut self.chooser {
            chooser.user(demand);
        }
    }

    fn take(&mut self, shape: usize) -> Option<usize> {
        match self.asked(shape) {
            Ok(server) => {
                let server = server?;
                self.hold(server, shape).then_some(server)
            }
            Err(problem) => {
                self.give_up(problem);
                None
            }
        }
    }

    /// Such a rule is told of tasks that begin only by being asked.
    fn take_on(&mut self, server: usize, shape: usize) -> bool {
        fits(&self.demands[shape], &self.free[server]) && self.take(shape) == Some(server)
    }

    fn hold(&mut self, server: usize, shape: usize) -> bool {
        if !fits(&self.demands[shape], &self.free[server]) {
            return false;
        }
        self.free[server].iter_mut().zip(&self.demands[shape]).for_each(|(free, need)| *free -= need);
        self.tell(server);
        true
    }

    fn release(&mut self, server: usize, shape: usize) {
        self.free[server].iter_mut().zip(&self.demands[shape]).for_each(|(free, need)| *free += need);
        self.tell(server);
    }

    fn decides_alone(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fairplan_instances::KindId;
    use std::collections::VecDeque;

    /// Names the same servers whenever it is asked.
    struct Named(Vec<usize>);

    impl Chooser for Named {
        fn choose(&mut self, _: KindId, servers: &mut VecDeque<usize>) -> Result<(), String> {
            servers.extend(&self.0);
            Ok(())
        }
        fn left(&mut self, _: usize, _: &[u128]) {}
    }

    fn choice(servers: &[usize], note: &FailureNote) -> AskedChoice {
        let names = ClusterNames { resources: vec![("cpu".into(), 0)], servers: Vec::new() };
        let begun: Box<dyn Chooser> = Box::new(Named(servers.to_vec()));
        let mut choice = AskedChoice::new("mine".into(), Ok(begun), names, note.clone());
        choice.add_server(&[2]);
        choice.add_server(&[2]);
        choice.add_shape(&[1]);
        choice
    }

    #[test]
    fn servers_named_ahead_are_taken_until_one_is_full() {
        let note = FailureNote::default();
        let mut choice = choice(&[0, 1, 1, 1], &note);
        let taken: Vec<_> = (0..3).map(|_| choice.take(0)).collect();
        assert_eq!(taken, [Some(0), Some(1), Some(1)]);
        // Server 1 is full: the rule is asked again and names server 0 first.
        assert_eq!(choice.take(0), Some(0));
        choice.release(1, 0);
        assert_eq!(choice.take(0), Some(1));
        assert!(note.read().is_none());
    }

    #[test]
    fn what_cannot_be_is_noted_once_and_nothing_is_asked_any_more() {
        for (servers, told) in [
            (vec![5], "policy mine: a task of shape-1: there is no server 5; they are 0 to 1"),
            (vec![0, 0, 7], "policy mine: a task of shape-1: there is no server 7; they are 0 to 1"),
            (vec![0], "policy mine: a task of shape-1 does not fit server 0: too little cpu is free"),
        ] {
            let note = FailureNote::default();
            let mut choice = choice(&servers, &note);
            while choice.take(0).is_some() {}
            assert_eq!(note.read().unwrap().to_string(), told);
            assert_eq!(choice.take(0), None);
        }
    }
}
