use super::image::{Image, Row};
use crate::error::Cause;

/// Keys around each row's, and beyond all.
fn bounds(image: &Image) -> Vec<Vec<u8>> {
    let step = (image.rows.len() / 8).max(1);
    let mut bounds = vec![Vec::new(), vec![0xff]];
    for (key, _) in image.rows.iter().step_by(step).chain(image.rows.last()) {
        bounds.extend([key.clone(), [key, &[0][..]].concat(), key[..key.len() - 1].to_vec()]);
    }
    bounds
}

fn expected(image: &Image, start: &[u8], end: &[u8], reverse: bool) -> Vec<Row> {
    let within = |row: &&Row| *row.0 >= *start && *row.0 < *end;
    let mut rows: Vec<_> = image.rows.iter().filter(within).cloned().collect();
    if reverse {
        rows.reverse();
    }
    rows
}

#[test]
fn every_range_has_its_rows_in_both_directions() {
    let seeds = if cfg!(miri) { 3 } else { 60 };
    let mut most = 0;
    for seed in 0..seeds {
        for verifies in [true, false] {
            let image = Image::of(seed, 150, verifies);
            most = most.max(image.rows.len());
            let bounds = bounds(&image);
            for (start, end) in bounds.iter().flat_map(|start| bounds.iter().map(move |end| (start, end))) {
                for reverse in [false, true] {
                    let (rows, ended) = image.walk(start..end, reverse);
                    ended.unwrap();
                    assert_eq!(
                        rows,
                        expected(&image, start, end, reverse),
                        "seed {seed}, {start:?}..{end:?}"
                    );
                }
            }
        }
    }
    assert!(most > 20);
}

/// Any single bit flipped anywhere: the right rows, or the first of them and an error.
#[test]
fn a_flipped_bit_gives_the_right_rows_or_an_error() {
    let (seeds, stride) = if cfg!(miri) { (1, 4_001) } else { (4, 5) };
    let (mut refused, mut right) = (0, 0);
    for seed in 0..seeds {
        let mut image = Image::of(seed * 7 + 1, 90, true);
        let all = bounds(&image);
        for bit in (0..image.bytes.len() * 8).step_by(stride) {
            image.bytes[bit / 8] ^= 1 << (bit % 8);
            // The whole, and a walk from each place in turn, up or down.
            let place = &all[bit % all.len()];
            for (start, end) in [(&all[0], &all[1]), (&all[0], place), (place, &all[1])] {
                for reverse in [false, true] {
                    let (rows, ended) = image.walk(start..end, reverse);
                    let right_rows = expected(&image, start, end, reverse);
                    match ended {
                        Ok(()) => {
                            assert!(rows == right_rows, "seed {seed}, bit {bit}, {start:?}, {reverse}");
                            right += 1;
                        }
                        Err(error) => {
                            assert!(matches!(error.cause(), Cause::Page), "{error}");
                            let place = format!("seed {seed}, bit {bit}, {start:?}..{end:?}, {reverse}");
                            assert!(right_rows.starts_with(&rows), "{place}");
                            refused += 1;
                        }
                    }
                }
            }
            image.bytes[bit / 8] ^= 1 << (bit % 8);
        }
    }
    assert!(refused > 0 && right > 0);
}

#[test]
fn a_page_that_is_out_of_use_is_not_walked_over() {
    let mut image = Image::of(1, 150, true);
    let (pages, mut refused) = (image.bytes.len() / 256, 0);
    for free in 2..u64::try_from(pages).unwrap() {
        image.free = Some(free);
        let (rows, ended) = image.walk(&[][..]..&[0xff][..], false);
        assert!(ended.is_err() || rows == image.rows);
        refused += usize::from(ended.is_err());
    }
    // All but the further pages of rows that have several.
    assert!(refused > pages / 2);
}
