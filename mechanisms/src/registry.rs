//! All mechanisms by name, and what makes them.

use crate::karma::{Karma, KarmaSettings};
use crate::las::LeastAttained;
use crate::max_min::MaxMin;
use crate::mpsp::{Mpsp, MpspSettings};
use crate::sharp::{Sharp, SharpSettings};
use crate::strict::StrictPartitioning;
use crate::{Mechanism, Ties};
use fairplan_instances::{Entry, GuaranteedFraction, Registry, UnknownName};

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

/// The mechanism called `name`, for as many users as `non_conformant` has, who may be strategic, and so many quanta.
pub fn mechanism(
    name: &str,
    settings: &Settings,
    non_conformant: &[bool],
    quanta: usize,
) -> Result<Box<dyn Mechanism>, UnknownName> {
    Ok((MECHANISMS.find(name)?.0.make)(settings, non_conformant, quanta))
}
