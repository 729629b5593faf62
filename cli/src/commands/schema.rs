//! `schema`: the JSON Schema of every format.

use crate::arguments::OutputArguments;
use crate::failure::Answer;
use fairplan::Error;
use fairplan::instances::wording::unknown;
use fairplan::report::formats::{FORMATS, Format};
use fairplan::report::output::{Destination, Sink};
use std::io::{self, Write};

/// Print the JSON Schema of a format, or of all of them in one object
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: fairplan schema solution")]
pub struct Arguments {
    #[arg(help = names())]
    name: Option<String>,
    #[command(flatten)]
    output: OutputArguments,
}

/// Every format, those of sweeps last.
fn formats() -> impl Iterator<Item = &'static Format> {
    FORMATS.iter().chain(&fairplan_sweeps::FORMATS)
}

fn names() -> String {
    formats().map(|format| format.name).collect::<Vec<_>>().join(", ")
}

struct Job {
    format: Option<&'static Format>,
    destination: Destination,
}

impl TryFrom<Arguments> for Job {
    type Error = Error;
    fn try_from(arguments: Arguments) -> Result<Self, Error> {
        let named = |name: String| {
            let known = formats().find(|format| format.name == name || format.id == name);
            known.ok_or_else(|| Error::input(unknown("format", &name, formats().map(|format| format.name))))
        };
        Ok(Self {
            format: arguments.name.map(named).transpose()?,
            destination: arguments.output.destination()?,
        })
    }
}

/// Writes the schema.
pub fn run(arguments: Arguments) -> Result<Answer, Error> {
    let job = Job::try_from(arguments)?;
    job.destination.write(|out| match job.format {
        Some(format) => pretty(out, &format.schema()),
        None => {
            let all = formats().map(|format| (format.id.to_owned(), format.schema().to_value()));
            pretty(out, &all.collect::<serde_json::Map<_, _>>())
        }
    })?;
    Ok(Answer::Yes)
}

fn pretty(out: &mut Sink, schema: &impl serde::Serialize) -> io::Result<()> {
    serde_json::to_writer_pretty(&mut *out, schema)?;
    out.write_all(b"\n")
}
