//! The example `paging_and_projection`, awaited.

use asynchronous_tests::*;

include!(concat!(env!("OUT_DIR"), "/paging_and_projection.rs"));

use table_core::asynchronous::AsyncTables;

async fn listed(store: &AsyncTables, after: Option<&str>) -> table_core::Result<(Vec<u16>, Option<String>)> {
    let articles = store.table::<Article>().await?;
    let after: Option<Continuation> = after.map(str::parse).transpose()?;
    let page = articles.rows().blog("rust").select::<Line>().page(4, after.as_ref()).await?;
    let numbers = page.entities.iter().map(|line| line.number).collect();
    Ok((numbers, page.next.map(|next| next.to_string())))
}

#[test]
fn awaited() {
    on_executors(|store| async move {
        let tables = store.to_async();
        let articles = tables.table::<Article>().await?;
        for number in 1..=10 {
            let (likes, draft) = (i32::from(number) * 7 % 10, (number == 10).then_some(true));
            let (title, text) = (format!("Part {number}"), "Long. ".repeat(500));
            articles.insert(&Article { blog: "rust".into(), number, title, likes, text, draft }).await?;
        }
        let (mut pages, mut token) = (Vec::new(), None::<String>);
        loop {
            let (numbers, next) = listed(&tables, token.as_deref()).await?;
            pages.push(numbers);
            let Some(next) = next else { break };
            token = Some(next);
        }
        assert_eq!(pages, [vec![10, 9, 8, 7], vec![6, 5, 4, 3], vec![2, 1]]);
        let token: Continuation = listed(&tables, None).await?.1.unwrap().parse()?;
        let other = articles.rows().blog("rust").rev().page(4, Some(&token)).await.unwrap_err();
        assert_eq!(other.kind(), ErrorKind::InvalidContinuation);

        let line: Option<Line> = articles.get_as(Article::key("rust", 10)).await?;
        assert_eq!(line, Some(Line { number: 10, title: "Part 10".into(), draft: Some(true) }));
        let mut lines = articles.rows().blog("rust").select::<Line>().stream();
        articles.update(Article::key("rust", 10), |article| article.likes = 1_000).await?;
        let mut count = 0;
        while let Some(line) = lines.try_next().await? {
            count += usize::from(line.draft.is_none());
        }
        assert_eq!(count, 9);
        // Views are lent by a snapshot, and so are read where calls block.
        let best =
            articles.run(|articles| articles.view(Article::key("rust", 10), |article| article.likes()));
        assert_eq!(best.await?, Some(1_000));
        Ok(())
    });
}
