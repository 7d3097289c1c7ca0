//! Kinds of other shapes: wide ones, references, copies that come later; and what an earlier release has noted.

use integration_tests::executors::Executor;
use integration_tests::forge::Forge;
use integration_tests::{Scratch, assert_sound};
use table_core::typed::Ref;
use table_core::{DynamicEntity, Entity, ErrorKind, IfMatch, Properties, Query, Stored};

use super::{EXECUTORS, Employee, assert_same, company, dynamic, employee, seen};

#[derive(Properties, Clone, Debug, PartialEq)]
struct Address {
    street: String,
    town: Option<String>,
}

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Surveys", kind = "survey", wide)]
#[key(partition = "{office}", row = "survey_{id:06}")]
#[index(by_mail, row = "mail_{mail}", unique, copy = keys)]
#[index(by_score, row = "score_{score:05}_{id:06}", copy(title))]
struct Survey {
    office: String,
    id: u32,
    title: String,
    #[part]
    mail: String,
    score: u16,
    #[part]
    #[series]
    answers: [Option<i64>; 200],
    #[flatten]
    address: Address,
    next: Option<Ref<Survey>>,
}

fn survey(id: u32) -> Survey {
    let mut answers = [None; 200];
    answers[id as usize] = Some(5);
    Survey {
        office: "Oslo".into(),
        id,
        title: format!("title {id}"),
        mail: format!("m{id}@contoso.com"),
        score: 7,
        answers,
        address: Address { street: "Main".into(), town: None },
        next: None,
    }
}

#[test]
fn a_wide_entity_is_one_by_its_properties_too() {
    for executor in EXECUTORS {
        executor.run(|| {
            let (here, there) = (Scratch::new(), Scratch::new());
            let (store, typed) = (here.tables(), there.tables());
            for store in [&store, &typed] {
                let surveys = store.table::<Survey>().unwrap();
                surveys.insert(&Survey { next: Some(Survey::key("Oslo", 2).into()), ..survey(1) }).unwrap();
            }
            let table = store.dynamic_table("Surveys").unwrap();
            let new = DynamicEntity::new("Oslo", "survey_000002")
                .with("EntityType", "survey")
                .with("Title", "title 2")
                .with("Mail", "m2@contoso.com")
                .with("Score", 7)
                .with("Answers_002", 5_i64)
                .with("Street", "Main");
            table.insert(&new).unwrap();
            let other = typed.table::<Survey>().unwrap();
            other.insert(&survey(2)).unwrap();
            assert_same(&store, &typed);

            let change = DynamicEntity::new("Oslo", "survey_000001")
                .with("Mail", "new@contoso.com")
                .with("Answers_007", 9)
                .with("Town", "Oslo");
            table.merge(&change, IfMatch::Any).unwrap();
            other
                .update(Survey::key("Oslo", 1), |survey| {
                    survey.mail = "new@contoso.com".into();
                    survey.answers[7] = Some(9);
                    survey.address.town = Some("Oslo".into());
                })
                .unwrap();
            assert_same(&store, &typed);
            // Both halves of a reference that may be absent are the struct's to set.
            let half = DynamicEntity::new("Oslo", "survey_000001").with("NextRow", "survey_000003");
            assert_eq!(table.merge(&half, IfMatch::Any).unwrap_err().kind(), ErrorKind::DeclaredKind);
            let part = DynamicEntity::new("Oslo", "survey_000001_01").with("Mail", "x");
            assert_eq!(table.merge(&part, IfMatch::Any).unwrap_err().kind(), ErrorKind::DeclaredKind);
            table.delete("Oslo", "survey_000002").unwrap();
            other.delete(Survey::key("Oslo", 2)).unwrap();
            assert_same(&store, &typed);
            assert_sound(&store);
        });
    }
}

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Notes", kind = "note")]
#[key(partition = "{owner}", row = "note_{id:04}")]
#[index(by_word, table = "Words", partition = "word_{word}", row = "{owner}_{id:04}", copy(text), eventual)]
struct Note {
    owner: String,
    id: u32,
    word: String,
    text: String,
}

#[test]
fn copies_that_come_later_come_of_such_writes_too() {
    let scratch = Scratch::new();
    let store = scratch.store();
    let notes = store.table::<Note>().unwrap();
    for id in 1..4 {
        let note = Note { owner: "ann".into(), id, word: "a".into(), text: "t".into() };
        notes.insert(&note).unwrap();
    }
    let table = store.dynamic_table("Notes").unwrap();
    table.merge(&DynamicEntity::new("ann", "note_0001").with("Word", "b"), IfMatch::Any).unwrap();
    table.delete("ann", "note_0002").unwrap();
    let new =
        DynamicEntity::new("ann", "note_0004").with("EntityType", "note").with("Word", "b").with("Text", "t");
    table.insert(&new).unwrap();
    store.propagate().unwrap();
    let of = |word: &str| -> Vec<_> {
        let found = notes.by_word().word(word).entities().into_iter();
        found.map(|note| Stored::into_inner(note.unwrap()).id).collect()
    };
    assert_eq!((of("a"), of("b")), (vec![3], vec![1, 4]));
    assert!(notes.check().unwrap().is_sound());
    assert_sound(&store);
}

/// An earlier release has noted no line that says what is read.
#[test]
fn a_layout_of_an_earlier_release_says_too_little_until_the_struct_writes() {
    let scratch = Scratch::new();
    let (store, staff, table) = company(&scratch);
    staff.insert(&employee("Sales", 1)).unwrap();
    drop((store, staff, table));
    let forge = Forge::open(&scratch.path().join("store"));
    let tables = forge.tables();
    let tables = tables.iter().map(|(_, body)| u32::from_le_bytes(body[..4].try_into().unwrap()));
    let entry = [&[4], &b"employee"[..]].concat();
    for table in tables {
        let Some((_, layout)) = forge.entries(table).into_iter().find(|(known, _)| *known == entry) else {
            continue;
        };
        let layout = String::from_utf8(layout).unwrap();
        let former: Vec<_> = layout.lines().filter(|line| !line.starts_with("reads")).collect();
        assert!(former.len() < layout.lines().count(), "{layout}");
        forge.put_entry(table, &entry, Some(former.join("\n").as_bytes()));
    }
    forge.close();

    let store = scratch.tables();
    let table = store.dynamic_table("Company").unwrap();
    let before = seen(&store);
    let error = table.insert(&dynamic(&employee("Sales", 2))).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::DeclaredKind, "{error}");
    assert!(error.to_string().contains("the first write by the struct notes it"), "{error}");
    assert_eq!(seen(&store), before);
    // To read by it notes nothing; to write does.
    let staff = store.table::<Employee>().unwrap();
    assert_eq!(staff.all().count().unwrap(), 1);
    assert_eq!(table.delete("Sales", "empid_000001").unwrap_err().kind(), ErrorKind::DeclaredKind);
    staff.insert(&employee("Sales", 3)).unwrap();
    table.insert(&dynamic(&employee("Sales", 2))).unwrap();
    table.delete("Sales", "empid_000001").unwrap();
    assert_eq!(staff.all().count().unwrap(), 2);
    assert_sound(&store);
}

/// Two releases of the struct, of which one reads more: what either reads is taken.
#[test]
fn two_releases_come_to_one_layout() {
    mod next {
        use super::Entity;

        #[derive(Entity)]
        #[entity(table = "Rooms", kind = "room")]
        #[key(partition = "{house}", row = "{number:04}")]
        pub(super) struct Room {
            pub(super) house: String,
            pub(super) number: u32,
            pub(super) beds: u16,
            pub(super) note: Option<String>,
        }
    }
    #[derive(Entity)]
    #[entity(table = "Rooms", kind = "room")]
    #[key(partition = "{house}", row = "{number:04}")]
    struct Room {
        house: String,
        number: u32,
        beds: u8,
    }
    Executor::Lmdb.run(|| {
        let scratch = Scratch::new();
        let store = scratch.tables();
        let old = store.table::<Room>().unwrap();
        let new = store.table::<next::Room>().unwrap();
        let table = store.dynamic_table("Rooms").unwrap();
        let beds = |beds: i32| DynamicEntity::new("h", "0001").with("Beds", beds);
        for number in 1..3 {
            old.insert(&Room { house: "h".into(), number, beds: 2 }).unwrap();
        }
        let error = table.merge(&beds(300), IfMatch::Any).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::SchemaMismatch, "{error}");
        new.insert(&next::Room { house: "h".into(), number: 3, beds: 300, note: None }).unwrap();
        table.merge(&beds(300).with("Note", "n"), IfMatch::Any).unwrap();
        // The older one goes on, and changes nothing of that.
        old.insert(&Room { house: "h".into(), number: 4, beds: 2 }).unwrap();
        table.merge(&beds(301), IfMatch::Any).unwrap();
        assert_eq!(new.get(next::Room::key("h", 1)).unwrap().unwrap().beds, 301);
        assert_eq!(table.query(&Query::new()).unwrap().count(), 4);
    });
}
