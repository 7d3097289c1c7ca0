# shellcheck shell=bash
# Sourced by python.sh and queues.sh: the own tests of a Python package, which come with its source archive. What they import
# from the repository around them is stood in for by `python/`.

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

# Fetches the tests of a package: environment, package, version.
fetch_tests() {
    local archive=${2//-/_}-$3
    venv=$work/$1-venv
    tests=$work/$archive/tests
    results=$work/$1-results.txt
    expected=${EXPECTED:-$here/expected-failures-$1.txt}
    "$here/install.sh" "$work" "$1"
    [ ! -d "$tests" ] || return 0
    timeout 300 "$venv/bin/pip" -q download --no-deps --no-binary :all: --no-build-isolation -d "$work" "$2==$3"
    tar -xzf "$work/$archive.tar.gz" -C "$work"
}

# Runs tests by a plugin and counts their outcomes: plugin, files. The plugin's own variables are the caller's to set.
run_tests() {
    local plugin=$1
    shift
    rm -f "$results"
    cd "$tests"
    # Failures are judged by the list, not by the exit code; a run that breaks off leaves no results.
    TABLES_RUN=$(date +%s%N) PYTHONPATH=$here/python PYTHONDONTWRITEBYTECODE=1 \
        timeout "${LIMIT:-900}" "$venv/bin/python" -m pytest -p "$plugin" -p no:cacheprovider --asyncio-mode=auto \
        --timeout 40 -q --tb="${TRACEBACK:-line}" -W ignore "$@" || true
    [ -s "$results" ] || { echo "the tests broke off" >&2; exit 1; }
    cut -f1 "$results" | sort | uniq -c
}

# Fails where outcomes differ from those that are expected: files, or none for all.
compare_tests() {
    [ "$expected" = none ] || "$here/compare.sh" "$expected" "$results" "$@"
}
