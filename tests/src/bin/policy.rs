//! A placement policy as a process of its own, for the tests of `fairplan.policy.v1`: First-Fit, or one of several faults, by its
//! first argument.

use serde_json::Value;
use std::collections::{HashMap, HashSet};
use std::io::{BufRead, BufReader, BufWriter, Write};

/// A user's demand, the classes that it may use if not all, and the first server that may have room.
type Asker = (Vec<f64>, Option<HashSet<String>>, usize);

fn main() {
    let fault = std::env::args().nth(1).unwrap_or_default();
    let mut input = BufReader::with_capacity(1 << 16, std::io::stdin());
    let mut output = BufWriter::with_capacity(1 << 16, std::io::stdout());
    let mut line = String::new();
    input.read_line(&mut line).unwrap_or_default();
    let cluster: Value = serde_json::from_str(&line).unwrap_or_default();
    let list = |value: &Value, key: &str| value[key].as_array().cloned().unwrap_or_default();
    let text = |value: &Value, key: &str| value[key].as_str().unwrap_or_default().to_owned();
    let amounts = |value: &Value, key: &str| -> Vec<f64> {
        list(value, key).iter().map(|amount| amount.as_str().unwrap_or("0").parse().unwrap_or(0.0)).collect()
    };
    let servers = list(&cluster, "servers");
    let mut free: Vec<Vec<f64>> = servers.iter().map(|server| amounts(server, "capacity")).collect();
    let answers: Vec<String> =
        servers.iter().map(|server| format!("{{\"server\":{}}}\n", server["id"])).collect();
    let classes: Vec<String> = servers.iter().map(|server| text(server, "class")).collect();
    // Of each user its demand, the classes it may use if not all, and the first server that may have room.
    let mut users: HashMap<String, Asker> = HashMap::new();
    let asker = |user: &Value| {
        let eligible = user["eligible"].as_array().map(|names| {
            names.iter().map(|name| name.as_str().unwrap_or_default().to_owned()).collect::<HashSet<_>>()
        });
        (text(user, "id"), (amounts(user, "demand"), eligible, 0))
    };
    users.extend(list(&cluster, "users").iter().map(asker));
    let positions: HashMap<String, usize> =
        servers.iter().map(|server| text(server, "id")).zip(0..).collect();
    let mut task = 0u64;
    let mut met: HashSet<String> = HashSet::new();
    loop {
        line.clear();
        if input.read_line(&mut line).unwrap_or(0) == 0 {
            break;
        }
        let kind = line.split('"').nth(3).unwrap_or_default().to_owned();
        if kind != "place" {
            let message: Value = serde_json::from_str(&line).unwrap_or_default();
            match kind.as_str() {
                "end" => {
                    let at = positions.get(&text(&message, "server")).copied().unwrap_or_default();
                    let demand = users.get(&text(&message, "user")).cloned().unwrap_or_default().0;
                    free[at].iter_mut().zip(&demand).for_each(|(left, need)| *left += need);
                    // What was passed by may have room again.
                    users.values_mut().for_each(|(.., first)| *first = (*first).min(at));
                }
                "begin" => {
                    let at = positions.get(&text(&message, "server")).copied().unwrap_or_default();
                    let demand = users.get(&text(&message, "user")).cloned().unwrap_or_default().0;
                    free[at].iter_mut().zip(&demand).for_each(|(left, need)| *left -= need);
                }
                "user" => users.extend([asker(&message)]),
                _ => {}
            }
            continue;
        }
        task += 1;
        let user = line.rsplit_once("\"user\":\"").and_then(|(_, rest)| rest.split_once('"'));
        let is_first = user.is_some_and(|(id, _)| met.insert(id.to_owned()));
        let Some((demand, eligible, at)) = user.and_then(|(id, _)| users.get_mut(id)) else { break };
        let fits = |at: usize| {
            eligible.as_ref().is_none_or(|eligible| eligible.contains(&classes[at]))
                && demand.iter().zip(&free[at]).all(|(need, left)| *need <= left + 1e-9)
        };
        while *at < free.len() && !fits(*at) {
            *at += 1;
        }
        match fault.as_str() {
            "crash" if task == 5 => {
                let _ = output.flush();
                eprintln!("first line\nthe disk is full");
                std::process::exit(7);
            }
            "hang" if task == 5 => {
                let _ = output.flush();
                std::thread::sleep(std::time::Duration::from_secs(600));
            }
            // Turns every user down once, and would place what comes after that.
            "fickle" if is_first => drop(output.write_all(b"{\"server\":null}\n")),
            "nonsense" if task == 5 => drop(output.write_all(b"yes\n")),
            "unknown" if task == 5 => drop(output.write_all(b"{\"server\":\"nowhere\"}\n")),
            "twice" => drop(output.write_all(b"{\"server\":null}\n{\"server\":null}\n")),
            "first" => drop(output.write_all(answers[0].as_bytes())),
            _ => match free.get_mut(*at) {
                Some(left) => {
                    left.iter_mut().zip(&*demand).for_each(|(left, need)| *left -= need);
                    drop(output.write_all(answers[*at].as_bytes()));
                }
                None => drop(output.write_all(b"{\"server\":null}\n")),
            },
        }
        // Answers go out together where more questions are here already.
        if input.buffer().is_empty() && output.flush().is_err() {
            break;
        }
    }
}
