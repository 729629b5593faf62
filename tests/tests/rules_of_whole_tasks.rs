//! Rules that only whole tasks meet (devices and their profiles, limits a server, gangs, gangs within a domain, spread), each as it is stated and tried
//! exhaustively on small clusters: policies keep all of them and stop only when nobody's next gang has room, and the checker
//! refuses exactly what breaks one, by its name.

use fairplan::{Control, PlaceOptions, place};
use fairplan_heuristics::{DEVICE_POLICIES, POLICIES, PlacementPolicy, device_policy, place_along, policy};
use fairplan_instances::{
    ClassId, Deadline, Decimal, DeviceProfile, DeviceProfiles, Gang, Instance, InstanceBuilder, NewUser,
    Placement, PlacementRule, Random, ResourceId, ServerClass, ServerTasks, User, UserId,
};
use fairplan_verify::{PlacementClaim, verify_placement};
use std::collections::BTreeSet;

const CPU: ResourceId = ResourceId(0);
const GPU: ResourceId = ResourceId(1);

/// Two or three classes of one or two servers in up to three domains, with GPUs of ten units if asked; two or three users with some
/// of the rules each; where there are GPUs, half the users have a profile of one that is cut into five slices. Draws that no instance is
/// made of are drawn again.
pub(crate) fn drawn(random: &mut Random, with_devices: bool) -> Instance {
    loop {
        if let Ok(instance) = attempt(random, with_devices) {
            return instance;
        }
    }
}

fn attempt(random: &mut Random, with_devices: bool) -> Result<Instance, fairplan_instances::Violation> {
    let mut builder = InstanceBuilder::new("", vec!["cpu".into(), "gpu".into()])?;
    let classes = random.between(2, 3);
    for l in 0..classes {
        let gpus = if l == 0 { random.between(1, 2) } else { random.between(0, 2) };
        let capacity = vec![(random.between(3, 7) as u32).into(), (10 * gpus as u32).into()];
        let mut class = ServerClass::new(format!("c{l}"), random.between(1, 2), capacity);
        class.devices = if gpus > 0 && with_devices { vec![(GPU, gpus)] } else { Vec::new() };
        class.domain = Some(format!("d{}", random.below(3)));
        builder.class(class)?;
    }
    if with_devices {
        builder.device_profiles(DeviceProfiles { resource: GPU, slices: 5, profiles: profiles() })?;
    }
    for i in 0..random.between(2, 3) {
        let profile = (with_devices && random.below(2) == 0)
            .then(|| profiles()[random.below(profiles().len() as u64) as usize].clone());
        let gpu = match random.below(3) {
            _ if profile.is_some() => profile.as_ref().map_or(0, |profile| 2 * u64::from(profile.slices)),
            0 => 0,
            1 => 10,
            _ => random.between(3, 7),
        };
        let demand: [Decimal; 2] = [(random.between(1, 3) as u32).into(), (gpu as u32).into()];
        let only = (random.below(4) == 0).then(|| vec![ClassId(0), ClassId(1)]);
        let rule = builder.rule(PlacementRule::new(only, Vec::new()));
        let tasks = (random.below(4) > 0).then(|| random.between(2, 7));
        let user = builder.user(NewUser { rule, tasks, ..NewUser::new(&format!("u{i}"), &demand) })?;
        profile.map_or(Ok(()), |profile| builder.profile(user, None, &profile.name))?;
        if random.below(3) == 0 {
            builder.per_server(user, random.between(1, 2))?;
        }
        if random.below(2) == 0 {
            let gang = Gang { tasks: random.between(2, 3), in_one_domain: random.below(2) == 0 };
            builder.gang(user, gang)?;
        }
        if random.below(2) == 0 {
            builder.spread(user, random.between(1, 3))?;
        }
    }
    builder.build()
}

/// Four fifths can be had in small parts, large ones begin at two places and the middle ones leave a slice beside each other.
fn profiles() -> Vec<DeviceProfile> {
    let stated: [(&str, u32, &[u32]); 4] =
        [("small", 1, &[0, 1, 2, 3]), ("middle", 2, &[0, 3]), ("large", 3, &[0, 2]), ("all", 5, &[0])];
    let profile = |(name, slices, starts): (&str, u32, &[u32])| DeviceProfile {
        name: name.into(),
        slices,
        starts: starts.to_vec(),
    };
    stated.into_iter().map(profile).collect()
}

fn classes(instance: &Instance) -> Vec<ClassId> {
    let of = |(l, class): (usize, &ServerClass)| vec![ClassId(l); class.count as usize];
    instance.classes().iter().enumerate().flat_map(of).collect()
}

/// How many tasks of a user are on a server.
fn there(server: &ServerTasks, user: usize) -> u64 {
    server.iter().find(|(other, _)| *other as usize == user).map_or(0, |(_, count)| *count)
}

/// What a task wants of GPUs of ten units.
#[derive(Clone, Copy)]
enum Want {
    Whole(usize),
    Part(u128),
    /// A profile by its position.
    Profile(usize),
}

fn want(user: User<'_>) -> Option<Want> {
    let named = |name: &str| profiles().iter().position(|profile| profile.name == name);
    match (user.profile_name().and_then(named), user.demand_units(GPU)) {
        (Some(profile), _) => Some(Want::Profile(profile)),
        (None, 0) => None,
        (None, part) if part < 10 => Some(Want::Part(part)),
        (None, whole) => Some(Want::Whole((whole / 10) as usize)),
    }
}

/// A GPU: what is shared of it, or which slices are taken.
#[derive(Clone, Copy, Default, PartialEq)]
struct Gpu {
    shared: u128,
    taken: u32,
}

/// Whether tasks find GPUs, by trying all ways.
fn fit_devices(wants: &[Want], gpus: &mut [Gpu]) -> bool {
    // What is too much for all of them need not be tried.
    let units = |want: &Want| match want {
        Want::Whole(number) => 10 * *number as u128,
        Want::Part(part) => *part,
        Want::Profile(profile) => 2 * u128::from(profiles()[*profile].slices),
    };
    let free = |gpu: &Gpu| 10 - gpu.shared - 2 * u128::from(gpu.taken.count_ones());
    if wants.iter().map(units).sum::<u128>() > gpus.iter().map(free).sum() {
        return false;
    }
    let Some((first, rest)) = wants.split_first() else { return true };
    let unused: Vec<usize> = (0..gpus.len()).filter(|at| gpus[*at] == Gpu::default()).collect();
    let mut tries: Vec<Vec<(usize, Gpu)>> = Vec::new();
    match *first {
        Want::Whole(number) if unused.len() < number => {}
        Want::Whole(number) => {
            tries.push(unused[..number].iter().map(|at| (*at, Gpu { shared: 10, taken: 0 })).collect())
        }
        Want::Part(part) => {
            for (at, gpu) in
                gpus.iter().enumerate().filter(|(_, gpu)| gpu.taken == 0 && gpu.shared + part <= 10)
            {
                tries.push(vec![(at, Gpu { shared: gpu.shared + part, taken: 0 })]);
            }
        }
        Want::Profile(profile) => {
            let DeviceProfile { slices, starts, .. } = &profiles()[profile];
            for (at, gpu) in gpus.iter().enumerate().filter(|(_, gpu)| gpu.shared == 0) {
                let bits = |start: &u32| ((1 << slices) - 1) << start;
                let open = starts.iter().map(bits).filter(|bits| gpu.taken & bits == 0);
                tries.extend(open.map(|bits| vec![(at, Gpu { shared: 0, taken: gpu.taken | bits })]));
            }
        }
    }
    tries.into_iter().any(|changed| {
        let before = gpus.to_vec();
        changed.into_iter().for_each(|(at, gpu)| gpus[at] = gpu);
        let found = fit_devices(rest, gpus);
        gpus.copy_from_slice(&before);
        found
    })
}

/// Whether tasks in domains are so many gangs, each within one, by taking away one after the other.
fn are_gangs(in_domains: &mut [u64], gang: u64) -> bool {
    if in_domains.iter().all(|count| *count == 0) {
        return true;
    }
    (0..in_domains.len()).any(|domain| {
        if in_domains[domain] < gang {
            return false;
        }
        in_domains[domain] -= gang;
        let found = are_gangs(in_domains, gang);
        in_domains[domain] += gang;
        found
    })
}

/// The rules that a placement breaks, by the checker's names.
pub(crate) fn broken(instance: &Instance, servers: &[ServerTasks]) -> BTreeSet<&'static str> {
    let mut broken = BTreeSet::new();
    for (class, tasks) in classes(instance).into_iter().zip(servers) {
        let mut wants = Vec::new();
        let mut load = [0; 2];
        for &(user, count) in tasks {
            let user = instance.user(UserId(user as usize));
            if !user.rule().allows(class) {
                broken.insert("eligibility");
            }
            if user.per_server().is_some_and(|most| count > most) {
                broken.insert("per-server");
            }
            for _ in 0..count {
                wants.extend(want(user));
                load[0] += user.demand_units(CPU);
                load[1] += user.demand_units(GPU);
            }
        }
        if [CPU, GPU].iter().zip(load).any(|(r, load)| load > instance.capacity_units(class, *r)) {
            broken.insert("capacity");
        }
        let devices = instance.classes()[class.0].devices_of(GPU);
        if devices.is_some_and(|devices| !fit_devices(&wants, &mut vec![Gpu::default(); devices as usize])) {
            broken.insert("devices");
        }
    }
    for user in instance.users() {
        let counts: Vec<u64> = servers.iter().map(|server| there(server, user.index().0)).collect();
        let all: u64 = counts.iter().sum();
        let of_servers = classes(instance);
        let in_domain = |domain: usize| -> u64 {
            let here = of_servers.iter().zip(&counts);
            let here = here.filter(|(class, _)| instance.domain_of(**class).unwrap().0 == domain);
            here.map(|(_, count)| count).sum()
        };
        let mut in_domains: Vec<u64> = (0..instance.domains().len()).map(in_domain).collect();
        if user.tasks().is_some_and(|tasks| all > tasks) {
            broken.insert("task-limits");
        }
        if let Some(gang) = user.gang() {
            if !are_gangs(&mut [all], gang.tasks) {
                broken.insert("gangs");
            }
            if gang.in_one_domain && !are_gangs(&mut in_domains, gang.tasks) {
                broken.insert("gangs-in-domains");
            }
        }
        if let Some(most) = user.spread() {
            let may_run = |domain: &usize| {
                of_servers.iter().any(|class| {
                    instance.domain_of(*class).unwrap().0 == *domain && user.rule().allows(*class)
                })
            };
            let mine: Vec<usize> = (0..in_domains.len()).filter(may_run).collect();
            if mine.iter().any(|a| mine.iter().any(|b| in_domains[*a] > in_domains[*b] + most)) {
                broken.insert("spread");
            }
        }
    }
    broken
}

/// The rules of which the checker says that they are broken.
fn refused(instance: &Instance, servers: &[ServerTasks]) -> BTreeSet<&'static str> {
    let mut tasks = vec![0; instance.user_count()];
    servers.iter().flatten().for_each(|(user, count)| tasks[*user as usize] += count);
    let claim = PlacementClaim { tasks: &tasks, servers, printed: None };
    let failed = verify_placement(instance, &claim).into_iter().filter(|verdict| !verdict.holds);
    failed.map(|verdict| verdict.property).collect()
}

/// One task more of a user on a server.
pub(crate) fn put(server: &mut ServerTasks, user: u32) {
    match server.binary_search_by_key(&user, |(other, _)| *other) {
        Ok(at) => server[at].1 += 1,
        Err(at) => server.insert(at, (user, 1)),
    }
}

pub(crate) fn take(server: &mut ServerTasks, user: u32) {
    if let Ok(at) = server.binary_search_by_key(&user, |(other, _)| *other) {
        server[at].1 -= 1;
        server.retain(|(_, count)| *count > 0);
    }
}

/// Whether so many more tasks of a user have room somewhere, by trying all ways.
fn has_room(instance: &Instance, servers: &mut [ServerTasks], user: u32, tasks: u64, from: usize) -> bool {
    if tasks == 0 {
        return broken(instance, servers).is_empty();
    }
    (from..servers.len()).any(|server| {
        put(&mut servers[server], user);
        let found = has_room(instance, servers, user, tasks - 1, server);
        take(&mut servers[server], user);
        found
    })
}

pub(crate) fn policies(with_devices: bool) -> Vec<Box<dyn PlacementPolicy>> {
    let common = POLICIES.names().map(|name| policy(&name.replace('N', "5"), 3).unwrap());
    let of_devices = DEVICE_POLICIES.names().filter(|_| with_devices);
    common.chain(of_devices.map(|name| device_policy(name, 3).unwrap())).collect()
}

fn placed(instance: &Instance, policy: &dyn PlacementPolicy) -> Placement {
    let placement = policy.place(instance).unwrap();
    let broken = broken(instance, &placement.servers);
    assert!(broken.is_empty(), "{} breaks {broken:?}: {:?}", policy.name(), placement.servers);
    placement
}

#[test]
fn policies_keep_every_rule_and_stop_when_nobodys_next_gang_has_room() {
    let mut random = Random::new(24, 1);
    let (mut gangs, mut spread, mut full) = (0, 0, 0);
    for case in 0..1000 {
        // Where tasks keep the devices that they have, what has room depends on which these are.
        let with_devices = case % 2 == 0;
        let instance = drawn(&mut random, with_devices);
        for policy in policies(with_devices) {
            let placement = placed(&instance, &*policy);
            gangs += instance
                .users()
                .filter(|user| user.gang().is_some() && placement.tasks[user.index().0] > 0)
                .count();
            spread += instance.users().filter(|user| user.spread().is_some()).count();
            if with_devices || policy.name().contains("slots") {
                continue;
            }
            for user in instance.users() {
                let next = user.gang().map_or(1, |gang| gang.tasks);
                let mut servers = placement.servers.clone();
                let more = has_room(&instance, &mut servers, user.index().0 as u32, next, 0);
                assert!(!more, "case {case}, {}: user {} has room, {servers:?}", policy.name(), user.id());
                full += 1;
            }
        }
    }
    assert!(gangs > 3000 && spread > 3000 && full > 3000, "{gangs} gangs, {spread} spread, {full} full");
}

#[test]
fn the_checker_refuses_exactly_the_rules_that_are_broken() {
    let mut random = Random::new(24, 2);
    let (mut alone, mut kept) = (BTreeSet::new(), 0);
    for case in 0..1000 {
        let instance = drawn(&mut random, case % 4 > 0);
        let mut servers = placed(&instance, &*policy("random", case).unwrap()).servers;
        for _ in 0..8 {
            let user = random.below(instance.user_count() as u64) as u32;
            let [from, to] = [(); 2].map(|()| random.below(servers.len() as u64) as usize);
            match random.below(3) {
                0 => put(&mut servers[to], user),
                1 => take(&mut servers[from], user),
                _ if there(&servers[from], user as usize) > 0 => {
                    take(&mut servers[from], user);
                    put(&mut servers[to], user);
                }
                _ => {}
            }
            let expected = broken(&instance, &servers);
            assert_eq!(refused(&instance, &servers), expected, "case {case}: {servers:?}");
            kept += usize::from(expected.is_empty());
            if expected.len() == 1 {
                alone.extend(expected);
            }
        }
    }
    let rules = [
        "capacity",
        "devices",
        "eligibility",
        "gangs",
        "gangs-in-domains",
        "per-server",
        "spread",
        "task-limits",
    ];
    assert_eq!(alone.into_iter().collect::<Vec<_>>(), rules, "each rule is the only one broken somewhere");
    assert!(kept > 500, "only {kept} placements keep all rules");
}

/// Tasks at random on servers, whether they fit or not.
pub(crate) fn scattered(random: &mut Random, instance: &Instance) -> Placement {
    let mut servers = vec![ServerTasks::new(); instance.server_count() as usize];
    for _ in 0..random.below(12) {
        let server = random.below(servers.len() as u64) as usize;
        put(&mut servers[server], random.below(instance.user_count() as u64) as u32);
    }
    let mut tasks = vec![0; instance.user_count()];
    servers.iter().flatten().for_each(|(user, count)| tasks[*user as usize] += count);
    Placement { tasks, servers }
}

#[test]
fn what_rules_leave_of_any_placement_keeps_them_all_and_is_filled_up() {
    let mut random = Random::new(24, 3);
    let (mut same, mut full) = (0, 0);
    for case in 0..1000 {
        let with_devices = case % 2 == 0;
        let instance = drawn(&mut random, with_devices);
        let along = scattered(&mut random, &instance);
        let placement = place_along(&instance, &along, None, &Deadline::never()).unwrap();
        let kept = broken(&instance, &placement.servers);
        assert!(kept.is_empty(), "case {case} breaks {kept:?}: {along:?}, {placement:?}");
        if broken(&instance, &along.servers).is_empty() && !with_devices {
            let stays = |(before, after): (&ServerTasks, &ServerTasks)| {
                before.iter().all(|(user, count)| there(after, *user as usize) >= *count)
            };
            assert!(along.servers.iter().zip(&placement.servers).all(stays), "case {case}: {along:?}");
            same += 1;
        }
        for user in instance.users().filter(|_| !with_devices) {
            let next = user.gang().map_or(1, |gang| gang.tasks);
            let more = has_room(&instance, &mut placement.servers.clone(), user.index().0 as u32, next, 0);
            assert!(!more, "case {case}: user {} has room, {placement:?}", user.id());
            full += 1;
        }
    }
    assert!(same > 30 && full > 500, "{same} broke no rule, {full} are full");
}

#[test]
fn patterns_keep_every_rule_and_are_no_worse_than_best_fit() {
    let mut random = Random::new(24, 4);
    let (mut tried, mut better) = (0, 0);
    for case in 0..120 {
        let instance = drawn(&mut random, case % 2 == 0);
        let [level, other] = ["pattern", "best-fit"].map(|policy| {
            let options = PlaceOptions { policy: policy.into(), ..PlaceOptions::default() };
            let placed = place(&instance, &options, &Control::none()).unwrap();
            let kept = broken(&instance, &placed.placement.servers);
            assert!(kept.is_empty(), "case {case}, {policy} breaks {kept:?}: {:?}", placed.placement);
            placed.figures.level.unwrap_or(f64::INFINITY)
        });
        if !instance.has_rules_between_servers() {
            continue;
        }
        assert!(level >= other * (1.0 - 1e-9), "case {case}: {level} and {other} by best-fit");
        (tried, better) = (tried + 1, better + usize::from(level > other * (1.0 + 1e-9)));
    }
    assert!(tried > 60 && better > 3, "{better} of {tried}");
}
