//! `tables shell`: by lines of a file, and by keys of a terminal.

use std::fs::File;
use std::io::{Read, Write};
use std::process::{Child, Command, Stdio};

use snapbox::str;

use crate::fixture::{company, copy};
use crate::run::{binary, same};
use crate::terminal;

fn lines(store: &str, input: &str) -> crate::run::Ran {
    let state = tempfile::tempdir().unwrap();
    let state = state.path().to_str().unwrap();
    binary(&["shell", "--store", store], &[("XDG_STATE_HOME", state)], input)
}

#[test]
fn lines_are_commands() {
    let input = "\
# a remark
query Company \"PartitionKey eq 'Sales' and Age ge 50\" --select Age

tables get Notes 2014 two --format csv
set format md
query Notes \"PartitionKey eq '2015'\" --select Text
set
help
exit
ls
";
    let ran = lines(company().store(), input);
    let shown = ran.shown().replace(company().store(), "<store>");
    same(
        shown,
        str![[r#"
{"PartitionKey":"Sales","RowKey":"empid_000008","Age":55}
PartitionKey,RowKey,Bytes,Timestamp,ETag
2014,two,X'c0ffee',<time>,"W/""datetime'<time>'"""
| PartitionKey | RowKey | Text |
| --- | --- | --- |
| 2015 | three | A new year, and two lines. |
store   <store>
format  md
keys    none
write   off
A line is a command without `tables`, as in: query Company "Age ge 40" --top 3
  commands                  lists the commands; COMMAND --help explains one
  set                       shows the settings
  set format FORMAT         table, jsonl, json, csv, md or line; it is kept for the next time
  set store STORE           goes to another store
  set keys FILE             opens sealed values by this key ring; `set keys` closes them again
  set write on              lets commands change the store, until `set write off`
  exit                      ends the shell
[0]

"#]],
    );
}

#[test]
fn a_line_that_fails_ends_nothing() {
    let input = "look\nget Company Sales nobody\nget 'Company\nset colour red\nset format pink\nshell\nquery Notes --count\n";
    let ran = lines(company().store(), input);
    assert_eq!((ran.out.as_str(), ran.code), ("{\"count\":3}\n", 2), "{}", ran.err);
    assert!(ran.err.contains("no row") && ran.err.contains("quote") && ran.err.contains("this is the shell"));
}

#[test]
fn writing_is_let_and_taken_back() {
    let (_directory, place) = copy();
    let input = "\
put Notes p 1 A=1
set write on
put Notes p 2 A=2
compact
set write off
put Notes p 3 A=3
put Notes p 4 A=4 --write
query Notes \"PartitionKey eq 'p'\"
";
    let ran = lines(place.store(), input);
    let rows = "{\"PartitionKey\":\"p\",\"RowKey\":\"2\",\"A\":\"2\"}\n{\"PartitionKey\":\"p\",\"RowKey\":\"4\",\"A\":\"4\"}\n";
    assert!(ran.out.ends_with(rows), "{}", ran.shown());
    assert_eq!(ran.err.matches("say so by --write").count(), 2, "{}", ran.err);
}

#[test]
fn another_store_and_keys_are_gone_to() {
    let (_directory, place) = copy();
    let sealed = "query Payroll --select Salary --top 1";
    let input = format!(
        "{sealed}\nset keys {}\n{sealed}\nset keys\n{sealed}\nset store /nowhere\n{sealed}\n",
        place.ring()
    );
    let ran = lines(place.store(), &input);
    let row = |salary: &str| {
        format!("{{\"PartitionKey\":\"contoso\",\"RowKey\":\"contract_0001\",\"Salary\":{salary}}}\n")
    };
    let [closed, open] = [row("\"(sealed)\""), row("90000")];
    assert_eq!(ran.out, format!("{closed}{open}{closed}{closed}"), "{}", ran.err);
    assert_eq!(ran.code, 3);
    assert!(ran.err.contains("no store at `/nowhere`"), "{}", ran.err);
}

#[test]
fn a_store_that_is_not_there_begins_no_shell() {
    let ran = lines("/nowhere/at.all", "ls\n");
    assert_eq!((ran.out.as_str(), ran.code), ("", 3), "{}", ran.err);
}

/// A shell in a terminal.
struct Terminal {
    child: Child,
    keys: File,
    screen: String,
    /// How far the screen has been read.
    read: usize,
}

impl Terminal {
    fn open(store: &str, state: &str) -> Self {
        let (keys, user) = terminal::open();
        let child = Command::new(env!("CARGO_BIN_EXE_tables"))
            .args(["shell", "--store", store])
            .env("XDG_STATE_HOME", state)
            .env("TERM", "xterm")
            .stdin(Stdio::from(user.try_clone().unwrap()))
            .stdout(Stdio::from(user.try_clone().unwrap()))
            .stderr(Stdio::from(user))
            .spawn()
            .unwrap();
        Self { child, keys, screen: String::new(), read: 0 }
    }

    /// Returns what comes on the screen until the next line is asked for.
    fn read(&mut self) -> String {
        // A terminal is told when it is asked for a line, so that what is pasted is known.
        const ASKED: &str = "\u{1b}[?2004h";
        loop {
            if let Some((answer, _)) = self.screen[self.read..].split_once(ASKED) {
                self.read += answer.len() + ASKED.len();
                return answer.to_owned();
            }
            let mut piece = [0; 4096];
            let read = self.keys.read(&mut piece).unwrap_or(0);
            assert!(read > 0, "the shell has ended: {:?}", self.screen);
            self.screen.push_str(&String::from_utf8_lossy(&piece[..read]));
        }
    }

    /// Presses keys, and returns what comes on the screen of that.
    fn press(&mut self, keys: &str) -> String {
        self.keys.write_all(keys.as_bytes()).unwrap();
        self.read()
    }

    fn close(mut self) -> String {
        self.keys.write_all(b"\x04").unwrap();
        // The terminal is gone when the last who has it open ends.
        let mut rest = Vec::new();
        drop(self.keys.read_to_end(&mut rest));
        assert!(self.child.wait().unwrap().success());
        self.screen + &String::from_utf8_lossy(&rest)
    }
}

#[test]
fn a_terminal_has_history_completion_and_settings_that_last() {
    let state = tempfile::tempdir().unwrap();
    let path = state.path().to_str().unwrap();
    let mut terminal = Terminal::open(company().store(), path);
    assert!(terminal.read().contains("`help` lists"));
    let answer = terminal.press("query Comp\t --cou\t\r");
    assert!(
        answer.contains("company> query Company --count") && answer.contains("count  6\r\n"),
        "{answer:?}"
    );
    let answer = terminal.press("get Company/employee.by_e\t department=Sales Em\tmia@contoso.com\r");
    assert!(answer.contains("Edm.Int32     41"), "{answer:?}");
    terminal.press("set format csv\r");
    // The line before the last two.
    let answer = terminal.press("\u{1b}[A\u{1b}[A\u{1b}[A\r");
    assert!(answer.contains("count\r\n6\r\n"), "{answer:?}");
    terminal.close();

    let mut terminal = Terminal::open(company().store(), path);
    terminal.read();
    let answer = terminal.press("query Notes \"PartitionKey eq '2015'\" --select Weight\r");
    assert!(answer.contains("PartitionKey,RowKey,Weight\r\n2015,three,\r\n"), "{answer:?}");
    // A line is given up by Ctrl-C, and the shell goes on.
    terminal.press("drop Comp\u{3}");
    assert!(!terminal.close().contains("panicked"));
    let history = std::fs::read_to_string(state.path().join("tables").join("history")).unwrap();
    assert!(history.contains("query Company --count") && history.contains("--select Weight"), "{history}");
    let settings = std::fs::read_to_string(state.path().join("tables").join("settings")).unwrap();
    assert_eq!(settings, "format = csv\n");
}

#[test]
fn data_go_in_and_out() {
    let (directory, place) = copy();
    let file = directory.path().join("notes.jsonl");
    let input = format!(
        "export Notes -o {file}\nimport --write Again {file}\ndiff {store} {file} --table Notes\nset write on\n\
         import More -\n{{\"PartitionKey\":\"p\",\"RowKey\":\"1\"}}\n",
        file = file.display(),
        store = place.store(),
    );
    let ran = lines(place.store(), &input);
    assert_eq!(ran.code, 0, "{}", ran.shown());
    assert_eq!(ran.out.matches("\"written\":3,").count(), 1, "{}", ran.shown());
    assert_eq!(ran.out.matches("\"written\":1,").count(), 1, "{}", ran.shown());
}

#[test]
fn what_lets_its_bearer_in_is_no_history() {
    let state = tempfile::tempdir().unwrap();
    let mut terminal = Terminal::open(company().store(), state.path().to_str().unwrap());
    terminal.read();
    terminal.press("set store mysql://jun:c2VjcmV0@127.0.0.1/company\r");
    terminal.press("ls --store AccountKey=c2VjcmV0\r");
    terminal.press("query Notes --count\r");
    terminal.close();
    let history = std::fs::read_to_string(state.path().join("tables").join("history")).unwrap();
    assert!(history.contains("query Notes") && !history.contains("c2VjcmV0"), "{history}");
}
