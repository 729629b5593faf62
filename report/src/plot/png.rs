//! A [`Drawing`] as PNG, on white, its words in letters that come along: a machine needs no font.

use super::TITLE;
use super::drawing::{Anchor, Colour, Drawing, Pen, Shape};
use std::collections::HashMap;
use tiny_skia::{FillRule, Paint, Path, PathBuilder, Pixmap, Rect, Stroke, StrokeDash, Transform};

/// Letters of European languages, and signs; see `fonts/README.md`.
const LETTERS: &str = include_str!("fonts/letters.txt");

/// Units of outlines in the size of a text.
const UNITS: f32 = 2048.0;

/// What stands for letters that are not among them.
const UNKNOWN: char = '\u{fffd}';

/// Pixels of the image for one of the drawing, each way.
const SCALE: f32 = 2.0;

/// What is drawn in the colour of the text.
const INK: [u8; 3] = [0x22, 0x22, 0x22];

impl Drawing {
    /// The drawing as one PNG image, the same bytes on every machine.
    ///
    /// # Errors
    /// Says that it is too large.
    pub fn png(&self) -> Result<Vec<u8>, String> {
        let size = [self.width, self.height].map(|length| (length as f32 * SCALE).ceil());
        let too_large = || format!("the chart is too large for an image: {} x {} pixels", size[0], size[1]);
        // What fits is below 2^24 and whole.
        let pixmap = if size.iter().all(|length| *length < 65_536.0) {
            Pixmap::new(size[0] as u32, size[1] as u32)
        } else {
            None
        };
        let mut canvas = Canvas { pixmap: pixmap.ok_or_else(too_large)?, letters: letters() };
        canvas.pixmap.fill(tiny_skia::Color::WHITE);
        canvas.text([self.width / 2.0, TITLE], Anchor::Middle, 15.0, false, &self.title);
        self.shapes.iter().for_each(|shape| canvas.draw(shape));
        canvas.pixmap.encode_png().map_err(|error| error.to_string())
    }
}

/// How far a letter takes the line, and its outline.
type Letter = (f32, &'static str);

fn letters() -> HashMap<char, Letter> {
    let letter = |line: &'static str| {
        let mut words = line.splitn(3, ' ');
        let code = u32::from_str_radix(words.next()?, 16).ok()?;
        Some((char::from_u32(code)?, (words.next()?.parse().ok()?, words.next().unwrap_or_default())))
    };
    LETTERS.lines().filter_map(letter).collect()
}

struct Canvas {
    pixmap: Pixmap,
    letters: HashMap<char, Letter>,
}

impl Canvas {
    fn draw(&mut self, shape: &Shape) {
        match shape {
            Shape::Rectangle { corner, size, colour, .. } => {
                let [x, y] = corner.map(|length| length as f32);
                let [width, height] = size.map(|length| length as f32);
                if let Some(rectangle) = Rect::from_xywh(x, y, width, height) {
                    let scale = Transform::from_scale(SCALE, SCALE);
                    self.pixmap.fill_rect(rectangle, &paint(*colour, 1.0), scale, None);
                }
            }
            Shape::Lines { lines, pen } => self.lines(lines, *pen),
            Shape::Text { at, anchor, size, upwards, text } => {
                self.text(*at, *anchor, *size, *upwards, text);
            }
        }
    }

    fn lines(&mut self, lines: &[Vec<[f64; 2]>], pen: Pen) {
        let mut builder = PathBuilder::new();
        for line in lines {
            for (position, point) in line.iter().enumerate() {
                let [x, y] = point.map(|length| length as f32);
                if position == 0 { builder.move_to(x, y) } else { builder.line_to(x, y) }
            }
        }
        let dash = pen.dashes.and_then(|dashes| StrokeDash::new(dashes.map(|d| d as f32).to_vec(), 0.0));
        let stroke = Stroke { width: pen.width as f32, dash, ..Stroke::default() };
        if let Some(path) = builder.finish() {
            let scale = Transform::from_scale(SCALE, SCALE);
            self.pixmap.stroke_path(&path, &paint(pen.colour, pen.opacity), &stroke, scale, None);
        }
    }

    fn text(&mut self, [x, y]: [f64; 2], anchor: Anchor, size: f64, upwards: bool, text: &str) {
        let unit = size as f32 / UNITS;
        let (path, length) = self.outline(text);
        let back = match anchor {
            Anchor::Start => 0.0,
            Anchor::Middle => length / 2.0,
            Anchor::End => length,
        };
        let place = Transform::from_scale(SCALE, SCALE).pre_translate(x as f32, y as f32);
        let place = if upwards { place.pre_rotate(-90.0) } else { place };
        // Fonts count from the line upwards.
        let place = place.pre_scale(unit, -unit).pre_translate(-back, 0.0);
        if let Some(path) = path {
            self.pixmap.fill_path(&path, &paint(Colour::Ink, 1.0), FillRule::Winding, place, None);
        }
    }

    /// The letters one after the other, and their length, in units of outlines.
    fn outline(&self, text: &str) -> (Option<Path>, f32) {
        let mut builder = PathBuilder::new();
        let mut along = 0.0;
        for letter in text.chars() {
            let known = self.letters.get(&letter).or_else(|| self.letters.get(&UNKNOWN));
            let Some((width, outline)) = known else { continue };
            draw_letter(&mut builder, along, outline);
            along += width;
        }
        (builder.finish(), along)
    }
}

/// Draws an outline so far along the line.
fn draw_letter(builder: &mut PathBuilder, along: f32, outline: &str) {
    let mut words = outline.split(' ');
    while let Some(command) = words.next() {
        let mut number = || words.next().and_then(|word| word.parse::<f32>().ok()).unwrap_or_default();
        match command {
            "M" => builder.move_to(along + number(), number()),
            "L" => builder.line_to(along + number(), number()),
            "Q" => builder.quad_to(along + number(), number(), along + number(), number()),
            _ => builder.close(),
        }
    }
}

fn paint(colour: Colour, opacity: f64) -> Paint<'static> {
    let [red, green, blue] = match colour {
        Colour::Ink => INK,
        Colour::Fixed(colour) => colour,
    };
    let mut paint = Paint { anti_alias: true, ..Paint::default() };
    paint.set_color_rgba8(red, green, blue, (opacity * 255.0).round() as u8);
    paint
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plot::drawing::Shape;

    fn drawing(shapes: Vec<Shape>) -> Drawing {
        Drawing { title: String::new(), width: 40.0, height: 30.0, shapes }
    }

    fn pixel(drawing: &Drawing, x: u32, y: u32) -> [u8; 3] {
        let pixmap = Pixmap::decode_png(&drawing.png().unwrap()).unwrap();
        assert_eq!((pixmap.width(), pixmap.height()), (80, 60));
        let colour = pixmap.pixel(x, y).unwrap();
        [colour.red(), colour.green(), colour.blue()]
    }

    #[test]
    fn shapes_are_where_they_were_put_in_their_colours() {
        let colour = Colour::Fixed([200, 30, 10]);
        let full = Shape::Rectangle { corner: [10.0, 10.0], size: [5.0, 5.0], colour, hint: None };
        let line = Shape::line([[0.0, 25.0], [40.0, 25.0]], Pen { width: 2.0, ..Pen::INK });
        let drawn = drawing(vec![full, line]);
        assert_eq!(pixel(&drawn, 25, 25), [200, 30, 10]);
        assert_eq!(pixel(&drawn, 35, 25), [255, 255, 255]);
        assert_eq!(pixel(&drawn, 40, 50), INK);
    }

    #[test]
    fn words_stand_at_their_anchor_and_unknown_letters_are_seen() {
        let dark = |text: &str, anchor, columns: std::ops::Range<u32>| {
            let drawn = drawing(vec![Shape::text([20.0, 20.0], anchor, text)]);
            let pixmap = Pixmap::decode_png(&drawn.png().unwrap()).unwrap();
            let inked = |x: u32| (0..60).any(|y| pixmap.pixel(x, y).unwrap().red() < 128);
            columns.filter(|x| inked(*x)).count()
        };
        assert!(dark("HH", Anchor::Start, 40..80) > 0 && dark("HH", Anchor::Start, 0..40) == 0);
        assert!(dark("HH", Anchor::End, 40..80) == 0 && dark("HH", Anchor::End, 0..40) > 0);
        assert!(dark("\u{4e2d}", Anchor::Start, 40..80) > 0);
        let known = letters();
        assert!(known.len() > 500 && "Aß—δЖ…".chars().all(|letter| known.contains_key(&letter)));
    }

    #[test]
    fn what_is_too_large_is_refused() {
        let huge = Drawing { width: 1e9, ..drawing(Vec::new()) };
        assert!(huge.png().unwrap_err().contains("too large"));
    }
}
