//! Quotas in JSON: reading the fields of a user or a group, and writing them.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::value::RawValue;

use super::amounts::Amounts;
use super::canonical_text::Text as Writer;
use super::strict_json::{Entries, Object, Text, for_each};
use crate::stated;
use crate::wording::no_such;
use crate::{ClassAmounts, Instance, InstanceBuilder, Quota, ResourceId, Violation};

/// The fields as they stand in a file.
pub(super) struct QuotaFields<'f, 'a> {
    pub guarantee: &'f Option<Entries<'a>>,
    pub guarantees: Option<&'a RawValue>,
    pub limit: &'f Option<Entries<'a>>,
    pub limits: Option<&'a RawValue>,
    pub reserve: &'f Option<Entries<'a>>,
    pub reserves: Option<&'a RawValue>,
}

/// Amounts of some resources over some server classes together.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "SomeClasses", extend("required" = ["classes", "amounts"]))]
pub(super) struct ClassAmountsFields<'a> {
    /// The server classes.
    #[serde(borrow)]
    #[schemars(length(min = 1), extend("uniqueItems" = true))]
    classes: Vec<Text<'a>>,
    /// The amount of each resource.
    #[serde(borrow, default, deserialize_with = "stated")]
    #[schemars(with = "Entries<'a>", extend("minProperties" = 1))]
    amounts: Option<Entries<'a>>,
}

impl QuotaFields<'_, '_> {
    /// Whether none of them is there.
    pub fn is_empty(&self) -> bool {
        let lists = [self.guarantee, self.limit, self.reserve];
        let over_some = [self.guarantees, self.limits, self.reserves];
        over_some.iter().all(Option::is_none) && lists.iter().all(|list| list.is_none())
    }

    /// The quota; `place` is its owner's.
    pub fn read(
        &self,
        builder: &InstanceBuilder,
        amounts: &mut Amounts,
        place: impl Fn(&str) -> String,
    ) -> Result<Quota, Violation> {
        Ok(Quota {
            guarantee: named(amounts, self.guarantee, || place("guarantee"))?,
            guarantees: over_some(builder, amounts, self.guarantees, || place("guarantees"))?,
            limit: named(amounts, self.limit, || place("limit"))?,
            limits: over_some(builder, amounts, self.limits, || place("limits"))?,
            reserve: named(amounts, self.reserve, || place("reserve"))?,
            reserves: over_some(builder, amounts, self.reserves, || place("reserves"))?,
        })
    }
}

/// The amounts over some classes, with the classes of each.
fn over_some(
    builder: &InstanceBuilder,
    amounts: &mut Amounts,
    list: Option<&RawValue>,
    place: impl Fn() -> String,
) -> Result<Vec<ClassAmounts>, Violation> {
    let mut all = Vec::new();
    let Some(list) = list else { return Ok(all) };
    let place = place();
    for_each(list, &place, |position, Object(over): Object<ClassAmountsFields>| {
        let place = |field: &str| format!("{place}[{position}].{field}");
        let class = |(position, name): (usize, &Text)| {
            builder.class_named(&name.0).ok_or_else(|| {
                let at = place(&format!("classes[{position}]"));
                Violation::new(at, &name.0, no_such("server class", &name.0, builder.class_ids()))
            })
        };
        all.push(ClassAmounts {
            classes: over.classes.iter().enumerate().map(class).collect::<Result<_, _>>()?,
            amounts: named(amounts, &over.amounts, || place("amounts"))?,
        });
        Ok(())
    })?;
    Ok(all)
}

/// The amounts that are named, zeros included.
fn named(
    amounts: &mut Amounts,
    entries: &Option<Entries<'_>>,
    place: impl Fn() -> String,
) -> Result<crate::ResourceAmounts, Violation> {
    let Some(entries) = entries else { return Ok(Vec::new()) };
    amounts.read(entries, place)?;
    let all = amounts.values.iter().zip(&amounts.named).enumerate();
    Ok(all.filter(|(_, (_, named))| **named).map(|(r, (amount, _))| (ResourceId(r), *amount)).collect())
}

impl Writer {
    /// The fields of a quota, each after a comma.
    pub(super) fn quota(&mut self, quota: &Quota, instance: &Instance, keys: &[Vec<u8>]) {
        let lists = [
            ("guarantee", &quota.guarantee, "guarantees", &quota.guarantees),
            ("limit", &quota.limit, "limits", &quota.limits),
            ("reserve", &quota.reserve, "reserves", &quota.reserves),
        ];
        for (field, amounts, fields, over_some) in lists {
            if !amounts.is_empty() {
                self.raw(", ");
                self.string(field);
                self.raw(": ");
                self.named_amounts(amounts, keys);
            }
            for (position, over) in over_some.iter().enumerate() {
                self.raw(", ");
                if position == 0 {
                    self.string(fields);
                    self.raw(": [");
                }
                self.raw("{\"classes\": ");
                self.strings(over.classes.iter().map(|class| instance.classes()[class.0].id.as_str()));
                self.raw(", \"amounts\": ");
                self.named_amounts(&over.amounts, keys);
                self.raw("}");
            }
            if !over_some.is_empty() {
                self.raw("]");
            }
        }
    }

    fn named_amounts(&mut self, amounts: &crate::ResourceAmounts, keys: &[Vec<u8>]) {
        self.raw("{");
        for (position, (resource, amount)) in amounts.iter().enumerate() {
            self.raw(if position == 0 { "" } else { ", " });
            self.bytes(&keys[resource.0]);
            self.number(*amount);
        }
        self.raw("}");
    }
}
