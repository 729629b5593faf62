//! Exchanges to a placement that is known to reach what is required: which server becomes which of its servers, so that much stays.
//!
//! Where thousands of tasks are missing, prices that start from nothing take long to tell what a task costs. These exchanges reach
//! everything at once, at a cost that the program then lowers; and they are a plan where it does not come as far.

use super::cluster::{Cluster, Exchange};
use super::program::Question;
use fairplan_instances::{Placement, ServerTasks};
use std::collections::HashMap;

/// Pairs of a kind of server and a kind of content that are compared at most.
const PAIRS: usize = 20_000_000;

/// The contents nearest to each kind of server that the program knows beside those that were chosen.
const NEAREST: usize = 3;

/// Exchanges that lead to a placement, or to most of it.
pub(super) struct Nearest {
    /// By group, how many of its servers make it.
    pub chosen: Vec<(usize, Exchange, u64)>,
    pub columns: Vec<(usize, Exchange)>,
}

/// Chooses for the servers of a placement which ones of the cluster become like them, those that keep the most first; nothing where
/// that is too much to compare.
pub(super) fn nearest(question: &Question<'_>, target: &Placement) -> Option<Nearest> {
    let cluster = question.cluster;
    let mut contents: Vec<(usize, &ServerTasks, u64)> = Vec::new();
    let mut known: HashMap<(usize, &ServerTasks), usize> = HashMap::new();
    for (server, tasks) in cluster.servers.iter().zip(&target.servers) {
        let at = *known.entry((server.class, tasks)).or_insert_with(|| {
            contents.push((server.class, tasks, 0));
            contents.len() - 1
        });
        contents[at].2 += 1;
    }
    let class = |group: usize| cluster.servers[question.groups[group][0]].class;
    let mut of_class: Vec<Vec<usize>> = vec![Vec::new(); question.packing.classes.len()];
    contents.iter().enumerate().for_each(|(at, (class, ..))| of_class[*class].push(at));
    if (0..question.groups.len()).map(|group| of_class[class(group)].len()).sum::<usize>() > PAIRS {
        return None;
    }
    let mut pairs: Vec<(u64, usize, usize)> = Vec::new();
    let mut columns = Vec::new();
    for group in 0..question.groups.len() {
        let server = &cluster.servers[question.groups[group][0]];
        let of = |content: &usize| {
            let (kept, leaves) = kept(question, &server.tasks, contents[*content].1);
            let stays = leaves.is_some_and(|user| server.is_kept || question.rules.kept[user as usize]);
            (!stays).then_some((kept, group, *content))
        };
        let mut own: Vec<(u64, usize, usize)> = of_class[server.class].iter().filter_map(of).collect();
        own.sort_by(|a, b| b.0.cmp(&a.0).then(a.2.cmp(&b.2)));
        let near = own.iter().take(NEAREST);
        columns.extend(
            near.map(|(_, _, content)| (group, exchange(cluster, question, group, contents[*content].1))),
        );
        pairs.append(&mut own);
    }
    pairs.sort_by(|a, b| b.0.cmp(&a.0).then((a.1, a.2).cmp(&(b.1, b.2))));
    let mut left: Vec<u64> = question.groups.iter().map(|group| group.len() as u64).collect();
    let mut chosen = Vec::new();
    for (_, group, content) in pairs {
        let count = left[group].min(contents[content].2);
        if count > 0 {
            left[group] -= count;
            contents[content].2 -= count;
            chosen.push((group, exchange(cluster, question, group, contents[content].1), count));
        }
    }
    columns.extend(chosen.iter().map(|(group, exchange, _)| (*group, exchange.clone())));
    columns.retain(|(_, exchange)| !exchange.added.is_empty() || !exchange.removed.is_empty());
    columns.sort_by(|a, b| (a.0, &a.1.removed, &a.1.added).cmp(&(b.0, &b.1.removed, &b.1.added)));
    columns.dedup();
    Some(Nearest { chosen, columns })
}

/// What the tasks that stay would have cost, and a user of whom some leave whose tasks may have to stay.
fn kept(question: &Question<'_>, now: &ServerTasks, then: &ServerTasks) -> (u64, Option<u32>) {
    let (mut kept, mut leaves) = (0u64, None);
    let mut then = then.iter().peekable();
    for (user, had) in now {
        while then.peek().is_some_and(|(other, _)| other < user) {
            then.next();
        }
        let has = then.peek().filter(|(other, _)| other == user).map_or(0, |(_, has)| *has);
        kept = kept.saturating_add(has.min(*had).saturating_mul(question.rules.costs[*user as usize]));
        if has < *had && leaves.is_none_or(|user| !question.rules.kept[user as usize]) {
            leaves = Some(*user);
        }
    }
    (kept, leaves)
}

fn exchange(cluster: &Cluster<'_>, question: &Question<'_>, group: usize, then: &ServerTasks) -> Exchange {
    let now = &cluster.servers[question.groups[group][0]].tasks;
    let fewer = |from: &ServerTasks, to: &ServerTasks| -> Vec<(u32, u64)> {
        let has = |user: u32| to.binary_search_by_key(&user, |(user, _)| *user).map_or(0, |at| to[at].1);
        let left = from.iter().map(|(user, count)| (*user, count.saturating_sub(has(*user))));
        left.filter(|(_, count)| *count > 0).collect()
    };
    Exchange { removed: fewer(now, then), added: fewer(then, now) }
}
