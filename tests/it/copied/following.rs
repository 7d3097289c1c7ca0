//! Copies of another entity's fields that follow its changes.

use std::time::{Duration, Instant};

use integration_tests::derived::{Badge, Person, Project, TABLES, Worker, check, check_propagated, open};
use integration_tests::random::Random;
use integration_tests::stops::Texts;
use integration_tests::{Scratch, assert_sound};
use table_core::store::Propagate;
use table_core::typed::Propagation;
use table_core::{ErrorKind, Store};

fn manual(scratch: &Scratch) -> Store {
    let options = Store::options().propagate(Propagate::Manual).durability(table_core::Durability::Relaxed);
    let store = scratch.store_with(&options);
    open(&store).unwrap();
    store
}

fn assert_propagated(store: &Store) {
    assert_eq!(
        store.propagate().unwrap(),
        Propagation::Complete,
        "{:?}",
        store.pending_propagation().unwrap()
    );
}

fn person(id: u32, name: &str) -> Person {
    Person { team: "east".into(), id, name: name.into(), level: 1, salary: 10, skill: None }
}

fn badge(owner_id: u32, number: u32) -> Badge {
    Badge {
        team: "east".into(),
        owner_id,
        number,
        color: "red".into(),
        labels: Texts::default(),
        owner: None,
    }
}

fn project(title: &str, lead_id: u32, deputy_id: Option<u32>) -> Project {
    let (area, team) = ("sea".into(), "east".into());
    Project { area, title: title.into(), team, lead_id, deputy_id, rank: 0, lead: None, deputy: None }
}

/// Whose name the badge shows.
fn owner(store: &Store, owner_id: u32, number: u32) -> Option<String> {
    let badge = store.table::<Badge>().unwrap().get(Badge::key("east", owner_id, number)).unwrap().unwrap();
    badge.owner.as_ref().map(|owner| owner.name.clone())
}

#[test]
fn a_copy_follows_its_source_and_is_fresh_where_its_holder_changes() {
    let scratch = Scratch::new();
    let store = manual(&scratch);
    let (people, badges) = (store.table::<Person>().unwrap(), store.table::<Badge>().unwrap());
    // Each new one looks its source up.
    people.insert(&person(1, "Ann")).unwrap();
    for number in 0..3 {
        badges.insert(&badge(1, number)).unwrap();
        badges.insert(&badge(2, number)).unwrap();
    }
    assert_eq!((owner(&store, 1, 0), owner(&store, 2, 0)), (Some("Ann".into()), None));
    store.propagate().unwrap();

    // The source changes alone, and says what is to follow.
    let rename = |name: &'static str| move |one: &mut Person| one.name = name.into();
    let explained = store.transaction().update(Person::key("east", 1), rename("Cao")).explain().unwrap();
    assert_eq!(
        explained.deferred_dependents().collect::<Vec<_>>(),
        [("badge", "Owner"), ("project", "Deputy")]
    );
    assert!(explained.to_string().contains("later every `Owner` that a badge holds of it"), "{explained}");
    assert_eq!(explained.places().count(), 1, "{explained}");
    people.update(Person::key("east", 1), rename("Cao")).unwrap();
    assert_eq!((owner(&store, 1, 0), store.pending_propagation().unwrap().entities), (Some("Ann".into()), 1));
    // What is to follow is not wrong; and a holder that is changed need not wait for it.
    assert!(badges.check().unwrap().is_sound());
    badges.update(Badge::key("east", 1, 1), |one| one.color = "blue".into()).unwrap();
    assert_eq!((owner(&store, 1, 0), owner(&store, 1, 1)), (Some("Ann".into()), Some("Cao".into())));
    assert_propagated(&store);
    assert_eq!(check_propagated(&store).unwrap(), 3);

    // A change of what is not copied leaves nothing to be done.
    people.update(Person::key("east", 1), |one| one.salary += 1).unwrap();
    assert_eq!(store.pending_propagation().unwrap().entities, 0);

    // One that comes, one that gets another key, and one that goes.
    people.insert(&person(2, "Bob")).unwrap();
    people.move_to(Person::key("east", 1), |one| one.id = 3).unwrap();
    badges.insert(&badge(3, 0)).unwrap();
    assert_eq!(
        (owner(&store, 2, 0), owner(&store, 1, 0), owner(&store, 3, 0)),
        (None, Some("Cao".into()), Some("Cao".into()))
    );
    store.propagate().unwrap();
    assert_eq!((owner(&store, 2, 0), owner(&store, 1, 0)), (Some("Bob".into()), None));
    people.delete(Person::key("east", 2)).unwrap();
    assert_eq!(owner(&store, 2, 0), Some("Bob".into()));
    store.propagate().unwrap();
    assert_eq!(check_propagated(&store).unwrap(), 1);
    assert_sound(&store);
}

/// One that has the copy already is left as it is, with its version.
#[test]
fn propagation_writes_those_alone_whose_copy_is_another() {
    let scratch = Scratch::new();
    let store = manual(&scratch);
    let (people, badges) = (store.table::<Person>().unwrap(), store.table::<Badge>().unwrap());
    people.insert(&person(1, "Ann")).unwrap();
    (0..2).for_each(|number| _ = badges.insert(&badge(1, number)).unwrap());
    store.propagate().unwrap();
    people.update(Person::key("east", 1), |one| one.name = "Cao".into()).unwrap();
    badges.update(Badge::key("east", 1, 1), |one| one.color = "blue".into()).unwrap();
    let version = |number| {
        let found = badges.get(Badge::key("east", 1, number)).unwrap().unwrap();
        table_core::Stored::etag(&found)
    };
    let before = (version(0), version(1));
    store.propagate().unwrap();
    assert_ne!(version(0), before.0);
    assert_eq!(version(1), before.1);
    check_propagated(&store).unwrap();
}

/// More holders than one step finds: each is a transaction, and a change in between begins anew.
#[test]
fn many_holders_take_many_steps() {
    let scratch = Scratch::new();
    let store = manual(&scratch);
    let (people, badges) = (store.table::<Person>().unwrap(), store.table::<Badge>().unwrap());
    people.insert(&person(1, "Ann")).unwrap();
    let many = (0..1_000).map(|number| badge(1, number));
    assert_eq!(badges.bulk_insert(many).unwrap().committed, 1_000);
    store.propagate().unwrap();
    let commits = store.stats().unwrap().commits;
    people.update(Person::key("east", 1), |one| one.name = "Cao".into()).unwrap();
    assert_eq!(store.stats().unwrap().commits, commits + 1);
    assert_propagated(&store);
    let steps = store.stats().unwrap().commits - commits - 1;
    // The badges, and then their own copies.
    assert!((4..=20).contains(&steps), "{steps}");
    assert_eq!(check_propagated(&store).unwrap(), 1_000);
    people.delete(Person::key("east", 1)).unwrap();
    store.propagate().unwrap();
    assert_eq!(check_propagated(&store).unwrap(), 0);
    assert_sound(&store);
}

/// Sources whose own index has no row of them: an entry for holders says nothing of that index.
#[test]
fn an_entry_for_holders_files_nothing_that_is_not_to_be_filed() {
    mod people {
        #[derive(table_core::Entity, Clone)]
        #[entity(table = "People", kind = "person")]
        #[key(partition = "{team}", row = "{id:06}")]
        #[index(by_name, table = "Names", partition = "{name}", row = "{team}_{id:06}", when = Person::is_public, eventual)]
        #[copied_into(Seat)]
        pub struct Person {
            pub team: String,
            pub id: u32,
            pub name: String,
            pub is_public: bool,
        }

        impl Person {
            fn is_public(&self) -> bool {
                self.is_public
            }
        }

        #[derive(table_core::Projection, Clone, Debug, PartialEq)]
        #[projection(of = Person)]
        pub struct Named {
            pub name: String,
        }

        #[derive(table_core::Entity, Clone)]
        #[entity(table = "Seats", kind = "seat")]
        #[key(partition = "{team}", row = "{id:06}")]
        pub struct Seat {
            pub team: String,
            pub id: u32,
            #[copy_of(Person, key(team, id), eventual)]
            pub person: Option<Named>,
        }
    }
    use people::{Person, Seat};
    let scratch = Scratch::new();
    let store = scratch.store_with(&Store::options().propagate(Propagate::Manual));
    let (people, seats) = (store.table::<Person>().unwrap(), store.table::<Seat>().unwrap());
    let ann = Person { team: "east".into(), id: 1, name: "Ann".into(), is_public: false };
    seats.insert(&Seat { team: "east".into(), id: 1, person: None }).unwrap();
    people.insert(&ann).unwrap();
    store.propagate().unwrap();
    let shown = || seats.get(Seat::key("east", 1)).unwrap().unwrap().person.clone().map(|one| one.name);
    assert_eq!((shown().as_deref(), people.by_name().across_partitions().count().unwrap()), (Some("Ann"), 0));
    people.update(Person::key("east", 1), |one| one.name = "Cao".into()).unwrap();
    assert_eq!(store.pending_propagation().unwrap().entities, 1);
    store.propagate().unwrap();
    assert_eq!((shown().as_deref(), people.by_name().across_partitions().count().unwrap()), (Some("Cao"), 0));
    // Both at one time.
    people.update(Person::key("east", 1), |one| (one.name, one.is_public) = ("Bob".into(), true)).unwrap();
    assert_propagated(&store);
    assert_eq!((shown().as_deref(), people.by_name().name("Bob").count().unwrap()), (Some("Bob"), 1));
    assert!(people.check().unwrap().is_sound() && seats.check().unwrap().is_sound());
    assert_sound(&store);
}

#[test]
fn the_background_propagates_it_and_so_does_the_next_process() {
    let scratch = Scratch::new();
    let store = scratch.store();
    open(&store).unwrap();
    let (people, badges) = (store.table::<Person>().unwrap(), store.table::<Badge>().unwrap());
    badges.insert(&badge(1, 0)).unwrap();
    people.insert(&person(1, "Ann")).unwrap();
    let begun = Instant::now();
    while store.pending_propagation().unwrap().entities > 0 {
        assert!(begun.elapsed() < Duration::from_secs(30), "{}", store.pending_propagation().unwrap());
        std::thread::sleep(Duration::from_millis(2));
    }
    assert_eq!(check_propagated(&store).unwrap(), 1);
    drop((people, badges, store));

    let options = Store::options().propagate(Propagate::Manual);
    let store = options.open(scratch.path().join("store")).unwrap();
    let people = store.table::<Person>().unwrap();
    people.update(Person::key("east", 1), |one| one.name = "Cao".into()).unwrap();
    drop((people, store));
    let store = options.open(scratch.path().join("store")).unwrap();
    // Nobody here knows the kind yet.
    assert!(
        matches!(store.propagate().unwrap(), Propagation::Incomplete { kinds, .. } if kinds == ["person"])
    );
    store.table::<Person>().unwrap();
    // The badge has its copy then, and its own copy is to follow, which nobody here knows how.
    assert!(
        matches!(store.propagate().unwrap(), Propagation::Incomplete { kinds, .. } if kinds == ["badge"])
    );
    open(&store).unwrap();
    assert_propagated(&store);
    assert_eq!(owner(&store, 1, 0), Some("Cao".into()));
    // A restored copy propagates what it has itself.
    let people = store.table::<Person>().unwrap();
    people.update(Person::key("east", 1), |one| one.name = "Bob".into()).unwrap();
    store.copy_to(scratch.path().join("copy")).unwrap();
    store.propagate().unwrap();
    let copy = options.open(scratch.path().join("copy")).unwrap();
    open(&copy).unwrap();
    assert_eq!((owner(&copy, 1, 0), copy.pending_propagation().unwrap().entities), (Some("Cao".into()), 1));
    assert_eq!(copy.propagate().unwrap(), Propagation::Complete);
    assert_eq!(check_propagated(&copy).unwrap(), 1);
}

#[test]
fn tables_are_dropped_under_what_is_to_follow() {
    let scratch = Scratch::new();
    let store = manual(&scratch);
    let fill = || {
        open(&store).unwrap();
        store.table::<Person>().unwrap().put(&person(1, "Ann")).unwrap();
        store.table::<Badge>().unwrap().put(&badge(1, 0)).unwrap();
        store.table::<Project>().unwrap().put(&project("spring", 1, Some(1))).unwrap();
        store.propagate().unwrap();
        store
            .table::<Person>()
            .unwrap()
            .update(Person::key("east", 1), |one| one.name = "Cao".into())
            .unwrap();
    };
    fill();
    // Holders that are gone hold nothing.
    store.drop_tables(&["Badges", "Colors"]).unwrap();
    assert_propagated(&store);
    assert!(!store.tables().unwrap().contains(&"Badges".to_owned()), "propagation makes no table");
    open(&store).unwrap();
    check_propagated(&store).unwrap();
    fill();
    // Without the rows by which they are found nobody is, until those are there again.
    store.drop_tables(&["Deputies"]).unwrap();
    open(&store).unwrap();
    assert!(matches!(store.propagate().unwrap(), Propagation::Incomplete { .. }));
    let left = store.pending_propagation().unwrap();
    assert!(left.failing[0].error.contains("by_deputy"), "{left:?}");
    store.table::<Project>().unwrap().rebuild().unwrap().run().unwrap();
    store.retry_failed().unwrap();
    assert_propagated(&store);
    check_propagated(&store).unwrap();
    // A source that goes with its table leaves what it said last, as with copies that change with it.
    fill();
    store.drop_tables(&["People", "Crafts", "Levels"]).unwrap();
    assert_propagated(&store);
    assert_eq!(owner(&store, 1, 0), Some("Ann".into()));
    let badges = store.table::<Badge>().unwrap();
    assert_eq!((badges.check().unwrap().outdated, badges.repair().unwrap().run().unwrap().mended), (1, 1));
    assert_eq!(owner(&store, 1, 0), None);
}

/// From the first write on a program that takes the copy for one that changes with its source can't write; one that says that
/// it follows may come later.
#[test]
fn a_copy_may_come_to_follow_and_nobody_goes_on_without() {
    macro_rules! release {
        ($name:ident, $arrival:ident) => {
            mod $name {
                #[derive(table_core::Entity, Clone)]
                #[entity(table = "People", kind = "person")]
                #[key(partition = "{team}", row = "{id:06}")]
                #[copied_into(Seat)]
                pub struct Person {
                    pub team: String,
                    pub id: u32,
                    pub name: String,
                }

                #[derive(table_core::Projection, Clone, Debug, PartialEq)]
                #[projection(of = Person)]
                pub struct Named {
                    pub name: String,
                }

                #[derive(table_core::Entity, Clone)]
                #[entity(table = "Seats", kind = "seat")]
                #[key(partition = "{team}", row = "{id:06}")]
                pub struct Seat {
                    pub team: String,
                    pub id: u32,
                    #[copy_of(Person, key(team, id), $arrival)]
                    pub person: Option<Named>,
                }
            }
        };
    }
    release!(first, atomic);
    release!(second, eventual);
    // The picture says when what is held of another comes.
    let drawn = [<first::Seat as table_core::Entity>::SCHEMA, <second::Seat as table_core::Entity>::SCHEMA];
    let [at_once, later] = drawn.map(|schema| schema.markdown().to_string());
    assert!(
        at_once.contains(": copied String?") && later.contains(": eventually copied String?"),
        "{at_once}\n{later}"
    );
    let scratch = Scratch::new();
    let store = scratch.store_with(&Store::options().propagate(Propagate::Manual));
    let seat = |id| first::Seat { team: "east".into(), id, person: None };
    let old = store.table::<first::Seat>().unwrap();
    old.insert(&seat(1)).unwrap();
    let ann = second::Person { team: "east".into(), id: 1, name: "Ann".into() };
    store.table::<second::Person>().unwrap().insert(&ann).unwrap();
    let error = old.insert(&seat(2)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::LayoutChanged, "{error}");
    store.propagate().unwrap();
    let new = store.table::<second::Seat>().unwrap();
    assert_eq!(new.get(second::Seat::key("east", 1)).unwrap().unwrap().person.as_ref().unwrap().name, "Ann");
    assert_sound(&store);
}

/// Writers, propagators and droppers by chance in one process; in the end every copy is what its source says.
#[test]
fn whatever_happens_in_between_propagated_is_what_the_sources_say() {
    let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse().ok());
    let steps: u64 = number("DERIVED_STEPS").unwrap_or(10_000);
    let seed: u64 = number("DERIVED_SEED").unwrap_or(11);
    let scratch = Scratch::new();
    let mut store = manual(&scratch);
    let mut worker = Worker::new(&store, seed).unwrap();
    let mut random = Random::new(seed + 1);
    let (mut propagated, mut checked, mut dropped) = (0, 0, 0);
    let rebuild = |store: &Store| {
        open(store).unwrap();
        store.table::<Person>().unwrap().rebuild().unwrap().run().unwrap();
        store.table::<Project>().unwrap().rebuild().unwrap().run().unwrap();
        store.table::<Badge>().unwrap().rebuild().unwrap().run().unwrap();
    };
    for _ in 0..steps {
        match random.below(600) {
            0..=50 => {
                store.propagate().unwrap();
                propagated += 1;
            }
            51 | 52 => {
                rebuild(&store);
                check(&store).unwrap();
                store.retry_failed().unwrap();
                assert_propagated(&store);
                check_propagated(&store).unwrap();
                checked += 1;
            }
            53 => {
                // All of them, or some without whose rows the others are made right by a rebuild.
                match random.below(5) {
                    0 => store.drop_tables(&TABLES).unwrap(),
                    1 => store.drop_table("Crafts").unwrap(),
                    2 => store.drop_table("Deputies").unwrap(),
                    3 => store.drop_table("Colors").unwrap(),
                    _ => store.drop_tables(&["Badges", "Colors"]).unwrap(),
                }
                rebuild(&store);
                dropped += 1;
            }
            54 => {
                drop(worker);
                store = store.compact().unwrap();
                worker = Worker::new(&store, random.number()).unwrap();
            }
            _ => {
                worker.step();
            }
        }
    }
    rebuild(&store);
    store.retry_failed().unwrap();
    assert_propagated(&store);
    let held = check_propagated(&store).unwrap();
    println!(
        "{steps} steps, {propagated} propagation, {checked} checks, {dropped} drops, {held} copies that follow"
    );
    assert!(propagated > 0 && checked > 0);
    assert_sound(&store);
}

/// Threads write while the background and two others propagate.
#[test]
fn many_write_and_many_propagate() {
    let scratch = Scratch::new();
    let store = scratch.store_with(&integration_tests::relaxed());
    open(&store).unwrap();
    std::thread::scope(|scope| {
        for seed in 1..4 {
            let mut worker = Worker::new(&store, seed).unwrap();
            scope.spawn(move || (0..700).for_each(|_| _ = worker.step()));
        }
        for _ in 0..2 {
            scope.spawn(|| {
                for _ in 0..60 {
                    store.propagate().unwrap();
                    std::thread::sleep(Duration::from_millis(1));
                }
            });
        }
    });
    assert_propagated(&store);
    check_propagated(&store).unwrap();
    assert_sound(&store);
}
