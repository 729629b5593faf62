//! The vocabulary of fairplan: clusters and users in exact decimals, demands over time in whole slices,
//! stochastic demand, what solving, placing, allocating and simulating them yields; fairplan's own file formats and generators.
//! No solver, and no clock but that of a [`Deadline`].

mod above_siblings;
mod allocation;
mod cluster_outcome;
mod counted_guarantees;
mod deadline;
mod decimal;
mod demands;
mod document;
mod error;
mod exact;
mod fair_shares;
pub mod files;
pub mod generate;
pub mod google2011;
mod group_result;
mod guarantee_result;
mod guaranteed_shares;
mod headline;
mod ids;
mod kept_guarantees;
mod limit_result;
mod limit_room;
mod limited_tasks;
mod lint;
mod metrics;
mod model;
mod moves;
mod objective;
mod offline;
mod outcome;
mod pattern;
mod placed_group;
mod placement;
mod placement_figures;
mod planning;
mod price_groups;
pub mod quantity;
mod random;
mod ratio;
mod registry;
mod resource_kind;
mod resource_map;
mod server_choice;
mod shortfall;
mod solution;
mod solver;
mod stamp;
mod stated_bounds;
pub mod table;
mod task_demands;
mod threads;
mod tolerance;
pub mod trace;
mod traffic;
mod violation;
mod waiting;
mod whole_tasks;
pub mod wording;

pub use above_siblings::AboveSiblings;
pub use allocation::Allocation;
pub use cluster_outcome::{
    ClusterOutcome, ClusterSample, CompletionTimes, JobRun, TaskCounts, UserRun, UserSample,
};
pub use counted_guarantees::{CountedGuarantees, guarantees_more_than_members};
pub use deadline::Deadline;
pub use decimal::{Decimal, DecimalError};
pub use demands::{DemandSeries, DemandSeriesBuilder, MAX_SLICES, QuantumLabel};
pub use document::{Body, Document, FAIRPLAN_VERSION, stated};
pub use error::InstanceError;
pub use exact::{ExactLevel, ExactPart, ExactSolution, ExactUser};
pub use fair_shares::{Entitlement, FairShares, GuaranteedFraction, greatest_common_divisor};
pub use group_result::{GroupResult, group_results, groups_table, objective_share};
pub use guarantee_result::{GuaranteeResult, guarantee_results, guarantees_table};
pub use guaranteed_shares::{
    guaranteed_share, guaranteed_shares, guaranteed_whole_shares, guaranteed_whole_tasks,
    keeps_guarantees_of_users, whole_guarantees,
};
pub use headline::{Headline, stated_level};
pub use ids::{IdTable, TextPart};
pub use kept_guarantees::{KeptGuarantees, ShortOwner};
pub use limit_result::{LimitResult, limit_results, limits_table, taken_of_limits};
pub use limit_room::LimitRoom;
pub use limited_tasks::{LimitedTasks, least_share_of_limits, wants_beyond_limits};
pub use lint::{Warning, WarningKind, lint, lint_catalog, lint_of_whole_tasks};
pub use metrics::{Disparity, LeastAndMost, Metrics};
pub use model::{
    Alone, AloneGroup, ClassAmounts, ClassId, DeviceProfile, DeviceProfiles, DomainId, Draft, DraftKind,
    DraftQuota, DraftUser, FilledTree, Gang, Group, GroupId, Instance, InstanceBuilder, Kind, KindId,
    LimitRow, NewGroup, NewKind, NewUser, Owner, Part, PlacementRule, ProfileId, Quota, QuotaAmount,
    QuotaPart, ResourceAmounts, ResourceId, RuleId, ServerClass, ServerNames, User, UserId,
};
pub use moves::{MovePlan, MoveRules, MovesProof, Step, StepCounts};
pub use objective::{Alpha, OBJECTIVES, Objective, one_less};
pub use offline::{Against, ExactOffline, OfflineLevel, OfflineMeasure, OfflineOptimum, OfflineProblem};
pub use outcome::{CacheMetrics, CacheModel, DynamicOutcome, QuantumOutcome, UserTotals};
pub use pattern::is_like;
pub use placed_group::{PlacedGroup, placed_groups, placed_groups_table};
pub use placement::{Placement, ServerTasks};
pub use placement_figures::PlacementFigures;
pub use planning::{
    Catalog, Commitment, HeldNowhere, KeptOut, MoreUsers, Obstacle, Offer, Purchase, ReservedServers,
    ServerType, ServersBought, StatedTarget, Target, kinds_apart, pieces_of, servers_bought, tasks_of,
    with_more_users,
};
pub use price_groups::price_groups;
pub use random::Random;
pub use ratio::{compare_nearly, compare_ratios};
pub use registry::{Entry, Registry, UnknownName};
pub use resource_kind::{ResourceKind, is_memory};
pub use resource_map::ResourceMap;
pub use server_choice::{ServerChoice, ServerRule, TaskRules};
pub use shortfall::{InsideGroup, Shortfall, ShortfallProof};
pub use solution::{Certificate, Level, LimitedBy, Solution, Statistics, Status, Total};
pub use solver::Solver;
pub use stamp::{DemandsStamp, InstanceStamp, InstanceWarning, Label};
pub use stated_bounds::{StatedBounds, stated_bounds};
pub use task_demands::{ExactTaskLevel, ExactTasks, TaskAllocation, TaskDemands, TaskLevel, TaskOptimum};
pub use threads::{FEW_USERS, pieces_together};
pub use traffic::{
    ClassPerformance, Evidence, Sharing, SharingRule, Traffic, TrafficClass, TrafficOutcome, Work,
    WorkDistribution,
};
pub use violation::Violation;
pub use waiting::{all_waiting, waiting};
pub use whole_tasks::{
    AllocatedBracket, AllocationProof, Breakpoint, GANG_SUMS, LogarithmProof, ProportionalBracket,
    WholeTaskBracket, WholeTaskProof, breakpoint_value,
};
