//! Answers in pages, whose place the client holds; and reads of some fields alone.

use std::error::Error;
use std::io::Write;

use examples::{Scratch, stdout};
use table_core::{Continuation, Entity, ErrorKind, Projection, Store, View};

/// An article of a blog.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Blog", kind = "article")]
#[key(partition = "{blog}", row = "{number:04:inverted}")]
struct Article {
    blog: String,
    number: u16,
    title: String,
    likes: i32,
    text: String,
    draft: Option<bool>,
}

/// An article as the list shows it: its text is not read.
#[derive(Projection, Debug, PartialEq)]
#[projection(of = Article)]
struct Line {
    number: u16,
    title: String,
    draft: Option<bool>,
}

/// Answers `GET /blog?after=..` as a web server does: with the token alone it goes on, after a restart too.
fn list(store: &Store, after: Option<&str>) -> table_core::Result<(Vec<Line>, Option<String>)> {
    let articles = store.table::<Article>()?;
    let after: Option<Continuation> = after.map(str::parse).transpose()?;
    let page = articles.rows().blog("rust").select::<Line>().page(4, after.as_ref())?;
    Ok((page.entities, page.next.map(|next| next.to_string())))
}

fn main() -> Result<(), Box<dyn Error>> {
    let scratch = Scratch::new("paging_and_projection");
    let store = Store::open(scratch.path())?;
    let articles = store.table::<Article>()?;
    let mut out = stdout();
    for number in 1..=10 {
        articles.insert(&Article {
            blog: "rust".into(),
            number,
            title: format!("Part {number}"),
            likes: i32::from(number) * 7 % 10,
            text: "Long. ".repeat(500),
            draft: (number == 10).then_some(true),
        })?;
    }

    writeln!(out, "The newest first, four to a page:\n")?;
    let (mut pages, mut token) = (Vec::new(), None::<String>);
    loop {
        let (lines, next) = list(&store, token.as_deref())?;
        for line in &lines {
            writeln!(
                out,
                "  {:2}  {}{}",
                line.number,
                line.title,
                if line.draft.is_some() { " (draft)" } else { "" }
            )?;
        }
        pages.push(lines.iter().map(|line| line.number).collect::<Vec<_>>());
        let Some(next) = next else { break };
        writeln!(out, "  next: {}...", &next[..20])?;
        token = Some(next);
    }
    assert_eq!(pages, [vec![10, 9, 8, 7], vec![6, 5, 4, 3], vec![2, 1]]);

    writeln!(out, "\nA token is good for its own query alone:\n")?;
    let (_, token) = list(&store, None)?;
    let token: Continuation = token.ok_or("there is more")?.parse()?;
    let other = articles.rows().blog("rust").top(40).page(4, Some(&token)).unwrap_err();
    writeln!(out, "  {other}")?;
    assert_eq!(other.kind(), ErrorKind::InvalidContinuation);

    writeln!(out, "\nOne field of one article, seen in place:\n")?;
    let likes = articles.view(Article::key("rust", 4), |article| article.likes())?;
    writeln!(out, "  {likes:?} likes")?;
    assert_eq!(likes, Some(8));
    let line: Option<Line> = articles.get_as(Article::key("rust", 10))?;
    assert_eq!(line, Some(Line { number: 10, title: "Part 10".into(), draft: Some(true) }));

    writeln!(out, "\nAnd of all, from one snapshot, whatever is written meanwhile:\n")?;
    let snapshot = store.snapshot()?;
    articles.update(Article::key("rust", 1), |article| article.likes = 1_000)?;
    let mut best: Option<(i32, String)> = None;
    for article in articles.at(&snapshot).rows().blog("rust").views() {
        let article = article?;
        let likes = article.likes()?;
        if best.as_ref().is_none_or(|(most, _)| likes > *most) {
            best = Some((likes, format!("{} of {}", article.title()?, View::timestamp(&article))));
        }
    }
    let (likes, best) = best.ok_or("there are articles")?;
    writeln!(out, "  {best} is liked by {likes}")?;
    assert_eq!(likes, 9);
    Ok(())
}
