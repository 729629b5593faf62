//! What planning writes: a purchase, what servers are worth, what failures cost, what made a difference, how long a cluster
//! lasts.

mod difference;
mod growth;
mod loss;
mod plan;
mod worth;

pub use difference::{
    ChangeResult, DifferenceBody, DifferenceDocument, DifferenceSide, StepResult, UserDifference,
    difference_document, results_document,
};
pub use growth::{GrowthBody, GrowthDocument, GrowthQuantum, ShortfallResult, growth_document};
pub use loss::{LossBody, LossDocument, LossResult, LostUser, loss_document};
pub use plan::{
    CatalogStamp, FrontierPoint, ObstacleResult, PlanBody, PlanDocument, PlanParts, PlannedUser,
    PricesOfClass, PurchaseResult, ServersBought, TargetResult, TaskKind, plan_document, servers_bought,
};
pub use worth::{GainingUser, ResourceWorthResult, WorthBody, WorthDocument, WorthResult, worth_document};
