//! The map passes what every backend must, with all its abilities and with those of the service.

mod with_all_abilities {
    table_conformance::conformance!(table_conformance::MapStore::new().backend());
}

mod as_the_service {
    table_conformance::conformance!(table_conformance::MapStore::as_the_service().backend());
}
