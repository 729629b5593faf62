//! Configuration files in XML as a tree of elements.

use fairplan_instances::InstanceError;
use fairplan_instances::files::source;
use quick_xml::escape::unescape;
use quick_xml::events::Event;
use quick_xml::reader::Reader;
use std::collections::{BTreeMap, BTreeSet};

/// An element: its attributes, the text directly inside it, and its children.
#[derive(Debug, Default)]
pub(super) struct Element {
    pub(super) name: String,
    attributes: Vec<(String, String)>,
    pub(super) text: String,
    pub(super) children: Vec<Element>,
}

/// What is wrong with a file that another one stands in for.
pub(super) const INCLUDED: &str = "stands here, and Hadoop reads that file in its place, which is not done here; put its properties into this file";

/// Deeper nesting is no configuration.
const DEEPEST: usize = 100;

impl Element {
    pub(super) fn attribute(&self, name: &str) -> Option<&str> {
        self.attributes.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    pub(super) fn children<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a Element> {
        self.children.iter().filter(move |child| child.name == name)
    }

    /// The text of the last child of this name, which is the one that Hadoop takes where there are several.
    pub(super) fn text_of(&self, name: &str) -> Option<&str> {
        self.text_of_any(&[name])
    }

    /// The same of a child that has had several names.
    pub(super) fn text_of_any(&self, names: &[&str]) -> Option<&str> {
        let named = |child: &&Element| names.contains(&child.name.as_str());
        self.children.iter().rfind(named).map(|child| child.text.trim())
    }

    /// The file that an `<xi:include>` of a `<configuration>` names: Hadoop reads it in its place.
    pub(super) fn included(&self) -> Option<&str> {
        let is_one = |child: &&Element| child.name.rsplit(':').next() == Some("include");
        self.children.iter().find(is_one).map(|child| child.attribute("href").unwrap_or_default())
    }

    /// The properties of a `<configuration>` as Hadoop reads them: of several of a name the last counts, unless an earlier one is final;
    /// names and values may stand in attributes.
    pub(super) fn properties(&self) -> BTreeMap<&str, &str> {
        let mut found: BTreeMap<&str, &str> = BTreeMap::new();
        let mut finals: BTreeSet<&str> = BTreeSet::new();
        for property in self.children("property") {
            let of = |field| property.text_of(field).or_else(|| property.attribute(field));
            let (Some(name), Some(value)) = (of("name"), of("value")) else { continue };
            if finals.contains(name) {
                continue;
            }
            found.insert(name, value);
            if of("final").is_some_and(|text| text.eq_ignore_ascii_case("true")) {
                finals.insert(name);
            }
        }
        found
    }
}

/// The root element of a file; entities beyond XML's own five are refused, so nothing expands.
pub(super) fn read(path: &str) -> Result<Element, InstanceError> {
    read_of(source::open(path)?)
}

/// The same of what is open.
pub(super) fn read_of(source: source::Source) -> Result<Element, InstanceError> {
    let file = source.name().to_owned();
    let content = source.read_all()?;
    let malformed = |position: u64, problem: String| {
        let before = &content[..content.len().min(position as usize)];
        let line = 1 + before.iter().filter(|byte| **byte == b'\n').count();
        InstanceError::Malformed { file: file.clone(), place: format!("line {line}"), problem }
    };
    let text = std::str::from_utf8(&content)
        .map_err(|error| malformed(error.valid_up_to() as u64, "is not valid UTF-8".into()))?;
    // XML 1.0, production [2]: of the control characters only these three are characters of a document.
    let control = |letter: char| letter < ' ' && !['\t', '\n', '\r'].contains(&letter);
    if let Some((at, letter)) = text.char_indices().find(|(_, letter)| control(*letter)) {
        let problem = format!("the character with the code {} is not allowed in XML", u32::from(letter));
        return Err(malformed(at as u64, problem));
    }
    let mut reader = Reader::from_str(text);
    let mut open: Vec<Element> = vec![Element::default()];
    loop {
        let event =
            reader.read_event().map_err(|error| malformed(reader.error_position(), error.to_string()))?;
        let at = reader.buffer_position();
        match event {
            Event::Start(ref start) | Event::Empty(ref start) => {
                let mut element = Element { name: start.name().0.to_owned(), ..Element::default() };
                for attribute in start.attributes() {
                    let attribute = attribute.map_err(|error| malformed(at, error.to_string()))?;
                    let value =
                        unescape(&attribute.value).map_err(|error| malformed(at, error.to_string()))?;
                    element.attributes.push((attribute.key.0.to_owned(), value.into_owned()));
                }
                if open.len() > DEEPEST {
                    return Err(malformed(at, format!("elements are nested more than {DEEPEST} deep")));
                }
                if matches!(event, Event::Empty(_)) {
                    inside(&mut open).children.push(element);
                } else {
                    open.push(element);
                }
            }
            Event::End(_) => {
                let done = open.pop().unwrap_or_default();
                inside(&mut open).children.push(done);
            }
            Event::Text(letters) => inside(&mut open).text.push_str(&letters),
            Event::CData(letters) => inside(&mut open).text.push_str(&letters),
            Event::GeneralRef(entity) => {
                let known = match &*entity {
                    "amp" => "&",
                    "lt" => "<",
                    "gt" => ">",
                    "quot" => "\"",
                    "apos" => "'",
                    _ => return Err(malformed(at, format!("the entity &{}; is not known", &*entity))),
                };
                inside(&mut open).text.push_str(known);
            }
            Event::Eof if open.len() > 1 => {
                return Err(malformed(
                    at,
                    format!("<{}> is never closed: the file is truncated", inside(&mut open).name),
                ));
            }
            Event::Eof => break,
            _ => {}
        }
    }
    let root = inside(&mut open).children.pop();
    let problem = "there is no XML element here; expected a fair-scheduler.xml or a capacity-scheduler.xml";
    root.ok_or_else(|| malformed(0, problem.into()))
}

/// The element that is read into; the document itself is never closed.
fn inside(open: &mut Vec<Element>) -> &mut Element {
    if open.is_empty() {
        open.push(Element::default());
    }
    let last = open.len() - 1;
    &mut open[last]
}
