//! Cohorts in which no queue is left, files in which none is, and guarantees on flavors without nodes.

use super::*;

/// A cluster queue with these lines in its specification and quotas of cpu, by flavor.
fn cluster(name: &str, more: &str, quotas: &[(&str, u64)]) -> String {
    let flavor = |(name, cores): &(&str, u64)| {
        format!("{{name: {name}, resources: [{{name: cpu, nominalQuota: {cores}}}]}}")
    };
    let flavors: Vec<String> = quotas.iter().map(flavor).collect();
    format!(
        "kind: ClusterQueue\napiVersion: kueue.x-k8s.io/v1beta1\nmetadata: {{name: {name}}}\nspec: {{namespaceSelector: {{}}, {more} \
         resourceGroups: [{{coveredResources: [cpu], flavors: [{}]}}]}}\n---\n",
        flavors.join(", ")
    )
}

fn local(of: &str, more: &str) -> String {
    format!(
        "kind: LocalQueue\napiVersion: kueue.x-k8s.io/v1beta1\nmetadata: {{name: l{of}, namespace: team}}\nspec: {{{more} clusterQueue: {of}}}\n---\n"
    )
}

/// Users are local queues, or with a node of eight cores in the flavor `f` (none is in `g`) cluster queues.
fn read(text: &str, with_node: bool) -> Result<(Vec<String>, String), String> {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str, text: &str| {
        let path = folder.path().join(name).to_str().unwrap().to_owned();
        std::fs::write(&path, text).unwrap();
        vec![path]
    };
    let flavor = |name: &str| {
        format!(
            "kind: ResourceFlavor\nmetadata: {{name: {name}}}\nspec: {{nodeLabels: {{pool: {name}}}}}\n---\n"
        )
    };
    let node = "kind: Node\nmetadata: {name: node, labels: {pool: f}}\nstatus: {allocatable: {cpu: 8}}\n";
    let options = match with_node {
        true => KueueOptions {
            files: file("queues.yaml", &(flavor("f") + &flavor("g") + text)),
            nodes: file("nodes.yaml", node),
            ..Default::default()
        },
        false => KueueOptions {
            files: file("queues.yaml", text),
            users: QueueLevel::LocalQueue,
            ..Default::default()
        },
    };
    let (instance, report) = kueue(&options).map_err(|failure| format!("{failure}\n{}", failure.report))?;
    Ok((tenants(&instance), report.to_string()))
}

#[test]
fn a_cohort_whose_queues_have_no_local_queue_is_nobody() {
    let queues = cluster("a", "cohort: cx,", &[("f", 10)]) + &cluster("b", "cohort: cy,", &[("f", 10)]);
    let (found, told) = read(&(queues.clone() + &local("b", "")), false).unwrap();
    assert!(found.iter().all(|line| !line.contains("cx")), "{found:?}");
    assert!(found.iter().any(|line| line.starts_with("team/lb <b ")), "{found:?}");
    assert!(told.contains("1 cluster queue left out: no local queue names it: a\n"), "{told}");
    assert!(told.contains("1 group left out: nobody is left below: cx\n"), "{told}");
    let refused = read(&queues, false).unwrap_err();
    assert!(refused.contains("no queue is left that anything can run in"), "{refused}");
    assert!(refused.contains("2 cluster queues left out: no local queue names them: a, b\n"), "{refused}");
}

#[test]
fn a_queue_whose_local_queues_are_stopped_is_not_said_to_have_none() {
    let queues = cluster("a", "", &[("f", 10)]) + &cluster("b", "", &[("f", 10)]) + &local("b", "");
    let (_, told) = read(&(queues + &local("a", "stopPolicy: HoldAndDrain,")), false).unwrap();
    assert!(
        told.contains("1 cluster queue left out: all local queues that name it are stopped: a\n"),
        "{told}"
    );
}

#[test]
fn where_all_queues_are_stopped_none_is_said_to_be_missing() {
    let refused = read(&cluster("a", "stopPolicy: HoldAndDrain,", &[("f", 10)]), false).unwrap_err();
    assert!(refused.contains("no queue is left that anything can run in"), "{refused}");
    assert!(refused.contains("1 cluster queue left out: stopped: a\n"), "{refused}");
}

#[test]
fn a_guarantee_on_a_flavor_without_nodes_does_not_make_another_too_large() {
    for cohort in ["", "cohort: all,"] {
        let (_, told) = read(&cluster("b", cohort, &[("f", 4), ("g", 10)]), true).unwrap();
        assert!(!told.contains("of more than"), "{told}");
    }
    let two = cluster("b", "", &[("f", 4), ("g", 10)]) + &cluster("c", "", &[("f", 4)]);
    assert!(!read(&two, true).unwrap().1.contains("come to more"));
}

#[test]
fn a_single_queue_that_is_guaranteed_more_than_there_is_is_told() {
    for cohort in ["", "cohort: all,"] {
        let (_, told) = read(&cluster("b", cohort, &[("f", 100)]), true).unwrap();
        assert!(told.contains("1 guarantee is of more than its servers have: b (cpu)\n"), "{told}");
    }
}

#[test]
fn where_every_quota_is_nothing_it_is_said_that_nobody_has_anything() {
    let error = read(&cluster("q", "cohort: c,", &[("f", 0)]), false).unwrap_err();
    assert!(error.contains("every nominalQuota of the cluster queues and cohorts here is 0"), "{error}");
}
