//! Tables: made, found, listed and dropped.

use std::sync::Arc;

use table_engine::__executor::Backend;
use table_engine::{DynamicEntity, ErrorKind, Query};

use super::{check_lacks, tables};

pub(crate) fn tables_come_and_go(backend: &Arc<dyn Backend>) {
    let tables = tables(backend);
    assert_eq!(tables.tables().unwrap(), Vec::<String>::new());
    assert_eq!(tables.dynamic_table("Company").unwrap_err().kind(), ErrorKind::TableNotFound);
    assert_eq!(tables.drop_table("Company").unwrap_err().kind(), ErrorKind::TableNotFound);

    let company = tables.create_table("Company").unwrap();
    let other = tables.create_table("Archive").unwrap();
    company.insert(&DynamicEntity::new("Sales", "1").with("Name", "Jones")).unwrap();
    other.insert(&DynamicEntity::new("Sales", "1").with("Name", "Hall")).unwrap();
    assert_eq!(tables.tables().unwrap(), ["Archive", "Company"]);
    assert_eq!(tables.create_table("Company").unwrap_err().kind(), ErrorKind::TableAlreadyExists);

    // The name is free at once, and handles of the table that was are of none.
    tables.drop_table("Company").unwrap();
    assert_eq!(company.get("Sales", "1").unwrap_err().kind(), ErrorKind::TableNotFound);
    let jones = DynamicEntity::new("Sales", "2");
    assert_eq!(company.insert(&jones).unwrap_err().kind(), ErrorKind::TableNotFound);
    let again = tables.create_table("Company").unwrap();
    assert_eq!(again.query(&Query::new()).unwrap().count(), 0);
    assert_eq!(company.get("Sales", "1").unwrap_err().kind(), ErrorKind::TableNotFound);
    assert!(other.get("Sales", "1").unwrap().is_some());
}

pub(crate) fn names_are_compared_without_case(backend: &Arc<dyn Backend>) {
    let tables = tables(backend);
    tables.create_table("Company").unwrap();
    assert_eq!(tables.create_table("COMPANY").unwrap_err().kind(), ErrorKind::TableAlreadyExists);
    assert_eq!(tables.dynamic_table("company").unwrap().name(), "Company");
    tables.create_table("archive").unwrap();
    assert_eq!(tables.tables().unwrap(), ["archive", "Company"]);
    tables.drop_table("cOMPANY").unwrap();
    assert_eq!(tables.tables().unwrap(), ["archive"]);
}

pub(crate) fn a_table_has_another_name_or_keeps_its_own(backend: &Arc<dyn Backend>) {
    let tables = tables(backend);
    let company = tables.create_table("Company").unwrap();
    company.insert(&DynamicEntity::new("Sales", "1")).unwrap();
    let name = match tables.rename_table("Company", "Firm") {
        Ok(()) => {
            assert_eq!(tables.dynamic_table("Company").unwrap_err().kind(), ErrorKind::TableRenamed);
            "Firm"
        }
        Err(refused) => {
            check_lacks(&refused, "another name");
            "Company"
        }
    };
    assert_eq!(tables.tables().unwrap(), [name]);
    assert!(tables.dynamic_table(name).unwrap().get("Sales", "1").unwrap().is_some());
}
