//! Synthetic populations: any number of users of a chosen kind, over Google's, random or all-different servers.

use super::drawn::{SERVER_STREAM, USER_STREAM, drawable, name_user};
use super::google::published_classes;
use crate::google2011::shape_name;
use crate::random::{Random, Weighted};
use crate::wording::choose;
use crate::{Decimal, Instance, InstanceBuilder, NewUser, ServerClass, Violation};
use std::collections::HashSet;
use std::fmt;
use std::str::FromStr;

/// How the demands (and weights) of a synthetic population lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PopulationKind {
    /// Each resource on its own over three decades, 0.0001 to 0.1: each doubling equally likely.
    Spread,
    /// Multiples (over three decades) of the average server's capacity, each resource within 35% of it.
    Alike,
    /// As `Spread`, but each entry is zero with probability 0.3; never all of a user's.
    Zeros,
    /// As `Spread`, with weights over six decades, 0.001 to 1049: each doubling equally likely.
    Weighted,
}

/// The servers under a synthetic population.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cluster {
    /// The ten published Google classes (12,583 servers, cpu and memory).
    Google,
    /// Classes of 1 to 1,000 servers, each with 0.1 to 1 of every resource (four decimals).
    Random {
        /// How many classes.
        classes: u64,
        /// How many resources.
        resources: u64,
    },
    /// Single servers, no two alike: Google shapes with each capacity moved by up to 10%.
    Distinct {
        /// How many servers.
        servers: u64,
    },
}

/// What [`population`] makes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PopulationOptions {
    /// How demands and weights lie.
    pub kind: PopulationKind,
    /// How many users, named `u000001`, `u000002`, ….
    pub users: u64,
    /// The servers.
    pub cluster: Cluster,
    /// Seed of everything drawn.
    pub seed: u64,
}

/// Demands are drawn in units of 1e-8: ten doublings from 9,766 end just above 0.1.
const DEMAND_UNIT: i32 = -8;
const SMALLEST_DEMAND: u64 = 9_766;
const DEMAND_DOUBLINGS: u32 = 10;

/// Weights are drawn in units of 1e-6: twenty doublings from 0.001.
const WEIGHT_UNIT: i32 = -6;
const SMALLEST_WEIGHT: u64 = 1_000;
const WEIGHT_DOUBLINGS: u32 = 20;

const MAX_CLASSES: u64 = 1_000_000;
const MAX_RESOURCES: u64 = 100;

/// A cluster with users of one kind, tasks unlimited.
///
/// # Errors
/// Fewer than one or more than 100 million users, a million classes or distinct servers, 100 resources.
pub fn population(options: &PopulationOptions) -> Result<Instance, Violation> {
    let PopulationOptions { kind, users, cluster, seed } = *options;
    let name = format!("{users} {kind} users on {cluster} servers, seed {seed}");
    let classes = cluster.classes(&mut Random::new(seed, SERVER_STREAM))?;
    let m = classes[0].capacity.len();
    let resources = match cluster {
        Cluster::Random { .. } => (1..=m).map(|r| format!("r{r}")).collect(),
        Cluster::Google | Cluster::Distinct { .. } => vec!["cpu".into(), "memory".into()],
    };
    let average = average_capacity(&classes);
    let mut builder = InstanceBuilder::new(name, resources)?;
    for class in classes {
        builder.class(class)?;
    }

    let mut random = Random::new(seed, USER_STREAM);
    let (mut id, mut units) = (String::new(), vec![0; m]);
    let mut demand = vec![Decimal::ZERO; m];
    for number in 1..=drawable("users", users)? {
        kind.draw_demand(&mut units, &average, &mut random);
        for (demand, units) in demand.iter_mut().zip(&units) {
            *demand = exact(*units, DEMAND_UNIT)?;
        }
        let weight = match kind {
            PopulationKind::Weighted => exact(random.spread(SMALLEST_WEIGHT, WEIGHT_DOUBLINGS), WEIGHT_UNIT)?,
            _ => Decimal::ONE,
        };
        name_user(&mut id, number);
        builder.user(NewUser { weight, ..NewUser::new(&id, &demand) })?;
    }
    builder.build()
}

impl PopulationKind {
    /// One task's demand in units of 1e-8, not all zero.
    fn draw_demand(self, units: &mut [u64], average: &[u64], random: &mut Random) {
        match self {
            Self::Spread | Self::Weighted => {
                units.fill_with(|| random.spread(SMALLEST_DEMAND, DEMAND_DOUBLINGS));
            }
            Self::Zeros => loop {
                units.fill_with(|| match random.below(10) {
                    0..3 => 0,
                    _ => random.spread(SMALLEST_DEMAND, DEMAND_DOUBLINGS),
                });
                if units.iter().any(|&unit| unit > 0) {
                    return;
                }
            },
            Self::Alike => {
                let size = random.spread(SMALLEST_DEMAND, DEMAND_DOUBLINGS);
                for (unit, average) in units.iter_mut().zip(average) {
                    // size · average · (65% to 135%), with the average capacity in millionths.
                    let product = u128::from(size)
                        * u128::from(*average)
                        * u128::from(random.between(650_000, 1_350_000));
                    *unit = (product / 1_000_000_000_000).max(1) as u64;
                }
            }
        }
    }
}

impl Cluster {
    fn classes(self, random: &mut Random) -> Result<Vec<ServerClass>, Violation> {
        match self {
            Self::Google => Ok(published_classes(false)?
                .into_iter()
                .map(|(count, capacity)| ServerClass::new(shape_name(capacity), count, capacity.to_vec()))
                .collect()),
            Self::Random { classes, resources } => {
                within("classes", classes, MAX_CLASSES)?;
                within("resources", resources, MAX_RESOURCES)?;
                (1..=classes)
                    .map(|number| {
                        let count = random.between(1, 1000);
                        let capacity = (0..resources).map(|_| exact(random.between(1_000, 10_000), -4));
                        let capacity = capacity.collect::<Result<_, _>>()?;
                        Ok(ServerClass::new(format!("c{number:02}"), count, capacity))
                    })
                    .collect()
            }
            Self::Distinct { servers } => distinct_servers(within("servers", servers, MAX_CLASSES)?, random),
        }
    }
}

/// Google shapes, drawn by their counts, each capacity times 90% to 110%; a server that is there already is
/// drawn again.
fn distinct_servers(servers: u64, random: &mut Random) -> Result<Vec<ServerClass>, Violation> {
    let published = published_classes(false)?;
    let weighted = Weighted::new(published.iter().map(|class| class.0));
    let mut seen = HashSet::new();
    let mut classes = Vec::new();
    while (classes.len() as u64) < servers {
        let shape = published[weighted.draw(random)].1;
        let mut capacity = Vec::with_capacity(shape.len());
        for amount in shape {
            // Published capacities have at most five decimals; times millionths, cut to eight.
            let units = amount.scaled(-5).unwrap_or(0) as u64 * random.between(900_000, 1_100_000);
            capacity.push(exact(units / 1000, -8)?);
        }
        if seen.insert(capacity.clone()) {
            classes.push(ServerClass::new(format!("s{:05}", classes.len() + 1), 1, capacity));
        }
    }
    Ok(classes)
}

/// The average server's capacity of each resource, in millionths.
fn average_capacity(classes: &[ServerClass]) -> Vec<u64> {
    let servers: u64 = classes.iter().map(|class| class.count).sum();
    let m = classes[0].capacity.len();
    let total = |r: usize| -> u128 {
        classes.iter().map(|class| class.capacity[r].scaled(-8).unwrap_or(0) * u128::from(class.count)).sum()
    };
    (0..m).map(|r| (total(r) / (u128::from(servers) * 100)) as u64).collect()
}

fn within(what: &str, count: u64, most: u64) -> Result<u64, Violation> {
    if (1..=most).contains(&count) {
        Ok(count)
    } else {
        Err(Violation::new(what, count, format!("must be at least 1 and at most {most}")))
    }
}

fn exact(units: u64, exponent: i32) -> Result<Decimal, Violation> {
    Decimal::new(units, exponent).map_err(|error| Violation::new("", units, error.to_string()))
}

impl fmt::Display for PopulationKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Spread => "spread",
            Self::Alike => "alike",
            Self::Zeros => "zeros",
            Self::Weighted => "weighted",
        })
    }
}

impl FromStr for PopulationKind {
    type Err = Violation;
    /// `spread`, `alike`, `zeros` or `weighted`.
    fn from_str(text: &str) -> Result<Self, Violation> {
        [Self::Spread, Self::Alike, Self::Zeros, Self::Weighted]
            .into_iter()
            .find(|kind| kind.to_string() == text)
            .ok_or_else(|| {
                Violation::new("kind", text, choose(text, &["spread", "alike", "zeros", "weighted"]))
            })
    }
}

impl fmt::Display for Cluster {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Google => f.write_str("google"),
            Self::Random { classes, resources } => write!(f, "random:{classes}x{resources}"),
            Self::Distinct { servers } => write!(f, "distinct:{servers}"),
        }
    }
}

impl FromStr for Cluster {
    type Err = Violation;
    /// `google`, `random:CLASSESxRESOURCES` (`random:10x4`; `random:10` has two resources) or `distinct:SERVERS`.
    fn from_str(text: &str) -> Result<Self, Violation> {
        let refused = || {
            Violation::new(
                "cluster",
                text,
                "choose google, random:CLASSESxRESOURCES (random:10x4) or distinct:SERVERS",
            )
        };
        let number = |digits: &str| digits.parse().map_err(|_| refused());
        match text.split_once(':') {
            None if text == "google" => Ok(Self::Google),
            Some(("random", size)) => {
                let (classes, resources) = size.split_once('x').unwrap_or((size, "2"));
                Ok(Self::Random { classes: number(classes)?, resources: number(resources)? })
            }
            Some(("distinct", servers)) => Ok(Self::Distinct { servers: number(servers)? }),
            _ => Err(refused()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ResourceId, User};
    use proptest::prelude::*;
    use proptest::sample::select;

    fn generate(kind: PopulationKind, users: u64, cluster: &str, seed: u64) -> Instance {
        population(&PopulationOptions { kind, users, cluster: cluster.parse().unwrap(), seed }).unwrap()
    }

    fn text(user: User<'_>) -> String {
        format!("{} {:?} {}", user.id(), user.demand(), user.weight())
    }

    #[test]
    fn spread_demands_are_distinct_and_fill_three_decades() {
        let instance = generate(PopulationKind::Spread, 20_000, "google", 1);
        assert_eq!((instance.server_count(), instance.user_count()), (12_583, 20_000));
        let distinct: HashSet<_> = instance.users().map(|user| user.demand()).collect();
        assert!(distinct.len() >= 19_999, "{}", distinct.len());
        let (low, high) = instance
            .demand_doubles()
            .iter()
            .fold((f64::MAX, 0.0f64), |(low, high), &demand| (low.min(demand), high.max(demand)));
        assert!(low < 1.1e-4 && (0.09..0.1001).contains(&high), "{low} {high}");
        assert!(!instance.is_weighted());
    }

    #[test]
    fn alike_demands_stay_within_35_percent_of_the_average_server() {
        for cluster in ["google", "random:7x4", "distinct:50"] {
            let instance = generate(PopulationKind::Alike, 3_000, cluster, 2);
            let m = instance.resources().len();
            let mut extremes = (f64::MAX, 0.0f64);
            for user in instance.users() {
                let relative: Vec<f64> =
                    (0..m).map(|r| user.demand_doubles()[r] / instance.total(ResourceId(r))).collect();
                for pair in relative.windows(2) {
                    extremes = (extremes.0.min(pair[0] / pair[1]), extremes.1.max(pair[0] / pair[1]));
                }
            }
            let widest = 1.35 / 0.65;
            assert!(extremes.0 > 0.98 / widest && extremes.1 < widest * 1.02, "{cluster}: {extremes:?}");
            assert!(extremes.0 < 0.6 && extremes.1 > 1.7, "{cluster}: {extremes:?}");
        }
    }

    #[test]
    fn three_in_ten_entries_are_zero_and_no_user_asks_for_nothing() {
        let instance = generate(PopulationKind::Zeros, 20_000, "random:5x4", 3);
        let zeros = instance.demand_doubles().iter().filter(|&&demand| demand == 0.0).count();
        let share = zeros as f64 / 80_000.0;
        assert!((0.285..0.305).contains(&share), "{share}");
        assert!(instance.users().all(|user| user.demand().iter().any(|demand| !demand.is_zero())));
    }

    #[test]
    fn weights_span_six_decades() {
        let instance = generate(PopulationKind::Weighted, 20_000, "google", 4);
        let weights: Vec<f64> = instance.users().map(|user| user.weight().to_f64()).collect();
        let (low, high) = weights.iter().fold((f64::MAX, 0.0f64), |(l, h), &w| (l.min(w), h.max(w)));
        assert!((0.001..0.0011).contains(&low) && (900.0..1049.0).contains(&high), "{low} {high}");
    }

    #[test]
    fn distinct_servers_are_pairwise_different_and_near_a_google_shape() {
        let instance = generate(PopulationKind::Spread, 1, "distinct:12583", 5);
        let capacities: HashSet<_> = instance.classes().iter().map(|class| &class.capacity).collect();
        assert_eq!((capacities.len(), instance.server_count()), (12_583, 12_583));
        assert!((5_900.0..7_300.0).contains(&instance.total(ResourceId(0))));
    }

    #[test]
    fn what_a_seed_draws_never_changes() {
        let first = |kind, cluster: &str| {
            let instance = generate(kind, 2, cluster, 42);
            let class = instance.classes().last().unwrap();
            let mut lines = vec![format!("{} {} {:?}", class.id, class.count, class.capacity)];
            lines.extend(instance.users().map(text));
            lines
        };
        assert_eq!(
            first(PopulationKind::Spread, "google"),
            [
                "cpu0.5-mem0.06158 1 [0.5, 0.06158]",
                "u000001 [0.00060272, 0.00494763] 1",
                "u000002 [0.00101082, 0.01936506] 1",
            ]
        );
        assert_eq!(
            first(PopulationKind::Alike, "random:3x3"),
            [
                "c03 160 [0.2799, 0.4113, 0.6899]",
                "u000001 [0.00024186, 0.0004652, 0.00022767] 1",
                "u000002 [0.00027703, 0.00063211, 0.00032069] 1",
            ]
        );
        assert_eq!(
            first(PopulationKind::Zeros, "distinct:4"),
            [
                "s00004 1 [0.484586, 0.51503145]",
                "u000001 [0, 0.00494763] 1",
                "u000002 [0.0006922, 0.0424236] 1",
            ]
        );
        assert_eq!(
            first(PopulationKind::Weighted, "google"),
            [
                "cpu0.5-mem0.06158 1 [0.5, 0.06158]",
                "u000001 [0.00060272, 0.00494763] 0.165607",
                "u000002 [0.01936506, 0.0424236] 198.336414",
            ]
        );
    }

    proptest! {
        #[test]
        fn every_kind_on_every_cluster_is_an_instance_and_the_same_again(
            kind in select(vec!["spread", "alike", "zeros", "weighted"]),
            (classes, resources, users) in (1u64..6, 1u64..5, 1u64..40),
            distinct: bool,
            seed: u64,
        ) {
            let cluster = if distinct { format!("distinct:{classes}") } else { format!("random:{classes}x{resources}") };
            let [one, two] = [(); 2].map(|()| generate(kind.parse().unwrap(), users, &cluster, seed));
            prop_assert_eq!(one.user_count() as u64, users);
            prop_assert_eq!(one.classes(), two.classes());
            prop_assert!(one.users().map(text).eq(two.users().map(text)));
        }
    }

    #[test]
    fn words_are_read_back_and_others_refused() {
        for cluster in ["google", "random:10x4", "distinct:12583"] {
            assert_eq!(cluster.parse::<Cluster>().unwrap().to_string(), cluster);
        }
        assert_eq!("random:10".parse::<Cluster>().unwrap(), Cluster::Random { classes: 10, resources: 2 });
        for kind in ["spread", "alike", "zeros", "weighted"] {
            assert_eq!(kind.parse::<PopulationKind>().unwrap().to_string(), kind);
        }
        for bad in [
            "",
            "Google",
            "random",
            "random:",
            "random:x",
            "random:-1",
            "random:3x",
            "distinct:1.5",
            "google:3",
        ] {
            let message = bad.parse::<Cluster>().unwrap_err().to_string();
            assert!(message.starts_with("cluster"), "{bad}: {message}");
        }
        assert_eq!(
            "wide".parse::<PopulationKind>().unwrap_err().to_string(),
            "kind = wide: choose spread, alike, zeros or weighted"
        );
    }

    #[test]
    fn sizes_out_of_range_are_refused() {
        for (users, cluster, place) in [
            (0, "google", "users"),
            (1, "random:0", "classes"),
            (1, "random:3x101", "resources"),
            (1, "distinct:0", "servers"),
        ] {
            let options = PopulationOptions {
                kind: PopulationKind::Spread,
                users,
                cluster: cluster.parse().unwrap(),
                seed: 0,
            };
            let message = population(&options).unwrap_err().to_string();
            assert!(message.starts_with(place), "{message}");
        }
    }
}
