//! The shipped queues give what their file says by hand, real ones are read, and defects are named.

use super::*;
use crate::real_files::real_file;
use fairplan_instances::ClassId;

fn options() -> KueueOptions {
    let file = format!("{}/data/kueue/queues.yaml", env!("CARGO_MANIFEST_DIR"));
    KueueOptions { files: vec![file], ..Default::default() }
}

fn shown(instance: &Instance) -> Vec<String> {
    let amounts = |amounts: &[Decimal]| amounts.iter().map(Decimal::to_string).collect::<Vec<_>>().join(",");
    let classes = instance.classes().iter().map(|class| format!("{} {}", class.id, amounts(&class.capacity)));
    let users = instance.users().map(|user| {
        let may_run = (0..instance.classes().len()).filter(|&l| user.rule().allows(ClassId(l))).count();
        let most = user.tasks().map_or("any".to_owned(), |tasks| tasks.to_string());
        format!("{} {} weight {} x{most} on {may_run}", user.id(), amounts(user.demand()), user.weight())
    });
    classes.chain(users).collect()
}

#[test]
fn cohorts_become_pools_of_flavors_and_queues_users_with_weights_and_limits() {
    let (instance, report) = kueue(&options()).unwrap();
    assert_eq!(instance.resources(), ["cpu", "memory", "nvidia.com/gpu"]);
    assert_eq!(
        shown(&instance),
        [
            // 9 + 3 and the cohort's own 6 cores; 36Gi + 12Gi.
            "department/a100+default 18,51539607552,4",
            "alone/default 4,0,0",
            // All GPUs; cores are limited most: 1000 · 12 / 9.
            "team-a 0.009,38654705.664,0.004 weight 1 x1333 on 1",
            "team-b 0.003,12884901.888,0 weight 0.25 xany on 1",
            "alone 0.004,0,0 weight 1 x1000 on 1",
        ]
    );
    for (count, what) in [
        (4, "cluster queues"),
        (1, "cluster queues left out: they have no quota of their own"),
        (1, "quotas have a lending limit, which an instance cannot state (all is lent)"),
        (1, "objects of kind ResourceFlavor left out"),
        (1, "classes of several flavors, of which a task takes one each"),
    ] {
        assert_eq!(report.count(what), count, "{what}\n{report}");
    }
}

#[test]
fn weights_are_those_of_fair_sharing_and_users_local_queues_when_asked_for() {
    let weights = |options: &KueueOptions| -> Vec<String> {
        let (instance, _) = kueue(options).unwrap();
        instance.users().map(|user| format!("{} {}", user.id(), user.weight())).collect()
    };
    let fair = KueueOptions { weights: QueueWeights::FairSharing, ..options() };
    assert_eq!(weights(&fair), ["team-a 2", "team-b 1", "alone 1"]);
    let local = KueueOptions { users: QueueLevel::LocalQueue, ..fair };
    assert_eq!(weights(&local), ["lab/ada 1.5", "lab/bob 0.5"]);
}

#[test]
fn each_defect_is_named_with_file_object_field_and_value() {
    let folder = tempfile::tempdir().unwrap();
    let text = std::fs::read_to_string(&options().files[0]).unwrap();
    for (from, to, told) in [
        (
            "nominalQuota: 3000m",
            "nominalQuota: 3000x",
            "ClusterQueue team-b: spec.resourceGroups[0], flavor default, cpu.nominalQuota = 3000x",
        ),
        ("borrowingLimit: 3}", "borrowingLimit: -3}", "cpu.borrowingLimit = -3: must be >= 0"),
        ("weight: \"2\"", "weight: two", "ClusterQueue team-a: spec.fairSharing.weight = two"),
        ("nominalQuota: 4}]\n---", "quota: 4}]\n---", "missing field `nominalQuota`"),
    ] {
        assert!(text.contains(from), "{from}");
        let path = folder.path().join("queues.yaml").to_str().unwrap().to_owned();
        std::fs::write(&path, text.replacen(from, to, 1)).unwrap();
        let error = kueue(&KueueOptions { files: vec![path], ..Default::default() }).unwrap_err().to_string();
        assert!(error.contains("queues.yaml") && error.contains(told), "{to}: {error}");
    }
    let none = folder.path().join("none.yaml").to_str().unwrap().to_owned();
    std::fs::write(&none, "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n").unwrap();
    let error = kueue(&KueueOptions { files: vec![none], ..Default::default() }).unwrap_err().to_string();
    assert!(
        error.contains("there is no ClusterQueue with a quota here; `kubectl get clusterqueues"),
        "{error}"
    );
}

#[test]
fn real_queues_become_the_users_and_pools_that_their_files_name() {
    for (name, expected) in [
        (
            "00-resource-flavor.yaml,01-cluster-queues.yaml,01.5-cohorts.yaml",
            "default-flavor+gpu: 3 queues, 1.6 cpu",
        ),
        ("quick-start-setup.yaml", "default-flavor: 1 queues, 9 cpu"),
        ("single-clusterqueue-setup.yaml", "default-flavor: 1 queues, 9 cpu"),
        ("admission-fair-sharing-setup.yaml", "default-flavor: 1 queues, 9 cpu"),
        ("sample-queues.yaml", "tas-flavor: 1 queues, 100 cpu"),
        ("sample-gpu-queues.yaml", "tas-flavor: 1 queues, 100 cpu"),
        ("shared-quota-setup.yaml", "credits+on-demand+spot: 1 queues, 18 cpu"),
    ] {
        let files: Option<Vec<String>> =
            name.split(',').map(|file| real_file(&format!("kueue/{file}"))).collect();
        let Some(files) = files else { return };
        let (instance, _) = kueue(&KueueOptions { files, ..Default::default() }).unwrap();
        let [class] = instance.classes() else { panic!("{name}: {:?}", instance.classes()) };
        let found = format!("{}: {} queues, {} cpu", class.id, instance.users().count(), class.capacity[0]);
        assert_eq!(found, expected, "{name}");
    }
}

#[test]
fn nobody_is_warned_about_the_size_of_tasks_that_were_made_up() {
    let (instance, _) = kueue(&options()).unwrap();
    assert_eq!(fairplan_instances::lint(&instance), []);
}
