//! Names of users in one buffer, found again by hash: a million ids cost their letters and little more.

use hashbrown::hash_table::Entry;
use hashbrown::{DefaultHashBuilder, HashTable};
use rayon::prelude::*;
use std::hash::BuildHasher;
use std::ops::Range;

/// An append-only list of distinct texts, addressed by position and by content.
#[derive(Clone, Default)]
pub struct IdTable {
    letters: String,
    ends: Vec<usize>,
    /// The texts that are found by content: all but those last pushed.
    slots: HashTable<Slot>,
    hasher: DefaultHashBuilder,
}

/// Some of the texts, one behind the other.
pub struct TextPart<'a> {
    /// Their letters.
    pub letters: &'a str,
    /// Where each ends among the letters, and `before` more.
    pub ends: &'a [usize],
    /// How many letters come before these.
    pub before: usize,
}

/// A text's position with half of its hash, so that the table grows without reading all texts again.
#[derive(Clone, Copy)]
struct Slot {
    hash: u32,
    position: u32,
}

/// So many texts at once are put into order before they are indexed.
const MANY: usize = 1 << 13;

/// The slots of a table are put into order by so many bits: parts of the table of a million are then as large as a core's cache.
const PART_BITS: u32 = 10;

impl Slot {
    /// The hash under which the table keeps the slot: both its ends matter there.
    fn spread(hash: u32) -> u64 {
        u64::from(hash) << 32 | u64::from(hash)
    }
}

impl IdTable {
    /// The texts that these letters are, each up to its end; `None` where they cannot be. None is found by content before
    /// [`IdTable::index`].
    pub(crate) fn of(letters: String, ends: Vec<usize>) -> Option<Self> {
        let is_cut = |pair: &[usize]| pair[0] <= pair[1] && letters.is_char_boundary(pair[0]);
        let fits = ends.last().is_none_or(|last| *last == letters.len()) && ends.windows(2).all(is_cut);
        fits.then(|| Self { letters, ends, ..Self::default() })
    }

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
    /// [`IdTable::index`], which takes a fraction of the time of as many [`IdTable::insert`] where there are many.
    pub fn push(&mut self, id: &str) -> usize {
        self.letters.push_str(id);
        self.ends.push(self.letters.len());
        self.ends.len() - 1
    }

    /// Appends all texts of another table, none of which is found there or here yet.
    pub fn append(&mut self, others: &Self) {
        let before = self.letters.len();
        self.letters.push_str(&others.letters);
        self.ends.extend(others.ends.iter().map(|end| before + end));
    }

    /// Lets the texts pushed since the last time be found by content.
    ///
    /// # Errors
    /// The position of the first that is there already, or for which there are no positions left; what was pushed
    /// before it can be found, it and what was pushed after it can't.
    pub fn index(&mut self) -> Result<(), usize> {
        if self.ends.len() - self.slots.len() >= MANY && self.index_many().is_some() {
            return Ok(());
        }
        let Self { letters, ends, slots, hasher } = self;
        for position in slots.len()..ends.len() {
            let id = slice(letters, ends, position);
            let hash = hasher.hash_one(id) as u32;
            let slot = Slot { hash, position: u32::try_from(position).map_err(|_| position)? };
            let same =
                |other: &Slot| other.hash == hash && slice(letters, ends, other.position as usize) == id;
            match slots.entry(Slot::spread(hash), same, |other| Slot::spread(other.hash)) {
                Entry::Occupied(_) => return Err(position),
                Entry::Vacant(entry) => entry.insert(slot),
            };
        }
        Ok(())
    }

    /// The same of many at once, in the order in which their slots lie in the table: these are then next to each other in the memory, and
    /// not each somewhere else, which is what takes the time. `None`, and the table is as before, where one is there already or
    /// there is no room.
    fn index_many(&mut self) -> Option<()> {
        let Self { letters, ends, slots, hasher } = self;
        let (first, last) = (slots.len(), u32::try_from(ends.len()).ok()?);
        slots.try_reserve(ends.len() - first, |slot| Slot::spread(slot.hash)).ok()?;
        let hash = |position| hasher.hash_one(slice(letters, ends, position)) as u32;
        let hashes: Vec<u32> = (first..ends.len()).into_par_iter().map(hash).collect();
        // The table puts a slot where the last bits of its hash say, or near. These are counted by the first of those bits.
        let mask = (slots.num_buckets() - 1) as u32;
        let shift = (u32::BITS - mask.leading_zeros()).saturating_sub(PART_BITS);
        let part = |hash: u32| ((hash & mask) >> shift) as usize;
        let mut starts = [0usize; (1 << PART_BITS) + 1];
        hashes.iter().for_each(|hash| starts[part(*hash) + 1] += 1);
        (0..1 << PART_BITS).for_each(|part| starts[part + 1] += starts[part]);
        let mut ordered = vec![Slot { hash: 0, position: 0 }; hashes.len()];
        for (position, hash) in (first as u32..last).zip(hashes) {
            let place = &mut starts[part(hash)];
            ordered[*place] = Slot { hash, position };
            *place += 1;
        }
        let id = |slot: &Slot| slice(letters, ends, slot.position as usize);
        for slot in ordered {
            let same = |other: &Slot| other.hash == slot.hash && id(other) == id(&slot);
            match slots.entry(Slot::spread(slot.hash), same, |other| Slot::spread(other.hash)) {
                Entry::Vacant(entry) => entry.insert(slot),
                Entry::Occupied(_) => {
                    slots.retain(|slot| (slot.position as usize) < first);
                    return None;
                }
            };
        }
        Some(())
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

    /// The texts of some rows without anything between them, and where each ends there, counted from `before`.
    pub fn part(&self, rows: Range<usize>) -> TextPart<'_> {
        let end = |rows: usize| rows.checked_sub(1).map_or(0, |last| self.ends[last]);
        let before = end(rows.start);
        TextPart { letters: &self.letters[before..end(rows.end)], ends: &self.ends[rows], before }
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

    #[test]
    fn many_at_once_are_found_and_the_first_duplicate_is_named_as_one_by_one() {
        const COUNT: usize = 3 * MANY;
        let table = |names: &dyn Fn(usize) -> String| {
            let mut ids = IdTable::default();
            assert_eq!(ids.insert("before"), Some(0));
            (0..COUNT).for_each(|number| _ = ids.push(&names(number)));
            let indexed = ids.index();
            (ids, indexed)
        };
        let (mut ids, indexed) = table(&|number| format!("user {number}"));
        assert_eq!(indexed, Ok(()));
        for position in 1..=COUNT {
            assert_eq!(ids.position(ids.get(position)), Some(position));
        }
        assert_eq!((ids.position("before"), ids.position("user")), (Some(0), None));
        assert_eq!((ids.insert("user 7"), ids.insert("after")), (None, Some(COUNT + 1)));
        // Twice among the new ones, and one that was there before.
        let (ids, indexed) = table(&|number| match number {
            9000 => "before".into(),
            8999 | 9001 => "user 17".into(),
            _ => format!("user {number}"),
        });
        assert_eq!(indexed, Err(9000));
        assert_eq!((ids.position("user 17"), ids.position("user 8998")), (Some(18), Some(8999)));
        assert_eq!((ids.position("user 9002"), ids.position("before")), (None, Some(0)));
    }
}
