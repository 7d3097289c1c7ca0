//! The example `large_entity`, awaited.

use asynchronous_tests::*;

include!(concat!(env!("OUT_DIR"), "/large_entity.rs"));

use smol::io::AsyncReadExt as _;

#[test]
fn awaited() {
    on_executors(|store| async move {
        let tables = store.to_async();
        let staff = tables.table::<Employee>().await?;
        let photo = tables.upload("image/jpeg", smol::io::repeat(7).take(3_000_000)).await?;
        let jun = Employee { department: "Sales".into(), id: 223, email: "jun@contoso.com".into(), photo };
        staff.insert(&jun).await?;
        let found = staff.get(Employee::by_email("Sales", "jun@contoso.com")).await?.unwrap();
        assert_eq!(found.photo.len(), 3_000_000);
        let (mut reader, mut first) = (tables.open_blob(&found.photo).await?, [0; 4]);
        reader.read_exact(&mut first).await.unwrap();
        assert_eq!((first, reader.content_type()), ([7; 4], "image/jpeg"));
        let newer = tables.upload("image/png", &b"a smaller one"[..]).await?;
        staff.update(Employee::key("Sales", 223), |employee| employee.photo = newer).await?;
        let stats = store.stats()?.blobs;
        assert_eq!((stats.blobs, stats.bytes), (1, 13));
        // The reader has its own moment.
        assert_eq!(reader.read(&mut first).await.unwrap(), 4);
        assert_eq!(tables.read_blob(&photo).await.unwrap_err().kind(), ErrorKind::BlobGone);
        let refused = staff.insert(&Employee { id: 224, email: "ann@contoso.com".into(), ..jun }).await;
        assert_eq!(refused.unwrap_err().kind(), ErrorKind::BlobGone);
        staff.delete(Employee::key("Sales", 223)).await?;
        assert_eq!(store.stats()?.blobs.blobs, 0);
        Ok(())
    });
}
