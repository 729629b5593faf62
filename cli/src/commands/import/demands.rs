//! `import snowset`, `import helios` and `import shaved-ice`: demands over time.

use crate::arguments::{CommonOptions, OutputArguments};
use crate::failure::Answer;
use crate::progress::tell;
use crate::{output, progress};
use fairplan::Error;
use fairplan::imports::{
    HeliosDemands, HeliosOptions, SnowsetDemand, SnowsetOptions, helios, shaved_ice, snowset,
};
use fairplan::instances::files;
use fairplan::instances::wording::counted;
use fairplan::report::output::commit;
use fairplan::report::{summary, table};
use std::path::PathBuf;

/// Snowflake's queries (Snowset): one user a warehouse
#[derive(Debug, clap::Args)]
#[command(after_help = "\
What a query holds from createdTime until endTime is its user's demand, averaged over each quantum and rounded up, unless \
--per-query counts it whole. The result is a fairplan.demands.v1.

Example: fairplan import snowset snowset-main.csv.gz --quantum 60 --until '2018-02-22 00:00:00' \\
           -o demands.json")]
pub struct SnowsetArguments {
    /// The table snowset-main with its header, gzipped or not
    #[arg(value_name = "FILE")]
    queries: String,
    /// Seconds of a quantum
    #[arg(long, value_name = "SECONDS", default_value_t = 60, value_parser = clap::value_parser!(u64).range(1..=31_536_000))]
    quantum: u64,
    /// Slices are so many bytes of memoryUsed, instead of one server of serverCount
    #[arg(long, value_name = "BYTES", value_parser = clap::value_parser!(u64).range(1..))]
    memory_slice: Option<u64>,
    /// Every query demands so many slices in each quantum that it touches, however briefly
    #[arg(
        long,
        value_name = "SLICES",
        value_parser = clap::value_parser!(u64).range(1..=1_000_000),
        conflicts_with = "memory_slice"
    )]
    per_query: Option<u64>,
    /// From this time in UTC on (2018-02-21 00:00:00)
    #[arg(long, value_name = "TIME")]
    from: Option<String>,
    /// Until this time in UTC
    #[arg(long, value_name = "TIME")]
    until: Option<String>,
    #[command(flatten)]
    output: OutputArguments,
}

/// Helios' virtual clusters: demand is running and pending GPUs
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Every file is a user, named by what its name begins with. The result is a fairplan.demands.v1; the quotas are the fair \
shares.

Example: fairplan import helios *.cluster_sequence_vc.csv.gz --every 5 \\
           --fair-shares-to quotas.csv -o demands.json")]
pub struct HeliosArguments {
    /// Files NAME.cluster_sequence_vc.csv, gzipped or not
    #[arg(value_name = "FILE", num_args = 1.., required = true)]
    sequences: Vec<String>,
    /// Take one minute of so many as a quantum (rows are a minute apart)
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..))]
    every: u64,
    /// Write the quotas here, as a table for --fair-shares
    #[arg(long, value_name = "FILE")]
    fair_shares_to: Option<PathBuf>,
    #[command(flatten)]
    output: OutputArguments,
}

/// Snowflake's hourly demand for virtual machines over three years (Shaved Ice): one user a region and type of machine
#[derive(Debug, clap::Args)]
#[command(after_help = "\
The table is hourly_normalized.csv of github.com/Snowflake-Labs/shavedice-dataset: demand is in thousandths of the largest of \
a region, and users are called r1_A for type A in region 1. The result is a fairplan.demands.v1; `fairplan plan growth` \
follows it.

Example: fairplan import shaved-ice hourly_normalized.csv.gz -o hourly.json
         fairplan plan growth cluster.json --series hourly.json --by r1_A --base 168 --as-today")]
pub struct ShavedIceArguments {
    /// The table with its header, gzipped or not
    #[arg(value_name = "FILE")]
    table: String,
    #[command(flatten)]
    output: OutputArguments,
}

/// Reads the table and writes the demands.
pub fn from_shaved_ice(arguments: ShavedIceArguments, common: CommonOptions) -> Result<Answer, Error> {
    let destination = arguments.output.destination()?;
    let series = progress::during(common, "reading the table", || shaved_ice(&arguments.table))?;
    destination.write(|out| files::write_demands(&series, out))?;
    tell(common, || summary::demands(&series));
    Ok(Answer::Yes)
}

/// Reads the queries and writes the demands.
pub fn from_snowset(arguments: SnowsetArguments, common: CommonOptions) -> Result<Answer, Error> {
    let SnowsetArguments { queries, quantum, memory_slice, per_query, from, until, output } = arguments;
    let destination = output.destination()?;
    let demand = match (memory_slice, per_query) {
        (Some(slice), _) => SnowsetDemand::Memory { slice },
        (None, Some(slices)) => SnowsetDemand::Queries { slices },
        (None, None) => SnowsetDemand::Servers,
    };
    let options = SnowsetOptions { queries, demand, quantum, from, until, sample: None };
    let (series, report) = progress::during(common, "reading the trace", || snowset(&options))?;
    destination.write(|out| files::write_demands(&series, out))?;
    tell(common, || {
        let left_out = report.incomplete;
        let read = counted(report.rows, "query read", "queries read");
        format!("{}{read}, {left_out} of them incomplete\n", summary::demands(&series))
    });
    Ok(Answer::Yes)
}

/// Reads the sequences and writes the demands, and the quotas where asked for.
pub fn from_helios(arguments: HeliosArguments, common: CommonOptions) -> Result<Answer, Error> {
    let HeliosArguments { sequences, every, fair_shares_to, output } = arguments;
    let destination = output.destination()?;
    let quotas_to = fair_shares_to.as_deref().map(output::table).transpose()?;
    let options = HeliosOptions { sequences, every };
    let read = progress::during(common, "reading the trace", || helios(&options))?;
    let note = read.note().map_or_else(String::new, |note| note + "\n");
    let HeliosDemands { series, quotas, .. } = read;
    let mut prepared = Vec::new();
    if let Some((format, quotas_to)) = quotas_to {
        prepared.push(
            quotas_to
                .prepare(|out| table::write_table(out, format, &table::fair_shares(&series, &quotas)))?,
        );
    }
    prepared.push(destination.prepare(|out| files::write_demands(&series, out))?);
    commit(prepared)?;
    tell(common, || summary::demands(&series) + &note);
    Ok(Answer::Yes)
}
