//! The canonical lines of a trace: its header and its events, fields only where they are not the default.

use crate::Decimal;
use crate::trace::{DECIMAL_PLACES, Event, EventKind, Register, ShapeNumber, TraceHeader};

use super::form::{EVENTS, FORM};
use super::rules::write_rules;
use crate::files::canonical_text::{Text, key};

/// Writes lines of one trace.
pub(super) struct Writer {
    /// What has been written and not yet passed on.
    pub(super) text: Text,
    /// The resources' names as JSON keys.
    keys: Vec<Vec<u8>>,
    amounts: Vec<Decimal>,
}

impl Writer {
    pub(super) fn new(header: &TraceHeader) -> Self {
        let keys = header.resources.iter().map(|resource| key(&resource.name)).collect();
        Self { text: Text::default(), keys, amounts: Vec::new() }
    }

    /// The header, without the end of the line.
    pub(super) fn header(&mut self, header: &TraceHeader) {
        let text = &mut self.text;
        text.raw("{\"format\": ");
        text.string(FORM.format);
        for (field, value) in [("name", &header.name), ("source", &header.source)] {
            if !value.is_empty() {
                text.raw(&format!(", \"{field}\": "));
                text.string(value);
            }
        }
        text.raw(", \"resources\": ");
        text.strings(header.resources.iter().map(|resource| resource.name.as_str()));
        let mut list = List::new(", \"decimal_places\": {", "}");
        let resources = header.resources.iter().zip(&self.keys);
        for (resource, key) in resources.filter(|(resource, _)| resource.decimal_places != DECIMAL_PLACES) {
            list.next(text);
            text.bytes(key);
            text.whole(resource.decimal_places.into());
        }
        list.end(text);
        let mut list = List::new(", \"devices\": {", "}");
        for (resource, key) in header.resources.iter().zip(&self.keys) {
            if let Some(device) = resource.device {
                list.next(text);
                text.bytes(key);
                text.number(device);
            }
        }
        list.end(text);
        write_rules(text, header, &self.keys);
        let mut list = List::new(", \"server_classes\": [", "]");
        for class in &header.server_classes {
            list.next(text);
            text.class(class, &self.keys);
        }
        list.end(text);
        if let Some(users) = &header.users {
            let mut list = List::new(", \"users\": [", "]");
            list.begin(text);
            for (id, weight) in users {
                list.next(text);
                text.raw("{\"id\": ");
                text.string(id);
                if *weight != Decimal::ONE {
                    text.raw(", \"weight\": ");
                    text.number(*weight);
                }
                text.raw("}");
            }
            list.end(text);
        }
        let mut list = List::new(", \"counts\": {", "}");
        for (what, count) in &header.counts {
            list.next(text);
            text.bytes(&key(what));
            text.whole(*count);
        }
        list.end(text);
        text.raw("}");
    }

    /// One event with the end of its line.
    pub(super) fn event(&mut self, register: &Register, event: Event, job: &str) {
        self.text.raw("{\"time\": ");
        self.text.number(seconds(event.time));
        self.text.raw(", \"event\": \"");
        self.text.raw(EVENTS[usize::from(event.kind.rank())].name);
        self.text.raw("\"");
        match event.kind {
            EventKind::ServerRemoved(server) => {
                self.string("server", register.servers().get(server.index()));
            }
            EventKind::ServerAdded(server, capacity) | EventKind::ServerChanged(server, capacity) => {
                self.string("server", register.servers().get(server.index()));
                let comes = matches!(event.kind, EventKind::ServerAdded(..));
                if let Some(domain) = register.domain_name(server).filter(|_| comes) {
                    self.string("domain", domain);
                }
                self.shape("capacity", register, capacity);
            }
            EventKind::Submitted(tasks) => {
                self.string("user", register.users().get(tasks.user.index()));
                self.string("job", job);
                self.shape("demand", register, tasks.demand);
                self.text.raw(", \"duration\": ");
                self.text.number(seconds(tasks.duration));
                if tasks.count != 1 {
                    self.text.raw(", \"count\": ");
                    self.text.whole(tasks.count.into());
                }
                if let Some(name) = register.rules_name(tasks.rules) {
                    self.string("rules", name);
                }
                if !tasks.last {
                    self.text.raw(", \"more\": true");
                }
            }
        }
        self.text.raw("}\n");
    }

    fn string(&mut self, field: &str, value: &str) {
        self.text.raw(", \"");
        self.text.raw(field);
        self.text.raw("\": ");
        self.text.string(value);
    }

    fn shape(&mut self, field: &str, register: &Register, shape: ShapeNumber) {
        self.text.raw(", \"");
        self.text.raw(field);
        self.text.raw("\": ");
        self.amounts.clear();
        let units = register.shapes().units(shape).iter();
        let resources = register.header().resources.iter();
        self.amounts.extend(resources.zip(units).map(|(resource, units)| resource.amount(*units)));
        self.text.amounts(&self.amounts, &self.keys);
    }
}

/// Microseconds in seconds.
pub(super) fn seconds(time: u64) -> Decimal {
    // At most 2^62 microseconds, which is in range.
    Decimal::new(time, -6).unwrap_or(Decimal::ZERO)
}

/// The elements of a list or an object, left out where there are none.
struct List {
    start: &'static str,
    end: &'static str,
    elements: usize,
    begun: bool,
}

impl List {
    fn new(start: &'static str, end: &'static str) -> Self {
        Self { start, end, elements: 0, begun: false }
    }

    fn begin(&mut self, text: &mut Text) {
        if !std::mem::replace(&mut self.begun, true) {
            text.raw(self.start);
        }
    }

    fn next(&mut self, text: &mut Text) {
        self.begin(text);
        if self.elements > 0 {
            text.raw(", ");
        }
        self.elements += 1;
    }

    fn end(self, text: &mut Text) {
        if self.begun {
            text.raw(self.end);
        }
    }
}
