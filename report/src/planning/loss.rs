//! `fairplan.loss.v1`: what the failure of servers of each class costs whom.

use crate::stamp::InstanceStamp;
use fairplan_analysis::Loss;
use fairplan_instances::{Body, Document, Instance};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;

/// Users listed for each loss, those that lose the largest part first.
const LISTED: usize = 20;

/// What is lost when servers of one class fail, class by class: DRFH on what is left. The same instance and settings give
/// the same bytes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Losses")]
pub struct LossBody<'a> {
    /// The instance.
    #[serde(borrow)]
    pub instance: InstanceStamp<'a>,
    /// The smallest weighted dominant share now.
    pub value: f64,
    /// The loss of each class, the worst first: by the largest part that a user loses, then by what is lost in all.
    #[serde(borrow)]
    pub losses: Vec<LossResult<'a>>,
}

impl Body for LossBody<'_> {
    const FORMAT: &'static str = "fairplan.loss.v1";
}

/// The whole file.
pub type LossDocument<'a> = Document<LossBody<'a>>;

/// The loss of servers of one class.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LossResult<'a> {
    /// The class.
    #[serde(borrow)]
    pub class: Cow<'a, str>,
    /// How many of its servers are lost.
    pub servers: u64,
    /// The smallest weighted dominant share then, measured against the totals of the whole cluster.
    pub value: f64,
    /// What is lost over all users that lose, in dominant shares of the whole cluster.
    pub lost: f64,
    /// How many users do less work.
    pub losing: usize,
    /// How many of them can do nothing any more.
    pub stranded: usize,
    /// How many do more.
    pub gaining: usize,
    /// The 20 users that lose the largest part of their work.
    #[serde(borrow)]
    pub losers: Vec<LostUser<'a>>,
}

/// A user that does less work.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LostUser<'a> {
    /// The user's id.
    #[serde(borrow)]
    pub id: Cow<'a, str>,
    /// Its work before, in tasks of rate 1.
    pub before: f64,
    /// Its work after.
    pub after: f64,
    /// The part of its work that is lost.
    pub part: f64,
}

/// The document of losses, ready to be written.
pub fn loss_document<'a>(
    instance: &'a Instance,
    sha256: &'a str,
    value: f64,
    losses: &[Loss],
) -> LossDocument<'a> {
    let result = |loss: &Loss| LossResult {
        class: instance.classes()[loss.class.0].id.as_str().into(),
        servers: loss.servers,
        value: loss.value,
        lost: loss.lost,
        losing: loss.losers.len(),
        stranded: loss.stranded,
        gaining: loss.gaining,
        losers: (loss.losers.iter().take(LISTED))
            .map(|loser| LostUser {
                id: instance.user(loser.user).id().into(),
                before: loser.before,
                after: loser.after,
                part: loser.part(),
            })
            .collect(),
    };
    Document::new(LossBody {
        instance: InstanceStamp::new(instance, sha256),
        value,
        losses: losses.iter().map(result).collect(),
    })
}
