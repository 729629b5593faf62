//! Stochastic demand: transactions of several classes that arrive at random, bring work and leave when it is done (MRF
//! Sec. 4.1).

mod outcome;
mod sharing;

pub use outcome::{ClassPerformance, Evidence, TrafficOutcome};
pub use sharing::{Sharing, SharingRule};

use crate::Violation;
use crate::tolerance::MEAN_OF_PACKETS;

/// Most classes, and most resources.
const MOST: usize = 64;

/// Classes of transactions that share a pool of resources; built only through [`Traffic::new`], which checks every
/// rule.
#[derive(Clone, Debug, PartialEq)]
pub struct Traffic {
    name: String,
    resources: Vec<String>,
    capacity: Vec<f64>,
    classes: Vec<TrafficClass>,
}

/// Transactions that are alike: jobs of many tasks, or flows of many packets.
#[derive(Clone, Debug, PartialEq)]
pub struct TrafficClass {
    /// Its name.
    pub id: String,
    /// What it takes of each resource to do one unit of work in a unit of time.
    pub demand: Vec<f64>,
    /// What it claims to take instead, when it does not tell the truth.
    pub claim: Option<Vec<f64>>,
    /// Transactions that arrive in a unit of time, as a Poisson process (λ).
    pub arrival_rate: f64,
    /// The work that each of them brings.
    pub work: Work,
    /// Time that the answer to a packet travels, beside its service (MRF eq. 6).
    pub propagation_time: f64,
    /// What the packets of a flow take of each resource, one after the other and again from the first, a packet's work
    /// being 1; empty when all of them take the same. Their mean is the demand.
    pub packet_demands: Vec<Vec<f64>>,
}

/// The work of a transaction, a random number.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Work {
    /// Its mean (1/μ).
    pub mean: f64,
    /// How it is distributed around its mean.
    pub distribution: WorkDistribution,
}

/// How work is distributed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum WorkDistribution {
    /// `exponential`.
    Exponential,
    /// `deterministic`: always the mean.
    Deterministic,
    /// `hyper-exponential`: one of two exponential phases, each of which brings half of the work on average.
    HyperExponential {
        /// Variance over the square of the mean, at least 1.
        squared_variation: f64,
    },
    /// `pareto`: heavy tailed.
    Pareto {
        /// The tail falls like the work to minus this; above 1, so that there is a mean.
        shape: f64,
    },
}

impl WorkDistribution {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Exponential => "exponential",
            Self::Deterministic => "deterministic",
            Self::HyperExponential { .. } => "hyper-exponential",
            Self::Pareto { .. } => "pareto",
        }
    }
}

impl TrafficClass {
    /// An honest class with exponential work of mean 1 and no propagation.
    pub fn new(id: &str, demand: Vec<f64>, arrival_rate: f64) -> Self {
        Self {
            id: id.into(),
            demand,
            claim: None,
            arrival_rate,
            work: Work { mean: 1.0, distribution: WorkDistribution::Exponential },
            propagation_time: 0.0,
            packet_demands: Vec::new(),
        }
    }
}

impl Traffic {
    /// Classes that share `capacity` of each resource.
    ///
    /// # Errors
    /// The first value that breaks a rule: a rate, mean or capacity that is not above zero, a demand that is all zero,
    /// a claim that leaves out what the work needs, an id that is empty or there twice.
    pub fn new(
        name: impl Into<String>,
        resources: Vec<String>,
        capacity: Vec<f64>,
        classes: Vec<TrafficClass>,
    ) -> Result<Self, Violation> {
        let traffic = Self { name: name.into(), resources, capacity, classes };
        traffic.check_resources()?;
        traffic.check_classes()?;
        Ok(traffic)
    }

    fn check_resources(&self) -> Result<(), Violation> {
        let count = self.resources.len();
        if count == 0 || count > MOST {
            return Err(Violation::new("resources", count, format!("there must be 1 to {MOST}")));
        }
        if self.capacity.len() != count {
            return Err(Violation::new(
                "capacity",
                format!("{} numbers", self.capacity.len()),
                "one number a resource",
            ));
        }
        for (r, name) in self.resources.iter().enumerate() {
            let place = || format!("resources[{r}]");
            if name.is_empty() {
                return Err(Violation::new(place(), "", "a resource needs a name"));
            }
            if self.resources[..r].contains(name) {
                return Err(Violation::new(place(), name, "duplicate resource"));
            }
            above_zero(self.capacity[r], || format!("capacity.{name}"))?;
        }
        Ok(())
    }

    fn check_classes(&self) -> Result<(), Violation> {
        let count = self.classes.len();
        if count == 0 || count > MOST {
            return Err(Violation::new("classes", count, format!("there must be 1 to {MOST}")));
        }
        for (k, class) in self.classes.iter().enumerate() {
            let place = |field: &str| format!("classes[{k}].{field}");
            if class.id.is_empty() {
                return Err(Violation::new(place("id"), "", "a class needs an id"));
            }
            if self.classes[..k].iter().any(|other| other.id == class.id) {
                return Err(Violation::new(place("id"), &class.id, "duplicate id"));
            }
            self.check_amounts(&class.demand, || place("demand"))?;
            above_zero(class.arrival_rate, || place("arrival_rate"))?;
            class.work.check(|field| place(&format!("work.{field}")))?;
            if !(class.propagation_time >= 0.0 && class.propagation_time.is_finite()) {
                return Err(Violation::new(
                    place("propagation_time"),
                    class.propagation_time,
                    "must be >= 0",
                ));
            }
            self.check_packets(class, place)?;
            let Some(claim) = &class.claim else { continue };
            self.check_amounts(claim, || place("claim"))?;
            for (r, name) in self.resources.iter().enumerate() {
                if class.demand[r] > 0.0 && claim[r] == 0.0 {
                    let problem =
                        "must be > 0: whoever claims none of a resource that its work needs is never done";
                    return Err(Violation::new(place(&format!("claim.{name}")), "0", problem));
                }
            }
        }
        Ok(())
    }

    fn check_amounts(&self, amounts: &[f64], place: impl Fn() -> String) -> Result<(), Violation> {
        if amounts.len() != self.resources.len() {
            return Err(Violation::new(
                place(),
                format!("{} numbers", amounts.len()),
                "one number a resource",
            ));
        }
        for (name, amount) in self.resources.iter().zip(amounts) {
            if !(*amount >= 0.0 && amount.is_finite()) {
                return Err(Violation::new(format!("{}.{name}", place()), amount, "must be >= 0"));
            }
        }
        if amounts.iter().all(|amount| *amount == 0.0) {
            return Err(Violation::new(place(), "", "must need some resource"));
        }
        Ok(())
    }

    fn check_packets(&self, class: &TrafficClass, place: impl Fn(&str) -> String) -> Result<(), Violation> {
        for (position, demand) in class.packet_demands.iter().enumerate() {
            self.check_amounts(demand, || place(&format!("packet_demands[{position}]")))?;
        }
        if class.claim.is_some() && !class.packet_demands.is_empty() {
            let problem = "a class whose packets differ cannot also claim; leave out the claim";
            return Err(Violation::new(place("packet_demands"), class.packet_demands.len(), problem));
        }
        let count = class.packet_demands.len() as f64;
        for (r, name) in self.resources.iter().enumerate().filter(|_| count > 0.0) {
            let mean = class.packet_demands.iter().map(|demand| demand[r]).sum::<f64>() / count;
            if (mean - class.demand[r]).abs() > MEAN_OF_PACKETS * class.demand[r].max(mean) {
                let problem = format!("their mean must be the class's demand, {}", class.demand[r]);
                return Err(Violation::new(place(&format!("packet_demands.{name}")), mean, problem));
            }
        }
        Ok(())
    }

    /// What it is called; empty if it has no name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Names of the resources.
    pub fn resources(&self) -> &[String] {
        &self.resources
    }

    /// Capacity of each resource.
    pub fn capacity(&self) -> &[f64] {
        &self.capacity
    }

    /// The classes.
    pub fn classes(&self) -> &[TrafficClass] {
        &self.classes
    }

    /// The part of resource `r` that a unit of work of class `k` takes in a unit of time (MRF's `a_kr`).
    pub fn part(&self, k: usize, r: usize) -> f64 {
        self.classes[k].demand[r] / self.capacity[r]
    }

    /// The part of its dominant resource that a unit of work of class `k` takes in a unit of time.
    pub fn dominant_part(&self, k: usize) -> f64 {
        (0..self.resources.len()).map(|r| self.part(k, r)).fold(0.0, f64::max)
    }

    /// Work of class `k` that arrives in a unit of time (ρ).
    pub fn arriving_work(&self, k: usize) -> f64 {
        self.classes[k].arrival_rate * self.classes[k].work.mean
    }

    /// The load of each resource: the part of it that arriving work takes in the long run (MRF eq. 8).
    pub fn loads(&self) -> Vec<f64> {
        let load = |r| (0..self.classes.len()).map(|k| self.arriving_work(k) * self.part(k, r)).sum();
        (0..self.resources.len()).map(load).collect()
    }

    /// The resource with the largest load, and that load.
    pub fn heaviest(&self) -> (usize, f64) {
        let heavier = |best: (usize, f64), next: (usize, f64)| if next.1 > best.1 { next } else { best };
        self.loads().into_iter().enumerate().fold((0, 0.0), heavier)
    }

    /// Refuses traffic under which the number in progress grows without bound (MRF eq. 8), naming the resource.
    pub fn check_stable(&self) -> Result<(), Violation> {
        let (r, load) = self.heaviest();
        if load < 1.0 {
            return Ok(());
        }
        let problem = format!(
            "the load must be < 1, or transactions pile up without end; lower the arrivals by {:.4} or more",
            1.0 / load
        );
        Err(Violation::new(format!("load of {}", self.resources[r]), load, problem))
    }

    /// Refuses what only packets have, where nothing is made of packets.
    pub fn check_fluid(&self) -> Result<(), Violation> {
        const ONLY: &str = "means something at the level of packets only; leave it out, or choose that level";
        for (k, class) in self.classes.iter().enumerate() {
            if class.propagation_time > 0.0 {
                let place = format!("classes[{k}].propagation_time");
                return Err(Violation::new(place, class.propagation_time, ONLY));
            }
            if !class.packet_demands.is_empty() {
                let place = format!("classes[{k}].packet_demands");
                return Err(Violation::new(place, class.packet_demands.len(), ONLY));
            }
        }
        Ok(())
    }

    /// The same mix, its arrivals scaled such that the largest load is `load`.
    pub fn at_load(&self, load: f64) -> Self {
        let scale = load / self.heaviest().1;
        let mut scaled = self.clone();
        scaled.classes.iter_mut().for_each(|class| class.arrival_rate *= scale);
        scaled
    }

    /// Whether some class claims to need something else than it does.
    pub fn has_claims(&self) -> bool {
        self.classes.iter().any(|class| class.claim.is_some())
    }

    /// What comes of the claims: whoever is allocated resources in the proportions that it claims works as fast as the
    /// scarcest of those that it truly needs lets it, so that a unit of work takes more of all the others.
    pub fn as_claimed(&self) -> Self {
        let mut claimed = self.clone();
        for class in &mut claimed.classes {
            let Some(claim) = class.claim.take() else { continue };
            let needed = class.demand.iter().zip(&claim).filter(|(demand, _)| **demand > 0.0);
            let work = needed.map(|(demand, claim)| claim / demand).fold(f64::INFINITY, f64::min);
            class.demand = claim.iter().map(|claim| claim / work).collect();
        }
        claimed
    }
}

impl Work {
    fn check(&self, place: impl Fn(&str) -> String) -> Result<(), Violation> {
        above_zero(self.mean, || place("mean"))?;
        let refuse =
            |field: &str, value: f64, problem: &str| Err(Violation::new(place(field), value, problem));
        match self.distribution {
            WorkDistribution::HyperExponential { squared_variation }
                if !(1.0..1e6).contains(&squared_variation) =>
            {
                refuse("squared_variation", squared_variation, "must be at least 1 and below 1e6")
            }
            WorkDistribution::Pareto { shape } if !(shape > 1.0 && shape.is_finite()) => {
                refuse("shape", shape, "must be > 1, or the work has no mean")
            }
            _ => Ok(()),
        }
    }
}

fn above_zero(number: f64, place: impl Fn() -> String) -> Result<(), Violation> {
    if number > 0.0 && number.is_finite() {
        Ok(())
    } else {
        Err(Violation::new(place(), number, "must be > 0"))
    }
}

#[cfg(test)]
mod tests;
