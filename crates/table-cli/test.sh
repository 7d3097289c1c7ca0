#!/usr/bin/env bash
# Tests the command line on each kind of store: in directories, on this project's server, which the tests start, and on a
# PostgreSQL server, the one at TABLE_POSTGRES or else one that is started for them; then its pages, in headless Chromium.
#   test.sh [--long] [ARGUMENT OF cargo test..]
set -euo pipefail
cd "$(dirname "$0")/../.."

if [ -z "${TABLE_POSTGRES-}" ]; then exec crates/table-postgres/with_server.sh "$PWD/crates/table-cli/test.sh" "$@"; fi
form=() pages=(--short)
if [ "${1-}" = --long ]; then form=(--release) pages=() && shift; fi

cargo test --locked "${form[@]}" -p table-cli --all-features "$@"
crates/table-cli/pages.sh "${pages[@]}"
