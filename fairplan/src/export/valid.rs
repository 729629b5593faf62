//! Exported files are what their schedulers take: objects that their projects' schemas allow, and for YuniKorn, which has none, what it
//! checks of its queues itself. A Kubernetes API is not asked.

use super::tests::{random, solution};
use super::*;
use fairplan_instances::Decimal;
use serde_json::Value;
use std::collections::HashMap;

fn options() -> [ExportOptions; 3] {
    let headroom = "0.13".parse::<Decimal>().unwrap();
    let units = ["cpu=100m".parse().unwrap(), "memory=64Mi".parse().unwrap()].to_vec();
    [
        ExportOptions::default(),
        ExportOptions { headroom, units, ..ExportOptions::default() },
        ExportOptions { hard: true, ..ExportOptions::default() },
    ]
}

fn objects(text: &str) -> Vec<Value> {
    serde_saphyr::from_multiple(text).unwrap()
}

#[test]
fn manifests_are_what_the_schemas_of_kueue_volcano_and_kai_allow() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../exports/data");
    let files = ["kueue-clusterqueue", "kueue-cohort", "kueue-resourceflavor", "volcano-queue", "kai-queue"];
    let schemas: HashMap<(String, String), jsonschema::Validator> = files
        .into_iter()
        .map(|file| {
            let text = std::fs::read_to_string(format!("{folder}/{file}.json")).unwrap();
            let stated: Value = serde_json::from_str(&text).unwrap();
            let of = |field: &str| stated[field].as_str().unwrap().to_owned();
            ((of("apiVersion"), of("kind")), jsonschema::validator_for(&stated["schema"]).unwrap())
        })
        .collect();
    let mut checked: HashMap<String, usize> = HashMap::new();
    for seed in 0..40 {
        let instance = random(seed, 1 << 30);
        let solution = solution(&instance);
        for target in [Target::Kueue, Target::Volcano, Target::Kai] {
            for options in options() {
                let export = export(&instance, &solution, target, &options, &Control::none()).unwrap();
                for object in objects(&export.text()) {
                    let of = |field: &str| object[field].as_str().unwrap().to_owned();
                    let schema = &schemas[&(of("apiVersion"), of("kind"))];
                    if let Err(problem) = schema.validate(&object) {
                        panic!("{target} {seed}: {problem} at {}\n{object:#}", problem.instance_path());
                    }
                    assert!(is_name(object["metadata"]["name"].as_str().unwrap()), "{object:#}");
                    rules(&object);
                    *checked.entry(format!("{target} {}", of("kind"))).or_default() += 1;
                }
            }
        }
    }
    assert!(checked.len() == 5 && checked.values().all(|count| *count >= 100), "{checked:?}");
}

/// What the schemas say in rules that are no JSON Schema.
fn rules(object: &Value) {
    for group in object["spec"]["resourceGroups"].as_array().into_iter().flatten() {
        for flavor in group["flavors"].as_array().unwrap() {
            let names: Vec<&Value> =
                flavor["resources"].as_array().unwrap().iter().map(|it| &it["name"]).collect();
            let covered: Vec<&Value> = group["coveredResources"].as_array().unwrap().iter().collect();
            assert_eq!(names, covered, "{object:#}");
        }
        let is_in = |field: &str| object["spec"].get(field).is_some();
        let text = group.to_string();
        let limits = ["borrowingLimit", "lendingLimit"].iter().any(|field| text.contains(field));
        assert!(!limits || is_in("cohort") || is_in("parentName"), "limits need a cohort: {object:#}");
    }
}

/// A name of an object: parts between dots of small letters, digits and dashes, which begin and end with a letter or digit.
fn is_name(name: &str) -> bool {
    let is_end = |letter: Option<char>| {
        letter.is_some_and(|letter| letter.is_ascii_lowercase() || letter.is_ascii_digit())
    };
    let is_part = |part: &str| {
        let known = |letter: char| letter.is_ascii_lowercase() || letter.is_ascii_digit() || letter == '-';
        is_end(part.chars().next()) && is_end(part.chars().last()) && part.chars().all(known)
    };
    name.len() <= 63 && name.split('.').all(is_part)
}

type Amounts = HashMap<String, u64>;

/// Whole numbers with a suffix; parts of cores in thousandths.
fn yunikorn_amounts(stated: &Value) -> Option<Amounts> {
    let amounts = stated.as_object()?;
    let amount = |(name, text): (&String, &Value)| {
        let text = text.as_str().unwrap();
        let at = text.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(text.len());
        let number: u64 = text[..at].parse().unwrap_or_else(|_| panic!("{name}: {text}"));
        let is_core = name == "vcore";
        let factor = match &text[at..] {
            "" => {
                if is_core {
                    1000
                } else {
                    1
                }
            }
            "m" if is_core => 1,
            "Ki" => 1 << 10,
            "Mi" => 1 << 20,
            "Gi" => 1 << 30,
            "Ti" => 1 << 40,
            other => panic!("{name}: the suffix {other}"),
        };
        (name.clone(), number * factor)
    };
    Some(amounts.iter().map(amount).collect())
}

/// The guaranteed amounts of a queue, which are no less than those of its children together; its maximum is no less than any of
/// theirs.
fn yunikorn_queue(queue: &Value, above: &Amounts) -> Amounts {
    let of = |field: &str| yunikorn_amounts(&queue["resources"][field]);
    let mut most = above.clone();
    for (name, amount) in of("max").unwrap_or_default() {
        let above = above.get(&name).copied().unwrap_or(u64::MAX);
        assert!(amount <= above, "the maximum of the queue above is smaller: {queue:#}");
        most.insert(name, amount);
    }
    assert!(of("max").is_none_or(|most| most.values().any(|amount| *amount > 0)), "{queue:#}");
    let mut below = Amounts::new();
    let mut names = Vec::new();
    for child in queue["queues"].as_array().into_iter().flatten() {
        let name = child["name"].as_str().unwrap().to_lowercase();
        assert!(!names.contains(&name), "{name} is there twice");
        let known = |letter: char| letter.is_ascii_alphanumeric() || "_:#/@-".contains(letter);
        assert!(!name.is_empty() && name.len() <= 64 && name.chars().all(known), "{name}");
        names.push(name);
        for (name, amount) in yunikorn_queue(child, &most) {
            *below.entry(name).or_default() += amount;
        }
    }
    let own = of("guaranteed").unwrap_or_default();
    for (name, amount) in &below {
        assert!(own.get(name).is_none_or(|own| own >= amount), "{name} of the children: {queue:#}");
        assert!(most.get(name).is_none_or(|most| most >= amount), "{name} of the children: {queue:#}");
    }
    for (name, amount) in &own {
        assert!(
            most.get(name).is_none_or(|most| most >= amount),
            "more guaranteed than the maximum: {queue:#}"
        );
    }
    if own.is_empty() { below } else { own }
}

/// Reads XML to its end, with the rules for comments and names of closing tags; the texts that it has.
fn well_formed(text: &str) -> Result<(), String> {
    let mut reader = quick_xml::Reader::from_str(text);
    reader.config_mut().check_comments = true;
    loop {
        match reader.read_event().map_err(|error| format!("{error} at {}", reader.error_position()))? {
            quick_xml::events::Event::Eof => break,
            quick_xml::events::Event::Text(letters) => {
                drop(quick_xml::escape::unescape(&letters).map_err(|error| error.to_string())?)
            }
            _ => {}
        }
    }
    // What XML 1.0 has no place for.
    let is_char = |letter: char| matches!(letter, '\t' | '\n' | '\r' | ' '..='\u{fffd}' | '\u{10000}'..);
    text.chars().find(|letter| !is_char(*letter)).map_or(Ok(()), |letter| Err(format!("{letter:?} is in it")))
}

#[test]
fn files_of_yarn_are_well_formed_whatever_tenants_and_servers_are_called() {
    assert!(well_formed("<a><!-- a--b --></a>").is_err(), "the parser is strict");
    let mut draft = fairplan_instances::Draft::from(&random(0, 1024));
    for (user, id) in draft.users.iter_mut().zip(["a---b", "team (a) & co", "x --> <y>", "-", "\"--"]) {
        user.id = id.into();
    }
    draft.quotas.clear();
    for (class, id) in draft.classes.iter_mut().zip(["c--", "<!-- c -->", "&c"]) {
        class.id = id.into();
    }
    let instance = draft.build().unwrap();
    let solution = solution(&instance);
    for target in [Target::Yarn, Target::YarnFair] {
        for options in [ExportOptions::default(), ExportOptions { hard: true, ..ExportOptions::default() }] {
            let text = export(&instance, &solution, target, &options, &Control::none()).unwrap().text();
            assert!(text.contains("team"), "{text}");
            if let Err(problem) = well_formed(&text) {
                panic!("{target}: {problem}\n{text}");
            }
        }
    }
}

#[test]
fn queues_of_yunikorn_pass_what_it_checks() {
    let mut limited = 0;
    for seed in 0..60 {
        let instance = random(seed, 1 << 30);
        let solution = solution(&instance);
        for options in options() {
            let export = export(&instance, &solution, Target::YuniKorn, &options, &Control::none()).unwrap();
            let text = export.text();
            limited += usize::from(text.contains("max:"));
            for document in objects(&text) {
                let root = &document["partitions"][0]["queues"][0];
                assert_eq!(root["name"], "root");
                assert!(root.get("resources").is_none(), "the root has none");
                yunikorn_queue(root, &Amounts::new());
            }
        }
    }
    assert!(limited > 60, "{limited}");
}
