//! Forged results: true ones with one thing changed, of which none may be accepted.

use crate::planted::{Kind, Planted, planted, planted_of_size};
use crate::{Statement, failures};
use fairplan_instances::{Instance, Level, LimitedBy, ResourceId, UserId, compare_ratios};
use proptest::prelude::*;
use proptest::sample::Index;

/// What a forger chooses: which user, class or number, and by how much.
#[derive(Clone, Debug)]
struct Choice {
    first: Index,
    second: Index,
    factor: f64,
}

/// One way to falsify a statement; `false` when this one does not offer it.
type Forgery = fn(&Instance, &mut Statement, &Choice) -> bool;

const FORGERIES: [(&str, Forgery); 30] = [
    ("negative price", |_, s, c| set_price(s, c, -1e-3)),
    ("price not a number", |_, s, c| set_price(s, c, f64::NAN)),
    ("infinite price", |_, s, c| set_price(s, c, f64::INFINITY)),
    ("prices scaled", |_, s, c| {
        level(s, c).prices.iter_mut().for_each(|price| *price *= c.factor);
        true
    }),
    ("no prices", |_, s, c| {
        level(s, c).prices.fill(0.0);
        true
    }),
    ("prices missing", |_, s, c| level(s, c).prices.pop().is_some()),
    ("bound moved", |_, s, c| scale(&mut level(s, c).bound, c)),
    ("bound not a number", |_, s, c| set(&mut level(s, c).bound, f64::NAN)),
    ("level's value moved", |_, s, c| scale(&mut level(s, c).value, c)),
    ("level missing", |_, s, c| {
        let missing = c.first.index(s.levels.len());
        s.levels.remove(missing);
        true
    }),
    ("level twice", |_, s, c| {
        let twice = level(s, c).clone();
        s.levels.push(twice);
        true
    }),
    ("levels swapped", |_, s, _| {
        s.levels.reverse();
        s.levels.len() > 1
    }),
    ("another level for a user", |_, s, c| {
        let (user, level) = (c.first.index(s.level_of.len()), c.second.index(s.levels.len() + 1) as u32);
        std::mem::replace(&mut s.level_of[user], level) != level
    }),
    ("a level that is none", |_, s, c| {
        let user = c.first.index(s.level_of.len());
        s.level_of[user] = u32::MAX;
        true
    }),
    ("another reason for a user", |_, s, c| {
        let reasons = [LimitedBy::Capacity, LimitedBy::Tasks, LimitedBy::NoUsableClass];
        let (user, reason) = (c.first.index(s.limited_by.len()), reasons[c.second.index(3)]);
        std::mem::replace(&mut s.limited_by[user], reason) != reason
    }),
    ("users swapped", |_, s, c| {
        let users = s.user_tasks.len();
        let (a, b) = (c.first.index(users), c.second.index(users));
        let classes = s.tasks.len() / users;
        (0..classes).for_each(|l| s.tasks.swap(a * classes + l, b * classes + l));
        s.user_tasks[a] != s.user_tasks[b]
    }),
    ("classes swapped", |instance, s, c| {
        let classes = instance.classes();
        let (a, b) = (c.first.index(classes.len()), c.second.index(classes.len()));
        s.tasks.chunks_mut(classes.len()).for_each(|row| row.swap(a, b));
        classes[a].capacity != classes[b].capacity
    }),
    ("more tasks than fit", |instance, s, c| {
        let offered = multiply_tasks(s, c, 1.0 + 1e-10);
        restate(instance, s);
        offered
    }),
    ("fewer tasks than the level's", |instance, s, c| {
        let offered = multiply_tasks(s, c, 1.0 - 1e-6);
        restate(instance, s);
        offered
    }),
    ("negative tasks", |_, s, c| multiply_tasks(s, c, -1.0)),
    ("tasks not a number", |_, s, c| multiply_tasks(s, c, f64::NAN)),
    ("infinite tasks", |_, s, c| multiply_tasks(s, c, f64::INFINITY)),
    ("share inflated", |_, s, c| scale_one(|s| &mut s.shares, s, c)),
    ("tasks misstated", |_, s, c| scale_one(|s| &mut s.user_tasks, s, c)),
    ("utilization misstated", |_, s, c| scale_one(|s| &mut s.utilization, s, c)),
    ("utilization of a class misstated", |_, s, c| scale_one(|s| &mut s.class_utilization, s, c)),
    ("price misstated", |_, s, c| scale_one(|s| &mut s.prices, s, c)),
    ("a number of the value moved", |_, s, c| match c.first.index(3) {
        0 => scale(&mut s.value, c),
        1 => scale(&mut s.primal, c),
        _ => scale(&mut s.dual, c),
    }),
    ("gap misstated", |_, s, c| set(&mut s.relative_gap, [1e-6, f64::NAN, -1e-6][c.first.index(3)])),
    ("another dominant resource", |instance, s, c| {
        let user = instance.user(UserId(c.first.index(s.dominant.len())));
        let resource = ResourceId(c.second.index(instance.resources().len()));
        let share = |r: ResourceId| (user.demand_units(r), instance.total_units(r));
        s.dominant[user.index().0] = resource;
        compare_ratios(share(resource), share(user.dominant_resource())).is_ne()
    }),
];

fn level<'a>(statement: &'a mut Statement, choice: &Choice) -> &'a mut Level {
    let k = choice.first.index(statement.levels.len());
    &mut statement.levels[k]
}

fn set(number: &mut f64, value: f64) -> bool {
    *number = value;
    true
}

fn scale(number: &mut f64, choice: &Choice) -> bool {
    *number *= choice.factor;
    *number != 0.0
}

fn scale_one(list: fn(&mut Statement) -> &mut Vec<f64>, statement: &mut Statement, choice: &Choice) -> bool {
    let list = list(statement);
    let position = choice.second.index(list.len());
    scale(&mut list[position], choice)
}

fn set_price(statement: &mut Statement, choice: &Choice, price: f64) -> bool {
    let prices = &mut level(statement, choice).prices;
    let position = choice.second.index(prices.len());
    set(&mut prices[position], price)
}

/// Multiplies the tasks of one user on one class.
fn multiply_tasks(statement: &mut Statement, choice: &Choice, factor: f64) -> bool {
    let position = choice.first.index(statement.tasks.len());
    let tasks = &mut statement.tasks[position];
    let offered = *tasks != 0.0;
    *tasks *= factor;
    offered
}

/// Makes all that follows from the tasks and levels agree with them again.
fn restate(instance: &Instance, statement: &mut Statement) {
    let Statement { tasks, levels, level_of, limited_by, .. } = statement.clone();
    *statement = Statement::of(instance, tasks, levels, level_of, limited_by);
}

fn choice() -> impl Strategy<Value = Choice> {
    let factor = prop_oneof![Just(1.0 - 1e-6), Just(1.0 + 1e-6), Just(0.5), Just(2.0), 1.1f64..1e6];
    (any::<Index>(), any::<Index>(), factor).prop_map(|(first, second, factor)| Choice {
        first,
        second,
        factor,
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 3000, max_global_rejects: 10_000, ..ProptestConfig::default() })]

    #[test]
    fn no_forgery_is_accepted(planted in planted(Kind::Mixed), kind in 0..FORGERIES.len(), choice in choice()) {
        let Planted { instance, mut statement } = planted;
        let (name, forge) = FORGERIES[kind];
        prop_assume!(forge(&instance, &mut statement, &choice));
        let proof = statement.check(&instance);
        prop_assert!(!proof.holds(), "{name} is accepted");
        for failure in proof.failures() {
            prop_assert!(failure.residual > failure.tolerance && !failure.witness.is_empty());
        }
    }

    /// The forger leaves the users of level 1 on level 0, and adds a little of level 1's prices so that they seem
    /// to be held by capacity: every number of the result is right, but for what it says about those users.
    #[test]
    fn nobody_is_frozen_early(planted in planted(Kind::TwoLevels), exponent in prop_oneof![12i32..20, 20i32..300]) {
        let Planted { instance, statement } = planted;
        let Statement { mut tasks, levels, mut level_of, limited_by, .. } = statement;
        let classes = instance.classes().len();
        for (i, level) in level_of.iter_mut().enumerate() {
            if *level == 1 && limited_by[i] == LimitedBy::Capacity {
                *level = 0;
                let factor = levels[0].value / levels[1].value;
                tasks[i * classes..(i + 1) * classes].iter_mut().for_each(|tasks| *tasks *= factor);
            }
        }
        let mut level = levels[0].clone();
        for (price, later) in level.prices.iter_mut().zip(&levels[1].prices) {
            *price += later * 10f64.powi(-exponent);
        }
        let forged = Statement::of(&instance, tasks, vec![level], level_of, limited_by);
        prop_assert_eq!(failures(&forged.check(&instance)), ["freezing"]);
    }

    #[test]
    fn another_instance_of_the_same_size_is_refused(
        one in planted_of_size(Kind::Plain, 2, 3), other in planted_of_size(Kind::Plain, 2, 3)
    ) {
        let same_text = |a: &Instance, b: &Instance| {
            a.demand_doubles() == b.demand_doubles() && a.classes() == b.classes()
        };
        prop_assume!(!same_text(&one.instance, &other.instance));
        prop_assert!(!one.statement.check(&other.instance).holds());
    }

    #[test]
    fn lists_of_any_length_and_bits_of_any_kind_never_panic(
        planted in planted(Kind::Mixed),
        lengths in prop::collection::vec(0usize..9, 9),
        bits in prop::collection::vec(any::<u64>(), 9),
        levels in prop::collection::vec(any::<u32>(), 9),
    ) {
        let Planted { instance, mut statement } = planted;
        let number = |i: usize| f64::from_bits(bits[i]);
        let lists = [
            &mut statement.user_tasks,
            &mut statement.shares,
            &mut statement.class_utilization,
            &mut statement.utilization,
            &mut statement.prices,
            &mut statement.levels[0].prices,
        ];
        for (i, list) in lists.into_iter().enumerate() {
            if lengths[i] < 4 {
                list.resize(lengths[i], number(i));
            } else if let Some(first) = list.first_mut() {
                *first = number(i);
            }
        }
        statement.tasks.iter_mut().step_by(3).for_each(|tasks| *tasks = number(6).abs());
        statement.levels[0].bound = number(7);
        statement.levels[0].value = number(8);
        statement.level_of.iter_mut().zip(levels).for_each(|(level, any)| *level = any % 3);
        prop_assert!(!statement.check(&instance).holds());
        prop_assert!(!statement.check_in_memory(&instance).holds());
    }
}
