//! Entities of which everything is derived that there is: summaries, a list, copies that others hold, at once and later.
//! Workers who change all of them, and what must be in the store by then.

use std::collections::BTreeMap;

use table_core::typed::InOneTable;
use table_core::{DynamicEntity, Entity, ErrorKind, Key, Projection, Query, Result, Store, Stored};

use crate::random::Random;
use crate::stops::{self, Texts};

/// A person, of whom others hold copies; counted in two summaries, on a list, and by a skill in another table, later.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "People", kind = "person")]
#[key(partition = "{team}", row = "person_{id:06}")]
#[index(by_skill, table = "Crafts", partition = "{skill}", row = "{team}_{id:06}", copy = keys, eventual)]
#[index_list(by_level, row = "level_{level:02}", of = id)]
#[summarized_in(Payroll, Level)]
#[copied_into(Project, Badge)]
pub struct Person {
    /// The partition.
    pub team: String,
    /// The row.
    pub id: u32,
    /// Copied.
    pub name: String,
    /// Copied, listed and summarized.
    pub level: u32,
    /// Added up.
    pub salary: i64,
    /// Filed elsewhere, if there is one.
    pub skill: Option<String>,
}

/// What others hold of a person.
#[derive(Projection, Clone, Debug, PartialEq)]
#[projection(of = Person)]
pub struct Contact {
    /// The person's.
    pub name: String,
    /// The person's.
    pub level: u32,
}

/// What a team pays, beside its people.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "People", kind = "payroll")]
#[key(partition = "{team}", row = "payroll")]
#[summary(of = Person)]
pub struct Payroll {
    team: String,
    #[summary(count)]
    people: u64,
    #[summary(sum = salary)]
    salaries: i64,
}

/// What a level earns in all teams, in another table.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Levels", kind = "level")]
#[key(partition = "all", row = "level_{level:02}")]
#[summary(of = Person, atomic)]
pub struct Level {
    level: u32,
    #[summary(count)]
    people: u64,
    #[summary(sum = salary)]
    salaries: i64,
}

/// A project, which shows its lead at once and its deputy later. A change of its rank has it stand elsewhere among those of
/// its deputy.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Projects", kind = "project")]
#[key(partition = "{area}", row = "project_{title}")]
#[index(by_lead, partition = "leads", row = "lead_{team}_{lead_id:06}_{area}_{title}", copy = keys, atomic)]
#[index(by_deputy, table = "Deputies", partition = "{team}", row = "{deputy_id:06}_{rank:02}_{area}_{title}", copy = keys, atomic)]
pub struct Project {
    /// The partition.
    pub area: String,
    /// The row.
    pub title: String,
    /// Of whose people there are two.
    pub team: String,
    /// Always a person.
    pub lead_id: u32,
    /// A person, or none.
    pub deputy_id: Option<u32>,
    /// Its place among the projects of the deputy.
    pub rank: u32,
    /// With each change of the lead.
    #[copy_of(Person, key(team, lead_id), atomic)]
    pub lead: Option<Contact>,
    /// After each change of the deputy.
    #[copy_of(Person, key(team, deputy_id), eventual)]
    pub deputy: Option<Contact>,
}

/// A badge, which shows its owner later; found by its own key, and filed by its colour with all that it holds, later still.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Badges", kind = "badge")]
#[key(partition = "{team}", row = "{owner_id:06}_{number:04}")]
#[index(
    by_color,
    table = "Colors",
    partition = "{color}",
    row = "{team}_{owner_id:06}_{number:04}",
    eventual
)]
#[index(by_label, row = "label_{labels[]}_{owner_id:06}_{number:04}", copy = keys, as = label)]
pub struct Badge {
    /// The partition, and the owner's.
    pub team: String,
    /// In the row.
    pub owner_id: u32,
    /// Of the owner's badges which.
    pub number: u32,
    /// By what it is filed.
    pub color: String,
    /// A row for each, beside the badge.
    #[property(json)]
    pub labels: Texts,
    /// After each change of the owner.
    #[copy_of(Person, key(team, owner_id), eventual)]
    pub owner: Option<Contact>,
}

/// The tables where they lie.
pub const TABLES: [&str; 7] = ["People", "Crafts", "Levels", "Projects", "Deputies", "Badges", "Colors"];

const TEAMS: [&str; 2] = ["east", "west"];
const TITLES: [&str; 3] = ["autumn", "spring", "summer"];

fn below(random: &mut Random, end: u64) -> u32 {
    u32::try_from(random.below(end)).unwrap_or_default()
}

fn any<'a>(random: &mut Random, of: &[&'a str]) -> &'a str {
    let at = usize::try_from(random.below(of.len() as u64)).unwrap_or_default();
    of.get(at).copied().unwrap_or_default()
}

fn person(random: &mut Random) -> Person {
    Person {
        team: any(random, &TEAMS).into(),
        id: below(random, 4),
        name: format!("n{}", below(random, 3)),
        level: below(random, 3),
        salary: i64::from(below(random, 100)) - 20,
        skill: (random.below(2) == 0).then(|| format!("s{}", below(random, 2))),
    }
}

/// What is given for a copy is not what is stored.
fn nobody(random: &mut Random) -> Option<Contact> {
    (random.below(2) == 0).then(|| Contact { name: "nobody".into(), level: 99 })
}

fn project(random: &mut Random) -> Project {
    Project {
        area: any(random, &["home", "sea"]).into(),
        title: any(random, &TITLES).into(),
        team: any(random, &TEAMS).into(),
        lead_id: below(random, 4),
        deputy_id: Some(below(random, 6)).filter(|id| *id < 4),
        rank: below(random, 3),
        lead: nobody(random),
        deputy: nobody(random),
    }
}

fn badge(random: &mut Random) -> Badge {
    Badge {
        team: any(random, &TEAMS).into(),
        owner_id: below(random, 4),
        number: below(random, 3),
        color: any(random, &["blue", "red"]).into(),
        labels: Texts((0..random.below(3)).map(|_| format!("l{}", below(random, 2))).collect()),
        owner: nobody(random),
    }
}

/// One who writes: whatever comes to mind, again and again.
#[derive(Debug)]
pub struct Worker {
    store: Store,
    random: Random,
    /// How many operations succeeded.
    pub done: u64,
}

impl Worker {
    /// A worker with choices of its own.
    pub fn new(store: &Store, seed: u64) -> Result<Self> {
        open(store)?;
        Ok(Self { store: store.clone(), random: Random::new(seed), done: 0 })
    }

    /// Does one thing, and says whether it was done. Panics if it is refused for a reason that there can't be.
    pub fn step(&mut self) -> bool {
        match self.attempt() {
            Ok(()) => self.done += 1,
            Err(error) => {
                let expected = [
                    ErrorKind::DuplicateRow,
                    ErrorKind::EntityAlreadyExists,
                    ErrorKind::EntityNotFound,
                    ErrorKind::ConditionNotMet,
                    // Another thread drops the tables, and an index is to be made.
                    ErrorKind::TableNotFound,
                    ErrorKind::IndexBuilding,
                ];
                assert!(expected.contains(&error.kind()), "{error}");
                return false;
            }
        }
        true
    }

    fn attempt(&mut self) -> Result<()> {
        let (store, random) = (&self.store, &mut self.random);
        match random.below(14) {
            0..=5 => change(
                store,
                random.below(6),
                [person(random), person(random)],
                |known, new| {
                    (known.name, known.level, known.salary, known.skill) =
                        (new.name, new.level, new.salary, new.skill)
                },
                |known, new| known.id = new.id,
            ),
            6..=8 => change(
                store,
                random.below(6),
                [project(random), project(random)],
                |known, new| {
                    // Now and then alone, so that only its place among others changes.
                    known.rank = new.rank;
                    if new.title != "autumn" {
                        (known.lead_id, known.deputy_id) = (new.lead_id, new.deputy_id);
                    }
                },
                |known, new| known.title = new.title,
            ),
            9 | 10 => change(
                store,
                random.below(6),
                [badge(random), badge(random)],
                |known, new| (known.color, known.labels) = (new.color, new.labels),
                |known, new| (known.owner_id, known.number) = (new.owner_id, new.number),
            ),
            11 | 12 => {
                let (person, project, badge) = (person(random), project(random), badge(random));
                store.transaction().put(&person).put(&project).put(&badge).commit().map(drop)
            }
            _ => {
                let (person, project) = (person(random), project(random));
                let transaction = store.transaction().delete(Key::of(&person));
                transaction.put(&project).commit().map(drop)
            }
        }
    }
}

/// One of the changes of an entity, of whatever type.
fn change<E: InOneTable + Clone>(
    store: &Store,
    what: u64,
    [new, other]: [E; 2],
    mut set: impl FnMut(&mut E, E),
    mut refile: impl FnMut(&mut E, E),
) -> Result<()> {
    let (table, key) = (store.table::<E>()?, Key::of(&new));
    match what {
        0 => table.insert(&new).map(drop),
        1 => table.put(&new).map(drop),
        2 => table.delete(key),
        3 | 4 => table
            .update(key, |known| {
                stops::here();
                set(known, new.clone());
            })
            .map(drop),
        _ => table
            .move_to(key, |known| {
                stops::here();
                refile(known, other.clone());
            })
            .map(drop),
    }
}

/// Opens every table, so that this process propagates what follows.
pub fn open(store: &Store) -> Result<()> {
    store.table::<Person>()?;
    store.table::<Project>()?;
    store.table::<Badge>()?;
    store.table::<Payroll>()?;
    store.table::<Level>()?;
    Ok(())
}

fn all<E: InOneTable>(store: &Store) -> Result<Vec<E>> {
    store.table::<E>()?.all().into_iter().map(|one| one.map(Stored::into_inner)).collect()
}

/// The rows of a kind in a table, by a plain look.
fn rows(store: &Store, table: &str, kind: &str) -> Result<Vec<DynamicEntity>> {
    let is_of = |row: &DynamicEntity| row.get("EntityType").and_then(|value| value.as_str()) == Some(kind);
    let rows: Result<Vec<_>> = store.dynamic_table(table)?.query(&Query::new())?.collect();
    Ok(rows?.into_iter().filter(is_of).collect())
}

/// What is in the store at once: summaries, the list, and the copies that change with their source. Returns how many people
/// there are. Panics if something is otherwise than the people and the projects imply.
pub fn check(store: &Store) -> Result<usize> {
    let people = all::<Person>(store)?;
    let (mut payrolls, mut levels) = (BTreeMap::new(), BTreeMap::new());
    let mut lists = BTreeMap::<(String, u32), Vec<String>>::new();
    for Person { team, id, level, salary, .. } in &people {
        let mut payroll = (0, 0);
        for (count, sum) in [
            payrolls.entry(team.clone()).or_insert((0_u64, 0_i64)),
            levels.entry(*level).or_insert((0_u64, 0_i64)),
            &mut payroll,
        ] {
            *count += 1;
            *sum += salary;
        }
        lists.entry((team.clone(), *level)).or_default().push(format!("{id:06}"));
    }
    let found = all::<Payroll>(store)?;
    let found: BTreeMap<_, _> = found.into_iter().map(|one| (one.team, (one.people, one.salaries))).collect();
    assert_eq!(found, payrolls, "what teams pay");
    let found = all::<Level>(store)?;
    let found: BTreeMap<_, _> =
        found.into_iter().map(|one| (one.level, (one.people, one.salaries))).collect();
    assert_eq!(found, levels, "what levels earn");
    let text =
        |row: &DynamicEntity| row.get("Ids").and_then(|ids| ids.as_str()).unwrap_or_default().to_owned();
    let found = rows(store, "People", "person.by_level")?;
    let found: BTreeMap<_, _> = found
        .iter()
        .map(|row| ((row.partition_key().to_owned(), row.row_key().to_owned()), text(row)))
        .collect();
    let lists: BTreeMap<_, _> = lists
        .into_iter()
        .map(|((team, level), ids)| ((team, format!("level_{level:02}")), ids.join(",")))
        .collect();
    assert_eq!(found, lists, "who is of which level");
    let people = by_key(people);
    for project in all::<Project>(store)? {
        assert_eq!(project.lead, contact(&people, &project.team, Some(project.lead_id)), "{project:?}");
    }
    for (kind, is_sound) in [
        ("person", store.table::<Person>()?.check()?.is_sound()),
        ("project", store.table::<Project>()?.check()?.is_sound()),
        ("badge", store.table::<Badge>()?.check()?.is_sound()),
    ] {
        assert!(is_sound, "{kind}");
    }
    Ok(people.len())
}

type People = BTreeMap<(String, u32), Person>;

fn by_key(people: Vec<Person>) -> People {
    people.into_iter().map(|one| ((one.team.clone(), one.id), one)).collect()
}

fn contact(people: &People, team: &str, id: Option<u32>) -> Option<Contact> {
    let one = people.get(&(team.to_owned(), id?))?;
    Some(Contact { name: one.name.clone(), level: one.level })
}

/// Checks the store once all is propagated, with the copies that follow. Returns how many copies that follow say something.
pub fn check_propagated(store: &Store) -> Result<usize> {
    check(store)?;
    let people = by_key(all::<Person>(store)?);
    let mut held = 0;
    for project in all::<Project>(store)? {
        assert_eq!(project.deputy, contact(&people, &project.team, project.deputy_id), "{project:?}");
        held += usize::from(project.deputy.is_some());
    }
    let badges = all::<Badge>(store)?;
    for badge in &badges {
        assert_eq!(badge.owner, contact(&people, &badge.team, Some(badge.owner_id)), "{badge:?}");
        held += usize::from(badge.owner.is_some());
    }
    // The holders' own copies say it, too.
    let filed = rows(store, "Colors", "badge.by_color")?;
    let filed: BTreeMap<_, _> = filed.iter().map(|row| (keys(row), of_owner(row))).collect();
    let wanted = badges.iter().map(|badge| {
        let Badge { team, owner_id, number, color, owner, .. } = badge;
        let owner = owner.as_ref().map(|owner| (owner.name.clone(), i64::from(owner.level)));
        ((color.clone(), format!("{team}_{owner_id:06}_{number:04}")), owner)
    });
    assert_eq!(filed, wanted.collect(), "badges by their colours");
    let labelled: Vec<_> = rows(store, "Badges", "badge.by_label")?.iter().map(keys).collect();
    let mut wanted: Vec<_> = badges
        .iter()
        .flat_map(|badge| badge.labels.0.iter().map(move |label| (badge, label)))
        .map(|(Badge { team, owner_id, number, .. }, label)| {
            (team.clone(), format!("label_{label}_{owner_id:06}_{number:04}"))
        })
        .collect();
    wanted.sort();
    wanted.dedup();
    assert_eq!(labelled, wanted, "badges by their labels");
    let filed: Vec<_> = rows(store, "Crafts", "person.by_skill")?.iter().map(keys).collect();
    let mut wanted: Vec<_> = people
        .values()
        .filter_map(|one| Some((one.skill.clone()?, format!("{}_{:06}", one.team, one.id))))
        .collect();
    wanted.sort();
    assert_eq!(filed, wanted, "people by their skills");
    Ok(held)
}

fn keys(row: &DynamicEntity) -> (String, String) {
    (row.partition_key().to_owned(), row.row_key().to_owned())
}

/// What a copy of a badge says of its owner.
fn of_owner(row: &DynamicEntity) -> Option<(String, i64)> {
    let level = row.get("OwnerLevel")?.as_i64()?;
    Some((row.get("OwnerName")?.as_str()?.to_owned(), level))
}
