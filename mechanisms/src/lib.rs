//! Mechanisms that divide the slices of one resource among users whose demands change from quantum to quantum, one
//! mechanism a file, counted in exact integers.
//!
//! A mechanism sees the demands that users report, one quantum after the other, and nothing of the future.

mod asked;
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

pub use asked::{Divider, Quantum};
pub use error::MechanismError;
pub use karma::{Karma, KarmaSettings};
pub use las::LeastAttained;
pub use max_min::MaxMin;
pub use mpsp::{Mpsp, MpspSettings};
pub use run::{Conduct, Reports, Run, non_conformant};
pub use sharp::{Sharp, SharpSettings};
pub use strict::StrictPartitioning;
pub use ties::Ties;

use fairplan_instances::{Entitlement, Entry, GuaranteedFraction, Registry, UnknownName};

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

/// Makes a mechanism of its settings, of which users may be strategic, and of how many quanta there are.
pub type MakeMechanism = fn(&Settings, &[bool], usize) -> Box<dyn Mechanism>;

/// Every mechanism.
pub const MECHANISMS: Registry<MakeMechanism> = Registry::new(
    "mechanism",
    &[
        Entry {
            name: "karma",
            line: "who lends slices earns credits, who has most credits borrows first (Karma Alg. 1 and 2)",
            make: |&Settings { alpha, initial_credits, ties, .. }, users, quanta| {
                Box::new(Karma::new(KarmaSettings { alpha, initial_credits, ties }, users.len(), quanta))
            },
        },
        Entry {
            name: "max-min",
            line: "every quantum on its own: the user with the least by weight is served next",
            make: |settings, _, _| Box::new(MaxMin::new(settings.ties)),
        },
        Entry {
            name: "strict",
            line: "everyone its fair share, whatever the demands",
            make: |settings, _, _| Box::new(StrictPartitioning::new(settings.ties)),
        },
        Entry {
            name: "las",
            line: "least attained service: the user that got least so far, by weight, is served next",
            make: |settings, users, _| Box::new(LeastAttained::new(settings.ties, users.len())),
        },
        Entry {
            name: "mpsp",
            line: "an auction; who wins pays what its winning costs the others (Fair Shares Alg. 2)",
            make: |&Settings { ties, seed, .. }, strategic, _| {
                Box::new(Mpsp::new(MpspSettings { ties, strategic: strategic.to_vec(), seed }))
            },
        },
        Entry {
            name: "sharp",
            line: "tickets are granted by max-min fairness and drawn for slices (Fair Shares Alg. 3)",
            make: |&Settings { oversubscription, term, ties, seed, .. }, strategic, _| {
                let strategic = strategic.to_vec();
                Box::new(Sharp::new(SharpSettings { oversubscription, term, ties, strategic, seed }))
            },
        },
    ],
);

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

/// The mechanism called `name`, for as many users as `non_conformant` has, who may be strategic, and so many quanta.
pub fn mechanism(
    name: &str,
    settings: &Settings,
    non_conformant: &[bool],
    quanta: usize,
) -> Result<Box<dyn Mechanism>, UnknownName> {
    Ok((MECHANISMS.find(name)?.0.make)(settings, non_conformant, quanta))
}
