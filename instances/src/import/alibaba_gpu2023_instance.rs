//! Alibaba's GPU trace of 2023 as an instance: nodes become server classes, pods tasks of their class of service.

use super::alibaba_gpu2023::{
    CPU, CREATED, DELETED, GPU_MILLI, GPU_SPEC, GPUS, MEMORY, NODE, POD, POD_NAME, QOS, milli,
};
use super::census::{Census, Server, TaskGrouping, Tasks};
use super::columns::for_each_row;
use super::report::ImportReport;
use crate::{Instance, InstanceError};
use hashbrown::HashMap;

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
}

/// The cluster and its users over the resources `cpu` (cores), `memory` (MiB) and `gpu` (GPUs).
///
/// Nodes of one model and size are a server class. A pod asks for `num_gpu` times `gpu_milli` thousandths of a GPU and
/// may run on nodes of the models that its `gpu_spec` names, or on all where it names none. The files name no tenants;
/// users are the classes of service (`qos`). Which GPU of a server a part is of is not modelled.
///
/// # Errors
/// A file that cannot be read, a missing column, a cell that is no number (file, line, column and value are named).
pub fn alibaba_gpu2023_instance(
    options: &AlibabaGpu2023Options,
) -> Result<(Instance, ImportReport), InstanceError> {
    let mut report = ImportReport::default();
    let mut nodes: Vec<(Server, String)> = Vec::new();
    for_each_row(&options.nodes, &NODE, |cells| {
        let capacity = vec![milli(cells.whole(1)?), cells.number(2)?, cells.number(3)?];
        let server = Server { name: cells.text(0)?.to_owned(), capacity, meets: Vec::new() };
        nodes.push((server, cells.text(4)?.to_owned()));
        Ok(())
    })?;
    report.add(nodes.len() as u64, "nodes");

    let mut conditions: Vec<String> = Vec::new();
    let mut position: HashMap<String, usize> = HashMap::new();
    let mut tasks = Vec::new();
    for_each_row(&options.pods, &POD, |cells| {
        let gpu = cells.whole(GPUS)?.checked_mul(cells.whole(GPU_MILLI)?);
        let gpu = gpu.ok_or_else(|| cells.refused(GPUS, "is too large"))?;
        let demand = vec![milli(cells.whole(CPU)?), cells.number(MEMORY)?, milli(gpu)];
        let (created, deleted) = (cells.whole(CREATED)?, cells.whole(DELETED)?);
        cells.text(POD_NAME)?;
        let there = options.at.is_none_or(|at| (created..deleted).contains(&at));
        report.one(if there { "pods" } else { "pods left out: not there at the moment" });
        if there {
            let models = cells.text(GPU_SPEC)?;
            let condition = *position.entry_ref(models).or_insert_with(|| {
                conditions.push(models.to_owned());
                conditions.len() - 1
            });
            tasks.push(Tasks { owner: cells.text(QOS)?.to_owned(), demand, count: 1, condition });
        }
        Ok(())
    })?;
    let meets =
        |model: &String, models: &String| models.is_empty() || models.split('|').any(|one| one == model);
    let servers = nodes.into_iter().map(|(server, model)| {
        let meets = conditions.iter().map(|models| meets(&model, models)).collect();
        Server { meets, ..server }
    });
    let name = format!("Alibaba GPU 2023, {} pods", tasks.len());
    let resources = ["cpu", "memory", "gpu"].map(str::to_owned).to_vec();
    let census = Census { name, resources, servers: servers.collect(), tasks };
    let instance = census.instance(options.grouping, &mut report).map_err(|violation| {
        InstanceError::Invalid { file: format!("{} and {}", options.nodes, options.pods), violation }
    })?;
    Ok((instance, report))
}
