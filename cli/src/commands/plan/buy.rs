//! `plan buy`: the cheapest servers with which every user reaches its target.

use super::target::TargetArguments;
use crate::arguments::{CommonOptions, OutputArguments, ResultFormat, ResultOutput, TimeLimit, backend_name};
use crate::failure::Answer;
use crate::input::{InstanceArguments, InstanceSource};
use crate::progress::{tell, warn, warn_of_whole_tasks};
use crate::{output, progress};
use fairplan::instances::table::Tabular;
use fairplan::report::output::{Destination, Prepared, commit};
use fairplan::report::{summary, write_json};
use fairplan::{BuyOptions, Control, Decimal, Error, Plan, files, read};
use std::path::{Path, PathBuf};

/// Find the cheapest servers of a catalog with which every user reaches its target
#[derive(Debug, clap::Args)]
#[command(after_help = "\
CATALOG is a fairplan.catalog.v1 or a table with the columns id, price, optionally limit and like, and one a resource. A \
type called like a server class is more of that class; `like` names the class as which users treat a new type, and whose domain it is in. A target \
share is measured against the cluster as it is: a fixed amount of work, which buying does not move. The plan has room for \
what is asked for of all users together, none taking more. Its bound is that of branch and bound; beside it stands \
the one that prices of resources prove by themselves (proved_bound), which needs no trust in a solver. If nothing that may \
be bought is enough, the exit status is 1, with the user and the resource that stand against it and how much less would \
do. The result is a fairplan.plan.v1.

Example: fairplan generate drfh-fig1 -o fig1.json
         printf 'id,price\\nhigh-cpu,3\\nhigh-memory,2\\n' > catalog.csv
         fairplan plan buy fig1.json --catalog catalog.csv --share 0.9")]
pub struct Arguments {
    #[command(flatten)]
    pub instance: InstanceArguments,
    /// What can be bought, with prices
    #[arg(long, value_name = "CATALOG")]
    catalog: Option<String>,
    #[command(flatten)]
    target: TargetArguments,
    /// Count whole tasks, each on one server, and check the plan by a placement of all of them
    #[arg(long)]
    whole: bool,
    /// Buy so much that DRFH by itself gives every user its target, with nobody held to it; the bound is still that of having
    /// room for all targets
    #[arg(long, conflicts_with_all = ["whole", "frontier"])]
    under_drfh: bool,
    /// What every bought server gives to its system and to the pods of each node, in what the instance counts in or with a unit as in a catalog: cpu=500m,memory=2Gi.
    /// Types that are a class of the instance have it off already
    #[arg(long, value_name = "RESOURCE=AMOUNT", value_delimiter = ',', value_parser = amount)]
    overhead: Vec<(String, String)>,
    /// The most that may be spent
    #[arg(long, value_name = "PRICE", allow_negative_numbers = true)]
    budget: Option<Decimal>,
    /// Say too what so many steps from what is reached now to the target cost
    #[arg(long, value_name = "N", conflicts_with = "whole", value_parser = clap::value_parser!(u32).range(1..=1000))]
    frontier: Option<u32>,
    /// Write the cluster after the purchase here, as an instance; tasks that --scale makes no whole number are rounded up there
    #[arg(long, value_name = "FILE")]
    cluster_out: Option<PathBuf>,
    /// With --whole: write the placement on that cluster here
    #[arg(long, value_name = "FILE", requires = "whole")]
    placement_out: Option<PathBuf>,
    #[command(flatten)]
    time_limit: TimeLimit,
    /// How allocations are solved: auto (aggregation, else interior point), ipm (interior point) or highs (simplex)
    #[arg(long, value_name = "NAME", default_value = "auto", value_parser = backend_name)]
    backend: String,
    /// Write the whole result (json), or the table of servers to buy (with --frontier, of its points)
    /// (default: as the ending of -o FILE says, else json)
    #[arg(long, value_enum, value_name = "FORMAT")]
    format: Option<ResultFormat>,
    #[command(flatten)]
    output: OutputArguments,
}

struct Job {
    source: InstanceSource,
    catalog: String,
    overhead: Vec<(String, String)>,
    target: TargetArguments,
    options: BuyOptions,
    cluster_out: Option<Destination>,
    placement_out: Option<Destination>,
    time_limit: TimeLimit,
    output: ResultOutput,
}

impl TryFrom<Arguments> for Job {
    type Error = Error;
    fn try_from(arguments: Arguments) -> Result<Self, Error> {
        let output = arguments.output.result(arguments.format)?;
        let source: InstanceSource = arguments.instance.try_into()?;
        let catalog = arguments.catalog.ok_or_else(|| {
            Error::input(
                "name a --catalog of what can be bought, or say worth, lose, diff, move or growth; see --help",
            )
        })?;
        if catalog == "-" && source.takes_standard_input() {
            return Err(Error::input("only one of INSTANCE and --catalog can be standard input"));
        }
        let file = |path: Option<&Path>| path.map(output::document).transpose();
        let Arguments { target, whole, under_drfh, frontier, time_limit, backend, .. } = arguments;
        let budget = arguments.budget.map(Decimal::to_f64);
        Ok(Self {
            source,
            catalog,
            overhead: arguments.overhead,
            target,
            options: BuyOptions { whole, under_drfh, budget, frontier, backend, ..BuyOptions::default() },
            cluster_out: file(arguments.cluster_out.as_deref())?,
            placement_out: file(arguments.placement_out.as_deref())?,
            time_limit,
            output,
        })
    }
}

/// Reads, plans, writes.
pub fn run(arguments: Arguments, common: CommonOptions) -> Result<Answer, Error> {
    let job = Job::try_from(arguments)?;
    let instance = job.source.read()?;
    let catalog = read::catalog_less(&job.catalog, &instance, &job.overhead)?;
    match job.options.whole {
        true => warn_of_whole_tasks(common, &instance),
        false => warn(common, &instance),
    }
    let options = BuyOptions { target: job.target.options()?, ..job.options.clone() };
    let planned = |control: &Control<'_>| fairplan::buy(&instance, &catalog, &options, control);
    let plan = progress::under(common, job.time_limit.deadline(), planned)?;
    let document = plan.document(&instance, &catalog);
    let mut prepared = job.prepare_cluster(&plan)?;
    prepared.push(job.output.prepare(&document, || document.table())?);
    commit(prepared)?;
    tell(common, || summary::plan(&document));
    Ok(Answer::yes_if(document.reachable))
}

/// `cpu=0.5`.
pub(super) fn amount(text: &str) -> Result<(String, String), String> {
    let problem = "write RESOURCE=AMOUNT, such as cpu=0.5";
    let (resource, amount) = text.split_once('=').ok_or(problem)?;
    Ok((resource.trim().into(), amount.trim().into()))
}

impl Job {
    /// The cluster, and the placement on it, where they are asked for.
    fn prepare_cluster(&self, plan: &Plan) -> Result<Vec<Prepared>, Error> {
        let mut prepared = Vec::new();
        if let (Some(destination), Some(cluster)) = (&self.cluster_out, &plan.cluster) {
            prepared.push(destination.prepare(|out| files::write_json(cluster, out))?);
        }
        if let (Some(destination), Some((cluster, placed))) = (&self.placement_out, plan.placed()) {
            prepared.push(destination.prepare(|out| write_json(out, &placed.document(cluster, true)))?);
        }
        Ok(prepared)
    }
}
