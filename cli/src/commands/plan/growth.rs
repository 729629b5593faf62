//! `plan growth`: when a cluster first misses what is asked of it as demands follow a series.

use super::target::TargetArguments;
use crate::arguments::{CommonOptions, OutputArguments, ResultFormat, TimeLimit};
use crate::commands::solve::{backend_name, in_time, solver_within};
use crate::commands::{tell, warn};
use crate::failure::{Answer, Failure};
use crate::input::{InstanceArguments, InstanceSource};
use crate::progress;
use fairplan_analysis::growth;
use fairplan_instances::wording::printable;
use fairplan_instances::{DemandSeries, Instance, files};
use fairplan_report::planning::growth_document;
use fairplan_report::{summary, table};

/// Say when a cluster first misses what is asked of it as demands follow a series
#[derive(Debug, clap::Args)]
#[command(after_help = "\
The targets hold at a scale of 1; in each quantum they are scaled by the series, the mean of its first --base quanta being \
1. A series whose columns are the instance's users scales each by its own; any other scales all by its total, or by one \
column (--by). The result is a fairplan.growth.v1, its table a row a quantum.

Example: fairplan generate drfh-fig1 -o fig1.json
         printf 'quantum,all\\n1,10\\n2,11\\n3,13\\n' > demand.csv
         fairplan plan growth fig1.json --series demand.csv --share 0.6")]
pub struct Arguments {
    #[command(flatten)]
    instance: InstanceArguments,
    /// The series: a table (CSV, gzipped or not, or Parquet) or fairplan.demands.v1 JSON
    #[arg(long, value_name = "FILE")]
    series: String,
    /// What a table calls its column of times, which must be in order
    #[arg(long, value_name = "COLUMN", default_value = files::QUANTUM)]
    quantum: String,
    /// What scales whom: total, user, or the column that scales all (default: user if every user has a column)
    #[arg(long, value_name = "COLUMN")]
    by: Option<String>,
    /// How many of the first quanta are, on average, a scale of 1
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..))]
    base: u64,
    #[command(flatten)]
    target: TargetArguments,
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

/// So many quanta are written without being asked for: enough for a chart of years of months, or of a year of days.
const FEW_QUANTA: usize = 400;

/// Reads both, follows the series, writes.
pub fn run(arguments: Arguments, common: CommonOptions) -> Result<Answer, Failure> {
    let source: InstanceSource = arguments.instance.try_into()?;
    if arguments.series == "-" && source.takes_standard_input() {
        return Err(Failure::refused("only one of INSTANCE and --series can be standard input"));
    }
    let deadline = arguments.time_limit.deadline();
    let solver = solver_within(&arguments.backend, &deadline)?;
    let (format, destination) = arguments.output.result(arguments.format)?;
    let instance = source.read()?;
    let series = files::read_demands_by(&arguments.series, files::Rounding::Refused, &arguments.quantum)?;
    warn(common, &instance);
    let asked = arguments.target.asked(&instance, &*solver, common)?;
    let extended = &asked.extended;
    let scaling = Scaling::new(&series, extended, arguments.by.as_deref(), arguments.base)
        .map_err(|problem| Failure::refused(format!("{}: {problem}", arguments.series)))?;
    let scale = |quantum: usize, user: usize| scaling.at(quantum, user);
    let quanta = series.quantum_count();
    let found = progress::during(common.quiet, "following the series", || {
        growth(extended, &asked.required, quanta, &scale, &*solver)
    })
    .map_err(|error| in_time(&deadline, error.into()))?;
    let (sha256, series_sha256) = (files::sha256_hex(&instance), files::demands_sha256_hex(&series));
    let table = format.table();
    let document = growth_document(
        (extended, &sha256),
        (&series, &series_sha256),
        &scaling.by,
        arguments.base,
        asked.target,
        &scale,
        (&found, arguments.per_quantum || table.is_some() || quanta <= FEW_QUANTA),
    );
    destination.write(|out| table::write_result(out, table, &document))?;
    tell(common, || summary::growth(&document));
    Ok(Answer::yes_if(found.first_missed.is_none()))
}

/// By how much the targets of each user are scaled in each quantum.
struct Scaling {
    by: String,
    /// The column of each user.
    column_of: Vec<usize>,
    /// Row-major `quanta × columns`, in parts of the base.
    scales: Vec<f64>,
    columns: usize,
}

impl Scaling {
    fn new(series: &DemandSeries, instance: &Instance, by: Option<&str>, base: u64) -> Result<Self, String> {
        let column = |name: &str| series.user_named(name);
        let own: Option<Vec<usize>> = instance.users().map(|user| column(user.id())).collect();
        let (by, own, only) = match (by, own) {
            (None | Some("user"), Some(own)) => ("user", Some(own), None),
            (Some("user"), None) => {
                let lacking = instance.users().find(|user| column(user.id()).is_none());
                let id = lacking.map_or(String::new(), |user| printable(user.id(), 60));
                return Err(format!("has no column {id}, which --by user needs"));
            }
            (None | Some("total"), _) => ("total", None, None),
            (Some(name), _) => {
                let unknown = || format!("has no column {name}, which --by names");
                (name, None, Some(column(name).ok_or_else(unknown)?))
            }
        };
        let quanta = series.quantum_count();
        let columns = if own.is_some() { series.user_count() } else { 1 };
        let mut scales = vec![0.0; quanta * columns];
        for quantum in 0..quanta {
            let (users, slices) = series.demands(quantum);
            for (user, slices) in users.iter().zip(slices) {
                match (&own, only) {
                    (Some(_), _) => scales[quantum * columns + *user as usize] = *slices as f64,
                    (None, Some(only)) if only != *user as usize => {}
                    (None, _) => scales[quantum] += *slices as f64,
                }
            }
        }
        let first = usize::try_from(base).unwrap_or(quanta).min(quanta);
        for column in 0..columns {
            let mean = (0..first).map(|q| scales[q * columns + column]).sum::<f64>() / first as f64;
            let is_used = own.as_ref().is_none_or(|own| own.contains(&column));
            if mean == 0.0 && is_used {
                let name = if own.is_some() { printable(series.user_id(column), 60) } else { by.into() };
                let problem = format!(
                    "{name} is 0 in the first {first} quanta, which shall be a scale of 1; take more"
                );
                return Err(format!("--base {base}: {problem}"));
            }
            for q in 0..quanta {
                scales[q * columns + column] /= if mean == 0.0 { 1.0 } else { mean };
            }
        }
        let column_of = own.unwrap_or_else(|| vec![0; instance.user_count()]);
        Ok(Self { by: by.into(), column_of, scales, columns })
    }

    fn at(&self, quantum: usize, user: usize) -> f64 {
        self.scales[quantum * self.columns + self.column_of[user]]
    }
}
