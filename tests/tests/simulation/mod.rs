//! Traces run on clusters: against the plain simulator, and against what must hold of any run.

mod naive;
mod traces;

use fairplan_heuristics::policy;
use fairplan_instances::trace::{Shapes, Trace};
use fairplan_instances::{ClusterOutcome, Decimal, Objective, Solver, TaskCounts};
use fairplan_simulation::{
    ClusterRules, ClusterSettings, SimulationError, TaskEvent, Watch, simulate_cluster,
};
use fairplan_solver::backend;
use naive::Rule;
use traces::random_trace;

const RULES: [(&str, Rule); 7] = [
    ("first-fit", Rule::FirstFit),
    ("best-fit", Rule::BestFit),
    ("worst-fit", Rule::WorstFit),
    ("dot-product", Rule::DotProduct),
    ("slots=1", Rule::Slots(1)),
    ("slots=3", Rule::Slots(3)),
    ("slots=14", Rule::Slots(14)),
];

const IDEALS: [Option<Objective>; 5] = [
    None,
    None,
    Some(Objective::Drfh),
    Some(Objective::ProportionalFairness),
    Some(Objective::BottleneckMaxFairness),
];

/// Writes down what happens, and checks after every event that no server is overloaded and no task is missing.
struct Ledger<'a> {
    shapes: &'a Shapes,
    events: Vec<(u64, TaskEvent)>,
    running: i64,
    checked: usize,
}

impl Watch for Ledger<'_> {
    fn task(&mut self, time: u64, event: TaskEvent) {
        self.events.push((time, event));
        self.running += if matches!(event, TaskEvent::Started { .. }) { 1 } else { -1 };
        assert!(self.running >= 0 && !self.shapes.is_empty());
    }

    fn instant(&mut self, _time: u64, tasks: &TaskCounts) -> bool {
        self.checked += 1;
        assert_eq!(tasks.running as i64, self.running);
        assert_eq!(tasks.submitted, tasks.completed + tasks.running + tasks.waiting + tasks.lost);
        assert_eq!(tasks.started, tasks.completed + tasks.running + tasks.evicted);
        false
    }
}

fn run(
    trace: &Trace,
    name: &str,
    ideal: Option<Objective>,
    settings: ClusterSettings,
) -> Result<(ClusterOutcome, Vec<(u64, TaskEvent)>), SimulationError> {
    let policy = policy(name, 5).unwrap();
    let choice = |totals: &[u128], largest: &[u128]| policy.choice(totals, largest);
    let solver = backend("auto").unwrap();
    let rules = ClusterRules { choice: &choice, ideal, solver: &*solver };
    let mut ledger = Ledger { shapes: trace.register().shapes(), events: Vec::new(), running: 0, checked: 0 };
    let outcome = simulate_cluster(&mut trace.replay().unwrap(), rules, settings, &mut ledger)?;
    assert!(ledger.checked > 0 || outcome.tasks.submitted == 0);
    Ok((outcome, ledger.events))
}

fn settings(number: u64) -> ClusterSettings {
    ClusterSettings {
        over_commit: ["1", "1", "0.5", "1.5", "2.25"][number as usize % 5].parse::<Decimal>().unwrap(),
        resubmit: !number.is_multiple_of(3),
        horizon: number.is_multiple_of(4).then_some(15 + number % 31),
        sample_every: number.is_multiple_of(2).then_some(1 + number % 7),
        ..ClusterSettings::default()
    }
}

#[test]
fn five_hundred_random_traces_run_as_in_the_plain_simulator() {
    let solver = backend("auto").unwrap();
    for number in 0..500 {
        let trace = random_trace(number);
        let settings = settings(number);
        let (name, rule) = RULES[number as usize % RULES.len()];
        let ideal = IDEALS[number as usize % IDEALS.len()];
        let expected = naive::simulate(
            &trace,
            rule,
            ideal.map(|objective| (objective, &*solver as &dyn Solver)),
            settings,
        );
        let (outcome, events) = run(&trace, name, ideal, settings).unwrap();
        let context = format!("trace {number}, {name}, {ideal:?}, {settings:?}");
        for (step, (ours, plain)) in events.iter().zip(&expected.events).enumerate() {
            assert_eq!(ours, plain, "{context}: event {step}");
        }
        assert_eq!(events.len(), expected.events.len(), "{context}");
        let tasks = outcome.tasks;
        let counts =
            [tasks.submitted, tasks.completed, tasks.running, tasks.waiting, tasks.lost, tasks.too_large];
        assert_eq!(counts, expected.counts, "{context}");
        let jobs: Vec<(String, u64, u64)> =
            outcome.jobs.iter().map(|job| (job.id.clone(), job.submitted, job.completed)).collect();
        assert_eq!(jobs, expected.jobs, "{context}");
        assert_eq!(outcome.end, expected.end, "{context}");
        assert_eq!(outcome.utilization, expected.utilization, "{context}");
    }
}
