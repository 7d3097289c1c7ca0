//! The tables that blobs lie in. They are there whatever features programs are built with that use the store.

use crate::catalog::Catalog;

/// The names of the tables that blobs lie in.
#[cfg(feature = "blob")]
#[derive(Debug)]
pub(crate) struct BlobTables {
    pub(super) containers: String,
    pub(super) blobs: String,
    pub(super) names: String,
    pub(super) segments: String,
    pub(crate) references: String,
}

#[cfg(feature = "blob")]
impl BlobTables {
    pub(crate) fn new(catalog: &Catalog) -> Self {
        Self {
            containers: catalog.table("_containers"),
            blobs: catalog.table("_blobs"),
            names: catalog.table("_blob_names"),
            segments: catalog.table("_segments"),
            references: catalog.table("_blob_refs"),
        }
    }
}

/// Returns the statements that make the tables in a schema, whose name is quoted. Segments are not compressed: blobs mostly are
/// already, and the server would try each time.
pub(crate) fn make_tables(schema: &str) -> String {
    format!(
        "CREATE TABLE IF NOT EXISTS {schema}._containers (
            id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY, name text COLLATE \"C\" UNIQUE);
         CREATE TABLE IF NOT EXISTS {schema}._blobs (
            id bytea PRIMARY KEY, length bigint NOT NULL, refs bigint NOT NULL, made bigint NOT NULL,
            changed bigint NOT NULL, content_type text NOT NULL, touched bigint);
         CREATE INDEX IF NOT EXISTS _blobs_unused ON {schema}._blobs (id) WHERE refs = 0;
         CREATE TABLE IF NOT EXISTS {schema}._blob_names (
            container int NOT NULL, name text COLLATE \"C\" NOT NULL, blob bytea NOT NULL, PRIMARY KEY (container, name));
         CREATE TABLE IF NOT EXISTS {schema}._segments (
            blob bytea NOT NULL, number bigint NOT NULL, body bytea NOT NULL, PRIMARY KEY (blob, number));
         ALTER TABLE {schema}._segments ALTER COLUMN body SET STORAGE EXTERNAL;
         CREATE TABLE IF NOT EXISTS {schema}._blob_refs (
            table_id bigint NOT NULL, pk text COLLATE \"C\" NOT NULL, rk text COLLATE \"C\" NOT NULL,
            blob bytea NOT NULL, count bigint NOT NULL);
         CREATE INDEX IF NOT EXISTS _blob_refs_rows ON {schema}._blob_refs (table_id, pk, rk);"
    )
}

/// Returns the statement that takes the references from the blobs that a table's rows refer to, when the table goes.
pub(crate) fn release_table(catalog: &Catalog, table: u32) -> String {
    let (blobs, references) = (catalog.table("_blobs"), catalog.table("_blob_refs"));
    format!(
        "WITH gone AS (DELETE FROM {references} WHERE table_id = {table} RETURNING blob, count)
         UPDATE {blobs} AS b SET refs = refs - n
         FROM (SELECT blob, sum(count)::bigint AS n FROM gone GROUP BY blob) AS g WHERE b.id = g.blob;"
    )
}
