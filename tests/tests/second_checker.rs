//! The second checker, written in Python from the mathematics alone: one interpreter a thread, which is told one pair of files after
//! the other.

use std::cell::RefCell;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

/// The checker at work.
struct Checker {
    process: Child,
    asked: Option<ChildStdin>,
    answers: BufReader<ChildStdout>,
}

impl Checker {
    fn start() -> std::io::Result<Self> {
        let script = crate::command_line::root().join("tests/python/check_solution.py");
        let mut command = Command::new("python3");
        let mut process =
            command.arg(script).arg("-").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let (asked, answers) = (process.stdin.take(), process.stdout.take().unwrap());
        Ok(Self { process, asked, answers: BufReader::new(answers) })
    }

    fn ask(&mut self, instance: &Path, solution: &Path) -> Result<String, String> {
        let question = format!("{}\t{}\n", instance.display(), solution.display());
        self.asked.as_mut().unwrap().write_all(question.as_bytes()).unwrap();
        let mut answer = String::new();
        self.answers.read_line(&mut answer).unwrap();
        match answer.trim_end() {
            "" => panic!("the second checker ended at {}", solution.display()),
            answer if answer.starts_with("ok ") => Ok(answer.to_owned()),
            answer => Err(answer.to_owned()),
        }
    }
}

impl Drop for Checker {
    fn drop(&mut self) {
        // Its input ends, and so does it.
        drop(self.asked.take());
        drop(self.process.wait());
    }
}

thread_local! {
    static CHECKER: RefCell<Option<Checker>> = const { RefCell::new(None) };
}

/// What it says of a solution: `ok …`, or as the error `FAIL …`. Nothing where there is no Python, which is printed.
pub(crate) fn second_checker(instance: &Path, solution: &Path) -> Option<Result<String, String>> {
    CHECKER.with_borrow_mut(|checker| {
        if checker.is_none() {
            match Checker::start() {
                Ok(started) => *checker = Some(started),
                Err(error) => {
                    eprintln!("skipped: python3: {error}");
                    return None;
                }
            }
        }
        Some(checker.as_mut()?.ask(instance, solution))
    })
}
