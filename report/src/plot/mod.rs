//! Charts as SVG: curves of a [`Figure`](crate::figure::Figure), and [`Bars`](crate::figure::Bars).

mod bars;
mod curves;

pub use bars::bars;
pub use curves::curves;

/// Told apart by those who see fewer colours, too (Okabe and Ito), and on light and dark ground.
const COLOURS: [&str; 7] = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#999999"];

/// What a chart is drawn on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ground {
    /// White: a file of its own.
    Paper,
    /// A page, whose colours and title it takes.
    Page,
}

/// What is drawn above the chart, where it has a title of its own.
const TITLE: f64 = 22.0;

/// An SVG image of this size, with room for a title above.
fn image(ground: Ground, title: &str, width: f64, height: f64, drawn: &str) -> String {
    let title = escaped(title);
    let (top, colour, head) = match ground {
        Ground::Paper => (
            0.0,
            r##" color="#222222""##,
            format!(
                r#"<rect width="{width}" height="{height}" fill="white"/>
<text x="{}" y="{TITLE}" text-anchor="middle" font-size="15">{title}</text>
"#,
                width / 2.0
            ),
        ),
        Ground::Page => (TITLE, "", format!("<title>{title}</title>\n")),
    };
    let height = height - top;
    format!(
        r#"<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 {top} {width} {height}" role="img" font-family="sans-serif" font-size="12" fill="currentColor"{colour}>
{head}{drawn}</svg>
"#
    )
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
