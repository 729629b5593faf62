//! Which allocation is asked for, under the names that the command line and results share.

use crate::tolerance::NEAREST_ALPHA;
use crate::wording::printable;
use crate::{ClassId, Decimal, Entry, Instance, InstanceError, Kind, Registry, User, Violation};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

/// Which allocation is asked for. `G_i` are dominant shares, `w_i` weights.
///
/// Each has one name, [`fmt::Display`] writes it and [`FromStr`] reads it: `alpha=1` is read as `pf` and `alpha=0`
/// as `utilitarian`, which they are.
///
/// ```
/// use fairplan_instances::Objective;
/// assert_eq!("alpha=2.50".parse::<Objective>().unwrap().to_string(), "alpha=2.5");
/// assert_eq!("alpha=1".parse::<Objective>().unwrap(), Objective::ProportionalFairness);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Objective {
    /// `drfh`: dominant resource fairness over heterogeneous servers, the lexicographic max-min of `G_i / w_i` (DRFH
    /// eq. 7 and Sec. V-A).
    Drfh,
    /// `pf`: proportional fairness, the largest `Σ w_i ln G_i` (on one server MRF eq. 3).
    ProportionalFairness,
    /// `alpha=A`: alpha-fairness, the largest `Σ w_i G_i^(1−A) / (1−A)`.
    AlphaFair(Alpha),
    /// `utilitarian`: the largest `Σ w_i G_i`.
    Utilitarian,
    /// `tsf`: task share fairness, the lexicographic max-min of the weighted tasks over the most tasks that the user
    /// could run alone if it were eligible everywhere.
    TaskShareFairness,
    /// `bmf`: bottleneck max fairness, all servers as one (MRF Sec. 2.4).
    BottleneckMaxFairness,
    /// `drf`: dominant resource fairness, all servers as one.
    DrfPooled,
    /// `drf-per-server`: dominant resource fairness inside each server apart (DRFH Sec. III-D). A user with kinds has whole tasks on
    /// each server, so it is on the classes that all its kinds can use, and has nothing where there is none.
    DrfPerServer,
}

/// How averse to inequality alpha-fairness is: above 0 and at most 64, but not 1. (0 and 1 are objectives with names
/// of their own; the limit of large ones is DRFH.)
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Alpha(f64);

/// Beyond this, alpha-fair shares differ from those of DRFH by less than anyone asks for.
pub(crate) const LARGEST_ALPHA: f64 = 64.0;

impl Alpha {
    /// The number; never 0 nor 1.
    pub fn get(self) -> f64 {
        self.0
    }
}

/// Every objective; `None` for the one that takes a number.
pub const OBJECTIVES: Registry<Option<Objective>> = Registry::new(
    "objective",
    &[
        named("drfh", "equal weighted dominant shares over all servers together", Some(Objective::Drfh)),
        named("pf", "proportional fairness", Some(Objective::ProportionalFairness)),
        named("alpha=A", "alpha-fair, A from 0 to 64", None),
        named("utilitarian", "the largest sum", Some(Objective::Utilitarian)),
        named("tsf", "task share fairness", Some(Objective::TaskShareFairness)),
        named("bmf", "bottleneck max fairness, all servers as one", Some(Objective::BottleneckMaxFairness)),
        named("drf", "dominant resource fairness, all servers as one", Some(Objective::DrfPooled)),
        named("drf-per-server", "the same inside each server apart", Some(Objective::DrfPerServer)),
    ],
);

const fn named(name: &'static str, line: &'static str, make: Option<Objective>) -> Entry<Option<Objective>> {
    Entry { name, line, make }
}

/// `1 − α` of the decimal that names α, not of the double that is next to it: near 1 these differ by as many parts of the result as a sum is known to.
#[must_use]
pub fn one_less(alpha: f64) -> f64 {
    let exact = || {
        let decimal = Decimal::from_f64(alpha).ok()?;
        let exponent = decimal.exponent().min(0);
        let units = i128::try_from(decimal.scaled(exponent)?).ok()?;
        let one = 10i128.checked_pow(u32::from(exponent.unsigned_abs()))?;
        Some((one - units) as f64 / one as f64)
    };
    exact().unwrap_or(1.0 - alpha)
}

impl Objective {
    /// Alpha-fairness; proportional fairness for 1, utilitarian for 0.
    pub fn alpha_fair(alpha: f64) -> Result<Self, InstanceError> {
        if alpha == 0.0 {
            Ok(Self::Utilitarian)
        } else if alpha == 1.0 {
            Ok(Self::ProportionalFairness)
        } else if one_less(alpha).abs() < NEAREST_ALPHA {
            Err(InstanceError::AlphaNextToOne(alpha))
        } else if alpha > 0.0 && alpha <= LARGEST_ALPHA {
            Ok(Self::AlphaFair(Alpha(alpha)))
        } else {
            Err(InstanceError::AlphaOutOfRange(alpha))
        }
    }

    /// Whether all servers are treated as one, so that tasks are on no class.
    pub fn is_pooled(self) -> bool {
        matches!(self, Self::DrfPooled | Self::BottleneckMaxFairness)
    }

    /// The dominant share of `user` that counts as a weighted share of one where weighted shares are compared: its
    /// weight, or for task share fairness its weight times the share it would have alone (0 where it has no class even
    /// then). Objectives whose value is a smallest dominant share count it as it is.
    pub fn share_per_level(self, user: User<'_>) -> f64 {
        match self {
            Self::TaskShareFairness => user.weight().to_f64() * user.task_share() * user.work_alone(),
            Self::BottleneckMaxFairness | Self::DrfPerServer => 1.0,
            _ => user.weight().to_f64(),
        }
    }

    /// Whether a user's [`share_per_level`](Self::share_per_level) is its weight and nothing else, or 1, so that users without weights need
    /// none.
    pub fn counts_by_weight(self) -> bool {
        self != Self::TaskShareFairness
    }

    /// By what members of a group divide what is theirs: a sum is one over the children of the root, and inside a group the tree is
    /// filled, as `drfh` fills it.
    pub fn inside_groups(self) -> Self {
        if self.alpha().is_some() { Self::Drfh } else { self }
    }

    /// What its value is, for people.
    pub fn value_name(self) -> &'static str {
        match self {
            Self::Drfh | Self::DrfPooled => "Smallest weighted dominant share",
            Self::TaskShareFairness => "Smallest weighted task share",
            Self::BottleneckMaxFairness | Self::DrfPerServer => "Smallest dominant share",
            Self::ProportionalFairness => "Sum of weighted ln(dominant share)",
            Self::AlphaFair(_) => "Sum of weighted utilities of dominant shares",
            Self::Utilitarian => "Sum of weighted dominant shares",
        }
    }

    /// Whether the instance can have this objective; if not, the first value that stands against it.
    pub fn applies_to(self, instance: &Instance) -> Result<(), Violation> {
        let refuse = |user: User<'_>, field: &str, problem: String| {
            Err(Violation::new(format!("users[{}].{field}", user.index().0), "", problem))
        };
        let is_max_min = matches!(self, Self::Drfh | Self::TaskShareFairness | Self::DrfPooled);
        if instance.has_groups() && !is_max_min {
            if self.alpha().is_none() {
                let problem = format!(
                    "{self} is defined user by user and does not know them; drop them or use drfh, tsf, drf or pf"
                );
                return Err(Violation::new("groups", "", problem));
            }
            let is_limited =
                |user: &User<'_>| user.group().is_some() && user.tasks().is_some_and(|tasks| tasks > 0);
            if let Some(user) = instance.users().find(is_limited) {
                let problem = format!(
                    "once a member of a group has run out of tasks its siblings take its part, and the group may become cheaper \
                     the more it has: then {self} may have several optima; drop it or use drfh, tsf or drf"
                );
                return refuse(user, "tasks", problem);
            }
        }
        if instance.has_groups()
            && is_max_min
            && !self.is_pooled()
            && let Some(user) = instance.users().find(|user| user.tasks().is_some() && user.rates_differ())
        {
            let problem = format!(
                "tasks of user {} may run out, and do different work on different classes: where there are groups that is not \
                 solved, for members and for others; leave out its tasks or its rates",
                printable(user.id(), 60)
            );
            return refuse(user, "tasks", problem);
        }
        if !is_max_min
            && self.alpha().is_none()
            && let Some((place, owner)) = instance.first_quota()
        {
            let why = match self {
                Self::DrfPerServer => "shares each server out apart, and a quota counts over several of them",
                _ => {
                    "is defined by the resources of which users have the largest share, and quotas are none of these"
                }
            };
            let problem = format!(
                "{self} {why}; leave quotas out (`convert --without guarantees,limits,reserves`) or use drfh, tsf, drf or pf"
            );
            return Err(Violation::new(place, owner, problem));
        }
        instance.check_guarantees()?;
        let over_some = instance.limit_rows().iter().find(|row| self.is_pooled() && row.classes.is_some());
        let sure_of_some = instance.quotas().iter().find(|(_, quota)| !quota.guarantees.is_empty());
        let sure_of_some = sure_of_some.filter(|_| self.is_pooled()).map(|(owner, _)| (*owner, "guaranteed"));
        let named =
            |row: &crate::LimitRow| (row.owner, if row.is_reserve() { "reserved" } else { "limited" });
        if let Some((owner, what)) = over_some.map(named).or(sure_of_some) {
            let problem = format!(
                "{self} treats all servers as one, so nothing is {what} on some; drop it or use drfh"
            );
            let list = match what {
                "guaranteed" => "guarantees",
                "reserved" => "reserves",
                _ => "limits",
            };
            return Err(Violation::new(list, instance.name_of(owner), problem));
        }
        if !self.is_pooled() && self != Self::DrfPerServer {
            return Ok(());
        }
        let classes = || (0..instance.classes().len()).map(ClassId);
        let is_bound: Vec<bool> =
            instance.rules().iter().map(|rule| classes().any(|class| !rule.allows(class))).collect();
        for user in instance.users() {
            let rule = user.rule();
            let bound = |kind: Kind<'_>| is_bound[kind.rule_id().0];
            if self.is_pooled()
                && let Some(kind) = user.kinds().position(bound)
            {
                let problem = format!(
                    "{self} treats all servers as one, so nobody is bound to some; drop it or use drfh"
                );
                let field = if user.has_kinds() { &format!("kinds[{kind}].eligible") } else { "eligible" };
                return refuse(user, field, problem);
            }
            if self.is_pooled() && !rule.rates().is_empty() {
                let problem =
                    format!("{self} treats all servers as one, so none does more work; drop it or use drfh");
                return refuse(user, "rates", problem);
            }
            if matches!(self, Self::BottleneckMaxFairness | Self::DrfPerServer) && user.tasks().is_some() {
                let problem = match self {
                    Self::DrfPerServer => {
                        "each server shares itself out apart and knows nothing of tasks elsewhere"
                    }
                    _ => "bottleneck max fairness is defined for users that never run out of tasks",
                };
                return refuse(user, "tasks", format!("{problem}; drop it or use drfh"));
            }
        }
        Ok(())
    }

    /// The exponent `A` of the objectives that are a sum over users: 1 for proportional fairness, 0 for
    /// utilitarian. `None` for the others.
    pub fn alpha(self) -> Option<f64> {
        match self {
            Self::Utilitarian => Some(0.0),
            Self::ProportionalFairness => Some(1.0),
            Self::AlphaFair(alpha) => Some(alpha.0),
            Self::Drfh
            | Self::TaskShareFairness
            | Self::BottleneckMaxFairness
            | Self::DrfPooled
            | Self::DrfPerServer => None,
        }
    }
}

impl fmt::Display for Objective {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::AlphaFair(alpha) => write!(f, "alpha={}", alpha.0),
            _ => {
                let known = OBJECTIVES.entries().iter().find(|entry| entry.make == Some(*self));
                f.pad(known.map_or("", |entry| entry.name))
            }
        }
    }
}

impl FromStr for Objective {
    type Err = InstanceError;

    fn from_str(name: &str) -> Result<Self, InstanceError> {
        let (entry, number) = OBJECTIVES.find(name)?;
        match (entry.make, number) {
            (Some(objective), _) => Ok(objective),
            (None, Some(alpha)) => {
                let alpha = Decimal::parse(alpha.as_bytes()).map_err(InstanceError::Alpha)?;
                Self::alpha_fair(alpha.to_f64())
            }
            (None, None) => Err(OBJECTIVES.unknown(name).into()),
        }
    }
}

impl Serialize for Objective {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Objective {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Cow::<str>::deserialize(deserializer)?.parse().map_err(de::Error::custom)
    }
}

impl JsonSchema for Objective {
    fn schema_name() -> Cow<'static, str> {
        "ObjectiveName".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let names: Vec<&str> = OBJECTIVES.names().filter(|name| *name != "alpha=A").collect();
        json_schema!({
            "description": "Which allocation was asked for: one of the objectives of `solve`, with a number for A.",
            "type": "string",
            "pattern": format!("^({}|alpha=[0-9][0-9.]*)$", names.join("|")),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_is_read_as_the_objective_that_writes_it() {
        for name in OBJECTIVES.names().map(|name| name.replace("=A", "=2")) {
            assert_eq!(name.parse::<Objective>().unwrap().to_string(), name);
        }
        assert_eq!("alpha=0.1".parse::<Objective>().unwrap().to_string(), "alpha=0.1");
        assert_eq!("alpha=0.0".parse::<Objective>().unwrap(), Objective::Utilitarian);
        assert_eq!("alpha=1e0".parse::<Objective>().unwrap(), Objective::ProportionalFairness);
        assert_eq!("alpha=64".parse::<Objective>().unwrap().alpha(), Some(64.0));
        assert_eq!("drfh".parse::<Objective>().unwrap().alpha(), None);
    }

    #[test]
    fn one_less_than_a_number_near_one_is_told_to_its_last_digit() {
        for (alpha, less) in [(0.9999, 1e-4), (1.000001, -1e-6), (64.0, -63.0), (0.1, 0.9), (1e-30, 1.0)] {
            assert_eq!(one_less(alpha), less);
        }
    }

    #[test]
    fn what_is_no_objective_is_refused_with_what_would_do() {
        let told = |name: &str| name.parse::<Objective>().unwrap_err().to_string();
        let known = "drfh, pf, alpha=A, utilitarian, tsf, bmf, drf, drf-per-server";
        assert_eq!(told("maximin"), format!("unknown objective maximin: use {known}"));
        assert!(told("drfhh").contains("(did you mean drfh?)"));
        assert_eq!(told("alpha=-1"), "the A of alpha=A must be >= 0");
        assert_eq!(told("alpha=nan"), "the A of alpha=A must be a finite number");
        assert_eq!(told("alpha="), "the A of alpha=A is not a decimal number");
        let near =
            "the A of alpha=A must be 1 or differ from it by at least 0.000001, not 1.0000009; 1 is pf";
        assert_eq!(told("alpha=1.0000009"), near);
        assert!(
            "alpha=1.000001".parse::<Objective>().is_ok() && "alpha=0.999999".parse::<Objective>().is_ok()
        );
        assert!(told("alpha=64.5").contains("must be from 0 to 64, not 64.5"));
        for alpha in [-0.5, f64::NAN, f64::INFINITY] {
            assert!(Objective::alpha_fair(alpha).is_err());
        }
    }
    #[test]
    fn beside_groups_whose_tasks_may_run_out_and_do_different_work_is_refused_by_name_inside_them_and_outside()
     {
        use crate::files;
        let told = |group: &str, tasks: &str, objective: Objective| {
            let text = format!(
                r#"{{"format": "fairplan.instance.v1", "resources": ["cpu"], "groups": [{{"id": "g"}}], "server_classes": [
                {{"id": "c0", "count": 1, "capacity": {{"cpu": 4}}}}, {{"id": "c1", "count": 1, "capacity": {{"cpu": 4}}}}], "users": [
                {{"id": "u", "demand": {{"cpu": 1}}, "group": "g"}},
                {{"id": "v", "demand": {{"cpu": 1}}, "rates": {{"c1": 2}}{group}{tasks}}}]}}"#
            );
            let source = files::source::in_memory("it", text.into_bytes()).unwrap();
            let refused = objective.applies_to(&files::read_json(source).unwrap());
            refused.err().map(|violation| violation.to_string())
        };
        let tsf = Objective::TaskShareFairness;
        let refusal = "users[1].tasks: tasks of user v may run out, and do different work on different classes: where there are groups \
                       that is not solved, for members and for others; leave out its tasks or its rates";
        for group in ["", r#", "group": "g""#] {
            for objective in [Objective::Drfh, tsf] {
                // More than ever run are no matter where nobody is in a group; here they are refused too.
                for tasks in [3, 1000].map(|tasks| format!(r#", "tasks": {tasks}"#)) {
                    assert_eq!(told(group, &tasks, objective).as_deref(), Some(refusal));
                }
                assert_eq!(told(group, "", objective), None);
            }
        }
    }
}
