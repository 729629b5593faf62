//! One file a target: the answer in the scheduler's own words.

mod alone;
pub(crate) mod kai;
pub(crate) mod kueue;
pub(crate) mod slurm;
pub(crate) mod volcano;
mod weights;
mod xml;
mod yaml;
pub(crate) mod yarn;
pub(crate) mod yarn_fair;
pub(crate) mod yunikorn;
