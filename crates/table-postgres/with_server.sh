#!/usr/bin/env bash
# Runs a command beside a PostgreSQL server of its own and a pooler before that, which end with it.
#   with_server.sh COMMAND..
# Their addresses are in the command's variables TABLE_POSTGRES and TABLE_POSTGRES_POOLER.
set -euo pipefail

here=$(dirname "$(readlink -f "$0")")
directory=$(mktemp -d)
chmod 755 "$directory"
port=$((20000 + RANDOM % 10000))
end() {
  "$here/server.sh" stop-pooler "$directory" || true
  "$here/server.sh" stop "$directory" || true
  rm -rf "$directory"
}
trap end EXIT
TABLE_POSTGRES=$("$here/server.sh" start "$directory" "$port" fsync=off)
TABLE_POSTGRES_POOLER=$("$here/server.sh" pooler "$directory" "$((port + 10000))" "$port")
export TABLE_POSTGRES TABLE_POSTGRES_POOLER
"$@"
