//! What a `fairplan.export.v1` states, matched with its instance.

use crate::foreign::Foreign;
use fairplan_exports::{ExportBody, ExportedAmount};
use fairplan_instances::quantity::Quantity;
use fairplan_instances::{ClassId, Decimal, GroupId, Instance, Owner, ResourceId};
use fairplan_verify::{AmountClaim, ExportClaim, ExportedTenantClaim, Verdict, verify_export};
use std::collections::{HashMap, HashSet};

/// An export whose tenants, classes and resources are those of the instance.
pub struct StatedExport {
    claim: ExportClaim,
}

impl StatedExport {
    /// Matches a document with the instance it says it belongs to.
    ///
    /// # Errors
    /// Where the two cannot be matched: another hash, a class or resource that is not there, a tenant that is no group or
    /// user, is there twice or stands in none that stands before it.
    pub fn new(body: &ExportBody, instance: &Instance, sha256: &str) -> Result<Self, Foreign> {
        if body.instance_sha256 != sha256 {
            let problem = format!(
                "is the hash of another instance; this one's is {sha256}. If servers came or left since, import, solve and export again"
            );
            return Err(Foreign::new("instance_sha256", &body.instance_sha256, problem));
        }
        let headroom = Decimal::from_f64(body.headroom)
            .map_err(|_| Foreign::new("headroom", &body.headroom.to_string(), "must be a part of one"))?;
        let memory = body.memory_in.bytes();
        let mut position: HashMap<&str, usize> = HashMap::new();
        let mut tenants: Vec<ExportedTenantClaim> = Vec::with_capacity(body.tenants.len());
        let owners = Owners::new(instance);
        let mut told: HashSet<Owner> = HashSet::new();
        for (t, tenant) in body.tenants.iter().enumerate() {
            let place = |field: &str| format!("tenants[{t}].{field}");
            let parent = match &tenant.parent {
                None => None,
                Some(id) => Some(*position.get(id.as_str()).ok_or_else(|| {
                    Foreign::new(place("parent"), id, "no tenant of this id stands before this one")
                })?),
            };
            let amounts = tenant.amounts.iter().enumerate();
            let amounts = amounts.map(|(k, amount)| {
                amount_of(amount, instance, memory).map_err(|(field, value, problem)| {
                    Foreign::new(format!("tenants[{t}].amounts[{k}].{field}"), &value, problem)
                })
            });
            let amounts = amounts.collect::<Result<_, _>>()?;
            let above = parent.map(|parent: usize| tenants[parent].owner);
            let owner = owners.of(&tenant.id, above).find(|owner| !told.contains(owner));
            let owner = owner.ok_or_else(|| {
                let problem = match tenants.iter().any(|known| known.id == tenant.id) {
                    true => "is there twice, or below another group than in the instance",
                    false => "there is no such group or user in the instance, or not below this parent",
                };
                Foreign::new(place("id"), &tenant.id, problem)
            })?;
            told.insert(owner);
            // Users and groups may have the same id; a parent is a group, which is named first.
            position.entry(&tenant.id).or_insert(t);
            let (id, share) = (tenant.id.clone(), tenant.share);
            tenants.push(ExportedTenantClaim { id, owner, parent, share, amounts });
        }
        Ok(Self { claim: ExportClaim { headroom, tenants } })
    }

    /// What the checker says.
    pub fn verdicts(&self, instance: &Instance) -> Vec<Verdict> {
        verify_export(instance, &self.claim)
    }
}

/// Groups and users by their ids.
struct Owners<'a> {
    instance: &'a Instance,
    groups: HashMap<&'a str, GroupId>,
    users: HashMap<&'a str, Owner>,
}

impl<'a> Owners<'a> {
    fn new(instance: &'a Instance) -> Self {
        let groups = instance.groups().iter().enumerate().map(|(g, group)| (group.id.as_str(), GroupId(g)));
        let users = instance.users().map(|user| (user.id(), Owner::User(user.index())));
        Self { instance, groups: groups.collect(), users: users.collect() }
    }

    /// The group and the user of an id directly below a tenant, or at the top.
    fn of(&self, id: &str, above: Option<Owner>) -> impl Iterator<Item = Owner> {
        let instance = self.instance;
        let above = match above {
            None => Some(None),
            Some(Owner::Group(group)) => Some(Some(group)),
            Some(Owner::User(_)) => None,
        };
        let group = self.groups.get(id).copied();
        let group = group.filter(|group| above == Some(instance.groups()[group.0].parent)).map(Owner::Group);
        let is_here = move |owner: &Owner| match owner {
            Owner::User(user) => above == Some(instance.user(*user).group()),
            Owner::Group(_) => false,
        };
        group.into_iter().chain(self.users.get(id).copied().filter(is_here))
    }
}

fn amount_of(
    amount: &ExportedAmount,
    instance: &Instance,
    memory: u128,
) -> Result<AmountClaim, (&'static str, String, &'static str)> {
    let class = instance.classes().iter().position(|class| class.id == amount.class);
    let class = class.ok_or_else(|| ("class", amount.class.clone(), "there is no such class of servers"))?;
    let resource = instance.resources().iter().position(|name| *name == amount.resource);
    let resource =
        resource.ok_or_else(|| ("resource", amount.resource.clone(), "there is no such resource"))?;
    let refused = |problem| ("unit", amount.unit.clone(), problem);
    let unit = Quantity::parse(&amount.unit).map_err(refused)?;
    let unit = unit.decimal().and_then(|unit| unit.scaled(-9)).filter(|unit| *unit > 0);
    let unit = unit.ok_or_else(|| refused("must be above 0, with at most nine decimals"))?;
    let per = if fairplan_instances::is_memory(&amount.resource) { memory } else { 1 };
    let (class, resource) = (ClassId(class), ResourceId(resource));
    Ok(AmountClaim { class, resource, unit, per, exact: amount.exact, units: amount.units })
}
