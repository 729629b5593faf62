//! `generate`: instances and demands over time that need no file.

use super::traces;
use crate::arguments::{CommonOptions, OutputArguments};
use crate::failure::Answer;
use crate::progress::tell;
use fairplan::Error;
use fairplan::imports::{KUBERNETES_NODES, KUBERNETES_PODS};
use fairplan::instances::generate::{
    Cluster, GoogleOptions, PopulationKind, PopulationOptions, RandomTraceOptions, Workload, WorkloadOptions,
    demands, drfh_fig1, drfh_fig4, drfh_fig4_trace, google, karma_fig2, mrf_fig1, mrf_fig2, population,
    random_trace,
};
use fairplan::instances::{Decimal, DemandSeries, Instance, Traffic, files};
use fairplan::report::output::Destination;
use fairplan::report::summary;
use std::io::Write;

/// Make an instance, demands over time or a trace: published clusters, the papers' examples, synthetic ones
#[derive(Debug, clap::Args)]
#[command(after_help = "\
The same settings and seed give the same bytes on every machine.

Example: fairplan generate google --servers 100 --users 20 --seed 7 -o google.json")]
pub struct Arguments {
    #[command(subcommand)]
    kind: Kind,
}

#[derive(Debug, clap::Subcommand)]
enum Kind {
    Google(GoogleArguments),
    DrfhFig1(Fig1Arguments),
    DrfhFig4(Fig4Arguments),
    Population(PopulationArguments),
    KarmaFig2(KarmaFig2Arguments),
    Demands(WorkloadArguments),
    MrfFig1(TrafficArguments),
    MrfFig2(UnequalTrafficArguments),
    TraceDrfhFig4(TraceFig4Arguments),
    TraceRandom(RandomTraceArguments),
    KubernetesNodes(NodesArguments),
    KubernetesPods(PodsArguments),
}

/// Google's cluster of 2011: 12,583 servers in ten classes, 507 real users
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: fairplan generate google --finite -o google.json")]
struct GoogleArguments {
    /// Draw this many servers from the published distribution instead of taking all
    #[arg(long, value_name = "N")]
    servers: Option<u64>,
    /// Draw this many users from the real tasks at trace time 0 instead of taking the real users
    #[arg(long, value_name = "N")]
    users: Option<u64>,
    /// Use the capacities as the DRFH paper prints them, with two decimals
    #[arg(long)]
    rounded: bool,
    /// Give each user as many tasks as it really had, instead of unlimited ones
    #[arg(long)]
    finite: bool,
    /// Seed of everything drawn
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,
    #[command(flatten)]
    output: OutputArguments,
}

/// The two servers and two users of the DRFH paper, Fig. 1
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: fairplan generate drfh-fig1")]
struct Fig1Arguments {
    #[command(flatten)]
    output: OutputArguments,
}

/// One hundred servers of Google shapes and the three users of the DRFH paper, Fig. 4
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: fairplan generate drfh-fig4 --users 1,2")]
struct Fig4Arguments {
    /// Which of the three users take part
    #[arg(long, value_name = "LIST", value_delimiter = ',', default_value = "1,2,3")]
    users: Vec<usize>,
    #[command(flatten)]
    output: OutputArguments,
}

/// A synthetic population of any size
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Example: fairplan generate population --kind alike --users 1000 --cluster random:10x4"
)]
struct PopulationArguments {
    /// How demands and weights lie: spread, alike, zeros or weighted
    #[arg(long, value_name = "KIND", default_value = "spread")]
    kind: PopulationKind,
    /// How many users
    #[arg(long, value_name = "N", default_value_t = 1000)]
    users: u64,
    /// The servers: google, random:CLASSESxRESOURCES or distinct:SERVERS
    #[arg(long, value_name = "CLUSTER", default_value = "google")]
    cluster: Cluster,
    /// Seed of everything drawn
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,
    #[command(flatten)]
    output: OutputArguments,
}

/// The demands of the three users of the Karma paper, Fig. 2 and 3
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: fairplan generate karma-fig2")]
struct KarmaFig2Arguments {
    #[command(flatten)]
    output: OutputArguments,
}

/// Demands over time like those that the Karma and Fair Shares papers measured
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Example: fairplan generate demands --users 100 --quanta 900 --seed 7 -o demands.json"
)]
struct WorkloadArguments {
    /// What they are like: bursts (everybody the same mean, active 9% to 100% of the time) or queries (a few users
    /// most of them, the sum nearly normal)
    #[arg(long, value_name = "KIND", default_value = "bursts")]
    kind: Workload,
    /// How many users
    #[arg(long, value_name = "N", default_value_t = 100)]
    users: u64,
    /// How many quanta
    #[arg(long, value_name = "N", default_value_t = 900)]
    quanta: u64,
    /// What a user demands on the mean of a quantum, in slices
    #[arg(long, value_name = "SLICES", default_value_t = Decimal::from(10u32))]
    mean: Decimal,
    /// How much bursts begin together, 0 to 10: a quantum in which all are busier by one standard deviation is e^N times as
    /// likely
    #[arg(long, value_name = "N", default_value_t = Decimal::ZERO)]
    together: Decimal,
    /// Seed of everything drawn
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,
    #[command(flatten)]
    output: OutputArguments,
}

/// The three classes of transactions of the multi-resource fairness paper, Fig. 1, their arrivals alike
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: fairplan generate mrf-fig1 --load 0.7 | fairplan flows -")]
struct TrafficArguments {
    /// The load of the heaviest resource
    #[arg(long, value_name = "LOAD", default_value = "0.5")]
    load: Decimal,
    #[command(flatten)]
    output: OutputArguments,
}

/// The same classes as in Fig. 2 and 3: four times as many arrivals of the first as of the others
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: fairplan generate mrf-fig2 --load 0.7 | fairplan flows -")]
struct UnequalTrafficArguments {
    #[command(flatten)]
    arguments: TrafficArguments,
}

/// A trace: one hundred servers and the three users who join and leave in the DRFH paper, Fig. 4
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: fairplan generate trace-drfh-fig4 -o fig4.jsonl")]
struct TraceFig4Arguments {
    #[command(flatten)]
    output: OutputArguments,
}

/// A trace of random jobs on servers drawn from Google's
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Example: fairplan generate trace-random --jobs 200 --outages 10 --seed 7 -o random.jsonl.gz"
)]
struct RandomTraceArguments {
    /// Draw this many servers
    #[arg(long, value_name = "N", default_value_t = 100)]
    servers: u64,
    /// How many users
    #[arg(long, value_name = "N", default_value_t = 10)]
    users: u64,
    /// How many jobs, of 1 to 255 tasks each
    #[arg(long, value_name = "N", default_value_t = 1000)]
    jobs: u64,
    /// Within how many seconds they are submitted
    #[arg(long, value_name = "SECONDS", default_value_t = 3600)]
    seconds: u64,
    /// How many times a server goes for a while
    #[arg(long, value_name = "N", default_value_t = 0)]
    outages: u64,
    /// Seed of everything drawn
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,
    #[command(flatten)]
    output: OutputArguments,
}

/// The nodes of a real cluster as kubectl prints them, to try import on
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: fairplan generate kubernetes-nodes -o nodes.json")]
struct NodesArguments {
    #[command(flatten)]
    output: OutputArguments,
}

/// The pods of a real cluster as kubectl prints them, to try import on
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: fairplan generate kubernetes-pods -o pods.json")]
struct PodsArguments {
    #[command(flatten)]
    output: OutputArguments,
}

/// Makes the instance, the demands or the trace and writes them.
pub fn run(arguments: Arguments, common: CommonOptions) -> Result<Answer, Error> {
    let (instance, output) = match arguments.kind {
        Kind::Google(GoogleArguments { servers, users, rounded, finite, seed, output }) => {
            (google(&GoogleOptions { servers, users, rounded, finite, seed })?, output)
        }
        Kind::DrfhFig1(Fig1Arguments { output }) => (drfh_fig1()?, output),
        Kind::DrfhFig4(Fig4Arguments { users, output }) => (drfh_fig4(&users)?, output),
        Kind::Population(PopulationArguments { kind, users, cluster, seed, output }) => {
            (population(&PopulationOptions { kind, users, cluster, seed })?, output)
        }
        Kind::KarmaFig2(KarmaFig2Arguments { output }) => {
            return write_series(&karma_fig2()?, &output.destination()?, common);
        }
        Kind::Demands(WorkloadArguments { kind, users, quanta, mean, together, seed, output }) => {
            let series = demands(&WorkloadOptions { workload: kind, users, quanta, mean, together, seed })?;
            return write_series(&series, &output.destination()?, common);
        }
        Kind::MrfFig1(TrafficArguments { load, output }) => {
            return write_traffic(&mrf_fig1(load.to_f64())?, &output.destination()?, common);
        }
        Kind::MrfFig2(UnequalTrafficArguments { arguments: TrafficArguments { load, output } }) => {
            return write_traffic(&mrf_fig2(load.to_f64())?, &output.destination()?, common);
        }
        Kind::TraceDrfhFig4(TraceFig4Arguments { output }) => {
            return traces::write(&mut drfh_fig4_trace()?.replay()?, &output.trace()?, common);
        }
        Kind::TraceRandom(arguments) => {
            let RandomTraceArguments { servers, users, jobs, seconds, outages, seed, output } = arguments;
            let destination = output.trace()?;
            let options = RandomTraceOptions { servers, users, jobs, seconds, outages, seed };
            return traces::write(&mut random_trace(&options)?, &destination, common);
        }
        Kind::KubernetesNodes(NodesArguments { output }) => return write_file(KUBERNETES_NODES, &output),
        Kind::KubernetesPods(PodsArguments { output }) => return write_file(KUBERNETES_PODS, &output),
    };
    write_instance(&instance, &output.destination()?, common)
}

/// Writes a file of another system as it is.
fn write_file(content: &str, output: &OutputArguments) -> Result<Answer, Error> {
    output.destination()?.write(|out| out.write_all(content.as_bytes()))?;
    Ok(Answer::Yes)
}

/// Writes demands over time as JSON and says what they are.
fn write_series(
    series: &DemandSeries,
    destination: &Destination,
    common: CommonOptions,
) -> Result<Answer, Error> {
    destination.write(|out| files::write_demands(series, out))?;
    tell(common, || summary::demands(series));
    Ok(Answer::Yes)
}

/// Writes stochastic demand as JSON and says what it is.
fn write_traffic(
    traffic: &Traffic,
    destination: &Destination,
    common: CommonOptions,
) -> Result<Answer, Error> {
    destination.write(|out| files::write_traffic(traffic, out))?;
    tell(common, || summary::traffic(traffic));
    Ok(Answer::Yes)
}

/// Writes an instance as JSON and says what it is.
pub fn write_instance(
    instance: &Instance,
    destination: &Destination,
    common: CommonOptions,
) -> Result<Answer, Error> {
    destination.write(|out| files::write_json(instance, out))?;
    tell(common, || summary::heading(instance));
    Ok(Answer::Yes)
}
