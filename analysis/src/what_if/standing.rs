//! What users have, and what groups have together, told in shares of one cluster.

use super::work::works;
use crate::tolerance::LEFT_OVER;
use fairplan_instances::{Instance, LimitedBy, Part, Solution, UserId, guaranteed_shares, stated_level};

/// What users and groups have, and what that comes to among the children of the root: users without a group, and groups
/// without a parent.
pub(super) struct Standing {
    /// Work of each user, in tasks of rate 1.
    pub works: Vec<f64>,
    /// What the members of each group have together, in dominant shares.
    pub groups: Vec<f64>,
    /// The smallest weighted share among the children of the root, a group's as far as its members divide it by their weights.
    pub value: f64,
    /// The same of those that still want more: that capacity holds, or a member of which it holds. `None` if none does.
    pub level: Option<f64>,
    /// The weighted shares of the children of the root.
    children: Vec<Part>,
    /// The dominant shares that users are sure of, whatever the weights in their groups.
    floors: Vec<f64>,
}

/// Whether a user wants more than it has.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Wants {
    /// It has all its tasks, or can have none.
    Nothing,
    /// It does, and a limit holds it.
    MoreThanItMay,
    /// It does, and capacity holds it.
    More,
}

impl Wants {
    /// Of what holds a user.
    pub fn of(reason: LimitedBy) -> Self {
        match reason {
            LimitedBy::Capacity => Self::More,
            _ if reason.is_by_prices() => Self::MoreThanItMay,
            _ => Self::Nothing,
        }
    }
}

impl Standing {
    /// Of a solution of the instance.
    pub fn of(instance: &Instance, solution: &Solution) -> Self {
        Self::with_works(instance, solution, works(instance, solution))
    }

    /// The same where guarantees were rounded down: who has no more than what that leaves over has nothing.
    pub fn of_rounded(instance: &Instance, solution: &Solution) -> Self {
        Self::with_works(instance, solution, without_leftovers(instance, works(instance, solution)))
    }

    fn with_works(instance: &Instance, solution: &Solution, works: Vec<f64>) -> Self {
        let wants_more = solution.limited_by.iter().map(|reason| Wants::of(*reason)).collect();
        let floors = match instance.has_guarantees() {
            true => guaranteed_shares(instance, solution.objective, &solution.guaranteed),
            false => vec![0.0; instance.user_count()],
        };
        Self::new(instance, works, wants_more, floors)
    }

    /// Of other work of each user, wherever it is done, in shares of the instance, with the same guarantees.
    pub fn after(&self, instance: &Instance, works: Vec<f64>, wants_more: Vec<Wants>) -> Self {
        Self::new(instance, works, wants_more, self.floors.clone())
    }

    /// Of whole tasks that are placed: the work of each user, with the smallest weighted share and the level as placements tell them.
    /// Nobody's guarantees are told, and none of the children of the root.
    pub fn placed(instance: &Instance, works: Vec<f64>, value: f64, level: Option<f64>) -> Self {
        let share = |i: usize| works[i] * instance.user(UserId(i)).task_share();
        let groups = instance.of_groups(0.0, share, |a, b| a + b);
        Self { works, groups, value, level, children: Vec::new(), floors: Vec::new() }
    }

    fn new(instance: &Instance, works: Vec<f64>, wants_more: Vec<Wants>, floors: Vec<f64>) -> Self {
        let share = |i: usize| works[i] * instance.user(UserId(i)).task_share();
        let parts = |wants: fn(Wants) -> bool| {
            let part = |i: usize| Part { floor: floors[i], ..Part::new(share(i), wants(wants_more[i])) };
            instance.parts_at_the_root(part)
        };
        let children = parts(|wants| wants == Wants::More);
        let [_, level] = Part::smallest(&children);
        // As in a solution, whoever a limit holds wants more as to the value, not as to the level.
        let [value, _] = match instance.limit_rows().is_empty() {
            true => Part::smallest(&children),
            false => Part::smallest(&parts(|wants| wants != Wants::Nothing)),
        };
        Self {
            groups: instance.of_groups(0.0, share, |a, b| a + b),
            level: (level < f64::INFINITY).then_some(level),
            value,
            children,
            floors,
            works,
        }
    }

    /// The dominant shares that users are sure of, whatever the weights in their groups.
    pub fn floors(&self) -> &[f64] {
        &self.floors
    }

    /// The level, where it says more than the value.
    pub fn stated_level(&self) -> Option<f64> {
        stated_level(self.value, self.level)
    }

    /// What more capacity raises: the level; the value if nobody wants more.
    pub fn raised(&self) -> f64 {
        self.level.unwrap_or(self.value)
    }

    /// What the level `before` has become: the smallest weighted share of those that wanted more, whoever of them has all its tasks now; what more
    /// capacity raises now where nobody did.
    pub fn raised_from(&self, before: &Self) -> f64 {
        let wanted = self.children.iter().zip(&before.children).filter(|(_, before)| before.wants_more);
        let least = wanted.map(|(now, _)| now.share).fold(f64::INFINITY, f64::min);
        if least < f64::INFINITY { least } else { self.raised() }
    }
}

/// The same work, but none where it is no more than what rounding leaves over.
fn without_leftovers(instance: &Instance, mut works: Vec<f64>) -> Vec<f64> {
    for (i, work) in works.iter_mut().enumerate() {
        if *work * instance.user(UserId(i)).task_share() <= LEFT_OVER {
            *work = 0.0;
        }
    }
    works
}

#[cfg(test)]
mod tests {
    use super::*;
    use fairplan_instances::{Decimal, Draft, NewGroup};

    /// A group of weight 2 with both users of the example, of which one has all its tasks; and a copy of the first on its own.
    fn instance() -> Instance {
        let mut draft = Draft::from(&fairplan_instances::generate::drfh_fig1().unwrap());
        draft.groups = vec![NewGroup { id: "g".into(), weight: Decimal::from(2), parent: None }];
        let mut alone = draft.users[0].clone();
        alone.id = "alone".into();
        draft.users.iter_mut().for_each(|user| user.group = Some(0));
        draft.users.push(alone);
        draft.build().unwrap()
    }

    #[test]
    fn a_share_that_rounding_leaves_over_is_nothing_and_one_just_above_is_kept() {
        let instance = instance();
        let work = |share: f64| share / instance.user(UserId(0)).task_share();
        let works = vec![work(0.9 * LEFT_OVER), 3.0, 1.0];
        assert_eq!(without_leftovers(&instance, works), [0.0, 3.0, 1.0]);
        let works = vec![work(1.1 * LEFT_OVER), 3.0, 1.0];
        assert_eq!(without_leftovers(&instance, works.clone()), works);
    }

    #[test]
    fn a_group_wants_more_if_a_member_does_and_stands_by_what_its_members_divide() {
        let instance = instance();
        let share = |i: usize| instance.user(UserId(i)).task_share();
        let works = vec![2.0, 3.0, 1.0];
        let together = 2.0 * share(0) + 3.0 * share(1);
        let standing = Standing::new(
            &instance,
            works.clone(),
            vec![Wants::Nothing, Wants::More, Wants::Nothing],
            vec![0.0; 3],
        );
        assert_eq!(standing.groups, [together]);
        assert_eq!((standing.value, standing.level), (share(2), Some(together / 2.0)));
        assert_eq!(standing.stated_level(), Some(together / 2.0));
        let nobody = standing.after(&instance, works.clone(), vec![Wants::Nothing; 3]);
        assert_eq!((nobody.level, nobody.raised()), (None, share(2)));
        assert_eq!(nobody.raised_from(&standing), together / 2.0, "of those that wanted more before");
        let other = standing.after(&instance, works, vec![Wants::Nothing, Wants::Nothing, Wants::More]);
        assert_eq!(other.raised_from(&standing), together / 2.0, "whoever wants more now");
        // Who is guaranteed what it has does not count by what the other has.
        let few = vec![2.0, 1.0, 1.0];
        let together = 2.0 * share(0) + share(1);
        let sure = Standing::new(
            &instance,
            few,
            vec![Wants::More, Wants::More, Wants::Nothing],
            vec![2.0 * share(0), 0.0, 0.0],
        );
        assert_eq!(sure.level, Some(together / 2.0));
    }
}
