//! The schedulers that configurations are made for, and what each can be told.

use fairplan_instances::Violation;
use fairplan_instances::wording::choose;
use std::fmt;
use std::str::FromStr;

/// A scheduler that is given the answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Target {
    /// ResourceFlavors, ClusterQueues and Cohorts of Kueue.
    Kueue,
    /// `capacity-scheduler.xml` of YARN, with a node label for each class but the largest.
    Yarn,
    /// `fair-scheduler.xml` of YARN.
    YarnFair,
    /// `queues.yaml` of YuniKorn.
    YuniKorn,
    /// Queues of Volcano.
    Volcano,
    /// Queues of KAI.
    Kai,
    /// Lines of `sacctmgr` for Slurm.
    Slurm,
}

impl Target {
    /// All of them.
    pub const ALL: [Self; 7] =
        [Self::Kueue, Self::Yarn, Self::YarnFair, Self::YuniKorn, Self::Volcano, Self::Kai, Self::Slurm];

    /// Its name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Kueue => "kueue",
            Self::Yarn => "yarn",
            Self::YarnFair => "yarn-fair",
            Self::YuniKorn => "yunikorn",
            Self::Volcano => "volcano",
            Self::Kai => "kai",
            Self::Slurm => "slurm",
        }
    }

    /// What people call it.
    pub fn title(self) -> &'static str {
        match self {
            Self::Kueue => "Kueue",
            Self::Yarn => "YARN",
            Self::YarnFair => "YARN's fair scheduler",
            Self::YuniKorn => "YuniKorn",
            Self::Volcano => "Volcano",
            Self::Kai => "KAI",
            Self::Slurm => "Slurm",
        }
    }

    /// Whether it is told amounts on each class of servers; else their sums.
    pub fn knows_classes(self) -> bool {
        matches!(self, Self::Kueue | Self::Yarn)
    }

    /// Whether all queues are below one of its own, `root`, which files need not state.
    pub fn has_root(self) -> bool {
        matches!(self, Self::Yarn | Self::YarnFair | Self::YuniKorn | Self::Volcano)
    }

    /// Whether `root` is its own name for what is above all queues, which no tenant can have.
    pub fn reserves_root(self) -> bool {
        self.has_root() || self == Self::Slurm
    }

    /// Whether its objects are those of Kubernetes, where memory is counted in bytes.
    pub fn is_kubernetes(self) -> bool {
        !matches!(self, Self::Yarn | Self::YarnFair | Self::Slurm)
    }

    /// Whether weights can be told beside amounts.
    pub(crate) fn knows_weights(self) -> bool {
        matches!(self, Self::Kueue | Self::YarnFair | Self::Kai)
    }

    /// Whether what a tenant keeps when it is idle can be told.
    pub(crate) fn knows_reserves(self) -> bool {
        matches!(self, Self::Kueue | Self::Volcano)
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Target {
    type Err = Violation;
    fn from_str(text: &str) -> Result<Self, Violation> {
        let found = Self::ALL.into_iter().find(|target| target.name() == text);
        found.ok_or_else(|| Violation::new("target", text, choose(text, &Self::ALL.map(Self::name))))
    }
}
