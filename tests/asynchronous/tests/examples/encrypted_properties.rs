//! The example `encrypted_properties`, awaited.

use asynchronous_tests::*;

include!(concat!(env!("OUT_DIR"), "/encrypted_properties.rs"));

use table_core::asynchronous::AsyncTables;

async fn hired(store: &AsyncTables, id: u32, name: &str, ssn: &str, salary: i64) -> table_core::Result<()> {
    let company = || "contoso".to_owned();
    store.table::<Number>().await?.insert(&Number { company: company(), id, ssn: ssn.into() }).await?;
    let employee = Employee { company: company(), id, name: name.into(), salary };
    store.table::<Employee>().await?.insert(&employee).await.map(drop)
}

#[test]
fn awaited() {
    on_executors(|store| async move {
        // A store with keys: in a directory of its own.
        drop(store);
        let directory = tempfile::tempdir().unwrap();
        let keys = Arc::new(MemoryKeys::new()?);
        let store = Store::options().encryption(keys).open(directory.path().join("store"))?;
        let tables = store.to_async();
        let (staff, numbers) = (tables.table::<Employee>().await?, tables.table::<Number>().await?);
        hired(&tables, 1, "Ann Hall", "078-05-1120", 90_000).await?;
        hired(&tables, 2, "Ken Kwok", "219-09-9999", 70_000).await?;
        let found = numbers.get(Number::by_ssn("contoso", "219-09-9999")).await?.unwrap();
        let ken = staff.get(Employee::key("contoso", found.id)).await?.unwrap();
        assert_eq!((ken.name.expose().as_str(), ken.salary), ("Ken Kwok", 70_000));
        assert_eq!(numbers.by_ssn().company("contoso").ssn("219-09-9999").count().await?, 1);

        let rotating = store.clone();
        smol::unblock(move || rotating.encryption()?.rotate_all()).await?;
        hired(&tables, 3, "Jo Jones", "457-55-5462", 80_000).await?;
        for (ssn, id) in [("078-05-1120", 1), ("457-55-5462", 3)] {
            assert_eq!(numbers.get(Number::by_ssn("contoso", ssn)).await?.map(|number| number.id), Some(id));
        }
        let refused = hired(&tables, 4, "Another Ann", "078-05-1120", 1).await.unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::UniqueConflict);
        assert!(staff.get(Employee::key("contoso", 4)).await?.is_none());

        let numbered = numbers.reencrypt().await?.run().await?;
        let sealed = staff.reencrypt().await?.run().await?;
        assert_eq!((numbered.changed, sealed.changed, sealed.failed), (2, 2, 0));
        let keys = store.clone();
        smol::unblock(move || keys.encryption()?.destroy_unused()).await?;
        assert_eq!(
            numbers.get(Number::by_ssn("contoso", "078-05-1120")).await?.map(|number| number.id),
            Some(1)
        );

        numbers.delete(Number::key("contoso", 2)).await?;
        let shredding = store.clone();
        let scope = staff.dynamic().blocking().partition_key_scope("contoso_0002")?;
        smol::unblock(move || shredding.encryption()?.shred(&scope)).await?;
        let gone = staff.get(Employee::key("contoso", 2)).await.unwrap_err();
        assert_eq!(gone.kind(), ErrorKind::KeyShredded);
        assert_eq!(staff.get(Employee::key("contoso", 1)).await?.map(|ann| ann.salary), Some(90_000));
        assert!(smol::unblock(move || store.check()).await?.problems.is_empty());
        Ok(())
    });
}
