//! Plain tables: a ruled header, text to the left, numbers to the right, as wide as the terminal. A word or a number is never
//! broken: first headers take more lines, then cells of words do, and then the columns go one below the other.

use crate::names::{apart, cut};
use crate::units::{shown, thousands};
use fairplan_instances::table::{self, Kind, Table};
use std::collections::HashSet;
use std::sync::OnceLock;
use unicode_width::UnicodeWidthStr;

/// Columns of letters where nothing tells how wide the terminal is: narrow enough for a README.
const WIDTH: usize = 100;

/// What is narrower is taken as this wide.
const NARROWEST: usize = 24;

/// Letters that an id takes at most, unless more are needed to tell it from the others; fewer where columns would have to go
/// below each other.
const ID_LENGTHS: [usize; 3] = [32, 24, 16];

/// Blanks around a cell, and between two of them.
const MARGIN: usize = 1;
const BETWEEN: usize = 3;

static TERMINAL: OnceLock<usize> = OnceLock::new();

/// Says how wide the terminal is, in letters, before the first summary is made; without it, summaries are 100 wide.
pub fn fit_terminal(width: usize) {
    let _ = TERMINAL.set(width.max(NARROWEST));
}

/// How wide summaries are, in letters.
pub(crate) fn width() -> usize {
    TERMINAL.get().copied().unwrap_or(WIDTH)
}

/// How a column is laid out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Layout {
    /// Words, which may go over several lines.
    Text,
    /// Names as their file has them: made safe here, and cut in the middle where they are long, so that they still differ.
    Id,
    /// Numbers, to the right.
    Number,
}

/// A column's header and how its cells are laid out.
#[derive(Clone, Debug)]
struct Column {
    header: String,
    layout: Layout,
    /// Names in rows that are not listed: those that are must not be taken for one of them.
    unlisted: Vec<String>,
}

/// Letters of a header, which may name a resource.
const HEADER: usize = 48;

/// Rows that a summary lists before the others are only counted.
pub(crate) const ROWS: usize = 10;

/// Rows whose names are told apart from those of the listed ones. Among more, names that are cut may look like others far below.
const TOLD_APART: usize = 1000;

/// The table as lines of text, each ended by a newline.
pub(crate) fn grid(table: &Table<'_>) -> String {
    first(table, table.rows())
}

/// The first rows of a table, and how many more of all `what` there are.
pub(crate) fn listed(table: &Table<'_>, what: &str) -> String {
    listed_up_to(table, ROWS, what)
}

/// The same with so many rows.
pub(crate) fn listed_up_to(table: &Table<'_>, most: usize, what: &str) -> String {
    first(table, most) + &rest(table.rows(), most, what)
}

/// How many of all `what` there are beyond the first ones, as a line; nothing where there are none.
pub(crate) fn rest(all: usize, listed: usize, what: &str) -> String {
    match all.saturating_sub(listed) {
        0 => String::new(),
        more => format!("… and {} more of {} {what}\n", thousands(more as u64), thousands(all as u64)),
    }
}

/// The first rows of a table.
pub(crate) fn first(table: &Table<'_>, rows: usize) -> String {
    let column = |column: &table::Column<'_>| Column {
        header: cut(&column.title, HEADER),
        layout: match column.kind {
            Kind::Id => Layout::Id,
            Kind::Name | Kind::Words | Kind::Answer => Layout::Text,
            _ => Layout::Number,
        },
        unlisted: match column.kind {
            Kind::Id => (rows..table.rows().min(TOLD_APART)).map(|row| shown(column, row)).collect(),
            _ => Vec::new(),
        },
    };
    let columns: Vec<Column> = table.columns().iter().map(column).collect();
    let row = |row: usize| table.columns().iter().map(|column| shown(column, row)).collect();
    laid_out(&columns, (0..table.rows().min(rows)).map(row).collect(), width())
}

fn laid_out(columns: &[Column], rows: Vec<Vec<String>>, width: usize) -> String {
    let table = Parts::of(columns, &rows, width, &keys(columns, &rows));
    if table.tells_rows_apart() {
        return table.drawn(columns, width);
    }
    // Rows have numbers where what says what they are takes too much room to stand in each part.
    let numbers = Column { header: "#".into(), layout: Layout::Number, unlisted: Vec::new() };
    let columns: Vec<Column> = [numbers].into_iter().chain(columns.iter().cloned()).collect();
    let numbered = |(at, row): (usize, Vec<String>)| [(at + 1).to_string()].into_iter().chain(row).collect();
    let rows: Vec<Vec<String>> = rows.into_iter().enumerate().map(numbered).collect();
    Parts::of(&columns, &rows, width, &[0]).drawn(&columns, width)
}

/// A table whose columns are in parts, one below the other.
struct Parts {
    rows: Vec<Vec<String>>,
    needs: Vec<Need>,
    groups: Vec<Vec<usize>>,
}

impl Parts {
    fn of(columns: &[Column], rows: &[Vec<String>], width: usize, keys: &[usize]) -> Self {
        let mut tried = ID_LENGTHS.into_iter().map(|longest| {
            let rows = with_short_ids(columns, rows, longest.min(width / 2));
            let need = |(position, column)| Need::new(column, position, &rows);
            let needs: Vec<Need> = columns.iter().enumerate().map(need).collect();
            let groups = groups(&needs, keys, width);
            Self { rows, needs, groups }
        });
        // The first that fits, else the one with most of the ids.
        let longest =
            tried.next().unwrap_or(Self { rows: Vec::new(), needs: Vec::new(), groups: Vec::new() });
        let fits = |parts: &Self| parts.groups.len() == 1;
        if fits(&longest) { longest } else { tried.find(fits).unwrap_or(longest) }
    }

    /// Whether each part says of each row what no other has: by the columns that all parts have.
    fn tells_rows_apart(&self) -> bool {
        let [first, others @ ..] = &self.groups[..] else { return true };
        let Some(last) = others.last() else { return true };
        let keys: Vec<usize> = first.iter().copied().filter(|column| last.contains(column)).collect();
        let mut seen = HashSet::new();
        self.rows.iter().all(|row| seen.insert(keys.iter().map(|c| row.get(*c)).collect::<Vec<_>>()))
    }

    fn drawn(&self, columns: &[Column], width: usize) -> String {
        let draw = |group: &Vec<usize>| drawn(columns, &self.rows, group, &widths(&self.needs, group, width));
        self.groups.iter().map(draw).collect::<Vec<_>>().join("\n")
    }
}

/// The rows with their ids cut to so many letters.
fn with_short_ids(columns: &[Column], rows: &[Vec<String>], longest: usize) -> Vec<Vec<String>> {
    let mut rows = rows.to_vec();
    for (position, _) in columns.iter().enumerate().filter(|(_, column)| column.layout == Layout::Id) {
        let ids = rows.iter().filter_map(|row| row.get(position)).chain(&columns[position].unlisted);
        let ids: Vec<&str> = ids.map(String::as_str).collect();
        let shown = apart(&ids, longest);
        for (cell, id) in rows.iter_mut().filter_map(|row| row.get_mut(position)).zip(shown) {
            *cell = id;
        }
    }
    rows
}

/// How wide a column may be and must be, in letters.
struct Need {
    /// With header and cells on one line each.
    whole: usize,
    /// With the header broken between its words.
    broken_header: usize,
    /// With the cells broken, too, where they are words.
    broken: usize,
    is_number: bool,
}

impl Need {
    fn new(column: &Column, position: usize, rows: &[Vec<String>]) -> Self {
        let cells = || rows.iter().filter_map(|row| row.get(position));
        let longest = cells().map(|cell| cell.width()).max().unwrap_or(0);
        let word = |text: &str| text.split(' ').map(UnicodeWidthStr::width).max().unwrap_or(0);
        let header = word(&column.header);
        let words = match column.layout {
            Layout::Text => cells().map(|cell| word(cell)).max().unwrap_or(0),
            Layout::Id | Layout::Number => longest,
        };
        Self {
            whole: column.header.width().max(longest),
            broken_header: header.max(longest),
            broken: header.max(words),
            is_number: column.layout == Layout::Number,
        }
    }
}

/// The columns that say what a row is: the first, with it the ids right behind, and those behind as long as some row has nothing in all of
/// them (as where a row is of a group or of a user); without those in which no row has anything.
fn keys(columns: &[Column], rows: &[Vec<String>]) -> Vec<usize> {
    let is_empty = |row: &Vec<String>, position: usize| row.get(position).is_none_or(String::is_empty);
    let mut count = columns.len().min(1)
        + columns.iter().skip(1).take_while(|column| column.layout == Layout::Id).count();
    let is_word =
        |position: usize| columns.get(position).is_some_and(|column| column.layout != Layout::Number);
    while is_word(count) && rows.iter().any(|row| (0..count).all(|position| is_empty(row, position))) {
        count += 1;
    }
    let has_some = |position: &usize| rows.is_empty() || rows.iter().any(|row| !is_empty(row, *position));
    (0..count).filter(has_some).collect()
}

/// The columns of each table, one table below the other: those that say what a row is are in all of them, or the first alone
/// where they take half of the room.
fn groups(needs: &[Need], keys: &[usize], width: usize) -> Vec<Vec<usize>> {
    let all: Vec<usize> = (0..needs.len()).collect();
    let wide = total(&keys.iter().map(|c| needs[*c].broken).collect::<Vec<_>>()) > width / 2;
    let keys: Vec<usize> = keys.iter().copied().take(if wide { 1 } else { keys.len() }).collect();
    let mut groups = Vec::new();
    let mut group: Vec<usize> = Vec::new();
    for position in all {
        let with =
            |group: &[usize]| group.iter().chain([&position]).map(|c| needs[*c].broken).collect::<Vec<_>>();
        if group.len() > keys.len() && total(&with(&group)) > width {
            groups.push(std::mem::replace(&mut group, keys.clone()));
        }
        group.push(position);
    }
    groups.push(group);
    groups
}

/// How wide a table of columns of these widths is.
fn total(widths: &[usize]) -> usize {
    2 * MARGIN + widths.iter().sum::<usize>() + BETWEEN * widths.len().saturating_sub(1)
}

/// How wide the columns of a table are: as narrow as they must be, the widest first.
fn widths(needs: &[Need], group: &[usize], width: usize) -> Vec<usize> {
    let mut widths: Vec<usize> = group.iter().map(|c| needs[*c].whole).collect();
    // Headers of numbers are broken first, then those of words, then cells.
    let limits: [fn(&Need) -> usize; 3] = [
        |need| if need.is_number { need.broken_header } else { need.whole },
        |need| need.broken_header,
        |need| need.broken,
    ];
    for limit in limits {
        while total(&widths) > width {
            let room = |place: &usize| widths[*place] > limit(&needs[group[*place]]);
            let Some(widest) = (0..group.len()).filter(room).max_by_key(|place| widths[*place]) else {
                break;
            };
            widths[widest] -= 1;
        }
    }
    widths
}

fn drawn(columns: &[Column], rows: &[Vec<String>], group: &[usize], widths: &[usize]) -> String {
    let header: Vec<Vec<String>> =
        group.iter().zip(widths).map(|(c, width)| broken(&columns[*c].header, *width)).collect();
    let cells: Vec<Vec<Vec<String>>> = rows
        .iter()
        .map(|row| {
            let cell = |c: usize, width: usize| match (row.get(c), columns[c].layout) {
                (None, _) => Vec::new(),
                (Some(text), Layout::Text) => broken(text, width),
                (Some(text), Layout::Id | Layout::Number) => vec![text.clone()],
            };
            group.iter().zip(widths).map(|(c, width)| cell(*c, *width)).collect()
        })
        .collect();
    // Lines may have come out shorter than they were allowed to be.
    let widths: Vec<usize> = (0..group.len())
        .map(|place| {
            let lines = cells.iter().map(|row| &row[place]).chain([&header[place]]).flatten();
            lines.map(|line| line.width()).max().unwrap_or(0)
        })
        .collect();
    let numbers: Vec<bool> = group.iter().map(|c| columns[*c].layout == Layout::Number).collect();
    let mut text = row(&header, &widths, &numbers);
    text += &"─".repeat(total(&widths));
    text.push('\n');
    cells.iter().for_each(|cells| text += &row(cells, &widths, &numbers));
    text
}

/// The lines of one row.
fn row(cells: &[Vec<String>], widths: &[usize], numbers: &[bool]) -> String {
    let mut text = String::new();
    for line in 0..cells.iter().map(Vec::len).max().unwrap_or(0).max(1) {
        let mut written = " ".repeat(MARGIN);
        for ((lines, width), is_number) in cells.iter().zip(widths).zip(numbers) {
            let words = lines.get(line).map_or("", String::as_str);
            let blanks = " ".repeat(width.saturating_sub(words.width()));
            written += &if *is_number { blanks + words } else { words.to_owned() + &blanks };
            written += &" ".repeat(BETWEEN);
        }
        text += written.trim_end();
        text.push('\n');
    }
    text
}

/// Sentences in lines as long as the terminal allows, each ended by a newline.
pub(crate) fn paragraph(text: &str) -> String {
    broken(text, width()).join("\n") + "\n"
}

/// `text` in lines of at most `width` letters where its words allow it.
pub(crate) fn broken(text: &str, width: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split(' ') {
        match lines.last_mut() {
            Some(line) if line.width() + 1 + word.width() <= width => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    fn column(layout: Layout) -> impl Fn(&str) -> Column {
        move |header| Column { header: header.into(), layout, unlisted: Vec::new() }
    }

    fn table(columns: &[Column], rows: &[&[&str]], width: usize) -> String {
        let rows = rows.iter().map(|row| row.iter().map(|cell| (*cell).to_owned()).collect()).collect();
        laid_out(columns, rows, width)
    }

    #[test]
    fn numbers_are_aligned_to_the_right_and_a_rule_is_below_the_header() {
        let columns = [column(Layout::Id)("user"), column(Layout::Number)("tasks")];
        let text = table(&columns, &[&["a", "1"], &["bcd", "22"]], WIDTH);
        assert_eq!(text, " user   tasks\n──────────────\n a          1\n bcd       22\n");
        let wide = table(&columns, &[&["\u{4e2d}\u{6587}", "1"], &["bcde", "22"]], WIDTH);
        assert!(wide.contains(" \u{4e2d}\u{6587}       1\n bcde      22\n"), "{wide}");
    }

    /// Whatever the width, every word and number of a table stands there whole.
    #[test]
    fn no_word_and_no_number_is_ever_broken() {
        let mut columns =
            vec![column(Layout::Id)("policy"), column(Layout::Text)("what it does with what is left over")];
        columns.extend((0..9).map(|i| column(Layout::Number)(&format!("below whole-task bound {i}"))));
        let mut row = vec!["dot-product", "puts the largest first wherever there is room"];
        row.extend(["0.0001609797", "proved optimal", "1,234,567", "100.00%", "-", "0", "1e-9", "12", "13"]);
        for width in NARROWEST..200 {
            let text = table(&columns, &[&row], width);
            let words: Vec<&str> = text.split_whitespace().collect();
            for word in row.iter().flat_map(|cell| cell.split(' ')).chain(["whole-task", "policy"]) {
                assert!(words.contains(&word), "{word} at {width}:\n{text}");
            }
            let longest = text.lines().map(|line| line.trim_end_matches('─').width()).max().unwrap();
            // Two columns of a table are as wide as their longest words, where the terminal is not.
            assert!(longest <= width || width < 40, "{longest} at {width}:\n{text}");
        }
    }

    #[test]
    fn what_does_not_fit_beside_goes_below_with_the_names_again() {
        let columns: Vec<Column> = [column(Layout::Id)("policy")]
            .into_iter()
            .chain((0..3).map(|i| column(Layout::Number)(&format!("used-{i}"))))
            .collect();
        let text = table(&columns, &[&["best-fit", "100.00%", "50.00%", "7.00%"]], 30);
        let expected = " policy      used-0   used-1\n\
                        ─────────────────────────────\n best-fit   100.00%   50.00%\n\n policy     used-2\n\
                        ───────────────────\n best-fit    7.00%\n";
        assert_eq!(text, expected);
    }

    #[test]
    fn what_goes_below_is_named_by_the_columns_that_name_every_row() {
        let columns: Vec<Column> = ["group", "user"]
            .map(|name| column(Layout::Text)(name))
            .into_iter()
            .chain((0..3).map(|i| column(Layout::Number)(&format!("used-{i}"))))
            .collect();
        let below = |rows: &[&[&str]]| {
            let text = table(&columns, rows, 40);
            text.split_once("\n\n").unwrap().1.lines().next().unwrap().to_owned()
        };
        let of_user: &[&str] = &["", "somebody", "100.00%", "50.00%", "7.00%"];
        let of_group: &[&str] = &["team", "", "100.00%", "50.00%", "7.00%"];
        assert_eq!(below(&[of_user]), " user       used-2");
        assert_eq!(below(&[of_user, of_group]), " group   user       used-2");
        assert_eq!(below(&[of_group]), " group   used-2");
    }

    #[test]
    fn rows_that_their_names_do_not_tell_apart_below_have_numbers() {
        let columns: Vec<Column> = ["group", "on", "resource"]
            .map(|name| column(Layout::Text)(name))
            .into_iter()
            .chain((0..2).map(|i| column(Layout::Number)(&format!("used-{i}"))))
            .collect();
        let rows: [&[&str]; 2] =
            [&["team", "large-servers", "memory", "1", "2"], &["team", "large-servers", "cores", "3", "4"]];
        let expected = " #   group   on              resource\n──────────────────────────────────────\n 1   team    large-servers   memory\n \
                        2   team    large-servers   cores\n\n #   used-0   used-1\n─────────────────────\n 1        1        2\n 2        3        4\n";
        assert_eq!(table(&columns, &rows, 40), expected);
        // Where all is beside each other nothing need tell them apart.
        assert!(!table(&columns, &rows, 80).contains('#'));
    }

    #[test]
    fn ids_behind_a_number_go_below_with_it() {
        let columns: Vec<Column> = [column(Layout::Number)("load"), column(Layout::Id)("class")]
            .into_iter()
            .chain((0..2).map(|i| column(Layout::Number)(&format!("rate-{i}"))))
            .collect();
        let rows: [&[&str]; 2] = [&["0.5", "a", "0.12345678", "0.2"], &["0.5", "b", "0.3", "0.4"]];
        let text = table(&columns, &rows, 32);
        assert!(text.ends_with(" load   class   rate-1\n───────────────────────\n  0.5   a          0.2\n  0.5   b          0.4\n"), "{text}");
    }

    #[test]
    fn headers_of_numbers_are_broken_before_cells_of_words_are() {
        let columns = [column(Layout::Text)("servers"), column(Layout::Number)("part of the target")];
        let text = table(&columns, &[&["3 large, 2 small", "5.00%"]], 30);
        let expected = "                    part of\n servers                the\n";
        assert!(text.lines().any(|line| line.contains("3 large, 2 small")), "{text} {expected}");
        let text = table(&columns, &[&["3 large, 2 small", "5.00%"]], 24);
        assert!(text.contains("3 large, 2") && !text.contains("3 large, 2 small"), "{text}");
    }
}
