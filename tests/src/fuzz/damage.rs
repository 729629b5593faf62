//! Damage to a file: to its bytes, its words, or its structure.

use super::{structure, tokens};
use crate::Dice;

/// A damaged copy: one to four changes, mostly of one kind.
pub(super) fn damage(dice: &mut Dice, valid: &[u8]) -> Vec<u8> {
    let mut content = valid.to_vec();
    let is_text = std::str::from_utf8(valid).is_ok();
    for _ in 0..=dice.below(4) {
        content = match dice.below(10) {
            0..=3 if is_text => tokens::damage(dice, content),
            4..=7 if is_text => structure::damage(dice, content),
            _ => bytes(dice, content),
        };
        if dice.percent(40) {
            break;
        }
    }
    content
}

/// Bytes that mean something to some reader.
const PIECES: [&[u8]; 24] = [
    b"\"",
    b"'",
    b"{",
    b"}",
    b"[",
    b"]",
    b",",
    b":",
    b";",
    b"\n",
    b"\r\n",
    b"\t",
    b"\0",
    b"\xff",
    b"\xef\xbb\xbf",
    b"-",
    b"\\u0000",
    b"=",
    b"<",
    b"&",
    b"%",
    b"\xe2\x80\xae",
    b"\x1b[2J",
    b"\x1f\x8b",
];

/// Changes, removes, inserts, repeats, moves or cuts off.
fn bytes(dice: &mut Dice, mut bytes: Vec<u8>) -> Vec<u8> {
    if bytes.is_empty() {
        return PIECES[dice.below(PIECES.len() as u64) as usize].to_vec();
    }
    let length = bytes.len() as u64;
    let start = dice.below(length) as usize;
    let end = (start + dice.below(9) as usize).min(bytes.len());
    let far = (start + dice.below(length) as usize).min(bytes.len());
    match dice.below(9) {
        0 => bytes[start] ^= 1 << dice.below(8),
        1 => bytes[start] = dice.below(256) as u8,
        2 => drop(bytes.drain(start..end)),
        3 => drop(bytes.drain(start..far)),
        4 => drop(bytes.splice(start..end, dice.pick(&PIECES).iter().copied())),
        5 => drop(bytes.splice(start..start, dice.pick(&PIECES).iter().copied())),
        6 => {
            let piece = bytes[start..far.min(start + 200)].to_vec();
            let target = dice.below(length) as usize;
            drop(bytes.splice(target..target, piece));
        }
        7 => {
            let piece: Vec<u8> = bytes.drain(start..end).collect();
            let target = dice.below(bytes.len() as u64 + 1) as usize;
            drop(bytes.splice(target..target, piece));
        }
        _ => bytes.truncate(start),
    }
    bytes
}
