//! `entitlements`: what production schedulers' rules promise, beside exact DRFH.

use crate::arguments::{CommonOptions, OutputArguments, ResultFormat};
use crate::failure::Answer;
use crate::input::{InstanceArguments, InstanceSource};
use crate::progress::{self, tell, warn};
use fairplan::instances::table::Tabular;
use fairplan::report::summary;
use fairplan::{Control, Deadline, Document, Error, Instance, Quotas, read};

/// Show what the rules of YARN, Kueue and Volcano and hierarchical DRF entitle users to, beside exact DRFH
#[derive(Debug, clap::Args)]
#[command(after_help = "\
These rules see all servers as one pool: they measure against the cluster's totals, and every class is open to all.
  yarn-drf            the least usage of a dominant resource over its weight is served first
  hdrf                the same, a group's usage counting once its members are scaled down to the one that has least
  kueue               that of yarn-drf, of what is used above the nominal quota; without --quotas a quota is the weight's part
                      of the pool, and the rule is that of YARN
  volcano-proportion  each resource by itself in proportion to the weights; tasks run as far as every part goes
Shares are of the cluster's total of the user's dominant resource. `kept` is the largest part of a rule's promises that the \
servers can give to all users at once. The result is a fairplan.entitlements.v1.

Example: fairplan generate drfh-fig1 | fairplan entitlements -")]
pub struct Arguments {
    #[command(flatten)]
    pub instance: InstanceArguments,
    /// Nominal quotas for Kueue: an instance as `import kueue` writes it, where the guarantee of the user or group of the same
    /// name counts; a user who is not there has none
    #[arg(long, value_name = "INSTANCE")]
    quotas: Option<String>,
    /// Write the whole result (json), or the table of users
    /// (default: as the ending of -o FILE says, else json)
    #[arg(long, value_enum, value_name = "FORMAT")]
    format: Option<ResultFormat>,
    #[command(flatten)]
    output: OutputArguments,
}

/// Reads, computes what each rule promises, writes.
pub fn run(arguments: Arguments, common: CommonOptions) -> Result<Answer, Error> {
    let source = InstanceSource::try_from(arguments.instance)?;
    let output = arguments.output.result(arguments.format)?;
    let instance = source.read()?;
    let quotas = arguments.quotas.map(|path| quotas(&instance, &path)).transpose()?;
    warn(common, &instance);
    let entitled = |control: &Control<'_>| fairplan::entitlements(&instance, quotas.as_ref(), control);
    let document = Document::new(progress::under(common, Deadline::never(), entitled)?);
    output.write(&document, || document.table())?;
    tell(common, || summary::heading(&instance) + &summary::entitlements(&document));
    Ok(Answer::Yes)
}

fn quotas(instance: &Instance, path: &str) -> Result<Quotas, Error> {
    let queues = read::instance(path)?;
    Quotas::new(instance, &queues).map_err(|problem| Error::input(format!("{path}: {problem}")))
}
