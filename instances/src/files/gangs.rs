//! Gangs in JSON, as users of an instance and rules of a trace state them: `gang` and `gang_in_domain`.

use super::strict_json::whole;
use crate::{Gang, Violation};
use serde_json::value::RawValue;

/// The gang that both fields state; `place` of each.
pub(super) fn read_gang(
    tasks: Option<&RawValue>,
    in_domain: Option<bool>,
    place: impl Fn(&str) -> String,
) -> Result<Option<Gang>, Violation> {
    let tasks = tasks.map(|raw| whole(raw, || place("gang"))).transpose()?;
    if tasks.is_none() && in_domain.is_some() {
        let problem = "says where a gang runs, and there is none; state `gang`, or leave it out";
        return Err(Violation::new(place("gang_in_domain"), "", problem));
    }
    Ok(tasks.map(|tasks| Gang { tasks, in_one_domain: in_domain == Some(true) }))
}
