//! Each kind of tasks as a user of its own: where so many tasks are asked for, so many pieces of each kind are, wherever the others run.

use crate::wording::counted;
use crate::{Draft, DraftUser, Instance, KindId, User, Violation};
use std::collections::HashSet;

/// The instance in which each kind is a user `USER/KIND` whose tasks are the pieces of that kind: its users stand where the kinds of
/// `instance` do, so that a [`UserId`](crate::UserId) of it is a [`KindId`](crate::KindId) of that. `None` where no user has kinds.
///
/// # Errors
/// More pieces than can be counted.
pub fn kinds_apart(instance: &Instance) -> Result<Option<Instance>, Violation> {
    if !instance.has_kinds() {
        return Ok(None);
    }
    let mut draft = Draft::from(instance);
    let users = std::mem::take(&mut draft.users);
    let plain = users.iter().filter(|user| user.kinds.is_empty());
    let mut taken: HashSet<String> = plain.map(|user| user.id.clone()).collect();
    for (i, user) in users.into_iter().enumerate() {
        if user.kinds.is_empty() {
            draft.users.push(user);
            continue;
        }
        for (k, kind) in user.kinds.iter().enumerate() {
            let mut id = format!("{}/{}", user.id, kind.id);
            while !taken.insert(id.clone()) {
                id.push('\'');
            }
            let pieces = |tasks: u64| {
                tasks.checked_mul(kind.each).ok_or_else(|| {
                    let all = format!("{} of {}", counted(tasks, "task", "tasks"), kind.each);
                    Violation::new(
                        format!("users[{i}].kinds[{k}].each"),
                        all,
                        "are more pieces than can be counted",
                    )
                })
            };
            draft.users.push(DraftUser {
                id,
                demand: kind.demand.clone(),
                profile: kind.profile.clone(),
                tasks: user.tasks.map(pieces).transpose()?,
                eligible: kind.eligible.clone(),
                kinds: Vec::new(),
                ..user.clone()
            });
        }
    }
    draft.build().map(Some)
}

/// What is asked for of each kind, where so many tasks are of each user.
pub fn pieces_of(instance: &Instance, tasks: &[f64]) -> Vec<f64> {
    let kinds = (0..instance.kind_count()).map(|k| instance.kind(KindId(k)));
    kinds.map(|kind| kind.each() as f64 * tasks[kind.user().index().0]).collect()
}

/// The whole tasks that so many pieces of each kind make.
pub fn tasks_of(instance: &Instance, pieces: &[u64]) -> Vec<u64> {
    let whole = |user: User<'_>| user.kinds().map(|kind| pieces[kind.index().0] / kind.each()).min();
    instance.users().map(|user| whole(user).unwrap_or(0)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generate::drfh_fig1;
    use crate::{DraftKind, UserId};

    #[test]
    fn each_kind_is_a_user_whose_tasks_are_its_pieces() {
        let mut draft = Draft::from(&drfh_fig1().unwrap());
        let kind = |id: &str, each, demand: &[&str], eligible| DraftKind {
            id: id.into(),
            each,
            demand: demand.iter().map(|number| number.parse().unwrap()).collect(),
            profile: None,
            eligible,
        };
        draft.users[0].kinds =
            vec![kind("worker", 4, &["1", "0"], Some(vec![1])), kind("driver", 1, &["0", "2"], None)];
        draft.users[0].tasks = Some(3);
        draft.users[1].id = "user-1/driver".into();
        let instance = draft.build().unwrap();
        let apart = kinds_apart(&instance).unwrap().unwrap();
        let ids: Vec<&str> = apart.users().map(|user| user.id()).collect();
        assert_eq!(ids, ["user-1/worker", "user-1/driver'", "user-1/driver"]);
        for k in 0..3 {
            assert_eq!(apart.user(UserId(k)).demand(), instance.kind(KindId(k)).piece());
        }
        let tasks: Vec<Option<u64>> = apart.users().map(|user| user.tasks()).collect();
        assert_eq!(tasks, [Some(12), Some(3), None]);
        assert!(!apart.user(UserId(0)).rule().allows(crate::ClassId(0)));
        assert_eq!(pieces_of(&instance, &[2.0, 5.0]), [8.0, 2.0, 5.0]);
        assert_eq!(tasks_of(&instance, &[11, 3, 5]), [2, 5]);
        assert!(kinds_apart(&drfh_fig1().unwrap()).unwrap().is_none());
        draft.users[0].tasks = Some(1_000_000_000_000_000);
        draft.users[0].kinds[0].each = 1_000_000_000;
        let refused = kinds_apart(&draft.build().unwrap()).err().unwrap().to_string();
        assert!(refused.starts_with("users[0].kinds[0].each = "), "{refused}");
    }
}
