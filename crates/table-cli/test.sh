#!/usr/bin/env bash
# Tests the command line with each kind of store that needs no server of another's.
#   test.sh [--long] [ARGUMENT OF cargo test..]
set -euo pipefail
cd "$(dirname "$0")/../.."

form=()
if [ "${1-}" = --long ]; then form=(--release) && shift; fi
cargo test --locked "${form[@]}" -p table-cli --all-features "$@"
