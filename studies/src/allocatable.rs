//! The most GPU that any placement of some pods can allocate, all of them known and each of them refused at will: from above by a
//! proved bound, from below by a placement.
//!
//! The bound is that of divided tasks, the largest sum of allocated GPU, with what devices do to tasks as further resources. A task
//! that takes the part `x` of a device counts `min(k, ⌈(k + 1) x⌉ − 1)`, one that takes `n` devices `n k`, and a device has `k`: since
//! `⌈y⌉ − 1 < y`, parts that fit on a device count less than `k + 1` together. With `k = 1` no two tasks of more than half a device
//! share one.

use fairplan::instances::{Decimal, Draft, DraftUser, ResourceId};
use fairplan::{
    Control, Error, Instance, Objective, PlaceOptions, SolveOptions, UserId, allocate_most, place_in_order,
    solve,
};
use std::cmp::Reverse;

/// The `k` of which there is a resource each.
const PARTS: [u128; 8] = [1, 2, 3, 4, 5, 6, 7, 9];

/// Weights are rounded up by this part, far more than a double loses.
const UPWARDS: f64 = 1e-12;

/// No placement of the tasks of these users allocates more of a resource, as part of all of it.
pub(crate) fn ceiling(
    instance: &Instance,
    gpu: ResourceId,
    tasks: &[UserId],
    control: &Control<'_>,
) -> Result<f64, Error> {
    let mut counts = vec![0u64; instance.user_count()];
    tasks.iter().for_each(|user| counts[user.0] += 1);
    let mut draft = Draft::from(instance);
    draft.resources.extend(PARTS.map(|k| format!("{k} of {}", k + 1)));
    for class in &mut draft.classes {
        let devices = class.devices_of(gpu).unwrap_or(0);
        class.capacity.extend(PARTS.map(|k| Decimal::from((u128::from(devices) * k) as u32)));
        class.devices = Vec::new();
    }
    let size = instance.device_units(gpu).unwrap_or(1);
    let wants = |user: &UserId| instance.user(*user).demand_units(gpu);
    let counted = |user: &UserId, k: u128| match (wants(user), wants(user) / size) {
        (want, 0) => ((k + 1) * want).div_ceil(size) - 1,
        (_, whole) => whole * k,
    };
    let all = (0..instance.user_count()).map(UserId).filter(|user| counts[user.0] > 0 && wants(user) > 0);
    let all: Vec<UserId> = all.collect();
    let user = |user: &UserId| {
        let mut draft = DraftUser { tasks: Some(counts[user.0]), ..instance.user(*user).into() };
        draft.demand.extend(PARTS.map(|k| Decimal::from(counted(user, k) as u32)));
        draft
    };
    draft.users = all.iter().map(user).collect();
    // Worth of a task is the GPU that it takes, whatever its dominant share.
    let shares: Vec<f64> = draft.build()?.users().map(|user| user.task_share()).collect();
    let total = instance.total_units(gpu) as f64;
    for ((user, id), share) in draft.users.iter_mut().zip(&all).zip(shares) {
        let weight = wants(id) as f64 / total / share * (1.0 + UPWARDS);
        user.weight = Decimal::from_f64(weight).map_err(Error::input)?;
    }
    let options = SolveOptions { objective: Objective::Utilitarian, hash: false, ..SolveOptions::default() };
    let solved = solve(&draft.build()?, &options, control)?;
    // Nobody allocates more than there is.
    Ok(solved.numbers.headline().bound.min(1.0))
}

/// What a placement of the tasks of these users allocates of a resource, as part of all of it: the best of two policies' with the tasks
/// that want any of it as they come, and with those first that want most; and of servers filled anew until that helps no more.
pub(crate) fn found(
    instance: &Instance,
    gpu: ResourceId,
    tasks: &[UserId],
    control: &Control<'_>,
) -> Result<f64, Error> {
    let wants = |user: &UserId| instance.user(*user).demand_units(gpu);
    let as_they_come: Vec<UserId> = tasks.iter().copied().filter(|user| wants(user) > 0).collect();
    let mut largest_first = as_they_come.clone();
    let choices = |user: &UserId| {
        let eligible = instance.user(*user).rule().eligible();
        eligible.map_or(usize::MAX, <[_]>::len)
    };
    largest_first.sort_by_key(|user| (Reverse(wants(user)), choices(user), *user));
    let mut best = 0u128;
    for order in [&as_they_come, &largest_first] {
        for policy in ["fgd", "gpu-best-fit"] {
            let options = PlaceOptions { policy: policy.into(), ..PlaceOptions::default() };
            let servers = place_in_order(instance, &options, order, control)?;
            let placed = order.iter().zip(servers).filter(|(_, server)| server.is_some());
            best = best.max(placed.map(|(user, _)| wants(user)).sum());
        }
    }
    let all: u128 = as_they_come.iter().map(wants).sum();
    if best < all {
        let mut draft = Draft::from(instance);
        draft.users.iter_mut().for_each(|user| user.tasks = Some(0));
        for user in &as_they_come {
            let tasks = &mut draft.users[user.0].tasks;
            *tasks = tasks.map(|tasks| tasks + 1);
        }
        let known = draft.build()?;
        let placement = allocate_most(&known, &instance.resources()[gpu.0], control)?;
        best = best.max(placement.units_of(&known, gpu));
    }
    Ok(best as f64 / instance.total_units(gpu) as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use fairplan::InstanceBuilder;
    use fairplan::instances::{NewUser, ServerClass};

    #[test]
    fn parts_above_one_half_fill_a_device_each() {
        let gpu = ResourceId(0);
        let mut builder = InstanceBuilder::new("", vec!["gpu".into()]).unwrap();
        let mut class = ServerClass::new("a", 2, vec![4u32.into()]);
        class.devices = vec![(gpu, 4)];
        builder.class(class).unwrap();
        let user = builder.user(NewUser::new("part", &["0.6".parse().unwrap()])).unwrap();
        let instance = builder.build().unwrap();
        let control = Control::none();
        let ceiling = ceiling(&instance, gpu, &[user; 20], &control).unwrap();
        assert!((ceiling - 0.6).abs() < 1e-9, "eight tasks of 0.6 on eight GPUs, not {ceiling}");
        assert_eq!(found(&instance, gpu, &[user; 20], &control).unwrap(), 0.6);
    }
}
