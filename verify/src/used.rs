//! How much is used, of each resource of each class, and of limits.

use crate::limit_rows::LimitUse;

pub(crate) struct Used<'a> {
    /// In whole smallest units, row-major `classes × resources`.
    pub loads: &'a [f64],
    pub limits: Option<&'a LimitUse>,
}

impl Used<'_> {
    /// What is taken of a limit, in whole smallest units.
    pub fn of_limit(&self, j: usize) -> f64 {
        self.limits.map_or(0.0, |limits| limits.taken(j))
    }
}
