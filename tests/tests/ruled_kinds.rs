//! Rules that only whole tasks meet, of users whose tasks are bundles of kinds, tried exhaustively on small clusters: `per_server` and
//! `spread` are of the pieces of each kind, a gang is of whole tasks with all their pieces.

use crate::rules_of_whole_tasks::{policies, put, take};
use fairplan::{BoundOptions, Control, PlaceOptions, bound, place};
use fairplan_heuristics::{place_along, policy};
use fairplan_instances::{
    ClassId, Deadline, Decimal, DomainId, Gang, Instance, InstanceBuilder, KindId, NewKind, NewUser,
    Placement, PlacementFigures, PlacementRule, Random, ResourceId, ServerClass, ServerTasks, Violation,
    stated_bounds,
};
use fairplan_verify::{PlacementClaim, verify_placement};
use std::collections::BTreeSet;

/// Three or four servers of two or three classes in two domains; a user with two kinds and rules, and one without kinds, which has some too.
pub(crate) fn drawn(random: &mut Random) -> Instance {
    loop {
        if let Ok(instance) = attempt(random) {
            return instance;
        }
    }
}

fn attempt(random: &mut Random) -> Result<Instance, Violation> {
    let mut builder = InstanceBuilder::new("", vec!["cpu".into(), "memory".into()])?;
    for l in 0..random.between(2, 3) {
        let capacity = vec![Decimal::from(random.between(3, 6) as u32), (random.between(3, 8) as u32).into()];
        let mut class = ServerClass::new(format!("c{l}"), random.between(1, 2), capacity);
        class.domain = Some(format!("d{}", if l < 2 { l } else { random.below(2) }));
        builder.class(class)?;
    }
    let piece = |random: &mut Random| -> Vec<Decimal> {
        vec![(random.between(1, 2) as u32).into(), (random.below(3) as u32).into()]
    };
    let only = (random.below(4) == 0).then(|| vec![ClassId(random.below(2) as usize)]);
    let rules = [builder.rule(PlacementRule::default()), builder.rule(PlacementRule::new(only, Vec::new()))];
    let kinds = [("a", rules[0]), ("b", rules[1])].map(|(id, rule)| NewKind {
        id: id.into(),
        each: random.between(1, 2),
        demand: piece(random),
        rule,
    });
    let tasks = (random.below(2) > 0).then(|| random.between(2, 4));
    let bundle = builder.user_with_kinds(NewUser { tasks, ..NewUser::new("bundle", &[]) }, &kinds)?;
    let plain = builder.user(NewUser { tasks: Some(3), ..NewUser::new("plain", &piece(random)) })?;
    for user in [bundle, plain] {
        if random.below(2) == 0 {
            builder.per_server(user, random.between(1, 2))?;
        }
        if random.below(2) == 0 {
            builder.gang(user, Gang { tasks: 2, in_one_domain: random.below(2) == 0 })?;
        }
        if random.below(2) == 0 {
            builder.spread(user, random.between(1, 4))?;
        }
    }
    builder.build()
}

fn class_of(instance: &Instance) -> Vec<ClassId> {
    let of = |(l, class): (usize, &ServerClass)| vec![ClassId(l); class.count as usize];
    instance.classes().iter().enumerate().flat_map(of).collect()
}

/// How many pieces of a kind are on a server.
fn there(server: &ServerTasks, kind: usize) -> u64 {
    server.iter().find(|(other, _)| *other as usize == kind).map_or(0, |(_, count)| *count)
}

/// Whether pieces in domains are those of so many gangs, each within one domain, by taking away one after the other.
fn are_gangs(in_domains: &mut [Vec<u64>], gang: &[u64]) -> bool {
    if in_domains.iter().flatten().all(|count| *count == 0) {
        return true;
    }
    (0..in_domains.len()).any(|domain| {
        if in_domains[domain].iter().zip(gang).any(|(has, needed)| has < needed) {
            return false;
        }
        in_domains[domain].iter_mut().zip(gang).for_each(|(has, needed)| *has -= needed);
        let found = are_gangs(in_domains, gang);
        in_domains[domain].iter_mut().zip(gang).for_each(|(has, needed)| *has += needed);
        found
    })
}

/// The rules that a placement breaks, by the checker's names.
pub(crate) fn broken(instance: &Instance, servers: &[ServerTasks]) -> BTreeSet<&'static str> {
    let mut broken = BTreeSet::new();
    let classes = class_of(instance);
    for (class, server) in classes.iter().zip(servers) {
        for r in [0, 1].map(ResourceId) {
            let units = |(kind, count): &(u32, u64)| {
                instance.kind(KindId(*kind as usize)).piece_units(r) * u128::from(*count)
            };
            if server.iter().map(units).sum::<u128>() > instance.capacity_units(*class, r) {
                broken.insert("capacity");
            }
        }
        for (kind, count) in server {
            let kind = instance.kind(KindId(*kind as usize));
            if !kind.rule().allows(*class) {
                broken.insert("eligibility");
            }
            if kind.user().per_server().is_some_and(|most| *count > most) {
                broken.insert("per-server");
            }
        }
    }
    for user in instance.users() {
        let range = user.kind_range();
        let each: Vec<u64> = user.kinds().map(|kind| kind.each()).collect();
        let in_domain = |kind: usize, domain: usize| -> u64 {
            let here = classes.iter().zip(servers);
            let here = here.filter(|(class, _)| instance.domain_of(**class) == Some(DomainId(domain)));
            here.map(|(_, server)| there(server, kind)).sum()
        };
        let mut in_domains: Vec<Vec<u64>> = (0..instance.domains().len())
            .map(|domain| range.clone().map(|kind| in_domain(kind, domain)).collect())
            .collect();
        let pieces: Vec<u64> =
            (0..each.len()).map(|k| in_domains.iter().map(|domain| domain[k]).sum()).collect();
        let tasks = pieces.iter().zip(&each).map(|(pieces, each)| pieces / each).min().unwrap();
        if pieces.iter().zip(&each).any(|(pieces, each)| *pieces != tasks * each) {
            broken.insert("tasks");
        }
        if user.tasks().is_some_and(|most| tasks > most) {
            broken.insert("task-limits");
        }
        if let Some(gang) = user.gang() {
            if tasks % gang.tasks > 0 {
                broken.insert("gangs");
            }
            let of: Vec<u64> = each.iter().map(|each| each * gang.tasks).collect();
            if gang.in_one_domain && !are_gangs(&mut in_domains.clone(), &of) {
                broken.insert("gangs-in-domains");
            }
        }
        if let Some(most) = user.spread() {
            for (k, kind) in user.kinds().enumerate() {
                let may_run = |domain: &usize| {
                    classes.iter().any(|class| {
                        instance.domain_of(*class) == Some(DomainId(*domain)) && kind.rule().allows(*class)
                    })
                };
                let counts = (0..in_domains.len()).filter(may_run).map(|domain| in_domains[domain][k]);
                if counts.clone().max().unwrap_or(0) > counts.min().unwrap_or(0) + most {
                    broken.insert("spread");
                }
            }
        }
        in_domains.clear();
    }
    broken
}

/// Whole tasks on servers.
fn placement(instance: &Instance, servers: &[ServerTasks]) -> Placement {
    let pieces = |kind: usize| servers.iter().map(|server| there(server, kind)).sum::<u64>();
    let tasks = |user: fairplan_instances::User<'_>| {
        user.kinds().map(|kind| pieces(kind.index().0) / kind.each()).min().unwrap()
    };
    Placement { tasks: instance.users().map(tasks).collect(), servers: servers.to_vec() }
}

/// The most tasks of the first user that pieces of it on servers make which keep all rules, by trying all ways to leave some out;
/// `None` if these are too many.
fn most_kept(instance: &Instance, servers: &[ServerTasks]) -> Option<u64> {
    let own: Vec<(usize, u32, u64)> = servers
        .iter()
        .enumerate()
        .flat_map(|(at, server)| server.iter().map(move |(kind, count)| (at, *kind, *count)))
        .filter(|(_, kind, _)| *kind < 2)
        .collect();
    let mut ways = vec![vec![ServerTasks::new(); servers.len()]];
    for (at, kind, count) in own {
        ways = ways
            .into_iter()
            .flat_map(|servers| {
                (0..=count).map(move |stay| {
                    let mut next = servers.clone();
                    (0..stay).for_each(|_| put(&mut next[at], kind));
                    next
                })
            })
            .collect();
        if ways.len() > 5_000 {
            return None;
        }
    }
    let kept = ways.iter().filter(|servers| broken(instance, servers).is_empty());
    Some(kept.map(|servers| placement(instance, servers).tasks[0]).max().unwrap_or(0))
}

#[test]
fn policies_and_what_is_left_of_any_placement_keep_rules_of_kinds() {
    let mut random = Random::new(28, 1);
    let (mut ruled, mut stays, mut left_of_most) = ([0; 3], 0, [0; 2]);
    for case in 0..800 {
        let instance = drawn(&mut random);
        let user = instance.users().next().unwrap();
        for policy in policies(false) {
            let placement = policy.place(&instance).unwrap();
            let found = broken(&instance, &placement.servers);
            assert!(found.is_empty(), "case {case}, {} breaks {found:?}: {placement:?}", policy.name());
            let has = [user.per_server().is_some(), user.gang().is_some(), user.spread().is_some()];
            for (sum, has) in ruled.iter_mut().zip(has) {
                *sum += u32::from(has && placement.tasks[0] > 0);
            }
        }
        let mut servers = vec![ServerTasks::new(); instance.server_count() as usize];
        for _ in 0..random.below(14) {
            let server = random.below(servers.len() as u64) as usize;
            put(&mut servers[server], random.below(instance.kind_count() as u64) as u32);
        }
        let along = placement(&instance, &servers);
        let kept = place_along(&instance, &along, None, &Deadline::never()).unwrap();
        let found = broken(&instance, &kept.servers);
        assert!(found.is_empty(), "case {case} breaks {found:?}: {along:?}, {kept:?}");
        // What keeps all rules stays as it is.
        let again = place_along(&instance, &kept, None, &Deadline::never()).unwrap();
        assert_eq!(again, kept, "case {case}");
        let has_domain_rules = user.spread().is_some() || user.gang().is_some_and(|gang| gang.in_one_domain);
        stays += u32::from(has_domain_rules && kept.tasks[0] > 0);
        let none = vec![0; instance.user_count()];
        let left = place_along(&instance, &along, Some(&none), &Deadline::never()).unwrap();
        let Some(most) = most_kept(&instance, &servers) else { continue };
        left_of_most[0] += left.tasks[0];
        left_of_most[1] += most;
        assert!(left.tasks[0] <= most, "case {case}: {left:?} of {along:?}");
    }
    assert!(ruled.iter().all(|sum| *sum > 500) && stays > 200, "{ruled:?}, {stays} stay");
    let [left, most] = left_of_most;
    assert!(left * 5 >= most * 4 && most > 30, "{left} tasks are left of {most} that could be");
}

#[test]
fn the_checker_refuses_exactly_the_rules_of_kinds_that_are_broken() {
    let mut random = Random::new(28, 2);
    let (mut alone, mut kept) = (BTreeSet::new(), 0);
    for case in 0..1500 {
        let instance = drawn(&mut random);
        let mut servers = policy("random", case).unwrap().place(&instance).unwrap().servers;
        for _ in 0..4 {
            let kind = random.below(instance.kind_count() as u64) as u32;
            let [from, to] = [(); 2].map(|()| random.below(servers.len() as u64) as usize);
            let view = instance.kind(KindId(kind as usize)).user();
            match random.below(4) {
                0 => put(&mut servers[to], kind),
                1 => take(&mut servers[from], kind),
                // A whole task more, all on one server.
                2 => view.kinds().for_each(|kind| {
                    (0..kind.each()).for_each(|_| put(&mut servers[to], kind.index().0 as u32));
                }),
                _ if there(&servers[from], kind as usize) > 0 => {
                    take(&mut servers[from], kind);
                    put(&mut servers[to], kind);
                }
                _ => {}
            }
            let claim = placement(&instance, &servers);
            let claim = PlacementClaim { tasks: &claim.tasks, servers: &servers, printed: None };
            let failed = verify_placement(&instance, &claim).into_iter().filter(|verdict| !verdict.holds);
            let refused: BTreeSet<&str> = failed.map(|verdict| verdict.property).collect();
            let expected = broken(&instance, &servers);
            assert_eq!(refused, expected, "case {case}: {servers:?}");
            if expected.len() == 1 {
                alone.extend(expected);
            } else if expected.is_empty() {
                kept += 1;
            }
        }
    }
    for rule in ["gangs", "gangs-in-domains", "per-server", "spread", "tasks"] {
        assert!(alone.contains(rule), "{rule} is nowhere the only one broken: {alone:?}");
    }
    assert!(kept > 500, "only {kept} placements keep all rules");
}

/// All placements that keep all rules; `None` if there are too many ways on the way.
fn all_placements(instance: &Instance) -> Option<Vec<Vec<ServerTasks>>> {
    let inside = ["capacity", "eligibility", "per-server", "task-limits"];
    let count = instance.server_count() as usize;
    let mut ways: Vec<Vec<ServerTasks>> = vec![vec![ServerTasks::new(); count]];
    for server in 0..count {
        for kind in 0..instance.kind_count() as u32 {
            let mut next = Vec::new();
            for mut servers in ways {
                while broken(instance, &servers).iter().all(|rule| !inside.contains(rule)) {
                    next.push(servers.clone());
                    put(&mut servers[server], kind);
                }
            }
            if next.len() > 3_000 {
                return None;
            }
            ways = next;
        }
    }
    ways.retain(|servers| broken(instance, servers).is_empty());
    Some(ways)
}

#[test]
fn no_placement_of_kinds_under_rules_is_above_its_bound() {
    let mut random = Random::new(28, 3);
    let (mut tried, mut tight) = (0, 0);
    for case in 0..100 {
        let instance = drawn(&mut random);
        let Some(ways) = all_placements(&instance) else { continue };
        tried += 1;
        let value = |servers: &Vec<ServerTasks>| {
            PlacementFigures::new(&instance, &placement(&instance, servers)).value
        };
        let best = ways.iter().map(value).fold(0.0, f64::max);
        let bracket = bound(&instance, &BoundOptions::default(), &Control::none()).unwrap().bracket;
        let stated = stated_bounds(&instance, &bracket, None);
        assert!(best <= stated.upper * (1.0 + 1e-9), "case {case}: {best} above {stated:?}");
        assert!(stated.lower <= best * (1.0 + 1e-9), "case {case}: {stated:?} above {best}");
        assert!(broken(&instance, &bracket.placement.servers).is_empty(), "case {case}: {bracket:?}");
        tight += u32::from(stated.upper <= best * (1.0 + 1e-9));
        let options = PlaceOptions { policy: "pattern".into(), ..PlaceOptions::default() };
        let placed = place(&instance, &options, &Control::none()).unwrap().placement;
        assert!(broken(&instance, &placed.servers).is_empty(), "case {case}: {placed:?}");
    }
    assert!(tried > 20 && tight > 4, "{tight} of {tried} are reached");
}

/// Three nodes of four cores in two racks.
fn nodes(set: impl Fn(&mut InstanceBuilder, fairplan_instances::UserId)) -> Instance {
    let cpu = |cpu: u32| vec![cpu.into()];
    let mut builder = InstanceBuilder::new("", vec!["cpu".into()]).unwrap();
    for (rack, count) in [("r1", 2), ("r2", 1)] {
        let class = ServerClass { domain: Some(rack.into()), ..ServerClass::new(rack, count, cpu(4)) };
        builder.class(class).unwrap();
    }
    let rule = builder.rule(PlacementRule::default());
    let kind = |id: &str, each| NewKind { id: id.into(), each, demand: cpu(1), rule };
    let user =
        builder.user_with_kinds(NewUser::new("job", &[]), &[kind("worker", 2), kind("driver", 1)]).unwrap();
    set(&mut builder, user);
    builder.build().unwrap()
}

fn tasks(set: impl Fn(&mut InstanceBuilder, fairplan_instances::UserId)) -> u64 {
    policy("first-fit", 0).unwrap().place(&nodes(set)).unwrap().tasks[0]
}

#[test]
fn each_rule_of_kinds_means_what_it_says() {
    assert_eq!(tasks(|_, _| ()), 4, "twelve pieces");
    let one_a_server = |builder: &mut InstanceBuilder, user| builder.per_server(user, 1).unwrap();
    assert_eq!(tasks(one_a_server), 1, "three nodes have three workers; a driver may be beside one");
    let gang = |tasks, in_one_domain| {
        move |builder: &mut InstanceBuilder, user| builder.gang(user, Gang { tasks, in_one_domain }).unwrap()
    };
    assert_eq!(tasks(gang(3, false)), 3);
    assert_eq!(tasks(gang(2, true)), 2, "six pieces are in the first rack; the second has four cores");
    assert_eq!(
        tasks(|builder, user| builder.spread(user, 1).unwrap()),
        3,
        "the second rack has room for three workers and a driver"
    );
}
