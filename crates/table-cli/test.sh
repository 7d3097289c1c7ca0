#!/usr/bin/env bash
# Tests the command line on each kind of store: in directories, on this project's server, which the tests start, and on a
# PostgreSQL server, which is started for them and ended afterwards; then its pages, in headless Chromium.
#   test.sh [--long] [ARGUMENT OF cargo test..]
set -euo pipefail
cd "$(dirname "$0")/../.."

form=() long=
if [ "${1-}" = --long ]; then long=1 form=(--release) && shift; fi
directory=$(mktemp -d)
chmod 755 "$directory"
end() {
  crates/table-postgres/server.sh stop "$directory" || true
  rm -rf "$directory"
}
trap end EXIT
TABLE_POSTGRES=$(crates/table-postgres/server.sh start "$directory" $((20000 + RANDOM % 10000)) fsync=off)
export TABLE_POSTGRES

cargo test --locked "${form[@]}" -p table-cli --all-features "$@"

if ! command -v chromium >/dev/null && command -v apt-get >/dev/null; then
  apt-get update -q >/dev/null || true
  DEBIAN_FRONTEND=noninteractive apt-get install -qy --no-install-recommends chromium >/dev/null || true
fi
if [ -n "$long" ] || command -v chromium >/dev/null; then
  crates/table-cli/pages.sh
else
  echo '==== chromium is missing: NO PAGE IS TESTED ====' >&2
fi
