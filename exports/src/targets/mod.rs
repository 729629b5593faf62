//! One file a target: the answer in the scheduler's own words.

mod alone;
mod kai;
pub(crate) mod kueue;
pub(crate) mod slurm;
mod volcano;
mod weights;
mod xml;
mod yaml;
mod yarn;
mod yarn_fair;
mod yunikorn;

use crate::Target;
use crate::export::Export;

impl Export {
    /// The scheduler's own file.
    pub fn text(&self) -> String {
        match self.target {
            Target::Kueue => kueue::text(self),
            Target::Yarn => yarn::text(self),
            Target::YarnFair => yarn_fair::text(self),
            Target::YuniKorn => yunikorn::text(self),
            Target::Volcano => volcano::text(self),
            Target::Kai => kai::text(self),
            Target::Slurm => slurm::text(self),
        }
    }
}
