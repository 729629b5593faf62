//! The answer as a scheduler can be told: what each tenant gets on each class, in whole units.

use crate::Target;
use crate::amounts::{Counted, MemoryIn, Unit};
use crate::tolerance::NOTHING;
use crate::tree::Tenant;
use fairplan_instances::Decimal;

/// What stands before the options: in a comment, or as the key of an annotation.
pub(crate) const MARK: &str = "fairplan/export-options";

/// How the answer is written.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ExportOptions {
    /// The part of each class that nobody gets, 0 to 1.
    pub headroom: Decimal,
    /// Units of resources; others have one core, one GiB or one piece.
    pub units: Vec<Unit>,
    /// What the instance counts memory in; `None`: what the target's importer writes.
    pub memory_in: Option<MemoryIn>,
    /// How many levels of the tree become queues; `None`: all.
    pub levels: Option<usize>,
    /// Whether tenants may have no more than what they are given, even when others are idle.
    pub hard: bool,
}

/// What the answer is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Source {
    /// SHA-256 of the instance.
    pub instance: String,
    /// SHA-256 of the solution's file.
    pub solution: String,
}

/// A class of servers.
#[derive(Clone, Debug, PartialEq)]
pub struct ExportedClass {
    /// The class's id.
    pub id: String,
    /// What the target calls it.
    pub name: String,
    /// How many servers.
    pub count: u64,
    /// What they are called, if that is known.
    pub servers: Vec<String>,
}

/// The answer as a scheduler can be told.
#[derive(Clone, Debug, PartialEq)]
pub struct Export {
    /// Who is told.
    pub target: Target,
    /// What was exported.
    pub source: Source,
    /// Classes of servers.
    pub classes: Vec<ExportedClass>,
    /// Tenants, each before those below it.
    pub tenants: Vec<Tenant>,
    /// What the target cannot be told, a sentence each.
    pub notes: Vec<String>,
    /// The tenant that is the target's own root, which is told limits only.
    pub(crate) root: Option<usize>,
    pub(crate) resources: Vec<Counted>,
    /// Whole units there are for tenants, row-major `classes × resources`.
    pub(crate) room: Vec<u64>,
    /// Units of each resource in the cluster.
    pub(crate) totals: Vec<f64>,
    /// Units that the servers have, row-major `classes × resources`.
    pub(crate) servers: Vec<f64>,
    pub(crate) headroom: Decimal,
    /// The part that the headroom leaves of the answer on each class.
    pub(crate) left: Vec<f64>,
    pub(crate) memory_in: MemoryIn,
    pub(crate) hard: bool,
    /// The options as the file states them.
    pub(crate) stated: String,
}

impl Export {
    /// States what the target's own rule gives each tenant, of those for which that is known.
    pub fn entitle(&mut self, shares: Vec<Option<f64>>) {
        for (tenant, share) in self.tenants.iter_mut().zip(shares) {
            tenant.entitled = share;
        }
    }

    /// Whether somebody has something by the answer, but less than any of its tasks asks for: a limit that high lets none run.
    pub(crate) fn is_below_a_task(&self, tenant: &Tenant) -> bool {
        let fits = |task: &Vec<u128>| {
            let all = task.iter().zip(&self.resources).enumerate();
            let mut told = all.filter(|(_, (_, resource))| resource.called.is_some());
            told.all(|(r, (asked, _))| *asked <= self.amount(tenant, None, r))
        };
        tenant.is_leaf
            && tenant.exact.iter().any(|amount| *amount > NOTHING)
            && !tenant.tasks.iter().any(fits)
    }

    /// Lines that say where the file comes from and what it lacks, for its comments.
    pub(crate) fn comments(&self) -> Vec<String> {
        let mut lines = vec![
            format!("Made by fairplan export {} from the solution {}", self.target, self.source.solution),
            format!("of the instance {}.", self.source.instance),
            format!("{}: {}", MARK, self.stated),
        ];
        lines.extend(self.notes.iter().map(|note| format!("Note: {note}.")));
        let classes = self.classes.iter().map(|class| (&class.id, &class.name));
        let tenants = self.tenants.iter().map(|tenant| (&tenant.id, &tenant.name));
        for (id, name) in tenants.chain(classes.filter(|_| self.target.knows_classes())) {
            if id != name {
                lines.push(format!("Name: {name} is {}", fairplan_instances::wording::printable(id, 200)));
            }
        }
        // A line's end in an id would end the comment.
        let visible = |letter: char| if letter.is_control() { '\u{fffd}' } else { letter };
        lines.into_iter().map(|line| line.chars().map(visible).collect()).collect()
    }

    /// What a tenant gets of a resource: on a class, or (`None`) on all.
    pub(crate) fn amount(&self, tenant: &Tenant, class: Option<usize>, resource: usize) -> u128 {
        let n = self.resources.len();
        let units: u64 = match class {
            Some(class) => tenant.units[class * n + resource],
            None => tenant.units.iter().skip(resource).step_by(n).sum(),
        };
        u128::from(units) * self.resources[resource].unit
    }

    /// The most a tenant may have of a resource: on a class, or (`None`) on all; at least what it gets, and no more than those above it
    /// may have.
    pub(crate) fn limit(&self, tenant: usize, class: Option<usize>, resource: usize) -> Option<u128> {
        let n = self.resources.len();
        let position = tenant;
        let tenant = &self.tenants[position];
        let gets = self.amount(tenant, class, resource);
        if self.hard {
            return Some(gets);
        }
        let limit = match class {
            Some(class) => tenant.limit[class * n + resource],
            None => {
                // Where none of its tasks can run it has nothing.
                let of_class = |l: usize| {
                    if tenant.eligible[l] { tenant.limit[l * n + resource] } else { Some(0) }
                };
                let sum: Option<u128> = (0..self.classes.len()).map(of_class).sum();
                sum.into_iter().chain(tenant.limit_over_all[resource]).min()
            }
        }?;
        let above = tenant.parent.and_then(|parent| self.limit(parent, class, resource));
        Some(above.map_or(limit, |above| limit.min(above)).max(gets))
    }

    /// What all servers have of a resource.
    pub(crate) fn all_of(&self, resource: usize) -> u128 {
        let units: u64 = self.room.iter().skip(resource).step_by(self.resources.len()).sum();
        u128::from(units) * self.resources[resource].unit
    }

    /// What stays a tenant's own when it is idle, no more than what it gets.
    pub(crate) fn reserve(&self, tenant: &Tenant, class: Option<usize>, resource: usize) -> Option<u128> {
        let n = self.resources.len();
        let reserve = match class {
            Some(class) => tenant.reserve[class * n + resource],
            None => {
                let of_classes = tenant.reserve.iter().skip(resource).step_by(n).flatten();
                let all: Vec<u128> =
                    of_classes.chain(tenant.reserve_over_all[resource].iter()).copied().collect();
                (!all.is_empty()).then(|| all.iter().sum())
            }
        };
        reserve.map(|reserve| reserve.min(self.amount(tenant, class, resource)))
    }
}
