//! Servers that nothing tells apart become a class, named after what one is and holds.

use fairplan_instances::{Decimal, InstanceBuilder, ServerClass, Violation, wording};
use hashbrown::HashMap;
use std::cmp::Reverse;

/// How the amounts of memory and storage are counted.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Memory {
    Bytes,
    Mebibytes,
}

/// One server.
#[derive(Default)]
pub(super) struct Server {
    pub(super) name: String,
    /// What it is beside what it holds, such as the model of its GPUs: servers of two kinds are two classes.
    pub(super) kind: String,
    /// What a class is called in which all servers with this label are; nothing where they are called by what they hold.
    pub(super) label: String,
    pub(super) capacity: Vec<Decimal>,
    /// The zone that it is in, where that matters to somebody: then of all servers.
    pub(super) domain: Option<String>,
    /// Of each condition that tasks put on servers, whether this one meets it.
    pub(super) meets: Vec<bool>,
    /// The resources, by position, that a task must ask for to run here, whatever it meets.
    pub(super) needs: Vec<usize>,
}

impl Server {
    /// Whether tasks may run here that ask for the resources of which this is true.
    pub(super) fn lets_in(&self, asks_for: impl Fn(usize) -> bool) -> bool {
        self.needs.iter().all(|r| asks_for(*r))
    }
}

/// A server class with one of its servers.
pub(super) struct Class<'a> {
    pub(super) id: String,
    pub(super) server: &'a Server,
    /// The positions of all of them.
    pub(super) members: Vec<usize>,
}

impl<'a> Class<'a> {
    /// One of its servers, which are alike.
    pub(super) fn server(&self) -> &'a Server {
        self.server
    }
}

/// Adds servers that nothing tells apart as classes, by descending count, then in the order of their first server; a
/// class of one server has its name, others are named after what one is and holds: `T4-cpu96-memory384Gi-gpu2`.
pub(super) fn add_classes<'a>(
    builder: &mut InstanceBuilder,
    servers: &'a [Server],
    memory: Memory,
) -> Result<Vec<Class<'a>>, Violation> {
    add_named_classes(builder, servers, memory, false)
}

/// The same, where `named` with the names of their servers.
pub(super) fn add_named_classes<'a>(
    builder: &mut InstanceBuilder,
    servers: &'a [Server],
    memory: Memory,
    named: bool,
) -> Result<Vec<Class<'a>>, Violation> {
    let mut position: HashMap<_, usize> = HashMap::new();
    let mut alike: Vec<(&Server, Vec<usize>)> = Vec::new();
    for (at, server) in servers.iter().enumerate() {
        let alone = (&server.kind, &server.capacity, &server.domain, &server.meets, &server.needs);
        let class = *position.entry(alone).or_insert_with(|| {
            alike.push((server, Vec::new()));
            alike.len() - 1
        });
        alike[class].1.push(at);
    }
    alike.sort_by_key(|(_, members)| Reverse(members.len()));
    let mut names = Names::default();
    let mut of_label: HashMap<&str, usize> = HashMap::new();
    for (server, _) in &alike {
        *of_label.entry(&server.label).or_default() += 1;
    }
    let mut classes = Vec::with_capacity(alike.len());
    for (server, members) in alike {
        let count = members.len() as u64;
        let holds = shape(builder.resources(), &server.capacity, memory);
        let wanted = match server.kind.as_str() {
            _ if !server.label.is_empty() && of_label[server.label.as_str()] == 1 => server.label.clone(),
            _ if count == 1 => server.name.clone(),
            "" => holds,
            kind => format!("{kind}-{holds}"),
        };
        let id = names.unique(wanted);
        let mut class = ServerClass::new(id.clone(), count, server.capacity.clone());
        class.domain.clone_from(&server.domain);
        if named {
            class.names = members.iter().map(|member| servers[*member].name.clone()).collect();
        }
        builder.class(class)?;
        classes.push(Class { id, server, members });
    }
    Ok(classes)
}

/// What one server holds or one task needs, for people: `cpu4-memory15.5Gi`. Memory and storage are shortened.
pub(super) fn shape(resources: &[String], amounts: &[Decimal], memory: Memory) -> String {
    let parts = resources.iter().zip(amounts).filter(|(_, amount)| !amount.is_zero());
    let parts: Vec<String> = parts
        .map(|(name, amount)| match memory.unit_of(name) {
            Some(power) => format!("{name}{}", short(*amount, power)),
            // Slurm counts bytes of `tmp` as it counts GPUs.
            None if is_of_bytes(*amount) => format!("{name}{}", short(*amount, 0)),
            None => format!("{name}{amount}"),
        })
        .collect();
    parts.join("-")
}

/// Whether an amount that nobody would count to is a round number of bytes.
fn is_of_bytes(amount: Decimal) -> bool {
    let mebibytes = amount.to_f64() / 2f64.powi(20);
    mebibytes >= 1.0 && mebibytes.fract() == 0.0
}

impl Memory {
    /// Of how many bytes, as a power of two, amounts of this resource are counted; `None` for what is no memory.
    fn unit_of(self, resource: &str) -> Option<u32> {
        let is_memory = ["memory", "storage", "ephemeral-storage"].contains(&resource)
            || resource.starts_with("hugepages-");
        is_memory.then_some(match self {
            Self::Bytes => 0,
            Self::Mebibytes => 20,
        })
    }
}

/// So many units of `2^power` bytes, with one decimal of the largest unit that they reach.
fn short(amount: Decimal, power: u32) -> String {
    let bytes = amount.to_f64() * 2f64.powi(power as i32);
    match wording::in_binary_units(bytes) {
        Some((count, unit)) => format!("{}{unit}", (count * 10.0).round() / 10.0),
        None => bytes.to_string(),
    }
}

/// Gives each thing a name of its own: what is named like an earlier one gets a number.
#[derive(Default)]
pub(super) struct Names(HashMap<String, u64>);

impl Names {
    pub(super) fn unique(&mut self, wanted: String) -> String {
        let mut name = wanted.clone();
        while self.0.contains_key(&name) {
            let again = self.0.get_mut(&wanted).map_or(2, |times| {
                *times += 1;
                *times
            });
            name = format!("{wanted}#{again}");
        }
        self.0.insert(name.clone(), 1);
        name
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decimal(text: &str) -> Decimal {
        text.parse().unwrap()
    }

    #[test]
    fn names_of_classes_say_the_kind_and_memory_in_its_own_unit() {
        let resources = ["cpu", "memory"].map(str::to_owned);
        let amounts = [decimal("96"), decimal("1048576")];
        assert_eq!(shape(&resources, &amounts, Memory::Mebibytes), "cpu96-memory1Ti");
        assert_eq!(shape(&resources, &amounts, Memory::Bytes), "cpu96-memory1Mi");
        assert_eq!(
            shape(&resources, &[decimal("2000000"), decimal("0.5")], Memory::Mebibytes),
            "cpu2000000-memory512Ki"
        );

        let server = |name: &str, kind: &str| Server {
            name: name.into(),
            kind: kind.into(),
            capacity: vec![decimal("4"), decimal("0")],
            meets: vec![true, true],
            ..Server::default()
        };
        let servers =
            [server("a", "T4"), server("b", "T4"), server("c", "G2"), server("d", "G2"), server("e", "")];
        let mut builder = InstanceBuilder::new("", vec!["cpu".into(), "gpu".into()]).unwrap();
        let classes = add_classes(&mut builder, &servers, Memory::Bytes).unwrap();
        let ids: Vec<&str> = classes.iter().map(|class| class.id.as_str()).collect();
        assert_eq!(ids, ["T4-cpu4", "G2-cpu4", "e"]);
    }

    #[test]
    fn names_that_occur_again_are_numbered() {
        let mut names = Names::default();
        let given: Vec<_> = ["a", "a", "a#2", "a"].map(|name| names.unique(name.into())).into();
        assert_eq!(given, ["a", "a#2", "a#2#2", "a#3"]);
    }
}
