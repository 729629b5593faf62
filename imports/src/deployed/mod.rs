//! What a scheduler's configuration gives each of its queues, as it stands there: to hold one configuration against another.

mod fields;
mod kubernetes;
mod queue;
mod slurm;
mod yarn;
mod yarn_fair;
mod yunikorn;

pub use queue::{ConfigurationKind, DEPLOYED_ROOT, Deployed, DeployedQueue, Spec};

use super::xml;
use fairplan_instances::files::source::{self, Source};
use fairplan_instances::{InstanceError, Violation};
use queue::Reading;

/// Reads the files of a configuration.
///
/// # Errors
/// Files that cannot be read or are not of the kind (file, place and value are named), and files without a queue.
pub fn deployed(kind: ConfigurationKind, files: &[String]) -> Result<Deployed, InstanceError> {
    let sources = files.iter().map(|file| source::open(file)).collect::<Result<Vec<_>, _>>()?;
    read(kind, &super::files::together(files), sources)
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
            _ => kubernetes::read(reading, kind, source)?,
        }
    }
    if kind == ConfigurationKind::Kueue {
        kubernetes::add_named_cohorts(&mut found);
    }
    // What jobs of an account have in a QOS that they may not use is nothing; which file says so does not matter.
    for queue in found.values_mut().filter(|queue| queue.lacks_sure_qos) {
        queue.amounts.clear();
        queue.priority = None;
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

/// What the objects of a configuration state beside what [`deployed`] reads.
///
/// # Errors
/// Files that cannot be read.
pub fn specs(kind: ConfigurationKind, files: &[String]) -> Result<Vec<Spec>, InstanceError> {
    let mut found = Vec::new();
    for file in files {
        specs_of(kind, source::open(file)?, &mut found)?;
    }
    Ok(found)
}

fn specs_of(kind: ConfigurationKind, source: Source, found: &mut Vec<Spec>) -> Result<(), InstanceError> {
    match kind {
        ConfigurationKind::Yarn => yarn::specs(&xml::read_of(source)?, found),
        ConfigurationKind::YarnFair => yarn_fair::specs(&xml::read_of(source)?, found),
        // Its lines are all understood.
        ConfigurationKind::Slurm => {}
        _ => kubernetes::specs(kind, source, found)?,
    }
    Ok(())
}

/// The same of a text.
///
/// # Errors
/// A text that is none of the kind.
pub fn specs_in(kind: ConfigurationKind, text: &str) -> Result<Vec<Spec>, InstanceError> {
    let mut found = Vec::new();
    let source = source::in_memory("the exported configuration", text.as_bytes().to_vec())?;
    specs_of(kind, source, &mut found)?;
    Ok(found)
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
        // The sample has a second partition, of other nodes.
        let yunikorn = read(ConfigurationKind::YuniKorn, "kubernetes/yunikorn.yaml");
        assert!(yunikorn.len() > 1 && yunikorn.keys().all(|name| name.starts_with("root")), "{yunikorn:?}");
        assert!(read(ConfigurationKind::Yarn, "yarn/capacity-scheduler.xml").len() > 1);
        assert!(read(ConfigurationKind::YarnFair, "yarn/fair-scheduler.xml").len() > 1);
    }

    #[test]
    fn lines_and_dumps_of_sacctmgr_say_the_same() {
        let lines = "# x\nsacctmgr -i add account name=a parent=root\nsacctmgr -i modify account where name=a set parent=root\n\
                     sacctmgr -i modify account where name=a set fairshare=3 GrpTRES=cpu=4,mem=2048M,gres/gpu=-1\n\
                     sacctmgr -i add qos name=sure-a\nsacctmgr -i modify qos where name=sure-a set MaxTRESPA=cpu=2 Priority=1\n\
                     sacctmgr -i modify account where name=a set qos+=sure-a\n";
        // A dump, then what `sacctmgr -P show qos` prints with these columns.
        let dump = "Cluster - 'c':Fairshare=1\nParent - 'root'\nAccount - 'a':Description='x':Fairshare=3:GrpTRES=cpu=4,mem=2G:QOS='normal,+sure-a'\n\
                    Parent - 'a'\nUser - 'u':Fairshare=1\nName|MaxTRESPA|Priority\nnormal||0\nsure-a|cpu=2|1\n";
        let read = |text| deployed_in(ConfigurationKind::Slurm, "it", text).unwrap();
        let mut dumped = read(dump);
        let user = dumped.remove("u").unwrap();
        assert!(user.is_user && user.parent == "a" && user.weight == Some(1.0), "{user:?}");
        assert_eq!(read(lines), dumped);
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
            "<configuration><property><name>yarn.scheduler.capacity.root.queues</name><value>a</value></property>{}{}</configuration>",
            property("capacity", "40"),
            property("maximum-capacity", "-1")
        );
        let read = deployed_in(ConfigurationKind::Yarn, "it", &text).unwrap();
        assert_eq!(read["root.a"].amounts[&key("", "percent")], 40.0);
        assert!(read["root.a"].limits.is_empty(), "{read:?}");
    }

    #[test]
    fn xml_is_read_as_hadoop_reads_it() {
        let property = |name: &str, value: &str| {
            format!(
                "<property><name>yarn.scheduler.capacity.root.{name}</name><value>{value}</value></property>"
            )
        };
        let read = |rest: &str| {
            let all = [property("queues", "a,b"), property("a.capacity", "40"), property("b.capacity", "60")];
            let text = format!("<configuration>{}{rest}</configuration>", all.concat());
            deployed_in(ConfigurationKind::Yarn, "it", &text).unwrap()
        };
        let percent = |found: &Deployed, queue: &str| found[queue].amounts[&key("", "percent")];
        assert_eq!(percent(&read(""), "root.a"), 40.0);
        // Of several the last counts, of properties and of values, but for one that is final.
        assert_eq!(percent(&read(&property("a.capacity", "1")), "root.a"), 1.0);
        assert_eq!(percent(&read(&property("a.capacity", "1</value><value>2")), "root.a"), 2.0);
        let final_ = property("a.capacity", "3").replace("</property>", "<final>true</final></property>");
        assert_eq!(percent(&read(&(final_ + &property("a.capacity", "1"))), "root.a"), 3.0);
        // Who is not listed is not there, and who is listed is; root says how all are compared.
        assert_eq!(read(&property("queues", "a")).keys().collect::<Vec<_>>(), ["root", "root.a"]);
        assert_eq!(read(&property("queues", "a,c")).keys().collect::<Vec<_>>(), ["root", "root.a", "root.c"]);
        // A label that a queue may not use gives it nothing.
        let labelled = property("a.accessible-node-labels.x.capacity", "50");
        assert!(read(&labelled)["root.a"].amounts.contains_key(&key("x", "percent")));
        let without = labelled + &property("a.accessible-node-labels", " ");
        assert!(!read(&without)["root.a"].amounts.contains_key(&key("x", "percent")));
        let fair = "<allocations><queue name=\"a\"><minResources>1 mb, 1 vcores</minResources><minResources>2 mb, 2 vcores\
                    </minResources></queue></allocations>";
        let fair = deployed_in(ConfigurationKind::YarnFair, "it", fair).unwrap();
        assert_eq!(fair["root.a"].amounts[&key("", "vcores")], 2.0);
    }

    #[test]
    fn queues_of_the_fair_scheduler_have_its_defaults() {
        let read = |policy: &str| {
            let text = format!(
                "<allocations>{policy}<queueMaxResourcesDefault>9 mb, 3 vcores</queueMaxResourcesDefault><queue name=\"a\"/><queue \
                 name=\"b\"><maxResources>8 mb, 0 vcores</maxResources></queue></allocations>"
            );
            deployed_in(ConfigurationKind::YarnFair, "it", &text).unwrap()
        };
        let limit = |found: &Deployed, queue: &str| found[queue].limits.get(&key("", "vcores")).copied();
        let fair = read("");
        assert_eq!((limit(&fair, "root.a"), limit(&fair, "root.b")), (Some(3.0), None));
        let drf = read("<defaultQueueSchedulingPolicy>drf</defaultQueueSchedulingPolicy>");
        assert_eq!(limit(&drf, "root.b"), Some(0.0));
    }

    #[test]
    fn hierarchies_of_volcano_and_closed_queues_are_what_its_scheduler_sees() {
        let text = "apiVersion: scheduling.volcano.sh/v1beta1\nkind: Queue\nmetadata: {name: a, annotations: {volcano.sh/hierarchy: \
                    root/eng/prod, volcano.sh/hierarchy-weights: 1/2/8}}\nspec: {weight: 1}\n---\napiVersion: \
                    scheduling.volcano.sh/v1beta1\nkind: Queue\nmetadata: {name: b}\nspec: {weight: 1}\nstatus: {state: Closed}\n";
        let found = deployed_in(ConfigurationKind::Volcano, "it", text).unwrap();
        assert_eq!(found.keys().collect::<Vec<_>>(), ["a", "root-eng"]);
        assert_eq!((found["a"].parent.as_str(), found["a"].weight), ("root-eng", Some(8.0)));
        assert_eq!((found["root-eng"].parent.as_str(), found["root-eng"].weight), ("", Some(2.0)));
        let wrong = deployed_in(ConfigurationKind::Volcano, "it", &text.replace("1/2/8", "1/2")).unwrap_err();
        assert!(wrong.to_string().contains("hierarchy-weights = 1/2"), "{wrong}");
    }

    #[test]
    fn lines_of_sacctmgr_do_what_slurm_does() {
        let first = "sacctmgr -i add account name=a parent=root\nsacctmgr -i add qos name=sure-a\n\
                     sacctmgr -i modify qos where name=sure-a set MaxTRESPerAccount=cpu=2,mem=10M\n";
        let allow = "sacctmgr -i modify account where name=a set qos+=sure-a\n";
        let read = |text: &str| deployed_in(ConfigurationKind::Slurm, "it", text).unwrap();
        let cpu = |text: &str| read(text)["a"].amounts.get(&key("", "cpu")).copied();
        let all = format!("{first}{allow}");
        assert_eq!(cpu(&all), Some(2.0));
        assert_eq!(cpu(first), None, "the account may not use the QOS");
        let set = "MODIFY qos where name=sure-a SET maxtrespa=CPU=1";
        assert_eq!(cpu(&format!("{all}/usr/bin/sacctmgr -i {set}\n")), Some(1.0));
        assert_eq!(read(&format!("{all}sacctmgr -i {set}\n"))["a"].amounts[&key("", "mem")], 10.0);
        assert_eq!(cpu(&format!("{all}sacctmgr -i delete qos sure-a\n")), None);
        let held = format!("{all}sacctmgr -i modify account root set GrpTRES=cpu=4,mem=-1\n");
        assert_eq!(read(&held)["root"].limits, [(key("", "cpu"), 4.0)].into());
        let dump = "Cluster - 'c':Fairshare=1:GrpTRES=cpu=3,mem=2048:QOS='normal'\nParent - 'root'\n";
        assert_eq!(read(dump)["root"].limits, [(key("", "cpu"), 3.0), (key("", "mem"), 2048.0)].into());
        let table = "Name|MaxTRESPA|Priority|\nsure-a|cpu=1|7|\nnormal||0|\n";
        assert_eq!(cpu(table), Some(1.0));
        let gone = format!("{all}sacctmgr -i delete account a\n");
        assert!(
            deployed_in(ConfigurationKind::Slurm, "it", &gone).unwrap_err().to_string().contains("no queue")
        );
        for line in [
            "sacctmgr -i modify qos where name=sure-a set MaxTRESPA+=cpu=1",
            "sacctmgr -i modify qos where name=sure-a set MaxTRESPA=cpu=1,cpu=2",
            "sacctmgr -i modify qos where name=sure-a set MaxTRESPA=cpu=-7",
            "sacctmgr -i modify account where name=a set qos=normal",
            "scontrol update partition=x",
            "sacctmgr -i add account b; rm x",
        ] {
            let refused = deployed_in(ConfigurationKind::Slurm, "it", &format!("{all}{line}\n")).unwrap_err();
            assert!(refused.to_string().contains("line 5"), "{line}: {refused}");
        }
    }

    #[test]
    fn guarantees_of_volcano_and_partitions_of_yunikorn_count() {
        let volcano = "apiVersion: scheduling.volcano.sh/v1beta1\nkind: Queue\nmetadata: {name: a}\nspec: {deserved: {cpu: 1}, \
                       guarantee: {resource: {cpu: 20, memory: 1Gi}}}\n";
        let read = deployed_in(ConfigurationKind::Volcano, "it", volcano).unwrap();
        assert_eq!(read["a"].amounts[&key("", "cpu")], 20.0);
        let queues = "queues: [{name: a, resources: {guaranteed: {vcore: 1}}}]";
        let yunikorn = |partitions: &[&str]| {
            let all: String =
                partitions.iter().map(|name| format!("- {{name: {name}, {queues}}}\n")).collect();
            format!("partitions:\n{all}")
        };
        let own = deployed_in(ConfigurationKind::YuniKorn, "it", &yunikorn(&["default"])).unwrap();
        assert_eq!(own.keys().collect::<Vec<_>>(), ["root.a"]);
        let inside: String = yunikorn(&["default"]).lines().map(|line| format!("    {line}\n")).collect();
        let map = format!("kind: ConfigMap\ndata:\n  queues.yaml: |\n{inside}");
        assert_eq!(deployed_in(ConfigurationKind::YuniKorn, "it", &map).unwrap(), own);
        // Others have nodes of their own.
        for more in [&["default", "gpu"][..], &["gpu", "default"]] {
            assert_eq!(deployed_in(ConfigurationKind::YuniKorn, "it", &yunikorn(more)).unwrap(), own);
        }
        for partitions in [&["gpu"][..], &["default", "default"]] {
            let refused = deployed_in(ConfigurationKind::YuniKorn, "it", &yunikorn(partitions)).unwrap_err();
            assert!(refused.to_string().contains("partition"), "{refused}");
        }
        let stopped = "kind: ClusterQueue\nmetadata: {name: a}\nspec: {stopPolicy: Hold}\n---\nkind: ClusterQueue\nmetadata: {name: \
                       b}\nspec: {stopPolicy: None}\n";
        let read = deployed_in(ConfigurationKind::Kueue, "it", stopped).unwrap();
        let is_stopped: Vec<_> = read.iter().map(|(name, queue)| (name.as_str(), queue.is_stopped)).collect();
        assert_eq!(is_stopped, [("a", true), ("b", false)]);
    }

    #[test]
    fn what_configurations_state_beside_queues_and_amounts_is_found_with_what_holds_where_nothing_is_said() {
        let told = |kind, text: &str| -> Vec<String> {
            let told = |Spec { kind, name, spec }: Spec| {
                let fields = spec.as_object().unwrap().clone();
                fields.into_iter().map(move |(field, value)| format!("{kind} {name}: {field} {value}"))
            };
            specs_in(kind, text).unwrap().into_iter().flat_map(told).collect()
        };
        let property = |name: &str, value: &str| {
            format!("<property><name>yarn.scheduler.capacity.{name}</name><value>{value}</value></property>")
        };
        let yarn = [
            property("root.queues", "a"),
            property("root.a.capacity", "100"),
            property("root.a.accessible-node-labels.x.maximum-capacity", "50"),
            property("root.a.user-limit-factor", "2"),
        ];
        let calculator = "configuration : resource-calculator \"org.apache.hadoop.yarn.util.resource.DefaultResourceCalculator\"";
        let yarn = format!("<configuration>{}</configuration>", yarn.concat());
        assert_eq!(
            told(ConfigurationKind::Yarn, &yarn),
            [calculator, "queue root.a: user-limit-factor \"2\""]
        );
        let fair = "<allocations><queue name=\"a\"><weight>2</weight><maxRunningApps>3</maxRunningApps></queue>\
                    <queuePlacementPolicy><rule name=\"user\"/></queuePlacementPolicy></allocations>";
        let expected = [
            "configuration : defaultQueueSchedulingPolicy \"fair\"",
            "configuration : queuePlacementPolicy \"(1 elements)\"",
            "queue root.a: maxRunningApps \"3\"",
        ];
        assert_eq!(told(ConfigurationKind::YarnFair, fair), expected);
        let volcano = "apiVersion: scheduling.volcano.sh/v1beta1\nkind: Queue\nmetadata: {name: a}\nspec: {reclaimable: false}\n";
        assert_eq!(told(ConfigurationKind::Volcano, volcano), ["Queue a: reclaimable false"]);
        assert_eq!(told(ConfigurationKind::Kai, volcano), [""; 0]);
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
