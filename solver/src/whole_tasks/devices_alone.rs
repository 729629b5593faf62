//! What a server holds at most if nothing but its devices of one resource counts: exact, and found in a moment.
//!
//! Rows of devices ([`inside`](super::inside)) count parts; this fills a device. At given values of shapes one device holds at most the best filling
//! with parts, and a server the best of tasks that take several devices whole and of devices filled with parts. Where tasks of odd parts
//! fill the devices, as Alibaba's of 0.47 and 0.81 do, that bounds a server far better than what all tasks take in sum.

use super::inside::{Devices, Want};
use super::master::{Master, Mix, Want as Wanted};
use super::packing::{Class, Packing, Shape};
use super::patterns::Pattern;
use super::worth::{SCALE, scaled};
use crate::merged_classes::greatest_common_divisor;
use crate::tolerance::whole_tasks::{CLOSE, SIZES};
use fairplan_instances::{Deadline, InstanceError};

/// Steps of a device, and devices of a server, up to which it is filled.
const MOST_STEPS: u64 = 1_000;
const MOST_DEVICES: u64 = 1_000;

/// Rounds after which the values are left as they are.
const ROUNDS: usize = 500;

/// What no content of a server of this class is worth more than; infinite where devices do not tell: a shape of some worth takes none of
/// them, or a profile.
pub(super) fn bound(packing: &Packing, class: usize, values: &[f64]) -> f64 {
    let on = &packing.classes[class];
    let bounds = on.devices.iter().filter_map(|devices| best(packing, class, devices, values));
    bounds.map(|(worth, _)| (worth * SIZES).ceil()).fold(f64::INFINITY, f64::min)
}

/// What tasks are worth in the program that has what is wanted most where nothing but the devices of one resource counts: servers hold any
/// contents that fit these. As good as it is when time is over. Nothing where devices do not tell.
pub(super) fn values(
    packing: &Packing,
    resource: usize,
    wants: &[Wanted],
    stop: &Deadline,
) -> Result<Option<Mix>, InstanceError> {
    let devices = |class: &Class| class.devices.iter().position(|of| of.make.resource == resource);
    let of_classes: Vec<Option<usize>> = packing.classes.iter().map(devices).collect();
    let servers = packing.servers();
    let mut master = Master::new(packing, wants, &servers, &vec![0.0; servers.len()]);
    for want in wants {
        for (shape, _) in &want.tasks {
            let holding = (0..servers.len()).filter(|l| packing.shapes[*shape as usize].copies[*l] > 0);
            holding.for_each(|l| master.add(packing, Pattern::of_one_shape(packing, l, *shape as usize)));
        }
    }
    let mut last = None;
    for _ in 0..ROUNDS {
        let Some(mix) = master.solve(stop)? else { break };
        let values = scaled(&mix.values);
        // By how much servers could hold more than they do: no more is missing.
        let mut missing = 0.0;
        for (l, class) in packing.classes.iter().enumerate() {
            let on = of_classes[l].map(|position| &class.devices[position]);
            let Some((worth, content)) = on.map_or_else(
                || takes_nothing(packing, l, &values).then(|| (0.0, Vec::new())),
                |devices| best(packing, l, devices, &values),
            ) else {
                return Ok(None);
            };
            let more = worth - mix.server_values[l] * SCALE;
            if more > 0.0 {
                missing += class.servers as f64 * more;
                master.add(packing, Pattern::new(l, content.into_iter()));
            }
        }
        last = Some(mix);
        if missing <= CLOSE * SCALE || stop.is_over() {
            break;
        }
    }
    Ok(last)
}

/// Whether servers of a class hold nothing of worth.
fn takes_nothing(packing: &Packing, class: usize, values: &[f64]) -> bool {
    worthy(packing, class, values).next().is_none()
}

/// The shapes of some worth that a server of a class may hold.
fn worthy<'a>(
    packing: &'a Packing,
    class: usize,
    values: &'a [f64],
) -> impl Iterator<Item = (u32, &'a Shape, f64)> {
    let shapes = packing.shapes.iter().zip(values).enumerate();
    shapes
        .filter(move |(_, (shape, value))| shape.copies[class] > 0 && **value > 0.0)
        .map(|(s, (shape, value))| (s as u32, shape, *value))
}

/// The most that the devices of a server are worth, and what they hold then: tasks of each shape, those of worth only.
fn best(
    packing: &Packing,
    class: usize,
    devices: &Devices,
    values: &[f64],
) -> Option<(f64, Vec<(u32, u64)>)> {
    let size = devices.make.size;
    // Of each part, and of each number of whole devices, the shape that is worth most.
    let (mut parts, mut whole): (Vec<Item>, Vec<Item>) = Default::default();
    for (shape, of, value) in worthy(packing, class, values) {
        let (items, takes) = match devices.make.want(of.piece()) {
            Want::Part(part) => (&mut parts, part),
            Want::Whole(devices) => (&mut whole, devices),
            Want::Nothing | Want::Profile(..) => return None,
        };
        match items.iter_mut().find(|item| item.takes == takes) {
            Some(item) if item.value >= value => {}
            Some(item) => (item.shape, item.value) = (shape, value),
            None => items.push(Item { shape, takes, value }),
        }
    }
    let step =
        parts.iter().fold(u128::from(size), |step, part| greatest_common_divisor(step, part.takes.into()));
    let step = u64::try_from(step).unwrap_or(1).max(1);
    if size / step > MOST_STEPS || devices.count > MOST_DEVICES {
        return None;
    }
    parts.iter_mut().for_each(|part| part.takes /= step);
    let (of_device, filling) = filled(&parts, size / step);
    // A device that holds parts is one more thing that takes one.
    let shared = Item { shape: u32::MAX, takes: 1, value: of_device };
    whole.push(shared);
    let (worth, taken) = filled(&whole, devices.count);
    let mut content: Vec<(u32, u64)> = Vec::new();
    let mut add = |shape: u32, count: u64| match content.iter_mut().find(|(known, _)| *known == shape) {
        Some((_, tasks)) => *tasks += count,
        None => content.push((shape, count)),
    };
    for position in taken {
        match whole[position].shape {
            u32::MAX => filling.iter().for_each(|part| add(parts[*part].shape, 1)),
            shape => add(shape, 1),
        }
    }
    Some((worth, content))
}

/// What takes so much room, and is worth so much.
struct Item {
    shape: u32,
    takes: u64,
    value: f64,
}

/// The most that fits in `room`, any number of each item, and the positions of the items of which it consists.
fn filled(items: &[Item], room: u64) -> (f64, Vec<usize>) {
    let room = room as usize;
    let mut most = vec![0.0; room + 1];
    let mut last: Vec<Option<usize>> = vec![None; room + 1];
    for at in 1..=room {
        most[at] = most[at - 1];
        for (position, item) in items.iter().enumerate() {
            let Some(before) = at.checked_sub(item.takes as usize) else { continue };
            if most[before] + item.value > most[at] {
                (most[at], last[at]) = (most[before] + item.value, Some(position));
            }
        }
    }
    let (mut taken, mut at) = (Vec::new(), room);
    while at > 0 {
        match last[at] {
            Some(position) => {
                taken.push(position);
                at -= items[position].takes as usize;
            }
            None => at -= 1,
        }
    }
    (most[room], taken)
}

#[cfg(test)]
mod tests {
    use super::*;
    use fairplan_instances::{Instance, InstanceBuilder, NewUser, Random, ResourceId, ServerClass};

    /// Servers of 1 to 3 GPUs, and tasks that take parts of one or whole ones.
    fn drawn(random: &mut Random) -> Instance {
        let mut builder = InstanceBuilder::new("", vec!["gpu".into()]).unwrap();
        let count = random.between(1, 3);
        let mut class = ServerClass::new("a", 1, vec![(count as u32).into()]);
        class.devices = vec![(ResourceId(0), count)];
        builder.class(class).unwrap();
        for user in 0..random.between(1, 4) {
            let demand = match random.below(4) {
                0 => random.between(1, count).to_string(),
                _ => format!("0.{}", random.between(1, 9)),
            };
            builder.user(NewUser::new(&format!("u{user}"), &[demand.parse().unwrap()])).unwrap();
        }
        builder.build().unwrap()
    }

    /// The most that contents which fit are worth, by trying all.
    fn by_trying(packing: &Packing, values: &[f64], from: usize, content: &mut Vec<(usize, u64)>) -> f64 {
        let mut most = 0.0;
        for s in from..values.len() {
            content.push((s, 0));
            let last = content.len() - 1;
            loop {
                content[last].1 += 1;
                if packing.keeps_rules(0, content.iter().copied()) != Some(true) {
                    break;
                }
                let worth = values[s] * content[last].1 as f64;
                most = f64::max(most, worth + by_trying(packing, values, s + 1, content));
            }
            content.pop();
        }
        most
    }

    #[test]
    fn devices_hold_as_much_as_is_found_by_trying_all_contents() {
        let mut random = Random::new(24, 0);
        for _ in 0..300 {
            let packing = Packing::new(&drawn(&mut random)).unwrap();
            let values: Vec<f64> = packing.shapes.iter().map(|_| random.below(20) as f64).collect();
            let devices = &packing.classes[0].devices[0];
            let (worth, content) = best(&packing, 0, devices, &values).unwrap();
            assert_eq!(worth, by_trying(&packing, &values, 0, &mut Vec::new()), "{values:?}");
            assert_eq!(worth, Pattern::new(0, content.iter().copied()).worth(&values));
            let content = content.iter().map(|(shape, count)| (*shape as usize, *count));
            assert_eq!(packing.keeps_rules(0, content), Some(true));
        }
    }
}
