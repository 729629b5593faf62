//! Lists of nodes as Slurm writes them: `g[01-03,7],login`.

/// Names written out at most; of longer lists the rest is not looked at.
const MOST: usize = 100_000;

/// The nodes that a list names. What is written otherwise is taken as a name.
pub(super) fn names(list: &str) -> Vec<String> {
    let (mut depth, mut names) = (0, Vec::new());
    let parts = list.split(|letter| {
        match letter {
            '[' => depth += 1,
            ']' => depth -= 1,
            _ => {}
        }
        letter == ',' && depth == 0
    });
    for part in parts.map(str::trim).filter(|part| !part.is_empty()) {
        expand(String::new(), part, &mut names);
    }
    names
}

/// Writes out the first brackets of `rest`, and then those behind.
fn expand(before: String, rest: &str, names: &mut Vec<String>) {
    let bracketed = rest.split_once('[').and_then(|(head, tail)| {
        let (numbers, tail) = tail.split_once(']')?;
        Some((head, numbers, tail))
    });
    let Some((head, numbers, tail)) = bracketed else {
        return if names.len() < MOST {
            names.push(before + rest)
        };
    };
    for range in numbers.split(',') {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        let (Ok(from), Ok(to)) = (first.parse::<u64>(), last.parse::<u64>()) else {
            expand(format!("{before}{head}{range}"), tail, names);
            continue;
        };
        for number in from..=to {
            if names.len() >= MOST {
                return;
            }
            expand(format!("{before}{head}{number:0width$}", width = first.len()), tail, names);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn brackets_are_written_out_with_their_zeros() {
        for (list, written) in [
            ("cs75", "cs75"),
            ("g[08-10,3],login", "g08 g09 g10 g3 login"),
            ("r[1-2]n[1,4]", "r1n1 r1n4 r2n1 r2n4"),
            ("g[a-b]x", "ga-bx"),
            ("g[1", "g[1"),
            ("", ""),
        ] {
            assert_eq!(names(list).join(" "), written, "{list}");
        }
        assert_eq!(names("n[0-18446744073709551615]").len(), MOST);
    }
}
