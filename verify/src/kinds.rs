//! A task of several kinds runs as often as each of its kinds: all kinds of a user run as many tasks.

use crate::claim::Tasks;
use crate::rounding::Sum;
use crate::tolerance;
use crate::verdict::{Verdict, Worst};
use fairplan_instances::Instance;

/// `kinds`: of each user that has several, no kind runs more tasks than another. `None` where nobody has several, or where all
/// servers are one: there a user is one kind.
pub(crate) fn run_alike(instance: &Instance, tasks: &Tasks<'_>) -> Option<Verdict> {
    if !instance.has_kinds() || tasks.is_pooled() {
        return None;
    }
    let mut worst = Worst::of("kinds", tolerance::STATED);
    for user in instance.users().filter(|user| user.has_kinds()) {
        let running = |kind: usize| {
            let mut running = Sum::new();
            tasks.visit(user.index().0, kind, |_, here| running.add(here));
            running.below()
        };
        let running = user.kinds().map(|kind| (kind.id().unwrap_or_default(), running(kind.index().0)));
        // The two that are furthest apart.
        let mut extremes = None;
        for one in running {
            let (least, most) = extremes.unwrap_or((one, one));
            extremes =
                Some((if one.1 < least.1 { one } else { least }, if one.1 > most.1 { one } else { most }));
        }
        let Some(((fewer, least), (more, most))) = extremes else { continue };
        let apart = if most > least { (most - least) / most } else { 0.0 };
        worst.see(apart, || {
            format!(
                "user {}: kind {more} runs {most} tasks, kind {fewer} {least}; a task needs all its kinds",
                user.id()
            )
        });
    }
    Some(worst.verdict())
}
