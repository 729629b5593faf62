//! Families of random instances that differ in kind, to measure how often an answer is not proved: plain ones of all sizes,
//! Google's servers, odd ones that mix whatever a model allows, and such under quotas.

use crate::dice::Dice;
use crate::quota_families::{ending, queues, quotas};
use crate::{
    Draft, DraftUser, decimal, plain_user, random_draft_without_rates, random_kinds_under_quotas_of_classes,
    with_random_kinds,
};
use fairplan_instances::generate::{Cluster, PopulationKind, PopulationOptions, population};
use fairplan_instances::{Decimal, DemandSeries, DemandSeriesBuilder, Instance, QuantumLabel, ServerClass};
use std::collections::BTreeSet;

/// A family: its name, what it holds, and the instance of a seed.
pub struct Family {
    /// The name on the command line and in tables.
    pub name: &'static str,
    /// What its instances are, in a line.
    pub about: &'static str,
    /// The instance of a seed; the same seed gives the same instance.
    pub instance: fn(u64) -> Instance,
}

/// All families, the plainest first.
pub const FAMILIES: [Family; 11] = [
    Family {
        name: "plain",
        about: "300 to 30,000 users, 3 to 6 resources, 5 to 50 classes, uniform demands and capacities",
        instance: plain,
    },
    Family {
        name: "small",
        about: "2 to 300 users, 1 to 6 resources, 1 to 12 classes, uniform demands and capacities",
        instance: small,
    },
    Family {
        name: "google",
        about: "100 to 10,000 users of every kind of population over Google's classes",
        instance: google,
    },
    Family {
        name: "odd",
        about: "1 to 100 users, each oddity in a third: magnitudes 1e-9 to 1e12, zeros, weights and rates far apart, few tasks",
        instance: odd,
    },
    Family {
        name: "restricted",
        about: "210 to 400 users who may run on 1 to 4 of 50 classes, round numbers in even seeds and four digits in odd ones",
        instance: restricted,
    },
    Family { name: "tiny", about: "the same with 1 to 3 users on 1 to 3 classes", instance: tiny },
    Family {
        name: "kinds",
        about: "up to 6 users, most with up to three kinds of tasks, digits, a third with weights of 0.001 to 100",
        instance: kinds,
    },
    Family {
        name: "trees",
        about: "up to 6 users with kinds in up to five groups, under limits, guarantees and reserves over all classes or some",
        instance: trees,
    },
    Family {
        name: "quotas",
        about: "20 to 500 users, half of the instances with up to three kinds, some limited and some guaranteed",
        instance: quotas,
    },
    Family {
        name: "ending",
        about: "3 to 200 users limited to or guaranteed what pf (odd seeds: alpha=2) gives them without, in 6, 9 or 12 digits",
        instance: ending,
    },
    Family {
        name: "queues",
        about: "3 to 60 queues in up to 8 groups, guaranteed whole units that are all there is",
        instance: queues,
    },
];

/// The instance of a seed without limits on tasks, and demands in tasks for a few quanta.
pub fn with_demands(family: &Family, seed: u64) -> (Instance, DemandSeries) {
    let mut dice = Dice::new(seed ^ 0x0006_0000_0000);
    let mut draft = Draft::from(&(family.instance)(seed));
    // The demands say how many tasks there are.
    draft.users.iter_mut().for_each(|user| user.tasks = None);
    let instance = draft.build().expect("limits can be left out");
    let mut series = DemandSeriesBuilder::default();
    for user in instance.users() {
        series.user(user.id()).expect("names of an instance differ");
    }
    let most = dice.pick(&[1, 9, 1_000, 1_000_000]);
    for quantum in 0..1 + dice.below(6) {
        series.quantum(QuantumLabel::Number(quantum)).expect("numbers rise");
        for user in 0..instance.user_count() {
            let tasks = if dice.percent(30) { 0 } else { dice.below(most + 1) };
            series.demand(user, tasks).expect("the user is known");
        }
    }
    (instance, series.build().expect("there are quanta"))
}

/// The family of this name.
pub fn family(name: &str) -> Option<&'static Family> {
    FAMILIES.iter().find(|family| family.name == name)
}

/// So many users with uniform demands and classes with uniform capacities, no two of them alike.
pub fn unlike_classes(users: u64, classes: u64, resources: u64, seed: u64) -> Instance {
    uniform(&mut Dice::new(seed ^ 0x0007_0000_0000), users, resources, classes)
}

fn plain(seed: u64) -> Instance {
    let mut dice = Dice::new(seed ^ 0x0001_0000_0000);
    let (users, resources) = (spread(&mut dice, 300, 30_000), 3 + dice.below(4));
    let classes = 5 + dice.below(46);
    uniform(&mut dice, users, resources, classes)
}

fn small(seed: u64) -> Instance {
    let mut dice = Dice::new(seed ^ 0x0002_0000_0000);
    let (users, resources) = (spread(&mut dice, 2, 300), 1 + dice.below(6));
    let classes = 1 + dice.below(12);
    uniform(&mut dice, users, resources, classes)
}

/// Uniform demands, 0.001 to 1, on classes of 1 to 100 servers of uniform capacities, 1 to 64.
pub(crate) fn uniform(dice: &mut Dice, users: u64, resources: u64, classes: u64) -> Instance {
    let mut drawn = |unit: &str, least: u64, most: u64| -> Vec<Decimal> {
        let number = |_| decimal(&format!("{}{unit}", least + dice.below(most - least + 1)));
        (0..resources).map(number).collect()
    };
    let capacities: Vec<Vec<Decimal>> = (0..classes).map(|_| drawn("e-3", 1_000, 64_000)).collect();
    let demands: Vec<Vec<Decimal>> = (0..users).map(|_| drawn("e-6", 1_000, 1_000_000)).collect();
    let classes = capacities.into_iter().enumerate();
    let draft = Draft {
        device_profiles: Vec::new(),
        name: "uniform".into(),
        resources: (0..resources).map(|r| format!("r{r}")).collect(),
        classes: classes
            .map(|(l, capacity)| ServerClass::new(format!("c{l}"), 1 + dice.below(100), capacity))
            .collect(),
        groups: Vec::new(),
        users: demands.into_iter().enumerate().map(|(i, demand)| plain_user(i, demand)).collect(),
        quotas: Vec::new(),
        measured_by: None,
    };
    draft.build().expect("what is uniform breaks no rule")
}

fn google(seed: u64) -> Instance {
    let mut dice = Dice::new(seed ^ 0x0003_0000_0000);
    let kinds =
        [PopulationKind::Spread, PopulationKind::Alike, PopulationKind::Zeros, PopulationKind::Weighted];
    let cluster = dice.pick(&[Cluster::Google, Cluster::Google, Cluster::Distinct { servers: 300 }]);
    let options =
        PopulationOptions { kind: dice.pick(&kinds), users: spread(&mut dice, 100, 10_000), cluster, seed };
    population(&options).expect("a population breaks no rule")
}

fn restricted(seed: u64) -> Instance {
    const CLASSES: u64 = 50;
    let mut dice = Dice::new(seed ^ 0x000b_0000_0000);
    let is_round = seed.is_multiple_of(2);
    // One of the round numbers, or four digits from a thousandth of `most` on.
    let number = |dice: &mut Dice, round: &[&str], most: u64| match is_round {
        true => decimal(dice.pick(round)),
        false => {
            let digits = dice.pick(&[90, 900, 9_000]);
            decimal(&format!("{}e-3", most * (digits / 9 + dice.below(digits))))
        }
    };
    let classes = (0..CLASSES)
        .map(|l| {
            let cpu = number(&mut dice, &["8", "16", "32", "64"], 10);
            let memory = number(&mut dice, &["32", "64", "128", "256"], 10);
            ServerClass::new(format!("c{l}"), 3 + dice.below(15), vec![cpu, memory])
        })
        .collect();
    let users = (0..210 + dice.below(191) as usize)
        .map(|i| {
            let cpu = number(&mut dice, &["0.5", "1", "2", "4"], 1);
            let memory = number(&mut dice, &["1", "2", "4", "8", "16"], 1);
            let eligible: BTreeSet<usize> =
                (0..1 + dice.below(4)).map(|_| dice.below(CLASSES) as usize).collect();
            DraftUser { eligible: Some(eligible.into_iter().collect()), ..plain_user(i, vec![cpu, memory]) }
        })
        .collect();
    let draft = Draft {
        device_profiles: Vec::new(),
        name: "restricted".into(),
        resources: vec!["cpu".into(), "memory".into()],
        classes,
        groups: Vec::new(),
        users,
        quotas: Vec::new(),
        measured_by: None,
    };
    draft.build().expect("users who may run somewhere break no rule")
}

fn odd(seed: u64) -> Instance {
    let mut dice = Dice::new(seed ^ 0x0004_0000_0000);
    built(&mut dice, |dice| {
        let users = dice.pick(&[1, 2, 3, 5, 8, 15, 30, 100]);
        let (classes, resources) = (dice.pick(&[1, 2, 3, 5, 10, 20]), dice.pick(&[1, 2, 2, 3, 4, 6, 30]));
        draw(dice, users, classes, resources)
    })
}

fn tiny(seed: u64) -> Instance {
    let mut dice = Dice::new(seed ^ 0x0005_0000_0000);
    built(&mut dice, |dice| {
        let (users, classes) = (dice.pick(&[1, 2, 2, 3]), dice.pick(&[1, 1, 2, 3]));
        let resources = dice.pick(&[1, 2, 2, 3]);
        draw(dice, users, classes, resources)
    })
}

fn kinds(seed: u64) -> Instance {
    let mut dice = Dice::new(seed ^ 0x0008_0000_0000);
    let mut draft = with_random_kinds(random_draft_without_rates(seed), seed);
    for user in &mut draft.users {
        if dice.percent(33) {
            user.weight = decimal(dice.pick(&["0.001", "0.5", "10", "100"]));
        }
    }
    draft.build().expect("weights above zero break no rule")
}

fn trees(seed: u64) -> Instance {
    // Of so many seeds one at least breaks no rule.
    let drawn = (0..).map(|k| random_kinds_under_quotas_of_classes(seed ^ (k << 32)));
    let fit = drawn.map(|mut draft| {
        // Sums over groups know no members whose tasks end.
        let in_groups = draft.users.iter_mut().filter(|user| user.group.is_some());
        in_groups.for_each(|user| user.tasks = user.tasks.filter(|tasks| *tasks == 0));
        draft.users.iter_mut().filter(|user| user.tasks.is_some()).for_each(|user| user.rates.clear());
        draft.build()
    });
    fit.flatten().next().expect("some instance breaks no rule")
}

/// The first drawn that breaks no rule of the model.
fn built(dice: &mut Dice, draw: impl Fn(&mut Dice) -> Draft) -> Instance {
    loop {
        if let Ok(instance) = draw(dice).build() {
            return instance;
        }
    }
}

/// Between `least` and `most`, each order of magnitude equally likely.
pub(crate) fn spread(dice: &mut Dice, least: u64, most: u64) -> u64 {
    let part = dice.below(1 << 20) as f64 / f64::from(1 << 20);
    (least as f64 * (most as f64 / least as f64).powf(part)) as u64
}

/// How the numbers of an odd instance lie.
#[derive(Clone, Copy, PartialEq)]
enum Magnitudes {
    /// Whole numbers up to 9: many ties.
    Digits,
    /// Three digits of one magnitude.
    Plain,
    /// Every resource in a unit of its own.
    ByResource,
    /// Every server class and every user at a magnitude of its own, 1e-9 to 1e12.
    ByOwner,
    /// Every number at a magnitude of its own, 1e-9 to 1e12.
    Mixed,
}

/// A number of three digits, 1 to 9.99, or a digit, times ten to the `power`.
fn number(dice: &mut Dice, magnitudes: Magnitudes, power: i64) -> Decimal {
    match magnitudes {
        Magnitudes::Digits => decimal(&(1 + dice.below(9)).to_string()),
        _ => decimal(&format!("{}e{}", 100 + dice.below(900), power - 2)),
    }
}

fn any_power(dice: &mut Dice) -> i64 {
    dice.below(21) as i64 - 9
}

fn draw(dice: &mut Dice, user_count: usize, class_count: usize, resources: usize) -> Draft {
    let magnitudes = dice.pick(&[
        Magnitudes::Digits,
        Magnitudes::Plain,
        Magnitudes::ByResource,
        Magnitudes::ByOwner,
        Magnitudes::Mixed,
    ]);
    let third = |dice: &mut Dice| dice.percent(33);
    let (zero_demands, zero_capacities) = (third(dice), third(dice));
    let (weights, rates, limits) = (third(dice), third(dice), third(dice));
    let (eligibility, unequal) = (third(dice), third(dice));
    let units: Vec<i64> = (0..resources).map(|_| any_power(dice)).collect();
    let numbers = |dice: &mut Dice, zeros: bool| -> Vec<Decimal> {
        let own = any_power(dice);
        let mut numbers = Vec::new();
        for unit in &units {
            let power = match magnitudes {
                Magnitudes::Digits | Magnitudes::Plain => 0,
                Magnitudes::ByResource => *unit,
                Magnitudes::ByOwner => own,
                Magnitudes::Mixed => any_power(dice),
            };
            let is_zero = zeros && dice.percent(40);
            numbers.push(if is_zero { decimal("0") } else { number(dice, magnitudes, power) });
        }
        numbers
    };
    let mut classes = Vec::new();
    for l in 0..class_count {
        let count = if unequal { dice.pick(&[0, 1, 1, 7, 1_000, 1_000_000]) } else { 1 + dice.below(4) };
        classes.push(ServerClass::new(format!("c{l}"), count, numbers(dice, zero_capacities)));
    }
    let mut users: Vec<DraftUser> = Vec::new();
    for i in 0..user_count {
        let mut user = plain_user(i, numbers(dice, zero_demands));
        if weights {
            let power = dice.below(13) as i64 - 6;
            user.weight = number(dice, magnitudes, power);
        }
        if rates && dice.percent(60) {
            let mut rate = |l| {
                let power = dice.below(9) as i64 - 4;
                (l, number(dice, magnitudes, power))
            };
            user.rates = (0..classes.len()).map(&mut rate).collect();
        }
        if limits && dice.percent(60) {
            user.tasks = Some(dice.pick(&[0, 1, 2, 5, 30, 100, 1_000, 1_000_000]));
        }
        if eligibility && dice.percent(60) {
            user.eligible = Some((0..classes.len()).filter(|_| dice.percent(60)).collect());
        }
        users.push(user);
    }
    let resources = (0..resources).map(|r| format!("r{r}")).collect();
    Draft {
        device_profiles: Vec::new(),
        name: "odd".into(),
        resources,
        classes,
        groups: Vec::new(),
        users,
        quotas: Vec::new(),
        measured_by: None,
    }
}
