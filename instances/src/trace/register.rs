//! What a trace has named so far, and the rules every next event must keep.

use super::rules::{Domains, check_rules, rules_named, under_rules};
use super::{
    Event, EventKind, JobNumber, LATEST, MOST_DECIMAL_PLACES, NewTasks, RulesNumber, ServerNumber,
    ShapeNumber, Shapes, Submission, TraceHeader, TraceResource, UserNumber,
};
use crate::model::MOST_DEVICES;
use crate::{Decimal, IdTable, Violation};
use std::collections::HashMap;

/// Most servers that a header can describe by classes.
const MOST_SERVERS: u64 = 10_000_000;

/// Most resources of a trace, as of an instance.
pub(crate) const MOST_RESOURCES: usize = 1000;

/// A job of which more tasks are to come.
#[derive(Clone, Copy)]
struct OpenJob {
    number: JobNumber,
    user: UserNumber,
}

/// Names and amounts of a trace by number. It makes events of what a file or a generator says, in the trace's order, and
/// refuses what breaks a rule.
#[derive(Clone)]
pub struct Register {
    header: TraceHeader,
    servers: IdTable,
    /// The capacity of each server that is there.
    capacities: Vec<Option<ShapeNumber>>,
    initial_servers: Vec<ShapeNumber>,
    users: IdTable,
    shapes: Shapes,
    /// The size of one device of each resource in units, 0 where it has none; and the devices of each server when it came first.
    devices: Vec<u64>,
    devices_of: Vec<Vec<u64>>,
    domains: Domains,
    jobs: u32,
    open_jobs: HashMap<String, OpenJob>,
    /// Time and rank of the last event.
    latest: (u64, u8),
    units: Vec<u64>,
}

impl Register {
    /// Starts with what the header names.
    ///
    /// # Errors
    /// Resources without or of the same name, too many decimal places, classes or users that are named twice, an amount
    /// that does not fit the decimal places, servers with a part of a device, more servers than can be numbered.
    pub fn new(header: TraceHeader) -> Result<Self, Violation> {
        check_resources(&header)?;
        let devices = device_sizes(&header)?;
        check_rules(&header, &devices)?;
        let mut register = Self {
            servers: IdTable::default(),
            capacities: Vec::new(),
            initial_servers: Vec::new(),
            users: IdTable::default(),
            shapes: Shapes::new(header.resources.len()),
            devices,
            devices_of: Vec::new(),
            domains: Domains::new(&header),
            jobs: 0,
            open_jobs: HashMap::new(),
            latest: (0, 0),
            units: Vec::new(),
            header,
        };
        register.name_servers()?;
        register.name_users()?;
        Ok(register)
    }

    fn name_servers(&mut self) -> Result<(), Violation> {
        let mut total = 0u64;
        for (position, class) in self.header.server_classes.iter().enumerate() {
            let place = |field: &str| format!("server_classes[{position}].{field}");
            if class.id.is_empty() {
                return Err(Violation::new(place("id"), "", "a server class needs an id"));
            }
            total = total.saturating_add(class.count);
            if total > MOST_SERVERS {
                let problem = format!("at most {MOST_SERVERS} servers can be simulated");
                return Err(Violation::new(place("count"), class.count, problem));
            }
            self.header.units(&place("capacity"), &class.capacity, &mut self.units)?;
            let devices = self.whole_devices(&place("capacity"), &class.capacity)?;
            let shape = self.shapes.intern(&self.units).ok_or_else(|| too_many(&place("capacity")))?;
            for number in 1..=class.count {
                if self.servers.insert(&format!("{}/{number}", class.id)).is_none() {
                    return Err(Violation::new(place("id"), &class.id, "duplicate id"));
                }
                let server = self.capacities.len();
                self.domains.enter(server, class.domain.as_deref(), || place("domain"))?;
                self.capacities.push(Some(shape));
                self.devices_of.push(devices.clone());
                self.initial_servers.push(shape);
            }
        }
        Ok(())
    }

    fn name_users(&mut self) -> Result<(), Violation> {
        for (position, (id, weight)) in self.header.users.iter().flatten().enumerate() {
            let place = |field: &str| format!("users[{position}].{field}");
            if id.is_empty() {
                return Err(Violation::new(place("id"), "", "a user needs an id"));
            }
            if weight.is_zero() {
                return Err(Violation::new(place("weight"), weight, Violation::ABOVE_ZERO));
            }
            if self.users.insert(id).is_none() {
                return Err(Violation::new(place("id"), id, "duplicate id"));
            }
        }
        Ok(())
    }

    /// What the trace says before its first event.
    pub fn header(&self) -> &TraceHeader {
        &self.header
    }

    /// The servers that are there from the beginning, with their capacities: the first numbers.
    pub fn initial_servers(&self) -> impl ExactSizeIterator<Item = (ServerNumber, ShapeNumber)> + '_ {
        let servers = self.initial_servers.iter().enumerate();
        servers.map(|(number, shape)| (ServerNumber(number as u32), *shape))
    }

    /// Servers named so far, whether they are there or not.
    pub fn servers(&self) -> &IdTable {
        &self.servers
    }

    /// Users named so far.
    pub fn users(&self) -> &IdTable {
        &self.users
    }

    /// The weight of a user.
    pub fn weight(&self, user: UserNumber) -> Decimal {
        let users = self.header.users.as_deref().unwrap_or_default();
        users.get(user.index()).map_or(Decimal::ONE, |(_, weight)| *weight)
    }

    /// Capacities and demands named so far.
    pub fn shapes(&self) -> &Shapes {
        &self.shapes
    }

    /// The size of one device of each resource in units, 0 where it has none; empty where there are no devices.
    pub fn devices(&self) -> &[u64] {
        &self.devices
    }

    /// The number of the domain that a server is in, in the order in which they are named; 0 where it is in none.
    pub fn domain_of(&self, server: ServerNumber) -> usize {
        self.domains.of(server.index()).unwrap_or(0)
    }

    /// What that is called.
    pub fn domain_name(&self, server: ServerNumber) -> Option<&str> {
        self.domains.of(server.index()).map(|domain| self.domains.name(domain))
    }

    /// What rules of the header are called.
    pub fn rules_name(&self, rules: Option<RulesNumber>) -> Option<&str> {
        self.header.rules.get(rules?.index()).map(|(name, _)| name.as_str())
    }

    /// A server comes.
    pub fn server_added(&mut self, time: u64, id: &str, capacity: &[Decimal]) -> Result<Event, Violation> {
        self.server_added_in(time, id, capacity, None)
    }

    /// A server comes that is in a domain.
    pub fn server_added_in(
        &mut self,
        time: u64,
        id: &str,
        capacity: &[Decimal],
        domain: Option<&str>,
    ) -> Result<Event, Violation> {
        if id.is_empty() {
            return Err(Violation::new("server", "", "a server needs an id"));
        }
        let server = match self.servers.insert(id) {
            Some(new) => {
                self.capacities.push(None);
                new
            }
            None => self.servers.position(id).unwrap_or_default(),
        };
        if self.capacities[server].is_some() {
            return Err(Violation::new("server", id, "is there already"));
        }
        self.domains.enter(server, domain, || "domain".into())?;
        let capacity = self.capacity(server, capacity)?;
        self.next(time, EventKind::ServerAdded(ServerNumber(server as u32), capacity))
    }

    /// A server has another capacity.
    pub fn server_changed(&mut self, time: u64, id: &str, capacity: &[Decimal]) -> Result<Event, Violation> {
        let server = self.present(id)?;
        let capacity = self.capacity(server, capacity)?;
        self.next(time, EventKind::ServerChanged(ServerNumber(server as u32), capacity))
    }

    /// A server leaves.
    pub fn server_removed(&mut self, time: u64, id: &str) -> Result<Event, Violation> {
        let server = self.present(id)?;
        self.capacities[server] = None;
        self.next(time, EventKind::ServerRemoved(ServerNumber(server as u32)))
    }

    /// Tasks are submitted.
    pub fn submitted(&mut self, time: u64, tasks: NewTasks<'_>) -> Result<Event, Violation> {
        if tasks.job.is_empty() {
            return Err(Violation::new("job", "", "a job needs an id"));
        }
        if tasks.count == 0 {
            return Err(Violation::new("count", 0, "must be at least 1"));
        }
        if !(1..=LATEST).contains(&tasks.duration) {
            return Err(Violation::new("duration", "", "must be > 0 and less than 4e12 seconds"));
        }
        let rules = tasks.rules.map(|name| rules_named(&self.header, name)).transpose()?;
        let demand_of_one = under_rules(&self.header, rules, &tasks)?;
        let user = self.user(tasks.user)?;
        let demand = self.shape("demand", &demand_of_one)?;
        if self.units.iter().all(|units| *units == 0) {
            return Err(Violation::new("demand", "", "a task must need some resource"));
        }
        self.on_devices(&demand_of_one)?;
        let open = self.open_jobs.get(tasks.job).copied();
        if let Some(open) = open
            && open.user != user
        {
            let problem = format!("the job {} is of user {}", tasks.job, self.users.get(open.user.index()));
            return Err(Violation::new("user", tasks.user, problem));
        }
        let job = match open {
            Some(open) => open.number,
            None => {
                let number = JobNumber(self.jobs);
                self.jobs = self.jobs.checked_add(1).ok_or_else(|| too_many("job"))?;
                number
            }
        };
        match (open, tasks.more) {
            (None, true) => {
                self.open_jobs.insert(tasks.job.to_owned(), OpenJob { number: job, user });
            }
            (Some(_), false) => {
                self.open_jobs.remove(tasks.job);
            }
            _ => {}
        }
        let (count, duration) = (tasks.count, tasks.duration);
        let (first, last) = (open.is_none(), !tasks.more);
        let submission = Submission { user, job, demand, count, duration, rules, first, last };
        self.next(time, EventKind::Submitted(submission))
    }

    /// Checks what can only be seen at the end.
    ///
    /// # Errors
    /// A job of which more tasks were announced than came.
    pub fn finish(&self) -> Result<(), Violation> {
        match self.open_jobs.iter().min_by_key(|(_, job)| job.number) {
            None => Ok(()),
            Some((id, _)) => {
                let problem = "its last tasks announce more; the trace is cut off, or `more` is wrong";
                Err(Violation::new("job", id, problem))
            }
        }
    }

    /// `kind` as the event that comes next.
    fn next(&mut self, time: u64, kind: EventKind) -> Result<Event, Violation> {
        let (latest, rank) = self.latest;
        if time > LATEST {
            return Err(Violation::new("time", "", "must be less than 4e12 seconds"));
        }
        if time < latest {
            let problem = format!("comes after {}; events must be sorted by time", seconds(latest));
            return Err(Violation::new("time", seconds(time), problem));
        }
        if time == latest && kind.rank() < rank {
            let problem = "at one time, servers are removed, then added, then changed, then tasks submitted";
            return Err(Violation::new("event", "", problem));
        }
        self.latest = (time, kind.rank());
        Ok(Event { time, kind })
    }

    fn present(&self, id: &str) -> Result<usize, Violation> {
        let known = self.servers.position(id);
        known
            .filter(|&server| self.capacities[server].is_some())
            .ok_or_else(|| Violation::new("server", id, "there is no such server at this time"))
    }

    fn user(&mut self, id: &str) -> Result<UserNumber, Violation> {
        if let Some(known) = self.users.position(id) {
            return Ok(UserNumber(known as u32));
        }
        if id.is_empty() {
            return Err(Violation::new("user", "", "a user needs an id"));
        }
        if self.header.users.is_some() {
            return Err(Violation::new("user", id, "the header's users have no such id"));
        }
        let new = self.users.insert(id).ok_or_else(|| too_many("user"))?;
        Ok(UserNumber(new as u32))
    }

    /// What a server has from now on.
    fn capacity(&mut self, server: usize, capacity: &[Decimal]) -> Result<ShapeNumber, Violation> {
        let shape = self.shape("capacity", capacity)?;
        let devices = self.whole_devices("capacity", capacity)?;
        match self.devices_of.get(server) {
            None => self.devices_of.push(devices),
            Some(before) => {
                if let Some(r) = (0..devices.len()).find(|r| before[*r] != devices[*r]) {
                    let problem = format!(
                        "the server had {} devices, and tasks keep those that they are on; give one with other devices another name",
                        before[r]
                    );
                    let place = format!("capacity.{}", self.header.resources[r].name);
                    return Err(Violation::new(place, capacity[r], problem));
                }
            }
        }
        self.capacities[server] = Some(shape);
        Ok(shape)
    }

    /// How many devices of each resource the capacity in `self.units` is.
    fn whole_devices(&self, field: &str, capacity: &[Decimal]) -> Result<Vec<u64>, Violation> {
        let sizes = self.devices.iter().zip(&self.units).enumerate();
        let count = |(r, (size, units)): (usize, (&u64, &u64))| {
            let count = units.checked_div(*size).unwrap_or(0);
            if *size == 0 || units.is_multiple_of(*size) && count <= MOST_DEVICES {
                return Ok(count);
            }
            let resource = &self.header.resources[r];
            let problem = format!(
                "a server has whole devices, of {} each and at most {MOST_DEVICES}",
                resource.amount(*size)
            );
            Err(Violation::new(format!("{field}.{}", resource.name), capacity[r], problem))
        };
        sizes.map(count).collect()
    }

    /// Refuses the demand in `self.units` where it is neither a part of a device nor whole ones.
    fn on_devices(&self, demand: &[Decimal]) -> Result<(), Violation> {
        let is_neither = |size: u64, units: u64| size > 0 && units > size && !units.is_multiple_of(size);
        let mut sizes = self.devices.iter().zip(&self.units);
        let Some(r) = sizes.position(|(size, units)| is_neither(*size, *units)) else { return Ok(()) };
        let resource = &self.header.resources[r];
        let problem = format!(
            "a task takes a part of one device or whole ones, and a device has {}; round it to a whole number of devices",
            resource.amount(self.devices[r])
        );
        Err(Violation::new(format!("demand.{}", resource.name), demand[r], problem))
    }

    /// The shape of `amounts`, whose units stay in `self.units`.
    fn shape(&mut self, field: &str, amounts: &[Decimal]) -> Result<ShapeNumber, Violation> {
        self.header.units(field, amounts, &mut self.units)?;
        self.shapes.intern(&self.units).ok_or_else(|| too_many(field))
    }
}

fn too_many(place: &str) -> Violation {
    Violation::new(place, "", "there are more different ones than can be numbered")
}

/// Microseconds in seconds, for a message.
fn seconds(time: u64) -> String {
    Decimal::new(time, -6).map(|time| time.to_string()).unwrap_or_default()
}

/// The size of one device of each resource in units, 0 where it has none; empty where there are no devices.
fn device_sizes(header: &TraceHeader) -> Result<Vec<u64>, Violation> {
    if header.resources.iter().all(|resource| resource.device.is_none()) {
        return Ok(Vec::new());
    }
    let size = |resource: &TraceResource| {
        let Some(device) = resource.device else { return Ok(0) };
        let refused = |problem: String| Violation::new(format!("devices.{}", resource.name), device, problem);
        match resource.units(device).map_err(refused)? {
            0 => Err(refused("a device has more than nothing".into())),
            units => Ok(units),
        }
    };
    header.resources.iter().map(size).collect()
}

fn check_resources(header: &TraceHeader) -> Result<(), Violation> {
    if header.resources.is_empty() {
        return Err(Violation::new("resources", "", "name at least one resource"));
    }
    if header.resources.len() > MOST_RESOURCES {
        let problem = format!("at most {MOST_RESOURCES} are supported");
        return Err(Violation::new("resources", format!("{} names", header.resources.len()), problem));
    }
    for (position, resource) in header.resources.iter().enumerate() {
        let place = format!("resources[{position}]");
        if resource.name.is_empty() {
            return Err(Violation::new(place, "", "a resource needs a name"));
        }
        if header.resources[..position].iter().any(|other| other.name == resource.name) {
            return Err(Violation::new(place, &resource.name, "duplicate resource"));
        }
        if resource.decimal_places > MOST_DECIMAL_PLACES {
            let place = format!("decimal_places.{}", resource.name);
            let problem = format!("at most {MOST_DECIMAL_PLACES} are supported");
            return Err(Violation::new(place, resource.decimal_places, problem));
        }
    }
    Ok(())
}
