//! An answer in whole units that a scheduler is told: it fits the servers less the headroom, each number is within one unit of what
//! it stands for, and that is what tenants of the instance may have ([`tenants`]).

mod tenants;
mod tree;
mod used_up;

use crate::Verdict;
use crate::tolerance::WHOLE_UNITS;
use crate::verdict::Worst;
use fairplan_instances::{ClassId, Decimal, Instance, Owner, ResourceId};
use std::collections::HashMap;

/// What tenants are told.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ExportClaim {
    /// The part of each class that nobody is given.
    pub headroom: Decimal,
    /// The tenants, each before those below it.
    pub tenants: Vec<ExportedTenantClaim>,
}

/// What one of them is told.
#[derive(Clone, Debug, PartialEq)]
pub struct ExportedTenantClaim {
    /// Its id.
    pub id: String,
    /// The group or user that it is.
    pub owner: Owner,
    /// The position of the tenant that it belongs to.
    pub parent: Option<usize>,
    /// Of the cluster's total, the largest part of a resource that it has by the answer.
    pub share: f64,
    /// Of which resource on which class.
    pub amounts: Vec<AmountClaim>,
}

/// So many whole units of a resource on a class.
#[derive(Clone, Debug, PartialEq)]
pub struct AmountClaim {
    /// The class.
    pub class: ClassId,
    /// The resource.
    pub resource: ResourceId,
    /// A unit, in billionths of what `per` of the instance's amounts count in.
    pub unit: u128,
    /// How many bytes, cores or pieces one of the instance's is.
    pub per: u128,
    /// Units by the answer.
    pub exact: f64,
    /// Whole units.
    pub units: u64,
}

/// What a class has, and a unit, in billionths.
fn capacity(instance: &Instance, amount: &AmountClaim) -> Option<u128> {
    let class = &instance.classes()[amount.class.0];
    let one = class.capacity[amount.resource.0].scaled(-9)?.checked_mul(amount.per)?;
    one.checked_mul(class.count.into())
}

/// Proves in exact integers that the whole units of all tenants at the top fit each class less the headroom (`units-fit`) and those of
/// the children of each tenant what it has (`children-fit`); that each number is less than one unit off (`within-one-unit`); and that
/// what they stand for fits too (`answer-fits`) and is what the tenants may have: all are there (`all-tenants`), with amounts where
/// their tasks may run (`may-run`), in the proportions of their tasks (`whole-tasks`), no more than their tasks use and their limits
/// allow (`within-limits`), groups with what is below them (`sums`), with the stated shares (`export-shares`), and with nothing left over
/// that a tenant could use (`used-up`).
pub fn verify_export(instance: &Instance, claim: &ExportClaim) -> Vec<Verdict> {
    let mut fit = Worst::of("units-fit", 0.0);
    let mut inside = Worst::of("children-fit", 0.0);
    let mut within = Worst::of("within-one-unit", 1.0 + WHOLE_UNITS);
    let mut answer = Worst::of("answer-fits", WHOLE_UNITS);
    type Sums = HashMap<(ClassId, ResourceId), (u128, f64)>;
    let mut sums: Vec<Sums> = vec![Sums::new(); claim.tenants.len() + 1];
    let billion = 1_000_000_000u128;
    let free = claim.headroom.scaled(-9).and_then(|part| billion.checked_sub(part));
    for tenant in &claim.tenants {
        for amount in &tenant.amounts {
            within.see((amount.units as f64 - amount.exact).abs(), || {
                format!("{}: {} units for {}", tenant.id, amount.units, amount.exact)
            });
            let sum = &mut sums[tenant.parent.map_or(0, |parent| parent + 1)];
            let sum = sum.entry((amount.class, amount.resource)).or_default();
            sum.0 += u128::from(amount.units);
            sum.1 += amount.exact;
        }
    }
    let place = |class: ClassId, resource: ResourceId| {
        format!("{} on {}", instance.resources()[resource.0], instance.classes()[class.0].id)
    };
    let all = claim.tenants.iter().flat_map(|tenant| &tenant.amounts);
    let a_unit: HashMap<(ClassId, ResourceId), &AmountClaim> =
        all.map(|amount| ((amount.class, amount.resource), amount)).collect();
    for tenant in &claim.tenants {
        for amount in &tenant.amounts {
            if a_unit[&(amount.class, amount.resource)].unit != amount.unit {
                fit.fail(|| {
                    format!("{}: another unit of {}", tenant.id, place(amount.class, amount.resource))
                });
            }
        }
    }
    for (&(class, resource), &(units, exact)) in &sums[0] {
        let amount = a_unit[&(class, resource)];
        let room = capacity(instance, amount).zip(free).map(|(all, free)| {
            // Billionths of what is free, rounded down.
            all / billion * free + all % billion * free / billion
        });
        let Some(room) = room else {
            fit.fail(|| format!("{}: cannot be counted", place(class, resource)));
            continue;
        };
        let used = units.saturating_mul(amount.unit);
        fit.see(used.saturating_sub(room) as f64, || {
            format!("{}: {used} billionths of {room}", place(class, resource))
        });
        let of_answer = exact * amount.unit as f64;
        answer.see((of_answer - room as f64) / amount.unit.max(1) as f64, || {
            format!("{}: {exact} units, more than there is", place(class, resource))
        });
    }
    for (parent, tenant) in claim.tenants.iter().enumerate() {
        for (&(class, resource), &(units, _)) in &sums[parent + 1] {
            let own = tenant.amounts.iter().filter(|own| (own.class, own.resource) == (class, resource));
            let has: u128 = own.map(|own| u128::from(own.units)).sum();
            inside.see(units.saturating_sub(has) as f64, || {
                format!("{}: {units} units below it of {}, but {has}", tenant.id, place(class, resource))
            });
        }
    }
    let of_tenants = tenants::seen(instance, claim);
    [fit, inside, within, answer].into_iter().chain(of_tenants).map(Worst::verdict).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use fairplan_instances::{UserId, generate};

    /// Two users of the first class of the paper's example, with so many units of its first resource.
    fn claim(units: [u64; 2], exact: [f64; 2], headroom: &str) -> ExportClaim {
        let tenant = |(user, (units, exact)): (usize, (u64, f64))| ExportedTenantClaim {
            id: "it".into(),
            owner: Owner::User(UserId(user)),
            parent: None,
            share: 0.0,
            amounts: vec![AmountClaim {
                class: ClassId(0),
                resource: ResourceId(0),
                unit: 1_000_000_000,
                per: 1,
                exact,
                units,
            }],
        };
        let tenants = units.into_iter().zip(exact).enumerate().map(tenant).collect();
        ExportClaim { headroom: headroom.parse().unwrap(), tenants }
    }

    fn failed(claim: &ExportClaim) -> Vec<&'static str> {
        let instance = generate::drfh_fig1().unwrap();
        let verdicts = verify_export(&instance, claim);
        let of_units = ["units-fit", "children-fit", "within-one-unit", "answer-fits"];
        let failed = verdicts.into_iter().filter(|verdict| !verdict.holds).map(|verdict| verdict.property);
        failed.filter(|property| of_units.contains(property)).collect()
    }

    #[test]
    fn units_beyond_the_servers_or_one_off_are_refused() {
        let all = generate::drfh_fig1().unwrap().classes()[0].capacity[0].scaled(0).unwrap() as u64;
        let half = all as f64 / 2.0;
        let [a, b] = [all / 2, all - all / 2];
        assert!(failed(&claim([a, b], [half, half], "0")).is_empty());
        assert_eq!(failed(&claim([a, b + 1], [half, half + 1.0], "0")), ["units-fit", "answer-fits"]);
        assert_eq!(failed(&claim([a, b], [half, half], "0.5")), ["units-fit", "answer-fits"]);
        assert_eq!(failed(&claim([0, 1], [1.5, 0.5], "0")), ["within-one-unit"]);
    }

    #[test]
    fn children_have_no_more_than_the_tenant_they_belong_to() {
        let mut below = claim([1, 1], [1.0, 1.0], "0");
        below.tenants[1].parent = Some(0);
        assert!(failed(&below).is_empty());
        below.tenants[1].amounts[0].units = 2;
        below.tenants[1].amounts[0].exact = 2.0;
        assert_eq!(failed(&below), ["children-fit"]);
    }
}
