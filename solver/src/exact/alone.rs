//! What a user could do alone on the whole cluster, as a fraction.

use super::levels::raise;
use super::number::Rational;
use super::program::{Program, task_share};
use super::vertex::Stuck;
use fairplan_instances::{
    ClassId, Decimal, Instance, InstanceBuilder, Kind, NewKind, NewUser, Objective, PlacementRule,
    ResourceId, ServerClass, User, UserId, Violation,
};
use num_bigint::BigInt;

/// The work of each line of a program that is worth a weighted share of one: under task share fairness `w_i` times what the user could do
/// alone if it were eligible everywhere.
pub(super) fn works_per_level(
    program: &Program<'_>,
    is_over: &dyn Fn() -> bool,
) -> Result<Vec<Rational>, Stuck> {
    if program.objective != Objective::TaskShareFairness {
        return Ok(program.works_per_level());
    }
    let mut works = Vec::<Rational>::with_capacity(program.lines.len());
    // The kinds of a user stand side by side.
    for of_user in program.lines.chunk_by(|a, b| a.user == b.user) {
        let user = program.user(works.len());
        let work = &Rational::decimal(user.weight()) * &work_alone(user, is_over)?;
        works.extend(std::iter::repeat_n(work, of_user.len()));
    }
    Ok(works)
}

/// The most work that the user could do alone if it were eligible everywhere; 1 where that is none, since its share is 0 in any
/// unit.
fn work_alone(user: User<'_>, is_over: &dyn Fn() -> bool) -> Result<Rational, Stuck> {
    let work = if user.has_kinds() { tasks_alone(user, is_over)? } else { work_of_one_kind(user) };
    Ok(if work.is_zero() { Rational::one() } else { work })
}

fn work_of_one_kind(user: User<'_>) -> Rational {
    let instance = user.instance();
    let mut sum = Rational::zero();
    for (l, class) in instance.measuring_classes().iter().enumerate() {
        let fits = |r: ResourceId| {
            let units = class.capacity[r.0].scaled(instance.unit_exponent(r)).unwrap_or(0);
            Rational::new(BigInt::from(units) * class.count, user.demand_units(r).into())
        };
        let needed = (0..instance.resources().len()).map(ResourceId).filter(|r| user.demand_units(*r) > 0);
        if let Some(most) = needed.map(fits).min() {
            sum = &sum + &(&most * &Rational::decimal(user.rule().rate(ClassId(l))));
        }
    }
    sum
}

/// With several kinds: what the user has where nobody else is.
fn tasks_alone(user: User<'_>, is_over: &dyn Fn() -> bool) -> Result<Rational, Stuck> {
    // Where nobody has anything of what a task needs, there is no such instance.
    let Ok(alone) = instance_of(user) else { return Ok(Rational::zero()) };
    let program = Program::new(&alone, Objective::Drfh);
    let raised = raise(&program, program.works_per_level(), None, is_over)?;
    let task = task_share(alone.user(UserId(0)));
    Ok(raised.vertex.levels.first().map_or_else(Rational::zero, |level| level / &task))
}

/// The servers by which shares are measured and nobody but this user, eligible everywhere and as divisible as everything is.
fn instance_of(user: User<'_>) -> Result<Instance, Violation> {
    let instance = user.instance();
    let mut builder = InstanceBuilder::new("", instance.resources().to_vec())?;
    for class in instance.measuring_classes() {
        builder.class(ServerClass::new(class.id.clone(), class.count, class.capacity.clone()))?;
    }
    let everywhere = builder.rule(PlacementRule::default());
    let kind = |kind: Kind<'_>| NewKind {
        id: kind.id().unwrap_or_default().to_owned(),
        each: kind.each(),
        demand: kind.piece().to_vec(),
        rule: everywhere,
    };
    let only = NewUser {
        id: user.id(),
        demand: &[],
        weight: Decimal::ONE,
        tasks: None,
        rule: everywhere,
        group: None,
    };
    builder.user_with_kinds(only, &user.kinds().map(kind).collect::<Vec<_>>())?;
    builder.build()
}
