//! What rules between servers leave: the most tasks that a user has alone, and what all servers of a domain hold in whole gangs.
//!
//! Patterns know one server and nothing of these rules. Bounds from them hold all the same, and are cut down here to what whole gangs
//! and spread leave: the tasks of each user, and the worth of each domain that has only so many gangs to be made of.

use fairplan_instances::{ClassId, GANG_SUMS, Instance, Kind, User, UserId};
use hashbrown::HashMap;

/// What servers hold of the pieces of users, rules between servers aside.
pub(super) struct OnServers<'a> {
    /// The instance's classes that are one.
    pub classes: Vec<&'a [ClassId]>,
    /// Of each shape of pieces, how many one server of each of these holds.
    pub copies: Vec<&'a [u64]>,
    /// The shape of each kind's pieces.
    pub shape_of: &'a [Option<u32>],
    /// Of each user; `None` of one that can have no task.
    pub tasks: Vec<Option<AloneTasks<'a>>>,
}

/// The tasks of a user where nothing else runs.
#[derive(Clone, Copy)]
pub(super) struct AloneTasks<'a> {
    /// The pieces of one: `(shape, how many)`.
    pub pieces: &'a [(u32, u64)],
    /// As many as all servers hold.
    pub most: u64,
}

/// What the rules between servers of an instance leave; nothing is counted where there are none.
#[derive(Default)]
pub(super) struct BetweenServers {
    /// The most tasks of each user where nothing else runs.
    most: Vec<u64>,
    /// The domains, where gangs are within one; those with the same servers together.
    domains: Vec<Domain>,
    gangs: Vec<Gang>,
    /// Shapes with pieces that are in no such gang.
    single: Vec<usize>,
}

/// So many domains with so many servers of each class.
struct Domain {
    servers: Vec<(usize, u64)>,
    alike: u64,
}

/// The gangs of users whose tasks have the same pieces, each within one domain.
struct Gang {
    pieces: Vec<(u32, u64)>,
    tasks: u64,
    /// So many of them in a domain at most.
    most: Vec<u64>,
}

impl BetweenServers {
    pub fn of(instance: &Instance, on: &OnServers<'_>) -> Self {
        if !instance.has_rules_between_servers() {
            return Self::default();
        }
        let domains = servers_of_domains(instance, on);
        let held: Vec<Vec<u64>> = on
            .copies
            .iter()
            .map(|copies| {
                let of = |(class, count): &(usize, u64)| copies[*class].saturating_mul(*count);
                let in_domain =
                    |servers: &Vec<(usize, u64)>| servers.iter().map(of).fold(0, u64::saturating_add);
                domains.iter().map(in_domain).collect()
            })
            .collect();
        let mut between = Self::default();
        // Which of the domains stands for those like it.
        let mut stands = Vec::new();
        for (d, servers) in domains.iter().enumerate() {
            match between.domains.iter_mut().find(|domain| domain.servers == *servers) {
                Some(domain) => domain.alike += 1,
                None => {
                    between.domains.push(Domain { servers: servers.clone(), alike: 1 });
                    stands.push(d);
                }
            }
        }
        let mut known = HashMap::new();
        let mut is_single = vec![false; on.copies.len()];
        for user in instance.users() {
            let Some(AloneTasks { pieces, most: alone }) = on.tasks[user.index().0] else {
                between.most.push(0);
                continue;
            };
            let rules = Rules { user, shape_of: on.shape_of, held: &held };
            let gangs = rules.gangs_in_domains();
            let most = match &gangs {
                Some(gangs) => {
                    let gangs = gangs.iter().fold(0, |sum: u64, gangs| sum.saturating_add(*gangs));
                    gangs.saturating_mul(user.at_once())
                }
                None => rules.tasks_over_domains(),
            };
            let most = most.min(alone).min(user.tasks().unwrap_or(u64::MAX));
            between.most.push(most / user.at_once() * user.at_once());
            match gangs {
                Some(gangs) => {
                    let here = stands.iter().map(|d| gangs[*d]);
                    let same = *known.entry((pieces, user.at_once())).or_insert_with(|| {
                        let (pieces, most) = (pieces.to_vec(), vec![0; stands.len()]);
                        between.gangs.push(Gang { pieces, tasks: user.at_once(), most });
                        between.gangs.len() - 1
                    });
                    let most = between.gangs[same].most.iter_mut().zip(here);
                    most.for_each(|(most, here)| *most = most.saturating_add(here));
                }
                None => pieces.iter().for_each(|(shape, _)| is_single[*shape as usize] = true),
            }
        }
        if between.gangs.is_empty() {
            between.domains.clear();
        }
        between.single = (0..is_single.len()).filter(|shape| is_single[*shape]).collect();
        between
    }

    /// The most tasks of a user, where rules between servers say so.
    pub fn most(&self, user: UserId) -> Option<u64> {
        self.most.get(user.0).copied()
    }

    /// What so many servers of each class hold at most of pieces of these values, a server of each class holding no more than that.
    pub fn held(&self, servers: &[u64], values: &[u64], server_values: &[u64]) -> u128 {
        if self.domains.is_empty() {
            let held = servers.iter().zip(server_values);
            return held.map(|(servers, value)| u128::from(*servers) * u128::from(*value)).sum();
        }
        let in_domain = |(d, domain): (usize, &Domain)| {
            let of = |(class, count): &(usize, u64)| u128::from(server_values[*class]) * u128::from(*count);
            let held = domain.servers.iter().map(of).sum();
            self.of_gangs(d, values, held) * u128::from(domain.alike)
        };
        self.domains.iter().enumerate().map(in_domain).sum()
    }

    /// The most within `held` that whole gangs and single pieces in a domain come to; all of it where there are too many ways
    /// to tell.
    fn of_gangs(&self, d: usize, values: &[u64], held: u128) -> u128 {
        let value = |shape: u32| u128::from(values[shape as usize]);
        let gangs = self.gangs.iter().map(|gang| {
            let task: u128 = gang.pieces.iter().map(|(shape, each)| value(*shape) * u128::from(*each)).sum();
            (task * u128::from(gang.tasks), u128::from(gang.most[d]))
        });
        let single = self.single.iter().map(|shape| (value(*shape as u32), u128::MAX));
        let mut worths: Vec<(u128, u128)> = gangs.chain(single).filter(|(worth, _)| *worth > 0).collect();
        worths.sort_unstable_by(|a, b| b.cmp(a));
        worths.dedup_by(|next, first| {
            let is_same = next.0 == first.0;
            first.1 = if is_same { first.1.saturating_add(next.1) } else { first.1 };
            is_same
        });
        worths.iter_mut().for_each(|(worth, most)| *most = (*most).min(held / *worth));
        worths.retain(|(_, most)| *most > 0);
        let ways = worths.iter().fold(1u128, |ways, (_, most)| ways.saturating_mul(most.saturating_add(1)));
        if ways > GANG_SUMS { held } else { fullest(&worths, held) }
    }
}

/// The largest sum within `room`, each worth at most so often.
fn fullest(worths: &[(u128, u128)], room: u128) -> u128 {
    let Some((&(worth, most), others)) = worths.split_first() else { return 0 };
    let with = |often: u128| often * worth + fullest(others, room - often * worth);
    (0..=most.min(room / worth)).map(with).max().unwrap_or(0)
}

/// The servers of each domain by class; of all where there are no domains.
fn servers_of_domains(instance: &Instance, on: &OnServers<'_>) -> Vec<Vec<(usize, u64)>> {
    let mut domains: Vec<Vec<(usize, u64)>> = vec![Vec::new(); instance.domains().len().max(1)];
    for (c, members) in on.classes.iter().enumerate() {
        for member in *members {
            let servers = &mut domains[instance.domain_of(*member).map_or(0, |domain| domain.0)];
            let count = instance.classes()[member.0].count;
            match servers.last_mut().filter(|(last, _)| *last == c) {
                Some((_, sum)) => *sum += count,
                None => servers.push((c, count)),
            }
        }
    }
    domains
}

/// The rules of one user that can have tasks.
struct Rules<'a> {
    user: User<'a>,
    shape_of: &'a [Option<u32>],
    /// The pieces of each shape that each domain holds.
    held: &'a [Vec<u64>],
}

impl Rules<'_> {
    /// How many whole gangs each domain holds, where each gang is within one.
    fn gangs_in_domains(&self) -> Option<Vec<u64>> {
        let gang = self.user.gang().filter(|gang| gang.in_one_domain)?;
        let of_kind = |kind: Kind<'_>| -> Vec<u64> {
            let pieces = gang.tasks.saturating_mul(kind.each());
            self.pieces(kind, pieces).into_iter().map(|held| held / pieces).collect()
        };
        let of_kinds: Vec<Vec<u64>> = self.user.kinds().map(of_kind).collect();
        let domains = self.held.first().map_or(0, Vec::len);
        Some((0..domains).map(|d| of_kinds.iter().map(|gangs| gangs[d]).min().unwrap_or(0)).collect())
    }

    /// How many tasks all domains hold, as far as pieces are spread over them.
    fn tasks_over_domains(&self) -> u64 {
        let of_kind =
            |kind: Kind<'_>| self.pieces(kind, 1).into_iter().fold(0, u64::saturating_add) / kind.each();
        self.user.kinds().map(of_kind).min().unwrap_or(0)
    }

    /// The pieces of a kind that each domain holds: no more than the spread beyond those of the domain that holds fewest, where so many
    /// come at once.
    fn pieces(&self, kind: Kind<'_>, at_once: u64) -> Vec<u64> {
        let shape = self.shape_of[kind.index().0];
        let mut held = shape.map_or_else(Vec::new, |shape| self.held[shape as usize].clone());
        if let Some(most) = self.user.spread() {
            let own = kind.domains().into_iter().map(|domain| held[domain.0] / at_once * at_once);
            let least = own.min().unwrap_or(0);
            held.iter_mut().for_each(|held| *held = (*held).min(least.saturating_add(most)));
        }
        held
    }
}
