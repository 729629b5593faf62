//! Mechanisms that divide the slices of one resource among users whose demands change from quantum to quantum, one
//! mechanism a file, counted in exact integers.
//!
//! A mechanism sees the demands that users report, one quantum after the other, and nothing of the future.

mod error;
mod karma;
mod ladders;
mod las;
mod max_min;
mod metrics;
mod mpsp;
mod run;
mod sharp;
mod strict;
mod ties;

pub use error::MechanismError;
pub use karma::{Karma, KarmaSettings};
pub use las::LeastAttained;
pub use max_min::MaxMin;
pub use mpsp::{Mpsp, MpspSettings};
pub use run::{Conduct, Reports, Run, non_conformant};
pub use sharp::{Sharp, SharpSettings};
pub use strict::StrictPartitioning;
pub use ties::Ties;

use fairplan_instances::wording::unknown;
use fairplan_instances::{Entitlement, GuaranteedFraction};

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

/// Every mechanism: its name and its rule in one line.
pub const MECHANISMS: &[(&str, &str)] = &[
    ("karma", "who lends slices earns credits, who has most credits borrows first (Karma Alg. 1 and 2)"),
    ("max-min", "every quantum on its own: the user with the least by weight is served next"),
    ("strict", "everyone its fair share, whatever the demands"),
    ("las", "least attained service: the user that got least so far, by weight, is served next"),
    ("mpsp", "an auction; who wins pays what its winning costs the others (Fair Shares Alg. 2)"),
    ("sharp", "tickets are granted by max-min fairness and drawn for slices (Fair Shares Alg. 3)"),
];

/// Everything that decides an outcome, of whatever mechanism, beside the demands and the fair shares.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Karma: the guaranteed fraction of the fair share.
    pub alpha: GuaranteedFraction,
    /// Karma: credits of every user at the start.
    pub initial_credits: u64,
    /// Who comes first among equals.
    pub ties: Ties,
    /// Tickets: how many there are for every slice; at least 1.
    pub oversubscription: u64,
    /// Tickets: quanta until a claim ends; at least 1.
    pub term: usize,
    /// Seed of everything drawn.
    pub seed: u64,
}

/// A name that is no mechanism. Its text lists what would do.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}", unknown("mechanism", .0, MECHANISMS.iter().map(|(name, _)| *name)))]
pub struct UnknownMechanism(String);

/// The mechanism called `name`, for as many users as `non_conformant` has, who may be strategic, and so many quanta.
pub fn mechanism(
    name: &str,
    settings: &Settings,
    non_conformant: &[bool],
    quanta: usize,
) -> Result<Box<dyn Mechanism>, UnknownMechanism> {
    let users = non_conformant.len();
    let Settings { alpha, initial_credits, ties, oversubscription, term, seed } = *settings;
    let strategic = || non_conformant.to_vec();
    Ok(match name {
        "karma" => Box::new(Karma::new(KarmaSettings { alpha, initial_credits, ties }, users, quanta)),
        "max-min" => Box::new(MaxMin::new(ties)),
        "strict" => Box::new(StrictPartitioning::new(ties)),
        "las" => Box::new(LeastAttained::new(ties, users)),
        "mpsp" => Box::new(Mpsp::new(MpspSettings { ties, strategic: strategic(), seed })),
        "sharp" => {
            Box::new(Sharp::new(SharpSettings { oversubscription, term, ties, strategic: strategic(), seed }))
        }
        _ => return Err(UnknownMechanism(name.to_owned())),
    })
}
