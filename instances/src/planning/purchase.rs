//! What was found to buy, or what stands against any purchase.

use crate::tolerance::CHEAPEST;
use crate::{ResourceId, UserId};

/// Servers to buy.
#[derive(Clone, Debug, PartialEq)]
pub struct Purchase {
    /// How many of each type of the catalog.
    pub counts: Vec<u64>,
    /// What they cost.
    pub cost: f64,
    /// No purchase that does as much costs less; for whole tasks: none with which tasks divided at will do.
    pub bound: f64,
    /// The part of what is asked for that every user reaches, tasks divided at will.
    pub part: f64,
    /// Allocations that were computed on the way.
    pub rounds: u64,
}

impl Purchase {
    /// By which part of its cost the purchase may be too dear: 0 where it is proved the cheapest.
    pub fn gap(&self) -> f64 {
        if self.cost > self.bound * (1.0 + CHEAPEST) { 1.0 - self.bound / self.cost } else { 0.0 }
    }
}

/// Why no purchase that is allowed reaches what is asked for.
#[derive(Clone, Debug, PartialEq)]
pub struct Obstacle {
    /// The user whose work pays the most for what is short; of an instance with its [kinds apart](crate::kinds_apart()) a kind.
    pub user: UserId,
    /// The resource that is worth the most there.
    pub resource: ResourceId,
    /// Whether that user can run nowhere, whatever is bought.
    pub nowhere: bool,
    /// The largest part of what is asked for that all users can reach together: asking for so much less is enough.
    pub part: f64,
    /// What is bought then, by type.
    pub counts: Vec<u64>,
    /// The part of its own requirement to which this user alone must go down, with that purchase; `None` where that is
    /// not enough, and of whole tasks.
    pub own_part: Option<f64>,
    /// The tasks that run nowhere, of all users of whom something is asked.
    pub held_nowhere: Vec<HeldNowhere>,
    /// The tasks, of users that want more of them than the servers that there are hold, which no server on offer takes.
    pub not_offered: Vec<HeldNowhere>,
    /// Where there is room by resources, and tasks of that user were not placed. If rules that only whole tasks meet kept them out, `part` is that
    /// of its tasks that were placed with that purchase, no other user having less.
    pub kept_out: Option<KeptOut>,
}

/// Tasks that were not placed though there is room by resources, whatever was bought of what may be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeptOut {
    /// The rules that kept them out, as instances state them; none where whole tasks do not fit as divided ones would.
    pub rules: Vec<String>,
    /// How many of the user's tasks were placed.
    pub placed: u64,
    /// How many are asked for.
    pub required: u64,
    /// What to do.
    pub advice: String,
}

/// A task that no server holds which there is or can be bought.
#[derive(Clone, Debug, PartialEq)]
pub struct HeldNowhere {
    /// Its user; of an instance with its kinds apart a kind.
    pub user: UserId,
    /// The resource that is short on the server that comes nearest.
    pub resource: ResourceId,
    /// How much of it the task needs.
    pub needs: f64,
    /// The server class or type that comes nearest to holding the task, with how much of the resource it has; `None` where the user may
    /// run on no server.
    pub nearest: Option<(String, f64)>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_purchase_is_the_cheapest_just_inside_the_tolerance_and_not_just_outside() {
        let gap = |cost| Purchase { counts: vec![1], cost, bound: 100.0, part: 1.0, rounds: 1 }.gap();
        assert_eq!(gap(100.0 * (1.0 + 0.9 * CHEAPEST)), 0.0);
        assert!(gap(100.0 * (1.0 + 1.1 * CHEAPEST)) > 0.0);
    }
}
