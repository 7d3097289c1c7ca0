//! Derive macros for `table-core`.
//!
//! [`Entity`](macro@Entity) writes the code that keeps a struct in a table. The others serve it:
//! [`KeyPart`](macro@KeyPart) is for types in its keys, [`Properties`](macro@Properties) for fields that entities share,
//! [`Projection`](macro@Projection) for answers with some of its fields, and [`EntitySet`](macro@EntitySet) for the kinds
//! that share its table.
//!
//! A declaration that can't be kept does not compile. All its mistakes are reported at once, each once, on the token
//! that is wrong. A key template is one token: messages about it name the piece and its column.

#![forbid(unsafe_code)]

mod attr;
mod case;
mod chapter;
mod check;
mod ctxt;
mod expand;
mod fallback;
#[expect(dead_code, reason = "the expansion is to read what no rule does")]
mod model;
mod picture;
mod suggest;
mod symbol;
mod template;
#[cfg(test)]
mod tests;

use proc_macro::TokenStream;
use syn::{DeriveInput, Ident, parse_macro_input};

use crate::ctxt::Ctxt;

/// A struct whose values are rows of a table, each under its key and under the keys of its indexes.
///
/// ```
/// use table_core::{Entity, Store};
///
/// #[derive(Entity, Clone, Debug, PartialEq)]
/// #[entity(table = "Company", kind = "employee")]
/// #[key(partition = "{department}", row = "empid_{id:06}")]
/// #[index(by_email, row = "email_{email}", unique)]
/// #[index(by_name, row = "name_{last_name}_{id:06}", copy(first_name, email))]
/// struct Employee {
///     department: String,
///     id: u32,
///     first_name: String,
///     last_name: String,
///     age: i32,
///     email: String,
/// }
///
/// fn rename(store: &Store) -> table_core::Result<()> {
///     let staff = store.table::<Employee>()?;
///     staff.update(Employee::key("Sales", 42), |employee| employee.last_name = "Jones".into())?;
///     for row in staff.by_name().department("Sales").last_name("Jones") {
///         println!("{}", row?.email);
///     }
///     Ok(())
/// }
/// ```
///
/// What it generates:
///
/// | | |
/// | --- | --- |
/// | `Employee::key(..)` | the key, from the fields in it; `Employee::partition(..)` that of a partition |
/// | `Employee::by_email(..)` | the key of a copy, for each index |
/// | `Employee::patch()` | an empty patch, with a setter for each field that is not in the key |
/// | `staff.rows()`, `staff.by_email()` | queries of a [`Table`]: by the entity's own key, and by each index |
/// | `Employee::SCHEMA` | the declaration as a constant, which prints itself |
/// | the struct's page in `cargo doc` | a chart of its rows, and the ways to its entities; other builds have none of it |
///
/// What their types offer has no pages in `cargo doc` unless [`types`](#types-in-signatures) puts them beside the struct. A
/// field's own documentation, its first paragraph, stands on the column, the setter and the method of a view that it has.
///
/// [`Table`]: https://docs.rs/table-core/latest/table_core/typed/struct.Table.html
///
/// # On the struct
///
/// | `#[entity(..)]` | |
/// | --- | --- |
/// | `table = "T"` | the table. Required: 3 to 63 ASCII letters and digits, a letter first (C13, C30) |
/// | `table = "T{at:%Y%m%d}"` | a table for each period of a time in the key, in UTC: `%Y`, `%Y%m`, `%Y%m%d`, `%Y%j` or `%Y%m%d%H`, last in the name. `Store::periods` has them (C27) |
/// | `keep = "90 days"` | how long the tables of periods are kept when `Periods::expire` is called: `hours`, `days` or `weeks` |
/// | `kind = "k"` | the type tag on its rows. Required, so that renaming the struct changes nothing that is stored |
/// | `version = 2` | the version of the layout; 1 if not said. From 2 on rows say it: `employee@2` (C31) |
/// | `from = EmployeeV1` | the version before. Its rows are read as well: `impl From<EmployeeV1>`, or `TryFrom`, says what they become, and `Store::migration` writes them anew |
/// | `gone("Phone")` | properties that rows may still have and that are to go: no change carries them along, and `Store::migration` removes them (C31) |
/// | `former` | a version before: it has no table and no indexes, and is read and nothing else (C31) |
/// | `rename_all = "camelCase"` | the case of property names; `PascalCase` if not said |
/// | `allow(hot_partition)` | switches a design warning off (C20) |
/// | `wide` | the entity lies in several rows, which are read and changed as one: its head, and a part from each field with `#[part]` on. Its indexes hold keys or some fields (C7, C12) |
/// | `signed` | every row carries a keyed digest over its contents and its place. A row that was changed without the store's keys is refused. Copies that hold an encrypted field are signed even without this word |
/// | `patch_name = name` | another name for the function `patch` |
/// | `picture = false` | leaves the picture of rows and access patterns out of the struct's page in rustdoc |
/// | `types`, `types(patch, by_name = Listed)` | puts the [generated types](#types-in-signatures) beside the struct |
/// | `crate = path` | where `table-core` is, if not at `::table_core` |
///
/// | `#[key(..)]` | |
/// | --- | --- |
/// | `partition = ".."` | the template of the partition key. Required (C30) |
/// | `row = ".."` | the template of the row key. Required (C30) |
/// | `name = name`, `partition_name = name` | other names for the functions `key` and `partition` |
///
/// | `#[index(..)]` | |
/// | --- | --- |
/// | `by_email` | the index's name, which comes first. The method on the table and the function on the struct have it too (C18) |
/// | `row = ".."` | the template of the copies' row key. Required (C30) |
/// | `partition = ".."`, `table = ".."` | the template of the copies' partition key, and their table, if they lie elsewhere than the entity |
/// | `atomic` | copies that lie elsewhere come and go in the transaction of the entity's change (C16). They hold nothing that is encrypted |
/// | `eventual` | copies that lie elsewhere follow the entity's change (C16), and reads of them say so. Their key tells entities apart (C8), and is not `unique` |
/// | `unique` | a second entity with the same key is refused, over all partitions if the copies lie elsewhere |
/// | `copy = all`, `copy = keys`, `copy(..)` | what a copy holds: everything, if not said; the key; or the key and these fields (C17). A row with some of the fields is a struct of its own, whose `Debug` shows all that is not encrypted |
/// | `when = path` | a function of `&Self` that says whether the entity has a row in the index. It judges by stored fields, never by a skipped one |
/// | `when_version = 2` | the version of that function: another one has the index made anew |
/// | `as = name`, `as(a, b)` | what queries call the parts with `[]` |
/// | `name = name` | another name for the function on the struct |
///
/// | `#[index_list(..)]` | rows that list the entities of a value, read by `Table::list` |
/// | --- | --- |
/// | `by_last_name` | the list's name, which comes first. The function on the struct has it too (C18) |
/// | `row = ".."` | the template of the lists' row key. Required (C30). What prints one key is on one list |
/// | `of = id`, `of(year, id)` | the fields of the entity's key by which it is listed: those that the list's own key and its partition don't give back (C8, C17). Required (C30) |
/// | `partition = ".."`, `table = ".."` | the template of the lists' partition key, and their table, if they lie elsewhere than the entity |
/// | `atomic`, `eventual` | lists that lie elsewhere change in the transaction of the entity's change, or follow it (C16) |
/// | `name = name` | another name for the function on the struct |
///
/// | | |
/// | --- | --- |
/// | `#[summary(of = Entity)]` | the struct is a summary: each row counts the entities that print its key, and adds up what they hold. Its key is of fields of theirs; only their changes write it |
/// | `#[summary(of = Entity, atomic)]` | the same in another partition or table than its entities |
/// | `#[summarized_in(Summary, ..)]` | the entity's changes keep these summaries |
/// | `#[copied_into(Holder, ..)]` | the entity's changes keep the copies that entities of these structs hold of it |
///
/// # On fields
///
/// | attribute | |
/// | --- | --- |
/// | `#[property(rename = "..")]` | the property's name (C10, C11) |
/// | `#[property(json)]` | any type that serde knows, in one text property, as `serde_json` writes it; a float that is NaN or infinite is an error at the write |
/// | `#[property(default)]`, `#[property(default = 3)]` | an absent property is the type's default, or this value, in filters too |
/// | `#[property(plain)]` | a `Secret` that rows hold as it is: it is hidden from `Debug` and wiped in memory, and no more |
/// | `#[property(was = "Old")]` | what the property was called: rows are read under both names and written under the new one |
/// | `#[property(new)]` | the property is none that rows have: said of an optional one that comes where another one goes |
/// | `#[property(skip)]` | not stored; the type's default when it is read |
/// | `#[flatten]` | the fields of a struct with [`Properties`](macro@Properties), side by side with the entity's |
/// | `#[series]`, `#[series(width = 3)]` | an array each slot of which is a property: `Cpu_00`, `Cpu_01`. The width is how many digits the numbers have at least: as many as the last, and two, if not said |
/// | `#[part]` | of a `wide` entity: the next row begins with this field. No field lies in another row than the declaration says |
/// | `#[encrypt]` | the property is stored sealed: with the feature `encrypt`, in a store that was opened with a key provider (C9) |
/// | `#[encrypt(scope = partition)]` | the scope whose key seals it: `store` if not said, `table`, or `partition`. The values of a scope can be destroyed as one |
/// | `#[encrypt(blind)]` | the field can be looked up for equality: by `{ssn:blind}` in an index and by `.eq(..)` in a filter. A keyed token of the value is stored beside it, in a property of the field's name with `Token` behind it (C10), and shows which rows hold equal values |
/// | `#[encrypt(blind, tokens = table)]` | the scope in which equal values have equal tokens: `partition` if not said, or `table` |
/// | `#[encrypt(dual)]` | the same for a property that has been plain. It is written sealed; rows may hold it plain until `Table::reencrypt` has sealed them. With `blind`, filters find both; an index does not compile (C9) |
/// | `#[copy_of(Entity, key(a, b))]` | on an `Option` of a projection of another entity: a copy of its fields, which changes with it. The fields in `key(..)` make up its key; the struct's own key, or that of an index, begins with them |
/// | `#[copy_of(Entity, key(a, b), atomic)]` | the same of an entity in another partition or table |
/// | `#[copy_of(Entity, key(a, b), eventual)]` | there, too, a copy that follows the entity's changes |
/// | `#[summary(count)]` | of a summary: how many entities there are, as a `u64`. Each summary has one |
/// | `#[summary(count, when = path)]` | how many of them a function of `&Entity` picks |
/// | `#[summary(sum = field)]` | what an integer field of theirs comes to, as an `i64`. A sum that this can't hold refuses the change |
///
/// A field of the type `typed::Ref<Entity>`, or of an `Option` of it, is a reference: the key of another entity, in two
/// properties, `ManagerPartition` and `ManagerRow` of a field `manager`. It is of no key, and is not sealed.
///
/// A field of the type `blob::Blob` refers to a blob, which is there as long as some row refers to it. One of the type
/// `blob::SealedBlob`, under `#[encrypt]`, has the key that opens the blob's bytes besides.
///
/// # Types in signatures
///
/// The derive keeps its types to itself, so that they take no name of yours. `types` puts all of them beside the struct,
/// with its visibility, and `types(..)` those that it lists. `= Listed` gives another name.
///
/// | word | type | |
/// | --- | --- | --- |
/// | `by_name` | `EmployeeByName` | a row of the index; a whole copy is a `Copied<Employee>` by this name |
/// | | `EmployeeByNamePath` | the way by the index, in the type of a query |
/// | | `EmployeeByNameColumns` | what filters of the index can speak of, unless its rows are whole |
/// | `query` | `EmployeeQuery` | a query, by a path, at a step; where it looks comes third, if it is not the table |
/// | `patch` | `EmployeePatch` | what `Employee::patch()` makes |
/// | `columns` | `EmployeeColumns` | what filters of whole rows can speak of |
/// | `view` | `EmployeeView` | the fields of a view |
/// | `indexes` | `EmployeeIndexes` | what begins the queries of a table |
///
/// ```
/// use table_core::typed::{At, OwnRows};
/// use table_core::{Entity, Filter, Table};
///
/// #[derive(Entity)]
/// #[entity(table = "Company", kind = "employee", types)]
/// #[key(partition = "{department}", row = "empid_{id:06}")]
/// #[index(by_name, row = "name_{last_name}_{id:06}", copy(age))]
/// struct Employee {
///     department: String,
///     id: u32,
///     last_name: String,
///     age: i32,
/// }
///
/// fn label(row: &EmployeeByName) -> String {
///     format!("{}, {}", row.last_name, row.age)
/// }
///
/// /// With the department, which is one part of the key.
/// fn in_sales(staff: &Table<Employee>) -> EmployeeQuery<OwnRows<Employee>, At<1>> {
///     staff.rows().department("Sales")
/// }
///
/// fn is_adult(employee: &EmployeeColumns) -> Filter {
///     employee.age.ge(18)
/// }
///
/// fn birthday(age: i32) -> EmployeePatch {
///     Employee::patch().age(age + 1)
/// }
/// #
/// # let store = table_core::Store::temporary()?;
/// # let staff = store.table::<Employee>()?;
/// # let (department, last_name) = ("Sales".to_owned(), "Jones".to_owned());
/// # staff.insert(&Employee { department, id: 7, last_name, age: 17 })?;
/// # assert_eq!(in_sales(&staff).filter(is_adult).count()?, 0);
/// # staff.merge(Employee::key("Sales", 7), birthday(17), table_core::IfMatch::Any)?;
/// # assert_eq!(in_sales(&staff).filter(is_adult).count()?, 1);
/// # let rows: Vec<_> = staff.by_name().department("Sales").into_iter().collect::<table_core::Result<_>>()?;
/// # assert_eq!(label(&rows[0]), "Jones, 18");
/// # Ok::<(), table_core::Error>(())
/// ```
///
/// Without the word, `Patch<Employee>`, `View<'_, Employee>` and `typed::Columns<Employee>` name what every entity has.
///
/// # Key templates
///
/// A template reads like a `format!` string, and what it prints is the key, verbatim. `{{` and `}}` are braces (C1, C2).
///
/// | part | writes |
/// | --- | --- |
/// | `{n}` | an unsigned integer in all digits of its type; text, verbatim, where one that holds the character behind it in the template is `InvalidKey` (`{s:escaped}!` takes any); a UUID, as its 32 digits without hyphens; a truth value, a [`KeyPart`](macro@KeyPart) |
/// | `{n:06}` | six digits, 1 to 20 (C5) |
/// | `{n:offset}` | a signed integer, so that its text sorts |
/// | `{n:inverted}`, `{n:06:inverted}` | the largest first |
/// | `{t:ticks}`, `{t:inverted}` | a time in 19 digits, the oldest or the newest first |
/// | `{t:%Y%m%d}` | a time in parts: `%Y %m %d %H %M %S %j` and ASCII between them |
/// | `{s:escaped}` | any text |
/// | `{s:lower}` | folded text; in an index only (C22) |
/// | `{s:shard(16)}` | a stable hash modulo 2 to 100 |
/// | `{s:blind}` | the token of a field with `#[encrypt(blind)]`; in an index only (C9, C22) |
/// | `{v[]}` | a row for each element; in an index only (C3) |
///
/// # What does not compile
///
/// | rule | |
/// | --- | --- |
/// | C1 | a template that names no field of the struct |
/// | C2 | a malformed template, or an unknown format |
/// | C3 | a type that can't be in a key; `[]` in a primary key; a skipped or flattened field, a reference or a series in a key |
/// | C4 | a part of varying width without a separator behind it |
/// | C5 | a width of 0, over 20, or without its zero |
/// | C6 | a format on a type that it isn't for |
/// | C7 | two templates that can print one key |
/// | C8 | an index that can't be `unique` and doesn't say which entity a row is of |
/// | C9 | an encrypted field in a key but by its token; a token of a field without `blind`, or of one that is `dual`; `blind` on a type of few values, or on floats |
/// | C10 | two properties of one name |
/// | C11 | a property name that is taken or malformed; in `was`, the name of a field |
/// | C12 | a row of more than 252 properties, `EntityType` among them; of a wide entity each of its rows, and `EntityParts` is among the head's |
/// | C13 | a table name that the service refuses |
/// | C14 | literal text with `/`, `\`, `#`, `?` or control characters |
/// | C15 | literal text beyond 512 UTF-16 units |
/// | C16 | an index in another partition or table that says neither `atomic` nor `eventual`, or both, or is `unique` and `eventual`; one in the entity's own partition that says `atomic` or `eventual` |
/// | C17 | a `copy(..)` list with an unknown, repeated or skipped field, a series or a flattened one, or one that the copy's keys give |
/// | C18 | two indexes, functions or parts of one name, or one that hides a method |
/// | C19 | more indexes than a transaction can move the copies of: 49, less one for each part of a wide entity |
/// | C20 | a partition key of time alone |
/// | C21 | a type that no property can have |
/// | C22 | a primary key that loses the identity |
/// | C23 | generics and lifetimes on the struct |
/// | C24 | unknown, repeated or contradictory words |
/// | C26 | a `when` function of another signature |
/// | C27 | a period that is no time, or not last in a table's name; one that the key, or that of a `unique` index, does not say; copies, summaries and tokens beyond a period; `keep` without one |
/// | C28 | `json`, `flatten` or `series` on a type that doesn't fit; a series with `json`, `flatten`, `skip`, `was` or `encrypt` |
/// | C29 | a struct without named fields |
/// | C30 | an entity without table, kind, partition key or row key |
/// | C31 | version 0; a version that is not one later than the one it is made from, of another kind, or the first to seal or sign; a previous version with a table, an index, or another word for what only a live entity has; a later version of a kind with a table for each period; a property in `gone` that a field gives, named twice, or by the name of a field; `when_version` without `when` |
#[proc_macro_derive(
    Entity,
    attributes(
        entity,
        key,
        index,
        property,
        encrypt,
        series,
        blob,
        flatten,
        index_list,
        copied_into,
        summary,
        summarized_in,
        copy_of,
        part
    )
)]
pub fn derive_entity(input: TokenStream) -> TokenStream {
    let input = parse_macro_input!(input as DeriveInput);
    let cx = Ctxt::default();
    let model = model::Entity::read(&cx, &input);
    if let Some(model) = &model {
        check::entity(&cx, model);
    }
    finish(cx, model, expand::entity, |model| fallback::entity(&input, model))
}

/// An enum without data, or a struct around one value, that may stand in a key and be a property.
///
/// An enum is printed as its variant's name, a struct as what it holds.
///
/// ```
/// use table_core::KeyPart;
///
/// #[derive(KeyPart)]
/// #[key_part(rename_all = "lowercase")]
/// enum Status {
///     Open,
///     #[key_part(rename = "done")]
///     Closed,
/// }
///
/// #[derive(KeyPart)]
/// struct CustomerId(u32);
/// ```
///
/// | `#[key_part(..)]` | on | |
/// | --- | --- | --- |
/// | `rename_all = "snake_case"` | an enum | the case of the variants' texts; as they are if not said |
/// | `rename = ".."` | a variant | its text |
/// | `crate = path` | the type | where `table-core` is, if not at `::table_core` |
#[proc_macro_derive(KeyPart, attributes(key_part))]
pub fn derive_key_part(input: TokenStream) -> TokenStream {
    let input = parse_macro_input!(input as DeriveInput);
    let cx = Ctxt::default();
    let model = model::KeyPart::read(&cx, &input);
    if let Some(model) = &model {
        check::key_part(&cx, model);
    }
    finish(cx, model, expand::key_part, |model| fallback::key_part(&input, model))
}

/// Returns a struct whose fields are flattened into entities, which is how they share them.
///
/// ```
/// use table_core::Properties;
///
/// #[derive(Properties)]
/// struct Person {
///     first_name: String,
///     last_name: String,
/// }
/// ```
///
/// Fields take `#[property(..)]`, `#[series]` and `#[flatten]` as those of an [`Entity`](macro@Entity) do.
///
/// | `#[properties(..)]` | |
/// | --- | --- |
/// | `rename_all = "camelCase"` | the case of property names; `PascalCase` if not said |
/// | `crate = path` | where `table-core` is, if not at `::table_core` |
#[proc_macro_derive(Properties, attributes(properties, property, encrypt, series, blob, flatten, part))]
pub fn derive_properties(input: TokenStream) -> TokenStream {
    let input = parse_macro_input!(input as DeriveInput);
    let cx = Ctxt::default();
    let model = model::Properties::read(&cx, &input);
    if let Some(model) = &model {
        check::properties(&cx, model);
    }
    finish(cx, model, expand::properties, |model| fallback::properties(&input, model))
}

/// Returns a struct of some of an entity's fields, which a query reads instead of the whole.
///
/// Its fields are named as the entity's are, and have their types; an integer may be wider, and a field that may be absent is
/// an `Option` or has `#[property(default)]`. A field that the entity keeps with `#[property(json)]` says so here too. The key
/// gives back the fields in it. Nothing else of a row is decoded.
///
/// ```ignore
/// #[derive(Projection)]
/// #[projection(of = Employee)]
/// struct Contact {
///     first_name: String,
///     email: String,
/// }
/// ```
///
/// | `#[projection(..)]` | |
/// | --- | --- |
/// | `of = Entity` | the entity. Required |
/// | `crate = path` | where `table-core` is, if not at `::table_core` |
///
/// | on a field | |
/// | --- | --- |
/// | `#[series]` | a series of the entity, or as many of its slots as the array has |
/// | `#[series(from = 9)]` | the first of them, if not 0 |
/// | `#[series(slot = 13)]` | one slot, as a value |
/// | `#[series(of = cpu)]` | the entity's series, if it is called otherwise |
/// | `#[property(was = "Name")]` | of what is copied by `#[copy_of]`: what the field was called, which holders may still have |
/// | `#[property(new)]` | of the same: the field is none of those that holders have |
#[proc_macro_derive(Projection, attributes(projection, property, series))]
pub fn derive_projection(input: TokenStream) -> TokenStream {
    let input = parse_macro_input!(input as DeriveInput);
    let cx = Ctxt::default();
    let model = model::Projection::read(&cx, &input);
    if let Some(model) = &model {
        check::projection(&cx, model);
    }
    finish(cx, model, expand::projection, |model| fallback::projection(&input, model))
}

/// Returns an enum of the kinds of entities in one table: what a query over all of them gives.
///
/// ```
/// use table_core::{DynamicEntity, Entity, EntitySet};
///
/// #[derive(Entity)]
/// #[entity(table = "Company", kind = "department")]
/// #[key(partition = "{name}", row = "department")]
/// struct Department {
///     name: String,
///     head_count: u32,
/// }
///
/// #[derive(Entity)]
/// #[entity(table = "Company", kind = "employee")]
/// #[key(partition = "{department}", row = "empid_{id:06}")]
/// struct Employee {
///     department: String,
///     id: u32,
/// }
///
/// #[derive(EntitySet)]
/// enum Company {
///     Department(Department),
///     Employee(Employee),
///     #[entity_set(unknown)]
///     Other(DynamicEntity),
/// }
/// ```
///
/// | `#[entity_set(..)]` | on | |
/// | --- | --- | --- |
/// | `unknown` | a variant | holds rows of any other kind, which are an error if no variant does |
/// | `crate = path` | the enum | where `table-core` is, if not at `::table_core` |
///
/// A kind can be in it once, and all must be of one table (C25).
#[proc_macro_derive(EntitySet, attributes(entity_set))]
pub fn derive_entity_set(input: TokenStream) -> TokenStream {
    let input = parse_macro_input!(input as DeriveInput);
    let cx = Ctxt::default();
    let model = model::EntitySet::read(&cx, &input);
    if let Some(model) = &model {
        check::entity_set(&cx, model);
    }
    finish(cx, model, expand::entity_set, |model| fallback::entity_set(&input, model))
}

/// Gives a chapter of table-core's guide to that crate's documentation. Not part of the API.
#[doc(hidden)]
#[proc_macro]
pub fn __chapter(input: TokenStream) -> TokenStream {
    chapter::read(&parse_macro_input!(input as Ident)).into()
}

/// Returns the expansion of what is right; else all errors, and stubs.
fn finish<M>(
    cx: Ctxt,
    model: Option<M>,
    expand: impl FnOnce(&M) -> proc_macro2::TokenStream,
    fallback: impl FnOnce(Option<M>) -> proc_macro2::TokenStream,
) -> TokenStream {
    match (cx.check(), model) {
        (Ok(()), Some(model)) => expand(&model),
        (Ok(()), None) => fallback(None),
        (Err(errors), model) => {
            let mut tokens = errors.into_compile_error();
            tokens.extend(fallback(model));
            tokens
        }
    }
    .into()
}
