//! The levels of a certificate, as documents state them: written and read.

use crate::foreign::{Foreign, in_order, list};
use fairplan_instances::{Instance, Level, ResourceMap, ServerClass};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One level of the lexicographic maximum with its proof. With `d_ir` a user's demand per unit of dominant
/// share, `p_lr` the prices, `y_i` the least of `sum_r d_ir p_lr` over the user's usable classes (over its rate
/// there), `C_lr` the capacity of a whole class, `G_i` dominant shares and `w_i` weights (of `tsf`: times the dominant
/// share of the most that the user could run alone if it were eligible everywhere): no allocation that
/// leaves the finished users F their shares gives all active users A a weighted share above
/// `(sum C_lr p_lr - sum_F y_i G_i) / sum_A w_i y_i`. F are the users of earlier levels and those of this level
/// that are limited by tasks; A are all others with a usable class.
///
/// Where a user's tasks are limited and do different work on different classes, its cost is convex in its share, and a
/// tangent takes the place of `y_i G_i`: the best `y_i G_i - z_i t_i` with `y_i rate <= sum_r d_ir p_lr + z_i` on every
/// usable class, where `t_i` is the dominant share of all its tasks at rate 1. It is taken at the user's share (F) or at
/// 1 + 1e-9 times the level's value (A), and `z_i t_i` is added to the capacity's worth.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LevelResult {
    /// The weighted share of the users that capacity limits at this level.
    pub value: f64,
    /// The upper bound that the prices prove.
    pub bound: f64,
    /// The prices, every class in order.
    pub prices: Vec<ClassPrice>,
    /// What one more unit of each limit adds to the level's value, in the order of `limits`, as prices say it; >= 0. Users below a limit pay
    /// it too for what they take of its resource where it covers the class, and `sum C_lr p_lr` counts every limit at its price.
    /// Absent where there are no limits.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub limit_prices: Vec<f64>,
}

/// The prices of one class at one level.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ClassPrice {
    /// The server class.
    pub class: String,
    /// What one more unit of the resource in this class adds to the level's value at most, if those held at lower levels keep what
    /// they have: just so much, where no other prices prove the level; >= 0.
    pub price: ResourceMap,
}

/// One level.
pub(super) fn level_result(instance: &Instance, level: &Level) -> LevelResult {
    let m = instance.resources().len();
    let price = |(class, prices): (&ServerClass, &[f64])| ClassPrice {
        class: class.id.as_str().into(),
        price: ResourceMap::new(instance, prices.iter().copied()),
    };
    LevelResult {
        value: level.value,
        bound: level.bound,
        prices: instance.classes().iter().zip(level.prices.chunks(m)).map(price).collect(),
        limit_prices: level.limit_prices.clone(),
    }
}

/// The levels that are stated at a place.
pub(super) fn levels_of(
    instance: &Instance,
    stated: &[LevelResult],
    place: &str,
) -> Result<Vec<Level>, Foreign> {
    let class_ids = || instance.classes().iter().map(|class| class.id.as_str());
    let mut levels = Vec::new();
    for (k, level) in stated.iter().enumerate() {
        let place = format!("{place}[{k}].prices");
        list(&place, level.prices.iter().map(|price| &*price.class), class_ids())?;
        let mut prices = Vec::new();
        for (l, price) in level.prices.iter().enumerate() {
            prices.extend(in_order(&price.price, instance, || format!("{place}[{l}].price"))?);
        }
        let limit_prices = level.limit_prices.clone();
        levels.push(Level { value: level.value, bound: level.bound, prices, limit_prices });
    }
    Ok(levels)
}
