//! Bounds of whole tasks under rules between servers (gangs, gangs within a domain, spread), held against all placements of small clusters:
//! none is above, whole gangs are counted, and a forged proof is believed only where what it says is so. Rules inside servers are there too.

use crate::ruled_quotas::all_placements;
use crate::rules_of_whole_tasks::drawn;
use fairplan::{BoundOptions, Control, bound, bound_allocated, bound_proportional};
use fairplan_instances::{
    AllocatedBracket, Breakpoint, Deadline, Gang, Instance, InstanceBuilder, NewUser, Placement,
    PlacementFigures, ProportionalBracket, Random, ResourceId, ServerClass, ServerTasks, User, UserId,
    WholeTaskBracket, WholeTaskProof, breakpoint_value, stated_bounds,
};
use fairplan_report::allocated_bound::allocated_claim;
use fairplan_tests::Draft;
use fairplan_verify::{
    AllocatedClaim, ProportionalClaim, WholeTaskClaim, verify_allocated, verify_proportional,
    verify_whole_tasks,
};

const CPU: ResourceId = ResourceId(0);

fn bracket(instance: &Instance) -> WholeTaskBracket {
    bound(instance, &BoundOptions::default(), &Control::none()).unwrap().bracket
}

fn allocated(instance: &Instance) -> AllocatedBracket {
    bound_allocated(instance, "cpu", &Control::none()).unwrap().bracket
}

/// The same without rules between servers.
fn freed(instance: &Instance) -> Instance {
    let mut draft = Draft::from(instance);
    draft.users.iter_mut().for_each(|user| (user.gang, user.spread) = (None, None));
    draft.build().unwrap()
}

fn believes(instance: &Instance, bracket: &WholeTaskBracket) -> bool {
    let claim = WholeTaskClaim { bracket, stated: Some(stated_bounds(instance, bracket, None)) };
    verify_whole_tasks(instance, &claim, &Deadline::never()).iter().all(|verdict| verdict.holds)
}

/// Another proof of another bound, of whatever kind.
fn forged(instance: &Instance, honest: &WholeTaskBracket, random: &mut Random) -> WholeTaskBracket {
    let mut forged = honest.clone();
    let user = UserId(random.below(instance.user_count() as u64) as usize);
    let upper = honest.upper.unwrap();
    forged.upper = Some(match random.below(2) {
        0 => Breakpoint { tasks: upper.tasks.saturating_sub(random.between(1, 2)), ..upper },
        _ => Breakpoint { user, tasks: random.below(6).min(instance.user(user).tasks().unwrap_or(6)) },
    });
    match (&mut forged.proof, random.below(3)) {
        (proof, 0) => *proof = Some(WholeTaskProof::Alone(user)),
        (Some(WholeTaskProof::Values { task_values, server_values, .. }), _) => {
            let values = if random.below(2) == 0 { task_values } else { server_values };
            let at = random.below(values.len() as u64) as usize;
            values[at] = values[at] / 8 * random.below(16);
        }
        _ => {}
    }
    forged.is_closed = random.below(2) == 0;
    forged
}

#[test]
fn no_placement_under_rules_between_servers_is_above_its_bound_and_no_forged_bound_below_one_is_believed() {
    let mut random = Random::new(24, 9);
    let (mut tried, mut met, mut lower, mut met_cpu, mut lower_cpu) = (0, 0, 0, 0, 0);
    let (mut refused, mut believed) = (0, 0);
    for case in 0..80 {
        let instance = drawn(&mut random, case % 4 == 0);
        if !instance.has_rules_between_servers() {
            continue;
        }
        let Some(ways) = all_placements(&instance) else { continue };
        tried += 1;
        let placement = |servers: &Vec<ServerTasks>| {
            let mut tasks = vec![0; instance.user_count()];
            servers.iter().flatten().for_each(|(user, count)| tasks[*user as usize] += count);
            Placement { tasks, servers: servers.clone() }
        };
        let level = |servers: &Vec<ServerTasks>| {
            PlacementFigures::new(&instance, &placement(servers)).level.unwrap_or(f64::INFINITY)
        };
        let best = ways.iter().map(level).fold(0.0, f64::max);
        let found = bracket(&instance);
        if found.upper.is_none() {
            continue;
        }
        let above = |bracket: &WholeTaskBracket| match bracket.proof {
            None | Some(WholeTaskProof::TaskLimit(_)) => f64::INFINITY,
            _ => breakpoint_value(&instance, bracket.upper),
        };
        assert!(best <= above(&found) * (1.0 + 1e-9), "case {case}: {best} above {found:?}");
        met += u32::from(above(&found) <= best * (1.0 + 1e-9));
        let free = freed(&instance);
        lower += u32::from(above(&found) < above(&bracket(&free)) * (1.0 - 1e-9));
        let taken = |servers: &Vec<ServerTasks>| placement(servers).units_of(&instance, CPU);
        let most = ways.iter().map(taken).max().unwrap();
        let cpu = allocated(&instance);
        assert!(most <= cpu.upper, "case {case}: {most} above {cpu:?}");
        met_cpu += u32::from(most == cpu.upper);
        lower_cpu += u32::from(cpu.upper < allocated(&free).upper);
        for _ in 0..32 {
            let forged = forged(&instance, &found, &mut random);
            if !believes(&instance, &forged) {
                refused += 1;
                continue;
            }
            believed += 1;
            assert!(best <= above(&forged) * (1.0 + 1e-9), "case {case}: {best}, and {forged:?} is believed");
        }
        let mut claim = allocated_claim(&instance, &cpu);
        let part = (cpu.upper.saturating_sub(1)) as f64 / instance.total_units(CPU) as f64;
        claim.upper = part * instance.total(CPU);
        let claim = AllocatedClaim { proved_optimal: most >= cpu.upper - 1, ..claim };
        let verdicts = verify_allocated(&instance, &claim, &Deadline::never());
        assert!(verdicts.iter().any(|verdict| !verdict.holds), "case {case}: {claim:?} is believed");
    }
    assert!(tried > 50 && 5 * met > 4 * tried && lower > 15, "{met} of {tried} are met, {lower} lower");
    assert!(5 * met_cpu > 4 * tried && lower_cpu > 8, "{met_cpu} of {tried} are met, {lower_cpu} lower");
    assert!(refused > 1_000 && believed > 5, "{refused} forged ones are refused, {believed} believed");
}

/// Another proof of another bound of a sum of logarithms.
fn forged_sum(honest: &ProportionalBracket, random: &mut Random) -> ProportionalBracket {
    let mut forged = honest.clone();
    let (upper, proof) = (forged.upper.as_mut().unwrap(), forged.proof.as_mut().unwrap());
    let values = match random.below(3) {
        0 => &mut proof.task_values,
        1 => &mut proof.server_values,
        _ => {
            *upper -= 0.01 * random.between(1, 100) as f64;
            return forged;
        }
    };
    let at = random.below(values.len() as u64) as usize;
    values[at] = values[at] / 8 * random.below(8);
    forged
}

#[test]
fn no_sum_of_logarithms_under_rules_is_above_its_bound_and_no_forged_bound_below_one_is_believed() {
    let mut random = Random::new(24, 10);
    let (mut tried, mut believed, mut refused) = (0, 0, 0);
    for case in 0..60 {
        let instance = drawn(&mut random, case % 2 == 0);
        let Some(ways) = all_placements(&instance) else { continue };
        let found =
            bound_proportional(&instance, &BoundOptions::default(), &Control::none()).unwrap().bracket;
        let Some(upper) = found.upper else { continue };
        tried += 1;
        let sum = |servers: &Vec<ServerTasks>| -> f64 {
            let tasks = |user: usize| -> u64 {
                let own = servers.iter().flatten().filter(|(other, _)| *other as usize == user);
                own.map(|(_, count)| count).sum()
            };
            let counted = instance.users().filter(|user| !found.without_tasks.contains(&user.index()));
            let of = |user: User<'_>| {
                user.weight().to_f64() * (tasks(user.index().0) as f64 * user.task_share()).ln()
            };
            counted.map(of).sum()
        };
        let best = ways.iter().map(sum).fold(f64::NEG_INFINITY, f64::max);
        assert!(best <= upper + 1e-9, "case {case}: {best} above {found:?}");
        for _ in 0..40 {
            let forged = forged_sum(&found, &mut random);
            let claim = ProportionalClaim { bracket: &forged, proved_optimal: None };
            let verdicts = verify_proportional(&instance, &claim, &Deadline::never());
            if verdicts.iter().all(|verdict| verdict.holds) {
                believed += 1;
                assert!(
                    best <= forged.upper.unwrap() + 1e-6,
                    "case {case}: {best}, and {forged:?} is believed"
                );
            } else {
                refused += 1;
            }
        }
    }
    assert!(tried > 25 && refused > 1_000, "{tried} tried, {refused} refused, {believed} believed");
}

/// So many racks with one server of three GPUs each.
fn racks(racks: usize, users: &[(&str, Gang)]) -> Instance {
    let mut builder = InstanceBuilder::new("", vec!["gpu".into()]).unwrap();
    for rack in 0..racks {
        let mut class = ServerClass::new(format!("c{rack}"), 1, vec![3u32.into()]);
        class.domain = Some(format!("rack-{rack}"));
        builder.class(class).unwrap();
    }
    for (id, gang) in users {
        let user = builder.user(NewUser::new(id, &[1u32.into()])).unwrap();
        builder.gang(user, *gang).unwrap();
    }
    builder.build().unwrap()
}

#[test]
fn a_gang_of_two_in_a_rack_of_three_gpus_leaves_one_of_them_and_the_bound_says_so() {
    let two = Gang { tasks: 2, in_one_domain: true };
    let instance = racks(2, &[("a", two)]);
    let found = bracket(&instance);
    assert_eq!(found.upper, Some(Breakpoint { user: UserId(0), tasks: 4 }));
    assert_eq!((found.proof.as_ref(), found.is_closed), (Some(&WholeTaskProof::Alone(UserId(0))), true));
    let gpus = bound_allocated(&instance, "gpu", &Control::none()).unwrap().bracket;
    assert_eq!((gpus.upper, gpus.lower(&instance)), (4, 4));
}

#[test]
fn racks_that_hold_one_gang_each_hold_no_more_of_two_users_together() {
    let two = Gang { tasks: 2, in_one_domain: true };
    let instance = racks(3, &[("a", two), ("b", two)]);
    let found = bracket(&instance);
    assert_eq!((found.upper.unwrap().tasks, found.is_closed), (2, true), "{found:?}");
    let gpus = bound_allocated(&instance, "gpu", &Control::none()).unwrap().bracket;
    assert_eq!((gpus.upper, gpus.lower(&instance)), (6, 6));
}
