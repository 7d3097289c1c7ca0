//! A disk that has what was flushed for sure, and of the rest whatever chance gives it: in any order, in pieces of a
//! sector, names as well as bytes.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs;
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use super::file::{File, Kept};
use super::log::Note;
use crate::random::Random;

/// The name of a lock file, which is written through a map: its bytes are not known, and don't matter.
const LOCK: &str = "lock.mdb";

#[derive(Clone, Debug)]
enum Node {
    File(File),
    /// What it holds as the process sees it, and on the disk.
    Directory {
        live: BTreeMap<String, usize>,
        disk: BTreeMap<String, usize>,
    },
}

/// A directory and a name in it.
type Name = (usize, String);

/// One change of names, which happens whole or not at all.
#[derive(Clone, Debug)]
struct Renaming(Vec<(Name, Option<usize>)>);

impl Renaming {
    fn names(&self) -> impl Iterator<Item = &Name> {
        self.0.iter().map(|(name, _)| name)
    }
}

/// The disk under one directory.
#[derive(Debug)]
pub struct Disk {
    root: PathBuf,
    /// The first is the root.
    nodes: Vec<Node>,
    /// By the numbers that the system gave them.
    files: HashMap<u64, usize>,
    /// Changes of names that were not flushed.
    renamings: Vec<Renaming>,
    calls: u64,
    /// Whether flushes do nothing, as with a disk that lies.
    ignores_flushes: bool,
    /// What a flush that failed has left on the disk.
    random: Random,
}

impl Disk {
    /// An empty one, where the process's directory was `root`.
    pub fn new(root: &Path, ignores_flushes: bool, seed: u64) -> Self {
        let empty = Node::Directory { live: BTreeMap::new(), disk: BTreeMap::new() };
        Self {
            root: root.to_owned(),
            nodes: vec![empty],
            files: HashMap::new(),
            renamings: Vec::new(),
            calls: 0,
            ignores_flushes,
            random: Random::new(seed),
        }
    }

    fn live(&self, directory: usize) -> &BTreeMap<String, usize> {
        match &self.nodes[directory] {
            Node::Directory { live, .. } => live,
            Node::File(_) => panic!("node {directory} is a file"),
        }
    }

    /// The directory that a path is in, and its name there.
    fn name(&self, path: &Path) -> Name {
        let (parent, name) = (path.parent().expect("a parent"), path.file_name().expect("a name"));
        let directory = self.find(parent).unwrap_or_else(|| panic!("{} is unknown", parent.display()));
        (directory, name.to_str().expect("text").to_owned())
    }

    fn find(&self, path: &Path) -> Option<usize> {
        let mut node = 0;
        for part in path.strip_prefix(&self.root).expect("only what is below the root is noted") {
            node = *self.live(node).get(part.to_str()?)?;
        }
        Some(node)
    }

    fn rename(&mut self, changes: Vec<(Name, Option<usize>)>) {
        for ((directory, name), node) in &changes {
            let Node::Directory { live, .. } = &mut self.nodes[*directory] else { panic!("no directory") };
            match node {
                Some(node) => live.insert(name.clone(), *node),
                None => live.remove(name),
            };
        }
        self.renamings.push(Renaming(changes));
    }

    fn add(&mut self, path: &Path, node: Node) -> usize {
        let number = self.nodes.len();
        self.nodes.push(node);
        let name = self.name(path);
        self.rename(vec![(name, Some(number))]);
        number
    }

    fn file(&mut self, number: u64) -> &mut File {
        let node = self.files.get(&number).unwrap_or_else(|| panic!("file {number} is unknown"));
        match &mut self.nodes[*node] {
            Node::File(file) => file,
            Node::Directory { .. } => panic!("file {number} is a directory"),
        }
    }

    /// Does what was done.
    pub fn apply(&mut self, note: &Note) {
        self.calls += 1;
        let (call, flushes) = (self.calls, !self.ignores_flushes);
        match note {
            Note::Open { file, emptied, path } => {
                if let Some(node) = self.find(path) {
                    self.files.insert(*file, node);
                    if *emptied {
                        self.file(*file).truncate(0);
                    }
                } else {
                    let node = self.add(path, Node::File(File::default()));
                    self.files.insert(*file, node);
                }
            }
            Note::Write { file, offset, flushed, bytes } => {
                self.file(*file).write(*offset, bytes, call);
                if *flushed && flushes {
                    self.file(*file).flush();
                }
            }
            Note::Truncate { file, length } => self.file(*file).truncate(*length),
            Note::Sync { file, failed: false } if flushes => self.file(*file).flush(),
            Note::Sync { file, failed: true } => {
                let mut random = Random::new(self.random.number());
                let kept = Kept::any(&mut random);
                self.file(*file).fail_to_flush(kept, &mut random);
            }
            Note::SyncDirectory { path, failed: false } if flushes => {
                if let Some(directory) = self.find(path) {
                    self.flush_names(directory);
                }
            }
            // File systems keep changes of names in a journal: one that can't be written now is written later, or
            // nothing is any more.
            Note::Sync { .. } | Note::SyncDirectory { .. } | Note::Ack(_) | Note::Fault(_) => {}
            Note::Link(from, to) => {
                let node = self.find(from).expect("it was there");
                let name = self.name(to);
                self.rename(vec![(name, Some(node))]);
            }
            Note::Rename(from, to) => {
                let node = self.find(from).expect("it was there");
                let (from, to) = (self.name(from), self.name(to));
                self.rename(vec![(from, None), (to, Some(node))]);
            }
            Note::Unlink(path) | Note::Rmdir(path) => {
                let name = self.name(path);
                self.rename(vec![(name, None)]);
            }
            Note::Mkdir(path) => {
                self.add(path, Node::Directory { live: BTreeMap::new(), disk: BTreeMap::new() });
            }
        }
    }

    /// The changes of this directory's names are on the disk, with those that they rest on.
    fn flush_names(&mut self, directory: usize) {
        let mut names = BTreeSet::new();
        let mut flushed = vec![false; self.renamings.len()];
        for (renaming, flushed) in self.renamings.iter().zip(&mut flushed).rev() {
            *flushed = renaming.names().any(|name| name.0 == directory || names.contains(name));
            if *flushed {
                names.extend(renaming.names().cloned());
            }
        }
        let mut left = Vec::new();
        for (renaming, flushed) in std::mem::take(&mut self.renamings).into_iter().zip(flushed) {
            if flushed {
                for ((directory, name), node) in renaming.0 {
                    let Node::Directory { disk, .. } = &mut self.nodes[directory] else { panic!("a file") };
                    change(disk, name, node);
                }
            } else {
                left.push(renaming);
            }
        }
        self.renamings = left;
    }

    /// Puts what the disk may have if the power goes now into an empty directory.
    pub fn image(&self, kept: Kept, random: &mut Random, place: &Path) -> io::Result<()> {
        let mut names: HashMap<usize, BTreeMap<String, usize>> = HashMap::new();
        for (number, node) in self.nodes.iter().enumerate() {
            if let Node::Directory { disk, .. } = node {
                names.insert(number, disk.clone());
            }
        }
        let mut lost: BTreeSet<&Name> = BTreeSet::new();
        for renaming in &self.renamings {
            let chosen = match kept {
                Kept::Nothing => false,
                Kept::All => true,
                _ => random.below(2) == 0,
            };
            // Of one name, no change comes before the one before it.
            if chosen && renaming.names().all(|name| !lost.contains(name)) {
                for ((directory, name), node) in &renaming.0 {
                    change(names.entry(*directory).or_default(), name.clone(), *node);
                }
            } else {
                lost.extend(renaming.names());
            }
        }
        self.put(0, &names, kept, random, place)
    }

    fn put(
        &self,
        directory: usize,
        names: &HashMap<usize, BTreeMap<String, usize>>,
        kept: Kept,
        random: &mut Random,
        place: &Path,
    ) -> io::Result<()> {
        for (name, node) in &names[&directory] {
            let place = place.join(name);
            match &self.nodes[*node] {
                // Two names of one file become two files: an image is looked at, and gone.
                Node::File(file) => put_file(&place, &file.image(kept, random))?,
                Node::Directory { .. } => {
                    fs::create_dir(&place)?;
                    self.put(*node, names, kept, random, &place)?;
                }
            }
        }
        Ok(())
    }

    /// Whether what the process sees by the notes is what is really there; else what differs.
    pub fn differs_from(&self, place: &Path) -> io::Result<Option<String>> {
        self.differs(0, place)
    }

    fn differs(&self, directory: usize, place: &Path) -> io::Result<Option<String>> {
        let mut there = BTreeSet::new();
        for entry in fs::read_dir(place)? {
            there.insert(entry?.file_name().into_string().expect("text"));
        }
        let live = self.live(directory);
        if !live.keys().eq(&there) {
            return Ok(Some(format!("{} holds {there:?}, not {:?}", place.display(), live.keys())));
        }
        for (name, node) in live {
            let path = place.join(name);
            let found = match &self.nodes[*node] {
                Node::File(_) if name == LOCK => None,
                Node::File(file) => {
                    let same = fs::read(&path)? == file.live();
                    (!same).then(|| format!("{} has other bytes", path.display()))
                }
                Node::Directory { .. } => self.differs(*node, &path)?,
            };
            if found.is_some() {
                return Ok(found);
            }
        }
        Ok(None)
    }
}

/// Writes a file, as closed to other users as the files of keys must be.
fn put_file(place: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut options = fs::File::options();
    options.write(true).create_new(true).mode(0o600);
    options.open(place)?.write_all(bytes)
}

fn change(names: &mut BTreeMap<String, usize>, name: String, node: Option<usize>) {
    match node {
        Some(node) => names.insert(name, node),
        None => names.remove(&name),
    };
}
