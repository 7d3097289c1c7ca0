#!/usr/bin/env bash
# Starts a PostgreSQL server of its own on loopback, or ends it; for the tests.
#   server.sh start DIRECTORY PORT [SETTING=VALUE..]
#   server.sh standby DIRECTORY PORT PRIMARY   # of the server at that port, which waits for it from then on
#   server.sh promote DIRECTORY
#   server.sh stop DIRECTORY
#   server.sh pooler DIRECTORY PORT SERVER_PORT  # pgbouncer before that server, which hands out its processes by transactions
#   server.sh stop-pooler DIRECTORY
# Installs Debian's programs where there are none. Nothing else of the machine is touched: the data lie in the directory.
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

install() {
  apt-get update -q > /dev/null || true
  DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends "$1" > /dev/null
}

if ! find_programs; then
  install postgresql
  find_programs
fi
make_directory() {
  mkdir -p "$directory"
  if [ "$(id -u)" = 0 ]; then chown postgres: "$directory"; fi
}

start() { # port, settings
  settings=(-c "port=$1" -c listen_addresses=127.0.0.1 -c "unix_socket_directories=$directory" -c max_connections=200)
  for setting in "${@:2}"; do settings+=(-c "$setting"); done
  as_user "${programs}pg_ctl" -D "$directory/data" -l "$directory/log" -w -t 60 -o "${settings[*]}" start > /dev/null
}

case $verb in
start)
  port=$3
  make_directory
  if [ ! -e "$directory/data/PG_VERSION" ]; then
    as_user "${programs}initdb" -D "$directory/data" -A trust -U postgres -E UTF8 --locale=C.UTF-8 --no-sync > /dev/null
  fi
  start "$port" "${@:4}"
  echo "postgres://postgres@127.0.0.1:$port/postgres"
  ;;
standby)
  port=$3 primary=$4
  make_directory
  rm -rf "$directory/data"
  as_user "${programs}pg_basebackup" -h 127.0.0.1 -p "$primary" -U postgres -D "$directory/data" -R -c fast --no-sync
  start "$port"
  as_user psql -q -h 127.0.0.1 -p "$primary" -U postgres \
    -c "ALTER SYSTEM SET synchronous_standby_names = '*'" -c "SELECT pg_reload_conf()" > /dev/null
  ;;
promote)
  as_user "${programs}pg_ctl" -D "$directory/data" -w promote > /dev/null
  ;;
pooler)
  port=$3 server=$4
  export PATH=$PATH:/usr/sbin
  command -v pgbouncer > /dev/null || install pgbouncer
  make_directory
  cat > "$directory/pooler.ini" << EOF
[databases]
* = host=127.0.0.1 port=$server user=postgres
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = $port
unix_socket_dir =
auth_type = any
pool_mode = transaction
default_pool_size = 20
max_client_conn = 200
logfile = $directory/pooler.log
pidfile = $directory/pooler.pid
EOF
  as_user pgbouncer -q -d "$directory/pooler.ini"
  echo "postgres://postgres@127.0.0.1:$port/postgres"
  ;;
stop-pooler)
  kill "$(cat "$directory/pooler.pid")"
  ;;
stop)
  as_user "${programs}pg_ctl" -D "$directory/data" -m fast -w stop > /dev/null
  ;;
*)
  echo "server.sh: no verb: $verb" >&2
  exit 2
  ;;
esac
