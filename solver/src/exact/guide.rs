//! Where exact levels begin: at the vertex that a solution in doubles points to.

use super::crossover::Crossover;
use super::filling::Filling;
use super::number::Rational;
use super::program::{Program, UsableClass};
use super::vertex::{Split, Vertex};
use crate::tolerance::exact::{DEAR, SAME, UNPRICED, UNPRICED_OVER_TIME};
use fairplan_instances::{Allocation, KindId, ResourceId, Solution, TaskDemands, TaskOptimum, UserId};

/// A solution in doubles, by lines and rows.
pub(crate) struct Guide {
    /// `(place, work)` of every line.
    places: Vec<Vec<(u32, f64)>>,
    work: Vec<f64>,
    /// Value and prices of the rows at every level.
    levels: Vec<(f64, Vec<f64>)>,
}

/// The work of every line at its places.
pub(crate) fn places_of(program: &Program<'_>, allocation: &Allocation) -> Vec<Vec<(u32, f64)>> {
    let of_line = |line: usize| {
        let of = &program.lines[line];
        let tasks = allocation.tasks(UserId(of.user as usize));
        let places = program.places(line).iter().enumerate();
        let work = |(position, place): (usize, &UsableClass)| {
            let part = match allocation.is_pooled() {
                true => 1.0,
                false => allocation.split_of_kind(KindId(of.kind as usize))[place.class],
            };
            (position as u32, tasks * part * place.rough_rate)
        };
        places.map(work).filter(|(_, work)| *work > 0.0).collect()
    };
    (0..program.lines.len()).map(of_line).collect()
}

/// Rows up to which doubles point the way: what they need for it takes the square of that, in numbers.
const MOST_ROWS: usize = 4_000;

impl Guide {
    pub fn new(program: &Program<'_>, solution: &Solution) -> Self {
        let places = places_of(program, &solution.allocation);
        let work = places.iter().map(|places| places.iter().map(|(_, work)| work).sum()).collect();
        let instance = program.instance;
        let m = instance.resources().len();
        let per_smallest =
            |price: f64, r: usize| price * 10f64.powi(instance.unit_exponent(ResourceId(r)).into());
        let levels = solution.certificate.levels().iter().map(|level| {
            let mut prices = vec![0.0; program.rows()];
            let capacities = if solution.allocation.is_pooled() { m } else { level.prices.len() };
            for (row, price) in level.prices[..capacities].iter().enumerate() {
                prices[row] = per_smallest(*price, row % m);
            }
            for (row, (price, limit)) in
                program.limits().zip(level.limit_prices.iter().zip(instance.limit_rows()))
            {
                prices[row] = per_smallest(*price, limit.resource.0);
            }
            let worth = |row: usize| prices[row] * program.rough_amount(row);
            let all: f64 = (0..prices.len()).map(worth).sum();
            let unpriced: Vec<usize> =
                (0..prices.len()).filter(|row| worth(*row) <= UNPRICED * all).collect();
            unpriced.into_iter().for_each(|row| prices[row] = 0.0);
            (level.value, prices)
        });
        Self { levels: levels.collect(), places, work }
    }

    /// The same of tasks over several quanta; `positions` are the users of the lines.
    pub fn over_time(
        program: &Program<'_>,
        positions: &[usize],
        demands: &TaskDemands<'_>,
        optimum: &TaskOptimum,
    ) -> Self {
        let (instance, series) = (demands.instance(), demands.series());
        let (m, classes) = (instance.resources().len(), instance.classes().len());
        // Where the row of a demand's tasks begins, by line and quantum.
        let mut line_of = vec![None; series.user_count()];
        positions.iter().enumerate().for_each(|(line, position)| line_of[*position] = Some(line));
        let mut rows_of = vec![vec![None; series.quantum_count()]; positions.len()];
        let mut entry = 0;
        for quantum in 0..series.quantum_count() {
            for position in series.demands(quantum).0 {
                if let Some(line) = line_of[*position as usize] {
                    rows_of[line][quantum] = Some(entry * classes);
                }
                entry += 1;
            }
        }
        let places = rows_of.iter().enumerate().map(|(line, rows)| {
            let places = program.places(line).iter().enumerate();
            let work = |(at, place): (usize, &UsableClass)| {
                let start = rows[place.class / classes]?;
                let work = optimum.tasks[start + place.class % classes] * place.rough_rate;
                (work > 0.0).then_some((at as u32, work))
            };
            places.filter_map(work).collect()
        });
        let places: Vec<Vec<(u32, f64)>> = places.collect();
        let work = places.iter().map(|places| places.iter().map(|(_, work)| work).sum()).collect();
        let levels = optimum.levels.iter().map(|level| {
            let mut prices = vec![0.0; program.rows()];
            for (row, price) in level.prices.iter().enumerate() {
                prices[row] = price * 10f64.powi(instance.unit_exponent(ResourceId(row % m)).into());
            }
            // A task of a demand is worth what it gives beyond what it costs where that is most.
            for (line, position) in positions.iter().enumerate() {
                let worth = level.multipliers[*position] * demands.worth()[*position];
                for (at, place) in program.places(line).iter().enumerate() {
                    let Some(own) = place.demand_row() else { continue };
                    let column = program.rough_column(line, at);
                    let others = column.iter().filter(|(row, _)| *row != own);
                    let cost: f64 = others.map(|(row, entry)| entry * prices[*row]).sum();
                    prices[own] = f64::max(prices[own], (worth - cost) * place.rough_rate);
                }
            }
            let worth = |row: usize| prices[row] * program.rough_amount(row);
            let all: f64 = (0..prices.len()).map(worth).sum();
            let unpriced: Vec<usize> =
                (0..prices.len()).filter(|row| worth(*row) <= UNPRICED_OVER_TIME * all).collect();
            unpriced.into_iter().for_each(|row| prices[row] = 0.0);
            (level.value, prices)
        });
        Self { levels: levels.collect(), places, work }
    }

    /// Moves the vertex to where the next level ends according to the doubles, if that is a vertex, exactly. Otherwise, and where
    /// it is not found in time, it stays where it is.
    pub fn lead(&self, vertex: &mut Vertex<'_>, filling: &Filling, is_over: &dyn Fn() -> bool) {
        if vertex.program.rows() > MOST_ROWS {
            return;
        }
        let now = vertex.level.to_f64();
        let next = self.levels.iter().find(|(value, _)| *value > now * (1.0 + SAME));
        if let Some((value, prices)) = next
            && let Some(led) = self.vertex(vertex, filling, (*value, prices), is_over)
        {
            *vertex = led;
        }
    }

    fn vertex<'p>(
        &self,
        from: &Vertex<'p>,
        filling: &Filling,
        (level, prices): (f64, &[f64]),
        is_over: &dyn Fn() -> bool,
    ) -> Option<Vertex<'p>> {
        let program = from.program;
        let mut vertex = from.clone();
        // Who runs out of tasks below the level.
        let below = Rational::double(level * (1.0 - SAME));
        if below < from.level {
            return None;
        }
        filling.settle(&mut vertex, &below);
        let target: Vec<f64> = (0..program.lines.len()).map(|line| vertex.rough_work(line, level)).collect();
        let mut loads = vec![0.0; program.rows()];
        let mut places: Vec<Vec<(u32, f64)>> = Vec::with_capacity(target.len());
        for (line, target) in target.iter().enumerate() {
            let scale = if self.work[line] > 0.0 { target / self.work[line] } else { 0.0 };
            let costs: Vec<f64> = (0..program.places(line).len())
                .map(|place| {
                    program.rough_column(line, place).iter().map(|(row, entry)| entry * prices[*row]).sum()
                })
                .collect();
            let least = costs.iter().copied().fold(f64::INFINITY, f64::min);
            let mut own: Vec<(u32, f64)> =
                self.places[line].iter().map(|(place, work)| (*place, work * scale)).collect();
            let cheap = |place: u32| costs[place as usize] <= least * (1.0 + DEAR);
            if vertex.is_rising(line) && own.iter().any(|(place, _)| cheap(*place)) {
                own.retain(|(place, _)| cheap(*place));
            }
            if own.is_empty() {
                let cheapest = (0..costs.len()).min_by(|a, b| costs[*a].total_cmp(&costs[*b]))?;
                own.push((cheapest as u32, *target));
            }
            for (place, work) in &own {
                for (row, entry) in program.rough_column(line, *place as usize) {
                    loads[row] += entry * work;
                }
            }
            places.push(own);
        }
        let slack: Vec<f64> =
            (0..loads.len()).map(|row| 1.0 - loads[row] / program.rough_amount(row)).collect();
        let fixed = prices.iter().map(|price| *price > 0.0).collect();
        let mut crossover = Crossover::new(program, &slack, fixed, is_over);
        for (line, own) in places.iter().enumerate() {
            if is_over() {
                return None;
            }
            crossover.line(line, own);
        }
        vertex.keys = crossover.keys.iter().map(|key| key.unwrap_or(0)).collect();
        let splits = crossover.splits();
        let tight = crossover.tight();
        vertex.settle_on(
            splits.iter().map(|(line, place, _)| (*line, *place as usize)).collect(),
            tight,
            prices,
            is_over,
        )?;
        let is_before_the_next = filling.next(&vertex).is_none_or(|next| vertex.level <= next);
        (vertex.level >= below && is_before_the_next).then_some(vertex)
    }
}

impl Vertex<'_> {
    /// Takes these splits and tight rows, and one more row that has a price; all values follow from them. `None` if that is no vertex,
    /// or time is over.
    fn settle_on(
        &mut self,
        splits: Vec<(usize, usize)>,
        mut tight: Vec<usize>,
        prices: &[f64],
        is_over: &dyn Fn() -> bool,
    ) -> Option<()> {
        self.splits =
            splits.into_iter().map(|(line, place)| Split { line, place, work: Rational::zero() }).collect();
        self.add_up_rising().ok()?;
        let left = self.left_by_keys()?;
        let columns = self.split_columns();
        // Which row the level is held by: of the priced ones that are left the one that allows the least.
        let mut found: Option<(Rational, Vec<Rational>)> = None;
        for row in (0..prices.len()).filter(|row| prices[*row] > 0.0) {
            if tight.contains(&row) {
                continue;
            }
            tight.push(row);
            if let Some((level, works)) = self.level_on(&columns, &tight, &left, is_over)
                && found.as_ref().is_none_or(|(known, _)| level < *known)
            {
                found = Some((level, works));
            }
            tight.pop();
        }
        let (level, works) = found?;
        let fits = level.is_positive() && works.iter().all(|work| !work.is_negative());
        if !fits {
            return None;
        }
        self.level = level;
        self.splits.iter_mut().zip(works).for_each(|(split, work)| split.work = work);
        self.work_out_slack(&left, &columns)?;
        self.set_tight(tight);
        Some(())
    }
}
