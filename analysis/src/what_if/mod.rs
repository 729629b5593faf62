//! What would be if the cluster or its users were others, asked of a solver: what a server is worth, what a failure costs,
//! what made the difference, how long the cluster lasts as demands grow.

mod differences;
mod failure;
mod group_change;
mod growth;
mod guaranteed;
mod loss;
mod part_change;
mod purchases;
mod quota_changes;
mod standing;
mod variants;
mod whole_losses;
mod work;
mod worth;

pub use differences::{Difference, DifferenceSide, Step, UserChange, differences};
pub use failure::Failure;
pub use group_change::GroupChange;
pub use growth::{Followed, Growth, GrowthQuantum, Shortfall, growth};
pub use guaranteed::ShortGuarantee;
pub use loss::{Loser, Loss, Losses, LostServers, PlacedBy, losses};
pub use part_change::PartChange;
pub use purchases::{
    BoughtBy, BoughtServers, Costs, CostsOfQuantum, CostsOfServers, CostsOverTime, CostsReserved, OutOfReach,
    purchases_table, reservations_table,
};
pub use whole_losses::{WholeTasks, losses_of_whole_tasks};
pub use worth::{GainingUser, ResourceWorth, ServerWorth, Worth, worth_of_servers};
