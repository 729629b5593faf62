//! The shipped cluster in both of Slurm's forms, a real one, and what is refused.

use super::*;
use crate::defects::each_is_named;
use crate::real_files::real_file;
use crate::shown::tenants;
use fairplan_instances::ClassId;

fn shipped(name: &str) -> String {
    format!("{}/data/slurm/{name}", env!("CARGO_MANIFEST_DIR"))
}

fn options(nodes: &str) -> SlurmOptions {
    SlurmOptions {
        nodes: vec![shipped(nodes)],
        jobs: vec![shipped("jobs.json")],
        grouping: TaskGrouping::User,
        ..Default::default()
    }
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
        "cpu64-memory488.3Gi x2 64,500000,0",
        "g1 x1 32,256000,4",
        "ada 32,64000,0 x2 on cpu64-memory488.3Gi+g1",
        "bob@gpu+gpu:a100 8,64000,1 x5 on g1",
        "eve 3,0,0 x1 on cpu64-memory488.3Gi+g1",
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
            (1, "jobs state no memory: none is counted for them"),
            (1, "jobs of partition legacy, which no node names: they may run everywhere"),
        ] {
            assert_eq!(report.count(what), count, "{nodes}: {what}\n{report}");
        }
    }
}

#[test]
fn cores_and_memory_that_are_kept_for_the_system_are_taken_off() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("nodes.json").to_str().unwrap().to_owned();
    let nodes = std::fs::read_to_string(shipped("nodes.json")).unwrap();
    for (added, has, count) in [
        ("\"effective_cpus\": 28, \"specialized_memory\": 1024, ", "28,254976,4", 1),
        ("\"effective_cpus\": 28, ", "28,256000,4", 1),
        // Slurm states 0 where it does not know, and where nothing is kept.
        ("\"effective_cpus\": 0, \"specialized_memory\": 0, ", "32,256000,4", 0),
        ("\"effective_cpus\": 32, ", "32,256000,4", 0),
    ] {
        std::fs::write(&path, nodes.replace("\"cpus\": 32", &format!("{added}\"cpus\": 32"))).unwrap();
        let options = SlurmOptions { nodes: vec![path.clone()], ..options("nodes.json") };
        let (instance, report) = slurm(&options).unwrap();
        assert!(shown(&instance).contains(&format!("g1 x1 {has}")), "{added}: {:?}", shown(&instance));
        let told = "nodes have cores or memory for the system only, which are taken off";
        assert_eq!(report.count(told), count, "{added}\n{report}");
    }
}

#[test]
fn jobs_and_nodes_that_are_named_twice_count_once_and_are_told() {
    let with = |jobs: Vec<String>, nodes: Vec<String>| SlurmOptions { jobs, nodes, ..options("") };
    let (jobs, nodes) = (shipped("jobs.json"), shipped("nodes.json"));
    let (once, _) = slurm(&with(vec![jobs.clone()], vec![nodes.clone()])).unwrap();
    let (twice, report) = slurm(&with(vec![jobs.clone(), jobs], vec![nodes.clone(), nodes])).unwrap();
    assert_eq!(shown(&twice), shown(&once));
    assert_eq!(report.count("jobs left out: named a second time"), 4, "{report}");
    assert_eq!(report.count("nodes left out: named a second time"), 4, "{report}");
}

#[test]
fn parts_of_arrays_and_heterogeneous_jobs_and_jobs_of_two_clusters_are_jobs_of_their_own() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("jobs.json").to_str().unwrap().to_owned();
    let wrapped = |set: bool| format!("{{\"set\": {set}, \"infinite\": false, \"number\": 0}}");
    let job = |own: &str| {
        format!(
            "{{\"job_id\": 7, \"user_name\": \"u\", \"job_state\": [\"PENDING\"], \"tres_req_str\": \"cpu=1,node=1\", {own}}}"
        )
    };
    let apart = [
        job(&format!("\"array_task_id\": {}", wrapped(false))),
        job(&format!("\"array_task_id\": {}", wrapped(true))),
        job("\"array_task_id\": 1"),
        job("\"het_job_offset\": 1"),
        job("\"cluster\": \"other\""),
    ];
    let same = job("\"array_task_id\": null");
    for (jobs, tasks, left_out) in
        [(apart.join(","), 5, 0), (format!("{},{same}", apart.join(",")), 5, 1), (same.clone(), 1, 0)]
    {
        std::fs::write(&path, format!("{{\"jobs\": [{jobs}]}}")).unwrap();
        let options = SlurmOptions { jobs: vec![path.clone()], ..options("nodes.json") };
        let (instance, report) = slurm(&options).unwrap();
        assert_eq!(instance.user(fairplan_instances::UserId(0)).tasks(), Some(tasks), "{report}");
        assert_eq!(report.count("jobs left out: named a second time"), left_out, "{report}");
    }
}

#[test]
fn running_jobs_on_nodes_left_out_are_told() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("jobs.json").to_str().unwrap().to_owned();
    // Node n3 is down.
    let jobs = std::fs::read_to_string(shipped("jobs.json")).unwrap();
    let running = "\"job_state\": \"RUNNING\",";
    std::fs::write(&path, jobs.replace(running, &format!("{running} \"nodes\": \"n[2-3]\","))).unwrap();
    let told = "jobs run on nodes left out: they count, and may run on the others";
    let with = |all_nodes| SlurmOptions { jobs: vec![path.clone()], all_nodes, ..options("nodes.json") };
    assert_eq!(slurm(&with(false)).unwrap().1.count(told), 1);
    assert_eq!(slurm(&with(true)).unwrap().1.count(told), 0);
}

#[test]
fn running_jobs_on_nodes_that_are_not_listed_are_told() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("jobs.json").to_str().unwrap().to_owned();
    let jobs = std::fs::read_to_string(shipped("jobs.json")).unwrap();
    let running = "\"job_state\": \"RUNNING\",";
    for (nodes, count) in [("n[2,77]", 1), ("n2", 0)] {
        std::fs::write(&path, jobs.replace(running, &format!("{running} \"nodes\": \"{nodes}\","))).unwrap();
        let options = SlurmOptions { jobs: vec![path.clone()], ..options("nodes.json") };
        let report = slurm(&options).unwrap().1;
        let told = "jobs run on nodes that are not listed: their tasks there count as waiting";
        assert_eq!(report.count(told), count, "{nodes}\n{report}");
    }
}

#[test]
fn users_are_accounts_or_partitions_when_asked_for() {
    for (owner, expected) in [
        ("account", ["physics", "physics@gpu+gpu:a100", "maths"]),
        ("partition", ["batch", "gpu@gpu+gpu:a100", "legacy"]),
    ] {
        let owner = owner.parse().unwrap();
        let (instance, _) = slurm(&SlurmOptions { owner, ..options("nodes.json") }).unwrap();
        assert_eq!(instance.users().map(|user| user.id().to_owned()).collect::<Vec<_>>(), expected);
    }
}

#[test]
fn an_empty_object_is_called_so() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("empty.json").display().to_string();
    for (text, told) in [
        ("{}", "is an empty object: expected a list nodes or sinfo"),
        ("{\"\": []}", "has \"\": expected a list nodes or sinfo"),
        (
            "{\"nodes\": null, \"meta\": {}}",
            "has meta, nodes that is no list: expected a list nodes or sinfo",
        ),
    ] {
        std::fs::write(&path, text).unwrap();
        let error = slurm(&SlurmOptions { nodes: vec![path.clone()], ..options("nodes.json") }).unwrap_err();
        assert!(error.to_string().contains(told), "{error}");
    }
}

#[test]
fn each_defect_is_named_with_file_object_field_and_value() {
    let defects = [
        ("nodes.json", "\"cpus\": 32", "\"cpus\": -32", "node g1: cpus = -32: must be a whole number >= 0"),
        (
            "nodes.json",
            "\"cpus\": 32",
            "\"cpus\": {\"set\": false, \"infinite\": false, \"number\": 0}",
            "node g1: cpus: is missing",
        ),
        (
            "nodes.json",
            "\"cpus\": 32",
            "\"cpus\": \"32\"",
            "node g1: cpus = \"32\": must be a number (without quotes)",
        ),
        ("nodes.json", "\"batch\", \"gpu\"", "1", "node g1: partitions: must be a text or a list of texts"),
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
    ];
    each_is_named(shipped, &defects, |file, path| {
        let mut options = options("nodes.json");
        let list = if file == "nodes.json" { &mut options.nodes } else { &mut options.jobs };
        *list = vec![path];
        slurm(&options).unwrap_err().to_string()
    });
}

#[test]
fn lists_of_elements_that_slurm_cut_off_and_arrays_that_run_few_at_once_are_told() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("jobs.json").to_str().unwrap().to_owned();
    let text = std::fs::read_to_string(shipped("jobs.json")).unwrap();
    std::fs::write(&path, text.replace("1-10:2%4", "1,3,5-9:2,...%4")).unwrap();
    let (_, report) = slurm(&SlurmOptions { jobs: vec![path], ..options("nodes.json") }).unwrap();
    let cut = "arrays whose list of elements Slurm cut off: those listed count (SLURM_BITSTR_LEN=0 squeue --json lists all)";
    assert_eq!(report.count(cut), 1, "{report}");
    assert_eq!(
        report.count("arrays that run only so many elements at once, which is left out"),
        1,
        "{report}"
    );
}

#[test]
fn a_real_cluster_of_both_generations_is_read() {
    let (Some(nodes), Some(jobs)) =
        (real_file("slurm/rivos/sinfo_out.json"), real_file("slurm/rivos/squeue_out.json"))
    else {
        return;
    };
    let options = SlurmOptions {
        nodes: vec![nodes],
        jobs: vec![jobs],
        grouping: TaskGrouping::User,
        ..Default::default()
    };
    let (instance, report) = slurm(&options).unwrap();
    // Four nodes, one of them down; one job runs, and an array of ten waits.
    assert_eq!(
        shown(&instance),
        ["cpu64-memory488.3Gi x3 64,500000", "bkd 1,124974.545455 x11 on cpu64-memory488.3Gi"]
    );
    assert_eq!(report.count("nodes left out: down"), 1);
}

/// What a cluster of two kinds of GPU nodes and one without looks like to the data parsers named: the same.
#[test]
fn every_data_parser_tells_the_same_cluster() {
    // Node and job fields of each; states, numbers and lists changed their shape.
    let parsers = [
        (
            "v0.0.37 and v0.0.38",
            r#""state": "idle", "state_flags": [], "cpus": 32, "real_memory": 262144"#,
            r#""state": "idle", "state_flags": ["DRAIN"], "cpus": 32, "real_memory": 262144"#,
            r#""job_state": "PENDING", "node_count": 2, "array_task_string": """#,
        ),
        (
            "v0.0.39",
            r#""state": "IDLE", "state_flags": [], "cpus": 32, "real_memory": 262144"#,
            r#""state": "IDLE+DRAIN", "cpus": 32, "real_memory": 262144"#,
            r#""job_state": "PENDING", "node_count": {"set": true, "infinite": false, "number": 2}, "array_task_string": """#,
        ),
        (
            "v0.0.40 to v0.0.44",
            r#""state": ["IDLE"], "cpus": 32, "real_memory": 262144"#,
            r#""state": ["IDLE", "MAINTENANCE"], "cpus": 32, "real_memory": 262144"#,
            r#""job_state": ["PENDING"], "node_count": {"set": true, "infinite": false, "number": 2}, "array_task_string": """#,
        ),
        (
            "v0.0.42 and later with complex values",
            r#""state": ["IDLE"], "cpus": 32, "real_memory": 262144"#,
            r#""state": ["MIXED", "POWER_DRAIN"], "cpus": 32, "real_memory": 262144"#,
            r#""job_state": ["PENDING"], "node_count": 2, "cpus": "Infinity", "array_task_string": null"#,
        ),
    ];
    let folder = tempfile::tempdir().unwrap();
    for (parser, open, shut, waiting) in parsers {
        let node = |name: &str, gres: &str, fields: &str| {
            format!(r#"{{"name": "{name}", "partitions": ["all"], "gres": "{gres}", {fields}}}"#)
        };
        let nodes = [
            node("p1", "gpu:p100:2(S:0-1),tmp:1860G", open),
            node("p2", "gpu:p100:2(S:0-1),tmp:1860G", open),
            node("h1", "gpu:h100:2,tmp:1860G", open),
            node("h2", "gpu:h100:2,tmp:1860G", open),
            node("c1", "tmp:1860G", shut),
        ];
        let job = |id: u32, asked: &str| {
            format!(
                r#"{{"job_id": {id}, "user_name": "u{id}", "partition": "all", {waiting}, "tres_req_str": "{asked}"}}"#
            )
        };
        let jobs = [
            job(1, "cpu=8,mem=1T,node=1,billing=8"),
            job(2, "cpu=2,mem=2G,node=2,billing=2,gres/gpu=4,gres/gpu:h100=4,gres/tmp=40G,license/matlab=1"),
            job(3, "cpu=2,mem=2G,node=2,billing=2,gres/gpu:v100=2"),
        ];
        let file = |name: &str, key: &str, list: &[String]| {
            let path = folder.path().join(name).to_str().unwrap().to_owned();
            std::fs::write(&path, format!(r#"{{"{key}": [{}]}}"#, list.join(", "))).unwrap();
            vec![path]
        };
        let options = SlurmOptions {
            nodes: file("nodes.json", "nodes", &nodes),
            jobs: file("jobs.json", "jobs", &jobs),
            grouping: TaskGrouping::User,
            ..Default::default()
        };
        let (instance, report) = slurm(&options).unwrap_or_else(|failure| panic!("{parser}: {failure}"));
        assert_eq!(
            shown(&instance),
            [
                "p100-cpu32-memory256Gi-gpu2-tmp1.8Ti x2 32,262144,2,1997159792640",
                "h100-cpu32-memory256Gi-gpu2-tmp1.8Ti x2 32,262144,2,1997159792640",
                "u1 4,524288,0,0 x2 on p100-cpu32-memory256Gi-gpu2-tmp1.8Ti+h100-cpu32-memory256Gi-gpu2-tmp1.8Ti",
                "u2@all+gpu:h100 1,1024,2,21474836480 x2 on h100-cpu32-memory256Gi-gpu2-tmp1.8Ti",
                "u3 1,1024,1,0 x2 on p100-cpu32-memory256Gi-gpu2-tmp1.8Ti+h100-cpu32-memory256Gi-gpu2-tmp1.8Ti",
            ],
            "{parser}"
        );
        assert_eq!(
            report.count("jobs ask for gpu:v100, which no node names: any type will do"),
            1,
            "{parser}"
        );
        assert_eq!(report.count("nodes"), 4, "{parser}\n{report}");
    }
}

fn with_accounts(file: String) -> SlurmOptions {
    SlurmOptions { accounts: vec![file], grouping: TaskGrouping::Tree, ..options("nodes.json") }
}

#[test]
fn accounts_are_groups_with_shares_and_limits_and_users_groups_in_them() {
    let (instance, report) = slurm(&with_accounts(shipped("accounts.json"))).unwrap();
    let told = tenants(&instance);
    let groups: Vec<&String> = told.iter().filter(|line| line.starts_with('[')).collect();
    assert_eq!(
        groups,
        [
            "[science] w3 most cpu=100 gpu=3",
            "[physics] <science w2",
            "[physics/ada] <physics w5",
            "[physics/bob] <physics w1 most memory=128000",
            "[maths] w1",
            "[maths/eve] <maths w1",
        ]
    );
    assert_eq!(instance.user(fairplan_instances::UserId(0)).id(), "physics/ada:cpu32-memory62.5Gi");
    for (count, what) in [
        (5, "accounts"),
        (2, "users in accounts"),
        (1, "associations of users in one partition, whose limits hold on its nodes"),
        (1, "associations with Fairshare=parent, taken as 1 share"),
        (1, "limits of billing left out, which no task is measured in"),
        (1, "owners of jobs that no association names, taken as 1 share"),
        (1, "groups left out: nothing runs or waits there"),
    ] {
        assert_eq!(report.count(what), count, "{what}\n{report}");
    }
    let accounts = SlurmOptions { owner: JobOwner::Account, ..with_accounts(shipped("accounts.json")) };
    let (instance, _) = slurm(&accounts).unwrap();
    assert!(tenants(&instance).contains(&"[physics] <science w2".to_owned()));
    assert!(instance.groups().iter().all(|group| !group.id.contains('/')));
}

/// A limit of one type of GPU holds on the nodes of that type, and is told where there is no such place.
#[test]
fn a_limit_of_one_type_of_gpu_holds_on_the_nodes_that_have_it() {
    let text = std::fs::read_to_string(shipped("accounts.json")).unwrap();
    let limited = |name: &str| {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("accounts.json").display().to_string();
        std::fs::write(&path, text.replace("\"name\": \"gpu\"", &format!("\"name\": \"{name}\""))).unwrap();
        let (instance, report) = slurm(&with_accounts(path)).unwrap();
        (tenants(&instance).remove(0), report)
    };
    let (science, _) = limited("gpu:a100");
    assert_eq!(science, "[science] w3 most cpu=100 most on g1 gpu=3");
    let (science, report) = limited("gpu:h100");
    assert_eq!(science, "[science] w3 most cpu=100");
    assert_eq!(report.count("limits of gpu:h100 left out: no node names the type"), 1, "{report}");
    let (_, report) = limited("fpga:x");
    assert_eq!(report.count("limits left out: no job asks for the resource"), 1, "{report}");
}

/// What Slurm limits in one partition was left out with the association of the partition.
#[test]
fn a_limit_of_a_user_in_one_partition_holds_on_its_nodes() {
    let text = std::fs::read_to_string(shipped("accounts.json")).unwrap();
    let in_partition = |account: &str, user: &str, partition: &str, tres: &str| {
        let stated = r#""user": "bob", "parent_account": "", "partition": "gpu", "shares_raw": 9}"#;
        let row = format!(
            r#""user": "bob", "parent_account": ""}}, {{"account": "{account}", "user": "{user}", "partition": "{partition}",
               "max": {{"tres": {{"total": [{tres}]}}}}}}"#
        );
        let text = text.replace(stated, &row);
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("accounts.json").display().to_string();
        std::fs::write(&path, text).unwrap();
        let (instance, report) = slurm(&with_accounts(path)).unwrap();
        let group = format!("[{account}/{user}]");
        (tenants(&instance).into_iter().find(|line| line.starts_with(&group)), report)
    };
    let cpus = r#"{"type": "cpu", "count": 16}"#;
    let (bob, report) = in_partition("physics", "bob", "gpu", cpus);
    assert_eq!(bob.unwrap(), "[physics/bob] <physics w1 most memory=128000 most on g1 cpu=16");
    let kept = "associations of users in one partition, whose limits hold on its nodes";
    assert_eq!(report.count(kept), 1, "{report}");
    // Of one type of GPU, in the partition.
    let gpus = r#"{"type": "gres", "name": "gpu:a100", "count": 1}"#;
    let (bob, _) = in_partition("physics", "bob", "gpu", gpus);
    assert_eq!(bob.unwrap(), "[physics/bob] <physics w1 most memory=128000 most on g1 gpu=1");
    // Ada's job of another partition may run there too: the limit would hold it.
    for (user, partition) in [("ada", "gpu"), ("bob", "nowhere")] {
        let (group, report) = in_partition("physics", user, partition, cpus);
        assert!(!group.unwrap().contains("most on"));
        assert_eq!(report.count(super::accounts::ELSEWHERE), 1, "{report}");
    }
    // A user of whom only this is known has the shares of it, and is in its account.
    let (eve, report) = in_partition("maths", "eve", "batch", cpus);
    assert!(eve.unwrap().starts_with("[maths/eve] <maths w1"));
    assert_eq!(report.count("owners of jobs that no association names, taken as 1 share"), 0, "{report}");
}

#[test]
fn limits_of_jobs_and_over_time_of_associations_are_counted() {
    let unset = r#"{"set": false, "infinite": true, "number": 0}"#;
    let association = |jobs: &str, per: &str, minutes: &str| {
        format!(
            r#"{{"associations": [{{"account": "root", "user": ""}}, {{"account": "physics", "user": "", "parent_account": "root", "shares_raw": 1,
                "max": {{"per": {{"account": {{"wall_clock": {jobs}}}}}, "jobs": {{"total": {jobs}, "per": {{"wall_clock": {unset}}}}}, "tres": {{"total": [], "per": {{"job": {per}, "node": []}},
                "minutes": {{"total": {minutes}}}}}}}}}]}}"#
        )
    };
    let counted = |text: String| {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("accounts.json").display().to_string();
        std::fs::write(&path, text).unwrap();
        let (_, report) = slurm(&with_accounts(path)).unwrap();
        [
            "limits of jobs left out (MaxJobs, GrpJobs, MaxSubmitJobs, MaxWall)",
            "limits of single jobs or nodes left out (MaxTRES, MaxTRESPerNode)",
            "limits of resources over time left out (GrpTRESMins, MaxTRESMins, GrpTRESRunMins)",
            "limits of the time that all jobs run together left out (GrpWall)",
        ]
        .map(|what| report.count(what))
    };
    let cpu = r#"[{"type": "cpu", "name": "", "id": 1, "count": 8}]"#;
    assert_eq!(counted(association(unset, "[]", "[]")), [0, 0, 0, 0]);
    assert_eq!(
        counted(association(r#"{"set": true, "infinite": false, "number": 4}"#, cpu, cpu)),
        [1, 1, 1, 1]
    );
}

#[test]
fn shares_as_sshare_prints_them_are_the_same_tree() {
    let (instance, report) = slurm(&with_accounts(shipped("shares.json"))).unwrap();
    let told = tenants(&instance);
    assert_eq!(told[..2], ["[physics] w2", "[physics/ada] <physics w0.001"], "{told:?}");
    assert_eq!(report.count("associations of 0 shares, taken as a thousandth of one"), 1);
}

#[test]
fn associations_are_those_of_the_cluster_that_the_jobs_name() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, content: String| {
        let path = folder.path().join(name);
        std::fs::write(&path, content).unwrap();
        path.display().to_string()
    };
    let account = |cluster: &str, shares: u32| {
        format!(
            r#"{{"account": "physics", "parent_account": "", "cluster": "{cluster}", "shares_raw": {shares}}}"#
        )
    };
    let job = |cluster: &str| {
        let features = r#""features": "nvme", "hold": true, "licenses": "matlab:1""#;
        format!(
            r#"{{"jobs": [{{"job_id": 1, {cluster} {features}, "user_name": "u", "account": "physics", "job_state": "PENDING",
                "partition": "batch", "cpus": 1, "tres_req_str": "cpu=1,mem=1G,node=1"}}]}}"#
        )
    };
    let both = format!(r#"{{"associations": [{}, {}]}}"#, account("other", 99), account("here", 10));
    let accounts = write("accounts.json", both);
    let read = |cluster: &str| {
        let jobs = vec![write("jobs.json", job(cluster))];
        slurm(&SlurmOptions { jobs, ..with_accounts(accounts.clone()) })
    };
    let (instance, report) = read(r#""cluster": "here","#).unwrap();
    assert_eq!(instance.groups()[0].weight, Decimal::from(10));
    for counted in [
        "associations left out: they are of another cluster than the jobs",
        "jobs with features, required or excluded nodes, which are not kept: here they may run on the others too",
        "jobs with licenses or a reservation, which are not looked at",
        "jobs held, or waiting for other jobs or their begin time, counted like the others",
    ] {
        assert_eq!(report.count(counted), 1, "{report}");
    }
    for (cluster, told) in [
        ("", "clusters of the associations = here, other: the jobs name none; give those of one"),
        (r#""cluster": "third","#, "= here, other: the jobs are of third; give those of one"),
    ] {
        let refused = read(cluster).unwrap_err().to_string();
        assert!(refused.contains(told), "{refused}");
    }
}

#[test]
fn lost_parents_circles_of_accounts_and_bad_shares_are_refused() {
    let defects = [
        (
            "accounts.json",
            "\"parent_account\": \"science\"",
            "\"parent_account\": \"arcana\"",
            "association physics: parent = arcana: there is no such account",
        ),
        (
            "accounts.json",
            "\"parent_account\": \"root\", \"shares_raw\": 3",
            "\"parent_account\": \"physics\", \"shares_raw\": 3",
            "association science: parent = physics: the account is below itself",
        ),
        ("accounts.json", "\"shares_raw\": 5", "\"shares_raw\": -5", "association 4: shares_raw = -5"),
        ("accounts.json", "\"count\": 100}", "\"count\": -1}", "association 2: max.tres.total.count = -1"),
        ("accounts.json", "associations", "assocs", "expected a list associations or shares"),
    ];
    each_is_named(shipped, &defects, |_, path| {
        let refused = slurm(&with_accounts(path)).unwrap_err().to_string();
        assert!(!refused.contains("nodes.json") && !refused.contains("jobs.json"), "{refused}");
        refused
    });
    let shapes = SlurmOptions { grouping: TaskGrouping::Shape, ..with_accounts(shipped("accounts.json")) };
    assert!(
        slurm(&shapes).unwrap_err().to_string().contains("accounts are groups of users; choose --group tree")
    );
}

/// The shipped nodes, and one with GPUs more, with jobs of these fields.
fn with_jobs(jobs: &[&str]) -> Result<(PresentCluster, ImportReport), String> {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: String| {
        let path = folder.path().join(name).to_str().unwrap().to_owned();
        std::fs::write(&path, text).unwrap();
        path
    };
    let job = |(id, fields): (usize, &&str)| {
        format!("{{\"job_id\": {id}, \"user_name\": \"u{id}\", \"partition\": \"all\", {fields}}}")
    };
    let jobs: Vec<String> = jobs.iter().enumerate().map(job).collect();
    let node = |name: &str, gres: &str| {
        format!(
            "{{\"name\": \"{name}\", \"cpus\": 64, \"real_memory\": 1024, \"gres\": \"{gres}\", \"state\": \"idle\", \"partitions\": [\"all\"]}}"
        )
    };
    let nodes = [node("a1", "gpu:h100:4"), node("a2", "gpu:h100:4"), node("b1", "gpu:4"), node("c1", "")];
    let options = SlurmOptions {
        nodes: vec![write("nodes.json", format!("{{\"nodes\": [{}]}}", nodes.join(",")))],
        jobs: vec![write("jobs.json", format!("{{\"jobs\": [{}]}}", jobs.join(",")))],
        grouping: TaskGrouping::Shape,
        ..Default::default()
    };
    slurm_present(&options).map_err(|failure| failure.to_string())
}

const WAITS: &str =
    "\"job_state\": \"PENDING\", \"node_count\": 2, \"tres_req_str\": \"cpu=2,mem=4M,node=2\"";

#[test]
fn generic_resources_are_read_where_slurm_does_not_account_for_them() {
    for (asked, user, told) in [
        ("\"tres_per_job\": \"gres/gpu:8\"", "u0:cpu1-memory2Mi-gpu4", ""),
        ("\"tres_per_node\": \"gres/gpu:h100:4\"", "u0:cpu1-memory2Mi-gpu4@all+gpu:h100", ""),
        ("\"tres_per_node\": \"gpu:4\"", "u0:cpu1-memory2Mi-gpu4", ""),
        ("\"tres_per_node\": \"gres:gpu:h100:3\"", "u0:cpu1-memory2Mi-gpu3@all+gpu:h100", ""),
        ("\"tres_per_task\": \"cpu=1,gres/gpu=1\", \"tasks\": 4", "u0:cpu1-memory2Mi-gpu2", ""),
        (
            "\"tres_per_task\": \"gres/gpu:1\"",
            "u0:cpu1-memory2Mi-gpu1",
            "jobs ask for gpu by the task and state no number of tasks: one a node is counted",
        ),
        ("\"tres_per_socket\": \"gres/gpu:1\", \"sockets_per_node\": 2", "u0:cpu1-memory2Mi-gpu2", ""),
        (
            "\"tres_per_socket\": \"gres/gpu:1\"",
            "u0:cpu1-memory2Mi-gpu1",
            "jobs ask for gpu by the socket and state no number of sockets: one a node is counted",
        ),
        // What Slurm accounts for counts as it says.
        (
            "\"tres_req_str\": \"cpu=2,mem=4M,node=2,gres/gpu=2\", \"tres_per_job\": \"gres/gpu:8\"",
            "u0:cpu1-memory2Mi-gpu1",
            "",
        ),
        (
            "\"tres_per_job\": \"gres/gpu:3\"",
            "u0:cpu1-memory2Mi-gpu1.5",
            "jobs whose gpus are not a whole number a node: they count as spread evenly",
        ),
    ] {
        let fields = match asked.contains("tres_req_str") {
            true => format!("\"job_state\": \"PENDING\", {asked}"),
            false => format!("{WAITS}, {asked}"),
        };
        let (cluster, report) = with_jobs(&[&fields]).unwrap();
        assert_eq!(cluster.instance.user(fairplan_instances::UserId(0)).id(), user, "{asked}");
        if !told.is_empty() {
            assert_eq!(report.count(told), 1, "{asked}: {report}");
        }
    }
    let refused = with_jobs(&[&format!("{WAITS}, \"tres_per_job\": \"gres/gpu:h100:x\"")]).unwrap_err();
    assert!(refused.contains("job 0: tres_per_job = gpu:h100:x"), "{refused}");
}

#[test]
fn memory_is_read_by_the_node_or_the_cpu_where_no_sum_is_stated() {
    let number = |of: &str, number: u64| {
        format!("\"memory_per_{of}\": {{\"set\": true, \"infinite\": false, \"number\": {number}}}")
    };
    let not_set = "\"memory_per_cpu\": {\"set\": false, \"infinite\": false, \"number\": 7}";
    let sums = "\"cpus\": 8, \"node_count\": 2";
    for (fields, user, without) in [
        (format!("{sums}, {}, {not_set}", number("node", 96)), "u0:cpu4-memory96Mi", 0),
        (format!("{sums}, {}, {}", number("node", 96), number("cpu", 0)), "u0:cpu4-memory96Mi", 0),
        (format!("{sums}, {}, {}", number("node", 0), number("cpu", 3)), "u0:cpu4-memory12Mi", 0),
        (format!("{sums}, \"memory_per_node\": 96"), "u0:cpu4-memory96Mi", 0),
        (format!("{sums}, {}, {not_set}", number("node", 0)), "u0:cpu4", 1),
        (sums.to_owned(), "u0:cpu4", 1),
        // A sum that is stated counts; one that says nothing of memory leaves it open.
        (
            format!("\"tres_req_str\": \"cpu=8,mem=4M,node=2\", {}", number("node", 96)),
            "u0:cpu4-memory2Mi",
            0,
        ),
        (format!("\"tres_req_str\": \"cpu=8,node=2\", {}", number("cpu", 3)), "u0:cpu4-memory12Mi", 0),
    ] {
        let (cluster, report) = with_jobs(&[&format!("\"job_state\": \"PENDING\", {fields}")]).unwrap();
        assert_eq!(cluster.instance.user(fairplan_instances::UserId(0)).id(), user, "{fields}");
        assert_eq!(
            report.count("jobs state no memory: none is counted for them"),
            without,
            "{fields}: {report}"
        );
    }
    for (of, wrong, problem) in [("node", "1.5", "whole number"), ("cpu", "999999999999999", "too much")] {
        let fields = format!("\"cpus\": 999999999999999, \"memory_per_{of}\": {wrong}");
        let refused = with_jobs(&[&format!("\"job_state\": \"PENDING\", {fields}")]).unwrap_err();
        assert!(refused.contains(&format!("job 0: memory_per_{of} = {wrong}")), "{refused}");
        assert!(refused.contains(problem), "{refused}");
    }
}

#[test]
fn what_is_special_about_nodes_and_does_not_close_them_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: String| {
        let path = folder.path().join(name).display().to_string();
        std::fs::write(&path, text).unwrap();
        path
    };
    let node = |(n, (state, gres)): (usize, (&str, &str))| {
        format!(
            "{{\"name\": \"a{n}\", \"cpus\": 64, \"real_memory\": 1024, \"gres\": \"{gres}\", \"state\": {state}, \"partitions\": [\"all\"]}}"
        )
    };
    let states = [
        ("[\"IDLE\", \"RESERVED\"]", ""),
        ("\"free\"", ""),
        ("\"idle*\"", ""),
        ("\"alloc$\"", ""),
        ("\"mix~\"", "gpu:h100:2,gpu:h200:4"),
        ("\"idle\"", "gpu:h100:2,shard:h100:8"),
        ("[\"MIXED\", \"PLANNED\"]", ""),
    ];
    let nodes: Vec<String> = states.into_iter().enumerate().map(node).collect();
    let options = SlurmOptions {
        nodes: vec![write("nodes.json", format!("{{\"nodes\": [{}]}}", nodes.join(",")))],
        jobs: vec![write("jobs.json", format!("{{\"jobs\": [{{\"job_id\": 1, {WAITS}}}]}}"))],
        ..Default::default()
    };
    let (_, report) = slurm(&options).unwrap();
    for (count, what) in [
        (5, "nodes"),
        (1, "nodes left out: not_responding"),
        (1, "nodes left out: maintenance"),
        (1, "nodes reserved for some jobs, which count for everybody"),
        (1, "nodes in state free, which is not known: they count"),
        (
            1,
            "nodes with several types of a generic resource, counted together: a job that asks for one may be given others",
        ),
    ] {
        assert_eq!(report.count(what), count, "{what}\n{report}");
    }
    let wrong = std::fs::read_to_string(&options.nodes[0]).unwrap().replacen("64", "\"64\"", 1);
    let refused = slurm(&SlurmOptions { nodes: vec![write("wrong.json", wrong)], ..options }).unwrap_err();
    assert!(refused.to_string().contains("node a0: cpus = \"64\": must be a number"), "{refused}");
}

#[test]
fn generic_resources_that_no_job_asks_for_are_told() {
    let (cluster, report) = with_jobs(&[WAITS]).unwrap();
    assert_eq!(cluster.instance.resources(), ["cpu", "memory"]);
    assert_eq!(report.count("nodes have gpu, which no job asks for: it is left out"), 3, "{report}");
}

/// What tasks run on each node.
fn running_on(cluster: &PresentCluster) -> Vec<String> {
    let names = cluster.instance.classes().iter().flat_map(|class| &class.names);
    let there = names.zip(&cluster.placement.servers).filter(|(_, tasks)| !tasks.is_empty());
    let shown = |(name, tasks): (&String, &fairplan_instances::ServerTasks)| {
        let one = |(user, count): &(u32, u64)| {
            let user = cluster.instance.user(fairplan_instances::UserId(*user as usize));
            format!(" {count} x {}", user.id())
        };
        format!("{name}:{}", tasks.iter().map(one).collect::<String>())
    };
    there.map(shown).collect()
}

#[test]
fn a_running_job_is_a_task_on_each_node_of_the_size_that_it_has_there() {
    let runs = "\"job_state\": [\"RUNNING\"], \"nodes\": \"a[1-2],b1\", \"tres_alloc_str\": \"cpu=128,mem=64M,node=3\"";
    let on = |name: &str, cpus: u64, memory: u64| {
        format!(
            "{{\"name\": \"{name}\", \"cpus\": {{\"count\": {cpus}, \"used\": 0}}, \"memory\": {{\"used\": 0, \"allocated\": {memory}}}}}"
        )
    };
    let nodes = [on("a1", 44, 22), on("a2", 64, 32), on("b1", 20, 10)].join(",");
    let listed = format!(
        "{runs}, \"job_resources\": {{\"nodes\": {{\"list\": \"a[1-2],b1\", \"allocation\": [{nodes}]}}}}"
    );
    let by_position = format!(
        "{runs}, \"job_resources\": {{\"nodes\": \"a[1-2],b1\", \"allocated_nodes\": {{\"0\": {{\"cpus\": 44, \"memory\": 22}}, \
         \"2\": {{\"cpus\": 20, \"memory\": 10}}, \"1\": {{\"cpus\": 64, \"memory\": 32}}}}}}"
    );
    let even = "jobs whose cpus are not a whole number a node: they count as spread evenly";
    for job in [&listed, &by_position] {
        let (cluster, report) = with_jobs(&[job]).unwrap();
        let expected =
            ["a1: 1 x u0:cpu44-memory22Mi", "a2: 1 x u0:cpu64-memory32Mi", "b1: 1 x u0:cpu20-memory10Mi"];
        let mut found = running_on(&cluster);
        found.sort();
        assert_eq!(found, expected, "{job}");
        assert_eq!(report.count(even), 0, "{report}");
    }
    // GPUs node by node too, in the order of the nodes; who holds other than it asks for may still run where it asks.
    let gpus =
        format!("{listed}, \"gres_detail\": [\"gpu:h100:1(IDX:0)\", \"gpu:h100:3(IDX:0-2)\", \"gpu:2\"]");
    let (cluster, _) = with_jobs(&[&gpus]).unwrap();
    let mut found = running_on(&cluster);
    found.sort();
    assert_eq!(
        found,
        [
            "a1: 1 x u0:cpu44-memory22Mi-gpu1",
            "a2: 1 x u0:cpu64-memory32Mi-gpu3",
            "b1: 1 x u0:cpu20-memory10Mi-gpu2"
        ]
    );
    // What does not add up to what the job has is no more believed than if it were not there.
    for job in [runs.to_owned(), listed.replace("\"count\": 44", "\"count\": 43")] {
        let (cluster, report) = with_jobs(&[&job]).unwrap();
        assert!(running_on(&cluster)[0].contains("cpu42.666666667"), "{job}");
        assert_eq!(report.count(even), 1, "{report}");
    }
    // A waiting job runs nowhere, whatever nodes it names.
    let (cluster, _) = with_jobs(&[&listed.replace("RUNNING", "PENDING")]).unwrap();
    assert_eq!(running_on(&cluster), [""; 0]);
}

#[test]
fn answers_that_say_of_themselves_that_they_failed_are_refused_with_their_words() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("jobs.json").to_str().unwrap().to_owned();
    for (errors, told) in [
        (
            r#"[{"error_number": 2011, "error": "Zero Bytes", "source": "slurm_load_jobs", "description": "Failure to query"}]"#,
            "jobs.json: errors: Slurm could not answer: Zero Bytes (slurm_load_jobs: Failure to query); ask again with `squeue --json`",
        ),
        (
            r#"[{"error": "Protocol authentication error"}]"#,
            "could not answer: Protocol authentication error; ask",
        ),
        (r#"["no"]"#, "could not answer: no; ask"),
    ] {
        std::fs::write(&path, format!("{{\"errors\": {errors}, \"warnings\": [1], \"jobs\": []}}")).unwrap();
        let options = SlurmOptions { jobs: vec![path.clone()], ..options("nodes.json") };
        let refused = slurm(&options).unwrap_err().to_string();
        assert!(refused.contains(told), "{refused}");
    }
    let jobs = std::fs::read_to_string(shipped("jobs.json")).unwrap();
    std::fs::write(&path, jobs.replacen('{', "{\"warnings\": [{\"description\": \"old\"}], ", 1)).unwrap();
    assert!(slurm(&SlurmOptions { jobs: vec![path], ..options("nodes.json") }).is_ok());
}

#[test]
fn what_sacct_prints_is_refused_as_such_and_jobs_without_a_partition_are_told() {
    let refused = with_jobs(&["\"state\": {\"current\": [\"RUNNING\"]}"]).unwrap_err();
    assert!(
        refused.contains("as in what `sacct --json` prints; write what `squeue --json` prints"),
        "{refused}"
    );
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| {
        let path = folder.path().join(name).to_str().unwrap().to_owned();
        std::fs::write(&path, text).unwrap();
        path
    };
    let node = r#"{"nodes": [{"name": "a", "cpus": 64, "real_memory": 1024, "state": "idle", "partitions": ["all"]}]}"#;
    let jobs = format!("{{\"jobs\": [{{\"job_id\": 1, \"user_name\": \"u\", {WAITS}}}]}}");
    let options = SlurmOptions {
        nodes: vec![write("nodes.json", node)],
        jobs: vec![write("jobs.json", &jobs)],
        ..Default::default()
    };
    let (_, report) = slurm(&options).unwrap();
    assert_eq!(report.count("jobs state no partition: they may run everywhere"), 1, "{report}");
}

#[test]
fn jobs_that_ask_for_one_switch_are_gangs_within_one() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| {
        let path = folder.path().join(name).to_str().unwrap().to_owned();
        std::fs::write(&path, text).unwrap();
        path
    };
    let node = |name: &str| {
        format!(
            "{{\"name\": \"{name}\", \"cpus\": 64, \"real_memory\": 1024, \"state\": \"idle\", \"partitions\": [\"all\"]}}"
        )
    };
    let nodes: Vec<String> = ["a1", "a2", "b1", "b2", "c1"].map(node).into();
    let job = |id: u64, switches: &str| {
        format!("{{\"job_id\": {id}, \"user_name\": \"u{id}\", \"required_switches\": {switches}, {WAITS}}}")
    };
    let jobs = [job(1, "1"), job(2, "2"), job(3, "{\"set\": false, \"number\": 0}")];
    let options = SlurmOptions {
        nodes: vec![write("nodes.json", &format!("{{\"nodes\": [{}]}}", nodes.join(",")))],
        jobs: vec![write("jobs.json", &format!("{{\"jobs\": [{}]}}", jobs.join(",")))],
        grouping: TaskGrouping::Shape,
        rules: true,
        ..Default::default()
    };
    let not_kept = "jobs that are to run below so many switches (--switches), which is not kept";
    let (instance, report) = slurm(&options).unwrap();
    assert_eq!((instance.domains().len(), report.count(not_kept)), (0, 2), "{report}");
    let tree = "# two leaves\nSwitchName=s1 Nodes=a[1-2]\nswitchname=s2 Nodes=b[1-2]\nSwitchName=top Switches=s[1-2]\n";
    let with = |text: &str| SlurmOptions { topology: vec![write("t.conf", text)], ..options.clone() };
    let (instance, report) = slurm(&with(tree)).unwrap();
    let mut domains = instance.domains().to_vec();
    domains.sort();
    assert_eq!(domains, ["no switch", "s1", "s2"]);
    let gangs: Vec<bool> =
        instance.users().map(|user| user.gang().is_some_and(|gang| gang.in_one_domain)).collect();
    assert_eq!((gangs, report.count(not_kept)), (vec![true, false, false], 1), "{report}");
    // Some editors write a byte order mark before the text.
    assert_eq!(slurm(&with(&format!("\u{feff}{tree}"))).unwrap().0.domains().len(), 3);
    let told = |options: &SlurmOptions| slurm(options).unwrap_err().to_string();
    let (_, report) = slurm(&with("SwitchName=s1 Nodes=a1\nSwitchName=s2 Nodes=a[1-2]\n")).unwrap();
    assert_eq!(report.count("nodes on several switches, of which the first counts"), 1, "{report}");
    let other = told(&with("BlockName=b1 Nodes=a1\n"));
    assert!(other.contains("t.conf: line 1: names no switch"), "{other}");
    let alone = told(&SlurmOptions { rules: false, ..with(tree) });
    assert!(alone.contains("add --rules"), "{alone}");
}

#[test]
fn shards_of_gpus_are_parts_of_devices_where_each_gpu_is_as_many() {
    let read = |gres: [&str; 2]| {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: String| {
            let path = folder.path().join(name).display().to_string();
            std::fs::write(&path, text).unwrap();
            path
        };
        let node = |(n, gres): (usize, &str)| {
            format!(
                "{{\"name\": \"a{n}\", \"cpus\": 64, \"real_memory\": 1024, \"gres\": \"{gres}\", \"state\": \"idle\", \"partitions\": [\"all\"]}}"
            )
        };
        let nodes: Vec<String> = gres.into_iter().enumerate().map(node).collect();
        let job = format!("{{\"job_id\": 1, \"tres_per_node\": \"gres/shard:3\", {WAITS}}}");
        let options = SlurmOptions {
            nodes: vec![write("nodes.json", format!("{{\"nodes\": [{}]}}", nodes.join(",")))],
            jobs: vec![write("jobs.json", format!("{{\"jobs\": [{job}]}}"))],
            grouping: TaskGrouping::Shape,
            rules: true,
            ..Default::default()
        };
        slurm(&options).unwrap()
    };
    let shards = fairplan_instances::ResourceId(2);
    let (instance, report) = read(["gpu:2,shard:8", "gpu:1,shard:4"]);
    assert_eq!(instance.resources()[2], "shard");
    assert_eq!(instance.device_size(shards).unwrap().to_f64(), 4.0, "{report}");
    let mut devices: Vec<_> = instance.classes().iter().map(|class| class.devices_of(shards)).collect();
    devices.sort();
    assert_eq!(devices, [Some(1), Some(2)]);
    let (instance, report) = read(["gpu:2,shard:8", "gpu:1,shard:6"]);
    assert_eq!(instance.device_size(shards), None);
    let what = "nodes have other numbers of shards a GPU, or no whole one: shards count as one amount";
    assert_eq!(report.count(what), 2, "{report}");
}

#[test]
fn jobs_that_take_whole_nodes_have_all_cpus_of_one_where_their_nodes_are_alike() {
    let whole = "jobs with whole nodes of their own (--exclusive): each counts with all cpus of one, and their memory where it is asked for by the cpu";
    let own = "jobs with nodes for their own user alone (--exclusive=user, mcs or topo), which is not kept";
    for (fields, cpus, told) in [
        ("\"shared\": [\"none\"]", "64", whole),
        ("\"exclusive\": true, \"shared\": []", "64", whole),
        ("\"exclusive\": [\"true\"]", "64", whole),
        ("\"shared\": \"none\"", "64", whole),
        ("\"shared\": [\"user\"]", "1", own),
        ("\"exclusive\": false, \"shared\": []", "1", ""),
        ("\"shared\": [\"oversubscribe\"]", "1", ""),
    ] {
        let (cluster, report) = with_jobs(&[&format!("{WAITS}, {fields}")]).unwrap();
        let user = cluster.instance.user(fairplan_instances::UserId(0));
        assert_eq!((user.demand()[0].to_string().as_str(), user.tasks()), (cpus, Some(2)), "{fields}");
        assert_eq!(
            report.count(whole) + report.count(own),
            u64::from(!told.is_empty()),
            "{fields}: {report}"
        );
        assert!(told.is_empty() || report.count(told) == 1, "{fields}: {report}");
    }
    // The memory of each cpu comes with it.
    let by_cpu = WAITS.replace(",mem=4M", "");
    let by_cpu = format!("{by_cpu}, \"memory_per_cpu\": 500, \"shared\": [\"none\"]");
    let (cluster, _) = with_jobs(&[&by_cpu]).unwrap();
    let user = cluster.instance.user(fairplan_instances::UserId(0));
    assert_eq!([0, 1].map(|r: usize| user.demand()[r].to_string()), ["64", "32000"]);
    // The shipped nodes of the partition have different numbers of cpus.
    let folder = tempfile::tempdir().unwrap();
    let jobs = folder.path().join("jobs.json").to_str().unwrap().to_owned();
    let text = std::fs::read_to_string(shipped("jobs.json")).unwrap();
    std::fs::write(&jobs, text.replace("\"job_id\": 4,", "\"job_id\": 4, \"exclusive\": true,")).unwrap();
    let (_, report) = slurm(&SlurmOptions { jobs: vec![jobs], ..options("nodes.json") }).unwrap();
    assert_eq!(report.count(NOT_WHOLE), 1, "{report}");
}

#[test]
fn parts_of_heterogeneous_jobs_are_told() {
    let part = |id: &str| format!("{WAITS}, \"het_job_id\": {id}");
    let wrapped = |number: u64| format!("{{\"set\": true, \"infinite\": false, \"number\": {number}}}");
    let jobs = [part("16"), part(&wrapped(16)), part(&wrapped(0)), part("0")];
    let (_, report) = with_jobs(&jobs.each_ref().map(String::as_str)).unwrap();
    let told = "jobs in heterogeneous jobs, whose parts start together: here each starts for itself";
    assert_eq!(report.count(told), 2, "{report}");
}

#[test]
fn what_jobs_ask_for_beside_amounts_is_told_in_the_fields_that_squeue_prints() {
    let told = |fields: &str| {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("jobs.json").display().to_string();
        let text = format!(
            r#"{{"jobs": [{{"job_id": 1, {fields}, "user_name": "u", "account": "a", "job_state": ["PENDING"], "partition": "batch", "cpus": 2,
                "node_count": 1, "tres_req_str": "cpu=2,mem=1G,node=1"}}]}}"#
        );
        std::fs::write(&path, text).unwrap();
        let (_, report) = slurm(&SlurmOptions { jobs: vec![path], ..options("nodes.json") }).unwrap();
        report.to_string()
    };
    let set = |number: u32| format!(r#"{{"set": true, "infinite": false, "number": {number}}}"#);
    for (fields, what) in [
        (r#""resv_name": "maint""#.to_owned(), "1 job with licenses or a reservation"),
        (r#""state_reason": "BeginTime""#.to_owned(), "1 job held, or waiting"),
        (r#""state_reason": "JobHeldUser""#.to_owned(), "1 job held, or waiting"),
        (format!(r#""minimum_cpus_per_node": {}"#, set(4)), "--mincpus"),
        (format!(r#""threads_per_core": {}"#, set(1)), "--threads-per-core"),
        (r#""core_spec": 2"#.to_owned(), "--core-spec"),
        (r#""thread_spec": 2"#.to_owned(), "--thread-spec"),
    ] {
        let report = told(&fields);
        assert!(report.contains(what), "{fields}\n{report}");
    }
    // What squeue prints where nothing is asked for.
    let usual = format!(
        r#""resv_name": "", "state_reason": "Resources", "minimum_cpus_per_node": {}, "threads_per_core": {{"set": false, "infinite": false,
            "number": 0}}, "core_spec": 0, "thread_spec": 32766"#,
        set(1)
    );
    let report = told(&usual);
    assert!(
        !report.contains("not kept") && !report.contains("reservation") && !report.contains("held"),
        "{report}"
    );
}
