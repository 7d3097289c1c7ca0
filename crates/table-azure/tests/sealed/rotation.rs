//! Keys that are rotated, destroyed and wrapped anew while other processes go by them for a lease.

use std::sync::Arc;
use std::sync::mpsc::channel;
use std::thread;
use std::time::{Duration, Instant};

use table_azure::{AzureOptions, AzureTables};
use table_core::asynchronous::block_on;
use table_core::crypt::{KeyHandle, KeyProvider as _, MemoryKeys, Scope};
use table_core::{Entity, ErrorKind, Query, Table};

use super::server::{Own, connection};

/// For how long a process goes by what it has read of the keys.
pub(crate) const LEASE: Duration = Duration::from_millis(150);

#[derive(Clone, Debug, PartialEq, Entity)]
#[entity(table = "Payroll", kind = "employee")]
#[key(partition = "{department}", row = "empid_{id:06}")]
#[index(by_email, row = "email_{email}", unique, copy(ssn))]
#[index(by_ssn, row = "ssn_{ssn:blind}_{id:06}")]
pub(crate) struct Employee {
    pub(crate) department: String,
    pub(crate) id: u32,
    pub(crate) email: String,
    #[encrypt(blind)]
    pub(crate) ssn: String,
    #[encrypt(scope = partition)]
    pub(crate) note: Option<String>,
}

pub(crate) fn employee(department: &str, id: u32) -> Employee {
    Employee {
        department: department.into(),
        id,
        email: format!("{id}@example.com"),
        ssn: format!("078-05-{id:04}"),
        note: Some(format!("of {department}")),
    }
}

pub(crate) fn key(department: &str, id: u32) -> table_core::Key<Employee> {
    Employee::key(department, id)
}

/// Opens the tables as another process does.
pub(crate) fn open(server: &Own, provider: &Arc<MemoryKeys>) -> AzureTables {
    let options = AzureOptions::new().lease(LEASE).encryption(provider.clone());
    options.connect(&connection(server.address)).unwrap()
}

pub(crate) fn provider() -> Arc<MemoryKeys> {
    Arc::new(MemoryKeys::new().unwrap())
}

/// Returns how many are found by a number, which is looked up by its token.
fn found(staff: &Table<Employee>, department: &str, id: u32) -> u64 {
    staff.by_ssn().department(department).ssn(format!("078-05-{id:04}")).entities().count().unwrap()
}

/// Returns the keys that sealed values of this property, each once.
fn handles(staff: &Table<Employee>, property: &str) -> Vec<KeyHandle> {
    let mut handles = Vec::new();
    for row in staff.dynamic().query(&Query::new()).unwrap() {
        let row = row.unwrap();
        let handle = row.get(property).and_then(|value| value.as_bytes()).and_then(KeyHandle::of);
        handles.extend(handle.filter(|handle| !handles.contains(handle)));
    }
    handles
}

#[test]
fn another_process_goes_by_a_rotation_and_old_keys_go_when_nothing_is_left_under_them() {
    let (server, provider) = (Own::start(), provider());
    let (tables, other) = (open(&server, &provider), open(&server, &provider));
    let (staff, elsewhere) = (tables.table::<Employee>().unwrap(), other.table::<Employee>().unwrap());
    let keys = tables.encryption().unwrap();
    for id in 0..4 {
        staff.insert(&employee("Sales", id)).unwrap();
        staff.insert(&employee("IT", 10 + id)).unwrap();
    }
    assert_eq!(found(&elsewhere, "Sales", 1), 1);
    let before = keys.keys().unwrap();
    assert!(before.len() == 3 && before.iter().all(|key| key.current && key.version == 1), "{before:?}");
    assert_eq!(keys.rotate_all().unwrap(), 3);
    // At once, by one who has the former key at hand.
    elsewhere.insert(&employee("Sales", 5)).unwrap();
    assert_eq!((found(&elsewhere, "Sales", 1), found(&staff, "Sales", 5)), (1, 1));
    // When its lease has ended it seals with the new one.
    thread::sleep(LEASE);
    elsewhere.insert(&employee("Sales", 6)).unwrap();
    let row = elsewhere.dynamic().get("Sales", "empid_000006").unwrap().unwrap();
    let sealed_by = KeyHandle::of(row.get("Ssn").unwrap().as_bytes().unwrap()).unwrap();
    let is_store = |key: &&table_azure::KeyInfo| key.scope == Scope::store();
    let now = keys.keys().unwrap();
    assert_eq!(now.iter().filter(is_store).find(|key| key.current).unwrap().handle, sealed_by);

    let old = before.iter().find(is_store).unwrap();
    let refused = keys.destroy(old.handle).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::KeyInUse, "{refused}");
    assert!(refused.to_string().contains("Payroll"), "{refused}");
    assert_eq!(keys.destroy_unused().unwrap(), 0);
    assert_eq!(keys.destroy(sealed_by).unwrap_err().kind(), ErrorKind::KeyUnavailable);

    let report = staff.reencrypt().unwrap().run().unwrap();
    assert_eq!((report.changed >= 8, report.failed), (true, 0), "{report}");
    assert_eq!(keys.destroy_unused().unwrap(), 3);
    keys.destroy(old.handle).unwrap();
    assert_eq!(handles(&staff, "Ssn"), [sealed_by]);
    let left = keys.keys().unwrap();
    assert!(left.len() == 3 && left.iter().all(|key| key.current && key.version == 2), "{left:?}");
    for id in [0, 1, 2, 3, 5, 6] {
        assert_eq!(*elsewhere.get(key("Sales", id)).unwrap().unwrap(), employee("Sales", id));
        assert_eq!((found(&elsewhere, "Sales", id), found(&staff, "Sales", id)), (1, 1), "{id}");
    }
    assert!(staff.check().unwrap().is_sound());
}

/// What one process writes, another finds by its token at once, whichever of the keys either of them goes by.
#[test]
fn no_lookup_by_a_token_misses_what_another_process_has_written_while_keys_are_rotated() {
    let (server, provider) = (Own::start(), provider());
    let staff = open(&server, &provider).table::<Employee>().unwrap();
    staff.insert(&employee("Sales", 0)).unwrap();
    let (written, writes) = channel::<u32>();
    thread::scope(|scope| {
        let (server, provider) = (&server, &provider);
        scope.spawn(move || {
            let keys = open(server, provider).encryption().unwrap();
            let staff = open(server, provider).table::<Employee>().unwrap();
            for _ in 0..3 {
                keys.rotate(&Scope::store()).unwrap();
                assert_eq!(staff.reencrypt().unwrap().run().unwrap().failed, 0);
                keys.destroy_unused().unwrap();
            }
        });
        scope.spawn(move || {
            let staff = open(server, provider).table::<Employee>().unwrap();
            for id in 1..120 {
                staff.insert(&employee("Sales", id)).unwrap();
                written.send(id).unwrap();
                thread::sleep(Duration::from_millis(20));
            }
        });
        for id in writes {
            assert_eq!(found(&staff, "Sales", id), 1, "{id}");
            assert_eq!(found(&staff, "Sales", id / 2), 1, "{id}");
        }
    });
    assert_eq!(staff.all().into_iter().count(), 120);
    assert!(staff.check().unwrap().is_sound());
}

#[test]
fn what_was_sealed_in_a_scope_is_shredded_for_every_process() {
    let (server, provider) = (Own::start(), provider());
    let (tables, other) = (open(&server, &provider), open(&server, &provider));
    let (staff, elsewhere) = (tables.table::<Employee>().unwrap(), other.table::<Employee>().unwrap());
    let keys = tables.encryption().unwrap();
    for (department, id) in [("Sales", 1), ("IT", 11)] {
        staff.insert(&employee(department, id)).unwrap();
        assert!(elsewhere.get(key(department, id)).unwrap().unwrap().note.is_some());
    }
    let scope = staff.dynamic().partition_key_scope("Sales").unwrap();
    keys.rotate(&scope).unwrap();
    assert_eq!(keys.shred(&scope).unwrap(), 2);
    assert_eq!(keys.shred(&scope).unwrap(), 0);
    // At once: it has waited for the other's lease.
    let refused = elsewhere.get(key("Sales", 1)).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::KeyShredded, "{refused}");
    assert_eq!((refused.partition_key(), refused.row_key()), (Some("Sales"), Some("empid_000001")));
    let read: Result<Vec<_>, _> = elsewhere.rows().department("Sales").into_iter().collect();
    assert_eq!(read.unwrap_err().kind(), ErrorKind::KeyShredded);
    assert_eq!(*elsewhere.get(key("IT", 11)).unwrap().unwrap(), employee("IT", 11));
    // The scope gets a new key with what is written next, also by the other.
    elsewhere.put(&employee("Sales", 1)).unwrap();
    assert_eq!(*staff.get(key("Sales", 1)).unwrap().unwrap(), employee("Sales", 1));
    let versions = |tables: &AzureTables| -> Vec<u32> {
        let keys = tables.encryption().unwrap().keys().unwrap();
        keys.iter().filter(|key| key.scope == scope).map(|key| key.version).collect()
    };
    assert_eq!(versions(&tables), [3]);
    // The table's scope takes those of all partitions with it.
    assert_eq!(keys.shred(&staff.dynamic().key_scope()).unwrap(), 2);
    assert_eq!(elsewhere.get(key("IT", 11)).unwrap_err().kind(), ErrorKind::KeyShredded);

    let another = Own::start();
    let foreign = open(&another, &provider);
    let scope = foreign.create_table("Payroll").unwrap().key_scope();
    for refused in [keys.shred(&scope).unwrap_err(), keys.rotate(&scope).unwrap_err()] {
        assert_eq!(refused.kind(), ErrorKind::TableNotFound, "{refused}");
    }
}

/// Loses the values that were sealed before a shredding, and keeps those that any process seals after it.
#[test]
fn nothing_that_is_written_after_a_shredding_is_lost_with_it() {
    let (server, provider) = (Own::start(), provider());
    let tables = open(&server, &provider);
    let (staff, keys) = (tables.table::<Employee>().unwrap(), tables.encryption().unwrap());
    let (sent, written) = channel::<(u32, Instant, Instant)>();
    let (begun, ended) = thread::scope(|scope| {
        let (server, provider) = (&server, &provider);
        scope.spawn(move || {
            let staff = open(server, provider).table::<Employee>().unwrap();
            for id in 0..80 {
                let begun = Instant::now();
                staff.insert(&employee("Sales", id)).unwrap();
                sent.send((id, begun, Instant::now())).unwrap();
                thread::sleep(Duration::from_millis(15));
            }
        });
        thread::sleep(LEASE);
        let begun = Instant::now();
        keys.shred(&staff.dynamic().partition_key_scope("Sales").unwrap()).unwrap();
        (begun, Instant::now())
    });
    let (mut lost, mut kept) = (0, 0);
    for (id, from, until) in written {
        match staff.get(key("Sales", id)) {
            Ok(found) => {
                assert!(until > begun, "{id} was there before");
                assert_eq!(*found.unwrap(), employee("Sales", id));
                kept += 1;
            }
            Err(error) => {
                assert_eq!(error.kind(), ErrorKind::KeyShredded, "{error}");
                assert!(from < ended, "{id} was written afterwards");
                lost += 1;
            }
        }
    }
    assert!(lost > 0 && kept > 0, "{lost} {kept}");
}

#[test]
fn keys_are_wrapped_anew_and_every_process_goes_on() {
    let (server, provider) = (Own::start(), provider());
    let (tables, other) = (open(&server, &provider), open(&server, &provider));
    let (staff, elsewhere) = (tables.table::<Employee>().unwrap(), other.table::<Employee>().unwrap());
    staff.insert(&employee("Sales", 1)).unwrap();
    let former = provider.current().unwrap();
    provider.rotate().unwrap();
    assert_eq!(tables.encryption().unwrap().rewrap().unwrap(), []);
    assert!(provider.forget(&former));
    // This one has no data key at hand, and unwraps by the new root key.
    assert_eq!(*elsewhere.get(key("Sales", 1)).unwrap().unwrap(), employee("Sales", 1));
    elsewhere.insert(&employee("Finance", 2)).unwrap();
    assert_eq!(*staff.get(key("Finance", 2)).unwrap().unwrap(), employee("Finance", 2));
    let third = open(&server, &provider).table::<Employee>().unwrap();
    assert_eq!(third.all().into_iter().count(), 2);
    let roots = super::raw(&tables, "TcKeys");
    assert_eq!(roots.iter().filter(|row| row.row_key().starts_with("root_")).count(), 1);
}

#[test]
fn calls_that_are_awaited_go_by_the_keys_as_those_do_that_block() {
    let (server, provider) = (Own::start(), provider());
    let (tables, other) = (open(&server, &provider), open(&server, &provider));
    block_on(async {
        let staff = other.to_async().table::<Employee>().await.unwrap();
        for round in 0..2 {
            staff.insert(&employee("Sales", round)).await.unwrap();
            let by_ssn = Employee::by_ssn("Sales", format!("078-05-{round:04}"), round);
            assert_eq!(*staff.get(by_ssn).await.unwrap().unwrap(), employee("Sales", round));
            tables.encryption().unwrap().rotate(&Scope::store()).unwrap();
            // Found under the former key's token, by one who may not go by the new one yet, and by one who does.
            let found = staff.by_ssn().department("Sales").ssn("078-05-0000").entities().count().await;
            assert_eq!(found.unwrap(), 1);
            thread::sleep(LEASE);
            staff.update(key("Sales", 0), |one| one.email = format!("{round}@contoso.com")).await.unwrap();
        }
        let scope = tables.dynamic_table("Payroll").unwrap().partition_key_scope("Sales").unwrap();
        assert_eq!(tables.encryption().unwrap().shred(&scope).unwrap(), 1);
        let lost = staff.get(key("Sales", 0)).await.unwrap_err();
        assert_eq!(lost.kind(), ErrorKind::KeyShredded, "{lost}");
    });
}

#[derive(Clone, Debug, PartialEq, Entity)]
#[entity(table = "Members", kind = "member")]
#[key(partition = "{club}", row = "member_{id:06}")]
#[index(by_ssn, row = "ssn_{ssn:blind}", unique)]
struct Member {
    club: String,
    id: u32,
    #[encrypt(blind, scope = table)]
    ssn: String,
}

#[test]
fn tokens_keep_values_unique_and_their_scope_gets_no_second_key() {
    let (server, provider) = (Own::start(), provider());
    let (tables, other) = (open(&server, &provider), open(&server, &provider));
    let members = tables.table::<Member>().unwrap();
    let member = |id| Member { club: "Chess".into(), id, ssn: "078-05-1120".into() };
    members.insert(&member(1)).unwrap();
    let taken = other.table::<Member>().unwrap().insert(&member(2)).unwrap_err();
    assert_eq!(taken.kind(), ErrorKind::UniqueConflict, "{taken}");
    assert!(!format!("{taken:?} {taken}").contains("078-05"), "{taken:?}");
    let by_ssn = Member::by_ssn("Chess", "078-05-1120");
    assert_eq!(*other.table::<Member>().unwrap().get(by_ssn).unwrap().unwrap(), member(1));

    let keys = tables.encryption().unwrap();
    let seen = format!("{:?}", super::raw(&tables, "TcKeys"));
    for refused in [keys.rotate(&members.dynamic().key_scope()).map(drop), keys.rotate_all().map(drop)] {
        let refused = refused.unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::Unsupported, "{refused}");
        assert!(
            refused.to_string().contains("`expect`") && refused.to_string().contains("by_ssn"),
            "{refused}"
        );
    }
    assert_eq!(format!("{:?}", super::raw(&tables, "TcKeys")), seen, "nothing was written");
    // Other scopes are rotated, and this one is shredded.
    keys.rotate(&Scope::store()).unwrap();
    assert_eq!(keys.shred(&members.dynamic().key_scope()).unwrap(), 1);
    members.insert(&member(3)).unwrap();
    assert_eq!(
        other.table::<Member>().unwrap().insert(&member(4)).unwrap_err().kind(),
        ErrorKind::UniqueConflict
    );
}
