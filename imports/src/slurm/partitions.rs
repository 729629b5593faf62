//! Partitions as `sinfo` describes them: which of them start jobs, and how many cpus of a node each may use.
//!
//! Source: Slurm's documentation, `slurm.conf`, "State" and "MaxCPUsPerNode" of partitions.

use super::nodes::Node;
use super::values::{Number, Words};
use crate::report::ImportReport;
use fairplan_instances::Decimal;
use serde::Deserialize;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// States in which no job starts; what runs goes on.
const CLOSED: [&str; 2] = ["down", "inactive"];

/// What is told of partitions of which not all is kept.
const STARTS_NONE: &str =
    "partitions in a state that starts no jobs: what runs there counts, and what waits for them is left out";
const TAKEN_AS_OPEN: &str = "partitions taken as open, though they start no jobs";
const DRAINS: &str =
    "partitions in state DRAIN, in which no new jobs are taken: those that are there already count";
const OF_NODE: &str = "partitions with at most so many cpus of a node (MaxCPUsPerNode), which is not kept on nodes of several partitions";
const OF_SOCKET: &str =
    "partitions with at most so many cpus of a socket (MaxCPUsPerSocket), which is not kept";
const TAKEN_OFF: &str = "nodes of which jobs may use only some cpus (MaxCPUsPerNode of their partition): the others are taken off";

/// Partitions by their names.
#[derive(Default)]
pub(super) struct Partitions {
    by_name: BTreeMap<String, Partition>,
    /// Whether those that start no jobs count as the others.
    all_count: bool,
}

#[derive(Default)]
struct Partition {
    states: BTreeSet<String>,
    cpus_of_node: Option<u64>,
    is_limited_on_sockets: bool,
}

impl Partition {
    fn closed(&self) -> Option<&str> {
        CLOSED.into_iter().find(|state| self.states.contains(*state))
    }
}

impl Partitions {
    pub(super) fn new(all_count: bool) -> Self {
        Self { all_count, ..Self::default() }
    }

    /// Notes what a list of nodes says of their partition: its `maximums`, and its `partition`, in which its state is. What they are in
    /// other versions is not looked at.
    pub(super) fn learn(&mut self, name: &str, maximums: &Value, state: &Value) {
        let most = |field: &str| {
            let most = Number::deserialize(maximums.get(field)?).ok()?.value()?;
            (most >= 1.0).then_some(most as u64)
        };
        let states = state.get("state").and_then(|state| Words::deserialize(state).ok());
        let partition = self.by_name.entry(name.to_owned()).or_default();
        partition.states.extend(states.unwrap_or_default().states());
        partition.cpus_of_node = partition.cpus_of_node.or(most("cpus_per_node"));
        // Where nothing is set older versions write the largest number there is.
        partition.is_limited_on_sockets |=
            most("cpus_per_socket").is_some_and(|most| most < u64::from(u16::MAX));
    }

    /// Those of these partitions that start jobs; the others are told where none is.
    pub(super) fn open(&self, names: &str) -> BTreeSet<String> {
        let is_open = |name: &&str| {
            let closed = self.by_name.get(*name).and_then(Partition::closed);
            self.all_count || closed.is_none()
        };
        names.split(',').filter(is_open).map(str::to_owned).collect()
    }

    /// Tells of states, and of what is not kept.
    pub(super) fn tell(&self, report: &mut ImportReport) {
        for (name, partition) in &self.by_name {
            if let Some(state) = partition.closed() {
                let told = if self.all_count { TAKEN_AS_OPEN } else { STARTS_NONE };
                report.named(told, &format!("{name} ({})", state.to_uppercase()));
            } else if partition.states.contains("drain") {
                report.named(DRAINS, name);
            }
            if partition.is_limited_on_sockets {
                report.named(OF_SOCKET, name);
            }
        }
    }

    /// Takes the cpus off that no job may use: of a node of one partition those beyond what that may use of a node. Of several partitions
    /// each may use so many, whatever the others use: they are told.
    pub(super) fn take_off(&self, nodes: &mut [Node], report: &mut ImportReport) {
        let mut shared: BTreeSet<&str> = BTreeSet::new();
        for node in nodes {
            let cpus = node.capacity.get("cpu").map_or(0.0, |cpus| cpus.to_f64());
            let of =
                |name: &String| self.by_name.get(name)?.cpus_of_node.filter(|most| (*most as f64) < cpus);
            let limits: Vec<(&str, u64)> =
                node.partitions.iter().filter_map(|name| Some((self.name(name)?, of(name)?))).collect();
            match limits[..] {
                [(_, most)] if node.partitions.len() == 1 => {
                    report.named(TAKEN_OFF, &format!("{} ({most} of {cpus})", node.name));
                    node.capacity.insert("cpu".into(), Decimal::new(most, 0).unwrap_or(Decimal::ZERO));
                }
                _ => shared.extend(limits.iter().map(|(name, _)| *name)),
            }
        }
        shared.into_iter().for_each(|name| report.named(OF_NODE, name));
    }

    /// The name of a partition that is described.
    fn name(&self, name: &str) -> Option<&str> {
        self.by_name.get_key_value(name).map(|(name, _)| name.as_str())
    }
}

#[cfg(test)]
mod tests {
    use crate::slurm::{SlurmOptions, slurm};

    /// The nodes `a` of partition `p`, which `more` describes, and `b` of `p` too or of `q`; a job of 2 cpus that runs in `p`, one that
    /// waits for it, and one that waits for both. The cpus of `a`, of how many tasks each class of owners is, and what is told.
    fn import(second: &str, more: &str, all_nodes: bool) -> (Vec<String>, u64, String) {
        let group = |node: &str, partition: &str, more: &str| {
            format!(
                r#"{{"node": {{"state": ["IDLE"]}}, "nodes": {{"nodes": ["{node}"]}}, "cpus": {{"minimum": 8, "maximum": 8}}, "memory":
                {{"minimum": 64, "maximum": 64}}, "partition": {{"name": "{partition}"{more}}}}}"#
            )
        };
        let job = |id: u64, partition: &str, state: &str, nodes: &str| {
            format!(
                r#"{{"job_id": {id}, "user_name": "u{id}", "partition": "{partition}", "job_state": ["{state}"], "node_count": 1, "cpus": 2,
                "tres_req_str": "cpu=2,mem=1M,node=1", "nodes": "{nodes}"}}"#
            )
        };
        let nodes = format!(r#"{{"sinfo": [{}, {}]}}"#, group("a", "p", more), second);
        let jobs = [job(1, "p", "RUNNING", "a"), job(2, "p", "PENDING", ""), job(3, "p,q", "PENDING", "")];
        let jobs = format!(r#"{{"jobs": [{}]}}"#, jobs.join(", "));
        let folder = tempfile::tempdir().unwrap();
        let [nodes, jobs] = [("nodes.json", nodes), ("jobs.json", jobs)].map(|(name, content)| {
            let path = folder.path().join(name).to_str().unwrap().to_owned();
            std::fs::write(&path, content).unwrap();
            vec![path]
        });
        let (instance, report) =
            slurm(&SlurmOptions { nodes, jobs, all_nodes, ..Default::default() }).unwrap();
        let cpus = |class: &fairplan_instances::ServerClass| format!("{} {}", class.id, class.capacity[0]);
        let tasks = instance.users().filter_map(|user| user.tasks()).sum();
        (instance.classes().iter().map(cpus).collect(), tasks, report.to_string())
    }

    fn other(partition: &str) -> String {
        format!(
            r#"{{"node": {{"state": ["IDLE"]}}, "nodes": {{"nodes": ["{}"]}}, "cpus": {{"minimum": 8, "maximum": 8}}, "memory":
            {{"minimum": 64, "maximum": 64}}, "partition": {{"name": "{partition}"}}}}"#,
            if partition == "q" { "b" } else { "a" }
        )
    }

    #[test]
    fn what_waits_for_a_partition_that_starts_no_jobs_is_left_out_and_what_runs_there_counts() {
        for state in ["DOWN", "INACTIVE"] {
            let more = format!(r#", "partition": {{"state": ["{state}"]}}"#);
            let (_, tasks, told) = import(&other("q"), &more, false);
            assert_eq!(tasks, 2, "{told}");
            let why = format!(
                "1 partition in a state that starts no jobs: what runs there counts, and what waits for it is left out: p ({state})\n"
            );
            assert!(told.contains(&why), "{told}");
            assert!(
                told.contains("1 job left out: it waits for a partition that starts none: p\n"),
                "{told}"
            );
            assert!(told.contains("1 job pending\n"), "{told}");
            let (_, tasks, told) = import(&other("q"), &more, true);
            assert_eq!(tasks, 3, "{told}");
            let why = format!("1 partition taken as open, though it starts no jobs: p ({state})\n");
            assert!(told.contains(&why), "{told}");
        }
        // A partition without nodes.
        let empty = other("q")
            .replace(r#"["b"]"#, "[]")
            .replace(r#""name": "q""#, r#""name": "q", "partition": {"state": ["DOWN"]}"#);
        let (_, tasks, told) = import(&empty, "", false);
        assert!(tasks == 3 && told.contains("is left out: q (DOWN)"), "{told}");
        for (state, is_told) in [("UP", false), ("DRAIN", true)] {
            let (_, tasks, told) =
                import(&other("q"), &format!(r#", "partition": {{"state": ["{state}"]}}"#), false);
            assert_eq!(tasks, 3, "{told}");
            let why = "1 partition in state DRAIN, in which no new jobs are taken: those that are there already count: p\n";
            assert_eq!(told.contains(why), is_told, "{told}");
        }
    }

    #[test]
    fn cpus_that_no_job_of_a_nodes_partition_may_use_are_taken_off() {
        let most = |number: &str| {
            format!(r#", "maximums": {{"cpus_per_node": {number}, "cpus_per_socket": 65535}}"#)
        };
        let (cpus, _, told) =
            import(&other("q"), &most(r#"{"set": true, "infinite": false, "number": 6}"#), false);
        assert_eq!(cpus, ["a 6", "b 8"]);
        let why = "1 node of which jobs may use only some cpus (MaxCPUsPerNode of its partition): the others are taken off: a (6 of 8)\n";
        assert!(told.contains(why) && !told.contains("MaxCPUsPerSocket"), "{told}");
        for none in [r#"{"set": false, "infinite": true, "number": 0}"#, "0", "4294967295", "\"what\"", "8"] {
            let (cpus, _, told) = import(&other("q"), &most(none), false);
            assert!(cpus.concat().contains("x2") || cpus.iter().all(|cpus| cpus.ends_with(" 8")), "{cpus:?}");
            assert!(!told.contains("MaxCPUs"), "{told}");
        }
    }

    #[test]
    fn a_limit_of_cpus_of_a_node_or_a_socket_that_is_not_kept_is_told_by_its_partition() {
        // Node `a` is in a second partition.
        let (cpus, _, told) =
            import(&other("r"), r#", "maximums": {"cpus_per_node": 6, "cpus_per_socket": 3}"#, false);
        assert_eq!(cpus, ["a 8"]);
        for why in [
            "1 partition with at most so many cpus of a node (MaxCPUsPerNode), which is not kept on nodes of several partitions: p\n",
            "1 partition with at most so many cpus of a socket (MaxCPUsPerSocket), which is not kept: p\n",
        ] {
            assert!(told.contains(why), "{told}");
        }
    }
}
