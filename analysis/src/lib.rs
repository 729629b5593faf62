//! Questions asked of any [`Solver`](fairplan_instances::Solver): has an objective the properties it is said to have
//! ([`audit`]), why has a user its share ([`explain()`]), what would another cluster or other users change (`what_if/`); what a
//! placement leaves ([`Judgement`]); what rules that see one pool promise beside the division that is fair ([`Entitlements`]).
//!
//! Nothing here knows how a solver works or proves what it returns: a question is the same instance with a user, a demand or a
//! server changed, solved again.

mod audit;
mod entitlements;
mod explain;
mod in_time;
mod judgement;
mod tolerance;
mod what_if;

pub use audit::{
    Audit, AuditSettings, Finding, GROUP_PROPERTIES, Holds, NotTested, PROPERTIES, Property, audit,
};
pub use entitlements::{Entitled, Entitlement, Entitlements, RuleResult};
pub use explain::{
    ClassView, Explanation, Gain, GroupExplanation, GroupHolding, Holding, LevelReached, Member, PriceRange,
    Sibling, SmallerDemand, explain, explain_group,
};
pub use in_time::InTime;
pub use judgement::{
    BrokenRule, Judgement, LoosePieces, MisplacedTasks, OverCommitted, OverLimit, StrandedCapacity,
    WaitingTasks,
};
pub use what_if::{
    BoughtBy, BoughtServers, Costs, CostsOfQuantum, CostsOfServers, CostsOverTime, CostsReserved, Difference,
    DifferenceSide, Failure, Followed, GainingUser, GroupChange, Growth, GrowthQuantum, Loser, Loss, Losses,
    LostServers, OutOfReach, PartChange, PlacedBy, ResourceWorth, ServerWorth, ShortGuarantee, Shortfall,
    Step, UserChange, WholeTasks, Worth, differences, growth, losses, losses_of_whole_tasks, purchases_table,
    reservations_table, worth_of_servers,
};
