//! What may be off by how much: a claim just inside each tolerance is accepted, just outside refused by its property.

use crate::by_hand::{fig1, two_levels};
use crate::{Statement, failures};
use fairplan_instances::Instance;

/// Scales something of a statement by this factor.
type Change = fn(&mut Statement, f64);

/// What is refused of a statement with a change that is so many times the tolerance.
fn refused(case: fn() -> (Instance, Statement), change: Change, off: f64) -> Vec<&'static str> {
    let (instance, mut statement) = case();
    change(&mut statement, 1.0 + off);
    failures(&statement.check(&instance))
}

#[test]
fn each_number_of_a_solution_may_be_off_by_its_tolerance_and_no_more() {
    let cases: [(&str, f64, Change); 8] = [
        ("value", 1e-10, |statement, by| statement.value *= by),
        ("value", 1e-10, |statement, by| statement.dual *= by),
        ("prices", 1e-9, |statement, by| statement.prices[0] *= by),
        ("price-scale", 1e-9, |statement, by| {
            statement.levels[0].prices.iter_mut().chain(&mut statement.prices).for_each(|price| *price *= by);
        }),
        ("shares", 1e-9, |statement, by| statement.shares[1] *= by),
        ("shares", 1e-9, |statement, by| statement.user_tasks[0] *= by),
        ("utilization", 1e-9, |statement, by| statement.class_utilization[0] *= by),
        ("utilization", 1e-9, |statement, by| statement.utilization[1] *= by),
    ];
    for (property, tolerance, change) in cases {
        for off in [0.9 * tolerance, -0.9 * tolerance] {
            let found = refused(fig1, change, off);
            assert!(found.is_empty(), "{property} by {off}: {found:?}");
        }
        let found = refused(fig1, change, 1.1 * tolerance);
        assert!(found.contains(&property), "{property}: {found:?}");
    }
}

/// A level above that the prices of its own do not hold back: what a user that is frozen below could gain.
#[test]
fn a_level_may_be_off_by_what_is_stated_and_no_more() {
    let change: Change = |statement, by| statement.levels[1].value *= by;
    assert_eq!(refused(two_levels, change, 0.9e-9), Vec::<&str>::new());
    assert!(refused(two_levels, change, 1.1e-9).contains(&"levels"));
}
