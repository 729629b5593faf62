//! What a user could do alone on the whole cluster, which is what task share fairness measures it by.
//!
//! A task of one kind fills each server by itself. Pieces of several kinds share servers: the most tasks are the largest `t` with
//! `Σ_l N_l y_lk >= t` for every kind `k`, where a server of class `l` holds any mix `y_l >= 0` with `Σ_k y_lk D_kr <= c_lr` (`D_k`: what one
//! task needs of kind `k`). Mixes are found as they are needed (Dantzig and Wolfe 1960): each is the best there is at some worths of
//! the kinds, and at the last worths no mix is worth more than what the servers hold. No class holds more of a kind than for the most tasks that
//! any one kind allows: pieces of which a server could hold millions are numbers like the others then.
//!
//! Where tasks need two resources at most, there is a formula for `t`. Let servers hold `m_j` tasks' pieces of kind `j` alone, and let a
//! task's pieces of kind `k` count as `v_jk = min_r D_kr / D_jr` of them. No server holds a mix that counts for more than what it holds of
//! `j` alone, so `t <= m_j / Σ_k v_jk`, whatever `j` is. One of these bounds is reached. All kinds run in the best division, so at its
//! worths every kind is the best somewhere, in the order of their ratios of the two resources. A server is then filled with the two kinds
//! whose ratios are next to its own, so on all such worths what the servers hold is worth a linear function of them. The least of that is
//! at a corner: these worths are a cone with one side for each kind, and a corner of it is the row of all `v_jk` of one `j`.

use super::small_program::SmallProgram;
use super::{ClassId, ServerClass, User};
use crate::tolerance::{ALL, NO_BETTER};

/// How many tasks of several kinds a user could have alone, and what proves it from both sides.
#[derive(Clone, Debug)]
pub struct Alone {
    /// Tasks.
    pub tasks: f64,
    /// The pieces that run on each server, class by class and kind by kind, as the tasks they are enough for.
    pub pieces: Vec<Vec<f64>>,
    /// What a task's pieces of each kind are worth.
    pub worths: Vec<f64>,
    /// What all that a server has of each resource is worth, class by class, in the same unit.
    pub prices: Vec<Vec<f64>>,
}

impl User<'_> {
    /// The most work the user could do alone on the whole cluster (on the servers by which shares are measured) if it were
    /// eligible everywhere, with tasks divided at will: `Σ_l N_l ρ_il min_r c_lr / D_ir` (a task does 1 unless it has rates), and
    /// with several kinds the [most tasks](Self::alone).
    pub fn work_alone(self) -> f64 {
        if self.has_kinds() {
            return self.tasks_by_formula().unwrap_or_else(|| self.alone().tasks);
        }
        let rule = self.rule();
        let work = |(l, (count, capacity)): (usize, (f64, &[f64]))| {
            count * rule.rate(ClassId(l)).to_f64() * pieces_in(capacity, self.demand_doubles())
        };
        self.instance.measuring_doubles().enumerate().map(work).sum()
    }

    /// The most tasks with several kinds, where they need two resources at most.
    fn tasks_by_formula(self) -> Option<f64> {
        let kinds = || self.kinds().map(|kind| kind.demand_doubles());
        let resources = 0..self.instance.resources().len();
        let mut needed = resources.filter(|r| kinds().any(|demand| demand[*r] > 0.0));
        let first = needed.next()?;
        let second = needed.next().unwrap_or(first);
        if needed.next().is_some() {
            return None;
        }
        let bound_by = |own: &[f64]| {
            let [of_first, of_second] = [own[first].recip(), own[second].recip()];
            // Of what a piece does not need any number fit: infinitely many, or no number where there is none of it, which `min` passes over.
            let fit = |amounts: &[f64]| (amounts[first] * of_first).min(amounts[second] * of_second);
            let held: f64 = self.instance.measuring_doubles().map(|(count, all)| count * fit(all)).sum();
            held / kinds().map(fit).sum::<f64>()
        };
        Some(kinds().map(bound_by).fold(f64::INFINITY, f64::min))
    }

    /// The most tasks the user could have alone if each of its kinds were eligible everywhere, with its proof.
    pub fn alone(self) -> Alone {
        let demands: Vec<&[f64]> = self.kinds().map(|kind| kind.demand_doubles()).collect();
        let classes = self.instance.measuring_classes();
        let on_class = |(_, capacity)| demands.iter().map(move |demand| pieces_in(capacity, demand));
        let most: Vec<f64> = self.instance.measuring_doubles().flat_map(on_class).collect();
        let of_kind = |k: usize| -> f64 {
            let of_class = classes.iter().zip(most.chunks_exact(demands.len()));
            of_class.map(|(class, most)| class.count as f64 * most[k]).sum()
        };
        let bound = (0..demands.len()).map(of_kind).fold(f64::INFINITY, f64::min);
        if bound > 0.0 && bound.is_finite() {
            Search::new(classes, &demands, most, bound).run()
        } else {
            let pieces = classes.iter().map(|_| vec![0.0; demands.len()]).collect();
            let prices = classes.iter().map(|class| vec![0.0; class.capacity.len()]).collect();
            Alone { tasks: 0.0, pieces, worths: vec![1.0; demands.len()], prices }
        }
    }
}

/// How many such pieces fit into these amounts, as divisible as they are.
fn pieces_in(amounts: &[f64], piece: &[f64]) -> f64 {
    let parts = piece.iter().zip(amounts).filter(|(needed, _)| **needed > 0.0);
    parts.map(|(needed, amount)| amount / needed).fold(f64::INFINITY, f64::min)
}

/// Far more rounds than are needed: mixes that roundings alone tell apart end there.
const MOST_ROUNDS: usize = 10_000;

/// The mixes that are known, and what is needed to find others.
struct Search<'a> {
    classes: &'a [ServerClass],
    kinds: usize,
    /// More tasks there are not.
    bound: f64,
    /// How many tasks' worth of each kind a server holds alone, but no more than the bound on all of its class: class by class.
    most: Vec<f64>,
    /// The part of each resource that so many pieces take, class by class and resource by resource.
    needs: Vec<f64>,
    /// Whether so many pieces are all that some resource holds, class by class and kind by kind: then it holds no more anyway.
    filling: Vec<bool>,
    /// For each mix, what a server of each class has of each kind.
    mixes: Vec<Vec<f64>>,
    /// What that comes to on all servers, as parts of the bound: mix by mix.
    together: Vec<f64>,
    worths: Vec<f64>,
    prices: Vec<Vec<f64>>,
    of_server: SmallProgram,
    of_mixes: SmallProgram,
}

impl<'a> Search<'a> {
    fn new(classes: &'a [ServerClass], demands: &[&[f64]], mut most: Vec<f64>, bound: f64) -> Self {
        let kinds = demands.len();
        let mut needs = Vec::new();
        let mut filling = Vec::with_capacity(most.len());
        for (class, most) in classes.iter().zip(most.chunks_exact_mut(kinds)) {
            most.iter_mut().for_each(|most| *most = most.min(bound / class.count.max(1) as f64));
            for (r, capacity) in class.capacity.iter().enumerate() {
                let part = |(demand, most): (&&[f64], &f64)| match demand[r] > 0.0 && *most > 0.0 {
                    true => (demand[r] / capacity.to_f64() * most).min(1.0),
                    false => 0.0,
                };
                needs.extend(demands.iter().zip(most.iter()).map(part));
            }
            let of_class = &needs[needs.len() - class.capacity.len() * kinds..];
            let is_filling = |k: usize| of_class.iter().skip(k).step_by(kinds).any(|part| *part >= ALL);
            filling.extend((0..kinds).map(is_filling));
        }
        Self {
            classes,
            kinds,
            bound,
            most,
            needs,
            filling,
            mixes: Vec::new(),
            together: Vec::new(),
            worths: vec![1.0; kinds],
            prices: classes.iter().map(|class| vec![0.0; class.capacity.len()]).collect(),
            of_server: SmallProgram::default(),
            of_mixes: SmallProgram::default(),
        }
    }

    fn run(mut self) -> Alone {
        for _ in 0..MOST_ROUNDS {
            if !self.add_best_mix() {
                break;
            }
            self.divide();
        }
        let parts = &self.of_mixes.point[1..];
        let of_kind = |k: usize| -> f64 {
            self.together.chunks_exact(self.kinds).zip(parts).map(|(mix, part)| mix[k] * part).sum()
        };
        let tasks = (0..self.kinds).map(of_kind).fold(f64::INFINITY, f64::min) * self.bound;
        let piece = |at: usize| self.mixes.iter().zip(parts).map(|(mix, part)| mix[at] * part).sum();
        let of_class = |l: usize| (0..self.kinds).map(|k| piece(l * self.kinds + k)).collect();
        let pieces = (0..self.classes.len()).map(of_class).collect();
        Alone { tasks, pieces, worths: self.worths, prices: self.prices }
    }

    /// Finds the mix that is worth most on each class. Whether it is new, and better than what the known ones hold.
    fn add_best_mix(&mut self) -> bool {
        let kinds = self.kinds;
        let mut mix = Vec::with_capacity(self.most.len());
        let mut together = vec![0.0; kinds];
        let mut needs = self.needs.chunks_exact(kinds);
        let of_classes = self.most.chunks_exact(kinds).zip(self.filling.chunks_exact(kinds));
        for ((class, (most, filling)), prices) in self.classes.iter().zip(of_classes).zip(&mut self.prices) {
            let program = &mut self.of_server;
            program.start(self.worths.iter().zip(most).map(|(worth, most)| worth * most));
            for needs in needs.by_ref().take(prices.len()) {
                program.row(needs.iter().copied(), 1.0);
            }
            for k in (0..kinds).filter(|k| !filling[*k]) {
                program.row((0..kinds).map(|other| f64::from(other == k)), 1.0);
            }
            program.maximise();
            prices.iter_mut().zip(&program.prices).for_each(|(price, found)| *price = *found);
            for ((part, most), together) in program.point.iter().zip(most).zip(&mut together) {
                mix.push(part * most);
                *together += class.count as f64 * part * most / self.bound;
            }
        }
        let worth: f64 = together.iter().zip(&self.worths).map(|(amount, worth)| amount * worth).sum();
        let held = self.of_mixes.prices.last();
        let is_better = held.is_none_or(|held| worth > held * (1.0 + NO_BETTER));
        let is_new = !self.together.chunks_exact(kinds).any(|known| known == together);
        if is_better && is_new {
            self.mixes.push(mix);
            self.together.extend(together);
        }
        is_better && is_new
    }

    /// The best division of all servers between the known mixes, and what each kind is worth then.
    fn divide(&mut self) {
        let mixes = self.mixes.len();
        let program = &mut self.of_mixes;
        // The tasks, as a part of the bound; then the part of all servers that each mix has.
        program.start(std::iter::once(1.0).chain(std::iter::repeat_n(0.0, mixes)));
        for k in 0..self.kinds {
            let given = self.together.iter().skip(k).step_by(self.kinds).map(|amount| -amount);
            program.row(std::iter::once(1.0).chain(given), 0.0);
        }
        program.row(std::iter::once(0.0).chain(std::iter::repeat_n(1.0, mixes)), 1.0);
        program.maximise();
        self.worths.copy_from_slice(&program.prices[..self.kinds]);
    }
}

#[cfg(test)]
mod tests {
    use crate::{
        Decimal, Instance, InstanceBuilder, NewKind, NewUser, PlacementRule, Random, ServerClass, UserId,
    };

    fn decimals(all: [&str; 2]) -> Vec<Decimal> {
        all.iter().map(|decimal| decimal.parse().unwrap()).collect()
    }

    /// Two workers on GPUs and a driver anywhere, on a server without GPUs and one with four.
    fn trainer(worker: [&str; 2], driver: [&str; 2]) -> Instance {
        let mut builder = InstanceBuilder::new("", vec!["cpu".into(), "gpu".into()]).unwrap();
        builder.class(ServerClass::new("cpus", 1, decimals(["10", "0"]))).unwrap();
        builder.class(ServerClass::new("gpus", 1, decimals(["10", "4"]))).unwrap();
        let rule = builder.rule(PlacementRule::default());
        let kind = |id: &str, each, demand| NewKind { id: id.into(), each, demand: decimals(demand), rule };
        let user = NewUser { id: "u", demand: &[], weight: Decimal::ONE, tasks: None, rule, group: None };
        builder.user_with_kinds(user, &[kind("worker", 2, worker), kind("driver", 1, driver)]).unwrap();
        builder.build().unwrap()
    }

    #[test]
    fn what_a_user_could_have_alone_is_proved_from_both_sides() {
        let instance = trainer(["1", "1"], ["4", "0"]);
        let alone = instance.user(UserId(0)).alone();
        // Four GPUs are two tasks, whose drivers run beside them or elsewhere.
        assert!((alone.tasks - 2.0).abs() < 1e-15, "{alone:?}");
        for kind in 0..2 {
            let pieces: f64 = alone.pieces.iter().map(|of_class| of_class[kind]).sum();
            assert!(pieces >= 2.0 - 1e-15, "{alone:?}");
        }
        // All four GPUs are worth as much as two tasks.
        let worth: f64 = alone.prices.iter().flatten().sum();
        assert!((worth / alone.worths.iter().sum::<f64>() - 2.0).abs() < 1e-14, "{alone:?}");
    }

    #[test]
    fn with_two_resources_the_formula_gives_what_the_program_gives() {
        let mut random = Random::new(1, 0);
        let mut digit = |least: u64| Decimal::from((least + random.below(10 - least)) as u32);
        for _ in 0..300 {
            let mut builder = InstanceBuilder::new("", vec!["cpu".into(), "memory".into()]).unwrap();
            for l in 0..4 {
                let class = ServerClass::new(format!("class-{l}"), 1 + l, vec![digit(0), digit(0)]);
                builder.class(class).unwrap();
            }
            builder.class(ServerClass::new("both", 1, decimals(["5", "7"]))).unwrap();
            let rule = builder.rule(PlacementRule::default());
            let kinds: Vec<NewKind> = (0..4)
                .map(|k| NewKind {
                    id: format!("kind-{k}"),
                    each: 1 + k,
                    demand: vec![digit(0), digit(1)],
                    rule,
                })
                .collect();
            let user = NewUser { id: "u", demand: &[], weight: Decimal::ONE, tasks: None, rule, group: None };
            builder.user_with_kinds(user, &kinds).unwrap();
            let instance = builder.build().unwrap();
            let user = instance.user(UserId(0));
            let (formula, program) = (user.tasks_by_formula().unwrap(), user.alone().tasks);
            assert!((formula / program - 1.0).abs() < 1e-13, "{formula} and {program} of {kinds:?}");
        }
    }

    #[test]
    fn pieces_of_which_a_server_holds_millions_do_not_blur_the_others() {
        let instance = trainer(["1", "1"], ["0.0000001", "0"]);
        assert!((instance.user(UserId(0)).work_alone() - 2.0).abs() < 1e-15);
    }

    #[test]
    fn a_kind_that_no_server_runs_leaves_nothing() {
        let instance = trainer(["11", "1"], ["4", "0"]);
        // Divided at will, a worker that is larger than a server still runs in parts; one that needs what is nowhere beside it does not.
        assert!(instance.user(UserId(0)).work_alone() > 0.0);
        let mut builder = InstanceBuilder::new("", vec!["cpu".into(), "gpu".into()]).unwrap();
        builder.class(ServerClass::new("cpus", 1, decimals(["10", "0"]))).unwrap();
        builder.class(ServerClass::new("gpus", 1, decimals(["0", "4"]))).unwrap();
        let rule = builder.rule(PlacementRule::default());
        let user = NewUser { id: "u", demand: &[], weight: Decimal::ONE, tasks: None, rule, group: None };
        let both = NewKind { id: "both".into(), each: 1, demand: decimals(["1", "1"]), rule };
        let cpus = NewKind { id: "cpus".into(), each: 1, demand: decimals(["1", "0"]), rule };
        builder.user_with_kinds(user, &[both, cpus]).unwrap();
        assert_eq!(builder.build().unwrap().user(UserId(0)).work_alone(), 0.0);
    }
}
