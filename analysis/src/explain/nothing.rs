//! Why a user has nothing: the smallest set of facts from which it follows.

use fairplan_instances::{ClassId, Instance, Kind, LimitedBy, User};

/// The facts; none when it follows from no property of the user and the classes (the others leave it nothing).
pub(super) fn why(user: User<'_>, instance: &Instance, limited_by: LimitedBy) -> Vec<String> {
    if user.tasks() == Some(0) {
        return vec!["the user has no tasks".into()];
    }
    // A task needs all its kinds.
    match user.kinds().find(|kind| !kind.can_run()) {
        Some(kind) => why_not(kind, instance),
        None if limited_by == LimitedBy::NoUsableClass => {
            vec![
                "no class runs all kinds of its tasks, and a server has whole tasks by this objective".into(),
            ]
        }
        None => Vec::new(),
    }
}

/// Why no class runs a kind of the user's tasks; its tasks, where it has no kinds.
fn why_not(kind: Kind<'_>, instance: &Instance) -> Vec<String> {
    let classes: Vec<ClassId> = (0..instance.classes().len()).map(ClassId).collect();
    let eligible: Vec<ClassId> = classes.iter().copied().filter(|class| kind.rule().allows(*class)).collect();
    let Some(needed) = smallest_conflict(kind, instance, &eligible) else { return Vec::new() };
    let (task, who) = match kind.id() {
        Some(id) => (format!("a piece of kind {id}"), format!("kind {id} of the user")),
        None => ("a task".into(), "the user".into()),
    };
    if needed.is_empty() {
        return vec![format!("{who} is eligible for no class with any servers")];
    }
    let names: Vec<&str> = needed.iter().map(|&r| instance.resources()[r].as_str()).collect();
    let together = names.join(" and ");
    let having: Vec<&str> = classes
        .iter()
        .filter(|class| has_all(instance, **class, &needed))
        .map(|class| instance.classes()[class.0].id.as_str())
        .collect();
    let mut facts = vec![format!("{task} needs {together}")];
    let are = if needed.len() == 1 { "is" } else { "are together" };
    match &having[..] {
        [] => facts.push(format!("no class has {together} together")),
        [only] => facts.push(format!("{together} {are} only in class {only}")),
        several => facts.push(format!("{together} {are} only in classes {}", several.join(", "))),
    }
    if !having.is_empty() {
        facts.push(format!(
            "{who} is not eligible for {}",
            if having.len() == 1 { "it" } else { "any of them" }
        ));
    }
    facts
}

fn has_all(instance: &Instance, class: ClassId, resources: &[usize]) -> bool {
    let class = &instance.classes()[class.0];
    class.count > 0 && resources.iter().all(|&r| !class.capacity[r].is_zero())
}

/// The fewest demanded resources that no eligible class has together.
fn smallest_conflict(kind: Kind<'_>, instance: &Instance, eligible: &[ClassId]) -> Option<Vec<usize>> {
    let demanded: Vec<usize> = (0..kind.piece().len()).filter(|&r| !kind.piece()[r].is_zero()).collect();
    let conflicts = |set: &[usize]| !eligible.iter().any(|class| has_all(instance, *class, set));
    let mut sets: Vec<Vec<usize>> = vec![Vec::new()];
    while !sets.is_empty() {
        if let Some(found) = sets.iter().find(|set| conflicts(set)) {
            return Some(found.clone());
        }
        let larger = |set: &Vec<usize>| {
            let set = set.clone();
            let after = set.last().map_or(0, |last| last + 1);
            demanded
                .iter()
                .filter(move |&&r| r >= after)
                .map(move |&r| [&set[..], &[r]].concat())
                .collect::<Vec<_>>()
        };
        sets = sets.iter().flat_map(larger).collect();
    }
    None
}
