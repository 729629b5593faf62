//! Draws sentences, one below the other: what a result says that has no sizes to compare.

use super::drawing::{Anchor, Drawing, Shape};

/// Letters of a line: longer ones are broken by who draws them.
pub const LETTERS: usize = 90;

/// Room around the lines, and that above them for the title.
const AROUND: f64 = 20.0;
const ABOVE: f64 = 54.0;

/// The height of a line, and the width of a letter of it and of the title.
const LINE: f64 = 20.0;
const LETTER: f64 = 6.8;
const OF_TITLE: f64 = 8.4;

/// `lines` under a title as a drawing.
pub fn words(title: &str, lines: &[String]) -> Drawing {
    let letters = |text: &str| text.chars().count() as f64;
    let longest = lines.iter().map(|line| LETTER * letters(line)).fold(OF_TITLE * letters(title), f64::max);
    let line = |(position, line): (usize, &String)| {
        Shape::text([AROUND, ABOVE + LINE * position as f64], Anchor::Start, line)
    };
    Drawing {
        title: title.to_owned(),
        width: longest.ceil() + 2.0 * AROUND,
        height: ABOVE + LINE * lines.len() as f64,
        shapes: lines.iter().enumerate().map(line).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plot::Ground;

    #[test]
    fn lines_stand_below_each_other_and_cannot_break_out() {
        let lines = ["Nobody has more or less.".to_owned(), "Users: <b>2".to_owned()];
        let drawn = words("What differs", &lines);
        let svg = drawn.svg(Ground::Paper);
        assert!(svg.contains(r#"y="54.0""#) && svg.contains(r#"y="74.0""#), "{svg}");
        assert!(svg.contains("Users: &lt;b&gt;2") && drawn.height > 74.0, "{svg}");
    }
}
