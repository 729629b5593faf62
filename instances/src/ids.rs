//! Names of users in one buffer, found again by hash: a million ids cost their letters and little more.

use hashbrown::hash_table::Entry;
use hashbrown::{DefaultHashBuilder, HashTable};
use rayon::prelude::*;
use std::hash::BuildHasher;
use std::ops::Range;

/// An append-only list of distinct texts, addressed by position and by content.
#[derive(Clone)]
pub struct IdTable {
    letters: String,
    ends: Vec<usize>,
    /// How many texts are found by content: all but those last pushed.
    indexed: usize,
    /// These, in [`PARTS`] tables by how large their hashes are: each of a million texts' is as small as a core's cache, and they are
    /// filled side by side.
    slots: Vec<HashTable<Slot>>,
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

/// Tables of slots. Those of a million texts are three quarters full; of 64 each would have twice the room and be half empty.
const PARTS: usize = 80;

/// So many slots are put into order by one thread while others do theirs; they stay in its cache.
const BLOCK: usize = 1 << 15;

impl Slot {
    /// The table that the slot is in.
    fn part(hash: u32) -> usize {
        ((u64::from(hash) * PARTS as u64) >> u32::BITS) as usize
    }

    /// The hash under which that table keeps it, whose first bits are not those that all have there, as half of the hash's are.
    fn spread(hash: u32) -> u64 {
        u64::from(hash).wrapping_mul(0x9e37_79b9_7f4a_7c15)
    }

    /// Puts a slot into its table; false if one of the same text is there.
    fn enter(self, table: &mut HashTable<Self>, (letters, ends): (&str, &[usize])) -> bool {
        let text = |position: u32| slice(letters, ends, position as usize);
        let same = |other: &Self| other.hash == self.hash && text(other.position) == text(self.position);
        match table.entry(Self::spread(self.hash), same, |other| Self::spread(other.hash)) {
            Entry::Occupied(_) => false,
            Entry::Vacant(entry) => {
                entry.insert(self);
                true
            }
        }
    }
}

/// Slots by the table that they go to, and of one table as they came.
struct Ordered {
    slots: Vec<Slot>,
    /// Where those of each table end.
    ends: [usize; PARTS],
}

impl Ordered {
    fn new(unordered: impl Iterator<Item = Slot>) -> Self {
        let unordered: Vec<Slot> = unordered.collect();
        let mut next = [0; PARTS];
        unordered.iter().for_each(|slot| next[Slot::part(slot.hash)] += 1);
        let mut before = 0;
        for next in &mut next {
            before += std::mem::replace(next, before);
        }
        let mut slots = unordered.clone();
        for slot in unordered {
            let place = &mut next[Slot::part(slot.hash)];
            slots[*place] = slot;
            *place += 1;
        }
        Self { slots, ends: next }
    }

    /// Those that go to this table.
    fn of(&self, part: usize) -> &[Slot] {
        let start = part.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.slots[start..self.ends[part]]
    }
}

impl Default for IdTable {
    fn default() -> Self {
        let slots = vec![HashTable::new(); PARTS];
        Self {
            letters: String::new(),
            ends: Vec::new(),
            indexed: 0,
            slots,
            hasher: DefaultHashBuilder::default(),
        }
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
        if self.ends.len() - self.indexed >= MANY && self.index_many().is_some() {
            return Ok(());
        }
        let Self { letters, ends, indexed, slots, hasher } = self;
        while *indexed < ends.len() {
            let position = *indexed;
            let hash = hasher.hash_one(slice(letters, ends, position)) as u32;
            let slot = Slot { hash, position: u32::try_from(position).map_err(|_| position)? };
            if !slot.enter(&mut slots[Slot::part(hash)], (letters, ends)) {
                return Err(position);
            }
            *indexed += 1;
        }
        Ok(())
    }

    /// The same of many at once, one table after the other, so that what is near in time is near in the memory. `None`, and the tables
    /// are as before, where one is there already or there is no room.
    fn index_many(&mut self) -> Option<()> {
        let Self { letters, ends, indexed, slots, hasher } = self;
        u32::try_from(ends.len()).ok()?;
        let slot = |position| {
            let hash = hasher.hash_one(slice(letters, ends, position)) as u32;
            Slot { hash, position: position as u32 }
        };
        let first = *indexed;
        let blocks = (first..ends.len()).into_par_iter().step_by(BLOCK);
        let blocks: Vec<Ordered> =
            blocks.map(|start| Ordered::new((start..ends.len().min(start + BLOCK)).map(slot))).collect();
        let fill = |(part, table): (usize, &mut HashTable<Slot>)| {
            let count = blocks.iter().map(|block| block.of(part).len()).sum();
            table.try_reserve(count, |slot| Slot::spread(slot.hash)).is_ok()
                && blocks
                    .iter()
                    .flat_map(|block| block.of(part))
                    .all(|slot| slot.enter(table, (letters, ends)))
        };
        if !slots.par_iter_mut().enumerate().map(fill).reduce(|| true, |one, other| one && other) {
            slots.iter_mut().for_each(|table| table.retain(|slot| (slot.position as usize) < first));
            return None;
        }
        *indexed = ends.len();
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
        self.slots[Slot::part(hash)].find(Slot::spread(hash), same).map(|slot| slot.position as usize)
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
