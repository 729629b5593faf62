//! The native half of Python's package `fairplan`: each function is one call of the library, with the interpreter free
//! meanwhile. What people use, its types and its documentation are in `python/fairplan/`.

mod call;
mod commands;
mod count;
mod demands;
mod document;
mod exact;
mod failure;
mod imported;
mod instance;
mod made;
mod mechanism;
mod plans;
mod policy;
mod random;
mod solution;
mod table;

use pyo3::pymodule;

/// That of the command, for the same reason.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// The native half of `fairplan`.
#[pymodule]
mod _native {
    #[pymodule_export]
    use crate::commands::{
        audit, bound, command, compare, defaults, explain, export, place, solve, verify, version,
    };
    #[pymodule_export]
    use crate::demands::{Demands, allocate, karma_fig2, offline, verify_offline, workload};
    #[pymodule_export]
    use crate::document::{Document, report};
    #[pymodule_export]
    use crate::imported::{import_kubernetes, import_kueue, import_slurm, import_yarn};
    #[pymodule_export]
    use crate::instance::Instance;
    #[pymodule_export]
    use crate::made::{drfh_fig1, drfh_fig4, google, population};
    #[pymodule_export]
    use crate::plans::{buy, diff, growth, lose, moves, worth};
    #[pymodule_export]
    use crate::random::{flows, simulate};
    #[pymodule_export]
    use crate::solution::Solution;
    #[pymodule_export]
    use crate::table::Table;
}
