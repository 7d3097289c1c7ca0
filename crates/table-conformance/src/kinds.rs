//! What a store says of the kinds in its tables.

use std::sync::Arc;

use table_derive::Entity;
use table_engine::__executor::Backend;
use table_engine::introspect::{KindInfo, RowOf};
use table_engine::schema::{Form, Schema};
use table_engine::{Entity as _, ErrorKind, Query};

use super::tables;

#[derive(Entity)]
#[entity(table = "Company", kind = "employee")]
#[key(partition = "{department}", row = "empid_{id:06}")]
#[index(by_email, row = "email_{email}", unique)]
struct Employee {
    department: String,
    id: u32,
    email: String,
}

mod second {
    use table_derive::Entity;

    /// What the next release has of an employee.
    #[derive(Entity)]
    #[entity(table = "Company", kind = "employee")]
    #[key(partition = "{department}", row = "empid_{id:06}")]
    #[index(by_email, row = "email_{email}", unique)]
    pub(super) struct Employee {
        pub department: String,
        pub id: u32,
        pub email: String,
        pub phone: Option<String>,
    }
}

#[derive(Entity)]
#[entity(table = "Company", kind = "department")]
#[key(partition = "{name}", row = "department")]
struct Department {
    name: String,
}

#[derive(Entity)]
#[entity(table = "Buildings", kind = "building", allow(hot_partition))]
#[key(partition = "all", row = "{name}")]
struct Building {
    name: String,
    floors: u8,
}

fn mia() -> Employee {
    Employee { department: "Sales".into(), id: 42, email: "mia@contoso.com".into() }
}

fn is_of(kind: &KindInfo, schema: &Schema) -> bool {
    kind.layout() == KindInfo::of(schema).layout()
}

pub(crate) fn kinds_are_those_that_were_written(backend: &Arc<dyn Backend>) {
    let tables = tables(backend);
    assert!(tables.kinds().unwrap().is_empty());
    tables.create_table("Other").unwrap();
    tables.table::<Employee>().unwrap().insert(&mia()).unwrap();
    tables.table::<Department>().unwrap().insert(&Department { name: "Sales".into() }).unwrap();
    tables.table::<Building>().unwrap().insert(&Building { name: "Main".into(), floors: 3 }).unwrap();
    let kinds = tables.kinds().unwrap();
    let named: Vec<_> = kinds.iter().map(|kind| (kind.table(), kind.kind(), kind.version())).collect();
    assert_eq!(
        named,
        [("Buildings", "building", 1), ("Company", "department", 1), ("Company", "employee", 1)]
    );
    assert!(is_of(&kinds[0], Building::SCHEMA) && is_of(&kinds[2], Employee::SCHEMA));
    for kind in &kinds {
        assert!(kind.lies_here() && kind.converting_from().is_none());
        assert!(
            kind.indexes()
                .iter()
                .all(|index| index.condition.as_ref().is_none_or(|is| is.to_string() == "ready"))
        );
    }
    let drawn = kinds[2].design().drawn(Form::Text);
    assert!(drawn.starts_with("employee in table Company\n"), "{drawn}");
    assert!(drawn.contains("\nemployee.by_email, unique  {Department}  email_{Email}  Id: Int64"), "{drawn}");

    // The next release has a property more, which is noted with its first write. What was given before stays as it was.
    let next = tables.table::<second::Employee>().unwrap();
    let jun = second::Employee {
        department: "Sales".into(),
        id: 7,
        email: "jun@contoso.com".into(),
        phone: Some("555-0007".into()),
    };
    next.insert(&jun).unwrap();
    let later = tables.kinds().unwrap();
    assert!(is_of(&later[2], second::Employee::SCHEMA), "{}", later[2].layout());
    assert!(is_of(&kinds[2], Employee::SCHEMA));
    assert_eq!(later[2].properties().len(), 4);

    tables.drop_table("Company").unwrap();
    let left = tables.kinds().unwrap();
    assert_eq!(left.iter().map(KindInfo::kind).collect::<Vec<_>>(), ["building"]);
}

pub(crate) fn a_key_is_made_without_its_struct(backend: &Arc<dyn Backend>) {
    let tables = tables(backend);
    tables.table::<Employee>().unwrap().insert(&mia()).unwrap();
    let kinds = tables.kinds().unwrap();
    let company = tables.dynamic_table("Company").unwrap();
    let keys = kinds[0].keys(Some("by_email")).unwrap();
    let (partition, row) = keys.print_text(&[("email", "mia@contoso.com"), ("department", "Sales")]).unwrap();
    assert!(company.get(&partition, &row).unwrap().is_some());
    // The keys of every row say its kind as its type does.
    for found in company.query(&Query::new()).unwrap() {
        let found = found.unwrap();
        let by_keys = kinds[0].read_keys(found.partition_key(), found.row_key()).unwrap();
        let entity_type = found.get("EntityType").and_then(|value| value.as_str().map(str::to_owned));
        assert_eq!(Some(&by_keys.row), kinds[0].row_of_type(&entity_type.unwrap()).as_ref());
        let says =
            |name: &str| by_keys.values.iter().find(|(known, _)| known == name).map(|(_, value)| value);
        assert_eq!(says("Department").and_then(|value| value.as_str()), Some("Sales"));
        match by_keys.row {
            RowOf::Entity => assert_eq!(says("Id").and_then(table_engine::Value::as_i64), Some(42)),
            _ => assert_eq!(says("Email").and_then(|value| value.as_str()), Some("mia@contoso.com")),
        }
    }
    let error = keys.print_text(&[("department", "Sales")]).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidKey, "{error}");
}
