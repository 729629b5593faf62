//! A solution as the configuration of the scheduler that shall obey it, and what that changes.

use crate::tolerance::GAINED;
use crate::{Control, Error, ResultFile};
use fairplan_exports::{Export, ExportOptions, Held, Source, Target};
use fairplan_imports::{ConfigurationKind, Deployed, DeployedQueue, deployed, deployed_in};
use fairplan_instances::{Body, ClassId, Instance, KindId, files};
use fairplan_report::read_json;
use fairplan_report::solution::{SolutionBody, SolutionDocument, StatedSolution};
use fairplan_verify::Tasks;
use std::collections::{BTreeMap, BTreeSet, HashMap};

mod again;
mod alike;
mod change;
mod entitled;
mod flavors;
pub(crate) mod held_against;
mod lost;
mod reach;
mod staying;

pub use change::ExportChange;
pub use lost::LostField;

/// The format of what is exported.
const SOLUTION: &str = <SolutionBody as Body>::FORMAT;

/// The shares of `solution`, a `fairplan.solution.v1` of `instance`, in whole units that fit, for `target`. The solution is verified
/// first.
///
/// ```
/// use fairplan::exports::{ExportOptions, MemoryIn, Target};
/// use fairplan::{Control, ResultFile, SolveOptions, export, generate, report, solve};
///
/// let instance = generate::drfh_fig1()?;
/// let solved = solve(&instance, &SolveOptions::default(), &Control::none())?;
/// let mut bytes = Vec::new();
/// report::write_json(&mut bytes, &solved.document(&instance, true)).unwrap();
/// let solution = ResultFile::new("solution.json".into(), bytes)?;
/// let options = ExportOptions { memory_in: Some(MemoryIn::Gibibytes), ..ExportOptions::default() };
/// let exported = export(&instance, &solution, Target::Kueue, &options, &Control::none())?;
/// assert!(exported.text().contains("kind: ClusterQueue"));
/// # Ok::<(), fairplan::Error>(())
/// ```
///
/// # Errors
/// A result that is no solution, one of another instance, one that is not proved, one that treats all servers as one; and what the
/// target cannot count in.
pub fn export(
    instance: &Instance,
    solution: &ResultFile,
    target: Target,
    options: &ExportOptions,
    control: &Control<'_>,
) -> Result<Export, Error> {
    let ResultFile { name, bytes, format } = solution;
    if format != SOLUTION {
        return Err(Error::input(format!(
            "{name}: is a {format}; export takes a {SOLUTION}, which solve writes"
        )));
    }
    let sha256 = files::sha256_hex(instance);
    control.stage("verifying");
    let document: SolutionDocument = read_json(name, bytes)?;
    let stated = StatedSolution::new(&document, instance, &sha256);
    let stated = stated.map_err(|foreign| Error::input(format!("{name}: {foreign}")))?;
    let proof = stated.proof(instance);
    if let Some(failed) = proof.failures().next() {
        let problem =
            format!("{name}: is no proved solution ({}: {}); solve again", failed.property, failed.witness);
        return Err(Error::input(problem));
    }
    let held = held(instance, name, &stated)?;
    let source = Source { instance: sha256, solution: crate::verify::sha256_of(bytes) };
    let mut export = Export::new(instance, &held, source, target, options)?;
    control.stage("asking the scheduler's rule");
    let shares = entitled::entitled(&export, &exported(&export)?);
    export.entitle(shares);
    Ok(export)
}

/// What users have on each class by the solution called `name`.
fn held(instance: &Instance, name: &str, stated: &StatedSolution) -> Result<Held, Error> {
    let Tasks::Listed { starts, entries } = stated.claim().tasks else {
        let problem = format!(
            "{name}: its objective treats all servers as one; export needs what runs on which class, as drfh says"
        );
        return Err(Error::input(problem));
    };
    let of_kind = |(kind, range): (usize, &[usize])| {
        let entries = entries[range[0]..range[1]].iter();
        entries
            .map(move |(class, tasks)| (KindId(kind), ClassId(*class as usize), *tasks))
            .collect::<Vec<_>>()
    };
    Ok(Held::new(instance, starts.windows(2).enumerate().flat_map(of_kind)))
}

/// What an export changes.
#[derive(Clone, Debug, PartialEq)]
pub struct ExportChanges {
    /// What of which queue; nothing if the configurations say the same.
    pub changes: Vec<ExportChange>,
    /// Of each tenant with nobody below it, by the name of its queue: the share that the scheduler's own rule gives it now, if it has a
    /// queue now, and then.
    pub entitled: BTreeMap<String, [Option<f64>; 2]>,
    /// Why it is not told what the rule gives now; then [`entitled`](Self::entitled) is empty.
    pub untold: Option<String>,
    /// What deployed objects state that the exported ones do not, and that applying them would take away.
    pub lost: Vec<LostField>,
    /// Slurm's accounts that are not in the export: no line deletes them, and they keep their shares and limits.
    pub staying: Vec<String>,
    /// Limits of jobs that accounts of Slurm and their QOS have, `red: GrpJobs=1`: no line of an export changes them, and the scheduler's rule
    /// is asked as if there were none.
    pub limits_of_jobs: Vec<String>,
    /// Tenants inside a queue that has no queues below it now: what each of them has now is not known, so that [`entitled`](Self::entitled) says
    /// nothing of them.
    pub inside: Vec<String>,
    /// Tenants that are users of accounts of Slurm now: an export makes accounts of these names, beside the users.
    pub users: Vec<String>,
}

impl ExportChanges {
    /// Whether applying the export changes nothing.
    pub fn is_nothing(&self) -> bool {
        self.changes.is_empty() && self.lost.is_empty()
    }

    /// Who gains or loses by the scheduler's rule: its queue, its share now and then.
    pub fn moved(&self) -> impl Iterator<Item = (&str, f64, f64)> {
        let shares =
            self.entitled.iter().map(|(queue, shares)| (queue, shares.map(Option::unwrap_or_default)));
        let moved =
            shares.filter(|(_, [before, after])| (after - before).abs() > GAINED * before.max(*after));
        moved.map(|(queue, [before, after])| (queue.as_str(), before, after))
    }
}

pub(crate) fn kind_of(target: Target) -> ConfigurationKind {
    match target {
        Target::Kueue => ConfigurationKind::Kueue,
        Target::Yarn => ConfigurationKind::Yarn,
        Target::YarnFair => ConfigurationKind::YarnFair,
        Target::YuniKorn => ConfigurationKind::YuniKorn,
        Target::Volcano => ConfigurationKind::Volcano,
        Target::Kai => ConfigurationKind::Kai,
        Target::Slurm => ConfigurationKind::Slurm,
    }
}

/// The configuration of an export, read back from its text.
fn exported(export: &Export) -> Result<Deployed, Error> {
    Ok(deployed_in(kind_of(export.target), "the exported configuration", &export.text())?)
}

/// What differs between an export and the configuration in the files `current`, queue by queue, and what that does to the shares that
/// the scheduler's rule gives. [`exported_from`](crate::exported_from()) has an example.
///
/// # Errors
/// Files that are no configuration of the export's target.
pub fn export_changes(export: &Export, current: &[String]) -> Result<ExportChanges, Error> {
    let mut before = deployed(kind_of(export.target), current)?;
    let renamed = flavors::of_classes(export, &mut before);
    let users = staying::users(export, &mut before);
    let mut after = exported(export)?;
    let staying = staying::add(export, &before, &mut after);
    let limits_of_jobs = staying::limits(&before);
    let shares = entitled::entitled(export, &before);
    let names = export.queue_names();
    let inside = inside_queues(export, &before);
    let are_inside: BTreeSet<&String> = inside.iter().collect();
    let leaves = (0..names.len()).filter(|t| export.tenants[*t].is_leaf && !are_inside.contains(&names[*t]));
    let untold = flavors::not_told(export, &before);
    let entitled = match untold {
        Some(_) => BTreeMap::new(),
        None => {
            // Accounts that stay have their shares as before.
            let beside = (!staying.is_empty()).then(|| entitled::entitled(export, &after));
            let then = |t: usize| beside.as_ref().map_or(export.tenants[t].entitled, |shares| shares[t]);
            leaves.map(|t| (names[t].clone(), [shares[t], then(t)])).collect()
        }
    };
    let lost = lost::fields(kind_of(export.target), current, &export.text())?;
    let [before, after] = match export.target {
        Target::Kueue => reach::as_they_hold([&before, &after]),
        _ => [before, after],
    };
    let [before, after] = [&before, &after].map(|read| binding(export, read));
    let mut changes = changes(&before, &after, export.target);
    if untold.is_some() {
        // What was not there under that name was there under another.
        changes.iter_mut().filter(|change| change.before.is_none()).for_each(|change| change.more = None);
    }
    changes.extend(renamed);
    changes.sort_by(|a, b| a.queue.cmp(&b.queue));
    Ok(ExportChanges { changes, entitled, untold, lost, staying, limits_of_jobs, inside, users })
}

/// The tenants that are not deployed themselves, but inside a queue that is and has nobody below it there.
fn inside_queues(export: &Export, deployed: &Deployed) -> Vec<String> {
    let names = export.queue_names();
    let is_there = |t: usize| {
        let names = [names[t].clone(), names[t].trim_start_matches("cohort ").to_owned()];
        names.into_iter().find(|name| deployed.contains_key(name))
    };
    let with_others_below = entitled::with_others_below(export.target, deployed.values());
    let is_inside = |t: &usize| {
        let above = std::iter::successors(export.tenants[*t].parent, |above| export.tenants[*above].parent);
        let mut above = above.filter_map(is_there);
        export.tenants[*t].is_leaf
            && is_there(*t).is_none()
            && above.next().is_some_and(|name| !with_others_below.contains(&name))
    };
    (0..names.len()).filter(is_inside).map(|t| names[t].clone()).collect()
}

/// The configuration with those limits only that keep somebody from something: what is at least all that there is does not.
fn binding(export: &Export, read: &Deployed) -> Deployed {
    let (keys, cluster) = (export.keys(), export.cluster());
    let all: HashMap<(&str, &str), f64> = (keys.iter().zip(cluster))
        .map(|(key, units)| ((key.class.as_str(), key.resource.as_str()), units * key.unit))
        .collect();
    let binds = |((class, resource), limit): (&(String, String), &mut f64)| match resource.as_str() {
        "percent" => *limit < 100.0,
        _ => all.get(&(class.as_str(), resource.as_str())).is_none_or(|all| *limit < *all),
    };
    let mut found = read.clone();
    found.values_mut().for_each(|queue| queue.limits.retain(|key, limit| binds((key, limit))));
    // Slurm's account above all is there in any case: it is told where it holds somebody.
    if export.target == Target::Slurm {
        found.entry("root".to_owned()).or_default();
    }
    found
}

/// A number as people write it: memory in the largest unit of which it is a whole number, others as they are.
fn written(target: Target, resource: &str, number: f64) -> String {
    if !number.is_finite() {
        return "no end".into();
    }
    let units: &[(&str, f64)] = match (fairplan_instances::is_memory(resource), target.is_kubernetes()) {
        (false, _) => &[],
        (true, true) => &[
            ("Ti", TEBI),
            ("Gi", TEBI / 1024.0),
            ("Mi", 1_048_576.0),
            ("G", 1e9),
            ("M", 1e6),
            ("Ki", 1024.0),
        ],
        // YARN's and Slurm's count in MiB.
        (true, false) => &[("Ti", 1_048_576.0), ("Gi", 1024.0), ("Mi", 1.0)],
    };
    // Bytes and MiB are whole but for the rounding of doubles: KAI counts memory in millions of bytes, with decimals.
    let number = if units.is_empty() { number } else { number.round() };
    let whole = units.iter().find(|(_, unit)| number != 0.0 && number % unit == 0.0);
    match whole.or(units.last().filter(|_| !target.is_kubernetes() && number != 0.0)) {
        Some((suffix, unit)) => format!("{}{suffix}", number / unit),
        None => number.to_string(),
    }
}

/// What the target calls a tenant of this name.
fn noun(target: Target, name: &str) -> &'static str {
    match target {
        Target::Slurm => "account",
        Target::Kueue if name.starts_with("cohort ") => "cohort",
        _ => "queue",
    }
}

const TEBI: f64 = 1_099_511_627_776.0;

fn changes(before: &Deployed, after: &Deployed, target: Target) -> Vec<ExportChange> {
    let names: BTreeSet<&String> = before.keys().chain(after.keys()).collect();
    let nothing = DeployedQueue::default();
    let mut found = Vec::new();
    for name in names {
        let (old, new) = (before.get(name), after.get(name));
        let sides = [old.unwrap_or(&nothing), new.unwrap_or(&nothing)];
        let mut change = |what: String, sides: [Option<String>; 2], more| {
            let [before, after] = sides;
            found.push(ExportChange { queue: name.clone(), what, before, after, more });
        };
        // The target's own root is there whether it is said or not.
        if (old.is_none() || new.is_none()) && !(target.has_root() && name == "root") {
            change(noun(target, name).into(), [old, new].map(|queue| queue.map(|_| "there".into())), None);
        }
        if old.is_some() && new.is_some() && sides[0].parent != sides[1].parent {
            change("parent".into(), sides.map(|side| Some(side.parent.clone())), None);
        }
        if let Some(orders) = other_order(sides) {
            change("order of flavors".into(), orders.map(Some), None);
        }
        let numbers = |what: String, resource: String, [before, after]: [Option<f64>; 2]| {
            let same = match (before, after) {
                (Some(before), Some(after)) => alike::is_near(before, after),
                (one, other) => one == other,
            };
            // Nothing and no word of it are the same.
            let both_nothing = before.unwrap_or(0.0) == 0.0 && after.unwrap_or(0.0) == 0.0 && !bounds(&what);
            (!same && !both_nothing).then_some((what, resource, before, after))
        };
        // Who states no weight has 1.
        let is_there = [old.is_some(), new.is_some()];
        let weights = [0, 1].map(|side| sides[side].weight.or(is_there[side].then_some(1.0)));
        let weights = [0, 1].map(|side| weights[side].or(weights[1 - side].filter(|weight| *weight == 1.0)));
        // Of each resource, where a side states more than one (KAI).
        let weighed: BTreeSet<&(String, String)> =
            sides.iter().filter(|side| states_weights(side)).flat_map(|side| side.weights.keys()).collect();
        let of_resources = weighed.iter().filter_map(|key| {
            let of = |side: usize| sides[side].weights.get(*key).copied().or(weights[side]);
            numbers(format!("weight of {}", key.1), String::new(), [of(0), of(1)])
        });
        let of_all = numbers("weight".into(), String::new(), weights).filter(|_| weighed.is_empty());
        let weights: Vec<_> = of_all.into_iter().chain(of_resources).collect();
        // Slurm's tables need not say priorities; of others who states none has 0.
        let priorities = sides.map(|side| side.priority);
        let is_known = target != Target::Slurm || priorities.iter().all(Option::is_some);
        let priority = is_known.then(|| numbers("priority".into(), String::new(), priorities)).flatten();
        let lists = [
            ("", sides.map(|side| &side.amounts)),
            ("most ", sides.map(|side| &side.limits)),
            ("keeps ", sides.map(|side| &side.reserves)),
            ("lends ", sides.map(|side| &side.lends)),
        ];
        let of_lists = lists.into_iter().flat_map(|(verb, lists)| {
            let keys: BTreeSet<&(String, String)> = lists[0].keys().chain(lists[1].keys()).collect();
            let of = move |key: &(String, String)| {
                let (class, resource) = key;
                let on = if class.is_empty() { String::new() } else { format!(" on {class}") };
                (format!("{verb}{resource}{on}"), resource.clone(), lists.map(|list| list.get(key).copied()))
            };
            keys.into_iter().map(of).collect::<Vec<_>>()
        });
        let of_lists = of_lists.filter_map(|(what, resource, sides)| numbers(what, resource, sides));
        for (what, resource, before, after) in weights.into_iter().chain(priority).chain(of_lists) {
            let more = after.unwrap_or(0.0) - before.unwrap_or(0.0);
            // Beside a percentage or a weight nothing is known to be more.
            let goes_by_parts = sides.iter().any(|side| is_relative(side, &what));
            let more =
                (!goes_by_parts && (!bounds(&what) || (before.is_some() && after.is_some()))).then_some(more);
            let words = |number: f64| written(target, &resource, number);
            // A difference of doubles, without the digits that only rounding has left.
            let rounded = |more: f64| match fairplan_instances::is_memory(&resource) {
                true => more,
                false => format!("{more:.8e}").parse().unwrap_or(more),
            };
            let more = more.filter(|more| more.is_finite()).map(rounded);
            let more = more.map(|more| format!("{}{}", if more > 0.0 { "+" } else { "" }, words(more)));
            change(what, [before, after].map(|number| number.map(words)), more);
        }
    }
    found
}

/// Whether a queue has other weights of some resources than of others.
fn states_weights(queue: &DeployedQueue) -> bool {
    queue.weights.values().any(|weight| Some(*weight) != queue.weight)
}

/// The orders in which two queues try flavors, if those that both have come in another order. Of flavors that one of them lacks, amounts tell.
fn other_order(queues: [&DeployedQueue; 2]) -> Option<[String; 2]> {
    let of_both = |own: usize| {
        let both = queues[own].order.iter().filter(move |flavor| queues[1 - own].order.contains(flavor));
        both.collect::<Vec<_>>()
    };
    (of_both(0) != of_both(1)).then(|| queues.map(|queue| queue.order.join(", ")))
}

/// Whether a queue states what it has there in percent or as a weight.
fn is_relative(queue: &DeployedQueue, what: &str) -> bool {
    let class = what.split_once(" on ").map_or("", |(_, class)| class);
    let list = if what.starts_with("most ") { &queue.limits } else { &queue.amounts };
    let is_part = |resource: &str| resource == "weight" || resource.starts_with("percent");
    list.keys().any(|(of, resource)| of == class && is_part(resource))
}

/// Whether a number is one of which none at all is another thing than 0.
fn bounds(what: &str) -> bool {
    ["most ", "lends "].iter().any(|verb| what.starts_with(verb))
}

#[cfg(test)]
mod moved {
    use super::*;

    #[test]
    fn a_queue_gains_or_loses_just_beyond_the_steps_of_the_rule_and_not_just_within() {
        let shares = [1.0 + 0.9 * GAINED, 1.0 + 1.1 * GAINED, 1.0 - 1.1 * GAINED];
        let entitled = shares.iter().enumerate().map(|(i, then)| (i.to_string(), [Some(1.0), Some(*then)]));
        let mut changes = ExportChanges {
            changes: vec![],
            entitled: entitled.collect(),
            untold: None,
            lost: vec![],
            staying: vec![],
            limits_of_jobs: vec![],
            inside: vec![],
            users: vec![],
        };
        changes.entitled.insert("new".into(), [None, Some(0.5)]);
        let moved: Vec<_> = changes.moved().map(|(queue, before, after)| (queue, after > before)).collect();
        assert_eq!(moved, [("1", true), ("2", false), ("new", true)]);
    }
}
#[cfg(test)]
mod by_rule;
#[cfg(test)]
mod headroom;
#[cfg(test)]
mod rests_on_uncounted;
#[cfg(test)]
mod round_trip;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod unchanged;
#[cfg(test)]
mod valid;
