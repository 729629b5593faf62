//! The Newton step between points: users are eliminated, kind by kind and then their shares, which leaves a system in the prices of rows.

use super::number::Number;
use super::path::{Path, Point, Share, Stream};
use super::{Kind, Party};
use rayon::prelude::*;

/// Rows of which a thread takes at least so many, each by itself.
const FEW_ROWS: usize = 8;

/// A bound of a share, `h` and `λ` or `a` and `ν`, what a step is to make of their product, and how far the bound is off.
type Bound<'a> = (&'a (Number, Number), Number, Number);

impl Path {
    /// `d·p − ρ y − s`.
    pub fn dual_residual(&self, kind: &Kind, stream: &Stream, l: usize) -> Number {
        let cost =
            sum_of(&self.alpha.with(0.0), kind.needs[l].iter().map(|(row, d)| d * &self.point.p[*row]));
        &(&cost - &(&kind.rates[l] * &stream.y)) - &stream.s[l]
    }

    /// How much less its share is worth to a user for a unit more: `κ = α ψ / v + λ / h + ν / a`.
    fn stiffness(&self, share: &Share) -> Number {
        let own = &(&self.alpha * &share.psi) / &share.v;
        sum_of(&own, share.room.iter().chain(&share.above).map(|(x, price)| price / x))
    }

    /// What is left of a user in the system of rows, to which it adds its part.
    fn eliminate(&self, party: &Party, share: &Share, matrix: &mut [Vec<Number>]) -> Eliminated {
        let (zero, one) = (self.alpha.with(0.0), self.alpha.with(1.0));
        let (mut whole, mut pulls) = (self.stiffness(share), Vec::new());
        let mut kinds = Vec::with_capacity(party.kinds.len());
        for (kind, stream) in party.kinds.iter().zip(&share.kinds) {
            let theta: Vec<Number> = stream.z.iter().zip(&stream.s).map(|(z, s)| z / s).collect();
            let mut spread = zero.clone();
            let mut own = Vec::new();
            for ((theta, rate), needs) in theta.iter().zip(&kind.rates).zip(&kind.needs) {
                let per_rate = theta * rate;
                spread = &spread + &(&per_rate * rate);
                for (i, (row, d)) in needs.iter().enumerate() {
                    let weighed = theta * d;
                    for (other, e) in &needs[..=i] {
                        let (a, b) = ((*row).max(*other), (*row).min(*other));
                        matrix[a][b] = &matrix[a][b] + &(&weighed * e);
                    }
                    add(&mut own, *row, &(&per_rate * d));
                }
            }
            own.sort_unstable_by_key(|(row, _)| *row);
            let part = &kind.part / &spread;
            whole = &whole + &(&kind.part * &part);
            own.iter().for_each(|(row, g)| add(&mut pulls, *row, &(&part * g)));
            kinds.push(EliminatedKind { theta, spread, pulls: own });
        }
        if let [kind] = &kinds[..] {
            // Both squares are of one vector: 1 / Θ − (π / Θ)² / (κ + π² / Θ) = κ / (Θ κ + π²).
            let times = &self.stiffness(share) / &(&kind.spread * &whole);
            subtract_square(matrix, &kind.pulls, &times);
        } else {
            kinds.iter().for_each(|kind| subtract_square(matrix, &kind.pulls, &(&one / &kind.spread)));
            pulls.sort_unstable_by_key(|(row, _)| *row);
            subtract_square(matrix, &pulls, &-&(&one / &whole));
        }
        Eliminated { kinds, whole, pulls }
    }

    /// The system in the prices of rows, as `L D Lᵀ`; `None` where it holds no numbers.
    pub fn factor(&self) -> Option<Factors> {
        let m = self.point.q.len();
        let zero = self.alpha.with(0.0);
        let mut matrix: Vec<Vec<Number>> = (0..m).map(|i| vec![zero.clone(); i + 1]).collect();
        let both = self.parties.iter().zip(&self.point.shares);
        let users = both.map(|(party, share)| self.eliminate(party, share, &mut matrix)).collect();
        for (i, (q, p)) in self.point.q.iter().zip(&self.point.p).enumerate() {
            matrix[i][i] = &matrix[i][i] + &(q / p);
        }
        for j in 0..m {
            if !matrix[j][j].is_positive() {
                return None;
            }
            // Rows that only some users need have nothing to do with most others.
            let (above, below) = matrix.split_at_mut(j + 1);
            let pivot = &above[j][j];
            let mut left: Vec<(usize, &mut Vec<Number>)> =
                (j + 1..m).zip(below).filter(|(_, row)| !row[j].is_zero()).collect();
            let column: Vec<(usize, Number)> = left.iter().map(|(i, row)| (*i, row[j].clone())).collect();
            left.par_iter_mut().enumerate().with_min_len(FEW_ROWS).for_each(|(at, (_, row))| {
                row[j] = &row[j] / pivot;
                for (k, other) in &column[..=at] {
                    row[*k] = &row[*k] - &(&row[j] * other);
                }
            });
        }
        Some(Factors { matrix, users })
    }

    /// The step to products of `target`, made up for the second order of a predictor.
    pub fn step(&self, factors: &Factors, target: &Number, predictor: Option<&Point>) -> Point {
        let zero = self.alpha.with(0.0);
        let aim = |x: &Number, z: &Number, both: Option<(&Number, &Number)>| {
            let now = target - &(x * z);
            both.map_or_else(|| now.clone(), |(dx, dz)| &now - &(dx * dz))
        };
        let (q, p) = (&self.point.q, &self.point.p);
        let of_row = |row: usize| aim(&q[row], &p[row], predictor.map(|step| (&step.q[row], &step.p[row])));
        let rows: Vec<Number> = (0..q.len()).map(of_row).collect();
        // Σ d dz + dq = what is left of each row.
        let mut right: Vec<Number> = rows.iter().zip(p).map(|(product, p)| product / p).collect();
        for (row, right) in right.iter_mut().enumerate() {
            *right = &*right + &(&q[row] - &self.capacity[row]);
        }
        let mut wishes = Vec::with_capacity(self.point.shares.len());
        for (u, (party, share)) in self.parties.iter().zip(&self.point.shares).enumerate() {
            let eliminated = &factors.users[u];
            let before = predictor.map(|step| &step.shares[u]);
            let product = |bound: &(Number, Number), before: Option<&(Number, Number)>| {
                aim(&bound.0, &bound.1, before.map(|(dx, dprice)| (dx, dprice)))
            };
            let room = share.room.as_ref().zip(party.cap.as_ref()).map(|(bound, cap)| {
                let off = &(cap - &share.v) - &bound.0;
                (bound, product(bound, before.and_then(|before| before.room.as_ref())), off)
            });
            let above = share.above.as_ref().zip(party.floor.as_ref()).map(|(bound, floor)| {
                let off = &(&share.v - floor) - &bound.0;
                (bound, product(bound, before.and_then(|before| before.above.as_ref())), off)
            });
            // Σ π dy = b − κ dv
            let paid = party.kinds.iter().zip(&share.kinds).map(|(kind, stream)| &kind.part * &stream.y);
            let mut b = &(&share.psi * &self.misses[u]) + &(&share.psi - &sum_of(&zero, paid));
            // What a bound's price is to rise by while the share stays.
            let rise = |((x, price), product, off): &Bound<'_>| &(product - &(price * off)) / x;
            if let Some(bound) = &room {
                b = &(&b - &bound.0.1) - &rise(bound);
            }
            if let Some(bound) = &above {
                b = &(&b + &bound.0.1) + &rise(bound);
            }
            let mut still = b;
            let mut kinds = Vec::with_capacity(party.kinds.len());
            for (k, (kind, stream)) in party.kinds.iter().zip(&share.kinds).enumerate() {
                let before = before.map(|before| &before.kinds[k]);
                let classes = 0..stream.z.len();
                let product =
                    |l| aim(&stream.z[l], &stream.s[l], before.map(|before| (&before.z[l], &before.s[l])));
                let products: Vec<Number> = classes.clone().map(product).collect();
                let moved = |l: usize| {
                    let off = &stream.z[l] * &self.dual_residual(kind, stream, l);
                    &(&products[l] - &off) / &stream.s[l]
                };
                let moves: Vec<Number> = classes.map(moved).collect();
                // π dv = A + Θ dy − g·dp
                let had = sum_of(&zero, kind.rates.iter().zip(&stream.z).map(|(rate, z)| rate * z));
                let off = &had - &(&kind.part * &share.v);
                let a = sum_of(&off, kind.rates.iter().zip(&moves).map(|(rate, z)| rate * z));
                still = &still + &(&(&kind.part * &a) / &eliminated.kinds[k].spread);
                kinds.push(KindWish { products, moves, a });
            }
            let still = &still / &eliminated.whole;
            let own = party.kinds.iter().zip(&share.kinds).zip(kinds.iter().zip(&eliminated.kinds));
            for ((kind, stream), (wish, part)) in own {
                let dy = &(&(&kind.part * &still) - &wish.a) / &part.spread;
                for (l, needs) in kind.needs.iter().enumerate() {
                    let own = &wish.moves[l] + &(&(&part.theta[l] * &kind.rates[l]) * &dy);
                    for (row, d) in needs {
                        right[*row] = &right[*row] + &(d * &(&own + &stream.z[l]));
                    }
                }
            }
            wishes.push(Wish { kinds, still, room, above });
        }
        // M dp = what the moves take beyond the rows.
        let dp = factors.solve(right);
        let pulled = |pulls: &[(usize, Number)]| sum_of(&zero, pulls.iter().map(|(row, g)| g * &dp[*row]));
        let shares = self.parties.iter().zip(&self.point.shares).zip(wishes).enumerate();
        let changes = shares.map(|(u, ((party, share), wish))| {
            let eliminated = &factors.users[u];
            let v = &wish.still - &(&pulled(&eliminated.pulls) / &eliminated.whole);
            let stream = |(k, kind): (usize, &Kind)| {
                let (now, part, wish) = (&share.kinds[k], &eliminated.kinds[k], &wish.kinds[k]);
                let y = &(&(&(&kind.part * &v) - &wish.a) + &pulled(&part.pulls)) / &part.spread;
                let moved = |l: usize| {
                    let cost = sum_of(&zero, kind.needs[l].iter().map(|(row, d)| d * &dp[*row]));
                    &wish.moves[l] + &(&part.theta[l] * &(&(&kind.rates[l] * &y) - &cost))
                };
                let z: Vec<Number> = (0..now.z.len()).map(moved).collect();
                let slack = |l: usize| &(&wish.products[l] - &(&now.s[l] * &z[l])) / &now.z[l];
                let s = (0..z.len()).map(slack).collect();
                Stream { y, z, s }
            };
            let kinds = party.kinds.iter().enumerate().map(stream).collect();
            let psi = &share.psi * &(&self.misses[u] - &(&(&self.alpha * &v) / &share.v));
            let changed = |((x, price), product, off): &Bound<'_>, dv: &Number| {
                let dx = off + dv;
                let dprice = &(product - &(price * &dx)) / x;
                (dx, dprice)
            };
            let room = wish.room.as_ref().map(|bound| changed(bound, &-&v));
            let above = wish.above.as_ref().map(|bound| changed(bound, &v));
            Share { v, psi, room, above, kinds }
        });
        let shares: Vec<Share> = changes.collect();
        let dq = (0..rows.len()).map(|row| &(&rows[row] - &(&q[row] * &dp[row])) / &p[row]).collect();
        Point { shares, q: dq, p: dp }
    }
}

/// What is left of users in the system of rows.
pub(super) struct Eliminated {
    kinds: Vec<EliminatedKind>,
    /// `κ + Σ π² / Θ` and `Σ π g / Θ`.
    whole: Number,
    pulls: Vec<(usize, Number)>,
}

/// What is left of a kind.
struct EliminatedKind {
    theta: Vec<Number>,
    /// `Θ = Σ ρ² θ` and `g = Σ ρ θ d`.
    spread: Number,
    pulls: Vec<(usize, Number)>,
}

/// What a user would do whatever prices did.
struct Wish<'a> {
    kinds: Vec<KindWish>,
    /// What its share would change by.
    still: Number,
    room: Option<Bound<'a>>,
    above: Option<Bound<'a>>,
}

/// The same of a kind.
struct KindWish {
    products: Vec<Number>,
    moves: Vec<Number>,
    a: Number,
}

/// Adds to the entry of a row.
fn add(entries: &mut Vec<(usize, Number)>, row: usize, more: &Number) {
    match entries.iter_mut().find(|(at, _)| *at == row) {
        Some((_, sum)) => *sum = &*sum + more,
        None => entries.push((row, more.clone())),
    }
}

/// Takes so many times the square of a vector, whose rows rise, off a matrix, of which there is what is on the diagonal and below.
fn subtract_square(matrix: &mut [Vec<Number>], vector: &[(usize, Number)], times: &Number) {
    let mut next = vector.iter().map(|(row, _)| *row).peekable();
    let is_one = |(at, _): &(usize, &mut Vec<Number>)| next.next_if_eq(at).is_some();
    let mut rows: Vec<(usize, &mut Vec<Number>)> = matrix.iter_mut().enumerate().filter(is_one).collect();
    rows.par_iter_mut().zip(vector).enumerate().with_min_len(FEW_ROWS).for_each(|(i, ((_, row), (_, g)))| {
        let weighed = times * g;
        for (other, f) in &vector[..=i] {
            row[*other] = &row[*other] - &(&weighed * f);
        }
    });
}

/// The system, factored: `L` below the diagonal and `D` on it.
pub(super) struct Factors {
    pub matrix: Vec<Vec<Number>>,
    pub users: Vec<Eliminated>,
}

impl Factors {
    fn solve(&self, mut x: Vec<Number>) -> Vec<Number> {
        for i in 0..x.len() {
            for j in (0..i).filter(|j| !self.matrix[i][*j].is_zero()) {
                x[i] = &x[i] - &(&self.matrix[i][j] * &x[j]);
            }
        }
        for i in 0..x.len() {
            x[i] = &x[i] / &self.matrix[i][i];
        }
        for i in (0..x.len()).rev() {
            for j in (i + 1..x.len()).filter(|j| !self.matrix[*j][i].is_zero()) {
                x[i] = &x[i] - &(&self.matrix[j][i] * &x[j]);
            }
        }
        x
    }
}

pub(super) fn sum_of(first: &Number, others: impl Iterator<Item = Number>) -> Number {
    others.fold(first.clone(), |sum, other| &sum + &other)
}
