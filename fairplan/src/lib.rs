//! fairplan as a library: what each user of a heterogeneous cluster should get, and a proof of it.
//!
//! Every question is one function: it takes what it is asked about, a struct of options that has a `Default`, and a
//! [`Control`], which says when to end and who is told how far it is. It returns what was found, already checked by code that
//! shares nothing with what computed it; `document` of the answer is what the command line writes. What has no answer, or none
//! that is proved, is an [`Error`].
//!
//! ```
//! use fairplan::{Control, SolveOptions, generate, report, solve};
//!
//! let instance = generate::drfh_fig1()?;
//! let solved = solve(&instance, &SolveOptions::default(), &Control::none())?;
//! for (id, user) in instance.users().enumerate() {
//!     println!("{}: {} tasks", user.id(), solved.solution.allocation.tasks(fairplan::UserId(id)));
//! }
//! report::write_json(&mut Vec::new(), &solved.document(&instance, true)).unwrap();
//! # Ok::<(), fairplan::Error>(())
//! ```
//!
//! | question | function |
//! |---|---|
//! | what is fair, exactly | [`solve`](solve()) |
//! | where do whole tasks go | [`place`](place()), [`compare`](compare()) |
//! | what can whole tasks reach at best | [`bound`](bound()), [`bound_proportional`], [`bound_allocated`], [`bound_allocated_around`], [`allocate_most`] |
//! | which fairness properties hold | [`audit`](audit()) |
//! | why has a user its share, or a group | [`explain`](explain()), [`explain_group`] |
//! | what would schedulers promise | [`entitlements`](entitlements()) |
//! | what to buy; what is a server worth; what does a failure cost | [`buy`], [`worth_of_servers`], [`losses`] |
//! | what made a difference; how long does a cluster last | [`compare_instances`], [`growth`] |
//! | what to move so that more runs, or is shared better | [`moves`](moves()) |
//! | who gets what as demands change | [`allocate`](allocate()), [`allocate_tasks`] |
//! | what if all demands had been known | [`offline`](offline()), [`offline_tasks`] |
//! | how fast are transactions served that come at random | [`flows`](flows()) |
//! | what becomes of a trace of jobs | [`simulate`](simulate()), [`simulate_dedicated`] |
//! | how is a scheduler told | [`export`](export()), [`export_changes`] |
//! | is a result right | [`verify`](verify()), [`verify_offline`], [`verify_offline_tasks`] |
//!
//! What they are asked about is read by [`read`], made by [`generate`], or comes from other systems by [`imports`]; [`write`](mod@write) makes
//! files of it.
//! [`report`] has the formats of results, their tables, summaries and pages.

mod allocate;
mod audit;
mod bound;
mod checked;
mod compare;
mod control;
mod counted;
mod entitlements;
mod error;
mod explain;
mod export;
mod flows;
mod offline;
mod place;
mod plan;
mod present;
pub mod read;
mod simulate;
mod solve;
mod tolerance;
mod verify;
pub mod write;

pub use allocate::{
    AllocateOptions, Allocated, AllocatedTasks, MechanismOptions, allocate, allocate_by, allocate_tasks,
};
pub use audit::{AuditOptions, Audited, audit};
pub use bound::{
    AllocatedBound, Bound, BoundOptions, ProportionalBound, WholeTaskObjective, allocate_most, bound,
    bound_allocated, bound_allocated_around, bound_proportional,
};
pub use compare::{CompareOptions, ComparedBound, compare, compare_by, compare_with_bound};
pub use control::{Control, Progress};
pub use entitlements::{Quotas, entitlements};
pub use error::{Error, Found, what_there_is};
pub use explain::{explain, explain_group, group_named, user_named};
pub use export::held_against::{ExportedFile, exported_from};
pub use export::{ExportChange, ExportChanges, LostField, export, export_changes};
pub use flows::{FlowsOptions, Level, LevelOptions, flows};
pub use offline::{Offline, OfflineOptions, TaskOffline, offline, offline_tasks};
pub use place::{PATTERNS, PlaceOptions, Placed, Placer, gathered, place, place_by, place_in_order};
pub use plan::{
    BuyOptions, FEW_QUANTA, GrowthOptions, LoseOptions, MoveTarget, MovesOptions, Plan, StagesOptions,
    TargetOptions, WorthOptions, buy, compare_instances, growth, growth_with_purchases, losses, moves,
    worth_of_servers,
};
pub use present::SimulationStart;
pub use simulate::{
    MOST_DEPRIVED, SimulateOptions, SimulatePolicy, Simulated, SimulatedPolicy, TraceInput, USUAL_POLICIES,
    simulate, simulate_by, simulate_dedicated, with_series,
};
pub use solve::{SolveOptions, Solved, solve};
pub use verify::{ResultFile, verify, verify_offline, verify_offline_tasks};

pub use fairplan_analysis::{Audit, Difference, Explanation, GroupExplanation, Growth, Losses, Worth};
pub use fairplan_exports as exports;
pub use fairplan_heuristics::{
    Asked, Chooser, Cluster, ClusterNames, DEVICE_POLICIES, OutsidePolicy, POLICIES, PlacementPolicy,
};
pub use fairplan_imports as imports;
pub use fairplan_instances as instances;
pub use fairplan_instances::{
    CacheModel, ClusterOutcome, Deadline, Decimal, DemandSeries, DemandSeriesBuilder, Document, FairShares,
    GuaranteedFraction, Instance, InstanceBuilder, LimitedBy, OBJECTIVES, Objective, OfflineMeasure,
    QuantumLabel, TaskDemands, Traffic, UserId, files, generate,
};
pub use fairplan_mechanisms::{Divider, MECHANISMS, Quantum, Ties};
pub use fairplan_report as report;
pub use fairplan_report::comparison::Comparison;
pub use fairplan_report::flows::Flows;
pub use fairplan_report::moves::MovesBody;
pub use fairplan_report::verification::Verification;
pub use fairplan_simulation::{
    ClusterSettings, MarkovSettings, PacketSettings, SimulationSettings, TaskLevelSettings,
};
pub use fairplan_solver::{BACKENDS, HAS_HIGHS, SCHEDULER_RULES, SHARED, TASK_MECHANISMS, highs_version};
