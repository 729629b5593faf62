//! Placements made elsewhere: imported with what runs where, judged beside the policies, and refused with file and place.

use super::{Folder, root, text};
use serde_json::{Value, json};

/// Two servers called n1 and n2 and one without a name; `a` has 3 tasks, `b` 2 that may run on the large ones.
const CLUSTER: &str = r#"{
  "format": "fairplan.instance.v1",
  "resources": ["cpu"],
  "server_classes": [
    {"id": "large", "count": 2, "names": ["n1", "n2"], "capacity": {"cpu": 4}},
    {"id": "small", "count": 1, "capacity": {"cpu": 1}}
  ],
  "users": [
    {"id": "a", "demand": {"cpu": 2}, "tasks": 3},
    {"id": "b", "demand": {"cpu": 1}, "tasks": 2, "eligible": ["large"]}
  ]
}"#;

fn cluster() -> Folder {
    let folder = Folder::new();
    folder.write("cluster.json", CLUSTER);
    folder
}

/// A placement as somebody else writes it: what runs where, and nothing besides.
fn placement(servers: Value) -> String {
    json!({"format": "fairplan.placement.v1", "servers": servers}).to_string()
}

fn compared(folder: &Folder, words: &[&str]) -> Value {
    let words = [&["-q", "compare", "cluster.json", "--policies", "best-fit", "--no-timing"], words].concat();
    serde_json::from_str(&folder.done(&words)).unwrap()
}

#[test]
fn a_placement_made_elsewhere_is_a_row_with_what_it_leaves() {
    let folder = cluster();
    let servers = json!([
        {"server": "n2", "class": "large", "tasks": [{"user": "a", "tasks": 1}]},
        {"server": "small/1", "class": "small", "tasks": []},
        {"server": "n1", "class": "large", "tasks": [{"user": "b", "tasks": 2}, {"user": "a", "tasks": 1}]}
    ]);
    folder.write("ours.json", placement(servers));
    let comparison = compared(&folder, &["--placement", "ours.json"]);
    let ours = &comparison["policies"][1];
    assert_eq!((&ours["name"], &ours["file"]), (&json!("ours"), &json!("ours.json")));
    assert_eq!((&ours["tasks"], &ours["unplaced"]), (&json!(4), &json!(1)));
    assert_eq!(ours["judgement"]["waiting"], json!([{"user": "a", "tasks": 1}]));
    // The third task of a would fit on n2; on the small server nothing that waits does.
    assert_eq!(
        ours["judgement"]["stranded"],
        json!([{"class": "small", "resource": "cpu", "amount": 1.0, "part": 1.0 / 9.0}])
    );
    assert_eq!(
        (&ours["judgement"]["empty_servers"], &ours["judgement"]["over_committed"]),
        (&json!(1), &json!([]))
    );
    let best_fit = &comparison["policies"][0];
    assert_eq!(best_fit["judgement"]["waiting"], json!([]), "the policies are judged likewise");
    let output = folder.run(&["compare", "cluster.json", "--placement", "ours.json"]);
    let told = text(&output.stderr);
    assert!(told.contains("ours: whoever wants more has at least"), "{told}");
}

#[test]
fn what_place_writes_is_judged_as_what_it_placed() {
    let folder = cluster();
    folder.done(&[
        "-q",
        "place",
        "cluster.json",
        "--policy",
        "first-fit",
        "--servers-out",
        "-o",
        "first.json",
    ]);
    assert!(folder.read("first.json").contains(r#""server": "small/1""#), "{}", folder.read("first.json"));
    folder.done(&["-q", "verify", "cluster.json", "first.json"]);
    let words = [
        "-q",
        "compare",
        "cluster.json",
        "--policies",
        "first-fit",
        "--no-timing",
        "--placement",
        "first.json",
    ];
    let comparison: Value = serde_json::from_str(&folder.done(&words)).unwrap();
    let mut rows = comparison["policies"].as_array().unwrap().clone();
    assert_eq!(
        (&rows[0]["name"], &rows[1]["name"]),
        (&json!("first-fit"), &json!("first")),
        "names are told apart"
    );
    let (placed, given) = (&mut rows.remove(0), &mut rows.remove(0));
    given.as_object_mut().unwrap().remove("file");
    given["name"] = placed["name"].clone();
    assert_eq!(placed, given);
}

#[test]
fn servers_with_too_much_are_reported_and_no_bound_is_claimed_for_them() {
    let folder = cluster();
    let servers = json!([
        {"server": "n1", "class": "large", "tasks": [{"user": "a", "tasks": 3}]},
        {"server": "small/1", "class": "small", "tasks": [{"user": "b", "tasks": 1}]}
    ]);
    folder.write("theirs.json", placement(servers));
    let comparison = compared(&folder, &["--placement", "theirs.json"]);
    let theirs = &comparison["policies"][1];
    assert_eq!(theirs["proved_optimal"], false);
    let over = json!([{"server": "n1", "resource": "cpu", "used": 6.0, "capacity": 4.0}]);
    assert_eq!(theirs["judgement"]["over_committed"], over);
    assert_eq!(theirs["judgement"]["misplaced"], json!([{"server": "small/1", "user": "b", "tasks": 1}]));
    let told = text(&folder.run(&["compare", "cluster.json", "--placement", "theirs.json"]).stderr);
    let told = told.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(told.contains("1 server holds more than there is: n1 6 of 4 cpu, for one."), "{told}");
    assert!(told.contains("1 task runs where it may not: b's on small/1, for one."), "{told}");
    let taken = ["compare", "cluster.json", "--placement", "theirs.json", "--objective", "allocated=cpu"];
    let told = text(&folder.run(&taken).stderr);
    let row = told.lines().find(|line| line.starts_with(" theirs ")).unwrap();
    assert!(row.contains("breaks rules") && !row.contains('-'), "{told}");
}

#[test]
fn where_no_server_is_listed_nothing_runs() {
    let folder = cluster();
    folder.write("nothing.json", placement(json!([])));
    let comparison = compared(&folder, &["--placement", "nothing.json"]);
    let theirs = &comparison["policies"][1];
    assert_eq!((&theirs["tasks"], &theirs["value"]), (&json!(0), &json!(0.0)), "{theirs}");
}

#[test]
fn what_is_no_placement_of_this_cluster_is_refused_with_file_and_place() {
    let folder = cluster();
    let server = |server: &str, class: &str, user: &str, tasks: u64| json!({"server": server, "class": class, "tasks": [{"user": user, "tasks": tasks}]});
    let twice = json!([{"server": "n1", "class": "large", "tasks": [
        {"user": "a", "tasks": 1}, {"user": "a", "tasks": 1}]}]);
    let unnamed = json!([server("n1", "large", "a", 1), {"class": "large", "tasks": []}]);
    for (servers, problem) in [
        (json!([server("n3", "large", "a", 1)]), "servers[0].server = n3: there is no server of this name"),
        (
            json!([server("small/2", "small", "a", 1)]),
            "servers[0].server = small/2: there is no server of this name",
        ),
        (json!([server("n1", "small", "a", 1)]), "servers[0].class = small: server n1 is of class large"),
        (
            json!([server("n1", "huge", "a", 1)]),
            "servers[0].class = huge: there is no server class with this id",
        ),
        (json!([server("n1", "large", "c", 1)]), "servers[0].tasks[0].user = c: no such user"),
        (
            json!([server("n1", "large", "a", 0)]),
            "servers[0].tasks[0].tasks = 0: leave out users without tasks",
        ),
        (
            json!([server("n1", "large", "a", 2), server("n2", "large", "a", 2)]),
            "servers[1].tasks[0].tasks = 2: with these, more tasks of a run than the 3 that it has",
        ),
        (
            json!([server("n1", "large", "a", 1), server("n1", "large", "b", 1)]),
            "servers[1].server = n1: entry 0 names it too",
        ),
        (twice, "servers[0].tasks[1].user = a: is named twice on this server"),
        (unnamed, "servers[1].server: is missing; other servers are named here"),
        (
            json!([{"class": "large", "tasks": []}]),
            "servers = 1 entries: the instance has 3: list all in its order, or name those that are listed (`server`)",
        ),
    ] {
        folder.write("bad.json", placement(servers));
        let refusal = folder.refused(&["-q", "compare", "cluster.json", "--placement", "bad.json"]);
        assert_eq!(refusal, format!("error: bad.json: {problem}"));
    }
    let unclassed = json!([{"tasks": []}, {"class": "large", "tasks": []}, {"class": "small", "tasks": []}]);
    folder.write("bad.json", placement(unclassed));
    assert_eq!(
        folder.refused(&["-q", "compare", "cluster.json", "--placement", "bad.json"]),
        "error: bad.json: servers[0].class: is missing; say it, or name the server where it has a name"
    );
    for (users, problem) in [
        (json!([{"id": "c", "tasks": 1}]), "users[0].id = c: no such user"),
        (json!([{"id": "a"}, {"id": "a"}]), "users[1].id = a: is named twice"),
        (json!([{"id": "b"}, {"id": "a", "tasks": 2}]), "users[1].tasks = 2: on the servers run 1 of a"),
    ] {
        let servers = json!([server("n1", "large", "a", 1)]);
        let stated = json!({"format": "fairplan.placement.v1", "users": users, "servers": servers});
        folder.write("bad.json", stated.to_string());
        let refusal = folder.refused(&["-q", "compare", "cluster.json", "--placement", "bad.json"]);
        assert_eq!(refusal, format!("error: bad.json: {problem}"));
    }
    folder.write("other.json", CLUSTER.replace("\"cpu\": 4", "\"cpu\": 5"));
    folder.done(&["-q", "place", "other.json", "--servers-out", "-o", "placed.json"]);
    let refusal = folder.refused(&["-q", "compare", "cluster.json", "--placement", "placed.json"]);
    assert!(refusal.contains("placed.json: instance.sha256 = "), "{refusal}");
    folder.done(&["-q", "place", "cluster.json", "-o", "short.json"]);
    let refusal = folder.refused(&["-q", "compare", "cluster.json", "--placement", "short.json"]);
    assert!(refusal.contains("short.json: servers: is missing"), "{refusal}");
    folder.done(&["-q", "place", "cluster.json", "--servers-out", "-o", "placed.json"]);
    let words = ["-q", "compare", "cluster.json", "--policies", "best-fit", "--placement"];
    let both = [&words[..], &["placed.json", "placed.json", "placed.json", "placed.json"]].concat();
    assert_eq!(
        folder.refused(&both),
        "error: --placement placed.json says the same as placed.json, byte for byte: name it once"
    );
    let refusal = folder.refused(&["-q", "compare", "-", "--placement", "-"]);
    assert!(refusal.contains("standard input"), "{refusal}");
}

#[test]
fn who_names_a_server_need_not_say_its_class() {
    let folder = cluster();
    let on = |server: &str, tasks: u64| json!({"server": server, "tasks": [{"user": "a", "tasks": tasks}]});
    folder.write("named.json", placement(json!([on("n2", 1), on("n1", 1)])));
    let judged = folder.done(&["-q", "compare", "cluster.json", "--placement", "named.json", "--no-timing"]);
    assert!(judged.contains("\"tasks\": 2"), "{judged}");
    folder.done(&["-q", "plan", "move", "cluster.json", "--from", "named.json", "-o", "moves.json"]);
    folder.done(&["-q", "verify", "cluster.json", "moves.json"]);
}

#[test]
fn moves_from_a_placement_that_breaks_a_rule_are_refused_with_file_server_and_resource() {
    let folder = cluster();
    let all = json!([{"server": "n1", "tasks": [{"user": "a", "tasks": 3}]}]);
    folder.write("full.json", placement(all));
    let words = ["-q", "plan", "move", "cluster.json", "--from", "full.json"];
    let refusal = folder.refused(&words);
    assert!(
        refusal.starts_with("error: full.json: fewest moves are found from a placement that breaks no rule")
    );
    assert!(refusal.contains("of class large, is loaded with") && refusal.contains("cpu"), "{refusal}");
    let costs = [&words[..], &["--cost", "a=1,a=2"]].concat();
    assert_eq!(folder.refused(&costs), "error: --cost a=2: the user is named twice");
}

#[test]
fn names_of_servers_are_one_each_and_stay_in_the_canonical_form() {
    let folder = cluster();
    let written = folder.done(&["-q", "convert", "cluster.json"]);
    assert!(written.contains(r#""count": 2, "names": ["n1", "n2"], "capacity""#), "{written}");
    folder.write("again.json", &written);
    assert_eq!(folder.done(&["-q", "convert", "again.json"]), written);
    for (names, problem) in [
        (
            r#"["n1"]"#,
            "server_classes[0].names = 1 names: the class has 2 servers: name each of them, or none",
        ),
        (r#"["n1", "n1"]"#, "server_classes[0].names[1] = n1: is the name of server_classes[0].names[0] too"),
        (r#"["n1", ""]"#, "server_classes[0].names[1]: a server needs a name"),
        (
            r#"["n1", "small/1"]"#,
            "server_classes[0].names[1] = small/1: is what server 1 of class small is called",
        ),
    ] {
        folder.write("bad.json", CLUSTER.replace(r#"["n1", "n2"]"#, names));
        assert_eq!(folder.refused(&["-q", "solve", "bad.json"]), format!("error: bad.json: {problem}"));
    }
    let words = ["-q", "convert", "cluster.json", "--to-servers", "s.csv", "--to-users", "u.csv"];
    let refusal = folder.refused(&words);
    assert!(refusal.contains("s.csv: server_classes[0].names: a table of classes has no room"), "{refusal}");
}

/// Imports a sample with where its tasks run.
fn present(folder: &Folder, words: &[&str]) -> Value {
    let (cluster, placement) = (folder.path("cluster.json"), folder.path("present.json"));
    let (cluster, placement) = (cluster.to_str().unwrap(), placement.to_str().unwrap());
    let words = [words, &["-o", cluster, "--placement-out", placement]].concat();
    let output = folder.command(&words).current_dir(root()).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    serde_json::from_str(&folder.read("present.json")).unwrap()
}

#[test]
fn what_runs_in_a_kubernetes_cluster_is_imported_node_by_node() {
    let folder = Folder::new();
    let files =
        ["--nodes", "imports/data/kubernetes/nodes.json", "--pods", "imports/data/kubernetes/pods.yaml"];
    let words = [&["import", "kubernetes", "--group", "shape"], &files[..]].concat();
    let present = present(&folder, &words);
    assert_eq!(present["policy"], "kubernetes");
    let cluster: Value = serde_json::from_str(&folder.read("cluster.json")).unwrap();
    assert!(cluster["server_classes"][0]["names"].is_array(), "{cluster}");
    let running: u64 =
        present["users"].as_array().unwrap().iter().map(|user| user["tasks"].as_u64().unwrap()).sum();
    let waiting = present["unplaced"].as_u64().unwrap();
    assert!(running > 0 && waiting > 0, "{running} run, {waiting} wait");
    folder.done(&["-q", "verify", "cluster.json", "present.json"]);
    folder.done(&["-q", "compare", "cluster.json", "--placement", "present.json"]);
    // Without the option nothing changes.
    let plain = [&words[..], &["-q"]].concat();
    let plain = folder.command(&plain).current_dir(root()).output().unwrap();
    assert!(!text(&plain.stdout).contains("names"), "{}", text(&plain.stdout));
}

#[test]
fn what_runs_at_a_moment_of_googles_trace_is_imported_machine_by_machine() {
    let folder = Folder::new();
    folder.write("machines.csv", "0,7,0,,0.5,0.25\n0,3,0,,0.5,0.25\n0,5,0,,1,1\n");
    let row = |task: u64, machine: &str, event: u64, user: &str, cpu: &str| {
        // Names of users are hashes of 44 letters.
        format!("0,2,1,{task},{machine},{event},{user:=<44},0,0,{cpu},0.1,0,0\n")
    };
    let rows = [
        row(0, "", 0, "ada", "0.2"),
        row(0, "7", 1, "ada", "0.2"),
        row(1, "7", 1, "ada", "0.4"),
        row(2, "9", 1, "bob", "0.1"),
        row(3, "5", 1, "bob", "0.1"),
        row(4, "", 0, "bob", "0.1"),
    ];
    folder.write("tasks.csv", rows.concat());
    let files = ["machines.csv", "tasks.csv"].map(|name| folder.path(name).to_str().unwrap().to_owned());
    let words = ["import", "google-2011", "--machine-events", &files[0], "--task-events", &files[1]];
    let present = present(&folder, &[&words[..], &["--group", "shape"]].concat());
    let servers: Vec<String> = (0..3).map(|s| present["servers"][s].to_string()).collect();
    assert!(servers[0].contains(r#""server":"3","tasks":[]"#), "{servers:?}");
    assert!(servers[1].contains(r#""server":"7""#) && servers[1].contains("=:cpu0.4-mem0.1"), "{servers:?}");
    assert_eq!(
        (&present["policy"], &present["unplaced"]),
        (&json!("google"), &json!(2)),
        "one runs elsewhere"
    );
    folder.done(&["-q", "compare", "cluster.json", "--placement", "present.json", "-o", "judged.json"]);
    let judged: Value = serde_json::from_str(&folder.read("judged.json")).unwrap();
    let over = &judged["policies"][6]["judgement"]["over_committed"];
    assert_eq!(over, &json!([{"server": "7", "resource": "cpu", "used": 0.6, "capacity": 0.5}]));
}

#[test]
fn what_runs_in_a_slurm_cluster_is_imported_node_by_node() {
    let folder = Folder::new();
    let nodes: Vec<Value> = ["n1", "n2", "n3"]
        .map(|name| json!({"name": name, "cpus": 8, "real_memory": 1000, "state": "mixed", "partitions": ["p"]}))
        .into();
    let job = |id: u64, user: &str, state: &str, nodes: &str, count: u64| {
        let tres = format!("cpu={},mem={}M,node={count}", 4 * count, 100 * count);
        json!({"job_id": id, "user_name": user, "partition": "p", "job_state": state, "node_count": count,
               "nodes": nodes, "tres_alloc_str": tres})
    };
    folder.write("nodes.json", json!({"nodes": nodes}).to_string());
    let jobs = [
        job(1, "ada", "RUNNING", "n[1,3]", 2),
        job(2, "bob", "RUNNING", "n3", 1),
        job(3, "ada", "PENDING", "", 1),
    ];
    folder.write("jobs.json", json!({"jobs": jobs}).to_string());
    let (nodes, jobs) = (folder.path("nodes.json"), folder.path("jobs.json"));
    let (nodes, jobs) = (nodes.to_str().unwrap(), jobs.to_str().unwrap());
    let words = ["import", "slurm", "--nodes", nodes, "--jobs", jobs, "--group", "user"];
    let present = present(&folder, &words);
    assert_eq!((&present["policy"], &present["unplaced"]), (&json!("slurm"), &json!(1)));
    let tasks = |server: usize| present["servers"][server]["tasks"].to_string();
    assert_eq!(present["servers"][2]["server"], "n3");
    assert_eq!([tasks(0), tasks(1)], [r#"[{"tasks":1,"user":"ada"}]"#, "[]"]);
    assert_eq!(tasks(2), r#"[{"tasks":1,"user":"ada"},{"tasks":1,"user":"bob"}]"#);
}
