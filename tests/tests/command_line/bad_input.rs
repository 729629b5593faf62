//! Each kind of bad input: one clear line with file, place and value, exit status 2, nothing written.

use super::Folder;

const VALID: &str = r#"{
  "format": "fairplan.instance.v1",
  "name": "valid",
  "resources": ["cpu", "memory"],
  "server_classes": [
    {"id": "a", "count": 2, "capacity": {"cpu": 4, "memory": 8}},
    {"id": "b", "count": 1, "capacity": {"cpu": 8, "memory": 4}}
  ],
  "users": [
    {"id": "u", "demand": {"cpu": 1, "memory": 2}},
    {"id": "v", "demand": {"cpu": 2, "memory": 1}, "eligible": ["a"]}
  ]
}
"#;

/// What is replaced in the valid instance, by what, and what the message must contain.
const CHANGES: [(&str, &str, &str); 24] = [
    (r#""cpu": 1,"#, r#""cpu": NaN,"#, "line 10"),
    (r#""cpu": 1,"#, r#""cpu": Infinity,"#, "line 10"),
    (r#""cpu": 1,"#, r#""cpu": "nan","#, "users[0].demand"),
    (r#""cpu": 1,"#, r#""cpu": -2,"#, "users[0].demand.cpu = -2: must be >= 0"),
    (r#""cpu": 1,"#, r#""cpu": 1e999,"#, "users[0].demand.cpu = 1e999"),
    (r#""cpu": 1,"#, r#""cpu": null,"#, "users[0].demand"),
    (r#"{"cpu": 1, "memory": 2}"#, "{}", "users[0].demand: a task must need some resource"),
    (r#"{"cpu": 1, "memory": 2}"#, r#"{"cpu": 0}"#, "users[0].demand: a task must need some resource"),
    (r#"{"cpu": 1, "memory": 2}"#, r#"{"gpu": 1}"#, "gpu"),
    (r#"["a"]"#, r#"["c"]"#, "users[1].eligible"),
    (r#""id": "v""#, r#""id": "u""#, "users[1].id = u: duplicate id"),
    (r#""id": "b""#, r#""id": "a""#, "server_classes[1].id = a: duplicate id"),
    (r#""id": "v","#, r#""id": "v", "id": "w","#, "id"),
    (r#"{"cpu": 1, "memory": 2}"#, r#"{"cpu": 1, "cpu": 2}"#, "cpu"),
    (r#""cpu": 4, "memory": 8"#, r#""cpu": 4, "memory": -0.5"#, "server_classes[0].capacity.memory = -0.5"),
    (r#""count": 2"#, r#""count": 2.5"#, "server_classes[0].count = 2.5"),
    (r#""count": 2"#, r#""count": -1"#, "server_classes[0].count"),
    (r#""eligible": ["a"]"#, r#""weight": 0"#, "users[1].weight = 0: must be > 0"),
    (r#""eligible": ["a"]"#, r#""wieght": 2"#, "wieght"),
    (r#""eligible": ["a"]"#, r#""tasks": -3"#, "users[1].tasks"),
    (r#""eligible": ["a"]"#, r#""rates": {"a": 0}"#, "users[1].rates"),
    ("instance.v1", "instance.v2", "fairplan.instance.v2"),
    (r#"["cpu", "memory"]"#, r#"["cpu", "cpu"]"#, "resources[1] = cpu: duplicate resource"),
    (r#"["cpu", "memory"]"#, "[]", "resources"),
];

#[test]
fn each_bad_value_is_named_with_file_and_place() {
    let folder = Folder::new();
    folder.write("bad.json", VALID);
    folder.done(&["solve", "bad.json", "--quiet"]);
    folder.write("old.json", "old");
    for (from, to, fragment) in CHANGES {
        assert!(VALID.contains(from), "{from}");
        folder.write("bad.json", VALID.replacen(from, to, 1));
        for command in ["solve", "place", "compare"] {
            let line = folder.refused(&[command, "bad.json", "-o", "new.json"]);
            assert!(line.contains("bad.json") && line.contains(fragment), "{to}: {line}");
            folder.refused(&[command, "bad.json", "-o", "old.json"]);
            assert_eq!(folder.read("old.json"), "old");
        }
    }
}

#[test]
fn objectives_that_are_none_or_that_the_instance_cannot_have_are_refused_with_the_reason() {
    let folder = Folder::new();
    folder.write("valid.json", VALID);
    for (objective, fragment) in [
        ("alpha=-0.5", "the A of alpha=A must be >= 0"),
        ("alpha=nan", "the A of alpha=A must be a finite number"),
        ("alpha=65", "the A of alpha=A must be from 0 to 64, not 65"),
        ("bmf", "users[1].eligible: bmf treats all servers as one, so nobody is bound to some"),
        ("drf", "users[1].eligible: drf treats all servers as one, so nobody is bound to some"),
    ] {
        let line = folder.refused(&["solve", "valid.json", "--objective", objective, "-o", "new.json"]);
        assert!(line.contains(fragment), "{objective}: {line}");
    }
}

#[test]
fn instances_without_users_servers_or_a_demanded_resource_are_refused() {
    let folder = Folder::new();
    let list = |name: &str| {
        let start = VALID.find(&format!("\"{name}\": [\n")).unwrap();
        let end = start + VALID[start..].find("\n  ]").unwrap() + 4;
        VALID.replace(&VALID[start..end], &format!("\"{name}\": []"))
    };
    for (content, fragment) in [
        (list("users"), "users: there are no users"),
        (list("server_classes").replace(r#", "eligible": ["a"]"#, ""), "the cluster has no servers"),
        (VALID.replace("\"count\": 2", "\"count\": 0").replace("\"count\": 1", "\"count\": 0"), "no servers"),
        (
            VALID.replace("\"memory\": 8", "\"memory\": 0").replace("\"memory\": 4", "\"memory\": 0"),
            "no server has any memory",
        ),
        (String::new(), "the file is empty"),
        (" \n".into(), "the file is empty"),
        ("{}".into(), "format"),
        ("[]".into(), ""),
        (VALID[..VALID.len() / 2].into(), "line"),
        (VALID.to_owned() + "x", "line 14"),
    ] {
        folder.write("bad.json", &content);
        let line = folder.refused(&["solve", "bad.json", "-o", "out.json"]);
        assert!(line.contains("bad.json") && line.contains(fragment), "{fragment}: {line}\n{content}");
    }
}

#[test]
fn a_file_of_nothing_but_white_space_is_empty_whatever_reads_it() {
    let folder = Folder::new();
    folder.write("valid.json", VALID);
    folder.write("demands.csv", "quantum,user,demand\n0,u,1\n");
    for blank in ["", " \r\n\t\n", "\u{feff}", "\u{feff} \n"] {
        folder.write("blank", blank);
        for words in [
            "solve blank",
            "solve --servers blank --users blank",
            "verify valid.json blank",
            "verify blank valid.json",
            "report blank",
            "compare valid.json --placement blank",
            "plan move valid.json --from blank",
            "plan buy valid.json --catalog blank --as-today",
            "plan growth valid.json --series blank --as-today",
            "allocate blank",
            "allocate demands.csv --fair-shares blank",
            "offline blank",
            "flows blank",
            "simulate blank",
            "sweep plan blank",
            "import kubernetes --nodes blank --pods blank",
            "import kubernetes-queues --nodes blank --queues blank",
            "import kueue blank",
            "import slurm --nodes blank --jobs blank",
            "import yarn --nodes blank --queues blank",
            "import alibaba-gpu2023 --nodes blank --pods blank",
            "import alibaba-gpu2023-trace --nodes blank --pods blank",
            "import azure-v1 --arrivals blank --sizes blank --servers 1 --cores 1 --memory 1",
            "import philly-trace blank --servers 1",
            "import swf-trace blank",
            "import snowset blank",
            "import helios blank",
            "import shaved-ice blank",
            "import google-2011 --machine-events blank --task-events blank",
            "import google-2011-trace --machine-events blank --task-events blank",
        ] {
            let words: Vec<&str> = words.split(' ').collect();
            assert_eq!(folder.refused(&words), "error: blank: the file is empty", "{words:?}, {blank:?}");
        }
    }
}

#[test]
fn what_computing_finds_wrong_with_a_value_is_told_with_its_file() {
    let folder = Folder::new();
    let tiny = VALID.replace(r#""memory": 2"#, r#""memory": 0"#).replace(r#""cpu": 1,"#, r#""cpu": 1e-15,"#);
    let long = VALID
        .replace(r#""cpu": 4,"#, r#""cpu": 7.12345678901237,"#)
        .replace(r#"{"cpu": 2, "memory": 1}"#, r#"{"cpu": 0.12345678912343}"#)
        .replace(r#""eligible": ["a"]"#, r#""weight": 1.234567890123456789"#);
    let rates = VALID.replace(r#"["a"]"#, r#"["a"], "rates": {"a": 0.5}"#);
    folder.write("tiny.json", tiny);
    folder.write("long.json", long);
    folder.write("rates.json", rates);
    folder.write("servers.csv", "id,count,cpu\na,1,4\n");
    folder.write("users.csv", "id,cpu\nu,1e-15\n");
    for (words, told) in [
        ("-q bound tiny.json", "tiny.json: users[0].demand: is so small that a server holds more than 2^40"),
        ("-q bound --servers servers.csv --users users.csv", "users.csv: users[0].demand: is so small"),
        ("-q bound long.json", "long.json: users[1].weight = 1.234567890123456789: has too many digits"),
        ("-q bound rates.json", "rates.json: users[1].rates: "),
        ("-q solve rates.json --objective drf", "rates.json: users[1]."),
    ] {
        let words: Vec<&str> = words.split(' ').collect();
        let line = folder.refused(&words);
        assert!(line.starts_with(&format!("error: {told}")), "{words:?}: {line}");
    }
}

#[test]
fn files_that_are_no_text_are_refused() {
    let folder = Folder::new();
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    std::io::Write::write_all(&mut gzip, VALID.as_bytes()).unwrap();
    let gzip = gzip.finish().unwrap();
    folder.write("good.json.gz", &gzip);
    folder.done(&["solve", "good.json.gz", "--quiet"]);
    let mut invalid = VALID.as_bytes().to_vec();
    invalid[50] = 0xff;
    for (name, content) in [
        ("cut.json.gz", &gzip[..gzip.len() - 5]),
        ("cut.json.gz", &gzip[..gzip.len() / 2]),
        ("cut.json.gz", &gzip[..3]),
        ("invalid.json", &invalid[..]),
        ("zeros.json", &[0; 4096]),
    ] {
        folder.write(name, content);
        let line = folder.refused(&["solve", name, "-o", "out.json"]);
        assert!(line.contains(name), "{line}");
    }
}

#[test]
fn paths_that_cannot_be_read_are_refused() {
    let folder = Folder::new();
    std::fs::create_dir(folder.path("directory")).unwrap();
    for (path, fragment) in
        [("directory", "directory"), ("missing.json", "No such file"), ("", "No such file")]
    {
        let line = folder.refused(&["solve", path, "-o", "out.json"]);
        assert!(line.contains(path) && line.contains(fragment), "{line}");
    }
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let secret = folder.write("secret.json", VALID);
        std::fs::set_permissions(&secret, std::fs::Permissions::from_mode(0o0)).unwrap();
        if std::fs::read(&secret).is_ok() {
            eprintln!("skipped: this user may read every file");
        } else {
            let line = folder.refused(&["solve", "secret.json"]);
            assert!(line.contains("secret.json: Permission denied"), "{line}");
        }
    }
}

#[test]
fn broken_tables_are_refused_with_line_and_column() {
    let folder = Folder::new();
    let servers = "id,count,cpu,memory\na,2,4,8\nb,1,8,4\n";
    let users = "id,cpu,memory,weight\nu,1,2,1\nv,2,1,3\n";
    folder.write("servers.csv", servers);
    folder.write("users.csv", users);
    folder.done(&["solve", "--servers", "servers.csv", "--users", "users.csv", "--quiet"]);
    for (from, to, fragment) in [
        ("u,1,2,1", "u,nan,2,1", "line 2"),
        ("u,1,2,1", "u,inf,2,1", "line 2"),
        ("v,2,1,3", "v,2,-1,3", "line 3"),
        ("v,2,1,3", "v,2,1e999,3", "line 3"),
        ("v,2,1,3", "u,2,1,3", "line 3"),
        ("v,2,1,3", "v,0,0,3", "line 3"),
        ("v,2,1,3", "v,2,1", "line 3"),
        ("v,2,1,3", "v,2,1,0", "line 3"),
        ("cpu,memory", "cpu,cpu", "cpu"),
        ("cpu,memory", "cpu,gpu", "gpu"),
    ] {
        folder.write("users.csv", users.replacen(from, to, 1));
        let line =
            folder.refused(&["solve", "--servers", "servers.csv", "--users", "users.csv", "-o", "out.json"]);
        assert!(line.contains("users.csv") && line.contains(fragment), "{to}: {line}");
    }
    for content in ["", "id,cpu,memory\n"] {
        folder.write("users.csv", content);
        let line = folder.refused(&["solve", "--servers", "servers.csv", "--users", "users.csv"]);
        assert!(line.contains("users"), "{line}");
    }
}

#[test]
fn wrong_words_are_refused_with_where_to_read_on() {
    let folder = Folder::new();
    folder.write("valid.json", VALID);
    for words in [
        &["solv", "valid.json"][..],
        &["solve"],
        &["solve", "valid.json", "--objective", "fairness"],
        &["solve", "valid.json", "--backend", "cplex"],
        &["solve", "valid.json", "--threads", "0"],
        &["solve", "valid.json", "--servers", "valid.json", "--users", "valid.json"],
        &["place", "valid.json", "--policy", "best"],
        &["place", "valid.json", "--policy", "slots=0"],
        &["compare", "valid.json", "--policies", "best-fit,worst"],
        &["generate", "google", "--servers", "0"],
        &["generate", "drfh-fig4", "--users", "4"],
        &["schema", "report"],
        &["verify", "valid.json"],
        &["verify", "valid.json", "valid.json"],
        &["solve", "valid.json", "-o", "missing/out.json"],
        &["solve", "valid.json", "-o", "."],
    ] {
        folder.refused(words);
    }
}
