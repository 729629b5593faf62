//! `flows`: stochastic demand, by Markov chains or by simulation.

use super::tell;
use crate::arguments::{CommonOptions, OutputArguments, ResultFormat};
use crate::failure::{Answer, Failure};
use crate::progress;
use clap::ValueEnum;
use fairplan_instances::{Decimal, Objective, Traffic, TrafficOutcome, files};
use fairplan_report::flows::{FlowsBody, FlowsResult, FlowsSettings, Unstable};
use fairplan_report::output::Destination;
use fairplan_report::{summary, table};
use fairplan_simulation::{
    MarkovSettings, PacketSettings, SimulationSettings, TaskSettings, flow_level, markov, packet_level,
    task_level,
};
use fairplan_solver::{SHARED, sharing_rule};

/// How fast classes of transactions are served that come and go at random: jobs in a cluster, flows in a router
#[derive(Debug, clap::Args)]
#[command(after_help = "\
SPEC is a fairplan.traffic.v1: resources and classes with what they need, how often they arrive and what work they bring. \
Every class that claims something else than it needs is served both ways. The result is a fairplan.flows.v1. All simulations
with the same seed see the same transactions.

Example: fairplan generate mrf-fig1 | fairplan flows - --loads 0.3,0.5,0.7")]
pub struct Arguments {
    /// The traffic: a fairplan.traffic.v1 JSON file, gzipped or not, or - for standard input
    spec: String,
    /// By which objectives transactions share the pool
    #[arg(long, value_name = "LIST", value_delimiter = ',', default_value = "drf,pf,bmf")]
    objective: Vec<Objective>,
    /// How service rates are found
    #[arg(long, value_enum, default_value = "markov")]
    level: Level,
    /// Scale the arrivals to these loads of the heaviest resource (default: as SPEC has them)
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    loads: Vec<Decimal>,
    #[command(flatten)]
    settings: SettingsArguments,
    /// Write the whole result (json), or the table of classes
    /// (default: as the ending of -o FILE says, else json)
    #[arg(long, value_enum, value_name = "FORMAT")]
    format: Option<ResultFormat>,
    #[command(flatten)]
    output: OutputArguments,
}

/// How service rates are found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Level {
    /// Exactly, for exponential work: the stationary distribution of a chain
    Markov,
    /// Transactions simulated one by one, their rates those of the fluid model
    Flow,
    /// Whole tasks of random duration, the most deprived job served first
    Task,
    /// Whole packets, queued by their start times in resources in series
    Packet,
}

impl Level {
    fn name(self) -> &'static str {
        match self {
            Self::Markov => "markov",
            Self::Flow => "flow",
            Self::Task => "task",
            Self::Packet => "packet",
        }
    }
}

/// What decides an outcome beside the traffic.
#[derive(Clone, Debug, clap::Args)]
struct SettingsArguments {
    /// markov: let in so many transactions that the states in which no more are let in have at most this probability,
    /// for every class (default: 1e-9)
    #[arg(long, value_name = "PART")]
    border_mass: Option<Decimal>,
    /// markov: GiB that the chain may take (default: 4)
    #[arg(long, value_name = "GIB")]
    memory: Option<Decimal>,
    /// Simulations: how many; their differences make the confidence intervals (default: 10)
    #[arg(long, value_name = "N")]
    replications: Option<u64>,
    /// Simulations: transactions that arrive in each of them, the first tenth of which is not measured (default: 10000)
    #[arg(long, value_name = "N")]
    arrivals: Option<u64>,
    /// Simulations: the seed of everything drawn (default: 0)
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// task: mean tasks of a job (default: 5000)
    #[arg(long, value_name = "N")]
    tasks_per_job: Option<Decimal>,
    /// task: the part of its dominant resource that a task takes (default: 0.02)
    #[arg(long, value_name = "PART")]
    task_share: Option<Decimal>,
    /// packet: mean packets of a flow (default: 4000)
    #[arg(long, value_name = "N")]
    packets_per_flow: Option<Decimal>,
    /// packet: packets of a flow that are under way at once (default: 30)
    #[arg(long, value_name = "N")]
    window: Option<u32>,
}

/// The settings of a level, those not given being the defaults.
#[derive(Clone, Copy, Debug)]
enum Method {
    Markov(MarkovSettings),
    Flow(SimulationSettings),
    Task(SimulationSettings, TaskSettings),
    Packet(SimulationSettings, PacketSettings),
}

impl SettingsArguments {
    /// What is given but means nothing at this level is refused.
    fn method(&self, level: Level) -> Result<Method, Failure> {
        const SIMULATIONS: &[Level] = &[Level::Flow, Level::Task, Level::Packet];
        for (name, given, levels) in [
            ("border-mass", self.border_mass.is_some(), &[Level::Markov][..]),
            ("memory", self.memory.is_some(), &[Level::Markov]),
            ("replications", self.replications.is_some(), SIMULATIONS),
            ("arrivals", self.arrivals.is_some(), SIMULATIONS),
            ("seed", self.seed.is_some(), SIMULATIONS),
            ("tasks-per-job", self.tasks_per_job.is_some(), &[Level::Task]),
            ("task-share", self.task_share.is_some(), &[Level::Task]),
            ("packets-per-flow", self.packets_per_flow.is_some(), &[Level::Packet]),
            ("window", self.window.is_some(), &[Level::Packet]),
        ] {
            if given && !levels.contains(&level) {
                let names: Vec<&str> = levels.iter().map(|level| level.name()).collect();
                return Err(Failure::refused(format!(
                    "--{name} means nothing at --level {}; it is for {}",
                    level.name(),
                    names.join(", ")
                )));
            }
        }
        let number = |given: Option<Decimal>, default: f64| given.map_or(default, |given| given.to_f64());
        let simulation = SimulationSettings::default();
        let simulation = SimulationSettings {
            replications: self.replications.unwrap_or(simulation.replications),
            arrivals: self.arrivals.unwrap_or(simulation.arrivals),
            seed: self.seed.unwrap_or(simulation.seed),
        };
        Ok(match level {
            Level::Markov => {
                let default = MarkovSettings::default();
                Method::Markov(MarkovSettings {
                    border_mass: number(self.border_mass, default.border_mass),
                    memory: self
                        .memory
                        .map_or(default.memory, |gib| (gib.to_f64() * (1u64 << 30) as f64) as u64),
                })
            }
            Level::Flow => Method::Flow(simulation),
            Level::Task => {
                let default = TaskSettings::default();
                let tasks = TaskSettings {
                    tasks_per_job: number(self.tasks_per_job, default.tasks_per_job),
                    task_share: number(self.task_share, default.task_share),
                };
                Method::Task(simulation, tasks)
            }
            Level::Packet => {
                let default = PacketSettings::default();
                let packets = PacketSettings {
                    packets_per_flow: number(self.packets_per_flow, default.packets_per_flow),
                    window: self.window.unwrap_or(default.window),
                };
                Method::Packet(simulation, packets)
            }
        })
    }
}

impl Method {
    /// What is written of it beside the results.
    fn settings(self) -> FlowsSettings {
        let simulation = |settings: SimulationSettings| FlowsSettings {
            seed: Some(settings.seed),
            replications: Some(settings.replications),
            arrivals: Some(settings.arrivals),
            ..FlowsSettings::default()
        };
        match self {
            Self::Markov(settings) => {
                FlowsSettings { border_mass: Some(settings.border_mass), ..FlowsSettings::default() }
            }
            Self::Flow(settings) => simulation(settings),
            Self::Task(settings, tasks) => FlowsSettings {
                tasks_per_job: Some(tasks.tasks_per_job),
                task_share: Some(tasks.task_share),
                ..simulation(settings)
            },
            Self::Packet(settings, packets) => FlowsSettings {
                packets_per_flow: Some(packets.packets_per_flow),
                window: Some(packets.window),
                ..simulation(settings)
            },
        }
    }

    /// What an objective comes to for this traffic.
    fn outcome(self, traffic: &Traffic, objective: Objective) -> Result<TrafficOutcome, Failure> {
        let rule = sharing_rule(traffic, objective)?;
        Ok(match self {
            Self::Markov(settings) => markov(traffic, &*rule, settings)?,
            Self::Flow(settings) => flow_level(traffic, &*rule, settings)?,
            Self::Task(settings, tasks) => task_level(traffic, objective, &*rule, settings, tasks)?,
            Self::Packet(settings, packets) => packet_level(traffic, objective, settings, packets)?,
        })
    }
}

struct Job {
    spec: String,
    objectives: Vec<Objective>,
    level: Level,
    method: Method,
    loads: Vec<f64>,
    format: ResultFormat,
    destination: Destination,
}

impl TryFrom<Arguments> for Job {
    type Error = Failure;
    fn try_from(arguments: Arguments) -> Result<Self, Failure> {
        let (format, destination) = arguments.output.result(arguments.format)?;
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
            method: arguments.settings.method(arguments.level)?,
            level: arguments.level,
            loads,
            format,
            destination,
        })
    }
}

impl Job {
    /// What comes of every load; what is claimed may overload a resource that is not overloaded in truth.
    fn results(&self, traffic: &Traffic) -> Result<(Vec<FlowsResult>, Vec<Unstable>), Failure> {
        let mixes: Vec<(f64, Traffic)> = match &self.loads[..] {
            [] => vec![(traffic.heaviest().1, traffic.clone())],
            loads => loads.iter().map(|load| (*load, traffic.at_load(*load))).collect(),
        };
        mixes
            .iter()
            .try_for_each(|(_, mix)| mix.check_stable())
            .map_err(|violation| violation.in_file(&self.spec))?;
        let (mut results, mut unstable) = (Vec::new(), Vec::new());
        for (load, mix) in &mixes {
            let claimed = mix.has_claims().then(|| mix.as_claimed());
            let (claimed, overloaded): (Option<Traffic>, _) = match claimed {
                Some(claimed) if claimed.check_stable().is_err() => (None, Some(claimed)),
                claimed => (claimed, None),
            };
            unstable.extend(overloaded.map(|claimed| Unstable::new(&claimed, "claimed", *load)));
            for objective in &self.objectives {
                let outcome = self.method.outcome(mix, *objective)?;
                results.push(FlowsResult::new(mix, *objective, "truthful", *load, &outcome));
                if let Some(claimed) = &claimed {
                    let outcome = self.method.outcome(claimed, *objective)?;
                    results.push(FlowsResult::new(claimed, *objective, "claimed", *load, &outcome));
                }
            }
        }
        Ok((results, unstable))
    }
}

/// Reads, evaluates, writes.
pub fn run(arguments: Arguments, common: CommonOptions) -> Result<Answer, Failure> {
    let job = Job::try_from(arguments)?;
    let traffic = files::read_traffic(&job.spec)?;
    let (results, unstable) = progress::during(common.quiet, "evaluating", || job.results(&traffic))?;
    let sha256 = files::traffic_sha256_hex(&traffic);
    let settings = job.method.settings();
    let document = FlowsBody::new(&traffic, &sha256, job.level.name(), settings, results, unstable);
    job.destination.write(|out| table::write_result(out, job.format.table(), &document))?;
    tell(common, || summary::flows(&document));
    Ok(Answer::Yes)
}
