//! What goes to a terminal, with nothing in it that the terminal obeys or that turns other text round: results hold names from files.

use fairplan_instances::wording::printable_lines;
use std::io::{self, Write};

/// Text on its way to a terminal. What is not UTF-8 passes as it is: it is no text.
pub(super) struct Visible<W> {
    out: W,
    /// The beginning of a letter whose other bytes are still to come.
    begun: Vec<u8>,
}

impl<W: Write> Visible<W> {
    pub fn new(out: W) -> Self {
        Self { out, begun: Vec::new() }
    }
}

impl<W: Write> Write for Visible<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.begun.extend_from_slice(bytes);
        let text = std::mem::take(&mut self.begun);
        match std::str::from_utf8(&text) {
            Ok(whole) => self.out.write_all(printable_lines(whole).as_bytes())?,
            Err(error) if error.error_len().is_none() => {
                let (whole, begun) = text.split_at(error.valid_up_to());
                self.out.write_all(printable_lines(&String::from_utf8_lossy(whole)).as_bytes())?;
                self.begun = begun.to_vec();
            }
            Err(_) => self.out.write_all(&text)?,
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.write_all(&std::mem::take(&mut self.begun))?;
        self.out.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_terminal_is_told_nothing_that_it_obeys_however_the_bytes_come() {
        let text = "id\n\u{1b}[31mred\u{202e},ä\u{9b}\n".as_bytes();
        for cut in 0..=text.len() {
            let mut shown = Vec::new();
            let mut visible = Visible::new(&mut shown);
            visible.write_all(&text[..cut]).unwrap();
            visible.write_all(&text[cut..]).unwrap();
            visible.flush().unwrap();
            let shown = String::from_utf8(shown).unwrap();
            assert_eq!(shown, "id\n\\u{1b}[31mred\\u{202e},ä\\u{9b}\n", "cut at {cut}");
        }
    }
}
