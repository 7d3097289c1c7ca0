//! The example `large_entity`, awaited.

use asynchronous_tests::*;

include!(concat!(env!("OUT_DIR"), "/large_entity.rs"));

#[test]
fn awaited() {
    on_executors(|store| async move {
        let tables = store.to_async();
        let staff = tables.table::<Employee>().await?;
        let photo =
            tables.run(|tables| tables.upload("image/jpeg", std::io::repeat(7).take(3_000_000))).await?;
        let jun = Employee { department: "Sales".into(), id: 223, email: "jun@contoso.com".into(), photo };
        staff.insert(&jun).await?;
        let found = staff.get(Employee::by_email("Sales", "jun@contoso.com")).await?.unwrap();
        assert_eq!(found.photo.len(), 3_000_000);
        let (reading, photo) = (store.clone(), found.photo);
        let first = smol::unblock(move || {
            let (mut reader, mut first) = (photo.open(&reading)?, [0; 4]);
            reader.read_exact(&mut first).unwrap();
            Ok::<_, table_core::Error>(first)
        });
        assert_eq!(first.await?, [7; 4]);
        let newer = tables.run(|tables| tables.upload("image/png", &b"a smaller one"[..])).await?;
        staff.update(Employee::key("Sales", 223), |employee| employee.photo = newer).await?;
        let stats = store.stats()?.blobs;
        assert_eq!((stats.blobs, stats.bytes), (1, 13));
        let refused = staff.insert(&Employee { id: 224, email: "ann@contoso.com".into(), ..jun }).await;
        assert_eq!(refused.unwrap_err().kind(), ErrorKind::BlobGone);
        staff.delete(Employee::key("Sales", 223)).await?;
        assert_eq!(store.stats()?.blobs.blobs, 0);
        Ok(())
    });
}
