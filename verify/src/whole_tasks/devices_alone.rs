//! What a server holds at most if nothing but its devices of one resource counts, in whole numbers.
//!
//! Whatever is on a device that is shared is worth no more than the parts that fill one best. So no content is worth more than the best
//! choice of tasks that take whole devices, and of devices that are shared, as many as there are in all.

use super::task::Task;
use super::units::greatest_common_divisor;

/// Steps that are filled, of a device or of devices.
const MOST_STEPS: u128 = 100_000;

/// No content of a server with so many devices of this size is worth more; `None` where that does not tell: a task takes none of them, or
/// a profile, or there are too many steps. `resource` is the one that devices are of.
pub(super) fn most(tasks: &[Task], resource: usize, size: u128, devices: u64) -> Option<u128> {
    if tasks.iter().any(|task| task.demand[resource] == 0 || task.profile.is_some()) {
        return None;
    }
    let is_part = |task: &&Task| task.demand[resource] < size;
    let parts: Vec<(u128, u128)> =
        tasks.iter().filter(is_part).map(|task| (task.demand[resource], task.value.into())).collect();
    let shared = filled(&parts, size)?;
    let whole = tasks.iter().filter(|task| !is_part(task));
    // What is no whole number of devices runs only where there are none.
    let whole = whole.map(|task| (task.demand[resource] / size, u128::from(task.value)));
    let all: Vec<(u128, u128)> = whole.chain([(1, shared)]).collect();
    filled(&all, devices.into())
}

/// The most that fits in `room` of things `(what it takes, what it is worth)`, any number of each.
fn filled(things: &[(u128, u128)], room: u128) -> Option<u128> {
    let step = things.iter().fold(room, |step, (takes, _)| greatest_common_divisor(step, *takes)).max(1);
    let steps = room / step;
    if steps > MOST_STEPS {
        return None;
    }
    let mut most = vec![0u128; steps as usize + 1];
    for at in 1..most.len() {
        let with =
            |(takes, worth): &(u128, u128)| Some(most[at.checked_sub((takes / step) as usize)?] + worth);
        most[at] = things.iter().filter_map(with).chain([most[at - 1]]).max().unwrap_or(0);
    }
    most.last().copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn task(value: u64, demand: u128) -> Task {
        Task { value, demand: vec![demand, 1], most: None, profile: None }
    }

    #[test]
    fn two_parts_share_a_device_and_the_rest_of_it_is_lost() {
        // Three of 47 would be a part of two devices in sum; each takes 94 of its own.
        assert_eq!(most(&[task(47, 47)], 0, 100, 2), Some(188));
        assert_eq!(most(&[task(47, 47), task(6, 6)], 0, 100, 2), Some(200));
        assert_eq!(most(&[task(47, 47), task(200, 200)], 0, 100, 3), Some(294));
        assert_eq!(most(&[task(47, 47), task(1, 200)], 0, 100, 0), Some(0));
    }

    #[test]
    fn what_takes_no_device_or_a_profile_is_left_to_the_search() {
        assert_eq!(most(&[task(47, 47), task(1, 0)], 0, 100, 2), None);
        let cut = Task { profile: Some((0, 0)), ..task(1, 10) };
        assert_eq!(most(&[cut], 0, 100, 2), None);
    }
}
