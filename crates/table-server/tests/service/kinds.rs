//! Entities of declared kinds, written by clients that know nothing of the declaration.

use table_core::access::sas::{AccountKey, Sas};
use table_core::{Entity, Ticks};
use table_server::service::Settings;

use crate::client::{ACCOUNT, Client, KEY};

#[derive(Clone, Debug, Entity, PartialEq)]
#[entity(table = "Company", kind = "employee")]
#[key(partition = "{department}", row = "empid_{id:06}")]
#[index(by_name, partition = "{department}", row = "name_{name}_{id:06}")]
struct Employee {
    department: String,
    id: u32,
    name: String,
}

const JUN: &str = r#"{"PartitionKey":"Sales","RowKey":"empid_000002","EntityType":"employee","Name":"Jun"}"#;

/// Returns a client of a store with one employee: with the first one the store notes what is declared.
fn client() -> Client {
    with_employee(Client::new())
}

fn with_employee(client: Client) -> Client {
    let staff = client.store.table::<Employee>().unwrap();
    staff.insert(&Employee { department: "Sales".into(), id: 1, name: "Ann".into() }).unwrap();
    client
}

#[test]
fn copies_are_kept_and_left_out_where_a_client_says_so() {
    let client = client();
    let staff = client.store.table::<Employee>().unwrap();
    let inserted = client.post("/acme/Company", JUN);
    assert_eq!(inserted.status(), 201, "{}", inserted.text());
    let found =
        staff.by_name().department("Sales").name("Jun").into_iter().collect::<Result<Vec<_>, _>>().unwrap();
    assert_eq!(found.len(), 1);

    let count = |headers: &[(&str, &str)]| {
        client.send("GET", "/acme/Company()", headers, "").json()["value"].as_array().unwrap().len()
    };
    assert_eq!((count(&[]), count(&[("x-table-copies", "hide")])), (4, 2));
}

#[test]
fn what_the_struct_could_not_read_is_refused() {
    let client = client();
    for wrong in [JUN.replace(r#","Name":"Jun""#, ""), JUN.replace(r#""Jun""#, "7")] {
        let refused = client.post("/acme/Company", &wrong);
        assert_eq!(refused.status(), 400, "{}", refused.text());
    }
    assert_eq!(client.get("/acme/Company()").json()["value"].as_array().unwrap().len(), 2);
}

#[test]
fn raw_writes_are_of_the_owner_alone() {
    let mut settings = Settings::default();
    settings.is_raw = true;
    let client = with_employee(Client::of_settings(settings));
    let nameless = JUN.replace(r#","Name":"Jun""#, "");
    let token = Sas::table("Company").add().until(Ticks::MAX);
    let token = token.sign(&AccountKey::new(ACCOUNT, KEY).unwrap()).unwrap().into_string();
    let refused = client.with_token("POST", "/acme/Company", &token, &nameless);
    assert_eq!(refused.status(), 400, "{}", refused.text());
    let count = || client.get("/acme/Company()").json()["value"].as_array().unwrap().len();
    assert_eq!(count(), 2);
    // The row alone, which the struct can't read, without a copy.
    assert_eq!(client.post("/acme/Company", &nameless).status(), 201);
    assert_eq!(count(), 3);
    // A token's rows have their copies as without the flag.
    let planned = JUN.replace("000002", "000003");
    assert_eq!(client.with_token("POST", "/acme/Company", &token, &planned).status(), 201);
    assert_eq!(count(), 5);
}
