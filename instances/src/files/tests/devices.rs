//! Devices and limits a server in JSON: read and written back to the byte, refused with the field.

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
