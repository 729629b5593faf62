//! The messages of `fairplan.policy.v1`, one JSON object a line. Amounts are decimals as text.

use crate::packing::Packing;
use fairplan_instances::wording::printable;
use fairplan_instances::{Decimal, Instance, Kind, KindId, ServerClass, User};
use serde::Deserialize;
use std::borrow::Cow;
use std::io::Write;

/// Makes the messages to a policy.
pub(super) struct Messages {
    /// Of each kind the fields by which messages name it: `"user":…`, and `"kind":…` where the user has kinds.
    names: Vec<Vec<u8>>,
    /// The cluster's message from its users on.
    users: Vec<u8>,
    /// And what stands before its servers.
    resources: Vec<u8>,
    /// Each class with its capacity.
    classes: Vec<(String, Vec<u8>)>,
}

impl Messages {
    pub(super) fn new(instance: &Instance) -> Self {
        let class_name = |class: usize| instance.classes()[class].id.as_str();
        let mut users = b"],\"users\":[".to_vec();
        for (i, view) in instance.users().enumerate() {
            users.extend_from_slice(if i == 0 { b"{" } else { b",{" });
            let eligible = view.rule().eligible();
            let eligible = eligible.map(|classes| classes.iter().map(|class| class_name(class.0)).collect());
            users.extend(user(view.id(), view.demand(), eligible));
            for (field, most) in [("per_server", view.per_server()), ("spread", view.spread())] {
                if let Some(most) = most {
                    // Writing to memory cannot fail.
                    let _ = write!(users, ",\"{field}\":{most}");
                }
            }
            if let Some(gang) = view.gang() {
                let one = if gang.in_one_domain { ",\"gang_in_domain\":true" } else { "" };
                let _ = write!(users, ",\"gang\":{}{one}", gang.tasks);
            }
            match view.has_kinds() {
                true => users.extend(kinds(view, class_name)),
                false => users.extend(profile(view.profile_name())),
            }
            users.push(b'}');
        }
        users.extend_from_slice(b"]");
        users.extend(profiles(instance));
        users.extend_from_slice(b"}\n");
        let mut resources = b"{\"type\":\"cluster\",\"resources\":".to_vec();
        resources.extend(list(instance.resources().iter().map(|name| text(name))));
        resources.extend_from_slice(b",\"servers\":[");
        let name = |k: usize| {
            let kind = instance.kind(KindId(k));
            let user = [b"\"user\":", &text(kind.user().id())[..]].concat();
            kind.id().map_or(user.clone(), |id| [&user[..], b",\"kind\":", &text(id)].concat())
        };
        Self {
            names: (0..instance.kind_count()).map(name).collect(),
            users,
            resources,
            classes: instance
                .classes()
                .iter()
                .map(|class| (class.id.clone(), [amounts(&class.capacity), rules(instance, class)].concat()))
                .collect(),
        }
    }

    /// The first message: what there is.
    pub(super) fn cluster(&mut self, names: &[String], packing: &Packing, out: &mut Vec<u8>) {
        out.append(&mut self.resources);
        for (at, name) in names.iter().enumerate() {
            out.extend_from_slice(if at == 0 { b"{" } else { b",{" });
            let (class, capacity) = &self.classes[packing.class_of(at).0];
            out.extend(server(name, class, capacity));
            out.push(b'}');
        }
        out.append(&mut self.users);
    }

    /// Asks for a server for a piece of a kind, on these classes if not all that it may use are open.
    pub(super) fn place(&self, task: u64, kind: KindId, classes: Option<&[usize]>, out: &mut Vec<u8>) {
        // Writing to memory cannot fail.
        let _ = write!(out, "{{\"type\":\"place\",\"task\":{task},");
        out.extend_from_slice(&self.names[kind.0]);
        if let Some(classes) = classes {
            out.extend_from_slice(b",\"classes\":");
            out.extend(list(classes.iter().map(|class| text(&self.classes[*class].0))));
        }
        out.extend_from_slice(b"}\n");
    }

    /// Says that a piece of a kind on a server is there no more.
    pub(super) fn end(&self, server: &str, kind: KindId, out: &mut Vec<u8>) {
        let parts: [&[u8]; 5] =
            [b"{\"type\":\"end\",\"server\":", &text(server), b",", &self.names[kind.0], b"}\n"];
        parts.into_iter().for_each(|part| out.extend_from_slice(part));
    }
}

/// What is said of a user's kinds.
fn kinds<'a>(user: User<'_>, class_name: impl Fn(usize) -> &'a str) -> Vec<u8> {
    let kind = |kind: Kind<'_>| {
        let id = text(kind.id().unwrap_or_default());
        let demand = amounts(kind.piece());
        let eligible = kind.rule().eligible().map(|classes| {
            [b",\"eligible\":", &list(classes.iter().map(|class| text(class_name(class.0))))[..]].concat()
        });
        let each = kind.each().to_string();
        let parts: [&[u8]; 8] = [
            b"{\"id\":",
            &id,
            b",\"each\":",
            each.as_bytes(),
            b",\"demand\":",
            &demand,
            &eligible.unwrap_or_default(),
            &profile(kind.profile_name()),
        ];
        [&parts.concat()[..], b"}"].concat()
    };
    [b",\"kinds\":", &list(user.kinds().map(kind))[..]].concat()
}

/// What is said of the part of a device that a task or a piece takes.
fn profile(name: Option<&str>) -> Vec<u8> {
    name.map_or(Vec::new(), |name| [b",\"profile\":", &text(name)[..]].concat())
}

/// What is said of what devices can be cut into.
fn profiles(instance: &Instance) -> Vec<u8> {
    let mut field = Vec::new();
    // Writing to memory cannot fail.
    for (position, cut) in instance.device_profiles().iter().enumerate() {
        field.extend_from_slice(if position == 0 { b",\"device_profiles\":{" } else { b"," });
        field.extend(text(&instance.resources()[cut.resource.0]));
        let _ = write!(field, ":{{\"slices\":{},\"profiles\":", cut.slices);
        for (position, profile) in cut.profiles.iter().enumerate() {
            field.extend_from_slice(if position == 0 { b"{" } else { b"," });
            field.extend(text(&profile.name));
            let _ = write!(field, ":{{\"slices\":{},\"starts\":{:?}}}", profile.slices, profile.starts);
        }
        field.extend_from_slice(b"}}");
    }
    field.extend_from_slice(if instance.device_profiles().is_empty() { b"" } else { b"}" });
    field
}

/// What is said of a server's devices and domain.
fn rules(instance: &Instance, class: &ServerClass) -> Vec<u8> {
    let mut fields = Vec::new();
    for (position, (resource, count)) in class.devices.iter().enumerate() {
        fields.extend_from_slice(if position == 0 { b",\"devices\":{" } else { b"," });
        fields.extend(text(&instance.resources()[resource.0]));
        // Writing to memory cannot fail.
        let _ = write!(fields, ":{count}");
    }
    fields.extend_from_slice(if class.devices.is_empty() { b"" } else { b"}" });
    if let Some(domain) = &class.domain {
        fields.extend_from_slice(b",\"domain\":");
        fields.extend(text(domain));
    }
    fields
}

/// What is said of a server.
pub(super) fn server(name: &str, class: &str, capacity: &[u8]) -> Vec<u8> {
    [b"\"id\":", &text(name)[..], b",\"class\":", &text(class), b",\"capacity\":", capacity].concat()
}

/// What is said of a user.
pub(super) fn user(id: &str, demand: &[Decimal], eligible: Option<Vec<&str>>) -> Vec<u8> {
    let fields = [b"\"id\":", &text(id)[..], b",\"demand\":", &amounts(demand)].concat();
    match eligible {
        None => fields,
        Some(classes) => [&fields[..], b",\"eligible\":", &list(classes.into_iter().map(text))].concat(),
    }
}

/// What a task lacks where it has no room: `it needs 2 of cpu, and 0.5 is free`.
pub(super) fn short_of(
    demand: &[u128],
    free: &[u128],
    resources: &[String],
    exponent: impl Fn(usize) -> i32,
) -> Option<String> {
    let short = (0..demand.len()).find(|r| demand[*r] > free[*r])?;
    let amount = |units: u128| {
        Decimal::from_units(units, exponent(short))
            .map_or_else(|_| units.to_string(), |amount| amount.to_string())
    };
    let resource = resources.get(short).map_or("a resource", String::as_str);
    let (needed, left) = (amount(demand[short]), amount(free[short]));
    Some(format!("it needs {needed} of {}, and {left} is free", printable(resource, 100)))
}

pub(super) fn text(text: &str) -> Vec<u8> {
    serde_json::to_vec(text).unwrap_or_default()
}

fn list(items: impl Iterator<Item = Vec<u8>>) -> Vec<u8> {
    let mut list = b"[".to_vec();
    for (position, item) in items.enumerate() {
        if position > 0 {
            list.push(b',');
        }
        list.extend(item);
    }
    list.push(b']');
    list
}

pub(super) fn amounts(amounts: &[Decimal]) -> Vec<u8> {
    list(amounts.iter().map(|amount| text(&amount.to_string())))
}

/// What a policy answers.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Answer<'a> {
    /// The server of this name.
    Server(Cow<'a, str>),
    /// None has room.
    Nowhere,
    /// Something else.
    Nonsense,
}

/// Reads an answer.
pub(super) fn answer(line: &[u8]) -> Answer<'_> {
    // Mostly there is nothing to undo in a name.
    let plain = line.trim_ascii().strip_prefix(b"{\"server\":").map(<[u8]>::trim_ascii_start);
    let plain = plain.and_then(|rest| rest.strip_prefix(b"\"")?.strip_suffix(b"\"}"));
    if let Some(name) = plain.filter(|name| !name.iter().any(|byte| matches!(byte, b'"' | b'\\' | 0..0x20)))
        && let Ok(name) = std::str::from_utf8(name)
    {
        return Answer::Server(name.into());
    }
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Fields {
        // With a function of its own the member must be there, if only as null.
        #[serde(deserialize_with = "Option::deserialize")]
        server: Option<String>,
    }
    match serde_json::from_slice(line) {
        Ok(Fields { server: Some(name) }) => Answer::Server(name.into()),
        Ok(Fields { server: None }) => Answer::Nowhere,
        Err(_) => Answer::Nonsense,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fairplan_instances::{DeviceProfile, DeviceProfiles, Draft, ResourceId, generate};

    #[test]
    fn answers_are_a_servers_name_or_null_and_nothing_else() {
        let server = |name: &'static str| Answer::Server(name.into());
        for (line, expected) in [
            ("{\"server\":\"a/1\"}\n", server("a/1")),
            ("{\"server\": \"a b\"}\r\n", server("a b")),
            (" { \"server\" : \"a\\\"b\" } \n", server("a\"b")),
            ("{\"server\": null}\n", Answer::Nowhere),
            ("{}\n", Answer::Nonsense),
            ("{\"server\": 1}\n", Answer::Nonsense),
            ("{\"server\": \"a\", \"task\": 1}\n", Answer::Nonsense),
            ("{\"server\":\"a\",\"b\":\"c\"}\n", Answer::Nonsense),
            ("\n", Answer::Nonsense),
            ("null\n", Answer::Nonsense),
        ] {
            assert_eq!(answer(line.as_bytes()), expected, "{line}");
        }
        assert_eq!(answer(b"{\"server\":\"\xff\"}"), Answer::Nonsense);
    }

    #[test]
    fn messages_are_those_of_the_protocol() {
        let mut draft = Draft::from(&generate::drfh_fig1().unwrap());
        draft.classes[0].set_count(2);
        draft.classes[1].names = vec!["n\"1".into()];
        draft.users[1].eligible = Some(vec![1]);
        let instance = draft.build().unwrap();
        let packing = Packing::in_resources(&instance).unwrap();
        let mut messages = Messages::new(&instance);
        let names = ["high-memory/1", "high-memory/2", "n\"1"].map(str::to_owned);
        let mut out = Vec::new();
        messages.cluster(&names, &packing, &mut out);
        messages.place(7, KindId(1), None, &mut out);
        assert_eq!(
            String::from_utf8(out).unwrap(),
            concat!(
                r#"{"type":"cluster","resources":["cpu","memory"],"servers":["#,
                r#"{"id":"high-memory/1","class":"high-memory","capacity":["2","12"]},"#,
                r#"{"id":"high-memory/2","class":"high-memory","capacity":["2","12"]},"#,
                r#"{"id":"n\"1","class":"high-cpu","capacity":["12","2"]}],"#,
                r#""users":[{"id":"user-1","demand":["0.2","1"]},"#,
                r#"{"id":"user-2","demand":["1","0.2"],"eligible":["high-cpu"]}]}"#,
                "\n",
                r#"{"type":"place","task":7,"user":"user-2"}"#,
                "\n"
            )
        );
    }

    #[test]
    fn a_policy_is_told_into_what_devices_are_cut_and_who_has_which_profile() {
        let mut draft = Draft::from(&generate::drfh_fig1().unwrap());
        let cpu = ResourceId(0);
        draft.classes.truncate(1);
        draft.classes[0].devices = vec![(cpu, 2)];
        let profile = DeviceProfile { name: "1\"2".into(), slices: 1, starts: vec![0, 1] };
        draft.device_profiles = vec![DeviceProfiles { resource: cpu, slices: 2, profiles: vec![profile] }];
        draft.users[0].demand[0] = "0.5".parse().unwrap();
        draft.users[0].profile = Some("1\"2".into());
        let instance = draft.build().unwrap();
        let packing = Packing::in_resources(&instance).unwrap();
        let mut out = Vec::new();
        Messages::new(&instance).cluster(&["s".into()], &packing, &mut out);
        let told = String::from_utf8(out).unwrap();
        let users = concat!(
            r#""users":[{"id":"user-1","demand":["0.5","1"],"profile":"1\"2"},{"id":"user-2","demand":["1","0.2"]}],"#,
            r#""device_profiles":{"cpu":{"slices":2,"profiles":{"1\"2":{"slices":1,"starts":[0, 1]}}}}}"#,
            "\n"
        );
        assert!(told.ends_with(users), "{told}");
    }
}
