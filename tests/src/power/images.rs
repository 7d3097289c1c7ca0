//! Images of a disk along a log, each made anew from its number.

use std::io;
use std::path::Path;

use super::disk::Disk;
use super::file::Kept;
use super::log::Note;
use crate::random::Random;

/// Which images to make.
#[derive(Clone, Debug)]
pub struct Images<'a> {
    /// What was done.
    pub notes: &'a [Note],
    /// Where it was done.
    pub root: &'a Path,
    /// What chance depends on.
    pub seed: u64,
    /// How many there are along the whole log.
    pub count: u64,
    /// Whether the disk lies about flushes.
    pub ignores_flushes: bool,
}

impl Images<'_> {
    /// The place in the log of an image: they are spread over it, and come at every place if there are enough.
    fn place(&self, number: u64) -> u64 {
        let places = self.notes.len() as u64 + 1;
        if self.count >= places {
            number * places / self.count
        } else {
            let within = Random::new(self.seed ^ number).below(places);
            (number * places + within) / self.count
        }
    }

    /// Makes the images of these numbers, each in a directory of its own that is removed again, and gives each with
    /// what had been acknowledged.
    pub fn each(
        &self,
        numbers: std::ops::Range<u64>,
        scratch: &Path,
        mut look: impl FnMut(u64, &Path, &[String]),
    ) -> io::Result<()> {
        let mut disk = Disk::new(self.root, self.ignores_flushes, self.seed);
        let (mut notes, mut acks, mut place) = (self.notes.iter(), Vec::new(), 0);
        for number in numbers {
            let end = self.place(number);
            for note in notes.by_ref().take(usize::try_from(end.saturating_sub(place)).unwrap_or(0)) {
                disk.apply(note);
                if let Note::Ack(line) = note {
                    acks.push(line.clone());
                }
            }
            place = place.max(end);
            let mut random = Random::new(self.seed ^ number.rotate_left(32));
            let image = scratch.join(format!("image {number}"));
            std::fs::create_dir(&image)?;
            disk.image(Kept::any(&mut random), &mut random, &image)?;
            look(number, &image, &acks);
            std::fs::remove_dir_all(&image)?;
        }
        Ok(())
    }
}
