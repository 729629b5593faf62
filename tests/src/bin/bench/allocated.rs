//! GPUs one by one: how soon pods that come one after the other are placed, and how soon it is proved what any placement could allocate.

use super::Outcome;
use super::elsewhere::DIRECTORY;
use fairplan::{Control, PlaceOptions, bound_allocated, place_in_order};
use fairplan_imports::{AlibabaGpu2023Options, TaskGrouping, alibaba_gpu2023_instance};
use fairplan_instances::{Deadline, Draft, Random, ResourceId, UserId};
use std::time::{Duration, Instant};

/// Percent of all GPU that the pods ask for: of those that come one by one, and of those that are all known.
const COMING: u128 = 130;
const KNOWN: u128 = 100;

/// So long may it take to bound what can be allocated.
const BOUNDING: Duration = Duration::from_secs(60);

const GPU: ResourceId = ResourceId(2);

/// Pods drawn from Alibaba's list, on its nodes with GPUs.
pub fn gpus(_scale: u64) -> Outcome {
    println!("## GPUs of Alibaba's cluster\n");
    let Ok(directory) = std::env::var(DIRECTORY) else {
        println!("Skipped: {DIRECTORY} names no directory of Alibaba's tables.\n");
        return Ok(());
    };
    let table = |name: &str| format!("{directory}/{name}");
    let options = AlibabaGpu2023Options {
        nodes: table("openb_node_list_all_node.csv"),
        pods: table("openb_pod_list_default.csv"),
        grouping: TaskGrouping::Shape,
        devices: true,
        ..AlibabaGpu2023Options::default()
    };
    let (instance, _) = alibaba_gpu2023_instance(&options)?;
    let mut draft = Draft::from(&instance);
    draft.classes.iter_mut().filter(|class| class.devices.is_empty()).for_each(|class| class.set_count(0));
    let instance = draft.build()?;
    let pods = |user: fairplan_instances::User<'_>| {
        std::iter::repeat_n(user.index(), user.tasks().unwrap_or(0) as usize)
    };
    let listed: Vec<UserId> = instance.users().flat_map(pods).collect();
    let mut random = Random::new(1, 0);
    let mut drawn = |percent: u128| {
        let (mut order, mut asked) = (Vec::new(), 0);
        loop {
            let next = listed[random.below(listed.len() as u64) as usize];
            asked += instance.user(next).demand_units(GPU);
            if asked * 100 > instance.total_units(GPU) * percent {
                return order;
            }
            order.push(next);
        }
    };
    let part = |units: u128| 100.0 * units as f64 / instance.total_units(GPU) as f64;
    println!("| what | pods | seconds | GPU allocated, percent |");
    println!("|---|---|---|---|");
    let order = drawn(COMING);
    for policy in ["fgd", "gpu-best-fit"] {
        let options = PlaceOptions { policy: policy.into(), ..PlaceOptions::default() };
        let start = Instant::now();
        let servers = place_in_order(&instance, &options, &order, &Control::none())?;
        let seconds = start.elapsed().as_secs_f64();
        let placed = order.iter().zip(servers).filter(|(_, server)| server.is_some());
        let units = placed.map(|(user, _)| instance.user(*user).demand_units(GPU)).sum();
        println!("| {policy}, as they come | {} | {seconds:.2} | {:.2} |", order.len(), part(units));
    }
    let known = drawn(KNOWN);
    draft.users.iter_mut().for_each(|user| user.tasks = Some(0));
    known
        .iter()
        .for_each(|user| draft.users[user.0].tasks = draft.users[user.0].tasks.map(|tasks| tasks + 1));
    let known_pods = draft.build()?;
    let start = Instant::now();
    let limited = Control::none().until(Deadline::after(BOUNDING));
    let bound = bound_allocated(&known_pods, &known_pods.resources()[GPU.0], &limited)?;
    let seconds = start.elapsed().as_secs_f64();
    let (most, least) = (part(bound.bracket.upper), part(bound.bracket.lower(&known_pods)));
    println!("| any placement, at most | {} | {seconds:.1} | {most:.2} |", known.len());
    println!("| placed beside it | {} | | {least:.2} |", known.len());
    println!();
    Ok(())
}
