//! `report`: one page, or one chart, from results that are there already.

use super::tell;
use crate::arguments::{CommonOptions, OutputArguments};
use crate::failure::{Answer, Failure};
use fairplan_instances::files::source;
use fairplan_report::output::Destination;
use fairplan_report::page::{Section, write_page};
use fairplan_report::plot::{Drawing, Ground};
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
    /// Results of solve, place, compare, bound, explain, entitlements, audit, verify, allocate, offline, flows, simulate (its
    /// series in JSON Lines, too), plan or reproduce; - is standard input
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
    format: Image,
    destination: Destination,
}

#[derive(Clone, Copy)]
enum Image {
    Svg,
    Png,
}

impl Plot {
    fn new(path: &Path) -> Result<Self, Failure> {
        let extension = path.extension().map(|extension| extension.to_ascii_lowercase());
        let format = match extension.as_ref().and_then(|extension| extension.to_str()) {
            Some("svg") => Image::Svg,
            Some("png") => Image::Png,
            _ => {
                let name = path.display();
                let problem = "charts are SVG or PNG; name a file that ends in .svg or .png";
                return Err(Failure::refused(format!("--plot {name}: {problem}")));
            }
        };
        Ok(Self { format, destination: Destination::new(Some(path))? })
    }

    fn write(&self, chart: &Drawing) -> Result<(), Failure> {
        let bytes = match self.format {
            Image::Svg => chart.svg(Ground::Paper).into_bytes(),
            Image::Png => chart.png().map_err(Failure::refused)?,
        };
        Ok(self.destination.write(|out| out.write_all(&bytes))?)
    }
}

impl TryFrom<Arguments> for Job {
    type Error = Failure;
    fn try_from(arguments: Arguments) -> Result<Self, Failure> {
        if arguments.results.iter().filter(|result| *result == "-").count() > 1 {
            return Err(Failure::refused("only one RESULT can be standard input"));
        }
        Ok(Self {
            plot: arguments.plot.as_deref().map(Plot::new).transpose()?,
            results: arguments.results,
            chart: arguments.chart,
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
        plot.write(&first.chart(job.chart).map_err(Failure::refused)?)?;
    }
    job.destination.write(|out| write_page(out, &job.title, &sections))?;
    tell(common, || {
        sections.iter().map(|section| format!("{}: {}\n", section.source, section.title)).collect()
    });
    Ok(Answer::Yes)
}
