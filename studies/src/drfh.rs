//! Exhibits of the DRFH paper: Wang, Li, Liang, "Dominant Resource Fairness in Cloud Computing Systems with
//! Heterogeneous Servers".

use crate::solved::solved;
use fairplan::instances::generate::{GoogleOptions, drfh_fig1, google};
use fairplan::instances::{Objective, ResourceId};
use fairplan::report::reproduction::{Exhibit, Reproduced};
use fairplan::{Control, Error};

/// How close a computed optimum comes to an exact published number.
const PRECISION: f64 = 1e-9;

/// The example of Fig. 1, and Fig. 2: DRF in each server on its own lets both users run 6 tasks.
pub(crate) fn fig1(control: &Control<'_>) -> Result<Vec<Reproduced>, Error> {
    const EXHIBIT: Exhibit = Exhibit { id: "drfh-fig1", source: "DRFH paper, Fig. 1 and 2, Sec. III-D" };
    let instance = drfh_fig1()?;
    let mut numbers = Vec::new();
    for (r, resource) in instance.resources().iter().enumerate() {
        let total = instance.total(ResourceId(r));
        let passage = EXHIBIT.says("the system contains 14 CPUs and 14 GB memory in total");
        numbers.push(passage.number(format!("total {resource}"), 14.0, total, 0.0));
    }
    let solved = solved(&instance, Objective::DrfPerServer, control)?;
    let both = EXHIBIT
        .says("The resulting allocations … are illustrated in Fig. 2, where both users schedule 6 tasks");
    for user in instance.users() {
        let quantity = format!("tasks of {} under DRF in each server on its own", user.id());
        let tasks = solved.solution.allocation.tasks(user.index());
        numbers.push(both.number(quantity, 6.0, tasks, 10.0 * PRECISION));
    }
    Ok(numbers)
}

/// Fig. 3: DRFH lets both users of Fig. 1 run 10 tasks, a dominant share of 5/7 each.
pub(crate) fn fig3(control: &Control<'_>) -> Result<Vec<Reproduced>, Error> {
    const EXHIBIT: Exhibit = Exhibit { id: "drfh-fig3", source: "DRFH paper, Fig. 3, Sec. IV-A" };
    let instance = drfh_fig1()?;
    let solved = solved(&instance, Objective::Drfh, control)?;
    let value = solved.numbers.headline().value;
    let passage =
        EXHIBIT.says("allowing each user to schedule 10 tasks with the maximum global dominant share g=5/7");
    let mut numbers = vec![passage.number("smallest dominant share", 5.0 / 7.0, value, PRECISION)];
    for user in instance.users() {
        let tasks = solved.solution.allocation.tasks(user.index());
        numbers.push(passage.number(format!("tasks of {}", user.id()), 10.0, tasks, 10.0 * PRECISION));
    }
    Ok(numbers)
}

/// Half of the last digit that Table I prints.
const HALF_A_DIGIT: f64 = 0.005;

/// Table I: servers, CPU and memory of each class in one of Google's clusters.
const TABLE_1: [(u32, f64, f64); 10] = [
    (6732, 0.50, 0.50),
    (3863, 0.50, 0.25),
    (1001, 0.50, 0.75),
    (795, 1.00, 1.00),
    (126, 0.25, 0.25),
    (52, 0.50, 0.12),
    (5, 0.50, 0.03),
    (5, 0.50, 0.97),
    (3, 1.00, 0.50),
    (1, 0.50, 0.06),
];

/// Table I beside the generated cluster, whose capacities are the trace's exact ones.
pub(crate) fn table1(_: &Control<'_>) -> Result<Vec<Reproduced>, Error> {
    const EXHIBIT: Exhibit = Exhibit { id: "drfh-table1", source: "DRFH paper, Table I" };
    let instance = google(&GoogleOptions::default())?;
    let mut numbers = Vec::new();
    for (class, (count, cpu, memory)) in instance.classes().iter().zip(TABLE_1) {
        let ours = class.count as f64;
        let row = EXHIBIT.says(format!("{count} {cpu:.2} {memory:.2}"));
        numbers.push(row.number(format!("servers of {}", class.id), f64::from(count), ours, 0.0));
        for (name, published, ours) in
            [("CPU", cpu, class.capacity[0]), ("memory", memory, class.capacity[1])]
        {
            let quantity = format!("{name} of {}", class.id);
            numbers.push(row.number(quantity, published, ours.to_f64(), HALF_A_DIGIT));
        }
    }
    Ok(numbers)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_needs_no_solver_agrees_with_the_paper() {
        let control = Control::none();
        for numbers in [fig1(&control).unwrap(), table1(&control).unwrap()] {
            let different: Vec<_> = numbers.iter().filter(|number| !number.agrees).collect();
            assert!(different.is_empty() && !numbers.is_empty(), "{different:?}");
        }
    }
}
