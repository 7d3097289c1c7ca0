//! Declarations that are refused, in the words that the user sees.

mod identity;
mod templates;

use std::panic::catch_unwind;

use super::strategies::{field, template};
use crate::model::EdmType;
use crate::schema::checks::{self, KeyOf};
use crate::schema::{
    CharSet, Content, Copies, Field, FieldPart, Index, KeyPart, KeyType, Part, Place, Property as _, Schema,
    Template,
};

/// The entity of the design.
pub(crate) mod employee {
    use super::*;

    pub(crate) const fn text(field: usize) -> Part {
        Part::Field(FieldPart::new(field, String::KEY, ""))
    }

    pub(crate) const ID: Part = Part::Field(FieldPart::new(1, u32::KEY, "06"));

    const PARTITION: Template = Template { source: "{department}", parts: &[text(0)] };

    /// Returns the place in the entity's partition under this row key.
    pub(crate) const fn at(row: Template) -> Place {
        Place::new("Company", PARTITION, row)
    }

    pub(crate) const BY_EMAIL: Index = Index {
        name: "by_email",
        kind: "employee.by_email",
        place: at(Template { source: "email_{email}", parts: &[Part::Literal("email_"), text(4)] }),
        unique: true,
        copies: Copies::All,
        sparse: false,
        when_version: 1,
        arrival: None,
        summary: None,
        list: None,
    };

    pub(crate) const BY_NAME: Index = Index {
        name: "by_name",
        kind: "employee.by_name",
        place: at(Template {
            source: "name_{last_name}_{id:06}",
            parts: &[Part::Literal("name_"), text(3), Part::Literal("_"), ID],
        }),
        unique: false,
        copies: Copies::Some(&[2]),
        sparse: false,
        when_version: 1,
        arrival: None,
        summary: None,
        list: None,
    };
}

pub(crate) const EMPLOYEE: Schema = Schema {
    entity: "Employee",
    kind: "employee",
    entity_type: "employee",
    previous: None,
    removed: &[],
    version: 1,
    signed: false,
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
    places: &[employee::at(Template {
        source: "empid_{id:06}",
        parts: &[Part::Literal("empid_"), employee::ID],
    })],
    parts: &[],
    indexes: &[employee::BY_EMAIL, employee::BY_NAME],
    summary_of: None,
    copied: &[],
    dependents: &[],
    kin: crate::schema::Kin::NONE,
};

// As generated code has it: every rule, while the program compiles.
const _: () = {
    checks::partition(&EMPLOYEE, false);
    checks::row(&EMPLOYEE);
    checks::index_row(&EMPLOYEE, 0);
    checks::index_row(&EMPLOYEE, 1);
};

/// Returns what a check says, or nothing.
fn said(check: impl FnOnce() + std::panic::UnwindSafe) -> Option<String> {
    let panic = catch_unwind(check).err()?;
    Some(panic.downcast::<String>().map_or_else(|_| "another panic".to_owned(), |text| *text))
}

/// Returns the entity of the design in another place.
pub(crate) fn placed(place: Place) -> Schema {
    Schema { places: vec![place].leak(), ..EMPLOYEE }
}

/// Returns the entity of the design with another row key.
pub(crate) fn with_row(row: Template) -> Schema {
    placed(employee::at(row))
}

/// Returns the entity of the design with another partition key, which its copies have, too.
pub(crate) fn with_partition(partition: Template) -> Schema {
    let moved = |place: Place| Place { partition, ..place };
    let copies = EMPLOYEE.indexes.iter().map(|index| Index { place: moved(index.place), ..*index });
    Schema { indexes: copies.collect::<Vec<_>>().leak(), ..placed(moved(*EMPLOYEE.place())) }
}

fn sourced(source: &'static str, parts: Vec<Part>) -> Template {
    Template { source, ..template(parts) }
}

fn each(number: usize, key: KeyType) -> Part {
    let Part::Field(part) = field(number, key, "") else { unreachable!("a field") };
    Part::Field(FieldPart { each: true, ..part })
}

const TEXT: KeyType = KeyType::Text(CharSet::ALL);
const SLUG: KeyType = KeyType::Text(CharSet::range('a', 'z').or(CharSet::of("-")));

#[test]
#[should_panic(expected = "`age` is signed, and the digits of negative numbers sort backwards: \
                           write `{age:offset}`, or `{age:010}` if it is never negative")]
fn a_check_panics_with_its_message() {
    let row = sourced("{age}", vec![field(5, i32::KEY, "")]);
    checks::template(&with_row(row), KeyOf::Row);
}

#[test]
fn c21_a_property_is_there_or_absent() {
    type Nested = Option<Option<String>>;
    assert_eq!(said(|| checks::property("nick", Option::<String>::NESTED, String::CONTENT)), None);
    let nested =
        "`nick` is an `Option` of an `Option`, and a property is there or absent: write one `Option`";
    assert_eq!(said(|| checks::property("nick", Nested::NESTED, Nested::CONTENT)).unwrap(), nested);
    assert_eq!(said(|| checks::plain_property("nick", Nested::NESTED, Nested::CONTENT)).unwrap(), nested);
    let sealed = || checks::sealed_property("nick", Nested::NESTED, Nested::CONTENT, false, false);
    assert_eq!(said(sealed).unwrap(), nested);
}

#[test]
fn what_a_row_may_hold_as_it_is_or_sealed_follows_from_the_type() {
    use Content::{Blobs, SealedBlobs, Secrets, Values};
    let allowed = |content| {
        let sealed =
            |dual, blind| said(|| checks::sealed_property("scan", false, content, dual, blind)).is_none();
        [
            said(|| checks::property("scan", false, content)).is_none(),
            said(|| checks::plain_property("scan", false, content)).is_none(),
            sealed(false, false),
            sealed(true, false) && sealed(false, true),
        ]
    };
    assert_eq!(allowed(Values), [true; 4]);
    assert_eq!(allowed(Secrets), [false, true, true, true]);
    assert_eq!(allowed(Blobs), [true, true, false, false]);
    assert_eq!(allowed(SealedBlobs), [false, false, true, false]);
}

#[cfg(not(feature = "encrypt"))]
#[test]
#[should_panic(expected = "`#[encrypt]` needs the feature `encrypt` of `table-core`")]
fn encrypted_fields_need_the_feature() {
    checks::encrypt();
}
