use super::*;
use QuantumLabel::{Number, Text};

/// Users `a`, `b`, … and their demands in quanta that are labelled so.
fn series(labels: &[QuantumLabel<'_>], demands: &[&[u64]]) -> Result<DemandSeries, Violation> {
    let mut builder = DemandSeriesBuilder::default();
    for user in 0..demands[0].len() {
        builder.user(["a", "b", "c"][user])?;
    }
    for (label, row) in labels.iter().zip(demands) {
        builder.quantum(*label)?;
        // Backwards: the order within a quantum does not matter.
        for (user, slices) in row.iter().enumerate().rev() {
            builder.demand(user, *slices)?;
        }
    }
    builder.build()
}

fn refusal(labels: &[QuantumLabel<'_>]) -> String {
    series(labels, &vec![&[1][..]; labels.len()])
        .err()
        .map(|violation| violation.to_string())
        .unwrap_or_default()
}

#[test]
fn only_demands_above_zero_are_kept_and_each_quantum_is_in_the_order_of_users() {
    let series = series(&[Number(7), Number(8)], &[&[3, 0, 5], &[0, 0, 0]]).unwrap();
    assert_eq!(series.demands(0), (&[0, 2][..], &[3, 5][..]));
    assert_eq!(series.demands(1), (&[][..], &[][..]));
    assert_eq!((series.totals(), series.entry_count()), (vec![3, 0, 5], 2));
    assert_eq!((series.label(1), series.quantum_labelled(Number(8))), (Number(8), Some(1)));
    assert_eq!((series.quantum_labelled(Number(9)), series.quantum_labelled(Text("8"))), (None, None));
}

#[test]
fn whole_numbers_left_out_are_quanta_without_demand() {
    let read = series(&[Number(0), Number(300), Number(900)], &[&[1], &[2], &[3]]).unwrap();
    let seen: Vec<_> = (0..read.quantum_count()).map(|t| (read.label(t), read.demands(t).1)).collect();
    assert_eq!(seen, [(Number(0), &[1][..]), (Number(300), &[2]), (Number(600), &[]), (Number(900), &[3])]);
    assert_eq!(
        refusal(&[Number(0), Number(2), Number(5)]),
        "quantum = 5: follows 2, but others are 2 apart: space quanta evenly"
    );
    let sparse = |last| series(&[Number(0), Number(1), Number(last)], &[&[1][..]; 3]);
    assert_eq!(sparse((1 << 20) + 2).unwrap().quantum_count(), (1 << 20) + 3);
    let refused = sparse((1 << 20) + 3).err().unwrap().to_string();
    assert!(
        refused.contains("and 1048577 of them are nowhere mentioned; at most 1048576 may be"),
        "{refused}"
    );
    let far = refusal(&[Number(0), Number(1), Number(u64::MAX)]);
    assert!(far.contains("at most 16777216 are supported"), "{far}");
}

#[test]
fn quanta_come_in_order_once_and_under_labels_of_one_kind() {
    for (labels, told) in [
        (&[Number(2), Number(1)][..], "quantum = 1: follows 2: sort the rows by quantum"),
        (&[Number(2), Number(2)], "quantum = 2: occurs twice"),
        (
            &[Text("Jan"), Text("Feb")],
            "quantum = Feb: follows Jan: names must rise as text does, letter by letter, as 2026-01, 2026-02 do; number the \
             quanta, or sort the rows",
        ),
        (&[Text("a"), Number(1)], "quantum = 1: follows a: number the quanta, or name them all with texts"),
        (&[Text("")], "quantum: a quantum needs a name"),
        (&[], "demands: there are no quanta"),
    ] {
        assert_eq!(if labels.is_empty() { empty() } else { refusal(labels) }, told);
    }
    fn empty() -> String {
        let mut builder = DemandSeriesBuilder::default();
        builder.user("a").unwrap();
        builder.build().err().unwrap().to_string()
    }
    let users = DemandSeriesBuilder::default().build().err().unwrap().to_string();
    assert_eq!(users, "users: there are no users");
}

#[test]
fn digits_are_numbers_and_everything_else_is_text() {
    let parsed = ["7", "007", "-7", "+7", "", "1.5", "99999999999999999999"].map(QuantumLabel::parse);
    let text = ["-7", "+7", "", "1.5", "99999999999999999999"].map(Text);
    assert_eq!(parsed[..2], [Number(7), Number(7)]);
    assert_eq!(parsed[2..], text);
}

#[test]
fn two_demands_of_one_user_and_demands_beyond_the_limit_are_refused() {
    let mut builder = DemandSeriesBuilder::default();
    builder.user("a").unwrap();
    assert_eq!(builder.user("a").unwrap_err().to_string(), "user = a: duplicate id");
    builder.quantum(Number(0)).unwrap();
    builder.demand(0, 0).unwrap();
    assert_eq!(builder.demand(0, 1).unwrap_err().to_string(), "user = a: has two demands in this quantum");
    builder.quantum(Number(1)).unwrap();
    assert!(
        builder
            .demand(0, MAX_SLICES + 1)
            .unwrap_err()
            .to_string()
            .starts_with("demand = 100000000001: at most")
    );
    builder.demand(0, MAX_SLICES).unwrap();
}

#[test]
fn members_demand_only_while_they_are_members_and_somebody_always_is() {
    let numbers = [0, 1, 2].map(Number);
    let demands = || series(&numbers, &[&[1, 0], &[1, 1], &[0, 1]]).unwrap();
    let joined = demands().with_members(vec![0..2, 1..3]).unwrap();
    assert!(joined.has_churn() && joined.membership(1) == (1..3));
    assert!(!demands().with_members(vec![0..3, 0..3]).unwrap().has_churn());
    let told = |members| demands().with_members(members).err().unwrap().to_string();
    assert_eq!(told(vec![0..1, 1..3]), "user = a: demands 1 in quantum 1, when it is no member");
    assert_eq!(told(vec![1..3, 1..3]), "quantum = 0: has no member");
    assert_eq!(told(vec![2..2, 0..3]), "user = a: its first quantum must not come after its last");
}
