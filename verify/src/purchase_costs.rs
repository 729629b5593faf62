//! What purchases are said to cost: sums, break-evens, and which way to have servers is cheapest, worked out anew from prices and counts.

use crate::Verdict;
use crate::tolerance::STATED;
use crate::verdict::Worst;

/// Servers of a type that are bought, at prices of a period.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BoughtClaim {
    /// Where they stand, for who reads the verdict.
    pub place: String,
    /// How many.
    pub count: u64,
    /// The price of one.
    pub price: f64,
    /// What all cost.
    pub cost: f64,
    /// The same reserved: price, periods of a commitment, cost, what is saved and the break-even.
    pub reserved: Option<(f64, u64, f64, f64, f64)>,
}

/// A purchase: its cost, that with all reserved that can be, and its servers.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PurchaseClaim {
    /// Where it stands.
    pub place: String,
    /// What it costs.
    pub cost: f64,
    /// What it costs reserved, where that is stated.
    pub reserved_cost: Option<f64>,
    /// Its servers.
    pub servers: Vec<BoughtClaim>,
}

/// Proves that all is as much as its parts (`costs`), and what commitments save and from when on (`commitments`).
pub(crate) fn verify_purchases<'p>(purchases: impl Iterator<Item = &'p PurchaseClaim>) -> Vec<Verdict> {
    let (mut costs, mut commitments) = properties();
    for PurchaseClaim { place, cost, reserved_cost, servers } in purchases {
        let (mut all, mut all_reserved) = (0.0, 0.0);
        for bought in servers {
            let count = bought.count as f64;
            costs.compare(bought.cost, count * bought.price, || format!("{}.cost", bought.place));
            all += count * bought.price;
            let Some((price, periods, cost, saved, break_even)) = bought.reserved else {
                all_reserved += count * bought.price;
                continue;
            };
            let at = |field: &str| format!("{}.reserved.{field}", bought.place);
            check_commitment(&mut commitments, &at, [price, bought.price, break_even], periods);
            costs.compare(cost, count * price, || at("cost"));
            // A difference is known as well as what it is one of.
            let saves = count * bought.price - count * price;
            commitments.see((saved - saves).abs() / (count * bought.price).max(f64::MIN_POSITIVE), || {
                format!("{}: {saved} is stated, {saves} is computed", at("saved"))
            });
            all_reserved += count * price;
        }
        costs.compare(*cost, all, || format!("{place}.cost"));
        if let Some(reserved) = reserved_cost {
            costs.compare(*reserved, all_reserved, || format!("{place}.reserved_cost"));
        }
        if reserved_cost.is_none() && servers.iter().any(|bought| bought.reserved.is_some()) {
            costs.fail(|| format!("{place}.reserved_cost: is missing"));
        }
    }
    vec![costs.verdict(), commitments.verdict()]
}

/// Servers of a type that are needed to the end of a series.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NeededClaim {
    /// Where they stand.
    pub place: String,
    /// How many.
    pub count: u64,
    /// The price of one on demand, a period.
    pub price: f64,
    /// For how many periods they are needed.
    pub needed: f64,
    /// What all cost on demand.
    pub on_demand: f64,
    /// Reserved: price, periods of a commitment, break-even, cost, how many commitments are cheapest, and what that costs.
    pub reserved: Option<(f64, u64, f64, f64, u64, f64)>,
}

/// Servers from a quantum on.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StageClaim {
    /// Where it stands.
    pub place: String,
    /// The position of its quantum among those that are stated; `None` where none are.
    pub quantum: Option<usize>,
    /// What it costs a period, and with all before it.
    pub cost: f64,
    /// The same with all before it.
    pub total: f64,
    /// Its servers.
    pub servers: Vec<NeededClaim>,
}

/// What purchases cost over time; each triple is on demand, reserved throughout, and the cheapest way.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CostsOverTimeClaim {
    /// The stages.
    pub stages: Vec<StageClaim>,
    /// Periods of a quantum.
    pub length: f64,
    /// Every quantum from the first stage on, or none.
    pub quanta: Vec<[f64; 3]>,
    /// What is owed at the end.
    pub after: [f64; 3],
    /// All of it.
    pub total: [f64; 3],
}

const WAYS: [&str; 3] = ["on_demand", "reserved", "cheapest"];

/// Proves that all is as much as its parts, quantum by quantum and in all (`costs`), and that each batch of servers is had in the
/// cheapest way there is (`commitments`).
pub fn verify_costs_over_time(claim: &CostsOverTimeClaim) -> Vec<Verdict> {
    let (mut costs, mut commitments) = properties();
    let (mut before, mut total, mut after) = (0.0, [0.0; 3], [0.0; 3]);
    let mut quanta = vec![[0.0; 3]; claim.quanta.len()];
    for stage in &claim.stages {
        let mut all = 0.0;
        for batch in &stage.servers {
            all += batch.count as f64 * batch.price;
            if let Some(quantum) = stage.quantum {
                let needed = (claim.quanta.len() - quantum) as f64 * claim.length;
                commitments.compare(batch.needed, needed, || format!("{}.needed", batch.place));
            }
            let covered = check_batch(batch, &mut costs, &mut commitments);
            for (way, covered) in covered.iter().enumerate() {
                let count = batch.count as f64;
                let reserved = batch.reserved.map_or(0.0, |(price, ..)| price);
                let paid = |from: f64, to: f64| {
                    let within = (covered.min(to) - from).max(0.0);
                    count * (within * reserved + (to - from - within) * batch.price)
                };
                let owed = count * reserved * (covered - batch.needed).max(0.0);
                total[way] += paid(0.0, batch.needed) + owed;
                after[way] += owed;
                for (k, quantum) in quanta.iter_mut().skip(stage.quantum.unwrap_or(usize::MAX)).enumerate() {
                    quantum[way] += paid(k as f64 * claim.length, (k + 1) as f64 * claim.length);
                }
            }
        }
        before += all;
        costs.compare(stage.cost, all, || format!("{}.cost", stage.place));
        costs.compare(stage.total, before, || format!("{}.total", stage.place));
    }
    for (way, name) in WAYS.iter().enumerate() {
        // What is left of commitments at the end is known as well as all that is paid.
        let owed = (claim.after[way] - after[way]).abs() / total[way].max(f64::MIN_POSITIVE);
        costs.see(owed, || {
            format!("costs.after.{name}: {} is stated, {} is computed", claim.after[way], after[way])
        });
        costs.compare(claim.total[way], total[way], || format!("costs.total.{name}"));
        for (k, (stated, computed)) in claim.quanta.iter().zip(&quanta).enumerate() {
            costs.compare(stated[way], computed[way], || format!("costs.quanta[{k}].{name}"));
        }
    }
    vec![costs.verdict(), commitments.verdict()]
}

fn properties() -> (Worst, Worst) {
    (Worst::of("costs", STATED), Worst::of("commitments", STATED))
}

/// Prices reserved and on demand, and the break-even, of a commitment.
fn check_commitment(
    commitments: &mut Worst,
    at: &dyn Fn(&str) -> String,
    [reserved, on_demand, break_even]: [f64; 3],
    periods: u64,
) {
    if !(reserved > 0.0 && reserved <= on_demand && periods > 0) {
        commitments.fail(|| {
            format!("{}: a commitment is to some periods, at most at the price on demand", at("price"))
        });
    }
    commitments.compare(break_even, reserved * periods as f64 / on_demand, || at("break_even"));
}

/// Checks a batch alone; the periods that commitments cover in each way.
fn check_batch(batch: &NeededClaim, costs: &mut Worst, commitments: &mut Worst) -> [f64; 3] {
    let (count, needed) = (batch.count as f64, batch.needed);
    costs.compare(batch.on_demand, count * batch.price * needed, || format!("{}.on_demand", batch.place));
    let Some((price, periods, break_even, cost, number, cheapest)) = batch.reserved else { return [0.0; 3] };
    let at = |field: &str| format!("{}.reserved.{field}", batch.place);
    check_commitment(commitments, &at, [price, batch.price, break_even], periods);
    let length = periods as f64;
    let with = |commitments: f64| {
        count * (commitments * length * price + (needed - commitments * length).max(0.0) * batch.price)
    };
    // As many whole commitments as there is time for, and one more where something is left.
    let whole = (needed / length * (1.0 + STATED)).floor();
    let all = if needed > whole * length * (1.0 + STATED) { whole + 1.0 } else { whole };
    costs.compare(cost, with(all), || at("cost"));
    costs.compare(cheapest, with(number as f64), || at("cheapest"));
    let least = [0.0, whole, all].map(with).into_iter().fold(f64::INFINITY, f64::min);
    commitments.see((cheapest - least) / least.max(f64::MIN_POSITIVE), || {
        format!("{}: {cheapest} is stated, {least} is enough", at("cheapest"))
    });
    [0.0, all * length, number as f64 * length]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// States other numbers of the first servers reserved.
    fn reserved(claim: &mut CostsOverTimeClaim, stated: (f64, u64, f64, f64, u64, f64)) {
        claim.stages[0].servers[0].reserved = Some(stated);
    }

    fn holds(verdicts: &[Verdict]) -> bool {
        verdicts.iter().all(|verdict| verdict.holds)
    }

    #[test]
    fn a_purchase_of_which_any_number_is_changed_fails() {
        let servers = vec![
            BoughtClaim {
                place: "servers[0]".into(),
                count: 3,
                price: 80.0,
                cost: 240.0,
                reserved: Some((55.0, 12, 165.0, 75.0, 8.25)),
            },
            BoughtClaim { place: "servers[1]".into(), count: 1, price: 10.0, cost: 10.0, reserved: None },
        ];
        let claim =
            PurchaseClaim { place: "purchase".into(), cost: 250.0, reserved_cost: Some(175.0), servers };
        assert!(holds(&verify_purchases([&claim].into_iter())));
        let wrong: [fn(&mut PurchaseClaim); 9] = [
            |claim| claim.cost = 251.0,
            |claim| claim.reserved_cost = Some(250.0),
            |claim| claim.reserved_cost = None,
            |claim| claim.servers[1].cost = 11.0,
            |claim| claim.servers[0].count = 2,
            |claim| claim.servers[0].reserved = Some((55.0, 12, 166.0, 75.0, 8.25)),
            |claim| claim.servers[0].reserved = Some((55.0, 12, 165.0, 76.0, 8.25)),
            |claim| claim.servers[0].reserved = Some((55.0, 12, 165.0, 75.0, 8.0)),
            |claim| claim.servers[0].reserved = Some((88.0, 12, 264.0, -24.0, 13.2)),
        ];
        for (k, wrong) in wrong.iter().enumerate() {
            let mut claim = claim.clone();
            wrong(&mut claim);
            assert!(!holds(&verify_purchases([&claim].into_iter())), "{k}");
        }
    }

    #[test]
    fn costs_over_time_of_which_any_number_is_changed_fail() {
        // Two servers for 14 of 15 periods: a commitment of 12 and two periods on demand.
        let batch = NeededClaim {
            place: "purchases[0].servers[0]".into(),
            count: 2,
            price: 80.0,
            needed: 14.0,
            on_demand: 2240.0,
            reserved: Some((55.0, 12, 8.25, 2640.0, 1, 1640.0)),
        };
        let stage = StageClaim {
            place: "purchases[0]".into(),
            quantum: Some(0),
            cost: 160.0,
            total: 160.0,
            servers: vec![batch],
        };
        let mut quanta = vec![[320.0, 220.0, 220.0]; 6];
        quanta.push([320.0, 220.0, 320.0]);
        let claim = CostsOverTimeClaim {
            stages: vec![stage],
            length: 2.0,
            quanta,
            after: [0.0, 1100.0, 0.0],
            total: [2240.0, 2640.0, 1640.0],
        };
        let verdicts = verify_costs_over_time(&claim);
        assert!(holds(&verdicts), "{verdicts:?}");
        let wrong: [fn(&mut CostsOverTimeClaim); 13] = [
            |claim| claim.length = 1.0,
            |claim| claim.quanta[6][2] = 220.0,
            |claim| claim.after[1] = 0.0,
            |claim| claim.total[0] = 2241.0,
            |claim| claim.stages[0].cost = 80.0,
            |claim| claim.stages[0].total = 80.0,
            |claim| claim.stages[0].quantum = Some(1),
            |claim| claim.stages[0].servers[0].needed = 13.0,
            |claim| claim.stages[0].servers[0].on_demand = 1.0,
            |claim| reserved(claim, (55.0, 12, 8.5, 2640.0, 1, 1640.0)),
            |claim| reserved(claim, (55.0, 12, 8.25, 2641.0, 1, 1640.0)),
            |claim| reserved(claim, (55.0, 12, 8.25, 2640.0, 1, 1641.0)),
            // All on demand, and told as it is: dearer than it need be.
            |claim| {
                reserved(claim, (55.0, 12, 8.25, 2640.0, 0, 2240.0));
                claim.quanta.iter_mut().for_each(|quantum| quantum[2] = 320.0);
                claim.total[2] = 2240.0;
            },
        ];
        for (k, wrong) in wrong.iter().enumerate() {
            let mut claim = claim.clone();
            wrong(&mut claim);
            assert!(!holds(&verify_costs_over_time(&claim)), "{k}");
        }
    }
}
