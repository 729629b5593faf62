//! Capacities of 0, which Hadoop takes in some places only.

use super::*;

/// Two queues with these capacities, and two below the first.
fn tree(capacities: [&'static str; 4]) -> Vec<(&'static str, &'static str)> {
    let names = ["root.a.capacity", "root.b.capacity", "root.a.c.capacity", "root.a.d.capacity"];
    let stated = names.into_iter().zip(capacities).filter(|(_, capacity)| !capacity.is_empty());
    [("root.queues", "a,b"), ("root.a.queues", "c,d")].into_iter().chain(stated).collect()
}

#[test]
fn capacities_that_come_to_nothing_of_something_are_refused() {
    for none in [["0", "0", "0", "0"], ["", "", "", ""]] {
        let error = with_properties(&tree(none)).unwrap_err();
        assert!(
            error.contains("queue root: capacity = 0%: is what the queues below it have together, all of"),
            "{error}"
        );
    }
    let error = with_properties(&tree(["40", "60", "0", ""])).unwrap_err();
    assert!(
        error.contains("queue root.a: capacity = 0%: is what the queues below it have together, all of"),
        "{error}"
    );
}

#[test]
fn capacities_that_come_to_all_of_nothing_are_refused() {
    for none in ["0", ""] {
        let error = with_properties(&tree([none, "100", "50", "50"])).unwrap_err();
        assert!(
            error.contains("queue root.a: capacity = 100%: is what the queues below it have together, while"),
            "{error}"
        );
    }
}

#[test]
fn nothing_of_nothing_and_what_a_queue_allows_are_taken() {
    let allowed = |queue| [&tree(["0", "100", "50", "50"])[..], &[(queue, "true")]].concat();
    let (_, report) = with_properties(&allowed("root.a.allow-zero-capacity-sum")).unwrap();
    assert!(!report.to_string().contains("known here"), "{report}");
    assert!(with_properties(&allowed("root.allow-zero-capacity-sum")).is_err());
    let newer = [&tree(["0", "100", "50", "50"])[..], &[("legacy-queue-mode.enabled", "false")]].concat();
    with_properties(&newer).unwrap();
    for capacities in [["0", "100", "0", "0"], ["1w", "1w", "0", "0"], ["0", "1w", "1w", "1w"]] {
        with_properties(&tree(capacities)).unwrap_or_else(|error| panic!("{capacities:?}: {error}"));
    }
}

#[test]
fn a_queue_that_states_no_capacity_beside_weights_has_none() {
    let (found, report) = with_properties(&tree(["3w", "", "1w", "1w"])).unwrap();
    assert!(found.iter().any(|line| line.starts_with("root.b w0.003 ")), "{found:?}");
    assert!(report.to_string().contains("1 queue of weight 0"), "{report}");
}
