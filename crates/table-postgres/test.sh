#!/usr/bin/env bash
# Tests the tables on a PostgreSQL server of their own, which is started for them and ended afterwards.
#   test.sh [--long] [ARGUMENT OF cargo test..]
set -euo pipefail
cd "$(dirname "$0")/../.."

form=() long=
if [ "${1-}" = --long ]; then long=1 form=(--release) && shift; fi
directory=$(mktemp -d)
chmod 755 "$directory"
port=$((20000 + RANDOM % 10000))
end() {
  crates/table-postgres/server.sh stop-pooler "$directory" || true
  crates/table-postgres/server.sh stop "$directory" || true
  rm -rf "$directory"
}
trap end EXIT
TABLE_POSTGRES=$(crates/table-postgres/server.sh start "$directory" "$port" fsync=off)
# The conformance suite runs through a pooler, too.
TABLE_POSTGRES_POOLER=$(crates/table-postgres/server.sh pooler "$directory" "$((port + 10000))" "$port")
export TABLE_POSTGRES TABLE_POSTGRES_POOLER TABLE_POSTGRES_LONG=$long

# And the guide's examples, in one build.
cargo test --locked "${form[@]}" -p table-postgres -p azure-example --all-features "$@"
# The typed tests that run on other executors than LMDB, built as those on the Table service are.
cargo test --locked "${form[@]}" -p integration-tests --features azure,postgres \
  --test derived --test maintenance --test messages --test rows --test secrets --test structures --test typed \
  --test versions -- on_postgres
