//! Entities with sealed values and signed rows whose copies lie elsewhere: the copies hold nothing that is sealed, and follow
//! their entity also where it can't be opened any more.

use std::sync::Arc;

use integration_tests::{Scratch, assert_sound};
use table_core::crypt::MemoryKeys;
use table_core::{DynamicEntity, Entity, ErrorKind, Store};

use super::seen;

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Payroll", kind = "pay", signed)]
#[key(partition = "{department}", row = "pay_{id:06}")]
#[index(by_name, table = "PayNames", partition = "{name}", row = "{department}_{id:06}", copy = keys, when = Pay::is_listed, atomic)]
#[index(by_number, partition = "numbers", row = "number_{number:06}", copy(name), unique, atomic)]
struct Pay {
    department: String,
    id: u32,
    name: String,
    number: u32,
    listed: bool,
    #[encrypt(scope = partition)]
    salary: i64,
}

impl Pay {
    fn is_listed(&self) -> bool {
        self.listed
    }
}

fn pay(department: &str, id: u32, listed: bool) -> Pay {
    Pay { department: department.into(), id, name: format!("n{id}"), number: id, listed, salary: 1_000 }
}

fn keys(store: &Store) -> Vec<String> {
    seen(store)
        .into_iter()
        .map(|(table, row)| format!("{table} {} {}", row.partition_key(), row.row_key()))
        .collect()
}

#[test]
fn copies_elsewhere_follow_an_entity_whose_values_are_sealed_and_whose_rows_are_signed() {
    let scratch = Scratch::new();
    let options = Store::options().encryption(Arc::new(MemoryKeys::new().unwrap()));
    let store = scratch.store_with(&options);
    let payroll = store.table::<Pay>().unwrap();
    for (department, id, listed) in [("Sales", 1, true), ("Sales", 2, false), ("Legal", 3, true)] {
        payroll.insert(&pay(department, id, listed)).unwrap();
    }
    let all = [
        "PayNames n1 Sales_000001",
        "PayNames n3 Legal_000003",
        "Payroll Legal pay_000003",
        "Payroll Sales pay_000001",
        "Payroll Sales pay_000002",
        "Payroll numbers number_000001",
        "Payroll numbers number_000002",
        "Payroll numbers number_000003",
    ];
    assert_eq!(keys(&store), all);
    let found = payroll.get(Pay::by_number(3)).unwrap().unwrap();
    assert_eq!((&*found.name, found.key()), ("n3", Pay::key("Legal", 3)));
    let entities: Vec<_> =
        payroll.by_name().name("n1").entities().into_iter().map(|pay| pay.unwrap().salary).collect();
    assert_eq!(entities, [1_000]);
    // A signed copy is its struct's alone, there too.
    let forged = DynamicEntity::new("n9", "Sales_000009").with("EntityType", "pay.by_name");
    let refused = store.dynamic_table("PayNames").unwrap().raw().insert(&forged).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::SchemaMismatch, "{refused}");
    assert!(refused.to_string().contains("the row's kind is signed"), "{refused}");

    // Sealed anew, an entity keeps its copies.
    let encryption = store.encryption().unwrap();
    encryption.rotate_all().unwrap();
    assert_eq!(payroll.reencrypt().unwrap().run().unwrap().changed, 3);
    assert_eq!(keys(&store), all);
    assert_eq!(*payroll.get(Pay::key("Legal", 3)).unwrap().unwrap(), pay("Legal", 3, true));
    payroll.update(Pay::key("Legal", 3), |pay| pay.name = "n4".into()).unwrap();
    assert!(payroll.get(Pay::by_name("n4", "Legal", 3)).unwrap().is_some());
    assert!(payroll.get(Pay::by_name("n3", "Legal", 3)).unwrap().is_none());

    // The keys of a department are destroyed. Its entities can be deleted still, with the copies that they have.
    let scope = payroll.dynamic().partition_key_scope("Sales").unwrap();
    encryption.shred(&scope).unwrap();
    let gone = payroll.get(Pay::key("Sales", 1)).unwrap_err();
    assert_eq!(gone.kind(), ErrorKind::KeyShredded);
    assert_eq!(payroll.get(Pay::by_number(1)).unwrap().map(|row| row.name), Some("n1".into()));
    payroll.delete(Pay::key("Sales", 1)).unwrap();
    store.transaction().delete(Pay::key("Sales", 2)).commit().unwrap();
    let left = ["PayNames n4 Legal_000003", "Payroll Legal pay_000003", "Payroll numbers number_000003"];
    assert_eq!(keys(&store), left);
    // What they had is free again.
    payroll.insert(&Pay { number: 1, ..pay("Legal", 5, true) }).unwrap();
    assert_sound(&store);
    drop((payroll, encryption));
    store.drop_tables(&["Payroll", "PayNames"]).unwrap();
}

/// Two entities with sealed values in two tables, sealed in one transaction.
#[test]
fn a_store_transaction_seals_for_each_of_its_tables() {
    #[derive(Entity, Clone, Debug, PartialEq)]
    #[entity(table = "Bonuses", kind = "bonus")]
    #[key(partition = "{department}", row = "bonus_{id:06}")]
    struct Bonus {
        department: String,
        id: u32,
        #[encrypt(scope = table)]
        amount: i64,
    }

    let scratch = Scratch::new();
    let options = Store::options().encryption(Arc::new(MemoryKeys::new().unwrap()));
    let store = scratch.store_with(&options);
    let (ann, bonus) = (pay("Sales", 1, true), Bonus { department: "Sales".into(), id: 1, amount: 50 });
    store.transaction().insert(&ann).insert(&bonus).commit().unwrap();
    store
        .transaction()
        .update(Bonus::key("Sales", 1), |bonus| bonus.amount -= 20)
        .update(Pay::key("Sales", 1), |pay| pay.salary += 20)
        .commit()
        .unwrap();
    let (pays, bonuses) = (store.table::<Pay>().unwrap(), store.table::<Bonus>().unwrap());
    assert_eq!(pays.get(Pay::key("Sales", 1)).unwrap().unwrap().salary, 1_020);
    assert_eq!(bonuses.get(Bonus::key("Sales", 1)).unwrap().unwrap().amount, 30);
    for (table, row, property) in
        [(pays.dynamic(), "pay_000001", "Salary"), (bonuses.dynamic(), "bonus_000001", "Amount")]
    {
        let stored = table.get("Sales", row).unwrap().unwrap();
        assert!(stored.get(property).unwrap().as_bytes().is_some(), "{stored:?}");
    }
    assert_sound(&store);
}
