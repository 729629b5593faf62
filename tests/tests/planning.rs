//! Purchases against all counts tried one by one in exact arithmetic; what servers are worth, what is lost, what grows.

use fairplan_analysis::{Failure, Followed, differences, growth, losses, worth_of_servers};
use fairplan_heuristics::policy;
use fairplan_instances::{
    Catalog, ClassId, Decimal, DemandSeriesBuilder, Draft, Instance, Label, Objective, Offer, QuantumLabel,
    ResourceId, StatedTarget, Target, UserId, generate,
};
use fairplan_solver::{Planner, backend};
use fairplan_tests::{Dice, Tableau, decimal, draft, random_draft, with_capacity};
use fairplan_verify::least_cost;
use num_bigint::BigInt;
use std::collections::HashSet;

/// The most servers of a type that the oracle tries.
const MOST: u64 = 4;

/// A catalog of up to three types with small whole prices: more of a class, like a class, or new.
fn random_catalog(dice: &mut Dice, instance: &Instance) -> Catalog {
    let offers = (0..1 + dice.below(3)).map(|t| {
        let class = &instance.classes()[dice.below(instance.classes().len() as u64) as usize];
        let digits =
            (0..instance.resources().len()).map(|_| Decimal::new(1 + dice.below(9), 0).unwrap()).collect();
        let (id, capacity, like) = match dice.below(3) {
            0 if t == 0 && class.capacity.iter().any(|c| !c.is_zero()) => (class.id.clone(), None, None),
            1 => (format!("type-{t}"), Some(digits), Some(class.id.clone())),
            _ => (format!("type-{t}"), Some(digits), None),
        };
        let limit = Some(dice.below(MOST + 1));
        Offer {
            id,
            capacity,
            price: Decimal::new(1 + dice.below(9), 0).unwrap(),
            limit,
            like,
            ..Offer::default()
        }
    });
    let offers = offers.collect();
    Catalog::new(instance, String::new(), String::new(), offers).unwrap()
}

/// All counts within the limits, the cheapest first.
fn all_counts(catalog: &Catalog) -> Vec<Vec<u64>> {
    let mut all = vec![vec![]];
    for kind in &catalog.types {
        let longer = |counts: &Vec<u64>| -> Vec<Vec<u64>> {
            (0..=kind.limit.unwrap()).map(|n| [counts.as_slice(), &[n]].concat()).collect()
        };
        all = all.iter().flat_map(longer).collect();
    }
    all.sort_by(|a, b| catalog.cost(a).total_cmp(&catalog.cost(b)));
    all
}

/// Whether every user can do its work, by the exact simplex. Numbers are small and whole, rates halves.
fn is_enough(cluster: &Draft, required: &[u64]) -> bool {
    let whole = |x: Decimal| BigInt::from(x.scaled(-1).unwrap());
    let (slots, users) = (cluster.classes.len(), required.len());
    let theta = users * slots;
    let row = || vec![BigInt::ZERO; theta + 1];
    let mut rows = Vec::new();
    for (s, class) in cluster.classes.iter().enumerate() {
        for (r, capacity) in class.capacity.iter().enumerate() {
            let mut usage = row();
            for (i, user) in cluster.users.iter().enumerate() {
                usage[i * slots + s] = whole(user.demand[r]);
            }
            rows.push((usage, whole(*capacity) * class.count));
        }
    }
    for (i, user) in cluster.users.iter().enumerate() {
        let mut work = row();
        for s in 0..slots {
            let rate =
                user.rates.iter().find(|(class, _)| *class == s).map_or(Decimal::ONE, |(_, rate)| *rate);
            let allowed = user.eligible.as_ref().is_none_or(|eligible| eligible.contains(&s));
            work[i * slots + s] = if allowed { -whole(rate) } else { BigInt::ZERO };
        }
        work[theta] = BigInt::from(10 * required[i]);
        rows.push((work, BigInt::ZERO));
    }
    let mut one = row();
    one[theta] = BigInt::from(1);
    rows.push((one, BigInt::from(1)));
    Tableau::new(theta + 1, rows).maximise(theta).to_f64() == 1.0
}

/// Random small cases: an instance without task limits, a catalog, what is asked for.
fn case(seed: u64) -> (Instance, Catalog, Vec<u64>) {
    let mut dice = Dice::new(seed ^ 0x9a7);
    let mut draft = random_draft(seed);
    draft.users.truncate(4);
    draft.users.iter_mut().for_each(|user| user.tasks = None);
    let instance = draft.build().unwrap_or_else(|_| generate::drfh_fig1().unwrap());
    let catalog = random_catalog(&mut dice, &instance);
    let required = (0..instance.user_count()).map(|_| dice.below(9)).collect();
    (instance, catalog, required)
}

fn doubles(required: &[u64]) -> Vec<f64> {
    required.iter().map(|work| *work as f64).collect()
}

#[test]
fn the_cheapest_purchase_costs_what_the_cheapest_of_all_counts_costs() {
    let solver = backend("auto").unwrap();
    let (mut bought, mut unreachable, mut tight) = (0, 0, 0);
    let mut dice = Dice::new(0x9a8);
    for seed in 0..400 {
        let (instance, catalog, required) = case(seed);
        let mut planner =
            Planner::new(&instance, &catalog, doubles(&required), false, None, &*solver).unwrap();
        let found = planner.cheapest(1.0).unwrap();
        let all = all_counts(&catalog);
        let best = all.iter().find(|counts| is_enough(&catalog.added_to(&instance, counts, true), &required));
        let told = || format!("seed {seed}: {found:?}, exactly {best:?}, {catalog:?}, {required:?}");
        match (&found, best) {
            (Some(purchase), Some(best)) => {
                assert_eq!(purchase.cost, catalog.cost(best), "{}", told());
                assert_eq!(purchase.gap(), 0.0, "{}", told());
                assert!(
                    is_enough(&catalog.added_to(&instance, &purchase.counts, true), &required),
                    "{}",
                    told()
                );
                bought += usize::from(purchase.cost > 0.0);
                let prices = planner.prices().unwrap();
                let proved =
                    |prices: &[Vec<f64>]| least_cost(&instance, &catalog, &doubles(&required), false, prices);
                let least = proved(&prices);
                assert!(least <= purchase.cost, "{least} proved {}", told());
                tight += usize::from(purchase.cost > 0.0 && least > purchase.cost * (1.0 - 1e-9));
                // Whatever the prices are, they never prove too much.
                for _ in 0..5 {
                    let any: Vec<Vec<f64>> = prices
                        .iter()
                        .map(|row| row.iter().map(|p| p * dice.below(4) as f64).collect())
                        .collect();
                    assert!(proved(&any) <= purchase.cost, "{any:?} {}", told());
                }
            }
            (None, None) => {
                unreachable += 1;
                let obstacle = planner.obstacle().unwrap();
                assert!(obstacle.part < 1.0 && required[obstacle.user.0] > 0, "{obstacle:?} {}", told());
            }
            _ => panic!("{}", told()),
        }
    }
    assert!(bought >= 40 && unreachable > 60, "{bought} bought, {unreachable} unreachable");
    assert!(3 * tight >= bought, "prices alone prove {tight} of {bought} the cheapest");
}

#[test]
fn what_is_enough_at_each_of_several_times_costs_what_the_cheapest_of_all_counts_that_are_costs() {
    let solver = backend("auto").unwrap();
    let (mut bought, mut unreachable, mut less) = (0, 0, 0);
    let mut dice = Dice::new(0x9a9);
    for seed in 0..200 {
        let (instance, catalog, first) = case(seed);
        let mut times = vec![first];
        for _ in 0..2 {
            times.push(times[0].iter().map(|work| dice.below(2 * work + 2)).collect());
        }
        let planner = |required: &[u64]| {
            Planner::new(&instance, &catalog, doubles(required), false, None, &*solver).unwrap()
        };
        let others = times[1..].iter().map(|required| doubles(required)).collect();
        let found = planner(&times[0]).and_in_turn(others).cheapest(1.0).unwrap();
        let all = all_counts(&catalog);
        let is_enough_at_all = |counts: &&Vec<u64>| {
            let cluster = catalog.added_to(&instance, counts, true);
            times.iter().all(|required| is_enough(&cluster, required))
        };
        let best = all.iter().find(is_enough_at_all);
        let told = || format!("seed {seed}: {found:?}, exactly {best:?}, {catalog:?}, {times:?}");
        match (&found, best) {
            (Some(purchase), Some(best)) => {
                assert_eq!(purchase.cost, catalog.cost(best), "{}", told());
                assert!(is_enough_at_all(&&purchase.counts) && purchase.gap() == 0.0, "{}", told());
                bought += usize::from(purchase.cost > 0.0);
                let most = |i: usize| times.iter().map(|required| required[i]).max().unwrap();
                let at_once: Vec<u64> = (0..times[0].len()).map(most).collect();
                let at_once = planner(&at_once).cheapest(1.0).unwrap();
                less += usize::from(at_once.is_none_or(|all| all.cost > purchase.cost));
            }
            (None, None) => unreachable += 1,
            _ => panic!("{}", told()),
        }
    }
    let told =
        format!("{bought} bought, {less} for less than for the most at once, {unreachable} unreachable");
    assert!(bought >= 10 && less >= 5 && unreachable >= 10, "{told}");
}

#[test]
fn a_budget_reaches_the_largest_part_that_any_counts_within_it_reach() {
    let solver = backend("auto").unwrap();
    for seed in 1000..1120 {
        let (instance, catalog, required) = case(seed);
        let budget = 6.0;
        let mut planner =
            Planner::new(&instance, &catalog, doubles(&required), false, Some(budget), &*solver).unwrap();
        let (purchase, bound) = planner.largest_part(1.0).unwrap();
        assert!(purchase.cost <= budget + 1e-9);
        let mut best = 0.0f64;
        for counts in all_counts(&catalog).iter().filter(|counts| catalog.cost(counts) <= budget) {
            best = best.max(planner.part_with(counts).unwrap().min(1.0));
        }
        assert!(
            (purchase.part - best).abs() < 1e-7 && bound > best - 1e-7,
            "seed {seed}: {purchase:?} {best}"
        );
    }
}

/// Whether whole tasks fit, by all ways to fill all servers.
fn whole_tasks_fit(instance: &Instance, required: &[u64]) -> bool {
    let m = instance.resources().len();
    let mut reached: HashSet<Vec<u64>> = HashSet::from([vec![0; required.len()]]);
    for (l, class) in instance.classes().iter().enumerate() {
        let room: Vec<u128> = (0..m).map(|r| instance.capacity_units(ClassId(l), ResourceId(r))).collect();
        let mut contents: HashSet<Vec<u64>> = HashSet::new();
        let mut open = vec![(vec![0u64; required.len()], room)];
        while let Some((tasks, room)) = open.pop() {
            for user in instance.users() {
                let demand: Vec<u128> = (0..m).map(|r| user.demand_units(ResourceId(r))).collect();
                let i = user.index().0;
                if user.rule().allows(ClassId(l))
                    && tasks[i] < required[i]
                    && tasks[i + 1..].iter().all(|later| *later == 0)
                    && demand.iter().zip(&room).all(|(d, c)| d <= c)
                {
                    let mut more = tasks.clone();
                    more[i] += 1;
                    open.push((more, room.iter().zip(&demand).map(|(c, d)| c - d).collect()));
                }
            }
            contents.insert(tasks);
        }
        for _ in 0..class.count {
            let after = |before: &Vec<u64>| -> Vec<Vec<u64>> {
                let sum = |content: &Vec<u64>| -> Vec<u64> {
                    (0..required.len()).map(|i| (before[i] + content[i]).min(required[i])).collect()
                };
                contents.iter().map(sum).collect()
            };
            reached = reached.iter().flat_map(after).collect();
        }
    }
    reached.contains(required)
}

#[test]
fn a_purchase_for_whole_tasks_is_placed_and_is_rarely_dearer_than_the_best() {
    let solver = backend("auto").unwrap();
    let (mut cases, mut best_of) = (0, 0);
    for seed in 2000..2150 {
        let mut dice = Dice::new(seed);
        let mut small = draft(&[(1, "4 4")], &["1 2", "2 1", "3 3"]);
        small.users.truncate(1 + dice.below(3) as usize);
        for user in &mut small.users {
            user.demand = (0..2).map(|_| Decimal::new(1 + dice.below(4), 0).unwrap()).collect();
        }
        let instance = small.build().unwrap();
        let catalog = random_catalog(&mut dice, &instance);
        let required: Vec<u64> = (0..instance.user_count()).map(|_| dice.below(4)).collect();
        let all = all_counts(&catalog);
        let fits = |counts: &Vec<u64>| {
            whole_tasks_fit(&catalog.added_to(&instance, counts, true).build().unwrap(), &required)
        };
        let best = all.iter().find(|counts| fits(counts));
        let mut planner =
            Planner::new(&instance, &catalog, doubles(&required), true, None, &*solver).unwrap();
        let mut place = |variant: &Instance, _| Ok(policy("best-fit", 0).unwrap().place(variant).unwrap());
        match (planner.cheapest_of_whole_tasks(&mut place), best) {
            (Ok(Ok((purchase, placement))), Some(best)) => {
                assert!(fits(&purchase.counts), "seed {seed}");
                assert!(placement.tasks.iter().zip(&required).all(|(placed, needed)| placed >= needed));
                assert!(
                    purchase.bound <= catalog.cost(best) && purchase.cost >= catalog.cost(best),
                    "seed {seed}"
                );
                cases += 1;
                best_of += usize::from(purchase.cost == catalog.cost(best));
            }
            // Limits may leave room that one policy does not find.
            (Err(_) | Ok(Err(_)), None) => {}
            (Ok(Err(obstacle)), Some(_)) if obstacle.kept_out.is_some() => {}
            // Nobody is left to place anything of.
            (Err(_), Some(_)) if required.iter().all(|tasks| *tasks == 0) => {}
            (found, best) => panic!("seed {seed}: {found:?} {best:?}"),
        }
    }
    assert!(cases > 60 && best_of * 10 > cases * 9, "{best_of} of {cases}");
}

#[test]
fn a_purchase_under_limits_a_server_and_spread_is_the_best_of_all_counts() {
    let solver = backend("auto").unwrap();
    for seed in 0..200 {
        let mut dice = Dice::new(seed);
        let owned = [1 + dice.below(2), 1 + dice.below(2)];
        let mut two = draft(&[(owned[0], "4"), (owned[1], "7")], &["1"]);
        for (class, domain) in two.classes.iter_mut().zip(["a", "b"]) {
            class.domain = Some(domain.into());
        }
        let (per_server, spread, tasks) = (1 + dice.below(5), 1 + dice.below(3), 1 + dice.below(30));
        (two.users[0].per_server, two.users[0].spread) = (Some(per_server), Some(spread));
        let instance = two.build().unwrap();
        let prices = [1 + dice.below(6), 1 + dice.below(6)];
        let offers = instance.classes().iter().zip(prices).map(|(class, price)| Offer {
            id: class.id.clone(),
            price: Decimal::new(price, 0).unwrap(),
            ..Offer::default()
        });
        let catalog = Catalog::new(&instance, String::new(), String::new(), offers.collect()).unwrap();
        let fits = |bought: [u64; 2]| {
            let held =
                [(owned[0] + bought[0]) * per_server.min(4), (owned[1] + bought[1]) * per_server.min(7)];
            (0..=tasks).any(|x| x <= held[0] && tasks - x <= held[1] && x.abs_diff(tasks - x) <= spread)
        };
        let all = (0..=30).flat_map(|a| (0..=30).map(move |b| [a, b])).filter(|bought| fits(*bought));
        let best = all.map(|bought| bought[0] * prices[0] + bought[1] * prices[1]).min().unwrap();
        let mut planner =
            Planner::new(&instance, &catalog, vec![tasks as f64], true, None, &*solver).unwrap();
        let mut place = |variant: &Instance, _| Ok(policy("best-fit", 0).unwrap().place(variant).unwrap());
        let (purchase, _) = planner.cheapest_of_whole_tasks(&mut place).unwrap().unwrap();
        assert_eq!(purchase.cost, best as f64, "seed {seed}");
        // The bound is that of divided tasks, and so are the prices that prove it.
        let work = 4 * owned[0] + 7 * owned[1];
        let cheapest = f64::min(prices[0] as f64 / 4.0, prices[1] as f64 / 7.0);
        let divided = tasks.saturating_sub(work) as f64 * cheapest;
        let proved = least_cost(&instance, &catalog, &[tasks as f64], true, &planner.prices().unwrap());
        assert!(purchase.bound >= divided * (1.0 - 1e-6), "seed {seed}");
        assert!(proved >= divided * (1.0 - 1e-6) && proved <= purchase.cost * (1.0 + 1e-9), "seed {seed}");
    }
}

#[test]
fn servers_that_only_some_may_use_are_bought_for_those_that_need_them() {
    let mut draft = draft(&[(2, "4 0"), (1, "4 2")], &["1 0", "1 1"]);
    draft.users[1].eligible = Some(vec![1]);
    let instance = draft.build().unwrap();
    let offer = |id: &str, capacity: &[&str], price: &str, like: Option<&str>| Offer {
        id: id.into(),
        capacity: Some(capacity.iter().map(|x| decimal(x)).collect()),
        price: decimal(price),
        like: like.map(Into::into),
        ..Offer::default()
    };
    let offers =
        vec![offer("open", &["4", "4"], "1", None), offer("reserved", &["4", "4"], "3", Some("class-1"))];
    let catalog = Catalog::new(&instance, String::new(), String::new(), offers).unwrap();
    let solver = backend("auto").unwrap();
    let mut planner = Planner::new(&instance, &catalog, vec![20.0, 6.0], false, None, &*solver).unwrap();
    let purchase = planner.cheapest(1.0).unwrap().unwrap();
    // Four more tasks of user 1 fill one reserved server; of the 20 of user 0, 8 and 2 find room, 10 need three more.
    assert_eq!(purchase.counts, [3, 1], "{purchase:?}");
    assert_eq!((purchase.cost, purchase.gap()), (6.0, 0.0));
}

#[test]
fn an_unreachable_target_names_the_user_the_resource_and_what_would_do() {
    let instance = draft(&[(1, "10 10")], &["1 1", "1 4"]).build().unwrap();
    let offer = Offer {
        id: "cpu only".into(),
        capacity: Some(vec![decimal("10"), decimal("0")]),
        price: Decimal::ONE,
        ..Offer::default()
    };
    let catalog = Catalog::new(&instance, String::new(), String::new(), vec![offer]).unwrap();
    let solver = backend("auto").unwrap();
    let mut planner = Planner::new(&instance, &catalog, vec![4.0, 4.0], false, None, &*solver).unwrap();
    assert_eq!(planner.cheapest(1.0).unwrap(), None);
    let obstacle = planner.obstacle().unwrap();
    assert_eq!((obstacle.user, obstacle.resource, obstacle.nowhere), (UserId(1), ResourceId(1), false));
    // 4 + 16 of memory are asked for, there are 10: half of both, or 1.5 tasks of user 1.
    assert!((obstacle.part - 0.5).abs() < 1e-6, "{obstacle:?}");
    assert!((obstacle.own_part.unwrap() - 0.375).abs() < 1e-6, "{obstacle:?}");
    assert!(obstacle.held_nowhere.is_empty(), "each runs somewhere");
}

#[test]
fn whole_tasks_that_no_server_holds_are_named_with_the_server_that_comes_nearest() {
    // The first has memory for the task of user 1 and no cpu, the second lacks a quarter of the memory; user 2 may run on neither.
    let mut draft = draft(&[(1, "1 64"), (1, "16 36"), (0, "64 64")], &["1 1", "4 48", "1 1"]);
    draft.users[2].eligible = Some(vec![2]);
    let instance = draft.build().unwrap();
    let offer = |memory: &str, limit| {
        let (id, capacity) = (format!("type {memory}"), Some(vec![decimal("2"), decimal(memory)]));
        Offer { id, capacity, price: Decimal::ONE, limit, ..Offer::default() }
    };
    let obstacle = |offers: Vec<Offer>, whole| {
        let catalog = Catalog::new(&instance, String::new(), String::new(), offers).unwrap();
        let solver = backend("auto").unwrap();
        let required = vec![1.0, 2.0, 3.0];
        let mut planner = Planner::new(&instance, &catalog, required, whole, None, &*solver).unwrap();
        planner.obstacle().unwrap()
    };
    let told = obstacle(vec![offer("96", None)], true);
    let held: Vec<_> = told.held_nowhere.iter().map(|task| (task.user, task.resource, task.needs)).collect();
    assert_eq!(held, [(UserId(1), ResourceId(1), 48.0), (UserId(2), ResourceId(0), 1.0)], "{told:?}");
    assert!(told.nowhere && told.user == UserId(1) && told.resource == ResourceId(1));
    assert_eq!(told.held_nowhere[0].nearest, Some(("class-1".into(), 36.0)));
    assert_eq!(told.held_nowhere[1].nearest, None);
    // Divided at will, the task of user 1 runs.
    let users: Vec<UserId> =
        obstacle(vec![offer("96", None)], false).held_nowhere.iter().map(|task| task.user).collect();
    assert_eq!(users, [UserId(2)]);
}

/// Prices are slopes of a concave function, so no step gains more than they say; and a short step gains just that where
/// their range says that they hold.
#[test]
fn a_server_is_worth_what_solving_with_it_gains_and_never_more_than_its_price() {
    let solver = backend("auto").unwrap();
    let mut held = 0;
    for seed in 0..60 {
        let mut draft = random_draft(7_000 + seed);
        draft.users.iter_mut().for_each(|user| user.tasks = None);
        let Ok(instance) = draft.build() else { continue };
        let solution = solver.solve(&instance, Objective::Drfh).unwrap();
        let Some(value) = solution.certificate.levels().first().map(|level| level.value) else { continue };
        let worths = worth_of_servers(&instance, "", &solution, &*solver, seed < 15, &|_, _| ()).unwrap();
        for worth in worths.server_classes {
            assert!(worth.gain <= worth.by_price + 1e-7 * value, "seed {seed}: {worth:?}");
            for resource in &worth.resources {
                let price = resource.price;
                let by_price = price * resource.amount;
                assert!(resource.gain <= by_price + 1e-7 * value, "seed {seed}: {resource:?}");
                let Some((capacity, most)) = resource.capacity.zip(resource.most) else { continue };
                let l = instance.class_named(&worth.id).unwrap().0;
                let r = instance.resources().iter().position(|name| *name == resource.resource).unwrap();
                let little = decimal(&format!("{:.6}", resource.amount * 1.001));
                let more = with_capacity(&draft, (l, r), little, 1.0).build().unwrap();
                let there = solver.solve(&more, Objective::Drfh).unwrap().certificate.levels()[0].value;
                let slope = (there - value) / (0.001 * capacity);
                let tolerance = 2e-4 * value / capacity;
                assert!(slope <= price + tolerance, "seed {seed}: {resource:?} {slope}");
                if most > 1.002 * capacity {
                    assert!((slope - price).abs() <= tolerance, "seed {seed}: {resource:?} {slope}");
                    held += usize::from(price > 0.0);
                }
            }
        }
    }
    assert!(held > 10, "only {held} prices hold beyond where they were found");
    // Both kinds of server of Fig. 1 are worth the same by symmetry; their prices hold at no other capacity.
    let instance = generate::drfh_fig1().unwrap();
    let solution = solver.solve(&instance, Objective::Drfh).unwrap();
    let worths =
        worth_of_servers(&instance, "", &solution, &*solver, true, &|_, _| ()).unwrap().server_classes;
    assert!((worths[0].gain - worths[1].gain).abs() < 1e-8 && worths[0].gain > 0.0, "{worths:?}");
}

#[test]
fn the_loss_of_a_class_is_told_user_by_user_the_worst_first() {
    let mut draft = draft(&[(4, "10"), (1, "10")], &["1", "1"]);
    draft.users[1].eligible = Some(vec![1]);
    let instance = draft.build().unwrap();
    let solver = backend("auto").unwrap();
    let solution = solver.solve(&instance, Objective::Drfh).unwrap();
    let whole =
        losses(&instance, "", &solution, &*solver, &Failure::of_each_class(&instance, None)).unwrap().losses;
    assert_eq!(whole.iter().map(|loss| loss.class.as_str()).collect::<Vec<_>>(), ["class-1", "class-0"]);
    // User 1 has only class 1; without class 0, both share it.
    assert_eq!((whole[0].stranded, whole[0].losers.len(), &*whole[0].losers[0].id), (1, 1, "user-1"));
    assert_eq!(whole[1].losers[0].id, "user-0");
    assert!((whole[1].losers[0].part - 0.875).abs() < 1e-6, "{whole:?}");
    assert!((whole[1].losers[1].part - 0.5).abs() < 1e-6 && whole[1].losers.len() == 2);
    let one = losses(&instance, "", &solution, &*solver, &Failure::of_each_class(&instance, Some(1)))
        .unwrap()
        .losses;
    assert!((one[1].lost - 10.0 / 50.0).abs() < 1e-6 && one[1].servers == 1, "{one:?}");
    let all = draft_of_one_class();
    let solution = solver.solve(&all, Objective::Drfh).unwrap();
    assert_eq!(
        losses(&all, "", &solution, &*solver, &Failure::of_each_class(&all, None)).unwrap().losses[0]
            .stranded,
        2
    );
}

fn draft_of_one_class() -> Instance {
    draft(&[(1, "10 10")], &["1 2", "2 1"]).build().unwrap()
}

#[test]
fn growth_says_the_same_as_solving_every_quantum() {
    let solver = backend("auto").unwrap();
    let (mut missed, mut met) = (0, 0);
    for seed in 0..40 {
        let mut draft = random_draft(9_000 + seed);
        draft.users.iter_mut().for_each(|user| user.tasks = None);
        let Ok(instance) = draft.build() else { continue };
        let required: Vec<f64> = instance.users().map(|user| 0.1 / user.task_share()).collect();
        let mut dice = Dice::new(seed);
        let scales: Vec<f64> = (0..40 * required.len()).map(|_| dice.below(300) as f64 / 100.0).collect();
        let scale = |q: usize, i: usize| scales[q * required.len() + i];
        let mut series = DemandSeriesBuilder::default();
        series.user("all").unwrap();
        (0..40).for_each(|quantum| series.quantum(QuantumLabel::Number(quantum)).unwrap());
        let series = series.build().unwrap();
        let followed = Followed { series: &series, sha256: "", scaled_by: "user", base: 1, scale: &scale };
        let grown = growth(&instance, "", &required, StatedTarget::default(), &followed, &*solver).unwrap();
        let nothing = Offer {
            id: "none".into(),
            capacity: Some(vec![Decimal::ONE; instance.resources().len()]),
            price: Decimal::ONE,
            limit: Some(0),
            ..Offer::default()
        };
        let catalog = Catalog::new(&instance, String::new(), String::new(), vec![nothing]).unwrap();
        let part = |q: usize| {
            let asked = required.iter().enumerate().map(|(i, work)| work * scale(q, i)).collect();
            let mut planner = Planner::new(&instance, &catalog, asked, false, None, &*solver).unwrap();
            planner.part_with(&[0]).unwrap()
        };
        let parts: Vec<f64> = (0..40).map(part).collect();
        let expected: Vec<bool> = parts.iter().map(|part| *part < 1.0 - 1e-9).collect();
        let missed_there: Vec<bool> = grown.quanta.as_ref().unwrap().iter().map(|row| row.missed).collect();
        assert_eq!(missed_there, expected, "seed {seed}");
        // Where somebody can have none of its target, all of it is.
        let rows = grown.quanta.iter().flatten().zip(&parts);
        for (row, part) in rows.filter(|_| grown.part_at_one > 0.0) {
            let above = row.scale > grown.part_at_one * (1.0 + 1e-9);
            assert_eq!(above, row.missed, "seed {seed}: {row:?}, room for {}", grown.part_at_one);
            assert!(row.scale * part <= grown.part_at_one * (1.0 + 1e-7), "seed {seed}: {row:?}, {part}");
        }
        let first = expected.iter().position(|missed| *missed).map(|quantum| Label::Number(quantum as u64));
        assert_eq!(grown.first_missed.as_ref().map(|short| short.quantum.clone()), first);
        let least = parts.iter().copied().fold(f64::INFINITY, f64::min);
        assert!(
            (grown.tightest.as_ref().unwrap().part - least).abs() <= 1e-7 * (1.0 + least),
            "seed {seed}: {grown:?} {least}"
        );
        missed += expected.iter().filter(|missed| **missed).count();
        met += expected.iter().filter(|missed| !**missed).count();
    }
    assert!(missed > 200 && met > 200, "{missed} {met}");
}

#[test]
fn differences_name_what_changed_and_which_change_moved_whom() {
    let before = draft(&[(2, "10 10"), (1, "5 5")], &["1 1", "1 2", "2 1"]);
    let mut after = before.clone();
    after.classes[0].count = 3;
    after.classes[1].id = "new".into();
    after.users.remove(0);
    after.users[0].demand[1] = decimal("1");
    let solver = backend("auto").unwrap();
    let found = differences([&before.build().unwrap(), &after.build().unwrap()], [""; 2], &*solver).unwrap();
    let told: Vec<(&str, &str)> =
        found.server_classes.iter().map(|class| (class.id.as_str(), class.kind.as_str())).collect();
    assert_eq!(told, [("class-0", "changed"), ("class-1", "removed"), ("new", "added")]);
    assert_eq!(found.server_classes[0].changes, ["count 2 -> 3"]);
    let told: Vec<(&str, &str)> =
        found.changed_users.iter().map(|user| (user.id.as_str(), user.kind.as_str())).collect();
    assert_eq!(told, [("user-0", "removed"), ("user-1", "changed")]);
    assert_eq!(found.changed_users[1].changes, ["demand[1] 2 -> 1"]);
    assert_eq!(found.steps.len(), 5);
    // More servers, then one user fewer: everybody gains both times.
    assert_eq!((found.steps[1].gaining, found.steps[1].losing), (3, 0), "{found:?}");
    assert_eq!((found.steps[2].gaining, found.steps[2].losing), (2, 0), "{found:?}");
    assert_eq!((found.steps[4].gaining, found.steps[4].losing), (0, 0), "{found:?}");
    let again = differences([&before.build().unwrap(), &before.build().unwrap()], [""; 2], &*solver).unwrap();
    assert!(again.server_classes.is_empty() && again.changed_users.is_empty());
}

#[test]
fn a_target_share_is_measured_against_what_there_is_before_the_purchase() {
    let instance = generate::drfh_fig1().unwrap();
    let target = Target { share: Some(decimal("0.8")), ..Target::default() };
    let required = target.required(&instance).unwrap();
    let offer = Offer { id: "high-cpu".into(), price: Decimal::ONE, ..Offer::default() };
    let more = Offer { id: "high-memory".into(), ..offer.clone() };
    let catalog = Catalog::new(&instance, String::new(), String::new(), vec![offer, more]).unwrap();
    let solver = backend("auto").unwrap();
    let mut planner = Planner::new(&instance, &catalog, required, false, None, &*solver).unwrap();
    let room = planner.cheapest(1.0).unwrap().unwrap();
    let purchase = planner.cheapest_under_drfh().unwrap().unwrap();
    assert!(room.cost <= purchase.cost && purchase.bound <= room.cost + 1e-9, "{room:?} {purchase:?}");
    let after = catalog.added_to(&instance, &purchase.counts, false).build().unwrap();
    let solution = solver.solve(&after, Objective::Drfh).unwrap();
    // 0.8 of today's 14 of each resource are 11.2 tasks of each user.
    for i in 0..2 {
        assert!(solution.allocation.tasks(UserId(i)) >= 11.2 * (1.0 - 1e-9));
    }
    assert!(solution.certificate.levels()[0].value < 0.8, "of the larger totals it is less");
}
