//! The canonical form of a series, `fairplan.demands.v1`: one quantum a line. Its SHA-256 names the series.

use crate::{DemandSeries, QuantumLabel};
use std::io::{self, Write};

use super::form::FORM;

/// Bytes gathered before they are passed on.
const BUFFER: usize = 1 << 16;

/// Writes the canonical JSON of `series`, without its membership. [`read_demands`](super::read_demands) returns the
/// same series.
pub fn write_demands(series: &DemandSeries, out: &mut impl Write) -> io::Result<()> {
    let mut text = Vec::with_capacity(2 * BUFFER);
    write!(text, "{{\n  \"format\": \"{}\",\n  \"users\": [", FORM.format)?;
    for user in 0..series.user_count() {
        text.extend_from_slice(if user == 0 { b"" } else { b", " });
        serde_json::to_writer(&mut text, series.user_id(user))?;
    }
    text.extend_from_slice(b"],\n");
    let quanta = series.quantum_count();
    if (0..quanta).any(|quantum| series.label(quantum) != QuantumLabel::Number(quantum as u64)) {
        text.extend_from_slice(b"  \"quanta\": [");
        for quantum in 0..quanta {
            text.extend_from_slice(if quantum == 0 { b"" } else { b", " });
            match series.label(quantum) {
                QuantumLabel::Number(number) => write!(text, "{number}")?,
                QuantumLabel::Text(label) => serde_json::to_writer(&mut text, label)?,
            }
            pass_on(&mut text, out)?;
        }
        text.extend_from_slice(b"],\n");
    }
    text.extend_from_slice(b"  \"demands\": [");
    let nobody: Vec<u8> = b"0, ".repeat(series.user_count());
    for quantum in 0..quanta {
        text.extend_from_slice(if quantum == 0 { b"\n    [" } else { b",\n    [" });
        let mut next = 0;
        let (users, slices) = series.demands(quantum);
        for (user, slices) in users.iter().zip(slices) {
            let user = *user as usize;
            text.extend_from_slice(&nobody[..3 * (user - next)]);
            write!(text, "{slices}, ")?;
            next = user + 1;
        }
        text.extend_from_slice(&nobody[..3 * (series.user_count() - next)]);
        text.truncate(text.len() - 2);
        text.push(b']');
        pass_on(&mut text, out)?;
    }
    text.extend_from_slice(b"\n  ]\n}\n");
    out.write_all(&text)
}

/// The SHA-256 of the canonical JSON, in hexadecimal: what `sha256sum` prints for the file that [`write_demands`]
/// writes.
pub fn demands_sha256_hex(series: &DemandSeries) -> String {
    crate::files::canonical::hashed(|hash| write_demands(series, hash))
}

fn pass_on(text: &mut Vec<u8>, out: &mut impl Write) -> io::Result<()> {
    if text.len() >= BUFFER {
        out.write_all(text)?;
        text.clear();
    }
    Ok(())
}
