#!/usr/bin/env bash
# Tests the tables on a PostgreSQL server: the one at TABLE_POSTGRES, or else one that is started for them.
#   test.sh [--long] [ARGUMENT OF cargo test..]
set -euo pipefail
cd "$(dirname "$0")/../.."

if [ -z "${TABLE_POSTGRES-}" ]; then exec crates/table-postgres/with_server.sh "$PWD/crates/table-postgres/test.sh" "$@"; fi
form=() long=
if [ "${1-}" = --long ]; then long=1 form=(--release) && shift; fi
export TABLE_POSTGRES_LONG=$long

# And the guide's examples, in one build. The conformance suite runs through the pooler, too.
cargo test --locked "${form[@]}" -p table-postgres -p azure-example --all-features "$@"
# Built as the typed tests on the Table service are.
crates/table-postgres/typed.sh "${form[@]}" --features azure,postgres
