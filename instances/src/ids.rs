//! Names of users in one buffer, found again by hash: a million ids cost their letters and little more.

use hashbrown::{DefaultHashBuilder, HashTable};
use std::hash::BuildHasher;

/// An append-only list of distinct texts, addressed by position and by content.
#[derive(Clone, Default)]
pub struct IdTable {
    letters: String,
    ends: Vec<usize>,
    /// The texts that are found by content: all but those last pushed.
    slots: HashTable<Slot>,
    hasher: DefaultHashBuilder,
}

/// A text's position with half of its hash, so that the table grows without reading all texts again.
#[derive(Clone, Copy)]
struct Slot {
    hash: u32,
    position: u32,
}

impl Slot {
    /// The hash under which the table keeps the slot: both its ends matter there.
    fn spread(hash: u32) -> u64 {
        u64::from(hash) << 32 | u64::from(hash)
    }
}

impl IdTable {
    /// Appends `id` and returns its position, or `None` when it is there already.
    pub fn insert(&mut self, id: &str) -> Option<usize> {
        let position = self.push(id);
        if self.index().is_ok() {
            return Some(position);
        }
        self.pop();
        None
    }

    /// Appends `id` and returns its position. Neither is it looked for nor can it be found before
    /// [`IdTable::index`]: the slots of many texts are fetched at a time there, those of one after the other one by one.
    pub fn push(&mut self, id: &str) -> usize {
        self.letters.push_str(id);
        self.ends.push(self.letters.len());
        self.ends.len() - 1
    }

    /// Lets the texts pushed since the last time be found by content.
    ///
    /// # Errors
    /// The position of the first that is there already, or for which there are no positions left; what was pushed
    /// before it can be found, it and what was pushed after it can't.
    pub fn index(&mut self) -> Result<(), usize> {
        let Self { letters, ends, slots, hasher } = self;
        for position in slots.len()..ends.len() {
            let id = slice(letters, ends, position);
            let hash = hasher.hash_one(id) as u32;
            let slot = Slot { hash, position: u32::try_from(position).map_err(|_| position)? };
            match slots.entry(
                Slot::spread(hash),
                |other| other.hash == hash && slice(letters, ends, other.position as usize) == id,
                |other| Slot::spread(other.hash),
            ) {
                hashbrown::hash_table::Entry::Occupied(_) => return Err(position),
                hashbrown::hash_table::Entry::Vacant(entry) => entry.insert(slot),
            };
        }
        Ok(())
    }

    /// Takes the last text back, which was pushed and not indexed.
    fn pop(&mut self) {
        self.ends.pop();
        self.letters.truncate(self.ends.last().copied().unwrap_or_default());
    }

    /// Makes room for `count` texts more, if there is any.
    pub fn reserve(&mut self, count: usize) {
        let _ = self.ends.try_reserve_exact(count);
        let _ = self.slots.try_reserve(count, |slot| Slot::spread(slot.hash));
    }

    /// The text at `position`.
    pub fn get(&self, position: usize) -> &str {
        slice(&self.letters, &self.ends, position)
    }

    /// Where `id` stands, if it does.
    pub fn position(&self, id: &str) -> Option<usize> {
        let hash = self.hasher.hash_one(id) as u32;
        let same = |other: &Slot| other.hash == hash && self.get(other.position as usize) == id;
        self.slots.find(Slot::spread(hash), same).map(|slot| slot.position as usize)
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
        assert_eq!((ids.push("d"), ids.index()), (3, Ok(())));
        assert_eq!((ids.push("e"), ids.push("a"), ids.index()), (4, 5, Err(5)));
        assert_eq!((ids.get(1), ids.position("bc"), ids.position("x"), ids.len()), ("bc", Some(1), None, 6));
    }
}
