//! `flows`: stochastic demand, by Markov chains or by simulation.

use crate::arguments::{CommonOptions, OutputArguments, ResultFormat};
use crate::failure::Answer;
use crate::progress::{self, tell};
use clap::ValueEnum;
use fairplan::instances::table::Tabular;
use fairplan::report::summary;
use fairplan::{Control, Deadline, Decimal, Document, Error, FlowsOptions, LevelOptions, Objective, read};

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
    level: LevelName,
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
enum LevelName {
    /// Exactly, for exponential work: the stationary distribution of a chain
    Markov,
    /// Transactions simulated one by one, their rates those of the fluid model
    Flow,
    /// Whole tasks of random duration, the most deprived job served first
    Task,
    /// Whole packets, queued by their start times in resources in series
    Packet,
}

impl LevelName {
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

impl SettingsArguments {
    /// What they mean.
    fn options(&self) -> LevelOptions {
        let number = |given: Option<Decimal>| given.map(Decimal::to_f64);
        LevelOptions {
            border_mass: number(self.border_mass),
            memory: number(self.memory),
            replications: self.replications,
            arrivals: self.arrivals,
            seed: self.seed,
            tasks_per_job: number(self.tasks_per_job),
            task_share: number(self.task_share),
            packets_per_flow: number(self.packets_per_flow),
            window: self.window,
        }
    }
}

/// Reads, evaluates, writes.
pub fn run(arguments: Arguments, common: CommonOptions) -> Result<Answer, Error> {
    let output = arguments.output.result(arguments.format)?;
    let options = FlowsOptions {
        objectives: arguments.objective,
        level: arguments.settings.options().level(arguments.level.name())?,
        loads: arguments.loads.iter().map(|load| load.to_f64()).collect(),
    };
    options.check()?;
    let traffic = read::traffic(&arguments.spec)?;
    options.mixes(&traffic).map_err(|violation| violation.in_file(&arguments.spec))?;
    let flows = |control: &Control<'_>| fairplan::flows(&traffic, &options, control);
    let document = Document::new(progress::under(common, Deadline::never(), flows)?);
    output.write(&document, || document.table())?;
    tell(common, || summary::flows(&document));
    Ok(Answer::Yes)
}
