//! Clusters as their own tools print them: imported, solved and verified, and what is refused.

use super::{Folder, root, text};
use serde_json::Value;

/// The example of an import's help, as words.
fn example(source: &str) -> Vec<String> {
    let folder = Folder::new();
    let help = folder.done(&["import", source, "--help"]);
    let (_, example) = help.split_once("Example: fairplan ").unwrap_or_else(|| panic!("{source}: {help}"));
    // A long line goes on behind a backslash.
    example.split_whitespace().filter(|word| *word != "\\").map(str::to_owned).collect()
}

#[test]
fn the_example_of_each_imports_help_makes_an_instance_that_is_solved_and_verified() {
    for (source, command) in [
        ("kubernetes", "kubectl get nodes -o json"),
        ("slurm", "squeue --json"),
        ("yarn", "ws/v1/cluster/nodes"),
        ("kubernetes-queues", "kubectl get queues"),
        ("kueue", "kubectl get clusterqueues"),
    ] {
        let folder = Folder::new();
        let help = folder.done(&["import", source, "--help"]);
        assert!(help.split_whitespace().collect::<Vec<_>>().join(" ").contains(command), "{source}: {help}");
        let words = example(source);
        let mut words: Vec<&str> = words.iter().map(String::as_str).collect();
        let cluster = folder.path("cluster.json");
        words.extend(["-o", cluster.to_str().unwrap()]);
        let imported = folder.command(&words).current_dir(root()).output().unwrap();
        assert_eq!(imported.status.code(), Some(0), "{source}: {}", text(&imported.stderr));
        folder.done(&["solve", "cluster.json", "-o", "solution.json"]);
        folder.done(&["verify", "cluster.json", "solution.json"]);
        // Placing knows no quotas yet.
        folder.done(&[
            "convert",
            "cluster.json",
            "--without",
            "guarantees,limits,reserves",
            "-o",
            "plain.json",
        ]);
        folder.done(&["place", "plain.json"]);
    }
}

#[test]
fn a_queue_of_kueue_with_flavors_in_several_groups_gets_what_its_flavors_allow_together() {
    let folder = Folder::new();
    let node = |name: &str, capacity: &str, gpu: &str, cpu: u64, gpus: u64| {
        format!(
            "kind: Node\nmetadata: {{name: {name}, labels: {{capacity: {capacity}, gpu: {gpu}}}}}\n\
             status: {{allocatable: {{cpu: {cpu}, nvidia.com/gpu: {gpus}}}}}\n---\n"
        )
    };
    let nodes = node("n1", "on-demand", "a100", 32, 8)
        + &node("n2", "on-demand", "t4", 16, 4)
        + &node("n3", "spot", "t4", 16, 4);
    folder.write("nodes.yaml", nodes);
    let api = "apiVersion: kueue.x-k8s.io/v1beta2";
    let flavor = |name: &str, label: &str| {
        format!(
            "{api}\nkind: ResourceFlavor\nmetadata: {{name: {name}}}\nspec: {{nodeLabels: {{{label}: {name}}}}}\n---\n"
        )
    };
    let quota = |flavor: &str, resource: &str, nominal: u64| {
        format!("{{name: {flavor}, resources: [{{name: {resource}, nominalQuota: {nominal}}}]}}")
    };
    let (cpu, gpu) = ("cpu", "nvidia.com/gpu");
    let queues = [flavor("on-demand", "capacity"), flavor("spot", "capacity"), flavor("a100", "gpu")]
        .concat()
        + &flavor("t4", "gpu")
        + &format!(
            "{api}\nkind: ClusterQueue\nmetadata: {{name: team}}\nspec: {{resourceGroups: [{{flavors: [{}, {}]}}, {{flavors: [{}, {}]}}]}}\n\
             ---\n{api}\nkind: LocalQueue\nmetadata: {{name: lq, namespace: ns}}\nspec: {{clusterQueue: team}}\n---\n{api}\nkind: Workload\n\
             metadata: {{name: job, namespace: ns}}\nspec: {{queueName: lq, podSets: [{{count: 100, template: {{spec: {{containers: \
             [{{resources: {{requests: {{cpu: 4, nvidia.com/gpu: 1}}}}}}]}}}}}}]}}\n",
            quota("on-demand", cpu, 8),
            quota("spot", cpu, 12),
            quota("a100", gpu, 4),
            quota("t4", gpu, 2),
        );
    folder.write("queues.yaml", queues);
    folder.done(&["import", "kueue", "queues.yaml", "--nodes", "nodes.yaml", "-o", "cluster.json"]);
    folder.done(&["solve", "cluster.json", "-o", "solution.json"]);
    folder.done(&["verify", "cluster.json", "solution.json"]);
    let solution: Value = serde_json::from_str(&folder.read("solution.json")).unwrap();
    // Two tasks on all on-demand nodes together, and on T4s together: the spot node holds both of these. Of one place with all quotas it
    // would be five, by 20 cores.
    let tasks = solution["users"][0]["tasks"].as_f64().unwrap();
    assert!((tasks - 4.0).abs() < 1e-6, "{tasks}");
}

#[test]
fn an_option_that_took_the_files_with_queues_is_named() {
    let folder = Folder::new();
    let told =
        folder.refused(&["import", "kueue", "--nodes", "nodes.yaml", "queues.yaml", "-o", "cluster.json"]);
    assert!(told.contains("there is no FILE with queues: --nodes takes all files behind it"), "{told}");
}

#[test]
fn published_tables_name_where_they_come_from_and_how_they_are_read() {
    for source in ["alibaba-gpu2023", "azure-v1"] {
        assert!(example(source).starts_with(&["import".to_owned(), source.to_owned()]), "{source}");
    }
}

#[test]
fn what_cannot_be_imported_is_refused_in_one_line() {
    let folder = Folder::new();
    let shipped = |path: &str| root().join("imports/data").join(path).to_str().unwrap().to_owned();
    let (nodes, pods) = (shipped("kubernetes/nodes.json"), shipped("kubernetes/pods.yaml"));
    folder.write("bad.json", std::fs::read_to_string(&nodes).unwrap().replace("3920m", "3920x"));
    folder.write("cut.json", &std::fs::read(&nodes).unwrap()[..500]);
    folder.write("bad.yaml", "kind: Pod\n\tmetadata: [\n");
    for (words, told) in [
        (vec!["import", "kubernetes", "--pods", &pods], "--nodes"),
        (
            vec!["import", "kubernetes", "--nodes", &pods, "--pods", &pods],
            "kind = Pod: there is no Node here",
        ),
        (
            vec!["import", "kubernetes", "--nodes", "bad.json", "--pods", &pods],
            "bad.json: Node worker-1: status.allocatable.cpu = 3920x",
        ),
        (vec!["import", "kubernetes", "--nodes", "cut.json", "--pods", &pods], "cut.json: line "),
        (vec!["import", "kubernetes", "--nodes", &nodes, "--pods", "bad.yaml"], "bad.yaml: line 1"),
        (vec!["import", "kubernetes", "--nodes", &nodes, "--pods", "none.json"], "none.json: No such file"),
        (
            vec!["import", "kubernetes", "--nodes", &nodes, "--pods", &pods, "--group-by", "x"],
            "choose namespace or label:KEY",
        ),
        (vec!["import", "slurm", "--nodes", &nodes, "--jobs", &nodes], "expected a list nodes or sinfo"),
        (vec!["import", "yarn", "--nodes", &nodes, "--queues", &nodes], "there are no nodes here"),
        (vec!["import", "kueue", &nodes], "there is no ClusterQueue"),
    ] {
        let line = folder.refused(&words);
        assert!(line.contains(told), "{words:?}: {line}");
    }
}

#[test]
fn where_nothing_is_left_the_counts_come_before_the_error() {
    let folder = Folder::new();
    folder.write("nodes.yaml", "kind: Node\nmetadata: {name: node}\nstatus: {allocatable: {cpu: 4}}\n");
    folder.write("pods.yaml", "kind: Pod\nmetadata: {name: pod}\nspec: {containers: [{name: main}]}\n");
    let words = ["import", "kubernetes", "--nodes", "nodes.yaml", "--pods", "pods.yaml"];
    let output = folder.run(&words);
    assert_eq!(output.status.code(), Some(2));
    let told = text(&output.stderr);
    let (counts, error) = told.trim_end().rsplit_once('\n').unwrap();
    assert!(counts.contains("1 pod without a status (taken as pending)\n"), "{told}");
    assert!(counts.contains("1 task left out: it asks for none of the resources"), "{told}");
    assert!(
        error.starts_with("error: nodes.yaml, pods.yaml: users: there are none: 1 task left out"),
        "{told}"
    );
    assert!(folder.refused(&[&words[..], &["--quiet"]].concat()).contains("users: there are none"));
}

#[test]
fn entitlements_differ_from_drfh_where_servers_differ_and_say_what_can_be_kept() {
    let folder = Folder::new();
    folder.instance("cluster.json", &fairplan_instances::generate::drfh_fig1().unwrap());
    let document: Value = serde_json::from_str(&folder.done(&["entitlements", "cluster.json"])).unwrap();
    // On a pool of (14, 14) each user would get 11.667 of its tasks; on the servers 10 of them fit.
    let user = &document["users"][0];
    assert!((user["drfh_share"].as_f64().unwrap() - 5.0 / 7.0).abs() < 1e-9, "{user}");
    for (rule, entitlement) in user["entitlements"].as_array().unwrap().iter().enumerate() {
        let share = [5.0 / 6.0, 5.0 / 6.0, 5.0 / 6.0, 0.5][rule];
        assert!(
            (entitlement["dominant_share"].as_f64().unwrap() - share).abs() < 1e-9,
            "{rule}: {entitlement}"
        );
        let difference = entitlement["difference"].as_f64().unwrap();
        assert!((difference - (share - 5.0 / 7.0)).abs() < 1e-9, "{rule}: {entitlement}");
        let kept = document["rules"][rule]["kept"].as_f64().unwrap();
        assert!((kept - (5.0 / 7.0 / share).min(1.0)).abs() < 1e-9, "{rule}: {kept}");
    }
}

#[test]
fn the_rule_of_yarn_is_drf_over_the_pool() {
    let folder = Folder::new();
    for (position, instance) in super::fixtures().iter().enumerate() {
        // DRF over the pool is solved for work, not tasks, where a class has rates.
        if instance.users().any(|user| !user.rule().rates().is_empty() || user.rule().eligible().is_some()) {
            continue;
        }
        folder.instance("cluster.json", instance);
        let drf: Value =
            serde_json::from_str(&folder.done(&["solve", "cluster.json", "--objective", "drf"])).unwrap();
        let rules: Value = serde_json::from_str(&folder.done(&["entitlements", "cluster.json"])).unwrap();
        for (solved, entitled) in
            drf["users"].as_array().unwrap().iter().zip(rules["users"].as_array().unwrap())
        {
            let (solved, entitled) =
                (&solved["dominant_share"], &entitled["entitlements"][0]["dominant_share"]);
            let (solved, entitled) = (solved.as_f64().unwrap(), entitled.as_f64().unwrap());
            assert!(
                (solved - entitled).abs() <= 1e-7 * solved.max(1e-3),
                "{position}: {solved} and {entitled}"
            );
        }
    }
}

#[test]
fn percentages_of_a_capacity_scheduler_over_nodes_of_several_shapes_are_kept() {
    let folder = Folder::new();
    let shipped = |path: &str| root().join("imports/data/yarn").join(path).to_str().unwrap().to_owned();
    let (nodes, queues) = (shipped("nodes.json"), shipped("capacity-scheduler.xml"));
    let told = folder.run(&["import", "yarn", "--nodes", &nodes, "--queues", &queues, "-o", "i.json"]);
    assert!(text(&told.stderr).contains("lowered to 70% of them"), "{}", text(&told.stderr));
    folder.done(&["solve", "i.json", "-o", "s.json"]);
    folder.done(&["verify", "i.json", "s.json"]);
}
