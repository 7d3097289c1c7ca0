#!/usr/bin/env bash
# Starts a server on a new store, and has the service's clients try it: `all.sh WORK [python|queues|javascript|azcli|go ..]`.
#
# WORK keeps what is installed, some 2 GB for all of them. Fails where a result is not the one that is expected.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
[ $# -ge 1 ] || { sed -n '2,4s/^# \{0,1\}//p' "$0"; exit 2; }
mkdir -p "$1"
work=$(cd "$1" && pwd)
shift
[ $# -gt 0 ] || set -- python queues javascript azcli

cargo build --locked --release -p table-server --features tls --manifest-path "$here/../Cargo.toml"
target=$(cargo metadata --no-deps --format-version 1 --manifest-path "$here/../Cargo.toml" | python3 -c 'import json, sys; print(json.load(sys.stdin)["target_directory"])')
store=$(mktemp -d)
servers=()
trap 'kill "${servers[@]}" 2>/dev/null || true; wait || true; rm -rf "$store"' EXIT

start() { # port, and the next for its operator; flags
    "$target/release/table-server" --directory "$store/$1" --address "127.0.0.1:$1" --admin-address "127.0.0.1:$(($1 + 1))" "${@:2}" >"$store/$1.log" &
    servers+=($!)
    for _ in $(seq 100); do
        if python3 -c "import urllib.request; urllib.request.urlopen('http://127.0.0.1:$(($1 + 1))/readyz')" 2>/dev/null; then break; fi
        sleep 0.1
    done
}

start 10402 --queue-address 127.0.0.1:10401
# Some of the tests of Python's ask by HTTPS alone, others a host of the cloud, which is this server to them.
names=subjectAltName=IP:127.0.0.1,DNS:devstoreaccount1.table.core.windows.net
openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=table-server -addext "$names" -keyout "$store/key.pem" -out "$store/certificate.pem" 2>"$store/openssl.log"
start 10404 --tls-cert "$store/certificate.pem" --tls-key "$store/key.pem"
for client in "$@"; do
    printf '\n== %s\n' "$client"
    case $client in
    python) CERTIFICATE=$store/certificate.pem "$here/python.sh" "$work" https://127.0.0.1:10404/devstoreaccount1 ;;
    queues) "$here/queues.sh" "$work" http://127.0.0.1:10401/devstoreaccount1 ;;
    *) "$here/$client.sh" "$work" http://127.0.0.1:10402/devstoreaccount1 ;;
    esac
done
