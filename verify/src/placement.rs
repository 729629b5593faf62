//! A claimed placement of whole tasks, counted in whole units.

use crate::claim::PlacementClaim;
use crate::devices::rules_inside_servers;
use crate::domains::rules_between_servers;
use crate::groups::{divided_in, smallest, tree_of};
use crate::kept::guarantees;
use crate::limited_tasks::sure_shares;
use crate::tolerance;
use crate::verdict::{Verdict, Worst};
use crate::whole_guarantees::counted;
use fairplan_instances::{
    ClassId, DomainId, Instance, Kind, KindId, PlacedGroup, Placement, ResourceId, ServerTasks, User, UserId,
};
use std::collections::{BTreeMap, HashMap};

/// Re-counts a placement from the instance alone: `well-formed`, `eligibility`, `capacity`, `task-limits`, `tasks`,
/// where servers have devices or users a limit a server
/// `devices` and `per-server`, where there are gangs or spread tasks `gangs`, `gangs-in-domains` and `spread`, where there are limits or reserves `limits`, and, where a result states them, `value`, `shares`, `utilization`, `groups` and `guarantees`. Never panics on a claim; only
/// `well-formed` is returned when that fails. Of users with kinds `tasks` are the whole tasks that the pieces on the servers make, and
/// no piece belongs to none.
pub fn verify_placement(instance: &Instance, claim: &PlacementClaim<'_>) -> Vec<Verdict> {
    let mut form = Worst::of("well-formed", 0.0);
    let sure = claim.printed.and_then(|stated| stated.whole_guarantees);
    let checked = check(instance, claim).and_then(|()| counted(instance, sure));
    let of_levels = match checked {
        Ok(of_levels) => of_levels,
        Err(problem) => {
            form.fail(|| problem);
            return vec![form.verdict()];
        }
    };
    let form = form.verdict();
    let (classes, m) = (instance.classes(), instance.resources().len());
    let mut eligibility = Worst::of("eligibility", 0.0);
    let mut capacity = Worst::of("capacity", 0.0);
    let mut pieces = vec![0u64; instance.kind_count()];
    let mut used = vec![0u128; m];
    // Known once for all servers, of which there may be ten million.
    let all =
        |units: &dyn Fn(ResourceId) -> u128| (0..m).map(|r| units(ResourceId(r))).collect::<Vec<u128>>();
    let of_kind = |k: usize| all(&|r| instance.kind(KindId(k)).piece_units(r));
    let demands: Vec<Vec<u128>> = (0..instance.kind_count()).map(of_kind).collect();
    let of_class = |l: usize| all(&|r| instance.capacity_units(ClassId(l), r));
    let capacities: Vec<Vec<u128>> = (0..classes.len()).map(of_class).collect();
    let mut load = vec![0u128; m];
    for ((server, tasks), class) in claim.servers.iter().enumerate().zip(instance.classes_of_servers()) {
        load.fill(0);
        for &(kind, count) in tasks {
            let kind = instance.kind(KindId(kind as usize));
            if !kind.rule().allows(class) {
                eligibility.fail(|| {
                    format!("{} has tasks on server {server}, of class {}", named(kind), classes[class.0].id)
                });
            }
            for (load, units) in load.iter_mut().zip(&demands[kind.index().0]) {
                let units = units.checked_mul(u128::from(count));
                *load = load.saturating_add(units.unwrap_or(u128::MAX));
            }
            let pieces = &mut pieces[kind.index().0];
            *pieces = pieces.saturating_add(count);
        }
        for (r, (&load, &limit)) in load.iter().zip(&capacities[class.0]).enumerate() {
            if load > limit {
                capacity.fail(|| {
                    let (resource, class) = (&instance.resources()[r], &classes[class.0].id);
                    let [load, limit] = [load, limit].map(|units| instance.written(ResourceId(r), units));
                    format!(
                        "server {server}, of class {class}, is loaded with {load} {resource}, has {limit}"
                    )
                });
            }
            used[r] = used[r].saturating_add(load);
        }
    }
    let placed = whole_tasks(instance, &pieces);
    let taken = taken_of_limits(instance, claim.servers);
    let mut limits = Worst::of("task-limits", 0.0);
    let mut totals = Worst::of("tasks", 0.0);
    for (user, (&counted, &stated)) in instance.users().zip(placed.iter().zip(claim.tasks)) {
        if user.tasks().is_some_and(|limit| counted > limit) {
            limits.fail(|| format!("user {} has {counted} tasks placed, more than it has", user.id()));
        }
        if counted != stated {
            totals.fail(|| {
                format!("user {}: {stated} tasks are stated, {counted} are on the servers", user.id())
            });
        }
        for kind in user.kinds() {
            let (there, in_tasks) = (pieces[kind.index().0], counted.saturating_mul(kind.each()));
            if there == u64::MAX {
                totals
                    .fail(|| format!("{}: more pieces are on the servers than can be counted", named(kind)));
            } else if there != in_tasks {
                totals.fail(|| {
                    format!(
                        "{}: {there} pieces are on the servers, {counted} whole tasks have {in_tasks}",
                        named(kind)
                    )
                });
            }
        }
    }
    let mut verdicts =
        vec![form, eligibility.verdict(), capacity.verdict(), limits.verdict(), totals.verdict()];
    verdicts.extend(verify_rules(instance, claim.servers));
    if !taken.is_empty() {
        verdicts.push(limits_kept(instance, &taken));
    }
    if let Some(stated) = &claim.printed {
        let mut shares = Worst::of("shares", tolerance::STATED);
        let mut value = Worst::of("value", tolerance::STATED);
        let mut utilization = Worst::of("utilization", tolerance::STATED);
        let work = work(instance, &placed, claim.servers);
        let share = |i: usize| work[i] * instance.user(UserId(i)).task_share();
        let waits = |i: usize| instance.user(UserId(i)).tasks().map(|tasks| tasks.saturating_sub(placed[i]));
        // Whoever a limit holds or no server holds whole wants more as to the value, not as to the level.
        let has_tasks_left = |i: usize| waits(i) != Some(0) && instance.user(UserId(i)).can_run();
        let is_free = |user: User<'_>| user.fits_somewhere() && !is_held(user, &taken);
        let wants_more = |i: usize| waits(i) != Some(0) && is_free(instance.user(UserId(i)));
        let tree = tree_of(instance, &sure_shares(&of_levels));
        let [least, _] = smallest(&divided_in(instance, &tree, share, has_tasks_left));
        let [_, level] = smallest(&divided_in(instance, &tree, share, wants_more));
        let mut unplaced = 0u64;
        for user in instance.users() {
            let i = user.index().0;
            unplaced = unplaced.saturating_add(waits(i).unwrap_or(0));
            shares.compare(stated.dominant_shares[i], share(i), || {
                format!("dominant share of user {}", user.id())
            });
        }
        value.compare(stated.value, least, || "value".into());
        value.compare_if_any(stated.level, level, || "level of those that want more".into());
        if stated.unplaced != Some(unplaced) {
            let said = stated.unplaced.map_or("no number of".into(), |stated| stated.to_string());
            value.fail(|| format!("{said} tasks are said to wait, {unplaced} do"));
        }
        for (r, used) in used.into_iter().enumerate() {
            let total = instance.total_units(ResourceId(r));
            let part = if total == 0 { 0.0 } else { used as f64 / total as f64 };
            utilization.compare(stated.utilization[r], part, || {
                format!("{} of the cluster", instance.resources()[r])
            });
        }
        verdicts.extend([shares.verdict(), value.verdict(), utilization.verdict()]);
        if instance.has_groups() || !stated.groups.is_empty() {
            verdicts.push(groups_have(instance, stated.groups, share, &placed));
        }
        if instance.has_guarantees() || stated.guarantees.is_some() {
            verdicts.push(guarantees(instance, &placed, stated.guarantees));
        }
    }
    verdicts
}

/// Whether groups have what is stated: their members' shares and tasks, and the tasks of theirs that wait, added up.
fn groups_have(
    instance: &Instance,
    stated: &[PlacedGroup],
    share: impl Fn(usize) -> f64,
    tasks: &[u64],
) -> Verdict {
    let mut verdict = Worst::of("groups", tolerance::STATED);
    let groups = instance.groups();
    if stated.len() != groups.len() {
        verdict.fail(|| format!("{} groups are stated, the instance has {}", stated.len(), groups.len()));
        return verdict.verdict();
    }
    let mut has: Vec<(f64, u64, Option<u64>)> = vec![(0.0, 0, None); groups.len()];
    for user in instance.users() {
        let i = user.index().0;
        let waiting = user.tasks().map(|all| all.saturating_sub(tasks[i]));
        // Every group above it has it too.
        let above = std::iter::successors(user.group(), |group| groups[group.0].parent);
        for group in above {
            let (sum, count, waits) = &mut has[group.0];
            *sum += share(i);
            *count = count.saturating_add(tasks[i]);
            if let Some(waiting) = waiting {
                *waits = Some(waits.unwrap_or(0).saturating_add(waiting));
            }
        }
    }
    for ((group, stated), (share, tasks, waiting)) in groups.iter().zip(stated).zip(has) {
        let parent = group.parent.map(|parent| groups[parent.0].id.as_str());
        if (stated.id.as_str(), stated.parent.as_deref()) != (group.id.as_str(), parent) {
            verdict.fail(|| format!("group {} is stated in the place of group {}", stated.id, group.id));
        }
        verdict.compare(stated.share, share, || format!("share of group {}", group.id));
        if (stated.tasks, stated.waiting) != (tasks, waiting) {
            verdict.fail(|| {
                let waiting = waiting.map_or(String::new(), |waiting| format!(", and {waiting} wait"));
                format!("group {} has {tasks} tasks placed{waiting}, not what is stated", group.id)
            });
        }
    }
    verdict.verdict()
}

/// Re-counts the rules that only whole tasks meet, of those that the instance has: `devices`, `per-server`, `gangs`, `gangs-in-domains` and
/// `spread`. The placement is well-formed: of each server the tasks of users that there are.
pub fn verify_rules(instance: &Instance, servers: &[ServerTasks]) -> Vec<Verdict> {
    let mut verdicts = Vec::new();
    if instance.has_server_rules() {
        verdicts.extend(rules_inside_servers(instance, servers));
    }
    if instance.has_rules_between_servers() {
        verdicts.extend(rules_between_servers(instance, servers));
    }
    verdicts
}

/// The smallest weighted share of those that still want more, infinite if nobody does, and the tasks that wait of users who have a
/// number of them. The placement is well-formed.
pub(crate) fn level_and_waiting(instance: &Instance, placement: &Placement) -> (f64, u64) {
    let work = work(instance, &placement.tasks, &placement.servers);
    let taken = taken_of_limits(instance, &placement.servers);
    let share = |i: usize| work[i] * instance.user(UserId(i)).task_share();
    let waits =
        |i: usize| instance.user(UserId(i)).tasks().map(|tasks| tasks.saturating_sub(placement.tasks[i]));
    let wants_more = |i: usize| {
        let user = instance.user(UserId(i));
        waits(i) != Some(0) && user.fits_somewhere() && !is_held(user, &taken)
    };
    let tree = tree_of(instance, &sure_shares(instance));
    let [_, level] = smallest(&divided_in(instance, &tree, share, wants_more));
    let waiting = (0..instance.user_count()).filter_map(waits).fold(0, u64::saturating_add);
    (level, waiting)
}

/// The whole tasks that so many pieces of each kind make.
pub(crate) fn whole_tasks(instance: &Instance, pieces: &[u64]) -> Vec<u64> {
    let of = |kind: Kind<'_>| pieces[kind.index().0] / kind.each();
    instance.users().map(|user| user.kinds().map(of).min().unwrap_or(0)).collect()
}

/// The work that users do by so many tasks on these servers: with rates, a task counts by its class.
fn work(instance: &Instance, tasks: &[u64], servers: &[ServerTasks]) -> Vec<f64> {
    let mut work: Vec<f64> = tasks.iter().map(|tasks| *tasks as f64).collect();
    if instance.rules().iter().all(|rule| rule.rates().is_empty()) {
        return work;
    }
    let is_rated = |user: User<'_>| !user.has_kinds() && !user.rule().rates().is_empty();
    instance.users().filter(|user| is_rated(*user)).for_each(|user| work[user.index().0] = 0.0);
    let classes = instance.classes_of_servers();
    for (class, (kind, count)) in
        classes.zip(servers).flat_map(|(class, tasks)| tasks.iter().map(move |task| (class, task)))
    {
        let user = instance.kind(KindId(*kind as usize)).user();
        if is_rated(user) {
            work[user.index().0] += *count as f64 * user.rule().rate(class).to_f64();
        }
    }
    work
}

/// What a kind is called: its user, and which of its kinds it is.
fn named(kind: Kind<'_>) -> String {
    match kind.id() {
        None => format!("user {}", kind.user().id()),
        Some(id) => format!("user {}, kind {id}", kind.user().id()),
    }
}

/// What users take of each limit, in whole units; of a reserve what all others take.
pub(crate) fn taken_of_limits(instance: &Instance, servers: &[ServerTasks]) -> Vec<u128> {
    let rows = instance.limit_rows();
    let mut taken = vec![0u128; rows.len()];
    if rows.is_empty() {
        return taken;
    }
    let mut on: HashMap<(u32, usize), u128> = HashMap::new();
    let mut next = 0;
    for (class, of) in instance.classes().iter().enumerate() {
        for (kind, count) in servers[next..next + of.count as usize].iter().flatten() {
            *on.entry((*kind, class)).or_default() += u128::from(*count);
        }
        next += of.count as usize;
    }
    for ((kind, class), count) in on {
        let kind = instance.kind(KindId(kind as usize));
        for j in instance.limits_above(kind.user()) {
            if rows[j].covers(ClassId(class)) {
                let more = kind.piece_units(rows[j].resource).saturating_mul(count);
                taken[j] = taken[j].saturating_add(more);
            }
        }
    }
    taken
}

/// `limits`: nobody has more than its limits, or takes of what others reserve.
fn limits_kept(instance: &Instance, taken: &[u128]) -> Verdict {
    let mut worst = Worst::of("limits", 0.0);
    for (row, taken) in instance.limit_rows().iter().zip(taken) {
        let most = instance.limit_units(row);
        if *taken > most {
            worst.fail(|| {
                let (owner, resource) = (instance.name_of(row.owner), &instance.resources()[row.resource.0]);
                let [taken, most] = [*taken, most].map(|units| instance.written(row.resource, units));
                match row.reserve {
                    None => format!("{owner} has {taken} {resource}, its limit is {most}"),
                    Some(_) => format!(
                        "others have {taken} {resource}, beside what {owner} reserves there are {most}"
                    ),
                }
            });
        }
    }
    worst.verdict()
}

/// Whether no more of a user's tasks is within its limits and those of its groups: no more pieces of some kind are, wherever they can
/// run, or a limit has no room for a whole task's pieces of those kinds that can run nowhere else, or for a whole gang, of each domain
/// where that is in one.
pub(crate) fn is_held(user: User<'_>, taken: &[u128]) -> bool {
    let instance = user.instance();
    let rows = instance.limit_rows();
    if rows.is_empty() {
        return false;
    }
    let own: Vec<usize> =
        instance.limits_above(user).into_iter().filter(|j| !rows[*j].is_reserve()).collect();
    let beyond = |j: usize, more: u128| taken[j].saturating_add(more) > instance.limit_units(&rows[j]);
    let mut inside = vec![0u128; own.len()];
    for kind in user.kinds() {
        let usable: Vec<ClassId> =
            (0..instance.classes().len()).map(ClassId).filter(|class| kind.can_use(*class)).collect();
        let mut open = usable.clone();
        let mut is_any_full = false;
        for (&j, inside) in own.iter().zip(&mut inside) {
            let resource = rows[j].resource;
            if beyond(j, kind.piece_units(resource)) {
                is_any_full = true;
                open.retain(|class| !rows[j].covers(*class));
            }
            if usable.iter().all(|class| rows[j].covers(*class)) {
                let at_once = user.gang().map_or(1, |gang| gang.tasks);
                *inside = inside.saturating_add(kind.demand_units(resource).saturating_mul(at_once.into()));
            }
        }
        if is_any_full && open.is_empty() {
            return true;
        }
    }
    if user.has_kinds() {
        return own.iter().zip(inside).any(|(j, inside)| beyond(*j, inside));
    }
    let Some(gang) = user.gang() else { return false };
    // By domain, or by one for all of them: whether any class has room for a task, and which limits are around all classes.
    let mut around: BTreeMap<Option<DomainId>, (bool, Vec<usize>)> = BTreeMap::new();
    for class in (0..instance.classes().len()).map(ClassId).filter(|class| user.can_use(*class)) {
        let here: Vec<usize> = own.iter().copied().filter(|j| rows[*j].covers(class)).collect();
        let has_room = !here.iter().any(|j| beyond(*j, user.demand_units(rows[*j].resource)));
        let domain = instance.domain_of(class).filter(|_| gang.in_one_domain);
        let (is_open, common) = around.entry(domain).or_insert_with(|| (false, own.clone()));
        *is_open |= has_room;
        common.retain(|j| here.contains(j));
    }
    let takes = |j: usize| user.demand_units(rows[j].resource).saturating_mul(gang.tasks.into());
    !around.is_empty()
        && around.values().all(|(is_open, common)| !is_open || common.iter().any(|j| beyond(*j, takes(*j))))
}

fn check(instance: &Instance, claim: &PlacementClaim<'_>) -> Result<(), String> {
    let users = instance.user_count();
    let length = |what: &str, actual: u64, expected: u64| {
        if actual == expected { Ok(()) } else { Err(format!("{what}: {actual} instead of {expected}")) }
    };
    length("tasks", claim.tasks.len() as u64, users as u64)?;
    length("servers", claim.servers.len() as u64, instance.server_count())?;
    for (server, tasks) in claim.servers.iter().enumerate() {
        let kinds = instance.kind_count();
        if let Some((kind, _)) = tasks.iter().find(|(kind, _)| *kind as usize >= kinds) {
            let what = if instance.has_kinds() { "kind" } else { "user" };
            return Err(format!("server {server} has tasks of {what} {kind} of {kinds}"));
        }
        if tasks.iter().any(|(_, count)| *count == 0) {
            return Err(format!("server {server} has no tasks of a user that is named"));
        }
        if !tasks.is_sorted_by(|(a, _), (b, _)| a < b) {
            return Err(format!(
                "server {server} does not name each user (or kind) once, in the instance's order"
            ));
        }
    }
    if let Some(stated) = &claim.printed {
        length("dominant shares", stated.dominant_shares.len() as u64, users as u64)?;
        length("utilizations", stated.utilization.len() as u64, instance.resources().len() as u64)?;
    }
    Ok(())
}
