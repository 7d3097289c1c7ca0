//! Keys that are rotated and destroyed by processes whose requests get lost, or that die between two of them.

use std::sync::Arc;

use table_core::crypt::{MemoryKeys, Scope};

use super::*;

/// For how long a process goes by what it has read of the keys.
const LEASE: Duration = Duration::from_millis(60);

#[derive(Clone, Debug, PartialEq, Entity)]
#[entity(table = "Payroll", kind = "employee")]
#[key(partition = "{department}", row = "empid_{id:06}")]
#[index(by_ssn, row = "ssn_{ssn:blind}_{id:06}")]
struct Employee {
    department: String,
    id: u32,
    #[encrypt(blind)]
    ssn: String,
    #[encrypt(scope = partition)]
    note: String,
}

fn employee(department: &str, id: u32) -> Employee {
    Employee { department: department.into(), id, ssn: format!("078-05-{id:04}"), note: "of it".into() }
}

fn open(address: std::net::SocketAddr, provider: &Arc<MemoryKeys>, retries: Retries) -> AzureTables {
    let options = AzureOptions::new().lease(LEASE).encryption(provider.clone()).retries(retries);
    options.timeout(Duration::from_secs(5)).connect(&connection(address)).unwrap()
}

/// Rotates, seals anew, destroys, wraps anew and shreds.
fn work(tables: &AzureTables) -> Result<(), table_core::Error> {
    let (keys, staff) = (tables.encryption()?, tables.table::<Employee>()?);
    keys.rotate(&Scope::store())?;
    staff.reencrypt()?.run()?;
    keys.destroy_unused()?;
    keys.rewrap()?;
    keys.shred(&staff.dynamic().partition_key_scope("Gone")?)?;
    Ok(())
}

/// Makes sure that what was not shredded is there, and found, and that one key is left to each scope.
fn check(tables: &AzureTables, what: &str) {
    let staff = tables.table::<Employee>().unwrap();
    for id in 0..6 {
        let found = staff.get(Employee::key("Sales", id)).unwrap().unwrap();
        assert_eq!(*found, employee("Sales", id), "{what}");
        let by_ssn = staff.by_ssn().department("Sales").ssn(&*found.ssn).entities().count().unwrap();
        assert_eq!(by_ssn, 1, "{what}");
    }
    assert!(tables.jobs().unwrap().is_empty(), "{what}");
    let keys = tables.encryption().unwrap().keys().unwrap();
    assert!(keys.len() == 2 && keys.iter().all(|key| key.current), "{what}: {keys:?}");
}

fn fill(tables: &AzureTables) {
    let staff = tables.table::<Employee>().unwrap();
    for id in 0..6 {
        staff.insert(&employee("Sales", id)).unwrap();
    }
}

/// Who dies before any of its requests, or behind it, leaves what another goes on with.
#[test]
fn work_on_keys_that_is_broken_off_at_any_request_is_ended_by_another_process() {
    let (server, provider) = (Own::start(), Arc::new(MemoryKeys::new().unwrap()));
    let whole = || open(server.address, &provider, Retries::default());
    fill(&whole());
    let lost = employee("Gone", 7);
    let mut runs = 0;
    // The long form tries each.
    let step = if changes(0) > 0 { 1 } else { 12 };
    for is_answer_lost in [false, true] {
        for request in (0_u64..).step_by(step) {
            let tables = whole();
            tables.table::<Employee>().unwrap().put(&lost).unwrap();
            let proxy = Proxy::start(server.address, Faults::default(), 1);
            proxy.die_after(request, is_answer_lost);
            let broken_off = open(proxy.address, &provider, Retries::none());
            let done = work(&broken_off);
            let what = format!("request {request}, {is_answer_lost}: {done:?}");
            // It may have been shredded already, and can't be sealed anew then.
            whole().table::<Employee>().unwrap().put(&lost).unwrap();
            work(&whole()).unwrap_or_else(|error| panic!("{what}: {error}"));
            check(&whole(), &what);
            let shredded = whole().table::<Employee>().unwrap().get(Employee::key("Gone", 7)).unwrap_err();
            assert_eq!(shredded.kind(), ErrorKind::KeyShredded, "{what}");
            runs += 1;
            if done.is_ok() {
                break;
            }
        }
    }
    println!("{runs} times broken off");
    assert!(runs > 10, "{runs}");
}

#[test]
fn keys_bear_lost_requests_and_answers() {
    let (server, provider) = (Own::start(), Arc::new(MemoryKeys::new().unwrap()));
    fill(&open(server.address, &provider, Retries::default()));
    let proxy = Proxy::start(server.address, LOSSES, seed());
    let retries = Retries::default().attempts(12).first_wait(Duration::from_millis(2));
    let tables = open(proxy.address, &provider, retries.longest_wait(Duration::from_millis(50)));
    let mut unknown = 0;
    for _ in 0..4 {
        // What is not known to be done is called again.
        while let Err(error) = work(&tables) {
            let is_lost = matches!(error.kind(), ErrorKind::OutcomeUnknown | ErrorKind::Unreachable);
            assert!(is_lost, "{error}");
            unknown += 1;
            assert!(unknown < 100);
        }
    }
    println!("{unknown} times unknown");
    check(&open(server.address, &provider, Retries::default()), "at the end");
}
