//! Logs in the Standard Workload Format (version 2): comments after `;`, then eighteen fields a line, -1 for unknown. What some logs add
//! behind them is left out.
//!
//! Source: S. Chapin et al., "Benchmarks and Standards for the Evaluation of Parallel Job Schedulers", 1999, and the
//! definition kept by the Parallel Workloads Archive.

use super::equal_servers::EqualServers;
use super::files::some;
use super::seconds::microseconds;
use fairplan_instances::files::source;
use fairplan_instances::trace::{DraftTasks, SortedTrace, TraceDraft};
use fairplan_instances::{Decimal, Gang, InstanceError, TaskRules, Violation};

const LONGEST_LINE: usize = 1 << 16;

const FIELDS: [&str; 18] = [
    "job number",
    "submit time",
    "wait time",
    "run time",
    "allocated processors",
    "average CPU time",
    "used memory",
    "requested processors",
    "requested time",
    "requested memory",
    "status",
    "user",
    "group",
    "executable",
    "queue",
    "partition",
    "preceding job",
    "think time",
];
const NUMBER: usize = 0;
const SUBMIT: usize = 1;
const RUN: usize = 3;
const ALLOCATED: usize = 4;
const REQUESTED: usize = 7;
const STATUS: usize = 10;
const USER: usize = 11;
const MEMORY: [usize; 2] = [6, 9];
const PRECEDING: usize = 16;

/// The log as a trace over the resource `processors`.
///
/// A job is as many tasks as processors were allocated to it (or asked for, where that is unknown), each of one processor;
/// they are submitted together, run for the job's run time and are placed one by one or, with `gangs`, start at once or not at all, as
/// on the machines of these logs. Servers are those given,
/// or else those that the log's comments describe: `MaxNodes` servers with equal parts of `MaxProcs` processors, or
/// `MaxProcs` servers of one processor where that does not divide. Jobs without a known user are of the user `unknown`.
/// Submissions that are times of the clock, as some logs have them, count from `UnixStartTime` or from the first.
/// Left out and counted: jobs of unknown or no run time or processors, and lines of a job's parts (status 2, 3, 4), whose
/// whole job has a line of its own.
///
/// # Errors
/// A file that cannot be read, a line that is not of the format (file, line, field and value are named), no jobs, servers
/// neither given nor described.
pub fn swf(path: &str, servers: Option<EqualServers>, gangs: bool) -> Result<SortedTrace, InstanceError> {
    let mut source = source::open(path)?;
    let invalid = |violation| InstanceError::Invalid { file: path.to_owned(), violation };
    let mut log = Log { gangs, ..Log::default() };
    let mut draft = TraceDraft::new("", "Standard Workload Format", &["processors"]);
    let demand = draft.shape(&[Decimal::ONE]);
    let mut buffer = Vec::new();
    let mut line = 0;
    while source.read_line(&mut buffer, LONGEST_LINE, line + 1)? {
        line += 1;
        let text = buffer.trim_ascii();
        if let Some(comment) = text.strip_prefix(b";") {
            log.comment(&String::from_utf8_lossy(comment));
        } else if !text.is_empty() {
            let fields = Fields::split(text, line).map_err(invalid)?;
            log.counted(&fields).map_err(invalid)?;
            log.job(&fields, demand, &mut draft).map_err(invalid)?;
        }
    }
    some(path, "jobs", log.jobs as usize)?;
    let servers = servers.or_else(|| log.servers()).ok_or_else(|| {
        let problem = "no comment states MaxProcs or MaxNodes; say with --servers and --processors how many servers there are";
        invalid(Violation::new("", "", problem))
    })?;
    let begins = log.begins();
    if begins > 0 {
        draft.shift(|time| time - begins);
        log.by_the_clock = log.jobs;
    }
    draft.classes(vec![servers.class()]);
    draft.name(if log.computer.is_empty() { "Workload log" } else { &log.computer });
    for (what, count) in [
        ("jobs in the log", log.jobs),
        ("jobs left out: their run time is unknown or zero", log.no_time),
        ("jobs left out: their processors are unknown or zero", log.no_processors),
        ("lines left out: parts of a job that has a line of its own", log.parts),
        ("jobs without a known user: of the user unknown", log.no_user),
        ("jobs whose line comes after that of a later one", log.unsorted),
        ("jobs that wait for another: here they come when they were submitted", log.waiting),
        ("jobs submitted at times since 1970: here they come so long after the log begins", log.by_the_clock),
        ("jobs whose memory is left out: servers have processors alone", log.memory),
        ("lines with more than eighteen fields: those behind are left out", log.longer),
    ] {
        draft.count(what, count);
    }
    draft.sort(path)
}

/// Ten years: a first job that comes later has a time of the clock.
const MOST_SINCE_THE_BEGINNING: u64 = 10 * 365 * 86_400 * 1_000_000;

/// What was read of a log.
#[derive(Default)]
struct Log {
    gangs: bool,
    computer: String,
    nodes: Option<u64>,
    processors: Option<u64>,
    jobs: u64,
    no_time: u64,
    no_processors: u64,
    parts: u64,
    no_user: u64,
    unsorted: u64,
    waiting: u64,
    memory: u64,
    /// Whether the lines of the log have more than the fields of the format, and of how many jobs.
    has_more: Option<bool>,
    longer: u64,
    by_the_clock: u64,
    /// `UnixStartTime`, and the first and the last submission, in microseconds.
    start: Option<u64>,
    earliest: Option<u64>,
    latest: u64,
}

impl Log {
    fn comment(&mut self, comment: &str) {
        let Some((key, value)) = comment.split_once(':') else { return };
        let (key, value) = (key.trim(), value.trim());
        let number = || value.split_whitespace().next().and_then(|word| word.parse().ok()).filter(|n| *n > 0);
        match key {
            "Computer" => self.computer = value.to_owned(),
            "MaxNodes" => self.nodes = number(),
            "MaxProcs" => self.processors = number(),
            "UnixStartTime" => self.start = number().and_then(|seconds| seconds.checked_mul(1_000_000)),
            _ => {}
        }
    }

    /// When a log begins whose submissions are times of the clock, where the format has them from the log's beginning; 0 of others.
    fn begins(&self) -> u64 {
        let earliest = self.earliest.unwrap_or(0);
        match self.start {
            Some(start) if start > MOST_SINCE_THE_BEGINNING && earliest >= start => start,
            _ if earliest > MOST_SINCE_THE_BEGINNING => earliest,
            _ => 0,
        }
    }

    fn servers(&self) -> Option<EqualServers> {
        let (count, processors) = match (self.nodes, self.processors) {
            (Some(nodes), Some(processors)) if processors.is_multiple_of(nodes) => {
                (nodes, processors / nodes)
            }
            (nodes, processors) => (processors.or(nodes)?, 1),
        };
        Some(EqualServers { count, capacity: vec![Decimal::new(processors, 0).ok()?] })
    }

    /// All lines have more fields than those of the format, or none has: else one of them lacks a field or has one too many.
    fn counted(&mut self, fields: &Fields<'_>) -> Result<(), Violation> {
        self.longer += u64::from(fields.has_more);
        if *self.has_more.get_or_insert(fields.has_more) == fields.has_more {
            return Ok(());
        }
        let (own, others) = if fields.has_more { ("more than", "just") } else { ("just", "more than") };
        let problem = format!(
            "has {own} the {} fields of the Standard Workload Format, and lines before it have {others} these",
            fields.texts.len()
        );
        Err(Violation::new(format!("line {}", fields.line), "", problem))
    }

    fn job(&mut self, fields: &Fields<'_>, demand: u32, draft: &mut TraceDraft) -> Result<(), Violation> {
        if fields.whole(STATUS)?.is_some_and(|status| (2..=4).contains(&status)) {
            self.parts += 1;
            return Ok(());
        }
        self.jobs += 1;
        let time = |field: usize| -> Result<Option<u64>, Violation> {
            let time = |seconds| microseconds(seconds).map_err(|problem| fields.refused(field, problem));
            fields.number(field)?.map(time).transpose()
        };
        let submitted = time(SUBMIT)?.ok_or_else(|| fields.refused(SUBMIT, "must be known"))?;
        // Whatever is below zero is not known.
        let run = match fields.texts[RUN] {
            [b'-', ..] => None,
            _ => time(RUN)?.filter(|run| *run > 0),
        };
        let processors = match fields.whole(ALLOCATED)? {
            None | Some(0) => fields.whole(REQUESTED)?,
            allocated => allocated,
        };
        self.unsorted += u64::from(submitted < self.latest);
        self.latest = self.latest.max(submitted);
        self.earliest = Some(self.earliest.map_or(submitted, |earliest| earliest.min(submitted)));
        let (Some(duration), Some(processors)) = (run, processors.filter(|count| *count > 0)) else {
            *(if run.is_none() { &mut self.no_time } else { &mut self.no_processors }) += 1;
            return Ok(());
        };
        let is_stated = |field: usize| !matches!(fields.texts[field], b"0") && !fields.is_unknown(field);
        self.waiting += u64::from(is_stated(PRECEDING));
        self.memory += u64::from(MEMORY.into_iter().any(is_stated));
        let count = u32::try_from(processors).map_err(|_| fields.refused(ALLOCATED, "is too large"))?;
        let user = fields.whole(USER)?;
        self.no_user += u64::from(user.is_none());
        let user = draft.user(&user.map_or("unknown".into(), |user| format!("user-{user}")))?;
        let number = fields.whole(NUMBER)?.ok_or_else(|| fields.refused(NUMBER, "must be known"))?;
        let job = draft
            .new_job(&number.to_string())
            .map_err(|violation| fields.refused(NUMBER, &violation.problem))?;
        let gang = Gang { tasks: count.into(), in_one_domain: false };
        let rules = TaskRules { gang: Some(gang), ..TaskRules::default() };
        let is_gang = self.gangs && count > 1;
        let rules = is_gang.then(|| draft.rules(&format!("gang-{count}"), rules));
        draft.submit(DraftTasks { time: submitted, duration, user, job, demand, count, rules });
        Ok(())
    }
}

/// One line of a job.
struct Fields<'a> {
    line: u64,
    texts: [&'a [u8]; 18],
    /// Whether the line has more, which logs with additions of their own have.
    has_more: bool,
}

impl<'a> Fields<'a> {
    fn split(text: &'a [u8], line: u64) -> Result<Self, Violation> {
        let mut texts = [&[] as &[u8]; 18];
        let mut count = 0;
        for word in text.split(|byte| byte.is_ascii_whitespace()).filter(|word| !word.is_empty()) {
            if let Some(field) = texts.get_mut(count) {
                *field = word;
            }
            count += 1;
        }
        if count < texts.len() {
            let problem = format!(
                "has {count} of the {} fields that a job of the Standard Workload Format has",
                texts.len()
            );
            return Err(Violation::new(format!("line {line}"), "", problem));
        }
        let fields = Self { line, texts, has_more: count > texts.len() };
        // Other formats begin like this one, but not all of their first eighteen fields are numbers.
        if fields.has_more {
            for field in 0..fields.texts.len() {
                let is_number = std::str::from_utf8(fields.texts[field])
                    .is_ok_and(|text| text.parse::<f64>().is_ok_and(f64::is_finite));
                if !is_number {
                    let problem = format!(
                        "is no number, and the line has {count} fields: this is no log of the Standard Workload Format with more fields behind \
                         its {}; write these {} alone, and a ; before lines that are no jobs",
                        fields.texts.len(),
                        fields.texts.len()
                    );
                    return Err(fields.refused(field, &problem));
                }
            }
        }
        Ok(fields)
    }

    fn is_unknown(&self, field: usize) -> bool {
        matches!(self.texts[field], b"-1" | b"-1.0" | b"-1.00")
    }

    /// A number; nothing for -1.
    fn number(&self, field: usize) -> Result<Option<Decimal>, Violation> {
        match self.texts[field] {
            _ if self.is_unknown(field) => Ok(None),
            text => Decimal::parse(text).map(Some).map_err(|error| self.refused(field, &error.to_string())),
        }
    }

    /// A whole number; nothing for -1.
    fn whole(&self, field: usize) -> Result<Option<u64>, Violation> {
        let whole = |number: Decimal| number.scaled(0).and_then(|whole| u64::try_from(whole).ok());
        let refused = || self.refused(field, "must be a whole number, or -1 for unknown");
        self.number(field)?.map(|number| whole(number).ok_or_else(refused)).transpose()
    }

    fn refused(&self, field: usize, problem: &str) -> Violation {
        let place = format!("line {}, field {} ({})", self.line, field + 1, FIELDS[field]);
        Violation::new(place, String::from_utf8_lossy(self.texts[field]), problem)
    }
}
