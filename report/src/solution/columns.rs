//! The users of a solution document as they are read: in columns, so that millions of placements take the space
//! of their numbers and not of their names.

use super::users::UserResult;
use fairplan_instances::{ExactUser, LimitedBy};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::de::{Deserialize, Deserializer, SeqAccess, Visitor};
use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt;

/// The users of a solution, one entry a user in each column.
#[derive(Clone, Debug, Default)]
pub struct UserColumns {
    /// Ids.
    pub ids: Texts,
    /// Dominant resources, as positions in `resources`.
    pub dominant_resources: Vec<u32>,
    /// Dominant shares.
    pub dominant_shares: Vec<f64>,
    /// Tasks over all classes.
    pub tasks: Vec<f64>,
    /// What limits each user.
    pub limited_by: Vec<LimitedBy>,
    /// Levels, of the users that have one.
    pub levels: Vec<u32>,
    /// How many users have a placement.
    pub placed: usize,
    /// Where each user's placement starts in `placements`, and at last where the last one ends.
    pub starts: Vec<usize>,
    /// `(position in classes, tasks there)`.
    pub placements: Vec<(u32, f64)>,
    /// The kind of each placement, as a position in `kinds`, or `NO_KIND`; empty where none has one.
    pub kind_of: Vec<u32>,
    /// The kinds that are named, as they come.
    pub kinds: Names,
    /// What users have in fractions, as far as that is stated; empty where it is of nobody.
    pub exact_users: Vec<Option<ExactUser>>,
    /// The fraction of each placement; empty where none is stated.
    pub exact_placements: Vec<Option<Box<str>>>,
    /// The resources that are named, as they come.
    pub resources: Names,
    /// The server classes that are named, as they come.
    pub classes: Names,
}

/// Stands for the kind of a placement that has none.
const NO_KIND: u32 = u32::MAX;

impl UserColumns {
    /// The kind of a placement, as a position in `kinds`.
    pub fn kind(&self, placement: usize) -> Option<u32> {
        self.kind_of.get(placement).copied().filter(|kind| *kind != NO_KIND)
    }

    fn push(&mut self, user: UserResult<'_>) {
        self.ids.push(&user.id);
        self.dominant_resources.push(self.resources.position(user.dominant_resource));
        self.dominant_shares.push(user.dominant_share);
        self.tasks.push(user.tasks);
        self.limited_by.push(user.limited_by);
        self.levels.extend(user.level);
        if let Some(exact) = user.exact {
            let text = |text: Option<Cow<'_, str>>| text.map(|text| text.into_owned().into_boxed_str());
            self.exact_users.resize(self.tasks.len() - 1, None);
            self.exact_users.push(Some(ExactUser {
                dominant_share: text(exact.dominant_share),
                tasks: text(exact.tasks),
            }));
        }
        self.placed += usize::from(user.placement.is_some());
        for part in user.placement.into_iter().flatten() {
            if part.kind.is_some() || !self.kind_of.is_empty() {
                self.kind_of.resize(self.placements.len(), NO_KIND);
                self.kind_of.push(part.kind.map_or(NO_KIND, |kind| self.kinds.position(kind)));
            }
            if let Some(exact) = part.exact {
                self.exact_placements.resize(self.placements.len(), None);
                self.exact_placements.push(Some(exact.into_owned().into_boxed_str()));
            }
            self.placements.push((self.classes.position(part.class), part.tasks));
        }
        self.starts.push(self.placements.len());
    }
}

/// Many short texts in one buffer.
#[derive(Clone, Debug, Default)]
pub struct Texts {
    letters: String,
    ends: Vec<usize>,
}

impl Texts {
    fn push(&mut self, text: &str) {
        self.letters.push_str(text);
        self.ends.push(self.letters.len());
    }

    /// The texts in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &str> {
        let mut start = 0;
        self.ends.iter().map(move |&end| &self.letters[std::mem::replace(&mut start, end)..end])
    }
}

/// Distinct names in the order in which they were first met.
#[derive(Clone, Debug, Default)]
pub struct Names {
    names: Vec<String>,
    positions: HashMap<String, u32>,
    last: usize,
}

impl Names {
    /// The position of a name, new or not. Names mostly repeat, or come in their order.
    fn position(&mut self, name: Cow<'_, str>) -> u32 {
        for guess in [self.last, self.last + 1, 0] {
            if self.names.get(guess).is_some_and(|known| *known == name) {
                self.last = guess;
                return guess as u32;
            }
        }
        let next = self.names.len() as u32;
        let position = *self.positions.entry(name.into_owned()).or_insert_with_key(|name| {
            self.names.push(name.clone());
            next
        });
        self.last = position as usize;
        position
    }

    /// The names in order.
    pub fn as_slice(&self) -> &[String] {
        &self.names
    }
}

impl<'de> Deserialize<'de> for UserColumns {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Users;
        impl<'de> Visitor<'de> for Users {
            type Value = UserColumns;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a list of users")
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut users: A) -> Result<UserColumns, A::Error> {
                let mut columns = UserColumns { starts: vec![0], ..UserColumns::default() };
                while let Some(user) = users.next_element()? {
                    columns.push(user);
                }
                Ok(columns)
            }
        }
        deserializer.deserialize_seq(Users)
    }
}

impl JsonSchema for UserColumns {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> Cow<'static, str> {
        "Users".into()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        Vec::<UserResult<'_>>::json_schema(generator)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_keep_their_first_positions_in_whatever_order_they_return() {
        let mut names = Names::default();
        let met: Vec<u32> = ["a", "b", "c", "a", "c", "b", "b", "d", "a"]
            .into_iter()
            .map(|name| names.position(name.into()))
            .collect();
        assert_eq!(met, [0, 1, 2, 0, 2, 1, 1, 3, 0]);
        assert_eq!(names.as_slice(), ["a", "b", "c", "d"]);
    }

    #[test]
    fn users_are_read_into_columns() {
        let text = r#"[
            {"id": "", "dominant_resource": "r", "dominant_share": 0.5, "tasks": 3.0, "limited_by": "tasks",
             "level": 1, "placement": [{"class": "b", "tasks": 1.0}, {"class": "a", "tasks": 2.0}]},
            {"id": "x\"y", "dominant_resource": "r", "dominant_share": 0.0, "tasks": 0.0,
             "limited_by": "no-usable-class", "level": 0, "placement": []}]"#;
        let users: UserColumns = serde_json::from_str(text).unwrap();
        assert_eq!(users.ids.iter().collect::<Vec<_>>(), ["", "x\"y"]);
        assert_eq!((users.starts, users.placements), (vec![0, 2, 2], vec![(0, 1.0), (1, 2.0)]));
        assert_eq!(users.classes.as_slice(), ["b", "a"]);
        assert_eq!(users.limited_by, [LimitedBy::Tasks, LimitedBy::NoUsableClass]);
    }
}
