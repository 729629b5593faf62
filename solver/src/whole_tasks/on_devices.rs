//! Whether pieces find devices on a server, asked while they come and go.

use super::inside::{self, Devices, Piece};
use super::packing::Units;
use super::quantities::Quantities;
use fairplan_instances::{ClassId, Instance, KindId, ProfileId, Violation};

/// The devices of all classes, and what pieces of all kinds want of them.
pub(crate) struct OnDevices {
    /// Of each class of the instance.
    devices: Vec<Vec<Devices>>,
    /// Of each kind.
    pieces: Vec<(Quantities, Option<ProfileId>)>,
}

impl OnDevices {
    /// # Errors
    /// More than 8 resources, amounts that span more than 63 bits.
    pub fn new(instance: &Instance) -> Result<Self, Violation> {
        let units = Units::new(instance)?;
        let makes = inside::makes(instance, |r, size| units.amount(r, size));
        let of_class = |l: usize| inside::of_class(instance, ClassId(l), &makes);
        let kinds = (0..instance.kind_count()).map(|k| instance.kind(KindId(k)));
        let pieces = kinds.map(|kind| (units.measure(|r| kind.piece_units(r)), kind.profile()));
        Ok(Self { devices: (0..instance.classes().len()).map(of_class).collect(), pieces: pieces.collect() })
    }

    /// Whether pieces, so many of each kind, are found to fit the devices of a server of a class.
    pub fn hold(&self, class: ClassId, content: impl Iterator<Item = (u32, u64)> + Clone) -> bool {
        let piece = |(kind, count): (u32, u64)| {
            let (demand, profile) = &self.pieces[kind as usize];
            (Piece { demand, profile: *profile }, count)
        };
        inside::hold(&self.devices[class.0], content.map(piece)) == Some(true)
    }
}
