//! The canonical form of traffic, `fairplan.traffic.v1`: one class a line. Its SHA-256 names the traffic.

use crate::{Traffic, TrafficClass, WorkDistribution};
use std::io::{self, Write};

use super::FORM;

/// Writes the canonical JSON of `traffic`: numbers in the shortest form that reads back as the same double, fields only
/// where they are not the default. [`read_traffic`](super::read_traffic) returns the same traffic.
pub fn write_traffic(traffic: &Traffic, out: &mut impl Write) -> io::Result<()> {
    let resources = traffic.resources();
    writeln!(out, "{{\n  \"format\": \"{}\",", FORM.format)?;
    if !traffic.name().is_empty() {
        writeln!(out, "  \"name\": {},", text(traffic.name())?)?;
    }
    let names = resources.iter().map(|name| text(name)).collect::<Result<Vec<_>, _>>()?;
    writeln!(out, "  \"resources\": [{}],", names.join(", "))?;
    if traffic.capacity().iter().any(|capacity| *capacity != 1.0) {
        writeln!(out, "  \"capacity\": {},", amounts(&names, traffic.capacity()))?;
    }
    write!(out, "  \"classes\": [")?;
    for (position, class) in traffic.classes().iter().enumerate() {
        write!(out, "{}    {}", if position == 0 { "\n" } else { ",\n" }, one_class(&names, class)?)?;
    }
    writeln!(out, "\n  ]\n}}")
}

/// The SHA-256 of the canonical JSON, in hexadecimal: what `sha256sum` prints for the file that [`write_traffic`]
/// writes.
pub fn traffic_sha256_hex(traffic: &Traffic) -> String {
    crate::files::canonical::hashed(|hash| write_traffic(traffic, hash))
}

fn text(text: &str) -> io::Result<String> {
    Ok(serde_json::to_string(text)?)
}

fn amounts(names: &[String], amounts: &[f64]) -> String {
    let needed = names.iter().zip(amounts).filter(|(_, amount)| **amount != 0.0);
    let entries: Vec<String> = needed.map(|(name, amount)| format!("{name}: {amount}")).collect();
    format!("{{{}}}", entries.join(", "))
}

fn one_class(names: &[String], class: &TrafficClass) -> io::Result<String> {
    let mut line = format!(
        "{{\"id\": {}, \"demand\": {}, \"arrival_rate\": {}",
        text(&class.id)?,
        amounts(names, &class.demand),
        class.arrival_rate
    );
    let work = class.work;
    if work.mean != 1.0 || work.distribution != WorkDistribution::Exponential {
        line += &format!(
            ", \"work\": {{\"mean\": {}, \"distribution\": \"{}\"",
            work.mean,
            work.distribution.name()
        );
        match work.distribution {
            WorkDistribution::HyperExponential { squared_variation } => {
                line += &format!(", \"squared_variation\": {squared_variation}")
            }
            WorkDistribution::Pareto { shape } => line += &format!(", \"shape\": {shape}"),
            WorkDistribution::Exponential | WorkDistribution::Deterministic => {}
        }
        line.push('}');
    }
    if let Some(claim) = &class.claim {
        line += &format!(", \"claim\": {}", amounts(names, claim));
    }
    if class.propagation_time != 0.0 {
        line += &format!(", \"propagation_time\": {}", class.propagation_time);
    }
    if !class.packet_demands.is_empty() {
        let packets: Vec<String> = class.packet_demands.iter().map(|packet| amounts(names, packet)).collect();
        line += &format!(", \"packet_demands\": [{}]", packets.join(", "));
    }
    line.push('}');
    Ok(line)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files::read_traffic;
    use crate::{Traffic, Work};

    #[test]
    fn what_is_written_reads_back_as_the_same_traffic() {
        let mut classes = vec![
            TrafficClass::new("a \"quoted\"", vec![0.1, 1.0], 1.0 / 3.0),
            TrafficClass::new("b", vec![0.0, 2.0], 0.5),
            TrafficClass::new("c", vec![1.5, 0.25], 1e-3),
        ];
        classes[0].claim = Some(vec![0.5, 1.0]);
        classes[0].propagation_time = 0.125;
        let hyper = WorkDistribution::HyperExponential { squared_variation: 4.5 };
        classes[1].work = Work { mean: 3.0, distribution: hyper };
        classes[2].work.distribution = WorkDistribution::Pareto { shape: 1.75 };
        classes[2].packet_demands = vec![vec![1.0, 0.5], vec![2.0, 0.0]];
        let names = vec!["x".to_owned(), "y".to_owned()];
        let traffic = Traffic::new("t", names, vec![2.0, 1.0], classes).unwrap();
        let mut bytes = Vec::new();
        write_traffic(&traffic, &mut bytes).unwrap();
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), &bytes).unwrap();
        assert_eq!(read_traffic(file.path().to_str().unwrap()).unwrap(), traffic);
        assert_eq!(traffic_sha256_hex(&traffic).len(), 64);
    }
}
