//! Two solutions side by side: who has more in the second.

use super::{SolutionDocument, UserResult};
use fairplan_analysis::{Difference, DifferenceSide, GroupChange, UserChange};
use fairplan_instances::{GroupResult, stated_level};
use std::collections::HashMap;

/// The document of what differs between two results of `solve`, ready to be written.
pub fn difference_of_results([before, after]: [&SolutionDocument<Vec<UserResult<'_>>>; 2]) -> Difference {
    let side = |result: &SolutionDocument<Vec<UserResult<'_>>>| DifferenceSide {
        instance: result.instance.clone(),
        objective: result.objective.to_string(),
        value: Some(result.value),
        level: stated_level(result.value, result.level).filter(|_| result.objective.alpha().is_none()),
    };
    let share = |group: &'_ GroupResult| (group.id.clone(), group.share);
    let groups = [before, after].map(|result| result.groups.iter().map(share));
    let by_id: HashMap<&str, &UserResult<'_>> = after.users.iter().map(|user| (&*user.id, user)).collect();
    let known: HashMap<&str, ()> = before.users.iter().map(|user| (&*user.id, ())).collect();
    let mut users: Vec<UserChange> = Vec::new();
    for user in &before.users {
        let other = by_id.get(&*user.id);
        let mut found =
            UserChange::new(user.id.clone().into_owned(), Some(user.tasks), other.map(|other| other.tasks));
        found.limited_before = Some(user.limited_by);
        found.limited_after = other.map(|other| other.limited_by);
        users.push(found);
    }
    for user in after.users.iter().filter(|user| !known.contains_key(&*user.id)) {
        let found = UserChange::new(user.id.clone().into_owned(), None, Some(user.tasks));
        users.push(UserChange { limited_after: Some(user.limited_by), ..found });
    }
    users.sort_by(|a, b| a.rank().total_cmp(&b.rank()));
    Difference {
        before: side(before),
        after: side(after),
        server_classes: Vec::new(),
        changed_users: Vec::new(),
        changed_groups: Vec::new(),
        groups: GroupChange::of_both(groups),
        steps: Vec::new(),
        users,
    }
}
