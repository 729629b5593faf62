//! Slurm's accounts: lines of `sacctmgr`, or the file that `sacctmgr dump` writes.

use super::{DeployedQueue, Reading};
use fairplan_instances::InstanceError;
use fairplan_instances::files::source::Source;

pub(super) fn read(reading: Reading<'_>, source: Source) -> Result<(), InstanceError> {
    let content = source.read_all()?;
    let text = String::from_utf8_lossy(&content);
    let mut above = String::new();
    for (position, line) in text.lines().map(str::trim).enumerate() {
        let place = |field: &str| format!("line {}: {field}", position + 1);
        // Of a dump, everything after `Parent - 'a'` belongs to a.
        if let Some(parent) = line.strip_prefix("Parent - ") {
            above = name_of(parent);
            continue;
        }
        let (name, parent, fields): (String, String, Vec<&str>) = match line.strip_prefix("Account - ") {
            Some(account) => (name_of(account), above.clone(), account.split(':').skip(1).collect()),
            None if line.starts_with("sacctmgr") && line.contains(" account ") => {
                let words: Vec<&str> = line.split_whitespace().collect();
                let of =
                    |field: &str| words.iter().find_map(|word| word.strip_prefix(field)).unwrap_or_default();
                (of("name=").to_owned(), of("parent=").to_owned(), words)
            }
            None => continue,
        };
        let mut queue = DeployedQueue { parent, ..DeployedQueue::default() };
        for field in fields {
            let Some((key, value)) = field.split_once('=') else { continue };
            match key.to_ascii_lowercase().as_str() {
                "fairshare" => {
                    let weight = value
                        .parse()
                        .map_err(|_| reading.refused(&place("fairshare"), value, "must be a number"));
                    queue.weight = Some(weight?);
                }
                "grptres" => {
                    for (resource, amount) in value.split(',').filter_map(|part| part.split_once('=')) {
                        // Memory is in MiB.
                        let number = amount.trim_end_matches('M').parse();
                        let number = number
                            .map_err(|_| reading.refused(&place("GrpTRES"), amount, "must be a number"))?;
                        queue.limits.insert((String::new(), resource.to_owned()), number);
                    }
                }
                _ => {}
            }
        }
        reading.found.insert(name, queue);
    }
    Ok(())
}

/// What stands in the first quotes.
fn name_of(text: &str) -> String {
    text.split('\'').nth(1).unwrap_or(text).to_owned()
}
