//! Guarantees that cannot be kept together: the part of them that can, and the prices that prove it.

use crate::tolerance::{LITTLE, SAME};
use crate::{
    AloneGroup, ClassId, Decimal, GroupId, Instance, Objective, Owner, QuotaAmount, Solution, UserId, wording,
};
use std::collections::HashSet;
use std::fmt;

/// Proof that servers and limits do not hold what is guaranteed.
///
/// At prices `p >= 0` of capacities and `q >= 0` of limits no allocation costs more than `Σ_lr C_lr p_lr + Σ_j b_j q_j`. What
/// everybody is guaranteed would cost 1 at these prices, each user where it is cheapest, and all there is costs `part`: so no more
/// than that part of all guarantees can be kept at once. Each counts as far as its tasks take it, and of a group as far as limits inside it
/// let them: guarantees that state more than that are lowered by more before they fit.
#[derive(Clone, Debug, PartialEq)]
pub struct Shortfall {
    /// The largest part of all guarantees, each as far as its tasks and limits take it, that can be kept together, below 1.
    pub part: f64,
    /// Prices of capacities, row-major `classes × resources`.
    pub prices: Vec<f64>,
    /// Prices of the limits, one for each of [`Instance::limit_rows`].
    pub limit_prices: Vec<f64>,
    /// What groups are guaranteed: the divisions of [`Instance::guaranteed_groups`], in that order.
    pub guaranteed: Vec<Solution>,
    /// Whose guarantees pay these prices, who pays most first.
    pub who: Vec<String>,
    /// What there is too little of, what is worth most first: resources of classes, and limits.
    pub what: Vec<String>,
    /// Whether servers stand against it, which more of them would mend, or limits alone.
    pub is_of_servers: bool,
    /// Inside which group that is so, if it is not among all: the group is guaranteed something, and what is guaranteed inside it cannot
    /// be kept with that. The proof is one of what the group would divide alone; a group inside that comes after it.
    pub inside: Vec<InsideGroup>,
}

/// A group inside which guarantees cannot be kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InsideGroup {
    /// The group, of all groups or of those inside the one before.
    pub group: GroupId,
    /// What messages call it.
    pub name: String,
}

/// What proves that guarantees cannot be kept together, as [`Shortfall`] has it.
pub struct ShortfallProof {
    /// The largest part of all guarantees that can be kept together.
    pub part: f64,
    /// Prices of capacities, row-major `classes × resources`.
    pub prices: Vec<f64>,
    /// Prices of the limits.
    pub limit_prices: Vec<f64>,
}

/// So many are named of each list.
const NAMED: usize = 5;

impl Shortfall {
    /// Names what has a price, and who pays: `paid` by each user for what it is guaranteed, out of 1.
    pub fn new(
        instance: &Instance,
        objective: Objective,
        proof: ShortfallProof,
        paid: &[f64],
        guaranteed: Vec<Solution>,
        groups: &[AloneGroup],
    ) -> Self {
        let ShortfallProof { part, prices, limit_prices } = proof;
        let m = instance.resources().len();
        let mut what: Vec<(f64, String)> = Vec::new();
        for r in 0..m {
            let worth = |class: usize| {
                let server = &instance.classes()[class];
                prices[class * m + r] * server.capacity[r].to_f64() * server.count as f64
            };
            let classes: Vec<usize> =
                (0..instance.classes().len()).filter(|class| worth(*class) > LITTLE).collect();
            let all: f64 = classes.iter().map(|class| worth(*class)).sum();
            let resource = &instance.resources()[r];
            match classes.as_slice() {
                [] => {}
                some if objective.is_pooled() || some.len() == instance.classes().len() => {
                    what.push((all, resource.clone()))
                }
                some => {
                    let id = |class: &usize| instance.classes()[*class].id.clone();
                    what.push((all, format!("{resource} of {}", listed(some.iter().map(id).collect()))));
                }
            }
        }
        let mut is_of_servers = !what.is_empty();
        for (row, price) in instance.limit_rows().iter().zip(&limit_prices) {
            let worth = price * row.amount.to_f64();
            if worth > LITTLE {
                // A reserve leaves others more where there are more servers.
                is_of_servers |= row.reserve.is_some();
                let (owner, resource) = (instance.name_of(row.owner), &instance.resources()[row.resource.0]);
                let on = on(instance, row.classes.as_deref());
                let amount = |of: Decimal| wording::amount(resource, of.to_f64());
                // Alone with its members a group has no more than it is guaranteed.
                let is_sure = instance.quota_of(row.owner).is_some_and(|quota| {
                    let is_row = |sure: QuotaAmount<'_>| {
                        (sure.resource, sure.amount) == (row.resource, row.amount)
                            && sure.classes == row.classes.as_deref()
                    };
                    quota.guaranteed().any(is_row)
                });
                what.push((
                    worth,
                    match row.reserve {
                        Some(reserve) => {
                            format!("the {} {resource}{on} that {owner} reserves", amount(reserve))
                        }
                        None if is_sure => {
                            format!("the {} {resource}{on} that {owner} is guaranteed", amount(row.amount))
                        }
                        None => format!("the limit of {owner} of {} {resource}{on}", amount(row.amount)),
                    },
                ));
            }
        }
        let in_groups: HashSet<UserId> =
            groups.iter().flat_map(|alone| alone.members.iter().copied()).collect();
        let of_groups = groups.iter().map(|alone| {
            let pays: f64 = alone.members.iter().map(|UserId(user)| paid[*user]).sum();
            (pays, instance.name_of(Owner::Group(alone.group)))
        });
        let of_users = instance.quotas().iter().filter_map(|(owner, quota)| match owner {
            Owner::User(user) if quota.has_guarantee() && !in_groups.contains(user) => {
                Some((paid[user.0], instance.name_of(*owner)))
            }
            _ => None,
        });
        let ordered = |mut all: Vec<(f64, String)>| {
            let most = all.iter().map(|(much, _)| *much).fold(0.0, f64::max);
            all.retain(|(much, _)| *much > LITTLE * most);
            all.sort_by(|one, other| other.0.total_cmp(&one.0));
            all.into_iter().map(|(_, name)| name).collect()
        };
        Self {
            part,
            prices,
            limit_prices,
            guaranteed,
            who: ordered(of_groups.chain(of_users).collect()),
            what: ordered(what),
            is_of_servers,
            inside: Vec::new(),
        }
    }

    /// The part in words: `at most 75.00% of each`.
    pub fn part_in_words(&self) -> String {
        // Rounded up, so that no more can be kept, but not by what rounding left of a round number; and it is never said that all can be.
        let hundredths = (self.part * (1.0 - SAME) * 1e4).ceil();
        let part = match hundredths < 1e4 {
            true => format!("at most {:.2}%", hundredths / 1e2),
            false => "less than 100%".into(),
        };
        format!("{part} of each, as far as its tasks and limits take it")
    }

    /// The same of an instance in which this was found of what one of its groups would divide alone.
    pub fn inside(mut self, instance: &Instance, group: GroupId) -> Self {
        let (owner, name) = (Owner::Group(group), instance.name_of(Owner::Group(group)));
        // Alone its guarantee is its limit.
        for sure in instance.quota_of(owner).iter().flat_map(|quota| quota.guaranteed()) {
            let (resource, on) = (&instance.resources()[sure.resource.0], on(instance, sure.classes));
            let (amount, as_limit) =
                (sure.amount, format!("the limit of {name} of {} {resource}{on}", sure.amount));
            for what in self.what.iter_mut().filter(|what| **what == as_limit) {
                *what = format!("the {amount} {resource}{on} that {name} is guaranteed");
            }
        }
        self.inside.insert(0, InsideGroup { group, name });
        self
    }
}

/// On which classes an amount is, where it is not on all.
fn on(instance: &Instance, classes: Option<&[ClassId]>) -> String {
    classes.map_or(String::new(), |classes| {
        format!(
            " on {}",
            listed(classes.iter().map(|class| instance.classes()[class.0].id.clone()).collect())
        )
    })
}

fn listed(names: Vec<String>) -> String {
    match names.len() {
        0 => String::new(),
        1 => names.concat(),
        n if n > NAMED => format!("{} and {} more", names[..NAMED].join(", "), n - NAMED),
        n => format!("{} and {}", names[..n - 1].join(", "), names[n - 1]),
    }
}

impl fmt::Display for Shortfall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let together = "the guarantees cannot be kept together";
        let (whose, ways) = match self.inside.last() {
            None if self.is_of_servers => (together.to_owned(), "lower guarantees or add servers"),
            None => (together.to_owned(), "lower guarantees or raise limits"),
            Some(InsideGroup { name, .. }) => (
                format!(
                    "what is guaranteed inside {name} cannot be kept with what that is guaranteed itself"
                ),
                match self.is_of_servers {
                    true => "lower guarantees inside it, raise its own or add servers",
                    false => "lower guarantees inside it or raise its own",
                },
            ),
        };
        write!(
            f,
            "{whose}, {}: {} {} guaranteed more than fits; what stands against it is {}; {ways}",
            self.part_in_words(),
            listed(self.who.clone()),
            if self.who.len() == 1 { "is" } else { "are together" },
            listed(self.what.clone()),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(part: f64) -> String {
        let shortfall = Shortfall {
            part,
            prices: Vec::new(),
            limit_prices: Vec::new(),
            guaranteed: Vec::new(),
            who: Vec::new(),
            what: Vec::new(),
            is_of_servers: true,
            inside: Vec::new(),
        };
        shortfall.part_in_words().split(" of each").next().unwrap().to_owned()
    }

    #[test]
    fn a_part_that_is_round_but_for_rounding_is_told_as_round_and_never_as_all() {
        assert_eq!(told(0.8 * (1.0 + 0.9 * SAME)), "at most 80.00%");
        assert_eq!(told(0.8 * (1.0 + 1.1 * SAME)), "at most 80.01%");
        assert_eq!(told(1.0 - 1e-12), "less than 100%");
    }

    #[test]
    fn what_is_kept_at_most_is_rounded_up() {
        assert_eq!(told(0.60909), "at most 60.91%");
        assert_eq!(told(0.99985), "at most 99.99%");
    }
}
