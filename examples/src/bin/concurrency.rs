//! Two editors of one page: optimistic concurrency by ETags.

use std::error::Error;
use std::io::Write;
use std::thread;

use examples::{Scratch, stdout};
use table_core::{Entity, ErrorKind, Store, Stored};

/// A page of a wiki.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Wiki", kind = "page")]
#[key(partition = "{space}", row = "{name:escaped}")]
#[index(by_editor, row = "editor_{editor:escaped}!{name:escaped}", copy = keys)]
struct Page {
    space: String,
    name: String,
    editor: String,
    text: String,
    views: i64,
}

fn main() -> Result<(), Box<dyn Error>> {
    let scratch = Scratch::new("concurrency");
    let store = Store::open(scratch.path())?;
    let wiki = store.table::<Page>()?;
    let mut out = stdout();
    let key = || Page::key("docs", "Install");
    let (space, name) = ("docs".to_owned(), "Install".to_owned());
    wiki.insert(&Page { space, name, editor: "ann".into(), text: "Unpack.".into(), views: 0 })?;

    writeln!(out, "Ann and Bob both open the page.")?;
    let for_ann = wiki.get(key())?.ok_or("the page is there")?;
    let for_bob = wiki.get(key())?.ok_or("the page is there")?;
    assert_eq!(Stored::etag(&for_ann), Stored::etag(&for_bob));

    writeln!(out, "Bob saves first.")?;
    let by_bob =
        Page { editor: "bob".into(), text: "Unpack and run.".into(), ..Stored::into_inner(for_bob.clone()) };
    wiki.replace(&by_bob, Stored::etag(&for_bob))?;

    writeln!(out, "Ann's page is no longer the one that she read:")?;
    let by_ann = Page { text: "Unpack. Ask Ann.".into(), ..Stored::into_inner(for_ann.clone()) };
    let refused = wiki.replace(&by_ann, Stored::etag(&for_ann)).unwrap_err();
    writeln!(out, "  {refused}")?;
    assert_eq!(refused.kind(), ErrorKind::ConditionNotMet);

    writeln!(out, "She reads it again, sees Bob's text, and adds her own.")?;
    let again = wiki.get(key())?.ok_or("the page is there")?;
    let merged = Page {
        editor: "ann".into(),
        text: format!("{} Ask Ann.", again.text),
        ..Stored::into_inner(again.clone())
    };
    wiki.replace(&merged, Stored::etag(&again))?;
    let page = wiki.get(key())?.ok_or("the page is there")?;
    writeln!(out, "  {:?}", page.text)?;
    assert_eq!(page.text, "Unpack and run. Ask Ann.");
    assert_eq!(wiki.by_editor().space("docs").editor("bob").count()?, 0, "the copies moved along");
    assert_eq!(wiki.by_editor().space("docs").editor("ann").count()?, 1);

    writeln!(
        out,
        "A counter needs no editor: `update` reads, changes and writes until nobody came between."
    )?;
    let counters: Vec<_> = (0..4)
        .map(|_| {
            let wiki = wiki.clone();
            thread::spawn(move || {
                (0..25).try_for_each(|_| {
                    wiki.update(Page::key("docs", "Install"), |page| page.views += 1).map(|_| ())
                })
            })
        })
        .collect();
    for counter in counters {
        counter.join().map_err(|_| "a counter panicked")??;
    }
    let page = wiki.get(key())?.ok_or("the page is there")?;
    writeln!(out, "  {} views", page.views)?;
    assert_eq!(page.views, 100);

    writeln!(out, "Who means it, whatever the version is, says so.")?;
    wiki.delete(key())?;
    assert!(wiki.get(key())?.is_none());
    Ok(())
}
