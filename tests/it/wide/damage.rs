//! Parts that are missing, foreign, or of nobody.

use integration_tests::{Scratch, assert_sound};
use table_core::{DynamicEntity, ErrorKind, IfMatch, Query, Store};

use super::{Survey, key, survey, surveys};

fn raw(store: &Store) -> table_core::DynamicTable {
    store.dynamic_table("Surveys").unwrap().raw()
}

/// How many rows a check of the whole store complains of.
fn told(store: &Store) -> usize {
    store.check().unwrap().wrong_copies.len()
}

#[test]
fn an_entity_that_lacks_a_part_is_an_error_and_never_a_shorter_one() {
    let scratch = Scratch::new();
    let store = scratch.store();
    let surveys = surveys(&store, 4);
    raw(&store).delete("Oslo", "survey_000002_01").unwrap();
    let error = surveys.get(key(2)).unwrap_err();
    assert_eq!((error.kind(), error.row_key()), (ErrorKind::Corrupt, Some("survey_000002")));
    assert!(error.to_string().contains("part 1 of 2, row `survey_000002_01`, is missing"), "{error}");
    assert_eq!(surveys.get(key(1)).unwrap().unwrap(), survey(1));
    // So it is on every path.
    let is_damaged = |error: table_core::Error| assert_eq!(error.kind(), ErrorKind::Corrupt, "{error}");
    is_damaged(surveys.rows().office("Oslo").into_iter().find_map(Result::err).unwrap());
    is_damaged(surveys.rows().office("Oslo").filter(|s| s.score.eq(1)).count().unwrap_err());
    is_damaged(surveys.rows().office("Oslo").page(10, None).unwrap_err());
    is_damaged(surveys.by_mail().office("Oslo").mail("m2@contoso.com").entities().first().unwrap_err());
    is_damaged(surveys.view(key(2), |survey| survey.level()).unwrap_err());
    is_damaged(surveys.get_as::<super::Scored>(key(2)).unwrap_err());
    is_damaged(surveys.update(key(2), |survey| survey.level = 1).unwrap_err());
    is_damaged(surveys.merge(key(2), Survey::patch().title("new"), IfMatch::Any).unwrap_err());
    // What lies in the head alone is there.
    assert_eq!(surveys.get_as::<super::Title>(key(2)).unwrap().unwrap().title, "title 2");
    assert_eq!(surveys.rows().office("Oslo").count().unwrap(), 4);
    let report = surveys.check().unwrap();
    assert_eq!((report.lost_parts, report.wrong()), (1, 1));
    assert_eq!(
        (report.problems[0].row.as_str(), report.problems[0].index),
        ("survey_000002_01", "survey.01")
    );
    assert!(told(&store) > 0);
    // A repair can't know what it held, nor a change where the unique copy is that it led to.
    let repaired = surveys.repair().unwrap().run().unwrap();
    assert_eq!((repaired.mended, repaired.lost_parts), (0, 1));
    assert_eq!(surveys.put(&survey(2)).unwrap_err().kind(), ErrorKind::UniqueConflict);
    surveys.delete(key(2)).unwrap();
    assert_eq!(surveys.repair().unwrap().run().unwrap().mended, 2);
    surveys.insert(&survey(2)).unwrap();
    assert_eq!(surveys.get(key(2)).unwrap().unwrap(), survey(2));
    assert!(surveys.check().unwrap().is_sound());
    assert_sound(&store);
}

#[test]
fn an_entity_that_lacks_a_part_can_be_deleted() {
    let scratch = Scratch::new();
    let store = scratch.store();
    let surveys = surveys(&store, 3);
    raw(&store).delete("Oslo", "survey_000001_01").unwrap();
    surveys.delete(key(1)).unwrap();
    assert!(surveys.get(key(1)).unwrap().is_none());
    assert!(surveys.dynamic().get("Oslo", "survey_000001_02").unwrap().is_none());
    // Where its copies were, the part knew.
    assert_eq!(surveys.check().unwrap().orphans, 2);
    assert_eq!(surveys.repair().unwrap().run().unwrap().mended, 2);
    assert!(surveys.check().unwrap().is_sound());
    assert_sound(&store);
}

#[test]
fn another_row_is_no_part() {
    let scratch = Scratch::new();
    let store = scratch.store();
    let surveys = surveys(&store, 2);
    let other = DynamicEntity::new("Oslo", "survey_000001_02").with("EntityType", "guest").with("Pages", 3);
    raw(&store).replace(&other, IfMatch::Any).unwrap();
    let error = surveys.get(key(1)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Corrupt);
    assert!(error.to_string().contains("is not part 2 of it"), "{error}");
    for error in [
        surveys.put(&survey(1)).unwrap_err(),
        surveys.delete(key(1)).unwrap_err(),
        surveys.update(key(1), |survey| survey.level = 1).unwrap_err(),
    ] {
        assert_eq!(error.kind(), ErrorKind::Corrupt, "{error}");
    }
    let report = surveys.check().unwrap();
    assert_eq!((report.lost_parts, report.problems[0].what.contains("another row")), (1, true));
    raw(&store).delete("Oslo", "survey_000001_02").unwrap();
    surveys.put(&survey(1)).unwrap();
    assert!(surveys.check().unwrap().is_sound());
    assert_sound(&store);
}

#[test]
fn a_part_of_nobody_is_found_and_removed() {
    let scratch = Scratch::new();
    let store = scratch.store();
    let surveys = surveys(&store, 2);
    raw(&store).delete("Oslo", "survey_000001").unwrap();
    assert!(surveys.get(key(1)).unwrap().is_none());
    // What lies there is nobody's, and is not overwritten unseen.
    let error = surveys.insert(&survey(1)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Corrupt);
    assert!(error.to_string().contains("where part 1 of the entity is to be"), "{error}");
    assert!(told(&store) > 0);
    let report = surveys.check().unwrap();
    assert_eq!((report.orphans, report.lost_parts), (4, 0));
    assert_eq!(surveys.repair().unwrap().run().unwrap().mended, 4);
    assert_eq!(surveys.dynamic().query(&Query::new()).unwrap().count(), 4);
    surveys.insert(&survey(1)).unwrap();
    assert!(surveys.check().unwrap().is_sound());
    assert_sound(&store);
}

#[test]
fn a_head_that_says_nothing_or_nonsense_is_damaged() {
    let scratch = Scratch::new();
    let store = scratch.store();
    let surveys = surveys(&store, 2);
    let head = || raw(&store).get("Oslo", "survey_000001").unwrap().unwrap();
    let whole = head();
    for parts in [-1, 1 << 20] {
        let changed = DynamicEntity::new("Oslo", "survey_000001").with("EntityParts", parts);
        raw(&store).merge(&changed, IfMatch::Any).unwrap();
        let error = surveys.update(key(1), |survey| survey.level = 1).unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::Corrupt | ErrorKind::LayoutChanged), "{error}");
    }
    // Fewer than there are lack what the others hold.
    let changed = DynamicEntity::new("Oslo", "survey_000001").with("EntityParts", 1);
    raw(&store).merge(&changed, IfMatch::Any).unwrap();
    assert_eq!(surveys.get(key(1)).unwrap_err().kind(), ErrorKind::SchemaMismatch);
    let mut silent = DynamicEntity::new("Oslo", "survey_000001");
    for (name, value) in whole.properties().filter(|(name, _)| *name != "EntityParts") {
        silent = silent.with(name, value.clone());
    }
    raw(&store).replace(&silent, IfMatch::Any).unwrap();
    let error = surveys.get(key(1)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Corrupt);
    assert!(error.to_string().contains("does not say how many"), "{error}");
}
