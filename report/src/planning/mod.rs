//! What planning writes: a purchase, what servers are worth, what failures cost, what made a difference, how long a cluster
//! lasts.

mod growth;
mod plan;

pub use growth::{GrowthBody, GrowthDocument, GrowthQuantum, ShortfallResult, growth_document};
pub use plan::{
    CatalogStamp, FrontierPoint, ObstacleResult, PlanBody, PlanDocument, PlanParts, PlannedUser,
    PricesOfClass, PurchaseResult, ServersBought, TargetResult, TaskKind, plan_document, servers_bought,
};
