//! `fairplan.export.v1`: what each tenant gets on each class, by the answer and in whole units.

use crate::amounts::MemoryIn;
use crate::export::Export;
use crate::tree::Tenant;
use fairplan_instances::Body;
use fairplan_instances::table::{Kind, Table, Tabular};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The answer as a scheduler is told.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ExportBody {
    /// Who is told: `kueue`, `yarn`, `yarn-fair`, `yunikorn`, `volcano`, `kai` or `slurm`.
    pub target: String,
    /// SHA-256 of the instance as fairplan writes it in JSON.
    pub instance_sha256: String,
    /// SHA-256 of the solution's file.
    pub solution_sha256: String,
    /// The part of every class that nobody is given.
    pub headroom: f64,
    /// What the instance counts memory in.
    pub memory_in: MemoryIn,
    /// What the target cannot be told, a sentence each; absent when it is told all.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// The tenants, each before those below it.
    pub tenants: Vec<ExportedTenant>,
}

/// A tenant.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ExportedTenant {
    /// The group or user of the instance.
    pub id: String,
    /// What the target calls it.
    pub name: String,
    /// The id of the tenant it belongs to; absent at the top.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<String>,
    /// Of the cluster's total, the largest part of a resource that it has by the answer. Of a group that is of what its users have together:
    /// where they want different resources it is less than their shares added up, which a solution states.
    pub share: f64,
    /// Of a tenant with nobody below it: at least this part of its answer, at most 1, is left to it whatever the others do with what
    /// they are given: whichever of it they use, wherever their tasks may run. Tasks may be divided. What the headroom takes of the
    /// answer is not left to it. Nothing is sure of what needs a resource that the target does not count, where others may take all of that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kept: Option<f64>,
    /// Of the same: the largest part of a resource that the target's own rule gives it under this configuration when all ask for more
    /// than they have, with all servers as one pool where the target does not know classes. Absent where its tasks need what the target
    /// does not count, and others may take all of that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub entitled: Option<f64>,
    /// What it gets on each class of each resource, where that is not nothing.
    pub amounts: Vec<ExportedAmount>,
}

/// What a tenant gets of a resource on a class.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ExportedAmount {
    /// The class of servers.
    pub class: String,
    /// The resource.
    pub resource: String,
    /// What a unit is, as Kubernetes writes quantities: cores, bytes or pieces.
    pub unit: String,
    /// Units by the answer, less the headroom.
    pub exact: f64,
    /// Whole units that it is told.
    pub units: u64,
}

impl Body for ExportBody {
    const FORMAT: &'static str = "fairplan.export.v1";
}

impl Export {
    /// What is written into a result file.
    pub fn body(&self) -> ExportBody {
        let tenant = |tenant: &Tenant| ExportedTenant {
            id: tenant.id.clone(),
            name: tenant.name.clone(),
            parent: tenant.parent.map(|parent| self.tenants[parent].id.clone()),
            share: tenant.share,
            kept: tenant.kept,
            entitled: tenant.entitled,
            amounts: self.amounts(tenant).collect(),
        };
        ExportBody {
            target: self.target.name().into(),
            instance_sha256: self.source.instance.clone(),
            solution_sha256: self.source.solution.clone(),
            headroom: self.headroom.to_f64(),
            memory_in: self.memory_in,
            notes: self.notes.clone(),
            tenants: self.tenants.iter().map(tenant).collect(),
        }
    }

    fn amounts<'a>(&'a self, tenant: &'a Tenant) -> impl Iterator<Item = ExportedAmount> + 'a {
        let n = self.resources.len();
        let used = (0..tenant.exact.len()).filter(|at| tenant.exact[*at] > 0.0 || tenant.units[*at] > 0);
        used.map(move |at| {
            let resource = &self.resources[at % n];
            ExportedAmount {
                class: self.classes[at / n].id.clone(),
                resource: resource.name.clone(),
                unit: resource.quantity(resource.unit),
                exact: tenant.exact[at],
                units: tenant.units[at],
            }
        })
    }
}

impl Tabular for ExportBody {
    /// A row a tenant.
    fn table(&self) -> Table<'_> {
        let amounts = |tenant: &ExportedTenant| {
            let mut sums: Vec<(&str, &str, u64)> = Vec::new();
            for amount in &tenant.amounts {
                match sums.iter_mut().find(|(resource, _, _)| *resource == amount.resource) {
                    Some(sum) => sum.2 += amount.units,
                    None => sums.push((&amount.resource, &amount.unit, amount.units)),
                }
            }
            let told = sums.into_iter().map(|(resource, unit, units)| match unit {
                "1" => format!("{units} {resource}"),
                unit => format!("{units} x {unit} {resource}"),
            });
            told.collect::<Vec<_>>().join(", ")
        };
        Table::of(&self.tenants)
            .column("tenant", "tenant", Kind::Id, |tenant| &tenant.id)
            .column("name", "name there", Kind::Name, |tenant| &tenant.name)
            .column("share", "largest part", Kind::Share, |tenant| tenant.share)
            .column("entitled", "by its rule", Kind::Share, |tenant| tenant.entitled)
            .column("kept", "kept for sure", Kind::Share, |tenant| tenant.kept)
            .column("amounts", "whole units", Kind::Words, amounts)
            .done()
    }
}
