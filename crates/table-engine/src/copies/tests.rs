//! Rows in a map, compared by what a layout tells of their kind.

use std::collections::BTreeMap;

use table_derive::Entity;

use super::Role;
use super::by_layout::{KindRows, LayoutComparer};
use super::layout_kind::LayoutNames;
use crate::Entity as Declared;
use crate::error::Result;
use crate::model::{Ticks, ValueRef};
use crate::row::named::{Named, Names, PackedRow};
use crate::row::view::RowView;
use crate::schema::{Layout, Schema};

#[derive(Entity)]
#[entity(table = "Company", kind = "employee")]
#[key(partition = "{department}", row = "empid_{id:06}")]
#[index(by_email, row = "email_{email}", unique)]
#[index(by_age, partition = "ages", row = "{age:03}_{department}_{id:06}", atomic, copy(email))]
#[index(by_desk, row = "desk_{desk}_{id:06}")]
struct Employee {
    department: String,
    id: u32,
    email: String,
    age: u32,
    desk: Option<String>,
}

#[derive(Entity)]
#[entity(table = "Company", kind = "survey", wide)]
#[key(partition = "{office}", row = "survey_{id:06}")]
struct Survey {
    office: String,
    id: u32,
    #[part]
    pages: Option<i32>,
}

/// The rows of one table.
#[derive(Default)]
struct Table {
    names: Names,
    rows: BTreeMap<(String, String), PackedRow>,
}

impl Table {
    fn put(&mut self, partition: &str, row: &str, kind: &str, properties: &[Named<'_>]) {
        let mut all = vec![("EntityType", ValueRef::String(kind))];
        all.extend_from_slice(properties);
        let packed = self.names.pack(1, partition, row, Ticks::now(), &all).unwrap();
        self.rows.insert((partition.to_owned(), row.to_owned()), packed);
    }

    fn remove(&mut self, partition: &str, row: &str) {
        assert!(self.rows.remove(&(partition.to_owned(), row.to_owned())).is_some());
    }

    /// Returns what is wrong, each with the row key of the row that it is said of.
    fn wrong(&self, schema: &Schema) -> Vec<(&str, String)> {
        let layout = Layout::of(schema);
        let names = LayoutNames::of(&layout);
        let comparer =
            LayoutComparer { kind: &names.kind(), rows: self, table: "Company", is_own_table: true };
        let mut wrong = Vec::new();
        for ((_, row), packed) in &self.rows {
            let view = packed.view().unwrap();
            let role = comparer.role(view.kind().unwrap().unwrap()).unwrap();
            if let Err(error) = comparer.compare(&view, role) {
                wrong.push((row.as_str(), error.to_string()));
            }
        }
        wrong
    }

    /// Makes sure that one thing is wrong: this, of this row.
    fn assert_wrong(&self, schema: &Schema, row: &str, what: &str) {
        let wrong = self.wrong(schema);
        let [(of, error)] = &wrong[..] else { panic!("{what}: {wrong:?}") };
        assert!(*of == row && error.contains(what), "{what}: {wrong:?}");
    }
}

impl KindRows for Table {
    fn table_of(&self, _index: usize) -> Option<&str> {
        Some("Company")
    }

    fn own_row(&self, partition: &str, row: &str) -> Result<Option<RowView<'_>>> {
        self.rows.get(&(partition.to_owned(), row.to_owned())).map(PackedRow::view).transpose()
    }

    fn index_row(&self, _index: usize, partition: &str, row: &str) -> Result<Option<RowView<'_>>> {
        self.own_row(partition, row)
    }
}

const EMAIL: Named<'_> = ("Email", ValueRef::String("jun@contoso.com"));
const AGE: Named<'_> = ("Age", ValueRef::Int64(40));
const ID: Named<'_> = ("Id", ValueRef::Int64(7));

/// Returns a table with an employee who has no desk, and the copies.
fn company() -> Table {
    let mut table = Table::default();
    table.put("Sales", "empid_000007", "employee", &[EMAIL, AGE]);
    table.put("Sales", "email_jun@contoso.com", "employee.by_email", &[ID, AGE]);
    table.put("ages", "040_Sales_000007", "employee.by_age", &[EMAIL]);
    table
}

#[test]
fn an_entity_has_the_copies_that_its_values_print() {
    let (employee, mut table) = (Employee::SCHEMA, company());
    assert_eq!(table.wrong(employee), []);
    table.remove("ages", "040_Sales_000007");
    table.assert_wrong(employee, "empid_000007", "copy in the index `by_age` is missing");
    // Another row lies there.
    table.put("ages", "040_Sales_000007", "employee.by_desk", &[]);
    let wrong = table.wrong(employee);
    assert_eq!(wrong.iter().map(|(row, _)| *row).collect::<Vec<_>>(), ["empid_000007", "040_Sales_000007"]);
}

#[test]
fn a_copy_is_of_an_entity_that_has_one_there() {
    let (employee, mut table) = (Employee::SCHEMA, company());
    table.put("Sales", "email_cao@contoso.com", "employee.by_email", &[ID, AGE]);
    table.assert_wrong(employee, "email_cao@contoso.com", "of no entity that has one there");
    table.remove("Sales", "email_cao@contoso.com");
    table.put("Sales", "desk_12_000007", "employee.by_desk", &[EMAIL, AGE]);
    // A layout does not tell which desk one has who has none.
    assert_eq!(table.wrong(employee), []);
    table.remove("Sales", "empid_000007");
    assert_eq!(table.wrong(employee).len(), 3);
}

#[test]
fn a_copy_says_what_its_entity_does() {
    let (employee, mut table) = (Employee::SCHEMA, company());
    table.put("Sales", "email_jun@contoso.com", "employee.by_email", &[ID, ("Age", ValueRef::Int64(41))]);
    table.assert_wrong(employee, "email_jun@contoso.com", "not what its entity says");
    table.put("Sales", "email_jun@contoso.com", "employee.by_email", &[ID]);
    table.assert_wrong(employee, "email_jun@contoso.com", "not what its entity says");
    // What no field is was carried along, or is another's.
    let note = ("Note", ValueRef::Boolean(true));
    table.put("Sales", "email_jun@contoso.com", "employee.by_email", &[ID, AGE, note]);
    table.assert_wrong(employee, "email_jun@contoso.com", "not what its entity says");
    table.put("Sales", "empid_000007", "employee", &[EMAIL, AGE, note]);
    assert_eq!(table.wrong(employee), []);
    // The entity lacks what may have a default that only the struct knows.
    table.put(
        "Sales",
        "email_jun@contoso.com",
        "employee.by_email",
        &[ID, AGE, ("Desk", ValueRef::String("12"))],
    );
    assert_eq!(table.wrong(employee), []);
}

#[test]
fn a_part_is_of_a_head_that_counts_it() {
    let (survey, mut table) = (Survey::SCHEMA, Table::default());
    let parts = |said| ("EntityParts", ValueRef::Int32(said));
    table.put("Oslo", "survey_000001", "survey", &[parts(1)]);
    table.put("Oslo", "survey_000001_01", "survey.01", &[("Pages", ValueRef::Int32(3))]);
    assert_eq!(table.wrong(survey), []);
    table.put("Oslo", "survey_000001", "survey", &[parts(0)]);
    table.assert_wrong(survey, "survey_000001_01", "is part 1 of an entity of the kind `survey`, of none");
    table.put("Oslo", "survey_000001", "survey", &[parts(1)]);
    table.remove("Oslo", "survey_000001_01");
    table.assert_wrong(survey, "survey_000001", "part 1 of the entity, row `survey_000001_01`, is missing");
}

#[test]
fn entities_and_parts_are_in_their_own_table_alone() {
    let role = |schema: &Schema, kind, is_own| {
        let layout = Layout::of(schema);
        let role = Role::of(&LayoutNames::of(&layout).kind(), kind, is_own);
        assert_eq!(role, Role::of(schema, kind, is_own), "a layout and a struct tell it alike");
        role
    };
    let employee = |kind, is_own| role(Employee::SCHEMA, kind, is_own);
    assert_eq!([employee("employee", true), employee("employee", false)], [Some(Role::Entity), None]);
    let by_age = [true, false].map(|is_own| employee("employee.by_age", is_own));
    assert_eq!(by_age, [Some(Role::Index(1)); 2]);
    let survey = |is_own| role(Survey::SCHEMA, "survey.01", is_own);
    assert_eq!([survey(true), survey(false)], [Some(Role::Part(1)), None]);
    assert_eq!(employee("guest", true), None);
}
