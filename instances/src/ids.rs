//! Names of users in one buffer, found again by hash: a million ids cost their letters and little more.

use hashbrown::{DefaultHashBuilder, HashTable};
use std::hash::BuildHasher;

/// An append-only list of distinct texts, addressed by position and by content.
#[derive(Clone, Default)]
pub struct IdTable {
    letters: String,
    ends: Vec<usize>,
    positions: HashTable<u32>,
    hasher: DefaultHashBuilder,
}

impl IdTable {
    /// Appends `id` and returns its position, or `None` when it is there already.
    pub fn insert(&mut self, id: &str) -> Option<usize> {
        let Self { letters, ends, positions, hasher } = self;
        let hash = hasher.hash_one(id);
        let position = u32::try_from(ends.len()).ok()?;
        match positions.entry(
            hash,
            |&other| slice(letters, ends, other as usize) == id,
            |&other| hasher.hash_one(slice(letters, ends, other as usize)),
        ) {
            hashbrown::hash_table::Entry::Occupied(_) => None,
            hashbrown::hash_table::Entry::Vacant(entry) => {
                entry.insert(position);
                letters.push_str(id);
                ends.push(letters.len());
                Some(position as usize)
            }
        }
    }

    /// The text at `position`.
    pub fn get(&self, position: usize) -> &str {
        slice(&self.letters, &self.ends, position)
    }

    /// Where `id` stands, if it does.
    pub fn position(&self, id: &str) -> Option<usize> {
        let hash = self.hasher.hash_one(id);
        self.positions.find(hash, |&other| self.get(other as usize) == id).map(|&position| position as usize)
    }

    /// How many texts there are.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }
}

fn slice<'a>(letters: &'a str, ends: &[usize], position: usize) -> &'a str {
    let start = if position == 0 { 0 } else { ends[position - 1] };
    &letters[start..ends[position]]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_found_by_content_and_duplicates_refused() {
        let mut ids = IdTable::default();
        assert_eq!((ids.insert("a"), ids.insert("bc"), ids.insert("")), (Some(0), Some(1), Some(2)));
        assert_eq!(ids.insert("bc"), None);
        assert_eq!((ids.get(1), ids.position("bc"), ids.position("x"), ids.len()), ("bc", Some(1), None, 3));
    }
}
