//! Bytes, from the first on.

use xxhash_rust::xxh3::xxh3_64_with_seed;

/// What was read, or what is wrong.
pub(super) type Read<T> = Result<T, String>;

macro_rules! ensure {
    ($holds:expr, $($because:tt)*) => {
        if !$holds {
            return Err(format!($($because)*));
        }
    };
}
pub(super) use ensure;

/// What is left to read.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bytes<'b>(pub(super) &'b [u8]);

impl<'b> Bytes<'b> {
    pub(super) fn take(&mut self, length: usize) -> Read<&'b [u8]> {
        let left = self.0.len();
        let (taken, rest) =
            self.0.split_at_checked(length).ok_or_else(|| format!("{length} bytes are wanted of {left}"))?;
        self.0 = rest;
        Ok(taken)
    }

    pub(super) fn array<const N: usize>(&mut self) -> Read<[u8; N]> {
        self.take(N).map(|bytes| bytes.try_into().expect("so many were taken"))
    }

    pub(super) fn u8(&mut self) -> Read<u8> {
        self.array().map(u8::from_le_bytes)
    }

    pub(super) fn u16(&mut self) -> Read<u16> {
        self.array().map(u16::from_le_bytes)
    }

    pub(super) fn u32(&mut self) -> Read<u32> {
        self.array().map(u32::from_le_bytes)
    }

    pub(super) fn u64(&mut self) -> Read<u64> {
        self.array().map(u64::from_le_bytes)
    }

    pub(super) fn u16_be(&mut self) -> Read<u16> {
        self.array().map(u16::from_be_bytes)
    }

    pub(super) fn u32_be(&mut self) -> Read<u32> {
        self.array().map(u32::from_be_bytes)
    }

    pub(super) fn u64_be(&mut self) -> Read<u64> {
        self.array().map(u64::from_be_bytes)
    }

    /// A number that is 0 or 1.
    pub(super) fn bool(&mut self) -> Read<bool> {
        match self.u8()? {
            number @ 0..=1 => Ok(number == 1),
            number => Err(format!("{number} is neither 0 nor 1")),
        }
    }

    pub(super) fn time(&mut self) -> Read<u64> {
        let time = self.u64()?;
        ensure!(time <= 3_155_378_975_999_999_999, "{time} is no time");
        Ok(time)
    }

    /// A text with its length before it.
    pub(super) fn text(&mut self) -> Read<String> {
        let length = self.u16()?;
        text(self.take(length.into())?)
    }

    /// All that is left.
    pub(super) fn rest(&mut self) -> &'b [u8] {
        std::mem::take(&mut self.0)
    }

    /// Nothing may be left.
    pub(super) fn end(&self, of: &str) -> Read<()> {
        ensure!(self.0.is_empty(), "{of} has {} bytes left over", self.0.len());
        Ok(())
    }
}

pub(super) fn text(bytes: &[u8]) -> Read<String> {
    String::from_utf8(bytes.to_vec()).map_err(|_| format!("{bytes:?} is no text"))
}

pub(super) fn hash(bytes: &[u8], seed: u64) -> u64 {
    xxh3_64_with_seed(bytes, seed)
}

/// The body of a small record.
pub(super) fn small<'r>(key: &[u8], record: &'r [u8]) -> Read<&'r [u8]> {
    let (body, sum) = record.split_last_chunk().ok_or_else(|| format!("the record {key:?} is too short"))?;
    ensure!(hash(body, hash(key, 0)) == u64::from_le_bytes(*sum), "the checksum of {key:?} is another");
    Ok(body)
}

/// The checksum of a record or a row, which is its last 8 bytes.
pub(super) fn checksum(record: &[u8]) -> u64 {
    record.last_chunk().map_or(0, |sum| u64::from_le_bytes(*sum))
}
