//! The canonical form: one text for one instance, the same from whatever file it came. Its SHA-256 names it.
//!
//! Fixed key order, resources in the instance's order with zeros left out, numbers in normal form
//! ([`Decimal::text`]), optional fields only where they are not the default, one class or user a line.

use crate::{Decimal, Draft, Group, GroupId, Instance, Kind, Owner, PlacementRule, ServerClass, User};
use sha2::{Digest, Sha256};
use std::io::{self, Write};

use super::canonical_text::{Text, key};
use super::strict_json::Form;

/// The version that the reader expects and the writer states.
pub(super) const FORM: Form = Form {
    format: "fairplan.instance.v1",
    what: "instance",
    otherwise: "give tables with --servers and --users",
};

/// Writes the canonical JSON of `instance`. [`read_json`](super::read_json) returns the same instance.
pub fn write_json(instance: &Instance, out: &mut impl Write) -> io::Result<()> {
    let mut text = Text::new();
    text.raw("{\n  \"format\": ");
    text.string(FORM.format);
    if !instance.name().is_empty() {
        text.raw(",\n  \"name\": ");
        text.string(instance.name());
    }
    text.raw(",\n  \"resources\": ");
    text.strings(instance.resources().iter().map(String::as_str));
    text.raw(",\n  \"server_classes\": [");
    let keys: Vec<Vec<u8>> = instance.resources().iter().map(|name| key(name)).collect();
    for (position, class) in instance.classes().iter().enumerate() {
        text.raw(if position == 0 { "\n    " } else { ",\n    " });
        text.class(class, &keys);
        text.pass_on(out)?;
    }
    text.raw("\n  ],");
    if !instance.device_profiles().is_empty() {
        text.raw("\n  \"device_profiles\": ");
        text.device_profiles(instance.device_profiles(), &keys, true);
        text.raw(",");
    }
    if !instance.groups().is_empty() {
        text.raw("\n  \"groups\": [");
        for (position, group) in instance.groups().iter().enumerate() {
            text.raw(if position == 0 { "\n    " } else { ",\n    " });
            text.group(position, group, instance, &keys);
            text.pass_on(out)?;
        }
        text.raw("\n  ],");
    }
    text.raw("\n  \"users\": [");
    for (position, user) in instance.users().enumerate() {
        text.raw(if position == 0 { "\n    " } else { ",\n    " });
        text.user(user, instance, &keys);
        text.pass_on(out)?;
    }
    text.raw("\n  ]\n}\n");
    text.finish(out)
}

/// The SHA-256 of the canonical JSON, in hexadecimal: what `sha256sum` prints for the file that
/// [`write_json`] writes.
pub fn sha256_hex(instance: &Instance) -> String {
    hashed(|hash| write_json(instance, hash))
}

/// The SHA-256 in hexadecimal of what `write` writes.
pub(super) fn hashed(write: impl FnOnce(&mut Hash) -> io::Result<()>) -> String {
    let mut hash = Hash(Sha256::new());
    // A hash takes whatever is written to it.
    let _ = write(&mut hash);
    hash.0.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}

/// What is written to it is hashed.
pub(super) struct Hash(Sha256);

impl Write for Hash {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.update(bytes);
        Ok(bytes.len())
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Text {
    pub(super) fn class(&mut self, class: &ServerClass, keys: &[Vec<u8>]) {
        self.raw("{\"id\": ");
        self.string(&class.id);
        self.raw(", \"count\": ");
        self.whole(class.count);
        if !class.names.is_empty() {
            self.raw(", \"names\": ");
            self.strings(class.names.iter().map(String::as_str));
        }
        if let Some(domain) = &class.domain {
            self.raw(", \"domain\": ");
            self.string(domain);
        }
        self.raw(", \"capacity\": ");
        self.amounts(&class.capacity, keys);
        let mut separator = ", \"devices\": {";
        for (resource, count) in &class.devices {
            self.raw(separator);
            self.bytes(&keys[resource.0]);
            self.whole(*count);
            separator = ", ";
        }
        if !class.devices.is_empty() {
            self.raw("}");
        }
        self.raw("}");
    }

    fn group(&mut self, position: usize, group: &Group, instance: &Instance, keys: &[Vec<u8>]) {
        self.raw("{\"id\": ");
        self.string(&group.id);
        if group.weight != Decimal::ONE {
            self.raw(", \"weight\": ");
            self.number(group.weight);
        }
        if let Some(parent) = group.parent {
            self.raw(", \"parent\": ");
            self.string(&instance.groups()[parent.0].id);
        }
        if let Some(quota) = instance.quota_of(Owner::Group(GroupId(position))) {
            self.quota(quota, instance, keys);
        }
        self.raw("}");
    }

    fn user(&mut self, user: User<'_>, instance: &Instance, keys: &[Vec<u8>]) {
        self.raw("{\"id\": ");
        self.string(user.id());
        if !user.has_kinds() {
            self.raw(", \"demand\": ");
            self.amounts(user.demand(), keys);
            self.profile(user.profile_name());
        }
        if let Some(group) = user.group() {
            self.raw(", \"group\": ");
            self.string(&instance.groups()[group.0].id);
        }
        if user.weight() != Decimal::ONE {
            self.raw(", \"weight\": ");
            self.number(user.weight());
        }
        if let Some(tasks) = user.tasks() {
            self.raw(", \"tasks\": ");
            self.whole(tasks);
        }
        if let Some(gang) = user.gang() {
            self.raw(", \"gang\": ");
            self.whole(gang.tasks);
            self.raw(if gang.in_one_domain { ", \"gang_in_domain\": true" } else { "" });
        }
        if let Some(most) = user.spread() {
            self.raw(", \"spread\": ");
            self.whole(most);
        }
        if let Some(most) = user.per_server() {
            self.raw(", \"per_server\": ");
            self.whole(most);
        }
        if user.has_kinds() {
            let mut opening = ", \"kinds\": [";
            for kind in user.kinds() {
                self.raw(opening);
                self.kind(kind, instance, keys);
                opening = ", ";
            }
            self.raw("]");
        } else {
            self.eligible(user.rule(), instance);
            self.rates(user.rule(), instance);
        }
        if let Some(quota) = instance.quota_of(Owner::User(user.index())) {
            self.quota(quota, instance, keys);
        }
        self.raw("}");
    }

    fn rates(&mut self, rule: &PlacementRule, instance: &Instance) {
        let mut separator = ", \"rates\": {";
        for (class, rate) in rule.rates() {
            self.raw(separator);
            self.string(instance.classes()[class.0].id.as_str());
            self.raw(": ");
            self.number(*rate);
            separator = ", ";
        }
        self.raw(if rule.rates().is_empty() { "" } else { "}" });
    }

    fn kind(&mut self, kind: Kind<'_>, instance: &Instance, keys: &[Vec<u8>]) {
        self.raw("{\"id\": ");
        self.string(kind.id().unwrap_or_default());
        self.raw(", \"each\": ");
        self.whole(kind.each());
        self.raw(", \"demand\": ");
        self.amounts(kind.piece(), keys);
        self.profile(kind.profile_name());
        self.eligible(kind.rule(), instance);
        self.raw("}");
    }

    fn eligible(&mut self, rule: &PlacementRule, instance: &Instance) {
        if let Some(classes) = rule.eligible() {
            self.raw(", \"eligible\": ");
            self.strings(classes.iter().map(|class| instance.classes()[class.0].id.as_str()));
        }
    }
}

/// The instance file of what it builds, to be saved and tried by hand; what is wrong with it otherwise.
impl std::fmt::Display for Draft {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.build() {
            Ok(instance) => {
                let mut json = Vec::new();
                write_json(&instance, &mut json).map_err(|_| std::fmt::Error)?;
                f.write_str(&String::from_utf8_lossy(&json))
            }
            Err(violation) => write!(f, "{violation}: {self:?}"),
        }
    }
}
