#!/usr/bin/env bash
# Runs the own tests of Python's azure-data-tables 12.7.0, synchronous and asynchronous, against a server.
#
#   python.sh WORK ENDPOINT [test files]
#
# WORK keeps the environment and the tests; ENDPOINT is like http://127.0.0.1:10002/devstoreaccount1. The tests come with
# the package's source archive; what they import from the repository around them is stood in for by `python/`. Prints each
# test's outcome into WORK/python-results.txt, and fails where that differs from EXPECTED, a file of lines `test TAB reason`
# (expected-failures-python.txt beside this script, unless the environment names another; `none` compares nothing).
# TABLES_ACCOUNT and TABLES_KEY name another account than the emulators'. Of an https endpoint CERTIFICATE is the file of the
# certificate, of its address and of ACCOUNT.table.core.windows.net: those tests that want HTTPS or that host can pass then.
set -euo pipefail
[ $# -ge 2 ] || { sed -n '2,12s/^# \{0,1\}//p' "$0"; exit 2; }
# shellcheck source=own_tests.sh
source "$(dirname "${BASH_SOURCE[0]}")/own_tests.sh"
mkdir -p "$1"
work=$(cd "$1" && pwd)
endpoint=$2
shift 2
fetch_tests python azure-data-tables 12.7.0

compared=("$@")
if [ $# -eq 0 ]; then
    areas=(test_retry test_table test_table_entity test_table_batch test_table_client test_table_service_properties test_table_service_stats)
    set -- test_encoder.py "${areas[@]/%/.py}" "${areas[@]/%/_async.py}"
fi
export TABLES_ENDPOINT=$endpoint TABLES_RESULTS=$results
if [ -n "${CERTIFICATE:-}" ]; then
    # Before the folder changes. The two variables are those of the client's two ways to ask.
    REQUESTS_CA_BUNDLE=$(realpath "$CERTIFICATE") && SSL_CERT_FILE=$REQUESTS_CA_BUNDLE
    export REQUESTS_CA_BUNDLE SSL_CERT_FILE
fi
run_tests live_plugin "$@"
if [ "$expected" != none ] && [ -n "${CERTIFICATE:-}" ]; then
    grep -v $'\tover plain HTTP: ' "$expected" >"$work/python-expected.txt" || true
    expected=$work/python-expected.txt
fi
compare_tests "${compared[@]}"
