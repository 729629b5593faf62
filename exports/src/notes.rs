//! What a target cannot be told, a sentence each.

use crate::Target;
use crate::amounts::Counted;
use crate::export::Export;
use crate::targets::kueue::FLAVORS;
use crate::targets::slurm;
use crate::tolerance::{NOTHING, WHOLE};
use crate::tree::Tenant;
use fairplan_instances::{Decimal, ResourceKind};

/// Adds the notes on an answer that is rounded and named.
pub(crate) fn add(export: &mut Export) {
    let mut notes = Vec::new();
    for resource in 0..export.resources.len() {
        uncounted(export, resource, &mut notes);
        without_domain(export, resource, &mut notes);
        lost_by_rounding(export, resource, &mut notes);
    }
    if export.target == Target::YuniKorn && export.hard {
        (0..export.resources.len()).for_each(|resource| maximum_of_nothing(export, resource, &mut notes));
    }
    told_in_sums(export, &mut notes);
    if export.target == Target::Slurm {
        qos(export, &mut notes);
    }
    without_place(export, &mut notes);
    plugin(export, &mut notes);
    order_of_flavors(export, &mut notes);
    export.notes.extend(notes);
}

/// What a tenant has of a resource by the answer on each class.
fn exact_of<'a>(export: &'a Export, tenant: &'a Tenant, resource: usize) -> impl Iterator<Item = f64> + 'a {
    tenant.exact.iter().skip(resource).step_by(export.resources.len()).copied()
}

/// The first, and how many more there are.
fn named(mut ids: impl Iterator<Item = impl AsRef<str>>) -> Option<String> {
    let first = ids.next()?;
    Some(match ids.count() {
        0 => first.as_ref().to_owned(),
        more => format!("{} and {more} more", first.as_ref()),
    })
}

fn uncounted(export: &Export, resource: usize, notes: &mut Vec<String>) {
    let counted = &export.resources[resource];
    let is_held = || export.tenants.iter().any(|tenant| exact_of(export, tenant, resource).any(|x| x > 0.0));
    if counted.called.is_none() && is_held() {
        let title = export.target.title();
        let rests =
            (0..export.tenants.len()).filter(|t| export.tenants[*t].is_leaf && export.rests_on(*t, resource));
        let unsure = named(rests.map(|t| &export.tenants[t].id)).map_or_else(String::new, |who| {
            format!(", and the part of {who} that needs it is not sure: others may take all of it")
        });
        notes.push(format!("{title} counts no {}: nobody is told what it gets of it{unsure}", counted.name));
    }
}

/// In Kubernetes a GPU is asked for by the name under which a node's plugin offers it, which has a domain.
fn without_domain(export: &Export, resource: usize, notes: &mut Vec<String>) {
    let name = &export.resources[resource].name;
    let is_told = !matches!(export.target, Target::Kai) && export.target.is_kubernetes();
    if is_told && ResourceKind::of(name) == ResourceKind::Gpu && !name.contains('/') {
        notes.push(format!(
            "{name} is told under that name, and pods ask for GPUs by names such as nvidia.com/gpu: give the resource the name that they ask for"
        ));
    }
}

fn lost_by_rounding(export: &Export, resource: usize, notes: &mut Vec<String>) {
    let counted = &export.resources[resource];
    let has = |tenant: &Tenant| exact_of(export, tenant, resource).sum::<f64>();
    let is_lost = |tenant: &&Tenant| has(tenant) > WHOLE && export.amount(tenant, None, resource) == 0;
    let leaves = export.tenants.iter().filter(|tenant| tenant.is_leaf);
    let Some(who) = named(leaves.filter(is_lost).map(|tenant| &tenant.id)) else { return };
    if counted.called.is_none() {
        return;
    }
    // A QOS without a word of a resource would make sure of all of it.
    let forbids = match export.target {
        Target::Slurm => ", and their QOS lets no job run that asks for it",
        _ => "",
    };
    let in_parts = export.tenants.iter().filter(is_lost).any(|tenant| has(tenant) >= 1.0 - WHOLE);
    let each = if in_parts { " on each class" } else { "" };
    notes.push(format!(
        "{who} would get less than a unit of {}{each} and get none{forbids}; {}",
        counted.name,
        smaller_unit(export, counted)
    ));
}

/// What helps whom rounding leaves with nothing of a resource: a smaller unit, where the target counts in smaller ones.
fn smaller_unit(export: &Export, counted: &Counted) -> String {
    let (name, title) = (&counted.name, export.target.title());
    match counted.unit > counted.smallest {
        true => format!("state a smaller --unit {name}=AMOUNT"),
        false => format!("a smaller --unit cannot be, since {title} counts nothing smaller of it"),
    }
}

/// Who may have nothing of a resource that it has some of by the answer, where the configuration states that as a maximum.
fn maximum_of_nothing(export: &Export, resource: usize, notes: &mut Vec<String>) {
    let counted = &export.resources[resource];
    let Some(called) = &counted.called else { return };
    let is_zero = |tenant: &&Tenant| {
        exact_of(export, tenant, resource).sum::<f64>() > NOTHING
            && export.amount(tenant, None, resource) == 0
    };
    let Some(who) = named(export.tenants.iter().filter(is_zero).map(|tenant| &tenant.id)) else { return };
    notes.push(format!(
        "the maximum of {who} has {called} 0, or is left out where all of it is 0: a task that asks for {} cannot run under a maximum \
         of 0; {}",
        counted.name,
        smaller_unit(export, counted)
    ));
}

fn told_in_sums(export: &Export, notes: &mut Vec<String>) {
    let n = export.resources.len();
    let has_some = |tenant: &Tenant, l: usize| tenant.exact[l * n..(l + 1) * n].iter().any(|x| *x > 0.0);
    let is_used = |l: &usize| export.tenants.iter().any(|tenant| has_some(tenant, *l));
    if !export.target.knows_classes() && (0..export.classes.len()).filter(is_used).count() > 1 {
        let title = export.target.title();
        notes.push(format!(
            "{title} is told sums over all classes: on which servers a tenant has them is lost"
        ));
    }
}

/// What Slurm's way of making sure of amounts does to jobs.
fn qos(export: &Export, notes: &mut Vec<String>) {
    let held = || export.tenants.iter().filter(|tenant| export.is_below_a_task(tenant));
    if let Some(who) = named(held().map(|tenant| &tenant.id)) {
        let (verb, their) = if held().count() == 1 { ("is", "its") } else { ("are", "their") };
        notes.push(format!(
            "{who} {verb} given less than the smallest of {their} jobs asks for: in {their} QOS no job runs, and none of it is sure"
        ));
    }
    for (r, resource) in export.resources.iter().enumerate() {
        let leaves = || export.tenants.iter().filter(|tenant| tenant.is_leaf);
        let endless = || leaves().filter(|tenant| slurm::has_no_end(export, tenant, r));
        let is_sure = leaves().any(|tenant| !slurm::has_no_end(export, tenant, r));
        if let Some(who) = named(endless().map(|tenant| &tenant.id)).filter(|_| is_sure) {
            let jobs = if endless().count() == 1 { "its" } else { "their" };
            notes.push(format!(
                "{who} asks for no {0}, and Slurm gives every job some: {jobs} QOS has no limit of it, so that what {jobs} jobs have of it is \
                 not kept for those who are sure of some",
                resource.name
            ));
        }
    }
    notes.push(format!(
        "{} makes sure of what jobs ask for in the QOS of their account (--qos=sure-ACCOUNT); of the others each account has its part \
         by fairshare",
        export.target.title()
    ));
}

/// Under which plugin queues of Volcano go by what is written.
fn plugin(export: &Export, notes: &mut Vec<String>) {
    if export.target == Target::Volcano {
        let hierarchy = match export.tenants.iter().any(|tenant| !tenant.is_leaf) {
            true => " with enableHierarchy: true",
            false => "",
        };
        notes.push(format!(
            "Volcano goes by `deserved` where the configuration of its scheduler has the plugin capacity{hierarchy} in the place of proportion, and the action \
             reclaim"
        ));
    }
}

/// By what the flavors of a queue of Kueue are in order: of those that have room a task takes the first.
fn order_of_flavors(export: &Export, notes: &mut Vec<String>) {
    let has_several =
        |tenant: &Tenant| tenant.is_leaf && tenant.eligible.iter().filter(|it| **it).count() > 1;
    if export.target == Target::Kueue && export.tenants.iter().any(has_several) {
        notes.push(
            "Kueue gives a task the first flavor of its queue that has room: each queue lists that first of which it has most, whatever order is \
             deployed"
                .into(),
        );
    }
}

/// What the target has no place for: headroom, more flavors, weights, and quotas of some shapes.
fn without_place(export: &Export, notes: &mut Vec<String>) {
    let (target, title) = (export.target, export.target.title());
    let keeps_headroom = matches!(target, Target::Kueue | Target::Slurm) || export.hard;
    if !keeps_headroom && export.headroom != Decimal::ZERO {
        notes.push(format!(
            "{title} cannot be told of a headroom: whoever asks for more may use it; --hard keeps it free"
        ));
    }
    let flavors = |tenant: &Tenant| tenant.eligible.iter().filter(|eligible| **eligible).count();
    let has_more = |tenant: &&Tenant| tenant.is_leaf && flavors(tenant) > FLAVORS;
    if let Some(tenant) = export.tenants.iter().find(has_more).filter(|_| target == Target::Kueue) {
        notes.push(format!(
            "{title} takes {FLAVORS} flavors a queue at most: {} is told those of which it has most",
            tenant.id
        ));
    }
    let is_weighted = export.tenants.iter().any(|tenant| tenant.weight != Decimal::ONE);
    if is_weighted && !target.knows_weights() {
        notes.push(format!("{title} takes no weights beside amounts: what is idle goes by the amounts"));
    }
    let some = |of: fn(&Tenant) -> &Vec<Option<u128>>| {
        export.tenants.iter().any(|tenant| of(tenant).iter().any(Option::is_some))
    };
    if target.knows_classes() && some(|tenant| &tenant.limit_over_all) {
        notes.push(format!("{title} takes limits on each class: limits over all classes are not told"));
    }
    // A cohort lends no more than its own quota, of which it has none beside those below it.
    let is_group = |tenant: &&Tenant| !tenant.is_leaf && tenant.reserve.iter().any(Option::is_some);
    if let Some(who) = named(export.tenants.iter().filter(is_group).map(|tenant| &tenant.id))
        .filter(|_| target == Target::Kueue)
    {
        notes.push(format!("{title} takes reserves of queues: those of {who} are not told"));
    }
    let has_reserves = some(|tenant| &tenant.reserve) || some(|tenant| &tenant.reserve_over_all);
    if has_reserves && !target.knows_reserves() {
        notes.push(format!("{title} lends what is idle: reserves are not told"));
    } else if target.knows_classes() && some(|tenant| &tenant.reserve_over_all) {
        notes.push(format!("{title} takes reserves on each class: reserves over all classes are not told"));
    }
}
