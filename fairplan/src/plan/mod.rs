//! What to buy, what servers are worth, what failures cost, what made a difference, how long a cluster lasts, what to move.

mod buy;
mod changes;
mod growth;
mod moves;
mod stages;
mod target;
mod whole;

pub use buy::{BuyOptions, Plan, buy};
pub use changes::{LoseOptions, WorthOptions, compare_instances, losses, worth_of_servers};
pub use growth::{FEW_QUANTA, GrowthOptions, growth};
pub use moves::{MoveTarget, MovesOptions, moves};
pub use stages::{StagesOptions, growth_purchases};
pub use target::TargetOptions;
