//! `plan growth`: when a cluster first misses what is asked of it as demands follow a series.

use super::buy::amount;
use super::target::TargetArguments;
use crate::arguments::{CommonOptions, OutputArguments, ResultFormat, TimeLimit, backend_name};
use crate::failure::Answer;
use crate::input::{InstanceArguments, InstanceSource};
use crate::progress::{self, tell, warn};
use fairplan::instances::table::Tabular;
use fairplan::report::summary;
use fairplan::{Control, Decimal, Document, Error, FEW_QUANTA, GrowthOptions, StagesOptions, files, read};

/// Say when a cluster first misses what is asked of it as demands follow a series
#[derive(Debug, clap::Args)]
#[command(after_help = "\
The targets hold at a scale of 1; in each quantum they are scaled by the series, the mean of its first --base quanta being \
1. A series whose columns are the instance's users scales each by its own; one whose columns are its groups scales all users \
of each; any other scales all by its total, or by one column (--by). With --catalog it is planned what to buy by when: in each stage the cheapest servers that are enough until its \
end, beside those that were bought before, whatever scales whom; where it has commitments, what that costs quantum by quantum, on demand and \
reserved. The result is a fairplan.growth.v1, its table a row a quantum.

Example: fairplan generate drfh-fig1 -o fig1.json
         printf 'quantum,all\\n1,10\\n2,11\\n3,13\\n' > demand.csv
         fairplan plan growth fig1.json --series demand.csv --share 0.6")]
pub struct Arguments {
    #[command(flatten)]
    pub instance: InstanceArguments,
    /// The series: a table (CSV, gzipped or not, or Parquet) or fairplan.demands.v1 JSON
    #[arg(long, value_name = "FILE")]
    series: String,
    /// What a table calls its column of times. Rows may stand in any order where times are numbers or as 2026-01 or W08; other names must rise
    /// as text does
    #[arg(long, value_name = "COLUMN", default_value = files::QUANTUM)]
    quantum: String,
    /// What scales whom: total, user, group, or the column that scales all (default: user if every user has a column, group if every user or a
    /// group that it is in has one)
    #[arg(long, value_name = "COLUMN")]
    by: Option<String>,
    /// How many of the first quanta are, on average, a scale of 1
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..))]
    base: u64,
    #[command(flatten)]
    target: TargetArguments,
    /// Say too what to buy by when of this catalog, so that nothing is missed
    #[arg(long, value_name = "CATALOG")]
    catalog: Option<String>,
    /// With --catalog: in how many stages of equal length, from the first quantum that is missed on, at most
    #[arg(long, value_name = "N", default_value_t = 4, requires = "catalog", value_parser = clap::value_parser!(u32).range(1..=1000))]
    stages: u32,
    /// With --catalog: what every bought server gives to its system and to the pods of each node, as in plan buy: cpu=500m,memory=2Gi
    #[arg(long, value_name = "RESOURCE=AMOUNT", value_delimiter = ',', requires = "catalog", value_parser = amount)]
    overhead: Vec<(String, String)>,
    /// With --catalog: how many periods of its prices a quantum lasts, where it has commitments; 3 for quarters and prices a month
    #[arg(long, value_name = "N", default_value = "1", requires = "catalog")]
    periods_per_quantum: Decimal,
    /// Also write every quantum of a series of more than 400: how many times the target it asks for, and whether it is
    /// missed
    #[arg(long)]
    per_quantum: bool,
    #[command(flatten)]
    time_limit: TimeLimit,
    /// How to solve: auto (aggregation, else interior point), ipm (interior point) or highs (simplex)
    #[arg(long, value_name = "NAME", default_value = "auto", value_parser = backend_name)]
    backend: String,
    /// Write the whole result (json), or the table of quanta
    /// (default: as the ending of -o FILE says, else json)
    #[arg(long, value_enum, value_name = "FORMAT")]
    format: Option<ResultFormat>,
    #[command(flatten)]
    output: OutputArguments,
}

/// Reads both, follows the series, writes.
pub fn run(arguments: Arguments, common: CommonOptions) -> Result<Answer, Error> {
    let source: InstanceSource = arguments.instance.try_into()?;
    if arguments.series == "-" && source.takes_standard_input() {
        return Err(Error::input("only one of INSTANCE and --series can be standard input"));
    }
    let deadline = arguments.time_limit.deadline();
    let output = arguments.output.result(arguments.format)?;
    let instance = source.read()?;
    let series = files::read_proportions(&arguments.series, &arguments.quantum)?;
    warn(common, &instance);
    let options = GrowthOptions {
        target: arguments.target.options()?,
        by: arguments.by,
        base: arguments.base,
        series: arguments.series,
        backend: arguments.backend,
    };
    let less = |catalog: String| read::catalog_less(&catalog, &instance, &arguments.overhead);
    let catalog = arguments.catalog.map(less).transpose()?;
    let periods_per_quantum = arguments.periods_per_quantum.to_f64();
    let stages = StagesOptions { stages: arguments.stages, periods_per_quantum };
    let followed = |control: &Control<'_>| -> Result<_, Error> {
        match &catalog {
            Some(catalog) => {
                fairplan::growth_with_purchases(&instance, &series, catalog, &stages, &options, control)
            }
            None => fairplan::growth(&instance, &series, &options, control),
        }
    };
    let mut growth = progress::under(common, deadline, followed)?;
    if !arguments.per_quantum && output.table.is_none() && series.quantum_count() > FEW_QUANTA {
        growth.without_quanta();
    }
    let document = Document::new(growth);
    output.write(&document, || document.table())?;
    tell(common, || summary::growth(&document));
    Ok(Answer::yes_if(document.first_missed.is_none()))
}
