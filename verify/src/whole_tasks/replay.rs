//! Steps made one after the other in whole numbers: what no step may break that moves pieces to a server.

use crate::cuts::Cuts;
use crate::devices::hold_devices;
use fairplan_instances::{
    ClassId, Instance, Kind, KindId, Placement, ResourceId, ServerNames, ServerTasks, Step,
};

/// The servers while steps are made.
pub(super) struct Replay<'a> {
    instance: &'a Instance,
    classes: Vec<ClassId>,
    names: ServerNames<'a>,
    cuts: Vec<Option<Cuts>>,
    servers: Vec<ServerTasks>,
    /// Pieces of each kind.
    pieces: Vec<u64>,
    /// What is taken of each limit, and by all others of each reserve.
    taken: Vec<u128>,
}

/// Which rule a step breaks, and how.
type Broken = (&'static str, String);

impl<'a> Replay<'a> {
    pub fn new(instance: &'a Instance, before: &Placement) -> Self {
        let classes: Vec<ClassId> = instance.classes_of_servers().collect();
        let mut replay = Self {
            instance,
            names: ServerNames::new(instance),
            cuts: (0..instance.resources().len()).map(|r| Cuts::of(instance, ResourceId(r))).collect(),
            servers: before.servers.clone(),
            pieces: before.pieces(instance),
            taken: vec![0; instance.limit_rows().len()],
            classes,
        };
        for (server, tasks) in before.servers.iter().enumerate() {
            for (kind, count) in tasks {
                let units = replay.counted(server, KindId(*kind as usize), *count);
                units
                    .into_iter()
                    .for_each(|(j, units)| replay.taken[j] = replay.taken[j].saturating_add(units));
            }
        }
        replay
    }

    /// What so many pieces on a server take of each limit and reserve that counts them.
    fn counted(&self, server: usize, kind: KindId, count: u64) -> Vec<(usize, u128)> {
        let (rows, kind) = (self.instance.limit_rows(), self.instance.kind(kind));
        if rows.is_empty() {
            return Vec::new();
        }
        let above = self.instance.limits_above(kind.user()).into_iter();
        let inside = above.filter(|j| rows[*j].covers(self.classes[server]));
        let units = |j: usize| kind.piece_units(rows[j].resource).saturating_mul(u128::from(count));
        inside.map(|j| (j, units(j))).filter(|(_, units)| *units > 0).collect()
    }

    /// Makes a step: it cannot be made, or what it leads to breaks a rule that it has to do with.
    pub fn make(&mut self, step: Step) -> Result<(), Broken> {
        let cannot = |problem: String| Err(("steps", problem));
        let (count, kinds) = (self.servers.len() as u64, self.pieces.len());
        if step.kind.0 >= kinds {
            return cannot(format!("there is no user or kind {}", step.kind.0));
        }
        let kind = self.instance.kind(step.kind);
        if [step.from, step.to].into_iter().flatten().any(|server| server >= count) {
            return cannot(format!("there is no such server among {count}"));
        }
        if step.count == 0 || step.from == step.to {
            return cannot(format!("no {} goes anywhere", named(kind)));
        }
        let own = step.kind.0 as u32;
        let mut freed = Vec::new();
        match step.from.map(|from| from as usize) {
            Some(from) => {
                let there = self.servers[from].iter().position(|(kind, _)| *kind == own);
                let there = there.filter(|at| self.servers[from][*at].1 >= step.count);
                let Some(at) = there else {
                    let name = self.names.name(from as u64);
                    return cannot(format!("server {name} has no {} {}", step.count, named(kind)));
                };
                self.servers[from][at].1 -= step.count;
                if self.servers[from][at].1 == 0 {
                    self.servers[from].remove(at);
                }
                freed = self.counted(from, step.kind, step.count);
                freed.iter().for_each(|(j, units)| self.taken[*j] = self.taken[*j].saturating_sub(*units));
            }
            None => {
                let all = kind.user().tasks().map(|all| all.saturating_mul(kind.each()));
                let pieces = self.pieces[step.kind.0].checked_add(step.count);
                let Some(pieces) = pieces.filter(|pieces| all.is_none_or(|all| *pieces <= all)) else {
                    return cannot(format!("there are no {} {} that wait", step.count, named(kind)));
                };
                self.pieces[step.kind.0] = pieces;
            }
        }
        let Some(to) = step.to.map(|to| to as usize) else {
            self.pieces[step.kind.0] -= step.count;
            return Ok(());
        };
        match self.servers[to].binary_search_by_key(&own, |(kind, _)| *kind) {
            Ok(at) => self.servers[to][at].1 = self.servers[to][at].1.saturating_add(step.count),
            Err(at) => self.servers[to].insert(at, (own, step.count)),
        }
        self.inside(kind, to, step.count)?;
        self.limits(kind, to, step.count, &freed)
    }

    /// The rules of a server to which pieces came: of the resources that they take.
    fn inside(&self, kind: Kind<'_>, to: usize, count: u64) -> Result<(), Broken> {
        let (name, class, tasks) = (self.names.name(to as u64), self.classes[to], &self.servers[to]);
        if !kind.rule().allows(class) {
            return Err(("eligibility", format!("{} may not run on server {name}", named(kind))));
        }
        for r in (0..self.cuts.len()).map(ResourceId).filter(|r| kind.piece_units(*r) > 0) {
            let resource = &self.instance.resources()[r.0];
            let units = |(kind, count): &(u32, u64)| {
                let kind = self.instance.kind(KindId(*kind as usize));
                kind.piece_units(r).saturating_mul(u128::from(*count))
            };
            let load = tasks.iter().map(units).fold(0, u128::saturating_add);
            let capacity = self.instance.capacity_units(class, r);
            if load > capacity {
                let [load, capacity] = [load, capacity].map(|units| self.instance.written(r, units));
                let problem = format!(
                    "server {name} has no room for {count} {}: {load} {resource} with them, it has {capacity}",
                    named(kind)
                );
                return Err(("capacity", problem));
            }
            let fit = hold_devices(self.instance, self.cuts[r.0].as_ref(), (class, r), tasks);
            if fit != Some(true) {
                let fit = if fit.is_some() { "do not fit" } else { "are not found to fit" };
                let problem = format!(
                    "what server {name} has with {count} more {} {fit} its devices of {resource}",
                    named(kind)
                );
                return Err(("devices", problem));
            }
        }
        let own = kind.index().0 as u32;
        let there = tasks.iter().find(|(kind, _)| *kind == own).map_or(0, |(_, there)| *there);
        match kind.user().per_server().filter(|most| there > *most) {
            Some(most) => Err((
                "per-server",
                format!("server {name} has {there} {} then, and may have {most}", named(kind)),
            )),
            None => Ok(()),
        }
    }

    /// Limits and reserves of which more is taken than before.
    fn limits(
        &mut self,
        kind: Kind<'_>,
        to: usize,
        count: u64,
        freed: &[(usize, u128)],
    ) -> Result<(), Broken> {
        for (j, units) in self.counted(to, kind.index(), count) {
            self.taken[j] = self.taken[j].saturating_add(units);
            let row = &self.instance.limit_rows()[j];
            let (taken, most) = (self.taken[j], self.instance.limit_units(row));
            if taken > most && !freed.iter().any(|(other, _)| *other == j) {
                let (owner, resource) =
                    (self.instance.name_of(row.owner), &self.instance.resources()[row.resource.0]);
                let [taken, most] = [taken, most].map(|units| self.instance.written(row.resource, units));
                let what = match row.reserve {
                    None => format!("{owner} has {taken} {resource} then, its limit is {most}"),
                    Some(_) => format!(
                        "others have {taken} {resource} then, beside what {owner} reserves there are {most}"
                    ),
                };
                return Err(("limits", what));
            }
        }
        Ok(())
    }

    /// What runs where.
    pub fn placement(self) -> Placement {
        let whole = crate::placement::whole_tasks(self.instance, &self.pieces);
        Placement { tasks: whole, servers: self.servers }
    }
}

/// What pieces of a kind are called.
fn named(kind: Kind<'_>) -> String {
    match kind.id() {
        None => format!("tasks of user {}", kind.user().id()),
        Some(id) => format!("pieces of kind {id} of user {}", kind.user().id()),
    }
}
