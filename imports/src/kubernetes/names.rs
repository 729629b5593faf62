//! What the conditions of pods are called in the names of users: `disk=ssd`, `tolerates:gpu`, `untainted`.

use super::placement::{Conditions, Taint};
use super::requirements::{having, plain, required};
use std::collections::BTreeSet;

/// A longer name says nothing at a glance.
const LONGEST: usize = 80;

/// The name of `conditions` on a cluster whose nodes have `taints`: what is selected, required and tolerated. Keys are
/// without their prefix. Empty where the name would be too long to be of use.
pub(super) fn name(conditions: &Conditions, taints: &[&Taint]) -> String {
    let selected = conditions.selector.iter().map(|(key, value)| having(plain(key), value));
    let mut parts: Vec<String> = selected.collect();
    if let Some(terms) = &conditions.terms {
        let term = |requirements: Vec<String>| requirements.join("&");
        let terms = terms
            .iter()
            .map(|wanted| term(wanted.expressions.iter().chain(&wanted.fields).map(required).collect()));
        parts.push(terms.collect::<Vec<_>>().join("|"));
    }
    let tolerated = taints.iter().filter(|taint| taint.repels() && conditions.tolerate(taint));
    let tolerated: BTreeSet<&str> = tolerated.map(|taint| plain(&taint.key)).collect();
    parts.extend(tolerated.iter().map(|key| format!("tolerates:{key}")));
    parts.retain(|part| !part.is_empty());
    if parts.is_empty() && taints.iter().any(|taint| taint.repels()) {
        parts.push("untainted".into());
    }
    let name = parts.join("+");
    if name.chars().count() > LONGEST { String::new() } else { name }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{from_value, json};

    #[test]
    fn a_name_says_what_is_selected_required_and_tolerated() {
        let taints: Vec<Taint> = from_value(json!([
            {"key": "nvidia.com/gpu", "effect": "NoSchedule"},
            {"key": "old", "effect": "PreferNoSchedule"}]))
        .unwrap();
        let taints: Vec<&Taint> = taints.iter().collect();
        for (conditions, expected) in [
            (json!({"selector": {}, "tolerations": []}), "untainted"),
            (json!({"selector": {"example.com/disk": "ssd"}, "tolerations": []}), "disk=ssd"),
            (json!({"selector": {}, "tolerations": [{"operator": "Exists"}]}), "tolerates:gpu"),
            (
                json!({"selector": {"zone": "a"}, "tolerations": [{"key": "nvidia.com/gpu", "operator": "Exists"}],
                "terms": [
                    {"matchExpressions": [{"key": "disk", "operator": "In", "values": ["ssd", "hdd"]},
                                          {"key": "slow", "operator": "DoesNotExist"}]},
                    {"matchFields": [{"key": "metadata.name", "operator": "NotIn", "values": ["n"]}]}]}),
                "zone=a+disk=ssd,hdd&!slow|metadata.name!=n+tolerates:gpu",
            ),
            (json!({"selector": {"zone": "a".repeat(80)}, "tolerations": []}), ""),
        ] {
            let conditions: Conditions = from_value(conditions).unwrap();
            assert_eq!(name(&conditions, &taints), expected);
        }
        let free = from_value::<Conditions>(json!({"selector": {}, "tolerations": []})).unwrap();
        assert_eq!(name(&free, &[]), "");
    }
}
