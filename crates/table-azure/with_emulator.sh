#!/usr/bin/env bash
# Runs a command beside Azurite, the emulator of the Table service, which ends with it.
#   with_emulator.sh COMMAND..
# Its connection string is in the command's variable TABLE_AZURE_EMULATOR, which is empty where npm is not there to fetch it.
set -euo pipefail

emulator=${TABLE_AZURE_EMULATOR_HOME:-target/azurite}
version=3.37.0
export TABLE_AZURE_EMULATOR=
if command -v npm >/dev/null; then
  directory=$(mktemp -d)
  process=
  end() {
    if [ -n "$process" ]; then kill "$process" 2>/dev/null || true; fi
    rm -rf "$directory"
  }
  trap end EXIT
  script=$emulator/node_modules/azurite/dist/src/table/main.js
  if [ ! -f "$script" ]; then
    mkdir -p "$emulator"
    npm install --silent --no-audit --no-fund --prefix "$emulator" "azurite@$version"
  fi
  port=$((20000 + RANDOM % 10000))
  node "$script" --silent --disableTelemetry --skipApiVersionCheck --inMemoryPersistence \
    --tableHost 127.0.0.1 --tablePort "$port" >"$directory/log" 2>&1 &
  process=$!
  "$(dirname "$(readlink -f "$0")")/await_port.sh" "$port" 'the emulator'
  TABLE_AZURE_EMULATOR="UseDevelopmentStorage=true;TableEndpoint=http://127.0.0.1:$port/devstoreaccount1"
else
  echo '==== npm is missing: NOTHING IS TESTED ON THE EMULATOR ====' >&2
fi
"$@"
