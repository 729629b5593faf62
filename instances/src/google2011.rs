//! What generated and imported Google 2011 instances have in common: the names of resources and server
//! classes, and how the tasks of a user become one user of an instance.

use crate::{Decimal, InstanceBuilder, ServerClass, Violation};

/// CPU and memory, as fractions of the trace's largest machine.
pub type CpuMemory = [Decimal; 2];

/// Requests and capacities of the trace are whole multiples of `10^UNIT` (and at most 1).
pub const UNIT: i8 = -18;

/// Mean demands are rounded to multiples of `10^MEAN_UNIT`.
const MEAN_UNIT: i8 = -9;

/// Tasks of one user that all ask for the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TaskShape {
    /// Which user of the trace, in the order of appearance.
    pub user: usize,
    /// One task's request.
    pub demand: CpuMemory,
    /// How many tasks, running and waiting together.
    pub tasks: u64,
}

/// Starts an instance with the resources `cpu` and `memory`.
pub fn cpu_memory_builder(name: &str) -> Result<InstanceBuilder, Violation> {
    InstanceBuilder::new(name, vec!["cpu".into(), "memory".into()])
}

/// Adds the classes in the order given, named after what one server holds: `cpu0.5-mem0.4995`.
pub fn add_classes(
    builder: &mut InstanceBuilder,
    classes: impl IntoIterator<Item = (u64, CpuMemory)>,
) -> Result<(), Violation> {
    for class in classes.into_iter().map(server_class) {
        builder.class(class)?;
    }
    Ok(())
}

/// So many servers of one capacity, named after it.
pub fn server_class((count, [cpu, memory]): (u64, CpuMemory)) -> ServerClass {
    ServerClass::new(shape_name([cpu, memory]), count, vec![cpu, memory])
}

/// `cpu0.5-mem0.4995`.
pub fn shape_name([cpu, memory]: CpuMemory) -> String {
    format!("cpu{cpu}-mem{memory}")
}

/// The mean request over all tasks of `shapes` and how many tasks these are (at least one). Exact, then
/// rounded to nine decimals, halves up; what is not zero stays at least 1e-9.
pub fn mean_demand(shapes: &[TaskShape]) -> Result<(CpuMemory, u64), Violation> {
    let tasks: u64 = shapes.iter().map(|shape| shape.tasks).sum();
    let mut mean = [Decimal::ZERO; 2];
    for (r, mean) in mean.iter_mut().enumerate() {
        let sum = shapes.iter().try_fold(0u128, |sum, shape| {
            let request = shape.demand[r].scaled(UNIT)?;
            sum.checked_add(request.checked_mul(u128::from(shape.tasks))?)
        });
        let divisor = u128::from(tasks) * 10u128.pow(u32::from(MEAN_UNIT.abs_diff(UNIT)));
        *mean = sum
            .map(|sum| ((sum + divisor / 2) / divisor).max(u128::from(sum > 0)))
            .and_then(|rounded| Decimal::new(u64::try_from(rounded).ok()?, i32::from(MEAN_UNIT)).ok())
            .ok_or_else(|| Violation::new("demand", shapes[0].demand[r], "too large to average exactly"))?;
    }
    Ok((mean, tasks))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shape(cpu: &str, memory: &str, tasks: u64) -> TaskShape {
        TaskShape { user: 0, demand: [cpu.parse().unwrap(), memory.parse().unwrap()], tasks }
    }

    #[test]
    fn a_mean_demand_weighs_each_request_by_its_tasks_and_rounds_halves_up() {
        let ([cpu, memory], tasks) = mean_demand(&[
            shape("0.5", "0.000000001", 1),
            shape("0.1", "0.000000002", 1),
            shape("0", "0", 0),
        ])
        .unwrap();
        assert_eq!((cpu.to_string(), memory.to_string(), tasks), ("0.3".into(), "0.000000002".into(), 2));
        let ([cpu, memory], tasks) = mean_demand(&[shape("1", "0", 1), shape("0", "0", 2)]).unwrap();
        assert_eq!((cpu.to_string(), memory.to_string(), tasks), ("0.333333333".into(), "0".into(), 3));
    }

    #[test]
    fn a_tiny_mean_never_becomes_zero() {
        let ([cpu, _], _) = mean_demand(&[shape("1e-18", "0", 1), shape("0", "0.1", 1_000_000)]).unwrap();
        assert_eq!(cpu, "1e-9".parse().unwrap());
    }
}
