//! `verify`: a result held against its instance, from the two files alone.

use super::tell;
use crate::arguments::{CommonOptions, OutputArguments};
use crate::demands::read_series;
use crate::failure::{Answer, Failure};
use crate::input::{InstanceSource, TableArguments};
use crate::progress;
use fairplan_instances::wording::printable;
use fairplan_instances::{DemandSeries, DemandsStamp, Instance, InstanceStamp, TaskDemands, files};
use fairplan_report::bound::{BoundDocument, StatedBracket};
use fairplan_report::offline::{
    OfflineDocument, StatedOffline, StatedTaskOffline, TaskOfflineDocument, stated_measure,
};
use fairplan_report::output::Destination;
use fairplan_report::placement::{PlacementDocument, StatedPlacement};
use fairplan_report::proportional_bound::{ProportionalBoundDocument, StatedProportionalBracket};
use fairplan_report::solution::{SolutionDocument, StatedSolution};
use fairplan_report::verification::{Subject, verification_document};
use fairplan_report::{Foreign, format_of, read_json, summary, write_json};
use fairplan_verify::{Verdict, verify_placement};

/// Check a result of solve, place, bound or offline in exact arithmetic, from the two files alone
#[derive(Debug, clap::Args)]
#[command(
    override_usage = "fairplan verify [OPTIONS] <INSTANCE> <RESULT>\n       \
                      fairplan verify [OPTIONS] --servers <FILE> --users <FILE> <RESULT>\n       \
                      fairplan verify [OPTIONS] <DEMANDS> <RESULT>",
    after_help = "\
The exit status is 0 if every property holds, 1 if one fails, 2 if a file is no valid instance or result.

Example: fairplan generate drfh-fig1 -o fig1.json && fairplan solve fig1.json -o solution.json
         fairplan verify fig1.json solution.json"
)]
pub struct Arguments {
    /// The instance and the result (fairplan.solution.v1, fairplan.bound.v1, or fairplan.placement.v1 with its
    /// servers); or the demands and a fairplan.offline.v1 with its quanta
    #[arg(value_names = ["INSTANCE", "RESULT"], num_args = 1..=2, required = true)]
    files: Vec<String>,
    #[command(flatten)]
    tables: TableArguments,
    /// With DEMANDS: the table of users who join or leave that the result was computed with
    #[arg(long, value_name = "FILE", conflicts_with = "servers")]
    members: Option<String>,
    /// With DEMANDS in tasks: the instance, unless the demands name it themselves
    #[arg(long, value_name = "FILE", conflicts_with = "servers")]
    instance: Option<String>,
    #[command(flatten)]
    output: OutputArguments,
}

struct Job {
    source: InstanceSource,
    members: Option<String>,
    instance: Option<String>,
    result: String,
    destination: Destination,
}

impl TryFrom<Arguments> for Job {
    type Error = Failure;
    fn try_from(arguments: Arguments) -> Result<Self, Failure> {
        let mut files = arguments.files.into_iter();
        let (instance, result) = match (files.next(), files.next()) {
            (Some(instance), Some(result)) => (Some(instance), result),
            (Some(result), None) if arguments.tables.are_named() => (None, result),
            _ => return Err(Failure::refused("name the INSTANCE and the RESULT to check")),
        };
        let source = InstanceSource::new(instance, arguments.tables)?;
        if result == "-" && source.takes_standard_input() {
            return Err(Failure::refused("only one of INSTANCE and RESULT can be standard input"));
        }
        let (members, instance) = (arguments.members, arguments.instance);
        Ok(Self { source, members, instance, result, destination: arguments.output.destination()? })
    }
}

/// Reads both, checks, reports.
pub fn run(arguments: Arguments, common: CommonOptions) -> Result<Answer, Failure> {
    let job = Job::try_from(arguments)?;
    let source = files::source::open(&job.result)?;
    let name = source.name().to_owned();
    let bytes = source.read_all()?;
    let format = format_of(&name, &bytes)?;
    if format == "fairplan.offline.v1" {
        let (series, instance) = job.series()?;
        let sha256 = files::demands_sha256_hex(&series);
        let verdicts = progress::during(common.quiet, "verifying", || match &instance {
            None => offline(&name, &bytes, &series, &sha256),
            Some(instance) => {
                let demands = TaskDemands::new(instance, &series)
                    .map_err(|violation| violation.in_file(job.source.file()))?;
                task_offline(&name, &bytes, demands, &sha256)
            }
        })?;
        return job.report(Subject::Demands(DemandsStamp::new(&series, &sha256)), &format, &verdicts, common);
    }
    let instance = job.source.read()?;
    let sha256 = files::sha256_hex(&instance);
    let verdicts =
        progress::during(common.quiet, "verifying", || verdicts(&name, bytes, &format, &instance, &sha256))?;
    job.report(Subject::Instance(InstanceStamp::new(&instance, &sha256)), &format, &verdicts, common)
}

impl Job {
    /// The demands, and the instance if they are tasks.
    fn series(&self) -> Result<(DemandSeries, Option<Instance>), Failure> {
        let InstanceSource::Json(path) = &self.source else {
            return Err(Failure::refused("a result of offline is held against its demands: name their file"));
        };
        let (series, named) = read_series(path, self.members.as_deref(), files::Rounding::Refused)?;
        let instance = self.instance.as_ref().or(named.as_ref());
        Ok((series, instance.map(|path| files::read_instance(path)).transpose()?))
    }

    fn report(
        &self,
        subject: Subject,
        format: &str,
        verdicts: &[Verdict],
        common: CommonOptions,
    ) -> Result<Answer, Failure> {
        let document = verification_document(subject, format, verdicts);
        let holds = document.holds;
        self.destination.write(|out| write_json(out, &document))?;
        tell(common, || summary::verification(format, verdicts));
        Ok(Answer::yes_if(holds))
    }
}

/// What is found of a result of `offline`.
fn offline(name: &str, bytes: &[u8], series: &DemandSeries, sha256: &str) -> Result<Vec<Verdict>, Failure> {
    let document: OfflineDocument = read_json(name, bytes)?;
    Ok(match StatedOffline::new(&document, series, sha256) {
        Ok(stated) => [vec![belonging(None)], stated.verdicts(&document, series, sha256)].concat(),
        Err(foreign) => vec![belonging(Some(foreign))],
    })
}

/// What is found of a result of `offline` for tasks.
fn task_offline(
    name: &str,
    bytes: &[u8],
    demands: TaskDemands<'_>,
    sha256: &str,
) -> Result<Vec<Verdict>, Failure> {
    let document: TaskOfflineDocument = read_json(name, bytes)?;
    let sha256 = [sha256, &files::sha256_hex(demands.instance())];
    let demands = match stated_measure(&document) {
        Ok(measure) => demands.measured_by(measure),
        Err(foreign) => return Ok(vec![belonging(Some(foreign))]),
    };
    Ok(match StatedTaskOffline::new(&document, &demands, sha256) {
        Ok(stated) => [vec![belonging(None)], stated.verdicts(&document, &demands, sha256)].concat(),
        Err(foreign) => vec![belonging(Some(foreign))],
    })
}

/// What is found of the result in `bytes`. The first property is that it belongs to the instance at all; if it does
/// not, there is nothing else to check.
fn verdicts(
    name: &str,
    bytes: Vec<u8>,
    format: &str,
    instance: &Instance,
    sha256: &str,
) -> Result<Vec<Verdict>, Failure> {
    let found = match format {
        "fairplan.solution.v1" => {
            let document: SolutionDocument = read_json(name, &bytes)?;
            let stated = StatedSolution::new(&document, instance, sha256);
            drop(document);
            drop(bytes); // Large results need the room.
            stated.map(|stated| stated.verdicts(instance))
        }
        "fairplan.placement.v1" => {
            let document: PlacementDocument = read_json(name, &bytes)?;
            let stated = StatedPlacement::new(&document, instance, sha256);
            stated.map(|stated| verify_placement(instance, &stated.claim()))
        }
        "fairplan.bound.v1" => {
            let document: BoundDocument = read_json(name, &bytes)?;
            let stated = StatedBracket::new(&document, instance, sha256);
            stated.map(|stated| stated.verdicts(instance))
        }
        "fairplan.proportional-bound.v1" => {
            let document: ProportionalBoundDocument = read_json(name, &bytes)?;
            let stated = StatedProportionalBracket::new(&document, instance, sha256);
            stated.map(|stated| stated.verdicts(instance))
        }
        other => {
            return Err(Failure::refused(format!(
                "{name}: format = {}: verify reads fairplan.solution.v1, fairplan.placement.v1, \
                 fairplan.bound.v1, fairplan.proportional-bound.v1 and fairplan.offline.v1",
                printable(other, 60)
            )));
        }
    };
    Ok(match found {
        Ok(found) => [vec![belonging(None)], found].concat(),
        Err(foreign) => vec![belonging(Some(foreign))],
    })
}

/// Whether the result belongs to the instance: same hash, same users and classes in the same order.
fn belonging(foreign: Option<Foreign>) -> Verdict {
    Verdict {
        property: "belongs-to-instance",
        holds: foreign.is_none(),
        residual: if foreign.is_none() { 0.0 } else { f64::INFINITY },
        tolerance: 0.0,
        witness: foreign.map(|foreign| foreign.to_string()).unwrap_or_default(),
    }
}
