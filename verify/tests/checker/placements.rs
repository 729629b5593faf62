//! Placements of whole tasks, right and wrong.

use crate::{cluster, decimal, decimals, only_on};
use fairplan_instances::{Instance, NewUser, ServerTasks};
use fairplan_verify::{PlacementClaim, PrintedPlacement, verify_placement};

/// Two servers; `a` may have up to three tasks and runs on the second class only.
fn instance() -> Instance {
    let mut builder = cluster(&[decimals(&["0.3", "1"]), decimals(&["0.5", "1"])]);
    let second = only_on(&mut builder, &[1]);
    let demand = decimals(&["0.1", "0"]);
    builder.user(NewUser { tasks: Some(3), rule: second, ..NewUser::new("a", &demand) }).unwrap();
    builder.user(NewUser { weight: decimal("2"), ..NewUser::new("b", &decimals(&["0.1", "0.2"])) }).unwrap();
    builder.build().unwrap()
}

pub struct Claim {
    tasks: Vec<u64>,
    servers: Vec<ServerTasks>,
    pub value: f64,
    pub level: Option<f64>,
    unplaced: u64,
    pub shares: Vec<f64>,
    pub utilization: Vec<f64>,
}

/// Three tasks of `a`; three and two of `b`: cpu is full to the last tenth.
pub fn full() -> Claim {
    Claim {
        tasks: vec![3, 5],
        servers: vec![vec![(1, 3)], vec![(0, 3), (1, 2)]],
        value: 5.0 / 8.0 / 2.0,
        level: Some(5.0 / 8.0 / 2.0),
        unplaced: 0,
        shares: vec![3.0 / 8.0, 5.0 / 8.0],
        utilization: vec![1.0, 0.5],
    }
}

pub fn failures(claim: &Claim) -> Vec<&'static str> {
    let printed = PrintedPlacement {
        value: claim.value,
        level: claim.level,
        unplaced: Some(claim.unplaced),
        groups: &[],
        guarantees: None,
        whole_guarantees: None,
        dominant_shares: &claim.shares,
        utilization: &claim.utilization,
    };
    let claim = PlacementClaim { tasks: &claim.tasks, servers: &claim.servers, printed: Some(printed) };
    let verdicts = verify_placement(&instance(), &claim);
    verdicts.into_iter().filter(|verdict| !verdict.holds).map(|verdict| verdict.property).collect()
}

#[test]
fn three_tasks_of_a_tenth_fit_a_server_of_three_tenths() {
    assert_eq!(failures(&full()), [""; 0]);
}

/// Its name, what it does to a true claim, and the properties that then fail.
type Case = (&'static str, fn(&mut Claim), &'static [&'static str]);

#[test]
fn every_kind_of_false_placement_is_refused_by_its_property() {
    let cases: [Case; 17] = [
        ("a level that nobody has", |c| c.level = Some(0.4), &["value"]),
        ("tasks that wait though all run", |c| c.unplaced = 1, &["value"]),
        (
            "one task too many",
            |c| c.servers[0][0].1 = 4,
            &["capacity", "tasks", "shares", "value", "utilization"],
        ),
        ("no tasks of a user that is named", |c| c.servers[0].push((1, 0)), &["well-formed"]),
        ("users out of order", |c| c.servers[1] = vec![(1, 1), (0, 1)], &["well-formed"]),
        ("tasks where they cannot run", |c| c.servers.swap(0, 1), &["eligibility", "capacity"]),
        (
            "more tasks than there are",
            |c| {
                c.tasks[0] = 4;
                c.servers[1] = vec![(0, 4), (1, 1)];
            },
            &["task-limits", "tasks", "shares", "value", "utilization"],
        ),
        (
            "overflowing tasks",
            |c| c.servers[1][0].1 = u64::MAX,
            &["capacity", "task-limits", "tasks", "shares", "utilization"],
        ),
        ("a user twice on a server", |c| c.servers[1] = vec![(0, u64::MAX), (0, 4)], &["well-formed"]),
        ("another total", |c| c.tasks[1] = 6, &["tasks"]),
        ("unknown user", |c| c.servers[0][0].0 = 2, &["well-formed"]),
        ("missing server", |c| c.servers.truncate(1), &["well-formed"]),
        ("missing user", |c| c.tasks.truncate(1), &["well-formed"]),
        ("inflated value", |c| c.value *= 1.001, &["value"]),
        ("not a number", |c| c.value = f64::NAN, &["value"]),
        ("swapped shares", |c| c.shares.swap(0, 1), &["shares"]),
        ("infinite utilization", |c| c.utilization[1] = f64::INFINITY, &["utilization"]),
    ];
    for (name, falsify, expected) in cases {
        let mut claim = full();
        falsify(&mut claim);
        assert_eq!(failures(&claim), expected, "{name}");
    }
}
