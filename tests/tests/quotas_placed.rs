//! Whole tasks under guarantees, limits and reserves: against filling written from the rules alone, and against what must hold of any
//! placement.

use fairplan_analysis::Judgement;
use fairplan_heuristics::{FirstFit, PlacementPolicy, policy};
use fairplan_instances::{
    ClassId, Instance, Kind, KindId, Owner, Placement, PlacementFigures, QuotaAmount, ResourceId, User,
    UserId,
};
use fairplan_tests::{
    Draft, Fraction, owners_of as owners, random_kinds_under_limits, random_kinds_under_quotas,
    random_kinds_under_quotas_of_classes, random_tree_with_limits, random_tree_with_quotas_of_classes,
    reserved_together,
};
use fairplan_verify::{PlacementClaim, verify_placement};

/// Whether a piece may be on a class, beside what is there.
type MayHave = fn(&Naive<'_>, Kind<'_>, ClassId) -> bool;

/// A cluster that is filled piece by piece, all of it looked at for each; a task without kinds is one piece.
#[derive(Clone)]
struct Naive<'a> {
    instance: &'a Instance,
    free: Vec<Vec<u128>>,
    class_of: Vec<ClassId>,
    /// All pieces, each with its class.
    pieces: Vec<(KindId, ClassId)>,
    placement: Placement,
}

impl<'a> Naive<'a> {
    fn new(instance: &'a Instance) -> Self {
        let counts = instance.classes().iter().enumerate();
        let class_of: Vec<ClassId> =
            counts.flat_map(|(l, class)| (0..class.count).map(move |_| ClassId(l))).collect();
        let resources = || (0..instance.resources().len()).map(ResourceId);
        let free = |class: &ClassId| resources().map(|r| instance.capacity_units(*class, r)).collect();
        Self {
            instance,
            free: class_of.iter().map(free).collect(),
            pieces: Vec::new(),
            placement: Placement {
                tasks: vec![0; instance.user_count()],
                servers: vec![Vec::new(); class_of.len()],
            },
            class_of,
        }
    }

    /// What the pieces of those of whom `counts` says so take of an amount.
    fn taken(&self, amount: &QuotaAmount<'_>, counts: impl Fn(User<'_>) -> bool) -> u128 {
        let there = self.pieces.iter().filter(|(kind, class)| {
            let user = self.instance.kind(*kind).user();
            counts(user) && amount.classes.is_none_or(|classes| classes.contains(class))
        });
        there.map(|(kind, _)| self.instance.kind(*kind).piece_units(amount.resource)).sum()
    }

    fn units(&self, amount: &QuotaAmount<'_>) -> u128 {
        amount.amount.scaled(self.instance.unit_exponent(amount.resource)).unwrap()
    }

    /// Whether one more piece on a class is within all limits above its user and leaves what others reserve.
    fn is_within(&self, kind: Kind<'_>, class: ClassId) -> bool {
        let mine = owners(kind.user());
        let covers = |amount: &QuotaAmount<'_>| amount.classes.is_none_or(|classes| classes.contains(&class));
        self.instance.quotas().iter().all(|(owner, quota)| {
            let is_below = |other: User<'_>| owners(other).contains(owner);
            let needs = |amount: &QuotaAmount<'_>| kind.piece_units(amount.resource) > 0 && covers(amount);
            let limited = quota.limited().filter(|_| mine.contains(owner)).filter(needs);
            let mut limited = limited.map(|limit| {
                self.taken(&limit, is_below) + kind.piece_units(limit.resource) <= self.units(&limit)
            });
            let mut reserved = quota.reserved().filter(needs).map(|reserve| {
                let mut kept = reserved_together(self.instance, *owner, &reserve).into_iter();
                let more = kind.piece_units(reserve.resource);
                kept.all(|kept| {
                    let taken = || self.taken(&reserve, |user| kept.holds(user));
                    !kept.holds(kind.user()) || taken() + more <= kept.left
                })
            });
            limited.all(|is| is) && reserved.all(|is| is)
        })
    }

    /// Whether one more piece on a class is within what its user, or a group that it is in, is guaranteed of what it needs.
    fn is_guaranteed(&self, kind: Kind<'_>, class: ClassId) -> bool {
        let user = kind.user();
        owners(user).into_iter().any(|owner| {
            let Some(quota) = self.instance.quota_of(owner) else { return false };
            if quota.guaranteed().all(|sure| user.demand_units(sure.resource) == 0) {
                return false;
            }
            let needed: Vec<QuotaAmount<'_>> =
                quota.guaranteed().filter(|sure| kind.piece_units(sure.resource) > 0).collect();
            let covers = |sure: &QuotaAmount<'_>| sure.classes.is_none_or(|classes| classes.contains(&class));
            let is_there = |sure: &QuotaAmount<'_>| {
                needed.iter().any(|other| other.resource == sure.resource && covers(other))
            };
            let is_below = |other: User<'_>| owners(other).contains(&owner);
            let has_room = |sure: &QuotaAmount<'_>| {
                !covers(sure)
                    || self.taken(sure, is_below) + kind.piece_units(sure.resource) <= self.units(sure)
            };
            needed.iter().all(|sure| is_there(sure) && has_room(sure))
        })
    }

    fn fits(&self, kind: Kind<'_>, server: usize) -> bool {
        let class = self.class_of[server];
        let resources = (0..self.instance.resources().len()).map(ResourceId);
        kind.rule().allows(class)
            && resources.into_iter().all(|r| kind.piece_units(r) <= self.free[server][r.0])
            && self.is_within(kind, class)
    }

    /// Whether all limits and reserves are kept.
    fn are_quotas_kept(&self) -> bool {
        self.instance.quotas().iter().all(|(owner, quota)| {
            let is_below = |user: User<'_>| owners(user).contains(owner);
            let mut limited = quota.limited();
            let mut reserved = quota.reserved();
            limited.all(|limit| self.taken(&limit, is_below) <= self.units(&limit))
                && reserved.all(|reserve| {
                    let mut kept = reserved_together(self.instance, *owner, &reserve).into_iter();
                    kept.all(|kept| self.taken(&reserve, |user| kept.holds(user)) <= kept.left)
                })
        })
    }

    fn put(&mut self, kind: Kind<'_>, server: usize) {
        for (r, free) in self.free[server].iter_mut().enumerate() {
            *free -= kind.piece_units(ResourceId(r));
        }
        self.pieces.push((kind.index(), self.class_of[server]));
        let (there, key) = (&mut self.placement.servers[server], kind.index().0 as u32);
        match there.binary_search_by_key(&key, |(kind, _)| *kind) {
            Ok(at) => there[at].1 += 1,
            Err(at) => there.insert(at, (key, 1)),
        }
    }

    /// The cluster with one more task, each piece where there is room first, always of the kind of which the smallest part is there.
    fn with_task(&self, user: User<'_>, may_have: MayHave) -> Option<Self> {
        let mut with = self.clone();
        let kinds: Vec<Kind<'_>> = user.kinds().collect();
        let mut has = vec![0; kinds.len()];
        loop {
            let missing = (0..kinds.len()).filter(|k| has[*k] < kinds[*k].each());
            let Some(k) = missing.min_by_key(|k| Fraction::new(has[*k], kinds[*k].each())) else { break };
            let server = (0..with.class_of.len()).find(|server| {
                with.fits(kinds[k], *server) && may_have(&with, kinds[k], with.class_of[*server])
            })?;
            with.put(kinds[k], server);
            has[k] += 1;
        }
        with.placement.tasks[user.index().0] += 1;
        Some(with)
    }

    fn has_tasks_left(&self, user: User<'_>) -> bool {
        user.tasks().is_none_or(|tasks| self.placement.tasks[user.index().0] < tasks)
    }

    /// Gives the lowest share a task where there is room first, again and again, of those that may have one there.
    fn fill(&mut self, may_have: MayHave) {
        let instance = self.instance;
        let mut left: Vec<bool> = vec![false; instance.user_count()];
        loop {
            let share = |user: User<'_>| {
                let r = user.dominant_resource();
                let tasks = Fraction::from(self.placement.tasks[user.index().0]);
                let one = Fraction::new(user.demand_units(r), instance.total_units(r));
                &(&tasks * &one) / &Fraction::from(user.weight())
            };
            let there = instance.users().filter(|user| !left[user.index().0]);
            let Some(user) = there.min_by_key(|user| (share(*user), user.index().0)) else { return };
            let next = self.has_tasks_left(user).then(|| self.with_task(user, may_have)).flatten();
            match next {
                Some(next) => *self = next,
                None => left[user.index().0] = true,
            }
        }
    }
}

/// A small cluster in which the tasks are not too many for filling one by one.
pub(crate) fn small(mut draft: Draft) -> Option<Instance> {
    draft.users.iter_mut().for_each(|user| user.rates.clear());
    draft.classes.iter_mut().for_each(|class| class.set_count(class.count.min(3)));
    draft.fit_quotas();
    let instance = draft.build().ok()?;
    let most = |user: User<'_>| {
        let of = |class: usize| {
            let on = |r: usize| match user.demand_units(ResourceId(r)) {
                0 => u128::MAX,
                units => instance.capacity_units(ClassId(class), ResourceId(r)) / units,
            };
            let fitting = (0..instance.resources().len()).map(on).min().unwrap_or(0);
            fitting * u128::from(instance.classes()[class].count)
        };
        (0..instance.classes().len()).map(of).max().unwrap_or(0)
    };
    let is_small = instance.users().all(|user| most(user) <= 200);
    (is_small && !instance.quotas().is_empty()).then_some(instance)
}

#[test]
fn first_fit_keeps_quotas_task_for_task_as_filling_by_the_rules_does() {
    first_fit_is_filling_by_the_rules(random_tree_with_quotas_of_classes);
}

#[test]
fn first_fit_keeps_quotas_of_users_with_kinds_as_filling_by_the_rules_does() {
    first_fit_is_filling_by_the_rules(random_kinds_under_limits);
    first_fit_is_filling_by_the_rules(random_kinds_under_quotas);
    first_fit_is_filling_by_the_rules(random_kinds_under_quotas_of_classes);
}

fn first_fit_is_filling_by_the_rules(random: fn(u64) -> Draft) {
    let (mut tried, mut otherwise) = (0, 0);
    for seed in 0..400 {
        let mut draft = random(seed);
        // Users side by side.
        draft.quotas.retain(|quota| !quota.is_group);
        draft.groups.clear();
        draft.users.iter_mut().for_each(|user| user.group = None);
        let plain = Draft { quotas: Vec::new(), ..draft.clone() };
        let Some(instance) = small(draft) else { continue };
        let mut naive = Naive::new(&instance);
        naive.fill(|naive, kind, class| naive.is_guaranteed(kind, class));
        naive.fill(|_, _, _| true);
        let placement = FirstFit.place(&instance).unwrap();
        assert_eq!(placement, naive.placement, "seed {seed}");
        tried += 1;
        let mut plain = Draft { classes: Draft::from(&instance).classes, ..plain };
        plain.users.iter_mut().for_each(|user| user.rates.clear());
        otherwise += u64::from(FirstFit.place(&plain.build().unwrap()).unwrap() != placement);
    }
    assert!(tried > 60 && 8 * otherwise > tried, "{otherwise} of {tried} are otherwise than without quotas");
}

#[test]
fn every_policy_keeps_limits_and_reserves_and_leaves_no_room_that_somebody_may_have() {
    let mut tried = 0;
    for seed in 0..150 {
        let random = match seed % 4 {
            0 => random_tree_with_limits,
            1 => random_tree_with_quotas_of_classes,
            2 => random_kinds_under_limits,
            _ => random_kinds_under_quotas_of_classes,
        };
        let Some(instance) = small(random(seed)) else { continue };
        tried += 1;
        for name in ["best-fit", "first-fit", "worst-fit", "dot-product", "random"] {
            let placement = policy(name, seed).unwrap().place(&instance).unwrap();
            let verdicts = verify_placement(&instance, &PlacementClaim::from(&placement));
            let failures: Vec<_> = verdicts.iter().filter(|verdict| !verdict.holds).collect();
            assert!(failures.is_empty(), "seed {seed}, {name}: {failures:?}");
            let mut naive = Naive::new(&instance);
            for (server, tasks) in placement.servers.iter().enumerate() {
                for (kind, count) in tasks {
                    (0..*count).for_each(|_| naive.put(instance.kind(KindId(*kind as usize)), server));
                }
            }
            naive.placement = placement;
            assert!(naive.are_quotas_kept(), "seed {seed}, {name}");
            // Pieces of a task may find room in another order.
            let plain = |user: &User<'_>| !user.has_kinds() && naive.has_tasks_left(*user);
            for kind in instance.users().filter(plain).flat_map(User::kinds) {
                let room = (0..naive.class_of.len()).find(|server| naive.fits(kind, *server));
                assert_eq!(room, None, "seed {seed}, {name}: user {} has room", kind.user().id());
            }
        }
    }
    assert!(tried > 60, "{tried}");
}

#[test]
fn a_placement_above_a_limit_or_into_a_reserve_is_seen_and_who_is_held_by_one_is_not_of_the_level() {
    let mut builder = fairplan_instances::InstanceBuilder::new("", vec!["cpu".into()]).unwrap();
    let cores = |cores: u32| vec![fairplan_instances::Decimal::from(cores)];
    builder.class(fairplan_instances::ServerClass::new("a", 1, cores(8))).unwrap();
    for id in ["held", "other", "owner"] {
        builder.user(fairplan_instances::NewUser::new(id, &cores(1))).unwrap();
    }
    let amount = |cores: u32| vec![(ResourceId(0), fairplan_instances::Decimal::from(cores))];
    let quota = fairplan_instances::Quota { limit: amount(1), ..Default::default() };
    builder.quota(Owner::User(UserId(0)), quota).unwrap();
    let quota = fairplan_instances::Quota { reserve: amount(4), ..Default::default() };
    builder.quota(Owner::User(UserId(2)), quota).unwrap();
    let instance = builder.build().unwrap();
    let limits = |tasks: [u64; 3]| {
        let servers = vec![(0..3).map(|i| (i, tasks[i as usize])).filter(|(_, count)| *count > 0).collect()];
        let placement = Placement { tasks: tasks.to_vec(), servers };
        let verdicts = verify_placement(&instance, &PlacementClaim::from(&placement));
        let holds = verdicts.iter().find(|verdict| verdict.property == "limits").unwrap().holds;
        let judged = Judgement::new(&instance, &placement, Vec::new());
        assert_eq!(judged.is_valid(), holds);
        let told: Vec<String> = judged.over_limits.into_iter().map(|over| over.owner).collect();
        (holds, PlacementFigures::new(&instance, &placement).level, told)
    };
    assert_eq!(limits([1, 3, 4]), (true, Some(3.0 / 8.0), vec![]));
    assert_eq!(limits([2, 2, 4]).2, ["user held"], "above its limit of one");
    assert_eq!(limits([1, 4, 3]).2, ["user owner"], "five of the four that are not reserved");
    assert_eq!(limits([0, 4, 4]), (true, Some(0.0), vec![]), "who has less than its limit wants more");
}
