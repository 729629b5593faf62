//! Results as tables: one row a user, a policy, a user's quantum or a class, one column a field, as CSV, Parquet or Arrow.

mod allocation;
mod columns;
mod comparison;
mod csv;
mod entitlements;
mod flows;
mod offline;
mod planning;
mod sheet;
mod simulation;
mod tasks;
mod users;

pub use allocation::{write_allocation, write_allocation_quanta};
pub use comparison::write_comparison;
pub use entitlements::write_entitlements;
pub use flows::write_flows;
pub use offline::{write_offline, write_offline_quanta, write_task_offline};
pub use planning::{write_difference, write_growth, write_losses, write_plan, write_worth};
pub use simulation::{LongFormat, NamedOutcome, write_jobs, write_series};
pub(crate) use simulation::{SampleLine, UserLine};
pub use tasks::{write_task_allocation, write_task_quanta};
pub use users::{write_placement, write_solution};

use crate::output::Sink;
use fairplan_instances::DemandSeries;
use fairplan_instances::files::Columnar;
use sheet::{Cells, Sheet};
use std::io;

/// Writes each user's fair share, as `--fair-shares` reads it.
pub fn write_fair_shares(
    out: &mut Sink,
    format: TableFormat,
    series: &DemandSeries,
    shares: &[u64],
) -> io::Result<()> {
    Sheet(vec![
        ("user", Cells::Words((0..shares.len()).map(|user| series.user_id(user)).collect())),
        ("fair_share", Cells::Counts(shares.to_vec())),
    ])
    .write(out, format)
}

/// The file formats of tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TableFormat {
    /// Comma-separated values with a header. Text cells that a spreadsheet would run as a formula (those that
    /// start with `= + - @`, wide or not, or a tab or the end of a line) get a `'` in front.
    Csv,
    /// Parquet or Arrow.
    Columns(Columnar),
}

/// The number, unless it is none.
fn finite(number: f64) -> io::Result<f64> {
    if number.is_finite() {
        Ok(number)
    } else {
        Err(io::Error::new(io::ErrorKind::InvalidData, "a number of the result is not finite"))
    }
}
