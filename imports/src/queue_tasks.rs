//! How large the tasks of a queue are, which states none: a part of the servers that have what it asks for, small enough
//! that nearly every one of them holds some and that limits come out as whole tasks.

use super::census::Server;
use fairplan_instances::{Decimal, Violation};

/// Nine of ten servers hold at least so many tasks, one after the other.
const TASKS_OF_A_SERVER: f64 = 10.0;

/// A limit holds at least so many tasks: what is lost by rounding it down is less than 1%.
const TASKS_OF_A_LIMIT: f64 = 100.0;

/// A task is no more than this part of the servers, and no less than that.
const PARTS: [u64; 2] = [1000, 1_000_000];

/// The servers that the tasks of some queues are a part of.
///
/// A task asks for what nine of ten servers have, and for what its queue is given an amount of; so on a cluster of which
/// only some servers have GPUs, only queues that are given GPUs ask for them, and the others may use all servers. It asks
/// in the proportions of what the servers that have all of this have together.
pub(super) struct Scope {
    /// What these servers have together; `None` for what a task does not ask for.
    totals: Vec<Option<Total>>,
    /// In so many parts at least a task has to be of them, to fit nine of ten of them.
    parts: f64,
}

/// A task of a queue.
#[derive(Debug, PartialEq)]
pub(super) struct Task {
    pub(super) demand: Vec<Decimal>,
    /// How many of them the queue may have; `None` where nothing limits it.
    pub(super) most: Option<u64>,
}

impl Scope {
    /// The servers for queues that are given amounts of the resources `given`.
    pub(super) fn new(servers: &[Server], resources: usize, given: &[usize]) -> Result<Self, Violation> {
        let has = |server: &Server, r: usize| !server.capacity[r].is_zero();
        let asked: Vec<usize> = (0..resources)
            .filter(|&r| {
                let having = servers.iter().filter(|server| has(server, r)).count();
                having * 10 >= servers.len() * 9 || (having > 0 && given.contains(&r))
            })
            .collect();
        let own: Vec<&Server> =
            servers.iter().filter(|server| asked.iter().all(|&r| has(server, r))).collect();
        let total = |r: usize| asked.contains(&r).then(|| Total::of(&own, r)).transpose();
        let totals: Vec<Option<Total>> = (0..resources).map(total).collect::<Result<_, _>>()?;
        let part = |server: &&Server| {
            let parts = totals.iter().zip(&server.capacity);
            parts
                .filter_map(|(total, capacity)| Some(total.as_ref()?.to_f64() / capacity.to_f64()))
                .fold(0.0, f64::max)
        };
        let mut parts: Vec<f64> = own.iter().map(part).collect();
        parts.sort_by(f64::total_cmp);
        let parts = parts.get((parts.len() * 9).div_ceil(10).saturating_sub(1)).copied().unwrap_or(1.0);
        Ok(Self { totals, parts: parts * TASKS_OF_A_SERVER })
    }

    /// A task of a queue with these limits, and how many of it they allow; `None` where they allow none.
    pub(super) fn task(&self, limits: &[Option<Decimal>]) -> Result<Option<Task>, Violation> {
        let limited =
            || self.totals.iter().zip(limits).filter_map(|(total, limit)| Some((total.as_ref()?, (*limit)?)));
        let mut parts = self.parts;
        for (total, limit) in limited().filter(|(_, limit)| !limit.is_zero()) {
            parts = parts.max(TASKS_OF_A_LIMIT * total.to_f64() / limit.to_f64());
        }
        let parts = round_parts(parts);
        let most = limited().map(|(total, limit)| total.parts_in(limit, parts)).min().unwrap_or(parts);
        if most == 0 {
            return Ok(None);
        }
        let demand =
            |total: &Option<Total>| total.as_ref().map_or(Ok(Decimal::ZERO), |total| total.part(parts));
        let demand = self.totals.iter().map(demand).collect::<Result<_, _>>()?;
        Ok(Some(Task { demand, most: (most < parts).then_some(most) }))
    }
}

/// The next of 1000, 2000, 5000, 10,000, … up to a million: amounts divided by these stay short.
fn round_parts(least: f64) -> u64 {
    let mut parts = PARTS[0];
    while (parts as f64) < least && parts < PARTS[1] {
        // 1, 2, 5, 10: the second step of three is the larger one.
        parts = if parts.to_string().starts_with('2') { parts / 2 * 5 } else { parts * 2 };
    }
    parts
}

/// What some servers have of a resource together, in units of a power of ten.
struct Total {
    units: u128,
    exponent: i8,
}

impl Total {
    fn of(servers: &[&Server], r: usize) -> Result<Self, Violation> {
        let exponent = servers.iter().map(|server| server.capacity[r].exponent()).min().unwrap_or(0).min(0);
        let sum = servers
            .iter()
            .try_fold(0u128, |sum, server| sum.checked_add(server.capacity[r].scaled(exponent)?))
            .filter(|sum| *sum < u128::MAX / 10_000_000);
        sum.map(|units| Self { units, exponent })
            .ok_or_else(|| Violation::new("capacity", "", "is too large to add up"))
    }

    fn to_f64(&self) -> f64 {
        self.units as f64 * 10f64.powi(self.exponent.into())
    }

    /// One of `parts` of it, which is 1, 2 or 5 times a power of ten; to eighteen digits.
    fn part(&self, parts: u64) -> Result<Decimal, Violation> {
        let (mut units, mut parts, mut exponent) = (self.units, parts, i32::from(self.exponent));
        while parts > 1 {
            units *= u128::from(10 / if parts % 10 == 0 { 10 } else { parts });
            parts /= if parts % 10 == 0 { 10 } else { parts };
            exponent -= 1;
        }
        while units >= 10u128.pow(18) {
            (units, exponent) = (units / 10, exponent + 1);
        }
        Decimal::from_units(units, exponent)
            .map_err(|error| Violation::new("a task of a queue", "", error.to_string()))
    }

    /// How many whole ones of its `parts` are in `limit`.
    fn parts_in(&self, limit: Decimal, parts: u64) -> u64 {
        let exponent = limit.exponent().min(self.exponent);
        let ratio = || {
            let total =
                self.units.checked_mul(10u128.checked_pow(u32::from(self.exponent.abs_diff(exponent)))?)?;
            limit.scaled(exponent)?.checked_mul(u128::from(parts))?.checked_div(total)
        };
        ratio().and_then(|count| u64::try_from(count).ok()).unwrap_or(u64::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decimal(text: &str) -> Decimal {
        text.parse().unwrap()
    }

    /// So many servers of so many cores, so much memory and so many GPUs.
    fn servers(kinds: &[(usize, [&str; 3])]) -> Vec<Server> {
        let servers =
            kinds.iter().flat_map(|(count, has)| std::iter::repeat_n(has.map(decimal).to_vec(), *count));
        servers.map(|capacity| Server { capacity, ..Server::default() }).collect()
    }

    fn task(
        kinds: &[(usize, [&str; 3])],
        given: &[usize],
        limits: [Option<&str>; 3],
    ) -> Option<(Vec<String>, Option<u64>)> {
        let scope = Scope::new(&servers(kinds), 3, given).unwrap();
        let limits: Vec<Option<Decimal>> = limits.iter().map(|limit| limit.map(decimal)).collect();
        let task = scope.task(&limits).unwrap()?;
        Some((task.demand.iter().map(Decimal::to_string).collect(), task.most))
    }

    fn shown(demand: [&str; 3], most: Option<u64>) -> Option<(Vec<String>, Option<u64>)> {
        Some((demand.map(str::to_owned).into(), most))
    }

    #[test]
    fn a_task_is_a_thousandth_of_few_servers_and_less_where_there_are_many() {
        let few = [(4, ["16", "64", "0"])];
        assert_eq!(task(&few, &[], [None; 3]), shown(["0.064", "0.256", "0"], None));
        // A thousand servers hold ten each in parts of ten thousand.
        let many = [(1000, ["16", "64", "0"])];
        assert_eq!(task(&many, &[], [None; 3]), shown(["1.6", "6.4", "0"], None));
    }

    #[test]
    fn large_servers_do_not_make_tasks_that_the_small_ones_cannot_hold() {
        // Two servers have nearly everything: what they have on average would fit on no other.
        let kinds = [(2, ["10000", "10000", "0"]), (98, ["2", "2", "0"])];
        let (demand, _) = task(&kinds, &[], [None; 3]).unwrap();
        assert!(demand[0].parse::<f64>().unwrap() <= 0.2, "{demand:?}");
    }

    #[test]
    fn small_limits_come_out_as_whole_tasks() {
        let kinds = [(1000, ["100", "400", "0"])];
        for (limit, most) in [("200", 100), ("100", 100), ("20", 100), ("1", 10), ("0.1", 1)] {
            let (demand, found) = task(&kinds, &[], [Some(limit), None, None]).unwrap();
            assert_eq!(found, Some(most), "{limit}");
            let reached = demand[0].parse::<f64>().unwrap() * most as f64;
            assert!((reached / limit.parse::<f64>().unwrap() - 1.0).abs() < 1e-9, "{limit}: {reached}");
        }
        assert_eq!(task(&kinds, &[], [Some("0"), None, None]), None);
        assert_eq!(task(&kinds, &[], [Some("0.05"), None, None]), None);
        // More than there is, is no limit.
        assert_eq!(task(&kinds, &[], [Some("100000"), None, None]).unwrap().1, None);
    }

    #[test]
    fn only_queues_that_are_given_gpus_ask_for_them_where_few_servers_have_some() {
        let kinds = [(80, ["16", "64", "0"]), (20, ["32", "256", "8"])];
        let (plain, _) = task(&kinds, &[0], [None, None, Some("0")]).unwrap();
        assert_eq!(plain, ["0.96", "5.12", "0"]);
        let (with, most) = task(&kinds, &[2], [None, None, Some("16")]).unwrap();
        assert_eq!((with, most), (["0.64", "5.12", "0.16"].map(str::to_owned).into(), Some(100)));
        // Where all have some, all ask for them.
        let all = [(20, ["32", "256", "8"])];
        assert_eq!(task(&all, &[], [None; 3]), shown(["0.64", "5.12", "0.16"], None));
    }

    #[test]
    fn parts_are_rounded_up_to_short_numbers() {
        let rounded = [1.0, 1000.0, 1001.0, 2001.0, 5001.0, 20_001.0, 1e9].map(round_parts);
        assert_eq!(rounded, [1000, 1000, 2000, 5000, 10_000, 50_000, 1_000_000]);
        let total = Total { units: 7, exponent: 0 };
        let part = |parts| total.part(parts).unwrap().to_string();
        assert_eq!([part(1000), part(2000), part(5000)], ["0.007", "0.0035", "0.0014"]);
    }
}
