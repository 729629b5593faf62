//! What single servers are called: by the names of their class, or `CLASS/1`, `CLASS/2`, … where it has none.

use super::{ClassId, Instance, ServerClass};
use crate::violation::Violation;
use std::borrow::Cow;
use std::collections::HashMap;

/// The names of all servers of an instance. Servers are counted from 0: all of the first class, then of the second, and so on.
pub struct ServerNames<'a> {
    classes: &'a [ServerClass],
    class_positions: &'a HashMap<String, usize>,
    /// The first server of each class.
    firsts: Vec<u64>,
    /// Where the servers are that have a name of their own.
    positions: HashMap<&'a str, u64>,
}

impl<'a> ServerNames<'a> {
    /// The servers of `instance`.
    pub fn new(instance: &'a Instance) -> Self {
        let classes = instance.classes();
        let mut firsts = Vec::with_capacity(classes.len());
        let mut positions = HashMap::new();
        let mut first = 0u64;
        for class in classes {
            firsts.push(first);
            positions.extend((first..).zip(&class.names).map(|(server, name)| (name.as_str(), server)));
            first = first.saturating_add(class.count);
        }
        Self { classes, class_positions: &instance.class_positions, firsts, positions }
    }

    /// Whether any server has a name of its own.
    pub fn are_given(&self) -> bool {
        !self.positions.is_empty()
    }

    /// The class of a server.
    pub fn class(&self, server: u64) -> ClassId {
        let after = self.firsts.partition_point(|first| *first <= server);
        ClassId(after.saturating_sub(1))
    }

    /// What a server is called.
    pub fn name(&self, server: u64) -> Cow<'a, str> {
        let ClassId(class) = self.class(server);
        let within = server - self.firsts[class];
        match self.classes[class].names.get(within as usize) {
            Some(name) => Cow::Borrowed(name),
            None => Cow::Owned(format!("{}/{}", self.classes[class].id, within + 1)),
        }
    }

    /// The server that is called so.
    pub fn position(&self, name: &str) -> Option<u64> {
        self.positions.get(name).copied().or_else(|| {
            let (class, number) = unnamed(name, self.classes, self.class_positions)?;
            Some(self.firsts[class] + number - 1)
        })
    }
}

/// The server without a name of its own that is called so: its class, and its number from 1.
fn unnamed(
    name: &str,
    classes: &[ServerClass],
    class_positions: &HashMap<String, usize>,
) -> Option<(usize, u64)> {
    let (class, number) = name.rsplit_once('/')?;
    let class = *class_positions.get(class)?;
    let is_plain = !number.starts_with(['0', '+']);
    let number: u64 = number.parse().ok().filter(|_| is_plain)?;
    (classes[class].names.is_empty() && number <= classes[class].count).then_some((class, number))
}

/// Refuses names that are not one a server, and not each server's own.
pub(super) fn check(
    classes: &[ServerClass],
    class_positions: &HashMap<String, usize>,
) -> Result<(), Violation> {
    let mut taken: HashMap<&str, (usize, usize)> = HashMap::new();
    for (l, class) in classes.iter().enumerate().filter(|(_, class)| !class.names.is_empty()) {
        if class.names.len() as u64 != class.count {
            let problem = format!("the class has {} servers: name each of them, or none", class.count);
            let names = format!("{} names", class.names.len());
            return Err(Violation::new(format!("server_classes[{l}].names"), names, problem));
        }
        for (k, name) in class.names.iter().enumerate() {
            let place = || format!("server_classes[{l}].names[{k}]");
            if name.is_empty() {
                return Err(Violation::new(place(), "", "a server needs a name"));
            }
            if let Some((other, at)) = taken.insert(name, (l, k)) {
                let problem = format!("is the name of server_classes[{other}].names[{at}] too");
                return Err(Violation::new(place(), name, problem));
            }
            if let Some((other, number)) = unnamed(name, classes, class_positions) {
                let problem = format!("is what server {number} of class {} is called", classes[other].id);
                return Err(Violation::new(place(), name, problem));
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Draft, generate};

    fn named(names: [&[&str]; 2]) -> Result<Instance, Violation> {
        let mut draft = Draft::from(&generate::drfh_fig1()?);
        for (class, names) in draft.classes.iter_mut().zip(names) {
            class.set_count(2);
            class.names = names.iter().map(|name| (*name).to_owned()).collect();
        }
        draft.build()
    }

    #[test]
    fn servers_are_found_by_the_names_they_are_called() {
        let instance = named([&["n1", "n2"], &[]]).unwrap();
        let names = ServerNames::new(&instance);
        let second = &instance.classes()[1].id;
        let called: Vec<String> = (0..4).map(|server| names.name(server).into_owned()).collect();
        assert_eq!(called, ["n1".to_owned(), "n2".into(), format!("{second}/1"), format!("{second}/2")]);
        for (server, name) in called.iter().enumerate() {
            assert_eq!(names.position(name), Some(server as u64));
            assert_eq!(names.class(server as u64), ClassId(server / 2));
        }
        let first = &instance.classes()[0].id;
        for unknown in ["n3", &format!("{first}/1"), &format!("{second}/3"), &format!("{second}/01"), "/", ""]
        {
            assert_eq!(names.position(unknown), None, "{unknown}");
        }
    }

    #[test]
    fn names_that_are_too_few_empty_or_taken_are_refused() {
        let message = |names| named(names).err().unwrap().to_string();
        assert_eq!(
            message([&["n1"], &[]]),
            "server_classes[0].names = 1 names: the class has 2 servers: name each of them, or none"
        );
        assert_eq!(message([&["n1", ""], &[]]), "server_classes[0].names[1]: a server needs a name");
        assert_eq!(
            message([&["n1", "n2"], &["n3", "n1"]]),
            "server_classes[1].names[1] = n1: is the name of server_classes[0].names[0] too"
        );
        let second = generate::drfh_fig1().unwrap().classes()[1].id.clone();
        let message = message([&["n1", &format!("{second}/2")], &[]]);
        assert!(message.ends_with(&format!("is what server 2 of class {second} is called")), "{message}");
    }

    #[test]
    fn a_class_of_another_size_has_no_names() {
        let mut class = named([&["n1", "n2"], &[]]).unwrap().classes()[0].clone();
        class.set_count(2);
        assert_eq!(class.names.len(), 2);
        class.set_count(3);
        assert!(class.names.is_empty());
    }
}
