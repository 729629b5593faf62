//! Quotas in JSON: reading the four fields of a user or a group, and writing them.

use serde::Deserialize;
use serde_json::value::RawValue;

use super::canonical::Text as Writer;
use super::json::Amounts;
use super::strict_json::{Entries, Object, Text, for_each};
use crate::stated;
use crate::{ClassLimit, Instance, InstanceBuilder, Quota, ResourceId, Violation};

/// The fields as they stand in a file.
pub(super) struct QuotaFields<'f, 'a> {
    pub guarantee: &'f Option<Entries<'a>>,
    pub limit: &'f Option<Entries<'a>>,
    pub limits: Option<&'a RawValue>,
    pub reserve: &'f Option<Entries<'a>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ClassLimitFields<'a> {
    #[serde(borrow)]
    classes: Vec<Text<'a>>,
    #[serde(borrow, default, deserialize_with = "stated")]
    amounts: Option<Entries<'a>>,
}

impl QuotaFields<'_, '_> {
    /// Whether none of them is there.
    pub fn is_empty(&self) -> bool {
        let lists = [self.guarantee, self.limit, self.reserve];
        self.limits.is_none() && lists.iter().all(|list| list.is_none())
    }

    /// The quota; `place` is its owner's.
    pub fn read(
        &self,
        builder: &InstanceBuilder,
        amounts: &mut Amounts,
        place: impl Fn(&str) -> String,
    ) -> Result<Quota, Violation> {
        let mut quota = Quota {
            guarantee: named(amounts, self.guarantee, || place("guarantee"))?,
            limit: named(amounts, self.limit, || place("limit"))?,
            limits: Vec::new(),
            reserve: named(amounts, self.reserve, || place("reserve"))?,
        };
        let Some(limits) = self.limits else { return Ok(quota) };
        for_each(limits, &place("limits"), |position, Object(limit): Object<ClassLimitFields>| {
            let place = |field: &str| place(&format!("limits[{position}].{field}"));
            let class = |(position, name): (usize, &Text)| {
                builder.class_named(&name.0).ok_or_else(|| {
                    let at = place(&format!("classes[{position}]"));
                    Violation::new(at, &name.0, "there is no server class with this id")
                })
            };
            quota.limits.push(ClassLimit {
                classes: limit.classes.iter().enumerate().map(class).collect::<Result<_, _>>()?,
                amounts: named(amounts, &limit.amounts, || place("amounts"))?,
            });
            Ok(())
        })?;
        Ok(quota)
    }
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
        for (field, amounts) in [("guarantee", &quota.guarantee), ("limit", &quota.limit)] {
            if !amounts.is_empty() {
                self.raw(", ");
                self.string(field);
                self.raw(": ");
                self.named_amounts(amounts, keys);
            }
        }
        for (position, limit) in quota.limits.iter().enumerate() {
            self.raw(if position == 0 { ", \"limits\": [" } else { ", " });
            self.raw("{\"classes\": ");
            self.strings(limit.classes.iter().map(|class| instance.classes()[class.0].id.as_str()));
            self.raw(", \"amounts\": ");
            self.named_amounts(&limit.amounts, keys);
            self.raw("}");
        }
        if !quota.limits.is_empty() {
            self.raw("]");
        }
        if !quota.reserve.is_empty() {
            self.raw(", \"reserve\": ");
            self.named_amounts(&quota.reserve, keys);
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
