//! States arranged as points in boxes, so that a search passes over whole boxes that hold nothing better.
//!
//! A k-d tree with points in its leaves: leaves are halved when they overflow and joined when they become
//! thin. Should that leave it lopsided, it is built anew.

/// A leaf of more points than this is halved; two leaves of half as many together are joined.
const LEAF: usize = 8;

/// Points with a state each.
pub(crate) struct Tree {
    /// How many coordinates a point has, and how many of them, the first, the points are arranged by.
    dimensions: usize,
    leading: usize,
    nodes: Vec<Node>,
    /// The lower corner, then the upper corner of the box around each node's points.
    boxes: Vec<f64>,
    /// Pairs of nodes not in use, by the first.
    vacant: Vec<usize>,
    /// How many points there are, and how many have been inserted since the tree was last built.
    points: usize,
    inserted: usize,
    path: Vec<usize>,
}

enum Node {
    /// Points below `value` in `dimension` are in the child at `children`, the others in the one after it.
    Inner { dimension: usize, value: f64, children: usize },
    /// The points, row-major, and the state of each.
    Leaf { states: Vec<u32>, points: Vec<f64> },
}

/// What is searched for: the tree calls back.
pub(crate) trait Search {
    /// A lower bound of the cost of all points in a box; infinite when none of them will do.
    fn bound(&self, low: &[f64], high: &[f64]) -> f64;
    /// Whether a point of at least this cost, if finite, may still be better than what has been found.
    fn may_improve(&self, bound: f64) -> bool;
    /// Looks at one point.
    fn visit(&mut self, state: u32, point: &[f64]);
}

impl Tree {
    /// No points yet. They are arranged by the `leading` first of their coordinates, by the others only where
    /// the leading ones agree (or when there are none).
    pub fn new(leading: usize, dimensions: usize) -> Self {
        let mut tree = Self {
            dimensions,
            leading,
            nodes: Vec::new(),
            boxes: Vec::new(),
            vacant: Vec::new(),
            points: 0,
            inserted: 0,
            path: Vec::new(),
        };
        tree.build(Vec::new(), Vec::new());
        tree
    }

    /// Starts over with these points.
    fn build(&mut self, states: Vec<u32>, points: Vec<f64>) {
        self.nodes.clear();
        self.vacant.clear();
        self.boxes.clear();
        self.boxes.resize(2 * self.dimensions, 0.0);
        enclose(&mut self.boxes, self.dimensions, 0, &points);
        (self.points, self.inserted) = (states.len(), 0);
        self.nodes.push(Node::Leaf { states, points });
        self.halve(0);
    }

    /// Adds the point of a state.
    pub fn insert(&mut self, state: u32, point: &[f64]) {
        self.points += 1;
        self.inserted += 1;
        let (mut at, mut depth) = (0, 0);
        loop {
            let (low, high) = corners_mut(&mut self.boxes, self.dimensions, at);
            include(low, high, point);
            match &mut self.nodes[at] {
                Node::Inner { dimension, value, children } => {
                    at = *children + usize::from(point[*dimension] >= *value);
                    depth += 1;
                }
                Node::Leaf { states, points } => {
                    states.push(state);
                    points.extend_from_slice(point);
                    // A leaf of equal points cannot be halved; it is tried again only now and then.
                    if states.len() > LEAF && states.len() % LEAF == 1 {
                        self.halve(at);
                    }
                    break;
                }
            }
        }
        // Points that agree in many coordinates keep any tree lopsided, so not too often.
        if depth > 2 * self.points.ilog2() + 4 && self.inserted > self.points {
            self.rebuild();
        }
    }

    /// Removes a state; `point` must be the one that it was inserted with.
    pub fn remove(&mut self, state: u32, point: &[f64]) {
        self.path.clear();
        let mut at = 0;
        while let Node::Inner { dimension, value, children } = &self.nodes[at] {
            self.path.push(at);
            at = *children + usize::from(point[*dimension] >= *value);
        }
        let Node::Leaf { states, points } = &mut self.nodes[at] else { return };
        let Some(found) = states.iter().position(|other| *other == state) else { return };
        states.swap_remove(found);
        let last = states.len() * self.dimensions;
        points.copy_within(last.., found * self.dimensions);
        points.truncate(last);
        self.points -= 1;
        let mut changed = self.shrink_leaf(at, point);
        if let Some(&parent) = self.path.last()
            && self.join(parent, at)
        {
            self.path.pop();
            changed = true;
        }
        while changed && let Some(parent) = self.path.pop() {
            changed = self.shrink_inner(parent);
        }
    }

    /// Moves the points of a thin leaf to its sibling, if that is thin, too. An empty leaf goes, and the sibling
    /// takes its parent's place; tells whether that has happened.
    fn join(&mut self, parent: usize, leaf: usize) -> bool {
        let Node::Inner { children, .. } = self.nodes[parent] else { return false };
        let sibling = 2 * children + 1 - leaf;
        let Ok([Node::Leaf { states, points }, other]) = self.nodes.get_disjoint_mut([leaf, sibling]) else {
            return false;
        };
        if let Node::Leaf { states: more_states, points: more_points } = other
            && states.len() + more_states.len() <= LEAF / 2
        {
            more_states.append(states);
            more_points.append(points);
            enclose(&mut self.boxes, self.dimensions, sibling, more_points);
        } else if !states.is_empty() {
            return false;
        }
        self.nodes.swap(parent, sibling);
        let corners = 2 * self.dimensions;
        self.boxes.copy_within(sibling * corners..(sibling + 1) * corners, parent * corners);
        self.vacant.push(children);
        true
    }

    /// Shows `search` all points that may improve it, those in the most promising boxes first. `pending` is
    /// scratch space.
    pub fn search(&self, pending: &mut Vec<(f64, usize)>, search: &mut impl Search) {
        let bound = |search: &_, node| {
            let (low, high) = self.corners(node);
            Search::bound(search, low, high)
        };
        pending.clear();
        pending.push((bound(search, 0), 0));
        while let Some((mut least, mut at)) = pending.pop() {
            while least < f64::INFINITY && search.may_improve(least) {
                match &self.nodes[at] {
                    Node::Inner { children, .. } => {
                        let (near, far) = (*children, *children + 1);
                        let (near, far) = ((bound(search, near), near), (bound(search, far), far));
                        let (near, far) = if far.0 < near.0 { (far, near) } else { (near, far) };
                        if far.0 < f64::INFINITY {
                            pending.push(far);
                        }
                        (least, at) = near;
                    }
                    Node::Leaf { states, points } => {
                        for (state, point) in states.iter().zip(points.chunks_exact(self.dimensions)) {
                            search.visit(*state, point);
                        }
                        break;
                    }
                }
            }
        }
    }

    fn corners(&self, node: usize) -> (&[f64], &[f64]) {
        self.boxes[2 * node * self.dimensions..][..2 * self.dimensions].split_at(self.dimensions)
    }

    /// Halves a leaf at a median, in the dimension of the widest spread, until no part overflows.
    fn halve(&mut self, node: usize) {
        let Node::Leaf { states, points } = &mut self.nodes[node] else { return };
        if states.len() <= LEAF {
            return;
        }
        let Some((dimension, value)) = cut(points, self.dimensions, self.leading) else { return };
        let (states, points) = (std::mem::take(states), std::mem::take(points));
        let (some, room) = (states.len().max(2 * LEAF), states.len().max(2 * LEAF) * self.dimensions);
        let mut halves = [0, 1].map(|_| (Vec::with_capacity(some), Vec::with_capacity(room)));
        for (state, point) in states.into_iter().zip(points.chunks_exact(self.dimensions)) {
            let half = &mut halves[usize::from(point[dimension] >= value)];
            half.0.push(state);
            half.1.extend_from_slice(point);
        }
        let children = self.vacant.pop().unwrap_or_else(|| {
            self.boxes.resize(self.boxes.len() + 4 * self.dimensions, 0.0);
            self.nodes.resize_with(self.nodes.len() + 2, || Node::Leaf { states: vec![], points: vec![] });
            self.nodes.len() - 2
        });
        for (child, (states, points)) in (children..).zip(halves) {
            enclose(&mut self.boxes, self.dimensions, child, &points);
            self.nodes[child] = Node::Leaf { states, points };
        }
        self.nodes[node] = Node::Inner { dimension, value, children };
        self.halve(children);
        self.halve(children + 1);
    }

    fn rebuild(&mut self) {
        let (mut all_states, mut all_points) = (Vec::new(), Vec::new());
        for node in self.nodes.drain(..) {
            // Nodes not in use are empty leaves or inner nodes.
            if let Node::Leaf { states, points } = node {
                all_states.extend(states);
                all_points.extend(points);
            }
        }
        self.build(all_states, all_points);
    }

    /// Fits the box of a leaf to its points after `gone` has left; tells whether the box has changed.
    fn shrink_leaf(&mut self, node: usize, gone: &[f64]) -> bool {
        let (low, high) = self.corners(node);
        let on_border = gone.iter().zip(low.iter().zip(high)).any(|(x, (low, high))| x == low || x == high);
        if let Node::Leaf { points, .. } = &self.nodes[node]
            && on_border
        {
            enclose(&mut self.boxes, self.dimensions, node, points);
        }
        on_border
    }

    /// Fits the box of an inner node to its children's; tells whether it has changed.
    fn shrink_inner(&mut self, node: usize) -> bool {
        let Node::Inner { children, .. } = self.nodes[node] else { return false };
        let (d, mut changed) = (self.dimensions, false);
        let (at, child) = (2 * d * node, 2 * d * children);
        for k in 0..2 * d {
            let (x, y) = (self.boxes[child + k], self.boxes[child + 2 * d + k]);
            let fitted = if k < d { x.min(y) } else { x.max(y) };
            changed |= self.boxes[at + k] != fitted;
            self.boxes[at + k] = fitted;
        }
        changed
    }
}

fn corners_mut(boxes: &mut [f64], dimensions: usize, node: usize) -> (&mut [f64], &mut [f64]) {
    boxes[2 * node * dimensions..][..2 * dimensions].split_at_mut(dimensions)
}

/// Fits the box of `node` to some points; around none it is inside out.
fn enclose(boxes: &mut [f64], dimensions: usize, node: usize, points: &[f64]) {
    let (low, high) = corners_mut(boxes, dimensions, node);
    low.fill(f64::INFINITY);
    high.fill(f64::NEG_INFINITY);
    points.chunks_exact(dimensions).for_each(|point| include(low, high, point));
}

/// Widens a box to include a point.
fn include(low: &mut [f64], high: &mut [f64], point: &[f64]) {
    for ((low, high), x) in low.iter_mut().zip(high).zip(point) {
        *low = low.min(*x);
        *high = high.max(*x);
    }
}

/// Where to cut some points in two: a dimension and a value that is above some and not above others; none when
/// all points are equal.
fn cut(points: &[f64], dimensions: usize, leading: usize) -> Option<(usize, f64)> {
    let mut best: Option<((f64, f64), usize, f64)> = None;
    let mut column = Vec::with_capacity(points.len() / dimensions);
    for dimension in 0..dimensions {
        if dimension >= leading && best.is_some_and(|(_, chosen, _)| chosen < leading) {
            break;
        }
        column.clear();
        column.extend(points.iter().skip(dimension).step_by(dimensions).copied());
        column.sort_unstable_by(f64::total_cmp);
        let at = |quarter: usize| column[(column.len() - 1) * quarter / 4];
        if at(0) == at(4) {
            continue;
        }
        // The other coordinates are in units of their own, so their spreads are compared relative to them.
        let unit = if dimension < leading { 1.0 } else { at(4) };
        // Outliers decide only when most points agree.
        let spreads = ((at(3) - at(1)) / unit, (at(4) - at(0)) / unit);
        if best.is_none_or(|(widest, ..)| spreads > widest) {
            let middle = at(2);
            let value =
                if middle > at(0) { middle } else { column[column.partition_point(|x| *x <= middle)] };
            best = Some((spreads, dimension, value));
        }
    }
    best.map(|(_, dimension, value)| (dimension, value))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The point nearest to the origin of those at or above a threshold in the last coordinate.
    struct Nearest {
        threshold: f64,
        found: Option<(f64, u32)>,
        visits: usize,
    }

    impl Search for Nearest {
        fn bound(&self, low: &[f64], high: &[f64]) -> f64 {
            if high[2] < self.threshold { f64::INFINITY } else { low[0] + low[1] }
        }
        fn may_improve(&self, bound: f64) -> bool {
            self.found.is_none_or(|(least, _)| bound < least)
        }
        fn visit(&mut self, state: u32, point: &[f64]) {
            self.visits += 1;
            let cost = point[0] + point[1];
            if point[2] >= self.threshold && self.may_improve(cost) {
                self.found = Some((cost, state));
            }
        }
    }

    fn nearest(tree: &Tree, threshold: f64) -> Nearest {
        let mut search = Nearest { threshold, found: None, visits: 0 };
        tree.search(&mut Vec::new(), &mut search);
        search
    }

    proptest! {
        #[test]
        fn finds_what_a_scan_finds_while_points_come_and_go(
            moves in proptest::collection::vec((0usize..300, [0u8..40, 0..4, 0..40]), 1..1500),
            leading in 0usize..=3,
        ) {
            let mut tree = Tree::new(leading, 3);
            let mut points: Vec<Option<[f64; 3]>> = vec![None; 300];
            for (k, (state, point)) in moves.into_iter().enumerate() {
                let place = &mut points[state];
                match place.take() {
                    Some(old) => tree.remove(state as u32, &old),
                    None => tree.insert(state as u32, place.insert(point.map(f64::from))),
                }
                if k % 7 == 0 {
                    let threshold = f64::from(point[2]);
                    let scanned = points.iter().flatten().filter(|p| p[2] >= threshold).map(|p| p[0] + p[1]);
                    let found = nearest(&tree, threshold).found.map(|(cost, _)| cost);
                    prop_assert_eq!(found, scanned.min_by(f64::total_cmp));
                }
            }
        }
    }

    #[test]
    fn stays_shallow_when_points_wander_off() {
        let mut tree = Tree::new(2, 3);
        let point = |k: u32| [f64::from(k), 0.0, 1.0];
        for k in 0..20_000 {
            tree.insert(k, &point(k));
            if k >= 1000 {
                tree.remove(k - 1000, &point(k - 1000));
            }
        }
        assert!(tree.nodes.len() < 2000, "{} nodes for 1000 points", tree.nodes.len());
        let search = nearest(&tree, 1.0);
        assert_eq!(search.found, Some((19_000.0, 19_000)));
        assert!(search.visits <= 2 * LEAF, "{} points visited", search.visits);
    }
}
