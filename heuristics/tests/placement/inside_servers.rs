//! Policies where there are rules inside servers: on small clusters every content of a server is checked by trying all assignments,
//! and every choice against the rule as it is stated.

use fairplan_heuristics::{DEVICE_POLICIES, InOrder, POLICIES, PlacementPolicy, device_policy, policy};
use fairplan_instances::{
    ClassId, Deadline, Decimal, DeviceProfile, DeviceProfiles, Instance, InstanceBuilder, NewUser,
    PlacementRule, Random, ResourceId, ServerClass, UserId,
};

const CPU: ResourceId = ResourceId(0);
const GPU: ResourceId = ResourceId(1);

/// One to three classes of servers with GPUs of ten units each, one of them perhaps without; two to five users, some of them with a
/// limit a server, some on one class only.
fn drawn(random: &mut Random) -> Instance {
    drawn_with(random, &[])
}

/// The same where half the users have one of these profiles of a GPU that is cut into five slices.
fn drawn_with(random: &mut Random, profiles: &[DeviceProfile]) -> Instance {
    let mut builder = InstanceBuilder::new("", vec!["cpu".into(), "gpu".into()]).unwrap();
    let classes = random.between(1, 3);
    for l in 0..classes {
        let gpus = if l == 0 { random.between(1, 3) } else { random.between(0, 3) };
        let capacity = vec![(random.between(4, 12) as u32).into(), (10 * gpus as u32).into()];
        let mut class = ServerClass::new(format!("c{l}"), random.between(1, 2), capacity);
        class.devices = if gpus > 0 { vec![(GPU, gpus)] } else { Vec::new() };
        builder.class(class).unwrap();
    }
    if !profiles.is_empty() {
        let cut = DeviceProfiles { resource: GPU, slices: 5, profiles: profiles.to_vec() };
        builder.device_profiles(cut).unwrap();
    }
    for i in 0..random.between(2, 5) {
        let profile = (!profiles.is_empty() && random.below(2) == 0)
            .then(|| &profiles[random.below(profiles.len() as u64) as usize]);
        let gpu = match random.below(4) {
            _ if profile.is_some() => profile.map_or(0, |profile| 2 * u64::from(profile.slices)),
            0 => 0,
            1 => 10 * random.between(1, 2),
            _ => random.between(1, 9),
        };
        let demand: [Decimal; 2] = [(random.between(1, 3) as u32).into(), (gpu as u32).into()];
        let only = (random.below(4) == 0).then(|| vec![ClassId(random.below(classes) as usize)]);
        let rule = builder.rule(PlacementRule::new(only, Vec::new()));
        let tasks = Some(random.between(1, 6));
        let user = builder.user(NewUser { rule, tasks, ..NewUser::new(&format!("u{i}"), &demand) }).unwrap();
        if let Some(profile) = profile {
            builder.profile(user, None, &profile.name).unwrap();
        }
        if random.below(3) == 0 {
            builder.per_server(user, random.between(1, 2)).unwrap();
        }
    }
    builder.build().unwrap()
}

fn profile(name: &str, slices: u32, starts: &[u32]) -> DeviceProfile {
    DeviceProfile { name: name.into(), slices, starts: starts.to_vec() }
}

/// Profiles of a GPU that is cut into five slices.
fn fifths() -> Vec<DeviceProfile> {
    vec![
        profile("small", 1, &[0, 1, 2, 3]),
        profile("middle", 2, &[0, 3]),
        profile("large", 3, &[0, 2]),
        profile("all", 5, &[0]),
    ]
}

/// Servers of one A100 each, cut as NVIDIA's MIG user guide says, and a user for each task, of a profile or `cpu` alone.
fn a100s(servers: u64, tasks: &[(&str, u64)]) -> Instance {
    let mut builder = InstanceBuilder::new("", vec!["cpu".into(), "gpu".into()]).unwrap();
    let mut class = ServerClass::new("a", servers, vec![100u32.into(), 8u32.into()]);
    class.devices = vec![(GPU, 1)];
    builder.class(class).unwrap();
    let profiles = vec![
        profile("1g", 1, &[0, 1, 2, 3, 4, 5, 6]),
        profile("2g", 2, &[0, 2, 4]),
        profile("3g", 4, &[0, 4]),
        profile("4g", 4, &[0]),
    ];
    let slices =
        |name: &str| profiles.iter().find(|profile| profile.name == name).map(|profile| profile.slices);
    builder.device_profiles(DeviceProfiles { resource: GPU, slices: 8, profiles: profiles.clone() }).unwrap();
    for (i, (name, number)) in tasks.iter().enumerate() {
        let demand: [Decimal; 2] = [1u32.into(), slices(name).unwrap_or(3).into()];
        let tasks = Some(*number);
        let user = builder.user(NewUser { tasks, ..NewUser::new(&format!("u{i}"), &demand) }).unwrap();
        if slices(name).is_some() {
            builder.profile(user, None, name).unwrap();
        }
    }
    builder.build().unwrap()
}

/// Where a policy puts tasks of these users, one after the other.
fn in_order(instance: &Instance, name: &str, order: &[usize]) -> Vec<Option<usize>> {
    let order: Vec<UserId> = order.iter().copied().map(UserId).collect();
    let policy = if name == "fgd" { device_policy(name, 0) } else { policy(name, 0) };
    let deadline = Deadline::never();
    policy.unwrap().place_in_order(InOrder { instance, order: &order, deadline: &deadline }).unwrap()
}

#[test]
fn small_profiles_leave_room_for_large_ones_that_come_later() {
    let instance = a100s(1, &[("1g", 4), ("2g", 1), ("3g", 1), ("4g", 1)]);
    let all = |order: &[usize]| in_order(&instance, "first-fit", order).iter().all(Option::is_some);
    assert!(all(&[0, 1, 3]), "1g, 2g, 4g");
    assert!(all(&[0, 0, 0, 3]), "three 1g, 4g");
    assert!(all(&[2, 3]), "3g, 4g");
    assert!(all(&[1, 2]), "2g, 3g");
    assert!(!all(&[3, 2, 0]), "nothing is left beside 4g and 3g");
}

#[test]
fn a_device_that_is_cut_has_no_other_part_and_one_that_is_shared_no_profile() {
    let instance = a100s(2, &[("1g", 9), ("any part", 9)]);
    // Seven parts by the profile, and two of three eighths on a server of their own.
    let order = [0, 1, 0, 1, 1, 0, 0, 0, 0, 0, 0];
    let expected = [0, 1, 0, 1].map(Some);
    let placed = in_order(&instance, "first-fit", &order);
    assert_eq!(placed[..4], expected);
    assert_eq!(placed[4], None, "a third part of three eighths");
    assert_eq!(placed[5..], [Some(0), Some(0), Some(0), Some(0), Some(0), None]);
}

#[test]
fn fragmentation_gradient_descent_spares_what_the_profiles_to_be_expected_can_use() {
    // Beside 4g each 1g takes the place of a 3g; on the other server two leave room for a 4g. A 3g then is best beside 4g.
    let instance = a100s(2, &[("1g", 4), ("4g", 1), ("3g", 1)]);
    let placed = in_order(&instance, "fgd", &[1, 0, 0, 2]);
    let [four, one, other, three] = placed[..] else { panic!("{placed:?}") };
    assert!(placed.iter().all(Option::is_some), "{placed:?}");
    assert!(one == other && one != four && three == four, "{placed:?}");
}

fn policies() -> Vec<Box<dyn PlacementPolicy>> {
    let common = POLICIES.names().map(|name| policy(&name.replace('N', "5"), 3).unwrap());
    common.chain(DEVICE_POLICIES.names().map(|name| device_policy(name, 3).unwrap())).collect()
}

fn class_of(instance: &Instance, server: usize) -> ClassId {
    let mut left = server as u64;
    let fits = |class: &ServerClass| {
        let is_here = left < class.count;
        left = left.saturating_sub(class.count);
        is_here
    };
    ClassId(instance.classes().iter().position(fits).unwrap())
}

/// Whether users' tasks fit on a server, found by trying every assignment of parts to devices.
fn fits(instance: &Instance, class: ClassId, tasks: &[usize]) -> bool {
    let demand = |user: &usize, r| instance.user(UserId(*user)).demand_units(r);
    let within = |r| {
        let load: u128 = tasks.iter().map(|user| demand(user, r)).sum();
        load <= instance.capacity_units(class, r)
    };
    let limited = |user: &usize| {
        let there = tasks.iter().filter(|other| *other == user).count() as u64;
        instance.user(UserId(*user)).per_server().is_none_or(|most| there <= most)
            && instance.user(UserId(*user)).rule().allows(class)
    };
    if !within(CPU) || !within(GPU) || !tasks.iter().all(limited) {
        return false;
    }
    let devices = instance.classes()[class.0].devices_of(GPU).unwrap_or(0) as usize;
    let mut cut: Vec<(u32, &[u32])> = Vec::new();
    let mut wants: Vec<u128> = Vec::new();
    for user in tasks {
        let kind = instance.user(UserId(*user)).kinds().next().unwrap();
        match kind.profile() {
            None => wants.push(demand(user, GPU)),
            Some(of) => {
                let profile = &instance.profiles_of(GPU).unwrap().profiles[of.number];
                cut.push((profile.slices, &profile.starts));
            }
        }
    }
    let whole: u128 = wants.iter().filter(|want| **want >= 10).map(|want| want / 10).sum();
    let parts: Vec<u128> = wants.into_iter().filter(|want| *want > 0 && *want < 10).collect();
    // So many devices are cut, and no others.
    let left = |cut_up: usize| devices.checked_sub(whole as usize + cut_up);
    (0..=devices).any(|cut_up| {
        left(cut_up).is_some_and(|left| assigned(&parts, &mut vec![10; left]))
            && begun(&cut, &mut vec![0; cut_up])
    })
}

/// Whether profiles, given as slices and starts, have room on devices, by trying all ways.
fn begun(profiles: &[(u32, &[u32])], taken: &mut [u32]) -> bool {
    let Some(((slices, starts), rest)) = profiles.split_first() else { return true };
    (0..taken.len()).any(|at| {
        starts.iter().any(|start| {
            let bits = ((1 << slices) - 1) << start;
            if taken[at] & bits != 0 {
                return false;
            }
            taken[at] |= bits;
            let found = begun(rest, taken);
            taken[at] &= !bits;
            found
        })
    })
}

/// Whether parts fit on devices, by trying all ways.
fn assigned(parts: &[u128], free: &mut [u128]) -> bool {
    let Some((first, rest)) = parts.split_first() else { return true };
    (0..free.len()).any(|at| {
        let has_room = free[at] >= *first;
        if has_room {
            free[at] -= first;
        }
        let found = has_room && assigned(rest, free);
        if has_room {
            free[at] += first;
        }
        found
    })
}

#[test]
fn no_policy_breaks_a_rule_inside_a_server_on_a_thousand_small_clusters() {
    let mut random = Random::new(24, 0);
    let (mut placed, mut refused) = (0, 0);
    for case in 0..1000 {
        let instance = match case % 2 {
            0 => drawn(&mut random),
            _ => drawn_with(&mut random, &fifths()),
        };
        let users = instance.user_count() as u64;
        let order: Vec<UserId> = (0..20).map(|_| UserId(random.below(users) as usize)).collect();
        let deadline = Deadline::never();
        for policy in policies() {
            let asked = InOrder { instance: &instance, order: &order, deadline: &deadline };
            let servers = policy.place_in_order(asked).unwrap();
            let mut there = vec![Vec::new(); instance.server_count() as usize];
            for (user, server) in order.iter().zip(&servers) {
                match server {
                    Some(server) => there[*server].push(user.0),
                    None => refused += 1,
                }
                placed += usize::from(server.is_some());
            }
            for (server, tasks) in there.iter().enumerate() {
                let class = class_of(&instance, server);
                assert!(fits(&instance, class, tasks), "{}: server {server} has {tasks:?}", policy.name());
            }
            // The same in the order of shares.
            let placement = policy.place(&instance).unwrap();
            for (server, tasks) in placement.servers.iter().enumerate() {
                let all = |(user, count): &(u32, u64)| vec![*user as usize; *count as usize];
                let tasks: Vec<usize> = tasks.iter().flat_map(all).collect();
                let class = class_of(&instance, server);
                assert!(fits(&instance, class, &tasks), "{}: server {server} has {tasks:?}", policy.name());
            }
        }
    }
    assert!(placed > 10_000 && refused > 10_000, "{placed} placed, {refused} refused");
}

/// The devices of one server, as the documentation has it.
struct Plain {
    class: ClassId,
    cpu: u128,
    gpus: Vec<u128>,
    tasks: Vec<usize>,
}

impl Plain {
    fn all(instance: &Instance) -> Vec<Self> {
        let server = |server| {
            let class = class_of(instance, server);
            let gpus = vec![10; instance.classes()[class.0].devices_of(GPU).unwrap_or(0) as usize];
            Self { class, cpu: instance.capacity_units(class, CPU), gpus, tasks: Vec::new() }
        };
        (0..instance.server_count() as usize).map(server).collect()
    }

    /// The GPUs that a task takes: the tightest for a part, the first free ones otherwise.
    fn gpus_for(&self, instance: &Instance, user: UserId) -> Option<Vec<usize>> {
        let user = instance.user(user);
        let there = self.tasks.iter().filter(|other| **other == user.index().0).count() as u64;
        let may = user.rule().allows(self.class) && user.per_server().is_none_or(|most| there < most);
        let want = user.demand_units(GPU);
        if !may || user.demand_units(CPU) > self.cpu {
            return None;
        }
        if want >= 10 {
            let free: Vec<usize> = (0..self.gpus.len()).filter(|gpu| self.gpus[*gpu] == 10).collect();
            let number = (want / 10) as usize;
            return (free.len() >= number).then(|| free[..number].to_vec());
        }
        if want == 0 {
            return Some(Vec::new());
        }
        let with_room = (0..self.gpus.len()).filter(|gpu| self.gpus[*gpu] >= want);
        with_room.min_by_key(|gpu| self.gpus[*gpu]).map(|gpu| vec![gpu])
    }

    fn take(&mut self, instance: &Instance, user: UserId, gpus: &[usize]) {
        self.cpu -= instance.user(user).demand_units(CPU);
        gpus.iter().for_each(|gpu| self.gpus[*gpu] -= instance.user(user).demand_units(GPU).min(10));
        self.tasks.push(user.0);
    }

    fn gpu(&self) -> u128 {
        self.gpus.iter().sum()
    }
}

/// Places by a rule that names the worth of each server for a task, the lower the better; ties go to the first.
fn plainly(
    instance: &Instance,
    order: &[UserId],
    cost: impl Fn(&Plain, UserId) -> f64,
) -> Vec<Option<usize>> {
    let mut servers = Plain::all(instance);
    let place = |user: &UserId| {
        let costs = servers
            .iter()
            .enumerate()
            .filter_map(|(at, server)| server.gpus_for(instance, *user).map(|_| (cost(server, *user), at)));
        let (_, at) = costs.min_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)))?;
        let gpus = servers[at].gpus_for(instance, *user)?;
        servers[at].take(instance, *user, &gpus);
        Some(at)
    };
    order.iter().map(place).collect()
}

#[test]
fn first_fit_worst_fit_and_dot_product_choose_as_stated_among_servers_with_room_on_their_devices() {
    let mut random = Random::new(25, 0);
    for case in 0..1000 {
        let instance = drawn(&mut random);
        let users = instance.user_count() as u64;
        let order: Vec<UserId> = (0..20).map(|_| UserId(random.below(users) as usize)).collect();
        let deadline = Deadline::never();
        let ours = |name: &str| {
            let asked = InOrder { instance: &instance, order: &order, deadline: &deadline };
            policy(name, 0).unwrap().place_in_order(asked).unwrap()
        };
        assert_eq!(ours("first-fit"), plainly(&instance, &order, |_, _| 0.0), "case {case}");
        let demands = |user: UserId| {
            let user = instance.user(user);
            [user.demand_units(CPU) as f64, user.demand_units(GPU) as f64]
        };
        let copies = |server: &Plain, user: UserId| {
            let free = [server.cpu as f64, server.gpu() as f64];
            let fit = free.iter().zip(demands(user)).filter(|(_, demand)| *demand > 0.0);
            -fit.map(|(free, demand)| free / demand).fold(f64::INFINITY, f64::min)
        };
        assert_eq!(ours("worst-fit"), plainly(&instance, &order, copies), "case {case}");
        let totals = [instance.total_units(CPU) as f64, instance.total_units(GPU) as f64];
        let aligned = |server: &Plain, user: UserId| {
            let free = [server.cpu as f64, server.gpu() as f64];
            let terms = free.iter().zip(demands(user)).zip(totals);
            let sum: f64 = terms.map(|((free, demand), total)| free * demand / total / total).sum();
            // Sums of doubles that are equal in truth shall tie.
            -(sum * 1e9).round()
        };
        assert_eq!(ours("dot-product"), plainly(&instance, &order, aligned), "case {case}");
    }
}

/// `F` of a server in units of GPU, times the number of expected tasks.
fn fragmented(instance: &Instance, server: &Plain, cpu: u128, gpus: &[u128]) -> f64 {
    let total: u128 = gpus.iter().sum();
    let of_task = |user: fairplan_instances::User<'_>| {
        let want = user.demand_units(GPU);
        let (least, number) = (want.min(10), (want / 10).max(1) as usize);
        let has_room = want > 0
            && user.rule().allows(server.class)
            && user.demand_units(CPU) <= cpu
            && gpus.iter().filter(|free| **free >= least).count() >= number;
        let unusable: u128 = if has_room { gpus.iter().filter(|free| **free < least).sum() } else { total };
        unusable as f64 * user.tasks().unwrap() as f64
    };
    instance.users().map(of_task).sum()
}

#[test]
fn fragmentation_gradient_descent_goes_where_the_definition_rises_least() {
    let mut random = Random::new(26, 0);
    let mut apart = 0;
    for _ in 0..1000 {
        let instance = drawn(&mut random);
        let users = instance.user_count() as u64;
        let user = UserId(random.below(users) as usize);
        // Few users: all are expected unless one has fewer than a twentieth of the tasks.
        let tasks: Vec<u64> = instance.users().map(|user| user.tasks().unwrap()).collect();
        let all: u64 = tasks.iter().sum();
        if tasks.iter().any(|tasks| 20 * tasks <= all) {
            continue;
        }
        let order = [user];
        let deadline = Deadline::never();
        let asked = InOrder { instance: &instance, order: &order, deadline: &deadline };
        let ours = device_policy("fgd", 0).unwrap().place_in_order(asked).unwrap();
        let scores: Vec<Option<i64>> = Plain::all(&instance)
            .iter()
            .map(|server| {
                let gpus = server.gpus_for(&instance, user)?;
                let mut after = server.gpus.clone();
                let want = instance.user(user).demand_units(GPU).min(10);
                gpus.iter().for_each(|gpu| after[*gpu] -= want);
                let before = fragmented(&instance, server, server.cpu, &server.gpus);
                let left = server.cpu - instance.user(user).demand_units(CPU);
                let rise = (fragmented(&instance, server, left, &after) - before) / 10.0 / all as f64;
                Some((100.0 / (1.0 + rise.exp()) + 1e-9) as i64)
            })
            .collect();
        let best = scores.iter().flatten().max().copied();
        assert_eq!(ours[0].and_then(|server| scores[server]), best, "{scores:?}");
        apart += usize::from(scores.iter().flatten().any(|score| Some(*score) != best));
    }
    assert!(apart > 100, "only {apart} cases tell servers apart");
}

#[test]
fn policies_that_look_at_devices_need_them_of_one_resource() {
    let mut builder = InstanceBuilder::new("", vec!["cpu".into()]).unwrap();
    builder.class(ServerClass::new("a", 1, vec![4u32.into()])).unwrap();
    builder.user(NewUser::new("u", &[1u32.into()])).unwrap();
    let instance = builder.build().unwrap();
    for name in DEVICE_POLICIES.names() {
        let told = device_policy(name, 0).unwrap().place(&instance).unwrap_err().to_string();
        let expected = format!(
            "policy {name}: looks at the devices of one resource, and there are devices of 0; state `devices` on the server classes"
        );
        assert_eq!(told, expected);
    }
}
