//! What planning writes: a purchase, what servers are worth, what failures cost, what made a difference, how long a cluster
//! lasts.

mod plan;

pub use plan::{
    CatalogStamp, FrontierPoint, ObstacleResult, PlanBody, PlanDocument, PlanParts, PlannedUser,
    PricesOfClass, PurchaseResult, ServersBought, TaskKind, plan_document, servers_bought,
};
