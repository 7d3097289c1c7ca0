//! Derives where nothing is as usual: no prelude, another name for the crate, fields and types named like what the
//! expansion might use.

#![no_implicit_prelude]
#![allow(dead_code, non_camel_case_types, reason = "names that are in the way on purpose")]

use ::integration_tests::Scratch;
use ::std::assert_eq;
use ::std::iter::IntoIterator;
use ::std::iter::Iterator;
use ::std::string::ToString;

/// The crate under another path.
mod renamed {
    pub use ::table_core::*;
}

/// In the way of the primitive types and of the prelude.
struct u32;
struct usize;
struct bool;
struct str;
struct String;
struct Option;
struct Result;
struct Vec;
struct Some;
struct Ok;
struct EntityRows;

/// In the way of generated types.
#[derive(::table_core::KeyPart, ::std::clone::Clone, ::std::fmt::Debug, ::std::cmp::PartialEq)]
#[key_part(crate = crate::hygiene::renamed)]
struct OddRowsQuery(::std::primitive::u32);

#[derive(::table_core::KeyPart, ::std::clone::Clone, ::std::fmt::Debug, ::std::cmp::PartialEq)]
#[key_part(crate = crate::hygiene::renamed, rename_all = "lowercase")]
enum State {
    Open,
    Closed,
}

#[derive(::table_core::Properties, ::std::clone::Clone, ::std::fmt::Debug, ::std::cmp::PartialEq)]
#[properties(crate = crate::hygiene::renamed, rename_all = "camelCase")]
struct OddColumns {
    source: ::std::primitive::i32,
    values: ::std::option::Option<::std::string::String>,
}

/// With no field that a patch could set, and a key like the other's function.
#[derive(::table_core::Entity, ::std::clone::Clone, ::std::fmt::Debug, ::std::cmp::PartialEq)]
#[entity(table = "Odd", kind = "even", crate = crate::hygiene::renamed)]
#[key(partition = "{patch}", row = "even")]
struct Even {
    patch: ::std::string::String,
}

#[derive(::table_core::EntitySet, ::std::clone::Clone, ::std::fmt::Debug, ::std::cmp::PartialEq)]
#[entity_set(crate = crate::hygiene::renamed)]
enum Member {
    Some(Odd),
    Self_(Even),
    #[entity_set(unknown)]
    Ok(::table_core::DynamicEntity),
}

#[derive(::table_core::Projection, ::std::fmt::Debug)]
#[projection(of = Odd, crate = crate::hygiene::renamed)]
struct Source {
    source: ::std::string::String,
    r#type: ::std::primitive::i64,
    table: ::std::string::String,
}

#[derive(::table_core::Entity, ::std::clone::Clone, ::std::fmt::Debug, ::std::cmp::PartialEq)]
#[entity(table = "Odd", kind = "odd", crate = crate::hygiene::renamed, types)]
#[key(partition = "{table}", row = "row_{values}_{state}", name = the_key)]
#[index(by_source, row = "source_{source}_{values}_{state}", copy = keys, when = Odd::has_source)]
#[index(by_element, row = "element_{elements[]}_{values}_{state}", copy = keys, as = element)]
struct Odd {
    table: ::std::string::String,
    values: OddRowsQuery,
    state: State,
    source: ::std::string::String,
    r#type: ::std::primitive::i64,
    entity: ::std::option::Option<::std::string::String>,
    schema: ::std::primitive::bool,
    view: ::std::primitive::f64,
    step: ::std::vec::Vec<::std::primitive::u8>,
    index: ::std::primitive::u64,
    #[property(json)]
    elements: ::std::vec::Vec<::std::string::String>,
    #[flatten]
    exchange: OddColumns,
}

/// Sealed fields, with and without tokens.
#[derive(::table_core::Entity, ::std::clone::Clone, ::std::fmt::Debug, ::std::cmp::PartialEq)]
#[entity(table = "Blind", kind = "blind", crate = crate::hygiene::renamed, types(by_token))]
#[key(partition = "{table}", row = "{id:03}")]
#[index(by_token, row = "token_{token:blind}", unique)]
struct Blind {
    table: ::std::string::String,
    id: ::std::primitive::u16,
    #[encrypt(blind, scope = partition, tokens = table)]
    token: ::std::option::Option<::std::string::String>,
    #[encrypt]
    sealed: ::std::primitive::i64,
}

/// The names are others where those of fields' types are in the way.
fn named(
    row: &OddBySource,
    _: &OddByElement,
    _: &OddPatch,
    _: &OddColumns_,
    _: &OddIndexes,
    _: &OddView<'_>,
    _: &OddQuery<OddBySourcePath, renamed::typed::At<1>>,
) -> ::std::string::String {
    row.source.to_string()
}

const _: fn(&BlindByToken) -> &::std::primitive::i64 = |row: &BlindByToken| &row.sealed;

impl Odd {
    fn has_source(&self) -> ::std::primitive::bool {
        !self.source.is_empty()
    }
}

#[test]
fn a_derive_depends_on_no_name_in_scope() {
    let scratch = Scratch::new();
    let table = scratch.store().table::<Odd>().unwrap();
    let odd = Odd {
        table: "t".to_string(),
        values: OddRowsQuery(7),
        state: State::Closed,
        source: "s".to_string(),
        r#type: -1,
        entity: ::std::option::Option::None,
        schema: true,
        view: 0.5,
        step: ::std::vec![1, 2],
        index: 1 << 60,
        elements: ::std::vec!["one".to_string()],
        exchange: OddColumns { source: 9, values: ::std::option::Option::None },
    };
    table.insert(&odd).unwrap();
    let key = || Odd::the_key("t", OddRowsQuery(7), State::Closed);
    assert_eq!(table.get(key()).unwrap().unwrap(), odd);
    let row = table.by_source().table("t").source("s").into_iter().next().unwrap().unwrap();
    assert_eq!((row.values.0, &row.state), (7, &State::Closed));
    assert_eq!(table.rows().table("t").filter(|e| e.r#type.lt(0)).count().unwrap(), 1);

    // Without a source the sparse index has no row, and the one that was there is gone.
    table.update(key(), |e| e.source.clear()).unwrap();
    assert_eq!(table.by_source().table("t").count().unwrap(), 0);
    assert_eq!(table.rows().table("t").count().unwrap(), 1);

    // Sets, patches, projections, flattened fields and views.
    let set = scratch.store().set::<Member>().unwrap();
    let even = Even { patch: "t".to_string() };
    set.egt(Even::partition("t"))
        .insert(&even)
        .merge(key(), Odd::patch().view(1.5).entity(::std::option::Option::None), ::table_core::IfMatch::Any)
        .commit()
        .unwrap();
    let all: ::std::vec::Vec<_> = set
        .partition(Even::partition("t"))
        .into_iter()
        .map(|member| ::table_core::Stored::into_inner(member.unwrap()))
        .collect();
    assert_eq!(all[0], Member::Self_(even));
    let projected = table.rows().table("t").select::<Source>().into_iter().next().unwrap().unwrap();
    assert_eq!((&*projected.source, projected.r#type, &*projected.table), ("", -1, "t"));
    assert_eq!(table.rows().table("t").filter(|e| e.exchange.source.eq(9)).count().unwrap(), 1);
    assert_eq!(table.view(key(), |odd| odd.view()).unwrap(), ::std::option::Option::Some(1.5));
}

/// Constants that are called as fields are, which a pattern would mean in the place of a new name.
mod constants {
    #![allow(non_upper_case_globals, reason = "that is what is tried")]

    use ::std::string::String;
    use ::std::vec::Vec;

    const age: ::std::primitive::i32 = 7;
    const department: &::std::primitive::str = "Sales";
    const id: ::std::primitive::u32 = 7;
    const name: &::std::primitive::str = "Jones";
    const secret: ::std::primitive::u8 = 7;
    const tag: ::std::primitive::u8 = 7;
    const tags: ::std::primitive::u8 = 7;
    const r#type: ::std::primitive::u8 = 7;
    static year: ::std::primitive::u8 = 7;

    #[derive(::table_core::Entity)]
    #[entity(table = "Constants", kind = "employee")]
    #[key(partition = "{department}", row = "empid_{id:06}")]
    #[index(by_name, row = "name_{name:escaped}!{id:06}", copy(age))]
    #[index(by_secret, row = "secret_{secret:blind}", unique, copy = keys)]
    #[index(by_shard, partition = "{name:shard(4)}", row = "type_{type}_{department}_{id:06}", copy = keys, atomic)]
    #[index(by_tag, row = "tag_{tags[]:escaped}!{id:06}", copy = keys, as = tag)]
    #[index_list(by_year, row = "year_{year:04}", of = id)]
    pub(super) struct Employee {
        pub(super) department: String,
        pub(super) id: ::std::primitive::u32,
        pub(super) name: String,
        pub(super) age: ::std::primitive::i32,
        #[encrypt(blind)]
        pub(super) secret: String,
        #[property(json)]
        pub(super) tags: Vec<String>,
        pub(super) r#type: String,
        pub(super) year: ::std::primitive::u16,
    }

    /// They are the user's, and are used.
    pub(super) fn key() -> ::table_core::Key<Employee> {
        let _ = (age, name, secret, tag, tags, r#type, year);
        Employee::key(department, id)
    }
}

#[test]
fn a_constant_may_be_called_as_a_field() {
    assert_eq!(constants::key().as_strs().unwrap(), ("Sales", "empid_000007"));
    let patch = constants::Employee::patch().age(8).name("Jones");
    let _: ::table_core::Patch<constants::Employee> = patch;
}

/// A struct that the user's own macro writes, of which nothing but the table is used.
mod by_macro {
    #![deny(dead_code, reason = "what is derived and not used is not the user's fault")]

    use ::std::string::String;
    use ::table_core::{Entity, Result, Table, Tables};

    macro_rules! wide {
        ($(#[$attribute:meta])* $name:ident: $($field:ident),*) => {
            $(#[$attribute])*
            pub(crate) struct $name {
                id: u32,
                $($field: String),*
            }
        };
    }

    wide! {
        /// Three texts.
        #[derive(Entity)]
        #[entity(table = "Wide", kind = "three", types)]
        #[key(partition = "wide", row = "row_{id:08}")]
        Three: first, second, third
    }

    const _: fn(&Tables) -> Result<Table<Three>> = Tables::table::<Three>;
    const _: fn(ThreePatch) -> ThreePatch = |patch| patch;
}

#[test]
fn sealed_fields_depend_on_no_name_in_scope() {
    let dir = ::tempfile::tempdir().unwrap();
    let keys = ::std::sync::Arc::new(::table_core::crypt::MemoryKeys::new().unwrap());
    let options = ::table_core::Store::options().map_size(1 << 26).encryption(keys);
    let table = options.open(dir.path().join("store")).unwrap().table::<Blind>().unwrap();
    let token = ::std::option::Option::Some("t".to_string());
    let blind = Blind { table: "t".to_string(), id: 1, token, sealed: 2 };
    table.insert(&blind).unwrap();
    assert_eq!(*table.get(Blind::by_token("t", "t")).unwrap().unwrap(), blind);
    assert_eq!(table.by_token().table("t").token("t").count().unwrap(), 1);
    assert_eq!(table.rows().table("t").filter(|e| e.token.eq("u")).count().unwrap(), 0);
}
