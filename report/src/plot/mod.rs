//! Charts: curves of a [`Figure`](crate::figure::Figure), [`Bars`](crate::figure::Bars), and sentences, as shapes; and those as
//! SVG and as PNG.

mod bars;
mod colours;
mod curves;
mod drawing;
mod png;
mod svg;
mod words;

pub use bars::{Room, bars};
pub use curves::{curves, panels};
pub use drawing::Drawing;
pub use svg::Ground;
pub use words::{LETTERS, words};

/// What is drawn above the chart, where it has a title of its own.
const TITLE: f64 = 22.0;
