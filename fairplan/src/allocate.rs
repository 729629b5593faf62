//! Demands over time, quantum by quantum: slices divided by a mechanism, or tasks over the servers of an instance.

use crate::tolerance::RULE;
use crate::{Control, Error};
use fairplan_instances::wording::counted;
use fairplan_instances::{
    CacheModel, Deadline, Decimal, DemandSeries, DynamicOutcome, FairShares, GuaranteedFraction,
    TaskAllocation, TaskDemands, files,
};
use fairplan_mechanisms::{Conduct, Divider, MECHANISMS, Reports, Run, Settings, Ties, non_conformant};
use fairplan_report::allocation::{AllocationDocument, AllocationSettings, allocation_document};
use fairplan_report::task_allocation::{
    TaskAllocationDocument, TaskAllocationSettings, task_allocation_document,
};
use fairplan_solver::{TaskSettings, divide_tasks_within};

/// How mechanisms are set.
#[derive(Clone, Debug)]
pub struct MechanismOptions {
    /// Karma: the guaranteed fraction of the fair share, 0 to 1. Default: 0.5.
    pub alpha: GuaranteedFraction,
    /// Karma: credits of every user at the start. Default: the slices of all quanta, or all servers in all quanta, so that
    /// nobody with an average share can run out.
    pub initial_credits: Option<u64>,
    /// Who comes first among equals. Default: the user that stands first in the input.
    pub ties: Ties,
    /// Tickets: how many there are for every slice, at least 1. Default: 2.
    pub oversubscription: u64,
    /// Tickets: quanta until a claim ends, that of its grant included; at least 1. Default: 2.
    pub term: u64,
    /// Seed of everything drawn. Default: 0.
    pub seed: u64,
}

impl Default for MechanismOptions {
    fn default() -> Self {
        let alpha = GuaranteedFraction::default();
        Self { alpha, initial_credits: None, ties: Ties::Lowest, oversubscription: 2, term: 2, seed: 0 }
    }
}

impl MechanismOptions {
    /// What they mean for a series.
    ///
    /// # Errors
    /// Tickets of which there are none or that never last.
    pub(crate) fn of_slices(&self, series: &DemandSeries, shares: &FairShares) -> Result<Settings, Error> {
        for (name, number) in [("oversubscription", self.oversubscription), ("term", self.term)] {
            if number == 0 {
                return Err(Error::Setting(format!("{name} = 0: must be at least 1")));
            }
        }
        let slices = |quantum| u128::from(shares.entitlement(series, quantum).capacity());
        let most = if series.has_churn() { (0..series.quantum_count()).map(slices).max() } else { None };
        let all = most.unwrap_or_else(|| slices(0)) * series.quantum_count() as u128;
        Ok(Settings {
            alpha: self.alpha,
            // At most 10^11 slices in 2^24 quanta.
            initial_credits: self.initial_credits.unwrap_or(all as u64),
            ties: self.ties,
            oversubscription: self.oversubscription,
            term: self.term as usize,
            seed: self.seed,
        })
    }

    /// What they mean for tasks, with credits that nobody runs out of unless others are stated: all servers in all quanta, for
    /// the smallest weight.
    pub(crate) fn of_tasks(&self, demands: &TaskDemands<'_>) -> TaskSettings {
        let weights = demands.users().iter().map(|user| demands.instance().user(*user).weight().to_f64());
        let all = || demands.series().quantum_count() as f64 / weights.fold(f64::INFINITY, f64::min);
        let initial_credits = self.initial_credits.map_or_else(all, |credits| credits as f64);
        TaskSettings { alpha: self.alpha.to_f64(), initial_credits }
    }

    /// Those that matter: of Karma and of the tickets where they run, and alpha where it is guaranteed.
    pub(crate) fn echoed(
        settings: &Settings,
        shares: &FairShares,
        mechanisms: &[&str],
        guaranteed: bool,
    ) -> AllocationSettings {
        let [karma, sharp] = ["karma", "sharp"].map(|name| mechanisms.contains(&name));
        let mut echoed = AllocationSettings {
            alpha: (karma || guaranteed).then(|| settings.alpha.to_f64()),
            initial_credits: karma.then_some(settings.initial_credits),
            oversubscription: sharp.then_some(settings.oversubscription),
            term: sharp.then_some(settings.term as u64),
            ties: settings.ties.name().into(),
            seed: settings.seed,
            ..AllocationSettings::default()
        };
        match shares {
            FairShares::PerUser(share) => echoed.fair_share = Some(*share),
            FairShares::Capacity(capacity) => echoed.capacity = Some(*capacity),
            FairShares::Each(shares) => echoed.fair_shares = Some(shares.clone()),
        }
        echoed
    }
}

/// By which mechanism to divide, and what users do.
#[derive(Clone, Debug)]
pub struct AllocateOptions {
    /// One of [`MECHANISMS`], or of [`TASK_MECHANISMS`](crate::TASK_MECHANISMS) for tasks. Default: `karma`.
    pub mechanism: String,
    /// How it is set.
    pub settings: MechanismOptions,
    /// This part of the users, drawn by the seed, reports at least its fair share (in an auction it bids up to a tenth off the
    /// value). Not for tasks. Default: nobody.
    pub non_conformant: Option<Decimal>,
    /// Slices are a cache, the store behind it so many times slower: throughput and latency are told too. Not for tasks.
    /// Default: they are not.
    pub cache_slowdown: Option<Decimal>,
    /// Whether every quantum is kept. Default: no.
    pub per_quantum: bool,
}

impl Default for AllocateOptions {
    fn default() -> Self {
        Self {
            mechanism: "karma".into(),
            settings: MechanismOptions::default(),
            non_conformant: None,
            cache_slowdown: None,
            per_quantum: false,
        }
    }
}

impl AllocateOptions {
    /// Refuses what cannot be meant, whatever the demands.
    pub fn check(&self) -> Result<(), Error> {
        if let Some(part) = self.non_conformant.filter(|part| part.to_f64() > 1.0) {
            return Err(Error::Setting(format!("non-conformant = {part}: must be at most 1")));
        }
        if self.cache_slowdown.is_some_and(|slowdown| slowdown.to_f64() < 1.0) {
            return Err(Error::Setting("cache-slowdown must be at least 1".into()));
        }
        Ok(())
    }
}

/// What a mechanism made of demands in slices.
#[derive(Clone, Debug)]
pub struct Allocated {
    /// Slices, welfare and what else is told of every user.
    pub outcome: DynamicOutcome,
    mechanism: String,
    settings: AllocationSettings,
    cache: Option<CacheModel>,
}

impl Allocated {
    /// The `fairplan.allocation.v1`; `series` as it was given.
    pub fn document(&self, series: &DemandSeries) -> AllocationDocument {
        let (settings, mechanism) = (self.settings.clone(), &self.mechanism);
        let sha256 = files::demands_sha256_hex(series);
        allocation_document(series, &sha256, mechanism, settings, &self.outcome, self.cache)
    }
}

/// Divides slices among users, quantum by quantum. `reported` is what they say instead of the truth in `series`, of the same
/// users and quanta.
///
/// ```
/// use fairplan::{AllocateOptions, Control, FairShares, MechanismOptions, allocate, generate};
///
/// let settings = MechanismOptions { initial_credits: Some(6), ..MechanismOptions::default() };
/// let options = AllocateOptions { settings, ..AllocateOptions::default() };
/// let series = generate::karma_fig2()?;
/// let allocated = allocate(&series, &FairShares::PerUser(2), None, &options, &Control::none())?;
/// assert!(allocated.outcome.users.iter().all(|user| user.useful == 8));
/// # Ok::<(), fairplan::Error>(())
/// ```
pub fn allocate(
    series: &DemandSeries,
    shares: &FairShares,
    reported: Option<&DemandSeries>,
    options: &AllocateOptions,
    control: &Control<'_>,
) -> Result<Allocated, Error> {
    MECHANISMS.find(&options.mechanism)?;
    divided(series, shares, reported, None, options, control)
}

/// The same by a mechanism of the caller's, which results call what the options name. Every answer of it is checked.
///
/// ```
/// use fairplan::{AllocateOptions, Control, Divider, FairShares, Quantum, allocate_by, generate};
///
/// /// Everybody what it asks for, as long as there is some.
/// struct FirstComes;
/// impl Divider for FirstComes {
///     fn divide(&mut self, quantum: Quantum<'_>) -> Result<Vec<i64>, String> {
///         let mut left = quantum.due.capacity();
///         let slices = quantum.demands.iter().map(|demand| {
///             let slices = left.min(*demand);
///             left -= slices;
///             slices as i64
///         });
///         Ok(slices.collect())
///     }
/// }
/// let options = AllocateOptions { mechanism: "first-comes".into(), ..AllocateOptions::default() };
/// let (series, shares) = (generate::karma_fig2()?, FairShares::PerUser(2));
/// let allocated = allocate_by(&series, &shares, None, &mut FirstComes, &options, &Control::none())?;
/// assert_eq!(allocated.outcome.users[0].useful, allocated.outcome.users[0].demand);
/// # Ok::<(), fairplan::Error>(())
/// ```
pub fn allocate_by(
    series: &DemandSeries,
    shares: &FairShares,
    reported: Option<&DemandSeries>,
    mechanism: &mut dyn Divider,
    options: &AllocateOptions,
    control: &Control<'_>,
) -> Result<Allocated, Error> {
    let name = &options.mechanism;
    if MECHANISMS.find(name).is_ok() {
        let problem = format!("mechanism = {name}: is the name of one of ours; call your own something else");
        return Err(Error::Setting(problem));
    }
    divided(series, shares, reported, Some(mechanism), options, control)
}

fn divided(
    series: &DemandSeries,
    shares: &FairShares,
    reported: Option<&DemandSeries>,
    own: Option<&mut dyn Divider>,
    options: &AllocateOptions,
    control: &Control<'_>,
) -> Result<Allocated, Error> {
    options.check()?;
    let mechanism = options.mechanism.as_str();
    let settings = options.settings.of_slices(series, shares)?;
    let users = series.user_count();
    let (greedy, reports, strategy) = match (reported, options.non_conformant) {
        (Some(reported), _) => (liars(series, reported), Reports::Series(reported), Some("series")),
        (None, Some(part)) => {
            let count = (part.to_f64() * users as f64).round() as usize;
            let drawn = non_conformant(users, count, settings.seed);
            // In an auction they pay for what they hoard, so they only bid another price.
            match mechanism {
                "mpsp" => (drawn, Reports::Truthful, Some("bidding")),
                _ => (drawn, Reports::Hoarding, Some("hoarding")),
            }
        }
        (None, None) => (vec![false; users], Reports::Truthful, None),
    };
    let cache = options.cache_slowdown.map(|slowdown| CacheModel { slowdown: slowdown.to_f64() });
    let conduct = Conduct { non_conformant: &greedy, reports };
    let run = Run { shares, conduct, cache, per_quantum: options.per_quantum };
    control.stage("dividing");
    let outcome = match own {
        Some(own) => run.asked(mechanism, own, series),
        None => run.named(mechanism, &settings, series),
    };
    let outcome = outcome.map_err(Error::input)?;
    let settings = AllocationSettings {
        strategy: strategy.map(Into::into),
        reported_sha256: reported.map(files::demands_sha256_hex),
        ..MechanismOptions::echoed(&settings, shares, &[mechanism], false)
    };
    Ok(Allocated { outcome, mechanism: mechanism.into(), settings, cache })
}

/// Who reports anything but the truth.
fn liars(series: &DemandSeries, reported: &DemandSeries) -> Vec<bool> {
    let mut lies = vec![false; series.user_count()];
    for quantum in 0..series.quantum_count() {
        let (truth, report) = (series.demands(quantum), reported.demands(quantum));
        if truth != report {
            differing(truth, report, |user| lies[user as usize] = true);
        }
    }
    lies
}

/// Calls `found` with every user whose demand differs between two quanta.
fn differing(a: (&[u32], &[u64]), b: (&[u32], &[u64]), mut found: impl FnMut(u32)) {
    let mut b = b.0.iter().zip(b.1).peekable();
    for a in a.0.iter().zip(a.1) {
        while let Some((user, _)) = b.next_if(|b| b.0 < a.0) {
            found(*user);
        }
        if b.next_if(|b| b.0 == a.0).is_none_or(|b| b.1 != a.1) {
            found(*a.0);
        }
    }
    b.for_each(|(user, _)| found(*user));
}

/// What a rule made of demands in tasks.
#[derive(Clone, Debug)]
pub struct AllocatedTasks {
    /// Tasks of every quantum, user and class.
    pub allocation: TaskAllocation,
    mechanism: String,
    settings: TaskAllocationSettings,
    per_quantum: bool,
    sha256: [String; 2],
}

impl AllocatedTasks {
    /// The `fairplan.allocation.v1` of tasks over an instance; `demands` and `reported` as they were given.
    pub fn document(
        &self,
        demands: &TaskDemands<'_>,
        reported: Option<&TaskDemands<'_>>,
    ) -> TaskAllocationDocument {
        task_allocation_document(
            demands,
            reported.unwrap_or(demands),
            self.sha256.each_ref().map(String::as_str),
            &self.mechanism,
            self.settings.clone(),
            &self.allocation,
            self.per_quantum,
        )
    }
}

/// Divides the servers of an instance among tasks, quantum by quantum. `reported` is what users say instead of the truth.
///
/// ```
/// use fairplan::{AllocateOptions, Control, DemandSeriesBuilder, QuantumLabel, TaskDemands};
/// use fairplan::{allocate_tasks, generate};
///
/// let mut series = DemandSeriesBuilder::default();
/// series.user("user-1")?;
/// series.user("user-2")?;
/// series.quantum(QuantumLabel::Number(1))?;
/// series.demand(0, 20)?;
/// series.demand(1, 20)?;
/// let (instance, series) = (generate::drfh_fig1()?, series.build()?);
/// let demands = TaskDemands::new(&instance, &series)?;
/// let options = AllocateOptions { mechanism: "drfh".into(), ..AllocateOptions::default() };
/// let allocated = allocate_tasks(&demands, None, &options, &Control::none())?;
/// assert!(allocated.allocation.gaps[0] < 1e-6);
/// # Ok::<(), fairplan::Error>(())
/// ```
pub fn allocate_tasks(
    demands: &TaskDemands<'_>,
    reported: Option<&TaskDemands<'_>>,
    options: &AllocateOptions,
    control: &Control<'_>,
) -> Result<AllocatedTasks, Error> {
    let stated = [
        (options.non_conformant.is_some(), "non-conformant"),
        (options.cache_slowdown.is_some(), "cache-slowdown"),
    ];
    if let Some((_, setting)) = stated.iter().find(|(is_stated, _)| *is_stated) {
        return Err(Error::Setting(format!("{setting} has no meaning for tasks")));
    }
    demands.instance().without_groups("allocate")?;
    demands.instance().plain("allocate")?;
    let settings = options.settings.of_tasks(demands);
    tell_of_limits(demands, control);
    control.stage("dividing");
    let allocation =
        divided_tasks(&options.mechanism, reported.unwrap_or(demands), settings, &control.deadline)?;
    let karma = options.mechanism == "karma";
    let reported_sha256 = reported.map(|reported| files::demands_sha256_hex(reported.series()));
    Ok(AllocatedTasks {
        allocation,
        mechanism: options.mechanism.clone(),
        settings: TaskAllocationSettings {
            alpha: karma.then_some(settings.alpha),
            initial_credits: karma.then_some(settings.initial_credits),
            reported_sha256,
        },
        per_quantum: options.per_quantum,
        sha256: hashes_of_tasks(demands),
    })
}

/// Tells how many users the instance gives a number of tasks, which does not count.
pub(crate) fn tell_of_limits(demands: &TaskDemands<'_>, control: &Control<'_>) {
    let limited = demands.limits_replaced();
    if limited > 0 {
        let users = counted(limited as u64, "user has", "users have");
        control.note(&format!("{users} `tasks` in the instance; how many they are the demands say instead"));
    }
}

/// The hashes of the demands and of the instance.
pub(crate) fn hashes_of_tasks(demands: &TaskDemands<'_>) -> [String; 2] {
    [files::demands_sha256_hex(demands.series()), files::sha256_hex(demands.instance())]
}

/// What a rule makes of the demands.
pub(crate) fn divided_tasks(
    name: &str,
    demands: &TaskDemands<'_>,
    settings: TaskSettings,
    deadline: &Deadline,
) -> Result<TaskAllocation, Error> {
    let allocation = divide_tasks_within(name, demands, settings, deadline)?;
    let wide: Vec<usize> = (0..allocation.gaps.len()).filter(|t| allocation.gaps[*t] > RULE).collect();
    let Some(first) = wide.first() else { return Ok(allocation) };
    Err(Error::uncertified(format!(
        "{name}: {} of {} quanta did not close, the first is quantum {}: a share may be {:.1e} from what the rule asks for",
        wide.len(),
        allocation.gaps.len(),
        demands.series().label(*first),
        allocation.gaps[*first]
    )))
}

#[cfg(test)]
mod tests {
    use super::*;
    use fairplan_instances::generate::karma_fig2;

    #[test]
    fn tickets_of_which_there_are_none_or_that_never_last_are_refused() {
        let refused = |settings| {
            let options =
                AllocateOptions { mechanism: "sharp".into(), settings, ..AllocateOptions::default() };
            let (series, shares) = (karma_fig2().unwrap(), FairShares::PerUser(2));
            allocate(&series, &shares, None, &options, &Control::none()).unwrap_err().to_string()
        };
        let given = MechanismOptions::default;
        assert_eq!(refused(MechanismOptions { term: 0, ..given() }), "term = 0: must be at least 1");
        let none = refused(MechanismOptions { oversubscription: 0, ..given() });
        assert_eq!(none, "oversubscription = 0: must be at least 1");
    }
}
