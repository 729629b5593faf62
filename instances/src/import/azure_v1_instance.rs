//! Arrivals of Azure's V1 trace as an instance: each size of virtual machine is a user, over servers that are chosen.

use super::azure_v1::{Lines, read_sizes, text};
use super::report::ImportReport;
use crate::{Decimal, Instance, InstanceBuilder, InstanceError, NewUser, ServerClass};
use hashbrown::HashMap;

/// What [`azure_v1_instance`] reads and how.
#[derive(Clone, Debug)]
pub struct AzureV1InstanceOptions {
    /// What arrives: `<seconds> a,b,|,c,|,` with a letter for each machine's size and `|` after each tenant's batch.
    pub arrivals: Vec<String>,
    /// What sizes the letters mean: `cores,GB letter`.
    pub sizes: String,
    /// The seconds of the trace in which arrivals count, the last left out.
    pub seconds: std::ops::Range<u64>,
    /// How many servers: the files name none.
    pub servers: u64,
    /// Cores and GB of a server.
    pub capacity: [Decimal; 2],
}

/// Users by the size of their machines, with as many tasks as arrive, over the resources `cpu` (cores) and `memory` (GB).
///
/// The files do not say which batches are of one tenant, so tenants cannot be users.
///
/// # Errors
/// A file that cannot be read, a line that is not of the form, an unknown letter (file, line and item are named),
/// nothing that arrives.
pub fn azure_v1_instance(
    options: &AzureV1InstanceOptions,
) -> Result<(Instance, ImportReport), InstanceError> {
    let mut report = ImportReport::default();
    let sizes = read_sizes(&options.sizes)?;
    let mut counts: HashMap<Vec<u8>, u64> = HashMap::new();
    for path in &options.arrivals {
        let mut lines = Lines::open(path)?;
        while let Some(time) = lines.next()? {
            let counted = options.seconds.contains(&time);
            for (position, item) in (1..).zip(lines.items()) {
                if item == b"|" {
                    report.add(u64::from(counted), "batches of a tenant");
                } else if !sizes.contains_key(item) {
                    let place = format!("item {position} = {}", text(item));
                    return Err(lines.refused(&place, "is no letter of the sizes"));
                } else if counted {
                    *counts.entry_ref(item).or_default() += 1;
                } else {
                    report.one("virtual machines left out: they arrive at other times");
                }
            }
        }
    }
    let mut letters: Vec<(Vec<u8>, u64)> = counts.into_iter().collect();
    letters.sort();
    report.add(letters.iter().map(|(_, count)| count).sum(), "virtual machines that arrive");
    let build = || {
        let name =
            format!("Azure V1, arrivals from second {} to {}", options.seconds.start, options.seconds.end);
        let mut builder = InstanceBuilder::new(name, vec!["cpu".into(), "memory".into()])?;
        let capacity = options.capacity.to_vec();
        builder.class(ServerClass { id: "server".into(), count: options.servers, capacity })?;
        for (letter, count) in &letters {
            let size = sizes[letter];
            let id = format!("{}-cores-{}-GB", size[0], size[1]);
            builder.user(NewUser { tasks: Some(*count), ..NewUser::new(&id, &size) })?;
        }
        builder.build()
    };
    let failed = |violation| InstanceError::Invalid { file: options.arrivals.join(", "), violation };
    Ok((build().map_err(failed)?, report))
}
