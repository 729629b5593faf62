//! `fair-scheduler.xml`: nested `<queue>` elements with weights, minima and maxima.

use super::{Place, RESOURCES};
use crate::queues::Queue;
use crate::report::ImportReport;
use crate::xml::Element;
use fairplan_instances::InstanceError;

/// The queues, parents before their children.
pub(super) fn read(
    place: &Place,
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
    for ignored in ["queueMaxResourcesDefault", "queueMaxAppsDefault", "userMaxAppsDefault"] {
        if root.text_of(ignored).is_some() {
            report.one(format!("defaults not read, which an instance cannot state: {ignored}"));
        }
    }
    let mut reading = Reading { place, report, queues: &mut queues };
    if written {
        reading.queue(tops[0], None)?;
    } else {
        let limit = vec![None; RESOURCES.len()];
        reading.queues.push(Queue {
            name: "root".into(),
            parent: None,
            weight: 1.0,
            limit,
            given: Vec::new(),
        });
        tops.into_iter().try_for_each(|queue| reading.queue(queue, Some(0)))?;
    }
    Ok(queues)
}

/// `<pool>` is what queues were called before.
fn queue_elements(element: &Element) -> impl Iterator<Item = &Element> {
    element.children.iter().filter(|child| child.name == "queue" || child.name == "pool")
}

struct Reading<'a> {
    place: &'a Place<'a>,
    report: &'a mut ImportReport,
    queues: &'a mut Vec<Queue>,
}

impl Reading<'_> {
    fn queue(&mut self, element: &Element, parent: Option<usize>) -> Result<(), InstanceError> {
        let Some(own) = element.attribute("name").filter(|name| !name.is_empty()) else {
            return Err(self.place.refused("<queue>", "", "has no name"));
        };
        let name = match parent.map(|parent| &self.queues[parent].name) {
            Some(above) => format!("{above}.{own}"),
            None => own.to_owned(),
        };
        let weight = match element.text_of("weight") {
            Some(text) => self.place.weight(&name, "weight", text, "must be a number >= 0")?,
            None => 1.0,
        };
        let mut amounts = |field: &str| match element.text_of(field) {
            Some(text) => self.place.amounts(&name, field, text, self.report),
            None => Ok(vec![None; RESOURCES.len()]),
        };
        let (least, most) = (amounts("minResources")?, amounts("maxResources")?);
        if least.iter().any(Option::is_some) {
            self.report.one("queues have a minimum, which an instance cannot state");
        }
        for (r, (least, most)) in least.iter().zip(&most).enumerate() {
            if let (Some(least), Some(most)) = (least, most)
                && least.to_f64() > most.to_f64()
            {
                self.report.one(format!(
                    "queue whose minResources are above its maxResources, which count: {name}, {} {least} > {most}",
                    RESOURCES[r]
                ));
            }
        }
        if element.text_of("maxChildResources").is_some() {
            self.report.one("queues whose maxChildResources are not read");
        }
        match element.text_of("schedulingPolicy") {
            None | Some("drf") => {}
            Some(policy) => {
                self.report.one(format!("queues with the scheduling policy {policy} (taken as drf)"))
            }
        }
        self.queues.push(Queue { name, parent, weight, limit: most, given: Vec::new() });
        let position = self.queues.len() - 1;
        queue_elements(element).try_for_each(|child| self.queue(child, Some(position)))
    }
}
