//! Figures, not verdicts: `cargo test --release -p fairplan-instances -- --ignored speed --nocapture`.

use super::*;
use std::fmt::Write;
use std::time::Instant;

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
    for _ in 0..3 {
        let clock = Instant::now();
        let instance = crate::files::read_tables(&servers, &users).unwrap();
        println!("read users.csv      {:?}", clock.elapsed());
        let clock = Instant::now();
        let hash = crate::files::sha256_hex(&instance);
        println!("sha256 {} {:?}", &hash[..8], clock.elapsed());
        let clock = Instant::now();
        let text = json(&instance);
        println!("write {} MB of JSON {:?}", text.len() >> 20, clock.elapsed());
        let path = folder.file("a.json", text);
        let clock = Instant::now();
        let again = crate::files::read_instance(&path).unwrap();
        println!("read JSON           {:?}", clock.elapsed());
        assert_eq!(crate::files::sha256_hex(&again), hash);
    }
}
