//! Very many unlike tasks placed part by part: shapes are dealt out to parts so that each has some of all that are alike, with as many servers
//! as they are worth, and every part is filled from a program of its own.
//!
//! One program of all shapes would take too long. Parts of [`SHAPES`] find contents for their servers that lose hardly more; parts of 300
//! lose three times as much (measured on 10,000 users).

use super::alike::Alike;
use super::assemble::assemble;
use super::bound::excess;
use super::dive::{COST, Dive, dive, mixed};
use super::knapsack::Found;
use super::large::ROWS;
use super::master::{Master, Mix, Want};
use super::near::Near;
use super::packing::Packing;
use super::patterns::Pattern;
use super::rebuild::{Values, rebuild};
use super::repair::Repair;
use super::rounds::{self, Goal};
use super::servers::Servers;
use super::worth::Worth;
use crate::tolerance::whole_tasks::NOISE;
use fairplan_instances::{Deadline, InstanceError};
use rayon::prelude::*;
use std::time::Instant;

/// Shapes of a part, about.
pub(super) const SHAPES: usize = 1_500;

/// Of the servers of a part this part is rounded up at a time.
const PACE: f64 = 0.1;

/// The part of the time that is for all this; the rest is for moves.
const FILLING: f64 = 0.9;

/// A program and its rounding take about twice as long as all servers take to be assembled, and this many times as long at most.
const AS_ASSEMBLING: f64 = 3.0;

/// Fills all servers with tasks of `need`, and reduces it to what is missing. Parts have about so many `shapes`.
///
/// Where there is a limit of time all servers are assembled one by one first: so there is something, and it is known how long that takes for
/// parts that there is no time for.
pub(super) fn filled(
    packing: &Packing,
    need: &mut [u64],
    values: &Values<'_>,
    shapes: usize,
    stop: &Deadline,
) -> Result<Servers, InstanceError> {
    let alike = Alike::sharing(packing, need, values.tasks, ROWS);
    let (start, limit) = (Instant::now(), stop.after_part(FILLING));
    let assembled = limit.time_left().map(|_| {
        let mut missing = need.to_vec();
        (assemble(packing, &mut missing, values, &alike, stop), missing)
    });
    let assembling = start.elapsed().as_secs_f64();
    let parts = parts(packing, need, values, &alike, shapes);
    let mut servers = Servers::new(packing, &packing.servers());
    let mut missing = need.to_vec();
    let (mut done, mut longest) = (0, AS_ASSEMBLING * assembling);
    while done < parts.len() {
        let next = parts.len().min(done + rayon::current_num_threads());
        let after = assembling * (parts.len() - next) as f64 / parts.len() as f64;
        if limit.time_left().is_some_and(|left| left.as_secs_f64() < longest + after) {
            break;
        }
        let start = Instant::now();
        let fill = |part: &Part| fill(packing, part, need, values, &limit);
        let filled: Vec<Servers> = parts[done..next].par_iter().map(fill).collect::<Result<_, _>>()?;
        if limit.is_over() {
            break;
        }
        for (part, filled) in parts[done..next].iter().zip(&filled) {
            part.put(packing, &mut servers, filled, &mut missing);
        }
        // Parts are of one size.
        (done, longest) = (next, start.elapsed().as_secs_f64());
    }
    if done > 0 && done < parts.len() {
        Part::joined(&parts[done..]).assemble(packing, &mut servers, &mut missing, values, stop);
    }
    let is_better = |other: &(Servers, Vec<u64>)| values.worth(&other.1) < values.worth(&missing);
    let (servers, missing) = assembled.filter(is_better).unwrap_or((servers, missing));
    need.copy_from_slice(&missing);
    Ok(servers)
}

/// Shapes, and how many servers of each class they have.
struct Part {
    shapes: Vec<usize>,
    servers: Vec<u64>,
    /// What all that is needed of the shapes is worth, less what the servers are.
    excess: f64,
}

impl Part {
    fn joined(parts: &[Self]) -> Self {
        let shapes = parts.iter().flat_map(|part| &part.shapes).copied().collect();
        let sum = |class: usize| parts.iter().map(|part| part.servers[class]).sum();
        let classes = parts.first().map_or(0, |part| part.servers.len());
        let excess = parts.iter().map(|part| part.excess).sum();
        Self { shapes, servers: (0..classes).map(sum).collect(), excess }
    }

    /// The numbers of its shapes.
    fn of<T: Copy>(&self, numbers: &[T]) -> Vec<T> {
        self.shapes.iter().map(|s| numbers[*s]).collect()
    }

    /// Puts what its servers hold on as many of all, and takes it off what is needed.
    fn put(&self, packing: &Packing, servers: &mut Servers, filled: &Servers, need: &mut [u64]) {
        for (class, tasks) in filled.class.iter().zip(&filled.tasks) {
            let tasks = tasks.iter().map(|(s, count)| (self.shapes[*s as usize] as u32, *count));
            servers.fill_next(packing, &Pattern::new(*class as usize, tasks), need);
        }
    }

    /// Fills its servers one by one, and puts what they hold on as many of all.
    fn assemble(
        &self,
        packing: &Packing,
        servers: &mut Servers,
        need: &mut [u64],
        values: &Values<'_>,
        stop: &Deadline,
    ) {
        let (alone, mut missing) = (packing.part(&self.shapes, &self.servers), self.of(need));
        let values = Values { tasks: &self.of(values.tasks), ..*values };
        let alike = Alike::sharing(&alone, &missing, values.tasks, ROWS);
        let filled = assemble(&alone, &mut missing, &values, &alike, stop);
        self.put(packing, servers, &filled, need);
    }
}

/// Deals out what is needed: of each row of shapes that are alike as many to each part, and servers of each class.
fn parts(packing: &Packing, need: &[u64], values: &Values<'_>, alike: &Alike, shapes: usize) -> Vec<Part> {
    let worth = |s: usize| need[s] as f64 * values.tasks[s];
    let needed = need.iter().filter(|need| **need > 0).count();
    let count = needed.div_ceil(shapes).max(1);
    let even: Vec<u64> = packing.classes.iter().map(|class| class.servers / count as u64).collect();
    let held: f64 = even.iter().zip(values.servers).map(|(count, value)| *count as f64 * value).sum();
    let part = || Part { shapes: Vec::new(), servers: even.clone(), excess: -held };
    let mut parts: Vec<Part> = (0..count).map(|_| part()).collect();
    let mut rows = vec![Vec::new(); alike.first.len()];
    (0..need.len()).filter(|s| need[*s] > 0).for_each(|s| rows[alike.rows[s]].push(s));
    for mut row in rows {
        row.sort_by(|a, b| worth(*b).total_cmp(&worth(*a)).then(a.cmp(b)));
        for some in row.chunks(count) {
            let mut least: Vec<usize> = (0..count).collect();
            least.sort_by(|a, b| parts[*a].excess.total_cmp(&parts[*b].excess).then(a.cmp(b)));
            for (s, at) in some.iter().zip(least) {
                parts[at].excess += worth(*s);
                parts[at].shapes.push(*s);
            }
        }
    }
    // What is left of each class makes up for what chance has left uneven, the most valuable first.
    let mut classes: Vec<usize> = (0..packing.classes.len()).collect();
    classes.sort_by(|a, b| values.servers[*b].total_cmp(&values.servers[*a]).then(a.cmp(b)));
    for class in classes {
        for _ in 0..packing.classes[class].servers % count as u64 {
            let most =
                parts.iter_mut().reduce(|most, part| if part.excess > most.excess { part } else { most });
            let Some(part) = most else { break };
            part.servers[class] += 1;
            part.excess -= values.servers[class];
        }
    }
    parts
}

/// The servers of a part, filled.
fn fill(
    packing: &Packing,
    part: &Part,
    need: &[u64],
    values: &Values<'_>,
    stop: &Deadline,
) -> Result<Servers, InstanceError> {
    let alone = packing.part(&part.shapes, &part.servers);
    let (mut need, tasks) = (part.of(need), part.of(values.tasks));
    let all: f64 = need.iter().zip(&tasks).map(|(need, value)| *need as f64 * value).sum();
    let near = Near::of(&need, &tasks, all);
    let wants = [Want::all(&need, f64::INFINITY)];
    let mut master = Master::new(&alone, &wants, &part.servers, &vec![0.0; part.servers.len()]);
    let first = (0..need.len()).filter_map(|s| Pattern::where_most_fit(&alone, s)).collect();
    let mut goal = AllOfIt { packing: &alone, need: &need };
    let ended = rounds::run(&alone, &mut master, first, &mut goal, Some(&near), stop)?;
    let patterns = mixed(&master.patterns, &ended.mix.servers);
    let start = Dive {
        servers: &part.servers,
        patterns: &patterns,
        server_values: values.servers,
        cost: COST,
        pace: PACE,
        wants: &|needed| vec![Want::all(needed, 1.0)],
    };
    let servers = dive(&alone, &mut need, &start, stop)?;
    let mut repair = Repair::new(&alone, servers, need);
    let values = Values { patterns: &patterns, tasks: &tasks, servers: values.servers };
    rebuild(&alone, &mut repair, &values, stop)?;
    Ok(repair.servers)
}

/// The goal of a part's program: all that is needed.
struct AllOfIt<'a> {
    packing: &'a Packing,
    need: &'a [u64],
}

impl Goal for AllOfIt<'_> {
    fn is_met(&self, mix: &Mix) -> bool {
        mix.wanted[0] >= 1.0 - NOISE
    }

    fn reach(&self, mix: &Mix) -> f64 {
        mix.wanted[0].ln()
    }

    fn exclude(&mut self, mix: &Mix, worth: Worth<'_>, found: &[Found]) -> f64 {
        excess(self.packing, self.need, mix, worth, found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::whole_tasks::packing::fits;
    use crate::whole_tasks::tests::random_google;
    use std::time::Duration;

    /// What is needed of 400 users on servers that are worth their memory, nearly as much as they hold.
    fn asked() -> (Packing, Vec<u64>, Vec<f64>, Vec<f64>) {
        let packing = Packing::new(&random_google(400, 1)).unwrap();
        let need = vec![40; packing.shapes.len()];
        let memory = |amount: u64| amount as f64 / packing.largest(1) as f64;
        let tasks = packing.shapes.iter().map(|shape| memory(shape.demand[1])).collect();
        let servers = packing.classes.iter().map(|class| memory(class.capacity[1])).collect();
        (packing, need, tasks, servers)
    }

    #[test]
    fn parts_share_all_servers_and_have_every_shape_once_and_as_many_of_each_row() {
        let (packing, need, tasks, servers) = asked();
        let values = Values { patterns: &[], tasks: &tasks, servers: &servers };
        let alike = Alike::sharing(&packing, &need, &tasks, 20);
        let parts = parts(&packing, &need, &values, &alike, 100);
        assert_eq!(parts.len(), 4);
        let all = Part::joined(&parts);
        assert_eq!(all.servers, packing.servers());
        let mut shapes = all.shapes;
        shapes.sort_unstable();
        assert_eq!(shapes, (0..need.len()).collect::<Vec<usize>>());
        for row in 0..alike.first.len() {
            let of = |part: &Part| part.shapes.iter().filter(|s| alike.rows[**s] == row).count();
            let counts: Vec<usize> = parts.iter().map(of).collect();
            assert!(counts.iter().max() <= counts.iter().min().map(|least| least + 1).as_ref(), "{counts:?}");
        }
        let excess: Vec<f64> = parts.iter().map(|part| part.excess).collect();
        // All that is needed of a shape is worth up to 20 there.
        let apart = |a: f64| excess.iter().all(|b| (a - b).abs() <= 20.0);
        assert!(excess.iter().all(|a| apart(*a)), "{excess:?}");
    }

    /// That servers hold what is needed and not missing, each what it has room for; and the part of all tasks that is missing.
    fn part_missing(packing: &Packing, servers: &Servers, need: &[u64], missing: &[u64]) -> f64 {
        let mut has = vec![0; need.len()];
        for (server, tasks) in servers.tasks.iter().enumerate() {
            let class = servers.class[server] as usize;
            let pattern = Pattern::new(class, tasks.iter().copied());
            assert!(fits(&pattern.load(packing), &packing.classes[class].capacity));
            tasks.iter().for_each(|(s, count)| has[*s as usize] += count);
        }
        let kept = has.iter().zip(missing).map(|(has, missing)| has + missing);
        assert_eq!(kept.collect::<Vec<u64>>(), need);
        missing.iter().sum::<u64>() as f64 / need.iter().sum::<u64>() as f64
    }

    #[test]
    fn servers_hold_what_parts_put_there_and_hardly_anything_is_missing_where_there_is_time() {
        let (packing, need, tasks, servers) = asked();
        let values = Values { patterns: &[], tasks: &tasks, servers: &servers };
        for seconds in [None, Some(600), Some(0)] {
            let limit = seconds.map_or(Deadline::never(), |s| Deadline::after(Duration::from_secs(s)));
            let mut missing = need.clone();
            let filled = filled(&packing, &mut missing, &values, 100, &limit).unwrap();
            let part = part_missing(&packing, &filled, &need, &missing);
            assert!(part < 0.01 || seconds == Some(0), "{seconds:?}: {part}");
        }
    }

    #[test]
    fn parts_that_there_is_no_time_for_are_assembled_on_the_servers_that_the_others_leave() {
        let (packing, need, tasks, servers) = asked();
        let values = Values { patterns: &[], tasks: &tasks, servers: &servers };
        let alike = Alike::sharing(&packing, &need, &tasks, 20);
        let parts = parts(&packing, &need, &values, &alike, 100);
        let (mut all, mut missing) = (Servers::new(&packing, &packing.servers()), need.clone());
        let never = Deadline::never();
        let first = fill(&packing, &parts[0], &need, &values, &never).unwrap();
        parts[0].put(&packing, &mut all, &first, &mut missing);
        Part::joined(&parts[1..]).assemble(&packing, &mut all, &mut missing, &values, &never);
        assert!(part_missing(&packing, &all, &need, &missing) < 0.05);
    }
}
