//! Plans of many threads, through several handles as several processes have them: whatever they demand of rows holds when they
//! are carried out.

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::indexing_slicing,
    reason = "a test that fails panics"
)]

mod support;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use support::{options, server};
use table_core::__executor::{
    Act, Backend, Condition, Content, Group, OneSnapshotForEachThread, Plan, Range, ReadSnapshot, Refused,
    RowWrite, SealedAt, TableExec, Version,
};
use table_core::{ErrorKind, ValueRef};
use table_engine::model::EntityKeys;
use table_engine::row::version::version_of;

const HANDLES: usize = 4;
const THREADS_OF_EACH: usize = 2;
const ACCOUNTS: u64 = 6;
const PAIRS: u64 = 3;

/// A handle on the store, as a process has it.
struct Handle {
    backend: Arc<dyn Backend>,
    tables: [Arc<dyn TableExec>; 2],
}

/// A row as it was read.
#[derive(Clone, Copy)]
struct Found {
    version: Version,
    number: i64,
}

/// Rows of one partition at one moment.
struct Seen {
    rows: BTreeMap<String, Found>,
    digest: u64,
}

impl Handle {
    fn open(backend: Arc<dyn Backend>) -> Self {
        let tables = ["First", "Second"].map(|name| backend.clone().open(name).unwrap());
        Self { backend, tables }
    }

    fn snapshot(&self) -> Box<dyn OneSnapshotForEachThread> {
        self.backend.clone().read_snapshot().unwrap()
    }

    fn get(&self, snapshot: &dyn ReadSnapshot, table: usize, partition: &str, row: &str) -> Option<Found> {
        let view = snapshot.get(&*self.tables[table], EntityKeys::new(partition, row), false).unwrap()?;
        let number = view.get("Number").unwrap().unwrap().as_i64().unwrap();
        Some(Found { version: version_of(&view, snapshot.state()), number })
    }

    /// The rows of the first table in a partition whose keys begin so, numbered from 0.
    fn numbered(&self, snapshot: &dyn ReadSnapshot, partition: &str, prefix: &str) -> Seen {
        let digest = snapshot.digest(&*self.tables[0], partition, prefix).unwrap();
        let mut rows = BTreeMap::new();
        for number in 0.. {
            let key = format!("{prefix}{number:06}");
            let Some(found) = self.get(snapshot, 0, partition, &key) else { break };
            rows.insert(key, found);
        }
        Seen { rows, digest }
    }

    fn commit(&self, groups: Vec<Group<'_>>) -> Result<(), Refused> {
        let plan = Plan { groups: groups.into_iter().collect(), is_raw: true, ..Plan::default() };
        let [first, second] = &self.tables;
        self.backend.commit(&[&**first, &**second], &plan, &SealedAt::NOTHING).map(drop)
    }
}

fn number(number: i64) -> [(&'static str, ValueRef<'static>); 1] {
    [("Number", ValueRef::Int64(number))]
}

fn row<'p>(key: &'p str, condition: Condition, act: Act<Content<'p>>) -> RowWrite<'p> {
    RowWrite { key, condition, act, kind: None, of: 0 }
}

fn group<'p>(table: usize, partition: &'p str, rows: Vec<RowWrite<'p>>) -> Group<'p> {
    Group { table, ..Group::new(partition, rows) }
}

/// What was carried out, by all threads.
#[derive(Default)]
struct Done {
    appended: AtomicU64,
    claimed: AtomicU64,
    refused: AtomicU64,
    carried_out: AtomicU64,
}

impl Done {
    /// Counts a plan; whether it was carried out. One that others were quicker than is refused, and nothing else is.
    fn count(&self, done: Result<(), Refused>) -> bool {
        match done {
            Ok(()) => {
                self.carried_out.fetch_add(1, Ordering::Relaxed);
                true
            }
            Err(refused) => {
                let kind = refused.error.kind();
                let is_expected = matches!(
                    kind,
                    ErrorKind::ConditionNotMet | ErrorKind::EntityAlreadyExists | ErrorKind::EntityNotFound
                );
                assert!(is_expected, "{}", refused.error);
                self.refused.fetch_add(1, Ordering::Relaxed);
                false
            }
        }
    }
}

fn random(state: &mut u64, below: u64) -> u64 {
    *state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
    (*state >> 33) % below
}

/// Moves something from one account to another, in another partition of another table.
fn transfer(handle: &Handle, state: &mut u64, done: &Done) {
    let (from, to) = (format!("{}", random(state, ACCOUNTS)), format!("{}", random(state, ACCOUNTS)));
    let amount = i64::try_from(random(state, 10)).unwrap();
    let snapshot = handle.snapshot();
    let (give, take) = (
        handle.get(&*snapshot, 0, &from, "account").unwrap(),
        handle.get(&*snapshot, 1, &to, "account").unwrap(),
    );
    drop(snapshot);
    let (less, more) = (number(give.number - amount), number(take.number + amount));
    let put = |properties| Act::Put(Content::Properties(properties));
    done.count(handle.commit(vec![
        group(0, &from, vec![row("account", Condition::Is(give.version), put(&less))]),
        group(1, &to, vec![row("account", Condition::Is(take.version), put(&more))]),
    ]));
}

/// Puts a row behind the last one, where a range alone says which that is.
fn append(handle: &Handle, done: &Done) {
    let snapshot = handle.snapshot();
    let seen = handle.numbered(&*snapshot, "list", "at_");
    drop(snapshot);
    let (at, value) = (seen.rows.len(), number(1));
    let key = format!("at_{at:06}");
    let range = Range { prefix: "at_", digest: seen.digest };
    // Under no condition on the row: what another has put there would be gone.
    let put = row(&key, Condition::Any, Act::Put(Content::Properties(&value)));
    let plan = Group { unchanged: vec![range], ..group(0, "list", vec![put]) };
    if done.count(handle.commit(vec![plan])) {
        done.appended.fetch_add(1, Ordering::Relaxed);
    }
}

/// Puts one of two rows if the other is not there, or takes it away.
fn exclude(handle: &Handle, state: &mut u64, done: &Done) {
    let pair = format!("pair{}", random(state, PAIRS));
    let (one, other) = if random(state, 2) == 0 { ("a", "b") } else { ("b", "a") };
    let value = number(1);
    if random(state, 3) == 0 {
        done.count(handle.commit(vec![group(0, &pair, vec![row(one, Condition::Any, Act::Remove)])]));
        return;
    }
    let put = row(one, Condition::Any, Act::Put(Content::Properties(&value)));
    let absent = row(other, Condition::Absent, Act::Keep);
    done.count(handle.commit(vec![group(0, &pair, vec![put, absent])]));
    let snapshot = handle.snapshot();
    let both = ["a", "b"].map(|key| handle.get(&*snapshot, 0, &pair, key).is_some());
    assert_ne!(both, [true, true], "two rows are there that exclude each other");
}

/// Writes a row that relies on the version of another, or raises that and takes away what relied on it.
fn rely(handle: &Handle, state: &mut u64, done: &Done) {
    let snapshot = handle.snapshot();
    let leader = handle.get(&*snapshot, 0, "rely", "leader").unwrap();
    let seen = handle.numbered(&*snapshot, "rely", "of_");
    drop(snapshot);
    for found in seen.rows.values() {
        assert_eq!(found.number, leader.number, "a row relies on a version that is no more");
    }
    let put = |properties| Act::Put(Content::Properties(properties));
    if random(state, 4) > 0 {
        let key = format!("of_{:06}", seen.rows.len());
        let value = number(leader.number);
        let rows = vec![
            row(&key, Condition::Absent, put(&value)),
            row("leader", Condition::Is(leader.version), Act::Keep),
        ];
        done.count(handle.commit(vec![group(0, "rely", rows)]));
        return;
    }
    let value = number(leader.number + 1);
    let mut rows = vec![row("leader", Condition::Is(leader.version), put(&value))];
    rows.extend(seen.rows.keys().map(|key| row(key, Condition::Present, Act::Remove)));
    let range = Range { prefix: "of_", digest: seen.digest };
    done.count(handle.commit(vec![Group { unchanged: vec![range], ..group(0, "rely", rows) }]));
}

/// Takes a number that nobody has, and counts that in the other table by a merge.
fn claim(handle: &Handle, state: &mut u64, done: &Done) {
    let key = format!("claim_{:04}", random(state, 2_000));
    let value = number(1);
    let claim = row(&key, Condition::Absent, Act::Put(Content::Properties(&value)));
    if done.count(handle.commit(vec![group(1, "claims", vec![claim])])) {
        done.claimed.fetch_add(1, Ordering::Relaxed);
    }
}

#[test]
fn what_plans_demand_holds_when_they_are_carried_out() {
    let is_long = std::env::var("TABLE_POSTGRES_LONG").is_ok_and(|long| !long.is_empty());
    carry_out(&server(), if is_long { 100_000 } else { 4_000 });
}

#[test]
fn plans_see_what_others_have_done_whatever_isolation_the_database_begins_with() {
    let isolation = "options=-c%20default_transaction_isolation%3Drepeatable%5C%20read";
    carry_out(&format!("{}?{isolation}", server()), 2_000);
}

#[test]
fn a_plan_that_names_a_dropped_table_leaves_nothing_open() {
    let options = options();
    let [ours, theirs] = [(), ()].map(|()| options.connect(&server()).unwrap());
    for name in ["First", "Second"] {
        ours.create_table(name).unwrap();
    }
    let (handle, value) = (Handle::open(ours.backend().clone()), number(1));
    let put = |table, key| {
        let put = row(key, Condition::Any, Act::Put(Content::Properties(&value)));
        group(table, "p", vec![put])
    };
    handle.commit(vec![put(0, "1"), put(1, "1")]).unwrap();
    theirs.drop_tables(&["Second"]).unwrap();
    let merge = row("1", Condition::Any, Act::Merge(Content::Properties(&value)));
    let refused = handle.commit(vec![group(0, "p", vec![merge]), put(1, "2")]).unwrap_err();
    assert_eq!(refused.error.kind(), ErrorKind::TableNotFound, "{}", refused.error);
    assert!(handle.get(&*handle.snapshot(), 0, "p", "1").is_some());
}

/// Carries out so many plans at this address, and checks what has become of them.
fn carry_out(address: &str, plans: usize) {
    let options = options();
    let stores: Vec<_> = (0..HANDLES).map(|_| options.connect(address).unwrap()).collect();
    for name in ["First", "Second"] {
        stores[0].create_table(name).unwrap();
    }
    let handles: Vec<_> = stores.iter().map(|store| Handle::open(store.backend().clone())).collect();
    let (hundred, zero) = (number(100), number(0));
    for account in 0..ACCOUNTS {
        let partition = format!("{account}");
        for table in [0, 1] {
            let put = row("account", Condition::Absent, Act::Put(Content::Properties(&hundred)));
            handles[0].commit(vec![group(table, &partition, vec![put])]).unwrap();
        }
    }
    let leader = row("leader", Condition::Absent, Act::Put(Content::Properties(&zero)));
    handles[0].commit(vec![group(0, "rely", vec![leader])]).unwrap();
    let done = Done::default();
    let each = plans / (HANDLES * THREADS_OF_EACH);
    thread::scope(|scope| {
        for (at, handle) in handles.iter().enumerate() {
            for thread in 0..THREADS_OF_EACH {
                let done = &done;
                scope.spawn(move || {
                    let mut state = u64::try_from(1 + at * THREADS_OF_EACH + thread).unwrap();
                    for _ in 0..each {
                        match random(&mut state, 16) {
                            0 => append(handle, done),
                            1..4 => rely(handle, &mut state, done),
                            4..8 => exclude(handle, &mut state, done),
                            8..11 => claim(handle, &mut state, done),
                            _ => transfer(handle, &mut state, done),
                        }
                    }
                });
            }
        }
    });
    let handle = &handles[0];
    let snapshot = handle.snapshot();
    let accounts = (0..ACCOUNTS).flat_map(|account| [0, 1].map(|table| (table, format!("{account}"))));
    let sum: i64 = accounts
        .map(|(table, partition)| handle.get(&*snapshot, table, &partition, "account").unwrap().number)
        .sum();
    assert_eq!(sum, 200 * i64::try_from(ACCOUNTS).unwrap());
    let appended = handle.numbered(&*snapshot, "list", "at_").rows.len();
    assert_eq!(u64::try_from(appended).unwrap(), done.appended.into_inner(), "two were put in one place");
    let claims = (0..2_000)
        .filter(|number| handle.get(&*snapshot, 1, "claims", &format!("claim_{number:04}")).is_some());
    assert_eq!(u64::try_from(claims.count()).unwrap(), done.claimed.into_inner(), "one was claimed twice");
    let (carried_out, refused) = (done.carried_out.into_inner(), done.refused.into_inner());
    println!("{carried_out} plans carried out, {refused} refused");
    assert!(carried_out > refused / 4, "{carried_out} {refused}");
}
