//! What changes independently of each other in the tasks: parameters, and groups of parameters that go together.

use crate::SweepError;
use crate::commands::{Argument, PIPE, Role, Shape};
use crate::specification::Values;
use crate::stage::{Stage, is_unsaid};
use crate::value::Value;
use fairplan_instances::wording::did_you_mean;
use std::collections::HashSet;

/// Parameters that change together; one alone, or those of a group.
pub(crate) struct Axis<'a> {
    /// Which of the commands they are said to.
    pub(crate) stage: usize,
    pub(crate) members: Vec<Member<'a>>,
    pub(crate) length: usize,
}

/// One parameter: the argument that says it, and its values.
pub(crate) struct Member<'a> {
    /// As the table calls it.
    pub(crate) name: String,
    pub(crate) argument: &'a Argument,
    pub(crate) written: &'a Values,
    pub(crate) values: Vec<Value>,
}

impl<'a> Axis<'a> {
    /// Those of all commands in the order in which they run; of each its parameters, then its groups.
    pub(crate) fn all(stages: &'a [Stage<'a>]) -> Result<Vec<Self>, SweepError> {
        let mut axes = Vec::new();
        for (position, stage) in stages.iter().enumerate() {
            let first = axes.len();
            Self::of_stage(position, stage, &mut axes)?;
            in_order(&axes[first..], stage)?;
        }
        if axes.is_empty() {
            return Err(SweepError::refused(
                "the specification names no parameters; state some, such as {seed: {seeds: 10}}",
            ));
        }
        Ok(axes)
    }

    fn of_stage(position: usize, stage: &'a Stage<'a>, axes: &mut Vec<Self>) -> Result<(), SweepError> {
        let mut names = HashSet::new();
        let mut member =
            |(name, written): &'a (String, Values)| Member::new(stage, name, written, &mut names);
        for parameter in &stage.said.parameters.0 {
            let member = member(parameter)?;
            axes.push(Self { stage: position, length: member.values.len(), members: vec![member] });
        }
        for group in &stage.said.zip.0 {
            let members: Vec<Member<'_>> = group.0.iter().map(&mut member).collect::<Result<_, _>>()?;
            let Some(first) = members.first() else {
                return Err(SweepError::refused("zip: a group names no parameters"));
            };
            if let Some(other) = members.iter().find(|member| member.values.len() != first.values.len()) {
                let (name, count) = (&first.name, first.values.len());
                let problem =
                    format!("{name} has {count} values, and {} has {}", other.name, other.values.len());
                return Err(SweepError::refused(format!(
                    "zip: {problem}; what goes together has equally many"
                )));
            }
            axes.push(Self { stage: position, length: first.values.len(), members });
        }
        Ok(())
    }

    /// Every parameter in order.
    pub(crate) fn members<'b>(axes: &'b [Self]) -> impl Iterator<Item = &'b Member<'a>> {
        axes.iter().flat_map(|axis| &axis.members)
    }
}

impl<'a> Member<'a> {
    fn new(
        stage: &'a Stage<'a>,
        name: &'a str,
        written: &'a Values,
        names: &mut HashSet<&'a str>,
    ) -> Result<Self, SweepError> {
        let shown = format!("{}{name}", stage.prefix);
        let refused = |problem: String| SweepError::refused(format!("parameter {shown}: {problem}"));
        if !names.insert(name) {
            return Err(refused("is named twice".into()));
        }
        let values = written.all(&shown)?;
        let Some(argument) = stage.arguments.iter().find(|argument| argument.name == name) else {
            let known = stage.arguments.iter().filter(|argument| !matches!(argument.role, Role::Refused(_)));
            let meant = did_you_mean(name, known.map(|argument| argument.name.as_str()));
            let command = stage.said.command.0.join(" ");
            return Err(refused(format!(
                "{command} has no such option{meant}; see fairplan {command} --help"
            )));
        };
        if let Role::Refused(why) = argument.role {
            return Err(refused(why.into()));
        }
        if stage.always_says(name) && values.iter().any(|value| is_unsaid(argument, value)) {
            return Err(refused("arguments say it always; leave it out there".into()));
        }
        let is_pipe = |value: &Value| matches!(value, Value::Text(text) if text == PIPE);
        if argument.shape == Shape::Position && values.iter().any(is_pipe) {
            return Err(refused("| is no argument; state the command before it under from".into()));
        }
        Ok(Self { name: shown, argument, written, values })
    }
}

/// What is always said comes behind positions that are parameters, so it cannot stand in a position before one.
fn in_order(axes: &[Axis<'_>], stage: &Stage<'_>) -> Result<(), SweepError> {
    let swept = |name: &str| Axis::members(axes).find(|member| member.argument.name == name);
    let mut before = None;
    for argument in stage.arguments.iter().filter(|argument| argument.shape == Shape::Position) {
        match (before, swept(&argument.name)) {
            (None, None) => before = Some(&argument.name),
            (Some(before), Some(member)) => {
                let problem = format!("stands behind {before}, which is no parameter");
                let todo = format!("make {before} a parameter too, with one value");
                return Err(SweepError::refused(format!("parameter {}: {problem}; {todo}", member.name)));
            }
            _ => {}
        }
    }
    Ok(())
}
