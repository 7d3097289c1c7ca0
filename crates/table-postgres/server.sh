#!/usr/bin/env bash
# Starts a PostgreSQL server of its own on loopback, or ends it; for the tests.
#   server.sh start DIRECTORY PORT [SETTING=VALUE..]
#   server.sh stop DIRECTORY
# Installs Debian's server where there is none. Nothing else of the machine is touched: the data lie in the directory.
set -euo pipefail
verb=$1 directory=$2

find_programs() {
  for programs in "" /usr/lib/postgresql/*/bin/; do
    if command -v "${programs}postgres" > /dev/null; then return; fi
  done
  return 1
}

# The server refuses to run as root.
as_user() {
  if [ "$(id -u)" = 0 ]; then (cd / && setpriv --reuid postgres --regid postgres --init-groups "$@"); else "$@"; fi
}

if ! find_programs; then
  apt-get update -q > /dev/null || true
  DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends postgresql > /dev/null
  find_programs
fi
case $verb in
start)
  port=$3
  mkdir -p "$directory"
  if [ "$(id -u)" = 0 ]; then chown postgres: "$directory"; fi
  if [ ! -e "$directory/data/PG_VERSION" ]; then
    as_user "${programs}initdb" -D "$directory/data" -A trust -U postgres -E UTF8 --locale=C.UTF-8 --no-sync > /dev/null
  fi
  settings=(-c "port=$port" -c listen_addresses=127.0.0.1 -c "unix_socket_directories=$directory" -c max_connections=200)
  for setting in "${@:4}"; do settings+=(-c "$setting"); done
  as_user "${programs}pg_ctl" -D "$directory/data" -l "$directory/log" -w -t 60 -o "${settings[*]}" start > /dev/null
  echo "postgres://postgres@127.0.0.1:$port/postgres"
  ;;
stop)
  as_user "${programs}pg_ctl" -D "$directory/data" -m fast -w stop > /dev/null
  ;;
*)
  echo "server.sh: neither start nor stop: $verb" >&2
  exit 2
  ;;
esac
