//! What to buy, what servers are worth, what failures cost, what made a difference, how long a cluster lasts, what to move.

mod buy;
mod changes;
mod growth;
mod lose;
mod moves;
mod stages;
mod target;
mod whole;
mod whole_part;
mod work_in_turn;

pub use buy::{BuyOptions, Plan, buy};
pub use changes::{WorthOptions, compare_instances, worth_of_servers};
pub use growth::{FEW_QUANTA, GrowthOptions, growth};
pub use lose::{LoseOptions, losses};
pub use moves::{MoveTarget, MovesOptions, moves};
pub use stages::{StagesOptions, growth_with_purchases};
pub use target::TargetOptions;
