//! Plain tables: a ruled header, text to the left, numbers to the right, never wider than 100 columns.

use comfy_table::{
    Cell, CellAlignment, ColumnConstraint, ContentArrangement, LineStyle, Table, TableStyle, Width,
};

/// Wide enough for a terminal, narrow enough for a README.
const WIDTH: u16 = 100;

/// What a column takes beside its text, and what is between two of them.
const PADDING: u16 = 2;
const BETWEEN: u16 = 1;

/// A column's header and how its cells are aligned.
pub(super) struct Column {
    header: String,
    alignment: CellAlignment,
}

impl Column {
    /// A column of words.
    pub fn text(header: impl Into<String>) -> Self {
        Self { header: header.into(), alignment: CellAlignment::Left }
    }

    fn is_text(&self) -> bool {
        self.alignment == CellAlignment::Left
    }

    /// A column of numbers.
    pub fn number(header: impl Into<String>) -> Self {
        Self { header: header.into(), alignment: CellAlignment::Right }
    }
}

/// The table as lines of text, each ended by a newline.
pub(super) fn grid(columns: &[Column], rows: impl Iterator<Item = Vec<String>>) -> String {
    let mut table = Table::new();
    table
        .load_style(TableStyle::new().header_separator(LineStyle::none().fill('─').junction('─')))
        .set_content_arrangement(ContentArrangement::Dynamic)
        .set_width(WIDTH);
    let cell = |text: &str, column: &Column| Cell::new(text).set_alignment(column.alignment);
    table.set_header(columns.iter().map(|column| cell(&column.header, column)));
    let mut longest = vec![0; columns.len()];
    for row in rows {
        table.add_row(row.iter().zip(columns).map(|(text, column)| cell(text, column)));
        for (longest, text) in longest.iter_mut().zip(&row) {
            *longest = text.chars().count().max(*longest);
        }
    }
    // Where it can be avoided, headers of numbers are broken into lines, and no words.
    let width = |(longest, column): (&usize, &Column)| {
        let header = if column.is_text() { column.header.chars().count() } else { 0 };
        (*longest).max(header).min(usize::from(WIDTH)) as u16 + PADDING
    };
    let widths: Vec<u16> = longest.iter().zip(columns).map(width).collect();
    if widths.iter().map(|width| u32::from(width + BETWEEN)).sum::<u32>() <= WIDTH.into() {
        for ((column, width), told) in table.column_iter_mut().zip(widths).zip(columns) {
            if told.is_text() {
                column.set_constraint(ColumnConstraint::LowerBoundary(Width::Fixed(width)));
            }
        }
    }
    table.lines().map(|line| line.trim_end().to_owned() + "\n").collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_aligned_and_long_rows_stay_within_the_width() {
        let columns = [Column::text("user"), Column::number("tasks")];
        let rows = [vec!["a".to_owned(), "1".to_owned()], vec!["bcd".to_owned(), "22".to_owned()]];
        let text = grid(&columns, rows.into_iter());
        assert_eq!(text, " user   tasks\n──────────────\n a          1\n bcd       22\n");
        let columns: Vec<Column> = std::iter::once(Column::text("policy"))
            .chain((0..8).map(|i| Column::number(format!("resource {i} used"))))
            .collect();
        let row = std::iter::once("dot-product".to_owned()).chain(vec!["100.00%".to_owned(); 8]);
        let text = grid(&columns, std::iter::once(row.collect()));
        assert!(text.contains(" dot-product "), "{text}");
        assert!(text.lines().all(|line| line.chars().count() <= usize::from(WIDTH)), "{text}");
        let columns: Vec<Column> = (0..20).map(|i| Column::number(format!("resource {i} used"))).collect();
        let text = grid(&columns, std::iter::once(vec!["0.123456789".to_owned(); 20]));
        assert!(text.lines().all(|line| line.chars().count() <= usize::from(WIDTH)), "{text}");
    }
}
