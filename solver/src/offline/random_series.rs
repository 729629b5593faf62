//! Small demands that tests draw.

use fairplan_instances::{DemandSeries, DemandSeriesBuilder, QuantumLabel, Random};

/// Up to so many users and quanta, with up to seven slices each; a third of the demands are nothing.
pub(super) fn random_series(random: &mut Random, most_users: u64, most_quanta: u64) -> DemandSeries {
    let mut builder = DemandSeriesBuilder::default();
    let users = random.between(1, most_users) as usize;
    for user in 0..users {
        builder.user(&format!("u{user}")).unwrap();
    }
    for quantum in 0..random.between(1, most_quanta) {
        builder.quantum(QuantumLabel::Number(quantum)).unwrap();
        for user in 0..users {
            let demand = if random.below(3) == 0 { 0 } else { random.below(8) };
            builder.demand(user, demand).unwrap();
        }
    }
    builder.build().unwrap()
}
