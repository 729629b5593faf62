//! The bounds of a bracket in doubles, as results state them.

use crate::tolerance::SAME;
use crate::{
    Instance, LimitRoom, LimitedTasks, Part, UserId, WholeTaskBracket, WholeTaskProof, breakpoint_value,
    wants_beyond_limits,
};

/// What a result file states of a bracket in doubles.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StatedBounds {
    /// The bound of divisible tasks, which the prices beside it prove; `None` if none is stated.
    pub divisible: Option<f64>,
    /// The largest value of whole tasks that is not excluded, over all users.
    pub upper: f64,
    /// The value of the placement, over all users.
    pub lower: f64,
    /// The same over the users that can have tasks.
    pub upper_of_others: f64,
    /// The same over the users that can have tasks.
    pub lower_of_others: f64,
    /// No placement has a higher level; `None` if none is stated.
    pub level_upper: Option<f64>,
    /// The level of the placement; `None` if none is stated.
    pub level_lower: Option<f64>,
    /// Tasks that wait in the placement; `None` if none are stated.
    pub unplaced: Option<u64>,
    /// Whether the placement has the highest level.
    pub proved_optimal: bool,
}

/// The bounds of a bracket as doubles: of the smallest share, which is no more than anybody's tasks and limits allow, nor than what is proved of
/// `divisible` tasks, and of the level where tasks, limits or groups tell the two apart.
pub fn stated_bounds(
    instance: &Instance,
    bracket: &WholeTaskBracket,
    divisible: Option<f64>,
) -> StatedBounds {
    let share = |i: usize, tasks: u64| tasks as f64 * instance.user(UserId(i)).task_share();
    let has_none = |i: usize| bracket.without_tasks.binary_search(&UserId(i)).is_ok();
    let tasks = &bracket.placement.tasks;
    // Of all users, who can have no whole task lacks what divisible tasks could have.
    let lacks_all = |i: usize| {
        let user = instance.user(UserId(i));
        has_none(i) && user.tasks() != Some(0) && user.can_run()
    };
    let has_left =
        |i: usize| !has_none(i) && instance.user(UserId(i)).tasks().is_none_or(|all| tasks[i] < all);
    let room = LimitRoom::of(instance, &bracket.placement);
    let wants_more = |i: usize| has_left(i) && !room.holds(instance.user(UserId(i)));
    let limited = LimitedTasks::of(instance);
    let floors = limited.guaranteed_shares(instance);
    let LimitedTasks { most, .. } = limited;
    let cap = |i: usize| match most[i] {
        _ if has_none(i) => 0.0,
        u64::MAX => f64::INFINITY,
        tasks => share(i, tasks),
    };
    let parts = |has: &dyn Fn(usize) -> f64, wants_more: &dyn Fn(usize) -> bool| {
        let floor = |i: usize| if has_none(i) { 0.0 } else { floors[i] };
        instance.parts_at_the_root(|i| Part { floor: floor(i), ..Part::new(has(i), wants_more(i)) })
    };
    let has = |i: usize| share(i, tasks[i]);
    let beyond = |i: usize| !has_none(i) && wants_beyond_limits(instance.user(UserId(i)), most[i] as f64);
    let caps = parts(&cap, &beyond);
    let children = parts(&has, &has_left);
    // Who can have tasks is among the others, even if a limit has no room for one.
    let can_have = parts(&|i| if has_none(i) { 0.0 } else { 1.0 }, &|_| false);
    let of_others = |of: &[Part]| {
        let others = can_have.iter().zip(of).filter(|(can, _)| can.share > 0.0);
        others.map(|(_, part)| part.share).fold(f64::INFINITY, f64::min)
    };
    let upper = breakpoint_value(instance, bracket.upper);
    let [lower, _] = Part::smallest(&parts(&has, &|i| has_left(i) || lacks_all(i)));
    let [_, level] = Part::smallest(&parts(&has, &wants_more));
    let is_level = !matches!(bracket.proof, None | Some(WholeTaskProof::TaskLimit(_)));
    let tells_apart = instance.has_task_limits() || instance.has_groups() || instance.has_limits();
    let anybody = |value: f64| if bracket.upper.is_some() { value } else { 0.0 };
    // Whole tasks can be divided, too; but where some users can have none the others may have more than all of them.
    // What differs by rounding alone is the same.
    let by_division = divisible.filter(|bound| *bound < upper * (1.0 - SAME)).unwrap_or(f64::INFINITY);
    let of_all = if bracket.without_tasks.is_empty() { by_division } else { f64::INFINITY };
    let by_tasks = Part::smallest(&parts(&cap, &|i| beyond(i) || lacks_all(i)))[0];
    StatedBounds {
        divisible,
        upper: upper.min(by_tasks).min(by_division),
        lower,
        upper_of_others: anybody(upper.min(of_others(&caps)).min(of_all)),
        lower_of_others: anybody(of_others(&children)),
        level_upper: (tells_apart && is_level).then_some(upper),
        level_lower: (tells_apart && level < f64::INFINITY).then_some(level),
        unplaced: instance.has_task_limits().then(|| bracket.placement.all_waiting(instance)),
        proved_optimal: bracket.is_closed,
    }
}
