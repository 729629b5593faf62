//! Placing very many unlike tasks: servers are filled for a level a little below the bound, and the level falls until nothing is missing.

use super::bound::Bound;
use super::breakpoints::Breakpoints;
use super::displace::displace;
use super::packing::Packing;
use super::parts;
use super::rebuild::Values;
use super::repair::Repair;
use super::servers::Servers;
use super::worth::SCALE;
use fairplan_instances::{Breakpoint, Deadline, InstanceError};

/// Programs of more shapes let those that are alike share this many rows.
pub(super) const MANY_SHAPES: usize = 3_000;
pub(super) const ROWS: usize = 300;

/// The part of what servers are worth that is not aimed at, at first; by how much it grows at least, where as little as that is missing at
/// first and where more is, and by which part of what is missing.
const FIRST: f64 = 3e-3;
const STEPS: [f64; 2] = [1e-4, 5e-4];
const OF_MISSING: f64 = 0.3;

/// After this part of the time that is left it grows by so much, and only moves find room: a level of which anything is missing is none.
const LATE: f64 = 0.7;
const HURRY: f64 = 5e-3;

/// What is not aimed at, at most: other ways of placing do as well there.
const LAST: f64 = 0.25;

/// The servers filled so that as little as possible is missing of the highest level that is found.
pub(super) fn filled(
    packing: &Packing,
    breakpoints: &Breakpoints,
    bound: &Bound,
    stop: &Deadline,
) -> Result<Servers, InstanceError> {
    let values = Values { patterns: &[], tasks: &bound.task_values, servers: &bound.server_values };
    let whole: Vec<u64> = values.tasks.iter().map(|value| (value * SCALE) as u64).collect();
    let held = values.of_servers(packing);
    let target = |aside: f64| -> Breakpoint {
        breakpoints.largest(bound.upper, &whole, (held * (1.0 - aside) * SCALE) as u128)
    };
    let need = |at: Breakpoint| packing.need(&breakpoints.required(at, false));
    let mut aside = FIRST;
    let mut needed = need(target(aside));
    let mut missing = needed.clone();
    let servers = parts::filled(packing, &mut missing, &values, parts::SHAPES, stop)?;
    let mut repair = Repair::new(packing, servers, missing);
    let late = stop.after_part(LATE);
    let mut step = None;
    loop {
        displace(packing, &mut repair, values.tasks, &late);
        // What is missing now is mostly small, and moves find room for it.
        repair.place_missing(stop);
        let left = values.worth(&repair.missing) / held;
        if left <= 0.0 || aside >= LAST || stop.is_over() {
            return Ok(repair.servers);
        }
        let step = *step.get_or_insert(STEPS[usize::from(left > STEPS[1])]);
        aside += if late.is_over() { HURRY } else { step.max(OF_MISSING * left) };
        let fewer = need(target(aside));
        let dropped = needed.iter().zip(&fewer).map(|(before, now)| before - now).collect();
        take_off(packing, &mut repair, dropped);
        needed = fewer;
    }
}

/// Tasks that are needed no more are missing no more, or leave their servers.
fn take_off(packing: &Packing, repair: &mut Repair<'_>, mut dropped: Vec<u64>) {
    for (dropped, missing) in dropped.iter_mut().zip(&mut repair.missing) {
        let settled = (*dropped).min(*missing);
        *dropped -= settled;
        *missing -= settled;
    }
    repair.servers.take_off(packing, dropped);
}
