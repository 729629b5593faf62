//! What a scheduler's configuration gives each of its queues, as it stands there: to hold one configuration against another.

mod kubernetes;
mod slurm;
mod yarn;
mod yarn_fair;

use super::manifests::documents_of;
use super::xml;
use fairplan_instances::files::source::{self, Source};
use fairplan_instances::quantity::Quantity;
use fairplan_instances::{InstanceError, Violation};
use std::collections::BTreeMap;

/// What a configuration is written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConfigurationKind {
    /// Objects of Kueue.
    Kueue,
    /// Objects of Volcano.
    Volcano,
    /// Objects of KAI.
    Kai,
    /// YuniKorn's partitions.
    YuniKorn,
    /// YARN's `capacity-scheduler.xml`.
    Yarn,
    /// YARN's `fair-scheduler.xml`.
    YarnFair,
    /// Lines of `sacctmgr`, or what `sacctmgr dump` and `sacctmgr -P show qos` write.
    Slurm,
}

/// A queue as a configuration has it. Names are those of the configuration, paths where it has paths.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DeployedQueue {
    /// The queue it belongs to; empty at the top.
    pub parent: String,
    /// Its weight, where it states one.
    pub weight: Option<f64>,
    /// What it gets, by class (flavor or label, empty where there are none) and resource: in cores, bytes (YARN and Slurm: MiB) or
    /// pieces; infinite where it has no end; of YARN in percent or as a weight where it says so.
    pub amounts: BTreeMap<(String, String), f64>,
    /// The most it may have, of the same.
    pub limits: BTreeMap<(String, String), f64>,
}

/// The queues of a configuration by name.
pub type Deployed = BTreeMap<String, DeployedQueue>;

/// Reads the files of a configuration.
///
/// # Errors
/// Files that cannot be read or are not of the kind (file, place and value are named), and files without a queue.
pub fn deployed(kind: ConfigurationKind, files: &[String]) -> Result<Deployed, InstanceError> {
    let sources = files.iter().map(|file| source::open(file)).collect::<Result<Vec<_>, _>>()?;
    read(kind, &super::together(files), sources)
}

/// Reads a configuration that is in memory and called `name` in messages.
///
/// # Errors
/// Those of [`deployed`].
pub fn deployed_in(kind: ConfigurationKind, name: &str, text: &str) -> Result<Deployed, InstanceError> {
    read(kind, name, vec![source::in_memory(name, text.as_bytes().to_vec())?])
}

fn read(kind: ConfigurationKind, files: &str, sources: Vec<Source>) -> Result<Deployed, InstanceError> {
    let mut found = Deployed::new();
    for source in sources {
        let file = source.name().to_owned();
        let reading = Reading { file: &file, found: &mut found };
        match kind {
            ConfigurationKind::Yarn => yarn::read(reading, &xml::read_of(source)?)?,
            ConfigurationKind::YarnFair => yarn_fair::read(reading, &xml::read_of(source)?)?,
            ConfigurationKind::Slurm => slurm::read(reading, source)?,
            _ => kubernetes::read(reading, kind, &documents_of(source)?)?,
        }
    }
    if found.is_empty() {
        let problem = "has no queue of this scheduler; name the files of the configuration that runs there";
        return Err(InstanceError::Invalid {
            file: files.into(),
            violation: Violation::new("", "", problem),
        });
    }
    Ok(found)
}

/// Where what is read goes.
struct Reading<'a> {
    file: &'a str,
    found: &'a mut Deployed,
}

impl Reading<'_> {
    fn refused(&self, place: &str, value: &str, problem: &str) -> InstanceError {
        InstanceError::Invalid { file: self.file.into(), violation: Violation::new(place, value, problem) }
    }

    /// Adds a queue, which is there once.
    fn add(&mut self, name: &str, queue: DeployedQueue) -> Result<(), InstanceError> {
        match self.found.insert(name.to_owned(), queue) {
            None => Ok(()),
            Some(_) => Err(self.refused("queue", name, "is named twice")),
        }
    }

    /// A number or a quantity.
    fn quantity(&self, place: &str, text: &str) -> Result<f64, InstanceError> {
        let read = Quantity::parse(text).map_err(|problem| self.refused(place, text, problem))?;
        Ok(read.part_of(Quantity::ONE))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(class: &str, resource: &str) -> (String, String) {
        (class.to_owned(), resource.to_owned())
    }

    #[test]
    fn what_samples_of_each_scheduler_state_is_read() {
        let data = concat!(env!("CARGO_MANIFEST_DIR"), "/data/");
        let read = |kind, file: &str| deployed(kind, &[format!("{data}{file}")]).unwrap();
        assert!(read(ConfigurationKind::Kueue, "kueue/queues.yaml").len() > 1);
        assert!(read(ConfigurationKind::Volcano, "kubernetes/volcano.yaml").len() > 1);
        assert!(read(ConfigurationKind::Kai, "kubernetes/kai.yaml").len() > 1);
        assert!(read(ConfigurationKind::YuniKorn, "kubernetes/yunikorn.yaml").len() > 1);
        assert!(read(ConfigurationKind::Yarn, "yarn/capacity-scheduler.xml").len() > 1);
        assert!(read(ConfigurationKind::YarnFair, "yarn/fair-scheduler.xml").len() > 1);
    }

    #[test]
    fn lines_and_dumps_of_sacctmgr_say_the_same() {
        let lines = "# x\nsacctmgr -i add account name=a parent=root\nsacctmgr -i modify account where name=a set parent=root\n\
                     sacctmgr -i modify account where name=a set fairshare=3 GrpTRES=cpu=4,mem=2048M,gres/gpu=-1\n\
                     sacctmgr -i add qos name=sure-a\nsacctmgr -i modify qos where name=sure-a set GrpTRES=cpu=2 Priority=1\n\
                     sacctmgr -i modify account where name=a set qos+=sure-a\n";
        // A dump, then what `sacctmgr -P show qos` prints.
        let dump = "Cluster - 'c':Fairshare=1\nParent - 'root'\nAccount - 'a':Description='x':Fairshare=3:GrpTRES=cpu=4,mem=2G\n\
                    Parent - 'a'\nUser - 'u':Fairshare=1\nName|GrpTRES\nnormal|\nsure-a|cpu=2\n";
        let read = |text| deployed_in(ConfigurationKind::Slurm, "it", text).unwrap();
        assert_eq!(read(lines), read(dump));
        assert_eq!(read(lines)["a"].limits[&key("", "mem")], 2048.0);
        assert_eq!(read(lines)["a"].amounts[&key("", "cpu")], 2.0);
    }

    #[test]
    fn what_is_below_zero_has_no_end() {
        let queue = "apiVersion: scheduling.run.ai/v2\nkind: Queue\nmetadata: {name: a}\nspec: {resources: {cpu: {quota: -1, \
                     limit: -1}, gpu: {quota: 2, limit: 3}}}\n";
        let queue = &deployed_in(ConfigurationKind::Kai, "it", queue).unwrap()["a"];
        assert_eq!(queue.amounts[&key("", "cpu")], f64::INFINITY);
        assert_eq!(queue.amounts[&key("", "gpu")], 2.0);
        assert_eq!(queue.limits.keys().collect::<Vec<_>>(), [&key("", "gpu")]);
        let property = |field: &str, value: &str| {
            format!(
                "<property><name>{}root.a.{field}</name><value>{value}</value></property>",
                "yarn.scheduler.capacity."
            )
        };
        let text = format!(
            "<configuration>{}{}</configuration>",
            property("capacity", "40"),
            property("maximum-capacity", "-1")
        );
        let read = deployed_in(ConfigurationKind::Yarn, "it", &text).unwrap();
        assert_eq!(read["root.a"].amounts[&key("", "percent")], 40.0);
        assert!(read["root.a"].limits.is_empty(), "{read:?}");
    }

    #[test]
    fn what_is_no_configuration_of_the_kind_names_file_and_value() {
        let refused = |kind, text: &str| deployed_in(kind, "it.yaml", text).unwrap_err().to_string();
        let empty = refused(ConfigurationKind::Kueue, "kind: Pod\nmetadata: {name: a}\n");
        assert!(empty.contains("it.yaml") && empty.contains("no queue"), "{empty}");
        let queue = "kind: ClusterQueue\nmetadata: {name: a}\nspec: {resourceGroups: [{flavors: [{name: f, resources: \
                     [{name: cpu, nominalQuota: x}]}]}]}\n";
        let wrong = refused(ConfigurationKind::Kueue, queue);
        assert!(wrong.contains("ClusterQueue a") && wrong.contains("= x"), "{wrong}");
        let twice = "kind: ClusterQueue\nmetadata: {name: a}\n---\nkind: ClusterQueue\nmetadata: {name: a}\n";
        assert!(refused(ConfigurationKind::Kueue, twice).contains("named twice"));
        let older = "apiVersion: kueue.x-k8s.io/v1alpha2\nkind: ClusterQueue\nmetadata: {name: a}\n";
        let older = refused(ConfigurationKind::Kueue, older);
        assert!(older.contains("v1alpha2") && older.contains("v1beta1"), "{older}");
        assert!(refused(ConfigurationKind::YarnFair, "<configuration/>").contains("<allocations>"));
        let amounts =
            "<allocations><queue name=\"a\"><minResources>1 GB</minResources></queue></allocations>";
        assert!(refused(ConfigurationKind::YarnFair, &amounts.replace("1 GB", "x")).contains("minResources"));
        assert!(
            refused(ConfigurationKind::Slurm, "sacctmgr -i add account name=a fairshare=x\n")
                .contains("line 1")
        );
    }
}
