//! Which tasks: ranges of their indices as job arrays write them, `0-3,7`.

use std::fmt;
use std::str::FromStr;

/// No file has so many lines.
const LARGEST: u64 = 1 << 53;

/// Indices in rising order, as ranges that do not touch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Indices(Vec<(u64, u64)>);

impl Indices {
    /// From 0 to below `count`.
    pub fn below(count: u64) -> Self {
        Self(count.checked_sub(1).map(|last| (0, last)).into_iter().collect())
    }

    /// One more index, not below any that is there.
    pub fn push(&mut self, index: u64) {
        match self.0.last_mut() {
            Some((_, last)) if index <= *last => {}
            Some((_, last)) if index == *last + 1 => *last = index,
            _ => self.0.push((index, index)),
        }
    }

    /// Whether it is one of them.
    pub fn contains(&self, index: u64) -> bool {
        let at = self.0.partition_point(|(_, last)| *last < index);
        self.0.get(at).is_some_and(|(first, _)| *first <= index)
    }

    /// How many there are.
    pub fn count(&self) -> u64 {
        self.0.iter().map(|(first, last)| last - first + 1).sum()
    }

    /// The last one.
    pub fn last(&self) -> Option<u64> {
        self.0.last().map(|(_, last)| *last)
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// All of them in order.
    pub fn iter(&self) -> impl Iterator<Item = u64> + '_ {
        self.0.iter().flat_map(|(first, last)| *first..=*last)
    }

    /// The tasks of these chunks of `size` tasks, of `count` tasks in all.
    pub fn of_chunks(&self, size: u64, count: u64) -> Self {
        let tasks = |(first, last): &(u64, u64)| {
            let end = (last.saturating_add(1)).saturating_mul(size).min(count);
            let first = first.saturating_mul(size);
            (first < end).then(|| (first, end - 1))
        };
        Self(self.0.iter().filter_map(tasks).collect())
    }
}

impl FromStr for Indices {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("{text} names no indices; write them as 7, 0-99 or 0-3,7");
        let mut ranges = Vec::new();
        for part in text.split(',') {
            let (first, last) = part.split_once('-').unwrap_or((part, part));
            let number = |text: &str| {
                let digits = !text.is_empty() && text.bytes().all(|letter| letter.is_ascii_digit());
                let number = text.parse::<u64>().ok().filter(|number| digits && *number < LARGEST);
                number.ok_or_else(wrong)
            };
            let (first, last) = (number(first)?, number(last)?);
            if first > last {
                return Err(format!("{part}: the first index is above the last"));
            }
            ranges.push((first, last));
        }
        ranges.sort_unstable();
        let mut merged: Vec<(u64, u64)> = Vec::new();
        for (first, last) in ranges {
            match merged.last_mut() {
                Some((_, end)) if first <= end.saturating_add(1) => *end = last.max(*end),
                _ => merged.push((first, last)),
            }
        }
        Ok(Self(merged))
    }
}

impl fmt::Display for Indices {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (position, (first, last)) in self.0.iter().enumerate() {
            let comma = if position == 0 { "" } else { "," };
            match first == last {
                true => write!(f, "{comma}{first}")?,
                false => write!(f, "{comma}{first}-{last}")?,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_read_and_written_as_arrays_do() {
        for (text, again, count) in
            [("7", "7", 1), ("0-3,7", "0-3,7", 5), ("7,0-3,4", "0-4,7", 6), ("0-5,2-9", "0-9", 10)]
        {
            let indices: Indices = text.parse().unwrap();
            assert_eq!((indices.to_string().as_str(), indices.count()), (again, count), "{text}");
            assert_eq!(indices.iter().count() as u64, count);
            assert!(indices.iter().all(|index| indices.contains(index)) && !indices.contains(10));
        }
        for text in ["", "a", "3-1", "1-", "-1", "1,,2", "+1"] {
            assert!(text.parse::<Indices>().is_err(), "{text}");
        }
        let mut pushed = Indices::default();
        [0, 1, 2, 2, 5].into_iter().for_each(|index| pushed.push(index));
        assert_eq!(pushed.to_string(), "0-2,5");
    }

    #[test]
    fn chunks_are_cut_at_the_last_task() {
        let chunks: Indices = "0,2-3".parse().unwrap();
        assert_eq!(chunks.of_chunks(10, 35).to_string(), "0-9,20-34");
        assert!("4".parse::<Indices>().unwrap().of_chunks(10, 35).is_empty());
    }
}
