//! `fairplan.reproduction.v1`: published numbers beside ours.

use crate::figure::Figure;
use fairplan_instances::table::{Kind, Table, Tabular};
use fairplan_instances::{Body, Document};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;

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
    /// What stands of every table and figure of the papers, if it was asked for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub exhibits: Vec<PublishedExhibit>,
}

impl Body for ReproductionBody {
    const FORMAT: &'static str = "fairplan.reproduction.v1";
}

/// The whole file.
pub type ReproductionDocument = Document<ReproductionBody>;

/// Why numbers of an exhibit differ, as a study knows it.
#[derive(Clone, Copy, Debug)]
pub struct KnownReason {
    /// The table or figure, by its name in fairplan.
    pub exhibit: &'static str,
    /// Whose quantities it explains: those that contain one of these words. None: all of the exhibit.
    pub of: &'static [&'static str],
    /// Whether that explains it.
    pub standing: Standing,
    /// What is known of it, for people.
    pub why: &'static str,
}

impl KnownReason {
    fn is_about(&self, number: &Reproduced) -> bool {
        let named = self.of.is_empty() || self.of.iter().any(|part| number.quantity.contains(part));
        named && number.exhibit == self.exhibit
    }
}

impl ReproductionBody {
    /// The document of these numbers and figures; `known` says why numbers differ, and what that makes of them: of each the first
    /// reason counts that is about it.
    pub fn new(
        mut numbers: Vec<Reproduced>,
        figures: Vec<Figure>,
        known: &[KnownReason],
    ) -> ReproductionDocument {
        let mut used = vec![false; known.len()];
        for number in &mut numbers {
            // What a file says of itself may be wrong.
            number.agrees = number.is_near();
            let reason = known.iter().position(|reason| reason.is_about(number));
            number.standing = match (number.agrees, reason) {
                (true, _) => Standing::Agrees,
                (false, None) => Standing::Unexplained,
                (false, Some(at)) => {
                    used[at] = true;
                    known[at].standing
                }
            };
        }
        let reason = |reason: &KnownReason| Reason {
            exhibit: reason.exhibit.into(),
            of: reason.of.iter().map(|part| (*part).into()).collect(),
            standing: reason.standing,
            why: reason.why.into(),
        };
        let reasons = known.iter().zip(used).filter(|(_, used)| *used).map(|(known, _)| reason(known));
        Document::new(Self {
            agrees: numbers.iter().all(|number| number.agrees),
            reasons: reasons.collect(),
            numbers,
            figures,
            exhibits: Vec::new(),
        })
    }
}

/// Why numbers of an exhibit differ from those published.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Reason {
    /// The table or figure, by its name in fairplan.
    pub exhibit: String,
    /// Which of its quantities are meant: those that contain one of these words. None: all.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub of: Vec<String>,
    /// Whether that explains it.
    #[serde(default)]
    pub standing: Standing,
    /// What is known of it, for people.
    pub why: String,
}

/// What stands of something published.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Standing {
    /// All its statements come out.
    Agrees,
    /// Some come out otherwise, for a reason that was tested.
    Explained,
    /// Some come out otherwise, and no reason was found that could be tested.
    #[default]
    Unexplained,
    /// What it states does not follow from what it describes.
    Refuted,
    /// It was not asked for, or needs a file that was not given.
    NotRun,
    /// It states nothing that could be measured.
    NoResult,
    /// It cannot be recomputed here.
    NotReproducible,
}

impl Standing {
    /// For people.
    pub fn words(self) -> &'static str {
        match self {
            Self::Agrees => "agrees",
            Self::Explained => "differs, for a tested reason",
            Self::Unexplained => "DIFFERS",
            Self::Refuted => "refuted",
            Self::NotRun => "not run",
            Self::NoResult => "states no result",
            Self::NotReproducible => "not reproducible here",
        }
    }
}

/// A table or figure of a paper, and what stands of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PublishedExhibit {
    /// The paper.
    pub paper: String,
    /// The table or figure, as the paper numbers it.
    pub exhibit: String,
    /// What it shows.
    pub shows: String,
    /// The name under which fairplan recomputes it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub study: Option<String>,
    /// Its statements that were recomputed.
    pub statements: u64,
    /// How many of them agree.
    pub agree: u64,
    /// What stands of it.
    pub standing: Standing,
    /// Why some differ, or why none was recomputed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
}

/// A row a table or figure.
pub fn exhibits_of(exhibits: &[PublishedExhibit]) -> Table<'_> {
    Table::of(exhibits)
        .column("paper", "paper", Kind::Words, |row| &row.paper)
        .column("exhibit", "exhibit", Kind::Words, |row| &row.exhibit)
        .column("shows", "shows", Kind::Words, |row| &row.shows)
        .column("study", "recomputed as", Kind::Words, |row| row.study.as_deref())
        .column("statements", "statements", Kind::Count, |row| row.statements)
        .column("agree", "agree", Kind::Count, |row| row.agree)
        .column("standing", "verdict", Kind::Words, |row| row.standing.words())
        .column("why", "why", Kind::Words, |row| row.why.as_deref())
        .done()
}

/// Where something was published.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Exhibit {
    /// Its name in fairplan (`drfh-fig3`).
    pub id: &'static str,
    /// Paper, section, table or figure.
    pub source: &'static str,
}

impl Exhibit {
    /// What stands there, word for word; `…` where words are left out.
    pub fn says(self, quotation: impl Into<String>) -> Passage {
        Passage { exhibit: self, quotation: quotation.into() }
    }
}

/// A passage of a paper that says something about a quantity.
#[derive(Clone, Debug)]
pub struct Passage {
    exhibit: Exhibit,
    quotation: String,
}

impl Passage {
    /// It prints this number.
    pub fn number(
        &self,
        quantity: impl Into<String>,
        published: f64,
        ours: f64,
        tolerance: f64,
    ) -> Reproduced {
        let number = self.about(quantity, ours, tolerance);
        Reproduced { published: Some(published), ..number }.judged()
    }

    /// It prints this range, or a bound.
    pub fn range(
        &self,
        quantity: impl Into<String>,
        range: Interval,
        ours: f64,
        tolerance: f64,
    ) -> Reproduced {
        let number = self.about(quantity, ours, tolerance);
        Reproduced { published_range: Some(range), ..number }.judged()
    }

    /// It says it in words, which we take to mean this.
    pub fn words(&self, quantity: impl Into<String>, reading: Interval, ours: f64) -> Reproduced {
        self.words_of_draws(quantity, reading, ours, 0.0)
    }

    /// The same of something drawn, which the draw changes by the tolerance.
    pub fn words_of_draws(
        &self,
        quantity: impl Into<String>,
        reading: Interval,
        ours: f64,
        tolerance: f64,
    ) -> Reproduced {
        let number = self.about(quantity, ours, tolerance);
        Reproduced { reading: Some(reading), ..number }.judged()
    }

    fn about(&self, quantity: impl Into<String>, ours: f64, tolerance: f64) -> Reproduced {
        Reproduced {
            exhibit: self.exhibit.id.into(),
            source: self.exhibit.source.into(),
            quantity: quantity.into(),
            quotation: self.quotation.clone(),
            published: None,
            published_range: None,
            reading: None,
            ours,
            tolerance,
            agrees: false,
            standing: Standing::default(),
        }
    }
}

/// From `least` to `most`, either of which may be missing.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Interval {
    /// The least.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub least: Option<f64>,
    /// The most.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub most: Option<f64>,
}

impl Interval {
    /// Between two numbers.
    pub fn between(least: f64, most: f64) -> Self {
        Self { least: Some(least), most: Some(most) }
    }

    /// This much or more.
    pub fn at_least(least: f64) -> Self {
        Self { least: Some(least), most: None }
    }

    /// This much or less.
    pub fn at_most(most: f64) -> Self {
        Self { least: None, most: Some(most) }
    }

    /// Nothing else than this.
    pub fn exactly(value: f64) -> Self {
        Self::between(value, value)
    }

    /// The value, or the end that is nearest to it.
    fn nearest(self, value: f64) -> f64 {
        let not_below = self.least.map_or(value, |least| value.max(least));
        self.most.map_or(not_below, |most| not_below.min(most))
    }

    fn holds(self, value: f64, tolerance: f64) -> bool {
        self.least.is_none_or(|least| least - value <= tolerance)
            && self.most.is_none_or(|most| value - most <= tolerance)
    }
}

impl fmt::Display for Interval {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.least, self.most) {
            (Some(least), Some(most)) if least == most => write!(f, "{least}"),
            (Some(least), Some(most)) => write!(f, "{least} to {most}"),
            (Some(least), None) => write!(f, "at least {least}"),
            (None, Some(most)) => write!(f, "at most {most}"),
            (None, None) => f.write_str("anything"),
        }
    }
}

/// Something published beside ours: a number, a range, or words.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Reproduced {
    /// The table or figure, by its name in fairplan.
    pub exhibit: String,
    /// Where it was published.
    pub source: String,
    /// What is measured.
    pub quantity: String,
    /// What stands there, word for word; `…` where words are left out.
    #[serde(default)]
    pub quotation: String,
    /// The number that is printed; left out where it is a range or words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub published: Option<f64>,
    /// The range that is printed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub published_range: Option<Interval>,
    /// What we take words to mean: no number of the paper's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reading: Option<Interval>,
    /// As computed here.
    pub ours: f64,
    /// How far ours may be from what is printed: half of the last printed digit, the precision of the computation, or, where the
    /// published input cannot be had, what another one of the same kind changes.
    pub tolerance: f64,
    /// Whether it is no farther.
    pub agrees: bool,
    /// What stands of it: that it agrees, or what is known of why it does not.
    #[serde(default)]
    pub standing: Standing,
}

impl Reproduced {
    /// Whether ours is no farther from what is published than the tolerance.
    fn is_near(&self) -> bool {
        let published = self.interval().or(self.published.map(Interval::exactly));
        published.is_some_and(|published| published.holds(self.ours, self.tolerance))
    }

    fn judged(self) -> Self {
        Self { agrees: self.is_near(), ..self }
    }

    /// Ours as a part of the number that is published, or of the nearest in the range; `None` where that is not above zero.
    pub fn part_of_published(&self) -> Option<f64> {
        let range = || self.interval().map(|range| range.nearest(self.ours));
        let published = self.published.or_else(range).filter(|published| *published > 0.0)?;
        Some(self.ours / published)
    }

    /// What people read where no number was printed: the range, or in brackets what we take the words to mean.
    fn said(&self) -> Option<String> {
        let range = self.published_range.map(|range| range.to_string());
        range.or_else(|| Some(format!("({})", self.reading?)))
    }

    /// In a word or two.
    fn verdict(&self) -> &'static str {
        match self.standing {
            _ if self.agrees => Standing::Agrees.words(),
            Standing::Explained => "differs (why)",
            Standing::Refuted => "refuted",
            _ => Standing::Unexplained.words(),
        }
    }

    fn interval(&self) -> Option<Interval> {
        self.published_range.or(self.reading)
    }
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
        .said(Reproduced::said)
        .column("published_least", "at least", Kind::Number, |number| number.interval()?.least)
        .column("published_most", "at most", Kind::Number, |number| number.interval()?.most)
        .column("ours", "ours", Kind::Number, |number| number.ours)
        .column("agrees", "verdict", Kind::Words, |number| number.verdict())
        .column("quotation", "the paper's words", Kind::Words, |number| &number.quotation)
        .done()
}
