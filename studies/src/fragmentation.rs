//! How much GPU policies allocate on Alibaba's cluster as pods come: the experiment of Weng et al., "Beware of Fragmentation:
//! Scheduling GPU-Sharing Workloads with Fragmentation Gradient Descent" (ATC 2023), whose results were published beside its
//! simulator for each of ten seeds.
//!
//! As there: the pods of a list come in any order, followed by pods drawn from it with replacement, until so much GPU has been asked
//! for as 130% of what the nodes with GPUs have. Each goes where the policy says when it comes, or nowhere; none ends. What is
//! published at a percentage of arrived demand is the mean over the moments that round to it. Beside the policies stands what any
//! placement of the pods that have come could allocate then, all of them known, of the same seeds and moments.

use super::allocatable::Allocatable;
use super::outcome::{Curves, KeptBound};
use fairplan::imports::{AlibabaGpu2023Options, TaskGrouping, alibaba_gpu2023_instance};
use fairplan::instances::{Draft, Random, ResourceId};
use fairplan::report::figure::{Curve, Figure, Mark, Panel};
use fairplan::report::reproduction::{Exhibit, Interval};
use fairplan::{Control, Error, Instance, PlaceOptions, UserId, place_in_order};
use rayon::prelude::*;
use std::path::Path;

/// Percent of the demand that has come, by tenths.
const TENTHS: usize = 13;

/// A policy, and the percent of all GPU that it has allocated when each tenth has come, the mean of ten seeds.
type Published = [(&'static str, [f64; TENTHS]); 6];

const DEFAULT: Published = [
    (
        "random",
        [
            10.013, 20.003, 30.017, 40.012, 49.972, 59.73, 69.206, 78.661, 85.017, 86.303, 86.881, 87.278,
            87.47,
        ],
    ),
    (
        "gpu-dot-product",
        [10.013, 20.003, 30.017, 40.012, 50.01, 59.996, 70.0, 80.015, 89.978, 90.622, 90.7, 90.765, 90.849],
    ),
    (
        "gpu-clustering",
        [10.013, 20.003, 30.017, 40.012, 50.01, 59.996, 70.0, 80.015, 89.981, 91.65, 91.727, 91.796, 91.878],
    ),
    (
        "gpu-packing",
        [10.013, 20.003, 30.017, 40.012, 50.01, 59.996, 70.0, 80.015, 89.981, 91.779, 91.855, 91.921, 92.002],
    ),
    (
        "gpu-best-fit",
        [10.013, 20.003, 30.017, 40.012, 50.01, 59.996, 70.0, 80.015, 89.994, 92.862, 92.935, 93.001, 93.076],
    ),
    (
        "fgd",
        [10.013, 20.003, 30.017, 40.012, 50.01, 59.996, 70.0, 80.015, 89.981, 95.227, 95.296, 95.347, 95.391],
    ),
];

const GPUSPEC33: Published = [
    (
        "random",
        [
            9.987, 19.977, 29.979, 39.75, 48.238, 56.196, 63.509, 70.416, 77.396, 83.866, 85.545, 86.099,
            86.456,
        ],
    ),
    (
        "gpu-dot-product",
        [9.908, 19.63, 28.255, 35.754, 43.249, 50.627, 58.104, 65.379, 72.603, 79.817, 87.122, 89.08, 89.144],
    ),
    (
        "gpu-clustering",
        [9.987, 19.977, 29.35, 37.455, 45.07, 52.365, 59.601, 66.694, 73.869, 81.09, 88.397, 92.053, 92.117],
    ),
    (
        "gpu-packing",
        [
            9.987, 19.977, 29.977, 38.692, 46.295, 53.499, 60.728, 67.826, 75.001, 82.218, 89.527, 93.156,
            93.22,
        ],
    ),
    (
        "gpu-best-fit",
        [9.915, 19.636, 28.48, 36.036, 43.53, 50.906, 58.383, 65.696, 73.099, 80.395, 87.702, 93.029, 93.093],
    ),
    (
        "fgd",
        [
            9.987, 19.808, 29.54, 39.163, 48.378, 57.401, 66.254, 73.441, 80.615, 87.836, 94.433, 94.497,
            94.547,
        ],
    ),
];

/// How near our means come to the published ones, in percent of all GPU.
const POINTS: f64 = 0.5;

/// Seeds of the order of pods and of the draws.
const SEEDS: u64 = 10;

/// So much of what the nodes have is asked for in the end, in percent.
const ARRIVED: u128 = 130;

/// The figure begins at this tenth, counted from 0: before it the lines are hard to tell apart.
const SHOWN: usize = 7;

const GPU: ResourceId = ResourceId(2);

/// Position among the policies.
const FGD: usize = 5;

/// The list as it was.
pub(crate) fn default(directory: &Path, control: &Control<'_>) -> Result<(Curves, Vec<KeptBound>), Error> {
    const EXHIBIT: Exhibit =
        Exhibit { id: "fgd", source: "results published with the FGD paper, default workload" };
    study(EXHIBIT, "openb_pod_list_default.csv", &DEFAULT, directory, control)
}

/// A list of which a third of the pods that want GPUs name models.
pub(crate) fn gpuspec33(directory: &Path, control: &Control<'_>) -> Result<(Curves, Vec<KeptBound>), Error> {
    const EXHIBIT: Exhibit =
        Exhibit { id: "fgd-gpuspec33", source: "results published with the FGD paper, workload gpuspec33" };
    study(EXHIBIT, "openb_pod_list_gpuspec33.csv", &GPUSPEC33, directory, control)
}

fn study(
    exhibit: Exhibit,
    pods: &str,
    published: &Published,
    directory: &Path,
    control: &Control<'_>,
) -> Result<(Curves, Vec<KeptBound>), Error> {
    let instance = cluster(directory, pods)?;
    control.stage("placing pods as they come");
    let orders: Vec<Vec<UserId>> = (0..SEEDS).map(|seed| arrivals(&instance, seed)).collect();
    let runs: Vec<(usize, u64)> =
        (0..published.len()).flat_map(|policy| (0..SEEDS).map(move |seed| (policy, seed))).collect();
    let run = |&(policy, seed): &(usize, u64)| {
        let options = PlaceOptions { policy: published[policy].0.into(), seed, command: None };
        let order = &orders[seed as usize];
        let servers = place_in_order(&instance, &options, order, control)?;
        let (total, mut allocated) = (instance.total_units(GPU) as f64, 0u128);
        let by_tenths = by_tenths(&instance, order, |at, _| {
            allocated += servers[at].map_or(0, |_| instance.user(order[at]).demand_units(GPU));
            100.0 * allocated as f64 / total
        });
        Ok((by_tenths, if policy == FGD { servers } else { Vec::new() }))
    };
    let runs = runs.par_iter().map(run).collect::<Result<Vec<_>, Error>>()?;
    let passage = exhibit.says("arrived_gpu_percent, allocated_gpu_percent_mean");
    let mut numbers = Vec::new();
    let mut curves = Vec::new();
    for ((policy, means), runs) in published.iter().zip(runs.chunks(SEEDS as usize)) {
        let mut points = Vec::new();
        for (tenth, published) in means.iter().enumerate() {
            let arrived = 10 * (tenth + 1);
            let ours = runs.iter().map(|(run, _)| run[tenth]).sum::<f64>() / runs.len() as f64;
            let quantity = format!("{policy}: percent allocated when {arrived}% has come");
            numbers.push(passage.number(quantity, *published, ours, POINTS));
            points.extend((tenth >= SHOWN).then_some([arrived as f64, ours]));
        }
        let kind = "allocated".into();
        curves.push(Curve { kind, subject: (*policy).into(), mark: Mark::Line, points });
        let crosses = means.iter().enumerate().skip(SHOWN);
        let crosses = crosses.map(|(tenth, mean)| [10.0 * (tenth + 1) as f64, *mean]).collect();
        curves.push(Curve {
            kind: "published".into(),
            subject: (*policy).into(),
            mark: Mark::Crosses,
            points: crosses,
        });
    }
    let by_fgd = runs.into_iter().skip(FGD * SEEDS as usize).map(|(_, servers)| servers);
    let arrived: Vec<Arrived> = orders.into_iter().zip(by_fgd).collect();
    let (bounds, kept) = allocatable(&instance, exhibit.id, &arrived, control)?;
    for Bounded { arrived, most, upper, least } in &bounds {
        let fgd = published[FGD].1[arrived / 10 - 1];
        let reading = Interval { least: Some(fgd - POINTS), most: None };
        numbers.push(passage.words(
            format!("ceiling of any placement of the pods when {arrived}% has come"),
            reading,
            *most,
        ));
        // Nobody reads more digits; rounded up, the bound still holds.
        let reading = Interval { least: None, most: Some((upper * 1e4).ceil() / 1e4) };
        let quantity = format!(
            "best placement found when all of the first seed's pods are known: percent allocated when {arrived}% has come"
        );
        numbers.push(passage.words(quantity, reading, *least));
    }
    let curve =
        |kind: &str, mark, points| Curve { kind: kind.into(), subject: "any placement".into(), mark, points };
    let shown = &bounds[SHOWN..];
    let most = shown.iter().map(|at| [at.arrived as f64, at.most]).collect();
    let least = shown.iter().map(|at| [at.arrived as f64, at.least]).collect();
    // One seed's pods may be easier to place than the mean of all.
    curves.extend([curve("ceiling", Mark::Dashes, most), curve("found for one seed", Mark::Line, least)]);
    let panel = Panel { title: pods.into(), curves };
    let figure = Figure {
        exhibit: exhibit.id.into(),
        title: "GPU allocated while pods come".into(),
        horizontal: "GPU asked for so far, percent of all".into(),
        names: Vec::new(),
        vertical: "GPU allocated, percent of all".into(),
        panels: vec![panel],
    };
    Ok(((numbers, figure), kept))
}

/// The nodes with GPUs, each a device, and the pods of a list.
fn cluster(directory: &Path, pods: &str) -> Result<Instance, Error> {
    let file = |name: &str| directory.join(name).display().to_string();
    let options = AlibabaGpu2023Options {
        nodes: file("openb_node_list_all_node.csv"),
        pods: file(pods),
        grouping: TaskGrouping::Shape,
        at: None,
        devices: true,
    };
    let (instance, _) = alibaba_gpu2023_instance(&options)?;
    let mut draft = Draft::from(&instance);
    draft.classes.iter_mut().filter(|class| class.devices.is_empty()).for_each(|class| class.set_count(0));
    Ok(draft.build()?)
}

/// Whose pod comes, one after the other.
fn arrivals(instance: &Instance, seed: u64) -> Vec<UserId> {
    let mut random = Random::new(seed, 0);
    let listed = instance.users().flat_map(|user| {
        let pods = user.tasks().unwrap_or(0) as usize;
        std::iter::repeat_n(user.index(), pods)
    });
    let listed: Vec<UserId> = listed.collect();
    let mut order = listed.clone();
    for last in (1..order.len()).rev() {
        order.swap(last, random.below(last as u64 + 1) as usize);
    }
    let wants = |user: &UserId| instance.user(*user).demand_units(GPU);
    let limit = instance.total_units(GPU) * ARRIVED / 100;
    let mut asked: u128 = order.iter().map(wants).sum();
    while !listed.is_empty() {
        let next = &listed[random.below(listed.len() as u64) as usize];
        asked += wants(next);
        if asked > limit {
            break;
        }
        order.push(*next);
    }
    order
}

/// Whose pod comes, one after the other, and on which server it is put.
type Arrived = (Vec<UserId>, Vec<Option<usize>>);

/// What is known when so many percent have come, in percent.
struct Bounded {
    arrived: usize,
    /// The most that any placement can allocate, the mean over the seeds and the moments that round to it.
    most: f64,
    /// The same of the first seed's pods when no more than that have come, and what one placement does of these.
    upper: f64,
    least: f64,
}

/// What is known at each tenth; and the bounds that prove it, around FGD's placements of the pods that have come at most then.
fn allocatable(
    instance: &Instance,
    exhibit: &str,
    arrived: &[Arrived],
    control: &Control<'_>,
) -> Result<(Vec<Bounded>, Vec<KeptBound>), Error> {
    control.stage("bounding what can be allocated");
    let total = instance.total_units(GPU);
    let at = |(tenth, seed): (usize, usize)| {
        let ((order, servers), percent) = (&arrived[seed], 10 * (tenth + 1));
        let mut sum = 0;
        let has_come = |user: &&UserId| {
            sum += instance.user(**user).demand_units(GPU);
            sum * 100 <= total * percent as u128
        };
        let come = order.iter().take_while(has_come).count();
        let bounded = Allocatable::new(instance, GPU, (&order[..come], &servers[..come]), control)?;
        let mut counts = vec![0u64; instance.user_count()];
        let ceilings = by_tenths(instance, order, |at, asked| {
            counts[order[at].0] += 1;
            if is_of(asked, total) == Some(tenth) {
                100.0 * bounded.most(&counts).min(asked as f64 / total as f64)
            } else {
                0.0
            }
        });
        let name = format!("{exhibit}-seed{seed}-{percent:03}");
        let least = if seed == 0 { 100.0 * bounded.found(control)? } else { 0.0 };
        let at = Bounded { arrived: percent, most: ceilings[tenth], upper: 100.0 * bounded.upper(), least };
        Ok((at, KeptBound { name, instance: bounded.instance, bound: bounded.bound }))
    };
    let all: Vec<(usize, usize)> =
        (0..TENTHS).flat_map(|tenth| (0..arrived.len()).map(move |seed| (tenth, seed))).collect();
    let all = all.into_par_iter().map(at).collect::<Result<Vec<_>, Error>>()?;
    let (all, kept): (Vec<Bounded>, Vec<KeptBound>) = all.into_iter().unzip();
    let of_tenth = |of_seeds: &[Bounded]| {
        let most = of_seeds.iter().map(|at| at.most).sum::<f64>() / of_seeds.len() as f64;
        let Bounded { arrived, upper, least, .. } = of_seeds[0];
        Bounded { arrived, most, upper, least }
    };
    Ok((all.chunks(arrived.len().max(1)).map(of_tenth).collect(), kept))
}

/// To which tenth the percent rounds that has come.
fn is_of(asked: u128, total: u128) -> Option<usize> {
    let percent = (100.0 * asked as f64 / total as f64).round() as usize;
    let tenth = (percent / 10).checked_sub(1).filter(|tenth| *tenth < TENTHS)?;
    percent.is_multiple_of(10).then_some(tenth)
}

/// The mean over the moments at which the percent that has come rounds to each tenth, of what is told of the pod that comes and of all
/// that is asked for then.
fn by_tenths(
    instance: &Instance,
    order: &[UserId],
    mut told: impl FnMut(usize, u128) -> f64,
) -> [f64; TENTHS] {
    let total = instance.total_units(GPU);
    let mut asked = 0u128;
    let mut sums = [(0.0, 0u32); TENTHS];
    for (at, user) in order.iter().enumerate() {
        asked += instance.user(*user).demand_units(GPU);
        let value = told(at, asked);
        if let Some((sum, count)) = is_of(asked, total).map(|tenth| &mut sums[tenth]) {
            *sum += value;
            *count += 1;
        }
    }
    sums.map(|(sum, count)| sum / f64::from(count))
}
