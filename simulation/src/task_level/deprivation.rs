//! Which job is the most deprived.
//!
//! What it waits for is kept for it: as long as it does not fit, nothing else begins. Otherwise small tasks would forever
//! take what larger ones wait for.

use super::cluster::Cluster;
use crate::memory::Remembered;
use crate::ranks::Ranks;
use fairplan_instances::InstanceError;

/// How deprivation is measured.
pub(super) enum Deprivation {
    /// By how much less a job has of its dominant resource than in the fluid allocation (MRF Sec. 3.1 and 3.2).
    FromIdeal {
        /// The fluid allocation.
        sharing: Remembered,
        /// The tasks of a job that would run, by class.
        ideal: Vec<f64>,
        /// Their rates.
        task_rates: Vec<f64>,
    },
    /// By the smallest rank of a job in any bottleneck, the largest share there having rank 1 (MRF Sec. 3.3).
    Rank,
}

impl Deprivation {
    /// The jobs are other ones.
    pub fn update(&mut self, counts: &[u32]) -> Result<(), InstanceError> {
        if let Self::FromIdeal { sharing, ideal, task_rates } = self {
            sharing.rates(counts, ideal)?;
            ideal.iter_mut().zip(task_rates).for_each(|(ideal, rate)| *ideal /= *rate);
        }
        Ok(())
    }

    /// The job whose task begins next, if it fits. Of jobs that are equally deprived the first that fits.
    pub fn most_deprived(&self, cluster: &Cluster) -> Option<usize> {
        let ranks = matches!(self, Self::Rank).then(|| {
            let shares =
                |bottleneck| cluster.present().iter().map(|job| share(cluster, *job, bottleneck)).collect();
            Ranks::new(cluster.bottlenecks(), shares)
        });
        let deprived = |job: usize| match (self, &ranks) {
            (Self::FromIdeal { ideal, .. }, _) => ideal[cluster.class(job)] - f64::from(cluster.running(job)),
            (Self::Rank, Some(ranks)) => ranks.smallest(|bottleneck| share(cluster, job, bottleneck)) as f64,
            (Self::Rank, None) => 0.0,
        };
        let (mut most, mut found) = (f64::NEG_INFINITY, None);
        for job in cluster.waiting() {
            let deprived = deprived(job);
            if deprived < most || (deprived == most && found.is_some()) {
                continue;
            }
            most = deprived;
            found = cluster.fits(cluster.class(job)).then_some(job);
        }
        found
    }
}

/// What a job has of a bottleneck, or of its dominant resource: tasks take the same of that, whatever they are.
fn share(cluster: &Cluster, job: usize, bottleneck: Option<usize>) -> f64 {
    f64::from(cluster.running(job)) * bottleneck.map_or(1.0, |r| cluster.need(cluster.class(job), r))
}
