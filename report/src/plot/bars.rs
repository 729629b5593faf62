//! Draws [`Bars`]: groups of horizontal bars from zero on one scale, each with its value, and a line to compare them with.

use super::colours::COLOURS;
use super::drawing::{Anchor, Colour, Drawing, Pen, Shape};
use crate::figure::Bars;
use crate::names::{apart, cut};

/// What a chart is drawn for: names stand beside the bars, or above them on a screen as narrow as a telephone's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Room {
    /// A page or a file.
    Wide,
    /// At most 350 pixels.
    Narrow,
}

/// The names' room, that of the longest bar, and that of its value.
const NAMES: f64 = 190.0;
const LONGEST: f64 = 420.0;
const VALUES: f64 = 90.0;

/// The same where names stand above the bars.
const NARROW_LONGEST: f64 = 250.0;

/// The thickness of a bar, and the room between groups.
const BAR: f64 = 14.0;
const BETWEEN: f64 = 10.0;

/// Room for the title above and for the legend below; a row of the legend.
const ABOVE: f64 = 40.0;
const BELOW: f64 = 30.0;
const ROW: f64 = 18.0;

/// The room before a bar's value, and that of each of its letters.
const GAP: f64 = 5.0;
const LETTER: f64 = 6.8;

/// The room of a letter of a name.
const NAME_LETTER: f64 = 7.2;

/// Letters of a name that have room beside a bar, and above one.
const LETTERS: usize = 24;
const NARROW_LETTERS: usize = 46;

/// Where things stand.
struct Layout {
    /// Where bars begin, and how long the longest is.
    start: f64,
    longest: f64,
    /// Room above the bars of a group, for its name.
    above: f64,
    width: f64,
}

impl Layout {
    /// More room where names had to be left longer, so that none of them looks like another.
    fn new(room: Room, names: &[String]) -> Self {
        let letters = names.iter().map(|name| name.chars().count()).max().unwrap_or(0);
        match room {
            Room::Wide => {
                let start = NAMES + NAME_LETTER * letters.saturating_sub(LETTERS) as f64;
                Self { start, longest: LONGEST, above: 0.0, width: start + LONGEST + VALUES }
            }
            Room::Narrow => Self {
                start: 2.0,
                longest: NARROW_LONGEST,
                above: 16.0,
                width: (2.0 + NARROW_LONGEST + VALUES).max(2.0 + NAME_LETTER * letters as f64),
            },
        }
    }
}

/// `bars` as a drawing.
pub fn bars(bars: &Bars, room: Room) -> Drawing {
    let ids: Vec<&str> = bars.groups.iter().map(|(name, _)| name.as_str()).collect();
    let names = apart(&ids, if room == Room::Wide { LETTERS } else { NARROW_LETTERS });
    let places = Layout::new(room, &names);
    let values = bars.groups.iter().flat_map(|(_, values)| values).copied();
    let mark = bars.mark.as_ref().map(|(value, _)| *value);
    let largest = values.chain(mark).fold(0.0, f64::max);
    let length = |value: f64| if largest > 0.0 { places.longest * value.max(0.0) / largest } else { 0.0 };
    let mut shapes = Vec::new();
    let mut y = ABOVE;
    for ((id, values), name) in bars.groups.iter().zip(names) {
        let middle = y + BAR * values.len() as f64 / 2.0 + 4.0;
        shapes.push(match room {
            Room::Wide => Shape::text([places.start - 8.0, middle], Anchor::End, name),
            Room::Narrow => Shape::text([places.start, y + 11.0], Anchor::Start, name),
        });
        y += places.above;
        for (position, value) in values.iter().enumerate() {
            let (long, colour) = (length(*value), COLOURS[position % COLOURS.len()]);
            let label = (bars.format)(*value);
            let series = bars.series.get(position).map_or_else(String::new, |series| format!("{series}: "));
            let hint = Some(format!("{id}, {series}{label}"));
            shapes.push(Shape::Rectangle {
                corner: [places.start, y],
                size: [long, BAR - 2.0],
                colour,
                hint,
            });
            // Beyond the mark's line where that would cross it.
            let end = places.start + long;
            let behind = |x: &f64| end <= *x && *x < end + 2.0 * GAP + LETTER * label.chars().count() as f64;
            let after = mark.map(|mark| places.start + length(mark)).filter(behind).unwrap_or(end);
            let at = [after + GAP, y + BAR - 4.0];
            shapes.push(Shape::Text { at, anchor: Anchor::Start, size: 11.0, upwards: false, text: label });
            y += BAR;
        }
        y += BETWEEN;
    }
    let (bottom, mut width) = (y, places.width);
    if let Some((value, _)) = &bars.mark {
        let x = places.start + length(*value);
        let pen = Pen { dashes: Some([4.0, 3.0]), ..Pen::INK };
        shapes.push(Shape::line([[x, ABOVE - 6.0], [x, bottom]], pen));
    }
    let height = bottom + BELOW + legend(bars, &places, bottom, &mut width, &mut shapes);
    Drawing { title: bars.caption.clone(), width, height, shapes }
}

/// Draws the legend below the bars: entries beside each other in the drawing's width, then in more rows. Gives the height of
/// the rows after the first; a single entry that is wider than the drawing makes it wider.
fn legend(bars: &Bars, places: &Layout, bottom: f64, width: &mut f64, shapes: &mut Vec<Shape>) -> f64 {
    let mut entries: Vec<(String, Option<Colour>)> = (bars.series.iter())
        .zip(COLOURS.into_iter().cycle())
        .map(|(series, colour)| (cut(series, NARROW_LETTERS), Some(colour)))
        .collect();
    entries
        .extend(bars.mark.as_ref().map(|(value, what)| (format!("{what}: {}", (bars.format)(*value)), None)));
    let (mut x, mut y) = (places.start, bottom);
    for (text, colour) in entries {
        let taken = 18.0 + 7.0 * text.chars().count() as f64;
        if x > places.start && x + taken > *width {
            (x, y) = (places.start, y + ROW);
        }
        shapes.push(match colour {
            Some(colour) => Shape::Rectangle { corner: [x, y + 6.0], size: [12.0, 12.0], colour, hint: None },
            None => {
                let pen = Pen { dashes: Some([4.0, 3.0]), ..Pen::INK };
                Shape::line([[x + 6.0, y + 6.0], [x + 6.0, y + 18.0]], pen)
            }
        });
        shapes.push(Shape::text([x + 18.0, y + 16.0], Anchor::Start, text));
        x += taken + 16.0;
        *width = width.max(x - 16.0);
    }
    y - bottom
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plot::Ground;

    #[test]
    fn bars_are_as_long_as_their_values_and_names_cannot_break_out() {
        let chart = Bars {
            caption: "c".into(),
            series: vec!["cpu".into(), "memory".into()],
            groups: vec![("<script>\"".into(), vec![0.5, 1.0])],
            mark: Some((2.0, "all".into())),
            format: |value| value.to_string(),
        };
        let svg = bars(&chart, Room::Wide).svg(Ground::Page);
        assert!(svg.contains(r#"width="105.0""#) && svg.contains(r#"width="210.0""#), "{svg}");
        assert!(!svg.contains("<script") && svg.contains("&lt;script&gt;&quot;, memory: 1"), "{svg}");
        assert!(svg.contains("all: 2"));
    }

    #[test]
    fn on_a_narrow_screen_names_stand_above_the_bars_and_the_legend_in_rows() {
        let chart = Bars {
            caption: "c".into(),
            series: vec!["as DRFH over the servers gives".into(), "as the rule of another promises".into()],
            groups: vec![("a-group-with-a-name-of-thirty-six-letters".into(), vec![0.5, 1.0])],
            mark: None,
            format: |value| value.to_string(),
        };
        let drawn = bars(&chart, Room::Narrow);
        assert!(drawn.width <= 350.0, "{}", drawn.width);
        let texts: Vec<(f64, String)> = (drawn.shapes.into_iter())
            .filter_map(|shape| match shape {
                Shape::Text { at, text, .. } => Some((at[1], text)),
                _ => None,
            })
            .collect();
        assert!(texts[0].1.len() == 41 && texts[0].0 < texts[1].0, "{texts:?}");
        let [.., first, second] = &texts[..] else { panic!("{texts:?}") };
        assert!(first.0 + ROW == second.0, "{texts:?}");
    }

    #[test]
    fn names_that_only_differ_far_apart_have_the_room_they_need() {
        let name = |i| format!("openshift-authentication-operator:{i}-memory50Mi@master+tolerates:master");
        let chart = Bars {
            caption: "c".into(),
            series: Vec::new(),
            groups: (0..3).map(|i| (name(i), vec![0.5])).chain([("a".repeat(60), vec![1.0])]).collect(),
            mark: None,
            format: |value| value.to_string(),
        };
        let names: Vec<&str> = chart.groups.iter().map(|(name, _)| name.as_str()).collect();
        let longest = apart(&names, LETTERS).iter().map(|name| name.chars().count()).max().unwrap();
        assert!(longest > LETTERS);
        let drawn = bars(&chart, Room::Wide);
        let begins = drawn.shapes.iter().find_map(|shape| match shape {
            Shape::Rectangle { corner, .. } => Some(corner[0]),
            _ => None,
        });
        assert!(begins.unwrap() >= 6.8 * longest as f64 + 8.0, "{begins:?} for {longest} letters");
        assert!(drawn.width >= begins.unwrap() + LONGEST + VALUES);
    }

    #[test]
    fn the_line_to_compare_with_does_not_cross_a_value() {
        let chart = Bars {
            caption: "c".into(),
            series: Vec::new(),
            groups: vec![("short".into(), vec![0.1]), ("long".into(), vec![0.95]), ("all".into(), vec![1.0])],
            mark: Some((1.0, "most".into())),
            format: |value| format!("{value:.6}"),
        };
        let places: Vec<f64> = bars(&chart, Room::Wide)
            .shapes
            .into_iter()
            .filter_map(|shape| match shape {
                Shape::Text { at, size: 11.0, .. } => Some(at[0]),
                _ => None,
            })
            .collect();
        let line = NAMES + LONGEST;
        assert_eq!(places, [NAMES + 0.1 * LONGEST + GAP, line + GAP, line + GAP]);
    }
}
