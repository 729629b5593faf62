//! The same cluster with more users, each like one that is there.

use crate::{Draft, Instance, UserId, Violation};

/// So many users more, like one of the instance or like all of them in turn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MoreUsers {
    /// The user that they are like; `None`: the first, the second, and so on, and from the start again.
    pub like: Option<UserId>,
    /// How many.
    pub count: u64,
}

/// More new users than these would be a typing error.
const MOST: u64 = 10_000_000;

/// The instance with these users too, after its own, and which of its users each user is like (itself at first). A new
/// user is called after the one it is like, with `+1`, `+2`, and so on.
pub fn with_more_users(
    instance: &Instance,
    more: &[MoreUsers],
) -> Result<(Instance, Vec<UserId>), Violation> {
    let mut draft = Draft::from(instance);
    let known = draft.users.len();
    let mut models: Vec<UserId> = (0..known).map(UserId).collect();
    let mut copies = vec![0u64; known];
    for MoreUsers { like, count } in more {
        if *count > MOST {
            return Err(Violation::new("users", count, format!("at most {MOST} users are added")));
        }
        for k in 0..*count as usize {
            let model = like.map_or(k % known, |user| user.0);
            let mut user = draft.users[model].clone();
            loop {
                copies[model] += 1;
                user.id = format!("{}+{}", draft.users[model].id, copies[model]);
                if instance.user_named(&user.id).is_none() {
                    break;
                }
            }
            draft.users.push(user);
            models.push(UserId(model));
        }
    }
    Ok((draft.build()?, models))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generate::drfh_fig1;

    #[test]
    fn new_users_are_like_those_named_or_like_all_in_turn_and_have_names_of_their_own() {
        let mut draft = Draft::from(&drfh_fig1().unwrap());
        draft.users[1].id = "user-1+1".into();
        let instance = draft.build().unwrap();
        let more = [MoreUsers { like: Some(UserId(0)), count: 1 }, MoreUsers { like: None, count: 3 }];
        let (instance, models) = with_more_users(&instance, &more).unwrap();
        let ids: Vec<&str> = instance.users().map(|user| user.id()).collect();
        assert_eq!(ids, ["user-1", "user-1+1", "user-1+2", "user-1+3", "user-1+1+1", "user-1+4"]);
        assert_eq!(models, [0, 1, 0, 0, 1, 0].map(UserId));
        assert_eq!(instance.user(UserId(4)).demand(), instance.user(UserId(1)).demand());
    }
}
