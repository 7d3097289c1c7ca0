#!/usr/bin/env bash
# Runs the conformance suite and the tests of this crate on a running server, by its connection string, and says what it
# refuses; for engines that speak PostgreSQL's protocol, such as Citus, YugabyteDB and CockroachDB, and for servers that are
# managed.
#   on_server.sh postgres://USER:PASSWORD@HOST:PORT/DATABASE
# The user is to be one that may make schemas. Each test makes one of its own, whose name begins with `test_`, and these are dropped
# at the end: take a database for it that nothing else is in. Needs `psql`.
set -uo pipefail
cd "$(dirname "$0")/../.."

[ $# -eq 1 ] || { echo 'on_server.sh postgres://USER:PASSWORD@HOST:PORT/DATABASE' >&2; exit 2; }
export TABLE_POSTGRES=$1 PGCONNECT_TIMEOUT=10
ask() { psql "$TABLE_POSTGRES" -X -v ON_ERROR_STOP=1 -Atqc "$1"; }
ask 'SELECT version()' || exit 1

# What the store asks of a server, each by itself: a refusal is printed by its name before the tests fail of it.
refused=()
try() { # what, statements..
  local what=$1 sql
  shift
  sql=$(printf '%s;\n' "$@")
  if answer=$(psql "$TABLE_POSTGRES" -X -v ON_ERROR_STOP=1 -Atq <<< "$sql" 2>&1); then
    echo "yes  $what"
  else
    echo "NO   $what"
    sed 's/^/       /' <<< "$answer" | head -3
    refused+=("$what")
  fi
}
schema=test_abilities_$$
try 'a schema, and keys in the order of their bytes' "CREATE SCHEMA $schema" \
  "CREATE TABLE $schema.t (pk text COLLATE \"C\", rk text COLLATE \"C\", ts bigint, body json, PRIMARY KEY (pk, rk)) WITH (fillfactor = 90)" \
  "INSERT INTO $schema.t VALUES ('p', 'a', 1, '{}'), ('q', 'b', 1, '{}')"
try 'several writes of one table in a statement' \
  "WITH a AS (UPDATE $schema.t SET ts = 2 WHERE pk = 'p' RETURNING 1), b AS (DELETE FROM $schema.t WHERE pk = 'q'),
     c AS (INSERT INTO $schema.t VALUES ('r', 'c', 1, '{}')) SELECT 1 / count(*) FROM a"
try 'advisory locks, shared and alone' 'BEGIN' \
  'SELECT pg_advisory_xact_lock_shared(hashtextextended($$p$$, 5))' 'SELECT pg_advisory_xact_lock(7)' 'COMMIT'
try 'rows that are read and locked' 'BEGIN' "SELECT * FROM $schema.t FOR UPDATE" "SELECT * FROM $schema.t FOR KEY SHARE" 'COMMIT'
try 'locks of tables' 'BEGIN' "LOCK TABLE $schema.t IN SHARE ROW EXCLUSIVE MODE" 'COMMIT'
try 'snapshots' 'BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY' "SELECT * FROM $schema.t" 'COMMIT'
try 'rows that others hold are skipped' 'BEGIN' "SELECT * FROM $schema.t FOR UPDATE SKIP LOCKED" 'COMMIT'
try 'functions and triggers' "CREATE FUNCTION $schema.f() RETURNS trigger LANGUAGE plpgsql AS \$\$ BEGIN RETURN NULL; END \$\$" \
  "CREATE TRIGGER f BEFORE INSERT ON $schema.t FOR EACH STATEMENT EXECUTE FUNCTION $schema.f()"
try 'views of JSON' "CREATE VIEW $schema.v AS SELECT pk, body->>'Name' AS name FROM $schema.t" "SELECT * FROM $schema.v"
try 'COPY' "COPY $schema.t FROM STDIN"

tests=(conformance tables seen concurrent awaited rewritten eventual queues blobs sealed jobs)
for test in "${tests[@]}"; do
  echo "==== $test"
  output=$(cargo test --locked --quiet -p table-postgres --all-features --test "$test" --no-fail-fast -- --test-threads 4 2>&1)
  code=$?
  grep -E '^test result' <<< "$output"
  if [ $code -ne 0 ]; then
    # Each test that failed, and what the server said of it.
    grep -E '^    [a-z_:]+$' <<< "$output" | sort -u
    grep -oE '(ERROR|db error): .*' <<< "$output" | sort | uniq -c | sort -rn | head -10
    refused+=("tests: $test")
  fi
done

ask "SELECT format('DROP SCHEMA %I CASCADE;', nspname) FROM pg_namespace WHERE nspname LIKE 'test\\_%'" |
  psql "$TABLE_POSTGRES" -X -q 2> /dev/null
if [ ${#refused[@]} -gt 0 ]; then
  printf 'REFUSED OR FAILED: %s\n' "${refused[@]}" >&2
  exit 1
fi
echo 'All has passed.'
