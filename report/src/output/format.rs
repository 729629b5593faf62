//! What the ending of a file's name says of its content.

use std::path::Path;

/// How the content of a file is laid out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileFormat {
    /// One JSON document.
    Json,
    /// One JSON object a line.
    JsonLines,
    /// Comma-separated values.
    Csv,
    /// Parquet.
    Parquet,
    /// An Arrow IPC file.
    Arrow,
    /// A page.
    Html,
    /// A drawing in lines.
    Svg,
    /// A drawing in points.
    Png,
}

/// Every ending, the usual one of a format first.
const ENDINGS: [(&str, FileFormat); 9] = [
    ("json", FileFormat::Json),
    ("jsonl", FileFormat::JsonLines),
    ("csv", FileFormat::Csv),
    ("parquet", FileFormat::Parquet),
    ("arrow", FileFormat::Arrow),
    ("html", FileFormat::Html),
    ("htm", FileFormat::Html),
    ("svg", FileFormat::Svg),
    ("png", FileFormat::Png),
];

impl FileFormat {
    /// The format that the name of a file means, `.gz` aside and whatever the case; `None` where it means none, as `result`
    /// and `out.txt`.
    pub fn of(path: &Path) -> Option<Self> {
        let path = if is_gzipped(path) { path.file_stem().map(Path::new)? } else { path };
        let ending = path.extension()?;
        ENDINGS.iter().find(|(known, _)| ending.eq_ignore_ascii_case(known)).map(|(_, format)| *format)
    }

    /// The name, and its ending where that says that the content is of a format that is none of these: letters and digits that begin
    /// with a letter, so that `run-0.5` has none.
    pub fn foreign(path: &Path) -> Option<(&Path, String)> {
        let named = if is_gzipped(path) { path.file_stem().map(Path::new)? } else { path };
        let ending = named.extension()?.to_string_lossy();
        let is_one = ending.starts_with(|letter: char| letter.is_ascii_alphabetic())
            && ending.chars().all(|letter| letter.is_ascii_alphanumeric());
        (is_one && Self::of(path).is_none()).then(|| (path, ending.into_owned()))
    }

    /// The usual ending of a name, without its dot.
    pub fn ending(self) -> &'static str {
        ENDINGS.iter().find(|(_, format)| *format == self).map_or("", |(ending, _)| ending)
    }

    /// Whether it is text, which `.gz` makes smaller; the others compress by themselves or are read in parts.
    pub fn is_text(self) -> bool {
        !matches!(self, Self::Parquet | Self::Arrow | Self::Png)
    }
}

/// Whether a name says that the content is compressed by gzip.
pub fn is_gzipped(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("gz"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ending_says_the_format_with_or_without_gz() {
        for (name, format) in [
            ("a.json", Some(FileFormat::Json)),
            ("a.b.JSON.gz", Some(FileFormat::Json)),
            ("dir.csv/a.csv.GZ", Some(FileFormat::Csv)),
            ("a.parquet", Some(FileFormat::Parquet)),
            ("a.arrow", Some(FileFormat::Arrow)),
            ("a.htm", Some(FileFormat::Html)),
            ("dir.csv/a", None),
            ("a.gz", None),
            (".json", None),
            ("a.txt", None),
        ] {
            assert_eq!(FileFormat::of(Path::new(name)), format, "{name}");
        }
        assert_eq!(FileFormat::Html.ending(), "html");
        assert!(is_gzipped(Path::new("a.gz")) && !is_gzipped(Path::new("gz")));
    }
}
