//! The tables of a solution: its users and its server classes, of a solution in memory or of a document that was read.

use super::{ClassResult, SolutionBody, StatedNumbers, UserColumns};
use fairplan_instances::table::{Chosen, Kept, Kind as Cells, Table, Tabular};
use fairplan_instances::{
    ClassId, Headline, Instance, Kind, KindId, LimitedBy, ResourceMap, Solution, UserId,
};

/// The users of a solution, in the instance's order.
pub fn users_of<'a>(instance: &'a Instance, solution: &'a Solution) -> Table<'a> {
    Table::over(instance.user_count(), move |row| instance.user(UserId(row)))
        .column("id", "user", Cells::Id, |user| user.id())
        .column("dominant_resource", "dominant resource", Cells::Name, |user| {
            &instance.resources()[user.dominant_resource().0]
        })
        .column("dominant_share", "dominant share", Cells::Share, |user| {
            solution.allocation.dominant_share(instance, user.index())
        })
        .column("tasks", "tasks", Cells::Number, |user| solution.allocation.tasks(user.index()))
        .column("limited_by", "limited by", Cells::Words, |user| solution.limited_by[user.index().0].name())
        .said(|user| Some(solution.limited_by[user.index().0].in_words()))
        .column("level", "level", Cells::Position, |user| {
            solution.certificate.level_of().map(|levels| levels[user.index().0])
        })
        .done()
}

/// The same where the numbers that are stated of the users are known, as they are of what was checked.
pub fn stated_users_of<'a>(
    instance: &'a Instance,
    solution: &'a Solution,
    numbers: &'a StatedNumbers,
) -> Table<'a> {
    let resources = instance.resources().iter().map(String::as_str).collect();
    let reasons = LimitedBy::ALL.iter().map(|reason| reason.name()).collect();
    let table = users_of(instance, solution)
        .kept("id", Kept::Texts(instance.user_ids()))
        .kept(
            "dominant_resource",
            Kept::Chosen(Chosen::new(resources, numbers.dominant_resources(), |r| r.0)),
        )
        .kept("dominant_share", Kept::Numbers(numbers.dominant_shares()))
        .kept("tasks", Kept::Numbers(numbers.tasks()))
        .kept("limited_by", Kept::Chosen(Chosen::new(reasons, &solution.limited_by, |by| *by as usize)));
    match solution.certificate.level_of() {
        Some(levels) => table.kept("level", Kept::Positions(levels)),
        None => table,
    }
}

impl Tabular for SolutionBody<UserColumns> {
    /// A row a user.
    fn table(&self) -> Table<'_> {
        let users = &self.users;
        let ids: Vec<&str> = users.ids.iter().collect();
        Table::over(ids.len(), move |row| row)
            .column("id", "user", Cells::Id, move |row| ids[row])
            .column("dominant_resource", "dominant resource", Cells::Name, |row| {
                &users.resources.as_slice()[users.dominant_resources[row] as usize]
            })
            .column("dominant_share", "dominant share", Cells::Share, |row| users.dominant_shares[row])
            .column("tasks", "tasks", Cells::Number, |row| users.tasks[row])
            .column("limited_by", "limited by", Cells::Words, |row| users.limited_by[row].name())
            .said(|row| Some(users.limited_by[row].in_words()))
            .column("level", "level", Cells::Position, |row| users.levels.get(row).copied())
            .done()
    }
}

/// Where tasks run, of a solution in memory: a row for each user and server class with tasks of it.
pub fn placements_of<'a>(instance: &'a Instance, solution: &'a Solution) -> Table<'a> {
    let of_kind = |kind: Kind<'a>| {
        let (user, kind) = (kind.user().index(), kind.index());
        let placed = solution.allocation.placement_of_kind(user, kind);
        placed.map(move |(class, tasks)| Placed { user: user.0, kind: Some(kind.0), class: class.0, tasks })
    };
    let pooled = solution.allocation.is_pooled();
    let kinds = instance.users().filter(|_| !pooled).flat_map(|user| user.kinds());
    let rows = kinds.flat_map(of_kind).collect();
    let kind = |kind: usize| instance.kind(KindId(kind)).id();
    let kind = instance.has_kinds().then_some(kind);
    placements(rows, |user| instance.user(UserId(user)).id(), kind, |class| &instance.classes()[class].id)
}

/// Tasks of a user, or of one of its kinds, on a class.
#[derive(Clone, Copy)]
struct Placed {
    user: usize,
    kind: Option<usize>,
    class: usize,
    tasks: f64,
}

fn placements<'a>(
    rows: Vec<Placed>,
    user: impl Fn(usize) -> &'a str + Send + Sync + 'a,
    kind: Option<impl Fn(usize) -> Option<&'a str> + Send + Sync + 'a>,
    class: impl Fn(usize) -> &'a str + Send + Sync + 'a,
) -> Table<'a> {
    let mut columns =
        Table::over(rows.len(), move |row| rows[row])
            .column("user", "user", Cells::Id, move |row| user(row.user));
    if let Some(kind) = kind {
        columns = columns.column("kind", "kind", Cells::Name, move |row| row.kind.and_then(&kind));
    }
    columns
        .column("class", "server class", Cells::Name, move |row| class(row.class))
        .column("tasks", "tasks", Cells::Number, |row| row.tasks)
        .done()
}

/// The server classes of a result with what the instance says of them: servers, capacity of one, how full they are, and what one
/// more unit of each resource is worth.
pub fn classes_with_capacity<'a>(instance: &'a Instance, results: &'a [ClassResult]) -> Table<'a> {
    let classes = instance.classes();
    let rows = classes.len().min(results.len());
    let mut columns = Table::over(rows, |class| class)
        .column("id", "server class", Cells::Id, |class| &classes[class].id)
        .column("count", "servers", Cells::Count, |class| classes[class].count);
    let names = || instance.resources().iter().enumerate();
    for (r, name) in names() {
        let capacity = move |class: usize| classes[class].capacity[r].to_f64();
        columns =
            columns.column(format!("capacity_{name}"), format!("{name} of one"), Cells::Number, capacity);
    }
    for (r, name) in names() {
        let used = move |class: usize| Some(results[class].utilization.as_ref()?.0.get(r)?.1);
        columns = columns.column(format!("utilization_{name}"), format!("{name} used"), Cells::Part, used);
    }
    for (r, name) in names() {
        let price = move |class: usize| Some(results[class].price.as_ref()?.0.get(r)?.1);
        columns = columns.column(format!("price_{name}"), format!("{name} price"), Cells::Number, price);
    }
    columns.done()
}

/// Resources whose prices a summary has room for.
const PRICED: usize = 3;

/// The server classes of a solution: how many servers each has, how full they are and, where that fits a terminal, what one
/// more unit of each resource is worth.
pub fn classes_of<'a>(instance: &'a Instance, headline: &'a Headline) -> Table<'a> {
    let (classes, m) = (instance.classes(), instance.resources().len());
    let mut columns = Table::over(classes.len(), |class| class)
        .column("id", "server class", Cells::Id, |class| &classes[class].id)
        .column("count", "servers", Cells::Count, |class| classes[class].count);
    let names = || instance.resources().iter().enumerate();
    for (r, name) in names().filter(|_| !headline.pooled) {
        let used = move |class| headline.class_utilization(instance, ClassId(class)).map(|used| used[r]);
        columns = columns.column(format!("utilization_{name}"), format!("{name} used"), Cells::Part, used);
    }
    for (r, name) in names().filter(|_| headline.has_prices() && m <= PRICED) {
        let price = move |class: usize| headline.prices[class * m + r];
        columns = columns.column(format!("price_{name}"), format!("{name} price"), Cells::Number, price);
    }
    columns.done()
}

impl SolutionBody<UserColumns> {
    /// Where tasks run, as [`placements_of`] a solution in memory.
    pub fn placements(&self) -> Table<'_> {
        let users = &self.users;
        let of_user = |user: usize| {
            (users.starts[user]..users.starts[user + 1]).map(move |k| {
                let (class, tasks) = users.placements[k];
                Placed { user, kind: users.kind(k).map(|kind| kind as usize), class: class as usize, tasks }
            })
        };
        let rows = (0..users.starts.len().saturating_sub(1)).flat_map(of_user).collect();
        let ids: Vec<&str> = users.ids.iter().collect();
        let kind = |kind: usize| users.kinds.as_slice().get(kind).map(String::as_str);
        let kind = (!users.kind_of.is_empty()).then_some(kind);
        placements(rows, move |user| ids[user], kind, |class| &users.classes.as_slice()[class])
    }

    /// The server classes: how full each is, and what one more unit of each resource is worth.
    pub fn classes(&self) -> Table<'_> {
        let mut columns =
            Table::of(&self.server_classes).column("id", "server class", Cells::Id, |class| &class.id);
        let of = |map: fn(&ClassResult) -> &Option<ResourceMap>, r: usize| {
            move |class: &ClassResult| Some(map(class).as_ref()?.0.get(r)?.1)
        };
        let names = || self.utilization.0.iter().map(|(name, _)| name).enumerate();
        for (r, name) in names() {
            let used = of(|class| &class.utilization, r);
            columns =
                columns.column(format!("utilization_{name}"), format!("{name} used"), Cells::Part, used);
        }
        for (r, name) in names() {
            let price = of(|class| &class.price, r);
            columns = columns.column(format!("price_{name}"), format!("{name} price"), Cells::Number, price);
        }
        columns.done()
    }
}
