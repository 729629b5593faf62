//! Traces that need no file: the three users of the DRFH paper's Fig. 4, and random ones of any size.

use super::drawn::{decimals, drawable, name_user};
use super::google::drawn_classes;
use super::papers::{FIG_4_SERVERS, FIG_4_TASKS};
use crate::google2011::server_class;
use crate::random::Random;
use crate::trace::{DraftTasks, MICROSECONDS, NewTasks, SortedTrace, Trace, TraceDraft, TraceHeader};
use crate::wording::agreeing;
use crate::{Decimal, Violation};

/// Stream of the seed for jobs.
const JOB_STREAM: u64 = 3;
/// Stream of the seed for servers that go for a while.
const OUTAGE_STREAM: u64 = 4;

/// The servers and users of DRFH Fig. 4: three users who join one after the other and leave when their tasks are done.
///
/// User 1 joins at 0 s, user 2 at 200 s and user 3 at 500 s; one task needs (0.2, 0.3), (0.5, 0.1) and (0.1, 0.3) of
/// (cpu, memory). The servers are those of [`drfh_fig4`](super::drfh_fig4). How many tasks there are and how long they take the
/// paper does not print: here each takes 10 s, and their numbers are such that user 1 is done at about 1080 s, as in the paper,
/// and the others later.
pub fn drfh_fig4_trace() -> Result<Trace, Violation> {
    const USERS: [(&str, u64, u32); 3] = [("user-1", 0, 7200), ("user-2", 200, 4200), ("user-3", 500, 6700)];
    let mut header = TraceHeader::new("DRFH paper, Fig. 4", &["cpu", "memory"]);
    for (count, capacity) in FIG_4_SERVERS {
        header.server_classes.push(server_class((count, decimals(capacity)?)));
    }
    let mut trace = Trace::new(header)?;
    for ((user, joins, count), demand) in USERS.into_iter().zip(FIG_4_TASKS) {
        let (demand, duration) = (&decimals(demand)?[..], 10 * MICROSECONDS);
        let job = format!("job-of-{user}");
        let tasks = NewTasks { user, job: &job, demand, count, duration, rules: None, more: false };
        trace.submitted(joins * MICROSECONDS, tasks)?;
    }
    Ok(trace)
}

/// What [`random_trace`] makes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RandomTraceOptions {
    /// Servers drawn from Google's published classes.
    pub servers: u64,
    /// Users, each as likely as any other to submit a job.
    pub users: u64,
    /// Jobs.
    pub jobs: u64,
    /// The jobs are submitted within so many seconds.
    pub seconds: u64,
    /// How many times a server goes, to come back within that time.
    pub outages: u64,
    /// Seed of everything drawn.
    pub seed: u64,
}

impl Default for RandomTraceOptions {
    fn default() -> Self {
        Self { servers: 100, users: 10, jobs: 1000, seconds: 3600, outages: 0, seed: 0 }
    }
}

/// Random jobs on random servers.
///
/// A job has 1 to 255 tasks, each half as often as half as many; its tasks need 0.004 to 0.255 of cpu and of memory, each
/// doubling as likely as the next, and run 1 to 1023 s likewise. The user and the time of submission are uniform. Servers are
/// called `s000001` and so on, and are there from the beginning.
///
/// # Errors
/// Fewer than one or more than 100 million servers, users, jobs or seconds.
pub fn random_trace(options: &RandomTraceOptions) -> Result<SortedTrace, Violation> {
    let RandomTraceOptions { servers, users, jobs, seconds, outages, seed } = *options;
    let window = drawable("seconds", seconds)? * MICROSECONDS;
    let name = format!(
        "{jobs} random {} of {users} {} on {servers} {}, seed {seed}",
        agreeing(jobs, "jobs"),
        agreeing(users, "users"),
        agreeing(servers, "servers")
    );
    let mut draft = TraceDraft::new(&name, "", &["cpu", "memory"]);
    let mut id = String::new();
    let mut capacities = Vec::new();
    for (count, capacity) in drawn_classes(drawable("servers", servers)?, false, seed)? {
        capacities.extend((0..count).map(|_| capacity));
    }
    let server_name = |id: &mut String, number: u64| {
        name_user(id, number);
        id.replace_range(..1, "s");
    };
    for (number, capacity) in (1..).zip(&capacities) {
        server_name(&mut id, number);
        draft.server(0, &id, Some(capacity))?;
    }
    let mut random = Random::new(seed, OUTAGE_STREAM);
    for _ in 0..outages {
        let server = random.below(servers);
        let (goes, comes) = (random.between(1, window), random.between(1, window));
        server_name(&mut id, server + 1);
        draft.server(goes.min(comes), &id, None)?;
        draft.server(goes.max(comes), &id, Some(&capacities[server as usize]))?;
    }
    let mut random = Random::new(seed, JOB_STREAM);
    drawable("users", users)?;
    for number in 1..=drawable("jobs", jobs)? {
        name_user(&mut id, random.below(users) + 1);
        let user = draft.user(&id)?;
        name_user(&mut id, number);
        id.replace_range(..1, "j");
        let job = draft.job(&id)?;
        let mut thousandths = || Decimal::new(random.spread(4, 6), -3).unwrap_or(Decimal::ONE);
        let demand = draft.shape(&[thousandths(), thousandths()]);
        let (count, duration) = (random.spread(1, 8) as u32, random.spread(1, 10) * MICROSECONDS);
        let time = random.below(window);
        draft.submit(DraftTasks { time, duration, user, job, demand, count, rules: None });
    }
    draft.sorted("generated")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files::trace_sha256_hex;
    use crate::trace::{EventSource, Tallied};

    #[test]
    fn fig_4_has_the_papers_totals_and_holds_as_many_tasks_of_user_1_as_the_paper_says() {
        let trace = drfh_fig4_trace().unwrap();
        let register = trace.register();
        let units = |shape| register.shapes().units(shape);
        let sum = |r: usize| register.initial_servers().map(|(_, shape)| units(shape)[r]).sum::<u64>();
        assert_eq!((register.initial_servers().len(), sum(0), sum(1)), (100, 52_750_000_000, 51_319_400_000));
        let held = |capacity: &[u64]| (capacity[0] / 200_000_000).min(capacity[1] / 300_000_000);
        let tasks: u64 = register.initial_servers().map(|(_, shape)| held(units(shape))).sum();
        let (cpu, memory) = (0.2 * tasks as f64 / 52.75, 0.3 * tasks as f64 / 51.3194);
        assert_eq!((format!("{cpu:.2}"), format!("{memory:.2}")), ("0.40".into(), "0.62".into()));
        let times: Vec<u64> = trace.events().iter().map(|event| event.time / MICROSECONDS).collect();
        assert_eq!(times, [0, 200, 500]);
    }

    #[test]
    fn a_seed_draws_the_same_trace_for_ever_and_another_seed_another() {
        let digest = |seed| {
            let options = RandomTraceOptions { outages: 20, seed, ..Default::default() };
            trace_sha256_hex(&mut random_trace(&options).unwrap()).unwrap()
        };
        assert_eq!(digest(1), "7a41c94d7d47e3b098ebdf81481c94ad88ea330b8c57c972eab1f7d5d21e7aa5");
        assert_ne!(digest(1), digest(2));
    }

    #[test]
    fn every_drawn_job_and_server_is_in_the_trace() {
        let options = RandomTraceOptions { outages: 20, seed: 3, ..Default::default() };
        let mut trace = random_trace(&options).unwrap();
        let mut passed = Tallied::new(&mut trace);
        while passed.next_event().unwrap().is_some() {}
        let left_out = passed.register().header().counts.iter().map(|(_, count)| count).sum::<u64>();
        assert_eq!((passed.tally().jobs, left_out), (1000, 0));
        assert!(passed.tally().server_events > 100, "{:?}", passed.tally());
        assert_eq!(passed.register().servers().len(), 100);
        let refused = random_trace(&RandomTraceOptions { jobs: 0, ..options }).err().unwrap().to_string();
        assert_eq!(refused, "jobs = 0: draw at least 1 and at most 100000000");
    }
}
