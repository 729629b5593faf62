//! What is exported, read back by the importers of the schedulers' files over the same nodes, is the same tree with the same amounts,
//! weights and limits as far as the format carries them; and the scheduler's own rule gives it the shares that the export states.

use super::alike::is_near;
use super::tests::{random, solution};
use super::*;
use crate::{SolveOptions, solve};
use fairplan_imports::{
    DEPLOYED_ROOT, JobOwner, KubernetesQueuesOptions, KueueOptions, SlurmOptions, TaskGrouping, YarnOptions,
    kubernetes_queues, kueue, slurm, yarn,
};
use fairplan_instances::{ClassAmounts, Decimal, GroupId, Owner, Quota, ResourceId};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// Trees of which each is exported to all targets.
const TREES: u64 = 300;

/// Files that importers read.
struct Files(tempfile::TempDir);

impl Files {
    fn write(&self, name: &str, text: &str) -> String {
        let path = self.0.path().join(name);
        std::fs::write(&path, text).unwrap();
        path.display().to_string()
    }
}

fn number(amount: Decimal) -> u64 {
    amount.scaled(0).unwrap().try_into().unwrap()
}

/// Each server of the instance by the name of its class there.
fn servers(instance: &Instance, export: &Export) -> Vec<(String, String, Vec<u64>)> {
    let mut servers = Vec::new();
    for (class, exported) in instance.classes().iter().zip(&export.classes) {
        let capacity: Vec<u64> = class.capacity.iter().map(|amount| number(*amount)).collect();
        for k in 0..class.count {
            servers.push((format!("{}-{k}", exported.name), exported.name.clone(), capacity.clone()));
        }
    }
    servers
}

/// The servers as `kubectl get nodes -o json` prints them, with the labels that the exported comments ask for.
fn kubernetes_nodes(instance: &Instance, export: &Export) -> String {
    let node = |(name, class, capacity): (String, String, Vec<u64>)| {
        let amounts: BTreeMap<&String, String> =
            instance.resources().iter().zip(capacity.iter().map(u64::to_string)).collect();
        json!({"kind": "Node", "metadata": {"name": name, "labels": {"fairplan/class": class}},
               "status": {"allocatable": amounts, "conditions": [{"type": "Ready", "status": "True"}]}})
    };
    let items: Vec<Value> = servers(instance, export).into_iter().map(node).collect();
    json!({"kind": "List", "items": items}).to_string()
}

fn yarn_nodes(instance: &Instance, export: &Export) -> String {
    let labels = export.keys().iter().map(|key| key.class.clone()).collect::<BTreeSet<_>>();
    let node = |(name, class, capacity): (String, String, Vec<u64>)| {
        let labels: Vec<String> = labels.contains(&class).then_some(class).into_iter().collect();
        json!({"id": name, "nodeHostName": name, "state": "RUNNING", "usedMemoryMB": 0, "availMemoryMB": capacity[1],
               "usedVirtualCores": 0, "availableVirtualCores": capacity[0], "nodeLabels": labels})
    };
    let nodes: Vec<Value> = servers(instance, export).into_iter().map(node).collect();
    json!({"nodes": {"node": nodes}}).to_string()
}

/// What `sacctmgr show assoc --json` prints after the lines have been run.
fn accounts(deployed: &Deployed) -> String {
    let tres = |((_, resource), amount): (&(String, String), &f64)| {
        let (kind, name) = resource.split_once('/').unwrap_or((resource, ""));
        json!({"type": kind, "name": name, "count": *amount as u64})
    };
    let account = |(name, queue): (&String, &DeployedQueue)| {
        let total: Vec<Value> = queue.limits.iter().map(tres).collect();
        let parent = if queue.parent.is_empty() { DEPLOYED_ROOT } else { &queue.parent };
        json!({"account": name, "user": "", "parent_account": parent, "shares_raw": queue.weight.unwrap() as u64,
               "max": {"tres": {"total": total}}})
    };
    // What the QOS of partitions let run is no account's.
    let accounts = deployed.iter().filter(|(name, _)| *name != DEPLOYED_ROOT);
    let associations: Vec<Value> = accounts.map(account).collect();
    json!({ "associations": associations }).to_string()
}

/// The exported text read by the importer of its target.
fn imported(instance: &Instance, export: &Export, deployed: &Deployed) -> Result<Instance, String> {
    let files = Files(tempfile::tempdir().unwrap());
    let queues = files.write("queues", &export.text());
    let read = match export.target {
        Target::Kueue => {
            let nodes = vec![files.write("nodes", &kubernetes_nodes(instance, export))];
            kueue(&KueueOptions { files: vec![queues], nodes, ..KueueOptions::default() })
        }
        Target::Yarn | Target::YarnFair => {
            let nodes = vec![files.write("nodes", &yarn_nodes(instance, export))];
            yarn(&YarnOptions { nodes, queues })
        }
        Target::YuniKorn | Target::Volcano | Target::Kai => {
            let nodes = vec![files.write("nodes", &kubernetes_nodes(instance, export))];
            kubernetes_queues(&KubernetesQueuesOptions { nodes, queues: vec![queues] })
        }
        Target::Slurm => {
            let node = |(name, _, capacity): (String, String, Vec<u64>)| {
                json!({"name": name, "cpus": capacity[0], "real_memory": capacity[1], "state": ["IDLE"],
                       "partitions": ["all"], "gres": format!("gpu:{}", capacity[2])})
            };
            let nodes: Vec<Value> = servers(instance, export).into_iter().map(node).collect();
            let job = |(k, name): (usize, &String)| {
                json!({"job_id": k + 1, "account": name, "user_name": "somebody", "job_state": ["PENDING"], "partition": "all",
                       "cpus": {"set": true, "number": 1}, "node_count": {"set": true, "number": 1},
                       "tres_req_str": "cpu=1,mem=1M,node=1,gres/gpu=1"})
            };
            let jobs: Vec<Value> = deployed.keys().enumerate().map(job).collect();
            slurm(&SlurmOptions {
                nodes: vec![files.write("nodes", &json!({ "nodes": nodes }).to_string())],
                jobs: vec![files.write("jobs", &json!({ "jobs": jobs }).to_string())],
                accounts: vec![files.write("accounts", &accounts(deployed))],
                owner: JobOwner::Account,
                grouping: TaskGrouping::Tree,
                ..SlurmOptions::default()
            })
        }
    };
    read.map(|(instance, _)| instance).map_err(|failure| failure.to_string())
}

/// The imported tree as a configuration again.
fn as_deployed(instance: &Instance, export: &Export, imported: &Instance, text: &Deployed) -> Deployed {
    let target = export.target;
    let mut found = Deployed::new();
    let resource = |r: ResourceId| match (target, imported.resources()[r.0].as_str()) {
        (Target::YuniKorn, "cpu") => "vcore".to_owned(),
        (Target::Kai, name) if name.ends_with("/gpu") => "gpu".to_owned(),
        (Target::Slurm, "memory") => "mem".to_owned(),
        (_, name) => name.to_owned(),
    };
    let is_part = |name: &str| name.contains('@');
    let groups = imported.groups();
    let is_leaf =
        |g: usize| imported.users().any(|user| user.group() == Some(GroupId(g)) && is_part(user.id()));
    let top = || {
        if matches!(target, Target::Yarn | Target::YarnFair | Target::YuniKorn) {
            DEPLOYED_ROOT.into()
        } else {
            String::new()
        }
    };
    let above = |group: Option<GroupId>| group.map_or_else(top, |group| groups[group.0].id.clone());
    let state = |queue: &mut DeployedQueue, quota: Option<&Quota>, class: &str, is_user: bool| {
        let Some(quota) = quota else { return };
        let key = |r: ResourceId| (class.to_owned(), resource(r));
        queue.amounts.extend(quota.guarantee.iter().map(|(r, amount)| (key(*r), amount.to_f64())));
        queue.limits.extend(quota.limit.iter().map(|(r, amount)| (key(*r), amount.to_f64())));
        // Of users, who run on one class of the text; those of groups are told apart below.
        let of_user = quota.limits.iter().filter(|_| is_user).flat_map(|over| &over.amounts);
        queue.limits.extend(of_user.map(|(r, amount)| (key(*r), amount.to_f64())));
    };
    for (g, group) in groups.iter().enumerate() {
        let is_cohort = target == Target::Kueue && !is_leaf(g);
        let name = if is_cohort { format!("cohort {}", group.id) } else { group.id.clone() };
        let weight = Some(group.weight.to_f64());
        let mut queue = DeployedQueue { parent: above(group.parent), weight, ..DeployedQueue::default() };
        let quota = imported.quota_of(Owner::Group(GroupId(g)));
        if export.target.knows_classes() {
            // By single classes; what divided queues have is what is below them.
            let of_class = |over: &ClassAmounts| -> Vec<((String, String), f64)> {
                let label = text_class((instance, export), imported, &over.classes);
                over.amounts
                    .iter()
                    .map(|(r, amount)| ((label.clone(), resource(*r)), amount.to_f64()))
                    .collect()
            };
            if let Some(quota) = quota {
                queue.limits.extend(quota.limits.iter().flat_map(of_class));
            }
            // What Kueue's cohorts are sure of is what those below them are.
            if let (Target::Yarn, Some(quota)) = (target, quota) {
                queue.amounts.extend(quota.guarantees.iter().flat_map(of_class));
                if imported.classes().len() == 1 {
                    let only = [fairplan_instances::ClassId(0)];
                    state(&mut queue, Some(quota), &text_class((instance, export), imported, &only), false);
                }
            }
        } else {
            state(&mut queue, quota, "", false);
        }
        if name != "cohort cluster" {
            found.insert(name, queue);
        }
    }
    for user in imported.users() {
        let quota = imported.quota_of(Owner::User(user.index()));
        let classes: Vec<_> = (0..imported.classes().len())
            .map(fairplan_instances::ClassId)
            .filter(|class| user.rule().allows(*class))
            .collect();
        let class = if export.target.knows_classes() {
            text_class((instance, export), imported, &classes)
        } else {
            String::new()
        };
        if let Some((name, _)) = user.id().split_once('@') {
            state(found.get_mut(name).unwrap(), quota, &class, true);
        } else if target != Target::Slurm {
            let weight = Some(user.weight().to_f64());
            let mut queue = DeployedQueue { parent: above(user.group()), weight, ..DeployedQueue::default() };
            state(&mut queue, quota, &class, true);
            found.insert(user.id().to_owned(), queue);
        }
    }
    if target == Target::Kueue {
        without_those_below(&mut found);
        found.extend(text.get_key_value("cohort cluster").map(|(name, queue)| (name.clone(), queue.clone())));
        // Its quota is all that a queue in no cohort may have.
        for queue in found.values_mut().filter(|queue| queue.parent.is_empty()) {
            let DeployedQueue { amounts, limits, .. } = queue;
            limits.retain(|key, limit| amounts.get(key) != Some(limit));
        }
    }
    found
}

/// What cohorts may borrow, of limits that count what is below them too.
fn without_those_below(found: &mut Deployed) {
    let mut below: BTreeMap<(String, (String, String)), f64> = BTreeMap::new();
    for (_, queue) in found.iter().filter(|(name, _)| !name.starts_with("cohort ")) {
        let mut above = Some(queue.parent.clone());
        while let Some(cohort) = above.map(|name| format!("cohort {name}")) {
            for (key, amount) in &queue.amounts {
                *below.entry((cohort.clone(), key.clone())).or_default() += amount;
            }
            above = found.get(&cohort).map(|queue| queue.parent.clone());
        }
    }
    for (name, queue) in found.iter_mut().filter(|(name, _)| name.starts_with("cohort ")) {
        for (key, limit) in &mut queue.limits {
            *limit -= below.get(&(name.clone(), key.clone())).copied().unwrap_or(0.0);
        }
    }
}

/// What the target's file calls the class that some imported classes are: no two of the instance have as many cores.
fn text_class(
    (instance, export): (&Instance, &Export),
    imported: &Instance,
    classes: &[fairplan_instances::ClassId],
) -> String {
    let cores = |instance: &Instance, class: usize| {
        let r = instance.resources().iter().position(|name| ["cpu", "vcores"].contains(&name.as_str()));
        number(instance.classes()[class].capacity[r.unwrap()])
    };
    let of = cores(imported, classes.first().unwrap().0);
    let class = (0..instance.classes().len()).find(|class| cores(instance, *class) == of).unwrap();
    export.keys()[class * export.resource_count()].class.clone()
}

/// Why what came back of a scheduler whose queues state no tasks cannot be solved; nothing where it can. On one class all that is
/// guaranteed fits, whatever tasks are made up.
fn unsolved(instance: &Instance, export: &Export, text: &Deployed) -> Option<String> {
    let is_of_queues = matches!(export.target, Target::YuniKorn | Target::Volcano | Target::Kai);
    if !is_of_queues || instance.classes().len() > 1 {
        return None;
    }
    let back = imported(instance, export, text);
    let solved = back.and_then(|back| {
        solve(&back, &SolveOptions::default(), &Control::none()).map_err(|error| error.to_string())
    });
    solved.err()
}

/// Whether rounding to whole units left a queue nothing of one thing beside another: then it is sure of no task that needs both.
fn is_given_none(queue: &DeployedQueue) -> bool {
    queue.amounts.values().any(|amount| *amount == 0.0) && queue.amounts.values().any(|amount| *amount > 0.0)
}

/// Everything in which what came back differs from what was exported.
fn differences(
    instance: &Instance,
    export: &Export,
    text: &Deployed,
    compared: &mut [usize; 2],
) -> Vec<String> {
    let target = export.target;
    let (mut found, mut is_less_sure) = (Vec::new(), false);
    let back = match imported(instance, export, text) {
        Ok(imported) => as_deployed(instance, export, &imported, text),
        Err(failure) => return vec![failure],
    };
    for (name, queue) in text.iter().filter(|(name, _)| *name != DEPLOYED_ROOT) {
        let Some(again) = back.get(name) else {
            // Slurm's users are jobs' users; accounts of which no job is are none of the importer's.
            if target != Target::Slurm && queue.amounts.values().any(|amount| *amount > 0.0) {
                found.push(format!("{name} is lost"));
            }
            continue;
        };
        compared[0] += 1;
        if again.parent != queue.parent {
            found.push(format!("{name} is in {:?}, not in {:?}", again.parent, queue.parent));
        }
        let weighs = matches!(
            target,
            Target::Kueue | Target::YarnFair | Target::Volcano | Target::Kai | Target::Slurm
        );
        if let (true, Some(weight), Some(again)) = (weighs, queue.weight, again.weight)
            && !is_near(weight, again)
        {
            found.push(format!("{name} weighs {again}, not {weight}"));
        }
        if name.starts_with("cohort ") {
            continue;
        }
        let keys: BTreeSet<_> = queue.amounts.keys().chain(again.amounts.keys()).collect();
        for key in keys.into_iter().filter(|_| target != Target::Slurm) {
            let [told, came] = [&queue.amounts, &again.amounts].map(|of| of.get(key).copied().unwrap_or(0.0));
            if is_near(told, came) {
                continue;
            }
            if came == 0.0 && is_given_none(queue) {
                is_less_sure = true;
            } else {
                found.push(format!("{name} has {came} of {key:?}, not {told}"));
            }
        }
        for (key, limit) in &again.limits {
            let told = queue.limits.get(key);
            if !told.is_some_and(|told| is_near(*told, *limit)) {
                found.push(format!("{name} may have {limit} of {key:?}, not {told:?}"));
            }
        }
    }
    if target == Target::Slurm {
        // Shares and limits come back; amounts of QOS are none of the importer's.
        return found;
    }
    if is_less_sure {
        return found;
    }
    for (tenant, share) in export.tenants.iter().zip(entitled::entitled(export, &back)) {
        let (Some(said), Some(share)) = (tenant.entitled, share) else { continue };
        compared[1] += 1;
        if (said - share).abs() > 5e-3 * said.max(share) {
            found.push(format!("{} is entitled to {share}, not to {said}", tenant.id));
        }
    }
    found
}

#[test]
fn what_is_exported_is_imported_again_and_its_rule_gives_what_was_said() {
    let mut compared = BTreeMap::<Target, [usize; 2]>::new();
    let mut found = BTreeMap::<Target, Vec<String>>::new();
    for seed in 0..TREES {
        for in_mebibytes in [false, true] {
            let instance = random(seed, if in_mebibytes { 1024 } else { 1 << 30 });
            let solution = solution(&instance);
            for target in Target::ALL {
                if matches!(target, Target::Yarn | Target::YarnFair | Target::Slurm) != in_mebibytes {
                    continue;
                }
                let options = ExportOptions::default();
                let export = export(&instance, &solution, target, &options, &Control::none()).unwrap();
                let text = exported(&export).unwrap();
                let mut differences =
                    differences(&instance, &export, &text, compared.entry(target).or_default());
                if seed % 8 == 0 {
                    differences.extend(unsolved(&instance, &export, &text));
                }
                if !differences.is_empty() {
                    let told = format!("tree {seed}: {}\n{}", differences.join("; "), export.text());
                    found.entry(target).or_default().push(told);
                }
            }
        }
    }
    let told = found.iter().map(|(target, found)| {
        format!(
            "{target}: {} of {TREES} trees differ, such as {}\n",
            found.len(),
            found[..found.len().min(2)].join("\n")
        )
    });
    assert!(found.is_empty(), "{}", told.collect::<String>());
    for (target, [queues, shares]) in compared {
        assert!(queues > 600, "{target}: only {queues} queues came back");
        assert!(shares > 600 || target == Target::Slurm, "{target}: only {shares} shares");
    }
}

#[test]
fn who_is_given_less_than_a_core_beside_whole_memory_is_sure_of_that_when_it_comes_back() {
    let text = r#"{"format": "fairplan.instance.v1", "resources": ["cpu", "memory", "nvidia.com/gpu"],
        "server_classes": [{"id": "node", "count": 2, "capacity": {"cpu": 4, "memory": 17179869184, "nvidia.com/gpu": 1}}],
        "groups": [{"id": "team"}],
        "users": [{"id": "a", "group": "team", "demand": {"cpu": 1, "memory": 2147483648}, "limit": {"cpu": 1}},
                  {"id": "b", "group": "team", "demand": {"cpu": 0.05, "memory": 1073741824}},
                  {"id": "other", "demand": {"cpu": 1, "memory": 1073741824}}]}"#;
    let source = files::source::in_memory("it", text.as_bytes().to_vec()).unwrap();
    let instance: Instance = files::read_json(source).unwrap();
    let solution = solution(&instance);
    for target in [Target::Volcano, Target::Kai, Target::YuniKorn] {
        let export =
            export(&instance, &solution, target, &ExportOptions::default(), &Control::none()).unwrap();
        let text = exported(&export).unwrap();
        let told = differences(&instance, &export, &text, &mut [0; 2]);
        assert!(told.is_empty(), "{target}: {told:?}\n{}", export.text());
        assert_eq!(unsolved(&instance, &export, &text), None, "{target}\n{}", export.text());
    }
}
