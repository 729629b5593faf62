//! Helios: sequences of virtual clusters become demands over time, one user a cluster (Hu et al., "Characterization and
//! Prediction of Deep Learning Workloads in Large-Scale GPU Datacenters", SC 2021).
//!
//! A user's demand is its running and pending GPUs, and its fair share its quota, the largest it has in the time read.

use super::files::some;
use super::seconds::date_and_time;
use fairplan_instances::files::open_table;
use fairplan_instances::files::rows::for_each_row;
use fairplan_instances::wording::counted;
use fairplan_instances::{DemandSeries, DemandSeriesBuilder, InstanceError, QuantumLabel, Violation};
use std::collections::BTreeMap;
use std::path::Path;

/// The columns that are read.
const COLUMNS: [&str; 4] = ["time", "total_gpu_num", "running_gpu_num", "pending_gpu_num"];

/// What to read.
#[derive(Clone, Debug)]
pub struct HeliosOptions {
    /// Files `NAME.cluster_sequence_vc.csv`, gzipped or not, one a virtual cluster.
    pub sequences: Vec<String>,
    /// Take one minute of so many as a quantum, from the first of all on: rows are a minute apart.
    pub every: u64,
}

/// What is read.
pub struct HeliosDemands {
    /// Running and pending GPUs of each virtual cluster.
    pub series: DemandSeries,
    /// The quota of each, at least 1.
    pub quotas: Vec<u64>,
    /// Times of others at which a virtual cluster has no row, in all: it demands nothing then.
    pub missing: u64,
}

impl HeliosDemands {
    /// What is said of missing rows, if there are any.
    pub fn note(&self) -> Option<String> {
        let rows = counted(self.missing, "row", "rows");
        let told = || format!("{rows} missing of clusters whose others have one: nothing is demanded then");
        (self.missing > 0).then(told)
    }
}

/// A row.
struct Row {
    second: u64,
    time: String,
    user: usize,
    quota: u64,
    wanted: u64,
}

/// Reads demands, and each user's quota as its fair share, at least 1.
///
/// # Errors
/// A file without one of the columns, a number that is none, a time twice or out of order, the same cluster twice.
pub fn helios(options: &HeliosOptions) -> Result<HeliosDemands, InstanceError> {
    let mut builder = DemandSeriesBuilder::default();
    let mut read_rows: Vec<Row> = Vec::new();
    for path in &options.sequences {
        let invalid = |violation| InstanceError::Invalid { file: path.clone(), violation };
        let name = Path::new(path).file_name().map(|name| name.to_string_lossy()).unwrap_or_default();
        let user = builder.user(name.split('.').next().unwrap_or_default()).map_err(invalid)?;
        let mut last = String::new();
        let mut position: usize = 0;
        let mut rows = open_table(path)?;
        let table = rows.table().clone();
        let mut columns = [0; COLUMNS.len()];
        for (column, name) in columns.iter_mut().zip(COLUMNS) {
            let found = table.header.iter().position(|other| other == name);
            let missing =
                || Violation::new(format!("{}, column {name}", table.header_place), "", "is missing");
            *column = found.ok_or_else(missing).map_err(invalid)?;
        }
        for_each_row(rows.as_mut(), &[], |row| {
            let mut read = || {
                let time = table.text(row, columns[0])?;
                let problem = "must be a date and time as in 2020-05-01 00:00:00";
                let second = date_and_time(time)
                    .ok_or_else(|| Violation::new(table.place_in(row, "time"), time, problem))?;
                if *time <= *last {
                    let problem = format!("must come after {last:?}");
                    return Err(Violation::new(table.place_in(row, "time"), time, problem));
                }
                last = time.to_owned();
                position += 1;
                let whole = |column: usize| {
                    let place = || table.place_in(row, &table.header[column]);
                    fairplan_instances::files::whole_number(
                        fairplan_instances::files::decimal(row.cell(column), place)?,
                        place,
                    )
                };
                let quota = whole(columns[1])?;
                let wanted = whole(columns[2])?.saturating_add(whole(columns[3])?);
                read_rows.push(Row { second, time: last.clone(), user, quota, wanted });
                Ok(())
            };
            read().map_err(invalid)
        })?;
        some(path, "rows", position)?;
    }
    let first = read_rows.iter().map(|row| row.second).min().unwrap_or(0);
    let is_quantum = |row: &Row| ((row.second - first) / 60).is_multiple_of(options.every.max(1));
    read_rows.retain(is_quantum);
    let mut quotas = vec![1; options.sequences.len()];
    let mut demands: BTreeMap<String, Vec<(usize, u64)>> = BTreeMap::new();
    let rows = read_rows.len() as u64;
    for Row { time, user, quota, wanted, .. } in read_rows {
        quotas[user] = quota.max(quotas[user]);
        demands.entry(time).or_default().push((user, wanted));
    }
    let missing = (demands.len() as u64 * quotas.len() as u64).saturating_sub(rows);
    let file = options.sequences.first().cloned().unwrap_or_default();
    let series = series(builder, demands);
    let series = series.map_err(|violation| InstanceError::Invalid { file, violation })?;
    Ok(HeliosDemands { series, quotas, missing })
}

/// Demands by time, in order.
pub(super) fn series(
    mut builder: DemandSeriesBuilder,
    demands: BTreeMap<String, Vec<(usize, u64)>>,
) -> Result<DemandSeries, Violation> {
    for (time, demands) in demands {
        builder.quantum(QuantumLabel::Text(&time))?;
        demands.into_iter().try_for_each(|(user, wanted)| builder.demand(user, wanted))?;
    }
    builder.build()
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEADER: &str = "time,total_job_num,total_gpu_num,running_gpu_num,pending_gpu_num,idle_gpu_num\n";

    fn read(files: &[(&str, &str)], every: u64) -> Result<(DemandSeries, Vec<u64>), String> {
        let folder = tempfile::tempdir().unwrap();
        let write = |(name, rows): &(&str, &str)| {
            let path = folder.path().join(format!("{name}.cluster_sequence_vc.csv"));
            std::fs::write(&path, rows).unwrap();
            path.to_str().unwrap().to_owned()
        };
        let sequences = files.iter().map(write).collect();
        let read = helios(&HeliosOptions { sequences, every }).map_err(|error| error.to_string())?;
        Ok((read.series, read.quotas))
    }

    #[test]
    fn running_and_pending_gpus_are_demand_and_the_largest_quota_the_fair_share() {
        let a = format!("{HEADER}2020-05-01 00:00:00,7,8,5,2,3\n2020-05-01 00:01:00,7,16,1,0,15\n");
        let b = format!("{HEADER}2020-05-01 00:00:00,7,0,0,0,0\n2020-05-01 00:02:00,7,0,3,4,0\n");
        let (series, quotas) = read(&[("a", &a), ("b", &b)], 1).unwrap();
        assert_eq!((series.totals(), quotas), (vec![8, 7], vec![16, 1]));
        assert_eq!((series.quantum_count(), series.user_id(1)), (3, "b"));
        let (series, quotas) = read(&[("a", &a), ("b", &b)], 2).unwrap();
        assert_eq!((series.totals(), quotas, series.quantum_count()), (vec![7, 7], vec![8, 1], 2));
    }

    #[test]
    fn a_minute_without_a_row_moves_no_other_and_is_counted() {
        let rows = |minutes: &[u32]| {
            let row = |minute: &u32| format!("2020-05-01 00:0{minute}:00,7,8,8,0,0\n");
            minutes.iter().fold(HEADER.to_owned(), |text, minute| text + &row(minute))
        };
        let folder = tempfile::tempdir().unwrap();
        let files = [("a", rows(&[0, 1, 2, 3, 4])), ("b", rows(&[0, 2, 3, 4]))];
        let sequences = files.map(|(name, text)| {
            let path = folder.path().join(format!("{name}.csv"));
            std::fs::write(&path, text).unwrap();
            path.to_str().unwrap().to_owned()
        });
        let read = |every| helios(&HeliosOptions { sequences: sequences.to_vec(), every }).unwrap();
        let HeliosDemands { series, missing, .. } = read(2);
        assert_eq!((series.totals(), series.quantum_count(), missing), (vec![24, 24], 3, 0));
        let HeliosDemands { series, missing, .. } = read(1);
        assert_eq!((series.totals(), series.quantum_count(), missing), (vec![40, 32], 5, 1));
    }

    #[test]
    fn files_that_are_no_sequences_are_refused_with_their_place() {
        let good = format!("{HEADER}2020-05-01 00:00:00,7,8,5,2,3\n");
        for (rows, told) in [
            (good.replace("pending_gpu_num", "x"), "column pending_gpu_num: is missing"),
            (good.replace(",5,2,", ",5,-2,"), "line 2, column pending_gpu_num = -2: must be >= 0"),
            (good.replace(",5,2,", ",5,,"), "line 2, column pending_gpu_num"),
            (
                format!("{good}2020-05-01 00:00:00,7,8,5,2,3\n"),
                "line 3, column time = 2020-05-01 00:00:00: must come after",
            ),
            (HEADER.to_owned(), "there are no rows"),
            (good.replace("2020-05-01 00:00:00", "x"), "line 2, column time = x: must be a date and time"),
        ] {
            let text = read(&[("a", &rows)], 1).err().unwrap();
            assert!(text.contains(told), "{text}");
        }
        let text = read(&[("a", &good), ("a", &good)], 1).err().unwrap();
        assert!(text.contains("duplicate id"), "{text}");
    }
}
