//! The rules that tasks of a trace meet on servers: what the header may name, and what tasks that name some must be.
//!
//! They are those of an instance (`model/devices.rs`, `model/domains.rs`) for the tasks that are submitted together. A gang that no
//! servers of the header hold is no error, since others may come; its tasks wait.

use super::{NewTasks, RulesNumber, TraceHeader};
use crate::wording::unknown;
use crate::{Decimal, DeviceProfiles, IdTable, TaskRules, Violation};
use std::borrow::Cow;

/// The domains of servers.
#[derive(Clone, Default)]
pub(super) struct Domains {
    names: IdTable,
    of_server: Vec<Option<usize>>,
    /// Whether there are rules for which they could matter.
    has_rules: bool,
    /// The rules that ask for domains, if there are any.
    needed_by: Option<String>,
}

impl Domains {
    pub fn new(header: &TraceHeader) -> Self {
        let asks =
            |rules: &TaskRules| rules.spread.is_some() || rules.gang.is_some_and(|gang| gang.in_one_domain);
        let needed_by = header.rules.iter().find(|(_, rules)| asks(rules)).map(|(name, _)| name.clone());
        let has_rules = !header.rules.is_empty();
        Self { names: IdTable::default(), of_server: Vec::new(), has_rules, needed_by }
    }

    /// A server, the next or a known one, comes in a domain or in none.
    pub fn enter(
        &mut self,
        server: usize,
        domain: Option<&str>,
        place: impl Fn() -> String,
    ) -> Result<(), Violation> {
        if domain == Some("") {
            return Err(Violation::new(place(), "", "a domain needs a name"));
        }
        if let Some(name) = domain.filter(|_| !self.has_rules) {
            let problem =
                "means nothing without rules that tasks meet; state `rules` in the header, or leave it out";
            return Err(Violation::new(place(), name, problem));
        }
        let known = domain.map(|name| self.names.position(name).or_else(|| self.names.insert(name)));
        let domain_number = known.flatten();
        if domain_number.is_none()
            && let Some(rules) = &self.needed_by
        {
            let problem =
                format!("missing, and the rules {rules} are about domains; name the server's rack or zone");
            return Err(Violation::new(place(), "", problem));
        }
        match self.of_server.get(server) {
            None => self.of_server.push(domain_number),
            Some(before) if *before == domain_number => {}
            Some(_) => {
                let problem = "the server was in another domain; give one that is elsewhere another name";
                return Err(Violation::new(place(), domain.unwrap_or_default(), problem));
            }
        }
        Ok(())
    }

    pub fn of(&self, server: usize) -> Option<usize> {
        self.of_server.get(server).copied().flatten()
    }

    pub fn name(&self, domain: usize) -> &str {
        self.names.get(domain)
    }
}

/// Checks what the header says of profiles and rules; `devices` are the units of one device of each resource, 0 where it has none.
pub(super) fn check_rules(header: &TraceHeader, devices: &[u64]) -> Result<(), Violation> {
    for (position, cut) in header.device_profiles.iter().enumerate() {
        let Some(resource) = header.resources.get(cut.resource.0) else {
            return Err(Violation::new("device_profiles", cut.resource.0, "there is no such resource"));
        };
        let place = |field: &str| format!("device_profiles.{}{field}", resource.name);
        let Some(size) = resource.device else {
            let problem = format!("{} has no devices; state their size in `devices`", resource.name);
            return Err(Violation::new(place(""), "", problem));
        };
        cut.clone().check(&resource.name, size, &header.device_profiles[..position])?;
        if !devices[cut.resource.0].is_multiple_of(cut.slices.into()) {
            let problem = format!(
                "a slice of a device of {size} {} has more decimal places than the header states; state more in `decimal_places`",
                resource.name
            );
            return Err(Violation::new(place(".slices"), cut.slices, problem));
        }
    }
    for (position, (name, rules)) in header.rules.iter().enumerate() {
        if name.is_empty() {
            return Err(Violation::new("rules", "", "rules need a name; tasks name theirs"));
        }
        if header.rules[..position].iter().any(|(other, _)| other == name) {
            return Err(Violation::new(format!("rules.{name}"), "", "duplicate key"));
        }
        check(header, name, rules)?;
    }
    Ok(())
}

fn check(header: &TraceHeader, name: &str, rules: &TaskRules) -> Result<(), Violation> {
    let refused = |field: &str, value: u64, problem: String| {
        Err(Violation::new(format!("rules.{name}.{field}"), value, problem))
    };
    if *rules == TaskRules::default() {
        return Err(Violation::new(format!("rules.{name}"), "", "says nothing; leave it out"));
    }
    if rules.per_server == Some(0) {
        return refused("per_server", 0, "lets no task run; use 1 or more, or leave it out".into());
    }
    if rules.spread == Some(0) {
        return refused("spread", 0, "lets no first task run; use 1 or more, or leave it out".into());
    }
    if let Some(gang) = rules.gang {
        if gang.tasks < 2 {
            let problem = "a gang has 2 tasks or more; leave it out where each task runs for itself";
            return refused("gang", gang.tasks, problem.into());
        }
        if let Some(most) = rules.spread.filter(|most| gang.in_one_domain && *most < gang.tasks) {
            let problem = format!(
                "a gang of {} in one domain makes the domains differ by as much; use a larger spread, or leave out one of them",
                gang.tasks
            );
            return refused("spread", most, problem);
        }
    }
    let is_known = |cut: &DeviceProfiles| {
        rules.profile.is_some_and(|of| of.resource == cut.resource && of.number < cut.profiles.len())
    };
    if rules.profile.is_some() && !header.device_profiles.iter().any(is_known) {
        let problem = "there is no such profile; state it in `device_profiles`";
        return Err(Violation::new(format!("rules.{name}.profile"), "", problem));
    }
    Ok(())
}

/// The number of the rules called so.
pub(super) fn rules_named(header: &TraceHeader, name: &str) -> Result<RulesNumber, Violation> {
    let known = header.rules.iter().position(|(other, _)| other == name);
    known.map(|number| RulesNumber(number as u32)).ok_or_else(|| {
        let problem = match header.rules.is_empty() {
            true => "the header states no rules; state them in its `rules`".into(),
            false => unknown("rules", name, header.rules.iter().map(|(name, _)| name.as_str())),
        };
        Violation::new("rules", name, problem)
    })
}

/// What one of these tasks demands under its rules.
pub(super) fn under_rules<'a>(
    header: &TraceHeader,
    rules: Option<RulesNumber>,
    tasks: &NewTasks<'a>,
) -> Result<Cow<'a, [Decimal]>, Violation> {
    let of = header.task_rules(rules);
    if let Some(gang) = of.gang.filter(|gang| !u64::from(tasks.count).is_multiple_of(gang.tasks)) {
        let problem = format!(
            "is no whole number of gangs of {}; submit whole gangs, or tasks beside them by a line of their own",
            gang.tasks
        );
        return Err(Violation::new("count", tasks.count, problem));
    }
    let Some(profile) = of.profile else { return Ok(Cow::Borrowed(tasks.demand)) };
    let cut = header.device_profiles.iter().find(|cut| cut.resource == profile.resource);
    let resource = header.resources.get(profile.resource.0);
    let amount = cut.zip(resource).and_then(|(cut, resource)| cut.amount(profile.number, resource.device?));
    let (Some(amount), Some(resource), Some(stated)) =
        (amount, resource, tasks.demand.get(profile.resource.0))
    else {
        return Ok(Cow::Borrowed(tasks.demand));
    };
    if stated.is_zero() {
        let mut demand = tasks.demand.to_vec();
        demand[profile.resource.0] = amount;
        return Ok(Cow::Owned(demand));
    }
    if *stated != amount {
        let name = cut.map_or("", |cut| cut.profiles[profile.number].name.as_str());
        let problem = format!(
            "a part of profile {name} is {amount} {}; leave it out, or correct the demand or the profile",
            resource.name
        );
        return Err(Violation::new(format!("demand.{}", resource.name), stated, problem));
    }
    Ok(Cow::Borrowed(tasks.demand))
}
