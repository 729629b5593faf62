//! What amounts count in: cores, bytes and pieces, in whole units of each resource.

use crate::Target;
use fairplan_instances::quantity::Quantity;
use fairplan_instances::wording::choose;
use fairplan_instances::{Decimal, Instance, ResourceKind, Violation, is_memory};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt::Write;
use std::str::FromStr;

/// All amounts are counted in billionths.
pub(crate) const BILLION: u128 = 1_000_000_000;

/// The unit of a resource, of which tenants get whole numbers: `memory=4Gi`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unit {
    /// The resource.
    pub resource: String,
    /// How much of it, as Kubernetes writes quantities.
    pub amount: String,
}

impl FromStr for Unit {
    type Err = Violation;
    fn from_str(text: &str) -> Result<Self, Violation> {
        let problem = "write RESOURCE=AMOUNT, such as cpu=1 or memory=4Gi";
        let (resource, amount) = text.split_once('=').ok_or_else(|| Violation::new("unit", text, problem))?;
        Ok(Self { resource: resource.trim().into(), amount: amount.trim().into() })
    }
}

/// What the instance counts memory in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum MemoryIn {
    /// Bytes, as importers of Kubernetes write it.
    #[serde(rename = "bytes")]
    Bytes,
    /// MiB, as those of YARN and Slurm do.
    #[serde(rename = "Mi")]
    Mebibytes,
    /// GiB.
    #[serde(rename = "Gi")]
    Gibibytes,
}

impl MemoryIn {
    /// How many bytes that is.
    pub fn bytes(self) -> u128 {
        match self {
            Self::Bytes => 1,
            Self::Mebibytes => MEBI,
            Self::Gibibytes => GIBI,
        }
    }
}

impl MemoryIn {
    /// What it is called in options and files.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Bytes => "bytes",
            Self::Mebibytes => "Mi",
            Self::Gibibytes => "Gi",
        }
    }
}

impl FromStr for MemoryIn {
    type Err = Violation;
    fn from_str(text: &str) -> Result<Self, Violation> {
        match text {
            "bytes" => Ok(Self::Bytes),
            "Mi" => Ok(Self::Mebibytes),
            "Gi" => Ok(Self::Gibibytes),
            _ => Err(Violation::new("memory-in", text, choose(text, &["bytes", "Mi", "Gi"]))),
        }
    }
}

pub(crate) const MEBI: u128 = 1 << 20;
const GIBI: u128 = 1 << 30;

/// A resource as it is counted here.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Counted {
    /// The instance's name.
    pub(crate) name: String,
    /// The target's name; `None`: the target does not count it.
    pub(crate) called: Option<String>,
    /// What one of the instance's is, in cores, bytes or pieces.
    pub(crate) factor: u128,
    /// A whole unit, in billionths of a core, a byte or a piece.
    pub(crate) unit: u128,
    /// What whole units are whole multiples of, since the target counts nothing smaller, in billionths too.
    pub(crate) smallest: u128,
    pub(crate) is_memory: bool,
    /// Whether it is counted in bytes: memory and storage.
    pub(crate) in_bytes: bool,
}

impl Counted {
    /// An amount of the instance in billionths, rounded down.
    pub(crate) fn billionths(&self, amount: Decimal) -> u128 {
        let exact = amount.scaled(-9).and_then(|amount| amount.checked_mul(self.factor));
        exact.unwrap_or_else(|| (amount.to_f64() * 1e9 * self.factor as f64) as u128)
    }

    /// An amount of the instance in units.
    pub(crate) fn in_units(&self, amount: f64) -> f64 {
        amount * self.factor as f64 * 1e9 / self.unit as f64
    }

    /// So many billionths as Kubernetes writes them.
    pub(crate) fn quantity(&self, billionths: u128) -> String {
        let whole = billionths / BILLION;
        if self.in_bytes && billionths.is_multiple_of(BILLION) && whole > 0 {
            let units = [("Ti", GIBI << 10), ("Gi", GIBI), ("Mi", MEBI), ("Ki", 1 << 10)];
            if let Some((suffix, bytes)) = units.into_iter().find(|(_, bytes)| whole.is_multiple_of(*bytes)) {
                return format!("{}{suffix}", whole / bytes);
            }
        }
        plain(billionths)
    }
}

/// Billionths as a plain decimal.
pub(crate) fn plain(billionths: u128) -> String {
    let mut text = (billionths / BILLION).to_string();
    let rest = billionths % BILLION;
    if rest > 0 {
        let _ = write!(text, ".{rest:09}");
        text.truncate(text.trim_end_matches('0').len());
    }
    text
}

/// A core comes with more bytes of memory than this on some server of any cluster.
const LEAST_OF_A_CORE: f64 = (1u64 << 25) as f64;

/// The most of resource `memory` with which a core comes on any class that has both; `None` where none has.
fn memory_of_a_core(instance: &Instance, memory: usize) -> Option<f64> {
    let cores = instance.resources().iter().position(|name| ResourceKind::of(name) == ResourceKind::Cores)?;
    let classes = instance.classes().iter().map(|class| [cores, memory].map(|r| class.capacity[r].to_f64()));
    let both = classes.filter(|amounts| amounts.iter().all(|amount| *amount > 0.0));
    both.map(|[cores, memory]| memory / cores).reduce(f64::max)
}

/// The resources of an instance as `target` counts them.
///
/// # Errors
/// Units of resources that are not there or that the target cannot count in, and memory that cannot be in what it is said to be in.
pub(crate) fn counted(
    instance: &Instance,
    target: Target,
    units: &[Unit],
    memory_in: MemoryIn,
) -> Result<Vec<Counted>, Violation> {
    if let Some(unit) = units.iter().find(|unit| !instance.resources().contains(&unit.resource)) {
        let problem = format!("is no resource of the instance; use {}", instance.resources().join(", "));
        return Err(Violation::new("unit", &unit.resource, problem));
    }
    let resource = |(r, name): (usize, &String)| {
        let is_memory = is_memory(name);
        let is_storage = name.contains("storage") || name.starts_with("hugepages");
        let factor = if is_memory { memory_in.bytes() } else { 1 };
        let stated = units.iter().rfind(|unit| unit.resource == *name);
        let unit = match stated {
            None if is_memory || is_storage => GIBI * BILLION,
            None => BILLION,
            Some(unit) => {
                let read = Quantity::parse(&unit.amount);
                let read =
                    read.map_err(|problem| Violation::new(format!("unit {name}"), &unit.amount, problem))?;
                let billionths = read.decimal().and_then(|amount| amount.scaled(-9)).filter(|unit| *unit > 0);
                billionths
                    .ok_or_else(|| Violation::new(format!("unit {name}"), &unit.amount, "must be above 0"))?
            }
        };
        let called = called(target, name);
        let smallest = smallest(target, is_memory, called.as_deref());
        if !unit.is_multiple_of(smallest) && called.is_some() {
            let what = if is_memory { " bytes" } else { "" };
            let problem = format!(
                "{} counts it in whole {}{what}; state a whole multiple of that",
                target.title(),
                plain(smallest)
            );
            return Err(Violation::new(format!("unit {name}"), plain(unit), problem));
        }
        let largest = instance.classes().iter().map(|class| class.capacity[r].to_f64()).fold(0.0, f64::max);
        let in_bytes = largest * factor as f64;
        if is_memory && largest > 0.0 && (in_bytes < (1u64 << 26) as f64 || in_bytes > (1u64 << 50) as f64) {
            let problem = format!(
                "is what the largest server has, which counted in {} would be {in_bytes} bytes; say with --memory-in what the \
                 instance counts it in (bytes, Mi or Gi)",
                memory_in.name()
            );
            return Err(Violation::new("memory", largest, problem));
        }
        if let Some(of_a_core) = memory_of_a_core(instance, r).filter(|_| is_memory) {
            let in_bytes = of_a_core * factor as f64;
            if in_bytes < LEAST_OF_A_CORE {
                let problem = format!(
                    "is what a core comes with at most, which counted in {} would be {in_bytes} bytes; say with --memory-in what the \
                     instance counts it in (bytes, Mi or Gi)",
                    memory_in.name()
                );
                return Err(Violation::new("memory", of_a_core, problem));
            }
        }
        let in_bytes = is_memory || is_storage;
        Ok(Counted { name: name.clone(), called, factor, unit, smallest, is_memory, in_bytes })
    };
    let counted: Vec<Counted> =
        instance.resources().iter().enumerate().map(resource).collect::<Result<_, _>>()?;
    if counted.iter().all(|resource| resource.called.is_none()) {
        let problem = format!(
            "{} counts none of these resources, so there is nothing to tell it; export to a scheduler that counts them, such as kueue",
            target.title()
        );
        return Err(Violation::new("resources", instance.resources().join(", "), problem));
    }
    Ok(counted)
}

/// The smallest amount of a resource that a target counts, in billionths of a core, a byte or a piece.
fn smallest(target: Target, is_memory: bool, called: Option<&str>) -> u128 {
    match target {
        _ if is_memory && target.is_kubernetes() => BILLION,
        _ if is_memory => MEBI * BILLION,
        Target::Yarn | Target::YarnFair | Target::Slurm => BILLION,
        _ if matches!(called, Some("cpu" | "vcore")) => BILLION / 1000,
        _ => BILLION,
    }
}

/// What a target calls a resource; `None` where it does not count it.
pub(crate) fn called(target: Target, name: &str) -> Option<String> {
    let kind = ResourceKind::of(name);
    let (is_cpu, is_gpu, is_memory) =
        (kind == ResourceKind::Cores, kind == ResourceKind::Gpu, is_memory(name));
    let called = match target {
        Target::Kueue | Target::Volcano if is_cpu => "cpu",
        Target::Kueue | Target::Volcano | Target::YuniKorn if is_memory => "memory",
        Target::YuniKorn if is_cpu => "vcore",
        Target::Kueue | Target::Volcano | Target::YuniKorn => name,
        Target::Yarn | Target::YarnFair if is_cpu => "vcores",
        Target::Yarn | Target::YarnFair if is_memory => "memory",
        Target::Kai if is_cpu => "cpu",
        Target::Kai if is_memory => "memory",
        Target::Kai if is_gpu => "gpu",
        Target::Slurm if is_cpu => "cpu",
        Target::Slurm if is_memory => "mem",
        Target::Slurm if name.starts_with("gres/") => name,
        Target::Slurm if is_gpu => "gres/gpu",
        Target::Yarn | Target::YarnFair | Target::Kai | Target::Slurm => return None,
    };
    Some(called.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn memory() -> Counted {
        let name = "memory".to_owned();
        Counted {
            called: Some(name.clone()),
            name,
            factor: 1,
            unit: GIBI * BILLION,
            smallest: BILLION,
            is_memory: true,
            in_bytes: true,
        }
    }

    #[test]
    fn storage_is_written_in_the_units_of_memory() {
        let resources = ["cpu".to_owned(), "ephemeral-storage".to_owned()];
        let mut builder = fairplan_instances::InstanceBuilder::new("it", resources.to_vec()).unwrap();
        let capacity = vec![Decimal::from(4), "4398046511104".parse().unwrap()];
        builder.class(fairplan_instances::ServerClass::new("a", 1, capacity)).unwrap();
        let demand = vec![Decimal::ONE, Decimal::ONE];
        builder.user(fairplan_instances::NewUser::new("u", &demand)).unwrap();
        let instance = builder.build().unwrap();
        let storage = &counted(&instance, Target::Kai, &[], MemoryIn::Bytes).unwrap()[1];
        assert_eq!(storage.quantity(storage.unit), "1Gi");
    }

    #[test]
    fn quantities_are_written_as_people_do_and_read_back_the_same() {
        for (bytes, text) in
            [(3 * GIBI, "3Gi"), (GIBI << 11, "2Ti"), (GIBI + MEBI, "1025Mi"), (1000, "1000"), (0, "0")]
        {
            assert_eq!(memory().quantity(bytes * BILLION), text);
            assert_eq!(Quantity::parse(text).unwrap().decimal().unwrap().scaled(0), Some(bytes));
        }
        let cores = Counted { is_memory: false, in_bytes: false, ..memory() };
        assert_eq!(cores.quantity(2_500_000_000), "2.5");
        assert_eq!(cores.quantity(4 << 30), "4.294967296");
    }
}
