//! Things that somebody has put in the places of a store's files. Opening such a store ends, by an error that has a
//! kind or well; nothing outside the store is touched; and with the right file back in its place all is there.

#![cfg(target_os = "linux")]

use std::fs;
use std::os::unix::fs::symlink;
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::LazyLock;
use std::time::Duration;

use integration_tests::child::Child;
use integration_tests::power::sealed;
use integration_tests::{Scratch, damage};
use table_core::Durability;

/// What stands in the place of a file or a directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Thing {
    /// A link to a file that is somebody else's.
    Link,
    /// A link to a directory that is somebody else's.
    LinkToDirectory,
    /// A link to nothing.
    Dangling,
    /// A link to itself.
    Loop,
    /// A directory with a file in it.
    Directory,
    /// A pipe with nobody at its other end.
    Pipe,
    Socket,
    /// A file of no bytes.
    Empty,
    /// The first byte of the file that it replaces.
    Byte,
    /// The first half of the file that it replaces.
    Half,
    /// As many bytes as were there, of no meaning.
    Noise,
    /// A file of zeros.
    Zeros,
    /// Nothing.
    Nothing,
}

const THINGS: [Thing; 13] = [
    Thing::Link,
    Thing::LinkToDirectory,
    Thing::Dangling,
    Thing::Loop,
    Thing::Directory,
    Thing::Pipe,
    Thing::Socket,
    Thing::Empty,
    Thing::Byte,
    Thing::Half,
    Thing::Noise,
    Thing::Zeros,
    Thing::Nothing,
];

/// The files and directories of a store with keys.
const PLACES: [&str; 8] = [
    "ring",
    "store",
    "store/data.mdb",
    "store/lock.mdb",
    "store/keys",
    "store/keys/data.mdb",
    "store/keys/lock.mdb",
    "store/keys/root",
];

/// A store with keys and some rows, jobs that have begun, and queues.
fn prepare(root: &Path) {
    /// It is made once, and copied.
    static MADE: LazyLock<Scratch> = LazyLock::new(|| {
        let scratch = Scratch::new();
        let store = sealed::open(scratch.path(), Durability::Durable).unwrap();
        (0..3).for_each(|id| sealed::put(&store, id, 1).unwrap());
        damage::begin(&store).unwrap();
        scratch
    });
    copy(MADE.path(), root);
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    fs::set_permissions(to, fs::metadata(from).unwrap().permissions()).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        let to = to.join(path.file_name().unwrap());
        if path.is_dir() {
            copy(&path, &to);
        } else {
            fs::copy(path, to).unwrap();
        }
    }
}

fn place(root: &Path, name: &str) -> PathBuf {
    if name != "store/keys/root" {
        return root.join(name);
    }
    let keys = fs::read_dir(root.join("store/keys")).unwrap().map(|entry| entry.unwrap());
    let mut roots = keys.filter(|entry| entry.file_name().to_str().unwrap().starts_with("root-"));
    roots.next().unwrap().path()
}

/// Puts a thing in the place of what is there, which is kept.
fn replace(place: &Path, kept: &Path, others: &Path, thing: Thing) {
    fs::rename(place, kept).unwrap();
    let bytes = fs::read(kept).unwrap_or_default();
    match thing {
        Thing::Link => symlink(others.join("file"), place).unwrap(),
        Thing::LinkToDirectory => symlink(others, place).unwrap(),
        Thing::Dangling => symlink(others.join("nothing"), place).unwrap(),
        Thing::Loop => symlink(place, place).unwrap(),
        Thing::Directory => {
            fs::create_dir(place).unwrap();
            fs::write(place.join("file"), "somebody's").unwrap();
        }
        Thing::Pipe => assert!(Command::new("mkfifo").arg(place).status().unwrap().success()),
        Thing::Socket => drop(UnixListener::bind(place).unwrap()),
        Thing::Empty => fs::write(place, "").unwrap(),
        Thing::Byte => fs::write(place, bytes.get(..1).unwrap_or_default()).unwrap(),
        Thing::Half => fs::write(place, &bytes[..bytes.len() / 2]).unwrap(),
        Thing::Noise => {
            let noise = (0..bytes.len().max(100)).map(|at| (at * 131 % 251) as u8);
            fs::write(place, noise.collect::<Vec<_>>()).unwrap();
        }
        Thing::Zeros => fs::write(place, vec![0; bytes.len().max(100)]).unwrap(),
        Thing::Nothing => {}
    }
}

/// What another process says that opening came to.
fn open(root: &Path) -> Result<String, String> {
    let mut command = Command::new(env!("CARGO_BIN_EXE_power-child"));
    let mut child = Child::spawn(command.arg("open").arg(root).stderr(Stdio::inherit()));
    let line = child.next_within(Duration::from_secs(20)).map_err(|_| "it hangs".to_owned())?;
    let status = child.end().0;
    line.filter(|_| status.success()).ok_or_else(|| format!("it died: {status}"))
}

/// Everything below a directory, with its bytes.
fn contents(dir: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut found = Vec::new();
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(contents(&path));
        } else {
            let bytes = fs::read(&path).unwrap();
            found.push((path, bytes));
        }
    }
    found.sort();
    found
}

#[test]
fn whatever_stands_in_a_files_place_opening_ends_and_harms_nobody() {
    let mut bad = Vec::new();
    let mut refused = 0;
    for name in PLACES {
        for thing in THINGS {
            let scratch = Scratch::new();
            let [root, others, kept] = ["root", "others", "kept"].map(|name| scratch.path().join(name));
            fs::create_dir_all(&root).unwrap();
            fs::create_dir_all(others.join("deeper")).unwrap();
            fs::write(others.join("file"), "somebody else's").unwrap();
            fs::write(others.join("deeper/data.mdb"), "somebody else's, too").unwrap();
            prepare(&root);
            let place = place(&root, name);
            replace(&place, &kept, &others, thing);
            let before = contents(&others);
            let outcome = open(&root);
            // A store, or keys, in the directory that the link leads to are what the link is for.
            let is_meant = thing == Thing::LinkToDirectory && ["store", "store/keys"].contains(&name);
            let mut after = contents(&others);
            after.retain(|(path, _)| !is_meant || before.iter().any(|(known, _)| known == path));
            if after != before {
                bad.push(format!("{name}, {thing:?}: what others have was changed ({outcome:?})"));
            }
            match outcome {
                Ok(word) => refused += u64::from(word != "Ok"),
                Err(text) => bad.push(format!("{name}, {thing:?}: {text}")),
            }
            if place.is_dir() && !place.is_symlink() {
                fs::remove_dir_all(&place).unwrap();
            } else if place.symlink_metadata().is_ok() {
                fs::remove_file(&place).unwrap();
            }
            fs::rename(&kept, &place).unwrap();
            let rows: Vec<String> = (0..3).map(|id| format!("put {id} 1")).collect();
            let whole = sealed::open(&root, Durability::Durable).map_err(|error| error.to_string());
            let checked = whole.and_then(|store| {
                sealed::check(&store, &rows)?;
                damage::check_begun(&store).map_err(|error| error.to_string())
            });
            if let Err(text) = checked {
                bad.push(format!("{name}, {thing:?}, and back: {text}"));
            }
        }
    }
    assert!(bad.is_empty(), "{}: {bad:#?}", bad.len());
    assert!(refused > 40, "{refused}");
}

#[test]
fn a_link_among_what_attempts_have_left_is_not_followed() {
    let scratch = Scratch::new();
    let [root, others] = ["root", "others"].map(|name| scratch.path().join(name));
    fs::create_dir_all(&root).unwrap();
    fs::create_dir_all(&others).unwrap();
    fs::write(others.join("file"), "somebody else's").unwrap();
    prepare(&root);
    for dir in ["store", "store/keys"] {
        let left = root.join(dir).join(".new-1-2-3");
        symlink(&others, root.join(dir).join(".new-4-5-6")).unwrap();
        fs::create_dir(&left).unwrap();
        symlink(&others, left.join("data.mdb")).unwrap();
        symlink(others.join("file"), left.join("lock.mdb")).unwrap();
    }
    assert_eq!(open(&root).unwrap(), "Ok");
    assert_eq!(fs::read_to_string(others.join("file")).unwrap(), "somebody else's");
    assert_eq!(fs::read_dir(&others).unwrap().count(), 1);
    assert!(!root.join("store/.new-1-2-3").exists());
}
