//! Tasks only where they can run, no class overloaded, no task limit passed: decided exactly, without tolerance. Where
//! all servers are one, they are the one class.

use crate::claim::Tasks;
use crate::exact::{Dyadic, Tally, excess};
use crate::parts::in_parts;
use crate::users::UsableClasses;
use crate::verdict::{Verdict, Worst};
use fairplan_instances::{ClassId, Instance, KindId, ResourceId, User, UserId};
use std::ops::Range;

/// The three verdicts, and the load of every class in whole smallest units, row-major `classes × resources`.
pub(crate) struct Feasibility {
    pub verdicts: [Verdict; 3],
    pub loads: Vec<f64>,
}

/// What tasks are held against.
pub(crate) struct Capacities<'a> {
    pub instance: &'a Instance,
    pub pooled: bool,
}

impl Capacities<'_> {
    fn classes(&self) -> usize {
        if self.pooled { 1 } else { self.instance.classes().len() }
    }

    /// In whole smallest units.
    pub fn units(&self, class: usize, resource: usize) -> u128 {
        if self.pooled {
            self.instance.total_units(ResourceId(resource))
        } else {
            capacity_units(self.instance, class, resource)
        }
    }

    fn name(&self, class: usize) -> String {
        if self.pooled { "the pool".into() } else { format!("class {}", self.instance.classes()[class].id) }
    }
}

/// What a part of the users shows.
struct Part {
    eligibility: Worst,
    limits: Worst,
    /// The load of every class, row-major `classes × resources`.
    tallies: Vec<Tally>,
}

/// Judges tasks that are finite and >= 0.
pub(crate) fn judge(
    instance: &Instance,
    usable_classes: &UsableClasses,
    tasks: &Tasks<'_>,
    pooled: bool,
) -> Feasibility {
    let m = instance.resources().len();
    let capacities = Capacities { instance, pooled };
    let unloaded: Vec<Tally> = (0..capacities.classes())
        .flat_map(|class| (0..m).map(move |r| (class, r)))
        .map(|(class, r)| Tally::against(capacities.units(class, r)))
        .collect();
    let parts =
        in_parts(instance.user_count(), |users| part(&capacities, usable_classes, tasks, users, &unloaded));
    let Part { eligibility, limits, tallies } = parts
        .into_iter()
        .reduce(|mut all, part| {
            all.eligibility.merge(part.eligibility);
            all.limits.merge(part.limits);
            all.tallies.iter_mut().zip(&part.tallies).for_each(|(sum, tally)| sum.merge(tally));
            all
        })
        .unwrap_or_else(|| Part::new(unloaded));

    let mut capacity = Worst::of("capacity", 0.0);
    for position in (0..tallies.len()).filter(|&position| !tallies[position].fits()) {
        let (class, r) = (position / m, ResourceId(position % m));
        let over = excess(terms_on(instance, usable_classes, tasks, class, r), capacities.units(class, r.0));
        capacity.see(over, || {
            let (class, resource) = (capacities.name(class), &instance.resources()[r.0]);
            format!("{class} is loaded with {over:e} of its {resource} too much")
        });
    }
    Feasibility {
        verdicts: [eligibility.verdict(), capacity.verdict(), limits.verdict()],
        loads: tallies.iter().map(Tally::units).collect(),
    }
}

impl Part {
    fn new(tallies: Vec<Tally>) -> Self {
        Self { eligibility: Worst::of("eligibility", 0.0), limits: Worst::of("task-limits", 0.0), tallies }
    }
}

/// Judges some users, starting from classes without load.
fn part(
    capacities: &Capacities<'_>,
    usable_classes: &UsableClasses,
    tasks: &Tasks<'_>,
    users: Range<usize>,
    unloaded: &[Tally],
) -> Part {
    let instance = capacities.instance;
    let m = instance.resources().len();
    let Part { mut eligibility, mut limits, mut tallies } = Part::new(unloaded.to_vec());
    let mut demand = vec![Dyadic::at_least(0); m];
    for position in users {
        let user = instance.user(UserId(position));
        for kind in usable_classes.kinds(user) {
            let usable = usable_classes.of_kind(kind);
            for (r, units) in demand.iter_mut().enumerate() {
                *units = Dyadic::at_least(usable_classes.demand_units(user, kind, ResourceId(r)));
            }
            let mut of_limit = user.tasks().map(|limit| Tally::against(u128::from(limit)));
            tasks.visit(position, kind, |class, here| {
                if !usable.contains(class) {
                    eligibility.fail(|| {
                        let class = capacities.name(class);
                        format!("{} has {here} tasks on {class}, which it cannot use", named(kind, user))
                    });
                }
                let here = Dyadic::of(here);
                for (tally, units) in tallies[class * m..].iter_mut().zip(&demand) {
                    tally.add(here, *units);
                }
                if let Some(tally) = &mut of_limit {
                    tally.add(here, Dyadic::at_least(1));
                }
            });
            if let (Some(tally), Some(limit)) = (of_limit, user.tasks())
                && !tally.fits()
            {
                let mut terms = Vec::new();
                tasks.visit(position, kind, |_, here| terms.push((here, 1)));
                let over = excess(terms.into_iter(), u128::from(limit));
                limits.see(over, || {
                    format!(
                        "{} has {} tasks, {over:e} of its {limit} too many",
                        named(kind, user),
                        tally.units()
                    )
                });
            }
        }
    }
    Part { eligibility, limits, tallies }
}

/// The user, or the kind of it that is meant.
fn named(kind: usize, user: User<'_>) -> String {
    match user.kinds().find(|known| known.index() == KindId(kind)).and_then(|kind| kind.id()) {
        None => format!("user {}", user.id()),
        Some(kind) => format!("kind {kind} of user {}", user.id()),
    }
}

/// All servers of a class together, in whole smallest units.
pub(crate) fn capacity_units(instance: &Instance, class: usize, resource: usize) -> u128 {
    let one = instance.capacity_units(ClassId(class), ResourceId(resource));
    one * u128::from(instance.classes()[class].count)
}

/// Every user's tasks on a class, with one task's demand of a resource.
fn terms_on(
    instance: &Instance,
    usable_classes: &UsableClasses,
    tasks: &Tasks<'_>,
    class: usize,
    resource: ResourceId,
) -> impl Iterator<Item = (f64, u128)> {
    (0..instance.user_count()).flat_map(move |user| {
        let (mut terms, view) = (Vec::new(), instance.user(UserId(user)));
        for kind in usable_classes.kinds(view) {
            let units = usable_classes.demand_units(view, kind, resource);
            tasks.visit(user, kind, |other, here| {
                if other == class {
                    terms.push((here, units));
                }
            });
        }
        terms
    })
}
