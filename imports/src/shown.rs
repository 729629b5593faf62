//! Instances as short lines, for tests of importers that give queues their quotas.

use fairplan_instances::{ClassId, Decimal, Instance, Owner, Quota, ResourceAmounts};

/// The groups, then the users, each with what it is given: `team-a <research w2 2.25,0,1 on a100 sure cpu=9 most cpu=12`.
pub fn tenants(instance: &Instance) -> Vec<String> {
    let groups = instance.groups();
    let inside = |group: Option<fairplan_instances::GroupId>| {
        group.map_or(String::new(), |group| format!(" <{}", groups[group.0].id))
    };
    let mut lines = Vec::new();
    for (at, group) in groups.iter().enumerate() {
        let given = given(instance, Owner::Group(fairplan_instances::GroupId(at)));
        lines.push(format!("[{}]{} w{}{given}", group.id, inside(group.parent), group.weight));
    }
    for user in instance.users() {
        let demand: Vec<String> = user.demand().iter().map(Decimal::to_string).collect();
        let classes = instance.classes();
        let may_run = |l: &usize| user.rule().allows(ClassId(*l));
        let on: Vec<&str> = (0..classes.len()).filter(may_run).map(|l| classes[l].id.as_str()).collect();
        let on = if on.len() == classes.len() { String::new() } else { format!(" on {}", on.join("|")) };
        let tasks = user.tasks().map_or(String::new(), |tasks| format!(" x{tasks}"));
        let given = given(instance, Owner::User(user.index()));
        let (id, inside, weight) = (user.id(), inside(user.group()), user.weight());
        lines.push(format!("{id}{inside} w{weight} {}{tasks}{on}{given}", demand.join(",")));
    }
    lines
}

fn given(instance: &Instance, owner: Owner) -> String {
    let Some(quota) = instance.quota_of(owner) else { return String::new() };
    let Quota { guarantee, guarantees, limit, limits, reserve, reserves } = quota;
    let amounts = |amounts: &ResourceAmounts| {
        let one = |(r, amount): &(fairplan_instances::ResourceId, Decimal)| {
            format!(" {}={amount}", instance.resources()[r.0])
        };
        amounts.iter().map(one).collect::<String>()
    };
    let said = |word: &str, list: &ResourceAmounts| match list.is_empty() {
        true => String::new(),
        false => format!(" {word}{}", amounts(list)),
    };
    let over = |word: &str, all: &[fairplan_instances::ClassAmounts]| -> String {
        let one = |over: &fairplan_instances::ClassAmounts| {
            let on: Vec<&str> =
                over.classes.iter().map(|class| instance.classes()[class.0].id.as_str()).collect();
            format!(" {word} on {}{}", on.join("|"), amounts(&over.amounts))
        };
        all.iter().map(one).collect()
    };
    [("sure", guarantee, guarantees), ("most", limit, limits), ("kept", reserve, reserves)]
        .map(|(word, all, some)| said(word, all) + &over(word, some))
        .concat()
}
