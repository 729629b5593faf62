//! Placements and policies from elsewhere: how soon a cluster's placement is judged, and how many decisions a second another process
//! makes.

use super::{Outcome, fastest};
use fairplan::{
    CompareOptions, Control, OutsidePolicy, PlaceOptions, Placed, ResultFile, compare, place, report,
};
use fairplan_imports::{AlibabaGpu2023Options, TaskGrouping, alibaba_gpu2023_instance};
use fairplan_instances::generate::{GoogleOptions, google};
use fairplan_instances::{Deadline, Instance};
use std::time::{Duration, Instant};

/// The directory of Alibaba's tables of 2023, for who has it.
pub const DIRECTORY: &str = "FAIRPLAN_ALIBABA_GPU2023";

/// The seconds that judging may take.
const SECONDS: u64 = 2;

fn given(instance: &Instance, placed: &Placed) -> Result<ResultFile, Box<dyn std::error::Error>> {
    let mut bytes = Vec::new();
    report::write_json(&mut bytes, &placed.document(instance, true))?;
    Ok(ResultFile::new("now.json".into(), bytes)?)
}

/// Judges placements of 8,152 pods on 1,523 nodes.
pub fn judged(_scale: u64) -> Outcome {
    println!("## A placement judged, within {SECONDS} s\n");
    let Ok(directory) = std::env::var(DIRECTORY) else {
        println!("Skipped: {DIRECTORY} names no directory of Alibaba's tables.\n");
        return Ok(());
    };
    let table = |name: &str| format!("{directory}/{name}");
    let options = AlibabaGpu2023Options {
        nodes: table("openb_node_list_all_node.csv"),
        pods: table("openb_pod_list_default.csv"),
        grouping: TaskGrouping::Shape,
        ..AlibabaGpu2023Options::default()
    };
    let (instance, _) = alibaba_gpu2023_instance(&options)?;
    println!("| placed by | nodes | pods | seconds | wait | at least wait | can be emptied | at most |");
    println!("|---|---|---|---|---|---|---|---|");
    for policy in ["worst-fit", "best-fit"] {
        let options = PlaceOptions { policy: policy.into(), ..PlaceOptions::default() };
        let placed = place(&instance, &options, &Control::none())?;
        let options = CompareOptions {
            policies: Vec::new(),
            placements: vec![given(&instance, &placed)?],
            ..CompareOptions::default()
        };
        let start = Instant::now();
        let deadline = Deadline::after(Duration::from_secs(SECONDS));
        let judged = compare(&instance, &options, &Control { deadline, ..Control::none() })?;
        let seconds = start.elapsed().as_secs_f64();
        let row = &judged.policies[0];
        let judgement = row.judgement.clone().unwrap_or_default();
        // A placement of all proves that nobody need wait; nothing else bounds how many must.
        let least = if judged.bounds.integral_unplaced == Some(0) { "0 (proved)" } else { "0" };
        println!(
            "| {policy} | {} | {} | {seconds:.2} | {} | {least} | {} | {} |",
            instance.server_count(),
            row.tasks + row.unplaced.unwrap_or(0),
            row.unplaced.unwrap_or(0),
            judgement.emptied_servers.unwrap_or(0),
            judgement.emptied_servers_at_most.unwrap_or(0),
        );
    }
    println!();
    Ok(())
}

/// Decisions of First-Fit in another process.
pub fn decisions(scale: u64) -> Outcome {
    println!("## Decisions of a policy in another process\n");
    let program = std::env::current_exe()?.with_file_name("policy");
    if !program.exists() {
        println!("Skipped: the tests' policy is not built (cargo build --release --bins).\n");
        return Ok(());
    }
    let command = OutsidePolicy::new(&format!("'{}'", program.display()), Duration::from_secs(60))?;
    println!("| users | tasks placed | seconds | decisions a second |");
    println!("|---|---|---|---|");
    for users in [1, 2, 10, 100] {
        let servers = Some(12_583 / scale);
        let instance =
            google(&GoogleOptions { users: Some(users), servers, seed: 3, ..GoogleOptions::default() })?;
        let (seconds, placement) = fastest(3, || command.place_within(&instance, &Deadline::never()));
        let tasks: u64 = placement?.tasks.iter().sum();
        println!("| {users} | {tasks} | {seconds:.3} | {:.0} |", tasks as f64 / seconds);
    }
    println!();
    Ok(())
}
