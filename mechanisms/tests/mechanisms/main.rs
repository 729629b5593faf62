//! Every mechanism against what it is defined to be: published numbers, one slice at a time, properties.
#![cfg(test)]

mod auction;
mod churn;
mod karma_properties;
mod published;
mod slice_by_slice;
mod tickets;
mod totals;

use fairplan_instances::{
    DemandSeries, DemandSeriesBuilder, DynamicOutcome, FairShares, GuaranteedFraction, QuantumLabel,
};
use fairplan_mechanisms::{Conduct, Reports, Run, Settings, Ties, mechanism};

/// One row a user: its demand in every quantum.
fn series(rows: &[Vec<u64>]) -> DemandSeries {
    let mut builder = DemandSeriesBuilder::default();
    for user in 0..rows.len() {
        builder.user(&format!("user-{user}")).unwrap();
    }
    for quantum in 0..rows[0].len() {
        builder.quantum(QuantumLabel::Number(quantum as u64)).unwrap();
        for (user, row) in rows.iter().enumerate() {
            builder.demand(user, row[quantum]).unwrap();
        }
    }
    builder.build().unwrap()
}

/// Demands as the papers print them, one line a user.
fn demands(table: &[&str]) -> Vec<Vec<u64>> {
    let row = |line: &&str| {
        line.split(|c: char| !c.is_ascii_digit()).map(|number| number.parse().unwrap()).collect()
    };
    table.iter().map(row).collect()
}

fn alpha(text: &str) -> GuaranteedFraction {
    GuaranteedFraction::new(text.parse().unwrap()).unwrap()
}

fn settings(of_alpha: &str, initial_credits: u64, ties: Ties) -> Settings {
    Settings { alpha: alpha(of_alpha), initial_credits, ties, oversubscription: 2, term: 2, seed: 1 }
}

/// Everybody honest, every quantum kept.
fn outcome(name: &str, settings: &Settings, shares: &FairShares, series: &DemandSeries) -> DynamicOutcome {
    let honest = vec![false; series.user_count()];
    let mut mechanism = mechanism(name, settings, &honest, series.quantum_count()).unwrap();
    let conduct = Conduct { non_conformant: &honest, reports: Reports::Truthful };
    let run = Run { shares, conduct, cache: None, per_quantum: true };
    run.outcome(mechanism.as_mut(), series).unwrap()
}

/// Allocations, one row a user.
fn allocations(outcome: &DynamicOutcome) -> Vec<Vec<u64>> {
    let quanta = outcome.quanta.as_ref().unwrap();
    let row = |user: usize| quanta.iter().map(|quantum| quantum.allocated[user]).collect();
    (0..outcome.users.len()).map(row).collect()
}
