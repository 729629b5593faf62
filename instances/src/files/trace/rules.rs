//! The rules of a trace's header in JSON: `device_profiles` as in an instance, and `rules` by name with the fields that users of an
//! instance have.

use crate::files::canonical_text::{Text as Writer, key};
use crate::files::gangs::read_gang;
use crate::files::profiles::for_each_cut;
use crate::files::strict_json::{Entries, Object, Text, one, whole};
use crate::files::values::repeated;
use crate::stated;
use crate::trace::TraceHeader;
use crate::{DeviceProfiles, TaskRules, Violation};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::value::RawValue;

/// Rules that tasks which are submitted together meet.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Rules")]
pub(super) struct RulesFields<'a> {
    /// At most so many of the tasks on one server.
    #[serde(borrow, default, deserialize_with = "stated")]
    #[schemars(with = "Option<u64>", range(min = 1))]
    per_server: Option<&'a RawValue>,
    /// So many tasks start at once, or none; the tasks of an event are a multiple of it.
    #[serde(borrow, default, deserialize_with = "stated")]
    #[schemars(with = "Option<u64>", range(min = 2))]
    gang: Option<&'a RawValue>,
    /// Whether each gang runs within one domain.
    #[serde(default, deserialize_with = "stated")]
    gang_in_domain: Option<bool>,
    /// By how many the tasks in two domains differ at most when one of them starts.
    #[serde(borrow, default, deserialize_with = "stated")]
    #[schemars(with = "Option<u64>", range(min = 1))]
    spread: Option<&'a RawValue>,
    /// The profile of the part of a device that each task takes; its demand may leave out that resource.
    #[serde(borrow, default, deserialize_with = "stated")]
    profile: Option<Text<'a>>,
}

/// Reads into what the devices of these resources can be cut, rising by resource and by slices.
pub(super) fn read_cuts(
    entries: &Entries<'_>,
    resources: &[String],
) -> Result<Vec<DeviceProfiles>, Violation> {
    let mut all: Vec<DeviceProfiles> = Vec::new();
    for_each_cut(entries, resources, |cut| {
        if all.iter().any(|other| other.resource == cut.resource) {
            let place = format!("device_profiles.{}", resources[cut.resource.0]);
            return Err(Violation::new(place, "", "duplicate key"));
        }
        all.push(cut);
        Ok(())
    })?;
    all.sort_by_key(|cut| cut.resource);
    all.iter_mut().for_each(DeviceProfiles::sort);
    Ok(all)
}

/// Reads the rules, which may name these profiles.
pub(super) fn read_rules(
    entries: &Entries<'_>,
    profiles: &[DeviceProfiles],
) -> Result<Vec<(String, TaskRules)>, Violation> {
    if let Some(name) = repeated(entries.0.iter().map(|(name, _)| name.0.as_ref())) {
        return Err(Violation::new(format!("rules.{name}"), "", "duplicate key"));
    }
    let mut all = Vec::with_capacity(entries.0.len());
    for (name, raw) in &entries.0 {
        let place = |field: &str| format!("rules.{}.{field}", name.0);
        let Object(fields): Object<RulesFields> = one(raw, &format!("rules.{}", name.0))?;
        let count = |raw: Option<&RawValue>, field: &str| -> Result<Option<u64>, Violation> {
            raw.map(|raw| whole(raw, || place(field))).transpose()
        };
        let profile = fields.profile.map(|of| DeviceProfiles::named(profiles, &of.0, || place("profile")));
        let rules = TaskRules {
            per_server: count(fields.per_server, "per_server")?,
            gang: read_gang(fields.gang, fields.gang_in_domain, place)?,
            spread: count(fields.spread, "spread")?,
            profile: profile.transpose()?,
        };
        all.push((name.0.clone().into_owned(), rules));
    }
    Ok(all)
}

/// Writes both fields, each after a comma, where there is something to say.
pub(super) fn write_rules(text: &mut Writer, header: &TraceHeader, keys: &[Vec<u8>]) {
    if !header.device_profiles.is_empty() {
        text.raw(", \"device_profiles\": ");
        text.device_profiles(&header.device_profiles, keys, false);
    }
    for (position, (name, rules)) in header.rules.iter().enumerate() {
        text.raw(if position == 0 { ", \"rules\": {" } else { ", " });
        text.bytes(&key(name));
        let mut separator = "{";
        let gang = rules.gang.map(|gang| gang.tasks);
        for (field, value) in [("gang", gang), ("spread", rules.spread), ("per_server", rules.per_server)] {
            let Some(value) = value else { continue };
            text.raw(separator);
            text.raw(&format!("\"{field}\": "));
            text.whole(value);
            if field == "gang" && rules.gang.is_some_and(|gang| gang.in_one_domain) {
                text.raw(", \"gang_in_domain\": true");
            }
            separator = ", ";
        }
        if let Some(profile) = header.profile_name(rules) {
            text.raw(separator);
            text.raw("\"profile\": ");
            text.string(profile);
        }
        text.raw("}");
    }
    text.raw(if header.rules.is_empty() { "" } else { "}" });
}
