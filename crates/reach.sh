#!/usr/bin/env bash
# Runs the short form of `cargo xtask test --async --server --azure --postgres --cli` with one build: packages that are named together
# have their dependencies built once, with the features that all of them take.
set -euo pipefail
cd "$(dirname "$0")/.."

if [ -z "${TABLE_POSTGRES-}" ]; then exec crates/table-postgres/with_server.sh "$PWD/crates/reach.sh"; fi
if [ -z "${TABLE_AZURE_EMULATOR+set}" ]; then exec crates/table-azure/with_emulator.sh "$PWD/crates/reach.sh"; fi

cargo test --locked -p asynchronous-tests -p web-example -p table-server -p server-example -p table-azure -p table-postgres \
  -p azure-example -p table-cli --all-features
crates/table-cli/pages.sh --short
# These take the core with what tests alone have.
crates/table-postgres/typed.sh --features azure,postgres
crates/table-azure/typed.sh "${CARGO_TARGET_DIR:-target}/debug/table-server" --features azure,postgres
