//! From a result file back to a claim that can be verified: names become positions of the instance.

use super::alone::StatedAlone;
use super::document::*;
use super::fractions;
use super::levels::levels_of;
use super::placed_kinds::starts_of_kinds;
use crate::foreign::{Foreign, check_stamp, in_order, list};
use fairplan_instances::{
    Allocation, Certificate, ExactSolution, GroupId, GroupResult, GuaranteeResult, Instance, LimitResult,
    LimitedBy, Objective, ResourceId, ResourceMap, Status, Total, limit_results, price_groups,
};
use fairplan_verify::{Printed, SolutionClaim, SolutionProof, Tasks, Verdict, verify_solution};

/// Everything a solution document states, in the instance's order.
#[derive(Clone, Debug)]
pub struct StatedSolution {
    objective: Objective,
    status: Status,
    tasks_on_classes: Tasks<'static>,
    certificate: Certificate,
    limited_by: Vec<LimitedBy>,
    value: f64,
    level: Option<f64>,
    unplaced: Option<f64>,
    groups: Vec<GroupResult>,
    limits: Vec<LimitResult>,
    guarantees: Vec<GuaranteeResult>,
    guaranteed: Vec<StatedAlone>,
    primal: f64,
    dual: f64,
    relative_gap: f64,
    tasks: Vec<f64>,
    dominant_shares: Vec<f64>,
    dominant_resources: Vec<ResourceId>,
    class_utilization: Vec<f64>,
    utilization: Vec<f64>,
    prices: Vec<f64>,
    exact: Option<ExactSolution>,
}

impl StatedSolution {
    /// Matches a document with the instance it says it belongs to. Fails where the two cannot be matched: another
    /// hash, a user or class that is missing, added or in another place, a resource that is not named once, price
    /// groups other than the prices make.
    pub fn new(document: &SolutionDocument, instance: &Instance, sha256: &str) -> Result<Self, Foreign> {
        check_stamp(&document.instance, instance, sha256)?;
        check_units(document)?;
        let users = &document.users;
        list("users", users.ids.iter(), instance.users().map(|user| user.id()))?;
        let class_ids = || instance.classes().iter().map(|class| class.id.as_str());
        list("server_classes", document.server_classes.iter().map(|class| &*class.id), class_ids())?;

        let classes = known(users.classes.as_slice(), "server class", |name| {
            instance.class_named(name).map(|class| class.0 as u32)
        })?;
        let resources = known(users.resources.as_slice(), "resource", |name| {
            instance.resources().iter().position(|resource| resource == name).map(ResourceId)
        })?;

        let starts = starts_of_kinds(users, &classes, instance)?;

        let mut class_utilization = Vec::new();
        let mut prices = Vec::new();
        for (l, class) in document.server_classes.iter().enumerate() {
            let place = |field: &str| format!("server_classes[{l}].{field}");
            if let Some(utilization) = &class.utilization {
                class_utilization.extend(in_order(utilization, instance, || place("utilization"))?);
            }
            if let Some(price) = &class.price {
                prices.extend(in_order(price, instance, || place("price"))?);
            }
        }
        let certificate = certificate(document, instance, &prices)?;
        let in_fractions = (document.exact.as_ref(), document.groups.as_slice());
        let exact = fractions::stated(in_fractions, users, instance, (&starts, &classes))?;
        check_price_groups(document, instance, &certificate)?;
        Ok(Self {
            objective: document.objective,
            status: document.status,
            tasks_on_classes: tasks_on_classes(document, &classes, starts)?,
            certificate,
            limited_by: users.limited_by.to_vec(),
            value: document.value,
            level: document.level,
            unplaced: document.unplaced,
            groups: groups(document, instance)?,
            limits: limits(document, instance)?,
            guarantees: guarantees(document, instance)?,
            guaranteed: StatedAlone::all(
                &document.guaranteed_groups,
                instance,
                document.objective.is_pooled(),
            )?,
            primal: document.certificate.primal,
            dual: document.certificate.dual,
            relative_gap: document.certificate.relative_gap,
            tasks: users.tasks.clone(),
            dominant_shares: users.dominant_shares.clone(),
            dominant_resources: users
                .dominant_resources
                .iter()
                .map(|name| resources[*name as usize])
                .collect(),
            class_utilization,
            utilization: in_order(&document.utilization, instance, || "utilization".into())?,
            prices,
            exact,
        })
    }

    /// Everything that is found of it. One that says itself that it is not proved is not, even if nothing else speaks
    /// against it.
    pub fn proof(&self, instance: &Instance) -> SolutionProof {
        let mut proof = verify_solution(instance, &self.claim());
        let stated = self.status == Status::Optimal;
        proof.verdicts.push(Verdict::without_size(
            "status",
            (!stated).then(|| "the result says that it is uncertified".into()),
        ));
        proof
    }

    /// The claim, for [`fairplan_verify::verify_solution`].
    pub fn claim(&self) -> SolutionClaim<'_> {
        SolutionClaim {
            objective: self.objective,
            tasks: self.tasks_on_classes.clone(),
            certificate: &self.certificate,
            limited_by: &self.limited_by,
            exact: self.exact.as_ref(),
            printed: Some(Printed {
                value: self.value,
                level: self.level,
                unplaced: self.unplaced,
                groups: &self.groups,
                limits: &self.limits,
                guarantees: &self.guarantees,
                primal: self.primal,
                dual: self.dual,
                relative_gap: self.relative_gap,
                tasks: &self.tasks,
                dominant_shares: &self.dominant_shares,
                dominant_resources: &self.dominant_resources,
                class_utilization: &self.class_utilization,
                utilization: &self.utilization,
                prices: &self.prices,
            }),
            guaranteed: (self.guaranteed.iter())
                .map(|alone| alone.claim(self.objective.inside_groups()))
                .collect(),
        }
    }
}

/// What is stated of the groups, which are those of the instance.
fn groups(document: &SolutionDocument, instance: &Instance) -> Result<Vec<GroupResult>, Foreign> {
    let id = |g: GroupId| instance.groups()[g.0].id.as_str();
    list(
        "groups",
        document.groups.iter().map(|group| &*group.id),
        instance.groups().iter().map(|group| &*group.id),
    )?;
    for (g, (group, stated)) in instance.groups().iter().zip(&document.groups).enumerate() {
        let parent = group.parent.map(id);
        if stated.parent.as_deref() != parent {
            let problem = format!("in the instance it is inside {}", parent.unwrap_or("no group"));
            let stated = stated.parent.as_deref().unwrap_or_default();
            return Err(Foreign::new(format!("groups[{g}].parent"), stated, problem));
        }
    }
    Ok(document.groups.clone())
}

/// What is stated of the limits, which are those of the instance.
fn limits(document: &SolutionDocument, instance: &Instance) -> Result<Vec<LimitResult>, Foreign> {
    let nobody = Allocation::pooled(vec![0.0; instance.user_count()]);
    let rows = limit_results(instance, &nobody, None);
    let told = |limit: &LimitResult| {
        let LimitResult { group, user, classes, limit, reserve, beside, .. } = limit;
        let over = classes.as_ref().map_or(String::new(), |classes| format!(" over {}", classes.join(", ")));
        let amounts = |word: &str, amounts: &ResourceMap| -> String {
            amounts
                .0
                .iter()
                .map(|(name, amount)| format!("{word} {amount} {name}"))
                .collect::<Vec<_>>()
                .join(", ")
        };
        let named = |(kind, id): (&str, &Option<String>)| Some(format!("{kind} {}", id.as_ref()?));
        let owners: Vec<String> = [("group", group), ("user", user)].into_iter().filter_map(named).collect();
        let reserve = reserve.as_ref().map_or(String::new(), |reserve| amounts(" and reserved", reserve));
        let beside = beside.as_ref().map_or(String::new(), |beside| amounts(" and beside", beside));
        format!("{}: {}{reserve}{beside}{over}", owners.join(" and "), amounts("at most", limit))
    };
    let (stated, rows): (Vec<_>, Vec<_>) =
        (document.limits.iter().map(told).collect(), rows.iter().map(told).collect());
    list("limits", stated.iter().map(String::as_str), rows.iter().map(String::as_str))?;
    Ok(document.limits.clone())
}

/// What is stated of guarantees, which are those of the instance.
fn guarantees(document: &SolutionDocument, instance: &Instance) -> Result<Vec<GuaranteeResult>, Foreign> {
    let told = |one: &GuaranteeResult| {
        let named = |(kind, id): (&str, &Option<String>)| Some(format!("{kind} {}", id.as_ref()?));
        let owners: Vec<String> =
            [("group", &one.group), ("user", &one.user)].into_iter().filter_map(named).collect();
        format!("{}: {}", owners.join(" and "), one.in_words())
    };
    let stated = document.guarantees.iter().map(told);
    let owners = instance.quotas().iter().filter(|(_, quota)| quota.has_guarantee());
    let known = owners.map(|(owner, quota)| told(&GuaranteeResult::stated(instance, *owner, quota)));
    let (stated, known): (Vec<String>, Vec<String>) = (stated.collect(), known.collect());
    list("guarantees", stated.iter().map(String::as_str), known.iter().map(String::as_str))?;
    Ok(document.guarantees.clone())
}

/// Only sums have a unit other than one, and state it; and one of prices where that is another.
fn check_units(document: &SolutionDocument) -> Result<(), Foreign> {
    let of_value = document.value_exponent.unwrap_or(0);
    let usual = [
        ("value_exponent", document.value_exponent, 0, "is left out where it is 0"),
        ("price_exponent", document.price_exponent, of_value, "is left out where it is that of the value"),
    ];
    for (field, stated, usual, left_out) in usual {
        let Some(exponent) = stated else { continue };
        let problem = match document.objective.alpha() {
            Some(_) if exponent != usual => continue,
            Some(_) => left_out,
            None => "only sums have a unit",
        };
        return Err(Foreign::new(field, &exponent.to_string(), problem));
    }
    Ok(())
}

/// The tasks on their classes, or of the pool.
fn tasks_on_classes(
    document: &SolutionDocument,
    classes: &[u32],
    starts: Vec<usize>,
) -> Result<Tasks<'static>, Foreign> {
    let users = &document.users;
    let entry = |(name, tasks): &(u32, f64)| (classes[*name as usize], *tasks);
    match users.placed {
        0 if document.objective.is_pooled() => Ok(Tasks::Pooled(users.tasks.clone().into())),
        placed if placed == users.tasks.len() && !document.objective.is_pooled() => {
            Ok(Tasks::Listed { starts, entries: users.placements.iter().map(entry).collect() })
        }
        placed => {
            let problem = "state it for every user, or for none where all servers are treated as one";
            Err(Foreign::new("users", &format!("{placed} placements"), problem))
        }
    }
}

/// What the instance calls by each of these names.
fn known<T>(names: &[String], what: &str, find: impl Fn(&str) -> Option<T>) -> Result<Vec<T>, Foreign> {
    let found =
        |name: &String| find(name).ok_or_else(|| Foreign::new("users", name, format!("no such {what}")));
    names.iter().map(found).collect()
}

/// The certificate: levels with prices of their own where it has them, else the value with the prices of the classes.
fn certificate(
    document: &SolutionDocument,
    instance: &Instance,
    prices: &[f64],
) -> Result<Certificate, Foreign> {
    let (stated, level_of) = (&document.certificate, &document.users.levels);
    let Some(stated_levels) = &stated.levels else {
        if !level_of.is_empty() {
            return Err(Foreign::new("users", "level", "the certificate has no levels"));
        }
        if document.objective.alpha().is_none() {
            return Ok(Certificate::Bottlenecks);
        }
        if prices.len() != instance.classes().len() * instance.resources().len() {
            return Err(Foreign::new(
                "server_classes",
                "price",
                "a sum is proved by the prices of all classes",
            ));
        }
        return Ok(Certificate::Total(Total {
            value: stated.primal,
            bound: stated.dual,
            relative_gap: stated.relative_gap,
            prices: prices.to_vec(),
            limit_prices: document.limits.iter().map(|limit| limit.price).collect(),
            exponent: document.value_exponent.unwrap_or(0),
            price_exponent: document.price_exponent.or(document.value_exponent).unwrap_or(0),
        }));
    };
    if level_of.len() != instance.user_count() {
        return Err(Foreign::new("users", "level", "state the level of every user"));
    }
    let levels = levels_of(instance, stated_levels, "certificate.levels")?;
    Ok(Certificate::Levels { levels, level_of: level_of.clone() })
}

fn check_price_groups(
    document: &SolutionDocument,
    instance: &Instance,
    certificate: &Certificate,
) -> Result<(), Foreign> {
    let groups = match certificate {
        Certificate::Bottlenecks => Vec::new(),
        _ => price_groups(instance.classes().len(), instance.resources().len(), &certificate.prices()),
    };
    if groups.len() != document.price_groups.len() {
        let problem = format!("the prices of the certificate make {} groups", groups.len());
        return Err(Foreign::new(
            "price_groups",
            &format!("{} groups", document.price_groups.len()),
            problem,
        ));
    }
    for (g, (group, stated)) in groups.iter().zip(&document.price_groups).enumerate() {
        let ids = group.iter().map(|&l| instance.classes()[l].id.as_str());
        list(&format!("price_groups[{g}]"), stated.iter().map(|id| &**id), ids)?;
    }
    Ok(())
}
