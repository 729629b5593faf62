//! Instances and demands that need no file: the clusters and examples of the papers, Google's published servers,
//! synthetic populations, workloads and traces.
//!
//! Everything drawn is drawn from a seed: the same settings and seed give the same instance on every machine.

mod demands;
mod drawn;
mod google;
mod papers;
mod population;
mod traces;
mod traffic;

pub use demands::{Workload, WorkloadOptions, demands, karma_fig2};
pub use google::{GoogleOptions, drawn_classes, google};
pub use papers::{drfh_fig1, drfh_fig4};
pub use population::{Cluster, PopulationKind, PopulationOptions, population};
pub use traces::{RandomTraceOptions, drfh_fig4_trace, random_trace};
pub use traffic::{mrf_fig1, mrf_fig2};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Instance;
    use crate::Violation;
    use crate::files::sha256_hex;

    /// Every digest is that of the instance's JSON file: should one change, so did what users were given.
    #[test]
    fn the_same_settings_give_the_same_bytes_as_ever() {
        let drawn =
            GoogleOptions { servers: Some(200), users: Some(50), rounded: true, finite: true, seed: 9 };
        let weighted = PopulationOptions {
            kind: PopulationKind::Weighted,
            users: 40,
            cluster: Cluster::Distinct { servers: 30 },
            seed: 9,
        };
        let made: [(&str, Result<Instance, Violation>, &str); 5] = [
            (
                "google",
                google(&GoogleOptions::default()),
                "ae23e2d8b1e3a0889da95f44862d5d128910d1c111e2ae6824878ab8ed3fded2",
            ),
            (
                "google drawn",
                google(&drawn),
                "3ae8b533013a89b13bf97d4b2652455183da0ae2a7eef3dc2adef009ea892009",
            ),
            (
                "population",
                population(&weighted),
                "cfd584f1ee40e85cc838112a0f72b0f404ebe4d8d3bea728d105d5419f88216e",
            ),
            ("drfh-fig1", drfh_fig1(), "60fd8fb047fee129ec6bacec4dcb5e6daa0408e471a174bfe907a89db3b8b34e"),
            (
                "drfh-fig4",
                drfh_fig4(&[1, 2, 3]),
                "9e63fbc28d37cf683516ed8d2a7ad390dae13b706508ef7e13239bb4f5809015",
            ),
        ];
        let digests: Vec<_> =
            made.iter().map(|(name, made, _)| (*name, sha256_hex(made.as_ref().unwrap()))).collect();
        let expected: Vec<_> = made.iter().map(|(name, _, digest)| (*name, digest.to_string())).collect();
        assert_eq!(digests, expected);
    }
}
