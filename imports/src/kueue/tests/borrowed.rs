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
