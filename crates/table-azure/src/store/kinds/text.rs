//! The states of a kind as text, a line for each thing that there is to say.
//!
//! The parts of a line have a tab between two. A key may have any character, so that tabs, ends of lines and the sign that
//! escapes are escaped in it.

use std::str::Split;

use table_engine::__executor as seam;
use table_engine::schema::{Blocked, IndexState, KindState};
use table_engine::{ErrorKind, Result};

use super::KindRecord;

/// Returns the text of what is noted.
pub(super) fn write(record: &KindRecord) -> String {
    let mut text = String::new();
    line(&mut text, "epoch", &[&record.states.epoch.to_string()]);
    match &record.states.kind {
        KindState::Stable => {}
        KindState::Converting { from } => line(&mut text, "converting", &[&from.to_string()]),
        KindState::Stopped { from, entity, why } => {
            line(&mut text, "stopped", &[&from.to_string(), &entity.0, &entity.1, why]);
        }
    }
    for (name, state) in &record.states.indexes {
        match state {
            IndexState::Absent => line(&mut text, "absent", &[name]),
            IndexState::Purge => line(&mut text, "purge", &[name]),
            IndexState::Backfill => line(&mut text, "backfill", &[name]),
            IndexState::Ready { .. } => line(&mut text, "ready", &[name]),
            IndexState::Dropping => line(&mut text, "dropping", &[name]),
            IndexState::Blocked(Blocked { key, has, wants }) => {
                line(&mut text, "blocked", &[name, &key.0, &key.1, &has.0, &has.1, &wants.0, &wants.1]);
            }
        }
    }
    for name in &record.opening {
        line(&mut text, "opening", &[name]);
    }
    if record.is_moving {
        line(&mut text, "moving", &[]);
    }
    text
}

/// Reads the text of what is noted.
pub(super) fn read(text: &str) -> Result<KindRecord> {
    let damaged = || seam::error(ErrorKind::Corrupt, "what is noted of the states of a kind is damaged");
    let mut record = KindRecord::default();
    text.lines().try_for_each(|line| read_line(&mut record, line)).ok_or_else(damaged)?;
    Ok(record)
}

fn read_line(record: &mut KindRecord, line: &str) -> Option<()> {
    let mut parts = line.split('\t');
    let word = parts.next()?;
    let states = &mut record.states;
    match word {
        "epoch" => states.epoch = next(&mut parts)?.parse().ok()?,
        "converting" => states.kind = KindState::Converting { from: next(&mut parts)?.parse().ok()? },
        "stopped" => {
            let from = next(&mut parts)?.parse().ok()?;
            let entity = pair(&mut parts)?;
            states.kind = KindState::Stopped { from, entity, why: next(&mut parts)? };
        }
        "opening" => record.opening.push(next(&mut parts)?),
        "moving" => record.is_moving = true,
        _ => {
            let name = next(&mut parts)?;
            let state = match word {
                "absent" => IndexState::Absent,
                "purge" => IndexState::Purge,
                "backfill" => IndexState::Backfill,
                // Every read sees what is there when it is made.
                "ready" => IndexState::Ready { since: 0 },
                "dropping" => IndexState::Dropping,
                "blocked" => IndexState::Blocked(Blocked {
                    key: pair(&mut parts)?,
                    has: pair(&mut parts)?,
                    wants: pair(&mut parts)?,
                }),
                _ => return None,
            };
            states.indexes.push((name, state));
        }
    }
    parts.next().is_none().then_some(())
}

fn pair(parts: &mut Split<'_, char>) -> Option<(String, String)> {
    Some((next(parts)?, next(parts)?))
}

fn line(text: &mut String, word: &str, parts: &[&str]) {
    text.push_str(word);
    for part in parts {
        text.push('\t');
        for char in part.chars() {
            match char {
                '\\' => text.push_str("\\\\"),
                '\t' => text.push_str("\\t"),
                '\n' => text.push_str("\\n"),
                '\r' => text.push_str("\\r"),
                other => text.push(other),
            }
        }
    }
    text.push('\n');
}

/// Returns the next part of a line.
fn next(parts: &mut Split<'_, char>) -> Option<String> {
    let (mut text, mut chars) = (String::new(), parts.next()?.chars());
    while let Some(char) = chars.next() {
        text.push(match char {
            '\\' => match chars.next()? {
                't' => '\t',
                'n' => '\n',
                'r' => '\r',
                '\\' => '\\',
                _ => return None,
            },
            other => other,
        });
    }
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use table_engine::schema::IndexStates;

    #[test]
    fn every_state_comes_back_whatever_is_in_the_keys() {
        let pair = |text: &str| (text.to_owned(), format!("{text}\t\n\r\\t"));
        let blocked = Blocked { key: pair("k"), has: pair("a"), wants: pair("") };
        let indexes = [
            IndexState::Absent,
            IndexState::Purge,
            IndexState::Backfill,
            IndexState::Ready { since: 0 },
            IndexState::Dropping,
            IndexState::Blocked(blocked),
        ];
        let indexes = indexes.into_iter().enumerate().map(|(at, state)| (format!("i{at}"), state)).collect();
        let kinds = [
            KindState::Stable,
            KindState::Converting { from: 3 },
            KindState::Stopped { from: 1, entity: pair("e"), why: "no\tway\n".into() },
        ];
        let states = IndexStates { epoch: u64::MAX, kind: KindState::Stable, indexes };
        for kind in kinds {
            let states = IndexStates { kind, ..states.clone() };
            let record = KindRecord { states, opening: vec!["i1".into()], is_moving: true };
            assert_eq!(read(&write(&record)).unwrap(), record);
        }
        assert_eq!(read(&write(&KindRecord::default())).unwrap(), KindRecord::default());
    }

    #[test]
    fn what_is_damaged_is_an_error() {
        for bad in [
            "epoch",
            "epoch\t-1",
            "epoch\t1\t2",
            "ready",
            "gone\tby_name",
            "blocked\tby_name\ta\tb",
            "opening\tby\\xname",
            "opening\tby\\",
            "converting\tx",
            "stopped\t1\ta\tb",
        ] {
            assert_eq!(read(bad).unwrap_err().kind(), ErrorKind::Corrupt, "{bad:?}");
        }
    }
}
