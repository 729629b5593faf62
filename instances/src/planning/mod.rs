//! Planning of capacity: what can be bought, what every user shall reach, and what was found to buy.

mod catalog;
mod commitment;
mod more_users;
mod purchase;
mod target;

pub use catalog::{Catalog, Offer, ServerType};
pub use commitment::Commitment;
pub use more_users::{MoreUsers, with_more_users};
pub use purchase::{HeldNowhere, Obstacle, Purchase};
pub use target::{StatedTarget, Target};
