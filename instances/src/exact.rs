//! A solution as fractions: the numbers that its doubles are next to.

use crate::{ClassId, KindId};

/// What a max-min comes to exactly. Fractions are texts in lowest terms, `5/7` or `3`; whoever computes with them reads them its own
/// way, so that a checker shares nothing with a solver.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ExactSolution {
    /// The smallest weighted share; where there are groups, of the children of the root, as [`Part`](crate::Part) has it.
    pub value: String,
    /// The levels, rising.
    pub levels: Vec<ExactLevel>,
    /// What each user has, in the instance's order.
    pub users: Vec<ExactUser>,
    /// The tasks on each class where a user runs any: kind by kind, the classes in order. Empty where all servers are one.
    pub parts: Vec<ExactPart>,
    /// What the members of each group have together, as [`GroupResult::share`](crate::GroupResult::share) counts it, in the
    /// instance's order; one that is long is left out, since it follows from the users.
    pub groups: Vec<Option<Box<str>>>,
}

impl ExactSolution {
    /// The tasks of a kind on a class as a fraction, where that is stated.
    pub fn tasks_on(&self, kind: KindId, class: ClassId) -> Option<&str> {
        let place = (kind.0 as u32, class.0 as u32);
        let found = self.parts.binary_search_by_key(&place, |part| (part.kind, part.class));
        self.parts[found.ok()?].tasks.as_deref()
    }
}

/// One level.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ExactLevel {
    /// The weighted share of those who are held at it; where there are groups, the level at the root.
    pub value: String,
    /// Prices of the capacities, row-major `classes × resources`, of one unit of the resource each.
    pub prices: Vec<String>,
    /// Prices of the limits, one for each of [`Instance::limit_rows`](crate::Instance::limit_rows).
    pub limit_prices: Vec<String>,
    /// Prices of one task of users who do different work on different classes and have a number of tasks: `(user, price)`, rising;
    /// nobody else's has one.
    pub task_prices: Vec<(u32, String)>,
}

/// What one user has; a fraction that is long and follows from others is left out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ExactUser {
    /// Its dominant share.
    pub dominant_share: Option<Box<str>>,
    /// Its tasks.
    pub tasks: Option<Box<str>>,
}

/// Tasks of a kind on a class.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExactPart {
    /// The kind, by its position among those of all users; the user where nobody has kinds.
    pub kind: u32,
    /// The class.
    pub class: u32,
    /// The tasks. Left out where they are long and all tasks of the user.
    pub tasks: Option<Box<str>>,
}
