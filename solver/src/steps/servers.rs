//! What has room for more pieces while these are carried: what servers have, their devices, the most of a kind on one, and what limits
//! and reserves leave.

use crate::whole_tasks::OnDevices;
use fairplan_instances::{ClassId, Instance, KindId, LimitRow, Placement, ResourceId, Violation};
use std::collections::{BTreeMap, BTreeSet};

/// All servers, with what is on each.
pub(super) struct Servers<'a> {
    instance: &'a Instance,
    /// What is to be on them in the end: as much of it has room, whatever of it is there already.
    after: &'a Placement,
    /// What a piece of each kind takes.
    demands: Vec<Vec<u128>>,
    class: Vec<ClassId>,
    capacity: Vec<Vec<u128>>,
    load: Vec<Vec<u128>>,
    /// Pieces on servers, `(server, kind)`, where there are rules inside these.
    there: Option<BTreeMap<(usize, u32), u64>>,
    devices: Option<OnDevices>,
    rows: &'a [LimitRow],
    /// Of each user the rows that count it, and what is taken of each row.
    above: Vec<Vec<usize>>,
    taken: Vec<u128>,
    /// Of each row the servers that had no room for want of it.
    held: Vec<BTreeSet<usize>>,
}

impl<'a> Servers<'a> {
    /// # Errors
    /// Devices whose amounts are too long to count, see [`OnDevices::new`].
    pub fn new(instance: &'a Instance, before: &Placement, after: &'a Placement) -> Result<Self, Violation> {
        let m = instance.resources().len();
        let class: Vec<ClassId> = instance.classes_of_servers().collect();
        let demand = |k: usize| (0..m).map(|r| instance.kind(KindId(k)).piece_units(ResourceId(r))).collect();
        let capacity =
            |l: usize| (0..m).map(|r| instance.capacity_units(ClassId(l), ResourceId(r))).collect();
        let rows = instance.limit_rows();
        let above = match rows {
            [] => Vec::new(),
            _ => instance.users().map(|user| instance.limits_above(user)).collect(),
        };
        let mut servers = Self {
            instance,
            after,
            demands: (0..instance.kind_count()).map(demand).collect(),
            capacity: (0..instance.classes().len()).map(capacity).collect(),
            load: vec![vec![0; m]; class.len()],
            class,
            there: instance.has_server_rules().then(BTreeMap::new),
            devices: instance.has_devices().then(|| OnDevices::new(instance)).transpose()?,
            rows,
            above,
            taken: vec![0; rows.len()],
            held: vec![BTreeSet::new(); rows.len()],
        };
        for (server, tasks) in before.servers.iter().enumerate() {
            tasks.iter().for_each(|(kind, count)| servers.come(server, *kind, *count));
        }
        Ok(servers)
    }

    pub fn count(&self) -> usize {
        self.class.len()
    }

    /// Whether pieces of a kind may run on a server.
    pub fn may_run(&self, server: usize, kind: u32) -> bool {
        self.instance.kind(KindId(kind as usize)).rule().allows(self.class[server])
    }

    /// The rows that count pieces of a kind on a server, with what each takes.
    fn rows_of(&self, server: usize, kind: u32) -> impl Iterator<Item = (usize, u128)> + use<'a> {
        let (instance, rows, class) = (self.instance, self.rows, self.class[server]);
        let kind = instance.kind(KindId(kind as usize));
        let above = self.above.get(kind.user().index().0).cloned().unwrap_or_default();
        let counted = above.into_iter().filter(move |j| rows[*j].covers(class));
        counted.map(move |j| (j, kind.piece_units(rows[j].resource))).filter(|(_, units)| *units > 0)
    }

    /// So many pieces more.
    pub fn come(&mut self, server: usize, kind: u32, count: u64) {
        for (load, demand) in self.load[server].iter_mut().zip(&self.demands[kind as usize]) {
            *load = load.saturating_add(demand.saturating_mul(u128::from(count)));
        }
        if let Some(there) = &mut self.there {
            *there.entry((server, kind)).or_default() += count;
        }
        for (j, units) in self.rows_of(server, kind) {
            self.taken[j] = self.taken[j].saturating_add(units.saturating_mul(u128::from(count)));
        }
    }

    /// So many pieces fewer; returns the servers that may have room again, but for this one.
    pub fn leave(&mut self, server: usize, kind: u32, count: u64) -> BTreeSet<usize> {
        for (load, demand) in self.load[server].iter_mut().zip(&self.demands[kind as usize]) {
            *load = load.saturating_sub(demand.saturating_mul(u128::from(count)));
        }
        if let Some(there) = &mut self.there
            && let Some(here) = there.get_mut(&(server, kind))
        {
            *here = here.saturating_sub(count);
        }
        let mut freed = BTreeSet::new();
        for (j, units) in self.rows_of(server, kind) {
            self.taken[j] = self.taken[j].saturating_sub(units.saturating_mul(u128::from(count)));
            freed.append(&mut self.held[j]);
        }
        freed
    }

    /// How many more pieces of a kind, at most `most`, have room on a server, whatever limits leave.
    pub fn room(&self, server: usize, kind: u32, most: u64) -> u64 {
        let capacity = &self.capacity[self.class[server].0];
        let parts = self.demands[kind as usize].iter().zip(capacity.iter().zip(&self.load[server]));
        let parts = parts.filter(|(demand, _)| **demand > 0);
        let fit = parts.map(|(demand, (capacity, load))| capacity.saturating_sub(*load) / demand).min();
        let mut fit = fit.map_or(most, |fit| u64::try_from(fit).unwrap_or(u64::MAX).min(most));
        let Some(there) = &self.there else { return fit };
        if let Some(most) = self.instance.kind(KindId(kind as usize)).user().per_server() {
            fit = fit.min(most.saturating_sub(there.get(&(server, kind)).copied().unwrap_or(0)));
        }
        let Some(devices) = self.devices.as_ref().filter(|_| fit > 0) else { return fit };
        let holds = |more: u64| {
            let on = there.range((server, 0)..=(server, u32::MAX));
            let on = on.filter(|((_, other), _)| *other != kind).map(|((_, kind), count)| (*kind, *count));
            let own = (kind, there.get(&(server, kind)).copied().unwrap_or(0) + more);
            let content = on.chain(std::iter::once(own)).filter(|(_, count)| *count > 0);
            let then = &self.after.servers[server];
            let is_there_then = |(kind, count): (u32, u64)| {
                then.binary_search_by_key(&kind, |(kind, _)| *kind).is_ok_and(|at| then[at].1 >= count)
            };
            // What is there in the end, and keeps all rules, need not be looked at.
            content.clone().all(is_there_then) || devices.hold(self.class[server], content)
        };
        // More never fit where fewer do not.
        let (mut low, mut high) = (0, fit);
        while low < high {
            let middle = high - (high - low) / 2;
            if holds(middle) {
                low = middle;
            } else {
                high = middle - 1;
            }
        }
        low
    }

    /// How many pieces of a kind limits and reserves let come to a server from another, or from nowhere. Where they let none, it is told when that may be otherwise, see [`Servers::leave`].
    pub fn within_limits(&mut self, kind: u32, from: Option<usize>, to: usize) -> u64 {
        let mut most = u64::MAX;
        for (j, units) in self.rows_of(to, kind) {
            if from.is_some_and(|from| self.rows[j].covers(self.class[from])) {
                continue;
            }
            let left = self.instance.limit_units(&self.rows[j]).saturating_sub(self.taken[j]) / units;
            most = most.min(u64::try_from(left).unwrap_or(u64::MAX));
            if left == 0 {
                self.held[j].insert(to);
            }
        }
        most
    }

    /// Whether pieces of a kind on a server count in a row that has no room for one of another kind on another server.
    pub fn is_in_the_way(&self, (server, kind): (usize, u32), (other, of_kind): (usize, u32)) -> bool {
        let full = |(j, units): &(usize, u128)| {
            self.taken[*j].saturating_add(*units) > self.instance.limit_units(&self.rows[*j])
        };
        let full: Vec<usize> = self.rows_of(other, of_kind).filter(full).map(|(j, _)| j).collect();
        self.rows_of(server, kind).any(|(j, _)| full.contains(&j))
    }
}
