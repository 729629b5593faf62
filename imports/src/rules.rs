//! Devices of servers and the rules of tasks, as far as the cluster can keep them.

use super::report::ImportReport;
use super::tasks::{Rules, User};
use fairplan_instances::{Decimal, Draft, DraftUser, Instance, ResourceId, Violation};

/// The instance with devices, each of its size, and the rules of users. A gang that has no room on the empty cluster is none.
pub(super) fn with_rules(
    instance: Instance,
    devices: &[(ResourceId, Decimal)],
    users: &[User<'_>],
    report: &mut ImportReport,
) -> Result<Instance, Violation> {
    let ruled = users.iter().any(|user| *user.rules != Rules::default());
    if devices.is_empty() && !ruled {
        return Ok(instance);
    }
    let mut draft = Draft::from(&instance);
    let devices = dividing(devices, &draft, report);
    for (l, class) in draft.classes.iter_mut().enumerate() {
        for (resource, size) in &devices {
            let place = || format!("server_classes[{l}].capacity.{}", instance.resources()[resource.0]);
            let count = parts(class.capacity[resource.0], *size).ok_or_else(|| {
                let problem = format!("must be a whole number of devices of {size}");
                Violation::new(place(), class.capacity[resource.0], problem)
            })?;
            class.devices.extend((count > 0).then_some((*resource, count)));
        }
    }
    for (user, draft) in users.iter().zip(&mut draft.users) {
        (draft.per_server, draft.spread) = (user.rules.per_server, user.rules.spread);
    }
    let without_gangs = draft.build()?;
    for ((user, draft), held) in users.iter().zip(&mut draft.users).zip(without_gangs.users()) {
        if !user.pieces.is_empty() && !held.fits_somewhere() {
            let count = user.tasks.iter().map(|tasks| tasks.count).sum();
            report.add(
                count,
                "tasks are in gangs of unlike tasks that the empty cluster has no room for: they wait",
            );
        }
        let Some(gang) = user.rules.gang else { continue };
        if held.held_alone(gang.in_one_domain) < gang.tasks {
            let count = user.tasks.iter().map(|tasks| tasks.count).sum();
            report.add(
                count,
                "tasks are in gangs that the empty cluster has no room for: here each runs for itself",
            );
        } else {
            draft.gang = Some(gang);
        }
    }
    draft.build()
}

/// The devices of which every task takes whole ones or a part of one.
fn dividing<'a>(
    devices: &'a [(ResourceId, Decimal)],
    draft: &Draft,
    report: &mut ImportReport,
) -> Vec<&'a (ResourceId, Decimal)> {
    let is_divided = |(ResourceId(r), size): &&(ResourceId, Decimal)| {
        let is_no_part = |demand: &[Decimal]| {
            let units = in_one_unit(demand[*r], *size);
            units.is_none_or(|(amount, size)| amount > size && !amount.is_multiple_of(size))
        };
        let is_odd = |user: &&DraftUser| match user.kinds.is_empty() {
            true => is_no_part(&user.demand),
            false => user.kinds.iter().any(|kind| is_no_part(&kind.demand)),
        };
        let odd = draft.users.iter().filter(is_odd).filter_map(|user| user.tasks).sum();
        let name = &draft.resources[*r];
        let what = format!(
            "tasks ask for more than one device of {name} and no whole number: here {name} is no device"
        );
        report.add(odd, what);
        odd == 0
    };
    devices.iter().filter(is_divided).collect()
}

/// How many times a size an amount is, if that is whole.
fn parts(amount: Decimal, size: Decimal) -> Option<u64> {
    let (amount, size) = in_one_unit(amount, size)?;
    let count = amount.checked_div(size).filter(|_| amount.is_multiple_of(size))?;
    u64::try_from(count).ok()
}

/// Two amounts as whole numbers of one unit.
fn in_one_unit(a: Decimal, b: Decimal) -> Option<(u128, u128)> {
    let unit = a.exponent().min(b.exponent());
    Some((a.scaled(unit)?, b.scaled(unit)?))
}
