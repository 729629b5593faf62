//! What a scheduler that obeys its configuration makes sure of, beside the answer.

use crate::Target;
use crate::export::Export;

/// Sets, of each leaf, the part of its answer that is sure whatever the others do with theirs.
///
/// A target that knows classes gives a tenant its whole units on each of them: of what runs there, it keeps the part that the
/// scarcest of these resources lets run. One that knows only sums may serve the others first on the servers that a tenant needs: then
/// it is sure of no more than what they leave there if each takes all its units wherever it may run.
pub(crate) fn set(export: &mut Export) {
    let resources = export.resources.len();
    let classes = export.classes.len();
    let leaves: Vec<usize> = (0..export.tenants.len()).filter(|t| export.tenants[*t].is_leaf).collect();
    let knows_classes = export.target.knows_classes();
    // What all leaves that may run on a class are promised of each resource, wherever.
    let promised = |t: usize, r: usize| -> u64 {
        (0..classes).map(|l| export.tenants[t].units[l * resources + r]).sum()
    };
    let promises: Vec<Vec<u64>> =
        leaves.iter().map(|&t| (0..resources).map(|r| promised(t, r)).collect()).collect();
    let mut wanted = vec![0u64; classes * resources];
    for (&t, promises) in leaves.iter().zip(&promises) {
        for l in (0..classes).filter(|l| export.tenants[t].eligible[*l]) {
            for r in 0..resources {
                wanted[l * resources + r] += promises[r];
            }
        }
    }
    let mut kept = Vec::with_capacity(leaves.len());
    for (&t, promises) in leaves.iter().zip(&promises) {
        let tenant = &export.tenants[t];
        let sure = |l: usize, r: usize| {
            let at = l * resources + r;
            if knows_classes {
                return tenant.units[at] as f64;
            }
            let others = wanted[at].saturating_sub(if tenant.eligible[l] { promises[r] } else { 0 });
            export.room[at].saturating_sub(others).min(promises[r]) as f64
        };
        // Of each class, what runs there counts by its largest part of the cluster.
        let (mut all, mut rest) = (0.0, 0.0);
        for l in 0..classes {
            let has =
                |r: &usize| tenant.exact[l * resources + r] > 1e-9 && export.resources[*r].called.is_some();
            let part = |r: usize| tenant.exact[l * resources + r] / (export.totals[r].max(1e-300));
            let weight = (0..resources).map(part).fold(0.0, f64::max);
            let kept = (0..resources).filter(has).map(|r| sure(l, r) / tenant.exact[l * resources + r]);
            all += weight;
            rest += weight * kept.fold(1.0, f64::min);
        }
        // Of tasks that do not fit into the QOS none runs in it.
        let runs = export.target != Target::Slurm || !export.is_below_a_task(tenant);
        kept.push(match all > 0.0 {
            true if runs => rest / all,
            true => 0.0,
            false => 1.0,
        });
    }
    for (t, kept) in leaves.into_iter().zip(kept) {
        export.tenants[t].kept = Some(kept);
    }
}
