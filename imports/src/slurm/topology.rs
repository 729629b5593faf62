//! Which switch each node hangs on, as `topology.conf` writes it and `scontrol show topology` prints it:
//! `SwitchName=s0 Nodes=g[01-16]`.

use super::hostlist;
use crate::report::ImportReport;
use fairplan_instances::InstanceError;
use fairplan_instances::files::source;
use hashbrown::HashMap;

/// The switch of each node. Switches that name other switches are above those and have no nodes of their own.
///
/// # Errors
/// A file that cannot be read, a line that names no switch, file and line are named.
pub(super) fn switches(
    paths: &[String],
    report: &mut ImportReport,
) -> Result<HashMap<String, String>, InstanceError> {
    let mut switch_of: HashMap<String, String> = HashMap::new();
    for path in paths {
        let content = source::open(path)?.read_all()?;
        let text = String::from_utf8_lossy(&content);
        for (position, line) in text.lines().enumerate() {
            let line = line.split('#').next().unwrap_or_default();
            if line.trim().is_empty() {
                continue;
            }
            let value = |key: &str| {
                let mut fields = line.split_whitespace().filter_map(|word| word.split_once('='));
                fields.find(|(name, _)| name.eq_ignore_ascii_case(key)).map(|(_, value)| value)
            };
            let refused = |problem: String| {
                let place = format!("line {}", position + 1);
                InstanceError::Malformed { file: path.clone(), place, problem }
            };
            let Some(name) = value("SwitchName") else {
                let problem = "names no switch; write topology.conf or what `scontrol show topology` prints";
                return Err(refused(problem.into()));
            };
            if value("Switches").is_some_and(|below| !below.is_empty()) {
                continue;
            }
            for node in hostlist::names(value("Nodes").unwrap_or_default()) {
                // Slurm warns of such nodes, and goes on.
                let known = switch_of.entry(node).or_insert_with(|| name.to_owned());
                if known != name {
                    report.one("nodes on several switches, of which the first counts");
                }
            }
        }
    }
    Ok(switch_of)
}
