//! Leaving out a part of all quotas, for questions that do not know it and for comparing with and without.

use super::{Draft, Instance};
use crate::violation::Violation;
use crate::wording::choose;
use std::str::FromStr;

/// A part of what quotas say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QuotaPart {
    /// What users and groups are sure of.
    Guarantees,
    /// The most they can have, over all classes and over some.
    Limits,
    /// What is kept for them.
    Reserves,
}

impl FromStr for QuotaPart {
    type Err = Violation;
    /// `guarantees`, `limits` or `reserves`.
    fn from_str(text: &str) -> Result<Self, Violation> {
        match text {
            "guarantees" => Ok(Self::Guarantees),
            "limits" => Ok(Self::Limits),
            "reserves" => Ok(Self::Reserves),
            _ => Err(Violation::new("without", text, choose(text, &["guarantees", "limits", "reserves"]))),
        }
    }
}

impl Instance {
    /// The same without some parts of all quotas.
    ///
    /// # Errors
    /// None but those of [`Draft::build`], which the instance itself has passed.
    pub fn without_parts(&self, parts: &[QuotaPart]) -> Result<Self, Violation> {
        let mut draft = Draft::from(self);
        draft.leave_out(parts);
        draft.build()
    }
}

impl Draft {
    /// Leaves some parts of all quotas out.
    pub fn leave_out(&mut self, parts: &[QuotaPart]) {
        for stated in &mut self.quotas {
            let quota = &mut stated.quota;
            for part in parts {
                match part {
                    QuotaPart::Guarantees => {
                        quota.guarantee.clear();
                        quota.guarantees.clear();
                    }
                    QuotaPart::Limits => {
                        quota.limit.clear();
                        quota.limits.clear();
                    }
                    QuotaPart::Reserves => {
                        quota.reserve.clear();
                        quota.reserves.clear();
                    }
                }
            }
        }
        self.quotas.retain(|stated| !stated.quota.is_empty());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::quotas::{ClassAmounts, Quota};
    use crate::{ClassId, Decimal, InstanceBuilder, NewUser, Owner, ResourceId, ServerClass};

    #[test]
    fn each_part_is_left_out_alone_and_all_together_leave_none() {
        let mut builder = InstanceBuilder::new("", vec!["cpu".into()]).unwrap();
        builder.class(ServerClass::new("a", 1, vec![Decimal::from(8)])).unwrap();
        let user = builder.user(NewUser::new("u", &[Decimal::ONE])).unwrap();
        let amounts = |amount: u32| vec![(ResourceId(0), Decimal::from(amount))];
        let over = |amount: u32| vec![ClassAmounts { classes: vec![ClassId(0)], amounts: amounts(amount) }];
        let quota = Quota {
            guarantee: amounts(2),
            guarantees: over(1),
            limit: amounts(6),
            limits: over(5),
            reserve: amounts(1),
            reserves: over(2),
        };
        builder.quota(Owner::User(user), quota.clone()).unwrap();
        let instance = builder.build().unwrap();
        let left = |parts: &[QuotaPart]| {
            let changed = instance.without_parts(parts).unwrap();
            changed.quota_of(Owner::User(user)).cloned()
        };
        assert_eq!(left(&[]), Some(quota.clone()));
        let (none, nowhere) = (Vec::new, Vec::new);
        let without_guarantees = Quota { guarantee: none(), guarantees: nowhere(), ..quota.clone() };
        assert_eq!(left(&[QuotaPart::Guarantees]), Some(without_guarantees));
        let without_reserves = Quota { reserve: none(), reserves: nowhere(), ..quota.clone() };
        assert_eq!(left(&[QuotaPart::Reserves]), Some(without_reserves));
        let without_limits = Quota { limit: none(), limits: nowhere(), ..quota };
        assert_eq!(left(&[QuotaPart::Limits]), Some(without_limits));
        let all = ["guarantees", "limits", "reserves"].map(|part| part.parse::<QuotaPart>().unwrap());
        assert_eq!(left(&all), None);
        let refused = QuotaPart::from_str("quotas").unwrap_err().to_string();
        assert_eq!(refused, "without = quotas: choose guarantees, limits or reserves");
    }
}
