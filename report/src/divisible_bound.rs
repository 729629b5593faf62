//! The bound of divisible tasks beside those of whole ones, with what proves it.

use crate::foreign::{Foreign, in_order, list};
use crate::solution::ClassPrice;
use fairplan_instances::{
    CountedGuarantees, Headline, Instance, Objective, ResourceMap, ServerClass, Solution,
    guaranteed_whole_shares, least_share_of_limits,
};
use fairplan_verify::{DivisibleClaim, proved_divisible, verify_divisible};
use std::borrow::Cow;

/// What divisible tasks reach at most, beside what whole ones do.
#[derive(Clone, Debug, PartialEq)]
pub struct DivisibleBound {
    /// The bound.
    pub bound: f64,
    /// The prices that prove it, row-major `classes × resources`; `None` where tasks that run out do.
    pub prices: Option<Vec<f64>>,
    /// Those of limits and reserves beside them, one for each of [`Instance::limit_rows`]; empty where none is counted.
    pub limit_prices: Vec<f64>,
    /// Which guarantees are counted; `None` where nobody has any, and for sums, which count none.
    pub counted_guarantees: Option<CountedGuarantees>,
    /// The whole tasks that are counted of each user, where what groups are guaranteed beyond their members is among them; else empty.
    pub whole_guarantees: Vec<u64>,
}

impl DivisibleBound {
    /// The bound of a proved solution, of an instance whose guarantees are those that are counted, in whole tasks
    /// ([`Instance::with_whole_guarantees`]). Prices of a level that not everybody reaches prove nothing of all users. Where tasks that run out prove less than
    /// the solution says, as of limited tasks that do different work on different classes, that is the bound.
    pub fn new(
        instance: &Instance,
        solution: &Solution,
        counted_guarantees: Option<CountedGuarantees>,
    ) -> Self {
        let prices = solution.certificate.prices().first().map(|prices| prices.to_vec());
        let limit_prices = solution.certificate.first_limit_prices().to_vec();
        let bound = Headline::new(instance, solution).bound;
        let whole_guarantees = Vec::new();
        let priced = Self { bound, prices, limit_prices, counted_guarantees, whole_guarantees };
        let by_tasks = Self { prices: None, limit_prices: Vec::new(), ..priced.clone() };
        let both = [priced, by_tasks.clone()];
        let holds = |one: &&Self| verify_divisible(instance, one.claim(solution.objective)).holds;
        if let Some(one) = both.iter().find(holds) {
            return one.clone();
        }
        let proved = |one: Self| {
            Some(Self { bound: proved_divisible(instance, one.claim(solution.objective))?, ..one })
        };
        let all = both.into_iter().filter_map(proved);
        all.min_by(|one, other| one.bound.total_cmp(&other.bound)).unwrap_or(by_tasks)
    }

    /// The same for an instance whose limits, which were left out, let users have only so many tasks.
    pub fn within_limits(self, instance: &Instance, objective: Objective) -> Self {
        let counted = self.is_above_guarantees().then(|| guaranteed_whole_shares(&self.counted(instance)));
        let floors = counted.unwrap_or_default();
        match least_share_of_limits(instance, objective, &floors).filter(|most| *most < self.bound) {
            Some(bound) => Self { bound, prices: None, limit_prices: Vec::new(), ..self },
            None => self,
        }
    }

    /// Whether any guarantees are counted.
    pub fn is_above_guarantees(&self) -> bool {
        self.counted_guarantees.is_some_and(|counted| counted != CountedGuarantees::None)
    }

    /// The instance that bounds are of: without guarantees where none is counted, and with the whole tasks of members where those of groups
    /// are.
    pub fn counted<'a>(&self, instance: &'a Instance) -> Cow<'a, Instance> {
        let with_those_of_groups = || instance.with_whole_guarantees(&self.whole_guarantees).ok();
        let of_groups = (!self.whole_guarantees.is_empty()).then(with_those_of_groups).flatten();
        of_groups.map_or_else(|| CountedGuarantees::instance(self.counted_guarantees, instance), Cow::Owned)
    }

    /// The prices class by class.
    pub(crate) fn stated(&self, instance: &Instance) -> Option<Vec<ClassPrice>> {
        let rows = self.prices.as_ref()?.chunks(instance.resources().len());
        let price = |(class, row): (&ServerClass, &[f64])| ClassPrice {
            class: class.id.as_str().into(),
            price: ResourceMap::new(instance, row.iter().copied()),
        };
        Some(instance.classes().iter().zip(rows).map(price).collect())
    }

    /// What a document states of it, matched with its instance.
    pub(crate) fn read(
        bound: f64,
        (stated, limit_prices): (Option<&Vec<ClassPrice>>, &[f64]),
        counted_guarantees: Option<CountedGuarantees>,
        instance: &Instance,
    ) -> Result<Self, Foreign> {
        let prices = stated.map(|rows| {
            let ids = instance.classes().iter().map(|class| class.id.as_str());
            list("divisible_prices", rows.iter().map(|row| &*row.class), ids)?;
            let mut prices = Vec::new();
            for (l, row) in rows.iter().enumerate() {
                prices.extend(in_order(&row.price, instance, || format!("divisible_prices[{l}].price"))?);
            }
            Ok(prices)
        });
        let limit_prices = limit_prices.to_vec();
        Ok(Self {
            bound,
            prices: prices.transpose()?,
            limit_prices,
            counted_guarantees,
            whole_guarantees: Vec::new(),
        })
    }

    /// The claim, for [`fairplan_verify::verify_divisible`].
    pub fn claim(&self, objective: Objective) -> DivisibleClaim<'_> {
        let (prices, limit_prices) = (self.prices.as_deref(), self.limit_prices.as_slice());
        let above_guarantees = self.is_above_guarantees();
        DivisibleClaim { objective, bound: self.bound, prices, limit_prices, above_guarantees }
    }
}
