//! Who submitted what, and what became of it.

use fairplan_instances::trace::{JobNumber, Submission};
use fairplan_instances::{JobRun, TaskCounts, UserRun};
use hashbrown::HashMap;

/// Users and the jobs that are not done.
#[derive(Default)]
pub(super) struct Accounts {
    width: usize,
    pub tasks: TaskCounts,
    pub users: Vec<UserAccount>,
    /// What the unfinished tasks of each user need together; row-major.
    demanded: Vec<u128>,
    jobs: HashMap<JobNumber, Job>,
    pub done: Vec<JobRun>,
}

/// A user's tasks by what they are doing.
#[derive(Clone, Debug, Default)]
pub(super) struct UserAccount {
    pub run: UserRun,
    pub running: u64,
    pub waiting: u64,
}

struct Job {
    id: String,
    user: u32,
    tasks: u64,
    unfinished: u64,
    submitted: u64,
    /// Whether its last tasks have been submitted.
    complete: bool,
    /// Whether any of its tasks is lost.
    lost: bool,
}

impl Accounts {
    /// No users yet; tasks need `width` resources.
    pub fn new(width: usize) -> Self {
        Self { width, ..Self::default() }
    }

    /// Adds the next user.
    pub fn add_user(&mut self, id: &str) {
        let run = UserRun { id: id.to_owned(), ..UserRun::default() };
        self.users.push(UserAccount { run, ..UserAccount::default() });
        self.demanded.extend(std::iter::repeat_n(0, self.width));
    }

    /// What the unfinished tasks of a user need together.
    pub fn demanded(&self, user: usize) -> &[u128] {
        &self.demanded[user * self.width..(user + 1) * self.width]
    }

    fn change_demanded(&mut self, user: u32, demand: &[u64], change: impl Fn(u128, u128) -> u128) {
        let demanded = &mut self.demanded[user as usize * self.width..];
        demanded.iter_mut().zip(demand).for_each(|(sum, demand)| *sum = change(*sum, u128::from(*demand)));
    }

    /// Tasks are submitted.
    pub fn submit(&mut self, now: u64, submission: &Submission, demand: &[u64], job_id: &str) {
        let (user, count) = (submission.user.0, u64::from(submission.count));
        let account = &mut self.users[user as usize];
        account.run.submitted += count;
        account.waiting += count;
        self.tasks.submitted += count;
        self.tasks.waiting += count;
        let job = self.jobs.entry(submission.job).or_insert_with(|| {
            account.run.jobs += 1;
            let id = job_id.to_owned();
            Job { id, user, tasks: 0, unfinished: 0, submitted: now, complete: false, lost: false }
        });
        job.tasks += count;
        job.unfinished += count;
        job.complete |= submission.last;
        self.change_demanded(user, demand, |sum, demand| sum + u128::from(count) * demand);
    }

    /// A task begins.
    pub fn start(&mut self, user: u32) {
        let account = &mut self.users[user as usize];
        account.waiting -= 1;
        account.running += 1;
        self.tasks.waiting -= 1;
        self.tasks.running += 1;
    }

    /// A task is interrupted; whether it will wait again.
    pub fn evict(&mut self, now: u64, user: u32, job: JobNumber, demand: &[u64], again: bool) {
        let account = &mut self.users[user as usize];
        account.running -= 1;
        self.tasks.running -= 1;
        self.tasks.evicted += 1;
        if again {
            account.waiting += 1;
            self.tasks.waiting += 1;
        } else {
            self.tasks.lost += 1;
            self.change_demanded(user, demand, |sum, demand| sum - demand);
            self.finish(now, job, true);
        }
    }

    /// A task is done.
    pub fn end(&mut self, now: u64, user: u32, job: JobNumber, demand: &[u64]) {
        let account = &mut self.users[user as usize];
        account.running -= 1;
        account.run.completed += 1;
        self.tasks.running -= 1;
        self.tasks.completed += 1;
        self.change_demanded(user, demand, |sum, demand| sum - demand);
        self.finish(now, job, false);
    }

    /// One task of a job is over.
    fn finish(&mut self, now: u64, number: JobNumber, lost: bool) {
        let Some(job) = self.jobs.get_mut(&number) else { return };
        job.unfinished -= 1;
        job.lost |= lost;
        if job.unfinished > 0 || !job.complete {
            return;
        }
        if let Some(Job { id, user, tasks, submitted, lost: false, .. }) = self.jobs.remove(&number) {
            let run = &mut self.users[user as usize].run;
            run.jobs_completed += 1;
            run.completion_time += u128::from(now - submitted);
            self.done.push(JobRun { id, user, tasks, submitted, completed: now });
        }
    }
}
