//! How long a cluster does what is asked of it while demands follow a series.
//!
//! Whether it does in a quantum is a max-min: the largest part of what is asked for that all users can reach. Most quanta
//! are decided without one. What an earlier quantum was shown to allow to every user is enough for one that asks no more;
//! and prices `p` exclude every quantum with `Σ_i R_i π_i(p) > Σ_lr C_lr p_lr`.

use super::purchases::{BoughtBy, CostsOverTime};
use super::work::works;
use crate::tolerance::REACHED;
use fairplan_instances::table::{Kind, Table, Tabular};
use fairplan_instances::{
    Body, ClassId, Decimal, DemandSeries, DemandsStamp, Draft, Instance, InstanceError, InstanceStamp, Label,
    Objective, ResourceId, Solver, StatedTarget, UserId, Violation,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// When a cluster first misses what is asked of it. The same files and settings give the same bytes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Growth {
    /// The cluster and its users.
    pub instance: InstanceStamp,
    /// The series.
    pub series: DemandsStamp,
    /// What scales whom: `total`, `user` (each by its own column), `group` (the same, or else by that of the nearest group that it is in), or the
    /// column that scales all.
    pub scaled_by: String,
    /// How many of the first quanta are, on average, a scale of 1.
    pub base: u64,
    /// What every user shall reach at a scale of 1.
    pub target: StatedTarget,
    /// The part of that which every user reaches.
    pub part_at_one: f64,
    /// How many quanta are missed: somebody does not reach what is asked for.
    pub missed: u64,
    /// The first of them. Absent if there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first_missed: Option<Shortfall>,
    /// The quantum of which the smallest part can be reached. Absent where nothing is ever asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tightest: Option<Shortfall>,
    /// Every quantum, with `--per-quantum` or where there are at most 400.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub quanta: Option<Vec<GrowthQuantum>>,
    /// With `--catalog`: what is bought by when.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub purchases: Vec<BoughtBy>,
    /// With a catalog that has commitments: what that costs quantum by quantum, on demand and reserved.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub costs: Option<CostsOverTime>,
}

impl Growth {
    /// Drops what is said quantum by quantum.
    pub fn without_quanta(&mut self) {
        self.quanta = None;
        self.costs.iter_mut().for_each(|costs| costs.quanta.clear());
    }
}

impl Body for Growth {
    const FORMAT: &'static str = "fairplan.growth.v1";
}

/// What a quantum asks for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GrowthQuantum {
    /// The quantum, as its file calls it.
    pub quantum: Label,
    /// How many times the target is asked for. Where users are scaled by themselves, `part_at_one` over the part of what is asked for that can be
    /// reached, or over what prices prove of it: above `part_at_one` where the quantum is missed, and not above it elsewhere.
    pub scale: f64,
    /// Whether somebody does not reach what is asked for.
    pub missed: bool,
}

/// How much of what a quantum asks for can be reached.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Shortfall {
    /// The quantum, as its file calls it.
    pub quantum: Label,
    /// The part of what is asked for that every user reaches.
    pub part: f64,
    /// Of those who need that resource, the user whose work pays the most for what is short.
    pub user: String,
    /// The group that the user is in. Absent where it is in none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group: Option<String>,
    /// How much of that user's target is asked for.
    pub scale: f64,
    /// The resource that is worth the most.
    pub resource: String,
}

impl Tabular for Growth {
    /// A row a quantum, where all are kept: by how much what is asked for is scaled, and whether it is missed.
    fn table(&self) -> Table<'_> {
        Table::of(self.quanta.as_deref().unwrap_or_default())
            .column("quantum", "quantum", Kind::Id, |row| row.quantum.to_string())
            .column("scale", "times the target", Kind::Number, |row| row.scale)
            .column("missed", "missed", Kind::Answer, |row| row.missed)
            .done()
    }
}

/// Demands over time, and how what is asked for follows them.
pub struct Followed<'a> {
    /// The demands.
    pub series: &'a DemandSeries,
    /// Their hash.
    pub sha256: &'a str,
    /// What scales whom: `total`, `user` (each by its own column), or the column that scales all.
    pub scaled_by: &'a str,
    /// How many of the first quanta are, on average, a scale of 1.
    pub base: u64,
    /// How many times its target a user asks for in a quantum: `scale(quantum, user)`.
    pub scale: &'a dyn Fn(usize, usize) -> f64,
}

/// A quantum of which not all can be reached, by positions.
#[derive(Clone, Copy)]
struct Short {
    quantum: usize,
    part: f64,
    user: UserId,
    resource: ResourceId,
}

/// What is reached of a requirement.
struct Reached {
    part: f64,
    works: Vec<f64>,
    /// The least that a unit of work costs each user, and what all capacity costs.
    costs: Vec<f64>,
    supply: f64,
    resource: ResourceId,
}

impl Reached {
    /// The largest part of `required` that these prices leave.
    fn allows(&self, required: &[f64]) -> f64 {
        let asked: f64 = required.iter().zip(&self.costs).map(|(work, cost)| work * cost).sum();
        if asked > 0.0 { self.supply / asked } else { f64::INFINITY }
    }

    /// What is short, and of those who need it whoever pays the most.
    fn short(&self, instance: &Instance, quantum: usize, required: &[f64]) -> Short {
        let needs = |i: usize| !instance.user(UserId(i)).demand()[self.resource.0].is_zero();
        let pays = |i: &usize| if needs(*i) { required[*i] * self.costs[*i] } else { -1.0 };
        let most = (0..required.len()).reduce(|a, b| if pays(&b) > pays(&a) { b } else { a }).unwrap_or(0);
        Short { quantum, part: self.part, user: UserId(most), resource: self.resource }
    }
}

/// Requirements shown to be feasible, and vectors of prices, that are kept to decide later quanta.
const KEPT: usize = 64;

/// Follows what is asked for through the quanta of a series: a multiple of the work `required` of each user, which is what
/// `target` says. The instance comes with its hash.
///
/// # Errors
/// Users with rates whose tasks may run out.
pub fn growth(
    instance: &Instance,
    sha256: &str,
    required: &[f64],
    target: StatedTarget,
    followed: &Followed<'_>,
    solver: &dyn Solver,
) -> Result<Growth, InstanceError> {
    let Followed { series, scale, .. } = *followed;
    let quanta = series.quantum_count();
    if let Some(user) =
        instance.users().find(|user| !user.rule().rates().is_empty() && user.tasks().is_some())
    {
        let problem =
            "may run out, and do different work on different classes: leave out the limit or the rates";
        let place = format!("users[{}].tasks", user.index().0);
        return Err(InstanceError::Inapplicable(Violation::new(place, "", problem)));
    }
    let at_one = reached(instance, required, solver)?;
    let asked =
        |q: usize| -> Vec<f64> { required.iter().enumerate().map(|(i, work)| work * scale(q, i)).collect() };
    let mut known = vec![at_one];
    let part_at_one = known[0].part;
    let (mut missed, mut first_missed) = (Vec::with_capacity(quanta), None);
    // At most so large a part of each quantum can be reached.
    let mut most = Vec::with_capacity(quanta);
    for q in 0..quanta {
        let now = asked(q);
        let allowed = known.iter().map(|reached| reached.allows(&now)).fold(f64::INFINITY, f64::min);
        most.push(allowed);
        let is_enough = |reached: &Reached| now.iter().zip(&reached.works).all(|(work, done)| *work <= *done);
        if allowed < REACHED && first_missed.is_some() {
            missed.push(true);
        } else if known.iter().any(is_enough) {
            missed.push(false);
        } else {
            let answer = reached(instance, &now, solver)?;
            most[q] = most[q].min(answer.part);
            let is_missed = answer.part < REACHED;
            if is_missed && first_missed.is_none() {
                first_missed = Some(answer.short(instance, q, &now));
            }
            missed.push(is_missed);
            if known.len() == KEPT {
                known.remove(1);
            }
            known.push(answer);
        }
    }
    // The least of all parts: quanta in the order of what they can be at most, so that it is met early.
    let mut order: Vec<usize> = (0..quanta).filter(|q| most[*q].is_finite()).collect();
    order.sort_by(|a, b| most[*a].total_cmp(&most[*b]));
    let mut tightest: Option<Short> = None;
    for q in order {
        let now = asked(q);
        // An allocation that is known to do more than the best so far leaves nothing to ask.
        let best = tightest.map_or(f64::INFINITY, |tightest| tightest.part);
        let could_be = known.iter().all(|reached| {
            let done = now.iter().zip(&reached.works).filter(|(work, _)| **work > 0.0);
            done.map(|(work, done)| done / work).fold(f64::INFINITY, f64::min) < best
        });
        if could_be {
            let answer = reached(instance, &now, solver)?;
            if answer.part < best {
                tightest = Some(answer.short(instance, q, &now));
            }
            if known.len() == KEPT {
                known.remove(1);
            }
            known.push(answer);
        }
    }
    let times = |q: usize| {
        let scales = (0..instance.user_count()).map(|user| scale(q, user));
        let (least, largest) = scales.fold((f64::INFINITY, 0.0), |(a, b), x| (x.min(a), x.max(b)));
        if least >= largest || part_at_one <= 0.0 || part_at_one.is_infinite() {
            return largest;
        }
        let now = asked(q);
        part_at_one / known.iter().map(|reached| reached.allows(&now)).fold(most[q], f64::min)
    };
    let told = |short: Short| Shortfall {
        quantum: series.label(short.quantum).into(),
        part: short.part,
        user: instance.user(short.user).id().into(),
        group: instance.user(short.user).group().map(|group| instance.groups()[group.0].id.clone()),
        scale: scale(short.quantum, short.user.0),
        resource: instance.resources()[short.resource.0].clone(),
    };
    let quantum = |(quantum, missed): (usize, &bool)| GrowthQuantum {
        quantum: series.label(quantum).into(),
        scale: times(quantum),
        missed: *missed,
    };
    Ok(Growth {
        instance: InstanceStamp::new(instance, sha256),
        series: DemandsStamp::new(series, followed.sha256),
        scaled_by: followed.scaled_by.into(),
        base: followed.base,
        target,
        part_at_one,
        missed: missed.iter().filter(|missed| **missed).count() as u64,
        first_missed: first_missed.map(told),
        tightest: tightest.map(told),
        quanta: Some(missed.iter().enumerate().map(quantum).collect()),
        purchases: Vec::new(),
        costs: None,
    })
}

/// The part of `required` that every user reaches: a max-min in which an equal weighted share is an equal part.
fn reached(instance: &Instance, required: &[f64], solver: &dyn Solver) -> Result<Reached, InstanceError> {
    let n = instance.user_count();
    let nothing = |part: f64| Reached {
        part,
        works: vec![0.0; n],
        costs: vec![0.0; n],
        supply: 0.0,
        resource: ResourceId(0),
    };
    let asking: Vec<usize> = (0..n).filter(|i| required[*i] > 0.0).collect();
    if asking.is_empty() {
        return Ok(nothing(f64::INFINITY));
    }
    // A task needs all its kinds.
    let is_stranded = |i: &&usize| instance.user(UserId(**i)).kinds().any(|kind| !kind.can_run());
    if let Some(stranded) = asking.iter().find(is_stranded) {
        let mut costs = vec![0.0; n];
        costs[*stranded] = 1.0;
        let resource = instance.user(UserId(*stranded)).dominant_resource();
        return Ok(Reached { costs, resource, ..nothing(0.0) });
    }
    // What is asked for of each is a fixed amount of work, whoever belongs together.
    let mut draft = Draft { groups: Vec::new(), ..Draft::from(instance) };
    let users = std::mem::take(&mut draft.users);
    for i in &asking {
        let mut user = users[*i].clone();
        let weight = required[*i] * instance.user(UserId(*i)).task_share();
        let refused = |_| InstanceError::Unsupported("what is asked for is beyond 1e-30 .. 1e30".into());
        user.weight = Decimal::from_f64(weight).map_err(refused)?;
        (user.tasks, user.group) = (None, None);
        draft.users.push(user);
    }
    let variant = draft.build().map_err(InstanceError::Inapplicable)?;
    // What is reached is reached, and prices bound what can be, proved optimal or not.
    let solution = solver.solve(&variant, Objective::Drfh)?;
    let mut of_all = nothing(f64::INFINITY);
    for (i, work) in asking.iter().zip(works(&variant, &solution)) {
        of_all.works[*i] = work;
        of_all.part = of_all.part.min(work / required[*i]);
    }
    let m = instance.resources().len();
    let Some(level) = solution.certificate.levels().first() else { return Ok(of_all) };
    for i in asking {
        let of_kind = |kind: fairplan_instances::Kind<'_>| {
            let cost = |l: usize| {
                let row = level.prices[l * m..(l + 1) * m].iter();
                let task: f64 = row.zip(kind.demand_doubles()).map(|(price, demand)| price * demand).sum();
                task / kind.rule().rate(ClassId(l)).to_f64()
            };
            let usable = (0..instance.classes().len()).filter(|l| kind.can_use(ClassId(*l)));
            usable.map(cost).fold(f64::INFINITY, f64::min)
        };
        of_all.costs[i] = instance.user(UserId(i)).kinds().map(of_kind).sum();
    }
    let mut worth = vec![0.0; m];
    for (class, row) in instance.classes().iter().zip(level.prices.chunks(m)) {
        for ((worth, capacity), price) in worth.iter_mut().zip(&class.capacity).zip(row) {
            *worth += class.count as f64 * capacity.to_f64() * price;
        }
    }
    of_all.supply = worth.iter().sum();
    let dearest = (0..m).reduce(|a, b| if worth[b] > worth[a] { b } else { a });
    of_all.resource = ResourceId(dearest.unwrap_or(0));
    Ok(of_all)
}
