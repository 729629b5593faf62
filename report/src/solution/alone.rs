//! How members of a group would divide what it is guaranteed: a solution in a few words, written and read.

use super::levels::{LevelResult, level_result, levels_of};
use super::placed_kinds::starts_of_user;
use crate::foreign::{Foreign, list};
use fairplan_instances::{
    Certificate, ClassId, Instance, Kind, LimitedBy, Objective, Solution, UserId,
    guarantees_more_than_members,
};
use fairplan_verify::{SolutionClaim, Tasks, Verdict, whole_guarantees};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;

/// How the members of a group would divide what it is guaranteed if they were alone in the cluster and that were its limit, with the
/// proof, as the whole solution has it. Members that need nothing of it have no part.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AloneResult {
    /// The group.
    pub group: String,
    /// Its members, in the instance's order.
    pub members: Vec<AloneMember>,
    /// The levels. Their `limit_prices` are those of the group's limits and guarantee, of the limits inside it, and nothing else.
    pub levels: Vec<LevelResult>,
    /// The same of groups inside it that are guaranteed something themselves.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub guaranteed_groups: Vec<Self>,
}

/// A member of such a group.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AloneMember {
    /// The user's id.
    pub id: String,
    /// What keeps it from more.
    pub limited_by: LimitedBy,
    /// The position in `levels` of the level at which its share is frozen; the number of levels for one that none freezes.
    pub level: u32,
    /// Tasks running. Absent where they are on classes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tasks: Option<f64>,
    /// The server classes on which it runs. Absent where all servers are treated as one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub placement: Option<Vec<AloneTasks>>,
}

/// Tasks of such a member on the servers of one class; of a user with kinds those of one kind.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AloneTasks {
    /// The kind, where the user has kinds: they come one after the other, in the instance's order.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// The server class.
    pub class: String,
    /// Tasks running there, fractions included. Of a kind: the tasks whose pieces of this kind run there.
    #[schemars(range(min = 0))]
    pub tasks: f64,
}

/// What a result says of the divisions of what groups are guaranteed.
pub(crate) fn alone_results(instance: &Instance, guaranteed: &[Solution]) -> Vec<AloneResult> {
    let groups = instance.guaranteed_groups().unwrap_or_default();
    let result = |(alone, solution): (&fairplan_instances::AloneGroup, &Solution)| {
        let (here, allocation) = (&alone.instance, &solution.allocation);
        let level_of = solution.certificate.level_of().unwrap_or_default();
        let member = |i: usize| {
            let pooled = allocation.is_pooled();
            let on = |kind: Kind<'_>| {
                let parts = allocation.placement_of_kind(UserId(i), kind.index());
                let part = |(class, tasks): (ClassId, f64)| AloneTasks {
                    kind: kind.id().map(str::to_owned),
                    class: here.classes()[class.0].id.clone(),
                    tasks,
                };
                parts.map(part).collect::<Vec<_>>()
            };
            AloneMember {
                id: here.user(UserId(i)).id().to_owned(),
                limited_by: solution.limited_by[i],
                level: level_of.get(i).copied().unwrap_or_default(),
                tasks: pooled.then(|| allocation.tasks(UserId(i))),
                placement: (!pooled).then(|| here.user(UserId(i)).kinds().flat_map(on).collect()),
            }
        };
        AloneResult {
            group: instance.groups()[alone.group.0].id.clone(),
            members: (0..here.user_count()).map(member).collect(),
            levels: solution.certificate.levels().iter().map(|level| level_result(here, level)).collect(),
            guaranteed_groups: alone_results(here, &solution.guaranteed),
        }
    };
    groups.iter().zip(guaranteed).map(result).collect()
}

/// The same of divisions that are counted; nothing where none is.
pub fn divisions_of_groups(instance: &Instance, divisions: &[Solution]) -> Vec<AloneResult> {
    if divisions.is_empty() { Vec::new() } else { alone_results(instance, divisions) }
}

/// The whole tasks that users are sure of by divisions that a document states, and the verdict on these.
pub(crate) fn whole_tasks_of_groups(
    stated: &[AloneResult],
    instance: &Instance,
) -> Result<(Vec<u64>, Option<Verdict>), Foreign> {
    let stated = StatedAlone::all(stated, instance, false)?;
    let claims: Vec<_> = stated.iter().map(|alone| alone.claim(Objective::Drfh)).collect();
    let (sure, verdict) = whole_guarantees(instance, &claims);
    match instance.with_whole_guarantees(&sure) {
        Ok(_) => Ok((sure, verdict)),
        Err(violation) => Err(Foreign::new("guaranteed_groups", &violation.place, violation.problem)),
    }
}

/// The guarantees that levels of a placement count beyond those of users, as a document of one states them: the whole tasks of each user,
/// and the verdict on the divisions.
#[derive(Clone, Debug, Default)]
pub(crate) struct CountedOfGroups(Option<(Vec<u64>, Option<Verdict>)>);

impl CountedOfGroups {
    /// Matches what is stated with the instance; nothing is counted where nothing is.
    pub fn new(stated: &[AloneResult], instance: &Instance) -> Result<Self, Foreign> {
        if stated.is_empty() {
            return Ok(Self(None));
        }
        if !guarantees_more_than_members(instance) {
            let problem = "is stated where a group is guaranteed more than its members are, and nowhere else";
            return Err(Foreign::new("guaranteed_groups", "", problem));
        }
        whole_tasks_of_groups(stated, instance).map(|counted| Self(Some(counted)))
    }

    /// The whole tasks.
    pub fn tasks(&self) -> Option<&[u64]> {
        self.0.as_ref().map(|(tasks, _)| tasks.as_slice())
    }

    /// What is found of the divisions.
    pub fn verdict(&self) -> Option<Verdict> {
        self.0.as_ref().and_then(|(_, verdict)| verdict.clone())
    }
}

/// What a document states of one such division, in the order of the group alone.
#[derive(Clone, Debug)]
pub(crate) struct StatedAlone {
    tasks: Tasks<'static>,
    certificate: Certificate,
    limited_by: Vec<LimitedBy>,
    guaranteed: Vec<Self>,
}

impl StatedAlone {
    /// Matches what is stated with the instance.
    pub fn all(stated: &[AloneResult], instance: &Instance, pooled: bool) -> Result<Vec<Self>, Foreign> {
        let refused = |violation: fairplan_instances::Violation| {
            Foreign::new("guaranteed_groups", &violation.place, violation.problem.clone())
        };
        let groups = instance.guaranteed_groups().map_err(refused)?;
        let ids = groups.iter().map(|alone| instance.groups()[alone.group.0].id.as_str());
        list("guaranteed_groups", stated.iter().map(|alone| alone.group.as_str()), ids)?;
        stated.iter().zip(&groups).map(|(stated, alone)| Self::of(stated, &alone.instance, pooled)).collect()
    }

    fn of(stated: &AloneResult, instance: &Instance, pooled: bool) -> Result<Self, Foreign> {
        let place = format!("guaranteed_groups.{}", stated.group);
        let members = stated.members.iter();
        list(
            &format!("{place}.members"),
            members.clone().map(|member| member.id.as_str()),
            instance.users().map(|user| user.id()),
        )?;
        let missing = |member: &AloneMember, what: &str| {
            Foreign::new(
                format!("{place}.members"),
                &member.id,
                format!("state its {what}, and nothing else"),
            )
        };
        let tasks = if pooled {
            let of = |member: &AloneMember| {
                member.tasks.filter(|_| member.placement.is_none()).ok_or_else(|| missing(member, "tasks"))
            };
            Tasks::Pooled(Cow::Owned(members.clone().map(of).collect::<Result<_, _>>()?))
        } else {
            let (mut starts, mut entries) = (Vec::new(), Vec::new());
            for (member, user) in members.clone().zip(instance.users()) {
                let placement = member.placement.as_ref().filter(|_| member.tasks.is_none());
                let placement = placement.ok_or_else(|| missing(member, "placement"))?;
                let first = entries.len();
                for here in placement {
                    let class = instance.class_named(&here.class);
                    let unknown =
                        || Foreign::new(format!("{place}.members"), &here.class, "no such server class");
                    entries.push((class.ok_or_else(unknown)?.0 as u32, here.tasks));
                }
                let part = |k: usize| (placement[k - first].kind.as_deref(), entries[k].0);
                let place = || format!("{place}.members.{}.placement", member.id);
                starts_of_user(user, first..entries.len(), part, place, &mut starts)?;
            }
            starts.push(entries.len());
            Tasks::Listed { starts, entries }
        };
        Ok(Self {
            tasks,
            certificate: Certificate::Levels {
                levels: levels_of(instance, &stated.levels, &format!("{place}.levels"))?,
                level_of: members.clone().map(|member| member.level).collect(),
            },
            limited_by: members.map(|member| member.limited_by).collect(),
            guaranteed: Self::all(&stated.guaranteed_groups, instance, pooled)?,
        })
    }

    /// The claim.
    pub fn claim(&self, objective: Objective) -> SolutionClaim<'_> {
        SolutionClaim {
            objective,
            tasks: self.tasks.clone(),
            certificate: &self.certificate,
            limited_by: &self.limited_by,
            exact: None,
            printed: None,
            guaranteed: self.guaranteed.iter().map(|alone| alone.claim(objective)).collect(),
        }
    }
}
