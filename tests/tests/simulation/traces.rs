//! Small random traces with everything that can happen in one, and much of it at the same time.

use fairplan_instances::trace::{NewTasks, Trace, TraceHeader, TraceResource};
use fairplan_instances::{Decimal, Random, ServerClass};

/// The trace of a number. Some have no servers at the start, or none at all, some no tasks.
pub fn random_trace(number: u64) -> Trace {
    let mut random = Random::new(number, 3);
    let resources: Vec<TraceResource> = ["cpu", "memory", "disk"][..1 + random.below(3) as usize]
        .iter()
        .map(|name| TraceResource {
            name: (*name).into(),
            decimal_places: random.below(3) as u8,
            device: None,
        })
        .collect();
    let amounts = |random: &mut Random, most: u64, zeros: bool| -> Vec<Decimal> {
        let amount = |resource: &TraceResource| {
            let units = if zeros && random.below(5) == 0 { 0 } else { random.below(most) + 1 };
            resource.amount(units)
        };
        resources.iter().map(amount).collect()
    };
    let mut header = TraceHeader { resources: resources.clone(), ..TraceHeader::default() };
    for class in 0..random.below(4) {
        let capacity = amounts(&mut random, 30, true);
        header.server_classes.push(ServerClass::new(format!("c{class}"), random.below(4), capacity));
    }
    let users = 1 + random.below(6);
    if random.below(2) == 0 {
        let weights = ["1", "2", "0.5", "0.01", "3"].map(|weight| weight.parse().unwrap());
        header.users =
            Some((0..users).map(|u| (format!("u{u}"), weights[random.below(5) as usize])).collect());
    }
    let mut present: Vec<String> = header
        .server_classes
        .iter()
        .flat_map(|class| (1..=class.count).map(move |n| format!("{}/{n}", class.id)))
        .collect();
    let mut trace = Trace::new(header).unwrap();
    let mut gone: Vec<String> = Vec::new();
    let mut open: Vec<(String, u64)> = Vec::new();
    let (mut time, mut servers, mut jobs) = (random.below(20), 0, 0);
    let instants = random.below(14);
    for instant in 0..=instants {
        let mut fresh = Vec::new();
        while !present.is_empty() && random.below(6) == 0 {
            let id = present.swap_remove(random.below(present.len() as u64) as usize);
            trace.server_removed(time, &id).unwrap();
            gone.push(id);
        }
        while random.below(6) == 0 {
            let back = (!gone.is_empty() && random.below(2) == 0).then(|| gone.pop()).flatten();
            let id = back.unwrap_or_else(|| {
                servers += 1;
                format!("s{servers}")
            });
            let capacity = amounts(&mut random, 30, true);
            trace.server_added(time, &id, &capacity).unwrap();
            fresh.push(id);
        }
        present.extend(fresh);
        while !present.is_empty() && random.below(6) == 0 {
            let id = &present[random.below(present.len() as u64) as usize];
            let capacity = amounts(&mut random, 30, true);
            trace.server_changed(time, id, &capacity).unwrap();
        }
        for _ in 0..random.below(5) {
            let (job, user) = match open.pop() {
                Some(open) => open,
                None => {
                    jobs += 1;
                    (format!("j{jobs}"), random.below(users))
                }
            };
            let most = if random.below(9) == 0 { 60 } else { 12 };
            let mut demand = amounts(&mut random, most, true);
            if demand.iter().all(|amount| amount.is_zero()) {
                demand[0] = resources[0].amount(1);
            }
            let more = instant < instants && random.below(3) == 0;
            let id = format!("u{user}");
            let (count, duration) = (1 + random.below(5) as u32, 1 + random.below(12));
            let tasks =
                NewTasks { user: &id, job: &job, demand: &demand, count, duration, rules: None, more };
            trace.submitted(time, tasks).unwrap();
            if more {
                open.push((job, user));
            }
        }
        if instant == instants {
            for (job, user) in std::mem::take(&mut open) {
                let id = format!("u{user}");
                let demand: Vec<Decimal> = resources.iter().map(|resource| resource.amount(1)).collect();
                let tasks = NewTasks {
                    user: &id,
                    job: &job,
                    demand: &demand,
                    count: 1,
                    duration: 3,
                    rules: None,
                    more: false,
                };
                trace.submitted(time, tasks).unwrap();
            }
        }
        time += 1 + random.below(5);
    }
    trace
}
