//! A job array for Slurm.

use super::quoted;
use crate::{Chunks, Indices};
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

    #[test]
    fn the_script_says_what_is_asked_and_quotes_what_a_shell_would_read() {
        let script = slurm_script(&SlurmOptions {
            tasks: "my sweep.jsonl".into(),
            directory: "it's".into(),
            program: "fairplan".into(),
            chunk: Chunks(100),
            chunks: "0-3,7".parse().unwrap(),
            throttle: Some(20),
            cpus: 2,
            extra: vec!["--mem=4G".into()],
        });
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
