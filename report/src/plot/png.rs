//! A [`Drawing`] as PNG, on white, its words in a font that comes along: a machine needs none.

use super::TITLE;
use super::drawing::{Anchor, Colour, Drawing, Pen, Shape};
use tiny_skia::{FillRule, Paint, Path, PathBuilder, Pixmap, Rect, Stroke, StrokeDash, Transform};
use ttf_parser::{Face, OutlineBuilder};

/// Letters of European languages, and signs; see `fonts/README.md`.
const FONT: &[u8] = include_bytes!("fonts/DejaVuSans-European.ttf");

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
        let face = Face::parse(FONT, 0).map_err(|error| format!("the font of images: {error}"))?;
        let mut canvas = Canvas { pixmap: pixmap.ok_or_else(too_large)?, face };
        canvas.pixmap.fill(tiny_skia::Color::WHITE);
        canvas.text([self.width / 2.0, TITLE], Anchor::Middle, 15.0, false, &self.title);
        self.shapes.iter().for_each(|shape| canvas.draw(shape));
        canvas.pixmap.encode_png().map_err(|error| error.to_string())
    }
}

struct Canvas<'a> {
    pixmap: Pixmap,
    face: Face<'a>,
}

impl Canvas<'_> {
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
        let unit = size as f32 / f32::from(self.face.units_per_em());
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

    /// The letters one after the other, and their length, in the font's units. What the font has not is a box.
    fn outline(&self, text: &str) -> (Option<Path>, f32) {
        let mut pen = Letters { builder: PathBuilder::new(), along: 0.0 };
        for letter in text.chars() {
            let glyph = self.face.glyph_index(letter).unwrap_or_default();
            self.face.outline_glyph(glyph, &mut pen);
            pen.along += f32::from(self.face.glyph_hor_advance(glyph).unwrap_or_default());
        }
        (pen.builder.finish(), pen.along)
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

/// Takes the outline of a letter to its place on the line.
struct Letters {
    builder: PathBuilder,
    along: f32,
}

impl OutlineBuilder for Letters {
    fn move_to(&mut self, x: f32, y: f32) {
        self.builder.move_to(self.along + x, y);
    }
    fn line_to(&mut self, x: f32, y: f32) {
        self.builder.line_to(self.along + x, y);
    }
    fn quad_to(&mut self, x1: f32, y1: f32, x: f32, y: f32) {
        self.builder.quad_to(self.along + x1, y1, self.along + x, y);
    }
    fn curve_to(&mut self, x1: f32, y1: f32, x2: f32, y2: f32, x: f32, y: f32) {
        self.builder.cubic_to(self.along + x1, y1, self.along + x2, y2, self.along + x, y);
    }
    fn close(&mut self) {
        self.builder.close();
    }
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
    fn words_stand_at_their_anchor_and_letters_that_the_font_has_not_are_boxes() {
        let dark = |text: &str, anchor, columns: std::ops::Range<u32>| {
            let drawn = drawing(vec![Shape::text([20.0, 20.0], anchor, text)]);
            let pixmap = Pixmap::decode_png(&drawn.png().unwrap()).unwrap();
            let inked = |x: u32| (0..60).any(|y| pixmap.pixel(x, y).unwrap().red() < 128);
            columns.filter(|x| inked(*x)).count()
        };
        assert!(dark("HH", Anchor::Start, 40..80) > 0 && dark("HH", Anchor::Start, 0..40) == 0);
        assert!(dark("HH", Anchor::End, 40..80) == 0 && dark("HH", Anchor::End, 0..40) > 0);
        assert!(dark("\u{4e2d}", Anchor::Start, 40..80) > 0, "a box");
    }

    #[test]
    fn what_is_too_large_is_refused() {
        let huge = Drawing { width: 1e9, ..drawing(Vec::new()) };
        assert!(huge.png().unwrap_err().contains("too large"));
    }
}
