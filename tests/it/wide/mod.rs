//! Wide entities: several rows, one entity.

mod damage;
mod grown;
mod listed;
mod random;
mod sets;

use integration_tests::executors::{reverses, snapshot};
use integration_tests::{Scratch, assert_sound, on_other_executors};
use table_core::query::QueryClass;
use table_core::{
    DynamicEntity, Entity, ErrorKind, IfMatch, Projection, Properties, Query, Store, Stored, Table, Tables,
    View,
};

/// A survey of many questions: a head and two parts.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Surveys", kind = "survey", wide)]
#[key(partition = "{office}", row = "survey_{id:06}")]
#[index(by_mail, row = "mail_{mail}", unique, copy = keys)]
#[index(by_score, row = "score_{score:05}_{id:06}", copy(title, remark), when = Survey::is_scored)]
pub(crate) struct Survey {
    pub(crate) office: String,
    pub(crate) id: u32,
    pub(crate) title: String,
    #[part]
    pub(crate) mail: String,
    pub(crate) score: u16,
    pub(crate) remark: Option<String>,
    #[property(default)]
    pub(crate) level: i32,
    #[part]
    #[series]
    pub(crate) answers: [Option<i64>; 200],
    #[flatten]
    pub(crate) end: End,
}

/// What stands at the end of it.
#[derive(Properties, Clone, Debug, PartialEq, Default)]
pub(crate) struct End {
    pub(crate) note: Option<String>,
    pub(crate) pages: u32,
}

impl Survey {
    pub(crate) fn is_scored(&self) -> bool {
        self.score > 0
    }
}

/// What lies in the head, and in the first part.
#[derive(Projection, Debug, PartialEq)]
#[projection(of = Survey)]
struct Scored {
    title: String,
    score: u16,
}

#[derive(Projection, Debug, PartialEq)]
#[projection(of = Survey)]
struct Title {
    id: u32,
    title: String,
}

pub(crate) fn survey(id: u32) -> Survey {
    Survey {
        office: "Oslo".into(),
        id,
        title: format!("title {id}"),
        mail: format!("m{id}@contoso.com"),
        score: (id % 5) as u16,
        remark: id.is_multiple_of(3).then(|| format!("remark {id}")),
        level: id as i32,
        answers: std::array::from_fn(|at| (at % 7 != 3).then_some(i64::from(id) * 1_000 + at as i64)),
        end: End { note: id.is_multiple_of(2).then(|| "done".to_owned()), pages: id },
    }
}

pub(crate) fn surveys(store: &Tables, count: u32) -> Table<Survey> {
    let surveys = store.table::<Survey>().unwrap();
    for id in 0..count {
        surveys.insert(&survey(id)).unwrap();
    }
    surveys
}

pub(crate) fn key(id: u32) -> table_core::Key<Survey> {
    Survey::key("Oslo", id)
}

#[test]
fn an_entity_is_a_head_and_its_parts() {
    let scratch = Scratch::new();
    let store = scratch.tables();
    let surveys = surveys(&store, 3);
    for id in 0..3 {
        assert_eq!(surveys.get(key(id)).unwrap().unwrap(), survey(id));
    }
    let row = |key: &str| surveys.dynamic().get("Oslo", key).unwrap();
    let [head, one, two] = ["", "_01", "_02"].map(|part| row(&format!("survey_000001{part}")).unwrap());
    assert_eq!(head.get("EntityParts").and_then(|parts| parts.as_i32()), Some(2));
    assert_eq!(head.get("Title").and_then(|title| title.as_str()), Some("title 1"));
    assert_eq!((head.get("Mail"), head.get("Answers_000")), (None, None));
    assert_eq!(one.get("EntityType").and_then(|kind| kind.as_str()), Some("survey.01"));
    assert_eq!(one.get("Score").and_then(|score| score.as_i32()), Some(1));
    assert_eq!((one.get("Title"), one.get("Pages")), (None, None));
    assert_eq!(two.get("EntityType").and_then(|kind| kind.as_str()), Some("survey.02"));
    assert_eq!(two.get("Answers_198").and_then(|answer| answer.as_i64()), Some(1_198));
    assert_eq!(two.get("Pages").and_then(|pages| pages.as_i64()), Some(1));
    assert!(row("survey_000001_03").is_none());
    assert_sound(&store);
}

#[test]
fn each_change_writes_the_head_and_what_has_changed() {
    let scratch = Scratch::new();
    let store = scratch.tables();
    let surveys = surveys(&store, 2);
    let tag = |row: &str| surveys.dynamic().get("Oslo", row).unwrap().unwrap().etag().unwrap();
    let tags = || ["", "_01", "_02"].map(|part| tag(&format!("survey_000001{part}")));
    let before = tags();
    let merged = surveys.merge(key(1), Survey::patch().remark(Some("good".to_owned())), before[0]).unwrap();
    let after = tags();
    assert_eq!(Stored::etag(&merged), after[0]);
    assert_eq!((after[0] != before[0], after[1] == after[0], after[2] == before[2]), (true, true, true));
    // The head's version is the entity's.
    let stale = surveys.merge(key(1), Survey::patch().level(3), before[0]).unwrap_err();
    assert_eq!(stale.kind(), ErrorKind::ConditionNotMet);
    let patch = Survey::patch().answers(7..9, vec![None, Some(-1)]);
    let merged = surveys.merge(key(1), patch, after[0]).unwrap();
    let last = tags();
    assert_eq!((last[1] == after[1], last[2] == last[0]), (true, true));
    let mut expected = Survey { remark: Some("good".into()), ..survey(1) };
    (expected.answers[7], expected.answers[8]) = (None, Some(-1));
    assert_eq!(*merged, expected);
    assert_eq!(surveys.get(key(1)).unwrap().unwrap(), expected);
    // The copies follow what lies in a part.
    let copy = surveys.by_score().office("Oslo").score(1).first().unwrap().unwrap();
    assert_eq!((copy.id, copy.title.as_str(), copy.remark.as_deref()), (1, "title 1", Some("good")));
    let updated = surveys.update(key(1), |survey| survey.score = 4).unwrap();
    assert_eq!(updated.score, 4);
    assert!(!surveys.by_score().office("Oslo").score(1).exists().unwrap());
    assert_eq!(
        surveys.by_score().office("Oslo").score(4).entities().first().unwrap().unwrap().mail,
        "m1@contoso.com"
    );
    assert_eq!(surveys.get(key(0)).unwrap().unwrap(), survey(0));
    assert!(surveys.check().unwrap().is_sound());
    assert_sound(&store);
}

#[test]
fn changes_of_every_kind_keep_all_rows() {
    let scratch = Scratch::new();
    let store = scratch.tables();
    let surveys = surveys(&store, 3);
    let rows = || surveys.dynamic().query(&Query::new()).unwrap().count();
    // Head, two parts, a copy, and one more of each that is scored.
    assert_eq!(rows(), 3 * 4 + 2);
    assert_eq!(surveys.insert(&survey(1)).unwrap_err().kind(), ErrorKind::EntityAlreadyExists);
    let taken = Survey { mail: "m1@contoso.com".into(), ..survey(9) };
    assert_eq!(surveys.insert(&taken).unwrap_err().kind(), ErrorKind::UniqueConflict);
    assert_eq!(rows(), 14);
    let other = Survey { answers: [Some(5); 200], ..survey(1) };
    surveys.put(&other).unwrap();
    assert_eq!(surveys.get(key(1)).unwrap().unwrap(), other);
    surveys.put(&survey(7)).unwrap();
    let replaced = Survey { score: 0, end: End::default(), ..survey(7) };
    surveys.replace(&replaced, IfMatch::Any).unwrap();
    assert_eq!(surveys.get(key(7)).unwrap().unwrap(), replaced);
    assert_eq!(rows(), 14 + 4);
    let moved = surveys.move_to(key(7), |survey| survey.id = 8).unwrap();
    assert_eq!(moved.id, 8);
    assert!(surveys.get(key(7)).unwrap().is_none());
    assert_eq!(surveys.get(key(8)).unwrap().unwrap(), Survey { id: 8, ..replaced });
    assert_eq!(rows(), 18);
    surveys.delete(key(8)).unwrap();
    surveys.delete(key(1)).unwrap();
    assert_eq!(rows(), 4 + 5);
    assert!(surveys.dynamic().get("Oslo", "survey_000001_01").unwrap().is_none());
    let missing = surveys.merge(key(1), Survey::patch().level(1), IfMatch::Any).unwrap_err();
    assert_eq!(missing.kind(), ErrorKind::EntityNotFound);
    assert!(surveys.check().unwrap().is_sound());
    assert_sound(&store);
}

#[test]
fn batches_and_transactions_change_several() {
    let scratch = Scratch::new();
    let store = scratch.tables();
    let surveys = surveys(&store, 4);
    // Two exchange what is unique.
    surveys
        .egt(Survey::partition("Oslo"))
        .update(key(0), |survey| survey.mail = "m1@contoso.com".into())
        .update(key(1), |survey| survey.mail = "m0@contoso.com".into())
        .delete(key(2))
        .insert(&survey(5))
        .commit()
        .unwrap();
    assert_eq!(
        surveys.by_mail().office("Oslo").mail("m1@contoso.com").entities().first().unwrap().unwrap().id,
        0
    );
    let far = Survey { office: "Bern".into(), ..survey(6) };
    store.transaction().insert(&far).delete(key(3)).commit().unwrap();
    assert_eq!(surveys.get(Survey::key("Bern", 6)).unwrap().unwrap(), far);
    let left: Vec<_> = surveys.all().into_iter().map(|survey| survey.unwrap().id).collect();
    assert_eq!(left, [6, 0, 1, 5]);
    let explain = surveys.egt(Survey::partition("Oslo")).delete(key(0)).explain().unwrap();
    // The last is where a copy would be that a former `when` might have said.
    assert_eq!(explain.rows(), 5);
    assert!(explain.to_string().contains("part 2 of the survey"), "{explain}");
    assert!(surveys.check().unwrap().is_sound());
    assert_sound(&store);
}

#[test]
fn a_batch_counts_every_row() {
    let scratch = Scratch::new();
    let store = scratch.tables();
    let surveys = store.table::<Survey>().unwrap();
    let all: Vec<_> = (0..26).map(|id| Survey { score: 0, ..survey(id) }).collect();
    // Four rows of each.
    let batch = |count: usize| {
        all[..count]
            .iter()
            .fold(surveys.egt(Survey::partition("Oslo")), |egt, survey| egt.insert(survey))
            .commit()
    };
    let refused = batch(26).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::BatchLength);
    assert!(refused.to_string().contains("104 rows"), "{refused}");
    assert_eq!(surveys.all().count().unwrap(), 0);
    batch(25).unwrap();
    assert_eq!(surveys.all().count().unwrap(), 25);
    assert_sound(&store);
}

#[test]
fn queries_read_heads_and_the_parts_that_are_asked_for() {
    let scratch = Scratch::new();
    let store = scratch.tables();
    let surveys = surveys(&store, 20);
    let query = || surveys.rows().office("Oslo");
    let found: Vec<_> = query().into_iter().map(|survey| (*survey.unwrap()).clone()).collect();
    assert_eq!(found, (0..20).map(survey).collect::<Vec<_>>());
    assert_eq!(query().id(5..9).count().unwrap(), 4);
    // By the head, by a part, and by both.
    let ids = |query: Vec<table_core::Result<Stored<Survey>>>| -> Vec<u32> {
        query.into_iter().map(|survey| survey.unwrap().id).collect()
    };
    assert_eq!(ids(query().filter(|s| s.title.eq("title 7")).into_iter().collect()), [7]);
    assert_eq!(ids(query().filter(|s| s.score.eq(3)).into_iter().collect()), [3, 8, 13, 18]);
    let both = || query().filter(|s| s.score.eq(3) & s.title.ge("title 3") & !s.end.note.is_some());
    assert_eq!(ids(both().into_iter().collect()), [3]);
    assert_eq!(both().count().unwrap(), 1);
    assert!(both().exists().unwrap());
    assert!(!query().filter(|s| s.level.gt(100)).exists().unwrap());
    let slots = || query().filter(|s| s.answers.at(198).ge(17_000) | s.answers.at(3).is_some());
    if reverses(|| slots().rev().first()) {
        assert_eq!(ids(slots().rev().into_iter().collect()), [19, 18, 17]);
    }
    assert_eq!(ids(slots().top(2).into_iter().collect()), [17, 18]);
    assert_eq!(slots().first().unwrap().unwrap(), survey(17));
    // A key's field and a part's.
    assert_eq!(ids(query().filter(|s| s.id.lt(10) & s.score.eq(0)).into_iter().collect()), [0, 5]);
    // Projections read the parts that they need, and no other.
    let scored: Vec<_> = query().id(3..5).select::<Scored>().into_iter().collect::<Result<_, _>>().unwrap();
    assert_eq!(scored[1], Scored { title: "title 4".into(), score: 4 });
    let explain = query().select::<Scored>().explain().unwrap();
    assert_eq!((explain.parts(), explain.class()), (1, QueryClass::Range));
    assert_eq!(query().select::<Title>().explain().unwrap().parts(), 0);
    assert_eq!(query().filter(|s| s.score.eq(3)).select::<Title>().explain().unwrap().parts(), 2);
    let titles = query().filter(|s| s.score.eq(3)).select::<Title>();
    assert_eq!(titles.into_iter().map(|t| t.unwrap().id).collect::<Vec<_>>(), [3, 8, 13, 18]);
    let text = query().filter(|s| s.score.eq(3)).explain().unwrap().to_string();
    assert!(text.contains("with point reads of 2 parts of each, before the filter"), "{text}");
    assert_eq!(surveys.get_as::<Scored>(key(4)).unwrap().unwrap().score, 4);
    assert_eq!(surveys.get_many([1, 99].map(key)).unwrap()[0].as_ref().unwrap().mail, "m1@contoso.com");
    assert_sound(&store);
}

#[test]
fn pages_go_on_within_a_filter_of_parts() {
    let scratch = Scratch::new();
    let store = scratch.tables();
    let surveys = surveys(&store, 20);
    let query = surveys.rows().office("Oslo").filter(|s| s.score.eq(3));
    let (mut found, mut after) = (Vec::new(), None);
    loop {
        let page = query.page(6, after.as_ref()).unwrap();
        assert!(page.entities.len() <= 6);
        found.extend(page.entities.iter().map(|survey| survey.id));
        after = page.next;
        if after.is_none() {
            break;
        }
    }
    assert_eq!(found, [3, 8, 13, 18]);
    let refused = query.top(3).page(6, None).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::InvalidQuery);
    let page = surveys.rows().office("Oslo").top(3).page(2, None).unwrap();
    assert_eq!((page.entities.len(), page.next.is_some()), (2, true));
}

#[test]
fn views_see_the_parts_too() {
    let scratch = Scratch::new();
    let store = scratch.tables();
    let surveys = surveys(&store, 4);
    let pages = surveys.view(key(2), |survey| Ok((survey.end()?.pages, survey.answers().at(4)?))).unwrap();
    assert_eq!(pages, Some((2, Some(2_004))));
    let Some(snapshot) = snapshot(&store) else { return };
    surveys.update(key(1), |survey| (survey.title, survey.level) = ("new".into(), -1)).unwrap();
    let then = surveys.at(&snapshot);
    assert_eq!(then.get(key(1)).unwrap().unwrap(), survey(1));
    let view = then.view(key(1)).unwrap().unwrap();
    assert_eq!((view.title().unwrap(), view.level().unwrap(), view.id().unwrap()), ("title 1", 1, 1));
    assert_eq!(View::to_entity(&view).unwrap(), survey(1));
    let seen: Vec<_> = then.rows().office("Oslo").filter(|s| s.score.ge(2)).views().collect();
    assert_eq!(seen.len(), 2);
    for (view, id) in seen.into_iter().zip(2..) {
        let view = view.unwrap();
        assert_eq!(view.mail().unwrap(), format!("m{id}@contoso.com"));
        assert_eq!(View::to_entity(&view).unwrap(), survey(id));
    }
}

#[test]
fn what_knows_one_row_is_told() {
    let scratch = Scratch::new();
    let store = scratch.tables();
    let surveys = surveys(&store, 1);
    // A part is the struct's as the head is.
    let part = DynamicEntity::new("Oslo", "survey_000000_01").with("Score", 9);
    let refused = surveys.dynamic().merge(&part, IfMatch::Any).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::DeclaredKind);
    assert!(refused.to_string().contains("a part of a wide entity"), "{refused}");
    let refused = surveys.dynamic().delete("Oslo", "survey_000000_02").unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::DeclaredKind);
    surveys.dynamic().raw().merge(&part, IfMatch::Any).unwrap();
    assert_eq!(surveys.get(key(0)).unwrap().unwrap().score, 9);
}

#[test]
fn the_declaration_is_drawn_with_its_parts() {
    let drawn = Survey::SCHEMA.to_string();
    assert!(drawn.contains("survey, part 1"), "{drawn}");
    assert!(drawn.contains("survey_{id:06}_02"), "{drawn}");
    assert_eq!(Survey::SCHEMA.places.len(), 3);
}

on_other_executors! {
    an_entity_is_a_head_and_its_parts
    changes_of_every_kind_keep_all_rows
    a_batch_counts_every_row
    queries_read_heads_and_the_parts_that_are_asked_for
    pages_go_on_within_a_filter_of_parts
    views_see_the_parts_too
}

#[test]
fn jobs_and_figures_count_parts() {
    let scratch = Scratch::new();
    let store = scratch.store();
    let surveys = surveys(&store, 30);
    let cost = surveys.cost().unwrap();
    assert_eq!(cost.rows.iter().map(|rows| rows.rows).collect::<Vec<_>>(), [30, 30, 24, 30, 30]);
    assert_eq!(cost.rows[4].index, Some("survey.02"));
    surveys.rebuild().unwrap().run().unwrap();
    assert!(surveys.check().unwrap().is_sound());
    let copy = scratch.path().join("copy");
    store.copy_to(&copy).unwrap();
    let copied = Store::open(&copy).unwrap().table::<Survey>().unwrap();
    for id in 0..30 {
        assert_eq!(copied.get(key(id)).unwrap().unwrap(), survey(id));
    }
    let scored = surveys.rows().office("Oslo").filter(|s| s.score.eq(3)).entities();
    surveys.delete_where(scored).unwrap().run().unwrap();
    assert_eq!(surveys.all().count().unwrap(), 24);
    assert!(surveys.check().unwrap().is_sound());
    assert_sound(&store);
    surveys.delete_partition(Survey::partition("Oslo")).unwrap().run().unwrap();
    assert_eq!(surveys.dynamic().query(&Query::new()).unwrap().count(), 0);
    assert_sound(&store);
}
