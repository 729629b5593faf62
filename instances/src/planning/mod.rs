//! Planning of capacity: what can be bought, what every user shall reach, and what was found to buy.

mod bought;
mod catalog;
mod commitment;
mod kinds_apart;
mod more_users;
mod purchase;
mod target;

pub use bought::{ReservedServers, ServersBought, servers_bought};
pub use catalog::{Catalog, Offer, ServerType};
pub use commitment::Commitment;
pub use kinds_apart::{kinds_apart, pieces_of, tasks_of};
pub use more_users::{MoreUsers, with_more_users};
pub use purchase::{HeldNowhere, KeptOut, Obstacle, Purchase};
pub use target::{StatedTarget, Target};
