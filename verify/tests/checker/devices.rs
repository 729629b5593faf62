//! Rules inside servers: placements that keep them, and placements that break one each.

use crate::decimals;
use fairplan_instances::{Instance, InstanceBuilder, NewUser, ResourceId, ServerClass, ServerTasks};
use fairplan_verify::{PlacementClaim, verify_placement};

/// Two servers of four GPUs. `part` takes 0.6 of a GPU, `whole` two GPUs, `third` 0.3 of one and at most two tasks a server.
fn instance() -> Instance {
    let mut builder = InstanceBuilder::new("", vec!["cpu".into(), "gpu".into()]).unwrap();
    let mut class = ServerClass::new("a", 2, decimals(&["100", "4"]));
    class.devices = vec![(ResourceId(1), 4)];
    builder.class(class).unwrap();
    for (id, gpu) in [("part", "0.6"), ("whole", "2"), ("third", "0.3")] {
        builder.user(NewUser::new(id, &decimals(&["1", gpu]))).unwrap();
    }
    builder.per_server(fairplan_instances::UserId(2), 2).unwrap();
    builder.build().unwrap()
}

fn failures(servers: [ServerTasks; 2]) -> Vec<(&'static str, String)> {
    let mut tasks = vec![0u64; 3];
    servers.iter().flatten().for_each(|(user, count)| tasks[*user as usize] += count);
    let claim = PlacementClaim { tasks: &tasks, servers: &servers, printed: None };
    let verdicts = verify_placement(&instance(), &claim);
    assert!(verdicts.iter().any(|verdict| verdict.property == "devices"));
    let failed = verdicts.into_iter().filter(|verdict| !verdict.holds);
    failed.map(|verdict| (verdict.property, verdict.witness)).collect()
}

#[test]
fn whole_gpus_beside_parts_that_share_one_are_accepted() {
    let failed = failures([vec![(0, 2), (1, 1), (2, 2)], vec![(0, 4)]]);
    assert!(failed.is_empty(), "{failed:?}");
}

#[test]
fn a_placement_that_breaks_one_rule_inside_a_server_is_refused_by_its_name() {
    let devices =
        |server| format!("the tasks on server {server}, of class a, do not fit its 4 devices of gpu");
    // 3.8 GPUs in sum, but three tasks of 0.6 need three GPUs beside the two.
    assert_eq!(failures([vec![(0, 3), (1, 1)], vec![]]), [("devices", devices(0))]);
    // Five parts of 0.6 are 3 GPUs, and no two share one.
    assert_eq!(failures([vec![], vec![(0, 5)]]), [("devices", devices(1))]);
    let most = "user third has 3 tasks on server 1, and may have 2 on one server".to_owned();
    assert_eq!(failures([vec![], vec![(2, 3)]]), [("per-server", most)]);
    let both: Vec<&str> =
        failures([vec![(1, u64::MAX - 1)], vec![]]).into_iter().map(|(rule, _)| rule).collect();
    assert_eq!(both, ["capacity", "devices"]);
}
