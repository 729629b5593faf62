//! How large the tasks of a queue are, which states none: one GPU or one core with its part of everything else, or as much
//! less as it takes to fit every server that has what they ask for; where a limit or a guarantee is less than one, a whole part of that.
//! Where even the smallest server has over a million GPUs or cores, a task is ten, a hundred, … of them.

use super::amounts::rounded_down;
use super::servers::Server;
use super::tolerance::QUOTIENT;
use fairplan_instances::{Decimal, ResourceKind};
use hashbrown::HashMap;

/// Steps of 1, 2, 5, 10, … downwards in which a task may be smaller than one.
const STEPS: usize = 60;

/// So many tasks the smallest server holds at most: more are no tasks that anybody places, though a quota may be of any number.
const MOST_TASKS: f64 = 1e6;

/// So many GPUs for each core are no devices to count tasks in, as where a quota of them is written like one of memory.
const GPUS_FOR_A_CORE: f64 = 100.0;

/// What tasks can ask for at one place, for all queues that ask for the same resources there.
pub(super) struct Scope {
    /// What the servers that have all of it have together; `None` for what a task does not ask for.
    totals: Vec<Option<f64>>,
    /// What each of these servers has at least.
    least: Vec<f64>,
    /// The resource of which a task has `unit`.
    counted: usize,
    /// One, or ten or more where the smallest server has very many; of memory and the like, where tasks ask for nothing else, what it has.
    unit: f64,
}

/// Which resources tasks of a queue ask for.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Asked {
    /// The place, by position.
    pub(super) place: usize,
    /// These, if servers have them; `None`: what nine of ten servers have, and what the queue is given.
    pub(super) only: Option<Vec<usize>>,
    /// What the queue is given.
    pub(super) given: Vec<usize>,
    /// What it may not have.
    pub(super) barred: Vec<usize>,
}

/// The scopes of all queues.
pub(super) struct Scopes<'a> {
    servers: &'a [Server],
    resources: &'a [String],
    known: HashMap<Asked, Option<Scope>>,
}

impl<'a> Scopes<'a> {
    pub(super) fn new(servers: &'a [Server], resources: &'a [String]) -> Self {
        Self { servers, resources, known: HashMap::new() }
    }

    /// What tasks that ask for `asked` can ask for; `None` where no server has it all.
    pub(super) fn of(&mut self, asked: &Asked) -> Option<&Scope> {
        if !self.known.contains_key(asked) {
            let scope = Scope::new(self.servers, self.resources, asked);
            self.known.insert(asked.clone(), scope);
        }
        self.known.get(asked).and_then(Option::as_ref)
    }
}

impl Scope {
    fn new(servers: &[Server], resources: &[String], asked: &Asked) -> Option<Self> {
        let has = |server: &Server, r: usize| !server.capacity[r].is_zero();
        let there: Vec<&Server> = servers.iter().filter(|server| server.meets[asked.place]).collect();
        let asks = |r: &usize| {
            let having = there.iter().filter(|server| has(server, *r)).count();
            let usual = having * 10 >= there.len() * 9;
            let wanted = match &asked.only {
                Some(only) => only.contains(r),
                None => usual || asked.given.contains(r),
            };
            having > 0 && wanted && !asked.barred.contains(r)
        };
        let wanted: Vec<usize> = (0..resources.len()).filter(asks).collect();
        let lets_in = |server: &Server| server.lets_in(|r| wanted.contains(&r));
        let own: Vec<&&Server> =
            there.iter().filter(|server| wanted.iter().all(|&r| has(server, r)) && lets_in(server)).collect();
        if wanted.is_empty() || own.is_empty() {
            return None;
        }
        let of = |r: usize| own.iter().map(move |server| server.capacity[r].to_f64());
        let totals: Vec<Option<f64>> =
            (0..resources.len()).map(|r| wanted.contains(&r).then(|| of(r).sum::<f64>())).collect();
        let least: Vec<f64> = (0..resources.len()).map(|r| of(r).fold(f64::INFINITY, f64::min)).collect();
        let counted = counted(resources, &wanted, &totals)?;
        let unit = match ResourceKind::of(&resources[counted]) {
            ResourceKind::Amount => least[counted],
            _ => sensible(least[counted]),
        };
        Some(Self { totals, least, counted, unit })
    }

    /// One task: in the proportions of `shape`, where that states several of what it asks for, and with the largest part of the servers that
    /// these are of what it states nothing of; else of what the servers have together. It is of the
    /// smallest of `amounts`, which are limits and guarantees, a whole part where it is less than a core or a GPU takes.
    pub(super) fn task(
        &self,
        shape: &[Option<Decimal>],
        amounts: &[Option<Decimal>],
    ) -> Option<Vec<Decimal>> {
        let stated =
            |r: usize| shape.get(r).copied().flatten().map(Decimal::to_f64).filter(|part| *part > 0.0);
        let asked = || (0..self.totals.len()).filter_map(|r| Some((r, self.totals[r]?)));
        let are_proportions = asked().filter(|(r, _)| stated(*r).is_some()).count() > 1;
        let shape = |r: usize| stated(r).filter(|_| are_proportions);
        let of_all = largest(asked().filter_map(|(r, total)| Some(shape(r)? / total)));
        let part = |r: usize| self.totals[r].map_or(0.0, |total| shape(r).unwrap_or(total * of_all));
        let one = part(self.counted) / self.unit;
        let each: Vec<f64> = (0..self.totals.len()).map(|r| part(r) / one).collect();
        let times = |of: &dyn Fn(usize) -> Option<f64>| -> f64 {
            let asked = each.iter().enumerate().filter(|(_, each)| **each > 0.0);
            asked.filter_map(|(r, each)| Some(of(r)? / each)).fold(f64::INFINITY, f64::min)
        };
        let stated =
            |r: usize| amounts.get(r).copied().flatten().map(Decimal::to_f64).filter(|amount| *amount > 0.0);
        let (most, room) = (times(&stated), times(&|r| Some(self.least[r])));
        let size = match most < 1.0 {
            // Whole tasks come to what is stated.
            true => most / (most / room - QUOTIENT).ceil().max(1.0),
            false => (0..STEPS).map(step).find(|size| *size <= room)?,
        };
        each.iter().map(|each| rounded_down(each * size)).collect()
    }
}

/// The largest of the parts of all there is that a queue states; all where it states none. What it states nothing of its tasks have
/// so much of: then that never keeps them from what is stated.
pub(super) fn largest(parts: impl Iterator<Item = f64>) -> f64 {
    parts.reduce(f64::max).unwrap_or(1.0)
}

/// 1, or the least power of ten of which a server with so much holds no more than [`MOST_TASKS`].
fn sensible(least: f64) -> f64 {
    let over = (least / MOST_TASKS).log10().ceil().max(0.0);
    10f64.powi(over as i32)
}

/// 1, 0.5, 0.2, 0.1, 0.05, …
fn step(at: usize) -> f64 {
    let digit = [1.0, 5.0, 2.0][at % 3];
    digit / 10f64.powi(at.div_ceil(3) as i32)
}

/// Tasks are counted in whole GPUs and the like before cores, and in amounts such as memory only where they ask for nothing else. What
/// there is more of than of cores is not counted in whole devices, whatever its name says, nor are GPUs of which there are very many more.
fn counted(resources: &[String], wanted: &[usize], totals: &[Option<f64>]) -> Option<usize> {
    let kind = |r: usize| ResourceKind::of(&resources[r]);
    let of = |r: usize| totals[r].unwrap_or(0.0);
    let cores = wanted.iter().copied().find(|r| kind(*r) == ResourceKind::Cores);
    let is_many = |r: usize| {
        let for_a_core = cores.map_or(0.0, |cores| of(r) / of(cores));
        match kind(r) {
            ResourceKind::Device => for_a_core > 1.0,
            ResourceKind::Gpu => for_a_core > GPUS_FOR_A_CORE,
            _ => false,
        }
    };
    wanted.iter().copied().filter(|r| !is_many(*r)).min_by_key(|r| kind(*r))
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
        servers.map(|capacity| Server { capacity, meets: vec![true], ..Server::default() }).collect()
    }

    fn task(
        kinds: &[(usize, [&str; 3])],
        asked: Asked,
        shape: [Option<&str>; 3],
        amounts: [Option<&str>; 3],
    ) -> Option<Vec<String>> {
        let resources = ["cpu", "memory", "nvidia.com/gpu"].map(str::to_owned);
        let servers = servers(kinds);
        let mut scopes = Scopes::new(&servers, &resources);
        let [shape, amounts] = [shape, amounts].map(|texts| texts.map(|text| text.map(decimal)));
        let task = scopes.of(&asked)?.task(&shape, &amounts)?;
        Some(task.iter().map(Decimal::to_string).collect())
    }

    fn shown(demand: [&str; 3]) -> Option<Vec<String>> {
        Some(demand.map(str::to_owned).into())
    }

    fn given(given: &[usize]) -> Asked {
        Asked { given: given.to_vec(), ..Asked::default() }
    }

    const NONE: [Option<&str>; 3] = [None; 3];

    #[test]
    fn a_task_is_one_core_or_one_gpu_with_its_part_of_the_rest_however_many_servers_there_are() {
        for count in [4, 1000] {
            let kinds = [(count, ["16", "64", "0"])];
            assert_eq!(task(&kinds, given(&[]), NONE, NONE), shown(["1", "4", "0"]));
            let kinds = [(count, ["32", "256", "8"])];
            assert_eq!(task(&kinds, given(&[]), NONE, NONE), shown(["4", "32", "1"]));
        }
    }

    #[test]
    fn a_task_fits_the_smallest_server_that_has_what_it_asks_for() {
        // Per core there is a hundred times as much memory as the small servers have.
        let kinds = [(2, ["10", "10000", "0"]), (98, ["4", "3", "0"])];
        let task = task(&kinds, given(&[]), NONE, NONE).unwrap();
        let [cpu, memory] = [0, 1].map(|r: usize| task[r].parse::<f64>().unwrap());
        assert!(cpu <= 4.0 && memory <= 3.0 && memory > 0.3, "{task:?}");
    }

    #[test]
    fn as_many_tasks_fit_a_server_as_it_has_of_what_they_are_counted_in() {
        for (cores, memory) in
            [("48", "131072"), ("7", "100"), ("96", "751619276800"), ("3", "0.1"), ("11", "1e-9")]
        {
            let kinds = [(50, [cores, memory, "0"])];
            let task = task(&kinds, given(&[]), NONE, NONE).unwrap();
            let exact = |amount: &str| decimal(amount).scaled(-24).unwrap();
            let (times, all) = (exact(&task[1]) * cores.parse::<u128>().unwrap(), exact(memory));
            assert!(times <= all, "{cores} tasks of {task:?}");
            assert!(times as f64 >= all as f64 * (1.0 - 1e-10), "{cores} tasks of {task:?}");
        }
    }

    #[test]
    fn a_task_is_no_more_than_a_limit_or_a_guarantee() {
        let kinds = [(10, ["100", "400", "0"])];
        let most = |amount| task(&kinds, given(&[]), NONE, [Some(amount), None, None]);
        assert_eq!(most("20"), shown(["1", "4", "0"]));
        assert_eq!(most("0.3"), shown(["0.3", "1.2", "0"]));
        assert_eq!(most("1.5"), shown(["1", "4", "0"]));
        // A whole part of it is what the smallest server has.
        let kinds = [(10, ["100", "400", "0"]), (1, ["0.2", "0.8", "0"])];
        assert_eq!(task(&kinds, given(&[]), NONE, [Some("0.5"), None, None]).unwrap()[0], "0.166666666666");
    }

    #[test]
    fn only_queues_that_are_given_gpus_ask_for_them_where_few_servers_have_some() {
        let kinds = [(80, ["16", "64", "0"]), (20, ["32", "256", "8"])];
        let cpu = task(&kinds, given(&[0]), NONE, NONE).unwrap();
        assert_eq!(cpu[2], "0");
        assert_eq!(task(&kinds, given(&[2]), NONE, NONE), shown(["4", "32", "1"]));
        // Whoever may not have GPUs asks for none, though all servers have some.
        let barred = Asked { barred: vec![2], ..Asked::default() };
        assert_eq!(task(&[(20, ["32", "256", "8"])], barred, NONE, NONE), shown(["1", "8", "0"]));
    }

    #[test]
    fn a_task_has_the_stated_proportions_of_the_stated_resources() {
        let kinds = [(4, ["16", "64", "8"])];
        let only = Asked { only: Some(vec![0, 1]), ..Asked::default() };
        assert_eq!(task(&kinds, only, [Some("9"), Some("18"), None], NONE), shown(["1", "2", "0"]));
        let nothing = Asked { only: Some(Vec::new()), ..Asked::default() };
        assert_eq!(task(&kinds, nothing, NONE, NONE), None);
    }

    #[test]
    fn a_task_has_the_stated_proportions_and_its_part_of_what_is_not_stated() {
        // As many cores as GPUs are an eighth of a GPU server's GPUs each, and so is the memory that goes with them.
        let kinds = [(3, ["96", "1024", "8"])];
        let shape = [Some("4"), None, Some("4")];
        assert_eq!(
            task(&kinds, given(&[0, 2]), shape, [Some("4"), None, Some("4")]),
            shown(["1", "128", "1"])
        );
        // Where cores are most of it, it has the memory of so many cores.
        assert_eq!(
            task(&kinds, given(&[0, 2]), [Some("48"), None, Some("1")], NONE),
            shown(["48", "512", "1"])
        );
        // A single amount has no proportions.
        assert_eq!(task(&kinds, given(&[0, 2]), [Some("4"), None, None], NONE), shown(["12", "128", "1"]));
    }

    #[test]
    fn a_task_is_a_core_where_a_gpus_memory_or_more_than_the_cores_are_asked_for() {
        for (name, amount) in [("gpu.memory", "800"), ("nvidia.com/gpucores", "20"), ("rdma/hca", "800")] {
            let resources = ["cpu", "memory", name].map(str::to_owned);
            let servers = servers(&[(1, ["40", "200", amount])]);
            let asked = Asked { only: Some(vec![0, 1, 2]), ..Asked::default() };
            let mut scopes = Scopes::new(&servers, &resources);
            let task = scopes.of(&asked).and_then(|scope| scope.task(&[], &[])).unwrap();
            assert_eq!(task[..2], ["1", "5"].map(decimal), "{name}");
        }
    }

    #[test]
    fn a_task_is_of_a_sensible_size_however_much_a_quota_is_of() {
        // A quota of GPUs written as `1Gi`.
        let gpus = "1073741824";
        let kinds = [(1, ["22", "51539607552", gpus])];
        assert_eq!(
            task(&kinds, given(&[0, 1, 2]), NONE, NONE),
            shown(["1", "2342709434.18", "48806446.5454"])
        );
        let only = Asked { only: Some(vec![2]), ..Asked::default() };
        assert_eq!(task(&kinds, only.clone(), NONE, NONE), shown(["0", "0", "10000"]));
        let sure = [None, None, Some("20")];
        assert_eq!(task(&kinds, only, NONE, sure).map(|task| task[2].clone()), Some("20".into()));
        // A hundred GPUs for a core are still GPUs.
        assert_eq!(task(&[(1, ["8", "64", "800"])], given(&[2]), NONE, NONE), shown(["0.01", "0.08", "1"]));
    }

    #[test]
    fn a_place_without_servers_that_have_it_all_has_no_task() {
        let kinds = [(1, ["4", "4", "0"]), (1, ["0", "0", "8"])];
        assert_eq!(task(&kinds, given(&[0, 1, 2]), NONE, NONE), None);
    }

    #[test]
    fn steps_go_down_by_two_and_a_half_at_most() {
        let steps: Vec<f64> = (0..7).map(step).collect();
        assert_eq!(steps, [1.0, 0.5, 0.2, 0.1, 0.05, 0.02, 0.01]);
    }
}
