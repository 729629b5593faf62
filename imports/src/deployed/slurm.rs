//! Slurm's accounts: lines of `sacctmgr`, the file that `sacctmgr dump` writes, and what
//! `sacctmgr -P show qos format=name,maxtrespa,priority` prints, which has what jobs are sure of in the QOS of their account, called
//! `sure-ACCOUNT`. What all accounts may have together are limits of the one above all, `root`.
//!
//! Every line is understood or refused by its number, so that nothing is done by Slurm that is not read here.

mod command;

use super::queue::{DEPLOYED_ROOT, DeployedQueue, Reading};
use crate::slurm::accounts::PARENT;
use command::{Command, SURE, SURE_OF, limit_of_jobs};
use fairplan_instances::InstanceError;
use fairplan_instances::files::source::Source;
use std::collections::{BTreeMap, BTreeSet};

type Amounts = BTreeMap<(String, String), f64>;

pub(super) fn read(reading: Reading<'_>, source: Source) -> Result<(), InstanceError> {
    let content = source.read_all()?;
    let text = String::from_utf8_lossy(&content);
    let (sure, users) = Default::default();
    let mut file = File { reading, line: 0, above: String::new(), columns: None, users, sure };
    let mut allowed = BTreeSet::new();
    let mut has_commands = false;
    for (position, line) in text.lines().map(str::trim).enumerate() {
        file.line = position + 1;
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        if let Some(parent) = line.strip_prefix("Parent - ") {
            // Of a dump, everything after `Parent - 'a'` belongs to a.
            file.above = name_of(parent);
        } else if let Some(account) = line.strip_prefix("Account - ") {
            file.dumped(account)?;
        } else if let Some(user) = line.strip_prefix("User - ") {
            file.user(user)?;
        } else if let Some(cluster) = line.strip_prefix("Cluster - ") {
            file.cluster(cluster)?;
        } else if let Some(words) = command::words(line).map_err(|problem| file.refused("", line, problem))? {
            has_commands = true;
            let command = Command::new(&words);
            let command = command.map_err(|(value, problem)| file.refused("", &value, &problem))?;
            file.done(command, &mut allowed)?;
        } else if line.contains('|') {
            file.row(line)?;
        } else {
            let problem = "is no line of `sacctmgr`, of `sacctmgr dump` or of `sacctmgr -P show qos`";
            return Err(file.refused("", line, problem));
        }
    }
    let File { reading, users, sure, .. } = file;
    for (name, user) in users {
        reading.found.entry(name).or_insert(user);
    }
    let usual = ["cpu", "mem"].map(|name| (String::new(), name.to_owned()));
    let counted = sure.values().flat_map(|sure| sure.amounts.keys().cloned());
    let counted: BTreeSet<(String, String)> = counted.chain(usual).collect();
    for (account, Sure { mut amounts, priority, beside }) in sure {
        // Jobs in a QOS that states no limit of a resource come first with all that they ask for of it.
        for key in &counted {
            amounts.entry(key.clone()).or_insert(f64::INFINITY);
        }
        // Where lines make the QOS, they must let the account use it too.
        if !has_commands || allowed.contains(&account) {
            let of_qos = beside.into_iter().map(|(limit, value)| (format!("{SURE}{account} {limit}"), value));
            let of_qos: Vec<_> = of_qos.collect();
            let queue = reading.found.entry(account).or_default();
            (queue.amounts, queue.priority) = (amounts, priority);
            queue.beside.extend(of_qos);
        }
    }
    Ok(())
}

/// What the QOS of an account states.
#[derive(Default)]
struct Sure {
    amounts: Amounts,
    /// `None` where a table does not say it.
    priority: Option<f64>,
    /// Limits of its jobs.
    beside: BTreeMap<String, String>,
}

/// Where the name, the amounts and, if it is there, the priority stand in a table of QOS.
struct Columns {
    name: usize,
    amounts: usize,
    priority: Option<usize>,
}

/// A file as far as it is read.
struct File<'a> {
    reading: Reading<'a>,
    line: usize,
    /// Of a dump: the account that the next ones are in.
    above: String,
    /// Of a table of QOS, once its first line is read.
    columns: Option<Columns>,
    /// The users of accounts, the first of a name.
    users: BTreeMap<String, DeployedQueue>,
    /// What the QOS of accounts have.
    sure: BTreeMap<String, Sure>,
}

impl File<'_> {
    fn refused(&self, field: &str, value: &str, problem: &str) -> InstanceError {
        let field = if field.is_empty() { String::new() } else { format!(": {field}") };
        self.reading.refused(&format!("line {}{field}", self.line), value, problem)
    }

    /// An account of a dump: `'a':Fairshare=3:GrpTRES=cpu=4`.
    fn dumped(&mut self, text: &str) -> Result<(), InstanceError> {
        let name = name_of(text);
        let parent = self.above.clone();
        self.account(&name, "parent", &parent)?;
        let own = format!("{SURE}{name}");
        let mut may_use_own = false;
        for (key, value) in text.split(':').skip(1).filter_map(|field| field.split_once('=')) {
            if key.eq_ignore_ascii_case("qos") {
                let mut listed = value.trim_matches('\'').split(',').map(|qos| qos.trim_start_matches('+'));
                may_use_own |= listed.any(|qos| qos == own);
            } else {
                self.account(&name, &key.to_ascii_lowercase(), value)?;
            }
        }
        self.reading.found.entry(name).or_default().lacks_sure_qos = !may_use_own;
        Ok(())
    }

    /// The cluster of a dump, which is the account above all: `'c':Fairshare=1:GrpTRES=cpu=4`.
    fn cluster(&mut self, text: &str) -> Result<(), InstanceError> {
        let fields = text.split(':').skip(1).filter_map(|field| field.split_once('='));
        for (_, value) in fields.filter(|(key, _)| key.eq_ignore_ascii_case("grptres")) {
            self.account(DEPLOYED_ROOT, "grptres", value)?;
        }
        Ok(())
    }

    /// A user of an account of a dump: `'a':Fairshare=3`.
    fn user(&mut self, text: &str) -> Result<(), InstanceError> {
        let name = name_of(text);
        if name == DEPLOYED_ROOT {
            return Ok(());
        }
        let mut user =
            DeployedQueue { parent: account_above(&self.above), is_user: true, ..DeployedQueue::default() };
        for (key, value) in text.split(':').skip(1).filter_map(|field| field.split_once('=')) {
            if key.eq_ignore_ascii_case("fairshare") {
                user.weight = shares(value);
            } else if key.eq_ignore_ascii_case("grptres") {
                self.set(&mut user.limits, value)?;
            }
        }
        self.users.entry(name).or_insert(user);
        Ok(())
    }

    /// A row of a table of QOS, or the names of its columns.
    fn row(&mut self, line: &str) -> Result<(), InstanceError> {
        let cells: Vec<&str> = line.split('|').map(str::trim).collect();
        let at = |name: &str| cells.iter().position(|cell| cell.eq_ignore_ascii_case(name));
        if let (None, Some(name)) = (&self.columns, at("name")) {
            let problem = "has no column MaxTRESPA; write format=name,maxtrespa,priority";
            let amounts =
                at("maxtrespa").or_else(|| at(SURE_OF)).ok_or_else(|| self.refused("", line, problem))?;
            self.columns = Some(Columns { name, amounts, priority: at("priority") });
            return Ok(());
        }
        let Columns { name, amounts, priority } =
            self.columns.as_ref().unwrap_or(&Columns { name: 0, amounts: 1, priority: None });
        let cell = |at: usize| cells.get(at).copied().unwrap_or_default();
        let (name, amounts, priority) = (cell(*name), cell(*amounts), priority.map(cell));
        let Some(account) = name.strip_prefix(SURE) else { return Ok(()) };
        self.make_sure(account, SURE_OF, amounts)?;
        priority.map_or(Ok(()), |priority| self.make_sure(account, "priority", priority))
    }

    /// What a command does.
    fn done(&mut self, command: Command, allowed: &mut BTreeSet<String>) -> Result<(), InstanceError> {
        match command {
            Command::Nothing => Ok(()),
            Command::Account { is_new, names, fields } => {
                for name in names {
                    // What is there is not added again.
                    if is_new && self.reading.found.contains_key(&name) {
                        continue;
                    }
                    self.reading.found.entry(name.clone()).or_default();
                    for (key, value) in &fields {
                        if key == "qos" {
                            allowed
                                .extend(value.strip_prefix(SURE).filter(|of| *of == name).map(str::to_owned));
                        } else {
                            self.account(&name, key, value)?;
                        }
                    }
                }
                Ok(())
            }
            Command::Qos { is_new, names, fields } => {
                for name in names {
                    let Some(account) = name.strip_prefix(SURE) else { continue };
                    let is_there = self.sure.contains_key(account);
                    // A new QOS has the priority 0.
                    let new = || Sure { priority: Some(0.0), ..Sure::default() };
                    self.sure.entry(account.to_owned()).or_insert_with(new);
                    if !(is_new && is_there) {
                        fields.iter().try_for_each(|(key, value)| self.make_sure(account, key, value))?;
                    }
                }
                Ok(())
            }
            Command::NoAccount(names) => {
                for name in names {
                    self.reading.found.remove(&name);
                    allowed.remove(&name);
                }
                Ok(())
            }
            Command::NoQos(names) => {
                for account in names.iter().filter_map(|name| name.strip_prefix(SURE)) {
                    self.sure.remove(account);
                    allowed.remove(account);
                }
                Ok(())
            }
        }
    }

    /// What a field, in small letters, says of an account.
    fn account(&mut self, name: &str, key: &str, value: &str) -> Result<(), InstanceError> {
        let mut queue = self.reading.found.get(name).cloned().unwrap_or_default();
        match key {
            "parent" => queue.parent = account_above(value),
            "fairshare" => {
                let problem = "must be a number, or parent";
                queue.weight = Some(shares(value).ok_or_else(|| self.refused("fairshare", value, problem))?);
            }
            "grptres" => self.set(&mut queue.limits, value)?,
            _ => keep(&mut queue.beside, key, value),
        }
        self.reading.found.insert(name.to_owned(), queue);
        Ok(())
    }

    /// What a field, in small letters, says of the QOS of an account: what its jobs may have together, before whom they come, a limit.
    fn make_sure(&mut self, account: &str, key: &str, value: &str) -> Result<(), InstanceError> {
        let mut sure = self.sure.remove(account).unwrap_or_default();
        match key {
            SURE_OF => self.set(&mut sure.amounts, value)?,
            "priority" => {
                let number =
                    value.parse().map_err(|_| self.refused("Priority", value, "must be a number"))?;
                sure.priority = Some(number);
            }
            _ => keep(&mut sure.beside, key, value),
        }
        self.sure.insert(account.to_owned(), sure);
        Ok(())
    }

    /// `cpu=4,mem=2G`, memory in MiB; -1 takes a limit away, and what is not named stays.
    fn set(&self, amounts: &mut Amounts, text: &str) -> Result<(), InstanceError> {
        let mut named = BTreeSet::new();
        for part in text.trim_matches('\'').split(',').filter(|part| !part.is_empty()) {
            let problem = "must be a resource and an amount, such as cpu=4";
            let (resource, amount) =
                part.split_once('=').ok_or_else(|| self.refused("GrpTRES", part, problem))?;
            let resource = resource.to_ascii_lowercase();
            if !named.insert(resource.clone()) {
                return Err(self.refused("GrpTRES", &resource, "is stated twice"));
            }
            let number = amount_of(amount, resource == "mem");
            let problem = "must be a number, of mem with K, M, G or T, or -1 for no limit";
            let number = number.filter(|number| *number >= 0.0 || amount == "-1");
            let number = number.ok_or_else(|| self.refused("GrpTRES", amount, problem))?;
            let key = (String::new(), resource);
            if number >= 0.0 {
                amounts.insert(key, number);
            } else {
                amounts.remove(&key);
            }
        }
        Ok(())
    }
}

/// The shares of an account or user; one of those that have their parent's, as importers take it.
fn shares(text: &str) -> Option<f64> {
    if text.eq_ignore_ascii_case("parent") {
        return Some(1.0);
    }
    let shares: f64 = text.parse().ok()?;
    Some(if shares == PARENT { 1.0 } else { shares })
}

/// The account that one is in; nothing at the top.
fn account_above(name: &str) -> String {
    if name == DEPLOYED_ROOT { String::new() } else { name.to_owned() }
}

/// Keeps a limit of jobs, which -1 takes away; of other fields nothing is kept.
fn keep(limits: &mut BTreeMap<String, String>, key: &str, value: &str) {
    let Some(limit) = limit_of_jobs(key) else { return };
    match value.trim_matches('\'') {
        "-1" | "" => drop(limits.remove(limit)),
        value => drop(limits.insert(limit.to_owned(), value.to_owned())),
    }
}

/// A number, of memory with a letter for its unit.
fn amount_of(text: &str, is_memory: bool) -> Option<f64> {
    let unit = text.bytes().last().filter(|_| is_memory).unwrap_or_default();
    let factor = match unit.to_ascii_uppercase() {
        b'K' => 1.0 / 1024.0,
        b'M' => 1.0,
        b'G' => 1024.0,
        b'T' => 1_048_576.0,
        b'P' => 1_073_741_824.0,
        _ => return text.parse().ok(),
    };
    Some(text[..text.len() - 1].parse::<f64>().ok()? * factor)
}

/// What stands in the first quotes.
fn name_of(text: &str) -> String {
    text.split('\'').nth(1).unwrap_or(text).to_owned()
}
