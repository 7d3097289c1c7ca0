#!/usr/bin/env bash
# Installs clients from their registries into a folder, once: `install.sh WORK python|queues|javascript|azcli ..`.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
mkdir -p "$1"
work=$(cd "$1" && pwd)
shift

venv() { # folder, limit in seconds, words for pip
    [ ! -e "$work/$1/ready" ] || return 0
    python3 -m venv "$work/$1"
    timeout "$2" "$work/$1/bin/pip" -q install "${@:3}"
    touch "$work/$1/ready"
}

for client in "$@"; do
    case $client in
    python) venv python-venv 600 -r "$here/python/requirements.txt" ;;
    queues) venv queues-venv 600 -r "$here/python/requirements-queues.txt" ;;
    azcli) venv azcli-venv 1200 azure-cli==2.91.0 ;;
    javascript)
        # Modules are found beside a program, so programs run from a copy.
        mkdir -p "$work/javascript"
        cp -r "$here"/javascript/. "$work/javascript"
        if [ ! -e "$work/javascript/node_modules/ready" ]; then
            (cd "$work/javascript" && timeout 300 npm install --no-fund --no-audit --no-package-lock --loglevel=error)
            touch "$work/javascript/node_modules/ready"
        fi
        ;;
    *) echo "no client is called $client" >&2 && exit 2 ;;
    esac
done
