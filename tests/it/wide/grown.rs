//! Wide entities from release to release.

use integration_tests::Scratch;
use table_core::{DynamicEntity, Entity, ErrorKind, IfMatch, Store, Table};

/// One row.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Forms", kind = "form")]
#[key(partition = "{office}", row = "form_{id:06}")]
struct Narrow {
    office: String,
    id: u32,
    title: String,
}

/// It has got a part.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Forms", kind = "form", wide)]
#[key(partition = "{office}", row = "form_{id:06}")]
struct Wide {
    office: String,
    id: u32,
    title: String,
    #[part]
    remark: Option<String>,
    #[property(default = 3)]
    level: i32,
}

/// The part has got a field, and there is another one.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Forms", kind = "form", wide)]
#[key(partition = "{office}", row = "form_{id:06}")]
struct Wider {
    office: String,
    id: u32,
    title: String,
    #[part]
    remark: Option<String>,
    #[property(default = 3)]
    level: i32,
    mark: Option<u32>,
    #[part]
    note: Option<String>,
}

/// A field has moved from the head.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Forms", kind = "form", wide)]
#[key(partition = "{office}", row = "form_{id:06}")]
struct Moved {
    office: String,
    id: u32,
    #[part]
    title: String,
    remark: Option<String>,
}

fn wide(id: u32) -> Wide {
    Wide {
        office: "Oslo".into(),
        id,
        title: format!("title {id}"),
        remark: Some("r".into()),
        level: id as i32,
    }
}

fn opened(store: &Store) -> Table<Wide> {
    store.table::<Wide>().unwrap()
}

#[test]
fn what_was_one_row_gets_parts_when_it_is_written() {
    let scratch = Scratch::new();
    let store = scratch.store();
    let narrow = store.table::<Narrow>().unwrap();
    for id in 0..2 {
        narrow.insert(&Narrow { office: "Oslo".into(), id, title: format!("title {id}") }).unwrap();
    }
    let forms = opened(&store);
    let first = forms.get(Wide::key("Oslo", 0)).unwrap().unwrap();
    assert_eq!((first.title.as_str(), &first.remark, first.level), ("title 0", &None, 3));
    assert_eq!(forms.rows().office("Oslo").filter(|f| f.level.eq(3)).count().unwrap(), 2);
    forms.update(Wide::key("Oslo", 0), |form| form.level = 7).unwrap();
    forms.insert(&wide(5)).unwrap();
    assert!(forms.dynamic().get("Oslo", "form_000000_01").unwrap().is_some());
    assert!(forms.dynamic().get("Oslo", "form_000001_01").unwrap().is_none());
    assert_eq!(forms.rows().office("Oslo").filter(|f| f.level.eq(3)).count().unwrap(), 1);
    assert!(forms.check().unwrap().is_sound());
    // A program that knows no parts could not keep them.
    let key = || Narrow::key("Oslo", 0);
    let error = narrow.update(key(), |form| form.title = "late".into()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::LayoutChanged);
    assert!(error.to_string().contains("have 1 parts by now"), "{error}");
    assert_eq!(narrow.delete(key()).unwrap_err().kind(), ErrorKind::LayoutChanged);
}

#[test]
fn parts_and_their_fields_may_be_added() {
    let scratch = Scratch::new();
    let store = scratch.store();
    let forms = opened(&store);
    forms.insert(&wide(1)).unwrap();
    forms.insert(&wide(2)).unwrap();
    let wider = store.table::<Wider>().unwrap();
    let key = |id| Wider::key("Oslo", id);
    let read = wider.get(key(1)).unwrap().unwrap();
    assert_eq!((read.level, read.mark, read.note.as_deref()), (1, None, None));
    let patch = Wider::patch().mark(Some(7)).note(Some("n".to_owned()));
    wider.merge(key(1), patch, IfMatch::Any).unwrap();
    let read = wider.get(key(1)).unwrap().unwrap();
    assert_eq!((read.mark, read.note.as_deref(), read.remark.as_deref()), (Some(7), Some("n"), Some("r")));
    assert!(wider.check().unwrap().is_sound());
    // A head that says fewer than there are leaves one to nobody.
    let says = |parts: i32| {
        let head = DynamicEntity::new("Oslo", "form_000001").with("EntityParts", parts);
        wider.dynamic().raw().merge(&head, IfMatch::Any).unwrap();
    };
    says(1);
    assert_eq!(wider.check().unwrap().orphans, 1);
    says(2);
    assert!(wider.check().unwrap().is_sound());
    // The program that knows fewer parts reads what it knows.
    assert_eq!(*forms.get(Wide::key("Oslo", 1)).unwrap().unwrap(), wide(1));
    let error = forms.update(Wide::key("Oslo", 2), |form| form.level = 0).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::LayoutChanged);
}

#[test]
fn an_older_program_of_as_many_parts_carries_along_what_it_does_not_know() {
    #[derive(Entity, Clone, Debug, PartialEq)]
    #[entity(table = "Forms", kind = "form", wide)]
    #[key(partition = "{office}", row = "form_{id:06}")]
    struct More {
        office: String,
        id: u32,
        title: String,
        #[part]
        remark: Option<String>,
        #[property(default = 3)]
        level: i32,
        mark: Option<u32>,
    }
    let scratch = Scratch::new();
    let store = scratch.store();
    let more = store.table::<More>().unwrap();
    let form =
        More { office: "Oslo".into(), id: 1, title: "title 1".into(), remark: None, level: 1, mark: Some(9) };
    more.insert(&form).unwrap();
    let forms = opened(&store);
    forms.update(Wide::key("Oslo", 1), |form| (form.level, form.title) = (4, "new".into())).unwrap();
    let read = more.get(More::key("Oslo", 1)).unwrap().unwrap();
    assert_eq!((read.level, read.title.as_str(), read.mark), (4, "new", Some(9)));
    assert!(forms.dynamic().get("Oslo", "form_000001").unwrap().unwrap().get("Mark").is_none());
}

#[test]
fn a_field_stays_in_its_row() {
    let scratch = Scratch::new();
    let store = scratch.store();
    opened(&store).insert(&wide(1)).unwrap();
    let error = store.table::<Moved>().and_then(|forms| forms.get(Moved::key("Oslo", 1))).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::LayoutChanged);
    let text = error.to_string();
    assert!(text.contains("property Title String part 1"), "{text}");
    assert!(
        text.contains("rows hold `Title` in the head, and the field `Title` lies in part 1")
            || text.contains("rows hold `Title` in the head, and the field `title` lies in part 1"),
        "{text}"
    );
}
