//! Draws [`Bars`]: groups of horizontal bars from zero on one scale, each with its value, and a line to compare them with.

use super::COLOURS;
use super::drawing::{Anchor, Drawing, Pen, Shape};
use crate::figure::Bars;

/// The names' room, that of the longest bar, and that of its value.
const NAMES: f64 = 170.0;
const LONGEST: f64 = 420.0;
const VALUES: f64 = 90.0;

/// The thickness of a bar, and the room between groups.
const BAR: f64 = 14.0;
const BETWEEN: f64 = 10.0;

/// Room for the title above and for the legend below.
const ABOVE: f64 = 40.0;
const BELOW: f64 = 30.0;

/// The room before a bar's value, and that of each of its letters.
const GAP: f64 = 5.0;
const LETTER: f64 = 6.8;

/// Letters of a name that have room.
const LETTERS: usize = 24;

/// `bars` as a drawing.
pub fn bars(bars: &Bars) -> Drawing {
    let values = bars.groups.iter().flat_map(|(_, values)| values).copied();
    let mark = bars.mark.as_ref().map(|(value, _)| *value);
    let largest = values.chain(mark).fold(0.0, f64::max);
    let length = |value: f64| if largest > 0.0 { LONGEST * value.max(0.0) / largest } else { 0.0 };
    let mut shapes = Vec::new();
    let mut y = ABOVE;
    for (name, values) in &bars.groups {
        let middle = y + BAR * values.len() as f64 / 2.0 + 4.0;
        shapes.push(Shape::text([NAMES - 8.0, middle], Anchor::End, shortened(name)));
        for (position, value) in values.iter().enumerate() {
            let (long, colour) = (length(*value), COLOURS[position % COLOURS.len()]);
            let label = (bars.format)(*value);
            let series = bars.series.get(position).map_or_else(String::new, |series| format!("{series}: "));
            let hint = Some(format!("{name}, {series}{label}"));
            shapes.push(Shape::Rectangle { corner: [NAMES, y], size: [long, BAR - 2.0], colour, hint });
            // Beyond the mark's line where that would cross it.
            let ends = [NAMES + long, NAMES + long + GAP + LETTER * label.chars().count() as f64];
            let behind = |x: &f64| ends[0] <= *x && *x < ends[1] + GAP;
            let after = mark.map(|mark| NAMES + length(mark)).filter(behind).unwrap_or(ends[0]);
            let at = [after + GAP, y + BAR - 4.0];
            shapes.push(Shape::Text { at, anchor: Anchor::Start, size: 11.0, upwards: false, text: label });
            y += BAR;
        }
        y += BETWEEN;
    }
    let bottom = y;
    // Where the next entry of the legend starts, after one that is written there.
    let entry = |shapes: &mut Vec<Shape>, start: f64, sample: Shape, text: String| {
        let end = start + 34.0 + 7.0 * text.chars().count() as f64;
        shapes.extend([sample, Shape::text([start + 18.0, bottom + 16.0], Anchor::Start, text)]);
        end
    };
    let mut end = NAMES;
    for (series, colour) in bars.series.iter().zip(COLOURS.into_iter().cycle()) {
        let corner = [end, bottom + 6.0];
        let sample = Shape::Rectangle { corner, size: [12.0, 12.0], colour, hint: None };
        end = entry(&mut shapes, end, sample, series.clone());
    }
    if let Some((value, what)) = &bars.mark {
        let x = NAMES + length(*value);
        let pen = Pen { dashes: Some([4.0, 3.0]), ..Pen::INK };
        shapes.push(Shape::line([[x, ABOVE - 6.0], [x, bottom]], pen));
        let sample = Shape::line([[end + 6.0, bottom + 6.0], [end + 6.0, bottom + 18.0]], pen);
        end = entry(&mut shapes, end, sample, format!("{what}: {}", (bars.format)(*value)));
    }
    let width = (NAMES + LONGEST + VALUES).max(end);
    Drawing { title: bars.caption.clone(), width, height: bottom + BELOW, shapes }
}

fn shortened(name: &str) -> String {
    let mut shown: String = name.chars().take(LETTERS).collect();
    if name.chars().nth(LETTERS).is_some() {
        shown.push('…');
    }
    shown
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
        let svg = bars(&chart).svg(Ground::Page);
        assert!(svg.contains(r#"width="105.0""#) && svg.contains(r#"width="210.0""#), "{svg}");
        assert!(!svg.contains("<script") && svg.contains("&lt;script&gt;&quot;, memory: 1"), "{svg}");
        assert!(svg.contains("all: 2"));
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
        let places: Vec<f64> = bars(&chart)
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
