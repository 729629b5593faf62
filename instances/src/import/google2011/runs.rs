//! How long each task ran: its rows from SCHEDULE to the end, all its runs together.

use super::rows::Row;
use super::tasks::{Event, TaskRow};
use crate::InstanceError;
use crate::google2011::CpuMemory;
use crate::trace::{DraftTasks, TraceDraft};
use hashbrown::HashMap;

/// The trace begins here; rows of time 0 tell the state before it.
const TRACE_BEGINS: u64 = 600_000_000;

/// Where a task stands.
#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Waiting,
    /// Since this time of the trace.
    Running(u64),
    Ended,
}

/// A task that was met, by numbers of the draft.
struct Task {
    job: u32,
    user: Option<u32>,
    demand: Option<u32>,
    asks_nothing: bool,
    /// In microseconds since the beginning.
    submitted: u64,
    /// For how long, in microseconds.
    ran: u64,
    has_run: bool,
    state: State,
}

/// Follows the rows of task events.
pub(super) struct Runs {
    tasks: HashMap<(u64, u64), Task>,
    /// Jobs of the draft by the trace's ids.
    jobs: HashMap<u64, u32>,
    window: Option<Window>,
    counts: Counts,
}

/// The part of the trace that was read.
#[derive(Clone, Copy)]
pub(super) struct Window {
    /// Time 0 of what is imported, in the trace's time.
    pub begins: u64,
    /// The time of the last row.
    pub ends: u64,
    /// Whether the rows tell the state at the beginning.
    is_complete: bool,
}

/// What deserves to be told.
#[derive(Default)]
struct Counts {
    made_up: u64,
    running_before: u64,
    waiting_before: u64,
    submitted_again: u64,
    missing_ends: u64,
    ends_unseen: u64,
    ends_repeated: u64,
    deviating_requests: u64,
}

impl Counts {
    /// When a task that is first met in this row was submitted, where it stands after it, and for how long it has run.
    fn first_met(&mut self, event: Event, time: u64, window: Window) -> (u64, State, u64) {
        match event {
            Event::Submit => return (window.since(time), State::Waiting, 0),
            Event::UpdatePending | Event::Schedule => self.waiting_before += 1,
            Event::UpdateRunning | Event::End => self.running_before += 1,
        }
        match event {
            Event::Submit | Event::UpdatePending => (0, State::Waiting, 0),
            Event::Schedule => (0, State::Running(time), 0),
            Event::UpdateRunning => (0, State::Running(window.begins), 0),
            // It ran when the first row was written.
            Event::End => (0, State::Ended, window.since(time)),
        }
    }
}

impl Window {
    /// A time of the trace as microseconds since the beginning.
    pub fn since(&self, time: u64) -> u64 {
        time.saturating_sub(self.begins)
    }
}

impl Runs {
    pub fn new() -> Self {
        Self { tasks: HashMap::new(), jobs: HashMap::new(), window: None, counts: Counts::default() }
    }

    /// Follows one row.
    pub fn apply(&mut self, row: &Row<'_, 13>, draft: &mut TraceDraft) -> Result<(), InstanceError> {
        let TaskRow { event, task: key, user, request, made_up } = TaskRow::read(row)?;
        let time = row.time();
        let window = self.window.get_or_insert(Window {
            begins: time.max(TRACE_BEGINS),
            ends: time,
            is_complete: time == 0,
        });
        window.ends = time.max(window.begins);
        let (window, time) = (*window, time.max(window.begins));
        let refused = |violation| row.invalid(violation);
        self.counts.made_up += u64::from(made_up);
        let user = user.map(|user| draft.user(user)).transpose().map_err(refused)?;
        let asks_nothing = request.is_some_and(|request: CpuMemory| request.iter().all(|r| r.is_zero()));
        let demand = request.map(|request| draft.shape(&request));

        let Some(task) = self.tasks.get_mut(&key) else {
            if window.is_complete && matches!(event, Event::End) {
                self.counts.ends_unseen += 1;
                return Ok(());
            }
            let job = match self.jobs.get(&key.0) {
                Some(job) => *job,
                None => {
                    let job = draft.job(&key.0.to_string()).map_err(refused)?;
                    self.jobs.insert(key.0, job);
                    job
                }
            };
            let (submitted, state, ran) = self.counts.first_met(event, time, window);
            let has_run = state != State::Waiting;
            self.tasks.insert(key, Task { job, user, demand, asks_nothing, submitted, ran, has_run, state });
            return Ok(());
        };
        task.user = task.user.or(user);
        if task.demand.is_none() {
            (task.demand, task.asks_nothing) = (demand, asks_nothing);
        } else if demand.is_some() && demand != task.demand {
            self.counts.deviating_requests += 1;
        }
        let since = if let State::Running(since) = task.state { Some(since) } else { None };
        match event {
            Event::Submit => {
                self.counts.submitted_again += 1;
                self.counts.missing_ends += u64::from(since.is_some());
                task.ran += since.map_or(0, |since| time - since);
                task.state = State::Waiting;
            }
            Event::Schedule | Event::UpdateRunning => {
                let again = since.is_some() && matches!(event, Event::Schedule);
                self.counts.missing_ends += u64::from(again);
                task.has_run = true;
                task.state = State::Running(since.unwrap_or(time));
            }
            Event::UpdatePending => {}
            Event::End => {
                self.counts.ends_repeated += u64::from(task.state == State::Ended);
                task.ran += since.map_or(0, |since| time - since);
                task.state = State::Ended;
            }
        }
        Ok(())
    }

    /// Enters the tasks in the draft, each or the reason why not counted once, and returns what part of the trace was
    /// read; nothing if there were no rows.
    pub fn finish(self, draft: &mut TraceDraft) -> Option<Window> {
        let window = self.window?;
        draft.count("tasks in the rows read", self.tasks.len() as u64);
        let [mut no_user, mut no_request, mut nothing, mut never_ran, mut no_time, mut cut_off] = [0; 6];
        for task in self.tasks.into_values() {
            let running = if let State::Running(since) = task.state { Some(since) } else { None };
            let duration = task.ran + running.map_or(0, |since| window.ends - since);
            let (Some(user), Some(demand)) = (task.user, task.demand) else {
                *(if task.user.is_none() { &mut no_user } else { &mut no_request }) += 1;
                continue;
            };
            if task.asks_nothing {
                nothing += 1;
            } else if duration > 0 {
                cut_off += u64::from(running.is_some());
                let (time, job) = (task.submitted, task.job);
                draft.submit(DraftTasks { time, duration, user, job, demand, count: 1 });
            } else if task.has_run {
                no_time += 1;
            } else {
                never_ran += 1;
            }
        }
        let counts = self.counts;
        for (what, count) in [
            ("tasks left out: no row names their user", no_user),
            ("tasks left out: no row states a request", no_request),
            ("tasks left out: they ask for neither CPU nor memory", nothing),
            ("tasks left out: they did not run in these rows", never_ran),
            ("tasks left out: they ran for no time", no_time),
            (
                "tasks that ran before the first row: submitted at time 0, from when on their time counts",
                counts.running_before,
            ),
            ("tasks that waited before the first row: submitted at time 0", counts.waiting_before),
            ("tasks that run after the last row: their time until then counts", cut_off),
            ("times a task was submitted again: its runs are added up", counts.submitted_again),
            ("runs without an end: the next row of the task ends them", counts.missing_ends),
            ("ends of tasks that had ended: not used", counts.ends_repeated),
            ("ends of tasks that were never there: not used", counts.ends_unseen),
            ("rows with another request than the first of their task: not used", counts.deviating_requests),
            ("rows made up by the makers of the trace for lost ones", counts.made_up),
        ] {
            draft.count(what, count);
        }
        Some(window)
    }
}
