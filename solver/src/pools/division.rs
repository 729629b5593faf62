//! What runs in a pool divided over its classes: a level problem of a few groups by direction, which all get what they are to have.

use super::Pools;
use crate::aggregation::Solved;
use crate::bins::{Amounts, Bins, Grouping, NO_BIN, NO_GROUP};
use crate::level::{Groups, LevelProblem, LevelSolution, LevelSolver, dot};
use crate::reduction::Reduction;
use crate::tolerance::level::{FINEST, NOT_RUN};
use fairplan_instances::InstanceError;
use hashbrown::HashMap;

/// Bins that are at least this part of an average class are divided by direction; smaller ones are divided as users of one of
/// their directions.
const LARGE: f64 = 0.1;

/// What runs in the pools.
pub(super) struct Division<'a> {
    reduction: &'a Reduction,
    pools: &'a Pools,
    /// Bins of which each is of one direction.
    bins: Bins,
    grouping: Grouping,
    /// The direction of each group, and what it is to run in each pool that it uses, per unit of its load.
    direction: Vec<u32>,
    runs: Vec<Vec<(usize, f64)>>,
    /// Whether each cannot rise above the level.
    frozen: Vec<bool>,
}

/// What runs in the pools: a solution over bins of users.
pub(super) struct Running<'a> {
    pub bins: &'a Bins,
    pub solved: &'a Solved,
}

/// How a pool is divided.
pub(super) struct Part {
    /// The part of all that is to run there which can.
    pub level: f64,
    /// Prices of its classes, as dividing has them.
    pub prices: Vec<f64>,
    /// The row of groups of a direction, rising or settled, and rows with the part on each class.
    row_of: HashMap<(u32, bool), usize>,
    rows: Vec<f64>,
    pub iterations: u64,
}

impl Part {
    /// One of which only this is known.
    #[cfg(test)]
    pub fn told(level: f64, prices: Vec<f64>) -> Self {
        Self { level, prices, row_of: HashMap::new(), rows: Vec::new(), iterations: 0 }
    }

    /// Whether all but this part can run.
    pub fn is_divided(&self, but: f64) -> bool {
        self.level >= 1.0 - but
    }
}

impl<'a> Division<'a> {
    /// Of what runs in pools, given the `pooled` reduction, which has each of them as a class.
    pub fn new(
        reduction: &'a Reduction,
        pools: &'a Pools,
        pooled: &Reduction,
        Running { bins, solved: whole }: Running<'_>,
        amounts: &Amounts,
        directions: usize,
    ) -> Self {
        let cells = Bins::by_direction(reduction, directions);
        let (bins, origin) = by_direction(reduction, bins, &whole.grouping, &cells);
        // Over pools, since pairs with all classes could be too many.
        let grouping = bins.group(pooled, amounts, None);
        let n = grouping.groups.len();
        let (mut direction, mut runs, mut frozen) = (vec![0; n], vec![Vec::new(); n], vec![false; n]);
        for (groups, (bin, cell)) in grouping.group_of.iter().zip(&origin) {
            let all = whole.grouping.group_of[*bin as usize];
            for (g, of) in groups.iter().zip(all).filter(|(g, _)| **g != NO_GROUP) {
                let g = *g as usize;
                direction[g] = *cell;
                runs[g] = runs_of(whole, of as usize);
                frozen[g] = whole.solution.frozen[of as usize];
            }
        }
        Self { reduction, pools, bins, grouping, direction, runs, frozen }
    }

    /// How many pairs of a group and a class there are when all pools are divided.
    pub fn pairs(&self) -> usize {
        let of_pool = |(pool, _): &(usize, f64)| self.pools.members[*pool].len();
        self.runs.iter().flatten().map(of_pool).sum()
    }

    /// Divides what runs in a pool.
    pub fn divide(&self, pool: usize, solver: &dyn LevelSolver) -> Result<Part, InstanceError> {
        let (m, classes) = (self.reduction.resources, &self.pools.members[pool]);
        let groups = &self.grouping.groups;
        let mut row_of: HashMap<(u32, bool), usize> = HashMap::new();
        let (mut loads, mut rising): (Vec<f64>, Vec<bool>) = (Vec::new(), Vec::new());
        for g in 0..groups.len() {
            for (_, run) in self.runs[g].iter().filter(|(of, _)| *of == pool) {
                let row = *row_of.entry((self.direction[g], groups.rising[g])).or_insert(rising.len());
                if row == rising.len() {
                    rising.push(groups.rising[g]);
                    loads.resize(loads.len() + m, 0.0);
                }
                let load = &groups.loads[g * m..(g + 1) * m];
                loads[row * m..(row + 1) * m].iter_mut().zip(load).for_each(|(sum, a)| *sum += a * run);
            }
        }
        let of_class = |l: &usize| self.reduction.capacities[l * m..(l + 1) * m].iter().copied();
        let capacities: Vec<f64> = classes.iter().flat_map(of_class).collect();
        if classes.len() == 1 || rising.is_empty() {
            let used = (0..m).map(|r| (loads.iter().skip(r).step_by(m).sum::<f64>(), capacities[r]));
            let parts = used.filter(|(used, _)| *used > 0.0).map(|(used, capacity)| capacity / used);
            let level = parts.fold(1.0, f64::min);
            let (prices, rows) = (vec![0.0; classes.len() * m], vec![1.0; rising.len()]);
            return Ok(Part { level, prices, row_of, rows, iterations: 0 });
        }
        // Where nobody rises all are to have the same part, which is then all of it.
        let some_rise = rising.contains(&true);
        let mut cells = Groups::new();
        for (load, rises) in loads.chunks(m).zip(rising) {
            cells.push(load, 0, rises || !some_rise, (0..classes.len()).map(|l| (l, 1.0)));
        }
        let problem = LevelProblem { resources: m, capacities: &capacities, groups: &cells, limits: None };
        let LevelSolution { level, splits: mut rows, prices, iterations, .. } =
            solver.solve(&problem, FINEST)?;
        for row in rows.chunks_mut(classes.len()) {
            let sum: f64 = row.iter().sum();
            row.iter_mut().for_each(|part| *part /= sum);
        }
        Ok(Part { level, prices, row_of, rows, iterations })
    }

    /// The bins with their groups, what these run on each class, and who is frozen. Those who rise have the part that can run where
    /// it is `least`.
    pub fn put_together(self, parts: &[Part], least: f64) -> (Bins, Grouping, Vec<f64>, Vec<bool>) {
        let m = self.reduction.resources;
        let of = &self.grouping.groups;
        let (mut groups, mut splits) = (Groups::new(), Vec::new());
        for g in 0..of.len() {
            let scale = if of.rising[g] { least } else { 1.0 };
            let mut on_classes: Vec<(usize, f64)> = Vec::new();
            for (pool, run) in &self.runs[g] {
                let (classes, part) = (&self.pools.members[*pool], &parts[*pool]);
                let Some(row) = part.row_of.get(&(self.direction[g], of.rising[g])) else { continue };
                let row = &part.rows[row * classes.len()..(row + 1) * classes.len()];
                on_classes.extend(classes.iter().zip(row).map(|(l, part)| (*l, part * run * scale)));
            }
            on_classes.sort_by_key(|(l, _)| *l);
            let rates = &self.reduction.patterns[of.pattern[g] as usize];
            let pairs = on_classes.iter().map(|(l, _)| (*l, rates[*l]));
            groups.push(&of.loads[g * m..(g + 1) * m], of.pattern[g], of.rising[g], pairs);
            splits.extend(on_classes.iter().map(|(_, split)| *split));
        }
        (self.bins, Grouping { groups, group_of: self.grouping.group_of }, splits, self.frozen)
    }
}

/// What a group of the whole runs in each pool, where that is more than next to nothing, so that it has what it is to have.
fn runs_of(whole: &Solved, group: usize) -> Vec<(usize, f64)> {
    let (groups, splits) = (&whole.grouping.groups, &whole.solution.splits);
    let most = groups.pairs(group).map(|pair| splits[pair]).fold(0.0, f64::max);
    let used: Vec<usize> = groups.pairs(group).filter(|pair| splits[*pair] > NOT_RUN * most).collect();
    let work: f64 = used.iter().map(|pair| groups.rate[*pair] * splits[*pair]).sum();
    let wanted = if groups.rising[group] { whole.solution.level } else { 1.0 };
    used.iter().map(|pair| (groups.class[*pair] as usize, splits[*pair] * wanted / work)).collect()
}

/// Large bins split by direction. Returns for each bin the one that it is of, and its direction.
fn by_direction(
    reduction: &Reduction,
    bins: &Bins,
    grouping: &Grouping,
    cells: &Bins,
) -> (Bins, Vec<(u32, u32)>) {
    let groups = &grouping.groups;
    let ones = vec![1.0; reduction.resources];
    let size = |g: usize| dot(&groups.loads[g * ones.len()..(g + 1) * ones.len()], &ones);
    let large = LARGE * (0..groups.len()).map(size).sum::<f64>() / reduction.classes() as f64;
    let is_large = |of: &[u32; 2]| of.iter().any(|g| *g != NO_GROUP && size(*g as usize) > large);
    // Where the numbers of each bin begin: one for each direction, or a single one.
    let mut starts = Vec::with_capacity(bins.pattern.len());
    let mut end = 0;
    for of in &grouping.group_of {
        let is_large = is_large(of);
        starts.push((end, is_large));
        end += if is_large { cells.pattern.len() } else { 1 };
    }
    let mut known = vec![NO_BIN; end];
    let (mut pattern, mut origin) = (Vec::new(), Vec::new());
    let number = |(bin, cell): (&u32, &u32)| {
        if *bin == NO_BIN {
            return NO_BIN;
        }
        let (start, is_large) = starts[*bin as usize];
        let number = &mut known[start + if is_large { *cell as usize } else { 0 }];
        if *number == NO_BIN {
            *number = origin.len() as u32;
            pattern.push(bins.pattern[*bin as usize]);
            origin.push((*bin, *cell));
        }
        *number
    };
    let of = bins.of.iter().zip(&cells.of).map(number).collect();
    (Bins { of, pattern }, origin)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::level::LevelSolution;

    #[test]
    fn a_group_runs_in_a_pool_just_above_next_to_nothing_and_not_just_below() {
        let runs = |other: f64| {
            let mut groups = Groups::new();
            groups.push(&[1.0], 0, true, [(0, 1.0), (1, 1.0)].into_iter());
            let splits = vec![2.0, 2.0 * other];
            let solution =
                LevelSolution { level: 2.0, splits, prices: Vec::new(), frozen: vec![true], iterations: 0 };
            let grouping = Grouping { groups, group_of: vec![[0, NO_GROUP]] };
            let solved = Solved { grouping, solution, iterations: 0, rounds: 1, gap: 0.0, gave_up: false };
            runs_of(&solved, 0)
        };
        assert_eq!(runs(0.99 * NOT_RUN), [(0, 2.0)]);
        assert_eq!(runs(1.01 * NOT_RUN).len(), 2);
        let both: f64 = runs(1.0).iter().map(|(_, run)| run).sum();
        assert_eq!(both, 2.0);
    }
}
