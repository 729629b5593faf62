//! What every user shall reach, as it is named on the command line.

use fairplan::instances::wording::printable;
use fairplan::{Decimal, Error, TargetOptions};
use std::collections::HashSet;

/// Targets; of several, the largest counts for each user.
#[derive(Clone, Debug, clap::Args)]
pub struct TargetArguments {
    /// Every user (in groups: every child of the root) shall reach this weighted dominant share of the cluster as it is now, or
    /// have all its tasks; or a user or a group this share, which the members of a group divide: 0.5 or research=0.4
    #[arg(long, value_name = "LIST", value_delimiter = ',', allow_negative_numbers = true)]
    share: Vec<String>,
    /// Every user shall be able to run so many tasks (or all it has), or a user, or each below a group: 40 or user-1=100,research=7
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    tasks: Vec<String>,
    /// Every user shall keep what DRFH gives it today
    #[arg(long)]
    as_today: bool,
    /// Every user shall be able to run so many times what it asks for today, or a user or group: 1.2 or research=1.5 (the
    /// others keep theirs). What it asks for is all its tasks, or, if it has no number of them, what DRFH gives it
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    scale: Vec<String>,
    /// So many users come, each like one of the instance's in turn, or like a user: 20 or user-1=5. They have the targets
    /// of those they are like; without another target, what those have today
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    more_users: Vec<String>,
}

/// An entry of a list: `ID=NUMBER`, or a number alone.
fn entry<'a>(option: &str, text: &'a str) -> Result<(Option<&'a str>, Decimal), Error> {
    let (id, number) = match text.rsplit_once('=') {
        Some((id, number)) => (Some(id), number),
        None => (None, text),
    };
    let refused = |problem| Error::input(format!("--{option} {text}: {problem}"));
    Ok((id, Decimal::parse(number.as_bytes()).map_err(refused)?))
}

/// Refuses an option that says two things of one user, or of all.
fn once(option: &str, list: &[String]) -> Result<(), Error> {
    let mut said = HashSet::new();
    for text in list {
        let whom = text.rsplit_once('=').map(|(id, _)| id);
        if !said.insert(whom) {
            let whom = whom.map_or("all users".into(), |id| printable(id, 60));
            return Err(Error::input(format!("--{option} says two things of {whom}; say one")));
        }
    }
    Ok(())
}

impl TargetArguments {
    /// What they mean.
    pub fn options(&self) -> Result<TargetOptions, Error> {
        once("share", &self.share)?;
        once("tasks", &self.tasks)?;
        once("scale", &self.scale)?;
        let mut options = TargetOptions { as_today: self.as_today, ..TargetOptions::default() };
        for text in &self.share {
            match entry("share", text)? {
                (None, share) => options.share = Some(share),
                (Some(id), share) => options.share_of.push((id.to_owned(), share)),
            }
        }
        for text in &self.tasks {
            match entry("tasks", text)? {
                (None, tasks) => options.tasks = Some(tasks),
                (Some(id), tasks) => options.tasks_of.push((id.to_owned(), tasks)),
            }
        }
        for text in &self.scale {
            match entry("scale", text)? {
                (None, factor) => options.scale = Some(factor),
                (Some(id), factor) => options.scale_of.push((id.to_owned(), factor)),
            }
        }
        for text in &self.more_users {
            let (id, count) = entry("more-users", text)?;
            let whole = count.scaled(0).and_then(|count| u64::try_from(count).ok());
            let refused = || Error::input(format!("--more-users {text}: must be a whole number"));
            options.more_users.push((id.map(str::to_owned), whole.ok_or_else(refused)?));
        }
        Ok(options)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_user_is_not_told_two_things() {
        let list = |entries: &[&str]| entries.iter().map(|entry| (*entry).to_owned()).collect::<Vec<_>>();
        assert!(once("scale", &list(&["2", "a=3", "b=3"])).is_ok());
        let told = |entries| once("scale", &list(entries)).unwrap_err().to_string();
        assert_eq!(told(&["a=2", "a=3"]), "--scale says two things of a; say one");
        assert_eq!(told(&["2", "3"]), "--scale says two things of all users; say one");
    }
}
