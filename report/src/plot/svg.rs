//! A [`Drawing`] as SVG.

use super::TITLE;
use super::drawing::{Anchor, Colour, Drawing, Pen, Shape};
use std::fmt::Write;

/// What a chart is drawn on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ground {
    /// White: a file of its own.
    Paper,
    /// A page, whose colours and title it takes.
    Page,
}

impl Drawing {
    /// The drawing as one SVG image.
    pub fn svg(&self, ground: Ground) -> String {
        let (width, title) = (self.width, escaped(&self.title));
        let (top, colour, head) = match ground {
            Ground::Paper => (
                0.0,
                r##" color="#222222""##,
                format!(
                    r#"<rect width="{width}" height="{}" fill="white"/>
<text x="{}" y="{TITLE}" text-anchor="middle" font-size="15">{title}</text>
"#,
                    self.height,
                    width / 2.0
                ),
            ),
            Ground::Page => (TITLE, "", format!("<title>{title}</title>\n")),
        };
        let height = self.height - top;
        let mut svg = format!(
            r#"<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 {top} {width} {height}" role="img" font-family="sans-serif" font-size="12" fill="currentColor"{colour}>
{head}"#
        );
        self.shapes.iter().for_each(|shape| draw(&mut svg, shape));
        svg + "</svg>\n"
    }
}

fn draw(svg: &mut String, shape: &Shape) {
    let _ = match shape {
        Shape::Rectangle { corner: [x, y], size: [width, height], colour, hint } => {
            let end = match hint {
                Some(hint) => format!("><title>{}</title></rect>", escaped(hint)),
                None => "/>".into(),
            };
            let fill = name(*colour);
            writeln!(
                svg,
                r#"<rect x="{x:.1}" y="{y:.1}" width="{width:.1}" height="{height:.1}" fill="{fill}"{end}"#
            )
        }
        Shape::Lines { lines, pen } => {
            let mut path = String::new();
            for line in lines {
                for (position, [x, y]) in line.iter().enumerate() {
                    let _ = write!(path, "{}{x:.1} {y:.1}", if position == 0 { 'M' } else { 'L' });
                }
            }
            writeln!(svg, r#"<path d="{path}" fill="none"{}/>"#, stroke(*pen))
        }
        Shape::Text { at: [x, y], anchor, size, upwards, text } => {
            let place = match upwards {
                true => format!(r#"transform="translate({x:.1} {y:.1}) rotate(-90)""#),
                false => format!(r#"x="{x:.1}" y="{y:.1}""#),
            };
            let anchor = match anchor {
                Anchor::Start => "",
                Anchor::Middle => r#" text-anchor="middle""#,
                Anchor::End => r#" text-anchor="end""#,
            };
            let size = if *size == 12.0 { String::new() } else { format!(r#" font-size="{size}""#) };
            writeln!(svg, "<text {place}{anchor}{size}>{}</text>", escaped(text))
        }
    };
}

fn stroke(pen: Pen) -> String {
    let mut stroke = format!(r#" stroke="{}""#, name(pen.colour));
    if pen.width != 1.0 {
        let _ = write!(stroke, r#" stroke-width="{}""#, pen.width);
    }
    if pen.opacity != 1.0 {
        let _ = write!(stroke, r#" stroke-opacity="{}""#, pen.opacity);
    }
    if let Some([dash, gap]) = pen.dashes {
        let _ = write!(stroke, r#" stroke-dasharray="{dash} {gap}""#);
    }
    stroke
}

fn name(colour: Colour) -> String {
    match colour {
        Colour::Ink => "currentColor".into(),
        Colour::Fixed([red, green, blue]) => format!("#{red:02x}{green:02x}{blue:02x}"),
    }
}

fn escaped(text: &str) -> String {
    let plain = text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;");
    // What no XML may hold, even escaped.
    plain.replace(|letter: char| letter.is_control() || matches!(letter, '\u{fffe}' | '\u{ffff}'), "\u{fffd}")
}
