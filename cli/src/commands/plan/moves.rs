//! `plan move`: the steps from the placement that is to a better one.

use crate::arguments::{CommonOptions, OutputArguments, ResultFormat, TimeLimit};
use crate::failure::Answer;
use crate::input::{InstanceArguments, InstanceSource};
use crate::progress::{self, tell, warn_of_whole_tasks};
use fairplan::instances::table::Tabular;
use fairplan::report::summary;
use fairplan::{Control, Document, Error, MoveTarget, MovesOptions, read};

/// Find the fewest moves from the present placement to a better one, in an order in which each can be made
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Every step is made only where there is room at that moment. Moving or stopping a task costs 1 unless --cost says otherwise, \
starting one nothing; the result says what any steps that lead as far cost at least, with a proof that `verify` checks. The result \
is a fairplan.moves.v1, its table a row a step. The exit status is 1 if the steps found do not lead all the way.

Example: fairplan generate drfh-fig1 -o fig1.json
         fairplan place fig1.json --policy first-fit --servers-out -o now.json
         fairplan plan move fig1.json --from now.json --level 1")]
pub struct Arguments {
    #[command(flatten)]
    pub instance: InstanceArguments,
    /// What runs where now: a fairplan.placement.v1 with its servers, as `import kubernetes --placement-out` or `place
    /// --servers-out` writes it
    #[arg(long, value_name = "PLACEMENT")]
    from: String,
    /// Reach this placement
    #[arg(long, value_name = "PLACEMENT", conflicts_with_all = ["level", "unplaced"])]
    to: Option<String>,
    /// Reach this part of the highest level that whole tasks can have, above 0 and at most 1; users with more than that may have to
    /// stop tasks
    #[arg(long, value_name = "PART", conflicts_with = "unplaced", allow_negative_numbers = true)]
    level: Option<f64>,
    /// Place as many of the tasks that wait as can be, while all that run stay on (the default)
    #[arg(long)]
    unplaced: bool,
    /// Users whose running tasks stay where they are
    #[arg(long, value_name = "USER", num_args = 1..)]
    keep: Vec<String>,
    /// Servers whose running tasks stay where they are; others may come
    #[arg(long, value_name = "SERVER", num_args = 1..)]
    keep_server: Vec<String>,
    /// What moving or stopping a task of a user costs, instead of 1: trainer=5,web=2
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    cost: Vec<String>,
    #[command(flatten)]
    time_limit: TimeLimit,
    /// Write the whole result (json), or the table of steps
    /// (default: as the ending of -o FILE says, else json)
    #[arg(long, value_enum, value_name = "FORMAT")]
    format: Option<ResultFormat>,
    #[command(flatten)]
    output: OutputArguments,
}

fn costs(list: &[String]) -> Result<Vec<(String, u64)>, Error> {
    let cost = |text: &String| {
        let parsed = text.rsplit_once('=').and_then(|(id, cost)| Some((id.to_owned(), cost.parse().ok()?)));
        parsed.ok_or_else(|| Error::input(format!("--cost {text}: say USER=COST, the cost a whole number")))
    };
    list.iter().map(cost).collect()
}

/// Reads, looks for steps, writes.
pub fn run(arguments: Arguments, common: CommonOptions) -> Result<Answer, Error> {
    let output = arguments.output.result(arguments.format)?;
    let source: InstanceSource = arguments.instance.try_into()?;
    let from_input =
        [Some(&arguments.from), arguments.to.as_ref()].into_iter().flatten().filter(|path| *path == "-");
    if from_input.count() + usize::from(source.takes_standard_input()) > 1 {
        return Err(Error::input("only one of INSTANCE, --from and --to can be standard input"));
    }
    let deadline = arguments.time_limit.deadline();
    let costs = costs(&arguments.cost)?;
    let instance = source.read()?;
    let target = match (&arguments.to, arguments.level) {
        (Some(path), _) => MoveTarget::Placement(read::result(path)?),
        (None, Some(part)) => MoveTarget::Level(part),
        (None, None) => MoveTarget::Unplaced,
    };
    let options = MovesOptions {
        target,
        keep_users: arguments.keep,
        keep_servers: arguments.keep_server,
        costs,
        ..MovesOptions::new(read::result(&arguments.from)?)
    };
    warn_of_whole_tasks(common, &instance);
    let found = |control: &Control<'_>| fairplan::moves(&instance, &options, control);
    let document = Document::new(progress::under(common, deadline, found)?);
    output.write(&document, || document.table())?;
    tell(common, || summary::moves(&document));
    Ok(Answer::yes_if(document.target.reached))
}
