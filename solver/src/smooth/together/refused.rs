//! Sums over bundles that have no optimum, or none that this proves: who has nothing beside guarantees, and who could have more than its part.

use super::children::Child;
use crate::question::Question;
use crate::tolerance::sum::USED_UP;
use crate::tree::{LeftNothing, left_nothing};
use fairplan_instances::{Allocation, ClassId, InstanceError, Kind, UserId, Violation, taken_of_limits};

/// So many users are named in a message.
const NAMED: usize = 3;

/// That guarantees leave something to everybody who has none: a sum of an `α` above zero has no prices, or no optimum at all, where they do not.
pub(super) fn nobody_is_left_nothing(question: &Question<'_>) -> Result<(), InstanceError> {
    let Some(LeftNothing { user, guaranteed }) = left_nothing(question)? else { return Ok(()) };
    let (instance, objective) = (question.instance, question.objective);
    let name = |user: &UserId| instance.user(*user).id();
    let some: Vec<&str> = guaranteed.iter().take(NAMED).map(name).collect();
    let more = match guaranteed.len().saturating_sub(NAMED) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let why = match question.alpha() {
        alpha if alpha < 1.0 => "has no prices that prove it",
        _ => "has no optimum",
    };
    let problem = format!(
        "has nothing where all guarantees are kept, so {objective} {why}: what it needs is guaranteed to {}{more}; lower one of these \
         guarantees, guarantee it something or take drfh, tsf or drf",
        some.join(", ")
    );
    Err(Violation::new("user", name(&user), problem).into())
}

/// The first member of a group that could have more than its part, since nothing that it needs is used up on some class.
pub(super) fn could_have_more(
    question: &Question<'_>,
    children: &[Child],
    allocation: &Allocation,
) -> Option<UserId> {
    let (instance, loads) = (question.instance, allocation.loads(question.instance));
    let m = instance.resources().len();
    let (rows, taken) = (instance.limit_rows(), taken_of_limits(instance, allocation));
    let is_used_up = |j: &usize| taken[*j] >= rows[*j].amount.to_f64() * (1.0 - USED_UP);
    let full_rows: Vec<Vec<usize>> = match rows.is_empty() {
        true => vec![Vec::new(); instance.user_count()],
        false => (instance.users())
            .map(|user| instance.limits_above(user).into_iter().filter(is_used_up).collect())
            .collect(),
    };
    let has_room = |kind: Kind<'_>, class: usize| {
        let is_held =
            |j: &usize| rows[*j].covers(ClassId(class)) && kind.demand_doubles()[rows[*j].resource.0] > 0.0;
        if full_rows[kind.user().index().0].iter().any(is_held) {
            return false;
        }
        let (server, loads) = (&instance.classes()[class], &loads[class * m..(class + 1) * m]);
        let needs = kind.demand_doubles().iter().zip(server.capacity.iter().zip(loads));
        kind.can_use(ClassId(class))
            && needs.filter(|(demand, _)| **demand > 0.0).all(|(_, (capacity, load))| {
                *load < capacity.to_f64() * server.count as f64 * (1.0 - USED_UP)
            })
    };
    let classes = 0..instance.classes().len();
    let is_free = |kind: Kind<'_>| classes.clone().any(|class| has_room(kind, class));
    let members = children.iter().filter(|child| child.users.len() > 1).flat_map(|child| &child.users);
    let users = members.map(|(i, _)| question.reduction().users.user_id(*i));
    users.into_iter().find(|user| instance.user(*user).kinds().all(is_free))
}
