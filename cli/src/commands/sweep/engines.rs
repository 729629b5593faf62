//! `sweep slurm` and `sweep kubernetes`: what these engines are given.

use super::failed::failed;
use crate::arguments::{CommonOptions, OutputArguments};
use crate::failure::Answer;
use crate::progress::tell;
use fairplan::Error;
use fairplan::instances::wording::counted;
use fairplan::report::write_json;
use fairplan_sweeps::{
    Chunks, Indices, KubernetesOptions, SlurmOptions, TaskFile, kubernetes_job, missing, slurm_script,
};
use std::path::Path;

/// Write a job array for Slurm, to be given to sbatch
#[derive(Debug, clap::Args)]
#[command(after_help = "\
The array has the chunks that lack results, so that the same command makes the next array when some jobs came to nothing. A job \
whose node dies comes again and skips what is done.

Example: fairplan sweep slurm sweep.jsonl results --throttle 50 -o job.sh
         sbatch job.sh")]
pub struct SlurmArguments {
    #[command(flatten)]
    sweep: SweepArguments,
    /// Jobs at the same time, at most
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    throttle: Option<u64>,
    /// Processors of a job
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..=1024))]
    cpus: u64,
    /// More for sbatch, such as --mem=4G or --time=2:00:00; may be given several times
    #[arg(long, value_name = "OPTION", allow_hyphen_values = true)]
    option: Vec<String>,
    /// The command as nodes call it
    #[arg(long, value_name = "PROGRAM", default_value = "fairplan")]
    program: String,
    #[command(flatten)]
    output: OutputArguments,
}

/// Write an Indexed Job for Kubernetes, to be given to kubectl apply
#[derive(Debug, clap::Args)]
#[command(after_help = "\
List of tasks, inputs and results lie on one volume, which the pods mount and work in. An index whose pod dies is tried again by \
itself and skips what is done.

Example: fairplan sweep kubernetes sweep.jsonl results --image registry.example/fairplan:1 \\
           --claim studies -o job.json
         kubectl apply -f job.json")]
pub struct KubernetesArguments {
    #[command(flatten)]
    sweep: SweepArguments,
    /// The image, in which fairplan is on the PATH
    #[arg(long, value_name = "IMAGE")]
    image: String,
    /// The claim of the volume
    #[arg(long, value_name = "CLAIM")]
    claim: String,
    /// Where pods mount the volume, from which the paths of tasks and results are
    #[arg(long, value_name = "PATH", default_value = "/sweep")]
    mount: String,
    /// The name of the job
    #[arg(long, value_name = "NAME", default_value = "fairplan-sweep")]
    name: String,
    /// Pods at the same time, at most
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u64).range(1..=100_000))]
    parallelism: u64,
    /// How often an index whose pod dies is tried again
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u64).range(0..=1000))]
    retries: u64,
    /// Processors of a pod
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..=1024))]
    cpus: u64,
    /// Memory of a pod, such as 4Gi
    #[arg(long, value_name = "AMOUNT")]
    memory: Option<String>,
    #[command(flatten)]
    output: OutputArguments,
}

/// What both are about.
#[derive(Debug, clap::Args)]
struct SweepArguments {
    /// The list of tasks, as sweep plan writes it
    tasks: String,
    /// The directory of results
    directory: String,
    /// One job runs so many tasks (default: so many that there are at most 1,000 jobs)
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=1_000_000_000))]
    chunk: Option<u64>,
}

/// Jobs of an array, unless it is said otherwise; Slurm's own limit is 1,001 where nobody raised it.
const JOBS: u64 = 1000;

impl SweepArguments {
    /// The tasks, and how many of them one job runs.
    fn read(&self) -> Result<(TaskFile, Chunks), Error> {
        let tasks = TaskFile::open(&self.tasks).map_err(failed)?;
        let chunk = self.chunk.unwrap_or_else(|| tasks.header().tasks.div_ceil(JOBS).max(1));
        Ok((tasks, Chunks(chunk)))
    }
}

/// Writes the script.
pub fn slurm(arguments: SlurmArguments, common: CommonOptions) -> Result<Answer, Error> {
    let SlurmArguments { sweep, throttle, cpus, option, program, output } = arguments;
    let destination = output.text()?;
    let (tasks, chunk) = sweep.read()?;
    let chunks = missing(&tasks, Path::new(&sweep.directory)).map_err(failed)?.chunks(chunk);
    if chunks.is_empty() {
        return Err(Error::input(format!(
            "{}: all tasks have their results; there is nothing to run",
            sweep.directory
        )));
    }
    let options = SlurmOptions {
        tasks: sweep.tasks,
        directory: sweep.directory,
        program,
        chunk,
        chunks,
        throttle,
        cpus,
        extra: option,
    };
    options.check().map_err(failed)?;
    destination.write(|out| std::io::Write::write_all(out, slurm_script(&options).as_bytes()))?;
    tell(common, || told(&options.chunks, chunk));
    Ok(Answer::Yes)
}

/// Writes the manifest.
pub fn kubernetes(arguments: KubernetesArguments, common: CommonOptions) -> Result<Answer, Error> {
    let destination = arguments.output.destination()?;
    let (tasks, chunk) = arguments.sweep.read()?;
    let KubernetesArguments { sweep, image, claim, mount, name, parallelism, retries, cpus, memory, .. } =
        arguments;
    let chunks = tasks.header().tasks.div_ceil(chunk.0);
    let options = KubernetesOptions {
        name,
        image,
        claim,
        mount,
        tasks: sweep.tasks,
        directory: sweep.directory,
        chunk,
        chunks,
        parallelism,
        retries,
        cpus,
        memory,
    };
    options.check().map_err(failed)?;
    destination.write(|out| write_json(out, &kubernetes_job(&options)))?;
    tell(common, || told(&Indices::below(chunks), chunk));
    Ok(Answer::Yes)
}

fn told(chunks: &Indices, Chunks(size): Chunks) -> String {
    let (jobs, tasks) = (counted(chunks.count(), "job", "jobs"), counted(size, "task", "tasks"));
    format!("{jobs} of {tasks}\n")
}
