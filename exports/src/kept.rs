//! What a scheduler that obeys its configuration makes sure of, beside the answer: the part of it that is left to a tenant in the worst
//! case of what the others do.
//!
//! A target that knows classes gives a tenant its whole units on each of them: of what runs there it keeps the part that the scarcest of
//! these resources lets run. One that knows only sums may serve the others first on the servers that a tenant needs: what they leave
//! then is bounded from below in [`worst_case`](crate::worst_case). What rests on a resource that the target does not count is not sure
//! on any class ([`uncounted`](crate::uncounted)).

use crate::Target;
use crate::export::Export;
use crate::tolerance::{LEAST_TOTAL, NOTHING};
use crate::tree::Tenant;
use crate::worst_case::{Case, Choice, Other, Scarce};

/// Sets, of each leaf, the part of its answer that is sure whatever the others do with theirs.
pub(crate) fn set(export: &mut Export) {
    let leaves: Vec<usize> = (0..export.tenants.len()).filter(|t| export.tenants[*t].is_leaf).collect();
    let promised: Vec<Vec<u64>> = leaves.iter().map(|t| export.promised(*t)).collect();
    let kept = |(position, &t): (usize, &usize)| {
        let tenant = &export.tenants[t];
        // Of tasks that do not fit into the QOS none runs in it.
        if export.target == Target::Slurm && export.is_below_a_task(tenant) {
            return 0.0;
        }
        match export.target.knows_classes() {
            true => export.on_its_classes(t),
            false => export.beside(&leaves, &promised, position),
        }
    };
    let kept: Vec<f64> = leaves.iter().enumerate().map(kept).collect();
    for (t, kept) in leaves.into_iter().zip(kept) {
        export.tenants[t].kept = Some(kept);
    }
}

impl Export {
    /// What a tenant is given of each resource, wherever.
    fn promised(&self, tenant: usize) -> Vec<u64> {
        let n = self.resources.len();
        let units = &self.tenants[tenant].units;
        (0..n).map(|r| units.iter().skip(r).step_by(n).sum()).collect()
    }

    /// What a tenant has of a resource on a class by the answer, before the headroom takes of it.
    fn answer(&self, tenant: &Tenant, class: usize, resource: usize) -> f64 {
        tenant.exact[class * self.resources.len() + resource] / self.left[class]
    }

    /// The resources that a tenant has some of on a class, and that the target counts.
    fn needed<'a>(&'a self, tenant: &'a Tenant, class: usize) -> impl Iterator<Item = usize> + 'a {
        let counts = |r: usize| self.resources[r].called.is_some();
        (0..self.resources.len()).filter(move |r| self.answer(tenant, class, *r) > NOTHING && counts(*r))
    }

    /// What the answer on a class counts: its largest part of the cluster.
    fn weight(&self, tenant: &Tenant, class: usize) -> f64 {
        let n = self.resources.len();
        (0..n).map(|r| self.answer(tenant, class, r) / self.totals[r].max(LEAST_TOTAL)).fold(0.0, f64::max)
    }

    /// The part of a tenant's answer that runs where it is, with its whole units.
    fn on_its_classes(&self, position: usize) -> f64 {
        let (n, tenant) = (self.resources.len(), &self.tenants[position]);
        let (mut all, mut rest) = (0.0, 0.0);
        for l in 0..self.classes.len() {
            let weight = self.weight(tenant, l);
            let kept =
                self.needed(tenant, l).map(|r| tenant.units[l * n + r] as f64 / self.answer(tenant, l, r));
            all += weight;
            rest += if self.may_lack(position, l) { 0.0 } else { weight * kept.fold(1.0, f64::min) };
        }
        if all > 0.0 { rest / all } else { 1.0 }
    }

    /// The part of a leaf's answer that is left to it beside all others, however they spread what they are promised.
    fn beside(&self, leaves: &[usize], promised: &[Vec<u64>], position: usize) -> f64 {
        let tenant = &self.tenants[leaves[position]];
        let all: f64 = (0..self.classes.len()).map(|l| self.weight(tenant, l)).sum();
        if all == 0.0 {
            return 1.0;
        }
        let (n, own) = (self.resources.len(), &promised[position]);
        // Tasks that are all alike may run on any class where they may run; of others each stays where the answer has it.
        let on_all = |r: usize| (0..self.classes.len()).map(|l| self.answer(tenant, l, r)).sum::<f64>();
        let answer: Vec<f64> = (0..n).map(on_all).collect();
        let moves = tenant.is_alike;
        // How much of the answer a unit on a class is.
        let part = |l: usize, r: usize| match moves {
            true => 1.0 / answer[r],
            false => self.weight(tenant, l) / all / self.answer(tenant, l, r),
        };
        let counts = |l: usize| -> Vec<usize> {
            match moves {
                true => {
                    (0..n).filter(|r| answer[*r] > NOTHING && self.resources[*r].called.is_some()).collect()
                }
                false => self.needed(tenant, l).collect(),
            }
        };
        let runs = |l: &usize| if moves { tenant.eligible[*l] } else { self.weight(tenant, *l) > 0.0 };
        let runs = |l: &usize| runs(l) && !self.may_lack(leaves[position], *l);
        let classes: Vec<usize> = (0..self.classes.len()).filter(runs).collect();
        // How much of the answer a class has room for, by a resource and by the scarcest of all.
        let most = |l: usize, r: usize| self.room[l * n + r] as f64 * part(l, r);
        let least = |l: usize| counts(l).into_iter().map(|r| most(l, r)).fold(f64::INFINITY, f64::min);
        let mut case = Case { choices: Vec::with_capacity(classes.len()), others: Vec::new() };
        for &l in &classes {
            let mut choices: Vec<Choice> = match self.classes[l].count {
                1 => {
                    counts(l).iter().map(|r| Choice { scarce: Scarce::One(*r), most: most(l, *r) }).collect()
                }
                _ if counts(l).is_empty() => Vec::new(),
                _ => vec![Choice { scarce: Scarce::Any, most: least(l) }],
            };
            match moves {
                // Of what the target does not count nothing is scarce.
                true if choices.is_empty() => choices.push(Choice { scarce: Scarce::Nothing, most: 1.0 }),
                true => {}
                false => {
                    choices.push(Choice { scarce: Scarce::Nothing, most: self.weight(tenant, l) / all });
                }
            }
            case.choices.push(choices);
        }
        for (other, &o) in leaves.iter().enumerate().filter(|(other, _)| *other != position) {
            let takes = |l: usize, r: usize| match promised[other][r] as f64 * part(l, r) {
                takes if self.classes[l].count == 1 || takes == 0.0 => takes,
                // So large a part of all servers.
                takes => takes / most(l, r) * least(l),
            };
            let takes = classes.iter().map(|l| {
                let there = self.tenants[o].eligible[*l];
                let of = |r: usize| if there && counts(*l).contains(&r) { takes(*l, r) } else { 0.0 };
                (0..n).map(of).collect()
            });
            case.others.push(Other { takes: takes.collect(), is_alike: self.tenants[o].is_alike });
        }
        // It is promised no more than this itself.
        let within = (0..n).filter(|r| answer[*r] > NOTHING && self.resources[*r].called.is_some());
        let within = within.map(|r| own[r] as f64 / answer[r]).fold(1.0, f64::min);
        case.left().min(within)
    }
}
