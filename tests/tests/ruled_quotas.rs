//! Rules that only whole tasks meet beside limits, reserves and guarantees, tried exhaustively on small clusters: policies and patterns
//! keep all of them, a gang starts whole within its quotas or not at all, the checker refuses exactly what is broken, and no
//! placement is above its bound.

use crate::rules_of_whole_tasks::{broken, drawn, policies, put, scattered, take};
use fairplan::{
    BoundOptions, Control, LoseOptions, PlaceOptions, ResultFile, allocate_most, bound, bound_allocated,
    losses, place, verify,
};
use fairplan_heuristics::{place_along, policy};
use fairplan_instances::{
    ClassAmounts, ClassId, Deadline, Decimal, DraftQuota, Gang, Instance, InstanceBuilder, NewGroup, NewUser,
    Owner, Placement, PlacementFigures, Quota, QuotaAmount, Random, ResourceAmounts, ResourceId, ServerClass,
    ServerTasks, User, UserId, WarningKind, keeps_guarantees_of_users, lint, stated_bounds,
};
use fairplan_tests::{Draft, reserved_together};
use fairplan_verify::{PlacementClaim, verify_placement};
use std::collections::BTreeSet;

const CPU: ResourceId = ResourceId(0);

/// A cluster with rules, two of whose users are in a group, with up to three quotas. Those over some classes are over one, or over those
/// of one domain, unless they may cross.
pub(crate) fn with_quotas(random: &mut Random, with_devices: bool, may_cross: bool, sure: bool) -> Instance {
    loop {
        let mut draft = Draft::from(&drawn(random, with_devices));
        draft.groups = vec![NewGroup { id: "g".into(), weight: Decimal::ONE, parent: None }];
        draft.users.iter_mut().take(2).for_each(|user| user.group = Some(0));
        let classes: Vec<ClassId> = (0..draft.classes.len()).map(ClassId).collect();
        let domains: Vec<Option<String>> = draft.classes.iter().map(|class| class.domain.clone()).collect();
        for owner in ["g", "u0", "u1"] {
            if random.below(3) == 0 {
                continue;
            }
            let mut quota = Quota::default();
            let amount = |random: &mut Random, most: u64| -> ResourceAmounts {
                vec![(CPU, (random.between(1, most) as u32).into())]
            };
            let some = |random: &mut Random, classes: &[ClassId]| -> Vec<ClassId> {
                let first = classes[random.below(classes.len() as u64) as usize];
                let domain = |class: &ClassId| domains[class.0].clone();
                let is_in = |class: &ClassId| domain(class) == domain(&first);
                match random.below(2) {
                    _ if may_cross => classes.iter().copied().filter(|_| random.below(2) > 0).collect(),
                    0 => vec![first],
                    _ => classes.iter().copied().filter(is_in).collect(),
                }
            };
            match random.below(if sure { 6 } else { 4 }) {
                0 | 1 => quota.limit = amount(random, 12),
                2 => quota.limits = over(some(random, &classes), amount(random, 8)),
                3 => quota.reserve = amount(random, 6),
                4 => quota.guarantee = amount(random, 8),
                _ => quota.guarantees = over(some(random, &classes), amount(random, 6)),
            }
            draft.quotas.push(DraftQuota { is_group: owner == "g", owner: owner.into(), quota });
        }
        match draft.build() {
            Ok(instance) if !instance.quotas().is_empty() => return instance,
            _ => {}
        }
    }
}

fn over(classes: Vec<ClassId>, amounts: ResourceAmounts) -> Vec<ClassAmounts> {
    vec![ClassAmounts { classes, amounts }]
}

/// Whether a user is below an owner: it is it, or is in the group, of which there is one level.
fn is_below(user: User<'_>, owner: Owner) -> bool {
    owner == Owner::User(user.index()) || user.group().is_some_and(|group| owner == Owner::Group(group))
}

/// Whether limits are kept, and what others reserve is left.
fn quotas_are_kept(instance: &Instance, servers: &[ServerTasks]) -> bool {
    let mut class_of = Vec::new();
    for (l, class) in instance.classes().iter().enumerate() {
        class_of.extend(vec![ClassId(l); class.count as usize]);
    }
    let units =
        |amount: &QuotaAmount<'_>| amount.amount.scaled(instance.unit_exponent(amount.resource)).unwrap();
    let covers = |amount: &QuotaAmount<'_>, class: ClassId| {
        amount.classes.is_none_or(|classes| classes.contains(&class))
    };
    let taken = |amount: &QuotaAmount<'_>, counts: &dyn Fn(User<'_>) -> bool| -> u128 {
        let of_server = |(class, tasks): (&ClassId, &ServerTasks)| -> u128 {
            let counted = tasks.iter().map(|(user, count)| (instance.user(UserId(*user as usize)), *count));
            let counted = counted.filter(|(user, _)| covers(amount, *class) && counts(*user));
            counted.map(|(user, count)| user.demand_units(amount.resource) * u128::from(count)).sum()
        };
        class_of.iter().zip(servers).map(of_server).sum()
    };
    instance.quotas().iter().all(|(owner, quota)| {
        quota.limited().all(|limit| taken(&limit, &|user| is_below(user, *owner)) <= units(&limit))
            && quota.reserved().all(|reserve| {
                let mut kept = reserved_together(instance, *owner, &reserve).into_iter();
                kept.all(|kept| taken(&reserve, &|user| kept.holds(user)) <= kept.left)
            })
    })
}

/// The rules that a placement breaks, `limits` among them.
pub(crate) fn all_broken(instance: &Instance, servers: &[ServerTasks]) -> BTreeSet<&'static str> {
    let mut found = broken(instance, servers);
    if !quotas_are_kept(instance, servers) {
        found.insert("limits");
    }
    found
}

/// Whether so many more tasks of a user have room somewhere, by trying all ways.
fn has_room(instance: &Instance, servers: &mut [ServerTasks], user: u32, tasks: u64, from: usize) -> bool {
    if tasks == 0 {
        return all_broken(instance, servers).is_empty();
    }
    (from..servers.len()).any(|server| {
        put(&mut servers[server], user);
        let found = has_room(instance, servers, user, tasks - 1, server);
        take(&mut servers[server], user);
        found
    })
}

fn is_full(instance: &Instance, placement: &Placement) -> Option<usize> {
    instance.users().map(|user| user.index().0).find(|user| {
        let next = instance.user(UserId(*user)).gang().map_or(1, |gang| gang.tasks);
        has_room(instance, &mut placement.servers.clone(), *user as u32, next, 0)
    })
}

/// The properties that fail of a placement as `place` writes it.
fn refused_of_file(instance: &Instance, policy: &str) -> Vec<String> {
    let options = PlaceOptions { policy: policy.into(), ..PlaceOptions::default() };
    let placed = place(instance, &options, &Control::none()).unwrap();
    let bytes = serde_json::to_vec(&placed.document(instance, true)).unwrap();
    let verified =
        verify(instance, ResultFile::new("p.json".into(), bytes).unwrap(), &Control::none()).unwrap();
    let failing = verified.verdicts.into_iter().filter(|verdict| !verdict.holds);
    failing.map(|verdict| format!("{verdict:?}")).collect()
}

#[test]
fn policies_keep_rules_and_quotas_and_stop_when_nobodys_next_gang_has_room() {
    let mut random = Random::new(27, 1);
    let (mut gangs, mut held, mut full) = (0, 0, 0);
    for case in 0..800 {
        let (with_devices, may_cross) = (case % 4 == 0, case % 4 == 1);
        let instance = with_quotas(&mut random, with_devices, may_cross, case % 3 == 0);
        for policy in policies(with_devices) {
            let placement = policy.place(&instance).unwrap();
            let found = all_broken(&instance, &placement.servers);
            assert!(found.is_empty(), "case {case}, {} breaks {found:?}: {placement:?}", policy.name());
            let has_gangs = |user: &User<'_>| user.gang().is_some() && placement.tasks[user.index().0] > 0;
            gangs += instance.users().filter(has_gangs).count();
            // Where tasks keep their devices, what has room depends on these; where limits cross, on who went where.
            if with_devices || may_cross || policy.name().contains("slots") {
                continue;
            }
            let room = is_full(&instance, &placement);
            assert_eq!(room, None, "case {case}, {}: a user has room, {placement:?}", policy.name());
            full += 1;
            let has_a_server = |user: &User<'_>| {
                let mut servers = placement.servers.clone();
                let (next, user) = (user.gang().map_or(1, |gang| gang.tasks), user.index().0 as u32);
                (0..servers.len()).any(|at| {
                    (0..next).for_each(|_| put(&mut servers[at], user));
                    let fits = broken(&instance, &servers).is_empty();
                    (0..next).for_each(|_| take(&mut servers[at], user));
                    fits
                })
            };
            held += instance.users().filter(has_a_server).count();
        }
    }
    assert!(gangs > 1000 && held > 500 && full > 1500, "{gangs} gangs, {held} held by quotas, {full} full");
}

#[test]
fn the_checker_refuses_exactly_the_rules_and_quotas_that_are_broken() {
    let mut random = Random::new(27, 2);
    let (mut alone, mut kept) = (BTreeSet::new(), 0);
    for case in 0..600 {
        let instance = with_quotas(&mut random, case % 3 == 0, case % 2 == 0, false);
        let mut servers = policy("random", case).unwrap().place(&instance).unwrap().servers;
        for _ in 0..8 {
            let user = random.below(instance.user_count() as u64) as u32;
            let [from, to] = [(); 2].map(|()| random.below(servers.len() as u64) as usize);
            match random.below(3) {
                0 => put(&mut servers[to], user),
                1 => take(&mut servers[from], user),
                _ if servers[from].iter().any(|(other, _)| *other == user) => {
                    take(&mut servers[from], user);
                    put(&mut servers[to], user);
                }
                _ => {}
            }
            let mut tasks = vec![0; instance.user_count()];
            servers.iter().flatten().for_each(|(user, count)| tasks[*user as usize] += count);
            let claim = PlacementClaim { tasks: &tasks, servers: &servers, printed: None };
            let failed = verify_placement(&instance, &claim).into_iter().filter(|verdict| !verdict.holds);
            let refused: BTreeSet<&str> = failed.map(|verdict| verdict.property).collect();
            let expected = all_broken(&instance, &servers);
            assert_eq!(refused, expected, "case {case}: {servers:?}");
            if expected.len() == 1 {
                alone.extend(expected);
            } else if expected.is_empty() {
                kept += 1;
            }
        }
    }
    for rule in ["limits", "gangs", "gangs-in-domains", "spread", "per-server"] {
        assert!(alone.contains(rule), "{rule} is nowhere the only one broken: {alone:?}");
    }
    assert!(kept > 300, "only {kept} placements keep everything");
}

#[test]
fn what_is_stated_of_placements_with_gangs_under_quotas_is_recounted_alike() {
    let mut random = Random::new(27, 3);
    let mut short = 0;
    for case in 0..150 {
        let instance = with_quotas(&mut random, case % 4 == 0, case % 2 == 0, true);
        for policy in ["best-fit", "pattern"] {
            let failed = refused_of_file(&instance, policy);
            assert!(failed.is_empty(), "case {case}, {policy}: {failed:?}");
        }
        let options = PlaceOptions::default();
        let kept = place(&instance, &options, &Control::none()).unwrap().figures.guarantees;
        short += kept.map_or(0, |kept| kept.guarantees - kept.kept);
    }
    assert!(short > 3, "{short} guarantees are not kept");
}

#[test]
fn of_whole_tasks_a_failure_takes_what_the_policy_no_longer_places_and_what_has_no_room() {
    let mut random = Random::new(27, 6);
    let (mut lost, mut short, mut unreserved) = (0, 0, 0);
    for case in 0..150 {
        let with_devices = case % 3 == 0;
        let instance = with_quotas(&mut random, with_devices, false, case % 2 == 0);
        let placing = PlaceOptions::default();
        let before = place(&instance, &placing, &Control::none()).unwrap().placement.tasks;
        let options =
            LoseOptions { servers: Some(1), whole: Some(placing.clone()), ..LoseOptions::default() };
        let told = losses(&instance, &options, &Control::none()).unwrap();
        assert_eq!(told.tasks, Some(before.iter().sum()));
        assert_eq!(told.losses.len(), instance.classes().iter().filter(|class| class.count > 0).count());
        for loss in &told.losses {
            let mut draft = Draft::from(&instance).measured_as(&instance);
            let class = draft.classes.iter_mut().find(|class| class.id == loss.class).unwrap();
            class.set_count(class.count - 1);
            let variant = match draft.build() {
                Ok(variant) => variant,
                // What nobody can have any more, and reserves of more than there is.
                Err(problem) => {
                    let is_gone = problem.to_string().contains("no server has any");
                    assert!(is_gone || loss.not_kept.is_some(), "case {case}: {problem}, {loss:?}");
                    unreserved += u32::from(!is_gone);
                    continue;
                }
            };
            let then = place(&variant, &placing, &Control::none()).unwrap().placement;
            let found = all_broken(&variant, &then.servers);
            assert!(found.is_empty(), "case {case} breaks {found:?}: {then:?}");
            if !with_devices {
                assert_eq!(is_full(&variant, &then), None, "case {case}: a user has room, {then:?}");
            }
            let fewer: Vec<u64> = before.iter().zip(&then.tasks).map(|(b, a)| b.saturating_sub(*a)).collect();
            let stated = (loss.tasks, loss.tasks_lost, loss.losing as u64);
            let losing = fewer.iter().filter(|fewer| **fewer > 0).count() as u64;
            assert_eq!(
                stated,
                (Some(then.tasks.iter().sum()), Some(fewer.iter().sum()), losing),
                "case {case}"
            );
            for loser in &loss.losers {
                let user = instance.user_named(&loser.id).unwrap().0;
                assert_eq!(loser.tasks_lost, Some(fewer[user]), "case {case}: {loser:?}");
            }
            lost += losing;
            short += loss.short.len();
        }
    }
    assert!(
        lost > 200 && short > 5 && unreserved > 0,
        "{lost} lose, {short} are short, {unreserved} unreserved"
    );
}

#[test]
fn what_rules_and_limits_leave_of_any_placement_keeps_them_all_and_is_filled_up() {
    let mut random = Random::new(27, 4);
    for case in 0..600 {
        let (with_devices, may_cross) = (case % 3 == 0, case % 3 == 1);
        let instance = with_quotas(&mut random, with_devices, may_cross, false);
        let along = scattered(&mut random, &instance);
        let placement = place_along(&instance, &along, None, &Deadline::never()).unwrap();
        let found = all_broken(&instance, &placement.servers);
        assert!(found.is_empty(), "case {case} breaks {found:?}: {along:?}, {placement:?}");
        if !with_devices && !may_cross {
            assert_eq!(is_full(&instance, &placement), None, "case {case}: a user has room, {placement:?}");
        }
    }
}

/// All ways to fill servers one after the other that keep what is inside each and no limit breaks on the way; `None` if there are too many.
pub(crate) fn all_placements(instance: &Instance) -> Option<Vec<Vec<ServerTasks>>> {
    let inside = ["capacity", "devices", "eligibility", "per-server", "task-limits", "limits"];
    let count = instance.server_count() as usize;
    let mut ways: Vec<Vec<ServerTasks>> = vec![vec![ServerTasks::new(); count]];
    for server in 0..count {
        for user in 0..instance.user_count() as u32 {
            let mut next = Vec::new();
            for mut servers in ways {
                while all_broken(instance, &servers).iter().all(|rule| !inside.contains(rule)) {
                    next.push(servers.clone());
                    put(&mut servers[server], user);
                }
            }
            if next.len() > 3_000 {
                return None;
            }
            ways = next;
        }
    }
    ways.retain(|servers| all_broken(instance, servers).is_empty());
    Some(ways)
}

#[test]
fn no_placement_under_rules_and_quotas_is_above_its_bound_and_patterns_are_no_worse_than_best_fit() {
    let mut random = Random::new(27, 5);
    let (mut tried, mut best_found, mut better) = (0, 0, 0);
    let (mut levels, mut closed) = (0, 0);
    for case in 0..160 {
        let instance = with_quotas(&mut random, case % 3 == 0, case % 2 == 0, case % 5 == 0);
        let Some(ways) = all_placements(&instance) else { continue };
        tried += 1;
        let found = bound(&instance, &BoundOptions::default(), &Control::none()).unwrap();
        let (counted, bracket) = (found.divisible.counted(&instance), found.bracket);
        let tasks = |servers: &Vec<ServerTasks>| {
            let mut tasks = vec![0; instance.user_count()];
            servers.iter().flatten().for_each(|(user, count)| tasks[*user as usize] += count);
            tasks
        };
        let figures = |servers: &Vec<ServerTasks>| {
            PlacementFigures::new(&counted, &Placement { tasks: tasks(servers), servers: servers.clone() })
        };
        let value = |servers: &Vec<ServerTasks>| figures(servers).value;
        let keeping: Vec<_> =
            ways.iter().filter(|way| keeps_guarantees_of_users(&counted, &tasks(way))).collect();
        let best = keeping.iter().map(|way| value(way)).fold(0.0, f64::max);
        let stated = stated_bounds(&counted, &bracket, None);
        assert!(best <= stated.upper * (1.0 + 1e-9), "case {case}: {best} above {stated:?}");
        assert!(stated.lower <= best * (1.0 + 1e-9), "case {case}: {stated:?} above {best}");
        best_found += u32::from(stated.lower >= best * (1.0 - 1e-9));
        // Whoever a limit holds does not count in the level of a placement, so it may not in the bound.
        let level = |servers: &Vec<ServerTasks>| figures(servers).level.unwrap_or(f64::INFINITY);
        let highest = keeping.iter().map(|way| level(way)).fold(0.0, f64::max);
        if let Some(most) = stated.level_upper {
            levels += u32::from(instance.has_limits());
            assert!(highest <= most * (1.0 + 1e-9), "case {case}: a level of {highest} above {stated:?}");
        }
        let placed = level(&bracket.placement.servers);
        assert!(
            stated.level_lower.is_none_or(|lower| lower == placed),
            "case {case}: {stated:?}, placed {placed}"
        );
        if stated.proved_optimal {
            closed += u32::from(instance.has_limits());
            assert!(
                placed >= highest * (1.0 - 1e-9),
                "case {case}: {placed} is said to be best, {highest} can be had"
            );
        }
        let [pattern, best_fit] = ["pattern", "best-fit"].map(|policy| {
            let options = PlaceOptions { policy: policy.into(), ..PlaceOptions::default() };
            let placed = place(&instance, &options, &Control::none()).unwrap();
            let found = all_broken(&instance, &placed.placement.servers);
            assert!(found.is_empty(), "case {case}, {policy} breaks {found:?}: {:?}", placed.placement);
            // Whom a limit of its group holds may have nothing at the highest level.
            level(&placed.placement.servers)
        });
        assert!(pattern >= best_fit * (1.0 - 1e-9), "case {case}: {pattern} and {best_fit} by best-fit");
        better += u32::from(pattern > best_fit * (1.0 + 1e-9));
        let taken = |servers: &Vec<ServerTasks>| -> u128 {
            let units = |(user, count): &(u32, u64)| {
                instance.user(UserId(*user as usize)).demand_units(CPU) * u128::from(*count)
            };
            servers.iter().flatten().map(units).sum()
        };
        let most = ways.iter().map(taken).max().unwrap();
        let allocated = bound_allocated(&instance, "cpu", &Control::none()).unwrap().bracket;
        assert!(most <= allocated.upper, "case {case}: {most} above {}", allocated.upper);
        let filled = allocate_most(&instance, "cpu", &Control::none()).unwrap();
        for placement in [&allocated.placement, &filled] {
            let found = all_broken(&instance, &placement.servers);
            assert!(found.is_empty(), "case {case} breaks {found:?}: {placement:?}");
            assert!(taken(&placement.servers) <= most, "case {case}: {placement:?}, at most {most}");
        }
    }
    assert!(tried > 40 && 2 * best_found > tried, "{best_found} of {tried} are best, {better} better");
    assert!(levels > 12 && closed > 8, "levels under limits: {levels} bounded, {closed} proved highest");
}

/// Two servers of four cpu in either of two racks; a worker of one cpu in gangs, and another user.
fn racks(gang: Gang, quota: Quota) -> Instance {
    let cpu = |cpu: u32| vec![cpu.into()];
    let mut builder = InstanceBuilder::new("", vec!["cpu".into()]).unwrap();
    for rack in ["r1", "r2"] {
        let class = ServerClass { domain: Some(rack.into()), ..ServerClass::new(rack, 2, cpu(4)) };
        builder.class(class).unwrap();
    }
    let worker = builder.user(NewUser::new("worker", &cpu(1))).unwrap();
    builder.gang(worker, gang).unwrap();
    builder.user(NewUser { tasks: Some(4), ..NewUser::new("other", &cpu(1)) }).unwrap();
    builder.quota(Owner::User(worker), quota).unwrap();
    builder.build().unwrap()
}

fn cores(cores: u32) -> ResourceAmounts {
    vec![(CPU, cores.into())]
}

#[test]
fn a_gang_in_one_domain_goes_where_its_limits_leave_room_for_all_of_it() {
    let quota = Quota { limits: over(vec![ClassId(0)], cores(2)), ..Quota::default() };
    let instance = racks(Gang { tasks: 3, in_one_domain: true }, quota.clone());
    for policy in policies(false).iter().filter(|policy| !policy.name().contains("slots")) {
        let placement = policy.place(&instance).unwrap();
        let of_worker = |(user, count): &(u32, u64)| if *user == 0 { *count } else { 0 };
        let in_rack = |rack: &[ServerTasks]| rack.iter().flatten().map(of_worker).sum::<u64>();
        let [first, second] = [&placement.servers[..2], &placement.servers[2..]].map(in_rack);
        assert_eq!(first, 0, "{}: two are no gang", policy.name());
        assert!(second >= 3 && second % 3 == 0, "{}: {placement:?}", policy.name());
    }
    // Over both racks two and six are two gangs of four.
    let instance = racks(Gang { tasks: 4, in_one_domain: false }, quota);
    assert_eq!(policy("first-fit", 0).unwrap().place(&instance).unwrap().tasks, [8, 4]);
}

#[test]
fn a_limit_below_a_gang_lets_none_of_it_run_and_it_is_said_who_and_why() {
    let instance =
        racks(Gang { tasks: 4, in_one_domain: false }, Quota { limit: cores(3), ..Quota::default() });
    let placed = place(&instance, &PlaceOptions::default(), &Control::none()).unwrap();
    assert_eq!(placed.placement.tasks, [0, 4]);
    assert_eq!(placed.figures.level, None, "whoever wants more is held by a limit");
    let warnings: Vec<_> =
        lint(&instance).into_iter().filter(|w| w.kind == WarningKind::GangAboveLimit).collect();
    let said = "limits have no room for a whole gang of user worker, of 4 tasks: none of its tasks is placed";
    assert_eq!(warnings.iter().map(|warning| &*warning.message).collect::<Vec<_>>(), [said]);
    let enough =
        racks(Gang { tasks: 4, in_one_domain: false }, Quota { limit: cores(7), ..Quota::default() });
    assert_eq!(
        policy("best-fit", 0).unwrap().place(&enough).unwrap().tasks,
        [4, 4],
        "three more are no gang"
    );
    assert!(lint(&enough).iter().all(|warning| warning.kind != WarningKind::GangAboveLimit));
}

#[test]
fn a_guarantee_of_less_than_another_gang_is_kept() {
    let sure = |cpu: u32| {
        let quota = Quota { guarantee: cores(cpu), limit: cores(cpu), ..Quota::default() };
        let instance = racks(Gang { tasks: 4, in_one_domain: false }, quota);
        let placed = place(&instance, &PlaceOptions::default(), &Control::none()).unwrap();
        (placed.placement.tasks[0], placed.figures.guarantees.unwrap().kept)
    };
    assert_eq!([sure(3), sure(4), sure(7), sure(8)], [(0, 1), (4, 1), (4, 1), (8, 1)]);
}
