//! Random entities, there and back. `TABLE_CORE_ODATA` says how many, `TABLE_CORE_SEED` repeats a run.

use std::time::Instant;

use uuid::Uuid;

use super::{Metadata, Reader, Writer, assert_same};
use crate::model::{DynamicEntity, ETag, Ticks, Value};

/// `SplitMix64`.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    }

    fn below(&mut self, limit: usize) -> usize {
        usize::try_from(self.next() % u64::try_from(limit).unwrap()).unwrap()
    }

    fn text(&mut self) -> String {
        const CHARS: [char; 20] = [
            'a',
            'Z',
            '0',
            ' ',
            '"',
            '\\',
            '/',
            '\u{0}',
            '\u{1f}',
            '\n',
            '\t',
            '\'',
            'é',
            '名',
            '\u{7f}',
            '\u{2028}',
            '\u{ffff}',
            '\u{10000}',
            '\u{1f600}',
            '\u{10ffff}',
        ];
        let length = self.below(24);
        (0..length).map(|_| CHARS[self.below(CHARS.len())]).collect()
    }

    fn name(&mut self) -> String {
        let start = ["A", "_", "é", "名前", "Value", "odata"][self.below(6)];
        format!("{start}{}", self.below(40))
    }

    fn double(&mut self) -> f64 {
        let whole = i32::try_from(self.next() % 2_000_000).unwrap() - 1_000_000;
        match self.below(6) {
            0 => [0.0, -0.0, f64::NAN, f64::INFINITY, f64::NEG_INFINITY, f64::MAX, f64::MIN_POSITIVE, 5e-324]
                [self.below(8)],
            1 => f64::from(whole),
            2 => f64::from(whole) / 100.0,
            3 => f64::from(whole) * 1e18,
            _ => f64::from_bits(self.next()),
        }
    }

    fn value(&mut self) -> Value {
        let length = self.below(20);
        match self.below(8) {
            0 => self.text().into(),
            1 => (0..length).map(|_| u8::try_from(self.below(256)).unwrap()).collect::<Vec<u8>>().into(),
            2 => (self.below(2) == 0).into(),
            3 => i32::from_le_bytes(self.next().to_le_bytes()[..4].try_into().unwrap()).into(),
            4 => (i64::from_le_bytes(self.next().to_le_bytes()) >> self.below(64)).into(),
            5 => self.double().into(),
            6 => {
                let span = Ticks::MAX.get() - Ticks::MIN_PROPERTY.get() + 1;
                let ticks = Ticks::MIN_PROPERTY.get() + self.next() % span;
                let ticks = if self.below(2) == 0 { ticks } else { ticks - ticks % 10_000_000 };
                Ticks::new(ticks).unwrap().into()
            }
            _ => Uuid::from_u64_pair(self.next(), self.next()).into(),
        }
    }

    fn entity(&mut self) -> DynamicEntity {
        let mut entity = DynamicEntity::new(self.text(), self.text());
        for _ in 0..self.below(16) {
            entity.set(&self.name(), self.value());
        }
        if self.below(2) == 0 {
            return entity;
        }
        let version = ETag::from_timestamp(Ticks::new(self.next() % (Ticks::MAX.get() + 1)).unwrap());
        let properties = entity.properties().map(|(name, value)| (name.into(), value.clone())).collect();
        DynamicEntity::of_parts(
            entity.partition_key().into(),
            entity.row_key().into(),
            Some(version),
            properties,
        )
    }
}

#[test]
fn what_is_written_is_read() {
    let number = |name| std::env::var(name).ok().map(|text: String| text.parse::<u64>().unwrap());
    let count = number("TABLE_CORE_ODATA").unwrap_or(5_000);
    let seed = number("TABLE_CORE_SEED").unwrap_or_else(|| u64::from(std::process::id()));
    let mut random = Random(seed);
    let (begun, mut bytes, mut done) = (Instant::now(), 0, 0);
    let writers = [Metadata::Minimal, Metadata::Full].map(|metadata| Writer::new(metadata).exact_nans());
    let writers =
        [&writers[0], &writers[1], &writers[1].clone().of_service("http://localhost/a", "a", "Company")];
    while done < count {
        let writer = writers[random.below(writers.len())];
        let entities: Vec<_> = (0..=random.below(8)).map(|_| random.entity()).collect();
        let mut page_text = Vec::new();
        let mut page = writer.page(&mut page_text);
        for entity in &entities {
            page.entity(entity).unwrap();
            let mut text = Vec::new();
            writer.entity(entity, &mut text).unwrap();
            assert_same(&Reader::new().entity(&text).unwrap(), entity);
            done += 1;
        }
        page.finish();
        bytes += page_text.len();
        let mut read = Reader::new().page(&page_text);
        for entity in &entities {
            assert_same(&read.next().unwrap().unwrap_or_else(|error| panic!("seed {seed}: {error}")), entity);
        }
        assert!(read.next().is_none());
    }
    println!("seed {seed}: {done} entities of {bytes} bytes in {:.1} s", begun.elapsed().as_secs_f64());
}
