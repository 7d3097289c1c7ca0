#!/usr/bin/env bash
# Compares which checks failed with which were expected to.
#
#   compare.sh EXPECTED RESULTS [files]
#
# EXPECTED has lines `name TAB reason`, RESULTS lines `outcome TAB name`. With files, only names that begin with one of them
# count. Prints each difference, and exits with 1 if there is one: a failure that is not expected, an expected one that
# passed, and an expected name that no check has. One whose reason begins with "by chance: " may pass.
set -euo pipefail
expected=$1
results=$2
shift 2
awk -F '\t' -v files="$*" '
    function counted(name,    i) {
        if (!some) return 1
        for (i = 1; i <= some; i++) if (index(name, wanted[i]) == 1) return 1
        return 0
    }
    BEGIN { some = split(files, wanted, " ") }
    FILENAME == ARGV[1] { if ($0 != "" && $0 !~ /^#/) reason[$1] = $2; next }
    { outcome[$2] = $1 }
    $1 == "failed" && !($2 in reason) { print "fails, which is not expected: " $2; bad = 1 }
    END {
        for (name in reason) {
            if (!counted(name)) continue
            if (!(name in outcome)) { print "is expected to fail and was not run: " name; bad = 1 }
            else if (outcome[name] == "passed" && reason[name] ~ /^by chance: /) continue
            else if (outcome[name] != "failed") { print "is expected to fail and " outcome[name] ": " name; bad = 1 }
            else known++
        }
        printf "%d failed as expected%s\n", known, bad ? ", and the list differs" : ""
        exit bad
    }
' "$expected" "$results"
