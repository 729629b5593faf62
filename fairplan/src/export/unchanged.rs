//! What is deployed, imported, solved and exported again: where the answer is what is there, nothing is told that nobody changed.

use super::tests::solution;
use super::*;
use fairplan_imports::{KubernetesQueuesOptions, KueueOptions, YarnOptions, kubernetes_queues, kueue, yarn};

struct Files(tempfile::TempDir);

impl Files {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn write(&self, name: &str, text: &str) -> String {
        let path = self.0.path().join(name);
        std::fs::write(&path, text).unwrap();
        path.display().to_string()
    }
}

/// Flavors with the quotas of their resources.
type Flavors<'a> = &'a [(&'a str, &'a [(&'a str, &'a str)])];

/// A ClusterQueue with a resource group for each list of flavors.
fn queue(name: &str, cohort: &str, groups: &[Flavors<'_>]) -> String {
    let amount = |(name, quota): &(&str, &str)| format!("{{name: {name}, nominalQuota: {quota}}}");
    let flavor = |(name, amounts): &(&str, &[(&str, &str)])| {
        format!(
            "{{name: {name}, resources: [{}]}}",
            amounts.iter().map(amount).collect::<Vec<_>>().join(", ")
        )
    };
    let group = |flavors: &Flavors<'_>| {
        let covered: Vec<&str> = flavors[0].1.iter().map(|(name, _)| *name).collect();
        let flavors: Vec<String> = flavors.iter().map(flavor).collect();
        format!("{{coveredResources: [{}], flavors: [{}]}}", covered.join(", "), flavors.join(", "))
    };
    let groups: Vec<String> = groups.iter().map(group).collect();
    let cohort = if cohort.is_empty() { String::new() } else { format!("cohort: {cohort}, ") };
    format!(
        "apiVersion: kueue.x-k8s.io/v1beta1\nkind: ClusterQueue\nmetadata: {{name: {name}}}\nspec: {{{cohort}namespaceSelector: {{}}, \
         resourceGroups: [{}]}}\n---\n",
        groups.join(", ")
    )
}

/// A flavor of the nodes with a label.
fn flavor(name: &str) -> String {
    format!(
        "apiVersion: kueue.x-k8s.io/v1beta1\nkind: ResourceFlavor\nmetadata: {{name: {name}}}\nspec: {{nodeLabels: {{pool: {name}}}}}\n---\n"
    )
}

fn node(name: &str, pool: &str, cpu: u32, memory: &str) -> String {
    format!(
        "apiVersion: v1\nkind: Node\nmetadata: {{name: {name}, labels: {{pool: {pool}}}}}\nstatus: {{allocatable: {{cpu: {cpu}, memory: \
         {memory}}}, conditions: [{{type: Ready, status: \"True\"}}]}}\n---\n"
    )
}

/// The exported text, and what it changes.
fn changed(deployed: &str, nodes: &str) -> (String, Vec<ExportChange>) {
    let files = Files::new();
    let deployed = files.write("deployed.yaml", deployed);
    let nodes = if nodes.is_empty() { Vec::new() } else { vec![files.write("nodes.yaml", nodes)] };
    let options =
        KueueOptions { files: vec![deployed.clone()], nodes: nodes.clone(), ..KueueOptions::default() };
    let (instance, _) = kueue(&options).unwrap();
    let solved = solution(&instance);
    let export =
        export(&instance, &solved, Target::Kueue, &ExportOptions::default(), &Control::none()).unwrap();
    let found = export_changes(&export, &[deployed]).unwrap();
    for (queue, [before, after]) in &found.entitled {
        let (before, after) = (before.unwrap_or(0.0), after.unwrap_or(0.0));
        assert!((before - after).abs() <= 2e-3 * before.max(after), "{queue}: {before} {after}");
    }
    // Read again it is the same instance, but for the names of what is several flavors.
    let again = files.write("exported.yaml", &export.text());
    let (again, _) = kueue(&KueueOptions { files: vec![again], ..KueueOptions::default() }).unwrap();
    let ids =
        |instance: &Instance| instance.groups().iter().map(|group| group.id.clone()).collect::<Vec<_>>();
    assert_eq!(ids(&again), ids(&instance));
    (export.text(), found.changes)
}

#[test]
fn queues_of_kueue_in_no_cohort_stay_in_none() {
    let a = queue("a", "", &[&[("plain", &[("cpu", "10"), ("memory", "40Gi")])]]);
    let b = queue("b", "", &[&[("plain", &[("cpu", "20"), ("memory", "10Gi")])]]);
    let (text, changes) = changed(&(a + &b), "");
    assert!(changes.is_empty(), "{changes:#?}");
    assert!(
        !text.contains("cohort") && !text.contains("Cohort") && !text.contains("borrowingLimit"),
        "{text}"
    );
}

#[test]
fn cohorts_of_kueue_stay_roots_though_they_are_only_named() {
    let of = |name: &str, cohort: &str, cpu: &str| queue(name, cohort, &[&[(cohort, &[("cpu", cpu)])]]);
    let deployed = of("a", "red", "10") + &of("b", "red", "6") + &of("c", "blue", "8");
    let (text, changes) = changed(&deployed, "");
    assert!(changes.is_empty(), "{changes:#?}");
    assert!(!text.contains("parentName"), "{text}");
}

#[test]
fn tenants_of_one_flavor_that_may_borrow_are_in_a_cohort() {
    let mut draft = fairplan_instances::Draft::from(&crate::generate::drfh_fig1().unwrap());
    draft.users[0].eligible = Some(vec![0]);
    let instance = draft.build().unwrap();
    let solved = solution(&instance);
    let options = ExportOptions { memory_in: Some("Gi".parse().unwrap()), ..ExportOptions::default() };
    let text = |hard| {
        let options = ExportOptions { hard, ..options.clone() };
        export(&instance, &solved, Target::Kueue, &options, &Control::none()).unwrap().text()
    };
    assert_eq!(text(false).matches("  cohort: \"cluster\"").count(), 2, "{}", text(false));
    assert_eq!(text(true).matches("ohort").count(), 0, "{}", text(true));
}

#[test]
fn flavors_of_several_resource_groups_are_one_class_and_their_amounts_stay() {
    let groups: [Flavors<'_>; 2] = [
        &[("default", &[("cpu", "8"), ("memory", "16Gi")])],
        &[("a100", &[("gpu", "2")]), ("t4", &[("gpu", "6")])],
    ];
    let (text, changes) = changed(&queue("a", "ml", &groups), "");
    let told: Vec<_> = changes
        .iter()
        .map(|change| (change.what.as_str(), change.before.as_deref(), change.after.as_deref()))
        .collect();
    assert_eq!(told, [("flavors", Some("a100, default, t4"), Some("a100-default-t4"))], "{text}");
}

#[test]
fn another_order_of_flavors_is_a_change() {
    let told = |flavors: Flavors<'_>| {
        let (text, changes) = changed(&queue("a", "", &[flavors]), "");
        assert!(text.contains("each queue lists that first of which it has most"), "{text}");
        let told = |change: ExportChange| (change.queue, change.what, change.before, change.after);
        changes.into_iter().map(told).collect::<Vec<_>>()
    };
    let few = ("reserved", &[("cpu", "8"), ("memory", "32Gi")][..]);
    let many = ("spot", &[("cpu", "40"), ("memory", "160Gi")][..]);
    assert!(told(&[many, few]).is_empty());
    // Kueue would have tried what is reserved first, and tries it last.
    let [queue, what] = ["a", "order of flavors"].map(str::to_owned);
    let [before, after] = ["reserved, spot", "spot, reserved"].map(|order| Some(order.to_owned()));
    assert_eq!(told(&[few, many]), [(queue, what, before, after)]);
    // Where a flavor goes or comes the order of the others is the same.
    let queues = |order: &[&str]| {
        let order = order.iter().map(|flavor| (*flavor).to_owned()).collect();
        DeployedQueue { order, ..DeployedQueue::default() }
    };
    let is_other = |one: &[&str], other: &[&str]| other_order([&queues(one), &queues(other)]).is_some();
    assert!(!is_other(&["x", "old", "y"], &["new", "x", "y"]));
    assert!(is_other(&["x", "old", "y"], &["y", "new", "x"]));
}

#[test]
fn classes_of_nodes_have_the_names_of_their_flavors() {
    let quota: [Flavors<'_>; 1] =
        [&[("spot", &[("cpu", "8"), ("memory", "32Gi")]), ("steady", &[("cpu", "4"), ("memory", "8Gi")])]];
    let deployed = flavor("spot") + &flavor("steady") + &queue("a", "", &quota);
    let nodes =
        node("n1", "spot", 4, "16Gi") + &node("n2", "spot", 4, "16Gi") + &node("n3", "steady", 4, "8Gi");
    let (text, changes) = changed(&deployed, &nodes);
    assert!(changes.is_empty(), "{changes:#?}\n{text}");
}

#[test]
fn classes_of_nodes_have_the_names_of_their_labels() {
    let files = Files::new();
    let property = |name: &str, value: &str| {
        format!("<property><name>yarn.scheduler.capacity.root{name}</name><value>{value}</value></property>")
    };
    let deployed = [
        property(".queues", "a"),
        property(".accessible-node-labels", "gpu"),
        property(".accessible-node-labels.gpu.capacity", "100"),
        property(".a.accessible-node-labels", "gpu"),
        property(".a.capacity", "[memory=2048,vcores=4]"),
        property(".a.accessible-node-labels.gpu.capacity", "[memory=4096,vcores=8]"),
    ];
    let queues = files
        .write("capacity-scheduler.xml", &format!("<configuration>{}</configuration>", deployed.concat()));
    let node = |name: &str, label: &str, memory: u32, vcores: u32| {
        format!(
            "{{\"id\": \"{name}\", \"nodeHostName\": \"{name}\", \"state\": \"RUNNING\", \"usedMemoryMB\": 0, \"availMemoryMB\": {memory}, \
             \"usedVirtualCores\": 0, \"availableVirtualCores\": {vcores}, \"nodeLabels\": [{label}]}}"
        )
    };
    let nodes = [node("n1", "", 1024, 2), node("n2", "", 1024, 2), node("n3", "\"gpu\"", 4096, 8)];
    let nodes = files.write("nodes.json", &format!("{{\"nodes\": {{\"node\": [{}]}}}}", nodes.join(", ")));
    let (instance, _) = yarn(&YarnOptions { nodes: vec![nodes], queues: queues.clone() }).unwrap();
    let solved = solution(&instance);
    let export =
        export(&instance, &solved, Target::Yarn, &ExportOptions::default(), &Control::none()).unwrap();
    let found = export_changes(&export, &[queues]).unwrap();
    assert!(found.changes.is_empty(), "{:#?}\n{}", found.changes, export.text());
}

#[test]
fn what_is_kept_lent_and_who_comes_first_is_compared() {
    let now = |target, text: &str| deployed_in(kind_of(target), "it", text).unwrap();
    let told = |target, before: &str, after: &str| {
        let found = changes(&now(target, before), &now(target, after), target);
        found.into_iter().map(|change| change.what).collect::<Vec<_>>()
    };
    let kueue = |more: &str| {
        format!(
            "kind: ClusterQueue\nmetadata: {{name: a}}\nspec: {{cohort: c, resourceGroups: [{{flavors: [{{name: f, resources: [{{name: cpu, \
             nominalQuota: 4{more}}}]}}]}}]}}\n"
        )
    };
    assert_eq!(told(Target::Kueue, &kueue(""), &kueue(", lendingLimit: 0")), ["lends cpu on f"]);
    assert_eq!(told(Target::Kueue, &kueue(""), &kueue(", lendingLimit: 4")), [""; 0]);
    let volcano = |more: &str| {
        format!(
            "apiVersion: scheduling.volcano.sh/v1beta1\nkind: Queue\nmetadata: {{name: a}}\nspec: {{deserved: {{cpu: 4}}{more}}}\n"
        )
    };
    let reserve = volcano(", guarantee: {resource: {cpu: 3}}, priority: 5");
    assert_eq!(told(Target::Volcano, &volcano(""), &reserve), ["priority", "keeps cpu"]);
    assert_eq!(told(Target::Volcano, &volcano(""), &volcano(", priority: 0")), [""; 0]);
    let kai = |more: &str| {
        format!(
            "apiVersion: scheduling.run.ai/v2\nkind: Queue\nmetadata: {{name: a}}\nspec: {{resources: {{cpu: {{quota: 1000}}}}{more}}}\n"
        )
    };
    assert_eq!(told(Target::Kai, &kai(""), &kai(", priority: 200")), ["priority"]);
    let slurm = |priority: u32| {
        format!(
            "sacctmgr -i add account name=a\nsacctmgr -i add qos name=sure-a\nsacctmgr -i modify qos where name=sure-a set MaxTRESPA=cpu=2 \
             Priority={priority}\nsacctmgr -i modify account where name=a set qos+=sure-a\n"
        )
    };
    assert_eq!(told(Target::Slurm, &slurm(1000), &slurm(0)), ["priority"]);
    // A table without the column does not say it.
    let table = "Account - 'a':Description='a':QOS='+sure-a'\nName|MaxTRESPA\nsure-a|cpu=2\n";
    assert_eq!(told(Target::Slurm, table, &slurm(1000)), [""; 0]);
    let with = table.replace("MaxTRESPA\n", "MaxTRESPA|Priority\n").replace("cpu=2\n", "cpu=2|7\n");
    assert_eq!(told(Target::Slurm, &with, &slurm(1000)), ["priority"]);
}

#[test]
fn what_kueues_objects_state_and_the_export_does_not_is_lost() {
    let flavor = "apiVersion: kueue.x-k8s.io/v1beta1\nkind: ResourceFlavor\nmetadata: {name: plain}\nspec: {nodeLabels: {pool: a}, nodeTaints: \
                  [{key: k, effect: NoSchedule}], tolerations: []}\n---\n";
    let more = "preemption: {withinClusterQueue: LowerPriority}, admissionChecks: [quota], queueingStrategy: BestEffortFIFO, namespaceSelector";
    let a = queue("a", "", &[&[("plain", &[("cpu", "10"), ("memory", "40Gi")])]])
        .replace("namespaceSelector", more);
    let b = queue("b", "", &[&[("plain", &[("cpu", "20"), ("memory", "10Gi")])]]).replace(
        "namespaceSelector: {}",
        "namespaceSelector: {matchLabels: {team: b}}, flavorFungibility: {whenCanBorrow: Borrow}",
    );
    let files = Files::new();
    let deployed = files.write("deployed.yaml", &(flavor.to_owned() + &a + &b));
    let (instance, _) =
        kueue(&KueueOptions { files: vec![deployed.clone()], ..KueueOptions::default() }).unwrap();
    let solved = solution(&instance);
    let export =
        export(&instance, &solved, Target::Kueue, &ExportOptions::default(), &Control::none()).unwrap();
    let found = export_changes(&export, &[deployed]).unwrap();
    assert!(found.changes.is_empty() && !found.is_nothing(), "{found:#?}");
    let told: Vec<(&str, &str)> =
        found.lost.iter().map(|lost| (lost.object.as_str(), lost.field.as_str())).collect();
    let expected = [
        ("ResourceFlavor plain", "nodeLabels"),
        ("ResourceFlavor plain", "nodeTaints"),
        ("ClusterQueue a", "admissionChecks"),
        ("ClusterQueue a", "preemption"),
        ("ClusterQueue b", "namespaceSelector"),
    ];
    assert_eq!(told, expected, "{found:#?}");
    assert_eq!(
        (found.lost[4].before.as_str(), found.lost[4].after.as_deref()),
        (r#"{"matchLabels":{"team":"b"}}"#, Some("{}"))
    );
}

#[test]
fn what_yunikorns_file_states_and_the_export_does_not_is_lost_with_its_other_partitions() {
    let text = "partitions:\n- name: default\n  placementrules: [{name: user}]\n  limits: []\n  queues:\n  - name: root\n    submitacl: \"*\"\n    \
                queues:\n    - {name: a, resources: {guaranteed: {vcore: 2}}, adminacl: eng}\n    - {name: b, maxapplications: 0}\n\
                - {name: gpu, queues: [{name: c}]}\n";
    let files = Files::new();
    let deployed = files.write("queues.yaml", text);
    let nodes = vec![files.write("nodes.yaml", &node("n1", "p", 8, "32Gi"))];
    let options = KubernetesQueuesOptions { nodes, queues: vec![deployed.clone()] };
    let (instance, _) = kubernetes_queues(&options).unwrap();
    let solved = solution(&instance);
    let export =
        export(&instance, &solved, Target::YuniKorn, &ExportOptions::default(), &Control::none()).unwrap();
    let found = export_changes(&export, &[deployed]).unwrap();
    let told: Vec<(&str, &str, &str)> = found
        .lost
        .iter()
        .map(|lost| (lost.object.as_str(), lost.field.as_str(), lost.before.as_str()))
        .collect();
    let expected = [
        ("partition default", "placementrules", r#"[{"name":"user"}]"#),
        ("queue root.a", "adminacl", "\"eng\""),
        ("partition gpu", "queues", r#"[{"name":"c"}]"#),
    ];
    assert_eq!(told, expected, "{found:#?}");
    // The export lets everybody submit to all queues.
    let closed = files.write("closed.yaml", &text.replace("    submitacl: \"*\"\n", ""));
    let found = export_changes(&export, &[closed]).unwrap();
    let opened = found.lost.iter().find(|lost| lost.field == "submitacl").unwrap();
    assert_eq!(
        (opened.object.as_str(), opened.before.as_str(), opened.after.as_deref()),
        ("queue root", "\"\"", Some("\"*\""))
    );
}

#[test]
fn how_yarn_measures_and_whom_it_lets_in_is_lost_where_the_export_says_otherwise() {
    let files = Files::new();
    let property = |name: &str, value: &str| {
        format!("<property><name>yarn.scheduler.capacity.{name}</name><value>{value}</value></property>")
    };
    let node = "{\"id\": \"h\", \"totalResource\": {\"memory\": 8192, \"vCores\": 8}}";
    let nodes = files.write("nodes.json", &format!("{{\"nodes\": {{\"node\": [{node}]}}}}"));
    let text = [
        property("root.queues", "a"),
        property("root.a.capacity", "100"),
        property("root.a.acl_submit_applications", "ops"),
        property("root.a.acl_administer_queue", "*"),
        property("root.a.priority", "5"),
    ];
    let text = format!("<configuration>{}</configuration>", text.concat());
    let deployed = files.write("capacity-scheduler.xml", &text);
    let (instance, _) = yarn(&YarnOptions { nodes: vec![nodes], queues: deployed.clone() }).unwrap();
    let solved = solution(&instance);
    let export =
        export(&instance, &solved, Target::Yarn, &ExportOptions::default(), &Control::none()).unwrap();
    let found = export_changes(&export, &[deployed]).unwrap();
    let told: Vec<(&str, &str, bool)> = found
        .lost
        .iter()
        .map(|lost| (lost.object.as_str(), lost.field.as_str(), lost.after.is_some()))
        .collect();
    let expected = [
        ("configuration", "resource-calculator", true),
        ("queue root.a", "acl_submit_applications", false),
        ("queue root.a", "priority", false),
    ];
    assert_eq!(told, expected, "{found:#?}");
}

#[test]
fn gains_are_not_told_where_a_label_covers_several_classes() {
    let files = Files::new();
    let property = |name: &str, value: &str| {
        format!("<property><name>yarn.scheduler.capacity.root{name}</name><value>{value}</value></property>")
    };
    let of = |queue: &str, part: &str, of_label: &str| {
        property(&format!(".{queue}.accessible-node-labels"), "gpu")
            + &property(&format!(".{queue}.capacity"), part)
            + &property(&format!(".{queue}.accessible-node-labels.gpu.capacity"), of_label)
    };
    let deployed = property(".queues", "a,b")
        + &property(".accessible-node-labels", "gpu")
        + &property(".accessible-node-labels.gpu.capacity", "100")
        + &of("a", "60", "80")
        + &of("b", "40", "20");
    let queues = files.write("capacity-scheduler.xml", &format!("<configuration>{deployed}</configuration>"));
    let node = |name: &str, label: &str, memory: u32| {
        format!(
            "{{\"id\": \"{name}\", \"nodeHostName\": \"{name}\", \"state\": \"RUNNING\", \"usedMemoryMB\": 0, \"availMemoryMB\": {memory}, \
             \"usedVirtualCores\": 0, \"availableVirtualCores\": 20, \"nodeLabels\": [{label}]}}"
        )
    };
    let nodes = [
        node("n1", "", 40960),
        node("n2", "", 40960),
        node("g1", "\"gpu\"", 20480),
        node("g2", "\"gpu\"", 81920),
    ];
    let nodes = files.write("nodes.json", &format!("{{\"nodes\": {{\"node\": [{}]}}}}", nodes.join(", ")));
    let (instance, _) = yarn(&YarnOptions { nodes: vec![nodes], queues: queues.clone() }).unwrap();
    let solved = solution(&instance);
    let export =
        export(&instance, &solved, Target::Yarn, &ExportOptions::default(), &Control::none()).unwrap();
    let found = export_changes(&export, &[queues]).unwrap();
    assert!(
        found.untold.as_ref().is_some_and(|why| why.contains("gpu")) && found.entitled.is_empty(),
        "{found:#?}"
    );
    // Amounts instead of percentages are not so much more.
    assert!(
        found.changes.iter().all(|change| change.before.is_some() || change.more.is_none()),
        "{found:#?}"
    );
}

/// A cluster of YARN with one node whose root may have three quarters of it, under either scheduler; what its export changes.
#[test]
fn the_root_of_a_scheduler_that_limits_all_becomes_its_root_again() {
    let files = Files::new();
    let node = "{\"id\": \"h\", \"totalResource\": {\"memory\": 65536, \"vCores\": 32}}";
    let nodes = files.write("nodes.json", &format!("{{\"nodes\": {{\"node\": [{node}]}}}}"));
    let fair = "<allocations><defaultQueueSchedulingPolicy>drf</defaultQueueSchedulingPolicy><queue \
                name=\"root\"><maxResources>49152 mb, 24 vcores</maxResources><queue name=\"users\"><queue name=\"alice\"/><queue \
                name=\"bob\"><weight>2</weight></queue></queue><queue name=\"other\"/></queue></allocations>";
    let property = |(name, value): &(&str, &str)| {
        format!("<property><name>yarn.scheduler.capacity.root{name}</name><value>{value}</value></property>")
    };
    let capacity = [
        (".queues", "users,other"),
        (".maximum-capacity", "75"),
        (".users.queues", "alice,bob"),
        (".users.capacity", "50"),
        (".users.alice.capacity", "40"),
        (".users.bob.capacity", "60"),
        (".other.capacity", "50"),
    ];
    let capacity: String = capacity.iter().map(property).collect();
    let queues = [
        (
            Target::YarnFair,
            files.write("fair-scheduler.xml", fair),
            "<maxResources>49152 mb, 24 vcores</maxResources>",
        ),
        (
            Target::Yarn,
            files.write("capacity-scheduler.xml", &format!("<configuration>{capacity}</configuration>")),
            "<name>yarn.scheduler.capacity.root.maximum-capacity</name>\n    <value>[memory=49152,vcores=24]</value>",
        ),
    ];
    for (target, deployed, told) in queues {
        let options = YarnOptions { nodes: vec![nodes.clone()], queues: deployed.clone() };
        let (instance, _) = yarn(&options).unwrap();
        assert_eq!(instance.groups()[0].id, "root", "{target}");
        let solved = solution(&instance);
        for levels in [None, Some(2)] {
            let options = ExportOptions { levels, ..ExportOptions::default() };
            let export = export(&instance, &solved, target, &options, &Control::none()).unwrap();
            let text = export.text();
            assert!(text.contains(told) && !text.contains("root-queue"), "{target}: {text}");
            let found = export_changes(&export, std::slice::from_ref(&deployed)).unwrap();
            let of_tree: Vec<_> = found
                .changes
                .iter()
                .filter(|change| ["queue", "parent"].contains(&change.what.as_str()))
                .collect();
            assert!(of_tree.is_empty(), "{target}: {of_tree:#?}");
            assert_eq!(
                found.changes.iter().filter(|change| change.queue == "root").count(),
                if target == Target::Yarn { 3 } else { 0 },
                "{target}: {:#?}",
                found.changes
            );
            // By the rule nobody has more of it than the root may.
            let sum: f64 = found.entitled.values().filter_map(|[_, then]| *then).sum();
            assert!((0.7..0.7501).contains(&sum), "{target}: {:?}", found.entitled);
            // What was written holds against the solution, and is the same instance's tree again.
            let written = files.write("written.xml", &text);
            let proved = crate::exported_from(Some(&instance), &solved, &written).unwrap();
            assert!(proved.verdicts.iter().all(|verdict| verdict.holds), "{target}: {:?}", proved.verdicts);
            let again = yarn(&YarnOptions { nodes: vec![nodes.clone()], queues: written }).unwrap().0;
            let ids = |instance: &Instance| {
                instance.groups().iter().map(|group| group.id.clone()).collect::<Vec<_>>()
            };
            assert_eq!(ids(&again), ids(&instance), "{target}");
        }
    }
}

#[test]
fn the_roots_of_yunikorn_and_volcano_stay_roots_with_their_limits() {
    let files = Files::new();
    let nodes = vec![files.write("nodes.yaml", &node("n1", "p", 8, "32Gi"))];
    let yunikorn = "partitions: [{name: default, queues: [{name: root, submitacl: \"*\", resources: {max: {vcore: 6, memory: 24Gi}}, \
                    queues: [{name: a}, {name: b}]}]}]\n";
    let volcano = |name: &str, spec: &str| {
        format!(
            "apiVersion: scheduling.volcano.sh/v1beta1\nkind: Queue\nmetadata: {{name: {name}}}\nspec: {{{spec}}}\n---\n"
        )
    };
    let volcano =
        volcano("root", "capability: {cpu: 6, memory: 24Gi}") + &volcano("a", "") + &volcano("b", "");
    for (target, text) in [(Target::YuniKorn, yunikorn), (Target::Volcano, &volcano)] {
        let deployed = files.write("queues.yaml", text);
        let options = KubernetesQueuesOptions { nodes: nodes.clone(), queues: vec![deployed.clone()] };
        let (instance, _) = kubernetes_queues(&options).unwrap();
        assert_eq!(instance.groups()[0].id, "root", "{target}");
        let solved = solution(&instance);
        let export = export(&instance, &solved, target, &ExportOptions::default(), &Control::none()).unwrap();
        let found = export_changes(&export, &[deployed]).unwrap();
        let others: Vec<_> = found.changes.iter().filter(|change| change.before.is_some()).collect();
        assert!(others.is_empty() && !export.text().contains("root-queue"), "{others:#?}\n{}", export.text());
        assert!(found.changes.iter().all(|change| change.queue != "root"), "{:#?}", found.changes);
    }
}

/// A cohort with quotas of its own.
fn cohort(name: &str, parent: &str, cpu: u32) -> String {
    let parent = if parent.is_empty() { String::new() } else { format!("parentName: {parent}, ") };
    format!(
        "apiVersion: kueue.x-k8s.io/v1beta1\nkind: Cohort\nmetadata: {{name: {name}}}\nspec: {{{parent}resourceGroups: [{{coveredResources: [cpu], \
         flavors: [{{name: f, resources: [{{name: cpu, nominalQuota: {cpu}}}]}}]}}]}}\n---\n"
    )
}

#[test]
fn quotas_of_cohorts_that_the_export_does_not_write_are_there_before_it() {
    let of = |name: &str, cohort: &str| queue(name, cohort, &[&[("f", &[("cpu", "10")])]]);
    let of_two = |name: &str| of("a", name) + &of("b", name);
    // Half of all each, before and after: the quotas become those of queues.
    let (text, _) = changed(&(cohort("root", "", 80) + &of_two("root")), "");
    assert!(text.contains("root") && !text.contains("root-queue"), "{text}");
    for pool in [cohort("pool", "top", 80), cohort("above", "top", 30) + &cohort("pool", "above", 50)] {
        changed(&(cohort("top", "", 0) + &pool + &of_two("top")), "");
    }
    // A queue of this name is one like any other.
    changed(&(of("root", "top") + &of("b", "top")), "");
}

#[test]
fn a_queue_that_no_namespace_may_submit_to_or_that_is_stopped_is_told_as_that_alone() {
    let text = queue("a", "", &[&[("plain", &[("cpu", "9")])]]);
    let files = Files::new();
    let deployed = files.write("deployed.yaml", &text);
    let (instance, _) =
        kueue(&KueueOptions { files: vec![deployed.clone()], ..KueueOptions::default() }).unwrap();
    let solved = solution(&instance);
    let export =
        export(&instance, &solved, Target::Kueue, &ExportOptions::default(), &Control::none()).unwrap();
    let lost = |text: String| {
        let found = export_changes(&export, &[files.write("it.yaml", &text)]).unwrap();
        assert!(found.changes.is_empty(), "{:#?}", found.changes);
        let lost: Vec<_> = found.lost.iter().map(|lost| (lost.field.clone(), lost.before.clone())).collect();
        (lost, found.moved().map(|(_, before, _)| before).collect::<Vec<_>>())
    };
    let field = |name: &str, before: &str| vec![(name.to_owned(), before.to_owned())];
    assert_eq!(lost(text.clone()), (vec![], vec![]));
    let nobody = ["", "namespaceSelector: null, "];
    for selector in nobody {
        let found = lost(text.replace("namespaceSelector: {}, ", selector));
        assert_eq!(found, (field("namespaceSelector", "null"), vec![]));
    }
    // What is stopped has its quota, and gives nothing of it out until the export is applied.
    for policy in ["Hold", "HoldAndDrain"] {
        let found = lost(text.replace("spec: {", &format!("spec: {{stopPolicy: {policy}, ")));
        assert_eq!(found, (field("stopPolicy", &format!("{policy:?}")), vec![0.0]));
    }
}
