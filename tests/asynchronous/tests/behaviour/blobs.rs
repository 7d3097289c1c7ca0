//! Blobs copied from one store to another, awaited.

use asynchronous_tests::on_executors;
use table_core::{ErrorKind, Store};

#[test]
fn a_blob_is_copied_from_another_store_and_one_that_is_nowhere_is_not() {
    on_executors(|store| async move {
        let (from, to) = (Store::temporary()?.to_async(), store.to_async());
        let photo = from.upload("image/jpeg", &[7; 3_000_000][..]).await?;
        assert_eq!(to.read_blob(&photo).await.unwrap_err().kind(), ErrorKind::BlobGone);
        let copy = to.import_blob(&from, &photo).await?;
        assert_eq!(to.read_blob(&copy).await?, vec![7; 3_000_000]);
        assert_eq!(from.read_blob(&photo).await?.len(), 3_000_000);

        let third = Store::temporary()?.to_async();
        let nowhere = third.import_blob(&to, &photo).await.unwrap_err();
        assert_eq!(nowhere.kind(), ErrorKind::BlobGone, "{nowhere}");
        Ok(())
    });
}
