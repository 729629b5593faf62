//! The fractions of a solution document: what `solve --exact` writes beside its doubles.

use super::UserColumns;
use super::document::{ExactClassPrice, ExactLevelResult, ExactResult, ExactTaskPrice};
use super::users::ExactUserResult;
use crate::foreign::{Foreign, list};
use fairplan_instances::{ExactLevel, ExactPart, ExactSolution, ExactUser, GroupResult, Instance};
use std::borrow::Cow;

impl ExactResult {
    /// What a solution says of its value and its levels.
    pub fn new(instance: &Instance, exact: &ExactSolution) -> Self {
        let m = instance.resources().len();
        let level = |level: &ExactLevel| ExactLevelResult {
            value: level.value.clone(),
            prices: (instance.classes().iter().zip(level.prices.chunks(m)))
                .map(|(class, price)| ExactClassPrice { class: class.id.clone(), price: price.to_vec() })
                .collect(),
            limit_prices: level.limit_prices.clone(),
            task_prices: (level.task_prices.iter())
                .map(|(user, price)| ExactTaskPrice {
                    user: instance.user(fairplan_instances::UserId(*user as usize)).id().to_owned(),
                    price: price.clone(),
                })
                .collect(),
        };
        Self { value: exact.value.clone(), levels: exact.levels.iter().map(level).collect() }
    }
}

impl<'a> ExactUserResult<'a> {
    /// What is stated of a user, if anything is.
    pub fn new(exact: &'a ExactUser) -> Option<Self> {
        let text = |text: &'a Option<Box<str>>| text.as_deref().map(Cow::Borrowed);
        let (dominant_share, tasks) = (text(&exact.dominant_share), text(&exact.tasks));
        (dominant_share.is_some() || tasks.is_some()).then_some(Self { dominant_share, tasks })
    }
}

/// The fractions of a document, in the instance's order; `starts` are where the placements of each kind begin, `classes` what the
/// instance calls the classes that users name.
pub(super) fn stated(
    (exact, groups): (Option<&ExactResult>, &[GroupResult]),
    users: &UserColumns,
    instance: &Instance,
    (starts, classes): (&[usize], &[u32]),
) -> Result<Option<ExactSolution>, Foreign> {
    let Some(exact) = exact else {
        if let Some(g) = groups.iter().position(|group| group.exact.is_some()) {
            let place = format!("groups[{g}].exact");
            return Err(Foreign::new(place, "", "the result states no levels in fractions"));
        }
        return match users.exact_users.iter().position(Option::is_some) {
            None if users.exact_placements.is_empty() => Ok(None),
            at => {
                let place = format!("users[{}].exact", at.unwrap_or(0));
                Err(Foreign::new(place, "", "the result states no levels in fractions"))
            }
        };
    };
    let mut levels = Vec::new();
    for (k, level) in exact.levels.iter().enumerate() {
        let place = format!("exact.levels[{k}].prices");
        let ids = || instance.classes().iter().map(|class| class.id.as_str());
        list(&place, level.prices.iter().map(|price| &*price.class), ids())?;
        let mut task_prices = Vec::new();
        for (j, price) in level.task_prices.iter().enumerate() {
            let place = || format!("exact.levels[{k}].task_prices[{j}].user");
            let user = instance.user_named(&price.user);
            let user = user.ok_or_else(|| Foreign::new(place(), &price.user, "no such user"))?;
            task_prices.push((user.0 as u32, price.price.clone()));
        }
        levels.push(ExactLevel {
            value: level.value.clone(),
            prices: level.prices.iter().flat_map(|price| price.price.clone()).collect(),
            limit_prices: level.limit_prices.clone(),
            task_prices,
        });
    }
    let of_user = |i: usize| users.exact_users.get(i).and_then(Option::as_ref);
    let parts = starts.windows(2).enumerate().flat_map(|(kind, range)| {
        (range[0]..range[1]).map(move |placement| ExactPart {
            kind: kind as u32,
            class: classes[users.placements[placement].0 as usize],
            tasks: users.exact_placements.get(placement).cloned().flatten(),
        })
    });
    Ok(Some(ExactSolution {
        value: exact.value.clone(),
        levels,
        users: (0..instance.user_count()).map(|i| of_user(i).cloned().unwrap_or_default()).collect(),
        parts: parts.collect(),
        groups: groups.iter().map(|group| group.exact.as_deref().map(Box::from)).collect(),
    }))
}
