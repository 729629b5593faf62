//! What the capacity scheduler states of no single queue.

use super::*;

/// What is told of two queues and these properties.
fn told(properties: &[(&str, &str)]) -> String {
    let property = |(name, value): &(&str, &str)| {
        format!("<property><name>yarn.scheduler.capacity.{name}</name><value>{value}</value></property>")
    };
    let queues = [("root.queues", "a,b"), ("root.a.capacity", "50"), ("root.b.capacity", "50")];
    let text: String = queues.iter().chain(properties).map(property).collect();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("capacity-scheduler.xml").to_str().unwrap().to_owned();
    std::fs::write(&path, format!("<configuration>{text}</configuration>")).unwrap();
    yarn(&YarnOptions { queues: path, ..options("") }).unwrap().1.to_string()
}

#[test]
fn what_holds_for_all_queues_and_is_left_out_is_told_by_the_name_of_its_property() {
    for (property, value, why) in [
        ("maximum-am-resource-percent", "0.4", "limit of application masters in all queues left out"),
        ("maximum-applications", "100", "limit of the number of applications in all queues left out"),
        ("max-parallel-apps", "7", "limit of the number of applications in all queues left out"),
        ("user.max-parallel-apps", "10", "limit of single users in all queues left out"),
        ("user.ada.b.max-parallel-apps", "20", "limit of single users in all queues left out"),
        ("user-limit-factor", "4", "limit of single users in all queues left out"),
        (
            "queue-mappings",
            "u:ada:a",
            "rule for the queue of an application left out: here there are the queues of the file, and no others",
        ),
        (
            "default-application-priority",
            "3",
            "priority of applications in all queues left out: here shares alone decide",
        ),
    ] {
        let told = told(&[(property, value)]);
        assert!(told.contains(&format!("1 {why}: {property}\n")), "{told}");
        assert!(!told.contains("known here"), "{told}");
    }
    let both = told(&[("user.ada.max-parallel-apps", "2"), ("user.max-parallel-apps", "1")]);
    let why = "2 limits of single users in all queues left out: user.ada.max-parallel-apps, user.max-parallel-apps\n";
    assert!(both.contains(why), "{both}");
}

#[test]
fn how_the_scheduler_works_is_not_told_and_what_nothing_is_called_is() {
    let plain = told(&[]);
    let workings = [
        ("resource-calculator", "org.apache.hadoop.yarn.util.resource.DefaultResourceCalculator"),
        ("node-locality-delay", "40"),
        ("per-node-heartbeat.maximum-offswitch-assignments", "1"),
        ("schedule-asynchronously.enable", "true"),
        ("queue-mappings", " "),
        ("queue-mappings-override.enable", "false"),
        ("maximum-am-resource-percent", "1.0"),
    ];
    assert_eq!(told(&workings), plain);
    let misspelt = told(&[("maximum-aplications", "100")]);
    assert!(misspelt.contains("maximum-aplications (did you mean maximum-applications?)"), "{misspelt}");
    let unknown = told(&[("no-such-thing", "1")]);
    assert!(unknown.contains("1 field left out because it is not known here: no-such-thing\n"), "{unknown}");
}

#[test]
fn priorities_of_a_queues_applications_are_told_by_its_name() {
    let told =
        told(&[("root.a.default-application-priority", "10"), ("root.b.default-application-priority", "0")]);
    let why = "1 queue whose priorities of applications are left out: here shares alone decide: root.a\n";
    assert!(told.contains(why), "{told}");
}

#[test]
fn what_the_fair_scheduler_states_beside_its_queues_is_told_unless_it_is_known() {
    let told = |text: &str| {
        fair(&format!("<allocations><queue name=\"a\"/>{text}</allocations>")).unwrap().1.to_string()
    };
    for (element, why) in [
        (
            "<queuePlacementPolicy><rule name=\"user\" create=\"true\"/></queuePlacementPolicy>",
            "1 rule for the queue of an application left out: here there are the queues of the file, and no others: queuePlacementPolicy\n",
        ),
        (
            "<queueMaxResourceDefault>8192 mb, 2 vcores</queueMaxResourceDefault>",
            "1 field left out because nothing is called so: queueMaxResourceDefault (did you mean queueMaxResourcesDefault?)\n",
        ),
        ("<que name=\"b\"/>", "1 field left out because it is not known here: que\n"),
        ("<fooBar/>", "1 field left out because it is not known here: fooBar\n"),
    ] {
        assert!(told(element).contains(why), "{}", told(element));
    }
    let usual = "<defaultQueueSchedulingPolicy>drf</defaultQueueSchedulingPolicy><userMaxAppsDefault>5</userMaxAppsDefault>\
                 <reservation-agent>x</reservation-agent>";
    assert!(!told(usual).contains("known here") && !told(usual).contains("called so"), "{}", told(usual));
}
