//! What is left of a cluster is filled by the shares of the whole cluster: servers that nobody can use change nothing when they are lost.

use crate::agree_with_scan::instances;
use fairplan_heuristics::policy;
use fairplan_instances::generate::drfh_fig1;
use fairplan_instances::{Draft, Instance, ServerClass};
use proptest::prelude::*;

/// Whose choices depend on totals or on the largest server, and whose turns do.
const POLICIES: [&str; 6] =
    ["first-fit", "best-fit", "worst-fit", "dot-product", "slots=3", "hadoop-slots=3"];

/// The instance with servers that nobody may use, and what is left of that without them.
fn with_and_without(instance: &Instance, capacity: &[u32]) -> [Instance; 2] {
    let mut draft = Draft::from(instance);
    let usable: Vec<usize> = (0..draft.classes.len()).collect();
    for user in &mut draft.users {
        user.eligible.get_or_insert_with(|| usable.clone());
    }
    let capacity = draft.resources.iter().zip(capacity).map(|(_, amount)| (*amount).into());
    draft.classes.push(ServerClass::new("of nobody", 1, capacity.collect()));
    let whole = draft.build().unwrap();
    let mut left = Draft::from(&whole).measured_as(&whole);
    left.classes[usable.len()].set_count(0);
    [whole, left.build().unwrap()]
}

fn place_alike(instance: &Instance, capacity: &[u32]) {
    let [whole, left] = with_and_without(instance, capacity);
    for name in POLICIES {
        let place = |instance: &Instance| policy(name, 0).unwrap().place(instance).unwrap();
        let (before, after) = (place(&whole), place(&left));
        assert_eq!(before.tasks, after.tasks, "{name}");
        assert_eq!(before.servers[..after.servers.len()], after.servers[..], "{name}");
    }
}

proptest! {
    #[test]
    fn servers_that_nobody_can_use_are_no_loss(
        instance in instances(3, 20),
        capacity in proptest::collection::vec(0u32..200, 3),
    ) {
        place_alike(&instance, &capacity);
    }
}

#[test]
fn servers_that_nobody_can_use_are_no_loss_where_they_decide_what_is_dominant() {
    place_alike(&drfh_fig1().unwrap(), &[0, 1000]);
    place_alike(&drfh_fig1().unwrap(), &[1000, 0]);
}
