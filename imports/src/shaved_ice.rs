//! Shaved Ice: the hourly demand for virtual machines of Snowflake becomes demands over time, one user a region and type of
//! machine (Snowflake, "Shaved Ice: Optimal Compute Resource Commitments for Dynamic Multi-Cloud Workloads", ICPE 2025).

use super::files::some;
use super::helios::series;
use super::seconds::milliseconds;
use fairplan_instances::files::open_table;
use fairplan_instances::files::rows::for_each_row;
use fairplan_instances::files::{decimal, whole_number};
use fairplan_instances::{DemandSeries, DemandSeriesBuilder, InstanceError, Violation};
use std::collections::BTreeMap;

/// The columns that are read.
const COLUMNS: [&str; 4] = ["USAGE_HOUR", "REGION_NUM", "INSTANCE_TYPE", "NORM_USAGE"];

/// Milliseconds of an hour.
const HOUR: u64 = 3_600_000;

/// Reads demands, in thousandths of the largest of a region: users are `r1_A` for type A in region 1, in order.
///
/// # Errors
/// A file without one of the columns, an hour that is none, a usage that is no whole number, two of one hour, region and type.
pub fn shaved_ice(path: &str) -> Result<DemandSeries, InstanceError> {
    let invalid = |violation| InstanceError::Invalid { file: path.to_owned(), violation };
    let mut rows = open_table(path)?;
    let table = rows.table().clone();
    let mut columns = [0; COLUMNS.len()];
    for (column, name) in columns.iter_mut().zip(COLUMNS) {
        let found = table.header.iter().position(|other| other == name);
        let missing = || Violation::new(format!("{}, column {name}", table.header_place), "", "is missing");
        *column = found.ok_or_else(missing).map_err(invalid)?;
    }
    // By user, then by hour.
    let mut usage: BTreeMap<String, BTreeMap<String, u64>> = BTreeMap::new();
    for_each_row(rows.as_mut(), &[], |row| {
        let mut read = || {
            let [hour, region, kind] = [0, 1, 2].map(|at| table.text(row, columns[at]));
            let (hour, user) = (hour?, format!("r{}_{}", region?, kind?));
            if milliseconds(hour).is_none_or(|time| !time.is_multiple_of(HOUR)) {
                let problem = "must be an hour like 2021-02-01 00:00:00.000";
                return Err(Violation::new(table.place_in(row, COLUMNS[0]), hour, problem));
            }
            let place = || table.place_in(row, COLUMNS[3]);
            let wanted = whole_number(decimal(row.cell(columns[3]), place)?, place)?;
            match usage.entry(user).or_default().insert(hour.to_owned(), wanted) {
                None => Ok(()),
                Some(_) => {
                    let problem = "stands there twice for this region and type";
                    Err(Violation::new(table.place_in(row, COLUMNS[0]), hour, problem))
                }
            }
        };
        read().map_err(invalid)
    })?;
    some(path, "demands", usage.len())?;
    let mut builder = DemandSeriesBuilder::default();
    let mut demands: BTreeMap<String, Vec<(usize, u64)>> = BTreeMap::new();
    for (user, hours) in usage {
        let user = builder.user(&user).map_err(invalid)?;
        hours.into_iter().for_each(|(hour, wanted)| demands.entry(hour).or_default().push((user, wanted)));
    }
    series(builder, demands).map_err(invalid)
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEADER: &str = "USAGE_HOUR,REGION_NUM,INSTANCE_TYPE,NORM_USAGE\n";

    fn read(rows: &str) -> Result<DemandSeries, String> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("hourly.csv");
        std::fs::write(&path, rows).unwrap();
        shaved_ice(path.to_str().unwrap()).map_err(|error| error.to_string())
    }

    #[test]
    fn hours_are_quanta_whatever_the_order_within_them_and_rows_left_out_are_no_demand() {
        let rows =
            "2021-02-01 00:00:00.000,2,A,172\n2021-02-01 00:00:00.000,1,B,8\n2021-02-01 01:00:00.000,1,B,9\n";
        let series = read(&format!("{HEADER}{rows}")).unwrap();
        assert_eq!((series.user_id(0), series.user_id(1)), ("r1_B", "r2_A"));
        assert_eq!((series.quantum_count(), series.totals()), (2, vec![17, 172]));
        assert_eq!(series.label(1).to_string(), "2021-02-01 01:00:00.000");
    }

    #[test]
    fn what_cannot_be_meant_is_refused_with_its_place() {
        let row = "2021-02-01 00:00:00.000,2,A,172\n";
        for (rows, told) in [
            (
                format!("{HEADER}{row}{row}"),
                "line 3, column USAGE_HOUR = 2021-02-01 00:00:00.000: stands there twice",
            ),
            (
                format!("{HEADER}{}", row.replace("2021-02-01 00:00:00.000", "x")),
                "line 2, column USAGE_HOUR = x: must be an hour like",
            ),
            (format!("{HEADER}{}", row.replace(":00.000", ":01.000")), "column USAGE_HOUR = "),
            (HEADER.to_owned(), "hourly.csv: there are no demands"),
            (format!("{HEADER}{}", row.replace("172", "-1")), "column NORM_USAGE = -1: must be >= 0"),
            (format!("USAGE_HOUR,REGION_NUM\n{row}"), "INSTANCE_TYPE: is missing"),
        ] {
            let text = read(&rows).err().unwrap();
            assert!(text.contains(told), "{text}");
        }
    }
}
