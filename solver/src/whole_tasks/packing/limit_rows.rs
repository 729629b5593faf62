//! Limits and reserves beside servers: `Σ d x <= b` over the pieces below a limit on the classes that it is over.
//!
//! Where all of `b` is worth `Q`, a piece that takes `d` of it pays `⌊Q d / b⌋` on these classes, so that it is worth so much less there: what is
//! placed is worth at most what servers hold of what is left of its worth, and `Q` for each limit. Pieces that are below the same limits
//! and pack alike are one shape, and classes that the same limits are over one class.

use super::{Class, MAX_COMPARED, Packing, Shape};
use fairplan_instances::{ClassId, Instance, KindId, LimitRow};
use hashbrown::HashMap;

/// The limits and reserves that can be in the way of somebody's pieces.
#[derive(Default)]
pub(in crate::whole_tasks) struct LimitRows {
    rows: Vec<Row>,
    /// Of each shape the rows that its pieces count in, with what one piece takes.
    of_shape: Vec<Vec<(usize, u128)>>,
    /// How many the instance has.
    all: usize,
}

struct Row {
    /// Its position among those of the instance.
    stated: usize,
    amount: u128,
    /// Of each class whether it is over it.
    covers: Vec<bool>,
}

impl LimitRows {
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// The limits that pieces of a shape count in on a class, each with the part of it that one takes.
    pub fn parts(&self, class: usize, shape: usize) -> impl Iterator<Item = (usize, f64)> + '_ {
        self.taken(class, shape).map(|(row, taken)| (row, taken as f64 / self.rows[row].amount as f64))
    }

    fn taken(&self, class: usize, shape: usize) -> impl Iterator<Item = (usize, u128)> + '_ {
        let of_shape = self.of_shape.get(shape).into_iter().flatten().copied();
        of_shape.filter(move |(row, _)| self.rows[*row].covers[class])
    }

    /// What pieces that are worth so much, in whole numbers, are worth on a class, all of each limit being worth so much.
    pub fn left(&self, class: usize, values: &[f64], limits: &[u64]) -> Vec<f64> {
        let paid = |(row, taken): (usize, u128)| {
            let paid = u128::from(limits[row]).checked_mul(taken).map(|all| all / self.rows[row].amount);
            // Who pays less is worth more, and bounds hold all the same.
            paid.unwrap_or(0) as f64
        };
        let left = |(shape, value): (usize, &f64)| {
            (value - self.taken(class, shape).map(paid).sum::<f64>()).max(0.0)
        };
        values.iter().enumerate().map(left).collect()
    }

    /// The worths of limits as those of all of the instance's, in its order; none where limits are no rows.
    pub fn in_instance_order(&self, limits: &[u64]) -> Vec<u64> {
        let mut all = vec![0; self.all];
        self.rows.iter().zip(limits).for_each(|(row, worth)| all[row.stated] = *worth);
        all
    }
}

impl Packing {
    /// The same with the limits and reserves of the instance as rows, and without rules between servers; `None` where no limit is in anybody's
    /// way.
    pub fn under_limits(&self, instance: &Instance) -> Option<Self> {
        let rows = in_the_way(instance);
        if rows.is_empty() {
            return None;
        }
        let (classes, of_class) = self.classes_apart(instance, &rows);
        let mut shapes: Vec<Shape> = Vec::new();
        let mut of_shape = Vec::new();
        let mut before = Vec::new();
        let mut known = HashMap::new();
        let mut shape_of = vec![None; self.shape_of.len()];
        for (k, shape) in self.shape_of.iter().enumerate() {
            let Some(shape) = shape.map(|shape| shape as usize) else { continue };
            let kind = instance.kind(KindId(k));
            let above = instance.limits_above(kind.user()).into_iter();
            let above = above.filter_map(|j| rows.binary_search(&j).ok());
            let taken = |row: usize| (row, kind.piece_units(instance.limit_rows()[rows[row]].resource));
            let taken: Vec<(usize, u128)> = above.map(taken).filter(|(_, taken)| *taken > 0).collect();
            let same = *known.entry((shape, taken)).or_insert_with_key(|(_, taken)| {
                let of = &self.shapes[shape];
                // There is no room on a class for what a limit over it has no room for.
                let is_closed = |class: &Class| {
                    let over = |row: &LimitRow| row.covers(class.members[0]);
                    let row = |row: usize| &instance.limit_rows()[rows[row]];
                    taken.iter().any(|(j, taken)| over(row(*j)) && instance.limit_units(row(*j)) < *taken)
                };
                let copies = |(class, before): (&Class, &usize)| match is_closed(class) {
                    true => 0,
                    false => of.copies[*before],
                };
                let copies = classes.iter().zip(&of_class).map(copies).collect();
                shapes.push(Shape {
                    demand: of.demand,
                    profile: of.profile,
                    kinds: Vec::new(),
                    copies,
                    most: of.most,
                });
                of_shape.push(taken.clone());
                before.push(shape);
                shapes.len() - 1
            });
            shapes[same].kinds.push(KindId(k));
            shape_of[k] = Some(same as u32);
        }
        let (mut pieces, mut of_user) = (Vec::with_capacity(self.pieces.len()), Vec::new());
        for user in instance.users() {
            let first = pieces.len();
            for kind in user.kinds() {
                let Some(shape) = shape_of[kind.index().0] else { continue };
                add_pieces(&mut pieces, first, shape, kind.each());
            }
            of_user.push(first..pieces.len());
        }
        let row = |stated: &usize| {
            let row = &instance.limit_rows()[*stated];
            let covers = classes.iter().map(|class| row.covers(class.members[0])).collect();
            Row { stated: *stated, amount: instance.limit_units(row).max(1), covers }
        };
        let limits =
            LimitRows { rows: rows.iter().map(row).collect(), of_shape, all: instance.limit_rows().len() };
        Some(Self {
            resources: self.resources,
            has_rules: self.has_rules,
            classes,
            all_classes: self.all_classes,
            in_place: self.in_place_of(&before),
            shapes,
            shape_of,
            pieces,
            of_user,
            between: Default::default(),
            limits,
        })
    }

    /// The classes, those apart that not the same limits are over; and the class that each was before.
    fn classes_apart(&self, instance: &Instance, rows: &[usize]) -> (Vec<Class>, Vec<usize>) {
        let (mut classes, mut of_class) = (Vec::new(), Vec::new());
        for (before, class) in self.classes.iter().enumerate() {
            let mut known: HashMap<Vec<bool>, usize> = HashMap::new();
            for member in &class.members {
                let covers = rows.iter().map(|j| instance.limit_rows()[*j].covers(*member)).collect();
                let same = *known.entry(covers).or_insert_with(|| {
                    let Class { capacity, devices, .. } = class;
                    let (devices, members) = (devices.clone(), Vec::new());
                    classes.push(Class { capacity: *capacity, devices, servers: 0, members });
                    of_class.push(before);
                    classes.len() - 1
                });
                classes[same].servers += instance.classes()[member.0].count;
                classes[same].members.push(*member);
            }
        }
        (classes, of_class)
    }

    /// What stands in the place of what, of shapes each of which was one of these before.
    fn in_place_of(&self, before: &[usize]) -> Vec<u32> {
        if self.in_place.is_empty() || before.len() > MAX_COMPARED {
            return Vec::new();
        }
        let n = self.shapes.len();
        before.iter().flat_map(|i| before.iter().map(move |j| self.in_place[i * n + j])).collect()
    }
}

/// Adds pieces of one shape to those of a user, which begin at `first`.
pub(super) fn add_pieces(pieces: &mut Vec<(u32, u64)>, first: usize, shape: u32, each: u64) {
    match pieces[first..].iter_mut().find(|(known, _)| *known == shape) {
        Some((_, sum)) => *sum = sum.saturating_add(each),
        None => pieces.push((shape, each)),
    }
}

/// The limits and reserves that say more than servers do: less than what these have of their resource.
fn in_the_way(instance: &Instance) -> Vec<usize> {
    let has = |row: &LimitRow| {
        let classes = instance.classes().iter().enumerate().map(|(l, class)| (ClassId(l), class.count));
        let on = classes.filter(|(class, _)| row.covers(*class));
        let units = |(class, count): (ClassId, u64)| {
            instance.capacity_units(class, row.resource).saturating_mul(u128::from(count))
        };
        on.map(units).fold(0, u128::saturating_add)
    };
    let rows = instance.limit_rows().iter().enumerate();
    rows.filter(|(_, row)| instance.limit_units(row) < has(row)).map(|(j, _)| j).collect()
}
