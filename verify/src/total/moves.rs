//! What may run elsewhere, as a linear program: where nothing moves is a point of it.

use super::beside::{is_far_less, is_far_more, is_judged, is_near};
use super::hidden::{Member, Parties};
use crate::feasibility::capacity_units;
use crate::simplex::{Program, Table, Variable};
use crate::tolerance::{JUDGED, LEFT_OPEN, LOOSE, NO_ROOM, OWN};
use crate::total::Market;
use crate::used::Used;
use crate::verdict::Worst;
use fairplan_instances::{ClassId, ResourceId, User, UserId};

/// What may run elsewhere: of each kind on each class how many tasks more, and how many fewer, and for those who are looked at how much more or
/// less they have by that. Nothing moves in the beginning.
pub(super) struct Moves<'a> {
    parties: &'a Parties<'a>,
    program: Program,
    gains: Vec<Gain>,
    /// Whoever is worth more than so many times as much has no less than it has.
    far: f64,
}

/// A step by which somebody has more or less, beyond the one before it.
struct Gain {
    who: usize,
    /// From so much to so much, in parts of what it has; below nothing less.
    from: f64,
    to: f64,
    variable: usize,
    /// Which part of what it has a unit of the variable is.
    part: f64,
    /// What it is worth beside the most, as a logarithm.
    below: f64,
}

/// Ends of the steps, in parts of what somebody has: all but a tenth may go. A step weighs what it takes as if all of it were worth as much as half
/// the way: so the first are short, since a little less of who is worth much may be all of who is worth little.
const STEPS: [f64; 8] = [1e-6, 1e-5, 1e-4, 1e-3, 2.0 * OWN, 0.1, 0.5, 0.9];

/// Of whoever is worth more than this many times as much, numbers of the program would be too far apart as they are.
const FAR_MORE: f64 = 1e4;

impl<'a> Moves<'a> {
    /// Those who are worth as much as `most` are weighed against the others, but for whoever is worth more than `far` times as much.
    pub fn of(parties: &'a Parties<'a>, used: &Used<'_>, most: f64, far: f64) -> Self {
        let Market { instance, .. } = *parties.market;
        let m = instance.resources().len();
        let room = |taken: f64, all: u128| {
            let part = taken / all as f64;
            // What is used up has no room: whatever is left of it is rounding.
            if all == 0 || part >= 1.0 - NO_ROOM { 0.0 } else { 1.0 - part }
        };
        let mut rooms: Vec<f64> = (0..instance.classes().len() * m)
            .map(|at| room(used.loads[at], capacity_units(instance, at / m, at % m)))
            .collect();
        let of_limit = |(j, row): (usize, _)| room(used.of_limit(j), instance.limit_units(row));
        rooms.extend(instance.limit_rows().iter().enumerate().map(of_limit));
        let program = Program { room: rooms, variables: Vec::new() };
        let mut moves = Self { parties, program, gains: Vec::new(), far };
        for who in 0..parties.len() {
            let below = parties.log_worth(who) - most;
            let mut members = parties.members(who);
            members.retain(|member| member.needs > 0.0);
            let is_weighed = !is_far_less(below) && !is_far_more(below, far);
            // Whoever is worth far more has no less than it has, whoever is worth far less may lose all that nothing guarantees.
            let kept = parties.kept(below);
            let least = |member: &Member| if is_far_less(below) { member.sure.max(kept) } else { 1.0 };
            let held: Vec<_> = members.iter().flat_map(|member| moves.add(member, least(member))).collect();
            if is_weighed && !held.is_empty() {
                let sure = members.iter().map(|member| member.sure).fold(0.0, f64::max);
                moves.add_gains(who, &held, below, 1.0 - sure);
            }
        }
        moves
    }

    /// Adds the tasks of a user that must do at least this part of the work that it needs. Returns the rows by which each of its kinds does that,
    /// and the size of one in parts of the work.
    fn add(&mut self, member: &Member, least: f64) -> Vec<(usize, f64)> {
        let Parties { market, claim, .. } = *self.parties;
        let user = market.instance.user(UserId(member.user));
        let above = market.instance.limits_above(user);
        let mut held = Vec::new();
        for kind in market.usable_classes.kinds(user) {
            let usable = market.usable_classes.of_kind(kind);
            let mut running = vec![0.0; market.instance.classes().len()];
            claim.tasks.visit(member.user, kind, |class, here| running[class] += here);
            let tasks: f64 = running.iter().sum();
            let rates: Vec<f64> = usable.classes.iter().map(|class| usable.rate(*class).to_f64()).collect();
            let of_class: Vec<Vec<(usize, f64)>> =
                usable.classes.iter().map(|class| self.taken(user, kind, *class, &above)).collect();
            // Numbers are near one where the unit is so many tasks that they fill something of their class.
            let fill =
                |taken: &Vec<(usize, f64)>| 1.0 / taken.iter().map(|(_, part)| *part).fold(0.0, f64::max);
            let units: Vec<f64> = of_class.iter().map(fill).collect();
            let does = |(rate, unit): (&f64, &f64)| rate * unit / member.needs;
            let size = rates.iter().zip(&units).map(does).fold(0.0, f64::max);
            let of_work = self.program.room.len();
            let work: f64 =
                usable.classes.iter().zip(&rates).map(|(class, rate)| rate * running[*class]).sum();
            if least > 0.0 {
                held.push((of_work, size));
                let beyond = work / member.needs - least;
                self.program.room.push(if beyond > LOOSE { beyond / size } else { 0.0 });
            }
            let largest = units.iter().copied().fold(0.0, f64::max);
            let of_tasks = user.tasks().map(|most| {
                let left = most as f64 - tasks;
                self.program.room.push(if left > OWN * most as f64 { left / largest } else { 0.0 });
                self.program.room.len() - 1
            });
            for (((class, rate), unit), taken) in usable.classes.iter().zip(&rates).zip(&units).zip(of_class)
            {
                let mut entries: Vec<(usize, f64)> =
                    taken.iter().map(|(row, part)| (*row, part * unit)).collect();
                if least > 0.0 {
                    entries.push((of_work, -does((rate, unit)) / size));
                }
                entries.extend(of_tasks.map(|row| (row, unit / largest)));
                let here = running[*class];
                if here > 0.0 {
                    let fewer = entries.iter().map(|(row, coefficient)| (*row, -coefficient)).collect();
                    self.program.variables.push(Variable { entries: fewer, most: here / unit });
                }
                // Nobody runs more than the class holds, nor more than it needs for all that it may have.
                let needed = 2.0 / does((rate, unit));
                let most = (needed.min(1.0) - here / unit).max(0.0);
                self.program.variables.push(Variable { entries, most });
            }
        }
        held
    }

    /// The part that a task of a kind takes on a class of each of its resources, and of the limits above its user.
    fn taken(&self, user: User<'_>, kind: usize, class: usize, above: &[usize]) -> Vec<(usize, f64)> {
        let Market { instance, usable_classes, .. } = *self.parties.market;
        let (m, rows) = (instance.resources().len(), instance.limit_rows());
        let part = |resource: ResourceId, all: u128| match usable_classes.demand_units(user, kind, resource) {
            0 => 0.0,
            units => units as f64 / all as f64,
        };
        let of_class =
            (0..m).map(|r| (class * m + r, part(ResourceId(r), capacity_units(instance, class, r))));
        let covering = above.iter().filter(|j| rows[**j].covers(ClassId(class)));
        let first = instance.classes().len() * m;
        let of_limits =
            covering.map(|j| (first + j, part(rows[*j].resource, instance.limit_units(&rows[*j]))));
        of_class.chain(of_limits).filter(|(_, part)| *part > 0.0).collect()
    }

    /// Adds how much more and less somebody has whose kinds are held by these rows, who is worth so much, and to whom this part is not guaranteed.
    fn add_gains(&mut self, who: usize, held: &[(usize, f64)], below: f64, free: f64) {
        let largest = held.iter().map(|(_, size)| 1.0 / size).fold(0.0, f64::max);
        // Of whoever is worth far more, what it loses is told in as much smaller parts.
        let unit = (FAR_MORE * (-below).exp()).min(1.0) / largest;
        for (sign, at) in [1.0, -1.0].into_iter().flat_map(|sign| (0..STEPS.len()).map(move |at| (sign, at)))
        {
            let end = |at: usize| if sign > 0.0 { STEPS[at] } else { STEPS[at].min(free.max(0.0)) };
            let (from, to) = (if at == 0 { 0.0 } else { sign * end(at - 1) }, sign * end(at));
            // What costs too much would not be done.
            if from != to && self.worth(from, to) * below.exp() < self.far {
                self.gains.push(Gain {
                    who,
                    from,
                    to,
                    variable: self.program.variables.len(),
                    part: unit,
                    below,
                });
                let entries = held.iter().map(|(row, size)| (*row, sign * unit / size)).collect();
                self.program.variables.push(Variable { entries, most: (to - from).abs() / unit });
            }
        }
    }

    /// What a part of what somebody has is worth between having so much more and so much, in units of the margin.
    fn worth(&self, from: f64, to: f64) -> f64 {
        let of = |more: f64| match self.parties.market.alpha {
            1.0 => more.ln_1p(),
            alpha => ((1.0 - alpha) * more.ln_1p()).exp_m1() / (1.0 - alpha),
        };
        (of(to) - of(from)) / (to - from)
    }

    /// Judges those who are worth about the most. Returns whether rounding lets it.
    pub fn judge(&self, worst: &mut Worst) -> bool {
        let mut objective = vec![0.0; self.program.variables.len()];
        for Gain { from, to, variable, part, below, .. } in &self.gains {
            objective[*variable] = (to - from).signum() * self.worth(*from, *to) * below.exp() * part;
        }
        let least = LEFT_OPEN * JUDGED * OWN * self.worth(0.0, OWN);
        let Some(best) = Table::of(&self.program).maximize(&objective, 0.1 * least) else { return false };
        let reached = best.reached(&objective);
        if self.program.bound(&objective, &best.prices) <= least {
            return true;
        }
        if !self.program.excess(&best).is_some_and(|excess| is_near(excess, reached, least)) {
            return false;
        }
        for who in 0..self.parties.len() {
            let steps = self.gains.iter().filter(|gain| gain.who == who && is_judged(gain.below));
            let more: f64 = steps
                .map(|gain| (gain.to - gain.from).signum() * best.point[gain.variable] * gain.part)
                .sum();
            worst.see(more, || {
                let (name, percent) = (self.parties.name(who), 100.0 * more);
                format!("{name} could have {percent:.1}% more than it has or still more than that, for less than it is worth to it")
            });
        }
        true
    }
}
