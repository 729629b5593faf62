//! Why a user has nothing: the smallest set of facts from which it follows.

use fairplan_instances::{ClassId, Instance, User};

/// The facts; none when it follows from no property of the user and the classes (the others leave it nothing).
pub(super) fn why(user: User<'_>, instance: &Instance) -> Vec<String> {
    if user.tasks() == Some(0) {
        return vec!["the user has no tasks".into()];
    }
    let classes: Vec<ClassId> = (0..instance.classes().len()).map(ClassId).collect();
    if classes.iter().any(|class| user.can_use(*class)) {
        return Vec::new();
    }
    let eligible: Vec<ClassId> = classes.iter().copied().filter(|class| user.rule().allows(*class)).collect();
    let Some(needed) = smallest_conflict(user, instance, &eligible) else { return Vec::new() };
    if needed.is_empty() {
        return vec!["the user is eligible for no class with any servers".into()];
    }
    let names: Vec<&str> = needed.iter().map(|&r| instance.resources()[r].as_str()).collect();
    let together = names.join(" and ");
    let having: Vec<&str> = classes
        .iter()
        .filter(|class| has_all(instance, **class, &needed))
        .map(|class| instance.classes()[class.0].id.as_str())
        .collect();
    let mut facts = vec![format!("a task needs {together}")];
    let are = if needed.len() == 1 { "is" } else { "are together" };
    match &having[..] {
        [] => facts.push(format!("no class has {together} together")),
        [only] => facts.push(format!("{together} {are} only in class {only}")),
        several => facts.push(format!("{together} {are} only in classes {}", several.join(", "))),
    }
    if !having.is_empty() {
        facts.push(format!(
            "the user is not eligible for {}",
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
fn smallest_conflict(user: User<'_>, instance: &Instance, eligible: &[ClassId]) -> Option<Vec<usize>> {
    let demanded: Vec<usize> = (0..user.demand().len()).filter(|&r| !user.demand()[r].is_zero()).collect();
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
