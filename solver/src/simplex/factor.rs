//! A basis as a product of sparse triangular factors, found by cheapest pivots, and of the exchanges of columns since (the product
//! form of the inverse).
//!
//! G. B. Dantzig and W. Orchard-Hays, The product form for the inverse in the simplex method, Mathematical Tables and Other
//! Aids to Computation 8, 1954; H. M. Markowitz, The elimination form of the inverse and its application to linear
//! programming, Management Science 3, 1957.

use crate::tolerance::simplex::{PIVOT, STABLE, VANISHES};

/// Entries of a column or a row: its position, its number.
pub(super) type Entries = Vec<(u32, f64)>;

const NONE: u32 = u32::MAX;

/// The factors. Vectors by row become vectors by position in the basis, and back.
#[derive(Default)]
pub(super) struct Factor {
    /// Rows that were taken from others, in this order: the row, and how often it was taken from which.
    lower: Vec<(u32, Entries)>,
    upper: Vec<Pivot>,
    exchanges: Vec<Exchange>,
}

/// A step of the elimination.
struct Pivot {
    row: u32,
    position: u32,
    number: f64,
    /// What the column has in rows that were pivots before.
    above: Entries,
}

/// A column that took another's position, in terms of the basis before.
struct Exchange {
    position: u32,
    number: f64,
    others: Others,
}

/// The other entries of an exchanged column.
enum Others {
    Few(Entries),
    /// At all positions, 0 at that of the exchange: where most are there, a list of them takes longer.
    Many(Vec<f64>),
}

/// Columns with an entry in more than one of so many positions are kept as [`Others::Many`].
const MANY: usize = 3;

impl Others {
    fn of(position: usize, solved: &[f64]) -> Self {
        let is_one = |at: usize, x: f64| at != position && x.abs() > VANISHES;
        let entries = || solved.iter().enumerate().filter(|(at, x)| is_one(*at, **x));
        if MANY * entries().count() <= solved.len() {
            return Self::Few(entries().map(|(at, x)| (at as u32, *x)).collect());
        }
        Self::Many(solved.iter().enumerate().map(|(at, x)| if is_one(at, *x) { *x } else { 0.0 }).collect())
    }

    /// Takes them from a vector, so many times.
    fn take(&self, times: f64, vector: &mut [f64]) {
        match self {
            Self::Few(entries) => {
                entries.iter().for_each(|(at, entry)| vector[*at as usize] -= entry * times);
            }
            Self::Many(entries) => {
                vector.iter_mut().zip(entries).for_each(|(number, entry)| *number -= entry * times);
            }
        }
    }

    /// Their sum, each times the number of its position.
    fn times(&self, vector: &[f64]) -> f64 {
        match self {
            Self::Few(entries) => entries.iter().map(|(at, entry)| entry * vector[*at as usize]).sum(),
            // Four sums, so that none waits for the one before.
            Self::Many(entries) => {
                let (fours, rest) = vector.as_chunks::<4>();
                let (entries, of_rest) = entries.as_chunks::<4>();
                let mut sums = [0.0; 4];
                for (numbers, entries) in fours.iter().zip(entries) {
                    for (sum, (number, entry)) in sums.iter_mut().zip(numbers.iter().zip(entries)) {
                        *sum += number * entry;
                    }
                }
                sums.iter().sum::<f64>() + rest.iter().zip(of_rest).map(|(x, entry)| x * entry).sum::<f64>()
            }
        }
    }
}

/// Columns that depend on the others, and the rows that are left without one.
#[derive(Debug)]
pub(super) struct Dependent {
    pub positions: Vec<usize>,
    pub rows: Vec<usize>,
}

impl Factor {
    /// Of the columns by position, which are as many as there are rows.
    pub fn new(columns: Vec<Entries>) -> Result<Self, Dependent> {
        Elimination::new(columns).run()
    }

    /// Exchanges since the factors were found.
    pub fn exchanges(&self) -> usize {
        self.exchanges.len()
    }

    /// Puts the column that is `solved` in terms of this basis at a position of it.
    pub fn exchange(&mut self, position: usize, solved: &[f64]) {
        let others = Others::of(position, solved);
        self.exchanges.push(Exchange { position: position as u32, number: solved[position], others });
    }

    /// Solves `B x = a`: `vector` has `a` by row, `solved` gets `x` by position.
    pub fn solve(&self, vector: &mut [f64], solved: &mut [f64]) {
        for (row, entries) in &self.lower {
            let pivot = vector[*row as usize];
            if pivot != 0.0 {
                entries.iter().for_each(|(other, times)| vector[*other as usize] -= times * pivot);
            }
        }
        for pivot in self.upper.iter().rev() {
            let mut x = vector[pivot.row as usize];
            if x != 0.0 {
                x /= pivot.number;
                pivot.above.iter().for_each(|(row, entry)| vector[*row as usize] -= entry * x);
            }
            solved[pivot.position as usize] = x;
        }
        for Exchange { position, number, others } in &self.exchanges {
            let x = solved[*position as usize] / number;
            if x != 0.0 {
                others.take(x, solved);
            }
            solved[*position as usize] = x;
        }
    }

    /// Solves `y B = c`: `vector` has `c` by position, `solved` gets `y` by row.
    pub fn solve_transposed(&self, vector: &mut [f64], solved: &mut [f64]) {
        for Exchange { position, number, others } in self.exchanges.iter().rev() {
            let taken = others.times(vector);
            let of = &mut vector[*position as usize];
            *of = (*of - taken) / number;
        }
        for pivot in &self.upper {
            let taken: f64 = pivot.above.iter().map(|(row, entry)| entry * solved[*row as usize]).sum();
            solved[pivot.row as usize] = (vector[pivot.position as usize] - taken) / pivot.number;
        }
        for (row, entries) in self.lower.iter().rev() {
            let taken: f64 = entries.iter().map(|(other, times)| times * solved[*other as usize]).sum();
            solved[*row as usize] -= taken;
        }
    }
}

/// What is left to eliminate.
struct Elimination {
    /// By position: entries in rows without a pivot yet.
    active: Vec<Entries>,
    /// By position: entries in rows with one.
    above: Vec<Entries>,
    /// Positions that have an entry in the row, or had one.
    of_row: Vec<Vec<u32>>,
    /// Entries of each row in active columns.
    count: Vec<u32>,
    is_done: Vec<bool>,
    /// Positions by the entries of their columns, some of them as many as they had before; and the fewest that there may be.
    by_size: Vec<Vec<u32>>,
    least: usize,
    factor: Factor,
    /// The place of each row in the column at hand.
    place: Vec<u32>,
}

impl Elimination {
    fn new(columns: Vec<Entries>) -> Self {
        let size = columns.len();
        let (mut of_row, mut count) = (vec![Vec::new(); size], vec![0; size]);
        for (position, column) in columns.iter().enumerate() {
            for (row, _) in column {
                of_row[*row as usize].push(position as u32);
                count[*row as usize] += 1;
            }
        }
        Self {
            active: columns,
            above: vec![Vec::new(); size],
            of_row,
            count,
            is_done: vec![false; size],
            by_size: vec![Vec::new(); size + 1],
            least: 0,
            factor: Factor::default(),
            place: vec![NONE; size],
        }
    }

    fn run(mut self) -> Result<Factor, Dependent> {
        let size = self.active.len();
        let mut has_pivot = vec![false; size];
        let mut positions = Vec::new();
        (0..size).for_each(|position| self.queue(position));
        while let Some(position) = self.smallest() {
            let column = &self.active[position as usize];
            let largest = column.iter().fold(0.0, |most: f64, (_, x)| most.max(x.abs()));
            let stable = column.iter().filter(|(_, x)| x.abs() >= STABLE * largest);
            match stable.min_by_key(|(row, _)| (self.count[*row as usize], *row)) {
                Some((row, number)) if largest > PIVOT => {
                    let (row, number) = (*row, *number);
                    has_pivot[row as usize] = true;
                    self.pivot(position, row, number);
                }
                _ => {
                    let column = std::mem::take(&mut self.active[position as usize]);
                    column.iter().for_each(|(row, _)| self.count[*row as usize] -= 1);
                    self.is_done[position as usize] = true;
                    positions.push(position as usize);
                }
            }
        }
        if positions.is_empty() {
            return Ok(self.factor);
        }
        Err(Dependent { positions, rows: (0..size).filter(|row| !has_pivot[*row]).collect() })
    }

    /// Notes how many entries the column at a position has.
    fn queue(&mut self, position: usize) {
        let size = self.active[position].len();
        self.by_size[size].push(position as u32);
        self.least = self.least.min(size);
    }

    /// A position whose column has the fewest entries. Columns of one change no other.
    fn smallest(&mut self) -> Option<u32> {
        while self.least < self.by_size.len() {
            while let Some(position) = self.by_size[self.least].pop() {
                let at = position as usize;
                if !self.is_done[at] && self.active[at].len() == self.least {
                    return Some(position);
                }
            }
            self.least += 1;
        }
        None
    }

    /// Eliminates a row by a column.
    fn pivot(&mut self, position: u32, row: u32, number: f64) {
        let column = std::mem::take(&mut self.active[position as usize]);
        self.is_done[position as usize] = true;
        column.iter().for_each(|(row, _)| self.count[*row as usize] -= 1);
        let others = column.into_iter().filter(|(other, _)| *other != row);
        let times: Entries = others.map(|(other, entry)| (other, entry / number)).collect();
        for other in std::mem::take(&mut self.of_row[row as usize]) {
            let other = other as usize;
            if self.is_done[other] {
                continue;
            }
            let Some(at) = self.active[other].iter().position(|(of, _)| *of == row) else { continue };
            let before = self.active[other].len();
            let (_, entry) = self.active[other].swap_remove(at);
            self.above[other].push((row, entry));
            if !times.is_empty() {
                self.subtract(other, entry, &times);
            }
            if self.active[other].len() != before {
                self.queue(other);
            }
        }
        let above = std::mem::take(&mut self.above[position as usize]);
        self.factor.upper.push(Pivot { row, position, number, above });
        if !times.is_empty() {
            self.factor.lower.push((row, times));
        }
    }

    fn subtract(&mut self, other: usize, entry: f64, times: &Entries) {
        for (at, (row, _)) in self.active[other].iter().enumerate() {
            self.place[*row as usize] = at as u32;
        }
        for (row, times) in times {
            let taken = times * entry;
            match self.place[*row as usize] {
                NONE => {
                    self.active[other].push((*row, -taken));
                    self.of_row[*row as usize].push(other as u32);
                    self.count[*row as usize] += 1;
                }
                at => self.active[other][at as usize].1 -= taken,
            }
        }
        let (place, count) = (&mut self.place, &mut self.count);
        self.active[other].retain(|(row, x)| {
            place[*row as usize] = NONE;
            let stays = x.abs() > VANISHES;
            count[*row as usize] -= u32::from(!stays);
            stays
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pivot_is_one_just_above_the_tolerance_and_what_cancelling_left_just_below() {
        // The second column is the first, but for this.
        let factor = |rest: f64| Factor::new(vec![vec![(0, 1.0), (1, 0.5)], vec![(0, 1.0), (1, 0.5 + rest)]]);
        assert!(factor(1.1 * PIVOT).is_ok());
        let dependent = factor(0.9 * PIVOT).err().unwrap();
        assert_eq!((dependent.positions.len(), dependent.rows.len()), (1, 1));
    }
}
