//! Encrypted properties: what the server holds tells nothing, keys are rotated and shredded, and every process sees it.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test that fails panics")]

mod support;

use std::process::Command;
use std::sync::Arc;
use std::thread;

use support::proxy::{Cut, Proxy};
use support::{execute, options, schema, server, server_at, server_port};
use table_core::crypt::{KeyProvider, MemoryKeys, Scope};
use table_core::{Entity, ErrorKind, Value};
use table_postgres::{Encryption, PostgresTables};

/// What must be found nowhere at the server.
const CANARY: &str = "canary-078-05-1120";

#[expect(clippy::duplicated_attributes, reason = "each index is unique by itself")]
#[derive(Clone, Debug, PartialEq, Entity)]
#[entity(table = "Payroll", kind = "employee")]
#[key(partition = "{department}", row = "empid_{id:06}")]
#[index(by_email, row = "email_{email}", unique, copy(ssn))]
#[index(by_ssn, row = "ssn_{ssn:blind}", unique)]
struct Employee {
    department: String,
    id: u32,
    email: String,
    #[encrypt(blind)]
    ssn: String,
    #[encrypt(scope = partition)]
    note: Option<String>,
}

fn employee(department: &str, id: u32) -> Employee {
    Employee {
        department: department.into(),
        id,
        email: format!("{id}@example.com"),
        ssn: format!("{CANARY}-{id}"),
        note: Some(format!("{CANARY} of {department}")),
    }
}

fn key(department: &str, id: u32) -> table_core::Key<Employee> {
    Employee::key(department, id)
}

/// Returns a store with keys, and a provider that opens it again.
fn sealed(schema: &str) -> (PostgresTables, Arc<dyn KeyProvider>) {
    let provider: Arc<dyn KeyProvider> = Arc::new(MemoryKeys::new().unwrap());
    let options = PostgresTables::options().schema(schema).encryption(provider.clone());
    (options.connect(&server()).unwrap(), provider)
}

fn again(schema: &str, provider: &Arc<dyn KeyProvider>) -> PostgresTables {
    PostgresTables::options().schema(schema).encryption(provider.clone()).connect(&server()).unwrap()
}

/// Returns all rows of all tables in a schema, as texts, also the bytes that are in Base64.
fn dump(schema: &str) -> String {
    let sql = format!(
        "SELECT relname FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = relnamespace WHERE nspname = '{schema}' AND relkind = 'r'"
    );
    let psql = |sql: &str| {
        let output = Command::new("psql").args([&*server(), "-Atc", sql]).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    };
    let mut all = String::new();
    for table in psql(&sql).lines() {
        all += &psql(&format!("SELECT t.*::text FROM {schema}.\"{table}\" AS t"));
        // What a cell of bytes or of Base64 holds is searched as it is, too.
        let hex = CANARY.bytes().fold(String::new(), |hex, byte| hex + &format!("{byte:02x}"));
        assert!(!all.contains(&hex), "{table}");
    }
    all
}

#[test]
fn what_the_server_holds_tells_nothing() {
    let schema = schema();
    let (tables, _) = sealed(&schema);
    let staff = tables.table::<Employee>().unwrap();
    staff.insert(&employee("Sales", 1)).unwrap();
    staff.update(key("Sales", 1), |employee| employee.email = "new@example.com".into()).unwrap();
    let found = staff.get(Employee::by_email("Sales", "new@example.com")).unwrap().unwrap();
    assert_eq!(found.ssn, format!("{CANARY}-1"));
    let all = dump(&schema);
    assert!(all.contains("empid_000001") && all.contains("new@example.com"), "{all}");
    assert!(!all.contains("canary") && !all.contains(CANARY), "{all}");
    // Base64 at each of the three places where a text can begin.
    for skip in 0..3 {
        let bytes = &CANARY.as_bytes()[skip..CANARY.len() - (CANARY.len() - skip) % 3];
        let encoded = base64::Engine::encode(&base64::engine::general_purpose::STANDARD, bytes);
        assert!(!all.contains(&encoded), "{encoded}");
    }
    // As it is in the row.
    let row = staff.dynamic().get("Sales", "empid_000001").unwrap().unwrap();
    assert!(matches!(row.get("Ssn"), Some(Value::Binary(_))), "{row:?}");
}

#[test]
fn without_the_provider_nothing_opens_and_copies_are_kept() {
    let schema = schema();
    let (tables, provider) = sealed(&schema);
    tables.table::<Employee>().unwrap().insert(&employee("Sales", 1)).unwrap();

    let plain = PostgresTables::options().schema(&schema).connect(&server()).unwrap();
    assert_eq!(plain.encryption().unwrap_err().kind(), ErrorKind::KeyUnavailable);
    let error = plain.table::<Employee>().and_then(|staff| staff.get(key("Sales", 1))).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::KeyUnavailable, "{error}");
    assert!(!format!("{error:?}").contains("canary"), "{error:?}");

    let other: Arc<dyn KeyProvider> = Arc::new(MemoryKeys::new().unwrap());
    let error = PostgresTables::options().schema(&schema).encryption(other).connect(&server()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::KeyUnavailable, "{error}");

    let found = again(&schema, &provider).table::<Employee>().unwrap().get(key("Sales", 1)).unwrap();
    assert_eq!(*found.unwrap(), employee("Sales", 1));
}

#[test]
fn a_value_opens_in_its_own_place_alone() {
    let (tables, _) = sealed(&schema());
    let payroll = tables.create_table("Payroll").unwrap();
    let keys = tables.encryption().unwrap();
    let cell = payroll.cell("Sales", "1", "Ssn").unwrap();
    let sealed = keys.seal(&cell, table_core::ValueRef::String(CANARY)).unwrap();
    assert_eq!(keys.open(&cell, &sealed).unwrap().as_str(), Some(CANARY));
    let other = payroll.cell("Sales", "2", "Ssn").unwrap();
    assert_eq!(keys.open(&other, &sealed).unwrap_err().kind(), ErrorKind::DecryptionFailed);
    let other = payroll.cell("Sales", "1", "Note").unwrap();
    assert_eq!(keys.open(&other, &sealed).unwrap_err().kind(), ErrorKind::DecryptionFailed);
    for at in 0..sealed.len() {
        let mut changed = sealed.clone();
        changed[at] ^= 1;
        let error = keys.open(&cell, &changed).unwrap_err();
        assert!(!error.to_string().contains("canary"), "{error}");
    }
}

#[test]
fn another_process_sees_a_rotation_and_a_shredding_at_once() {
    let schema = schema();
    let (tables, provider) = sealed(&schema);
    let other = again(&schema, &provider);
    let (staff, elsewhere) = (tables.table::<Employee>().unwrap(), other.table::<Employee>().unwrap());
    let keys: Encryption = tables.encryption().unwrap();
    for id in 0..4 {
        staff.insert(&employee("Sales", id)).unwrap();
        staff.insert(&employee("IT", 10 + id)).unwrap();
    }
    let by_ssn = |id: u32| Employee::by_ssn("Sales", format!("{CANARY}-{id}"));
    assert!(elsewhere.get(by_ssn(1)).unwrap().is_some());

    // A writer that has the former key at hand seals anew with the one that is current.
    let before = keys.keys().unwrap();
    assert_eq!(keys.rotate_all().unwrap(), u64::try_from(before.len()).unwrap());
    elsewhere.insert(&employee("Sales", 5)).unwrap();
    let row = elsewhere.dynamic().get("Sales", "empid_000005").unwrap().unwrap();
    let sealed_by = table_core::crypt::KeyHandle::of(row.get("Ssn").unwrap().as_bytes().unwrap()).unwrap();
    let current: Vec<_> = keys.keys().unwrap().into_iter().filter(|key| key.current).collect();
    assert!(current.iter().any(|key| key.handle == sealed_by), "{current:?}");
    // Found by the tokens of the former key, and by those of the new one.
    assert!(elsewhere.get(by_ssn(1)).unwrap().is_some() && staff.get(by_ssn(5)).unwrap().is_some());
    let error =
        elsewhere.insert(&Employee { ssn: format!("{CANARY}-1"), ..employee("Sales", 6) }).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::UniqueConflict, "{error}");

    // The old keys go when nothing is left under them.
    let old = before.iter().find(|key| key.scope == Scope::store()).unwrap();
    let error = keys.destroy(old.handle).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::KeyInUse, "{error}");
    assert!(error.to_string().contains("Payroll"), "{error}");
    assert_eq!(keys.destroy_unused().unwrap(), 0);
    let newest = current.iter().find(|key| key.scope == Scope::store()).unwrap();
    assert_eq!(keys.destroy(newest.handle).unwrap_err().kind(), ErrorKind::KeyUnavailable);
    for entity in staff.all().into_iter().collect::<Result<Vec<_>, _>>().unwrap() {
        staff.delete(key(&entity.department, entity.id)).unwrap();
        staff.insert(&entity).unwrap();
    }
    assert_eq!(keys.destroy_unused().unwrap(), u64::try_from(before.len()).unwrap());
    keys.destroy(old.handle).unwrap();
    assert!(elsewhere.get(by_ssn(1)).unwrap().is_some());
    let left = keys.keys().unwrap();
    assert!(left.iter().all(|key| key.current && key.version == 2), "{left:?}");

    // One partition's values go, and no others.
    let scope = staff.dynamic().partition_key_scope("Sales").unwrap();
    assert!(elsewhere.get(key("Sales", 1)).unwrap().unwrap().note.is_some());
    assert_eq!(keys.shred(&scope).unwrap(), 1);
    assert_eq!(keys.shred(&scope).unwrap(), 0);
    let error = elsewhere.get(key("Sales", 1)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::KeyShredded, "{error}");
    let error = elsewhere.rows().department("Sales").into_iter().collect::<Result<Vec<_>, _>>().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::KeyShredded, "{error}");
    assert_eq!(*elsewhere.get(key("IT", 11)).unwrap().unwrap(), employee("IT", 11));
    elsewhere.put(&employee("Sales", 1)).unwrap();
    assert_eq!(*elsewhere.get(key("Sales", 1)).unwrap().unwrap(), employee("Sales", 1));
    elsewhere.insert(&employee("Sales", 20)).unwrap();
    assert_eq!(*staff.get(key("Sales", 20)).unwrap().unwrap(), employee("Sales", 20));
    // The table's takes those of all partitions with it.
    assert_eq!(keys.shred(&staff.dynamic().key_scope()).unwrap(), 2);
    assert_eq!(elsewhere.get(key("IT", 11)).unwrap_err().kind(), ErrorKind::KeyShredded);

    let foreign = sealed(&support::schema()).0;
    let scope = foreign.create_table("Payroll").unwrap().key_scope();
    assert_eq!(keys.shred(&scope).unwrap_err().kind(), ErrorKind::TableNotFound);
}

#[test]
fn keys_are_wrapped_anew_and_every_process_goes_on() {
    let schema = schema();
    let (tables, provider) = sealed(&schema);
    let other = again(&schema, &provider);
    let (staff, elsewhere) = (tables.table::<Employee>().unwrap(), other.table::<Employee>().unwrap());
    staff.insert(&employee("Sales", 1)).unwrap();
    assert_eq!(tables.encryption().unwrap().rewrap().unwrap(), []);
    // This one has no data key at hand, and unwraps by the new root key.
    assert_eq!(*elsewhere.get(key("Sales", 1)).unwrap().unwrap(), employee("Sales", 1));
    elsewhere.insert(&employee("Finance", 2)).unwrap();
    assert_eq!(*staff.get(key("Finance", 2)).unwrap().unwrap(), employee("Finance", 2));
    let third = again(&schema, &provider);
    assert_eq!(third.table::<Employee>().unwrap().all().into_iter().count(), 2);
}

#[test]
fn records_of_keys_that_were_changed_are_refused() {
    let schema = schema();
    let (tables, provider) = sealed(&schema);
    let staff = tables.table::<Employee>().unwrap();
    staff.insert(&employee("Sales", 1)).unwrap();
    staff.insert(&employee("IT", 2)).unwrap();
    let is_refused = |what: &str| {
        let error = again(&schema, &provider).table::<Employee>().unwrap().get(key("Sales", 1)).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::DecryptionFailed, "{what}: {error}");
    };
    execute(&format!("UPDATE {schema}._keys SET version = version + 1"));
    is_refused("a version");
    execute(&format!("UPDATE {schema}._keys SET version = version - 1"));
    let swapped = format!(
        "UPDATE {schema}._key_scopes SET handles = ARRAY(SELECT max(handle) FROM {schema}._keys)::bigint[]"
    );
    execute(&swapped);
    let error =
        again(&schema, &provider).table::<Employee>().unwrap().insert(&employee("Sales", 7)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::DecryptionFailed, "{error}");
}

#[derive(Clone, Debug, PartialEq, Entity)]
#[entity(table = "Signed", kind = "account", signed)]
#[key(partition = "{team}", row = "{id:06}")]
struct Account {
    team: String,
    id: u32,
    amount: i64,
}

#[test]
fn a_row_that_is_signed_is_not_changed_by_others() {
    let schema = schema();
    let (tables, _) = sealed(&schema);
    let accounts = tables.table::<Account>().unwrap();
    for id in 0..2 {
        accounts.insert(&Account { team: "a".into(), id, amount: 5 }).unwrap();
    }
    accounts.update(Account::key("a", 0), |account| account.amount = 6).unwrap();
    assert_eq!(accounts.get(Account::key("a", 0)).unwrap().unwrap().amount, 6);
    for (what, change) in [
        ("a value", "body = replace(body::text, ':6', ':7')::json"),
        ("the digest", "body = (body::jsonb - '@digest')::json"),
        ("the key", "rk = '000009'"),
    ] {
        execute(&format!("CREATE TABLE {schema}.saved AS SELECT * FROM {schema}.rows_1"));
        execute(&format!("UPDATE {schema}.rows_1 SET {change} WHERE rk = '000000'"));
        let all: Result<Vec<_>, _> = accounts.all().into_iter().collect();
        assert_eq!(all.unwrap_err().kind(), ErrorKind::NotGenuine, "{what}");
        let back =
            "DELETE FROM {s}.rows_1; INSERT INTO {s}.rows_1 SELECT * FROM {s}.saved; DROP TABLE {s}.saved";
        execute(&back.replace("{s}", &schema));
        assert_eq!(accounts.all().into_iter().count(), 2);
    }
}

#[test]
fn rows_of_other_programs_are_sealed_by_their_names() {
    let schema = schema();
    let (tables, provider) = sealed(&schema);
    let payroll = tables.create_table("Notes").unwrap();
    let lens = payroll.encrypting(|_, _, name| name == "Text");
    let mut note = table_core::DynamicEntity::new("Sales", "1");
    note.set("Text", CANARY);
    note.set("Plain", "seen");
    lens.insert(&note).unwrap();
    assert!(matches!(payroll.get("Sales", "1").unwrap().unwrap().get("Text"), Some(Value::Binary(_))));
    let other = again(&schema, &provider).dynamic_table("Notes").unwrap();
    let found = other.encrypting(|_, _, name| name == "Text").get("Sales", "1").unwrap().unwrap();
    assert_eq!(found.get("Text"), Some(&Value::from(CANARY)));
    assert!(!dump(&schema).contains("canary"));
}

#[test]
fn writers_and_rotations_at_once_lose_nothing() {
    let schema = schema();
    let (tables, provider) = sealed(&schema);
    let staff = tables.table::<Employee>().unwrap();
    staff.insert(&employee("Sales", 0)).unwrap();
    thread::scope(|scope| {
        for writer in 1..4 {
            let (schema, provider) = (&schema, &provider);
            scope.spawn(move || {
                let staff = again(schema, provider).table::<Employee>().unwrap();
                for at in 0..15 {
                    staff.insert(&employee("Sales", writer * 100 + at)).unwrap();
                }
            });
        }
        let keys = tables.encryption().unwrap();
        for _ in 0..8 {
            keys.rotate_all().unwrap();
            keys.destroy_unused().unwrap();
        }
    });
    let all: Vec<_> = staff.all().into_iter().collect::<Result<_, _>>().unwrap();
    assert_eq!(all.len(), 46);
    for one in all {
        let found = staff.get(Employee::by_ssn("Sales", &*one.ssn)).unwrap().unwrap();
        assert_eq!(*found, *one);
    }
}

#[test]
fn keys_and_sealed_values_bear_cuts_at_any_message() {
    let proxy = Proxy::begin(server_port());
    let provider: Arc<dyn KeyProvider> = Arc::new(MemoryKeys::new().unwrap());
    let tables = options().encryption(provider).connect(&server_at(proxy.port)).unwrap();
    let staff = tables.table::<Employee>().unwrap();
    let keys = tables.encryption().unwrap();
    let work = |id: u32| {
        let department = format!("team{id}");
        staff.insert(&employee(&department, id)).unwrap();
        keys.rotate(&Scope::store()).unwrap();
        staff.update(key(&department, id), |employee| employee.note = None).unwrap();
        assert_eq!(staff.get(key(&department, id)).unwrap().unwrap().ssn, format!("{CANARY}-{id}"));
        let versions = keys.keys().unwrap().iter().filter(|key| key.scope == Scope::store()).count();
        assert_eq!(keys.shred(&staff.dynamic().partition_key_scope(&department).unwrap()).unwrap(), 1);
        keys.rewrap().unwrap();
        staff.delete(key(&department, id)).unwrap();
        keys.destroy_unused().unwrap();
        versions
    };
    work(0);
    proxy.stop();
    let mut runs = 0;
    for cut in [Cut::Before, Cut::Behind] {
        for message in 0..200 {
            proxy.cut_at(message, cut);
            // Two: the one that was there, and the one that it was rotated to; none twice.
            assert_eq!(work(1 + runs), 2, "{message}");
            runs += 1;
            if proxy.stop() == 0 {
                break;
            }
        }
    }
    println!("{runs} cuts");
    assert!(runs > 40, "{runs}");
}

#[test]
fn no_key_goes_while_a_layout_cannot_be_read() {
    let schema = schema();
    let (tables, _provider) = sealed(&schema);
    let staff = tables.table::<Employee>().unwrap();
    staff.insert(&employee("Sales", 0)).unwrap();
    let keys = tables.encryption().unwrap();
    keys.rotate_all().unwrap();
    let before = keys.keys().unwrap().len();
    execute(&format!("UPDATE {schema}._kinds SET layout = 'odd'"));
    let error = keys.destroy_unused().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Corrupt, "{error}");
    assert_eq!(keys.keys().unwrap().len(), before);
}
