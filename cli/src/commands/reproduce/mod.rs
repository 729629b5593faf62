//! `reproduce`: published tables and figures, recomputed.

mod drfh;
mod evaluations;
mod karma;
mod mrf;

use super::tell;
use crate::arguments::{CommonOptions, OutputArguments};
use crate::failure::{Answer, Failure};
use fairplan_report::output::Destination;
use fairplan_report::reproduction::{Reproduced, ReproductionDocument};
use fairplan_report::{summary, write_json};

/// Recompute published tables and figures and print ours beside theirs
#[derive(Debug, clap::Args)]
#[command(after_help = "\
The exit status is 1 if a number differs from the published one.

Example: fairplan reproduce drfh-fig3")]
pub struct Arguments {
    /// Which ones: drfh-fig1, drfh-fig3, drfh-table1, mrf-2.4, karma-fig2, karma-fig3, karma-fig4, karma-lemma2,
    /// kdn-tables, karma-fig6, karma-fig7, karma-fig8, fs-fig3, fs-fig4, fs-fig5, fs-fig6 (default: all)
    ids: Vec<String>,
    #[command(flatten)]
    output: OutputArguments,
}

type Recompute = fn(CommonOptions) -> Result<Vec<Reproduced<'static>>, Failure>;

/// Every exhibit and how it is recomputed.
const EXHIBITS: [(&str, Recompute); 16] = [
    ("drfh-fig1", drfh::fig1),
    ("drfh-fig3", drfh::fig3),
    ("drfh-table1", drfh::table1),
    ("mrf-2.4", mrf::section_2_4),
    ("karma-fig2", karma::fig2),
    ("karma-fig3", karma::fig3),
    ("karma-fig4", karma::fig4),
    ("karma-lemma2", karma::lemma2),
    ("kdn-tables", karma::kdn),
    ("karma-fig6", evaluations::karma_fig6),
    ("karma-fig7", evaluations::karma_fig7),
    ("karma-fig8", evaluations::karma_fig8),
    ("fs-fig3", evaluations::fair_shares_fig3),
    ("fs-fig4", evaluations::fair_shares_fig4),
    ("fs-fig5", evaluations::fair_shares_fig5),
    ("fs-fig6", evaluations::fair_shares_fig6),
];

struct Job {
    exhibits: Vec<Recompute>,
    destination: Destination,
}

impl TryFrom<Arguments> for Job {
    type Error = Failure;
    fn try_from(arguments: Arguments) -> Result<Self, Failure> {
        let named = |id: &String| match EXHIBITS.iter().find(|(known, _)| known == id) {
            Some((_, recompute)) => Ok(*recompute),
            None => {
                let known: Vec<&str> = EXHIBITS.iter().map(|(id, _)| *id).collect();
                let id = id.escape_debug();
                Err(Failure::refused(format!(
                    "{id} is not among those that can be reproduced: {}",
                    known.join(", ")
                )))
            }
        };
        let exhibits = if arguments.ids.is_empty() {
            EXHIBITS.iter().map(|(_, recompute)| *recompute).collect()
        } else {
            arguments.ids.iter().map(named).collect::<Result<_, _>>()?
        };
        Ok(Self { exhibits, destination: arguments.output.destination()? })
    }
}

/// Recomputes, writes, says whether all agree.
pub fn run(arguments: Arguments, common: CommonOptions) -> Result<Answer, Failure> {
    let job = Job::try_from(arguments)?;
    let mut numbers = Vec::new();
    for recompute in &job.exhibits {
        numbers.extend(recompute(common)?);
    }
    let document = ReproductionDocument::new(numbers);
    job.destination.write(|out| write_json(out, &document))?;
    tell(common, || summary::reproduction(&document));
    Ok(Answer::yes_if(document.agrees))
}
