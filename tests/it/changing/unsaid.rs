//! Names that a declaration changes without saying so, or says wrongly: what rows hold would be read as absent.

use std::panic;

use integration_tests::{Scratch, assert_sound, on_other_executors};
use table_core::{Entity, Error, ErrorKind, Projection, assert_layouts};

mod before {
    use super::*;

    #[derive(Entity, Clone, Debug, PartialEq)]
    #[entity(table = "Company", kind = "employee")]
    #[key(partition = "{department}", row = "empid_{id:06}")]
    #[index(by_id, row = "id_{id:06}")]
    pub(super) struct Employee {
        pub department: String,
        pub id: u32,
        pub mail: Option<String>,
        pub fax: Option<String>,
    }
}

fn employee(id: u32) -> before::Employee {
    before::Employee {
        department: "Sales".into(),
        id,
        mail: Some(format!("{id}@contoso.com")),
        fax: Some(format!("555-{id:04}")),
    }
}

/// The struct of a later release, with these words of `entity` and these fields.
macro_rules! later {
    ($release:ident, { $($word:tt)* }, { $($field:tt)* } $(, $index:ident of $copied:ident)?) => {
        mod $release {
            use super::*;

            #[derive(Entity, Clone, Debug, Default, PartialEq)]
            #[entity(table = "Company", kind = "employee" $($word)*)]
            #[key(partition = "{department}", row = "empid_{id:06}")]
            #[index(by_id, row = "id_{id:06}")]
            $(#[index($index, row = "new_{id:06}", copy($copied))])?
            pub(super) struct Employee {
                pub department: String,
                pub id: u32,
                $($field)*
            }
        }
    };
}

later!(unsaid, {}, { pub address: Option<String>, pub fax: Option<String>, });
later!(indexed, {}, { pub address: Option<String>, pub fax: Option<String>, }, by_number of address);
later!(renamed, {}, { #[property(was = "Mail")] pub address: Option<String>, pub fax: Option<String>, });
later!(new, {}, { #[property(new)] pub address: Option<String>, pub fax: Option<String>, });
later!(kept, {}, { pub address: Option<String>, pub mail: Option<String>, pub fax: Option<String>, });
later!(gone, {, gone("Mail")}, { pub address: Option<String>, pub fax: Option<String>, });
later!(other_type, {}, { pub level: Option<i32>, pub fax: Option<String>, });
later!(misspelt, {}, { #[property(was = "MAIL")] pub address: Option<String>, pub fax: Option<String>, });
later!(misspelt_gone, {, gone("FAX")}, { pub mail: Option<String>, });
later!(both_gone, {, gone("Fax", "fax")}, { pub mail: Option<String>, });

/// A store with an employee of the first release.
fn company(scratch: &Scratch) -> table_core::Tables {
    let store = scratch.tables();
    store.table::<before::Employee>().unwrap().insert(&employee(1)).unwrap();
    store
}

fn assert_says(error: &Error, words: &[&str]) {
    assert_eq!(error.kind(), ErrorKind::LayoutChanged, "{error}");
    for word in words {
        assert!(error.to_string().contains(word), "{word}: {error}");
    }
}

const UNSAID: &[&str] = &[
    "cannot write to table `Company`",
    "`Mail` is not declared any more, and `Address`, which rows may lack as well, is new",
    "`#[property(was = \"Mail\")]` on the field `address`",
    "if it is another, `#[property(new)]` says so",
];

#[test]
fn an_optional_property_that_may_be_another_is_told_at_the_first_write() {
    let scratch = Scratch::new();
    let store = company(&scratch);
    let staff = store.table::<unsaid::Employee>().unwrap();
    let key = || unsaid::Employee::key("Sales", 1);
    assert_eq!(staff.get(key()).unwrap().unwrap().address, None);
    let error = staff.update(key(), |e| e.address = Some("there".into())).unwrap_err();
    assert_says(&error, UNSAID);
    assert_says(&staff.insert(&unsaid::Employee::default()).unwrap_err(), &UNSAID[1..]);
    // Nothing was noted and nothing written: the former release goes on.
    let older = store.table::<before::Employee>().unwrap();
    let before = older.update(before::Employee::key("Sales", 1), |e| e.fax = None).unwrap();
    assert_eq!(before.mail.as_deref(), Some("1@contoso.com"));

    // One that says it reads what there is.
    let staff = store.table::<renamed::Employee>().unwrap();
    let found = staff.get(renamed::Employee::key("Sales", 1)).unwrap().unwrap();
    assert_eq!(found.address.as_deref(), Some("1@contoso.com"));
}

#[test]
fn one_that_is_said_to_be_new_is_written_beside_the_former() {
    let scratch = Scratch::new();
    let store = company(&scratch);
    // Of another type it can't be the same, and what goes is none that comes; one that stays went nowhere.
    store.table::<other_type::Employee>().unwrap();
    store.table::<new::Employee>().unwrap();
    store.table::<kept::Employee>().unwrap();
    let staff = store.table::<before::Employee>().unwrap();
    assert_eq!(staff.get(before::Employee::key("Sales", 1)).unwrap().unwrap().mail, employee(1).mail);
}

on_other_executors! {
    an_optional_property_that_may_be_another_is_told_at_the_first_write
    one_that_is_said_to_be_new_is_written_beside_the_former
}

#[test]
fn what_is_said_of_it_lets_it_be_written() {
    macro_rules! goes_on {
        ($release:ident, $field:ident = $value:expr, $mail:expr) => {{
            let scratch = Scratch::new();
            let store = company(&scratch);
            let staff = store.table::<$release::Employee>().unwrap();
            staff.update($release::Employee::key("Sales", 1), |e| e.$field = $value).unwrap();
            let row = store.dynamic_table("Company").unwrap().get("Sales", "empid_000001").unwrap().unwrap();
            let mail = row.get("Mail").and_then(|value| value.as_str());
            assert_eq!(mail, $mail, stringify!($release));
            assert!(staff.check().unwrap().is_sound());
            assert_sound(&store);
        }};
    }
    goes_on!(new, address = Some("there".into()), Some("1@contoso.com"));
    goes_on!(kept, address = Some("there".into()), Some("1@contoso.com"));
    goes_on!(gone, address = Some("there".into()), None);
    goes_on!(renamed, address = Some("there".into()), None);
    goes_on!(other_type, level = Some(3), Some("1@contoso.com"));
    // When it is noted, nothing has to be said of it any more.
    let scratch = Scratch::new();
    let store = company(&scratch);
    let staff = store.table::<new::Employee>().unwrap();
    staff.update(new::Employee::key("Sales", 1), |e| e.address = Some("there".into())).unwrap();
    let staff = store.table::<unsaid::Employee>().unwrap();
    staff.update(unsaid::Employee::key("Sales", 1), |e| e.fax = None).unwrap();
}

#[test]
fn no_index_is_made_before_it_is_said() {
    let scratch = Scratch::new();
    let store = company(&scratch);
    let staff = store.table::<indexed::Employee>().unwrap();
    assert_says(&staff.rebuild().unwrap_err(), &UNSAID[1..]);
    assert_says(&store.migration::<indexed::Employee>().unwrap().run().unwrap_err(), &UNSAID[1..]);
    assert!(store.jobs().unwrap().is_empty());
    assert_sound(&store);
    assert_eq!(store.table::<before::Employee>().unwrap().all().count().unwrap(), 1);
}

#[test]
fn a_former_name_in_another_case_is_refused_when_the_table_is_opened() {
    let scratch = Scratch::new();
    let store = company(&scratch);
    let error = store.table::<misspelt::Employee>().unwrap_err();
    assert_says(&error, &["no row has `MAIL`: the property is called `Mail`, `#[property(was = \"Mail\")]`"]);
    let errors = [
        store.table::<misspelt_gone::Employee>().map(drop).unwrap_err(),
        store.migration::<misspelt_gone::Employee>().map(drop).unwrap_err(),
    ];
    for error in errors {
        let words = "no row has `FAX`: the property is called `Fax`, `#[entity(gone(\"Fax\"))]`";
        assert_says(&error, &[words, "its values would stay"]);
    }
    // Who names both means both.
    let staff = store.table::<both_gone::Employee>().unwrap();
    assert_eq!(store.migration::<both_gone::Employee>().unwrap().run().unwrap().changed, 1);
    drop(staff);
    let row = store.dynamic_table("Company").unwrap().get("Sales", "empid_000001").unwrap().unwrap();
    assert!(row.get("Fax").is_none() && row.get("Mail").is_some(), "{row:?}");
}

mod layout {
    use super::*;

    #[derive(Entity)]
    #[entity(table = "Company", kind = "hall")]
    #[key(partition = "{floor}", row = "{number}")]
    pub(super) struct Hall {
        floor: String,
        number: u32,
        telephone: Option<String>,
    }
}

#[test]
fn a_kept_layout_says_that_it_may_be_another() {
    let told = panic::catch_unwind(|| assert_layouts!("layouts", layout::Hall)).unwrap_err();
    let told = told.downcast_ref::<String>().unwrap();
    for line in [
        "- property Phone String?",
        "+ property Telephone String?",
        "`Phone` is not declared any more, and `Telephone`, which rows may lack as well, is new: if it is the same",
    ] {
        assert!(told.contains(line), "{told}");
    }
    assert!(!told.contains("nothing: rows that are there"), "{told}");
}

/// A source and its holder, with what the one shows of the other.
macro_rules! copied {
    ($release:ident, { $($name:tt)* }, { $($shown:tt)* }) => {
        mod $release {
            use super::*;

            #[derive(Entity, Clone, Debug, PartialEq)]
            #[entity(table = "Shop", kind = "product")]
            #[key(partition = "{line}", row = "product_{id:06}")]
            #[copied_into(Order)]
            pub(super) struct Product {
                pub line: String,
                pub id: u32,
                $($name)*
            }

            #[derive(Projection, Clone, Debug, PartialEq)]
            #[projection(of = Product)]
            pub(super) struct Shown {
                $($shown)*
            }

            #[derive(Entity, Clone, Debug, PartialEq)]
            #[entity(table = "Shop", kind = "order")]
            #[key(partition = "{line}", row = "order_{id:06}")]
            pub(super) struct Order {
                pub line: String,
                pub id: u32,
                #[copy_of(Product, key(line, id))]
                pub product: Option<Shown>,
            }
        }
    };
}

copied!(shop, { pub name: String, }, { pub name: String, });
copied!(forgotten, { #[property(was = "Name")] pub label: String, }, { pub label: String, });
copied!(told, { #[property(was = "Name")] pub label: String, }, { #[property(was = "Name")] pub label: String, });

#[test]
fn a_copied_field_with_another_name_is_told_before_it_is_read_as_none() {
    let scratch = Scratch::new();
    let store = scratch.tables();
    let products = store.table::<shop::Product>().unwrap();
    products.insert(&shop::Product { line: "tea".into(), id: 1, name: "Green".into() }).unwrap();
    let orders = store.table::<shop::Order>().unwrap();
    orders.insert(&shop::Order { line: "tea".into(), id: 1, product: None }).unwrap();

    let words = [
        "`ProductName`, which rows hold of another entity, is not declared any more, and `ProductLabel` is new",
        "`#[property(was = \"Name\")]` on the field `label` of the projection that is copied",
    ];
    assert_says(&store.table::<forgotten::Order>().unwrap_err(), &words);
    // A change of the source, whose holders would lose what they hold, is refused as well.
    let changed = store.table::<forgotten::Product>().and_then(|products| {
        products.update(forgotten::Product::key("tea", 1), |product| product.label = "Greener".into())
    });
    assert_says(&changed.unwrap_err(), &words);
    assert_eq!(
        orders.get(shop::Order::key("tea", 1)).unwrap().unwrap().product.as_ref().unwrap().name,
        "Green"
    );

    let orders = store.table::<told::Order>().unwrap();
    let label =
        || orders.get(told::Order::key("tea", 1)).unwrap().unwrap().product.as_ref().unwrap().label.clone();
    assert_eq!(label(), "Green");
    let products = store.table::<told::Product>().unwrap();
    products.update(told::Product::key("tea", 1), |product| product.label = "Greener".into()).unwrap();
    assert_eq!(label(), "Greener");
    assert!(orders.check().unwrap().is_sound());
    // Who knows the former name alone can write neither.
    let older = store.table::<shop::Order>().unwrap_err();
    assert_says(
        &older,
        &["`Label` in the projection that is copied, and `#[property(was = \"Name\")]` there"],
    );
    assert_sound(&store);
}
