//! Runs that begin with tasks on servers: against the same run whose policy places them first.

use super::{RULES, run, run_from};
use fairplan_instances::trace::{NewTasks, Trace, TraceHeader};
use fairplan_instances::{Decimal, ServerClass};
use fairplan_simulation::{ClusterSettings, Present, PresentServer, PresentTasks, ServiceOrder, TaskEvent};
use fairplan_tests::Dice;
use std::collections::BTreeMap;

fn decimals(numbers: [u64; 2]) -> Vec<Decimal> {
    numbers.map(|number| number.to_string().parse().unwrap()).to_vec()
}

/// Some servers, tasks that come at time 0, others that come later, and how long the first go on.
struct Case {
    header: TraceHeader,
    /// User, demand and number of the tasks that come first.
    first: Vec<(String, [u64; 2], u32)>,
    later: Vec<(u64, String, [u64; 2], u32, u64)>,
    remaining: u64,
}

impl Case {
    fn new(number: u64) -> Self {
        let mut dice = Dice::new(number);
        let mut header = TraceHeader::new("", &["cpu", "memory"]);
        for class in 0..1 + dice.below(2) {
            let capacity = decimals([3 + dice.below(8), 3 + dice.below(8)]);
            header.server_classes.push(ServerClass::new(format!("c{class}"), 1 + dice.below(4), capacity));
        }
        let demand = |dice: &mut Dice| [1 + dice.below(3), dice.below(3)];
        let first = (0..1 + dice.below(3))
            .map(|user| (format!("u{user}"), demand(&mut dice), 1 + dice.below(3) as u32))
            .collect();
        let mut later: Vec<(u64, String, [u64; 2], u32, u64)> = (0..12)
            .map(|_| {
                let user = format!("u{}", dice.below(4));
                (1 + dice.below(30), user, demand(&mut dice), 1 + dice.below(4) as u32, 1 + dice.below(15))
            })
            .collect();
        // Both runs begin at time 0, with a task that no server holds.
        later.push((0, "huge".into(), [1_000, 0], 1, 1));
        later.sort();
        Self { header, first, later, remaining: 1 + dice.below(20) }
    }

    fn trace(&self, with_first: bool) -> Trace {
        let mut trace = Trace::new(self.header.clone()).unwrap();
        let mut submit = |time, user: &str, job: &str, demand: [u64; 2], count, duration| {
            let demand = decimals(demand);
            trace.submitted(
                time,
                NewTasks { user, job, demand: &demand, count, duration, rules: None, more: false },
            )
        };
        for (user, demand, count) in self.first.iter().filter(|_| with_first) {
            submit(0, user, &format!("placement/{user}"), *demand, *count, self.remaining).unwrap();
        }
        for (position, (time, user, demand, count, duration)) in self.later.iter().enumerate() {
            submit(*time, user, &format!("j{position}"), *demand, *count, *duration).unwrap();
        }
        trace
    }

    /// Where events say that the first tasks have begun; none if some of them waited.
    fn placed(&self, trace: &Trace, events: &[(u64, TaskEvent)], remaining: Option<u64>) -> Option<Present> {
        let mut on: BTreeMap<(u32, u32), u64> = BTreeMap::new();
        for (time, event) in events {
            if let (0, TaskEvent::Started { user, server, .. }) = (time, event) {
                *on.entry((*user, *server)).or_default() += 1;
            }
        }
        if on.values().sum::<u64>() < self.first.iter().map(|(.., count)| u64::from(*count)).sum() {
            return None;
        }
        let servers = |number: usize| -> Vec<PresentServer> {
            let here = on.iter().filter(|((user, _), _)| *user as usize == number);
            here.map(|((_, server), tasks)| {
                let name = trace.register().servers().get(*server as usize).to_owned();
                PresentServer { names: vec!["another name".into(), name], tasks: *tasks }
            })
            .collect()
        };
        let users = self.first.iter().enumerate().map(|(number, (user, demand, _))| PresentTasks {
            user: user.clone(),
            weight: Decimal::ONE,
            demand: decimals(*demand),
            servers: servers(number),
        });
        Some(Present { users: users.collect(), remaining })
    }
}

/// What happens after time 0, in no order within an instant.
fn later(events: Vec<(u64, TaskEvent)>) -> Vec<(u64, String)> {
    let mut later: Vec<(u64, String)> = (events.into_iter().filter(|(time, _)| *time > 0))
        .map(|(time, event)| (time, format!("{event:?}")))
        .collect();
    later.sort();
    later
}

#[test]
fn a_run_from_a_placement_goes_on_as_if_its_policy_had_placed_it() {
    let mut tried = 0;
    for number in 0..300 {
        let case = Case::new(number);
        let (name, _) = RULES[number as usize % 4];
        let settings =
            ClusterSettings { horizon: number.is_multiple_of(3).then_some(25), ..Default::default() };
        let whole = case.trace(true);
        let (placing, events) = run(&whole, name, ServiceOrder::LowestShare, settings).unwrap();
        let Some(present) = case.placed(&whole, &events, Some(case.remaining)) else { continue };
        tried += 1;
        let rest = case.trace(false);
        let order = ServiceOrder::LowestShare;
        let (outcome, since) = run_from([&rest, &whole], name, order, settings, Some(&present)).unwrap();
        let context = format!("case {number}, {name}");
        assert_eq!(later(since), later(events), "{context}");
        assert_eq!((outcome.tasks, outcome.end), (placing.tasks, placing.end), "{context}");
        // Of those who come behind the horizon the first may have been read.
        let [ours, theirs] = [outcome.users, placing.users]
            .map(|users| users.into_iter().filter(|user| user.submitted > 0).collect::<Vec<_>>());
        assert_eq!((ours, outcome.utilization), (theirs, placing.utilization), "{context}");
    }
    assert!(tried > 100, "only {tried}");
}

#[test]
fn tasks_that_stay_run_to_the_end_and_do_not_prolong_it() {
    let case = Case::new(4);
    let whole = case.trace(true);
    let run_with = |horizon, present: Option<&Present>| {
        let settings = ClusterSettings { horizon, ..Default::default() };
        let trace = case.trace(present.is_none());
        run_from([&trace, &whole], "first-fit", ServiceOrder::LowestShare, settings, present).unwrap()
    };
    let present = case.placed(&whole, &run_with(None, None).1, None).unwrap();
    let first: u64 = case.first.iter().map(|(.., count)| u64::from(*count)).sum();
    let (outcome, events) = run_with(None, Some(&present));
    assert_eq!(outcome.tasks.running, first);
    let last = events.iter().map(|(time, _)| *time).max().unwrap();
    assert!(outcome.end <= last.max(30), "{} after {last}", outcome.end);
    assert_eq!(run_with(Some(1_000), Some(&present)).0.end, 1_000);
}

#[test]
fn tasks_without_room_and_servers_that_are_not_there_are_refused_by_name() {
    let case = Case { first: vec![("u0".into(), [1, 0], 1)], ..Case::new(4) };
    let whole = case.trace(true);
    let server = |name: &str, tasks| PresentServer { names: vec![name.into()], tasks };
    let present = |servers| Present {
        users: vec![PresentTasks {
            user: "u0".into(),
            weight: Decimal::ONE,
            demand: decimals([1, 0]),
            servers,
        }],
        remaining: None,
    };
    let refused = |present: &Present| {
        let trace = case.trace(false);
        let order = ServiceOrder::LowestShare;
        run_from([&trace, &whole], "first-fit", order, ClusterSettings::default(), Some(present))
            .err()
            .unwrap()
            .to_string()
    };
    let told = refused(&present(vec![server("c0/1", 1_000)]));
    assert!(told.contains("server = c0/1: has no room") && told.contains("tasks of user u0"), "{told}");
    let told = refused(&present(vec![server("c9/1", 1)]));
    assert!(told.contains("server = c9/1") && told.contains("no such server"), "{told}");
    let told = refused(&present(vec![server("c0/1", 1 << 40)]));
    assert!(told.contains("u0") && told.contains("more than can be simulated"), "{told}");
}
