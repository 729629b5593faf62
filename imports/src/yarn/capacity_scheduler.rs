//! `capacity-scheduler.xml`: properties `yarn.scheduler.capacity.PATH.…`.
//!
//! What it carries: the tree (`queues`, but for those whose `state` is STOPPED); `capacity` as weight and, where it states amounts
//! or percent, as guarantee; `maximum-capacity` as limit; and both of each label that `accessible-node-labels` names.

mod refused;

use super::amounts::percent_of;
use super::partitions::{DOTTED, IN_PERCENT, Partitions, RESOURCES};
use super::unkept;
use crate::amounts::{Stated, tighter};
use crate::misspelt;
use crate::queues::{Part, Queue, STOPPED};
use crate::report::ImportReport;
use crate::xml::{Element, INCLUDED};
use fairplan_instances::{Decimal, InstanceError};
use std::collections::{BTreeMap, BTreeSet, HashSet};

/// What the names of all properties that concern queues begin with.
const PREFIX: &str = "yarn.scheduler.capacity.";

/// The property that says what counts as the size of a task.
pub(crate) const CALCULATOR: &str = "resource-calculator";

/// Whether that is memory alone by a calculator, or where none is stated.
pub(crate) fn counts_memory_alone(calculator: Option<&str>) -> bool {
    calculator.is_none_or(|class| !class.ends_with("DominantResourceCalculator"))
}

/// The queues, parents before their children.
pub(super) fn read(
    place: &Partitions,
    root: &Element,
    report: &mut ImportReport,
) -> Result<Vec<Queue>, InstanceError> {
    let stated = root.properties().into_iter();
    let properties = stated.filter_map(|(name, value)| Some((name.strip_prefix(PREFIX)?, value))).collect();
    let reading = Reading { place, properties };
    if let Some(href) = root.included() {
        return Err(place.refused("xi:include", href, INCLUDED));
    }
    let variable = |(name, value): &(&&str, &&str)| name.starts_with("root.") && value.contains("${");
    if let Some((name, value)) = reading.properties.iter().find(variable) {
        let problem =
            "has a variable, for which Hadoop puts its value, which is not done here; write the value itself";
        return Err(place.refused(name, value, problem));
    }
    if counts_memory_alone(reading.properties.get(CALCULATOR).copied()) {
        report.one("resource calculator of memory alone, Hadoop's default (taken as drf)");
    }
    let mut queues = vec![reading.root(report)?];
    let (mut names, mut stopped) = (HashSet::new(), HashSet::new());
    // What each queue may have at most: where it states nothing, what the one above may have.
    let mut whole = vec![queues[0].parts.clone()];
    // Of each queue the part of the cluster that it is due, and the places where its guarantee is a percentage of all there is.
    let mut parts = vec![1.0];
    let mut in_percent: Vec<Vec<usize>> = vec![(0..place.places.len()).collect()];
    let mut position = 0;
    while position < queues.len() {
        let path = queues[position].name.clone();
        let (first, mut stated) = (queues.len(), Vec::new());
        let children = reading.value(&path, "queues").unwrap_or_default();
        queues[position].is_above = children_of(children).next().is_some();
        for child in children_of(children) {
            let name = format!("{path}.{child}");
            if reading.is_stopped(&name) || (position == 0 && reading.is_stopped("root")) {
                reading.leave_out_stopped(name, &mut stopped, report);
                continue;
            }
            if !names.insert(name.clone()) {
                return Err(place.refused(&format!("queue {path}: queues"), child, "is named twice"));
            }
            if child.contains('.') {
                return Err(place.refused(&format!("queue {path}: queues"), child, DOTTED));
            }
            let (capacity, parts, percentages) = reading.queue(&name, &whole[position], report)?;
            whole.push(parts.iter().map(|part| with_maxima_of(part, &whole[position])).collect());
            in_percent.push(percentages.into_iter().filter(|at| in_percent[position].contains(at)).collect());
            stated.push(capacity);
            queues.push(Queue { name, parent: Some(position), parts, ..Queue::default() });
        }
        let children: Vec<&str> = children_of(children).collect();
        reading.is_stated_one_way(&path, &children)?;
        reading.percentages_are_all(&path, &children)?;
        let weights = weights(&stated, parts[position]);
        let all: f64 = weights.iter().sum();
        for (queue, weight) in queues[first..].iter_mut().zip(weights) {
            queue.weight = weight;
            parts.push(if all > 0.0 { parts[position] * weight / all } else { 0.0 });
        }
        position += 1;
    }
    for (queue, in_percent) in queues.iter_mut().zip(&in_percent).skip(1) {
        for part in queue.parts.iter_mut().filter(|part| in_percent.contains(&part.place)) {
            place.lowered(part.place, &mut part.guarantee, report);
        }
    }
    reading.tell_of_misspelt(&queues, report);
    reading.tell_of_unkept(&queues, report);
    reading.tell_of_what_is_for_all(report);
    reading.tell_of_lost_labels(&queues, report);
    reading.tell_of_unnamed(&names, &stopped, report);
    if !queues[0].is_above {
        if let Some((name, value)) =
            root.properties().into_iter().find(|(name, _)| name.starts_with("yarn.scheduler.fair."))
        {
            let problem = "this is a file of properties of the fair scheduler, which has no queues: they are in its allocation file, \
                           fair-scheduler.xml with <allocations> (yarn.scheduler.fair.allocation.file names it)";
            return Err(place.refused(name, value, problem));
        }
        let problem = "there are no queues here: the property yarn.scheduler.capacity.root.queues is missing";
        return Err(place.refused("", "", problem));
    }
    Ok(queues)
}

/// What properties of a queue are called.
const FIELDS: [&str; 29] = [
    "accessible-node-labels",
    "acl_administer_queue",
    "acl_administer_reservations",
    "acl_application_max_priority",
    "acl_list_reservations",
    "acl_submit_applications",
    "acl_submit_reservations",
    "allow-zero-capacity-sum",
    "capacity",
    "default-application-lifetime",
    "default-application-priority",
    "default-node-label-expression",
    "disable_preemption",
    "max-parallel-apps",
    "maximum-allocation",
    "maximum-allocation-mb",
    "maximum-allocation-vcores",
    "maximum-am-resource-percent",
    "maximum-application-lifetime",
    "maximum-applications",
    "maximum-capacity",
    "minimum-user-limit-percent",
    "ordering-policy",
    "priority",
    "queues",
    "reservable",
    "state",
    "user-limit-factor",
    "user-settings",
];

/// Stands between a queue and a label in the name of a property.
const LABELS: &str = ".accessible-node-labels.";

/// The names in a `queues`.
fn children_of(queues: &str) -> impl Iterator<Item = &str> {
    queues.split(',').map(str::trim).filter(|child| !child.is_empty())
}

struct Reading<'a> {
    place: &'a Partitions<'a>,
    /// By their names without [`PREFIX`].
    properties: BTreeMap<&'a str, &'a str>,
}

impl Reading<'_> {
    fn value(&self, queue: &str, field: &str) -> Option<&str> {
        self.properties.get(format!("{queue}.{field}").as_str()).copied()
    }

    /// Whether nothing new is let into a queue.
    fn is_stopped(&self, queue: &str) -> bool {
        self.value(queue, "state").is_some_and(|state| state.eq_ignore_ascii_case("STOPPED"))
    }

    /// Leaves out a queue, and all below it: Hadoop stops these too.
    fn leave_out_stopped(&self, queue: String, stopped: &mut HashSet<String>, report: &mut ImportReport) {
        let mut out = vec![queue];
        while let Some(queue) = out.pop() {
            let below = children_of(self.value(&queue, "queues").unwrap_or_default());
            out.extend(below.map(|child| format!("{queue}.{child}")));
            report.named(STOPPED, &queue);
            stopped.insert(queue);
        }
    }

    /// Counts properties of queues that are nearly called like a known one.
    fn tell_of_misspelt(&self, queues: &[Queue], report: &mut ImportReport) {
        let names: HashSet<&str> = queues.iter().map(|queue| queue.name.as_str()).collect();
        let of_queues = self.properties.keys().filter_map(|property| property.rsplit_once('.'));
        let of_queues = of_queues.filter(|(queue, field)| {
            // Of a queue below that has the name of a field nothing is known.
            names.contains(queue) && !names.contains(format!("{queue}.{field}").as_str())
        });
        of_queues.for_each(|(_, field)| misspelt::or_unknown(field, &FIELDS, report));
    }

    /// Counts what queues state that is left out.
    fn tell_of_unkept(&self, queues: &[Queue], report: &mut ImportReport) {
        for queue in queues {
            let below = format!("{}.", queue.name);
            let own = self
                .properties
                .range(below.as_str()..)
                .map_while(|(property, value)| Some((property.strip_prefix(below.as_str())?, *value)));
            // Weights of users have the users' names in them.
            let own = own.map(|(field, value)| {
                (if field.starts_with("user-settings.") { "user-settings" } else { field }, value)
            });
            unkept::tell(&unkept::CAPACITY, &queue.name, own, report);
        }
    }

    /// Names what is stated of no single queue and left out, and properties that nothing is called like.
    fn tell_of_what_is_for_all(&self, report: &mut ImportReport) {
        let told = unkept::CAPACITY_OF_ALL.map(|(name, ..)| name);
        let known: Vec<&str> = told.into_iter().chain(unkept::WORKINGS).collect();
        for (property, value) in self.properties.iter().filter(|(name, _)| !name.starts_with("root.")) {
            // What is stated of a user has the user's name in it.
            let of_user =
                property.strip_prefix("user.").is_some_and(|rest| rest.ends_with(".max-parallel-apps"));
            let field = if of_user { "user.max-parallel-apps" } else { property };
            unkept::tell(&unkept::CAPACITY_OF_ALL, property, std::iter::once((field, *value)), report);
            if !unkept::OF_WORKINGS.iter().any(|begin| field.starts_with(begin)) {
                misspelt::or_unknown(field, &known, report);
            }
        }
    }

    /// Counts what queues are given of labels that no node has.
    fn tell_of_lost_labels(&self, queues: &[Queue], report: &mut ImportReport) {
        let names: HashSet<&str> =
            queues.iter().filter(|queue| queue.parent.is_some()).map(|queue| queue.name.as_str()).collect();
        let of_labels = self.properties.keys().filter_map(|property| property.split_once(LABELS));
        for (_, rest) in of_labels.filter(|(queue, _)| names.contains(queue)) {
            let Some((label, "capacity" | "maximum-capacity")) = rest.rsplit_once('.') else { continue };
            if !self.place.labels.iter().any(|known| known == label) {
                report.named("amounts of node labels left out: no node here has the label", label);
            }
        }
    }

    /// Names queues of which something is stated, but which no `queues` names: nothing of them counts.
    fn tell_of_unnamed(&self, names: &HashSet<String>, stopped: &HashSet<String>, report: &mut ImportReport) {
        // Of queues to come, of labels and of users the names of properties have more parts.
        let is_other = |part: &str| {
            [
                "*",
                "accessible-node-labels",
                "auto-queue-creation-v2",
                "intra-queue-preemption",
                "leaf-queue-template",
                "user-settings",
            ]
            .contains(&part)
        };
        let is_left_out = |queue: &str| {
            let mut upwards =
                std::iter::successors(Some(queue), |at| at.rsplit_once('.').map(|(above, _)| above));
            upwards.any(|at| stopped.contains(at))
        };
        let queue_of = |property: &'_ &str| {
            FIELDS.iter().find_map(|field| Some(property.strip_suffix(field)?.strip_suffix('.')?.to_owned()))
        };
        let of_queues = self.properties.keys().filter(|property| property.starts_with("root."));
        let queues: BTreeSet<String> = of_queues.filter_map(queue_of).collect();
        for queue in &queues {
            let is_known = queue == "root" || names.contains(queue) || is_left_out(queue);
            if !is_known && !queue.split('.').any(is_other) {
                report
                    .named("queues left out: properties are set of them, and no `queues` names them", queue);
            }
        }
    }

    /// The root is due all there is, of every label too, unless it has a maximum.
    fn root(&self, report: &mut ImportReport) -> Result<Queue, InstanceError> {
        let mut parts = Vec::with_capacity(self.place.places.len());
        for (place, totals) in self.place.places.iter().enumerate() {
            let mut part = Part::new(place, RESOURCES.len());
            let maximum = self.field(place, "maximum-capacity");
            if let Some(text) = self.value("root", &maximum).filter(|text| !is_without_end(text)) {
                part.limit = self.maximum("root", &maximum, text, &part, report)?;
            }
            let due = |(total, limit): (&Decimal, &Option<Decimal>)| tighter(Some(*total), *limit);
            part.guarantee = totals.iter().zip(&part.limit).map(due).collect();
            parts.push(part);
        }
        Ok(Queue { name: "root".into(), weight: 1.0, parts, ..Queue::default() })
    }

    /// What a field of a place is called: of a label its name stands before it.
    fn field(&self, place: usize, what: &str) -> String {
        match place.checked_sub(1) {
            None => what.to_owned(),
            Some(label) => format!("accessible-node-labels.{}.{what}", self.place.labels[label]),
        }
    }

    /// What a queue below one with the parts `above` is due and given, and at which places in percent.
    fn queue(
        &self,
        name: &str,
        above: &[Part],
        report: &mut ImportReport,
    ) -> Result<(Capacity, Vec<Part>, Vec<usize>), InstanceError> {
        let mut due = Capacity::Percent(0.0);
        let (mut parts, mut in_percent, mut of_labels) = (Vec::new(), Vec::new(), Vec::new());
        let named = self.value(name, "accessible-node-labels");
        for above in above {
            let label = above.place.checked_sub(1).map(|label| &self.place.labels[label]);
            if let Some(label) = label {
                let is_named =
                    |names: &str| names.split(',').any(|one| [label.as_str(), "*"].contains(&one.trim()));
                // Without a word of its own a queue may use what the one above may.
                if !named.is_none_or(is_named) {
                    continue;
                }
            }
            let [capacity, maximum] =
                ["capacity", "maximum-capacity"].map(|what| self.field(above.place, what));
            let stated = self.value(name, &capacity);
            let (own, guarantee, is_in_percent) = self.capacity(name, &capacity, stated, above, report)?;
            let mut part = Part { guarantee, ..Part::new(above.place, RESOURCES.len()) };
            // -1 is what Hadoop takes where nothing is stated: all that the queue above may have.
            if let Some(text) = self.value(name, &maximum).filter(|text| !is_without_end(text)) {
                part.limit = self.maximum(name, &maximum, text, above, report)?;
                let percent = text.trim_end_matches('%').trim().parse::<f64>();
                if percent.is_ok_and(|percent| percent < 100.0) {
                    report.one(IN_PERCENT);
                }
            }
            if is_in_percent && part.guarantee.iter().flatten().any(|amount| !amount.is_zero()) {
                report.one(IN_PERCENT);
            }
            if is_in_percent {
                in_percent.push(above.place);
            }
            match label {
                None => due = own,
                Some(label) if stated.is_none() => {
                    // A label of which nothing is due is shared by those that may use it.
                    part.guarantee = vec![None; RESOURCES.len()];
                    report.named(
                        "queues that share the nodes of a label by their capacity without one: none is stated there, which is 0 in Hadoop",
                        &format!("{name} at {label}"),
                    );
                }
                Some(label) => of_labels.push((label, own)),
            }
            for (r, (guarantee, limit)) in part.guarantee.iter_mut().zip(&part.limit).enumerate() {
                if let (Some(sure), Some(most)) = (*guarantee, *limit)
                    && sure.to_f64() > most.to_f64()
                {
                    report.one(format!(
                        "queue whose {capacity} is above its {maximum}, which counts: {name}, {} {sure} > {most}",
                        RESOURCES[r]
                    ));
                    *guarantee = tighter(*guarantee, *limit);
                }
            }
            parts.push(part);
        }
        // Where every node has a label the first of these counts.
        let only_labels = self.place.places[0].iter().all(|amount| amount.is_zero());
        if let Some((_, of_label)) = of_labels.first().filter(|_| only_labels) {
            due = *of_label;
        }
        for (label, _) in of_labels.iter().filter(|(_, of_label)| *of_label != due) {
            report.named(UNLIKE, &format!("{name} at {label}"));
        }
        Ok((due, parts, in_percent))
    }

    /// A percentage, a weight (`3w`) or amounts (`[memory=1024,vcores=2]`), of which the larger part of the cluster counts; and
    /// what that guarantees, which a weight does not, and whether that is all in percent of the queue above.
    fn capacity(
        &self,
        name: &str,
        field: &str,
        text: Option<&str>,
        above: &Part,
        report: &mut ImportReport,
    ) -> Result<(Capacity, Stated, bool), InstanceError> {
        let nothing = vec![None; RESOURCES.len()];
        let Some(text) = text else { return Ok((Capacity::Percent(0.0), nothing, false)) };
        let totals = &self.place.places[above.place];
        if text.starts_with('[') {
            let whole = above.guarantee.iter().zip(totals).map(|(sure, total)| sure.unwrap_or(*total));
            let whole: Vec<Decimal> = whole.collect();
            let amounts = self.amounts(&whole, name, field, text, report)?;
            let is_in_percent = text.split(',').all(|part| part.trim_end_matches([']', ' ']).ends_with('%'));
            let parts = amounts.iter().zip(totals).filter(|(_, total)| !total.is_zero());
            let parts = parts.filter_map(|(amount, total)| Some(amount.as_ref()?.to_f64() / total.to_f64()));
            return Ok((Capacity::Absolute(parts.fold(0.0, f64::max)), amounts, is_in_percent));
        }
        let problem = "must be a percentage, a weight such as 3w, or [memory=…,vcores=…]";
        if let Some(number) = text.strip_suffix('w') {
            return Ok((Capacity::Weight(self.place.weight(name, field, number, problem)?), nothing, false));
        }
        let number = text.strip_suffix('%').unwrap_or(text);
        let percent = self.place.weight(name, field, number, problem)?;
        if percent > 100.0 {
            let problem = "is more than 100%";
            return Err(self.place.refused(&format!("queue {name}: {field}"), text, problem));
        }
        let exact = Decimal::parse(number.trim().as_bytes()).unwrap_or(Decimal::ZERO);
        let of = |amount: &Option<Decimal>| amount.and_then(|amount| percent_of(amount, exact));
        Ok((Capacity::Percent(percent), above.guarantee.iter().map(of).collect(), true))
    }

    /// The most that a queue may have; a percentage is of what the queue above may have.
    fn maximum(
        &self,
        name: &str,
        field: &str,
        text: &str,
        above: &Part,
        report: &mut ImportReport,
    ) -> Result<Stated, InstanceError> {
        let totals = &self.place.places[above.place];
        let of = above.limit.iter().zip(totals).map(|(limit, total)| limit.unwrap_or(*total));
        let whole: Vec<Decimal> = of.collect();
        match text.strip_prefix('[') {
            Some(_) => self.amounts(totals, name, field, text, report),
            None => {
                let percent = if text.ends_with('%') { text.to_owned() } else { format!("{text}%") };
                let number = percent.trim_end_matches('%').trim().parse::<f64>();
                if number.is_ok_and(|number| number > 100.0) {
                    report.named(
                        "queues whose maximum is above 100% of what the queue above may have, which limits nothing",
                        &format!("{name} ({field} {text})"),
                    );
                }
                self.place.amounts_of(&whole, name, field, &percent, report)
            }
        }
    }

    /// `[memory=1024,vcores=2]`.
    fn amounts(
        &self,
        totals: &[Decimal],
        name: &str,
        field: &str,
        text: &str,
        report: &mut ImportReport,
    ) -> Result<Stated, InstanceError> {
        match text.strip_prefix('[').and_then(|inner| inner.strip_suffix(']')) {
            Some(inner) => self.place.amounts_of(totals, name, field, inner, report),
            None => Err(self.place.refused(&format!("queue {name}: {field}"), text, "has no ] at its end")),
        }
    }
}

/// A part of a queue with the maxima of that of the queue above where it states none.
fn with_maxima_of(part: &Part, above: &[Part]) -> Part {
    let mut whole = part.clone();
    if let Some(above) = above.iter().find(|above| above.place == part.place) {
        for (own, most) in whole.limit.iter_mut().zip(&above.limit) {
            *own = own.or(*most);
        }
    }
    whole
}

/// Whether a maximum is -1, which stands for 100%.
fn is_without_end(text: &str) -> bool {
    text.trim().trim_end_matches('%').parse::<f64>().is_ok_and(|percent| percent == -1.0)
}

/// What is told of queues that are due different parts of different nodes.
const UNLIKE: &str = "queues whose capacity on the nodes of a label is not the one that counts between queues (without a label; where all nodes have one, of the first): their shares there count by the latter";

/// What a queue is due, as its `capacity` states it.
#[derive(Clone, Copy, PartialEq)]
enum Capacity {
    /// The larger part of the cluster that its amounts are.
    Absolute(f64),
    /// A percentage of what the queue above has.
    Percent(f64),
    /// A weight against the others.
    Weight(f64),
}

/// The weights of the children of a queue that is due this part of the cluster. Where they are stated in several ways, amounts
/// come first, then percentages of what is left, and weights share the rest.
fn weights(stated: &[Capacity], part: f64) -> Vec<f64> {
    let (mut amounts, mut percentages, mut shares) = (0.0, 0.0, 0.0);
    for capacity in stated {
        match capacity {
            Capacity::Absolute(amount) => amounts += amount,
            Capacity::Percent(percent) => percentages += percent,
            Capacity::Weight(weight) => shares += weight,
        }
    }
    let is_mixed = [amounts, percentages, shares].iter().filter(|sum| **sum > 0.0).count() > 1;
    let after_amounts = (part - amounts).max(0.0);
    // Percentages that nothing comes after share all that is left, whatever they add up to.
    let of_percentages = if shares > 0.0 { 100.0 } else { percentages };
    let rest = (1.0 - percentages / of_percentages).max(0.0) * after_amounts;
    let weight = |capacity: &Capacity| match *capacity {
        Capacity::Absolute(amount) => amount,
        Capacity::Percent(percent) if is_mixed => percent / of_percentages * after_amounts,
        Capacity::Weight(weight) if is_mixed => weight / shares * rest,
        // Shares for these weights are what YARN calls the used part of a queue's capacity.
        Capacity::Percent(percent) => percent / 100.0,
        Capacity::Weight(weight) => weight,
    };
    stated.iter().map(weight).collect()
}

#[cfg(test)]
mod tests {
    use super::Capacity::{Absolute, Percent, Weight};
    use super::*;

    #[test]
    fn amounts_come_before_percentages_and_weights_share_the_rest() {
        assert_eq!(weights(&[Absolute(0.5), Weight(3.0), Weight(1.0)], 1.0), [0.5, 0.375, 0.125]);
        assert_eq!(weights(&[Percent(25.0), Percent(25.0), Weight(2.0)], 1.0), [0.25, 0.25, 0.5]);
        assert_eq!(weights(&[Percent(50.0), Percent(50.0), Weight(2.0)], 1.0), [0.5, 0.5, 0.0]);
        assert_eq!(weights(&[Absolute(0.25), Percent(40.0), Percent(40.0)], 0.75), [0.25, 0.25, 0.25]);
        assert_eq!(weights(&[Absolute(0.6), Weight(1.0)], 0.5), [0.6, 0.0]);
        // In one way only, numbers are as they stand.
        assert_eq!(weights(&[Percent(30.0), Percent(20.0)], 1.0), [0.3, 0.2]);
        assert_eq!(weights(&[Weight(3.0), Weight(1.0)], 0.2), [3.0, 1.0]);
    }
}
