//! Tables: made, found, listed and dropped.

use std::sync::Arc;

use table_engine::__executor::Backend;
use table_engine::{DynamicEntity, ErrorKind, Filter, Query};

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

pub(crate) fn tables_are_listed_by_pages(backend: &Arc<dyn Backend>) {
    let tables = tables(backend);
    for name in ["Company", "archive", "Logins1", "logins2", "Logins3", "Zebra"] {
        tables.create_table(name).unwrap();
    }
    let paged = |filter: Option<&str>, size: usize| {
        let filter = filter.map(|text| Filter::parse(text).unwrap());
        let (mut names, mut after, mut pages) = (Vec::new(), None::<String>, 0);
        loop {
            let page = tables.tables_page(filter.as_ref(), after.as_deref(), size).unwrap();
            assert!(page.tables.len() == size || page.next.is_none());
            names.extend(page.tables);
            pages += 1;
            match page.next {
                None => return (names, pages),
                next => after = next,
            }
        }
    };
    let all = tables.tables().unwrap();
    assert_eq!(all, ["archive", "Company", "Logins1", "logins2", "Logins3", "Zebra"]);
    for (size, pages) in [(1, 6), (2, 3), (4, 2), (6, 1), (1_000, 1)] {
        assert_eq!(paged(None, size), (all.clone(), pages), "pages of {size}");
    }
    for (filter, expected) in [
        ("TableName eq 'Company'", &["Company"][..]),
        ("'Company' eq TableName", &["Company"]),
        ("TableName eq 'company'", &[]),
        ("TableName ge 'Logins' and TableName lt 'Logint'", &["Logins1", "Logins3"]),
        ("TableName eq 'Zebra' or TableName eq 'archive'", &["archive", "Zebra"]),
        ("not (TableName gt 'A')", &[]),
        ("TableName ne 'Zebra' and TableName gt 'M'", &["archive", "logins2"]),
    ] {
        for size in [1, 1_000] {
            assert_eq!(paged(Some(filter), size).0, expected, "{filter}");
        }
    }
    // A page goes on behind a table that has gone, whatever its name's case.
    let first = tables.tables_page(None, None, 2).unwrap().next.unwrap();
    tables.drop_table(&first).unwrap();
    for name in [first.clone(), first.to_ascii_uppercase()] {
        assert_eq!(tables.tables_page(None, Some(&name), 1).unwrap().tables, ["Logins1"]);
    }
    for text in [
        "PartitionKey eq 'a'",
        "TableName eq 'a' or Timestamp gt datetime'2026-01-01T00:00:00Z'",
        "Name eq 'a'",
    ] {
        let filter = Filter::parse(text).unwrap();
        assert_eq!(tables.tables_page(Some(&filter), None, 5).unwrap_err().kind(), ErrorKind::InvalidFilter);
    }
    for size in [0, 1_001] {
        assert_eq!(tables.tables_page(None, None, size).unwrap_err().kind(), ErrorKind::InvalidQuery);
    }
}
