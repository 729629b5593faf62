//! `hidden-optimality`: those who are worth less than the gap of a sum have what they would have in it.
//!
//! A sum proves little of them, and prices have sixteen digits: where somebody pays much, the small price that another pays is nothing beside
//! it, and no price tells it to leave the other room. So they are looked at by linear programs, from what runs on: whoever is worth about as
//! much may have a little more or less, whoever is worth more a little less, and whoever is worth far less may lose what it has; all may have
//! it elsewhere. At an optimum of a sum that makes nothing better.

use super::Market;
use super::beside::is_judged;
use super::moves::Moves;
use super::own::has_all_tasks;
use crate::claim::SolutionClaim;
use crate::parts::in_parts;
use crate::tolerance::{ALIKE, FREEZING, MEASURED, OWN, WEIGHED};
use crate::used::Used;
use crate::verdict::{Verdict, Worst};
use fairplan_instances::{User, UserId};
use std::ops::Range;

/// Pairs of a kind and a class up to which linear programs are solved.
const PAIRS: usize = 400;

/// What is found of those of whom the gap of a sum says nothing.
pub(super) struct Hidden {
    pub verdict: Option<Verdict>,
    /// The users of whom something is found, the members of groups among them.
    pub seen: Vec<bool>,
    /// Those of whom nothing is found, since they and the others are too many, or their numbers too far apart.
    pub unseen: usize,
}

/// Judges those of whom a sum of which so much is open says nothing. Nobody is worth less in it than `least`.
pub(super) fn judge(
    market: &Market<'_>,
    claim: &SolutionClaim<'_>,
    used: &Used<'_>,
    gap: f64,
    least: f64,
) -> Hidden {
    let seen = vec![false; market.instance.user_count()];
    if gap <= OWN * least {
        return Hidden { verdict: None, seen, unseen: 0 };
    }
    let parties = Parties::of(market, claim);
    let part = |part: Range<usize>| part.filter(|who| parties.is_hidden(*who, gap)).collect::<Vec<usize>>();
    let mut hidden = in_parts(parties.len(), part).concat();
    hidden.sort_by(|a, b| parties.log_worth(*b).total_cmp(&parties.log_worth(*a)));
    let kinds = market.instance.users().flat_map(|user| market.usable_classes.kinds(user));
    let pairs: usize = kinds.map(|kind| market.usable_classes.of_kind(kind).classes.len()).sum();
    let mut found = Hidden { verdict: None, seen, unseen: 0 };
    if pairs > PAIRS {
        return Hidden { unseen: hidden.len(), ..found };
    }
    let mut worst = Worst::of("hidden-optimality", OWN);
    let mut left = &hidden[..];
    while let Some(first) = left.first() {
        // The next ones begin among these, so that whoever is worth about as much is looked at together.
        let most = parties.log_worth(*first);
        let judged = left.partition_point(|who| is_judged(parties.log_worth(*who) - most));
        let (judged, others) = left.split_at(judged);
        if WEIGHED.iter().any(|far| Moves::of(&parties, used, most, *far).judge(&mut worst)) {
            let members = judged.iter().flat_map(|who| parties.members(*who));
            members.for_each(|member| found.seen[member.user] = true);
        } else {
            found.unseen += judged.len();
        }
        left = others;
    }
    if found.unseen < hidden.len() {
        found.verdict = Some(worst.verdict());
    }
    found
}

/// Users without a group and groups at the root: those whose shares a sum adds up.
pub(super) struct Parties<'a> {
    pub market: &'a Market<'a>,
    pub claim: &'a SolutionClaim<'a>,
    users: Vec<usize>,
}

/// A user with the work that it needs for what it, or its group, has.
pub(super) struct Member {
    pub user: usize,
    pub needs: f64,
    /// The part of that which it is guaranteed.
    pub sure: f64,
}

impl<'a> Parties<'a> {
    fn of(market: &'a Market<'a>, claim: &'a SolutionClaim<'a>) -> Self {
        let is_one = |user: &User<'_>| {
            let able = market.usable_classes.can_run(user.index().0) && user.tasks() != Some(0);
            able && user.group().is_none()
        };
        let users = market.instance.users().filter(is_one).map(|user| user.index().0).collect();
        Self { market, claim, users }
    }

    pub fn len(&self) -> usize {
        self.users.len() + self.market.groups.len()
    }

    pub fn members(&self, who: usize) -> Vec<Member> {
        let Market { instance, shares, .. } = *self.market;
        let sure = |user: usize| match self.market.floor(instance.user(UserId(user))) {
            0.0 => 0.0,
            floor => floor / shares[user].share,
        };
        match self.users.get(who) {
            Some(&user) => vec![Member { user, needs: shares[user].work, sure: sure(user) }],
            None => {
                let group = &self.market.groups[who - self.users.len()];
                let needs = |member: &super::members::Member| Member {
                    user: member.user,
                    needs: group.share * member.part.low / member.task_share,
                    sure: sure(member.user),
                };
                group.members.iter().map(needs).collect()
            }
        }
    }

    /// What somebody is worth at the margin with all that it has, as a logarithm, in the unit of the value; of nobody who has nothing.
    pub fn log_worth(&self, who: usize) -> f64 {
        let Market { instance, alpha, shares, log_unit, .. } = *self.market;
        let (weight, share) = match self.users.get(who) {
            Some(&user) => (instance.user(UserId(user)).weight().to_f64(), shares[user].share),
            None => {
                let group = &self.market.groups[who - self.users.len()];
                (group.weight, group.share)
            }
        };
        if share > 0.0 { weight.ln() + (1.0 - alpha) * share.ln() - log_unit } else { f64::NEG_INFINITY }
    }

    /// The part of what it has that whoever is worth so little, as a logarithm, keeps: the less it has of that, the more it is worth, and with
    /// less than this it would count.
    pub fn kept(&self, below: f64) -> f64 {
        let alpha = self.market.alpha;
        if alpha > 1.0 { ((below - ALIKE.ln()) / (alpha - 1.0)).exp().min(1.0) } else { 0.0 }
    }

    /// Whether a sum of which so much is open says nothing of a hundredth of what somebody has, who could have more.
    fn is_hidden(&self, who: usize, gap: f64) -> bool {
        let Market { instance, alpha, shares, usable_classes, .. } = *self.market;
        let (share, could) = match self.users.get(who) {
            Some(&i) => {
                let user = instance.user(UserId(i));
                let has_all = has_all_tasks(user, self.claim.tasks.running(user));
                (shares[i].share, !has_all || usable_classes.of_user(i).rates_differ())
            }
            None => (self.market.groups[who - self.users.len()].share, true),
        };
        let counts = if alpha >= 1.0 { share > 0.0 } else { share > FREEZING * MEASURED };
        could && counts && gap.ln() > OWN.ln() + self.log_worth(who)
    }

    pub fn name(&self, who: usize) -> String {
        let id = |user: usize| self.market.instance.user(UserId(user)).id();
        match self.users.get(who) {
            Some(&user) => format!("user {}", id(user)),
            None => {
                let group = &self.market.groups[who - self.users.len()];
                format!("the group of user {}", id(group.members[0].user))
            }
        }
    }
}
