//! Slurm: an account for each tenant, with its share by the answer, and where it is limited the most that runs at once.

use super::weights;
use crate::amounts::{BILLION, MEBI};
use crate::export::Export;

pub(crate) fn text(export: &Export) -> String {
    let mut text: String = export.comments().iter().map(|line| format!("# {line}\n")).collect();
    // Shares to one in a million of the cluster; whoever gets nothing has the smallest.
    let shares = weights::whole(&export.tenants, |tenant| (tenant.share * 1e6).round());
    for (tenant, share) in export.tenants.iter().zip(shares) {
        let parent = tenant.parent.map_or("root", |parent| export.tenants[parent].name.as_str());
        let limit = |(r, resource): (usize, &crate::amounts::Counted)| {
            let called = resource.called.as_ref()?;
            let limit = export.limit(tenant, None, r)?;
            // Memory in MiB.
            let amount = if resource.is_memory { limit / (MEBI * BILLION) } else { limit / BILLION };
            Some(format!("{called}={amount}{}", if resource.is_memory { "M" } else { "" }))
        };
        let limits: Vec<String> = export.resources.iter().enumerate().filter_map(limit).collect();
        let limits = if limits.is_empty() { String::new() } else { format!(" GrpTRES={}", limits.join(",")) };
        let name = &tenant.name;
        // The second line is for accounts that were there before.
        text += &format!("sacctmgr -i add account name={name} parent={parent} fairshare={share}{limits}\n");
        text += &format!(
            "sacctmgr -i modify account where name={name} set parent={parent} fairshare={share}{limits}\n"
        );
    }
    text
}
