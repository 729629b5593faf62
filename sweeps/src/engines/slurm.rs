//! A job array for Slurm.

use super::quoted;
use crate::{Chunks, Indices, SweepError};
use std::fmt::Write;

/// What the script asks Slurm for.
#[derive(Clone, Debug)]
pub struct SlurmOptions {
    /// The list of tasks, as jobs see it.
    pub tasks: String,
    /// The directory of results, as jobs see it.
    pub directory: String,
    /// How the command is called on the nodes.
    pub program: String,
    /// How many tasks one job of the array runs.
    pub chunk: Chunks,
    /// The chunks that are run.
    pub chunks: Indices,
    /// Jobs at the same time, at most.
    pub throttle: Option<u64>,
    /// Processors of a job.
    pub cpus: u64,
    /// More for `sbatch`, such as `--mem=4G`.
    pub extra: Vec<String>,
}

/// What the script says itself: the option, what of it sbatch takes for the whole, its short letter, and how it is said here.
const OWN: [(&str, &str, &str, &str); 2] = [
    ("--array", "--ar", "-a", "the array is of the chunks that lack results; see --chunk and --throttle"),
    ("--cpus-per-task", "--cpus-per-t", "-c", "state it by --cpus, so that tasks use them"),
];

impl SlurmOptions {
    /// Refuses what would not be an option of `sbatch`, or would make another array than that of the chunks.
    ///
    /// # Errors
    /// Names the option.
    pub fn check(&self) -> Result<(), SweepError> {
        for option in &self.extra {
            let refused = |why: &str| SweepError::refused(format!("--option {option:?}: {why}"));
            if !option.starts_with('-') || option.contains(['\n', '\r']) {
                return Err(refused("is no option of sbatch; write it as --mem=4G"));
            }
            // One line may have several.
            for word in option.split_whitespace() {
                let name = word.split('=').next().unwrap_or(word);
                let says = |(long, enough, short, _): &&(&str, &str, &str, &str)| {
                    (long.starts_with(name) && name.starts_with(enough)) || word.starts_with(short)
                };
                if let Some((.., instead)) = OWN.iter().find(says) {
                    return Err(refused(instead));
                }
            }
        }
        Ok(())
    }
}

/// The script for `sbatch`. A job whose node dies comes again, and skips what is done.
pub fn slurm_script(options: &SlurmOptions) -> String {
    let SlurmOptions { tasks, directory, program, chunk: Chunks(size), chunks, throttle, cpus, extra } =
        options;
    let throttle = throttle.map(|most| format!("%{most}")).unwrap_or_default();
    let mut script = format!(
        "#!/bin/sh\n#SBATCH --job-name=fairplan-sweep\n#SBATCH --array={chunks}{throttle}\n#SBATCH --cpus-per-task={cpus}\n\
         #SBATCH --requeue\n#SBATCH --open-mode=append\n#SBATCH --output=sweep-%A_%a.log\n"
    );
    for option in extra {
        let _ = writeln!(script, "#SBATCH {option}");
    }
    let words = [program, "sweep", "run", tasks].map(quoted).join(" ");
    let _ = writeln!(
        script,
        "exec {words} --chunk {size} --index \"$SLURM_ARRAY_TASK_ID\" --threads {cpus} --quiet -o {}",
        quoted(directory)
    );
    script
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options() -> SlurmOptions {
        SlurmOptions {
            tasks: "my sweep.jsonl".into(),
            directory: "it's".into(),
            program: "fairplan".into(),
            chunk: Chunks(100),
            chunks: "0-3,7".parse().unwrap(),
            throttle: Some(20),
            cpus: 2,
            extra: vec!["--mem=4G".into()],
        }
    }

    #[test]
    fn a_second_array_and_what_is_no_option_are_refused() {
        let refused =
            |option: &str| SlurmOptions { extra: vec![option.into()], ..options() }.check().is_err();
        for option in [
            "--array",
            "--array=1-9",
            "--arr=1-9",
            "-a1-9",
            "--mem=1G -a 1-9",
            "--cpus-per-task=4",
            "-c4",
            "mem=4G",
            "--mem=1G\nrm -rf x",
            "",
        ] {
            assert!(refused(option), "{option}");
        }
        for option in
            ["--mem=4G", "--account=a", "-A a", "--cpus-per-gpu=2", "--time=2:00:00 --nice", "--comment=--x"]
        {
            assert!(!refused(option), "{option}");
        }
    }

    #[test]
    fn the_script_says_what_is_asked_and_quotes_what_a_shell_would_read() {
        let script = slurm_script(&options());
        for line in [
            "#SBATCH --array=0-3,7%20",
            "#SBATCH --requeue",
            "#SBATCH --cpus-per-task=2",
            "#SBATCH --mem=4G",
            r#"exec fairplan sweep run 'my sweep.jsonl' --chunk 100 --index "$SLURM_ARRAY_TASK_ID" --threads 2 --quiet -o 'it'\''s'"#,
        ] {
            assert!(script.lines().any(|written| written == line), "{line}\n{script}");
        }
        assert!(script.starts_with("#!/bin/sh\n"));
    }
}
