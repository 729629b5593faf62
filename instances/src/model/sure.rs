//! What a user's own guarantee comes to in tasks: the most of which all amounts hold what they take where they run, if it were alone.
//!
//! Of amounts over all classes that is `min_r a_r / D_ir`, with all kinds of a task together. Of amounts over some classes it is a linear
//! program: pieces of each kind are where whatever the kind needs of what is guaranteed anywhere is guaranteed, and no amount is exceeded. A
//! kind that needs nothing of what is guaranteed does not count.

use super::small_program::SmallProgram;
use super::{ClassId, Instance, Kind, Owner, Quota, QuotaAmount, User};

impl Instance {
    /// The tasks that a user is sure of: as many as hold what it is guaranteed, at most its own; 0 without a guarantee.
    pub fn guaranteed_tasks(&self, user: User<'_>) -> f64 {
        let quota = self.quota_of(Owner::User(user.index())).filter(|quota| quota.has_guarantee());
        let tasks = quota.map_or(0.0, |quota| most_within(user, quota));
        user.tasks().map_or(tasks, |all| tasks.min(all as f64))
    }
}

/// The most tasks within all that is guaranteed.
fn most_within(user: User<'_>, quota: &Quota) -> f64 {
    let sure: Vec<QuotaAmount<'_>> = quota.guaranteed().collect();
    if quota.guarantees.is_empty() {
        let demand = user.demand_doubles();
        let of = |sure: &QuotaAmount<'_>| sure.amount.to_f64() / demand[sure.resource.0];
        return sure.iter().map(of).fold(f64::INFINITY, f64::min);
    }
    let needs = |kind: &Kind<'_>| kind.needs_some_of(quota);
    let kinds: Vec<Vec<AlikeClasses>> =
        user.kinds().filter(needs).map(|kind| places(kind, quota, &sure)).collect();
    let of_kind = |places: &Vec<AlikeClasses>| places.iter().map(|place| place.most).sum::<f64>();
    let bound = kinds.iter().map(of_kind).fold(f64::INFINITY, f64::min);
    if bound == 0.0 || !bound.is_finite() {
        return 0.0;
    }
    // The tasks as a part of the bound, then of each place the part of what it holds alone.
    let columns = 1 + kinds.iter().map(Vec::len).sum::<usize>();
    let all = || kinds.iter().enumerate().flat_map(|(k, places)| places.iter().map(move |place| (k, place)));
    let mut program = SmallProgram::default();
    program.start((0..columns).map(|column| if column == 0 { 1.0 } else { 0.0 }));
    for k in 0..kinds.len() {
        let part =
            |(of, place): (usize, &AlikeClasses)| if of == k { -place.most.min(bound) / bound } else { 0.0 };
        program.row([1.0].into_iter().chain(all().map(part)), 0.0);
    }
    for row in 0..sure.len() {
        let part = |(_, place): (usize, &AlikeClasses)| place.taken(row) * place.most.min(bound);
        program.row([0.0].into_iter().chain(all().map(part)), 1.0);
    }
    program.maximise();
    bound * program.point.first().map_or(0.0, |part| part.min(1.0))
}

/// Classes on which the same amounts count what a kind takes.
struct AlikeClasses {
    /// The amounts by position, each with the part of it that one task's pieces of the kind take.
    rows: Vec<(usize, f64)>,
    /// The most tasks of which these hold the pieces of the kind alone.
    most: f64,
}

impl AlikeClasses {
    fn taken(&self, row: usize) -> f64 {
        self.rows.iter().find(|(at, _)| *at == row).map_or(0.0, |(_, part)| *part)
    }
}

/// Where pieces of a kind count as guaranteed, by the amounts that count them there.
fn places(kind: Kind<'_>, quota: &Quota, sure: &[QuotaAmount<'_>]) -> Vec<AlikeClasses> {
    let demand = kind.demand_doubles();
    let mut places: Vec<AlikeClasses> = Vec::new();
    for class in kind.sure_classes(quota) {
        let counts =
            |(_, sure): &(usize, &QuotaAmount<'_>)| demand[sure.resource.0] > 0.0 && sure.covers(class);
        let part =
            |(row, sure): (usize, &QuotaAmount<'_>)| (row, demand[sure.resource.0] / sure.amount.to_f64());
        let rows: Vec<(usize, f64)> = sure.iter().enumerate().filter(counts).map(part).collect();
        if places.iter().all(|place| place.rows != rows) {
            let most = 1.0 / rows.iter().map(|(_, part)| *part).fold(0.0, f64::max);
            places.push(AlikeClasses { rows, most });
        }
    }
    places
}

impl<'a> Kind<'a> {
    /// Whether its pieces need any of what is guaranteed.
    pub(super) fn needs_some_of(&self, quota: &Quota) -> bool {
        quota.guaranteed().any(|sure| !self.piece()[sure.resource.0].is_zero())
    }

    /// The classes that its pieces can use where they have a part in what is guaranteed; all that they can use if they need nothing of it.
    pub fn sure_classes<'q>(self, quota: &'q Quota) -> impl Iterator<Item = ClassId> + use<'a, 'q> {
        let classes = (0..self.user().instance().classes().len()).map(ClassId);
        classes.filter(move |class| self.can_use(*class) && quota.guarantees_on(self.piece(), *class))
    }
}
