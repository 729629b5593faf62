//! `offline`: the most even allocation when all demands are known beforehand, and what mechanisms lose against it.

use super::allocate::SettingsArguments;
use crate::arguments::{CommonOptions, OutputArguments, ResultFormat, ResultOutput, TimeLimit};
use crate::demands::DemandsArguments;
use crate::failure::{Answer, what_there_is};
use crate::progress::{self, tell};
use clap::ValueEnum;
use fairplan::instances::table::Tabular;
use fairplan::read::{self, Demands, DemandsSource};
use fairplan::report::offline::allocated_demands;
use fairplan::report::summary;
use fairplan::report::task_allocation::tasks_by_class;
use fairplan::{
    Control, DemandSeries, Error, FairShares, Instance, OfflineMeasure, OfflineOptions, TaskDemands,
};

/// The most even allocation over all quanta when all demands are known, and the regret of mechanisms against it
#[derive(Debug, clap::Args)]
#[command(after_help = "\
The lexicographic max-min of the users' totals by weight (or of their welfare), proved by nested cuts: the users of \
the lowest levels cannot get more together than they do. The result is a fairplan.offline.v1.

Example: fairplan generate karma-fig2 | fairplan offline - --fair-share 2 \\
           --against karma,max-min,strict")]
pub struct Arguments {
    #[command(flatten)]
    pub demands: DemandsArguments,
    /// What is evened out: totals of slices by weight, or the part of its demand that each user gets
    #[arg(long, value_enum, default_value = "totals")]
    measure: Measure,
    /// Allocate whole slices only, as mechanisms do, instead of dividing them at will
    #[arg(long)]
    whole_slices: bool,
    /// Give everybody its guaranteed share (--alpha of its fair share, or its demand) in every quantum
    #[arg(long)]
    guaranteed: bool,
    /// State fractions such as 5/7 beside the doubles, proved without any tolerance
    #[arg(long)]
    exact: bool,
    /// Mechanisms whose regret to state, between commas
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    against: Vec<String>,
    #[command(flatten)]
    settings: SettingsArguments,
    /// Keep every quantum too
    #[arg(long)]
    per_quantum: bool,
    #[command(flatten)]
    time_limit: TimeLimit,
    /// Write the whole result (json), or the table of users (of quanta and users, with --per-quantum)
    /// (default: as the ending of -o FILE says, else json)
    #[arg(long, value_enum, value_name = "FORMAT")]
    format: Option<ResultFormat>,
    #[command(flatten)]
    output: OutputArguments,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Measure {
    Totals,
    Welfare,
}

struct Job {
    source: DemandsSource,
    options: OfflineOptions,
    per_quantum: bool,
    time_limit: TimeLimit,
    output: ResultOutput,
}

impl TryFrom<Arguments> for Job {
    type Error = Error;
    fn try_from(arguments: Arguments) -> Result<Self, Error> {
        let output = arguments.output.result(arguments.format)?;
        let settings = arguments.settings.options()?;
        let measure = match arguments.measure {
            Measure::Totals => OfflineMeasure::Totals,
            Measure::Welfare => OfflineMeasure::Welfare,
        };
        let Arguments { whole_slices, guaranteed, exact, against, per_quantum, time_limit, .. } = arguments;
        Ok(Self {
            source: arguments.demands.source()?,
            options: OfflineOptions { measure, whole_slices, guaranteed, exact, against, settings },
            per_quantum,
            time_limit,
            output,
        })
    }
}

/// Reads, finds the optimum, writes.
pub fn run(arguments: Arguments, common: CommonOptions) -> Result<Answer, Error> {
    let job = Job::try_from(arguments)?;
    match progress::during(common, "reading", || read::demands(&job.source))? {
        Demands::Slices(series, shares) => job.slices(&series, &shares, common),
        Demands::Tasks(series, instance) => job.tasks(&series, &instance, common),
    }
}

impl Job {
    fn slices(
        &self,
        series: &DemandSeries,
        shares: &FairShares,
        common: CommonOptions,
    ) -> Result<Answer, Error> {
        let found = |control: &Control<'_>| fairplan::offline(series, shares, &self.options, control);
        let outcome = progress::under(common, self.time_limit.deadline(), found);
        let (offline, end) = what_there_is(outcome)?;
        let document = offline.document(series, shares, self.per_quantum);
        self.output.write(&document, || match self.per_quantum {
            false => document.table(),
            true => allocated_demands(series, &offline.optimum),
        })?;
        tell(common, || summary::offline(series, &document));
        end
    }

    /// Tasks over the servers of an instance.
    fn tasks(
        &self,
        series: &DemandSeries,
        instance: &Instance,
        common: CommonOptions,
    ) -> Result<Answer, Error> {
        progress::warn(common, instance);
        let demands = TaskDemands::new(instance, series)
            .map_err(|violation| violation.in_file(&self.source.demands))?;
        let found = |control: &Control<'_>| fairplan::offline_tasks(&demands, &self.options, control);
        let outcome = progress::under(common, self.time_limit.deadline(), found);
        let (offline, end) = what_there_is(outcome)?;
        let (document, tasks) = (offline.document(&demands, self.per_quantum), &offline.optimum.tasks);
        self.output.write(&document, || match self.per_quantum {
            false => document.table(),
            true => tasks_by_class(&demands, tasks),
        })?;
        tell(common, || summary::task_offline(series, &document));
        end
    }
}
