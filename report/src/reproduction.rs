//! `fairplan.reproduction.v1`: published numbers beside ours.

use crate::figure::Figure;
use fairplan_instances::{Body, Document};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;

/// Numbers of published tables and figures, recomputed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Reproduction")]
pub struct ReproductionBody<'a> {
    /// Whether all numbers agree.
    pub agrees: bool,
    /// The numbers.
    #[serde(borrow)]
    pub numbers: Vec<Reproduced<'a>>,
    /// Why numbers of an exhibit differ, where some do and it is known.
    #[serde(borrow, default, skip_serializing_if = "Vec::is_empty")]
    pub reasons: Vec<Reason<'a>>,
    /// The curves of figures.
    #[serde(borrow, default, skip_serializing_if = "Vec::is_empty")]
    pub figures: Vec<Figure<'a>>,
}

impl Body for ReproductionBody<'_> {
    const FORMAT: &'static str = "fairplan.reproduction.v1";
}

/// The whole file.
pub type ReproductionDocument<'a> = Document<ReproductionBody<'a>>;

impl<'a> ReproductionBody<'a> {
    /// The document of these numbers and figures; `reasons` says of exhibits, by their names, why numbers of theirs differ.
    pub fn new(
        numbers: Vec<Reproduced<'a>>,
        figures: Vec<Figure<'a>>,
        reasons: &[(&'static str, &'static str)],
    ) -> ReproductionDocument<'a> {
        let differs =
            |exhibit: &str| numbers.iter().any(|number| number.exhibit == exhibit && !number.agrees);
        let known = reasons.iter().filter(|(exhibit, _)| differs(exhibit));
        let reasons = known.map(|(exhibit, why)| Reason { exhibit: (*exhibit).into(), why: (*why).into() });
        Document::new(Self {
            agrees: numbers.iter().all(|number| number.agrees),
            reasons: reasons.collect(),
            numbers,
            figures,
        })
    }
}

/// Why numbers of an exhibit differ from those published.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Reason<'a> {
    /// The table or figure, by its name in fairplan.
    #[serde(borrow)]
    pub exhibit: Cow<'a, str>,
    /// What is known of it, for people.
    #[serde(borrow)]
    pub why: Cow<'a, str>,
}

/// Where a number was published.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Exhibit {
    /// Its name in fairplan (`drfh-fig3`).
    pub id: &'static str,
    /// Paper, table or figure.
    pub source: &'static str,
}

impl Exhibit {
    /// One of its numbers as published, and as computed here.
    pub fn number(
        self,
        quantity: impl Into<String>,
        published: f64,
        ours: f64,
        tolerance: f64,
    ) -> Reproduced<'static> {
        Reproduced {
            exhibit: self.id.into(),
            source: self.source.into(),
            quantity: Cow::Owned(quantity.into()),
            published,
            ours,
            tolerance,
            agrees: (published - ours).abs() <= tolerance,
        }
    }
}

/// One published number beside ours.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Reproduced<'a> {
    /// The table or figure, by its name in fairplan.
    #[serde(borrow)]
    pub exhibit: Cow<'a, str>,
    /// Where it was published.
    #[serde(borrow)]
    pub source: Cow<'a, str>,
    /// What the number measures.
    #[serde(borrow)]
    pub quantity: Cow<'a, str>,
    /// As published.
    pub published: f64,
    /// As computed here.
    pub ours: f64,
    /// How far apart they may be: half of the last printed digit, the precision of the computation, or, where the
    /// published input cannot be had, what another one of the same kind may change.
    pub tolerance: f64,
    /// Whether they are no farther apart.
    pub agrees: bool,
}
