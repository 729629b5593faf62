//! What a claim says of the users of groups: what each has, what it may have at most, and what holds it.

use super::filling::{Bounds, Filled, Tree};
use crate::levels::{LevelPrices, Levels};
use crate::limits::{below, has_all};
use crate::rounding::{decimal_up, down, up};
use crate::tolerance;
use crate::users::{Subject, UserShares};
use crate::verdict::Worst;
use fairplan_instances::{Instance, LimitedBy, UserId};

/// The users, their shares counted as the objective does and without their weights.
pub(super) struct Members<'a> {
    subject: Subject<'a>,
    pub claim: Levels<'a>,
    /// What each has.
    pub shares: Vec<Bounds>,
    /// What its tasks are worth.
    caps: Vec<Bounds>,
    /// The work that a share of one takes, at least.
    work_of_share: Vec<f64>,
    /// What is left beside floors, and who has a part in it, is known but for this share.
    rounding: f64,
}

impl<'a> Members<'a> {
    pub fn of(subject: Subject<'a>, claim: Levels<'a>, tree: &Tree) -> Self {
        let users = subject.shares.iter().enumerate();
        Self {
            shares: users.clone().map(|(i, user)| share(user, i, tree)).collect(),
            caps: users.clone().map(|(i, user)| cap(user, i, tree)).collect(),
            work_of_share: users.map(|(i, user)| work_of_share(subject.instance, user, i)).collect(),
            rounding: if tree.has_floors() { tolerance::LOOSE } else { 0.0 },
            subject,
            claim,
        }
    }

    /// Whether capacity or a limit holds the user, on whatever level.
    pub fn is_held(&self, user: usize) -> bool {
        self.claim.limited_by[user].is_by_prices()
    }

    /// The ceilings of a stage: of those held before what they have, of the others what their tasks are worth.
    pub fn ceilings(&self, stage: usize) -> Vec<Bounds> {
        let held = |i: usize| self.is_held(i) && (self.claim.level_of[i] as usize) < stage;
        (0..self.caps.len()).map(|i| if held(i) { self.shares[i] } else { self.caps[i] }).collect()
    }

    /// A dominant share of a user as the objective counts it, at least.
    pub fn share_of(&self, user: usize, dominant: f64) -> f64 {
        let per_task = self.subject.instance.user(UserId(user)).task_share() * (1.0 + tolerance::ROUNDINGS);
        down(down(dominant / per_task) / (self.work_of_share[user] * (1.0 + tolerance::ROUNDINGS)))
    }

    /// What all tasks are worth, for those who can run any.
    pub fn caps(&self) -> &[Bounds] {
        &self.caps
    }

    /// What a share of one costs each user at these prices, at least.
    pub fn costs(&self, prices: &LevelPrices) -> Vec<f64> {
        let Subject { instance, usable_classes, .. } = self.subject;
        let cost = |i: usize| {
            if self.caps[i].high == 0.0 {
                return 0.0;
            }
            down(prices.slope(instance.user(UserId(i)), usable_classes) * self.work_of_share[i])
        };
        (0..self.caps.len()).map(cost).collect()
    }

    /// True reasons: no usable class, or a level, or all tasks.
    pub fn judge_reasons(&self, worst: &mut Worst) {
        let Subject { instance, usable_classes, .. } = self.subject;
        for user in instance.users() {
            let i = user.index().0;
            let (reason, level) = (self.claim.limited_by[i], self.claim.level_of[i] as usize);
            let classes = usable_classes.fewest(i);
            if (classes == 0) != (reason == LimitedBy::NoUsableClass) {
                worst.fail(|| {
                    format!(
                        "user {} is limited by {}, with {classes} usable classes",
                        user.id(),
                        reason.name()
                    )
                });
                continue;
            }
            match reason {
                LimitedBy::NoUsableClass if level != 0 => {
                    worst.fail(|| format!("user {} has no usable class and level {level}, not 0", user.id()));
                }
                LimitedBy::Capacity | LimitedBy::Limit if level == self.claim.levels.len() => {
                    worst.fail(|| {
                        let reason = reason.name();
                        format!("user {} is limited by {reason} on level {level}, which is none", user.id())
                    });
                }
                LimitedBy::Tasks => worst.see(below(self.shares[i].low, self.caps[i].low), || {
                    let (has, cap) = (self.shares[i].low, self.caps[i].low);
                    format!("user {} has {has}, but tasks for {cap}", user.id())
                }),
                LimitedBy::NoUsableClass | LimitedBy::Capacity | LimitedBy::Limit => {}
            }
        }
    }

    /// Who is held on a level has what the level gives it; nobody has less; and those whose tasks run out there have tasks
    /// for more just below the level before, given what that gives everybody.
    pub fn judge_level(&self, k: usize, at: &[Filled], before: Option<&[Filled]>, worst: &mut Worst) {
        let instance = self.subject.instance;
        let least = |share: f64| if self.rounding == 0.0 { share } else { down(share - self.rounding) };
        for (i, filled) in at.iter().enumerate() {
            let (has, id) = (self.shares[i], || instance.user(UserId(i)).id());
            let reaches = self.claim.level_of[i] as usize == k;
            match self.claim.limited_by[i] {
                LimitedBy::NoUsableClass => continue,
                LimitedBy::Capacity | LimitedBy::Limit if reaches => {
                    if (has.low - filled.share.low).abs() > self.rounding {
                        worst.compare(has.low, filled.share.low, || {
                            format!("share of user {}, which is held on level {k}", id())
                        });
                    }
                    worst.see(below(self.caps[i].high, filled.due.low), || {
                        format!("the tasks of user {} run out before capacity holds it on level {k}", id())
                    });
                    if self.caps[i].high < f64::INFINITY && has_all(has.high, self.caps[i].high) {
                        let cap = self.caps[i].high;
                        worst.fail(|| {
                            format!(
                                "user {} is limited by its tasks, not held on level {k}: it has all {cap}",
                                id()
                            )
                        });
                    }
                }
                LimitedBy::Tasks if reaches => {
                    worst.see(below(filled.due.high, self.caps[i].low), || {
                        format!("level {k} gives user {} {}, not all its tasks", id(), filled.due.high)
                    });
                    self.judge_order(i, k, before, worst);
                }
                _ => {}
            }
            worst.see(below(has.high, least(filled.share.low)), || {
                format!("user {} has {}, and {} by level {k}", id(), has.high, filled.share.low)
            });
        }
    }

    /// Those whose tasks run out above all levels have tasks for more just below the last of them.
    pub fn judge_last(&self, last: Option<&[Filled]>, worst: &mut Worst) {
        let levels = self.claim.levels.len();
        let above = |i: &usize| {
            self.claim.limited_by[*i] == LimitedBy::Tasks && self.claim.level_of[*i] as usize == levels
        };
        (0..self.caps.len()).filter(above).for_each(|i| self.judge_order(i, levels, last, worst));
    }

    /// A user whose tasks run out by level `k` has tasks for more just below the one before. What it would have without an end of its own
    /// does not tell: a group of which all are at their ends gives no more, whatever the level, and a guarantee gives as much from the first on.
    fn judge_order(&self, i: usize, k: usize, before: Option<&[Filled]>, worst: &mut Worst) {
        let Some(before) = before else { return };
        let (had, cap) = (before[i].share.low, self.caps[i].high);
        if have_run_out(had, cap) {
            let id = self.subject.instance.user(UserId(i)).id();
            worst.fail(|| format!("the tasks of user {id} run out before level {k}"));
        }
    }
}

/// Whether tasks worth `cap` have run out where their user has so much.
fn have_run_out(has: f64, cap: f64) -> bool {
    cap > 0.0 && below(has, cap) <= tolerance::STATED
}

/// What a user has, without its weight.
pub(super) fn share(user: &UserShares, i: usize, tree: &Tree) -> Bounds {
    let low = down(user.weighted * tree.user_weight(i).low);
    let high = if low == 0.0 { 0.0 } else { up(low * (1.0 + tolerance::ROUNDINGS)) };
    Bounds { low, high }
}

/// What all tasks of a user are worth.
pub(crate) fn cap(user: &UserShares, i: usize, tree: &Tree) -> Bounds {
    if user.cap == 0.0 {
        return Bounds::NOTHING;
    }
    let high = up(user.cap * tree.user_weight(i).high);
    Bounds { low: down(high * (1.0 - tolerance::ROUNDINGS)), high }
}

/// The work that a share of one takes, at least.
pub(crate) fn work_of_share(instance: &Instance, user: &UserShares, i: usize) -> f64 {
    down(user.work_per_level / decimal_up(instance.user(UserId(i)).weight()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tasks_that_end_just_below_a_level_may_end_with_the_next_one_and_those_a_little_lower_may_not() {
        let instance = fairplan_instances::generate::drfh_fig1().unwrap();
        let tree = Tree::of(&instance);
        let may_end_later = |part: f64| {
            let cap = 1.0 - part * tolerance::SOONER;
            let ceilings = vec![Bounds { low: cap, high: cap }; instance.user_count()];
            let just_below = tree.at(1.0 - tolerance::SOONER, &ceilings);
            !have_run_out(just_below[0].share.low, cap)
        };
        assert!(may_end_later(0.0) && may_end_later(0.8) && !may_end_later(1.2));
        assert!(!have_run_out(0.0, 0.0), "who has no tasks is no matter of levels");
    }
}
