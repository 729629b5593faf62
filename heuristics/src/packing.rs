//! What is to be packed: servers and tasks in whole units, tasks that pack alike merged into shapes.

use crate::error::{MAX_SERVERS, PlacementError};
use crate::told_apart;
use fairplan_instances::{ClassId, Instance, Kind, KindId, ResourceId, RuleId, Violation};
use std::collections::HashMap;
use std::ops::Range;

/// Capacities and demands as vectors of `width` whole numbers: one a resource, or one in all for slots.
pub(crate) struct Packing {
    pub width: usize,
    /// Servers are numbered class by class.
    pub classes: Vec<Class>,
    pub shapes: Vec<Shape>,
    /// The shape of the pieces of each kind; a user without kinds has one, its task.
    pub shape_of: Vec<u32>,
    /// Sets of classes of which some quota tells those inside from the others.
    pub sets: Vec<Vec<usize>>,
}

/// The servers of one class.
pub(crate) struct Class {
    pub servers: Range<usize>,
    pub capacity: Vec<u128>,
}

/// Pieces of the same demand that may run on the same classes and count in the same quotas.
pub(crate) struct Shape {
    pub demand: Vec<u128>,
    /// The classes that the pieces may run on, rising.
    pub classes: Vec<usize>,
}

impl Packing {
    /// Servers and tasks measured in the smallest exact unit of every resource.
    pub fn in_resources(instance: &Instance) -> Result<Self, PlacementError> {
        let resources = (0..instance.resources().len()).map(ResourceId);
        Self::new(
            instance,
            |class| resources.clone().map(|r| instance.capacity_units(class, r)).collect(),
            |kind| resources.clone().map(|r| kind.piece_units(r)).collect(),
        )
    }

    /// Servers and pieces measured by any vectors of one length.
    pub fn new(
        instance: &Instance,
        capacity: impl Fn(ClassId) -> Vec<u128>,
        demand: impl Fn(Kind<'_>) -> Vec<u128>,
    ) -> Result<Self, PlacementError> {
        // Counts are at most 10^15 each, so only an absurd number of classes could saturate.
        let servers = instance.classes().iter().fold(0u64, |sum, class| sum.saturating_add(class.count));
        if servers > MAX_SERVERS {
            let problem =
                format!("whole tasks are placed on at most {MAX_SERVERS} servers; place them on a sample");
            return Err(Violation::new("server_classes", servers, problem).into());
        }
        let mut start = 0;
        let classes: Vec<Class> = (instance.classes().iter().enumerate())
            .map(|(l, class)| {
                let servers = start..start + class.count as usize;
                start = servers.end;
                Class { servers, capacity: capacity(ClassId(l)) }
            })
            .collect();

        let mut positions: HashMap<(RuleId, Vec<u128>, Vec<u128>), u32> = HashMap::new();
        let mut shapes = Vec::new();
        let shape_of = (0..instance.kind_count())
            .map(|k| {
                let kind = instance.kind(KindId(k));
                let key = (kind.rule_id(), demand(kind), told_apart::key(kind));
                *positions.entry(key).or_insert_with_key(|(_, demand, _)| {
                    let allowed = |&l: &usize| kind.rule().allows(ClassId(l));
                    let classes = (0..classes.len()).filter(allowed).collect();
                    shapes.push(Shape { demand: demand.clone(), classes });
                    (shapes.len() - 1) as u32
                })
            })
            .collect();
        let width = classes.first().map_or(0, |class| class.capacity.len());
        Ok(Self { width, classes, shapes, shape_of, sets: told_apart::sets_of_classes(instance) })
    }

    /// The same with a shape for each kind, in their order: who is asked about a piece is told whose it is.
    pub fn apart(self) -> Self {
        let shape = |shape: &u32| {
            let Shape { demand, classes } = &self.shapes[*shape as usize];
            Shape { demand: demand.clone(), classes: classes.clone() }
        };
        let shapes: Vec<Shape> = self.shape_of.iter().map(shape).collect();
        Self { shape_of: (0..shapes.len() as u32).collect(), shapes, ..self }
    }

    /// How many servers there are.
    pub fn servers(&self) -> usize {
        self.classes.last().map_or(0, |class| class.servers.end)
    }

    /// What each server has free before anything is placed, row-major `servers × width`.
    pub fn free(&self) -> Vec<u128> {
        let mut free = Vec::with_capacity(self.servers() * self.width);
        for class in &self.classes {
            class.servers.clone().for_each(|_| free.extend_from_slice(&class.capacity));
        }
        free
    }

    /// The servers of some classes, which rise, as few ranges as possible, rising.
    pub fn servers_of(&self, classes: &[usize]) -> Vec<Range<usize>> {
        let mut ranges: Vec<Range<usize>> = Vec::new();
        for class in classes.iter().map(|&l| &self.classes[l].servers).filter(|range| !range.is_empty()) {
            match ranges.last_mut() {
                Some(last) if last.end == class.start => last.end = class.end,
                _ => ranges.push(class.clone()),
            }
        }
        ranges
    }

    /// The class of a server.
    pub fn class_of(&self, server: usize) -> ClassId {
        ClassId(self.classes.partition_point(|class| class.servers.end <= server))
    }
}

/// Whether a task of `demand` has room in `free`.
pub(crate) fn fits(demand: &[u128], free: &[u128]) -> bool {
    demand.iter().zip(free).all(|(demand, free)| demand <= free)
}

/// What is free in a server of the capacity `to` if `free` is in one of the capacity `from` with the same tasks; `None`
/// when they have no room.
pub(crate) fn resized(free: &[u128], from: &[u128], to: &[u128]) -> Option<Vec<u128>> {
    let amounts = free.iter().zip(from).zip(to);
    amounts.map(|((free, from), to)| (free + to).checked_sub(*from)).collect()
}
