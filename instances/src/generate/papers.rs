//! The small clusters that the DRFH paper is explained with (Wang, Li, Liang, "Dominant Resource Fairness in
//! Cloud Computing Systems with Heterogeneous Servers").

use super::drawn::decimals;
use crate::google2011::{add_classes, cpu_memory_builder};
use crate::{Instance, NewUser, ServerClass, Violation};

/// Two servers and two users, each of whom needs what one of the servers has plenty of (DRFH Fig. 1).
pub fn drfh_fig1() -> Result<Instance, Violation> {
    let mut builder = cpu_memory_builder("DRFH paper, Fig. 1")?;
    for (id, capacity) in [("high-memory", ["2", "12"]), ("high-cpu", ["12", "2"])] {
        builder.class(ServerClass::new(id, 1, decimals(capacity)?.into()))?;
    }
    builder.user(NewUser::new("user-1", &decimals(["0.2", "1"])?))?;
    builder.user(NewUser::new("user-2", &decimals(["1", "0.2"])?))?;
    builder.build()
}

/// The hundred servers of DRFH Fig. 4, which the paper drew from its Table I and does not print: these have its totals, 52.75 CPU
/// and 51.32 memory (51.3194), and hold as many tasks of user 1 alone as it says.
pub(super) const FIG_4_SERVERS: [(u64, [&str; 2]); 6] = [
    (66, ["0.5", "0.4995"]),
    (15, ["0.5", "0.2493"]),
    (11, ["0.5", "0.749"]),
    (6, ["1", "1"]),
    (1, ["0.25", "0.2498"]),
    (1, ["0.5", "0.1241"]),
];

/// What a task of each user of DRFH Fig. 4 needs, of CPU and memory.
pub(super) const FIG_4_TASKS: [[&str; 2]; 3] = [["0.2", "0.3"], ["0.5", "0.1"], ["0.1", "0.3"]];

/// The hundred servers of DRFH Fig. 4 and some of its three users: `users` names them by number, 1 to 3, each at most once. The
/// servers are those of [`drfh_fig4_trace`](super::drfh_fig4_trace).
///
/// # Errors
/// No user, a number that is not 1, 2 or 3, or one that is there twice.
pub fn drfh_fig4(users: &[usize]) -> Result<Instance, Violation> {
    let mut builder = cpu_memory_builder("DRFH paper, Fig. 4, on 100 servers of Google shapes")?;
    for (count, capacity) in FIG_4_SERVERS {
        add_classes(&mut builder, [(count, decimals(capacity)?)])?;
    }
    for (position, number) in users.iter().enumerate() {
        let Some(task) = number.checked_sub(1).and_then(|user| FIG_4_TASKS.get(user)) else {
            return Err(Violation::new(format!("users[{position}]"), number, "must be 1, 2 or 3"));
        };
        builder.user(NewUser::new(&format!("user-{number}"), &decimals(*task)?))?;
    }
    builder.build()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ClassId, ResourceId, UserId};

    #[test]
    fn fig_1_is_the_instance_that_the_documentation_prints() {
        let instance = drfh_fig1().unwrap();
        assert_eq!(instance.name(), "DRFH paper, Fig. 1");
        assert_eq!(instance.resources(), ["cpu", "memory"]);
        assert_eq!(instance.class_named("high-memory"), Some(ClassId(0)));
        assert_eq!((instance.total(ResourceId(0)), instance.total(ResourceId(1))), (14.0, 14.0));
        assert_eq!(instance.user(UserId(0)).demand_doubles(), [0.2, 1.0]);
        assert_eq!(instance.user(UserId(1)).demand_doubles(), [1.0, 0.2]);
        assert!(instance.users().all(|user| user.tasks().is_none()));
    }

    #[test]
    fn fig_4_has_a_hundred_servers_with_the_papers_totals() {
        let instance = drfh_fig4(&[3, 1]).unwrap();
        assert_eq!(instance.server_count(), 100);
        assert_eq!((instance.total(ResourceId(0)), instance.total(ResourceId(1))), (52.75, 51.3194));
        let ids: Vec<_> = instance.users().map(|user| user.id()).collect();
        assert_eq!(ids, ["user-3", "user-1"]);
    }

    #[test]
    fn fig_4_refuses_users_that_are_not_in_it() {
        let refused = |users: &[usize]| drfh_fig4(users).unwrap_err().to_string();
        assert_eq!(refused(&[1, 4]), "users[1] = 4: must be 1, 2 or 3");
        assert_eq!(refused(&[0]), "users[0] = 0: must be 1, 2 or 3");
        assert_eq!(refused(&[2, 2]), "users[1].id = user-2: duplicate id");
        assert_eq!(refused(&[]), "users: there are no users");
    }
}
