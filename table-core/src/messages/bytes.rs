//! Fields off the front of a record's body; numbers are little-endian.

use crate::model::Ticks;

pub(crate) struct Fields<'b>(pub(crate) &'b [u8]);

impl<'b> Fields<'b> {
    fn take<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (head, rest) = self.0.split_first_chunk::<N>()?;
        self.0 = rest;
        Some(*head)
    }

    pub(crate) fn u8(&mut self) -> Option<u8> {
        self.take::<1>().map(|[byte]| byte)
    }

    pub(crate) fn u16(&mut self) -> Option<u16> {
        self.take().map(u16::from_le_bytes)
    }

    pub(crate) fn u32(&mut self) -> Option<u32> {
        self.take().map(u32::from_le_bytes)
    }

    pub(crate) fn u64(&mut self) -> Option<u64> {
        self.take().map(u64::from_le_bytes)
    }

    pub(crate) fn ticks(&mut self) -> Option<Ticks> {
        Ticks::new(self.u64()?)
    }

    pub(crate) fn text(&mut self, length: usize) -> Option<&'b str> {
        let (head, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        std::str::from_utf8(head).ok()
    }

    /// All that is left, as text.
    pub(crate) fn rest(self) -> Option<&'b str> {
        std::str::from_utf8(self.0).ok()
    }
}
