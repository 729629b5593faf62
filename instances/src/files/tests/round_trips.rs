//! Random instances through every format and back.

use super::*;
use crate::{ClassId, Decimal, InstanceBuilder, NewUser, PlacementRule, ServerClass};
use flate2::{Compression, write::GzEncoder};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use std::io::Write;

/// Names as people and generators write them, and as nobody should.
fn name() -> impl Strategy<Value = String> {
    prop_oneof![
        "[a-z]{1,6}-[0-9]{1,3}",
        "[\\PC]{1,8}",
        "[ ,;=\"'\\\\{}\\[\\]\n\r\t:#-]{1,5}",
        Just("\u{0}\u{1b}[31m".to_owned()),
        Just("\u{feff}ناقة🐪".to_owned()),
        Just("=1+1".to_owned()),
    ]
}

fn distinct(names: Vec<String>, fallback: &str) -> Vec<String> {
    let mut seen = std::collections::HashSet::new();
    let rename = |(position, name): (usize, String)| {
        if seen.insert(name.clone()) { name } else { format!("{fallback}{position}") }
    };
    names.into_iter().enumerate().map(rename).collect()
}

/// Decimals that a double holds, zero among them.
fn amount() -> impl Strategy<Value = Decimal> {
    prop_oneof![
        1 => Just(Decimal::ZERO),
        4 => (1u64..1_000_000_000_000_000, -12i32..3).prop_map(|(c, e)| Decimal::new(c, e).unwrap()),
        4 => (1u64..1000, -6i32..4).prop_map(|(c, e)| Decimal::new(c, e).unwrap()),
    ]
}

fn positive() -> impl Strategy<Value = Decimal> {
    amount().prop_map(|amount| if amount.is_zero() { Decimal::ONE } else { amount })
}

#[derive(Clone, Debug)]
struct RandomUser {
    name: String,
    demand: Vec<Decimal>,
    weight: Option<Decimal>,
    tasks: Option<u64>,
    eligible: Option<Vec<usize>>,
    rates: Vec<(usize, Decimal)>,
}

fn user() -> impl Strategy<Value = RandomUser> {
    let tasks = option::of(0u64..1_000_000_000_000_000);
    let eligible = option::weighted(0.3, vec(0usize..8, 0..4));
    let rates = prop_oneof![3 => Just(Vec::new()), 1 => vec((0usize..8, positive()), 0..4)];
    (name(), vec(amount(), 3), option::of(positive()), tasks, eligible, rates).prop_map(
        |(name, demand, weight, tasks, eligible, rates)| RandomUser {
            name,
            demand,
            weight,
            tasks,
            eligible,
            rates,
        },
    )
}

prop_compose! {
    fn instance()(
        resources in vec(name(), 1..=3),
        classes in vec((name(), 0u64..100_000, vec(positive(), 3)), 1..6),
        users in vec(user(), 1..12),
    ) -> Instance {
        let resources = distinct(resources, "resource");
        let m = resources.len();
        let mut builder = InstanceBuilder::new("", resources).unwrap();
        let ids = distinct(classes.iter().map(|(id, ..)| id.clone()).collect(), "class");
        for (position, ((_, count, capacity), id)) in classes.iter().zip(ids).enumerate() {
            let count = if position == 0 { count + 1 } else { *count };
            builder.class(ServerClass::new(id, count, capacity[..m].to_vec())).unwrap();
        }
        let ids = distinct(users.iter().map(|user| user.name.clone()).collect(), "user");
        for (user, id) in users.into_iter().zip(ids) {
            let mut demand = user.demand[..m].to_vec();
            if demand.iter().all(|amount| amount.is_zero()) {
                demand[0] = Decimal::ONE;
            }
            let unique = |mut list: Vec<usize>| {
                list.iter_mut().for_each(|class| *class %= classes.len());
                list.sort();
                list.dedup();
                list.into_iter().map(ClassId).collect::<Vec<_>>()
            };
            let mut rates: Vec<_> = user.rates.iter().map(|(class, rate)| (ClassId(class % classes.len()), *rate)).collect();
            rates.sort_by_key(|(class, _)| *class);
            rates.dedup_by_key(|(class, _)| *class);
            let rule = builder.rule(PlacementRule::new(user.eligible.map(unique), rates));
            let weight = user.weight.unwrap_or(Decimal::ONE);
            builder.user(NewUser { id: &id, demand: &demand, weight, tasks: user.tasks, rule, group: None }).unwrap();
        }
        builder.build().unwrap()
    }
}

/// Writes both tables under `ending`; the error's text if they cannot hold the instance.
fn write_tables(folder: &Folder, instance: &Instance, ending: &str) -> Result<(String, String), String> {
    let (servers, users) =
        (folder.path(&format!("servers.{ending}")), folder.path(&format!("users.{ending}")));
    let mut bytes = Vec::new();
    crate::files::write_servers(instance, &servers, &mut bytes).map_err(|error| error.to_string())?;
    folder.file(&format!("servers.{ending}"), compressed(&bytes, ending));
    bytes.clear();
    crate::files::write_users(instance, &users, &mut bytes).map_err(|error| error.to_string())?;
    folder.file(&format!("users.{ending}"), compressed(&bytes, ending));
    Ok((servers, users))
}

/// What is written under a name with this ending: who opens a file compresses what goes into it.
fn compressed(bytes: &[u8], ending: &str) -> Vec<u8> {
    if !ending.ends_with("gz") {
        return bytes.to_owned();
    }
    let mut compressor = GzEncoder::new(Vec::new(), Compression::default());
    compressor.write_all(bytes).unwrap();
    compressor.finish().unwrap()
}

proptest! {
    #[test]
    fn every_format_gives_the_instance_back_with_the_same_hash(instance in instance()) {
        let folder = Folder::new();
        let text = json(&instance);
        let hash = crate::files::sha256_hex(&instance);
        let again = crate::files::read_instance(&folder.file("a.json", &text)).unwrap();
        prop_assert_eq!(&json(&again), &text);
        prop_assert_eq!(&crate::files::sha256_hex(&again), &hash);

        let listed = instance.rules().iter().flat_map(|rule| rule.eligible().unwrap_or_default().iter().copied()
            .chain(rule.rates().iter().map(|(class, _)| *class)));
        let separator = listed.into_iter().any(|class| instance.classes()[class.0].id.contains(';'));
        let endings: &[&str] = if cfg!(feature = "parquet") { &["csv", "csv.gz", "parquet"] } else { &["csv", "csv.gz"] };
        for ending in endings {
            match write_tables(&folder, &instance, ending) {
                Ok((servers, users)) => {
                    prop_assert!(!separator);
                    let again = crate::files::read_tables(&servers, &users, None).unwrap();
                    prop_assert_eq!(&json(&again), &text);
                    prop_assert_eq!(&crate::files::sha256_hex(&again), &hash);
                }
                Err(reason) => prop_assert!(separator && reason.contains("an id with ;"), "{reason}"),
            }
        }
    }
}

#[test]
fn the_hash_is_that_of_the_written_bytes() {
    use sha2::{Digest, Sha256};
    let folder = Folder::new();
    let instance = crate::files::read_instance(&folder.file("a.json", FULL)).unwrap();
    let digest = Sha256::digest(json(&instance).as_bytes());
    let hexadecimal: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
    assert_eq!(crate::files::sha256_hex(&instance), hexadecimal);
}

#[test]
fn tables_refuse_what_they_cannot_hold() {
    let folder = Folder::new();
    let read = |text: &str| crate::files::read_instance(&folder.file("a.json", text)).unwrap();
    let instance = read(&FULL.replace("high-cpu", "high;cpu"));
    let text = write_tables(&folder, &instance, "csv").unwrap_err().replace(&folder.path(""), "");
    let expected = "users.csv: server_classes[1].id = high;cpu: an id with ; cannot be listed in a table; write JSON or rename it";
    assert_eq!(text, expected);
    let instance = read(&FULL.replace("memory", "weight"));
    let text = write_tables(&folder, &instance, "csv").unwrap_err().replace(&folder.path(""), "");
    let expected = "servers.csv: resources[1] = weight: is another column of the tables; write JSON or rename the resource";
    assert_eq!(text, expected);
}
