//! Charts: curves of a [`Figure`](crate::figure::Figure), [`Bars`](crate::figure::Bars), and sentences, as shapes; and those as
//! SVG and as PNG.

mod bars;
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

use drawing::Colour;

/// Told apart by those who see fewer colours, too (Okabe and Ito), and on light and dark ground.
const COLOURS: [Colour; 7] = [
    Colour::Fixed([0x00, 0x72, 0xb2]),
    Colour::Fixed([0xd5, 0x5e, 0x00]),
    Colour::Fixed([0x00, 0x9e, 0x73]),
    Colour::Fixed([0xcc, 0x79, 0xa7]),
    Colour::Fixed([0xe6, 0x9f, 0x00]),
    Colour::Fixed([0x56, 0xb4, 0xe9]),
    Colour::Fixed([0x99, 0x99, 0x99]),
];

/// What is drawn above the chart, where it has a title of its own.
const TITLE: f64 = 22.0;
