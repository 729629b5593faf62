//! Text in UTF-16 becomes UTF-8: what PowerShell's `>` and editors of Windows write begins with a byte order mark.

use std::io::{self, Read};

/// In which order the two bytes of a unit stand.
#[derive(Clone, Copy)]
pub(super) enum ByteOrder {
    /// The low byte first, as on Windows.
    Little,
    /// The high byte first.
    Big,
}

impl ByteOrder {
    /// What a byte order mark at the start of a file says; nothing of a file without one, which is no UTF-16.
    pub(super) fn marked(start: &[u8]) -> Option<Self> {
        match start {
            [0xff, 0xfe, ..] => Some(Self::Little),
            [0xfe, 0xff, ..] => Some(Self::Big),
            _ => None,
        }
    }

    fn unit(self, bytes: [u8; 2]) -> u16 {
        match self {
            Self::Little => u16::from_le_bytes(bytes),
            Self::Big => u16::from_be_bytes(bytes),
        }
    }
}

/// All that `reader` has in UTF-8, without the mark.
pub(super) fn decoded(mut reader: impl Read, order: ByteOrder) -> io::Result<Vec<u8>> {
    let mut content = Vec::new();
    reader.read_to_end(&mut content)?;
    let damaged = || {
        let reason = "begins as text in UTF-16, but is not all of it; write it as UTF-8 (in PowerShell: `| Out-File -Encoding utf8`)";
        io::Error::new(io::ErrorKind::InvalidData, reason)
    };
    let pairs = content.chunks_exact(2);
    if !pairs.remainder().is_empty() {
        return Err(damaged());
    }
    let units = pairs.skip(1).map(|pair| order.unit([pair[0], pair[1]]));
    let mut text = String::with_capacity(content.len() / 2);
    for letter in char::decode_utf16(units) {
        text.push(letter.map_err(|_| damaged())?);
    }
    Ok(text.into_bytes())
}

#[cfg(test)]
mod tests {
    use crate::files::source::{Source, in_memory};
    use flate2::{Compression, write::GzEncoder};
    use std::io::Write;

    fn read(bytes: Vec<u8>) -> Result<String, String> {
        let content = in_memory("it", bytes).and_then(Source::read_all);
        content.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).map_err(|error| error.to_string())
    }

    #[test]
    fn text_in_utf16_is_read_in_both_orders_and_compressed_too() {
        let text = "{\"id\": \"Zoë 🙂\"}\r\n";
        let units = || std::iter::once(0xfeff).chain(text.encode_utf16());
        let little: Vec<u8> = units().flat_map(u16::to_le_bytes).collect();
        let big: Vec<u8> = units().flat_map(u16::to_be_bytes).collect();
        let mut compressor = GzEncoder::new(Vec::new(), Compression::default());
        compressor.write_all(&little).unwrap();
        for bytes in [little, big, compressor.finish().unwrap()] {
            assert_eq!(read(bytes), Ok(text.to_owned()));
        }
    }

    #[test]
    fn what_only_begins_as_utf16_is_refused() {
        assert_eq!(read(b"\xff\xfe".to_vec()), Err("it: the file is empty".into()));
        // Half a unit at the end, and half a letter.
        for bytes in [&b"\xff\xfea"[..], b"\xff\xfe\x00\xd8", b"\xfe\xff\xdc\x00\x00a"] {
            let refused = read(bytes.to_vec()).unwrap_err();
            assert!(refused.starts_with("it: begins as text in UTF-16, but is not all of it"), "{refused}");
        }
    }
}
