//! `verify`: a result held against its instance, from the two files alone.

use crate::arguments::{CommonOptions, OutputArguments};
use crate::failure::Answer;
use crate::input::{InstanceSource, TableArguments};
use crate::progress::{self, tell};
use fairplan::files::Rounding;
use fairplan::report::output::Destination;
use fairplan::report::{summary, write_json};
use fairplan::{Control, Deadline, Document, Error, Instance, ResultFile, TaskDemands, Verification, read};

/// Check a result of solve, place, bound, plan move, export or offline in exact arithmetic, or the costs of plan buy and growth, from the two files alone
#[derive(Debug, clap::Args)]
#[command(
    override_usage = "fairplan verify [OPTIONS] <INSTANCE> <RESULT>\n       \
                      fairplan verify [OPTIONS] --servers <FILE> --users <FILE> <RESULT>\n       \
                      fairplan verify [OPTIONS] <DEMANDS> <RESULT>",
    after_help = "\
The exit status is 0 if every property holds, 1 if one fails, 2 if a file is no valid instance or result, or a result was written \
without what is checked.

Example: fairplan generate drfh-fig1 -o fig1.json && fairplan solve fig1.json -o solution.json
         fairplan verify fig1.json solution.json
         fairplan verify cluster.json solution.json --exported quotas.yaml"
)]
pub struct Arguments {
    /// The instance and the result (fairplan.solution.v1, fairplan.bound.v1, fairplan.moves.v1, fairplan.export.v1, or fairplan.placement.v1
    /// with its servers; a fairplan.plan.v1 or fairplan.growth.v1 for what they say of costs); or the demands and a fairplan.offline.v1 with its quanta
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
    /// Hold this file too, which export wrote (a configuration or a fairplan.export.v1), against RESULT: whether it names its solution and
    /// has the amounts that follow from it
    #[arg(long, value_name = "FILE")]
    exported: Option<String>,
    #[command(flatten)]
    output: OutputArguments,
}

struct Job {
    source: InstanceSource,
    members: Option<String>,
    instance: Option<String>,
    result: String,
    exported: Option<String>,
    destination: Destination,
}

impl TryFrom<Arguments> for Job {
    type Error = Error;
    fn try_from(arguments: Arguments) -> Result<Self, Error> {
        let mut files = arguments.files.into_iter();
        let (instance, result) = match (files.next(), files.next()) {
            (Some(instance), Some(result)) => (Some(instance), result),
            (Some(result), None) if arguments.tables.are_named() => (None, result),
            _ => return Err(Error::input("name the INSTANCE and the RESULT to check")),
        };
        let source = InstanceSource::new(instance, arguments.tables)?;
        if result == "-" && source.takes_standard_input() {
            return Err(Error::input("only one of INSTANCE and RESULT can be standard input"));
        }
        let (members, instance) = (arguments.members, arguments.instance);
        let exported = arguments.exported;
        Ok(Self { source, members, instance, result, exported, destination: arguments.output.destination()? })
    }
}

/// Reads both, checks, writes.
pub fn run(arguments: Arguments, common: CommonOptions) -> Result<Answer, Error> {
    let job = Job::try_from(arguments)?;
    let result = read::result(&job.result)?;
    let exported = |instance: Option<&Instance>, result: &ResultFile| {
        job.exported.as_ref().map(|file| fairplan::exported_from(instance, result, file)).transpose()
    };
    let (verified, exported) = if result.is_offline() {
        (job.verify_offline(&result, common)?, exported(None, &result)?)
    } else {
        let instance = job.source.read()?;
        let exported = exported(Some(&instance), &result)?;
        let verified = |control: &Control<'_>| fairplan::verify(&instance, result, control);
        (progress::under(common, Deadline::never(), verified)?, exported)
    };
    let document = Document::new(match exported {
        Some(found) => found.added_to(verified),
        None => verified,
    });
    job.destination.write(|out| write_json(out, &document))?;
    tell(common, || summary::verification(&document));
    Ok(Answer::yes_if(document.holds))
}

impl Job {
    /// A result of `offline`, held against its demands, and against the instance if they are tasks.
    fn verify_offline(&self, result: &ResultFile, common: CommonOptions) -> Result<Verification, Error> {
        let InstanceSource::Json(path) = &self.source else {
            return Err(Error::input("a result of offline is held against its demands: name their file"));
        };
        let (series, named) = read::series(path, self.members.as_deref(), Rounding::Refused)?;
        let instance = self.instance.as_ref().or(named.as_ref());
        let instance = instance.map(|path| read::instance(path)).transpose()?;
        let tasks = instance.as_ref().map(|instance| TaskDemands::new(instance, &series)).transpose();
        let tasks = tasks.map_err(|violation| violation.in_file(path))?;
        progress::under(common, Deadline::never(), |control| match &tasks {
            None => fairplan::verify_offline(&series, result, control),
            Some(tasks) => fairplan::verify_offline_tasks(tasks, result, control),
        })
    }
}
