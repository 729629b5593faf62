//! Published tables and figures, recomputed: each study has the values that a paper prints, where they stand, and how near ours
//! have to be. Where numbers differ and it is known why, that is said.

mod drfh;
mod evaluations;
mod karma;
mod mrf;
mod stochastic;
mod traces;

use fairplan::instances::wording::unknown;
use fairplan::report::figure::Figure;
use fairplan::report::reproduction::{Reproduced, ReproductionBody, ReproductionDocument};
use fairplan::{Control, Error, Instance, Objective, SolveOptions, Solved, solve};
use std::path::PathBuf;
use traces::Hours;

/// Published numbers beside ours.
type Numbers = Vec<Reproduced>;

/// What is said of a figure's curves, beside ours, and our curves.
type Curves = (Numbers, Figure);

/// How an exhibit is recomputed.
#[derive(Clone, Copy)]
enum Study {
    /// Its numbers.
    Numbers(fn(&Control<'_>) -> Result<Numbers, Error>),
    /// Its curves.
    Figure(fn(&Control<'_>) -> Result<Curves, Error>),
    /// Its curves, from hours of a real trace.
    OfHours(fn(&mut Hours<'_>) -> Result<Curves, Error>),
}

/// Every exhibit and how it is recomputed.
const STUDIES: [(&str, Study); 26] = [
    ("drfh-fig1", Study::Numbers(drfh::fig1)),
    ("drfh-fig3", Study::Numbers(drfh::fig3)),
    ("drfh-table1", Study::Numbers(drfh::table1)),
    ("drfh-fig4", Study::Figure(traces::fig4)),
    ("drfh-table2", Study::OfHours(traces::table2)),
    ("drfh-fig5", Study::OfHours(traces::fig5)),
    ("drfh-fig6", Study::OfHours(traces::fig6)),
    ("drfh-fig7", Study::OfHours(traces::fig7)),
    ("drfh-fig8", Study::OfHours(traces::fig8)),
    ("mrf-2.3", Study::Numbers(mrf::section_2_3)),
    ("mrf-2.4", Study::Numbers(mrf::section_2_4)),
    ("mrf-fig1", Study::Figure(stochastic::fig1)),
    ("mrf-fig2", Study::Figure(stochastic::fig2)),
    ("mrf-fig3", Study::Figure(stochastic::fig3)),
    ("karma-fig2", Study::Numbers(karma::fig2)),
    ("karma-fig3", Study::Numbers(karma::fig3)),
    ("karma-fig4", Study::Numbers(karma::fig4)),
    ("karma-lemma2", Study::Numbers(karma::lemma2)),
    ("kdn-tables", Study::Numbers(karma::kdn)),
    ("karma-fig6", Study::Numbers(evaluations::karma_fig6)),
    ("karma-fig7", Study::Numbers(evaluations::karma_fig7)),
    ("karma-fig8", Study::Numbers(evaluations::karma_fig8)),
    ("fs-fig3", Study::Numbers(evaluations::fair_shares_fig3)),
    ("fs-fig4", Study::Numbers(evaluations::fair_shares_fig4)),
    ("fs-fig5", Study::Numbers(evaluations::fair_shares_fig5)),
    ("fs-fig6", Study::Numbers(evaluations::fair_shares_fig6)),
];

/// Which exhibits to recompute, and from what.
#[derive(Clone, Debug)]
pub struct ReproduceOptions {
    /// Some of [`exhibits`]. Default: none, which means all that can be recomputed.
    pub ids: Vec<String>,
    /// The directory of `task_events` of the Google cluster-usage traces of 2011, which some exhibits need. Default: none.
    pub google2011: Option<PathBuf>,
    /// Servers for these, drawn from the published distribution. Default: 2000, the paper's for a whole day.
    pub servers: u64,
}

impl Default for ReproduceOptions {
    fn default() -> Self {
        Self { ids: Vec::new(), google2011: None, servers: 2000 }
    }
}

/// The name of every exhibit, in the papers' order.
pub fn exhibits() -> impl Iterator<Item = &'static str> + Clone {
    STUDIES.iter().map(|(id, _)| *id)
}

impl ReproduceOptions {
    /// Refuses what cannot be meant.
    pub fn check(&self) -> Result<(), Error> {
        self.studies().map(drop)
    }

    fn studies(&self) -> Result<Vec<Study>, Error> {
        let needs_hours = |study: &Study| matches!(study, Study::OfHours(_));
        if self.ids.is_empty() {
            let all = STUDIES.iter().map(|(_, study)| *study);
            return Ok(all.filter(|study| self.google2011.is_some() || !needs_hours(study)).collect());
        }
        let named = |id: &String| match STUDIES.iter().find(|(known, _)| known == id) {
            Some((_, study)) => Ok(*study),
            None => Err(Error::input(unknown("exhibit", id, exhibits()))),
        };
        let studies = self.ids.iter().map(named).collect::<Result<Vec<Study>, Error>>()?;
        if self.google2011.is_none() && studies.iter().any(needs_hours) {
            return Err(Error::input(
                "drfh-table2 and drfh-fig5 to drfh-fig8 need hours of a real trace: name its directory by --google2011",
            ));
        }
        Ok(studies)
    }
}

/// Recomputes exhibits. That a number differs is an answer.
///
/// ```
/// use fairplan::Control;
/// use fairplan_studies::{ReproduceOptions, reproduce};
///
/// let options = ReproduceOptions { ids: vec!["drfh-fig3".into()], ..ReproduceOptions::default() };
/// assert!(reproduce(&options, &Control::none())?.agrees);
/// # Ok::<(), fairplan::Error>(())
/// ```
pub fn reproduce(options: &ReproduceOptions, control: &Control<'_>) -> Result<ReproductionDocument, Error> {
    let (mut numbers, mut figures) = (Vec::new(), Vec::new());
    let mut hours: Option<Hours<'_>> = None;
    for study in options.studies()? {
        let (said, figure) = match (study, &options.google2011) {
            (Study::Numbers(recompute), _) => (recompute(control)?, None),
            (Study::Figure(recompute), _) => with_figure(recompute(control)?),
            (Study::OfHours(recompute), Some(directory)) => {
                let hours = match &mut hours {
                    Some(hours) => hours,
                    None => hours.insert(Hours::new(directory, options.servers, control)?),
                };
                with_figure(recompute(hours)?)
            }
            (Study::OfHours(_), None) => continue,
        };
        numbers.extend(said);
        figures.extend(figure);
    }
    let reasons = [&traces::REASONS[..], &evaluations::REASONS[..]].concat();
    Ok(ReproductionBody::new(numbers, figures, &reasons))
}

fn with_figure((numbers, figure): Curves) -> (Numbers, Option<Figure>) {
    (numbers, Some(figure))
}

/// What is fair on an instance, proved.
fn solved(instance: &Instance, objective: Objective, control: &Control<'_>) -> Result<Solved, Error> {
    solve(instance, &SolveOptions { objective, hash: false, ..SolveOptions::default() }, control)
}
