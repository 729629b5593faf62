//! Columns that somebody keeps side by side, as Arrow's: copied whole, without a look at single cells.

use super::finite::finite;
use arrow_array::builder::make_view;
use arrow_array::{ArrayRef, Float64Array, StringArray, StringViewArray, UInt32Array};
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
    let last = offset(letters.len())?;
    if form == TextForm::Plain {
        let ends = ends.iter().map(|end| (end - before) as i32);
        return plain(std::iter::once(0).chain(ends).collect(), letters.as_bytes().to_vec());
    }
    // Views hold offsets of 32 bits too.
    debug_assert!(last >= 0);
    let (bytes, mut start, mut long) = (letters.as_bytes(), 0, false);
    let view = |end: &usize| {
        let text = &bytes[start..end - before];
        let view = make_view(text, 0, start as u32);
        long |= text.len() > SHORT;
        start = end - before;
        view
    };
    let views: Vec<u128> = ends.iter().map(view).collect();
    views_of(views, if long { vec![Buffer::from_vec(bytes.to_vec())] } else { Vec::new() })
}

/// So many bytes of a text are in its view.
const SHORT: usize = 12;

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
    let (mut letters, mut views) = (Vec::new(), Vec::with_capacity(texts.len()));
    for text in texts {
        views.push(make_view(text.as_bytes(), 0, offset(letters.len())? as u32));
        letters.extend_from_slice(text.as_bytes());
    }
    let all = positions.iter().map(|position| views[*position as usize]).collect();
    views_of(all, vec![Buffer::from_vec(letters)])
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

fn views_of(views: Vec<u128>, letters: Vec<Buffer>) -> io::Result<ArrayRef> {
    let texts = StringViewArray::try_new(ScalarBuffer::from(views), letters, None);
    Ok(Arc::new(texts.map_err(io::Error::other)?))
}
