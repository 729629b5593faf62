//! A page of the guide: its text, and the examples in it.

use std::path::PathBuf;

/// A Markdown file.
pub(super) struct Page {
    pub(super) path: PathBuf,
    pub(super) lines: Vec<String>,
}

/// What is typed, and what the page says comes out.
pub(super) struct Example {
    /// The marks behind the fence's first word, such as `slow`.
    pub(super) marks: Vec<String>,
    pub(super) input: Input,
    /// Where the output stands in the page's lines.
    pub(super) output: std::ops::Range<usize>,
}

pub(super) enum Input {
    /// Words for the shell.
    Shell(String),
    Python(String),
}

impl Page {
    pub(super) fn read(path: PathBuf) -> Self {
        let text = std::fs::read_to_string(&path).unwrap();
        Self { path, lines: text.lines().map(str::to_owned).collect() }
    }

    /// The page's path below the guide's folder.
    pub(super) fn name(&self) -> String {
        self.path.strip_prefix(super::source()).unwrap().display().to_string()
    }

    /// The examples in their order: `console` fences, in which `$ ` begins a command, and `python` fences, whose output is
    /// the `text` fence behind them.
    pub(super) fn examples(&self) -> Vec<Example> {
        let mut examples = Vec::new();
        let mut python = None;
        let mut at = 0;
        while at < self.lines.len() {
            let Some(words) = self.lines[at].strip_prefix("```") else {
                at += 1;
                continue;
            };
            let mut words = words.split(',').map(str::to_owned);
            let language = words.next().unwrap();
            let marks: Vec<String> = words.collect();
            let first = at + 1;
            let end = (first..self.lines.len()).find(|&line| self.lines[line].starts_with("```"));
            let end = end.unwrap_or_else(|| panic!("{}: line {first}: a fence is left open", self.name()));
            match language.as_str() {
                "console" => self.commands(first..end, &marks, &mut examples),
                "python" => python = Some((marks, self.lines[first..end].join("\n"))),
                "text" => {
                    if let Some((marks, code)) = python.take() {
                        examples.push(Example { marks, input: Input::Python(code), output: first..end });
                    }
                }
                _ => {}
            }
            at = end + 1;
        }
        examples
    }

    fn commands(&self, block: std::ops::Range<usize>, marks: &[String], examples: &mut Vec<Example>) {
        let mut at = block.start;
        while at < block.end {
            let line = &self.lines[at];
            let command = line.strip_prefix("$ ");
            let mut words =
                command.unwrap_or_else(|| panic!("{}: no command: {line}", self.name())).to_owned();
            at += 1;
            // A command goes on where a line says so: behind a backslash, behind `> `, or to the end of what goes into a file.
            let mut in_file = words.contains("<<'END'");
            while at < block.end {
                let line = &self.lines[at];
                let more = line.strip_prefix("> ").filter(|_| !in_file);
                if !(in_file || words.ends_with('\\') || more.is_some()) {
                    break;
                }
                words = format!("{words}\n{}", more.unwrap_or(line));
                in_file &= line != "END";
                at += 1;
            }
            let first = at;
            while at < block.end && !self.lines[at].starts_with("$ ") {
                at += 1;
            }
            examples.push(Example { marks: marks.to_vec(), input: Input::Shell(words), output: first..at });
        }
    }
}
