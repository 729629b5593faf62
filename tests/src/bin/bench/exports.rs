//! How long it takes to write a solution as a scheduler's configuration: verifying it, rounding, asking the scheduler's rule, the text.

use super::Outcome;
use fairplan::exports::{ExportOptions, Target};
use fairplan::{Control, ResultFile, SolveOptions, export, report, solve};
use fairplan_instances::{Decimal, InstanceBuilder, NewGroup, NewUser, Random, ServerClass};
use std::time::Instant;

/// As many nodes and shapes as a published cluster of GPU servers has, for tenants in ten groups.
pub fn exports(scale: u64) -> Outcome {
    println!("## Writing a scheduler's configuration\n");
    println!("1,523 servers of 27 shapes; cpu, memory and GPUs.\n");
    println!("| tenants | target | bytes | seconds |");
    println!("|---|---|---|---|");
    for tenants in [20, 200 / scale, 1000 / scale] {
        let mut random = Random::new(tenants, 5);
        let resources = ["cpu", "memory", "nvidia.com/gpu"].map(String::from).to_vec();
        let mut builder = InstanceBuilder::new("a cluster of GPU servers", resources)?;
        for shape in 0..27 {
            let gpus = [0, 1, 2, 4, 8][shape % 5];
            let cores = 16 << random.between(0, 3);
            let memory = (4 * cores) << 30;
            let capacity = [cores, memory, gpus].map(|amount| Decimal::new(amount, 0));
            let capacity = capacity.into_iter().collect::<Result<_, _>>()?;
            builder.class(ServerClass::new(
                format!("shape-{shape}"),
                if shape < 11 { 57 } else { 56 },
                capacity,
            ))?;
        }
        let group = |g: u64| NewGroup { id: format!("division-{g}"), weight: Decimal::ONE, parent: None };
        builder.groups((0..10).map(group).collect())?;
        for tenant in 0..tenants {
            let gpus = tenant % 3;
            let amounts = [random.between(1, 8), random.between(1, 32) << 30, gpus];
            let demand = amounts.map(|amount| Decimal::new(amount, 0));
            let demand: Vec<Decimal> = demand.into_iter().collect::<Result<_, _>>()?;
            let (id, weight) = (format!("team-{tenant}"), Decimal::new(random.between(1, 4), 0)?);
            let group = builder.group_named(&format!("division-{}", tenant % 10));
            builder.user(NewUser { weight, group, ..NewUser::new(&id, &demand) })?;
        }
        let instance = builder.build()?;
        let solved = solve(&instance, &SolveOptions::default(), &Control::none())?;
        let mut bytes = Vec::new();
        report::write_json(&mut bytes, &solved.document(&instance, true))?;
        let solution = ResultFile::new("the solution".into(), bytes)?;
        for target in Target::ALL {
            let memory_in = Some("bytes".parse()?);
            let options = ExportOptions { memory_in, ..ExportOptions::default() };
            let start = Instant::now();
            let text = export(&instance, &solution, target, &options, &Control::none())?.text();
            println!("| {tenants} | {target} | {} | {:.3} |", text.len(), start.elapsed().as_secs_f64());
        }
    }
    println!();
    Ok(())
}
