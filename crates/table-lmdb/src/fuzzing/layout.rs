//! Text that a store holds about entities: the layouts of kinds, and the ids of index lists.

use table_engine::model::ValueRef;
use table_engine::plan::ids_of;
use table_engine::schema::{
    FieldPart, KeyPart, KeyValues, Layout, List, Part, PropertyValue, Template, ValueError,
};

/// Reads the layout of a kind. What is read is written as a layout that is read as the same.
pub fn layout(text: &str) -> bool {
    let Some(read) = Layout::parse(text, "employee") else { return false };
    let written = read.to_string();
    let again = Layout::parse(&written, "employee").expect("what was written can be read");
    assert_eq!(again, read, "a layout is read as another");
    assert_eq!(again.to_string(), written, "a layout is written as another");
    true
}

/// Layouts with each of the words that one may have.
pub fn sample_layout() -> Vec<Vec<u8>> {
    LAYOUTS.iter().map(|layout| layout.as_bytes().to_vec()).collect()
}

const LAYOUTS: &[&str] = &[
    "version 1\npartition Department:text\nrow \"empid_\" Id:u32:\"06\"\nproperty Department String\n\
     property Id Int64\nproperty Name String\nproperty Mail String was Email\nproperty Age Int32?\n\
     index by_mail row \"mail_\" Mail:text unique copy all\n\
     index by_name in Names partition Name:text row \"name_\" Name:text \"_\" Id:u32:\"06\" copy Age\n\
     index by_age eventual partition \"all\" row Age:i32 \"_\" Id:u32 when(2) copy keys\ngone Note",
    "version 3\nsigned\nof Company\npartition Branch:text\nrow \"member_\" Id:u32:\"04\"\nproperty Branch String\n\
     property Id Int64\nproperty Number encrypted by partition blind by table String\n\
     property Bonus encrypted(dual) Int32?\ncopied BranchName by Branch\nholder Names",
    "version 1\npartition Host:text\nrow Id:u32\nproperty Host String\nproperty Id Int64\nproperty Low Int32 part 1\n\
     series Cpu_00 24 Double?\nindex total row \"total\" sums People:count Old:count(when) Ids:sum(Id)\n\
     index of_host row \"host_\" Host:text list Id:u32",
];

const PARTS: &[Part] =
    &[Part::Field(FieldPart::new(0, u32::KEY, "06")), Part::Field(FieldPart::new(1, String::KEY, ""))];
const LIST: List = List::new(Template::new("id, name", PARTS));

#[derive(Default)]
struct Taken(Vec<PropertyValue<'static>>);

impl KeyValues for Taken {
    fn value(&self, part: &FieldPart) -> Result<PropertyValue<'_>, ValueError> {
        let value = self.0.get(part.field).and_then(PropertyValue::as_value_ref);
        Ok(PropertyValue::Borrowed(value.expect("each field was taken")))
    }
}

/// Reads the property of an index list, and each id on it. An id that comes apart comes together as the same text.
pub fn list(text: &str) -> bool {
    let Ok(ids) = ids_of(&mut |name| Ok((name == IDS).then_some(ValueRef::String(text)))) else {
        return false;
    };
    let mut are_all = true;
    for id in &ids {
        let mut taken = Taken::default();
        let is_one = LIST.take_apart(id, &mut |_, value| taken.0.push(value.into_owned()));
        if is_one {
            let again = LIST.id(&taken).expect("the values are some").expect("no value is absent");
            assert!(again == **id, "an id is written as another");
        }
        are_all &= is_one;
    }
    are_all
}

/// The property of a list that has the first ids.
const IDS: &str = "Ids";

/// Lists of a few ids.
pub fn sample_list() -> Vec<Vec<u8>> {
    let lists = ["000001;a", "000001;a,000002;", "000007;50%25%2C a%3Bb,000007;\u{1f600},999999;z"];
    lists.iter().map(|list| list.as_bytes().to_vec()).collect()
}
