//! Draws a [`Figure`]: axes with round ticks, grid lines, a legend under each panel. Colours tell subjects apart, marks tell
//! kinds apart.

use super::colours::COLOURS;
use super::drawing::{Anchor, Colour, Drawing, Pen, Shape};
use crate::figure::{Curve, Figure, Mark, Panel};
use crate::tolerance::TICK;

/// A panel's axes, in pixels.
const WIDTH: f64 = 340.0;
const HEIGHT: f64 = 270.0;

/// Around the axes: room for labels, and for the title above.
const LEFT: f64 = 62.0;
const RIGHT: f64 = 18.0;
const ABOVE: f64 = 64.0;
const BELOW: f64 = 52.0;

/// A row of the legend; of its columns, which are read one after the other, there are two where the words have room.
const ROW: f64 = 18.0;
const COLUMNS: usize = 2;

/// What an entry of the legend takes before its words, and each letter of these.
const SAMPLE: f64 = 35.0;
const LETTER: f64 = 6.6;

/// About so many ticks on an axis.
const TICKS: f64 = 5.0;

/// Where all numbers of an axis are larger than this part of the largest, what tells them apart would be hard to see above zero.
const FAR: f64 = 0.6;

/// Half of a cross.
const ARM: f64 = 4.0;

/// `figure` as a drawing, its panels side by side.
pub fn curves(figure: &Figure) -> Drawing {
    let panels = figure.panels.iter().enumerate();
    let at = |(position, panel)| (panel, (LEFT + WIDTH + RIGHT) * position as f64 + LEFT);
    drawing(figure, &panels.map(at).collect::<Vec<_>>())
}

/// Each panel of `figure` as a drawing of its own, on the same axes: for where there may be no room beside each other.
pub fn panels(figure: &Figure) -> Vec<Drawing> {
    figure.panels.iter().map(|panel| drawing(figure, &[(panel, LEFT)])).collect()
}

/// Panels of a figure and where the axes of each begin.
fn drawing(figure: &Figure, panels: &[(&Panel, f64)]) -> Drawing {
    let rows = panels.iter().map(|(panel, _)| legend_rows(panel)).max().unwrap_or(0);
    let width = (LEFT + WIDTH + RIGHT) * panels.len() as f64;
    let height = ABOVE + HEIGHT + BELOW + ROW * rows as f64 + 8.0;
    let axes = Axes::new(figure);
    let shapes = panels.iter().flat_map(|(panel, left)| drawn(figure, panel, &axes, *left));
    Drawing { title: figure.title.to_string(), width, height, shapes: shapes.collect() }
}

/// What the legend calls a curve.
fn name(curve: &Curve) -> String {
    let words = [&*curve.kind, &*curve.subject];
    words.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(", ")
}

fn legend_rows(panel: &Panel) -> usize {
    let longest = panel.curves.iter().map(|curve| name(curve).chars().count()).max().unwrap_or(0);
    let columns = if SAMPLE + LETTER * longest as f64 > WIDTH / COLUMNS as f64 { 1 } else { COLUMNS };
    panel.curves.len().div_ceil(columns)
}

/// What the axes show, the same in all panels, so that these can be compared.
struct Axes {
    horizontal: Axis,
    vertical: Axis,
}

impl Axes {
    fn new(figure: &Figure) -> Self {
        let along = |d: usize| {
            let curves = figure.panels.iter().flat_map(|panel| &panel.curves);
            Axis::around(curves.flat_map(|curve| &curve.points).map(|point| point[d]))
        };
        let horizontal = if figure.names.is_empty() { along(0) } else { Axis::of_names(figure.names.len()) };
        Self { horizontal, vertical: along(1) }
    }

    fn x(&self, left: f64, value: f64) -> f64 {
        left + WIDTH * self.horizontal.part(value)
    }

    fn y(&self, value: f64) -> f64 {
        ABOVE + HEIGHT * (1.0 - self.vertical.part(value))
    }
}

/// From one round number to another, in round steps.
struct Axis {
    /// The first tick and the last one, in steps.
    first: f64,
    last: f64,
    step: f64,
}

impl Axis {
    /// An axis that holds these numbers, and zero unless all lie beyond [`FAR`] of the largest.
    fn around(numbers: impl Iterator<Item = f64>) -> Self {
        let ends = |(low, high): (f64, f64), n: f64| (low.min(n), high.max(n));
        let (low, high) = numbers.fold((f64::INFINITY, f64::NEG_INFINITY), ends);
        let is_far = low > FAR * high && high > low;
        let (low, high) = (if is_far { low } else { low.min(0.0) }, high.max(0.0));
        let rough = if high > low { (high - low) / TICKS } else { 1.0 };
        let power = 10f64.powf(rough.log10().floor());
        let step = [1.0, 2.0, 5.0, 10.0].into_iter().find(|step| step * power >= 0.999 * rough);
        let step = step.unwrap_or(10.0) * power;
        let first = (low / step + TICK).floor();
        Self { first, last: (high / step - TICK).ceil().max(first + 1.0), step }
    }

    /// An axis of so many names, side by side.
    fn of_names(count: usize) -> Self {
        Self { first: 0.0, last: count.saturating_sub(1).max(1) as f64, step: 1.0 }
    }

    /// How far along the axis a number lies.
    fn part(&self, value: f64) -> f64 {
        (value / self.step - self.first) / (self.last - self.first)
    }

    /// The ticks and their labels.
    fn ticks(&self) -> impl Iterator<Item = (f64, String)> {
        let places = (-self.step.log10().floor()).clamp(0.0, 12.0) as usize;
        let count = (self.last - self.first).round() as u32;
        (0..=count).map(move |tick| {
            let value = (self.first + f64::from(tick)) * self.step;
            (value, format!("{value:.places$}"))
        })
    }
}

/// As many of the names as have room beside each other, evenly apart, and where each stands.
fn named_ticks(names: &[String]) -> impl Iterator<Item = (f64, String)> {
    let longest = names.iter().map(|name| name.chars().count()).max().unwrap_or(0);
    let room = (WIDTH / (LETTER * (longest as f64 + 2.0))).floor().max(1.0) as usize;
    let every = names.len().saturating_sub(1).div_ceil(room).max(1);
    names.iter().enumerate().step_by(every).map(|(at, name)| (at as f64, name.clone()))
}

fn drawn(figure: &Figure, panel: &Panel, axes: &Axes, left: f64) -> Vec<Shape> {
    let (right, bottom, middle) = (left + WIDTH, ABOVE + HEIGHT, left + WIDTH / 2.0);
    let mut shapes = Vec::new();
    let ticks: Vec<(f64, String)> = match &figure.names[..] {
        [] => axes.horizontal.ticks().collect(),
        names => named_ticks(names).collect(),
    };
    for (value, label) in ticks {
        let x = axes.x(left, value);
        shapes.push(Shape::line([[x, ABOVE], [x, bottom]], Pen::GRID));
        // A long name has no room beyond the ends of the drawing.
        let half = LETTER * label.chars().count() as f64 / 2.0;
        let (at, anchor) = if x + half > right + RIGHT {
            (right + RIGHT, Anchor::End)
        } else if x - half < left - LEFT {
            (left - LEFT, Anchor::Start)
        } else {
            (x, Anchor::Middle)
        };
        shapes.push(Shape::text([at, bottom + 17.0], anchor, label));
    }
    for (value, label) in axes.vertical.ticks() {
        let y = axes.y(value);
        shapes.push(Shape::line([[left, y], [right, y]], Pen::GRID));
        shapes.push(Shape::text([left - 7.0, y + 4.0], Anchor::End, label));
    }
    shapes.push(Shape::line([[left, ABOVE], [left, bottom], [right, bottom]], Pen::INK));
    shapes.push(Shape::Text {
        at: [middle, ABOVE - 12.0],
        anchor: Anchor::Middle,
        size: 13.0,
        upwards: false,
        text: panel.title.to_string(),
    });
    shapes.push(Shape::text([middle, bottom + 38.0], Anchor::Middle, figure.horizontal.as_str()));
    shapes.push(Shape::Text {
        at: [left - 44.0, ABOVE + HEIGHT / 2.0],
        anchor: Anchor::Middle,
        size: 12.0,
        upwards: true,
        text: figure.vertical.to_string(),
    });
    for (entry, curve) in panel.curves.iter().enumerate() {
        let colour = colour(panel, curve);
        let points: Vec<[f64; 2]> =
            curve.points.iter().map(|[x, y]| [axes.x(left, *x), axes.y(*y)]).collect();
        shapes.push(marked(curve.mark, colour, points));
        let rows = legend_rows(panel);
        let (column, row) = (entry / rows, entry % rows);
        let x = left + WIDTH / COLUMNS as f64 * column as f64;
        let y = bottom + BELOW + ROW * row as f64 + 4.0;
        let sample = match curve.mark {
            Mark::Crosses => vec![[x + 14.0, y]],
            Mark::Line | Mark::Dashes => vec![[x, y], [x + 28.0, y]],
        };
        shapes.push(marked(curve.mark, colour, sample));
        shapes.push(Shape::text([x + SAMPLE, y + 4.0], Anchor::Start, name(curve)));
    }
    shapes
}

/// The colour of a curve: that of its subject, in the order in which the panel names them.
fn colour(panel: &Panel, curve: &Curve) -> Colour {
    let mut subjects: Vec<&str> = Vec::new();
    for other in &panel.curves {
        if !subjects.contains(&&*other.subject) {
            subjects.push(&other.subject);
        }
    }
    let position = subjects.iter().position(|subject| *subject == curve.subject).unwrap_or(0);
    COLOURS[position % COLOURS.len()]
}

fn marked(mark: Mark, colour: Colour, points: Vec<[f64; 2]>) -> Shape {
    let cross = |[x, y]: [f64; 2]| {
        [1.0, -1.0].map(|slope| vec![[x - ARM, y - slope * ARM], [x + ARM, y + slope * ARM]])
    };
    let lines = match mark {
        Mark::Crosses => points.into_iter().flat_map(cross).collect(),
        Mark::Line | Mark::Dashes => vec![points],
    };
    let dashes = (mark == Mark::Dashes).then_some([6.0, 4.0]);
    Shape::Lines { lines, pen: Pen { colour, width: 1.8, opacity: 1.0, dashes } }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plot::Ground;

    fn labels(numbers: &[f64]) -> Vec<String> {
        Axis::around(numbers.iter().copied()).ticks().map(|(_, label)| label).collect()
    }

    #[test]
    fn ticks_are_round_and_hold_all_numbers() {
        assert_eq!(labels(&[0.05, 0.95]), ["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"]);
        assert_eq!(labels(&[3.0, 1234.0]), ["0", "500", "1000", "1500"]);
        assert_eq!(labels(&[-1.0, 2.0]), ["-1", "0", "1", "2"]);
        assert_eq!(labels(&[78.0, 99.8]), ["75", "80", "85", "90", "95", "100"]);
        assert_eq!(labels(&[1.0]), ["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"]);
        assert_eq!(labels(&[]), ["0", "1"]);
    }

    #[test]
    fn names_stand_where_they_have_room_evenly_apart() {
        let names = |count: usize| (1..=count).map(|month| format!("2026-{month:02}")).collect::<Vec<_>>();
        let told = |count: usize| named_ticks(&names(count)).collect::<Vec<_>>();
        assert_eq!(told(5).len(), 5);
        assert_eq!(told(5)[4], (4.0, "2026-05".into()));
        let many: Vec<f64> = told(12).into_iter().map(|(at, _)| at).collect();
        assert_eq!(many, [0.0, 3.0, 6.0, 9.0]);
        let axis = Axis::of_names(5);
        assert_eq!((axis.part(0.0), axis.part(4.0)), (0.0, 1.0));
        assert_eq!(Axis::of_names(1).part(0.0), 0.0);
    }

    #[test]
    fn long_names_at_both_ends_of_an_axis_stay_inside_the_drawing() {
        let name = "a month with quite a long name";
        let figure = Figure {
            exhibit: String::new(),
            title: String::new(),
            horizontal: String::new(),
            names: vec![name.into(), "last".into(), name.into()],
            vertical: String::new(),
            panels: Vec::new(),
        };
        let curve = Curve {
            kind: String::new(),
            subject: "u".into(),
            mark: Mark::Line,
            points: vec![[0.0, 0.0], [1.0, 1.0], [2.0, 0.0]],
        };
        let panel = Panel { title: String::new(), curves: vec![curve] };
        let drawing = drawing(&figure, &[(&panel, LEFT)]);
        let width = LETTER * name.len() as f64;
        let mut seen = 0;
        for shape in &drawing.shapes {
            let Shape::Text { at: [x, _], anchor, text, .. } = shape else { continue };
            if *text == name {
                let from = match anchor {
                    Anchor::Start => *x,
                    Anchor::Middle => x - width / 2.0,
                    Anchor::End => x - width,
                };
                assert!(from >= 0.0 && from + width <= LEFT + WIDTH + RIGHT, "from {from} on");
                seen += 1;
            }
        }
        assert_eq!(seen, 2);
    }

    #[test]
    fn every_curve_is_drawn_where_its_points_are() {
        let curve = |subject: &'static str, mark| Curve {
            kind: "a < b".into(),
            subject: subject.into(),
            mark,
            points: vec![[0.0, 0.0], [1.0, 0.5]],
        };
        let drawn = vec![curve("x", Mark::Line), curve("y", Mark::Dashes), curve("x", Mark::Crosses)];
        let panel = Panel { title: "T & U".into(), curves: drawn };
        let figure = Figure {
            exhibit: "e".into(),
            title: "t".into(),
            horizontal: "h".into(),
            names: Vec::new(),
            vertical: "v".into(),
            panels: vec![panel.clone(), panel],
        };
        let svg = curves(&figure).svg(Ground::Paper);
        assert_eq!(panels(&figure).len(), 2);
        // The corners of the axes: the vertical one ends at 0.5.
        let (right, bottom) = (LEFT + WIDTH, ABOVE + HEIGHT);
        let line = format!("M{LEFT:.1} {bottom:.1}L{right:.1} {ABOVE:.1}");
        assert_eq!(svg.matches(&line).count(), 2, "{svg}");
        assert_eq!(svg.matches("stroke-dasharray").count(), 4);
        assert!(svg.contains("T &amp; U") && svg.contains("a &lt; b, y"));
        assert!(svg.ends_with("</svg>\n"));
    }
}
