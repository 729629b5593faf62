//! One command of the tasks, as far as it is the same in all of them, and the words that it becomes in each.

use crate::SweepError;
use crate::commands::{Argument, Commands, PIPE, Shape};
use crate::specification::Specification;
use crate::value::Value;

/// Said to every command that knows it.
pub(crate) const NO_TIMING: &str = "no-timing";

/// What the names of the parameters of a command begin with, once for each command that runs after it.
pub(crate) const EARLIER: &str = "from.";

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
            Self::new(said, EARLIER.repeat(last - position), commands)
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
        let untimed = knows && !is_said(NO_TIMING, &always);
        Ok(Self { said, arguments, prefix, always, untimed })
    }

    /// Whether an option is always said, whatever the parameters are.
    pub(crate) fn always_says(&self, option: &str) -> bool {
        is_said(option, &self.always)
    }

    /// Its words in a task: the command, positions that are parameters, what is always said, options that are parameters.
    pub(crate) fn words(&self, chosen: &[(&Argument, &Value)]) -> Vec<String> {
        let Chosen { positions, options } = Chosen::said(&self.arguments, chosen);
        let is_parameter = chosen.iter().any(|(argument, _)| argument.name == NO_TIMING);
        let untimed = (self.untimed && !is_parameter).then(|| format!("--{NO_TIMING}"));
        let always = self.always.iter().cloned();
        self.said
            .command
            .0
            .iter()
            .cloned()
            .chain(positions)
            .chain(always)
            .chain(options)
            .chain(untimed)
            .collect()
    }
}

/// The words that say parameters.
pub(crate) struct Chosen {
    /// Right behind the command, in its order and not in that of the specification.
    pub(crate) positions: Vec<String>,
    /// Behind what is always said.
    pub(crate) options: Vec<String>,
}

impl Chosen {
    /// Those of these values of arguments of a command.
    pub(crate) fn said(arguments: &[Argument], chosen: &[(&Argument, &Value)]) -> Self {
        let place = |name: &str| arguments.iter().position(|argument| argument.name == name);
        let (mut positions, others): (Vec<_>, Vec<_>) =
            chosen.iter().partition(|(argument, _)| argument.shape == Shape::Position);
        positions.sort_by_key(|(argument, _)| place(&argument.name));
        let option = |(argument, value): (&Argument, &Value)| match (argument.shape, value) {
            _ if is_unsaid(argument, value) => None,
            (Shape::Flag, Value::Answer(true)) => Some(format!("--{}", argument.name)),
            (_, value) => value.word().map(|word| format!("--{}={word}", argument.name)),
        };
        Self {
            positions: positions.into_iter().filter_map(|(_, value)| value.word()).collect(),
            options: others.into_iter().filter_map(option).collect(),
        }
    }
}

/// Whether a value of an argument is that it is not said.
pub(crate) fn is_unsaid(argument: &Argument, value: &Value) -> bool {
    matches!((argument.shape, value), (_, Value::Missing) | (Shape::Flag, Value::Answer(false)))
}

/// Whether an option stands among these words.
pub(crate) fn is_said(option: &str, words: &[String]) -> bool {
    let rest = |word: &String| word.strip_prefix("--")?.strip_prefix(option).map(str::to_owned);
    words.iter().filter_map(rest).any(|rest| rest.is_empty() || rest.starts_with('='))
}
