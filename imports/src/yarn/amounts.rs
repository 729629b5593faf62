//! How YARN writes amounts: `1024 mb, 1 vcores`, `50.0%`, `55.0% memory, 30.0% cpu`, `memory-mb=1024, vcores=10%`,
//! `memory=4Gi, vcores=2`.
//!
//! Source: `FairSchedulerConfiguration.parseResourceConfigValue`, `CapacitySchedulerConfiguration` and
//! `UnitsConversionUtil` of Hadoop 3. What Hadoop would refuse, or find another number in, is refused here too.

use fairplan_instances::{Decimal, DecimalError};

/// An amount, or a percentage of what the cluster has.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Amount {
    Absolute(Decimal),
    Percent(Decimal),
}

impl Amount {
    /// What it comes to where the whole is `total`; `None` when that is no number that can be used.
    pub(super) fn of(self, total: Decimal) -> Option<Decimal> {
        match self {
            Self::Absolute(amount) => Some(amount),
            Self::Percent(percent) => percent_of(total, percent),
        }
    }
}

/// So many percent of an amount: exact where that takes no more than eighteen digits, else rounded down, so that parts never
/// come to more than the whole.
pub(super) fn percent_of(amount: Decimal, percent: Decimal) -> Option<Decimal> {
    let [one, other] = [amount, percent].map(|number| number.scaled(number.exponent()));
    let mut units = one?.checked_mul(other?)?;
    let mut exponent = i32::from(amount.exponent()) + i32::from(percent.exponent()) - 2;
    while units >= 10u128.pow(18) {
        (units, exponent) = (units / 10, exponent + 1);
    }
    Decimal::from_units(units, exponent).ok()
}

/// What a text says of memory in MiB and vcores, where it does.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Amounts {
    pub(super) of: [Option<Amount>; 2],
    /// Whether other resources have amounts too, which are passed over.
    pub(super) others: bool,
}

impl Amounts {
    fn set(&mut self, resource: usize, amount: Amount) -> Result<(), &'static str> {
        match self.of[resource].replace(amount) {
            None => Ok(()),
            Some(_) => Err("states a resource twice"),
        }
    }
}

/// Reads amounts, or says what is wrong with them.
pub(super) fn read(text: &str) -> Result<Amounts, &'static str> {
    let parts: Vec<&str> = text.split(',').map(str::trim).filter(|part| !part.is_empty()).collect();
    let amounts = match parts[..] {
        [] => Err("is empty"),
        [all] if all.ends_with('%') && !all.contains('=') => {
            return Ok(Amounts { of: [Some(percent(all)?); 2], others: false });
        }
        _ if text.contains('=') => named(&parts),
        _ => with_units(&parts),
    }?;
    if amounts.of == [None; 2] && !amounts.others { Err("states no amount") } else { Ok(amounts) }
}

/// `memory-mb=1024, vcores=10%`.
fn named(parts: &[&str]) -> Result<Amounts, &'static str> {
    let mut amounts = Amounts::default();
    for part in parts {
        let (name, value) = part.split_once('=').ok_or("must have NAME=VALUE between commas")?;
        let value = value.trim();
        match name.trim() {
            "memory" | "memory-mb" if value.ends_with('%') => amounts.set(0, percent(value)?)?,
            "memory" | "memory-mb" => amounts.set(0, Amount::Absolute(mebibytes(value)?))?,
            "vcores" if value.ends_with('%') => amounts.set(1, percent(value)?)?,
            "vcores" => amounts.set(1, Amount::Absolute(whole(value)?.0))?,
            "" => return Err("must have NAME=VALUE between commas"),
            _ => amounts.others = true,
        }
    }
    Ok(amounts)
}

/// `1024 mb, 1 vcores` or `55.0% memory, 30.0% cpu`; both must be there.
fn with_units(parts: &[&str]) -> Result<Amounts, &'static str> {
    let mut amounts = Amounts::default();
    for part in parts {
        let end = part.find(|letter: char| letter.is_ascii_alphabetic()).unwrap_or(part.len());
        let (value, unit) = (part[..end].trim(), part[end..].to_ascii_lowercase());
        let share = value.ends_with('%');
        match (unit.as_str(), share) {
            ("mb", false) => amounts.set(0, Amount::Absolute(cut(value)?))?,
            ("vcores", false) => amounts.set(1, Amount::Absolute(cut(value)?))?,
            ("memory", true) => amounts.set(0, percent(value)?)?,
            ("cpu", true) => amounts.set(1, percent(value)?)?,
            _ => {
                return Err(
                    "has an amount that is no number, or another unit than mb and vcores (of percentages: memory and cpu)",
                );
            }
        }
    }
    match amounts.of {
        [Some(_), Some(_)] => Ok(amounts),
        _ => Err("must state both memory and vcores"),
    }
}

/// Digits, and perhaps decimals.
fn number(text: &str) -> Result<Decimal, &'static str> {
    const PROBLEM: &str = "has no plain number >= 0 where there must be one";
    if !text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.') {
        return Err(PROBLEM);
    }
    Decimal::parse(text.as_bytes()).map_err(|error| match error {
        DecimalError::TooPrecise | DecimalError::OutOfRange => "is too large, or has too many digits",
        _ => PROBLEM,
    })
}

fn percent(text: &str) -> Result<Amount, &'static str> {
    number(text.trim_end_matches('%').trim()).map(Amount::Percent)
}

/// A whole number, as a decimal too.
fn whole(text: &str) -> Result<(Decimal, u128), &'static str> {
    let number = number(text)?;
    number.scaled(0).map(|whole| (number, whole)).ok_or("has a fraction where only whole numbers may be")
}

/// The whole part of a number.
fn cut(text: &str) -> Result<Decimal, &'static str> {
    number(text)?;
    whole(text.split('.').next().unwrap_or_default()).map(|(number, _)| number)
}

/// Units and how many bytes they stand for.
const UNITS: [(&str, u128); 10] = [
    ("k", 1_000),
    ("M", 1_000_000),
    ("G", 1_000_000_000),
    ("T", 1_000_000_000_000),
    ("P", 1_000_000_000_000_000),
    ("Ki", 1 << 10),
    ("Mi", 1 << 20),
    ("Gi", 1 << 30),
    ("Ti", 1 << 40),
    ("Pi", 1 << 50),
];

/// Memory in whole MiB; without a unit it counts MiB already.
fn mebibytes(text: &str) -> Result<Decimal, &'static str> {
    let end = text.find(|letter: char| letter.is_ascii_alphabetic()).unwrap_or(text.len());
    let (number, unit) = (whole(text[..end].trim())?, &text[end..]);
    if unit.is_empty() {
        return Ok(number.0);
    }
    let known = UNITS.iter().find(|(name, _)| *name == unit);
    let (_, bytes) = known.ok_or("has an unknown unit; write MiB without one, or Mi, Gi, Ti, M, G, T")?;
    let whole = number.1.checked_mul(*bytes).ok_or("is too large")? >> 20;
    Decimal::from_units(whole, 0).map_err(|_| "is too large")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_way_to_write_amounts_is_read() {
        let absolute = |text: &str| Some(Amount::Absolute(text.parse().unwrap()));
        let percent = |text: &str| Some(Amount::Percent(text.parse().unwrap()));
        for (text, of) in [
            ("1024 mb, 1 vcores", [absolute("1024"), absolute("1")]),
            ("1024mb,1vcores", [absolute("1024"), absolute("1")]),
            ("2 VCores, 512.7 MB", [absolute("512"), absolute("2")]),
            ("50.0%", [percent("50"), percent("50")]),
            ("50 %", [percent("50"), percent("50")]),
            ("55.0% memory, 30.0% cpu", [percent("55"), percent("30")]),
            ("memory-mb=1024, vcores=10%", [absolute("1024"), percent("10")]),
            ("memory=20Gi,vcores=10", [absolute("20480"), absolute("10")]),
            ("memory=10G", [absolute("9536"), None]),
            ("memory=1Ki", [absolute("0"), None]),
        ] {
            assert_eq!(read(text), Ok(Amounts { of, others: false }), "{text}");
        }
        assert_eq!(read("vcores=4, yarn.io/gpu=2"), Ok(Amounts { of: [None, absolute("4")], others: true }));
    }

    #[test]
    fn what_hadoop_would_not_read_is_refused_and_no_limit_is_lost() {
        for text in [
            "",
            " ",
            "x mb",
            "-1 mb",
            "mb",
            "a%",
            "%",
            "20 gb, 10 vcores",
            "20480 mib, 40 cores",
            "1e308",
            "1e308 mb, 1 vcores",
            "1e3%",
            "nan%",
            "1024, 1",
            "1024 mb",
            "10 vcores",
            "50% memory",
            "50%, 50%",
            "memory-mb=1e3",
            "memory=1.5Gi",
            "memory=4gb",
            "memory=4Gi,memory=2Gi",
            "vcores=2k",
            "=4",
            "memory",
            "1024 mb, 1 mb",
            "vcores",
            "memory=99999999999999999999999Pi",
        ] {
            assert!(read(text).is_err(), "{text}");
        }
        assert_eq!(
            read("99999999999999999999999999 mb, 1 vcores"),
            Err("is too large, or has too many digits")
        );
    }
}
