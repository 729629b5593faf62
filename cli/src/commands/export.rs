//! `export`: a solution as the configuration of the scheduler that shall obey it.

use crate::arguments::{CommonOptions, OutputArguments};
use crate::failure::Answer;
use crate::progress::{tell, warn};
use crate::{output, progress};
use fairplan::exports::{ExportOptions, MemoryIn, Target, Unit};
use fairplan::instances::wording::{agreeing, counted, printable, thousands};
use fairplan::report::output::commit;
use fairplan::report::{summary, write_json};
use fairplan::{Control, Deadline, Decimal, Document, Error, ExportChange, ExportChanges, LostField, read};
use std::io::Write;
use std::path::PathBuf;

/// Write a solution as the configuration of a scheduler, in whole units that fit the servers
#[derive(Debug, clap::Args)]
#[command(after_help = "\
kueue writes ResourceFlavors, Cohorts and ClusterQueues; yarn a capacity-scheduler.xml with a node label for each class but the \
largest, yarn-fair a fair-scheduler.xml; yunikorn queues.yaml; volcano and kai Queues; slurm lines of sacctmgr. What each tenant has on each class is rounded to \
whole units by largest remainders: never more than the class has less the headroom, each within one unit; for schedulers that are told \
sums, so that the sums come out. What the scheduler \
cannot be told is said; beside each tenant's share are what the scheduler's own rule gives it under this configuration when all ask \
for more, and the part of its answer that is sure whatever the others do.

With --current nothing but the difference to the configuration that is deployed is written; the exit status is 1 if there is one.

Example: fairplan export kueue cluster.json solution.json --headroom 0.05 -o quotas.yaml
         fairplan export kueue cluster.json solution.json --current deployed.yaml")]
pub struct Arguments {
    /// Who is told: kueue, yarn, yarn-fair, yunikorn, volcano, kai or slurm
    target: Target,
    /// The instance: a fairplan.instance.v1, or - for standard input
    pub instance: String,
    /// Its fairplan.solution.v1
    solution: String,
    /// Show what would change in the configuration that these files are
    #[arg(long, value_name = "FILE", num_args = 1.., conflicts_with = "quotas")]
    current: Vec<String>,
    /// Leave this part of every class to nobody, from 0 to below 1
    #[arg(long, value_name = "PART", default_value = "0", value_parser = part, allow_negative_numbers = true)]
    headroom: Decimal,
    /// Whole units of these resources: cpu=1,memory=4Gi (default: 1 core, 1Gi, 1 piece)
    #[arg(long = "unit", value_name = "RESOURCE=AMOUNT", value_delimiter = ',')]
    units: Vec<Unit>,
    /// What the instance counts memory in: bytes, Mi or Gi (default: bytes; for yarn and slurm Mi)
    #[arg(long, value_name = "UNIT")]
    memory_in: Option<MemoryIn>,
    /// How many levels of groups and users become queues (default: all)
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    levels: Option<u16>,
    /// Let nobody have more than it is given, even when others are idle
    #[arg(long)]
    hard: bool,
    /// Write what each tenant gets, exact and rounded, here too (fairplan.export.v1)
    #[arg(long, value_name = "FILE")]
    quotas: Option<PathBuf>,
    #[command(flatten)]
    output: OutputArguments,
}

fn part(text: &str) -> Result<Decimal, String> {
    text.parse().map_err(|_| "state a part of one, from 0 to below 1".into())
}

/// Reads, verifies, rounds; writes the configuration or what it changes.
pub fn run(arguments: Arguments, common: CommonOptions) -> Result<Answer, Error> {
    let Arguments { target, headroom, units, memory_in, hard, .. } = arguments;
    if arguments.instance == "-" && arguments.solution == "-" {
        return Err(Error::input("only one of INSTANCE and SOLUTION can be standard input"));
    }
    let destination = arguments.output.text()?;
    let quotas = arguments.quotas.as_deref().map(output::document).transpose()?;
    let options =
        ExportOptions { headroom, units, memory_in, levels: arguments.levels.map(usize::from), hard };
    let instance = read::instance(&arguments.instance)?;
    let solution = read::result(&arguments.solution)?;
    warn(common, &instance);
    let export = |control: &Control<'_>| fairplan::export(&instance, &solution, target, &options, control);
    let export = progress::under(common, Deadline::never(), export)?;
    if !arguments.current.is_empty() {
        let found = fairplan::export_changes(&export, &arguments.current)?;
        let mut text: String = found.changes.iter().map(line).collect();
        text.extend(found.lost.iter().map(lost_line));
        destination.write(|out| out.write_all(text.as_bytes()))?;
        let staying = || {
            staying_of(&found.staying)
                + &limits_of_jobs(&found.limits_of_jobs)
                + &users_of(&found.users)
                + &inside_of(&found.inside)
        };
        tell(common, || summary_of(&found, target) + &staying() + &notes_of(&export.notes));
        return Ok(Answer::yes_if(found.is_nothing()));
    }
    let document = Document::new(export.body());
    let mut prepared = vec![destination.prepare(|out| out.write_all(export.text().as_bytes()))?];
    if let Some(quotas) = quotas {
        prepared.push(quotas.prepare(|out| write_json(out, &document))?);
    }
    commit(prepared)?;
    tell(common, || summary::heading(&instance) + &summary::export(&document));
    Ok(Answer::Yes)
}

/// A change as a line: `research: cpu on big 40 -> 44 (+4)`.
fn line(change: &ExportChange) -> String {
    let ExportChange { queue, what, before, after, more } = change;
    let side = |side: &Option<String>| {
        side.as_ref().filter(|side| !side.is_empty()).map_or_else(|| "-".into(), |side| printable(side, 200))
    };
    let more = more.as_ref().map_or_else(String::new, |more| format!(" ({more})"));
    format!("{}: {} {} -> {}{more}\n", printable(queue, 200), printable(what, 200), side(before), side(after))
}

/// What applying takes away as a line: `ResourceFlavor a100: nodeTaints [..] -> -`.
fn lost_line(lost: &LostField) -> String {
    let LostField { object, field, before, after } = lost;
    let after = after.as_ref().map_or_else(|| "-".into(), |after| printable(after, 200));
    format!("{}: {} {} -> {after}\n", printable(object, 200), printable(field, 200), printable(before, 200))
}

/// What the target cannot be told, as where the configuration is written.
fn notes_of(notes: &[String]) -> String {
    notes.iter().map(|note| format!("Note: {}.\n", printable(note, 2000))).collect()
}

/// Which accounts stay that are not in the export.
fn staying_of(staying: &[String]) -> String {
    if staying.is_empty() {
        return String::new();
    }
    let what = "accounts are not in the export: no line deletes them, and they keep what is set now";
    let n = staying.len() as u64;
    format!("{} {} ({}).\n", thousands(n), agreeing(n, what), printable(&staying.join(", "), 2000))
}

/// Which tenants are no queues now, but inside some.
fn inside_of(inside: &[String]) -> String {
    if inside.is_empty() {
        return String::new();
    }
    format!(
        "Not told is what those have now who are inside queues that are deployed: {}. A smaller --levels tells of these queues.\n",
        printable(&inside.join(", "), 2000)
    )
}

/// Which tenants are users of accounts now.
fn users_of(users: &[String]) -> String {
    if users.is_empty() {
        return String::new();
    }
    format!(
        "Users of accounts now, not accounts: {}. These lines make accounts of the same names, in which nobody runs anything until users are added \
         to them (sacctmgr add user name=USER account=USER); --levels 1 tells accounts alone.\n",
        printable(&users.join(", "), 2000)
    )
}

/// Which limits of jobs stay that accounts have.
fn limits_of_jobs(limits: &[String]) -> String {
    if limits.is_empty() {
        return String::new();
    }
    let what = "limits are not in the export: no line changes them, and shares by the scheduler's rule do not count them";
    let n = limits.len() as u64;
    format!("{} {} ({}).\n", thousands(n), agreeing(n, what), printable(&limits.join(", "), 2000))
}

/// What of deployed objects is not exported, but for how YARN compares queues: of that the export says what shares rest on.
fn lost_of(found: &ExportChanges) -> String {
    let (compared, lost): (Vec<_>, Vec<_>) = found.lost.iter().partition(|lost| lost.is_of_comparing());
    let compared: Vec<String> =
        compared.into_iter().map(|lost| lost_line(lost).trim_end().to_owned()).collect();
    let kept = match &compared[..] {
        [] => String::new(),
        all => format!(
            "The export has queues compared by all resources, and its amounts rest on that: leave it so ({}).\n",
            all.join("; ")
        ),
    };
    let mut objects: Vec<&str> = lost.iter().map(|lost| lost.object.as_str()).collect();
    objects.dedup();
    let mut fields: Vec<&str> = lost.iter().map(|lost| lost.field.as_str()).collect();
    fields.sort_unstable();
    fields.dedup();
    kept + &match objects.len() as u64 {
        0 => String::new(),
        n => format!(
            "{} {} what the export does not write ({}): carry that over before you apply it.\n",
            counted(n, "deployed object", "deployed objects"),
            if n == 1 { "states" } else { "state" },
            fields.join(", ")
        ),
    }
}

/// Who gains and who loses, by what the scheduler's rule gives them.
fn summary_of(found: &ExportChanges, target: Target) -> String {
    if found.is_nothing() {
        return "The deployed configuration says the same.\n".into();
    }
    if found.changes.is_empty() {
        return "Every queue has the same.\n".to_owned() + &lost_of(found);
    }
    let mut queues: Vec<&str> = found.changes.iter().map(|change| change.queue.as_str()).collect();
    queues.dedup();
    let of = |name: &str| queues.iter().any(|queue| queue.starts_with(name));
    let (one, several) = match target {
        Target::Slurm => ("account", "accounts"),
        Target::Kueue if of("cohort ") => ("queue or cohort", "queues and cohorts"),
        _ => ("queue", "queues"),
    };
    let mut text = counted(queues.len() as u64, one, several) + " would change.\n" + &lost_of(found);
    if let Some(why) = &found.untold {
        return text + &format!("Who gains by the scheduler's rule is not told: {}.\n", printable(why, 300));
    }
    let moved: Vec<_> = found.moved().collect();
    if moved.is_empty() {
        // Of those who are inside deployed queues another line says that they are not told.
        return text
            + match (found.inside.is_empty(), found.entitled.is_empty()) {
                (true, _) => "The scheduler's rule gives everybody the same share as now.\n",
                (false, false) => "The scheduler's rule gives all others the same share as now.\n",
                (false, true) => "",
            };
    }
    text += "By the scheduler's rule, of the resource of which that is most:\n";
    for (queue, before, after) in moved {
        let verb = if after > before { "gains" } else { "loses" };
        text += &format!(
            "  {} {verb}: {} -> {}\n",
            printable(queue, 60),
            format_args!("{:.2}%", before * 100.0),
            format_args!("{:.2}%", after * 100.0)
        );
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_of_jobs_that_stay_are_told_one_or_several() {
        assert_eq!(limits_of_jobs(&[]), "");
        let [one, two] = ["red: GrpJobs=1", "sure-red: MaxWall=60"].map(str::to_owned);
        let why = "no line changes it, and shares by the scheduler's rule do not count it";
        let told = limits_of_jobs(std::slice::from_ref(&one));
        assert_eq!(told, format!("1 limit is not in the export: {why} ({one}).\n"));
        assert!(
            limits_of_jobs(&[one, two]).starts_with("2 limits are not in the export: no line changes them, ")
        );
    }
}
