//! What no mechanism can count, and names that are none.

use fairplan_instances::UnknownName;
use fairplan_instances::wording::printable;

/// Settings under which a mechanism cannot run.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MechanismError {
    /// A name that is no mechanism.
    #[error(transparent)]
    Unknown(#[from] UnknownName),
    /// A mechanism of somebody else's failed, or answered what cannot be.
    #[error("mechanism {}: {}", printable(mechanism, 60), printable(problem, 400))]
    Asked {
        /// Its name.
        mechanism: String,
        /// What it did, with quantum and user.
        problem: String,
    },
    /// Credits could pass what 62 bits hold.
    #[error(
        "initial_credits = {initial_credits}: credits could come to {units} of the unit they are counted in, over \
         4611686018427387904; start with fewer, or choose fair shares with a common divisor"
    )]
    CreditsOverflow {
        /// Credits that every user starts with.
        initial_credits: u64,
        /// The largest balance that could arise.
        units: u128,
    },
}
