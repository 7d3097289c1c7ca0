#!/usr/bin/env bash
# Tests the tables on servers of the Table service's protocol, which are started for them and ended afterwards: this project's
# own, and Azurite, the emulator, where npm is there to fetch it.
#   test.sh [--long] [ARGUMENT OF cargo test..]
set -euo pipefail
cd "$(dirname "$0")/../.."

form=() profile=debug long=
if [ "${1-}" = --long ]; then long=1 form=(--release) profile=release && shift; fi
directory=$(mktemp -d)
emulator=${TABLE_AZURE_EMULATOR_HOME:-target/azurite}
version=3.37.0
pids=()
end() {
  if [ ${#pids[@]} -gt 0 ]; then kill "${pids[@]}" 2>/dev/null || true; fi
  rm -rf "$directory"
}
trap end EXIT

# Waits until somebody listens at a port, for half a minute at most.
await() { # port, name
  for _ in $(seq 300); do
    if (exec 3<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null; then return 0; fi
    sleep 0.1
  done
  echo "$2 does not listen at port $1" >&2
  return 1
}

port=$((20000 + RANDOM % 10000))
if command -v npm >/dev/null; then
  script=$emulator/node_modules/azurite/dist/src/table/main.js
  if [ ! -f "$script" ]; then
    mkdir -p "$emulator"
    npm install --silent --no-audit --no-fund --prefix "$emulator" "azurite@$version"
  fi
  node "$script" --silent --disableTelemetry --skipApiVersionCheck --inMemoryPersistence \
    --tableHost 127.0.0.1 --tablePort "$port" >"$directory/emulator.log" 2>&1 &
  pids+=($!)
  await "$port" 'the emulator'
  TABLE_AZURE_EMULATOR="UseDevelopmentStorage=true;TableEndpoint=http://127.0.0.1:$port/devstoreaccount1"
  export TABLE_AZURE_EMULATOR
else
  echo '==== npm is missing: NOTHING IS TESTED ON THE EMULATOR ====' >&2
  if [ -n "$long" ]; then exit 1; fi
fi

# Ten thousand changes through a proxy that loses them, a thousand entities whose copies follow while propagators die, and a
# thousand requests of each call that come once more, late.
if [ -n "$long" ]; then
  export AZURE_CHANGES=${AZURE_CHANGES-10000} AZURE_EVENTUAL=${AZURE_EVENTUAL-1000} AZURE_LATE=${AZURE_LATE-1000}
fi
cargo test --locked "${form[@]}" -p table-azure -p azure-example --features table-azure/encrypt,table-azure/opentelemetry "$@"

# The typed tests that run on other executors than LMDB: on the project's own server, and on the emulator but for those of values,
# since it gives -0.0 back as 0. They are built as those on PostgreSQL are.
cargo build --locked "${form[@]}" -p table-server
own=$((port + 1)) key=YSBrZXkgdGhhdCBvcGVucyBub3RoaW5nIGJ1dCB0aGUgc3RvcmUgb2YgYSB0ZXN0
TABLE_SERVER_KEY1=$key "${CARGO_TARGET_DIR:-target}/$profile/table-server" --directory "$directory/store" \
  --address "127.0.0.1:$own" --admin-address none --account acme --durability relaxed >"$directory/server.log" 2>&1 &
pids+=($!)
await "$own" 'the server'
typed() { # connection string, what is left out
  TABLE_AZURE=$1 cargo test --locked "${form[@]}" -p integration-tests --features azure,postgres \
    --test rows --test structures --test typed --test versions --test maintenance -- on_azure "${@:2}"
}
typed "AccountName=acme;AccountKey=$key;TableEndpoint=http://127.0.0.1:$own/acme"
if [ -n "${TABLE_AZURE_EMULATOR-}" ]; then typed "$TABLE_AZURE_EMULATOR" --skip values::; fi

# Data that the command line copies to the emulator and back. To the project's own server the tests of that crate do.
if [ -n "$long" ]; then cargo test --locked "${form[@]}" -p table-cli --all-features --test it -- on_azure; fi
