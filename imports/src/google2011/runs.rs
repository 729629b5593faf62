//! How long each task ran: its rows from SCHEDULE to the end, all its runs together.
//!
//! Where job events are read, they say what rows of tasks leave open, and a job that has ended is entered in the draft and
//! forgotten: what is kept besides the draft then follows the jobs in progress.

use super::jobs::{self, JobRow};
use super::rows::Row;
use super::tasks::{self, Event, TaskRow};
use fairplan_instances::InstanceError;
use fairplan_instances::trace::{DraftTasks, TraceDraft};
use hashbrown::{HashMap, HashSet};
use std::collections::VecDeque;

/// The trace begins here; rows of time 0 tell the state before it.
const TRACE_BEGINS: u64 = 600_000_000;

/// Rows of tasks come up to this long after the row that ends their job, in microseconds. (In the published hours they come
/// up to 235 microseconds later.)
const AFTERMATH: u64 = 1_000_000;

/// Where a task stands.
#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Waiting,
    /// Since this time of the trace.
    Running(u64),
    Ended,
}

/// A task that was met.
struct Task {
    /// By number of the draft.
    demand: Option<u32>,
    /// In microseconds since the beginning.
    submitted: u64,
    /// For how long, in microseconds.
    ran: u64,
    has_run: bool,
    state: State,
}

/// A job that was met and is not over, by numbers of the draft.
#[derive(Default)]
struct Job {
    /// If it has tasks.
    number: Option<u32>,
    user: Option<u32>,
    /// Whether rows of its tasks name the user.
    user_is_in_tasks: bool,
    is_in_job_events: bool,
    /// When job events say that it was submitted and ended, in the trace's time.
    submitted: Option<u64>,
    ended: Option<u64>,
    tasks: HashMap<u64, Task>,
}

/// Follows the rows of task events and job events.
pub(super) struct Runs {
    jobs: HashMap<u64, Job>,
    /// Jobs that ended and when, until they are entered in the draft.
    ended: VecDeque<(u64, u64)>,
    /// The machines that tasks were scheduled on.
    machines: HashSet<u64>,
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
    tasks: u64,
    no_user: u64,
    no_request: u64,
    asking_nothing: u64,
    never_ran: u64,
    no_time: u64,
    cut_off: u64,
    made_up: u64,
    running_before: u64,
    waiting_before: u64,
    submitted_with_job: u64,
    submitted_again: u64,
    missing_ends: u64,
    ended_with_job: u64,
    ends_unseen: u64,
    ends_repeated: u64,
    after_job: u64,
    deviating_requests: u64,
    users_of_jobs: u64,
    jobs_untold: u64,
    jobs_without_tasks: u64,
}

impl Window {
    /// A time of the trace as microseconds since the beginning.
    pub fn since(&self, time: u64) -> u64 {
        time.saturating_sub(self.begins)
    }
}

impl Counts {
    /// A task that is first met in this row, unless there never was one.
    fn first_met(&mut self, event: Event, time: u64, window: Window, job: &Job) -> Option<Task> {
        let begins = job.submitted.map_or(window.begins, |submitted| submitted.max(window.begins));
        let is_complete = window.is_complete || job.submitted.is_some();
        match event {
            Event::Submit => {}
            Event::End if is_complete => {
                self.ends_unseen += 1;
                return None;
            }
            _ if job.submitted.is_some() => self.submitted_with_job += 1,
            Event::UpdatePending | Event::Schedule => self.waiting_before += 1,
            Event::UpdateRunning | Event::End => self.running_before += 1,
        }
        let submitted = window.since(if event == Event::Submit { time } else { begins });
        let (state, ran) = match event {
            Event::Submit | Event::UpdatePending => (State::Waiting, 0),
            Event::Schedule => (State::Running(time), 0),
            Event::UpdateRunning => (State::Running(begins), 0),
            // It ran when the first row was written.
            Event::End => (State::Ended, window.since(time)),
        };
        Some(Task { demand: None, submitted, ran, has_run: state != State::Waiting, state })
    }
}

impl Runs {
    pub fn new() -> Self {
        let (jobs, ended, machines) = (HashMap::new(), VecDeque::new(), HashSet::new());
        Self { jobs, ended, machines, window: None, counts: Counts::default() }
    }

    /// Follows one row of task events.
    pub fn task(&mut self, row: &Row<'_, 13>, draft: &mut TraceDraft) -> Result<(), InstanceError> {
        let TaskRow { event, task: (job_id, index), user, machine, request, made_up } = TaskRow::read(row)?;
        let time = row.time();
        let window = self.window.get_or_insert(Window {
            begins: time.max(TRACE_BEGINS),
            ends: time,
            is_complete: time == 0,
        });
        window.ends = time.max(window.begins);
        let (window, time) = (*window, time.max(window.begins));
        self.close_jobs(time, draft);
        let refused = |violation| row.invalid(violation);
        self.counts.made_up += u64::from(made_up);
        self.machines.extend(machine.filter(|_| event == Event::Schedule));
        let user = user.map(|user| draft.user(user)).transpose().map_err(refused)?;
        let demand = request.map(|request| draft.shape(&request));

        if !self.jobs.contains_key(&job_id) && draft.has_job(&job_id.to_string()) {
            self.counts.after_job += 1;
            return Ok(());
        }
        let job = self.jobs.entry(job_id).or_default();
        if job.number.is_none() {
            job.number = Some(draft.job(&job_id.to_string()).map_err(refused)?);
        }
        if user.is_some() && job.user.is_some() && user != job.user {
            return Err(row.refused(tasks::USER, &format!("the job {job_id} is of another user")));
        }
        job.user = job.user.or(user);
        job.user_is_in_tasks |= user.is_some();
        let Some(task) = job.tasks.get_mut(&index) else {
            if let Some(task) = self.counts.first_met(event, time, window, job) {
                job.tasks.insert(index, Task { demand, ..task });
            }
            return Ok(());
        };
        if task.demand.is_none() {
            task.demand = demand;
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
                let again = since.is_some() && event == Event::Schedule;
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

    /// Follows one row of job events; it comes before the rows of tasks of its time.
    pub fn job(&mut self, row: &Row<'_, 8>, draft: &mut TraceDraft) -> Result<(), InstanceError> {
        let JobRow { event, job: id, user, made_up } = JobRow::read(row)?;
        let user =
            user.map(|user| draft.user(user)).transpose().map_err(|violation| row.invalid(violation))?;
        self.counts.made_up += u64::from(made_up);
        let job = self.jobs.entry(id).or_default();
        if user.is_some() && job.user.is_some() && user != job.user {
            return Err(row.refused(jobs::USER, &format!("the job {id} is of another user")));
        }
        job.user = job.user.or(user);
        job.is_in_job_events = true;
        job.ended = None;
        match event {
            Event::Submit => job.submitted = job.submitted.or(Some(row.time())),
            Event::End => {
                job.ended = Some(row.time());
                self.ended.push_back((row.time(), id));
            }
            _ => {}
        }
        Ok(())
    }

    /// Enters the jobs in the draft that ended so long ago that no row of their tasks is to come.
    fn close_jobs(&mut self, now: u64, draft: &mut TraceDraft) {
        while let Some((ended, id)) = self.ended.pop_front_if(|(ended, _)| *ended + AFTERMATH < now) {
            // Unless it has been submitted again since.
            if self.jobs.get(&id).is_some_and(|job| job.ended == Some(ended))
                && let Some(job) = self.jobs.remove(&id)
            {
                self.enter(job, now, draft);
            }
        }
    }

    /// Enters the tasks of a job in the draft, each or the reason why not counted once.
    fn enter(&mut self, job: Job, now: u64, draft: &mut TraceDraft) {
        let counts = &mut self.counts;
        let Some(number) = job.number else {
            counts.jobs_without_tasks += 1;
            return;
        };
        counts.jobs_untold += u64::from(!job.is_in_job_events);
        for task in job.tasks.into_values() {
            counts.tasks += 1;
            let running = if let State::Running(since) = task.state { Some(since) } else { None };
            let until = job.ended.unwrap_or(now);
            let duration = task.ran + running.map_or(0, |since| until.saturating_sub(since));
            let Some(user) = job.user else {
                counts.no_user += 1;
                continue;
            };
            let Some(demand) = task.demand else {
                counts.no_request += 1;
                continue;
            };
            if draft.amounts(demand).iter().all(|amount| amount.is_zero()) {
                counts.asking_nothing += 1;
            } else if duration > 0 {
                *(if job.ended.is_some() { &mut counts.ended_with_job } else { &mut counts.cut_off }) +=
                    u64::from(running.is_some());
                counts.users_of_jobs += u64::from(!job.user_is_in_tasks);
                draft.submit(DraftTasks {
                    time: task.submitted,
                    duration,
                    user,
                    job: number,
                    demand,
                    count: 1,
                    rules: None,
                });
            } else if task.has_run {
                counts.no_time += 1;
            } else {
                counts.never_ran += 1;
            }
        }
    }

    /// The machines that tasks were scheduled on.
    pub fn machines(&mut self) -> HashSet<u64> {
        std::mem::take(&mut self.machines)
    }

    /// The part of the trace that was read; nothing if there were no rows of tasks.
    pub fn window(&self) -> Option<Window> {
        self.window
    }

    /// Enters the tasks that are left in the draft, and counts what became of all. `with_jobs` says whether job events
    /// were read.
    pub fn finish(mut self, with_jobs: bool, draft: &mut TraceDraft) {
        let now = self.window.map_or(0, |window| window.ends);
        for job in std::mem::take(&mut self.jobs).into_values() {
            self.enter(job, now, draft);
        }
        let counts = self.counts;
        draft.count("tasks in the rows read", counts.tasks);
        for (what, count) in [
            ("tasks left out: no row names their user", counts.no_user),
            ("tasks left out: no row states a request", counts.no_request),
            ("tasks left out: they ask for neither CPU nor memory", counts.asking_nothing),
            ("tasks left out: they did not run in these rows", counts.never_ran),
            ("tasks left out: they ran for no time", counts.no_time),
            (
                "tasks that ran before the first row: submitted at time 0, from when on their time counts",
                counts.running_before,
            ),
            ("tasks that waited before the first row: submitted at time 0", counts.waiting_before),
            (
                "tasks without the row that submits them: submitted when their job was",
                counts.submitted_with_job,
            ),
            ("tasks that run after the last row: their time until then counts", counts.cut_off),
            ("tasks without the row that ends them: ended when their job did", counts.ended_with_job),
            ("tasks whose user only job events name", counts.users_of_jobs),
            ("times a task was submitted again: its runs are added up", counts.submitted_again),
            ("runs without an end: the next row of the task ends them", counts.missing_ends),
            ("ends of tasks that had ended: not used", counts.ends_repeated),
            ("ends of tasks that were never there: not used", counts.ends_unseen),
            ("rows of tasks more than a second after the end of their job: not used", counts.after_job),
            ("rows with another request than the first of their task: not used", counts.deviating_requests),
            ("rows made up by the makers of the trace for lost ones", counts.made_up),
            ("jobs of which job events say nothing", if with_jobs { counts.jobs_untold } else { 0 }),
            ("jobs of which there are no rows of tasks", counts.jobs_without_tasks),
        ] {
            draft.count(what, count);
        }
    }
}
