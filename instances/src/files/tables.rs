//! An instance as two tables: servers (`id`, `count`, one column a resource) and users (`id`, one column a
//! resource, and optionally `weight`, `tasks`, `eligible`, `rates`, `group`); and a third one of groups where there are any.
//!
//! The resources are the servers' other columns, in their order. An empty cell is the default: zero of a
//! resource, weight 1, unlimited tasks, every class, rate 1. `eligible` lists class ids between `;` (a lone
//! `;` is the empty list) and `rates` lists `class=rate` likewise. Tables carry no instance name.

use crate::wording::no_such;
use crate::{
    ClassId, Decimal, GroupId, Instance, InstanceBuilder, InstanceError, NewUser, PlacementRule, RuleId,
};
use crate::{ServerClass, Violation};
use rayon::prelude::*;
use std::collections::HashMap;

use super::groups::GroupTable;
use super::headers::bad_header;
use super::open::open_table;
use super::optional_columns::FIXED;
use super::rows::{Batch, PlainPart, Row, Rows, Table, for_each_batch, for_each_batch_here, for_each_row};
use super::values::{decimal, repeated, whole_number};
use crate::model::{NumberRange, PlainUsers};

/// Reads an instance from a table of servers, a table of users and, where users are in groups, a table of groups, each CSV
/// (gzipped or not; `-` is standard input for one of them) or, with the feature `parquet`, Parquet.
pub fn read_tables(servers: &str, users: &str, groups: Option<&str>) -> Result<Instance, InstanceError> {
    if [servers, users, groups.unwrap_or_default()].iter().filter(|path| **path == "-").count() > 1 {
        let problem = "standard input can hold only one of the tables".to_owned();
        return Err(InstanceError::Malformed { file: "-".into(), place: "--users".into(), problem });
    }
    let mut servers = open_table(servers)?;
    let mut groups = groups.map(open_table).transpose()?;
    let mut users = open_table(users)?;
    read_opened(servers.as_mut(), users.as_mut(), groups.as_deref_mut())
}

/// Reads an instance from tables that are open.
pub fn read_opened(
    servers: &mut dyn Rows,
    users: &mut dyn Rows,
    groups: Option<&mut (dyn Rows + 'static)>,
) -> Result<Instance, InstanceError> {
    let mut builder = read_servers(servers)?;
    if let Some(groups) = groups {
        let mut table = GroupTable::read(groups)?;
        builder.groups(std::mem::take(&mut table.groups)).map_err(|violation| table.locate(violation))?;
    }
    let places = read_users(users, &mut builder)?;
    builder.build().map_err(|violation| {
        let table = if violation.place.starts_with("users") { users.table() } else { servers.table() };
        let place = match &*violation.place {
            "server_classes" => format!("{}, column count", table.header_place),
            // A frame is called what its rows are.
            place if place == table.file => String::new(),
            place => places.cell(table, place).unwrap_or(violation.place),
        };
        Violation { place, ..violation }.in_file(&table.file)
    })
}

/// Which column holds what.
struct Layout {
    id: Option<usize>,
    count: Option<usize>,
    weight: Option<usize>,
    tasks: Option<usize>,
    eligible: Option<usize>,
    rates: Option<usize>,
    group: Option<usize>,
    /// The columns under other names.
    resources: Vec<(usize, String)>,
}

impl Layout {
    fn new(table: &Table, required: &[&str]) -> Result<Self, InstanceError> {
        let header = &table.header;
        let column = |name: &str| header.iter().position(|column| column == name);
        if let Some(empty) = column("") {
            return Err(bad_header(table, &(empty + 1).to_string(), "has no name"));
        }
        if let Some(name) = repeated(header.iter().map(String::as_str)) {
            return Err(bad_header(table, name, "duplicate column"));
        }
        if let Some(name) = required.iter().find(|name| column(name).is_none()) {
            let problem = format!("is missing; the table needs {}", required.join(", "));
            return Err(bad_header(table, name, &problem));
        }
        let resources = header.iter().cloned().enumerate();
        let resources = resources.filter(|(_, name)| !FIXED.contains(&name.as_str())).collect();
        let [id, count, weight, tasks, eligible, rates, group] = FIXED.map(column);
        Ok(Self { id, count, weight, tasks, eligible, rates, group, resources })
    }

    /// Of each column whether it holds numbers.
    fn numeric(&self, table: &Table) -> Vec<bool> {
        let words = [self.id, self.eligible, self.rates, self.group];
        (0..table.header.len()).map(|column| !words.contains(&Some(column))).collect()
    }
}

fn read_servers(rows: &mut dyn Rows) -> Result<InstanceBuilder, InstanceError> {
    let table = &rows.table().clone();
    let layout = Layout::new(table, &["id", "count"])?;
    let invalid = |violation| InstanceError::Invalid { file: table.file.clone(), violation };
    if let Some(name) = table.header.iter().find(|name| FIXED[2..].contains(&name.as_str())) {
        let problem = "is a column of the users table; a resource needs another name";
        return Err(bad_header(table, name, problem));
    }
    let names = layout.resources.iter().map(|(_, name)| name.clone()).collect();
    let mut builder = InstanceBuilder::new("", names).map_err(invalid)?;
    let mut empty = true;
    for_each_row(rows, &layout.numeric(table), |row| {
        empty = false;
        let cells = Cells { row, layout: &layout, table };
        let mut class = || {
            let id = cells.text(layout.id)?.to_owned();
            let missing = || Violation::new(cells.place("count"), "", "is missing");
            let count = cells.whole(layout.count, "count")?.ok_or_else(missing)?;
            let capacity = layout.resources.iter().map(|(column, _)| cells.number(Some(*column)));
            let capacity = capacity.map(|number| Ok(number?.unwrap_or(Decimal::ZERO)));
            let capacity = capacity.collect::<Result<_, _>>()?;
            builder.class(ServerClass::new(id, count, capacity)).map_err(|violation| cells.locate(violation))
        };
        class().map(|_| ()).map_err(invalid)
    })?;
    if empty {
        return Err(invalid(Violation::new("", "", "there are no servers")));
    }
    Ok(builder)
}

/// Adds the users; where each stands in the table.
fn read_users(rows: &mut dyn Rows, builder: &mut InstanceBuilder) -> Result<RowsOfUsers, InstanceError> {
    let table = &rows.table().clone();
    let layout = Layout::new(table, &["id"])?;
    let resources = builder.resources().to_vec();
    let expected =
        |name: &String| FIXED.contains(&name.as_str()) && name != "count" || resources.contains(name);
    if let Some(name) = table.header.iter().find(|name| !expected(name)) {
        let problem = format!("unknown column; the servers' resources are {}", resources.join(", "));
        return Err(bad_header(table, name, &problem));
    }
    // Where each resource of the servers stands in this table; one that is missing is zero.
    let columns: Vec<Option<usize>> =
        resources.iter().map(|name| table.header.iter().position(|column| column == name)).collect();
    let numeric = layout.numeric(table);
    let users = UserTable { table, layout, columns };
    let mut places = RowsOfUsers::default();
    let parts = if users.is_plain() { rows.parts()? } else { None };
    let read = match parts {
        Some(parts) => users.read_side_by_side(parts, &numeric, builder, &mut places),
        None => {
            let mut rules = HashMap::new();
            for_each_batch(rows, &numeric, |batch| users.read(batch, builder, &mut rules, &mut places))
        }
    };
    // Of two rows that are wrong the first is named: those that were read come before the one that could not be.
    builder.check_ids().map_err(|user| {
        let place = format!("{} {}, column id", table.unit, places.of(user.0));
        users.invalid(Violation::new(place, builder.user_id(user), "duplicate id"))
    })?;
    read.map(|()| places)
}

/// How users stand in a table.
struct UserTable<'a> {
    table: &'a Table,
    layout: Layout,
    /// The column of each resource.
    columns: Vec<Option<usize>>,
}

impl UserTable<'_> {
    fn invalid(&self, violation: Violation) -> InstanceError {
        InstanceError::Invalid { file: self.table.file.clone(), violation }
    }

    /// Whether no user names classes or groups, which are known to one builder only.
    fn is_plain(&self) -> bool {
        let Layout { eligible, rates, group, .. } = self.layout;
        [eligible, rates, group].iter().all(Option::is_none)
    }

    /// Adds the users of a batch.
    fn read(
        &self,
        batch: &Batch,
        builder: &mut InstanceBuilder,
        rules: &mut KnownRules,
        places: &mut RowsOfUsers,
    ) -> Result<(), InstanceError> {
        let Self { table, layout, columns } = self;
        if builder.user_count() == 0 {
            builder.reserve(batch.expected_rows());
        }
        let mut demand = vec![Decimal::ZERO; columns.len()];
        (0..batch.row_count()).try_for_each(|position| {
            let cells = Cells { row: batch.row(position), layout, table };
            places.note(builder.user_count(), cells.row.number_in_file());
            let mut user = || {
                let id = cells.text(layout.id)?;
                for (amount, column) in demand.iter_mut().zip(columns) {
                    *amount = cells.number(*column)?.unwrap_or(Decimal::ZERO);
                }
                let weight =
                    cells.number(layout.weight).map_err(Violation::above_zero)?.unwrap_or(Decimal::ONE);
                let tasks = cells.whole(layout.tasks, "tasks")?;
                let rule = cells.rule(builder, rules)?;
                let group = cells.group(builder)?;
                let user = NewUser { id, demand: &demand, weight, tasks, rule, group };
                builder.user(user).map_err(|violation| cells.locate(violation))
            };
            user().map(|_| ()).map_err(|violation| self.invalid(violation))
        })
    }

    /// Reads all parts into a builder without users where these are an id and a demand and nothing else, and nothing is wrong with them.
    fn read_plain(
        &self,
        parts: &mut [Box<dyn Rows>],
        builder: &mut InstanceBuilder,
        places: &mut RowsOfUsers,
    ) -> Option<()> {
        let Layout { id, weight, tasks, .. } = self.layout;
        let id = id.filter(|_| weight.is_none() && tasks.is_none() && builder.user_count() == 0)?;
        let width = self.columns.len();
        let sizes: Option<Vec<_>> = parts.par_iter_mut().map(|part| part.plain(id, &self.columns)).collect();
        let sizes = sizes?;
        let rows = sizes.iter().map(|size| size.rows).sum();
        let mut users = PlainUsers::new(rows, sizes.iter().map(|size| size.letters).sum(), width);
        let (mut letters, mut ends) = (users.letters.as_mut_slice(), users.ends.as_mut_slice());
        let (mut decimals, mut doubles) = (users.decimals.as_mut_slice(), users.doubles.as_mut_slice());
        let mut before = 0;
        let places_of = sizes.iter().map(|size| {
            let part = PlainPart {
                letters: (letters.split_off_mut(..size.letters)?, before),
                ends: ends.split_off_mut(..size.rows)?,
                decimals: decimals.split_off_mut(..size.rows * width)?,
                doubles: doubles.split_off_mut(..size.rows * width)?,
            };
            before += size.letters;
            Some(part)
        });
        let there = places_of.collect::<Option<Vec<_>>>()?;
        let written =
            parts.par_iter_mut().zip(there).map(|(part, there)| part.write_plain(id, &self.columns, there));
        let all = |one: Vec<NumberRange>, other: Vec<NumberRange>| {
            Some(one.into_iter().zip(other).map(|(one, other)| one.and(other)).collect())
        };
        users.ranges = written.try_reduce(|| vec![NumberRange::default(); width], all)?;
        builder.plain_users(users)?;
        places.append(
            0,
            RowsOfUsers {
                jumps: sizes.first().map(|size| (0, size.first)).into_iter().collect(),
                next: sizes.last().map_or(0, |size| size.first + size.rows as u64),
            },
        );
        Some(())
    }

    /// Adds the users of all parts, up to a row that cannot be read.
    fn read_side_by_side(
        &self,
        mut parts: Vec<Box<dyn Rows>>,
        numeric: &[bool],
        builder: &mut InstanceBuilder,
        places: &mut RowsOfUsers,
    ) -> Result<(), InstanceError> {
        if self.read_plain(&mut parts, builder, places).is_some() {
            return Ok(());
        }
        let resources = builder.resources().to_vec();
        let read = |mut rows: Box<dyn Rows>| {
            let empty = InstanceBuilder::new("", resources.clone());
            let mut part = empty.map_err(|violation| self.invalid(violation))?;
            let (mut rules, mut places) = (HashMap::new(), RowsOfUsers::default());
            let whole = for_each_batch_here(rows.as_mut(), numeric, |batch| {
                self.read(batch, &mut part, &mut rules, &mut places)
            });
            Ok((part, places, whole))
        };
        let parts: Vec<_> = parts.into_par_iter().map(read).collect::<Result<_, InstanceError>>()?;
        builder.reserve(parts.iter().map(|(part, ..)| part.user_count()).sum());
        for (part, its_places, whole) in parts {
            places.append(builder.user_count(), its_places);
            builder.append(part);
            whole?;
        }
        Ok(())
    }
}

/// Where each user stands in its file: mostly one row after the other.
#[derive(Default)]
struct RowsOfUsers {
    /// Users with the row in which each stands that is not the one after the user before.
    jumps: Vec<(usize, u64)>,
    next: u64,
}

impl RowsOfUsers {
    /// That this user, the last one, stands in this row.
    fn note(&mut self, user: usize, row: u64) {
        if self.jumps.is_empty() || row != self.next {
            self.jumps.push((user, row));
        }
        self.next = row + 1;
    }

    /// Adds those of users that come after `before` others.
    fn append(&mut self, before: usize, others: Self) {
        if others.jumps.is_empty() {
            return;
        }
        let mut jumps = others.jumps.into_iter().peekable();
        jumps.next_if(|(_, row)| !self.jumps.is_empty() && *row == self.next);
        self.jumps.extend(jumps.map(|(user, row)| (before + user, row)));
        self.next = others.next;
    }

    /// The cell that a place of an instance means (`users[3].demand.cpu`); `None` of a place that is no user's.
    fn cell(&self, table: &Table, place: &str) -> Option<String> {
        let (user, field) = place.strip_prefix("users[")?.split_once("].")?;
        let (user, column) = (user.parse().ok()?, field.strip_prefix("demand.").unwrap_or(field));
        Some(format!("{} {}, column {column}", table.unit, self.of(user)))
    }

    /// The row of a user.
    fn of(&self, user: usize) -> u64 {
        let after = self.jumps.partition_point(|(first, _)| *first <= user);
        let (first, row) = self.jumps.get(after.saturating_sub(1)).copied().unwrap_or_default();
        row + (user - first) as u64
    }
}

/// One row under its layout.
struct Cells<'a> {
    row: Row<'a>,
    layout: &'a Layout,
    table: &'a Table,
}

/// The rules of earlier rows by the text of their two cells.
type KnownRules = HashMap<Vec<u8>, RuleId>;

impl<'a> Cells<'a> {
    /// The cell of an optional column.
    fn get(&self, column: Option<usize>) -> &'a [u8] {
        column.map(|column| self.row.cell(column)).unwrap_or_default()
    }

    fn place(&self, column: &str) -> String {
        self.table.place_in(self.row, column)
    }

    /// The cell as text, which must be UTF-8.
    fn text(&self, column: Option<usize>) -> Result<&'a str, Violation> {
        column.map_or(Ok(""), |column| self.table.text(self.row, column))
    }

    /// The cell as a number; `None` when it is empty or there is no such column.
    fn number(&self, column: Option<usize>) -> Result<Option<Decimal>, Violation> {
        column.map_or(Ok(None), |column| self.table.number(self.row, column))
    }

    /// The cell as a count; `None` when it is empty or there is no such column.
    fn whole(&self, column: Option<usize>, name: &str) -> Result<Option<u64>, Violation> {
        self.number(column)?.map(|number| whole_number(number, || self.place(name))).transpose()
    }

    /// A violation of the builder (`users[3].demand.cpu`) at its row and column here.
    fn locate(&self, violation: Violation) -> Violation {
        let field = violation.place.split_once('.').map(|(_, field)| field).unwrap_or_default();
        let place = match field.strip_prefix("demand").or(field.strip_prefix("capacity")) {
            Some(resource) => match resource.strip_prefix('.') {
                Some(resource) => self.place(resource),
                None => self.table.place(self.row),
            },
            None => self.place(field),
        };
        Violation { place, ..violation }
    }

    fn group(&self, builder: &InstanceBuilder) -> Result<Option<GroupId>, Violation> {
        let name = self.text(self.layout.group)?;
        if name.is_empty() {
            return Ok(None);
        }
        if !builder.has_groups() {
            let problem = "users are in groups: give the table of groups too (--groups, or groups=)";
            return Err(Violation::new(self.place("group"), name, problem));
        }
        let unknown = || {
            let problem = no_such("group", name, builder.group_ids());
            Violation::new(self.place("group"), name, format!("{problem} in the table of groups"))
        };
        builder.group_named(name).map(Some).ok_or_else(unknown)
    }

    fn rule(&self, builder: &mut InstanceBuilder, known: &mut KnownRules) -> Result<RuleId, Violation> {
        let (eligible, rates) = (self.get(self.layout.eligible), self.get(self.layout.rates));
        if eligible.is_empty() && rates.is_empty() {
            return Ok(RuleId(0));
        }
        let key = [&eligible.len().to_le_bytes(), eligible, rates].concat();
        if let Some(rule) = known.get(&key) {
            return Ok(*rule);
        }
        let class = |name: &str, column: &str| -> Result<ClassId, Violation> {
            let problem = || no_such("server class", name, builder.class_ids());
            let unknown = || Violation::new(self.place(column), name, problem());
            builder.class_named(name).ok_or_else(unknown)
        };
        let names = list(self.text(self.layout.eligible)?);
        if let Some(name) = repeated(names.iter().copied()) {
            return Err(Violation::new(self.place("eligible"), name, "named twice"));
        }
        let classes = names.iter().map(|name| class(name, "eligible")).collect::<Result<Vec<_>, _>>()?;
        let mut rated = Vec::new();
        let items = list(self.text(self.layout.rates)?);
        let mut named = Vec::with_capacity(items.len());
        for item in items {
            // A rate has no `=`, a class may.
            let (name, rate) = item.rsplit_once('=').ok_or_else(|| {
                Violation::new(self.place("rates"), item, "is not class=rate; separate several by ;")
            })?;
            named.push(name);
            rated.push((
                class(name, "rates")?,
                decimal(rate.as_bytes(), || self.place("rates")).map_err(Violation::above_zero)?,
            ));
        }
        if let Some(name) = repeated(named.into_iter()) {
            return Err(Violation::new(self.place("rates"), name, "named twice"));
        }
        let rule = builder.rule(PlacementRule::new((!eligible.is_empty()).then_some(classes), rated));
        known.insert(key, rule);
        Ok(rule)
    }
}

/// The items of a cell between `;`; a lone `;` is the empty list.
fn list(cell: &str) -> Vec<&str> {
    if cell.is_empty() || cell == ";" { Vec::new() } else { cell.split(';').collect() }
}
