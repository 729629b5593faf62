//! One command of the tasks, as far as it is the same in all of them, and the words that it becomes in each.

use crate::SweepError;
use crate::commands::{Argument, Commands, PIPE, Shape};
use crate::specification::Specification;
use crate::value::Value;

/// Said to every command that knows it.
const NO_TIMING: &str = "no-timing";

/// A command, what can be said to it, and what always is.
pub(crate) struct Stage<'a> {
    pub(crate) said: &'a Specification,
    pub(crate) arguments: Vec<Argument>,
    /// What the names of its parameters begin with.
    pub(crate) prefix: String,
    always: Vec<String>,
    /// Whether it is told to leave out the seconds too, so that results are the same to the byte.
    untimed: bool,
}

impl<'a> Stage<'a> {
    /// The commands of a specification in the order in which they run.
    pub(crate) fn all(
        specification: &'a Specification,
        commands: &dyn Commands,
    ) -> Result<Vec<Self>, SweepError> {
        let stages = specification.stages();
        let last = stages.len() - 1;
        let stage = |(position, said): (usize, &&'a Specification)| {
            Self::new(said, "from.".repeat(last - position), commands)
        };
        stages.iter().enumerate().map(stage).collect()
    }

    fn new(said: &'a Specification, prefix: String, commands: &dyn Commands) -> Result<Self, SweepError> {
        let refused = |problem: &str| Err(SweepError::refused(format!("{prefix}{problem}")));
        let command = &said.command.0;
        if command.is_empty() {
            return refused("command: names none; state what is run, such as solve");
        }
        let arguments = commands
            .arguments(command)
            .map_err(|problem| SweepError::refused(format!("{prefix}{problem}")))?;
        let always: Vec<String> = said.arguments.iter().filter_map(Value::word).collect();
        if always.iter().any(|word| word == PIPE) {
            return refused("arguments: | is no argument; state the command before it under from");
        }
        let knows = arguments.iter().any(|argument| argument.name == NO_TIMING);
        let untimed = knows && !always.contains(&format!("--{NO_TIMING}"));
        Ok(Self { said, arguments, prefix, always, untimed })
    }

    /// Where an argument stands among those of the command.
    fn place(&self, name: &str) -> usize {
        self.arguments.iter().position(|argument| argument.name == name).unwrap_or(self.arguments.len())
    }

    /// Its words in a task: the command, positions that are parameters, what is always said, options that are parameters.
    pub(crate) fn words(&self, chosen: &[(&Argument, &Value)]) -> Vec<String> {
        let mut words = self.said.command.0.clone();
        // In the order of the command, not in that of the specification.
        let mut positions: Vec<_> =
            chosen.iter().filter(|(argument, _)| argument.shape == Shape::Position).collect();
        positions.sort_by_key(|(argument, _)| self.place(&argument.name));
        words.extend(positions.into_iter().filter_map(|(_, value)| value.word()));
        words.extend_from_slice(&self.always);
        for (argument, value) in chosen {
            match (argument.shape, value) {
                (Shape::Position, _) | (_, Value::Missing) | (Shape::Flag, Value::Answer(false)) => {}
                (Shape::Flag, Value::Answer(true)) => words.push(format!("--{}", argument.name)),
                (Shape::Option | Shape::Flag, value) => {
                    words.push(format!("--{}={}", argument.name, value.word().unwrap_or_default()));
                }
            }
        }
        if self.untimed {
            words.push(format!("--{NO_TIMING}"));
        }
        words
    }
}
