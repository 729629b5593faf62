//! Alibaba's other published tables, known by their columns: who gives one of them to the importer of 2023 is told so.

/// Columns that only this table has, what it is, and what is to be done.
const OTHERS: [(&[&str], &str, &str); 4] = [
    (
        &["gpu_model", "gpu_capacity_num", "cpu_num", "node_name"],
        "nodes of the spot GPU trace of 2026, which state no memory",
        "write them as sn,cpu_milli,memory_mib,gpu,model with a memory of your choice",
    ),
    (
        &["job_name", "organization", "worker_num", "job_type"],
        "jobs of the spot GPU trace of 2026, which state no memory",
        "write their workers as name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos with a memory of your choice",
    ),
    (
        &["instance_sn", "app_name", "rdma_request"],
        "instances of the GPU trace of 2025, which names no nodes",
        "write them as name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos with app_name as qos",
    ),
    (
        &["plan_cpu", "plan_mem", "plan_gpu"],
        "tasks of the GPU trace of 2020",
        "write them as name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec (plan_cpu and plan_gpu are hundredths)",
    ),
];

/// What a table with this header is, if it is none of 2023 and known.
pub(super) fn known(header: &[String]) -> Option<String> {
    let has = |column: &&str| header.iter().any(|name| name == *column);
    let other = OTHERS.iter().find(|(columns, ..)| columns.iter().all(&has));
    if let Some((_, what, remedy)) = other {
        return Some(format!("is missing: these are {what}; {remedy}"));
    }
    // The tables of 2020 have their columns in files of their own.
    let is_row = header.iter().any(|name| name.parse::<f64>().is_ok());
    is_row.then(|| {
        "is missing: the first line is a row, no header (as in the GPU trace of 2020); \
         write the columns needed above rows of that order"
            .to_owned()
    })
}
