//! What a sweep has to know of the commands that it runs, and how it runs one.

/// What can be said to a command in one place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Argument {
    /// The name of the option without its dashes, or of the position in small letters.
    pub name: String,
    /// How it is said.
    pub shape: Shape,
    /// What its values are.
    pub role: Role,
}

/// How an argument is said.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// `--name=value`.
    Option,
    /// `--name`, or nothing.
    Flag,
    /// By where it stands.
    Position,
}

/// What the values of an argument are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// A setting.
    Setting,
    /// A file that is read.
    Input,
    /// Nothing that a task may say, for this reason.
    Refused(&'static str),
}

/// A file that the words of a task name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Given {
    /// By which argument.
    pub argument: String,
    /// Its path.
    pub path: String,
}

/// How a command ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// Its exit status: 0 done, 1 the answer is no, everything else a failure.
    pub status: u8,
    /// What it said when it failed; empty if it did not.
    pub message: String,
    /// What it wrote: a JSON document.
    pub result: Vec<u8>,
}

/// Stands between two commands of a task: the second reads what the first writes.
pub const PIPE: &str = "|";

/// The words of a task as they are typed.
pub(crate) fn typed(words: &[String]) -> String {
    let parts = words.split(|word| word == PIPE).map(|part| format!("fairplan {}", part.join(" ")));
    parts.collect::<Vec<_>>().join(" | ")
}

/// Who knows the commands and runs them in this process.
pub trait Commands: Sync {
    /// What can be said to the command with this name (`plan buy` is two words).
    ///
    /// # Errors
    /// One line: that there is no such command, or that it cannot be swept and why.
    fn arguments(&self, command: &[String]) -> Result<Vec<Argument>, String>;

    /// Whether the words of one command can be meant, without doing anything; and the files that they name. One that `is_fed` has to
    /// read standard input, where another's result comes; any other has none.
    ///
    /// # Errors
    /// One line that names what is not understood.
    fn check(&self, words: &[String], is_fed: bool) -> Result<Vec<Given>, String>;

    /// Runs one command, on the threads of the pool from which it is called. Its standard input is `input`, and what it writes to
    /// standard output is its result.
    fn run(&self, words: &[String], input: Option<Vec<u8>>) -> Outcome;
}
