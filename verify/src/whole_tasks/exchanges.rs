//! Whether no exchange on a server gains more than is claimed: sets of tasks that leave are tried one after the other, and what can
//! come into the room that they leave is searched for where no bound closes it. All in whole numbers.

use super::fits;
use super::inside::Inside;
use super::knapsack::{Contents, Outcome, Server};
use super::task::Task;
use super::units::Units;
use crate::verdict::{Verdict, Worst};
use fairplan_instances::{
    ClassId, Deadline, Instance, KindId, MoveRules, Placement, ResourceId, ServerNames,
};
use rayon::prelude::*;
use std::collections::HashMap;

/// Sets of tasks that leave which are looked at for one server.
const SETS: u64 = 2_000_000;

/// Servers that share a table of what fits in a room.
const TOGETHER: usize = 256;

/// Servers of the same room and tasks need one proof, of the smallest claim.
struct Alike<'a> {
    server: usize,
    tasks: &'a [(u32, u64)],
    is_kept: bool,
    gain: u64,
}

/// The servers of one capacity that all users treat alike, by a class of them.
type OfClass<'a> = (ClassId, Vec<Alike<'a>>);

/// Proves that no exchange on a server gains more than is claimed for it: with another task of user `i`, or piece of a kind, worth
/// `task_values[i]`,
/// what comes less what leaves, each of which costs `unit` times its user's cost beside its value.
pub(super) fn server_gains_hold(
    instance: &Instance,
    before: &Placement,
    rules: &MoveRules,
    unit: u64,
    task_values: &[u64],
    server_gains: &[u64],
) -> Verdict {
    let mut verdict = Worst::of("server-gains", 0.0);
    let names = ServerNames::new(instance);
    let measure = Units::of(instance);
    let classes = distinct(instance, before, rules, server_gains);
    let chunks: Vec<(ClassId, &[Alike<'_>])> = classes
        .iter()
        .flat_map(|(class, servers)| servers.chunks(TOGETHER).map(|servers| (*class, servers)))
        .collect();
    let prove = |(class, servers): &(ClassId, &[Alike<'_>])| {
        let units = |kind: usize| measure.of_piece(instance.kind(KindId(kind)));
        let capacity = measure.of_server(instance, *class);
        let runs =
            |kind: &usize| task_values[*kind] > 0 && fits(instance, instance.kind(KindId(*kind)), *class);
        let coming = (0..instance.kind_count()).filter(runs);
        // Of kinds with the same pieces only the one that is worth most matters.
        let mut kinds: HashMap<Vec<u128>, u64> = HashMap::new();
        for kind in coming {
            let value = kinds.entry(units(kind)).or_default();
            *value = (*value).max(task_values[kind]);
        }
        let mut tasks: Vec<Task> = kinds
            .into_iter()
            .map(|(demand, value)| Task { value, demand, most: None, profile: None })
            .collect();
        tasks.sort_by(|a, b| (a.value, &a.demand).cmp(&(b.value, &b.demand)));
        let mut contents = Contents::new(&Server { capacity: &capacity, inside: Inside::default(), tasks });
        let directions: Vec<Direction> = contents
            .directions()
            .filter(|(_, (_, size))| *size > 0)
            .map(|(weights, best)| Direction { weights: weights.to_vec(), best })
            .collect();
        let mut outcomes = Vec::new();
        for alike in *servers {
            let user = |kind: u32| instance.kind(KindId(kind as usize)).user().index().0;
            let leaves = |(kind, count): &(u32, u64)| {
                let price = rules.costs[user(*kind)] * unit + task_values[*kind as usize];
                (*count, units(*kind as usize), u128::from(price))
            };
            let stay = |(kind, _): &&(u32, u64)| alike.is_kept || rules.kept_users[user(*kind)];
            let mut leaving: Vec<(u64, Vec<u128>, u128)> =
                alike.tasks.iter().filter(|task| !stay(task)).map(leaves).collect();
            leaving.sort_by_key(|(_, _, price)| *price);
            let mut room = capacity.clone();
            let is_full = alike.tasks.iter().any(|(kind, count)| {
                let load = units(*kind as usize);
                room.iter_mut().zip(load).any(|(room, demand)| {
                    let left = demand.checked_mul(u128::from(*count)).and_then(|load| room.checked_sub(load));
                    *room = left.unwrap_or(0);
                    left.is_none()
                })
            });
            if is_full {
                outcomes.push((alike.server, None));
                continue;
            }
            let mut tree = Tree::new(&mut contents, &directions, leaving, u128::from(alike.gain));
            outcomes.push((alike.server, Some(tree.leave(0, &mut room, 0))));
        }
        outcomes
    };
    let outcomes: Vec<(usize, Option<Outcome>)> = chunks.par_iter().flat_map_iter(prove).collect();
    for (server, outcome) in outcomes {
        let (name, gain) = (names.name(server as u64), server_gains[server]);
        match outcome {
            Some(Outcome::Proved) => {}
            Some(Outcome::Exceeded) => {
                verdict.fail(|| format!("an exchange on server {name} gains more than {gain}"))
            }
            Some(Outcome::TooLong) => verdict.fail(|| {
                format!("whether an exchange on server {name} gains more than {gain} takes too long to tell")
            }),
            None => verdict.fail(|| {
                format!("server {name} holds more than it has, and bounds are for those that do not")
            }),
        }
    }
    verdict.verdict()
}

/// What tells servers apart: their class among those that differ, their tasks, whether these stay.
type Kind<'a> = (usize, &'a [(u32, u64)], bool);

/// Every kind of server once.
fn distinct<'a>(
    instance: &Instance,
    before: &'a Placement,
    rules: &MoveRules,
    server_gains: &[u64],
) -> Vec<OfClass<'a>> {
    let m = instance.resources().len();
    let mut classes: Vec<OfClass<'a>> = Vec::new();
    let mut known_classes = HashMap::new();
    let mut known: HashMap<Kind<'_>, usize> = HashMap::new();
    let mut server = 0;
    for (l, class) in instance.classes().iter().enumerate() {
        let capacity: Vec<u128> =
            (0..m).map(|r| instance.capacity_units(ClassId(l), ResourceId(r))).collect();
        let treatment: Vec<bool> = instance.rules().iter().map(|rule| rule.allows(ClassId(l))).collect();
        let position = *known_classes.entry((capacity, treatment)).or_insert_with(|| {
            classes.push((ClassId(l), Vec::new()));
            classes.len() - 1
        });
        // A class of no servers speaks for no other.
        if instance.classes()[classes[position].0.0].count == 0 {
            classes[position].0 = ClassId(l);
        }
        for _ in 0..class.count {
            let (tasks, is_kept) = (&before.servers[server][..], rules.kept_servers[server]);
            let alike = &mut classes[position].1;
            let at = *known.entry((position, tasks, is_kept)).or_insert_with(|| {
                alike.push(Alike { server, tasks, is_kept, gain: server_gains[server] });
                alike.len() - 1
            });
            if server_gains[server] < alike[at].gain {
                (alike[at].server, alike[at].gain) = (server, server_gains[server]);
            }
            server += 1;
        }
    }
    classes
}

/// Weights of the resources, and the most that a task is worth for its size, `(worth, size)`.
struct Direction {
    weights: Vec<u128>,
    best: (u128, u128),
}

impl Direction {
    /// What amounts are worth at most, times the size that the worth is for.
    fn worth(&self, amounts: &[u128]) -> u128 {
        let size = self
            .weights
            .iter()
            .zip(amounts)
            .fold(0u128, |sum, (w, a)| sum.saturating_add(w.saturating_mul(*a)));
        size.saturating_mul(self.best.0)
    }
}

struct Tree<'a, 'b> {
    contents: &'a mut Contents<'b>,
    directions: &'a [Direction],
    /// Tasks, what one takes, and what one that leaves costs with its value; the cheapest first.
    leaving: Vec<(u64, Vec<u128>, u128)>,
    /// For each direction and from each of them on: what leaving can gain at most, times the size of the direction.
    potentials: Vec<Vec<u128>>,
    claimed: u128,
    sets: u64,
}

impl<'a, 'b> Tree<'a, 'b> {
    fn new(
        contents: &'a mut Contents<'b>,
        directions: &'a [Direction],
        leaving: Vec<(u64, Vec<u128>, u128)>,
        claimed: u128,
    ) -> Self {
        let potential = |direction: &Direction| {
            let mut potential = vec![0u128; leaving.len() + 1];
            for (j, (count, demand, price)) in leaving.iter().enumerate().rev() {
                let gain = direction.worth(demand).saturating_sub(price.saturating_mul(direction.best.1));
                potential[j] = potential[j + 1].saturating_add(gain.saturating_mul(u128::from(*count)));
            }
            potential
        };
        let potentials = directions.iter().map(potential).collect();
        Self { contents, directions, leaving, potentials, claimed, sets: 0 }
    }

    /// Whether a direction says that nothing gains too much, with whatever else leaves from `start` on.
    fn is_bounded(&self, start: usize, room: &[u128], slack: u128) -> bool {
        self.directions.iter().zip(&self.potentials).any(|(direction, potential)| {
            let most = direction.worth(room).saturating_add(potential[start]);
            most < (slack + 1).saturating_mul(direction.best.1)
        })
    }

    /// Some tasks have left, at a cost; more of those from `start` on may.
    fn leave(&mut self, start: usize, room: &mut [u128], cost: u128) -> Outcome {
        self.sets += 1;
        let slack = self.claimed.saturating_add(cost);
        if self.is_bounded(start, room, slack) {
            return Outcome::Proved;
        }
        if self.sets > SETS {
            return Outcome::TooLong;
        }
        let fits = self.contents.are_worth_at_most(room, slack, &Deadline::never());
        if fits != Outcome::Proved {
            return fits;
        }
        for j in start..self.leaving.len() {
            let (count, demand, price) = self.leaving[j].clone();
            let can_gain = self.potentials.iter().any(|potential| potential[j] > potential[j + 1]);
            let mut cost = cost;
            let mut left = 0;
            let mut outcome = Outcome::Proved;
            while left < count && outcome == Outcome::Proved {
                left += 1;
                cost = cost.saturating_add(price);
                room.iter_mut().zip(&demand).for_each(|(room, demand)| *room += demand);
                // Where more of the same gains nothing in any direction, what closes one closes all.
                if !can_gain && self.is_bounded(j + 1, room, self.claimed.saturating_add(cost)) {
                    break;
                }
                outcome = self.leave(j + 1, room, cost);
            }
            let back = |(room, demand): (&mut u128, &u128)| *room -= demand * u128::from(left);
            room.iter_mut().zip(&demand).for_each(back);
            if outcome != Outcome::Proved {
                return outcome;
            }
        }
        Outcome::Proved
    }
}
