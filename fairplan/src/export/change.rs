//! One thing of the configuration, before and after.

/// Something that an export changes in what is deployed.
#[derive(Clone, Debug, PartialEq)]
pub struct ExportChange {
    /// The queue, as the scheduler calls it.
    pub queue: String,
    /// What of it: `cpu on big`, `most memory`, `keeps cpu`, `lends cpu on big`, `weight`, `weight of cpu`, `priority`, `parent`, `order of flavors`.
    pub what: String,
    /// Before; `None` where nothing was stated.
    pub before: Option<String>,
    /// After; `None` where nothing is stated any more.
    pub after: Option<String>,
    /// By how much it is more, of numbers, with its sign.
    pub more: Option<String>,
}
