//! The random policy is uniform over the servers with room.

use fairplan_heuristics::policy;
use fairplan_instances::{InstanceBuilder, NewUser, ServerClass};

/// How often each server gets the only task, over 900 seeds.
fn hits(classes: &[(u64, &str)]) -> Vec<u64> {
    let mut builder = InstanceBuilder::new("", vec!["cpu".into()]).unwrap();
    for (l, (count, capacity)) in classes.iter().enumerate() {
        let capacity = vec![capacity.parse().unwrap()];
        builder.class(ServerClass::new(l.to_string(), *count, capacity)).unwrap();
    }
    builder.user(NewUser { tasks: Some(1), ..NewUser::new("u", &["1".parse().unwrap()]) }).unwrap();
    let instance = builder.build().unwrap();
    let mut hits = vec![0; instance.server_count() as usize];
    for seed in 0..900 {
        let placement = policy("random", seed).unwrap().place(&instance).unwrap();
        let server = placement.servers.iter().position(|tasks| !tasks.is_empty()).unwrap();
        hits[server] += 1;
    }
    hits
}

#[test]
fn each_server_with_room_is_as_likely_as_any_other() {
    // 300 expected each, with a standard deviation of 14.
    let near = |n: u64| (230..370).contains(&n);
    let few = hits(&[(1, "1"), (1, "0.5"), (2, "7")]);
    assert!(near(few[0]) && few[1] == 0 && near(few[2]) && near(few[3]), "{few:?}");
    // So many without room that the draws are used up and the list of those with room decides.
    let rare = hits(&[(1, "1"), (500, "0.5"), (2, "7")]);
    assert!(near(rare[0]) && near(rare[501]) && near(rare[502]), "{rare:?}");
}
