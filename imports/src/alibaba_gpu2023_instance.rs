//! Alibaba's GPU trace of 2023 as an instance: nodes become server classes, pods tasks of their class of service.

use super::alibaba_gpu2023::{
    CPU, CREATED, DELETED, GPU_SPEC, MEMORY, NO_SERVICE, NODE, POD, POD_NAME, POD_NEEDED, milli, service,
    thousandths_of_gpus,
};
use super::alibaba_tables::known;
use super::census::{Census, TaskGrouping};
use super::columns::for_each_row_of;
use super::files::some;
use super::report::{ImportFailure, ImportReport, Stopped, counted};
use super::servers::{Memory, Server};
use super::tasks::{Rules, Tasks};
use fairplan_instances::{Decimal, Instance, InstanceError, ResourceId, Violation, wording};
use hashbrown::{HashMap, HashSet};

/// What [`alibaba_gpu2023_instance`] reads and how.
#[derive(Clone, Debug, Default)]
pub struct AlibabaGpu2023Options {
    /// The table of nodes, `openb_node_list_all_node.csv`.
    pub nodes: String,
    /// A table of pods, such as `openb_pod_list_default.csv`.
    pub pods: String,
    /// Whether a user is a class of service, or each different request of one.
    pub grouping: TaskGrouping,
    /// Only the pods that are there at this second of the trace; `None`: all.
    pub at: Option<u64>,
    /// Whether each GPU of a node is a device: a part of a GPU is of one GPU. Requests must be told apart, since a mean of requests
    /// is no part of a GPU.
    pub devices: bool,
}

/// The cluster and its users over the resources `cpu` (cores), `memory` (MiB) and `gpu` (GPUs).
///
/// Nodes of one model and size are a server class. A pod asks for `num_gpu` times `gpu_milli` thousandths of a GPU and
/// may run on nodes of the models that its `gpu_spec` names, or on all where it names none. The files name no tenants;
/// users are the classes of service (`qos`), or `pods` where a list states none.
///
/// # Errors
/// A file that cannot be read, a missing column, a cell that is no number (file, line, column and value are named).
pub fn alibaba_gpu2023_instance(
    options: &AlibabaGpu2023Options,
) -> Result<(Instance, ImportReport), ImportFailure> {
    counted(|report| read(options, report))
}

fn read(options: &AlibabaGpu2023Options, report: &mut ImportReport) -> Result<Instance, Stopped> {
    if options.devices && options.grouping == TaskGrouping::User {
        let problem = "a mean of requests is neither a part of a GPU nor whole ones; tell requests apart with --group shape or tree";
        let violation = Violation::new("devices", "", problem);
        return Err(Stopped::Building(InstanceError::Invalid { file: options.pods.clone(), violation }));
    }
    let mut nodes: Vec<Server> = Vec::new();
    let mut names = HashSet::new();
    for_each_row_of(&options.nodes, &NODE, NODE.len(), known, |cells| {
        let capacity = vec![milli(cells.whole(1)?), cells.number(2)?, cells.number(3)?];
        let (name, kind) = (cells.text(0)?.to_owned(), cells.text(4)?.to_owned());
        if !names.insert(name.clone()) {
            report.named("nodes of a name that is there already, counted like the others", &name);
        }
        nodes.push(Server { name, kind, capacity, ..Server::default() });
        Ok(())
    })?;
    some(&options.nodes, "nodes", nodes.len())?;
    report.add(nodes.len() as u64, "nodes");

    let mut conditions: Vec<String> = Vec::new();
    let mut position: HashMap<String, usize> = HashMap::new();
    let mut tasks = Vec::new();
    // From when to when all were there, of those that state it.
    let mut names: HashSet<String> = HashSet::new();
    let (mut last_created, mut first_deleted) = (0, u64::MAX);
    for_each_row_of(&options.pods, &POD, POD_NEEDED, known, |cells| {
        let gpu = thousandths_of_gpus(&cells)?;
        let demand = vec![milli(cells.whole(CPU)?), cells.number(MEMORY)?, milli(gpu)];
        let name = cells.text(POD_NAME)?;
        if !names.insert(name.to_owned()) {
            report.named("pods of a name that is there already, counted like the others", name);
        }
        let time = |name: usize| if cells.has(name) { cells.whole(name).map(Some) } else { Ok(None) };
        let (created, deleted) = (time(CREATED)?, time(DELETED)?);
        (last_created, first_deleted) =
            (last_created.max(created.unwrap_or(0)), first_deleted.min(deleted.unwrap_or(u64::MAX)));
        let there = match (options.at, created, deleted) {
            (None, ..) => true,
            (Some(at), Some(created), Some(deleted)) => (created..deleted).contains(&at),
            _ => return Err(Violation::new("at", "", "this list states no times of pods; leave --at away")),
        };
        if service(&cells)? == NO_SERVICE {
            report.one("pods without a class of service (qos): all are of one user");
        }
        if !cells.has(GPU_SPEC) {
            report.one("pods in a list without a column gpu_spec: they may run on every model of GPU");
        }
        report.one(if there { "pods" } else { "pods left out: not there at the moment" });
        if there {
            let models = cells.text(GPU_SPEC)?;
            let condition = *position.entry_ref(models).or_insert_with(|| {
                conditions.push(models.to_owned());
                conditions.len() - 1
            });
            tasks.push(Tasks {
                owner: service(&cells)?.to_owned(),
                demand,
                count: 1,
                condition,
                on: Vec::new(),
                rules: Rules::default(),
            });
        }
        Ok(())
    })?;
    some(&options.pods, "pods", tasks.len())?;
    if options.at.is_none() && first_deleted <= last_created {
        report.add(
            tasks.len() as u64,
            "pods of different times counted together: --at SECOND takes those of one moment",
        );
    }
    let meets =
        |model: &String, models: &String| models.is_empty() || models.split('|').any(|one| one == model);
    let servers = nodes.into_iter().map(|server| {
        let meets = conditions.iter().map(|models| meets(&server.kind, models)).collect();
        Server { meets, ..server }
    });
    let name = format!("Alibaba GPU 2023, {}", wording::counted(tasks.len() as u64, "pod", "pods"));
    let resources = ["cpu", "memory", "gpu"].map(str::to_owned).to_vec();
    let (memory, servers, holders) = (Memory::Mebibytes, servers.collect(), Vec::new());
    let devices = if options.devices { vec![(GPU, Decimal::ONE)] } else { Vec::new() };
    let census = Census { name, resources, memory, conditions, servers, tasks, devices, holders };
    census.instance(options.grouping, report).map_err(|violation| {
        let file = format!("{} and {}", options.nodes, options.pods);
        Stopped::Building(InstanceError::Invalid { file, violation })
    })
}

/// Position among the resources.
const GPU: ResourceId = ResourceId(2);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::real_files::real_file;

    const NODES: &str = "sn,cpu_milli,memory_mib,gpu,model\na,32000,262144,0,\nb,96000,393216,8,T4\nc,96000,393216,8,T4\nd,96000,393216,8,G2\n";
    const PODS: &str = "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos,pod_phase,creation_time,deletion_time,scheduled_time\n\
        p,6000,12288,1,460,,LS,Running,0,50,0\nq,1500,1024,2,1000,G2|V100,BE,Running,10,20,10\nr,1000,1024,1,1000,V100,BE,Pending,0,20,\n";

    #[test]
    fn models_decide_which_class_a_pod_may_run_on_and_parts_of_gpus_add_up() {
        let folder = tempfile::tempdir().unwrap();
        let file = |name: &str, text: &str| {
            let path = folder.path().join(name);
            std::fs::write(&path, text).unwrap();
            path.to_str().unwrap().to_owned()
        };
        let options = AlibabaGpu2023Options {
            nodes: file("nodes.csv", NODES),
            pods: file("pods.csv", PODS),
            grouping: TaskGrouping::User,
            ..Default::default()
        };
        let (instance, report) = alibaba_gpu2023_instance(&options).unwrap();
        let classes: Vec<_> =
            instance.classes().iter().map(|class| (class.id.as_str(), class.count)).collect();
        assert_eq!(classes, [("T4-cpu96-memory384Gi-gpu8", 2), ("a", 1), ("d", 1)]);
        let users: Vec<_> = instance
            .users()
            .map(|user| {
                format!("{} {} {} {}", user.id(), user.demand()[0], user.demand()[1], user.demand()[2])
            })
            .collect();
        assert_eq!(users, ["LS 6 12288 0.46", "BE@G2|V100 1.5 1024 2"]);
        assert_eq!(report.count("tasks left out: no server meets their conditions"), 1);
        let of_different_times =
            "pods of different times counted together: --at SECOND takes those of one moment";
        assert_eq!(report.count(of_different_times), 0);
        let apart = file("apart.csv", &PODS.replace("Pending,0,20", "Pending,0,5"));
        let apart = AlibabaGpu2023Options { pods: apart, ..options.clone() };
        assert_eq!(alibaba_gpu2023_instance(&apart).unwrap().1.count(of_different_times), 3);

        let (_, report) =
            alibaba_gpu2023_instance(&AlibabaGpu2023Options { at: Some(20), ..options.clone() }).unwrap();
        assert_eq!(report.count("pods left out: not there at the moment"), 2);
        let shapes =
            AlibabaGpu2023Options { devices: true, grouping: TaskGrouping::Shape, ..options.clone() };
        let (instance, _) = alibaba_gpu2023_instance(&shapes).unwrap();
        assert_eq!(instance.classes()[0].devices, [(GPU, 8)]);
        let means = AlibabaGpu2023Options { devices: true, ..options.clone() };
        let told = alibaba_gpu2023_instance(&means).unwrap_err().to_string();
        assert!(
            told.contains("devices: a mean of requests is neither a part of a GPU nor whole ones"),
            "{told}"
        );
        for (before, after, told) in [
            ("6000", "six", "bad.csv: line 2, column cpu_milli = six"),
            (
                ",460,",
                ",1500,",
                "bad.csv: line 2, column gpu_milli = 1500: is more than 1000, which is one GPU",
            ),
        ] {
            let bad = AlibabaGpu2023Options {
                pods: file("bad.csv", &PODS.replace(before, after)),
                ..options.clone()
            };
            let error = alibaba_gpu2023_instance(&bad).unwrap_err().to_string();
            assert!(error.contains(told), "{error}");
        }
    }

    #[test]
    fn names_that_come_twice_and_pods_without_a_class_of_service_are_told() {
        let folder = tempfile::tempdir().unwrap();
        let file = |name: &str, text: &str| {
            let path = folder.path().join(name);
            std::fs::write(&path, text).unwrap();
            path.to_str().unwrap().to_owned()
        };
        let options = AlibabaGpu2023Options {
            nodes: file("nodes.csv", &NODES.replace("\nc,", "\nb,")),
            pods: file("pods.csv", &PODS.replace("\nq,", "\np,").replace(",LS,", ",,")),
            grouping: TaskGrouping::User,
            ..Default::default()
        };
        let (instance, report) = alibaba_gpu2023_instance(&options).unwrap();
        assert_eq!(instance.user(fairplan_instances::UserId(0)).id(), "pods");
        for what in [
            "nodes of a name that is there already, counted like the others",
            "pods of a name that is there already, counted like the others",
            "pods without a class of service (qos): all are of one user",
        ] {
            assert_eq!(report.count(what), 1, "{what}\n{report}");
        }
    }

    #[test]
    fn lists_of_five_columns_are_one_user_and_other_tables_are_told_apart() {
        let folder = tempfile::tempdir().unwrap();
        let file = |name: &str, text: &str| {
            let path = folder.path().join(name);
            std::fs::write(&path, text).unwrap();
            path.to_str().unwrap().to_owned()
        };
        let short = "name,cpu_milli,memory_mib,num_gpu,gpu_milli\np,6000,12288,1,460\nq,2000,4096,0,0\n";
        let (nodes, pods) = (file("nodes.csv", NODES), file("pods.csv", short));
        let options = AlibabaGpu2023Options {
            nodes,
            pods: pods.clone(),
            grouping: TaskGrouping::User,
            ..Default::default()
        };
        let (instance, report) = alibaba_gpu2023_instance(&options).unwrap();
        let users: Vec<_> = instance.users().map(|user| (user.id(), user.tasks())).collect();
        assert_eq!(users, [("pods", Some(2))]);
        assert_eq!(report.count("pods without a class of service (qos): all are of one user"), 2);
        let models = "pods in a list without a column gpu_spec: they may run on every model of GPU";
        assert_eq!(report.count(models), 2);

        let told =
            |options: &AlibabaGpu2023Options| alibaba_gpu2023_instance(options).unwrap_err().to_string();
        let error = told(&AlibabaGpu2023Options { at: Some(1), ..options.clone() });
        assert!(error.contains("this list states no times of pods; leave --at away"), "{error}");
        let error = crate::alibaba_gpu2023(&options.nodes, &pods, false).err().unwrap().to_string();
        assert!(error.contains("column gpu_spec: is missing: a trace needs the times of pods"), "{error}");
        for (text, expected) in [
            (
                "gpu_model,gpu_capacity_num,cpu_num,node_name\nA10,1,128,n\n",
                "nodes of the spot GPU trace of 2026",
            ),
            (
                "instance_sn,role,app_name,cpu_request,rdma_request\ni,CN,a,1,1\n",
                "instances of the GPU trace of 2025",
            ),
            (
                "m1,P100,64,512,2\nm2,T4,96,512,2\n",
                "the first line is a row, no header (as in the GPU trace of 2020)",
            ),
            (
                "sn,cpu_milli,memory_mib,gpu\na,1,1,0\n",
                "column model: is missing; needed are sn, cpu_milli, memory_mib, gpu, model, the table has sn, cpu_milli, memory_mib, gpu",
            ),
        ] {
            let error = told(&AlibabaGpu2023Options { nodes: file("other.csv", text), ..options.clone() });
            assert!(error.contains("other.csv: ") && error.contains(expected), "{error}");
        }
    }

    #[test]
    fn the_real_tables_have_the_nodes_and_pods_that_counting_their_lines_says() {
        let (Some(nodes), Some(pods)) = (
            real_file("alibaba-gpu2023/openb_node_list_all_node.csv"),
            real_file("alibaba-gpu2023/openb_pod_list_gpuspec33.csv"),
        ) else {
            return;
        };
        let lines = |path: &str| std::fs::read_to_string(path).unwrap().lines().count() as u64 - 1;
        let options = AlibabaGpu2023Options {
            nodes: nodes.clone(),
            pods: pods.clone(),
            grouping: TaskGrouping::Shape,
            at: None,
            devices: true,
        };
        let (instance, report) = alibaba_gpu2023_instance(&options).unwrap();
        assert_eq!(instance.classes().iter().map(|class| class.count).sum::<u64>(), lines(&nodes));
        let gpus = instance
            .classes()
            .iter()
            .flat_map(|class| class.devices.iter().map(|(_, gpus)| gpus * class.count));
        assert_eq!(gpus.sum::<u64>(), 6212);
        assert_eq!((report.count("nodes"), report.count("pods")), (lines(&nodes), lines(&pods)));
        let left_out: u64 =
            report.counts().filter(|(_, what)| what.contains("left out")).map(|(count, _)| count).sum();
        assert_eq!(instance.users().map(|user| user.tasks().unwrap()).sum::<u64>() + left_out, lines(&pods));
        assert!(
            instance.users().any(|user| user.rule().eligible().is_some()),
            "a third of the pods name models"
        );
    }
}
