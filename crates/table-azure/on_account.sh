#!/usr/bin/env bash
# Runs the conformance suite, the typed tests and the example programs on an account of Azure storage, or of Cosmos DB for Table,
# and removes the tables that they make.
#   on_account.sh CONNECTION_STRING
# It makes and drops some thousand tables, one after another, whose names all begin with a prefix of this run. Take an account for
# it that nothing else is in: requests cost money, and a run that is cut off leaves tables, which `on_account.sh --remove PREFIX
# CONNECTION_STRING` removes.
set -euo pipefail
cd "$(dirname "$0")/../.."

usage='on_account.sh CONNECTION_STRING, or on_account.sh --remove PREFIX CONNECTION_STRING'
remove() { # prefix
  TABLE_AZURE_PREFIX=$1 cargo run --locked --quiet -p table-azure --example remove_tables
}
if [ "${1-}" = --remove ]; then
  [ $# -eq 3 ] || { echo "$usage" >&2; exit 2; }
  export TABLE_AZURE=$3
  remove "$2"
  exit
fi
[ $# -eq 1 ] || { echo "$usage" >&2; exit 2; }

export TABLE_AZURE=$1 TABLE_AZURE_EMULATOR=$1
TABLE_AZURE_PREFIX=A$(date +%s)x
export TABLE_AZURE_PREFIX
echo "The tables' names begin with $TABLE_AZURE_PREFIX."
failed=()
run() { # what, command..
  local what=$1
  shift
  echo "==== $what"
  "$@" || failed+=("$what")
}
trap 'remove "$TABLE_AZURE_PREFIX"' EXIT

run 'conformance' cargo test --locked -p table-azure --test conformance -- --nocapture the_emulator
run 'jobs' cargo test --locked -p table-azure --test jobs
run 'copies that follow' cargo test --locked -p table-azure --test eventual -- --nocapture on_the_emulator
# A few at a time: an account takes no more than so many requests a second.
run 'typed tests' cargo test --locked -p integration-tests --features azure --no-fail-fast \
  --test rows --test structures --test typed --test versions --test maintenance -- --test-threads 4 on_azure
run 'examples' cargo test --locked -p azure-example -- --nocapture emulator

if [ ${#failed[@]} -gt 0 ]; then
  printf 'FAILED: %s\n' "${failed[@]}" >&2
  exit 1
fi
echo 'All has passed.'
