//! What a placement of whole tasks comes to, summed over its servers in whole numbers: shares, levels, tasks that wait, utilization.

use crate::{
    Instance, KeptGuarantees, KindId, LimitRoom, Part, PlacedGroup, Placement, ResourceId, User, UserId,
    guaranteed_whole_shares, placed_groups,
};

/// What a placement comes to: shares and utilization, summed over the servers.
#[derive(Clone, Debug, PartialEq)]
pub struct PlacementFigures {
    /// The smallest weighted dominant share of all users.
    pub value: f64,
    /// The same of those that still want more, whom no limit holds and whose tasks fit some server; `None` if nobody does.
    pub level: Option<f64>,
    /// Tasks that wait, of users who have a number of them.
    pub unplaced: u64,
    /// What each group has.
    pub groups: Vec<PlacedGroup>,
    /// Which guarantees it keeps; `None` where nothing is guaranteed.
    pub guarantees: Option<KeptGuarantees>,
    /// The work of each user, in tasks of rate 1.
    pub works: Vec<f64>,
    /// The dominant share of each user.
    pub dominant_shares: Vec<f64>,
    /// The part of the whole cluster's capacity that is used, one number a resource; 0 where it has none.
    pub utilization: Vec<f64>,
    /// Tasks placed, over all users.
    pub tasks: u64,
}

impl PlacementFigures {
    /// Sums `placement` up in whole numbers, and divides once at the end.
    pub fn new(instance: &Instance, placement: &Placement) -> Self {
        let works = works(instance, placement);
        let dominant_shares: Vec<f64> =
            instance.users().zip(&works).map(|(user, work)| work * user.task_share()).collect();
        let waits = |user: User<'_>| placement.waiting(user);
        let room = LimitRoom::of(instance, placement);
        let has_tasks_left = |user: User<'_>| waits(user) != Some(0);
        let is_limited = !instance.limit_rows().is_empty();
        let floors = guaranteed_whole_shares(instance);
        let parts = |wants_more: &dyn Fn(User<'_>) -> bool| {
            let wants_more = |i: usize| wants_more(instance.user(UserId(i)));
            let part = |i: usize| Part { floor: floors[i], ..Part::new(dominant_shares[i], wants_more(i)) };
            Part::smallest(&instance.parts_at_the_root(part))
        };
        // As in a solution, whoever a limit holds wants more as to the value, not as to the level; so does who fits no server whole.
        let [value, _] = parts(&|user| has_tasks_left(user) && user.can_run());
        let can_have_more = |user: User<'_>| user.fits_somewhere() && !(is_limited && room.holds(user));
        let [_, level] = parts(&|user| has_tasks_left(user) && can_have_more(user));
        let pieces = placement.pieces(instance);
        let utilization = (0..instance.resources().len()).map(|r| {
            let units = |(kind, count): (usize, &u64)| {
                instance.kind(KindId(kind)).piece_units(ResourceId(r)).saturating_mul(u128::from(*count))
            };
            let used: u128 = pieces.iter().enumerate().map(units).fold(0, u128::saturating_add);
            let total = instance.total_units(ResourceId(r));
            if total == 0 { 0.0 } else { used as f64 / total as f64 }
        });
        Self {
            value,
            level: (level < f64::INFINITY).then_some(level),
            unplaced: instance.users().filter_map(waits).fold(0, u64::saturating_add),
            utilization: utilization.collect(),
            groups: placed_groups(instance, &dominant_shares, &placement.tasks),
            guarantees: KeptGuarantees::of(instance, placement),
            works,
            dominant_shares,
            tasks: placement.tasks.iter().sum(),
        }
    }
}

/// `Σ_l ρ_il x_il` per user: its tasks, each counted at the rate of the class it runs on.
fn works(instance: &Instance, placement: &Placement) -> Vec<f64> {
    if instance.rules().iter().all(|rule| rule.rates().is_empty()) {
        return placement.tasks.iter().map(|tasks| *tasks as f64).collect();
    }
    // Users with kinds have no rates.
    let unrated = |user: User<'_>| placement.tasks[user.index().0] as f64;
    let mut work: Vec<f64> =
        instance.users().map(|user| if user.has_kinds() { unrated(user) } else { 0.0 }).collect();
    for (class, server) in instance.classes_of_servers().zip(&placement.servers) {
        for (kind, tasks) in server {
            let user = instance.kind(KindId(*kind as usize)).user();
            if !user.has_kinds() {
                work[user.index().0] += *tasks as f64 * user.rule().rate(class).to_f64();
            }
        }
    }
    work
}
