//! Where a result goes and as what it is written: `--format` says it, or else the ending of the file's name. What a result
//! cannot be written as is refused before any work.

use clap::ValueEnum;
use fairplan::Error;
use fairplan::instances::files::Columnar;
use fairplan::instances::table::Table;
use fairplan::instances::wording::printable;
use fairplan::report::output::{Destination, FileFormat, Prepared, commit, is_gzipped};
use fairplan::report::table::{LongFormat, TableFormat, write_table};
use fairplan::report::write_json;
use serde::Serialize;
use std::path::{Path, PathBuf};

/// Where a result goes.
#[derive(Clone, Debug, clap::Args)]
pub struct OutputArguments {
    /// Write the result here instead of to standard output: whole, or not at all. Compressed if the name ends in .gz
    #[arg(long, short, value_name = "FILE", display_order = 800)]
    output: Option<PathBuf>,
}

/// How a result is written: whole (JSON), or its main table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ResultFormat {
    Json,
    Csv,
    Parquet,
    Arrow,
}

impl ResultFormat {
    /// The table's format; `None` for the whole result.
    pub fn table(self) -> Option<TableFormat> {
        match self {
            Self::Json => None,
            Self::Csv => Some(TableFormat::Csv),
            Self::Parquet => Some(TableFormat::Columns(Columnar::Parquet)),
            Self::Arrow => Some(TableFormat::Columns(Columnar::Arrow)),
        }
    }
}

/// Where a result goes, and as what.
#[derive(Debug)]
pub struct ResultOutput {
    /// The format of its table; `None` for the whole result.
    pub table: Option<TableFormat>,
    destination: Destination,
}

impl ResultOutput {
    /// Writes the whole result, or its table.
    pub fn write<'t>(
        &self,
        document: &impl Serialize,
        table: impl FnOnce() -> Table<'t>,
    ) -> Result<(), Error> {
        Ok(commit([self.prepare(document, table)?])?)
    }

    /// The same, to be committed with other files.
    pub fn prepare<'t>(
        &self,
        document: &impl Serialize,
        table: impl FnOnce() -> Table<'t>,
    ) -> Result<Prepared, Error> {
        Ok(self.destination.prepare(|out| match self.table {
            None => write_json(out, document),
            Some(format) => write_table(out, format, &table()),
        })?)
    }
}

impl OutputArguments {
    /// The destination of one JSON document.
    pub fn destination(&self) -> Result<Destination, Error> {
        self.offered(&[FileFormat::Json])
    }

    /// Where a result goes that is JSON or a table, and which of them is written.
    pub fn result(&self, stated: Option<ResultFormat>) -> Result<ResultOutput, Error> {
        let formats = [
            (FileFormat::Json, ResultFormat::Json),
            (FileFormat::Csv, ResultFormat::Csv),
            (FileFormat::Parquet, ResultFormat::Parquet),
            (FileFormat::Arrow, ResultFormat::Arrow),
        ];
        let stated = formats.iter().find(|(_, format)| Some(*format) == stated).map(|(file, _)| *file);
        let (file, destination) = resolve(self.output.as_deref(), stated, &formats.map(|(file, _)| file))?;
        let format = formats.iter().find(|(known, _)| *known == file);
        let format = format.map_or(ResultFormat::Json, |(_, format)| *format);
        Ok(ResultOutput { table: format.table(), destination })
    }

    /// The destination of one JSON object a line.
    pub fn lines(&self) -> Result<Destination, Error> {
        self.offered(&[FileFormat::JsonLines])
    }

    /// The destination of a trace, whose writer goes by its name.
    pub fn trace(&self) -> Result<Destination, Error> {
        self.offered(&[FileFormat::JsonLines, FileFormat::Parquet])
    }

    /// The destination of a page.
    pub fn page(&self) -> Result<Destination, Error> {
        self.offered(&[FileFormat::Html])
    }

    /// The destination of a text whose names have other endings.
    pub fn text(&self) -> Result<Destination, Error> {
        self.offered(&[])
    }

    fn offered(&self, offered: &[FileFormat]) -> Result<Destination, Error> {
        resolve(self.output.as_deref(), None, offered).map(|(_, destination)| destination)
    }
}

/// The destination of a JSON document beside the result.
pub fn document(path: &Path) -> Result<Destination, Error> {
    resolve(Some(path), None, &[FileFormat::Json]).map(|(_, destination)| destination)
}

/// The destination of a table beside the result, and its format.
pub fn table(path: &Path) -> Result<(TableFormat, Destination), Error> {
    let offered = [FileFormat::Csv, FileFormat::Parquet, FileFormat::Arrow];
    let (format, destination) = resolve(Some(path), None, &offered)?;
    Ok((columnar(format).map_or(TableFormat::Csv, TableFormat::Columns), destination))
}

/// The destination of long output beside the result, and its format.
pub fn long(path: &Path) -> Result<(LongFormat, Destination), Error> {
    let offered = [FileFormat::JsonLines, FileFormat::Parquet, FileFormat::Arrow];
    let (format, destination) = resolve(Some(path), None, &offered)?;
    Ok((columnar(format).map_or(LongFormat::JsonLines, LongFormat::Columns), destination))
}

/// The destination of a chart beside the result, and its format, which the name must say.
pub fn chart(path: &Path) -> Result<(FileFormat, Destination), Error> {
    let offered = [FileFormat::Svg, FileFormat::Png];
    if FileFormat::of(path).is_none() {
        return Err(cannot(path, "has no ending that says the format", &offered));
    }
    resolve(Some(path), None, &offered)
}

fn columnar(format: FileFormat) -> Option<Columnar> {
    match format {
        FileFormat::Parquet => Some(Columnar::Parquet),
        FileFormat::Arrow => Some(Columnar::Arrow),
        _ => None,
    }
}

/// The format and the destination of what can be written in the formats `offered` (none: in any), the first where nothing
/// is said. What is `stated` must be what the ending means, if that means any.
fn resolve(
    path: Option<&Path>,
    stated: Option<FileFormat>,
    offered: &[FileFormat],
) -> Result<(FileFormat, Destination), Error> {
    let destination = Destination::new(path)?;
    let file = match &destination {
        Destination::File(path) => Some(path.as_path()),
        Destination::StandardOutput => None,
    };
    let meant = file.and_then(FileFormat::of);
    let default = offered.first().copied().unwrap_or(FileFormat::Json);
    let format = match (stated, meant) {
        (Some(stated), Some(meant)) if stated != meant => {
            let problem = format!("the ending says .{}, and --format {}", meant.ending(), stated.ending());
            return Err(cannot(file.unwrap_or(Path::new("")), &problem, &[stated]));
        }
        (Some(stated), _) => stated,
        (None, Some(meant)) if offered.contains(&meant) => meant,
        (None, None) => match file.filter(|_| !offered.is_empty()).and_then(FileFormat::foreign) {
            Some((file, ending)) => {
                let problem = format!("nothing is written as .{}", printable(&ending, 20));
                return Err(cannot(file, &problem, offered));
            }
            None => default,
        },
        (None, Some(_)) if offered.is_empty() => default,
        (None, Some(meant)) => {
            let problem = format!("this is not written as .{}", meant.ending());
            return Err(cannot(file.unwrap_or(Path::new("")), &problem, offered));
        }
    };
    match file {
        Some(file) if is_gzipped(file) && !format.is_text() => {
            let problem = format!("{} is not compressed once more; leave out .gz", format.ending());
            Err(Error::input(format!("{}: {problem}", file.display())))
        }
        _ => Ok((format, destination)),
    }
}

fn cannot(file: &Path, problem: &str, offered: &[FileFormat]) -> Error {
    let endings = offered.iter().flat_map(|format| {
        let plain = format!(".{}", format.ending());
        let compressed = format.is_text().then(|| format!("{plain}.gz"));
        std::iter::once(plain).chain(compressed)
    });
    let endings: Vec<String> = endings.collect();
    let endings = match &endings[..] {
        [first @ .., last] if !first.is_empty() => format!("{} or {last}", first.join(", ")),
        all => all.concat(),
    };
    Error::input(format!("{}: {problem}; name a file that ends in {endings}", file.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn output(path: &str) -> OutputArguments {
        OutputArguments { output: Some(path.into()) }
    }

    #[test]
    fn the_ending_decides_unless_the_format_is_stated() {
        let format = |path, stated| output(path).result(stated).unwrap().table;
        for (path, meant) in [
            ("a.json", ResultFormat::Json),
            ("a.json.gz", ResultFormat::Json),
            ("a.CSV", ResultFormat::Csv),
            ("a.csv.gz", ResultFormat::Csv),
            ("a.parquet", ResultFormat::Parquet),
            ("a.arrow", ResultFormat::Arrow),
            ("a", ResultFormat::Json),
            ("run-0.5", ResultFormat::Json),
            ("-", ResultFormat::Json),
        ] {
            assert_eq!(format(path, None), meant.table(), "{path}");
            assert_eq!(format(path, Some(meant)), meant.table(), "{path}");
        }
        for path in ["a", "a.txt", "-", "a.csv.gz"] {
            assert_eq!(format(path, Some(ResultFormat::Csv)), Some(TableFormat::Csv), "{path}");
        }
    }

    #[test]
    fn an_ending_that_contradicts_the_stated_format_is_refused() {
        for (path, stated, told) in [
            (
                "t.json",
                ResultFormat::Csv,
                "t.json: the ending says .json, and --format csv; name a file that ends in .csv or .csv.gz",
            ),
            ("t.csv", ResultFormat::Json, "ends in .json or .json.gz"),
            ("t.html", ResultFormat::Json, "the ending says .html"),
            ("t.parquet", ResultFormat::Arrow, "name a file that ends in .arrow"),
        ] {
            let refused = output(path).result(Some(stated)).unwrap_err().to_string();
            assert!(refused.contains(told), "{refused}");
        }
    }

    #[test]
    fn what_a_result_cannot_be_written_as_is_refused_with_what_it_can() {
        let told = |refused: Error| refused.to_string();
        let document = told(output("a.csv.gz").destination().unwrap_err());
        assert_eq!(
            document,
            "a.csv.gz: this is not written as .csv; name a file that ends in .json or .json.gz"
        );
        let trace = told(output("a.json").trace().unwrap_err());
        assert!(trace.ends_with("name a file that ends in .jsonl, .jsonl.gz or .parquet"), "{trace}");
        let page = told(output("a.json").result(None).map(drop).and(output("a.csv").page()).unwrap_err());
        assert!(page.ends_with("name a file that ends in .html or .html.gz"), "{page}");
        assert!(told(table(Path::new("a.json")).unwrap_err()).contains(".csv, .csv.gz, .parquet or .arrow"));
        assert!(told(chart(Path::new("a")).unwrap_err()).contains(".svg, .svg.gz or .png"));
        for refused in [
            output("a.parquet.gz").result(None).unwrap_err(),
            output("a.gz").result(Some(ResultFormat::Arrow)).unwrap_err(),
        ] {
            assert!(told(refused).ends_with("is not compressed once more; leave out .gz"));
        }
        for (name, ending) in [("a.txt", ".txt"), ("a.xlsx", ".xlsx"), ("a.txt.gz", ".txt")] {
            let refused = told(output(name).result(None).unwrap_err());
            assert!(
                refused.starts_with(&format!("{name}: nothing is written as {ending}; name a file")),
                "{refused}"
            );
        }
        assert!(output("a.csv").text().is_ok() && output("a.txt").text().is_ok());
    }
}
