//! Where tokens stand, what they show, and what is believed of them.

use table_core::crypt::TokenScope;
use table_core::{DynamicEntity, ErrorKind, IfMatch, Table, Value, ValueRef};

use super::{Employee, SSN, Scratch, employee, ids, key, rotate, rows, staff};

#[test]
fn keys_with_tokens_show_nothing_of_what_was_given() {
    let key = Employee::by_ssn("Sales", SSN);
    assert_eq!(format!("{key:?}"), "IndexKey(ssn_{ssn:blind})");
    let error = key.as_strs().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidKey);
    assert!(error.to_string().contains("holds a token"), "{error}");

    let scratch = Scratch::new();
    let store = scratch.store();
    let staff = staff(&store);
    staff.insert(&employee(1, SSN)).unwrap();
    let by_token = staff.by_ssn().department("Sales").ssn(SSN);
    let by_filter = staff.rows().department("Sales").filter(|e| e.ssn.eq(SSN));
    for shown in [
        format!("{by_token:?}"),
        by_token.explain().unwrap().to_string(),
        format!("{by_filter:?}"),
        format!("{:?}", by_filter.explain().unwrap()),
        by_filter.explain().unwrap().to_string(),
    ] {
        assert!(!shown.contains(SSN), "{shown}");
    }
    assert!(by_filter.explain().unwrap().to_string().ends_with("and Ssn eq <encrypted>"));

    // A key that can't be made says so before any key of the store is asked for.
    let error = staff.get(Employee::by_pin("Sales", 1, "a/b", 1)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidKey);
}

#[test]
fn rows_hold_the_token_beside_the_value_and_keep_both() {
    let scratch = Scratch::new();
    let store = scratch.store();
    let staff = staff(&store);
    staff.insert(&employee(1, SSN)).unwrap();
    let own = || staff.dynamic().get("Sales", "empid_000001").unwrap().unwrap();
    let first = own();
    let bytes =
        |row: &DynamicEntity, property: &str| row.get(property).and_then(Value::as_bytes).unwrap().to_vec();
    let encryption = store.encryption().unwrap();
    let token_of = |property: &str, tokens, value: ValueRef<'_>| {
        let cell = staff.dynamic().cell("Sales", "", property).unwrap();
        encryption.token(&cell, tokens, value).unwrap()
    };
    let token = token_of("Ssn", TokenScope::Partition, ValueRef::String(SSN));
    assert_eq!(bytes(&first, "SsnToken"), token.to_bytes());
    let iban = token_of("Iban", TokenScope::Table, ValueRef::String("DE02"));
    assert_eq!(bytes(&first, "IbanToken"), iban.to_bytes());
    let copy = staff.dynamic().get("Sales", &format!("ssn_{token}")).unwrap().unwrap();
    assert_eq!(bytes(&copy, "Ssn"), bytes(&first, "Ssn"));
    assert_eq!(bytes(&copy, "SsnToken"), token.to_bytes());
    let by_name = staff.dynamic().get("Sales", "name_Name1_000001").unwrap().unwrap();
    assert_eq!(bytes(&by_name, "SsnToken"), token.to_bytes());
    assert!(by_name.get("IbanToken").is_none());

    // What a change leaves alone keeps its token, also under a new key of the store.
    rotate(&store);
    staff.update(key(1), |e| e.salary += 1).unwrap();
    assert_eq!(bytes(&own(), "SsnToken"), token.to_bytes());
    assert_eq!(bytes(&own(), "Ssn"), bytes(&first, "Ssn"));
    // A new value has a new one, and the copy moves.
    staff.update(key(1), |e| e.ssn = "other".into()).unwrap();
    assert_ne!(bytes(&own(), "SsnToken"), token.to_bytes());
    assert!(staff.dynamic().get("Sales", &format!("ssn_{token}")).unwrap().is_none());
    assert!(staff.get(Employee::by_ssn("Sales", SSN)).unwrap().is_none());
    assert_eq!(staff.get(Employee::by_ssn("Sales", "other")).unwrap().unwrap().id, 1);
    // One that goes leaves none.
    staff.update(key(1), |e| e.iban = None).unwrap();
    assert!(own().get("IbanToken").is_none() && own().get("Iban").is_none());
    assert_eq!(staff.by_iban().department("Sales").count().unwrap(), 0);

    // Moved, it is sealed anew, and found still.
    staff.move_to(key(1), |e| e.id = 7).unwrap();
    assert_eq!(staff.get(Employee::by_ssn("Sales", "other")).unwrap().unwrap().id, 7);
    staff.delete(key(7)).unwrap();
    assert_eq!(rows(&staff), []);
}

#[test]
fn tokens_tell_partitions_apart_unless_they_are_the_tables() {
    let scratch = Scratch::new();
    let store = scratch.store();
    let staff = staff(&store);
    staff.insert(&employee(1, SSN)).unwrap();
    staff.insert(&Employee { department: "Other".into(), ..employee(1, SSN) }).unwrap();
    let own = |partition: &str| staff.dynamic().get(partition, "empid_000001").unwrap().unwrap();
    let (sales, other) = (own("Sales"), own("Other"));
    assert_ne!(sales.get("SsnToken"), other.get("SsnToken"));
    assert_eq!(sales.get("IbanToken"), other.get("IbanToken"));
    let everywhere = || staff.rows().across_partitions();
    assert_eq!(everywhere().filter(|e| e.ssn.eq(SSN)).count().unwrap(), 2);
    assert_eq!(everywhere().filter(|e| e.iban.eq("DE02")).count().unwrap(), 2);
    assert_eq!(everywhere().filter(|e| !e.iban.eq("DE02")).count().unwrap(), 0);
}

#[test]
fn a_row_that_was_put_under_another_token_is_not_believed() {
    let scratch = Scratch::new();
    let store = scratch.store();
    let staff = staff(&store);
    staff.insert(&employee(1, SSN)).unwrap();
    staff.insert(&employee(2, "two")).unwrap();
    let table = &staff.dynamic().raw();
    let own = |id: u32| table.get("Sales", &format!("empid_{id:06}")).unwrap().unwrap();
    let token = |id| own(id).get("SsnToken").cloned().unwrap();
    let text =
        |value: &Value| value.as_bytes().unwrap().iter().map(|b| format!("{b:02x}")).collect::<String>();
    // The second's copy in the place of the first's, which is signed, and the first's token on the second's own row.
    let forged = table.get("Sales", &format!("ssn_{}", text(&token(2)))).unwrap().unwrap();
    let mut put = DynamicEntity::new("Sales", format!("ssn_{}", text(&token(1))));
    for (name, value) in forged.properties() {
        put = put.with(name, value.clone());
    }
    assert_eq!(table.put(&put).unwrap_err().kind(), ErrorKind::SchemaMismatch);
    table
        .merge(&DynamicEntity::new("Sales", "empid_000002").with("SsnToken", token(1)), IfMatch::Any)
        .unwrap();
    assert_eq!(staff.get(Employee::by_ssn("Sales", SSN)).unwrap().unwrap().id, 1);
    assert_eq!(ids(staff.by_ssn().department("Sales").ssn(SSN)), [1]);
    assert_eq!(ids(staff.rows().department("Sales").filter(|e| e.ssn.eq(SSN))), [1]);
    // A token that is none does no harm: it is made anew with the next change.
    table
        .merge(&DynamicEntity::new("Sales", "empid_000001").with("SsnToken", "nothing"), IfMatch::Any)
        .unwrap();
    staff.update(key(1), |e| e.salary = 1).unwrap();
    assert_eq!(own(1).get("SsnToken"), Some(&put_token(&staff)));
    assert_eq!(staff.get(Employee::by_ssn("Sales", SSN)).unwrap().unwrap().id, 1);
}

fn put_token(staff: &Table<Employee>) -> Value {
    let copy = staff.by_ssn().department("Sales").ssn(SSN).into_iter().next().unwrap().unwrap();
    let row = staff.dynamic().get("Sales", &format!("empid_{:06}", copy.id)).unwrap().unwrap();
    row.get("SsnToken").cloned().unwrap()
}

#[test]
fn explain_shows_the_rows_of_tokens_without_making_a_key() {
    let scratch = Scratch::new();
    let store = scratch.store();
    let staff = staff(&store);
    let (one, two) = (employee(1, SSN), employee(2, "two"));
    let plan = staff.egt(Employee::partition("Sales")).insert(&one).insert(&two).explain().unwrap();
    assert_eq!(plan.rows(), 10);
    assert!(store.encryption().unwrap().keys().unwrap().is_empty());
    staff.insert(&one).unwrap();
    rotate(&store);
    let plan =
        staff.egt(Employee::partition("Sales")).update(key(1), |e| e.ssn = "new".into()).explain().unwrap();
    let shown = plan.to_string();
    assert!(shown.contains("its copy for by_ssn") && !shown.contains(SSN), "{shown}");
    let [gone, come] =
        [plan.removed().collect::<Vec<_>>(), plan.written().filter(|k| k.starts_with("ssn_")).collect()];
    assert_eq!((gone.len(), come.len()), (1, 1));
    assert!(staff.dynamic().get("Sales", gone[0]).unwrap().is_some());
    staff.update(key(1), |e| e.ssn = "new".into()).unwrap();
    assert!(staff.dynamic().get("Sales", come[0]).unwrap().is_some());
    // Two entities of one value are refused already in the plan.
    let twin = employee(2, "new");
    let error = staff.egt(Employee::partition("Sales")).insert(&employee(3, "new")).insert(&twin).explain();
    assert_eq!(error.unwrap_err().kind(), ErrorKind::UniqueConflict);
}

integration_tests::on_executors_with_jobs! {
    keys_with_tokens_show_nothing_of_what_was_given
    rows_hold_the_token_beside_the_value_and_keep_both
    tokens_tell_partitions_apart_unless_they_are_the_tables
    a_row_that_was_put_under_another_token_is_not_believed
    explain_shows_the_rows_of_tokens_without_making_a_key
}
