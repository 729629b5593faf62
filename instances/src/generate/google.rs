//! Google's cluster of 2011: the published server classes, whole or drawn from, and the users of the real
//! snapshot at trace time 0.
//!
//! Source: Google cluster-usage traces v2.1 (C. Reiss, J. Wilkes, J. L. Hellerstein), licensed CC-BY; see
//! `instances/data/README.md`. DRFH Table I prints the same servers with rounded capacities.

use super::drawn::{SERVER_STREAM, USER_STREAM, decimals, drawable, name_user};
use crate::google2011::{CpuMemory, TaskShape, add_classes, cpu_memory_builder, mean_demand};
use crate::random::{Random, Weighted};
use crate::{Decimal, Instance, NewUser, Violation};
use std::fmt::Write;

/// Servers of each class: count, exact capacity (each machine's last known one in the trace), and the capacity
/// as DRFH Table I prints it.
const CLASSES: [(u64, [&str; 2], [&str; 2]); 10] = [
    (6732, ["0.5", "0.4995"], ["0.50", "0.50"]),
    (3863, ["0.5", "0.2493"], ["0.50", "0.25"]),
    (1001, ["0.5", "0.749"], ["0.50", "0.75"]),
    (795, ["1", "1"], ["1.00", "1.00"]),
    (126, ["0.25", "0.2498"], ["0.25", "0.25"]),
    (52, ["0.5", "0.1241"], ["0.50", "0.12"]),
    (5, ["0.5", "0.03085"], ["0.50", "0.03"]),
    (5, ["0.5", "0.9678"], ["0.50", "0.97"]),
    (3, ["1", "0.5"], ["1.00", "0.50"]),
    (1, ["0.5", "0.06158"], ["0.50", "0.06"]),
];

/// Tasks at trace time 0, counted by user and request: `user,cpu,memory,running,waiting`.
const TASKS: &str = include_str!("../../data/google2011_tasks_t0.csv");

/// What [`google`] makes. The default is the whole cluster with the 507 users of the snapshot.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GoogleOptions {
    /// Draw this many servers, each independently and in proportion to the published counts; `None`: all
    /// 12,583 as published.
    pub servers: Option<u64>,
    /// Draw this many users, each independently: a task of the snapshot at random, whose request becomes the
    /// user's demand; `None`: the 507 real users, each with the mean request over its tasks.
    pub users: Option<u64>,
    /// Capacities as DRFH Table I prints them, with two decimals, instead of the trace's exact ones.
    pub rounded: bool,
    /// Give each user a number of tasks: a real user its running and waiting tasks, a drawn one as many as
    /// its real user had of that request. Otherwise tasks are unlimited.
    pub finite: bool,
    /// Seed of everything drawn.
    pub seed: u64,
}

/// The Google cluster of 2011 as an instance.
///
/// Capacities and demands are fractions of the largest machine. Classes come by descending count and are named
/// after their capacity (`cpu0.5-mem0.4995`); a class of which no server was drawn is left out. Real users are
/// `user-0` to `user-506` in the order in which they appear in the trace, drawn ones `u000001`, `u000002`, ….
/// A mean request is exact, then rounded to nine decimals, halves up, and at least 1e-9 unless it is zero.
/// Tasks that ask for neither CPU nor memory (two of 144,339) do not count.
///
/// # Errors
/// Fewer than one or more than 100 million servers or users to draw.
pub fn google(options: &GoogleOptions) -> Result<Instance, Violation> {
    let mut name = match options.servers {
        None => "Google 2011 cluster".to_string(),
        Some(servers) => format!("Google 2011 cluster, {servers} servers drawn with seed {}", options.seed),
    };
    match options.users {
        None => name.push_str(", real users at time 0"),
        Some(users) => write!(name, ", {users} users drawn with seed {}", options.seed).unwrap_or_default(),
    }
    if options.rounded {
        name.push_str(", rounded capacities");
    }
    let mut builder = cpu_memory_builder(&name)?;
    let classes = match options.servers {
        None => published_classes(options.rounded)?,
        Some(servers) => drawn_classes(servers, options.rounded, options.seed)?,
    };
    add_classes(&mut builder, classes)?;

    let shapes = snapshot_shapes()?;
    let mut id = String::new();
    let mut add = |id: &str, demand: CpuMemory, tasks: u64| {
        builder.user(NewUser { tasks: options.finite.then_some(tasks), ..NewUser::new(id, &demand) })
    };
    match options.users {
        None => {
            for shapes in shapes.chunk_by(|a, b| a.user == b.user) {
                let (demand, tasks) = mean_demand(shapes)?;
                add(&format!("user-{}", shapes[0].user), demand, tasks)?;
            }
        }
        Some(users) => {
            let weighted = Weighted::new(shapes.iter().map(|shape| shape.tasks));
            let mut random = Random::new(options.seed, USER_STREAM);
            for number in 1..=drawable("users", users)? {
                let shape = &shapes[weighted.draw(&mut random)];
                name_user(&mut id, number);
                add(&id, shape.demand, shape.tasks)?;
            }
        }
    }
    builder.build()
}

/// The published classes with the counts of so many servers drawn from them, those of no server left out.
pub fn drawn_classes(servers: u64, rounded: bool, seed: u64) -> Result<Vec<(u64, CpuMemory)>, Violation> {
    let mut classes = published_classes(rounded)?;
    let weighted = Weighted::new(classes.iter().map(|class| class.0));
    let mut random = Random::new(seed, SERVER_STREAM);
    classes.iter_mut().for_each(|class| class.0 = 0);
    for _ in 0..drawable("servers", servers)? {
        classes[weighted.draw(&mut random)].0 += 1;
    }
    classes.retain(|class| class.0 > 0);
    Ok(classes)
}

/// The ten published classes: count and capacity, by descending count.
pub(super) fn published_classes(rounded: bool) -> Result<Vec<(u64, CpuMemory)>, Violation> {
    CLASSES
        .iter()
        .map(|(count, exact, printed)| Ok((*count, decimals(if rounded { *printed } else { *exact })?)))
        .collect()
}

/// The shipped table, by user.
fn snapshot_shapes() -> Result<Vec<TaskShape>, Violation> {
    TASKS
        .lines()
        .enumerate()
        .skip(1)
        .map(|(line, text)| {
            parse_shape(text).ok_or_else(|| {
                Violation::new(format!("shipped task table, line {}", line + 1), text, "is damaged")
            })
        })
        .collect()
}

fn parse_shape(line: &str) -> Option<TaskShape> {
    let mut cells = line.split(',');
    let user = cells.next()?.parse().ok()?;
    let demand: CpuMemory = [cells.next()?.parse().ok()?, cells.next()?.parse().ok()?];
    let (running, waiting): (u64, u64) = (cells.next()?.parse().ok()?, cells.next()?.parse().ok()?);
    (cells.next().is_none() && demand != [Decimal::ZERO; 2]).then_some(TaskShape {
        user,
        demand,
        tasks: running + waiting,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ResourceId, UserId};

    fn generate(options: GoogleOptions) -> Instance {
        google(&options).unwrap()
    }

    fn counts(instance: &Instance) -> Vec<u64> {
        instance.classes().iter().map(|class| class.count).collect()
    }

    #[test]
    fn the_whole_cluster_has_the_published_servers_and_totals() {
        let instance = generate(GoogleOptions::default());
        assert_eq!(counts(&instance), [6732, 3863, 1001, 795, 126, 52, 5, 5, 3, 1]);
        assert_eq!(instance.server_count(), 12_583);
        assert_eq!(instance.total(ResourceId(0)), 6659.0);
        assert_eq!(instance.total(ResourceId(1)), 5914.91173);
        assert_eq!(instance.classes()[6].id, "cpu0.5-mem0.03085");
    }

    #[test]
    fn rounded_capacities_are_those_of_table_1() {
        let instance = generate(GoogleOptions { rounded: true, ..Default::default() });
        let memory: Vec<String> =
            instance.classes().iter().map(|class| class.capacity[1].to_string()).collect();
        assert_eq!(memory, ["0.5", "0.25", "0.75", "1", "0.25", "0.12", "0.03", "0.97", "0.5", "0.06"]);
    }

    #[test]
    fn the_real_users_are_507_with_their_tasks_at_time_0() {
        let instance = generate(GoogleOptions { finite: true, ..Default::default() });
        assert_eq!(instance.user_count(), 507);
        let tasks: u64 = instance.users().map(|user| user.tasks().unwrap()).sum();
        assert_eq!(tasks, 132_982 + 11_357 - 2);
        assert!(generate(GoogleOptions::default()).users().all(|user| user.tasks().is_none()));
        // 103% of the CPU and 84% of the memory run; waiting tasks come on top.
        let requested = |r: usize| -> f64 {
            instance.users().map(|user| user.demand_doubles()[r] * user.tasks().unwrap() as f64).sum::<f64>()
                / instance.total(ResourceId(r))
        };
        assert!((1.03..1.30).contains(&requested(0)), "{}", requested(0));
        assert!((0.84..1.10).contains(&requested(1)), "{}", requested(1));
    }

    #[test]
    fn servers_and_users_are_drawn_in_proportion() {
        let instance =
            generate(GoogleOptions { servers: Some(100_000), users: Some(20_000), ..Default::default() });
        assert_eq!((instance.server_count(), instance.user_count()), (100_000, 20_000));
        let share = instance.classes()[0].count as f64 / 100_000.0;
        assert!((share - 6732.0 / 12_583.0).abs() < 0.01, "{share}");
        // The commonest request of the snapshot, 0.0125 cpu and 0.0159 memory.
        let common = instance.users().filter(|user| user.demand_doubles() == [0.0125, 0.0159]).count();
        let table: u64 = snapshot_shapes()
            .unwrap()
            .iter()
            .filter(|shape| shape.demand.map(Decimal::to_f64) == [0.0125, 0.0159])
            .map(|shape| shape.tasks)
            .sum();
        let expected = table as f64 / 144_337.0;
        assert!((common as f64 / 20_000.0 - expected).abs() < 0.015, "{common} against {expected}");
    }

    #[test]
    fn what_a_seed_draws_never_changes() {
        let options = GoogleOptions {
            servers: Some(1000),
            users: Some(3),
            finite: true,
            seed: 42,
            ..Default::default()
        };
        let instance = generate(options);
        assert_eq!(counts(&instance), [543, 320, 67, 55, 10, 4, 1]);
        let users: Vec<_> = instance
            .users()
            .map(|user| format!("{} {:?} {:?}", user.id(), user.demand(), user.tasks()))
            .collect();
        assert_eq!(
            users,
            [
                "u000001 [0.1938, 0.09546] Some(508)",
                "u000002 [0.0625, 0.09619] Some(1)",
                "u000003 [0.0125, 0.006104] Some(240)"
            ]
        );
        let more = generate(GoogleOptions { users: Some(5), servers: Some(10), ..options });
        assert_eq!(
            more.user(UserId(2)).demand(),
            instance.user(UserId(2)).demand(),
            "streams are independent"
        );
        let other = generate(GoogleOptions { seed: 43, ..options });
        assert_ne!(counts(&other), counts(&instance));
    }

    #[test]
    fn nothing_or_too_much_to_draw_is_refused() {
        let refused = |options: GoogleOptions| google(&options).unwrap_err().to_string();
        assert_eq!(
            refused(GoogleOptions { servers: Some(0), ..Default::default() }),
            "servers = 0: draw at least 1 and at most 100000000"
        );
        assert!(
            refused(GoogleOptions { users: Some(u64::MAX), ..Default::default() })
                .starts_with("users = 18446744073709551615")
        );
    }
}
