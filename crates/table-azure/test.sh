#!/usr/bin/env bash
# Tests the tables on servers of the Table service's protocol: this project's own, and Azurite, the emulator: the one at
# TABLE_AZURE_EMULATOR, or else one that is started for them, where npm is there to fetch it.
#   test.sh [--long] [ARGUMENT OF cargo test..]
set -euo pipefail
cd "$(dirname "$0")/../.."

if [ -z "${TABLE_AZURE_EMULATOR+set}" ]; then exec crates/table-azure/with_emulator.sh "$PWD/crates/table-azure/test.sh" "$@"; fi
form=() profile=debug long=
if [ "${1-}" = --long ]; then long=1 form=(--release) profile=release && shift; fi
if [ -n "$long" ] && [ -z "$TABLE_AZURE_EMULATOR" ]; then exit 1; fi

# Ten thousand changes through a proxy that loses them, a thousand entities whose copies follow while propagators die, and a
# thousand requests of each call that come once more, late.
if [ -n "$long" ]; then
  export AZURE_CHANGES=${AZURE_CHANGES-10000} AZURE_EVENTUAL=${AZURE_EVENTUAL-1000} AZURE_LATE=${AZURE_LATE-1000}
fi
cargo test --locked "${form[@]}" -p table-azure -p azure-example --features table-azure/encrypt,table-azure/opentelemetry "$@"

# Built as the typed tests on PostgreSQL are.
cargo build --locked "${form[@]}" -p table-server
crates/table-azure/typed.sh "${CARGO_TARGET_DIR:-target}/$profile/table-server" "${form[@]}" --features azure,postgres

# Data that the command line copies to the emulator and back. To the project's own server the tests of that crate do.
if [ -n "$long" ]; then cargo test --locked "${form[@]}" -p table-cli --all-features --test it -- on_azure; fi
