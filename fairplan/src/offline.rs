//! The most even allocation when all demands are known beforehand, and what mechanisms lose against it.

use crate::allocate::{MechanismOptions, divided_tasks, hashes_of_tasks, tell_of_limits};
use crate::solve::SOLVING;
use crate::{Control, Error, Found};
use fairplan_instances::{
    Against, DemandSeries, FairShares, GuaranteedFraction, OfflineMeasure, OfflineOptimum, OfflineProblem,
    TaskDemands, TaskOptimum, files,
};
use fairplan_mechanisms::{Conduct, MECHANISMS, Reports, Run};
use fairplan_report::allocation::AllocationSettings;
use fairplan_report::offline::{
    Held, OfflineDocument, TaskOfflineDocument, offline_document, task_offline_document,
};
use fairplan_solver::{
    accepted_task_optimum_within, exact_offline_optimum_within, exact_task_optimum_within,
    offline_optimum_within,
};
use fairplan_verify::{
    OfflineClaim, OfflineProof, TaskClaim, TaskProof, Verdict, verify_offline, verify_task_optimum,
};

/// What is evened out, and what is held against it.
#[derive(Clone, Debug)]
pub struct OfflineOptions {
    /// What is evened out. Default: totals by weight.
    pub measure: OfflineMeasure,
    /// Whether slices are whole, as mechanisms allocate them. Not for tasks. Default: they are divided at will.
    pub whole_slices: bool,
    /// Whether everybody gets its guaranteed share in every quantum. Not for tasks. Default: no.
    pub guaranteed: bool,
    /// Whether to find fractions beside the doubles, proved without tolerance. Not for whole slices, which are counted. Default: no.
    pub exact: bool,
    /// Mechanisms whose regret to state. Default: none.
    pub against: Vec<String>,
    /// How they are set, and the guaranteed fraction.
    pub settings: MechanismOptions,
}

impl Default for OfflineOptions {
    fn default() -> Self {
        Self {
            measure: OfflineMeasure::Totals,
            whole_slices: false,
            guaranteed: false,
            exact: false,
            against: Vec::new(),
            settings: MechanismOptions::default(),
        }
    }
}

/// The optimum of demands in slices, and its proof.
#[derive(Clone, Debug)]
pub struct Offline {
    /// Slices of every quantum and user, and the levels that they come to.
    pub optimum: OfflineOptimum,
    /// What the checker says.
    pub proof: OfflineProof,
    /// The mechanisms held against it, and serving whoever has least, which Karma's Theorem 4 is about.
    pub held: Held,
    options: OfflineOptions,
    settings: AllocationSettings,
    sha256: String,
}

impl Offline {
    /// The `fairplan.offline.v1`; with `per_quantum` it has every quantum, without which it cannot be verified.
    pub fn document(&self, series: &DemandSeries, shares: &FairShares, per_quantum: bool) -> OfflineDocument {
        let problem = self.options.problem(series, shares);
        let (settings, held) = (self.settings.clone(), self.held.clone());
        offline_document(&problem, &self.sha256, settings, &self.optimum, &self.proof, held, per_quantum)
    }
}

impl OfflineOptions {
    fn problem<'a>(&self, series: &'a DemandSeries, shares: &'a FairShares) -> OfflineProblem<'a> {
        let guaranteed: Option<GuaranteedFraction> = self.guaranteed.then_some(self.settings.alpha);
        let OfflineOptions { measure, whole_slices, .. } = *self;
        OfflineProblem { series, shares, guaranteed, measure, whole_slices }
    }
}

/// Finds the lexicographic max-min of what users have over all quanta when all demands are known, proves it by nested cuts, and
/// states the regret of mechanisms against it.
///
/// An optimum of which a part of a level may be missing is [`Error::Uncertified`], with the [`Offline`] that there is.
///
/// ```
/// use fairplan::{Control, FairShares, OfflineOptions, generate, offline};
///
/// let options = OfflineOptions { against: vec!["strict".into()], ..OfflineOptions::default() };
/// let shares = FairShares::PerUser(2);
/// let offline = offline(&generate::karma_fig2()?, &shares, &options, &Control::none())?;
/// assert!(offline.proof.holds() && offline.held.against[0].regret > 0.2);
/// # Ok::<(), fairplan::Error>(())
/// ```
pub fn offline(
    series: &DemandSeries,
    shares: &FairShares,
    options: &OfflineOptions,
    control: &Control<'_>,
) -> Result<Offline, Error> {
    options.against.iter().try_for_each(|name| MECHANISMS.find(name).map(drop))?;
    let settings = options.settings.of_slices(series, shares)?;
    let problem = options.problem(series, shares);
    control.stage("solving");
    let deadline = control.deadline.after_part(SOLVING);
    let optimum = match options.exact {
        true => exact_offline_optimum_within(&problem, &deadline)?,
        false => offline_optimum_within(&problem, &deadline),
    };
    control.stage("verifying");
    let claim = OfflineClaim::from(&optimum);
    let proof = verify_offline(&problem, claim);
    let fails = |verdict: &&Verdict| !verdict.holds && verdict.property != "level-gaps";
    if let Some(Verdict { property, witness, .. }) = proof.verdicts.iter().find(fails) {
        let why = format!("the offline optimum fails its check: {property}: {witness}");
        return Err(Error::uncertified(why).by(&deadline));
    }
    let value = problem.smallest(&optimum.totals(series));
    let honest = vec![false; series.user_count()];
    let conduct = Conduct { non_conformant: &honest, reports: Reports::Truthful };
    let run = Run { shares, conduct, cache: None, per_quantum: false };
    let regret = |name: &str| {
        let outcome = run.named(name, &settings, series).map_err(Error::input)?;
        let useful: Vec<f64> = outcome.users.iter().map(|user| user.useful as f64).collect();
        Ok(Against::new(name, problem.smallest(&useful), value, series.quantum_count()))
    };
    control.stage("running the mechanisms");
    let held = held(&options.against, "las", regret)?;
    let names: Vec<&str> = options.against.iter().map(String::as_str).collect();
    let settings = MechanismOptions::echoed(&settings, shares, &names, options.guaranteed);
    let sha256 = files::demands_sha256_hex(series);
    let found = Offline { optimum, proof, held, options: options.clone(), settings, sha256 };
    if found.proof.holds() {
        return Ok(found);
    }
    let why = format!("not proved: up to {:.1e} of a level may be missing", found.proof.relative_gap);
    Err(Error::Uncertified { why, found: Found::some(found) }.by(&deadline))
}

/// The regrets of mechanisms and, where there are any, that of the one by which online rules are judged.
fn held(
    names: &[String],
    online: &str,
    regret: impl Fn(&str) -> Result<Against, Error>,
) -> Result<Held, Error> {
    let against = names.iter().map(|name| regret(name)).collect::<Result<Vec<_>, _>>()?;
    let online_bound = (!against.is_empty()).then(|| regret(online)).transpose()?;
    Ok(Held { against, online_bound })
}

/// The optimum of demands in tasks, and its proof.
#[derive(Clone, Debug)]
pub struct TaskOffline {
    /// Tasks of every quantum, user and class, and the levels that they come to.
    pub optimum: TaskOptimum,
    /// What the checker says.
    pub proof: TaskProof,
    /// The rules held against it, and serving whoever has least.
    pub held: Held,
    measure: OfflineMeasure,
    sha256: [String; 2],
}

impl TaskOffline {
    /// The `fairplan.offline.v1`; with `per_quantum` it has every quantum, without which it cannot be verified.
    pub fn document(&self, demands: &TaskDemands<'_>, per_quantum: bool) -> TaskOfflineDocument {
        let held = self.held.clone();
        let sha256 = self.sha256.each_ref().map(String::as_str);
        let demands = demands.clone().measured_by(self.measure);
        task_offline_document(&demands, sha256, &self.optimum, &self.proof, held, per_quantum)
    }
}

/// The same for demands in tasks over the servers of an instance.
///
/// ```
/// use fairplan::{Control, DemandSeriesBuilder, OfflineOptions, QuantumLabel, TaskDemands};
/// use fairplan::{generate, offline_tasks};
///
/// let mut series = DemandSeriesBuilder::default();
/// series.user("user-1")?;
/// series.user("user-2")?;
/// for quantum in 1..=2 {
///     series.quantum(QuantumLabel::Number(quantum))?;
///     series.demand(0, 20)?;
///     series.demand(1, 5 * quantum)?;
/// }
/// let (instance, series) = (generate::drfh_fig1()?, series.build()?);
/// let demands = TaskDemands::new(&instance, &series)?;
/// let offline = offline_tasks(&demands, &OfflineOptions::default(), &Control::none())?;
/// assert!(offline.proof.verdicts.iter().all(|verdict| verdict.holds));
/// # Ok::<(), fairplan::Error>(())
/// ```
pub fn offline_tasks(
    shares: &TaskDemands<'_>,
    options: &OfflineOptions,
    control: &Control<'_>,
) -> Result<TaskOffline, Error> {
    let (packing, without) = (
        "whole tasks on servers are a packing problem in every quantum",
        "the optimum over servers is found without guaranteed shares only",
    );
    for (is_stated, setting, why) in
        [(options.whole_slices, "whole-slices", packing), (options.guaranteed, "guaranteed", without)]
    {
        if is_stated {
            return Err(Error::Setting(format!("{setting} cannot be given with an instance: {why}")));
        }
    }
    shares.instance().without_groups("offline")?;
    shares.instance().plain("offline")?;
    let demands = shares.clone().measured_by(options.measure);
    tell_of_limits(&demands, control);
    control.stage("solving");
    let deadline = control.deadline.after_part(SOLVING);
    let optimum = match options.exact {
        true => exact_task_optimum_within(&demands, &deadline)?,
        // What the checker refuses is not the answer while there is another way.
        false => accepted_task_optimum_within(&demands, &deadline, &mut |optimum| {
            verify_task_optimum(&demands, TaskClaim::from(optimum)).holds()
        }),
    };
    control.stage("verifying");
    let proof = verify_task_optimum(&demands, TaskClaim::from(&optimum));
    let fails = proof.verdicts.iter().find(|verdict| !verdict.holds);
    let unproved =
        fails.map(|Verdict { property, witness, .. }| format!("not proved: {property}: {witness}"));
    if let Some(why) = unproved.as_ref().filter(|_| !proof.relative_gap.is_finite()) {
        // Without all levels there is nothing to state.
        return Err(Error::uncertified(why.clone()).by(&deadline));
    }
    let value = demands.smallest(&optimum.tasks);
    let settings = options.settings.of_tasks(shares);
    let regret = |name: &str| {
        // Rules do not know how much will be demanded: they go by shares, whatever they are held to.
        let allocation = divided_tasks(name, shares, settings, &control.deadline)?;
        let reached = demands.smallest(&allocation.tasks);
        Ok(Against::new(name, reached, value, demands.series().quantum_count()))
    };
    control.stage("running the mechanisms");
    let held = held(&options.against, "cumulative-max-min", regret);
    let held = held.map_err(|error| error.by(&control.deadline))?;
    let sha256 = hashes_of_tasks(shares);
    let found = TaskOffline { optimum, proof, held, measure: options.measure, sha256 };
    let Some(why) = unproved else { return Ok(found) };
    Err(Error::Uncertified { why, found: Found::some(found) }.by(&deadline))
}
