//! Devices, their profiles and limits a server in JSON: read and written back to the byte, refused with the field.

use super::*;

fn file(class: &str, user: &str) -> String {
    format!(
        r#"{{
  "format": "fairplan.instance.v1",
  "resources": ["cpu", "gpu"],
  "server_classes": [
    {{"id": "a100", "count": 2, "capacity": {{"cpu": 96, "gpu": 8}}{class}}}
  ],
  "users": [
    {{"id": "trainer", "demand": {{"cpu": 1, "gpu": 0.5}}{user}}}
  ]
}}
"#
    )
}

#[test]
fn devices_and_limits_a_server_are_read_and_written_back_to_the_byte() {
    let folder = Folder::new();
    let text = file(r#", "devices": {"gpu": 8}"#, r#", "tasks": 3, "per_server": 1"#);
    let instance = crate::files::read_instance(&folder.file("devices.json", &text)).unwrap();
    assert_eq!(json(&instance), text);
    let without = crate::files::read_instance(&folder.file("without.json", file("", ""))).unwrap();
    assert!(instance.has_server_rules() && !without.has_server_rules());
    assert_ne!(crate::files::sha256_hex(&instance), crate::files::sha256_hex(&without));
}

#[test]
fn gangs_domains_and_spread_are_read_and_written_back_to_the_byte() {
    let folder = Folder::new();
    let class = r#", "devices": {"gpu": 8}"#;
    let rules = r#", "tasks": 8, "gang": 4, "gang_in_domain": true, "spread": 4, "per_server": 2"#;
    let text = file(class, rules).replace(r#""count": 2, "#, r#""count": 2, "domain": "rack-1", "#);
    let instance = crate::files::read_instance(&folder.file("gangs.json", &text)).unwrap();
    assert_eq!(json(&instance), text);
    let said_no = text.replace(": true", ": false");
    let instance = crate::files::read_instance(&folder.file("gangs.json", &said_no)).unwrap();
    assert_eq!(json(&instance), text.replace(r#", "gang_in_domain": true"#, ""));
}

#[test]
fn rules_of_a_user_with_kinds_are_read_and_written_back_to_the_byte() {
    let rules = r#""tasks": 4, "gang": 2, "gang_in_domain": true, "spread": 6, "per_server": 1"#;
    let text = format!(
        r#"{{
  "format": "fairplan.instance.v1",
  "resources": ["cpu"],
  "server_classes": [
    {{"id": "a", "count": 4, "domain": "rack-1", "capacity": {{"cpu": 4}}}}
  ],
  "users": [
    {{"id": "job", {rules}, "kinds": [{{"id": "worker", "each": 2, "demand": {{"cpu": 1}}}}, {{"id": "driver", "each": 1, "demand": {{"cpu": 2}}}}]}}
  ]
}}
"#
    );
    let folder = Folder::new();
    let read = |text: &str| crate::files::read_instance(&folder.file("kinds.json", text));
    assert_eq!(json(&read(&text).unwrap()), text);
    let told = |from: &str, to: &str| read(&text.replace(from, to)).unwrap_err().to_string();
    assert!(
        told(r#""gang": 2"#, r#""gang": 3"#).ends_with(
            "users[0].gang = 3: more than each domain holds: at most 2 tasks of the user run in one domain; make it smaller"
        ),
        "four servers have four workers"
    );
    assert!(
        told(r#""spread": 6"#, r#""spread": 3"#).contains("users[0].spread = 3: a gang of 4 in one domain")
    );
}

/// Two servers of two GPUs, cut into four slices, with these fields of the profiles and of two users.
fn cut(profiles: &str, users: [&str; 2]) -> String {
    let [first, second] = users;
    format!(
        r#"{{
  "format": "fairplan.instance.v1",
  "resources": ["cpu", "gpu"],
  "server_classes": [
    {{"id": "a30", "count": 2, "capacity": {{"cpu": 32, "gpu": 2}}, "devices": {{"gpu": 2}}}}
  ],
  "device_profiles": {{
    "gpu": {profiles}
  }},
  "users": [
    {{"id": "plain", {first}}},
    {{"id": "bundle", {second}}}
  ]
}}
"#
    )
}

const PROFILES: &str = r#"{"slices": 4, "profiles": {
      "1g.6gb": {"slices": 1, "starts": [0, 1, 2, 3]},
      "2g.12gb": {"slices": 2, "starts": [0, 2]}}}"#;
const PLAIN: &str = r#""demand": {"cpu": 1, "gpu": 0.5}, "profile": "2g.12gb""#;
const BUNDLE: &str = r#""kinds": [{"id": "w", "each": 2, "demand": {"cpu": 1, "gpu": 0.25}, "profile": "1g.6gb"}, {"id": "d", "each": 1, "demand": {"cpu": 1}}]"#;

#[test]
fn profiles_are_read_and_written_back_to_the_byte_and_their_amounts_filled_in() {
    let folder = Folder::new();
    let read = |text: &str| crate::files::read_instance(&folder.file("cut.json", text)).unwrap();
    let text = cut(PROFILES, [PLAIN, BUNDLE]);
    assert_eq!(json(&read(&text)), text);
    let left_out = text.replace(r#", "gpu": 0.5"#, "").replace(r#", "gpu": 0.25"#, "");
    assert_eq!(json(&read(&left_out)), text);
    let without_demand = text.replace(r#""demand": {"cpu": 1, "gpu": 0.5}, "#, "");
    assert_eq!(json(&read(&without_demand)), text.replace(r#""cpu": 1, "gpu": 0.5"#, r#""gpu": 0.5"#));
    let in_other_order = text.replace(
        r#""1g.6gb": {"slices": 1, "starts": [0, 1, 2, 3]},
      "2g.12gb": {"slices": 2, "starts": [0, 2]}"#,
        r#""2g.12gb": {"slices": 2, "starts": [0, 2]}, "1g.6gb": {"starts": [0, 1, 2, 3], "slices": 1}"#,
    );
    assert_ne!(in_other_order, text);
    assert_eq!(json(&read(&in_other_order)), text);
    let warnings = crate::lint(&read(&text));
    let told: Vec<&str> = warnings.iter().map(|warning| warning.message.as_str()).collect();
    assert_eq!(
        told,
        ["answers in divided tasks ignore devices and `profile`: whole tasks reach at most as much"]
    );
}

#[test]
fn what_is_wrong_with_profiles_is_refused_with_the_field() {
    let folder = Folder::new();
    let refusal = |profiles: &str, users: [&str; 2]| {
        let told = crate::files::read_instance(&folder.file("cut.json", cut(profiles, users))).unwrap_err();
        told.to_string()
    };
    let profiles = |change: [&str; 2]| {
        let changed = PROFILES.replace(change[0], change[1]);
        assert_ne!(changed, PROFILES);
        refusal(&changed, [PLAIN, BUNDLE])
    };
    let of = "device_profiles.gpu.profiles.2g.12gb";
    for (change, expected) in [
        (
            ["[0, 2]", "[0, 3]"],
            format!("{of}.starts[1] = 3: 2 slices from there on end behind the last slice"),
        ),
        (["[0, 2]", "[2, 0]"], format!("{of}.starts[1] = 0: comes after 2")),
        (["[0, 2]", "[0, 0.5]"], format!("{of}.starts[1] = 0.5: must be a whole number")),
        (["[0, 2]", "[0, 99999999999]"], format!("{of}.starts[1] = 99999999999: is too large")),
        (["[0, 2]", "7"], format!("{of}.starts: invalid type")),
        (["\"starts\": [0, 2]", "\"start\": [0, 2]"], format!("{of}.start: unknown field")),
        (["2g.12gb", "1g.6gb"], "device_profiles.gpu.profiles.1g.6gb: duplicate key".into()),
        (
            ["{\"slices\": 4, \"profiles\"", "{\"slices\": 0, \"profiles\""],
            "device_profiles.gpu.slices = 0: must be from 1 to 64".into(),
        ),
        (
            ["{\"slices\": 4, \"profiles\"", "{\"slices\": 3, \"profiles\""],
            "device_profiles.gpu.slices = 3: does not divide a device of 1 gpu".into(),
        ),
    ] {
        let told = profiles(change);
        assert!(told.contains(&expected), "{told}");
    }
    let told = crate::files::read_instance(
        &folder
            .file("cut.json", cut(PROFILES, [PLAIN, BUNDLE]).replace("\n    \"gpu\": {", "\n    \"tpu\": {")),
    );
    let expected = "device_profiles.tpu: unknown resource; there are cpu, gpu";
    assert!(told.unwrap_err().to_string().contains(expected));
    let told = crate::files::read_instance(
        &folder
            .file("cut.json", cut(PROFILES, [PLAIN, BUNDLE]).replace("\n    \"gpu\": {", "\n    \"cpu\": {")),
    );
    let expected = "device_profiles.cpu: no server class has devices of cpu";
    assert!(told.unwrap_err().to_string().contains(expected));
    for (plain, expected) in [
        (
            r#""profile": "2g.12g""#,
            "users[0].profile = 2g.12g: unknown profile 2g.12g (did you mean 2g.12gb?)",
        ),
        (
            r#""demand": {"gpu": 0.25}, "profile": "2g.12gb""#,
            "users[0].demand.gpu = 0.25: a part of profile 2g.12gb is 0.5 gpu; leave it out",
        ),
        (
            r#""demand": {"cpu": 1, "gpu": 0}, "profile": "2g.12gb""#,
            "users[0].demand.gpu = 0: a part of profile 2g.12gb is 0.5 gpu; leave it out",
        ),
    ] {
        let told = refusal(PROFILES, [plain, BUNDLE]);
        assert!(told.contains(expected), "{told}");
    }
    let kinds = |change: [&str; 2]| refusal(PROFILES, [PLAIN, &BUNDLE.replace(change[0], change[1])]);
    for (change, expected) in [
        (["1g.6gb", "1g"], "users[1].kinds[0].profile = 1g: unknown profile 1g (did you mean 1g.6gb?)"),
        (["0.25", "0.5"], "users[1].kinds[0].demand.gpu = 0.5: a part of profile 1g.6gb is 0.25 gpu"),
        (["\"demand\": {\"cpu\": 1}", "\"eligible\": [\"a30\"]"], "users[1].kinds[1].demand: missing"),
    ] {
        let told = kinds(change);
        assert!(told.contains(expected), "{told}");
    }
    let with_own = format!("{BUNDLE}, \"profile\": \"1g.6gb\"");
    let told = refusal(PROFILES, [PLAIN, &with_own]);
    assert!(told.contains("users[1].profile: each kind says which profile it has; move it there"), "{told}");
    let users = crate::files::write_users(
        &crate::files::read_instance(&folder.file("cut.json", cut(PROFILES, [PLAIN, PLAIN]))).unwrap(),
        "u.csv",
        &mut Vec::new(),
    );
    let told = "u.csv: users[0].profile = 2g.12gb: tables have no room for profiles of devices; write JSON";
    assert_eq!(users.unwrap_err().to_string(), told);
}

#[test]
fn what_is_wrong_with_them_is_refused_with_the_field() {
    let folder = Folder::new();
    let refusal = |class: &str, user: &str| {
        crate::files::read_instance(&folder.file("devices.json", file(class, user))).unwrap_err().to_string()
    };
    let cases = [
        (r#", "devices": {"gpu": 2.5}"#, "", "server_classes[0].devices.gpu = 2.5: must be a whole number"),
        (
            r#", "devices": {"tpu": 2}"#,
            "",
            "server_classes[0].devices.tpu: unknown resource; there are cpu, gpu",
        ),
        (
            r#", "devices": {"gpu": 3}"#,
            "",
            "server_classes[0].devices.gpu = 3: does not divide the capacity of 8 gpu",
        ),
        ("", r#", "per_server": -1"#, "users[0].per_server = -1: must be >= 0"),
        ("", r#", "per_server": 0"#, "users[0].per_server = 0: lets no task run"),
        ("", r#", "gang": 0"#, "users[0].gang = 0: a gang has 2 tasks or more"),
        ("", r#", "gang": 400"#, "users[0].gang = 400: more than the cluster holds: at most 32 tasks"),
        (
            "",
            r#", "gang": 4, "gang_in_domain": true"#,
            "users[0].gang_in_domain = true: no server class is in a domain",
        ),
        (
            r#", "domain": "a""#,
            r#", "gang_in_domain": true"#,
            "users[0].gang_in_domain: says where a gang runs",
        ),
        ("", r#", "spread": 1"#, "users[0].spread = 1: no server class is in a domain"),
        (r#", "domain": "" "#, "", "server_classes[0].domain: a domain needs a name"),
    ];
    for (class, user, expected) in cases {
        let told = refusal(class, user);
        assert!(told.contains(expected), "{told}");
    }
}

#[test]
fn tables_refuse_them() {
    let folder = Folder::new();
    let read =
        |class, user| crate::files::read_instance(&folder.file("devices.json", file(class, user))).unwrap();
    let servers =
        crate::files::write_servers(&read(r#", "devices": {"gpu": 8}"#, ""), "s.csv", &mut Vec::new());
    let told = "s.csv: server_classes[0].devices: tables have no room for devices; write JSON";
    assert_eq!(servers.unwrap_err().to_string(), told);
    let servers = crate::files::write_servers(&read(r#", "domain": "a""#, ""), "s.csv", &mut Vec::new());
    let told = "s.csv: server_classes[0].domain: tables have no room for domains; write JSON";
    assert_eq!(servers.unwrap_err().to_string(), told);
    let users = crate::files::write_users(&read("", r#", "gang": 4"#), "u.csv", &mut Vec::new());
    let told = "u.csv: users[0].gang = 4: a table of users does not know gangs yet; leave it out";
    assert_eq!(users.unwrap_err().to_string(), told);
    let users = crate::files::write_users(&read("", r#", "per_server": 1"#), "u.csv", &mut Vec::new());
    let told = "u.csv: users[0].per_server = 1: tables have no room for limits a server; write JSON";
    assert_eq!(users.unwrap_err().to_string(), told);
}
