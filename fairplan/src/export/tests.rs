use super::*;
use crate::{SolveOptions, report, solve};
use fairplan_exports::{ExportBody, MemoryIn, Unit};
use fairplan_instances::quantity::Quantity;
use fairplan_instances::{
    ClassAmounts, Decimal, Draft, DraftQuota, DraftUser, NewGroup, Quota, ResourceId, ServerClass,
};
use std::collections::BTreeMap;

/// Numbers that a seed gives.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % end
    }
}

pub(super) fn decimal(number: u64) -> Decimal {
    Decimal::from_units(number.into(), 0).unwrap()
}

/// A cluster with cores, memory in bytes and GPUs on some classes; groups inside groups, users with weights, some with limits.
pub(super) fn random(seed: u64, memory: u64) -> Instance {
    let mut numbers = Numbers(seed);
    let mut draft = Draft::from(&crate::generate::drfh_fig1().unwrap());
    draft.resources = ["cpu", "memory", "nvidia.com/gpu"].map(String::from).to_vec();
    let classes = 1 + numbers.below(3);
    let class = |l: u64| {
        let gpus = if l == 0 { 1 + numbers.below(8) } else { 0 };
        let capacity =
            [4 + numbers.below(60) + 64 * l, (8 + numbers.below(200)) * memory, gpus].map(decimal).to_vec();
        ServerClass::new(format!("Class_{l}"), 1 + numbers.below(5), capacity)
    };
    draft.classes = (0..classes).map(class).collect();
    let groups = numbers.below(4);
    let group = |g: u64| NewGroup {
        id: format!("Group {g}"),
        weight: decimal(1 + g),
        parent: (g == 2).then(|| "Group 0".to_owned()),
    };
    draft.groups = (0..groups).map(group).collect();
    let template = draft.users[0].clone();
    let users = 2 + numbers.below(4);
    let user = |u: u64| DraftUser {
        id: format!("user.{u}"),
        demand: [1 + numbers.below(3), (1 + numbers.below(4)) * memory, u64::from(u == 0)]
            .map(decimal)
            .to_vec(),
        weight: decimal(1 + numbers.below(3)),
        tasks: None,
        eligible: None,
        group: (groups > 0 && u % 2 == 1).then(|| (u % groups) as usize),
        ..template.clone()
    };
    draft.users = (0..users).map(user).collect();
    // Somebody is limited on each class.
    let limits = (0..classes as usize).map(|l| ClassAmounts {
        classes: vec![ClassId(l)],
        amounts: vec![(ResourceId(0), decimal(2 + l as u64))],
    });
    let quota = Quota { limits: limits.collect(), ..Quota::default() };
    draft.quotas = vec![DraftQuota { is_group: false, owner: "user.1".into(), quota }];
    // Of some trees a group may have half of each class.
    if groups > 0 && seed.is_multiple_of(3) {
        let limits = (0..classes as usize).map(|l| ClassAmounts {
            classes: vec![ClassId(l)],
            amounts: vec![(ResourceId(0), draft.classes[l].capacity[0])],
        });
        let quota = Quota { limits: limits.collect(), ..Quota::default() };
        draft.quotas.push(DraftQuota { is_group: true, owner: "Group 0".into(), quota });
    }
    draft.build().unwrap()
}

pub(super) fn solution(instance: &Instance) -> ResultFile {
    let solved = solve(instance, &SolveOptions::default(), &Control::none()).unwrap();
    let mut bytes = Vec::new();
    report::write_json(&mut bytes, &solved.document(instance, true)).unwrap();
    ResultFile::new("solution.json".into(), bytes).unwrap()
}

pub(super) fn exported(
    instance: &Instance,
    target: Target,
    options: &ExportOptions,
) -> Result<Export, Error> {
    export(instance, &solution(instance), target, options, &Control::none())
}

const KINDS: [(Target, ConfigurationKind); 7] = [
    (Target::Kueue, ConfigurationKind::Kueue),
    (Target::Yarn, ConfigurationKind::Yarn),
    (Target::YarnFair, ConfigurationKind::YarnFair),
    (Target::Slurm, ConfigurationKind::Slurm),
    (Target::YuniKorn, ConfigurationKind::YuniKorn),
    (Target::Volcano, ConfigurationKind::Volcano),
    (Target::Kai, ConfigurationKind::Kai),
];

/// What tenants with nobody below them get of each resource, by their sums over classes, in cores, bytes and pieces.
fn told(body: &ExportBody) -> BTreeMap<(String, String), f64> {
    let mut sums = BTreeMap::new();
    for tenant in body.tenants.iter().filter(|tenant| tenant.kept.is_some()) {
        for amount in &tenant.amounts {
            let unit = Quantity::parse(&amount.unit).unwrap().decimal().unwrap().to_f64();
            *sums.entry((tenant.name.clone(), amount.resource.clone())).or_insert(0.0) +=
                unit * amount.units as f64;
        }
    }
    sums.retain(|_, sum| *sum > 0.0);
    sums
}

#[test]
fn what_random_trees_are_told_is_what_their_files_say() {
    for seed in 0..60 {
        for (target, kind) in KINDS {
            let in_mebibytes = matches!(target, Target::Yarn | Target::YarnFair | Target::Slurm);
            let memory = if in_mebibytes { 1024 } else { 1 << 30 };
            let instance = random(seed, memory);
            let export = exported(&instance, target, &ExportOptions::default()).unwrap();
            let body = export.body();
            let read = deployed_in(kind, "it", &export.text()).unwrap();
            let mut found: BTreeMap<(String, String), f64> = BTreeMap::new();
            for (name, queue) in &read {
                let is_above =
                    name.starts_with("cohort ") || read.values().any(|other| other.parent == *name);
                for ((_, resource), amount) in queue.amounts.iter().filter(|_| !is_above) {
                    let (resource, factor) = match (target, resource.as_str()) {
                        (_, "vcore" | "vcores") => ("cpu", 1.0),
                        (_, "gpu" | "gres/gpu") => ("nvidia.com/gpu", 1.0),
                        (_, "memory" | "mem") if in_mebibytes => ("memory", f64::from(1 << 20)),
                        (_, name) => (name, 1.0),
                    };
                    let name = name
                        .rsplit('.')
                        .next()
                        .filter(|_| matches!(target, Target::Yarn | Target::YarnFair | Target::YuniKorn));
                    let key = (name.map_or_else(String::new, str::to_owned), resource.to_owned());
                    let key = if key.0.is_empty() { (queue_name(&read, queue), key.1) } else { key };
                    *found.entry(key).or_insert(0.0) += amount * factor;
                }
            }
            // What no task asks for has no end in Slurm, and is told nobody.
            found.retain(|_, sum| *sum > 0.0 && (target != Target::Slurm || sum.is_finite()));
            let mut told = told(&body);
            if matches!(target, Target::Yarn | Target::YarnFair) {
                told.retain(|(_, resource), _| resource != "nvidia.com/gpu");
            }
            assert_eq!(found.keys().collect::<Vec<_>>(), told.keys().collect::<Vec<_>>(), "{target} {seed}");
            for (key, amount) in &told {
                assert!((found[key] - amount).abs() <= 1e-9 * amount, "{target} {seed} {key:?}");
            }
        }
    }
}

fn queue_name(read: &Deployed, queue: &DeployedQueue) -> String {
    read.iter().find(|(_, other)| std::ptr::eq(*other, queue)).map(|(name, _)| name.clone()).unwrap()
}

#[test]
fn whole_units_fit_less_the_headroom_and_are_within_one_of_the_answer() {
    for seed in 0..60 {
        let instance = random(seed, 1 << 30);
        let headroom: Decimal = "0.1".parse().unwrap();
        let options = ExportOptions { headroom, ..ExportOptions::default() };
        let body = exported(&instance, Target::Kueue, &options).unwrap().body();
        let mut used: BTreeMap<(&str, &str), f64> = BTreeMap::new();
        for tenant in &body.tenants {
            for amount in &tenant.amounts {
                assert!((amount.units as f64 - amount.exact).abs() < 1.0 + 1e-5, "{seed}: {amount:?}");
                let unit = Quantity::parse(&amount.unit).unwrap().decimal().unwrap().to_f64();
                if tenant.parent.is_none() {
                    *used.entry((&amount.class, &amount.resource)).or_default() += unit * amount.units as f64;
                }
            }
        }
        for class in instance.classes() {
            for (r, resource) in instance.resources().iter().enumerate() {
                let most = class.capacity[r].to_f64() * class.count as f64 * 0.9;
                let used = used.get(&(class.id.as_str(), resource.as_str())).copied().unwrap_or(0.0);
                assert!(used <= most * (1.0 + 1e-12), "{seed}: {} {resource}: {used} of {most}", class.id);
            }
        }
    }
}

#[test]
fn who_is_told_sums_has_the_whole_units_of_its_sum_over_all_classes() {
    let mut in_parts = 0;
    for (seed, target) in (0..60).zip([Target::Volcano, Target::Kai, Target::YuniKorn].into_iter().cycle()) {
        let body = exported(&random(seed, 1 << 30), target, &ExportOptions::default()).unwrap().body();
        for tenant in body.tenants.iter().filter(|tenant| tenant.parent.is_none()) {
            let mut sums: BTreeMap<&str, (f64, u64, u64)> = BTreeMap::new();
            for amount in &tenant.amounts {
                let sum = sums.entry(&amount.resource).or_default();
                *sum = (sum.0 + amount.exact, sum.1 + amount.units, sum.2 + amount.exact.floor() as u64);
            }
            for (resource, (exact, units, by_class)) in sums {
                let least = (exact + 1e-6).floor() as u64;
                assert!(
                    (least..=least + 1).contains(&units),
                    "{seed}: {} {resource}: {units} for {exact}",
                    tenant.id
                );
                in_parts += u64::from(by_class < least);
            }
        }
    }
    assert!(in_parts > 0, "nobody has a whole unit in parts");
}

/// The first number that is not nothing between `from` and one of `until`, anywhere in the text, becomes another.
fn forged(text: &str, from: &str, until: &[&str]) -> Option<String> {
    let digit = text.match_indices(from).find_map(|(found, from)| {
        let start = found + from.len();
        // Of Slurm -1 is no limit.
        let rest = text[start..].strip_prefix('-').is_none().then_some(&text[start..])?;
        let end = until.iter().filter_map(|end| rest.find(end)).min().unwrap_or(rest.len());
        Some(start + rest[..end].find(|letter: char| ('1'..='9').contains(&letter))?)
    })?;
    let other = if text[digit..].starts_with('7') { "8" } else { "7" };
    Some(format!("{}{other}{}", &text[..digit], &text[digit + 1..]))
}

#[test]
fn a_file_has_the_amounts_of_its_export_and_is_refused_with_others() {
    let mut compared = 0;
    for seed in 0..20 {
        for target in Target::ALL {
            let in_mebibytes = matches!(target, Target::Yarn | Target::YarnFair | Target::Slurm);
            let instance = random(seed, if in_mebibytes { 1024 } else { 1 << 30 });
            let solved = solution(&instance);
            let options = ExportOptions::default();
            let export = export(&instance, &solved, target, &options, &Control::none()).unwrap();
            let mut bytes = Vec::new();
            report::write_json(&mut bytes, &fairplan_instances::Document::new(export.body())).unwrap();
            let from = ResultFile::new("quotas.json".into(), bytes.clone()).unwrap();
            let held = |from: &ResultFile, text: &str| {
                let file = tempfile::NamedTempFile::new().unwrap();
                std::fs::write(file.path(), text).unwrap();
                let path = file.path().display().to_string();
                let found = held_against::exported_from(Some(&instance), from, &path).unwrap();
                let verdicts = found.verdicts.into_iter();
                verdicts.map(|verdict| (verdict.property, verdict.holds, verdict.witness)).collect::<Vec<_>>()
            };
            let none = || String::new();
            let holds = [("names-the-solution", true, none()), ("exported-amounts", true, none())];
            let text = export.text();
            assert_eq!(held(&from, &text), holds, "{target} {seed}\n{text}");
            assert_eq!(held(&from, &String::from_utf8(bytes).unwrap()), holds, "{target} {seed}");
            let again = held(&solved, &text);
            assert_eq!(again[..2], holds, "{target} {seed}\n{text}");
            assert_eq!(again[2..], [("exported-text", true, none())], "{target} {seed}\n{text}");
            let verified = crate::verify(&instance, from.clone(), &Control::none()).unwrap();
            assert!(verified.holds, "{target} {seed}: {:#?}", verified.verdicts);
            let (mark, until): (&str, &[&str]) = match target {
                Target::Kueue => ("nominalQuota: ", &["\n"]),
                Target::Yarn => (".capacity</name>\n    <value>[", &["]"]),
                Target::YarnFair => ("<minResources>", &["</"]),
                Target::YuniKorn => ("guaranteed:\n", &["max:", "name:"]),
                Target::Volcano => ("deserved:\n", &["capability:", "guarantee:", "apiVersion:"]),
                Target::Kai => ("quota: ", &[","]),
                Target::Slurm => (" set MaxTRESPerAccount=cpu=", &[","]),
            };
            let Some(other) = forged(&text, mark, until) else { continue };
            let found = held(&from, &other);
            assert!(found[0].1, "{target} {seed}: {found:?}\n{other}");
            assert!(!found[1].1, "{target} {seed}: {found:?}\n{other}");
            let found = held(&solved, &other);
            assert!(found[0].1 && !found[1].1, "{target} {seed}: {found:?}\n{other}");
            compared += 1;
        }
    }
    assert!(compared >= 100, "{compared}");
}

/// What is found of a text beside its solution: the properties that fail, or that it is refused.
pub(super) fn fails_beside(instance: &Instance, solved: &ResultFile, text: &str) -> Vec<&'static str> {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), text).unwrap();
    let path = file.path().display().to_string();
    let Ok(found) = held_against::exported_from(Some(instance), solved, &path) else {
        return vec!["refused"];
    };
    found.verdicts.into_iter().filter(|verdict| !verdict.holds).map(|verdict| verdict.property).collect()
}

pub(super) fn json_of(body: ExportBody) -> String {
    let mut bytes = Vec::new();
    report::write_json(&mut bytes, &fairplan_instances::Document::new(body)).unwrap();
    String::from_utf8(bytes).unwrap()
}

#[test]
fn what_export_wrote_with_whatever_options_is_proved_from_the_solution() {
    let mut lowered = 0;
    for seed in 0..12 {
        for target in Target::ALL {
            let in_mebibytes = matches!(target, Target::Yarn | Target::YarnFair | Target::Slurm);
            let instance = random(seed, if in_mebibytes { 1024 } else { 1 << 30 });
            let solved = solution(&instance);
            let unit =
                |resource: &str, amount: &str| Unit { resource: resource.into(), amount: amount.into() };
            let options = ExportOptions {
                headroom: if seed % 3 == 0 { Decimal::ZERO } else { "0.05".parse().unwrap() },
                units: vec![unit("cpu", "2"), unit("memory", "512Mi")],
                memory_in: None,
                levels: (seed % 2 == 0).then_some(1),
                hard: seed % 4 == 1,
            };
            let export = export(&instance, &solved, target, &options, &Control::none()).unwrap();
            let nothing: [&str; 0] = [];
            assert_eq!(fails_beside(&instance, &solved, &export.text()), nothing, "{target} {seed}");
            let body = export.body();
            let text = json_of(body.clone());
            assert_eq!(fails_beside(&instance, &solved, &text), nothing, "{target} {seed}\n{text}");
            let from = ResultFile::new("it".into(), text.into_bytes()).unwrap();
            let verified = crate::verify(&instance, from, &Control::none()).unwrap();
            assert!(verified.holds, "{target} {seed}: {:#?}", verified.verdicts);
            // Half of everything is an answer that holds in itself but for what is left over.
            let mut half = body.clone();
            for tenant in &mut half.tenants {
                tenant.share /= 2.0;
                for amount in &mut tenant.amounts {
                    amount.exact /= 2.0;
                    amount.units /= 2;
                }
            }
            let text = json_of(half);
            assert!(fails_beside(&instance, &solved, &text).contains(&"exported-amounts"), "{target} {seed}");
            let from = ResultFile::new("it".into(), text.into_bytes()).unwrap();
            let verified = crate::verify(&instance, from, &Control::none()).unwrap();
            let failed: Vec<&str> =
                verified.verdicts.iter().filter(|it| !it.holds).map(|it| it.property.as_str()).collect();
            assert!(failed.contains(&"used-up"), "{target} {seed}: {failed:?}");
            // Each amount rounded down is within one unit, and not as export rounds it.
            let mut floored = body.clone();
            let amounts = floored.tenants.iter_mut().flat_map(|tenant| &mut tenant.amounts);
            amounts.for_each(|amount| amount.units = amount.units.min(amount.exact as u64));
            if floored != body {
                let failed = fails_beside(&instance, &solved, &json_of(floored));
                assert!(failed.contains(&"exported-units"), "{target} {seed}: {failed:?}");
                lowered += 1;
            }
            let mut swapped = body;
            if let [first, .., last] = &mut swapped.tenants[..] {
                std::mem::swap(&mut first.name, &mut last.name);
                let failed = fails_beside(&instance, &solved, &json_of(swapped));
                assert!(failed.contains(&"exported-names"), "{target} {seed}: {failed:?}");
            }
        }
    }
    assert!(lowered > 20, "{lowered} exports round something up");
}

#[test]
fn a_configuration_that_states_no_options_or_other_limits_is_not_of_the_solution() {
    let instance = random(3, 1 << 30);
    let solved = solution(&instance);
    let options = ExportOptions { hard: true, ..ExportOptions::default() };
    let export = export(&instance, &solved, Target::YuniKorn, &options, &Control::none()).unwrap();
    let text = export.text();
    let without: String = text
        .lines()
        .filter(|line| !line.contains("export-options"))
        .map(|line| format!("{line}\n"))
        .collect();
    assert_eq!(fails_beside(&instance, &solved, &without), ["exported-amounts"]);
    let soft = text.replace(";hard", "");
    assert_eq!(fails_beside(&instance, &solved, &soft), ["exported-text"]);
}

#[test]
fn a_configuration_that_says_anything_else_is_not_of_the_solution_and_more_comments_say_nothing() {
    for (target, before, more) in [
        (
            Target::Kueue,
            "---\n",
            "---\napiVersion: kueue.x-k8s.io/v1beta1\nkind: ClusterQueue\nmetadata: {name: z}\nspec: {}\n---\n",
        ),
        (Target::Kueue, "  nodeLabels:\n", "  tolerations: [{operator: Exists}]\n  nodeLabels:\n"),
        (
            Target::Yarn,
            "</configuration>",
            "<property><name>yarn.scheduler.capacity.root.queues</name><value>z</value></property></configuration>",
        ),
        (
            Target::YarnFair,
            "</allocations>",
            "<queueMaxResourcesDefault>1 vcores, 1 mb</queueMaxResourcesDefault></allocations>",
        ),
        (Target::YuniKorn, "    queues:\n", "    queues:\n    - name: z\n"),
        (
            Target::Volcano,
            "---\n",
            "---\napiVersion: scheduling.volcano.sh/v1beta1\nkind: Queue\nmetadata: {name: z}\nspec: {weight: 1000}\n---\n",
        ),
        (
            Target::Kai,
            "---\n",
            "---\napiVersion: scheduling.run.ai/v2\nkind: Queue\nmetadata: {name: z}\nspec: {}\n---\n",
        ),
        (Target::Slurm, "sacctmgr", "sacctmgr -i add account name=z fairshare=99999999\nsacctmgr"),
    ] {
        let instance = random(3, if target.is_kubernetes() { 1 << 30 } else { 1024 });
        let solved = solution(&instance);
        let export = export(&instance, &solved, target, &ExportOptions::default(), &Control::none()).unwrap();
        let text = export.text();
        let other = text.replacen(before, more, 1);
        assert!(other != text, "{target}\n{text}");
        assert!(fails_beside(&instance, &solved, &other).contains(&"exported-text"), "{target}: {more}");
        let comment = if text.contains("<!--") { "\r\n<!-- for us -->\r\n" } else { "\r\n# for us\r\n" };
        let (first, rest) = text.split_once('\n').unwrap();
        let commented = format!("{first}{comment}{}", rest.replace('\n', "\r\n"));
        assert_eq!(fails_beside(&instance, &solved, &commented), [""; 0], "{target}\n{commented}");
        for end in ["\r", "\u{85}", "\u{2028}", "\u{2029}"] {
            let hidden = format!("{first}\n# for us{end}  stopPolicy: Hold\n{rest}");
            // Where a reader sees two lines it may be no such file at all.
            assert_ne!(fails_beside(&instance, &solved, &hidden), [""; 0], "{target}\n{hidden:?}");
        }
    }
}

#[test]
fn comments_that_export_writes_are_compared_since_people_act_on_them() {
    for target in [Target::Kueue, Target::Yarn, Target::YarnFair, Target::YuniKorn, Target::Slurm] {
        let instance = random(3, if target.is_kubernetes() { 1 << 30 } else { 1024 });
        let solved = solution(&instance);
        let export = export(&instance, &solved, target, &ExportOptions::default(), &Control::none()).unwrap();
        let text = export.text();
        let comments: Vec<&str> =
            text.lines().filter(|line| line.trim_start().starts_with(['#', '<'])).collect();
        let comments: Vec<&&str> = comments.iter().filter(|line| line.contains(['#', '!'])).collect();
        assert!(!comments.is_empty(), "{target}\n{text}");
        for comment in comments {
            let without = text.replacen(&format!("{comment}\n"), "", 1);
            let other = text.replacen(*comment, &comment.replace(['1', '2', '4'], "3"), 1);
            for changed in [without, other].iter().filter(|changed| **changed != text) {
                let file = tempfile::NamedTempFile::new().unwrap();
                std::fs::write(file.path(), changed).unwrap();
                let path = file.path().display().to_string();
                let found = held_against::exported_from(Some(&instance), &solved, &path);
                let passes = found.is_ok_and(|found| found.verdicts.iter().all(|verdict| verdict.holds));
                assert!(!passes, "{target}: {comment}");
            }
        }
    }
}

#[test]
fn whole_units_of_several_classes_stay_within_a_limit_over_all_of_them() {
    const GIBI: u64 = 1 << 30;
    let units = |limit: u64| {
        let mut draft = Draft::from(&crate::generate::drfh_fig1().unwrap());
        draft.resources = vec!["cpu".into(), "memory".into()];
        let capacity = || [10, 10 * GIBI].map(decimal).to_vec();
        draft.classes = vec![ServerClass::new("a", 1, capacity()), ServerClass::new("b", 1, capacity())];
        for user in &mut draft.users {
            user.demand = [1, 1_000_000_000].map(decimal).to_vec();
        }
        let quota = Quota { limit: vec![(ResourceId(1), decimal(limit))], ..Quota::default() };
        let owner = draft.users[0].id.clone();
        draft.quotas = vec![DraftQuota { is_group: false, owner, quota }];
        let export = exported(&draft.build().unwrap(), Target::Volcano, &ExportOptions::default()).unwrap();
        export.tenants[0].units.iter().skip(1).step_by(2).sum::<u64>()
    };
    // 3.7 GiB are three whole ones, whichever servers they are on.
    assert_eq!([units(4_000_000_000), units(4 * GIBI)], [3, 4]);
}

#[test]
fn a_configuration_with_other_reserves_or_priorities_is_not_of_the_solution() {
    for (target, from, to) in [
        (Target::Slurm, "Priority=1000", "Priority=7"),
        (Target::Volcano, "  reclaimable: true\n", "  reclaimable: true\n  priority: 7\n"),
        // Less than what is deserved.
        (
            Target::Volcano,
            "  deserved:\n    \"cpu\": \"1",
            "  guarantee:\n    resource: {\"cpu\": \"1m\"}\n  deserved:\n    \"cpu\": \"1",
        ),
        (Target::Kai, "  resources:\n", "  priority: 7\n  resources:\n"),
        (Target::Kueue, "        borrowingLimit:", "        lendingLimit: \"0\"\n        borrowingLimit:"),
    ] {
        let memory = if target == Target::Slurm { 1024 } else { 1 << 30 };
        let found = (0..40).find_map(|seed| {
            let instance = random(seed, memory);
            let solved = solution(&instance);
            let export =
                export(&instance, &solved, target, &ExportOptions::default(), &Control::none()).unwrap();
            let text = export.text();
            let is_there =
                text.contains(from) && !text.contains("lendingLimit") && !text.contains("guarantee:");
            is_there.then(|| fails_beside(&instance, &solved, &text.replacen(from, to, 1)))
        });
        assert_eq!(found, Some(vec!["exported-text"]), "{target}: {to}");
    }
}

#[test]
fn changes_of_memory_are_told_in_the_units_of_people_and_exactly() {
    let export =
        exported(&super::by_rule::two_alike(["a", "b"], 1 << 30), Target::Volcano, &ExportOptions::default())
            .unwrap();
    let queue = |name: &str, memory: &str| {
        format!(
            "apiVersion: scheduling.volcano.sh/v1beta1\nkind: Queue\nmetadata: {{name: {name}}}\nspec: {{deserved: {{cpu: 8, \
             memory: {memory}}}}}\n---\n"
        )
    };
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), queue("a", "8") + &queue("b", "1536Mi")).unwrap();
    let found = export_changes(&export, &[file.path().display().to_string()]).unwrap();
    let of = |queue: &str| {
        let of_memory = |change: &&ExportChange| change.queue == queue && change.what == "memory";
        let change = found.changes.iter().find(of_memory).unwrap();
        [&change.before, &change.after, &change.more].map(|text| text.clone().unwrap())
    };
    assert_eq!(of("a"), ["8", "32Gi", "+34359738360"]);
    assert_eq!(of("b"), ["1536Mi", "32Gi", "+31232Mi"]);
}

#[test]
fn a_configuration_differs_from_another_answer_and_not_from_itself() {
    let instance = random(3, 1 << 30);
    for target in Target::ALL {
        let options = ExportOptions { memory_in: Some(MemoryIn::Bytes), ..ExportOptions::default() };
        let export = exported(&instance, target, &options).unwrap();
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), export.text()).unwrap();
        let current = [file.path().display().to_string()];
        assert!(export_changes(&export, &current).unwrap().changes.is_empty(), "{target}");
        let hard = exported(&instance, target, &ExportOptions { hard: true, ..options }).unwrap();
        let changes = export_changes(&hard, &current).unwrap().changes;
        assert!(changes.iter().any(|change| change.what.starts_with("most")), "{target}: {changes:?}");
    }
}

#[test]
fn what_cannot_be_exported_says_why() {
    let (instance, other) = (random(1, 1 << 30), random(2, 1 << 30));
    let refusal = |instance: &Instance, solution: &ResultFile, options: &ExportOptions| {
        export(instance, solution, Target::Kueue, options, &Control::none()).unwrap_err().to_string()
    };
    let plain = ExportOptions::default();
    let of_other = refusal(&instance, &solution(&other), &plain);
    assert!(
        of_other.contains("solution.json") && of_other.contains("the hash of another instance"),
        "{of_other}"
    );
    let solved = solution(&instance);
    let text = String::from_utf8(solved.bytes.clone()).unwrap();
    let raised = text.replacen("\"tasks\":", "\"tasks\": 1e3, \"x\":", 1);
    assert!(
        ResultFile::new("s".into(), raised.into_bytes())
            .is_ok_and(|file| !refusal(&instance, &file, &plain).is_empty())
    );
    let uncertified = text.replacen("\"optimal\"", "\"uncertified\"", 1);
    let uncertified = ResultFile::new("s.json".into(), uncertified.into_bytes()).unwrap();
    assert!(refusal(&instance, &uncertified, &plain).contains("no proved solution"));
    let option = |options: ExportOptions| refusal(&instance, &solved, &options);
    let headroom = |text: &str| ExportOptions { headroom: text.parse().unwrap(), ..ExportOptions::default() };
    assert!(option(headroom("1")).contains("headroom = 1"));
    let unit = |text: &str| ExportOptions { units: vec![text.parse().unwrap()], ..ExportOptions::default() };
    assert!(option(unit("cpus=1")).contains("unit = cpus: is no resource"));
    assert!(option(unit("memory=0")).contains("must be above 0"));
    assert!(option(unit("nvidia.com/gpu=0.5")).contains("in whole 1"));
    let gibibytes = random(1, 1);
    let small = refusal(&gibibytes, &solution(&gibibytes), &plain);
    assert!(small.contains("--memory-in"), "{small}");
}

#[test]
fn units_are_what_is_asked_for_and_levels_end_the_tree() {
    let instance = random(7, 1 << 30);
    let options = ExportOptions {
        units: vec![Unit { resource: "memory".into(), amount: "4Gi".into() }],
        levels: Some(1),
        ..ExportOptions::default()
    };
    let body = exported(&instance, Target::Kueue, &options).unwrap().body();
    assert!(body.tenants.iter().all(|tenant| tenant.parent.is_none() && tenant.kept.is_some()));
    let memory =
        body.tenants.iter().flat_map(|tenant| &tenant.amounts).find(|amount| amount.resource == "memory");
    assert_eq!(memory.unwrap().unit, "4Gi");
}

#[test]
fn exports_with_headroom_levels_and_other_units_are_proved_from_the_instance() {
    for seed in 0..40 {
        let instance = random(seed, 1 << 30);
        let solved = solution(&instance);
        for options in [
            ExportOptions { headroom: "0.13".parse().unwrap(), ..ExportOptions::default() },
            ExportOptions { levels: Some(1), ..ExportOptions::default() },
            ExportOptions {
                units: vec!["cpu=100m".parse().unwrap()],
                hard: true,
                ..ExportOptions::default()
            },
        ] {
            let export = export(&instance, &solved, Target::Kueue, &options, &Control::none()).unwrap();
            let mut bytes = Vec::new();
            report::write_json(&mut bytes, &fairplan_instances::Document::new(export.body())).unwrap();
            let from = ResultFile::new("quotas.json".into(), bytes).unwrap();
            let verified = crate::verify(&instance, from, &Control::none()).unwrap();
            let failed = verified.verdicts.iter().find(|verdict| !verdict.holds);
            assert!(failed.is_none(), "{seed} {options:?}: {failed:#?}");
        }
    }
}

#[test]
fn an_account_of_slurm_has_the_share_that_all_its_jobs_are_billed() {
    // Jobs on two thirds of the cores and memory together are billed as much as those on a third of each alone.
    let text = r#"{"format": "fairplan.instance.v1", "resources": ["cpu", "memory"],
        "server_classes": [{"id": "node", "count": 1, "capacity": {"cpu": 90, "memory": 92160}}],
        "groups": [{"id": "both"}],
        "users": [{"id": "alike", "demand": {"cpu": 1, "memory": 1024}}, {"id": "cores", "group": "both", "demand": {"cpu": 1}},
                  {"id": "memory", "group": "both", "demand": {"memory": 1024}}]}"#;
    let instance =
        files::read_json(files::source::in_memory("it", text.as_bytes().to_vec()).unwrap()).unwrap();
    let solved = solution(&instance);
    let export =
        export(&instance, &solved, Target::Slurm, &ExportOptions::default(), &Control::none()).unwrap();
    let text = export.text();
    let fairshare = |name: &str| -> u64 {
        let (_, rest) = text.split_once(&format!("name={name} set fairshare=")).unwrap();
        rest.split(' ').next().unwrap().parse().unwrap()
    };
    assert_eq!((fairshare("both"), fairshare("cores")), (fairshare("alike"), fairshare("memory")), "{text}");
}

/// An instance with one server, written by hand.
#[test]
fn a_queue_without_pods_is_not_held_by_a_quota_of_them() {
    let users = r#"{"id": "blue", "demand": {"cpu": 1}}, {"id": "red", "demand": {"cpu": 1, "pods": 1}}"#;
    let text = format!(
        r#"{{"format": "fairplan.instance.v1", "resources": ["cpu", "pods"],
            "server_classes": [{{"id": "node", "count": 1, "capacity": {{"cpu": 16, "pods": 6}}}}], "users": [{users}]}}"#
    );
    let instance = files::read_json(files::source::in_memory("it", text.into_bytes()).unwrap()).unwrap();
    let text = exported(&instance, Target::Kueue, &ExportOptions::default()).unwrap().text();
    let (blue, red) = text.split_once("name: \"red\"").unwrap();
    assert!(!blue.contains("pods") && red.contains("\"pods\""), "{text}");
}

fn of_one_server(capacity: &str, users: &str) -> Instance {
    let text = format!(
        r#"{{"format": "fairplan.instance.v1", "resources": ["cpu", "memory"],
            "server_classes": [{{"id": "node", "count": 1, "capacity": {capacity}}}], "users": [{users}]}}"#
    );
    files::read_json(files::source::in_memory("it", text.into_bytes()).unwrap()).unwrap()
}

#[test]
fn a_qos_in_which_no_job_fits_is_told_and_not_sure_and_one_without_memory_has_no_limit_of_0() {
    // Three jobs share 64 cores; one that asks for 24 of them has less by the answer.
    let users = r#"{"id": "large", "demand": {"cpu": 24, "memory": 1024}}, {"id": "cores", "demand": {"cpu": 1}},
        {"id": "small", "demand": {"cpu": 1, "memory": 1024}}"#;
    let instance = of_one_server(r#"{"cpu": 64, "memory": 65536}"#, users);
    let export = exported(&instance, Target::Slurm, &ExportOptions::default()).unwrap();
    let kept = |id: &str| export.tenants.iter().find(|tenant| tenant.id == id).unwrap().kept;
    assert_eq!(kept("large"), Some(0.0), "{:?}", export.tenants);
    assert!(kept("small") > Some(0.9), "{:?}", export.tenants);
    let told = "large is given less than the smallest of its jobs asks for: in its QOS no job runs, and none of it is sure";
    assert!(export.notes.iter().any(|note| note == told), "{:?}", export.notes);
    let text = export.text();
    let sure = |name: &str| text.lines().find(|line| line.contains(&format!("qos where name=sure-{name} ")));
    assert!(sure("cores").unwrap().contains(",mem=-1 "), "{text}");
    assert!(sure("small").unwrap().contains("M Priority"), "{text}");
}

#[test]
fn what_lines_of_slurm_do_not_name_stays_and_is_no_change() {
    let users = r#"{"id": "blue", "demand": {"cpu": 1, "memory": 1024}}, {"id": "red", "demand": {"cpu": 1, "memory": 1024}}"#;
    let instance = of_one_server(r#"{"cpu": 64, "memory": 65536}"#, users);
    let export = exported(&instance, Target::Slurm, &ExportOptions::default()).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let current = folder.path().join("accounts").to_str().unwrap().to_owned();
    let told = |lines: &str| {
        std::fs::write(&current, export.text() + lines).unwrap();
        let found = export_changes(&export, std::slice::from_ref(&current)).unwrap();
        found
            .changes
            .into_iter()
            .map(|change| format!("{}: {}", change.queue, change.what))
            .collect::<Vec<_>>()
    };
    assert_eq!(told(""), [""; 0]);
    // The export knows neither GPUs nor nodes, of an account and of its QOS: only what it names is taken away.
    let set = "sacctmgr -i modify account where name=blue set GrpTRES=gres/gpu=4,gres/gpu:a100=2,node=3";
    assert_eq!(told(&format!("{set}\n")), [""; 0]);
    assert_eq!(told(&format!("{set},cpu=7\n")), ["blue: most cpu"]);
    let qos = "sacctmgr -i modify qos where name=sure-red set MaxTRESPA=gres/gpu=1\n";
    assert_eq!(told(qos), [""; 0]);
}

#[test]
fn limits_of_jobs_that_slurm_has_stay_and_are_told() {
    let users = r#"{"id": "blue", "demand": {"cpu": 1, "memory": 1024}}, {"id": "red", "demand": {"cpu": 1, "memory": 1024}}"#;
    let instance = of_one_server(r#"{"cpu": 64, "memory": 65536}"#, users);
    let export = exported(&instance, Target::Slurm, &ExportOptions::default()).unwrap();
    let current = tempfile::NamedTempFile::new().unwrap();
    let limits = "sacctmgr -i modify account where name=red set grpjobs=1 MaxWall=02:00:00 GrpSubmitJobs=5\n\
                  sacctmgr -i modify account where name=red set GrpSubmitJobs=-1\n\
                  sacctmgr -i modify qos where name=sure-blue set MaxJobsPerUser=3\n";
    std::fs::write(current.path(), export.text() + limits).unwrap();
    let found = export_changes(&export, &[current.path().display().to_string()]).unwrap();

    assert!(found.is_nothing(), "{:?}", found.changes);
    assert_eq!(
        found.limits_of_jobs,
        ["blue: sure-blue MaxJobsPerUser=3", "red: GrpJobs=1", "red: MaxWall=02:00:00"]
    );
    // A dump says it in one line.
    let dump = "Parent - 'root'\nAccount - 'red':Fairshare=1:GrpJobs=7\n";
    std::fs::write(current.path(), dump).unwrap();
    let found = export_changes(&export, &[current.path().display().to_string()]).unwrap();
    assert_eq!(found.limits_of_jobs, ["red: GrpJobs=7"]);
}

/// Bob has all his tasks, three cores of 64, now as well as then.
#[test]
fn users_of_accounts_have_their_shares_now_and_are_told_to_become_accounts() {
    let text = r#"{"format": "fairplan.instance.v1", "resources": ["cpu", "memory"], "groups": [{"id": "lab"}],
        "server_classes": [{"id": "node", "count": 1, "capacity": {"cpu": 64, "memory": 65536}}],
        "users": [{"id": "bob", "group": "lab", "tasks": 3, "demand": {"cpu": 1, "memory": 1024}}, {"id": "eve", "demand": {"cpu": 1, "memory": 1024}}]}"#;
    let instance = files::read_json(files::source::in_memory("it", text.into()).unwrap()).unwrap();
    let options = ExportOptions { levels: Some(2), ..ExportOptions::default() };
    let export = exported(&instance, Target::Slurm, &options).unwrap();
    let current = tempfile::NamedTempFile::new().unwrap();
    let dump = "Cluster - 'c':Fairshare=1\nParent - 'root'\nUser - 'root':DefaultAccount='root'\nAccount - 'lab':Fairshare=1\nAccount - 'eve'\n\
                Parent - 'lab'\nUser - 'bob':DefaultAccount='lab':Fairshare=3\nUser - 'other':Fairshare=parent\n";
    std::fs::write(current.path(), dump).unwrap();
    let found = export_changes(&export, &[current.path().display().to_string()]).unwrap();
    assert_eq!((found.users, found.staying), (vec!["bob".to_owned()], Vec::<String>::new()));
    let [now, then] = found.entitled["bob"].map(Option::unwrap);
    assert!((now - 3.0 / 64.0).abs() < 1e-3 && (now - then).abs() < 1e-3, "{now} {then}");
}

#[test]
fn accounts_of_slurm_that_no_line_deletes_stay_and_are_not_told_as_gone() {
    let users = r#"{"id": "blue", "demand": {"cpu": 1, "memory": 1024}}, {"id": "red", "demand": {"cpu": 1, "memory": 1024}}"#;
    let instance = of_one_server(r#"{"cpu": 64, "memory": 65536}"#, users);
    let export = exported(&instance, Target::Slurm, &ExportOptions::default()).unwrap();
    let current = tempfile::NamedTempFile::new().unwrap();
    let old = "sacctmgr -i add account name=old parent=root\nsacctmgr -i modify account where name=old set fairshare=7 GrpTRES=cpu=3\n";
    std::fs::write(current.path(), export.text() + old).unwrap();
    let found = export_changes(&export, &[current.path().display().to_string()]).unwrap();

    assert!(found.is_nothing(), "{:?}", found.changes);
    assert_eq!(found.staying, ["old"]);
    // Whatever stays has a share of its own now and then.
    assert_eq!(found.moved().count(), 0, "{:?}", found.entitled);
}

#[test]
fn a_hard_maximum_of_0_beside_an_answer_is_told() {
    let users = r#"{"id": "tiny", "demand": {"cpu": 0.5, "memory": 65536}}, {"id": "other", "demand": {"cpu": 1, "memory": 1024}}"#;
    let instance = of_one_server(r#"{"cpu": 64, "memory": 65536}"#, users);
    let told = |hard: bool| {
        let options =
            ExportOptions { hard, memory_in: Some(MemoryIn::Mebibytes), ..ExportOptions::default() };
        let notes = exported(&instance, Target::YuniKorn, &options).unwrap().notes;
        notes.iter().any(|note| note.starts_with("the maximum of tiny has vcore 0"))
    };

    assert!(told(true) && !told(false));
}

#[test]
fn what_others_take_on_one_class_they_leave_on_another() {
    let classes = |capacities: [&str; 2]| {
        let class =
            |(l, capacity): (usize, &str)| format!(r#"{{"id": "c{l}", "count": 1, "capacity": {capacity}}}"#);
        capacities.into_iter().enumerate().map(class).collect::<Vec<_>>().join(", ")
    };
    let kept = |capacities: [&str; 2], users: &str| {
        let text = format!(
            r#"{{"format": "fairplan.instance.v1", "resources": ["cpu", "memory"],
                "server_classes": [{}], "users": [{users}]}}"#,
            classes(capacities)
        );
        let source = files::source::in_memory("it", text.into_bytes()).unwrap();
        let instance = files::read_json(source).unwrap();
        let options = ExportOptions { memory_in: Some(MemoryIn::Gibibytes), ..ExportOptions::default() };
        let export = exported(&instance, Target::YuniKorn, &options).unwrap();
        export.tenants.iter().map(|tenant| tenant.kept.unwrap()).collect::<Vec<_>>()
    };
    // Alike on both classes: whatever the other takes on one it leaves on the other.
    let alike = [r#"{"cpu": 16, "memory": 64}"#; 2];
    let users =
        r#"{"id": "a", "demand": {"cpu": 1, "memory": 4}}, {"id": "b", "demand": {"cpu": 2, "memory": 8}}"#;
    assert_eq!(kept(alike, users), [1.0, 1.0]);
    // Who may run on one class only may find it taken by who may run on both.
    let users = r#"{"id": "a", "demand": {"cpu": 1, "memory": 4}, "eligible": ["c0"]}, {"id": "b", "demand": {"cpu": 1, "memory": 4}}"#;
    let only = kept(alike, users);
    assert_eq!(only[1], 1.0, "{only:?}");
    assert!(only[0] < 1.0, "{only:?}");
    // Cores here and memory there.
    let apart = [r#"{"cpu": 4, "memory": 64}"#, r#"{"cpu": 64, "memory": 4}"#];
    let users =
        r#"{"id": "a", "demand": {"cpu": 1, "memory": 8}}, {"id": "b", "demand": {"cpu": 8, "memory": 1}}"#;
    assert!(kept(apart, users).into_iter().all(|part| (0.0..1.0).contains(&part)));
}
