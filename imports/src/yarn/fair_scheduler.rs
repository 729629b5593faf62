//! `fair-scheduler.xml`: nested `<queue>` elements.
//!
//! What it carries: the tree; `weight`; `minResources` as guarantee; `maxResources`, and `queueMaxResourcesDefault` where there
//! is none, as limit.

use super::partitions::{DOTTED, Partitions, RESOURCES};
use super::unkept;
use crate::amounts::{Stated, tighter};
use crate::misspelt;
use crate::queues::{Part, Queue};
use crate::report::ImportReport;
use crate::xml::Element;
use fairplan_instances::{Decimal, InstanceError};
use hashbrown::HashSet;

/// What a queue compares, and what all compare that do not say it: each has had two names.
pub(crate) const POLICY: [&str; 2] = ["schedulingPolicy", "schedulingMode"];
pub(crate) const DEFAULT_POLICY: [&str; 2] = ["defaultQueueSchedulingPolicy", "defaultQueueSchedulingMode"];

/// The queues, parents before their children.
pub(super) fn read(
    place: &Partitions,
    root: &Element,
    report: &mut ImportReport,
) -> Result<Vec<Queue>, InstanceError> {
    let mut queues = Vec::new();
    let tops: Vec<&Element> = queue_elements(root).collect();
    if tops.is_empty() {
        return Err(place.refused("", "", "there is no <queue> here"));
    }
    // All queues are below root, whether the file says so or not.
    let written = matches!(tops[..], [one] if one.attribute("name") == Some("root"));
    for ignored in ["queueMaxAppsDefault", "queueMaxAMShareDefault", "userMaxAppsDefault"] {
        if root.text_of(ignored).is_some() {
            report.one(format!("defaults not read, which an instance cannot state: {ignored}"));
        }
    }
    for user in root.children("user") {
        report.named(
            "users whose limits of applications are left out",
            user.attribute("name").unwrap_or_default(),
        );
    }
    for child in &root.children {
        misspelt::or_unknown(&child.name, &OF_ALL, report);
        let stated = std::iter::once((child.name.as_str(), child.text.as_str()));
        unkept::tell(&unkept::FAIR_OF_ALL, &child.name, stated, report);
    }
    let field = "queueMaxResourcesDefault";
    let most = match root.text_of(field) {
        Some(text) => place.amounts("of all without maxResources", field, text, report)?,
        None => vec![None; RESOURCES.len()],
    };
    let policy = root.text_of_any(&DEFAULT_POLICY);
    if policy.is_none() {
        report.one("scheduling policy of memory alone, Hadoop's default (taken as drf)");
    }
    let mut reading = Reading { place, report, queues: &mut queues, names: HashSet::new(), most, policy };
    if written {
        reading.queue(tops[0], None)?;
    } else {
        let parts = vec![Part::new(0, RESOURCES.len())];
        reading.queues.push(Queue { name: "root".into(), weight: 1.0, parts, ..Queue::default() });
        tops.into_iter().try_for_each(|queue| reading.queue(queue, Some(0)))?;
    }
    Ok(queues)
}

/// What may stand beside the queues that are below no other.
const OF_ALL: [&str; 17] = [
    "defaultFairSharePreemptionThreshold",
    "defaultFairSharePreemptionTimeout",
    "defaultMinSharePreemptionTimeout",
    "defaultQueueSchedulingMode",
    "defaultQueueSchedulingPolicy",
    "fairSharePreemptionTimeout",
    "pool",
    "queue",
    "queueMaxAMShareDefault",
    "queueMaxAppsDefault",
    "queueMaxResourcesDefault",
    "queuePlacementPolicy",
    "reservation-agent",
    "reservation-planner",
    "reservation-policy",
    "user",
    "userMaxAppsDefault",
];

/// What may stand in a queue.
const FIELDS: [&str; 21] = [
    "aclAdministerApps",
    "aclAdministerReservations",
    "aclListReservations",
    "aclSubmitApps",
    "aclSubmitReservations",
    "allowPreemptionFrom",
    "fairSharePreemptionThreshold",
    "fairSharePreemptionTimeout",
    "maxAMShare",
    "maxChildResources",
    "maxContainerAllocation",
    "maxResources",
    "maxRunningApps",
    "minResources",
    "minSharePreemptionTimeout",
    "pool",
    "queue",
    "reservation",
    "schedulingMode",
    "schedulingPolicy",
    "weight",
];

/// `<pool>` is what queues were called before.
pub(crate) fn queue_elements(element: &Element) -> impl Iterator<Item = &Element> {
    element.children.iter().filter(|child| child.name == "queue" || child.name == "pool")
}

struct Reading<'a> {
    place: &'a Partitions<'a>,
    report: &'a mut ImportReport,
    queues: &'a mut Vec<Queue>,
    /// What they are called, but for a root that the file does not write.
    names: HashSet<String>,
    /// What queues that state no maximum may have.
    most: Stated,
    /// The policy of queues that state none.
    policy: Option<&'a str>,
}

impl Reading<'_> {
    /// A maximum of some memory and 0 vcores, as Hadoop's own sample has, is of memory alone: its policy `fair` compares nothing
    /// else. A queue that may have nothing of either has its limit of nothing.
    fn without_nothings(&mut self, name: &str, limit: &mut Stated) {
        let is_nothing = |amount: &Option<Decimal>| amount.is_some_and(|amount| amount.is_zero());
        if !limit.iter().any(|amount| amount.is_some() && !is_nothing(amount)) {
            return;
        }
        for (r, amount) in limit.iter_mut().enumerate().filter(|(_, amount)| is_nothing(amount)) {
            *amount = None;
            let resource = RESOURCES[r];
            self.report.one(format!(
                "queue whose maximum of 0 {resource} is taken as none, beside one of more: {name}"
            ));
        }
    }

    fn queue(&mut self, element: &Element, parent: Option<usize>) -> Result<(), InstanceError> {
        let Some(own) = element.attribute("name").filter(|name| !name.is_empty()) else {
            return Err(self.place.refused("<queue>", "", "has no name"));
        };
        if own.contains('.') {
            return Err(self.place.refused("<queue> name", own, DOTTED));
        }
        let name = match parent.map(|parent| &self.queues[parent].name) {
            Some(above) => format!("{above}.{own}"),
            None => own.to_owned(),
        };
        element.children.iter().for_each(|child| misspelt::or_unknown(&child.name, &FIELDS, self.report));
        let weight = match element.text_of("weight") {
            Some(text) => self.place.weight(&name, "weight", text, "must be a number >= 0")?,
            None => 1.0,
        };
        let mut amounts = |field: &str| match element.text_of(field) {
            Some(text) => self.place.amounts(&name, field, text, self.report).map(Some),
            None => Ok(None),
        };
        let mut part = Part::new(0, RESOURCES.len());
        let (least, most) = (amounts("minResources")?, amounts("maxResources")?);
        let is_root = parent.is_none();
        part.limit = most.unwrap_or_else(|| if is_root { part.limit.clone() } else { self.most.clone() });
        let policy = element.text_of_any(&POLICY).or(self.policy);
        if policy != Some("drf") {
            self.without_nothings(&name, &mut part.limit);
        }
        for (r, least) in least.into_iter().flatten().enumerate() {
            part.guarantee[r] = tighter(least, part.limit[r].filter(|_| least.is_some()));
            if let (Some(least), Some(most)) = (least, part.limit[r])
                && least.to_f64() > most.to_f64()
            {
                self.report.one(format!(
                    "queue whose minResources are above its maxResources, which count: {name}, {} {least} > {most}",
                    RESOURCES[r]
                ));
            }
        }
        // Of what the queue above is sure of nobody below it is sure of more.
        let above = parent.map(|parent| self.queues[parent].parts[0].guarantee.clone()).unwrap_or_default();
        for (r, (own, most)) in part.guarantee.iter_mut().zip(above).enumerate() {
            if let (Some(least), Some(most)) = (*own, most)
                && least.to_f64() > most.to_f64()
            {
                self.report.one(format!(
                    "queue whose minResources are above those of the queue above it, which count: {name}, {} {least} > {most}",
                    RESOURCES[r]
                ));
                *own = Some(most);
            }
        }
        if element.attribute("type") == Some("parent") && queue_elements(element).next().is_none() {
            self.report.named(
                "queues for others to be made below (type=\"parent\"), of which there are none: they count with tasks of their own",
                &name,
            );
        }
        let fields = element.children.iter().map(|child| (child.name.as_str(), child.text.as_str()));
        unkept::tell(&unkept::FAIR, &name, fields, self.report);
        match policy {
            None | Some("drf") => {}
            Some(policy) => {
                let told = format!("queues with the scheduling policy {policy} (taken as drf)");
                self.report.named(told, &name);
            }
        }
        if !self.names.insert(name.clone()) {
            return Err(self.place.refused(&format!("queue {name}"), "", "stands here twice; rename one"));
        }
        self.queues.push(Queue { name, parent, weight, parts: vec![part], ..Queue::default() });
        let position = self.queues.len() - 1;
        queue_elements(element).try_for_each(|child| self.queue(child, Some(position)))
    }
}
