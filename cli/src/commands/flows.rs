//! `flows`: stochastic demand, by Markov chains or by simulation.

use super::tell;
use crate::arguments::{CommonOptions, OutputArguments, ResultFormat};
use crate::failure::{Answer, Failure};
use crate::progress;
use clap::ValueEnum;
use fairplan_instances::{Decimal, Objective, Traffic, TrafficOutcome, files};
use fairplan_report::flows::{FlowsDocument, FlowsResult, FlowsSettings};
use fairplan_report::output::Destination;
use fairplan_report::{summary, table, write_json};
use fairplan_simulation::{MarkovSettings, markov};
use fairplan_solver::{SHARED, sharing_rule};

/// How fast classes of transactions are served that come and go at random: jobs in a cluster, flows in a router
#[derive(Debug, clap::Args)]
#[command(after_help = "\
SPEC is a fairplan.traffic.v1: resources and classes with what they need, how often they arrive and what work they bring. \
Every class that claims something else than it needs is served both ways. The result is a fairplan.flows.v1.

Example: fairplan generate mrf-fig1 | fairplan flows - --loads 0.3,0.5,0.7")]
pub struct Arguments {
    /// The traffic: a fairplan.traffic.v1 JSON file, gzipped or not, or - for standard input
    spec: String,
    /// By which objectives transactions share the pool
    #[arg(long, value_name = "LIST", value_delimiter = ',', default_value = "drf,pf,bmf")]
    objective: Vec<Objective>,
    /// How: markov (exactly, for exponential work)
    #[arg(long, value_enum, default_value = "markov")]
    level: Level,
    /// Scale the arrivals to these loads of the heaviest resource (default: as SPEC has them)
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    loads: Vec<Decimal>,
    #[command(flatten)]
    settings: SettingsArguments,
    /// Write the whole result (json), or the table of classes
    #[arg(long, value_enum, default_value = "json")]
    format: ResultFormat,
    #[command(flatten)]
    output: OutputArguments,
}

/// How service rates are found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Level {
    Markov,
}

impl Level {
    fn name(self) -> &'static str {
        match self {
            Self::Markov => "markov",
        }
    }
}

/// What decides an outcome beside the traffic.
#[derive(Clone, Debug, clap::Args)]
struct SettingsArguments {
    /// Markov: let in so many transactions that the states in which no more are let in have at most this probability,
    /// for every class
    #[arg(long, value_name = "PART", default_value = "1e-9")]
    border_mass: Decimal,
    /// Markov: GiB that the chain may take
    #[arg(long, value_name = "GIB", default_value = "4")]
    memory: Decimal,
}

struct Job {
    spec: String,
    objectives: Vec<Objective>,
    level: Level,
    loads: Vec<f64>,
    settings: SettingsArguments,
    format: ResultFormat,
    destination: Destination,
}

impl TryFrom<Arguments> for Job {
    type Error = Failure;
    fn try_from(arguments: Arguments) -> Result<Self, Failure> {
        for (position, objective) in arguments.objective.iter().enumerate() {
            if !SHARED.contains(objective) {
                let known = SHARED.map(|objective| objective.to_string()).join(", ");
                return Err(Failure::refused(format!(
                    "--objective {objective}: transactions share by {known}"
                )));
            }
            if arguments.objective[..position].contains(objective) {
                return Err(Failure::refused(format!("--objective names {objective} twice")));
            }
        }
        let loads: Vec<f64> = arguments.loads.iter().map(|load| load.to_f64()).collect();
        if let Some(load) = loads.iter().find(|load| !(**load > 0.0 && **load < 1.0)) {
            return Err(Failure::refused(format!("--loads = {load}: must be > 0 and < 1")));
        }
        Ok(Self {
            spec: arguments.spec,
            objectives: arguments.objective,
            level: arguments.level,
            loads,
            settings: arguments.settings,
            format: arguments.format,
            destination: arguments.output.destination()?,
        })
    }
}

impl Job {
    fn settings(&self) -> FlowsSettings {
        match self.level {
            Level::Markov => FlowsSettings {
                border_mass: Some(self.settings.border_mass.to_f64()),
                ..FlowsSettings::default()
            },
        }
    }

    /// What an objective comes to for this traffic.
    fn outcome(&self, traffic: &Traffic, objective: Objective) -> Result<TrafficOutcome, Failure> {
        let rule = sharing_rule(traffic, objective)?;
        Ok(match self.level {
            Level::Markov => {
                let border_mass = self.settings.border_mass.to_f64();
                let memory = (self.settings.memory.to_f64() * (1u64 << 30) as f64) as u64;
                markov(traffic, &*rule, MarkovSettings { border_mass, memory })?
            }
        })
    }

    fn results(&self, traffic: &Traffic) -> Result<Vec<FlowsResult<'static>>, Failure> {
        let mixes = match &self.loads[..] {
            [] => vec![traffic.clone()],
            loads => loads.iter().map(|load| traffic.at_load(*load)).collect(),
        };
        for mix in &mixes {
            mix.check_stable()?;
            let claimed = mix.as_claimed().check_stable();
            claimed.map_err(|overflow| Failure::refused(format!("as claimed, {overflow}")))?;
        }
        let mut results = Vec::new();
        for mix in &mixes {
            let load = mix.heaviest().1;
            for objective in &self.objectives {
                let outcome = self.outcome(mix, *objective)?;
                results.push(FlowsResult::new(mix, *objective, "truthful", load, &outcome));
                if mix.has_claims() {
                    let claimed = mix.as_claimed();
                    let outcome = self.outcome(&claimed, *objective)?;
                    results.push(FlowsResult::new(&claimed, *objective, "claimed", load, &outcome));
                }
            }
        }
        Ok(results)
    }
}

/// Reads, evaluates, writes.
pub fn run(arguments: Arguments, common: CommonOptions) -> Result<Answer, Failure> {
    let job = Job::try_from(arguments)?;
    let traffic = files::read_traffic(&job.spec)?;
    let results = progress::during(common.quiet, "evaluating", || job.results(&traffic))?;
    let sha256 = files::traffic_sha256_hex(&traffic);
    let document = FlowsDocument::new(&traffic, &sha256, job.level.name(), job.settings(), results);
    job.destination.write(|out| match job.format.table() {
        None => write_json(out, &document),
        Some(format) => table::write_flows(out, format, &document),
    })?;
    tell(common, || summary::flows(&document));
    Ok(Answer::Yes)
}
