//! Random damage: whatever is done to the bytes of a valid file, reading ends, and with one line if it fails.

use super::*;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

const SERVERS: &str = "id,count,cpu,memory\na,3,2,12\nb,1,8,\n\"c,d\",2,4,4\n";
const USERS: &str =
    "id,cpu,memory,weight,tasks,eligible,rates\nu,0.2,1,,,,\nv,1.0,,5,40,a;b,b=1.5\n\"w, \"\"x\",3,4,,,,\n";

/// Replaces, removes, inserts, repeats or truncates a few times.
fn mutate(random: &mut ChaCha8Rng, valid: &str) -> Vec<u8> {
    const PIECES: [&[u8]; 16] = [
        b"\"", b"{", b"}", b"[", b"]", b",", b":", b"\n", b"\0", b"\xff", b"-", b"1e999", b"NaN", b"\\u0000",
        b";", b"=",
    ];
    let mut bytes = valid.as_bytes().to_vec();
    for _ in 0..=random.next_u32() % 4 {
        let mut below = |limit: usize| random.next_u32() as usize % limit.max(1);
        let start = below(bytes.len());
        let end = (start + below(8)).min(bytes.len());
        match below(6) {
            0 if start < bytes.len() => bytes[start] ^= 1 << below(8),
            1 => drop(bytes.drain(start..end)),
            2 => drop(bytes.splice(start..end, PIECES[below(PIECES.len())].iter().copied())),
            3 => drop(bytes.splice(start..start, PIECES[below(PIECES.len())].iter().copied())),
            4 => {
                let piece = bytes[start..(start + below(60)).min(bytes.len())].to_vec();
                let target = below(bytes.len());
                drop(bytes.splice(target..target, piece));
            }
            _ if below(4) == 0 => bytes.truncate(start),
            _ => {}
        }
    }
    bytes
}

/// Reads `count` mutations; what is still readable must survive writing and reading again.
fn read_mutations(count: usize, seed: u64) {
    let folder = Folder::new();
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let (mut accepted, mut refused) = (0, 0);
    for round in 0..count {
        let result = match round % 3 {
            0 => crate::files::read_instance(&folder.file("m.json", mutate(&mut random, FULL))),
            1 => crate::files::read_tables(
                &folder.file("s.csv", SERVERS),
                &folder.file("u.csv", mutate(&mut random, USERS)),
                None,
            ),
            _ => crate::files::read_tables(
                &folder.file("s.csv", mutate(&mut random, SERVERS)),
                &folder.file("u.csv", USERS),
                None,
            ),
        };
        match result {
            Ok(instance) => {
                accepted += 1;
                let text = json(&instance);
                let again = crate::files::read_instance(&folder.file("again.json", &text)).unwrap();
                assert_eq!(json(&again), text);
            }
            Err(error) => {
                refused += 1;
                let text = error.to_string();
                let line = text.strip_prefix(folder.0.path().to_str().unwrap()).unwrap_or(&text);
                assert!(!line.chars().any(char::is_control) && line.len() < 2_000, "{text:?}");
            }
        }
    }
    assert!(accepted > count / 50 && refused > count / 4, "{accepted} accepted, {refused} refused");
}

#[test]
fn mutations_of_valid_files_never_panic() {
    read_mutations(20_000, 1);
}
