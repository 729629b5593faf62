//! Which task went where, written down in the order of filling and sorted by server in large batches: servers
//! are filled in no order, and a list for each of them would be a cache miss a task.

use fairplan_instances::ServerTasks;

/// Entries in a batch.
const BATCH: usize = 1 << 22;

/// The tasks placed so far.
pub(crate) struct Journal {
    /// `(server, user)` of each task since the last batch.
    entries: Vec<(u32, u32)>,
    /// `(server, user, tasks)` of those placed at once.
    many: Vec<(u32, u32, u64)>,
    servers: Vec<ServerTasks>,
}

impl Journal {
    pub fn new(servers: usize) -> Self {
        Self { entries: Vec::new(), many: Vec::new(), servers: vec![Vec::new(); servers] }
    }

    /// Writes down one task of `user` on `server`.
    pub fn add(&mut self, server: u32, user: u32) {
        if self.entries.len() == BATCH {
            self.sort_batch();
        }
        self.entries.push((server, user));
    }

    /// Writes down so many tasks of `user` on `server`.
    pub fn add_many(&mut self, server: u32, user: u32, count: u64) {
        self.many.push((server, user, count));
    }

    /// The tasks on each server.
    pub fn finish(mut self) -> Vec<ServerTasks> {
        self.sort_batch();
        self.many.sort_unstable();
        for of_server in self.many.chunk_by(|a, b| a.0 == b.0) {
            let counts = of_server.iter().map(|(_, user, count)| (*user, *count));
            merge(&mut self.servers[of_server[0].0 as usize], counts);
        }
        self.servers
    }

    /// Moves the entries to their servers: a counting sort by server, then each server's users.
    fn sort_batch(&mut self) {
        let mut ends = vec![0usize; self.servers.len()];
        self.entries.iter().for_each(|(server, _)| ends[*server as usize] += 1);
        let mut start = 0;
        for end in &mut ends {
            // The place of the server's first entry, which moves to behind its last one below.
            (*end, start) = (start, start + *end);
        }
        let mut users = vec![0u32; self.entries.len()];
        for (server, user) in self.entries.drain(..) {
            let place = &mut ends[server as usize];
            users[*place] = user;
            *place += 1;
        }
        let mut start = 0;
        for (tasks, end) in self.servers.iter_mut().zip(ends) {
            let users = &mut users[start..end];
            start = end;
            users.sort_unstable();
            merge(tasks, users.chunk_by(|a, b| a == b).map(|run| (run[0], run.len() as u64)));
        }
    }
}

/// Counts tasks of users, which are in order, into the tasks of a server.
fn merge(tasks: &mut ServerTasks, counts: impl Iterator<Item = (u32, u64)> + Clone) {
    if tasks.is_empty() {
        tasks.reserve_exact(counts.clone().count());
    }
    tasks.extend(counts);
    tasks.sort_by_key(|(user, _)| *user);
    tasks.dedup_by(|(user, count), (kept, sum)| {
        let same = user == kept;
        if same {
            *sum += *count;
        }
        same
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn several_batches_make_one_list_a_server() {
        let mut journal = Journal::new(3);
        for (server, user) in [(2, 5), (0, 1), (2, 4), (2, 5)] {
            journal.add(server, user);
        }
        journal.sort_batch();
        for (server, user) in [(2, 4), (2, 0), (2, 9), (2, 5)] {
            journal.add(server, user);
        }
        journal.add_many(1, 7, 10_000_000_000);
        journal.add_many(2, 4, 3);
        journal.add_many(1, 7, 1);
        assert_eq!(
            journal.finish(),
            [vec![(1, 1)], vec![(7, 10_000_000_001)], vec![(0, 1), (4, 5), (5, 3), (9, 1)]]
        );
    }
}
