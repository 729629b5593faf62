//! Gzip: all members or a refusal, never a part; a stated limit against bombs.

use super::*;
use crate::files::source;
use flate2::{Compression, GzBuilder, write::GzEncoder};
use std::io::Write;

fn gzip(content: &[u8]) -> Vec<u8> {
    let mut compressor = GzEncoder::new(Vec::new(), Compression::default());
    compressor.write_all(content).unwrap();
    compressor.finish().unwrap()
}

/// An instance whose gzip, with a name and a comment in its header, takes about 4 KB.
fn sample() -> (String, Vec<u8>) {
    let mut state = 1u64;
    let name = std::iter::repeat_with(|| {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1);
        char::from(b'0' + (state >> 58) as u8)
    });
    let name: String = name.filter(char::is_ascii_alphanumeric).take(5_000).collect();
    let text = FULL.replace("DRFH paper, Fig. 1", &name);
    let builder = GzBuilder::new().filename("cluster.json").comment("sample").mtime(1);
    let mut compressor = builder.write(Vec::new(), Compression::best());
    compressor.write_all(text.as_bytes()).unwrap();
    (text, compressor.finish().unwrap())
}

fn read(path: &str) -> Result<String, String> {
    crate::files::read_instance(path).map(|instance| json(&instance)).map_err(|error| error.to_string())
}

#[test]
fn gzip_is_recognised_by_its_first_bytes_whatever_the_name() {
    let folder = Folder::new();
    for name in ["a.json.gz", "a.json"] {
        assert_eq!(read(&folder.file(name, gzip(FULL.as_bytes()))).unwrap(), FULL);
    }
    let text = message(&folder, crate::files::read_instance(&folder.file("plain.gz", FULL)));
    assert_eq!(text, "plain.gz: is named .gz but is not gzip");
    let text =
        message(&folder, crate::files::read_instance(&folder.file("twice.gz", gzip(&gzip(FULL.as_bytes())))));
    assert_eq!(text, "twice.gz: is compressed by gzip twice; unpack it once (`gzip -d FILE`)");
    let text = message(&folder, crate::files::read_instance(&folder.file("empty.gz", "")));
    assert_eq!(text, "empty.gz: the file is empty");
    let text = message(&folder, crate::files::read_instance(&folder.file("empty.gz", gzip(b""))));
    assert_eq!(text, "empty.gz: the file is empty");
}

#[test]
fn all_members_are_read() {
    let folder = Folder::new();
    let bytes = FULL.as_bytes();
    let members =
        [&gzip(&bytes[..100])[..], &gzip(b""), &gzip(&bytes[100..300]), &gzip(&bytes[300..])].concat();
    assert_eq!(read(&folder.file("members.gz", members)).unwrap(), FULL);
}

#[test]
fn a_file_truncated_at_any_byte_is_refused() {
    let folder = Folder::new();
    let (text, whole) = sample();
    assert!((3_000..6_000).contains(&whole.len()), "{} bytes", whole.len());
    assert_eq!(read(&folder.file("whole.gz", &whole)).unwrap(), text);
    for end in 0..whole.len() {
        let message = message(&folder, crate::files::read_instance(&folder.file("cut.gz", &whole[..end])));
        let expected = match end {
            0 => "cut.gz: the file is empty",
            1 => "cut.gz: is named .gz but is not gzip",
            _ => "cut.gz: truncated gzip: the data ends early, or what follows it is not gzip",
        };
        assert_eq!(message, expected, "after {end} of {} bytes", whole.len());
    }
}

#[test]
fn a_second_member_truncated_at_any_byte_is_refused() {
    let folder = Folder::new();
    let (first, second) = (gzip(FULL.as_bytes()), gzip(b"\n"));
    for end in 1..second.len() {
        let cut = [&first[..], &second[..end]].concat();
        let text = read(&folder.file("cut.gz", cut)).unwrap_err();
        assert!(
            text.ends_with("truncated gzip: the data ends early, or what follows it is not gzip"),
            "after {end}: {text}"
        );
    }
}

#[test]
fn a_flip_of_any_byte_is_refused_or_changes_nothing() {
    let folder = Folder::new();
    let (text, whole) = sample();
    let (mut refused, mut same) = (0, 0);
    for position in 0..whole.len() {
        for flip in [0xff, 1 << (position % 8)] {
            let mut bytes = whole.clone();
            bytes[position] ^= flip;
            match read(&folder.file("flip.json.gz", &bytes)) {
                Ok(read) => {
                    assert_eq!(read, text, "byte {position} ^ {flip:#x}");
                    same += 1;
                }
                Err(_) => refused += 1,
            }
        }
    }
    // Time stamp, system, name and comment carry nothing; all else is checked.
    assert!(same <= 2 * 40 && refused > 2 * 3_000, "{same} read, {refused} refused");
}

#[test]
fn anything_after_the_last_member_is_refused() {
    let folder = Folder::new();
    for garbage in [
        &b"\0"[..],
        b"\n",
        b"garbage that is long enough to be a header",
        &[0x1f, 0x8b, 9, 0, 0, 0, 0, 0, 0, 0],
    ] {
        let bytes = [&gzip(FULL.as_bytes())[..], garbage].concat();
        let text = read(&folder.file("garbage.gz", bytes)).unwrap_err();
        assert!(text.contains("damaged gzip") || text.contains("truncated gzip"), "{garbage:?}: {text}");
    }
}

#[test]
fn tables_are_read_from_gzip_and_damage_is_found_while_reading_rows() {
    let folder = Folder::new();
    let servers = folder.file("servers.csv.gz", gzip(b"id,count,cpu\na,1,2\n"));
    let table: String = std::iter::once("id,cpu\n".to_owned())
        .chain((0..50_000).map(|user| format!("u{user},1\n")))
        .collect();
    let whole = gzip(table.as_bytes());
    let users = folder.file("users.csv.gz", &whole);
    assert_eq!(crate::files::read_tables(&servers, &users, None).unwrap().user_count(), 50_000);
    let users = folder.file("users.csv.gz", &whole[..whole.len() - 9]);
    let text = message(&folder, crate::files::read_tables(&servers, &users, None));
    assert_eq!(text, "users.csv.gz: truncated gzip: the data ends early, or what follows it is not gzip");
}

#[test]
fn a_bomb_is_refused_at_the_stated_limit() {
    let folder = Folder::new();
    // A thousandfold: 300 members of one MiB of blanks each.
    let path = folder.file("bomb.gz", gzip(&vec![b' '; 1 << 20]).repeat(300));
    let text = message(&folder, crate::files::read_instance(&path));
    assert!(text.starts_with("bomb.gz: gzip expands more than 100 times, beyond 256 MiB"), "{text}");
    assert!(source::open(&path).is_ok(), "the limit counts what is read");
}
