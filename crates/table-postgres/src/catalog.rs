//! The tables of the server in which the store keeps what it knows of its own tables.

use table_engine::__executor as executor;
use table_engine::{ErrorKind, Result};
use tokio_postgres::Row;

use crate::blobs;
use crate::connection::Call;
use crate::error::damaged;
use crate::outbox;
use crate::param::{Param, Params};
use crate::sealing;
use crate::table::TableEntry;
use crate::transaction::BEGIN;

/// The version of what is laid out here.
const FORMAT: &str = "2";

/// The names of the store's own tables in its schema. Those of a user's tables begin with no underscore.
#[derive(Debug)]
pub(crate) struct Catalog {
    /// The name of the schema, quoted.
    schema: String,
}

/// A record of the table `_tables`.
#[derive(Clone, Debug)]
pub(crate) struct Found {
    pub(crate) id: i32,
    pub(crate) name: String,
    /// How often it has got another name.
    pub(crate) renames: i32,
}

impl Found {
    /// Reads the record from three columns of an answer, of which this is the first; `None` if they are empty.
    pub(crate) fn read(row: &Row, at: usize) -> Result<Option<Self>> {
        let Some(id) = column(row, at)? else { return Ok(None) };
        Ok(Some(Self { id, name: column(row, at + 1)?, renames: column(row, at + 2)? }))
    }

    /// Returns the table's number.
    pub(crate) fn number(&self) -> Result<u32> {
        u32::try_from(self.id).map_err(|_| damaged("the number of a table"))
    }
}

impl Catalog {
    pub(crate) fn new(schema: &str) -> Self {
        Self { schema: quoted(schema) }
    }

    /// Returns the name of one of the store's own tables, with its schema.
    pub(crate) fn table(&self, name: &str) -> String {
        format!("{}.{name}", self.schema)
    }

    /// Returns the name of the table with the rows of a table, with its schema. It is another after each renaming, so that
    /// handles with the former name find nothing.
    pub(crate) fn rows(&self, found: &Found) -> String {
        self.table(&rows_name(found))
    }

    /// Returns the name of the view of a user's table, with its schema.
    pub(crate) fn view(&self, table: &str) -> String {
        self.table(&view_name(table))
    }

    /// Returns what begins a transaction that changes the list of tables or what is noted of their kinds: one after another.
    pub(crate) fn begin_change(&self) -> String {
        format!("{BEGIN}; SELECT pg_advisory_xact_lock(hashtextextended({}, 1))", literal(&self.schema))
    }

    /// Returns the statement that asks whether the store is there, and whether its schema is: `true` or `false`.
    pub(crate) fn look(&self) -> Call {
        let mut params = Params::default();
        let store = params.add(Param::Text(self.table("_store")));
        let schema = params.add(Param::Text(self.schema.clone()));
        let sql = format!("SELECT to_regclass({store}) IS NOT NULL, to_regnamespace({schema}) IS NOT NULL");
        Call { sql, params }
    }

    /// Returns the statements that make the store, unless it is there, and its schema, unless that is.
    pub(crate) fn make(&self, identity: i64, has_schema: bool) -> String {
        let schema = &self.schema;
        // Who may make no schema is refused even where it is there.
        let make_schema =
            if has_schema { String::new() } else { format!("CREATE SCHEMA IF NOT EXISTS {schema};") };
        format!(
            "{BEGIN};
             -- Two that make it at once would be in each other's way.
             SELECT pg_advisory_xact_lock(hashtextextended({name}, 0));
             {make_schema}
             CREATE TABLE IF NOT EXISTS {schema}._store (name text PRIMARY KEY, value text NOT NULL);
             CREATE TABLE IF NOT EXISTS {schema}._tables (
                id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY, name text NOT NULL, lower_name text UNIQUE NOT NULL,
                renames int NOT NULL DEFAULT 0);
             CREATE TABLE IF NOT EXISTS {schema}._renamed (
                lower_name text PRIMARY KEY, id int NOT NULL, number int GENERATED ALWAYS AS IDENTITY);
             CREATE TABLE IF NOT EXISTS {schema}._periods (
                lower_stem text PRIMARY KEY, stem text NOT NULL, period int NOT NULL, floor bigint NOT NULL);
             CREATE TABLE IF NOT EXISTS {schema}._dropped (id int PRIMARY KEY, rows text NOT NULL);
             CREATE OR REPLACE FUNCTION {schema}._refuse() RETURNS trigger LANGUAGE plpgsql AS $$
                BEGIN RAISE EXCEPTION 'the table was dropped' USING ERRCODE = 'undefined_table'; END $$;
             CREATE TABLE IF NOT EXISTS {schema}._kinds (
                table_id int NOT NULL, kind text NOT NULL, layout text NOT NULL, epoch bigint NOT NULL, converts_from int,
                stopped text[] NOT NULL, index_names text[] NOT NULL, index_states text[] NOT NULL, blocked text[] NOT NULL,
                number int GENERATED ALWAYS AS IDENTITY, PRIMARY KEY (table_id, kind));
             CREATE TABLE IF NOT EXISTS {schema}._jobs (
                table_id int NOT NULL, name text NOT NULL, begun bigint NOT NULL, done bigint NOT NULL,
                total bigint NOT NULL, changed bigint NOT NULL, stamp bigint NOT NULL, phase int NOT NULL,
                position text[] NOT NULL, ends_at text[] NOT NULL, asked text NOT NULL, counts bigint[] NOT NULL,
                PRIMARY KEY (table_id, name));
             CREATE TABLE IF NOT EXISTS {schema}._commits (
                session bigint, number bigint, time bigint NOT NULL, at timestamptz NOT NULL DEFAULT clock_timestamp(),
                answer bigint[], PRIMARY KEY (session, number));
             CREATE TABLE IF NOT EXISTS {schema}._records (
                owner int NOT NULL, name text NOT NULL, value bytea NOT NULL, PRIMARY KEY (owner, name));
             {queues}
             {keys}
             {outbox}
             {blobs}
             INSERT INTO {schema}._store VALUES ('format', '{FORMAT}'), ('identity', '{identity}'),
                ('generation', '1') ON CONFLICT DO NOTHING;
             COMMIT",
            name = literal(schema),
            queues = self.make_queues(),
            keys = sealing::make_tables(schema),
            outbox = outbox::make_table(schema),
            blobs = blobs::make_tables(schema),
        )
    }

    /// Returns the statements that make the tables of queues. A queue without a name was dropped, and its messages go.
    fn make_queues(&self) -> String {
        let schema = &self.schema;
        format!(
            "CREATE TABLE IF NOT EXISTS {schema}._queues (
                id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, name text COLLATE \"C\" UNIQUE,
                is_paused boolean NOT NULL DEFAULT false);
             CREATE SEQUENCE IF NOT EXISTS {schema}._message_numbers;
             CREATE TABLE IF NOT EXISTS {schema}._messages (
                queue bigint NOT NULL, id bigint NOT NULL, is_hidden boolean NOT NULL,
                is_held boolean NOT NULL DEFAULT false, shows bigint NOT NULL, delivery bigint NOT NULL DEFAULT 0,
                tries bigint NOT NULL DEFAULT 0, sent bigint NOT NULL, expires bigint, unique_key bytea,
                error text NOT NULL DEFAULT '', body text NOT NULL, PRIMARY KEY (queue, id)) WITH (fillfactor = 70);
             CREATE INDEX IF NOT EXISTS _messages_order ON {schema}._messages (queue, is_hidden, shows, id);
             CREATE UNIQUE INDEX IF NOT EXISTS _messages_unique ON {schema}._messages (queue, unique_key)
                WHERE unique_key IS NOT NULL;
             CREATE TABLE IF NOT EXISTS {schema}._queue_counts (
                queue bigint NOT NULL, shard int NOT NULL, sent bigint NOT NULL, completed bigint NOT NULL,
                poisoned bigint NOT NULL, expired bigint NOT NULL, PRIMARY KEY (queue, shard)) WITH (fillfactor = 50);"
        )
    }

    /// Returns the name of one of the store's own tables or sequences, with its schema, as a text of SQL.
    #[cfg(feature = "queue")]
    pub(crate) fn named(&self, name: &str) -> String {
        literal(&self.table(name))
    }

    /// Returns the statement that asks for the store's generation.
    pub(crate) fn generation(&self) -> Call {
        let sql = format!("SELECT value::bigint FROM {} WHERE name = 'generation'", self.table("_store"));
        Call { sql, params: Params::default() }
    }

    /// Returns the statement that asks what the store is.
    pub(crate) fn store(&self) -> Call {
        let sql = format!("SELECT name, value FROM {}", self.table("_store"));
        Call { sql, params: Params::default() }
    }

    /// Returns the store's identity and its generation from the answer to that, if this version can read the store.
    pub(crate) fn identity(&self, answer: &[Row]) -> Result<(i64, i64)> {
        let (mut identity, mut generation) = (None, None);
        for row in answer {
            match (row.try_get(0), row.try_get::<_, &str>(1)) {
                (Ok("format"), Ok(FORMAT)) => {}
                (Ok("format"), Ok(other)) => {
                    let because = format!(
                        "the schema {} has tables of format {other}, and this version reads format {FORMAT}",
                        self.schema
                    );
                    return Err(executor::error(ErrorKind::Incompatible, because));
                }
                (Ok("identity"), Ok(number)) => identity = number.parse().ok(),
                (Ok("generation"), Ok(number)) => generation = number.parse().ok(),
                _ => {}
            }
        }
        identity.zip(generation).ok_or_else(|| damaged("the record of the store"))
    }

    /// Returns the statement that finds a table by its name, or by one that it had before; the last column says which.
    pub(crate) fn find(&self, table: &str) -> Call {
        let mut params = Params::default();
        let name = params.add(Param::Text(table.to_ascii_lowercase()));
        let sql = format!(
            "SELECT id, name, renames, false FROM {tables} WHERE lower_name = {name} UNION ALL
             SELECT t.id, t.name, t.renames, true FROM {renamed} AS r JOIN {tables} AS t ON t.id = r.id
             WHERE r.lower_name = {name} AND NOT EXISTS (SELECT FROM {tables} WHERE lower_name = {name})",
            tables = self.table("_tables"),
            renamed = self.table("_renamed"),
        );
        Call { sql, params }
    }

    /// Returns what was found.
    pub(crate) fn found(table: &str, answer: &[Row]) -> Result<Found> {
        let Some(row) = answer.first() else { return Err(crate::error::missing()) };
        let found = Found::read(row, 0)?.ok_or_else(crate::error::missing)?;
        if column(row, 3)? {
            let because = format!("`{table}` is called `{}` now", found.name);
            return Err(executor::error(ErrorKind::TableRenamed, because));
        }
        Ok(found)
    }

    /// Returns the statement that names all tables, in their order.
    pub(crate) fn names(&self) -> Call {
        let sql = format!("SELECT name FROM {} ORDER BY lower_name COLLATE \"C\"", self.table("_tables"));
        Call { sql, params: Params::default() }
    }

    /// Returns the statement that asks what the table of this number is called.
    pub(crate) fn name_of(&self, id: u32) -> Call {
        let mut params = Params::default();
        let id = params.add(Param::Number(id.into()));
        Call { sql: format!("SELECT name FROM {} WHERE id = {id}", self.table("_tables")), params }
    }

    /// Returns the statement that notes a new table, and gives it its number. No table was called so before any more.
    pub(crate) fn note_table(&self, table: &str) -> Call {
        let mut params = Params::default();
        let (name, lower) = (params.add(table.into()), params.add(Param::Text(table.to_ascii_lowercase())));
        let sql = format!(
            "WITH s AS ({}), r AS (DELETE FROM {} WHERE lower_name = {lower})
             INSERT INTO {} (name, lower_name) VALUES ({name}, {lower}) RETURNING id, name, renames",
            self.raise_generation(),
            self.table("_renamed"),
            self.table("_tables")
        );
        Call { sql, params }
    }

    /// Returns the statement that says that the list of tables is another, or what is noted of their kinds.
    pub(crate) fn raise_generation(&self) -> String {
        format!(
            "UPDATE {} SET value = (value::bigint + 1)::text WHERE name = 'generation' RETURNING value::bigint",
            self.table("_store")
        )
    }

    /// Returns the statements that make the table, and what a person sees of it.
    pub(crate) fn make_table(&self, found: &Found) -> String {
        let rows = self.rows(found);
        // Some room on each page, so that a row that is changed stays where it was.
        format!(
            "CREATE TABLE {rows} (
                pk text COLLATE \"C\" NOT NULL, rk text COLLATE \"C\" NOT NULL, ts bigint NOT NULL,
                kind text COLLATE \"C\", body json NOT NULL, again int, PRIMARY KEY (pk, rk)) WITH (fillfactor = 90);
             ALTER TABLE {rows} ALTER COLUMN body SET STORAGE MAIN;
             {}",
            self.make_view(found)
        )
    }

    /// Returns the statement that makes the view of a table.
    pub(crate) fn make_view(&self, found: &Found) -> String {
        format!(
            "CREATE OR REPLACE VIEW {} AS SELECT pk AS \"PartitionKey\", rk AS \"RowKey\",
             {} AS \"Timestamp\", kind AS \"EntityType\", body AS \"Properties\" FROM {}",
            self.view(&found.name),
            time_of("ts"),
            self.rows(found)
        )
    }

    /// Returns the statements that drop a table.
    pub(crate) fn drop_table(&self, entry: &TableEntry) -> String {
        // Its views go with it.
        self.forget_table(entry.id) + &format!("DROP TABLE {} CASCADE;", entry.rows)
    }

    /// Returns the statements that take a table of this number out of all records.
    pub(crate) fn forget_table(&self, id: u32) -> String {
        let mut all = self.raise_generation() + ";";
        for (table, column) in [
            ("_kinds", "table_id"),
            ("_jobs", "table_id"),
            ("_records", "owner"),
            ("_renamed", "id"),
            ("_tables", "id"),
        ] {
            all += &format!("DELETE FROM {} WHERE {column} = {id};", self.table(table));
        }
        all += &blobs::release_table(self, id);
        all
    }
}

/// Returns the time of a number of ticks, as the server shows it to a person: they are 100 ns, counted from the year 1.
pub(crate) fn time_of(ticks: &str) -> String {
    // By whole seconds first: an interval is multiplied as a floating-point number, which has no room for so many microseconds.
    format!(
        "timestamptz '0001-01-01 00:00:00+00' + {ticks} / 10000000 * interval '1 second'
         + {ticks} / 10 % 1000000 * interval '1 microsecond'"
    )
}

/// Returns a column of an answer, of the type that the statement gives it.
pub(crate) fn column<'r, T: tokio_postgres::types::FromSql<'r>>(row: &'r Row, at: usize) -> Result<T> {
    row.try_get(at).map_err(|error| damaged("a record of the store").caused_by(error))
}

/// Returns the name of the table with the rows of a table.
pub(crate) fn rows_name(found: &Found) -> String {
    match found.renames {
        0 => format!("rows_{}", found.id),
        renames => format!("rows_{}_{renames}", found.id),
    }
}

/// Returns the name of the view of a user's table, quoted.
pub(crate) fn view_name(table: &str) -> String {
    quoted(&table.to_ascii_lowercase())
}

/// Returns a name as SQL quotes it.
pub(crate) fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

/// Returns a text as SQL quotes it.
pub(crate) fn literal(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}
