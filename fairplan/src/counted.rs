//! What levels of placements count of what groups are guaranteed: the whole tasks that members would have if they divided it alone.

use crate::solve::{AUTO, Solved, solver};
use crate::{Control, Error};
use fairplan_instances::{
    Instance, KeptGuarantees, Objective, Placement, PlacementFigures, Solution, guarantees_more_than_members,
    whole_guarantees,
};
use std::borrow::Cow;

/// An instance with the guarantees that levels of its placements count.
pub(crate) struct CountedInstance<'a> {
    /// The instance as it is.
    whole: &'a Instance,
    /// The one that levels are of: users are guaranteed whole tasks, and groups nothing.
    pub instance: Cow<'a, Instance>,
    /// The divisions of what groups are guaranteed, where that counts.
    pub divisions: Vec<Solution>,
}

impl<'a> CountedInstance<'a> {
    /// Solves what groups are guaranteed beyond their members. Where that is not proved in time, or cannot be kept, guarantees of users
    /// alone count, which is told.
    pub fn of(instance: &'a Instance, control: &Control<'_>) -> Self {
        if !guarantees_more_than_members(instance) {
            return Self::of_users(instance);
        }
        divided(instance, control).unwrap_or_else(|failure| {
            control.note(&format!(
                "what groups are guaranteed beyond their members is left out of the level: {failure}"
            ));
            Self::of_users(instance)
        })
    }

    /// With the guarantees of users alone.
    pub fn of_users(instance: &'a Instance) -> Self {
        Self { whole: instance, instance: Cow::Borrowed(instance), divisions: Vec::new() }
    }

    /// The whole tasks that are guaranteed to each user, where those of groups count.
    pub fn tasks(&self) -> Option<Vec<u64>> {
        (!self.divisions.is_empty()).then(|| whole_guarantees(self.whole, &self.divisions))
    }

    /// What a placement comes to. Guarantees are kept or not as they are stated.
    pub fn figures(&self, placement: &Placement) -> PlacementFigures {
        let figures = PlacementFigures::new(&self.instance, placement);
        PlacementFigures { guarantees: KeptGuarantees::of(self.whole, placement), ..figures }
    }
}

fn divided<'a>(instance: &'a Instance, control: &Control<'_>) -> Result<CountedInstance<'a>, Error> {
    control.stage("dividing what groups are guaranteed");
    let solver = solver(AUTO, &control.deadline)?;
    let divisions =
        Solved::new(instance, &*solver, Objective::Drfh, control)?.certified()?.solution.guaranteed;
    let counted = instance.with_whole_guarantees(&whole_guarantees(instance, &divisions))?;
    Ok(CountedInstance { whole: instance, instance: Cow::Owned(counted), divisions })
}
