//! The best that whole tasks can do, for people.

use super::sentences::{heading, label, of_whom, users};
use crate::bound::BoundDocument;
use crate::bound_placement::{UserTotal, tasks_placed};
use crate::divisible_bound::DivisibleBound;
use crate::figure::Bars;
use crate::page::{Block, Section, sizes};
use crate::summary::grid::paragraph;
use crate::units::{Rounded, counted, number, share};
use fairplan_instances::{
    CountedGuarantees, Instance, Owner, Quota, UserId, WholeTaskBracket, WholeTaskProof, stated_bounds,
};
use std::fmt::Write;

/// Users without tasks that are named.
const NAMED: usize = 10;

/// A bracket of what whole tasks can reach.
pub(super) fn answer<S>(document: &BoundDocument<S>) -> String {
    let (upper, lower) = match &document.others {
        Some(others) => (others.integral_upper, others.integral_lower),
        None => (document.integral_upper, document.integral_lower),
    };
    if document.unplaced == Some(0) && document.integral_level_lower.is_none() {
        if !document.users_without_tasks.is_empty() {
            return format!(
                "All tasks that fit the servers can be placed; none fits, or there are none, of {}.",
                users(document.users_without_tasks.len())
            );
        }
        return "Whole tasks fit: all that everybody asks for can be placed.".into();
    }
    let may_have_all = document.certificate.as_ref().is_some_and(|proof| proof.task_limit.is_some());
    if may_have_all
        && document.under_quotas
        && document.proved_optimal
        && document.integral_level_lower.is_none()
    {
        return "Whole tasks fit: whoever wants more is held by a limit.".into();
    }
    if let Some(most) = document.integral_level_upper {
        let has = document.integral_level_lower.map_or_else(
            || "all their tasks".into(),
            |level| format!("at least {}", Rounded::Down.share(level)),
        );
        return match document.proved_optimal {
            true => format!(
                "Whole tasks can give those who want more {has}, and no placement can give all of them more (proved)."
            ),
            false => format!(
                "A placement of whole tasks gives those who want more {has}; none can give all of them more than {}.",
                Rounded::Up.share(most)
            ),
        };
    }
    if upper == 0.0 && lower == 0.0 {
        return match document.certificate {
            None => "No user can have a whole task.".into(),
            Some(_) => "The servers do not hold a whole task of every user at once (proved).".into(),
        };
    }
    let who = if document.users_without_tasks.is_empty() {
        "every user"
    } else {
        "every user that can have a task"
    };
    match document.proved_optimal {
        true => format!(
            "Whole tasks can give {who} a share of {}, and no placement can give all of them more (proved).",
            share(lower)
        ),
        false => format!(
            "A placement of whole tasks gives {who} a share of {}; none can give all of them more than {}.",
            share(lower),
            Rounded::Up.share(upper)
        ),
    }
}

/// What the least that anybody has is called: where users or groups have weights it is a share over the weight.
pub(super) fn smallest_share(is_weighted: bool) -> &'static str {
    if is_weighted { "smallest weighted share" } else { "smallest share" }
}

/// The summary of a bracket of what whole tasks can reach.
pub fn summary(instance: &Instance, divisible: &DivisibleBound, bracket: &WholeTaskBracket) -> String {
    let mut text = heading(instance);
    let bounds = stated_bounds(&divisible.counted(instance), bracket, Some(divisible.bound));
    let uncounted = not_all_counted(divisible.counted_guarantees);
    let best = match uncounted {
        Some(_) => format!("at most {}", Rounded::Up.share(divisible.bound)),
        None => share(divisible.bound),
    };
    let _ = writeln!(
        text,
        "Best {} if tasks could be divided at will{}: {best}",
        smallest_share(instance.has_weights()),
        in_whole_tasks(divisible.counted_guarantees),
    );
    if let Some(told) = uncounted {
        text += &paragraph(told);
    }
    let so = match bounds.upper > 0.0 {
        false => "So the smallest share of whole tasks is 0. What follows is about the others.",
        true => {
            "What others of their groups are guaranteed is the smallest share. What follows is about the others."
        }
    };
    text += &without_tasks(instance, &bracket.without_tasks, so);
    let is_guaranteed =
        |user: &UserId| instance.quota_of(Owner::User(*user)).is_some_and(Quota::has_guarantee);
    let in_vain = bracket.without_tasks.iter().filter(|user| is_guaranteed(user)).count();
    if in_vain > 0 {
        let who = counted(in_vain as u64, "user is", "users are");
        text += &paragraph(&format!(
            "{who} guaranteed something in vain, since no whole task keeps it: the bounds leave that out."
        ));
    }
    // Whoever has all its tasks does not say how good a placement is.
    let of_all = format!("Best {} of whole tasks", smallest_share(instance.has_weights()));
    let (what, upper, lower) = match (bounds.level_upper, bounds.level_lower) {
        (Some(upper), Some(lower)) => (OF_THOSE, upper, lower),
        _ => (of_all.as_str(), bounds.upper_of_others, bounds.lower_of_others),
    };
    let is_unbounded = instance.has_limits() && matches!(bracket.proof, Some(WholeTaskProof::TaskLimit(_)));
    if is_unbounded && bounds.proved_optimal {
        text += "Whole tasks: whoever wants more is held by a limit (placed)\n";
        let what = if instance.has_weights() { "Smallest weighted share" } else { "Smallest share" };
        let _ = writeln!(text, "{what}: {}", share(bounds.lower_of_others));
    } else if let (true, Some(level)) = (is_unbounded, bounds.level_lower) {
        let _ = writeln!(
            text,
            "{OF_THOSE}: {} placed; nothing is proved to be out of reach, since members may use up the limit of their group",
            share(level)
        );
    } else if bounds.proved_optimal {
        let _ = writeln!(text, "{what}: {} (placed, and proved optimal)", share(lower));
    } else {
        let below = if upper > lower { 1.0 - lower / upper } else { 0.0 };
        let (upper, lower) = (Rounded::Up.share(upper), share(lower));
        let _ = writeln!(text, "{what}: at most {upper}, proved; {lower} placed ({} below)", share(below));
        text += &truncated(bracket.truncated_searches);
    }
    match bounds.unplaced {
        Some(0) if instance.users().all(|user| user.tasks().is_some()) => {
            text += "All tasks of everybody are placed.\n"
        }
        Some(tasks) if tasks > 0 => {
            let left = |id: UserId| Some(bracket.placement.waiting(instance.user(id))? as f64);
            let (tasks, whom) = (counted(tasks, "task", "tasks"), of_whom(instance, left));
            let _ = writeln!(text, "Waiting in the placement: {tasks}{whom}");
        }
        _ => {}
    }
    if bounds.level_upper.is_some() {
        let smallest = share(bounds.lower_of_others);
        let whom = if instance.has_limits() {
            "those who have all their tasks or are held by limits"
        } else {
            "those who have all their tasks"
        };
        let _ = writeln!(text, "Smallest share, counting {whom}: {smallest}");
    }
    text
}

/// How guarantees are kept where tasks are divided beside whole ones.
pub(super) fn in_whole_tasks(counted: Option<CountedGuarantees>) -> &'static str {
    match counted {
        Some(CountedGuarantees::All | CountedGuarantees::OfUsers) => " beside guaranteed whole ones",
        Some(CountedGuarantees::None) | None => "",
    }
}

/// What bounds on levels leave out.
pub(super) fn not_all_counted(counted: Option<CountedGuarantees>) -> Option<&'static str> {
    match counted? {
        CountedGuarantees::All => None,
        CountedGuarantees::OfUsers => Some(
            "The bounds count what users are guaranteed, but not what groups are beyond that, since no placement of whole tasks is known that gives their members what they would have of it alone: with it they may be out of reach.",
        ),
        CountedGuarantees::None => Some(
            "The bounds count no guarantees, since no placement of whole tasks is known that keeps those of all users: with them they may be out of reach.",
        ),
    }
}

/// What brackets of sums leave out.
pub(super) const WITHOUT_QUOTAS: &str = "What is proved here of whole tasks counts of limits how many tasks they leave each user, and no guarantees and reserves: with them it may \
     be out of reach.";

/// The same as a line, where there are any.
pub(super) fn without_quotas(instance: &Instance) -> String {
    if instance.quotas().is_empty() { String::new() } else { format!("{WITHOUT_QUOTAS}\n") }
}

/// What the level is, of whole tasks.
pub(super) const OF_THOSE: &str = "Best level of whole tasks, of those who still want more";

/// Who has no tasks, if there is anybody, and what that means.
pub(super) fn without_tasks(instance: &Instance, users: &[UserId], so: &str) -> String {
    if users.is_empty() {
        return String::new();
    }
    let ids = users.iter().take(NAMED).map(|user| label(instance.user(*user).id()));
    let ids: Vec<_> = ids.map(|id| id.to_string()).collect();
    let more = if users.len() > NAMED { ", …" } else { "" };
    let (users, ids) = (counted(users.len() as u64, "user", "users"), ids.join(", "));
    format!("No task fits the servers, or there are none, of {users}: {ids}{more}\n{so}\n")
}

pub(super) fn truncated(searches: u64) -> String {
    match searches {
        0 => String::new(),
        _ => format!("Searches cut short, which may loosen the bound: {searches}\n"),
    }
}

/// A bracket of what whole tasks can reach as a section.
pub(crate) fn section(document: BoundDocument) -> Section {
    let levels = document.integral_level_upper.zip(document.integral_level_lower);
    let others = document.others.filter(|_| levels.is_none());
    let others = others.map(|others| (others.integral_upper, others.integral_lower));
    let (upper, lower) = levels.or(others).unwrap_or((document.integral_upper, document.integral_lower));
    // What divisible tasks reach is known of the smallest share of all only.
    let of_all = levels.is_none() && others.is_none();
    let divisible = of_all.then(|| ("at most, divisible".into(), vec![document.divisible]));
    let whole = [("placed".into(), vec![lower]), ("at most, whole tasks".into(), vec![upper])];
    let bars = Bars {
        caption: match (levels, others) {
            (None, None) => "Smallest share: what can be had, and what is proved to be out of reach".into(),
            (Some(_), _) => {
                "Level of those who still want more: what can be had, and what is out of reach".into()
            }
            (None, Some(_)) => {
                "Smallest share of those that can have tasks: what can be had, and what is out of reach"
                    .into()
            }
        },
        series: Vec::new(),
        groups: whole.into_iter().chain(divisible).collect(),
        mark: None,
        format: share,
    };
    let section = Section::new("The best that whole tasks can do")
        .answer_in_shares(answer(&document))
        .instance(&document.instance)
        .warning(not_all_counted(document.counted_guarantees));
    let section = sides(section, [share(lower), Rounded::Up.share(upper)], document.proved_optimal);
    all_without_tasks(section, &document.users_without_tasks)
        .block(Block::Bars(bars))
        .grid("Tasks placed", &tasks_placed(&document.placement.users).without_empty())
}

/// The facts of a bracket: what is placed, what nothing exceeds, and whether the two are the same.
pub(super) fn sides(section: Section, [placed, most]: [String; 2], is_optimal: bool) -> Section {
    let proved = if is_optimal { "yes" } else { "no: the best lies between the two" };
    section.fact("Placed", placed).fact("At most", most).fact("Proved optimal", proved)
}

/// The fact of who can have no task, if anybody.
pub(super) fn all_without_tasks(section: Section, users: &[String]) -> Section {
    if users.is_empty() { section } else { section.fact("Users without any task", users.join(", ")) }
}

/// How many tasks each user has in the placement of a bracket, drawn and as a table.
pub(super) fn placed(section: Section, users: &[UserTotal]) -> Section {
    let sized = users.iter().map(|user| (user.id.to_string(), user.tasks as f64)).collect();
    section
        .block(sizes("Tasks placed by user", sized, number))
        .grid("Tasks placed", &tasks_placed(users).without_empty())
}
