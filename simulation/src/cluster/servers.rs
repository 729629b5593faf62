//! The servers of a cluster while they come, change and go: what each has, has free, and all have together.

use fairplan_instances::{Decimal, DeviceProfiles, Gang, ServerChoice, ServerRule, TaskRules};

/// Servers by number, and the rule that chooses among them.
pub(super) struct Servers {
    width: usize,
    /// `coefficient · 10^power` times its capacity is what a server gives to tasks.
    over_commit: (u128, i8),
    choice: Box<dyn ServerChoice>,
    /// What each server has, nothing if it is not there; row-major `servers × width`.
    capacity: Vec<u64>,
    /// What tasks may still take.
    free: Vec<u64>,
    /// What all servers have of each resource.
    totals: Vec<u128>,
    /// What all tasks hold of each resource.
    used: Vec<u128>,
    /// Servers on which room has come free.
    released: Vec<u32>,
    /// Changes with the capacities.
    version: u64,
}

impl Servers {
    /// `initial` are the capacities of the servers that are there from the beginning, by which `choice` may measure.
    pub fn new(width: usize, over_commit: Decimal, initial: &[u64], choice: &ServerRule<'_>) -> Self {
        let over_commit =
            (over_commit.scaled(over_commit.exponent()).unwrap_or_default(), over_commit.exponent());
        let (mut totals, mut largest) = (vec![0u128; width], vec![0u128; width]);
        for row in initial.chunks_exact(width) {
            for (r, amount) in over_committed(over_commit, row).enumerate() {
                totals[r] += u128::from(amount);
                largest[r] = largest[r].max(amount.into());
            }
        }
        Self {
            width,
            over_commit,
            choice: choice(&totals, &largest),
            capacity: Vec::new(),
            free: Vec::new(),
            totals: vec![0; width],
            used: vec![0; width],
            released: Vec::new(),
            version: 0,
        }
    }

    /// How many servers have been there.
    pub fn len(&self) -> usize {
        self.capacity.len() / self.width
    }

    /// What all servers have of each resource.
    pub fn totals(&self) -> &[u128] {
        &self.totals
    }

    /// What all tasks hold of each resource.
    pub fn used(&self) -> &[u128] {
        &self.used
    }

    /// Changes whenever a capacity does.
    pub fn version(&self) -> u64 {
        self.version
    }

    fn row(&self, server: usize) -> std::ops::Range<usize> {
        server * self.width..(server + 1) * self.width
    }

    /// What tasks may still take of a server.
    pub fn free(&self, server: u32) -> &[u64] {
        &self.free[self.row(server as usize)]
    }

    /// What each server that gives anything to tasks gives when it is empty.
    pub fn given(&self) -> impl Iterator<Item = Vec<u64>> + '_ {
        let rows = self.capacity.chunks_exact(self.width);
        let given = rows.map(|row| over_committed(self.over_commit, row).collect::<Vec<u64>>());
        given.filter(|row| row.iter().any(|amount| *amount > 0))
    }

    /// The resources of which more than half is on servers with less of them free than `tasks` tasks that wait, which need
    /// `needed` together, need on average.
    pub fn bottlenecks(&self, needed: &[u128], tasks: u64) -> Vec<usize> {
        let mut short = vec![0u128; self.width];
        for (capacity, free) in self.capacity.chunks_exact(self.width).zip(self.free.chunks_exact(self.width))
        {
            for r in 0..self.width {
                if u128::from(free[r]) * u128::from(tasks) < needed[r] {
                    short[r] += u128::from(capacity[r]);
                }
            }
        }
        (0..self.width).filter(|r| 2 * short[*r] > self.totals[*r]).collect()
    }

    /// What each server has, nothing if it is not there.
    pub fn capacities(&self) -> impl Iterator<Item = &[u64]> {
        self.capacity.chunks_exact(self.width)
    }

    /// Adds the next server, in the domain of this number.
    pub fn add(&mut self, capacity: &[u64], domain: usize) {
        let given: Vec<u64> = over_committed(self.over_commit, capacity).collect();
        self.choice.add_server_in(&wide(&given), domain);
        self.released.push(self.len() as u32);
        self.capacity.extend_from_slice(capacity);
        self.free.extend(given);
        self.totals.iter_mut().zip(capacity).for_each(|(total, amount)| *total += u128::from(*amount));
        self.version += 1;
    }

    /// Gives a server another capacity, unless its tasks have no room in it.
    pub fn resize(&mut self, server: u32, capacity: &[u64]) -> bool {
        let row = self.row(server as usize);
        let old = &mut self.capacity[row.clone()];
        let from: Vec<u64> = over_committed(self.over_commit, old).collect();
        let to: Vec<u64> = over_committed(self.over_commit, capacity).collect();
        let free = &mut self.free[row];
        let left = free.iter().zip(&from).zip(&to).map(|((free, from), to)| to.checked_sub(from - free));
        let Some(left) = left.collect::<Option<Vec<u64>>>() else { return false };
        if !self.choice.resize(server as usize, &wide(&from), &wide(&to)) {
            return false;
        }
        free.copy_from_slice(&left);
        for ((total, old), new) in self.totals.iter_mut().zip(&mut *old).zip(capacity) {
            *total = *total - u128::from(*old) + u128::from(*new);
            *old = *new;
        }
        self.released.push(server);
        self.version += 1;
        true
    }

    /// Says into what devices can be cut, before any server comes.
    pub fn cut_devices(&mut self, profiles: &[DeviceProfiles]) {
        self.choice.cut_devices(profiles);
    }

    /// Adds a kind of tasks.
    pub fn add_shape(&mut self, demand: &[u64], rules: TaskRules) {
        self.choice.add_shape_under(&wide(demand), rules);
    }

    /// Takes room for a gang where the rule chooses, if there is any for all of it: of each task the server, and which of its devices.
    pub fn take_gang(&mut self, shape: u32, demand: &[u64], gang: Gang, on: &mut Vec<(u32, u32)>) {
        let mut placed = Vec::new();
        self.choice.take_gang(shape as usize, gang, &mut placed);
        for (server, devices) in placed {
            self.count(server as u32, demand);
            on.push((server as u32, devices));
        }
    }

    /// Takes room for a task where the rule chooses, if there is any: the server, and which of its devices. `among` are the only servers
    /// that may have room, if that is known.
    pub fn take(&mut self, shape: u32, demand: &[u64], among: Option<&[u32]>) -> Option<(u32, u32)> {
        let with_room: Option<[Option<u32>; 2]> = among.map(|among| {
            let mut with_room = among.iter().copied().filter(|server| fits(demand, self.free(*server)));
            [with_room.next(), with_room.next()]
        });
        let server = match with_room {
            Some([None, _]) => return None,
            Some(_) if self.choice.decides_alone() => self.choice.take(shape as usize)? as u32,
            Some([Some(only), None]) => self.choice.take_on(only as usize, shape as usize).then_some(only)?,
            _ => self.choice.take(shape as usize)? as u32,
        };
        self.count(server, demand);
        Some((server, self.choice.devices_taken()))
    }

    /// Takes room for a task that runs on a server already, unless there is none: which of its devices.
    pub fn hold(&mut self, server: u32, shape: u32, demand: &[u64]) -> Option<u32> {
        let has_room = (server as usize) < self.len()
            && fits(demand, self.free(server))
            && self.choice.hold(server as usize, shape as usize);
        has_room.then(|| {
            self.count(server, demand);
            self.choice.devices_taken()
        })
    }

    /// Counts a task as on a server.
    fn count(&mut self, server: u32, demand: &[u64]) {
        let free = &mut self.free[server as usize * self.width..];
        for ((free, used), demand) in free.iter_mut().zip(&mut self.used).zip(demand) {
            *free -= demand;
            *used += u128::from(*demand);
        }
    }

    /// Gives the room of a task back, which has these devices.
    pub fn release(&mut self, (server, devices): (u32, u32), shape: u32, demand: &[u64]) {
        self.choice.release_from(server as usize, shape as usize, devices);
        let free = &mut self.free[server as usize * self.width..];
        for ((free, used), demand) in free.iter_mut().zip(&mut self.used).zip(demand) {
            *free += demand;
            *used -= u128::from(*demand);
        }
        self.released.push(server);
    }

    /// Moves the servers on which room has come free since this was last asked to `released`.
    pub fn drain_released(&mut self, released: &mut Vec<u32>) {
        released.clear();
        released.append(&mut self.released);
        released.sort_unstable();
        released.dedup();
    }
}

/// What servers of this capacity give to tasks: whole units, rounded down.
fn over_committed((coefficient, power): (u128, i8), capacity: &[u64]) -> impl Iterator<Item = u64> + '_ {
    let ten = 10u128.saturating_pow(u32::from(power.unsigned_abs()));
    capacity.iter().map(move |amount| {
        let product = u128::from(*amount) * coefficient;
        let amount = if power < 0 { product / ten } else { product.saturating_mul(ten) };
        u64::try_from(amount).unwrap_or(u64::MAX)
    })
}

fn wide(amounts: &[u64]) -> Vec<u128> {
    amounts.iter().map(|amount| u128::from(*amount)).collect()
}

/// Whether a task of `demand` has room in `free`.
pub(super) fn fits(demand: &[u64], free: &[u64]) -> bool {
    demand.iter().zip(free).all(|(demand, free)| demand <= free)
}
