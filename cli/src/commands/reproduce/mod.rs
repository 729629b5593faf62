//! `reproduce`: published tables and figures, recomputed.

mod drfh;
mod evaluations;
mod karma;
mod mrf;
mod stochastic;
mod traces;

use super::tell;
use crate::arguments::{CommonOptions, OutputArguments};
use crate::failure::{Answer, Failure};
use fairplan_instances::wording::unknown;
use fairplan_report::figure::Figure;
use fairplan_report::output::{Destination, commit};
use fairplan_report::plot::{self, Ground};
use fairplan_report::reproduction::{Reproduced, ReproductionBody};
use fairplan_report::{summary, write_json};
use std::io::Write;
use std::path::PathBuf;
use traces::Hours;

/// Recompute published tables and figures and print ours beside theirs
#[derive(Debug, clap::Args)]
#[command(after_help = "\
The exit status is 1 if a number differs from the published one.

Example: fairplan reproduce drfh-fig3")]
pub struct Arguments {
    /// Which ones: drfh-fig1, drfh-fig3, drfh-table1, drfh-fig4, drfh-table2, drfh-fig5, drfh-fig6, drfh-fig7, drfh-fig8, mrf-2.3, mrf-2.4, mrf-fig1, mrf-fig2, mrf-fig3, karma-fig2, karma-fig3,
    /// karma-fig4, karma-lemma2, kdn-tables, karma-fig6, karma-fig7, karma-fig8, fs-fig3, fs-fig4, fs-fig5,
    /// fs-fig6 (default: all that need no --google2011)
    ids: Vec<String>,
    /// The Google cluster-usage traces of 2011: the directory of task_events. drfh-table2 and drfh-fig5 to drfh-fig8 run all
    /// its parts but the first, which should be consecutive
    #[arg(long, value_name = "DIRECTORY")]
    google2011: Option<PathBuf>,
    /// Servers for these, drawn from the published distribution. The paper has 2,000 for a whole day
    #[arg(long, value_name = "N", default_value_t = 2000, requires = "google2011")]
    servers: u64,
    /// Draw the figures, each as ID.svg in this directory
    #[arg(long, value_name = "DIRECTORY")]
    plots: Option<PathBuf>,
    #[command(flatten)]
    output: OutputArguments,
}

/// Published numbers beside ours.
type Numbers = Vec<Reproduced>;

/// What is said of a figure's curves, beside ours, and our curves.
type Curves = (Numbers, Figure);

/// How an exhibit is recomputed.
#[derive(Clone, Copy)]
enum Recompute {
    /// Its numbers.
    Numbers(fn(CommonOptions) -> Result<Numbers, Failure>),
    /// Its curves.
    Figure(fn(CommonOptions) -> Result<Curves, Failure>),
    /// Its curves, from hours of a real trace.
    OfHours(fn(&mut Hours) -> Result<Curves, Failure>),
}

/// Every exhibit and how it is recomputed.
const EXHIBITS: [(&str, Recompute); 26] = [
    ("drfh-fig1", Recompute::Numbers(drfh::fig1)),
    ("drfh-fig3", Recompute::Numbers(drfh::fig3)),
    ("drfh-table1", Recompute::Numbers(drfh::table1)),
    ("drfh-fig4", Recompute::Figure(traces::fig4)),
    ("drfh-table2", Recompute::OfHours(traces::table2)),
    ("drfh-fig5", Recompute::OfHours(traces::fig5)),
    ("drfh-fig6", Recompute::OfHours(traces::fig6)),
    ("drfh-fig7", Recompute::OfHours(traces::fig7)),
    ("drfh-fig8", Recompute::OfHours(traces::fig8)),
    ("mrf-2.3", Recompute::Numbers(mrf::section_2_3)),
    ("mrf-2.4", Recompute::Numbers(mrf::section_2_4)),
    ("mrf-fig1", Recompute::Figure(stochastic::fig1)),
    ("mrf-fig2", Recompute::Figure(stochastic::fig2)),
    ("mrf-fig3", Recompute::Figure(stochastic::fig3)),
    ("karma-fig2", Recompute::Numbers(karma::fig2)),
    ("karma-fig3", Recompute::Numbers(karma::fig3)),
    ("karma-fig4", Recompute::Numbers(karma::fig4)),
    ("karma-lemma2", Recompute::Numbers(karma::lemma2)),
    ("kdn-tables", Recompute::Numbers(karma::kdn)),
    ("karma-fig6", Recompute::Numbers(evaluations::karma_fig6)),
    ("karma-fig7", Recompute::Numbers(evaluations::karma_fig7)),
    ("karma-fig8", Recompute::Numbers(evaluations::karma_fig8)),
    ("fs-fig3", Recompute::Numbers(evaluations::fair_shares_fig3)),
    ("fs-fig4", Recompute::Numbers(evaluations::fair_shares_fig4)),
    ("fs-fig5", Recompute::Numbers(evaluations::fair_shares_fig5)),
    ("fs-fig6", Recompute::Numbers(evaluations::fair_shares_fig6)),
];

struct Job {
    exhibits: Vec<Recompute>,
    google2011: Option<PathBuf>,
    servers: u64,
    plots: Option<PathBuf>,
    destination: Destination,
}

impl TryFrom<Arguments> for Job {
    type Error = Failure;
    fn try_from(arguments: Arguments) -> Result<Self, Failure> {
        let named = |id: &String| match EXHIBITS.iter().find(|(known, _)| known == id) {
            Some((_, recompute)) => Ok(*recompute),
            None => Err(Failure::refused(unknown("exhibit", id, EXHIBITS.iter().map(|(id, _)| *id)))),
        };
        let exhibits: Vec<Recompute> = if arguments.ids.is_empty() {
            let can_be = |recompute: &Recompute| {
                arguments.google2011.is_some() || !matches!(recompute, Recompute::OfHours(_))
            };
            EXHIBITS.iter().map(|(_, recompute)| *recompute).filter(can_be).collect()
        } else {
            arguments.ids.iter().map(named).collect::<Result<_, _>>()?
        };
        let needs = |recompute: &Recompute| matches!(recompute, Recompute::OfHours(_));
        if arguments.google2011.is_none() && exhibits.iter().any(needs) {
            return Err(Failure::refused(
                "drfh-table2 and drfh-fig5 to drfh-fig8 need hours of a real trace: name its directory by --google2011",
            ));
        }
        if let Some(directory) = arguments.plots.as_ref().filter(|directory| !directory.is_dir()) {
            return Err(Failure::refused(format!("--plots {}: no such directory", directory.display())));
        }
        Ok(Self {
            exhibits,
            google2011: arguments.google2011,
            servers: arguments.servers,
            plots: arguments.plots,
            destination: arguments.output.destination()?,
        })
    }
}

/// Recomputes, writes, says whether all agree.
pub fn run(arguments: Arguments, common: CommonOptions) -> Result<Answer, Failure> {
    let job = Job::try_from(arguments)?;
    let (mut numbers, mut figures) = (Vec::new(), Vec::new());
    let mut hours: Option<Hours> = None;
    for recompute in &job.exhibits {
        let (said, figure) = match (recompute, &job.google2011) {
            (Recompute::Numbers(recompute), _) => (recompute(common)?, None),
            (Recompute::Figure(recompute), _) => with_figure(recompute(common)?),
            (Recompute::OfHours(recompute), Some(directory)) => {
                let hours = match &mut hours {
                    Some(hours) => hours,
                    None => hours.insert(Hours::new(directory, job.servers, common)?),
                };
                with_figure(recompute(hours)?)
            }
            (Recompute::OfHours(_), None) => continue,
        };
        numbers.extend(said);
        figures.extend(figure);
    }
    let mut prepared = Vec::new();
    for (directory, figure) in job.plots.iter().flat_map(|plots| figures.iter().map(move |f| (plots, f))) {
        let file = directory.join(format!("{}.svg", figure.exhibit));
        let drawing = plot::curves(figure).svg(Ground::Paper);
        prepared.push(Destination::new(Some(&file))?.prepare(|out| out.write_all(drawing.as_bytes()))?);
    }
    let reasons = [&traces::REASONS[..], &evaluations::REASONS[..]].concat();
    let document = ReproductionBody::new(numbers, figures, &reasons);
    prepared.push(job.destination.prepare(|out| write_json(out, &document))?);
    commit(prepared)?;
    tell(common, || summary::reproduction(&document));
    Ok(Answer::yes_if(document.agrees))
}

fn with_figure((numbers, figure): Curves) -> (Numbers, Option<Figure>) {
    (numbers, Some(figure))
}
