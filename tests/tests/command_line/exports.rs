//! `export`: what is written, what would change, whether it comes from a result, and what is refused.

use super::{Folder, root, text};
use std::process::Command;

const TARGETS: [&str; 7] = ["kueue", "yarn", "yarn-fair", "yunikorn", "volcano", "kai", "slurm"];

/// Nodes and pods of a real cluster as an instance, solved.
fn solved() -> Folder {
    let folder = Folder::new();
    folder.done(&["generate", "kubernetes-nodes", "-o", "nodes.json"]);
    folder.done(&["generate", "kubernetes-pods", "-o", "pods.json"]);
    folder.done(&[
        "import",
        "kubernetes",
        "--nodes",
        "nodes.json",
        "--pods",
        "pods.json",
        "-o",
        "cluster.json",
    ]);
    folder.done(&["solve", "cluster.json", "-o", "solution.json"]);
    folder
}

/// The words of an export of the cluster for a target.
fn export<'a>(target: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    [&["export", target, "cluster.json", "solution.json", "--memory-in", "bytes"], more].concat()
}

#[test]
fn each_target_gets_a_file_that_says_what_it_says_and_where_it_comes_from() {
    let folder = solved();
    for target in TARGETS {
        folder.done(&export(target, &["-o", "it", "--quotas", "quotas.json"]));
        assert_eq!(folder.done(&export(target, &["--current", "it"])), "", "{target}");
        folder.done(&["verify", "cluster.json", "solution.json", "--exported", "it"]);
        folder.done(&["verify", "cluster.json", "quotas.json", "--exported", "it"]);
        folder.done(&["report", "quotas.json", "-o", "page.html"]);
        let hard = folder.run(&export(target, &["--hard", "--headroom", "0.2", "--current", "it"]));
        assert_eq!(hard.status.code(), Some(1), "{target}: {}", text(&hard.stderr));
        assert!(text(&hard.stdout).contains(" -> "), "{target}");
        assert!(text(&hard.stderr).contains("would change"), "{target}");
        // What the target cannot be told is told in both modes.
        let written = folder.run(&export(target, &["--hard", "--headroom", "0.2", "-o", "hard"]));
        let has_notes = |output: &[u8]| text(output).contains("Note: ");
        assert_eq!(has_notes(&hard.stderr), has_notes(&written.stderr), "{target}: {}", text(&hard.stderr));
    }
}

#[test]
fn a_file_of_another_solution_and_forged_units_are_told() {
    let folder = solved();
    folder.done(&export("kueue", &["-o", "it.yaml", "--quotas", "quotas.json"]));
    let mut quotas: serde_json::Value = serde_json::from_str(&folder.read("quotas.json")).unwrap();
    let hash = quotas["solution_sha256"].as_str().unwrap();
    folder.write("other.yaml", folder.read("it.yaml").replace(hash, &"0".repeat(64)));
    let output = folder.run(&["verify", "cluster.json", "solution.json", "--exported", "other.yaml"]);
    assert_eq!(output.status.code(), Some(1), "{}", text(&output.stderr));
    assert!(text(&output.stderr).contains("names-the-solution"));
    let tenants = quotas["tenants"].as_array_mut().unwrap();
    let amount =
        tenants.iter_mut().flat_map(|tenant| tenant["amounts"].as_array_mut().unwrap()).next().unwrap();
    amount["units"] = 1_000_000.into();
    folder.write("forged.json", quotas.to_string());
    let output = folder.run(&["verify", "cluster.json", "forged.json"]);
    assert_eq!(output.status.code(), Some(1));
    let told = text(&output.stderr);
    assert!(told.contains("units-fit") && told.contains("within-one-unit"), "{told}");
}

#[test]
fn amounts_that_are_not_those_of_the_solution_fail_beside_it() {
    let folder = solved();
    folder.done(&export("yunikorn", &["-o", "it.yaml", "--quotas", "quotas.json"]));
    let beside = |file: &str| {
        let output = folder.run(&["verify", "cluster.json", "solution.json", "--exported", file]);
        (output.status.code(), text(&output.stderr))
    };
    assert_eq!(beside("quotas.json").0, Some(0), "{}", beside("quotas.json").1);
    assert_eq!(beside("it.yaml").0, Some(0), "{}", beside("it.yaml").1);
    let mut quotas: serde_json::Value = serde_json::from_str(&folder.read("quotas.json")).unwrap();
    for tenant in quotas["tenants"].as_array_mut().unwrap() {
        tenant["share"] = 0.0.into();
        for amount in tenant["amounts"].as_array_mut().unwrap() {
            (amount["exact"], amount["units"]) = (0.0.into(), 0.into());
        }
    }
    folder.write("zero.json", quotas.to_string());
    let (status, told) = beside("zero.json");
    assert_eq!(status, Some(1));
    assert!(told.contains("exported-amounts: ") && told.contains("by the solution"), "{told}");
    // Alone it leaves all to nobody, and one that holds says what it does not prove.
    let alone = |file: &str| folder.run(&["verify", "cluster.json", file]);
    let output = alone("zero.json");
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stderr).contains("used-up"), "{}", text(&output.stderr));
    let output = alone("quotas.json");
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    assert!(text(&output.stderr).starts_with("That these are the amounts of its solution is proved only"));
    let forged = folder.read("it.yaml").replacen("\"cpu\": \"", "\"cpu\": \"1", 1);
    let forged = forged.replacen("\"vcore\": \"", "\"vcore\": \"1", 1);
    folder.write("forged.yaml", forged);
    let (status, told) = beside("forged.yaml");
    assert_eq!(status, Some(1), "{told}");
    assert!(told.contains("exported-amounts: "), "{told}");
}

#[test]
fn a_config_map_is_what_is_deployed_as_it_is_what_is_imported() {
    let folder = solved();
    folder.done(&export("yunikorn", &["-o", "it.yaml"]));
    let inside: String = folder.read("it.yaml").lines().map(|line| format!("    {line}\n")).collect();
    let map =
        "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: yunikorn-configs\ndata:\n  queues.yaml: |\n";
    folder.write("map.yaml", map.to_owned() + &inside);
    assert_eq!(folder.done(&export("yunikorn", &["--current", "map.yaml"])), "");
}

#[test]
fn nodes_that_left_since_the_solution_are_another_instance() {
    let folder = solved();
    let mut nodes: serde_json::Value = serde_json::from_str(&folder.read("nodes.json")).unwrap();
    nodes["items"].as_array_mut().unwrap().pop();
    folder.write("fewer.json", nodes.to_string());
    folder.done(&["import", "kubernetes", "--nodes", "fewer.json", "--pods", "pods.json", "-o", "now.json"]);
    let refused = folder.refused(&["export", "kueue", "now.json", "solution.json"]);
    assert!(refused.contains("solution.json") && refused.contains("hash of another instance"), "{refused}");
}

/// A Cohort has no quota of its own of which it could keep something back.
#[test]
fn that_reserves_of_groups_do_not_reach_kueue_is_told() {
    let folder = Folder::new();
    let kept = |of_group: &str, of_user: &str| {
        format!(
            r#"{{"format": "fairplan.instance.v1", "resources": ["cpu"], "server_classes": [{{"id": "f", "count": 1, "capacity": {{"cpu": 10}}}}],
            "groups": [{{"id": "lab"{of_group}}}],
            "users": [{{"id": "a", "group": "lab", "demand": {{"cpu": 1}}{of_user}}}, {{"id": "b", "demand": {{"cpu": 1}}}}]}}"#
        )
    };
    let reserve = r#", "reserves": [{"classes": ["f"], "amounts": {"cpu": 2}}]"#;
    for (of_group, of_user, is_told) in [(reserve, "", true), ("", reserve, false)] {
        folder.write("i.json", kept(of_group, of_user));
        folder.done(&["-q", "solve", "i.json", "-o", "s.json"]);
        let told = folder.run(&["export", "kueue", "i.json", "s.json", "-o", "k.yaml"]);
        let told = text(&told.stdout) + &text(&told.stderr) + &folder.read("k.yaml");
        let note = "Kueue takes reserves of queues: those of lab are not told";
        assert_eq!(told.contains(note), is_told, "{of_group}{of_user}: {told}");
    }
}

#[test]
fn what_cannot_be_exported_names_the_option_and_the_value() {
    let folder = solved();
    let refused = |target: &str, more: &[&str], expected: &[&str]| {
        let line = folder.refused(&export(target, more));
        for part in expected {
            assert!(line.contains(part), "{more:?}: {line}");
        }
    };
    refused("kueue", &["--headroom", "1"], &["headroom = 1", "from 0 to below 1"]);
    refused("kueue", &["--unit", "cpus=1"], &["unit = cpus", "is no resource"]);
    refused("kueue", &["--unit", "cpu=0.0001"], &["unit cpu", "Kueue counts it in whole 0.001"]);
    refused("slurm", &["--unit", "cpu=100m"], &["unit cpu", "in whole 1"]);
    folder
        .write("old.yaml", "apiVersion: kueue.x-k8s.io/v1alpha2\nkind: ClusterQueue\nmetadata: {name: a}\n");
    refused(
        "kueue",
        &["--current", "old.yaml"],
        &["old.yaml", "v1alpha2", "v1beta1 or kueue.x-k8s.io/v1beta2"],
    );
    folder.write("empty.yaml", "kind: Pod\nmetadata: {name: a}\n");
    refused("volcano", &["--current", "empty.yaml"], &["empty.yaml", "no queue"]);
    for (words, expected) in
        [(&["--headroom", "-0.1"][..], "state a part of one"), (&["--unit", "cpu"][..], "RESOURCE=AMOUNT")]
    {
        let output = folder.run(&export("kueue", words));
        assert_eq!(output.status.code(), Some(2), "{words:?}");
        assert!(text(&output.stderr).contains(expected), "{words:?}: {}", text(&output.stderr));
    }
    let output = folder.run(&["export", "kueue", "cluster.json", "solution.json", "--memory-in", "GB"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("choose bytes, Mi or Gi"), "{}", text(&output.stderr));
    let output = folder.run(&export("mesos", &[]));
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("yunikorn"), "{}", text(&output.stderr));
}

#[test]
fn a_smaller_unit_is_advised_only_where_the_scheduler_counts_in_smaller_ones() {
    let folder = Folder::new();
    let instance = r#"{"format": "fairplan.instance.v1", "resources": ["cpu"], "server_classes": [{"id": "f", "count": 1, "capacity": {"cpu": 4}}],
        "users": [{"id": "small", "demand": {"cpu": 0.25}, "tasks": 1}, {"id": "large", "demand": {"cpu": 1}}]}"#;
    folder.write("cluster.json", instance);
    folder.done(&["-q", "solve", "cluster.json", "-o", "solution.json"]);
    let told = |target: &str, unit: &str| {
        let words = ["export", target, "cluster.json", "solution.json", "--unit", unit, "-o", "out"];
        let output = folder.run(&words);
        assert!(output.status.success(), "{}", text(&output.stderr));
        text(&output.stderr).split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let advice = "state a smaller --unit cpu=AMOUNT";
    for (target, unit, is_advised) in [
        ("yarn", "cpu=1", false),
        ("slurm", "cpu=1", false),
        ("yarn", "cpu=2", true),
        ("kueue", "cpu=1", true),
    ] {
        let line = told(target, unit);
        assert!(line.contains("small would get less than a unit of cpu"), "{line}");
        assert_eq!(line.contains(advice), is_advised, "{target} {unit}: {line}");
        assert_eq!(line.contains("counts nothing smaller of it"), !is_advised, "{target} {unit}: {line}");
    }
    // What is advised is taken.
    told("kueue", "cpu=100m");
    let refused = folder.refused(&["export", "yarn", "cluster.json", "solution.json", "--unit", "cpu=10m"]);
    assert!(refused.contains("counts it in whole 1; state a whole multiple of that"), "{refused}");
}

/// Whole units are dealt class by class, so equal remainders must not all go to who stands first.
#[test]
fn users_who_have_the_same_on_every_class_are_told_nearly_the_same() {
    let folder = Folder::new();
    let class = |(id, cores)| {
        format!(
            "{{\"id\": \"{id}\", \"count\": 1, \"capacity\": {{\"cpu\": {cores}, \"memory\": 17179869184}}}}"
        )
    };
    let user = |id| format!("{{\"id\": \"{id}\", \"demand\": {{\"cpu\": 1, \"memory\": 1073741824}}}}");
    let classes = [("n1", 1), ("n2", 3), ("n3", 1), ("n4", 1)].map(class).join(", ");
    let users = ["a", "b", "c"].map(user).join(", ");
    folder.write(
        "cluster.json",
        format!(
            "{{\"format\": \"fairplan.instance.v1\", \"resources\": [\"cpu\", \"memory\"], \"server_classes\": [{classes}], \"users\": [{users}]}}"
        ),
    );
    folder.done(&["solve", "cluster.json", "-o", "solution.json"]);
    for target in ["kueue", "yarn"] {
        folder.done(&export(target, &["-o", "it", "--quotas", "quotas.json"]));
        let quotas: serde_json::Value = serde_json::from_str(&folder.read("quotas.json")).unwrap();
        let tenants = quotas["tenants"].as_array().unwrap();
        let cores = |id: &str| -> u64 {
            let tenant = tenants.iter().find(|tenant| tenant["id"] == id).unwrap();
            let amounts = tenant["amounts"].as_array().unwrap().iter();
            amounts
                .filter(|amount| amount["resource"] == "cpu")
                .map(|cpu| cpu["units"].as_u64().unwrap())
                .sum()
        };
        assert_eq!(["a", "b", "c"].map(cores), [2, 2, 2], "{target}");
    }
}

/// So many servers of so many cores and so much memory, solved for one user whose tasks take a core and this memory.
fn of_one_class(folder: &Folder, count: u64, [cores, memory]: [u64; 2], task: u64) {
    let cluster = serde_json::json!({"format": "fairplan.instance.v1", "resources": ["cpu", "memory"],
        "server_classes": [{"id": "n", "count": count, "capacity": {"cpu": cores, "memory": memory}}],
        "users": [{"id": "a", "demand": {"cpu": 1, "memory": task}}]});
    folder.write("cluster.json", cluster.to_string());
    folder.done(&["solve", "cluster.json", "-o", "solution.json"]);
}

/// 4 TiB counted in MiB are four million, which is no memory of a server in bytes.
#[test]
fn memory_that_a_large_server_counts_in_mebibytes_is_not_taken_for_bytes() {
    let folder = Folder::new();
    of_one_class(&folder, 2, [4, 4194304], 2048);
    for target in ["kueue", "volcano", "yunikorn", "kai"] {
        let line = folder.refused(&["-q", "export", target, "cluster.json", "solution.json", "-o", "it"]);
        assert!(line.contains("memory = 4194304: ") && line.contains("--memory-in"), "{target}: {line}");
        // The number is the file's own, whatever it was taken for.
        let words =
            ["-q", "export", target, "cluster.json", "solution.json", "--memory-in", "Gi", "-o", "it"];
        let line = folder.refused(&words);
        assert!(
            line.contains("memory = 4194304: ") && line.contains("4503599627370496 bytes"),
            "{target}: {line}"
        );
        folder.done(&["export", target, "cluster.json", "solution.json", "--memory-in", "Mi", "-o", "it"]);
    }
}

/// 256 GiB counted in GiB are 256 MiB in the unit of YARN and Slurm: 4 MiB a core.
#[test]
fn memory_that_is_next_to_nothing_beside_the_cores_is_counted_in_another_unit() {
    let folder = Folder::new();
    of_one_class(&folder, 4, [64, 256], 2);
    for target in ["yarn", "yarn-fair", "slurm", "kueue"] {
        let line = folder.refused(&["-q", "export", target, "cluster.json", "solution.json", "-o", "it"]);
        assert!(line.contains("memory = ") && line.contains("--memory-in"), "{target}: {line}");
        folder.done(&["export", target, "cluster.json", "solution.json", "--memory-in", "Gi", "-o", "it"]);
    }
}

/// Slurm's own `sacctmgr` on the loopback takes the lines, twice, and then has what they say.
#[test]
#[ignore = "starts a database and slurmdbd; needs Slurm, root, and the packages that slurm_accounts.sh names"]
fn sacctmgr_takes_the_lines_and_has_what_they_say() {
    let packages = std::env::var("FAIRPLAN_SLURM_PACKAGES").unwrap_or_default();
    let needed = [
        format!("{packages}/usr/sbin/mariadbd"),
        format!("{packages}/usr/sbin/slurmdbd"),
        "/usr/sbin/slurmctld".into(),
    ];
    let is_root = Command::new("id").arg("-u").output().is_ok_and(|output| output.stdout == b"0\n");
    if !is_root || !needed.iter().all(|program| std::path::Path::new(program).exists()) {
        println!(
            "slurmdbd and MariaDB are not here (or unpacked at FAIRPLAN_SLURM_PACKAGES), or this is not root; it is not tried"
        );
        return;
    }
    struct Accounts<'a>(&'a Folder);
    impl Accounts<'_> {
        fn script(&self, words: &[&str]) {
            let script = root().join("tests/tests/command_line/slurm_accounts.sh");
            let done = Command::new(script)
                .arg(words[0])
                .arg(self.0.path("slurm"))
                .args(&words[1..])
                .output()
                .unwrap();
            assert!(done.status.success(), "{}", text(&done.stderr));
        }

        fn shell(&self, line: &str) -> String {
            let mut command = Command::new("sh");
            command
                .args(["-c", line])
                .current_dir(self.0.path("."))
                .env("SLURM_CONF", self.0.path("slurm/slurm.conf"));
            let output = command.output().unwrap();
            text(&output.stdout) + &text(&output.stderr)
        }
    }
    impl Drop for Accounts<'_> {
        fn drop(&mut self) {
            self.script(&["stop"]);
        }
    }
    let folder = Folder::new();
    let server = |id: &str, count: u64, gpus: u64| serde_json::json!({"id": id, "count": count, "capacity": {"cpu": 64, "memory": 256_000, "gpu": gpus}});
    let user = |id: &str, group: &str, gpus: u64| serde_json::json!({"id": id, "group": group, "demand": {"cpu": 2, "memory": 9000, "gpu": gpus}, "limit": {"cpu": 90}});
    let instance = serde_json::json!({
        "format": "fairplan.instance.v1", "resources": ["cpu", "memory", "gpu"],
        "server_classes": [server("plain", 4, 0), server("A100", 2, 8)],
        "groups": [{"id": "Science", "weight": 2}, {"id": "Physics", "parent": "Science"}, {"id": "Arts"}],
        "users": [user("ada", "Physics", 1), user("bob", "Science", 0), user("Eve X", "Arts", 0)],
    });
    folder.write("cluster.json", instance.to_string());
    folder.done(&["solve", "cluster.json", "-o", "solution.json"]);
    folder.done(&["export", "slurm", "cluster.json", "solution.json", "-o", "lines.sh"]);
    folder.done(&[
        "export",
        "slurm",
        "cluster.json",
        "solution.json",
        "--headroom",
        "0.4",
        "--hard",
        "-o",
        "before.sh",
    ]);
    let slurm = Accounts(&folder);
    slurm.script(&["start", "29917", &packages]);
    // First what was there before, then twice the same.
    for lines in ["before.sh", "lines.sh", "lines.sh"] {
        let told = slurm.shell(&format!("sh {lines}"));
        let unusual = told.lines().find(|line| {
            let line = line.to_lowercase();
            line.contains("error") || line.contains("unknown") || line.contains("invalid")
        });
        assert_eq!(unusual, None, "{lines}: {told}");
    }
    slurm
        .shell("sacctmgr -i dump accounts file=dump.cfg; sacctmgr -P show qos format=name,maxtrespa,priority > qos.txt");
    let changes =
        folder.run(&["export", "slurm", "cluster.json", "solution.json", "--current", "dump.cfg", "qos.txt"]);
    assert_eq!(text(&changes.stdout), "", "{}\n{}", folder.read("dump.cfg"), folder.read("qos.txt"));
    assert_eq!(changes.status.code(), Some(0));
}
