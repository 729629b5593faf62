//! What a `fairplan.plan.v1` and a `fairplan.growth.v1` say of costs, for who checks it.

use super::plan::PlanBody;
use crate::foreign::{Foreign, check_stamp};
use fairplan_analysis::{BoughtBy, BoughtServers, Growth};
use fairplan_instances::{Instance, ServersBought};
use fairplan_verify::{
    BoughtClaim, CostsOverTimeClaim, FrontierClaim, NeededClaim, PlanClaim, PurchaseBounds, PurchaseClaim,
    StageClaim, Verdict, verify_costs_over_time, verify_plan,
};

/// The costs that a document states.
pub enum StatedCosts {
    /// Of a plan.
    Plan(PlanClaim),
    /// Of purchases over time.
    OverTime(CostsOverTimeClaim),
}

impl StatedCosts {
    /// Those of a plan.
    ///
    /// # Errors
    /// A plan of another instance, or of other users.
    pub fn of_plan(plan: &PlanBody, instance: &Instance, sha256: &str) -> Result<Self, Foreign> {
        check_stamp(&plan.instance, instance, sha256)?;
        // Those that come follow.
        for (i, user) in instance.users().enumerate() {
            let stated = plan.users.get(i).map_or("", |planned| planned.id.as_str());
            if stated != user.id() {
                let problem = format!("user {} of the instance stands here", user.id());
                return Err(Foreign::new(format!("users[{i}].id"), stated, problem));
            }
        }
        let claim = |place: String, cost, reserved_cost, servers: &[ServersBought]| {
            let servers = servers.iter().enumerate();
            let servers =
                servers.map(|(t, bought)| bought_claim(format!("{place}.servers[{t}]"), bought)).collect();
            PurchaseClaim { place, cost, reserved_cost, servers }
        };
        // What is stated of the whole purchase alone follows from its servers elsewhere.
        let follows = |servers: &[ServersBought]| {
            let cost = |bought: &ServersBought| {
                bought.reserved.as_ref().map_or(bought.price, |reserved| reserved.price) * bought.count as f64
            };
            servers.iter().any(|bought| bought.reserved.is_some()).then(|| servers.iter().map(cost).sum())
        };
        let purchase = plan.purchase.as_ref().map(|purchase| {
            let is_optimal = ["optimal", "feasible"].iter().position(|status| *status == purchase.status);
            let (bound, proved, gap) = (purchase.bound, purchase.proved_bound, purchase.gap);
            let bounds =
                PurchaseBounds { bound, proved, gap, is_optimal: is_optimal.map(|status| status == 0) };
            (claim("purchase".into(), purchase.cost, purchase.reserved_cost, &purchase.servers), bounds)
        });
        let obstacle = plan.obstacle.as_ref().map(|obstacle| {
            claim("obstacle".into(), obstacle.cost, follows(&obstacle.servers), &obstacle.servers)
        });
        let frontier = plan.frontier.iter().enumerate().map(|(k, point)| {
            let claim = claim(format!("frontier[{k}]"), point.cost, follows(&point.servers), &point.servers);
            (claim, FrontierClaim { part: point.part, share: point.share, bound: point.bound })
        });
        let frontier = frontier.collect();
        let (reachable, budget, share) = (plan.reachable, plan.budget, plan.target.share);
        Ok(Self::Plan(PlanClaim { reachable, purchase, obstacle, frontier, budget, share }))
    }

    /// Those of growth.
    ///
    /// # Errors
    /// Growth of another instance, or without costs; a stage in a quantum that is not among those that are stated.
    pub fn of_growth(growth: &Growth, instance: &Instance, sha256: &str) -> Result<Self, Foreign> {
        check_stamp(&growth.instance, instance, sha256)?;
        let costs = growth.costs.as_ref().ok_or_else(|| {
            Foreign::without("costs", "plan growth --catalog writes them where the catalog has commitments")
        })?;
        let stage = |(s, stage): (usize, &BoughtBy)| {
            let place = format!("purchases[{s}]");
            let quantum = costs.quanta.iter().position(|quantum| quantum.quantum == stage.by);
            if quantum.is_none() && !costs.quanta.is_empty() {
                let problem = "is not among the quanta of `costs`";
                return Err(Foreign::new(format!("{place}.by"), &stage.by.to_string(), problem));
            }
            let servers = stage.servers.iter().enumerate();
            let servers = servers.map(|(t, bought)| needed_claim(format!("{place}.servers[{t}]"), bought));
            let servers = servers.collect::<Result<_, _>>()?;
            Ok(StageClaim { place, quantum, cost: stage.cost, total: stage.total, servers })
        };
        let three = |costs: &fairplan_analysis::Costs| [costs.on_demand, costs.reserved, costs.cheapest];
        Ok(Self::OverTime(CostsOverTimeClaim {
            stages: growth.purchases.iter().enumerate().map(stage).collect::<Result<_, _>>()?,
            length: costs.periods_per_quantum,
            quanta: costs.quanta.iter().map(|row| [row.on_demand, row.reserved, row.cheapest]).collect(),
            after: three(&costs.after),
            total: three(&costs.total),
        }))
    }

    /// What the checker says.
    pub fn verdicts(&self) -> Vec<Verdict> {
        match self {
            Self::Plan(plan) => verify_plan(plan),
            Self::OverTime(costs) => verify_costs_over_time(costs),
        }
    }
}

fn bought_claim(place: String, bought: &ServersBought) -> BoughtClaim {
    let reserved = bought.reserved.as_ref();
    let reserved = reserved.map(|all| (all.price, all.periods, all.cost, all.saved, all.break_even));
    BoughtClaim { place, count: bought.count, price: bought.price, cost: bought.cost, reserved }
}

fn needed_claim(place: String, bought: &BoughtServers) -> Result<NeededClaim, Foreign> {
    let Some(costs) = &bought.costs else {
        return Err(Foreign::new(
            format!("{place}.costs"),
            "",
            "is missing, and nothing can be checked without it",
        ));
    };
    let reserved = costs.reserved.as_ref();
    let reserved =
        reserved.map(|all| (all.price, all.periods, all.break_even, all.cost, all.commitments, all.cheapest));
    let (price, needed, on_demand) = (costs.price, costs.needed, costs.on_demand);
    Ok(NeededClaim { place, count: bought.count, price, needed, on_demand, reserved })
}
