//! Profiles of devices in JSON: into what the devices of each resource can be cut, and what a task with a profile takes.

use super::amounts::Amounts;
use super::canonical_text::{Text as Writer, key};
use super::strict_json::{Entries, Object, Text, one, whole};
use super::values::repeated;
use crate::{DeviceProfile, DeviceProfiles, InstanceBuilder, ResourceId, Violation};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::value::RawValue;
use std::collections::BTreeMap;

/// Into what each device of a resource can be cut. A device is whole, shared by tasks that take any part of it, or cut.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "DeviceProfiles")]
pub(super) struct CutFields<'a> {
    /// The equal slices of one device.
    #[serde(borrow)]
    #[schemars(with = "u64", range(min = 1, max = 64))]
    slices: &'a RawValue,
    /// The profiles by name, which is unique over all resources.
    #[serde(borrow)]
    #[schemars(
        with = "BTreeMap<String, ProfileFields<'a>>",
        extend("minProperties" = 1, "maxProperties" = 64)
    )]
    profiles: Entries<'a>,
}

/// A part of a device that a task can have.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "DeviceProfile")]
struct ProfileFields<'a> {
    /// How many slices beside each other it takes.
    #[serde(borrow)]
    #[schemars(with = "u64", range(min = 1, max = 64))]
    slices: &'a RawValue,
    /// The slices at which it may begin, counted from 0, rising.
    #[serde(borrow)]
    #[schemars(with = "Vec<u64>", length(min = 1), inner(range(max = 63)), extend("uniqueItems" = true))]
    starts: Vec<&'a RawValue>,
}

/// Reads `device_profiles` into a builder that has all classes.
pub(super) fn read_profiles(entries: &Entries<'_>, builder: &mut InstanceBuilder) -> Result<(), Violation> {
    let resources = builder.resources().to_vec();
    for_each_cut(entries, &resources, |cut| builder.device_profiles(cut))
}

/// Reads `device_profiles` of resources with these names, as they are stated.
pub(super) fn for_each_cut(
    entries: &Entries<'_>,
    resources: &[String],
    mut each: impl FnMut(DeviceProfiles) -> Result<(), Violation>,
) -> Result<(), Violation> {
    for (resource, raw) in &entries.0 {
        let place = format!("device_profiles.{}", resource.0);
        let known = resources.iter().position(|name| *name == resource.0);
        let Some(r) = known else {
            let problem = format!("unknown resource; there are {}", resources.join(", "));
            return Err(Violation::new(place, "", problem));
        };
        let Object(fields): Object<CutFields> = one(raw, &place)?;
        let slices = small(fields.slices, || format!("{place}.slices"))?;
        if let Some(name) = repeated(fields.profiles.0.iter().map(|(name, _)| name.0.as_ref())) {
            return Err(Violation::new(format!("{place}.profiles.{name}"), "", "duplicate key"));
        }
        let mut profiles = Vec::with_capacity(fields.profiles.0.len());
        for (name, raw) in &fields.profiles.0 {
            let place = format!("{place}.profiles.{}", name.0);
            let Object(fields): Object<ProfileFields> = one(raw, &place)?;
            let slices = small(fields.slices, || format!("{place}.slices"))?;
            let start =
                |(position, raw): (usize, &&RawValue)| small(raw, || format!("{place}.starts[{position}]"));
            let starts = fields.starts.iter().enumerate().map(start).collect::<Result<_, _>>()?;
            profiles.push(DeviceProfile { name: name.0.as_ref().to_owned(), slices, starts });
        }
        each(DeviceProfiles { resource: ResourceId(r), slices, profiles })?;
    }
    Ok(())
}

/// A count of slices.
fn small(raw: &RawValue, place: impl Fn() -> String) -> Result<u32, Violation> {
    let stated = whole(raw, &place)?;
    u32::try_from(stated).map_err(|_| Violation::new(place(), stated, "is too large"))
}

/// Adds what a profile takes to the amounts that were read last, unless they name its resource.
pub(super) fn fill_in(
    profile: Option<&Text<'_>>,
    builder: &InstanceBuilder,
    amounts: &mut Amounts,
    place: impl Fn() -> String,
) -> Result<(), Violation> {
    let Some(name) = profile else { return Ok(()) };
    let (ResourceId(r), amount) = builder.taken_by_profile(&name.0, place)?;
    if !amounts.named[r] {
        amounts.values[r] = amount;
    }
    Ok(())
}

impl Writer {
    /// The object of `device_profiles`; each resource and each profile on a line of its own, or all on one.
    pub(super) fn device_profiles(&mut self, all: &[DeviceProfiles], keys: &[Vec<u8>], on_lines: bool) {
        let [first, next] = if on_lines { ["{\n    ", ",\n    "] } else { ["{", ", "] };
        let [first_profile, next_profile] = if on_lines { ["{\n      ", ",\n      "] } else { ["{", ", "] };
        for (position, cut) in all.iter().enumerate() {
            self.raw(if position == 0 { first } else { next });
            self.bytes(&keys[cut.resource.0]);
            self.raw("{\"slices\": ");
            self.whole(cut.slices.into());
            self.raw(", \"profiles\": ");
            for (position, profile) in cut.profiles.iter().enumerate() {
                self.raw(if position == 0 { first_profile } else { next_profile });
                self.bytes(&key(&profile.name));
                self.raw("{\"slices\": ");
                self.whole(profile.slices.into());
                let mut opening = ", \"starts\": [";
                for start in &profile.starts {
                    self.raw(opening);
                    self.whole((*start).into());
                    opening = ", ";
                }
                self.raw("]}");
            }
            self.raw("}}");
        }
        self.raw(if on_lines { "\n  }" } else { "}" });
    }

    /// The field `profile` after a comma, if there is one.
    pub(super) fn profile(&mut self, name: Option<&str>) {
        if let Some(name) = name {
            self.raw(", \"profile\": ");
            self.string(name);
        }
    }
}
