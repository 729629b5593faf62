//! Reading `fairplan.instance.v1`: strict keys, exact decimals, users streamed into the builder one by one.
//!
//! The text is scanned once for syntax (errors with line and column); what is inside the known-good text is
//! then read in the order that checking needs, whatever the order of the keys, and errors name their path.

use crate::wording::no_such;
use crate::{
    Decimal, GroupId, Instance, InstanceBuilder, InstanceError, NewGroup, NewKind, NewUser, Owner,
    PlacementRule, ResourceId, RuleId,
};
use crate::{ServerClass, Violation};
use serde_json::value::RawValue;

use super::amounts::Amounts;
use super::canonical::FORM;
use super::gangs::read_gang;
use super::instance_fields::{ClassFields, GroupFields, InstanceFile, KindFields, UserFields};
use super::profiles::{fill_in, read_profiles};
use super::quotas::QuotaFields;
use super::source::Source;
use super::strict_json::{Entries, Object, Text, document, for_each, number, whole};
use super::values::{repeated, whole_number};

/// Reads an instance from JSON.
///
/// Refused: another format version, unknown or duplicate keys at any level, numbers that are no exact
/// non-negative decimals (or written as texts), and whatever [`InstanceBuilder`] refuses.
pub fn read_json(source: Source) -> Result<Instance, InstanceError> {
    let file = source.name().to_owned();
    let content = source.read_all()?;
    let document: InstanceFile = document(&file, &content, &FORM)?;
    instance(&document).map_err(|violation| InstanceError::Invalid { file: file.clone(), violation })
}

fn instance(document: &InstanceFile) -> Result<Instance, Violation> {
    FORM.expect(&document.format)?;
    let mut resources: Vec<String> = Vec::new();
    for_each(document.resources, "resources", |_, name: Text| {
        resources.push(name.0.into_owned());
        Ok(())
    })?;
    let mut builder = InstanceBuilder::new(document.name.0.as_ref(), resources.clone())?;
    let (mut amounts, mut of_pieces) = (Amounts::new(resources.clone()), Amounts::new(resources));
    for_each(document.server_classes, "server_classes", |position, Object(class): Object<ClassFields>| {
        let place = |field: &str| format!("server_classes[{position}].{field}");
        let count = whole(class.count, || place("count"))?;
        amounts.read(&class.capacity, || place("capacity"))?;
        let capacity = amounts.values.clone();
        let names = class.names.into_iter().flatten().map(|name| name.0.into_owned()).collect();
        let mut devices = Vec::new();
        if let Some(stated) = &class.devices {
            amounts.read(stated, || place("devices"))?;
            for r in (0..amounts.values.len()).filter(|r| amounts.named[*r]) {
                let of = || format!("{}.{}", place("devices"), builder.resources()[r]);
                devices.push((ResourceId(r), whole_number(amounts.values[r], of)?));
            }
        }
        let id = class.id.0.into_owned();
        let domain = class.domain.map(|name| name.0.into_owned());
        builder.class(ServerClass { id, count, capacity, names, domain, devices }).map(|_| ())
    })?;
    if let Some(entries) = &document.device_profiles {
        read_profiles(entries, &mut builder)?;
    }
    let (mut groups, mut quotas) = (Vec::new(), Vec::new());
    if let Some(listed) = document.groups {
        for_each(listed, "groups", |position, Object(group): Object<GroupFields>| {
            let weight = group.weight.map(|raw| number(raw, || format!("groups[{position}].weight")));
            groups.push(NewGroup {
                id: group.id.0.clone().into_owned(),
                weight: weight.transpose().map_err(Violation::above_zero)?.unwrap_or(Decimal::ONE),
                parent: group.parent.as_ref().map(|name| name.0.clone().into_owned()),
            });
            let fields = QuotaFields::of_group(&group);
            let place = |field: &str| format!("groups[{position}].{field}");
            quotas.push(fields.read(&builder, &mut amounts, place)?);
            Ok(())
        })?;
    }
    builder.groups(groups)?;
    for (group, quota) in quotas.into_iter().enumerate() {
        builder.quota(Owner::Group(GroupId(group)), quota)?;
    }
    for_each(document.users, "users", |position, Object(user): Object<UserFields>| {
        let place = |field: &str| format!("users[{position}].{field}");
        match (&user.demand, user.kinds) {
            (Some(demand), None) => amounts.read(demand, || place("demand"))?,
            (None, Some(_)) => amounts.read(&Entries::default(), || place("demand"))?,
            (None, None) if user.profile.is_some() => {
                amounts.read(&Entries::default(), || place("demand"))?
            }
            (Some(_), Some(_)) => {
                return Err(Violation::new(
                    place("kinds"),
                    "",
                    "a user has a demand or kinds, not both; drop one",
                ));
            }
            (None, None) => {
                let problem = "missing; state what one task needs, or the kinds of which it consists";
                return Err(Violation::new(place("demand"), "", problem));
            }
        }
        if user.kinds.is_some() {
            let of_kinds = [
                (user.rates.is_some(), "rates", "tasks of several kinds have no rates; drop it"),
                (user.eligible.is_some(), "eligible", "each kind says where it may run; move it there"),
                (user.profile.is_some(), "profile", "each kind says which profile it has; move it there"),
            ];
            if let Some((_, field, problem)) = of_kinds.into_iter().find(|(is_stated, ..)| *is_stated) {
                return Err(Violation::new(place(field), "", problem));
            }
        }
        fill_in(user.profile.as_ref(), &builder, &mut amounts, || place("profile"))?;
        let weight = user
            .weight
            .map(|raw| number(raw, || place("weight")))
            .transpose()
            .map_err(Violation::above_zero)?;
        let tasks = user.tasks.map(|raw| whole(raw, || place("tasks"))).transpose()?;
        let rule = rule(&mut builder, user.eligible.as_deref(), user.rates.as_ref(), place)?;
        let unknown =
            |name: &str| Violation::new(place("group"), name, no_such("group", name, builder.group_ids()));
        let group = match &user.group {
            None => None,
            Some(name) => Some(builder.group_named(&name.0).ok_or_else(|| unknown(&name.0))?),
        };
        let (id, demand, weight) = (user.id.0.as_ref(), &amounts.values, weight.unwrap_or(Decimal::ONE));
        let new = NewUser { id, demand, weight, tasks, rule, group };
        let added = match user.kinds {
            None => builder.user(new)?,
            Some(listed) => {
                let place = place("kinds");
                let kinds = kinds(listed, &place, &mut builder, &mut of_pieces)?;
                let (kinds, profiles): (Vec<_>, Vec<_>) = kinds.into_iter().unzip();
                let added = builder.user_with_kinds(new, &kinds)?;
                for (kind, name) in profiles.iter().enumerate() {
                    name.as_ref().map_or(Ok(()), |name| builder.profile(added, Some(kind), name))?;
                }
                added
            }
        };
        if let Some(name) = &user.profile {
            builder.profile(added, None, &name.0)?;
        }
        if let Some(raw) = user.per_server {
            builder.per_server(added, whole(raw, || place("per_server"))?)?;
        }
        if let Some(gang) = read_gang(user.gang, user.gang_in_domain, place)? {
            builder.gang(added, gang)?;
        }
        if let Some(raw) = user.spread {
            builder.spread(added, whole(raw, || place("spread"))?)?;
        }
        let fields = QuotaFields::of_user(&user);
        if !fields.is_empty() {
            let quota = fields.read(&builder, &mut amounts, place)?;
            builder.quota(Owner::User(added), quota)?;
        }
        Ok(())
    })?;
    builder.build()
}

/// The kinds of one user, listed at `place`, each with the name of its profile.
fn kinds(
    listed: &RawValue,
    place: &str,
    builder: &mut InstanceBuilder,
    amounts: &mut Amounts,
) -> Result<Vec<(NewKind, Option<String>)>, Violation> {
    let mut kinds = Vec::new();
    for_each(listed, place, |position, Object(kind): Object<KindFields>| {
        let place = |field: &str| format!("{place}[{position}].{field}");
        let each = whole(kind.each, || place("each"))?;
        let none = Entries::default();
        let demand = match (&kind.demand, &kind.profile) {
            (Some(demand), _) => demand,
            (None, Some(_)) => &none,
            (None, None) => {
                let problem = "missing; state what one piece needs";
                return Err(Violation::new(place("demand"), "", problem));
            }
        };
        amounts.read(demand, || place("demand"))?;
        fill_in(kind.profile.as_ref(), builder, amounts, || place("profile"))?;
        let rule = rule(builder, kind.eligible.as_deref(), None, place)?;
        let profile = kind.profile.map(|name| name.0.into_owned());
        let kind = NewKind { id: kind.id.0.into_owned(), each, demand: amounts.values.clone(), rule };
        kinds.push((kind, profile));
        Ok(())
    })?;
    Ok(kinds)
}

fn rule(
    builder: &mut InstanceBuilder,
    eligible: Option<&[Text<'_>]>,
    rates: Option<&Entries<'_>>,
    place: impl Fn(&str) -> String,
) -> Result<RuleId, Violation> {
    let (names, stated) = (eligible, rates);
    if names.is_none() && stated.is_none() {
        return Ok(RuleId(0));
    }
    let class = |name: &Text, place: String| {
        builder.class_named(&name.0).ok_or_else(|| {
            Violation::new(place, &name.0, no_such("server class", &name.0, builder.class_ids()))
        })
    };
    let eligible = match names {
        None => None,
        Some(names) => {
            let mut classes = Vec::with_capacity(names.len());
            for (position, name) in names.iter().enumerate() {
                classes.push(class(name, place(&format!("eligible[{position}]")))?);
            }
            Some(classes)
        }
    };
    let mut rates = Vec::new();
    for (name, raw) in stated.iter().flat_map(|entries| &entries.0) {
        let place = || place(&format!("rates.{}", name.0));
        rates.push((class(name, place())?, number(raw, place).map_err(Violation::above_zero)?));
    }
    if let Some(name) = repeated(names.into_iter().flatten().map(|name| name.0.as_ref())) {
        return Err(Violation::new(place("eligible"), name, "named twice"));
    }
    if let Some(name) =
        repeated(stated.iter().flat_map(|entries| &entries.0).map(|(name, _)| name.0.as_ref()))
    {
        return Err(Violation::new(place(&format!("rates.{name}")), "", "duplicate key"));
    }
    Ok(builder.rule(PlacementRule::new(eligible, rates)))
}
