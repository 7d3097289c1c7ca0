//! Small damage to bytes.

use crate::random::Random;

/// Numbers at which decoders go wrong, in the widths that formats have.
const NUMBERS: [u64; 14] =
    [0, 1, 0x7f, 0x80, 0xff, 0x100, 0x101, 0xfff, 0x1000, 0x7fff, 0xffff, 0x7fff_ffff, 0xffff_ffff, u64::MAX];

/// Damages an input a few times over; `words` are pieces that the target's language has.
pub(crate) fn mutate(input: &mut Vec<u8>, other: &[u8], words: &[&[u8]], most: usize, random: &mut Random) {
    let rounds = [1, 1, 2, 3, 8].get(random.index(5)).copied().unwrap_or(1);
    for _ in 0..rounds {
        once(input, other, words, random);
    }
    input.truncate(most);
}

fn once(input: &mut Vec<u8>, other: &[u8], words: &[&[u8]], random: &mut Random) {
    let at = random.index(input.len());
    match random.below(11) {
        0 => {
            if let Some(byte) = input.get_mut(at) {
                *byte ^= 1 << random.below(8);
            }
        }
        1 => {
            if let Some(byte) = input.get_mut(at) {
                *byte = random.byte();
            }
        }
        2 => {
            if let Some(byte) = input.get_mut(at) {
                *byte = if random.one_in(2) { byte.wrapping_add(1) } else { byte.wrapping_sub(1) };
            }
        }
        3 => input.truncate(at),
        4 => {
            let end = at + random.index((input.len() - at).min(32));
            input.drain(at..end);
        }
        5 => {
            let length = random.index(9);
            insert(input, at, &random.next().to_le_bytes()[..length.min(8)]);
        }
        6 => {
            let number = NUMBERS[random.index(NUMBERS.len())].to_le_bytes();
            let number = &number[..[1, 2, 3, 4, 8][random.index(5)]];
            if random.one_in(2) {
                insert(input, at, number);
            } else if let Some(place) = input.get_mut(at..at + number.len()) {
                place.copy_from_slice(number);
            }
        }
        7 => {
            let piece = piece_of(input, random).to_vec();
            insert(input, at, &piece);
        }
        8 => {
            let piece = piece_of(other, random);
            if random.one_in(2) {
                insert(input, at, piece);
            } else {
                input.truncate(at);
                input.extend_from_slice(piece);
            }
        }
        9 => {
            let from = random.index(input.len());
            if at != from {
                input.swap(at, from);
            }
        }
        _ => match random.choose(words) {
            Some(word) => insert(input, at, word),
            None => insert(input, at, &[random.byte()]),
        },
    }
}

fn insert(input: &mut Vec<u8>, at: usize, piece: &[u8]) {
    input.splice(at..at, piece.iter().copied());
}

fn piece_of<'a>(bytes: &'a [u8], random: &mut Random) -> &'a [u8] {
    let from = random.index(bytes.len());
    let length = if random.one_in(4) { bytes.len() } else { random.index(24) };
    &bytes[from..bytes.len().min(from + length)]
}
