//! Fuzzing of every reader: seeded damage to small valid files. Whatever is read, reading ends soon and in little memory,
//! without a panic; a refusal is one line that names the file; what is accepted can be used.
//!
//! An input is a target, a seed and a round, which give the same bytes anywhere.

mod damage;
mod importers;
mod inputs;
mod made;
mod own_files;
mod results;
mod structure;
mod sweeps;
mod tokens;

pub use inputs::{File, Target};

use crate::Dice;
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, Once, OnceLock};
use std::time::{Duration, Instant};

/// Every target. Some samples are made by the `fairplan` command at `binary`.
pub fn targets(binary: &Path) -> Vec<Target> {
    [own_files::targets(binary), importers::targets(), results::targets(binary), sweeps::targets()]
        .into_iter()
        .flatten()
        .collect()
}

/// No input of a few kilobytes may take longer to read, on a busy machine and without optimisation.
const LONGEST: Duration = Duration::from_secs(10);

/// An input that takes longer than this will not end.
const ENDLESS: Duration = Duration::from_secs(120);

/// Memory that reading may take beyond what the process had, in KiB.
const MOST_MEMORY: u64 = 1 << 20;

/// What became of the inputs of one target.
#[derive(Clone, Debug, Default)]
pub struct Counts {
    /// Inputs read.
    pub inputs: u64,
    /// Of these, those that were read as valid.
    pub accepted: u64,
    /// The longest that one of them took.
    pub slowest: Duration,
    /// Inputs that broke a rule, each with what happened.
    pub failures: Vec<String>,
}

/// Reads `rounds` inputs of `target`, those of this seed; failures are kept in `folder`, the target's own.
///
/// # Panics
/// If files cannot be written, or if a sample itself is refused: then nothing would be tested.
pub fn run(target: &Target, seed: u64, rounds: std::ops::Range<u64>, folder: &Path) -> Counts {
    quiet();
    let paths = inputs::Paths::new(target, &folder.join("input"));
    let watch = Watch::new(&target.name, seed);
    let mut counts = Counts::default();
    if let Outcome::Refused(told) | Outcome::Failed(told) = read(target, &paths, &target.contents()) {
        panic!("{}: the sample itself: {told}", target.name);
    }
    for round in rounds {
        let contents = input(target, seed, round);
        watch.begins(round);
        let begun = Instant::now();
        let outcome = read(target, &paths, &contents);
        counts.slowest = counts.slowest.max(begun.elapsed());
        counts.inputs += 1;
        match outcome {
            Outcome::Accepted => counts.accepted += 1,
            Outcome::Refused(_) => {}
            Outcome::Failed(told) => {
                let smallest = shrink(target, &paths, contents, &told);
                let kept = folder.join(format!("found-{seed}-{round}"));
                inputs::Paths::new(target, &kept).write(&smallest);
                counts.failures.push(format!("{} --seed {seed} --only {round}: {told}", target.name));
            }
        }
    }
    watch.ends();
    counts
}

/// The damaged files of one round.
fn input(target: &Target, seed: u64, round: u64) -> Vec<Vec<u8>> {
    let name = target.name.bytes().fold(seed, |hash, byte| hash.wrapping_mul(1_000_003) ^ u64::from(byte));
    let mut dice = Dice::new(name ^ round.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    let mut contents = target.contents();
    let damaged: Vec<usize> = (0..contents.len()).filter(|file| target.files[*file].damaged).collect();
    let first = dice.pick(&damaged);
    contents[first] = damage::damage(&mut dice, &contents[first]);
    if dice.percent(10) {
        let second = dice.pick(&damaged);
        contents[second] = damage::damage(&mut dice, &contents[second]);
    }
    contents
}

enum Outcome {
    Accepted,
    Refused(String),
    Failed(String),
}

/// Where the first panic since the last look was, and what it said. Threads of a reader panic here too.
static PANIC: Mutex<Option<String>> = Mutex::new(None);

thread_local! {
    /// Whether this thread reads damaged files.
    static READS: Cell<bool> = const { Cell::new(false) };
}

/// Panics of readers are kept instead of printed: those of this thread, and of threads without a name, which tests have.
fn quiet() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let report = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            if !READS.get() && std::thread::current().name().is_some() {
                return report(panic);
            }
            if let Ok(mut first) = PANIC.lock() {
                first.get_or_insert_with(|| panic.to_string().replace('\n', " "));
            }
        }));
    });
}

/// The thread that reads: a pool of its own. In the pool of all tests a reader that waits for a part of its work would
/// take up the work of another test, and its time would be counted as reading.
fn reader() -> &'static rayon::ThreadPool {
    static READER: OnceLock<rayon::ThreadPool> = OnceLock::new();
    READER.get_or_init(|| {
        rayon::ThreadPoolBuilder::new().num_threads(1).build().expect("a thread can be started")
    })
}

/// Reads the files with these contents and judges what happens.
fn read(target: &Target, paths: &inputs::Paths, contents: &[Vec<u8>]) -> Outcome {
    paths.write(contents);
    let (before, begun) = (peak_memory(), Instant::now());
    if let Ok(mut panic) = PANIC.lock() {
        *panic = None;
    }
    let outcome = reader().install(|| {
        READS.set(true);
        let outcome = catch_unwind(AssertUnwindSafe(|| (target.read)(&paths.names)));
        READS.set(false);
        outcome
    });
    let taken = begun.elapsed();
    let memory = peak_memory().saturating_sub(before);
    let size: usize = contents.iter().map(Vec::len).sum();
    if taken > LONGEST + Duration::from_micros(size as u64) {
        return Outcome::Failed(format!("takes {:.1} s for {size} bytes", taken.as_secs_f64()));
    }
    if memory > MOST_MEMORY + size as u64 / 8 {
        return Outcome::Failed(format!("takes {} MiB for {size} bytes", memory >> 10));
    }
    match outcome {
        Err(_) => {
            let told = PANIC.lock().ok().and_then(|mut panic| panic.take());
            Outcome::Failed(told.unwrap_or_else(|| "panics".into()))
        }
        Ok(Ok(())) => Outcome::Accepted,
        Ok(Err(told)) => match flaw(&told, paths) {
            None => Outcome::Refused(told),
            Some(flaw) => Outcome::Failed(format!("{flaw}: {told:?}")),
        },
    }
}

/// What is wrong with a refusal.
fn flaw(told: &str, paths: &inputs::Paths) -> Option<&'static str> {
    if !paths.names.iter().any(|name| told.contains(name.as_str())) {
        return Some("the message names no file");
    }
    if told.chars().any(char::is_control) {
        return Some("the message has control characters");
    }
    let own: usize = paths.names.iter().map(|name| told.matches(name.as_str()).count() * name.len()).sum();
    if told.chars().count() > 1200 + own {
        return Some("the message is too long");
    }
    None
}

/// The most memory this process ever had, in KiB; 0 where the system does not tell.
fn peak_memory() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.trim().trim_end_matches(" kB").parse().ok()).unwrap_or(0)
}

/// Makes the files smaller while the same goes wrong, for a second or two. Time and memory are not tried again.
fn shrink(target: &Target, paths: &inputs::Paths, contents: Vec<Vec<u8>>, told: &str) -> Vec<Vec<u8>> {
    let kind = |told: &str| told.chars().take(60).collect::<String>();
    if told.starts_with("takes ") {
        return contents;
    }
    let (mut best, begun) = (contents, Instant::now());
    for file in 0..best.len() {
        let mut piece = best[file].len().div_ceil(2).max(1);
        while begun.elapsed() < Duration::from_secs(2) {
            let mut start = 0;
            while start < best[file].len() && begun.elapsed() < Duration::from_secs(2) {
                let mut less = best.clone();
                less[file].drain(start..(start + piece).min(best[file].len()));
                match read(target, paths, &less) {
                    Outcome::Failed(again) if kind(&again) == kind(told) => best = less,
                    _ => start += piece,
                }
            }
            if piece == 1 {
                break;
            }
            piece /= 2;
        }
    }
    best
}

/// Ends the process when an input does not end, and says which.
struct Watch {
    /// Round and one, or 0 when nothing is read.
    round: Arc<AtomicU64>,
}

impl Watch {
    fn new(target: &str, seed: u64) -> Self {
        let round = Arc::new(AtomicU64::new(0));
        let (seen, target) = (Arc::clone(&round), target.to_owned());
        std::thread::spawn(move || {
            let (mut last, mut since) = (0, Instant::now());
            while seen.load(Ordering::Relaxed) != u64::MAX {
                std::thread::sleep(Duration::from_millis(200));
                let now = seen.load(Ordering::Relaxed);
                if now != last {
                    (last, since) = (now, Instant::now());
                } else if now != 0 && since.elapsed() > ENDLESS {
                    eprintln!("{target} --seed {seed} --only {}: does not end", now - 1);
                    std::process::exit(101);
                }
            }
        });
        Self { round }
    }

    fn begins(&self, round: u64) {
        self.round.store(round + 1, Ordering::Relaxed);
    }

    fn ends(&self) {
        self.round.store(u64::MAX, Ordering::Relaxed);
    }
}

/// A folder for the files of one target.
pub fn folder_of(root: &Path, target: &Target) -> PathBuf {
    root.join(target.name.replace(' ', "-"))
}
