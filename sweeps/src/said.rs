//! What the words of a task say of its parameters: its labels are recomputed, not believed. An id is that of the words alone.

use crate::commands::{Argument, Commands, PIPE};
use crate::stage::{Chosen, EARLIER, NO_TIMING, is_said, is_unsaid};
use crate::task::Task;
use crate::value::Value;

/// The commands of a list of tasks, which are the same in all of them, and which parameter is said where.
pub(crate) struct Said<'a> {
    names: &'a [String],
    stages: Vec<Command>,
}

/// One command.
struct Command {
    words: Vec<String>,
    arguments: Vec<Argument>,
    /// Parameters that are said to it: where they stand in the list, and the argument of each.
    parameters: Vec<(usize, usize)>,
}

impl<'a> Said<'a> {
    /// That of a list with parameters of these names, of which this is one task.
    ///
    /// # Errors
    /// One line: a command that cannot be swept, a name that it does not take.
    pub(crate) fn new(names: &'a [String], task: &Task, commands: &dyn Commands) -> Result<Self, String> {
        let parts = task.arguments.split(|word| word == PIPE);
        let mut stages = parts.map(|part| Command::new(part, commands)).collect::<Result<Vec<_>, _>>()?;
        for (position, name) in names.iter().enumerate() {
            let own = name.trim_start_matches(EARLIER);
            let later = (name.len() - own.len()) / EARLIER.len();
            let stage = stages.len().checked_sub(1 + later).and_then(|stage| stages.get_mut(stage));
            let found = stage.and_then(|stage| {
                let argument = stage.arguments.iter().position(|argument| argument.name == own)?;
                stage.parameters.push((position, argument));
                Some(())
            });
            found.ok_or_else(|| format!("parameters: the command takes no {name}"))?;
        }
        Ok(Self { names, stages })
    }

    /// The values of the parameters of a task, if they are those that its words say.
    ///
    /// # Errors
    /// One line that says what is not so.
    pub(crate) fn values<'t>(&self, task: &'t Task) -> Result<Vec<&'t Value>, String> {
        let (names, values): (Vec<&str>, Vec<&Value>) = task.parameters().unzip();
        if names != *self.names {
            return Err("its parameters are not those that the list is headed by".into());
        }
        let parts: Vec<&[String]> = task.arguments.split(|word| word == PIPE).collect();
        let are_said = parts.len() == self.stages.len()
            && self.stages.iter().zip(parts).all(|(stage, part)| stage.says(part, &values));
        match are_said {
            true => Ok(values),
            false => Err("its parameters are not what its arguments say".into()),
        }
    }
}

impl Command {
    /// The command that these words begin with.
    fn new(words: &[String], commands: &dyn Commands) -> Result<Self, String> {
        let mut refused = "it has no arguments".to_owned();
        for count in 1..=words.len() {
            let (command, _) = words.split_at(count);
            match commands.arguments(command) {
                Ok(arguments) => {
                    return Ok(Self { words: command.to_vec(), arguments, parameters: Vec::new() });
                }
                Err(problem) => refused = problem,
            }
        }
        Err(refused)
    }

    /// Whether its words say these values and no others of its parameters.
    fn says(&self, words: &[String], values: &[&Value]) -> bool {
        let of_parameter = |(position, argument): &(usize, usize)| {
            Some((self.arguments.get(*argument)?, *values.get(*position)?))
        };
        let chosen: Vec<(&Argument, &Value)> = self.parameters.iter().filter_map(of_parameter).collect();
        let Chosen { positions, options } = Chosen::said(&self.arguments, &chosen);
        let begun = [&self.words[..], &positions].concat();
        let Some(rest) = words.strip_prefix(&begun[..]) else { return false };
        let is_parameter = chosen.iter().any(|(argument, _)| argument.name == NO_TIMING);
        let rest = match rest.split_last() {
            Some((last, rest)) if !is_parameter && *last == format!("--{NO_TIMING}") => rest,
            _ => rest,
        };
        let Some(always) = rest.strip_suffix(&options[..]) else { return false };
        let unsaid = chosen.iter().filter(|(argument, value)| is_unsaid(argument, value));
        unsaid.into_iter().all(|(argument, _)| !is_said(&argument.name, always))
    }
}
