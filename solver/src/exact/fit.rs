//! Whether an allocation in doubles fits, decided exactly.

use super::number::Rational;
use super::program::Program;
use fairplan_instances::{Allocation, KindId, User, UserId};
use num_bigint::BigInt;
use rayon::prelude::*;

/// Bits after the point in which loads are added up, each rounded up.
const POINT: u32 = 200;

/// Lines that are added up together.
const CHUNK: usize = 1 << 14;

/// Whether doubles add up to more than there is of something.
pub(crate) fn overloads(program: &Program<'_>, allocation: &Allocation) -> bool {
    let part = |lines: &[usize]| {
        let mut loads = vec![BigInt::ZERO; program.rows()];
        for &line in lines {
            add(program, allocation, line, &mut loads);
        }
        loads
    };
    let lines: Vec<usize> = (0..program.lines.len()).collect();
    let parts: Vec<Vec<BigInt>> = lines.par_chunks(CHUNK).map(part).collect();
    let mut loads = vec![BigInt::ZERO; program.rows()];
    for part in parts {
        loads.iter_mut().zip(part).for_each(|(sum, load)| *sum += load);
    }
    let over =
        |(load, amount): (BigInt, &Rational)| load > (amount.numerator() << POINT) / amount.denominator();
    loads.into_iter().zip(&program.amounts).any(over)
        || program
            .instance
            .users()
            .any(|user| user.tasks().is_some_and(|all| runs_more(allocation, user, all)))
}

/// Whether a user, or a kind of it, runs more tasks than it has.
fn runs_more(allocation: &Allocation, user: User<'_>, all: u64) -> bool {
    let (id, all) = (user.index(), Rational::whole(all));
    if allocation.is_pooled() {
        return Rational::double(allocation.tasks(id)) > all;
    }
    user.kinds().any(|kind| {
        let placed = allocation.placement_of_kind(id, kind.index());
        let running = placed.fold(Rational::zero(), |sum, (_, tasks)| &sum + &Rational::double(tasks));
        running > all
    })
}

fn add(program: &Program<'_>, allocation: &Allocation, line: usize, loads: &mut [BigInt]) {
    let of = &program.lines[line];
    let user = UserId(of.user as usize);
    let mut add = |place: usize, tasks: f64| {
        let tasks = Rational::double(tasks);
        for (row, units) in program.task_column(line, place) {
            let load = units.numerator() * tasks.numerator();
            // Not rounded where nothing is lost: full is not overfull.
            let (load, by) = (load << POINT, units.denominator() * tasks.denominator());
            let down = &load / &by;
            loads[row] += if &down * by == load { down } else { down + 1 };
        }
    };
    if allocation.is_pooled() {
        add(0, allocation.tasks(user));
        return;
    }
    let fractions = allocation.split_of_kind(KindId(of.kind as usize));
    for (place, at) in program.places(line).iter().enumerate() {
        let tasks = allocation.tasks(user) * fractions[at.class];
        if tasks > 0.0 {
            add(place, tasks);
        }
    }
}
