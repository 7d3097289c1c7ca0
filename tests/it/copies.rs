//! Index copies under random operations: after each step the table holds exactly the rows that the entities imply,
//! as a scan finds that knows nothing of how writes are planned.

use std::collections::{BTreeMap, BTreeSet};

use integration_tests::{Scratch, random::Random};
use table_core::{DynamicEntity, Entity, ErrorKind, IfMatch, Query, Store, Table};

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Films", kind = "film")]
#[key(partition = "{studio}", row = "film_{id:04}")]
#[index(by_title, row = "title_{title:escaped}", unique)]
#[index(by_year, row = "year_{year:04}_{id:04}", copy(rating))]
#[index(by_actor, row = "actor_{actors[]:escaped}!{id:04}", copy = keys, as = actor)]
#[index(by_award, row = "award_{award}_{id:04}", when = Film::is_listed)]
struct Film {
    studio: String,
    id: u32,
    title: String,
    year: u16,
    rating: i32,
    #[property(json)]
    actors: Vec<String>,
    award: Option<u32>,
    listed: bool,
}

impl Film {
    fn is_listed(&self) -> bool {
        self.listed
    }
}

type Model = BTreeMap<(String, u32), Film>;

/// What may stand in a key: separators, what is escaped, prefixes of each other, nothing, astral characters.
const TEXTS: [&str; 9] = ["", "a", "a!", "a_b", "a/b#?", "ab", "\u{1f600}", "\u{e000}", "film_0001"];

fn film(random: &mut Random) -> Film {
    let text = |random: &mut Random| TEXTS[random.below(9) as usize].to_owned();
    Film {
        studio: ["east", "west"][random.below(2) as usize].to_owned(),
        id: random.below(12) as u32,
        title: format!("{}{}", text(random), random.below(3)),
        year: 1990 + random.below(4) as u16,
        rating: random.below(5) as i32,
        actors: (0..random.below(4)).map(|_| text(random)).collect(),
        award: (random.below(2) == 0).then(|| random.below(3) as u32),
        listed: random.below(2) == 0,
    }
}

/// `{s:escaped}` of these texts, written out by hand.
fn escaped(text: &str) -> String {
    let one = |c| match c {
        '!' => "$21".to_owned(),
        '#' => "$23".to_owned(),
        '/' => ".1".to_owned(),
        '?' => ">1".to_owned(),
        c => c.to_string(),
    };
    text.chars().map(one).collect()
}

/// Every row that the entities imply: keys, and the type and properties that must be in it.
fn implied(model: &Model) -> BTreeMap<(String, String), DynamicEntity> {
    let mut rows = BTreeMap::new();
    for f in model.values() {
        let mut add = |key: String, kind: &str, properties: &[&str]| {
            let mut row = DynamicEntity::new(&f.studio, &key).with("EntityType", kind);
            for name in properties {
                match *name {
                    "Id" => drop(row.set("Id", f.id)),
                    "Title" => drop(row.set("Title", f.title.as_str())),
                    "Year" => drop(row.set("Year", i32::from(f.year))),
                    "Rating" => drop(row.set("Rating", f.rating)),
                    "Actors" => drop(row.set("Actors", json(&f.actors))),
                    "Award" => drop(f.award.map(|award| row.set("Award", award))),
                    _ => drop(row.set("Listed", f.listed)),
                }
            }
            assert!(rows.insert((f.studio.clone(), key), row).is_none(), "two rows of one key");
        };
        let id = f.id;
        add(format!("film_{id:04}"), "film", &["Title", "Year", "Rating", "Actors", "Award", "Listed"]);
        let title = format!("title_{}", escaped(&f.title));
        add(title, "film.by_title", &["Id", "Year", "Rating", "Actors", "Award", "Listed"]);
        add(format!("year_{:04}_{id:04}", f.year), "film.by_year", &["Rating"]);
        for actor in f.actors.iter().collect::<BTreeSet<_>>() {
            add(format!("actor_{}!{id:04}", escaped(actor)), "film.by_actor", &[]);
        }
        if let (Some(award), true) = (f.award, f.listed) {
            let rest = ["Title", "Year", "Rating", "Actors", "Listed"];
            add(format!("award_{award:010}_{id:04}"), "film.by_award", &rest);
        }
    }
    rows
}

/// The texts above need no JSON escapes.
fn json(actors: &[String]) -> String {
    format!("[{}]", actors.iter().map(|actor| format!("\"{actor}\"")).collect::<Vec<_>>().join(","))
}

fn check(table: &Table<Film>, model: &Model) {
    let mut expected = implied(model);
    for row in table.dynamic().query(&Query::new()).unwrap() {
        let row = row.unwrap();
        let key = (row.partition_key().to_owned(), row.row_key().to_owned());
        assert_eq!(expected.remove(&key).as_ref(), Some(&row), "{key:?}");
    }
    assert!(expected.is_empty(), "missing: {expected:#?}");
}

fn taken(model: &Model, film: &Film) -> bool {
    model
        .values()
        .any(|other| other.studio == film.studio && other.id != film.id && other.title == film.title)
}

fn step(random: &mut Random, table: &Table<Film>, model: &mut Model) {
    let new = film(random);
    let key = (new.studio.clone(), new.id);
    let there = model.contains_key(&key);
    let clash = taken(model, &new);
    let typed = || Film::key(key.0.as_str(), key.1);
    let expected = match random.below(6) {
        0 => {
            let expected = if there { Some(ErrorKind::EntityAlreadyExists) } else { None };
            let expected = expected.or(clash.then_some(ErrorKind::UniqueConflict));
            let done = table.insert(&new).map(|_| ()).map_err(|e| e.kind());
            assert_eq!(done.err(), expected);
            expected
        }
        1 | 2 => {
            let expected = clash.then_some(ErrorKind::UniqueConflict);
            assert_eq!(table.put(&new).map(|_| ()).map_err(|e| e.kind()).err(), expected);
            expected
        }
        3 => {
            let expected = if there {
                clash.then_some(ErrorKind::UniqueConflict)
            } else {
                Some(ErrorKind::EntityNotFound)
            };
            assert_eq!(table.replace(&new, IfMatch::Any).map(|_| ()).map_err(|e| e.kind()).err(), expected);
            expected
        }
        4 => {
            // One or two fields change, and the others stay.
            let (title, rating, listed) = (random.below(2) == 0, random.below(2) == 0, random.below(3) == 0);
            let change = |film: &mut Film| {
                if title {
                    film.title.clone_from(&new.title);
                }
                if rating {
                    film.rating = new.rating;
                }
                if listed {
                    film.listed = !film.listed;
                }
            };
            let mut changed = model.get(&key).cloned();
            if let Some(changed) = &mut changed {
                change(changed);
            }
            let expected = match &changed {
                None => Some(ErrorKind::EntityNotFound),
                Some(changed) => taken(model, changed).then_some(ErrorKind::UniqueConflict),
            };
            let done = table.update(typed(), change);
            assert_eq!(done.as_ref().map(|_| ()).map_err(|e| e.kind()).err(), expected);
            if let (None, Some(changed)) = (expected, changed) {
                assert_eq!(done.unwrap(), changed);
                model.insert(key, changed);
            }
            return;
        }
        _ => {
            let expected = if there { None } else { Some(ErrorKind::EntityNotFound) };
            let done = table.delete(typed(), IfMatch::Any).map_err(|e| e.kind());
            assert_eq!(done.err(), expected);
            model.remove(&key);
            return;
        }
    };
    if expected.is_none() {
        model.insert(key, new);
    }
}

/// Queries by each index find what the entities say.
fn find(random: &mut Random, table: &Table<Film>, model: &Model) {
    let probe = film(random);
    let studio = probe.studio.as_str();
    let of_studio = || model.values().filter(|film| film.studio == studio);
    let by_title = table.get(Film::by_title(studio, probe.title.as_str())).unwrap();
    let expected = of_studio().find(|film| film.title == probe.title);
    assert_eq!(by_title.as_deref(), expected);

    let years = table.by_year().studio(studio).year(1991..=1992).into_iter();
    let years: Vec<_> = years.map(|row| row.map(|row| (row.year, row.id, row.rating)).unwrap()).collect();
    let mut expected: Vec<_> = of_studio()
        .filter(|film| (1991..=1992).contains(&film.year))
        .map(|film| (film.year, film.id, film.rating))
        .collect();
    expected.sort_unstable();
    assert_eq!(years, expected);

    let actor = TEXTS[random.below(9) as usize];
    let found = table.by_actor().studio(studio).actor(actor).into_iter();
    let found: Vec<_> = found.map(|row| row.unwrap().id).collect();
    let expected: Vec<_> =
        of_studio().filter(|f| f.actors.iter().any(|a| a == actor)).map(|f| f.id).collect();
    assert_eq!(found, expected);
}

fn run(store: &Store, seed: u64, steps: u64) {
    let table = store.table::<Film>().unwrap();
    let (mut random, mut model) = (Random::new(seed), Model::new());
    for number in 0..steps {
        step(&mut random, &table, &mut model);
        if number % 16 == 0 {
            check(&table, &model);
            find(&mut random, &table, &model);
        }
    }
    check(&table, &model);
    assert!(store.check().unwrap().problems.is_empty());
}

#[test]
fn copies_are_what_the_entities_imply() {
    let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse().ok());
    let (seed, steps) =
        (number("TABLE_CORE_SEED").unwrap_or(7), number("TABLE_CORE_COPIES").unwrap_or(20_000));
    let scratch = Scratch::new();
    println!("seed {seed}, {steps} steps");
    run(&scratch.store(), seed, steps);
}
