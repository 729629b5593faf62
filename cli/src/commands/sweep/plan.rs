//! `sweep plan`: a specification becomes a list of tasks.

use super::failed::failed;
use crate::arguments::{CommonOptions, OutputArguments};
use crate::failure::Answer;
use crate::progress::tell;
use fairplan::Error;
use fairplan::instances::wording::counted;
use fairplan_sweeps::{Commands, Header, Specification, plan};

/// Make a list of tasks of a specification, one a line
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Values are a list, a range, seeds or the files that match a pattern. `parameters` are combined each with each, the last varying \
fastest; those of a group of `zip` go together, value by value. Paths are from where the command is run, as are those of tasks.

Example:
  printf 'command: solve\\narguments: [fig1.json]\\nparameters: {objective: [drfh, pf]}\\n' > s.yaml
  fairplan generate drfh-fig1 -o fig1.json
  fairplan sweep plan s.yaml -o sweep.jsonl")]
pub struct Arguments {
    /// The specification: YAML or JSON, or - for standard input
    spec: String,
    #[command(flatten)]
    output: OutputArguments,
}

/// Plans, writes.
pub fn run(arguments: Arguments, common: CommonOptions, swept: &dyn Commands) -> Result<Answer, Error> {
    let destination = arguments.output.lines()?;
    let specification = Specification::read(&arguments.spec).map_err(failed)?;
    let plan = plan(&specification, swept).map_err(failed)?;
    destination.write(|out| plan.write(out))?;
    let Header { tasks, parameters, inputs, .. } = plan.header();
    tell(common, || {
        let (tasks, read) = (counted(*tasks, "task", "tasks"), counted(inputs.len() as u64, "file", "files"));
        format!("{tasks} over {}; {read} read\n", parameters.join(", "))
    });
    Ok(Answer::Yes)
}
