//! `audit`: the fairness properties that an objective has on an instance, with a witness for each that fails.

use crate::arguments::{CommonOptions, OutputArguments, TimeLimit, backend_name};
use crate::failure::{Answer, what_there_is};
use crate::input::{InstanceArguments, InstanceSource};
use crate::progress::{self, tell, warn};
use fairplan::report::{summary, write_json};
use fairplan::{Audit, AuditOptions, Audited, Control, Document, Error, Objective};
use std::io::Write;

/// Test the fairness properties of an objective on an instance, with a witness for each that fails
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Envy-freeness, Pareto optimality, sharing incentive, truthfulness and the others of DRFH Sec. III-C are tested on the \
instance itself and on variants of it: a user misreports or leaves, a server is added. What is found is exact for the \
instance; that nothing is found says what was searched, not that nothing exists. The result is fairplan.audit.v1; with \
--all one line an objective. The exit status is 1 if a property fails.

Example: fairplan generate drfh-fig1 | fairplan audit - --objective drfh")]
pub struct Arguments {
    #[command(flatten)]
    pub instance: InstanceArguments,
    /// What is fair: drfh, pf, alpha=A, utilitarian, tsf, bmf, drf or drf-per-server
    #[arg(long, value_name = "NAME", default_value = "drfh")]
    objective: Objective,
    /// Every objective that the instance can have, alpha=2 among them
    #[arg(long, conflicts_with = "objective")]
    all: bool,
    /// How many users misreport, leave and are asked for envy, evenly spread over the instance
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..))]
    users_searched: u32,
    /// Seed of the servers dealt out to compare with sharing
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,
    /// How to solve: auto (aggregation, else interior point), ipm (interior point) or highs (simplex)
    #[arg(long, value_name = "NAME", default_value = "auto", value_parser = backend_name)]
    backend: String,
    #[command(flatten)]
    time_limit: TimeLimit,
    #[command(flatten)]
    output: OutputArguments,
}

/// Reads, tests each objective, writes.
pub fn run(arguments: Arguments, common: CommonOptions) -> Result<Answer, Error> {
    let source = InstanceSource::try_from(arguments.instance)?;
    let (of, destination) = match arguments.all {
        true => (AuditOptions::every_objective(), arguments.output.lines()?),
        false => {
            let objectives = vec![arguments.objective];
            (AuditOptions { objectives, ..Default::default() }, arguments.output.destination()?)
        }
    };
    let Arguments { seed, backend, .. } = arguments;
    let options = AuditOptions { users: arguments.users_searched as usize, seed, backend, ..of };
    let instance = source.read()?;
    warn(common, &instance);
    let audit = |control: &Control<'_>| fairplan::audit(&instance, &options, control);
    let outcome = progress::under(common, arguments.time_limit.deadline(), audit);
    let (Audited { audits, left_out }, end) = what_there_is(outcome)?;
    let documents: Vec<Document<Audit>> = audits.into_iter().map(Document::new).collect();
    destination.write(|out| match &documents[..] {
        [only] if !arguments.all => write_json(out, only),
        several => several.iter().try_for_each(|document| {
            serde_json::to_writer(&mut *out, document)?;
            out.write_all(b"\n")
        }),
    })?;
    tell(common, || summary::audits(&documents));
    tell(common, || {
        left_out.iter().map(|(objective, reason)| format!("{objective} is left out: {reason}\n")).collect()
    });
    end.map(|_| Answer::yes_if(documents.iter().all(|document| document.holds())))
}
