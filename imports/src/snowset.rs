//! Snowset: queries of Snowflake's warehouses become demands over time, one user a warehouse (Vuppalapati et al.,
//! "Building An Elastic Query Engine on Disaggregated Storage", NSDI 2020).
//!
//! A query holds its servers, or its memory, from `createdTime` until `endTime`. A user's demand in a quantum is the mean
//! over the quantum of what its queries hold, rounded up to whole slices. Rows are read one by one, in any order; only
//! the sums are kept.

use super::files::some;
use super::helios::series;
use super::seconds::milliseconds;
use fairplan_instances::files::open_table;
use fairplan_instances::files::rows::{Row, Table, for_each_row};
use fairplan_instances::{DemandSeries, DemandSeriesBuilder, InstanceError, Random, Violation};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// The stream of the seed that warehouses are drawn from.
const WAREHOUSE_STREAM: u64 = 1;

/// Most quanta from the first to the last that is read: two years of minutes.
const MOST_QUANTA: u64 = 1 << 20;

/// Most demands of warehouses in quanta, unless there are [`MOST_OF_A_QUERY`] times fewer than queries.
const MOST_DEMANDS: u64 = 1 << 22;

/// Quanta that queries last on average, at most, where there are many demands.
const MOST_OF_A_QUERY: u64 = 1 << 7;

/// What a missing cell says.
const MISSING: &[u8] = b"\\N";

/// What to do about too many quanta.
const TELL: &str = "choose a longer quantum, or less time (--quantum, --from, --until)";

/// What a query holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SnowsetDemand {
    /// Its servers; a slice is one of them.
    Servers,
    /// Its memory; a slice has so many bytes.
    Memory {
        /// Bytes, at least 1.
        slice: u64,
    },
    /// The same for every query, in each quantum that it touches, however briefly.
    Queries {
        /// Slices, at least 1.
        slices: u64,
    },
}

/// Some of all warehouses of a table: all choices are equally likely.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WarehouseSample {
    /// How many; all where there are no more.
    pub warehouses: usize,
    /// Seed of the choice.
    pub seed: u64,
}

/// What to read.
#[derive(Clone, Debug)]
pub struct SnowsetOptions {
    /// `snowset-main.csv`, gzipped or not, with its header.
    pub queries: String,
    /// What a query holds.
    pub demand: SnowsetDemand,
    /// Seconds of a quantum, at least 1. Quanta begin at whole multiples since 1970.
    pub quantum: u64,
    /// Only what is held from this time on, `2018-02-21 00:00:00` in UTC.
    pub from: Option<String>,
    /// Only what is held before this time.
    pub until: Option<String>,
    /// Only these warehouses, which are then users even if they hold nothing in that time; the table is read twice. Without it
    /// all that hold something.
    pub sample: Option<WarehouseSample>,
}

/// What was read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SnowsetReport {
    /// Rows of the table.
    pub rows: u64,
    /// Rows left out: no warehouse, no time or nothing held is stated.
    pub incomplete: u64,
}

/// Reads the demands of all warehouses that hold anything in the time asked for, in the order of their ids.
///
/// # Errors
/// A missing column, a time or a number that is none, an end before its beginning, no query in the time asked for.
pub fn snowset(options: &SnowsetOptions) -> Result<(DemandSeries, SnowsetReport), InstanceError> {
    let invalid = |violation| InstanceError::Invalid { file: options.queries.clone(), violation };
    let bound = |name: &str, text: &Option<String>| match text {
        None => Ok(None),
        Some(text) => milliseconds(text).map(Some).ok_or_else(|| {
            invalid(Violation::new(name, text, "must be a time like 2018-02-21 00:00:00, in UTC"))
        }),
    };
    let (from, until) = (bound("from", &options.from)?, bound("until", &options.until)?);
    let mut held: HashMap<u64, HashMap<u64, u128>> = match options.sample {
        Some(sample) => {
            drawn(options, sample)?.into_iter().map(|warehouse| (warehouse, HashMap::new())).collect()
        }
        None => HashMap::new(),
    };
    let mut rows = open_table(&options.queries)?;
    let table = rows.table().clone();
    let columns = Columns::of(&table, options.demand).map_err(invalid)?;
    let mut report = SnowsetReport::default();
    let quantum = options.quantum.max(1).saturating_mul(1000);
    let (mut first, mut last, mut demands) = (u64::MAX, 0, 0u64);
    for_each_row(rows.as_mut(), &[], |row| {
        report.rows += 1;
        let Some(query) = columns.query(&table, row).map_err(invalid)? else {
            report.incomplete += 1;
            return Ok(());
        };
        let begin = query.begin.max(from.unwrap_or(0));
        let end = query.end.min(until.unwrap_or(u64::MAX));
        let is_asked_for = options.sample.is_none() || held.contains_key(&query.warehouse);
        if begin < end && query.amount > 0 && is_asked_for {
            let quanta = begin / quantum..end.div_ceil(quantum);
            first = first.min(quanta.start);
            last = last.max(quanta.end);
            demands = demands.saturating_add(quanta.end - quanta.start);
            if last - first > MOST_QUANTA {
                let told = format!("{} quanta after the first", last - first);
                let at = table.place_in(row, "endTime");
                let problem = format!("at most {MOST_QUANTA} are supported; {TELL}");
                return Err(invalid(Violation::new(at, told, problem)));
            }
            if demands > MOST_DEMANDS.max(report.rows.saturating_mul(MOST_OF_A_QUERY)) {
                let at = table.place_in(row, "endTime");
                let problem = format!("the queries so far last {demands} quanta together; {TELL}");
                return Err(invalid(Violation::new(at, "", problem)));
            }
            let of_user = held.entry(query.warehouse).or_default();
            for position in quanta {
                let within = match options.demand {
                    SnowsetDemand::Queries { .. } => quantum,
                    _ => end.min((position + 1).saturating_mul(quantum)) - begin.max(position * quantum),
                };
                let more = u128::from(query.amount) * u128::from(within);
                let sum = of_user.entry(position).or_insert(0);
                *sum = sum.saturating_add(more);
            }
        }
        Ok(())
    })?;
    let slice = match options.demand {
        SnowsetDemand::Servers | SnowsetDemand::Queries { .. } => 1,
        SnowsetDemand::Memory { slice } => slice,
    };
    some(&options.queries, "queries", report.rows as usize)?;
    let whole = u128::from(quantum) * u128::from(slice.max(1));
    let mut warehouses: Vec<(u64, HashMap<u64, u128>)> = held.into_iter().collect();
    warehouses.sort_by_key(|(warehouse, _)| *warehouse);
    let mut builder = DemandSeriesBuilder::default();
    let mut demands: BTreeMap<u64, Vec<(usize, u64)>> = BTreeMap::new();
    for (warehouse, quanta) in warehouses {
        let user = builder.user(&warehouse.to_string()).map_err(invalid)?;
        for (position, held) in quanta {
            let slices = u64::try_from(held.div_ceil(whole)).unwrap_or(u64::MAX);
            demands.entry(position).or_default().push((user, slices));
        }
    }
    let range = demands.keys().next().copied().zip(demands.keys().next_back().copied());
    let (first, last) = range.ok_or_else(|| {
        invalid(Violation::new("createdTime", "", "no query holds anything in the time asked for"))
    })?;
    let named = (first..=last).map(|position| {
        let mut demands = demands.remove(&position).unwrap_or_default();
        demands.sort_unstable();
        (time(position * quantum), demands)
    });
    Ok((series(builder, named.collect()).map_err(invalid)?, report))
}

/// Warehouses of the whole table, drawn from the seed among those with a complete query.
fn drawn(options: &SnowsetOptions, sample: WarehouseSample) -> Result<Vec<u64>, InstanceError> {
    let invalid = |violation| InstanceError::Invalid { file: options.queries.clone(), violation };
    let mut rows = open_table(&options.queries)?;
    let table = rows.table().clone();
    let columns = Columns::of(&table, options.demand).map_err(invalid)?;
    let mut all = BTreeSet::new();
    for_each_row(rows.as_mut(), &[], |row| {
        all.extend(columns.query(&table, row).map_err(invalid)?.map(|query| query.warehouse));
        Ok(())
    })?;
    let mut warehouses: Vec<u64> = all.into_iter().collect();
    let mut random = Random::new(sample.seed, WAREHOUSE_STREAM);
    let count = sample.warehouses.min(warehouses.len());
    for position in 0..count {
        let other = position + random.below((warehouses.len() - position) as u64) as usize;
        warehouses.swap(position, other);
    }
    warehouses.truncate(count);
    Ok(warehouses)
}

/// A query as far as it counts.
struct Query {
    warehouse: u64,
    /// Milliseconds since 1970.
    begin: u64,
    end: u64,
    amount: u64,
}

/// Where the columns are that are read.
struct Columns {
    warehouse: usize,
    created: usize,
    end: usize,
    amount: Amount,
}

/// What a query holds: a column, or the same for all.
enum Amount {
    Column(usize),
    Same(u64),
}

impl Columns {
    fn of(table: &Table, demand: SnowsetDemand) -> Result<Self, Violation> {
        let find = |name: &str| {
            let found = table.header.iter().position(|other| other == name);
            found.ok_or_else(|| {
                Violation::new(format!("{}, column {name}", table.header_place), "", "is missing")
            })
        };
        let amount = match demand {
            SnowsetDemand::Servers => Amount::Column(find("serverCount")?),
            SnowsetDemand::Memory { .. } => Amount::Column(find("memoryUsed")?),
            SnowsetDemand::Queries { slices } => Amount::Same(slices),
        };
        Ok(Self {
            warehouse: find("warehouseId")?,
            created: find("createdTime")?,
            end: find("endTime")?,
            amount,
        })
    }

    /// The query of a row, or nothing where something is missing.
    fn query(&self, table: &Table, row: Row<'_>) -> Result<Option<Query>, Violation> {
        let is_missing = |column: usize| matches!(row.cell(column), b"" | MISSING);
        let amount = match self.amount {
            Amount::Column(column) => Some(column),
            Amount::Same(_) => None,
        };
        if [self.warehouse, self.created, self.end].into_iter().chain(amount).any(is_missing) {
            return Ok(None);
        }
        let whole = |column: usize| {
            let place = || table.place_in(row, &table.header[column]);
            fairplan_instances::files::whole_number(
                fairplan_instances::files::decimal(row.cell(column), place)?,
                place,
            )
        };
        let moment = |column: usize| {
            let text = table.text(row, column)?;
            milliseconds(text).ok_or_else(|| {
                let problem = "must be a time like 2018-02-21 12:59:59.713, in UTC";
                Violation::new(table.place_in(row, &table.header[column]), text, problem)
            })
        };
        let (begin, end) = (moment(self.created)?, moment(self.end)?);
        if end < begin {
            let problem = "comes before createdTime";
            return Err(Violation::new(table.place_in(row, "endTime"), table.text(row, self.end)?, problem));
        }
        let amount = match self.amount {
            Amount::Column(column) => whole(column)?,
            Amount::Same(slices) => slices,
        };
        Ok(Some(Query { warehouse: whole(self.warehouse)?, begin, end, amount }))
    }
}

/// Days of a month.
fn days(year: u64, month: u64) -> u64 {
    match month {
        2 if year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400)) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// The time of so many milliseconds since 1970, to the second.
fn time(milliseconds: u64) -> String {
    let (mut day, clock) = (milliseconds / 86_400_000, milliseconds % 86_400_000 / 1000);
    let (mut year, mut month) = (1970, 1);
    while day >= days(year, month) {
        day -= days(year, month);
        (year, month) = if month == 12 { (year + 1, 1) } else { (year, month + 1) };
    }
    let (hour, minute, second) = (clock / 3600, clock / 60 % 60, clock % 60);
    format!("{year:04}-{month:02}-{:02} {hour:02}:{minute:02}:{second:02}", day + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Columns in the published order, as far as they matter; two warehouses.
    const QUERIES: &str = "\
queryId,warehouseId,databaseId,createdTime,endTime,serverCount,memoryUsed
1,77,9,2018-02-21 00:00:10.000+00,2018-02-21 00:01:30.000+00,4,3000
2,5,9,2018-02-21T00:02:00Z,2018-02-21T00:02:30.500Z,2,10
3,77,9,2018-02-21 00:00:40,2018-02-21 00:01:00,3,\\N
4,\\N,9,2018-02-21 00:00:40,2018-02-21 00:01:00,3,7
";

    fn read(
        rows: &str,
        change: impl Fn(&mut SnowsetOptions),
    ) -> Result<(DemandSeries, SnowsetReport), String> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("snowset-main.csv");
        std::fs::write(&path, rows).unwrap();
        let mut options = SnowsetOptions {
            queries: path.to_str().unwrap().to_owned(),
            demand: SnowsetDemand::Servers,
            quantum: 60,
            from: None,
            until: None,
            sample: None,
        };
        change(&mut options);
        snowset(&options).map_err(|error| error.to_string())
    }

    fn rows(series: &DemandSeries) -> Vec<Vec<(u32, u64)>> {
        let row = |quantum| {
            let (users, slices) = series.demands(quantum);
            users.iter().copied().zip(slices.iter().copied()).collect()
        };
        (0..series.quantum_count()).map(row).collect()
    }

    #[test]
    fn demand_is_the_mean_of_what_queries_hold_rounded_up() {
        let (series, report) = read(QUERIES, |_| ()).unwrap();
        assert_eq!(report, SnowsetReport { rows: 4, incomplete: 1 });
        assert_eq!([series.user_id(0), series.user_id(1)], ["5", "77"]);
        assert_eq!(series.label(1).to_string(), "2018-02-21 00:01:00");
        // Of 77, 4 servers for 50 s and 3 for 20 s are 260/60; then 4 for 30 s. Of 5, 2 for 30.5 s.
        assert_eq!(rows(&series), [vec![(1, 5)], vec![(1, 2)], vec![(0, 2)]]);
        let (series, report) =
            read(QUERIES, |options| options.demand = SnowsetDemand::Memory { slice: 1000 }).unwrap();
        assert_eq!((rows(&series), report.incomplete), (vec![vec![(1, 3)], vec![(1, 2)], vec![(0, 1)]], 2));
        let (series, _) = read(QUERIES, |options| {
            options.from = Some("2018-02-21 00:00:30".into());
            options.until = Some("2018-02-21 00:01:00".into());
        })
        .unwrap();
        assert_eq!(rows(&series), [[(0, 3)]]);
    }

    #[test]
    fn queries_that_all_count_alike_count_in_every_quantum_that_they_touch() {
        let (series, report) =
            read(QUERIES, |options| options.demand = SnowsetDemand::Queries { slices: 2 }).unwrap();
        assert_eq!(report.incomplete, 1);
        // Two queries of 77 in the first minute, one of them in the second too, and one of 5 in the third.
        assert_eq!(rows(&series), [vec![(1, 4)], vec![(1, 2)], vec![(0, 2)]]);
    }

    #[test]
    fn drawn_warehouses_are_users_even_if_they_hold_nothing_in_the_time_asked_for() {
        let sampled = |warehouses, seed| {
            read(QUERIES, |options| {
                options.sample = Some(WarehouseSample { warehouses, seed });
                options.until = Some("2018-02-21 00:01:00".into());
            })
        };
        let (both, _) = sampled(9, 0).unwrap();
        assert_eq!((both.user_count(), rows(&both)), (2, vec![vec![(1, 5)]]));
        let found: Vec<usize> =
            (0..20).filter_map(|seed| sampled(1, seed).ok()).map(|(series, _)| series.user_count()).collect();
        // Only 77 holds anything in that minute.
        assert!(found.iter().all(|users| *users == 1) && (1..20).contains(&found.len()), "{found:?}");
    }

    #[test]
    fn times_go_through_leap_years_both_ways() {
        for text in
            ["1970-01-01 00:00:00", "2000-02-29 23:59:59", "2018-12-31 00:00:01", "2100-03-01 12:00:00"]
        {
            assert_eq!(time(milliseconds(text).unwrap()), text);
        }
        assert_eq!(milliseconds("2018-02-21 12:59:59.713"), Some(1_519_217_999_713));
        for text in [
            "",
            "2018-02-29 00:00:00",
            "2018-13-01 00:00:00",
            "2018-02-21",
            "2018-02-21 24:00:00",
            "1969-12-31 23:59:59",
        ] {
            assert_eq!(milliseconds(text), None, "{text}");
        }
    }

    #[test]
    fn what_is_no_query_is_refused_with_its_place() {
        for (from, to, told) in [
            ("warehouseId", "warehouse", "column warehouseId: is missing"),
            (
                "2018-02-21 00:01:30.000+00,4",
                "2018-02-21 00:00:09,4",
                "line 2, column endTime = 2018-02-21 00:00:09: comes before",
            ),
            ("2018-02-21T00:02:00Z", "yesterday", "line 3, column createdTime = yesterday: must be a time"),
            (",4,3000", ",-4,3000", "line 2, column serverCount = -4: must be >= 0"),
        ] {
            assert!(QUERIES.contains(from), "{from}");
            let text = read(&QUERIES.replacen(from, to, 1), |_| ()).err().unwrap();
            assert!(text.contains(told), "{text}");
        }
        // A slip in a year would make billions of quanta of a hundred bytes.
        let year = |text: &str| QUERIES.replace("2018-02-21 00:01:30", text);
        let text = read(&year("9999-12-31 00:00:00"), |_| ()).err().unwrap();
        assert!(
            text.contains("line 2, column endTime = 4198050720 quanta after the first: at most"),
            "{text}"
        );
        assert!(text.contains("choose a longer quantum, or less time"), "{text}");
        let until = |options: &mut SnowsetOptions| options.until = Some("2018-02-22 00:00:00".into());
        assert_eq!(read(&year("9999-12-31 00:00:00"), until).unwrap().0.quantum_count(), 1440);
        let long: String =
            (0..40).map(|k| format!("{k},{k},9,2018-02-21 00:00:00,2019-12-21 00:00:00,4,3\n")).collect();
        let header = QUERIES.lines().next().unwrap();
        let text = read(&format!("{header}\n{long}"), |_| ()).err().unwrap();
        assert!(text.contains("column endTime: the queries so far last 4809600 quanta"), "{text}");
        let text = read(&format!("{header}\n"), |_| ()).err().unwrap();
        assert!(text.contains("there are no queries"), "{text}");
        let text = read(QUERIES, |options| options.from = Some("2019-01-01 00:00:00".into())).err().unwrap();
        assert!(text.contains("no query holds anything"), "{text}");
        let text = read(QUERIES, |options| options.until = Some("soon".into())).err().unwrap();
        assert!(text.contains("until = soon: must be a time"), "{text}");
    }
}
