//! The cluster as of a moment: ADD and UPDATE state a machine's capacity, REMOVE takes it away.

use super::options::{Google2011Options, Google2011Report};
use super::rows::{Row, for_each_row};
use fairplan_instances::InstanceError;
use fairplan_instances::google2011::{CpuMemory, UNIT};
use hashbrown::HashMap;
use std::cmp::Reverse;

pub(super) const COLUMNS: [&str; 6] = ["time", "machine ID", "event type", "platform ID", "CPUs", "memory"];
pub(super) const MACHINE: usize = 1;
const EVENT: usize = 2;
const PLATFORM: usize = 3;
const CPUS: usize = 4;

/// Event types.
const ADD: u64 = 0;
const REMOVE: u64 = 1;
const UPDATE: u64 = 2;

#[derive(Default)]
pub(super) struct Machine {
    pub is_there: bool,
    /// As the latest row says.
    pub capacity: Option<CpuMemory>,
    /// As the latest row says that states one.
    last_known: Option<CpuMemory>,
}

/// Machines of equal capacity.
pub(super) struct Alike {
    pub capacity: CpuMemory,
    /// Their ids, rising.
    pub machines: Vec<u64>,
}

/// Server classes by descending count, then by ascending cpu and memory.
pub(super) fn read(
    options: &Google2011Options,
    report: &mut Google2011Report,
) -> Result<Vec<Alike>, InstanceError> {
    let mut machines: HashMap<u64, Machine> = HashMap::new();
    let until = if options.last_shapes { u64::MAX } else { options.at };
    report.machine_rows =
        for_each_row(&options.machine_events, &COLUMNS, until, |row| apply(row, &mut machines).map(|_| ()))?;

    let mut alike: HashMap<CpuMemory, Vec<u64>> = HashMap::new();
    for (id, machine) in machines.iter().filter(|(_, machine)| options.last_shapes || machine.is_there) {
        match if options.last_shapes { machine.last_known } else { machine.capacity } {
            Some(capacity) => {
                report.machines += 1;
                alike.entry(capacity).or_default().push(*id);
            }
            None => report.machines_without_capacity += 1,
        }
    }
    let class = |(capacity, mut machines): (CpuMemory, Vec<u64>)| {
        machines.sort_unstable();
        Alike { capacity, machines }
    };
    let mut classes: Vec<Alike> = alike.into_iter().map(class).collect();
    let order = |class: &Alike| (Reverse(class.machines.len()), class.capacity.map(|r| r.scaled(UNIT)));
    classes.sort_unstable_by_key(order);
    Ok(classes)
}

/// Does to its machine what the row says, and returns it.
pub(super) fn apply<'a>(
    row: &Row<'_, 6>,
    machines: &'a mut HashMap<u64, Machine>,
) -> Result<&'a Machine, InstanceError> {
    let event = row.whole(EVENT, UPDATE)?;
    row.optional_hash(PLATFORM)?;
    let machine = machines.entry(row.id(MACHINE)?).or_default();
    match (event, machine.is_there) {
        (ADD, true) => return Err(row.refused(MACHINE, "is added but is already there")),
        (REMOVE, false) => return Err(row.refused(MACHINE, "is removed but is not there")),
        (UPDATE, false) => return Err(row.refused(MACHINE, "is updated but is not there")),
        _ => machine.is_there = event != REMOVE,
    }
    machine.capacity = row.optional_cpu_memory(CPUS)?;
    machine.last_known = machine.capacity.or(machine.last_known);
    Ok(machine)
}
