//! What planning writes: a purchase, what servers are worth, what failures cost, what made a difference, how long a cluster
//! lasts.

mod costs;
mod plan;

pub use costs::StatedCosts;
pub use plan::{
    CatalogStamp, FrontierPoint, NearestServer, ObstacleResult, PlanBody, PlanDocument, PlanParts,
    PlannedGroup, PlannedUser, PricesOfClass, PurchaseResult, TaskHeldNowhere, TaskKind, TasksKeptOut,
    plan_document,
};
