//! Slurm's accounts: lines of `sacctmgr`, the file that `sacctmgr dump` writes, and what `sacctmgr -P show qos format=name,grptres`
//! prints, which has what jobs are sure of in the QOS of their account, called `sure-ACCOUNT`.

use super::Reading;
use fairplan_instances::InstanceError;
use fairplan_instances::files::source::Source;
use std::collections::BTreeMap;

/// What the name of the QOS of an account begins with.
const SURE: &str = "sure-";

type Amounts = BTreeMap<(String, String), f64>;

pub(super) fn read(mut reading: Reading<'_>, source: Source) -> Result<(), InstanceError> {
    let content = source.read_all()?;
    let text = String::from_utf8_lossy(&content);
    let mut above = String::new();
    for (position, line) in text.lines().map(str::trim).enumerate() {
        let place = |field: &str| format!("line {}: {field}", position + 1);
        if let Some(parent) = line.strip_prefix("Parent - ") {
            // Of a dump, everything after `Parent - 'a'` belongs to a.
            above = name_of(parent);
        } else if let Some(account) = line.strip_prefix("Account - ") {
            let fields = std::iter::once(format!("parent={above}"));
            let fields = fields.chain(account.split(':').skip(1).map(str::to_owned));
            reading.account(&name_of(account), fields, place)?;
        } else if line.starts_with("sacctmgr") {
            let words = || line.split_whitespace().map(str::to_owned);
            let name = words().find_map(|word| word.strip_prefix("name=").map(str::to_owned));
            let Some(name) = name else { continue };
            if line.contains(" account ") {
                reading.account(&name, words(), place)?;
            } else if line.contains(" qos ") {
                let amounts = words().find_map(|word| word.strip_prefix("GrpTRES=").map(str::to_owned));
                reading.qos(&name, amounts.as_deref(), place)?;
            }
        } else if let Some((name, amounts)) = line.split_once('|') {
            reading.qos(name, Some(amounts.trim_end_matches('|')), place)?;
        }
    }
    Ok(())
}

impl Reading<'_> {
    /// What fields `name=value` say of an account.
    fn account(
        &mut self,
        name: &str,
        fields: impl Iterator<Item = String>,
        place: impl Fn(&str) -> String,
    ) -> Result<(), InstanceError> {
        let mut queue = self.found.get(name).cloned().unwrap_or_default();
        for field in fields {
            let Some((key, value)) = field.split_once('=') else { continue };
            match key.to_ascii_lowercase().as_str() {
                "parent" => queue.parent = if value == "root" { String::new() } else { value.to_owned() },
                "fairshare" => {
                    let weight = value.parse();
                    queue.weight = Some(
                        weight.map_err(|_| self.refused(&place("fairshare"), value, "must be a number"))?,
                    );
                }
                "grptres" => queue.limits = self.amounts(value, &place)?,
                _ => {}
            }
        }
        self.found.insert(name.to_owned(), queue);
        Ok(())
    }

    /// What the jobs of a QOS may have together.
    fn qos(
        &mut self,
        name: &str,
        amounts: Option<&str>,
        place: impl Fn(&str) -> String,
    ) -> Result<(), InstanceError> {
        if let (Some(account), Some(amounts)) = (name.strip_prefix(SURE), amounts) {
            let amounts = self.amounts(amounts, &place)?;
            self.found.entry(account.to_owned()).or_default().amounts = amounts;
        }
        Ok(())
    }

    /// `cpu=4,mem=2G`, memory in MiB; -1 is no limit.
    fn amounts(&self, text: &str, place: &impl Fn(&str) -> String) -> Result<Amounts, InstanceError> {
        let mut found = Amounts::new();
        for (resource, amount) in text.split(',').filter_map(|part| part.split_once('=')) {
            let (number, factor) = match amount.strip_suffix(['K', 'M', 'G', 'T', 'P']) {
                Some(number) if resource == "mem" => (
                    number,
                    match amount.as_bytes().last() {
                        Some(b'K') => 1.0 / 1024.0,
                        Some(b'G') => 1024.0,
                        Some(b'T') => 1_048_576.0,
                        Some(b'P') => 1_073_741_824.0,
                        _ => 1.0,
                    },
                ),
                _ => (amount, 1.0),
            };
            let problem = "must be a number, of mem with K, M, G or T";
            let number: f64 = number.parse().map_err(|_| self.refused(&place("GrpTRES"), amount, problem))?;
            if number >= 0.0 {
                found.insert((String::new(), resource.to_owned()), number * factor);
            }
        }
        Ok(found)
    }
}

/// What stands in the first quotes.
fn name_of(text: &str) -> String {
    text.split('\'').nth(1).unwrap_or(text).to_owned()
}
