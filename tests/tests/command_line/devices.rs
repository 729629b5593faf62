//! Devices, their profiles and limits a server from the command line: placed and verified, bounded, and refused by name where they are not known.

use super::Folder;

const INSTANCE: &str = r#"{
  "format": "fairplan.instance.v1",
  "resources": ["cpu", "gpu"],
  "server_classes": [
    {"id": "a100", "count": 2, "capacity": {"cpu": 32, "gpu": 4}, "devices": {"gpu": 4}}
  ],
  "users": [
    {"id": "notebook", "demand": {"cpu": 1, "gpu": 0.6}, "tasks": 9},
    {"id": "trainer", "demand": {"cpu": 4, "gpu": 2}, "tasks": 3},
    {"id": "proxy", "demand": {"cpu": 1}, "tasks": 5, "per_server": 1}
  ]
}
"#;

/// Every policy that looks at what is inside servers, `pattern` apart, which places no limits a server.
const POLICIES: [&str; 11] = [
    "best-fit",
    "first-fit",
    "worst-fit",
    "dot-product",
    "random",
    "slots=8",
    "fgd",
    "gpu-packing",
    "gpu-clustering",
    "gpu-best-fit",
    "gpu-dot-product",
];

fn folder() -> Folder {
    let folder = Folder::new();
    folder.write("instance.json", INSTANCE);
    folder
}

fn json(folder: &Folder, file: &str) -> serde_json::Value {
    serde_json::from_str(&folder.read(file)).unwrap()
}

#[test]
fn every_policy_places_within_devices_and_the_placements_hold() {
    let folder = folder();
    for policy in POLICIES {
        folder.done(&[
            "-q",
            "place",
            "instance.json",
            "--policy",
            policy,
            "--servers-out",
            "-o",
            "placement.json",
        ]);
        folder.done(&["-q", "verify", "instance.json", "placement.json", "-o", "checked.json"]);
        let checked = folder.read("checked.json");
        assert!(checked.contains("\"devices\"") && checked.contains("\"per-server\""), "{checked}");
        let placed = json(&folder, "placement.json");
        assert_eq!(placed["users"][2]["tasks"], 2, "{policy}: one proxy a server");
    }
}

#[test]
fn a_placement_that_takes_parts_from_two_devices_does_not_hold() {
    let folder = folder();
    folder.write("plain.json", INSTANCE.replace(r#", "devices": {"gpu": 4}"#, ""));
    folder.done(&["-q", "place", "plain.json", "--servers-out", "-o", "placement.json"]);
    let without = json(&folder, "placement.json");
    let notebooks = &without["users"][0]["tasks"];
    folder.done(&["-q", "place", "instance.json", "--servers-out", "-o", "placement.json"]);
    let with = json(&folder, "placement.json");
    assert!(with["users"][0]["tasks"].as_u64() <= notebooks.as_u64());
    let text = folder.read("placement.json");
    let forged = text.replacen("\"tasks\": 1", "\"tasks\": 7", 1);
    assert_ne!(forged, text);
    folder.write("forged.json", forged);
    let output = folder.run(&["-q", "verify", "instance.json", "forged.json"]);
    assert_ne!(output.status.code(), Some(0));
}

/// Two servers of two A100 with 40 GB, cut as NVIDIA's MIG user guide says, and users of profiles, of whole GPUs and of parts at will.
const MIG: &str = r#"{
  "format": "fairplan.instance.v1",
  "resources": ["cpu", "gpu"],
  "server_classes": [
    {"id": "a100", "count": 2, "capacity": {"cpu": 32, "gpu": 2}, "devices": {"gpu": 2}}
  ],
  "device_profiles": {
    "gpu": {"slices": 8, "profiles": {
      "1g.5gb": {"slices": 1, "starts": [0, 1, 2, 3, 4, 5, 6]},
      "2g.10gb": {"slices": 2, "starts": [0, 2, 4]},
      "3g.20gb": {"slices": 4, "starts": [0, 4]},
      "4g.20gb": {"slices": 4, "starts": [0]},
      "7g.40gb": {"slices": 8, "starts": [0]}}}
  },
  "users": [
    {"id": "small", "demand": {"cpu": 1}, "profile": "1g.5gb", "tasks": 9},
    {"id": "large", "demand": {"cpu": 2}, "profile": "4g.20gb", "tasks": 3},
    {"id": "trainer", "demand": {"cpu": 4, "gpu": 1}, "tasks": 1},
    {"id": "notebook", "demand": {"cpu": 1, "gpu": 0.3}, "tasks": 2}
  ]
}
"#;

#[test]
fn every_policy_cuts_devices_by_profiles_and_the_placements_hold() {
    let folder = Folder::new();
    folder.write("mig.json", MIG);
    for policy in POLICIES.into_iter().chain(["pattern"]) {
        folder.done(&["-q", "place", "mig.json", "--policy", policy, "--servers-out", "-o", "placed.json"]);
        folder.done(&["-q", "verify", "mig.json", "placed.json", "-o", "checked.json"]);
        let tasks = |user: usize| json(&folder, "placed.json")["users"][user]["tasks"].as_u64().unwrap();
        assert!(tasks(0) > 0 && tasks(1) > 0, "{policy} places none of some profile");
    }
}

#[test]
fn a_placement_that_no_profile_allows_is_refused_by_name() {
    let folder = Folder::new();
    folder.write("mig.json", MIG);
    // Without a profile two tasks of half a GPU share one.
    let (head, tail) = MIG.split_once("\"device_profiles\"").unwrap();
    let users = tail.split_once("\"users\"").unwrap().1;
    let plain = format!("{head}\"users\"{users}")
        .replace(r#"{"cpu": 1}, "profile": "1g.5gb""#, r#"{"cpu": 1, "gpu": 0.125}"#)
        .replace(r#"{"cpu": 2}, "profile": "4g.20gb""#, r#"{"cpu": 2, "gpu": 0.5}"#)
        .replace(r#""tasks": 1}"#, r#""tasks": 3}"#);
    folder.write("plain.json", plain);
    let place = ["--policy", "best-fit", "--servers-out", "-o"];
    folder.done(&[&["-q", "place", "plain.json"], &place[..], &["plain-placed.json"]].concat());
    folder.done(&[&["-q", "place", "mig.json"], &place[..], &["placed.json"]].concat());
    let hash = |file: &str| json(&folder, file)["instance"]["sha256"].as_str().unwrap().to_owned();
    folder.write(
        "forged.json",
        folder.read("plain-placed.json").replace(&hash("plain-placed.json"), &hash("placed.json")),
    );
    let words =
        ["-q", "compare", "mig.json", "--policies", "fgd", "--placement", "forged.json", "-o", "c.json"];
    folder.done(&words);
    let judgement = json(&folder, "c.json")["policies"][1]["judgement"].clone();
    assert_eq!(judgement["broken_rules"][0]["rule"], "devices", "{judgement}");
    let output = folder.run(&["-q", "verify", "mig.json", "forged.json"]);
    let told = super::text(&output.stdout) + &super::text(&output.stderr);
    assert!(!output.status.success() && told.contains("do not fit its 2 devices of gpu"), "{told}");
}

#[test]
fn what_profiles_can_reach_is_proved() {
    let folder = Folder::new();
    folder.write("mig.json", MIG);
    let warning = "ignore devices and `profile`: whole tasks reach at most as much";
    let output = folder.run(&["bound", "mig.json", "-o", "bound.json"]);
    assert!(super::text(&output.stderr).contains(warning));
    folder.done(&["-q", "verify", "mig.json", "bound.json"]);
    // Beside the trainer's GPU and the notebooks' two have a 4g.20gb and three 1g.5gb each.
    assert_eq!(json(&folder, "bound.json")["integral_level_lower"], 0.1875);
    let objective = ["--objective", "allocated=gpu"];
    folder.done(&[&["-q", "bound", "mig.json", "-o", "most.json"], &objective[..]].concat());
    folder.done(&["-q", "verify", "mig.json", "most.json"]);
    let most = json(&folder, "most.json");
    // A trainer has a GPU; the others have 4g.20gb and three 1g.5gb each, seven of eight slices.
    assert_eq!((&most["integral_upper"], &most["proved_optimal"]), (&3.625.into(), &true.into()), "{most}");
    let forged = folder.read("most.json").replace("\"integral_upper\": 3.625", "\"integral_upper\": 3.5");
    assert_ne!(forged, folder.read("most.json"));
    folder.write("forged.json", forged);
    assert!(!folder.run(&["-q", "verify", "mig.json", "forged.json"]).status.success());
    folder.done(
        &[
            &["-q", "compare", "mig.json", "--policies", "best-fit,fgd,pattern", "-o", "c.json"],
            &objective[..],
        ]
        .concat(),
    );
    assert_eq!(json(&folder, "c.json")["allocated"]["integral_upper"], 3.625);
}

#[test]
fn bounds_hold_with_a_placement_that_keeps_the_rules() {
    let folder = folder();
    folder.done(&["-q", "bound", "instance.json", "-o", "bound.json"]);
    folder.done(&["-q", "verify", "instance.json", "bound.json"]);
    folder.done(&["-q", "compare", "instance.json", "--policies", "best-fit,fgd", "-o", "comparison.json"]);
    let comparison = json(&folder, "comparison.json");
    let upper = comparison["bounds"]["integral_upper"].as_f64().unwrap();
    for policy in comparison["policies"].as_array().unwrap() {
        assert!(policy["value"].as_f64().unwrap() <= upper * (1.0 + 1e-12), "{policy}");
    }
}

#[test]
fn patterns_place_within_devices_and_limits_as_well_as_can_be() {
    let folder = folder();
    let words =
        ["-q", "place", "instance.json", "--policy", "pattern", "--servers-out", "-o", "placement.json"];
    folder.done(&words);
    folder.done(&["-q", "verify", "instance.json", "placement.json"]);
    folder.done(&["-q", "bound", "instance.json", "-o", "bound.json"]);
    let bound = json(&folder, "bound.json");
    assert_eq!(bound["proved_optimal"], true, "{bound}");
    assert_eq!(bound["placement"]["users"][2]["tasks"], 2, "one proxy a server");
}

#[test]
fn policies_are_held_against_the_most_gpu_that_any_placement_takes() {
    let folder = folder();
    let objective = ["--objective", "allocated=gpu"];
    folder.done(&[&["-q", "bound", "instance.json", "-o", "most.json"], &objective[..]].concat());
    folder.done(&["-q", "verify", "instance.json", "most.json"]);
    let most = json(&folder, "most.json");
    // Three trainers fill six GPUs, and a notebook each the other two: of parts of 0.6 no two share one.
    assert_eq!((&most["integral_upper"], &most["proved_optimal"]), (&7.2.into(), &true.into()), "{most}");
    folder.done(
        &[
            &["-q", "compare", "instance.json", "--policies", "best-fit,fgd,pattern", "-o", "c.json"],
            &objective[..],
        ]
        .concat(),
    );
    let comparison = json(&folder, "c.json");
    assert_eq!(comparison["allocated"]["integral_upper"], 7.2);
    assert!(comparison["bounds"].get("integral_upper").is_none(), "{comparison}");
    for policy in comparison["policies"].as_array().unwrap() {
        let (amount, gap) =
            (policy["allocated"]["amount"].as_f64().unwrap(), policy["allocated"]["gap"].as_f64());
        assert!(amount <= 7.2 + 1e-12 && (gap.unwrap() - (1.0 - amount / 7.2)).abs() < 1e-12, "{policy}");
    }
    let told = folder.refused(&["-q", "bound", "instance.json", "--objective", "allocated=gpus"]);
    assert!(
        told.contains("allocated=gpus: unknown resource gpus (did you mean gpu?): use cpu, gpu"),
        "{told}"
    );
}

#[test]
fn the_sum_of_logarithms_is_bounded_with_a_placement_that_keeps_all_rules() {
    let folder = folder();
    let pf = ["--objective", "pf"];
    folder.done(&[&["-q", "bound", "instance.json", "-o", "sum.json"], &pf[..]].concat());
    folder.done(&["-q", "verify", "instance.json", "sum.json"]);
    let sum = json(&folder, "sum.json");
    // Of eight GPUs a trainer takes two and a notebook one: four notebooks and two trainers have the largest product.
    let tasks = |user: usize| sum["placement"]["users"][user]["tasks"].as_u64();
    assert_eq!([tasks(0), tasks(1), tasks(2)], [Some(4), Some(2), Some(2)], "{sum}");
    assert_eq!(sum["proved_optimal"], true, "{sum}");
    // With gangs the placement is that of a policy, and the bound holds on.
    let racks = INSTANCE
        .replace(r#""tasks": 9}"#, r#""tasks": 9, "gang": 3, "gang_in_domain": true}"#)
        .replace(r#""count": 2,"#, r#""count": 2, "domain": "rack","#);
    folder.write("racks.json", racks);
    folder.done(&[&["-q", "bound", "racks.json", "-o", "sum.json"], &pf[..]].concat());
    folder.done(&["-q", "verify", "racks.json", "sum.json"]);
    assert_eq!(tasks_of(&folder, "sum.json", 0) % 3, 0);
}

fn tasks_of(folder: &Folder, file: &str, user: usize) -> u64 {
    json(folder, file)["placement"]["users"][user]["tasks"].as_u64().unwrap()
}

#[test]
fn tasks_of_a_trace_wait_for_a_device() {
    let folder = folder();
    let trace = |devices: &str| {
        format!(
            r#"{{"format": "fairplan.trace.v1", "resources": ["cpu", "gpu"]{devices}, "server_classes": [{{"id": "node", "count": 1, "capacity": {{"cpu": 16, "gpu": 2}}}}]}}
{{"time": 0, "event": "tasks_submitted", "user": "ann", "job": "tune", "demand": {{"cpu": 1, "gpu": 0.6}}, "duration": 60, "count": 3}}
"#
        )
    };
    folder.write("plain.jsonl", trace(""));
    folder.write("devices.jsonl", trace(r#", "devices": {"gpu": 1}"#));
    let end = |file: &str| {
        folder.done(&["-q", "simulate", file, "--policy", "best-fit,first-fit,random", "-o", "run.json"]);
        let ends = json(&folder, "run.json")["policies"].as_array().unwrap().clone();
        ends.iter().map(|policy| policy["end"].as_f64().unwrap()).collect::<Vec<_>>()
    };
    assert_eq!(end("plain.jsonl"), [60.0; 3]);
    assert_eq!(end("devices.jsonl"), [120.0; 3]);
    // Policies that look at devices, and the usual ones that know the trace.
    let gpus = "fgd,gpu-packing,gpu-clustering,gpu-best-fit,gpu-dot-product";
    folder.done(&["-q", "simulate", "devices.jsonl", "--policy", gpus, "-o", "run.json"]);
    let ends = json(&folder, "run.json")["policies"].as_array().unwrap().clone();
    assert!(ends.len() == 5 && ends.iter().all(|policy| policy["end"] == 120.0), "{ends:?}");
    for (file, usual) in [
        ("plain.jsonl", &["best-fit", "first-fit", "slots=14"][..]),
        ("devices.jsonl", &["best-fit", "first-fit"]),
    ] {
        folder.done(&["-q", "simulate", file, "-o", "run.json"]);
        let run = json(&folder, "run.json")["policies"].as_array().unwrap().clone();
        let names: Vec<_> = run.iter().map(|policy| policy["policy"].as_str().unwrap()).collect();
        assert_eq!(names, usual);
    }
    let told = folder.refused(&["-q", "simulate", "plain.jsonl", "--policy", "fgd"]);
    assert!(
        told.contains("policy fgd: looks at the devices of one resource, and there are devices of 0"),
        "{told}"
    );
    let told = folder.refused(&["-q", "simulate", "devices.jsonl", "--policy", "slots=14"]);
    let expected =
        "policy slots=14: does not look at devices, and the trace has some; take best-fit, first-fit";
    assert!(told.contains(expected), "{told}");
}

/// Two racks of two servers, and tasks that meet rules.
const RULED: &str = r#"{"format": "fairplan.trace.v1", "resources": ["cpu", "gpu"], "devices": {"gpu": 1}, "decimal_places": {"gpu": 3}, "device_profiles": {"gpu": {"slices": 8, "profiles": {"3g": {"slices": 4, "starts": [0, 4]}}}}, "rules": {"ring": {"gang": 4, "gang_in_domain": true}, "web": {"spread": 1, "per_server": 2}, "mig": {"profile": "3g"}}, "server_classes": [{"id": "a", "count": 2, "domain": "rack-1", "capacity": {"cpu": 4, "gpu": 1}}, {"id": "b", "count": 2, "domain": "rack-2", "capacity": {"cpu": 4, "gpu": 1}}]}
{"time": 0, "event": "tasks_submitted", "user": "train", "job": "t", "demand": {"cpu": 2}, "duration": 60, "count": 8, "rules": "ring"}
{"time": 1, "event": "tasks_submitted", "user": "site", "job": "w", "demand": {"cpu": 1}, "duration": 60, "count": 10, "rules": "web"}
{"time": 2, "event": "tasks_submitted", "user": "lab", "job": "m", "demand": {}, "duration": 60, "count": 9, "rules": "mig"}
"#;

#[test]
fn tasks_of_a_trace_keep_their_rules() {
    let folder = folder();
    folder.write("ruled.jsonl", RULED);
    folder.done(&[
        "-q",
        "simulate",
        "ruled.jsonl",
        "--policy",
        "best-fit",
        "--jobs",
        "jobs.jsonl",
        "-o",
        "run.json",
    ]);
    let ended = |file: &str, job: &str| {
        let jobs = folder.read(file);
        let line = jobs.lines().find(|line| line.contains(&format!("\"job\":\"{job}\""))).unwrap();
        serde_json::from_str::<serde_json::Value>(line).unwrap()["completed"].as_f64().unwrap()
    };
    // A ring a rack; then eight of the site, two a server, and two more; two parts of four slices a GPU, eight at once.
    assert_eq!(["t", "w", "m"].map(|job| ended("jobs.jsonl", job)), [60.0, 180.0, 122.0]);
    // Who has a rack to itself for half a minute keeps one ring waiting so long.
    let class = |id: &str| format!(r#"{{"id": "{id}", "count": 2, "capacity": {{"cpu": 4, "gpu": 1}}}}"#);
    let user = r#"{"id": "old", "demand": {"cpu": 4}, "tasks": 2}"#;
    folder.write(
        "old.json",
        format!(
            r#"{{"format": "fairplan.instance.v1", "resources": ["cpu", "gpu"], "server_classes": [{}, {}], "users": [{user}]}}"#,
            class("a"),
            class("b")
        ),
    );
    folder.done(&[
        "-q",
        "place",
        "old.json",
        "--policy",
        "first-fit",
        "--servers-out",
        "-o",
        "old-placed.json",
    ]);
    let present = ["--instance", "old.json", "--placement", "old-placed.json", "--remaining", "30"];
    let words =
        ["-q", "simulate", "ruled.jsonl", "--policy", "best-fit", "--jobs", "later.jsonl", "-o", "run.json"];
    folder.done(&[&words[..], &present].concat());
    assert!(ended("later.jsonl", "t") >= 90.0, "{}", folder.read("later.jsonl"));
    folder.done(&["-q", "simulate", "ruled.jsonl", "--policy", "worst-fit", "--dedicated", "-o", "run.json"]);
    let told = folder.refused(&["-q", "simulate", "ruled.jsonl", "--policy", "slots=14"]);
    assert!(told.contains("policy slots=14: does not look at devices, and the trace has some"), "{told}");
    // The same without devices.
    let profiles =
        r#""device_profiles": {"gpu": {"slices": 8, "profiles": {"3g": {"slices": 4, "starts": [0, 4]}}}}, "#;
    let changes = [
        (r#""devices": {"gpu": 1}, "#, ""),
        (profiles, ""),
        (r#""profile": "3g""#, r#""per_server": 9"#),
        (r#""demand": {}"#, r#""demand": {"cpu": 1}"#),
    ];
    let without = changes.iter().fold(RULED.to_owned(), |text, (old, new)| text.replace(old, new));
    folder.write("rules.jsonl", without);
    let told = folder.refused(&["-q", "simulate", "rules.jsonl", "--policy", "slots=14"]);
    assert!(told.contains("policy slots=14: does not look at rules that tasks meet"), "{told}");
}

#[test]
fn what_a_trace_says_of_rules_is_refused_with_its_place() {
    let folder = folder();
    for (old, new, expected) in [
        (
            "\"rules\": \"ring\"",
            "\"rules\": \"rings\"",
            "line 2, rules = rings: unknown rules rings (did you mean ring?)",
        ),
        ("\"count\": 8", "\"count\": 9", "line 2, count = 9: is no whole number of gangs of 4"),
        (
            "\"demand\": {}",
            "\"demand\": {\"gpu\": 0.25}",
            "line 4, demand.gpu = 0.25: a part of profile 3g is 0.5 gpu",
        ),
        ("\"profile\": \"3g\"", "\"profile\": \"4g\"", "rules.mig.profile = 4g: unknown profile 4g"),
        ("\"gang\": 4", "\"gang\": 1", "rules.ring.gang = 1: a gang has 2 tasks or more"),
        ("\"gang\": 4, ", "", "rules.ring.gang_in_domain: says where a gang runs, and there is none"),
        ("\"spread\": 1", "\"spread\": 0", "rules.web.spread = 0: lets no first task run"),
        ("\"per_server\": 2", "\"per_server\": 0", "rules.web.per_server = 0: lets no task run"),
        ("\"per_server\": 2", "\"per_node\": 2", "rules.web"),
        (
            "\"domain\": \"rack-2\", ",
            "",
            "server_classes[1].domain: missing, and the rules ring are about domains",
        ),
        ("\"starts\": [0, 4]", "\"starts\": [0, 5]", "device_profiles.gpu.profiles.3g.starts[1] = 5"),
        ("\"devices\": {\"gpu\": 1}, ", "", "device_profiles.gpu: gpu has no devices"),
        (
            "{\"gpu\": 3}",
            "{\"gpu\": 2}",
            "device_profiles.gpu.slices = 8: a slice of a device of 1 gpu has more decimal places",
        ),
    ] {
        assert!(RULED.contains(old), "{old}");
        folder.write("bad.jsonl", RULED.replace(old, new));
        let told = folder.refused(&["-q", "simulate", "bad.jsonl", "--policy", "best-fit"]);
        assert!(told.contains(expected), "{old} to {new}: {told}");
    }
    // Who could never run waits, and is counted.
    folder.write("large.jsonl", RULED.replace("\"gang\": 4", "\"gang\": 8"));
    let run = folder.done(&["-q", "simulate", "large.jsonl", "--policy", "best-fit"]);
    let run: serde_json::Value = serde_json::from_str(&run).unwrap();
    assert_eq!(run["policies"][0]["tasks"]["too_large"], 8, "{run}");
}

#[test]
fn steps_from_one_placement_on_devices_to_another_are_found_and_verified() {
    let folder = folder();
    for (policy, file) in [("best-fit", "placement.json"), ("worst-fit", "other.json")] {
        folder.done(&["-q", "place", "instance.json", "--policy", policy, "--servers-out", "-o", file]);
    }
    let moves = ["-q", "plan", "move", "instance.json", "--from", "placement.json", "--to", "other.json"];
    folder.done(&[&moves[..], &["-o", "moves.json"]].concat());
    let checked = folder.done(&["-q", "verify", "instance.json", "moves.json"]);
    assert!(checked.contains("\"devices\""), "{checked}");
}

#[test]
fn what_is_bought_for_whole_tasks_has_room_for_them_device_by_device() {
    let folder = folder();
    folder.write("catalog.csv", "id,price\na100,10\n");
    let tasks = "notebook=9,trainer=3,proxy=5";
    let buy = ["-q", "plan", "buy", "instance.json", "--catalog", "catalog.csv", "--tasks", tasks];
    // 11.4 GPUs are on three servers, of which two are there.
    let divided: serde_json::Value = serde_json::from_str(&folder.done(&buy)).unwrap();
    assert_eq!(divided["purchase"]["cost"], 10.0, "{divided}");
    // Notebooks of 0.6 have a GPU each, and five proxies a server each.
    let out = ["--whole", "--cluster-out", "bought.json", "--placement-out", "placed.json"];
    let whole: serde_json::Value = serde_json::from_str(&folder.done(&[&buy[..], &out].concat())).unwrap();
    assert_eq!(whole["purchase"]["cost"], 30.0, "{whole}");
    folder.done(&["-q", "verify", "bought.json", "placed.json"]);
}

#[test]
fn what_is_bought_has_devices_to_cut_for_tasks_with_profiles() {
    let folder = Folder::new();
    folder.write("mig.json", MIG.replace(r#""tasks": 3}"#, r#""tasks": 9}"#));
    folder.write("catalog.csv", "id,price,cpu,gpu\na100,10,,\nhgx,5,128,8\n");
    let tasks = "small=7,large=9,trainer=1,notebook=2";
    let out =
        ["--whole", "--cluster-out", "bought.json", "--placement-out", "placed.json", "-o", "plan.json"];
    let buy = ["-q", "plan", "buy", "mig.json", "--catalog", "catalog.csv", "--tasks", tasks];
    folder.done(&[&buy[..], &out].concat());
    folder.done(&["-q", "verify", "bought.json", "placed.json"]);
    // Nine GPUs have one 4g.20gb each, one the trainer, and another the notebooks: seven more than there are.
    let plan = json(&folder, "plan.json");
    assert_eq!(plan["purchase"]["cost"], 5.0, "{plan}");
    let hgx = json(&folder, "bought.json")["server_classes"][1].clone();
    assert_eq!(hgx["devices"]["gpu"], 8, "{hgx}");
}

#[test]
fn what_servers_are_worth_is_asked_of_variants_whose_capacities_are_no_devices() {
    let folder = Folder::new();
    folder.write("mig.json", MIG);
    let other =
        r#"    {"id": "other", "count": 1, "capacity": {"cpu": 32, "gpu": 4}, "devices": {"gpu": 4}},"#;
    folder.write(
        "two.json",
        INSTANCE.replace("  \"server_classes\": [\n", &format!("  \"server_classes\": [\n{other}\n")),
    );
    for file in ["mig.json", "two.json"] {
        folder.done(&["-q", "plan", "worth", file, "-o", "worth.json"]);
        let worth = json(&folder, "worth.json");
        assert!(worth["server_classes"][0]["gain"].is_number(), "{worth}");
    }
}

#[test]
fn answers_in_divided_tasks_say_which_rules_they_ignore() {
    let folder = folder();
    for command in [
        "solve instance.json -o solution.json",
        "plan lose instance.json",
        "explain instance.json --user trainer",
        "audit instance.json",
        "plan diff instance.json instance.json",
    ] {
        let output = folder.run(&command.split(' ').collect::<Vec<_>>());
        let told = super::text(&output.stderr);
        assert!(
            output.status.success() && told.contains("ignore devices and `per_server`"),
            "{command}: {told}"
        );
    }
    assert!(folder.read("solution.json").contains("rules-inside-servers"));
    // Where tasks are whole nothing is ignored.
    for command in ["plan lose instance.json --whole", "place instance.json"] {
        let output = folder.run(&command.split(' ').collect::<Vec<_>>());
        let told = super::text(&output.stderr);
        assert!(output.status.success() && !told.contains("ignore devices"), "{command}: {told}");
    }
}

#[test]
fn a_placement_made_elsewhere_is_told_the_rules_that_it_breaks() {
    let folder = folder();
    folder.write(
        "plain.json",
        INSTANCE.replace(r#", "devices": {"gpu": 4}"#, "").replace(r#", "per_server": 1"#, ""),
    );
    folder.done(&["-q", "place", "plain.json", "--servers-out", "-o", "plain-placed.json"]);
    let hash = |file: &str| json(&folder, file)["instance"]["sha256"].as_str().unwrap().to_owned();
    folder.done(&["-q", "place", "instance.json", "--servers-out", "-o", "placement.json"]);
    let elsewhere =
        folder.read("plain-placed.json").replace(&hash("plain-placed.json"), &hash("placement.json"));
    folder.write("elsewhere.json", elsewhere);
    let judged = |file: &str| {
        folder.done(&[
            "-q",
            "compare",
            "instance.json",
            "--policies",
            "fgd",
            "--placement",
            file,
            "-o",
            "judged.json",
        ]);
        json(&folder, "judged.json")["policies"][1]["judgement"]["broken_rules"].clone()
    };
    let broken = judged("elsewhere.json");
    let rules: Vec<&str> =
        broken.as_array().unwrap().iter().map(|broken| broken["rule"].as_str().unwrap()).collect();
    assert_eq!(rules, ["devices", "per-server"], "{broken}");
    assert!(judged("placement.json").is_null());
}

#[test]
fn failures_take_whole_tasks_under_all_rules() {
    let folder = Folder::new();
    // Four of a ring need a rack of four GPUs, and two parts of 0.6 are never on one.
    folder.write(
        "racks.json",
        r#"{"format": "fairplan.instance.v1", "resources": ["gpu"], "server_classes": [
            {"id": "a", "count": 2, "capacity": {"gpu": 2}, "devices": {"gpu": 2}, "domain": "rack-1"},
            {"id": "b", "count": 1, "capacity": {"gpu": 4}, "devices": {"gpu": 4}, "domain": "rack-2"}],
          "users": [
            {"id": "ring", "demand": {"gpu": 1}, "gang": 4, "gang_in_domain": true, "tasks": 4},
            {"id": "part", "demand": {"gpu": 0.6}, "tasks": 4}]}"#,
    );
    let lose = ["plan", "lose", "racks.json", "--whole", "--servers-lost", "1"];
    let output = folder.run(&[&lose[..], &["-o", "lost.json"]].concat());
    let told = String::from_utf8(output.stderr).unwrap();
    let told = told.split_whitespace().collect::<Vec<_>>().join(" ");
    let whole = "Whole tasks, placed by best-fit today and anew: 4 of 8 tasks have no room then; the smallest weighted share goes from 30.00% to 0.00%.";
    assert!(told.contains(whole) && !told.contains("But answers in divided tasks"), "{told}");
    let lost = json(&folder, "lost.json");
    assert_eq!((&lost["placed_by"]["policy"], &lost["tasks"]), (&"best-fit".into(), &8.into()));
    let of = |at: usize| (&lost["losses"][at]["class"], &lost["losses"][at]["tasks_lost"]);
    assert_eq!([of(0), of(1)], [(&"b".into(), &4.into()), (&"a".into(), &2.into())]);
    // Divided tasks know no gangs, and need no rack that holds one.
    folder.done(&["-q", "plan", "lose", "racks.json", "--servers-lost", "1", "-o", "divided.json"]);
    assert_eq!(json(&folder, "divided.json")["losses"].as_array().unwrap().len(), 2);
    let by_fgd = folder.done(&[&["-q"][..], &lose, &["--policy", "fgd", "--format", "csv"]].concat());
    assert!(by_fgd.starts_with("class,servers,value,lost,tasks_lost,"), "{by_fgd}");
    let refused = folder.refused(&["plan", "lose", "racks.json", "--policy", "fgd"]);
    assert!(refused.contains("--whole"), "{refused}");
}

#[test]
fn what_placements_are_held_against_is_kept_with_its_certificate() {
    let folder = folder();
    for (objective, format) in
        [("drfh", "fairplan.bound.v1"), ("allocated=gpu", "fairplan.allocated-bound.v1")]
    {
        let compare =
            ["-q", "compare", "instance.json", "--objective", objective, "--bound-out", "bound.json"];
        folder.done(&[&compare[..], &["-o", "comparison.json"]].concat());
        let bound = json(&folder, "bound.json");
        let comparison = json(&folder, "comparison.json");
        let stated = match objective {
            "drfh" => &comparison["bounds"]["integral_upper"],
            _ => &comparison["allocated"]["integral_upper"],
        };
        assert_eq!((&bound["format"], &bound["integral_upper"]), (&format.into(), stated), "{objective}");
        folder.done(&["-q", "verify", "instance.json", "bound.json"]);
    }
}
