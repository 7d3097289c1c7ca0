#!/usr/bin/env bash
# Clicks through the pages of `tables design` and `tables studio` in headless Chromium, and takes a picture of each.
#   pages.sh [--short] [PICTURES]   where the pictures go (target/pages)
# It takes node, npm and chromium. playwright-core is fetched once; it downloads no browser.
# In the short form the programs are those that `cargo test` has built of the crate, and a missing browser is said, and no error.
set -euo pipefail
cd "$(dirname "$0")/../.."

is_short=
if [ "${1-}" = --short ]; then is_short=1 && shift; fi
target=${CARGO_TARGET_DIR:-target}
pictures=${1:-$target/pages}
home=${TABLE_CLI_PAGES_HOME:-$target/pages-home}
version=1.64.1
directory=$(mktemp -d)
pids=()
end() {
  if [ ${#pids[@]} -gt 0 ]; then kill "${pids[@]}" 2>/dev/null || true; fi
  rm -rf "$directory"
}
trap end EXIT

if ! command -v chromium >/dev/null && command -v apt-get >/dev/null; then
  apt-get update -q >/dev/null || true
  DEBIAN_FRONTEND=noninteractive apt-get install -qy --no-install-recommends chromium >/dev/null || true
fi
if [ -n "$is_short" ] && ! command -v chromium >/dev/null; then
  echo '==== chromium is missing: NO PAGE IS TESTED ====' >&2
  exit 0
fi
for program in node npm chromium; do
  if ! command -v "$program" >/dev/null; then
    echo "$program is missing: the packages nodejs, npm and chromium have what this takes" >&2
    exit 1
  fi
done
if [ ! -d "$home/node_modules/playwright-core" ]; then
  mkdir -p "$home"
  npm install --silent --no-audit --no-fund --prefix "$home" "playwright-core@$version"
fi
if [ -z "$is_short" ]; then
  cargo build --quiet --locked -p table-cli --all-features --bin tables --example sample_store
fi

store=$directory/sample.tables
"$target/debug/examples/sample_store" "$store"
"$target/debug/tables" design --store "$store" -o "$directory/design.html"
"$target/debug/tables" studio --store "$store" >"$directory/address" &
pids+=($!)
"$target/debug/tables" studio --store "$store" --write >"$directory/writer" &
pids+=($!)
for file in address writer; do
  for _ in $(seq 300); do
    if [ -s "$directory/$file" ]; then break; fi
    sleep 0.1
  done
done

mkdir -p "$pictures"
node crates/table-cli/pages.mjs "$home" "$pictures" "$directory/design.html" \
  "$(cat "$directory/address")" "$(cat "$directory/writer")"
