//! What queues do not lend, against Kueue's own counting written down a second time: an allocation that gives everybody its own quota is
//! within the limits and reserves exactly where Kueue would admit it.

use super::*;
use fairplan_instances::{ClassId, ResourceId};
use std::fmt::Write;

/// Quota, what of it is lent, what may be borrowed beside, and how many tasks of one core there are.
#[derive(Clone, Copy, Debug)]
struct Stated {
    cohort: usize,
    nominal: u64,
    lending: Option<u64>,
    borrowing: Option<u64>,
    tasks: u64,
}

/// Queues in the cohorts `h0` and `h1`, the second of which is in the first.
#[derive(Debug)]
struct Fleet {
    cohorts: [Stated; 2],
    queues: Vec<Stated>,
}

impl Stated {
    /// What it does not lend of what it and all below it have.
    fn kept(&self, subtree: u64) -> u64 {
        self.lending.map_or(0, |lending| subtree.saturating_sub(lending))
    }
}

impl Fleet {
    fn files(&self) -> String {
        let mut text =
            "apiVersion: kueue.x-k8s.io/v1beta2\nkind: ResourceFlavor\nmetadata: {name: f}\n---\n".to_owned();
        let quota = |stated: &Stated| {
            let more = |name: &str, amount: Option<u64>| {
                amount.map_or(String::new(), |amount| format!(", {name}: {amount}"))
            };
            let (nominal, lending) = (stated.nominal, more("lendingLimit", stated.lending));
            let borrowing = more("borrowingLimit", stated.borrowing);
            format!(
                "resourceGroups: [{{coveredResources: [cpu], flavors: [{{name: f, resources: [{{name: cpu, nominalQuota: {nominal}{lending}{borrowing}}}]}}]}}]"
            )
        };
        let mut add = |kind: &str, name: String, spec: String| {
            write!(
                text,
                "apiVersion: kueue.x-k8s.io/v1beta2\nkind: {kind}\nmetadata: {{name: {name}, namespace: team}}\nspec: {{{spec}}}\n---\n"
            )
            .unwrap();
        };
        for (at, cohort) in self.cohorts.iter().enumerate() {
            let parent = if at == 1 { "parentName: h0, " } else { "" };
            add("Cohort", format!("h{at}"), format!("{parent}{}", quota(cohort)));
        }
        for (at, queue) in self.queues.iter().enumerate() {
            let cohort = queue.cohort;
            add(
                "ClusterQueue",
                format!("q{at}"),
                format!("namespaceSelector: {{}}, cohortName: h{cohort}, {}", quota(queue)),
            );
            add("LocalQueue", format!("l{at}"), format!("clusterQueue: q{at}"));
            if queue.tasks > 0 {
                let (tasks, pods) = (queue.tasks, "containers: [{resources: {requests: {cpu: 1}}}]");
                add(
                    "Workload",
                    format!("w{at}"),
                    format!(
                        "queueName: l{at}, podSets: [{{count: {tasks}, template: {{spec: {{{pods}}}}}}}]"
                    ),
                );
            }
        }
        text
    }

    /// Whether the queues of the cohort that is in the other use what it keeps, as far as they can.
    fn uses_its_own(&self, tasks: &[u64]) -> bool {
        let inner = || self.queues.iter().zip(tasks).filter(|(queue, _)| queue.cohort == 1);
        let used = inner().map(|(queue, tasks)| tasks.saturating_sub(queue.kept(queue.nominal)));
        let may_use = inner().map(|(queue, _)| {
            let most =
                queue.borrowing.map_or(queue.tasks, |borrowing| queue.tasks.min(queue.nominal + borrowing));
            most.saturating_sub(queue.kept(queue.nominal))
        });
        let lent = inner().map(|(queue, _)| queue.nominal - queue.kept(queue.nominal));
        let kept = self.cohorts[1].kept(self.cohorts[1].nominal + lent.sum::<u64>());
        used.sum::<u64>() >= kept.min(may_use.sum())
    }

    /// Whether Kueue admits so many tasks of each queue: what a member uses beyond what it keeps counts in its cohort, which has its
    /// own and what its members lend, and may borrow from the one above.
    fn admits(&self, tasks: &[u64]) -> bool {
        let may_borrow = |stated: &Stated, subtree: u64, used: u64| {
            stated.borrowing.is_none_or(|borrowing| used <= subtree + borrowing)
        };
        let mut subtree = [self.cohorts[0].nominal, self.cohorts[1].nominal];
        let mut used = [0, 0];
        let mut is_within = true;
        for (queue, tasks) in self.queues.iter().zip(tasks) {
            let kept = queue.kept(queue.nominal);
            subtree[queue.cohort] += queue.nominal - kept;
            used[queue.cohort] += tasks.saturating_sub(kept);
            is_within &= may_borrow(queue, queue.nominal, *tasks);
        }
        let inner = &self.cohorts[1];
        let kept = inner.kept(subtree[1]);
        is_within && may_borrow(inner, subtree[1], used[1]) && {
            subtree[0] += subtree[1] - kept;
            used[0] += used[1].saturating_sub(kept);
            used[0] <= subtree[0]
        }
    }
}

/// Whether so many tasks of each queue are within what the servers have, and within all limits and reserves.
fn lets(instance: &Instance, tasks: &[u64]) -> bool {
    let of = |id: &str| instance.users().find(|user| user.id() == id);
    let mut cores = vec![0; instance.limit_rows().len()];
    for (queue, tasks) in tasks.iter().enumerate().filter(|(_, tasks)| **tasks > 0) {
        let Some(user) = of(&format!("q{queue}:cpu1")) else { return false };
        instance.limits_above(user).into_iter().for_each(|j| cores[j] += tasks);
    }
    let has = instance.amount(ResourceId(0), instance.capacity_units(ClassId(0), ResourceId(0)));
    let within = |(row, cores): (&fairplan_instances::LimitRow, &u64)| *cores as f64 <= row.amount.to_f64();
    tasks.iter().sum::<u64>() as f64 <= has && instance.limit_rows().iter().zip(&cores).all(within)
}

/// Every number of tasks of each queue from its own quota, or all its tasks if these are fewer, to all its tasks.
fn allocations(queues: &[Stated]) -> Vec<Vec<u64>> {
    queues.iter().fold(vec![Vec::new()], |begun, queue| {
        let counts = queue.nominal.min(queue.tasks)..=queue.tasks;
        let with =
            |one: &Vec<u64>| counts.clone().map(|count| [&one[..], &[count]].concat()).collect::<Vec<_>>();
        begun.iter().flat_map(with).collect()
    })
}

fn check(fleet: &Fleet, node: Option<u64>) {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let cores = node.unwrap_or(1000);
    let nodes = format!(
        "{{kind: Node, metadata: {{name: node}}, status: {{allocatable: {{cpu: {cores}, pods: 110}}}}}}"
    );
    std::fs::write(path("nodes.yaml"), nodes).unwrap();
    std::fs::write(path("queues.yaml"), fleet.files()).unwrap();
    let nodes = node.map(|_| path("nodes.yaml")).into_iter().collect();
    let read = kueue(&KueueOptions { files: vec![path("queues.yaml")], nodes, ..Default::default() });
    let Ok((instance, _)) = read else {
        // Nobody has tasks that may run.
        let Err(failure) = read else { unreachable!() };
        let mut others = allocations(&fleet.queues).into_iter().filter(|tasks| tasks.iter().any(|n| *n > 0));
        assert!(!others.any(|tasks| fleet.admits(&tasks)), "{}\n{fleet:#?}", failure.error);
        return;
    };
    // Where nodes have less than the quotas, what queues have no tasks for is taken off limits, which is right where all others use their own.
    let quotas = fleet.cohorts.iter().chain(&fleet.queues).map(|stated| stated.nominal).sum();
    let counts = |tasks: &Vec<u64>| cores >= quotas || fleet.uses_its_own(tasks);
    for tasks in allocations(&fleet.queues).into_iter().filter(counts) {
        let has_room = tasks.iter().sum::<u64>() <= cores;
        let (admitted, within) = (fleet.admits(&tasks) && has_room, lets(&instance, &tasks));
        assert_eq!(within, admitted, "{tasks:?} {:#?}\n{fleet:#?}", tenants(&instance));
    }
}

#[test]
fn limits_and_reserves_let_run_exactly_what_kueue_admits() {
    let mut state = 7_u64;
    let mut below = |most: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % most
    };
    for _ in 0..150 {
        let mut stated = |cohort: usize, is_queue: bool| {
            let nominal = below(5);
            let lending = (below(2) == 0).then(|| if is_queue { below(nominal + 1) } else { below(8) });
            let borrowing = (below(3) == 0).then(|| below(4));
            Stated { cohort, nominal, lending, borrowing, tasks: below(7) }
        };
        let top = Stated { lending: None, borrowing: None, ..stated(0, false) };
        let inner = stated(0, false);
        let queues = [0, 0, 1, 1].map(|cohort| stated(cohort, true));
        let fleet = Fleet { cohorts: [top, inner], queues: queues.into() };
        check(&fleet, None);
        check(&fleet, Some(1000));
        // Nodes that went down may leave less than the quotas.
        check(&fleet, Some(1 + below(12)));
    }
}

/// A queue whose only task can never run is no tenant; what it keeps is out of reach of the others all the same, of both together.
#[test]
fn what_a_queue_keeps_that_is_left_out_is_taken_off_what_its_cohort_may_have() {
    let (keeper, other) =
        (queue_in("h", "4, lendingLimit: 0", "0, borrowingLimit: 0"), queue_in("h", "1", "1"));
    let (barred, plain) = (pods("a", 9, "cpu: 1, gpu: 1"), pods("b", 9, "cpu: 1"));
    let again = pods("c", 9, "cpu: 1");
    let objects = [
        ("ClusterQueue", "a", keeper.as_str()),
        ("ClusterQueue", "b", &other),
        ("ClusterQueue", "c", &other),
        ("LocalQueue", "team/a", "clusterQueue: a"),
        ("LocalQueue", "team/b", "clusterQueue: b"),
        ("LocalQueue", "team/c", "clusterQueue: c"),
        ("Workload", "team/w", &barred),
        ("Workload", "team/x", &plain),
        ("Workload", "team/z", &again),
    ];
    let (_, told, _) = of_objects(&objects);
    assert!(told.contains(&"[h] w1 most cpu=2".to_owned()), "{told:#?}");
    assert!(!told.iter().any(|line| line.starts_with("a:")), "{told:#?}");
}

/// Quotas of `cpu` and `gpu` on one flavor, of a queue in a cohort.
fn queue_in(cohort: &str, cpu: &str, gpu: &str) -> String {
    format!(
        "cohortName: {cohort}, resourceGroups: [{{coveredResources: [cpu, gpu], flavors: [{{name: f, resources: [{{name: cpu, nominalQuota: {cpu}}}, \
         {{name: gpu, nominalQuota: {gpu}}}]}}]}}]"
    )
}

/// So many pods of a local queue that ask for this.
fn pods(queue: &str, count: u64, asked: &str) -> String {
    format!(
        "queueName: {queue}, podSets: [{{count: {count}, template: {{spec: {{containers: [{{resources: {{requests: {{{asked}}}}}}}]}}}}}}]"
    )
}

#[test]
fn a_cohort_whose_quotas_are_all_0_has_none_of_what_another_has() {
    let (has, has_none) = (queue_in("prod", "8", "8"), queue_in("lab", "8", "0, borrowingLimit: 2"));
    let (run, wait) = (pods("a", 3, "cpu: 1, gpu: 1"), pods("b", 5, "cpu: 1, gpu: 1"));
    let objects = [
        ("ClusterQueue", "a", has.as_str()),
        ("ClusterQueue", "b", &has_none),
        ("LocalQueue", "team/a", "clusterQueue: a"),
        ("LocalQueue", "team/b", "clusterQueue: b"),
        ("Workload", "team/w", &run),
        ("Workload", "team/x", &wait),
    ];
    let (_, told, report) = of_objects(&objects);
    assert!(!told.iter().any(|line| line.starts_with("b:")), "{told:#?}");
    assert_eq!(report.count("tasks left out: they ask for gpu, of which their limit is 0"), 5, "{report}");
}

#[test]
fn what_holds_some_of_a_queues_tasks_is_guaranteed_to_these() {
    let (mixed, other) = (queue_in("h", "8", "0"), queue_in("h", "8", "4"));
    let (plain, with_gpu) = (pods("a", 3, "cpu: 4"), pods("a", 5, "cpu: 4, gpu: 1"));
    let objects = [
        ("ClusterQueue", "a", mixed.as_str()),
        ("ClusterQueue", "b", &other),
        ("LocalQueue", "team/a", "clusterQueue: a"),
        ("Workload", "team/w", &plain),
        ("Workload", "team/x", &with_gpu),
    ];
    let (_, told, report) = of_objects(&objects);
    assert!(told.contains(&"a:cpu4 <a w1 4,0 x3 sure cpu=8".to_owned()), "{told:#?}");
    assert!(told.contains(&"[a] <h w1".to_owned()), "{told:#?}");
    let kind = "guarantees are of one kind of tasks: their queue is given 0 of something that its others need beside";
    assert_eq!(report.count(kind), 1, "{report}");
    // Of several kinds of which some are held no quota says so.
    let more = pods("a", 3, "cpu: 2");
    let (_, told, _) = of_objects(&[&objects[..], &[("Workload", "team/z", more.as_str())]].concat());
    assert!(!told.iter().any(|line| line.starts_with("a:") && line.contains("sure")), "{told:#?}");
}

#[test]
fn files_of_which_all_workloads_are_left_out_say_that_nothing_runs() {
    let queue = queue_in("h", "8", "8");
    let work = pods("z", 5, "cpu: 1");
    let objects = [
        ("ClusterQueue", "a", queue.as_str()),
        ("LocalQueue", "team/a", "clusterQueue: a"),
        ("LocalQueue", "team/z", "clusterQueue: gone"),
        ("Workload", "team/w", &work),
    ];
    let (_, told, _) = of_objects(&objects);
    assert!(told.iter().any(|line| line.starts_with("a <h w1 ") && line.contains(" x0")), "{told:#?}");
}
