//! What an executor that is not on LMDB can't do is refused by an error that names it; what it can, it does whole or not at
//! all.

use integration_tests::MapStore;
use table_core::{DynamicEntity, Entity, ErrorKind, Query, Result};

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Payroll", kind = "pay")]
#[key(partition = "{department}", row = "pay_{id:06}")]
struct Pay {
    department: String,
    id: u32,
    #[encrypt]
    salary: i64,
}

fn refused<T>(done: Result<T>) -> (ErrorKind, String) {
    match done {
        Ok(_) => panic!("it was not refused"),
        Err(error) => (error.kind(), error.to_string()),
    }
}

#[test]
fn a_kind_that_is_sealed_is_refused_by_a_store_that_seals_nothing() {
    for map in [MapStore::new(), MapStore::as_the_service()] {
        let (kind, text) = refused(map.tables().table::<Pay>());
        assert_eq!(kind, ErrorKind::Unsupported, "{text}");
        assert_eq!(text, "cannot open table `Payroll`: the store seals no values and signs no rows");
    }
}

#[test]
fn a_rule_that_seals_is_refused_by_a_store_that_seals_nothing() {
    for map in [MapStore::new(), MapStore::as_the_service()] {
        let company = map.tables().create_table("Company").unwrap();
        let sealed = company.encrypting(|_, _, property| property == "Ssn");
        let ann = DynamicEntity::new("Sales", "1").with("Name", "Ann");
        sealed.insert(&ann).unwrap();
        let (kind, text) =
            refused(sealed.insert(&DynamicEntity::new("Sales", "2").with("Ssn", "078-05-1120")));
        assert_eq!(kind, ErrorKind::Unsupported, "{text}");
        assert!(text.ends_with("the store seals no values and signs no rows"), "{text}");
        assert_eq!(company.get("Sales", "2").unwrap(), None);
        assert_eq!(sealed.get("Sales", "1").unwrap().unwrap().get("Name"), ann.get("Name"));

        // What is stored in the clear under a name that is to be sealed is not given, nor compared.
        company.insert(&DynamicEntity::new("Sales", "3").with("Ssn", "219-09-9999")).unwrap();
        assert_eq!(refused(sealed.get("Sales", "3")).0, ErrorKind::DecryptionFailed);
        let query = Query::new().partition("Sales").filter(table_core::prop("Ssn").eq("219-09-9999"));
        assert_eq!(refused(sealed.page(&query, 10, None)).0, ErrorKind::InvalidQuery);
        let mut rows = sealed.query(&query).unwrap();
        assert_eq!(refused(rows.next().unwrap()).0, ErrorKind::InvalidQuery);
    }
}

mod on_lmdb {
    table_conformance::conformance!(table_core::Store::temporary().unwrap().backend());
}
