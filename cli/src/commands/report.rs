//! `report`: one page, or one chart, from results that are there already.

use super::tell;
use crate::arguments::{CommonOptions, OutputArguments};
use crate::failure::{Answer, Failure};
use fairplan_instances::files::source;
use fairplan_report::output::Destination;
use fairplan_report::page::{Section, write_page};
use std::io::Write;
use std::path::PathBuf;

/// Write one self-contained HTML page of tables and charts from results
#[derive(Debug, clap::Args)]
#[command(after_help = "\
The page needs no network and no scripts, is dark or light as its reader likes, and prints well.

Example: fairplan generate drfh-fig1 -o fig1.json && fairplan solve fig1.json -o solution.json
         fairplan compare fig1.json -o comparison.json
         fairplan report solution.json comparison.json -o report.html
         fairplan report comparison.json --plot comparison.svg -o report.html")]
pub struct Arguments {
    /// Results of solve, place, compare, bound, audit, verify, allocate, offline, flows, simulate, plan or reproduce (- is
    /// standard input)
    #[arg(value_name = "RESULT", required = true)]
    results: Vec<String>,
    /// What the page is called
    #[arg(long, value_name = "TEXT", default_value = "fairplan report")]
    title: String,
    /// Also write the first chart of the first result here, as SVG
    #[arg(long, value_name = "FILE")]
    plot: Option<PathBuf>,
    #[command(flatten)]
    output: OutputArguments,
}

struct Job {
    results: Vec<String>,
    title: String,
    plot: Option<Destination>,
    destination: Destination,
}

impl TryFrom<Arguments> for Job {
    type Error = Failure;
    fn try_from(arguments: Arguments) -> Result<Self, Failure> {
        if arguments.results.iter().filter(|result| *result == "-").count() > 1 {
            return Err(Failure::refused("only one RESULT can be standard input"));
        }
        if let Some(plot) = arguments.plot.as_deref()
            && plot.extension().is_none_or(|extension| !extension.eq_ignore_ascii_case("svg"))
        {
            return Err(Failure::refused(format!(
                "--plot {}: charts are written as SVG; name a file that ends in .svg",
                plot.display()
            )));
        }
        Ok(Self {
            plot: arguments.plot.as_deref().map(|plot| Destination::new(Some(plot))).transpose()?,
            results: arguments.results,
            title: arguments.title,
            destination: arguments.output.destination()?,
        })
    }
}

/// Reads all results, then writes.
pub fn run(arguments: Arguments, common: CommonOptions) -> Result<Answer, Failure> {
    let job = Job::try_from(arguments)?;
    let sections = job.results.iter().map(|result| {
        let source = source::open(result)?;
        let name = source.name().to_owned();
        Ok(Section::read(&name, &source.read_all()?)?)
    });
    let sections: Vec<Section> = sections.collect::<Result<_, Failure>>()?;
    if let (Some(plot), [first, ..]) = (&job.plot, &*sections) {
        let chart = first.chart().map_err(Failure::refused)?;
        plot.write(|out| out.write_all(chart.as_bytes()))?;
    }
    job.destination.write(|out| write_page(out, &job.title, &sections))?;
    tell(common, || {
        sections.iter().map(|section| format!("{}: {}\n", section.source, section.title)).collect()
    });
    Ok(Answer::Yes)
}
