//! Rules of pods among themselves: kept where all pods they are about are alike, counted where they are not.

use super::*;
use fairplan_instances::{Gang, ResourceId, UserId};

struct Files(tempfile::TempDir);

impl Files {
    fn write(&self, name: &str, items: &[String]) -> String {
        let path = self.0.path().join(name);
        std::fs::write(&path, items.join("\n---\n")).unwrap();
        path.to_str().unwrap().to_owned()
    }
}

/// Nodes of 8 cpu and 4 GPUs, two in zone a, two in b and one without a zone.
fn nodes() -> Vec<String> {
    let node = |(name, zone): (&str, &str)| {
        let labels = match zone {
            "" => String::new(),
            zone => format!(", labels: {{topology.kubernetes.io/zone: {zone}}}"),
        };
        format!(
            "{{apiVersion: v1, kind: Node, metadata: {{name: {name}{labels}}}, status: {{allocatable: {{cpu: 8, memory: 64Gi, nvidia.com/gpu: 4}}}}}}"
        )
    };
    [("n1", "a"), ("n2", "a"), ("n3", "b"), ("n4", "b"), ("n5", "")].map(node).into()
}

/// So many pods of an app in namespace `shop`, with more in their metadata and their specification.
fn pods(app: &str, count: usize, cpu: &str, meta: &str, spec: &str) -> Vec<String> {
    let pod = |at: usize| {
        format!(
            "{{apiVersion: v1, kind: Pod, metadata: {{name: {app}-{at}, namespace: shop, {meta}}}, spec: {{{spec} containers: \
             [{{name: c, resources: {{requests: {{cpu: {cpu}, nvidia.com/gpu: 1}}}}}}]}}}}"
        )
    };
    (0..count).map(pod).collect()
}

fn apart(app: &str, key: &str) -> String {
    format!(
        "affinity: {{podAntiAffinity: {{requiredDuringSchedulingIgnoredDuringExecution: [{{topologyKey: {key}, labelSelector: \
         {{matchLabels: {{app: {app}}}}}}}]}}}},"
    )
}

fn spread(app: &str, key: &str) -> String {
    format!(
        "topologySpreadConstraints: [{{maxSkew: 2, topologyKey: {key}, whenUnsatisfiable: DoNotSchedule, labelSelector: \
         {{matchLabels: {{app: {app}}}}}}}],"
    )
}

fn labels(app: &str) -> String {
    format!("labels: {{app: {app}}}")
}

/// What is made of pods, and of PodGroups and Jobs.
fn read(pods: &[String], gangs: &[String]) -> (Instance, ImportReport) {
    let files = Files(tempfile::tempdir().unwrap());
    let gangs = if gangs.is_empty() { Vec::new() } else { vec![files.write("gangs.yaml", gangs)] };
    let options = KubernetesOptions {
        nodes: vec![files.write("nodes.yaml", &nodes())],
        pods: vec![files.write("pods.yaml", pods)],
        rules: true,
        gangs,
        ..Default::default()
    };
    kubernetes(&options).unwrap()
}

const ZONES: &str = "topology.kubernetes.io/zone";
const HOST: &str = "kubernetes.io/hostname";

#[test]
fn gpus_are_devices_and_zones_domains() {
    let (instance, _) = read(&pods("web", 1, "1", &labels("web"), ""), &[]);
    assert_eq!(instance.domains(), ["a", "b", "no topology.kubernetes.io/zone"]);
    assert!(instance.classes().iter().all(|class| class.devices == [(ResourceId(2), 4)]));
}

#[test]
fn one_of_an_app_on_a_node_is_a_limit_a_server() {
    let mut all = pods("web", 3, "1", &labels("web"), &apart("web", HOST));
    all.extend(pods("cache", 2, "1", &labels("cache"), &apart("cache", HOST)));
    let (instance, report) = read(&all, &[]);
    let told = |user: fairplan_instances::User<'_>| {
        let app = user.id().split_once('+').unwrap().1.to_owned();
        (app, user.tasks(), user.per_server())
    };
    let users: Vec<_> = instance.users().map(told).collect();
    assert_eq!(users, [("app=web".into(), Some(3), Some(1)), ("app=cache".into(), Some(2), Some(1))]);
    assert_eq!(report.count(pods::APART), 0, "{report}");
}

#[test]
fn what_keeps_away_from_others_or_in_a_zone_is_counted() {
    for (selected, key, other) in [("web", ZONES, "cache"), ("cache", HOST, "cache"), ("web", HOST, "web")] {
        let mut all = pods("web", 2, "1", &labels("web"), &apart(selected, key));
        all.extend(pods("other", 1, "2", &labels(other), ""));
        let (instance, report) = read(&all, &[]);
        assert!(instance.users().all(|user| user.per_server().is_none()));
        assert_eq!(report.count(pods::APART), 2, "{selected} {key}");
    }
}

#[test]
fn spread_over_zones_is_kept_on_nodes_that_have_one() {
    let (instance, report) = read(&pods("web", 4, "1", &labels("web"), &spread("web", ZONES)), &[]);
    let user = instance.user(UserId(0));
    assert_eq!((user.spread(), user.domains().len()), (Some(2), 2));
    assert_eq!(report.count(pods::SPREAD), 0, "{report}");
    let (instance, report) = read(&pods("web", 4, "1", &labels("web"), &spread("web", HOST)), &[]);
    assert_eq!(instance.user(UserId(0)).spread(), None);
    assert_eq!(report.count(pods::SPREAD), 4, "{report}");
}

#[test]
fn groups_that_are_all_here_and_alike_are_gangs() {
    let gang =
        |instance: &Instance| instance.users().map(|user| (user.tasks(), user.gang())).collect::<Vec<_>>();
    let kueue = |count: u64, more: &str| {
        format!(
            "labels: {{kueue.x-k8s.io/pod-group-name: g}}, annotations: {{kueue.x-k8s.io/pod-group-total-count: \"{count}\"{more}}}"
        )
    };
    let four = |in_one_domain| Some(Gang { tasks: 4, in_one_domain });
    let (instance, _) = read(&pods("w", 4, "1", &kueue(4, ""), ""), &[]);
    assert_eq!(gang(&instance), [(Some(4), four(false))]);
    let near = ", kueue.x-k8s.io/podset-required-topology: topology.kubernetes.io/zone";
    let (instance, _) = read(&pods("w", 4, "1", &kueue(4, near), ""), &[]);
    assert_eq!(gang(&instance), [(Some(4), four(true))]);
    // One is missing; one asks for something else.
    let (instance, report) = read(&pods("w", 3, "1", &kueue(4, ""), ""), &[]);
    assert_eq!((gang(&instance), report.count(rules::BROKEN_GANG)), (vec![(Some(3), None)], 3));

    let volcano = "annotations: {scheduling.k8s.io/group-name: g}";
    let group = |least: u64| {
        vec![format!(
            "{{apiVersion: scheduling.volcano.sh/v1beta1, kind: PodGroup, metadata: {{name: g, namespace: shop}}, spec: {{minMember: {least}}}}}"
        )]
    };
    let (instance, _) = read(&pods("w", 4, "1", volcano, ""), &group(4));
    assert_eq!(gang(&instance), [(Some(4), four(false))]);
    let (_, report) = read(&pods("w", 4, "1", volcano, ""), &group(2));
    assert_eq!(report.count(rules::LARGER_GANG), 4);
    let (_, report) = read(&pods("w", 4, "1", volcano, ""), &group(5));
    assert_eq!(report.count(rules::BROKEN_GANG), 4);
    let (_, report) = read(&pods("w", 4, "1", volcano, ""), &[]);
    assert_eq!(report.count("pods are in a PodGroup that is not here (--gangs): each runs for itself"), 4);

    let job = vec![
        "{apiVersion: batch/v1, kind: Job, metadata: {name: j, namespace: shop}, spec: {parallelism: 4}}"
            .to_owned(),
    ];
    let (instance, _) = read(&pods("w", 4, "1", "labels: {job-name: j}", ""), &job);
    assert_eq!(gang(&instance), [(Some(4), four(false))]);
}

#[test]
fn unlike_pods_that_start_together_are_one_task_of_several_kinds() {
    let group = |name: &str, more: &str| {
        format!(
            "labels: {{kueue.x-k8s.io/pod-group-name: {name}, app: x}}, annotations: {{kueue.x-k8s.io/pod-group-total-count: \"4\"{more}}}"
        )
    };
    // A launcher and its workers, twice; of the second set two run.
    let set = |name: &str, more: &str, spec: &str| {
        let launcher = pods(&format!("{name}-launcher"), 1, "2", &group(name, more), spec);
        [launcher, pods(&format!("{name}-worker"), 3, "1", &group(name, more), spec)].concat()
    };
    let mut all = set("g", "", "");
    all.extend(pods("web", 1, "1", &labels("web"), ""));
    all.extend(set("h", "", ""));
    let (instance, report) = read(&all, &[]);
    assert_eq!(instance.users().map(|user| user.id()).collect::<Vec<_>>()[1..], ["shop+gang4"]);
    let user = instance.user(UserId(1));
    let kinds: Vec<_> = user.kinds().map(|kind| (kind.each(), kind.piece()[0].to_string())).collect();
    assert_eq!(kinds, [(3, "1".into()), (1, "2".into())]);
    assert_eq!((user.tasks(), user.gang(), instance.user_count()), (Some(2), None, 2));
    assert_eq!(report.count(rules::BROKEN_GANG), 0, "{report}");
    let on = |name: &str| set(name, "", "nodeName: n2,");
    let files = Files(tempfile::tempdir().unwrap());
    let options = KubernetesOptions {
        nodes: vec![files.write("nodes.yaml", &nodes())],
        pods: vec![files.write("pods.yaml", &[set("g", "", ""), on("h")].concat())],
        rules: true,
        ..Default::default()
    };
    let (PresentCluster { placement, .. }, _) = kubernetes_present(&options).unwrap();
    assert_eq!((&placement.tasks[..], &placement.servers[1]), (&[1][..], &vec![(0, 3), (1, 1)]));
    // Rules of their own, several owners or one domain are more than kinds say.
    let (_, report) = read(&set("g", "", &spread("x", ZONES)), &[]);
    assert_eq!(report.count(rules::MIXED_GANG), 4, "{report}");
    let near = ", kueue.x-k8s.io/podset-required-topology: topology.kubernetes.io/zone";
    let (instance, report) = read(&set("g", near, ""), &[]);
    assert_eq!((report.count(rules::SCATTERED_SET), instance.user(UserId(0)).tasks()), (4, Some(1)));
    // What one of them cannot have none needs.
    let mut short = pods("web", 1, "1", &labels("web"), "");
    short.extend(pods("launcher", 1, "2", &group("g", ""), "nodeSelector: {disk: none},"));
    short.extend(pods("worker", 3, "1", &group("g", ""), ""));
    let (instance, report) = read(&short, &[]);
    assert_eq!(instance.user_count(), 1);
    assert_eq!(report.count("tasks left out: they start together with others that are left out"), 3);
}

#[test]
fn a_gang_larger_than_the_cluster_is_none_and_counted() {
    let kueue = "labels: {kueue.x-k8s.io/pod-group-name: g}, annotations: {kueue.x-k8s.io/pod-group-total-count: \"21\"}";
    let (instance, report) = read(&pods("w", 21, "1", kueue, ""), &[]);
    assert_eq!(instance.user(UserId(0)).gang(), None);
    let larger = "tasks are in gangs that the empty cluster has no room for: here each runs for itself";
    assert_eq!(report.count(larger), 21, "{report}");
}

#[test]
fn pods_that_all_take_one_port_of_their_node_are_one_on_a_node() {
    let with_port = |app: &str, count, cpu: &str, port: &str| -> Vec<String> {
        let ports = format!("{{name: c, ports: [{port}],");
        let plain = pods(app, count, cpu, &labels(app), "");
        plain.into_iter().map(|pod| pod.replace("{name: c,", &ports)).collect()
    };
    let told = "pods have ports of their node (hostPort), which is not kept: those with the same port may run together";
    let rules = |list: Vec<String>| {
        let (instance, report) = read(&list, &[]);
        let users = instance.users().map(|user| (user.id().to_owned(), user.per_server()));
        (users.collect::<Vec<_>>(), report.count(told))
    };
    let web = with_port("web", 2, "1", "{hostPort: 80, hostIP: 0.0.0.0, protocol: TCP}");
    let (users, count) =
        rules([web.clone(), with_port("dns", 2, "1", "{hostPort: 53, protocol: UDP}")].concat());
    assert_eq!(count, 0, "{users:?}");
    assert_eq!(users.iter().map(|(_, most)| *most).collect::<Vec<_>>(), [Some(1), Some(1)], "{users:?}");
    assert!(users[0].0.ends_with("+port80/TCP") && users[1].0.ends_with("+port53/UDP"), "{users:?}");
    // Somebody else takes it too; a port of the container alone is nobody's.
    let (users, count) = rules([web, with_port("other", 1, "2", "{hostPort: 80}")].concat());
    assert_eq!((users.iter().all(|(_, most)| most.is_none()), count), (true, 3), "{users:?}");
    assert_eq!(rules(with_port("inside", 2, "1", "{containerPort: 80}")).1, 0);
}

#[test]
fn groups_of_kai_are_gangs_and_groups_that_no_pod_names_are_told() {
    let group = |name: &str, spec: &str| {
        format!(
            "{{apiVersion: scheduling.run.ai/v2alpha2, kind: PodGroup, metadata: {{name: {name}, namespace: shop}}, spec: {{{spec}}}}}"
        )
    };
    let members = pods("train", 3, "1", "annotations: {pod-group-name: g}", "schedulerName: kai-scheduler,");
    let (instance, report) = read(&members, &[group("g", "minMember: 3")]);
    let gang = Gang { tasks: 3, in_one_domain: false };
    assert_eq!(instance.user(UserId(0)).gang(), Some(gang), "{report}");
    assert!(!report.to_string().contains("PodGroup"), "{report}");
    let groups = [group("g", "subGroups: [{name: leader, minMember: 1}]"), group("other", "minMember: 3")];
    let (instance, report) = read(&members, &groups);
    assert_eq!(instance.user(UserId(0)).gang(), None);
    for told in [
        "1 PodGroup with parts that start together (subGroups), which are not kept: of these each pod runs for itself: shop/g\n",
        "1 PodGroup left out: no pod that counts says that it is in it: shop/other\n",
    ] {
        assert!(report.to_string().contains(told), "{told}\n{report}");
    }
}

#[test]
fn ports_of_pods_in_the_network_of_their_node_are_its_ports() {
    let with_ports = |spec: &str| {
        let pods = pods("web", 2, "1", &labels("web"), spec);
        pods.into_iter()
            .map(|pod| pod.replace("name: c,", "name: c, ports: [{containerPort: 80}],"))
            .collect::<Vec<_>>()
    };
    let (instance, report) = read(&with_ports("hostNetwork: true,"), &[]);
    assert!(instance.users().next().unwrap().id().contains("port80/TCP"), "{report}");
    let (instance, _) = read(&with_ports(""), &[]);
    assert!(!instance.users().next().unwrap().id().contains("port"));
}
