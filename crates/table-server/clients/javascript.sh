#!/usr/bin/env bash
# Runs checks of every operation of the JavaScript client, npm's @azure/data-tables 13.3.2, against a server.
#
#   javascript.sh WORK ENDPOINT [part of a check's name]
#
# WORK keeps the client; ENDPOINT is like http://127.0.0.1:10002/devstoreaccount1. Prints `name: ok` or `name: FAIL why`,
# and fails where the failures differ from EXPECTED, a file of lines `name TAB reason` (expected-failures-javascript.txt
# beside this script, unless the environment names another; `none` compares nothing). The failures of the emulator are in
# emulator-failures-javascript.txt. TABLES_ACCOUNT and TABLES_KEY name another account than the emulators'.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
[ $# -ge 2 ] || { sed -n '2,9s/^# \{0,1\}//p' "$0"; exit 2; }
mkdir -p "$1/javascript"
work=$(cd "$1/javascript" && pwd)
endpoint=$2
only=${3:-}

"$here/install.sh" "$1" javascript
rm -f "$work/results.txt"
(cd "$work" && timeout "${LIMIT:-600}" node main.mjs "$endpoint" results.txt "$only")
cut -f1 "$work/results.txt" | sort | uniq -c
expected=${EXPECTED:-$here/expected-failures-javascript.txt}
if [ "$expected" != none ]; then
    if [ -n "$only" ]; then echo "a part of the checks is not compared"; else "$here/compare.sh" "$expected" "$work/results.txt"; fi
fi
