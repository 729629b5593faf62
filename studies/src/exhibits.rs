//! Every table and figure of the papers, with the study that recomputes it or why there is none.

use fairplan::report::reproduction::{PublishedExhibit, Reason, Reproduced, Standing};

/// A table or figure, or a passage with numbers.
pub(crate) struct Exhibited {
    paper: &'static str,
    /// As the paper numbers it.
    number: &'static str,
    /// What it shows.
    shows: &'static str,
    known: Known,
}

/// What can be said of it.
enum Known {
    /// The study of this name recomputes it.
    Study(&'static str),
    /// It states nothing that could be measured.
    NoResult,
    /// It cannot be recomputed, for this reason.
    NotHere(&'static str),
}

use Known::{NoResult, NotHere, Study};

const DRFH: &str = "DRFH";
const MRF: &str = "MRF";
const KARMA: &str = "Karma";
const KDN: &str = "KDN";
const FAIR_SHARES: &str = "Fair Shares";
const FGD: &str = "FGD";

const fn of(paper: &'static str, number: &'static str, shows: &'static str, known: Known) -> Exhibited {
    Exhibited { paper, number, shows, known }
}

/// All of them, paper by paper; a test holds them against the captions of the papers. KDN's figures draw its tables and print no
/// number more.
pub(crate) const EXHIBITS: [Exhibited; 43] = [
    of(DRFH, "Table I", "Google's servers by class", Study("drfh-table1")),
    of(DRFH, "Fig. 1", "two servers and two users", Study("drfh-fig1")),
    of(DRFH, "Fig. 2", "DRF in each server on its own", Study("drfh-fig1")),
    of(DRFH, "Fig. 3", "a better allocation: DRFH's", Study("drfh-fig3")),
    of(DRFH, "Fig. 4", "shares of three users over time", Study("drfh-fig4")),
    of(DRFH, "Table II", "what slots of different sizes use", Study("drfh-table2")),
    of(DRFH, "Fig. 5", "utilization over time", Study("drfh-fig5")),
    of(DRFH, "Fig. 6", "completion times of jobs", Study("drfh-fig6")),
    of(DRFH, "Fig. 7", "tasks completed under Best-Fit and under slots", Study("drfh-fig7")),
    of(DRFH, "Fig. 8", "tasks completed alone and together", Study("drfh-fig8")),
    of(MRF, "Sec. 2.3", "what claiming more gains", Study("mrf-2.3")),
    of(MRF, "Sec. 2.4", "bottleneck max fairness where it is not unique", Study("mrf-2.4")),
    of(MRF, "Fig. 1", "service rates under balanced load", Study("mrf-fig1")),
    of(MRF, "Fig. 2", "service rates under unbalanced load", Study("mrf-fig2")),
    of(MRF, "Fig. 3", "packets beside the fluid model", Study("mrf-fig3")),
    of(
        KARMA,
        "Fig. 1",
        "how users' demands vary at Google and Snowflake",
        NotHere(
            "it describes traces that are not published with the paper; drawn demands would only show how they were drawn",
        ),
    ),
    of(KARMA, "Fig. 2", "periodic max-min breaks its promises", Study("karma-fig2")),
    of(KARMA, "Fig. 3", "the same under Karma", Study("karma-fig3")),
    of(KARMA, "Fig. 4", "what reporting less gains and costs", Study("karma-fig4")),
    of(KARMA, "Fig. 5", "how the system is built", NoResult),
    of(KARMA, "Fig. 6", "throughput, latency and slices of three schemes", Study("karma-fig6")),
    of(
        KARMA,
        "Fig. 6(c)",
        "latency at the 99.9th percentile",
        NotHere(
            "the text has disparities 1.2 times less; the model of a cache has mean latencies and no tail, and the testbed's queues are \
             not described",
        ),
    ),
    of(KARMA, "Fig. 7", "what users who hoard gain by ceasing to", Study("karma-fig7")),
    of(KARMA, "Fig. 8", "utilization and evenness by alpha", Study("karma-fig8")),
    of(KARMA, "Table 1", "where reporting less pays", Study("karma-lemma2")),
    of(KARMA, "Table 2", "where the same report costs", Study("karma-lemma2")),
    of(KDN, "Table I", "demands of three users", Study("kdn-tables")),
    of(KDN, "Table II", "max-min, cell by cell", Study("kdn-tables")),
    of(KDN, "Table III", "Karma, cell by cell", Study("kdn-tables")),
    of(KDN, "Fig. 1", "words for what a division should be", NoResult),
    of(KDN, "Fig. 2", "all that is allocated", Study("kdn-tables")),
    of(KDN, "Fig. 3", "smallest over largest allocation", Study("kdn-tables")),
    of(KDN, "Fig. 4", "what user 1 lacks", Study("kdn-tables")),
    of(KDN, "Fig. 5", "what user 2 lacks", Study("kdn-tables")),
    of(KDN, "Fig. 6", "what user 3 lacks", Study("kdn-tables")),
    of(FAIR_SHARES, "Fig. 1", "Karma's algorithm", NoResult),
    of(FAIR_SHARES, "Fig. 2", "demands over a day", Study("fs-fig2")),
    of(FAIR_SHARES, "Fig. 3", "utilization by the share of greedy users", Study("fs-fig3")),
    of(FAIR_SHARES, "Fig. 4", "welfare and incentive by the same", Study("fs-fig4")),
    of(FAIR_SHARES, "Fig. 5", "fairness by the same", Study("fs-fig5")),
    of(FAIR_SHARES, "Fig. 6", "what greedy users hold more of", Study("fs-fig6")),
    of(FGD, "default workload", "GPUs allocated as demand arrives", Study("fgd")),
    of(FGD, "gpuspec33", "the same where a third of the tasks name models", Study("fgd-gpuspec33")),
];

/// What stands of every table and figure after these statements were recomputed, with the reasons that are known.
pub(crate) fn standings(numbers: &[Reproduced], reasons: &[Reason]) -> Vec<PublishedExhibit> {
    let of = |exhibited: &Exhibited| {
        let Exhibited { paper, number, shows, ref known } = *exhibited;
        let (study, standing, why) = match known {
            NoResult => (None, Standing::NoResult, None),
            NotHere(why) => (None, Standing::NotReproducible, Some((*why).to_owned())),
            Study(study) => {
                let own = || numbers.iter().filter(|number| number.exhibit == *study);
                let stands = |standing| own().any(|number| number.standing == standing);
                let standing = if own().next().is_none() {
                    Standing::NotRun
                } else {
                    // What is least known of its numbers.
                    let least = [Standing::Unexplained, Standing::Explained, Standing::Refuted];
                    least.into_iter().find(|standing| stands(*standing)).unwrap_or(Standing::Agrees)
                };
                let why: Vec<&str> = (reasons.iter())
                    .filter(|reason| reason.exhibit == *study)
                    .map(|reason| reason.why.as_str())
                    .collect();
                let why = (!why.is_empty()).then(|| why.join(" "));
                (Some((*study).to_owned()), standing, why)
            }
        };
        let own = || numbers.iter().filter(|number| Some(&number.exhibit) == study.as_ref());
        let statements = own().count() as u64;
        let agree = own().filter(|number| number.agrees).count() as u64;
        let (paper, exhibit, shows) = (paper.into(), number.into(), shows.into());
        PublishedExhibit { paper, exhibit, shows, study, statements, agree, standing, why }
    };
    EXHIBITS.iter().map(of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::STUDIES;

    #[test]
    fn every_study_is_of_an_exhibit_and_every_exhibit_names_a_study_that_there_is() {
        let named: Vec<&str> = (EXHIBITS.iter())
            .filter_map(|exhibited| match exhibited.known {
                Study(name) => Some(name),
                _ => None,
            })
            .collect();
        assert!(named.iter().all(|name| STUDIES.find(name).is_ok()));
        assert!(STUDIES.names().all(|name| named.contains(&name)));
    }

    #[test]
    fn an_exhibit_stands_as_its_statements_and_the_reason_say() {
        let exhibit = fairplan::report::reproduction::Exhibit { id: "drfh-fig4", source: "s" };
        let number = |ours| {
            let number = exhibit.says("one").number("q", 1.0, ours, 0.1);
            let standing = if number.agrees { Standing::Agrees } else { Standing::Unexplained };
            Reproduced { standing, ..number }
        };
        let standing = |numbers: &[Reproduced], reasons: &[Reason]| {
            let found = standings(numbers, reasons).into_iter();
            let found = found.filter(|row| row.study.as_deref() == Some("drfh-fig4")).map(|row| row.standing);
            found.collect::<Vec<_>>()
        };
        assert_eq!(standing(&[], &[]), [Standing::NotRun]);
        assert_eq!(standing(&[number(1.0)], &[]), [Standing::Agrees]);
        // Of several the least is known.
        let stands = |standing| Reproduced { standing, ..number(2.0) };
        assert_eq!(standing(&[number(1.0), number(2.0)], &[]), [Standing::Unexplained]);
        assert_eq!(standing(&[number(1.0), stands(Standing::Refuted)], &[]), [Standing::Refuted]);
        let known = [Standing::Refuted, Standing::Explained].map(stands);
        assert_eq!(standing(&known, &[]), [Standing::Explained]);
    }
}
