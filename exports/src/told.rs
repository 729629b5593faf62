//! What a `fairplan.export.v1` says that its target's file has: amounts of queues, under the names that the file gives them.

use crate::amounts::{MEBI, called, is_memory};
use crate::document::ExportBody;
use crate::names::given;
use crate::{Target, targets};
use fairplan_instances::quantity::Quantity;
use fairplan_instances::{Instance, Violation};
use std::collections::BTreeMap;

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
        let classes: BTreeMap<&str, String> =
            asked.iter().map(|(_, id)| *id).zip(given(target, &asked)).collect();
        let counts: Vec<u64> = instance.classes().iter().map(|class| class.count).collect();
        let unlabelled = instance.classes().get(unlabelled(&counts)).map(|class| class.id.as_str());
        let mut paths: BTreeMap<&str, String> = BTreeMap::new();
        let mut queues = Vec::with_capacity(self.tenants.len());
        for tenant in &self.tenants {
            let place = || format!("tenant {}", tenant.id);
            let has_paths = matches!(target, Target::Yarn | Target::YarnFair | Target::YuniKorn);
            let above = tenant.parent.as_deref().and_then(|parent| paths.get(parent));
            let is_leaf = !self.tenants.iter().any(|other| other.parent.as_ref() == Some(&tenant.id));
            let name = match above {
                Some(above) if has_paths => format!("{above}.{}", tenant.name),
                None if has_paths => format!("root.{}", tenant.name),
                _ if target == Target::Kueue && !is_leaf => format!("cohort {}", tenant.name),
                _ => tenant.name.clone(),
            };
            let mut amounts: BTreeMap<(String, String), f64> = BTreeMap::new();
            for amount in &tenant.amounts {
                let Some(resource) = called(target, &amount.resource) else { continue };
                let problem = "there is no such class of servers";
                let class = classes
                    .get(amount.class.as_str())
                    .ok_or_else(|| Violation::new(place(), &amount.class, problem))?;
                let class = match target {
                    Target::Yarn if unlabelled == Some(amount.class.as_str()) => "",
                    Target::Kueue | Target::Yarn => class,
                    _ => "",
                };
                let unit = Quantity::parse(&amount.unit)
                    .map_err(|problem| Violation::new(place(), &amount.unit, problem))?;
                let in_mebibytes = !target.is_kubernetes() && is_memory(&amount.resource);
                let size = if in_mebibytes { MEBI as f64 } else { 1.0 };
                let has = unit.part_of(Quantity::ONE) / size * amount.units as f64;
                *amounts.entry((class.to_owned(), resource)).or_default() += has;
            }
            // Users and groups may have the same id; a parent is a group, which is named first.
            paths.entry(&tenant.id).or_insert_with(|| name.clone());
            queues.push(ToldQueue { name, is_leaf, amounts });
        }
        Ok(queues)
    }
}

/// The class whose nodes have no label in YARN, by how many servers they have: that with the most, the first of equal ones.
pub(crate) fn unlabelled(counts: &[u64]) -> usize {
    (0..counts.len()).rev().max_by_key(|l| counts[*l]).unwrap_or(0)
}
