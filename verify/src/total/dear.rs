//! What tasks use of what is used up, and wanted, though they would cost less elsewhere: next to nothing of it.
//!
//! Whoever has much loses next to nothing of it by tasks where they are dear, and may take there all that somebody else needs.

use super::offers::Choice;
use super::own::{Own, has_all_tasks};
use crate::feasibility::capacity_units;
use crate::tolerance::OWN;
use crate::verdict::Worst;
use fairplan_instances::{ClassId, Instance, ResourceId, User, UserId};

/// What is seen of each resource of each class, row-major `classes × resources`, and of each limit.
pub(super) struct DearTasks {
    of_classes: Vec<Row>,
    of_limits: Vec<Row>,
}

/// What is seen of one of them.
#[derive(Clone, Copy, Default)]
struct Row {
    /// In smallest units, by tasks that would cost less elsewhere.
    used: f64,
    /// Whether somebody pays a noticeable part of what its tasks cost for it who has tasks left, or runs some where they do less work.
    is_wanted: bool,
}

impl Row {
    fn add(&mut self, other: Self) {
        self.used += other.used;
        self.is_wanted |= other.is_wanted;
    }
}

impl DearTasks {
    pub fn none(instance: &Instance) -> Self {
        let rows = instance.classes().len() * instance.resources().len();
        let limits = instance.limit_rows().len();
        Self { of_classes: vec![Row::default(); rows], of_limits: vec![Row::default(); limits] }
    }

    pub fn merge(&mut self, other: Self) {
        self.of_classes.iter_mut().zip(other.of_classes).for_each(|(row, other)| row.add(other));
        self.of_limits.iter_mut().zip(other.of_limits).for_each(|(row, other)| row.add(other));
    }
}

impl Own<'_> {
    /// Adds what a user's tasks use where they would cost less elsewhere. What few tasks are worth that do more work in some places counts with
    /// what they cost; of such tasks that do no less elsewhere what would cost less there, too.
    pub fn add_dear_tasks(&self, user: User<'_>, choice: &Choice, dear: &mut DearTasks) {
        let UserId(i) = user.index();
        let (usable_classes, m) = (self.market.usable_classes, self.market.instance.resources().len());
        let above = self.market.instance.limits_above(user);
        let (has_all, each) = (has_all_tasks(user, choice.running), choice.each());
        for (kind, offers) in usable_classes.kinds(user).zip(&choice.offers) {
            let (least, fastest) = (offers.least(each), offers.fastest());
            // Specks of what runs in so many places say nothing.
            let mut places = 0.0;
            self.claim.tasks.visit(i, kind, |_, _| places += 1.0);
            self.claim.tasks.visit(i, kind, |class, here| {
                let Some(offer) = offers.on(class) else { return };
                let is_dear = offer.paid + each > least * offer.rate * (1.0 + OWN)
                    || choice.few.is_some() && offers.is_beaten(offer);
                let is_wanted = !is_dear && (!has_all || offer.rate < fastest);
                if here * places <= OWN * choice.running && !is_dear {
                    return;
                }
                let seen = |r: ResourceId, price: f64| {
                    let used = here * usable_classes.demand_units(user, kind, r) as f64;
                    let is_noticed =
                        usable_classes.demand_doubles(user, kind)[r.0] * price > OWN * offer.paid;
                    Row { used: if is_dear { used } else { 0.0 }, is_wanted: is_wanted && is_noticed }
                };
                for r in 0..m {
                    let price = self.at_used_up.prices[class * m + r];
                    dear.of_classes[class * m + r].add(seen(ResourceId(r), price));
                }
                for j in &above {
                    let row = &self.market.instance.limit_rows()[*j];
                    if row.covers(ClassId(class)) {
                        let price = self.at_used_up.limits.as_ref().map_or(0.0, |limits| limits.price(*j));
                        dear.of_limits[*j].add(seen(row.resource, price));
                    }
                }
            });
        }
    }

    /// Judges what all tasks use together where they are dear.
    pub fn judge_dear_tasks(&self, dear: &DearTasks, worst: &mut Worst) {
        let (instance, m) = (self.market.instance, self.market.instance.resources().len());
        for (at, Row { used, is_wanted }) in dear.of_classes.iter().enumerate() {
            if self.is_used_up[at] && *is_wanted {
                let (class, resource) = (at / m, at % m);
                worst.see(used / capacity_units(instance, class, resource) as f64, || {
                    let (class, resource) = (&instance.classes()[class].id, &instance.resources()[resource]);
                    format!("tasks that would cost less elsewhere take a part of the {resource} of {class}")
                });
            }
        }
        for (j, Row { used, is_wanted }) in dear.of_limits.iter().enumerate() {
            if !(self.full_limits[j] && *is_wanted) {
                continue;
            }
            let row = &instance.limit_rows()[j];
            worst.see(used / instance.limit_units(row) as f64, || {
                let (owner, resource) = (instance.name_of(row.owner), &instance.resources()[row.resource.0]);
                format!(
                    "tasks that would cost less elsewhere take a part of the {resource} of limits of {owner}"
                )
            });
        }
    }
}
