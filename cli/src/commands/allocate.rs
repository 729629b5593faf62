//! `allocate`: demands over time divided by a mechanism, quantum by quantum.

use crate::arguments::{CommonOptions, OutputArguments, ResultFormat, ResultOutput};
use crate::demands::DemandsArguments;
use crate::failure::Answer;
use crate::progress::{self, tell};
use fairplan::instances::Violation;
use fairplan::instances::table::Tabular;
use fairplan::read::{self, Demands, DemandsSource};
use fairplan::report::allocation::quanta_of_users;
use fairplan::report::summary;
use fairplan::report::task_allocation::tasks_by_class;
use fairplan::{
    AllocateOptions, Control, Deadline, Decimal, DemandSeries, Error, FairShares, GuaranteedFraction,
    Instance, MECHANISMS, MechanismOptions, TASK_MECHANISMS, TaskDemands, Ties,
};

/// Divide demands over time among users by a mechanism, quantum by quantum
#[derive(Debug, clap::Args)]
#[command(after_help = "\
DEMANDS is a table with the columns quantum, user, demand, or with quantum and one column a user (CSV, gzipped or not, \
or Parquet), or a fairplan.demands.v1. Slices, credits and tickets are counted in whole numbers. The result is a \
fairplan.allocation.v1.

Example: fairplan generate karma-fig2 | fairplan allocate - --mechanism karma --fair-share 2 \\
           --initial-credits 6")]
pub struct Arguments {
    #[command(flatten)]
    pub demands: DemandsArguments,
    #[arg(long, value_name = "NAME", default_value = "karma", help = mechanism_help())]
    mechanism: String,
    #[command(flatten)]
    settings: SettingsArguments,
    /// This part of the users, drawn by the seed, is not conformant: they report at least their fair share (in an
    /// auction they bid up to a tenth off the value)
    #[arg(long, value_name = "PART", conflicts_with = "reported")]
    non_conformant: Option<Decimal>,
    /// A series of the same users and quanta: what they report instead of the truth in DEMANDS
    #[arg(long, value_name = "FILE")]
    reported: Option<String>,
    /// Take slices for a cache, the store behind it so many times slower (Karma Sec. 5 measured 50 to 100), and
    /// report throughput and latency
    #[arg(long, value_name = "TIMES")]
    cache_slowdown: Option<Decimal>,
    /// Keep every quantum too: what each user is allocated, and its credits
    #[arg(long)]
    per_quantum: bool,
    /// Write the whole result (json), or the table of users (of quanta and users, with --per-quantum)
    /// (default: as the ending of -o FILE says, else json)
    #[arg(long, value_enum, value_name = "FORMAT")]
    format: Option<ResultFormat>,
    #[command(flatten)]
    output: OutputArguments,
}

/// The settings of mechanisms.
#[derive(Clone, Debug, clap::Args)]
pub struct SettingsArguments {
    /// Karma: the guaranteed fraction of the fair share, 0 to 1
    #[arg(long, value_name = "A", default_value = "0.5", allow_negative_numbers = true)]
    alpha: Decimal,
    /// Karma: credits of every user at the start (default: the slices of all quanta, or all servers in all quanta, so
    /// that nobody with an average share can run out)
    #[arg(long, value_name = "N")]
    initial_credits: Option<u64>,
    /// Who comes first among equals: the user that stands lowest or highest in the input, or that with the largest
    /// demand
    #[arg(long, value_name = "RULE", default_value = "lowest")]
    ties: Ties,
    /// Tickets: how many there are for every slice
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    oversubscription: u64,
    /// Tickets: quanta until a claim ends, that of its grant included
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    term: u64,
    /// Seed of everything drawn
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,
}

fn mechanism_help() -> String {
    format!("How slices are divided. {}. With an instance: {}", MECHANISMS.listed(), TASK_MECHANISMS.listed())
}

impl SettingsArguments {
    /// What they mean.
    pub fn options(&self) -> Result<MechanismOptions, Violation> {
        let Self { initial_credits, ties, oversubscription, term, seed, .. } = *self;
        let alpha = GuaranteedFraction::new(self.alpha)?;
        Ok(MechanismOptions { alpha, initial_credits, ties, oversubscription, term, seed })
    }
}

struct Job {
    source: DemandsSource,
    reported: Option<String>,
    options: AllocateOptions,
    output: ResultOutput,
}

impl TryFrom<Arguments> for Job {
    type Error = Error;
    fn try_from(arguments: Arguments) -> Result<Self, Error> {
        let output = arguments.output.result(arguments.format)?;
        let settings = arguments.settings.options()?;
        let source = arguments.demands.source()?;
        if arguments.reported.as_deref() == Some("-") {
            return Err(Error::input("--reported cannot be standard input; name a file"));
        }
        let Arguments { mechanism, non_conformant, cache_slowdown, per_quantum, .. } = arguments;
        let options = AllocateOptions { mechanism, settings, non_conformant, cache_slowdown, per_quantum };
        options.check()?;
        Ok(Self { source, reported: arguments.reported, options, output })
    }
}

/// Reads, divides, writes.
pub fn run(arguments: Arguments, common: CommonOptions) -> Result<Answer, Error> {
    let job = Job::try_from(arguments)?;
    match progress::during(common, "reading", || read::demands(&job.source))? {
        Demands::Slices(series, shares) => job.slices(&series, &shares, common),
        Demands::Tasks(series, instance) => job.tasks(&series, &instance, common),
    }
}

impl Job {
    fn reported(&self, truth: &DemandSeries) -> Result<Option<DemandSeries>, Error> {
        let reported = self.reported.as_ref();
        reported.map(|path| read::reported(path, &self.source, truth)).transpose()
    }

    fn slices(
        &self,
        series: &DemandSeries,
        shares: &FairShares,
        common: CommonOptions,
    ) -> Result<Answer, Error> {
        let reported = self.reported(series)?;
        let divided = |control: &Control<'_>| {
            fairplan::allocate(series, shares, reported.as_ref(), &self.options, control)
        };
        let allocated = progress::under(common, Deadline::never(), divided)?;
        let (document, outcome) = (allocated.document(series), &allocated.outcome);
        self.output.write(&document, || match self.options.per_quantum {
            false => document.table(),
            true => quanta_of_users(series, outcome),
        })?;
        tell(common, || summary::allocation(series, &document));
        Ok(Answer::Yes)
    }

    /// Tasks over the servers of an instance.
    fn tasks(
        &self,
        series: &DemandSeries,
        instance: &Instance,
        common: CommonOptions,
    ) -> Result<Answer, Error> {
        progress::warn(common, instance);
        let reported = self.reported(series)?;
        let truth = TaskDemands::new(instance, series)
            .map_err(|violation| violation.in_file(&self.source.demands))?;
        let told = reported.as_ref().map(|reported| TaskDemands::new(instance, reported)).transpose()?;
        let divided =
            |control: &Control<'_>| fairplan::allocate_tasks(&truth, told.as_ref(), &self.options, control);
        let allocated = progress::under(common, Deadline::never(), divided)?;
        let document = allocated.document(&truth, told.as_ref());
        let (told, tasks) = (told.as_ref().unwrap_or(&truth), &allocated.allocation.tasks);
        self.output.write(&document, || match self.options.per_quantum {
            false => document.table(),
            true => tasks_by_class(told, tasks),
        })?;
        tell(common, || summary::task_allocation(series, &document));
        Ok(Answer::Yes)
    }
}
