//! What every mechanism does, and what it may keep account of.

use crate::MechanismError;
use fairplan_instances::Entitlement;

/// A rule that divides the slices of one quantum after the other.
pub trait Mechanism {
    /// Its name (`karma`).
    fn name(&self) -> &'static str;

    /// Takes note of who takes part from the next quantum on and what is due to them: once before the first quantum,
    /// and whenever users join or leave.
    fn admit(&mut self, due: &Entitlement) -> Result<(), MechanismError>;

    /// Divides the slices of the next quantum: reads what each user reports to demand, and writes what each member
    /// is allocated. Others demand nothing and keep the zero they have.
    fn allocate(&mut self, demands: &[u64], allocated: &mut [u64]);

    /// What the mechanism keeps account of.
    fn account(&self) -> Account {
        Account::Nothing
    }

    /// The account of a user after the last quantum, in the unit of [`Account`].
    fn balance(&self, _user: usize) -> f64 {
        0.0
    }
}

/// What a mechanism remembers or takes of each user.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Account {
    /// Nothing that others need to know.
    Nothing,
    /// Credits left (Karma).
    Credits,
    /// What a slice of this quantum cost the user, as a part of its valuation (the auction).
    UnitPrice,
    /// Tickets held when the slices of this quantum were allocated (tickets and claims).
    Tickets,
}
