//! What queues, flavors and workloads of Kueue state and an instance cannot is told by name, and what is usual is not.

use super::*;

#[test]
fn when_the_next_flavor_is_tried_and_what_admission_counts_are_told_unless_they_are_usual() {
    let any = "here tasks take any of its flavors: team-a\n";
    for (stated, told) in [
        (
            "flavorFungibility: {whenCanBorrow: TryNextFlavor}",
            Some("(flavorFungibility), which are left out"),
        ),
        ("flavorFungibility: {whenCanPreempt: Preempt}", Some("(flavorFungibility), which are left out")),
        (
            "flavorFungibility: {preference: BorrowingOverPreemption}",
            Some("(flavorFungibility), which are left out"),
        ),
        ("flavorFungibility: {whenCanBorrow: Borrow, whenCanPreempt: TryNextFlavor}", None),
        ("flavorFungibility: {whenCanBorrow: MayStopSearch, whenCanPreempt: TryNextFlavor}", None),
        ("flavorFungibility: {}", None),
        (
            "admissionScope: {admissionMode: UsageBasedAdmissionFairSharing}",
            Some("1 cluster queue with admission by earlier usage (admissionScope), which is left out"),
        ),
        ("admissionScope: {admissionMode: NoAdmissionFairSharing}", None),
        (
            "concurrentAdmissionPolicy: {migration: {mode: TryPreferredFlavors}}",
            Some("1 cluster queue with admission to several flavors at once (concurrentAdmissionPolicy)"),
        ),
        ("concurrentAdmissionPolicy: null", None),
    ] {
        let (report, _) = told_with("cohortName: research", &format!("cohortName: research\n  {stated}"));
        match told {
            Some(told) => assert!(report.contains(told) && report.contains("team-a"), "{stated}\n{report}"),
            None => {
                assert_eq!(report, told_with("cohortName: research", "cohortName: research").0, "{stated}")
            }
        }
        let has_flavors = told.is_some() && !stated.starts_with("admissionScope");
        assert_eq!(report.contains(any), has_flavors, "{stated}\n{report}");
    }
}

#[test]
fn topologies_of_flavors_and_pods_that_must_be_near_each_other_are_told() {
    let text = |topology: &str, request: &str| {
        let kueue = "apiVersion: kueue.x-k8s.io/v1beta2\nkind";
        let group =
            "[{coveredResources: [cpu], flavors: [{name: f, resources: [{name: cpu, nominalQuota: 9}]}]}]";
        format!(
            "{kueue}: ResourceFlavor\nmetadata: {{name: f}}\nspec: {{{topology}}}\n---\n{kueue}: ClusterQueue\nmetadata: {{name: q}}\nspec: \
             {{namespaceSelector: {{}}, resourceGroups: {group}}}\n---\n{kueue}: LocalQueue\nmetadata: {{name: l}}\nspec: {{clusterQueue: \
             q}}\n---\n{kueue}: Workload\nmetadata: {{name: w}}\nspec: {{queueName: l, podSets: [{{{request} template: {{spec: {{containers: \
             [{{resources: {{requests: {{cpu: 1}}}}}}]}}}}}}]}}\n"
        )
    };
    let told = |topology: &str, request: &str| {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("queues.yaml").to_str().unwrap().to_owned();
        std::fs::write(&path, text(topology, request)).unwrap();
        kueue(&KueueOptions { files: vec![path], ..Default::default() }).unwrap().1.to_string()
    };
    let plain = told("", "");
    let flavor = "1 flavor with a topology (topologyName), which is left out: here pods of a workload may be on any nodes of a flavor: f\n";
    let report = told("topologyName: racks", "");
    assert!(report.contains(flavor) && !plain.contains("topology"), "{report}");
    let workload = "1 workload with pods on nodes near each other (topologyRequest), which is left out: here any nodes will do: w\n";
    let report = told("", "topologyRequest: {required: rack},");
    assert!(report.contains(workload), "{report}");
    assert_eq!(told("", "topologyRequest: {preferred: rack},"), plain);
}
