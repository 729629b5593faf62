//! What a scheduler's own rule gives under the configuration that is deployed.

use super::tests::{decimal, exported};
use super::*;
use fairplan_imports::{ConfigurationKind, specs_in};
use fairplan_instances::{Draft, DraftUser, ServerClass, files};
use std::collections::BTreeSet;

/// Two alike users `a` and `b` on one server of 16 cores and 64 GiB.
pub(super) fn two_alike(ids: [&str; 2], memory: u64) -> Instance {
    let mut draft = Draft::from(&crate::generate::drfh_fig1().unwrap());
    draft.resources = ["cpu", "memory"].map(String::from).to_vec();
    draft.classes = vec![ServerClass::new("n", 1, [16, 64 * memory].map(decimal).to_vec())];
    let template = draft.users[0].clone();
    let user = |id: &str| DraftUser {
        id: id.into(),
        demand: [1, 4 * memory].map(decimal).to_vec(),
        weight: decimal(1),
        ..template.clone()
    };
    draft.users = ids.map(user).to_vec();
    draft.build().unwrap()
}

/// What the rule of `target` gives `a` and `b` under the configuration `text`.
fn entitled_now(target: Target, text: &str) -> [f64; 2] {
    let has_paths = matches!(target, Target::Yarn | Target::YarnFair | Target::YuniKorn);
    let ids = if has_paths { ["root.a", "root.b"] } else { ["a", "b"] };
    let memory = if target.is_kubernetes() { 1 << 30 } else { 1024 };
    let export = exported(&two_alike(ids, memory), target, &ExportOptions::default()).unwrap();
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), text).unwrap();
    let changes = export_changes(&export, &[file.path().display().to_string()]).unwrap();
    ids.map(|id| changes.entitled[id][0].unwrap())
}

#[test]
fn what_queues_have_by_their_rule_where_no_amounts_are_stated_goes_by_weight() {
    let yarn = |a: &str, b: &str| {
        let property = |name: &str, value: &str| {
            format!(
                "<property><name>yarn.scheduler.capacity.root.{name}</name><value>{value}</value></property>"
            )
        };
        let capacities = property("a.capacity", a) + &property("b.capacity", b);
        (Target::Yarn, format!("<configuration>{}{capacities}</configuration>", property("queues", "a,b")))
    };
    let objects = |api: &str, specs: [&str; 2]| {
        let object = |(name, spec): (&str, &str)| {
            format!("apiVersion: {api}\nkind: Queue\nmetadata: {{name: {name}}}\nspec: {{{spec}}}\n---\n")
        };
        ["a", "b"].into_iter().zip(specs).map(object).collect::<String>()
    };
    let volcano = |specs: [&str; 2]| (Target::Volcano, objects("scheduling.volcano.sh/v1beta1", specs));
    let kai = |specs: [&str; 2]| (Target::Kai, objects("scheduling.run.ai/v2", specs));
    let yunikorn = |a: &str, b: &str| {
        let text = format!(
            "partitions: [{{name: default, queues: [{{name: root, queues: [{{name: a{a}}}, {{name: b{b}}}]}}]}}]\n"
        );
        (Target::YuniKorn, text)
    };
    let slurm = |[a, b]: [&str; 2]| {
        (Target::Slurm, format!("Parent - 'root'\nAccount - 'a':{a}\nAccount - 'b':{b}\n"))
    };
    let without_end = "resources: {cpu: {quota: -1, limit: -1}, memory: {quota: -1, limit: -1}}";
    let some = "resources: {cpu: {quota: 4000, limit: -1}, memory: {quota: 20000, limit: -1}}";
    for ((target, text), expected) in [
        (yarn("50", "50"), [0.5, 0.5]),
        (yarn("1w", "1w"), [0.5, 0.5]),
        (yarn("1w", "3w"), [0.25, 0.75]),
        (yunikorn("", ""), [0.5, 0.5]),
        (
            yunikorn(", resources: {guaranteed: {vcore: 12}}", ", resources: {guaranteed: {vcore: 4}}"),
            [0.75, 0.25],
        ),
        (yunikorn("", ", resources: {guaranteed: {vcore: 4}, max: {vcore: 4}}"), [0.75, 0.25]),
        (yunikorn("", ", resources: {max: {vcore: 8, memory: 32Gi}}"), [2.0 / 3.0, 1.0 / 3.0]),
        (volcano(["weight: 1", "weight: 1"]), [0.5, 0.5]),
        (volcano(["weight: 3", "weight: 1"]), [0.75, 0.25]),
        (volcano(["weight: 1, priority: 10", "weight: 1"]), [1.0, 0.0]),
        (slurm(["Fairshare=parent", "Fairshare=2147483647"]), [0.5, 0.5]),
        (yarn("[memory=25%,vcores=25%]", "[memory=75%,vcores=75%]"), [0.25, 0.75]),
        (kai([without_end, without_end]), [0.5, 0.5]),
        (kai([some, without_end]), [0.2, 0.8]),
    ] {
        let found = entitled_now(target, &text);
        let is_near = found.iter().zip(expected).all(|(found, expected)| (found - expected).abs() < 5e-3);
        assert!(is_near, "{target}: {found:?}, not {expected:?}, by\n{text}");
    }
}

/// What an export with so many levels changes of the configuration `text`.
fn changes_of(target: Target, instance: &str, text: &str, levels: usize) -> ExportChanges {
    let in_file = |text: &str| {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), text).unwrap();
        file
    };
    let instance = files::read_instance(&in_file(instance).path().display().to_string()).unwrap();
    let options = ExportOptions { levels: Some(levels), ..ExportOptions::default() };
    let export = exported(&instance, target, &options).unwrap();
    export_changes(&export, &[in_file(text).path().display().to_string()]).unwrap()
}

/// What the rule of `target` gives the users of an instance under the configuration `text`, in their order.
fn all_entitled_now(target: Target, instance: &str, text: &str) -> Vec<f64> {
    let changes = changes_of(target, instance, text, 2);
    assert_eq!(changes.untold, None);
    let users: serde_json::Value = serde_json::from_str(instance).unwrap();
    let ids = users["users"].as_array().unwrap().iter().map(|user| user["id"].as_str().unwrap());
    ids.map(|id| changes.entitled[id][0].unwrap()).collect()
}

/// One server, and users whose tasks take so much of each resource, some of them in a group.
fn one_server(capacity: &str, demand: &str, users: &[(&str, Option<&str>)]) -> String {
    let groups: BTreeSet<&str> = users.iter().filter_map(|(_, group)| *group).collect();
    let groups: Vec<String> = groups.iter().map(|id| format!(r#"{{"id": "{id}"}}"#)).collect();
    let user = |(id, group): &(&str, Option<&str>)| {
        let group = group.map_or_else(String::new, |group| format!(r#", "group": "{group}""#));
        format!(r#"{{"id": "{id}", "demand": {{{demand}}}{group}}}"#)
    };
    let users: Vec<String> = users.iter().map(user).collect();
    let resources: Vec<&str> =
        ["cpu", "memory", "nvidia.com/gpu"].into_iter().filter(|r| demand.contains(r)).collect();
    let (groups, users) = (groups.join(", "), users.join(", "));
    format!(
        r#"{{"format": "fairplan.instance.v1", "resources": {resources:?}, "groups": [{groups}], "users": [{users}],
        "server_classes": [{{"id": "n", "count": 1, "capacity": {{{capacity}}}}}]}}"#
    )
}

/// A resource of a queue of KAI without end.
const ENDLESS: &str = "{quota: -1, limit: -1, overQuotaWeight: 1}";

/// A queue of KAI with these resources and what else its `spec` says.
fn kai_queue(name: &str, more: &str, resources: &str) -> String {
    let spec = format!("{{{more}resources: {{{resources}}}}}");
    format!("apiVersion: scheduling.run.ai/v2\nkind: Queue\nmetadata: {{name: {name}}}\nspec: {spec}\n---\n")
}

/// What is sure within a queue that is given nothing itself is sure beside its siblings there alone. Only Volcano adds it up.
#[test]
fn a_queue_that_is_given_nothing_is_measured_by_itself_whatever_those_below_it_are_given() {
    let (a, b) = ("root.tenants.a", "root.system");
    let mib = one_server(
        r#""cpu": 10, "memory": 102400"#,
        r#""cpu": 1, "memory": 10240"#,
        &[(a, Some("root.tenants")), (b, None)],
    );
    let bytes = mib.replace("102400", "107374182400").replace("10240", "10737418240");
    let yunikorn = "partitions: [{name: default, queues: [{name: root, queues: [{name: tenants, queues: [{name: a, \
        resources: {guaranteed: {vcore: 2, memory: 20Gi}}}]}, {name: system}]}]}]\n";
    let fair = "<allocations><defaultQueueSchedulingPolicy>drf</defaultQueueSchedulingPolicy><queue name=\"tenants\"><queue name=\"a\">\
        <minResources>81920 mb, 8 vcores</minResources></queue></queue><queue name=\"system\"/></allocations>";
    let gpus = one_server(
        r#""cpu": 64, "nvidia.com/gpu": 16"#,
        r#""cpu": 4, "nvidia.com/gpu": 1"#,
        &[("team-a", Some("dept-a")), ("team-b", Some("dept-b"))],
    );
    let kai = |name: &str, of: &str, quota: u64| {
        kai_queue(
            name,
            of,
            &format!("cpu: {ENDLESS}, gpu: {{quota: {quota}, limit: -1, overQuotaWeight: 1}}"),
        )
    };
    let kai = kai("dept-a", "", 0)
        + &kai("dept-b", "", 0)
        + &kai("team-a", "parentQueue: dept-a, ", 4)
        + &kai("team-b", "parentQueue: dept-b, ", 1);
    for (target, instance, text) in
        [(Target::YuniKorn, &bytes, yunikorn), (Target::YarnFair, &mib, fair), (Target::Kai, &gpus, &*kai)]
    {
        near(target, &all_entitled_now(target, instance, text), &[0.5, 0.5]);
    }
}

fn near(target: Target, found: &[f64], expected: &[f64]) {
    let is_near = found.iter().zip(expected).all(|(found, expected)| (found - expected).abs() < 5e-3);
    assert!(is_near, "{target}: {found:?}, not {expected:?}");
}

/// Eleven GPUs and five, by 3 + 12 · 2/3 and 1 + 12 / 3: cores and memory have no end.
#[test]
fn each_resource_has_a_weight_of_its_own_in_kai() {
    let instance = one_server(
        r#""cpu": 64, "nvidia.com/gpu": 16"#,
        r#""cpu": 4, "nvidia.com/gpu": 1"#,
        &[("a", None), ("b", None)],
    );
    let queue = |name: &str, quota: u64, weight: u64| {
        let gpu = format!("{{quota: {quota}, limit: -1, overQuotaWeight: {weight}}}");
        kai_queue(name, "", &format!("cpu: {ENDLESS}, gpu: {gpu}, memory: {ENDLESS}"))
    };
    let found = all_entitled_now(Target::Kai, &instance, &(queue("a", 3, 2) + &queue("b", 1, 1)));
    near(Target::Kai, &found, &[11.0 / 16.0, 5.0 / 16.0]);
}

#[test]
fn percentages_of_the_fair_scheduler_are_of_the_cluster_at_every_depth() {
    let users = [("root.p.q", Some("root.p")), ("root.p.r", Some("root.p")), ("root.s", None)];
    let instance = one_server(r#""cpu": 10, "memory": 10240"#, r#""cpu": 1, "memory": 1024"#, &users);
    let queues = |p: &str, q: &str| {
        format!(
            "<allocations><defaultQueueSchedulingPolicy>drf</defaultQueueSchedulingPolicy><queue name=\"p\"><maxResources>{p}</maxResources>\
             <queue name=\"q\"><weight>9</weight><maxResources>{q}</maxResources></queue><queue name=\"r\"/></queue><queue name=\"s\"/></allocations>"
        )
    };
    for (p, q) in [
        ("50.0%", "40.0%"),
        ("5120 mb, 5 vcores", "4096 mb, 4 vcores"),
        ("memory-mb=50.0%, vcores=50.0%", "memory-mb=40.0%, vcores=40.0%"),
    ] {
        let found = all_entitled_now(Target::YarnFair, &instance, &queues(p, q));
        near(Target::YarnFair, &found, &[0.4, 0.1, 0.5]);
    }
}

/// Of 9 cores of a cohort one queue keeps 4 of its 6, and one that is stopped lends its 3.
#[test]
fn what_a_stopped_queue_lends_may_be_borrowed() {
    let instance = one_server(r#""cpu": 9"#, r#""cpu": 1"#, &[("a", Some("c")), ("b", Some("c"))]);
    let queue = |name: &str, of: &str, amounts: &str| {
        format!(
            "apiVersion: kueue.x-k8s.io/v1beta1\nkind: ClusterQueue\nmetadata: {{name: {name}}}\nspec: {{cohort: c, {of}namespaceSelector: {{}}, \
             resourceGroups: [{{coveredResources: [cpu], flavors: [{{name: \"n\", resources: [{{name: cpu, {amounts}}}]}}]}}]}}\n---\n"
        )
    };
    let flavor =
        "apiVersion: kueue.x-k8s.io/v1beta1\nkind: ResourceFlavor\nmetadata: {name: \"n\"}\n---\n".to_owned();
    let text = flavor
        + &queue("a", "", "nominalQuota: 6, lendingLimit: 2")
        + &queue("b", "", "nominalQuota: 0, borrowingLimit: 1")
        + &queue("h", "stopPolicy: Hold, ", "nominalQuota: 3");
    near(Target::Kueue, &all_entitled_now(Target::Kueue, &instance, &text), &[8.0 / 9.0, 1.0 / 9.0]);
}

/// Of 256 vcores and 256 GiB as much memory goes to a queue whose tasks take 8 GiB and a vcore as to one whose tasks take 1 GiB and four, until all
/// vcores are taken: 33 of them for every 16 GiB.
#[test]
fn queues_that_yarn_compares_by_memory_alone_have_as_much_memory() {
    let instance = r#"{"format": "fairplan.instance.v1", "resources": ["cpu", "memory"],
        "server_classes": [{"id": "n", "count": 4, "capacity": {"cpu": 64, "memory": 65536}}],
        "users": [{"id": "root.wide", "demand": {"cpu": 1, "memory": 8192}}, {"id": "root.tall", "demand": {"cpu": 4, "memory": 1024}}]}"#;
    let fair = |policy: &str| {
        format!("<allocations>{policy}<queue name=\"wide\"/><queue name=\"tall\"/></allocations>")
    };
    let policy = |name: &str| format!("<defaultQueueSchedulingPolicy>{name}</defaultQueueSchedulingPolicy>");
    let in_root = "<allocations><queue name=\"root\"><queue name=\"wide\"/><queue name=\"tall\"/></queue></allocations>";
    let wide = 256.0 / 33.0 * 8.0 / 256.0;
    let (by_memory, by_all) = ([wide, 32.0 * wide / 8.0], [0.8, 0.8]);
    for (text, expected) in [
        (fair(""), by_memory),
        (fair(&policy("fair")), by_memory),
        (in_root.to_owned(), by_memory),
        (fair(&policy("drf")), by_all),
    ] {
        near(Target::YarnFair, &all_entitled_now(Target::YarnFair, instance, &text), &expected);
    }
    let capacity = |more: &str| {
        let property = |(name, value): (&str, &str)| {
            format!("<property><name>yarn.scheduler.capacity.{name}</name><value>{value}</value></property>")
        };
        let all = [("root.queues", "wide,tall"), ("root.wide.capacity", "50"), ("root.tall.capacity", "50")];
        format!("<configuration>{}{more}</configuration>", all.map(property).concat())
    };
    let dominant = "<property><name>yarn.scheduler.capacity.resource-calculator</name><value>\
         org.apache.hadoop.yarn.util.resource.DominantResourceCalculator</value></property>";
    // Each is sure of half of everything; then memory decides.
    for (more, expected) in [("", [0.5, 60.0 / 64.0]), (dominant, by_all)] {
        near(Target::Yarn, &all_entitled_now(Target::Yarn, instance, &capacity(more)), &expected);
    }
}

/// By their quotas and weights 6 GPUs and 4: what is asked for below a queue is asked for by the tenant that stands for all of it.
#[test]
fn queues_below_the_last_level_ask_for_what_their_tenant_does() {
    let users = [("a1", Some("a")), ("b1", Some("b"))];
    let instance = one_server(r#""nvidia.com/gpu": 10"#, r#""nvidia.com/gpu": 1"#, &users);
    let queue = |name: &str, of: &str, quota: u64| {
        kai_queue(name, of, &format!("gpu: {{quota: {quota}, limit: -1, overQuotaWeight: 1}}"))
    };
    let text = queue("a", "", 4)
        + &queue("b", "", 2)
        + &queue("a1", "parentQueue: a, ", 4)
        + &queue("b1", "parentQueue: b, ", 2);
    for (levels, names) in [(1, ["a", "b"]), (2, ["a1", "b1"])] {
        let found = changes_of(Target::Kai, &instance, &text, levels);
        near(Target::Kai, &names.map(|name| found.entitled[name][0].unwrap()), &[0.6, 0.4]);
    }
    // Tenants inside a queue that has none below it there have something now, and it is not known how much.
    let found = changes_of(Target::Kai, &instance, &(queue("a", "", 4) + &queue("b", "", 2)), 2);
    assert_eq!((found.inside, found.entitled.len()), (vec!["a1".to_owned(), "b1".to_owned()], 0));
}

/// Of 20 GPUs the quotas are 8 and 2; what is over goes to the higher priority alone, whatever the weights.
#[test]
fn what_is_over_the_quotas_of_kai_goes_by_priority() {
    let users = [("x", None), ("z", None)];
    let instance = one_server(r#""nvidia.com/gpu": 20"#, r#""nvidia.com/gpu": 1"#, &users);
    let queue = |name: &str, priority: &str, quota: u64, weight: u64| {
        kai_queue(name, priority, &format!("gpu: {{quota: {quota}, limit: -1, overQuotaWeight: {weight}}}"))
    };
    for (priority, expected) in [("priority: 200, ", [0.9, 0.1]), ("priority: 100, ", [0.525, 0.475])] {
        let text = queue("x", priority, 8, 1) + &queue("z", "", 2, 3);
        near(Target::Kai, &all_entitled_now(Target::Kai, &instance, &text), &expected);
    }
}

/// One flavor of cpu beside two of GPUs is a part of two classes.
#[test]
fn what_is_deployed_of_a_flavor_of_several_classes_is_told_as_unknown() {
    let instance = r#"{"format": "fairplan.instance.v1", "resources": ["cpu", "nvidia.com/gpu"],
        "server_classes": [{"id": "all+a100", "count": 1, "capacity": {"cpu": 96, "nvidia.com/gpu": 8}},
                           {"id": "all+h100", "count": 1, "capacity": {"cpu": 96, "nvidia.com/gpu": 8}}],
        "users": [{"id": "a", "demand": {"cpu": 12, "nvidia.com/gpu": 1}, "eligible": ["all+a100"]},
                  {"id": "b", "demand": {"cpu": 12, "nvidia.com/gpu": 1}, "eligible": ["all+h100"]}]}"#;
    let queue = |name: &str, flavor: &str| {
        format!(
            "apiVersion: kueue.x-k8s.io/v1beta1\nkind: ClusterQueue\nmetadata: {{name: {name}}}\nspec: {{namespaceSelector: {{}}, resourceGroups: [\
             {{coveredResources: [cpu], flavors: [{{name: all, resources: [{{name: cpu, nominalQuota: 96}}]}}]}}, \
             {{coveredResources: [nvidia.com/gpu], flavors: [{{name: {flavor}, resources: [{{name: nvidia.com/gpu, nominalQuota: 8}}]}}]}}]}}\n---\n"
        )
    };
    let text = queue("a", "a100") + &queue("b", "h100");
    let untold = changes_of(Target::Kueue, instance, &text, 1).untold.unwrap();
    assert!(untold.starts_with("all is a flavor of several classes here"), "{untold}");
}

/// Before Hadoop 3.4 queues have nothing of a label of which `root` has nothing.
#[test]
fn another_capacity_of_a_label_of_yarns_root_is_told() {
    let text = |capacity: &str| {
        let property = |name: &str, value: &str| {
            format!("<property><name>yarn.scheduler.capacity.{name}</name><value>{value}</value></property>")
        };
        let of_root = property("root.queues", "a") + &property("root.accessible-node-labels", "b");
        let of_label = property("root.accessible-node-labels.b.capacity", capacity);
        format!("<configuration>{of_root}{of_label}{}</configuration>", property("root.a.capacity", "100"))
    };
    let of_root = |capacity: &str| {
        let specs = specs_in(ConfigurationKind::Yarn, &text(capacity)).unwrap();
        let root = specs.into_iter().find(|spec| (&*spec.kind, &*spec.name) == ("queue", "root")).unwrap();
        root.spec.get("accessible-node-labels.b.capacity").cloned()
    };
    assert_eq!([of_root("0"), of_root("100")], ["0", "100"].map(|capacity| Some(capacity.into())));
}

#[test]
fn another_weight_of_one_resource_of_kai_is_told() {
    let users = [("x", None), ("z", None)];
    let instance =
        one_server(r#""cpu": 64, "nvidia.com/gpu": 20"#, r#""cpu": 1, "nvidia.com/gpu": 1"#, &users);
    let told = |cpu: u64| {
        let resources = format!(
            "cpu: {{quota: 10000, limit: -1, overQuotaWeight: {cpu}}}, gpu: {{quota: 10, limit: -1, overQuotaWeight: 1}}"
        );
        let text = ["x", "z"].map(|name| kai_queue(name, "", &resources)).concat();
        let changes = changes_of(Target::Kai, &instance, &text, 1).changes;
        let of_weights = changes.into_iter().filter(|change| change.what.starts_with("weight"));
        of_weights.map(|change| (change.queue, change.what, change.before)).collect::<Vec<_>>()
    };
    let zero = |queue: &str| (queue.to_owned(), "weight of cpu".to_owned(), Some("0".to_owned()));
    assert_eq!(told(0), [zero("x"), zero("z")]);
    assert_eq!(told(1), []);
}
