//! Arrivals of Azure's V1 trace as an instance: each size of virtual machine is a user, over servers that are chosen.

use super::azure_v1::{Lines, read_sizes, text};
use super::equal_servers::EqualServers;
use super::files::{some, together};
use super::report::{ImportFailure, ImportReport, Stopped, counted};
use fairplan_instances::{Instance, InstanceBuilder, InstanceError, NewUser};
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
    /// Servers of so many cores and GB: the files name none.
    pub servers: EqualServers,
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
) -> Result<(Instance, ImportReport), ImportFailure> {
    counted(|report| read(options, report))
}

fn read(options: &AzureV1InstanceOptions, report: &mut ImportReport) -> Result<Instance, Stopped> {
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
                    return Err(lines.refused(&place, "is no letter of the sizes").into());
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
    some(&together(&options.arrivals), "arrivals in the time asked for", letters.len())?;
    report.add(letters.iter().map(|(_, count)| count).sum(), "virtual machines that arrive");
    let build = || {
        let until = match options.seconds.end {
            u64::MAX => String::new(),
            end => format!(" to {end}"),
        };
        let name = format!("Azure V1, arrivals from second {}{until}", options.seconds.start);
        let mut builder = InstanceBuilder::new(name, vec!["cpu".into(), "memory".into()])?;
        builder.class(options.servers.class())?;
        for (letter, count) in &letters {
            let size = sizes[letter];
            let id = format!("{}-cores-{}-GB", size[0], size[1]);
            builder.user(NewUser { tasks: Some(*count), ..NewUser::new(&id, &size) })?;
        }
        builder.build()
    };
    let failed = |violation| InstanceError::Invalid { file: together(&options.arrivals), violation };
    build().map_err(|violation| Stopped::Building(failed(violation)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::real_files::real_file;
    use std::io::Read;

    fn options(arrivals: String, sizes: String) -> AzureV1InstanceOptions {
        let servers = EqualServers { count: 10, capacity: vec![64u32.into(), 448u32.into()] };
        AzureV1InstanceOptions { arrivals: vec![arrivals], sizes, seconds: 0..u64::MAX, servers }
    }

    #[test]
    fn sizes_become_users_with_as_many_tasks_as_arrive() {
        let folder = tempfile::tempdir().unwrap();
        let file = |name: &str, text: &str| {
            let path = folder.path().join(name);
            std::fs::write(&path, text).unwrap();
            path.to_str().unwrap().to_owned()
        };
        let sizes = file("sizes", "1,1.75 b\n2,3.5 g\n");
        let all = options(file("arrivals", "0 b,g,|,b,|,\n300 g,|,\n"), sizes.clone());
        let users = |options: &AzureV1InstanceOptions| -> Vec<(String, u64)> {
            let (instance, _) = azure_v1_instance(options).unwrap();
            instance.users().map(|user| (user.id().to_owned(), user.tasks().unwrap())).collect()
        };
        assert_eq!(users(&all), [("1-cores-1.75-GB".into(), 2), ("2-cores-3.5-GB".into(), 2)]);
        assert_eq!(
            users(&AzureV1InstanceOptions { seconds: 300..600, ..all }),
            [("2-cores-3.5-GB".into(), 1)]
        );
        let error = azure_v1_instance(&options(file("bad", "0 b,x,|,\n"), sizes)).unwrap_err().to_string();
        assert!(error.contains("bad: line 1 = item 2 = x: is no letter of the sizes"), "{error}");
    }

    #[test]
    fn every_real_arrival_is_counted_once() {
        let (Some(arrivals), Some(sizes)) =
            (real_file("azure-v1/v1.dev.txt.gz"), real_file("azure-v1/flav_map.txt"))
        else {
            return;
        };
        let mut text = String::new();
        let file = std::fs::File::open(&arrivals).unwrap();
        flate2::read::MultiGzDecoder::new(file).read_to_string(&mut text).unwrap();
        let (instance, _) = azure_v1_instance(&options(arrivals, sizes)).unwrap();
        let letters = text.matches(|letter: char| letter.is_ascii_lowercase()).count() as u64;
        assert_eq!(instance.users().map(|user| user.tasks().unwrap()).sum::<u64>(), letters);
    }
}
