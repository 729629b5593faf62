//! A trace that comes in any order: what importers gather, and then sort into events.

use super::{Event, EventSource, MOST_DECIMAL_PLACES, NewTasks, Register, TraceHeader, TraceResource};
use crate::{Decimal, IdTable, InstanceError, ServerClass, TaskRules, Violation};
use hashbrown::HashMap;
use std::cmp::Ordering;

/// Tasks and servers in any order, with names by position in the draft.
pub struct TraceDraft {
    header: TraceHeader,
    users: IdTable,
    jobs: IdTable,
    servers: IdTable,
    shapes: Vec<Vec<Decimal>>,
    known_shapes: HashMap<Vec<Decimal>, u32>,
    tasks: Vec<DraftTasks>,
    states: Vec<ServerState>,
}

/// Identical tasks; names are positions in the draft.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DraftTasks {
    /// In microseconds.
    pub time: u64,
    /// In microseconds.
    pub duration: u64,
    /// Whose tasks they are.
    pub user: u32,
    /// The job they belong to.
    pub job: u32,
    /// What one of them demands.
    pub demand: u32,
    /// How many they are.
    pub count: u32,
    /// The rules that they meet, if any.
    pub rules: Option<u32>,
}

/// From `time` on the server has this capacity, or is not there.
#[derive(Clone, Copy)]
struct ServerState {
    time: u64,
    server: u32,
    capacity: Option<u32>,
}

/// What happens to a server, in the order in which it may happen at one time.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum ServerChange {
    Removed,
    Added,
    Changed,
}

impl TraceDraft {
    /// An empty draft; `source` tells people where the trace comes from.
    pub fn new(name: &str, source: &str, resources: &[&str]) -> Self {
        let header = TraceHeader { source: source.into(), ..TraceHeader::new(name, resources) };
        Self {
            header,
            users: IdTable::default(),
            jobs: IdTable::default(),
            servers: IdTable::default(),
            shapes: Vec::new(),
            known_shapes: HashMap::new(),
            tasks: Vec::new(),
            states: Vec::new(),
        }
    }

    /// Calls the trace so.
    pub fn name(&mut self, name: &str) {
        self.header.name = name.to_owned();
    }

    /// Every server has the resource at this position in whole devices of this size.
    pub fn device(&mut self, resource: usize, size: Decimal) {
        if let Some(resource) = self.header.resources.get_mut(resource) {
            resource.device = Some(size);
        }
    }

    /// Servers that are there from the beginning.
    pub fn classes(&mut self, classes: Vec<ServerClass>) {
        self.header.server_classes = classes;
    }

    /// Says how many there were of something, unless there were none.
    pub fn count(&mut self, what: &str, count: u64) {
        if count > 0 {
            self.header.counts.push((what.to_owned(), count));
        }
    }

    /// The position of a user.
    pub fn user(&mut self, id: &str) -> Result<u32, Violation> {
        position(&mut self.users, id, "user")
    }

    /// The position of a job.
    pub fn job(&mut self, id: &str) -> Result<u32, Violation> {
        position(&mut self.jobs, id, "job")
    }

    /// The position of rules that tasks can meet, called so; what they say is what was said of them first.
    pub fn rules(&mut self, name: &str, rules: TaskRules) -> u32 {
        let all = &mut self.header.rules;
        let known = all.iter().position(|(other, _)| other == name);
        known.unwrap_or_else(|| {
            all.push((name.to_owned(), rules));
            all.len() - 1
        }) as u32
    }

    /// Whether there is a job of this id.
    pub fn has_job(&self, id: &str) -> bool {
        self.jobs.position(id).is_some()
    }

    /// The position of a job that was not there before.
    pub fn new_job(&mut self, id: &str) -> Result<u32, Violation> {
        let new = self.jobs.insert(id).map(|position| position as u32);
        new.ok_or_else(|| Violation::new("job", id, "duplicate id"))
    }

    /// Moves the submissions in time.
    pub fn shift(&mut self, time: impl Fn(u64) -> u64) {
        self.tasks.iter_mut().for_each(|tasks| tasks.time = time(tasks.time));
    }

    /// The position of so much of each resource.
    pub fn shape(&mut self, amounts: &[Decimal]) -> u32 {
        if let Some(known) = self.known_shapes.get(amounts) {
            return *known;
        }
        // More than 2^32 different ones do not fit in memory.
        let shape = self.shapes.len() as u32;
        self.shapes.push(amounts.to_vec());
        self.known_shapes.insert(amounts.to_vec(), shape);
        shape
    }

    /// So much of each resource has this position.
    pub fn amounts(&self, shape: u32) -> &[Decimal] {
        &self.shapes[shape as usize]
    }

    /// Tasks are submitted.
    pub fn submit(&mut self, tasks: DraftTasks) {
        self.tasks.push(tasks);
    }

    /// From `time` on the server has this capacity, or is not there. The last word of a time counts.
    pub fn server(&mut self, time: u64, id: &str, capacity: Option<&[Decimal]>) -> Result<(), Violation> {
        let capacity = capacity.map(|capacity| self.shape(capacity));
        let server = position(&mut self.servers, id, "server")?;
        self.states.push(ServerState { time, server, capacity });
        Ok(())
    }

    /// Sorts everything by time. Tasks that no server of the trace could ever hold are left out and counted, where there
    /// are servers at all; equal tasks of a job at one time become one event. What is wrong is wrong in `files`.
    pub fn sort(self, files: &str) -> Result<SortedTrace, InstanceError> {
        self.sorted(files).map_err(|violation| violation.in_file(files))
    }

    /// The same; what is wrong is not yet said to be in a file.
    pub fn sorted(mut self, files: &str) -> Result<SortedTrace, Violation> {
        self.leave_out_too_large();
        self.tasks.sort_unstable_by(|a, b| a.order().cmp(&b.order()).then(a.duration.cmp(&b.duration)));
        self.tasks.dedup_by(|next, kept| {
            let alike = kept.order() == next.order() && kept.duration == next.duration;
            let sum = kept.count.checked_add(next.count).filter(|_| alike && kept.user == next.user);
            kept.count = sum.unwrap_or(kept.count);
            sum.is_some()
        });
        let changes = self.server_changes();
        let mut last_of_job = vec![0; self.jobs.len()];
        for (position, tasks) in self.tasks.iter().enumerate() {
            last_of_job[tasks.job as usize] = position;
        }
        let mut header = self.header;
        set_decimal_places(&mut header.resources, &self.shapes, &header.server_classes)?;
        Ok(SortedTrace {
            files: files.to_owned(),
            register: Register::new(header)?,
            users: self.users,
            jobs: self.jobs,
            servers: self.servers,
            shapes: self.shapes,
            tasks: self.tasks,
            changes,
            last_of_job,
            next_tasks: 0,
            next_change: 0,
            job: None,
        })
    }

    fn leave_out_too_large(&mut self) {
        let classes = self.header.server_classes.iter().map(|class| class.capacity.as_slice());
        let states = self.states.iter().filter_map(|state| state.capacity);
        let mut capacities: Vec<&[Decimal]> =
            states.map(|shape| self.shapes[shape as usize].as_slice()).collect();
        capacities.sort_unstable_by_key(|capacity| capacity.as_ptr());
        capacities.dedup_by_key(|capacity| capacity.as_ptr());
        capacities.extend(classes);
        if capacities.is_empty() {
            return;
        }
        let fits = |demand: &[Decimal]| {
            let within = |(a, b): (&Decimal, &Decimal)| compare(*a, *b) != Ordering::Greater;
            capacities.iter().any(|capacity| demand.iter().zip(*capacity).all(within))
        };
        let fits: Vec<bool> = self.shapes.iter().map(|shape| fits(shape)).collect();
        let mut left_out = 0;
        self.tasks.retain(|tasks| {
            let fits = fits[tasks.demand as usize];
            left_out += if fits { 0 } else { u64::from(tasks.count) };
            fits
        });
        self.count("tasks left out: larger than every server", left_out);
    }

    /// What happens to servers, in order; nothing where a server stays as it is.
    fn server_changes(&mut self) -> Vec<(u64, ServerChange, ServerState)> {
        // Stable: the last word of a time counts.
        self.states.sort_by_key(|state| (state.time, state.server));
        let mut current: Vec<Option<u32>> = vec![None; self.servers.len()];
        let mut changes = Vec::new();
        for (position, state) in self.states.iter().enumerate() {
            let next = self.states.get(position + 1);
            if next.is_some_and(|next| (next.time, next.server) == (state.time, state.server)) {
                continue;
            }
            let change = match (current[state.server as usize], state.capacity) {
                (None, Some(_)) => ServerChange::Added,
                (Some(_), None) => ServerChange::Removed,
                (Some(old), Some(new)) if old != new => ServerChange::Changed,
                _ => continue,
            };
            current[state.server as usize] = state.capacity;
            changes.push((state.time, change, *state));
        }
        changes.sort_by_key(|(time, change, _)| (*time, *change));
        changes
    }
}

impl DraftTasks {
    fn order(&self) -> (u64, u32, u32, Option<u32>) {
        (self.time, self.job, self.demand, self.rules)
    }
}

/// The position of `id` in `table`, new or known.
fn position(table: &mut IdTable, id: &str, what: &str) -> Result<u32, Violation> {
    match table.position(id).or_else(|| table.insert(id)) {
        Some(position) => Ok(position as u32),
        None => Err(Violation::new(what, id, "there are more different ones than can be numbered")),
    }
}

/// Which of two decimals is larger.
fn compare(a: Decimal, b: Decimal) -> Ordering {
    let unit = a.exponent().min(b.exponent());
    match (a.scaled(unit), b.scaled(unit)) {
        (Some(a), Some(b)) => a.cmp(&b),
        // So far apart that doubles tell them apart.
        _ => a.to_f64().total_cmp(&b.to_f64()),
    }
}

/// As many decimal places as the amounts need.
fn set_decimal_places(
    resources: &mut [TraceResource],
    shapes: &[Vec<Decimal>],
    classes: &[ServerClass],
) -> Result<(), Violation> {
    let capacities = classes.iter().map(|class| &class.capacity);
    for (position, resource) in resources.iter_mut().enumerate() {
        let amounts = shapes.iter().chain(capacities.clone()).map(|amounts| amounts[position]);
        let Some(finest) = amounts.chain(resource.device).min_by_key(|amount| amount.exponent()) else {
            continue;
        };
        let places = finest.exponent().min(0).unsigned_abs();
        if places > MOST_DECIMAL_PLACES {
            let problem = format!("has more than {MOST_DECIMAL_PLACES} decimal places; round it");
            return Err(Violation::new(&resource.name, finest, problem));
        }
        resource.decimal_places = places;
    }
    Ok(())
}

/// A sorted draft: a trace that can be read once, from the beginning.
pub struct SortedTrace {
    /// Where it comes from, for messages.
    files: String,
    register: Register,
    users: IdTable,
    jobs: IdTable,
    servers: IdTable,
    shapes: Vec<Vec<Decimal>>,
    tasks: Vec<DraftTasks>,
    changes: Vec<(u64, ServerChange, ServerState)>,
    /// By job: the position of its last tasks.
    last_of_job: Vec<usize>,
    next_tasks: usize,
    next_change: usize,
    job: Option<u32>,
}

impl SortedTrace {
    fn next_violation(&mut self) -> Result<Option<Event>, Violation> {
        self.job = None;
        let tasks = self.tasks.get(self.next_tasks);
        let change = self.changes.get(self.next_change);
        if let Some((time, change, state)) = change.copied()
            && tasks.is_none_or(|tasks| time <= tasks.time)
        {
            self.next_change += 1;
            let id = self.servers.get(state.server as usize);
            let capacity = state.capacity.map(|shape| self.shapes[shape as usize].as_slice());
            return match (change, capacity) {
                (ServerChange::Added, Some(capacity)) => self.register.server_added(time, id, capacity),
                (ServerChange::Changed, Some(capacity)) => self.register.server_changed(time, id, capacity),
                _ => self.register.server_removed(time, id),
            }
            .map(Some);
        }
        let Some(tasks) = tasks.copied() else { return self.register.finish().map(|()| None) };
        let more = self.last_of_job[tasks.job as usize] != self.next_tasks;
        self.next_tasks += 1;
        self.job = Some(tasks.job);
        let (user, job) = (self.users.get(tasks.user as usize), self.jobs.get(tasks.job as usize));
        let demand = self.shapes[tasks.demand as usize].as_slice();
        let DraftTasks { time, count, duration, .. } = tasks;
        let known = &self.register.header().rules;
        let rules = tasks.rules.and_then(|rules| known.get(rules as usize)).map(|(name, _)| name.clone());
        let rules = rules.as_deref();
        self.register.submitted(time, NewTasks { user, job, demand, count, duration, rules, more }).map(Some)
    }
}

impl EventSource for SortedTrace {
    fn register(&self) -> &Register {
        &self.register
    }

    fn next_event(&mut self) -> Result<Option<Event>, InstanceError> {
        let next = self.next_violation();
        next.map_err(|violation| violation.in_file(&self.files))
    }

    fn job_id(&self) -> &str {
        self.job.map(|job| self.jobs.get(job as usize)).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files::write_trace;

    fn amounts(texts: [&str; 2]) -> Vec<Decimal> {
        texts.iter().map(|text| text.parse().unwrap()).collect()
    }

    /// The trace's lines, each without what is the same in all of them.
    fn lines(draft: TraceDraft) -> Vec<String> {
        let mut bytes = Vec::new();
        write_trace(&mut draft.sorted("").unwrap(), "", &mut bytes).unwrap();
        let text = String::from_utf8(bytes).unwrap();
        let short = |line: &str| line.replace("\"event\": ", "").replace("\"tasks_submitted\", ", "");
        text.lines().map(short).collect()
    }

    fn draft() -> TraceDraft {
        TraceDraft::new("t", "", &["a", "b"])
    }

    #[test]
    fn tasks_are_sorted_merged_where_equal_and_the_last_of_a_job_are_told_apart() {
        let mut draft = draft();
        let user = draft.user("u").unwrap();
        let (i, j) = (draft.job("i").unwrap(), draft.job("j").unwrap());
        let demand = draft.shape(&amounts(["0.25", "0"]));
        let tasks = DraftTasks { time: 2_000_000, duration: 5, user, job: i, demand, count: 1, rules: None };
        draft.submit(tasks);
        draft.submit(DraftTasks { job: j, ..tasks });
        draft.submit(DraftTasks { time: 1_000_000, ..tasks });
        draft.submit(DraftTasks { count: 3, ..tasks });
        draft.submit(DraftTasks { duration: 4, ..tasks });
        let expected = [
            r#"{"format": "fairplan.trace.v1", "name": "t", "resources": ["a", "b"], "decimal_places": {"a": 2, "b": 0}}"#,
            r#"{"time": 1, "user": "u", "job": "i", "demand": {"a": 0.25}, "duration": 0.000005, "more": true}"#,
            r#"{"time": 2, "user": "u", "job": "i", "demand": {"a": 0.25}, "duration": 0.000004, "more": true}"#,
            r#"{"time": 2, "user": "u", "job": "i", "demand": {"a": 0.25}, "duration": 0.000005, "count": 4}"#,
            r#"{"time": 2, "user": "u", "job": "j", "demand": {"a": 0.25}, "duration": 0.000005}"#,
        ];
        assert_eq!(lines(draft), expected);
    }

    #[test]
    fn of_several_words_on_a_server_at_one_time_the_last_counts_and_what_changes_nothing_is_no_event() {
        let mut draft = draft();
        let (one, two) = (amounts(["1", "1"]), amounts(["2", "1"]));
        draft.server(3_000_000, "s", None).unwrap();
        draft.server(0, "s", Some(&two)).unwrap();
        draft.server(0, "s", Some(&one)).unwrap();
        draft.server(1_000_000, "s", Some(&one)).unwrap();
        draft.server(2_000_000, "s", Some(&two)).unwrap();
        draft.server(3_000_000, "t", Some(&one)).unwrap();
        draft.server(4_000_000, "s", None).unwrap();
        draft.server(4_000_000, "t", None).unwrap();
        draft.server(4_000_000, "t", Some(&one)).unwrap();
        let expected = [
            r#"{"time": 0, "server_added", "server": "s", "capacity": {"a": 1, "b": 1}}"#,
            r#"{"time": 2, "server_changed", "server": "s", "capacity": {"a": 2, "b": 1}}"#,
            r#"{"time": 3, "server_removed", "server": "s"}"#,
            r#"{"time": 3, "server_added", "server": "t", "capacity": {"a": 1, "b": 1}}"#,
        ];
        assert_eq!(lines(draft)[1..], expected);
    }

    #[test]
    fn tasks_that_no_server_could_ever_hold_are_left_out_and_counted() {
        let mut draft = draft();
        draft.server(7, "s", Some(&amounts(["1", "0.3"]))).unwrap();
        draft.classes(vec![ServerClass::new("c", 1, amounts(["0.5", "2"]))]);
        let user = draft.user("u").unwrap();
        for (job, demand) in
            [("fits s", ["1", "0.3"]), ("fits c", ["0.1", "2"]), ("fits none", ["0.6", "0.4"])]
        {
            let (job, demand) = (draft.job(job).unwrap(), draft.shape(&amounts(demand)));
            draft.submit(DraftTasks { time: 0, duration: 1, user, job, demand, count: 2, rules: None });
        }
        let lines = lines(draft);
        assert!(
            lines[0].contains(r#""counts": {"tasks left out: larger than every server": 2}"#),
            "{}",
            lines[0]
        );
        assert_eq!(lines.iter().filter(|line| line.contains("job")).count(), 2);
    }

    #[test]
    fn amounts_finer_than_can_be_counted_are_refused() {
        let mut draft = draft();
        draft.shape(&amounts(["1", "1e-19"]));
        let refused = draft.sorted("").err().unwrap().to_string();
        assert_eq!(refused, "b = 1e-19: has more than 18 decimal places; round it");
    }

    #[test]
    fn decimals_are_compared_over_the_whole_range() {
        let ordered = ["0", "1e-30", "0.1", "0.10000000000000001", "1", "10", "1e29"];
        for (i, a) in ordered.iter().enumerate() {
            for (j, b) in ordered.iter().enumerate() {
                assert_eq!(compare(a.parse().unwrap(), b.parse().unwrap()), i.cmp(&j), "{a} {b}");
            }
        }
    }
}
