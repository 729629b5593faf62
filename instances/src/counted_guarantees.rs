//! Which guarantees bounds of whole tasks count.

use crate::{Instance, Owner, QuotaPart};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;

/// Which guarantees bounds count: a bound holds for placements that keep these. Guarantees are counted in whole tasks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CountedGuarantees {
    /// All: no group is guaranteed anything.
    All,
    /// Those of users. Of what a group is guaranteed only what its members are guaranteed themselves counts.
    OfUsers,
    /// None, since they cannot be kept together: what is known is of placements that keep none of them.
    None,
}

impl CountedGuarantees {
    /// Which ones can be counted where those of users can be kept together, or cannot; `None` where nobody has any.
    pub fn of(instance: &Instance, can_be_kept: bool) -> Option<Self> {
        let is_of_group = |owner: &Owner| matches!(owner, Owner::Group(_));
        let of_group = |(owner, quota): &(Owner, crate::Quota)| quota.has_guarantee() && is_of_group(owner);
        match (instance.has_guarantees(), can_be_kept) {
            (false, _) => None,
            (true, false) => Some(Self::None),
            (true, true) if instance.quotas().iter().any(of_group) => Some(Self::OfUsers),
            (true, true) => Some(Self::All),
        }
    }

    /// The instance that bounds are of: without guarantees where none is counted.
    pub fn instance(counted: Option<Self>, instance: &Instance) -> Cow<'_, Instance> {
        // Less never makes an instance that was built one that is not.
        let without = || instance.without_parts(&[QuotaPart::Guarantees]).ok();
        match counted {
            Some(Self::None) => without().map_or(Cow::Borrowed(instance), Cow::Owned),
            _ => Cow::Borrowed(instance),
        }
    }
}
