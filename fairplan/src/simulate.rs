//! A trace of jobs run on its cluster, policies side by side.

mod policy;

pub use policy::MOST_DEPRIVED;

use crate::present::SimulationStart;
use crate::solve::{AUTO, solver};
use crate::{Control, Error, Found, Progress};
use fairplan_heuristics::{Asked, FailureNote, OutsidePolicy};
use fairplan_instances::trace::{EventSource, MICROSECONDS, Trace, TraceHeader, seconds};
use fairplan_instances::{
    ClusterOutcome, Deadline, Document, Instance, InstanceError, InstanceStamp, TaskCounts, files,
};
use fairplan_report::simulation::{
    PolicyRun, SimulationBody, SimulationDocument, SimulationSettings, StartingPlacement, TraceStamp,
};
use fairplan_report::table::NamedOutcome;
use fairplan_simulation::{ClusterSettings, Tenants, Watch};
use policy::{Chooser, ClusterPolicy, Shared};
use rayon::prelude::*;

/// Which policies to run, and how.
#[derive(Clone, Debug, Default)]
pub struct SimulateOptions {
    /// Some of [`POLICIES`](crate::POLICIES), [`DEVICE_POLICIES`](crate::DEVICE_POLICIES) and [`MOST_DEPRIVED`]. Default: none, which means
    /// those of [`USUAL_POLICIES`] that know the rules of the trace.
    pub policies: Vec<String>,
    /// Policies in other processes, which `dedicated` excludes. Default: none.
    pub commands: Vec<OutsidePolicy>,
    /// What decides a run beside the trace and the policy. Default: its own.
    pub settings: ClusterSettings,
    /// Whether every user is also run alone on its part of the servers (one in n of n users'). The trace must then be in memory.
    /// Default: no.
    pub dedicated: bool,
    /// Seed of the policy `random` and of the dealing of dedicated clouds. Default: 0.
    pub seed: u64,
    /// What runs when the trace begins, which `dedicated` excludes. Default: nothing.
    pub start: Option<Box<SimulationStart>>,
    /// An instance whose groups the users are in, with its weights; all else of it does not count. Default: all stand side by side.
    pub tenants: Option<Box<Instance>>,
}

/// What is run where nothing is named: best-fit, first-fit and the slots that served the DRFH paper best.
pub const USUAL_POLICIES: [&str; 3] = ["best-fit", "first-fit", "slots=14"];

impl SimulateOptions {
    /// Refuses what cannot be meant, whatever the trace.
    pub fn check(&self) -> Result<(), Error> {
        self.named().map(drop)
    }

    fn named(&self) -> Result<Vec<ClusterPolicy>, Error> {
        self.with_commands(self.all_of(self.policies.iter().map(String::as_str))?)
    }

    fn all_of<'a>(&self, names: impl Iterator<Item = &'a str>) -> Result<Vec<ClusterPolicy>, Error> {
        names.map(|name| ClusterPolicy::named(name, self.seed)).collect()
    }

    /// The usual policies, as far as they know the rules of a trace.
    fn usual(&self, trace: &TraceInput) -> Result<Vec<ClusterPolicy>, Error> {
        let source = trace.open()?;
        let mut policies = self.all_of(USUAL_POLICIES.into_iter())?;
        policies.retain(|policy| policy.devices(source.register()).is_ok());
        self.with_commands(policies)
    }

    /// These and the policies in other processes, if all can be meant.
    fn with_commands(&self, mut policies: Vec<ClusterPolicy>) -> Result<Vec<ClusterPolicy>, Error> {
        policies.extend(self.commands.iter().map(ClusterPolicy::outside));
        let is_outside = |policy: &ClusterPolicy| matches!(policy.placement, Chooser::Outside(_));
        if self.dedicated && policies.iter().any(is_outside) {
            let problem = "policy-command is one cluster's: leave out --dedicated";
            return Err(Error::Setting(problem.into()));
        }
        if self.dedicated && policies.iter().any(|policy| matches!(policy.placement, Chooser::Asked(_))) {
            let problem = "a policy of one's own is one cluster's: leave out dedicated";
            return Err(Error::Setting(problem.into()));
        }
        if self.dedicated && self.tenants.is_some() {
            let problem = "tenants share one cluster: leave out --dedicated";
            return Err(Error::Setting(problem.into()));
        }
        if self.dedicated && self.start.is_some() {
            let problem = "placement is one cluster's: leave out --dedicated";
            return Err(Error::Setting(problem.into()));
        }
        for (position, policy) in policies.iter().enumerate() {
            if policies[..position].iter().any(|other| other.name == policy.name) {
                return Err(Error::Setting(format!("policy names {} twice", policy.name)));
            }
        }
        Ok(policies)
    }
}

/// The settings of runs whose series is told: how things stand every `sample` microseconds, if nothing is said as often as the `optimum`
/// or else every five minutes. [`simulate_by`] has an example.
pub fn with_series(settings: ClusterSettings, sample: Option<u64>, optimum: Option<u64>) -> ClusterSettings {
    let usual = optimum.is_none().then_some(300 * MICROSECONDS);
    ClusterSettings { sample_every: sample.or(usual), optimum_every: optimum, ..settings }
}

/// A policy by its name, or one of the caller's.
pub enum SimulatePolicy {
    /// One of [`POLICIES`](crate::POLICIES), [`DEVICE_POLICIES`](crate::DEVICE_POLICIES) and [`MOST_DEPRIVED`].
    Named(String),
    /// One in another process.
    Outside(OutsidePolicy),
    /// One of the caller's, asked for the server of each task.
    Own(Asked),
}

/// What came of every policy.
#[derive(Clone, Debug)]
pub struct Simulated {
    /// What the trace says of itself.
    pub header: TraceHeader,
    /// In the order of the options.
    pub policies: Vec<SimulatedPolicy>,
    settings: SimulationSettings,
    start: Option<StartingPlacement>,
    tenants: Option<InstanceStamp>,
    sha256: String,
}

/// What came of a policy.
#[derive(Clone, Debug)]
pub struct SimulatedPolicy {
    /// Its name.
    pub name: String,
    /// On the cluster that users share.
    pub shared: ClusterOutcome,
    /// On dedicated clouds, if these were run.
    pub dedicated: Option<ClusterOutcome>,
}

impl Simulated {
    /// The `fairplan.simulation.v1`.
    pub fn document(&self) -> SimulationDocument {
        let runs = self.policies.iter().map(|SimulatedPolicy { name, shared, dedicated }| {
            PolicyRun::new(name, &self.header, shared, dedicated.as_ref())
        });
        let trace = TraceStamp::new(&self.header, &self.sha256);
        let body = SimulationBody::new(trace, self.settings, runs.collect());
        Document::new(SimulationBody {
            starting_placement: self.start.clone(),
            tenants: self.tenants.clone(),
            ..body
        })
    }

    /// The runs on the shared cluster, as the writers of series and jobs take them.
    pub fn outcomes(&self) -> Vec<NamedOutcome<'_>> {
        self.policies.iter().map(|policy| (policy.name.as_str(), &policy.shared)).collect()
    }
}

/// Runs the jobs of a trace on its cluster under every policy, in parallel.
///
/// When the deadline is over, or the caller asks by it, runs are stopped: [`Error::TimeLimit`], with the [`Simulated`] so far.
///
/// ```
/// use fairplan::{Control, SimulateOptions, TraceInput, generate, simulate};
///
/// let trace = TraceInput::Memory(Box::new(generate::drfh_fig4_trace()?));
/// let options = SimulateOptions { policies: vec!["best-fit".into()], ..Default::default() };
/// let simulated = simulate(&trace, &options, &Control::none())?;
/// assert!(simulated.policies[0].shared.tasks.completed > 0);
/// # Ok::<(), fairplan::Error>(())
/// ```
pub fn simulate(
    trace: &TraceInput,
    options: &SimulateOptions,
    control: &Control<'_>,
) -> Result<Simulated, Error> {
    let policies = match options.policies.is_empty() {
        true => options.usual(trace)?,
        false => options.named()?,
    };
    run_all(trace, policies, options, control)
}

/// The same under these policies, whatever the options name; under the usual ones where there are none.
///
/// ```
/// use fairplan::{Control, SimulateOptions, SimulatePolicy, TraceInput, generate, simulate_by, with_series};
///
/// let trace = TraceInput::Memory(Box::new(generate::drfh_fig4_trace()?));
/// let options = SimulateOptions::default();
/// // How things stand is told every five minutes.
/// let options = SimulateOptions { settings: with_series(options.settings.clone(), None, None), ..options };
/// let policies = vec![SimulatePolicy::Named("first-fit".into())];
/// let simulated = simulate_by(&trace, policies, &options, &Control::none())?;
/// assert_eq!(simulated.policies[0].name, "first-fit");
/// # Ok::<(), fairplan::Error>(())
/// ```
pub fn simulate_by(
    trace: &TraceInput,
    policies: Vec<SimulatePolicy>,
    options: &SimulateOptions,
    control: &Control<'_>,
) -> Result<Simulated, Error> {
    let policies = policies.into_iter().map(|policy| match policy {
        SimulatePolicy::Named(name) => ClusterPolicy::named(&name, options.seed),
        SimulatePolicy::Outside(command) => Ok(ClusterPolicy::outside(&command)),
        SimulatePolicy::Own(asked) => Ok(ClusterPolicy::own(asked)),
    });
    let policies: Vec<ClusterPolicy> = policies.collect::<Result<_, Error>>()?;
    let policies = match policies.is_empty() {
        true => options.usual(trace)?,
        false => options.with_commands(policies)?,
    };
    run_all(trace, policies, options, control)
}

fn run_all(
    trace: &TraceInput,
    policies: Vec<ClusterPolicy>,
    options: &SimulateOptions,
    control: &Control<'_>,
) -> Result<Simulated, Error> {
    let solver = solver(AUTO, &Deadline::never())?;
    let SimulateOptions { settings, dedicated, seed, .. } = *options;
    let header = trace.open()?.register().header().clone();
    let start = options.start.as_ref().map(|start| start.read(&header)).transpose()?;
    let (present, start) = start.unzip();
    let tenants = options.tenants.as_deref().map(Tenants::of);
    let stamp = |instance: &Instance| InstanceStamp::new(instance, &files::sha256_hex(instance));
    let stamp = options.tenants.as_deref().map(stamp);
    control.stage("simulating");
    let stop = || control.deadline.is_over();
    let run = |policy: &ClusterPolicy| -> Result<SimulatedPolicy, Error> {
        let note = FailureNote::default();
        let mut watch = Patience { policy: &policy.name, control, note: &note, instants: 0 };
        let asked = policy.asked_within(control.deadline.time_left());
        let (present, tenants) = (present.as_ref(), tenants.as_ref());
        let run = Shared { input: trace, settings, present, tenants, note: &note };
        let shared = asked.as_ref().unwrap_or(policy).run(run, &*solver, &mut watch);
        if let Some(failure) = note.read() {
            return Err(failure.into());
        }
        let shared = shared?;
        let alone = || policy.run_dedicated(trace, &*solver, settings, seed, &stop);
        let dedicated = dedicated.then(alone).transpose()?;
        Ok(SimulatedPolicy { name: policy.name.clone(), shared, dedicated })
    };
    let (policies, sha256) = rayon::join(
        || policies.par_iter().map(run).collect::<Vec<_>>(),
        || files::trace_sha256_hex(&mut *trace.open()?),
    );
    let simulated = Simulated {
        policies: policies.into_iter().collect::<Result<Vec<_>, Error>>()?,
        sha256: sha256?,
        header,
        settings: echoed(settings, seed),
        start,
        tenants: stamp,
    };
    let is_tenant =
        |id: &str| options.tenants.as_ref().is_some_and(|tenants| tenants.user_named(id).is_some());
    let mut users = simulated.policies.iter().flat_map(|policy| &policy.shared.users);
    if options.tenants.is_some() && !users.any(|user| is_tenant(&user.id)) {
        control.note(
            "no user of the trace is among the tenants: nobody is in a group or has a weight of theirs",
        );
    }
    if !simulated.document().partial {
        return Ok(simulated);
    }
    let why = "stopped before the end: the result is partial".into();
    Err(Error::TimeLimit { why, found: Found::some(simulated) })
}

/// Runs every user of a trace, which must be in memory, alone on its part of the servers under one policy.
///
/// ```
/// use fairplan::{Control, SimulateOptions, TraceInput, generate, simulate_dedicated};
///
/// let trace = TraceInput::Memory(Box::new(generate::drfh_fig4_trace()?));
/// let options = SimulateOptions::default();
/// let alone = simulate_dedicated(&trace, "best-fit", &options, &Control::none())?;
/// assert_eq!(alone.users.len(), 3);
/// # Ok::<(), fairplan::Error>(())
/// ```
pub fn simulate_dedicated(
    trace: &TraceInput,
    policy: &str,
    options: &SimulateOptions,
    control: &Control<'_>,
) -> Result<ClusterOutcome, Error> {
    control.stage("dedicated clouds");
    let policy = ClusterPolicy::named(policy, options.seed)?;
    let solver = solver(AUTO, &Deadline::never())?;
    let stop = || control.deadline.is_over();
    policy.run_dedicated(trace, &*solver, options.settings, options.seed, &stop)
}

fn echoed(settings: ClusterSettings, seed: u64) -> SimulationSettings {
    SimulationSettings {
        over_commit: settings.over_commit.to_f64(),
        resubmit: settings.resubmit,
        horizon: settings.horizon.map(seconds),
        sample_every: settings.sample_every.map(seconds),
        optimum_every: settings.optimum_every.map(seconds),
        resolve_every: seconds(settings.resolve_every),
        seed,
    }
}

/// Stops a run when its deadline is over, and tells how far it is; both now and then.
struct Patience<'a> {
    policy: &'a str,
    control: &'a Control<'a>,
    /// Nothing is to be expected of a policy that broke off.
    note: &'a FailureNote,
    instants: u32,
}

impl Watch for Patience<'_> {
    fn instant(&mut self, time: u64, tasks: &TaskCounts) -> bool {
        self.instants = self.instants.wrapping_add(1);
        if self.instants.is_multiple_of(4096) {
            let (seconds, TaskCounts { completed, waiting, .. }) = (time / MICROSECONDS, tasks);
            let policy = self.policy;
            let told = format!("simulating {policy}: {seconds} s, {completed} tasks done, {waiting} wait");
            (self.control.progress)(Progress::Step(&told));
        }
        self.instants.is_multiple_of(64) && (self.control.deadline.is_over() || self.note.read().is_some())
    }
}

/// A trace that can be read more than once.
pub enum TraceInput {
    /// A file, streamed each time it is read.
    File(String),
    /// All of it.
    Memory(Box<Trace>),
}

impl TraceInput {
    /// A file, streamed each time it is read; or all of it in memory, as standard input must be.
    pub fn new(path: String, in_memory: bool) -> Result<Self, Error> {
        if path != "-" && !in_memory {
            return Ok(Self::File(path));
        }
        Ok(Self::Memory(Box::new(Trace::read(&mut *files::read_trace(&path)?)?)))
    }

    /// Its events from the beginning.
    pub fn open(&self) -> Result<Box<dyn EventSource + '_>, InstanceError> {
        match self {
            Self::File(path) => Ok(files::read_trace(path)?),
            Self::Memory(trace) => {
                let replay = trace.replay();
                let invalid = |violation| InstanceError::Invalid { file: "the trace".into(), violation };
                Ok(Box::new(replay.map_err(invalid)?))
            }
        }
    }
}
