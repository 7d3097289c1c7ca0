#!/usr/bin/env bash
# Runs the own tests of Python's azure-storage-queue 12.18.1, synchronous and asynchronous, against a server's queues.
#
#   queues.sh WORK ENDPOINT [test files]
#
# WORK keeps the environment and the tests; ENDPOINT is like http://127.0.0.1:10001/devstoreaccount1, of a store without queues:
# some tests name theirs. Prints each test's outcome into WORK/queues-results.txt, and fails where that differs from EXPECTED, a
# file of lines `test TAB reason` (expected-failures-queues.txt beside this script, unless the environment names another; `none` compares nothing).
# TABLES_ACCOUNT and TABLES_KEY name another account than the emulators'.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
[ $# -ge 2 ] || { sed -n '2,10s/^# \{0,1\}//p' "$0"; exit 2; }
mkdir -p "$1"
work=$(cd "$1" && pwd)
endpoint=$2
shift 2
venv=$work/queues-venv
tests=$work/azure_storage_queue-12.18.1/tests
results=$work/queues-results.txt
expected=${EXPECTED:-$here/expected-failures-queues.txt}

"$here/install.sh" "$work" queues
if [ ! -d "$tests" ]; then
    timeout 300 "$venv/bin/pip" -q download --no-deps --no-binary :all: --no-build-isolation -d "$work" azure-storage-queue==12.18.1
    tar -xzf "$work/azure_storage_queue-12.18.1.tar.gz" -C "$work"
fi

compared=("$@")
[ $# -gt 0 ] || set -- .
rm -f "$results"
cd "$tests"
# Failures are judged by the list, not by the exit code; a run that breaks off leaves no results.
TABLES_RUN=$(date +%s%N) QUEUES_ENDPOINT=$endpoint QUEUES_RESULTS=$results PYTHONPATH=$here/python PYTHONDONTWRITEBYTECODE=1 \
    timeout "${LIMIT:-900}" "$venv/bin/python" -m pytest -p queue_plugin -p no:cacheprovider --asyncio-mode=auto \
    --timeout 40 -q --tb="${TRACEBACK:-line}" -W ignore "$@" || true
[ -s "$results" ] || { echo "the tests broke off" >&2; exit 1; }
cut -f1 "$results" | sort | uniq -c
[ "$expected" = none ] || "$here/compare.sh" "$expected" "$results" "${compared[@]}"
