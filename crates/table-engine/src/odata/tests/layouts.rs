//! Texts without metadata, read by the layout of a kind.

use table_derive::Entity;
use uuid::Uuid;

use super::{Metadata, Reader, Writer, assert_same, written};
use crate::introspect::KindInfo;
use crate::model::{DynamicEntity, Ticks, Value};
use crate::schema::Layout;

#[derive(Entity)]
#[entity(table = "Company", kind = "employee")]
#[key(partition = "{department}", row = "empid_{id:06}")]
#[allow(dead_code, reason = "its layout alone is used")]
struct Employee {
    department: String,
    id: u32,
    name: String,
    age: i32,
    salary: i64,
    rating: f64,
    joined: Ticks,
    badge: Uuid,
    picture: Vec<u8>,
    is_manager: bool,
    email: Option<String>,
}

fn employee() -> DynamicEntity {
    DynamicEntity::new("Sales", "empid_000007")
        .with("EntityType", "employee")
        .with("Name", "Jun")
        .with("Age", 47)
        .with("Salary", 52_000_i64)
        .with("Rating", f64::NEG_INFINITY)
        .with("Joined", Ticks::UNIX_EPOCH)
        .with("Badge", Uuid::from_u128(7))
        .with("Picture", vec![1, 2, 3])
        .with("IsManager", true)
}

#[test]
fn a_layout_gives_the_types_back() {
    let kind = KindInfo::of(<Employee as crate::Entity>::SCHEMA);
    let text = written(&Writer::new(Metadata::None), &employee());
    assert_same(&Reader::new().kind(&kind).entity(text.as_bytes()).unwrap(), &employee());
    let page = format!("[{text},{text}]");
    assert!(Reader::new().kind(&kind).page(page.as_bytes()).all(|read| read.unwrap() == employee()));

    // A number without a point is a double where the layout says so, and what the layout does not name is JSON's.
    let text = br#"{"PartitionKey":"Sales","RowKey":"empid_000007","Rating":4,"Salary":1,"Other":1}"#;
    let read = Reader::new().kind(&kind).entity(text).unwrap();
    assert_eq!(
        read,
        DynamicEntity::new("Sales", "empid_000007")
            .with("Rating", 4.0)
            .with("Salary", 1_i64)
            .with("Other", 1)
    );
    // What the text says itself goes before.
    let text =
        br#"{"PartitionKey":"Sales","RowKey":"empid_000007","Salary@odata.type":"Edm.Int32","Salary":1}"#;
    assert_eq!(Reader::new().kind(&kind).entity(text).unwrap().get("Salary"), Some(&Value::from(1)));

    let error =
        Reader::new().kind(&kind).entity_at(br#"{"Age":"old"}"#, "Sales", "empid_000007").unwrap_err();
    assert!(error.to_string().contains("property `Age` is no Edm.Int32"), "{error}");
}

#[test]
fn without_one_values_have_types_of_json() {
    let text = written(&Writer::new(Metadata::None), &employee());
    let read = Reader::new().entity(text.as_bytes()).unwrap();
    let expected = DynamicEntity::new("Sales", "empid_000007")
        .with("EntityType", "employee")
        .with("Name", "Jun")
        .with("Age", 47)
        .with("Salary", "52000")
        .with("Rating", "-Infinity")
        .with("Joined", "1970-01-01T00:00:00Z")
        .with("Badge", "00000000-0000-0000-0000-000000000007")
        .with("Picture", "AQID")
        .with("IsManager", true);
    assert_same(&read, &expected);
}

#[test]
fn a_sealed_property_says_its_type() {
    let layout =
        Layout::parse("version 1\npartition \"{}\"\nrow \"r\"\nproperty Ssn encrypted String", "patient");
    let kind = KindInfo::new("Patients", layout.unwrap(), None);
    let read = |members: &str| Reader::new().kind(&kind).entity_at(members.as_bytes(), "p", "r");
    let error = read(r#"{"Ssn":"AQID"}"#).unwrap_err();
    assert!(error.to_string().contains("property `Ssn` is sealed: say its type"), "{error}");
    let typed = read(r#"{"Ssn@odata.type":"Edm.Binary","Ssn":"AQID"}"#).unwrap();
    assert_eq!(typed.get("Ssn"), Some(&Value::from(vec![1, 2, 3])));
}
