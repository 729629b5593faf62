//! The server with room of least cost, by the costs that the policies have where servers are amounts only.

use super::{Choice, Chosen, Servers};
use crate::scoring::Score;
use crate::tolerance::COST_AMONG_DEVICES;
use std::cmp::Ordering;

/// Takes the server of least cost; ties go to the lowest index.
pub(crate) struct Least<S> {
    score: S,
    /// How many servers and shapes the score has taken note of.
    known: (usize, usize),
    point: Vec<f64>,
}

impl<S: Score> Least<S> {
    pub fn new(score: S) -> Self {
        Self { score, known: (0, 0), point: Vec::new() }
    }

    fn cost(&mut self, servers: &Servers, shape: usize, server: usize) -> Option<f64> {
        let free: Vec<f64> = servers.free(server).iter().map(|amount| *amount as f64).collect();
        self.point.clear();
        let has_room = self.score.coordinates(self.score.view(shape), &free, &mut self.point);
        self.point.extend_from_slice(&free);
        has_room.then(|| self.score.cost(shape, &self.point))
    }
}

impl<S: Score> Choice for Least<S> {
    fn added(&mut self, capacity: &[u128]) {
        self.score.add_capacity(capacity);
    }

    fn choose(&mut self, servers: &Servers, shape: usize) -> Option<Chosen> {
        // Servers that are there from the beginning are empty when the first task comes.
        (self.known.0..servers.count()).for_each(|server| self.score.add_capacity(servers.free(server)));
        (self.known.1..servers.shapes()).for_each(|shape| self.score.add_shape(servers.demand(shape)));
        self.known = (servers.count(), servers.shapes());
        let (demand, offset) = (servers.demand(shape), self.score.offset(shape));
        let mut best: Option<(f64, usize)> = None;
        for server in servers.with_room(shape) {
            let Some(cost) = self.cost(servers, shape, server) else { continue };
            let is_less = best.is_none_or(|(least, chosen)| {
                if (cost - least).abs() > COST_AMONG_DEVICES * (offset + cost.abs() + least.abs()) {
                    return cost < least;
                }
                let (this, other) = (servers.free(server), servers.free(chosen));
                self.score.compare(shape, demand, this, other) == Ordering::Less
            });
            if is_less {
                best = Some((cost, server));
            }
        }
        best.map(|(_, server)| Chosen::server(server))
    }
}
