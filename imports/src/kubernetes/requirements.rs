//! What labels of nodes and pods have to be, and how that is told: `disk=ssd`, `!gpu`.

use crate::manifests::nullable;
use serde::Deserialize;

#[derive(Deserialize, Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Requirement {
    pub(crate) key: String,
    pub(crate) operator: Operator,
    #[serde(default, deserialize_with = "nullable")]
    pub(crate) values: Vec<String>,
}

#[derive(Deserialize, Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Operator {
    In,
    NotIn,
    Exists,
    DoesNotExist,
    Gt,
    Lt,
}

impl Requirement {
    pub(super) fn met(&self, value: Option<&str>) -> bool {
        let listed = value.is_some_and(|value| self.values.iter().any(|one| one == value));
        let compared = || {
            let (value, bound) = (value?.parse::<i64>().ok()?, self.values.first()?.parse::<i64>().ok()?);
            Some(value.cmp(&bound))
        };
        match self.operator {
            Operator::In => listed,
            Operator::NotIn => !listed,
            Operator::Exists => value.is_some(),
            Operator::DoesNotExist => value.is_none(),
            Operator::Gt => compared().is_some_and(|order| order.is_gt()),
            Operator::Lt => compared().is_some_and(|order| order.is_lt()),
        }
    }
}

/// `nvidia.com/gpu` is `gpu`.
pub(super) fn plain(key: &str) -> &str {
    key.rsplit('/').next().unwrap_or(key)
}

/// `disk=ssd`; of a label without a value its key.
pub(super) fn having(key: &str, values: &str) -> String {
    if values.is_empty() { key.to_owned() } else { format!("{key}={values}") }
}

pub(super) fn required(Requirement { key, operator, values }: &Requirement) -> String {
    let (key, values) = (plain(key), values.join(","));
    match operator {
        Operator::In => having(key, &values),
        Operator::NotIn => format!("{key}!={values}"),
        Operator::Exists => key.to_owned(),
        Operator::DoesNotExist => format!("!{key}"),
        Operator::Gt => format!("{key}>{values}"),
        Operator::Lt => format!("{key}<{values}"),
    }
}
