//! Whether all servers hold one task of kinds, whose pieces may be in one another's way.

use super::{ClassId, Instance, Kind, ResourceId, User};

/// Pieces of a task up to which all ways to put them are tried.
const FEW_PIECES: u64 = 6;

impl User<'_> {
    /// Whether the servers, all idle, hold one task of a user whose kinds fit on some, all pieces together: of more than a few pieces nothing is known
    /// against it, nor of devices.
    pub fn holds_few_pieces(self) -> bool {
        let (instance, pieces) =
            (self.instance, self.kinds().map(|kind| kind.each()).fold(0, u64::saturating_add));
        if self.kinds().len() < 2 || pieces > FEW_PIECES {
            return true;
        }
        let usable = |kind: Kind<'_>| {
            let classes = (0..instance.classes().len()).map(ClassId).filter(|l| fits(instance, kind, *l));
            classes.collect::<Vec<_>>()
        };
        let classes: Vec<(Kind<'_>, Vec<ClassId>)> = self.kinds().map(|kind| (kind, usable(kind))).collect();
        let servers = |classes: &[ClassId]| {
            classes.iter().map(|class| instance.classes()[class.0].count).fold(0, u64::saturating_add)
        };
        // Where each piece has a server to itself nothing is in its way.
        if classes.iter().all(|(_, classes)| servers(classes) >= pieces) {
            return true;
        }
        let mut all: Vec<(Kind<'_>, &[ClassId])> = Vec::new();
        for (kind, classes) in &classes {
            all.extend(std::iter::repeat_n((*kind, &classes[..]), kind.each() as usize));
        }
        place(instance, &all, &mut Vec::new())
    }
}

fn fits(instance: &Instance, kind: Kind<'_>, class: ClassId) -> bool {
    let is_room = |r: usize| kind.piece_units(ResourceId(r)) <= instance.capacity_units(class, ResourceId(r));
    kind.rule().allows(class)
        && instance.classes()[class.0].count > 0
        && (0..instance.resources().len()).all(is_room)
}

/// Puts the first of these pieces on each server in turn, and the others after it: servers that hold some, with what is left of them, and of each
/// class one that holds none.
fn place(
    instance: &Instance,
    pieces: &[(Kind<'_>, &[ClassId])],
    begun: &mut Vec<(ClassId, Vec<u128>)>,
) -> bool {
    let Some(((kind, classes), others)) = pieces.split_first() else { return true };
    let resources = 0..instance.resources().len();
    let needs: Vec<u128> = resources.clone().map(|r| kind.piece_units(ResourceId(r))).collect();
    for server in 0..begun.len() {
        let (class, left) = &begun[server];
        if !kind.rule().allows(*class) || left.iter().zip(&needs).any(|(left, need)| left < need) {
            continue;
        }
        let less = left.iter().zip(&needs).map(|(left, need)| left - need).collect();
        let before = std::mem::replace(&mut begun[server].1, less);
        if place(instance, others, begun) {
            return true;
        }
        begun[server].1 = before;
    }
    for class in *classes {
        let used = begun.iter().filter(|(other, _)| other == class).count() as u64;
        if used < instance.classes()[class.0].count {
            let left = resources
                .clone()
                .map(|r| instance.capacity_units(*class, ResourceId(r)) - needs[r])
                .collect();
            begun.push((*class, left));
            if place(instance, others, begun) {
                return true;
            }
            begun.pop();
        }
    }
    false
}
