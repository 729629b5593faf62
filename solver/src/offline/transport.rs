//! A flow of whole parts of slices from quanta to users: as much as can be (Dinic 1970), begun where the doubles are.

use super::flow::{ByUser, Flow};
use fairplan_instances::{Deadline, InstanceError};

/// What is counted, and for whom.
#[derive(Clone, Copy)]
pub(super) struct Parts<'a> {
    /// Parts of a slice.
    pub of_slice: u128,
    /// By user, whether it is one of those who are served.
    pub is_member: &'a [bool],
}

/// Slices of some quanta on the way to some users, in parts.
pub(super) struct Transport<'a> {
    flow: &'a Flow,
    by_user: &'a ByUser,
    parts: Parts<'a>,
    /// By entry.
    given: Vec<u128>,
    /// By quantum, what nobody has yet.
    left: Vec<u128>,
    /// By user, what it lacks.
    lacks: Vec<u128>,
    users: Vec<usize>,
    /// How far users and quanta are from the nearest who lacks something; `FAR` for who is not reached.
    distance_of_user: Vec<u32>,
    distance_of_quantum: Vec<u32>,
    /// The next of their entries that may lead on.
    next_of_user: Vec<usize>,
    next_of_quantum: Vec<usize>,
}

const FAR: u32 = u32::MAX;

/// A user or a quantum.
#[derive(Clone, Copy)]
enum Node {
    User(usize),
    Quantum(usize),
}

impl<'a> Transport<'a> {
    /// `supplies` are slices of quanta, `due` what each user is to get in parts, at most.
    pub fn new(
        flow: &'a Flow,
        by_user: &'a ByUser,
        parts: Parts<'a>,
        supplies: &[(u32, u128)],
        due: &[(usize, u128)],
    ) -> Self {
        let mut transport = Self {
            given: vec![0; flow.users.len()],
            left: vec![0; flow.quanta.len()],
            lacks: vec![0; flow.base.len()],
            users: due.iter().map(|(user, _)| *user).collect(),
            distance_of_user: vec![FAR; flow.base.len()],
            distance_of_quantum: vec![FAR; flow.quanta.len()],
            next_of_user: vec![0; flow.base.len()],
            next_of_quantum: vec![0; flow.quanta.len()],
            flow,
            by_user,
            parts,
        };
        supplies
            .iter()
            .for_each(|(quantum, slices)| transport.left[*quantum as usize] = slices * parts.of_slice);
        for &(user, due) in due {
            let mut lacks = due;
            for at in by_user.of(user) {
                let (entry, left) = (by_user.entries[at], &mut transport.left[by_user.quanta[at] as usize]);
                let near = (flow.given[entry] * parts.of_slice as f64) as u128;
                let given = near.min(flow.room[entry] as u128 * parts.of_slice).min(*left).min(lacks);
                transport.given[entry] = given;
                *left -= given;
                lacks -= given;
            }
            transport.lacks[user] = lacks;
        }
        transport
    }

    /// What was given, by entry, of those who are served.
    pub fn given(&self) -> impl Iterator<Item = (usize, u128)> {
        let entries = self.users.iter().flat_map(|user| self.by_user.of(*user));
        entries.map(|at| (self.by_user.entries[at], self.given[self.by_user.entries[at]]))
    }

    /// Gives everybody what is due to it. Where that cannot be, returns users who cannot have that together: they have all that
    /// there is for them.
    ///
    /// # Errors
    /// When the deadline is over.
    pub fn fill(&mut self, deadline: &Deadline) -> Result<Option<Vec<u32>>, InstanceError> {
        while self.users.iter().any(|user| self.lacks[*user] > 0) {
            if deadline.is_over() {
                return Err(InstanceError::OutOfTime);
            }
            let (reached, is_supplied) = self.measure();
            if !is_supplied {
                return Ok(Some(reached));
            }
            for at in 0..self.users.len() {
                while self.lacks[self.users[at]] > 0 && self.supply(self.users[at]) {}
            }
        }
        Ok(None)
    }

    fn has_room(&self, entry: usize) -> bool {
        self.given[entry] < self.flow.room[entry] as u128 * self.parts.of_slice
    }

    /// Measures how far everything is from those who lack something; says who is reached, and whether any quantum that has something
    /// left is.
    fn measure(&mut self) -> (Vec<u32>, bool) {
        self.distance_of_user.fill(FAR);
        self.distance_of_quantum.fill(FAR);
        let mut reached: Vec<u32> =
            self.users.iter().filter(|user| self.lacks[**user] > 0).map(|user| *user as u32).collect();
        reached.iter().for_each(|user| self.distance_of_user[*user as usize] = 0);
        self.users.iter().for_each(|user| self.next_of_user[*user] = self.by_user.of(*user).start);
        let (mut next, mut is_supplied) = (0, false);
        while next < reached.len() {
            let user = reached[next] as usize;
            next += 1;
            for at in self.by_user.of(user) {
                let quantum = self.by_user.quanta[at] as usize;
                if self.distance_of_quantum[quantum] != FAR || !self.has_room(self.by_user.entries[at]) {
                    continue;
                }
                self.distance_of_quantum[quantum] = self.distance_of_user[user] + 1;
                self.next_of_quantum[quantum] = self.flow.entries(quantum).start;
                is_supplied |= self.left[quantum] > 0;
                for entry in self.flow.entries(quantum).filter(|entry| self.given[*entry] > 0) {
                    let giver = self.flow.users[entry] as usize;
                    if self.parts.is_member[giver] && self.distance_of_user[giver] == FAR {
                        self.distance_of_user[giver] = self.distance_of_quantum[quantum] + 1;
                        reached.push(giver as u32);
                    }
                }
            }
        }
        (reached, is_supplied)
    }

    /// Brings a user something on a shortest way that is open yet; says whether there was one.
    fn supply(&mut self, user: usize) -> bool {
        // Entries by turns of who takes and of who gives, with the node before each.
        let mut way: Vec<(Node, usize)> = Vec::new();
        let mut node = Node::User(user);
        loop {
            let onward = match node {
                Node::Quantum(quantum) if self.left[quantum] > 0 => {
                    self.move_along(user, quantum, &way);
                    return true;
                }
                Node::User(user) => self.quantum_after(user),
                Node::Quantum(quantum) => self.user_after(quantum),
            };
            match onward {
                Some((entry, further)) => {
                    way.push((node, entry));
                    node = further;
                }
                None => match way.pop() {
                    None => return false,
                    Some((before, _)) => {
                        match before {
                            Node::User(user) => self.next_of_user[user] += 1,
                            Node::Quantum(quantum) => self.next_of_quantum[quantum] += 1,
                        }
                        node = before;
                    }
                },
            }
        }
    }

    /// A quantum one further in which a user has room.
    fn quantum_after(&mut self, user: usize) -> Option<(usize, Node)> {
        let further = self.distance_of_user[user] + 1;
        let end = self.by_user.of(user).end;
        while self.next_of_user[user] < end {
            let at = self.next_of_user[user];
            let (quantum, entry) = (self.by_user.quanta[at] as usize, self.by_user.entries[at]);
            if self.distance_of_quantum[quantum] == further && self.has_room(entry) {
                return Some((entry, Node::Quantum(quantum)));
            }
            self.next_of_user[user] += 1;
        }
        None
    }

    /// A user one further who has something in a quantum.
    fn user_after(&mut self, quantum: usize) -> Option<(usize, Node)> {
        let further = self.distance_of_quantum[quantum] + 1;
        let end = self.flow.entries(quantum).end;
        while self.next_of_quantum[quantum] < end {
            let entry = self.next_of_quantum[quantum];
            let user = self.flow.users[entry] as usize;
            if self.given[entry] > 0 && self.parts.is_member[user] && self.distance_of_user[user] == further {
                return Some((entry, Node::User(user)));
            }
            self.next_of_quantum[quantum] += 1;
        }
        None
    }

    /// Moves as much as the way allows.
    fn move_along(&mut self, user: usize, quantum: usize, way: &[(Node, usize)]) {
        let allows = |(node, entry): &(Node, usize)| match node {
            Node::User(_) => self.flow.room[*entry] as u128 * self.parts.of_slice - self.given[*entry],
            Node::Quantum(_) => self.given[*entry],
        };
        let most = self.lacks[user].min(self.left[quantum]);
        let moved = way.iter().map(allows).fold(most, u128::min);
        for (node, entry) in way {
            match node {
                Node::User(_) => self.given[*entry] += moved,
                Node::Quantum(_) => self.given[*entry] -= moved,
            }
        }
        self.lacks[user] -= moved;
        self.left[quantum] -= moved;
    }
}
