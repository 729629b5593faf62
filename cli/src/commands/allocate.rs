//! `allocate`: demands over time divided by a mechanism, quantum by quantum.

use super::over_instance::{task_settings, tasks_of};
use super::tell;
use crate::arguments::{CommonOptions, OutputArguments, ResultFormat};
use crate::demands::{Demanded, DemandsArguments, DemandsSource};
use crate::failure::{Answer, Failure};
use crate::progress;
use fairplan_instances::{
    CacheModel, Deadline, Decimal, DemandSeries, FairShares, GuaranteedFraction, Instance, TaskDemands, files,
};
use fairplan_mechanisms::{Conduct, MECHANISMS, Reports, Run, Settings, Ties, mechanism, non_conformant};
use fairplan_report::allocation::{AllocationSettings, allocation_document};
use fairplan_report::output::Destination;
use fairplan_report::task_allocation::{TaskAllocationSettings, task_allocation_document};
use fairplan_report::{summary, table, write_json};
use fairplan_solver::TASK_MECHANISMS;

/// Divide demands over time among users by a mechanism, quantum by quantum
#[derive(Debug, clap::Args)]
#[command(after_help = "\
DEMANDS is a table with the columns quantum, user, demand, or with quantum and one column a user (CSV, gzipped or not, \
or Parquet), or a fairplan.demands.v1. Slices, credits and tickets are counted in whole numbers. The result is a \
fairplan.allocation.v1.

Example: fairplan generate karma-fig2 | fairplan allocate - --mechanism karma --fair-share 2 --initial-credits 6")]
pub struct Arguments {
    #[command(flatten)]
    demands: DemandsArguments,
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
    let listed = |rules: &[(&str, &str)]| -> String {
        let rules: Vec<String> = rules.iter().map(|(name, rule)| format!("{name}: {rule}")).collect();
        rules.join("; ")
    };
    format!("How slices are divided. {}. With an instance: {}", listed(MECHANISMS), listed(TASK_MECHANISMS))
}

impl SettingsArguments {
    /// Whether they can be meant, whatever the series.
    pub fn check(&self) -> Result<(), Failure> {
        GuaranteedFraction::new(self.alpha)?;
        Ok(())
    }

    /// What they mean for tasks over servers: alpha, and the credits.
    pub fn of_tasks(&self) -> (f64, Option<u64>) {
        (self.alpha.to_f64(), self.initial_credits)
    }

    /// What they mean for a series.
    pub fn read(&self, series: &DemandSeries, shares: &FairShares) -> Result<Settings, Failure> {
        let slices = |quantum| u128::from(shares.entitlement(series, quantum).capacity());
        let most = if series.has_churn() { (0..series.quantum_count()).map(slices).max() } else { None };
        let all = most.unwrap_or_else(|| slices(0)) * series.quantum_count() as u128;
        Ok(Settings {
            alpha: GuaranteedFraction::new(self.alpha)?,
            // At most 10^11 slices in 2^24 quanta.
            initial_credits: self.initial_credits.unwrap_or(all as u64),
            ties: self.ties,
            oversubscription: self.oversubscription,
            term: self.term as usize,
            seed: self.seed,
        })
    }
}

/// What users who are not conformant do.
enum Strategy {
    Honest,
    /// This part of them hoards, or bids.
    Part(f64),
    Reported(DemandsSource),
}

struct Job {
    source: DemandsSource,
    mechanism: String,
    settings: SettingsArguments,
    strategy: Strategy,
    cache: Option<CacheModel>,
    per_quantum: bool,
    format: ResultFormat,
    destination: Destination,
}

impl TryFrom<Arguments> for Job {
    type Error = Failure;
    fn try_from(arguments: Arguments) -> Result<Self, Failure> {
        let (format, destination) = arguments.output.result(arguments.format)?;
        arguments.settings.check()?;
        let source = DemandsSource::try_from(arguments.demands)?;
        let strategy = match (arguments.non_conformant, arguments.reported) {
            (_, Some(path)) => Strategy::Reported(source.beside(path)?),
            (Some(part), None) if part.to_f64() > 1.0 => {
                return Err(Failure::refused(format!("--non-conformant = {part}: must be at most 1")));
            }
            (Some(part), None) => Strategy::Part(part.to_f64()),
            (None, None) => Strategy::Honest,
        };
        let slowdown = arguments.cache_slowdown.map(Decimal::to_f64);
        if slowdown.is_some_and(|slowdown| slowdown < 1.0) {
            return Err(Failure::refused("--cache-slowdown must be at least 1"));
        }
        Ok(Self {
            source,
            mechanism: arguments.mechanism,
            settings: arguments.settings,
            strategy,
            cache: slowdown.map(|slowdown| CacheModel { slowdown }),
            per_quantum: arguments.per_quantum,
            format,
            destination,
        })
    }
}

/// The name, if it is that of a mechanism.
pub fn known(name: &str) -> Result<String, Failure> {
    let alpha = GuaranteedFraction::new(Decimal::ZERO)?;
    let settings =
        Settings { alpha, initial_credits: 0, ties: Ties::Lowest, oversubscription: 1, term: 1, seed: 0 };
    mechanism(name, &settings, &[], 0).map_err(Failure::refused)?;
    Ok(name.to_owned())
}

impl Job {
    /// Tasks over the servers of an instance.
    fn over_instance(
        &self,
        series: &DemandSeries,
        instance: &Instance,
        common: CommonOptions,
    ) -> Result<Answer, Failure> {
        let reported = match &self.strategy {
            Strategy::Honest => None,
            Strategy::Reported(source) => Some(source.read_like(series)?),
            Strategy::Part(_) => return Err(Failure::refused("--non-conformant has no meaning for tasks")),
        };
        if self.cache.is_some() {
            return Err(Failure::refused("--cache-slowdown has no meaning for tasks"));
        }
        let truth =
            TaskDemands::new(instance, series).map_err(|violation| violation.in_file(self.source.file()))?;
        let told = reported.as_ref().map(|reported| TaskDemands::new(instance, reported)).transpose()?;
        let told = told.as_ref().unwrap_or(&truth);
        let settings = task_settings(&self.settings, &truth);
        let divide = || tasks_of(&self.mechanism, told, settings, &Deadline::never());
        let allocation = progress::during(common.quiet, "dividing", divide)?;
        let karma = self.mechanism == "karma";
        let reported_sha256 = reported.as_ref().map(files::demands_sha256_hex);
        let echoed = TaskAllocationSettings {
            alpha: karma.then_some(settings.alpha),
            initial_credits: karma.then_some(settings.initial_credits),
            reported_sha256: reported_sha256.map(Into::into),
        };
        let sha256 = [files::demands_sha256_hex(series), files::sha256_hex(instance)];
        let sha256 = sha256.each_ref().map(String::as_str);
        let document = task_allocation_document(
            &truth,
            told,
            sha256,
            &self.mechanism,
            echoed,
            &allocation,
            self.per_quantum,
        );
        self.destination.write(|out| match (self.format.table(), self.per_quantum) {
            (None, _) => write_json(out, &document),
            (Some(format), false) => table::write_task_allocation(out, format, &document),
            (Some(format), true) => table::write_task_quanta(out, format, told, &allocation.tasks),
        })?;
        tell(common, || summary::task_allocation(series, &document));
        Ok(Answer::Yes)
    }
}

/// Reads, divides, writes.
pub fn run(arguments: Arguments, common: CommonOptions) -> Result<Answer, Failure> {
    let job = Job::try_from(arguments)?;
    let (series, shares) = match progress::during(common.quiet, "reading", || job.source.read())? {
        Demanded::Slices(series, shares) => (series, shares),
        Demanded::Tasks(series, instance) => return job.over_instance(&series, &instance, common),
    };
    known(&job.mechanism)?;
    let settings = job.settings.read(&series, &shares)?;
    let reported = match &job.strategy {
        Strategy::Reported(source) => Some(source.read_like(&series)?),
        _ => None,
    };
    let (greedy, strategy) = greedy(&job, &series, reported.as_ref());
    let reports = match (&reported, strategy) {
        (Some(reported), _) => Reports::Series(reported),
        (None, Some("hoarding")) => Reports::Hoarding,
        _ => Reports::Truthful,
    };
    let conduct = Conduct { non_conformant: &greedy, reports };
    let run = Run { shares: &shares, conduct, cache: job.cache, per_quantum: job.per_quantum };
    let outcome =
        progress::during(common.quiet, "dividing", || run.named(&job.mechanism, &settings, &series))
            .map_err(Failure::refused)?;
    let sha256 = files::demands_sha256_hex(&series);
    let reported_sha256 = reported.as_ref().map(files::demands_sha256_hex);
    let echoed = AllocationSettings {
        strategy: strategy.map(Into::into),
        reported_sha256: reported_sha256.map(Into::into),
        ..echoed(&["karma", "sharp"].map(|name| name == job.mechanism), &settings, &shares, false)
    };
    let document = allocation_document(&series, &sha256, &job.mechanism, echoed, &outcome, job.cache);
    job.destination.write(|out| match (job.format.table(), job.per_quantum) {
        (None, _) => write_json(out, &document),
        (Some(format), false) => table::write_allocation(out, format, &series, &outcome),
        (Some(format), true) => table::write_allocation_quanta(out, format, &series, &outcome),
    })?;
    tell(common, || summary::allocation(&series, &document));
    Ok(Answer::Yes)
}

/// Who is not conformant, and what they do.
fn greedy(
    job: &Job,
    series: &DemandSeries,
    reported: Option<&DemandSeries>,
) -> (Vec<bool>, Option<&'static str>) {
    let users = series.user_count();
    match (&job.strategy, reported) {
        (_, Some(reported)) => {
            let mut greedy = vec![false; users];
            for quantum in 0..series.quantum_count() {
                let (truth, report) = (series.demands(quantum), reported.demands(quantum));
                if truth != report {
                    differing(truth, report, |user| greedy[user as usize] = true);
                }
            }
            (greedy, Some("series"))
        }
        (Strategy::Part(part), _) => {
            let greedy = non_conformant(users, (part * users as f64).round() as usize, job.settings.seed);
            (greedy, Some(if job.mechanism == "mpsp" { "bidding" } else { "hoarding" }))
        }
        _ => (vec![false; users], None),
    }
}

/// Calls `found` with every user whose demand differs between two quanta.
fn differing(a: (&[u32], &[u64]), b: (&[u32], &[u64]), mut found: impl FnMut(u32)) {
    let mut b = b.0.iter().zip(b.1).peekable();
    for a in a.0.iter().zip(a.1) {
        while let Some((user, _)) = b.next_if(|b| b.0 < a.0) {
            found(*user);
        }
        if b.next_if(|b| b.0 == a.0).is_none_or(|b| b.1 != a.1) {
            found(*a.0);
        }
    }
    b.for_each(|(user, _)| found(*user));
}

/// The settings that matter: those of Karma and of the tickets where they run, and alpha where it is guaranteed.
pub fn echoed(
    [karma, sharp]: &[bool; 2],
    settings: &Settings,
    shares: &FairShares,
    guaranteed: bool,
) -> AllocationSettings<'static> {
    let mut echoed = AllocationSettings {
        alpha: (*karma || guaranteed).then(|| settings.alpha.to_f64()),
        initial_credits: karma.then_some(settings.initial_credits),
        oversubscription: sharp.then_some(settings.oversubscription),
        term: sharp.then_some(settings.term as u64),
        ties: settings.ties.name().into(),
        seed: settings.seed,
        ..AllocationSettings::default()
    };
    match shares {
        FairShares::PerUser(share) => echoed.fair_share = Some(*share),
        FairShares::Capacity(capacity) => echoed.capacity = Some(*capacity),
        FairShares::Each(shares) => echoed.fair_shares = Some(shares.clone()),
    }
    echoed
}
