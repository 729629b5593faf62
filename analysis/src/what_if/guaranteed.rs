//! Guarantees that what is left of a cluster cannot keep: who is short of how much, all others having what they are guaranteed.

use super::standing::Standing;
use super::variants::solved;
use crate::tolerance::SHORT;
use fairplan_instances::{
    ClassAmounts, ClassId, Decimal, Draft, GuaranteeResult, Instance, InstanceError, Owner, Quota,
    QuotaAmount, QuotaPart, ResourceAmounts, ResourceId, Shortfall, Solution, Solver,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What is guaranteed and cannot be kept.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ShortGuarantee {
    /// Whose guarantee it is: `user` or `group`, and its id.
    pub owner: String,
    /// What is guaranteed: `4 cpu, 2 gpu on a100`.
    pub guarantee: String,
    /// Which part of what its owner is sure of today it is sure of then, 0 to 1.
    pub kept: f64,
}

/// A cluster divided as far as its guarantees can be kept.
pub(super) struct Kept {
    /// The instance, with as much of its guarantees as can be kept.
    pub instance: Instance,
    /// Its solution.
    pub solution: Solution,
    /// What users and groups have by it; what rounding the guarantees leaves over counts as nothing.
    pub standing: Standing,
    /// Why not all is kept.
    pub not_kept: Option<String>,
}

/// Why a guarantee of what no server has is not kept.
const NOWHERE: &str = "no server is left with what is guaranteed on it";

/// Guarantees are lowered at most so often; then none is counted.
const ROUNDS: usize = 40;

/// The DRFH of a variant. Where what is guaranteed cannot be kept, those whose guarantees stand against each other have the same
/// part of them, the largest that there can be, and all others the whole; nobody has any where that cannot be told.
pub(super) fn solved_as_far_as_guaranteed(
    solver: &dyn Solver,
    variant: Instance,
) -> Result<Kept, InstanceError> {
    let (mut instance, mut not_kept): (Instance, Option<String>) = (variant, None);
    if let Some(left) = without_what_is_nowhere(&instance) {
        instance = left;
        not_kept = Some(NOWHERE.to_owned());
    }
    for _ in 0..ROUNDS {
        match solved(solver, &instance) {
            Ok(solution) => return Ok(Kept::new(instance, solution, not_kept)),
            Err(InstanceError::Guarantees(shortfall)) => {
                not_kept.get_or_insert_with(|| shortfall.to_string());
                let Some(lower) = lowered(&instance, &shortfall) else { break };
                instance = lower;
            }
            // A guarantee inside another may no longer be a part of that.
            Err(InstanceError::Inapplicable(violation)) if instance.has_guarantees() => {
                not_kept.get_or_insert_with(|| violation.to_string());
                break;
            }
            Err(other) => return Err(other),
        }
    }
    let without = instance.without_parts(&[QuotaPart::Guarantees]).map_err(InstanceError::Inapplicable)?;
    let solution = solved(solver, &without)?;
    Ok(Kept::new(without, solution, not_kept))
}

impl Kept {
    fn new(instance: Instance, solution: Solution, not_kept: Option<String>) -> Self {
        let standing = match not_kept {
            None => Standing::of(&instance, &solution),
            Some(_) => Standing::of_rounded(&instance, &solution),
        };
        Self { instance, solution, standing, not_kept }
    }
}

/// The instance without guarantees on servers that have nothing of the resource; `None` if there are none.
fn without_what_is_nowhere(instance: &Instance) -> Option<Instance> {
    let is_there = |sure: QuotaAmount<'_>| {
        let classes = instance.classes().iter().enumerate();
        classes
            .filter(|(l, _)| sure.covers(ClassId(*l)))
            .any(|(_, class)| class.count > 0 && !class.capacity[sure.resource.0].is_zero())
    };
    if instance.quotas().iter().all(|(_, quota)| quota.guaranteed().all(is_there)) {
        return None;
    }
    let mut draft = Draft::from(instance);
    for stated in &mut draft.quotas {
        let kept = |classes: Option<&[ClassId]>, (resource, amount): &(ResourceId, Decimal)| {
            is_there(QuotaAmount { classes, resource: *resource, amount: *amount })
        };
        let Quota { guarantee, guarantees, .. } = &mut stated.quota;
        guarantee.retain(|sure| kept(None, sure));
        for ClassAmounts { classes, amounts } in guarantees.iter_mut() {
            amounts.retain(|sure| kept(Some(classes), sure));
        }
        guarantees.retain(|over| !over.amounts.is_empty());
    }
    draft.quotas.retain(|stated| !stated.quota.is_empty());
    draft.build().ok()
}

/// The instance with less guaranteed to those whom a shortfall names, and inside their groups. `None` if it names nobody.
fn lowered(instance: &Instance, shortfall: &Shortfall) -> Option<Instance> {
    // Rounded down, so that what is left fits.
    let part = (shortfall.part * 1e9).floor() / 1e9;
    let named: Vec<Owner> = (instance.quotas().iter())
        .filter(|(owner, quota)| quota.has_guarantee() && shortfall.who.contains(&instance.name_of(*owner)))
        .map(|(owner, _)| *owner)
        .collect();
    if named.is_empty() || !(0.0..1.0).contains(&part) {
        return None;
    }
    let mut inside = vec![false; instance.groups().len()];
    for owner in &named {
        if let Owner::Group(group) = owner {
            inside.iter_mut().zip(instance.groups_inside(*group)).for_each(|(any, is)| *any |= is);
        }
    }
    let is_lowered = |owner: Owner| match owner {
        Owner::Group(group) => inside[group.0],
        Owner::User(user) => {
            named.contains(&owner) || instance.user(user).group().is_some_and(|group| inside[group.0])
        }
    };
    let to_digits = |digits: i32| {
        let mut draft = Draft::from(instance);
        for (stated, (owner, _)) in draft.quotas.iter_mut().zip(instance.quotas()) {
            if is_lowered(*owner) {
                let Quota { guarantee, guarantees, .. } = &mut stated.quota;
                let some = guarantees.iter_mut().map(|over| &mut over.amounts);
                for amounts in some.chain([guarantee]) {
                    lower(amounts, part, digits);
                }
                guarantees.retain(|over| !over.amounts.is_empty());
            }
        }
        draft.quotas.retain(|stated| !stated.quota.is_empty());
        draft.build().ok()
    };
    // What rounding leaves over, others would have. Of a large cluster so many digits may be too long to be exact.
    DIGITS.into_iter().find_map(to_digits)
}

/// To how many digits guarantees are lowered: the first of these that can be.
const DIGITS: [i32; 2] = [10, 7];

/// So much of each amount, to so many digits.
fn lower(amounts: &mut ResourceAmounts, part: f64, digits: i32) {
    for (_, amount) in amounts.iter_mut() {
        let much = amount.to_f64() * part;
        let text = if much > 0.0 {
            let unit = much.log10().floor() as i32 + 1 - digits;
            format!("{}e{unit}", (much / 10f64.powi(unit)).floor())
        } else {
            "0".into()
        };
        *amount = text.parse().unwrap_or_default();
    }
    amounts.retain(|(_, amount)| !amount.is_zero());
}

/// Whose guarantees are less than they were, who is short of the largest part first: what all users are sure of, in the same shares.
pub(super) fn short_of(instance: &Instance, before: &[f64], after: &[f64]) -> Vec<ShortGuarantee> {
    let sums = |sure: &[f64]| instance.of_groups(0.0, |i| sure[i], |a, b| a + b);
    let (before_of, after_of) = (sums(before), sums(after));
    let guarantees = instance.quotas().iter().filter(|(_, quota)| quota.has_guarantee());
    let mut short: Vec<ShortGuarantee> = guarantees
        .filter_map(|(owner, quota)| {
            let (before, after) = match owner {
                Owner::Group(group) => (before_of[group.0], after_of[group.0]),
                Owner::User(user) => (before[user.0], after[user.0]),
            };
            let guarantee = || GuaranteeResult::stated(instance, *owner, quota).in_words();
            (after < before * (1.0 - SHORT)).then(|| ShortGuarantee {
                owner: instance.name_of(*owner),
                guarantee: guarantee(),
                kept: after / before,
            })
        })
        .collect();
    short.sort_by(|a, b| a.kept.total_cmp(&b.kept));
    short
}
