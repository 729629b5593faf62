//! `report`: one page, or one chart, from results that are there already.

use crate::arguments::{CommonOptions, OutputArguments};
use crate::failure::Answer;
use crate::output;
use crate::progress::tell;
use fairplan::Error;
use fairplan::instances::files::source;
use fairplan::instances::wording::printable;
use fairplan::report::output::{Destination, FileFormat, Prepared, commit};
use fairplan::report::page::{Section, write_page};
use fairplan::report::plot::{Drawing, Ground};
use std::io::Write;
use std::path::{Path, PathBuf};

/// Write one self-contained HTML page of tables and charts from results
#[derive(Debug, clap::Args)]
#[command(after_help = "\
The page needs no network and no scripts, is dark or light as its reader likes, and prints well.

Example: fairplan generate drfh-fig1 -o fig1.json && fairplan solve fig1.json -o solution.json
         fairplan compare fig1.json -o comparison.json
         fairplan report solution.json comparison.json -o report.html
         fairplan report comparison.json --plot comparison.svg -o report.html")]
pub struct Arguments {
    /// Results of solve, place, compare, bound, explain, entitlements, audit (the lines of --all, too), verify, allocate,
    /// offline, flows, simulate (its series in JSON Lines, too), plan or reproduce; - is standard input
    #[arg(value_name = "RESULT", required = true)]
    results: Vec<String>,
    /// What the page is called
    #[arg(long, value_name = "TEXT", default_value = "fairplan report")]
    title: String,
    /// Also write a chart of the first result here: an .svg or a .png
    #[arg(long, value_name = "FILE")]
    plot: Option<PathBuf>,
    /// Which of its charts, counted from 1
    #[arg(long, value_name = "N", default_value_t = 1, requires = "plot")]
    chart: usize,
    #[command(flatten)]
    output: OutputArguments,
}

struct Job {
    results: Vec<String>,
    title: String,
    plot: Option<Plot>,
    chart: usize,
    destination: Destination,
}

/// Where a chart goes, and in which format.
struct Plot {
    format: FileFormat,
    destination: Destination,
}

impl Plot {
    fn new(path: &Path) -> Result<Self, Error> {
        let (format, destination) =
            output::chart(path).map_err(|refused| Error::input(format!("--plot {refused}")))?;
        Ok(Self { format, destination })
    }

    fn prepare(&self, chart: &Drawing) -> Result<Prepared, Error> {
        let bytes = match self.format {
            FileFormat::Png => chart.png().map_err(Error::input)?,
            _ => chart.svg(Ground::Paper).into_bytes(),
        };
        Ok(self.destination.prepare(|out| out.write_all(&bytes))?)
    }
}

impl TryFrom<Arguments> for Job {
    type Error = Error;
    fn try_from(arguments: Arguments) -> Result<Self, Error> {
        if arguments.results.iter().filter(|result| *result == "-").count() > 1 {
            return Err(Error::input("only one RESULT can be standard input"));
        }
        Ok(Self {
            plot: arguments.plot.as_deref().map(Plot::new).transpose()?,
            results: arguments.results,
            chart: arguments.chart,
            title: arguments.title,
            destination: arguments.output.page()?,
        })
    }
}

/// Reads all results, then writes.
pub fn run(arguments: Arguments, common: CommonOptions) -> Result<Answer, Error> {
    let job = Job::try_from(arguments)?;
    let sections = job.results.iter().map(|result| {
        let source = source::open(result)?;
        let name = source.name().to_owned();
        Ok(Section::read(&name, &source.read_all()?)?)
    });
    let sections: Vec<Section> = sections.collect::<Result<_, Error>>()?;
    let mut prepared = Vec::new();
    if let (Some(plot), [first, ..]) = (&job.plot, &*sections) {
        prepared.push(plot.prepare(&first.chart(job.chart).map_err(Error::input)?)?);
    }
    prepared.push(job.destination.prepare(|out| write_page(out, &job.title, &sections))?);
    commit(prepared)?;
    tell(common, || {
        let line = |section: &Section| {
            format!("{}: {}\n", printable(&section.source, 200), printable(&section.title, 200))
        };
        sections.iter().map(line).collect()
    });
    Ok(Answer::Yes)
}
