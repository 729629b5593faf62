//! The README's pictures and a page, looked at in a real browser: what shall be read is there, large enough, in its place.
//!
//! In a headless Chromium, on a screen of 1,200 and one of 400 pixels, no text of a picture is drawn in letters below 9 pixels,
//! stretched or squeezed against what its letters take, outside of its picture or over another one; each leaves ink where it
//! stands, in a screenshot; no page is wider than its screen, no words are clipped, and a table that goes on beyond the screen
//! says so.

use super::pages::in_a_browser;
use super::*;
use serde_json::{Value, json};

/// Puts views (a page's HTML, or an SVG) below each other, each in a frame of its own width, and tells what is seen.
const LOOK: &str = r#"
const said = (frame, what) => { const box = what.getBoundingClientRect(), at = frame.getBoundingClientRect();
  return { left: box.left + at.left, top: box.top + at.top, right: box.right + at.left, bottom: box.bottom + at.top }; };
const shown = (what) => what.getClientRects().length > 0 && getComputedStyle(what).display !== "none";
const look = (frame) => {
  const page = frame.contentDocument, seen = { texts: [], complaints: [] };
  const complain = (problem, what) => seen.complaints.push(`${problem}: ${what.trim().replace(/\s+/g, " ").slice(0, 60)}`);
  const root = page.documentElement;
  if (root.scrollWidth > root.clientWidth + 1) complain(`the page is ${root.scrollWidth} wide`, page.title);
  for (const picture of [...page.querySelectorAll("svg")].filter(shown)) {
    const around = picture.getBoundingClientRect(), boxes = [];
    for (const text of [...picture.querySelectorAll("text")].filter((text) => text.textContent.trim())) {
      const words = text.textContent, box = text.getBoundingClientRect();
      const scale = Math.hypot(text.getScreenCTM().a, text.getScreenCTM().b);
      const size = parseFloat(getComputedStyle(text).fontSize) * scale;
      if (size < 9) complain(`letters of ${size.toFixed(1)} pixels`, words);
      const told = text.getAttribute("textLength");
      if (told !== null) {
        text.removeAttribute("textLength");
        const stretched = Number(told) / text.getComputedTextLength();
        text.setAttribute("textLength", told);
        if (stretched < 0.88 || stretched > 1.12) complain(`letters stretched ${stretched.toFixed(2)} times`, words);
      }
      if (box.left < around.left - 1 || box.right > around.right + 1 || box.top < around.top - 1 ||
          box.bottom > around.bottom + 1) complain("stands outside of its picture", words);
      for (const other of boxes) {
        const over = [Math.min(box.right, other.box.right) - Math.max(box.left, other.box.left),
                      Math.min(box.bottom, other.box.bottom) - Math.max(box.top, other.box.top)];
        if (over[0] > 2 && over[1] > 4) complain("is drawn over " + other.words, words);
      }
      boxes.push({ box, words });
      seen.texts.push({ words, ...said(frame, text) });
    }
  }
  for (const block of [...page.querySelectorAll("h1, h2, p, dd, dt, figcaption, summary, li")].filter(shown)) {
    if (block.scrollWidth > block.clientWidth + 1 && block.clientWidth > 0) complain("is clipped", block.textContent);
    if (parseFloat(getComputedStyle(block).fontSize) < 11) complain("is in small letters", block.textContent);
  }
  for (const table of [...page.querySelectorAll(".table")].filter(shown)) {
    const cut = table.scrollWidth > table.clientWidth + 1;
    if (cut !== shown(table.nextElementSibling)) complain(cut ? "is cut and does not say so" : "says it is cut", table.textContent);
  }
  for (const cell of [...page.querySelectorAll("td, th")].filter(shown)) {
    const words = page.createRange();
    words.selectNodeContents(cell);
    if (words.getBoundingClientRect().right > cell.getBoundingClientRect().right) complain("runs out of its cell", cell.textContent);
  }
  for (const section of page.querySelectorAll("section")) {
    if (!section.querySelector(".answer")) complain("has no answer", section.textContent);
  }
  return seen;
};
addEventListener("load", () => {
  const frames = [...document.querySelectorAll("iframe")];
  frames.forEach((frame, position) => {
    const view = VIEWS[position], page = frame.contentDocument;
    if (view.svg) {
      page.body.style.margin = 0;
      page.body.append(page.importNode(new DOMParser().parseFromString(view.svg, "image/svg+xml").documentElement, true));
    }
    frame.style.height = page.documentElement.scrollHeight + "px";
  });
  const seen = { height: document.documentElement.scrollHeight, views: frames.map(look) };
  const told = document.createElement("script");
  told.type = "application/json";
  told.id = "seen";
  told.textContent = JSON.stringify(seen).replaceAll("<", "\\u003c");
  document.body.append(told);
});
"#;

/// Pixels of the longest screenshot: a browser may leave white what is farther down.
const SCREENSHOT: u64 = 8_000;

/// What is looked at, and how wide its screen is.
enum View {
    Page(String, u32),
    Picture(String, u32),
}

/// What the views look like; nothing, with a word, where there is no browser. Every text is looked for in a screenshot, too.
fn seen(folder: &Folder, views: &[View]) -> Option<Vec<String>> {
    let escaped = |text: &str| text.replace('&', "&amp;").replace('"', "&quot;");
    let frame = |view: &View| match view {
        View::Page(html, width) => {
            format!("<iframe style=\"width:{width}px\" srcdoc=\"{}\"></iframe>", escaped(html))
        }
        View::Picture(_, width) => format!("<iframe style=\"width:{width}px\" srcdoc=\"\"></iframe>"),
    };
    let svgs: Vec<Value> = (views.iter())
        .map(|view| match view {
            View::Page(..) => json!({}),
            View::Picture(svg, _) => json!({ "svg": svg }),
        })
        .collect();
    let frames: String = views.iter().map(frame).collect();
    let svgs = Value::from(svgs).to_string().replace('<', "\\u003c");
    let sheet = format!(
        "<!DOCTYPE html><meta charset=utf-8><style>body {{ margin: 0; background: white }} iframe {{ display: block; \
         border: 0 }}</style>{frames}<script>const VIEWS = {svgs};{LOOK}</script>"
    );
    folder.write("sheet.html", sheet);
    let light = "--blink-settings=preferredColorScheme=1";
    let wait = "--virtual-time-budget=10000";
    let shown = in_a_browser(folder, "sheet.html", &["--window-size=1250,900", light, wait, "--dump-dom"])?;
    let (_, told) = shown.split_once("id=\"seen\">").unwrap_or_else(|| panic!("nothing seen: {shown}"));
    let told: Value = serde_json::from_str(told.split_once("</script>").unwrap().0).unwrap();
    let mut complaints: Vec<String> = Vec::new();
    for view in told["views"].as_array().unwrap() {
        let told = view["complaints"].as_array().unwrap();
        complaints.extend(told.iter().map(|complaint| complaint.as_str().unwrap().to_owned()));
    }
    let height = told["height"].as_u64().unwrap();
    // Texts below are looked at by their places only.
    let height = height.min(SCREENSHOT);
    let (size, file) = (format!("--window-size=1250,{}", height + 200), folder.path("sheet.png"));
    let shot = format!("--screenshot={}", file.display());
    in_a_browser(folder, "sheet.html", &[&size, light, wait, "--hide-scrollbars", &shot])?;
    let screen = tiny_skia::Pixmap::decode_png(&std::fs::read(file).unwrap()).unwrap();
    let texts: Vec<&Value> =
        told["views"].as_array().unwrap().iter().flat_map(|view| view["texts"].as_array().unwrap()).collect();
    assert!(texts.len() > 10, "hardly any text: {told}");
    let texts = texts.into_iter().filter(|text| text["bottom"].as_f64().unwrap() < height as f64);
    complaints.extend(texts.filter(|text| !leaves_ink(&screen, text)).map(|text| format!("no ink: {text}")));
    Some(complaints)
}

/// Whether the pixels where a text stands are of more than one colour, and not all ink either.
fn leaves_ink(screen: &tiny_skia::Pixmap, text: &Value) -> bool {
    let side = |name: &str| text[name].as_f64().unwrap().max(0.0) as u32;
    let (columns, rows) = (side("left")..side("right"), side("top")..side("bottom"));
    let pixels: Vec<i32> = rows
        .flat_map(|y| columns.clone().map(move |x| (x, y)))
        .filter_map(|(x, y)| screen.pixel(x, y))
        .map(|pixel| i32::from(pixel.red()) + i32::from(pixel.green()) + i32::from(pixel.blue()))
        .collect();
    let mut sorted = pixels.clone();
    sorted.sort_unstable();
    let Some(ground) = sorted.get(sorted.len() / 2) else { return false };
    let ink = pixels.iter().filter(|light| (*light - ground).abs() > 120).count();
    ink * 100 >= pixels.len() && ink * 10 < pixels.len() * 8
}

#[test]
fn what_cannot_be_read_is_seen() {
    let folder = Folder::new();
    let picture = |inner: &str| {
        let head = "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"600\" height=\"200\" viewBox=\"0 0 600 200\" \
                    font-family=\"monospace\" font-size=\"14\">";
        View::Picture(format!("{head}<rect width=\"600\" height=\"200\" fill=\"#fff\"/>{inner}</svg>"), 600)
    };
    // Blanks that a browser leaves out: the letters are stretched over the room of all.
    let blanks = "<g xml:space=\"preserve\"><text x=\"9\" y=\"40\" textLength=\"253\">a          b       c        d</text></g>";
    let small = "<text x=\"9\" y=\"80\" font-size=\"6\">six pixels</text>";
    let over = "<text x=\"9\" y=\"120\">one text</text><text x=\"29\" y=\"122\">another</text>";
    let outside = "<text x=\"560\" y=\"160\">to the right</text>";
    let white = "<text x=\"9\" y=\"180\" fill=\"#fff\">white on white</text>";
    let many: String = (0..8).map(|i| format!("<text x=\"{}\" y=\"20\">word</text>", 200 + 45 * i)).collect();
    let Some(complaints) =
        seen(&folder, &[picture(&(blanks.to_owned() + small + over + outside + white + &many))])
    else {
        return;
    };
    for told in [
        "letters stretched",
        "letters of 6.0",
        "drawn over one text",
        "outside of its picture",
        "white on white",
    ] {
        assert!(complaints.iter().any(|complaint| complaint.contains(told)), "no {told:?}: {complaints:#?}");
    }
    assert_eq!(complaints.len(), 5, "{complaints:#?}");
}

/// The pictures that the README shows, as paths in the project.
pub(super) fn pictures_of_the_readme() -> Vec<String> {
    let readme = std::fs::read_to_string(root().join("README.md")).unwrap();
    let pictures: Vec<String> = (readme.split("](").skip(1))
        .filter_map(|rest| rest.split_once(')'))
        .map(|(link, _)| link.to_owned())
        .filter(|link| link.ends_with(".svg"))
        .collect();
    assert!(pictures.len() >= 3, "{pictures:?}");
    pictures
}

#[test]
fn the_pictures_of_the_readme_can_be_read() {
    let pictures = pictures_of_the_readme();
    let views: Vec<View> = (pictures.iter())
        .map(|name| View::Picture(std::fs::read_to_string(root().join(name)).unwrap(), 1200))
        .collect();
    let Some(complaints) = seen(&Folder::new(), &views) else { return };
    assert!(complaints.is_empty(), "{complaints:#?}");
}

#[test]
fn a_page_can_be_read_on_a_wide_and_on_a_narrow_screen() {
    let folder = Folder::new();
    let users: Vec<Value> = (0..45)
        .map(|i| {
            // The last has the letters of a short one, and is wide.
            let id = match i {
                44 => "memory-www-www-mmmm".into(),
                _ => format!("team-with-a-long-name-{i}-of-the-research-department"),
            };
            json!({"id": id, "demand": {"cpu": 1, "memory": 1 + i % 7}, "tasks": 20})
        })
        .collect();
    let classes: Vec<Value> = (0..8)
        .map(|i| json!({"id": format!("rack-{i}-of-the-second-hall"), "count": 3, "capacity": {"cpu": 16 + i, "memory": 64}}))
        .collect();
    let cluster = json!({"format": "fairplan.instance.v1", "name": "A cluster of 45 teams", "resources": ["cpu", "memory"],
                         "server_classes": classes, "users": users});
    folder.write("cluster.json", cluster.to_string());
    folder.write("series.csv", "month,all\n2026-01,100\n2026-02,120\n2026-03,180\n");
    folder.write("catalog.csv", "id,price,cpu,memory\nsmall,70,4,16\nlarge,130,8,32\n");
    let mut page = vec!["report"];
    let commands = [
        "solve cluster.json -o solution.json",
        "compare cluster.json --policies best-fit,first-fit,worst-fit --no-timing -o comparison.json",
        "entitlements cluster.json -o entitlements.json",
        "plan lose cluster.json -o loss.json",
        "plan growth cluster.json --series series.csv --quantum month --as-today -o growth.json",
        "plan buy cluster.json --catalog catalog.csv --as-today --more-users team-with-a-long-name-3-of-the-research-department=9 -o plan.json",
    ];
    for line in commands {
        let words: Vec<&str> = line.split(' ').chain(["--quiet"]).collect();
        let status = folder.run(&words).status.code();
        assert!(matches!(status, Some(0 | 1)), "{line}: {status:?}");
        page.push(line.rsplit(' ').next().unwrap());
    }
    page.extend(["-o", "page.html"]);
    folder.done(&page);
    let html = folder.read("page.html");
    for width in [1200, 400] {
        let Some(complaints) = seen(&folder, &[View::Page(html.clone(), width)]) else { return };
        assert!(complaints.is_empty(), "{width} pixels: {complaints:#?}");
    }
}
