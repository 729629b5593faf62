//! What a `fairplan.export.v1` says that its target's file has: amounts of queues, under the names that the file gives them.

use crate::amounts::{MEBI, called};
use crate::document::ExportBody;
use crate::{Target, names, targets};
use fairplan_instances::quantity::Quantity;
use fairplan_instances::{Instance, Violation, is_memory};
use std::collections::{BTreeMap, HashSet};

/// A queue of the target's file.
#[derive(Clone, Debug, PartialEq)]
pub struct ToldQueue {
    /// What the file calls it, by its path where it has paths.
    pub name: String,
    /// Whether nobody is below it.
    pub is_leaf: bool,
    /// What it gets, by class (nothing where the file names none) and resource: in cores, bytes (of YARN and Slurm: MiB) or pieces.
    pub amounts: BTreeMap<(String, String), f64>,
}

impl ToldQueue {
    /// Classes of which a queue in the target's file has some at most.
    pub const CLASSES: usize = targets::kueue::FLAVORS;
}

impl ExportBody {
    /// Whom it is for.
    ///
    /// # Errors
    /// A target that is not known.
    pub fn told_target(&self) -> Result<Target, Violation> {
        self.target.parse()
    }

    /// What the file of its target says each tenant gets, tenant by tenant; Kueue's and Slurm's say it of leaves only.
    ///
    /// # Errors
    /// A target that is not known, and classes and units that are not what an export writes.
    pub fn told(&self, instance: &Instance) -> Result<Vec<ToldQueue>, Violation> {
        let target = self.told_target()?;
        let asked: Vec<(String, &str)> =
            instance.classes().iter().map(|class| (String::new(), class.id.as_str())).collect();
        let given = names::given(target, &asked);
        let counts = instance.classes().iter().map(|class| class.count);
        let named: Vec<(&str, u64)> = given.iter().map(String::as_str).zip(counts).collect();
        let ids = asked.iter().map(|(_, id)| *id);
        let classes: BTreeMap<&str, String> = ids.zip(names::of_classes(target, &named)).collect();
        // Users and groups may have the same id; a parent is a group, which is named first.
        let parents: HashSet<&str> =
            self.tenants.iter().filter_map(|tenant| tenant.parent.as_deref()).collect();
        let mut paths: BTreeMap<&str, String> = BTreeMap::new();
        let mut queues = Vec::with_capacity(self.tenants.len());
        for tenant in &self.tenants {
            let place = || format!("tenant {}", tenant.id);
            let id = tenant.id.as_str();
            let is_leaf = paths.contains_key(id) || !parents.contains(id);
            let above = tenant.parent.as_deref().and_then(|parent| paths.get(parent)).map(String::as_str);
            let name = names::queue(target, above, &tenant.name, is_leaf);
            let mut amounts: BTreeMap<(String, String), f64> = BTreeMap::new();
            for amount in &tenant.amounts {
                let Some(resource) = called(target, &amount.resource) else { continue };
                let problem = "there is no such class of servers";
                let class = classes
                    .get(amount.class.as_str())
                    .ok_or_else(|| Violation::new(place(), &amount.class, problem))?;
                let unit = Quantity::parse(&amount.unit)
                    .map_err(|problem| Violation::new(place(), &amount.unit, problem))?;
                let in_mebibytes = !target.is_kubernetes() && is_memory(&amount.resource);
                let size = if in_mebibytes { MEBI as f64 } else { 1.0 };
                let has = unit.part_of(Quantity::ONE) / size * amount.units as f64;
                *amounts.entry((class.clone(), resource)).or_default() += has;
            }
            paths.entry(id).or_insert_with(|| name.clone());
            queues.push(ToldQueue { name, is_leaf, amounts });
        }
        Ok(queues)
    }
}
