//! Queues with a `stopPolicy`: what runs in one that holds counts, and what does not count is told with its reason.

use super::*;

/// A cluster queue of ten cores in the cohort `all`, with these lines in its specification.
fn cluster(name: &str, more: &str) -> String {
    format!(
        "kind: ClusterQueue\napiVersion: kueue.x-k8s.io/v1beta2\nmetadata: {{name: {name}}}\nspec: {{namespaceSelector: {{}}, cohortName: all, \
         {more} resourceGroups: [{{coveredResources: [cpu], flavors: [{{name: f, resources: [{{name: cpu, nominalQuota: 10}}]}}]}}]}}\n---\n"
    )
}

fn local(name: &str, of: &str, more: &str) -> String {
    format!(
        "kind: LocalQueue\napiVersion: kueue.x-k8s.io/v1beta2\nmetadata: {{name: {name}, namespace: team}}\nspec: {{{more} clusterQueue: {of}}}\n---\n"
    )
}

/// A workload of one pod of one core.
fn workload(name: &str, queue: &str, is_admitted: bool) -> String {
    let status = if is_admitted { "[{type: QuotaReserved, status: \"True\"}]" } else { "[]" };
    format!(
        "kind: Workload\napiVersion: kueue.x-k8s.io/v1beta2\nmetadata: {{name: {name}, namespace: team}}\nspec: {{queueName: {queue}, podSets: \
         [{{template: {{spec: {{containers: [{{resources: {{requests: {{cpu: 1}}}}}}]}}}}}}]}}\nstatus: {{conditions: {status}}}\n---\n"
    )
}

fn import(text: &str, users: QueueLevel) -> (Vec<String>, String) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("queues.yaml").to_str().unwrap().to_owned();
    std::fs::write(&path, text).unwrap();
    let read = kueue(&KueueOptions { files: vec![path], users, ..Default::default() });
    let (instance, report) = read.unwrap();
    (tenants(&instance), report.to_string())
}

const HOLD: &str = "stopPolicy: Hold,";
const DRAIN: &str = "stopPolicy: HoldAndDrain,";

/// An open queue, and one with a workload that runs and one that waits, which are stopped.
fn two_queues(of_cluster: &str, of_local: &str) -> String {
    cluster("open", "")
        + &local("l", "open", "")
        + &workload("free", "l", false)
        + &cluster("q", of_cluster)
        + &local("s", "q", of_local)
        + &workload("runs", "s", true)
        + &workload("waits", "s", false)
}

#[test]
fn what_runs_in_a_queue_that_is_held_counts_and_what_waits_there_does_not() {
    for (of_cluster, of_local, held) in [
        (HOLD, "", "1 cluster queue that is held (stopPolicy: Hold): it counts with what runs there: q\n"),
        ("", HOLD, "1 local queue that is held (stopPolicy: Hold): it counts with what runs there: team/s\n"),
    ] {
        let text = two_queues(of_cluster, of_local);
        let (told, report) = import(&text, QueueLevel::ClusterQueue);
        assert!(told.iter().any(|line| line == "q:cpu1 <q w1 1 x1"), "{told:#?}\n{report}");
        let waits =
            "1 workload left out: it waits in a queue that admits nothing (stopPolicy: Hold): team/waits\n";
        assert!(report.contains(held) && report.contains(waits), "{report}");
        assert!(!report.contains("not here") && !report.contains("not active"), "{report}");
        let (told, _) = import(&text, QueueLevel::LocalQueue);
        assert!(told.iter().any(|line| line == "team/s:cpu1 <team/s w1 1 x1"), "{told:#?}");
    }
}

#[test]
fn what_runs_in_a_queue_that_is_drained_is_left_out_with_that_reason() {
    for (of_cluster, of_local) in [(DRAIN, ""), ("", DRAIN), (DRAIN, HOLD), (HOLD, DRAIN)] {
        let (told, report) = import(&two_queues(of_cluster, of_local), QueueLevel::ClusterQueue);
        assert!(told.iter().any(|line| line.starts_with("open:cpu1 ")), "{told:#?}");
        assert!(!told.iter().any(|line| line.starts_with("q:")), "{told:#?}");
        let why = "2 workloads left out: their queue admits nothing, and ends what runs there (stopPolicy: HoldAndDrain): team/runs, team/waits\n";
        assert!(report.contains(why), "{report}");
    }
    let one = two_queues(DRAIN, "").replace(&workload("waits", "s", false), "");
    let why = "1 workload left out: its queue admits nothing, and ends what runs there (stopPolicy: HoldAndDrain): team/runs\n";
    let (_, report) = import(&one, QueueLevel::ClusterQueue);
    assert!(report.contains(why), "{report}");
}

#[test]
fn a_held_queue_in_which_nothing_runs_is_left_out_by_name() {
    let text = two_queues(HOLD, "").replace(&workload("runs", "s", true), "");
    let (told, report) = import(&text, QueueLevel::ClusterQueue);
    assert!(!told.iter().any(|line| line.starts_with('q')), "{told:#?}");
    assert!(report.contains("1 cluster queue left out: stopped: q\n"), "{report}");
    let text = two_queues("", HOLD).replace(&workload("runs", "s", true), "");
    let (_, report) = import(&text, QueueLevel::ClusterQueue);
    assert!(report.contains("1 local queue left out: stopped: team/s\n"), "{report}");
}

#[test]
fn a_workload_whose_local_queue_names_a_cluster_queue_that_is_not_here_is_told_with_that_reason() {
    let text =
        cluster("open", "") + &local("l", "gone", "") + &workload("w", "l", true) + &workload("v", "x", true);
    let (_, report) = import(&text, QueueLevel::ClusterQueue);
    let why = "1 workload left out: its local queue is here, but its cluster queue is not or has no quota: team/w\n";
    assert!(
        report.contains(why) && report.contains("1 workload left out: its local queue is not here: team/v\n"),
        "{report}"
    );
}

#[test]
fn what_a_stopped_queue_lends_others_of_its_cohort_may_borrow() {
    let limited = |more: &str, lending: &str| {
        cluster("q", more).replace("nominalQuota: 10", &format!("nominalQuota: 10, lendingLimit: {lending}"))
    };
    for stop in [HOLD, DRAIN] {
        for (of_stopped, cores) in [(cluster("q", stop), "20"), (limited(stop, "4"), "14")] {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("queues.yaml").to_str().unwrap().to_owned();
            std::fs::write(&path, cluster("open", "") + &of_stopped).unwrap();
            let (instance, report) =
                kueue(&KueueOptions { files: vec![path], ..Default::default() }).unwrap();
            assert_eq!(classes(&instance), [format!("f x1 {cores}")], "{report}");
            assert_eq!(tenants(&instance).last().unwrap(), "open <all w1 1 sure cpu=10", "{report}");
            let lent = "1 queue that is stopped: its cohort lends its quotas: q\n";
            assert!(report.to_string().contains(lent), "{report}");
        }
    }
}
