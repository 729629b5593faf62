//! Rules between servers, recounted: whole gangs, each within one domain where that is asked for, and tasks spread over domains.

use crate::verdict::{Verdict, Worst};
use fairplan_instances::{ClassId, DomainId, Instance, KindId, ServerTasks, UserId};
use std::collections::HashMap;

/// `gangs`: the tasks of a user with a gang are a multiple of it; `gangs-in-domains`: in every domain, where each gang is in one;
/// `spread`: the tasks of a user in any two of its domains differ by no more than it may. The placement is well-formed.
pub(crate) fn rules_between_servers(instance: &Instance, servers: &[ServerTasks]) -> [Verdict; 3] {
    let [mut gangs, mut within, mut spread] =
        ["gangs", "gangs-in-domains", "spread"].map(|property| Worst::of(property, 0.0));
    // Where there are no domains all servers count as one.
    let mut there: HashMap<(usize, DomainId), u64> = HashMap::new();
    let mut next = 0;
    for (class, of) in instance.classes().iter().enumerate() {
        let domain = instance.domain_of(ClassId(class)).unwrap_or(DomainId(0));
        for &(kind, count) in servers[next..next + of.count as usize].iter().flatten() {
            // Users with kinds have no such rules.
            let user = instance.kind(KindId(kind as usize)).user().index();
            let sum = there.entry((user.0, domain)).or_default();
            *sum = sum.saturating_add(count);
        }
        next += of.count as usize;
    }
    let domains: Vec<DomainId> = (0..instance.domains().len().max(1)).map(DomainId).collect();
    let name = |domain: DomainId| instance.domains().get(domain.0).map_or("", String::as_str);
    for user in instance.users() {
        let UserId(position) = user.index();
        let in_domain = |domain: DomainId| there.get(&(position, domain)).copied().unwrap_or(0);
        if let Some(gang) = user.gang() {
            let all = domains.iter().fold(0, |sum: u64, domain| sum.saturating_add(in_domain(*domain)));
            if !all.is_multiple_of(gang.tasks) {
                gangs.fail(|| format!("user {} runs {all} tasks, in gangs of {}", user.id(), gang.tasks));
            }
            let is_broken = |domain: &&DomainId| !in_domain(**domain).is_multiple_of(gang.tasks);
            if let Some(domain) = domains.iter().find(is_broken).filter(|_| gang.in_one_domain) {
                within.fail(|| {
                    let (count, of) = (in_domain(*domain), gang.tasks);
                    format!(
                        "user {} runs {count} tasks in domain {}, in gangs of {of} within one domain each",
                        user.id(),
                        name(*domain)
                    )
                });
            }
        }
        if let Some(most) = user.spread() {
            let counts = user.domains().into_iter().map(|domain| (in_domain(domain), domain));
            let (least, highest) = (counts.clone().min(), counts.max());
            let Some(((few, fewest), (many, most_there))) = least.zip(highest) else { continue };
            if many - few > most {
                spread.fail(|| {
                    format!(
                        "user {} runs {many} tasks in domain {} and {few} in {}, and may differ by {most}",
                        user.id(),
                        name(most_there),
                        name(fewest)
                    )
                });
            }
        }
    }
    [gangs, within, spread].map(Worst::verdict)
}
