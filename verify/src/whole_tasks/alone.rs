//! What all servers hold of one user, if they hold nothing else.

use super::fits;
use crate::cuts::alone_on_a_device;
use fairplan_instances::{ClassId, Instance, Kind, KindId, ProfileId, ResourceId, RuleId, User};

/// The tasks of a user, or those for which all servers hold pieces enough of each kind, if they hold nothing else.
pub(super) fn tasks_of(instance: &Instance, user: User<'_>) -> u64 {
    // Where a server takes only so many of each kind, kinds are never alike.
    let what = |kind: Kind<'_>| -> (RuleId, Vec<u128>, Option<ProfileId>, Option<KindId>) {
        let units = (0..instance.resources().len()).map(|r| kind.piece_units(ResourceId(r)));
        (kind.rule_id(), units.collect(), kind.profile(), user.per_server().map(|_| kind.index()))
    };
    let alone = |kind: Kind<'_>| {
        let alike = user.kinds().filter(|other| what(*other) == what(kind));
        let each: u128 = alike.map(|other| u128::from(other.each())).sum();
        let classes = (0..instance.classes().len()).map(ClassId).filter(|l| fits(instance, kind, *l));
        let held =
            classes.map(|l| copies(instance, kind, l).saturating_mul(instance.classes()[l.0].count.into()));
        held.fold(0, u128::saturating_add) / each
    };
    let alone = user.kinds().map(alone).min().unwrap_or(0).try_into().unwrap_or(u64::MAX);
    user.tasks().unwrap_or(u64::MAX).min(alone)
}

/// As many pieces as a task may have for all ways to be tried in which servers could hold it.
const FEW_PIECES: u64 = 6;

/// Whether idle servers hold a task of kinds that each fit, devices aside; taken for granted of one of many pieces, or of one kind.
pub(super) fn holds_one_of_few_pieces(instance: &Instance, user: User<'_>) -> bool {
    let pieces: Vec<Kind<'_>> = user
        .kinds()
        .flat_map(|kind| std::iter::repeat_n(kind, kind.each().min(FEW_PIECES + 1) as usize))
        .collect();
    if user.kinds().len() < 2 || pieces.len() as u64 > FEW_PIECES {
        return true;
    }
    let m = instance.resources().len();
    let is_usable = |class: &ClassId| user.kinds().any(|kind| fits(instance, kind, *class));
    let classes: Vec<ClassId> = (0..instance.classes().len()).map(ClassId).filter(is_usable).collect();
    let roomy = |kind: Kind<'_>| {
        let fitting = classes.iter().filter(|class| fits(instance, kind, **class));
        fitting.map(|class| u128::from(instance.classes()[class.0].count)).sum::<u128>()
    };
    if user.kinds().all(|kind| roomy(kind) >= pieces.len() as u128) {
        return true;
    }
    // More servers of a class than there are pieces are as good as none.
    let mut servers: Vec<(ClassId, Vec<u128>, bool)> = Vec::new();
    for class in classes {
        let count = instance.classes()[class.0].count.min(FEW_PIECES);
        let all: Vec<u128> = (0..m).map(|r| instance.capacity_units(class, ResourceId(r))).collect();
        servers.extend((0..count).map(|_| (class, all.clone(), false)));
    }
    put(&pieces, &mut servers)
}

/// Tries each server for the last piece, of those of a class that are idle the first, and then the others for what is left.
fn put(pieces: &[Kind<'_>], servers: &mut [(ClassId, Vec<u128>, bool)]) -> bool {
    let Some((kind, others)) = pieces.split_last() else { return true };
    let mut idle_class = None;
    for s in 0..servers.len() {
        let (class, left, is_begun) = servers[s].clone();
        if !is_begun && idle_class == Some(class) {
            continue;
        }
        idle_class = if is_begun { idle_class } else { Some(class) };
        let need = |r: usize| kind.piece_units(ResourceId(r));
        if !kind.rule().allows(class) || left.iter().enumerate().any(|(r, left)| *left < need(r)) {
            continue;
        }
        let less = left.iter().enumerate().map(|(r, left)| left - need(r)).collect();
        servers[s] = (class, less, true);
        if put(others, servers) {
            return true;
        }
        servers[s] = (class, left, is_begun);
    }
    false
}

/// The pieces of a kind that a server of a class holds at most, on which one fits.
pub(super) fn copies(instance: &Instance, kind: Kind<'_>, class: ClassId) -> u128 {
    let devices = &instance.classes()[class.0].devices;
    let of_resource = |r: ResourceId| {
        let taken = kind.piece_units(r);
        let by_amount = instance.capacity_units(class, r) / taken;
        let count = devices.iter().find(|(other, _)| *other == r).map(|(_, count)| u128::from(*count));
        let profile = kind.profile().filter(|of| of.resource == r);
        match count.zip(instance.device_units(r)) {
            Some((count, _)) if profile.is_some() => {
                let on_one = profile.map_or(0, |of| alone_on_a_device(instance, of));
                by_amount.min(count * u128::from(on_one))
            }
            Some((count, size)) if taken < size => by_amount.min(count * (size / taken)),
            Some((count, size)) => by_amount.min(count / (taken / size)),
            None => by_amount,
        }
    };
    let resources = (0..instance.resources().len()).map(ResourceId);
    let copies = resources.filter(|r| kind.piece_units(*r) > 0).map(of_resource).min().unwrap_or(0);
    copies.min(kind.user().per_server().map_or(u128::MAX, u128::from))
}
