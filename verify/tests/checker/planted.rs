//! Instances built around an optimum: prices and tasks first, capacities and weights so that they are optimal.
//!
//! Level 0 is priced in `r0` and `r1`, differently in every class; level 1 in `r2`, alike everywhere; `r3` is
//! plentiful. Tasks run only where they are cheapest; priced capacities are just used up; weights make the
//! shares of each level equal. By complementary slackness this is the lexicographic optimum.

use crate::{Statement, assert_accepted, cluster, decimals};
use fairplan_instances::{
    Allocation, ClassId, Decimal, Instance, InstanceBuilder, Level, LimitedBy, NewUser, PlacementRule, RuleId,
};
use fairplan_verify::Tasks;
use proptest::prelude::*;

const RESOURCES: usize = 4;
/// The weighted shares of the two levels.
const VALUES: [f64; 2] = [0.125, 0.375];
/// Room that solvers leave so that rounded products still fit.
const MARGIN: f64 = 1.0 - 1e-13;

/// An instance with its optimum.
#[derive(Clone, Debug)]
pub struct Planted {
    pub instance: Instance,
    pub statement: Statement,
}

/// Which instances to plant.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Kind {
    /// One level, no task limits, eligible classes or rates.
    Plain,
    /// Anything.
    Mixed,
    /// Anything with users that only level 1 holds.
    TwoLevels,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Fate {
    Held,
    OutOfTasks,
    Stranded,
}

/// A user before there is an instance.
#[derive(Clone, Debug)]
struct Draft {
    demand: [u64; RESOURCES],
    tasks: Vec<u64>,
    eligible: Vec<bool>,
    /// Where a task does the work of two.
    fast: Vec<bool>,
    fate: Fate,
}

impl Draft {
    /// Only level 1 prices what the user needs.
    fn is_late(&self) -> bool {
        self.demand[0] + self.demand[1] == 0
    }

    fn rate(&self, class: usize) -> u64 {
        if self.fast[class] { 2 } else { 1 }
    }

    /// Twice the cost of a unit of work on a class, on both levels.
    fn costs(&self, class: usize, prices: &[[u64; 2]]) -> [u64; 2] {
        let [p0, p1] = prices[class];
        [self.demand[0] * p0 + self.demand[1] * p1, self.demand[2]].map(|cost| 2 * cost / self.rate(class))
    }

    /// The classes that are cheapest on both levels.
    fn cheapest(&self, prices: &[[u64; 2]]) -> Vec<usize> {
        let open = || (0..prices.len()).filter(|&l| self.eligible[l]);
        let least = |k: usize| open().map(|l| self.costs(l, prices)[k]).min();
        open().filter(|&l| (0..2).all(|k| Some(self.costs(l, prices)[k]) == least(k))).collect()
    }

    /// Keeps tasks only where they are cheapest, and some tasks.
    fn settle(&mut self, prices: &[[u64; 2]]) {
        if !self.eligible.contains(&true) {
            self.eligible[0] = true;
        }
        if self.fate == Fate::OutOfTasks || self.cheapest(prices).is_empty() {
            // Without rates every class costs the same on level 1.
            self.fast.fill(false);
        }
        let cheapest = self.cheapest(prices);
        for (class, tasks) in self.tasks.iter_mut().enumerate() {
            *tasks *= u64::from(cheapest.contains(&class));
        }
        if self.tasks.iter().all(|tasks| *tasks == 0) {
            self.tasks[cheapest[0]] = 3;
        }
        if self.fate == Fate::Stranded {
            self.tasks.fill(0);
            self.demand = [0, 0, 0, 1];
        }
    }

    fn work(&self) -> u64 {
        (0..self.tasks.len()).map(|class| self.tasks[class] * self.rate(class)).sum()
    }

    fn rule(&self, builder: &mut InstanceBuilder) -> RuleId {
        let of =
            |flags: &[bool]| (0..flags.len()).filter(|&class| flags[class]).map(ClassId).collect::<Vec<_>>();
        let eligible = match self.fate {
            Fate::Stranded => Some(Vec::new()),
            _ => self.eligible.contains(&false).then(|| of(&self.eligible)),
        };
        let two = Decimal::new(2, 0).unwrap();
        let rates = of(&self.fast).into_iter().map(|class| (class, two)).collect();
        builder.rule(PlacementRule::new(eligible, rates))
    }
}

/// Random planted optima.
pub fn planted(kind: Kind) -> impl Strategy<Value = Planted> {
    (1usize..4, 2usize..8).prop_flat_map(move |(classes, users)| planted_of_size(kind, classes, users))
}

/// Random planted optima with so many classes and users.
pub fn planted_of_size(kind: Kind, classes: usize, users: usize) -> impl Strategy<Value = Planted> {
    let plain = kind == Kind::Plain;
    let fate = if plain {
        Just(Fate::Held).boxed()
    } else {
        prop_oneof![6 => Just(Fate::Held), 2 => Just(Fate::OutOfTasks), 1 => Just(Fate::Stranded)].boxed()
    };
    let flags = |p: f64| prop::collection::vec(prop::bool::weighted(p), classes);
    let (eligible, fast) = if plain { (flags(1.0), flags(0.0)) } else { (flags(0.8), flags(0.2)) };
    let tasks = prop::collection::vec(0u64..6, classes);
    let user = (prop::array::uniform4(0u64..10), tasks, eligible, fast, fate).prop_map(
        move |(mut demand, tasks, eligible, fast, fate)| {
            if demand[0] + demand[1] == 0 && (plain || demand[2] == 0) {
                demand[0] = 1;
            }
            Draft { demand, tasks, eligible, fast, fate }
        },
    );
    let users = prop::collection::vec(user, users).prop_map(move |mut users| {
        // Somebody is always held on level 0.
        users[0].fate = Fate::Held;
        users[0].demand[0] = users[0].demand[0].max(1);
        if kind == Kind::TwoLevels {
            users[1].fate = Fate::Held;
            users[1].demand = [0, 0, 3, users[1].demand[3]];
        }
        users
    });
    let prices = prop::collection::vec([1u64..9, 1u64..9], classes);
    (prices, users, 1u64..100).prop_map(|(prices, users, spare)| plant(&prices, users, 1000 * spare))
}

fn plant(prices: &[[u64; 2]], mut users: Vec<Draft>, spare: u64) -> Planted {
    let classes = prices.len();
    users.iter_mut().for_each(|user| user.settle(prices));
    let load = |l: usize, r: usize| users.iter().map(|user| user.tasks[l] * user.demand[r]).sum::<u64>();
    let capacities: Vec<Vec<u64>> = (0..classes)
        .map(|l| (0..RESOURCES).map(|r| load(l, r) + if r == 3 { spare } else { 0 }).collect())
        .collect();
    let total = |r: usize| capacities.iter().map(|capacity| capacity[r]).sum::<u64>();
    let task_share = |user: &Draft| {
        let needed = (0..RESOURCES).filter(|&r| user.demand[r] > 0);
        needed.map(|r| user.demand[r] as f64 / total(r) as f64).fold(0.0, f64::max)
    };
    // What level would hold the user, and its weighted share: users out of tasks have half that of their level,
    // which on level 1 is still above level 0.
    let level = |user: &Draft| usize::from(user.is_late() && user.fate != Fate::Stranded);
    let weighted = |user: &Draft| VALUES[level(user)] / if user.fate == Fate::OutOfTasks { 2.0 } else { 1.0 };

    let whole = |numbers: &[u64]| -> Vec<Decimal> {
        numbers.iter().map(|number| Decimal::new(*number, 0).unwrap()).collect()
    };
    let mut builder = cluster(&capacities.iter().map(|capacity| whole(capacity)).collect::<Vec<_>>());
    for (i, user) in users.iter().enumerate() {
        let share = task_share(user) * user.work() as f64;
        let weight =
            if share > 0.0 { Decimal::from_f64(share / weighted(user)).unwrap() } else { Decimal::ONE };
        let tasks = (user.fate == Fate::OutOfTasks).then(|| user.tasks.iter().sum());
        let rule = user.rule(&mut builder);
        builder
            .user(NewUser {
                id: &format!("u{i}"),
                demand: &whole(&user.demand),
                weight,
                tasks,
                rule,
                group: None,
            })
            .unwrap();
    }
    let instance = builder.build().unwrap();

    let two_levels = users.iter().any(|user| user.fate == Fate::Held && user.is_late());
    let levels = (0..if two_levels { 2 } else { 1 }).map(|k| {
        let active = |user: &&Draft| match user.fate {
            Fate::Held => level(user) >= k,
            Fate::OutOfTasks => level(user) > k,
            Fate::Stranded => false,
        };
        // Σ w y over the active users, where w y = share/value · cost/δ = work · cost / value.
        let scale: f64 = (users.iter().filter(active))
            .map(|user| {
                let cost = user.costs(user.cheapest(prices)[0], prices)[k] as f64 / 2.0;
                cost * user.work() as f64 / weighted(user)
            })
            .sum();
        let price = |l: usize, r: usize| match (k, r) {
            _ if capacities[l][r] == 0 => 0.0,
            (0, 0 | 1) => prices[l][r] as f64 / scale,
            (1, 2) => 1.0 / scale,
            _ => 0.0,
        };
        let prices = (0..classes * RESOURCES).map(|i| price(i / RESOURCES, i % RESOURCES)).collect();
        Level { value: VALUES[k] * MARGIN, bound: VALUES[k], prices, limit_prices: Vec::new() }
    });
    let statement = Statement::of(
        &instance,
        users.iter().flat_map(|user| user.tasks.iter().map(|tasks| *tasks as f64 * MARGIN)).collect(),
        levels.collect(),
        users.iter().map(|user| level(user) as u32).collect(),
        users
            .iter()
            .map(|user| match user.fate {
                Fate::Held => LimitedBy::Capacity,
                Fate::OutOfTasks => LimitedBy::Tasks,
                Fate::Stranded => LimitedBy::NoUsableClass,
            })
            .collect(),
    );
    Planted { instance, statement }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn planted_optima_are_accepted_from_files_and_from_memory(planted in planted(Kind::Mixed)) {
        assert_accepted(&planted.statement.check(&planted.instance));
        assert_accepted(&planted.statement.check_in_memory(&planted.instance));
    }
}

#[test]
fn shared_splits_are_judged_like_their_products() {
    let mut builder = cluster(&[decimals(&["3", "3"]), decimals(&["1", "1"])]);
    for id in ["u", "v"] {
        builder.user(NewUser::new(id, &decimals(&["1", "0.5"]))).unwrap();
    }
    let instance = builder.build().unwrap();
    let allocation = Allocation::new(2, vec![2.0, 2.0], vec![0, 0], vec![0.75, 0.25]);
    let level =
        Level { value: 0.5, bound: 0.5, prices: vec![0.125, 0.0, 0.125, 0.0], limit_prices: Vec::new() };
    let (level_of, limited_by) = (vec![0; 2], vec![LimitedBy::Capacity; 2]);
    let statement = Statement::of(&instance, vec![1.5, 0.5, 1.5, 0.5], vec![level], level_of, limited_by);
    assert_accepted(&statement.check_as(&instance, Tasks::Allocation(&allocation), true));
}
