//! A specification becomes tasks: each parameter of the product with each, the last varying fastest. What the command does not
//! understand is named now, not by a thousand failed tasks.

use crate::SweepError;
use crate::commands::{Argument, Commands, Role, Shape};
use crate::inputs;
use crate::ordered::Ordered;
use crate::specification::{Specification, Values};
use crate::task::{FORMAT, Header, Input, Task};
use crate::value::Value;
use fairplan_instances::FAIRPLAN_VERSION;
use fairplan_instances::wording::{did_you_mean, thousands};
use std::collections::{HashMap, HashSet};
use std::io::{self, Write};

/// Tasks in one list, at most.
const MOST_TASKS: usize = 10_000_000;

/// Said to every command that knows it, so that results are the same to the byte.
const NO_TIMING: &str = "no-timing";

/// The tasks of a specification.
#[derive(Debug)]
pub struct Plan {
    header: Header,
    tasks: Vec<Task>,
}

/// Parameters that change together; one alone, or those of a group.
struct Axis<'a> {
    members: Vec<Member<'a>>,
    length: usize,
}

/// One parameter: the argument that says it, and its values.
struct Member<'a> {
    name: &'a str,
    argument: &'a Argument,
    written: &'a Values,
    values: Vec<Value>,
}

/// Makes the tasks.
///
/// # Errors
/// A command or an option that is not known or not for sweeps, a value that the command does not take, a parameter without values,
/// groups of unequal length, an input that is not there, two tasks that are the same: each by name.
pub fn plan(specification: &Specification, commands: &dyn Commands) -> Result<Plan, SweepError> {
    let command = &specification.command.0;
    if command.is_empty() {
        return Err(SweepError::refused("command: names none; state what is run, such as solve"));
    }
    let arguments = commands.arguments(command).map_err(SweepError::Refused)?;
    let axes = axes(specification, &arguments)?;
    in_order(&axes, &arguments)?;
    let count = axes.iter().try_fold(1_usize, |count, axis| count.checked_mul(axis.length));
    let count = count.filter(|count| *count <= MOST_TASKS).ok_or_else(|| {
        SweepError::refused(format!(
            "the product has more than {} tasks; make several sweeps",
            thousands(MOST_TASKS as u64)
        ))
    })?;
    let fixed: Vec<String> = specification.arguments.iter().filter_map(Value::word).collect();
    let timing = arguments.iter().any(|argument| argument.name == NO_TIMING);
    let untimed = timing && !fixed.iter().any(|word| word == "--no-timing");
    let words = |choice: &[usize]| words(command, &arguments, &fixed, untimed, &axes, choice);
    let first = vec![0; axes.len()];
    let always = telling(commands, &axes, &words, &first)?;
    let mut planner = Inputs::default();
    // What is read because it is always said; what parameters say is read task by task.
    let swept =
        |name: &str| axes.iter().flat_map(|axis| &axis.members).any(|member| member.argument.name == name);
    let mut fixed_inputs = Vec::new();
    for given in always.iter().filter(|given| !swept(&given.argument)) {
        fixed_inputs.push(planner.position(&given.path)?);
    }
    let parameters: Vec<String> = members(&axes).map(|member| member.name.to_owned()).collect();
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
            if let Value::Text(path) = value {
                inputs.push(planner.position(path)?);
            }
        }
        let arguments = words(&choice);
        let id =
            Task::id(&arguments, inputs.iter().map(|position| planner.inputs[*position].sha256.as_str()));
        if let Some(other) = ids.insert(id.clone(), index) {
            return Err(SweepError::refused(format!(
                "tasks {other} and {index} are the same: {}; state each value once",
                arguments.join(" ")
            )));
        }
        let parameters =
            Ordered(chosen().map(|(member, value)| (member.name.to_owned(), value.clone())).collect());
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

fn members<'a, 'b>(axes: &'b [Axis<'a>]) -> impl Iterator<Item = &'b Member<'a>> {
    axes.iter().flat_map(|axis| &axis.members)
}

/// What changes independently of each other: parameters, then groups, in the order of the specification.
fn axes<'a>(
    specification: &'a Specification,
    arguments: &'a [Argument],
) -> Result<Vec<Axis<'a>>, SweepError> {
    let mut names = HashSet::new();
    let mut member = |(name, written): &'a (String, Values)| {
        if !names.insert(name.as_str()) {
            return Err(SweepError::refused(format!("parameter {name}: is named twice")));
        }
        let values = written.all(name)?;
        Ok(Member { name, argument: argument(name, &specification.command.0, arguments)?, written, values })
    };
    let mut axes = Vec::new();
    for parameter in &specification.parameters.0 {
        let member = member(parameter)?;
        axes.push(Axis { length: member.values.len(), members: vec![member] });
    }
    for group in &specification.zip.0 {
        let members: Vec<Member<'_>> = group.0.iter().map(&mut member).collect::<Result<_, _>>()?;
        let Some(first) = members.first() else {
            return Err(SweepError::refused("zip: a group names no parameters"));
        };
        if let Some(other) = members.iter().find(|member| member.values.len() != first.values.len()) {
            let (name, count) = (first.name, first.values.len());
            let problem = format!("{name} has {count} values, and {} has {}", other.name, other.values.len());
            return Err(SweepError::refused(format!("zip: {problem}; what goes together has equally many")));
        }
        axes.push(Axis { length: first.values.len(), members });
    }
    if axes.is_empty() {
        return Err(SweepError::refused(
            "the specification names no parameters; state some, such as {seed: {seeds: 10}}",
        ));
    }
    Ok(axes)
}

/// The argument that a parameter is named after.
fn argument<'a>(
    name: &str,
    command: &[String],
    arguments: &'a [Argument],
) -> Result<&'a Argument, SweepError> {
    let Some(argument) = arguments.iter().find(|argument| argument.name == name) else {
        let known = arguments.iter().filter(|argument| !matches!(argument.role, Role::Refused(_)));
        let meant = did_you_mean(name, known.map(|argument| argument.name.as_str()));
        let command = command.join(" ");
        return Err(SweepError::refused(format!(
            "parameter {name}: {command} has no such option{meant}; see fairplan {command} --help"
        )));
    };
    match argument.role {
        Role::Refused(why) => Err(SweepError::refused(format!("parameter {name}: {why}"))),
        _ => Ok(argument),
    }
}

/// Where an argument stands among those of the command.
fn place(arguments: &[Argument], name: &str) -> usize {
    arguments.iter().position(|argument| argument.name == name).unwrap_or(arguments.len())
}

/// What is always said comes behind positions that are parameters, so it cannot stand in a position before one.
fn in_order(axes: &[Axis<'_>], arguments: &[Argument]) -> Result<(), SweepError> {
    let is_swept = |name: &str| members(axes).any(|member| member.argument.name == name);
    let mut before = None;
    for argument in arguments.iter().filter(|argument| argument.shape == Shape::Position) {
        match (before, is_swept(&argument.name)) {
            (None, false) => before = Some(&argument.name),
            (Some(before), true) => {
                let problem = format!("stands behind {before}, which is no parameter");
                let todo = format!("make {before} a parameter too, with one value");
                return Err(SweepError::refused(format!("parameter {}: {problem}; {todo}", argument.name)));
            }
            _ => {}
        }
    }
    Ok(())
}

/// The words of a task: the command, positions that are parameters, what is always said, options that are parameters.
fn words(
    command: &[String],
    arguments: &[Argument],
    fixed: &[String],
    untimed: bool,
    axes: &[Axis<'_>],
    choice: &[usize],
) -> Vec<String> {
    let mut words = command.to_vec();
    let chosen = || {
        axes.iter().zip(choice).flat_map(|(axis, at)| {
            axis.members.iter().map(move |member| (member.argument, &member.values[*at]))
        })
    };
    // In the order of the command, not in that of the specification.
    let mut positions: Vec<_> = chosen().filter(|(argument, _)| argument.shape == Shape::Position).collect();
    positions.sort_by_key(|(argument, _)| place(arguments, &argument.name));
    words.extend(positions.into_iter().filter_map(|(_, value)| value.word()));
    words.extend_from_slice(fixed);
    for (argument, value) in chosen() {
        match (argument.shape, value) {
            (Shape::Position, _) | (_, Value::Missing) | (Shape::Flag, Value::Answer(false)) => {}
            (Shape::Flag, Value::Answer(true)) => words.push(format!("--{}", argument.name)),
            (Shape::Option | Shape::Flag, value) => {
                words.push(format!("--{}={}", argument.name, value.word().unwrap_or_default()));
            }
        }
    }
    if untimed {
        words.push(format!("--{NO_TIMING}"));
    }
    words
}

/// Asks the command about each telling value of each parameter, the others at their first. Returns the files that the first task
/// names.
fn telling(
    commands: &dyn Commands,
    axes: &[Axis<'_>],
    words: &dyn Fn(&[usize]) -> Vec<String>,
    first: &[usize],
) -> Result<Vec<crate::Given>, SweepError> {
    let refused = |at: String, words: &[String], problem: String| {
        SweepError::refused(format!("{at}fairplan {}: {problem}", words.join(" ")))
    };
    let line = words(first);
    let given = commands.check(&line).map_err(|problem| refused(String::new(), &line, problem))?;
    for (position, axis) in axes.iter().enumerate() {
        for member in &axis.members {
            for at in member.written.telling(axis.length) {
                let mut choice = first.to_vec();
                choice[position] = at;
                let line = words(&choice);
                let place = || {
                    format!(
                        "parameter {} = {}: ",
                        member.name,
                        member.values[at].word().unwrap_or("null".into())
                    )
                };
                commands.check(&line).map_err(|problem| refused(place(), &line, problem))?;
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
