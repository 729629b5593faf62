//! What a result contributes to the table: the texts, numbers and answers of its document, those inside objects under the
//! object's name and a dot. What is in lists is left out, but for one list that may be asked for, each element of which is then a
//! row; so are the format, the version, and the seconds that something took.

use crate::value::Value;
use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use std::fmt;

/// Members that say nothing of what was found.
const LEFT_OUT: [&str; 2] = ["format", "fairplan_version"];

/// At any depth: how long something took.
const SECONDS: &str = "seconds";

/// Names and values, in the order of the document.
pub(crate) type Cells = Vec<(String, Value)>;

/// The cells of a document, and those of each element of the list that was asked for.
#[derive(Debug, Default)]
pub(crate) struct Headline {
    pub cells: Cells,
    pub elements: Option<Vec<Cells>>,
}

impl Headline {
    /// Reads a document; `each` is the name of a list, with dots where it is inside objects.
    pub(crate) fn read(document: &str, each: Option<&str>) -> serde_json::Result<Self> {
        let mut headline = Self::default();
        let mut deserializer = serde_json::Deserializer::from_str(document);
        let Self { cells, elements } = &mut headline;
        let at = Node { name: String::new(), each, cells, elements };
        at.deserialize(&mut deserializer)?;
        deserializer.end()?;
        Ok(headline)
    }
}

/// One value on its way into cells.
struct Node<'a> {
    name: String,
    each: Option<&'a str>,
    cells: &'a mut Cells,
    elements: &'a mut Option<Vec<Cells>>,
}

impl Node<'_> {
    fn push(self, value: Value) {
        self.cells.push((self.name, value));
    }
}

impl<'de> DeserializeSeed<'de> for Node<'_> {
    type Value = ();
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Node<'_> {
    type Value = ();
    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a document")
    }
    fn visit_unit<E>(self) -> Result<(), E> {
        self.push(Value::Missing);
        Ok(())
    }
    fn visit_bool<E>(self, answer: bool) -> Result<(), E> {
        self.push(Value::Answer(answer));
        Ok(())
    }
    fn visit_u64<E>(self, count: u64) -> Result<(), E> {
        self.push(Value::Count(count));
        Ok(())
    }
    fn visit_i64<E>(self, number: i64) -> Result<(), E> {
        self.push(Value::Number(number as f64));
        Ok(())
    }
    fn visit_f64<E>(self, number: f64) -> Result<(), E> {
        self.push(Value::Number(number));
        Ok(())
    }
    fn visit_str<E>(self, text: &str) -> Result<(), E> {
        self.push(Value::Text(text.into()));
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(member) = map.next_key::<String>()? {
            let is_left_out = self.name.is_empty() && LEFT_OUT.contains(&member.as_str());
            if is_left_out || member == SECONDS {
                map.next_value::<IgnoredAny>()?;
                continue;
            }
            let name = if self.name.is_empty() { member } else { format!("{}.{member}", self.name) };
            let (cells, elements) = (&mut *self.cells, &mut *self.elements);
            map.next_value_seed(Node { name, each: self.each, cells, elements })?;
        }
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<(), A::Error> {
        if self.each != Some(self.name.as_str()) {
            while seq.next_element::<IgnoredAny>()?.is_some() {}
            return Ok(());
        }
        let mut rows = Vec::new();
        loop {
            let mut cells = Cells::new();
            let node = Node { name: self.name.clone(), each: None, cells: &mut cells, elements: &mut None };
            if seq.next_element_seed(node)?.is_none() {
                break;
            }
            rows.push(cells);
        }
        *self.elements = Some(rows);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DOCUMENT: &str = r#"{"format": "fairplan.x.v1", "fairplan_version": "1", "value": 0.5, "holds": true, "name": "a",
        "none": null, "stats": {"seconds": 3.1, "rounds": 2, "deep": {"x": -1}}, "users": [{"id": "u"}],
        "policies": [{"name": "p", "use": {"cpu": 1.5}, "seconds": 1}, {"name": "q"}]}"#;

    fn said(cells: &Cells) -> Vec<String> {
        cells.iter().map(|(name, value)| format!("{name}={}", value.word().unwrap_or_default())).collect()
    }

    #[test]
    fn scalars_are_cells_and_objects_give_their_names() {
        let Headline { cells, elements } = Headline::read(DOCUMENT, None).unwrap();
        let expected = ["value=0.5", "holds=true", "name=a", "none=", "stats.rounds=2", "stats.deep.x=-1"];
        assert_eq!(said(&cells), expected);
        assert!(elements.is_none());
    }

    #[test]
    fn each_element_of_one_list_may_be_a_row() {
        let elements = Headline::read(DOCUMENT, Some("policies")).unwrap().elements.unwrap();
        assert_eq!(said(&elements[0]), ["policies.name=p", "policies.use.cpu=1.5"]);
        assert_eq!(said(&elements[1]), ["policies.name=q"]);
        assert!(Headline::read(DOCUMENT, Some("missing")).unwrap().elements.is_none());
    }
}
