//! The shipped cluster in both of Slurm's forms, a real one, and what is refused.

use super::*;
use crate::real_files::real_file;
use fairplan_instances::ClassId;

fn shipped(name: &str) -> String {
    format!("{}/data/slurm/{name}", env!("CARGO_MANIFEST_DIR"))
}

fn options(nodes: &str) -> SlurmOptions {
    SlurmOptions { nodes: vec![shipped(nodes)], jobs: vec![shipped("jobs.json")], ..Default::default() }
}

fn shown(instance: &Instance) -> Vec<String> {
    let amounts = |amounts: &[Decimal]| amounts.iter().map(Decimal::to_string).collect::<Vec<_>>().join(",");
    let classes = instance
        .classes()
        .iter()
        .map(|class| format!("{} x{} {}", class.id, class.count, amounts(&class.capacity)));
    let users = instance.users().map(|user| {
        let may_run: Vec<&str> = (0..instance.classes().len())
            .filter(|&l| user.rule().allows(ClassId(l)))
            .map(|l| instance.classes()[l].id.as_str())
            .collect();
        format!(
            "{} {} x{} on {}",
            user.id(),
            amounts(user.demand()),
            user.tasks().unwrap(),
            may_run.join("+")
        )
    });
    classes.chain(users).collect()
}

#[test]
fn nodes_one_by_one_and_by_partition_are_the_same_cluster() {
    let expected = [
        "cpu64-memory500000 x2 64,500000,0",
        "g1 x1 32,256000,4",
        "ada 32,64000,0 x2 on cpu64-memory500000+g1",
        "bob@g1 8,64000,1 x5 on g1",
        "eve 3,0,0 x1 on cpu64-memory500000+g1",
    ];
    for nodes in ["nodes.json", "sinfo.json"] {
        let (instance, report) = slurm(&options(nodes)).unwrap();
        assert_eq!(shown(&instance), expected, "{nodes}");
        for (count, what) in [
            (3, "nodes"),
            (1, "nodes left out: down"),
            (1, "jobs running"),
            (2, "jobs pending"),
            (1, "jobs left out: completed"),
            (1, "jobs state no memory (only cpus count)"),
            (1, "jobs of partition legacy, which no node names: they may run everywhere"),
        ] {
            assert_eq!(report.count(what), count, "{nodes}: {what}\n{report}");
        }
    }
}

#[test]
fn users_are_accounts_or_partitions_when_asked_for() {
    for (owner, expected) in
        [("account", ["physics", "physics@g1", "maths"]), ("partition", ["batch", "gpu@g1", "legacy"])]
    {
        let owner = owner.parse().unwrap();
        let (instance, _) = slurm(&SlurmOptions { owner, ..options("nodes.json") }).unwrap();
        assert_eq!(instance.users().map(|user| user.id().to_owned()).collect::<Vec<_>>(), expected);
    }
}

#[test]
fn each_defect_is_named_with_file_object_field_and_value() {
    let folder = tempfile::tempdir().unwrap();
    for (file, from, to, told) in [
        ("nodes.json", "\"cpus\": 32", "\"cpus\": -32", "node g1: cpus = -32: must be a whole number >= 0"),
        (
            "nodes.json",
            "\"cpus\": 32",
            "\"cpus\": {\"set\": false, \"infinite\": false, \"number\": 0}",
            "node g1: cpus: is missing",
        ),
        ("nodes.json", "gpu:a100:4(S:0-1)", "gpu:a100:x", "node g1: gres = gpu:a100:x"),
        ("nodes.json", "\"nodes\": [", "\"jobs\": [", "expected a list nodes or sinfo"),
        (
            "jobs.json",
            "mem=125G,node=2,billing=64\",\n     \"tres_alloc_str\": \"cpu=64,mem=125G",
            "mem=125G,node=2,billing=64\",\n     \"tres_alloc_str\": \"cpu=64,mem=125X",
            "job 1: tres_alloc_str = mem=125X",
        ),
        ("jobs.json", "1-10:2%4", "ten", "job 2: array_task_string = ten"),
        ("jobs.json", "\"partition\": \"gpu\"", "\"partition\": 3", "job 2: partition"),
        ("jobs.json", "\"jobs\": [", "\"sinfo\": [", "expected a list jobs; `squeue --json`"),
    ] {
        let text = std::fs::read_to_string(shipped(file)).unwrap();
        assert!(text.contains(from), "{from}");
        let path = folder.path().join(file).to_str().unwrap().to_owned();
        std::fs::write(&path, text.replacen(from, to, 1)).unwrap();
        let mut options = options("nodes.json");
        let list = if file == "nodes.json" { &mut options.nodes } else { &mut options.jobs };
        *list = vec![path];
        let error = slurm(&options).unwrap_err().to_string();
        assert!(error.contains(file) && error.contains(told), "{to}: {error}");
    }
}

#[test]
fn a_real_cluster_of_both_generations_is_read() {
    let (Some(nodes), Some(jobs)) =
        (real_file("slurm/rivos/sinfo_out.json"), real_file("slurm/rivos/squeue_out.json"))
    else {
        return;
    };
    let options = SlurmOptions { nodes: vec![nodes], jobs: vec![jobs], ..Default::default() };
    let (instance, report) = slurm(&options).unwrap();
    // Four nodes, one of them down; one job runs, and an array of ten waits.
    assert_eq!(
        shown(&instance),
        ["cpu64-memory500000 x3 64,500000", "bkd 1,124974.545455 x11 on cpu64-memory500000"]
    );
    assert_eq!(report.count("nodes left out: down"), 1);
}
