//! Exhibits of the multi-resource fairness paper: Bonald, Roberts, "Multi-resource fairness: Objectives, algorithms and
//! performance".

use crate::solved::solved;
use fairplan::instances::{
    Allocation, Certificate, Decimal, Instance, InstanceBuilder, LimitedBy, NewUser, Objective, ServerClass,
    Violation,
};
use fairplan::report::reproduction::{Exhibit, Passage, Reproduced};
use fairplan::{Control, Error};
use fairplan_verify::{SolutionClaim, Tasks, verify_solution};

/// How close a computed optimum comes to an exact published number.
const PRECISION: f64 = 1e-9;

/// How close shares come to exact published numbers where the objective is flat: its value to the precision, the shares to
/// the root of it.
const FLAT: f64 = 2e-5;

/// What of the first resource transaction 1 claims to need, one half of it being true, and the shares that the two
/// transactions then get.
const CLAIMS: [(Fraction, [Fraction; 2]); 3] =
    [((1, 2), [(2, 3), (2, 3)]), ((2, 3), [(3, 4), (1, 2)]), ((1, 1), [(1, 2), (1, 2)])];

/// A published number, over a published number.
type Fraction = (u32, u32);

fn number((over, under): Fraction) -> f64 {
    f64::from(over) / f64::from(under)
}

/// Sec. 2.3: with proportional fairness, claiming more than is needed pays up to a point.
pub(crate) fn section_2_3(control: &Control<'_>) -> Result<Vec<Reproduced>, Error> {
    const EXHIBIT: Exhibit = Exhibit { id: "mrf-2.3", source: "Multi-resource fairness paper, Sec. 2.3" };
    let passages = [
        "The PF allocation is then … (2/3,2/3)",
        "If transaction 1 claims 2/3 of resource 1 instead of 1/2 … we find φ=(3/4,1/2)",
        "if transaction 1 claims a1=(1,1) … the PF allocation would be φ=(1/2,1/2)",
    ];
    let passages = passages.map(|quotation| EXHIBIT.says(quotation));
    two_transactions(&passages, Objective::ProportionalFairness, control, FLAT)
}

/// Sec. 2.4: bottleneck max fairness coincides with proportional fairness for two transactions and two resources; for
/// three resources there is a continuum, of which ours is the first end.
pub(crate) fn section_2_4(control: &Control<'_>) -> Result<Vec<Reproduced>, Error> {
    const EXHIBIT: Exhibit = Exhibit { id: "mrf-2.4", source: "Multi-resource fairness paper, Sec. 2.4" };
    let same =
        [(); CLAIMS.len()].map(|()| EXHIBIT.says("It can be shown that BMF coincides with PF for n=2 …"));
    let mut numbers = two_transactions(&same, Objective::BottleneckMaxFairness, control, PRECISION)?;
    let three = EXHIBIT.says("consider a 3 resource system with 3 transactions having requirement vectors (1, 1, 1), (1, 1/2, 3/4) and (1/2, 1, 3/4)");
    let continuum =
        EXHIBIT.says("there can be a continuum of allocations realizing the BMF sharing objective");
    // All demands in quarters of a resource.
    let instance = one_server(4, &[[4, 4, 4], [4, 2, 3], [2, 4, 3]])?;
    let solved = solved(&instance, Objective::BottleneckMaxFairness, control)?;
    for user in instance.users() {
        let quantity = format!("{} of three resources", user.id());
        let tasks = solved.solution.allocation.tasks(user.index());
        numbers.push(three.number(quantity, number((2, 5)), tasks, PRECISION));
    }
    for x in [0.0, 0.25, 0.5, 0.75, 1.0] {
        let second = 0.4 + 2.0 * x / 45.0;
        let quantity = format!("what the allocation with x = {x} of the continuum misses of the definition");
        numbers.push(continuum.number(
            quantity,
            0.0,
            missed(&instance, [0.4 - x / 15.0, second, second]),
            PRECISION,
        ));
    }
    Ok(numbers)
}

/// Two transactions with requirements (c, 1) and (1, 1/2), for each claim c.
fn two_transactions(
    passages: &[Passage; CLAIMS.len()],
    objective: Objective,
    control: &Control<'_>,
    tolerance: f64,
) -> Result<Vec<Reproduced>, Error> {
    let mut numbers = Vec::new();
    for ((claim @ (over, under), shares), passage) in CLAIMS.into_iter().zip(passages) {
        // All demands in parts of a resource, two for each part of the claim.
        let whole = 2 * under;
        let instance = one_server(whole, &[[2 * over, whole], [whole, under]])?;
        let solved = solved(&instance, objective, control)?;
        for (user, share) in instance.users().zip(shares) {
            let quantity =
                format!("{} when transaction 1 claims {:.4} of resource 1", user.id(), number(claim));
            let tasks = solved.solution.allocation.tasks(user.index());
            numbers.push(passage.number(quantity, number(share), tasks, tolerance));
        }
    }
    Ok(numbers)
}

/// One server with `capacity` of every resource, and transactions with these requirements.
fn one_server<const M: usize>(capacity: u32, requirements: &[[u32; M]]) -> Result<Instance, Violation> {
    let resources = (1..=M).map(|r| format!("resource {r}")).collect();
    let mut builder = InstanceBuilder::new("MRF paper, Sec. 2", resources)?;
    builder.class(ServerClass::new("server", 1, vec![capacity.into(); M]))?;
    for (i, requirement) in requirements.iter().enumerate() {
        let demand: Vec<Decimal> = requirement.iter().map(|part| (*part).into()).collect();
        builder.user(NewUser::new(&format!("transaction {}", i + 1), &demand))?;
    }
    builder.build()
}

/// How far an allocation of tasks is from the definition of bottleneck max fairness.
fn missed<const N: usize>(instance: &Instance, tasks: [f64; N]) -> f64 {
    let allocation = Allocation::pooled(tasks.to_vec());
    let claim = SolutionClaim {
        objective: Objective::BottleneckMaxFairness,
        tasks: Tasks::Allocation(&allocation),
        certificate: &Certificate::Bottlenecks,
        limited_by: &[LimitedBy::Capacity; N],
        exact: None,
        printed: None,
        guaranteed: Vec::new(),
    };
    let proof = verify_solution(instance, &claim);
    let bottlenecks = proof.verdicts.iter().find(|verdict| verdict.property == "bottlenecks");
    bottlenecks.map_or(f64::INFINITY, |verdict| verdict.residual)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_worked_values_come_out() {
        let control = Control::none();
        for (numbers, count) in [(section_2_3(&control).unwrap(), 6), (section_2_4(&control).unwrap(), 14)] {
            let different: Vec<_> = numbers.iter().filter(|number| !number.agrees).collect();
            assert!(different.is_empty() && numbers.len() == count, "{different:?}");
        }
    }
}
