//! Draws [`Bars`]: groups of horizontal bars from zero on one scale, each with its value, and a line to compare them with.

use super::{COLOURS, Ground, escaped, image};
use crate::figure::Bars;
use std::fmt::Write;

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

/// Letters of a name that have room.
const LETTERS: usize = 24;

/// `bars` as one SVG image.
pub fn bars(bars: &Bars, ground: Ground) -> String {
    let values = bars.groups.iter().flat_map(|(_, values)| values).copied();
    let mark = bars.mark.as_ref().map(|(value, _)| *value);
    let largest = values.chain(mark).fold(0.0, f64::max);
    let length = |value: f64| if largest > 0.0 { LONGEST * value.max(0.0) / largest } else { 0.0 };
    let mut svg = String::new();
    let mut y = ABOVE;
    for (name, values) in &bars.groups {
        let middle = y + BAR * values.len() as f64 / 2.0 + 4.0;
        let _ = writeln!(
            svg,
            r#"<text x="{}" y="{middle:.1}" text-anchor="end">{}</text>"#,
            NAMES - 8.0,
            escaped(&shortened(name))
        );
        for (position, value) in values.iter().enumerate() {
            let (long, colour) = (length(*value), COLOURS[position % COLOURS.len()]);
            let label = (bars.format)(*value);
            let series = bars.series.get(position).map_or_else(String::new, |series| format!("{series}: "));
            let hint = escaped(&format!("{name}, {series}{label}"));
            let _ = writeln!(
                svg,
                r#"<rect x="{NAMES}" y="{y:.1}" width="{long:.1}" height="{}" fill="{colour}"><title>{hint}</title></rect>"#,
                BAR - 2.0
            );
            let _ = writeln!(
                svg,
                r#"<text x="{:.1}" y="{:.1}" font-size="11">{}</text>"#,
                NAMES + long + 5.0,
                y + BAR - 4.0,
                escaped(&label)
            );
            y += BAR;
        }
        y += BETWEEN;
    }
    let bottom = y;
    let mut legend = NAMES;
    let mut entry = |svg: &mut String, sample: String, text: &str| {
        let _ = writeln!(svg, r#"<g transform="translate({legend:.1} {})">{sample}"#, bottom + 6.0);
        let _ = writeln!(svg, r#"<text x="18" y="10">{}</text></g>"#, escaped(text));
        legend += 34.0 + 7.0 * text.chars().count() as f64;
    };
    for (series, colour) in bars.series.iter().zip(COLOURS.iter().cycle()) {
        entry(&mut svg, format!(r#"<rect width="12" height="12" fill="{colour}"/>"#), series);
    }
    if let Some((value, what)) = &bars.mark {
        let x = NAMES + length(*value);
        let dashed = r#"stroke="currentColor" stroke-dasharray="4 3""#;
        let _ = writeln!(svg, r#"<path d="M{x:.1} {}V{bottom:.1}" {dashed}/>"#, ABOVE - 6.0);
        let text = format!("{what}: {}", (bars.format)(*value));
        entry(&mut svg, format!(r#"<path d="M6 0V12" {dashed}/>"#), &text);
    }
    let width = (NAMES + LONGEST + VALUES).max(legend);
    image(ground, &bars.caption, width, bottom + BELOW, &svg)
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

    #[test]
    fn bars_are_as_long_as_their_values_and_names_cannot_break_out() {
        let chart = Bars {
            caption: "c".into(),
            series: vec!["cpu".into(), "memory".into()],
            groups: vec![("<script>\"".into(), vec![0.5, 1.0])],
            mark: Some((2.0, "all".into())),
            format: |value| value.to_string(),
        };
        let svg = bars(&chart, Ground::Page);
        assert!(svg.contains(r#"width="105.0""#) && svg.contains(r#"width="210.0""#), "{svg}");
        assert!(!svg.contains("<script") && svg.contains("&lt;script&gt;&quot;, memory: 1"), "{svg}");
        assert!(svg.contains("all: 2"));
    }
}
