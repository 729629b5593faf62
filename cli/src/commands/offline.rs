//! `offline`: the most even allocation when all demands are known beforehand, and what mechanisms lose against it.

use super::allocate::{SettingsArguments, echoed, known};
use super::over_instance::{task_mechanism, task_settings, tasks_of};
use super::solve::{SOLVING, in_time};
use super::tell;
use crate::arguments::{CommonOptions, OutputArguments, ResultFormat, TimeLimit};
use crate::demands::{Demanded, DemandsArguments, DemandsSource};
use crate::failure::{Answer, Failure};
use crate::progress;
use clap::ValueEnum;
use fairplan_instances::{
    DemandSeries, FairShares, Instance, OfflineMeasure, OfflineProblem, TaskDemands, files,
};
use fairplan_mechanisms::{Conduct, Reports, Run, Settings};
use fairplan_report::offline::{
    Against, Held, against, offline_document, smallest, smallest_standing, task_against,
    task_offline_document,
};
use fairplan_report::output::Destination;
use fairplan_report::{summary, table, write_json};
use fairplan_solver::{offline_optimum_within, task_optimum_within};
use fairplan_verify::{OfflineClaim, TaskClaim, verify_offline, verify_task_optimum};

/// The most even allocation over all quanta when all demands are known, and the regret of mechanisms against it
#[derive(Debug, clap::Args)]
#[command(after_help = "\
The lexicographic max-min of the users' totals by weight (or of their welfare), proved by nested cuts: the users of \
the lowest levels cannot get more together than they do. The result is a fairplan.offline.v1.

Example: fairplan generate karma-fig2 | fairplan offline - --fair-share 2 --against karma,max-min,strict")]
pub struct Arguments {
    #[command(flatten)]
    demands: DemandsArguments,
    /// What is evened out: totals of slices by weight, or the part of its demand that each user gets
    #[arg(long, value_enum, default_value = "totals")]
    measure: Measure,
    /// Allocate whole slices only, as mechanisms do, instead of dividing them at will
    #[arg(long)]
    whole_slices: bool,
    /// Give everybody its guaranteed share (--alpha of its fair share, or its demand) in every quantum
    #[arg(long)]
    guaranteed: bool,
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
    measure: OfflineMeasure,
    whole_slices: bool,
    guaranteed: bool,
    against: Vec<String>,
    settings: SettingsArguments,
    per_quantum: bool,
    time_limit: TimeLimit,
    format: ResultFormat,
    destination: Destination,
}

impl TryFrom<Arguments> for Job {
    type Error = Failure;
    fn try_from(arguments: Arguments) -> Result<Self, Failure> {
        let (format, destination) = arguments.output.result(arguments.format)?;
        arguments.settings.check()?;
        Ok(Self {
            source: arguments.demands.try_into()?,
            measure: match arguments.measure {
                Measure::Totals => OfflineMeasure::Totals,
                Measure::Welfare => OfflineMeasure::Welfare,
            },
            whole_slices: arguments.whole_slices,
            guaranteed: arguments.guaranteed,
            against: arguments.against,
            settings: arguments.settings,
            per_quantum: arguments.per_quantum,
            time_limit: arguments.time_limit,
            format,
            destination,
        })
    }
}

impl Job {
    /// Tasks over the servers of an instance.
    fn over_instance(
        &self,
        series: &DemandSeries,
        instance: &Instance,
        common: CommonOptions,
    ) -> Result<Answer, Failure> {
        for (stated, option, why) in [
            (
                self.whole_slices,
                "--whole-slices",
                "whole tasks on servers are a packing problem in every quantum",
            ),
            (
                self.guaranteed,
                "--guaranteed",
                "the optimum over servers is found without guaranteed shares only",
            ),
        ] {
            if stated {
                return Err(Failure::refused(format!("{option} cannot be given with an instance: {why}")));
            }
        }
        let shares =
            TaskDemands::new(instance, series).map_err(|violation| violation.in_file(self.source.file()))?;
        let demands = shares.clone().measured_by(self.measure);
        let deadline = self.time_limit.deadline();
        let solving = deadline.after_part(SOLVING);
        let solve = || task_optimum_within(&demands, &solving);
        let optimum = progress::during(common.quiet, "solving", solve);
        let claim = TaskClaim { tasks: &optimum.tasks, levels: &optimum.levels };
        let proof = progress::during(common.quiet, "verifying", || verify_task_optimum(&demands, claim));
        let unproved = proof.verdicts.iter().find(|verdict| !verdict.holds).map(|verdict| {
            let problem = format!("not proved: {}: {}", verdict.property, verdict.witness);
            in_time(&solving, Failure::internal(problem))
        });
        let unproved = match unproved {
            // Without all levels there is nothing to state.
            Some(failure) if !proof.relative_gap.is_finite() => return Err(failure),
            unproved => unproved,
        };
        let value = smallest_standing(&demands, &demands.standings(&optimum.tasks));
        let settings = task_settings(&self.settings, &shares);
        let regret = |name: &'static str| -> Result<Against<'static>, Failure> {
            // Rules do not know how much will be demanded: they go by shares, whatever they are held to.
            let allocation = tasks_of(name, &shares, settings, &deadline)?;
            Ok(task_against(&demands, value, name, &demands.standings(&allocation.tasks)))
        };
        let held = progress::during(common.quiet, "running the mechanisms", || {
            let named = self.against.iter().map(|name| task_mechanism(name).and_then(regret));
            let against = named.collect::<Result<Vec<_>, _>>()?;
            let online = (!against.is_empty()).then(|| regret("cumulative-max-min")).transpose()?;
            Ok::<_, Failure>((against, online))
        })
        .map_err(|failure| in_time(&deadline, failure))?;
        let sha256 = [files::demands_sha256_hex(series), files::sha256_hex(instance)];
        let sha256 = sha256.each_ref().map(String::as_str);
        let document = task_offline_document(&demands, sha256, &optimum, &proof, held, self.per_quantum);
        self.destination.write(|out| match (self.format.table(), self.per_quantum) {
            (None, _) => write_json(out, &document),
            (Some(format), false) => table::write_task_offline(out, format, &document),
            (Some(format), true) => table::write_task_quanta(out, format, &demands, &optimum.tasks),
        })?;
        tell(common, || summary::task_offline(series, &document));
        unproved.map_or(Ok(Answer::Yes), Err)
    }
}

/// Reads, solves, proves, runs the mechanisms, writes.
pub fn run(arguments: Arguments, common: CommonOptions) -> Result<Answer, Failure> {
    let job = Job::try_from(arguments)?;
    let (series, shares) = match progress::during(common.quiet, "reading", || job.source.read())? {
        Demanded::Slices(series, shares) => (series, shares),
        Demanded::Tasks(series, instance) => return job.over_instance(&series, &instance, common),
    };
    job.against.iter().try_for_each(|name| known(name).map(|_| ()))?;
    let settings = job.settings.read(&series, &shares)?;
    let problem = OfflineProblem {
        series: &series,
        shares: &shares,
        guaranteed: job.guaranteed.then_some(settings.alpha),
        measure: job.measure,
        whole_slices: job.whole_slices,
    };
    let deadline = job.time_limit.deadline().after_part(SOLVING);
    let optimum = progress::during(common.quiet, "solving", || offline_optimum_within(&problem, &deadline));
    let claim = OfflineClaim { allocated: &optimum.allocated, levels: &optimum.levels };
    let proof = progress::during(common.quiet, "verifying", || verify_offline(&problem, claim));
    if let Some(verdict) =
        proof.verdicts.iter().find(|verdict| !verdict.holds && verdict.property != "level-gaps")
    {
        let problem =
            format!("the offline optimum fails its check: {}: {}", verdict.property, verdict.witness);
        return Err(in_time(&deadline, Failure::internal(problem)));
    }
    let value = smallest(&problem, optimum.totals(&series).into_iter());
    let held = progress::during(common.quiet, "running the mechanisms", || {
        let regrets = job.against.iter();
        let regrets = regrets.map(|name| regret(name, value, &problem, &settings, &series, &shares));
        let against = regrets.collect::<Result<Vec<Against<'_>>, _>>()?;
        // Serving whoever has least is what Theorem 4 is about.
        let online =
            (!against.is_empty()).then(|| regret("las", value, &problem, &settings, &series, &shares));
        Ok::<_, Failure>(Held { against, online_bound: online.transpose()? })
    })?;
    let sha256 = files::demands_sha256_hex(&series);
    let echoed = echoed(
        &["karma", "sharp"].map(|name| job.against.iter().any(|other| other == name)),
        &settings,
        &shares,
        job.guaranteed,
    );
    let document = offline_document(&problem, &sha256, echoed, &optimum, &proof, held, job.per_quantum);
    job.destination.write(|out| match (job.format.table(), job.per_quantum) {
        (None, _) => write_json(out, &document),
        (Some(format), false) => table::write_offline(out, format, &document),
        (Some(format), true) => table::write_offline_quanta(out, format, &series, &optimum),
    })?;
    tell(common, || summary::offline(&series, &document));
    if proof.holds() {
        Ok(Answer::Yes)
    } else {
        let problem = format!("not proved: up to {:.1e} of a level may be missing", proof.relative_gap);
        Err(in_time(&deadline, Failure::internal(problem)))
    }
}

fn regret<'a>(
    name: &'a str,
    optimum: f64,
    problem: &OfflineProblem<'_>,
    settings: &Settings,
    series: &DemandSeries,
    shares: &FairShares,
) -> Result<Against<'a>, Failure> {
    let honest = vec![false; series.user_count()];
    let conduct = Conduct { non_conformant: &honest, reports: Reports::Truthful };
    let run = Run { shares, conduct, cache: None, per_quantum: false };
    let outcome = run.named(name, settings, series).map_err(Failure::refused)?;
    Ok(against(problem, optimum, name, outcome.users.iter().map(|user| user.useful)))
}
