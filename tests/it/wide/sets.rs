//! Wide entities among the kinds of a set: a query gives each with all of its parts.

use integration_tests::executors::{reverses, snapshot};
use integration_tests::{Scratch, assert_sound, on_other_executors};
use table_core::{DynamicEntity, Entity, EntitySet, ErrorKind, IfMatch, Stored, prop};

use super::{Survey, key, survey, surveys};

/// Another kind in the table.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Surveys", kind = "office")]
#[key(partition = "{name}", row = "office")]
struct Office {
    name: String,
    desks: u32,
}

#[derive(EntitySet, Clone, Debug, PartialEq)]
#[expect(clippy::large_enum_variant, reason = "a set holds its entities as they are")]
enum Any {
    Survey(Survey),
    Office(Office),
}

fn office() -> Office {
    Office { name: "Oslo".into(), desks: 7 }
}

#[test]
fn a_set_gives_wide_entities_whole() {
    let scratch = Scratch::new();
    let store = scratch.tables();
    let surveys = surveys(&store, 4);
    let set = store.set::<Any>().unwrap();
    let new = survey(4);
    set.egt(Survey::partition("Oslo"))
        .insert(&office())
        .insert(&new)
        .update(key(1), |survey| survey.answers[199] = Some(-1))
        .delete(key(2))
        .commit()
        .unwrap();
    let mut first = survey(1);
    first.answers[199] = Some(-1);
    let wanted = [
        Any::Office(office()),
        Any::Survey(survey(0)),
        Any::Survey(first),
        Any::Survey(survey(3)),
        Any::Survey(new),
    ];
    let found = |entities: Vec<table_core::Result<Stored<Any>>>| -> Vec<Any> {
        entities.into_iter().map(|entity| Stored::into_inner(entity.unwrap())).collect()
    };
    let all = || set.partition(Survey::partition("Oslo"));
    assert_eq!(found(all().into_iter().collect()), wanted);
    let last = || set.across_partitions().rev().top(2);
    if reverses(|| last().first()) {
        assert_eq!(found(last().into_iter().collect()), [wanted[4].clone(), wanted[3].clone()]);
    }
    assert_eq!(all().count().unwrap(), 5);
    assert_eq!(all().explain().unwrap().parts(), 2);
    // A filter of what heads hold, and one of what parts do.
    assert_eq!(found(all().filter(prop("Title").eq("title 3")).into_iter().collect()), wanted[3..4]);
    let filtered = || all().filter(prop("Score").ge(1) | prop("Desks").ge(1));
    for error in [
        filtered().into_iter().next().unwrap().unwrap_err(),
        filtered().count().unwrap_err(),
        filtered().explain().unwrap_err(),
    ] {
        assert_eq!(error.kind(), ErrorKind::InvalidQuery, "{error}");
        assert!(error.to_string().contains("the parts of `Survey`"), "{error}");
    }
    // By key.
    assert_eq!(set.get(key(3)).unwrap().unwrap(), survey(3));
    assert_eq!(*set.get_any("Oslo", "survey_000001").unwrap().unwrap(), wanted[2]);
    assert!(set.get(key(2)).unwrap().is_none());
    assert!(set.get_any("Oslo", "survey_000002").unwrap().is_none());
    assert_eq!(set.get_any("Oslo", "survey_000001_01").unwrap_err().kind(), ErrorKind::SchemaMismatch);
    assert!(surveys.check().unwrap().is_sound());
    assert_sound(&store);
}

#[test]
fn pages_and_snapshots_of_a_set_give_wide_entities_whole() {
    let scratch = Scratch::new();
    let store = scratch.tables();
    let surveys = surveys(&store, 4);
    store.table::<Office>().unwrap().insert(&office()).unwrap();
    let set = store.set::<Any>().unwrap();
    let all = || set.partition(Survey::partition("Oslo"));
    let wanted: Vec<_> =
        std::iter::once(Any::Office(office())).chain((0..4).map(|id| Any::Survey(survey(id)))).collect();
    // Parts are none of what a page counts, on either side of where it ends.
    for size in 1..=6 {
        let (mut found, mut after) = (Vec::new(), None);
        loop {
            let page = all().page(size, after.as_ref()).unwrap();
            assert!(page.entities.len() <= size);
            found.extend(page.entities.into_iter().map(Stored::into_inner));
            match page.next {
                Some(next) => after = Some(next),
                None => break,
            }
        }
        assert_eq!(found, wanted, "{size}");
    }
    if reverses(|| all().rev().first()) {
        assert_eq!(*all().rev().first().unwrap().unwrap(), wanted[4]);
    }
    assert!(all().row_prefix("survey_").exists().unwrap());
    assert!(!all().row_prefix("survey_000003_").exists().unwrap(), "parts alone");
    let filtered = || all().filter(prop("Score").ge(1));
    for error in [
        filtered().page(2, None).unwrap_err(),
        filtered().first().unwrap_err(),
        filtered().exists().unwrap_err(),
    ] {
        assert_eq!(error.kind(), ErrorKind::InvalidQuery, "{error}");
        assert!(error.to_string().contains("the parts of `Survey`"), "{error}");
        assert!(error.to_string().contains("`Surveys`"), "{error}");
    }

    // A snapshot has the parts as they were with their heads.
    let Some(snapshot) = snapshot(&store) else { return };
    surveys.update(key(1), |survey| survey.answers[199] = Some(-1)).unwrap();
    surveys.delete(key(2)).unwrap();
    surveys.insert(&survey(4)).unwrap();
    let then = set.at(&snapshot);
    let found = then.partition(Survey::partition("Oslo")).into_iter();
    assert_eq!(found.map(|entity| Stored::into_inner(entity.unwrap())).collect::<Vec<_>>(), wanted);
    let page = then.across_partitions().page(3, None).unwrap();
    assert_eq!(page.entities.into_iter().map(Stored::into_inner).collect::<Vec<_>>(), wanted[..3]);
    assert_eq!(*then.across_partitions().rev().first().unwrap().unwrap(), wanted[4]);
    assert_eq!(then.get(key(1)).unwrap().unwrap(), survey(1));
    assert_eq!(*then.get_any("Oslo", "survey_000002").unwrap().unwrap(), wanted[3]);
    assert!(then.get(key(4)).unwrap().is_none() && set.get(key(4)).unwrap().is_some());
    assert_eq!(set.get(key(1)).unwrap().unwrap().answers[199], Some(-1));
    assert!(surveys.check().unwrap().is_sound());
    assert_sound(&store);
}

#[test]
fn wide_entities_are_changed_by_their_properties() {
    let scratch = Scratch::new();
    let store = scratch.tables();
    let surveys = surveys(&store, 2);
    let set = store.set::<Any>().unwrap();
    let new = DynamicEntity::new("Oslo", "survey_000007").with("EntityType", "survey").with("Title", "new");
    let error = set.insert_any(&new).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::SchemaMismatch, "{error}");
    let new =
        new.with("Mail", "m7@contoso.com").with("Score", 4).with("Pages", 70_i64).with("Answers_199", 5_i64);
    set.insert_any(&new).unwrap();
    let read = surveys.get(key(7)).unwrap().unwrap();
    assert_eq!((&*read.title, read.score, read.end.pages, read.answers[199]), ("new", 4, 70, Some(5)));
    let change = DynamicEntity::new("Oslo", "survey_000001").with("Score", 3).with("Answers_000", 9_i64);
    set.merge_any(&change, IfMatch::Any).unwrap();
    let mut expected = survey(1);
    (expected.score, expected.answers[0]) = (3, Some(9));
    assert_eq!(surveys.get(key(1)).unwrap().unwrap(), expected);
    assert_eq!(surveys.by_score().office("Oslo").score(3).count().unwrap(), 1);
    set.delete_any("Oslo", "survey_000000").unwrap();
    // A part is none of the set's kinds.
    let part = DynamicEntity::new("Oslo", "survey_000001_01").with("Score", 1);
    assert_eq!(set.merge_any(&part, IfMatch::Any).unwrap_err().kind(), ErrorKind::SchemaMismatch);
    assert_eq!(set.delete_any("Oslo", "survey_000001_02").unwrap_err().kind(), ErrorKind::SchemaMismatch);
    assert!(surveys.check().unwrap().is_sound());
    assert_sound(&store);
}

#[test]
fn a_set_never_gives_a_shorter_entity() {
    let scratch = Scratch::new();
    let store = scratch.tables();
    let surveys = surveys(&store, 2);
    surveys.dynamic().raw().delete("Oslo", "survey_000001_02").unwrap();
    let set = store.set::<Any>().unwrap();
    let all = || set.partition(Survey::partition("Oslo"));
    let mut each = all().into_iter();
    assert_eq!(*each.next().unwrap().unwrap(), Any::Survey(survey(0)));
    let mut refused = vec![
        each.next().unwrap().unwrap_err(),
        all().page(2, None).unwrap_err(),
        set.get(key(1)).unwrap_err(),
        set.get_any("Oslo", "survey_000001").unwrap_err(),
    ];
    if reverses(|| all().rev().first()) {
        refused.push(all().rev().first().unwrap_err());
    }
    if let Some(snapshot) = snapshot(&store) {
        let now = set.at(&snapshot);
        refused.extend([
            now.get(key(1)).unwrap_err(),
            now.get_any("Oslo", "survey_000001").unwrap_err(),
            now.across_partitions().page(2, None).unwrap_err(),
        ]);
    }
    for error in refused {
        assert_eq!(error.kind(), ErrorKind::Corrupt, "{error}");
        assert!(error.to_string().contains("survey_000001"), "{error}");
    }
}

on_other_executors! {
    a_set_gives_wide_entities_whole
    pages_and_snapshots_of_a_set_give_wide_entities_whole
    wide_entities_are_changed_by_their_properties
    a_set_never_gives_a_shorter_entity
}
