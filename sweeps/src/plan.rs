//! A specification becomes tasks: each parameter of the product with each, the last varying fastest. What the command does not
//! understand is named now, not by a thousand failed tasks.

use crate::SweepError;
use crate::axes::Axis;
use crate::commands::{Commands, PIPE, Role, typed};
use crate::inputs;
use crate::ordered::Ordered;
use crate::specification::Specification;
use crate::stage::Stage;
use crate::task::{FORMAT, Header, Input, Task};
use crate::value::Value;
use crate::words::words;
use fairplan_instances::FAIRPLAN_VERSION;
use fairplan_instances::wording::thousands;
use std::collections::HashMap;
use std::io::{self, Write};

/// Tasks in one list, at most.
const MOST_TASKS: usize = 10_000_000;

/// The tasks of a specification.
#[derive(Debug)]
pub struct Plan {
    header: Header,
    tasks: Vec<Task>,
}

/// Makes the tasks.
///
/// # Errors
/// A command or an option that is not known or not for sweeps, a value that the command does not take, a parameter without values,
/// groups of unequal length, an input that is not there, two tasks that are the same: each by name, after that of the specification.
pub fn plan(specification: &Specification, commands: &dyn Commands) -> Result<Plan, SweepError> {
    planned(specification, commands).map_err(|error| error.said_in(&specification.file))
}

fn planned(specification: &Specification, commands: &dyn Commands) -> Result<Plan, SweepError> {
    let stages = Stage::all(specification, commands)?;
    let axes = Axis::all(&stages)?;
    let count = axes.iter().try_fold(1_usize, |count, axis| count.checked_mul(axis.length));
    let count = count.filter(|count| *count <= MOST_TASKS).ok_or_else(|| {
        SweepError::refused(format!(
            "the product has more than {} tasks; make several sweeps",
            thousands(MOST_TASKS as u64)
        ))
    })?;
    let words = |choice: &[usize]| words(&stages, &axes, choice);
    let first = vec![0; axes.len()];
    let always = telling(commands, &axes, &words, &first)?;
    let mut planner = Inputs::default();
    // What is read because it is always said; what parameters say is read task by task.
    let is_swept = |given: &Given| {
        let of_stage = axes.iter().filter(|axis| axis.stage == given.stage);
        of_stage.flat_map(|axis| &axis.members).any(|member| member.argument.name == given.argument)
    };
    let mut fixed_inputs = Vec::new();
    for given in always.iter().filter(|given| !is_swept(given)) {
        fixed_inputs.push(planner.position(&given.path)?);
    }
    let parameters: Vec<String> = Axis::members(&axes).map(|member| member.name.clone()).collect();
    let mut tasks: Vec<Task> = Vec::with_capacity(count);
    let mut ids = HashMap::with_capacity(count);
    let mut choice = first;
    for index in 0..count {
        let chosen = || {
            axes.iter()
                .zip(&choice)
                .flat_map(|(axis, at)| axis.members.iter().map(move |member| (member, &member.values[*at])))
        };
        let mut inputs = fixed_inputs.clone();
        for (_, value) in chosen().filter(|(member, _)| member.argument.role == Role::Input) {
            match value {
                Value::Text(path) if path != STANDARD_INPUT => inputs.push(planner.position(path)?),
                _ => {}
            }
        }
        let arguments = words(&choice);
        let id =
            Task::id(&arguments, inputs.iter().map(|position| planner.inputs[*position].sha256.as_str()));
        if let Some(other) = ids.insert(id.clone(), index) {
            return Err(SweepError::refused(format!(
                "tasks {other} and {index} are the same: {}; state each value once",
                typed(&arguments)
            )));
        }
        let parameters =
            Ordered(chosen().map(|(member, value)| (member.name.clone(), value.clone())).collect());
        tasks.push(Task { id, arguments, inputs, parameters });
        advance(&mut choice, &axes);
    }
    let header = Header {
        format: FORMAT.into(),
        fairplan_version: FAIRPLAN_VERSION.into(),
        tasks: count as u64,
        parameters,
        inputs: planner.inputs,
    };
    Ok(Plan { header, tasks })
}

/// What the command before writes, as an input is named.
const STANDARD_INPUT: &str = "-";

impl Plan {
    /// What heads the list.
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// The tasks in order.
    pub fn tasks(&self) -> &[Task] {
        &self.tasks
    }

    /// Writes the list: the header, then a task a line.
    ///
    /// # Errors
    /// What the system says.
    pub fn write(&self, out: &mut impl Write) -> io::Result<()> {
        serde_json::to_writer(&mut *out, &self.header)?;
        out.write_all(b"\n")?;
        for task in &self.tasks {
            serde_json::to_writer(&mut *out, task)?;
            out.write_all(b"\n")?;
        }
        Ok(())
    }
}

/// A file that the words of a task name, and the command to which they name it.
struct Given {
    stage: usize,
    argument: String,
    path: String,
}

/// Asks the commands whether these words can be meant; the files that they name.
fn checked(commands: &dyn Commands, words: &[String], place: &str) -> Result<Vec<Given>, SweepError> {
    let mut all = Vec::new();
    for (stage, part) in words.split(|word| word == PIPE).enumerate() {
        let given = commands
            .check(part, stage > 0)
            .map_err(|problem| SweepError::refused(format!("{place}{}: {problem}", typed(words))))?;
        all.extend(given.into_iter().map(|crate::Given { argument, path }| Given { stage, argument, path }));
    }
    Ok(all)
}

/// Asks the commands about each telling value of each parameter, the others at their first. Returns the files that the first task
/// names.
fn telling(
    commands: &dyn Commands,
    axes: &[Axis<'_>],
    words: &dyn Fn(&[usize]) -> Vec<String>,
    first: &[usize],
) -> Result<Vec<Given>, SweepError> {
    let given = checked(commands, &words(first), "")?;
    for (position, axis) in axes.iter().enumerate() {
        for member in &axis.members {
            for at in member.written.telling(axis.length) {
                let mut choice = first.to_vec();
                choice[position] = at;
                let value = member.values[at].word().unwrap_or("null".into());
                checked(commands, &words(&choice), &format!("parameter {} = {value}: ", member.name))?;
            }
        }
    }
    Ok(given)
}

/// The next choice: the last axis varies fastest.
fn advance(choice: &mut [usize], axes: &[Axis<'_>]) {
    for (at, axis) in choice.iter_mut().zip(axes).rev() {
        *at += 1;
        if *at < axis.length {
            return;
        }
        *at = 0;
    }
}

/// Inputs in the order in which they are first read, each hashed once.
#[derive(Default)]
struct Inputs {
    inputs: Vec<Input>,
    positions: HashMap<String, usize>,
}

impl Inputs {
    fn position(&mut self, path: &str) -> Result<usize, SweepError> {
        if let Some(position) = self.positions.get(path) {
            return Ok(*position);
        }
        let position = self.inputs.len();
        self.inputs.push(Input { path: path.to_owned(), sha256: inputs::sha256(path)? });
        self.positions.insert(path.to_owned(), position);
        Ok(position)
    }
}
