//! From what the tenants hold to the answer in whole units that fit: as much less as the headroom takes, rounded from the top of the
//! tree down.

use crate::amounts::{BILLION, MemoryIn, counted};
use crate::export::{Export, ExportOptions, ExportedClass, Source};
use crate::held::Held;
use crate::names::{given, short};
use crate::rounding::largest_remainders;
use crate::sums::Rows;
use crate::tolerance::ROOM;
use crate::tree::{ROOT, Tenant, Tree, is_below_root};
use crate::{Target, kept, notes};
use fairplan_instances::{Decimal, Instance, ServerClass, Violation};

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
        // The target's own root is no level of the tree that is asked for.
        let has_root = target.has_root() && is_below_root(instance);
        let levels = options.levels.unwrap_or(usize::MAX).saturating_add(usize::from(has_root));
        let tree = Tree::new(instance, held, &resources, levels);
        let root =
            tree.tenants.iter().position(|tenant| tenant.id == ROOT && !tenant.is_leaf).filter(|_| has_root);
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
            root,
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
        notes::add(&mut export);
        Ok(export)
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
                if used > most * (1.0 + ROOM) {
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
            // What each got too little of a resource on the classes before: whoever stands first is not first on all of them.
            let mut owed = vec![vec![0.0; children.len()]; self.resources.len()];
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
                for (t, units) in children.iter().zip(largest_remainders(&exact, &owed[r], most, &may_rise)) {
                    let tenant = &mut self.tenants[*t];
                    tenant.units[at] = units;
                    if let Some(left) =
                        rises[*t][r].as_mut().filter(|_| units as f64 > tenant.exact[at].floor())
                    {
                        *left = left.saturating_sub(1);
                    }
                }
                for (owed, t) in owed[r].iter_mut().zip(children) {
                    *owed += self.tenants[*t].exact[at] - self.tenants[*t].units[at] as f64;
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
        let mut names = given(self.target, &asked);
        if let Some(root) = self.root {
            names[root] = ROOT.to_owned();
        }
        self.tenants.iter_mut().zip(names).for_each(|(tenant, name)| tenant.name = name);
    }
}

/// What is left of one after the headroom, in billionths.
fn free_part(headroom: Decimal) -> Result<u128, Violation> {
    let problem = "must be a part of one, from 0 to below 1, with at most nine decimals";
    let billionths = headroom.scaled(-9).filter(|part| *part < BILLION);
    billionths.map(|part| BILLION - part).ok_or_else(|| Violation::new("headroom", headroom, problem))
}
