//! How YARN writes amounts: `1024 mb, 1 vcores`, `50.0%`, `55.0% memory, 30.0% cpu`, `memory-mb=1024, vcores=10%`.

use super::super::queues::rounded;
use fairplan_instances::Decimal;

/// An amount, or a percentage of what the cluster has.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Amount {
    Absolute(Decimal),
    Percent(Decimal),
}

impl Amount {
    /// What it comes to where the whole is `total`.
    pub(super) fn of(self, total: f64) -> Option<Decimal> {
        match self {
            Self::Absolute(amount) => Some(amount),
            Self::Percent(percent) => rounded(percent.to_f64() / 100.0 * total),
        }
    }
}

/// Memory in MiB and vcores, where they are stated.
pub(super) type Amounts = [Option<Amount>; 2];

/// Reads amounts; resources other than memory and vcores are passed over.
pub(super) fn read(text: &str) -> Option<Amounts> {
    let mut amounts = [None; 2];
    let parts: Vec<&str> = text.split(',').map(str::trim).filter(|part| !part.is_empty()).collect();
    if let [all] = parts[..]
        && let Some(percent) = all.strip_suffix('%')
        && !all.contains('=')
    {
        return Some([Some(Amount::Percent(number(percent)?)); 2]);
    }
    for part in &parts {
        let (name, value) = match part.split_once('=') {
            Some((name, value)) => (name.trim(), value.trim()),
            None => {
                let end = part.find(|letter: char| letter.is_ascii_alphabetic())?;
                (part[end..].trim(), part[..end].trim())
            }
        };
        let amount = match value.strip_suffix('%') {
            Some(percent) => Amount::Percent(number(percent)?),
            None => Amount::Absolute(number(value)?),
        };
        match name.to_ascii_lowercase().as_str() {
            "mb" | "memory" | "memory-mb" => amounts[0] = Some(amount),
            "vcores" | "vcore" | "cpu" => amounts[1] = Some(amount),
            _ => {}
        }
    }
    (!parts.is_empty()).then_some(amounts)
}

fn number(text: &str) -> Option<Decimal> {
    Decimal::parse(text.trim().as_bytes()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_way_to_write_amounts_is_read() {
        let absolute = |text: &str| Some(Amount::Absolute(text.parse().unwrap()));
        let percent = |text: &str| Some(Amount::Percent(text.parse().unwrap()));
        for (text, amounts) in [
            ("1024 mb, 1 vcores", [absolute("1024"), absolute("1")]),
            ("1024mb,1vcores", [absolute("1024"), absolute("1")]),
            ("2 vcores, 512 mb", [absolute("512"), absolute("2")]),
            ("50.0%", [percent("50"), percent("50")]),
            ("55.0% memory, 30.0% cpu", [percent("55"), percent("30")]),
            ("memory-mb=1024, vcores=10%", [absolute("1024"), percent("10")]),
            ("vcores=4, yarn.io/gpu=2", [None, absolute("4")]),
        ] {
            assert_eq!(read(text), Some(amounts), "{text}");
        }
        for text in ["", "x mb", "-1 mb", "mb", "a%"] {
            assert_eq!(read(text), None, "{text}");
        }
    }
}
