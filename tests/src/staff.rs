//! Typed entities that several threads and processes write at one time, and what must be in the store whichever of them won.

use std::collections::{BTreeMap, BTreeSet};

use table_core::{DynamicEntity, Entity, ErrorKind, IfMatch, Key, Query, Result, Store, Table};

use crate::random::Random;

/// A member of a team, with a copy in each sort of index.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Staff", kind = "member")]
#[key(partition = "{team}", row = "member_{id:03}")]
#[index(by_email, row = "email_{email}", unique)]
#[index(by_badge, row = "badge_{badge:04}", unique, when = Member::is_present, copy = keys)]
#[index(by_skill, row = "skill_{skills[]}_{id:03}", copy(name), as = skill)]
#[index(by_hits, row = "hits_{hits:010:inverted}_{id:03}", copy = keys)]
pub struct Member {
    team: String,
    id: u32,
    email: String,
    badge: Option<u16>,
    is_present: bool,
    #[property(json)]
    skills: Vec<String>,
    name: String,
    hits: u32,
}

impl Member {
    fn is_present(&self) -> bool {
        self.is_present
    }
}

/// The team whose members are only ever changed, and keep count of it.
const COUNTED: &str = "counted";
/// How many members that team has.
const MEMBERS: u32 = 6;
/// The team whose members come, go and change places.
const CROWD: &str = "crowd";

fn member(team: &str, id: u32, random: &mut Random) -> Member {
    let below = |random: &mut Random, end| u32::try_from(random.below(end)).unwrap_or_default();
    let skills = (0..random.below(4)).map(|_| format!("s{}", random.below(5))).collect();
    Member {
        team: team.to_owned(),
        id,
        email: format!("e{}", random.below(12)),
        badge: u16::try_from(random.below(14)).ok().filter(|badge| *badge < 10),
        is_present: random.below(2) == 0,
        skills,
        name: format!("n{}", random.below(9)),
        hits: below(random, 3),
    }
}

/// Makes the table and those who are counted.
pub fn prepare(store: &Store) -> Result<()> {
    let table = store.table::<Member>()?;
    let mut random = Random::new(0);
    for id in 0..MEMBERS {
        let member =
            Member { email: format!("e{id}"), badge: None, hits: 0, ..member(COUNTED, id, &mut random) };
        table.insert(&member)?;
    }
    Ok(())
}

/// One who writes: whatever comes to mind, again and again.
#[derive(Debug)]
pub struct Worker {
    table: Table<Member>,
    random: Random,
    /// How often the worker gave up, since others were quicker too many times in a row.
    pub beaten: u64,
    /// How many operations succeeded.
    pub done: u64,
}

impl Worker {
    /// A worker with choices of its own.
    pub fn new(store: &Store, seed: u64) -> Result<Self> {
        Ok(Self { table: store.table()?, random: Random::new(seed), beaten: 0, done: 0 })
    }

    /// Does one thing; returns how many hits it added to those who are counted. Panics if it is refused for a reason
    /// that there can't be.
    pub fn step(&mut self) -> u64 {
        let (hits, done) = match self.random.below(8) {
            0..3 => (1, self.hit()),
            3 | 4 => (2, self.hit_two()),
            5 => (0, self.rename()),
            _ => (0, self.crowd()),
        };
        match done {
            Ok(()) => {
                self.done += 1;
                hits
            }
            Err(error) => {
                let expected = [
                    ErrorKind::EntityAlreadyExists,
                    ErrorKind::EntityNotFound,
                    ErrorKind::UniqueConflict,
                    ErrorKind::ConditionNotMet,
                ];
                assert!(expected.contains(&error.kind()), "{error}");
                self.beaten += u64::from(error.kind() == ErrorKind::ConditionNotMet);
                0
            }
        }
    }

    /// Counts a hit of the first member; returns how many that were.
    pub fn hit_first(&mut self) -> u64 {
        u64::from(self.table.update(Member::key(COUNTED, 0), |member| member.hits += 1).is_ok())
    }

    fn counted(&mut self) -> u32 {
        u32::try_from(self.random.below(MEMBERS.into())).unwrap_or_default()
    }

    /// An update that counts, and now and then wants what another may have.
    fn hit(&mut self) -> Result<()> {
        let id = self.counted();
        let new = member(COUNTED, id, &mut self.random);
        let choice = self.random.below(4);
        self.table.update(Key::of(&new), |member| change(member, &new, choice)).map(drop)
    }

    /// Two at once, which now and then exchange their addresses.
    fn hit_two(&mut self) -> Result<()> {
        let one = self.counted();
        let other = (one + 1 + u32::try_from(self.random.below(u64::from(MEMBERS) - 1)).unwrap_or_default())
            % MEMBERS;
        let (new, choice) = (member(COUNTED, one, &mut self.random), self.random.below(4));
        let key = |id| Member::key(COUNTED, id);
        let egt = self.table.egt(Member::partition(COUNTED));
        if choice > 1 {
            let count = |member: &mut Member| change(member, &new, choice);
            return egt
                .update(key(one), count)
                .update(key(other), |member| member.hits += 1)
                .commit()
                .map(drop);
        }
        // What is read here may be another's by the time of the commit: then it is a conflict, or it is right.
        let (Some(first), Some(second)) = (self.table.get(key(one))?, self.table.get(key(other))?) else {
            return Ok(());
        };
        let (first, second) = (first.email.clone(), second.email.clone());
        let give = |email: String| {
            move |member: &mut Member| {
                member.email.clone_from(&email);
                member.hits += 1;
            }
        };
        egt.update(key(one), give(second)).update(key(other), give(first)).commit().map(drop)
    }

    /// A patch of one who is counted.
    fn rename(&mut self) -> Result<()> {
        let id = self.counted();
        let new = member(COUNTED, id, &mut self.random);
        let patch = Member::patch().name(new.name.as_str()).skills(new.skills.clone());
        self.table.merge(Key::of(&new), patch, IfMatch::Any).map(drop)
    }

    /// Something among those who aren't.
    fn crowd(&mut self) -> Result<()> {
        let id = u32::try_from(self.random.below(10)).unwrap_or_default();
        let new = member(CROWD, id, &mut self.random);
        let other = Member::key(CROWD, (id + 1) % 10);
        let table = &self.table;
        match self.random.below(6) {
            0 => table.insert(&new).map(drop),
            1 => table.put(&new).map(drop),
            2 => table.delete(Key::of(&new)),
            3 => table.move_to(other, |member| member.id = id).map(drop),
            4 => {
                let Some(read) = table.get(Key::of(&new))? else { return Ok(()) };
                table.replace(&new, table_core::Stored::etag(&read)).map(drop)
            }
            _ => {
                let heir = Member { email: new.email.clone(), ..member(CROWD, 10 + id, &mut self.random) };
                let egt = table.egt(Member::partition(CROWD));
                egt.delete(Key::of(&new)).put(&heir).commit().map(drop)
            }
        }
    }
}

fn change(member: &mut Member, new: &Member, choice: u64) {
    member.hits += 1;
    match choice {
        0 => {}
        1 => member.email.clone_from(&new.email),
        2 => (member.badge, member.is_present) = (new.badge, new.is_present),
        _ => member.skills.clone_from(&new.skills),
    }
}

/// Every row that a member implies, written out by hand.
fn implied(member: &Member) -> Vec<DynamicEntity> {
    let (id, hits) = (member.id, member.hits);
    let row = |kind: &str, key: String| DynamicEntity::new(&member.team, key).with("EntityType", kind);
    let whole = |row: DynamicEntity, has_email: bool| {
        let row = if has_email { row.with("Email", member.email.as_str()) } else { row };
        let row = match member.badge {
            Some(badge) => row.with("Badge", i32::from(badge)),
            None => row,
        };
        row.with("IsPresent", member.is_present)
            .with("Skills", json(&member.skills))
            .with("Name", member.name.as_str())
            .with("Hits", i64::from(hits))
    };
    let mut rows = vec![
        whole(row("member", format!("member_{id:03}")), true),
        whole(row("member.by_email", format!("email_{}", member.email)).with("Id", i64::from(id)), false),
        row("member.by_hits", format!("hits_{:010}_{id:03}", 9_999_999_999 - u64::from(hits))),
    ];
    if let (Some(badge), true) = (member.badge, member.is_present) {
        rows.push(row("member.by_badge", format!("badge_{badge:04}")).with("Id", i64::from(id)));
    }
    for skill in member.skills.iter().collect::<BTreeSet<_>>() {
        rows.push(
            row("member.by_skill", format!("skill_{skill}_{id:03}")).with("Name", member.name.as_str()),
        );
    }
    rows
}

fn json(texts: &[String]) -> String {
    format!("[{}]", texts.iter().map(|text| format!("\"{text}\"")).collect::<Vec<_>>().join(","))
}

/// Looks at every row: each must be what the members imply, and none may be missing. Returns the hits of those who
/// are counted.
pub fn check(store: &Store) -> Result<u64> {
    let table = store.table::<Member>()?;
    let (mut found, mut expected, mut hits) = (BTreeMap::new(), BTreeMap::new(), 0);
    let at = |row: &DynamicEntity| (row.partition_key().to_owned(), row.row_key().to_owned());
    for row in table.dynamic().query(&Query::new())? {
        let row = row?;
        if row.row_key().starts_with("member_") {
            let id = row.row_key().trim_start_matches("member_").parse().unwrap_or(u32::MAX);
            let member = table.get(Member::key(row.partition_key(), id))?;
            let member = member.ok_or(()).unwrap_or_else(|()| panic!("{row:?} is not found"));
            if member.team == COUNTED {
                hits += u64::from(member.hits);
            }
            for row in implied(&member) {
                let twice = expected.insert(at(&row), row);
                assert!(twice.is_none(), "two members have {twice:?}");
            }
        }
        found.insert(at(&row), row);
    }
    for (key, row) in &expected {
        assert_eq!(found.get(key), Some(row), "{key:?}");
    }
    for (key, row) in &found {
        assert!(expected.contains_key(key), "{row:?} is of no member");
    }
    Ok(hits)
}
