//! Servers that fail together.

use fairplan_instances::{ClassId, Instance, Violation};
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

    /// All servers whose name, or whose class's id, is like this pattern, in which `*` stands for any letters.
    ///
    /// # Errors
    /// If there are none.
    pub fn of_those_like(instance: &Instance, pattern: &str) -> Result<Self, Violation> {
        let failing = |class: &fairplan_instances::ServerClass| match is_like(&class.id, pattern) {
            true => class.count,
            false => class.names.iter().filter(|name| is_like(name, pattern)).count() as u64,
        };
        let classes = instance.classes().iter().enumerate();
        let servers: Vec<(ClassId, u64)> =
            classes.map(|(l, class)| (ClassId(l), failing(class))).filter(|(_, count)| *count > 0).collect();
        if servers.is_empty() {
            let named = instance.classes().iter().any(|class| !class.names.is_empty());
            let problem = match named {
                true => "no server and no class of servers is called so",
                false => "no class of servers is called so, and the servers have no names of their own",
            };
            return Err(Violation::new("together", pattern, problem));
        }
        Ok(Self { name: pattern.into(), servers })
    }

    /// All servers with one of these names; `name` says what they have in common.
    ///
    /// # Errors
    /// If there are none.
    pub fn of_servers(instance: &Instance, name: &str, names: &HashSet<&str>) -> Result<Self, Violation> {
        let classes = instance.classes().iter().enumerate();
        let failing = |class: &fairplan_instances::ServerClass| {
            class.names.iter().filter(|name| names.contains(name.as_str())).count() as u64
        };
        let servers: Vec<(ClassId, u64)> =
            classes.map(|(l, class)| (ClassId(l), failing(class))).filter(|(_, count)| *count > 0).collect();
        if servers.is_empty() {
            let problem = "the instance has none of these servers by name; import it with --placement-out, which names them";
            return Err(Violation::new("label", name, problem));
        }
        Ok(Self { name: name.into(), servers })
    }
}

/// Whether a name is like a pattern in which `*` stands for any letters.
fn is_like(name: &str, pattern: &str) -> bool {
    let Some((begin, rest)) = pattern.split_once('*') else { return name == pattern };
    let Some(mut left) = name.strip_prefix(begin) else { return false };
    let (middle, end) = rest.rsplit_once('*').unwrap_or(("", rest));
    for part in middle.split('*') {
        // The first place is as good as any later one.
        match left.find(part) {
            Some(at) => left = &left[at + part.len()..],
            None => return false,
        }
    }
    left.ends_with(end)
}

#[cfg(test)]
mod tests {
    use super::*;
    use fairplan_instances::Draft;
    use fairplan_instances::generate::drfh_fig1;

    #[test]
    fn stars_stand_for_any_letters() {
        for (name, pattern, expected) in [
            ("rack-1", "rack-1", true),
            ("rack-12", "rack-1", false),
            ("rack-12", "rack-1*", true),
            ("a100-rack-1", "*rack*", true),
            ("abcabc", "a*b*c", true),
            ("abc", "a*bc*c", false),
            ("aba", "*ab*ba", false),
            ("", "*", true),
            ("x", "*x*x*", false),
        ] {
            assert_eq!(is_like(name, pattern), expected, "{name} {pattern}");
        }
    }

    #[test]
    fn servers_fail_by_their_names_or_their_class() {
        let mut draft = Draft::from(&drfh_fig1().unwrap());
        draft.classes[0].set_count(3);
        draft.classes[0].names = ["b-1", "b-2", "c-1"].map(String::from).into();
        let instance = draft.build().unwrap();
        let of = |pattern| Failure::of_those_like(&instance, pattern).map(|failure| failure.servers);
        assert_eq!(of("b-*"), Ok(vec![(ClassId(0), 2)]));
        assert_eq!(of("high-*"), Ok(vec![(ClassId(0), 3), (ClassId(1), 1)]));
        assert!(
            of("d-1").unwrap_err().to_string().contains("no server and no class of servers is called so")
        );
        let named = |names: &[&str]| {
            let names = names.iter().copied().collect();
            Failure::of_servers(&instance, "zone=b", &names).map(|failure| failure.servers)
        };
        assert_eq!(named(&["b-2", "c-1", "elsewhere"]), Ok(vec![(ClassId(0), 2)]));
        assert!(named(&["elsewhere"]).unwrap_err().to_string().contains("zone=b"));
        let each = Failure::of_each_class(&instance, Some(2));
        assert_eq!(each.iter().map(|failure| failure.servers[0].1).collect::<Vec<_>>(), [2, 1]);
    }
}
