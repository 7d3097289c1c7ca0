//! A file as it is in memory and as the disk may have it.

use std::collections::BTreeMap;

use crate::random::Random;

/// What a disk writes at once.
pub const SECTOR: usize = 512;

/// Sectors of a page of the system's cache.
const PAGE: u64 = 8;

/// Which of what was not flushed is on the disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kept {
    /// Nothing.
    Nothing,
    /// All: the power went after the cache had been written back by itself.
    All,
    /// Of each call all or nothing, in any order.
    Calls,
    /// Of each page all or nothing.
    Pages,
    /// Of each sector any of its states.
    Sectors,
}

impl Kept {
    /// Any of them.
    pub fn any(random: &mut Random) -> Self {
        match random.below(10) {
            0 => Self::Nothing,
            1 => Self::All,
            2..5 => Self::Calls,
            5..7 => Self::Pages,
            _ => Self::Sectors,
        }
    }
}

/// A sector's bytes after a call.
#[derive(Clone, Debug)]
struct Version {
    call: u64,
    bytes: [u8; SECTOR],
}

/// A file.
#[derive(Clone, Debug, Default)]
pub struct File {
    /// What the process sees.
    live: Vec<u8>,
    /// What the disk has for sure.
    disk: Vec<u8>,
    /// What was written since, of each sector.
    versions: BTreeMap<u64, Vec<Version>>,
    /// The lengths that it has had since.
    lengths: Vec<usize>,
}

fn at(sector: u64) -> usize {
    usize::try_from(sector).expect("files are small") * SECTOR
}

impl File {
    /// What the process sees.
    pub fn live(&self) -> &[u8] {
        &self.live
    }

    fn version(&self, sector: u64, call: u64) -> Version {
        let mut bytes = [0; SECTOR];
        let there = self.live.get(at(sector)..).unwrap_or_default();
        let length = there.len().min(SECTOR);
        bytes[..length].copy_from_slice(&there[..length]);
        Version { call, bytes }
    }

    /// Bytes were written by the call of this number.
    pub fn write(&mut self, offset: u64, bytes: &[u8], call: u64) {
        let start = usize::try_from(offset).expect("files are small");
        let end = start + bytes.len();
        if end > self.live.len() {
            self.live.resize(end, 0);
            self.lengths.push(end);
        }
        self.live[start..end].copy_from_slice(bytes);
        let sector = |byte: usize| u64::try_from(byte / SECTOR).expect("files are small");
        for touched in sector(start)..sector(end.next_multiple_of(SECTOR)) {
            let version = self.version(touched, call);
            self.versions.entry(touched).or_default().push(version);
        }
    }

    /// The file got this length.
    pub fn truncate(&mut self, length: u64) {
        let length = usize::try_from(length).expect("files are small");
        self.live.resize(length, 0);
        self.lengths.push(length);
    }

    /// All that was written is on the disk.
    pub fn flush(&mut self) {
        self.disk.resize(self.live.len(), 0);
        for (sector, versions) in std::mem::take(&mut self.versions) {
            if let Some(last) = versions.last() {
                put(&mut self.disk, sector, &last.bytes);
            }
        }
        self.lengths.clear();
    }

    /// Some of what was written may be on the disk. The rest is forgotten: the cache has it, and takes it for clean.
    pub fn fail_to_flush(&mut self, kept: Kept, random: &mut Random) {
        self.disk = self.image(kept, random);
        self.versions.clear();
        self.lengths.clear();
    }

    /// What the disk may have if the power goes now.
    pub fn image(&self, kept: Kept, random: &mut Random) -> Vec<u8> {
        let length = match (kept, self.lengths.last()) {
            (Kept::Nothing, _) | (_, None) => self.disk.len(),
            (Kept::All, Some(last)) => *last,
            (_, Some(_)) => {
                let choice = random.below(self.lengths.len() as u64 + 1);
                let choice = usize::try_from(choice).expect("it is one of few");
                if choice == 0 { self.disk.len() } else { self.lengths[choice - 1] }
            }
        };
        let mut image = self.disk.clone();
        image.resize(length, 0);
        let salt = random.number();
        let coin = |number: u64| Random::new(salt ^ number).number().is_multiple_of(2);
        for (sector, versions) in &self.versions {
            let chosen = match kept {
                Kept::Nothing => None,
                Kept::All => versions.last(),
                Kept::Calls => versions.iter().rfind(|version| coin(version.call)),
                Kept::Pages => versions.last().filter(|_| coin(sector / PAGE)),
                Kept::Sectors => {
                    let choice = random.below(versions.len() as u64 + 1);
                    usize::try_from(choice).ok().and_then(|choice| versions.get(choice))
                }
            };
            if let Some(version) = chosen {
                put(&mut image, *sector, &version.bytes);
            }
        }
        image
    }
}

/// Puts a sector in its place, as far as the file goes.
fn put(bytes: &mut [u8], sector: u64, data: &[u8; SECTOR]) {
    let place = bytes.get_mut(at(sector)..).unwrap_or_default();
    let length = place.len().min(SECTOR);
    place[..length].copy_from_slice(&data[..length]);
}
