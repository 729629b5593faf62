//! From a solved instance to its document, without holding all users at once.

use super::alone::alone_results;
use super::document::*;
use super::levels::level_result;
use super::users::*;
use fairplan_instances::{
    Certificate, ClassId, Document, Headline, Instance, InstanceStamp, Kind, ResourceMap, Solution, User,
    price_groups,
};
use serde::ser::{Serialize, Serializer};
use std::borrow::Cow;

/// The users of a solution, each computed when it is written.
#[derive(Clone, Copy)]
pub struct UserResults<'a> {
    instance: &'a Instance,
    solution: &'a Solution,
}

impl<'a> UserResults<'a> {
    /// The users of `instance` as `solution` serves them.
    pub fn new(instance: &'a Instance, solution: &'a Solution) -> Self {
        Self { instance, solution }
    }

    /// One user's part of the result.
    pub fn of(&self, user: User<'a>) -> UserResult<'a> {
        let Self { instance, solution } = *self;
        let index = user.index();
        let exact = solution.exact.as_deref();
        let placed = |kind: Kind<'a>| {
            let placement = solution.allocation.placement_of_kind(index, kind.index());
            placement.map(move |(class, tasks)| ClassTasks {
                kind: kind.id().map(Cow::Borrowed),
                class: instance.classes()[class.0].id.as_str().into(),
                tasks,
                exact: exact.and_then(|exact| exact.tasks_on(kind.index(), class)).map(Cow::Borrowed),
            })
        };
        UserResult {
            id: user.id().into(),
            dominant_resource: instance.resources()[user.dominant_resource().0].as_str().into(),
            dominant_share: solution.allocation.dominant_share(instance, index),
            tasks: solution.allocation.tasks(index),
            exact: exact.and_then(|exact| ExactUserResult::new(&exact.users[index.0])),
            limited_by: solution.limited_by[index.0],
            level: solution.certificate.level_of().map(|levels| levels[index.0]),
            placement: (!solution.allocation.is_pooled()).then(|| user.kinds().flat_map(placed).collect()),
        }
    }

    /// All users in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = UserResult<'a>> {
        let results = *self;
        self.instance.users().map(move |user| results.of(user))
    }
}

impl Serialize for UserResults<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.iter())
    }
}

/// The document of a solution, ready to be written; `timing` says whether to state the seconds it took.
pub fn solution_document<'a>(
    instance: &'a Instance,
    solution: &'a Solution,
    headline: &Headline,
    sha256: &'a str,
    timing: bool,
) -> SolutionDocument<UserResults<'a>> {
    let m = instance.resources().len();
    let classes = || instance.classes().iter().enumerate();
    let map = |numbers: &[f64]| ResourceMap::new(instance, numbers.iter().copied());
    let prices = |all: &[f64], class: usize| map(&all[class * m..(class + 1) * m]);
    let (exponent, of_prices) = match &solution.certificate {
        Certificate::Total(total) => (total.exponent, total.price_exponent),
        _ => (0, 0),
    };
    let groups = match solution.certificate {
        Certificate::Bottlenecks => Vec::new(),
        _ => price_groups(instance.classes().len(), m, &solution.certificate.prices()),
    };
    Document::new(SolutionBody {
        instance: InstanceStamp::new(instance, sha256),
        objective: solution.objective,
        backend: solution.backend.into(),
        method: solution.method.into(),
        status: solution.status,
        value: headline.value,
        value_exponent: (exponent != 0).then_some(exponent),
        price_exponent: (of_prices != exponent).then_some(of_prices),
        exact: solution.exact.as_deref().map(|exact| ExactResult::new(instance, exact)),
        level: headline.level,
        unplaced: headline.unplaced,
        groups: headline.groups.clone(),
        limits: headline.limits.clone(),
        guarantees: headline.guarantees.clone(),
        guaranteed_groups: alone_results(instance, &solution.guaranteed),
        users: UserResults::new(instance, solution),
        server_classes: classes()
            .map(|(l, class)| ClassResult {
                id: class.id.as_str().into(),
                utilization: headline.class_utilization(instance, ClassId(l)).map(|used| map(&used)),
                price: (!headline.prices.is_empty()).then(|| prices(&headline.prices, l)),
            })
            .collect(),
        price_groups: groups
            .into_iter()
            .map(|group| group.into_iter().map(|l| instance.classes()[l].id.clone()).collect())
            .collect(),
        utilization: map(&headline.utilization(instance)),
        certificate: CertificateResult {
            primal: headline.value,
            dual: headline.bound,
            relative_gap: headline.relative_gap,
            levels: match &solution.certificate {
                Certificate::Levels { levels, .. } => {
                    Some(levels.iter().map(|level| level_result(instance, level)).collect())
                }
                Certificate::Total(_) | Certificate::Bottlenecks => None,
            },
        },
        stats: SolutionStats {
            seconds: timing.then(|| (solution.statistics.seconds * 1e6).round() / 1e6),
            iterations: solution.statistics.iterations,
            rounds: solution.statistics.rounds,
            users_merged: solution.statistics.users_merged,
            classes_merged: solution.statistics.classes_merged,
        },
    })
}
