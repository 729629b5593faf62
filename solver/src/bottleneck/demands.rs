//! Users that are alike, and what levels of the resources mean for them.

use crate::sums::Compensated;
use hashbrown::HashMap;

/// Users that are alike: their tasks take the resources in the same proportions.
pub(crate) struct Demands {
    /// Resources that anybody needs.
    pub resources: usize,
    /// What the user takes of each resource, over what it takes of the one it takes most of; row-major.
    pub directions: Vec<f64>,
    /// Sum of the users' weights.
    pub weights: Vec<f64>,
}

impl Demands {
    pub fn len(&self) -> usize {
        self.weights.len()
    }

    pub fn direction(&self, user: usize) -> &[f64] {
        &self.directions[user * self.resources..(user + 1) * self.resources]
    }

    /// The resource that holds a user at these levels, and its share of the resource it takes most of, over its weight.
    pub fn held(&self, user: usize, levels: &[f64]) -> (usize, f64) {
        let mut least = (0, f64::INFINITY);
        for (r, (d, level)) in self.direction(user).iter().zip(levels).enumerate() {
            if *d > 0.0 && level / d < least.1 {
                least = (r, level / d);
            }
        }
        least
    }

    /// The loads at these levels, finite ones for at least one resource that each user needs.
    pub fn loads(&self, levels: &[f64]) -> Vec<f64> {
        let mut loads = vec![Compensated::default(); self.resources];
        for user in 0..self.len() {
            let share = self.weights[user] * self.held(user, levels).1;
            for (load, d) in loads.iter_mut().zip(self.direction(user)) {
                load.add(share * d);
            }
        }
        loads.into_iter().map(Compensated::value).collect()
    }

    /// How far these levels miss the definition: what is left of a resource that holds users, or is taken too much of any.
    pub fn missed(&self, levels: &[f64]) -> f64 {
        let left = |(load, level): (&f64, &f64)| {
            if load.is_nan() || level.is_nan() {
                f64::INFINITY
            } else if level.is_finite() {
                (1.0 - load).abs()
            } else {
                (load - 1.0).max(0.0)
            }
        };
        self.loads(levels).iter().zip(levels).map(left).fold(0.0, f64::max)
    }
}

/// Users of exactly the same direction as one.
pub(super) fn merge(demands: &Demands) -> Demands {
    let mut known: HashMap<Vec<u64>, usize> = HashMap::new();
    let mut sums: Vec<Compensated> = Vec::new();
    let mut merged = Demands { resources: demands.resources, directions: Vec::new(), weights: Vec::new() };
    for user in 0..demands.len() {
        let direction = demands.direction(user);
        let key = direction.iter().map(|d| d.to_bits()).collect();
        let group = *known.entry(key).or_insert_with(|| {
            merged.directions.extend_from_slice(direction);
            sums.push(Compensated::default());
            sums.len() - 1
        });
        sums[group].add(demands.weights[user]);
    }
    merged.weights = sums.into_iter().map(Compensated::value).collect();
    merged
}
