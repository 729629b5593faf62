//! The colours of what is shown side by side.

use super::drawing::Colour;

/// Told apart by those who see fewer colours, too (Okabe and Ito), and on light and dark ground.
pub(super) const COLOURS: [Colour; 7] = [
    Colour::Fixed([0x00, 0x72, 0xb2]),
    Colour::Fixed([0xd5, 0x5e, 0x00]),
    Colour::Fixed([0x00, 0x9e, 0x73]),
    Colour::Fixed([0xcc, 0x79, 0xa7]),
    Colour::Fixed([0xe6, 0x9f, 0x00]),
    Colour::Fixed([0x56, 0xb4, 0xe9]),
    Colour::Fixed([0x99, 0x99, 0x99]),
];
