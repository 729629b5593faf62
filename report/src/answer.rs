//! What a result says, as one or two plain sentences with numbers: the first thing that is read, in a terminal and on a page
//! alike.

use crate::allocation::AllocationDocument;
use crate::audit::{AuditDocument, Holds};
use crate::bound::BoundDocument;
use crate::comparison::{ComparisonDocument, PolicyResult};
use crate::entitlements::EntitlementsDocument;
use crate::explanation::ExplanationDocument;
use crate::flows::FlowsDocument;
use crate::names::cut;
use crate::offline::{OfflineDocument, TaskOfflineDocument};
use crate::placement::PlacementDocument;
use crate::planning::{DifferenceDocument, GrowthDocument, LossDocument, PlanDocument, WorthDocument};
use crate::proportional_bound::ProportionalBoundDocument;
use crate::reproduction::ReproductionDocument;
use crate::simulation::SimulationDocument;
use crate::solution::{LimitName, SolutionDocument};
use crate::task_allocation::TaskAllocationDocument;
use crate::units::{counted, money, number, percent, share, thousands};
use crate::verification::VerificationDocument;

/// Letters of a name in a sentence, where it stands alone and must tell who is meant.
const NAME: usize = 64;

/// Names in a list, before the rest is counted.
const NAMES: usize = 3;

/// What a share is, where a result states shares.
pub(crate) const OF_SHARES: &str = "A user's share is the part of the whole cluster that it has of the resource it needs most; \
                                    where users have weights, shares are compared after dividing them by those.";

fn name(name: &str) -> String {
    cut(name, NAME)
}

fn users(n: usize) -> String {
    counted(n as u64, "user", "users")
}

/// `a, b and c`; of many, the first ones and how many there are besides.
pub(crate) fn listed(names: &[String]) -> String {
    let more = format!("{} more", thousands(names.len().saturating_sub(NAMES) as u64));
    match names {
        [] => String::new(),
        [only] => only.clone(),
        all if all.len() > NAMES + 1 => format!("{} and {more}", all[..NAMES].join(", ")),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

fn all_of(n: usize) -> String {
    if n == 2 { "Both".into() } else { format!("All {n}") }
}

/// How users fare: of so many, so many have all their tasks, so many are held by full servers, so many have nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Fates {
    all_tasks: u64,
    held: u64,
    nothing: u64,
}

impl Fates {
    /// Counts what limits each user.
    pub fn of(limits: impl Iterator<Item = LimitName>) -> Self {
        let mut fates = Self::default();
        for limit in limits {
            match limit {
                LimitName::Tasks => fates.all_tasks += 1,
                LimitName::Capacity => fates.held += 1,
                LimitName::NoUsableClass => fates.nothing += 1,
            }
        }
        fates
    }

    /// The sentence.
    pub fn told(self) -> String {
        let users = |n: u64| counted(n, "user", "users");
        let all = self.all_tasks + self.held + self.nothing;
        let nothing = match self.nothing {
            0 => String::new(),
            n => format!("; {} can run on no server", users(n)),
        };
        match (self.all_tasks, self.held) {
            (0, 0) => format!("No user can run on any server ({}).", users(all)),
            (1, 0) if all == 1 => "The only user has all the tasks that it asks for.".into(),
            (_, 0) if self.nothing == 0 => {
                format!("All {} have all the tasks that they ask for.", users(all))
            }
            (some, 0) => format!(
                "{} {} all the tasks asked for{nothing}.",
                users(some),
                if some == 1 { "has" } else { "have" }
            ),
            (0, held) if held == all => format!(
                "{} by full servers: {} would take more.",
                if all == 1 {
                    "The only user is held".into()
                } else {
                    format!("All {} are held", users(all))
                },
                if all == 1 { "it" } else { "they" }
            ),
            (some, held) => {
                let some = match some {
                    0 => String::new(),
                    some => {
                        format!("; {} {} all asked for", users(some), if some == 1 { "has" } else { "have" })
                    }
                };
                format!("{} of {} are held by full servers{some}{nothing}.", thousands(held), users(all))
            }
        }
    }
}

/// Who of these has the least.
fn worst_off<'a>(shares: impl Iterator<Item = (&'a str, f64)>) -> String {
    match shares.min_by(|a, b| a.1.total_cmp(&b.1)) {
        Some((id, least)) => format!("the smallest share is {} (user {})", share(least), name(id)),
        None => "there are no users".into(),
    }
}

/// A solution.
pub(crate) fn solution(document: &SolutionDocument<'_>) -> String {
    let users = &document.users;
    let fates = Fates::of(users.limited_by.iter().copied()).told();
    let least = worst_off(users.ids.iter().zip(users.dominant_shares.iter().copied()));
    format!("{fates} Of the whole cluster, {least}.")
}

/// A placement.
pub(crate) fn placement(document: &PlacementDocument<'_>) -> String {
    let tasks = document.users.iter().map(|user| user.tasks).fold(0, u64::saturating_add);
    let least = worst_off(document.users.iter().map(|user| (&*user.id, user.dominant_share)));
    let placed = counted(tasks, "whole task", "whole tasks");
    format!("{} places {placed}; {least}.", name(&document.policy))
}

/// A comparison: which policy does best, whether anything could do better, and how bad a bad choice is.
pub(crate) fn comparison(document: &ComparisonDocument<'_>) -> String {
    let policies = &document.policies;
    let Some(best) = policies.iter().max_by(|a, b| a.value.total_cmp(&b.value)) else {
        return "No policy was compared.".into();
    };
    // What sums of doubles leave over does not tell policies apart.
    let same = |a: f64, b: f64| (a - b).abs() <= 1e-9 * a.abs().max(b.abs());
    let winners: Vec<String> = (policies.iter())
        .filter(|policy| same(policy.value, best.value))
        .map(|policy| name(&policy.name))
        .collect();
    let least = share(best.value);
    let all = winners.len() == policies.len() && policies.len() > 1;
    let first = match (all, winners.len()) {
        (true, n) => {
            format!("{} policies do equally well: the worst-off user has a share of {least}", all_of(n))
        }
        (false, 1) => format!("{} does best: the worst-off user has a share of {least}", listed(&winners)),
        (false, _) => format!("{} do best: the worst-off user has a share of {least}", listed(&winners)),
    };
    let better = better(document, best);
    let worst =
        policies.iter().min_by(|a, b| a.value.total_cmp(&b.value)).filter(|_| !all && policies.len() > 1);
    let worst = worst.map_or_else(String::new, |worst| {
        format!(" With {}, the worst, it has {}.", name(&worst.name), share(worst.value))
    });
    format!("{first}{better}.{worst}")
}

/// Whether anything could do better than the best policy.
fn better(document: &ComparisonDocument<'_>, best: &PolicyResult<'_>) -> String {
    let bounds = document.bounds;
    match (best.proved_optimal, bounds.integral_upper, bounds.integral_lower) {
        (Some(true), ..) => ", and no placement of whole tasks can give it more (proved)".into(),
        (_, Some(upper), Some(lower)) if lower > best.value && lower >= upper * (1.0 - 1e-9) => {
            format!("; the best placement there is (proved) has {}", share(lower))
        }
        (_, Some(upper), lower) => {
            let had = lower.filter(|lower| *lower > best.value);
            let had =
                had.map_or_else(String::new, |lower| format!(" a better placement has {},", share(lower)));
            format!(";{had} no placement of whole tasks can give it more than {}", share(upper))
        }
        _ => format!("; if tasks could be divided at will, it would have {}", share(bounds.divisible)),
    }
}

/// A bracket of what whole tasks can reach.
pub(crate) fn bound<S>(document: &BoundDocument<'_, S>) -> String {
    let (upper, lower) = match &document.others {
        Some(others) => (others.integral_upper, others.integral_lower),
        None => (document.integral_upper, document.integral_lower),
    };
    if upper == 0.0 && lower == 0.0 {
        return "No user can have a whole task.".into();
    }
    let who = if document.users_without_tasks.is_empty() {
        "every user"
    } else {
        "every user that can have a task"
    };
    match document.proved_optimal {
        true => format!(
            "Whole tasks can give {who} a share of {}, and no placement can give all of them more (proved).",
            share(lower)
        ),
        false => format!(
            "A placement of whole tasks gives {who} a share of {}; none can give all of them more than {}.",
            share(lower),
            share(upper)
        ),
    }
}

/// A bracket of the sum of logarithms.
pub(crate) fn proportional_bound<S>(document: &ProportionalBoundDocument<'_, S>) -> String {
    match (document.proved_optimal, document.integral_lower, document.gap_per_weight) {
        (true, ..) => {
            "The placement found has the largest sum of logarithms of shares there is (proved).".into()
        }
        (false, Some(_), Some(gap)) => format!(
            "No placement of whole tasks is better than the one found by more than {gap:.1e} for each unit of weight: about so \
             large a part of every user's share."
        ),
        _ => "No placement was found that gives every user a task.".into(),
    }
}

/// An audit.
pub(crate) fn audit(document: &AuditDocument<'_>) -> String {
    let of = |holds: Holds| {
        let properties = document.properties.iter().filter(move |property| property.holds == holds);
        properties.map(|property| property.name.to_string()).collect::<Vec<_>>()
    };
    let (holding, failing) = (of(Holds::Tested(true)), of(Holds::Tested(false)));
    let tested = holding.len() + failing.len();
    let objective = &document.objective;
    match failing.len() {
        0 => format!("On this instance {objective} has all {tested} fairness properties that apply."),
        _ => format!(
            "On this instance {objective} has {} of {tested} fairness properties; it fails {}.",
            holding.len(),
            listed(&failing)
        ),
    }
}

/// A verification.
pub(crate) fn verification(document: &VerificationDocument<'_>) -> String {
    let failing: Vec<String> = document
        .verdicts
        .iter()
        .filter(|verdict| !verdict.holds)
        .map(|verdict| verdict.property.to_string())
        .collect();
    match document.holds && failing.is_empty() {
        true => format!(
            "The result was checked anew from its numbers: all {} properties hold.",
            document.verdicts.len()
        ),
        false => format!("The result is NOT to be trusted: {} fails.", listed(&failing)),
    }
}

/// What schedulers' rules promise.
pub(crate) fn entitlements(document: &EntitlementsDocument<'_>) -> String {
    let broken: Vec<String> = (document.rules.iter())
        .filter(|rule| rule.kept < 1.0 - 1e-9)
        .map(|rule| format!("{} of what {} promises", percent(rule.kept), rule.name))
        .collect();
    match broken.is_empty() {
        true => "The servers can keep every promise of every rule.".into(),
        false => format!("The servers can keep only {}.", listed(&broken)),
    }
}

/// Why a user has its share.
pub(crate) fn explanation(document: &ExplanationDocument<'_>) -> String {
    let (tasks, part, resource) =
        (number(document.tasks), share(document.dominant_share), name(&document.dominant_resource));
    let has = format!("User {} gets {tasks} tasks, {part} of all {resource}.", name(&document.user));
    let why = match document.limited_by {
        LimitName::Tasks => "It has no more tasks: nothing else holds it.".to_owned(),
        LimitName::NoUsableClass => format!("It has nothing: {}.", document.why_nothing.join("; ")),
        LimitName::Capacity => {
            let level = document.level.map_or(String::new(), |level| {
                format!(" at level {} (weighted share {})", level.position, share(level.value))
            });
            let held: Vec<String> = (document.held_by.iter())
                .map(|held| format!("{} in class {}", name(&held.resource), name(&held.class)))
                .collect();
            let by = if held.is_empty() { "what the others have".into() } else { listed(&held) };
            format!("It is held{level} by {by}.")
        }
    };
    format!("{has} {why}")
}

/// An allocation of slices.
pub(crate) fn allocation(document: &AllocationDocument<'_>) -> String {
    let metrics = &document.metrics;
    let useful: u64 = document.users.iter().map(|user| user.useful).fold(0, u64::saturating_add);
    let least = (document.users.iter())
        .filter_map(|user| Some((&*user.id, user.welfare?)))
        .min_by(|a, b| a.1.total_cmp(&b.1))
        .map_or_else(String::new, |(id, welfare)| {
            format!("; the least served user, {}, has {} of what it asked for", name(id), percent(welfare))
        });
    format!(
        "{} hands out {} that are of use, {} of all there are{least}.",
        document.mechanism,
        counted(useful, "slice", "slices"),
        percent(metrics.utilization)
    )
}

/// An allocation of tasks.
pub(crate) fn task_allocation(document: &TaskAllocationDocument<'_>) -> String {
    let least = (document.users.iter())
        .filter_map(|user| Some((&*user.id, user.welfare?)))
        .min_by(|a, b| a.1.total_cmp(&b.1))
        .map_or_else(String::new, |(id, welfare)| {
            format!("; the least served user, {}, has {} of what it asked for", name(id), percent(welfare))
        });
    format!(
        "{} uses {} of the resource that is used most{least}.",
        document.mechanism,
        percent(document.metrics.utilization)
    )
}

/// Who comes nearest to an optimum.
fn nearest(against: &[crate::offline::Against<'_>]) -> String {
    let best = against.iter().min_by(|a, b| a.regret.total_cmp(&b.regret));
    best.map_or_else(String::new, |best| {
        let lost = if best.regret.abs() < 1e-9 {
            "no less".into()
        } else {
            format!("{} less", percent(best.regret))
        };
        format!(" {} comes nearest without knowing what is to come, with {lost}.", name(&best.mechanism))
    })
}

/// What a measure of the optimum over all quanta comes to.
pub(crate) fn measured(measure: &str, value: f64) -> String {
    if measure == "welfare" { percent(value) } else { number(value) }
}

/// The optimum over all quanta, of slices.
pub(crate) fn offline(document: &OfflineDocument<'_>) -> String {
    let value = measured(&document.measure, document.value);
    let who = "Knowing all demands beforehand, the least served user can have";
    let of = if document.measure == "welfare" {
        " of what it asks for".into()
    } else {
        format!(" ({})", document.measure)
    };
    format!("{who} {value}{of}.{}", nearest(&document.against))
}

/// The optimum over all quanta, of tasks.
pub(crate) fn task_offline(document: &TaskOfflineDocument<'_>) -> String {
    let value = measured(&document.measure, document.value);
    let of = if document.measure == "welfare" {
        "of what it asks for"
    } else {
        "(dominant share, added up over the quanta)"
    };
    format!(
        "Knowing all demands beforehand, the least served user can have {value} {of}.{}",
        nearest(&document.against)
    )
}

/// Stochastic demand.
pub(crate) fn flows(document: &FlowsDocument<'_>) -> String {
    let heaviest = document.results.iter().map(|result| result.load).fold(f64::NEG_INFINITY, f64::max);
    let classes = document.results.iter().filter(|result| result.load == heaviest).flat_map(|result| {
        result.classes.iter().map(move |class| (&*result.objective, &*class.id, class.service_rate))
    });
    match classes.min_by(|a, b| a.2.total_cmp(&b.2)) {
        Some((objective, class, rate)) => format!(
            "At the heaviest load, {}, the slowest is class {} under {objective}: its service rate is {}.",
            number(heaviest),
            name(class),
            number(rate)
        ),
        None => "All loads are too much: what waits grows without end.".into(),
    }
}

/// A simulation.
pub(crate) fn simulation(document: &SimulationDocument<'_>) -> String {
    let runs = &document.policies;
    let by = |a: &&crate::simulation::PolicyRun<'_>, b: &&crate::simulation::PolicyRun<'_>| {
        a.completion_ratio.total_cmp(&b.completion_ratio)
    };
    let (Some(most), Some(least)) = (runs.iter().rev().max_by(by), runs.iter().min_by(by)) else {
        return "No policy was run.".into();
    };
    let done = |run: &crate::simulation::PolicyRun<'_>| percent(run.completion_ratio);
    if runs.len() == 1 {
        let waiting = counted(most.tasks.waiting, "task waits", "tasks wait");
        return format!("{} completes {} of the tasks; {waiting} at the end.", most.policy, done(most));
    }
    if most.completion_ratio == least.completion_ratio {
        return format!("{} policies complete {} of the tasks.", all_of(runs.len()), done(most));
    }
    format!(
        "{} completes the most tasks, {}, and {} the fewest, {}.",
        most.policy,
        done(most),
        least.policy,
        done(least)
    )
}

/// A sum of money with its currency.
pub(crate) fn price(amount: f64, currency: &str) -> String {
    format!("{} {}", money(amount), cut(currency, 20)).trim_end().to_owned()
}

/// A purchase.
pub(crate) fn plan(document: &PlanDocument<'_>) -> String {
    let currency = &*document.catalog.currency;
    match (&document.purchase, &document.obstacle) {
        (Some(purchase), _) if purchase.servers.is_empty() => "Nothing need be bought.".into(),
        (Some(purchase), _) => {
            let servers: Vec<String> = (purchase.servers.iter())
                .map(|bought| format!("{} {}", thousands(bought.count), name(&bought.kind)))
                .collect();
            let cheapest = if purchase.gap == 0.0 {
                "nothing cheaper is enough".into()
            } else {
                format!("less than {} cannot be enough", price(purchase.bound, currency))
            };
            format!("Buy {} for {}: {cheapest}.", listed(&servers), price(purchase.cost, currency))
        }
        (None, Some(obstacle)) if obstacle.nowhere => format!(
            "Out of reach: no server that there is or can be bought takes a task of user {}.",
            name(&obstacle.user)
        ),
        (None, Some(obstacle)) => format!(
            "Out of reach: {} is short. At most {} of the target can be had, for {}.",
            name(&obstacle.resource),
            percent(obstacle.part),
            price(obstacle.cost, currency)
        ),
        (None, None) => "What parts of the target cost.".into(),
    }
}

/// What servers are worth.
pub(crate) fn worth(document: &WorthDocument<'_>) -> String {
    let best = document.server_classes.iter().max_by(|a, b| a.gain.total_cmp(&b.gain));
    match best.filter(|best| best.gain >= 1e-8 * document.raised() && best.gain > 0.0) {
        Some(best) => format!(
            "One more server of class {} helps the most: the smallest share rises from {} by {} of itself.",
            name(&best.id),
            share(document.raised()),
            percent(best.gain / document.raised())
        ),
        None => format!(
            "No single server would raise the smallest share, {}: what holds it is not capacity.",
            share(document.raised())
        ),
    }
}

/// What failures cost.
pub(crate) fn losses(document: &LossDocument<'_>) -> String {
    let harmless = document.losses.iter().filter(|loss| loss.losing == 0).count();
    let Some((worst, loser)) = document.losses.iter().find_map(|loss| Some((loss, loss.losers.first()?)))
    else {
        return "Whichever of these servers fail, no user has less.".into();
    };
    let servers = counted(worst.servers, "server", "servers");
    let nothing = match worst.stranded {
        0 => String::new(),
        n => format!(", and leaves {} with nothing", users(n)),
    };
    let rest = match harmless {
        0 => String::new(),
        n => format!(" {} can lose as many without harm to anybody.", counted(n as u64, "class", "classes")),
    };
    format!(
        "The worst is to lose {servers} of class {}: it takes {} of its tasks from user {}{nothing}.{rest}",
        name(&worst.class),
        percent(loser.part),
        name(&loser.id)
    )
}

/// What differs between two clusters.
pub(crate) fn difference(document: &DifferenceDocument<'_>) -> String {
    let parts = || document.users.iter().filter_map(|user| user.part);
    let (more, less) =
        (parts().filter(|part| *part > 1e-6).count(), parts().filter(|part| *part < -1e-6).count());
    if more + less == 0 {
        return "No user that is in both has more or less.".into();
    }
    let have = |n: usize, what: &str| match n {
        0 => format!("nobody has {what}"),
        1 => format!("1 user has {what}"),
        _ => format!("{} have {what}", users(n)),
    };
    let extreme = |sign: f64| {
        let of = |user: &&crate::planning::UserDifference<'_>| sign * user.part.unwrap_or(0.0);
        let most = document.users.iter().max_by(|a, b| of(a).total_cmp(&of(b)));
        most.filter(|user| of(user) > 1e-6).map_or_else(String::new, |user| {
            format!(" (most: user {}, {} of its tasks)", name(&user.id), percent(of(&user)))
        })
    };
    let told = format!("{}{}; {}{}.", have(more, "more"), extreme(1.0), have(less, "less"), extreme(-1.0));
    told.replacen("nobody has more;", "Nobody has more;", 1)
}

/// How long a cluster lasts.
pub(crate) fn growth(document: &GrowthDocument<'_>) -> String {
    let times = number((document.part_at_one * 100.0).round() / 100.0);
    let quanta = counted(document.series.quanta, "quantum", "quanta");
    match &document.first_missed {
        None => format!("The cluster lasts through all {quanta}: it has room for {times} times the target."),
        Some(first) => format!(
            "The cluster has room for {times} times the target; that is first not enough in {}, where {} is short and only {} \
             of what is asked for can be had.",
            name(&first.quantum.to_string()),
            name(&first.resource),
            percent(first.part)
        ),
    }
}

/// A reproduction.
pub(crate) fn reproduction(document: &ReproductionDocument<'_>) -> String {
    let agree = document.numbers.iter().filter(|number| number.agrees).count();
    let all = counted(document.numbers.len() as u64, "published number", "published numbers");
    match document.numbers.len() - agree {
        0 => format!("All {all} come out as published."),
        n => format!("{n} of {all} {} out otherwise.", if n == 1 { "comes" } else { "come" }),
    }
}
