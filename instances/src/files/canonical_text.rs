//! Text of the canonical form, as it is gathered: texts, numbers and maps of them.

use crate::Decimal;
use std::io::{self, Write};

/// Bytes gathered before they are passed on.
const BUFFER: usize = 1 << 16;

/// JSON on its way out.
#[derive(Default)]
pub(super) struct Text {
    bytes: Vec<u8>,
}

impl Text {
    /// Nothing yet.
    pub(super) fn new() -> Self {
        Self { bytes: Vec::with_capacity(2 * BUFFER) }
    }

    pub(super) fn raw(&mut self, text: &str) {
        self.bytes.extend_from_slice(text.as_bytes());
    }

    pub(super) fn string(&mut self, text: &str) {
        // Writing a text to memory cannot fail.
        let _ = serde_json::to_writer(&mut self.bytes, text);
    }

    pub(super) fn number(&mut self, number: Decimal) {
        self.bytes.extend_from_slice(number.text(&mut [0; Decimal::TEXT]));
    }

    pub(super) fn whole(&mut self, number: u64) {
        let _ = write!(self.bytes, "{number}");
    }

    pub(super) fn strings<'a>(&mut self, texts: impl Iterator<Item = &'a str>) {
        self.raw("[");
        for (position, text) in texts.enumerate() {
            if position > 0 {
                self.raw(", ");
            }
            self.string(text);
        }
        self.raw("]");
    }

    pub(super) fn amounts(&mut self, amounts: &[Decimal], keys: &[Vec<u8>]) {
        self.raw("{");
        let mut separator = "";
        for (amount, key) in amounts.iter().zip(keys).filter(|(amount, _)| !amount.is_zero()) {
            self.raw(separator);
            self.bytes.extend_from_slice(key);
            self.number(*amount);
            separator = ", ";
        }
        self.raw("}");
    }

    /// Text that is ready to be written.
    pub(super) fn bytes(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    /// Passes everything on.
    pub(super) fn finish(mut self, out: &mut (impl Write + ?Sized)) -> io::Result<()> {
        out.write_all(&std::mem::take(&mut self.bytes))
    }

    /// Everything, where nothing was passed on.
    #[cfg(feature = "parquet")]
    pub(super) fn into_string(self) -> String {
        String::from_utf8(self.bytes).unwrap_or_default()
    }

    pub(super) fn pass_on(&mut self, out: &mut (impl Write + ?Sized)) -> io::Result<()> {
        if self.bytes.len() >= BUFFER {
            out.write_all(&self.bytes)?;
            self.bytes.clear();
        }
        Ok(())
    }
}

/// `"name": `, ready to be written a million times.
pub(super) fn key(name: &str) -> Vec<u8> {
    let mut text = Text { bytes: Vec::new() };
    text.string(name);
    text.raw(": ");
    text.bytes
}
