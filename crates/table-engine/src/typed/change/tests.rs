//! Changes driven step by step, with no store at hand.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use super::attempt::{Attempt, PlanScratch};
use super::driver::Scope;
use super::plan_only::planned;
use table_derive::Entity;

use super::entity_attempt::EntityAttempt;
use super::entity_images::{ImagesOf, TypedImages};
use super::{Change, Payload, values_of};
use crate::DynamicEntity;
use crate::error::{Error, ErrorKind, Result};
use crate::model::{ETag, EntityKeys, IfMatch, Ticks, ValueRef};
use crate::plan::{
    Act, Cause, Condition, FoundTokens, Plan, PlanBuilder, Reach, Resealed, RowContent, RowKind, RowWrite,
    Seals, Version,
};
use crate::row::named::{Names, PackedRow};
use crate::schema::{Blind, Field, IndexMask, KeyPair};
use crate::typed::entity::Entity as Declared;
use crate::typed::read::key::Key;

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Company", kind = "employee")]
#[key(partition = "{department}", row = "empid_{id:06}")]
#[index(by_email, row = "email_{email}", unique)]
#[index(by_badge, row = "badge_{badge:03}_{id:06}", when = Employee::is_inside)]
struct Employee {
    department: String,
    id: u32,
    email: String,
    badge: u16,
}

impl Employee {
    fn is_inside(&self) -> bool {
        self.badge > 0
    }

    fn new(id: u32, email: &str) -> Self {
        Self { department: "Sales".into(), id, email: email.into(), badge: 0 }
    }
}

/// A closure that may go to another thread.
type Sent<'c> = dyn FnMut(&mut Employee) + Send + 'c;

/// There are no keys, and nothing asks for any.
struct NoKeys;

impl Seals for NoKeys {
    fn seal(&self, _: &str, _: &str, _: &Field, _: ValueRef<'_>) -> Result<Vec<u8>> {
        Err(Error::new(ErrorKind::KeyUnavailable))
    }

    fn tokens(&self, _: &str, _: &Field, _: Blind, _: ValueRef<'_>) -> Result<FoundTokens> {
        Err(Error::new(ErrorKind::KeyUnavailable))
    }

    fn reseal(&self, _: &str, _: &str, _: &Field, _: ValueRef<'_>) -> Result<Resealed> {
        Err(Error::new(ErrorKind::KeyUnavailable))
    }
}

/// Of a batch.
const IN_SALES: Scope<'_> = Scope { reach: Reach::Batch("Sales"), ..Scope::ALONE };

const FIRST: Version = version(1);
const SECOND: Version = version(2);

const fn version(number: u64) -> Version {
    let Some(time) = Ticks::new(number) else { panic!("the time is beyond the calendar") };
    Version { etag: ETag::from_timestamp(time), proof: [7, 8, 9] }
}

/// Returns a row of an entity as an executor gives it: its own, or the copy in an index.
fn stored<E: Declared>(names: &Names, entity: &E, cause: Cause, key: &str) -> PackedRow {
    let values = values_of(entity).unwrap();
    let content = RowContent::new(RowKind { schema: E::SCHEMA, cause }, &values);
    let properties: Vec<_> = content.properties().collect();
    names.pack(1, "Sales", key, Ticks::MIN, &properties).unwrap()
}

fn own(names: &Names, employee: &Employee) -> PackedRow {
    stored(names, employee, Cause::Entity, &format!("empid_{:06}", employee.id))
}

/// Gives an attempt the row that it needs, which must be this one.
fn answer(attempt: &mut dyn Attempt, key: &str, row: Option<(&PackedRow, Version)>) {
    let need = attempt.next_read().unwrap().unwrap();
    assert_eq!(need.keys.as_keys(), EntityKeys::new("Sales", key));
    match row {
        Some((row, version)) => attempt.on_row(Some((&row.view().unwrap(), version))).unwrap(),
        None => attempt.on_row(None).unwrap(),
    }
    attempt.release(need);
}

/// Shows a planned row as text.
fn shown(row: &RowWrite<'_>) -> String {
    let act = match row.act {
        Act::Keep => "keep",
        Act::Put(_) => "put",
        Act::Merge(_) => "merge",
        Act::Remove => "remove",
    };
    let condition = match row.condition {
        Condition::Is(version) => format!("is {}", version.etag.timestamp().get()),
        other => format!("{other:?}").to_lowercase(),
    };
    format!("{} {act} {} if {condition}", row.of, row.key)
}

fn rows(plan: &Plan<'_>) -> Vec<String> {
    let group = plan.groups.first().unwrap();
    assert_eq!((plan.groups.len(), group.partition), (1, "Sales"));
    group.rows.iter().map(shown).collect()
}

type Update<'c> = EntityAttempt<'c, Box<ImagesOf<'c, Employee, Sent<'c>>>>;

fn update<'c>(change: impl FnMut(&mut Employee) + Send + 'c) -> Update<'c> {
    let change: Box<Sent<'c>> = Box::new(change);
    let entities = TypedImages::of(Payload::Closure(change));
    EntityAttempt::of(Employee::key("Sales", 7).into_keys(), Change::Update, Box::new(entities))
}

#[test]
fn each_step_may_run_on_another_thread() {
    let names = Names::default();
    let row = own(&names, &Employee::new(7, "ann@contoso.com"));
    let runs = AtomicUsize::new(0);
    let mut attempt = update(|employee| {
        runs.fetch_add(1, Ordering::Relaxed);
        employee.email = "jones@contoso.com".into();
    });
    thread::scope(|scope| {
        let (need, mut attempt) = scope
            .spawn(move || {
                attempt.begin();
                (attempt.next_read().unwrap().unwrap(), attempt)
            })
            .join()
            .unwrap();
        assert_eq!(need.keys.as_keys(), EntityKeys::new("Sales", "empid_000007"));
        let mut attempt = scope
            .spawn(|| {
                attempt.on_row(Some((&row.view().unwrap(), FIRST))).unwrap();
                attempt
            })
            .join()
            .unwrap();
        attempt.release(need);
        assert!(attempt.next_read().unwrap().is_none());
        assert_eq!(runs.load(Ordering::Relaxed), 0, "the closure ran where a row was lent");
        let (attempt, planned) = scope
            .spawn(move || {
                let rows =
                    planned(Scope::ALONE, &["Company"], &mut [&mut attempt], &[&NoKeys], rows).unwrap();
                (attempt, rows)
            })
            .join()
            .unwrap();
        assert_eq!(
            planned,
            [
                "0 put empid_000007 if is 1",
                "0 put email_jones@contoso.com if absent",
                "0 remove email_ann@contoso.com if any",
                "0 remove badge_000_000007 if any",
            ]
        );
        assert_eq!(TypedImages::made(*attempt.into_images()).unwrap().email, "jones@contoso.com");
    });
    assert_eq!(runs.load(Ordering::Relaxed), 1);
}

#[test]
fn another_attempt_knows_nothing_of_the_one_before() {
    let names = Names::default();
    let mut seen = Vec::new();
    let mut attempt = update(|employee| {
        seen.push(employee.badge);
        employee.badge += 1;
    });
    let mut stored = Employee::new(7, "ann@contoso.com");
    for (badge, version, key) in [(4, FIRST, "badge_005_000007"), (8, SECOND, "badge_009_000007")] {
        stored.badge = badge;
        attempt.begin();
        answer(&mut attempt, "empid_000007", Some((&own(&names, &stored), version)));
        let planned = planned(Scope::ALONE, &["Company"], &mut [&mut attempt], &[&NoKeys], rows).unwrap();
        let number = version.etag.timestamp().get();
        assert_eq!(planned[0], format!("0 put empid_000007 if is {number}"));
        assert_eq!(planned[1], format!("0 put {key} if any"));
    }
    // A need that was not answered is asked again.
    attempt.begin();
    let need = attempt.next_read().unwrap().unwrap();
    attempt.release(need);
    attempt.begin();
    answer(&mut attempt, "empid_000007", None);
    let error = planned(Scope::ALONE, &["Company"], &mut [&mut attempt], &[&NoKeys], rows).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::EntityNotFound);
    assert!(
        error
            .to_string()
            .starts_with("cannot update in table `Company`, partition `Sales`, row `empid_000007`")
    );
    drop(attempt);
    assert_eq!(seen, [4, 8]);
}

#[test]
fn a_patch_is_given_back_to_the_next_attempt() {
    let names = Names::default();
    let patch = Employee::patch().email("jones@contoso.com");
    let (merge, patch) = (Change::Merge(IfMatch::Any), Payload::Patch(patch));
    let mut attempt = EntityAttempt::new(Employee::key("Sales", 7), merge, patch);
    for email in ["ann@contoso.com", "beth@contoso.com"] {
        attempt.begin();
        answer(&mut attempt, "empid_000007", Some((&own(&names, &Employee::new(7, email)), FIRST)));
        let planned = planned(Scope::ALONE, &["Company"], &mut [&mut attempt], &[&NoKeys], rows).unwrap();
        assert!(planned.contains(&"0 put email_jones@contoso.com if absent".to_owned()), "{planned:?}");
        assert!(planned.contains(&format!("0 remove email_{email} if any")), "{planned:?}");
    }
}

#[test]
fn what_is_of_another_version_is_refused_before_it_is_changed() {
    let names = Names::default();
    let row = own(&names, &Employee::new(7, "ann@contoso.com"));
    let key = || Employee::key("Sales", 7);
    let jones = Employee::new(7, "jones@contoso.com");
    let second = SECOND.etag.into();
    let changes =
        [(Change::Replace(second), Payload::Entity(&jones)), (Change::Delete(second), Payload::Nothing)];
    for (change, payload) in changes {
        let mut attempt = EntityAttempt::new(key(), change, payload);
        attempt.begin();
        answer(&mut attempt, "empid_000007", Some((&row, FIRST)));
        let error = planned(Scope::ALONE, &["Company"], &mut [&mut attempt], &[&NoKeys], rows).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::ConditionNotMet);
        assert_eq!(error.row_key(), Some("empid_000007"));
    }
}

#[test]
fn a_row_of_another_kind_is_an_error_of_the_reading() {
    let names = Names::default();
    let row = names.pack(1, "Sales", "empid_000007", Ticks::MIN, &[]).unwrap();
    let mut attempt = update(|_| panic!("nothing was found to be changed"));
    attempt.begin();
    let need = attempt.next_read().unwrap().unwrap();
    let error = attempt.on_row(Some((&row.view().unwrap(), FIRST))).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::SchemaMismatch);
    attempt.release(need);
    assert!(attempt.next_read().unwrap().is_none());
}

#[test]
fn several_changes_are_planned_as_one() {
    let names = Names::default();
    let (ann, bob) = (Employee::new(1, "first"), Employee::new(2, "second"));
    let cleo = Employee::new(3, "third");
    let swap = |id, email: &'static str| {
        let change = move |employee: &mut Employee| employee.email = email.into();
        EntityAttempt::new(Employee::key("Sales", id), Change::Update, Payload::Closure(Box::new(change)))
    };
    let (mut first, mut second) = (swap(1, "second"), swap(2, "first"));
    let mut third = EntityAttempt::new(Key::unused(), Change::Insert, Payload::Entity(&cleo));
    for (attempt, employee) in [(&mut first, &ann), (&mut second, &bob)] {
        attempt.begin();
        let key = format!("empid_{:06}", employee.id);
        answer(attempt, &key, Some((&own(&names, employee), FIRST)));
    }
    third.begin();
    assert!(third.next_read().unwrap().is_none(), "what is new needs nothing");
    let attempts: &mut [&mut dyn Attempt] = &mut [&mut first, &mut second, &mut third];
    let planned = planned(IN_SALES, &["Company"], attempts, &[&NoKeys], rows).unwrap();
    assert_eq!(
        planned,
        [
            "0 put empid_000001 if is 1",
            "1 put empid_000002 if is 1",
            "2 put empid_000003 if absent",
            "0 put email_second if any",
            "1 put email_first if any",
            "2 put email_third if absent",
            "0 remove badge_000_000001 if any",
            "1 remove badge_000_000002 if any",
        ]
    );
}

#[test]
fn of_several_errors_say_which() {
    let names = Names::default();
    let (ann, mut moved) = (Employee::new(1, "first"), Employee::new(2, "second"));
    moved.department = "Legal".into();
    let mut first =
        EntityAttempt::new(Employee::key("Sales", 1), Change::Delete(IfMatch::Any), Payload::Nothing);
    first.begin();
    answer(&mut first, "empid_000001", Some((&own(&names, &ann), FIRST)));
    let mut second = EntityAttempt::new(Key::unused(), Change::Insert, Payload::Entity(&moved));
    let attempts: &mut [&mut dyn Attempt] = &mut [&mut first, &mut second];
    let error = planned(IN_SALES, &["Company"], attempts, &[&NoKeys], rows).unwrap_err();
    assert_eq!((error.kind(), error.index()), (ErrorKind::DifferentPartitions, Some(1)));
}

#[test]
fn properties_are_set_on_what_was_found() {
    let names = Names::default();
    let changes = DynamicEntity::new("Sales", "empid_000007").with("Badge", 12);
    let mut attempt =
        EntityAttempt::new(Employee::key("Sales", 7), Change::Set(&changes, IfMatch::Any), Payload::Nothing);
    attempt.begin();
    answer(&mut attempt, "empid_000007", Some((&own(&names, &Employee::new(7, "ann")), FIRST)));
    let planned = planned(Scope::ALONE, &["Company"], &mut [&mut attempt], &[&NoKeys], rows).unwrap();
    assert_eq!(
        planned,
        [
            "0 put empid_000007 if is 1",
            "0 put badge_012_000007 if any",
            // It holds the badge, too.
            "0 put email_ann if any",
            "0 remove badge_000_000007 if any",
        ]
    );
}

#[cfg(feature = "encrypt")]
mod unopened {
    use super::*;

    /// One whose weight may still be plain.
    #[derive(Entity, Clone, Debug, PartialEq)]
    #[entity(table = "Clinic", kind = "patient")]
    #[key(partition = "{ward}", row = "patient_{id:03}")]
    #[index(by_age, row = "age_{age:03}_{id:03}", when = Patient::is_old, copy(weight))]
    #[index(by_bed, row = "bed_{bed:03}_{id:03}", when = Patient::is_old, copy(weight))]
    struct Patient {
        ward: String,
        id: u16,
        age: u16,
        bed: u16,
        #[encrypt(dual)]
        weight: i64,
    }

    impl Patient {
        fn is_old(&self) -> bool {
            panic!("nothing that is the user's sees an entity that is not opened: {self:?}")
        }
    }

    /// Seals anew, and knows no key.
    struct Anew;

    impl Seals for Anew {
        fn seal(&self, _: &str, _: &str, _: &Field, _: ValueRef<'_>) -> Result<Vec<u8>> {
            Err(Error::new(ErrorKind::KeyUnavailable))
        }

        fn tokens(&self, _: &str, _: &Field, _: Blind, _: ValueRef<'_>) -> Result<FoundTokens> {
            Err(Error::new(ErrorKind::KeyUnavailable))
        }

        fn reseal(&self, _: &str, _: &str, _: &Field, _: ValueRef<'_>) -> Result<Resealed> {
            Ok(Resealed { value: Some(vec![1; 40]), token: None })
        }
    }

    #[test]
    fn what_is_not_opened_is_asked_which_copies_it_has() {
        let names = Names::default();
        let patient = Patient { ward: "Sales".into(), id: 7, age: 90, bed: 2, weight: 61 };
        let row = stored(&names, &patient, Cause::Entity, "patient_007");
        let copy = stored(&names, &patient, Cause::Index(0), "age_090_007");
        let other = stored(&names, &patient, Cause::Index(0), "bed_002_007");
        let mut attempt = EntityAttempt::new(Patient::key("Sales", 7), Change::Reseal, Payload::Nothing);
        // A row of another kind under a copy's key is no entity's copy.
        for (age, bed, has_age) in
            [(Some(&copy), None, true), (None, Some(&other), false), (Some(&other), None, false)]
        {
            attempt.begin();
            answer(&mut attempt, "patient_007", Some((&row, FIRST)));
            for (key, found) in [("age_090_007", age), ("bed_002_007", bed)] {
                let asked = attempt.next_read().unwrap().unwrap();
                assert_eq!((asked.keys.as_keys(), asked.is_copy), (EntityKeys::new("Sales", key), true));
                let view = found.map(|found| found.view().unwrap());
                attempt.on_row(view.as_ref().map(|view| (view, SECOND))).unwrap();
                attempt.release(asked);
            }
            assert!(attempt.next_read().unwrap().is_none());
            let seen = planned(Scope::ALONE, &["Company"], &mut [&mut attempt], &[&Anew], |plan| {
                (rows(plan), plan.keeps_times)
            });
            let (planned, keeps_times) = seen.unwrap();
            assert!(keeps_times);
            // Where there is no copy, one is removed in case there is.
            let age = if has_age { "put" } else { "remove" };
            let expected = [
                "0 put patient_007 if is 1".to_owned(),
                format!("0 {age} age_090_007 if any"),
                "0 remove bed_002_007 if any".to_owned(),
            ];
            assert_eq!(planned, expected);
        }
    }
}

/// An entity with a copy for each of its tags, and one that may be missing.
#[cfg(feature = "json")]
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Articles", kind = "article")]
#[key(partition = "{section}", row = "article_{id:04}")]
#[index(by_tag, row = "tag_{tags[]}_{id:04}", copy(title))]
#[index(by_rank, row = "rank_{rank:03}_{id:04}", copy = keys)]
struct Article {
    section: String,
    id: u16,
    title: String,
    #[property(json)]
    tags: Vec<String>,
    rank: Option<u16>,
}

/// The plans of one change.
struct Plans {
    /// The plan without a builder; `None` where the change needs one.
    lone: Option<String>,
    built: Result<String>,
}

/// Plans the addition of an entity, without a builder and with one.
fn plans_of_addition<E: Declared>(entity: &E, index_mask: IndexMask) -> Plans {
    let mut entities = TypedImages::<E>::of(Payload::Entity(entity));
    let mut attempt = EntityAttempt::lent(Ok(KeyPair::default()), Change::Insert, &mut entities);
    attempt.set_index_mask(index_mask);
    both_plans(&mut attempt)
}

/// Plans a change, without a builder and with one.
fn both_plans(attempt: &mut dyn Attempt) -> Plans {
    attempt.make().unwrap();
    let mut scratch = PlanScratch::default();
    let lone = attempt.lone_plan(&NoKeys, &mut scratch).map(|plan| format!("{plan:?}"));
    let (mut scratch, tables) = (PlanScratch::default(), [attempt.schema().unwrap().table()]);
    let mut builder = PlanBuilder::new(Reach::Alone, &tables, 1);
    let planned = attempt.plan(0, &NoKeys, &mut scratch, &mut builder);
    let built = planned.and_then(|()| builder.into_plan()).map(|plan| format!("{plan:?}"));
    Plans { lone, built }
}

/// Makes sure that both plans are one, of so many rows.
fn assert_same(plans: Plans, rows: usize) {
    let (lone, built) = (plans.lone.unwrap(), plans.built.unwrap());
    assert_eq!(lone, built);
    assert_eq!(lone.matches("RowWrite {").count(), rows);
}

/// Makes sure that what is refused is planned with a builder, which says why.
fn assert_refused(plans: Plans) {
    assert_eq!(plans.lone, None);
    plans.built.unwrap_err();
}

#[test]
fn an_entity_is_added_without_a_builder_as_it_is_with_one() {
    let inside = Employee { badge: 7, ..Employee::new(7, "ann@contoso.com") };
    assert_same(plans_of_addition(&inside, IndexMask::NEW), 3);
    assert_same(plans_of_addition(&Employee::new(7, "ann@contoso.com"), IndexMask::NEW), 2);
    // What is kept of its indexes is planned, and nothing else.
    assert_same(plans_of_addition(&inside, IndexMask::NEW.of_index(1)), 2);
    assert_refused(plans_of_addition(&Employee::new(7, "a/b"), IndexMask::NEW));
    // Another entity's copy may stand in the place of one in an index that is being filled.
    let Plans { lone, built } = plans_of_addition(&inside, IndexMask::NEW.refiling());
    assert_eq!(lone, None);
    built.unwrap();
}

#[cfg(feature = "json")]
#[test]
fn an_entity_with_many_copies_is_added_without_a_builder_as_it_is_with_one() {
    let tags = |count: usize| (0..count).map(|tag| format!("t{tag:02}")).collect();
    let article =
        |count, rank| Article { section: "News".into(), id: 1, title: "One".into(), tags: tags(count), rank };
    for count in [0, 1, 3, 98] {
        assert_same(plans_of_addition(&article(count, None), IndexMask::NEW), 1 + count);
        assert_same(plans_of_addition(&article(count, Some(5)), IndexMask::NEW), 2 + count);
    }
    assert_same(plans_of_addition(&article(3, Some(5)), IndexMask::NEW.of_index(1)), 2);
    // Too many rows, and a key that can't be.
    assert_refused(plans_of_addition(&article(100, None), IndexMask::NEW));
    assert_refused(plans_of_addition(&article(99, Some(5)), IndexMask::NEW));
    assert_refused(plans_of_addition(&Article { section: "a/b".into(), ..article(1, None) }, IndexMask::NEW));
}

/// An entity with a copy in each of its indexes.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Company", kind = "desk")]
#[key(partition = "{department}", row = "desk_{id:03}")]
#[index(by_name, row = "deskname_{name}", unique)]
#[index(by_floor, row = "deskfloor_{floor:02}_{id:03}")]
#[index(by_room, row = "deskroom_{room}_{id:03}", copy(name))]
struct Place {
    department: String,
    id: u16,
    name: String,
    floor: u8,
    room: String,
}

#[test]
fn an_entity_is_changed_without_a_builder_as_it_is_with_one() {
    let names = Names::default();
    let place = |name: &str, floor| Place {
        department: "Sales".into(),
        id: 7,
        name: name.into(),
        floor,
        room: "east".into(),
    };
    let window = place("window", 2);
    let found = stored(&names, &window, Cause::Entity, "desk_007");
    let plans = |change, payload: Payload<'_, Place>, is_there: bool| {
        let mut entities = TypedImages::<Place>::of(payload);
        let keys = Ok(KeyPair::of("Sales", "desk_007"));
        let mut attempt = EntityAttempt::lent(keys, change, &mut entities);
        attempt.begin();
        answer(&mut attempt, "desk_007", is_there.then_some((&found, FIRST)));
        both_plans(&mut attempt)
    };
    let [same, door, upstairs] = [place("window", 2), place("door", 2), place("window", 3)];
    // Its own row, and as many copies as are written or go.
    for (new, rows) in [(&same, 1), (&door, 5), (&upstairs, 4)] {
        assert_same(
            plans(Change::Update, Payload::Closure(Box::new(|entity| *entity = new.clone())), true),
            rows,
        );
        assert_same(plans(Change::Replace(IfMatch::Any), Payload::Entity(new), true), rows);
        assert_same(plans(Change::Put, Payload::Entity(new), true), rows);
    }
    assert_same(plans(Change::Delete(IfMatch::Any), Payload::Nothing, true), 4);
    assert_same(plans(Change::Put, Payload::Entity(&same), false), 4);
    // Its key is in two of its indexes, too.
    assert_same(plans(Change::Move, Payload::Closure(Box::new(|entity| entity.id = 8)), true), 7);
    // Which copies of an entity with a sparse index are there is not certain.
    let ann = Employee::new(7, "ann@contoso.com");
    let mut entities = TypedImages::<Employee>::of(Payload::Nothing);
    let keys = Ok(KeyPair::of("Sales", "empid_000007"));
    let mut attempt = EntityAttempt::lent(keys, Change::Delete(IfMatch::Any), &mut entities);
    attempt.begin();
    answer(&mut attempt, "empid_000007", Some((&own(&names, &ann), FIRST)));
    let Plans { lone, built } = both_plans(&mut attempt);
    assert_eq!(lone, None);
    built.unwrap();
}
