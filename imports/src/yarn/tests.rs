//! The shipped cluster under both schedulers, the load simulator's real node list, and what is refused.

mod for_all;
mod stopped;
mod zeros;

use super::*;
use crate::defects::each_is_named;
use crate::real_files::real_file;
use crate::shown::tenants;

fn shipped(name: &str) -> String {
    format!("{}/data/yarn/{name}", env!("CARGO_MANIFEST_DIR"))
}

fn options(queues: &str) -> YarnOptions {
    YarnOptions { nodes: vec![shipped("nodes.json")], queues: shipped(queues) }
}

/// The shipped nodes under a fair scheduler with this file.
fn fair(text: &str) -> Result<(Instance, ImportReport), ImportFailure> {
    let folder = tempfile::tempdir().unwrap();
    let queues = folder.path().join("fair-scheduler.xml").to_str().unwrap().to_owned();
    std::fs::write(&queues, text).unwrap();
    yarn(&YarnOptions { queues, ..options("") })
}

#[test]
fn the_fair_schedulers_queues_keep_their_tree_weights_minima_and_maxima() {
    let (instance, report) = yarn(&options("fair-scheduler.xml")).unwrap();
    let classes: Vec<_> = instance.classes().iter().map(|class| (class.id.as_str(), class.count)).collect();
    assert_eq!(classes, [("memory64Gi-vcores16", 2), ("n3", 1)]);
    // The cluster has 262144 MiB and 40 vcores: 6553.6 MiB a vcore. The root above all is no group: everybody is in it.
    assert_eq!(
        tenants(&instance),
        [
            "[root.production] w3",
            "[root.research] w1 most memory=144179.2 vcores=12",
            "root.production.etl <root.production w2 6553.6,1 most memory=65536 vcores=20",
            "root.production.reports <root.production w1 6553.6,1 most memory=131072 vcores=20",
            "root.research.alice <root.research w1 20480,1 sure memory=20480 vcores=1 most memory=20480",
            "root.research.bob & co <root.research w1 6553.6,1",
        ]
    );
    for (count, what) in [
        (1, "nodes left out: lost"),
        (
            1,
            "queue whose minResources are above its maxResources, which count: root.research.alice, memory 32768 > 20480",
        ),
        (1, "limits left out: there is no more than that"),
        (1, "queues with the scheduling policy fair (taken as drf)"),
        (4, "queues at the leaves"),
    ] {
        assert_eq!(report.count(what), count, "{what}\n{report}");
    }
    assert!(report.to_string().contains("policy fair (taken as drf): root.research\n"), "{report}");
}

#[test]
fn what_queues_may_have_by_default_is_the_limit_of_those_that_state_none() {
    let text = std::fs::read_to_string(shipped("fair-scheduler.xml")).unwrap();
    let default =
        "<queueMaxResourcesDefault>26214 mb, 4 vcores</queueMaxResourcesDefault><queue name=\"production\">";
    let (instance, _) = fair(&text.replace("<queue name=\"production\">", default)).unwrap();
    let told = tenants(&instance);
    assert_eq!(told[0], "[root.production] w3 most memory=26214 vcores=4");
    assert_eq!(told[5], "root.research.bob & co <root.research w1 6553.6,1 most memory=26214 vcores=4");
}

#[test]
fn policies_are_read_by_both_their_names_and_a_maximum_of_nothing_is_one_under_drf() {
    let read = |of_all: &str, own: &str| {
        let text = format!(
            "<allocations>{of_all}<queue name=\"a\"><maxResources>9 mb, 0 vcores</maxResources>{own}</queue><queue \
             name=\"b\"/></allocations>"
        );
        let (_, report) = fair(&text).unwrap();
        let count = |what| report.count(what);
        (
            count("queue whose maximum of 0 vcores is taken as none, beside one of more: root.a"),
            count("queues with the scheduling policy fifo (taken as drf)"),
        )
    };
    assert_eq!(read("", ""), (1, 0));
    for (of_all, own) in [
        ("defaultQueueSchedulingPolicy", "schedulingPolicy"),
        ("defaultQueueSchedulingMode", "schedulingMode"),
    ] {
        let (drf, fifo) = (format!("<{of_all}>drf</{of_all}>"), format!("<{own}>fifo</{own}>"));
        assert_eq!(read(&drf, ""), (0, 0), "{of_all}");
        assert_eq!(read(&drf, &fifo), (1, 1), "{own}");
    }
}

#[test]
fn capacities_are_weights_and_in_percent_guarantees_and_maxima_are_of_the_queue_above() {
    let (instance, report) = yarn(&options("capacity-scheduler.xml")).unwrap();
    assert_eq!(
        tenants(&instance),
        [
            // Tasks of 6553.6 MiB a vcore take ten of sixteen vcores on two nodes, and 52428.8 of 131072 MiB on the third: 28 of 40.
            "[root.research] w0.25 sure memory=45875.2 vcores=7 most memory=131072 vcores=20",
            "root.production w0.75 6553.6,1 sure memory=137625.6 vcores=21",
            // Weights guarantee nothing.
            "root.research.alice <root.research w3 6553.6,1",
            "root.research.bob <root.research w1 6553.6,1 most memory=52428.8 vcores=8",
        ]
    );
    assert_eq!(report.count("queues left out: stopped"), 1);
    let lowered = "queues whose guarantees in percent are lowered to 70% of them: tasks with as much memory a vcore as these nodes have \
                   together fill no more of them";
    assert_eq!(report.count(lowered), 2, "{report}");
}

/// The shipped nodes under a capacity scheduler with these properties of queues.
fn with_properties(properties: &[(&str, &str)]) -> Result<(Vec<String>, ImportReport), String> {
    over(&shipped("nodes.json"), properties)
}

/// The same over other nodes.
fn over(nodes: &str, properties: &[(&str, &str)]) -> Result<(Vec<String>, ImportReport), String> {
    let folder = tempfile::tempdir().unwrap();
    let queues = folder.path().join("capacity-scheduler.xml").to_str().unwrap().to_owned();
    let property = |(name, value): &(&str, &str)| {
        format!("<property><name>yarn.scheduler.capacity.{name}</name><value>{value}</value></property>")
    };
    let text: String = properties.iter().map(property).collect();
    std::fs::write(&queues, format!("<configuration>{text}</configuration>")).unwrap();
    let read = yarn(&YarnOptions { nodes: vec![nodes.to_owned()], queues });
    read.map(|(instance, report)| (tenants(&instance), report)).map_err(|failure| failure.to_string())
}

#[test]
fn where_all_nodes_have_a_label_queues_are_left_out_at_those_without_for_want_of_servers() {
    let folder = tempfile::tempdir().unwrap();
    let nodes = folder.path().join("nodes.json").to_str().unwrap().to_owned();
    let node = "{\"id\": \"g\", \"state\": \"RUNNING\", \"nodeLabels\": [\"gpu\"], \"totalResource\": {\"memory\": 8192, \"vCores\": 8}}";
    std::fs::write(&nodes, format!("{{\"nodes\": {{\"node\": [{node}]}}}}")).unwrap();
    // A maximum in percent of no nodes is 0, and no limit that anybody wrote.
    for maximum in ["80", "-1"] {
        let properties = [
            ("root.queues", "a,b"),
            ("root.a.capacity", "40"),
            ("root.a.maximum-capacity", maximum),
            ("root.b.capacity", "60"),
            ("root.b.maximum-capacity", maximum),
        ];
        let (found, report) = over(&nodes, &properties).unwrap();
        assert_eq!(found.len(), 2, "{found:?}");
        assert_eq!(report.count("queues left out at no-label: no server is there"), 2, "{report}");
        assert_eq!(report.count("queues left out: their limit is 0"), 0, "{report}");
        let by_weight = "queues that share the nodes of a label by their capacity without one: none is stated there, which is 0 in Hadoop";
        assert_eq!(report.count(by_weight), 2, "{report}");
    }
}

#[test]
fn where_all_nodes_have_a_label_queues_count_by_their_capacity_there_and_else_it_is_told_where_that_is_another()
 {
    let folder = tempfile::tempdir().unwrap();
    let nodes = folder.path().join("nodes.json").to_str().unwrap().to_owned();
    let node = |id: &str, labels: &str| {
        format!(
            "{{\"id\": \"{id}\", \"state\": \"RUNNING\", \"nodeLabels\": [{labels}], \"totalResource\": {{\"memory\": 8192, \"vCores\": 8}}}}"
        )
    };
    let properties = [
        ("root.queues", "a,b"),
        ("root.accessible-node-labels.gpu.capacity", "100"),
        ("root.a.capacity", "90"),
        ("root.a.accessible-node-labels.gpu.capacity", "25"),
        ("root.b.capacity", "10"),
        ("root.b.accessible-node-labels.gpu.capacity", "75"),
    ];
    let (labelled, plain) = (node("g", "\"gpu\""), node("p", ""));
    for (nodes_there, weights, told) in
        [(labelled.clone(), ["w0.25", "w0.75"], 0), (format!("{labelled}, {plain}"), ["w0.9", "w0.1"], 2)]
    {
        std::fs::write(&nodes, format!("{{\"nodes\": {{\"node\": [{nodes_there}]}}}}")).unwrap();
        let (found, report) = over(&nodes, &properties).unwrap();
        for (queue, weight) in ["root.a", "root.b"].into_iter().zip(weights) {
            let is_it = |line: &&String| line.trim_start_matches('[').starts_with(queue);
            let line = found.iter().find(is_it).unwrap();
            assert!(line.contains(weight), "{queue}: {found:?}");
        }
        let unlike = "queues whose capacity on the nodes of a label is not the one that counts between queues (without a label; where all nodes have one, of the first): their shares there count by the latter";
        assert_eq!(report.count(unlike), told, "{report}");
    }
}

#[test]
fn amounts_and_percentages_of_amounts_stay_as_stated_whatever_tasks_fit() {
    let (found, _) = with_properties(&[
        ("root.queues", "a,b"),
        ("root.a.capacity", "[memory=100Gi,vcores=20]"),
        ("root.a.queues", "c"),
        ("root.a.c.capacity", "100"),
        ("root.b.capacity", "[memory=10Gi,vcores=2]"),
    ])
    .unwrap();
    assert!(found[0].ends_with(" sure memory=102400 vcores=20"), "{found:?}");
    assert!(
        found
            .iter()
            .any(|line| line.starts_with("root.a.c ") && line.ends_with(" sure memory=102400 vcores=20")),
        "{found:?}"
    );
}

#[test]
fn what_hadoop_refuses_of_percentages_and_names_is_refused_by_name() {
    let two = |a: &'static str, b: &'static str| {
        [("root.queues", "a,b"), ("root.a.capacity", a), ("root.b.capacity", b)]
    };
    let refused = |properties: &[(&str, &str)]| with_properties(properties).unwrap_err();
    assert!(
        refused(&two("40", "50"))
            .contains("queue root: capacity = 90%: is what the queues below it have together")
    );
    assert!(with_properties(&two("39.96", "60")).is_ok() && refused(&two("39.94", "60")).contains("99.94%"));
    assert!(with_properties(&two("40.04", "60")).is_ok() && refused(&two("40.06", "60")).contains("100.06%"));
    // A queue that states none has 0, as in Hadoop.
    let missing = [("root.queues", "a,b"), ("root.a.capacity", "60")];
    assert!(refused(&missing).contains("queue root: capacity = 60%"));
    assert!(refused(&two("60", "50%")).contains("queue root: capacity = 110%"));
    assert!(refused(&two("150", "0")).contains("queue root.a: capacity = 150: is more than 100%"));
    let dotted = [("root.queues", "a.b"), ("root.a.b.capacity", "100")];
    assert!(refused(&dotted).contains("queue root: queues = a.b: has a dot"));
    assert!(
        refused(&two("3w", "40"))
            .contains("queue root: capacity = percentages and weights: stand side by side")
    );
    assert!(
        refused(&two("3w", "[memory=1024,vcores=1]")).contains("capacity = amounts and weights: stand side")
    );
    // Stopped queues count, as in Hadoop.
    let stopped = [&two("40", "60")[..], &[("root.b.state", "STOPPED")]].concat();
    // Without its older rules Hadoop takes any sum, and it rounds.
    let newer = [&two("40", "50")[..], &[("legacy-queue-mode.enabled", "false")]].concat();
    let mixed = [&two("3w", "40")[..], &[("legacy-queue-mode.enabled", "false")]].concat();
    for properties in
        [&stopped[..], &newer, &mixed, &two("33.33", "66.66"), &two("3w", "1w"), &two("0", "1w")]
    {
        with_properties(properties).unwrap();
    }
    // So it is with queues of the fair scheduler.
    let error =
        fair("<allocations><queue name=\"a.b\"/><queue name=\"c\"/></allocations>").unwrap_err().to_string();
    assert!(error.contains("<queue> name = a.b: has a dot"), "{error}");
}

/// A queue that states no maximum may have what the one above may, and percentages below it are of that.
#[test]
fn a_maximum_is_a_percentage_of_the_nearest_maximum_above() {
    let tree = |most: &'static str| {
        let tree = [
            ("root.queues", "dev"),
            ("root.dev.capacity", "100"),
            ("root.dev.maximum-capacity", "50"),
            ("root.dev.queues", "eng"),
            ("root.dev.eng.capacity", "100"),
            ("root.dev.eng.queues", "x,y"),
            ("root.dev.eng.x.capacity", "30"),
            ("root.dev.eng.y.capacity", "70"),
            ("root.dev.eng.x.maximum-capacity", "60"),
        ];
        let stated = [("root.dev.eng.maximum-capacity", most)];
        let told =
            with_properties(&[&tree[..], if most.is_empty() { &[] } else { &stated }].concat()).unwrap().0;
        let x = told.iter().find(|line| line.starts_with("root.dev.eng.x ")).unwrap();
        x.split(" most ").nth(1).unwrap().to_owned()
    };
    assert_eq!(tree(""), tree("100"));
    assert_ne!(tree(""), tree("50"));
}

#[test]
fn queues_that_have_properties_and_no_place_in_the_tree_are_told_by_name() {
    let told = |properties: &[(&str, &str)]| {
        let tree = [("root.queues", "a,b"), ("root.a.capacity", "40"), ("root.b.capacity", "60")];
        with_properties(&[&tree, properties].concat()).unwrap().1.to_string()
    };
    let report =
        told(&[("root.c.capacity", "20"), ("root.c.maximum-capacity", "50"), ("root.a.d.state", "RUNNING")]);
    assert!(
        report.contains(
            "2 queues left out: properties are set of them, and no `queues` names them: root.a.d, root.c\n"
        ),
        "{report}"
    );
    let report = told(&[
        ("root.b.state", "STOPPED"),
        ("root.b.c.capacity", "100"),
        ("root.*.maximum-capacity", "50"),
        ("root.a.leaf-queue-template.capacity", "50"),
        ("root.a.accessible-node-labels.gpu.capacity", "50"),
    ]);
    assert!(!report.contains("no `queues` names"), "{report}");
}

#[test]
fn a_queue_that_is_due_nothing_and_may_have_nothing_is_told_once_as_left_out() {
    let queues = [("root.queues", "a,b,c"), ("root.a.capacity", "60"), ("root.b.capacity", "40")];
    let nothing = [("root.c.capacity", "0"), ("root.c.maximum-capacity", "0")];
    let (found, report) = with_properties(&[&queues[..], &nothing[..]].concat()).unwrap();
    assert_eq!(found.len(), 2, "{found:?}");
    let report = report.to_string();
    assert!(report.contains("1 queue left out: its limit is 0: root.c (vcores)\n"), "{report}");
    assert!(report.contains("\n2 queues whose guarantees in percent are lowered"), "{report}");
    assert!(!report.contains("of weight 0"), "{report}");
    // One that may have what nobody else wants is there.
    let report = with_properties(&[&queues[..], &nothing[..1]].concat()).unwrap().1.to_string();
    let why = "1 queue of weight 0, taken as a thousandth of the smallest weight of its siblings: root.c\n";
    assert!(report.contains(why), "{report}");
}

#[test]
fn a_maximum_of_minus_one_is_all_that_the_queue_above_may_have() {
    let folder = tempfile::tempdir().unwrap();
    let queues = folder.path().join("capacity-scheduler.xml").to_str().unwrap().to_owned();
    let property = |field: &str, value: &str| {
        let name = format!("yarn.scheduler.capacity.root.{field}");
        format!("<property><name>{name}</name><value>{value}</value></property>")
    };
    let text = |maximum: &str| {
        let rest = property("queues", "a,b") + &property("a.capacity", "40") + &property("b.capacity", "60");
        format!("<configuration>{rest}{}</configuration>", property("a.maximum-capacity", maximum))
    };
    let read = |maximum: &str| {
        std::fs::write(&queues, text(maximum)).unwrap();
        let read = yarn(&YarnOptions { queues: queues.clone(), ..options("") });
        read.map(|(instance, _)| tenants(&instance)).map_err(|failure| failure.to_string())
    };
    assert_eq!(read("-1").unwrap(), read("100").unwrap());
    assert_eq!(read("-1.0").unwrap(), read("100").unwrap());
    assert_eq!(read("180").unwrap(), read("100").unwrap());
    let told = |maximum: &str| {
        std::fs::write(&queues, text(maximum)).unwrap();
        yarn(&YarnOptions { queues: queues.clone(), ..options("") }).unwrap().1.to_string()
    };
    let above = "whose maximum is above 100% of what the queue above may have, which limits nothing: root.a (maximum-capacity 180)";
    assert!(told("180").contains(above) && !told("100").contains("above 100%"), "{}", told("180"));
    assert!(read("-2").unwrap_err().contains("root.a: maximum-capacity = -2"), "{:?}", read("-2"));
}

#[test]
fn nodes_with_a_label_take_only_tasks_of_queues_that_may_use_it() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| {
        let path = folder.path().join(name).to_str().unwrap().to_owned();
        std::fs::write(&path, text).unwrap();
        path
    };
    let node = |name: &str, labels: &str| {
        format!(
            "{{\"id\": \"{name}\", \"state\": \"RUNNING\", \"nodeLabels\": [{labels}], \"totalResource\": {{\"memory\": 8192, \"vCores\": 8}}}}"
        )
    };
    let nodes = [node("a", ""), node("b", ""), node("g", "\"gpu\"")].join(",");
    let nodes = write("nodes.json", &format!("{{\"nodes\": {{\"node\": [{nodes}]}}}}"));
    let property = |(name, value): (&str, &str)| {
        format!("<property><name>yarn.scheduler.capacity.root.{name}</name><value>{value}</value></property>")
    };
    let properties = [
        ("queues", "ml,web"),
        ("ml.capacity", "25"),
        ("ml.accessible-node-labels", "gpu"),
        ("ml.accessible-node-labels.gpu.capacity", "100"),
        ("ml.accessible-node-labels.gpu.maximum-capacity", "50"),
        ("web.capacity", "75"),
        ("web.accessible-node-labels", " "),
    ];
    let text = properties.map(property).concat();
    let queues = write("capacity-scheduler.xml", &format!("<configuration>{text}</configuration>"));
    let (instance, report) = yarn(&YarnOptions { nodes: vec![nodes], queues: queues.clone() }).unwrap();
    assert_eq!(
        tenants(&instance),
        [
            "[root.ml] w0.25",
            "root.ml@no-label <root.ml w0.25 1024,1 on memory8Gi-vcores8 sure memory=4096 vcores=4",
            "root.ml@gpu <root.ml w0.5 1024,1 on gpu sure memory=4096 vcores=4 most on gpu memory=4096 vcores=4",
            "root.web w0.75 1024,1 on memory8Gi-vcores8 sure memory=12288 vcores=12",
        ]
    );
    let above = "queue whose accessible-node-labels.gpu.capacity is above its accessible-node-labels.gpu.maximum-capacity, which counts: root.ml, vcores 8 > 4";
    assert_eq!(report.count(above), 1, "{report}");
    let lost = "amounts of node labels left out: no node here has the label";
    assert_eq!(report.count(lost), 0, "{report}");
    // Nodes that are listed without their labels.
    let bare = write("bare.json", &format!("{{\"nodes\": {{\"node\": [{}]}}}}", node("a", "")));
    let (_, report) = yarn(&YarnOptions { nodes: vec![bare], queues }).unwrap();
    assert_eq!(report.count(lost), 2, "{report}");
    assert!(report.to_string().contains(&format!("2 {lost}: gpu\n")), "{report}");
}

#[test]
fn a_maximum_of_memory_and_no_vcores_is_one_of_memory() {
    // As in the sample of Hadoop's documentation.
    let queue = |most: &str| {
        format!(
            "<allocations><queue name=\"sample\"><minResources>10000 mb,0vcores</minResources><maxResources>{most}</maxResources></queue></allocations>"
        )
    };
    let (instance, report) = fair(&queue("90000 mb,0vcores")).unwrap();
    assert_eq!(tenants(&instance), ["root.sample w1 6553.6,1 sure memory=10000 most memory=90000"]);
    assert_eq!(
        report.count("queue whose maximum of 0 vcores is taken as none, beside one of more: root.sample"),
        1,
        "{report}"
    );
}

#[test]
fn a_queue_that_stands_twice_is_refused() {
    let text = std::fs::read_to_string(shipped("fair-scheduler.xml")).unwrap();
    let refused = fair(&text.replace("name=\"reports\"", "name=\"etl\"")).unwrap_err().to_string();
    assert!(
        refused.contains("queue root.production.etl") && refused.contains("stands here twice"),
        "{refused}"
    );
}

#[test]
fn each_defect_is_named_with_file_queue_field_and_value() {
    let defects = [
        (
            "fair-scheduler.xml",
            "<weight>2.0</weight>",
            "<weight>two</weight>",
            "queue root.production.etl: weight = two",
        ),
        ("fair-scheduler.xml", "50.0%", "half", "queue root.production.reports: maxResources = half"),
        ("fair-scheduler.xml", "</allocations>", "", "<allocations> is never closed"),
        (
            "fair-scheduler.xml",
            "</allocations>",
            "\0</allocations>",
            "the character with the code 0 is not allowed",
        ),
        ("fair-scheduler.xml", "</weight>", "</wait>", "line 5"),
        ("fair-scheduler.xml", "&amp;", "&nope;", "nope"),
        ("fair-scheduler.xml", "<queue name=\"bob &amp; co\"/>", "<queue/>", "<queue>: has no name"),
        (
            "fair-scheduler.xml",
            "allocations>",
            "alocations>",
            "root element = alocations: expected <allocations> (fair-scheduler.xml)",
        ),
        (
            "capacity-scheduler.xml",
            "<value>75</value>",
            "<value>x</value>",
            "queue root.production: capacity = x",
        ),
        ("capacity-scheduler.xml", "root.queues", "root.ques", "root.queues is missing"),
        ("capacity-scheduler.xml", "<value>75</value>", "<value>[memory=4Gi</value>", "has no ] at its end"),
    ];
    each_is_named(shipped, &defects, |_, path| {
        yarn(&YarnOptions { queues: path, ..options("") }).unwrap_err().to_string()
    });
    let error =
        yarn(&YarnOptions { nodes: vec![shipped("../slurm/jobs.json")], ..options("fair-scheduler.xml") });
    assert!(error.unwrap_err().to_string().contains("there are no nodes here; `curl"));
    let error = yarn(&options("nodes.json")).unwrap_err().to_string();
    assert!(
        error.contains("nodes.json: line 1: there is no XML element here; expected a fair-scheduler.xml"),
        "{error}"
    );
}

#[test]
fn the_load_simulators_nodes_without_a_size_have_its_default() {
    let Some(nodes) = real_file("yarn/hadoop-sls_nodes-with-resources.json") else { return };
    let (instance, report) =
        yarn(&YarnOptions { nodes: vec![nodes], ..options("fair-scheduler.xml") }).unwrap();
    let classes: Vec<_> = instance.classes().iter().map(|class| (class.id.as_str(), class.count)).collect();
    assert_eq!(classes, [("memory10Gi-vcores10", 2), ("node1", 1), ("label1", 1)]);
    assert_eq!(
        report.count("nodes without a size: taken as the load simulator's default, 10240 MiB and 10 vcores"),
        2
    );
}

#[test]
fn nodes_that_state_no_vcores_are_refused_and_single_ones_told() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("nodes.json").to_str().unwrap().to_owned();
    let old = r#"{"id": "n9:1", "nodeHostName": "n9", "state": "RUNNING", "usedMemoryMB": 0, "availMemoryMB": 8192}"#;
    let with = |nodes: &str| {
        std::fs::write(&path, format!(r#"{{"nodes": {{"node": [{nodes}]}}}}"#)).unwrap();
        yarn(&YarnOptions { nodes: vec![path.clone()], ..options("fair-scheduler.xml") })
    };
    let refused = with(old).unwrap_err().to_string();
    assert!(refused.contains("nodes.json: nodes: no node states vcores"), "{refused}");
    let new = old
        .replace('9', "8")
        .replace(r#""state""#, r#""usedVirtualCores": 1, "availableVirtualCores": 7, "state""#);
    let (_, report) = with(&format!("{old}, {new}")).unwrap();
    assert_eq!(report.count("nodes state no vcores: no task fits there"), 1, "{report}");
    // Of memory, too; and a node that is listed twice is one.
    let unknown = new.replace('8', "7").replace(r#", "availMemoryMB": 7172"#, "");
    let unknown = unknown.replace(r#""usedMemoryMB": 0"#, r#""usedMemoryMB": 1024"#);
    assert!(!unknown.contains("availMemoryMB"), "{unknown}");
    let empty = new.replace("\"n8", "\"n6").replace("8182", "-8182");
    let (instance, report) = with(&format!("{new}, {unknown}, {empty}, {new}")).unwrap();
    for (count, what) in [
        (1, "nodes left out: named a second time"),
        (1, "nodes state no availMemoryMB: only the memory in use counts"),
        (1, "nodes whose memory, in use and free, comes to nothing: no task fits there"),
        (3, "nodes"),
    ] {
        assert_eq!(report.count(what), count, "{what}\n{report}");
    }
    assert_eq!(instance.classes().iter().map(|class| class.count).sum::<u64>(), 3);
}

#[test]
fn nodes_are_read_however_they_stand_and_named_by_field_where_they_cannot_be() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("nodes.json").to_str().unwrap().to_owned();
    let read = |node: &str| {
        std::fs::write(&path, format!("{{\"nodes\": {{\"node\": {node}}}}}")).unwrap();
        over(&path, &[("root.queues", "a"), ("root.a.capacity", "100")])
    };
    let plain = "{\"id\": \"g\", \"state\": \"RUNNING\", \"usedMemoryMB\": 9000, \"availMemoryMB\": -808, \"usedVirtualCores\": 1, \
                 \"availableVirtualCores\": 7}";
    // One node without a list, smaller than what runs on it.
    let (one, report) = read(plain).unwrap();
    assert_eq!((one, report.count("nodes")), (read(&format!("[{plain}]")).unwrap().0, 1));
    let more = "{\"id\": \"g\", \"totalResource\": {\"memory\": 8192, \"vCores\": 8, \"resourceInformations\": {\"resourceInformation\": \
                [{\"name\": \"memory-mb\", \"value\": 8192}, {\"name\": \"yarn.io/gpu\", \"value\": 4}]}}}";
    let left = "nodes have yarn.io/gpu, which is left out: tasks of queues are counted in memory and vcores";
    assert_eq!(read(&format!("[{more}]")).unwrap().1.count(left), 1);
    let wrong = read(&plain.replace("9000", "\"NaN\"")).unwrap_err();
    assert!(
        wrong.contains("node g: usedMemoryMB: invalid type: string \"NaN\", expected a whole number"),
        "{wrong}"
    );
    let none = read("[7]").unwrap_err();
    assert!(none.contains("node 1: invalid type: integer `7`, expected an object"), "{none}");
    assert!(read("null").unwrap_err().contains("there are no nodes that run"));
    std::fs::write(&path, "{\"nodes\": null}").unwrap();
    let none = over(&path, &[("root.queues", "a")]).unwrap_err();
    assert!(none.contains("nodes.json: nodes: is null: the resource manager knew no node"), "{none}");
}

#[test]
fn a_queue_for_others_to_be_made_below_is_told_where_there_are_none() {
    let told = |below: &str| {
        let text = format!(
            "<allocations><queue name=\"a\" type=\"parent\">{below}</queue><queue name=\"b\"/></allocations>"
        );
        fair(&text).unwrap().1.to_string()
    };
    let what = "1 queue for others to be made below (type=\"parent\"), of which there are none: it counts with tasks of its own: root.a\n";
    assert!(told("").contains(what), "{}", told(""));
    assert!(!told("<queue name=\"c\"/>").contains("to be made below"), "{}", told("<queue name=\"c\"/>"));
}

#[test]
fn properties_of_the_fair_scheduler_are_no_queues_and_told_as_what_they_are() {
    let folder = tempfile::tempdir().unwrap();
    let queues = folder.path().join("yarn-site.xml").to_str().unwrap().to_owned();
    let property = "<property><name>yarn.scheduler.fair.preemption</name><value>true</value></property>";
    std::fs::write(&queues, format!("<configuration>{property}</configuration>")).unwrap();
    let error = yarn(&YarnOptions { nodes: vec![shipped("nodes.json")], queues }).unwrap_err().to_string();
    assert!(error.contains("yarn.scheduler.fair.preemption = true: this is a file of properties"), "{error}");
}

#[test]
fn what_queues_state_that_is_left_out_is_told_by_their_names_and_what_is_usual_is_not() {
    let told = |properties: &[(&str, &str)]| {
        let tree = [("root.queues", "a,b"), ("root.a.capacity", "40"), ("root.b.capacity", "60")];
        with_properties(&[&tree, properties].concat()).unwrap().1.to_string()
    };
    let report = told(&[
        ("root.a.user-limit-factor", "0.5"),
        ("root.a.minimum-user-limit-percent", "25"),
        ("root.a.maximum-allocation-mb", "2048"),
        ("root.a.priority", "5"),
        ("root.b.auto-create-child-queue.enabled", "true"),
        ("root.b.maximum-applications", "5"),
        ("root.b.max-parallel-apps", "2"),
        ("root.b.disable_preemption", "true"),
        ("root.b.default-node-label-expression", "gpu"),
        ("root.b.user-settings.joe.weight", "2"),
    ]);
    for line in [
        "queue whose limits of single users are left out: root.a\n",
        "queue whose limits of the size of a container are left out: root.a\n",
        "queue whose priorities are left out: here shares alone decide: root.a\n",
        "queue whose queues to come, made for users, are left out: root.b\n",
        "queue whose limits of the number of applications are left out: root.b\n",
        "queue that is not to be preempted, which is left out: root.b\n",
        "queue whose label for applications that name none is left out: here these run on all nodes that a queue may use: root.b\n",
        "queue whose weights of single users are left out: root.b\n",
    ] {
        assert!(report.contains(line), "{line}{report}");
    }
    let usual = [
        ("root.a.user-limit-factor", "1"),
        ("root.a.minimum-user-limit-percent", "100"),
        ("root.a.priority", "0"),
        ("root.a.disable_preemption", "FALSE"),
        ("root.a.auto-create-child-queue.enabled", "false"),
        ("maximum-applications", "10000"),
    ];
    assert_eq!(told(&usual), told(&[]));

    let folder = tempfile::tempdir().unwrap();
    let queues = folder.path().join("fair-scheduler.xml").to_str().unwrap().to_owned();
    let of_a = "<maxRunningApps>3</maxRunningApps><maxAMShare>0.2</maxAMShare><maxContainerAllocation>2048 mb, 1 \
                vcores</maxContainerAllocation><allowPreemptionFrom>false</allowPreemptionFrom><maxChildResources>1024 mb, 1 \
                vcores</maxChildResources>";
    let text = format!(
        "<allocations><queue name=\"a\">{of_a}</queue><queue name=\"b\"><reservation/></queue><user \
         name=\"joe\"><maxRunningApps>3</maxRunningApps></user></allocations>"
    );
    std::fs::write(&queues, text).unwrap();
    let report = yarn(&YarnOptions { queues, ..options("") }).unwrap().1.to_string();
    for line in [
        "queue whose limits of the number of applications are left out: root.a\n",
        "queue whose limits of application masters are left out: root.a\n",
        "queue whose limits of the size of a container are left out: root.a\n",
        "queue that is not to be preempted, which is left out: root.a\n",
        "queue whose maxChildResources are not read: root.a\n",
        "queue for reservations, which are not kept: root.b\n",
        "user whose limits of applications are left out: joe\n",
    ] {
        assert!(report.contains(line), "{line}{report}");
    }
}

#[test]
fn percentages_in_brackets_are_lowered_as_plain_ones_are_and_are_of_the_queue_above() {
    let read = |half: &str| {
        let properties = [
            ("legacy-queue-mode.enabled", "false"),
            ("root.queues", "a,b"),
            ("root.a.capacity", half),
            ("root.a.queues", "c,d"),
            ("root.a.c.capacity", half),
            ("root.a.d.capacity", half),
            ("root.b.capacity", half),
        ];
        let (tenants, report) = with_properties(&properties).unwrap();
        let sure = |name: &str| {
            let line = tenants.iter().find(|line| line.trim_start_matches('[').starts_with(name)).unwrap();
            line.rsplit_once(" sure ").map(|(_, sure)| sure.to_owned())
        };
        (["root.a", "root.a.c", "root.b"].map(sure), report.to_string().contains("in percent are lowered"))
    };
    assert_eq!(read("[memory=50%,vcores=50%]"), read("50"));
    assert!(read("50").1);
}

#[test]
fn files_and_variables_that_hadoop_would_read_are_refused_by_name() {
    let folder = tempfile::tempdir().unwrap();
    let queues = folder.path().join("capacity-scheduler.xml").to_str().unwrap().to_owned();
    let property = "<property><name>yarn.scheduler.capacity.root.queues</name><value>a</value></property>";
    let include = "<xi:include href=\"limits.xml\"/>";
    let text = format!(
        "<configuration xmlns:xi=\"http://www.w3.org/2001/XInclude\">{property}{include}</configuration>"
    );
    std::fs::write(&queues, &text).unwrap();
    let refused = yarn(&YarnOptions { queues: queues.clone(), ..options("") }).unwrap_err().to_string();
    assert!(refused.contains("capacity-scheduler.xml: xi:include = limits.xml: stands here"), "{refused}");
    let deployed = crate::deployed_in(crate::ConfigurationKind::Yarn, "it", &text).unwrap_err().to_string();
    assert!(deployed.contains("xi:include = limits.xml"), "{deployed}");
    let refused = with_properties(&[("root.queues", "a"), ("root.a.capacity", "${part}")]).unwrap_err();
    assert!(refused.contains("root.a.capacity = ${part}: has a variable"), "{refused}");
}

#[test]
fn preemption_inside_a_queue_is_no_queue_that_nothing_names() {
    let (_, report) = with_properties(&[
        ("root.queues", "a"),
        ("root.a.capacity", "100"),
        ("root.a.intra-queue-preemption.disable_preemption", "true"),
    ])
    .unwrap();
    assert!(!report.to_string().contains("no `queues` names"), "{report}");
    assert!(report.to_string().contains("not to be preempted, which is left out: root.a\n"), "{report}");
}

#[test]
fn a_minimum_above_that_of_the_queue_above_is_told_and_that_one_counts() {
    let folder = tempfile::tempdir().unwrap();
    let queues = folder.path().join("fair-scheduler.xml").to_str().unwrap().to_owned();
    let text = "<allocations><queue name=\"a\"><minResources>20480 mb, 2 vcores</minResources><queue name=\"x\"><minResources>40960 mb, 1 \
                vcores</minResources></queue><queue name=\"y\"/></queue><queue name=\"b\"/></allocations>";
    std::fs::write(&queues, text).unwrap();
    let (instance, report) = yarn(&YarnOptions { queues, ..options("") }).unwrap();
    let told = "queue whose minResources are above those of the queue above it, which count: root.a.x, memory 40960 > 20480";
    assert_eq!(report.count(told), 1, "{report}");
    let told = tenants(&instance);
    assert!(
        told.iter().any(|line| line.starts_with("root.a.x ") && line.ends_with("sure memory=20480 vcores=1")),
        "{told:#?}"
    );
}
