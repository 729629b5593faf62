//! Names that a target takes: what it refuses is written otherwise, and no two become one.

use crate::Target;
use std::collections::HashSet;

/// Letters that a name may have, at most.
const LONGEST: usize = 63;

/// Names that are given out, each once in its scope.
struct Names {
    target: Target,
    taken: HashSet<(String, String)>,
}

impl Names {
    fn new(target: Target) -> Self {
        Self { target, taken: HashSet::new() }
    }

    /// The name of something called `id`, which nothing else in `scope` has.
    fn unique(&mut self, scope: &str, id: &str) -> String {
        let name = legal(self.target, id);
        let numbered = |count: u32| {
            let ending = format!("-{count}");
            let kept = &name[..name.len().min(LONGEST - ending.len())];
            format!("{}{ending}", kept.trim_end_matches(['-', '_', '.']))
        };
        let candidates = std::iter::once(name.clone()).chain((2..).map(numbered));
        for candidate in candidates {
            if self.taken.insert((scope.to_owned(), candidate.clone())) {
                return candidate;
            }
        }
        name
    }
}

/// A name for each id in its scope: those that the target takes as they are keep theirs, whatever others become.
pub(crate) fn given(target: Target, asked: &[(String, &str)]) -> Vec<String> {
    let mut names = Names::new(target);
    let mut given = vec![String::new(); asked.len()];
    for takes_it in [true, false] {
        for (name, (scope, id)) in given.iter_mut().zip(asked) {
            if (legal(target, id) == *id) == takes_it {
                *name = names.unique(scope, id);
            }
        }
    }
    given
}

/// `id` with what the target refuses replaced by `-`.
fn legal(target: Target, id: &str) -> String {
    // Names of Kubernetes' objects and of Slurm's accounts are in small letters; dots part the paths of YARN's and YuniKorn's queues.
    let (lower, others): (bool, &[char]) = match target {
        Target::Kueue | Target::Volcano | Target::Kai => (true, &['-', '.']),
        Target::Slurm => (true, &['-', '_', '.']),
        Target::Yarn | Target::YarnFair | Target::YuniKorn => (false, &['-', '_']),
    };
    let letter = |letter: char| {
        let letter = if lower { letter.to_ascii_lowercase() } else { letter };
        if letter.is_ascii_alphanumeric() || others.contains(&letter) { letter } else { '-' }
    };
    let mut name: String = id.chars().map(letter).collect();
    // Parts between dots begin and end with a letter or digit.
    while let Some(at) = [".-", "-.", ".."].iter().find_map(|pair| name.find(pair)) {
        name.replace_range(at..at + 2, "-");
    }
    name.truncate(LONGEST);
    let name = name.trim_matches(|letter: char| !letter.is_ascii_alphanumeric());
    match name {
        "" => "unnamed".into(),
        "root" if target.reserves_root() => "root-queue".into(),
        name => name.to_owned(),
    }
}

/// What is left of `id` without the name of what it is in: importers name queues by their whole paths.
pub(crate) fn short<'a>(id: &'a str, parent: Option<&str>, target: Target) -> &'a str {
    let below =
        |above: &str| id.strip_prefix(above)?.strip_prefix(['.', '/']).filter(|rest| !rest.is_empty());
    let has_paths = matches!(target, Target::Yarn | Target::YarnFair | Target::YuniKorn);
    let shorter = match parent {
        Some(parent) => below(parent),
        None if has_paths => below("root"),
        None => None,
    };
    let is_kueue = target == Target::Kueue;
    shorter.or_else(|| id.strip_prefix("cohort/").filter(|rest| is_kueue && !rest.is_empty())).unwrap_or(id)
}

/// What the target's files call a tenant called `name` in the queue `above`: by its path, where they do.
pub(crate) fn queue(target: Target, above: Option<&str>, name: &str, is_leaf: bool) -> String {
    match target {
        // No tenant but the target's own root has its name.
        Target::Yarn | Target::YarnFair | Target::YuniKorn if above.is_none() && name == "root" => {
            name.to_owned()
        }
        Target::Yarn | Target::YarnFair | Target::YuniKorn => format!("{}.{name}", above.unwrap_or("root")),
        Target::Kueue if !is_leaf => format!("cohort {name}"),
        _ => name.to_owned(),
    }
}

/// What the target's files call classes with these names and so many servers; nothing where they name none.
pub(crate) fn of_classes(target: Target, classes: &[(&str, u64)]) -> Vec<String> {
    let unlabelled = unlabelled(classes);
    let label = |(l, (name, _)): (usize, &(&str, u64))| match target {
        Target::Yarn if l == unlabelled => String::new(),
        Target::Kueue | Target::Yarn => (*name).to_owned(),
        _ => String::new(),
    };
    classes.iter().enumerate().map(label).collect()
}

/// The class whose nodes have no label in YARN: that with the most servers, the first of equal ones.
pub(crate) fn unlabelled(classes: &[(&str, u64)]) -> usize {
    (0..classes.len()).rev().max_by_key(|l| classes[*l].1).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_target_refuses_is_written_otherwise_and_stays_unique() {
        let mut names = Names::new(Target::Kueue);
        let mut name = |id: &str| names.unique("", id);
        assert_eq!(name("ml.research"), "ml.research");
        assert_eq!(name("ML Research"), "ml-research");
        assert_eq!(name("ml_research"), "ml-research-2");
        assert_eq!(name("ml/research"), "ml-research-3");
        assert_eq!(name("a..b.-c"), "a-b-c");
        assert_eq!(name("Ünïcode"), "n-code");
        assert_eq!(name("--"), "unnamed");
        assert_eq!(name("日本"), "unnamed-2");
        let long = "x".repeat(80);
        assert_eq!(name(&long).len(), 63);
        assert_eq!(name(&long), format!("{}-2", "x".repeat(61)));
        assert_eq!(Names::new(Target::Yarn).unique("", "a.b c_d"), "a-b-c_d");
        assert_eq!(Names::new(Target::Yarn).unique("", "root"), "root-queue");
        assert_eq!(Names::new(Target::Kueue).unique("", "root"), "root", "no name of its own");
    }

    #[test]
    fn who_is_called_as_the_target_takes_it_keeps_its_name() {
        let asked = ["Team A", "team-a", "TEAM A"].map(|id| (String::new(), id));
        assert_eq!(given(Target::Kueue, &asked), ["team-a-2", "team-a", "team-a-3"]);
    }

    #[test]
    fn the_same_name_may_be_in_two_scopes() {
        let mut names = Names::new(Target::Yarn);
        assert_eq!(
            [names.unique("a", "x"), names.unique("b", "x"), names.unique("a", "x")],
            ["x", "x", "x-2"]
        );
    }

    #[test]
    fn paths_of_importers_are_shortened_to_their_last_part() {
        assert_eq!(short("root.sci.dev", Some("root.sci"), Target::Yarn), "dev");
        assert_eq!(short("root.sci", None, Target::Yarn), "sci");
        assert_eq!(short("science", Some("sci"), Target::Yarn), "science");
        assert_eq!(short("cohort/sci", None, Target::Kueue), "sci");
    }
}
