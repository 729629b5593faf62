//! What stands in a line of `fairplan.trace.v1`: the fields that are read, and what its schema says of them. The reader checks more than a
//! schema can say.

use super::form::{EVENTS, EventForm, FORM};
use super::rules::RulesFields;
use crate::files::profiles::CutFields;
use crate::files::strict_json::{AboveZero, Entries, Text};
use crate::stated;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};
use std::borrow::Cow;
use std::collections::BTreeMap;

/// What a trace says before its first event.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Header")]
pub(super) struct HeaderFields<'a> {
    /// The format and its version.
    #[serde(borrow)]
    #[schemars(extend("const" = FORM.format))]
    pub format: Text<'a>,
    /// What to call the trace.
    #[serde(borrow, default)]
    pub name: Text<'a>,
    /// Where it comes from.
    #[serde(borrow, default)]
    pub source: Text<'a>,
    /// The names of the resources.
    #[serde(borrow)]
    #[schemars(length(min = 1, max = 1000), extend("uniqueItems" = true))]
    pub resources: Vec<Text<'a>>,
    /// How many decimal places amounts of a resource have at most; one left out has 9.
    #[serde(borrow, default, deserialize_with = "stated")]
    #[schemars(
        with = "Option<BTreeMap<String, u8>>",
        extend("additionalProperties" = {"type": "integer", "minimum": 0, "maximum": 18})
    )]
    pub decimal_places: Option<Entries<'a>>,
    /// The size of one device of a resource: every server has it as whole devices, of which a task takes a part of one or whole ones.
    #[serde(borrow, default, deserialize_with = "stated")]
    #[schemars(with = "Option<BTreeMap<String, AboveZero>>")]
    pub devices: Option<Entries<'a>>,
    /// Into what each device of a resource can be cut, as in an instance.
    #[serde(borrow, default, deserialize_with = "stated")]
    #[schemars(with = "Option<BTreeMap<String, CutFields<'a>>>")]
    pub device_profiles: Option<Entries<'a>>,
    /// Rules that tasks can meet, by name.
    #[serde(borrow, default, deserialize_with = "stated")]
    #[schemars(with = "Option<BTreeMap<String, RulesFields<'a>>>")]
    pub rules: Option<Entries<'a>>,
    /// Servers that are there from the beginning. Those of a class called c are the servers c/1, c/2 and so on.
    #[serde(borrow, default, deserialize_with = "stated")]
    #[schemars(with = "Option<Vec<ClassFields<'a>>>")]
    pub server_classes: Option<&'a RawValue>,
    /// All users. Absent: users are those who submit tasks, and each has weight 1.
    #[serde(borrow, default, deserialize_with = "stated")]
    #[schemars(with = "Option<Vec<UserFields<'a>>>")]
    pub users: Option<&'a RawValue>,
    /// What was counted when the trace was made, such as what was left out and why.
    #[serde(borrow, default, deserialize_with = "stated")]
    #[schemars(with = "Option<BTreeMap<String, u64>>")]
    pub counts: Option<Entries<'a>>,
}

/// Identical servers.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Class")]
pub(super) struct ClassFields<'a> {
    /// Unique name.
    #[serde(borrow)]
    #[schemars(length(min = 1))]
    pub id: Text<'a>,
    /// How many servers.
    #[serde(borrow)]
    #[schemars(with = "u64", range(max = 10_000_000_u64))]
    pub count: &'a RawValue,
    /// The rack or zone that they are in: of all servers where some rules are about domains.
    #[serde(borrow, default, deserialize_with = "stated")]
    #[schemars(length(min = 1))]
    pub domain: Option<Text<'a>>,
    /// One server's capacity; a resource left out is 0.
    #[serde(borrow)]
    pub capacity: Entries<'a>,
}

/// A user.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "User")]
pub(super) struct UserFields<'a> {
    /// Unique name.
    #[serde(borrow)]
    #[schemars(length(min = 1))]
    pub id: Text<'a>,
    /// Its weight; absent: 1.
    #[serde(borrow, default, deserialize_with = "stated")]
    #[schemars(with = "Option<AboveZero>")]
    pub weight: Option<&'a RawValue>,
}

/// All fields of events, of which each has some.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct EventFields<'a> {
    /// When: in seconds with at most six decimal places.
    #[serde(borrow)]
    #[schemars(with = "f64", range(min = 0))]
    pub time: &'a RawValue,
    /// What happens.
    #[serde(borrow)]
    pub event: Text<'a>,
    /// Its name.
    #[serde(borrow, default, deserialize_with = "stated")]
    #[schemars(length(min = 1))]
    pub server: Option<Text<'a>>,
    /// The rack or zone that it is in: of all servers where some rules are about domains.
    #[serde(borrow, default, deserialize_with = "stated")]
    #[schemars(length(min = 1))]
    pub domain: Option<Text<'a>>,
    /// What it has; a resource left out is 0.
    #[serde(borrow, default, deserialize_with = "stated")]
    pub capacity: Option<Entries<'a>>,
    /// The job they belong to; all its tasks are of one user.
    #[serde(borrow, default, deserialize_with = "stated")]
    #[schemars(length(min = 1))]
    pub job: Option<Text<'a>>,
    /// Whose tasks they are.
    #[serde(borrow, default, deserialize_with = "stated")]
    #[schemars(length(min = 1))]
    pub user: Option<Text<'a>>,
    /// What one task needs while it runs; a resource left out is 0, not all are.
    #[serde(borrow, default, deserialize_with = "stated")]
    pub demand: Option<Entries<'a>>,
    /// How long each task runs once it has started, in seconds with at most six decimal places, more than 0.
    #[serde(borrow, default, deserialize_with = "stated")]
    #[schemars(with = "Option<f64>", extend("exclusiveMinimum" = 0))]
    pub duration: Option<&'a RawValue>,
    /// How many tasks; absent: 1.
    #[serde(borrow, default, deserialize_with = "stated")]
    #[schemars(with = "Option<u32>", range(min = 1))]
    pub count: Option<&'a RawValue>,
    /// Which of the header's rules these tasks meet, counted together; absent: none but devices.
    #[serde(borrow, default, deserialize_with = "stated")]
    pub rules: Option<Text<'a>>,
    /// Whether more tasks of the job are submitted later; absent: no, and a later job may have the same name.
    #[serde(default, deserialize_with = "stated")]
    pub more: Option<bool>,
}

impl EventFields<'_> {
    /// Which fields are there, beside `time` and `event`.
    pub fn stated(&self) -> impl Iterator<Item = &'static str> {
        let fields = [
            ("server", self.server.is_some()),
            ("domain", self.domain.is_some()),
            ("capacity", self.capacity.is_some()),
            ("job", self.job.is_some()),
            ("user", self.user.is_some()),
            ("demand", self.demand.is_some()),
            ("duration", self.duration.is_some()),
            ("count", self.count.is_some()),
            ("rules", self.rules.is_some()),
            ("more", self.more.is_some()),
        ];
        fields.into_iter().filter(|(_, is_there)| *is_there).map(|(field, _)| field)
    }
}

/// For its schema: a line of a trace, a header or an event.
pub enum TraceLine {}

impl TraceLine {
    /// The format's name and version.
    pub const FORMAT: &'static str = FORM.format;
}

impl JsonSchema for TraceLine {
    fn schema_name() -> Cow<'static, str> {
        "TraceLine".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let header = generator.subschema_for::<HeaderFields<'_>>();
        let fields = EventFields::json_schema(generator);
        let described = |field: &str| fields.pointer(&format!("/properties/{field}"));
        let event = |form: &EventForm| {
            let all = ["time"].iter().chain(form.needs).chain(form.may_have);
            let mut properties: Map<String, Value> =
                all.map(|field| ((*field).into(), described(field).cloned().unwrap_or_default())).collect();
            properties.insert(
                "event".into(),
                json!({"description": "What happens.", "type": "string", "const": form.name}),
            );
            let required: Vec<&str> = ["event", "time"].iter().chain(form.needs).copied().collect();
            json!({
                "description": form.what, "type": "object", "properties": properties, "additionalProperties": false,
                "required": required
            })
        };
        let events: Vec<Value> = EVENTS.iter().map(event).collect();
        json_schema!({
            "description": "One line of a trace: the first is the header, each other one an event. Events come in the order of time; at one \
                            time servers are removed, then added, then changed, then tasks submitted.",
            "anyOf": [header, {"description": "What happens, and when.", "oneOf": events}]
        })
    }
}
