#!/usr/bin/env bash
# Starts a server on a new store, and has the service's clients try it: `all.sh WORK [python|javascript|azcli|go ..]`.
#
# WORK keeps what is installed, some 2 GB for all of them. Fails where a result is not the one that is expected.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
[ $# -ge 1 ] || { sed -n '2,4s/^# \{0,1\}//p' "$0"; exit 2; }
mkdir -p "$1"
work=$(cd "$1" && pwd)
shift
[ $# -gt 0 ] || set -- python javascript azcli

cargo build --locked --release -p table-server --manifest-path "$here/../Cargo.toml"
target=$(cargo metadata --no-deps --format-version 1 --manifest-path "$here/../Cargo.toml" | python3 -c 'import json, sys; print(json.load(sys.stdin)["target_directory"])')
store=$(mktemp -d)
"$target/release/table-server" --directory "$store/store.tables" --address 127.0.0.1:10402 --admin-address 127.0.0.1:10403 >"$store/log" &
server=$!
trap 'kill "$server" 2>/dev/null || true; wait "$server" || true; rm -rf "$store"' EXIT
for _ in $(seq 100); do
    if python3 -c 'import urllib.request; urllib.request.urlopen("http://127.0.0.1:10403/readyz")' 2>/dev/null; then break; fi
    sleep 0.1
done
for client in "$@"; do
    printf '\n== %s\n' "$client"
    "$here/$client.sh" "$work" http://127.0.0.1:10402/devstoreaccount1
done
