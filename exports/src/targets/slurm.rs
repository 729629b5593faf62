//! Slurm: an account for each tenant, with its share by the answer and, where it is limited, the most that runs at once; for what it is
//! sure of a QOS of its own, whose jobs go first up to that; and of all accounts together what the headroom leaves.
//!
//! Of limits of one sort that hold for a job those of the QOS of its partition count alone, else those of its own QOS, else those of accounts
//! (Slurm, "Resource Limits", hierarchy). So what accounts have together is limited by `GrpTRES` of accounts only, and what runs in the QOS of one
//! account by `MaxTRESPerAccount`, which is another sort.

use super::weights;
use crate::amounts::{BILLION, Counted, MEBI};
use crate::export::Export;
use crate::tree::Tenant;
use fairplan_instances::wording::counted;

/// What the names of the QOS of tenants with nobody below them begin with.
const SURE: &str = "sure-";

/// What jobs in the QOS of their account come before others by.
const PRIORITY: u32 = 1000;

pub(crate) fn text(export: &Export) -> String {
    let mut text: String = export.comments().iter().map(|line| format!("# {line}\n")).collect();
    text += &partitions(export);
    // What an account uses is the sum of what its jobs are billed, each by its dominant resource: that of an account with others below it
    // is more than its own dominant share. Shares to one in a million of the cluster; whoever gets nothing has the smallest.
    let shares = weights::whole(&export.tenants, weights::LARGEST, |tenant| (tenant.billed * 1e6).round());
    for (t, (tenant, share)) in export.tenants.iter().zip(shares).enumerate() {
        let parent = tenant.parent.map_or("root", |parent| export.tenants[parent].name.as_str());
        let limits = written(export, |r| export.limit(t, None, r));
        let name = &tenant.name;
        // For accounts that were there before. A parent has a line of its own: where it stays the same, sacctmgr does nothing of the
        // whole line.
        text += &format!("sacctmgr -i add account name={name} parent={parent}\n");
        text += &format!("sacctmgr -i modify account where name={name} set parent={parent}\n");
        text +=
            &format!("sacctmgr -i modify account where name={name} set fairshare={share} GrpTRES={limits}\n");
        if tenant.is_leaf {
            let sure =
                written(export, |r| (!has_no_end(export, tenant, r)).then(|| export.amount(tenant, None, r)));
            // It is there before it is given anything, so that a second run changes what the first one made.
            text += &format!("sacctmgr -i add qos name={SURE}{name}\n");
            text += &format!(
                "sacctmgr -i modify qos where name={SURE}{name} set MaxTRESPerAccount={sure} Priority={PRIORITY}\n"
            );
            text += &format!("sacctmgr -i modify account where name={name} set qos+={SURE}{name}\n");
        }
    }
    text
}

/// Whether the QOS of a tenant states no end of a resource. Every job has cores and memory, whether it asks for them or not: 0 of them would let
/// none run.
pub(crate) fn has_no_end(export: &Export, tenant: &Tenant, r: usize) -> bool {
    let resource = &export.resources[r];
    let is_everybodys = resource.is_memory || resource.called.as_deref() == Some("cpu");
    is_everybodys && tenant.tasks.iter().all(|task| task[r] == 0)
}

/// Amounts as `GrpTRES` takes them: cores and pieces whole, memory in MiB; -1 takes away a limit that was there.
fn written(export: &Export, of: impl Fn(usize) -> Option<u128>) -> String {
    let one = |(r, resource): (usize, &Counted)| {
        let called = resource.called.as_ref()?;
        let Some(amount) = of(r) else { return Some(format!("{called}=-1")) };
        let amount = if resource.is_memory { amount / (MEBI * BILLION) } else { amount / BILLION };
        Some(format!("{called}={amount}{}", if resource.is_memory { "M" } else { "" }))
    };
    export.resources.iter().enumerate().filter_map(one).collect::<Vec<_>>().join(",")
}

/// What belongs into `slurm.conf`, as comments, and what the headroom leaves to all accounts.
fn partitions(export: &Export) -> String {
    let mut text = String::from(
        "# For slurm.conf: jobs count by their dominant resource, those that are sure go first and then those of accounts that have little of their \
         shares, a partition for each class, limits that hold. No partition may have a QOS with GrpTRES, which would count instead of them.\n\
         #   PriorityType=priority/multifactor\n#   PriorityFlags=MAX_TRES\n#   PriorityWeightQOS=1000000\n#   PriorityWeightFairshare=100000\n\
         #   AccountingStorageEnforce=limits,qos\n",
    );
    let tracked: Vec<&str> =
        export.resources.iter().filter_map(|resource| resource.called.as_deref()).collect();
    text += &format!("#   AccountingStorageTRES={}\n", tracked.join(","));
    let weight = |(r, resource): (usize, &Counted)| {
        let called = resource.called.as_ref()?;
        // A thousand for the whole cluster; of memory for each GiB.
        let total = export.totals[r] * resource.unit as f64 / BILLION as f64;
        let total = if resource.is_memory { total / (MEBI << 10) as f64 } else { total };
        let unit = if resource.is_memory { "G" } else { "" };
        (total > 0.0).then(|| format!("{called}={:.6}{unit}", 1000.0 / total))
    };
    let weights: Vec<String> = export.resources.iter().enumerate().filter_map(weight).collect();
    for class in &export.classes {
        let nodes = if class.servers.is_empty() {
            format!("<{} of this class>", counted(class.count, "node", "nodes"))
        } else {
            class.servers.join(",")
        };
        text += &format!(
            "#   PartitionName={} Nodes={nodes} TRESBillingWeights=\"{}\"\n",
            class.name,
            weights.join(",")
        );
    }
    if !export.headroom.is_zero() {
        let n = export.resources.len();
        let all =
            |r: usize| export.room.iter().skip(r).step_by(n).map(|units| u128::from(*units)).sum::<u128>();
        let room = written(export, |r| Some(all(r) * export.resources[r].unit));
        text += &format!("sacctmgr -i modify account where name=root set GrpTRES={room}\n");
    }
    text
}
