//! Text cells that a spreadsheet would run as a formula, and what keeps it from that.

use std::borrow::Cow;

/// How cells start that spreadsheets run as formulas, in some languages with wide letters.
const RUN: [char; 11] = ['=', '+', '-', '@', '\t', '\r', '\n', '＝', '＋', '－', '＠'];

/// Whether a spreadsheet would run `text`, apostrophes in front of it aside.
fn would_run(text: &str) -> bool {
    text.trim_start_matches('\'').starts_with(RUN)
}

/// A text cell of CSV, safe to open in a spreadsheet: what it would run gets a `'` in front, which reading takes back. So
/// does what starts with such an apostrophe itself.
pub fn guarded(text: Cow<'_, str>) -> Cow<'_, str> {
    if would_run(&text) { format!("'{text}").into() } else { text }
}

/// The text that is written as `cell`.
pub(super) fn unguarded(cell: &str) -> &str {
    cell.strip_prefix('\'').filter(|text| would_run(text)).unwrap_or(cell)
}
