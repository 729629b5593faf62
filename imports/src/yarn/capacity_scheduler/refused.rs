//! Capacities that Hadoop refuses by its older rules are refused: stated in several ways, or with a wrong sum below a queue.
//!
//! Source: `AbstractParentQueue.setChildQueues` of Hadoop 3.

use super::Reading;
use crate::tolerance::PERCENTAGES;
use fairplan_instances::InstanceError;
use std::collections::BTreeSet;

impl Reading<'_> {
    /// Whether Hadoop's older rules hold, as they do unless they are switched off.
    fn is_legacy(&self) -> bool {
        let legacy = self.properties.get("legacy-queue-mode.enabled");
        !legacy.is_some_and(|is_on| is_on.trim().eq_ignore_ascii_case("false"))
    }

    /// Refuses capacities of the queues below one that are stated in several ways, as Hadoop does by its older rules.
    pub(super) fn is_stated_one_way(&self, path: &str, children: &[&str]) -> Result<(), InstanceError> {
        let way = |child: &&str| match self.value(&format!("{path}.{child}"), "capacity")?.trim() {
            text if text.starts_with('[') => Some("amounts"),
            text if text.ends_with('w') => Some("weights"),
            text => (percent(text) != Some(0.0)).then_some("percentages"),
        };
        let ways: BTreeSet<&str> = children.iter().filter_map(way).collect();
        if ways.len() < 2 || !self.is_legacy() {
            return Ok(());
        }
        let ways = ways.into_iter().collect::<Vec<_>>().join(" and ");
        let problem = "stand side by side below it, which Hadoop refuses (unless yarn.scheduler.capacity.legacy-queue-mode.enabled is false); state \
             all in one way";
        Err(self.place.refused(&format!("queue {path}: capacity"), &ways, problem))
    }

    /// Refuses percentages that do not come to 100 among the queues below one, stopped ones too, as Hadoop does unless its older rules
    /// are switched off. All may be 0 where the queue above has 0 itself, or allows it (`allow-zero-capacity-sum`): so queues are set aside.
    pub(super) fn percentages_are_all(&self, path: &str, children: &[&str]) -> Result<(), InstanceError> {
        if !self.is_legacy() {
            return Ok(());
        }
        let of_labels =
            self.place.labels.iter().map(|label| format!("accessible-node-labels.{label}.capacity"));
        for field in std::iter::once("capacity".to_owned()).chain(of_labels) {
            let stated = |child: &&str| self.value(&format!("{path}.{child}"), &field);
            let texts: Vec<&str> = children.iter().filter_map(stated).collect();
            let Some(percentages) = texts.iter().map(|text| percent(text)).collect::<Option<Vec<f64>>>()
            else {
                continue;
            };
            let sum = percentages.iter().fold(0.0, |sum, one| sum + one);
            // A queue that states no capacity has 0 beside those that do.
            let all_count = field == "capacity" || percentages.len() == children.len();
            let is_short = all_count && sum > 0.0 && sum < 100.0 - PERCENTAGES;
            if is_short || sum > 100.0 + PERCENTAGES {
                let sum = (sum * 1e4).round() / 1e4;
                let problem = "is what the queues below it have together (one that states none has 0), and Hadoop refuses all but 100% (unless \
                     yarn.scheduler.capacity.legacy-queue-mode.enabled is false); change one of them";
                return Err(self.place.refused(
                    &format!("queue {path}: {field}"),
                    &format!("{sum}%"),
                    problem,
                ));
            }
            if !children.is_empty() && all_count {
                self.is_nothing_of_nothing(path, &field, sum)?;
            }
        }
        Ok(())
    }

    /// Refuses percentages of the queues below one that come to nothing of something, or to all of nothing, as Hadoop does unless the
    /// queue allows it.
    fn is_nothing_of_nothing(&self, path: &str, field: &str, sum: f64) -> Result<(), InstanceError> {
        let is_plain = field == "capacity";
        let above = match self.value(path, field) {
            _ if path == "root" && is_plain => Some(100.0),
            Some(text) => percent(text),
            // Of a label nothing need be stated here.
            None => is_plain.then_some(0.0),
        };
        let may_be_zero = self.value(path, "allow-zero-capacity-sum");
        let Some(above) =
            above.filter(|_| !may_be_zero.is_some_and(|text| text.eq_ignore_ascii_case("true")))
        else {
            return Ok(());
        };
        let problem = match (sum > 0.0, above > 0.0) {
            (false, true) => {
                "is what the queues below it have together, all of them 0 or not stated, and Hadoop refuses that of a queue with a capacity of \
                 its own (unless its allow-zero-capacity-sum is true); state how the queues below share it"
            }
            (true, false) => {
                "is what the queues below it have together, while it has 0 itself or states none, and Hadoop refuses that (unless its \
                 allow-zero-capacity-sum is true); give it a capacity, or those below it 0"
            }
            _ => return Ok(()),
        };
        Err(self.place.refused(&format!("queue {path}: {field}"), &format!("{sum}%"), problem))
    }
}

/// What a capacity is in percent, where it is one.
fn percent(text: &str) -> Option<f64> {
    text.trim().trim_end_matches('%').trim_end().parse().ok()
}
