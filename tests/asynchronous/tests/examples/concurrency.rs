//! The example `concurrency`, awaited.

use asynchronous_tests::*;

include!(concat!(env!("OUT_DIR"), "/concurrency.rs"));

#[test]
fn awaited() {
    on_executors(|store| async move {
        let wiki = store.to_async().table::<Page>().await?;
        let key = || Page::key("docs", "Install");
        let (space, name) = ("docs".to_owned(), "Install".to_owned());
        wiki.insert(&Page { space, name, editor: "ann".into(), text: "Unpack.".into(), views: 0 }).await?;
        let for_ann = wiki.get(key()).await?.unwrap();
        let for_bob = wiki.get(key()).await?.unwrap();
        assert_eq!(Stored::etag(&for_ann), Stored::etag(&for_bob));
        let by_bob = Page {
            editor: "bob".into(),
            text: "Unpack and run.".into(),
            ..Stored::into_inner(for_bob.clone())
        };
        wiki.replace(&by_bob, Stored::etag(&for_bob)).await?;
        let by_ann = Page { text: "Unpack. Ask Ann.".into(), ..Stored::into_inner(for_ann.clone()) };
        let refused = wiki.replace(&by_ann, Stored::etag(&for_ann)).await.unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::ConditionNotMet);
        let again = wiki.get(key()).await?.unwrap();
        let text = format!("{} Ask Ann.", again.text);
        let merged = Page { editor: "ann".into(), text, ..Stored::into_inner(again.clone()) };
        wiki.replace(&merged, Stored::etag(&again)).await?;
        assert_eq!(wiki.get(key()).await?.unwrap().text, "Unpack and run. Ask Ann.");
        assert_eq!(wiki.by_editor().space("docs").editor("bob").count().await?, 0);
        assert_eq!(wiki.by_editor().space("docs").editor("ann").count().await?, 1);

        let counters = all((0..4).map(|_| {
            let wiki = wiki.clone();
            async move {
                for _ in 0..25 {
                    wiki.update(Page::key("docs", "Install"), |page| page.views += 1).await?;
                }
                Ok::<(), table_core::Error>(())
            }
        }));
        counters.await.into_iter().collect::<table_core::Result<()>>()?;
        assert_eq!(wiki.get(key()).await?.unwrap().views, 100);
        wiki.delete(key()).await?;
        assert!(wiki.get(key()).await?.is_none());
        Ok(())
    });
}
