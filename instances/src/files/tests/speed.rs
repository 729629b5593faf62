//! Figures, not verdicts: `cargo test --release -p fairplan-instances -- --ignored speed --nocapture`.

use super::*;
use std::fmt::Write;
use std::time::{Duration, Instant};

/// Time this thread has run on a processor (Linux): on a busy machine, the figure that means something.
fn processor_time() -> Duration {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    Duration::from_nanos(text.split(' ').next().and_then(|word| word.parse().ok()).unwrap_or_default())
}

fn timed<T>(what: &str, run: impl FnOnce() -> T) -> T {
    let (clock, before) = (Instant::now(), processor_time());
    let result = run();
    let (wall, processor) = (clock.elapsed(), processor_time().saturating_sub(before));
    println!("{what:24} {:6.3} s, {:6.3} s of it running", wall.as_secs_f64(), processor.as_secs_f64());
    result
}

#[test]
#[ignore = "prints timings of a million users; run it alone"]
fn speed_of_a_million_users() {
    let folder = Folder::new();
    let mut users = String::from("id,cpu,memory\n");
    let mut state = 1u64;
    for user in 0..1_000_000 {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        let (cpu, memory) = (1 + (state >> 40) % 10_000, 1 + (state >> 20) % 100_000);
        writeln!(users, "user-{user},{},{}", cpu as f64 / 1e4, memory as f64 / 1e5).unwrap();
    }
    let users = folder.file("users.csv", users);
    let servers = folder.file("servers.csv", "id,count,cpu,memory\na,6732,0.5,0.5\nb,5000,1,0.25\n");
    let instance = timed("read CSV", || crate::files::read_tables(&servers, &users, None).unwrap());
    let hash = timed("hash", || crate::files::sha256_hex(&instance));
    let mut bytes = Vec::new();
    for name in ["users.csv", "users.parquet"] {
        if cfg!(not(feature = "parquet")) && name.ends_with("parquet") {
            continue;
        }
        bytes.clear();
        let path = folder.path(name);
        timed(&format!("write {name}"), || crate::files::write_users(&instance, &path, &mut bytes).unwrap());
        println!("    {} MB", bytes.len() / 1_000_000);
        let path = folder.file(name, &bytes);
        let again =
            timed(&format!("read {name}"), || crate::files::read_tables(&servers, &path, None).unwrap());
        assert_eq!(crate::files::sha256_hex(&again), hash);
    }
    let text = timed("write JSON", || json(&instance));
    println!("    {} MB", text.len() / 1_000_000);
    let path = folder.file("a.json", text);
    let again = timed("read JSON", || crate::files::read_instance(&path).unwrap());
    assert_eq!(crate::files::sha256_hex(&again), hash);
}
