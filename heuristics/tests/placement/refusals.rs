//! Instances that cannot be placed are refused with the value and what to do.

use fairplan_heuristics::{POLICIES, Turn, policy};
use fairplan_instances::{ClassId, Instance, InstanceBuilder, NewUser, PlacementRule, ServerClass};

fn instance(count: u64, rates: &[&str]) -> Instance {
    let mut builder = InstanceBuilder::new("", vec!["cpu".into()]).unwrap();
    for id in ["a", "b"] {
        let capacity = vec!["1".parse().unwrap()];
        builder.class(ServerClass::new(id, count, capacity)).unwrap();
    }
    let rates = rates.iter().enumerate().map(|(l, rate)| (ClassId(l), rate.parse().unwrap()));
    let rule = builder.rule(PlacementRule::new(None, rates.collect()));
    builder.user(NewUser { rule, ..NewUser::new("u", &["1".parse().unwrap()]) }).unwrap();
    builder.build().unwrap()
}

#[test]
fn every_policy_refuses_what_it_cannot_list_or_count() {
    for name in POLICIES.names() {
        let policy = policy(&name.replace('N', "2"), 0).unwrap();
        let message = |instance| policy.place(&instance).unwrap_err().to_string();
        assert_eq!(
            message(instance(1_000_000_000_000_000, &[])),
            "server_classes = 2000000000000000: whole tasks are placed on at most 50000000 servers; place them \
             on a sample"
        );
        // Whoever counts tasks does not ask what they are worth.
        if policy.turn() == Turn::FewestTasks {
            continue;
        }
        assert_eq!(
            message(instance(1, &["1e-20", "1e10"])),
            "users[0].rates: span more than 24 decimal digits; round them"
        );
        assert!(policy.place(&instance(1, &["1e-10", "1e10"])).is_ok());
    }
}
