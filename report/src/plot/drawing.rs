//! A chart as shapes, before it is an SVG or a PNG file. Lengths are pixels, from the upper left corner.

/// Shapes under a title.
#[derive(Clone, Debug)]
pub struct Drawing {
    /// What it shows.
    pub(super) title: String,
    /// Its size, with room for the title above.
    pub(super) width: f64,
    pub(super) height: f64,
    /// What is drawn, in this order.
    pub(super) shapes: Vec<Shape>,
}

/// Where a shape's colour comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Colour {
    /// That of the text around it.
    Ink,
    /// Red, green and blue.
    Fixed([u8; 3]),
}

/// What a chart is made of.
#[derive(Clone, Debug)]
pub(super) enum Shape {
    /// A full rectangle.
    Rectangle { corner: [f64; 2], size: [f64; 2], colour: Colour, hint: Option<String> },
    /// Lines, each through its points.
    Lines { lines: Vec<Vec<[f64; 2]>>, pen: Pen },
    /// Words on a line.
    Text { at: [f64; 2], anchor: Anchor, size: f64, upwards: bool, text: String },
}

/// How lines are drawn.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pen {
    pub colour: Colour,
    pub width: f64,
    /// From 0 to 1.
    pub opacity: f64,
    /// Lengths of dashes and of what is left out between them.
    pub dashes: Option<[f64; 2]>,
}

/// Which part of the words stands at their place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Anchor {
    Start,
    Middle,
    End,
}

impl Pen {
    /// Thin, in the colour of the text.
    pub const INK: Self = Self { colour: Colour::Ink, width: 1.0, opacity: 1.0, dashes: None };
    /// Behind everything else.
    pub const GRID: Self = Self { opacity: 0.15, ..Self::INK };
}

impl Shape {
    /// One line.
    pub fn line(points: impl Into<Vec<[f64; 2]>>, pen: Pen) -> Self {
        Self::Lines { lines: vec![points.into()], pen }
    }

    /// Words of the usual size.
    pub fn text(at: [f64; 2], anchor: Anchor, text: impl Into<String>) -> Self {
        Self::Text { at, anchor, size: 12.0, upwards: false, text: text.into() }
    }
}
