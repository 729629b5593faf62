//! Servers that fail together.

use fairplan_instances::{ClassId, Instance, ServerClass, Violation, is_like};
use std::collections::HashSet;

/// Servers that fail together: all of a rack, a zone, a model, or one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// What it is called in results.
    pub name: String,
    /// How many servers of which classes fail, rising by class.
    pub servers: Vec<(ClassId, u64)>,
}

impl Failure {
    /// For each class one in which so many of its servers fail, or all where there are fewer or no number is stated.
    pub fn of_each_class(instance: &Instance, servers: Option<u64>) -> Vec<Self> {
        let present = instance.classes().iter().enumerate().filter(|(_, class)| class.count > 0);
        present
            .map(|(l, class)| {
                let failing = servers.map_or(class.count, |servers| servers.min(class.count));
                Self { name: class.id.clone(), servers: vec![(ClassId(l), failing)] }
            })
            .collect()
    }

    /// All servers whose name, or whose class's id, is like this pattern, in which `*` stands for any letters and `?` for one. A server
    /// without a name of its own is called as in placements: `CLASS/1` is the first of its class.
    ///
    /// # Errors
    /// If there are none.
    pub fn of_those_like(instance: &Instance, pattern: &str) -> Result<Self, Violation> {
        let failing = |class: &ServerClass| match is_like(&class.id, pattern) {
            true => class.count,
            false if class.names.is_empty() => numbered(class, pattern),
            false => class.names.iter().filter(|name| is_like(name, pattern)).count() as u64,
        };
        let classes = instance.classes().iter().enumerate();
        let servers: Vec<(ClassId, u64)> =
            classes.map(|(l, class)| (ClassId(l), failing(class))).filter(|(_, count)| *count > 0).collect();
        if servers.is_empty() {
            let problem = "no server and no class of servers is called so; one without a name of its own is CLASS/1, CLASS/2, …";
            return Err(Violation::new("together", pattern, problem));
        }
        Ok(Self { name: pattern.into(), servers })
    }

    /// All servers with one of these names, if there are any; `name` says what they have in common.
    pub fn of_servers(instance: &Instance, name: &str, names: &HashSet<&str>) -> Option<Self> {
        let classes = instance.classes().iter().enumerate();
        let failing = |class: &fairplan_instances::ServerClass| {
            class.names.iter().filter(|name| names.contains(name.as_str())).count() as u64
        };
        let servers: Vec<(ClassId, u64)> =
            classes.map(|(l, class)| (ClassId(l), failing(class))).filter(|(_, count)| *count > 0).collect();
        (!servers.is_empty()).then(|| Self { name: name.into(), servers })
    }
}

/// How many servers of a class without names of their own are like a pattern. Only where it can be like `CLASS/` are they looked at
/// one by one, since there may be millions.
fn numbered(class: &ServerClass, pattern: &str) -> u64 {
    let begin = pattern.split(['*', '?']).next().unwrap_or_default();
    let name = format!("{}/", class.id);
    if !pattern.contains('/') || !(name.starts_with(begin) || begin.starts_with(&name)) {
        return 0;
    }
    (1..=class.count).filter(|number| is_like(&format!("{name}{number}"), pattern)).count() as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use fairplan_instances::Draft;
    use fairplan_instances::generate::drfh_fig1;

    #[test]
    fn servers_fail_by_their_names_or_their_class() {
        let mut draft = Draft::from(&drfh_fig1().unwrap());
        draft.classes[0].set_count(3);
        draft.classes[0].names = ["b-1", "b-2", "c-1"].map(String::from).into();
        let instance = draft.build().unwrap();
        let of = |pattern| Failure::of_those_like(&instance, pattern).map(|failure| failure.servers);
        assert_eq!(of("b-*"), Ok(vec![(ClassId(0), 2)]));
        assert_eq!(of("d-1").map_err(drop), Err(()));
        assert_eq!(of("*/1"), Ok(vec![(ClassId(1), 1)]), "who has no name is known by its class and number");
        assert_eq!(of("high-*"), Ok(vec![(ClassId(0), 3), (ClassId(1), 1)]));
        assert!(
            of("d-1").unwrap_err().to_string().contains("no server and no class of servers is called so")
        );
        let named = |names: &[&str]| {
            let names = names.iter().copied().collect();
            Failure::of_servers(&instance, "zone=b", &names).map(|failure| failure.servers)
        };
        assert_eq!(named(&["b-2", "c-1", "elsewhere"]), Some(vec![(ClassId(0), 2)]));
        assert_eq!(named(&["elsewhere"]), None);
        let each = Failure::of_each_class(&instance, Some(2));
        assert_eq!(each.iter().map(|failure| failure.servers[0].1).collect::<Vec<_>>(), [2, 1]);
    }
}
