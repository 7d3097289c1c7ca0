//! What the derives write gives no warning, however strict the user's lints are.
//!
//! Nothing here runs: the check is that `cargo clippy -D warnings` has nothing to say.

#![deny(
    warnings,
    missing_copy_implementations,
    missing_debug_implementations,
    missing_docs,
    single_use_lifetimes,
    trivial_casts,
    trivial_numeric_casts,
    unreachable_pub,
    unsafe_code,
    unused_import_braces,
    unused_lifetimes,
    unused_qualifications,
    unused_results,
    variant_size_differences,
    clippy::all,
    clippy::pedantic,
    clippy::nursery,
    clippy::cargo,
    clippy::absolute_paths,
    clippy::allow_attributes,
    clippy::allow_attributes_without_reason,
    clippy::arithmetic_side_effects,
    clippy::as_conversions,
    clippy::clone_on_ref_ptr,
    clippy::dbg_macro,
    clippy::default_numeric_fallback,
    clippy::else_if_without_else,
    clippy::exhaustive_enums,
    clippy::exhaustive_structs,
    clippy::expect_used,
    clippy::field_scoped_visibility_modifiers,
    clippy::float_arithmetic,
    clippy::if_then_some_else_none,
    clippy::impl_trait_in_params,
    clippy::indexing_slicing,
    clippy::integer_division,
    clippy::let_underscore_must_use,
    clippy::let_underscore_untyped,
    clippy::map_err_ignore,
    clippy::min_ident_chars,
    clippy::missing_assert_message,
    clippy::missing_docs_in_private_items,
    clippy::missing_inline_in_public_items,
    clippy::missing_trait_methods,
    clippy::mod_module_files,
    clippy::multiple_inherent_impl,
    clippy::panic,
    clippy::partial_pub_fields,
    clippy::pattern_type_mismatch,
    clippy::pub_use,
    clippy::question_mark_used,
    clippy::redundant_type_annotations,
    clippy::ref_patterns,
    clippy::rest_pat_in_fully_bound_structs,
    clippy::same_name_method,
    clippy::self_named_module_files,
    clippy::semicolon_inside_block,
    clippy::shadow_reuse,
    clippy::shadow_same,
    clippy::shadow_unrelated,
    clippy::single_call_fn,
    clippy::single_char_lifetime_names,
    clippy::std_instead_of_core,
    clippy::str_to_string,
    clippy::string_slice,
    clippy::todo,
    clippy::unimplemented,
    clippy::unreachable,
    clippy::unseparated_literal_suffix,
    clippy::unwrap_used,
    clippy::use_debug,
    clippy::wildcard_enum_match_arm,
    reason = "so strict is nobody, and still nothing is to be said"
)]
#![allow(
    dead_code,
    unreachable_pub,
    variant_size_differences,
    clippy::derive_partial_eq_without_eq,
    clippy::single_call_fn,
    reason = "about what is declared here, not about what is derived"
)]

use table_core::{DynamicEntity, Entity, EntitySet, KeyPart, Properties, Ticks};

/// A part of a key.
#[derive(KeyPart, Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// New.
    Junior,
    /// Old.
    Senior,
}

/// A newtype.
#[derive(KeyPart, Clone, Copy, Debug, PartialEq, Eq)]
pub struct Number(pub u32);

/// What is flattened.
#[derive(Properties, Clone, Debug, PartialEq, Eq)]
pub struct Address {
    /// A city.
    pub city: String,
    /// Maybe a street.
    pub street: Option<String>,
}

/// Everything that an entity can have.
#[derive(Entity, Clone, Debug, PartialEq, Eq)]
#[entity(table = "Company", kind = "employee", types)]
#[key(partition = "{department}", row = "empid_{number:06}")]
#[index(by_email, row = "email_{email}", unique)]
#[index(by_name, row = "name_{last_name:escaped}!{number:06}", copy(email, level), when = Employee::is_listed)]
#[index(by_tag, row = "tag_{tags[]:escaped}!{number:06}", copy = keys, as = tag)]
#[index(by_day, row = "day_{since:%Y%m%d}_{number:06}")]
pub struct Employee {
    /// The department.
    pub department: String,
    /// The number.
    pub number: Number,
    /// The name.
    pub last_name: String,
    /// The address for mail.
    pub email: String,
    /// The level.
    pub level: Level,
    /// Since when.
    pub since: Ticks,
    /// Words.
    #[property(json)]
    pub tags: Vec<String>,
    /// Maybe an age.
    pub age: Option<i32>,
    /// How often.
    #[property(default)]
    pub count: u64,
    /// Not stored.
    #[property(skip)]
    pub seen: bool,
    /// Where.
    #[flatten]
    pub address: Address,
}

impl Employee {
    /// Whether the entity is in an index.
    const fn is_listed(&self) -> bool {
        !self.seen
    }
}

/// Another kind.
#[derive(Entity, Clone, Debug, PartialEq, Eq)]
#[entity(table = "Company", kind = "department")]
#[key(partition = "{name}", row = "department")]
pub struct Department {
    /// The name.
    pub name: String,
}

/// All kinds.
#[derive(EntitySet, Clone, Debug, PartialEq)]
pub enum Company {
    /// A department.
    Department(Department),
    /// An employee.
    Employee(Employee),
    /// Anything else.
    #[entity_set(unknown)]
    Other(DynamicEntity),
}
