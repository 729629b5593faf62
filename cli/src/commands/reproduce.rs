//! `reproduce`: published tables and figures, recomputed.

use super::sweep::reproduced;
use crate::arguments::{CommonOptions, OutputArguments};
use crate::failure::Answer;
use crate::progress::{self, tell};
use fairplan::report::output::{Destination, commit};
use fairplan::report::plot::{self, Ground};
use fairplan::report::{summary as summaries, write_json};
use fairplan::{Control, Deadline, Error, files};
use fairplan_studies::{KeptBound, ReproduceOptions, STUDIES, reproduce_with_bounds};
use fairplan_sweeps::Commands;
use std::io::Write;
use std::path::PathBuf;

/// Recompute published tables and figures and print ours beside what papers say
#[derive(Debug, clap::Args)]
#[command(after_help = "\
The exit status is 1 if something differs from what was published.

Example: fairplan reproduce drfh-fig3")]
pub struct Arguments {
    #[arg(help = exhibits())]
    ids: Vec<String>,
    /// Say what stands of every table and figure of the papers, one a line, instead of every number
    #[arg(long)]
    summary: bool,
    /// The Google cluster-usage traces of 2011: the directory that contains task_events. drfh-table2 and drfh-fig5 to drfh-fig8
    /// run its first parts that follow each other
    #[arg(long, value_name = "DIRECTORY")]
    google2011: Option<PathBuf>,
    /// Alibaba's GPU cluster of 2023: the directory that contains openb_node_list_all_node.csv and the lists of pods, for fgd and
    /// fgd-gpuspec33
    #[arg(long, value_name = "DIRECTORY")]
    alibaba_gpu2023: Option<PathBuf>,
    /// Snowflake's public queries: the table snowset-main with its header, gzipped or not. karma-fig6 to karma-fig8 and fs-fig2 to
    /// fs-fig6 take their demands from it: the memory of 100 warehouses in a quarter of an hour, in tenths of the mean of each;
    /// two slices a query of 200 warehouses on 2018-03-01. Without it demands are drawn to be like these
    #[arg(long, value_name = "FILE")]
    snowset: Option<String>,
    /// Servers for --google2011, drawn from the published distribution. The paper has 2,000 for a whole day
    #[arg(long, value_name = "N", default_value_t = 2000, requires = "google2011")]
    servers: u64,
    /// Recompute each exhibit as a task of a sweep in this directory: on all cores, and what is there already not again
    #[arg(long, value_name = "DIRECTORY", conflicts_with_all = ["google2011", "alibaba_gpu2023", "snowset"])]
    sweep: Option<PathBuf>,
    /// Draw the figures, each as ID.svg in this directory
    #[arg(long, value_name = "DIRECTORY")]
    plots: Option<PathBuf>,
    /// Keep the bounds of fgd and fgd-gpuspec33 in this directory, each with its certificate (NAME-bound.json) and its instance
    /// (NAME-instance.json), as `verify` takes them
    #[arg(long, value_name = "DIRECTORY", requires = "alibaba_gpu2023")]
    bounds: Option<PathBuf>,
    #[command(flatten)]
    output: OutputArguments,
}

fn exhibits() -> String {
    let names: Vec<&str> = STUDIES.names().collect();
    format!("Which ones: {} (default: all whose files are named or not needed)", names.join(", "))
}

/// Recomputes, writes, says whether all agree.
pub fn run(arguments: Arguments, common: CommonOptions, swept: &dyn Commands) -> Result<Answer, Error> {
    let Arguments { ids, summary, google2011, alibaba_gpu2023, snowset, servers, .. } = arguments;
    let Arguments { sweep, plots, bounds, output, .. } = arguments;
    let snowset = snowset.map(PathBuf::from);
    let options = ReproduceOptions { ids, summary, google2011, alibaba_gpu2023, snowset, servers };
    options.check()?;
    for (option, directory) in [("plots", &plots), ("bounds", &bounds)] {
        if let Some(directory) = directory.as_ref().filter(|directory| !directory.is_dir()) {
            return Err(Error::input(format!("--{option} {}: no such directory", directory.display())));
        }
    }
    let destination = output.destination()?;
    let (document, kept) = match sweep {
        Some(directory) => (reproduced(&options, &directory, common, swept)?, Vec::new()),
        None => {
            let reproduce = |control: &Control<'_>| reproduce_with_bounds(&options, control);
            progress::under(common, Deadline::never(), reproduce)?
        }
    };
    let mut prepared = Vec::new();
    for (directory, KeptBound { name, instance, bound }) in
        bounds.iter().flat_map(|bounds| kept.iter().map(move |kept| (bounds, kept)))
    {
        let to = |what: &str| Destination::new(Some(&directory.join(format!("{name}-{what}.json"))));
        prepared.push(to("instance")?.prepare(|out| files::write_json(instance, out))?);
        prepared.push(to("bound")?.prepare(|out| write_json(out, &bound.document(instance)))?);
    }
    for (directory, figure) in plots.iter().flat_map(|plots| document.figures.iter().map(move |f| (plots, f)))
    {
        let file = directory.join(format!("{}.svg", figure.exhibit));
        let drawing = plot::curves(figure).svg(Ground::Paper);
        prepared.push(Destination::new(Some(&file))?.prepare(|out| out.write_all(drawing.as_bytes()))?);
    }
    prepared.push(destination.prepare(|out| write_json(out, &document))?);
    commit(prepared)?;
    tell(common, || summaries::reproduction(&document));
    Ok(Answer::yes_if(document.agrees))
}
