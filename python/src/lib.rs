//! The native half of Python's package `fairplan`: each function is one call of the library, with the interpreter free
//! meanwhile. What people use, its types and its documentation are in `python/fairplan/`.

mod call;
mod commands;
mod count;
mod demands;
mod document;
mod exact;
mod exported;
mod failure;
mod imported;
mod instance;
mod made;
mod mechanism;
mod plans;
mod policy;
mod published;
mod random;
mod series;
mod solution;
mod table;
mod traces;

use pyo3::pymodule;

/// That of the command, for the same reason.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// The native half of `fairplan`.
#[pymodule]
mod _native {
    #[pymodule_export]
    use crate::commands::{audit, bound, command, compare, defaults, explain, place, solve, verify, version};
    #[pymodule_export]
    use crate::demands::{Demands, allocate, karma_fig2, offline, verify_offline, workload};
    #[pymodule_export]
    use crate::document::{Document, report};
    #[pymodule_export]
    use crate::exported::export;
    #[pymodule_export]
    use crate::imported::{
        import_alibaba_gpu2023, import_azure_v1, import_google_2011, import_kubernetes,
        import_kubernetes_queues, import_kueue, import_slurm, import_yarn,
    };
    #[pymodule_export]
    use crate::instance::{Instance, hand_over};
    #[pymodule_export]
    use crate::made::{
        drfh_fig1, drfh_fig4, google, kubernetes_nodes, kubernetes_pods, mrf_fig1, mrf_fig2, population,
    };
    #[pymodule_export]
    use crate::plans::{buy, diff, diff_of_results, growth, lose, moves, worth};
    #[pymodule_export]
    use crate::published::{entitlements, reproduce, schema};
    #[pymodule_export]
    use crate::random::{flows, simulate};
    #[pymodule_export]
    use crate::series::{import_helios, import_shaved_ice, import_snowset};
    #[pymodule_export]
    use crate::solution::Solution;
    #[pymodule_export]
    use crate::table::Table;
    #[pymodule_export]
    use crate::traces::{
        Trace, import_alibaba_gpu2023_trace, import_azure_v1_trace, import_google_2011_trace,
        import_philly_trace, import_swf_trace, trace_drfh_fig4, trace_random,
    };
}
