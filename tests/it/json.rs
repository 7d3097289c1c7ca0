//! What is JSON: fields of types that serde knows, and keys as text.

use serde::{Deserialize, Serialize};
use table_core::{Entity, ErrorKind, Key, Store, Stored};

#[derive(Entity)]
#[entity(table = "Company", kind = "employee")]
#[key(partition = "{department}", row = "empid_{id:06}")]
struct Employee {
    department: String,
    id: u32,
}

#[test]
fn a_key_comes_back_from_what_is_written_of_it() {
    let store = Store::temporary().unwrap();
    let staff = store.table::<Employee>().unwrap();
    staff.insert(&Employee { department: "Sales".into(), id: 7 }).unwrap();
    let text = serde_json::to_string(&Employee::key("Sales", 7)).unwrap();
    assert_eq!(text, "[\"Sales\",\"empid_000007\"]");
    let key: Key<Employee> = serde_json::from_str(&text).unwrap();
    assert_eq!(staff.get(key).unwrap().unwrap().id, 7);
}

#[test]
fn what_is_no_key_is_refused_or_leads_to_nothing() {
    let refused = Employee::key("a/b", 7);
    let error = serde_json::to_string(&refused).unwrap_err().to_string();
    assert!(error.contains('/'), "{error}");
    for text in ["[]", "[\"Sales\"]", "[\"Sales\",\"a\",\"b\"]", "[1,2]", "\"Sales\""] {
        assert!(serde_json::from_str::<Key<Employee>>(text).is_err(), "{text}");
    }
    let staff = Store::temporary().unwrap().table::<Employee>().unwrap();
    for text in ["[\"Sales\",\"empid_7\"]", "[\"\",\"\"]", "[\"a/b\",\"empid_000007\"]"] {
        let key: Key<Employee> = serde_json::from_str(text).unwrap();
        // An error or nothing, and never another's row.
        assert!(!matches!(staff.get(key), Ok(Some(_))), "{text}");
    }
}

#[test]
fn a_change_that_could_not_be_read_again_is_refused() {
    /// Its text lacks what reading it asks for.
    #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
    struct Drift {
        #[serde(skip_serializing)]
        seconds: f64,
    }

    #[derive(Entity, Clone, Debug, PartialEq)]
    #[entity(table = "Clocks", kind = "clock")]
    #[key(partition = "{wall}", row = "clock_{number:03}")]
    struct Clock {
        wall: String,
        number: u16,
        #[property(json)]
        drift: Vec<Drift>,
    }

    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(dir.path().join("store")).unwrap();
    let clocks = store.table::<Clock>().unwrap();
    let clock = Clock { wall: "west".to_owned(), number: 1, drift: Vec::new() };
    let etag = clocks.insert(&clock).unwrap();
    let error =
        clocks.update(Clock::key("west", 1), |clock| clock.drift.push(Drift { seconds: 0.5 })).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::SchemaMismatch);
    assert_eq!(
        error.to_string(),
        "cannot update in table `Clocks`, partition `west`, row `clock_001`: property `Drift` does not fit the \
         struct `Clock`: its text is not the JSON of the field"
    );
    let stored = clocks.get(Clock::key("west", 1)).unwrap().unwrap();
    assert_eq!((Stored::etag(&stored), &*stored), (etag, &clock));
}
