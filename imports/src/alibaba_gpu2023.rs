//! Alibaba's GPU trace of 2023 (cluster-trace-gpu-v2023): a table of nodes and a table of pods.
//!
//! Source: Q. Weng et al., "Beware of Fragmentation: Scheduling GPU-Sharing Workloads with Fragmentation Gradient Descent",
//! USENIX ATC 2023, and the format's description beside the published files.

use super::alibaba_tables::known;
use super::columns::{Cells, for_each_row_of};
use super::files::some;
use fairplan_instances::trace::{DraftTasks, MICROSECONDS, SortedTrace, TraceDraft};
use fairplan_instances::{Decimal, InstanceError, ServerClass, Violation};

pub(super) const NODE: [&str; 5] = ["sn", "cpu_milli", "memory_mib", "gpu", "model"];

/// Of these the lists of pods that were drawn from the default one have the first [`POD_NEEDED`] only.
pub(super) const POD: [&str; 10] = [
    "name",
    "cpu_milli",
    "memory_mib",
    "num_gpu",
    "gpu_milli",
    "gpu_spec",
    "qos",
    "creation_time",
    "deletion_time",
    "scheduled_time",
];
pub(super) const POD_NEEDED: usize = 5;
pub(super) const POD_NAME: usize = 0;
pub(super) const CPU: usize = 1;
pub(super) const MEMORY: usize = 2;
const GPUS: usize = 3;
const GPU_MILLI: usize = 4;
pub(super) const GPU_SPEC: usize = 5;
const QOS: usize = 6;
pub(super) const CREATED: usize = 7;
pub(super) const DELETED: usize = 8;
const SCHEDULED: usize = 9;

/// Position of GPUs among the resources, and the thousandths of one.
const GPU: usize = 2;
const WHOLE: u64 = 1000;

/// The nodes and pods as a trace over the resources `cpu` (cores), `memory` (MiB) and `gpu` (GPUs).
///
/// Nodes of one model and size are a server class. A pod is a job of one task: submitted when it was created, it runs for as
/// long as from `scheduled_time` to `deletion_time`, on `num_gpu` times `gpu_milli` thousandths of a GPU. The files name no
/// tenants; users are the classes of service (`qos`). With `devices` each GPU of a node is a device: a part of a GPU is of one GPU, and
/// pods that ask for parts of several are left out. Which models a pod allows (`gpu_spec`) is not modelled. Pods that were never scheduled
/// are left out. All of it is counted in the header.
///
/// # Errors
/// A file that cannot be read, a missing column, a cell that is no number (file, line, column and value are named).
pub fn alibaba_gpu2023(nodes: &str, pods: &str, devices: bool) -> Result<SortedTrace, InstanceError> {
    let source = "Alibaba cluster-trace-gpu-v2023 (Q. Weng et al., 2023)";
    let mut draft = TraceDraft::new("Alibaba GPU 2023", source, &["cpu", "memory", "gpu"]);
    let mut classes: Vec<ServerClass> = Vec::new();
    for_each_row_of(nodes, &NODE, NODE.len(), known, |cells| {
        let [cpu, memory, gpu] = [milli(cells.whole(1)?), cells.number(2)?, cells.number(3)?];
        let model = cells.text(4)?;
        let dash = if model.is_empty() { "" } else { "-" };
        let id = format!("{model}{dash}cpu{cpu}-mem{memory}-gpu{gpu}");
        match classes.iter_mut().find(|class| class.id == id) {
            Some(class) => class.count += 1,
            None => classes.push(ServerClass::new(id, 1, vec![cpu, memory, gpu])),
        }
        Ok(())
    })?;
    some(nodes, "nodes", classes.len())?;
    draft.classes(classes);
    if devices {
        draft.device(GPU, Decimal::ONE);
    }
    let [mut count, mut pending, mut no_time, mut nothing, mut models, mut parts] = [0u64; 6];
    for_each_row_of(pods, &POD, POD.len(), without_times, |cells| {
        count += 1;
        let gpu = thousandths_of_gpus(&cells)?;
        let is_of_several = devices && gpu > WHOLE && !gpu.is_multiple_of(WHOLE);
        let demand = [milli(cells.whole(CPU)?), cells.number(MEMORY)?, milli(gpu)];
        let (created, deleted) = (cells.whole(CREATED)?, cells.whole(DELETED)?);
        models += u64::from(!cells.text(GPU_SPEC)?.is_empty());
        if cells.text(SCHEDULED)?.is_empty() {
            pending += 1;
            return Ok(());
        }
        let scheduled = cells.whole(SCHEDULED)?;
        let at = |violation: Violation| Violation { place: cells.place(), ..violation };
        let seconds = deleted.saturating_sub(scheduled);
        if demand.iter().all(|amount| amount.is_zero()) {
            nothing += 1;
        } else if is_of_several {
            parts += 1;
        } else if seconds == 0 {
            no_time += 1;
        } else {
            let time =
                created.checked_mul(MICROSECONDS).ok_or_else(|| cells.refused(CREATED, "is too large"))?;
            let duration =
                seconds.checked_mul(MICROSECONDS).ok_or_else(|| cells.refused(DELETED, "is too large"))?;
            let user = draft.user(service(&cells)?).map_err(at)?;
            let job = draft.new_job(cells.text(POD_NAME)?).map_err(at)?;
            let demand = draft.shape(&demand);
            draft.submit(DraftTasks { time, duration, user, job, demand, count: 1, rules: None });
        }
        Ok(())
    })?;
    some(pods, "pods", count as usize)?;
    for (what, count) in [
        ("pods", count),
        ("pods left out: never scheduled", pending),
        ("pods left out: deleted when they were scheduled, or before", no_time),
        ("pods left out: they ask for nothing", nothing),
        ("pods left out: they ask for more than one GPU, but not for whole ones", parts),
        ("pods that allow certain models of GPU only: here any will do", models),
    ] {
        draft.count(what, count);
    }
    draft.sort(&format!("{nodes} and {pods}"))
}

/// What to say of a table of pods that lacks a column.
fn without_times(header: &[String]) -> Option<String> {
    let has = |column: &&str| header.iter().any(|name| name == *column);
    if POD[..POD_NEEDED].iter().all(has) {
        let problem = "is missing: a trace needs the times of pods, which this list does not state; \
                       `import alibaba-gpu2023` makes an instance of it";
        return Some(problem.to_owned());
    }
    known(header)
}

/// The class of service of a pod; of those that state none, one for all.
pub(super) fn service<'a>(cells: &Cells<'a, 10>) -> Result<&'a str, Violation> {
    let stated = if cells.has(QOS) { cells.text(QOS)? } else { "" };
    Ok(if stated.is_empty() { NO_SERVICE } else { stated })
}

/// The user of pods that state no class of service.
pub(super) const NO_SERVICE: &str = "pods";

/// What a pod asks for in thousandths of a GPU: of so many GPUs so much of each.
pub(super) fn thousandths_of_gpus(cells: &Cells<'_, 10>) -> Result<u64, Violation> {
    let of_each = cells.whole(GPU_MILLI)?;
    if of_each > WHOLE {
        return Err(cells.refused(GPU_MILLI, "is more than 1000, which is one GPU"));
    }
    cells.whole(GPUS)?.checked_mul(of_each).ok_or_else(|| cells.refused(GPUS, "is too large"))
}

/// So many thousandths.
pub(super) fn milli(thousandths: u64) -> Decimal {
    Decimal::new(thousandths, -3).unwrap_or(Decimal::ZERO)
}
