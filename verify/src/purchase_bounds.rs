//! What a plan says beside the sums of its costs: that what any purchase costs at least is no more than its own does, what follows
//! from that, that the budget is kept, and that parts of the target rise.

use crate::Verdict;
use crate::purchase_costs::{PurchaseClaim, verify_purchases};
use crate::tolerance::STATED;
use crate::verdict::Worst;

/// A plan.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PlanClaim {
    /// Whether some purchase that is allowed does it.
    pub reachable: bool,
    /// What to buy.
    pub purchase: Option<(PurchaseClaim, PurchaseBounds)>,
    /// What is bought where nothing does it.
    pub obstacle: Option<PurchaseClaim>,
    /// What parts of the target cost.
    pub frontier: Vec<(PurchaseClaim, FrontierClaim)>,
    /// The most that may be spent.
    pub budget: Option<f64>,
    /// The share that is the target.
    pub share: Option<f64>,
}

/// What any purchase that is enough costs at least.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct PurchaseBounds {
    /// By a search.
    pub bound: f64,
    /// As prices prove.
    pub proved: f64,
    /// The part of its cost by which the purchase may be too dear.
    pub gap: f64,
    /// Whether it is called the cheapest; `None` where it is called something that there is not.
    pub is_optimal: Option<bool>,
}

/// A part of the target.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct FrontierClaim {
    /// The part.
    pub part: f64,
    /// That part of the share that is the target.
    pub share: Option<f64>,
    /// What any purchase that reaches it costs at least.
    pub bound: f64,
}

/// Proves what can be proved of a plan without its catalog: `costs` and `commitments` as of any purchases, and `cost-bounds`.
pub fn verify_plan(plan: &PlanClaim) -> Vec<Verdict> {
    let purchase = plan.purchase.as_ref().map(|(purchase, _)| purchase);
    let points = plan.frontier.iter().map(|(point, _)| point);
    let mut verdicts = verify_purchases(purchase.into_iter().chain(&plan.obstacle).chain(points));
    let mut worst = Worst::of("cost-bounds", STATED);
    match (plan.reachable, &plan.purchase, &plan.obstacle) {
        (true, Some(_), None) | (false, None, Some(_)) => {}
        (reachable, purchase, obstacle) => {
            let [bought, against] = [purchase.is_some(), obstacle.is_some()];
            worst
                .fail(|| format!("reachable is {reachable}, purchase stated: {bought}, obstacle: {against}"));
        }
    }
    let above = |stated: f64, most: f64| match stated.is_finite() && stated >= 0.0 {
        true => (stated - most).max(0.0) / most.max(f64::MIN_POSITIVE),
        false => f64::INFINITY,
    };
    if let Some((PurchaseClaim { place, cost, .. }, bounds)) = &plan.purchase {
        for (name, bound) in [("bound", bounds.bound), ("proved_bound", bounds.proved)] {
            worst
                .see(above(bound, *cost), || format!("{place}.{name}: {bound} is more than the cost {cost}"));
        }
        let gap = if *cost > bounds.bound * (1.0 + STATED) { 1.0 - bounds.bound / cost } else { 0.0 };
        worst.see((bounds.gap - gap).abs(), || {
            format!("{place}.gap: {} is stated, {gap} is computed", bounds.gap)
        });
        if bounds.is_optimal != Some(bounds.gap == 0.0) {
            worst.fail(|| format!("{place}.status: is not what follows from a gap of {}", bounds.gap));
        }
    }
    for PurchaseClaim { place, cost, .. } in purchase.into_iter().chain(&plan.obstacle) {
        let budget = plan.budget.unwrap_or(f64::INFINITY);
        worst.see(above(*cost, budget), || format!("{place}.cost: {cost} is more than the budget {budget}"));
    }
    let mut before = 0.0;
    for (PurchaseClaim { place, cost, .. }, FrontierClaim { part, share, bound }) in &plan.frontier {
        worst.see(above(*bound, *cost), || format!("{place}.bound: {bound} is more than the cost {cost}"));
        worst.see(above(before, *part), || format!("{place}.part: {part} comes after {before}"));
        before = *part;
        if let Some(stated) = share {
            worst.compare_if_any(
                Some(*stated),
                plan.share.map_or(f64::INFINITY, |share| share * part),
                || format!("{place}.share"),
            );
        }
    }
    verdicts.push(worst.verdict());
    verdicts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plan_whose_bounds_budget_or_frontier_do_not_agree_fails() {
        let purchase =
            |place: &str, cost: f64| PurchaseClaim { place: place.into(), cost, ..Default::default() };
        // Nothing is bought, so that costs of 0 add up.
        let point = |part: f64, share: f64| {
            (purchase("frontier[0]", 0.0), FrontierClaim { part, share: Some(share), bound: 0.0 })
        };
        let free = PurchaseBounds { bound: 0.0, proved: 0.0, gap: 0.0, is_optimal: Some(true) };
        let plan = PlanClaim {
            reachable: true,
            purchase: Some((purchase("purchase", 0.0), free)),
            obstacle: None,
            frontier: vec![point(0.5, 1.0), point(1.0, 2.0)],
            budget: Some(3.0),
            share: Some(2.0),
        };
        let holds = |plan: &PlanClaim| verify_plan(plan).iter().all(|verdict| verdict.holds);
        assert!(holds(&plan), "{:?}", verify_plan(&plan));
        let bounds = |bounds: PurchaseBounds| {
            let mut plan = plan.clone();
            plan.purchase = Some((purchase("purchase", 0.0), bounds));
            plan
        };
        let wrong = [
            PlanClaim { reachable: false, ..plan.clone() },
            PlanClaim { purchase: None, ..plan.clone() },
            PlanClaim { obstacle: Some(purchase("obstacle", 0.0)), ..plan.clone() },
            bounds(PurchaseBounds { bound: 1.0, ..free }),
            bounds(PurchaseBounds { bound: f64::NAN, ..free }),
            bounds(PurchaseBounds { proved: 1.0, ..free }),
            bounds(PurchaseBounds { gap: 0.5, ..free }),
            bounds(PurchaseBounds { is_optimal: Some(false), ..free }),
            bounds(PurchaseBounds { is_optimal: None, ..free }),
            PlanClaim { frontier: vec![point(1.0, 2.0), point(0.5, 1.0)], ..plan.clone() },
            PlanClaim { frontier: vec![point(0.5, 2.0)], ..plan.clone() },
            PlanClaim { share: None, ..plan.clone() },
        ];
        for (k, wrong) in wrong.iter().enumerate() {
            assert!(!holds(wrong), "{k}");
        }
        let mut dear = bounds(PurchaseBounds { bound: 4.0, proved: 4.0, ..free });
        let server = crate::BoughtClaim { count: 1, price: 4.0, cost: 4.0, ..Default::default() };
        dear.purchase = dear.purchase.map(|(claim, bounds)| {
            (PurchaseClaim { cost: 4.0, servers: vec![server.clone()], ..claim }, bounds)
        });
        assert!(!holds(&dear), "above the budget");
        dear.budget = Some(4.0);
        assert!(holds(&dear), "{:?}", verify_plan(&dear));
    }
}
