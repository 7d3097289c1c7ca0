//! Programs that work on one store in processes of their own and in lock step: one of them acts at a time, as a line on
//! its input says, and a line says as well what comes in between a program's read and its write. So what they do together comes again with
//! the same seed.

pub mod releases;
pub mod versions;

use std::fmt::Debug;
use std::time::{Duration, Instant};

use table_core::{Error, ErrorKind};

use crate::child::Child;

/// What a program says in the middle of a change: it has read, and has not written.
pub const MEANWHILE: &str = "meanwhile";

/// A program, in whichever process.
pub trait Program {
    /// Does what the line says, and says what it came to. A change that is asked for so calls `meanwhile` when it has read.
    fn act(&mut self, line: &str, meanwhile: &mut dyn FnMut()) -> String;
}

/// What was done, or why not.
pub fn told(outcome: Result<String, Error>) -> String {
    match outcome {
        Ok(found) => format!("ok {found}"),
        Err(error) => {
            let part = |key: Option<&str>| key.unwrap_or("-").to_owned();
            let (partition, row) = (part(error.partition_key()), part(error.row_key()));
            let text = error.to_string().replace('\n', " ");
            format!("no {:?} {partition} {row} {text}", error.kind())
        }
    }
}

/// An answer of a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// What was found.
    Done(String),
    /// The kind of the error, its keys, and its text.
    Refused(String, (String, String), String),
}

impl Answer {
    /// Reads what [`told`] has written.
    ///
    /// # Panics
    ///
    /// If it is nothing of the sort.
    pub fn of(line: &str) -> Self {
        if let Some(found) = line.strip_prefix("ok ") {
            return Self::Done(found.to_owned());
        }
        let words: Vec<_> = line.splitn(5, ' ').collect();
        let ["no", kind, partition, row, text] = words[..] else { panic!("no answer: {line}") };
        Self::Refused(kind.to_owned(), (partition.to_owned(), row.to_owned()), text.to_owned())
    }

    /// What was found, or the error's kind.
    pub fn outcome(&self) -> Result<&str, &str> {
        match self {
            Self::Done(found) => Ok(found),
            Self::Refused(kind, ..) => Err(kind),
        }
    }

    /// Whether it is an error of this kind.
    pub fn is(&self, kind: ErrorKind) -> bool {
        self.is_any(&[kind])
    }

    /// Whether it is an error of one of these kinds.
    pub fn is_any(&self, kinds: &[ErrorKind]) -> bool {
        self.outcome().is_err_and(|is| kinds.iter().any(|kind| *is == format!("{kind:?}")))
    }
}

/// A program of this process, or of another one.
pub enum Peer<P> {
    /// Here.
    Here(P),
    /// In a process.
    There(Child),
    /// Nowhere: it was killed.
    Gone,
}

impl<P: Program> Peer<P> {
    /// Has the program do something, and `meanwhile` in the middle of it, if it is asked for so.
    ///
    /// # Panics
    ///
    /// If the process is gone.
    pub fn ask(&mut self, line: &str, meanwhile: &mut dyn FnMut()) -> Answer {
        match self {
            Self::Here(program) => Answer::of(&program.act(line, meanwhile)),
            Self::There(child) => {
                child.say(line);
                loop {
                    let answer = child.line();
                    if answer != MEANWHILE {
                        return Answer::of(&answer);
                    }
                    meanwhile();
                    child.say(MEANWHILE);
                }
            }
            Self::Gone => panic!("nobody is there to be asked"),
        }
    }
}

impl<P> Debug for Peer<P> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Here(_) => "here",
            Self::There(_) => "there",
            Self::Gone => "gone",
        })
    }
}

/// Two programs on one store: one of this process, and one of another, which is killed now and then.
#[derive(Debug)]
pub struct Pair<P> {
    peers: [Peer<P>; 2],
    /// Starts the other process.
    command: Vec<String>,
}

impl<P: Program> Pair<P> {
    /// This program, and one that is started by the command: a program file, a role, and what it is told.
    pub fn new(here: P, command: &[&str]) -> Self {
        let command: Vec<_> = command.iter().map(|&word| word.to_owned()).collect();
        let there = start(&command);
        Self { peers: [Peer::Here(here), Peer::There(there)], command }
    }

    /// Has one of them do something.
    pub fn ask(&mut self, who: usize, line: &str) -> Answer {
        self.peers[who].ask(line, &mut || ())
    }

    /// Has one of them make a change, and gives the other to `meanwhile` when it has read and not written.
    pub fn ask_with(&mut self, who: usize, line: &str, meanwhile: impl FnOnce(&mut Peer<P>)) -> Answer {
        let [here, there] = &mut self.peers;
        let (one, other) = if who == 0 { (here, there) } else { (there, here) };
        let mut meanwhile = Some(meanwhile);
        one.ask(line, &mut || {
            if let Some(meanwhile) = meanwhile.take() {
                meanwhile(other);
            }
        })
    }

    /// Kills the other process while it waits, and starts it anew.
    pub fn kill(&mut self) {
        self.killed_now();
    }

    /// Has the other process make a change, and kills it when it has read and not written; its answer, if it gave one before.
    pub fn killed_meanwhile(&mut self, line: &str) -> Option<Answer> {
        let Peer::There(child) = &mut self.peers[1] else { panic!("the other is a process") };
        child.say(line);
        let said = child.line();
        self.kill();
        (said != MEANWHILE).then(|| Answer::of(&said))
    }

    /// Has the other process do something, and kills it so long afterwards; its answer, if it was quicker.
    pub fn killed_during(&mut self, line: &str, after: Duration) -> Option<Answer> {
        let Peer::There(child) = &mut self.peers[1] else { panic!("the other is a process") };
        child.say(line);
        let begun = Instant::now();
        while begun.elapsed() < after {
            std::hint::spin_loop();
        }
        let said = self.killed_now();
        said.first().map(|said| Answer::of(said))
    }

    /// Kills the other process, and starts it anew; what the old one had still said.
    fn killed_now(&mut self) -> Vec<String> {
        let former = std::mem::replace(&mut self.peers[1], Peer::Gone);
        let said = match former {
            Peer::There(child) => child.kill(),
            Peer::Here(_) | Peer::Gone => Vec::new(),
        };
        self.peers[1] = Peer::There(start(&self.command));
        said
    }
}

fn start(command: &[String]) -> Child {
    let [program, role, arguments @ ..] = command else { panic!("a program and its role") };
    let mut child = Child::start(program, role, arguments);
    child.expect("ready");
    child
}

/// The words of a line.
///
/// # Panics
///
/// If there are fewer than are asked for.
pub fn words<const N: usize>(line: &str) -> [&str; N] {
    let words: Vec<_> = line.split(' ').collect();
    words.try_into().unwrap_or_else(|words| panic!("{N} words, and not {words:?}"))
}

/// A number of a line.
///
/// # Panics
///
/// If it is none.
pub fn number<T: std::str::FromStr>(word: &str) -> T {
    word.parse().unwrap_or_else(|_| panic!("no number: {word}"))
}
