//! Names by pattern, as in a shell: `*` is any letters, `?` one letter.

/// Whether a name is like a pattern. Whenever a letter does not match, the last `*` takes one more.
///
/// ```
/// assert!(fairplan_instances::is_like("rack-12", "rack-1*"));
/// ```
pub fn is_like(name: &str, pattern: &str) -> bool {
    let (mut name, mut pattern) = (name.chars(), pattern.chars());
    // What is left of both after the last `*`, which has taken what is before it.
    let mut star: Option<(std::str::Chars<'_>, std::str::Chars<'_>)> = None;
    loop {
        let (rest, wanted) = (name.clone(), pattern.next());
        match (name.next(), wanted) {
            (_, Some('*')) => {
                star = Some((rest.clone(), pattern.clone()));
                name = rest;
            }
            (Some(_), Some('?')) => {}
            (Some(letter), Some(wanted)) if letter == wanted => {}
            (None, None) => return true,
            _ => {
                let Some((taken, after)) = &mut star else { return false };
                if taken.next().is_none() {
                    return false;
                }
                (name, pattern) = (taken.clone(), after.clone());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_match_as_in_a_shell() {
        for (name, pattern, expected) in [
            ("rack-1", "rack-1", true),
            ("rack-12", "rack-1", false),
            ("rack-12", "rack-1*", true),
            ("a100-rack-1", "*rack*", true),
            ("abcabc", "a*b*c", true),
            ("abc", "a*bc*c", false),
            ("aba", "*ab*ba", false),
            ("", "*", true),
            ("", "", true),
            ("x", "*x*x*", false),
            ("a.json", "*.json", true),
            ("a.json.gz", "*.json", false),
            ("aXbYbZc", "a*b*c", true),
            ("aXbYbZ", "a*b*c", false),
            ("a.csv", "?.csv", true),
            ("ä.csv", "?.csv", true),
            ("ab.csv", "?.csv", false),
            ("ab", "*?", true),
            ("", "?", false),
        ] {
            assert_eq!(is_like(name, pattern), expected, "{name} {pattern}");
        }
    }
}
