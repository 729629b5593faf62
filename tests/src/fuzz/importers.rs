//! Files of other systems.

use super::Target;
use super::own_files::{instance, text, used};
use fairplan_imports::{self, *};
use fairplan_instances::files::write_trace;
use fairplan_instances::trace::SortedTrace;
use fairplan_instances::{Decimal, Instance, InstanceError};

const SAMPLES: [(&str, &[u8]); 19] = [
    ("alibaba_nodes.csv", include_bytes!("../../samples/alibaba_nodes.csv")),
    ("alibaba_pods.csv", include_bytes!("../../samples/alibaba_pods.csv")),
    ("azure_arrivals.txt", include_bytes!("../../samples/azure_arrivals.txt")),
    ("azure_durations.txt", include_bytes!("../../samples/azure_durations.txt")),
    ("azure_sizes.txt", include_bytes!("../../samples/azure_sizes.txt")),
    ("azure_intervals.txt", include_bytes!("../../samples/azure_intervals.txt")),
    ("philly.csv", include_bytes!("../../samples/philly.csv")),
    ("log.swf", include_bytes!("../../samples/log.swf")),
    ("snowset.csv", include_bytes!("../../samples/snowset.csv")),
    ("shaved_ice.csv", include_bytes!("../../samples/shaved_ice.csv")),
    ("vc1.cluster_sequence_vc.csv", include_bytes!("../../samples/vc1.cluster_sequence_vc.csv")),
    ("machine_events.csv", include_bytes!("../../samples/machine_events.csv")),
    ("task_events.csv", include_bytes!("../../samples/task_events.csv")),
    ("job_events.csv", include_bytes!("../../samples/job_events.csv")),
    ("nodes.json", include_bytes!("../../../imports/data/kubernetes/nodes.json")),
    ("pods.yaml", include_bytes!("../../../imports/data/kubernetes/pods.yaml")),
    ("volcano.yaml", include_bytes!("../../../imports/data/kubernetes/volcano.yaml")),
    ("kai.yaml", include_bytes!("../../../imports/data/kubernetes/kai.yaml")),
    ("yunikorn.yaml", include_bytes!("../../../imports/data/kubernetes/yunikorn.yaml")),
];

const MORE_SAMPLES: [(&str, &[u8]); 12] = [
    (
        "topology.conf",
        b"# Leaves and their spine.\nSwitchName=leaf1 Nodes=n[1-2]\nSwitchName=leaf2 Nodes=n3,n4\nSwitchName=spine Switches=leaf[1-2]\n",
    ),
    (
        "sacctmgr.txt",
        b"Cluster - 'c':Fairshare=1\nParent - 'root'\nAccount - 'a':Description='x':Fairshare=3:GrpTRES=cpu=4,mem=2G:QOS='+sure-a'\n\
          Parent - 'a'\nUser - 'u':Fairshare=1\nName|MaxTRESPA|Priority\nnormal||0\nsure-a|cpu=2|1\n",
    ),
    ("accounts.json", include_bytes!("../../../imports/data/slurm/accounts.json")),
    ("quotas.yaml", include_bytes!("../../../imports/data/kubernetes/quotas.yaml")),
    ("fleet.yaml", include_bytes!("../../../imports/data/kueue/fleet.yaml")),
    ("queues.yaml", include_bytes!("../../../imports/data/kueue/queues.yaml")),
    ("slurm_nodes.json", include_bytes!("../../../imports/data/slurm/nodes.json")),
    ("sinfo.json", include_bytes!("../../../imports/data/slurm/sinfo.json")),
    ("jobs.json", include_bytes!("../../../imports/data/slurm/jobs.json")),
    ("yarn_nodes.json", include_bytes!("../../../imports/data/yarn/nodes.json")),
    ("fair-scheduler.xml", include_bytes!("../../../imports/data/yarn/fair-scheduler.xml")),
    ("capacity-scheduler.xml", include_bytes!("../../../imports/data/yarn/capacity-scheduler.xml")),
];

/// A target over samples of these names.
fn target(
    name: &str,
    files: &[&'static str],
    read: impl Fn(&[String]) -> Result<(), String> + Send + Sync + 'static,
) -> Target {
    let content = |name: &&'static str| {
        let sample = SAMPLES.iter().chain(&MORE_SAMPLES).find(|(known, _)| known == name);
        (*name, sample.expect("a sample of this name").1.to_vec())
    };
    Target::new(name, files.iter().map(content), read)
}

/// An instance, whatever was counted beside it, can be used.
fn imported<T, E: std::fmt::Display>(
    paths: &[String],
    result: Result<(Instance, T), E>,
) -> Result<(), String> {
    instance(result.map_err(text)?.0, paths)
}

/// A trace can be written whole.
fn replayed(result: Result<SortedTrace, InstanceError>) -> Result<(), String> {
    let mut trace = result.map_err(text)?;
    write_trace(&mut trace, "trace.jsonl", &mut Vec::new()).map_err(text)
}

fn servers() -> EqualServers {
    EqualServers { count: 10, capacity: vec![Decimal::from(64), Decimal::from(448)] }
}

/// Every importer, with the options that change what is read.
pub(super) fn targets() -> Vec<Target> {
    vec![
        target("import alibaba-gpu2023", &["alibaba_nodes.csv", "alibaba_pods.csv"], |paths| {
            let options = AlibabaGpu2023Options {
                nodes: paths[0].clone(),
                pods: paths[1].clone(),
                ..Default::default()
            };
            let shapes =
                AlibabaGpu2023Options { grouping: TaskGrouping::Shape, at: Some(6), ..options.clone() };
            let _ = imported(paths, alibaba_gpu2023_instance(&shapes));
            imported(paths, alibaba_gpu2023_instance(&options))
        }),
        target("import alibaba-gpu2023-trace", &["alibaba_nodes.csv", "alibaba_pods.csv"], |paths| {
            let _ = replayed(alibaba_gpu2023(&paths[0], &paths[1], true));
            replayed(alibaba_gpu2023(&paths[0], &paths[1], false))
        }),
        target("import azure-v1", &["azure_arrivals.txt", "azure_sizes.txt"], |paths| {
            let (arrivals, sizes) = (vec![paths[0].clone()], paths[1].clone());
            let options =
                AzureV1InstanceOptions { arrivals, sizes, seconds: 0..u64::MAX, servers: servers() };
            imported(paths, azure_v1_instance(&options))
        }),
        target(
            "import azure-v1-trace",
            &["azure_arrivals.txt", "azure_durations.txt", "azure_sizes.txt", "azure_intervals.txt"],
            |paths| {
                let [arrivals, durations, sizes, intervals] =
                    [0, 1, 2, 3].map(|file: usize| paths[file].clone());
                let (users, servers) = (Some(2), servers());
                replayed(azure_v1(&AzureV1Options { arrivals, durations, sizes, intervals, users, servers }))
            },
        ),
        target("import philly-trace", &["philly.csv"], |paths| replayed(philly(&paths[0], 5, 8, true))),
        target("import swf-trace", &["log.swf"], |paths| replayed(swf(&paths[0], None, true))),
        target("import snowset", &["snowset.csv"], |paths| {
            let options = |demand, quantum| SnowsetOptions {
                queries: paths[0].clone(),
                demand,
                quantum,
                from: None,
                until: None,
                sample: None,
            };
            let _ = snowset(&options(SnowsetDemand::Memory { slice: 1000 }, 3600));
            let sample = Some(WarehouseSample { warehouses: 1, seed: 1 });
            let _ = snowset(&SnowsetOptions { sample, ..options(SnowsetDemand::Queries { slices: 2 }, 60) });
            used(&snowset(&options(SnowsetDemand::Servers, 60)).map_err(text)?.0, paths);
            Ok(())
        }),
        target("import helios", &["vc1.cluster_sequence_vc.csv"], |paths| {
            let options = HeliosOptions { sequences: vec![paths[0].clone()], every: 2 };
            used(&helios(&options).map_err(text)?.series, paths);
            Ok(())
        }),
        target("import shaved-ice", &["shaved_ice.csv"], |paths| {
            used(&shaved_ice(&paths[0]).map_err(text)?, paths);
            Ok(())
        }),
        target("import google-2011", &["machine_events.csv", "task_events.csv"], |paths| {
            let options = Google2011Options {
                machine_events: vec![paths[0].clone()],
                task_events: vec![paths[1].clone()],
                at: 640_000_000,
                ..Default::default()
            };
            let shapes =
                Google2011Options { grouping: Grouping::Shape, last_shapes: true, ..options.clone() };
            let _ = imported(paths, google_2011(&shapes));
            imported(paths, google_2011(&options))
        }),
        target(
            "import google-2011-trace",
            &["machine_events.csv", "task_events.csv", "job_events.csv"],
            |paths| {
                let options = Google2011TraceOptions {
                    machine_events: vec![paths[0].clone()],
                    task_events: vec![paths[1].clone()],
                    job_events: vec![paths[2].clone()],
                    servers: None,
                };
                replayed(google_2011_trace(&options))
            },
        ),
        target("import kubernetes", &["nodes.json", "pods.yaml"], |paths| {
            let options = KubernetesOptions {
                nodes: vec![paths[0].clone()],
                pods: vec![paths[1].clone()],
                ..Default::default()
            };
            let others = KubernetesOptions {
                owner: PodOwner::Label("app".into()),
                grouping: TaskGrouping::Shape,
                daemons: Daemons::Reserve,
                all_nodes: true,
                rules: true,
                gangs: vec![paths[1].clone()],
                ..options.clone()
            };
            let _ = imported(paths, fairplan_imports::kubernetes(&others));
            imported(paths, fairplan_imports::kubernetes(&options))
        }),
        target("import kubernetes-queues (Volcano)", &["nodes.json", "volcano.yaml"], queues),
        target("import kubernetes-queues (KAI)", &["nodes.json", "kai.yaml"], queues),
        target("import kubernetes-queues (YuniKorn)", &["nodes.json", "yunikorn.yaml"], queues),
        target("import kueue (nodes)", &["fleet.yaml", "nodes.json"], |paths| {
            let (files, nodes) = (vec![paths[0].clone()], vec![paths[1].clone()]);
            imported(paths, fairplan_imports::kueue(&KueueOptions { files, nodes, ..Default::default() }))
        }),
        target("import kueue", &["queues.yaml"], |paths| {
            let options = KueueOptions { files: vec![paths[0].clone()], ..Default::default() };
            let others = KueueOptions {
                users: QueueLevel::LocalQueue,
                weights: QueueWeights::Quota,
                ..options.clone()
            };
            let _ = imported(paths, fairplan_imports::kueue(&others));
            imported(paths, fairplan_imports::kueue(&options))
        }),
        target("import slurm", &["slurm_nodes.json", "jobs.json"], cluster_of_slurm),
        target("import slurm (accounts)", &["slurm_nodes.json", "jobs.json", "accounts.json"], |paths| {
            let [nodes, jobs, accounts] = [0, 1, 2].map(|file: usize| vec![paths[file].clone()]);
            imported(
                paths,
                fairplan_imports::slurm(&SlurmOptions { nodes, jobs, accounts, ..Default::default() }),
            )
        }),
        target("import kubernetes (quotas)", &["nodes.json", "pods.yaml", "quotas.yaml"], |paths| {
            let [nodes, pods, quotas] = [0, 1, 2].map(|file: usize| vec![paths[file].clone()]);
            imported(
                paths,
                fairplan_imports::kubernetes(&KubernetesOptions {
                    nodes,
                    pods,
                    quotas,
                    ..Default::default()
                }),
            )
        }),
        target("import slurm (sinfo)", &["sinfo.json", "jobs.json"], cluster_of_slurm),
        target("import yarn (fair)", &["yarn_nodes.json", "fair-scheduler.xml"], cluster_of_yarn),
        target("import yarn (capacity)", &["yarn_nodes.json", "capacity-scheduler.xml"], cluster_of_yarn),
        target("import slurm (topology)", &["slurm_nodes.json", "jobs.json", "topology.conf"], |paths| {
            let [nodes, jobs, topology] = [0, 1, 2].map(|file: usize| vec![paths[file].clone()]);
            let options = SlurmOptions { nodes, jobs, topology, rules: true, ..Default::default() };
            imported(paths, fairplan_imports::slurm(&options))
        }),
        configured("deployed kueue", "fleet.yaml", ConfigurationKind::Kueue),
        configured("deployed yarn", "capacity-scheduler.xml", ConfigurationKind::Yarn),
        configured("deployed yarn-fair", "fair-scheduler.xml", ConfigurationKind::YarnFair),
        configured("deployed yunikorn", "yunikorn.yaml", ConfigurationKind::YuniKorn),
        configured("deployed volcano", "volcano.yaml", ConfigurationKind::Volcano),
        configured("deployed kai", "kai.yaml", ConfigurationKind::Kai),
        configured("deployed slurm", "sacctmgr.txt", ConfigurationKind::Slurm),
    ]
}

/// What a scheduler is configured with, as `export --current` reads it.
fn configured(name: &str, sample: &'static str, kind: ConfigurationKind) -> Target {
    target(name, &[sample], move |paths| deployed(kind, paths).map(|_| ()).map_err(text))
}

fn queues(paths: &[String]) -> Result<(), String> {
    let options = KubernetesQueuesOptions { nodes: vec![paths[0].clone()], queues: vec![paths[1].clone()] };
    imported(paths, fairplan_imports::kubernetes_queues(&options))
}

fn cluster_of_slurm(paths: &[String]) -> Result<(), String> {
    let options =
        SlurmOptions { nodes: vec![paths[0].clone()], jobs: vec![paths[1].clone()], ..Default::default() };
    let others = SlurmOptions {
        owner: JobOwner::Account,
        grouping: TaskGrouping::Shape,
        all_nodes: true,
        rules: true,
        ..options.clone()
    };
    let _ = imported(paths, fairplan_imports::slurm(&others));
    imported(paths, fairplan_imports::slurm(&options))
}

fn cluster_of_yarn(paths: &[String]) -> Result<(), String> {
    let options = YarnOptions { nodes: vec![paths[0].clone()], queues: paths[1].clone() };
    imported(paths, fairplan_imports::yarn(&options))
}
