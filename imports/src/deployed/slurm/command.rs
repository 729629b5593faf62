//! A line of `sacctmgr`, as its shell and it read it: words, verbs and names of options in letters of any size.

/// What the name of the QOS of an account begins with.
pub(super) const SURE: &str = "sure-";

/// The option of a QOS, in small letters, that says what jobs of one account may have together in it.
pub(super) const SURE_OF: &str = "maxtresperaccount";

/// What a line does.
#[derive(Debug, PartialEq)]
pub(super) enum Command {
    /// Nothing to accounts or to what their jobs are sure of.
    Nothing,
    /// Adds or changes accounts: fields in small letters, with their values; `qos` is one that they may use too.
    Account { is_new: bool, names: Vec<String>, fields: Vec<(String, String)> },
    /// Adds or changes QOS, those of accounts among them: `maxtresperaccount`, what jobs of one may have together, `priority`, by which they come before others, and limits of jobs.
    Qos { is_new: bool, names: Vec<String>, fields: Vec<(String, String)> },
    /// Takes accounts away.
    NoAccount(Vec<String>),
    /// Takes QOS away.
    NoQos(Vec<String>),
}

/// The words of a line after `sacctmgr` and its flags; `None` if it is another line.
pub(super) fn words(line: &str) -> Result<Option<Vec<String>>, &'static str> {
    let first = line.split_whitespace().next().unwrap_or_default();
    if first.rsplit('/').next() != Some("sacctmgr") {
        return Ok(None);
    }
    let mut words: Vec<String> = Vec::new();
    let mut word: Option<String> = None;
    let mut letters = line.chars();
    while let Some(letter) = letters.next() {
        match letter {
            letter if letter.is_whitespace() => words.extend(word.take()),
            '#' if word.is_none() => break,
            '\'' | '"' => {
                let into = word.get_or_insert_default();
                loop {
                    match letters.next() {
                        None => return Err("has a quote that is not closed"),
                        Some(end) if end == letter => break,
                        Some('$' | '`' | '\\') if letter == '"' => return Err(OF_SHELL),
                        Some(inside) => into.push(inside),
                    }
                }
            }
            ';' | '&' | '|' | '<' | '>' | '(' | ')' | '{' | '}' | '$' | '`' | '\\' | '*' | '?' | '['
            | ']' | '~' | '!' => return Err(OF_SHELL),
            letter => word.get_or_insert_default().push(letter),
        }
    }
    words.extend(word);
    words.remove(0);
    let flags = words.iter().take_while(|word| word.starts_with('-')).count();
    let is_known = |flag: &String| ["-i", "--immediate", "-Q", "--quiet"].contains(&flag.as_str());
    if !words.drain(..flags).all(|flag| is_known(&flag)) {
        return Err("has a flag that is not read; -i is");
    }
    Ok(Some(words))
}

const OF_SHELL: &str = "has letters that a shell makes something else of";

/// The fields of accounts that concern neither amounts nor shares, and those of QOS.
const BESIDE: [&str; 6] = ["description", "organization", "comment", "defaultqos", "priority", "flags"];

/// The limits of accounts and QOS on jobs and on what these use up in time: nothing that is exported, and no line of an export changes them.
pub(super) const LIMITS: [&str; 28] = [
    "GrpJobs",
    "GrpJobsAccrue",
    "GrpSubmitJobs",
    "GrpTRES",
    "GrpTRESMins",
    "GrpTRESRunMins",
    "GrpWall",
    "MaxJobs",
    "MaxJobsAccrue",
    "MaxJobsAccruePA",
    "MaxJobsAccruePU",
    "MaxJobsPA",
    "MaxJobsPU",
    "MaxJobsPerAccount",
    "MaxJobsPerUser",
    "MaxSubmitJobs",
    "MaxSubmitJobsPerAccount",
    "MaxSubmitJobsPerUser",
    "MaxTRES",
    "MaxTRESMins",
    "MaxTRESMinsPerJob",
    "MaxTRESPerJob",
    "MaxTRESPerNode",
    "MaxTRESPerUser",
    "MaxWall",
    "MaxWallDurationPerJob",
    "MinTRESPerJob",
    "MinPrioThreshold",
];

/// The limit on jobs that an option is, if it is one.
pub(super) fn limit_of_jobs(option: &str) -> Option<&'static str> {
    LIMITS.into_iter().find(|limit| limit.eq_ignore_ascii_case(option))
}

/// What is wrong, and with what.
type Problem = (String, String);

fn problem<T>(value: &str, problem: &str) -> Result<T, Problem> {
    Err((value.to_owned(), problem.to_owned()))
}

impl Command {
    /// What these words, which come after `sacctmgr`, do.
    pub(super) fn new(words: &[String]) -> Result<Self, Problem> {
        let mut small = words.iter().map(|word| word.to_ascii_lowercase());
        let [verb, entity] = [small.next(), small.next()].map(Option::unwrap_or_default);
        let line = || words.join(" ");
        let is_new = ["add", "create"].contains(&verb.as_str());
        let is_gone = ["delete", "remove"].contains(&verb.as_str());
        match verb.as_str() {
            "add" | "create" | "modify" | "update" | "delete" | "remove" => {}
            "show" | "list" => return Ok(Self::Nothing),
            _ => return problem(&line(), "is no command of sacctmgr that is read: add, modify or delete"),
        }
        let is_qos = match entity.as_str() {
            "account" | "accounts" | "acct" => false,
            "qos" => true,
            "user" | "users" => return Ok(Self::Nothing),
            _ => return problem(&line(), "is of nothing that is read: account, qos or user"),
        };
        let Fields { names, fields } = Fields::new(&words[2..], is_new, is_qos)?;
        if names.is_empty() {
            return problem(&line(), "names nobody, and so is about all; name them");
        }
        if is_gone {
            return match fields.is_empty() {
                true if is_qos => Ok(Self::NoQos(names)),
                true => Ok(Self::NoAccount(names)),
                false => problem(&line(), "takes away by more than names"),
            };
        }
        Ok(match is_qos {
            true => Self::Qos { is_new, names, fields },
            false => Self::Account { is_new, names, fields },
        })
    }
}

/// The options of a command.
struct Fields {
    names: Vec<String>,
    fields: Vec<(String, String)>,
}

impl Fields {
    fn new(words: &[String], is_new: bool, is_qos: bool) -> Result<Self, Problem> {
        let mut found = Self { names: Vec::new(), fields: Vec::new() };
        let mut is_set = is_new;
        // A QOS of another name is no account's.
        let mut others: Vec<&String> = Vec::new();
        for word in words {
            match word.to_ascii_lowercase().as_str() {
                "where" if !is_new => {
                    is_set = false;
                    continue;
                }
                "set" if !is_new => {
                    is_set = true;
                    continue;
                }
                _ => {}
            }
            let (key, value) = word.split_once('=').unwrap_or(("name", word));
            let (key, sign) = match key.strip_suffix(['+', '-']) {
                Some(plain) => (plain, &key[plain.len()..]),
                None => (key, ""),
            };
            let key = key.to_ascii_lowercase();
            let is_name = match key.as_str() {
                "name" | "names" => true,
                "account" | "accounts" | "acct" => !is_qos,
                "qos" => is_qos,
                _ => false,
            };
            if is_name && (is_new || !is_set) {
                if !found.names.is_empty() || !sign.is_empty() {
                    return problem(word, "names somebody twice");
                }
                found.names = value.split(',').filter(|name| !name.is_empty()).map(str::to_owned).collect();
                continue;
            }
            let key = match key.as_str() {
                "share" | "shares" => "fairshare",
                "qoslevel" => "qos",
                "maxtrespa" => SURE_OF,
                key => key,
            };
            if !is_set {
                return problem(word, "is a condition that is not read; name them");
            }
            if key == "qos" && !is_qos && sign == "+" {
                found.fields.extend(value.split(',').map(|qos| (key.to_owned(), qos.to_owned())));
                continue;
            }
            let is_read = match is_qos {
                true => [SURE_OF, "priority"].contains(&key),
                false => ["parent", "fairshare", "grptres"].contains(&key),
            } || limit_of_jobs(key).is_some();
            if is_read && sign.is_empty() {
                if found.fields.iter().any(|(known, _)| known == key) {
                    return problem(word, "is stated twice");
                }
                found.fields.push((key.to_owned(), value.to_owned()));
            } else if !BESIDE.contains(&key) {
                others.push(word);
            }
        }
        let is_sure = |name: &String| name.starts_with(SURE);
        match others.first() {
            Some(word) if !is_qos || found.names.iter().any(is_sure) => {
                problem(word, "is an option that is not read")
            }
            _ => Ok(found),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_read_as_a_shell_and_sacctmgr_read_them() {
        let read = |line: &str| Command::new(&words(line).unwrap().unwrap());
        let amounts = |names: &[&str], amounts: &str| {
            let names = names.iter().map(|name| (*name).to_owned()).collect();
            let fields = vec![(SURE_OF.to_owned(), amounts.to_owned())];
            Ok(Command::Qos { is_new: false, names, fields })
        };
        for line in [
            "sacctmgr -i modify qos where name=sure-a,sure-b set MaxTRESPerAccount=cpu=1",
            "/usr/bin/sacctmgr --immediate MODIFY QOS sure-a,sure-b Set maxtrespa=cpu=1 # no more",
            "sacctmgr update qos where names=\"sure-a,sure-b\" set 'MAXTRESPA=cpu=1'",
        ] {
            assert_eq!(read(line), amounts(&["sure-a", "sure-b"], "cpu=1"), "{line}");
        }
        let told = read("sacctmgr update qos where name=sure-a set PRIORITY=3 maxtrespa=cpu=1").unwrap();
        assert!(matches!(told, Command::Qos { fields, .. } if fields[0] == ("priority".into(), "3".into())));
        assert_eq!(read("sacctmgr -i delete qos sure-a"), Ok(Command::NoQos(vec!["sure-a".into()])));
        assert_eq!(read("sacctmgr remove account where name=a"), Ok(Command::NoAccount(vec!["a".into()])));
        assert_eq!(read("sacctmgr -i add user u account=a"), Ok(Command::Nothing));
        assert_eq!(words("scontrol reconfigure"), Ok(None));
    }

    #[test]
    fn what_is_not_understood_is_refused() {
        for (line, value) in [
            ("sacctmgr -i modify qos where name=sure-a set MaxTRESPA+=cpu=1", "MaxTRESPA+=cpu=1"),
            ("sacctmgr -i modify qos where name=sure-a set GrpCPUs=1", "GrpCPUs=1"),
            ("sacctmgr -i modify account where name=a set qos-=sure-a", "qos-=sure-a"),
            ("sacctmgr -i modify account where name=a set fairshare=1 share=2", "share=2"),
            ("sacctmgr -i modify account where name=a cluster=c set fairshare=1", "cluster=c"),
            ("sacctmgr -i modify account set fairshare=1", "modify account set fairshare=1"),
            ("sacctmgr -i del qos sure-a", "del qos sure-a"),
            ("sacctmgr -i delete cluster c", "delete cluster c"),
        ] {
            assert_eq!(Command::new(&words(line).unwrap().unwrap()).unwrap_err().0, value, "{line}");
        }
        for line in [
            "sacctmgr -i add account a; sacctmgr -i delete qos sure-a",
            "sacctmgr -i add account $A",
            "sacctmgr -i add account 'a",
            "sacctmgr -n add account a",
        ] {
            assert!(words(line).is_err(), "{line}");
        }
    }
}
