//! `fairplan.loss.v1`: what the failure of servers of each class costs whom.

use fairplan_analysis::Loss;
use fairplan_instances::InstanceStamp;
use fairplan_instances::table::{Kind, Table, Tabular};
use fairplan_instances::{Body, Document, Instance};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Users listed for each loss, those that lose the largest part first.
const LISTED: usize = 20;

/// What is lost when servers of one class fail, class by class: DRFH on what is left. The same instance and settings give
/// the same bytes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Losses")]
pub struct LossBody {
    /// The instance.
    pub instance: InstanceStamp,
    /// The smallest weighted dominant share now.
    pub value: f64,
    /// The loss of each class, the worst first: by the largest part that a user loses, then by what is lost in all.
    pub losses: Vec<LossResult>,
}

impl Body for LossBody {
    const FORMAT: &'static str = "fairplan.loss.v1";
}

/// The whole file.
pub type LossDocument = Document<LossBody>;

/// The loss of servers of one class.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LossResult {
    /// The class.
    pub class: String,
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
    pub losers: Vec<LostUser>,
}

/// A user that does less work.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LostUser {
    /// The user's id.
    pub id: String,
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
) -> LossDocument {
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

impl Tabular for LossBody {
    /// A row a class, with the user that loses the most (none where nobody loses).
    fn table(&self) -> Table<'_> {
        let worst = |of: fn(&LostUser) -> f64| move |loss: &LossResult| loss.losers.first().map(of);
        Table::of(&self.losses)
            .column("class", "server class", Kind::Id, |loss| &loss.class)
            .column("servers", "servers lost", Kind::Count, |loss| loss.servers)
            .column("value", "smallest share then", Kind::Share, |loss| loss.value)
            .column("lost", "lost in all", Kind::Part, |loss| loss.lost)
            .column("losing", "users that lose", Kind::Count, |loss| loss.losing)
            .column("stranded", "left with nothing", Kind::Count, |loss| loss.stranded)
            .column("gaining", "users that gain", Kind::Count, |loss| loss.gaining)
            .column("worst_user", "worst off", Kind::Id, |loss| {
                loss.losers.first().map_or("", |user| &user.id)
            })
            .said(|loss| loss.losers.is_empty().then_some("nobody"))
            .column("worst_before", "its tasks before", Kind::Number, worst(|user| user.before))
            .column("worst_after", "its tasks after", Kind::Number, worst(|user| user.after))
            .column("worst_part", "loses", Kind::Part, worst(|user| user.part))
            .done()
    }
}

impl LossBody {
    /// A row for each class and user that loses the most there.
    pub fn losers(&self) -> Table<'_> {
        let losses = self.losses.iter();
        let rows: Vec<(&LossResult, &LostUser)> =
            losses.flat_map(|loss| loss.losers.iter().map(move |loser| (loss, loser))).collect();
        Table::over(rows.len(), move |row| rows[row])
            .column("class", "servers lost", Kind::Id, |row| &row.0.class)
            .column("user", "user", Kind::Id, |row| &row.1.id)
            .column("before", "tasks before", Kind::Number, |row| row.1.before)
            .column("after", "tasks after", Kind::Number, |row| row.1.after)
            .column("part", "loses", Kind::Part, |row| row.1.part)
            .done()
    }
}
