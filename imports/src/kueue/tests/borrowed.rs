//! What a queue can only borrow: whether its made-up tasks ask for it.

use super::*;

/// A queue of the cohort `all` with one group a list of resources, each a flavor of its own, and their quotas.
fn queue(name: &str, groups: &[&[(&str, u64)]]) -> String {
    let group = |(at, quotas): (usize, &&[(&str, u64)])| {
        let names: Vec<&str> = quotas.iter().map(|(name, _)| *name).collect();
        let amounts: Vec<String> =
            quotas.iter().map(|(name, quota)| format!("{{name: {name}, nominalQuota: {quota}}}")).collect();
        format!(
            "{{coveredResources: [{}], flavors: [{{name: f{at}, resources: [{}]}}]}}",
            names.join(", "),
            amounts.join(", ")
        )
    };
    let groups: Vec<String> = groups.iter().enumerate().map(group).collect();
    format!(
        "kind: ClusterQueue\napiVersion: kueue.x-k8s.io/v1beta1\nmetadata: {{name: {name}}}\nspec: {{namespaceSelector: {{}}, cohort: all, \
         resourceGroups: [{}]}}\n---\n",
        groups.join(", ")
    )
}

/// The demands of the users, each behind its name.
fn demands(text: &str) -> Vec<String> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("queues.yaml").to_str().unwrap().to_owned();
    std::fs::write(&path, text).unwrap();
    let (instance, _) = kueue(&KueueOptions { files: vec![path], ..Default::default() }).unwrap();
    let demand = |user: &fairplan_instances::User<'_>| {
        user.demand().iter().map(Decimal::to_string).collect::<Vec<_>>().join(",")
    };
    instance.users().map(|user| format!("{} {}", user.id(), demand(&user))).collect()
}

const GPU: &str = "nvidia.com/gpu";

#[test]
fn a_queue_that_can_only_borrow_cpu_has_tasks_that_ask_for_cpu() {
    // Ten cores and four GPUs are there.
    let shared = queue("shared", &[&[("cpu", 10)]]);
    let apart = queue("team", &[&[("cpu", 0)], &[(GPU, 4)]]);
    assert_eq!(demands(&(shared.clone() + &apart)), ["shared 1,0", "team 2.5,1"]);
    let in_one_group = queue("team", &[&[("cpu", 0), (GPU, 4)]]);
    assert_eq!(demands(&(shared + &in_one_group)), ["shared 1,0", "team 2.5,1"]);
}

#[test]
fn gpus_that_a_queue_can_only_borrow_are_asked_for_where_it_has_nothing_of_their_group() {
    let owner = queue("owner", &[&[("cpu", 10), (GPU, 4)]]);
    // Beside cores of its own in the same group its tasks are those of the cores.
    assert_eq!(demands(&(owner + &queue("team", &[&[("cpu", 10), (GPU, 0)]])))[1], "team 1,0");
    let owner = queue("owner", &[&[("cpu", 10)], &[(GPU, 4)]]);
    assert_eq!(demands(&(owner + &queue("team", &[&[("cpu", 10)], &[(GPU, 0)]])))[1], "team 5,1");
}

/// The tenants, and what is told.
fn read(text: &str) -> (Vec<String>, ImportReport) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("queues.yaml").to_str().unwrap().to_owned();
    std::fs::write(&path, text).unwrap();
    let (instance, report) = kueue(&KueueOptions { files: vec![path], ..Default::default() }).unwrap();
    (tenants(&instance), report)
}

#[test]
fn a_queue_that_has_no_cpu_of_its_own_is_sure_of_no_task() {
    let left_out = "guarantees left out: their queue is given 0 of something that its tasks need beside";
    let both = |name: &str, cpu: u64| queue(name, &[&[("cpu", cpu), (GPU, 4)]]);
    let (found, report) = read(&(both("a", 96) + &both("b", 0)));
    assert_eq!(found[1..], ["a <all w1 24,1 sure cpu=96 nvidia.com/gpu=4", "b <all w1 12,1"], "{report}");
    assert!(report.to_string().contains("1 guarantee left out: its queue is given 0 of something that its tasks need beside: b (nvidia.com/gpu)\n"), "{report}");
    // The quotas stand in different groups.
    let (found, report) = read(&(both("a", 96) + &queue("b", &[&[("cpu", 0)], &[(GPU, 4)]])));
    assert!(found.iter().all(|line| !line.starts_with("b ") || !line.contains("sure")), "{found:#?}");
    assert_eq!(report.count(left_out), 1, "{report}");
    // At another flavor it has tasks without cpu, as nobody has any there.
    let flavor = |name: &str, cpu: u64| {
        format!(
            "{{name: {name}, resources: [{{name: cpu, nominalQuota: {cpu}}}, {{name: {GPU}, nominalQuota: 4}}]}}"
        )
    };
    let two = both("b", 0).replace(&flavor("f0", 0), &format!("{}, {}", flavor("f0", 0), flavor("g", 0)));
    let (found, report) = read(&(both("a", 96) + &two));
    let sure = |name: &str| found.iter().any(|line| line.starts_with(name) && line.contains("sure"));
    assert!(sure("b@g ") && !sure("b@f0 "), "{found:#?}\n{report}");
    // A cohort below another is given what its queues have.
    let cohort = "kind: Cohort\napiVersion: kueue.x-k8s.io/v1beta1\nmetadata: {name: below}\nspec: {parent: all}\n---\n";
    let (found, report) =
        read(&(both("a", 96) + cohort + &both("b", 0).replace("cohort: all", "cohort: below")));
    assert!(found.contains(&"[below] <all w1".to_owned()), "{found:#?}");
    assert_eq!(report.count(left_out), 2, "{report}");
}

#[test]
fn tasks_that_ask_for_none_of_what_their_queue_may_borrow_are_told() {
    let told = "queues are given 0 of nvidia.com/gpu beside more of others, so their tasks ask for none";
    let owner = queue("owner", &[&[("cpu", 4), (GPU, 4)]]);
    let borrower = queue("team", &[&[("cpu", 100), (GPU, 0)]]);
    let (found, report) = read(&(owner.clone() + &borrower));
    assert_eq!(found.last().unwrap(), "team <all w1 1,0 sure cpu=100");
    assert_eq!(report.count(told), 1, "{report}");
    // Where it may borrow none it can have none.
    let limited = borrower.replace("nominalQuota: 0", "nominalQuota: 0, borrowingLimit: 0");
    assert_eq!(read(&(owner + &limited)).1.count(told), 0);
}
