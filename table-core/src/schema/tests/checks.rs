//! Declarations that are refused, in the words that the user sees.

use std::panic::catch_unwind;

use proptest::prelude::*;

use super::strategies::{Values, case, field, template};
use crate::model::EdmType;
use crate::schema::checks::{self, Place};
use crate::schema::overlap::meet;
use crate::schema::{
    CharSet, Copies, Field, FieldPart, Format, Index, KeyPart, KeyType, Part, Property as _, Schema,
    Template, TimeItem, print,
};

/// The entity of the design.
pub(in crate::schema) mod employee {
    use super::*;

    pub(in crate::schema) const fn text(field: usize) -> Part {
        Part::Field(FieldPart { field, key: String::KEY, format: Format::Plain, each: false })
    }

    pub(in crate::schema) const ID: Part =
        Part::Field(FieldPart { field: 1, key: u32::KEY, format: Format::Pad(6), each: false });

    pub(in crate::schema) const BY_EMAIL: Index = Index {
        name: "by_email",
        kind: "employee.by_email",
        row: Template { source: "email_{email}", parts: &[Part::Literal("email_"), text(4)] },
        unique: true,
        copies: Copies::All,
        sparse: false,
    };

    pub(in crate::schema) const BY_NAME: Index = Index {
        name: "by_name",
        kind: "employee.by_name",
        row: Template {
            source: "name_{last_name}_{id:06}",
            parts: &[Part::Literal("name_"), text(3), Part::Literal("_"), ID],
        },
        unique: false,
        copies: Copies::Some(&[2]),
        sparse: false,
    };
}

pub(in crate::schema) const EMPLOYEE: Schema = Schema {
    entity: "Employee",
    table: "Company",
    kind: "employee",
    version: 1,
    fields: &[
        Field {
            name: "department",
            property: "Department",
            edm: EdmType::String,
            optional: false,
            ..Field::PLAIN
        },
        Field { name: "id", property: "Id", edm: EdmType::Int64, optional: false, ..Field::PLAIN },
        Field {
            name: "first_name",
            property: "FirstName",
            edm: EdmType::String,
            optional: false,
            ..Field::PLAIN
        },
        Field {
            name: "last_name",
            property: "LastName",
            edm: EdmType::String,
            optional: false,
            ..Field::PLAIN
        },
        Field { name: "email", property: "Email", edm: EdmType::String, optional: false, ..Field::PLAIN },
        Field { name: "age", property: "Age", edm: EdmType::Int32, optional: true, ..Field::PLAIN },
    ],
    partition: Template { source: "{department}", parts: &[employee::text(0)] },
    row: Template { source: "empid_{id:06}", parts: &[Part::Literal("empid_"), employee::ID] },
    indexes: &[employee::BY_EMAIL, employee::BY_NAME],
};

// As generated code has it: every rule, while the program compiles.
const _: () = {
    checks::partition(&EMPLOYEE, false);
    checks::row(&EMPLOYEE);
    checks::index_row(&EMPLOYEE, 0);
    checks::index_row(&EMPLOYEE, 1);
};

/// What a check says, or nothing.
fn said(check: impl FnOnce() + std::panic::UnwindSafe) -> Option<String> {
    let panic = catch_unwind(check).err()?;
    Some(panic.downcast::<String>().map_or_else(|_| "another panic".to_owned(), |text| *text))
}

fn sourced(source: &'static str, parts: Vec<Part>) -> Template {
    Template { source, ..template(parts) }
}

/// What is said of a row key of these parts. Field 1 is `id`, 3 is `last_name`, 4 is `email`.
fn of_row(parts: Vec<Part>) -> Option<String> {
    let schema = Schema { row: sourced("{..}", parts), ..EMPLOYEE };
    said(move || checks::template(&schema, Place::Row))
}

/// The same, of an index.
fn of_index(parts: Vec<Part>) -> Option<String> {
    let index = Index { row: sourced("{..}", parts), ..employee::BY_NAME };
    let schema = Schema { indexes: Vec::leak(vec![index]), ..EMPLOYEE };
    said(move || checks::template(&schema, Place::Index(0)))
}

fn each(number: usize, key: KeyType) -> Part {
    let Part::Field(part) = field(number, key, Format::Plain) else { unreachable!("a field") };
    Part::Field(FieldPart { each: true, ..part })
}

const TEXT: KeyType = KeyType::Text(CharSet::ALL);
const SLUG: KeyType = KeyType::Text(CharSet::range('a', 'z').or(CharSet::of("-")));

#[test]
#[should_panic(expected = "`age` is signed, and the digits of negative numbers sort backwards: \
                           write `{age:offset}`, or `{age:010}` if it is never negative")]
fn a_check_panics_with_its_message() {
    let row = sourced("{age}", vec![field(5, i32::KEY, Format::Plain)]);
    checks::template(&Schema { row, ..EMPLOYEE }, Place::Row);
}

#[test]
fn c3_a_part_is_one_value_that_sorts() {
    let optional = KeyType::Optional(&TEXT);
    assert_eq!(
        of_row(vec![field(4, optional, Format::Plain)]).unwrap(),
        "`email` is an `Option`, which only an index can hold: without its value the entity would have no key"
    );
    assert_eq!(of_index(vec![field(4, optional, Format::Plain)]), None);
    let several = KeyType::Each(&TEXT);
    assert_eq!(
        of_row(vec![each(4, several)]).unwrap(),
        "`{email[]}` makes a row for each element, and an entity has one primary key: only an index can hold it"
    );
    assert_eq!(of_index(vec![each(4, several)]), None);
    assert_eq!(
        of_index(vec![field(4, several, Format::Plain)]).unwrap(),
        "`email` has several values: `{email[]}` in an index makes a row for each"
    );
    assert_eq!(
        of_index(vec![each(4, TEXT)]).unwrap(),
        "`email` has one value: write `{email}` without the `[]`"
    );
    assert_eq!(
        of_row(vec![field(1, i8::KEY, Format::Plain)]).unwrap(),
        "`id` is signed, and the digits of negative numbers sort backwards: \
         write `{id:offset}`, or `{id:03}` if it is never negative"
    );
    assert_eq!(of_row(vec![field(1, i8::KEY, Format::Offset)]), None);
    assert_eq!(of_row(vec![field(1, i8::KEY, Format::Pad(3))]), None);
}

#[test]
fn c4_a_part_that_varies_has_an_end() {
    let id = || field(1, u32::KEY, Format::Pad(6));
    let name = |format| field(3, TEXT, format);
    assert_eq!(
        of_row(vec![name(Format::Plain), id()]).unwrap(),
        "nothing tells where `{last_name}` ends and `{id:06}` begins: \
         put a character between them that `last_name` never holds"
    );
    assert_eq!(of_row(vec![name(Format::Plain), Part::Literal("_"), id()]), None);
    assert_eq!(of_row(vec![id(), name(Format::Plain)]), None);
    assert_eq!(
        of_row(vec![name(Format::Escaped), Part::Literal("_"), id()]).unwrap(),
        "`!` must follow `{last_name:escaped}`: it is what sorts before all that escaped text holds"
    );
    assert_eq!(of_row(vec![name(Format::Escaped), Part::Literal("!_"), id()]), None);
    assert_eq!(
        of_row(vec![field(3, SLUG, Format::Plain), Part::Literal("-"), id()]).unwrap(),
        "`-` can't end `{last_name}`, which may hold it: put another character there"
    );
    assert_eq!(of_row(vec![field(3, SLUG, Format::Plain), Part::Literal("_-"), id()]), None);
    assert_eq!(of_row(vec![field(3, SLUG, Format::Plain), Part::Literal("é"), id()]), None);
    let umlauts = KeyType::Text(CharSet::of("ä"));
    assert_eq!(
        of_row(vec![field(3, umlauts, Format::Plain), Part::Literal("é"), id()]).unwrap(),
        "`é` can't end `{last_name}`, which may hold it: put another character there"
    );
    let states = KeyType::Names(&["open", "on-hold"]);
    assert_eq!(
        of_row(vec![field(3, states, Format::Plain), Part::Literal("-"), id()]).unwrap(),
        "`-` can't end `{last_name}`, since `on-hold` holds it: put another character there"
    );
    assert_eq!(of_row(vec![field(3, states, Format::Plain), Part::Literal("_"), id()]), None);
    assert_eq!(of_row(vec![field(3, KeyType::Names(&["on", "no"]), Format::Plain), id()]), None);
    let lower = |chars| vec![field(3, KeyType::Text(chars), Format::Lower), Part::Literal("A"), id()];
    assert_eq!(of_index(lower(CharSet::of("AB"))), None);
    assert_eq!(of_index(lower(CharSet::ALL)), None);
}

#[test]
fn c5_a_width_is_one_to_twenty_digits() {
    for (format, expected) in [
        (Format::Pad(0), Some("the width in `{id:00}` must be from 1 to 20 digits")),
        (Format::Pad(21), Some("the width in `{id:021}` must be from 1 to 20 digits")),
        (Format::PadInverted(21), Some("the width in `{id:021:inverted}` must be from 1 to 20 digits")),
        (Format::Shard(1), Some("`{id:shard(1)}` makes no shards: say at least `shard(2)`")),
        (Format::Pad(1), None),
        (Format::PadInverted(20), None),
        (Format::Shard(2), None),
    ] {
        assert_eq!(of_row(vec![field(1, u32::KEY, format)]).as_deref(), expected);
    }
}

#[test]
fn c6_a_format_is_for_its_types() {
    let said = |key, format| of_index(vec![field(3, key, format)]);
    let day = Format::Time(&[TimeItem::Year, TimeItem::Char('-'), TimeItem::DayOfYear]);
    for (key, format, expected) in [
        (TEXT, Format::Pad(6), "`{last_name:06}` is for an integer, and `last_name` is text"),
        (
            u8::KEY,
            Format::Offset,
            "`{last_name:offset}` is for a signed integer, and `last_name` is an unsigned integer",
        ),
        (
            KeyType::Bool,
            Format::Inverted,
            "`{last_name:inverted}` is for an unsigned integer or a time, and `last_name` is a truth value",
        ),
        (
            i8::KEY,
            Format::PadInverted(3),
            "`{last_name:03:inverted}` is for an unsigned integer, and `last_name` is a signed integer",
        ),
        (KeyType::Uuid, Format::Ticks, "`{last_name:ticks}` is for a time, and `last_name` is a UUID"),
        (TEXT, day, "`{last_name:%Y-%j}` is for a time, and `last_name` is text"),
        (
            KeyType::Names(&["a"]),
            Format::Escaped,
            "`{last_name:escaped}` is for text, and `last_name` is one of a few names",
        ),
        (KeyType::Time, Format::Lower, "`{last_name:lower}` is for text, and `last_name` is a time"),
        (
            KeyType::Time,
            Format::Plain,
            "`{last_name}` is a time and does not say how it sorts: \
             `{last_name:ticks}` sorts the oldest first, `{last_name:inverted}` the newest",
        ),
    ] {
        assert_eq!(said(key, format).unwrap(), expected);
    }
    for (key, format) in [
        (KeyType::Time, Format::Ticks),
        (KeyType::Time, Format::Inverted),
        (KeyType::Time, day),
        (KeyType::Optional(&KeyType::Time), Format::Ticks),
        (u64::KEY, Format::Inverted),
        (u64::KEY, Format::PadInverted(6)),
        (i64::KEY, Format::Offset),
        (TEXT, Format::Lower),
        (TEXT, Format::Blind),
        (KeyType::Uuid, Format::Shard(16)),
    ] {
        assert_eq!(said(key, format), None);
    }
}

#[test]
fn c14_literal_text_is_what_a_key_can_hold() {
    assert_eq!(of_row(vec![Part::Literal("a/b")]).unwrap(), "the row key holds `/`, which no key can hold");
    assert_eq!(
        of_index(vec![Part::Literal("a\tb")]).unwrap(),
        "the index `by_name` holds a character of code 9, which no key can hold"
    );
    assert_eq!(
        of_row(vec![Part::Literal("a\u{9f}")]).unwrap(),
        "the row key holds a character of code 159, which no key can hold"
    );
    assert_eq!(of_row(vec![Part::Literal(" !~é\u{a0}\u{10000}")]), None);
}

#[test]
fn c15_a_template_leaves_room_for_its_values() {
    let long =
        |units: usize| vec![Part::Literal("é".repeat(units - 10).leak()), field(1, u32::KEY, Format::Plain)];
    assert_eq!(of_row(long(512)), None);
    assert_eq!(
        of_row(long(513)).unwrap(),
        "the row key has at least 513 UTF-16 units; a key has at most 512"
    );
    assert_eq!(
        of_row(vec![Part::Literal("\u{10000}".repeat(257).leak())]).unwrap(),
        "the row key has at least 514 UTF-16 units; a key has at most 512"
    );
    let names = KeyType::Names(&["open", "on"]);
    let padded =
        |units: usize| vec![field(3, names, Format::Plain), Part::Literal("_".repeat(units - 2).leak())];
    assert_eq!(of_row(padded(512)), None);
    assert!(of_row(padded(513)).is_some());
}

#[test]
fn c20_a_partition_is_more_than_a_time() {
    let hour = Format::Time(&[TimeItem::Year, TimeItem::Hour]);
    let of = |parts| {
        let schema = Schema { partition: sourced("log_{at:%Y%H}", parts), ..EMPLOYEE };
        said(move || checks::hot_partition(&schema))
    };
    let literal = || Part::Literal("log_");
    assert_eq!(
        of(vec![literal(), field(3, KeyType::Time, hour)]).unwrap(),
        "the partition key `log_{at:%Y%H}` is a time alone, so that all that is written at a time goes to one \
         partition: put what tells entities apart into it, or say `allow(hot_partition)`"
    );
    assert_eq!(of(vec![literal(), field(3, KeyType::Time, hour), field(1, u32::KEY, Format::Plain)]), None);
    assert_eq!(of(vec![field(3, KeyType::Time, Format::Shard(16))]), None);
    assert_eq!(of(vec![literal()]), None);
}

#[test]
fn c21_a_property_is_there_or_absent() {
    assert_eq!(said(|| checks::property("nick", Option::<String>::NESTED)), None);
    assert_eq!(
        said(|| checks::property("nick", Option::<Option<String>>::NESTED)).unwrap(),
        "`nick` is an `Option` of an `Option`, and a property is there or absent: write one `Option`"
    );
}

#[test]
fn c22_a_primary_key_tells_entities_apart() {
    let day = Format::Time(&[TimeItem::Year, TimeItem::DayOfYear]);
    let of = |partition, row| {
        let schema = Schema { partition: sourced("", partition), row: sourced("", row), ..EMPLOYEE };
        said(move || checks::identity(&schema))
    };
    let name = |format| field(3, TEXT, format);
    assert_eq!(
        of(vec![name(Format::Plain)], vec![field(1, KeyType::Time, day)]).unwrap(),
        "`{id:%Y%j}` does not give `id` back, and nothing else in the primary key does, so that two entities could \
         have one key: add `{id:ticks}`"
    );
    assert_eq!(
        of(vec![name(Format::Shard(16))], vec![field(1, u32::KEY, Format::Plain)]).unwrap(),
        "`{last_name:shard(16)}` does not give `last_name` back, and nothing else in the primary key does, so that \
         two entities could have one key: add `{last_name}`"
    );
    assert_eq!(of(vec![name(Format::Shard(16))], vec![name(Format::Plain)]), None);
    assert_eq!(of(vec![field(1, KeyType::Time, day)], vec![field(1, KeyType::Time, Format::Inverted)]), None);
    assert_eq!(
        of(vec![name(Format::Plain)], vec![name(Format::Lower)]).unwrap(),
        "`{last_name:lower}` can stand in an index only: a primary key tells entities apart"
    );
}

#[test]
fn c7_the_rows_of_an_entity_have_keys_of_their_own() {
    let of = |row, index| {
        let index = Index { row: sourced("{last_name}", index), ..employee::BY_NAME };
        let row = sourced("{email}", row);
        let schema = Schema { row, indexes: Vec::leak(vec![employee::BY_EMAIL, index]), ..EMPLOYEE };
        said(move || checks::disjoint(&schema, 1))
    };
    let name = || field(3, TEXT, Format::Plain);
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
    // A mistake in a template is told once, by the rule for it.
    assert_eq!(of(vec![Part::Literal("em/")], vec![Part::Literal("em"), name()]), None);
}

#[test]
fn c7_kinds_in_a_table_have_keys_of_their_own() {
    let review = Schema {
        entity: "Review",
        kind: "review",
        row: sourced(
            "empid_{id:06}_{year}",
            vec![
                Part::Literal("empid_"),
                employee::ID,
                Part::Literal("_"),
                field(2, u16::KEY, Format::Pad(4)),
            ],
        ),
        indexes: &[],
        ..EMPLOYEE
    };
    assert_eq!(said(move || checks::kinds(&EMPLOYEE, &review)), None);
    let by_id = Index { row: EMPLOYEE.row, ..employee::BY_NAME };
    let review = Schema { indexes: Vec::leak(vec![employee::BY_EMAIL, by_id]), ..review };
    assert_eq!(
        said(move || checks::kinds(&review, &EMPLOYEE)).unwrap(),
        "the index `by_email` (`email_{email}`) of `Review` and the index `by_email` (`email_{email}`) of `Employee` \
         could print one key: start each with literal text of its own"
    );
    let review = Schema { indexes: Vec::leak(vec![by_id]), ..review };
    assert_eq!(
        checks::kinds_that_meet(&review, &EMPLOYEE).unwrap(),
        "the index `by_name` (`empid_{id:06}`) of `Review` and the row key (`empid_{id:06}`) of `Employee` \
         could print one key: start each with literal text of its own"
    );
    // Partitions of their own are enough.
    let elsewhere = |text| template(vec![Part::Literal(text), employee::text(0)]);
    let a = Schema { partition: elsewhere("a_"), ..EMPLOYEE };
    let b = Schema { partition: elsewhere("b_"), ..EMPLOYEE };
    assert_eq!(checks::kinds_that_meet(&a, &b), None);
    assert!(checks::kinds_that_meet(&a, &a).is_some());
}

#[test]
fn c8_an_index_tells_entities_apart_or_is_unique() {
    let of = |unique, parts| {
        let index = Index { row: sourced("", parts), unique, ..employee::BY_NAME };
        let schema = Schema { indexes: Vec::leak(vec![index]), ..EMPLOYEE };
        said(move || checks::determined(&schema, 0))
    };
    let name = || field(3, TEXT, Format::Plain);
    assert_eq!(
        of(false, vec![name()]).unwrap(),
        "entities that differ in `id` alone would have one row in the index `by_name`: \
         add `{id:06}` to it, or say `unique` if that is to be an error"
    );
    assert_eq!(of(true, vec![name()]), None);
    assert_eq!(of(false, vec![field(1, u32::KEY, Format::Inverted), name()]), None);
    assert!(of(false, vec![field(1, u32::KEY, Format::Shard(16))]).is_some());
    assert!(of(false, vec![each(1, KeyType::Each(&u32::KEY))]).is_some());
}

#[test]
fn templates_that_cannot_meet_are_told_apart() {
    let name = || field(0, TEXT, Format::Plain);
    let id = |format| field(1, u32::KEY, format);
    let literal = Part::Literal;
    let slug = || field(0, SLUG, Format::Plain);
    let states = KeyType::Names(&["open", "closed"]);
    for (a, b, expected) in [
        (vec![literal("a_"), name()], vec![literal("b_"), name()], false),
        (vec![literal("a"), name()], vec![literal("ab"), name()], true),
        (vec![literal("a")], vec![literal("ab")], false),
        (vec![], vec![], true),
        (vec![], vec![name()], true),
        (vec![], vec![literal("a"), name()], false),
        (vec![id(Format::Plain)], vec![literal("a"), name()], false),
        (vec![id(Format::Plain)], vec![literal("1"), name()], true),
        (vec![id(Format::Pad(6))], vec![id(Format::Pad(7))], false),
        (vec![id(Format::Pad(6))], vec![id(Format::PadInverted(6))], true),
        // A slug has no `_`.
        (vec![slug(), literal("_x")], vec![slug(), literal("_y")], false),
        (vec![slug(), literal("_x")], vec![slug()], false),
        (vec![slug(), literal("_"), slug()], vec![slug(), literal("_"), slug(), literal("_"), slug()], false),
        // The last text may hold what ends the one before it.
        (vec![name(), literal("_"), name()], vec![name(), literal("_"), name(), literal("_"), name()], true),
        // Escaped text has no `!`.
        (vec![field(0, TEXT, Format::Escaped), literal("!a")], vec![field(0, TEXT, Format::Escaped)], false),
        (vec![field(0, TEXT, Format::Lower)], vec![literal("A"), name()], false),
        (vec![field(0, states, Format::Plain)], vec![literal("x"), name()], false),
        (vec![field(0, states, Format::Plain)], vec![literal("open")], true),
        (vec![field(0, states, Format::Plain), literal("!")], vec![literal("closed!")], true),
        (vec![field(0, KeyType::Uuid, Format::Plain)], vec![literal("g"), name()], false),
        (vec![literal("é"), name()], vec![literal("è"), name()], false),
        (vec![literal("é"), name()], vec![name()], true),
        (vec![literal("é")], vec![field(0, SLUG, Format::Plain)], false),
    ] {
        let (a, b) = (template(a), template(b));
        assert_eq!(meet(&a, &b), expected, "{a:?} {b:?}");
        assert_eq!(meet(&b, &a), expected, "{b:?} {a:?}");
    }
    // A sequence beyond what is walked may go on in any way.
    let long = |end: &str| template(vec![id(Format::Plain), literal((".".repeat(700) + end).leak())]);
    assert!(meet(&long("a"), &long("b")));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn templates_that_print_one_key_meet(a in case(), b in case()) {
        let keys = |case: &super::strategies::Case| {
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
        let index = Index { row: case.template, ..employee::BY_NAME };
        let schema = Schema { fields: fields.leak(), indexes: Vec::leak(vec![index]), ..EMPLOYEE };
        prop_assert_eq!(said(move || checks::template(&schema, Place::Index(0))), None);
    }
}

#[cfg(not(feature = "encrypt"))]
#[test]
#[should_panic(expected = "`#[encrypt]` needs the feature `encrypt` of `table-core`")]
fn encrypted_fields_need_the_feature() {
    checks::encrypt();
}
