//! Who is next: how much a tenant has, by the scheduler's rule.

use super::Measure;
use super::filling::Filling;
use crate::tolerance::ENOUGH;

impl Filling<'_> {
    /// The limit of a tenant, or else of the nearest above it that has one; or all there is.
    fn most(&self, t: usize, at: usize) -> f64 {
        let above = std::iter::successors(Some(t), |t| self.shared.tenants[*t].parent);
        let mut limits = above.filter_map(|t| self.shared.tenants[t].limit[at]);
        limits.next().unwrap_or(self.shared.room[at]).min(self.shared.room[at])
    }

    /// Of each resource all that a tenant may borrow of: what that above all it belongs to has, or what is given at the top.
    fn lent_to(&self, t: usize) -> &[f64] {
        let tenants = &self.shared.tenants;
        let top = std::iter::successors(Some(t), |t| tenants[*t].parent).last().unwrap_or(t);
        match &tenants[top].pool {
            pool if top != t && !pool.is_empty() => pool,
            _ => &self.given,
        }
    }

    /// What a tenant uses, in parts of what there is.
    pub(super) fn parts(&self, t: usize) -> Vec<f64> {
        let parts = self.used[t].iter().zip(&self.shared.room);
        parts.map(|(used, all)| if *all > 0.0 { used / all } else { 0.0 }).collect()
    }

    /// How much a tenant has, by the scheduler's rule; and first, whether it comes after all those of whom that is not so.
    pub(super) fn measure(&self, t: usize) -> (bool, f64) {
        let (tenant, used) = (&self.shared.tenants[t], &self.used[t]);
        let only = self.shared.compared_by(t);
        let counts = |at: usize| only.is_none_or(|only| at % self.shared.resources == only);
        let over = |of: &[f64]| {
            let part = |(used, of): (&f64, &f64)| match (*used, *of) {
                (0.0, _) => 0.0,
                (_, 0.0) => f64::INFINITY,
                (used, of) => used / of,
            };
            let counted = used.iter().zip(of).enumerate().filter(|(at, _)| counts(*at));
            counted.map(|(_, both)| part(both)).fold(0.0, f64::max)
        };
        let measure = match self.shared.measure {
            Measure::OverGiven | Measure::OverGivenElseAll | Measure::OverGivenElseMost => {
                let else_most = self.shared.measure == Measure::OverGivenElseMost;
                let of = |at: usize| match tenant.given[at] {
                    given if given > 0.0 => given,
                    _ if else_most => self.most(t, at),
                    _ => self.shared.room[at],
                };
                let has_any = (0..used.len()).any(|at| tenant.given[at] > 0.0);
                let weight = if has_any { 1.0 } else { tenant.weight };
                let all: Vec<f64> = (0..used.len()).map(of).collect();
                let is_last = !has_any && self.shared.measure == Measure::OverGiven;
                return (is_last, over(&all) / weight);
            }
            Measure::OverFair => over(&self.fair[t]),
            Measure::Billed => self.billed[t] / tenant.weight,
            Measure::Dominant | Measure::Scaled => {
                let part = |of: &[f64]| {
                    let parts = used.iter().zip(of).enumerate();
                    let parts = parts.filter(|(at, (_, of))| counts(*at) && **of > 0.0);
                    parts.map(|(_, (used, of))| used / of).reduce(f64::max)
                };
                if let Some(part) = part(&tenant.given).filter(|part| *part < 1.0 - ENOUGH) {
                    return (false, part);
                }
                return match &self.scaled {
                    Some(scaled) => (true, scaled.share(t)),
                    None => (true, part(&self.shared.room).unwrap_or(0.0) / tenant.weight),
                };
            }
            Measure::Borrowed => {
                let lent = self.lent_to(t);
                let parts = (0..self.shared.resources).filter(|r| lent[*r] > 0.0);
                parts.map(|r| self.borrowed[t][r] / lent[r]).fold(0.0, f64::max) / tenant.weight
            }
        };
        (false, measure)
    }
}
