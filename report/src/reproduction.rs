//! `fairplan.reproduction.v1`: published numbers beside ours.

use crate::figure::Figure;
use fairplan_instances::table::{Kind, Table, Tabular};
use fairplan_instances::{Body, Document};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Numbers of published tables and figures, recomputed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Reproduction")]
pub struct ReproductionBody {
    /// Whether all numbers agree.
    pub agrees: bool,
    /// The numbers.
    pub numbers: Vec<Reproduced>,
    /// Why numbers of an exhibit differ, where some do and it is known.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reasons: Vec<Reason>,
    /// The curves of figures.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub figures: Vec<Figure>,
}

impl Body for ReproductionBody {
    const FORMAT: &'static str = "fairplan.reproduction.v1";
}

/// The whole file.
pub type ReproductionDocument = Document<ReproductionBody>;

impl ReproductionBody {
    /// The document of these numbers and figures; `reasons` says of exhibits, by their names, why numbers of theirs differ.
    pub fn new(
        numbers: Vec<Reproduced>,
        figures: Vec<Figure>,
        reasons: &[(&'static str, &'static str)],
    ) -> ReproductionDocument {
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
pub struct Reason {
    /// The table or figure, by its name in fairplan.
    pub exhibit: String,
    /// What is known of it, for people.
    pub why: String,
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
    ) -> Reproduced {
        Reproduced {
            exhibit: self.id.into(),
            source: self.source.into(),
            quantity: quantity.into(),
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
pub struct Reproduced {
    /// The table or figure, by its name in fairplan.
    pub exhibit: String,
    /// Where it was published.
    pub source: String,
    /// What the number measures.
    pub quantity: String,
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

impl Tabular for ReproductionBody {
    /// A row a number.
    fn table(&self) -> Table<'_> {
        numbers_of(&self.numbers)
    }
}

/// A row a number.
pub fn numbers_of(numbers: &[Reproduced]) -> Table<'_> {
    Table::of(numbers)
        .column("exhibit", "exhibit", Kind::Words, |number| &number.exhibit)
        .column("quantity", "quantity", Kind::Words, |number| &number.quantity)
        .column("published", "published", Kind::Number, |number| number.published)
        .column("ours", "ours", Kind::Number, |number| number.ours)
        .column("agrees", "verdict", Kind::Words, |number| if number.agrees { "agrees" } else { "DIFFERS" })
        .done()
}
