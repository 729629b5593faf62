//! The ways to an answer: what each needs, and the order in which a backend tries them until one is certified.
//!
//! No single way closes everything: bins of users may disagree on more classes than rounds can split, and an interior
//! point may lose its last digits where numbers are far apart. Each way proves what it finds over the users themselves, so
//! which of them was right needs no trust: the first certified answer that whoever asks accepts is the answer, and its method
//! says which way that was. Where none is, the one with the smallest gap is returned, `uncertified`.

use crate::bins::Bins;
use crate::exact;
use crate::highs::{HAS_HIGHS, Highs, HighsAlgorithm};
use crate::interior_point::InteriorPoint;
use crate::level::{InWholeNumbers, LevelSolver};
use crate::lexicographic::{self, LevelBy};
use crate::open_part::OpenPart;
use crate::question::Question;
use crate::smooth::{self, Finding, SumSolver, market, together::By};
use crate::tolerance::sum::{LEAVES_MORE, STAGES, TOLD};
use crate::tree;
use fairplan_instances::{
    Certificate, Instance, InstanceError, LimitedBy, Objective, Solution, Statistics, Status, User, UserId,
    objective_share,
};

/// A way to solve an instance, whether for the levels of a max-min or for a sum.
#[derive(Clone, Copy)]
pub(crate) enum Way {
    /// Prices alone, for sums over users with too many rates of their own to share bins; where it was not tried `first`,
    /// for any sum with few prices.
    PriceDiscovery { first: bool },
    /// Users share bins, which are split until the certificate closes: for no longer than a part of what solving in full
    /// would take, unless `patient`.
    Aggregation { patient: bool },
    /// Only users that are alike share bins: level by level over what is still open, and `first`, where hardly any may run on the same classes.
    InteriorPoint { first: bool },
    /// The same of sums of a large α, from what they come near: the levels of the max-min, which is what they come to as α grows, or over
    /// bundles of kinds and members the sums of smaller α.
    FromLevels,
    /// Sums whose users are settled by their own measure, and the others solved for again with what is left.
    Apart,
    /// The same where those who are settled keep what they have, wherever they have it; `first`, where that takes less than many digits do.
    Keeping { first: bool },
    /// Sums whose users are worth so far apart that doubles do not tell.
    InManyDigits,
    /// Sums by our own simplex method: linear ones, and over bundles those that are straight between points.
    InPieces,
    /// The same of linear sums in whole numbers.
    InWholeNumbers,
    /// The same as the interior point, for what is linear.
    Highs(HighsAlgorithm),
    /// In fractions.
    Exact(Fractions),
    /// Level by level in whole numbers, where fractions do not know guarantees.
    LevelsInWholeNumbers,
}

/// When fractions are worth it.
#[derive(Clone, Copy)]
pub(crate) enum Fractions {
    /// They are asked for.
    Asked,
    /// What doubles cannot prove next is not proved by others either: hardly any users may run on the same classes.
    AfterOpenPart,
    /// Nothing else is proved.
    AtLast,
}

/// Whatever there is, the fastest first.
pub(crate) const ALL: &[Way] = &[
    Way::PriceDiscovery { first: true },
    Way::InteriorPoint { first: true },
    Way::Exact(Fractions::AfterOpenPart),
    Way::Aggregation { patient: false },
    Way::InteriorPoint { first: false },
    Way::Aggregation { patient: true },
    Way::PriceDiscovery { first: false },
    Way::FromLevels,
    Way::InPieces,
    Way::InWholeNumbers,
    Way::Apart,
    Way::Keeping { first: true },
    Way::InManyDigits,
    Way::Keeping { first: false },
    Way::Highs(HighsAlgorithm::Simplex),
    Way::Highs(HighsAlgorithm::InteriorPoint),
    Way::Exact(Fractions::AtLast),
    Way::LevelsInWholeNumbers,
];

/// The ways that find doubles to begin with where fractions are asked for.
const IN_DOUBLES: &[Way] = &[
    Way::Aggregation { patient: false },
    Way::InteriorPoint { first: false },
    Way::Aggregation { patient: true },
    Way::Highs(HighsAlgorithm::Simplex),
];

/// Pairs of a user and a class up to which an interior point over all users is worth trying after aggregation (about a
/// hundred bytes each).
const IN_FULL: usize = 20_000_000;

/// Below this α users of a bin would have shares too far apart for fixed proportions to be of use.
const AGGREGATED_FROM: f64 = 0.2;

/// Pairs of a user and a class up to which a sum that is proved is looked at again for those who are next to nothing in it.
const LOOKED_AT_AGAIN: usize = 400;

/// Pairs of a user and a class up to which a sum that is not proved is solved in many digits, and multiplications of a step up to which it is with more
/// of them: so many take about a quarter of a minute.
const IN_MANY_DIGITS: (usize, f64) = (1000, 6e6);

impl Way {
    /// What results call it.
    fn method(self) -> &'static str {
        match self {
            Self::PriceDiscovery { .. } => "price-discovery",
            Self::Aggregation { .. } => "aggregation",
            Self::InteriorPoint { .. }
            | Self::FromLevels
            | Self::Apart
            | Self::Keeping { .. }
            | Self::InManyDigits => "interior-point",
            Self::InPieces
            | Self::InWholeNumbers
            | Self::LevelsInWholeNumbers
            | Self::Highs(HighsAlgorithm::Simplex) => "simplex",
            Self::Highs(HighsAlgorithm::InteriorPoint) => "highs-interior-point",
            Self::Exact(_) => exact::METHOD,
        }
    }

    /// Whether it is worth trying.
    fn applies(self, question: &Question<'_>) -> bool {
        let (instance, alpha) = (question.instance, question.alpha());
        let is_small = question.is_small();
        if question.is_sum_over_bundles() {
            return match self {
                Self::InteriorPoint { first } => !first,
                Self::Apart => true,
                Self::Keeping { first } => alpha > 0.0 && is_small && first == is_soon_kept(question),
                Self::InManyDigits => alpha > 0.0 && is_for_many_digits(question),
                Self::FromLevels => alpha > STAGES.0,
                Self::InPieces => is_small,
                Self::Aggregation { patient } => !patient && self.puts_kinds_into_bins(question),
                _ => false,
            };
        }
        match self {
            Self::PriceDiscovery { first: true } => market::suits(instance, alpha),
            Self::PriceDiscovery { first: false } => {
                market::can_solve(instance, alpha) && !market::suits(instance, alpha)
            }
            Self::Aggregation { patient } => {
                question.objective.alpha().is_none_or(|alpha| alpha >= AGGREGATED_FROM)
                    && question.shares_bins()
                    && (patient || !question.is_wide())
            }
            Self::InteriorPoint { first: true } => question.uses_up_classes_one_by_one(),
            Self::InteriorPoint { first: false } => {
                !question.uses_up_classes_one_by_one()
                    && (!question.shares_bins() || question.pairs() <= IN_FULL)
            }
            Self::FromLevels => alpha > STAGES.0 && is_small,
            Self::Apart => question.objective.alpha().is_some() && question.pairs() <= IN_FULL,
            Self::Keeping { first } => {
                question.objective.alpha().is_some_and(|alpha| alpha > 0.0)
                    && is_small
                    && first == is_soon_kept(question)
            }
            Self::InManyDigits => {
                question.objective.alpha().is_some_and(|alpha| alpha > 0.0) && is_for_many_digits(question)
            }
            Self::InPieces => question.objective.alpha() == Some(0.0) && is_small,
            Self::InWholeNumbers => {
                question.objective.alpha() == Some(0.0) && question.pairs() <= exact::SMALL_SUM
            }
            Self::LevelsInWholeNumbers => {
                question.objective.alpha().is_none()
                    && instance.has_guarantees()
                    && question.pairs() <= exact::SMALL_LEVELS
            }
            Self::Highs(_) => alpha == 0.0 && HAS_HIGHS && is_small,
            Self::Exact(Fractions::Asked) => true,
            Self::Exact(Fractions::AfterOpenPart) => {
                question.uses_up_classes_one_by_one() && is_small_for_fractions(question)
            }
            Self::Exact(Fractions::AtLast) => {
                !question.uses_up_classes_one_by_one() && is_small_for_fractions(question)
            }
        }
    }

    /// Its answer; `best` is that of the ways before it with the smallest gap.
    fn solve(self, question: &Question<'_>, best: Option<&Solution>) -> Result<Solution, InstanceError> {
        let interior_point = InteriorPoint(question.deadline.clone());
        if question.is_sum_over_bundles() && !self.puts_kinds_into_bins(question) {
            let by = match self {
                Self::InteriorPoint { .. } => By::Sum(Finding::AtOnce),
                Self::FromLevels => By::Sum(Finding::InStages),
                Self::InManyDigits => By::Sum(Finding::InManyDigits),
                Self::InPieces => By::Sum(Finding::InPieces),
                Self::Apart => By::Apart,
                Self::Keeping { .. } => By::Keeping,
                _ => {
                    return Err(InstanceError::Unsupported(format!(
                        "{} over groups, users with kinds of tasks or quotas is solved by an interior point; take auto or ipm",
                        question.objective
                    )));
                }
            };
            return smooth::together::solve(question, self.method(), by);
        }
        match self {
            Self::PriceDiscovery { .. } => market::solve(question, self.method()),
            Self::Aggregation { patient } => {
                // Solving for users with kinds one by one takes far longer than the same without bins.
                let is_patient = patient || question.is_sum_over_bundles();
                let budget = if is_patient { f64::INFINITY } else { question.work_in_full() };
                let bins = Bins::by_direction(question.reduction(), question.bins());
                self.over_bins(question, bins, false, &interior_point, budget)
            }
            Self::InteriorPoint { .. } | Self::FromLevels => self.in_full(question, &interior_point),
            Self::InManyDigits => {
                smooth::together::solve(question, self.method(), By::Sum(Finding::InManyDigits))
            }
            Self::Apart => smooth::together::solve(question, self.method(), By::Apart),
            Self::Keeping { .. } => smooth::together::solve(question, self.method(), By::Keeping),
            Self::LevelsInWholeNumbers => {
                let solver = InWholeNumbers(question.deadline.clone());
                let bins = Bins::exact(question.reduction());
                tree::solve(question, self.method(), bins, &solver, f64::INFINITY)
            }
            Self::InPieces | Self::InWholeNumbers => {
                let bins = Bins::alike(question.reduction(), 0.0);
                let solver = smooth::LinearSum {
                    deadline: question.deadline.clone(),
                    in_whole_numbers: matches!(self, Self::InWholeNumbers),
                };
                smooth::solve_over(question, self.method(), bins, true, &solver, f64::INFINITY, None)
            }
            Self::Highs(algorithm) => self.in_full(question, &Highs(algorithm, question.deadline.clone())),
            Self::Exact(Fractions::AfterOpenPart | Fractions::AtLast) if best.is_some() => {
                exact::solve(question, || best.cloned())
            }
            Self::Exact(_) => exactly(question),
        }
    }

    /// Whether a sum over users with kinds is solved kind by kind.
    fn puts_kinds_into_bins(self, question: &Question<'_>) -> bool {
        matches!(self, Self::Aggregation { .. })
            && question.alpha() >= AGGREGATED_FROM
            && question.is_sum_over_many_kinds()
    }

    /// Over bins of users that are alike.
    fn in_full(
        self,
        question: &Question<'_>,
        solver: &(impl LevelSolver + SumSolver),
    ) -> Result<Solution, InstanceError> {
        let reduction = question.reduction();
        let bins = match question.objective.alpha() {
            Some(alpha) => Bins::alike(reduction, alpha),
            None => Bins::exact(reduction),
        };
        self.over_bins(question, bins, true, solver, f64::INFINITY)
    }

    fn over_bins(
        self,
        question: &Question<'_>,
        bins: Bins,
        alike: bool,
        solver: &(impl LevelSolver + SumSolver),
        budget: f64,
    ) -> Result<Solution, InstanceError> {
        match question.objective.alpha() {
            Some(alpha) => {
                let shares =
                    if matches!(self, Self::FromLevels) { Some(levels(question, alpha)?) } else { None };
                smooth::solve_over(question, self.method(), bins, alike, solver, budget, shares)
            }
            // The tree knows limits and guarantees, whether it has groups or not.
            None if question.instance.has_groups() || !question.instance.quotas().is_empty() => {
                tree::solve(question, self.method(), bins, solver, budget)
            }
            None => {
                let is_open_part =
                    matches!(self, Self::InteriorPoint { .. }) && question.uses_up_classes_one_by_one();
                let levels_by = match is_open_part {
                    true => LevelBy::OpenPart(OpenPart::of(question.reduction(), &bins)),
                    false => LevelBy::Rounds { budget },
                };
                lexicographic::solve(question, self.method(), bins, solver, levels_by)
            }
        }
    }
}

/// Whether an answer as fractions is worth looking for where they are not asked for.
fn is_small_for_fractions(question: &Question<'_>) -> bool {
    let (pairs, rows) = exact::SMALL_WHERE_UNLIKE;
    let few = match question.uses_up_classes_one_by_one() {
        true => question.allowed_pairs() <= pairs && question.reduction().capacities.len() <= rows,
        false => question.allowed_pairs() <= exact::SMALL,
    };
    (few || question.pairs() <= exact::SMALL) && exact::covers(question).is_ok()
}

/// The share that each user has in the max-min, weights counting as they do for α.
fn levels(question: &Question<'_>, alpha: f64) -> Result<Vec<f64>, InstanceError> {
    let deadline = question.deadline;
    let levels =
        Question::new(question.instance, Objective::Drfh, question.backend, deadline).tempered(alpha);
    let bins = Bins::exact(levels.reduction());
    let solver = InteriorPoint(deadline.clone());
    let solution =
        lexicographic::solve(&levels, "", bins, &solver, LevelBy::Rounds { budget: f64::INFINITY })?;
    let users = &question.reduction().users;
    let share = |i: usize| solution.allocation.dominant_share(question.instance, UserId(users.position(i)));
    Ok((0..users.len()).map(share).collect())
}

/// The solution in fractions.
pub(crate) fn exactly(question: &Question<'_>) -> Result<Solution, InstanceError> {
    // What is open tells enough where others take long to tell less.
    let open_part: &[Way] = &[Way::InteriorPoint { first: true }];
    let ways = if question.uses_up_classes_one_by_one() { open_part } else { IN_DOUBLES };
    exact::solve(question, || solve(question, ways, &mut |_| true).ok())
}

/// Tries the ways that apply, in order, until an answer is certified and accepted or the time is over; then the answer with the
/// smallest gap. A single way is tried whatever it takes.
///
/// # Errors
/// What the first of them said, when none gave an answer.
pub(crate) fn solve(
    question: &Question<'_>,
    ways: &[Way],
    accept: &mut dyn FnMut(&Solution) -> bool,
) -> Result<Solution, InstanceError> {
    // How a group divides what it is guaranteed is a max-min, which what is only for sums does not solve.
    let inside: &[Way] =
        if matches!(ways, [Way::InPieces]) { &[Way::InteriorPoint { first: false }] } else { ways };
    question.solve_guaranteed(|alone| solve(alone, inside, &mut |_| true))?;
    let (mut best, mut failure) = (None::<Solution>, None);
    let (mut iterations, mut rounds, mut is_certified) = (0, 0, false);
    let mut left = ways.iter().filter(|way| ways.len() == 1 || way.applies(question)).peekable();
    while let Some(way) = left.next() {
        match way.solve(question, best.as_ref()) {
            Ok(solution) => {
                let Statistics { iterations: spent, rounds: more, .. } = solution.statistics;
                (iterations, rounds) = (iterations + spent, rounds + more);
                let certified = solution.status == Status::Optimal && accept(&solution);
                let gap = |solution: &Solution| gap(question.instance, solution);
                if certified || best.as_ref().is_none_or(|best| gap(&solution) < gap(best)) {
                    best = Some(solution);
                }
                if certified {
                    is_certified = true;
                    break;
                }
            }
            // Proved by prices, whichever way found them.
            Err(error @ InstanceError::Guarantees(_)) => return Err(error),
            // Many digits know where everybody's share ends, so that this is so at the optimum.
            Err(error @ InstanceError::NoOneAnswer(_)) if matches!(way, Way::InManyDigits) => {
                return Err(error);
            }
            // What the first way says, unless a later one would have had an answer in more time.
            Err(error @ InstanceError::OutOfTime) => failure = Some(error),
            Err(error) => failure = failure.or(Some(error)),
        }
        if question.deadline.is_over() {
            // What one way refuses another may solve, given time.
            if left.peek().is_some() {
                failure = Some(InstanceError::OutOfTime);
            }
            break;
        }
    }
    if let Some(found) = best.as_ref().filter(|_| is_certified && ways.len() > 1)
        && let Some(other) = leaves_more(question, found, accept)
    {
        best = Some(other);
    }
    let may_try = !is_certified && !question.deadline.is_over();
    if may_try && ways.len() > 1 && !question.guaranteed().groups.is_empty() {
        // What is not accepted may be how a group divides what it is guaranteed: each way for that, too.
        for way in ways.iter().filter(|way| way.applies(question)) {
            let Question { instance, objective, backend, deadline, .. } = *question;
            let again = Question::new(instance, objective, backend, deadline);
            match solve(&again, std::slice::from_ref(way), accept) {
                Ok(solution) if solution.status == Status::Optimal && accept(&solution) => {
                    return Ok(solution);
                }
                _ if deadline.is_over() => break,
                _ => {}
            }
        }
    }
    let nothing = || {
        let problem = format!("no method applies to {}", question.objective);
        failure.unwrap_or(InstanceError::Unsupported(problem))
    };
    let mut solution = best.ok_or_else(nothing)?;
    (solution.statistics.iterations, solution.statistics.rounds) = (iterations, rounds);
    Ok(solution)
}

/// Whether many digits take no longer than is worth it.
fn is_for_many_digits(question: &Question<'_>) -> bool {
    question.pairs() <= IN_MANY_DIGITS.0 || question.work_over_rows() <= IN_MANY_DIGITS.1
}

/// Whether keeping what others have is tried before many digits.
fn is_soon_kept(question: &Question<'_>) -> bool {
    question.pairs() <= LOOKED_AT_AGAIN || !is_for_many_digits(question)
}

/// A sum that is proved as well and leaves more to those who are next to nothing in it, of which no gap of the whole says anything: where others run
/// makes no difference to these, and much to them.
fn leaves_more(
    question: &Question<'_>,
    found: &Solution,
    accept: &mut dyn FnMut(&Solution) -> bool,
) -> Option<Solution> {
    let Question { instance, objective, .. } = *question;
    let alpha = objective.alpha().filter(|alpha| *alpha > 0.0)?;
    if question.pairs() > LOOKED_AT_AGAIN {
        return None;
    }
    let log_shares = |solution: &Solution| -> Vec<f64> {
        let share = |user: User<'_>| solution.allocation.dominant_share(instance, user.index());
        instance.users().map(share).filter(|share| *share > 0.0).map(f64::ln).collect()
    };
    let weights =
        instance.users().filter(|user| found.allocation.dominant_share(instance, user.index()) > 0.0);
    let worth = |(user, log_share): (User<'_>, &f64)| user.weight().to_f64().ln() + (1.0 - alpha) * log_share;
    let had = log_shares(found);
    let worths: Vec<f64> = weights.zip(&had).map(worth).collect();
    let (least, most) = worths
        .iter()
        .fold((f64::INFINITY, f64::NEG_INFINITY), |(least, most), worth| (worth.min(least), worth.max(most)));
    if least > most + TOLD.ln() || question.deadline.is_over() {
        return None;
    }
    let other = Way::Keeping { first: true }.solve(question, Some(found)).ok()?;
    let sum = |logs: &[f64]| logs.iter().sum::<f64>();
    let is_more = sum(&log_shares(&other)) > sum(&had) + LEAVES_MORE;
    (is_more && other.status == Status::Optimal && accept(&other)).then_some(other)
}

/// How far an answer is from being proved, as the widest relative gap of what it states; where time was over before its last level, as what
/// users have is from the levels that it has.
fn gap(instance: &Instance, solution: &Solution) -> f64 {
    let gap = match &solution.certificate {
        Certificate::Levels { levels, level_of } => {
            let of_level = levels.iter().map(|level| 1.0 - level.value / level.bound);
            let by_capacity = |i: &usize| solution.limited_by[*i] == LimitedBy::Capacity;
            let of_user = (0..level_of.len()).filter(by_capacity).map(|i| {
                let share = objective_share(instance, solution, UserId(i))
                    / instance.user(UserId(i)).weight().to_f64();
                levels.get(level_of[i] as usize).map_or(1.0, |level| (1.0 - share / level.value).abs())
            });
            let is_plain = !instance.has_groups() && instance.quotas().is_empty();
            let of_users = is_plain.then_some(of_user).into_iter().flatten();
            // `max` would pass over what is no number.
            of_level.chain(of_users).fold(0.0, |widest, gap| if gap <= widest { widest } else { gap })
        }
        Certificate::Total(total) => total.relative_gap,
        Certificate::Bottlenecks => 0.0,
    };
    if gap.is_nan() { f64::INFINITY } else { gap }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fairplan_instances::{Deadline, Draft, DraftQuota, Objective, Quota, ResourceId, generate};

    #[test]
    fn an_answer_that_is_not_accepted_is_followed_by_those_of_all_other_ways() {
        let instance = generate::drfh_fig1().unwrap();
        let deadline = Deadline::never();
        let question = Question::new(&instance, Objective::Drfh, "auto", &deadline);
        let mut tried = Vec::new();
        let by_simplex = solve(&question, ALL, &mut |solution| {
            tried.push(solution.method);
            solution.method == "simplex"
        });
        assert_eq!(tried, ["interior-point", "simplex"]);
        assert_eq!(by_simplex.unwrap().method, "simplex");
        // Refused to the last, there is an answer all the same.
        assert_eq!(solve(&question, ALL, &mut |_| false).unwrap().status, Status::Optimal);
    }

    #[test]
    fn pieces_and_the_interior_point_prove_the_same_sum() {
        let mut draft = Draft::from(&generate::drfh_fig1().unwrap());
        let owners: Vec<String> = draft.users.iter().map(|user| user.id.clone()).collect();
        let amount = |amount: u32| vec![(ResourceId(0), amount.into())];
        let limit = Quota { limit: amount(3), ..Quota::default() };
        let guarantee = Quota { guarantee: amount(9), ..Quota::default() };
        let of = |owner: &String, quota| DraftQuota { is_group: false, owner: owner.clone(), quota };
        let deadline = Deadline::never();
        for quotas in
            [vec![of(&owners[0], limit.clone())], vec![of(&owners[0], limit), of(&owners[1], guarantee)]]
        {
            draft.quotas = quotas;
            let instance = draft.build().unwrap();
            for alpha in [0.0, 0.5, 1.0, 2.0, 8.0, 64.0] {
                let question =
                    Question::new(&instance, Objective::alpha_fair(alpha).unwrap(), "auto", &deadline);
                let value = |way| {
                    let solution = solve(&question, &[way], &mut |_| true).unwrap();
                    assert_eq!(solution.status, Status::Optimal, "alpha {alpha}");
                    let Certificate::Total(total) = solution.certificate else { panic!("it is a sum") };
                    (total.value.abs().ln(), total.exponent)
                };
                let (ours, theirs) = (value(Way::InPieces), value(Way::InteriorPoint { first: false }));
                assert!(
                    (ours.0 - theirs.0).abs() < 1e-8 && ours.1 == theirs.1,
                    "alpha {alpha}: {ours:?} {theirs:?}"
                );
            }
        }
    }
}
