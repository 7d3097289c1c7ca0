//! Which keys tell entities, copies and kinds apart.

use proptest::prelude::*;

use super::{EMPLOYEE, SLUG, TEXT, each, employee, placed, said, sourced, with_partition, with_row};
use crate::model::EdmType;
use crate::schema::checks::{self, KeyOf};
use crate::schema::format::overlap;
use crate::schema::tests::strategies::{Values, case, field, template};
use crate::schema::{
    Field, Index, KeyPart, KeyType, Layout, Part, Place, Schema, Template, kinds_that_meet, print,
};

fn meet(a: &Template, b: &Template) -> bool {
    overlap::meet(a.parts, b.parts)
}

#[test]
fn c22_a_primary_key_tells_entities_apart() {
    let day = "%Y%j";
    let of = |partition, row| {
        let schema = placed(Place { partition: sourced("", partition), ..employee::at(sourced("", row)) });
        said(move || checks::identity(&schema))
    };
    let name = |format| field(3, TEXT, format);
    assert_eq!(
        of(vec![name("")], vec![field(1, KeyType::Time, day)]).unwrap(),
        "`{id:%Y%j}` does not give `id` back, and nothing else in the primary key does, so that two entities could \
         have one key: add `{id:ticks}`"
    );
    assert_eq!(
        of(vec![name("shard(16)")], vec![field(1, u32::KEY, "")]).unwrap(),
        "`{last_name:shard(16)}` does not give `last_name` back, and nothing else in the primary key does, so that \
         two entities could have one key: add `{last_name}`"
    );
    assert_eq!(of(vec![name("shard(16)")], vec![name("")]), None);
    assert_eq!(of(vec![field(1, KeyType::Time, day)], vec![field(1, KeyType::Time, "inverted")]), None);
    assert_eq!(
        of(vec![name("")], vec![name("lower")]).unwrap(),
        "`{last_name:lower}` can stand in an index only: a primary key tells entities apart"
    );
}

#[test]
fn c7_the_rows_of_an_entity_have_keys_of_their_own() {
    let of = |row, index| {
        let index = Index { place: employee::at(sourced("{last_name}", index)), ..employee::BY_NAME };
        let row = sourced("{email}", row);
        let schema = Schema { indexes: Vec::leak(vec![employee::BY_EMAIL, index]), ..with_row(row) };
        said(move || checks::disjoint(&schema, 1))
    };
    let name = || field(3, TEXT, "");
    assert_eq!(
        of(vec![Part::Literal("empid")], vec![name()]).unwrap(),
        "the index `by_name` (`{last_name}`) and the row key (`{email}`) could print one key: \
         start each with literal text of its own"
    );
    assert_eq!(
        of(vec![Part::Literal("empid_")], vec![Part::Literal("em"), name()]).unwrap(),
        "the index `by_name` (`{last_name}`) and the row key (`{email}`) could print one key: \
         start each with literal text of its own"
    );
    assert_eq!(
        of(vec![Part::Literal("empid_")], vec![Part::Literal("emai"), name()]).unwrap(),
        "the index `by_name` (`{last_name}`) and the index `by_email` (`email_{email}`) could print one key: \
         start each with literal text of its own"
    );
    assert_eq!(of(vec![Part::Literal("empid_")], vec![Part::Literal("name_"), name()]), None);
    // A mistake in a template is reported once, by the rule for it.
    assert_eq!(of(vec![Part::Literal("em/")], vec![Part::Literal("em"), name()]), None);
}

#[test]
fn c7_kinds_in_a_table_have_keys_of_their_own() {
    let review = Schema {
        entity: "Review",
        kind: "review",
        indexes: &[],
        ..with_row(sourced(
            "empid_{id:06}_{year}",
            vec![Part::Literal("empid_"), employee::ID, Part::Literal("_"), field(2, u16::KEY, "04")],
        ))
    };
    assert_eq!(said(move || checks::kinds(&EMPLOYEE, &review)), None);
    let by_id = Index { place: *EMPLOYEE.place(), ..employee::BY_NAME };
    let review = Schema { indexes: Vec::leak(vec![employee::BY_EMAIL, by_id]), ..review };
    assert_eq!(
        said(move || checks::kinds(&review, &EMPLOYEE)).unwrap(),
        "the index `by_email` (`email_{email}`) of `Review` and the index `by_email` (`email_{email}`) of `Employee` \
         could print one key: start each with literal text of its own"
    );
    let review = Schema { indexes: Vec::leak(vec![by_id]), ..review };
    assert_eq!(
        kinds_that_meet("", &review, &Layout::of(&EMPLOYEE)).unwrap(),
        "the index `by_name` (`empid_{id:06}`) of `Review` and the row key (`empid_{Id:06}`) of `employee` \
         could print one key: start each with literal text of its own"
    );
    // Partitions of their own are enough.
    let elsewhere = |text| template(vec![Part::Literal(text), employee::text(0)]);
    let a = with_partition(elsewhere("a_"));
    let b = with_partition(elsewhere("b_"));
    assert_eq!(kinds_that_meet("", &a, &Layout::of(&b)), None);
    assert!(kinds_that_meet("", &a, &Layout::of(&a)).is_some());
}

#[test]
fn c7_rows_that_lie_apart_may_have_one_row_key() {
    let own = *EMPLOYEE.place();
    let literal = |text| template(vec![Part::Literal(text)]);
    let of = |place| {
        let index = Index { place, ..employee::BY_NAME };
        let schema =
            Schema { indexes: Vec::leak(vec![index]), ..placed(Place { partition: literal("a"), ..own }) };
        said(move || checks::disjoint(&schema, 0))
    };
    let at = |table, partition| Place::new(table, literal(partition), own.row);
    assert!(of(at("Company", "a")).is_some());
    assert!(of(at("company", "a")).is_some());
    assert_eq!(of(at("Company", "b")), None);
    assert_eq!(of(at("Names", "a")), None);
    assert!(of(Place { partition: template(vec![employee::text(0)]), ..own }).is_some());
}

#[test]
fn c8_what_an_index_gives_back_is_in_its_own_place() {
    let of = |place| {
        let schema = Schema { indexes: Vec::leak(vec![Index { place, ..employee::BY_NAME }]), ..EMPLOYEE };
        said(move || checks::determined(&schema, 0))
    };
    let all = template(vec![Part::Literal("all")]);
    assert_eq!(of(employee::BY_NAME.place), None);
    assert_eq!(
        of(Place { partition: all, ..employee::BY_NAME.place }).unwrap(),
        "entities that differ in `department` alone would have one row in the index `by_name`: \
         add `{department}` to it, or say `unique` if that is to be an error"
    );
    let row = template(vec![employee::text(0), Part::Literal("_"), employee::ID]);
    assert_eq!(of(Place::new("Names", all, row)), None);
}

#[test]
fn c8_an_index_tells_entities_apart_or_is_unique() {
    let of = |unique, parts| {
        let index = Index { place: employee::at(sourced("", parts)), unique, ..employee::BY_NAME };
        let schema = Schema { indexes: Vec::leak(vec![index]), ..EMPLOYEE };
        said(move || checks::determined(&schema, 0))
    };
    let name = || field(3, TEXT, "");
    assert_eq!(
        of(false, vec![name()]).unwrap(),
        "entities that differ in `id` alone would have one row in the index `by_name`: \
         add `{id:06}` to it, or say `unique` if that is to be an error"
    );
    assert_eq!(of(true, vec![name()]), None);
    assert_eq!(of(false, vec![field(1, u32::KEY, "inverted"), name()]), None);
    assert!(of(false, vec![field(1, u32::KEY, "shard(16)")]).is_some());
    assert!(of(false, vec![each(1, KeyType::Each(&u32::KEY))]).is_some());
}

#[test]
fn templates_that_cannot_meet_are_told_apart() {
    let name = || field(0, TEXT, "");
    let id = |format| field(1, u32::KEY, format);
    let literal = Part::Literal;
    let slug = || field(0, SLUG, "");
    let states = KeyType::Names(&["open", "closed"]);
    for (a, b, expected) in [
        (vec![literal("a_"), name()], vec![literal("b_"), name()], false),
        (vec![literal("a"), name()], vec![literal("ab"), name()], true),
        (vec![literal("a")], vec![literal("ab")], false),
        (vec![], vec![], true),
        (vec![], vec![name()], true),
        (vec![], vec![literal("a"), name()], false),
        (vec![id("")], vec![literal("a"), name()], false),
        (vec![id("")], vec![literal("1"), name()], true),
        (vec![id("06")], vec![id("07")], false),
        (vec![id("06")], vec![id("06:inverted")], true),
        // A slug has no `_`.
        (vec![slug(), literal("_x")], vec![slug(), literal("_y")], false),
        (vec![slug(), literal("_x")], vec![slug()], false),
        (vec![slug(), literal("_"), slug()], vec![slug(), literal("_"), slug(), literal("_"), slug()], false),
        // The last text may hold what ends the one before it.
        (vec![name(), literal("_"), name()], vec![name(), literal("_"), name(), literal("_"), name()], true),
        // Escaped text has no `!`.
        (vec![field(0, TEXT, "escaped"), literal("!a")], vec![field(0, TEXT, "escaped")], false),
        (vec![field(0, TEXT, "lower")], vec![literal("A"), name()], false),
        (vec![field(0, states, "")], vec![literal("x"), name()], false),
        (vec![field(0, states, "")], vec![literal("open")], true),
        (vec![field(0, states, ""), literal("!")], vec![literal("closed!")], true),
        (vec![field(0, KeyType::Uuid, "")], vec![literal("g"), name()], false),
        (vec![literal("é"), name()], vec![literal("è"), name()], false),
        (vec![literal("é"), name()], vec![name()], true),
        (vec![literal("é")], vec![field(0, SLUG, "")], false),
    ] {
        let (a, b) = (template(a), template(b));
        assert_eq!(meet(&a, &b), expected, "{a:?} {b:?}");
        assert_eq!(meet(&b, &a), expected, "{b:?} {a:?}");
    }
    // A sequence beyond what is walked may go on in any way.
    let long = |end: &str| template(vec![id(""), literal((".".repeat(700) + end).leak())]);
    assert!(meet(&long("a"), &long("b")));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn templates_that_print_one_key_meet(a in case(), b in case()) {
        let keys = |case: &crate::schema::tests::strategies::Case| {
            let printed = case.rows.iter().filter_map(|row| {
                let mut key = String::new();
                print(&case.template, &Values(row), &mut key).ok().map(|_| key)
            });
            printed.collect::<Vec<_>>()
        };
        let of_b = keys(&b);
        for key in keys(&a) {
            // The key as a template of its own, so that there is always one that meets it.
            let exact = template(vec![Part::Literal(key.clone().leak())]);
            prop_assert!(meet(&exact, &a.template) && meet(&a.template, &exact), "{:?}", key);
            prop_assert!(!of_b.contains(&key) || meet(&a.template, &b.template), "{:?}", key);
        }
    }

    #[test]
    fn templates_in_the_tests_are_sound(case in case()) {
        let fields = vec![Field { name: "f", property: "F", edm: EdmType::String, optional: false, ..Field::PLAIN }; 4];
        let index = Index { place: employee::at(case.template), ..employee::BY_NAME };
        let schema = Schema { fields: fields.leak(), indexes: Vec::leak(vec![index]), ..EMPLOYEE };
        prop_assert_eq!(said(move || checks::template(&schema, KeyOf::Index(0))), None);
    }
}
