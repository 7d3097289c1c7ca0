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
[ $# -ge 2 ] || { sed -n '2,10s/^# \{0,1\}//p' "$0"; exit 2; }
# shellcheck source=own_tests.sh
source "$(dirname "${BASH_SOURCE[0]}")/own_tests.sh"
mkdir -p "$1"
work=$(cd "$1" && pwd)
endpoint=$2
shift 2
fetch_tests queues azure-storage-queue 12.18.1

compared=("$@")
[ $# -gt 0 ] || set -- .
export QUEUES_ENDPOINT=$endpoint QUEUES_RESULTS=$results
run_tests queue_plugin "$@"
compare_tests "${compared[@]}"
