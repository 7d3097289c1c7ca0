#!/usr/bin/env bash
# Runs the typed tests that run on other executors than LMDB: on the project's own server, and on the emulator at
# TABLE_AZURE_EMULATOR but for those of values, since it gives -0.0 back as 0.
#   typed.sh TABLE_SERVER ARGUMENT OF cargo test..
set -euo pipefail
cd "$(dirname "$0")/../.."

program=$1
shift
directory=$(mktemp -d)
process=
end() {
  if [ -n "$process" ]; then kill "$process" 2>/dev/null || true; fi
  rm -rf "$directory"
}
trap end EXIT
port=$((20000 + RANDOM % 10000)) key=YSBrZXkgdGhhdCBvcGVucyBub3RoaW5nIGJ1dCB0aGUgc3RvcmUgb2YgYSB0ZXN0
TABLE_SERVER_KEY1=$key "$program" --directory "$directory/store" --address "127.0.0.1:$port" --admin-address none \
  --account acme --durability relaxed >"$directory/log" 2>&1 &
process=$!
crates/table-azure/await_port.sh "$port" 'the server'
typed() { # connection string, arguments of cargo test, --, what is left out
  TABLE_AZURE=$1 cargo test --locked -p integration-tests --test rows --test structures --test typed --test versions \
    --test maintenance "${@:2}"
}
typed "AccountName=acme;AccountKey=$key;TableEndpoint=http://127.0.0.1:$port/acme" "$@" -- on_azure
if [ -n "${TABLE_AZURE_EMULATOR-}" ]; then typed "$TABLE_AZURE_EMULATOR" "$@" -- on_azure --skip values::; fi
