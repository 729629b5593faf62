//! What an offline result states, matched with the series that it says it belongs to.

use super::{Held, OfflineDocument, offline_document};
use crate::foreign::{Foreign, list};
use fairplan_instances::Label;
use fairplan_instances::wording::printable;
use fairplan_instances::{
    Against, Decimal, DemandSeries, ExactOffline, FairShares, GuaranteedFraction, OfflineLevel,
    OfflineMeasure, OfflineOptimum, OfflineProblem,
};
use fairplan_verify::{OfflineClaim, Verdict, verify_offline};

/// A result's own statement of what was asked and what the answer is; nothing in it is believed.
pub struct StatedOffline {
    shares: FairShares,
    guaranteed: Option<GuaranteedFraction>,
    measure: OfflineMeasure,
    whole_slices: bool,
    optimum: OfflineOptimum,
    /// The first slices of a demand that is none.
    undemanded: Option<String>,
}

impl StatedOffline {
    /// Matches a document with a series. Fails where the two cannot be matched: another hash, a user or quantum that is
    /// missing, added or in another place, settings that the series cannot have, no quanta at all.
    pub fn new(document: &OfflineDocument, series: &DemandSeries, sha256: &str) -> Result<Self, Foreign> {
        if document.demands.sha256 != sha256 {
            let problem = format!("is the hash of another series; this one's is {sha256}");
            return Err(Foreign::new("demands.sha256", &document.demands.sha256, problem));
        }
        let users = (0..series.user_count()).map(|user| series.user_id(user));
        list("users", document.users.iter().map(|user| &*user.id), users)?;
        let settings = &document.settings;
        let shares = match (settings.fair_share, settings.capacity, &settings.fair_shares) {
            (Some(share), None, None) => FairShares::PerUser(share),
            (None, Some(capacity), None) => FairShares::Capacity(capacity),
            (None, None, Some(shares)) if shares.len() == series.user_count() => {
                FairShares::Each(shares.clone())
            }
            _ => return Err(Foreign::new("settings", "", "state fair_share, capacity or fair_shares")),
        };
        let cannot = |reason: String| Foreign::new("settings", "", reason);
        shares.check(series, None).map_err(|violation| cannot(violation.to_string()))?;
        let guaranteed = match (document.guaranteed, settings.alpha) {
            (false, _) => None,
            (true, None) => return Err(Foreign::new("settings.alpha", "", "is missing")),
            (true, Some(alpha)) => {
                let alpha = Decimal::from_f64(alpha).map_err(|error| cannot(error.to_string()))?;
                Some(GuaranteedFraction::new(alpha).map_err(|violation| cannot(violation.to_string()))?)
            }
        };
        let measure = match &*document.measure {
            "totals" => OfflineMeasure::Totals,
            "welfare" => OfflineMeasure::Welfare,
            other => return Err(Foreign::new("measure", other, "is neither totals nor welfare")),
        };
        let (allocated, undemanded) = amounts(document, series)?;
        let (exact, more) = fractions(document, series)?;
        let undemanded = undemanded.or(more);
        let optimum = OfflineOptimum { allocated, levels: levels(document, series)?, rounds: 0, exact };
        let whole_slices = document.whole_slices;
        Ok(Self { shares, guaranteed, measure, whole_slices, optimum, undemanded })
    }

    /// What is found of it: the allocation and the levels by `verify`, the numbers beside them by recomputing. What is
    /// held against the optimum is not run again, but its regret must be what its value leaves.
    pub fn verdicts(&self, document: &OfflineDocument, series: &DemandSeries, sha256: &str) -> Vec<Verdict> {
        let problem = OfflineProblem {
            series,
            shares: &self.shares,
            guaranteed: self.guaranteed,
            measure: self.measure,
            whole_slices: self.whole_slices,
        };
        let claim = OfflineClaim::from(&self.optimum);
        let proof = verify_offline(&problem, claim);
        let again = offline_document(
            &problem,
            sha256,
            document.settings.clone(),
            &self.optimum,
            &proof,
            Held::default(),
            false,
        );
        let is_beside = |one: &Against| one.is_beside(again.value, series.quantum_count());
        let different = [
            ("demands", again.demands == document.demands),
            ("status", again.status == document.status),
            ("value", again.value == document.value),
            ("users", again.users == document.users),
            ("metrics", again.metrics == document.metrics),
            ("certificate", again.certificate == document.certificate),
            ("against", document.against.iter().all(is_beside)),
            ("online_bound", document.online_bound.iter().all(is_beside)),
        ];
        let different: Vec<&str> =
            different.into_iter().filter(|(_, same)| !same).map(|(field, _)| field).collect();
        let mut verdicts = proof.verdicts;
        verdicts.push(Verdict::without_size("demanded", self.undemanded.clone()));
        let told = || format!("{} not what the allocation comes to", different.join(", "));
        verdicts.push(Verdict::without_size("stated-numbers", (!different.is_empty()).then(told)));
        verdicts
    }
}

/// The slices of each demand above zero, in the order of the series, and the first slices where nothing is demanded.
fn amounts(document: &OfflineDocument, series: &DemandSeries) -> Result<(Vec<f64>, Option<String>), Foreign> {
    let Some(quanta) = &document.quanta else {
        return Err(Foreign::without("quanta", super::WITH_QUANTA));
    };
    if quanta.len() != series.quantum_count() {
        let problem = format!("the series has {}", series.quantum_count());
        return Err(Foreign::new("quanta", &format!("{} entries", quanta.len()), problem));
    }
    let (mut allocated, mut undemanded) = (Vec::with_capacity(series.entry_count()), None);
    for (position, quantum) in quanta.iter().enumerate() {
        let label = series.label(position);
        if quantum.quantum != Label::from(label) || quantum.allocated.len() != series.user_count() {
            let problem = format!("the series has quantum {label} here, with {} users", series.user_count());
            let stated = format!("{} entries", quantum.allocated.len());
            return Err(Foreign::new(format!("quanta[{position}]"), &stated, problem));
        }
        let mut demanders = series.demands(position).0.iter().map(|user| *user as usize).peekable();
        for (user, amount) in quantum.allocated.iter().enumerate() {
            if demanders.next_if_eq(&user).is_some() {
                allocated.push(*amount);
            } else if *amount != 0.0 && undemanded.is_none() {
                let id = printable(series.user_id(user), 200);
                undemanded = Some(format!("user {id} gets {amount} in quantum {label} and demands none"));
            }
        }
    }
    Ok((allocated, undemanded))
}

/// The fractions of a result that states any, and the first of a demand that is none.
fn fractions(
    document: &OfflineDocument,
    series: &DemandSeries,
) -> Result<(Option<ExactOffline>, Option<String>), Foreign> {
    let quanta = document.quanta.iter().flatten().enumerate();
    let Some(stated) = &document.exact else {
        let of_users = document.users.iter().position(|user| user.exact.is_some());
        let of_users = of_users.map(|user| format!("users[{user}].exact"));
        let of_quanta = || {
            let at = quanta.clone().find(|(_, quantum)| quantum.exact.is_some());
            at.map(|(at, _)| format!("quanta[{at}].exact"))
        };
        return match of_users.or_else(of_quanta) {
            Some(place) => Err(Foreign::new(place, "", "the result states no levels in fractions")),
            None => Ok((None, None)),
        };
    };
    let of_user = |(user, of): (usize, &super::OfflineUser)| {
        let missing = || Foreign::new(format!("users[{user}].exact"), "", "is missing");
        of.exact.clone().ok_or_else(missing)
    };
    let totals = document.users.iter().enumerate().map(of_user).collect::<Result<_, Foreign>>()?;
    let (mut allocated, mut undemanded) = (Vec::with_capacity(series.entry_count()), None);
    for (position, quantum) in quanta {
        let place = format!("quanta[{position}].exact");
        let amounts = quantum.exact.as_ref().ok_or_else(|| Foreign::new(&place, "", "is missing"))?;
        if amounts.len() != series.user_count() {
            let stated = format!("{} entries", amounts.len());
            return Err(Foreign::new(place, &stated, format!("there are {} users", series.user_count())));
        }
        let mut demanders = series.demands(position).0.iter().map(|user| *user as usize).peekable();
        for (user, amount) in amounts.iter().enumerate() {
            if demanders.next_if_eq(&user).is_some() {
                allocated.push(amount.clone());
            } else if amount != "0" && undemanded.is_none() {
                let (id, label) = (printable(series.user_id(user), 200), series.label(position));
                let amount = printable(amount, 200);
                undemanded = Some(format!("user {id} gets {amount} in quantum {label} and demands none"));
            }
        }
    }
    let (value, levels) = (stated.value.clone(), stated.levels.clone());
    Ok((Some(ExactOffline { value, levels, totals, allocated }), undemanded))
}

fn levels(document: &OfflineDocument, series: &DemandSeries) -> Result<Vec<OfflineLevel>, Foreign> {
    let level = |(position, level): (usize, &super::OfflineLevelResult)| {
        let place = || format!("levels[{position}].users");
        let named = |id: &String| {
            let user = series.user_named(id).ok_or_else(|| Foreign::new(place(), id, "no such user"))?;
            Ok(user as u32)
        };
        let users = level.users.iter().map(named).collect::<Result<_, Foreign>>()?;
        Ok(OfflineLevel { value: level.value, users })
    };
    document.levels.iter().enumerate().map(level).collect()
}
