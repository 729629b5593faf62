//! What every placement policy does.

use crate::PlacementError;
use fairplan_instances::{Deadline, Instance, Placement, ServerChoice, UserId};

/// Tasks that come one after the other.
#[derive(Clone, Copy, Debug)]
pub struct InOrder<'a> {
    /// The servers, and the users whose tasks come. How many tasks users have does not count.
    pub instance: &'a Instance,
    /// Whose task comes, one after the other.
    pub order: &'a [UserId],
    /// By when.
    pub deadline: &'a Deadline,
}

/// A rule that places whole tasks on servers until nothing more fits.
pub trait PlacementPolicy: Send + Sync {
    /// The name under which [`policy`](crate::policy()) finds it (`best-fit`, `slots=14`).
    fn name(&self) -> String;

    /// Whose turn it is. Nearly all policies serve the lowest share.
    fn turn(&self) -> Turn {
        Turn::LowestShare
    }

    /// Fills the servers of `instance`. The same instance gives the same placement, always.
    fn place(&self, instance: &Instance) -> Result<Placement, PlacementError> {
        self.place_within(instance, &Deadline::never())
    }

    /// The same, or an error if time is over before: part of a placement is not what the policy says.
    fn place_within(&self, instance: &Instance, deadline: &Deadline) -> Result<Placement, PlacementError>;

    /// Places tasks in the order in which they come, each where there is room when it comes: the server of each. The same instance
    /// and order give the same servers, always.
    ///
    /// # Errors
    /// Of policies that are others' rules.
    fn place_in_order(&self, _asked: InOrder<'_>) -> Result<Vec<Option<usize>>, PlacementError> {
        let problem = "does not place tasks in an order that is given".into();
        Err(PlacementError::Asked { policy: self.name(), problem })
    }

    /// The same rule for one task at a time on servers whose tasks come and go. Some rules measure by the cluster at the
    /// start: `totals` is what it has of each resource, `largest` the most that one server has, both in the units that
    /// the choice is asked in.
    fn choice(&self, totals: &[u128], largest: &[u128]) -> Box<dyn ServerChoice>;

    /// The same where servers have devices, of these sizes a resource, 0 where it has none; `None` of policies that see amounts only.
    fn choice_on_devices(&self, _totals: &[u128], _sizes: &[u128]) -> Option<Box<dyn ServerChoice>> {
        None
    }
}

/// Whose task is placed next, of the users whose tasks still fit somewhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Turn {
    /// That of the user with the lowest weighted dominant share (DRFH Sec. V-B).
    LowestShare,
    /// That of the user with the fewest tasks over its weight.
    FewestTasks,
}
