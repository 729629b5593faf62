//! Published tables and figures, recomputed: each study has the values that a paper prints, where they stand, and how near ours
//! have to be. Where numbers differ and it is known why, that is said.

mod allocatable;
mod drfh;
mod evaluations;
mod exhibits;
mod fragmentation;
mod karma;
mod mrf;
mod outcome;
mod solved;
mod stochastic;
mod traces;

use evaluations::Source;
use fairplan::instances::{Entry, Registry, UnknownName};
use fairplan::report::figure::Figure;
use fairplan::report::reproduction::{ReproductionBody, ReproductionDocument};
use fairplan::{Control, Error};
pub use outcome::KeptBound;
use outcome::{Curves, Numbers};
use std::path::{Path, PathBuf};
use traces::Hours;

/// Curves, and the bounds behind them.
type Bounded = (Curves, Vec<KeptBound>);

/// An exhibit, recomputed.
#[derive(Clone, Copy)]
pub struct Study(How);

/// How an exhibit is recomputed.
#[derive(Clone, Copy)]
enum How {
    /// Its numbers.
    Numbers(fn(&Control<'_>) -> Result<Numbers, Error>),
    /// Its numbers, from demands over time.
    OfDemands(fn(&Source, &Control<'_>) -> Result<Numbers, Error>),
    /// Its curves.
    Figure(fn(&Control<'_>) -> Result<Curves, Error>),
    /// Its curves, from hours of a real trace.
    OfHours(fn(&mut Hours<'_>) -> Result<Curves, Error>),
    /// Its curves, from the tables of a GPU cluster, and the bounds behind them.
    OfPods(fn(&Path, &Control<'_>) -> Result<Bounded, Error>),
}

/// Every exhibit and how it is recomputed.
pub const STUDIES: Registry<Study> = Registry::new(
    "exhibit",
    &[
        study(
            "drfh-fig1",
            "what DRF in each server on its own lets two users run on two servers",
            How::Numbers(drfh::fig1),
        ),
        study("drfh-fig3", "what DRFH lets the same users run", How::Numbers(drfh::fig3)),
        study("drfh-table1", "Google's servers by class", How::Numbers(drfh::table1)),
        study("drfh-fig4", "shares over time while three users join and leave", How::Figure(traces::fig4)),
        study("drfh-table2", "what slots of different sizes use", How::OfHours(traces::table2)),
        study("drfh-fig5", "utilization over time", How::OfHours(traces::fig5)),
        study("drfh-fig6", "completion times of jobs", How::OfHours(traces::fig6)),
        study("drfh-fig7", "the part of its tasks that each user completes", How::OfHours(traces::fig7)),
        study("drfh-fig8", "users on their own servers and on shared ones", How::OfHours(traces::fig8)),
        study(
            "mrf-2.3",
            "what claiming more gains under proportional fairness",
            How::Numbers(mrf::section_2_3),
        ),
        study(
            "mrf-2.4",
            "the same under bottleneck max fairness, and a continuum of its allocations",
            How::Numbers(mrf::section_2_4),
        ),
        study("mrf-fig1", "service rates under balanced load", How::Figure(stochastic::fig1)),
        study("mrf-fig2", "service rates under unbalanced load", How::Figure(stochastic::fig2)),
        study("mrf-fig3", "packets beside the fluid model", How::Figure(stochastic::fig3)),
        study("karma-fig2", "slices under periodic max-min", How::Numbers(karma::fig2)),
        study("karma-fig3", "slices and credits under Karma", How::Numbers(karma::fig3)),
        study("karma-fig4", "what underreporting gains and costs", How::Numbers(karma::fig4)),
        study("karma-lemma2", "the bounds of gain and loss, for 8 users", How::Numbers(karma::lemma2)),
        study("kdn-tables", "max-min and Karma, cell by cell", How::Numbers(karma::kdn)),
        study(
            "karma-fig6",
            "throughput and totals of three schemes",
            How::OfDemands(evaluations::karma_fig6),
        ),
        study(
            "karma-fig7",
            "utilization while fewer and fewer users hoard",
            How::OfDemands(evaluations::karma_fig7),
        ),
        study(
            "karma-fig8",
            "utilization and evenness by guaranteed fraction",
            How::OfDemands(evaluations::karma_fig8),
        ),
        study("fs-fig2", "demands over a day", How::OfDemands(evaluations::fig2)),
        study("fs-fig3", "utilization by the share of greedy users", How::OfDemands(evaluations::fig3)),
        study(
            "fs-fig4",
            "welfare and incentive by the share of greedy users",
            How::OfDemands(evaluations::fig4),
        ),
        study("fs-fig5", "fairness by the share of greedy users", How::OfDemands(evaluations::fig5)),
        study("fs-fig6", "what greedy users hold more of", How::OfDemands(evaluations::fig6)),
        study(
            "fgd",
            "GPU that six policies allocate, by the demand that has come",
            How::OfPods(fragmentation::default),
        ),
        study(
            "fgd-gpuspec33",
            "the same where a third of the pods name models of GPUs",
            How::OfPods(fragmentation::gpuspec33),
        ),
    ],
);

const fn study(name: &'static str, line: &'static str, how: How) -> Entry<Study> {
    Entry { name, line, make: Study(how) }
}

/// Which exhibits to recompute, and from what.
#[derive(Clone, Debug)]
pub struct ReproduceOptions {
    /// Some of [`STUDIES`]. Default: none, which means all that can be recomputed.
    pub ids: Vec<String>,
    /// Whether to say what stands of every table and figure of the papers, recomputed or not. Default: no.
    pub summary: bool,
    /// The directory that contains `task_events` of the Google cluster-usage traces of 2011, which some exhibits need. Default: none.
    pub google2011: Option<PathBuf>,
    /// The directory that contains the tables of Alibaba's GPU cluster of 2023 (`openb_node_list_all_node.csv` and lists of pods), which
    /// some exhibits need. Default: none.
    pub alibaba_gpu2023: Option<PathBuf>,
    /// The table `snowset-main` of Snowflake's public queries, from which karma-fig6 to karma-fig8 and fs-fig2 to fs-fig6 take their
    /// demands. Default: none, which draws demands like those.
    pub snowset: Option<PathBuf>,
    /// Servers of the traces of 2011, drawn from the published distribution. Default: 2000, the paper's for a whole day.
    pub servers: u64,
}

impl Default for ReproduceOptions {
    fn default() -> Self {
        Self {
            ids: Vec::new(),
            summary: false,
            google2011: None,
            alibaba_gpu2023: None,
            snowset: None,
            servers: 2000,
        }
    }
}

impl ReproduceOptions {
    /// Refuses what cannot be meant.
    pub fn check(&self) -> Result<(), Error> {
        self.studies().map(drop)
    }

    /// The names of the exhibits that are meant.
    ///
    /// # Errors
    /// An unknown name, or one whose files are not named.
    pub fn exhibits(&self) -> Result<Vec<&'static str>, Error> {
        Ok(self.entries()?.into_iter().map(|entry| entry.name).collect())
    }

    fn studies(&self) -> Result<Vec<How>, Error> {
        Ok(self.entries()?.into_iter().map(|entry| entry.make.0).collect())
    }

    fn entries(&self) -> Result<Vec<&'static Entry<Study>>, Error> {
        let needs_hours = |entry: &Entry<Study>| matches!(entry.make.0, How::OfHours(_));
        let needs_pods = |entry: &Entry<Study>| matches!(entry.make.0, How::OfPods(_));
        if self.ids.is_empty() {
            let has_files = |entry: &&Entry<Study>| {
                (self.google2011.is_some() || !needs_hours(entry))
                    && (self.alibaba_gpu2023.is_some() || !needs_pods(entry))
            };
            return Ok(STUDIES.entries().iter().filter(has_files).collect());
        }
        let named = |id: &String| STUDIES.find(id).map(|(entry, _)| entry);
        let studies = self.ids.iter().map(named).collect::<Result<Vec<_>, UnknownName>>()?;
        if self.google2011.is_none() && studies.iter().any(|entry| needs_hours(entry)) {
            return Err(Error::input(
                "drfh-table2 and drfh-fig5 to drfh-fig8 need hours of a real trace: name its directory by --google2011",
            ));
        }
        if self.alibaba_gpu2023.is_none() && studies.iter().any(|entry| needs_pods(entry)) {
            return Err(Error::input(
                "fgd and fgd-gpuspec33 need the tables of a real cluster: name their directory by --alibaba-gpu2023",
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
    reproduce_with_bounds(options, control).map(|(document, _)| document)
}

/// The same, and the bounds of whole tasks that it states, each with its certificate.
pub fn reproduce_with_bounds(
    options: &ReproduceOptions,
    control: &Control<'_>,
) -> Result<(ReproductionDocument, Vec<KeptBound>), Error> {
    let (mut numbers, mut figures, mut bounds) = (Vec::new(), Vec::new(), Vec::new());
    let mut hours: Option<Hours<'_>> = None;
    let source = Source::new(options.snowset.clone());
    for study in options.studies()? {
        let (said, figure) = match (study, &options.google2011) {
            (How::Numbers(recompute), _) => (recompute(control)?, None),
            (How::OfDemands(recompute), _) => (source.named(recompute(&source, control)?)?, None),
            (How::Figure(recompute), _) => with_figure(recompute(control)?),
            (How::OfHours(recompute), Some(directory)) => {
                let hours = match &mut hours {
                    Some(hours) => hours,
                    None => hours.insert(Hours::new(directory, options.servers, control)?),
                };
                with_figure(recompute(hours)?)
            }
            (How::OfPods(recompute), _) => match &options.alibaba_gpu2023 {
                Some(directory) => {
                    let (curves, kept) = recompute(directory, control)?;
                    bounds.extend(kept);
                    with_figure(curves)
                }
                None => continue,
            },
            (How::OfHours(_), None) => continue,
        };
        numbers.extend(said);
        figures.extend(figure);
    }
    Ok((document(numbers, figures, options), bounds))
}

/// The document of all these together, in their order, of which each was asked for with these options but for its exhibit; with
/// `summary` it says what stands of every table and figure of the papers.
pub fn joined(
    parts: impl IntoIterator<Item = ReproductionDocument>,
    options: &ReproduceOptions,
) -> ReproductionDocument {
    let (mut numbers, mut figures) = (Vec::new(), Vec::new());
    for part in parts {
        numbers.extend(part.body.numbers);
        figures.extend(part.body.figures);
    }
    document(numbers, figures, options)
}

fn document(numbers: Numbers, figures: Vec<Figure>, options: &ReproduceOptions) -> ReproductionDocument {
    let mut reasons = [&[stochastic::FIG_1][..], &traces::REASONS].concat();
    // What was tested was tested on drawn demands.
    if options.snowset.is_none() {
        reasons.extend(evaluations::reasons());
    }
    let mut document = ReproductionBody::new(numbers, figures, &reasons);
    if options.summary {
        document.body.exhibits = exhibits::standings(&document.numbers, &document.reasons);
    }
    document
}

fn with_figure((numbers, figure): Curves) -> (Numbers, Option<Figure>) {
    (numbers, Some(figure))
}
