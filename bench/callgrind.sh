#!/usr/bin/env bash
# Instructions for one operation of each engine, as a Markdown table: the figure that does not depend on the machine's
# load. Counted by valgrind, of the operation alone. A second table is of rows of other forms: most properties absent, texts
# of 0 to 2,000 bytes, keys of text alone.
#
#   bench/callgrind.sh                      # the engines of this workspace
#   PEERS=1 bench/callgrind.sh              # and the others
#   OPS='get scan' ENGINES='floor typed' ROWS=100000 bench/callgrind.sh
#   OPS= FORMS='words-get texts-scan' bench/callgrind.sh
#
# OUT keeps callgrind's files, to be read with `callgrind_annotate`.
set -euo pipefail
cd "$(dirname "$0")/.."

if ! command -v valgrind >/dev/null; then
    echo 'valgrind is missing: instructions cannot be counted (Debian: apt-get install valgrind)' >&2
    exit 3
fi

if [ "${PEERS:-0}" = 1 ]; then
    cargo build --quiet --release --locked --manifest-path bench/peers/Cargo.toml --target-dir target/peers
    program=target/peers/release/table-bench-peers
    # Not fjall, whose own threads do part of its work.
    engines=${ENGINES:-floor floor-borrowed pointers typed typed-views views dynamic native_db redb sqlite}
else
    cargo build --quiet --release --locked -p table-bench
    program=target/release/table-bench
    engines=${ENGINES:-floor floor-borrowed pointers typed typed-views views dynamic}
fi
ops=${OPS-get get-by-email list range scan insert load change delete}
forms=${FORMS-absent-get absent-scan texts-get texts-scan words-get words-scan}
out=${OUT:-$(mktemp -d)}
mkdir -p "$out"

# What is counted is divided by the operations that the program says it did.
count() { # engine, operation, part
    local times=200 said collected operations
    case $2 in
    get | get-by-email | *-get) times=2000 ;;
    list | range) times=50 ;;
    esac
    said=$(valgrind --tool=callgrind --toggle-collect='*profiled*' --callgrind-out-file="$out/$1.$2" \
        "$program" "$3" --engine "$1" --op "$2" --rows "${ROWS:-20000}" --count "$times" 2>&1)
    collected=$(sed -n 's/.*Collected : //p' <<<"$said")
    operations=$(sed -n 's/.*: \([0-9]*\) operations.*/\1/p' <<<"$said")
    if [ -z "$collected" ] || [ -z "$operations" ]; then
        echo "$1 $2 failed: $said" >&2
        return 1
    fi
    echo $((collected / operations))
}

head() { # engines
    local engine
    printf '\n| operation |'
    for engine in "$@"; do printf ' %s |' "$engine"; done
    printf '\n|---|'
    for engine in "$@"; do printf -- '---:|'; done
    echo
}

echo "Instructions for one operation (scan: for one employee), ${ROWS:-20000} employees; $(valgrind --version)."
# shellcheck disable=SC2086
[ -z "$ops" ] || head $engines
for op in $ops; do
    printf '| %s |' "$op"
    floor=
    for engine in $engines; do
        case $engine.$op in
        *-borrowed.insert | *-borrowed.load | *-borrowed.change | *-borrowed.delete) printf ' |' && continue ;;
        views.insert | views.load | views.change | views.delete) printf ' |' && continue ;;
        esac
        each=$(count "$engine" "$op" company-profile)
        if [ "$engine" = floor ]; then
            floor=$each
            printf ' %d |' "$each"
        else
            printf ' %d **%s** |' "$each" "$(awk -v a="$each" -v b="${floor:-$each}" 'BEGIN { printf "%.2f", a / b }')"
        fi
    done
    echo
done

[ -z "$forms" ] || head floor typed
for op in $forms; do
    floor=$(count floor "$op" forms-profile)
    each=$(count typed "$op" forms-profile)
    printf '| %s | %d | %d **%s** |\n' "$op" "$floor" "$each" "$(awk -v a="$each" -v b="$floor" 'BEGIN { printf "%.2f", a / b }')"
done
