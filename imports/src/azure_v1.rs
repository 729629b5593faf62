//! Arrivals of Azure's V1 trace as published for generative models: a file of what arrives, one of how long it stays.
//!
//! Source: S. Bergsma et al., "Generating Complex, Realistic Cloud Workloads using Recurrent Neural Networks", SOSP 2021,
//! made from the Azure public dataset V1 (E. Cortez et al., SOSP 2017), CC-BY 4.0.

use super::equal_servers::EqualServers;
use super::files::some;
use fairplan_instances::files::source::{self, Source};
use fairplan_instances::trace::{DraftTasks, MICROSECONDS, SortedTrace, TraceDraft};
use fairplan_instances::{Decimal, DecimalError, InstanceError, Violation};
use hashbrown::HashMap;

/// A line holds what arrives within five minutes.
const LONGEST_LINE: usize = 1 << 24;

/// What [`azure_v1`] reads and how.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AzureV1Options {
    /// What arrives: `<seconds> a,b,|,c,|,` with a letter for each machine's size and `|` after each tenant's batch.
    pub arrivals: String,
    /// How long it stays, in the same form: `U<bin>`, or `C<bin>` when it was still there at the end.
    pub durations: String,
    /// What sizes the letters mean: `cores,GB letter`.
    pub sizes: String,
    /// Which bin a duration is in: `<seconds> <bin>`.
    pub intervals: String,
    /// Deal the batches out to so many users in turn; `None`: each batch is a user of its own.
    pub users: Option<u64>,
    /// Servers with cores and GB.
    pub servers: EqualServers,
}

/// The arrivals as a trace over the resources `cpu` (cores) and `memory` (GB).
///
/// A batch is a job, and a virtual machine one of its tasks. It stays for the middle of its bin: half-way from the bin's
/// smallest duration to the next bin's; a machine that was still there has stayed so long at least, which counts. The files
/// do not say which batches are of one tenant. Time 0 is that of the first line.
///
/// # Errors
/// A file that cannot be read, lines that are not of the form or do not match between the files (file, line, item and value
/// are named), time that goes backwards, nothing that arrives.
pub fn azure_v1(options: &AzureV1Options) -> Result<SortedTrace, InstanceError> {
    let sizes = read_sizes(&options.sizes)?;
    let stays = read_intervals(&options.intervals)?;
    let source = "Azure public dataset V1 (E. Cortez et al., 2017; S. Bergsma et al., 2021), CC-BY 4.0";
    let mut draft = TraceDraft::new("Azure V1", source, &["cpu", "memory"]);
    draft.classes(vec![options.servers.class()]);
    let mut arrivals = Lines::open(&options.arrivals)?;
    let mut durations = Lines::open(&options.durations)?;
    let [mut machines, mut batches, mut censored, mut empty] = [0u64; 4];
    let mut first = None;
    let mut latest = 0;
    while let Some(time) = arrivals.next()? {
        if durations.next()? != Some(time) {
            return Err(
                durations.refused("", &format!("must be of time {time}, as the line of the arrivals"))
            );
        }
        if time < latest {
            return Err(arrivals
                .refused(&time.to_string(), &format!("comes after time {latest}; time goes backwards")));
        }
        latest = time;
        let time = (time - *first.get_or_insert(time)).saturating_mul(MICROSECONDS);
        let mut in_batch = false;
        let mut stay_items = durations.items();
        for (position, item) in (1..).zip(arrivals.items()) {
            let at =
                |problem: String| arrivals.refused(&format!("item {position} = {}", text(item)), &problem);
            let stay_at = |problem: &str| durations.refused(&format!("item {position}"), problem);
            let stay = stay_items.next().ok_or_else(|| stay_at("is missing; there are more arrivals"))?;
            if (item == b"|") != (stay == b"|") {
                return Err(stay_at("does not match the arrivals: | must stand at the same items"));
            }
            if item == b"|" {
                empty += u64::from(!in_batch);
                batches += u64::from(in_batch);
                in_batch = false;
                continue;
            }
            in_batch = true;
            machines += 1;
            let demand = *sizes.get(item).ok_or_else(|| at("is no letter of the sizes".into()))?;
            let (kind, bin) = stay.split_at(usize::from(!stay.is_empty()));
            censored += u64::from(kind == b"C");
            let bin = text(bin).parse::<u64>().ok().filter(|_| kind == b"C" || kind == b"U");
            let bin = bin.ok_or_else(|| stay_at("must be U or C and a bin"))?;
            let duration = *stays.get(&bin).ok_or_else(|| stay_at("is in none of the bins"))?;
            let user = options.users.map_or(batches, |users| batches % users.max(1));
            let named = |violation: Violation| at(violation.problem);
            let user = draft.user(&format!("user-{}", user + 1)).map_err(named)?;
            let job = draft.job(&format!("batch-{}", batches + 1)).map_err(named)?;
            let demand = draft.shape(&demand);
            draft.submit(DraftTasks { time, duration, user, job, demand, count: 1, rules: None });
        }
        if stay_items.next().is_some() {
            return Err(durations.refused("", "has more items than the line of the arrivals"));
        }
        batches += u64::from(in_batch);
    }
    if durations.next()?.is_some() {
        return Err(durations.refused("", "has no line of arrivals"));
    }
    some(&options.arrivals, "arrivals", machines as usize)?;
    for (what, count) in [
        ("virtual machines that arrive", machines),
        ("batches of a tenant", batches),
        ("batches without a machine: left out", empty),
        ("machines still there at the end: the time until then counts", censored),
    ] {
        draft.count(what, count);
    }
    draft.sort(&options.arrivals)
}

/// Lines of a time and items.
pub(super) struct Lines {
    source: Source,
    buffer: Vec<u8>,
    line: u64,
    /// Where the items begin.
    items: usize,
}

impl Lines {
    pub(super) fn open(path: &str) -> Result<Self, InstanceError> {
        Ok(Self { source: source::open(path)?, buffer: Vec::new(), line: 0, items: 0 })
    }

    /// The time of the next line that is not blank.
    pub(super) fn next(&mut self) -> Result<Option<u64>, InstanceError> {
        loop {
            if !self.source.read_line(&mut self.buffer, LONGEST_LINE, self.line + 1)? {
                return Ok(None);
            }
            self.line += 1;
            if !self.buffer.trim_ascii().is_empty() {
                break;
            }
        }
        let end = self.buffer.iter().position(|byte| *byte == b' ').unwrap_or(self.buffer.len());
        self.items = end;
        let seconds = text(&self.buffer[..end]);
        let whole =
            seconds.parse().map_err(|_| self.refused(&seconds, "must be a whole number of seconds"))?;
        Ok(Some(whole))
    }

    /// What stands between the commas of the line.
    pub(super) fn items(&self) -> impl Iterator<Item = &[u8]> {
        let items = self.buffer[self.items..].split(|byte| *byte == b',');
        items.map(|item| item.trim_ascii()).filter(|item| !item.is_empty())
    }

    pub(super) fn refused(&self, value: &str, problem: &str) -> InstanceError {
        let violation = Violation::new(format!("line {}", self.line), value, problem);
        InstanceError::Invalid { file: self.source.name().to_owned(), violation }
    }
}

/// The two words of each line of a small file.
fn for_each_pair(
    path: &str,
    mut visit: impl FnMut(&str, &str) -> Result<(), String>,
) -> Result<(), InstanceError> {
    let mut lines = Lines::open(path)?;
    while lines.source.read_line(&mut lines.buffer, LONGEST_LINE, lines.line + 1)? {
        lines.line += 1;
        let line = text(&lines.buffer);
        let mut words = line.split_whitespace();
        match (words.next(), words.next(), words.next()) {
            (None, ..) => {}
            (Some(first), Some(second), None) => {
                visit(first, second).map_err(|problem| lines.refused(&line, &problem))?;
            }
            _ => return Err(lines.refused(&line, "must be two words")),
        }
    }
    Ok(())
}

/// Cores and GB by letter.
pub(super) fn read_sizes(path: &str) -> Result<HashMap<Vec<u8>, [Decimal; 2]>, InstanceError> {
    let mut sizes = HashMap::new();
    for_each_pair(path, |size, letter| {
        let (cores, memory) = size.split_once(',').ok_or("must be cores,GB and a letter")?;
        let number = |text: &str| text.parse().map_err(|error: DecimalError| format!("{text} {error}"));
        let known = sizes.insert(letter.as_bytes().to_vec(), [number(cores)?, number(memory)?]);
        if known.is_some() { Err("the letter is there twice".into()) } else { Ok(()) }
    })?;
    Ok(sizes)
}

/// By bin: the middle between its smallest duration and the next bin's, in microseconds.
fn read_intervals(path: &str) -> Result<HashMap<u64, u64>, InstanceError> {
    let mut bins: Vec<(u64, u64, u64)> = Vec::new();
    for_each_pair(path, |seconds, bin| {
        let whole = |text: &str| text.parse::<u64>().map_err(|_| format!("{text} must be a whole number"));
        let (seconds, bin) = (whole(seconds)?, whole(bin)?);
        match bins.last_mut() {
            Some((_, _, largest)) if seconds <= *largest => Err("durations must ascend".into()),
            Some((last, _, largest)) if *last == bin => {
                *largest = seconds;
                Ok(())
            }
            Some((last, ..)) if bin < *last => Err("bins must ascend".into()),
            _ => {
                bins.push((bin, seconds, seconds));
                Ok(())
            }
        }
    })?;
    let ends = bins.iter().skip(1).map(|(_, smallest, _)| *smallest);
    // The last bin ends one step of the table after its largest duration, which is the first bin's length.
    let step = bins.get(1).map_or(1, |(_, smallest, _)| *smallest);
    let last = bins.last().map(|(_, _, largest)| largest.saturating_add(step));
    let middle = |(bin, end): (&(u64, u64, u64), u64)| {
        (bin.0, (bin.1.saturating_add(end)).saturating_mul(MICROSECONDS / 2))
    };
    Ok(bins.iter().zip(ends.chain(last)).map(middle).collect())
}

pub(super) fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}
