//! Proportional fairness over whole tasks: how large the weighted sum of the logarithms of dominant shares can be, from
//! both sides.
//!
//! With each task worth `z_i` (what its pieces are worth together) in units of which `u` count for one, and a server of class `l`
//! holding at most `V_l`, no placement has more than `Σ_i max_k (w_i ln(δ_i k) − z_i k / u) + Σ_l N_l V_l / u`. The program wants each user's tasks
//! one after the other, which add less and less, and finds the same patterns by the same searches as for the smallest share.

use super::dive::{Bounded, dive_from_bound};
use super::divisible::{divisible_values, is_large, of_logarithms};
use super::exchange::{Prices, exchange};
use super::fill::{fill, filled_alone};
use super::knapsack::Found;
use super::logarithms::{Bundle, Logarithms};
use super::master::{Master, Mix, Want};
use super::packing::Packing;
use super::patterns::Pattern;
use super::repair::Repair;
use super::rounds::{self, Effort, Goal, Lengths, held, price};
use super::worth::{Worth, scaled};
use fairplan_instances::{Deadline, Instance, InstanceError, LogarithmProof, Placement, ProportionalBracket};

/// The part of the time after which bounding ends.
const BOUNDING: f64 = 0.6;

/// Programs one after the other, each with tasks wanted one by one around where the last one ended: until the bound is so
/// close to what fractions of patterns reach. The last is repeated, up to so many programs in all, while tasks end far from where they were
/// wanted.
const ENOUGH: [f64; 3] = [1e-3, 1e-4, 1e-7];
const PROGRAMS: usize = 8;

/// Many patterns a round, for programs with very many rows of wants.
const LENGTHS: Lengths = Lengths { kept: 30, ..rounds::LENGTHS };

/// Programs of divisible tasks, each around what the last one had.
const SEEDING: usize = 3;

/// First contents that are looked for may be worth this part less than divisible tasks.
const SEED: Effort = Effort { budget: 100_000, part: 1e-3, kept: usize::MAX };
const BELOW: f64 = 2e-3;

/// Tasks wanted one by one cover a mix so close to where they are centred.
const NEAR: f64 = 3.0;

/// Tasks of the same pieces that are looked at beyond those of the best mix.
const BEYOND: u64 = 3;

/// Brackets the largest `Σ w_i ln(share_i)` of whole tasks over the users that can have tasks: the best bracket within
/// the time limit.
///
/// # Errors
/// Instances with rates or with numbers too long to count in whole tasks; a backend that broke.
pub fn proportional_bracket(
    instance: &Instance,
    limit: &Deadline,
) -> Result<ProportionalBracket, InstanceError> {
    let packing = Packing::new(instance)?;
    let without_tasks = packing.without_tasks();
    if without_tasks.len() == instance.user_count() {
        let servers = vec![Vec::new(); instance.server_count() as usize];
        return Ok(ProportionalBracket {
            without_tasks,
            upper: None,
            proof: None,
            lower: None,
            placement: Placement { tasks: vec![0; instance.user_count()], servers },
            truncated_searches: 0,
            rounds: 0,
        });
    }
    let logarithms = Logarithms::new(instance, &packing);
    let alone = filled_alone(instance, &packing, &logarithms, limit);
    let search = bound(&packing, &logarithms, limit)?;
    if search.bound.is_infinite() {
        return Err(InstanceError::OutOfTime);
    }
    let mixed = place(instance, &packing, &logarithms, &search, limit)?;
    let mean = |placement: &Placement| logarithms.mean(&placement.tasks);
    let placement = alone.filter(|alone| mean(alone) > mean(&mixed)).unwrap_or(mixed);
    let (task_values, server_values) = packing.in_instance_order(&search.values, &search.server_values);
    Ok(ProportionalBracket {
        without_tasks,
        upper: Some(logarithms.sum_of(search.bound)),
        lower: logarithms.mean(&placement.tasks).map(|mean| logarithms.sum_of(mean)),
        proof: Some(LogarithmProof { task_values, server_values, values_per_log: search.units }),
        placement,
        truncated_searches: search.truncated_searches,
        rounds: search.rounds,
    })
}

/// The same bracket with the best of some placements instead of its own, which may break rules that bounds know nothing of. Without
/// placements it is left as it is.
///
/// # Errors
/// As [`proportional_bracket`].
pub fn proportional_with_best_of(
    instance: &Instance,
    bracket: ProportionalBracket,
    placements: Vec<Placement>,
) -> Result<ProportionalBracket, InstanceError> {
    if placements.is_empty() {
        return Ok(bracket);
    }
    let logarithms = Logarithms::new(instance, &Packing::new(instance)?);
    let valued = placements.into_iter().map(|placement| (logarithms.mean(&placement.tasks), placement));
    let better = |best: (Option<f64>, Placement), next: (Option<f64>, Placement)| {
        if next.0 > best.0 { next } else { best }
    };
    Ok(match valued.reduce(better) {
        Some((mean, placement)) if bracket.upper.is_some() => {
            ProportionalBracket { lower: mean.map(|mean| logarithms.sum_of(mean)), placement, ..bracket }
        }
        _ => bracket,
    })
}

/// The lower bound of two and the better placement; `None` where the second has neither.
///
/// # Errors
/// As [`proportional_bracket`].
pub fn proportional_joined(
    instance: &Instance,
    best: &ProportionalBracket,
    other: ProportionalBracket,
) -> Result<Option<ProportionalBracket>, InstanceError> {
    let is_lower = other.upper < best.upper;
    let placements = vec![best.placement.clone(), other.placement.clone()];
    let of_both =
        proportional_with_best_of(instance, if is_lower { other } else { best.clone() }, placements)?;
    Ok((is_lower || of_both.placement != best.placement).then_some(of_both))
}

/// What is known of the bound.
struct Search<'a> {
    packing: &'a Packing,
    logarithms: &'a Logarithms,
    /// Of the mean of logarithms.
    bound: f64,
    /// Of shapes and of merged classes, and the units that count for one.
    values: Vec<u64>,
    server_values: Vec<u64>,
    units: u64,
    /// The last program's mix, and the tasks of each bundle in it.
    patterns: Vec<Pattern>,
    servers: Vec<f64>,
    tasks: Vec<f64>,
    truncated_searches: u64,
    rounds: u64,
    /// What the present program wants, each of which bundle, and how close to what it reaches the bound is and need be.
    wants: Vec<Want>,
    bundles: Vec<usize>,
    excess: f64,
    enough: f64,
}

impl Goal for Search<'_> {
    fn is_met(&self, _: &Mix) -> bool {
        self.excess <= self.enough
    }

    fn lengths(&self) -> Lengths {
        LENGTHS
    }

    fn reach(&self, mix: &Mix) -> f64 {
        let worth = self.wants.iter().zip(&mix.wanted).map(|(want, had)| want.worth * had);
        worth.sum::<f64>() - self.logarithms.of_first()
    }

    fn exclude(&mut self, mix: &Mix, worth: Worth<'_>, found: &[Found]) -> f64 {
        let values = scaled(worth.tasks);
        let whole: Vec<u64> = values.iter().map(|value| *value as u64).collect();
        let (server_values, held) = held(self.packing, &whole, found);
        let (bound, units) = self.logarithms.bound(&values, held as f64);
        if bound < self.bound {
            self.bound = bound;
            self.values = whole;
            self.server_values = server_values;
            self.units = units as u64;
        }
        self.excess = self.bound - self.reach(mix);
        self.excess
    }
}

fn bound<'a>(
    packing: &'a Packing,
    logarithms: &'a Logarithms,
    limit: &Deadline,
) -> Result<Search<'a>, InstanceError> {
    let stop = &limit.after_part(BOUNDING);
    let servers = packing.servers();
    let shapes = packing.shapes.len();
    let mut search = Search {
        packing,
        logarithms,
        bound: f64::INFINITY,
        values: vec![0; shapes],
        server_values: vec![0; servers.len()],
        units: 1,
        patterns: Vec::new(),
        servers: Vec::new(),
        tasks: Vec::new(),
        truncated_searches: 0,
        rounds: 0,
        wants: Vec::new(),
        bundles: Vec::new(),
        excess: f64::INFINITY,
        enough: 0.0,
    };
    for (s, shape) in packing.shapes.iter().enumerate().filter(|(_, shape)| !shape.kinds.is_empty()) {
        let classes = (0..servers.len()).filter(|&l| shape.copies[l] > 0);
        search.patterns.extend(classes.map(|l| Pattern::of_one_shape(packing, l, s)));
    }
    // Without a first bound there is no answer.
    search.seed(limit);
    for program in 0..PROGRAMS {
        let is_last = program + 1 >= ENOUGH.len();
        let enough = ENOUGH[program.min(ENOUGH.len() - 1)];
        let centre = search.centre_wants();
        let mut master = Master::new(packing, &search.wants, &servers, &vec![0.0; servers.len()]);
        (search.enough, search.excess) = (enough, f64::INFINITY);
        let known = std::mem::take(&mut search.patterns);
        let ended = rounds::run(packing, &mut master, known, &mut search, None, stop)?;
        search.rounds += ended.rounds;
        search.truncated_searches = ended.truncated_searches;
        search.patterns = std::mem::take(&mut master.patterns);
        search.had(&ended.mix);
        search.servers = ended.mix.servers;
        let is_near = |(tasks, centre): (&f64, &u64)| (tasks - *centre as f64).abs() < NEAR;
        if stop.is_over() || (is_last && search.tasks.iter().zip(&centre).all(is_near)) {
            break;
        }
    }
    Ok(search)
}

impl Search<'_> {
    /// Wants tasks around those of the last program; returns how many of each bundle.
    fn centre_wants(&mut self) -> Vec<u64> {
        let centre: Vec<u64> = self.tasks.iter().map(|tasks| tasks.round() as u64).collect();
        (self.wants, self.bundles) = (Vec::new(), Vec::new());
        for (b, (bundle, centre)) in self.logarithms.bundles.iter().zip(&centre).enumerate() {
            self.wants.extend(bundle.wants(0, bundle.most(), *centre));
            self.bundles.resize(self.wants.len(), b);
        }
        centre
    }

    fn had(&mut self, mix: &Mix) {
        self.tasks = vec![0.0; self.logarithms.bundles.len()];
        self.bundles.iter().zip(&mix.wanted).for_each(|(bundle, had)| self.tasks[*bundle] += had);
    }

    /// Starts from what divisible tasks are worth.
    fn seed(&mut self, stop: &Deadline) {
        self.tasks = vec![0.0; self.logarithms.bundles.len()];
        let is_large = is_large(self.packing);
        // An interior point over shapes knows no tasks of several pieces.
        let is_single = |bundle: &Bundle| matches!(bundle.pieces[..], [(_, 1)]);
        if is_large && self.logarithms.bundles.iter().all(is_single) {
            return self.seed_from_prices(stop);
        }
        let never = Deadline::never();
        for round in 1..=SEEDING {
            let is_last = round == SEEDING || stop.is_over();
            self.centre_wants();
            // Only a start: without it the search takes longer, and what breaks the backend for good shows there.
            let patience = if round == 1 && !is_large { &never } else { stop };
            let Ok(mix) = divisible_values(self.packing, &self.wants, patience) else { return };
            self.had(&mix);
            if is_last {
                let below: Vec<f64> = mix.server_values.iter().map(|value| value * (1.0 - BELOW)).collect();
                let effort = Effort { kept: self.packing.shapes.len(), ..SEED };
                let found = price(self.packing, Worth { servers: &below, ..mix.worth() }, effort, None, stop);
                self.exclude(&mix, mix.worth(), &found);
                self.patterns.extend(found.into_iter().flat_map(|found| found.patterns));
                break;
            }
        }
    }

    /// The same from the prices of an interior point, where each task is one piece.
    fn seed_from_prices(&mut self, stop: &Deadline) {
        let shapes = self.packing.shapes.len();
        let (mut weights, mut most) = (vec![0.0; shapes], vec![0; shapes]);
        let shape_of = |bundle: &Bundle| bundle.pieces[0].0 as usize;
        for bundle in &self.logarithms.bundles {
            (weights[shape_of(bundle)], most[shape_of(bundle)]) = (bundle.weight(), bundle.most());
        }
        let Some(found) = of_logarithms(self.packing, &weights, &most, stop) else { return };
        self.tasks = self.logarithms.bundles.iter().map(|bundle| found.tasks[shape_of(bundle)]).collect();
        self.centre_wants();
        let wanted = vec![0.0; self.wants.len()];
        let (values, server_values) = (found.values, found.server_values);
        let (servers, limit_values, traded) = (Vec::new(), Vec::new(), Vec::new());
        let mix = Mix { wanted, servers, values, server_values, limit_values, traded };
        let below: Vec<f64> = mix.server_values.iter().map(|value| value * (1.0 - BELOW)).collect();
        let effort = Effort { kept: self.packing.shapes.len(), ..SEED };
        let found = price(self.packing, Worth { servers: &below, ..mix.worth() }, effort, None, stop);
        self.exclude(&mix, mix.worth(), &found);
        self.patterns.extend(found.into_iter().flat_map(|found| found.patterns));
    }
}

fn place(
    instance: &Instance,
    packing: &Packing,
    logarithms: &Logarithms,
    search: &Search<'_>,
    stop: &Deadline,
) -> Result<Placement, InstanceError> {
    let bundles = || logarithms.bundles.iter().zip(&search.tasks);
    let beyond = |(bundle, tasks): (&Bundle, &f64)| {
        (tasks.ceil() as u64 + BEYOND).max(bundle.users()).min(bundle.most())
    };
    let most: Vec<u64> = bundles().map(beyond).collect();
    let pieces = |tasks: &dyn Fn(usize) -> u64| {
        let mut pieces = vec![0u64; packing.shapes.len()];
        for (b, bundle) in logarithms.bundles.iter().enumerate() {
            for (shape, each) in &bundle.pieces {
                let sum = &mut pieces[*shape as usize];
                *sum = sum.saturating_add(each.saturating_mul(tasks(b)));
            }
        }
        pieces
    };
    // Of a bundle of which some pieces are there the others are wanted, all that is left of each in proportion.
    let wants = |left: &[u64]| -> Vec<Want> {
        let of = |((bundle, tasks), most): ((&Bundle, &f64), &u64)| {
            let missing = bundle.pieces.iter().map(|(shape, each)| left[*shape as usize].div_ceil(*each));
            let missing = missing.max().unwrap_or(0).min(*most);
            let mut wants = bundle.wants(most - missing, *most, tasks.round() as u64);
            for want in wants.iter_mut().filter(|want| want.tasks.len() > 1) {
                let part = |shape: u32| left[shape as usize] as f64 / missing as f64;
                want.tasks.iter_mut().for_each(|(shape, each)| *each = each.min(part(*shape)));
                want.tasks.retain(|(_, each)| *each > 0.0);
            }
            wants
        };
        bundles().zip(&most).flat_map(of).collect()
    };
    let Search { patterns, servers, server_values, .. } = search;
    let all = pieces(&|b| most[b]);
    let mut left = all.clone();
    let bounded = Bounded { patterns, servers, server_values };
    let servers = dive_from_bound(packing, &mut left, &bounded, &wants, stop)?;
    let placed: Vec<u64> = all.iter().zip(&left).map(|(all, left)| all - left).collect();
    // Everybody needs a first task.
    let first = pieces(&|b| logarithms.bundles[b].users());
    let missing = first.iter().zip(&placed).map(|(first, placed)| first.saturating_sub(*placed)).collect();
    let mut repair = Repair::new(packing, servers, missing);
    repair.spare = placed.iter().zip(&first).map(|(placed, first)| placed.saturating_sub(*first)).collect();
    repair.place_missing(stop);
    let mut servers = repair.servers;
    let prices = Prices { tasks: &search.values, servers: server_values, units: search.units };
    exchange(packing, logarithms, &prices, &mut servers, stop);
    Ok(fill(instance, packing, logarithms, servers, stop))
}
