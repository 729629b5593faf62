//! The Python in which the guide's snippets and the notebooks run.

use crate::command_line::{binary, root};
use std::path::PathBuf;
use std::process::Command;
use std::sync::OnceLock;

/// An interpreter with what `notebooks/requirements.txt` lists, made on first use; or why there is none.
pub(super) fn interpreter() -> Result<PathBuf, String> {
    static INTERPRETER: OnceLock<Result<PathBuf, String>> = OnceLock::new();
    let made = INTERPRETER.get_or_init(|| {
        let output = Command::new(root().join("setup/notebook-tools.sh"))
            .output()
            .map_err(|error| error.to_string())?;
        let told =
            String::from_utf8_lossy(if output.status.success() { &output.stdout } else { &output.stderr });
        if output.status.success() { Ok(PathBuf::from(told.trim())) } else { Err(told.trim().to_owned()) }
    });
    made.clone()
}

#[test]
#[ignore = "half a minute"]
fn every_notebook_gives_what_it_keeps() {
    let python = match interpreter() {
        Ok(python) => python,
        Err(reason) => {
            println!("skipped, and so are the guide's Python snippets: {reason}");
            return;
        }
    };
    let output = Command::new(python)
        .args(["notebooks/execute.py", "--check"])
        .env("FAIRPLAN", binary())
        .current_dir(root())
        .output()
        .unwrap();
    let told = [output.stdout, output.stderr].concat();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&told));
}
