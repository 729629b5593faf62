//! Classes with proportional capacities become one: a mix of them is as good as any other of the same size.

use fairplan_instances::{ClassId, Instance, PlacementRule, ResourceId};
use hashbrown::HashMap;

/// The classes of an instance, those that are as good as one merged.
pub(crate) struct MergedClasses {
    /// The members of each, in the order of the first.
    pub members: Vec<Vec<ClassId>>,
    /// In parts of what a share of one is, row-major `classes × resources`.
    pub capacities: Vec<f64>,
    /// For each class of the instance its part of the merged one (0 for classes without any capacity; 1 where all servers
    /// are one).
    pub part_of_merged: Vec<f64>,
}

impl MergedClasses {
    /// Classes with proportional capacities that every placement rule treats alike become one; all do if `pooled`.
    pub fn new(instance: &Instance, pooled: bool) -> Self {
        let (m, classes) = (instance.resources().len(), instance.classes());
        let (members, part_of_merged) = if pooled {
            (vec![(0..classes.len()).map(ClassId).collect()], vec![1.0; classes.len()])
        } else {
            merge_proportional_classes(instance)
        };
        let mut capacities = vec![0.0; members.len() * m];
        for (row, members) in capacities.chunks_mut(m).zip(&members) {
            for (r, capacity) in row.iter_mut().enumerate() {
                let units =
                    |l: &ClassId| instance.capacity_units(*l, ResourceId(r)) * u128::from(classes[l.0].count);
                let units: u128 = members.iter().map(units).sum();
                if units > 0 {
                    *capacity = units as f64 / instance.measure_units(ResourceId(r)) as f64;
                }
            }
        }
        Self { members, capacities, part_of_merged }
    }
}

/// Groups the classes whose capacities are proportional and that every placement rule treats alike. Returns the
/// groups and each class's part of its group.
fn merge_proportional_classes(instance: &Instance) -> (Vec<Vec<ClassId>>, Vec<f64>) {
    let m = instance.resources().len();
    let mut of_shape: HashMap<Vec<u128>, Vec<usize>> = HashMap::new();
    let mut members: Vec<Vec<ClassId>> = Vec::new();
    for (l, class) in instance.classes().iter().enumerate() {
        let units: Vec<u128> = (0..m).map(|r| instance.capacity_units(ClassId(l), ResourceId(r))).collect();
        let divisor = units.iter().copied().fold(0, greatest_common_divisor);
        if divisor == 0 || class.count == 0 {
            continue;
        }
        let shape = units.iter().map(|units| units / divisor).collect();
        let groups = of_shape.entry(shape).or_default();
        let treatment = |rule: &PlacementRule, l: ClassId| (rule.allows(l), rule.rate(l));
        let limits = instance.limit_rows();
        // There may be as many rules as users; mostly the first tells two classes apart.
        let alike = |group: &&usize| {
            let first = members[**group][0];
            limits.iter().all(|limit| limit.covers(first) == limit.covers(ClassId(l)))
                && instance
                    .rules()
                    .iter()
                    .skip(1)
                    .all(|rule| treatment(rule, first) == treatment(rule, ClassId(l)))
        };
        match groups.iter().find(alike) {
            Some(group) => members[*group].push(ClassId(l)),
            None => {
                groups.push(members.len());
                members.push(vec![ClassId(l)]);
            }
        }
    }
    let mut part_of_merged = vec![0.0; instance.classes().len()];
    for group in &members {
        // Proportional capacities have the same zeros, so any resource they have measures their sizes.
        let r = (0..m).find(|&r| instance.capacity_units(group[0], ResourceId(r)) > 0).unwrap_or(0);
        let size = |l: &ClassId| {
            (instance.capacity_units(*l, ResourceId(r)) * u128::from(instance.classes()[l.0].count)) as f64
        };
        let total: f64 = group.iter().map(size).sum();
        group.iter().for_each(|l| part_of_merged[l.0] = size(l) / total);
    }
    (members, part_of_merged)
}

pub(crate) fn greatest_common_divisor(mut a: u128, mut b: u128) -> u128 {
    while b > 0 {
        (a, b) = (b, a % b);
    }
    a
}
