//! The map passes what every backend must, with all its abilities and with those of the service.

mod with_all_abilities {
    table_conformance::conformance!(table_conformance::MapStore::new().backend());
}

mod as_the_service {
    table_conformance::conformance!(table_conformance::MapStore::as_the_service().backend());
}

/// Without snapshots each read is of what is there when it is made.
#[test]
fn the_service_shows_newer_rows_to_a_scan_that_has_begun() {
    use table_engine::{DynamicEntity, ErrorKind, Query};

    for (store, expected) in [
        (table_conformance::MapStore::new(), [false, true]),
        (table_conformance::MapStore::as_the_service(), [true, false]),
    ] {
        let table = store.tables().create_table("Rows").unwrap();
        for row in 0..9 {
            table.put(&DynamicEntity::new("p", format!("{row}"))).unwrap();
        }
        let mut rows = table.query(&Query::new()).unwrap();
        assert_eq!(rows.next().unwrap().unwrap().row_key(), "0");
        table.put(&DynamicEntity::new("p", "7a")).unwrap();
        table.delete("p", "8").unwrap();
        let rest: Vec<_> = rows.map(|row| row.unwrap().row_key().to_owned()).collect();
        assert_eq!(["7a", "8"].map(|row| rest.iter().any(|found| found == row)), expected);
    }
    let tables = table_conformance::MapStore::as_the_service().tables();
    assert_eq!(tables.snapshot().unwrap_err().kind(), ErrorKind::Unsupported);
}
