//! What is found by tokens: by key, in indexes, by filters; of every type that can be.

use table_core::crypt::Secret;
use table_core::{Entity, ErrorKind, Filter, Properties, Query, Ticks, Uuid, prop};

use super::{Employee, Named, SSN, Scratch, employee, ids, key, rotate, staff};

#[test]
fn a_value_is_found_by_its_token_on_every_way() {
    let scratch = Scratch::new();
    let store = scratch.store();
    let staff = staff(&store);
    // Before anything was sealed there is no key, and nothing is found.
    assert!(staff.get(Employee::by_ssn("Sales", SSN)).unwrap().is_none());
    assert_eq!(staff.by_ssn().department("Sales").ssn(SSN).count().unwrap(), 0);
    assert_eq!(staff.rows().department("Sales").filter(|e| e.ssn.eq(SSN)).count().unwrap(), 0);
    for (id, ssn) in [(1, SSN), (2, "987-65-4321"), (3, "555-55-5555")] {
        staff.insert(&employee(id, ssn)).unwrap();
    }
    staff.put(&Employee { iban: None, pin: 1, ..employee(4, "444") }).unwrap();

    let one = employee(1, SSN);
    let by_ssn = || Employee::by_ssn("Sales", SSN);
    assert_eq!(*staff.get(by_ssn()).unwrap().unwrap(), one);
    assert_eq!(*staff.get(Employee::by_ssn("Sales", one.ssn.clone())).unwrap().unwrap(), one);
    assert_eq!(*staff.get(Employee::by_ssn("Sales", &one.ssn)).unwrap().unwrap(), one);
    assert!(staff.get(Employee::by_ssn("Sales", "123")).unwrap().is_none());
    assert!(staff.get(Employee::by_ssn("Marketing", SSN)).unwrap().is_none());
    let many =
        staff.get_many([by_ssn(), Employee::by_ssn("Sales", "?"), Employee::by_ssn("Sales", "444")]).unwrap();
    let many: Vec<_> = many.into_iter().map(|found| found.map(|e| e.id)).collect();
    assert_eq!(many, [Some(1), None, Some(4)]);
    assert_eq!(staff.get_as::<Named>(by_ssn()).unwrap().unwrap(), Named { id: 1, name: "Name1".into() });
    let copy = staff.get(Employee::by_iban("Sales", "DE02", 2)).unwrap().unwrap();
    assert_eq!((copy.id, &*copy.name, copy.iban.as_deref()), (2, "Name2", Some("DE02")));
    assert!(staff.get(Employee::by_iban("Sales", "DE02", 4)).unwrap().is_none());
    assert_eq!(staff.get(Employee::by_pin("Sales", 4711, "Name3", 3)).unwrap().unwrap().pin, 4711);

    assert_eq!(ids(staff.by_ssn().department("Sales").ssn(SSN)), [1]);
    assert_eq!(ids(staff.by_ssn().department("Sales")).len(), 4);
    assert_eq!(ids(staff.by_iban().department("Sales").iban("DE02").entities()), [1, 2, 3]);
    assert_eq!(ids(staff.by_iban().department("Sales").iban("DE02").id(2..).entities()), [2, 3]);
    assert_eq!(ids(staff.by_iban().department("Sales").iban("DE02").rev().top(2).entities()), [3, 2]);
    assert_eq!(staff.by_pin().department("Sales").pin(4711).count().unwrap(), 3);
    let named = staff.by_pin().department("Sales").pin(1).into_iter().map(|row| row.unwrap().id);
    assert_eq!(named.collect::<Vec<_>>(), [4]);

    let sales = || staff.rows().department("Sales");
    assert_eq!(ids(sales().filter(|e| e.ssn.eq(SSN))), [1]);
    assert_eq!(ids(sales().filter(|e| !e.ssn.eq(SSN) & e.pin.eq(4711))), [2, 3]);
    assert_eq!(ids(sales().filter(|e| e.iban.eq("DE02") | e.ssn.eq("444")).rev()), [4, 3, 2, 1]);
    assert_eq!(ids(staff.by_name().department("Sales").filter(|e| e.ssn.eq("444")).entities()), [4]);
    assert_eq!(ids(staff.rows().across_partitions().filter(|e| e.ssn.eq(SSN) | e.iban.eq("x"))), [1]);

    let snapshot = store.snapshot().unwrap();
    staff.delete(key(1)).unwrap();
    assert!(staff.get(by_ssn()).unwrap().is_none());
    let then = staff.at(&snapshot);
    assert_eq!(then.get(by_ssn()).unwrap().unwrap().id, 1);
    assert_eq!(then.get_many([by_ssn()]).unwrap().len(), 1);
    assert_eq!(then.get_as::<Named>(by_ssn()).unwrap().unwrap().id, 1);
    assert_eq!(ids(then.by_ssn().department("Sales").ssn(SSN)), [1]);
    let seen = then.rows().department("Sales").filter(|e| e.ssn.eq(SSN)).views();
    assert_eq!(seen.map(|e| e.unwrap().id().unwrap()).collect::<Vec<_>>(), [1]);
}

#[test]
fn filters_on_tokens_are_of_typed_queries_alone() {
    let scratch = Scratch::new();
    let store = scratch.store();
    let staff = staff(&store);
    staff.insert(&employee(1, SSN)).unwrap();
    let mut kept: Option<Filter> = None;
    let _ = staff.rows().department("Sales").filter(|e| {
        let filter = e.ssn.eq(SSN);
        kept = Some(filter.clone());
        filter
    });
    let filter = kept.unwrap();
    assert_eq!(
        (filter.to_string(), format!("{filter:?}")),
        ("Ssn eq <encrypted>".into(), "Filter(Ssn eq <encrypted>)".into())
    );
    let query = Query::new().filter(filter & prop("Name").eq("Name1"));
    let error = staff.dynamic().query(&query).unwrap().next().unwrap().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidFilter);
    assert!(!error.to_string().contains(SSN), "{error}");
}

#[derive(Properties, Clone, Debug, PartialEq)]
struct Bank {
    #[encrypt(blind)]
    iban: Secret<String>,
}

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Accounts", kind = "account")]
#[key(partition = "{owner}", row = "{id:03}")]
#[index(by_id, row = "id_{id:03}")]
struct Account {
    owner: String,
    id: u16,
    #[flatten]
    bank: Bank,
}

#[test]
fn flattened_fields_are_looked_up_by_filters() {
    let scratch = Scratch::new();
    let store = scratch.store();
    let accounts = store.table::<Account>().unwrap();
    for id in 0..3 {
        let bank = Bank { iban: format!("DE{id}").into() };
        accounts.insert(&Account { owner: "Ann".into(), id, bank }).unwrap();
        rotate(&store);
    }
    let found = accounts.rows().owner("Ann").filter(|a| a.bank.iban.eq("DE1"));
    assert_eq!(found.into_iter().map(|a| a.unwrap().id).collect::<Vec<_>>(), [1]);
    let copies = accounts.by_id().owner("Ann").filter(|a| a.bank.iban.eq("DE2"));
    assert_eq!(copies.into_iter().map(|a| a.unwrap().id).collect::<Vec<_>>(), [2]);
    accounts.update(Account::key("Ann", 1), |a| a.bank.iban = "DE9".into()).unwrap();
    assert_eq!(accounts.rows().owner("Ann").filter(|a| a.bank.iban.eq("DE9")).count().unwrap(), 1);
}

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Types", kind = "types")]
#[key(partition = "p", row = "{id:03}")]
#[index(by_all, row = "{bytes:blind}{born:blind}{pass:blind}-{big:blind}", unique)]
#[index(by_text, row = "text_{text:blind}_{id:03}", copy = keys)]
#[index(by_shard, row = "shard_{id:shard(2)}_{big:blind}_{id:03}", copy = keys)]
struct Types {
    id: u16,
    #[encrypt(blind)]
    bytes: Vec<u8>,
    #[encrypt(blind)]
    born: Ticks,
    #[encrypt(blind)]
    pass: Uuid,
    #[encrypt(blind)]
    big: i64,
    #[encrypt(blind)]
    text: Secret<Option<String>>,
}

#[test]
fn every_type_that_can_be_looked_up_is() {
    let scratch = Scratch::new();
    let store = scratch.store();
    let table = store.table::<Types>().unwrap();
    let types = |id: u16| Types {
        id,
        bytes: vec![1, 2],
        born: Ticks::new(600_000_000_000_000_000).unwrap(),
        pass: Uuid::from_u128(7),
        big: i64::from(id % 2),
        text: Secret::new((id > 1).then(|| "text".into())),
    };
    let (zero, one) = (types(0), types(1));
    table.insert(&zero).unwrap();
    rotate(&store);
    table.insert(&one).unwrap();
    let by_all = |of: &Types| Types::by_all(&of.bytes, of.born, of.pass, of.big);
    assert_eq!(*table.get(by_all(&zero)).unwrap().unwrap(), zero);
    assert_eq!(*table.get(by_all(&one)).unwrap().unwrap(), one);
    assert_eq!(table.insert(&types(2)).unwrap_err().kind(), ErrorKind::UniqueConflict);
    let four_tokens = table.by_all().bytes(vec![1, 2]).born(zero.born).pass(zero.pass).big(1);
    assert_eq!(four_tokens.into_iter().map(|t| t.unwrap().id).collect::<Vec<_>>(), [1]);
    assert_eq!(table.by_text().count().unwrap(), 0);
    let third = Types { big: 5, ..types(3) };
    table.insert(&third).unwrap();
    let by_text = table.by_text().text(third.text.clone());
    assert_eq!(by_text.into_iter().map(|row| row.unwrap().id).collect::<Vec<_>>(), [3]);
    let sharded = table.by_shard().all_shards().big(0).count();
    assert_eq!(sharded.unwrap(), 1);
}

integration_tests::on_executors_with_jobs! {
    a_value_is_found_by_its_token_on_every_way
    filters_on_tokens_are_of_typed_queries_alone
    flattened_fields_are_looked_up_by_filters
    every_type_that_can_be_looked_up_is
}
