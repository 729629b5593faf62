//! The answer in whole units that fit: what each tenant gets on each class.

use crate::amounts::{BILLION, Counted, MemoryIn, Unit, counted};
use crate::held::Held;
use crate::names::{given, short};
use crate::rounding::largest_remainders;
use crate::sums::Rows;
use crate::tree::{Tenant, Tree};
use crate::{Target, kept, targets};
use fairplan_instances::{Decimal, Instance, ServerClass, Violation};

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
    /// The answer that `held` is, for `target`.
    ///
    /// # Errors
    /// Headroom that is no part of one, units that the target cannot count in, memory in another unit than it is said to be in.
    pub fn new(
        instance: &Instance,
        held: &Held,
        source: Source,
        target: Target,
        options: &ExportOptions,
    ) -> Result<Self, Violation> {
        let own = if target.is_kubernetes() { MemoryIn::Bytes } else { MemoryIn::Mebibytes };
        let memory_in = options.memory_in.unwrap_or(own);
        let resources = counted(instance, target, &options.units, memory_in)?;
        let free = free_part(options.headroom)?;
        let tree = Tree::new(instance, held, &resources, options.levels.unwrap_or(usize::MAX));
        let classes = instance.classes();
        let asked: Vec<(String, &str)> =
            classes.iter().map(|class| (String::new(), class.id.as_str())).collect();
        let class = |(class, name): (&ServerClass, String)| ExportedClass {
            id: class.id.clone(),
            name,
            count: class.count,
            servers: class.names.clone(),
        };
        let exported = classes.iter().zip(given(target, &asked)).map(class).collect();
        let amounts = |class: &ServerClass| -> Vec<u128> {
            let all = resources.iter().zip(&class.capacity);
            all.map(|(counted, amount)| counted.billionths(*amount).saturating_mul(class.count.into()))
                .collect()
        };
        let capacity: Vec<u128> = classes.iter().flat_map(amounts).collect();
        let unit = |at: usize| resources[at % resources.len()].unit;
        let room = capacity.iter().enumerate().map(|(at, amount)| {
            let free = amount / BILLION * free + amount % BILLION * free / BILLION;
            u64::try_from(free / unit(at)).unwrap_or(u64::MAX)
        });
        let room: Vec<u64> = room.collect();
        let totals = (0..resources.len()).map(|r| {
            let sum: f64 =
                capacity.iter().skip(r).step_by(resources.len()).map(|amount| *amount as f64).sum();
            sum / unit(r) as f64
        });
        let totals = totals.collect();
        let servers =
            capacity.iter().enumerate().map(|(at, amount)| *amount as f64 / unit(at) as f64).collect();
        let mut export = Self {
            target,
            source,
            classes: exported,
            tenants: tree.tenants,
            notes: tree.lost.into_iter().map(|lost| format!("{lost} are not told")).collect(),
            resources,
            room,
            totals,
            servers,
            headroom: options.headroom,
            left: vec![1.0; classes.len()],
            memory_in,
            hard: options.hard,
            stated: options.word(target, memory_in),
        };
        export.make_room(&capacity, free);
        export.round();
        export.name();
        kept::set(&mut export);
        export.note();
        Ok(export)
    }

    /// The scheduler's own file.
    pub fn text(&self) -> String {
        match self.target {
            Target::Kueue => targets::kueue::text(self),
            Target::Yarn => targets::yarn::text(self),
            Target::YarnFair => targets::yarn_fair::text(self),
            Target::YuniKorn => targets::yunikorn::text(self),
            Target::Volcano => targets::volcano::text(self),
            Target::Kai => targets::kai::text(self),
            Target::Slurm => targets::slurm::text(self),
        }
    }

    /// Where the headroom takes of what is used on a class, everybody there gets as much less as it takes.
    fn make_room(&mut self, capacity: &[u128], free: u128) {
        let resources = self.resources.len();
        for l in 0..self.classes.len() {
            let mut factor = 1f64;
            for r in 0..resources {
                let at = l * resources + r;
                let top = self.tenants.iter().filter(|tenant| tenant.parent.is_none());
                let used: f64 = top.map(|tenant| tenant.exact[at]).sum();
                let most =
                    capacity[at] as f64 / self.resources[r].unit as f64 * (free as f64 / BILLION as f64);
                if used > most * (1.0 + 1e-9) {
                    factor = factor.min(most / used);
                }
            }
            self.left[l] = factor;
            for tenant in &mut self.tenants {
                tenant.exact[l * resources..(l + 1) * resources]
                    .iter_mut()
                    .for_each(|amount| *amount *= factor);
            }
        }
    }

    /// Whole units, from the top down: the children of a tenant get no more than it.
    fn round(&mut self) {
        let mut children: Vec<Vec<usize>> = vec![Vec::new(); self.tenants.len() + 1];
        for (t, tenant) in self.tenants.iter().enumerate() {
            children[tenant.parent.map_or(0, |parent| parent + 1)].push(t);
        }
        let mut rises = self.rises();
        for (parent, children) in children.iter().enumerate().filter(|(_, children)| !children.is_empty()) {
            if !self.target.knows_classes() && self.classes.len() > 1 {
                self.round_sums(parent.checked_sub(1), children, &rises);
                continue;
            }
            for at in 0..self.room.len() {
                let r = at % self.resources.len();
                let most = match parent {
                    0 => self.room[at],
                    parent => self.tenants[parent - 1].units[at],
                };
                let exact: Vec<f64> = children.iter().map(|t| self.tenants[*t].exact[at]).collect();
                let unit = self.resources[at % self.resources.len()].unit;
                let may_rise = |t: &usize| {
                    let tenant = &self.tenants[*t];
                    let above = (tenant.exact[at].floor() as u128 + 1) * unit;
                    tenant.limit[at].is_none_or(|limit| above <= limit) && rises[*t][r] != Some(0)
                };
                let may_rise: Vec<bool> = children.iter().map(may_rise).collect();
                for (t, units) in children.iter().zip(largest_remainders(&exact, most, &may_rise)) {
                    let tenant = &mut self.tenants[*t];
                    tenant.units[at] = units;
                    if let Some(left) =
                        rises[*t][r].as_mut().filter(|_| units as f64 > tenant.exact[at].floor())
                    {
                        *left = left.saturating_sub(1);
                    }
                }
            }
        }
    }

    /// Whole units of the sums over all classes, of which alone the target is told, of the children of a tenant or, at the top, of all.
    fn round_sums(&mut self, parent: Option<usize>, children: &[usize], rises: &[Vec<Option<u64>>]) {
        let resources = self.resources.len();
        for r in 0..resources {
            let of_resource =
                |all: &[u64]| -> Vec<u64> { all.iter().skip(r).step_by(resources).copied().collect() };
            let exact: Vec<Vec<f64>> = children
                .iter()
                .map(|t| self.tenants[*t].exact.iter().skip(r).step_by(resources).copied().collect())
                .collect();
            let most = of_resource(parent.map_or(&self.room, |parent| &self.tenants[parent].units));
            let wanted = match parent {
                None => exact.iter().flatten().sum::<f64>().round() as u64,
                Some(_) => most.iter().sum(),
            };
            let unit = self.resources[r].unit;
            let may_rise = |row: usize, l: usize| {
                let (tenant, at) = (&self.tenants[children[row]], l * resources + r);
                let above = (tenant.exact[at].floor() as u128 + 1) * unit;
                tenant.limit[at].is_none_or(|limit| above <= limit)
            };
            let rises: Vec<Option<u64>> = children.iter().map(|t| rises[*t][r]).collect();
            let rows = Rows { exact: &exact, most: &most, wanted, may_rise: &may_rise, rises: &rises };
            let whole = rows.rounded();
            for (t, row) in children.iter().zip(whole) {
                for (l, units) in row.into_iter().enumerate() {
                    self.tenants[*t].units[l * resources + r] = units;
                }
            }
        }
    }

    /// Of each tenant and resource, on how many classes it may get the number of units above its own without exceeding what it may have
    /// on all classes together; `None` where that is not limited.
    fn rises(&self) -> Vec<Vec<Option<u64>>> {
        let of_tenant = |tenant: &Tenant| {
            let of_resource = |(r, limit): (usize, &Option<u128>)| {
                let below: f64 = tenant
                    .exact
                    .iter()
                    .skip(r)
                    .step_by(self.resources.len())
                    .map(|exact| exact.floor())
                    .sum();
                limit.map(|limit| ((limit / self.resources[r].unit) as u64).saturating_sub(below as u64))
            };
            tenant.limit_over_all.iter().enumerate().map(of_resource).collect()
        };
        self.tenants.iter().map(of_tenant).collect()
    }

    /// States what the target's own rule gives each tenant, of those for which that is known.
    pub fn entitle(&mut self, shares: Vec<Option<f64>>) {
        for (tenant, share) in self.tenants.iter_mut().zip(shares) {
            tenant.entitled = share;
        }
    }

    /// Names in the target's letters: of YARN's and YuniKorn's queues unique among their siblings, of others among all of their kind.
    fn name(&mut self) {
        let asked = |tenant: &'_ Tenant| {
            let scope = match self.target {
                Target::Yarn | Target::YarnFair | Target::YuniKorn => {
                    tenant.parent.map_or_else(String::new, |parent| parent.to_string())
                }
                Target::Kueue if tenant.is_leaf => "queue".into(),
                _ => String::new(),
            };
            (scope, tenant.parent)
        };
        let asked: Vec<(String, &str)> = (self.tenants.iter())
            .map(|tenant| {
                let (scope, parent) = asked(tenant);
                let parent = parent.map(|parent| self.tenants[parent].id.as_str());
                (scope, short(&tenant.id, parent, self.target))
            })
            .collect();
        let names = given(self.target, &asked);
        self.tenants.iter_mut().zip(names).for_each(|(tenant, name)| tenant.name = name);
    }

    /// Whether somebody has something by the answer, but less than any of its tasks asks for: a limit that high lets none run.
    pub(crate) fn is_below_a_task(&self, tenant: &Tenant) -> bool {
        let fits = |task: &Vec<u128>| {
            let all = task.iter().zip(&self.resources).enumerate();
            let mut told = all.filter(|(_, (_, resource))| resource.called.is_some());
            told.all(|(r, (asked, _))| *asked <= self.amount(tenant, None, r))
        };
        tenant.is_leaf && tenant.exact.iter().any(|amount| *amount > 1e-9) && !tenant.tasks.iter().any(fits)
    }

    /// Says what the target cannot be told.
    fn note(&mut self) {
        let title = self.target.title();
        let has = |r: usize| {
            self.tenants
                .iter()
                .any(|t| t.exact.iter().skip(r).step_by(self.resources.len()).any(|x| *x > 0.0))
        };
        let mut notes = Vec::new();
        for (r, resource) in self.resources.iter().enumerate().filter(|(r, _)| has(*r)) {
            if resource.called.is_none() {
                notes.push(format!("{title} counts no {}: nobody is told what it gets of it", resource.name));
            }
            let lost = |tenant: &&Tenant| {
                let amounts = tenant.exact.iter().zip(&tenant.units).skip(r).step_by(self.resources.len());
                amounts.clone().map(|(exact, _)| exact).sum::<f64>() > 1e-6
                    && amounts.map(|(_, units)| units).sum::<u64>() == 0
            };
            let small: Vec<&str> = self
                .tenants
                .iter()
                .filter(|t| t.is_leaf)
                .filter(lost)
                .map(|tenant| tenant.id.as_str())
                .collect();
            if let Some(first) = small.first().filter(|_| resource.called.is_some()) {
                let others =
                    if small.len() > 1 { format!(" and {} more", small.len() - 1) } else { String::new() };
                // A QOS without a word of a resource would make sure of all of it.
                let forbids = match self.target {
                    Target::Slurm => ", and their QOS lets no job run that asks for it",
                    _ => "",
                };
                let in_parts = |tenant: &&Tenant| {
                    tenant.exact.iter().skip(r).step_by(self.resources.len()).sum::<f64>() >= 1.0 - 1e-6
                };
                let each = if self.tenants.iter().filter(lost).any(|tenant| in_parts(&tenant)) {
                    " on each class"
                } else {
                    ""
                };
                notes.push(format!(
                    "{first}{others} would get less than a unit of {}{each} and get none{forbids}; state a smaller --unit {}=AMOUNT",
                    resource.name, resource.name
                ));
            }
        }
        if self.target == Target::YuniKorn && self.hard {
            self.note_zeros(&mut notes);
        }
        let used = |l: usize| {
            let n = self.resources.len();
            self.tenants
                .iter()
                .any(|tenant| tenant.exact[l * n..(l + 1) * n].iter().any(|amount| *amount > 0.0))
        };
        if !self.target.knows_classes() && (0..self.classes.len()).filter(|l| used(*l)).count() > 1 {
            notes.push(format!(
                "{title} is told sums over all classes: on which servers a tenant has them is lost"
            ));
        }
        if self.target == Target::Slurm {
            let held: Vec<&Tenant> =
                self.tenants.iter().filter(|tenant| self.is_below_a_task(tenant)).collect();
            if let Some(first) = held.first() {
                let (others, their) = match held.len() {
                    1 => (String::new(), "its"),
                    more => (format!(" and {} more", more - 1), "their"),
                };
                let verb = if held.len() == 1 { "is" } else { "are" };
                notes.push(format!(
                    "{}{others} {verb} given less than the smallest of {their} jobs asks for: in {their} QOS no job runs, and none of it is sure",
                    first.id
                ));
            }
            notes.push(format!(
                "{title} makes sure of what jobs ask for in the QOS of their account (--qos=sure-ACCOUNT); of the others each \
                 account has its part by fairshare"
            ));
        }
        let keeps_headroom = matches!(self.target, Target::Kueue | Target::Slurm) || self.hard;
        if !keeps_headroom && self.headroom != Decimal::ZERO {
            notes.push(format!(
                "{title} cannot be told of a headroom: whoever asks for more may use it; --hard keeps it free"
            ));
        }
        let many = |tenant: &&Tenant| tenant.eligible.iter().filter(|eligible| **eligible).count();
        if let Some(tenant) = self.tenants.iter().find(|tenant| {
            self.target == Target::Kueue && tenant.is_leaf && many(tenant) > targets::kueue::FLAVORS
        }) {
            notes.push(format!(
                "{title} takes {} flavors a queue at most: {} is told those of which it has most",
                targets::kueue::FLAVORS,
                tenant.id
            ));
        }
        let weighted = self.tenants.iter().any(|tenant| tenant.weight != Decimal::ONE);
        if weighted && !self.target.knows_weights() {
            notes.push(format!("{title} takes no weights beside amounts: what is idle goes by the amounts"));
        }
        let over_all = |of: fn(&Tenant) -> &Vec<Option<u128>>| {
            self.tenants.iter().any(|tenant| of(tenant).iter().any(Option::is_some))
        };
        if self.target.knows_classes() && over_all(|tenant| &tenant.limit_over_all) {
            notes.push(format!("{title} takes limits on each class: limits over all classes are not told"));
        }
        let has_reserves = over_all(|tenant| &tenant.reserve) || over_all(|tenant| &tenant.reserve_over_all);
        if has_reserves && !self.target.knows_reserves() {
            notes.push(format!("{title} lends what is idle: reserves are not told"));
        } else if self.target.knows_classes() && over_all(|tenant| &tenant.reserve_over_all) {
            notes.push(format!(
                "{title} takes reserves on each class: reserves over all classes are not told"
            ));
        }
        self.notes.extend(notes);
    }

    /// Says who may have nothing of a resource that it has some of by the answer, where the configuration states that as a maximum.
    fn note_zeros(&self, notes: &mut Vec<String>) {
        let n = self.resources.len();
        for (r, resource) in self.resources.iter().enumerate() {
            let Some(called) = &resource.called else { continue };
            let is_zero = |tenant: &&Tenant| {
                let exact: f64 = tenant.exact.iter().skip(r).step_by(n).sum();
                exact > 1e-9 && self.amount(tenant, None, r) == 0
            };
            let mut held = self.tenants.iter().filter(is_zero).map(|tenant| tenant.id.as_str());
            let Some(first) = held.next() else { continue };
            let others = match held.count() {
                0 => String::new(),
                more => format!(" and {more} more"),
            };
            notes.push(format!(
                "the maximum of {first}{others} has {called} 0, or is left out where all of it is 0: a task that asks for {} cannot run \
                 under a maximum of 0; state a smaller --unit {}=AMOUNT",
                resource.name, resource.name
            ));
        }
    }

    /// Lines that say where the file comes from and what it lacks, for its comments.
    pub(crate) fn comments(&self) -> Vec<String> {
        let mut lines = vec![
            format!("Made by fairplan export {} from the solution {}", self.target, self.source.solution),
            format!("of the instance {}.", self.source.instance),
            format!("{}: {}", crate::stated::MARK, self.stated),
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

/// What is left of one after the headroom, in billionths.
fn free_part(headroom: Decimal) -> Result<u128, Violation> {
    let problem = "must be a part of one, from 0 to below 1, with at most nine decimals";
    let billionths = headroom.scaled(-9).filter(|part| *part < BILLION);
    billionths.map(|part| BILLION - part).ok_or_else(|| Violation::new("headroom", headroom, problem))
}
