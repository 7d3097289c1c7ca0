//! The keys of a store, and what they do to rows: seal values and open them. The provider of the key that all others hang on
//! stays with the client; the server holds data keys that are wrapped.
//!
//! The rest of the store sees one type, with the feature `encrypt` and without it.

#[cfg(feature = "encrypt")]
mod at_work;
#[cfg(feature = "encrypt")]
mod change;
#[cfg(feature = "encrypt")]
mod data_keys;
#[cfg(feature = "encrypt")]
mod destroy;
#[cfg(feature = "encrypt")]
mod encryption;
#[cfg(feature = "encrypt")]
mod key_rows;
#[cfg(feature = "encrypt")]
mod key_store;
#[cfg(feature = "encrypt")]
mod reseal;
#[cfg(feature = "encrypt")]
mod root;
#[cfg(feature = "encrypt")]
mod store_keys;
#[cfg(not(feature = "encrypt"))]
mod without;

#[cfg(feature = "encrypt")]
pub use self::encryption::Encryption;
#[cfg(feature = "encrypt")]
pub(crate) use self::store_keys::StoreKeys;
#[cfg(not(feature = "encrypt"))]
pub(crate) use self::without::StoreKeys;

/// Returns the statements that make the tables of the keys in a schema, whose name is quoted.
///
/// `_vault` has one row, once a store was opened with a provider: the root key and the key of digests, wrapped.
pub(crate) fn make_tables(schema: &str) -> String {
    format!(
        "CREATE TABLE IF NOT EXISTS {schema}._vault (
            one boolean PRIMARY KEY DEFAULT true CHECK (one), generation bigint NOT NULL, root bigint NOT NULL,
            provider_key text NOT NULL, root_check bytea NOT NULL, root_wrapped bytea NOT NULL,
            mac_check bytea NOT NULL, mac_wrapped bytea NOT NULL);
         CREATE TABLE IF NOT EXISTS {schema}._keys (
            handle bigint PRIMARY KEY, version bigint NOT NULL, made bigint NOT NULL, state smallint NOT NULL,
            key_check bytea, wrapped bytea);
         CREATE TABLE IF NOT EXISTS {schema}._key_scopes (
            scope bytea PRIMARY KEY, table_id bigint NOT NULL, latest bigint NOT NULL, versions bigint[] NOT NULL,
            handles bigint[] NOT NULL, mac bytea NOT NULL);"
    )
}
