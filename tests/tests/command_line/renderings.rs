//! The README's pictures look as they did when somebody last looked at them: a headless Chromium draws each, and a rendering of
//! it in `tests/renderings/` has one pixel for every 8 x 8 of these. With `FAIRPLAN_UPDATE_RENDERINGS=1` they are written anew:
//! look at them then.
//!
//! Browsers and their letters differ a little from machine to machine, so pixels of letters may; what a picture shows, and where,
//! may not.

use super::pages::in_a_browser;
use super::pictures::pictures_of_the_readme;
use super::*;
use std::path::PathBuf;
use tiny_skia::{ColorU8, Pixmap};

/// Pixels of the screen on which every picture is drawn, from its upper left corner on: all of the largest one.
const SCREEN: (u32, u32) = (1072, 928);

/// Pixels of the screen a side of what is one pixel of a rendering.
const CELL: u32 = 8;

/// A pixel of a rendering is another when one of its colours (0 to 255) differs by more. Letters of another font in the same place
/// differ by less; letters where there were none, by more.
const ANOTHER: u8 = 25;

/// Of a thousand pixels of a rendering that are not ground, so many may be others.
const MOST_OTHERS: usize = 15;

/// The picture in the folder as it is drawn; nothing, with a word, where there is no browser.
fn drawn(folder: &Folder, picture: &str) -> Option<Pixmap> {
    let (size, file) = (format!("--window-size={},{}", SCREEN.0, SCREEN.1), folder.path("screen.png"));
    let shot = format!("--screenshot={}", file.display());
    in_a_browser(folder, picture, &[&size, "--hide-scrollbars", "--force-device-scale-factor=1", &shot])?;
    let screen = Pixmap::decode_png(&std::fs::read(file).unwrap()).unwrap();
    let mut small = Pixmap::new(SCREEN.0 / CELL, SCREEN.1 / CELL).unwrap();
    for y in 0..small.height() {
        for x in 0..small.width() {
            let pixels =
                (0..CELL * CELL).filter_map(|i| screen.pixel(x * CELL + i % CELL, y * CELL + i / CELL));
            let mut sums = [0_u32; 3];
            for pixel in pixels {
                for (sum, colour) in sums.iter_mut().zip(colours(pixel.demultiply())) {
                    *sum += u32::from(colour);
                }
            }
            let [red, green, blue] = sums.map(|sum| (sum / (CELL * CELL)) as u8);
            small.pixels_mut()[(y * (SCREEN.0 / CELL) + x) as usize] =
                ColorU8::from_rgba(red, green, blue, 255).premultiply();
        }
    }
    Some(small)
}

fn colours(pixel: ColorU8) -> [u8; 3] {
    [pixel.red(), pixel.green(), pixel.blue()]
}

/// How many of a thousand pixels that are not ground in one of two renderings are others; the ground is the commonest colour.
fn others(one: &Pixmap, two: &Pixmap) -> usize {
    assert_eq!((one.width(), one.height()), (two.width(), two.height()));
    let all = |picture: &Pixmap| -> Vec<[u8; 3]> {
        picture.pixels().iter().map(|pixel| colours(pixel.demultiply())).collect()
    };
    let (one, two) = (all(one), all(two));
    let differ = |a: &[u8; 3], b: &[u8; 3]| a.iter().zip(b).any(|(a, b)| a.abs_diff(*b) > ANOTHER);
    let mut counts = std::collections::HashMap::new();
    one.iter().for_each(|pixel| *counts.entry(*pixel).or_insert(0) += 1);
    let ground = *counts.iter().max_by_key(|(pixel, count)| (**count, **pixel)).unwrap().0;
    let figures = one.iter().zip(&two).filter(|(a, b)| differ(a, &ground) || differ(b, &ground));
    let (figures, others) =
        figures.fold((0, 0), |(figures, others), (a, b)| (figures + 1, others + usize::from(differ(a, b))));
    others * 1000 / usize::max(figures, 1)
}

fn rendering(picture: &str) -> PathBuf {
    let name = Path::new(picture).file_stem().unwrap();
    root().join("tests/renderings").join(name).with_extension("png")
}

#[test]
fn the_pictures_of_the_readme_look_as_when_last_looked_at() {
    let folder = Folder::new();
    for picture in pictures_of_the_readme() {
        folder.write("picture.svg", std::fs::read_to_string(root().join(&picture)).unwrap());
        let Some(drawn) = drawn(&folder, "picture.svg") else { return };
        let stored = rendering(&picture);
        if std::env::var_os("FAIRPLAN_UPDATE_RENDERINGS").is_some() {
            std::fs::write(&stored, drawn.encode_png().unwrap()).unwrap();
        }
        let stored = Pixmap::decode_png(&std::fs::read(stored).unwrap()).unwrap();
        let others = others(&stored, &drawn);
        println!("{picture}: {others} of 1000 pixels are others");
        assert!(others <= MOST_OTHERS, "{picture}: {others} of 1000 pixels are others");
    }
}

/// What went wrong before, or could, with the first picture: columns without the blanks between them, no letters, a row in another
/// place, a picture that is no XML.
#[test]
fn a_picture_that_looks_otherwise_is_another() {
    let folder = Folder::new();
    let demo = std::fs::read_to_string(root().join("docs/demo.svg")).unwrap();
    let stored = Pixmap::decode_png(&std::fs::read(rendering("docs/demo.svg")).unwrap()).unwrap();
    let texts = demo.split("<text x=\"").enumerate().map(|(i, text)| match (i, text.split_once('"')) {
        (1.., Some((_, rest))) => format!("<text x=\"18\"{rest}"),
        _ => text.to_owned(),
    });
    for (wrong, how) in [
        (texts.collect(), "without blanks"),
        (demo.replace("#cdd9e5", "#1c2128"), "without letters"),
        (demo.replace(" y=\"462\"", " y=\"444\""), "a row elsewhere"),
        (demo.replace("</svg>", ""), "no XML"),
    ] {
        assert_ne!(wrong, demo, "{how}");
        folder.write("picture.svg", wrong);
        let Some(drawn) = drawn(&folder, "picture.svg") else { return };
        let others = others(&stored, &drawn);
        println!("{how}: {others} of 1000 pixels are others");
        assert!(others > MOST_OTHERS, "{how}: only {others} of 1000 pixels are others");
    }
}
