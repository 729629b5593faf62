//! Names from files, for eyes: on one line, without control characters, and cut in the middle where they are long, so that
//! their ends, which mostly tell them apart, are left.

use fairplan_instances::wording::printable;

/// Stands for what is left out.
const CUT: char = '…';

/// `name` on one line, at most so many letters, cut in the middle.
pub(crate) fn cut(name: &str, longest: usize) -> String {
    let letters: Vec<char> = safe(name);
    around(&letters, (longest.saturating_sub(1)).div_ceil(2), longest)
}

/// A sentence or a title on one line, at most so many letters, without its end where it is longer.
pub(crate) fn beginning(text: &str, longest: usize) -> String {
    let letters = safe(text);
    around(&letters, longest.saturating_sub(1), longest)
}

/// The names as [`cut`] leaves them, but cut elsewhere, or less, where different ones would look alike.
pub(crate) fn apart(names: &[&str], longest: usize) -> Vec<String> {
    let letters: Vec<Vec<char>> = names.iter().map(|name| safe(name)).collect();
    let mut all: Vec<&Vec<char>> = letters.iter().collect();
    all.sort();
    all.dedup();
    let distinct = |shown: &dyn Fn(&[char]) -> String| {
        let mut shown: Vec<String> = all.iter().map(|letters| shown(letters)).collect();
        shown.sort();
        shown.dedup();
        shown.len() == all.len()
    };
    // More and more room, and in it the cut nearest to the middle that leaves all of them different.
    let most = letters.iter().map(Vec::len).max().unwrap_or(0).max(longest);
    for room in longest..most {
        let middle = room.saturating_sub(1).div_ceil(2);
        let heads = (0..room).map(|step| {
            if step % 2 == 0 { middle + step / 2 } else { middle - step.div_ceil(2).min(middle) }
        });
        for head in heads.filter(|head| *head < room) {
            if distinct(&|letters| around(letters, head, room)) {
                return letters.iter().map(|letters| around(letters, head, room)).collect();
            }
        }
    }
    letters.into_iter().map(|letters| letters.into_iter().collect()).collect()
}

/// The letters of a name, those that could do harm on a terminal spelt out.
fn safe(name: &str) -> Vec<char> {
    printable(name, usize::MAX).chars().collect()
}

/// `letters` with `head` of them before what is left out, if there are more than `longest`.
fn around(letters: &[char], head: usize, longest: usize) -> String {
    if letters.len() <= longest {
        return letters.iter().collect();
    }
    let tail = longest.saturating_sub(head + 1);
    let (first, last) = (&letters[..head], &letters[letters.len() - tail..]);
    first.iter().chain([&CUT]).chain(last).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_names_are_cut_in_the_middle_and_short_ones_are_not() {
        assert_eq!(cut("short", 8), "short");
        assert_eq!(cut("abcdefghijklmnop", 8), "abcd…nop");
        assert_eq!(beginning("A title of many words", 8), "A title…");
        assert_eq!(cut("a\u{1b}[31m\nb", 20), "a\\u{1b}[31m\\nb");
    }

    #[test]
    fn different_names_look_different_wherever_they_differ() {
        let ends: Vec<String> = (0..6).map(|i| format!("a-very-long-name-of-a-research-group-{i}")).collect();
        let starts: Vec<String> =
            (0..6).map(|i| format!("{i}-a-very-long-name-of-a-research-group")).collect();
        let middles: Vec<String> =
            (0..6).map(|i| format!("a-very-long-name-of-a-group-{i}-which-does-a-lot-of-research")).collect();
        for names in [ends, starts, middles] {
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            let mut shown = apart(&names, 16);
            assert!(shown.iter().all(|name| name.contains(CUT)), "{shown:?}");
            shown.sort();
            shown.dedup();
            assert_eq!(shown.len(), 6, "{shown:?}");
        }
        assert_eq!(apart(&["same-and-very-long", "same-and-very-long"], 10)[0], "same-…long");
        assert_eq!(apart(&["a", "b"], 10), ["a", "b"]);
    }
}
