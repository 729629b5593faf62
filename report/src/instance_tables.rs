//! An instance as tables of its server classes, users and groups, with the columns from which tables are read.
//!
//! They are for looking at and computing with: numbers are doubles, and names, devices and domains of servers, profiles, quotas, gangs and limits
//! of tasks a server have no columns. Files that are read back are written by [`files`](fairplan_instances::files).

use fairplan_instances::table::{Kept, Kind, Table};
use fairplan_instances::{GroupId, Instance, User, UserId, Violation};

/// A row a server class: `id`, `count`, and the capacity of one server of it, a column a resource.
pub fn servers(instance: &Instance) -> Table<'_> {
    let mut columns = Table::of(instance.classes())
        .column("id", "server class", Kind::Id, |class| class.id.as_str())
        .column("count", "servers", Kind::Count, |class| class.count);
    for (r, name) in instance.resources().iter().enumerate() {
        columns = columns
            .column(name.as_str(), name.as_str(), Kind::Number, move |class| class.capacity[r].to_f64());
    }
    columns.done()
}

/// A row a user: `id`, the demand of one task, a column a resource, and those of `weight`, `tasks`, `eligible`, `rates` and `group`
/// that some user needs. Classes are listed with `;` between them.
///
/// # Errors
/// Users with several kinds of tasks have no one demand.
pub fn users(instance: &Instance) -> Result<Table<'_>, Violation> {
    if let Some(user) = instance.users().position(|user| user.has_kinds()) {
        let problem = "a table of users has no room for kinds of tasks; see the JSON";
        return Err(Violation::new(format!("users[{user}].kinds"), "", problem));
    }
    let mut columns = Table::over(instance.user_count(), move |row| instance.user(UserId(row))).column(
        "id",
        "user",
        Kind::Id,
        |user| user.id(),
    );
    for (r, name) in instance.resources().iter().enumerate() {
        columns = columns.column(name.as_str(), name.as_str(), Kind::Number, move |user: User<'_>| {
            user.demand()[r].to_f64()
        });
    }
    if instance.is_weighted() {
        columns = columns.column("weight", "weight", Kind::Number, |user| user.weight().to_f64());
    }
    if instance.users().any(|user| user.tasks().is_some()) {
        columns = columns.column("tasks", "tasks", Kind::Count, |user| user.tasks());
    }
    let class = |class: usize| instance.classes()[class].id.as_str();
    let rules = || instance.rules().iter();
    let eligible = rules().map(|rule| {
        let classes: Vec<&str> = rule.eligible()?.iter().map(|id| class(id.0)).collect();
        // An empty cell would mean all of them.
        Some(if classes.is_empty() { ";".to_owned() } else { classes.join(";") })
    });
    let eligible: Vec<Option<String>> = eligible.collect();
    if eligible.iter().any(Option::is_some) {
        columns = columns
            .column("eligible", "eligible", Kind::Words, move |user| eligible[user.rule_id().0].clone());
    }
    let rates = rules().map(|rule| {
        let rates = rule.rates().iter().map(|(id, rate)| format!("{}={rate}", class(id.0)));
        Some(rates.collect::<Vec<_>>().join(";")).filter(|rates| !rates.is_empty())
    });
    let rates: Vec<Option<String>> = rates.collect();
    if rates.iter().any(Option::is_some) {
        columns = columns.column("rates", "rates", Kind::Words, move |user| rates[user.rule_id().0].clone());
    }
    if instance.has_groups() {
        let group = |id: GroupId| instance.groups()[id.0].id.as_str();
        columns = columns.column("group", "group", Kind::Name, move |user| user.group().map(group));
    }
    Ok(columns.done().kept("id", Kept::Texts(instance.user_ids())))
}

/// A row a group: `id`, `weight`, and its `parent` where it has one.
pub fn groups(instance: &Instance) -> Table<'_> {
    let groups = instance.groups();
    Table::of(groups)
        .column("id", "group", Kind::Id, |group| group.id.as_str())
        .column("weight", "weight", Kind::Number, |group| group.weight.to_f64())
        .column("parent", "parent", Kind::Name, |group| {
            group.parent.map(|parent| groups[parent.0].id.as_str())
        })
        .done()
}
