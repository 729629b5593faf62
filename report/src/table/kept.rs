//! Columns that somebody keeps side by side, as Arrow's: copied whole, without a look at single cells.

use super::finite::finite;
use arrow_array::builder::StringViewBuilder;
use arrow_array::{ArrayRef, Float64Array, StringArray, UInt32Array};
use arrow_buffer::{Buffer, OffsetBuffer, ScalarBuffer};
use fairplan_instances::TextPart;
use fairplan_instances::table::Kept;
use std::io;
use std::ops::Range;
use std::sync::Arc;

/// How Arrow's columns hold texts that are kept side by side.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TextForm {
    /// One behind the other, with their ends: every reader knows it.
    Plain,
    /// Short ones in sixteen bytes each, as polars holds them, which takes them so without a copy.
    Views,
}

pub(super) fn kept_array(kept: &Kept<'_>, rows: Range<usize>, form: TextForm) -> io::Result<ArrayRef> {
    Ok(match kept {
        Kept::Texts(texts) => all_texts(&texts.part(rows), form)?,
        Kept::Chosen(chosen) => chosen_texts(&chosen.texts, &chosen.positions(rows), form)?,
        Kept::Numbers(numbers) => {
            let numbers = &numbers[rows];
            numbers.iter().try_for_each(|number| finite(*number).map(drop))?;
            Arc::new(Float64Array::from(numbers.to_vec()))
        }
        Kept::Positions(positions) => Arc::new(UInt32Array::from(positions[rows].to_vec())),
    })
}

fn all_texts(part: &TextPart<'_>, form: TextForm) -> io::Result<ArrayRef> {
    let TextPart { letters, ends, before } = *part;
    offset(letters.len())?;
    if form == TextForm::Plain {
        let ends = ends.iter().map(|end| (end - before) as i32);
        return plain(std::iter::once(0).chain(ends).collect(), letters.as_bytes().to_vec());
    }
    let (mut views, mut start) = (StringViewBuilder::with_capacity(ends.len()), 0);
    for end in ends {
        views.append_value(&letters[start..end - before]);
        start = end - before;
    }
    Ok(Arc::new(views.finish()))
}

fn chosen_texts(texts: &[&str], positions: &[u32], form: TextForm) -> io::Result<ArrayRef> {
    if form == TextForm::Plain {
        let length: usize = positions.iter().map(|position| texts[*position as usize].len()).sum();
        offset(length)?;
        let (mut letters, mut offsets) =
            (Vec::with_capacity(length), Vec::with_capacity(positions.len() + 1));
        offsets.push(0);
        for position in positions {
            letters.extend_from_slice(texts[*position as usize].as_bytes());
            offsets.push(letters.len() as i32);
        }
        return plain(offsets, letters);
    }
    // The same one often stands in many rows, one after the other.
    let mut views = StringViewBuilder::with_capacity(positions.len()).with_deduplicate_strings();
    for alike in positions.chunk_by(|one, next| one == next) {
        views.try_append_value_n(texts[alike[0] as usize], alike.len()).map_err(io::Error::other)?;
    }
    Ok(Arc::new(views.finish()))
}

/// Where so many letters end.
fn offset(letters: usize) -> io::Result<i32> {
    let too_long =
        || io::Error::new(io::ErrorKind::InvalidData, "the texts of a column are longer than 2 GB");
    i32::try_from(letters).map_err(|_| too_long())
}

fn plain(offsets: Vec<i32>, letters: Vec<u8>) -> io::Result<ArrayRef> {
    let offsets = OffsetBuffer::new(ScalarBuffer::from(offsets));
    let texts = StringArray::try_new(offsets, Buffer::from_vec(letters), None);
    Ok(Arc::new(texts.map_err(io::Error::other)?))
}
