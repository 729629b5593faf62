//! Reading a trace from JSON Lines, one event at a time.

use crate::trace::{Event, EventKind, EventSource, NewTasks, Register, TraceHeader, TraceResource};
use crate::trace::{MOST_DECIMAL_PLACES, MOST_RESOURCES};
use crate::{Decimal, InstanceError, ServerClass, Violation};
use serde_json::value::RawValue;
use std::io::BufRead;

use super::fields::{ClassFields, EventFields, HeaderFields, UserFields};
use super::form::{EVENTS, EventForm, FORM, event_named, microseconds, misplaced};
use super::rules::{read_cuts, read_rules};
use crate::files::amounts::Amounts;
use crate::files::source::Source;
use crate::files::strict_json::{Object, document, for_each, line, number, whole};
use crate::files::values::{repeated, whole_number};

/// A line of an event is at most this long; headers list users and may be longer.
const LONGEST_EVENT: usize = 1 << 20;

/// A trace in JSON Lines.
pub(super) struct Lines {
    source: Source,
    register: Register,
    amounts: Amounts,
    buffer: Vec<u8>,
    line: u64,
    /// The job of the last event.
    job: String,
    /// Nothing comes after the end or an error.
    ended: bool,
}

impl Lines {
    /// Reads the header.
    pub(super) fn new(mut source: Source) -> Result<Self, InstanceError> {
        let mut buffer = Vec::new();
        let file = source.name().to_owned();
        source
            .read_until(b'\n', &mut buffer)
            .map_err(|source| InstanceError::Io { file: file.clone(), source })?;
        let register = read_header(&file, &buffer)?;
        let amounts = Amounts::new(names(register.header()));
        Ok(Self { source, register, amounts, buffer, line: 1, job: String::new(), ended: false })
    }

    /// Reads the next line that is not blank; false at the end of the file.
    fn read_line(&mut self) -> Result<bool, InstanceError> {
        loop {
            if !self.source.read_line(&mut self.buffer, LONGEST_EVENT, self.line + 1)? {
                return Ok(false);
            }
            self.line += 1;
            if !self.buffer.trim_ascii().is_empty() {
                return Ok(true);
            }
        }
    }

    fn read_event(&mut self) -> Result<Option<Event>, InstanceError> {
        self.job.clear();
        let file = self.source.name().to_owned();
        if !self.read_line()? {
            let invalid = |violation| InstanceError::Invalid { file, violation };
            return self.register.finish().map(|()| None).map_err(invalid);
        }
        let fields: EventFields = line(&file, self.line, &self.buffer)?;
        let event = event(&fields, &mut self.register, &mut self.amounts).map_err(|violation| {
            let at = if violation.place.is_empty() { "" } else { ", " };
            let place = format!("line {}{at}{}", self.line, violation.place);
            InstanceError::Invalid { file, violation: Violation { place, ..violation } }
        })?;
        if let (EventKind::Submitted(_), Some(job)) = (event.kind, &fields.job) {
            self.job.push_str(&job.0);
        }
        Ok(Some(event))
    }
}

impl EventSource for Lines {
    fn register(&self) -> &Register {
        &self.register
    }

    fn next_event(&mut self) -> Result<Option<Event>, InstanceError> {
        if self.ended {
            return Ok(None);
        }
        let next = self.read_event();
        self.ended = !matches!(next, Ok(Some(_)));
        next
    }

    fn job_id(&self) -> &str {
        &self.job
    }
}

/// Reads the header, which is the one JSON object in `content`.
pub(super) fn read_header(file: &str, content: &[u8]) -> Result<Register, InstanceError> {
    let fields: HeaderFields = document(file, content, &FORM)?;
    header(&fields)
        .and_then(Register::new)
        .map_err(|violation| InstanceError::Invalid { file: file.to_owned(), violation })
}

fn names(header: &TraceHeader) -> Vec<String> {
    header.resources.iter().map(|resource| resource.name.clone()).collect()
}

fn header(fields: &HeaderFields) -> Result<TraceHeader, Violation> {
    FORM.expect(&fields.format)?;
    if fields.resources.len() > MOST_RESOURCES {
        let (names, problem) =
            (format!("{} names", fields.resources.len()), format!("at most {MOST_RESOURCES} are supported"));
        return Err(Violation::new("resources", names, problem));
    }
    let mut resources: Vec<TraceResource> =
        fields.resources.iter().map(|name| TraceResource::new(name.0.as_ref())).collect();
    let mut amounts = Amounts::new(resources.iter().map(|resource| resource.name.clone()).collect());
    if let Some(places) = &fields.decimal_places {
        amounts.read(places, || "decimal_places".into())?;
        for (position, resource) in resources.iter_mut().enumerate().filter(|(r, _)| amounts.named[*r]) {
            let place = || format!("decimal_places.{}", resource.name);
            let places = whole_number(amounts.values[position], place)?;
            resource.decimal_places =
                u8::try_from(places).ok().filter(|&p| p <= MOST_DECIMAL_PLACES).ok_or_else(|| {
                    Violation::new(place(), places, format!("at most {MOST_DECIMAL_PLACES} are supported"))
                })?;
        }
    }
    if let Some(devices) = &fields.devices {
        amounts.read(devices, || "devices".into())?;
        let sizes = resources.iter_mut().zip(&amounts.values).zip(&amounts.named);
        sizes.for_each(|((resource, size), is_named)| resource.device = is_named.then_some(*size));
    }
    let known: Vec<String> = resources.iter().map(|resource| resource.name.clone()).collect();
    let cuts = fields.device_profiles.as_ref().map(|entries| read_cuts(entries, &known)).transpose()?;
    let device_profiles = cuts.unwrap_or_default();
    let rules = fields.rules.as_ref().map(|entries| read_rules(entries, &device_profiles)).transpose()?;
    let mut server_classes = Vec::new();
    if let Some(raw) = fields.server_classes {
        for_each(raw, "server_classes", |position, Object(class): Object<ClassFields>| {
            let place = |field: &str| format!("server_classes[{position}].{field}");
            let count = whole(class.count, || place("count"))?;
            amounts.read(&class.capacity, || place("capacity"))?;
            let capacity = amounts.values.clone();
            let domain = class.domain.map(|domain| domain.0.into_owned());
            server_classes
                .push(ServerClass { domain, ..ServerClass::new(class.id.0.into_owned(), count, capacity) });
            Ok(())
        })?;
    }
    let mut users = None;
    if let Some(raw) = fields.users {
        let mut listed = Vec::new();
        for_each(raw, "users", |position, Object(user): Object<UserFields>| {
            let weight = user
                .weight
                .map(|raw| number(raw, || format!("users[{position}].weight")))
                .transpose()
                .map_err(Violation::above_zero)?;
            listed.push((user.id.0.into_owned(), weight.unwrap_or(Decimal::ONE)));
            Ok(())
        })?;
        users = Some(listed);
    }
    let mut counts: Vec<(String, u64)> = Vec::new();
    let stated = || fields.counts.iter().flat_map(|entries| &entries.0);
    if let Some(what) = repeated(stated().map(|(what, _)| what.0.as_ref())) {
        return Err(Violation::new(format!("counts.{what}"), "", "duplicate key"));
    }
    for (what, raw) in stated() {
        let place = || format!("counts.{}", what.0);
        counts.push((what.0.clone().into_owned(), whole(raw, place)?));
    }
    let (name, source) = (fields.name.0.clone().into_owned(), fields.source.0.clone().into_owned());
    let rules = rules.unwrap_or_default();
    Ok(TraceHeader { name, source, resources, device_profiles, rules, server_classes, users, counts })
}

/// Checks that exactly the event's own fields are there and enters it.
fn event(fields: &EventFields, register: &mut Register, amounts: &mut Amounts) -> Result<Event, Violation> {
    let time = seconds(fields.time, "time")?;
    let name = fields.event.0.as_ref();
    let position = event_named(name)?;
    let EventForm { needs, may_have, .. } = EVENTS[position];
    if let Some(field) = fields.stated().find(|field| !needs.contains(field) && !may_have.contains(field)) {
        return Err(misplaced(field, name, true));
    }
    let missing = |field: &str| misplaced(field, name, false);
    let server = || Ok(fields.server.as_ref().ok_or_else(|| missing("server"))?.0.as_ref());
    let domain = fields.domain.as_ref().map(|domain| domain.0.as_ref());
    let capacity = |amounts: &mut Amounts| {
        amounts.read(fields.capacity.as_ref().ok_or_else(|| missing("capacity"))?, || "capacity".into())?;
        Ok(amounts.values.clone())
    };
    match position {
        0 => register.server_removed(time, server()?),
        1 => register.server_added_in(time, server()?, &capacity(amounts)?, domain),
        2 => register.server_changed(time, server()?, &capacity(amounts)?),
        _ => {
            let user = fields.user.as_ref().ok_or_else(|| missing("user"))?;
            let job = fields.job.as_ref().ok_or_else(|| missing("job"))?;
            let demand = fields.demand.as_ref().ok_or_else(|| missing("demand"))?;
            let duration = seconds(fields.duration.ok_or_else(|| missing("duration"))?, "duration")
                .map_err(Violation::above_zero)?;
            amounts.read(demand, || "demand".into())?;
            let count = match fields.count {
                None => 1,
                Some(raw) => count(number(raw, || "count".into())?)?,
            };
            let (user, job, demand) = (user.0.as_ref(), job.0.as_ref(), &amounts.values);
            let more = fields.more.unwrap_or(false);
            let rules = fields.rules.as_ref().map(|rules| rules.0.as_ref());
            register.submitted(time, NewTasks { user, job, demand, count, duration, rules, more })
        }
    }
}

/// A number of tasks.
pub(super) fn count(number: Decimal) -> Result<u32, Violation> {
    let whole = whole_number(number, || "count".into())?;
    u32::try_from(whole).map_err(|_| Violation::new("count", whole, format!("must be <= {}", u32::MAX)))
}

fn seconds(raw: &RawValue, field: &str) -> Result<u64, Violation> {
    let number = number(raw, || field.into())?;
    microseconds(number).map_err(|problem| Violation::new(field, number, problem))
}
