//! Files that hold others, or another compression than gzip, known by their first bytes: they are named, and what unpacks them.

/// Bytes of a file's beginning that tell what it is.
pub(super) const HEAD: u64 = 262;

/// Where these bytes stand, what they are, and what to say.
const PACKED: [(usize, &[u8], &str); 10] = [
    (0, b"PK\x03\x04", "is a zip archive; unpack it (`unzip FILE`) and name the file inside"),
    (0, b"PK\x05\x06", "is a zip archive with nothing inside; name the file itself"),
    (0, b"7z\xbc\xaf\x27\x1c", "is a 7z archive; unpack it (`7z x FILE`) and name the file inside"),
    (0, b"Rar!\x1a\x07", "is a rar archive; unpack it (`unrar x FILE`) and name the file inside"),
    (257, b"ustar", "is a tar archive; unpack it (`tar -xf FILE`) and name the file inside"),
    (0, b"\xfd7zXZ\x00", "is compressed by xz; unpack it (`xz -dk FILE`), or compress it with gzip instead"),
    (0, b"BZh", "is compressed by bzip2; unpack it (`bzip2 -dk FILE`), or compress it with gzip instead"),
    (
        0,
        b"\x28\xb5\x2f\xfd",
        "is compressed by zstd; unpack it (`zstd -d FILE`), or compress it with gzip instead",
    ),
    (
        0,
        b"\x04\x22\x4d\x18",
        "is compressed by lz4; unpack it (`lz4 -d FILE`), or compress it with gzip instead",
    ),
    (
        0,
        b"\x1f\x9d",
        "is compressed by compress; unpack it (`gzip -d FILE`), or compress it with gzip instead",
    ),
];

/// What to say of a file that begins so, if it is packed in a way that is not read.
pub(super) fn packed(head: &[u8]) -> Option<&'static str> {
    let is_it =
        |(at, bytes, _): &&(usize, &[u8], &str)| head.get(*at..).is_some_and(|rest| rest.starts_with(bytes));
    let found = PACKED.iter().find(is_it);
    // A level of compression follows the letters of bzip2, a table may begin with them.
    let is_meant = |bytes: &[u8]| bytes != b"BZh" || head.get(4..10) == Some(b"\x31\x41\x59\x26\x53\x59");
    found.filter(|(_, bytes, _)| is_meant(bytes)).map(|(.., said)| *said)
}

#[cfg(test)]
mod tests {
    use super::super::source::in_memory;

    #[test]
    fn what_is_packed_otherwise_is_named_with_what_unpacks_it_and_text_is_not() {
        let tar = [&[b'a'; 257][..], b"ustar\x0000"].concat();
        for (bytes, said) in [
            (
                &b"PK\x03\x04\x14\x00"[..],
                "it: is a zip archive; unpack it (`unzip FILE`) and name the file inside",
            ),
            (b"7z\xbc\xaf\x27\x1c\x00", "it: is a 7z archive"),
            (&tar, "it: is a tar archive; unpack it (`tar -xf FILE`)"),
            (b"\xfd7zXZ\x00\x00", "it: is compressed by xz"),
            (b"BZh91AY&SY", "it: is compressed by bzip2"),
            (b"\x28\xb5\x2f\xfd\x00", "it: is compressed by zstd"),
        ] {
            let refused = in_memory("it", bytes.to_vec()).err().unwrap().to_string();
            assert!(refused.starts_with(said), "{refused}");
        }
        for text in [&b"BZh,1\n"[..], b"PK,1\n", b"7z,1\n", b"{}"] {
            assert_eq!(in_memory("it", text.to_vec()).unwrap().read_all().unwrap(), text);
        }
    }
}
