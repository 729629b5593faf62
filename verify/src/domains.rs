//! Rules between servers, recounted: whole gangs, each within one domain where that is asked for, and tasks spread over domains.

use crate::verdict::{Verdict, Worst};
use fairplan_instances::{ClassId, DomainId, Gang, Instance, Kind, KindId, ServerTasks, User};
use std::collections::HashMap;

/// `gangs`: the tasks of a user with a gang are a multiple of it; `gangs-in-domains`: in every domain, where each gang is in one;
/// `spread`: the tasks of a user in any two of its domains differ by no more than it may. Of a user with kinds a gang has so many pieces of
/// each, and what is spread are the pieces of each. The placement is well-formed.
pub(crate) fn rules_between_servers(instance: &Instance, servers: &[ServerTasks]) -> [Verdict; 3] {
    let [mut gangs, mut within, mut spread] =
        ["gangs", "gangs-in-domains", "spread"].map(|property| Worst::of(property, 0.0));
    let there = There::count(instance, servers);
    for user in instance.users() {
        if let Some(gang) = user.gang() {
            gangs_are_whole(user, gang, &there, &mut gangs);
            if gang.in_one_domain {
                gangs_are_in_domains(user, gang, &there, &mut within);
            }
        }
        if let Some(most) = user.spread() {
            user.kinds().for_each(|kind| is_spread(kind, most, &there, &mut spread));
        }
    }
    [gangs, within, spread].map(Worst::verdict)
}

/// How many pieces of each kind are in each domain; where there are no domains all servers count as one.
struct There<'a> {
    instance: &'a Instance,
    counts: HashMap<(KindId, DomainId), u64>,
}

impl<'a> There<'a> {
    fn count(instance: &'a Instance, servers: &[ServerTasks]) -> Self {
        let mut counts: HashMap<(KindId, DomainId), u64> = HashMap::new();
        let mut next = 0;
        for (class, of) in instance.classes().iter().enumerate() {
            let domain = instance.domain_of(ClassId(class)).unwrap_or(DomainId(0));
            for &(kind, count) in servers[next..next + of.count as usize].iter().flatten() {
                let sum = counts.entry((KindId(kind as usize), domain)).or_default();
                *sum = sum.saturating_add(count);
            }
            next += of.count as usize;
        }
        Self { instance, counts }
    }

    fn in_domain(&self, kind: Kind<'_>, domain: DomainId) -> u64 {
        self.counts.get(&(kind.index(), domain)).copied().unwrap_or(0)
    }

    fn domains(&self) -> impl Iterator<Item = DomainId> {
        (0..self.instance.domains().len().max(1)).map(DomainId)
    }

    fn name(&self, domain: DomainId) -> &str {
        self.instance.domains().get(domain.0).map_or("", String::as_str)
    }
}

/// What pieces of a kind are called: the tasks of a user without kinds.
fn pieces(kind: Kind<'_>) -> String {
    kind.id().map_or("tasks".into(), |id| format!("pieces of kind {id}"))
}

/// Pieces that make no whole task are of no concern here.
fn gangs_are_whole(user: User<'_>, gang: Gang, there: &There<'_>, verdict: &mut Worst) {
    let of_kind = |kind: Kind<'_>| {
        let all = there.domains().map(|domain| there.in_domain(kind, domain));
        all.fold(0, u64::saturating_add) / kind.each()
    };
    let all = user.kinds().map(of_kind).min().unwrap_or(0);
    if !all.is_multiple_of(gang.tasks) {
        verdict.fail(|| format!("user {} runs {all} tasks, in gangs of {}", user.id(), gang.tasks));
    }
}

fn gangs_are_in_domains(user: User<'_>, gang: Gang, there: &There<'_>, verdict: &mut Worst) {
    for domain in there.domains() {
        // The gangs that the pieces of each kind make.
        let of_kind = |kind: Kind<'_>| {
            let count = there.in_domain(kind, domain);
            let of = gang.tasks.saturating_mul(kind.each());
            count.is_multiple_of(of).then_some(count / of)
        };
        if let Some(kind) = user.kinds().find(|kind| of_kind(*kind).is_none()) {
            let (count, of) = (there.in_domain(kind, domain), gang.tasks.saturating_mul(kind.each()));
            return verdict.fail(|| {
                format!(
                    "user {} runs {count} {} in domain {}, in gangs of {of} within one domain each",
                    user.id(),
                    pieces(kind),
                    there.name(domain)
                )
            });
        }
        let mut gangs = user.kinds().filter_map(of_kind);
        let first = gangs.next();
        if gangs.any(|other| Some(other) != first) {
            return verdict.fail(|| {
                format!(
                    "user {} runs pieces of more gangs of one kind than of another in domain {}, each gang within one domain",
                    user.id(),
                    there.name(domain)
                )
            });
        }
    }
}

fn is_spread(kind: Kind<'_>, most: u64, there: &There<'_>, verdict: &mut Worst) {
    let counts = kind.domains().into_iter().map(|domain| (there.in_domain(kind, domain), domain));
    let (least, highest) = (counts.clone().min(), counts.max());
    let Some(((few, fewest), (many, most_there))) = least.zip(highest) else { return };
    if many - few > most {
        verdict.fail(|| {
            format!(
                "user {} runs {many} {} in domain {} and {few} in {}, and may differ by {most}",
                kind.user().id(),
                pieces(kind),
                there.name(most_there),
                there.name(fewest)
            )
        });
    }
}
