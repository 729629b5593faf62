//! Stochastic demand: classes of transactions that come and go at random, by Markov chains or by simulation.

use crate::{Control, Error};
use fairplan_instances::wording::unknown;
use fairplan_instances::{Objective, Traffic, TrafficOutcome, Violation, files};
use fairplan_report::flows::{Flows, FlowsResult, FlowsSettings, TrafficStamp, Unstable};
use fairplan_simulation::{
    MarkovSettings, PacketSettings, SimulationSettings, TaskLevelSettings, flow_level, markov, packet_level,
    task_level,
};
use fairplan_solver::{SHARED, sharing_rule};

/// How service rates are found.
#[derive(Clone, Copy, Debug)]
pub enum Level {
    /// Exactly, for exponential work: the stationary distribution of a chain.
    Markov(MarkovSettings),
    /// Transactions simulated one by one, their rates those of the fluid model.
    Flow(SimulationSettings),
    /// Whole tasks of random duration, the most deprived job served first.
    Task(SimulationSettings, TaskLevelSettings),
    /// Whole packets, queued by their start times in resources in series.
    Packet(SimulationSettings, PacketSettings),
}

impl Level {
    /// Its name in results.
    pub fn name(self) -> &'static str {
        match self {
            Self::Markov(_) => "markov",
            Self::Flow(_) => "flow",
            Self::Task(..) => "task",
            Self::Packet(..) => "packet",
        }
    }

    /// What is written of it beside the results.
    fn settings(self) -> FlowsSettings {
        let simulation = |settings: SimulationSettings| FlowsSettings {
            seed: Some(settings.seed),
            replications: Some(settings.replications),
            arrivals: Some(settings.arrivals),
            ..FlowsSettings::default()
        };
        match self {
            Self::Markov(settings) => {
                FlowsSettings { border_mass: Some(settings.border_mass), ..FlowsSettings::default() }
            }
            Self::Flow(settings) => simulation(settings),
            Self::Task(settings, tasks) => FlowsSettings {
                tasks_per_job: Some(tasks.tasks_per_job),
                task_share: Some(tasks.task_share),
                ..simulation(settings)
            },
            Self::Packet(settings, packets) => FlowsSettings {
                packets_per_flow: Some(packets.packets_per_flow),
                window: Some(packets.window),
                ..simulation(settings)
            },
        }
    }

    /// What an objective comes to for this traffic.
    ///
    /// ```
    /// use fairplan::{Level, Objective, generate};
    ///
    /// let level = Level::Markov(fairplan::MarkovSettings { border_mass: 1e-3, ..Default::default() });
    /// let outcome = level.outcome(&generate::mrf_fig1(0.3)?, Objective::DrfPooled)?;
    /// assert_eq!(outcome.classes.len(), 3);
    /// # Ok::<(), fairplan::Error>(())
    /// ```
    pub fn outcome(self, traffic: &Traffic, objective: Objective) -> Result<TrafficOutcome, Error> {
        let rule = sharing_rule(traffic, objective)?;
        Ok(match self {
            Self::Markov(settings) => markov(traffic, &*rule, settings)?,
            Self::Flow(settings) => flow_level(traffic, &*rule, settings)?,
            Self::Task(settings, tasks) => task_level(traffic, objective, &*rule, settings, tasks)?,
            Self::Packet(settings, packets) => packet_level(traffic, objective, settings, packets)?,
        })
    }
}

/// What decides an outcome beside the traffic; what is not given is the default of its level.
#[derive(Clone, Copy, Debug, Default)]
pub struct LevelOptions {
    /// markov: the states in which no more transactions are let in have at most this probability, for every class.
    pub border_mass: Option<f64>,
    /// markov: GiB that the chain may take.
    pub memory: Option<f64>,
    /// Simulations: how many.
    pub replications: Option<u64>,
    /// Simulations: transactions that arrive in each of them.
    pub arrivals: Option<u64>,
    /// Simulations: the seed of everything drawn.
    pub seed: Option<u64>,
    /// task: mean tasks of a job.
    pub tasks_per_job: Option<f64>,
    /// task: the part of its dominant resource that a task takes.
    pub task_share: Option<f64>,
    /// packet: mean packets of a flow.
    pub packets_per_flow: Option<f64>,
    /// packet: packets of a flow that are under way at once.
    pub window: Option<u32>,
}

/// The names of the levels.
const LEVELS: [&str; 4] = ["markov", "flow", "task", "packet"];

impl LevelOptions {
    /// The level of this name. What is given but means nothing there is refused.
    ///
    /// ```
    /// use fairplan::LevelOptions;
    ///
    /// let options = LevelOptions { window: Some(10), ..LevelOptions::default() };
    /// assert_eq!(options.level("packet")?.name(), "packet");
    /// assert!(options.level("markov").is_err());
    /// # Ok::<(), fairplan::Error>(())
    /// ```
    pub fn level(&self, name: &str) -> Result<Level, Error> {
        const SIMULATIONS: &[&str] = &["flow", "task", "packet"];
        for (option, given, levels) in [
            ("border-mass", self.border_mass.is_some(), &["markov"][..]),
            ("memory", self.memory.is_some(), &["markov"]),
            ("replications", self.replications.is_some(), SIMULATIONS),
            ("arrivals", self.arrivals.is_some(), SIMULATIONS),
            ("seed", self.seed.is_some(), SIMULATIONS),
            ("tasks-per-job", self.tasks_per_job.is_some(), &["task"]),
            ("task-share", self.task_share.is_some(), &["task"]),
            ("packets-per-flow", self.packets_per_flow.is_some(), &["packet"]),
            ("window", self.window.is_some(), &["packet"]),
        ] {
            if given && LEVELS.contains(&name) && !levels.contains(&name) {
                let meant = levels.join(", ");
                return Err(Error::Setting(format!(
                    "{option} means nothing at --level {name}; it is for {meant}"
                )));
            }
        }
        let simulation = SimulationSettings::default();
        let simulation = SimulationSettings {
            replications: self.replications.unwrap_or(simulation.replications),
            arrivals: self.arrivals.unwrap_or(simulation.arrivals),
            seed: self.seed.unwrap_or(simulation.seed),
        };
        Ok(match name {
            "markov" => {
                let default = MarkovSettings::default();
                let memory = self.memory.map(|gib| (gib * (1u64 << 30) as f64) as u64);
                Level::Markov(MarkovSettings {
                    border_mass: self.border_mass.unwrap_or(default.border_mass),
                    memory: memory.unwrap_or(default.memory),
                })
            }
            "flow" => Level::Flow(simulation),
            "task" => {
                let default = TaskLevelSettings::default();
                let tasks = TaskLevelSettings {
                    tasks_per_job: self.tasks_per_job.unwrap_or(default.tasks_per_job),
                    task_share: self.task_share.unwrap_or(default.task_share),
                };
                Level::Task(simulation, tasks)
            }
            "packet" => {
                let default = PacketSettings::default();
                let packets = PacketSettings {
                    packets_per_flow: self.packets_per_flow.unwrap_or(default.packets_per_flow),
                    window: self.window.unwrap_or(default.window),
                };
                Level::Packet(simulation, packets)
            }
            other => return Err(Error::input(unknown("level", other, LEVELS))),
        })
    }
}

/// By which objectives transactions share, and at which loads.
#[derive(Clone, Debug)]
pub struct FlowsOptions {
    /// Some of [`SHARED`]. Default: all of them.
    pub objectives: Vec<Objective>,
    /// How service rates are found. Default: by a chain.
    pub level: Level,
    /// The arrivals are scaled to these loads of the heaviest resource. Default: they are as they are.
    pub loads: Vec<f64>,
}

impl Default for FlowsOptions {
    fn default() -> Self {
        let level = Level::Markov(MarkovSettings::default());
        Self { objectives: SHARED.into(), level, loads: Vec::new() }
    }
}

impl FlowsOptions {
    /// Refuses what cannot be meant, whatever the traffic.
    pub fn check(&self) -> Result<(), Error> {
        for (position, objective) in self.objectives.iter().enumerate() {
            if !SHARED.contains(objective) {
                let known = SHARED.map(|objective| objective.to_string()).join(", ");
                return Err(Error::Setting(format!("objective {objective}: transactions share by {known}")));
            }
            if self.objectives[..position].contains(objective) {
                return Err(Error::Setting(format!("objective names {objective} twice")));
            }
        }
        match self.loads.iter().find(|load| !(**load > 0.0 && **load < 1.0)) {
            Some(load) => Err(Error::Setting(format!("loads = {load}: must be > 0 and < 1"))),
            None => Ok(()),
        }
    }

    /// The traffic at every load; refused where a resource is overloaded in truth.
    pub fn mixes(&self, traffic: &Traffic) -> Result<Vec<(f64, Traffic)>, Violation> {
        let mixes: Vec<(f64, Traffic)> = match &self.loads[..] {
            [] => vec![(traffic.heaviest().1, traffic.clone())],
            loads => loads.iter().map(|load| (*load, traffic.at_load(*load))).collect(),
        };
        mixes.iter().try_for_each(|(_, mix)| mix.check_stable())?;
        Ok(mixes)
    }
}

/// Says how fast classes of transactions are served that come and go at random; every class that claims something else than it
/// needs is served both ways.
///
/// ```
/// use fairplan::{Control, FlowsOptions, Objective, flows, generate};
///
/// let options =
///     FlowsOptions { objectives: vec![Objective::DrfPooled], loads: vec![0.2], ..Default::default() };
/// let flows = flows(&generate::mrf_fig1(0.5)?, &options, &Control::none())?;
/// assert_eq!(flows.results.len(), 1);
/// # Ok::<(), fairplan::Error>(())
/// ```
pub fn flows(traffic: &Traffic, options: &FlowsOptions, control: &Control<'_>) -> Result<Flows, Error> {
    options.check()?;
    control.stage("evaluating");
    let (mut results, mut unstable) = (Vec::new(), Vec::new());
    for (load, mix) in &options.mixes(traffic)? {
        // What is claimed may overload a resource that is not overloaded in truth.
        let claimed = mix.has_claims().then(|| mix.as_claimed());
        let (claimed, overloaded): (Option<Traffic>, _) = match claimed {
            Some(claimed) if claimed.check_stable().is_err() => (None, Some(claimed)),
            claimed => (claimed, None),
        };
        unstable.extend(overloaded.map(|claimed| Unstable::new(&claimed, "claimed", *load)));
        for objective in &options.objectives {
            let outcome = options.level.outcome(mix, *objective)?;
            results.push(FlowsResult::new(mix, *objective, "truthful", *load, &outcome));
            if let Some(claimed) = &claimed {
                let outcome = options.level.outcome(claimed, *objective)?;
                results.push(FlowsResult::new(claimed, *objective, "claimed", *load, &outcome));
            }
        }
    }
    Ok(Flows {
        traffic: TrafficStamp { name: traffic.name().into(), sha256: files::traffic_sha256_hex(traffic) },
        level: options.level.name().into(),
        settings: options.level.settings(),
        results,
        unstable,
    })
}
